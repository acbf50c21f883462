import type { Logger } from "pino";
import { Documentation } from "../documentation/documentation.ts";
import { SchemaThread } from "../graphql/schema-thread.ts";
import { createPrunedCounter } from "../http/metrics.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { Renderer } from "../pdf/renderer.ts";
import type { Settings } from "../process/settings.ts";
import { Secrets } from "../secrets/secrets.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import type { Version } from "../versions/versions.ts";
import { ConnectionBudget } from "./connection-budget.ts";
import { ListenerSlots } from "./listening-places.ts";
import { MerchantTurns } from "./merchant-turns.ts";
import { SharedVersions } from "./shared-versions.ts";

/** Shares of the connections for listening and for background work, and the minimum for background work. */
const [shareOfListeners, shareOfBackground, fewestOfBackground] = [1 / 4, 1 / 4, 4];
/** The divisor of background connections that gives how many jobs, and how many bulk operations, may hold for long. */
const steadyDivisor = 4;
/** Merchants whose usage counts are written at a time, in total and per server. They are few, because requests come first. */
const [countsAtOnce, countsOfServer] = [8, 2];
/** PDF documents of one merchant that may wait for a worker thread. */
const maxWaitingDocuments = 10;

export interface SharedPartsOptions {
  settings: Settings;
  logger: Logger;
  /** The offered versions, including any that can't be built at the moment. */
  versions: readonly Version[];
  /** For tests. */
  aloneAfterMs?: number | undefined;
  spreadMs?: number | undefined;
}

/** The things that all merchants of a process share. */
export type SharedParts = Awaited<ReturnType<typeof openSharedParts>>;

/** Opens the shared parts. */
export async function openSharedParts(options: SharedPartsOptions, closing: AsyncDisposableStack) {
  const { settings, logger, versions, aloneAfterMs, spreadMs } = options;
  const { merchantConnections, merchantStatements: mostStatements } = settings;
  const thread = new SchemaThread();
  const renderer = new Renderer({ queuePerClient: maxWaitingDocuments });
  const documentation = new Documentation();
  for (const each of [thread, renderer, documentation]) closing.defer(() => each.close());
  const tracing = await openTracing(settings.traces, logger);
  closing.defer(() => tracing?.close());
  const secrets = new Secrets(settings.secretsKeys);
  const budget = new ConnectionBudget(merchantConnections, { mostStatements, aloneAfterMs });
  const forBackground = Math.max(Math.ceil(merchantConnections * shareOfBackground), fewestOfBackground);
  const backgroundBudget = new ConnectionBudget(forBackground);
  // In the budget, background work counts as one merchant
  const within = budget.allot("");
  const { webhookConcurrency, bulkConcurrency, jobConcurrency } = settings;
  const steady = Math.floor(forBackground / steadyDivisor);
  return {
    settings,
    logger,
    offered: versions,
    versions: new SharedVersions({ settings, versions, now: Date.now, secrets }),
    budget,
    /** Merchants that may have a turn at a time, by the kind of work. 0 leaves the work to other processes. */
    atOnce: {
      webhooks: webhookConcurrency > 0 ? forBackground : 0,
      bulk: bulkConcurrency > 0 ? steady : 0,
      jobs: Math.min(jobConcurrency, steady),
    },
    /** Returns the allotment of a merchant's background work. */
    allot: (merchant: string) => backgroundBudget.allot(merchant, within),
    places: new ListenerSlots(Math.ceil(merchantConnections * shareOfListeners)),
    loop: new EventLoopQueue(),
    thread,
    renderer,
    documentation,
    tracing,
    /** The turns of merchants at writing their usage counts. */
    counting: new MerchantTurns(countsAtOnce, countsOfServer),
    /** Counts rows that were deleted because of their age, of all merchants together. */
    pruned: createPrunedCounter([]),
    /** States of databases that have all migrations. */
    migrated: new Set<string>(),
    spreadMs,
  };
}

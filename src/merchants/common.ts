import type { Logger } from "pino";
import { Documentation } from "../documentation/documentation.ts";
import { SchemaThread } from "../graphql/schema-thread.ts";
import { prunedCounter } from "../http/metrics.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { Renderer } from "../pdf/renderer.ts";
import type { Settings } from "../process/settings.ts";
import { Secrets } from "../secrets/secrets.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import type { Version } from "../versions/versions.ts";
import { ConnectionBudget } from "./connection-budget.ts";
import { ListeningPlaces } from "./listening-places.ts";
import { MerchantTurns } from "./merchant-turns.ts";
import { SharedVersions } from "./shared-versions.ts";

/** Shares of the connections for listening and for background work, and the minimum for background work. */
const [shareOfListeners, shareOfBackground, fewestOfBackground] = [1 / 4, 1 / 4, 4];
/** Of the connections of background work, what part may be kept for long, by jobs and by bulk operations each. */
const ofSteady = 4;
/** Merchants whose counts of use are written at a time, and of one server: requests need it more. */
const [countsAtOnce, countsOfServer] = [8, 2];
/** Documents of one merchant that may wait for a thread. */
const maxWaitingDocuments = 10;

export interface CommonOptions {
  settings: Settings;
  logger: Logger;
  /** Versions that are offered, also while one can't be built. */
  versions: readonly Version[];
  /** For tests. */
  aloneAfterMs?: number | undefined;
  spreadMs?: number | undefined;
}

/** The things that all merchants of a process share. */
export type Common = Awaited<ReturnType<typeof openCommon>>;

/** Opens these. */
export async function openCommon(options: CommonOptions, closing: AsyncDisposableStack) {
  const { settings, logger, versions, aloneAfterMs, spreadMs } = options;
  const { merchantConnections, merchantStatements: mostStatements } = settings;
  const thread = new SchemaThread();
  const renderer = new Renderer({ queueOfOne: maxWaitingDocuments });
  const documentation = new Documentation();
  for (const each of [thread, renderer, documentation]) closing.defer(() => each.close());
  const tracing = await openTracing(settings.traces, logger);
  closing.defer(() => tracing?.close());
  const secrets = new Secrets(settings.secretsKeys);
  const budget = new ConnectionBudget(merchantConnections, { mostStatements, aloneAfterMs });
  const forBackground = Math.max(Math.ceil(merchantConnections * shareOfBackground), fewestOfBackground);
  const backgroundBudget = new ConnectionBudget(forBackground);
  // Among the merchants that have requests, background work is one
  const within = budget.allot("");
  const { webhookConcurrency, bulkConcurrency, jobConcurrency } = settings;
  const steady = Math.floor(forBackground / ofSteady);
  return {
    settings,
    logger,
    offered: versions,
    versions: new SharedVersions({ settings, versions, now: Date.now, secrets }),
    budget,
    /** Merchants that are worked on at a time, by the kind of work. 0 leaves it to other processes. */
    atOnce: {
      webhooks: webhookConcurrency > 0 ? forBackground : 0,
      bulk: bulkConcurrency > 0 ? steady : 0,
      jobs: Math.min(jobConcurrency, steady),
    },
    /** For the connections of background work. */
    allot: (merchant: string) => backgroundBudget.allot(merchant, within),
    places: new ListeningPlaces(Math.ceil(merchantConnections * shareOfListeners)),
    loop: new EventLoopQueue(),
    thread,
    renderer,
    documentation,
    tracing,
    /** Merchants whose counts of use are being written, or wait for it. */
    counting: new MerchantTurns(countsAtOnce, countsOfServer),
    /** Counts what was deleted by its age, of all merchants together. */
    pruned: prunedCounter([]),
    /** States of migrations that lack none. */
    migrated: new Set<string>(),
    spreadMs,
  };
}

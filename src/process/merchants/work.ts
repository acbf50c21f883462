import type { Logger } from "pino";
import type { Counter } from "prom-client";
import { workOnNext } from "../../bulk/start.ts";
import { createJobPool } from "../../postgres/background-pool.ts";
import type { Allotment } from "../../postgres/connection-budget.ts";
import { createPool } from "../../postgres/pool.ts";
import { keepSettings } from "../../jobs/retention-periods.ts";
import { asApiLogin } from "../../postgres/roles.ts";
import { choresOf, queueChores, returnAbandoned } from "../../jobs/chores.ts";
import { sharedReading } from "../../jobs/exchange-rates/shared-read.ts";
import { runUntilTrouble } from "../../jobs/run.ts";
import { tasksOf } from "../../jobs/tasks.ts";
import { pause } from "../../lib/retry.ts";
import { within } from "../../lib/within.ts";
import type { Tracing } from "../../tracing/tracing.ts";
import { AllowList } from "../../webhooks/addresses.ts";
import { DeliveryShares } from "../../webhooks/shares.ts";
import { startWebhooks } from "../../webhooks/start.ts";
import type { Webhooks } from "../../webhooks/start.ts";
import type { Settings } from "../settings.ts";
import type { Kind } from "./due.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchant } from "./open-merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";

/** Milliseconds without anything to send after which a turn ends, and between two looks whether it should. */
const [idleMs, lookMs] = [2_000, 250];
/** Milliseconds for closing the connections of a turn. */
const closingMs = 1_000;

/** A merchant's turn at some work. */
export interface Turn {
  merchant: Merchant;
  logger: Logger;
  /** Aborted when it has to end at once. */
  stopping: AbortSignal;
  /** Whether it should end soon, because others wait. */
  mustRest: () => boolean;
  /** See `JobRunOptions`. */
  held: string[];
}

/** A turn at work for which the merchant is open. */
interface OpenTurn extends Turn {
  /** Aborted when it is to be closed, as after a migration. The next turn goes on with the new schemas. */
  leaving: AbortSignal;
}

export interface WorkOptions {
  settings: Settings;
  merchants: OpenMerchants;
  tracing: Tracing | null;
  /** What a turn of a merchant opens connections with. */
  allot: (merchant: string) => Allotment;
  /** Counts what was deleted by its age, of all together. */
  pruned: Counter;
}

/** Works until nothing is due. @returns whether there was anything */
export type Work = (turn: Turn) => Promise<boolean>;

/** What is done in a merchant's turn, by its kind. */
export function workOf(options: WorkOptions): Record<Kind, Work> {
  const { settings, allot, merchants, pruned, tracing } = options;
  const shares = new DeliveryShares(settings.webhookConcurrency);
  const read = sharedReading();
  const inTurn = (work: (turn: Turn, allotment: Allotment) => Promise<boolean>): Work => {
    return async (turn) => {
      const allotment = allot(turn.merchant.name);
      return work(turn, allotment).finally(() => allotment.close());
    };
  };
  const whileOpen = (work: (turn: OpenTurn, allotment: Allotment, open: OpenMerchant) => Promise<boolean>) =>
    inTurn((turn, allotment) =>
      merchants.during(turn.merchant, (open, leaving) => work({ ...turn, leaving }, allotment, open)),
    );
  return {
    webhooks: whileOpen((turn, allotment, open) => send(turn, allotment, open, shares, options)),
    bulk: whileOpen(({ merchant, logger, stopping, leaving }, allotment, { app }) => {
      const { name, databaseUrl: url } = merchant;
      const { headReader: reader, spend, usedByOthers } = app;
      const session = keepSettings(settings.keep);
      const given = { url, apiUrl: apiUrlOf(url), session, limits: settings.bulkLimits, logger, allotment };
      return workOnNext(
        {
          ...{ ...given, concurrency: 1, reader, spend, usedByOthers },
          tracing: tracing?.of(name) ?? null,
        },
        AbortSignal.any([stopping, leaving]),
      );
    }),
    jobs: inTurn(({ merchant, logger, held, ...turn }, allotment) => {
      const onPruned = (what: string, rows: number) => pruned.inc({ what }, rows);
      const tasks = tasksOf(settings, onPruned, read);
      return runJobs({ merchant, logger, held, ...turn }, allotment, tasks, settings);
    }),
  };
}

const apiUrlOf = (url: string): string => asApiLogin(url) ?? url;

/** Sends webhooks, and numbers events, until there have been none for a while. */
async function send(
  { merchant: { name, databaseUrl: url }, logger, stopping, mustRest, leaving }: OpenTurn,
  allotment: Allotment,
  { app }: OpenMerchant,
  shares: DeliveryShares,
  { settings, tracing }: WorkOptions,
): Promise<boolean> {
  const { queryConnections: max, queryTimeoutMs } = settings.webhookLimits;
  const payloadPool = createPool(apiUrlOf(url), {
    ...{ max, timeoutsMs: { statement: queryTimeoutMs, lock: settings.timeoutsMs.lock } },
    ...{ prepare: settings.preparedStatements, name: "webhook payloads", allotment },
  });
  let webhooks: Webhooks | null = null;
  const share = shares.enter(() => webhooks?.busy ?? 0);
  try {
    webhooks = startWebhooks({
      ...{ url, concurrency: share.limit, secrets: app.secrets, logger, allotment },
      allowed: new AllowList(settings.webhookAllow, settings.webhookPorts),
      readPayload: app.payloadReader(payloadPool),
      onAttempt: app.metrics.countWebhook,
      tracing: tracing?.of(name) ?? null,
    });
    while (!stopping.aborted && webhooks.idleMs < idleMs && !mustRest() && !leaving.aborted)
      await pause(lookMs, stopping);
    const stop = () => void webhooks!.stop();
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    await webhooks.rest();
    stopping.removeEventListener("abort", stop);
    return webhooks.hasWorked;
  } finally {
    share.leave();
    await within(closingMs, payloadPool.end());
  }
}

/** Runs the jobs that are due, and chores. */
async function runJobs(
  { merchant, logger, held, stopping, mustRest }: Turn,
  allotment: Allotment,
  tasks: ReturnType<typeof tasksOf>,
  settings: Settings,
): Promise<boolean> {
  const pool = createJobPool(merchant.databaseUrl, 1, keepSettings(settings.keep), allotment);
  let hasWorked = false;
  try {
    await returnAbandoned(pool);
    await queueChores(pool, choresOf(settings, merchant.name));
    await runUntilTrouble({
      ...{ pool, tasks, crontab: "", atStart: [], concurrency: 1, logger, held, stopping },
      mustRest() {
        hasWorked = true;
        return mustRest();
      },
    });
    return hasWorked;
  } finally {
    await within(closingMs, pool.end());
  }
}

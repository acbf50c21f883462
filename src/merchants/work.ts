import type { Logger } from "pino";
import { workOnNext } from "../bulk/bulk-work.ts";
import type { Allotment } from "../postgres/allotment.ts";
import { createJobPool } from "../postgres/background-pool.ts";
import { retentionSettings } from "../jobs/retention-periods.ts";
import { toApiLoginUrl } from "../postgres/roles.ts";
import { listChores, queueChores, returnAbandonedJobs } from "../jobs/chores.ts";
import { sharedReading } from "../jobs/exchange-rates/read.ts";
import { runUntilFailure } from "../jobs/worker-run.ts";
import { pause } from "../lib/retry.ts";
import { settlesWithin } from "../lib/within.ts";
import { createBulkOptions, createTasks, startSending } from "../process/background-work.ts";
import type { BackgroundService } from "../process/background-work.ts";
import type { Settings } from "../process/settings.ts";
import type { SharedParts } from "./common.ts";
import type { Kind } from "./due.ts";
import { MerchantTurns } from "./merchant-turns.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";

/** Milliseconds without anything to send after which a turn ends, and between two checks of that. */
const [idleMs, lookMs] = [2_000, 250];
/** Milliseconds for closing the connections of a turn. */
const closingMs = 1_000;

/** Milliseconds after which a turn ends if others wait. */
const turnMs = 10_000;

/** A merchant with background work. */
export interface WorkItem {
  merchant: Merchant;
  logger: Logger;
  /** Aborted when the merchant changes, or this process stops. */
  leaving: AbortController;
  /** The number of consecutive turns in which there was nothing to do. */
  idleTurns: number;
  /** See `JobRunOptions`. */
  held: string[];
}

/** A merchant's turn at some kind of work. */
interface Turn extends Pick<WorkItem, "merchant" | "logger" | "held"> {
  /** Aborted when the turn has to end at once. */
  stopping: AbortSignal;
  /** Whether the turn should end soon, because others wait. */
  mustRest: () => boolean;
}

/** A turn at work that needs the merchant to be open. */
interface OpenTurn extends Turn {
  /** Aborted when the merchant will be closed, for example after a migration. The next turn uses the new schemas. */
  leaving: AbortSignal;
}

/** Works until nothing is due. @returns whether there was anything to do */
type Work = (turn: Turn) => Promise<boolean>;

/** Turns of merchants at each kind of work. */
export class WorkTurns {
  readonly #work: Record<Kind, Work>;
  readonly #turns: Record<Kind, MerchantTurns>;

  constructor(common: SharedParts, merchants: OpenMerchants) {
    this.#work = createWork(common, merchants);
    const turnsOf = (kind: Kind) => new MerchantTurns(common.atOnce[kind]);
    this.#turns = { webhooks: turnsOf("webhooks"), bulk: turnsOf("bulk"), jobs: turnsOf("jobs") };
  }

  get counts(): Record<Kind, MerchantTurns["counts"]> {
    const { webhooks, bulk, jobs } = this.#turns;
    return { webhooks: webhooks.counts, bulk: bulk.counts, jobs: jobs.counts };
  }

  /** Whether a merchant has a turn or waits for one. */
  has(kind: Kind, merchant: string): boolean {
    return this.#turns[kind].has(merchant);
  }

  /** Queues a merchant for a turn. @param onEnd called with whether there was anything to do */
  take(kind: Kind, worked: WorkItem, onEnd: (hasWorked: boolean) => void): void {
    const turns = this.#turns[kind];
    const { merchant, logger, held, leaving } = worked;
    turns.run(merchant.name, async () => {
      const end = performance.now() + turnMs;
      const mustRest = () => turns.counts.waiting > 0 && performance.now() > end;
      const turn = { merchant, logger, held, stopping: leaving.signal, mustRest };
      const work = async () => leaving.signal.aborted || (await this.#work[kind](turn));
      const hasWorked = await work().catch((error: unknown) => {
        if (worked.idleTurns === 0)
          logger.warn({ err: error, work: kind }, "a merchant's background work failed; trying again");
        return false;
      });
      onEnd(hasWorked);
    });
  }

  /** Waits for running turns, which the caller has told to end. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#turns).map((turns) => turns.close()));
  }
}

/** Returns the function that does the work of a turn, by kind. */
function createWork(common: SharedParts, merchants: OpenMerchants): Record<Kind, Work> {
  const { settings, allot, pruned, tracing } = common;
  const senders: Senders = new Map();
  const read = sharedReading();
  const inTurn = (work: (turn: Turn, allotment: Allotment) => Promise<boolean>): Work => {
    return async (turn) => {
      const allotment = allot(turn.merchant.name);
      return work(turn, allotment).finally(() => allotment.close());
    };
  };
  const whileOpen = (work: (turn: OpenTurn, service: BackgroundService) => Promise<boolean>) =>
    inTurn((turn, allotment) =>
      merchants.use(turn.merchant, "background", ({ app }, leaving) => {
        const { name, databaseUrl } = turn.merchant;
        const apiUrl = toApiLoginUrl(databaseUrl) ?? databaseUrl;
        const ofMerchant = { logger: turn.logger, tracing: tracing?.forMerchant(name) ?? null, allotment };
        return work({ ...turn, leaving }, { app, databaseUrl, apiUrl, settings, ...ofMerchant });
      }),
    );
  return {
    webhooks: whileOpen((turn, service) => sendUntilIdle(turn, service, senders)),
    bulk: whileOpen(({ stopping, leaving }, service) =>
      workOnNext(createBulkOptions(service, 1), AbortSignal.any([stopping, leaving])),
    ),
    jobs: inTurn((turn, allotment) => {
      const onPruned = (what: string, rows: number) => pruned.inc({ what }, rows);
      return runJobs(turn, allotment, createTasks(settings, onPruned, read), settings);
    }),
  };
}

/** Merchants that are sending webhooks, and the number of running deliveries of each. */
type Senders = Map<string, () => number>;

/** Returns how many deliveries a merchant may run now: at least one, and a fair share that leaves one for a new sender. */
function computeLimit(merchant: string, senders: Senders, total: number): number {
  const others = [...senders].filter(([name]) => name !== merchant);
  const free = others.reduce((left, [, busy]) => left - busy(), total);
  return Math.max(Math.min(Math.ceil(total / (others.length + 2)), free), 1);
}

/** Numbers events and sends webhooks until there have been none for some time. */
async function sendUntilIdle(
  { merchant: { name }, stopping, mustRest, leaving }: OpenTurn,
  service: BackgroundService,
  senders: Senders,
): Promise<boolean> {
  const { webhookConcurrency } = service.settings;
  const limit = () => computeLimit(name, senders, webhookConcurrency);
  const { webhooks, payloadPool } = startSending(service, limit);
  senders.set(name, () => webhooks.busy);
  try {
    while (!stopping.aborted && webhooks.idleMs < idleMs && !mustRest() && !leaving.aborted)
      await pause(lookMs, stopping);
    const stop = () => void webhooks.stop();
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    await webhooks.rest();
    stopping.removeEventListener("abort", stop);
    return webhooks.hasWorked;
  } finally {
    senders.delete(name);
    await settlesWithin(closingMs, payloadPool.end());
  }
}

/** Runs due jobs and chores. */
async function runJobs(
  { merchant, logger, held, stopping, mustRest }: Turn,
  allotment: Allotment,
  tasks: ReturnType<typeof createTasks>,
  settings: Settings,
): Promise<boolean> {
  const pool = createJobPool(merchant.databaseUrl, 1, retentionSettings(settings.keep), allotment);
  let hasWorked = false;
  try {
    await returnAbandonedJobs(pool);
    await queueChores(pool, listChores(settings, merchant.name));
    await runUntilFailure({
      pool,
      tasks,
      crontab: "",
      atStart: [],
      concurrency: 1,
      logger,
      held,
      stopping,
      mustRest() {
        hasWorked = true;
        return mustRest();
      },
    });
    return hasWorked;
  } finally {
    await settlesWithin(closingMs, pool.end());
  }
}

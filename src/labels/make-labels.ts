import type { JobHelpers, Task } from "graphile-worker";
import type { Secrets } from "../secrets/secrets.ts";
import { secretPlace, UnreadableSecret } from "../secrets/secrets.ts";
import type { AllowList } from "../webhooks/addresses.ts";
import { WebhookClient } from "../webhooks/webhook-client.ts";
import { adapterDestinations, callAdapter, later } from "./adapter.ts";
import type { LabelWork, Outcome } from "./adapter.ts";

/** Work that this process has taken, as erp.claim_shipping_labels returns it. */
interface Claimed extends LabelWork {
  leaseEndsAt: string;
  attempts: number;
  carrierId: string;
  secret: string;
}

export interface LabelOptions {
  secrets: Secrets;
  /** Destinations that are allowed in addition to the public internet. */
  allow: readonly string[];
  /** Milliseconds of a call, and of a lease: a lease covers two calls, and some seconds in which this process hangs. */
  timeoutMs?: number;
  leaseMs?: number;
}

/** Most labels of a carrier that a process is calling for. */
const atOnce = 5;
/** Milliseconds after which a job leaves the rest to a new one. */
const workMs = 10_000;
/** Attempts after which work is given up whose process was killed each time. SQL gives up earlier if there is an answer. */
const maxAttempts = 12;

const claim = `select id, lease_ends_at as "leaseEndsAt", attempts, is_cancellation as "isCancellation",
  is_repeated as "isRepeated", request, carrier_id as "carrierId", url, secret
  from erp.claim_shipping_labels($1, ${atOnce}, make_interval(secs => $2))`;

/** Carriers that a job of this process is working for, and whether there is more for it to do. */
type Busy = Map<string, { hasMore: boolean }>;

/**
 * Makes the task that calls carriers for requested labels. Each call is outside of any transaction: its result is written
 * afterwards, if this process still holds the lease. Carriers don't wait for each other.
 */
export function makeLabelsTask(options: LabelOptions): Task {
  const busy: Busy = new Map();
  return async (_payload, helpers) => {
    const run = new LabelRun(options, busy, helpers);
    const stop = () => run.close();
    helpers.abortSignal?.addEventListener("abort", stop);
    try {
      const { rows } = await helpers.query<{ name: string }>(
        "select name from erp.carriers_with_work() name",
      );
      await settleAll(rows.map(({ name }) => run.workFor(name)));
    } finally {
      helpers.abortSignal?.removeEventListener("abort", stop);
      run.close();
    }
  };
}

/** The work of one job. */
class LabelRun {
  readonly #options: Required<LabelOptions>;
  readonly #busy: Busy;
  readonly #helpers: JobHelpers;
  readonly #allowed: AllowList;
  readonly #client: WebhookClient;
  readonly #end = performance.now() + workMs;

  constructor(options: LabelOptions, busy: Busy, helpers: JobHelpers) {
    this.#options = { timeoutMs: 15_000, leaseMs: 45_000, ...options };
    this.#busy = busy;
    this.#helpers = helpers;
    this.#allowed = adapterDestinations(options.allow);
    this.#client = new WebhookClient({ allowed: this.#allowed, timeoutMs: this.#options.timeoutMs });
  }

  /** Aborts the running calls. */
  close(): void {
    this.#client.close();
  }

  /** Calls a carrier until nothing is due. If another job of this process does so already, that job continues. */
  async workFor(carrier: string): Promise<void> {
    const other = this.#busy.get(carrier);
    if (other) return void (other.hasMore = true);
    const { query, addJob, job, abortSignal } = this.#helpers;
    const own = { hasMore: true };
    this.#busy.set(carrier, own);
    try {
      while (own.hasMore && performance.now() < this.#end && abortSignal?.aborted !== true) {
        own.hasMore = false;
        const takenAt = performance.now();
        const { rows } = await query<Claimed>(claim, [carrier, this.#options.leaseMs / 1_000]);
        await settleAll(rows.map((work) => this.#callAndSettle(work, takenAt)));
        own.hasMore ||= rows.length === atOnce;
      }
    } finally {
      this.#busy.delete(carrier);
    }
    if (own.hasMore) await addJob(job.task_identifier, {});
  }

  async #callAndSettle(work: Claimed, takenAt: number): Promise<void> {
    const { query, logger } = this.#helpers;
    const outcome = await this.#call(work, takenAt);
    const { kind, answer } = outcome;
    const content = outcome.kind === "created" ? outcome.content : null;
    const values = [work.id, work.leaseEndsAt, kind, JSON.stringify(answer), content];
    await query("select erp.settle_shipping_label($1, $2, $3, $4, $5)", values);
    const report = { label: work.id, attempt: work.attempts, outcome: kind };
    logger.info("called a carrier for a label", { report });
  }

  async #call(work: Claimed, takenAt: number): Promise<Outcome> {
    const { secrets, leaseMs, timeoutMs } = this.#options;
    if (work.attempts > maxAttempts) return later("The service was interrupted each time.");
    try {
      const secret = secrets.open(work.secret, secretPlace("carrier secret", work.carrierId));
      const isHeld = () => performance.now() - takenAt < leaseMs - timeoutMs;
      return await callAdapter(work, { allowed: this.#allowed, client: this.#client, secret, isHeld });
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      this.#helpers.logger.error(error.message);
      return later("The service can't read the carrier's secret.");
    }
  }
}

/** Waits for all work, then throws if some has failed. */
async function settleAll(work: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === "rejected") throw result.reason;
}

import type { Task } from "graphile-worker";
import type { QueryResult } from "pg";
import type { Secrets } from "../secrets/secrets.ts";
import { carrierSecretPlace, UnreadableSecret } from "../secrets/secrets.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { WebhookClient } from "../webhooks/webhook-client.ts";
import { callAdapter } from "./adapter.ts";
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

/** Ports of adapters on the public internet. */
const ports = [443];
/** Most labels of a carrier that a process is calling for. */
const atOnce = 5;
/** Milliseconds after which a job leaves the rest to a new one. */
const workMs = 10_000;
/** Attempts after which work is given up whose process was killed each time. SQL gives up earlier if there is an answer. */
const maxAttempts = 12;

const claim = `select id, lease_ends_at as "leaseEndsAt", attempts, is_cancellation as "isCancellation",
  is_repeated as "isRepeated", request, carrier_id as "carrierId", url, secret
  from erp.claim_shipping_labels($1, ${atOnce}, make_interval(secs => $2))`;

/**
 * Makes the task that calls carriers for requested labels. Each call is outside of any transaction: its result is written
 * afterwards, if this process still holds the lease. Carriers don't wait for each other.
 */
export function makeLabelsTask({ secrets, allow, timeoutMs = 15_000, leaseMs = 45_000 }: LabelOptions): Task {
  const allowed = new AllowList(allow, ports);
  /** Carriers that a job of this process is working for, and whether another job was asked to meanwhile. */
  const busy = new Map<string, { hasMore: boolean }>();

  return async (_payload, { query, addJob, job, logger, abortSignal }) => {
    const client = new WebhookClient({ allowed, timeoutMs });
    const stop = () => client.close();
    abortSignal?.addEventListener("abort", stop);
    const end = performance.now() + workMs;

    const call = async (work: Claimed, takenAt: number): Promise<Outcome> => {
      const isHeld = () => performance.now() - takenAt < leaseMs - timeoutMs;
      if (work.attempts > maxAttempts)
        return { kind: "later", answer: { reason: "The service was interrupted each time." } };
      try {
        const secret = secrets.open(work.secret, carrierSecretPlace(work.carrierId));
        return await callAdapter(work, { allowed, client, secret, isHeld });
      } catch (error) {
        if (!(error instanceof UnreadableSecret)) throw error;
        logger.error(error.message);
        return { kind: "later", answer: { reason: "The service can't read the carrier's secret." } };
      }
    };
    const callAndSettle = async (work: Claimed, takenAt: number): Promise<void> => {
      const outcome = await call(work, takenAt);
      const content = outcome.kind === "created" ? outcome.content : null;
      const { kind, answer } = outcome;
      const values = [work.id, work.leaseEndsAt, kind, JSON.stringify(answer), content];
      await query("select erp.settle_shipping_label($1, $2, $3, $4, $5)", values);
      const report = { label: work.id, attempt: work.attempts, outcome: kind };
      logger.info("called a carrier for a label", { report });
    };
    const workFor = async (carrier: string): Promise<void> => {
      const other = busy.get(carrier);
      if (other) return void (other.hasMore = true);
      const own = { hasMore: true };
      busy.set(carrier, own);
      try {
        while (own.hasMore && performance.now() < end && abortSignal?.aborted !== true) {
          own.hasMore = false;
          const takenAt = performance.now();
          const { rows }: QueryResult<Claimed> = await query<Claimed>(claim, [carrier, leaseMs / 1_000]);
          await settleAll(rows.map((work) => callAndSettle(work, takenAt)));
          own.hasMore ||= rows.length === atOnce;
        }
      } finally {
        busy.delete(carrier);
      }
      if (own.hasMore) await addJob(job.task_identifier, {});
    };

    try {
      const { rows } = await query<{ name: string }>("select name from erp.carriers_with_work() name");
      await settleAll(rows.map(({ name }) => workFor(name)));
    } finally {
      abortSignal?.removeEventListener("abort", stop);
      client.close();
    }
  };
}

/** Waits for all work, then throws if some has failed. */
async function settleAll(work: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === "rejected") throw result.reason;
}

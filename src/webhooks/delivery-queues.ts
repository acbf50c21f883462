import type { Pool, PoolClient } from "pg";
import type { HealthState } from "./subscription-health.ts";

/** A message, as events.message_body makes it and events.schema describes it. */
export interface MessageBody {
  data: Record<string, unknown>;
  [field: string]: unknown;
}

/** The next delivery of a claimed queue, as in events.next_delivery. */
export interface Delivery {
  subscription_id: string;
  entity_id: string;
  claim: string;
  /** Failures so far. */
  failures: number;
  delivery_id: string;
  event_id: string;
  topic: string;
  /** The data to send if there is no payload_query. */
  body: MessageBody;
  url: string;
  api_version: string;
  payload_query: string | null;
  credential_id: string | null;
  /** The API credential that the subscription belongs to; null when that was deleted. */
  scopes: string[] | null;
  /** The reason why the delivery must not be sent; null if it may be sent. */
  withheld: string | null;
  /** Secrets to sign with, newest first, in their stored form. */
  secrets: string[];
  /** Ids of the secrets' rows. */
  secret_ids: string[];
  /** Whether it was claimed ahead of its schedule, to test whether the receiver works again. */
  is_early: boolean;
  /** The trace of the request that caused the event; null if that request wasn't traced. */
  traceparent: string | null;
  /** The next deliveries of its queue; null if there are none, or none are known. */
  following: Pick<Delivery, "delivery_id" | "event_id" | "topic" | "body" | "traceparent">[] | null;
}

/** A queue that a claim has taken. */
export type ClaimedQueue = Pick<Delivery, "subscription_id" | "entity_id" | "claim">;

/** Limits on the due deliveries that a process claims. */
export interface ClaimOptions {
  /** The unique name of the claim. */
  claim: string;
  /** Maximum number of queues. */
  maxQueues: number;
  /** Maximum number of queues of one subscription, including those in work here; likewise of one API credential. */
  share: number;
  credentialShare: number;
  /** Number of each subscription's queues that this process works on, and how many of them hang. */
  busy: Map<string, number>;
  hanging: Map<string, number>;
}

/** The part of an attempt that is stored. */
export interface Attempt {
  at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, unknown> | null;
  response_body: string | null;
}

/** Result of a delivery, for events.record_attempts. */
export interface DeliveryResult {
  delivery: string;
  subscription: string;
  entity: string;
  claim: string;
  state: "pending" | "delivered" | "failed";
  /** Whether there was an attempt. */
  tried: boolean;
  /** Whether the failure counts towards giving up on the delivery. */
  counted: boolean;
  /** Milliseconds until the next attempt; null leaves it unchanged. */
  delay_ms: number | null;
  /** Whether to continue with the queue's next delivery. */
  go_on: boolean;
  attempt: Attempt | null;
}

/** State of a subscription, for events.record_attempts. */
export interface NextState {
  id: string;
  health: string;
  reason: string | null;
  failures: number;
  failing_since: string | null;
  /** Milliseconds until the receiver is probed, independent of the schedule; null if the subscription is healthy. */
  probe_after_ms: number | null;
  /** How many times in a row its payloadQuery exceeded a limit. */
  payload_failures: number;
  /** Milliseconds of the pause because of that; null without a pause. */
  paused_for_ms: number | null;
  /** Whether a current pause stays as it is. */
  stays_paused: boolean;
  /** Whether to try all waiting messages at once. */
  hurry: boolean;
}

/** The sender's SQL statements on delivery queues. There is a queue for each subscription and entity. */
export class DeliveryQueues {
  readonly #pool: Pool;
  readonly #leaseInterval: string;

  /**
   * @param pool connections of service_delivery
   * @param leaseMs milliseconds of a lease. The sender renews it regularly, and with each result
   */
  constructor(pool: Pool, leaseMs: number) {
    this.#pool = pool;
    this.#leaseInterval = `${leaseMs} milliseconds`;
  }

  /** Moves events from the outbox into the log. Returns their number, or null if another process is doing it. */
  async sequence(batch: number): Promise<number | null> {
    const { rows } = await this.#pool.query<{ moved: number | null }>(
      "select events.sequence_events($1) as moved",
      [batch],
    );
    return rows[0]!.moved;
  }

  /** Leases queues that are due. */
  async claim({
    claim,
    maxQueues: wanted,
    share,
    credentialShare,
    busy,
    hanging,
  }: ClaimOptions): Promise<Delivery[]> {
    const counts = (of: Map<string, number>) => JSON.stringify(Object.fromEntries(of));
    const { rows } = await this.#pool.query<Delivery>({
      text: "select * from events.claim_delivery_queues($1, $2, $3, $4, $5, $6, $7)",
      values: [claim, wanted, share, counts(busy), this.#leaseInterval, counts(hanging), credentialShare],
    });
    return rows;
  }

  /**
   * Returns the delivery that follows another one, whose result isn't stored yet, if it may be sent now; otherwise null. The
   * other delivery needn't be the first of the queue: one that is sent again comes before it.
   */
  async nextDelivery({ subscription_id, entity_id, claim, delivery_id }: Delivery): Promise<Delivery | null> {
    const { rows } = await this.#pool.query<Delivery>({
      text: "select * from events.claimed_delivery($1, $2, $3)",
      values: [subscription_id, entity_id, claim],
    });
    const [first] = rows;
    if (!first) return null;
    const queue = [first, ...(first.following ?? [])];
    const place = queue.findIndex((each) => each.delivery_id === delivery_id);
    const following = place < 0 ? undefined : queue[place + 1];
    return following ? { ...first, ...following, failures: 0, is_early: false } : null;
  }

  /** Renews the leases of claims. Returns the renewed queues. */
  async renew(claims: string[]): Promise<ClaimedQueue[]> {
    const { rows } = await this.#pool.query<ClaimedQueue>(
      "select subscription_id, entity_id, claim from events.renew_claims($1, $2)",
      [claims, this.#leaseInterval],
    );
    return rows;
  }

  /**
   * Stores results, and returns the next deliveries of the queues that continue.
   *
   * @param decide computes what to store from the health of the subscriptions, without deleted ones
   */
  async record(
    subscriptions: string[],
    decide: (states: Map<string, HealthState>) => { results: DeliveryResult[]; states: NextState[] },
  ): Promise<Delivery[]> {
    const client = await this.#pool.connect();
    let isBroken = true;
    try {
      await client.query("begin");
      const { results, states } = decide(await lockStates(client, subscriptions));
      const { rows } = await client.query<Delivery>({
        text: "select * from events.record_attempts($1, $2, $3)",
        values: [JSON.stringify(results), JSON.stringify(states), this.#leaseInterval],
      });
      await client.query("commit");
      isBroken = false;
      return rows;
    } finally {
      // A connection that is still in a transaction can't be used again
      client.release(isBroken);
    }
  }
}

async function lockStates(client: PoolClient, ids: string[]): Promise<Map<string, HealthState>> {
  const { rows } = await client.query<HealthState & { id: string }>({
    text: `select id, health, health_reason as reason, consecutive_failures as failures,
        (extract(epoch from failing_since) * 1000)::float8 as "failingSince", payload_failures as "payloadFailures"
      from events.webhook_subscription where id = any ($1) order by id for no key update`,
    values: [ids],
  });
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

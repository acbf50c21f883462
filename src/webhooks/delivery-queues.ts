import type { Pool, PoolClient } from "pg";
import type { HealthState } from "./health.ts";

/** A message, as events.message_body has it and events.schema describes it. */
export interface Body {
  data: Record<string, unknown>;
  [field: string]: unknown;
}

/** The delivery whose turn it is in a claimed queue, as events.next_delivery has it. */
export interface Delivery {
  subscription_id: string;
  entity_id: string;
  claim: string;
  /** How often it has failed so far. */
  failures: number;
  delivery_id: string;
  event_id: string;
  topic: string;
  /** What is to be sent, when there is no payload_query. */
  body: Body;
  url: string;
  api_version: string;
  payload_query: string | null;
  credential_id: string | null;
  /** Of the credential that the subscription was made with; null when that is gone. */
  scopes: string[] | null;
  /** Why it must not be sent; null when it may. */
  withheld: string | null;
  /** What it is signed with, the newest first, as the database keeps it. */
  secrets: string[];
  /** Ids of the rows that they are of. */
  secret_ids: string[];
  /** Whether it was taken before its schedule, to try whether the receiver is back. */
  is_early: boolean;
}

/** A queue that a claim has taken. */
export type ClaimedQueue = Pick<Delivery, "subscription_id" | "entity_id" | "claim">;

/** How much a process takes of what is due. */
export interface Take {
  /** A name that no other claim has. */
  claim: string;
  /** How many queues at most. */
  wanted: number;
  /** How many of one subscription at most, with those that this process is busy with; of one credential likewise. */
  share: number;
  credentialShare: number;
  /** How many queues of each subscription this process is busy with, and how many of these with one attempt for long. */
  busy: Map<string, number>;
  hanging: Map<string, number>;
}

/** What is kept of an attempt. */
export interface Attempt {
  at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, unknown> | null;
  response_body: string | null;
}

/** What came of a delivery, for events.record_attempts. */
export interface Result {
  delivery: string;
  subscription: string;
  entity: string;
  claim: string;
  state: "pending" | "delivered" | "failed";
  /** Whether there was an attempt. */
  tried: boolean;
  /** Whether it brings the delivery nearer to being given up. */
  counted: boolean;
  /** Milliseconds until the next attempt; null when that stays as it is. */
  delay_ms: number | null;
  /** Whether to go on with the next delivery of the queue. */
  go_on: boolean;
  attempt: Attempt | null;
}

/** How a subscription is doing, for events.record_attempts. */
export interface NextState {
  id: string;
  health: string;
  reason: string | null;
  failures: number;
  failing_since: string | null;
  /** Milliseconds until it is probed, whatever the schedule says; null when it is healthy. */
  probe_after_ms: number | null;
  /** How often in a row its payloadQuery took too much. */
  payload_failures: number;
  /** Milliseconds that nothing is sent for that; null when it goes on. */
  paused_for_ms: number | null;
  /** Whether its pause, if any, lasts as long as it was to last. */
  stays_paused: boolean;
  /** Whether all that waits is to be tried at once. */
  hurry: boolean;
}

/** The queues of deliveries: one of each subscription and entity. What the sender asks of the database. */
export class DeliveryQueues {
  readonly #pool: Pool;
  readonly #leaseInterval: string;

  /**
   * @param pool connections of service_delivery
   * @param leaseMs milliseconds for which a queue is taken. Its sender renews that, and takes it anew with each result
   */
  constructor(pool: Pool, leaseMs: number) {
    this.#pool = pool;
    this.#leaseInterval = `${leaseMs} milliseconds`;
  }

  /** Moves events from the outbox into the log. Answers how many; null when another process is at it. */
  async sequence(batch: number): Promise<number | null> {
    const { rows } = await this.#pool.query<{ moved: number | null }>(
      "select events.sequence_events($1) as moved",
      [batch],
    );
    return rows[0]!.moved;
  }

  /** Takes queues that are due. */
  async claim({ claim, wanted, share, credentialShare, busy, hanging }: Take): Promise<Delivery[]> {
    const counts = (of: Map<string, number>) => JSON.stringify(Object.fromEntries(of));
    const { rows } = await this.#pool.query<Delivery>({
      text: "select * from events.claim_delivery_queues($1, $2, $3, $4, $5, $6, $7)",
      values: [claim, wanted, share, counts(busy), this.#leaseInterval, counts(hanging), credentialShare],
    });
    return rows;
  }

  /** Keeps the queues of claims for another lease. Answers which were renewed. */
  async renew(claims: string[]): Promise<ClaimedQueue[]> {
    const { rows } = await this.#pool.query<ClaimedQueue>(
      "select subscription_id, entity_id, claim from events.renew_claims($1, $2)",
      [claims, this.#leaseInterval],
    );
    return rows;
  }

  /**
   * Notes results, and answers the next deliveries of the queues that go on.
   *
   * @param decide what is to be noted, given how the subscriptions are doing. One that is gone by now isn't among them
   */
  async record(
    subscriptions: string[],
    decide: (states: Map<string, HealthState>) => { results: Result[]; states: NextState[] },
  ): Promise<Delivery[]> {
    const client = await this.#pool.connect();
    let isBroken = true;
    try {
      await client.query("begin");
      const { results, states } = decide(await lockedStates(client, subscriptions));
      const { rows } = await client.query<Delivery>({
        text: "select * from events.record_attempts($1, $2, $3)",
        values: [JSON.stringify(results), JSON.stringify(states), this.#leaseInterval],
      });
      await client.query("commit");
      isBroken = false;
      return rows;
    } finally {
      // A connection in the middle of a transaction is of no use to anybody
      client.release(isBroken);
    }
  }
}

async function lockedStates(client: PoolClient, ids: string[]): Promise<Map<string, HealthState>> {
  const { rows } = await client.query({
    text: `select id, health, health_reason as reason, consecutive_failures as failures, failing_since,
        payload_failures as "payloadFailures"
      from events.webhook_subscription where id = any ($1) order by id for no key update`,
    values: [ids],
  });
  return new Map(
    rows.map(({ id, failing_since, ...state }) => [
      id as string,
      { ...state, failingSince: (failing_since as Date | null)?.getTime() ?? null } as HealthState,
    ]),
  );
}

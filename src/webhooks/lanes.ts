import type { Pool, PoolClient } from "pg";
import type { HealthState } from "./health.ts";

/** A message, as events.message_body has it and events.schema describes it. */
export interface Body {
  data: Record<string, unknown>;
  [field: string]: unknown;
}

/** The delivery that is the turn of a claimed lane, as events.lane_head has it. */
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
  /** What it is signed with, the newest first. */
  secrets: string[];
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
  /** Milliseconds until the next attempt. */
  delay: number;
  /** Whether to go on with the next delivery of the lane. */
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
  /** Milliseconds until it is probed; null when it is not suspended. */
  probe_after: number | null;
  /** Whether all that waits is to be tried at once. */
  hurry: boolean;
}

/** What the sender asks of the database. */
export class Lanes {
  readonly #pool: Pool;
  readonly #lease: string;

  /**
   * @param pool connections of service_delivery
   * @param lease milliseconds for which a lane is taken. Whoever works on it takes it anew with each result
   */
  constructor(pool: Pool, lease: number) {
    this.#pool = pool;
    this.#lease = `${lease} milliseconds`;
  }

  /** Moves events from the outbox into the log. Answers how many; null when another process is at it. */
  async sequence(batch: number): Promise<number | null> {
    const { rows } = await this.#pool.query<{ moved: number | null }>(
      "select events.sequence_events($1) as moved",
      [batch],
    );
    return rows[0]!.moved;
  }

  /**
   * Takes lanes that are due.
   *
   * @param claim a name for this, that no other claim has
   * @param wanted how many at most
   * @param share how many of one subscription at most, with those that this process is busy with
   */
  async claim(claim: string, wanted: number, share: number, busy: Map<string, number>): Promise<Delivery[]> {
    const { rows } = await this.#pool.query<Delivery>({
      text: "select * from events.claim_lanes($1, $2, $3, $4, $5)",
      values: [claim, wanted, share, JSON.stringify(Object.fromEntries(busy)), this.#lease],
    });
    return rows;
  }

  /**
   * Notes results, and answers the next deliveries of the lanes that go on.
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
        values: [JSON.stringify(results), JSON.stringify(states), this.#lease],
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
    text: `select id, health, health_reason as reason, consecutive_failures as failures, failing_since
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

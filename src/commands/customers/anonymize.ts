import type { ClientBase } from "pg";
import { UserError } from "../../errors/user-error.ts";
import { growingPause, retry } from "../../lib/retry.ts";
import { findBulkFiles } from "./bulk-files.ts";
import { findCustomer } from "./find.ts";
import type { FoundCustomer } from "./find.ts";

/** The result for one customer. */
export interface Anonymized {
  number: string;
  /** Whether nothing was left to do. */
  wasDone: boolean;
  /** Rows that were changed or deleted, by what they are. */
  changed: Record<string, number>;
  /** Documents, which stay as they are. */
  kept: { type: string; number: string | null; id: string }[];
  /** Texts that others wrote, which still have one of the values. */
  mentions: string[];
}

/** Something else has begun meanwhile that is about the customer. */
class ChangedMeanwhile extends Error {}

/** serialization_failure, deadlock_detected, lock_not_available */
const transientCodes = new Set(["40001", "40P01", "55P03"]);
const attempts = 10;

/**
 * Replaces what tells who a customer is, everywhere but in documents: all of it, or nothing.
 *
 * @throws {UserError} when there is no such customer, or something still needs the address
 */
export async function anonymizeCustomer(client: ClientBase, given: string): Promise<Anonymized> {
  const done = await retry(() => attempt(client, given), {
    pauseMs(error, failures) {
      const mayPass =
        error instanceof ChangedMeanwhile || transientCodes.has(String((error as { code?: string }).code));
      if (!mayPass || failures >= attempts) throw error;
      return growingPause(failures, { firstMs: 50, longestMs: 1_000 });
    },
  });
  // Statistics keep samples of values
  if (!done.wasDone)
    await client.query(
      `analyze erp.customer, erp.sales_order, erp.fulfillment_order, erp.shipping_label, erp.quote, erp.return_order,
       erp.goods_receipt, erp.stock_reservation, events.outbox, events.event, events.delivery_attempt, mutation.idempotency_key`,
    );
  return done;
}

async function attempt(client: ClientBase, given: string): Promise<Anonymized> {
  // What takes long comes before the locks
  const before = await findCustomer(client, given);
  const files = await findBulkFiles(client, before);
  const { rows: events } = await client.query<{ sequence: string }>(
    "select events.sequences_about(erp.subjects_about($1)) as sequence",
    [before.customer],
  );
  await client.query("begin; set local lock_timeout = '3s'; set local statement_timeout = '15min'");
  try {
    const found = await lockCustomer(client, before);
    await requireSettled(client, found);
    const running = files.filter(({ state }) => ["uploading", "queued", "running"].includes(state));
    if (running.length > 0)
      throw new UserError(
        `A bulk operation about them is ${running[0]!.state}. Try again when it has ended.`,
      );
    const { rows: mentions } = await client.query<{ place: string }>(
      "select erp.mentions_of_customer($1) as place",
      [found.customer],
    );
    const bulk = files.map(({ id }) => id);
    const { rows: counts } = await client.query<{ what: string; changed: number }>(
      "select what, changed::float8 from erp.anonymize_customer($1, $2, $3)",
      [found.customer, events.map(({ sequence }) => sequence), bulk],
    );
    const changed = Object.fromEntries(counts.map(({ what, changed: count }) => [what, count]));
    const wasDone = Object.values(changed).every((count) => count === 0);
    if (!wasDone)
      await client.query("select auth.note_event('customer.anonymized', $1, null, $2)", [
        found.customer,
        JSON.stringify(changed),
      ]);
    const kept = await client.query<Anonymized["kept"][number]>(
      `select t.technical_name as type, d.document_number as number, d.id
       from erp.document d join erp.document_type t on t.id = d.document_type_id
       where d.id = any ($1) order by d.created_at, d.id`,
      [found.documents],
    );
    await client.query("commit");
    return {
      ...{ number: found.number, wasDone, changed, kept: kept.rows },
      mentions: mentions.map(({ place }) => place),
    };
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Locks the orders and the customer, in the order of mutations: what they have begun is there then, and nothing new begins. */
async function lockCustomer(client: ClientBase, before: FoundCustomer): Promise<FoundCustomer> {
  await client.query("select from erp.sales_order where id = any ($1) order by id for update", [
    before.orders,
  ]);
  await client.query("select from erp.customer where id = $1 for update", [before.customer]);
  const found = await findCustomer(client, before.customer);
  if (found.orders.join() !== before.orders.join()) throw new ChangedMeanwhile("There is a new order.");
  return found;
}

async function requireSettled(
  client: ClientBase,
  { orders, fulfillment_orders: parts }: FoundCustomer,
): Promise<void> {
  const { rows } = await client.query<{ what: string }>(
    `select 'the order ' || coalesce(order_number, id::text) as what from erp.sales_order
       where id = any ($1) and state in ('open', 'in_progress')
     union all
     select 'the fulfillment order ' || number from erp.fulfillment_order
       where id = any ($2) and state not in ('Closed', 'Cancelled')
     union all
     select 'a requested label of the order ' || coalesce(o.order_number, o.id::text)
       from erp.shipping_label_work join erp.shipping_label l on l.id = shipping_label_id
       join erp.sales_order o on o.id = l.order_id where o.id = any ($1)`,
    [orders, parts],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ what }) => what).join(", ");
  throw new UserError(`The address is still needed by ${names}. Complete or cancel these first.`);
}

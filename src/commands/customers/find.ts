import type { ClientBase } from "pg";
import { UserError } from "../../errors/user-error.ts";

/** A customer, and the ids of all that is about them. */
export interface Found {
  customer: string;
  number: string;
  email: string;
  orders: string[];
  quotes: string[];
  fulfillment_orders: string[];
  fulfillments: string[];
  labels: string[];
  returns: string[];
  receipts: string[];
  documents: string[];
}

const about = `
  with o as (select id from erp.sales_order where customer_id = $1),
    fo as (select id from erp.fulfillment_order where destination_order_id in (select id from o))
  select c.id as customer, c.customer_number as number, c.email,
    array(select id from o order by id) as orders,
    array(select id from erp.quote where customer_id = $1 or order_id in (select id from o) order by id) as quotes,
    array(select id from fo order by id) as fulfillment_orders,
    array(select distinct fulfillment_id from erp.fulfillment_order_fulfillment
      where fulfillment_order_id in (select id from fo)) as fulfillments,
    array(select id from erp.shipping_label
      where order_id in (select id from o) or fulfillment_order_id in (select id from fo) order by id) as labels,
    array(select id from erp.return_order where customer_id = $1 or order_id in (select id from o) order by id) as returns,
    array(select id from erp.goods_receipt where customer_id = $1 order by id) as receipts,
    array(select id from erp.document where order_id in (select id from o) order by id) as documents
  from erp.customer c where c.id = $1`;

/** @throws {UserError} when there is none, or when they are several */
export async function findCustomer(client: ClientBase, given: string): Promise<Found> {
  const { rows } = await client.query<{ id: string; number: string }>(
    `select id, customer_number as number from erp.customer
     where id::text = $1 or customer_number = $2 or lower(email) = lower($2)`,
    [given.replace(/^gid:\/\/service\/Customer\//, "").toLowerCase(), given],
  );
  if (rows.length === 0) throw new UserError("There is no customer with this id, number or e-mail address.");
  if (rows.length > 1) {
    const numbers = rows.map(({ number }) => number).join(", ");
    throw new UserError(`There are several, with the numbers ${numbers}. Name one by its number.`);
  }
  return (await client.query<Found>(about, [rows[0]!.id])).rows[0]!;
}

/** The ids whose events are about the customer. */
export const subjectsOf = (found: Found): string[] => [
  found.customer,
  ...[found.orders, found.fulfillment_orders, found.fulfillments, found.labels, found.receipts].flat(),
  ...found.documents,
];

/** Events about subjects, by the index of topics: most events are about stock. */
export async function sequencesAbout(client: ClientBase, subjects: string[], after = "0"): Promise<string[]> {
  const { rows } = await client.query<{ sequence: string }>(
    `select e.sequence from events.topic t join events.event e on e.topic = t.name
     where t.subject_type in ('Customer', 'Order', 'FulfillmentOrder', 'Fulfillment', 'ShippingLabel', 'GoodsReceipt', 'Document')
       and e.subject_id = any ($1) and e.sequence > $2
     order by e.sequence`,
    [subjects, after],
  );
  return rows.map(({ sequence }) => sequence);
}

/** SQL for the idempotency keys whose answers contain one of some texts in lower case: the first parameter. */
export const answersAbout =
  "exists (select from unnest($1::text[]) n where position(n in lower(payload::text)) > 0)";

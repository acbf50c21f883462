import { insertBookings } from "./insert-bookings.ts";

type Rows = (text: string, values?: unknown[]) => Promise<any[]>;

/** What there is of orders, stock and receipts (receiving nothing touches a supplier order, by hand it doesn't): of the products $1, from the movement $2 on. */
export const state = `
  with name as (select id, product_id || ' ' || place as name from ledger.stock),
    nth as (select id, row_number() over (order by id) as nth from ledger.stock_movement where id > $2::uuid)
  select jsonb_build_object(
    'movements', (select jsonb_agg(to_jsonb(m) - '{id,transaction_id,created_at,microseconds,booking_id}'::text[] order by m.id)
      from ledger.stock_movement m where m.id > $2::uuid),
    'batches', (select jsonb_agg(jsonb_build_array(b.batch_id, b.quantity, n.nth) order by n.nth, b.batch_id)
      from ledger.stock_movement_batch b join nth n on n.id = b.stock_movement_id),
    'stock', (select jsonb_agg(to_jsonb(s) - '{id}'::text[] order by s.product_id, s.place)
      from ledger.stock s where s.product_id = any ($1)),
    'batch stock', (select jsonb_agg(jsonb_build_array(n.name, b.batch_id, b.quantity) order by n.name, b.batch_id)
      from ledger.batch_stock b join name n on n.id = b.stock_id),
    'warehouse stock', (select jsonb_agg(to_jsonb(s) - '{id}'::text[] order by s.product_id, s.warehouse_id)
      from ledger.warehouse_stock s where s.product_id = any ($1)),
    'products', (select jsonb_agg(to_jsonb(p) order by p.id) from erp.product p where p.id = any ($1)),
    'links', (select jsonb_agg(jsonb_build_array(l.fulfillment_line_item_id, n.nth) order by n.nth)
      from erp.fulfillment_stock_movement l join nth n on n.id = l.stock_movement_id),
    'pairs', (select jsonb_agg(to_jsonb(p) order by p.fulfillment_order_id, p.fulfillment_id) from erp.fulfillment_order_fulfillment p
      join erp.fulfillment f on f.id = p.fulfillment_id where f.number like '#%'),
    ${[
      ["orders", "erp.sales_order t where t.order_number like '#%'"],
      ["order lines", "erp.sales_order_line_item t where t.identifier = '#'"],
      ["fulfillment orders", "erp.fulfillment_order t where t.number like '#%'"],
      [
        "fulfillment order lines",
        "erp.fulfillment_order_line_item t join erp.fulfillment_order f on f.id = t.fulfillment_order_id where f.number like '#%'",
      ],
      ["fulfillments", "erp.fulfillment t where t.number like '#%'"],
      [
        "fulfillment lines",
        "erp.fulfillment_line_item t join erp.fulfillment f on f.id = t.fulfillment_id where f.number like '#%'",
      ],
      ["receipts", "erp.goods_receipt t where t.number like '#%'"],
      [
        "receipt lines",
        "erp.goods_receipt_line_item t join erp.goods_receipt r on r.id = t.goods_receipt_id where r.number like '#%'",
      ],
      ["supplier orders", "erp.supplier_order t where t.number like '#%'"],
      [
        "supplier order lines",
        "erp.supplier_order_line_item t join erp.supplier_order o on o.id = t.supplier_order_id where o.number like '#%'",
      ],
    ]
      .map(
        ([name, from]) =>
          `'${name}', (select jsonb_agg(to_jsonb(t) - '${name!.startsWith("supplier") ? "updated_at" : ""}' order by t.id) from ${from})`,
      )
      .join()}) as state`;

/** Writes by hand, table after table, what was done by a mutation. Quantities that follow are left to triggers. */
const byHand: [table: string, from: string, columns: string, isUpdate?: "update"][] = [
  [
    "erp.fulfillment_order",
    "fulfillment orders",
    "id, number, destination_order_id, source_warehouse_location_id, shipping_method_id, shipping_method_name, shipping_address",
  ],
  [
    "erp.fulfillment_order_line_item",
    "fulfillment order lines",
    "id, fulfillment_order_id, destination_order_line_item_id, product_id, quantity",
  ],
  ["erp.fulfillment", "fulfillments", "id, number"],
  ["erp.fulfillment_order_fulfillment", "pairs", "fulfillment_order_id, fulfillment_id"],
  [
    "erp.fulfillment_line_item",
    "fulfillment lines",
    "id, fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, product_id, quantity",
  ],
  ["erp.fulfillment_order", "fulfillment orders", "state", "update"],
  ["erp.sales_order", "orders", "state, delivery_state, entered_tracking_codes", "update"],
  ["erp.goods_receipt", "receipts", "state, goods_receipt_date_time", "update"],
  [
    "erp.goods_receipt_line_item",
    "receipt lines",
    "quantity, planned_disposal_quantity, supplier_order_id, supplier_order_line_item_id",
    "update",
  ],
  [
    "erp.goods_receipt_line_item",
    "receipt lines",
    "id, goods_receipt_id, product_id, batch_id, supplier_order_id, supplier_order_line_item_id, destination_bin_location_id, quantity, unit_price, tax_rate",
  ],
  [
    "erp.supplier_order_line_item",
    "supplier order lines",
    "received_quantity, actual_delivery_date",
    "update",
  ],
  ["erp.supplier_order", "supplier orders", "state, actual_delivery_date", "update"],
];

export interface Told {
  topic: string;
  subject: string;
  fields: string[] | null;
  data: any;
}

/** What was told, as receivers know it at the end: of each thing all fields that were told of, and the last data. */
export function folded(events: Told[]): { news: Map<string, Told>; isRepeated: boolean } {
  const news = new Map<string, Told>();
  let isRepeated = false;
  for (const { topic, subject, fields, data } of events) {
    const { id, quantity, ...place } = data;
    for (const time of ["createdAt", "updatedAt"]) delete place[time];
    const isMovement = topic === "stock_movement.created";
    const isStock = topic === "stock.changed";
    const thing = isMovement || isStock ? JSON.stringify(place) : subject;
    let key = `${topic} ${thing}`;
    // Two movements may be alike
    while (isMovement && news.has(key)) key += "'";
    const earlier = news.get(key);
    isRepeated ||= earlier !== undefined;
    const all = fields && [...new Set([...(earlier?.fields ?? []), ...fields])].sort();
    const last = isMovement || isStock ? { ...place, quantity } : { ...place, quantity, id };
    news.set(key, { topic, subject: thing, fields: all, data: last });
  }
  return { news: new Map([...news].sort(([one], [other]) => (one < other ? -1 : 1))), isRepeated };
}

/** Writes what a mutation has left behind, that is not there yet. */
export async function writeByHand(rows: Rows, left: any): Promise<void> {
  const movements = await insertBookings(rows, left.movements ?? [], left.batches ?? []);
  for (const [table, from, columns, isUpdate] of byHand) {
    const values = JSON.stringify(left[from] ?? []);
    const key = columns.startsWith("id") ? "id" : columns;
    if (isUpdate)
      await rows(
        `update ${table} t set (${columns}) = row (${columns.replace(/(\w+)/g, "j.$1")})
           from jsonb_populate_recordset(null::${table}, $1) j
           where j.id = t.id and (${columns.replace(/(\w+)/g, "j.$1")}) is distinct from (${columns.replace(/(\w+)/g, "t.$1")})`,
        [values],
      );
    else
      await rows(
        `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1) j
           where (${key}) not in (select ${key} from ${table})`,
        [values],
      );
  }
  const links = (left.links ?? []).map(([line, nth]: [string, number]) => ({
    line,
    movement: movements[nth - 1],
  }));
  await rows(
    `insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
       select line, movement from jsonb_to_recordset($1) l (line uuid, movement uuid)`,
    [JSON.stringify(links)],
  );
  await rows("update erp.number_range set last_number = last_number + 10");
}

import type { Place } from "./record.ts";

/** Master data of a merchant that trades in three currencies, from two halls and a room for returns. */
const rows = `
  insert into erp.warehouse (code, name, is_default, is_default_receiving, is_stock_available_for_sale) values
    ('hall', 'Hall', true, true, true), ('shed', 'Shed', false, false, true), ('returns', 'Returns', false, false, false);
  insert into erp.location (name, warehouse_id) select name, id from erp.warehouse;
  insert into erp.bin_location (warehouse_id, code) select w.id, w.code || n from erp.warehouse w, generate_series(1, 3) n
    where w.code <> 'returns';
  insert into erp.product (product_number, name, gross_weight, is_batch_managed)
    select 'plain' || n, 'Plain', n * 0.35, false from generate_series(1, 3) n
    union all select 'lot' || n, 'In batches', 1.111, true from generate_series(1, 2) n;
  insert into erp.batch (product_id, number) select id, 'B' || n from erp.product, generate_series(1, 3) n where is_batch_managed;
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency) values
    ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true), ('USD', '$', '{"en-GB":"Dollar"}', '{"en-GB":"USD"}', 1.25, false),
    ('CHF', 'F', '{"en-GB":"Franc"}', '{"en-GB":"CHF"}', 0.93, false);
  insert into erp.supplier (number, name) values ('acme', 'Acme');
  insert into erp.stock_container (number, warehouse_id) select 'crate', id from erp.warehouse where code = 'hall';
  insert into erp.number_range (technical_name, pattern) values ('goods_receipt', 'GR-{n}'), ('fulfillment', 'F-{n}'),
    ('fulfillment_order', 'FO-{n}') on conflict do nothing`;

const found = `
  select jsonb_build_object(
    'products', (select jsonb_agg(jsonb_build_object('id', p.id, 'weight', p.gross_weight::text, 'batches',
      array(select b.id from erp.batch b where b.product_id = p.id order by b.number)) order by p.product_number) from erp.product p),
    'warehouses', (select jsonb_agg(id order by code) from erp.warehouse),
    'bins', (select jsonb_agg(jsonb_build_array(id, warehouse_id) order by code) from erp.bin_location),
    'container', (select jsonb_build_array(id, warehouse_id) from erp.stock_container),
    'currencies', (select jsonb_agg(id order by iso_code) from erp.currency),
    'supplier', (select id from erp.supplier)) as merchant`;

export interface Product {
  id: string;
  weight: string;
  batches: string[];
}

export interface Merchant {
  products: Product[];
  warehouses: string[];
  bins: [id: string, warehouse: string][];
  container: [id: string, warehouse: string];
  currencies: string[];
  supplier: string;
}

export type Rows = (text: string, values?: unknown[]) => Promise<any[]>;

/** Writes the master data. */
export async function openMerchant(run: Rows): Promise<Merchant> {
  await run(rows);
  return (await run(found))[0].merchant;
}

/** Inserts an order with one fulfillment order at a warehouse over all of it; returns the ids of both, and of its lines. */
export const insertOrder = `
  with o as (
    insert into erp.sales_order (order_number, currency_id, state, delivery_state, shipping_address)
    select $1, id, 'open', 'open', '{"city": "Lyon"}' from erp.currency where is_default_currency returning id
  ), l as (
    insert into erp.sales_order_line_item (order_id, product_id, type, identifier, label, position, quantity, unit_price, total_price)
    select o.id, j.product, 'product', 'line', 'Line', j.n, j.quantity, 1, j.quantity
    from o, rows from (jsonb_to_recordset($2) as (product uuid, quantity integer)) with ordinality j (product, quantity, n)
    returning id, order_id, product_id, quantity, position
  ), f as (
    insert into erp.fulfillment_order (number, type, state, destination_order_id, source_warehouse_location_id)
    select $1 || '-1', 'WarehouseLocationToOrder', 'Open', o.id, s.id from o, erp.location s where s.warehouse_id = $3 returning id
  ), fl as (
    insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
    select f.id, l.id, l.product_id, l.quantity from f, l returning id, destination_order_line_item_id
  )
  select o.id, f.id as fulfillment_order, array(select fl.id from fl join l on l.id = fl.destination_order_line_item_id
    order by l.position) as lines
  from o, f`;

/** The movements after one, with their places and batches. */
export const newMovements = `
  select m.id, m.product_id as product, m.quantity, m.process_type_technical_name as process,
    s.location_type_technical_name || ':' || s.place as "from", d.location_type_technical_name || ':' || d.place as "to",
    array(select jsonb_build_array(b.batch_id, b.quantity) from ledger.stock_movement_batch b
      where b.stock_movement_id = m.id order by b.batch_id) as batches,
    (select (extract(epoch from c.counted_at) * 1000000)::bigint::text from ledger.stock_count c
      where c.stock_movement_id = m.id) as counted
  from ledger.stock_movement m
  join ledger.flow s on s.movement_id = m.id and s.direction = -1
  join ledger.flow d on d.movement_id = m.id and d.direction = 1
  where m.id > $1 order by m.id`;

/** Lets the clock of the ledger show the moment of the story. */
export const moveClock = `
  create or replace function ledger.moment() returns timestamptz language sql volatile
    return current_setting('model.now')::timestamptz;
  create or replace function ledger.moment_of_statement() returns timestamptz language sql stable
    return current_setting('model.now')::timestamptz`;

/** Columns of a movement for one of its sides. */
export function side(name: "source" | "destination", place: Place): object {
  const [type, key] = place.split(":");
  const column = type === "special_stock_location" ? `${type}_technical_name` : `${type}_id`;
  return { [`${name}_location_type_technical_name`]: type, [`${name}_${column}`]: key };
}

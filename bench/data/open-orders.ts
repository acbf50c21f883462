import { withClient } from "../../src/postgres/client.ts";

/** Additional units of each product, so that orders don't compete for stock. */
const surplus = 10_000;

// Excluded are products with batches, which would have to be chosen, and orders that can't be shipped because of external
// fulfillment orders or holds
const candidates = `
  create temporary table candidate as
  select o.id from erp.sales_order o
  where o.state in ('open', 'in_progress')
    and exists (select from erp.sales_order_line_item l where l.order_id = o.id and l.type = 'product' and l.quantity > l.shipped_quantity)
    and not exists (
      select from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id
      where l.order_id = o.id and l.type = 'product' and (p.id is null or p.is_batch_managed))
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = o.id
        and (f.type <> 'WarehouseLocationToOrder' or f.state = 'OnHold' or f.source_warehouse_location_id is null))
  order by sha256(o.id::text::bytea) limit $1`;

const store = `
  select mutation.run('api_unstable', 'stock_adjust', jsonb_build_object('lines', jsonb_agg(jsonb_build_object(
    'product_id', c.product_id, 'place', jsonb_build_object('warehouse_id', c.warehouse_id), 'delta', $1::integer))), null, false)
    -> 'userErrors' as "userErrors"
  from (
    select l.product_id, w.id as warehouse_id, (row_number() over (order by l.product_id, w.id) - 1) / 250 as call
    from (select distinct product_id from erp.sales_order_line_item
      where order_id in (select id from candidate) and type = 'product') l
    cross join erp.warehouse w
  ) c
  group by c.call order by c.call`;

// Copies the candidates under new numbers, with the service's own function
const more = `
  with wanted as (
    select row_number() over () - 1 as nth, c.id
    from candidate c cross join generate_series(1, ceil($1::numeric / (select count(*) from candidate))::integer)
    limit $1
  ), calls as (
    select mutation.run('api_unstable', 'orders_upsert', jsonb_build_object('orders', jsonb_agg(jsonb_build_object(
      'order_number', 'bench-' || w.nth, 'sales_channel_id', o.sales_channel_id, 'currency_id', o.currency_id,
      'shipping_method_id', o.shipping_method_id, 'payment_method_id', o.payment_method_id,
      'shipping_address', o.shipping_address,
      'line_items', (
        select jsonb_agg(jsonb_build_object('identifier', l.id, 'product_id', l.product_id, 'quantity', l.quantity,
          'unit_price', 1, 'tax_rate', 19))
        from erp.sales_order_line_item l where l.order_id = o.id and l.type = 'product')))), null, false) as answer
    from wanted w join erp.sales_order o on o.id = w.id
    group by w.nth / 100
  ), refused as (
    select answer from calls where answer -> 'payload' is null or answer -> 'userErrors' <> '[]'
  )
  select (select count(*) from calls)::integer as calls, (select answer from refused limit 1) as refused`;

const addMore = `
  insert into candidate select id from erp.sales_order where order_number like 'bench-%'`;

const shippable = `
  select c.id from candidate c
  where mutation.run('api_unstable', 'order_shipment_complete', jsonb_build_object('order_id', c.id), null, true) -> 'userErrors' = '[]'`;

/** Orders that can be shipped completely, with stock for them in every warehouse: the shop's own, and copies of them. */
export function openOrders(adminUrl: string, count: number): Promise<string[]> {
  return withClient(adminUrl, async (client) => {
    await client.query("set jit = off");
    await client.query("select set_config('service.scopes', 'orders:write stocks:write', false)");
    // `create table as` takes no parameters
    await client.query(candidates.replace("$1", String(count)));
    const { rows: stored } = await client.query<{ userErrors: unknown[] }>(store, [surplus]);
    const refused = stored.find(({ userErrors }) => userErrors.length > 0);
    if (refused) throw new Error(`Stock for orders was refused: ${JSON.stringify(refused.userErrors)}`);
    const { rowCount } = await client.query("select from candidate");
    if (rowCount! < count) {
      const { rows: made } = await client.query<{ refused: unknown }>(more, [count - rowCount!]);
      if (made[0]!.refused !== null)
        throw new Error(`Orders were refused: ${JSON.stringify(made[0]!.refused)}`);
      await client.query(addMore);
    }
    const { rows } = await client.query<{ id: string }>(shippable);
    return rows.map(({ id }) => id);
  });
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { fillDemo } from "../../src/commands/demo.ts";
import { UserError } from "../../src/errors/user-error.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { fingerprint, apiLists, missingValues, optionalColumns } from "./coverage.ts";

const program = fileURLToPath(new URL("../../src/commands/erp.ts", import.meta.url));

let database: TestDatabase;
let client: pg.Client;
before(async () => {
  database = await openTestDatabase("template_demo");
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
});
after(async () => {
  await client.end();
  await database.close();
});

test("the books are right", async () => {
  assert.deepEqual((await client.query("select * from ledger.proof")).rows, []);
});

test("no place held less than nothing at any time", async () => {
  const { rows } = await client.query(`
    with flow as (
      select id, product_id, coalesce(destination_warehouse_id, destination_bin_location_id, destination_order_id, destination_return_order_id, destination_goods_receipt_id,
        destination_stock_container_id) as place, quantity from ledger.stock_movement
      union all
      select id, product_id, coalesce(source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id, source_goods_receipt_id, source_stock_container_id), - quantity
      from ledger.stock_movement
    ),
    running as (select *, sum(quantity) over (partition by product_id, place order by id) as balance from flow where place is not null)
    select * from running where balance < 0 limit 3`);
  assert.deepEqual(rows, []);
});

test("movements of products with batches name batches, for the whole quantity", async () => {
  const { rows } = await client.query(`
    select m.id from ledger.stock_movement m join erp.product p on p.id = m.product_id
    left join ledger.stock_movement_batch b on b.stock_movement_id = m.id left join erp.batch on batch.id = b.batch_id and batch.product_id = m.product_id
    group by m.id, p.is_batch_managed
    having coalesce(sum(b.quantity), 0) <> case when p.is_batch_managed then m.quantity else 0 end or count(b.batch_id) <> count(batch.id)`);
  assert.deepEqual(rows, []);
});

test("the log of events is not deleted for its age as soon as the service runs", async () => {
  const count = async () => (await client.query("select count(*)::int as n from events.event")).rows[0].n;
  const before = await count();
  assert.ok(before > 0);
  await client.query("begin");
  try {
    await client.query("select events.prune(500)");
    assert.equal(await count(), before);
  } finally {
    await client.query("rollback");
  }
});

test("ids are in the order of time", async () => {
  for (const table of [
    "erp.sales_order",
    "erp.fulfillment",
    "erp.goods_receipt",
    "ledger.stock_movement",
    "(select * from erp.document where order_id is not null)",
  ]) {
    const { rows } = await client.query(
      `select id from (select id, created_at, lag(created_at) over (order by id) as before from ${table}) v where created_at < before - interval '2 minutes' limit 1`,
    );
    assert.deepEqual(rows, [], table);
  }
});

test("purchase prices are those of the default supplier", async () => {
  const { rows } = await client.query(`
    with expected as (
      select c.product_id, p.currency_id, p.net, p.gross from erp.product_supplier_configuration c
      join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id
      join erp.supplier s on s.id = c.supplier_id left join erp.currency u on u.id = s.currency_id
      where c.supplier_is_default and coalesce(u.is_default_currency, true)
      union all
      select c.product_id, d.id, round(p.net / u.factor, 2), round(p.gross / u.factor, 2) from erp.product_supplier_configuration c
      join erp.supplier s on s.id = c.supplier_id join erp.currency u on u.id = s.currency_id and not u.is_default_currency
      join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id and p.currency_id = u.id
      join erp.currency d on d.is_default_currency
      where c.supplier_is_default
    )
    select * from expected e full join erp.product_purchase_price p using (product_id, currency_id)
    where (e.net, e.gross) is distinct from (p.net, p.gross)`);
  assert.deepEqual(rows, []);
});

test("amounts of orders are the sums of their lines", async () => {
  const { rows } = await client.query(`
    select o.order_number from erp.sales_order o join erp.sales_order_line_item l on l.order_id = o.id
    where o.amount_total is not null group by o.id having sum(l.total_price) <> o.amount_total`);
  assert.deepEqual(rows, []);
});

test("orders are delivered as far as their lines are shipped", async () => {
  const { rows } = await client.query(`
    select o.order_number, o.state, o.delivery_state, l.units, l.shipped
    from erp.sales_order o join (
      select order_id, sum(quantity) as units, sum(shipped_quantity) as shipped
      from erp.sales_order_line_item where type = 'product' group by order_id
    ) l on l.order_id = o.id
    where (o.state = 'completed') <> (l.shipped = l.units) or case
      when l.shipped = 0 then o.delivery_state not in ('open', 'cancelled')
      when l.shipped < l.units then o.delivery_state <> 'shipped_partially'
      else o.delivery_state not in ('shipped', 'returned', 'returned_partially') end`);
  assert.deepEqual(rows, []);
});

test("every list has rows, most more than a page", async () => {
  const all = await apiLists(client);
  assert.ok(all.length > 60, `${all.length} lists`);
  assert.deepEqual(
    all.filter(({ longest }) => longest === 0),
    [],
  );
  // The shop has 3 sales channels and 3 warehouses, and 4 currencies; a product has a few batches and suppliers, as have stock and movements; few entries come late or without a price
  const short = all.filter(({ longest }) => longest < 11).map(({ view, field }) => `${view}.${field}`);
  assert.deepEqual(short.sort(), [
    "batches.removals",
    "batches.returnOrderLineItems",
    "batches.shipments",
    "batches.stocks",
    "bin_locations.stockContainers",
    "countries.salesChannelDefaultAssignments",
    "countries.salesChannels",
    "currencies.salesChannelDefaultAssignments",
    "currencies.salesChannels",
    "customer_groups.registrationSalesChannels",
    "customer_groups.salesChannels",
    "customers.returnOrders",
    "fulfillment_line_items.batches",
    "fulfillment_line_items.returnOrderLineItems",
    "fulfillment_orders.pickTasks",
    "fulfillment_orders.stockContainers",
    "order_line_items.returnOrderLineItems",
    "orders.replacedReturnOrders",
    "orders.returnOrders",
    "payment_methods.salesChannels",
    "pick_lists.tasks",
    "pick_tasks.lines",
    "products.batches",
    "products.gtins",
    "products.returnOrderLineItems",
    "products.supplierConfigurations",
    "products.warehouseConfigurations",
    "products.warehouseStocks",
    "quotes.documents",
    "return_order_line_items.goodsReceiptLineItems",
    "return_orders.destinationStockMovements",
    "return_orders.documents",
    "return_orders.goodsReceiptLineItems",
    "return_orders.lineItems",
    "return_orders.sourceStockMovements",
    "return_orders.stocks",
    "sales_channels.currencies",
    "stock_containers.destinationStockMovements",
    "stock_containers.sourceStockMovements",
    "stock_containers.stocks",
    "stock_movements.batches",
    "stock_valuation_reports.faults",
    "stock_valuation_reports.lateEntries",
    "stocks.batches",
    "stocktakes.sheets",
    "supplier_orders.documents",
    "warehouses.location",
    "warehouses.pickLists",
  ]);
});

test("every optional field is sometimes there and sometimes not", async () => {
  // Files of many rows belong to tokens, of which the demonstration shop has none
  const columns = (await optionalColumns(client)).filter(
    ({ column }) =>
      !column.startsWith("bulk_operations.") &&
      // Only the credential that counted sees it, or one that sees results
      column !== "stocktake_counts.quantity" &&
      // Positions without a count have no value
      column !== "stocktake_line_values.difference" &&
      // All stock is in warehouses: none is left of places that were deleted before their history was kept
      !column.startsWith("stock_valuation_report_lines.warehouse_"),
  );
  assert.ok(columns.length > 150, `${columns.length} columns`);
  assert.deepEqual(
    columns.filter(({ nulls, values }) => nulls === 0 || values === 0),
    [],
  );
});

test("every fulfillment order from elsewhere names the place, and no webhook has a receiver", async () => {
  const { rows } = await client.query(
    `select count(*) filter (where external_location_name is null)::int as nameless, count(*)::int as external
     from erp.fulfillment_order where type = 'ExternalToOrder'`,
  );
  assert.equal(rows[0].nameless, 0);
  assert.ok(rows[0].external > 10);
  const { rows: hosts } = await client.query(
    "select distinct events.host_of(url) as host from events.webhook_subscription",
  );
  assert.deepEqual(hosts, [{ host: "hooks.shop.example" }], "RFC 2606 keeps .example free");
});

test("every state, type and kind of place occurs", async () => {
  assert.deepEqual(await missingValues(client), []);
});

test("the same scale gives the same data, and nothing else is left", async () => {
  const other = await openTestDatabase("template_schema");
  const connection = new pg.Client({ connectionString: other.ownerUrl });
  try {
    await connection.connect();
    const steps: string[] = [];
    await fillDemo({ connectionString: other.ownerUrl, scale: 1, onProgress: (step) => steps.push(step) });
    assert.deepEqual(await fingerprint(connection), await fingerprint(client));
    assert.ok(steps.includes("Demonstration data: Stock movements"), steps.join());
    const { rows } = await connection.query(
      `select nspname from pg_namespace where nspname = 'demo' union all select tgname from pg_trigger where tgenabled = 'D'`,
    );
    assert.deepEqual(rows, []);
  } finally {
    await connection.end();
    await other.close();
  }
});

test("a database with data is refused, unless it is to be emptied; then the data reaches to today", async () => {
  await assert.rejects(fillDemo({ connectionString: database.ownerUrl, scale: 1 }), UserError);
  const before = await timeless();
  await client.query(
    "delete from ledger.stock_movement; insert into erp.tag (name) values ('not from here')",
  );
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; text: string }>((resolve) => {
      const env = { ...process.env, DATABASE_URL: database.adminUrl };
      execFile(process.execPath, [program, "demo", ...args], { env }, (error, _stdout, text) =>
        resolve({ code: error ? error.code : 0, text }),
      );
    });
  assert.match((await run()).text, /has data already/);
  assert.equal((await run("--scale", "0")).code, 2);
  assert.equal((await run("--sclae")).code, 2);
  const { code, text } = await run("--reset");
  assert.equal(code, 0, text);
  assert.deepEqual(await timeless(), before);
  const { rows } = await client.query(
    `select max(created_at) between now() - interval '3 days' and now() as recent,
       (select max(reference_date) > now() - interval '6 days' from erp.exchange_rate) as rated,
       (select max(created_at) <= now() from ledger.stock_movement) as past from erp.sales_order`,
  );
  assert.deepEqual(rows, [{ recent: true, rated: true, past: true }]);
});

/** What stays the same on whatever day the data is made. */
async function timeless() {
  const { rows } = await client.query(
    `select (select jsonb_agg(jsonb_build_array(id, order_number, state, amount_total) order by id) from erp.sales_order) as orders,
       (select jsonb_agg(jsonb_build_array(id, quantity, product_id) order by id) from ledger.stock_movement) as movements,
       (select jsonb_agg(jsonb_build_array(factor, origin) order by factor) from
         (select factor, source as origin from erp.exchange_rate) v) as rates`,
  );
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

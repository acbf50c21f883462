import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import type { TestDatabase } from "../lib/database.ts";
import { openTestDatabase } from "../lib/database.ts";

/** Rows of each upsert; columns as the API's inputs name them after decoding. */
const rowsOf: Record<string, (n: number, ids: Record<string, string>) => object> = {
  products: (n, { currency }) => ({
    product_number: `many-${n}`,
    name: `Many ${n}`,
    tags: ["many", `many-${n % 3}`],
    price: [{ currency_id: currency, net: 10, gross: 11.9 }],
    translations: [{ locale: "de", name: `Viele ${n}` }],
    images: [1, 2].map((image) => ({
      url: `https://cdn.example.com/${n}-${image}`,
      alt_text: "Many",
      translations: [{ locale: "de", alt_text: "Viele" }],
    })),
  }),
  customers: (n, { channel }) => ({
    storefront_id: `many-${n}`,
    sales_channel_id: channel,
    email: `many-${n}@example.com`,
    first_name: "Ada",
    last_name: "Lund",
    tags: ["many"],
  }),
  suppliers: (n) => ({ number: `many-${n}`, name: `Many ${n}` }),
  warehouses: (n) => ({ code: `many-${n}`, name: `Many ${n}` }),
  batches: (n, { product }) => ({ product_number: product, number: `many-${n}`, tags: ["many"] }),
  orders: (n, { channel }) => ({
    storefront_id: `many-${n}`,
    sales_channel_id: channel,
    order_number: `many-${n}`,
    tags: ["many"],
    line_items: [1, 2, 3].map((line) => ({
      identifier: `${line}`,
      product_number: `many-${(n + line) % 3}`,
      quantity: line,
      unit_price: 2,
    })),
  }),
};

/** What rules of tables ask for each row: foreign keys, defaults of warehouses. */
const ofEachRow = /^(SELECT 1 FROM ONLY|exists \(select from erp\.warehouse\))/;

describe("an upsert of many rows", () => {
  let database: TestDatabase;
  let client: pg.Client;
  let ids: Record<string, string>;
  let statements: string[] = [];
  before(async () => {
    database = await openTestDatabase("template_demo");
    client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    ids = (
      await client.query(`
        insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
        select '{"en-GB":"Shop"}', (select id from erp.country limit 1), c.id,
          (select id from erp.customer_group limit 1), (select id from erp.payment_method limit 1)
        from erp.currency c where c.is_default_currency returning id as channel, currency_id as currency,
          (select product_number from erp.product where is_batch_managed limit 1) as product`)
    ).rows[0];
    // Each statement is told, also those within functions
    await client.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0;
      set auto_explain.log_nested_statements = on; set client_min_messages = log;
      set role service_writer`);
    client.on("notice", ({ message = "" }) => {
      const text = /Query Text: (.*)/s.exec(message)?.[1];
      if (text && !ofEachRow.test(text)) statements.push(text);
    });
  });
  after(async () => {
    await client.end();
    await database.close();
  });

  const upsert = async (resource: string, from: number, count: number) => {
    const rows = Array.from({ length: count }, (_, n) => rowsOf[resource]!(from + n, ids));
    statements = [];
    const { rows: found } = await client.query(
      `select errors from unnest(erp.upsert_${resource}($1, true)) where errors is not null`,
      [JSON.stringify(rows)],
    );
    assert.deepEqual(found, []);
    return statements.length;
  };

  /** Statements that run for most of 60 rows. */
  const repeated = () => {
    const counts = Map.groupBy(statements, (text) => text.slice(0, 1_000));
    return [...counts].flatMap(([text, { length }]) => (length > 30 ? [text] : []));
  };

  for (const resource of Object.keys(rowsOf))
    it(`of ${resource} has as many statements as one of few rows`, async () => {
      await upsert(resource, 0, 3);
      const ofFew = await upsert(resource, 3, 3);
      const ofMany = await upsert(resource, 6, 60);
      assert.deepEqual(repeated(), []);
      // A statement more or less, such as one that asks for the settings of a session for the first time
      assert.ok(ofFew > 3 && ofMany < ofFew + 10, `${ofMany} instead of ${ofFew}`);
      await upsert(resource, 6, 60);
      assert.deepEqual(repeated(), []);
    });

  it("of all orders of the demonstration shop, lines in the order of ids as lists have them, changes nothing", async () => {
    const { rows } = await client.query(`
      select jsonb_agg(row) as given from (
        select row_number() over (order by o.id) / 250 as call, jsonb_build_object('id', o.id, 'line_items', (
          select jsonb_agg(jsonb_build_object('id', l.id, 'quantity', l.quantity, 'label', l.label,
            'total_price', l.total_price) order by l.id)
          from erp.sales_order_line_item l where l.order_id = o.id)) as row
        from erp.sales_order o where o.storefront_id is null or o.sales_channel_id is not null) v group by call`);
    assert.ok(rows.length > 1);
    for (const { given } of rows) {
      const { rows: changed } = await client.query(
        "select id, errors from unnest(erp.upsert_orders($1, true)) where is_changed or errors is not null",
        [JSON.stringify(given)],
      );
      assert.deepEqual(changed, []);
    }
  });

  it("of orders reads its own orders only, however many are open", async () => {
    const tables = ["erp.sales_order", "erp.sales_order_line_item"];
    /** Rows of orders and their lines that an upsert of 20 new orders reads. */
    const readBy = async (from: number): Promise<number> => {
      await client.query("begin");
      const before = await readSoFar();
      await upsert("orders", from, 20);
      const count = (await readSoFar()) - before;
      await client.query("commit");
      return count;
    };
    const readSoFar = async (): Promise<number> =>
      (
        await client.query<{ count: number }>(
          `
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as count
          from pg_stat_xact_user_tables where relid = any ($1::regclass[])`,
          [tables],
        )
      ).rows[0]!.count;
    const asAdministrator = async (...texts: string[]) => {
      await client.query("reset role; set session_replication_role = replica");
      for (const text of texts) await client.query(text);
      await client.query("reset session_replication_role; set role service_writer");
    };
    // Plans are made while the tables are small, and kept
    await asAdministrator("delete from erp.sales_order_line_item; delete from erp.sales_order");
    await asAdministrator(
      ...tables.flatMap((table) => [
        `alter table ${table} set (autovacuum_enabled = off)`,
        `vacuum analyze ${table}`,
      ]),
    );
    for (let n = 0; n < 6; n++) await readBy(1_000 + 20 * n);
    await asAdministrator(`
      insert into erp.sales_order (order_number, storefront_id, sales_channel_id, state, currency_id)
      select 'open-' || n, 'open-' || n, c.id, 'open', c.currency_id
      from generate_series(1, 3000) n, erp.sales_channel c where c.id = '${ids.channel}'`);
    const after = await readBy(2_000);
    // Some thirty of each order, and not one of those that are open
    assert.ok(after < 20 * 40, `${after} rows`);
  });
});

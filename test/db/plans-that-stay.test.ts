import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { book, bring, receive, ship } from "./growing-days.ts";
import { GrowingShop } from "./growing-shop.ts";
import { added, grow } from "./growing-tables.ts";

// A connection keeps the plans of statements in functions. Here they are made while tables are nearly empty, and
// Postgres knows that; then the tables grow, and nothing tells Postgres.

const names = (text: string): string[] => text.trim().split(/\s+/);

/** What a shop has some of, however much it sells: these may be read as a whole. */
const settled = names(`
  api_meta.frozen_version api_meta.frozen_part api_meta.exposed_schema api_meta.backfill erp.language erp.currency
  erp.exchange_rate erp.country erp.salutation erp.customer_group erp.payment_method erp.shipping_method
  erp.sales_channel erp.sales_channel_country erp.sales_channel_currency erp.sales_channel_payment_method
  erp.sales_channel_registration_group erp.state_transition erp.warehouse erp.location erp.number_range
  erp.document_type erp.merchant auth.administrator auth.plan auth.signing_key auth.rights_mark events.subject
  events.field events.topic events.occasion events.log_head events.webhook_subscription mutation.operation
  ledger.process_type ledger.special_stock_location`);

/** What grows, and is still read as a whole by some mutations until Postgres analyzes it: each should leave this list. */
const stillRead = names(`
  erp.product_supplier_configuration erp.product erp.tag erp.product_image erp.product_supplier_price erp.customer
  erp.supplier erp.sales_order_line_item erp.sales_order erp.fulfillment_order_line_item erp.bin_location
  erp.product_warehouse_configuration ledger.warehouse_stock ledger.batch_stock erp.batch erp.invoice_line_item
  erp.fulfillment erp.document erp.fulfillment_line_item erp.fulfillment_order_fulfillment erp.invoice
  erp.document_fulfillment erp.fulfillment_order erp.fulfillment_stock_movement erp.product_purchase_price
  erp.supplier_order erp.supplier_order_line_item erp.goods_receipt_line_item erp.goods_receipt
  erp.goods_receipt_supplier_order ledger.stock_movement ledger.stock`);

describe("plans that were made while tables were small", () => {
  let database: TestDatabase;
  let clients: pg.Client[];
  before(async () => {
    database = await openTestDatabase("template_demo");
    clients = [1, 2].map(() => new pg.Client({ connectionString: database.adminUrl }));
    await Promise.all(clients.map((client) => client.connect()));
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await database.close();
  });

  it("read no table of which there will be many rows as a whole", async () => {
    const [client, admin] = clients as [pg.Client, pg.Client];
    const found = new Set<string>();
    let sizes = new Map<string, number>();
    const shop = new GrowingShop(client, admin, (call, reads) => {
      for (const [table, count] of reads)
        if (count >= (sizes.get(table) ?? Infinity) && !stillRead.includes(table))
          found.add(`${call} reads ${table}`);
    });
    const scene = await emptied(client, admin, shop);
    const day = async (n: number) => {
      for (const part of [bring, book, ship, receive]) await part(shop, scene, n);
    };
    await day(0);
    await admin.query("vacuum analyze");
    // After five times, a plan may stay
    for (let n = 1; n <= 6; n++) await day(n);
    sizes = new Map([...(await grow(admin, settled))].filter(([, count]) => count >= added));
    for (const table of [
      "mutation.idempotency_key",
      "events.outbox",
      "ledger.stock_count",
      "auth.audit_event",
    ])
      assert.ok(sizes.has(table), table);
    await day(7);
    assert.deepEqual([...found], []);
  });
});

/** Empties the tables that grow, and has Postgres look at them then, but not again. */
async function emptied(client: pg.Client, admin: pg.Client, shop: GrowingShop) {
  await admin.query("set track_counts = off; set session_replication_role = replica");
  const { rows: tables } = await admin.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
     where c.relkind = 'r' and c.oid <> all ($1::regclass[])`,
    [settled],
  );
  await admin.query(`truncate ${tables.map(({ name }) => name).join(", ")}`);
  for (const { name } of tables) await admin.query(`alter table ${name} set (autovacuum_enabled = off)`);
  await admin.query("reset session_replication_role");
  await admin.query("vacuum analyze");
  const scene = {
    credential: await shop.ask(`select auth.create_credential('test',
      (select array_agg(s) from auth.known_scopes() s), 'a-key-of-the-test-itself', sha256('secret'))`),
    channel: await shop.ask("select id from erp.sales_channel limit 1"),
    currency: await shop.ask("select id from erp.currency where is_default_currency"),
    warehouse: await shop.ask("select id from erp.warehouse where is_default"),
  };
  await client.query(
    `select set_config('service.credential_id', $1, false), set_config('service.scopes',
       (select string_agg(s, ' ') from auth.known_scopes() s), false)`,
    [scene.credential],
  );
  return scene;
}

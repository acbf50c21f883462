import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { book, bring, receive, ship } from "./growing-days.ts";
import type { Scene } from "./growing-days.ts";
import { GrowingShop } from "./growing-shop.ts";
import { grow } from "./growing-tables.ts";

const small = `
  api_meta.frozen_version api_meta.frozen_part api_meta.exposed_schema api_meta.backfill
  erp.language erp.currency erp.exchange_rate erp.country erp.salutation erp.customer_group erp.payment_method erp.shipping_method
  erp.sales_channel erp.sales_channel_country erp.sales_channel_currency erp.sales_channel_payment_method erp.sales_channel_registration_group
  erp.state_transition erp.warehouse erp.location erp.number_range erp.document_type erp.merchant
  auth.administrator auth.plan auth.signing_key auth.rights_mark
  events.subject events.field events.topic events.occasion events.log_head events.webhook_subscription
  mutation.operation ledger.process_type ledger.special_stock_location`.trim().split(/\s+/);

describe("plans that were made while tables were small", () => {
  let database: TestDatabase;
  let [client, admin]: pg.Client[] = [];
  before(async () => {
    database = await openTestDatabase("template_demo");
    [client, admin] = [1, 2].map(() => new pg.Client({ connectionString: database.adminUrl })) as [pg.Client, pg.Client];
    await Promise.all([client!.connect(), admin!.connect()]);
  });
  after(async () => {
    await Promise.all([client!.end(), admin!.end()]);
    await database.close();
  });
  it("x", { timeout: 400_000 }, async () => {
    const t = admin!, c = client!;
    await t.query("set track_counts = off");
    const { rows } = await t.query(`select c.oid::regclass::text as name from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace where c.relkind = 'r' and c.oid <> all ($1::regclass[])`, [small]);
    const growing = rows.map(({ name }) => name);
    await t.query(`set session_replication_role = replica; truncate ${growing.join(", ")}; ${growing.map((name) => `alter table ${name} set (autovacuum_enabled = off);`).join("")} reset session_replication_role`);
    const scopes = "";
    const reads: [string, Map<string, number>][] = [];
    const shop = new GrowingShop(c, t, (kind, read) => reads.push([kind, read]));
    const credential = await shop.ask("select auth.create_credential('test', (select array_agg(s) from auth.known_scopes() s), 'a-key-of-the-test-itself', sha256('secret'))");
    const scene: Scene = {
      credential, scopes,
      channel: await shop.ask("select id from erp.sales_channel limit 1"),
      currency: await shop.ask("select id from erp.currency where is_default_currency"),
      warehouse: await shop.ask("select id from erp.warehouse where is_default"),
      otherWarehouse: await shop.ask("select id from erp.warehouse where not is_default limit 1"),
    };
    await c.query("select set_config('service.scopes', (select string_agg(s, ' ') from unnest(scopes) s), false), set_config('service.credential_id', id::text, false) from auth.credential");
    const day = async (n: number) => {
      for (const part of [bring, book, ship, receive]) await part(shop, scene, n).catch((e) => n < 2 && console.log('FAULT', part.name, String(e.message).slice(0, 400)));
    };
    await t.query("vacuum analyze");
    console.time("warm");
    await day(0);
    await t.query("vacuum analyze");
    for (let n = 1; n < 7; n++) await day(n);
    console.timeEnd("warm"); console.time("grow");
    const sizes = await grow(t, small);
    console.timeEnd("grow");
    console.log("not grown", [...sizes].filter(([, count]) => count < 1500));
    reads.length = 0;
    await day(7);
    const found = new Map<string, string[]>();
    for (const [kind, read] of reads)
      for (const [table, count] of read) {
        const size = sizes.get(table);
        if (size !== undefined && size > 100 && count >= size) found.set(table, [...(found.get(table) ?? []), `${kind} ${(count / size).toFixed(1)}`]);
      }
    console.log(found);
    assert.deepEqual(found.size, 0);
  });
});

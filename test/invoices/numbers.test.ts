import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { createDocument } from "../pdf/document-shop.ts";
import { until } from "../lib/until.ts";
import { openNumberShop } from "./number-shop.ts";
import type { NumberShop } from "./number-shop.ts";

// Numbers of documents by range, year and sales channel
let shop: NumberShop;
let admin: pg.Client;
let outlet: string;
let order: string;
before(async () => {
  shop = await openNumberShop();
  admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
  order = await shop.order();
  outlet = await shop.openOutlet();
});
after(async () => {
  await admin.end();
  await shop.close();
});

/** A transaction at a moment that the test chooses. */
interface Rehearsal {
  client: pg.PoolClient;
  next(range?: string): Promise<string>;
  /** Moves the clock by which documents are dated and numbered. */
  moveTo(moment: string): Promise<unknown>;
}

/** Works at a moment in a time zone, in a transaction that is rolled back. */
async function at<T>(moment: string, timeZone: string, work: (it: Rehearsal) => Promise<T>): Promise<T> {
  const client = await shop.owner.connect();
  const moveTo = (to: string) =>
    client.query(`
      create or replace function erp.local_date(moment timestamptz) returns date language sql stable
      return ('${to}'::timestamptz at time zone (select m.time_zone from erp.merchant m))::date`);
  const next = async (range = "document_invoice") => {
    const { rows } = await client.query("select erp.next_number($1) as number", [range]);
    return rows[0].number;
  };
  try {
    await client.query("begin");
    await client.query(`update erp.merchant set time_zone = '${timeZone}'`);
    await moveTo(moment);
    return await work({ client, next, moveTo });
  } finally {
    await client.query("rollback");
    client.release();
  }
}

test("each year begins with 1, and a late transaction of the old year continues the old one", async () => {
  await at("2031-12-31T12:00Z", "UTC", async ({ client, next, moveTo }) => {
    assert.deepEqual([await next(), await next()], ["RE-2031-1", "RE-2031-2"]);
    assert.equal(await next("outlet_invoice"), "OUT/1.2031");
    await client.query("insert into erp.number_range_year values ('document_invoice', 2030, 4711)");
    assert.equal(await next(), "RE-2031-3");
    await moveTo("2032-01-01T12:00Z");
    assert.equal(await next(), "RE-2032-1");
    await moveTo("2030-12-31T12:00Z");
    assert.deepEqual([await next(), await next()], ["RE-2030-4712", "RE-2030-4713"]);
  });
});

test("the merchant's time zone decides the year, as it decides the date on the document", async () => {
  const invoice = (moment: string, zone: string) =>
    at(moment, zone, async ({ client }) => {
      const { rows } = await client.query(
        "select document_number, config ->> 'documentDate' as date from erp.document where id = $1",
        [await createDocument(client, order, "invoice")],
      );
      return [rows[0].document_number, rows[0].date];
    });
  const [last, first] = ["2031-12-31T22:59:59Z", "2031-12-31T23:00:00Z"];
  assert.deepEqual(await invoice(last, "Europe/Berlin"), ["RE-2031-1", "2031-12-31"]);
  assert.deepEqual(await invoice(first, "Europe/Berlin"), ["RE-2032-1", "2032-01-01"]);
  assert.deepEqual(await invoice(first, "UTC"), ["RE-2031-1", "2031-12-31"]);
  assert.deepEqual(await invoice("2032-01-01T04:59:59Z", "America/New_York"), ["RE-2031-1", "2031-12-31"]);
});

test("the first numbers of a year can't deadlock with a client that has locked the range", async () => {
  const clients = [await shop.connect(), await shop.connect(), await shop.connect()] as const;
  const take = async (client: pg.Client) => {
    const { rows } = await client.query("select erp.next_number('document_invoice') as number");
    await client.query("rollback");
    return rows[0].number;
  };
  for (const client of clients) await client.query("begin");
  const [holder, ...others] = clients;
  await holder.query("select erp.lock_number_ranges(array[$1::uuid], '{invoice,delivery_note}')", [order]);
  const waiting = others.map(take);
  await until(async () => {
    const { rows } = await admin.query(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows[0].n === 2;
  });
  const numbers = [await take(holder), ...(await Promise.all(waiting))];
  assert.deepEqual(numbers, Array(3).fill(numbers[0]));
  assert.match(numbers[0], /^RE-\d{4}-1$/);
  await Promise.all(clients.map((client) => client.end()));
});

test("documents of a sales channel take its range, and others the range of their type", async () => {
  const rangeOf = async (type: string, channel: string | null) =>
    (await shop.owner.query("select erp.range_of_documents($1, $2) as range", [type, channel])).rows[0].range;
  assert.equal(await rangeOf("invoice", outlet), "outlet_invoice");
  assert.equal(await rangeOf("invoice", null), "document_invoice");
  assert.equal(await rangeOf("storno", outlet), "document_storno");
  assert.equal(await rangeOf("letter", outlet), null);
  const { rows } = await shop.owner.query("select id from erp.sales_channel where id <> $1", [outlet]);
  assert.equal(await rangeOf("invoice", rows[0].id), "document_invoice");
});

test("what has no range, or a pattern that can't count, is refused", async () => {
  const refused = (sql: string, match: object) => assert.rejects(shop.owner.query(sql), match);
  await refused("select erp.next_number('letters')", { code: "P0002", message: /no number range letters/ });
  const byYear = { constraint: "number_range_by_year_has_no_sequence" };
  const set = (range: string, change: string) =>
    `update erp.number_range set ${change} where technical_name = '${range}'`;
  await refused(set("fulfillment", "pattern = 'F-{year}-{n}'"), byYear);
  await refused(set("customer", "pattern = 'C-{year}-{n}'"), {
    constraint: "number_range_of_customers_has_no_year",
  });
  await refused(set("document_invoice", "sequence = 'erp.fulfillment_number'"), byYear);
  await refused(set("document_invoice", "pattern = 'RE-{year}'"), {
    constraint: "number_range_pattern_has_a_counter",
  });
  for (const pattern of ["{n}-{n}", "{year}-{n}-{year}"])
    await refused(set("document_invoice", `pattern = '${pattern}'`), {
      constraint: "number_range_pattern_has_each_part_once",
    });
  await refused("delete from erp.number_range where technical_name = 'outlet_invoice'", { code: "23001" });
});

test("other ranges count on, with a sequence or without one", async () => {
  await at("2031-12-31T12:00Z", "UTC", async ({ next }) => {
    for (const [range, prefix] of [
      ["fulfillment", "F-"],
      ["goods_receipt", "GR-"],
      ["document_storno", "ST-"],
    ] as const) {
      const [first, second] = [await next(range), await next(range)];
      assert.ok(first.startsWith(prefix), first);
      assert.equal(Number(second.slice(prefix.length)), Number(first.slice(prefix.length)) + 1);
    }
  });
});

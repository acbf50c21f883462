import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import pg from "pg";
import { tasksAtStart, makeTasks } from "../../src/jobs/tasks.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { Queue, startTestJobs } from "./support.ts";

let database: TestDatabase;
let queue: Queue;
let owner: pg.Pool;
before(async () => {
  database = await openTestDatabase("template_schema");
  queue = new Queue(database.ownerUrl);
  owner = queue.owner;
});
afterEach(async () => {
  await queue.clear();
  await owner.query("delete from erp.goods_receipt");
});
after(async () => {
  await owner.end();
  await database.close();
});

const tasks = makeTasks({ exchangeRatesFrom: undefined });
const job = "fill_default_currency_prices";

/** Adds a receipt with so many lines that have no price in the default currency. */
async function addReceipt(factor: number | null, lines: number, price: number | null = 10): Promise<string> {
  const { rows } = await owner.query(
    `with receipt as (insert into erp.goods_receipt (number, currency_factor) values (gen_random_uuid()::text, $1) returning id),
       line as (insert into erp.goods_receipt_line_item (goods_receipt_id, quantity, unit_price)
         select id, 3, $3::numeric from receipt, generate_series(1, $2::integer))
     select id from receipt`,
    [factor, lines, price],
  );
  // New lines get theirs at once; these count as older
  await owner.query(
    "update erp.goods_receipt_line_item set unit_price_in_default_currency = null where goods_receipt_id = $1",
    [rows[0].id],
  );
  return rows[0].id;
}

async function pricesOf(receipt: string): Promise<(string | null)[]> {
  const { rows } = await owner.query(
    "select distinct unit_price_in_default_currency as price from erp.goods_receipt_line_item where goods_receipt_id = $1",
    [receipt],
  );
  return rows.map(({ price }) => price);
}

async function countEmpty(): Promise<number> {
  const { rows } = await owner.query(
    "select count(*)::integer as count from erp.goods_receipt_line_item where unit_price is not null and unit_price_in_default_currency is null",
  );
  return rows[0].count;
}

/** One call of the function. */
async function fill(client: Pick<pg.ClientBase, "query">, after: string | null, batch: number): Promise<any> {
  const { rows } = await client.query("select * from erp.fill_default_currency_prices($1, $2)", [
    after,
    batch,
  ]);
  return rows[0];
}

test("2,500 old lines are filled in batches, from the start of the worker on", async () => {
  const receipt = await addReceipt(1.0842, 2_500);
  const worker = startTestJobs(database.loginUrl, tasks, {
    atStart: tasksAtStart.filter((name) => name in tasks),
  });
  await until(async () => (await countEmpty()) === 0 && (await queue.jobs()).length === 0);
  await worker.stop();
  assert.deepEqual(await pricesOf(receipt), ["9.223391"]);
  const done = worker.log.filter((line) => line.msg === "a job is done" && line.job.task === job);
  assert.equal(done.length, 3);
  const { rows } = await owner.query(
    "select bool_and(updated_at is not null and total_price_in_default_currency = 27.67) as follow from erp.goods_receipt_line_item",
  );
  assert.equal(rows[0].follow, true, "the time of change and the total follow");
});

test("lines without a price, or of receipts without a factor, stay as they are and hold nothing up", async () => {
  const unknown = await addReceipt(null, 30);
  const free = await addReceipt(2, 1, null);
  const known = await addReceipt(2, 5);
  assert.equal((await fill(owner, null, 10)).filled, 5);
  assert.deepEqual(await Promise.all([unknown, free, known].map(pricesOf)), [[null], [null], ["5.000000"]]);
  assert.deepEqual(await fill(owner, null, 10), { filled: 0, last: null });
});

test("a price that is there already is kept", async () => {
  const receipt = await addReceipt(2, 1);
  await owner.query("update erp.goods_receipt_line_item set unit_price_in_default_currency = 4.9");
  assert.equal((await fill(owner, null, 10)).filled, 0);
  assert.deepEqual(await pricesOf(receipt), ["4.9"]);
});

test("each batch continues after the previous one", async () => {
  await addReceipt(2, 5);
  const { rows } = await owner.query("select id from erp.goods_receipt_line_item order by id");
  const first = await fill(owner, null, 2);
  assert.deepEqual(first, { filled: 2, last: rows[1].id });
  assert.deepEqual(await fill(owner, rows[3].id, 2), { filled: 1, last: rows[4].id });
  assert.deepEqual(await fill(owner, first.last, 2), { filled: 2, last: rows[3].id });
});

test("lines that someone changes, and lines whose rate someone changes, are left to another run", async () => {
  const [changed, revalued, idle] = [await addReceipt(2, 2), await addReceipt(2, 2), await addReceipt(2, 2)];
  const client = await owner.connect();
  await client.query("begin");
  await client.query("update erp.goods_receipt_line_item set quantity = 4 where goods_receipt_id = $1", [
    changed,
  ]);
  await client.query("update erp.goods_receipt set currency_factor = 4 where id = $1", [revalued]);
  assert.equal((await fill(owner, null, 10)).filled, 2);
  await client.query("commit");
  client.release();
  // The change of a rate has converted the lines itself
  assert.equal((await fill(owner, null, 10)).filled, 2);
  assert.deepEqual(await Promise.all([changed, revalued, idle].map(pricesOf)), [
    ["5.000000"],
    ["2.500000"],
    ["5.000000"],
  ]);
});

test("two that fill at the same time share the lines", async () => {
  await addReceipt(2, 300);
  const filled = await Promise.all([fill(owner, null, 200), fill(owner, null, 200)]);
  assert.equal(filled[0].filled + filled[1].filled, 300 - (await countEmpty()));
  while ((await fill(owner, null, 200)).filled > 0);
  assert.equal(await countEmpty(), 0);
});

test("a batch is found by the index made for it, not by reading all lines", async () => {
  await addReceipt(2, 20_000);
  await owner.query("update erp.goods_receipt_line_item set unit_price_in_default_currency = 5");
  await addReceipt(2, 10);
  await owner.query("vacuum analyze erp.goods_receipt_line_item");
  const client = await owner.connect();
  const scans = async () => {
    await client.query("select pg_stat_force_next_flush()");
    const { rows } = await client.query(
      `select t.seq_scan::integer as whole, i.idx_scan::integer as by_index from pg_stat_user_tables t
       join pg_stat_user_indexes i using (relid) where i.indexrelname = 'goods_receipt_line_item_id_idx'`,
    );
    return rows[0];
  };
  const before = await scans();
  assert.equal((await fill(client, null, 1_000)).filled, 10);
  const { whole, by_index: byIndex } = await scans();
  client.release();
  assert.deepEqual([whole, byIndex > before.by_index], [before.whole, true]);
});

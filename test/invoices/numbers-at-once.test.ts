import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createDocument } from "../pdf/document-shop.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openNumberShop } from "./number-shop.ts";
import type { NumberShop } from "./number-shop.ts";

// Many clients number documents at once, and some of them fail
let shop: NumberShop;
let admin: pg.Client;
before(async () => {
  shop = await openNumberShop();
  admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
});
after(async () => {
  await admin.end();
  await shop.close();
});

/** Counters in the numbers of documents in ascending order, by the texts around them. */
async function readCounters(): Promise<Record<string, number[]>> {
  const { rows } = await shop.owner.query("select document_number as number from erp.document");
  const counters: Record<string, number[]> = {};
  for (const { number } of rows) {
    const [, before, counter, after] = /^(DN-|RE-\d{4}-|OUT\/)(\d+)(.*)$/.exec(number)!;
    (counters[`${before}n${after}`] ??= []).push(Number(counter));
  }
  for (const list of Object.values(counters)) list.sort((a, b) => a - b);
  return counters;
}

const sequence = (length: number, first = 1) => Array.from({ length }, (_, i) => first + i);

type Fate = "commit" | "rollback" | "refused" | "killed";

test("clients at once, refusals, roll-backs and killed connections leave neither gaps nor duplicates", async () => {
  // Each client plans its statements anew, which takes a quarter of a second of one core: test:long has 64
  const clientCount = Number(process.env.NUMBER_CLIENTS ?? 16);
  const random = new Random(seed);
  const fates = random.rounds<Fate>(["commit", "commit", "commit", "rollback", "refused", "killed"]);
  const jobs: { order: string; fate: Fate; types: string[] }[] = [];
  for (let i = 0; i < 192; i++) {
    const types = ["invoice", "delivery_note"];
    jobs.push({
      order: await shop.order(),
      fate: fates.next().value,
      types: random.below(2) === 0 ? types : types.reverse(),
    });
  }
  const outlet = await shop.openOutlet();
  const ofOutlet = jobs.filter((_, i) => i % 2 === 0).map(({ order }) => order);
  await shop.owner.query("update erp.sales_order set sales_channel_id = $1 where id = any ($2)", [
    outlet,
    ofOutlet,
  ]);
  const unpriced = jobs.filter(({ fate }) => fate === "refused").map(({ order }) => order);
  await shop.owner.query(
    "update erp.sales_order_line_item set unit_price = null, total_price = null where order_id = any ($1)",
    [unpriced],
  );

  const committed: string[] = [];
  const failures: string[] = [];
  const connect = async () => {
    const client = await shop.connect();
    client.on("error", () => {});
    const { rows } = await client.query("select pg_backend_pid() as id");
    return { client, pid: rows[0].id as number };
  };
  const queue = [...jobs];
  const work = async () => {
    let { client, pid } = await connect();
    for (let job = queue.pop(); job; job = queue.pop()) {
      const { order, fate, types } = job;
      try {
        await client.query("begin");
        await client.query("select erp.lock_number_ranges(array[$1::uuid], $2)", [order, types]);
        const made = [];
        for (const type of types) made.push(await createDocument(client, order, type));
        if (fate === "killed") await admin.query("select pg_terminate_backend($1)", [pid]);
        await client.query(fate === "rollback" ? "rollback" : "commit");
        if (fate === "commit") committed.push(...made);
      } catch (error) {
        const code = (error as { code?: string }).code ?? String((error as Error).message);
        failures.push(code);
        if (code === "UE001") {
          await client.query("rollback").catch(() => {});
          continue;
        }
        await client.end().catch(() => {});
        ({ client, pid } = await connect());
      }
    }
    await client.end();
  };
  const clients = Promise.all(sequence(clientCount).map(work));
  let working = true;
  void clients.finally(() => (working = false)).catch(() => {});
  // Clients that wait for a number die, too
  let killed = 0;
  for (; working && killed < 40; await sleep(50)) {
    const { rowCount } = await admin.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
      order by query_start limit 1`);
    killed += rowCount!;
  }
  await clients;

  const counts = (code: string) => failures.filter((each) => each === code).length;
  // 57P01 is the death of a connection; the client may also only see it closed
  const others = failures.filter(
    (each) => !["UE001", "57P01"].includes(each) && !/terminated|not queryable/.test(each),
  );
  assert.deepEqual(others, [], `seed ${seed}`);
  assert.ok(counts("UE001") > 0 && killed > 10 && counts("57P01") > 20, `${failures}`);
  assert.ok(committed.length > clientCount, `${committed.length}`);

  const year = new Date().getUTCFullYear();
  const found = await readCounters();
  const { [`RE-${year}-n`]: regular, [`OUT/n.${year}`]: outletCounters, "DN-n": notes } = found;
  assert.equal(Object.keys(found).length, 3, Object.keys(found).join(" "));
  const count = (counters: number[] = [], first = 1) => {
    assert.deepEqual(counters, sequence(counters.length, first));
    return counters.length;
  };
  const [regularCount, outletCount, noteCount] = [
    count(regular),
    count(outletCounters),
    count(notes, 10_001),
  ];
  assert.ok(regularCount > 20 && outletCount > 20);
  assert.equal(noteCount, regularCount + outletCount);
  const { rows: kept } = await shop.owner.query("select id from erp.document where id = any ($1)", [
    committed,
  ]);
  assert.equal(kept.length, committed.length);
  const { rows: counters } = await shop.owner.query(
    "select number_range, last_number::int from erp.number_range_year order by 1",
  );
  assert.deepEqual(counters, [
    { number_range: "document_invoice", last_number: regularCount },
    { number_range: "outlet_invoice", last_number: outletCount },
  ]);
  assert.deepEqual((await shop.owner.query("select * from erp.number_proof")).rows, []);
});

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import { processesIn } from "../lib/processes.ts";
import { startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// A separate Postgres with a safe disk, because the test is about what survives
const directory = `.data/crash-${randomUUID()}`;
let cluster: Cluster;
let adminUrl: string;
let service: TestProcess;
let token: string;
let line: { productId: string; place: { binLocationId: string }; delta: number };

const rows = `
  with warehouse as (
    insert into erp.warehouse (code, name, is_default, is_default_receiving) values ('hall', 'Hall', true, true) returning id
  ), bin as (
    insert into erp.bin_location (warehouse_id, code) select id, 'A-1' from warehouse returning id
  ), product as (insert into erp.product (product_number) values ('nail') returning id)
  select product.id as product, bin.id as bin from product, bin`;

async function sql(text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

before(async () => {
  let loginUrl: string;
  ({ cluster, adminUrl, loginUrl } = await startOwnPostgres({ directory }));
  service = await startProcess({ loginUrl, poolSize: 10 });
  const [ids] = await sql(rows);
  line = {
    productId: `gid://service/Product/${ids.product}`,
    place: { binLocationId: `gid://service/BinLocation/${ids.bin}` },
    delta: 1,
  };
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  token = await service.tokenFor(await createCredential(client, { name: "test", write: ["stocks"] }));
  await client.end();
});
after(async () => {
  await service?.close();
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

const query = `mutation ($input: StockAdjustInput!) {
  stockAdjust(input: $input) { stockMovements { id } userErrors { code } } }`;

/** Answers of the clients: calls with a key are repeated until the answer is certain. */
interface Answers {
  booked: Set<string>;
  failed: Set<string>;
  uncertain: Set<string>;
  codes: Set<string>;
  /** When calls were confirmed, on the clock of `performance`. */
  times: number[];
}

async function beClient(
  name: string,
  hasKeys: boolean,
  answers: Answers,
  isOver: () => boolean,
): Promise<void> {
  for (let n = 1; !isOver(); n++) {
    const comment = `${name}, call ${n}`;
    const input = { lines: [line], comment, ...(hasKeys ? { idempotencyKey: comment } : {}) };
    for (;;) {
      const { body, codes } = await service.ask(token, { query, variables: { input } });
      codes.forEach((code: string) => answers.codes.add(code));
      if (!body.errors) {
        assert.deepEqual(body.data.stockAdjust.userErrors, []);
        answers.booked.add(comment);
        answers.times.push(performance.now());
        break;
      }
      const { path, extensions } = body.errors[0];
      const wasDone = path?.length > 1;
      if (hasKeys) assert.ok(wasDone || extensions.retryable, JSON.stringify(body));
      else {
        answers[wasDone ? "booked" : extensions.retryable ? "failed" : "uncertain"].add(comment);
        break;
      }
      await sleep(50); // As clients do before they send again
    }
    // Calls without a key fail at once, and would otherwise be repeated without a pause
    if (!hasKeys) await sleep(20);
  }
}

/** Movements in the ledger, counted by comment. */
async function ledger(): Promise<Map<string, number>> {
  const found = await sql(
    "select comment, count(*)::int as count from ledger.stock_movement group by comment",
  );
  return new Map(found.map(({ comment, count }) => [comment, count]));
}

for (const [kind, signal] of [
  ["killed", "SIGKILL"],
  ["shut down at once", "SIGQUIT"],
] as const) {
  test(`Postgres ${kind} under load: what was answered as booked is there, once, the rest isn't, and it continues`, async (context) => {
    const answers: Answers = {
      booked: new Set(),
      failed: new Set(),
      uncertain: new Set(),
      codes: new Set(),
      times: [],
    };
    let isOver = false;
    const clients = Array.from({ length: 20 }, (_, n) => {
      return beClient(`${kind}, client ${n}`, n % 4 > 0, answers, () => isOver);
    });
    await until(() => answers.booked.size > 100);
    const [{ pid }] = await sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid");
    process.kill(pid, signal);
    const data = join(directory, "postgres");
    await until(async () => (await processesIn(data)).length === 0);
    cluster = await startCluster({ directory });
    const back = performance.now();
    const goesOn = () => answers.times.filter((time) => time > back).length > 100;
    await until(goesOn).finally(() => void (isOver = true));
    await Promise.all(clients);

    const found = await ledger();
    for (const comment of answers.booked) assert.equal(found.get(comment), 1, comment);
    for (const comment of answers.failed) assert.equal(found.get(comment), undefined, comment);
    for (const [comment, count] of found) {
      if (!comment.startsWith(kind)) continue;
      assert.equal(count, 1, comment);
      assert.ok(answers.booked.has(comment) || answers.uncertain.has(comment), comment);
    }
    // The second when it was lost between the booking and the reading of its payload
    answers.codes.delete("PAYLOAD_UNAVAILABLE");
    assert.deepEqual([...answers.codes], ["SERVICE_UNAVAILABLE"]);
    assert.deepEqual(await sql("select * from ledger.proof"), []);
    const { booked, failed, uncertain } = answers;
    context.diagnostic(`${booked.size} booked, ${failed.size} failed, ${uncertain.size} uncertain`);
  });
}

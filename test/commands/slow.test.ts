import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { runAllOn, runOn } from "./process.ts";

let service: TestService;
let admin: pg.Client;
before(async () => {
  service = await startService({ template: "template_demo" });
  admin = new pg.Client({ connectionString: service.adminUrl });
  await admin.connect();
});
after(async () => {
  await admin.end();
  await service.close();
});

/** Runs the command with several lists of arguments. */
const runAll = (...lines: string[][]) =>
  runAllOn(
    service.adminUrl,
    "db",
    lines.map((args) => ({ args: ["slow", ...args] })),
  );

/** Its outputs, when it succeeds. */
const outputs = async (...lines: string[][]): Promise<string[]> =>
  (await runAll(...lines)).map(({ exitCode, stdout, stderr }) => {
    assert.deepEqual([exitCode, stderr], [0, ""]);
    return stdout;
  });

/** Sends queries by a process of their own, which has written down what was sent when it ends. */
async function send(name: string, queries: readonly string[]): Promise<void> {
  const process = await service.another();
  const token = await process.tokenFor(await service.credential({ name }));
  for (const query of queries) assert.deepEqual((await process.ask(token, { query })).codes, []);
  await process.close();
}

test("operations are listed by the time that they take, and one is shown with what it needs", async () => {
  const [none = ""] = await outputs([]);
  assert.match(none, /^No credential has sent/);
  await admin.query("set session_replication_role = replica");
  await admin.query(
    `insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id)
     select 'C' || n, n || '@example.com', 'First ' || n, 'Last', (select id from erp.customer_group limit 1), (select id from erp.sales_channel limit 1)
     from generate_series(1, 20000) n`,
  );
  await admin.query("analyze erp.customer");
  const byName =
    'query Find { customers(filter: { firstName: { equals: "First 17" } }) { edges { node { id } } } }';
  const byAmount = "query Large { orders(filter: { amountTotal: { gt: 9000 } }) { edges { node { id } } } }";
  const byKey =
    'query Known { customers(filter: { customerNumber: { equals: "C17" } }) { edges { node { id } } } }';
  await send("The shop", [byName, byName, byAmount, byKey]);
  await send("The warehouse", [byName]);

  const [list = "", worst = ""] = await outputs([], ["--by", "worst"]);
  const line = (name: string) => list.split("\n").find((text) => text.endsWith(` ${name}`))!;
  assert.match(line("Find"), /^[0-9a-f]{16} +3 .* ms +2  unstable Find$/);
  assert.deepEqual(worst.split("\n").toSorted(), list.split("\n").toSorted());

  const idOf = (name: string) => line(name).slice(0, 16);
  const [findId, largeId, knownId] = [idOf("Find"), idOf("Large"), idOf("Known")];
  const [shown = "", tried = "", large = "", known = ""] = await outputs(
    ...[[findId], [findId, "--try"], [largeId], [knownId]],
  );
  assert.match(shown, /customers\(filter: {\s*firstName: {\s*equals: \$equals\s*}\s*}\) {\n/);
  assert.match(shown, /The shop +2 .* last on \d{4}-/);
  assert.match(shown, /The warehouse +1 /);
  assert.match(shown, /pg_stat_statements\)\n\ncalls .*\n *3 /);
  assert.match(shown, new RegExp(`where \\("t1"."first_name" = .*operation='${idOf("Find")}'`));
  assert.match(shown, /Seq Scan on customer/);
  assert.match(
    shown,
    /create index concurrently on "erp"."customer" \("first_name", "id"\); -- 20\d\d\d rows$/m,
  );
  assert.ok(!shown.includes("First 17"));

  const [, cost, less] = /the cost falls from ([\d.]+) to ([\d.]+)/.exec(tried)!;
  assert.ok(Number(less) < Number(cost) / 2, tried);
  const { rowCount } = await admin.query("select from pg_indexes where indexdef like '%(first_name%'");
  assert.equal(rowCount, 0, "it is undone");

  // Postgres hides rows before it compares them by what isn't leakproof
  assert.match(large, /No index on sales_order \(amount_total\) would help/);
  assert.match(known, /None is missing/);

  // The journal is no way to run statements as the owner
  await admin.query(
    "update auth.operation set statement = 'select 1; drop table erp.customer' where id = $1",
    [idOf("Known")],
  );
  const { exitCode, stderr: refusal } = await runOn(service.adminUrl, ["db", "slow", idOf("Known")]);
  assert.equal(exitCode, 1);
  assert.match(refusal, /Only one query is explained/);
});

test("a role that may not see statements of others is told what it lacks", async () => {
  await admin.query("create role slow_reader login password 'hunter2' in role service_owner");
  try {
    const url = Object.assign(new URL(service.adminUrl), { username: "slow_reader", password: "hunter2" });
    const { exitCode, stdout, stderr } = await runOn(url.href, ["db", "slow"]);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^operation /);
    assert.match(stderr, /create extension pg_stat_statements/);
  } finally {
    await admin.query("drop role slow_reader");
  }
});

test("an id that nobody has sent, and wrong arguments, are told", async () => {
  const results = await runAll(["0123456789abcdef"], ["--by", "name"], ["--try"]);
  assert.deepEqual(
    results.map(({ exitCode }) => exitCode),
    [1, 2, 2],
  );
  assert.match(results[0]!.stderr, /No credential has sent an operation 0123456789abcdef/);
});

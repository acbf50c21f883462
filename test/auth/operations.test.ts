import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { Usage } from "../../src/auth/usage.ts";
import { uuidOf } from "../lib/ids.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

let service: Shop;
before(async () => void (service = await openShop()));
after(() => service.close());

/** What the journal has of a credential. */
const journalOf = async (id: string) =>
  (
    await service.owner.query(
      `select o.*, u.requests::int, u.ms, u.slowest_ms as slowest, u.day = (now() at time zone 'UTC')::date as today
       from auth.operation_use u join auth.operation o on o.id = u.operation_id
       where u.credential_id = $1 order by o.document`,
      [id],
    )
  ).rows;

/** Sends documents to a process of its own, which has written its journal at the end. */
async function send(documents: readonly object[], request = {}) {
  const credentials = await service.credential(request);
  const process = await service.another({ poolSize: 1 });
  const token = await process.tokenFor(credentials);
  const answers = [];
  for (const document of documents) answers.push(await process.ask(token, document));
  const client = await process.apiPool.connect();
  const { rows: prepared } = await client.query("select statement from pg_prepared_statements");
  client.release();
  await process.close();
  return {
    ...{ id: credentials.id, answers, log: process.log },
    prepared: prepared.map(({ statement }) => statement as string),
    journal: await journalOf(credentials.id),
  };
}

test("operations are the same that differ in names, aliases and values only, and nothing of these is kept", async () => {
  const secret = "hunter2_of_a_client";
  const { answers, journal, prepared } = await send([
    {
      query: `query First { a: products(first: 3, filter: { productNumber: { equals: "${secret}" } }) { edges { node { id } } } }`,
    },
    {
      query: `query ${"Very".repeat(500)} ($${secret}: String) { products(filter: { productNumber: { equals: $${secret} } }, first: 3) { edges { node { id } } } }`,
      variables: { [secret]: secret },
    },
    {
      query: `query ($f: Boolean!) { products { ...${secret} @include(if: $f) } } fragment ${secret} on ProductConnection { pageInfo { hasNextPage } }`,
      variables: { f: true },
    },
  ]);
  assert.deepEqual(
    answers.map(({ body }) => body.errors ?? body.data),
    [{ a: { edges: [] } }, { products: { edges: [] } }, { products: { pageInfo: { hasNextPage: false } } }],
  );
  assert.deepEqual(
    journal.map(({ version, name, document, requests, today }) => ({
      version,
      name,
      document,
      requests,
      today,
    })),
    [
      {
        version: "unstable",
        // That of the slower one
        name: journal[0].name === "First" ? "First" : "Very".repeat(16),
        document: "query{products(filter:{productNumber:{equals:$equals}} first:$first){edges{node{id}}}}",
        ...{ requests: 2, today: true },
      },
      {
        version: "unstable",
        name: null,
        document:
          "query{products{...f1@include(if:$if)}} fragment f1 on ProductConnection{pageInfo{hasNextPage}}",
        ...{ requests: 1, today: true },
      },
    ],
  );
  for (const { id, statement, ms, slowest } of journal) {
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.ok(statement.endsWith(`/*operation='${id}',version='unstable'*/`), statement);
    assert.ok(ms >= slowest && slowest > 0);
    assert.ok(prepared.includes(statement));
  }
  assert.ok(!JSON.stringify([journal, prepared]).includes(secret));
});

test("what clients call things makes no further prepared statements", async () => {
  const { answers, prepared, journal } = await send([
    ...["A", "B"].map((name) => ({ query: `query ${name} { warehouses { edges { node { id } } } }` })),
    { query: "{ warehouses { edges { ...x } } } fragment x on WarehouseEdge { node { id } }" },
    {
      query: "query ($y: Int = 10) { warehouses(first: $y) { edges { node { ... on Warehouse { id } } } } }",
    },
  ]);
  assert.deepEqual([...new Set(answers.map(({ text }) => text))].length, 1);
  assert.equal(prepared.filter((text) => text.includes('"warehouses"')).length, 1);
  assert.equal(journal.length, 3);
});

/** The transactions of a service that wait for a lock. */
const waiting = async (admin: pg.Client) =>
  (
    await admin.query(
      "select application_name, query from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query_start < clock_timestamp() - interval '1.1 s'",
    )
  ).rows;

test("Postgres shows whose operation a statement is for, also of those that aren't one statement; the log tells slow ones", async () => {
  const { id, ...credentials } = await service.credential({ write: ["stocks"] });
  const token = await service.tokenFor({ id, ...credentials });
  const input = { lines: [service.line("hammer", "A-1", { delta: 1 })] };
  const adjust = "stockAdjust(input: $input) { stocks { quantity } userErrors { code } }";
  const count = (name: string, fields: string) => ({
    query: `mutation ${name}($input: StockAdjustInput!) { ${fields} }`,
    variables: { input },
  });
  const asked: [object, string][] = [
    [{ query: "query Names { products { edges { node { name } } } }" }, "erp.product"],
    [count("Count", adjust), "ledger.stock"],
    // PostGraphile's own plans
    [count("Twice", `${adjust} again: ${adjust}`), "ledger.stock"],
  ];
  const locker = new pg.Client({ connectionString: service.adminUrl });
  await locker.connect();
  for (const [body, table] of asked) {
    await locker.query(`begin; lock table ${table}`);
    const answer = service.ask(token, body);
    let seen: any[] = [];
    await until(async () => {
      await locker.query("select pg_stat_clear_snapshot()");
      return (seen = await waiting(locker)).length > 0;
    });
    await locker.query("rollback");
    assert.deepEqual((await answer).codes, []);
    const [, name] = /\w+ (\w+)/.exec((body as { query: string }).query)!;
    const find = (): any =>
      service.log.find((line: any) => line.msg === "a request was slow" && line.operation.name === name);
    await until(() => find() !== undefined);
    const line = find();
    assert.equal(line.credentialId, id);
    assert.ok(line.statements.count > 0 && line.slowest.milliseconds > 1_000, JSON.stringify(line));
    assert.match(line.slowest.sql, /^select /);
    assert.ok(!JSON.stringify(line).includes(uuidOf(service.id.hammer!)));
    assert.equal(seen[0].application_name, `service ${line.operation.id} ${id}`);
  }
  await locker.end();
});

test("a credential fills the journal for itself only", async () => {
  const usage = new Usage(service.pool, pino({ level: "silent" }), { intervalMs: 60_000 });
  const [loud, quiet] = [await service.credential(), await service.credential()];
  const made = (number: number) => ({
    id: String(number).padStart(16, "0"),
    version: "unstable",
    name: null,
    signature: "query{a}",
  });
  for (let number = 0; number < 1_000; number++) usage.operations.begin(made(number), loud.id);
  usage.operations.begin(made(1_001), quiet.id).note({ text: "select", ms: 5, rows: 1 });
  await usage.flush();
  for (let number = 500; number < 1_000; number++) usage.operations.begin(made(number), loud.id);
  usage.operations.begin(made(0), loud.id);
  await usage.close();
  const journal = await journalOf(loud.id);
  assert.equal(journal.length, 300);
  assert.equal(journal.find(({ id }) => id === made(0).id).requests, 2);
  assert.equal((await journalOf(quiet.id)).length, 1);
});

test("what is two weeks old is forgotten", async () => {
  const { id, journal } = await send([{ query: "{ __typename tags { edges { node { id } } } }" }]);
  const isKept = async () => (await journalOf(id)).length === 1;
  const age = (days: number) =>
    service.owner.query("update auth.operation_use set day = day - $2::integer where credential_id = $1", [
      id,
      days,
    ]);
  const prune = () => service.owner.query("select auth.prune_operations()");
  await age(14);
  await prune();
  assert.ok(await isKept());
  await age(1);
  await prune();
  const { rowCount } = await service.owner.query("select from auth.operation where id = $1", [journal[0].id]);
  assert.deepEqual([await isKept(), rowCount], [false, 0]);
});

import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { openDatabaseAccess } from "../../src/postgres/pg-service.ts";
import { SharedPool } from "../../src/postgres/shared-pool.ts";
import { pipeliningAdaptor } from "../../src/postgres/pipeline/adaptor.ts";
import { createTransactionSender } from "../../src/postgres/pipeline/send-together.ts";
import type { PgSettings } from "../../src/postgres/pipeline/transaction-settings.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
let pool: pg.Pool;
let owner: pg.Pool;
let admin: pg.Client;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 3 });
  // Thousands wait for three connections, for as long as that takes
  pool.options.connectionTimeoutMillis = 0;
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  owner.on("error", () => {});
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await owner.query(`
    create table public.parent (id integer primary key);
    create table public.child (parent_id integer references public.parent deferrable initially deferred);
    grant select, insert on public.parent, public.child to service_api;
  `);
});
after(async () => {
  await pool.end();
  await owner.end();
  await admin.end();
  await database.close();
});

interface Query {
  text: string;
  values?: unknown[];
  name?: string;
}

const withPgClient = () => pipeliningAdaptor(new SharedPool(pool)).createWithPgClient({ pool }) as any;
const run = (settings: PgSettings, query: Query): Promise<{ rows: any[]; rowCount: number | null }> =>
  withPgClient()(settings, (client: any) => client.query(query));

const api = (scopes: string, more: Record<string, string> = {}) => ({
  role: "service_api",
  "service.scopes": scopes,
  ...more,
});
const facts = {
  text: `select current_user::text as role, current_setting('service.scopes', true) as scopes,
    current_setting('service.locale', true) as locale, $1::int as number`,
  name: "facts",
};

async function assertNothingLeft(): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
  for (const client of clients) {
    const { rows } = await client.query(
      `select current_user = session_user as same, coalesce(current_setting('service.scopes', true), '')
         || coalesce(current_setting('service.locale', true), '') as rest, current_setting('statement_timeout') as timeout`,
    );
    assert.deepEqual(rows, [{ same: true, rest: "", timeout: "5s" }]);
    client.release();
  }
}

test("without fast reads, the library's way is taken", async () => {
  const options = { catalogOf: pool, fastReads: false };
  const { pgService, readText, close } = openDatabaseAccess(pool, options);
  assert.equal(readText, null);
  const usual = pgService.adaptor.createWithPgClient({ pool }) as any;
  const { rows } = await usual(api("a:read"), (client: any) => client.query({ ...facts, values: [1] }));
  assert.deepEqual(rows, [{ role: "service_api", scopes: "a:read", locale: null, number: 1 }]);
  await close();
});

test("when Postgres doesn't answer in time, what was sent together fails once, and the connection is given back once", async () => {
  const impatient = createPool(database.loginUrl, { max: 1 });
  Object.assign(impatient.options, { query_timeout: 200 });
  const shared = new SharedPool(impatient);
  const send = createTransactionSender(shared);
  const sleep = { settings: null, statement: { text: "select pg_sleep(3)" } };
  const outcomes = await send("client", [sleep, sleep], () => {});
  assert.equal(
    outcomes.map((outcome) => "error" in outcome && outcome.error.message).join(),
    `${late},${late}`,
  );
  // The end of the connection is heard of later
  await until(() => impatient.totalCount === 0);
  const one = { settings: null, statement: { text: "select 1 as one" } };
  const [answer] = await send("client", [one], () => {});
  assert.deepEqual("rows" in answer! && answer.rows, [{ one: 1 }]);
  assert.deepEqual(shared.queue.counts, { running: 0, waiting: 0 });
  await impatient.end();
});
const late = "Query read timeout";

test("rows don't become old garbage", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { type: "minor" }) => void;
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size;
  const one = createPool(database.loginUrl, { max: 1 });
  const send = createTransactionSender(new SharedPool(one));
  const page = { settings: null, statement: { text: "select repeat('x', 50000)", name: "page" } };
  const read = async (pages: number) => {
    for (let sent = 0; sent < pages; sent++) {
      await send("client", [page], () => {});
      if (sent % 50 === 0) collect({ type: "minor" });
    }
    // What is still needed survives twice
    for (let round = 0; round < 2; round++) collect({ type: "minor" });
    return oldBytes();
  };
  const before = await read(100);
  const grown = (await read(400)) - before;
  assert.ok(grown < 5_000_000, `${grown} bytes of 400 pages`);
  await one.end();
});

test("rows come as they do otherwise", async () => {
  const text = `select 1 as int, 2.50::numeric as numeric, true as yes, null as nothing, '{"a": [1]}'::jsonb as json,
    array['x', null] as list, '2026-01-02'::date::text as date, $1::text as text, $2::int[] as ints, $3::jsonb as object`;
  const values = ["ä\"'", [1, 2], { b: 1 }];
  const { rows: expected } = await owner.query(text, values);
  for (const name of [undefined, "types", "types"]) {
    const { rows, rowCount } = await run(api(""), { text, values, ...(name ? { name } : {}) });
    assert.deepEqual(
      rows,
      expected.map((row) => ({ ...row })),
    );
    assert.equal(rowCount, 1);
  }
  const array = await withPgClient()(null, (client: any) =>
    client.query({ text: "select 1, 2", arrayMode: true }),
  );
  assert.deepEqual(array.rows, [[1, 2]]);
});

test("thousands at once, with other scopes and locales and with errors between, see their own settings only", async () => {
  const failures: [Query, string][] = [
    [{ text: "select 1 / $1::int", values: [0], name: "division" }, "22012"],
    [{ text: "select nonsense from nowhere", name: "nonsense" }, "42P01"],
    [{ text: "select $1::int", values: ["x"], name: "no number" }, "22P02"],
    [{ text: "this is not sql" }, "42601"],
  ];
  await Promise.all(
    Array.from({ length: 4000 }, async (_, i) => {
      if (i % 7 === 0) {
        const [query, code] = failures[i % failures.length]!;
        return assert.rejects(run(api(`error:${i}`, { "service.locale": "xx" }), query), { code });
      }
      const settings = i % 3 === 0 ? api(`scope:${i}`, { "service.locale": `l${i}` }) : api(`scope:${i}`);
      const name = i % 11 === 0 ? undefined : "facts";
      const { rows } = await run(settings, { text: facts.text, values: [i], ...(name ? { name } : {}) });
      const [{ role, scopes, locale, number }] = rows;
      const expected = i % 3 === 0 ? `l${i}` : "";
      assert.deepEqual([role, scopes, locale ?? "", number], ["service_api", `scope:${i}`, expected, i]);
    }),
  );
  await assertNothingLeft();
});

test("a role that may not be taken refuses the query", async () => {
  await assert.rejects(run({ role: "service_owner" }, { ...facts, values: [1] }), { code: "42501" });
  await assertNothingLeft();
});

test("a statement that takes too long is stopped, and the next one is not", async () => {
  const slow = { text: "select pg_sleep(10)", name: "slow" };
  await assert.rejects(run(api("", { statement_timeout: "50ms" }), slow), { code: "57014" });
  const { rows } = await run(api("a:read"), { ...facts, values: [1] });
  assert.equal(rows[0].scopes, "a:read");
  await assertNothingLeft();
});

test("each pipelined query is one transaction: what fails at its end has not been done", async () => {
  const insert = { text: "insert into public.child values (1)", name: "insert" };
  await assert.rejects(run(api(""), insert), { code: "23503" });
  assert.equal((await owner.query("select from public.child")).rowCount, 0);
  await owner.query("insert into public.parent values (1)");
  assert.equal((await run(api(""), insert)).rowCount, 1);
});

test("transactions hold their statements together", async () => {
  const insert = (id: number) => ({ text: "insert into public.parent values ($1)", values: [id] });
  const transaction = (work: (client: any) => Promise<unknown>) =>
    withPgClient()(api("t:read"), (client: any) => client.withTransaction(work));
  await transaction(async (client) => {
    await client.query(insert(2));
    const { rows } = await client.query({ ...facts, values: [2] });
    assert.deepEqual([rows[0].role, rows[0].scopes], ["service_api", "t:read"]);
  });
  await assert.rejects(
    transaction(async (client) => {
      await client.query(insert(3));
      await client.query(insert(2));
    }),
    { code: "23505" },
  );
  const { rows } = await owner.query("select id from public.parent order by id");
  assert.deepEqual(rows, [{ id: 1 }, { id: 2 }]);
  await assertNothingLeft();
});

test("backends that are killed fail their queries, and the pool continues", async () => {
  const queries = Array.from({ length: 3 }, (_, i) =>
    run(api(""), { text: `select pg_sleep(4), ${i}`, name: `sleep ${i}` }).then(
      () => null,
      (error: Error) => error,
    ),
  );
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'select pg_sleep(4)%' and state = 'active'`;
  let killed = 0;
  await until(async () => (killed += (await admin.query(kill)).rowCount!) >= 3);
  for (const error of await Promise.all(queries)) assert.match(String(error), /terminat/);
  for (let i = 0; i < 10; i++)
    assert.equal((await run(api(""), { ...facts, values: [i] })).rows[0].number, i);
  await assertNothingLeft();
});

test("connections that break while idle are not used again", async () => {
  await Promise.all(Array.from({ length: 3 }, () => run(api(""), { ...facts, values: [1] })));
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'service_login' and datname = current_database()",
  );
  await until(() => pool.idleCount === 0);
  assert.equal((await run(api(""), { ...facts, values: [5] })).rows[0].number, 5);
});

test("an exhausted pool refuses, and is good again", async () => {
  const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
  pool.options.connectionTimeoutMillis = 100;
  await assert.rejects(run(api(""), { ...facts, values: [1] }), /timeout exceeded/);
  for (const client of clients) client.release();
  // Thousands wait for three connections, for as long as that takes
  pool.options.connectionTimeoutMillis = 0;
  assert.equal((await run(api(""), { ...facts, values: [6] })).rows[0].number, 6);
});

test("a bounded number of statements stays prepared, and those that made room can come again", async () => {
  const single = createPool(database.loginUrl, { max: 1 });
  const adaptor = pipeliningAdaptor(new SharedPool(single)).createWithPgClient({ pool: single }) as any;
  const query = (i: number) =>
    adaptor(api(""), (client: any) => client.query({ text: `select ${i}`, name: `n${i}` }));
  for (const round of [1, 2]) {
    for (let i = 0; i < 260; i++) {
      const { rows } = await query(i);
      assert.deepEqual(Object.values(rows[0]), [i], `round ${round}`);
    }
  }
  const { rows } = await single.query("select count(*)::int as count from pg_prepared_statements");
  assert.ok(rows[0].count <= 202, `${rows[0].count}`);
  await single.end();
});

test("statements stay prepared up to a number of characters, and very long ones don't", async () => {
  const single = createPool(database.loginUrl, { max: 1 });
  const adaptor = pipeliningAdaptor(new SharedPool(single)).createWithPgClient({ pool: single }) as any;
  const query = async (i: number, characters: number) => {
    const text = `select ${i} /*${"x".repeat(characters)}*/`;
    const { rows } = await adaptor(api(""), (client: any) => client.query({ text, name: `c${i}` }));
    assert.deepEqual(Object.values(rows[0]), [i]);
  };
  for (let i = 0; i < 60; i++) await query(i, 40_000);
  for (let i = 60; i < 63; i++) await query(i, 60_000);
  await query(60, 60_000);
  const { rows } = await single.query(
    "select sum(length(statement))::int as characters, max(length(statement)) as longest from pg_prepared_statements",
  );
  const [{ characters, longest }] = rows;
  // Two that have made room are dropped with the next statement
  assert.ok(characters > 900_000 && characters < 1_100_000, `${characters}`);
  assert.ok(longest < 50_000, `${longest}`);
  await single.end();
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { createRowReader, textReader } from "../../src/postgres/pipeline/read-text.ts";
import type { ReadText, WaitingRead } from "../../src/postgres/pipeline/read-text.ts";
import { settingsStatement } from "../../src/postgres/pipeline/transaction-settings.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { SharedPool } from "../../src/postgres/shared-pool.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

// Reads of several clients that are sent together on one connection.
let database: TestDatabase;
let pool: pg.Pool;
let admin: pg.Client;
/** Milliseconds that were charged, by client. */
const used = new Map<string, number>();
let read: ReadText;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 2 });
  read = textReader(
    createRowReader(
      new SharedPool<WaitingRead>(pool, (client, ms) => void used.set(client, (used.get(client) ?? 0) + ms)),
    ),
  );
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  // From then on they are known to be quick, and prepared on both connections
  for (let n = 0; n < 10; n++) await Promise.all([ask("a", n), ask("b", n), divide("a", 1), divide("b", 1)]);
});
after(async () => {
  await pool.end();
  await admin.end();
  await database.close();
});

const settingsOf = (scopes: string, more: Record<string, string> = {}) =>
  settingsStatement({ role: "service_api", "service.scopes": scopes, transaction_read_only: "on", ...more })!;

/** Everything that one read could see of another. */
const facts = {
  text: `select concat_ws('|', current_user, current_setting('service.scopes', true), coalesce(current_setting('service.locale', true), ''),
    current_setting('transaction_read_only'), $1::text, pg_backend_pid()::text || ' ' || txid_current_snapshot()::text is not null)`,
  name: "facts",
};
const ask = (client: string, n: number) => {
  const locale: Record<string, string> = n % 3 === 0 ? { "service.locale": `l${n}` } : {};
  return read(client, settingsOf(`scope:${n}`, locale), { ...facts, values: [String(n)] });
};
const divide = (client: string, by: number) =>
  read(client, settingsOf("division"), {
    text: "select (1 / $1::int)::text",
    name: "division",
    values: [by],
  });

/** The most reads that one connection has had in one write. */
function watchShared(): () => number {
  let most = 0;
  for (const client of (
    pool as unknown as { _clients: { connection: { sync(): void; stream: { cork(): void } } }[] }
  )._clients) {
    const { connection } = client;
    let syncs = 0;
    const { sync } = connection;
    const { cork } = connection.stream;
    connection.sync = () => {
      most = Math.max(most, ++syncs);
      sync.call(connection);
    };
    connection.stream.cork = () => {
      syncs = 0;
      cork.call(connection.stream);
    };
  }
  return () => most;
}

test("many at once share writes, and each sees its own settings, whatever fails between", async () => {
  const most = watchShared();
  const clients = ["a", "b", "c", "d", "e"];
  await Promise.all(
    Array.from({ length: 900 }, async (_, n) => {
      const client = clients[n % clients.length]!;
      if (n % 7 === 0) return assert.rejects(divide(client, 0), { code: "22012" });
      const [role, scopes, locale, isReadOnly, value] = (await ask(client, n))!.split("|");
      assert.deepEqual([role, scopes, isReadOnly, value], ["service_api", `scope:${n}`, "on", String(n)]);
      assert.equal(locale, n % 3 === 0 ? `l${n}` : "", "its own language, or none");
    }),
  );
  assert.equal(most(), 4);
  for (const client of clients) assert.ok(used.get(client)! > 0);
});

test("one that takes too long is stopped alone, and isn't shared afterwards", async () => {
  const nap = (seconds: number, timeout = "5s") =>
    read("a", settingsOf("nap", { statement_timeout: timeout }), {
      text: "select pg_sleep($1)::text",
      name: "nap",
      values: [seconds],
    });
  for (let n = 0; n < 6; n++) await Promise.all([nap(0), nap(0)]);
  const beside = Array.from({ length: 20 }, (_, n) => ask("b", n));
  await assert.rejects(nap(4, "50ms"), { code: "57014" });
  await Promise.all(beside);
  // Known to be slow now: the quick ones have the other connection
  const slow = assert.rejects(nap(60, "60s"), { code: "57014" });
  await Promise.all(Array.from({ length: 100 }, (_, n) => ask("b", n)));
  await until(async () => {
    const { rowCount } = await admin.query(
      "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
    );
    return rowCount! > 0;
  });
  await slow;
});

test("clients take turns in what is sent together", async () => {
  // On one connection: which of two is faster depends on the machine
  const single = createPool(database.loginUrl, { max: 1 });
  const reader = textReader(createRowReader(new SharedPool<WaitingRead>(single)));
  const askAs = (client: string, n: number) =>
    reader(client, settingsOf(`scope:${n}`), { ...facts, values: [String(n)] });
  for (let n = 0; n < 10; n++) await Promise.all([askAs("a", n), askAs("b", n)]);
  const order: string[] = [];
  const many = Array.from({ length: 60 }, (_, n) => askAs("many", n).then(() => void order.push("many")));
  const few = Array.from({ length: 3 }, (_, n) => askAs("few", n).then(() => void order.push("few")));
  await Promise.all([...many, ...few]);
  assert.ok(order.lastIndexOf("few") < 20, order.join());
  await single.end();
});

test("a backend that is killed fails what it worked on, and those behind it are read again", async () => {
  const single = createPool(database.loginUrl, { max: 1 });
  const reader = textReader(createRowReader(new SharedPool<WaitingRead>(single)));
  const doze = (seconds: number) =>
    reader("a", settingsOf("doze"), { text: "select pg_sleep($1)::text", name: "doze", values: [seconds] });
  const askBehind = (n: number) => reader("b", settingsOf(`scope:${n}`), { ...facts, values: [String(n)] });
  for (let n = 0; n < 10; n++) await Promise.all([doze(0), askBehind(n)]);
  const first = doze(0.1);
  const second = assert.rejects(doze(5.5));
  const behind = Array.from({ length: 8 }, (_, n) => askBehind(n));
  await first;
  await until(async () => {
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
         and query_start < clock_timestamp() - interval '150 ms'`,
    );
    return rowCount! > 0;
  });
  await second;
  for (const [n, text] of (await Promise.all(behind)).entries()) assert.ok(text!.includes(`|scope:${n}|`));
  await single.end();
});

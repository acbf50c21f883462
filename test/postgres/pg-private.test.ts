// What src/postgres/pg-private.ts relies on in `pg`. When an upgrade changes it, one of these fails.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { runPipelined } from "../../src/postgres/pipeline/pipelined-query.ts";
import {
  getBackend,
  onMessage,
  queryTimeoutMs,
  getSocket,
  withoutTimers,
} from "../../src/postgres/pg-private.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

let database: TestDatabase;
let client: pg.Client;
before(async () => {
  database = await openTestDatabase("template_schema");
  client = new pg.Client({ connectionString: database.loginUrl, query_timeout: 20_000 });
  await client.connect();
});
after(async () => {
  await client.end();
  await database.close();
});

test("the backend of a connection, its socket and its messages are where they were", async () => {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const { port, processID, secretKey } = getBackend(client);
  assert.equal(processID, rows[0]!.pid);
  assert.equal(typeof secretKey, "number");
  assert.equal(getSocket(client).remotePort, port);
  const seen: string[] = [];
  getSocket(client).once("data", () => seen.push("data"));
  const ends = (["commandComplete", "readyForQuery"] as const).map((message) =>
    onMessage(client, message, () => seen.push(message)),
  );
  await client.query("select 1; select 2");
  for (const end of ends) end();
  await client.query("select 3");
  assert.deepEqual(seen.sort(), ["commandComplete", "commandComplete", "data", "readyForQuery"]);
});

test("queries make no timers while those are off, and time out otherwise", async (t) => {
  assert.equal(queryTimeoutMs(client), 20_000);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const answer = (query: Promise<unknown>) =>
    query.then(
      () => "answered",
      ({ message }: Error) => message,
    );
  let untimed!: Promise<string>;
  withoutTimers(client, () => void (untimed = answer(client.query("select"))));
  t.mock.timers.tick(30_000);
  assert.equal(await untimed, "answered");
  const timed = answer(client.query("select"));
  t.mock.timers.tick(30_000);
  assert.equal(await timed, "Query read timeout");
  t.mock.timers.reset();
  await client.end();
  client = new pg.Client({ connectionString: database.loginUrl });
  await client.connect();
});

test("settings and a statement are one transaction of one message: prepared, failing, and after a failure", async () => {
  const columns = "current_user::text, coalesce(current_setting('service.scopes', true), ''), $1::int";
  const settings = { role: "service_api", "service.scopes": "any" };
  const statement = { text: `select ${columns}`, values: [7], name: "facts", arrayMode: true };
  const same = async () =>
    assert.deepEqual((await runPipelined(client, settings, statement)).rows, [["service_api", "any", 7]]);
  await same();
  await same();
  const failing = runPipelined(client, settings, { text: "select 1 / $1::int", values: [0] });
  await assert.rejects(failing, { code: "22012" });
  await same();
  const text = `select session_user::text, ${columns}`;
  const { rows } = await client.query<unknown[]>({ text, values: [8], rowMode: "array" });
  const [[session, user, scopes, value]] = rows as [unknown[]];
  assert.deepEqual([user, scopes, value], [session, "", 8]);
});

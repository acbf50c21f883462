import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { OperationUses } from "../../src/auth/operation-use.ts";
import { Usage } from "../../src/auth/usage.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { versions } from "../../src/versions/versions.ts";
import { loggedIn, textOf } from "../administration/browser.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
before(async () => void (service = await startService({ versions })));
after(() => service.close());

const logger = pino({ level: "silent" });
const usesOf = async (id: string) =>
  (
    await service.owner.query(
      "select version, deprecated_field as field, requests::int, day = (now() at time zone 'UTC')::date as today from auth.credential_use where credential_id = $1 order by 1, 2",
      [id],
    )
  ).rows;
const today = true;

test("work in the background knows whether others than its credential send requests", async () => {
  const [own, other] = [await service.credential(), await service.credential()];
  const [ownToken, otherToken] = [await service.tokenFor(own), await service.tokenFor(other)];
  const { usedByOthers } = service.app.usage;
  // After the requests of the tests before
  await until(async () => {
    await service.ask(ownToken, { query });
    return !usedByOthers(own.id);
  });
  await until(async () => {
    await service.ask(otherToken, { query });
    return usedByOthers(own.id);
  });
  await until(async () => {
    await service.ask(ownToken, { query });
    return usedByOthers(other.id) && !usedByOthers(own.id);
  });
});

test("requests are counted by version, of both processes, and shown on the page of the token", async () => {
  const credentials = await service.credential({ name: "Counted" });
  const token = await service.tokenFor(credentials);
  const other = await service.another();
  for (let request = 0; request < 3; request++) await service.ask(token, { query });
  await service.ask(token, { query }, { version: "2026-06-unstable" });
  await service.ask(token, { query: "{ nonsense }" });
  await other.ask(token, { query });
  await other.close();
  const second = await service.another();
  await second.ask(token, { query });
  await second.close();
  // The first process writes after some seconds; stopping it would stop the tests' own process
  const counted = async () => (await usesOf(credentials.id)).reduce((sum, { requests }) => sum + requests, 0);
  await until(async () => (await counted()) === 7);
  assert.deepEqual(await usesOf(credentials.id), [
    { version: "2026-06-unstable", field: "", requests: 1, today },
    { version: "unstable", field: "", requests: 6, today },
  ]);
  const visitor = await loggedIn(service);
  const text = textOf(await visitor.get(`/admin/tokens/${credentials.id}`));
  assert.match(text, /Requests in the last 30 days, by UTC Day 2026-06-unstable unstable \d+ \w+ \d{4} 1 6/);
  assert.match(text, /It used no deprecated fields/);
});

test("the last day on which a credential used a field is noted, also while a later one is known", async () => {
  const credentials = await service.credential();
  const token = await service.tokenFor(credentials);
  const process = await service.another();
  await process.ask(token, { query: "{ countrys(first: 1) { edges { node { name } } } __typename }" });
  await process.close();
  const usesOfFields = async () =>
    (
      await service.owner.query(
        "select version, field, last_used_on::text as day from auth.field_use where credential_id = $1 order by field",
        [credentials.id],
      )
    ).rows;
  const day = new Date().toISOString().slice(0, 10);
  assert.deepEqual(
    await usesOfFields(),
    [
      "Country.name",
      "CountryConnection.edges",
      "CountryEdge.node",
      "Query.countrys",
      "Query.countrys(first:)",
    ].map((field) => ({ version: "unstable", field, day })),
  );
  const usage = new Usage(service.pool, logger, { intervalMs: 60_000 });
  usage.fields.note(credentials.id, "unstable", ["Country.name", "Country.id"], Date.UTC(2020, 0, 1));
  await usage.close();
  const uses = await usesOfFields();
  assert.equal(uses.find(({ field }) => field === "Country.name").day, day);
  assert.equal(uses.find(({ field }) => field === "Country.id").day, "2020-01-01");
});

test("requests without a valid token aren't counted", async () => {
  const { rows: before } = await service.owner.query("select sum(requests) from auth.credential_use");
  const process = await service.another();
  await process.ask(null, { query });
  await process.ask("x", { query });
  await process.close();
  assert.deepEqual((await service.owner.query("select sum(requests) from auth.credential_use")).rows, before);
});

test("sums are written in one statement, add up, and move the time of the last use", async () => {
  const credentials = await service.credential();
  const usage = new Usage(service.pool, logger, { intervalMs: 60_000 });
  for (let time = 0; time < 2; time++) {
    for (let request = 0; request < 50; request++) usage.note(credentials.id, "unstable");
    usage.noteDeprecated(credentials.id, "unstable", ["Product.weight", "Order.tax"]);
    await usage.flush();
  }
  await usage.close();
  assert.deepEqual(await usesOf(credentials.id), [
    { version: "unstable", field: "", requests: 100, today },
    { version: "unstable", field: "Order.tax", requests: 2, today },
    { version: "unstable", field: "Product.weight", requests: 2, today },
  ]);
  const { rows } = await service.owner.query(
    "select last_used_at > now() - interval '1 minute' as fresh from auth.credential where id = $1",
    [credentials.id],
  );
  assert.deepEqual(rows, [{ fresh: true }]);
  const visitor = await loggedIn(service);
  assert.match(
    textOf(await visitor.get(`/admin/tokens/${credentials.id}`)),
    /Deprecated fields that it used.*Order\.tax in unstable, last on/,
  );
});

test("what is counted for a credential that was deleted meanwhile is left out, the rest is kept", async () => {
  const [gone, kept] = [await service.credential(), await service.credential()];
  const usage = new Usage(service.pool, logger, { intervalMs: 60_000 });
  for (const { id } of [gone, kept]) usage.note(id, "unstable");
  await service.owner.query("select auth.delete_credential($1)", [gone.id]);
  await usage.close();
  assert.deepEqual(await usesOf(gone.id), []);
  assert.equal((await usesOf(kept.id))[0].requests, 1);
});

test("while the database is away counts are kept, and written when it is back", async () => {
  const credentials = await service.credential();
  const proxy = await openCuttableProxy(service.loginUrl);
  const pool = createPool(proxy.url, { max: 1 });
  const usage = new Usage(pool, logger, { intervalMs: 60_000 });
  proxy.cut();
  usage.note(credentials.id, "unstable");
  await usage.flush();
  usage.note(credentials.id, "unstable");
  proxy.restore();
  await usage.flush();
  assert.equal((await usesOf(credentials.id))[0].requests, 2);
  await usage.close();
  await pool.end();
  await proxy.close();
});

test("counts of deprecated fields that come late are written, and what is counted after them", async (t) => {
  const credentials = await service.credential();
  const usage = new Usage(service.pool, logger, { intervalMs: 20 });
  t.after(() => usage.close());
  usage.noteDeprecated(credentials.id, "unstable", ["Order.tax"]);
  usage.note(credentials.id, "unstable");
  await until(async () => (await usesOf(credentials.id)).length === 2);
});

test("an operation is remembered for as long as it may run, however often counts are written", () => {
  const uses = new OperationUses();
  const operation = { id: "0123456789abcdef", version: "unstable", name: null, signature: "{ long }" };
  const use = uses.begin(operation, "credential");
  assert.equal(uses.take(0).rows.length, 1);
  for (let now = 4_000; now <= 40_000; now += 4_000) assert.equal(uses.take(now).rows.length, 0);
  use.note({ text: "select", ms: 35_000, rows: 1 });
  assert.deepEqual(
    uses.take(44_000).rows.map(({ requests, ms }) => [requests, ms]),
    [[0, 35_000]],
  );
  uses.take(105_000);
  use.note({ text: "select", ms: 1, rows: 1 });
  assert.equal(uses.take(106_000).rows.length, 0);
});

test("while operations can't be written, the requests are, and the operations afterwards", async (t) => {
  const credentials = await service.credential();
  const pool = createPool(service.loginUrl, { max: 1, timeoutsMs: { statement: 5_000, lock: 50 } });
  const usage = new Usage(pool, logger, { intervalMs: 60_000 });
  const client = await service.owner.connect();
  t.after(async () => {
    client.release(true);
    await usage.close();
    await pool.end();
  });
  const operation = { id: "0123456789abcdef", version: "unstable", name: null, signature: "{ late }" };
  usage.operations.begin(operation, credentials.id);
  usage.note(credentials.id, "unstable");
  await client.query("begin; lock auth.operation");
  await usage.flush();
  await usage.flush();
  assert.equal((await usesOf(credentials.id))[0]?.requests, 1);
  await client.query("rollback");
  usage.note(credentials.id, "unstable");
  await usage.flush();
  assert.equal((await usesOf(credentials.id))[0].requests, 2);
  const { rows } = await service.owner.query(
    "select requests::int from auth.operation_use where credential_id = $1",
    [credentials.id],
  );
  assert.deepEqual(rows, [{ requests: 1 }]);
});

test("processes that write at once don't get in each other's way", async () => {
  const credentials = await Promise.all(Array.from({ length: 5 }, () => service.credential()));
  const usages = Array.from({ length: 4 }, () => new Usage(service.pool, logger, { intervalMs: 60_000 }));
  await Promise.all(
    usages.map(async (usage, index) => {
      for (let time = 0; time < 10; time++) {
        const order = index % 2 ? credentials : credentials.toReversed();
        for (const { id } of order) usage.note(id, "unstable");
        await usage.flush();
      }
    }),
  );
  for (const { id } of credentials) assert.equal((await usesOf(id))[0].requests, 40);
  await Promise.all(usages.map((usage) => usage.close()));
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { InvalidatedCache } from "../../src/auth/invalidated-cache.ts";
import { createMarkReader } from "../../src/auth/rights-now.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { ListenerSlots } from "../../src/merchants/listening-places.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
let pool: pg.Pool;
let owner: pg.Client;
let cache: InvalidatedCache;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 2 });
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  cache = new InvalidatedCache(pool, pino({ level: "silent" }), createMarkReader(pool, null));
  await until(() => cache.isListening);
});
after(async () => {
  await cache.close();
  await owner.end();
  await pool.end();
  await database.close();
});

test("what many want to know at the same time is asked once", async () => {
  let asked = 0;
  const answers = cache.remember(async (key: string) => {
    asked++;
    await pool.query("select 1");
    return key;
  }, 10);
  const askAll = () => Promise.all(Array.from({ length: 20 }, (_, n) => answers.of(n % 2 ? "a" : "b")));
  assert.deepEqual(new Set(await askAll()), new Set(["a", "b"]));
  assert.equal(asked, 2);
});

test("an answer from before a change is not given after it", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  let value = "before";
  const answers = cache.remember(async () => {
    const answer = value;
    if (answer === "before") await held;
    return answer;
  }, 10);
  const early = answers.of("key");
  let isChanged = false;
  cache.onOutdated(() => (isChanged = true));
  value = "after";
  await owner.query("select pg_notify('service_credential_change', '')");
  await until(() => isChanged);
  assert.equal(await answers.of("key"), "after");
  letGo();
  assert.equal(await early, "before");
  assert.equal(await answers.of("key"), "after");
});

test("a question that fails is asked again", async () => {
  let asked = 0;
  const answers = cache.remember(async () => {
    if (++asked === 1) await pool.query("select 1 / 0");
    return "known";
  }, 10);
  const both = await Promise.allSettled([answers.of("key"), answers.of("key")]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(await answers.of("key"), "known");
});

test("who can't listen sees by a mark whether anything has changed", async () => {
  const silent = pino({ level: "silent" });
  const deaf = new InvalidatedCache(pool, silent, createMarkReader(pool, null), {
    listen: new ListenerSlots(0).listenWhileUsed,
  });
  let asked = 0;
  const ask = () => Promise.resolve(++asked);
  const plan = deaf.remember(ask, 1, undefined, true);
  const others = deaf.remember(ask, 10);
  // As a request does
  const seen = async () => [await plan.of("current"), await others.of("key")];
  const before = await seen();
  assert.deepEqual(await seen(), before);
  const { clientId } = await createCredential(owner, { name: "test", read: "all", write: [] });
  const changes = [
    "update auth.plan set limits = '{}' where is_current",
    "update auth.credential set scopes = '{products:read}'",
    "update auth.credential set deactivated_at = now()",
    `delete from auth.credential_secret where access_key = '${clientId}'`,
    "insert into auth.signing_key (retires_at) values (now())",
    `insert into auth.stored_operation (version, sha256, name, document)
     values ('unstable', sha256('{}'), 'test', '{}')`,
    "delete from auth.credential",
  ];
  let last = await seen();
  for (const change of changes) {
    await owner.query(change);
    const now = await seen();
    assert.ok(now[0]! > last[1]! && now[1]! > last[1]!, change);
    last = now;
  }
  assert.deepEqual(await seen(), last);
  await deaf.close();
});

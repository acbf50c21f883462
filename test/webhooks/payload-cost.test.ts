import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { defaultWebhookLimits } from "../../src/webhooks/webhook-limits.ts";
import type { Bench } from "../mutations/support.ts";
import { assertRefused, useBench } from "../mutations/support.ts";
import { until } from "../lib/until.ts";
import { fast, openPayloadPool, startReceiver, startTestWebhooks, subscribe } from "./support.ts";
import type { Receiver, TestWebhooks } from "./support.ts";

const limits = { ...defaultLimits, cost: 100_000, bucket: 10_000, refill: 0.01 };
const webhookLimits = { ...defaultWebhookLimits, queryTimeoutMs: 150, maxQueryCost: 5_000 };

describe("payload queries", () => {
  const bench: Bench = useBench({
    settings: { explorer: false, webhookAllow: ["127.0.0.1"], limits, webhookLimits },
  });
  let receiver: Receiver;
  let pool: pg.Pool;
  let admin: pg.Client;
  let webhooks: TestWebhooks | undefined;
  before(async () => {
    receiver = await startReceiver();
    pool = openPayloadPool(bench.service.loginUrl);
    admin = new pg.Client({ connectionString: bench.service.adminUrl });
    admin.on("error", () => {});
    await admin.connect();
    await bench.rows(
      "insert into erp.tag (name) select repeat('some long name ', 12) || n from generate_series(1, 20000) n",
    );
  });
  beforeEach(async () => {
    receiver.received = [];
    await bench.empty("events.webhook_subscription", "events.outbox", "events.event");
  });
  afterEach(async () => {
    await webhooks?.stop();
    webhooks = undefined;
  });
  after(async () => {
    await admin.end();
    await pool.end();
    await receiver.close();
  });

  const start = (options: Parameters<typeof startTestWebhooks>[1] = {}) => {
    const readPayload = bench.service.app.payloadReader(pool);
    webhooks = startTestWebhooks(bench.service.loginUrl, { readPayload, clock: fast(0.001), ...options });
  };
  const comparisons = Array.from({ length: 120 }, (_, n) => `{ name: { contains: "nothing like ${n}" } }`);
  /** Takes Postgres a second. */
  const costly = `query ($id: ID!) { product(id: $id) { name } tags(first: 1, filter: { OR: [${comparisons.join()}] }) { edges { node { id } } } }`;
  const cheap = "query ($id: ID!) { product(id: $id) { productNumber } }";
  const insert = (...numbers: string[]) =>
    bench.rows("insert into erp.product (product_number) select unnest($1::text[])", [numbers]);
  const subscription = async (id: string) =>
    (await bench.rows("select * from events.webhook_subscription where id = $1", [id]))[0] as any;
  const attempts = () =>
    bench.rows(
      `select a.error, d.state from events.delivery_attempt a join events.delivery d on d.id = a.delivery_id order by a.at`,
    );
  const told = (payload_query: string, more: object = {}) =>
    subscribe(bench.service.owner, { topic: "product.created", url: receiver.url, payload_query, ...more });
  const credentialOf = async (name: string) => {
    const { id, ...credentials } = await bench.service.credential({ name, write: ["webhook_subscriptions"] });
    return { id, token: await bench.service.tokenFor({ id, ...credentials }) };
  };
  const ask = (token: string) =>
    bench.service.ask(token, { query: "{ products(first: 5) { edges { node { name } } } }" });

  it("that are costly, forty at a time, keep no other client waiting, nor other subscribers", async () => {
    const { id: credential_id } = await credentialOf("greedy");
    for (let n = 0; n < 40; n++) await told(costly, { credential_id });
    await told(cheap);
    const { token } = await credentialOf("shop");
    const numbers = Array.from({ length: 40 }, (_, n) => `p-${n}`);
    const times: number[] = [];
    const timed = async () => {
      const begun = performance.now();
      const { status, text } = await ask(token);
      times.push(performance.now() - begun);
      assert.equal(status, 200, text);
    };
    for (let n = 0; n < 20; n++) await timed();
    // A busy machine is slower in any case
    const allowed = 1_000 + 20 * Math.max(...times.splice(0).slice(1));
    start({ concurrency: 20 });
    await insert(...numbers);
    await until(async () => {
      await timed();
      const {
        rows: [busy],
      } = await admin.query(
        "select count(*)::int as count from pg_stat_activity where application_name = 'webhook payloads' and state = 'active' and datname = current_database()",
      );
      assert.ok(busy!.count <= 2, `${busy!.count} payload queries at a time`);
      return receiver.received.length >= 40 && (await attempts()).length >= 3;
    });
    const slow = times.sort((a, b) => b - a)[Math.floor(times.length / 100)]!;
    assert.ok(slow < allowed, `one of a hundred requests took ${slow} ms`);
    const got = receiver.received.map(({ body }) => body.data.product.productNumber);
    assert.deepEqual([...new Set(got)].sort(), numbers.sort());
  });

  it("that take too long are run less and less often; the event waits, and the subscription says why", async () => {
    const id = await told(costly);
    await insert("saw", "axe");
    start();
    await until(async () => (await subscription(id)).health === "SUSPENDED");
    const { health_reason, paused_until, payload_failures, consecutive_failures } = await subscription(id);
    assert.match(
      health_reason,
      /^The payload could not be read \d+ times in a row, .*The payloadQuery failed: .*\(QUERY_TIMEOUT\)$/,
    );
    // More, if it was probed meanwhile
    assert.ok(payload_failures >= 5);
    assert.equal(consecutive_failures, 0);
    assert.ok(paused_until instanceof Date);
    assert.deepEqual(new Set((await attempts()).map(({ state }) => state)), new Set(["pending"]));
    const { payload_failures: failures } = await subscription(id);
    assert.ok((await attempts()).length <= failures + 2, "those that waited were not run as well");
    // As soon as it succeeds, all waiting messages are sent
    await bench.rows("update events.webhook_subscription set payload_query = $1", [cheap]);
    await until(() => receiver.received.length === 2);
    await until(async () => (await subscription(id)).backlog_count === 0);
    const after = await subscription(id);
    assert.deepEqual([after.health, after.paused_until, after.payload_failures], ["HEALTHY", null, 0]);
  });

  it("pause their subscription, and no other of the same token", async () => {
    const { id: credential_id } = await credentialOf("two");
    const slow = await told(costly, { credential_id });
    await told(cheap, { credential_id });
    await insert("saw");
    start({ clock: fast(1) });
    await until(async () => (await subscription(slow)).payload_failures === 1);
    await insert("axe", "file", "vice");
    await until(() => receiver.received.length === 4);
    assert.equal((await attempts()).filter(({ state }) => state === "pending").length, 1);
  });

  it("are paid with the points of the token that requests are paid with", async () => {
    const { id: credential_id, token } = await credentialOf("payer");
    const left = async () => {
      const { headers } = await ask(token);
      return Number(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
    };
    const before = await left();
    const id = await told(cheap, { credential_id });
    start();
    await insert("saw");
    await until(() => receiver.received.length === 1);
    const between = await left();
    assert.ok(between <= before - 4, `${before} ${between}: two for the request, two for the payload`);
    // A slow one costs more afterwards
    await bench.rows("update events.webhook_subscription set payload_query = $1 where id = $2", [costly, id]);
    await insert("axe");
    await until(async () => (await attempts()).some(({ error }) => error !== null));
    assert.ok((await left()) < between - 15, "15 points for 150 ms");
  });

  it("wait while the token has no points left, and say so", async () => {
    const { id: credential_id, token } = await credentialOf("poor");
    const id = await told(cheap, { credential_id });
    for (const query of [
      "{ products(first: 250) { edges { node { tags(first: 250) { edges { node { id } } } } } } }",
      "{ products(first: 250) { edges { node { id } } } }",
      "{ products(first: 1) { edges { node { id } } } }",
    ])
      while ((await bench.service.ask(token, { query })).status === 200);
    start();
    await insert("saw");
    await until(async () => (await attempts()).length === 1);
    const [{ error, state }] = (await attempts()) as any;
    assert.match(error, /^The payloadQuery costs \d+ points, and its API credential has too few left\.$/);
    assert.equal(state, "pending");
    assert.ok((await subscription(id)).paused_until > new Date());
    assert.deepEqual(receiver.received, []);
  });

  it("are given back when all is to stop, and don't send anything afterwards", async () => {
    await told(cheap);
    const locked = new pg.Client({ connectionString: bench.service.ownerUrl });
    await locked.connect();
    await insert("saw");
    // Reading waits for the lock
    await locked.query("begin; lock table erp.product in access exclusive mode");
    start({ stopTimeoutMs: 0 });
    await until(
      async () =>
        (await bench.rows("select from events.delivery_queue where claimed_by is not null")).length > 0,
    );
    const stopped = webhooks!.stop();
    webhooks = undefined;
    await locked.query("rollback");
    await stopped;
    await locked.end();
    assert.deepEqual(receiver.received, []);
    assert.deepEqual(
      await bench.rows("select q.claimed_by, d.state from events.delivery_queue q, events.delivery d"),
      [{ claimed_by: null, state: "pending" }],
    );
  });

  it("that cost more than is allowed are refused; those that do by now are not run", async () => {
    const payloadQuery = `query ($id: ID!) { product(id: $id) { name } tags(first: 250) { edges { node { products(first: 250) { edges { node { id } } } } } } }`;
    const input = { topic: "product.created", url: receiver.url, apiVersion: "unstable", payloadQuery };
    const refused = await bench.mutate("webhookSubscriptionCreate", input, "webhookSubscription { id }");
    const details = assertRefused(refused, "INVALID", ["payloadQuery"]);
    assert.equal(details.maximum, 5_000);
    assert.ok(details.cost > 5_000);
    assert.match(refused.userErrors[0]!.message, /costs \d+ points, and 5000 are allowed/);
    const id = await told(payloadQuery);
    await insert("saw");
    start();
    await until(async () => (await subscription(id)).payload_failures > 0);
    assert.match((await attempts())[0]!.error, /^The payloadQuery costs \d+ points; 5000 are allowed\.$/);
  });
});

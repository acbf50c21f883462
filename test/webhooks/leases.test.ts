import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openTestDatabase, queryRows } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { emptyTables } from "../lib/empty-tables.ts";
import { until } from "../lib/until.ts";
import { fast, readPlain, startReceiver, startTestWebhooks, subscribe } from "./support.ts";
import type { Receiver, TestWebhooks } from "./support.ts";

const program = fileURLToPath(new URL("../end-to-end/webhook-sender.ts", import.meta.url));

let database: TestDatabase;
let owner: pg.Pool;
let admin: pg.Client;
let receiver: Receiver;
let webhooks: TestWebhooks | undefined;
const children = new Set<ChildProcess>();
before(async () => {
  database = await openTestDatabase("template_schema");
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 3 });
  owner.on("error", () => {});
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
});
beforeEach(async () => {
  await emptyTables(admin, "events.webhook_subscription", "events.outbox", "events.event", "erp.product");
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await webhooks?.stop();
  webhooks = undefined;
  await receiver.close();
});
after(async () => {
  await Promise.all([owner.end(), admin.end()]);
  await database.close();
});

const rows = queryRows(() => owner);
const start = (options: Parameters<typeof startTestWebhooks>[1] = {}) =>
  (webhooks = startTestWebhooks(database.loginUrl, { clock: fast(1), ...options }));
const insert = (count: number) =>
  rows("insert into erp.product (product_number) select 'p-' || n from generate_series(1, $1) n", [count]);
const subscription = async () => (await rows("select * from events.webhook_subscription"))[0];
const queues = () =>
  rows("select *, claimed_until - clock_timestamp() as left from events.delivery_queue order by due_at");
const hang = () => {};

/** Another sending process. */
async function startChild(leaseMs: number): Promise<ChildProcess> {
  const env = {
    ...{ ...process.env, SENDER_DATABASE: database.loginUrl },
    ...{ SENDER_LEASE: String(leaseMs), SENDER_TIMEOUT: "60000" },
  };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  child.on("exit", () => children.delete(child));
  await once(child.stdout, "data");
  return child;
}

describe("what a process works on", () => {
  it("is its own as long as it lives, and soon another's when it was killed", async () => {
    const leaseMs = 2_000;
    receiver.answer = hang;
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    const child = await startChild(leaseMs);
    await insert(1);
    await until(() => receiver.received.length === 1);
    await admin.query("begin; update events.delivery_queue set claimed_until = now() + interval '1 hour'");
    const { rows: due } = await admin.query(
      "select events.due_at() = claimed_until as is_lease from events.delivery_queue",
    );
    await admin.query("rollback");
    assert.deepEqual(due, [{ is_lease: true }], "others ask again when the lease has ended");
    start({ leaseMs });
    // Renewed repeatedly, beyond the end of the first lease
    const [{ claimed_until: first, claimed_by }] = await queues();
    await until(async () => (await queues())[0].claimed_until.getTime() > first.getTime() + 2 * leaseMs);
    assert.deepEqual([(await queues())[0].claimed_by, receiver.received.length], [claimed_by, 1]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    child.kill("SIGKILL");
    await until(() => receiver.received.length === 2);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    assert.equal(ids[0], ids[1]);
  });

  it("is taken for some seconds only, unless told otherwise", async () => {
    receiver.answer = hang;
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    await insert(1);
    start();
    await until(() => receiver.received.length === 1);
    const [{ left }] = await queues();
    assert.ok(left.seconds <= 8 && !left.minutes && !left.hours, JSON.stringify(left));
  });

  it("isn't sent by a process that stood still until another one had it", async () => {
    const leaseMs = 400;
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    await insert(1);
    const reading = Promise.withResolvers<void>();
    const standing = Promise.withResolvers<void>();
    const readPayload = async (delivery: Parameters<typeof readPlain>[0]) => {
      reading.resolve();
      await standing.promise;
      return readPlain(delivery);
    };
    start({ leaseMs, readPayload });
    await reading.promise;
    const taken = performance.now();
    const other =
      "update events.delivery_queue set claimed_by = 'another', claimed_until = now() + interval '1 hour'";
    await rows(other);
    await until(() => performance.now() - taken > leaseMs);
    standing.resolve();
    await webhooks!.stop();
    webhooks = undefined;
    assert.deepEqual(receiver.received, []);
    assert.deepEqual(await rows("select state, attempts from events.delivery"), [
      { state: "pending", attempts: 0 },
    ]);
    assert.equal((await queues())[0].claimed_by, "another");
  });
});

describe("a receiver that was away", () => {
  const away = (minutes: number, more: object = {}) =>
    subscribe(owner, {
      ...{ topic: "product.created", url: receiver.url, health: "DEGRADED", health_reason: "It fails." },
      ...{ consecutive_failures: 3, failing_since: new Date(Date.now() - minutes * 60_000) },
      ...more,
    });
  /** Deliveries that have failed three times, and wait for half an hour. */
  const waiting = async (count: number) => {
    await insert(count);
    await rows("select events.sequence_events()");
    await rows(
      "update events.delivery_queue set attempts = 3, next_attempt_at = now() + interval '30 minutes'",
    );
  };

  it("for more than five minutes gets all that waits when it is back, without another event", async () => {
    await away(6, { next_probe_at: new Date(Date.now() + 200) });
    await waiting(12);
    start();
    await until(() => receiver.received.length === 12);
    await until(async () => (await subscription()).backlog_count === 0);
    assert.equal((await subscription()).health, "HEALTHY");
  });

  it("is tried early with a single message, which stays where it is in its schedule", async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    await away(6, { next_probe_at: new Date() });
    await waiting(3);
    const before = await queues();
    start();
    await until(async () => (await subscription()).consecutive_failures === 4);
    const after = await queues();
    for (const [index, { attempts, next_attempt_at, claimed_by }] of after.entries())
      assert.deepEqual([attempts, next_attempt_at, claimed_by], [3, before[index].next_attempt_at, null]);
    assert.equal(receiver.received.length, 1);
    const { next_probe_at, health } = await subscription();
    const minutes = (next_probe_at.getTime() - Date.now()) / 60_000;
    assert.ok(minutes > 4 && minutes <= 5, `${minutes}`);
    assert.equal(health, "DEGRADED");
  });

  it("for less time gets what waits by the schedule", async () => {
    await away(2, { next_probe_at: new Date() });
    await waiting(2);
    start();
    await until(() => receiver.received.length === 1);
    await until(async () => (await subscription()).health === "HEALTHY");
    assert.equal((await queues()).length, 1);
    assert.equal((await queues())[0].attempts, 3);
  });

  it("and hangs on one message is sent the others", async () => {
    await away(1);
    const stuck = Promise.withResolvers<string>();
    receiver.answer = ({ body }, response) => {
      if (receiver.received.length === 1) return stuck.resolve(body.data.productNumber);
      return response.writeHead(204).end();
    };
    await insert(4);
    start();
    await until(async () => {
      const [{ count }] = await rows(
        "select count(*)::int as count from events.delivery where state = 'delivered'",
      );
      return count === 3;
    }, 8_000);
    const sent = receiver.received.map(({ body }) => body.data.productNumber);
    assert.equal(
      sent.filter((number) => number === sent[0]).length,
      1,
      "the one that hangs is still under way",
    );
    assert.equal(await stuck.promise, sent[0]);
  });
});

describe("subscriptions of one credential", () => {
  it("leave room for others, however many they are and however slow", async () => {
    const slow = await startReceiver();
    slow.answer = hang;
    const credential = async (name: string) =>
      (
        await rows("insert into auth.credential (name, scopes) values ($1, '{products:read}') returning id", [
          name,
        ])
      )[0].id;
    const greedy = await credential("greedy");
    for (let n = 0; n < 9; n++)
      await subscribe(owner, { topic: "product.created", url: slow.url, credential_id: greedy });
    await subscribe(owner, {
      ...{ topic: "product.created", url: receiver.url, credential_id: await credential("modest") },
    });
    await insert(10);
    start({ concurrency: 8 });
    await until(() => receiver.received.length === 10);
    assert.equal(slow.received.length, 6);
    await webhooks!.stop();
    await slow.close();
  });
});

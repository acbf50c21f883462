import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase, queryRows } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { emptyTables } from "../lib/empty-tables.ts";
import { until } from "../lib/until.ts";
import { fast, newSecret, startReceiver, startTestWebhooks, subscribe, verifySignature } from "./support.ts";
import type { Receiver, TestWebhooks } from "./support.ts";

let database: TestDatabase;
let owner: pg.Pool;
let admin: pg.Client;
let receiver: Receiver;
let webhooks: TestWebhooks | undefined;
before(async () => {
  database = await openTestDatabase("template_schema");
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 3 });
  owner.on("error", () => {});
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
});
beforeEach(async () => {
  await emptyTables(admin, "events.webhook_subscription", "events.outbox", "events.event", "erp.product");
  await owner.query("update events.log_head set last_sequence = 0");
  receiver = await startReceiver();
});
afterEach(async () => {
  await webhooks?.stop();
  webhooks = undefined;
  await receiver.close();
});
after(async () => {
  await Promise.all([owner.end(), admin.end()]);
  await database.close();
});

const start = (options: Parameters<typeof startTestWebhooks>[1] = {}) =>
  (webhooks = startTestWebhooks(database.loginUrl, { clock: fast(0.001), ...options }));
const rows = queryRows(() => owner);
const insert = (number: string) => rows("insert into erp.product (product_number) values ($1)", [number]);
const rename = (number: string, name: string) =>
  rows("update erp.product set name = $2 where product_number = $1", [number, name]);
const states = async () => {
  const found = await rows("select state, count(*)::int as count from events.delivery group by 1 order by 1");
  return Object.fromEntries(found.map(({ state, count }) => [state, count]));
};
const subscription = async () => (await rows("select * from events.webhook_subscription"))[0];

describe("a webhook", () => {
  it("is sent while the results of those before it wait to be stored", async () => {
    const id = await subscribe(owner, { topic: "product.updated", url: receiver.url });
    await insert("busy");
    for (let n = 1; n <= 30; n++) await rename("busy", `${n}`);
    await rows("select events.sequence_events(500)");
    // As the sequencer does, and for longer the more there is to do
    await admin.query("begin");
    await admin.query("select from events.webhook_subscription where id = $1 for no key update", [id]);
    start();
    try {
      await until(() => receiver.received.length >= 2, 10_000);
    } finally {
      await admin.query("commit");
    }
    await until(async () => (await states()).delivered === 30);
    const sequences = receiver.received.map(({ body }) => body.sequence);
    assert.deepEqual(
      sequences,
      [...new Set(sequences)].sort((a, b) => a - b),
    );
    assert.equal(sequences.length, 30);
    const attempts = await rows("select number, status from events.delivery_attempt");
    assert.deepEqual(
      attempts,
      Array.from({ length: 30 }, () => ({ number: 1, status: 204 })),
    );
  });

  it("is sent once when an earlier one is sent again meanwhile", async () => {
    await subscribe(owner, { topic: "product.updated", url: receiver.url });
    await insert("busy");
    await rename("busy", "0");
    start();
    await until(async () => (await states()).delivered === 1);
    await webhooks!.stop();
    const [earlier] = await rows("select id from events.delivery");
    for (let n = 1; n <= 5; n++) await rename("busy", `${n}`);
    await rows("select events.sequence_events(500)");
    receiver.received.length = 0;
    let isAgain = false;
    receiver.answer = ({ body }, response) => {
      const answer = () => void response.writeHead(204).end();
      if (body.data.name !== "2" || isAgain) return answer();
      isAgain = true;
      void rows("select events.send_again($1)", [earlier!.id]).then(answer);
    };
    start();
    await until(async () => (await states()).delivered === 6);
    const [queue] = await rows("select count(*)::int as count from events.delivery_queue");
    assert.equal(queue!.count, 0);
    const names = receiver.received.map(({ body }) => body.data.name);
    assert.deepEqual(names.sort(), ["0", "1", "2", "3", "4", "5"]);
  });

  it("isn't sent before the one that was refused before it", async () => {
    await subscribe(owner, { topic: "product.updated", url: receiver.url });
    await insert("busy");
    for (let n = 1; n <= 10; n++) await rename("busy", `${n}`);
    const refusals = new Map([
      [3, 2],
      [4, 1],
      [9, 1],
    ]);
    const tried: number[] = [];
    receiver.answer = ({ body }, response) => {
      const name = Number(body.data.name);
      tried.push(name);
      const left = refusals.get(name) ?? 0;
      refusals.set(name, left - 1);
      response.writeHead(left > 0 ? 500 : 204).end();
    };
    start();
    await until(async () => (await states()).delivered === 10);
    assert.deepEqual(tried, [1, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 9, 10]);
    const [queue] = await rows("select count(*)::int as count from events.delivery_queue");
    assert.equal(queue!.count, 0);
  });

  it("tells what happened, signed", async () => {
    const secret = newSecret();
    await subscribe(owner, { topic: "product.created", url: `${receiver.url}/hook?shop=1`, secret });
    await insert("hammer");
    await insert("nail");
    start();
    await until(() => receiver.received.length === 2);
    const [first, second] = receiver.received.sort((a, b) => a.body.sequence - b.body.sequence);
    for (const message of [first!, second!]) verifySignature(message, secret);
    assert.equal(first!.path, "/hook?shop=1");
    assert.equal(first!.headers["content-type"], "application/json");
    const { timestamp, data, ...others } = first!.body;
    assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000);
    assert.equal(data.productNumber, "hammer");
    const cause = { credentialId: null, requestId: null, idempotencyKey: null };
    assert.deepEqual(others, {
      ...{ type: "product.created", sequence: 1, previousSequence: null, apiVersion: "unstable" },
      ...{ changedFields: null, cause },
    });
    assert.equal(second!.body.previousSequence, 1);
    await until(async () => (await states()).delivered === 2);
    assert.deepEqual(await rows("select * from events.delivery_queue"), []);
    const { health, backlog_count, last_delivered_at } = await subscription();
    assert.deepEqual([health, backlog_count, last_delivered_at instanceof Date], ["HEALTHY", 0, true]);
  });

  it("waits while the plan has no API, also in the middle of a queue, and continues where it stopped", async () => {
    const setPlan = (plan: string) => rows("select auth.set_plan($1)", [plan]);
    await subscribe(owner, { topic: "product.updated", url: receiver.url });
    await insert("hammer");
    for (const name of ["one", "two", "three"]) await rename("hammer", name);
    receiver.answer = async (_, response) => {
      if (receiver.received.length === 1) await setPlan("none");
      response.writeHead(204).end();
    };
    start();
    await until(async () => (await states()).delivered === 1);
    await rename("hammer", "four");
    await until(async () => (await states()).pending === 3);
    assert.deepEqual(await rows("select * from events.claim_delivery_queues('mine', 9, 9, '{}', '1 s')"), []);
    assert.equal(receiver.received.length, 1);
    await setPlan("full");
    await until(async () => (await states()).delivered === 4);
    assert.deepEqual(
      receiver.received.map(({ body }) => body.sequence),
      [...receiver.received.map(({ body }) => body.sequence)].sort((a, b) => a - b),
    );
  });

  it("is signed with the old secret too until that expires", async () => {
    const [old, older, current] = [newSecret(), newSecret(), newSecret()];
    const id = await subscribe(owner, { topic: "product.created", url: receiver.url, secret: current });
    const add = (secret: string, hours: number) =>
      rows(
        "insert into events.webhook_secret (subscription_id, secret, expires_at) values ($1, $2, now() + $3 * interval '1 hour')",
        [id, secret, hours],
      );
    await add(old, 1);
    await add(older, -1);
    await insert("hammer");
    start();
    await until(() => receiver.received.length === 1);
    const [message] = receiver.received;
    verifySignature(message!, current);
    verifySignature(message!, old);
    assert.throws(() => verifySignature(message!, older));
  });

  it("keeps what was sent and answered, but not the signature", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    receiver.answer = (_, response) =>
      response.setHeader("x-receiver", "me").writeHead(202).end("y".repeat(2_000));
    await insert("hammer");
    start();
    await until(async () => (await states()).delivered === 1);
    const [attempt] = await rows("select * from events.delivery_attempt");
    assert.deepEqual([attempt.number, attempt.status, attempt.error], [1, 202, null]);
    assert.equal(attempt.response_headers["x-receiver"], "me");
    assert.equal(attempt.response_body, "y".repeat(1_000));
    const { headers } = receiver.received[0]!;
    assert.equal(attempt.request_headers["webhook-id"], headers["webhook-id"]);
    assert.equal(attempt.request_headers["webhook-signature"], undefined);
    assert.ok(headers["webhook-signature"]);
  });
});

describe("a delivery that fails", () => {
  it("is tried again by the schedule, with the same id, and then given up", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    receiver.answer = (_, response) => response.writeHead(500).end("sorry");
    await insert("hammer");
    const outcomes: string[] = [];
    start({ clock: fast(0), onAttempt: (outcome) => void outcomes.push(outcome) });
    await until(async () => (await states()).failed === 1);
    assert.equal(receiver.received.length, 10);
    assert.deepEqual(outcomes, Array(10).fill("failed"));
    assert.equal(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 1);
    const attempts = await rows(
      "select number, status, error, response_body from events.delivery_attempt order by 1",
    );
    assert.equal(attempts.length, 10);
    assert.deepEqual(attempts[9], {
      ...{ number: 10, status: 500, error: "The response was 500.", response_body: "sorry" },
    });
    const { health, health_reason, consecutive_failures, backlog_count } = await subscription();
    assert.deepEqual(
      [health, health_reason, consecutive_failures, backlog_count],
      ["DEGRADED", "The last 10 attempts failed. The last failure: The response was 500.", 10, 0],
    );
    assert.deepEqual(await rows("select * from events.delivery_queue"), []);
  });

  it("holds up what comes after it about the same thing, and nothing else", async () => {
    await insert("hammer");
    await insert("nail");
    await subscribe(owner, { topic: "product.updated", url: receiver.url });
    let isBroken = true;
    receiver.answer = ({ body }, response) =>
      response.writeHead(isBroken && body.data.productNumber === "hammer" ? 503 : 204).end();
    for (const name of ["a", "b", "c"]) for (const number of ["hammer", "nail"]) await rename(number, name);
    const namesOf = (number: string) =>
      receiver.received
        .filter(({ body }) => body.data.productNumber === number)
        .map(({ body }) => body.data.name);
    start({ clock: fast(0.02) });
    await until(() => namesOf("nail").length === 3 && namesOf("hammer").length >= 2);
    assert.deepEqual(namesOf("nail"), ["a", "b", "c"]);
    assert.deepEqual(new Set(namesOf("hammer")), new Set(["a"]));
    isBroken = false;
    receiver.received = [];
    // Despite any pause of the schedule
    await until(async () => {
      await rows("update events.delivery_queue set next_attempt_at = now() where claimed_until is null");
      return (await states()).delivered === 6;
    });
    assert.deepEqual(namesOf("hammer"), ["a", "b", "c"]);
  });

  it("waits as long as the receiver wants", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    receiver.answer = (_, response) => response.writeHead(429, { "retry-after": "600" }).end();
    await insert("hammer");
    start();
    await until(async () => (await rows("select from events.delivery_attempt")).length === 1);
    const [queue] = await rows(
      "select extract(epoch from next_attempt_at - now()) as seconds from events.delivery_queue",
    );
    assert.ok(queue.seconds > 590 && queue.seconds < 665, `${queue.seconds}`);
  });

  it("ends the subscription when the answer is 410", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    receiver.answer = (_, response) => response.writeHead(410).end();
    await insert("hammer");
    await insert("nail");
    start();
    await until(async () => !(await subscription()).enabled);
    const { health, health_reason, disabled_at } = await subscription();
    assert.deepEqual([health, health_reason], ["DISABLED", "The receiver responded with 410 Gone."]);
    assert.ok(disabled_at instanceof Date);
    assert.deepEqual(await states(), { pending: 2 });
    await until(
      async () => (await rows("select from events.delivery_queue where claimed_until is null")).length === 2,
    );
    assert.deepEqual(await rows("select from events.delivery_queue where next_attempt_at < 'infinity'"), []);
  });
});

describe("a subscription", () => {
  // They may be older than a lower limit
  for (const [where, url, reason] of [
    ["on private networks", "http://169.254.169.254/latest", "The address is not on the public internet."],
    ["to other ports", "http://8.8.8.8:5432/", "Messages are not sent to port 5432, only to 443 and 80."],
  ] as const)
    it(`is sent nothing ${where}, and says so`, async () => {
      await subscribe(owner, { topic: "product.created", url });
      await insert("hammer");
      start({ clock: fast(0) });
      await until(async () => (await states()).failed === 1);
      const [attempt] = await rows("select * from events.delivery_attempt limit 1");
      assert.deepEqual([attempt.status, attempt.error], [null, reason]);
      assert.ok((await subscription()).health_reason.endsWith(reason));
    });

  it("is told nothing that its credential may not read, until it may", async () => {
    const [{ id: credential_id }] = await rows(
      "insert into auth.credential (name, scopes) values ('shop', '{orders:read}') returning id",
    );
    await subscribe(owner, { topic: "product.created", url: receiver.url, credential_id });
    await insert("hammer");
    await insert("nail");
    start({ clock: fast(0.0001) });
    await until(async () => (await subscription()).health === "SUSPENDED");
    const reason =
      "The credential behind it has been deactivated or deleted, or no longer has the scope products:read.";
    assert.equal((await subscription()).health_reason, reason);
    assert.deepEqual(await rows("select from events.delivery_attempt"), []);
    await rows("update auth.credential set deactivated_at = now()");
    receiver.received = [];
    await until(
      async () => (await rows("select from events.delivery_queue where claimed_until is null")).length === 2,
    );
    await rows("update auth.credential set deactivated_at = null, scopes = '{products:read}'");
    await until(async () => (await states()).delivered === 2);
    const { health, health_reason, next_probe_at } = await subscription();
    assert.deepEqual([health, health_reason, next_probe_at], ["HEALTHY", null, null]);
  });

  it("that is suspended is probed with one delivery at a time, and recovers", async () => {
    const day = new Date(Date.now() - 86_460_000);
    const failing = {
      failing_since: day,
      consecutive_failures: 9,
      health: "DEGRADED",
      health_reason: "It fails.",
    };
    await subscribe(owner, { topic: "product.created", url: receiver.url, ...failing });
    receiver.answer = (_, response) => response.writeHead(500).end();
    for (const number of ["a", "b", "c", "d"]) await insert(number);
    const sender = start({ clock: fast(0) });
    await until(() => receiver.received.length > 30);
    await sender.stop();
    const { health, health_reason } = await subscription();
    assert.equal(health, "SUSPENDED");
    assert.equal(
      health_reason,
      "No delivery has succeeded for 24 hours. The last failure: The response was 500.",
    );
    // Nothing was given up
    assert.deepEqual(await states(), { pending: 4 });
    await rows("update events.delivery_queue set next_attempt_at = now() + interval '10 hours'");
    receiver.received = [];
    receiver.answer = (_, response) => response.writeHead(204).end();
    start({ clock: fast(0) });
    await until(async () => (await states()).delivered === 4);
    assert.equal((await subscription()).health, "HEALTHY");
    assert.equal(receiver.received.length, 4);
  });

  it("that is slow doesn't hold up another one", async () => {
    const slow = await startReceiver();
    slow.answer = () => {};
    await subscribe(owner, { topic: "product.created", url: slow.url });
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    await rows("insert into erp.product (product_number) select 'p-' || n from generate_series(1, 20) n");
    start({ concurrency: 4 });
    await until(() => receiver.received.length === 20);
    assert.equal(slow.received.length, 1);
    await webhooks!.stop();
    await slow.close();
  });
});

describe("stopping", () => {
  it("lets deliveries end", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    const answering = Promise.withResolvers<void>();
    receiver.answer = async (_, response) => {
      await answering.promise;
      response.writeHead(204).end();
    };
    await insert("hammer");
    const sender = start();
    await until(() => receiver.received.length === 1);
    const stopped = sender.stop();
    answering.resolve();
    await stopped;
    assert.deepEqual(await states(), { delivered: 1 });
  });

  it("gives back those that don't, as if they hadn't been tried", async () => {
    await subscribe(owner, { topic: "product.created", url: receiver.url });
    receiver.answer = () => {};
    await insert("hammer");
    const sender = start();
    await until(() => receiver.received.length === 1);
    await sender.stop();
    const [delivery] = await rows("select state, attempts from events.delivery");
    assert.deepEqual(delivery, { state: "pending", attempts: 0 });
    const [queue] = await rows("select claimed_by, due_at <= now() as due from events.delivery_queue");
    assert.deepEqual(queue, { claimed_by: null, due: true });
    assert.equal((await subscription()).health, "HEALTHY");
  });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { versions } from "../../src/versions/versions.ts";
import { temporaryFolder } from "../commands/process.ts";
import type { Bench } from "../mutations/support.ts";
import { useBench } from "../mutations/support.ts";
import { until } from "../lib/until.ts";
import { sign } from "../../src/webhooks/message.ts";
import { fast, newSecret, startTestWebhooks } from "../webhooks/support.ts";
import type { TestWebhooks } from "../webhooks/support.ts";

const program = fileURLToPath(new URL("../../examples/webhook-receiver/receiver.ts", import.meta.url));
const bench: Bench = useBench({ versions, settings: { explorer: false, webhookAllow: ["127.0.0.1"] } });

/** The receiver as a process, as a reader of its README starts it. */
interface Running {
  url: string;
  output: () => string;
  stop: () => Promise<void>;
}

async function start(inbox: string, secret: string): Promise<Running> {
  const settings = { ...process.env, WEBHOOK_SECRET: secret, PORT: "0", INBOX: inbox };
  const child: ChildProcess = spawn(process.execPath, [program], {
    env: settings,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout!.on("data", (chunk) => (output += chunk));
  await until(() => output.includes("listening"));
  return {
    url: `http://127.0.0.1:${/"port":(\d+)/.exec(output)![1]}/`,
    output: () => output,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

describe("the example of a receiver", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let inbox: string;
  let receiver: Running;
  let webhooks: TestWebhooks;
  let files = 0;
  before(async () => {
    folder = await temporaryFolder();
  });
  beforeEach(async () => {
    inbox = join(folder.path, `inbox-${files++}.jsonl`);
    await bench.empty("events.webhook_subscription", "events.outbox", "events.event");
    webhooks = startTestWebhooks(bench.service.loginUrl, { clock: fast(0.001) });
  });
  afterEach(async () => {
    await webhooks.stop();
    await receiver.stop();
  });
  after(() => folder.remove());

  const post = (id: string, secret: string, body: object) => {
    const text = JSON.stringify(body);
    const headers = { ...sign(id, text, [secret], Date.now()) };
    return fetch(receiver.url, { method: "POST", headers, body: text }).then(({ status }) => status);
  };
  const message = (sequence: number, previousSequence: number | null) => ({
    ...{ type: "product.updated", timestamp: "2026-06-01T12:00:00+00:00", sequence, previousSequence },
    ...{ apiVersion: "unstable", changedFields: ["name"], cause: {}, data: { id: "1" } },
  });

  it("takes what the service sends, once, also after a replay and a new start", async () => {
    // The secret is known only after subscribing, so the receiver begins with another
    receiver = await start(inbox, newSecret());
    const { webhookSubscription, secret } = await bench.mutate(
      "webhookSubscriptionCreate",
      { topic: "product.updated", url: receiver.url, apiVersion: "2026-06-unstable" },
      "webhookSubscription { id } secret",
    );
    await bench.rows("update erp.product set name = 'Hammer'");
    await until(
      async () => (await bench.rows("select from events.delivery_attempt where status = 401")).length > 0,
    );
    await receiver.stop();

    receiver = await start(inbox, `${newSecret()},${secret}`);
    const { id } = webhookSubscription;
    const moved = await bench.mutate("webhookSubscriptionUpdate", { id, url: receiver.url });
    assert.deepEqual(moved.userErrors, []);
    const { rows } = bench;
    const delivered = async (count: number) => {
      await rows("update events.delivery_queue set next_attempt_at = now() where claimed_by is null");
      return (await rows("select from events.delivery where state = 'delivered'")).length === count;
    };
    await until(() => delivered(1));
    await until(() => /product\.updated 1: .*"Hammer"/.test(receiver.output()));

    const replay = async () => {
      const input = { id, fromSequence: 1 };
      const payload = await bench.mutate("webhookDeliveriesReplay", input, "replayedCount");
      assert.equal(payload.replayedCount, 1);
      await until(() => delivered(1));
    };
    await replay();
    assert.equal(receiver.output().match(/product\.updated 1/g)!.length, 1);
    await receiver.stop();
    receiver = await start(inbox, secret);
    await bench.mutate("webhookSubscriptionUpdate", { id, url: receiver.url });
    await replay();
    await bench.mutate("webhookSubscriptionTest", { id });
    await until(() => receiver.output().includes("webhook_subscription.test (a test)"));
    assert.doesNotMatch(receiver.output(), /product\.updated 1/);
  });

  it("refuses what isn't signed, or by somebody else, or isn't sent by POST", async () => {
    const secret = newSecret();
    receiver = await start(inbox, secret);
    assert.equal(await post("evt_1", newSecret(), message(1, null)), 401);
    assert.equal((await fetch(receiver.url, { method: "POST", body: "{}" })).status, 401);
    assert.equal((await fetch(receiver.url)).status, 405);
    const large = await fetch(receiver.url, { method: "POST", body: "x".repeat(3_000_000) }).catch(
      () => null,
    );
    assert.ok(large === null || large.status === 413);
    assert.equal(await post("evt_1", secret, message(1, null)), 204);
  });

  it("sees what is missing until it comes", async () => {
    const secret = newSecret();
    receiver = await start(inbox, secret);
    for (const [sequence, previous] of [
      [4, 2],
      [9, 7],
      [12, 9],
    ] as const)
      assert.equal(await post(`evt_${sequence}`, secret, message(sequence, previous)), 204);
    // Messages before its first one don't count as missing
    await until(() => /product\.updated 12.*\nstill to come: 7\n/.test(receiver.output()));
    const before = receiver.output().length;
    assert.equal(await post("evt_7", secret, message(7, 4)), 204);
    await until(() => receiver.output().slice(before).includes("product.updated 7"));
    assert.doesNotMatch(receiver.output().slice(before), /still to come/);
  });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import { processesIn } from "../lib/processes.ts";
import { seed } from "../lib/seed.ts";
import { until } from "../lib/until.ts";
import { newSecret, startReceiver, subscribe, verifySignature } from "../webhooks/support.ts";
import type { Received, Receiver } from "../webhooks/support.ts";
import { beWriter, fillWebhookShop, products } from "./webhook-shop.ts";
import type { Change } from "./webhook-shop.ts";

// All faults at once: senders are killed, Postgres is killed, receivers fail. A separate Postgres with a safe disk.
const directory = `.data/webhooks-${randomUUID()}`;
// Plans made while tables are empty are bad later
const flags = { autovacuum_naptime: "2s" };
/** How many events there are at least; ten thousand take minutes. */
const wanted = Number(process.env.CHAOS_EVENTS ?? 400);
const sender = fileURLToPath(new URL("./webhook-sender.ts", import.meta.url));

let cluster: Cluster;
let adminUrl: string;
let loginUrl: string;
const senders = new Set<ChildProcess>();
const receivers: Receiver[] = [];
before(async () => {
  ({ cluster, adminUrl, loginUrl } = await startOwnPostgres({ directory, flags }));
});
after(async () => {
  for (const child of senders) child.kill("SIGKILL");
  for (const receiver of receivers) await receiver.close();
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Numbers from 0 to 1 that are the same at each run (Mulberry32). */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function sql<Row = any>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: adminUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function startSender(): Promise<ChildProcess> {
  const environment = { ...process.env, SENDER_DATABASE: loginUrl };
  const child = spawn(process.execPath, [sender], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  senders.add(child);
  child.on("exit", () => senders.delete(child));
  await once(child.stdout, "data");
  return child;
}

/**
 * A receiver that fails in every way, but each message five times at most. Notes what it has accepted, and checks the
 * signature of one of fifty as it comes: a signature is valid for minutes.
 */
async function flakyReceiver(secret: string, random: () => number, failureRate: number) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const accepted: Received[] = [];
  const forged: unknown[] = [];
  const failures = new Map<string, number>();
  receiver.answer = (message, response) => {
    receiver.received.length = 0;
    const id = String(message.headers["webhook-id"]);
    const failed = failures.get(id) ?? 0;
    if (failed < 5 && random() < failureRate) {
      failures.set(id, failed + 1);
      const kind = random();
      if (kind < 0.5) return response.writeHead(500).end();
      if (kind < 0.7) return response.writeHead(503, { "retry-after": "0" }).end();
      if (kind < 0.8) return response.writeHead(302, { location: "/elsewhere" }).end();
      if (kind < 0.99) return response.destroy();
      return; // never answers
    }
    if (accepted.length % 50 === 0) {
      try {
        verifySignature(message, secret);
      } catch (error) {
        forged.push(error);
      }
    }
    accepted.push(message);
    // Accepted, but the sender may never learn of it
    if (failed < 5 && random() < failureRate / 10) {
      failures.set(id, failed + 1);
      return response.destroy();
    }
    return response.writeHead(204).end();
  };
  return { url: receiver.url, accepted, forged };
}

test(`${wanted} events through killed processes, a killed Postgres and failing receivers`, async (context) => {
  const random = randomFrom(seed);
  const secret = newSecret();
  const admin = new pg.Client({ connectionString: urlAsOwner(adminUrl) });
  await admin.connect();
  await fillWebhookShop(admin);
  const steady = await flakyReceiver(secret, random, 0);
  const flaky = await flakyReceiver(secret, random, 0.15);
  const dead = await flakyReceiver(secret, random, 1);
  const topic = "product.updated";
  const ids: string[] = [];
  for (const { url } of [steady, flaky]) ids.push(await subscribe(admin, { topic, url, secret }));
  await subscribe(admin, { topic, url: dead.url.replace(/\d+$/, "9"), secret });
  await admin.end();

  // Writing
  let written = 0;
  const isEnough = () => written >= wanted;
  const writers = Array.from({ length: 6 }, (_, index) =>
    beWriter({
      ...{
        url: urlAsOwner(adminUrl),
        name: `writer ${index}`,
        random: randomFrom(seed + index),
        isEnough,
      },
      onWritten: (changes) => void (written += changes),
    }),
  );

  // Chaos
  let isOver = false;
  context.after(() => void (isOver = true));
  for (let n = 0; n < 3; n++) await startSender();
  const killer = (async () => {
    const accepted = () => steady.accepted.length + flaky.accepted.length;
    while (!isOver) {
      // By what has arrived, so that there are as many deaths on any machine
      const next = accepted() + wanted * (0.05 + 0.1 * random());
      await until(() => isOver || accepted() > next, Infinity);
      const [victim] = [...senders].slice(Math.floor(random() * senders.size));
      victim?.kill("SIGKILL");
      if (!isOver) await startSender();
    }
  })();
  const crasher = (async () => {
    for (const part of [0.3, 0.7]) {
      await until(() => written >= part * wanted, 120_000);
      const [{ pid }] = await sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid");
      process.kill(pid, "SIGKILL");
      await until(async () => (await processesIn(join(directory, "postgres"))).length === 0);
      cluster = await startCluster({ directory, flags });
    }
  })();
  await Promise.all([...writers, crasher]);

  // Everything arrives, while processes are still killed for a while
  const waiting = `select count(*)::int as count from events.delivery where state <> 'delivered' and subscription_id = any ($1)`;
  let progress = { least: Infinity, at: performance.now() };
  await until(async () => {
    const [{ count }] = await sql(waiting, [ids]);
    const [{ unsequenced }] = await sql("select count(*)::int as unsequenced from events.outbox");
    const left = count + 2 * unsequenced;
    if (left < progress.least) progress = { least: left, at: performance.now() };
    const isStuck = performance.now() - progress.at > 30_000;
    assert.ok(!isStuck, `${count} deliveries and ${unsequenced} events have waited for half a minute`);
    return left === 0;
  }, Infinity);
  isOver = true;
  await killer;

  const truth = await sql<Change>("select product, version, transaction from truth.change");
  context.diagnostic(
    `${truth.length} events, ${steady.accepted.length} and ${flaky.accepted.length} accepted; seed ${seed}`,
  );
  assert.ok(truth.length >= wanted);
  for (const { accepted, forged } of [steady, flaky]) {
    assertComplete(accepted, truth);
    assertInOrder(accepted);
    assertChained(accepted);
    assert.deepEqual(forged, []);
  }

  const [log] = await sql(
    "select count(*)::int as count, min(sequence)::int as first, max(sequence)::int as last from events.event",
  );
  assert.deepEqual(log, { count: truth.length + products, first: 1, last: truth.length + products });
  const subscriptions = await sql(
    "select backlog_count, health, enabled from events.webhook_subscription where id = any ($1)",
    [ids],
  );
  for (const each of subscriptions)
    assert.deepEqual(each, { backlog_count: 0, health: "HEALTHY", enabled: true });
  assert.deepEqual(
    await sql("select from events.delivery_queue where subscription_id = any ($1)", [ids]),
    [],
  );
  const mismatched = await sql(`
    select s.id from events.webhook_subscription s
    where s.backlog_count <> (select count(*) from events.delivery d where d.subscription_id = s.id and d.state = 'pending')
      or s.backlog_count <> (select coalesce(sum(q.pending), 0) from events.delivery_queue q where q.subscription_id = s.id)`);
  assert.deepEqual(mismatched, []);
});

const keyOf = (product: string, version: unknown, transaction: unknown) =>
  `${product} ${version} by ${transaction}`;
const keyOfMessage = ({ body: { data } }: Received) => keyOf(data.productNumber, data.name, data.description);

/** All that was committed, nothing else, and each under one id, however often it came. */
function assertComplete(accepted: Received[], truth: Change[]): void {
  const committed = new Set(
    truth.map(({ product, version, transaction }) => keyOf(product, version, transaction)),
  );
  const idByKey = new Map<string, unknown>();
  const keyById = new Map<unknown, string>();
  for (const message of accepted) {
    const key = keyOfMessage(message);
    const id = message.headers["webhook-id"];
    assert.ok(committed.has(key), `it never happened: ${key}`);
    assert.equal(idByKey.get(key) ?? id, id, `two ids: ${key}`);
    assert.equal(keyById.get(id) ?? key, key, `one id for two: ${key}`);
    idByKey.set(key, id);
    keyById.set(id, key);
  }
  for (const key of committed) assert.ok(idByKey.has(key), `it never arrived: ${key}`);
}

/** The versions of a product came in order, not counting repetitions. */
function assertInOrder(accepted: Received[]): void {
  const last = new Map<string, number>();
  const seen = new Set<string>();
  for (const message of accepted) {
    const key = keyOfMessage(message);
    if (seen.has(key)) continue;
    seen.add(key);
    const { productNumber, name } = message.body.data;
    assert.equal(Number(name), (last.get(productNumber) ?? 0) + 1, productNumber);
    last.set(productNumber, Number(name));
  }
}

/** Each names the previous one, so that receivers see gaps. */
function assertChained(accepted: Received[]): void {
  const bodies = new Map(accepted.map(({ body }) => [body.sequence as number, body]));
  let previous: number | null = null;
  for (const sequence of [...bodies.keys()].sort((a, b) => a - b)) {
    assert.equal(bodies.get(sequence).previousSequence, previous);
    previous = sequence;
  }
}

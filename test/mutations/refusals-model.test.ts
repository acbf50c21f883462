import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// Clients are impatient and ask one process after the other, whose ways to Postgres stand still and break. After all calls have ended,
// each client must find what its last answer said: a key that was refused has booked nothing, another one exactly what was answered.
const wanted = Number(process.env.REFUSED_KEYS ?? 16);
const clients = 8;
let shop: Shop;
const proxies: CuttableProxy[] = [];
const processes: TestProcess[] = [];
let token: string;
before(async () => {
  shop = await openShop();
  for (const settings of [{}, {}, { fastReads: false }]) {
    const proxy = await openCuttableProxy(shop.loginUrl);
    proxies.push(proxy);
    processes.push(await shop.another({ loginUrl: proxy.url, poolSize: 2, settings }));
  }
  token = await shop.token({ read: "all", write: "all" });
});
after(async () => {
  for (const proxy of proxies) proxy.restore();
  await Promise.all(processes.map((process) => process.close()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await shop.close();
});

const random = new Random(seed);
const query =
  "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { stockMovements { id } userErrors { code } } }";

interface Answer {
  /** Ids of movements; null when the call was refused. */
  movements: string[] | null;
}

/** Sends a call. Null when there was no answer in time, or an error that asks for a repetition. */
async function send(input: object, patienceMs: number, leaves: boolean): Promise<Answer | null> {
  const leaving = new AbortController();
  const url = `${random.oneOf(processes).url}/api/graphql/unstable`;
  const call = fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { input } }),
    signal: leaving.signal,
  }).then((response) => response.json() as any);
  const body = await Promise.race([call.catch(() => null), sleep(patienceMs, null)]);
  // The others ask elsewhere, but keep their connection
  if (body === null && leaves) leaving.abort();
  if (body === null) return null;
  if (body.errors) {
    assert.equal(body.errors[0].extensions.retryable, true, JSON.stringify(body));
    return null;
  }
  const { stockMovements, userErrors } = body.data.stockAdjust;
  if (userErrors.length === 0) return { movements: stockMovements.map(({ id }: { id: string }) => id) };
  assert.equal(userErrors[0].code, "INSUFFICIENT_STOCK", JSON.stringify(body));
  return { movements: null };
}

/** What clients have wanted, and what has come in. */
const units = { wanted: 0, brought: 0 };

/** Works for one key, until the client believes an answer. Some try again after a refusal, and others leave it at that. */
async function work(key: string): Promise<Answer> {
  const quantity = 1 + random.below(6);
  units.wanted += quantity;
  const line = (delta: number) => shop.line("nail", "A-1", { delta });
  const lines = random.below(3) === 0 ? [line(-quantity), line(-1)] : [line(-quantity)];
  const input = { lines, comment: key, idempotencyKey: key };
  for (let tries = random.below(3); ;) {
    const answer = await send(input, random.between(2, 300), random.below(2) === 0);
    // An impatient client also waits a little
    if (!answer) await sleep(random.between(0, 40));
    else if (answer.movements !== null || tries-- === 0) return answer;
  }
}

/** Disturbs the ways to Postgres, and brings goods, until a signal. */
async function disturb(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const proxy = random.oneOf(proxies);
    if (random.below(5) === 0) proxy.cut();
    else proxy.freeze();
    await sleep(random.between(10, 150));
    // Half of what was wanted: there is too little most of the time. May be refused, where many are in its way
    const delta = Math.floor(units.wanted / 2) - units.brought;
    const lines = [shop.line("nail", "A-1", { delta })];
    if (delta > 0 && (await shop.tryMutate("stockAdjust", { lines })).codes.length === 0)
      units.brought += delta;
    await sleep(random.between(0, 50));
    proxy.restore();
    await sleep(random.between(0, 50));
  }
}

it(`what a client has seen refused is never booked (SEED=${seed})`, async () => {
  const last = new Map<string, Answer>();
  const ended = new AbortController();
  const disturbing = disturb(ended.signal);
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (count < wanted) {
        const key = `key ${++count}`;
        last.set(key, await work(key));
      }
    }),
  );
  ended.abort();
  await disturbing;
  // What still waits goes on. With goods for all of it, nothing stays refused by chance
  const lines = [shop.line("nail", "A-1", { delta: 100_000 })];
  await until(async () => (await shop.tryMutate("stockAdjust", { lines })).codes.length === 0);
  await until(() => processes.every(({ apiPool }) => apiPool.idleCount === apiPool.totalCount));
  await until(async () => {
    const { rowCount } = await shop.owner.query(
      "select from pg_locks l join pg_database d on d.oid = l.database where d.datname = current_database() and l.locktype = 'advisory'",
    );
    return rowCount === 0;
  });
  const { rows } = await shop.owner.query(
    `select comment as key, array_agg('gid://service/StockMovement/' || id order by id) as ids
     from ledger.stock_movement where comment is not null group by 1`,
  );
  const booked = new Map<string, string[]>(rows.map(({ key, ids }) => [key, ids]));
  for (const [key, { movements }] of last)
    assert.deepEqual(booked.get(key) ?? null, movements && [...movements].sort(), key);
  const refused = [...last.values()].filter(({ movements }) => movements === null).length;
  assert.ok(refused > 0 && refused < wanted, `${refused} of ${wanted}`);
  await assertLedgerIsRight(shop);
});

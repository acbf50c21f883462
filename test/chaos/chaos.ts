// Everything is killed in turns, under load: npm run test:chaos -- --minutes N --seed N
import "../../src/process/graphile-env.ts";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import { withClient } from "../../src/postgres/client.ts";
import { gid } from "../lib/ids.ts";
import { until } from "../lib/until.ts";
import { newSecret, subscribe } from "../webhooks/support.ts";
import { Books } from "./books.ts";
import { check } from "./check.ts";
import { Client } from "./client.ts";
import type { Goods } from "./client.ts";
import type { Fault } from "./faults.ts";
import { faultsOf, isReady } from "./faults.ts";
import { Random } from "../lib/random.ts";
import { Receiver } from "./receiver.ts";
import { openWorld } from "./world.ts";
import type { World } from "./world.ts";

const clientCount = 6;
/** Milliseconds that a fault lasts, and of quiet between two. */
const [lastsMs, quietMs] = [[500, 8_000] as const, [200, 1_500] as const];
/** Share of faults during which another one begins. */
const together = 0.3;
/** Milliseconds in which everybody has to go on after a fault. */
const recoveryMs = 60_000;
/** Violations after which nothing else is tried. */
const maxViolations = 20;
const reports = resolve(".data/chaos");

const { values: given } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});
const usage = `npm run test:chaos -- [--minutes N] [--seed N] [--only WORDS]

  --minutes N   for how long, 60 at most; 20 by default
  --seed N      the number from which the faults and their times follow; it is printed at the start
  --only WORDS  only faults whose name has these words, or after a comma others, such as "replica,is killed"
`;
const [minutes, seed] = [Number(given.minutes), Number(given.seed)];
const isWrong = !(minutes > 0 && minutes <= 60) || !Number.isInteger(seed);
if (given.help || isWrong) {
  process.stdout.write(usage);
  process.exit(isWrong ? 1 : 0);
}

const begunAtMs = performance.now();
const say = (text: string) => {
  const seconds = Math.floor((performance.now() - begunAtMs) / 1_000);
  process.stdout.write(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}  ${text}\n`);
};

/** Ctrl-C: everything is ended, and nothing checked. */
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(1);
    say(`${signal}: ending everything, once more to end at once`);
    interrupted.abort();
  });

const scene = `
  insert into erp.warehouse (code, name, is_default, is_default_receiving) values ('hall', 'Hall', true, true);
  insert into erp.location (name, warehouse_id) select name, id from erp.warehouse;
  insert into erp.bin_location (warehouse_id, code) select id, 'B-' || n from erp.warehouse, generate_series(1, 5) n;
  insert into erp.product (product_number, name) select 'p-' || n, 'p-' || n from generate_series(1, ${clientCount + 4}) n`;

/** What clients book, their credentials, and a subscription to all movements. */
async function setScene({ primary }: World, receiver: Receiver, secret: string) {
  return withClient(primary.adminUrl, async (client) => {
    await client.query(scene);
    const ids = async (type: string, table: string) =>
      (await client.query<{ id: string }>(`select id from ${table} order by id`)).rows.map(({ id }) =>
        gid(type, id),
      );
    const products = await ids("Product", "erp.product");
    const bins = await ids("BinLocation", "erp.bin_location");
    const [own, shared] = [products.slice(0, clientCount), products.slice(clientCount)];
    const goods: Goods[] = own.map((product) => ({ own: product, shared, bins }));
    const credentials: ClientCredentials[] = [];
    for (let n = 1; n <= clientCount; n++)
      credentials.push(await createCredential(client, { name: `client ${n}`, read: "all", write: "all" }));
    await subscribe(client, { topic: "stock_movement.created", url: receiver.url, secret });
    return { goods, credentials };
  });
}

/** The faults follow from the seed: each has come once before one comes again. */
class Play {
  readonly #random = new Random(seed);
  readonly #next: Generator<Fault, never>;
  readonly #clients: readonly Client[];
  readonly #report: () => string;
  readonly #books: Books;
  /** How often each was played. */
  readonly counts = new Map<string, number>();

  constructor(faults: readonly Fault[], clients: readonly Client[], books: Books, report: () => string) {
    const chosen = faults.filter(({ name }) => given.only.split(",").some((words) => name.includes(words)));
    if (chosen.length === 0) throw new Error(`No fault is called ${given.only}.`);
    this.#next = this.#random.rounds(chosen);
    this.#clients = clients;
    this.#books = books;
    this.#report = report;
  }

  /** Plays one fault, sometimes with another one. */
  async one(): Promise<void> {
    const random = this.#random;
    const first = this.#next.next().value;
    const second = random.next() < together ? this.#next.next().value : null;
    const isAlone =
      second === null || second.part === first.part || [first.part, second.part].includes("all");
    const playing = [first, ...(isAlone ? [] : [second])];
    await this.#play(playing);
    if (second && isAlone) await this.#play([second]);
  }

  async #play(faults: readonly Fault[]): Promise<void> {
    const random = this.#random;
    const ms = random.between(...lastsMs);
    const names = faults.map(({ name }) => name).join("; ");
    say(`${names} (${(ms / 1_000).toFixed(1)} s)`);
    for (const { name } of faults) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    // Each has its own numbers, because what they do at the same time has no order
    const ofEach = faults.map(() => new Random(random.below(2 ** 32)));
    const pause = random.between(...quietMs);
    await Promise.all(faults.map((fault, n) => fault.begin(ofEach[n]!)));
    await sleep(ms, undefined, { signal: interrupted.signal }).catch(() => {});
    // All others need Postgres to come back
    const rank = ({ part }: Fault) => Number(part !== "primary");
    for (const fault of faults.toSorted((one, other) => rank(one) - rank(other))) await fault.mend();
    const done = this.#clients.map((client) => client.done);
    const areGoingOn = () => this.#clients.every((client, n) => client.done > done[n]! + 1);
    await until(areGoingOn, recoveryMs).catch(() => {
      const stuck = this.#clients.filter((client, n) => client.done <= done[n]! + 1);
      this.#books.violation(`${stuck.map(({ name }) => name).join()} didn't go on after: ${names}`);
    });
    say(`    ${this.#report()}`);
    await sleep(pause, undefined, { signal: interrupted.signal }).catch(() => {});
  }
}

async function play(world: World, receiver: Receiver, books: Books, secret: string): Promise<void> {
  const { goods, credentials } = await setScene(world, receiver, secret);
  const { services } = world;
  for (const service of services) service.onDeath = (text) => books.violation(text);
  const clients = credentials.map((own, n) => {
    // Every third one stays with a service, and knows nothing of positions
    const home = n % 3 === 2 ? services[Math.floor(n / 3) % 2]! : null;
    const random = new Random(seed * 1_000 + n);
    return new Client(`client ${n + 1}`, {
      ...{ services, home, credentials: own, goods: goods[n]!, random, books },
      interrupted: interrupted.signal,
    });
  });
  const report = () => {
    const { booked, renamed, repeated, read, sentAgain } = books.counts;
    const { accepted, repeated: twice } = receiver;
    return `${booked} booked, ${renamed} renamed, ${repeated} repeated, ${read} read, ${sentAgain} sent again; ${accepted} webhooks, ${twice} of them again; errors: ${books.codesText()}`;
  };
  const faults = new Play(
    faultsOf(world, receiver, (text) => books.violation(text)),
    clients,
    books,
    report,
  );
  try {
    await until(() => clients.every(({ done }) => done > 1));
    const endMs = performance.now() + minutes * 60_000;
    // What is found first is often the cause of the rest
    const isOver = () => interrupted.signal.aborted || books.violations.length >= maxViolations;
    while (performance.now() < endMs && !isOver()) await faults.one();
    if (isOver()) interrupted.abort();
  } catch (error) {
    interrupted.abort();
    books.violation(`the run itself failed: ${error instanceof Error ? error.stack : error}`);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
  for (const [name, count] of faults.counts) say(`${String(count).padStart(3)} times: ${name}`);
  say(report());
}

/** Stops both services in order; they must not have found a fault of their own. */
async function end(world: World, books: Books): Promise<void> {
  for (const service of world.services) {
    await until(() => isReady(service)).catch(() =>
      books.violation(`${service.name} isn't ready in the end`),
    );
    const code = await service.end("SIGTERM");
    if (code !== 0) books.violation(`${service.name} ended with ${code}`);
    for (const line of service.output.split("\n"))
      if (/"level":[56]0/.test(line) && !/a process has died/.test(line))
        books.violation(`${service.name} said ${line.slice(0, 2_000)}`);
  }
}

async function main(): Promise<void> {
  say(`seed ${seed}, ${minutes} minutes`);
  const books = new Books((text) => say(`!!! ${text}`));
  const secret = newSecret();
  const receiver = await Receiver.open(secret);
  const world = await openWorld();
  try {
    if (!world.bouncer)
      say("PgBouncer is not installed: service 2 reaches Postgres without it, and it isn't killed.");
    await play(world, receiver, books, secret);
    if (interrupted.signal.aborted) return;
    say("checking");
    await check(world, receiver, books);
    await end(world, books);
  } catch (error) {
    if (interrupted.signal.aborted && books.violations.length === 0) return;
    books.violation(`the run itself failed: ${error instanceof Error ? error.stack : error}`);
  } finally {
    await rm(reports, { recursive: true, force: true });
    await mkdir(reports, { recursive: true });
    for (const service of world.services) await service.writeOutput(join(reports, `${service.name}.log`));
    for (const [name, server] of Object.entries({ primary: world.primary, replica: world.replica }))
      await server.copyLog(join(reports, `${name}.log`));
    await writeFile(join(reports, "violations.log"), books.violations.map((text) => `${text}\n`).join(""));
    await world.close();
    await receiver.stop();
    if (interrupted.signal.aborted || books.violations.length > 0) process.exitCode = 1;
    if (books.violations.length > 0)
      say(
        `${books.violations.length} violations, see ${reports}; again by --seed ${seed} --minutes ${minutes}`,
      );
  }
  if (books.violations.length === 0)
    say("Nothing that was answered is lost or doubled, and everybody has seen their own writes.");
}

await main();

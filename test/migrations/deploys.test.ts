import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { startCommand } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { Project } from "../commands/project.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

// The code of here serves, and a copy of it with one more migration takes over
let project: Project;
let database: TestDatabase;
let owner: pg.Pool;
let admin: pg.Pool;
const processes: CommandProcess[] = [];
before(async () => {
  project = await Project.copy({ versions: "head" });
  await project.commitCurrent();
  // The check would make a database of all migrations
  await project.write("src/check/pending.ts", "export const requireSafePending = async () => {};");
  database = await project.database();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
  // Sees the statements of others
  admin = new pg.Pool({ connectionString: database.adminUrl, max: 1 });
});
after(async () => {
  for (const one of processes) {
    one.kill("SIGKILL");
    await one.ended;
  }
  await Promise.all([owner.end(), admin.end()]);
  await database.close();
  await project.remove();
});

/** Where much runs at once, a migration holds its locks for longer than usual. */
const patient = { LOCK_TIMEOUT: "30", STATEMENT_TIMEOUT: "30", MUTATION_TIMEOUT: "60" };
const limits = { LIMIT_BUCKET: "1000000000", LIMIT_REFILL: "1000000000", LIMIT_TOKEN_REQUESTS: "100000" };
function start(folder: string | undefined, ...command: string[]): CommandProcess {
  const isService = command[0] === "start";
  const settings: Record<string, string> = isService
    ? { DATABASE_URL: database.loginUrl, STOP_DELAY: "0", ...limits, ...patient }
    : { DATABASE_URL: database.adminUrl };
  const process = folder === undefined ? startCommand(command, settings) : project.start(command, settings);
  processes.push(process);
  return process;
}
const addressOf = async (service: CommandProcess) =>
  (await service.said(/The API is at (http:\S+?)\/api/))[1]!;

/** Sends reads and mutations, one after the other, to wherever the balancer would, and remembers what was refused. */
class Client {
  address: string;
  rounds = 0;
  readonly refused: string[] = [];
  #isOver = false;
  readonly #credentials: ClientCredentials;
  readonly #working: Promise<void>;

  constructor(address: string, credentials: ClientCredentials) {
    this.address = address;
    this.#credentials = credentials;
    this.#working = this.#work();
  }

  async ask(query: string, variables: object = {}): Promise<any> {
    const { address } = this;
    const { clientId, clientSecret } = this.#credentials;
    const json = { "content-type": "application/json" };
    const token = await fetch(`${address}/api/oauth/token`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    const { access_token: bearer } = (await token.json()) as { access_token: string };
    const answer = await fetch(`${address}/api/graphql/unstable`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query, variables }),
    });
    return answer.json();
  }

  async #work(): Promise<void> {
    const products = "{ products(first: 2) { edges { node { productNumber name availableStock } } } }";
    const upsert = `mutation ($input: ProductsUpsertInput!) { productsUpsert(input: $input) {
      products { productNumber } userErrors { message } } }`;
    while (!this.#isOver) {
      try {
        const read = await this.ask(products);
        const product = { productNumber: `P-${this.rounds % 50}`, name: `Product ${this.rounds}` };
        const written = await this.ask(upsert, { input: { products: [product] } });
        const done = written.data?.productsUpsert;
        if (!read.data?.products || done?.products?.length !== 1)
          this.refused.push(JSON.stringify([read, written]));
        this.rounds++;
        // One of many: a client alone would take all of the machine
        await sleep(100);
      } catch (error) {
        this.refused.push(String((error as Error).cause ?? error));
      }
    }
  }

  /** Waits until it has done something more. */
  async more(): Promise<void> {
    const enough = this.rounds + 5;
    await until(() => this.rounds >= enough || this.refused.length > 0);
    assert.deepEqual(this.refused, []);
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#working;
  }
}

test("of several machines that start one migrates, also after it was killed; nothing is refused meanwhile", async (t) => {
  const old = start(undefined, "start");
  const credentials = await createCredential(owner, { name: "client", read: "all", write: "all" });
  const clients = [await addressOf(old), await addressOf(old)].map(
    (address) => new Client(address, credentials),
  );
  t.after(() => Promise.all(clients.map((client) => client.stop())));
  const allAreWell = () => Promise.all(clients.map((client) => client.more()));
  await allAreWell();

  await project.commit(
    "shelves",
    `select pg_sleep(seconds) from api_meta.pace;
     create table erp.shelf (id uuid primary key default uuidv7(), label text not null);
     alter table erp.shelf enable row level security;
     comment on table erp.shelf is 'Shelves.';
     comment on column erp.shelf.label is 'What stands on it.';
     create view api_unstable.shelves with (security_invoker = true) as select id, label from erp.shelf;
     comment on view api_unstable.shelves is E'@primaryKey id\\n@requiresScopes products:read\\nA shelf.';
     -- A table before its view: readers have locked them the other way round meanwhile
     alter table erp.product add column shelf_id uuid;
     select pg_sleep(0.2);
     alter view api_unstable.products set (security_invoker = true);`,
  );
  await owner.query("create table api_meta.pace as select 600 as seconds");
  t.after(() => owner.query("drop table api_meta.pace"));
  const killed = start(project.path, "db", "setup");
  const sleeping =
    "select from pg_stat_activity where query ~ 'pg_sleep' and wait_event = 'PgSleep' and datname = current_database()";
  const sleeps = until(async () => (await admin.query(sleeping)).rowCount === 1);
  await Promise.race([sleeps, killed.ended.then(() => assert.fail(killed.output()))]);
  const migrating = [1, 2].map(() => start(project.path, "db", "setup"));
  const next = start(project.path, "start");
  await next.said(/Another process migrates the database\. It has had \d+ of \d+ migrations/);
  for (const one of migrating) await one.said(/Another process migrates: this one waits/);
  await allAreWell();

  await owner.query("update api_meta.pace set seconds = 0");
  killed.kill("SIGKILL");
  for (const one of migrating) assert.equal(await one.ended, 0, one.output());
  const address = await addressOf(next);
  // Both serve, each what it knows
  await allAreWell();
  const shelves = "{ shelves(first: 1) { edges { node { label } } } }";
  assert.match(JSON.stringify(await clients[0]!.ask(shelves)), /Cannot query field/);
  clients[0]!.address = address;
  assert.equal((await clients[0]!.ask(shelves)).data.shelves.edges.length, 0);
  await allAreWell();
  clients[1]!.address = address;
  await allAreWell();
  old.kill("SIGTERM");
  assert.equal(await old.ended, 0, old.output());
  await allAreWell();

  // A machine of the old code that starts late finds nothing to do, and serves
  const late = start(undefined, "db", "setup");
  assert.equal(await late.ended, 0, late.output());
});

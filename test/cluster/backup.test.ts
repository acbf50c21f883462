import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import {
  checkBackup,
  chooseBackup,
  listBackups,
  makeBackup,
  restoreBackup,
} from "../../src/cluster/backups.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { setUpDatabase } from "../../src/migrations/open-database.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { runCommand, temporaryFolder } from "../commands/process.ts";
import { gid } from "../lib/ids.ts";
import { copyPrepared, unsafe } from "../lib/prepared.ts";
import { startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// A Postgres with the demonstration shop, and a service on it where stock is booked all the time
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let cluster: Cluster | undefined;
let service: TestProcess | undefined;
let admin: pg.Client;
let writer: Writer;
/** The folder of a backup that was made under load. */
let backup: string;
/** The folder of backups; its name has what a shell could misread. */
let backups: string;

before(async () => {
  folder = await temporaryFolder();
  backups = join(folder.path, "anna's 100% backups");
  const home = join(folder.path, "home");
  await copyPrepared(home);
  cluster = await startCluster({ directory: home, flags: unsafe });
  await dropOthers(cluster.adminUrl("postgres"));
  const adminUrl = cluster.adminUrl("erp");
  const loginUrl = (await setUpDatabase(adminUrl, { renewPassword: true }))!;
  admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const owner = new pg.Client({ connectionString: urlAsOwner(adminUrl) });
  await owner.connect();
  const credentials = await createCredential(owner, { name: "writer", read: "all", write: "all" });
  await owner.end();
  service = await startProcess({ loginUrl });
  writer = new Writer(service, await service.tokenFor(credentials), await bookable());
});
after(async () => {
  await writer?.stop();
  await service?.close();
  await admin?.end();
  await cluster?.stop();
  await folder.remove();
});

/** Drops all databases but the service's own, which would only be copied to and fro. */
async function dropOthers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where datname !~ '^(erp|postgres|template[01])$'",
  );
  for (const { name } of rows) await client.query(`drop database ${name}`);
  await client.end();
}

/** Global ids of a product and of a warehouse. */
async function bookable() {
  const { rows } = await admin.query<{ product: string; warehouse: string }>(
    `select p.id as product, w.id as warehouse from ledger.stock s join erp.product p on p.id = s.product_id
       join erp.warehouse w on w.id::text = s.place where not p.is_batch_managed order by p.id, w.id limit 1`,
  );
  return {
    productId: gid("Product", rows[0]!.product),
    place: { warehouseId: gid("Warehouse", rows[0]!.warehouse) },
  };
}

/** A client that books while it may, and remembers what the service confirmed. */
class Writer {
  readonly confirmed: string[] = [];
  readonly #service: TestProcess;
  readonly #token: string;
  readonly #line: object;
  #isToBook = false;
  #booking = Promise.resolve();

  constructor(service: TestProcess, token: string, place: object) {
    this.#service = service;
    this.#token = token;
    this.#line = { ...place, delta: 1 };
  }

  start(): void {
    this.#isToBook = true;
    this.#booking = this.#book();
    this.#booking.catch(() => {});
  }

  async #book(): Promise<void> {
    const query =
      "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { stockMovements { id } userErrors { message } } }";
    while (this.#isToBook) {
      const variables = { input: { lines: [this.#line] } };
      const { body, text } = await this.#service.ask(this.#token, { query, variables });
      const [movement] = body.data?.stockAdjust?.stockMovements ?? [];
      assert.ok(movement, text);
      this.confirmed.push(movement.id);
      await sleep(20); // As clients do
    }
  }

  /** Waits until it has booked something more. */
  async more(): Promise<void> {
    const count = this.confirmed.length + 3;
    const ended = this.#booking.then(() => assert.fail("nobody books"));
    await Promise.race([until(() => this.confirmed.length >= count), ended]);
  }

  stop(): Promise<void> {
    this.#isToBook = false;
    return this.#booking;
  }
}

/** Restores to a new folder, and reads which movements are there, and whether the books are right. */
async function movementsIn(backup: string): Promise<Set<string>> {
  const directory = join(folder.path, "restored");
  await restoreBackup(backup, directory);
  const copy = await startCluster({ directory, flags: unsafe });
  const client = new pg.Client({ connectionString: copy.adminUrl("erp") });
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>("select id from ledger.stock_movement");
    assert.deepEqual((await client.query("select * from ledger.proof limit 5")).rows, []);
    return new Set(rows.map(({ id }) => gid("StockMovement", id)));
  } finally {
    await client.end();
    await copy.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

test("a backup under load has all that was confirmed before it, and its books are right", async () => {
  writer.start();
  await writer.more();
  const before = [...writer.confirmed];
  backup = await makeBackup(cluster!.adminUrl("postgres"), backups);
  assert.ok(writer.confirmed.length > before.length, "beside the writer");
  await writer.stop();
  const movements = await movementsIn(backup);
  assert.deepEqual(
    before.filter((id) => !movements.has(id)),
    [],
  );
});

const refused = (from: string, message: RegExp) =>
  assert.rejects(restoreBackup(from, join(folder.path, "refused")), { name: "UserError", message });

test("a restore never writes over data", async (t) => {
  await mkdir(join(folder.path, "refused/postgres"), { recursive: true });
  t.after(() => rm(join(folder.path, "refused"), { recursive: true }));
  await refused(backup, /refused\/postgres exists/);
});

/** Changes a byte in the middle of a file. */
async function damage(path: string): Promise<void> {
  const content = await readFile(path);
  content[content.length >> 1]! ^= 1;
  await writeFile(path, content);
}

test("damaged and incomplete backups are refused, by a check as well, and nothing is left of the attempt", async () => {
  const base = "base.tar.gz";
  const cases: ((from: string) => Promise<void>)[] = [
    (from) => damage(join(from, base)),
    (from) => truncate(join(from, base), 100_000),
    (from) => damage(join(from, "pg_wal.tar.gz")),
    (from) => rm(join(from, "pg_wal.tar.gz")),
  ];
  for (const spoil of cases) {
    const from = join(folder.path, "spoilt", basename(backup));
    await cp(backup, from, { recursive: true });
    await spoil(from);
    await refused(from, /The backup .* is damaged: /);
    await assert.rejects(checkBackup(from), { name: "UserError", message: /is damaged: / });
    assert.deepEqual(await readdir(join(folder.path, "refused")), []);
    await rm(from, { recursive: true });
  }
  const unfinished = join(folder.path, "unfinished");
  await cp(backup, join(unfinished, `${basename(backup)}.unfinished`), { recursive: true });
  for (const from of [unfinished, join(folder.path, "nowhere")])
    await assert.rejects(chooseBackup(from), { message: /There is no complete backup in/ });
});

test("the commands say what they did and found", async () => {
  await service!.close();
  service = undefined;
  // That of another cluster stays
  const foreign = join(backups, "20200101T000000Z-1");
  await mkdir(foreign);
  const home = join(folder.path, "home");
  const settings = { DATA_DIRECTORY: home };
  const made = await runCommand(["backup.ts", "--to", backups, "--keep", "1"], settings);
  assert.equal(made.code, 0, made.output);
  assert.match(made.output, /Removed 1 older backups/);
  const [other, kept, ...more] = await listBackups(backups);
  assert.ok(
    made.output.includes(kept!.folder) && other!.folder === foreign && more.length === 0,
    made.output,
  );

  const checked = await runCommand(["restore.ts", "--from", backups, "--check"], settings);
  assert.deepEqual(
    [checked.code, /^The backup .* is whole\./.test(checked.output)],
    [0, true],
    checked.output,
  );
  const elsewhere = join(folder.path, "elsewhere");
  const back = await runCommand(["restore.ts", "--from", backups, "--to", elsewhere], settings);
  assert.equal(back.code, 0, back.output);
  assert.match(back.output, /ledger\.proof is empty: the books are right\./);
  assert.match(back.output, /It has \d+ movements of stock and \d+ orders; the newest event is of 20/);
  const twice = await runCommand(["restore.ts", "--from", backups, "--to", elsewhere], settings);
  assert.deepEqual([twice.code, /exists\. Restore to another folder/.test(twice.output)], [1, true]);
  const ownPostgres = { DATABASE_URL: cluster!.adminUrl("erp") };
  const refusal = await runCommand(["backup.ts", "--to", backups], ownPostgres);
  assert.deepEqual([refusal.code, /use pg_dump, pgBackRest/.test(refusal.output)], [1, true]);
});

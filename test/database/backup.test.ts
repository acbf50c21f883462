import assert from "node:assert/strict";
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { makeBackup } from "../../src/database/backup/make-backup.ts";
import { listBackups, manifestFiles } from "../../src/database/backup/manifest.ts";
import type { Backup } from "../../src/database/backup/manifest.ts";
import { restoreBackup } from "../../src/database/backup/restore.ts";
import type { RestoreOptions } from "../../src/database/backup/restore.ts";
import { startCluster } from "../../src/database/cluster/cluster.ts";
import type { Cluster } from "../../src/database/cluster/cluster.ts";
import { setUpDatabase } from "../../src/database/open.ts";
import { urlAsOwner } from "../../src/database/roles.ts";
import { runCommand, temporaryFolder } from "../commands/process.ts";
import { gid } from "../lib/ids.ts";
import { copyPrepared, unsafe } from "../lib/prepared.ts";
import { startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// A Postgres with the demonstration shop that archives its log, and a service on it where stock is booked all the time
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let cluster: Cluster | undefined;
let service: TestProcess | undefined;
let admin: pg.Client;
let writer: Writer;
let backup: Backup;
/** The folder of backups; its name has what a shell could misread. */
let backups: string;

before(async () => {
  folder = await temporaryFolder();
  backups = join(folder.path, "anna's 100% backups");
  const home = join(folder.path, "home");
  await copyPrepared(home);
  cluster = await startCluster({ directory: home, backups, flags: unsafe });
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

/** The moment, by the clock of Postgres. */
const now = async () => (await admin.query<{ at: Date }>("select clock_timestamp() as at")).rows[0]!.at;

let restores = 0;
/** Restores to a new folder, and reads which movements are there, and whether the books are right. */
async function restored(options: Partial<RestoreOptions> = {}) {
  const directory = join(folder.path, `restored-${++restores}`);
  const result = await restoreBackup({ from: backups, directory, ...options });
  const copy = await startCluster({ directory, flags: unsafe });
  const client = new pg.Client({ connectionString: copy.adminUrl("erp") });
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>("select id from ledger.stock_movement");
    assert.deepEqual((await client.query("select * from ledger.proof limit 5")).rows, []);
    return { ...result, movements: new Set(rows.map(({ id }) => gid("StockMovement", id))) };
  } finally {
    await client.end();
    await copy.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * A backup alone, as links to its files.
 *
 * @param isPart whether a file is part of it; by default all are
 */
async function copyOf(
  { folder: from, name, manifest }: Backup,
  isPart: (path: string) => boolean = () => true,
): Promise<string> {
  const to = join(folder.path, "copies", name);
  await rm(to, { recursive: true, force: true });
  const files = manifest.files.filter(({ path }) => isPart(path));
  for (const part of new Set(files.map(({ path }) => dirname(path))))
    await mkdir(join(to, "data", part), { recursive: true });
  await Promise.all(files.map(({ path }) => link(join(from, "data", path), join(to, "data", path))));
  for (const [path, text] of Object.entries(manifestFiles({ ...manifest, files })))
    await writeFile(join(to, path), text);
  return to;
}

const refused = (options: Partial<RestoreOptions>, message: RegExp) =>
  assert.rejects(restoreBackup({ from: backups, directory: join(folder.path, "refused"), ...options }), {
    name: "UserError",
    message,
  });

test("a backup under load has all that was confirmed before it, and its books are right", async () => {
  writer.start();
  await writer.more();
  const before = [...writer.confirmed];
  const shares: number[] = [];
  const onProgress = (done: number, total: number) => void shares.push(done / total);
  backup = await makeBackup(cluster!.adminUrl("postgres"), { to: backups, onProgress });
  assert.ok(writer.confirmed.length > before.length, "beside the writer");
  assert.ok(shares[0] === 0 && shares.length > 10 && shares.at(-1)! > 0.9);
  await writer.stop();
  // Alone, without the archived log
  const { movements, segments } = await restored({ from: await copyOf(backup) });
  assert.equal(segments, 0);
  assert.deepEqual(
    before.filter((id) => !movements.has(id)),
    [],
  );
});

test("the archived log restores a moment, and everything", async () => {
  writer.start();
  await writer.more();
  await writer.stop();
  const before = writer.confirmed.length;
  // A millisecond that is over before anything else is committed
  const moment = new Date((await now()).getTime() + 1);
  await until(async () => (await now()) > moment);
  writer.start();
  await writer.more();
  await writer.stop();
  const { rows } = await admin.query<{ name: string }>("select pg_walfile_name(pg_switch_wal()) as name");
  await until(async () => (await readdir(await archive())).includes(`${rows[0]!.name}.gz`));

  const whole = await restored();
  assert.ok(whole.segments > 0 && whole.lastCommit !== null);
  assert.deepEqual(
    writer.confirmed.filter((id) => !whole.movements.has(id)),
    [],
  );
  const { movements } = await restored({ until: moment });
  const isThere = writer.confirmed.map((id) => movements.has(id));
  assert.ok(!isThere.slice(0, before).includes(false), "all of before");
  assert.ok(!isThere.slice(before).includes(true), "nothing of after");
});

const archive = async () => {
  const [first] = await readdir(join(backups, "wal"));
  return join(backups, "wal", first!);
};

test("a moment that can't be reached is refused, and nothing is left of the attempt", async (t) => {
  await refused(
    { until: new Date(Date.parse(backup.manifest.begunAt) - 1) },
    /The oldest backup in .* ended at/,
  );
  await refused({ from: await copyOf(backup), until: await now() }, /without an archived write-ahead log/);
  await refused({ until: new Date(Date.now() + 60_000) }, /ends before .*: its last transaction is of 20/);
  assert.deepEqual(await readdir(join(folder.path, "refused")), []);
  await mkdir(join(folder.path, "refused/postgres"));
  t.after(() => rm(join(folder.path, "refused"), { recursive: true }));
  await refused({}, /refused\/postgres exists/);
});

/** Puts another file, with a changed byte in its middle, in the place of a file. */
async function damage(path: string): Promise<void> {
  const content = await readFile(path);
  // Near the beginning: farther on, a compressed segment is a run of zeros, which some other bits mean as well
  content[Math.min(100, content.length >> 1)]! ^= 1;
  await rm(path);
  await writeFile(path, content);
}

test("damaged and incomplete backups are refused, by a check as well", async () => {
  const control = "data/global/pg_control";
  const cases: [(from: string) => Promise<void>, RegExp][] = [
    [(from) => damage(join(from, control)), /is damaged: global\/pg_control is not as it was copied/],
    [(from) => rm(join(from, control)), /is damaged: global\/pg_control is missing/],
    [(from) => damage(join(from, "manifest.json")), /is damaged: manifest.json is not as it was written/],
    [(from) => rm(join(from, "manifest.json")), /There is no complete backup in/],
  ];
  // As many files as show it
  const isPart = (path: string) => /^[^/]+$|^global\//.test(path);
  for (const [spoil, message] of cases) {
    const from = await copyOf(backup, isPart);
    await spoil(from);
    await refused({ from, isCheck: true }, message);
  }
  const from = await copyOf(backup, isPart);
  await damage(join(from, "data/PG_VERSION"));
  await refused({ from }, /is damaged: PG_VERSION is not as it was copied/);
  await refused({ from: join(folder.path, "nowhere") }, /There is no complete backup in/);
});

test("gaps and damage in the archived log are refused", async () => {
  const segments = (await readdir(await archive())).filter((name) => name.endsWith(".gz")).sort();
  const path = join(await archive(), segments.at(-1)!);
  // As if one more had been archived, and this one not
  const next = path.replace(/.{8}(?=\.gz$)/, (digits) => `${digits.slice(0, 4)}00FF`);
  await rename(path, next);
  await refused({ isCheck: true }, /lacks a segment before/);
  await rename(next, path);
  await damage(path);
  await refused({ isCheck: true }, /The segment \w{24} of the archive .* can't be read/);
});

test("the commands say what they did and found", async () => {
  await service!.close();
  service = undefined;
  const home = join(folder.path, "home");
  const settings = { DATA_DIRECTORY: home };
  const made = await runCommand(["backup", "--to", backups, "--keep", "1"], settings);
  assert.equal(made.code, 0, made.output);
  assert.match(made.output, /Removed 1 older backups and [1-9]\d* segments/);
  const [kept, ...others] = await listBackups(backups);
  assert.ok(made.output.includes(kept!.folder) && others.length === 0, made.output);

  const elsewhere = join(folder.path, "elsewhere");
  const back = await runCommand(["restore", "--from", backups, "--to", elsewhere], settings);
  assert.equal(back.code, 0, back.output);
  assert.match(back.output, /ledger\.proof is empty: the books are right\./);
  assert.match(back.output, /It has \d+ movements of stock and \d+ orders; the newest event is of 20/);
  const twice = await runCommand(["restore", "--from", backups, "--to", elsewhere], settings);
  assert.deepEqual([twice.code, /exists\. Restore to another folder/.test(twice.output)], [1, true]);
  const foreign = await runCommand(["backup", "--to", backups], {
    DATABASE_URL: cluster!.adminUrl("erp"),
  });
  assert.deepEqual([foreign.code, /use pg_dump, pgBackRest/.test(foreign.output)], [1, true]);
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { openDatabase } from "../../src/migrations/open-database.ts";
import { parseSettings } from "../../src/process/settings.ts";
import { runCommand, temporaryFolder } from "../commands/process.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import { copyPrepared, unsafe } from "../lib/prepared.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let programs: string;
before(async () => {
  folder = await temporaryFolder();
  programs = dumpPrograms ?? (await standIns());
});
after(() => folder.remove());

const at = (name: string) => join(folder.path, name);

/** Programs for where Postgres' own aren't: a dump is a word, and restoring one runs the migrations. */
async function standIns(): Promise<string> {
  const bin = at("bin");
  await mkdir(bin);
  const open = fileURLToPath(new URL("../../src/migrations/open-database.ts", import.meta.url));
  const code = `import { setUpDatabase } from ${JSON.stringify(open)};
    const url = new URL(process.argv.find((word) => word.startsWith("--dbname=")).slice(9));
    url.password = process.env.PGPASSWORD;
    await setUpDatabase(url.href, {});`;
  await writeFile(at("bin/restore.mjs"), code);
  const restore = `case "$*" in --version) echo "pg_restore (PostgreSQL) 18.4" ;;
    *torn*) echo "pg_restore: error: could not read" >&2; exit 1 ;;
    *) exec ${process.execPath} ${at("bin/restore.mjs")} "$@" ;; esac`;
  const dump = `case "$*" in --version) echo "pg_dump (PostgreSQL) 18.4" ;; *) echo dump > "\${2#--file=}" ;; esac`;
  for (const [name, text] of Object.entries({ pg_restore: restore, pg_dump: dump }))
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return bin;
}

test("the data move to another major version of Postgres, by the steps of docs/guides/backups.md", async () => {
  const home = at("data");
  await copyPrepared(home);
  const cluster = await startCluster({ directory: home, flags: unsafe });
  const PATH = `${programs}${delimiter}${process.env.PATH}`;
  const dump = at("erp.dump");
  const words = ["--format=custom", `--file=${dump}`, `--dbname=${cluster.adminUrl("erp")}`];
  try {
    await promisify(execFile)("pg_dump", words, { env: { ...process.env, PATH } });
  } finally {
    await cluster.stop();
  }

  // As if the new code had a newer Postgres
  await writeFile(join(home, "postgres/PG_VERSION"), "17\n");
  const settings = { DATA_DIRECTORY: home, PATH };
  const production = parseSettings({ ...settings, NODE_ENV: "production", RUN_AS: "root" });
  await assert.rejects(openDatabase(production), {
    name: "UserError",
    message: /belongs to Postgres 17, but this is Postgres 18\. docs\/guides\/backups\.md/,
  });
  const taken = await runCommand(["restore", "--from", dump], settings);
  assert.deepEqual([taken.code, /has data\. Restore to another folder/.test(taken.output)], [1, true]);
  assert.equal(await readFile(join(home, "postgres/PG_VERSION"), "utf8"), "17\n");

  await rename(home, at("data-17"));
  await writeFile(at("torn.dump"), "torn");
  const torn = await runCommand(["restore", "--from", at("torn.dump")], settings);
  assert.equal(torn.code, 1, torn.output);
  assert.match(torn.output, /pg_restore at .* failed: pg_restore: error/);
  assert.deepEqual(await readdir(home), [], "nothing is left of it");

  const restored = await runCommand(["restore", "--from", dump], settings);
  assert.equal(restored.code, 0, restored.output);
  assert.match(restored.output, /It has \d+ movements of stock and \d+ orders;/);
  assert.match(restored.output, /ledger\.proof is empty: the books are right\./);
  const database = await openDatabase(production);
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ count: number }>("select api_meta.migration_count() as count"),
  );
  await database.close();
  assert.ok(rows[0]!.count > 0 && !database.wantsDemo);
});

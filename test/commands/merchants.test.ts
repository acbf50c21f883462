import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { withClient } from "../../src/postgres/client.ts";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { forgetMerchant, storeMerchant } from "../../src/merchants/directory.ts";
import { runAllOn } from "./process.ts";

const program = fileURLToPath(new URL("../../src/commands/erp.ts", import.meta.url));
const adminUrl = process.env.TEST_ADMIN_URL!;
const name = `command-${process.pid}`;
const moved = `moved_${name}`;
let folder: string;

interface Ended {
  code: number;
  /** What it printed, on either way. */
  text: string;
}

const merchants = (...words: string[]): Promise<Ended> => merchantsAt(adminUrl, ...words);

const merchantsAt = (databaseUrl: string, ...words: string[]): Promise<Ended> =>
  merchantsWith({ DATABASE_URL: databaseUrl }, ...words);

const merchantsWith = (settings: Record<string, string>, ...words: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, MERCHANTS: folder, ...settings };
    execFile(process.execPath, [program, "merchants", ...words], { env, cwd: folder }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
  });

/** Those of merchants. */
const files = async () => (await readdir(folder)).filter((file) => file !== ".lock");

async function connects(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query<{ count: number }>("select api_meta.migration_count() as count")).rows[0]!
      .count > 0
      ? "yes"
      : "empty";
  } catch (error) {
    return (error as pg.DatabaseError).code;
  } finally {
    await client.end().catch(() => {});
  }
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "merchants-"));
});
after(async () => {
  await merchants("remove", name, "--drop");
  await withClient(adminUrl, async (admin) => {
    for (const each of [moved, merchantDatabaseName(name)])
      await admin.query(`drop database if exists "${each}" with (force)`);
  });
  await rm(folder, { recursive: true, force: true });
});

/** A program of an older Postgres can't copy it, and without it nothing happens. */
async function refusesOldPrograms(): Promise<void> {
  await writeFile(join(folder, "pg_dump"), "#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.18'\n", { mode: 0o755 });
  const elsewhere = Object.assign(new URL(adminUrl), { hostname: "localhost" }).href;
  const settings = { DATABASE_URL: elsewhere, FROM_DATABASE_URL: adminUrl, PATH: folder };
  const { code, text } = await merchantsWith(settings, "move", name);
  assert.match(text, /pg_dump is 15, pg_restore is missing\. Install .* postgresql-client-18/);
  assert.equal(code, 1);
  await rm(join(folder, "pg_dump"));
}

suite("npx erp merchants", () => {
  test("adds a merchant with a migrated database, migrates, suspends, and removes it", async () => {
    // Whoever administers is named by parameters, which come before the role of the merchant
    const { username, password } = new URL(adminUrl);
    const withUser = Object.assign(new URL(adminUrl), { username: "", password: "" });
    withUser.search = new URLSearchParams({ user: username, password }).toString();
    const added = await merchantsAt(withUser.href, "add", name, "--host", "Shop.example");
    assert.equal(added.code, 0, added.text);
    assert.match(added.text, /client_secret {2}sk_/);
    // Databases that every role may open are named
    assert.match(added.text, /revoke connect on database "postgres" from public/);
    const file = join(folder, `${name}.env`);
    const url = /DATABASE_URL="(.*)"/.exec(await readFile(file, "utf8"))![1]!;
    assert.equal(await connects(url), "yes");
    assert.equal(new URL(url).search, "");

    const again = await merchants("add", name, "--host", "other.example");
    assert.deepEqual([again.code, /There is a merchant/.test(again.text)], [1, true]);
    const taken = await merchants("add", "other", "--host", "shop.example");
    assert.deepEqual([taken.code, /A host of these/.test(taken.text)], [1, true]);
    assert.notEqual((await merchants("add", "Wrong_name", "--host", "wrong.example")).code, 0);
    assert.deepEqual(await files(), [`${name}.env`]);

    // One that fails doesn't stop the others, and is named
    const gone = { name: "gone", databaseUrl: urlOfDatabase(url, "gone"), hosts: [], hasPath: true };
    await storeMerchant(folder, { ...gone, state: "active" });
    const migrated = await merchants("migrate", "--at-once", "1");
    assert.equal(migrated.code, 1);
    assert.match(migrated.text, new RegExp(`2 of 2: `));
    assert.match(migrated.text, /1 failed.*run it again for gone/);
    await forgetMerchant(folder, "gone");
    assert.equal((await merchants("migrate", name)).code, 0);
    // Its login still serves, and nobody's secret is in the list
    assert.equal(await connects(url), "yes");
    const early = await merchants("move", name, "--copied");
    assert.deepEqual([early.code, /Suspend .* first/.test(early.text)], [1, true]);
    assert.equal((await merchants("suspend", name)).code, 0);
    const { text } = await merchants("list");
    assert.match(text, new RegExp(`^${name}\\tsuspended\\tshop\\.example\\t.*/merchant_${name}\\n`));
    assert.doesNotMatch(text, new RegExp(new URL(url).password));

    await withClient(adminUrl, (admin) =>
      admin.query(`create database "${moved}" template "${merchantDatabaseName(name)}" owner service_owner`),
    );
    const move = await merchantsAt(urlOfDatabase(adminUrl, moved), "move", name, "--copied");
    assert.equal(move.code, 0, move.text);
    const next = /DATABASE_URL="(.*)"/.exec(await readFile(file, "utf8"))![1]!;
    assert.equal(new URL(next).pathname, `/${moved}`);
    assert.equal(await connects(next), "yes");
    assert.equal((await merchants("resume", name)).code, 0);
    await refusesOldPrograms();
    const refused = await merchants("remove", name, "--drop");
    assert.deepEqual([refused.code, await files()], [1, [`${name}.env`]]);
    assert.match(refused.text, new RegExp(`drop database "${merchantDatabaseName(name)}"`));
    await withClient(adminUrl, (admin) =>
      admin.query(`drop database "${merchantDatabaseName(name)}" with (force)`),
    );

    assert.equal((await merchants("remove", name, "--drop")).code, 0);
    assert.deepEqual(await files(), []);
    assert.equal(await connects(next), "28P01");
  });

  test("a wrong file keeps no command from the others, and is named", async () => {
    const [whole, torn] = ["whole", "torn"].map((one) => ({ one, file: join(folder, `${one}.env`) }));
    await storeMerchant(folder, {
      ...{ name: "whole", databaseUrl: "postgres://127.0.0.1:1/none", hosts: ["whole.example"] },
      ...{ hasPath: false, state: "active" },
    });
    await writeFile(torn!.file, "DATABASE_URL=nowhere\n");
    const lines = [
      ["list"],
      ["suspend", "whole"],
      ["suspend", "torn"],
      ["add", "torn", "--host", "torn.example"],
      ["migrate", "torn"],
      ["remove", "torn", "--drop"],
      ["remove", "torn"],
      ["list"],
    ];
    const settings = { MERCHANTS: folder };
    const done = await runAllOn(
      adminUrl,
      "merchants",
      lines.map((args) => ({ args, settings })),
    );
    const fault = /The merchant torn has an invalid DATABASE_URL\./;
    const [list, suspended, unsuspended, added, migrated, dropped, removed, rest] = done;
    assert.match(
      list!.stdout,
      /^whole\tactive\t.*\ntorn\twrong\tThe merchant torn has an invalid DATABASE_URL\.\n$/,
    );
    assert.match(suspended!.stderr, /^whole is suspended/);
    for (const one of [unsuspended!, dropped!])
      assert.match(
        one.stderr,
        /has an invalid DATABASE_URL\. Mend its file in .*: npx erp merchants remove torn/,
      );
    assert.match(added!.stderr, /There is a merchant “torn” already/);
    assert.match(migrated!.stderr, fault);
    assert.match(removed!.stderr, /^torn is served no more\./);
    assert.match(rest!.stdout, /^whole\tsuspended\t.*\n$/);
    assert.deepEqual(
      done.map(({ exitCode }) => exitCode),
      [0, 0, 1, 1, 1, 1, 0, 0],
    );
    await rm(whole!.file);
  });
});

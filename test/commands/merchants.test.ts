import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";

const program = fileURLToPath(new URL("../../src/commands/merchants.ts", import.meta.url));
const adminUrl = process.env.TEST_ADMIN_URL!;
const name = `command-${process.pid}`;
let folder: string;

interface Ended {
  code: number;
  /** What it printed, on either way. */
  text: string;
}

const merchants = (...words: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, MERCHANTS: folder, DATABASE_URL: adminUrl };
    execFile(process.execPath, [program, ...words], { env, cwd: folder }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
  });

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
  await rm(folder, { recursive: true, force: true });
});

suite("npm run merchants", () => {
  test("adds a merchant with a migrated database, migrates, suspends, and removes it", async () => {
    const added = await merchants("add", name, "--host", "Shop.example");
    assert.equal(added.code, 0, added.text);
    assert.match(added.text, /client_secret {2}sk_/);
    // Databases that every role may open are named
    assert.match(added.text, /revoke connect on database "postgres" from public/);
    const file = join(folder, `${name}.env`);
    const url = /DATABASE_URL="(.*)"/.exec(await readFile(file, "utf8"))![1]!;
    assert.equal(await connects(url), "yes");

    const again = await merchants("add", name, "--host", "other.example");
    assert.deepEqual([again.code, /There is a merchant/.test(again.text)], [1, true]);
    const taken = await merchants("add", "other", "--host", "shop.example");
    assert.deepEqual([taken.code, /A host of these/.test(taken.text)], [1, true]);
    assert.notEqual((await merchants("add", "Wrong_name", "--host", "wrong.example")).code, 0);
    assert.deepEqual(await readdir(folder), [`${name}.env`]);

    const migrated = await merchants("migrate");
    assert.equal(migrated.code, 0, migrated.text);
    assert.match(migrated.text, new RegExp(`1 of 1: ${name}`));
    // Its login still serves, and nobody's secret is in the list
    assert.equal(await connects(url), "yes");
    assert.equal((await merchants("suspend", name)).code, 0);
    const { text } = await merchants("list");
    assert.match(text, new RegExp(`^${name}\\tsuspended\\tshop\\.example\\t.*/merchant_${name}\\n`));
    assert.doesNotMatch(text, new RegExp(new URL(url).password));

    assert.equal((await merchants("remove", name, "--drop")).code, 0);
    assert.deepEqual(await readdir(folder), []);
    assert.equal(await connects(url), "28P01");
  });
});

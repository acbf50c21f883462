// What src/migrations/graphile-migrate-private.ts relies on. When an upgrade changes it, one of these fails, or
// test/commands/graphile-migrate.test.ts, which compares what both programs do.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compile } from "graphile-migrate";
import * as inside from "../../src/migrations/graphile-migrate-private.ts";
import type { ParsedSettings } from "../../src/migrations/graphile-migrate-private.ts";
import { migrationsFolder } from "../../src/migrations/migration-files.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "migrations-"));
  for (const part of ["fixtures", "committed", "current"]) await mkdir(join(folder, part));
  await writeFile(join(folder, "fixtures/one.sql"), "select 1;\n");
});
after(() => rm(folder, { recursive: true }));

const text = "--!include one.sql\nselect ':DATABASE_NAME';\n";

test("includes and placeholders are compiled as by its public function", async () => {
  const settings = { connectionString: "postgres://127.0.0.1/erp", migrationsFolder: folder };
  const parsed = await inside.parseSettings({ ...settings, databaseOwner: "service_owner" });
  const included = await inside.compileIncludes(parsed, text, new Set());
  assert.equal(
    included,
    "--! Included one.sql\nselect 1;\n--! EndIncluded one.sql\nselect ':DATABASE_NAME';\n",
  );
  const compiled = inside.compilePlaceholders(parsed, included);
  assert.match(compiled, /select 'erp'/);
  assert.equal(compiled, await compile(settings, text));
  await assert.rejects(
    inside.compileIncludes(parsed, "--!include two.sql", new Set()),
    /^Error: Include of 'two.sql' failed/,
  );
});

test("committed files are read, hashed and written as they are", async () => {
  const all = await inside.getAllMigrations({ migrationsFolder } as ParsedSettings);
  for (const { body, hash, previousHash, fullPath, message } of all) {
    assert.equal(inside.calculateHash(body, previousHash), hash, fullPath);
    const headers = { Previous: previousHash ?? "-", Hash: hash, Message: message ?? undefined };
    const written = inside.serializeMigration(body, headers);
    assert.equal(written, await readFile(fullPath, "utf8"));
    assert.equal(inside.parseMigrationText(fullPath, written).body, body);
  }
  const after = await inside.getMigrationsAfter({ migrationsFolder } as ParsedSettings, all.at(-2) ?? null);
  assert.deepEqual(
    after.map(({ hash }) => hash),
    [all.at(-1)?.hash],
  );
  assert.equal(inside.sluggify("Product's weight"), "product-s-weight");
});

test("a text is written to the files of db/current that its lines name", async () => {
  const settings = { migrationsFolder: folder, blankMigrationContent: "" } as ParsedSettings;
  const location = await inside.getCurrentMigrationLocation(settings);
  await inside.writeCurrentMigration(settings, location, "--! split: 5-try.sql\nselect 5;\n");
  assert.equal(await readFile(join(folder, "current/5-try.sql"), "utf8"), "select 5;\n");
});

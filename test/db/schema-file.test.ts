import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { withClient } from "../../src/postgres/client.ts";
import { hasCurrentMigration, migrateDatabase } from "../../src/migrations/migrations.ts";
import { printSchemas } from "../../src/migrations/schema-file.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

test("db/schema.sql is what the committed migrations make", async () => {
  // The template has the changes of db/current, the file doesn't
  const isPending = await hasCurrentMigration();
  const database = await openTestDatabase(isPending ? "template0" : "template_schema");
  try {
    if (isPending) await migrateDatabase(database.adminUrl);
    await assertSchemaFile(database);
  } finally {
    await database.close();
  }
});

test("a set-up that is cut off, and one that continues it, make the same", async () => {
  const database = await openTestDatabase("template0");
  try {
    const cutOff = migrateDatabase(database.adminUrl);
    await withClient(database.adminUrl, async (admin) => {
      const count = async () => {
        const { rows } = await admin.query(
          "select to_regclass('graphile_migrate.migrations') is not null as is_there",
        );
        if (!rows[0].is_there) return 0;
        return Number((await admin.query("select count(*) from graphile_migrate.migrations")).rows[0].count);
      };
      // From the 14th on, migrations have a trigger that derives what follows from them
      await until(async () => (await count()) > 20);
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await assert.rejects(cutOff);
    });
    await migrateDatabase(database.adminUrl);
    await assertSchemaFile(database);
  } finally {
    await database.close();
  }
});

async function assertSchemaFile({ ownerUrl }: TestDatabase): Promise<void> {
  const made = (await withClient(ownerUrl, printSchemas)).split("\n");
  const written = (await readFile(new URL("../../db/schema.sql", import.meta.url), "utf8")).split("\n");
  const line = made.findIndex((text, i) => text !== written[i]);
  const around = (lines: string[]) => lines.slice(Math.max(line - 3, 0), line + 3).join("\n");
  if (line !== -1)
    assert.equal(
      around(written),
      around(made),
      `Line ${line + 1} differs: run \`npx erp db schema\`, and review what changes.`,
    );
  assert.equal(written.length, made.length);
}

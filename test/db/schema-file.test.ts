import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { withClient } from "../../src/postgres/client.ts";
import { hasCurrentMigration, migrateDatabase } from "../../src/migrations/migrations.ts";
import { printSchemas } from "../../src/migrations/schema-file.ts";
import { openTestDatabase } from "../lib/database.ts";

test("db/schema.sql is what the committed migrations make", async () => {
  // The template has the changes of db/current, the file doesn't
  const isPending = await hasCurrentMigration();
  const database = await openTestDatabase(isPending ? "template0" : "template_schema");
  try {
    if (isPending) await migrateDatabase(database.adminUrl);
    const made = (await withClient(database.ownerUrl, printSchemas)).split("\n");
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
  } finally {
    await database.close();
  }
});

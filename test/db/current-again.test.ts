import assert from "node:assert/strict";
import { it } from "node:test";
import { hasCurrentMigration, runCurrentMigration } from "../../src/migrations/migrations.ts";
import { describeDifferences, readCatalogue } from "../lib/catalogue.ts";
import { useDatabase } from "../lib/database.ts";

const used = useDatabase("template_schema");

// `db:watch` runs it at each change: what a `drop … cascade` takes along must come back
it("db/current leaves the same database when it runs again", async () => {
  if (!(await hasCurrentMigration())) return;
  const read = () => readCatalogue(used.client as never);
  const once = await read();
  // Otherwise it is skipped, because its text is the same
  await used.client.query("delete from graphile_migrate.current");
  await runCurrentMigration(used.database.adminUrl);
  assert.deepEqual(describeDifferences(once, await read()), []);
});

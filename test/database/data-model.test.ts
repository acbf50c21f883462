import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import { printDataModel } from "../../src/database/data-model.ts";
import { useDatabase } from "../lib/database.ts";

const used = useDatabase("template_schema");

it("docs/data-model.md is that of the database (`npm run schema` writes it anew)", async () => {
  const text = await readFile(new URL("../../docs/data-model.md", import.meta.url), "utf8");
  assert.equal(await printDataModel(used.client), text);
});

it("a table that is in no topic, or in two, is refused with its name", async () => {
  await used.client.query("create table erp.forgotten (id uuid primary key)");
  await assert.rejects(() => printDataModel(used.client), /erp\.forgotten belongs in one topic/);
});

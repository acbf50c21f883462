import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import { printDataModel } from "../../src/commands/generated-files.ts";
import { useDatabase } from "../lib/database.ts";

const used = useDatabase("template_schema");

it("docs/reference/data-model.md is that of the database (`npm run schema` writes it)", async () => {
  const text = await readFile(new URL("../../docs/reference/data-model.md", import.meta.url), "utf8");
  assert.equal(await printDataModel(used.client), text);
});

it("a table that no topic names is drawn under Other tables", async () => {
  await used.client.query(
    "create table erp.forgotten (id uuid primary key, product_id uuid unique references erp.product)",
  );
  const [, others] = (await printDataModel(used.client)).split("## Other tables");
  assert.match(others!, /"erp\.forgotten" \{\s+uuid id PK\s+uuid product_id FK, UK "erp\.product"\s+\}/);
});

it("a table of two foreign keys and nothing else is a line", async () => {
  const text = await printDataModel(used.client);
  assert.match(text, /\n {2}"erp\.product" \}o--o\{ "erp\.tag" : product_tag\n/);
  assert.doesNotMatch(text, /"erp\.product_tag" \{/);
});

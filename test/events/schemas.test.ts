import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { printEventSchemas } from "../../src/webhooks/event-schemas.ts";
import { useDatabase } from "../lib/database.ts";

const folder = new URL("../../docs/events/", import.meta.url);

describe("docs/events", () => {
  const used = useDatabase("template_schema");

  it("is what the database says (`npm run schema` writes it)", async () => {
    const files = await printEventSchemas(used.client);
    assert.deepEqual((await readdir(folder)).sort(), files.map(([name]) => name).sort());
    for (const [name, text] of files) assert.equal(await readFile(new URL(name, folder), "utf8"), text, name);
  });

  it("describes every field", async () => {
    for (const [name, text] of await printEventSchemas(used.client)) {
      if (!name.endsWith(".json")) continue;
      const { properties } = JSON.parse(text).properties.data;
      for (const [field, { type, description }] of Object.entries<any>(properties)) {
        assert.ok(type, `${name}: ${field} has no type`);
        assert.match(description ?? "", /\S.*\.$/s, `${name}: ${field}`);
      }
    }
  });
});

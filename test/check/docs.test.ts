import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ddlRules } from "../../src/check/ddl/rules.ts";

test("docs/reference/check.md names every rule about dangerous statements, and no other in their table", async () => {
  const text = await readFile(new URL("../../docs/reference/check.md", import.meta.url), "utf8");
  const table = text.slice(text.indexOf("## What it finds"), text.indexOf("Changes that clients see"));
  const named = [...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name!);
  assert.deepEqual(named.sort(), Object.keys(ddlRules).sort());
});

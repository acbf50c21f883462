import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { readCurrent } from "../../src/database/migrations/migration-files.ts";

const folder = new URL("../../db/", import.meta.url);

/** The text of each fixture in the newest committed migration that includes it. */
async function newestCommitted(): Promise<Map<string, string>> {
  const newest = new Map<string, string>();
  for (const name of (await readdir(new URL("committed/", folder))).sort()) {
    const migration = await readFile(new URL(`committed/${name}`, folder), "utf8");
    const included = /^--! Included (\S+)\n([^]*?)^--! EndIncluded \1$/gm;
    for (const [, fixture, text] of migration.matchAll(included)) newest.set(fixture!, text!.trim());
  }
  return newest;
}

const fixtures = (await readdir(new URL("fixtures/", folder), { recursive: true }))
  .filter((name) => name.endsWith(".sql"))
  .map((name) => name.replaceAll("\\", "/"))
  .sort();
const committed = await newestCommitted();
// Uncommitted files will contain it later
const current = (await readCurrent()).map(({ text }) => text).join("\n");
const isPending = (name: string) => current.split("\n").some((line) => line === `--!include ${name}`);

describe("fixtures", () => {
  test("are what the newest migration that includes them says", async () => {
    const differing: string[] = [];
    for (const name of fixtures.filter((name) => !isPending(name))) {
      const text = await readFile(new URL(`fixtures/${name}`, folder), "utf8");
      if (committed.get(name) !== text.trim()) differing.push(name);
    }
    assert.deepEqual(differing, [], "Include these in a migration of db/current.");
  });

  test("lie by the schema that owns what they make, under its name", async () => {
    const misplaced: string[] = [];
    for (const name of fixtures.filter((name) => name !== "events/topics.sql")) {
      const text = await readFile(new URL(`fixtures/${name}`, folder), "utf8");
      const made = [...text.matchAll(/^ *create (?:or replace )?(?:function|view|type) (\w+\.\w+)/gm)];
      const wanted = name
        .replace(/\.sql$/, "")
        .replace("api/", "api_unstable/")
        .replace("/", ".");
      if (!made.some(([, object]) => object === wanted)) misplaced.push(name);
    }
    assert.deepEqual(misplaced, []);
  });
});

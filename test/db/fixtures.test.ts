import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { forgottenFixtures } from "../../src/check/fixtures.ts";

const folder = new URL("../../db/", import.meta.url);

const fixtures = (await readdir(new URL("fixtures/", folder), { recursive: true }))
  .filter((name) => name.endsWith(".sql"))
  .map((name) => name.replaceAll("\\", "/"))
  .sort();
describe("fixtures", () => {
  test("are what the newest migration that includes them says", async () => {
    assert.deepEqual(await forgottenFixtures.find({ scripts: [] } as never), []);
  });

  test("lie by the schema that owns what they make, under its name", async () => {
    const misplaced: string[] = [];
    for (const name of fixtures.filter((name) => name !== "events/topics.sql")) {
      const text = await readFile(new URL(`fixtures/${name}`, folder), "utf8");
      const creations =
        /^ *(?:create (?:or replace )?(?:function|view|type) |select api_meta\.add_upsert\(')(\w+\.\w+)/gm;
      const made = [...text.matchAll(creations)];
      const wanted = name
        .replace(/\.sql$/, "")
        .replace("api/", "api_unstable/")
        .replace("/", ".");
      if (!made.some(([, object]) => object === wanted)) misplaced.push(name);
    }
    assert.deepEqual(misplaced, []);
  });
});

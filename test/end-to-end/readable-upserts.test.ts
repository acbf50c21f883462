import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { parse, print } from "postgraphile/graphql";
import { committedSchema } from "./schema-walk.ts";
import { exportQuery, selectRow, unreadable, upserts } from "./round-trip.ts";

const schema = committedSchema("unstable");
const all = upserts(schema);

describe("what upserts set", () => {
  for (const { resource, input, output } of all)
    it(`${resource}: can be read, in the form in which it is set`, () => {
      assert.deepEqual(selectRow(input, output, "").missing, []);
    });

  it("has no exception that isn't needed any more", () => {
    for (const name of Object.keys(unreadable))
      assert.ok(
        all.some(({ input }) => name in input.getFields()),
        name,
      );
  });

  for (const upsert of all)
    it(`${upsert.resource}: has a query in the guide`, async () => {
      const file = new URL(`../../docs/guides/moving/${upsert.resource}.graphql`, import.meta.url);
      if (process.env.WRITE_QUERIES) await writeFile(file, exportQuery(upsert));
      const plain = (query: string) => print(parse(query));
      assert.equal(plain(await readFile(file, "utf8")), plain(exportQuery(upsert)));
    });
});

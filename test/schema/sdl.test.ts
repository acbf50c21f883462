import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { Pool } from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { buildSchema, findBreakingChanges, isScalarType } from "postgraphile/graphql";
import { createPool } from "../../src/postgres/pool.ts";
import { printVersion } from "../../src/versions/sdl.ts";
import { versions } from "../../src/versions/versions.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { describedThings } from "./described-things.ts";

let database: TestDatabase;
let pool: Pool;
let pgService: GraphileConfig.PgServiceConfiguration;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 2 });
  pgService = makePgService({ pool });
});
after(async () => {
  await pool?.end();
  await database?.close();
});

for (const version of versions) {
  const file = new URL(`../../schema/${version.slug}.graphql`, import.meta.url);

  describe(`the schema of ${version.slug}`, () => {
    it("is the committed one (`npm run schema` writes it)", async () => {
      assert.equal(await printVersion(version, pgService), await readFile(file, "utf8"));
    });

    it("describes everything, in words that are not the library's", async () => {
      const things = [...describedThings(buildSchema(await readFile(file, "utf8")))];
      assert.ok(things.length > 1000);
      const wrong = things.filter(([, description]) => {
        return !description?.trim() || /(^|\s)@[a-zA-Z]|Reads (a|and)|globally unique/.test(description);
      });
      assert.deepEqual(wrong, []);
    });

    if (version.kind === "stable") {
      it("offers all that it did when it was released", async () => {
        const released = await readFile(new URL(`../../schema/released/${version.slug}.graphql`, import.meta.url), "utf8");
        const broken = findBreakingChanges(buildSchema(released), buildSchema(await readFile(file, "utf8")));
        assert.deepEqual(broken, []);
      });
    }

    it("has no scalars but those of the specification, and days and exact amounts in unstable", async () => {
      const types = Object.values(buildSchema(await readFile(file, "utf8")).getTypeMap());
      const names = types.filter(isScalarType).map(({ name }) => name);
      const own = version.slug === "unstable" ? ["Date", "Decimal"] : [];
      assert.deepEqual(
        names.sort(),
        ["Boolean", "DateTime", "Float", "ID", "Int", "JSON", "String", ...own].sort(),
      );
    });
  });
}

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { buildSchema } from "postgraphile/graphql";
import { printSdl } from "../../src/graphql/print-sdl.ts";
import { describedThings } from "../schema/described-things.ts";
import { openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const snapshot = new URL("sample.graphql", import.meta.url);

describe("the schema of sample.sql", () => {
  it("is the one in sample.graphql (UPDATE_SNAPSHOTS=1 writes it)", async () => {
    const sdl = printSdl(sample.schema);
    if (process.env.UPDATE_SNAPSHOTS) await writeFile(snapshot, sdl);
    assert.equal(sdl, await readFile(snapshot, "utf8"));
  });

  it("is printed so that it can be read again", () => {
    const sdl = printSdl(sample.schema);
    assert.deepEqual(
      [...describedThings(buildSchema(sdl))].sort(),
      [...describedThings(sample.schema)].sort(),
    );
  });

  it("describes everything", () => {
    const missing = [...describedThings(sample.schema)].filter(([, description]) => !description?.trim());
    assert.deepEqual(missing, []);
  });

  it("shows no smart tag and no name of the library in descriptions", () => {
    const leaks = [...describedThings(sample.schema)].filter(([, description]) => {
      return /(^|\s)@[a-zA-Z]|postgraphile|smart|Reads (a|and)|globally unique/i.test(description ?? "");
    });
    assert.deepEqual(leaks, []);
  });

  it("has no mutations, subscriptions, or link tables", () => {
    assert.equal(sample.schema.getMutationType(), undefined);
    assert.equal(sample.schema.getSubscriptionType(), undefined);
    for (const name of [
      "ProductTag",
      "ProductTagConnection",
      "UUID",
      "Cursor",
      "Datetime",
      "BigFloat",
      "BigInt",
    ]) {
      assert.equal(sample.schema.getType(name), undefined, name);
    }
  });
});

describe("a Postgres schema without views", () => {
  it("stops the start", async () => {
    const sql = "drop schema sample_api cascade; create schema sample_api";
    await assert.rejects(openSample({ sql }), /The Postgres schema sample_api has no views/);
    await assert.rejects(openSample({ sql: "drop schema sample_api cascade" }), /sample_api has no views/);
  });
});

describe("a view that is not fit for the API", () => {
  const refusals: Record<string, [sql: string, message: RegExp]> = {
    "has no scopes": [
      `comment on view sample_api.countries is E'@primaryKey id\\nA country.'`,
      /countries has no tag @requiresScopes/,
    ],
    "has a scope that is none": [
      `comment on view sample_api.countries is E'@primaryKey id\\n@requiresScopes countries'`,
      /"countries" is not a scope/,
    ],
    "filters a column that it hasn't": [
      `comment on view sample_api.countries is E'@primaryKey id\\n@requiresScopes a:read\\n@filters id,nme'`,
      /@filters of countries: no column nme/,
    ],
    "filters a column that can't be filtered": [
      `comment on view sample_api.products is E'@primaryKey id\\n@requiresScopes a:read\\n@filters price'`,
      /@filters of products: price has no filter/,
    ],
    "has no such enum": [
      `comment on column sample_api.batches.state is E'@enum batch_stat\\nState.'`,
      /batches\.state: no enum type sample_api\.batch_stat/,
    ],
    "gives a foreign key the ids of another type": [
      `comment on column sample_api.batches.product_id is E'@gid Tag\\nProduct.'`,
      /batches\.product_id can't be the id of a Product and of a Tag/,
    ],
    "gives an id type to a column that is no uuid": [
      `comment on column sample_api.products.name is E'@gid Name\\nName.'`,
      /products\.name can't hold ids of Name: its type is text/,
    ],
  };
  for (const [problem, [sql, message]] of Object.entries(refusals)) {
    it(`stops the start when it ${problem}`, async () => {
      await assert.rejects(openSample({ sql }), message);
    });
  }
});

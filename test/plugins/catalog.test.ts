import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { makeIntrospectionQuery } from "postgraphile/graphile-build-pg/pg-introspection";
import { createPreset, readCatalog } from "../../plugins/index.ts";
import { printSdl } from "../../src/graphql/print-sdl.ts";
import { queryRows, useDatabase } from "../lib/database.ts";

const used = useDatabase("template_schema");
const rows = queryRows(() => used.client);
const schemaName = "api_unstable";

const sdlFrom = async (pgService: GraphileConfig.PgServiceConfiguration, catalog: string) => {
  const preset = createPreset({ pgService, schemaName, catalog: () => Promise.resolve(catalog) });
  return printSdl((await makeSchema(preset)).schema);
};

test("what is read of the catalog makes the same schema as the whole, types of other schemas included", async () => {
  await rows(`
    create schema elsewhere;
    create type elsewhere.mood as enum ('glad', 'sad');
    create domain elsewhere.share as numeric check (value between 0 and 1);
    create table erp.feeling (id uuid primary key, mood elsewhere.mood, moods elsewhere.mood[], share elsewhere.share);
    create view api_unstable.feelings as select id, mood, moods, share from erp.feeling;
    comment on view api_unstable.feelings is E'@primaryKey id\\n@requiresScopes tags:read\\nFeelings.';
    comment on column api_unstable.feelings.mood is 'How it is.'`);
  const pgService = makePgService({ connectionString: used.database.ownerUrl, pubsub: false });
  try {
    const [{ introspection: whole }] = (await rows(makeIntrospectionQuery())) as [{ introspection: string }];
    const part = await readCatalog(pgService, schemaName);
    assert.ok(part.length < whole.length / 2, `${part.length} of ${whole.length}`);
    const sdl = await sdlFrom(pgService, part);
    assert.match(sdl, /^ {2}mood: ElsewhereMood\n {2}moods: \[ElsewhereMood!\]\n {2}share: Decimal/m);
    assert.equal(sdl, await sdlFrom(pgService, whole));
  } finally {
    await pgService.release?.();
  }
});

test("another role of the server is no change of the schema, until it has rights in the database", async () => {
  const pgService = makePgService({ connectionString: used.database.ownerUrl, pubsub: false });
  const server = new pg.Client({ connectionString: used.database.adminUrl });
  await server.connect();
  // Other tests make roles on this server meanwhile, so the whole catalog can't be compared
  const isThere = async () =>
    JSON.stringify(await readCatalog(pgService, schemaName)).includes("catalog_test_reader");
  try {
    await server.query("create role catalog_test_reader");
    assert.equal(await isThere(), false);
    await server.query("grant select on api_unstable.products to catalog_test_reader");
    assert.equal(await isThere(), true);
  } finally {
    await server.query("drop owned by catalog_test_reader; drop role catalog_test_reader");
    await server.end();
    await pgService.release?.();
  }
});

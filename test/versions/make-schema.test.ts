import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { GraphQLObjectType, GraphQLString, printSchema } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { makeSchemaInTurns } from "../../src/versions/make-schema.ts";
import { useDatabase } from "../lib/database.ts";

const used = useDatabase("template_schema", "api");
const presetOf = (t: TestContext, ...plugins: GraphileConfig.Plugin[]): GraphileConfig.Preset => {
  const pool = createPool(used.database.apiUrl, { max: 1 });
  t.after(() => pool.end());
  const pgService = makePgService({ pool });
  return { extends: [createPreset({ pgService, schemaName: "api_unstable" })], plugins };
};

test("a schema is the library's, and others have turns while it is built", async (t) => {
  let [turns, isBuilt] = [0, false];
  const count = () => {
    turns++;
    if (!isBuilt) setImmediate(count);
  };
  // Where the library builds, in one piece, nothing else has a turn
  const TurnsPlugin: GraphileConfig.Plugin = {
    name: "TurnsPlugin",
    schema: {
      hooks: {
        build(build) {
          count();
          return build;
        },
        finalize(schema) {
          isBuilt = true;
          return schema;
        },
      },
    },
  };
  const { schema } = await makeSchemaInTurns(presetOf(t, TurnsPlugin));
  assert.ok(turns >= 4, `${turns} turns`);
  const { schema: whole } = await makeSchema(presetOf(t));
  assert.equal(printSchema(schema), printSchema(whole));
});

test("a type that turns out to have no fields is left out", async (t) => {
  const NothingPlugin: GraphileConfig.Plugin = {
    name: "NothingPlugin",
    schema: {
      hooks: {
        init(input, build) {
          build.registerObjectType("Nothing", {}, () => ({ fields: {} }), "Nothing");
          return input;
        },
        GraphQLObjectType_fields(fields, build, { Self }) {
          if (Self.name !== "Query") return fields;
          const type = build.getTypeByName("Nothing") as GraphQLObjectType | undefined;
          const known = { known: { type: GraphQLString } };
          return build.extend(fields, type ? { ...known, nothing: { type } } : known, "for the test");
        },
      },
    },
  };
  const { schema } = await makeSchemaInTurns(presetOf(t, NothingPlugin));
  const fields = schema.getQueryType()!.getFields();
  assert.ok(fields.known);
  assert.equal(fields.nothing, undefined);
  assert.equal(schema.getType("Nothing"), undefined);
});

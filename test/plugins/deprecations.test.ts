import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { GraphQLEnumType, GraphQLInputObjectType, GraphQLObjectType, GraphQLSchema } from "graphql";
import { buildSchema } from "graphql";
import { makePgService } from "postgraphile/adaptors/pg";
import { printVersion } from "../../src/versions/sdl.ts";
import { useDatabase } from "../lib/database.ts";

const day = "Deprecated since 2026-12-01.";

describe("deprecations that comments declare", () => {
  const used = useDatabase("template_schema");
  let schema: GraphQLSchema;
  const typeOf = <T>(name: string) => schema.getType(name) as T;
  const fieldOf = (type: string, field: string) => typeOf<GraphQLObjectType>(type).getFields()[field]!;
  before(async () => {
    const note = async (what: string, catalog: string, line: string) => {
      const object = what.replace(/^\w+ /, "");
      const column = "(select obj_description($1::text::" + catalog + "))";
      const { rows } = await used.client.query(`select ltrim(${column}, E'\\n') as text`, [object]);
      await used.client.query(`comment on ${what} is $$${line}\n${rows[0].text}$$`);
    };
    await note(
      "view api_unstable.products",
      "regclass",
      "@deprecated available_stock 2026-12-01 Use stocks.\n@deprecated orderLineItems 2026-12-01 Not enough.",
    );
    await note("view api_unstable.tags", "regclass", "@deprecated 2026-12-01 Nobody needs them");
    await note(
      "type api_unstable.fulfillment_order_state",
      "regtype",
      "@deprecated Open 2026-12-01 Use InProgress.",
    );
    await note(
      "function api_unstable.stock_set(api_unstable.stock_set_input)",
      "regprocedure",
      "@deprecated 2026-12-01 Use stockAdjust.",
    );
    await used.client.query(
      `comment on column api_unstable.warehouse_update_input.name is E'@deprecated 2026-12-01 Use label.\\nThe name.'`,
    );
    await used.client.query(
      `comment on column api_unstable.salutations.salutation_key is E'@deprecated 2026-12-01 Use label.\\nThe key.';
       create function api_unstable.tags_length(tag api_unstable.tags) returns integer language sql stable
       return length(tag.name);
       comment on function api_unstable.tags_length(api_unstable.tags) is E'@deprecated 2026-12-01 Count.\\nLong.'`,
    );
    const pgService = makePgService({ connectionString: used.database.ownerUrl, pubsub: false });
    schema = buildSchema(await printVersion({ schemaName: "api_unstable" }, pgService));
    await pgService.release?.();
  });

  test("are on the column and the relation that a view names, and on nothing else of it", () => {
    assert.equal(fieldOf("Product", "availableStock").deprecationReason, `Use stocks. ${day}`);
    assert.equal(fieldOf("Product", "orderLineItems").deprecationReason, `Not enough. ${day}`);
    assert.equal(fieldOf("Product", "name").deprecationReason, undefined);
    assert.equal(fieldOf("Query", "products").deprecationReason, undefined);
  });
  test("are on the root fields of a view", () => {
    for (const field of ["tag", "tags"])
      assert.equal(fieldOf("Query", field).deprecationReason, `Nobody needs them. ${day}`);
  });
  test("are on the value of an enum", () => {
    const values = typeOf<GraphQLEnumType>("FulfillmentOrderState").getValues();
    assert.deepEqual(
      values.flatMap(({ name, deprecationReason }) =>
        deprecationReason == null ? [] : [[name, deprecationReason]],
      ),
      [["Open", `Use InProgress. ${day}`]],
    );
  });
  test("are on a column that has the tag itself, and on a function of a row", () => {
    assert.equal(fieldOf("Salutation", "salutationKey").deprecationReason, `Use label. ${day}`);
    assert.equal(fieldOf("Tag", "length").deprecationReason, `Count. ${day}`);
  });
  test("are on mutations and on fields of inputs", () => {
    assert.equal(fieldOf("Mutation", "stockSet").deprecationReason, `Use stockAdjust. ${day}`);
    const { name } = typeOf<GraphQLInputObjectType>("WarehouseUpdateInput").getFields();
    assert.equal(name!.deprecationReason, `Use label. ${day}`);
  });
});

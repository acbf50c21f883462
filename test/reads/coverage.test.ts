import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { lambda } from "postgraphile/grafast";
import type { Step } from "postgraphile/grafast";
import { GraphQLInt, GraphQLString } from "postgraphile/graphql";
import { openTwoExecutors } from "./two-executors.ts";
import type { ReadRequest, TwoExecutors } from "./two-executors.ts";

/** Changes that other plugins may make to a schema: replace plans, add fields and arguments. */
const ChangesPlugin: GraphileConfig.Plugin = {
  name: "ChangesPlugin",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { Self, scope }) {
        const isChanged = ["Tag.name", "Currency.isoCode", "Query.warehouses"].includes(
          `${Self.name}.${scope.fieldName}`,
        );
        if (!isChanged) return field;
        const { plan } = field;
        field.plan = ($parent: any, args: any, info: any) => {
          const $value: Step = plan
            ? (plan($parent, args, info) as Step)
            : $parent.get(scope.fieldName === "name" ? "name" : "iso_code");
          return scope.fieldName === "warehouses"
            ? $value
            : lambda($value, (value) => `changed ${String(value)}`);
        };
        return field;
      },
      GraphQLObjectType_fields(fields, build, { Self, fieldWithHooks }) {
        if (Self.name !== "Currency") return fields;
        const field = fieldWithHooks({ fieldName: "shout" }, () => ({
          type: GraphQLString,
          plan: ($row: any) => lambda($row.get("iso_code"), (code) => `${String(code)}!`),
        }));
        return build.extend(fields, { shout: field }, "Adding a field");
      },
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        if (Self.name !== "Query" || !["products", "tags"].includes(scope.fieldName)) return args;
        const isRequired = scope.fieldName === "tags";
        const argument = { type: GraphQLInt, ...(isRequired ? { defaultValue: 1 } : {}) };
        return build.extend(args, { more: argument }, "Adding an argument");
      },
    },
  },
};

describe("a schema that others have changed", () => {
  let executors: TwoExecutors;
  before(async () => void (executors = await openTwoExecutors("api_unstable", { plugins: [ChangesPlugin] })));
  after(() => executors?.close());

  const cases: [what: string, source: string, isBySql: boolean][] = [
    ["a field that is as it was", "{ currencies { edges { node { id factor } } } }", true],
    ["a column whose plan was replaced", "{ currencies { edges { node { isoCode } } } }", false],
    [
      "the same in a list below",
      "{ products(first: 3) { edges { node { tags { edges { node { name } } } } } } }",
      false,
    ],
    ["a list whose plan was replaced", "{ warehouses { edges { node { id } } } }", false],
    ["a field that was added", "{ currencies { edges { node { shout } } } }", false],
    ["an argument that was added but isn't given", "{ products(first: 2) { edges { node { id } } } }", true],
    [
      "an argument that was added and is given",
      "{ products(first: 2, more: 1) { edges { node { id } } } }",
      false,
    ],
    ["an argument with a default that was added", "{ tags(first: 2) { edges { node { id } } } }", false],
  ];
  for (const [what, source, isBySql] of cases) {
    it(`${isBySql ? "answers by one statement" : "leaves to Grafast"}: ${what}`, async () => {
      const bySql = await executors.bySql({ source });
      assert.equal(bySql.isBySql, isBySql);
      assert.deepEqual(bySql.errors, []);
      assert.equal(bySql.text, (await executors.byGrafast({ source })).text);
    });
  }
});

describe("what the data may hold", () => {
  let executors: TwoExecutors;
  const sql = `
    update erp.currency set factor = 'NaN' where iso_code = (select max(iso_code) from erp.currency);
    update erp.product set product_number = e'"quoted" \\\\ \\u0001\\u007f\\u2028 💥 </script> ' || product_number
      where id = (select min(id::text)::uuid from erp.product);
    update erp.sales_order set amount_total = 12345678901234.5, amount_net = 0.000001
      where id = (select min(id::text)::uuid from erp.sales_order);
  `;
  before(async () => void (executors = await openTwoExecutors("api_unstable", { sql })));
  after(() => executors?.close());
  const same = async (request: ReadRequest, isBySql: boolean) => {
    const [bySql, byGrafast] = [await executors.bySql(request), await executors.byGrafast(request)];
    assert.equal(bySql.text, byGrafast.text);
    assert.deepEqual(bySql.errors, byGrafast.errors);
    assert.equal(bySql.isBySql, isBySql);
    return bySql;
  };

  it("comes out the same: quotation marks, control characters, other scripts", async () => {
    const { text } = await same(
      { source: "{ products(first: 1) { edges { node { productNumber } } } }" },
      true,
    );
    assert.match(text, /\\"quoted\\" \\\\ \\u0001/);
  });

  it("comes out the same: large and small numbers", async () => {
    const { data } = await same(
      { source: "{ orders(first: 1) { edges { node { amountTotal amountNet } } } }" },
      true,
    );
    assert.equal(data.orders.edges[0].node.amountTotal, 12345678901234.5);
  });

  it("comes out the same: a value that is no number for GraphQL, which Grafast answers with an error", async () => {
    const { errors } = await same({ source: "{ currencies { edges { node { factor } } } }" }, false);
    assert.equal(errors.length, 1);
  });
});

describe("statements", () => {
  let executors: TwoExecutors;
  before(async () => void (executors = await openTwoExecutors("api_unstable")));
  after(() => executors?.close());

  it("are planned within the time-out, though they follow hundreds of relations", async () => {
    const below = (depth: number): string =>
      depth === 0 ? "id" : `id a: parent { ${below(depth - 1)} } b: parent { ${below(depth - 1)} }`;
    const { errors, isBySql } = await executors.bySql({
      source: `{ products(first: 20) { edges { node { ${below(7)} } } } }`,
    });
    assert.deepEqual(errors, []);
    assert.ok(isBySql);
  });

  it("have no end of fields: more are left to Grafast", async () => {
    const columns = Array.from({ length: 3_100 }, (_, i) => `f${i}: name`).join(" ");
    const { errors, isBySql } = await executors.bySql({
      source: `{ products(first: 1) { edges { node { ${columns} } } } }`,
    });
    assert.deepEqual([errors, isBySql], [[], false]);
  });

  it("are the same for the same operation with other values", async () => {
    const countPrepared = async () => {
      const clients = await Promise.all(Array.from({ length: 4 }, () => executors.pool.connect()));
      const counts = clients.map((client) =>
        client.query("select count(*)::int as count from pg_prepared_statements"),
      );
      const total = (await Promise.all(counts)).reduce((sum, { rows }) => sum + rows[0].count, 0);
      for (const client of clients) client.release();
      return total;
    };
    const read = async (number: string) => {
      const source = `{ products(filter: { productNumber: { equals: "${number}" } }) { edges { node { id } } } }`;
      assert.ok((await executors.bySql({ source })).isBySql);
    };
    await Promise.all(Array.from({ length: 20 }, () => read("same")));
    const before = await countPrepared();
    await Promise.all(Array.from({ length: 40 }, (_, i) => read(`other ${i}`)));
    assert.ok((await countPrepared()) <= before + 4);
  });
});

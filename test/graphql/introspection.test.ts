import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { buildSchema, getIntrospectionQuery, graphqlSync } from "postgraphile/graphql";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService({ settings: { limits: defaultLimits } });
  token = await service.token();
});
after(() => service.close());
const ask = (query: string, more: object = {}) => service.ask(token, { query, ...more });

describe("introspection", () => {
  const all = getIntrospectionQuery();

  it("answers what tools ask for, the same each time, within what a token may spend", async () => {
    for (let times = 0; times < 2; times++) {
      const { status, body } = await ask(all);
      assert.equal(status, 200);
      assert.ok(body.data.__schema.types.length > 200);
      assert.ok(body.extensions.cost.requested > 50 && body.extensions.cost.requested < 1_000);
    }
  });

  it("answers by the same rules when it depends on variables, and beside data", async () => {
    const query =
      "query ($name: String!, $all: Boolean!) { __type(name: $name) { name fields @include(if: $all) { name } } }";
    for (const [name, all] of [
      ["Tag", true],
      ["Tag", false],
      ["Product", false],
      ["Nothing", true],
    ] as const) {
      const { body } = await ask(query, { variables: { name, all } });
      const type = body.data.__type;
      assert.equal(type?.name, name === "Nothing" ? undefined : name);
      assert.equal(type && "fields" in type, type && all);
    }
    const mixed = await ask('{ __type(name: "Tag") { name } tags { edges { node { id } } } }');
    assert.deepEqual(mixed.body.data, { __type: { name: "Tag" }, tags: { edges: [] } });
  });

  it("is refused when it asks for the schema more than once, however that is written", async () => {
    const field = "__schema { queryType { name } }";
    const several = [
      `{ ${Array.from({ length: 100 }, (_, i) => `a${i}: ${field}`).join(" ")} }`,
      `{ ...F ...G } fragment F on Query { a: ${field} } fragment G on Query { b: ${field} }`,
      `{ ...F b: ${field} } fragment F on Query { ... on Query { a: ${field} } }`,
    ];
    for (const query of several) assert.deepEqual((await ask(query)).codes, ["QUERY_TOO_COMPLEX"], query);
    assert.deepEqual((await ask(`{ ...F } fragment F on Query { ${field} }`)).codes, []);
  });

  it("costs what it lists, and fields within fields a multiple", async () => {
    const cost = async (query: string) => (await ask(query)).body.extensions.cost.requested;
    assert.equal(await cost('{ __type(name: "Tag") { name } }'), 2);
    const names = await cost("{ __schema { types { name } } }");
    const fields = await cost("{ __schema { types { name fields { name args { name } } } } }");
    assert.ok(names < 20 && fields > names + 10, `${names} ${fields}`);
    const nested =
      "{ __schema { types { fields { type { fields { type { possibleTypes { fields { name } } } } } } } } }";
    const again = await ask(nested);
    assert.ok(again.codes.length > 0 || again.body.extensions.cost.requested > 5 * fields, again.text);
  });

  it("says the same as the schema itself", async () => {
    const sdl = await readFile("schema/unstable.graphql", "utf8");
    const names = ({ __schema }: any) => __schema.types.map(({ name }: any) => name).sort();
    const { body } = await ask("{ __schema { types { name } } }");
    const { data } = graphqlSync({ schema: buildSchema(sdl), source: "{ __schema { types { name } } }" });
    assert.deepEqual(names(body.data), names(data));
  });
});

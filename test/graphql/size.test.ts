import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GraphQLObjectType } from "postgraphile/graphql";
import { buildSchema, parse } from "postgraphile/graphql";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { operationSize } from "../../src/graphql/operation-size.ts";
import { computeCost, checkLimits, checkCost } from "../../src/graphql/assess.ts";

const schema = buildSchema(`
  type Query { node(id: ID!): Node  things(first: Int = 10): ThingConnection!  thing(id: ID!): Thing }
  interface Node { id: ID! }
  type Thing implements Node { id: ID! price: Price parent: Thing children(first: Int = 10): ThingConnection! }
  type Price { net: Float! }
  type ThingConnection { edges: [ThingEdge!]! pageInfo: PageInfo! }
  type ThingEdge { cursor: String! node: Thing! }
  type PageInfo { hasNextPage: Boolean! }
`);
const sizeOf = (source: string, variables = {}) => {
  const { depth, relations, rows, mutations } = operationSize(schema, parse(source), null, variables);
  return { depth, relations, rows, mutations };
};

describe("the size of an operation", () => {
  for (const [source, depth, relations, rows] of [
    ["{ __typename }", 0, 0, 0],
    ["{ __schema { types { name } } }", 0, 0, 0],
    ['{ thing(id: "x") { id price { net } } }', 3, 1, 1],
    ["{ things { edges { cursor node { id } } pageInfo { hasNextPage } } }", 4, 1, 10],
    ["{ things(first: 3) { edges { node { parent { id } } } } }", 5, 2, 6],
    ["{ things(first: 3) { edges { node { children(first: 5) { edges { node { id } } } } } } }", 7, 2, 18],
    [
      '{ a: thing(id: "x") { ...F } b: thing(id: "y") { ...F } } fragment F on Thing { parent { id } }',
      3,
      4,
      4,
    ],
    ['{ node(id: "x") { ... on Thing { parent { id } } } }', 3, 2, 2],
    ["{ things(first: 0) { edges { node { id } } } }", 4, 1, 0],
  ] as const) {
    it(source, () => assert.deepEqual(sizeOf(source), { depth, relations, rows, mutations: 0 }));
  }

  it("counts every 25 values of a row as another one, however they are called", () => {
    const values = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: id`).join(" ");
    const rows = (count: number) =>
      sizeOf(`{ things(first: 10) { edges { node { ${values(count)} } } } }`).rows;
    assert.deepEqual([rows(1), rows(24), rows(25), rows(90)], [10, 10, 20, 40]);
    // Conditions on a relation count separately
    const inside = `{ things(first: 10) { edges { node { parent { ${values(50)} } } } } }`;
    assert.equal(sizeOf(inside).rows, 10 * (1 + 3));
  });

  it("takes page sizes from variables, and from what they are by default", () => {
    const source = "query ($n: Int = 7) { things(first: $n) { edges { node { id } } } }";
    assert.equal(sizeOf(source).rows, 7);
    assert.equal(sizeOf(source, { n: 200 }).rows, 200);
    assert.equal(sizeOf(source, { n: null }).rows, 10);
    assert.equal(sizeOf(source, { n: -5 }).rows, 0);
    assert.equal(sizeOf(source, { n: 1000 }).rows, 250);
  });

  it("leaves out what @skip and @include leave out", () => {
    const source = "query ($no: Boolean!) { things @skip(if: $no) { edges { node { id } } } }";
    assert.deepEqual(sizeOf(source, { no: true }), { depth: 0, relations: 0, rows: 0, mutations: 0 });
    assert.equal(sizeOf(source, { no: false }).rows, 10);
  });

  it("is measured quickly, however often fragments are spread", () => {
    const fragments = Array.from(
      { length: 60 },
      (_, i) => `fragment F${i} on Thing { a: parent { ...F${i + 1} } b: parent { ...F${i + 1} } }`,
    );
    const source = `{ thing(id: "x") { ...F0 } } ${fragments.join(" ")} fragment F60 on Thing { id }`;
    assert.ok(sizeOf(source).relations > 2 ** 60);
  });
});

describe("limits", () => {
  const size = { depth: 12, relations: 100, rows: 19_000, values: 0, counts: 0, mutations: 0 };
  const codeOf = (changes: object) => {
    const changed = { ...size, ...changes };
    const refusal = checkLimits(changed, defaultLimits) ?? checkCost(computeCost(changed), defaultLimits);
    return refusal?.extensions.code;
  };

  it("allow what is just within them", () => {
    assert.equal(computeCost(size), defaultLimits.cost);
    assert.equal(codeOf({}), undefined);
  });

  for (const [changes, code] of [
    [{ depth: 13 }, "QUERY_TOO_DEEP"],
    [{ relations: 101 }, "QUERY_TOO_COMPLEX"],
    [{ rows: 19_001 }, "QUERY_TOO_COMPLEX"],
    [{ mutations: 11 }, "QUERY_TOO_COMPLEX"],
  ] as const) {
    it(`refuse ${JSON.stringify(changes)}`, () => assert.equal(codeOf(changes), code));
  }

  it("let nothing be had for nothing", () => {
    assert.equal(computeCost({ relations: 0, rows: 0, mutations: 0 }), 1);
    assert.equal(computeCost({ relations: 0, rows: 0, mutations: 3 }), 30);
  });
});

describe("the size of mutations", () => {
  const schema = buildSchema(`
    type Query { a: Int }
    type Mutation { do(input: DoInput!): DoPayload }
    scalar JSON
    input DoInput { lines: [JSON!] names: [String!] note: JSON }
    type DoPayload { things: [Thing!]! others: [Thing!]! some: [Thing!]! notes: [Note!]! }
    interface Node { id: ID! }
    type Thing implements Node { id: ID! }
    type Note { text: String }
  `);
  const { things, some } = (schema.getType("DoPayload") as GraphQLObjectType).getFields();
  things!.extensions = { payloadBound: { atMost: 0, perLine: new Map([["lines", 2]]) } };
  some!.extensions = { payloadBound: { atMost: 7, perLine: new Map([["names", 1]]) } };
  const rowsOf = (selection: string, input: unknown) => {
    const source = `mutation ($input: DoInput!) { do(input: $input) { ${selection} } }`;
    return operationSize(schema, parse(source), null, { input }).rows;
  };

  for (const [selection, input, rows] of [
    ["notes { text }", {}, 0],
    ["notes { text }", { lines: [1, 2, 3], names: ["a"] }, 4],
    ["notes { text }", { note: [[1], [2, 3]] }, 5],
    ["things { id }", { lines: [1, 2, 3] }, 3 + 6],
    ["things { id }", { lines: { a: 1 } }, 2],
    ["things { id }", {}, 500],
    ["things { id }", { lines: null }, 500],
    ["things { id }", { lines: Array(300).fill(1) }, 300 + 500],
    ["some { id }", { names: ["a", "b"] }, 2 + 9],
    ["some { id }", {}, 7],
    ["others { id }", { lines: [1] }, 1 + 250],
    ["things { id }", "nonsense", 500],
    ["things { id }", null, 500],
  ] as const) {
    it(`${selection} for ${JSON.stringify(input).slice(0, 40)}`, () =>
      assert.equal(rowsOf(selection, input), rows));
  }

  it("is found out however deeply an input is nested", () => {
    const depth = 200_000;
    const input: unknown = { note: JSON.parse("[".repeat(depth) + "]".repeat(depth)) };
    assert.equal(rowsOf("notes { text }", input), depth - 1);
  });
});

describe("the comparisons of a filter", () => {
  const rows = (filter: string, variables: object = {}) => {
    const text = `query ($f: ThingFilter) { things(first: 1, filter: ${filter}) { edges { node { id } } } }`;
    return operationSize(filtering, parse(text), null, variables as never).rows - 1;
  };
  const filtering = buildSchema(`
    interface Node { id: ID! }
    type Thing implements Node { id: ID! }
    type ThingEdge { node: Thing! }
    type ThingConnection { edges: [ThingEdge!]! }
    input StringFilter { equals: String in: [String!] contains: String endsWith: String }
    input ThingFilter { name: StringFilter AND: [ThingFilter!] OR: [ThingFilter!] NOT: ThingFilter }
    type Query { things(first: Int, filter: ThingFilter): ThingConnection! }`);

  it("count as rows, and those that no index answers as twenty", () => {
    assert.equal(rows("{}"), 0);
    assert.equal(rows('{ name: { equals: "a" } }'), 1);
    assert.equal(rows('{ name: { in: ["a", "b", "c"] } }'), 3);
    assert.equal(rows('{ name: { contains: "a", endsWith: "b" } }'), 40);
    assert.equal(rows('{ OR: [{ name: { contains: "a" } }, { NOT: { name: { equals: "a" } } }] }'), 21);
  });

  it("count when they come by variables of any content", () => {
    const one = { name: { contains: "a" } };
    assert.equal(rows("$f", { f: { OR: Array(250).fill(one) } }), 5_000);
    assert.equal(rows("$f", { f: one }), 20);
    assert.equal(rows("$f"), 0);
    for (const f of [null, 1, "a", [[]], { name: null }]) assert.ok(rows("$f", { f }) <= 1);
  });
});

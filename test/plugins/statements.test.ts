import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

async function statements(source: string, variables: Record<string, unknown> = {}): Promise<number> {
  const answer = await sample.run(source, { variables });
  assert.deepEqual(answer.errors, []);
  return answer.statements.length;
}

// The parents' statement also reads foreign keys, forward and backward. Many-to-many lists take one statement per
// level, for all parents together.
describe("the number of statements", () => {
  const joined = `
    batches(first: 2) { edges { cursor node { product { parent { id } } location { code batch { id } } } } pageInfo { hasNextPage } }
    children(filter: { stock: { gt: 0 } }) { edges { node { price { net } purchasePrices { net } } } }
    parent { id batches(first: 1) { pageInfo { endCursor hasNextPage } } }`;
  const manyToMany = `tags(first: 3, filter: { name: { startsWith: "tag" } }) {
    edges { node { name products(first: 2) { edges { node { id } } } } } pageInfo { hasNextPage }
  }`;

  it("is one with everything that foreign keys reach, for any number of rows", async () => {
    const source = `query ($first: Int) { products(first: $first) { edges { node { ${joined} } } } }`;
    for (const first of [1, 5, 30]) assert.equal(await statements(source, { first }), 1);
    assert.equal(await statements(`{ product(id: "${sampleGid("Product", 1)}") { ${joined} } }`), 1);
    assert.equal(
      await statements(`{ node(id: "${sampleGid("Product", 1)}") { ... on Product { ${joined} } } }`),
      1,
    );
  });

  it("is one more for each level of a many-to-many relation, for any number of rows", async () => {
    const source = `query ($first: Int) { products(first: $first) { edges { node { ${joined} ${manyToMany} } } } }`;
    for (const first of [1, 5, 30]) assert.equal(await statements(source, { first }), 3);
  });

  it("is one for each root field", async () => {
    assert.equal(
      await statements(`{ products(first: 1) { edges { cursor } } tags(first: 1) { edges { cursor } } }`),
      2,
    );
  });

  it("is one more for hasPreviousPage of a many-to-many list, and none more for that of other lists", async () => {
    const source = (list: string) => `query ($after: String) { products(first: 20) { edges { node {
      ${list}(first: 1, after: $after) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } }
    } } } }`;
    const after = (list: string, type: string) =>
      encodeCursor(`Product.${list}`, sampleGid(type, 1).slice(-36));
    assert.equal(await statements(source("tags"), { after: after("tags", "Tag") }), 3);
    assert.equal(await statements(source("tags"), { after: null }), 2);
    assert.equal(await statements(source("batches"), { after: after("batches", "Batch") }), 1);
  });
});

describe("the plan of an operation", () => {
  it("serves all values of its variables", async () => {
    const source = `query ($first: Int, $after: String, $filter: ProductFilterInput, $text: String) {
      products(first: $first, after: $after, filter: $filter) {
        edges { cursor node { id batches(first: $first, filter: { number: { contains: $text } }) { edges { node { id } } } } }
        pageInfo { hasNextPage hasPreviousPage }
      }
    }`;
    await statements(source);
    const before = sample.plans.size;
    const after = encodeCursor("Query.products", sampleGid("Product", 3).slice(-36));
    const filters = [
      null,
      {},
      { OR: [{ id: { in: [] } }, { NOT: { name: { isNull: true } } }] },
      { stock: { gt: 1 } },
    ];
    const values = [{ first: 0 }, { first: 1 }, { first: null }, { after: null }, { after }, { text: "x" }];
    for (const variables of [...values, ...filters.map((filter) => ({ filter }))])
      await statements(source, variables);
    assert.equal(sample.plans.size, before);
  });
});

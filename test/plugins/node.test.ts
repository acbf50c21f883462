import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const node = (id: string, selection = "id", scopes?: string[]) =>
  sample.run(`query ($id: ID!) { node(id: $id) { ${selection} } }`, {
    variables: { id },
    ...(scopes ? { scopes } : {}),
  });
const product = (id: string, selection = "id", scopes?: string[]) =>
  sample.run(`query ($id: ID!) { product(id: $id) { ${selection} } }`, {
    variables: { id },
    ...(scopes ? { scopes } : {}),
  });

describe("ids", () => {
  it("are global, of the row's type or of the type that a key points to", async () => {
    const { data } = await sample.run(`{
      product(id: "${sampleGid("Product", 4)}") { id parentId parent { id } returnOrderId }
      other: product(id: "${sampleGid("Product", 2)}") { parentId parent { id } returnOrderId }
      batch(id: "${sampleGid("Batch", 1)}") { id productId product { id } location { id batchId } }
    }`);
    const one = sampleGid("Product", 1);
    assert.deepEqual(data, {
      product: { id: sampleGid("Product", 4), parentId: one, parent: { id: one }, returnOrderId: null },
      other: { parentId: null, parent: null, returnOrderId: sampleGid("ReturnOrder", 1) },
      batch: {
        id: sampleGid("Batch", 1),
        productId: one,
        product: { id: one },
        location: { id: sampleGid("Location", 5), batchId: sampleGid("Batch", 1) },
      },
    });
  });
});

describe("node", () => {
  it("finds anything by its id", async () => {
    for (const type of ["Product", "Tag", "Batch", "Location", "Currency", "Country"]) {
      const id = sampleGid(type, 1);
      assert.deepEqual((await node(id, "__typename id")).data, { node: { __typename: type, id } });
    }
    const { data } = await node(
      sampleGid("Product", 1),
      "... on Product { productNumber } ... on Tag { name }",
    );
    assert.deepEqual(data, { node: { productNumber: "P-001" } });
  });

  const selections = [
    "__typename",
    "id",
    "__typename id",
    "... on Product { id }",
    "... on Product { name }",
    "... on Tag { name }",
  ];
  for (const selection of selections) {
    it(`{ ${selection} } is null for what the caller can't see`, async () => {
      assert.deepEqual(
        await node(sampleGid("Product", 99), selection).then(({ data, errors }) => ({ data, errors })),
        { data: { node: null }, errors: [] },
      );
      assert.deepEqual((await node(sampleGid("Product", 1), selection, [])).data, { node: null });
      assert.deepEqual((await node(sampleGid("Product", 1), selection, ["tags:read"])).data, { node: null });
    });

    it(`{ ${selection} } is null for what has no GraphQL type, without a statement`, async () => {
      for (const type of ["ReturnOrder", "User", "ProductTag", "Price", "Query"]) {
        const id = sampleGid("Product", 1).replace("Product", type);
        const { data, errors, statements } = await node(id, selection);
        assert.deepEqual({ data, errors, statements }, { data: { node: null }, errors: [], statements: [] });
      }
    });

    it(`{ ${selection} } refuses what is no id`, async () => {
      for (const id of [
        "",
        "garbage",
        "gid://service/Product/1",
        "'",
        sampleGid("Product", 1).slice(-36),
        "\0",
        "5",
      ]) {
        const { data, errors, statements } = await node(id, selection);
        assert.deepEqual(data, { node: null });
        assert.equal(errors[0]?.code, "BAD_USER_INPUT");
        assert.deepEqual(statements, []);
      }
    });
  }
});

describe("a root field by id", () => {
  it("finds the row", async () => {
    assert.deepEqual((await product(sampleGid("Product", 1))).data, {
      product: { id: sampleGid("Product", 1) },
    });
  });

  it("is null for a row that isn't there", async () => {
    const { data, errors } = await product(sampleGid("Product", 99), "__typename");
    assert.deepEqual({ data, errors }, { data: { product: null }, errors: [] });
  });

  it("refuses ids of other types, and what is no id", async () => {
    for (const id of [
      sampleGid("Batch", 1),
      sampleGid("ReturnOrder", 1),
      "",
      "garbage",
      "\0",
      sampleGid("Product", 1).slice(-36),
    ]) {
      const { data, errors, statements } = await product(id, "name");
      assert.deepEqual(data, { product: null });
      assert.equal(errors[0]?.code, "BAD_USER_INPUT");
      assert.deepEqual(statements, []);
    }
  });

  it("refuses null and a missing argument before anything runs", async () => {
    for (const call of ["product", "product(id: null)"]) {
      assert.equal((await sample.run(`{ ${call} { id } }`)).errors.length, 1);
    }
  });
});

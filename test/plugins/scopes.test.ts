import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isObjectType } from "postgraphile/graphql";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

describe("requirements of fields", () => {
  it("come from the view that the field leads to, or from the column", () => {
    const found: Record<string, unknown> = {};
    for (const type of Object.values(sample.schema.getTypeMap())) {
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        const { requiresScopes } = field.extensions;
        if (requiresScopes) found[`${type.name}.${field.name}`] = requiresScopes;
      }
    }
    const read = (resource: string) => ({ anyOf: [`${resource}:read`] });
    const locations = { anyOf: ["locations:read"], allOf: ["audits:read"] };
    assert.deepEqual(found, {
      "Batch.location": locations,
      "Batch.product": read("products"),
      "Location.batch": read("batches"),
      "Product.batches": read("batches"),
      "Product.children": read("products"),
      "Product.margin": read("margins"),
      "Product.parent": read("products"),
      "Product.tags": read("tags"),
      "Tag.products": read("products"),
      "Query.batch": read("batches"),
      "Query.batches": read("batches"),
      "Query.country": read("countries"),
      "Query.countrys": read("countries"),
      "Query.currencies": read("currencies"),
      "Query.currency": read("currencies"),
      "Query.location": locations,
      "Query.locations": locations,
      "Query.product": read("products"),
      "Query.products": read("products"),
      "Query.tag": read("tags"),
      "Query.tags": read("tags"),
    });
  });
});

describe("an operation", () => {
  const source = `query ($id: ID!, $tags: Boolean = true) {
    product(id: $id) { id margin tags @include(if: $tags) { edges { node { name } } } }
  }`;
  const id = sampleGid("Product", 1);

  it("runs with exactly the scopes that it needs", async () => {
    const { data, errors } = await sample.run(source, {
      variables: { id },
      scopes: ["products:read", "margins:read", "tags:read"],
    });
    assert.deepEqual(errors, []);
    assert.equal(data.product.tags.edges.length, 2);
  });

  it("is refused as a whole, before any statement, with every missing scope", async () => {
    const { data, errors, statements } = await sample.run(source, {
      variables: { id },
      scopes: ["products:read"],
    });
    assert.equal(data, null);
    assert.deepEqual(statements, []);
    assert.equal(errors.length, 1);
    assert.deepEqual(errors[0]!.extensions, {
      code: "FORBIDDEN",
      missingScopes: [
        { field: "Product.margin", path: ["product", "margin"], anyOf: ["margins:read"] },
        { field: "Product.tags", path: ["product", "tags"], anyOf: ["tags:read"] },
      ],
    });
  });

  it("is checked again for other variables and other callers of the same document", async () => {
    const scopes = ["products:read", "margins:read"];
    const run = (tags: boolean | null | undefined, given: string[]) =>
      sample.run(source, { variables: { id, ...(tags === undefined ? {} : { tags }) }, scopes: given });
    const without = source.replace("@include(if: $tags)", "@skip(if: $tags)");
    const skip = (variables: object) => sample.run(without, { variables: { id, ...variables }, scopes });
    for (let round = 0; round < 3; round++) {
      assert.equal((await skip({})).errors.length, 0);
      assert.notEqual((await skip({ tags: null })).errors.length, 0, "null is not the default");
      assert.notEqual((await skip({ tags: "true" })).errors.length, 0, "nor is what is no Boolean");
      assert.equal((await run(false, scopes)).errors.length, 0);
      assert.equal((await run(true, scopes)).errors.length, 1);
      assert.equal((await run(undefined, scopes)).errors.length, 1);
      assert.equal((await run(true, [...scopes, "tags:read"])).errors.length, 0);
      assert.equal((await run(false, [])).errors.length, 1);
    }
  });

  it("may introspect without any scope", async () => {
    const { data, errors } = await sample.run(`{ __typename __schema { queryType { name } } }`, {
      scopes: [],
    });
    assert.deepEqual(errors, []);
    assert.deepEqual(data, { __typename: "Query", __schema: { queryType: { name: "Query" } } });
  });

  it("is refused below node as well", async () => {
    const below = `{ node(id: "${id}") { id ... on Product { margin } ... on Batch { location { id } } } }`;
    const { errors } = await sample.run(below, { scopes: ["products:read"] });
    assert.deepEqual(
      (errors[0]!.extensions.missingScopes as any[]).map((missing) => missing.field),
      ["Product.margin", "Batch.location"],
    );
  });
});

describe("a column with scopes of its own", () => {
  it("can't be compared with, for that would give its values away", async () => {
    const { errors } = await sample.run(`{ products(filter: { margin: { gt: 5 } }) { edges { cursor } } }`);
    assert.match(errors[0]!.message, /"margin" is not defined by type "ProductFilterInput"/);
  });
});

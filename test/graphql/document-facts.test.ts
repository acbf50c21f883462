import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, parse } from "postgraphile/graphql";
import { findDocumentFacts } from "../../src/graphql/document-facts.ts";

const schema = buildSchema(`
  type Query { product(id: ID, number: String @deprecated): Product, old: Product @deprecated(reason: "Use product.") }
  type Product { name: String, weight: Int @deprecated(reason: ""), parent: Product }
`);
const found = (text: string) => findDocumentFacts(schema, parse(text)).deprecated;

test("deprecated fields and arguments are found, each once, also in fragments", () => {
  assert.deepEqual(found("{ product { name parent { name } } }"), []);
  assert.deepEqual(found("{ product { weight parent { weight w: weight } } old { name } }"), [
    "Product.weight",
    "Query.old",
  ]);
  assert.deepEqual(found('{ product(id: 1, number: "x") { ...f } } fragment f on Product { weight }'), [
    "Product.weight",
    "Query.product(number:)",
  ]);
});

test("all fields and arguments that a document uses are found, but for introspection", () => {
  const text =
    "{ __schema { types { name } } product(id: 1) { __typename ...f } } fragment f on Product { n: name }";
  assert.deepEqual(findDocumentFacts(schema, parse(text)).fields, [
    "Product.name",
    "Query.product",
    "Query.product(id:)",
  ]);
});

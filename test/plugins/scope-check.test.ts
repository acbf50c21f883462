import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildSchema, isObjectType, parse, validate } from "postgraphile/graphql";
import { requiringFields } from "../../src/graphql/missing-scopes.ts";
import { missingScopes } from "../../src/graphql/missing-scopes.ts";

const schema = buildSchema(`
  interface Node { id: ID! }
  type Tag implements Node { id: ID! name: String products: [Product!]! }
  type Product implements Node { id: ID! name: String tags: [Tag!]! parent: Product secret: String }
  type Query { node(id: ID): Node products(first: Int): [Product!]! tags: [Tag!]! open: String }
  type Mutation { change: Product }
`);
const requirements: Record<string, { anyOf?: string[]; allOf?: string[] }> = {
  "Query.products": { anyOf: ["products:read"] },
  "Query.tags": { anyOf: ["tags:read"] },
  "Product.tags": { anyOf: ["tags:read"] },
  "Product.parent": { anyOf: ["products:read"] },
  "Product.secret": { anyOf: ["a:read", "b:read"], allOf: ["c:read", "d:read"] },
  "Tag.products": { anyOf: ["products:read"] },
  "Mutation.change": { anyOf: ["products:write"] },
};
for (const type of Object.values(schema.getTypeMap())) {
  for (const field of isObjectType(type) ? Object.values(type.getFields()) : []) {
    const requirement = requirements[`${type.name}.${field.name}`];
    if (requirement) field.extensions = { requiresScopes: requirement };
  }
}

function fieldsOf(source: string, variables: Record<string, unknown> = {}, operationName?: string): string[] {
  const document = parse(source);
  assert.deepEqual(validate(schema, document), []);
  return requiringFields(schema, document, operationName, variables).map(
    (field) => `${field.field} at ${field.path.join(".")}`,
  );
}

describe("the fields of an operation that require scopes", () => {
  it("are found through relations, with their path", () => {
    assert.deepEqual(fieldsOf("{ products { id tags { name products { id } } } }"), [
      "Query.products at products",
      "Product.tags at products.tags",
      "Tag.products at products.tags.products",
    ]);
  });

  it("are found behind aliases", () => {
    assert.deepEqual(fieldsOf("{ open harmless: tags { id: name } }"), ["Query.tags at harmless"]);
  });

  it("are found in fragments, inline fragments and fragments within fragments", () => {
    const source = `
      { ...a ... { open } ... on Query { ... @include(if: true) { products { ...b } } } }
      fragment a on Query { open }
      fragment b on Product { ...c }
      fragment c on Product { parent { id } }`;
    assert.deepEqual(fieldsOf(source), ["Query.products at products", "Product.parent at products.parent"]);
  });

  it("are found on each concrete type below node, which itself is free", () => {
    assert.deepEqual(fieldsOf("{ node { id __typename } }"), []);
    assert.deepEqual(
      fieldsOf(
        "{ node { id ... on Node { ... on Tag { products { id } } } ... on Product { tags { id } } } }",
      ),
      ["Tag.products at node.products", "Product.tags at node.tags"],
    );
  });

  it("are named once, however often they stand there", () => {
    assert.deepEqual(fieldsOf("{ a: tags { id } b: tags { name } ... on Query { tags { id } } }"), [
      "Query.tags at a",
    ]);
  });

  it("don't count when @skip or @include leave them out", () => {
    assert.deepEqual(fieldsOf("{ open tags @skip(if: true) { id } }"), []);
    assert.deepEqual(fieldsOf("{ open tags @include(if: false) { id } }"), []);
    assert.deepEqual(fieldsOf("{ open ... on Query @skip(if: true) { tags { id } } }"), []);
    assert.deepEqual(fieldsOf("{ open ...f @include(if: false) } fragment f on Query { tags { id } }"), []);
    assert.deepEqual(fieldsOf("{ open tags @include(if: true) @skip(if: true) { id } }"), []);
    assert.deepEqual(fieldsOf("{ open tags @include(if: false) @skip(if: false) { id } }"), []);
  });

  it("count when @skip and @include let them in", () => {
    const found = ["Query.tags at tags"];
    assert.deepEqual(fieldsOf("{ tags @skip(if: false) @include(if: true) { id } }"), found);
    assert.deepEqual(fieldsOf("{ ...f @skip(if: true) ...f } fragment f on Query { tags { id } }"), found);
  });

  it("follow the variables of @skip and @include, and their defaults", () => {
    const source = (definition: string) => `query (${definition}) { open tags @skip(if: $without) { id } }`;
    const found = ["Query.tags at tags"];
    assert.deepEqual(fieldsOf(source("$without: Boolean!"), { without: true }), []);
    assert.deepEqual(fieldsOf(source("$without: Boolean!"), { without: false }), found);
    assert.deepEqual(fieldsOf(source("$without: Boolean = true")), []);
    assert.deepEqual(fieldsOf(source("$without: Boolean = true"), { without: false }), found);
    assert.deepEqual(fieldsOf(source("$without: Boolean = false")), found);
    assert.deepEqual(
      fieldsOf(source("$without: Boolean!")),
      found,
      "a variable that is missing leaves nothing out",
    );
    assert.deepEqual(
      fieldsOf(source("$without: Boolean!"), { without: "true" }),
      found,
      "nor does one of another type",
    );
    assert.deepEqual(fieldsOf(source("$without: Boolean = true"), { without: null }), found, "nor does null");
  });

  it("are those of the operation that is asked for", () => {
    const source = "query a { open } query b { tags { id } } mutation c { change { id parent { id } } }";
    assert.deepEqual(fieldsOf(source, {}, "a"), []);
    assert.deepEqual(fieldsOf(source, {}, "b"), ["Query.tags at tags"]);
    assert.deepEqual(fieldsOf(source, {}, "c"), [
      "Mutation.change at change",
      "Product.parent at change.parent",
    ]);
    assert.deepEqual(fieldsOf(source, {}, "d"), []);
  });

  it("leave out introspection", () => {
    assert.deepEqual(
      fieldsOf(`{ __typename __schema { types { name } } __type(name: "Tag") { fields { name } } }`),
      [],
    );
  });

  it("are found in time that grows with the document, not with what fragments unfold to", () => {
    const levels = Array.from(
      { length: 40 },
      (_, n) => `fragment f${n} on Product { a: parent { ...f${n + 1} } b: parent { ...f${n + 1} } }`,
    );
    const source = `{ products { ...f0 } } ${levels.join(" ")} fragment f40 on Product { secret }`;
    const document = parse(source);
    const names = requiringFields(schema, document, undefined, {}).map((field) => field.field);
    assert.deepEqual(names, ["Query.products", "Product.parent", "Product.secret"]);
  });
});

describe("missing scopes", () => {
  const check = (source: string, ...scopes: string[]) =>
    missingScopes(requiringFields(schema, parse(source), undefined, {}), new Set(scopes));

  it("are none when each requirement is met", () => {
    assert.equal(check("{ open }"), null);
    assert.equal(check("{ products { id tags { id } } }", "products:read", "tags:read"), null);
  });

  it("are all named in one error, with the requirement", () => {
    const error = check("{ products { id tags { id } secret } }", "tags:write")!;
    assert.deepEqual(error.extensions, {
      code: "FORBIDDEN",
      missingScopes: [
        { field: "Query.products", path: ["products"], anyOf: ["products:read"] },
        { field: "Product.tags", path: ["products", "tags"], anyOf: ["tags:read"] },
        {
          field: "Product.secret",
          path: ["products", "secret"],
          anyOf: ["a:read", "b:read"],
          allOf: ["c:read", "d:read"],
        },
      ],
    });
    assert.match(
      error.message,
      /Query\.products needs products:read; .*Product\.secret needs a:read or b:read, and c:read and d:read\./,
    );
  });

  it("need one of anyOf and all of allOf", () => {
    const secret = (...scopes: string[]) =>
      check("{ products { secret } }", "products:read", ...scopes) === null;
    assert.ok(secret("a:read", "c:read", "d:read"));
    assert.ok(secret("b:read", "c:read", "d:read"));
    assert.ok(!secret("a:read", "b:read"));
    assert.ok(!secret("a:read", "c:read"));
    assert.ok(!secret("c:read", "d:read"));
  });

  it("are not met by a scope that merely begins or ends alike", () => {
    assert.ok(check("{ tags { id } }", "tags:rea", "tags", "tags:read ", "xtags:read", "TAGS:READ"));
  });
});

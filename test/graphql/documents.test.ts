import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { buildSchema } from "postgraphile/graphql";
import { DocumentCache } from "../../src/graphql/document-cache.ts";
import { Documents } from "../../src/graphql/documents.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";

const schema = buildSchema(readFileSync("schema/unstable.graphql", "utf8"));
const repeat = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(" ");
/** Of some 5,000 nodes. */
const large = (n: number) =>
  `query Q${n} { products(filter: { availableStock: { in: [${repeat(4_900, (i) => String(i % 10))}] } }) { edges { node { id } } } }`;

describe("what is kept of documents", () => {
  it("is nothing at first sight, and then the same object", () => {
    const cache = new DocumentCache();
    const documents = new Documents(schema, cache);
    const read = () => documents.read("{ __typename }", defaultLimits) as { document: object };
    const first = read();
    assert.equal(cache.bytes, 0);
    const second = read();
    assert.ok(cache.bytes > 0 && second.document !== first.document);
    assert.equal(read().document, second.document);
  });

  it("is nothing of what was refused", () => {
    const cache = new DocumentCache();
    const documents = new Documents(schema, cache);
    for (const text of ["{ nope }", "{", `{ ${repeat(101, (n) => `a${n}: __typename`)} }`])
      for (let times = 0; times < 3; times++)
        assert.equal(documents.read(text, defaultLimits).errors!.length, 1);
    assert.equal(cache.bytes, 0);
  });

  it("has one bound for all versions, in bytes: large ones that come again don't fill the memory", () => {
    const cache = new DocumentCache();
    const versions = [new Documents(schema, cache), new Documents(schema, cache)];
    for (let n = 0; n < 25; n++)
      for (const documents of versions)
        for (let times = 0; times < 2; times++)
          assert.ok("document" in documents.read(large(n), defaultLimits));
    assert.ok(cache.bytes > 20_000_000 && cache.bytes <= 48_000_000, `${cache.bytes}`);
  });
});

describe("documents that repeat themselves", () => {
  const documents = new Documents(schema, new DocumentCache());
  const codes = (text: string) =>
    (documents.read(text, defaultLimits).errors ?? []).map(({ extensions }) => extensions.code);
  const list = "products { edges { node { id } } }";
  const cases: [what: string, text: (n: number) => string, allowed: number, refused: number][] = [
    [
      "fragments in one set",
      (n) =>
        `{ ${repeat(n, (i) => `...F${i}`)} } ${repeat(n, (i) => `fragment F${i} on Query { __typename }`)}`,
      100,
      330,
    ],
    ["equal fields", (n) => `{ ${repeat(n, () => list)} }`, 50, 380],
    [
      "fragments that spread each other",
      (n) =>
        `{ ...F0 } ${repeat(n, (i) => `fragment F${i} on Query { ${repeat(n - i - 1, (j) => `...F${i + j + 1}`)} __typename }`)}`,
      10,
      60,
    ],
    [
      "equal fields within equal fields",
      (n) =>
        `{ products { edges { node { ${repeat(n, () => "parent { parent { id } parent { id } }")} } } } }`,
      10,
      150,
    ],
  ];
  for (const [what, text, allowed, refused] of cases)
    it(`are read, or refused before that takes long: ${what}`, () => {
      assert.deepEqual(codes(text(allowed)), []);
      assert.deepEqual(codes(text(refused)), ["QUERY_TOO_COMPLEX"]);
    });
});

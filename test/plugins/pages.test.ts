import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const query = `query ($first: Int, $after: String, $filter: ProductFilterInput) {
  products(first: $first, after: $after, filter: $filter) {
    edges { cursor node { productNumber } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

async function page(variables: Record<string, unknown>) {
  const { data, errors, statements } = await sample.run(query, { variables });
  assert.deepEqual(errors, []);
  const { edges, pageInfo } = data.products;
  return { numbers: edges.map((edge: any) => edge.node.productNumber), edges, pageInfo, statements };
}

/** The cursor of a product in the root list. */
const cursorOf = (number: number) => encodeCursor("Query.products", sampleGid("Product", number).slice(-36));

async function refusal(source: string, variables: Record<string, unknown> = {}) {
  const { data, errors } = await sample.run(source, { variables });
  assert.equal(data, null);
  assert.equal(errors.length, 1);
  return errors[0]!;
}

describe("first", () => {
  it("is 10 when it is left out, null, or a variable that is not given", async () => {
    for (const call of ["products", "products(first: null)"]) {
      const { data } = await sample.run(`{ ${call} { edges { node { id } } } }`);
      assert.equal(data.products.edges.length, 10, call);
    }
    assert.equal((await page({})).numbers.length, 10);
    assert.equal((await page({ first: null })).numbers.length, 10);
  });

  it("gives that many entries, oldest first", async () => {
    assert.deepEqual((await page({ first: 3 })).numbers, ["P-001", "P-002", "P-003"]);
    assert.equal((await page({ first: 250 })).numbers.length, 30);
  });

  it("may be 0: no entries, and hasNextPage tells whether there are any", async () => {
    const empty = { startCursor: null, endCursor: null };
    for (const first of [{ first: 0 }, { first: 0, filter: { productNumber: { equals: "P-001" } } }]) {
      const { numbers, pageInfo } = await page(first);
      assert.deepEqual(numbers, []);
      assert.deepEqual(pageInfo, { ...empty, hasNextPage: true, hasPreviousPage: false });
    }
    const { data } = await sample.run(`{ products(first: 0) { edges { cursor } pageInfo { hasNextPage } } }`);
    assert.deepEqual(data.products, { edges: [], pageInfo: { hasNextPage: true } });

    const none = await page({ first: 0, filter: { productNumber: { equals: "nothing" } } });
    assert.deepEqual(none.pageInfo, { ...empty, hasNextPage: false, hasPreviousPage: false });
    const between = await page({ first: 0, after: cursorOf(5) });
    assert.deepEqual(between.pageInfo, { ...empty, hasNextPage: true, hasPreviousPage: true });
    const atTheEnd = await page({ first: 0, after: cursorOf(30) });
    assert.deepEqual(atTheEnd.pageInfo, { ...empty, hasNextPage: false, hasPreviousPage: true });
  });

  it("is refused below 0 and above 250, as a literal and as a variable, at the root and below", async () => {
    const nested = (first: string) =>
      `{ tags { edges { node { products(first: ${first}) { edges { cursor } } } } } }`;
    for (const [first, code] of [
      [-1, "BAD_USER_INPUT"],
      [-2147483648, "BAD_USER_INPUT"],
      [251, "PAGE_SIZE_EXCEEDED"],
      [2147483647, "PAGE_SIZE_EXCEEDED"],
    ] as const) {
      assert.equal((await refusal(query, { first })).code, code);
      assert.equal((await refusal(`{ products(first: ${first}) { edges { cursor } } }`)).code, code);
      assert.equal((await refusal(`{ products(first: ${first}) { pageInfo { hasNextPage } } }`)).code, code);
      assert.equal((await refusal(`query ($first: Int) ${nested("$first")}`, { first })).code, code);
      assert.equal((await refusal(nested(String(first)))).code, code);
    }
    assert.match((await refusal(query, { first: 251 })).message, /251.*at most 250/);
  });
});

describe("paging", () => {
  for (const size of [1, 7, 10, 30]) {
    it(`by ${size} reaches every entry once, in order`, async () => {
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 40; pages++) {
        const { numbers, pageInfo, edges } = await page({ first: size, after: cursor });
        seen.push(...numbers);
        assert.equal(pageInfo.hasPreviousPage, pages > 0);
        assert.equal(pageInfo.hasNextPage, seen.length < 30);
        assert.equal(pageInfo.startCursor, edges[0].cursor);
        assert.equal(pageInfo.endCursor, edges.at(-1).cursor);
        if (!pageInfo.hasNextPage) break;
        cursor = pageInfo.endCursor;
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 30 }, (_, n) => `P-${String(n + 1).padStart(3, "0")}`),
      );
    });
  }

  it("keeps to the filter, in hasNextPage and hasPreviousPage too", async () => {
    const filter = { productNumber: { in: ["P-005", "P-006", "P-020"] } };
    const first = await page({ first: 2, filter });
    assert.deepEqual(first.numbers, ["P-005", "P-006"]);
    assert.equal(first.pageInfo.hasNextPage, true);
    const last = await page({ first: 2, filter, after: first.pageInfo.endCursor });
    assert.deepEqual(last.numbers, ["P-020"]);
    assert.deepEqual([last.pageInfo.hasNextPage, last.pageInfo.hasPreviousPage], [false, true]);
    // A cursor before everything that the filter keeps: the page follows nothing.
    const early = await page({ first: 2, filter, after: cursorOf(2) });
    assert.deepEqual(early.numbers, ["P-005", "P-006"]);
    assert.equal(early.pageInfo.hasPreviousPage, false);
  });

  it("continues when the entry of the cursor is deleted, and new entries move nothing", async () => {
    const first = await page({ first: 12 });
    const cursor = first.pageInfo.endCursor;
    const id = (number: number) => `sample.id(4, ${number})`;
    await sample.sql(`insert into sample.product (id, product_number) values (${id(31)}, 'P-031')`);
    try {
      await sample.sql(`delete from sample.product where id = ${id(12)}`);
      const next = await page({ first: 2, after: cursor });
      assert.deepEqual(next.numbers, ["P-013", "P-014"]);
      assert.equal(next.pageInfo.hasPreviousPage, true);
      const filter = { productNumber: { startsWith: "P-012" } };
      assert.equal(
        (await page({ filter, after: cursor })).pageInfo.hasPreviousPage,
        false,
        "what is gone is not before",
      );
    } finally {
      await sample.sql(`delete from sample.product where id = ${id(31)}`);
      await sample.sql(`insert into sample.product (id, product_number) values (${id(12)}, 'P-012')`);
    }
  });

  it("goes through nested lists, forward and many-to-many", async () => {
    const source = `query ($id: ID!, $after: String, $first: Int) {
      product(id: $id) {
        tags(first: $first, after: $after) {
          edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage endCursor startCursor }
        }
      }
    }`;
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { data, errors } = await sample.run(source, {
        variables: { id: sampleGid("Product", 5), after: cursor, first: 4 },
      });
      assert.deepEqual(errors, []);
      const { edges, pageInfo }: any = data.product.tags;
      assert.equal(pageInfo.hasPreviousPage, seen.length > 0);
      seen.push(...edges.map((edge: any) => edge.node.name));
      assert.equal(pageInfo.hasNextPage, seen.length < 10);
      cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (cursor);
    assert.deepEqual(
      seen,
      Array.from({ length: 10 }, (_, n) => `tag-${n + 1}`),
    );
  });

  it("keeps lists apart that are asked for twice with other arguments", async () => {
    const { data, errors } = await sample.run(`{
      a: products(first: 1) { ...page }
      b: products(first: 2, after: "${cursorOf(1)}") { ...page }
      c: products(first: 2, after: "${cursorOf(2)}") { ...page }
      d: products(first: 2, filter: { stock: { equals: 50 } }) { ...page }
      e: products(first: 2, filter: { stock: { equals: 60 } }) { ...page }
    } fragment page on ProductConnection { edges { node { productNumber } } pageInfo { hasNextPage hasPreviousPage } }`);
    assert.deepEqual(errors, []);
    const found = Object.entries(data).map(([alias, { edges, pageInfo }]: [string, any]) => {
      const entries = edges.map((edge: any) => Number(edge.node.productNumber.slice(2)));
      return [alias, entries, pageInfo.hasNextPage, pageInfo.hasPreviousPage];
    });
    assert.deepEqual(found, [
      ["a", [1], true, false],
      ["b", [2, 3], true, true],
      ["c", [3, 4], true, true],
      ["d", [5], false, false],
      ["e", [6], false, false],
    ]);
  });

  it("is by primary key, whatever else is unique", async () => {
    const source = `query ($after: String) {
      locations(first: 3, after: $after) { edges { node { code } } pageInfo { endCursor } }
    }`;
    const codes: string[] = [];
    for (let after: string | null = null; codes.length < 5;) {
      const { data, errors } = await sample.run(source, { variables: { after } });
      assert.deepEqual(errors, []);
      codes.push(...data.locations.edges.map((edge: any) => edge.node.code));
      after = data.locations.pageInfo.endCursor;
    }
    assert.deepEqual(codes, ["L-1", "L-2", "L-3", "L-4", "L-5"]);
  });

  it("answers for each parent by itself", async () => {
    const after = encodeCursor("Product.tags", sampleGid("Tag", 3).slice(-36));
    const source = `query ($first: Int) { products(first: 7) { edges { node {
      tags(first: $first, after: "${after}") { edges { node { name } } pageInfo { hasNextPage hasPreviousPage } }
    } } } }`;
    const expected = (page: number) => {
      // Product n has the tags 1 to 2n, up to 6 products; the page begins after tag 3.
      return [1, 2, 3, 4, 5, 6, 7].map((n) => {
        const tags = n > 6 ? 0 : 2 * n;
        const rest = Math.max(0, tags - 3);
        return { entries: Math.min(rest, page), hasNextPage: rest > page, hasPreviousPage: tags > 0 };
      });
    };
    for (const first of [0, 1, 2, 10]) {
      const { data, errors } = await sample.run(source, { variables: { first } });
      assert.deepEqual(errors, []);
      const found = data.products.edges.map(({ node: { tags } }: any) => ({
        entries: tags.edges.length,
        ...tags.pageInfo,
      }));
      assert.deepEqual(found, expected(first), `first: ${first}`);
    }
  });
});

describe("cursors", () => {
  const list = (call: string) => `query ($after: String) { ${call} }`;
  const invalid = async (after: string, call = "products(after: $after) { edges { cursor } }") => {
    const error = await refusal(list(call), { after });
    assert.equal(error.code, "CURSOR_INVALID", `${after}: ${error.message}`);
  };

  it("that are damaged are refused", async () => {
    for (const cursor of ["", "x", cursorOf(1).slice(1), `${cursorOf(1)}x`, "\0", "💥"])
      await invalid(cursor);
    await invalid("x", "products(after: $after) { pageInfo { hasNextPage hasPreviousPage } }");
    await invalid("x", "products(first: 0, after: $after) { edges { cursor } }");
  });

  it("of another list are refused", async () => {
    const uuid = sampleGid("Product", 1).slice(-36);
    for (const other of ["Query.tags", "Tag.products", "Product.children"])
      await invalid(encodeCursor(other, uuid));
    await invalid(cursorOf(1), "tags(after: $after) { edges { cursor } }");
    await invalid(cursorOf(1), "tags { edges { node { products(after: $after) { edges { cursor } } } } }");
  });

  it("may be null", async () => {
    const { data } = await sample.run(
      `{ products(first: 1, after: null) { edges { node { productNumber } } pageInfo { hasPreviousPage } } }`,
    );
    assert.deepEqual(data.products, {
      edges: [{ node: { productNumber: "P-001" } }],
      pageInfo: { hasPreviousPage: false },
    });
  });
});

describe("the cost of pageInfo", () => {
  const count = async (selection: string, variables: Record<string, unknown> = {}) => {
    const definition = selection.includes("$after") ? "query ($after: String)" : "";
    const { statements, errors } = await sample.run(`${definition} { ${selection} }`, { variables });
    assert.deepEqual(errors, []);
    return statements.length;
  };

  it("is one statement for a page, with any questions about its end", async () => {
    assert.equal(
      await count("products { edges { cursor node { id } } pageInfo { hasNextPage startCursor endCursor } }"),
      1,
    );
    assert.equal(await count("products { pageInfo { hasNextPage } }"), 1);
  });

  it("is a second one for hasPreviousPage, only when it is asked for and there is a cursor", async () => {
    const after = cursorOf(3);
    const call = (page: string) => `products(after: $after) { edges { node { id } } pageInfo { ${page} } }`;
    assert.equal(await count(call("hasNextPage"), { after }), 1);
    assert.equal(await count(call("hasNextPage hasPreviousPage"), { after }), 2);
    assert.equal(await count(call("hasNextPage hasPreviousPage"), { after: null }), 1);
    assert.equal(await count(call("hasNextPage hasPreviousPage")), 1);
  });

  it("is a look at one row", async () => {
    const { statements } = await sample.run(
      `{ products(after: "${cursorOf(9)}") { pageInfo { hasPreviousPage } } }`,
    );
    const look = statements.find((text) => text.includes("<="))!;
    assert.match(look, /"id" <= \$1::"uuid"[^]*limit 1;/);
    assert.doesNotMatch(look, /order by|"id" >/);
  });
});

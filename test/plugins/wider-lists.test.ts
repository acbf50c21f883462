import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isEnumType } from "postgraphile/graphql";
import { openSample, sampleGid } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const ofPage = "edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
const query = `query ($first: Int, $last: Int, $after: String, $before: String, $orderBy: ProductOrderBy,
  $filter: ProductFilterInput) {
  list: products(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy, filter: $filter) {
    ${ofPage} } }`;

async function page(variables: Record<string, unknown>, source = query) {
  const { data, errors } = await sample.run(source, { variables });
  assert.deepEqual(errors, [], JSON.stringify(variables));
  const { edges, pageInfo } = data.list;
  return { ids: edges.map((edge: any) => edge.node.id) as string[], edges, pageInfo };
}

async function refusal(variables: Record<string, unknown>) {
  const { data, errors } = await sample.run(query, { variables });
  assert.equal(data, null);
  assert.equal(errors.length, 1);
  return errors[0]!;
}

/** All products by their ids, as they stand in SQL. */
async function inSql(order: string): Promise<string[]> {
  const { rows } = await sample.sql(`select id from sample.product order by ${order}`);
  return rows.map(({ id }) => `gid://service/Product/${id}`);
}

const orders: Readonly<Record<string, string>> = {
  ID_ASC: "id",
  ID_DESC: "id desc",
  PRODUCT_NUMBER_ASC: "product_number, id",
  PRODUCT_NUMBER_DESC: "product_number desc, id desc",
  NAME_ASC: "name nulls last, id",
  NAME_DESC: "name desc nulls first, id desc",
  ACTIVE_AND_PRODUCT_NUMBER_ASC: "active, product_number, id",
  ACTIVE_AND_PRODUCT_NUMBER_DESC: "active desc, product_number desc, id desc",
  UPDATED_AT_ASC: "updated_at nulls last, id",
  UPDATED_AT_DESC: "updated_at desc nulls first, id desc",
};

describe("orderBy", () => {
  it("offers the id, and what the tag @orders says, but nothing that needs other scopes", () => {
    const type = sample.schema.getType("ProductOrderBy");
    assert.ok(isEnumType(type));
    assert.deepEqual(
      type
        .getValues()
        .map(({ name }) => name)
        .sort(),
      Object.keys(orders).sort(),
    );
  });

  for (const [orderBy, sql] of Object.entries(orders)) {
    it(`${orderBy} is that of SQL, page by page in both directions, with nulls and ties`, async () => {
      const all = await inSql(sql);
      for (const size of [1, 4, 7, 30]) {
        const forward: string[] = [];
        for (let after: string | null = null, isLast = false; !isLast;) {
          const { ids, pageInfo } = await page({ first: size, after, orderBy });
          assert.equal(pageInfo.hasPreviousPage, forward.length > 0);
          forward.push(...ids);
          assert.equal(pageInfo.hasNextPage, forward.length < all.length);
          ({ endCursor: after } = pageInfo);
          isLast = !pageInfo.hasNextPage;
        }
        assert.deepEqual(forward, all);
        const backward: string[] = [];
        for (let before: string | null = null, isFirst = false; !isFirst;) {
          const { ids, pageInfo } = await page({ last: size, before, orderBy });
          assert.equal(pageInfo.hasNextPage, backward.length > 0);
          backward.unshift(...ids);
          assert.equal(pageInfo.hasPreviousPage, backward.length < all.length);
          ({ startCursor: before } = pageInfo);
          isFirst = !pageInfo.hasPreviousPage;
        }
        assert.deepEqual(backward, all);
      }
    });
  }

  it("with both cursors is what is between them, from either end", async () => {
    for (const orderBy of ["ID_ASC", "NAME_DESC", "UPDATED_AT_ASC"]) {
      const all = await inSql(orders[orderBy]!);
      const { edges } = await page({ first: 30, orderBy });
      const [from, to] = [4, 24];
      const ends = { after: edges[from].cursor, before: edges[to].cursor, orderBy };
      const begin = await page({ first: 3, ...ends });
      assert.deepEqual(begin.ids, all.slice(from + 1, from + 4));
      const end = await page({ last: 3, ...ends });
      assert.deepEqual(end.ids, all.slice(to - 3, to));
      const whole = await page({ first: 30, ...ends });
      assert.deepEqual(whole.ids, all.slice(from + 1, to));
      for (const { pageInfo } of [begin, end, whole])
        assert.deepEqual([pageInfo.hasPreviousPage, pageInfo.hasNextPage], [true, true]);
      const none = await page({ first: 3, orderBy, after: edges[to].cursor, before: edges[from].cursor });
      assert.deepEqual(none.ids, []);
    }
  });

  it("takes values that an enum of text has, in lists below others", async () => {
    const source = `query ($orderBy: BatchOrderBy) { products(first: 3) { edges { node {
      batches(last: 3, orderBy: $orderBy) { edges { node { number state } } pageInfo { hasPreviousPage } } } } } }`;
    const { data, errors } = await sample.run(source, { variables: { orderBy: "STATE_DESC" } });
    assert.deepEqual(errors, []);
    const states = data.products.edges.map(({ node }: any) =>
      node.batches.edges.map((edge: any) => edge.node.state),
    );
    // Of four each; by their texts
    assert.deepEqual(states[0], ["OnHold", "OnHold", "Closed"]);
    assert.ok(data.products.edges.every(({ node }: any) => node.batches.pageInfo.hasPreviousPage));
  });
});

describe("last and before", () => {
  it("take the end of the list, and what comes before an entry", async () => {
    const all = await inSql("id");
    assert.deepEqual((await page({ last: 3 })).ids, all.slice(-3));
    const { edges } = await page({ first: 20 });
    assert.deepEqual((await page({ last: 3, before: edges[19].cursor })).ids, all.slice(16, 19));
    assert.deepEqual((await page({ first: 3, before: edges[19].cursor })).ids, all.slice(0, 3));
    assert.deepEqual(
      (await page({ before: edges[19].cursor })).ids,
      all.slice(9, 19),
      "ten without a number",
    );
  });

  it("of none tell whether there are any", async () => {
    const { edges } = await page({ first: 30 });
    const ofNone = async (variables: Record<string, unknown>) => {
      const { ids, pageInfo } = await page({ last: 0, ...variables });
      assert.deepEqual(ids, []);
      return [pageInfo.hasPreviousPage, pageInfo.hasNextPage];
    };
    assert.deepEqual(await ofNone({}), [true, false]);
    assert.deepEqual(await ofNone({ before: edges[0].cursor }), [false, true]);
    assert.deepEqual(await ofNone({ before: edges[1].cursor }), [true, true]);
    assert.deepEqual(await ofNone({ filter: { productNumber: { equals: "none" } } }), [false, false]);
  });

  it("are refused where they say two things, or too much", async () => {
    const codeOf = async (variables: Record<string, unknown>) => (await refusal(variables)).code;
    assert.equal(await codeOf({ first: 1, last: 1 }), "BAD_USER_INPUT");
    assert.equal(await codeOf({ last: -1 }), "BAD_USER_INPUT");
    const { code, message, extensions } = await refusal({ last: 251 });
    assert.equal(code, "PAGE_SIZE_EXCEEDED");
    assert.match(message, /`last` is 251/);
    assert.equal(extensions.maximum, 250);
    assert.equal(await codeOf({ last: 1, before: "nonsense" }), "CURSOR_INVALID");
  });

  it("refuse the cursor of another order, with both named", async () => {
    const { edges } = await page({ first: 1, orderBy: "NAME_ASC" });
    for (const [argument, orderBy, named] of [
      ["after", "NAME_DESC", "NAME_DESC"],
      ["before", "ID_DESC", "ID_DESC"],
      ["before", null, "ID_ASC"],
    ] as const) {
      const { code, message } = await refusal({ [argument]: edges[0].cursor, orderBy });
      assert.equal(code, "CURSOR_INVALID");
      assert.equal(message, `The cursor belongs to the sort order NAME_ASC, not to ${named}.`);
    }
    const other = await page({ first: 1 });
    const { code, message } = await refusal({ after: other.edges[0].cursor, orderBy: "NAME_ASC" });
    assert.deepEqual(
      [code, message],
      ["CURSOR_INVALID", "The cursor belongs to the sort order ID_ASC, not to NAME_ASC."],
    );
  });
});

describe("totalCount", () => {
  const countOf = async (call: string, variables: Record<string, unknown> = {}) => {
    const { data, errors } = await sample.run(`{ list: ${call} { totalCount { count precision } } }`, {
      variables,
    });
    assert.deepEqual(errors, []);
    return data.list.totalCount;
  };

  it("counts the whole list with its filter, whatever the page", async () => {
    assert.deepEqual(await countOf("products(first: 2)"), { count: 30, precision: "EXACT" });
    assert.deepEqual(await countOf("products(last: 0, orderBy: NAME_ASC)"), {
      count: 30,
      precision: "EXACT",
    });
    assert.deepEqual(await countOf("products(filter: { active: { equals: true } })"), {
      ...{ count: 15, precision: "EXACT" },
    });
    assert.equal((await countOf('products(filter: { productNumber: { equals: "-" } })')).count, 0);
  });

  it("counts for each parent by itself, rows that policies show", async () => {
    const { data } = await sample.run(
      "{ tags(first: 12) { edges { node { products { totalCount { count } } } } totalCount { count } } }",
    );
    const counts = data.tags.edges.map(({ node }: any) => node.products.totalCount.count);
    assert.deepEqual(counts, [6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1]);
    assert.equal(data.tags.totalCount.count, 12);
  });

  it("counts up to 10,000, and then says that there are more", async () => {
    await sample.sql(
      "insert into sample.country select sample.id(2, n), 'C' from generate_series(3, 10000) n",
    );
    assert.deepEqual(await countOf("countrys"), { count: 10_000, precision: "EXACT" });
    await sample.sql("insert into sample.country select sample.id(2, 10001), 'C'");
    assert.deepEqual(await countOf("countrys"), { count: 10_000, precision: "AT_LEAST" });
  });
});

describe("nodes", () => {
  const source = `query ($ids: [ID!]!) { nodes(ids: $ids) {
    __typename id ... on Product { productNumber tags(first: 1) { edges { node { name } } } } ... on Tag { name } } }`;

  it("finds things of several types in the order of their ids, and null where there is none", async () => {
    const ids = [
      ...[sampleGid("Tag", 2), sampleGid("Product", 7), sampleGid("Product", 999), sampleGid("Tag", 1)],
      ...[sampleGid("Nothing", 1), sampleGid("Product", 1), sampleGid("Product", 7)],
    ];
    const { data, errors, statements } = await sample.run(source, { variables: { ids } });
    assert.deepEqual(errors, []);
    assert.deepEqual(
      data.nodes.map((node: any) => node?.name ?? node?.productNumber ?? null),
      ["tag-2", "P-007", null, "tag-1", null, "P-001", "P-007"],
    );
    assert.equal(data.nodes[5].tags.edges[0].node.name, "tag-1");
    assert.ok(statements.length <= 3, statements.join("\n"));
    assert.deepEqual((await sample.run("{ nodes(ids: []) { id } }")).data, { nodes: [] });
  });

  it("hides what policies hide", async () => {
    const ids = [sampleGid("Tag", 1), sampleGid("Currency", 1)];
    const { data, errors } = await sample.run("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {
      ...{ variables: { ids }, scopes: ["tags:read"] },
    });
    assert.deepEqual([data, errors], [{ nodes: [{ id: ids[0] }, null] }, []]);
  });

  it("refuses what is no id, and more than 250", async () => {
    const codeOf = async (ids: string[]) => {
      const { data, errors } = await sample.run(source, { variables: { ids } });
      assert.equal(data, null);
      return errors.map(({ code }) => code);
    };
    assert.deepEqual(await codeOf([sampleGid("Tag", 1), "nonsense"]), ["BAD_USER_INPUT"]);
    assert.deepEqual(await codeOf(Array.from({ length: 251 }, () => sampleGid("Tag", 1))), [
      "BAD_USER_INPUT",
    ]);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { ended, linesAt, startTestBulk } from "./support.ts";

let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
  await shop.sql(`
    insert into erp.product (product_number, name) select 'p-' || n, 'Product ' || n from generate_series(1, 500) n;
    insert into erp.tag (name) select 'tag ' || lpad(n::text, 3, '0') from generate_series(1, 300) n;
    insert into erp.product_tag (product_id, tag_id) select p.id, t.id from erp.product p, erp.tag t
      where p.product_number = 'p-1';
    update erp.product set parent_id = (select id from erp.product where product_number = 'p-1')
      where product_number in ('p-2', 'p-3')`);
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

const ask = (query: string, more: object = {}) =>
  shop.mutate("bulkOperationRun", { query, ...more }, { token, select: "bulkOperation { id }" });
async function linesOf(query: string, more: object = {}): Promise<any[]> {
  const { bulkOperation, userErrors } = await ask(query, more);
  assert.deepEqual(userErrors, [], query);
  const { state, errorMessage, resultUrl } = await ended(shop, token, bulkOperation.id);
  assert.equal(state, "completed", errorMessage);
  return linesAt(shop, resultUrl);
}

/** Products whose number begins like this. */
const products = (fields: string, number = "p-") =>
  `products(filter: { productNumber: { startsWith: "${number}" } }) { ${fields} }`;
const rows = (fields: string) => `edges { node { ${fields} } }`;

describe("an export that can't be made is refused at the start", () => {
  const noRows = /edges \{ node \{ … \} \}/;
  const cases: [why: string, query: string, told: RegExp, more?: object][] = [
    ["pageInfo alone", `{ ${products("pageInfo { hasNextPage }")} }`, noRows],
    ["totalCount alone", `{ ${products("totalCount { count }")} }`, /totalCount/],
    ["aggregates alone", `{ ${products("aggregates { __typename }")} }`, /aggregates/],
    ["cursors alone", `{ ${products("edges { cursor }")} }`, noRows],
    ["a count beside rows", `{ ${products(`${rows("name")} totalCount { count }`)} }`, /totalCount/],
    [
      "a count of a list within",
      `{ ${products(rows("tags { totalCount { count } }"))} }`,
      /tags.*totalCount/,
    ],
    ["pages of a list within", `{ ${products(rows("name tags { pageInfo { endCursor } }"))} }`, noRows],
    [
      "rows that are left out",
      `query ($rows: Boolean!) { ${products(`edges @include(if: $rows) { node { name } } pageInfo { endCursor }`)} }`,
      noRows,
      { variables: { rows: false } },
    ],
    [
      "a list that is left out",
      `{ products @skip(if: true) { ${rows("name")} } }`,
      /one field, which is a list/,
    ],
    ["another id", `{ ${products(rows("id: name"))} }`, /“id”/],
    ["another __parentId", `{ ${products(rows("__parentId: name"))} }`, /“__parentId”/],
    ["a name that objects inherit", `{ ${products(rows("__proto__: name"))} }`, /“__proto__”/],
    ["other edges", `{ ${products("all: edges { node { name } }")} }`, /edges/],
  ];
  for (const [why, query, told, more] of cases)
    it(why, async () => {
      const { bulkOperation, userErrors } = await ask(query, more);
      assert.equal(bulkOperation, null);
      assert.deepEqual([userErrors[0].code, userErrors[0].field], ["INVALID", ["query"]]);
      assert.match(userErrors[0].message, told);
    });
});

describe("an export", () => {
  it("leaves out how its pages were to be: it has none", async () => {
    const fields = `__typename pageInfo { hasNextPage endCursor } edges { __typename cursor node { name } }`;
    const found = await linesOf(`{ ${products(fields, "p-50")} }`);
    assert.deepEqual(
      found.map((row) => [Object.keys(row).join(), row.name]),
      [
        ["id,name", "Product 50"],
        ["id,name", "Product 500"],
      ],
    );
  });

  it("has the row of each line in it, also of a list below an object of the row", async () => {
    for (const format of ["jsonl", "csv"]) {
      const query = `{ ${products(rows("productNumber parent { name tags { edges { node { name } } } }"), "p-2")} }`;
      if (format === "csv") {
        const { bulkOperation } = await ask(query, { format });
        const { resultUrl } = await ended(shop, token, bulkOperation.id);
        const [header, first, second] = (await (await fetch(`${shop.url}${resultUrl}`)).text()).split("\n");
        assert.equal(header, "id,productNumber,parent.name,parent.tags.id,parent.tags.name,__parentId");
        assert.match(first!, /^gid:[^,]+,p-2,Product 1,,,$/);
        assert.equal(second!.split(",").at(-1), first!.split(",")[0]);
        continue;
      }
      const lines = await linesOf(query);
      const parents = lines.filter(({ __parentId }) => __parentId === undefined);
      const child = parents.find(({ productNumber }) => productNumber === "p-2");
      assert.deepEqual(child.parent, { name: "Product 1" });
      const tags = lines.filter(({ __parentId }) => __parentId !== undefined);
      assert.equal(tags.length, 300);
      for (const { __parentId } of tags) assert.equal(__parentId, child.id);
    }
  });

  it("may have any names of variables and fields", async () => {
    const names = ["bulk_after", "bulk_id", "bulk_more", "bulk", "bulk_"];
    const given = `query ($bulk_after: String, $bulk_id: String = "p-") {
      products(after: $bulk_after, filter: { productNumber: { startsWith: $bulk_id } }) {
        edges { node { ${names.map((name) => `${name}: productNumber`).join(" ")} bulk_page_0: tags { edges { node { name } } } } } } }`;
    const lines = await linesOf(given, { variables: { bulk_after: null } });
    assert.equal(lines.filter(({ bulk }) => /^p-\d+$/.test(bulk)).length, 500);
    assert.equal(lines.filter(({ __parentId }) => __parentId !== undefined).length, 300);
    for (const line of lines) if (!line.__parentId) assert.deepEqual(Object.keys(line), ["id", ...names]);
  });

  it("has all that fragments ask for of a list, beyond its first page too", async () => {
    const lines = await linesOf(`{ ${products(`${rows("...a ...b")}`, "p-1")} }
      fragment a on Product { tags(first: 1) { edges { node { name } } } }
      fragment b on Product { tags(first: 1) { edges { node { kind: __typename } } } }`);
    const tags = lines.filter(({ __parentId }) => __parentId !== undefined);
    assert.equal(new Set(tags.map(({ name }) => name)).size, 300);
    for (const tag of tags) assert.equal(tag.kind, "Tag");
  });

  it("has rows of which one page would be more than an answer may hold", async () => {
    await shop.sql(`insert into erp.product (product_number, name, description)
      select 'long-' || n, 'Long', repeat('ä', 65000) from generate_series(1, 260) n`);
    const lines = await linesOf(`{ ${products(rows("description"), "long-")} }`);
    assert.equal(new Set(lines.map(({ id }) => id)).size, 260);
    for (const { description } of lines) assert.equal(description.length, 65_000);
  });

  it("takes an empty list for no variables, as PHP writes them", async () => {
    assert.equal((await linesOf(`{ ${products(rows("name"), "p-49")} }`, { variables: [] })).length, 11);
  });
});

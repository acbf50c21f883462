import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parse } from "csv-parse/sync";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { ended, linesAt, operation, startTestBulk, upload } from "./support.ts";

let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
  await shop.sql(`
    insert into erp.product (product_number, name) select 'p-' || n, 'Product ' || n from generate_series(1, 600) n;
    insert into erp.tag (name) select 'tag ' || lpad(n::text, 3, '0') from generate_series(1, 300) n;
    insert into erp.product_tag (product_id, tag_id) select p.id, t.id from erp.product p, erp.tag t
      where p.product_number = 'p-1' or p.product_number = 'p-2' and t.name = 'tag 007';
    insert into erp.product_price (product_id, currency_id, net, gross)
      select p.id, c.id, 1, 1.19 from erp.product p, erp.currency c where p.product_number = 'p-2' and c.is_default_currency`);
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

const select = "bulkOperation { id }";
const run = (query: string, more: object = {}, own = token) =>
  shop.mutate("bulkOperationRun", { query, ...more }, { token: own, select });
async function exported(query: string, more: object = {}) {
  const { bulkOperation, userErrors } = await run(query, more);
  assert.deepEqual(userErrors, []);
  return ended(shop, token, bulkOperation.id);
}

const products = `query ($number: String!) {
  products(first: 3, filter: { productNumber: { startsWith: $number } }) {
    edges { node { productNumber title: name price { net } parent { id name } ...tags } } }
}
fragment tags on Product { tags(first: 2) { edges { node { name } } } }`;
const variables = { number: "p-" };

describe("an export", () => {
  it("writes all rows of the list and of lists within, whatever pages were asked for", async () => {
    const done = await exported(products, { variables });
    const { state, kind, resource, format, rowCount, doneCount, progress, refusedCount, errorsUrl } = done;
    assert.deepEqual(
      [state, kind, resource, format, rowCount, doneCount, progress, refusedCount, errorsUrl],
      ["completed", "export", "products", "jsonl", 600, 901, 1, 0, null],
    );
    const lines = await linesAt(shop, done.resultUrl);
    const rows = lines.filter((line) => !("__parentId" in line));
    const tags = lines.filter((line) => "__parentId" in line);
    assert.deepEqual(rows.map(({ productNumber }) => productNumber).sort().length, 600);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 600);
    const [one, two] = ["p-1", "p-2"].map((number) => rows.find((row) => row.productNumber === number));
    assert.deepEqual(two, {
      ...{ id: two.id, productNumber: "p-2", title: "Product 2", price: [{ net: 1 }], parent: null },
    });
    assert.equal(new Set(tags.filter((tag) => tag.__parentId === one.id).map(({ name }) => name)).size, 300);
    assert.deepEqual(
      tags.filter((tag) => tag.__parentId === two.id).map(({ name }) => name),
      ["tag 007"],
    );
    // Children behind their parent
    assert.equal(lines[lines.indexOf(two) + 1].__parentId, two.id);
  });

  it("writes images behind their product, in their order", async () => {
    await shop.sql(`insert into erp.product_image (product_id, position, url, translations)
      select id, n, 'https://cdn.example.com/' || 9 - n, '{"de": {"alt_text": "Vorn"}}'
      from erp.product, generate_series(1, 3) n where product_number = 'p-3'`);
    const query = `{ products(filter: { productNumber: { equals: "p-3" } }) { edges { node {
      translations { locale } images(first: 2) { edges { node { url translations { altText } } } } } } } }`;
    const [product, ...images] = await linesAt(shop, (await exported(query)).resultUrl);
    assert.deepEqual(product.translations, []);
    assert.deepEqual(
      images,
      [8, 7, 6].map((n, index) => ({
        id: `${product.id.replace("Product", "ProductImage")}/${index + 1}`,
        ...{ url: `https://cdn.example.com/${n}`, translations: [{ altText: "Vorn" }] },
        __parentId: product.id,
      })),
    );
  });

  it("may be CSV, with a column for each field", async () => {
    const query = products.replace("price { net }", "price { net gross }");
    const { resultUrl } = await exported(query, { variables: { number: "p-2" }, format: "csv" });
    const response = await fetch(`${shop.url}${resultUrl}`, { headers: { "accept-encoding": "gzip" } });
    assert.deepEqual(
      ["content-type", "content-encoding", "content-disposition"].map((name) => response.headers.get(name)),
      ["text/csv; charset=utf-8", "gzip", 'attachment; filename="result.csv"'],
    );
    const [header, ...lines] = (await response.text()).trimEnd().split("\n");
    assert.equal(header, "id,productNumber,title,price,parent.id,parent.name,tags.id,tags.name,__parentId");
    assert.equal(lines.length, 112);
    const two = lines.find((line) => line.includes(",p-2,"))!;
    assert.match(two, /^gid:[^,]*,p-2,Product 2,"\[\{""net"":1,""gross"":1\.19\}\]",,,,,$/);
    const id = two.split(",")[0]!;
    assert.ok(lines.some((line) => line.startsWith(",,,,,,gid:") && line.endsWith(`,tag 007,${id}`)));
  });

  it("is protected from spreadsheets as CSV, and the same when it is taken in again", async () => {
    const names = [
      ...["=cmd|' /C calc'!A0", "+49 30 1", "@SUM(A1)", "-1+2", "\tTab", "\rReturn", "'=quoted", "''+twice"],
      ...["'apostrophe", "-5", "+5.50", "a=b", "＝wide"],
    ];
    await shop.owner.query(
      "insert into erp.product (product_number, name) select '=f-' || n, v from unnest($1::text[]) with ordinality u (v, n)",
      [names],
    );
    const query = `{ products(filter: { productNumber: { startsWith: "=f-" } }) { edges { node { productNumber name } } } }`;
    const cellsOf = async (format: string) => {
      const { resultUrl } = await exported(query, { format });
      const text = await (await fetch(`${shop.url}${resultUrl}`)).text();
      const rows = parse<Record<string, string>>(text, { columns: true, relax_column_count: true });
      return {
        text,
        rows: rows.sort((a, b) => a.productNumber!.localeCompare(b.productNumber!, "en", { numeric: true })),
      };
    };
    const { rows } = await cellsOf("csv");
    const isFormula = /^[=+\-@\t\r＝]/;
    for (const { productNumber, name } of rows) {
      assert.match(productNumber!, /^'=f-\d+$/);
      assert.ok(!isFormula.test(name!) || /^[-+]\d+(\.\d+)?$/.test(name!), name);
    }
    const raw = await cellsOf("csv_raw");
    assert.deepEqual(
      raw.rows.map(({ name }) => name),
      names,
    );
    await shop.owner.query("update erp.product set name = null where product_number like '=f-%'");
    const file = rows.map(({ productNumber, name }) =>
      [productNumber, `"${name!.replaceAll('"', '""')}"`].join(),
    );
    const sent = await upload(shop, token, "products", ["productNumber,name", ...file].join("\n"), {
      type: "text/csv",
    });
    assert.equal((await ended(shop, token, sent.body.bulkOperation.id)).updatedCount, names.length);
    const { rows: after } = await shop.owner.query(
      "select name from erp.product where product_number like '=f-%' order by length(product_number), product_number",
    );
    assert.deepEqual(
      after.map(({ name }) => name),
      names,
    );
  });

  it("shows one moment, while others write", async () => {
    const client = await shop.owner.connect();
    try {
      // The export waits for this lock when it begins to read, with its snapshot taken
      await client.query("begin; lock table erp.product_tag in access exclusive mode");
      const { bulkOperation } = await run(products, { variables });
      await until(async () => {
        const { rowCount } = await shop.owner.query("select from pg_locks where not granted");
        return rowCount! > 0;
      });
      await shop.owner.query("insert into erp.product (product_number) values ('p-late')");
      await client.query("rollback");
      assert.equal((await ended(shop, token, bulkOperation.id)).rowCount, 600);
    } finally {
      client.release(true);
      await shop.owner.query("delete from erp.product where product_number = 'p-late'");
    }
  });

  it("begins anew after its process was killed, with nothing twice", async () => {
    await bulk.stop();
    const { bulkOperation } = await run(products, { variables });
    const { id } = bulkOperation;
    // What a killed process leaves
    await shop.sql(`update bulk.operation set state = 'running', claim = gen_random_uuid(), done_count = 1,
      next_chunk = 1, claimed_until = now() - interval '1 second' where state = 'queued'`);
    await shop.sql(`insert into bulk.chunk select id, 0, 'x' from bulk.operation where state = 'running'`);
    bulk = startTestBulk(shop);
    const { doneCount, resultUrl } = await ended(shop, token, id);
    assert.equal(doneCount, 901);
    assert.equal((await linesAt(shop, resultUrl)).length, 901);
  });

  it("stops when its credential may not read any more", async () => {
    await bulk.stop();
    const credential = await shop.credential({ read: "all", write: "all" });
    const own = await shop.tokenFor(credential);
    const { bulkOperation } = await run(products, { variables }, own);
    await shop.owner.query("update auth.credential set scopes = '{bulk_operations:read}' where id = $1", [
      credential.id,
    ]);
    bulk = startTestBulk(shop);
    const { state, errorCode, resultUrl } = await ended(shop, own, bulkOperation.id);
    assert.deepEqual([state, errorCode, resultUrl], ["failed", "SCOPE_MISSING", null]);
  });

  it("is refused when it is no query of one list, or not allowed", async () => {
    const narrow = await shop.token({ read: ["tags"], write: ["bulk_operations"] });
    const cases: [query: string, more: object, code: string, field: string, own?: string][] = [
      ["{", {}, "INVALID", "query"],
      ["{ products { edges { node { colour } } } }", {}, "INVALID", "query"],
      ["{ __typename }", {}, "INVALID", "query"],
      ["{ a: products { edges { node { id } } } b: tags { edges { node { id } } } }", {}, "INVALID", "query"],
      ["{ products { rows: edges { node { id } } } }", {}, "INVALID", "query"],
      [
        'mutation { bulkOperationCancel(input: { id: "1" }) { userErrors { code } } }',
        {},
        "INVALID",
        "query",
      ],
      [products, {}, "INVALID", "query"],
      [products, { variables, format: "xml" }, "INVALID", "format"],
      [products, { variables }, "SCOPE_MISSING", "query", narrow],
    ];
    for (const [query, more, code, field, own] of cases) {
      const { bulkOperation, userErrors } = await run(query, more, own);
      assert.deepEqual(
        [bulkOperation, userErrors[0]?.code, userErrors[0]?.field],
        [null, code, [field]],
        query,
      );
    }
  });

  it("has a file that only its address opens", async () => {
    const { id, resultUrl } = await exported("{ currencies { edges { node { isoCode } } } }");
    assert.deepEqual((await linesAt(shop, resultUrl)).map(({ isoCode }) => isoCode).sort(), ["EUR", "USD"]);
    const wrong = [
      resultUrl.replace(/code=.*/, "code=1"),
      resultUrl.replace("result", "errors").replace(/.$/, "_"),
    ];
    for (const path of wrong) assert.equal((await fetch(`${shop.url}${path}`)).status, 404, path);
    const stranger = await shop.token({ read: "all", write: "all" });
    assert.equal(await operation(shop, stranger, id), null);
    const empty = await exported(
      '{ products(filter: { productNumber: { equals: "none" } }) { edges { node { id } } } }',
    );
    assert.deepEqual([empty.rowCount, await linesAt(shop, empty.resultUrl)], [0, []]);
  });

  it("is refused beyond ten that wait, also when others are just being added", async () => {
    await bulk.stop();
    const credential = await shop.credential({ read: "all", write: "all" });
    const own = await shop.tokenFor(credential);
    const list = "{ tags { edges { node { id } } } }";
    const other = await shop.owner.connect();
    try {
      await other.query("begin");
      const settings =
        "select set_config('service.credential_id', $1, true), set_config('service.scopes', '', true)";
      await other.query(settings, [credential.id]);
      await other.query("select bulk.run_export($1, '{}', 'jsonl') from generate_series(1, 10)", [list]);
      let isOver = false;
      const running = run(list, {}, own).finally(() => (isOver = true));
      const waits = `select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await until(async () => isOver || (await shop.owner.query(waits)).rowCount! > 0);
      await other.query("commit");
      assert.equal((await running).userErrors[0]?.code, "OUT_OF_RANGE");
    } finally {
      other.release(true);
    }
    bulk = startTestBulk(shop);
  });
});

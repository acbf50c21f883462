import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { defaultBulkLimits } from "../../src/bulk/bulk-limits.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { addChannel, ended, jsonl, linesAt, operation, startTestBulk, upload } from "./support.ts";

let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
let channel: string;
before(async () => {
  shop = await openShippingShop();
  channel = await addChannel(shop);
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

/** Sends a file, and waits until it is taken in. */
async function load(resource: string, file: string, options = {}) {
  const { status, body, text } = await upload(shop, token, resource, file, options);
  assert.equal(status, 202, text);
  const done = await ended(shop, token, body.bulkOperation.id);
  return { ...done, errors: done.errorsUrl ? await linesAt(shop, done.errorsUrl) : [] };
}
const csv = { type: "text/csv" };
const ask = async (query: string) => {
  const { body, text } = await shop.ask(token, { query });
  assert.equal(body.errors, undefined, text);
  return body.data;
};

describe("files", () => {
  it("hold rows of every resource", async () => {
    const key = { salesChannelId: channel };
    const files: [string, object][] = [
      ["suppliers", { number: "bulk", name: "Bulk" }],
      ["warehouses", { code: "bulk", name: "Bulk" }],
      ["customers", { ...key, storefrontId: "c1", email: "a@b.example", firstName: "A", lastName: "B" }],
      ["orders", { ...key, storefrontId: "o1", lineItems: [{ productNumber: "hammer", quantity: 2 }] }],
    ];
    for (const [resource, row] of files) {
      const { createdCount, errors } = await load(resource, jsonl([row, { ...row, [resource]: 1 }]));
      assert.equal(createdCount, 1, resource);
      assert.match(errors[0].message, /is not defined/, resource);
    }
  });

  it("hold lines that are quick to read: of one with too many unknown fields, few are told", async () => {
    const unknown = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`unknown${n}`, 1]));
    const { errors, createdCount } = await load("suppliers", jsonl([unknown(9_000), unknown(10_001)]));
    assert.equal(createdCount, 0);
    const few = errors.filter(({ line }: any) => line === 1);
    assert.equal(few.length, 20);
    for (const { message } of few) assert.match(message, /is not defined/);
    assert.deepEqual(
      errors.filter(({ line }: any) => line === 2).map(({ message }: any) => message),
      ["The line has objects that differ in their members, with more than 10000 members."],
    );
  });

  it("hold moments, whose second is kept, and JSON with a bound to its levels", async () => {
    const row = { salesChannelId: channel, lineItems: [{ productNumber: "hammer", quantity: 1 }] };
    const rowOf = (storefrontId: string, more: string) =>
      `${JSON.stringify({ ...row, storefrontId }).slice(0, -1)},${more}}`;
    const nested = (levels: number) => `"shippingAddress":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const file = [
      rowOf("moment", '"orderDateTime":"2026-12-31T23:59:59.9Z"'),
      ...[200, 201, 6_000, 20_000].map((levels) => rowOf(`levels-${levels}`, nested(levels))),
    ].join("\n");
    const { state, createdCount, errors } = await load("orders", file);
    assert.deepEqual([state, createdCount], ["completed", 2]);
    assert.deepEqual(
      errors.map(({ line, message }: any) => [line, message]),
      [3, 4, 5].map((line) => [line, "JSON is nested deeper than 200 levels."]),
    );
    const { orders } = await ask(
      '{ orders(first: 1, filter: { storefrontId: { equals: "moment" } }) { edges { node { orderDateTime } } } }',
    );
    assert.deepEqual(orders.edges, [{ node: { orderDateTime: "2026-12-31T23:59:59+00:00" } }]);
  });

  it("may be CSV: fields by name, those of objects and lists by paths", async () => {
    const file = [
      `productNumber,name,taxRate,isBatchManaged,tags,storefrontVariants.0.productId,price.0.currencyId,price.0.net,price.0.gross,price.1.currencyId,price.1.net,price.1.gross`,
      `csv-1,"Tent, ""big""\nwith a window",7,true,a; b,p1,${shop.id.EUR},10,10.7,${shop.id.USD},12,12.84`,
      `csv-2,,,,,,${shop.id.EUR},10,10.7,,,`,
      `csv-3,,many,,,,,,,,,`,
      `csv-4,,,,,,,,,,,,,,`,
      `,,,,,,,,,,,`,
    ].join("\r\n");
    const { rowCount, createdCount, errors } = await load("products", `\uFEFF${file}\r\n`, csv);
    assert.deepEqual([rowCount, createdCount], [4, 2]);
    assert.deepEqual(
      errors.map(({ line, field }: any) => [line, ...field]),
      [[5, "taxRate"], [6]],
    );
    const { products } =
      await ask(`{ products(first: 5, filter: { productNumber: { in: ["csv-1", "csv-2"] } }) {
      edges { node { productNumber name storefrontVariants price { net }
        tags { edges { node { name } } } } } } }`);
    const [first, second] = products.edges
      .map(({ node }: any) => node)
      .sort((a: any, b: any) => a.productNumber.localeCompare(b.productNumber));
    assert.deepEqual(
      { ...first, tags: first.tags.edges.map(({ node }: any) => node.name).sort() },
      {
        ...{ productNumber: "csv-1", name: 'Tent, "big"\nwith a window' },
        ...{ storefrontVariants: [{ productId: "p1", variantId: null }] },
        ...{ price: [{ net: 10 }, { net: 12 }], tags: ["a", "b"] },
      },
    );
    assert.deepEqual([second.name, second.price], [null, [{ net: 10 }]]);
    const stored = await shop.sql(`select tax_rate::float, is_batch_managed from erp.product
      where product_number in ('csv-1', 'csv-2') order by product_number`);
    assert.deepEqual(stored, [
      { tax_rate: 7, is_batch_managed: true },
      { tax_rate: 19, is_batch_managed: false },
    ]);
    const orders = `storefrontId,salesChannelId,shippingAddress.city,shippingAddress.__proto__.x,lineItems.0.productNumber,lineItems.0.quantity\no9,${channel},Köln,,hammer,3`;
    assert.equal((await load("orders", orders, csv)).createdCount, 1);
    const [order] = await shop.sql(
      "select shipping_address ->> 'city' as city from erp.sales_order where storefront_id = 'o9'",
    );
    assert.equal(order.city, "Köln");
  });

  it("hold images and translations of products, also as columns", async () => {
    const names = "translations.0.locale,translations.0.name,images.0.url,images.0.altText,images.1.url";
    const deeper = "images.1.translations.0.locale,images.1.translations.0.altText";
    const file = [
      `productNumber,${names},${deeper}`,
      "shown-1,de,Zelt,https://cdn.example.com/a,Front,https://cdn.example.com/b,de,Von hinten",
      "shown-2,,,https://cdn.example.com/a,,,,",
      "shown-3,de,Zelt,cdn.example.com,,,,",
      "shown-4,de,,https://cdn.example.com/a,,https://cdn.example.com/a,,",
    ].join("\n");
    const { createdCount, errors } = await load("products", file, csv);
    assert.equal(createdCount, 2);
    assert.deepEqual(
      errors.map(({ line, code, field }: any) => [line, code, field.join(".")]),
      [
        [4, "INVALID", "images.0.url"],
        [5, "NOT_UNIQUE", "images.1.url"],
      ],
    );
    const shown = {
      productNumber: "shown-1",
      translations: [{ locale: "de", name: "Zelt", description: null }],
      images: [
        { url: "https://cdn.example.com/a", altText: "Front", translations: [] },
        {
          ...{ url: "https://cdn.example.com/b", altText: null },
          translations: [{ locale: "de", altText: "Von hinten" }],
        },
      ],
    };
    const { updatedCount, doneCount } = await load("products", jsonl([shown]));
    assert.deepEqual([updatedCount, doneCount], [0, 1]);
  });

  it("are refused as a whole when they are none, and nothing stays of them", async () => {
    const reader = await shop.token({ read: "all", write: ["products"] });
    const row = jsonl([{ productNumber: "x" }]);
    const gzip = { "content-encoding": "gzip" };
    const cases: [resource: string, body: string | Buffer, options: object, status: number, told: RegExp][] =
      [
        ["prices", row, {}, 404, /nothing at this address/],
        ["products", "", {}, 400, /no rows/],
        ["products", Buffer.from([0xff, 0x0a]), {}, 400, /UTF-8/],
        ["products", row, { type: "application/json" }, 415, /application\/jsonl or text\/csv/],
        ["products", row, { headers: { "content-encoding": "br" } }, 415, /gzip/],
        ["products", row, { headers: gzip }, 400, /decompressed/],
        ["products", row, { headers: { "idempotency-key": "k".repeat(256) } }, 400, /255/],
        ["products", "color\nred", csv, 400, /no field for the column “color”/],
        ["products", "name,name\n1,2", csv, 400, /Two columns/],
        ["products", 'name\n"', csv, 400, /not valid CSV/],
        ["products", `{"a":"${"x".repeat(1_100_000)}"}`, {}, 413, /1048576 bytes/],
      ];
    for (const [resource, body, options, status, told] of cases) {
      const answer = await upload(shop, token, resource, body, options);
      assert.deepEqual([answer.status, answer.codes], [status, ["BAD_USER_INPUT"]], answer.text);
      assert.match(answer.body.errors[0].message, told);
    }
    const { status, codes, text } = await upload(shop, reader, "products", row);
    assert.deepEqual([status, codes], [403, ["FORBIDDEN"]]);
    assert.match(text, /bulk_operations:write/);
    assert.equal((await upload(shop, "none", "products", row)).status, 401);
    const byGet = await fetch(`${shop.url}/api/bulk/products`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.deepEqual([byGet.status, byGet.headers.get("allow")], [405, "POST"]);
    assert.deepEqual(await shop.sql("select from bulk.operation where state = 'uploading'"), []);
  });

  it("are bounded in rows, bytes, and room for all", async () => {
    const rows = jsonl(Array.from({ length: 600 }, (_, i) => ({ productNumber: `many-${i}` })));
    const limits = (changes: object) => ({ settings: { bulkLimits: { ...defaultBulkLimits, ...changes } } });
    for (const [changes, status, told] of [
      [{ maxRows: 599 }, 413, /599 rows/],
      [{ maxBytes: 10_000 }, 413, /10000 bytes/],
      [{ maxStoredBytes: 1_000 }, 503, /no space/],
    ] as const) {
      const process = await shop.another(limits(changes));
      const answer = await upload(process, token, "products", rows, { gzip: true });
      assert.equal(answer.status, status);
      assert.match(answer.text, told);
      await process.close();
    }
    assert.deepEqual(await shop.sql("select from bulk.operation where state = 'uploading'"), []);
  });

  it("that are cut off leave nothing, and can be sent again with their key", async () => {
    const headers = { "idempotency-key": "cut" };
    const cut = async function* () {
      yield Buffer.from(jsonl(Array.from({ length: 300 }, (_, i) => ({ productNumber: `cut-${i}` }))));
      await until(async () => (await shop.sql("select from bulk.chunk")).length > 0);
      throw new Error("the network is gone");
    };
    await assert.rejects(upload(shop, token, "products", cut(), { headers }));
    await until(
      async () => (await shop.sql("select from bulk.operation where state = 'uploading'")).length === 0,
    );
    assert.equal((await load("products", jsonl([{ productNumber: "cut-0" }]), { headers })).createdCount, 1);
  });

  it("are opened by their address alone, and deleted a week after their end", async () => {
    const { id, errorsUrl } = await load("products", "1");
    const wrong = ["code=wrong", "code=", ""].map((query) => errorsUrl.replace(/code=.*/, query));
    for (const path of [...wrong, errorsUrl.replace(/bulk\/[^/]*/, "bulk/1")]) {
      const { status } = await fetch(`${shop.url}${path}`);
      assert.equal(status, 404, path);
    }
    assert.equal((await fetch(`${shop.url}${errorsUrl}`, { method: "POST" })).status, 405);
    await shop.sql(
      "update bulk.operation set expires_at = now() - interval '1 second' where refused_count > 0",
    );
    assert.equal((await fetch(`${shop.url}${errorsUrl}`)).status, 404, "also before they are deleted");
    await until(async () => (await shop.sql("select bulk.prune() as pruned"))[0].pruned === 0);
    assert.equal(await operation(shop, token, id), null);
    assert.equal((await fetch(`${shop.url}${errorsUrl}`)).status, 404);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { ended, jsonl, linesAt, startTestBulk, upload } from "../bulk/support.ts";
import { gid } from "../lib/ids.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { refusals } from "../lib/shop.ts";

let shop: ShippingShop;
let channel: string;
before(async () => {
  shop = await openShippingShop();
  const [made] = await shop.sql(`
    with country as (insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') returning id),
    kind as (insert into erp.customer_group (name) values ('{"en-GB":"Retail"}') returning id),
    method as (insert into erp.payment_method (technical_name) values ('test_bill') returning id)
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB":"Shop"}', country.id, c.id, kind.id, method.id
    from country, kind, method, erp.currency c where c.iso_code = 'EUR' returning id`);
  channel = gid("SalesChannel", made.id);
});
after(() => shop.close());

const upsert = (list: string, rows: object[], more = {}) =>
  shop.mutate(
    `${list}Upsert`,
    { [list]: rows, ...more },
    { select: `results { outcome id userErrors { code field } }` },
  );
const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const person = (email: string, more: object) => ({
  salesChannelId: channel,
  email: `${email}@b.example`,
  firstName: "Ada",
  lastName: "L",
  ...more,
});

/** Rows with a key of each list by which rows are found, and where the key stands in them. */
const keyed: [list: string, row: (key: string) => object, path: string][] = [
  ["products", (productNumber) => ({ productNumber }), "productNumber"],
  ["warehouses", (code) => ({ code, name: "W" }), "code"],
  ["suppliers", (number) => ({ number, name: "S" }), "number"],
  ["batches", (number) => ({ number, productNumber: "glue" }), "number"],
  [
    "customers",
    (customerNumber) => person(`n${customerNumber.length}`, { customerNumber }),
    "customerNumber",
  ],
  ["customers", (storefrontId) => person(`s${storefrontId.length}`, { storefrontId }), "storefrontId"],
  ["customers", (email) => ({ ...person("", { customerNumber: `of ${email}` }), email }), "email"],
  ["orders", (orderNumber) => ({ orderNumber, currencyId: shop.id.EUR }), "orderNumber"],
  ["orders", (storefrontId) => ({ storefrontId, salesChannelId: channel }), "storefrontId"],
  ...["storefrontId", "identifier"].map((key): (typeof keyed)[number] => [
    "orders",
    (value) => ({
      orderNumber: `of ${value}`,
      currencyId: shop.id.EUR,
      lineItems: [{ [key]: value, label: "L", quantity: 1 }],
    }),
    `lineItems.0.${key}`,
  ]),
];
const blanks = ["", "   ", "\t", "\u00a0", "\u200b"];

describe("a blank key", () => {
  for (const [list, row, path] of keyed)
    it(`is no ${path} of ${list}`, async () => {
      for (const key of blanks)
        assert.deepEqual(
          refusals(await upsert(list, [row(key)])),
          [["INVALID", `${list}.0.${path}`]],
          JSON.stringify(key),
        );
      // White space is a part of a key
      const made = await upsert(list, [row(` ${path} `)]);
      assert.deepEqual([made.userErrors, outcomes(made)], [[], "CREATED"]);
    });

  it("is not given to what is there either", async () => {
    const { results } = await upsert("customers", [person("given", { customerNumber: "given" })]);
    assert.deepEqual(refusals(await upsert("customers", [{ id: results[0].id, storefrontId: "" }])), [
      ["INVALID", "customers.0.storefrontId"],
    ]);
  });

  it("is refused in files as in GraphQL", async () => {
    const token = await shop.token({ read: "all", write: "all" });
    const bulk = startTestBulk(shop);
    try {
      const errorsOf = async (list: string, body: string, type = "application/jsonl") => {
        const { status, body: answer, text } = await upload(shop, token, list, body, { type });
        assert.equal(status, 202, text);
        const done = await ended(shop, token, answer.bulkOperation.id);
        assert.equal(done.createdCount, 1, list);
        return (await linesAt(shop, done.errorsUrl)).map(({ line, code, field }) => [
          line,
          code,
          field.join("."),
        ]);
      };
      for (const [n, [list, row, path]] of keyed.entries())
        assert.deepEqual(await errorsOf(list, jsonl([row(""), row(" "), row(`file-${n}`)])), [
          [1, "INVALID", path],
          [2, "INVALID", path],
        ]);
      const csv = 'number,name\n" ",Blank\n"\t",Tab\n,Without\ncsv-1,One\n';
      assert.deepEqual(await errorsOf("suppliers", csv, "text/csv"), [
        [2, "INVALID", "number"],
        [3, "INVALID", "number"],
        [4, "REQUIRED", ""],
      ]);
    } finally {
      await bulk.stop();
    }
  });
});

describe("unique keys within a call", () => {
  /** Of each list, a row, and its unique keys as columns of their table. */
  const lists: [list: string, key: string, row: (key: string) => object, table: string, column: string][] = [
    ["products", "productNumber", () => ({}), "product", "product_number"],
    ["warehouses", "code", () => ({ name: "W" }), "warehouse", "code"],
    ["suppliers", "number", () => ({ name: "S" }), "supplier", "number"],
    ["batches", "number", () => ({ productNumber: "glue" }), "batch", "number"],
    ["customers", "customerNumber", (key) => person(`n-${key}`, {}), "customer", "customer_number"],
    ["customers", "storefrontId", (key) => person(`s-${key}`, {}), "customer", "storefront_id"],
    ["orders", "orderNumber", () => ({ currencyId: shop.id.EUR }), "sales_order", "order_number"],
    ["orders", "storefrontId", () => ({ salesChannelId: channel }), "sales_order", "storefront_id"],
  ];
  /** Makes rows of these keys, and returns their ids. */
  const make = async ([list, key, row]: (typeof lists)[number], ...keys: string[]): Promise<string[]> => {
    const { results, userErrors } = await upsert(
      list,
      keys.map((value) => ({ ...row(value), [key]: value })),
    );
    assert.deepEqual(userErrors, []);
    return results.map(({ id }: any) => id);
  };

  for (const each of lists) {
    const [list, key, row, table, column] = each;
    const keysOf = async (ids: string[]) => {
      const rows = await shop.sql(`select id, ${column} as key from erp.${table}`);
      return ids.map((id) => rows.find((found) => id.endsWith(found.id))?.key);
    };

    it(`may be exchanged: ${key} of ${list}`, async () => {
      const [a, b, c] = (await make(each, "x-a", "x-b", "x-c")) as [string, string, string];
      await sequence(shop.owner);
      const end = await endOfLog(shop.owner);
      const answer = await upsert(list, [
        { id: a, [key]: "x-b" },
        { id: b, [key]: "x-c" },
        { id: c, [key]: "x-a" },
      ]);
      assert.deepEqual([answer.userErrors, outcomes(answer)], [[], "UPDATED UPDATED UPDATED"]);
      assert.deepEqual(await keysOf([a, b, c]), ["x-b", "x-c", "x-a"]);
      // Each is told of once, with what it became
      await sequence(shop.owner);
      const told = (await logAfter(shop.owner, end)).map(({ data, changed_fields: fields }) => [
        data[key],
        fields,
      ]);
      const expected = ["suppliers", "warehouses"].includes(list)
        ? []
        : ["x-a", "x-b", "x-c"].map((value) => [value, [key]]);
      assert.deepEqual(told.sort(), expected);
    });

    it(`may be what another row gives up: ${key} of ${list}`, async () => {
      const [a] = (await make(each, "f-a")) as [string];
      for (const rows of [
        [
          { id: a, [key]: "f-b" },
          { ...row("f-new"), [key]: "f-a" },
        ],
        [
          { ...row("f-newer"), [key]: "f-b" },
          { id: a, [key]: "f-c" },
        ],
      ]) {
        const answer = await upsert(list, rows);
        assert.deepEqual(answer.userErrors, []);
        assert.deepEqual(outcomes(answer).split(" ").sort(), ["CREATED", "UPDATED"]);
      }
    });

    it(`are refused where two rows would have the same: ${key} of ${list}`, async () => {
      const [a, b, c] = (await make(each, "t-a", "t-b", "t-c")) as [string, string, string];
      const refused = async (...rows: object[]) => refusals(await upsert(list, rows));
      // One that keeps its key is not to blame, wherever it stands
      const kept = { id: b, [key]: "t-b" };
      assert.deepEqual(await refused({ id: a, [key]: "t-b" }, kept), [["NOT_UNIQUE", `${list}.0.${key}`]]);
      assert.deepEqual(await refused(kept, { id: a, [key]: "t-b" }), [["NOT_UNIQUE", `${list}.1.${key}`]]);
      assert.deepEqual(await refused({ id: a, [key]: "t-new" }, { id: b, [key]: "t-new" }), [
        ["NOT_UNIQUE", `${list}.1.${key}`],
      ]);
      assert.deepEqual(await refused({ id: a, [key]: "t-c" }, { id: b, [key]: "t-a" }), [
        ["NOT_UNIQUE", `${list}.0.${key}`],
      ]);
      // What a refused row would have given up is not free, nor what waits for that
      const partial = await upsert(
        list,
        [
          { id: a, [key]: "t-b" },
          { id: b, [key]: "t-c" },
          { id: c, [key]: "x".repeat(256) },
        ],
        { partial: true },
      );
      assert.equal(outcomes(partial), "REFUSED REFUSED REFUSED");
      assert.deepEqual(
        partial.results.map(({ userErrors }: any) => userErrors[0].code),
        ["NOT_UNIQUE", "NOT_UNIQUE", "OUT_OF_RANGE"],
      );
      assert.deepEqual(await keysOf([a, b, c]), ["t-a", "t-b", "t-c"]);
    });
  }

  it("may be exchanged several at once, with other changes, told of once", async () => {
    const row = (key: string) => ({
      orderNumber: `m-${key}`,
      storefrontId: `m-${key}`,
      salesChannelId: channel,
    });
    const { results } = await upsert("orders", [row("a"), row("b")]);
    const [a, b] = results.map(({ id }: any) => id);
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const answer = await upsert("orders", [
      { id: a, ...row("b"), taxStatus: "net" },
      { id: b, ...row("a"), taxStatus: "net" },
    ]);
    assert.deepEqual([answer.userErrors, outcomes(answer)], [[], "UPDATED UPDATED"]);
    await sequence(shop.owner);
    const told = (await logAfter(shop.owner, end)).map(({ data }) => [
      data.id,
      data.orderNumber,
      data.storefrontId,
    ]);
    assert.deepEqual(told, [
      [a, "m-b", "m-b"],
      [b, "m-a", "m-a"],
    ]);
  });

  it("are those after the call also for parents of variants", async () => {
    const [a, b] = (await make(lists[0]!, "p-a", "p-b")) as [string, string];
    const answer = await upsert("products", [
      { id: a, productNumber: "p-b" },
      { id: b, productNumber: "p-a" },
      { productNumber: "p-of-b", parentProductNumber: "p-b" },
    ]);
    assert.deepEqual(answer.userErrors, []);
    const [variant] = await shop.sql("select parent_id from erp.product where product_number = 'p-of-b'");
    assert.ok(a.endsWith(variant.parent_id));
    assert.deepEqual(
      refusals(
        await upsert("products", [
          { id: a, productNumber: "p-c" },
          { productNumber: "p-d", parentProductNumber: "p-b" },
        ]),
      ),
      [["NOT_FOUND", "products.1.parentProductNumber"]],
    );
  });

  it("that were exchanged are found by search", async () => {
    const [a, b] = (await make(lists[0]!, "find-a", "find-b")) as [string, string];
    await upsert("products", [
      { id: a, productNumber: "find-b" },
      { id: b, productNumber: "find-a" },
    ]);
    const token = await shop.token({ read: "all" });
    const { body } = await shop.ask(token, {
      query: `{ products(search: "find-b") { edges { node { id } } } }`,
    });
    assert.deepEqual(body.data.products.edges, [{ node: { id: a } }]);
  });
});

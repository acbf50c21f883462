import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const rows = `
  insert into erp.product (product_number, name, gtin, manufacturer_number, is_batch_managed) values
    ('TS-4711', 'Merino T-Shirt Höhenweg Moos L', '4006381333931', 'HW-1', false),
    ('TS-4712', 'Merino T-Shirt HÖHENWEG Rust M', null, null, false),
    ('CUP-1', 'Enamel Mug 100% steel', null, 'a_b-mug', true),
    ('CUP-2', 'Enamel Mug 1000 times', null, 'axb-mug', false);
  insert into erp.batch (product_id, number) select id, 'LOT-2026' from erp.product where product_number = 'CUP-1';
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency) values
    ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true);
  insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}');
  insert into erp.customer_group (name) values ('{"en-GB":"Retail"}');
  insert into erp.payment_method (technical_name) values ('test_bill');
  insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB":"Web"}', c.id, u.id, g.id, p.id
    from erp.country c, erp.currency u, erp.customer_group g, erp.payment_method p where p.technical_name = 'test_bill';
  insert into erp.customer (customer_number, email, first_name, last_name, company, group_id, sales_channel_id)
    select v.*, g.id, s.id from (values
      ('C-1', 'Ada.Lovelace@example.com', 'Ada', 'Lovelace', null),
      ('C-2', 'billing@example.org', 'Åsa', 'Ödegård', 'Nordwand AB')
    ) v, erp.customer_group g, erp.sales_channel s;
  insert into erp.sales_order (order_number, customer_id, currency_id, storefront_id, entered_tracking_codes, tracking_codes)
    select v.number, c.id, u.id, v.storefront, v.codes, to_jsonb(v.codes) from (values
      ('SO-10001', 'C-1', 'shop-77', array['00340434161094000001']), ('SO-10002', 'C-2', null, '{}'), ('SO-10003', null, null, '{}')
    ) v (number, customer, storefront, codes) left join erp.customer c on c.customer_number = v.customer, erp.currency u;
  insert into erp.supplier (number, name) select 'BR' || n, 'Broad Oak ' || n from generate_series(1, 10001) n;`;

let service: TestService;
let token: string;
before(async () => {
  service = await startService({ before: (owner) => owner.query(rows).then(() => {}) });
  token = await service.token();
});
after(() => service?.close());

const names: Record<string, string> = {
  products: "productNumber",
  customers: "customerNumber",
  orders: "orderNumber",
  batches: "number",
  suppliers: "number",
};

/** What a search finds, by number; the same by both ways of reading. */
async function find(list: string, search: unknown, more = "", as = token): Promise<string[]> {
  const query = `query ($search: String) { ${list}(search: $search, first: 250 ${more}) { edges { node { ${names[list]} } } } }`;
  const { body, text, headers } = await service.ask(as, { query, variables: { search } });
  assert.equal(body.errors, undefined, text);
  assert.equal(headers.get("x-read-by"), "sql");
  return body.data[list].edges.map(({ node }: any) => node[names[list]!]);
}

const refusal = async (search: string, list = "products") => {
  const { body, codes, text } = await service.ask(token, {
    query: `query ($search: String) { ${list}(search: $search) { edges { cursor } } }`,
    variables: { search },
  });
  assert.equal(codes.length, 1, text);
  return [codes[0], body.errors[0].message];
};

describe("a search finds", () => {
  const cases: [list: string, search: string | null, found: string[]][] = [
    ["products", "4711", ["TS-4711"]],
    ["products", "ts-47", ["TS-4711", "TS-4712"]],
    ["products", "höhenweg", ["TS-4711", "TS-4712"]],
    ["products", "HÖHEN moos", ["TS-4711"]],
    ["products", "  shirt \n merino l ", ["TS-4711"]],
    ["products", "4006381333931", ["TS-4711"]],
    ["products", "merino 333931", ["TS-4711"]],
    ["products", "100% steel", ["CUP-1"]],
    ["products", "100%", ["CUP-1"]],
    ["products", "a_b-mug", ["CUP-1"]],
    ["products", "enamel mug", ["CUP-1", "CUP-2"]],
    ["products", "o\u0308de enamel", []],
    ["products", "' or true; --", []],
    ["products", "\\%enamel", []],
    ["products", "nothing", []],
    ["products", null, ["TS-4711", "TS-4712", "CUP-1", "CUP-2"]],
    ["customers", "ada lovelace", ["C-1"]],
    ["customers", "LOVELACE@EXAMPLE", ["C-1"]],
    ["customers", "o\u0308dega\u030Ard", ["C-2"]],
    ["customers", "nordwand", ["C-2"]],
    ["orders", "10001", ["SO-10001"]],
    ["orders", "shop-77", ["SO-10001"]],
    ["orders", "00340434161094000001", ["SO-10001"]],
    ["orders", "ödegård", ["SO-10002"]],
    ["orders", "so-1000", ["SO-10001", "SO-10002", "SO-10003"]],
    ["batches", "lot-2026", ["LOT-2026"]],
    ["batches", "cup-1", ["LOT-2026"]],
  ];
  for (const [list, search, found] of cases)
    it(`${found.join(", ") || "nothing"} in ${list} by ${JSON.stringify(search)}`, async () =>
      assert.deepEqual(await find(list, search), found));

  it("what is filtered, page by page", async () => {
    assert.deepEqual(
      await find("products", "merino", ', filter: { productNumber: { startsWith: "TS-4712" } }'),
      ["TS-4712"],
    );
    const page = async (after: string | null) => {
      const query = `query ($after: String) { orders(search: "SO-1", first: 2, after: $after) {
        edges { node { orderNumber } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
      const { body } = await service.ask(token, { query, variables: { after } });
      return body.data.orders;
    };
    const first = await page(null);
    const second = await page(first.pageInfo.endCursor);
    assert.deepEqual(
      [...first.edges, ...second.edges].map(({ node }) => node.orderNumber),
      ["SO-10001", "SO-10002", "SO-10003"],
    );
    assert.deepEqual([first.pageInfo.hasPreviousPage, first.pageInfo.hasNextPage], [false, true]);
    assert.deepEqual([second.pageInfo.hasPreviousPage, second.pageInfo.hasNextPage], [true, false]);
  });

  it("products by what was changed since, and not by what was deleted", async () => {
    await service.owner.query(
      "insert into erp.product (product_number, name) values ('NEW-1', 'Kettle'); update erp.product set name = 'Teapot' where product_number = 'NEW-1'",
    );
    assert.deepEqual(await find("products", "teapot"), ["NEW-1"]);
    assert.deepEqual(await find("products", "kettle"), []);
    await service.owner.query("delete from erp.product where product_number = 'NEW-1'");
    assert.deepEqual(await find("products", "teapot"), []);
  });

  it("orders by their customer only for those who may read customers", async () => {
    const clerk = await service.token({ read: ["orders"] });
    assert.deepEqual(await find("orders", "ödegård", "", clerk), []);
    assert.deepEqual(await find("orders", "10002", "", clerk), ["SO-10002"]);
    const stranger = await service.token({ read: ["products"] });
    const { codes } = await service.ask(stranger, {
      query: '{ orders(search: "10002") { edges { cursor } } }',
    });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });
});

describe("a search is refused", () => {
  const refused: [why: string, search: string][] = [
    ["without a word", "  "],
    ["without three letters or digits in a word", "ab cd"],
    ["with signs only", "%%%%"],
    ["with more than 100 characters", "x".repeat(101)],
    ["with more than six words", "one two three four five six seven"],
    ["with a null character", "abc\0"],
  ];
  for (const [why, search] of refused)
    it(why, async () => assert.equal((await refusal(search))[0], "BAD_USER_INPUT"));

  it("when it finds too much, and says what to do", async () => {
    assert.deepEqual(await refusal("broad", "suppliers"), [
      "SEARCH_TOO_BROAD",
      "The search has more than 10,000 matches. Use a longer search term.",
    ]);
    assert.deepEqual(await find("suppliers", "broad 10001"), ["BR10001"]);
  });
});

it("a search costs five points, and one more than that where it is asked", async () => {
  const cost = async (args: string) =>
    (await service.ask(token, { query: `{ products(first: 10 ${args}) { edges { cursor } } }` })).body
      .extensions.cost.requested;
  assert.equal((await cost(', search: "merino"')) - (await cost("")), 5);
});

it("a search reads no table as a whole, and gives nothing to those who may not read it", async () => {
  const client = new pg.Client({ connectionString: service.adminUrl });
  await client.connect();
  try {
    await client.query("begin; set local role service_api");
    for (const list of ["products", "customers", "orders", "batches", "documents", "suppliers"]) {
      const search = `select search.unstable_${list}(array['%so-10001%']) as found`;
      await client.query("select set_config('service.scopes', '', true)");
      assert.deepEqual((await client.query(search)).rows, [{ found: [] }]);
      await client.query(
        "select set_config('service.scopes', 'products:read customers:read orders:read batches:read documents:read suppliers:read', true)",
      );
      await client.query(search);
    }
    await client.query("reset role");
    const { rows: scans } = await client.query(
      "select relname from pg_stat_xact_user_tables where schemaname = 'erp' and seq_scan > 0",
    );
    assert.deepEqual(scans, []);
  } finally {
    await client.end();
  }
});

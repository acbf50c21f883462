import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { gid, missingId, uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

// What upserts share is tested with products
let shop: Shop;
let ids: Record<string, string>;
before(async () => {
  shop = await openShop();
  await shop.owner.query(scene);
  const { rows } = await shop.owner.query(
    `select 'channel' || row_number() over (order by id) as name, 'SalesChannel' as type, id from erp.sales_channel
     union all select name ->> 'en-GB', 'CustomerGroup', id from erp.customer_group
     union all select technical_name, 'PaymentMethod', id from erp.payment_method where technical_name = 'test_bill'`,
  );
  ids = Object.fromEntries(rows.map(({ name, type, id }) => [name, gid(type, id)]));
});
after(() => shop.close());

const scene = `
  insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') on conflict do nothing;
  insert into erp.customer_group (name) values ('{"en-GB":"Retail"}'), ('{"en-GB":"Trade"}');
  insert into erp.payment_method (technical_name) values ('test_bill');
  insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
  select '{"en-GB":"Shop"}', (select id from erp.country where iso_code = 'DE'), c.id,
    (select id from erp.customer_group where name ->> 'en-GB' = 'Retail'), p.id
  from erp.currency c cross join erp.payment_method p cross join generate_series(1, 2)
  where c.iso_code = 'EUR' and p.technical_name = 'test_bill'`;

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const results = "results { index outcome id userErrors { code field } }";

describe("numbers that no client can read back", () => {
  const send = async (row: string, variables = "{}") => {
    const token = await shop.token({ write: ["suppliers"] });
    const query = `mutation ($v: JSON) {
      suppliersUpsert(input: { suppliers: [{ number: "I", name: "I", ${row} }] }) { userErrors { code } } }`;
    return shop.ask(token, `{"query":${JSON.stringify(query)},"variables":${variables}}`);
  };

  it("are refused as literals, not stored as null", async () => {
    for (const row of [
      "minimumOrderValue: 1e999, address: $v",
      "address: { city: $v, zipcode: -1e999 }",
      "address: { city: [$v, Hamburg] }",
      "address: [$v, Hamburg]",
      "address: [[-1e999, $v]]",
    ]) {
      const { codes } = await send(row);
      assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"], row);
    }
  });

  it("are refused within JSON of variables", async () => {
    const { codes } = await send("address: $v", '{"v":{"city":[{"a":-1e999}]}}');
    assert.deepEqual(codes, ["BAD_USER_INPUT"]);
  });
});

describe("suppliersUpsert", () => {
  const fields = `number name customerNumber currencyId languageCode email phone address defaultDeliveryTimeDays
    minimumOrderValue vatId active`;
  const suppliers = (rows: object[], more = {}) =>
    shop.mutate(
      "suppliersUpsert",
      { suppliers: rows, ...more },
      { select: `${results} suppliers { id ${fields} }` },
    );

  it("refuses addresses with other keys than clients are promised, but leaves old ones alone", async () => {
    const entered = { city: "Köln", zip: "50667" };
    for (const [name, row] of [
      ["suppliers", { number: "old", name: "Old" }],
      ["warehouses", { code: "old", name: "Old" }],
    ] as const) {
      const upsert = (more: object) =>
        shop.mutate(`${name}Upsert`, { [name]: [{ ...row, ...more }] }, { select: results });
      for (const address of [entered, { city: 5 }, { city: "Köln", "": null }])
        assert.deepEqual(refusals(await upsert({ address })), [["INVALID", `${name}.0.address`]]);
      assert.equal(outcomes(await upsert({ address: { city: "Köln" } })), "CREATED");
      await shop.owner.query(`update erp.${name.slice(0, -1)} set address = $1 where name = 'Old'`, [
        entered,
      ]);
      assert.equal(outcomes(await upsert({ name: "New" })), "UPDATED");
    }
  });

  it("makes and changes suppliers, known by id or number", async () => {
    const row = {
      ...{
        number: "S-1",
        name: "Sawmill",
        customerNumber: "4711",
        currencyId: shop.id.USD,
        languageCode: "de-DE",
      },
      email: "a@b.example",
      phone: "1",
      address: { city: "Köln" },
      defaultDeliveryTimeDays: 3,
      minimumOrderValue: 10.5,
      vatId: "DE1",
      active: false,
    };
    const made = await suppliers([row, { number: "acme", name: "Acme" }]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED UPDATED");
    const { id, ...others } = made.suppliers[0];
    assert.deepEqual(others, row);
    assert.equal(outcomes(await suppliers([row])), "UNCHANGED");
    const renamed = await suppliers([{ id, number: "S-2", currencyId: null }]);
    assert.deepEqual(renamed.suppliers[0], { ...made.suppliers[0], number: "S-2", currencyId: null });
  });

  it("refuses each mistake by its row and field", async () => {
    const mistakes: [row: object, code: string, field: string][] = [
      [{ number: "N" }, "REQUIRED", "name"],
      [{ number: "N2", name: " " }, "INVALID", "name"],
      [{ id: shop.id.acme, number: "forge" }, "NOT_UNIQUE", "number"],
      [{ number: "yankee", languageCode: "xx-XX" }, "NOT_FOUND", "languageCode"],
      [{ number: "N3", name: "N", currencyId: missingId("Currency") }, "NOT_FOUND", "currencyId"],
      [{ number: "N4", name: "N", address: "Hafenweg 1" }, "INVALID", "address"],
      [{ number: "N5", name: "N", defaultDeliveryTimeDays: -1 }, "OUT_OF_RANGE", "defaultDeliveryTimeDays"],
      [{ number: "N6", name: "N", minimumOrderValue: -1 }, "OUT_OF_RANGE", "minimumOrderValue"],
      [{ number: "N7", name: "N", active: null }, "REQUIRED", "active"],
    ];
    const expected = mistakes.map(([, code, field], n) => [code, `suppliers.${n}.${field}`]);
    assert.deepEqual(refusals(await suppliers(mistakes.map(([row]) => row))), expected);
  });
});

describe("warehousesUpsert", () => {
  const warehouses = (rows: object[], more = {}) =>
    shop.mutate(
      "warehousesUpsert",
      { warehouses: rows, ...more },
      {
        select: `${results} warehouses { id code name isDefault isDefaultReceiving address location { name } }`,
      },
    );
  const defaults = async () => {
    const { rows } = await shop.owner.query(
      `select string_agg(code, ' ') filter (where is_default) as a, string_agg(code, ' ') filter (where is_default_receiving) as b
       from erp.warehouse`,
    );
    return `${rows[0].a} / ${rows[0].b}`;
  };

  it("makes and changes warehouses, known by id or code, with their locations", async () => {
    const made = await warehouses([
      { code: "W1", name: "One", address: { city: "Lyon" } },
      { code: "shed", name: "Shed 2", isDefault: true },
    ]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED UPDATED");
    assert.deepEqual(
      made.warehouses.map(({ location }: any) => location.name),
      ["One", "Shed 2"],
    );
    assert.equal(await defaults(), "shed / hall");
    assert.equal(
      outcomes(await warehouses([{ code: "shed", name: "Shed 2", isDefault: true }])),
      "UNCHANGED",
    );
    await warehouses([
      { code: "hall", isDefault: true },
      { code: "shed", isDefault: false },
    ]);
    assert.equal(await defaults(), "hall / hall");
  });

  it("refuses each mistake, and leaves no warehouse without its defaults", async () => {
    const refused = await warehouses([
      { code: "W2" },
      { id: shop.id.shed, code: "returns" },
      { code: "W3", name: "n".repeat(256) },
      { code: "W4", name: "N", address: [] },
      { code: "hall", isDefault: false },
      { code: "W5", name: "N", isDefaultReceiving: true },
      { code: "W6", name: "N", isDefaultReceiving: true },
    ]);
    assert.deepEqual(refusals(refused), [
      ["REQUIRED", "warehouses.0.name"],
      ["NOT_UNIQUE", "warehouses.1.code"],
      ["OUT_OF_RANGE", "warehouses.2.name"],
      ["INVALID", "warehouses.3.address"],
      ["INVALID", "warehouses.4.isDefault"],
      ["NOT_UNIQUE", "warehouses.6.isDefaultReceiving"],
    ]);
    assert.equal(await defaults(), "hall / hall");
  });
});

describe("customersUpsert", () => {
  const fields = `id customerNumber storefrontId email firstName lastName accountType title company vatIds active guest
    groupId salesChannelId boundSalesChannel { id } requestedGroup { id } defaultPaymentMethod { id }
    tags { edges { node { name } } }`;
  const customers = (rows: object[], more = {}) =>
    shop.mutate(
      "customersUpsert",
      { customers: rows, ...more },
      { select: `${results} customers { ${fields} }` },
    );
  const person = (more: object) => ({
    salesChannelId: ids.channel1,
    email: "ada@b.example",
    firstName: "Ada",
    lastName: "L",
    ...more,
  });

  it("makes customers, with the terms of their channel, and numbers where none is given", async () => {
    const answer = await customers([
      person({ storefrontId: "c1" }),
      person({
        ...{
          customerNumber: "4711",
          email: "b@b.example",
          accountType: "Business",
          company: "B",
          title: "Dr.",
        },
        vatIds: ["DE1"],
        active: false,
        guest: true,
        groupId: ids.Trade,
        requestedGroupId: ids.Retail,
        boundSalesChannelId: ids.channel2,
        defaultPaymentMethodId: ids.test_bill,
        tags: ["vip"],
      }),
      person({ storefrontId: "c3", email: "c@b.example" }),
    ]);
    assert.deepEqual(answer.userErrors, []);
    assert.equal(outcomes(answer), "CREATED CREATED CREATED");
    const [ada, b, c] = answer.customers;
    assert.deepEqual(
      [ada.groupId, ada.accountType, ada.active, ada.guest],
      [ids.Retail, "Private", true, false],
    );
    const numbers = [ada, c].map(({ customerNumber }: any) => Number(/\d+$/.exec(customerNumber)![0]));
    assert.equal(numbers[1], numbers[0]! + 1);
    assert.deepEqual([b.customerNumber, b.groupId, b.vatIds, b.company], ["4711", ids.Trade, ["DE1"], "B"]);
    assert.deepEqual(
      [b.boundSalesChannel.id, b.requestedGroup.id, b.defaultPaymentMethod.id],
      [ids.channel2, ids.Retail, ids.test_bill],
    );
    assert.equal(b.tags.edges[0].node.name, "vip");
  });

  it("knows them by storefrontId and channel, else by number, and tells events", async () => {
    const first = await customers([
      person({ storefrontId: "k1", customerNumber: "k-1", email: "k1@b.example" }),
    ]);
    // The same storefrontId in another channel is somebody else
    const other = person({ storefrontId: "k1", salesChannelId: ids.channel2, email: "k1@b.example" });
    assert.equal(outcomes(await customers([other])), "CREATED");
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const key = { storefrontId: "k1", salesChannelId: ids.channel1 };
    const changed = await customers([{ ...key, firstName: "Eva" }]);
    assert.equal(outcomes(changed), "UPDATED");
    assert.equal(changed.customers[0].id, first.customers[0].id);
    assert.equal(outcomes(await customers([{ ...key, firstName: "Eva" }])), "UNCHANGED");
    await sequence(shop.owner);
    const events = (await logAfter(shop.owner, end)).map(({ topic, changed_fields: names }) => [
      topic,
      names,
    ]);
    assert.deepEqual(events, [["customer.updated", ["firstName"]]]);
    // One that is not imported yet gets its storefrontId, one that is keeps it
    const byNumber = await customers([person({ customerNumber: "n-1", email: "n1@b.example" })]);
    const linked = await customers([
      { customerNumber: "n-1", storefrontId: "n1", salesChannelId: ids.channel1 },
    ]);
    assert.deepEqual([outcomes(linked), linked.customers[0].id], ["UPDATED", byNumber.customers[0].id]);
    const taken = await customers([
      person({ customerNumber: "n-1", storefrontId: "n2", email: "x@b.example" }),
    ]);
    assert.deepEqual(refusals(taken), [["NOT_UNIQUE", "customers.0.customerNumber"]]);
  });

  it("refuses each mistake by its row and field", async () => {
    const mistakes: [row: object, code: string, field: string][] = [
      [{ email: "nobody@b.example" }, "REQUIRED", ""],
      [
        person({ storefrontId: "m1", salesChannelId: undefined, email: "m1@b.example", groupId: ids.Trade }),
        "REQUIRED",
        ".salesChannelId",
      ],
      [person({ customerNumber: "m2" }), "NOT_UNIQUE", ".email"],
      [
        person({ customerNumber: "m3", email: "m3@b.example", groupId: missingId("CustomerGroup") }),
        "NOT_FOUND",
        ".groupId",
      ],
      [person({ customerNumber: "m4", email: "m4@b.example", vatIds: [1] }), "INVALID", ".vatIds"],
      [person({ customerNumber: "m5", email: "m5@b.example", lastName: null }), "REQUIRED", ".lastName"],
      [person({ customerNumber: "m6", email: "m6@b.example", tags: [""] }), "INVALID", ".tags.0"],
    ];
    for (const [row, code, field] of mistakes)
      assert.deepEqual(
        refusals(await customers([row])),
        [[code, `customers.0${field}`]],
        JSON.stringify(row),
      );
    const twice = person({ storefrontId: "m8", email: "m8@b.example" });
    assert.ok(refusals(await customers([twice, twice])).some(([code]) => code === "NOT_UNIQUE"));
    const elsewhere = { salesChannelId: missingId("SalesChannel"), groupId: ids.Trade };
    const nobody = person({ storefrontId: "m9", email: "m9@b.example", ...elsewhere });
    assert.deepEqual(refusals(await customers([nobody])), [["NOT_FOUND", "customers.0.salesChannelId"]]);
    assert.deepEqual(refusals(await customers([{ id: missingId("Customer"), firstName: "Eva" }])), [
      ["NOT_FOUND", "customers.0.id"],
    ]);
    const partial = await customers(
      [person({ customerNumber: "m7", email: "m7@b.example" }), mistakes[3]![0]],
      { partial: true },
    );
    assert.equal(outcomes(partial), "CREATED REFUSED");
  });

  it("lets callers make the same customer at once", async () => {
    const row = person({ storefrontId: "race", email: "race@b.example" });
    const answers = await Promise.all([1, 2, 3].map(() => customers([row])));
    assert.deepEqual(
      answers.flatMap(({ userErrors }: any) => userErrors),
      [],
    );
    assert.equal(new Set(answers.map((answer) => uuidOf(answer.customers[0].id))).size, 1);
  });
});

for (const [name, list] of Object.entries({
  suppliersUpsert: { suppliers: [{ number: "scope", name: "Scope" }] },
  warehousesUpsert: { warehouses: [{ code: "scope", name: "Scope" }] },
  customersUpsert: { customers: [{ customerNumber: "scope" }] },
}))
  it(`${name} is forbidden without its scope`, async () => {
    const others = ["suppliers", "warehouses", "customers", "products", "orders"].filter(
      (r) => !name.startsWith(r),
    );
    const token = await shop.token({ read: "all", write: others });
    assert.deepEqual((await shop.tryMutate(name, list, { token })).codes, ["FORBIDDEN"]);
  });

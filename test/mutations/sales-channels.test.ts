import assert from "node:assert/strict";
import { before, after, describe, it } from "node:test";
import { gid, missingId } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
  await shop.owner.query(scene);
  const { rows } = await shop.owner.query(
    `select iso_code as name, 'Country' as type, id from erp.country
     union all select technical_name, 'CustomerGroup', id from erp.customer_group
     union all select technical_name, 'PaymentMethod', id from erp.payment_method`,
  );
  for (const { name, type, id } of rows) shop.id[name] = gid(type, id);
});
after(() => shop.close());

const scene = `
  insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}'), ('AT', '{"en-GB":"Austria"}'),
    ('FR', '{"en-GB":"France"}') on conflict do nothing;
  insert into erp.customer_group (technical_name, name) values ('retail', '{"en-GB":"Retail"}'), ('club', '{"en-GB":"Club"}');
  insert into erp.payment_method (technical_name, active) values ('bill', true), ('card', true), ('cheque', false)`;

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const fields = `id technicalName name nameByLocale country { isoCode } currency { isoCode } customerGroup { technicalName }
  paymentMethod { technicalName } countries { edges { node { isoCode } } } currencies { edges { node { isoCode } } }
  paymentMethods { edges { node { technicalName } } } customerGroupsRegistrations { edges { node { technicalName } } }`;
const upsert = (rows: object[], more = {}) =>
  shop.mutate(
    "salesChannelsUpsert",
    { salesChannels: rows, ...more },
    { select: `results { outcome userErrors { code field } } salesChannels { ${fields} }` },
  );

const row = {
  technicalName: "web",
  nameByLocale: { "en-GB": "Web shop", "de-DE": "Webshop" },
  ...{ countryIsoCode: "DE", currencyIsoCode: "EUR" },
  ...{ customerGroupTechnicalName: "retail", paymentMethodTechnicalName: "bill" },
};
const listed = (connection: any) =>
  connection.edges.map(({ node }: any) => node.isoCode ?? node.technicalName).sort();
const lists = ({ countries, currencies, paymentMethods, customerGroupsRegistrations }: any) =>
  [countries, currencies, paymentMethods, customerGroupsRegistrations].map(listed);

describe("salesChannelsUpsert", () => {
  it("makes a sales channel from names, which offers what it begins with", async () => {
    const made = await upsert([row]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED");
    const [channel] = made.salesChannels;
    assert.deepEqual(
      [channel.technicalName, channel.name, channel.nameByLocale],
      ["web", "Web shop", row.nameByLocale],
    );
    assert.deepEqual(
      [channel.country, channel.currency, channel.customerGroup, channel.paymentMethod].map(
        (one) => one.isoCode ?? one.technicalName,
      ),
      ["DE", "EUR", "retail", "bill"],
    );
    assert.deepEqual(lists(channel), [["DE"], ["EUR"], ["bill"], []]);
    assert.equal(outcomes(await upsert([row])), "UNCHANGED");
  });

  it("takes ids as well, and sets whole lists", async () => {
    await upsert([row]);
    const full = {
      technicalName: "web",
      ...{ countryId: shop.id.DE, currencyId: shop.id.EUR },
      ...{ customerGroupId: shop.id.retail, paymentMethodId: shop.id.bill },
      countryIds: [shop.id.DE],
      countryIsoCodes: ["AT", "AT"],
      currencyIds: [shop.id.EUR, shop.id.USD],
      paymentMethodTechnicalNames: ["bill", "card"],
      registrationGroupIds: [shop.id.club],
    };
    const changed = await upsert([full]);
    assert.deepEqual(changed.userErrors, []);
    assert.equal(outcomes(changed), "UPDATED");
    assert.deepEqual(lists(changed.salesChannels[0]), [
      ["AT", "DE"],
      ["EUR", "USD"],
      ["bill", "card"],
      ["club"],
    ]);
    assert.equal(outcomes(await upsert([full])), "UNCHANGED");
    const fewer = await upsert([
      { technicalName: "web", countryIsoCodes: ["DE"], registrationGroupIds: null },
    ]);
    assert.deepEqual(lists(fewer.salesChannels[0]), [["DE"], ["EUR", "USD"], ["bill", "card"], []]);
  });

  it("offers another beginning when it is changed, and keeps the former one in the list", async () => {
    await upsert([{ ...row, technicalName: "moving" }]);
    const moved = await upsert([{ technicalName: "moving", countryIsoCode: "FR" }]);
    assert.deepEqual(lists(moved.salesChannels[0])[0], ["DE", "FR"]);
  });

  const mistakes: [what: string, change: () => object, code: string, field: string][] = [
    ["an unknown ISO code", () => ({ countryIsoCode: "XX" }), "NOT_FOUND", "countryIsoCode"],
    ["an unknown id", () => ({ countryId: missingId("Country") }), "INVALID", "countryIsoCode"],
    ["two that differ", () => ({ currencyId: shop.id.USD }), "INVALID", "currencyIsoCode"],
    ["no payment method", () => ({ paymentMethodTechnicalName: null }), "REQUIRED", "paymentMethodId"],
    [
      "an inactive payment method",
      () => ({ paymentMethodTechnicalName: "cheque" }),
      "INVALID",
      "paymentMethodId",
    ],
    ["a list without its beginning", () => ({ countryIsoCodes: ["AT"] }), "INVALID", "countryIsoCodes"],
    ["an empty list", () => ({ paymentMethodIds: [] }), "INVALID", "paymentMethodIds"],
    ["an unknown one in a list", () => ({ countryIsoCodes: ["DE", "XX"] }), "NOT_FOUND", "countryIsoCodes.1"],
    [
      "an unknown group",
      () => ({ registrationGroupIds: [missingId("CustomerGroup")] }),
      "NOT_FOUND",
      "registrationGroupIds.0",
    ],
    [
      "a long list",
      () => ({ registrationGroupTechnicalNames: Array(251).fill("club") }),
      "TOO_MANY_LINES",
      "registrationGroupTechnicalNames",
    ],
  ];
  for (const [what, change, code, field] of mistakes)
    it(`refuses ${what}: ${code}`, async () => {
      const refused = await upsert([{ ...row, technicalName: "new", ...change() }]);
      assert.deepEqual(refusals(refused), [[code, `salesChannels.0.${field}`]]);
    });

  it("does the good rows of a partial call, with their lists", async () => {
    const rows = [
      { ...row, technicalName: "good", countryIsoCodes: ["DE", "FR"] },
      { ...row, technicalName: "bad", countryIsoCodes: ["FR"] },
    ];
    const partly = await upsert(rows, { partial: true });
    assert.equal(outcomes(partly), "CREATED REFUSED");
    assert.deepEqual(lists(partly.salesChannels[0])[0], ["DE", "FR"]);
  });
});

describe("what a sales channel begins with", () => {
  const refused = async (sql: string, message: RegExp) =>
    assert.rejects(shop.owner.query(sql), ({ message: told }: Error) => message.test(told));

  before(() => upsert([{ ...row, technicalName: "fixed" }]));

  it("stays an active payment method", async () => {
    const paymentMethods = [{ technicalName: "bill", active: false }];
    assert.deepEqual(refusals(await shop.mutate("paymentMethodsUpsert", { paymentMethods })), [
      ["REFERENCE_IN_USE", "paymentMethods.0.active"],
    ]);
    await refused(
      "update erp.payment_method set active = false where technical_name = 'bill'",
      /begins with/,
    );
    await refused(
      `update erp.sales_channel set payment_method_id = (select id from erp.payment_method where technical_name = 'cheque')`,
      /not active/,
    );
  });

  it("stays among what it offers, for whoever writes", async () => {
    for (const thing of ["country", "currency", "payment_method"])
      await refused(`delete from erp.sales_channel_${thing}`, /begins with it/);
    await shop.owner.query("delete from erp.sales_channel where technical_name = 'fixed'");
  });

  it("is offered by those that are inserted in SQL", async () => {
    const { rows } = await shop.owner.query(
      `with made as (
         insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
         select '{"en-GB":"Till"}', country_id, currency_id, customer_group_id, payment_method_id
         from erp.sales_channel limit 1 returning id)
       select id from made`,
    );
    const { rows: offers } = await shop.owner.query(
      `select (select count(*)::int from erp.sales_channel_country where sales_channel_id = $1) as countries,
         (select count(*)::int from erp.sales_channel_payment_method where sales_channel_id = $1) as methods`,
      [rows[0].id],
    );
    assert.deepEqual(offers, [{ countries: 1, methods: 1 }]);
  });
});

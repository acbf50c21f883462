import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";

// As many connections as callers, so that they really meet in the database
let shop: Shop;
before(async () => {
  shop = await openShop({ poolSize: 20 });
  await shop.owner.query(`
    insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}'), ('AT', '{"en-GB":"Austria"}') on conflict do nothing;
    insert into erp.customer_group (technical_name, name) values ('retail', '{"en-GB":"Retail"}');
    insert into erp.payment_method (technical_name) values ('bill'), ('card')`);
});
after(() => shop.close());

const count = 10;
const nameByLocale = { "en-GB": "Name" };
const channel = { customerGroupTechnicalName: "retail", paymentMethodTechnicalName: "bill", nameByLocale };

/** For each kind of master data, rows about the same object: the same key, and something else for each caller. */
const kinds: Record<string, (n: number) => object> = {
  tags: () => ({ name: "same" }),
  customerGroups: (n) => ({ technicalName: "same", nameByLocale: { "en-GB": `Name ${n}` } }),
  paymentMethods: (n) => ({ technicalName: "same", position: n }),
  shippingMethods: (n) => ({ technicalName: "same", nameByLocale: { "en-GB": `Name ${n}` } }),
  salesChannels: (n) => ({
    ...{ ...channel, technicalName: "same", countryIsoCode: "DE", currencyIsoCode: "EUR" },
    countryIsoCodes: n % 2 ? ["DE"] : ["DE", "AT"],
  }),
  locations: (n) => ({ storefrontId: "same", name: `Name ${n}` }),
  productWarehouseConfigurations: (n) => ({
    productNumber: "nail",
    warehouseCode: "hall",
    reorderPoint: n,
  }),
  productStockLocationConfigurations: (n) => ({
    ...{ productNumber: "nail", warehouseCode: "hall" },
    binLocationCode: "A-1",
    reorderPoint: n,
  }),
};

describe("calls at once with the same key", () => {
  for (const [list, rowOf] of Object.entries(kinds))
    it(`make one of ${list}, and the others change it`, async () => {
      const payloads = await Promise.all(
        Array.from({ length: count }, (_, n) =>
          shop.mutate(
            `${list}Upsert`,
            { [list]: [rowOf(n)] },
            { select: `results { outcome } ${list} { id }` },
          ),
        ),
      );
      const made = payloads.filter(({ results }) => results[0].outcome === "CREATED");
      assert.equal(made.length, 1);
      assert.equal(new Set(payloads.map(({ [list]: [one] }) => one.id)).size, 1);
    });
});

describe("a payment method that is deactivated", () => {
  it("isn't what a sales channel begins with that is made at the same time", async () => {
    for (let n = 0; n < 5; n++) {
      await shop.mutate("paymentMethodsUpsert", {
        paymentMethods: [{ technicalName: "card", active: true }],
      });
      await shop.owner.query("delete from erp.sales_channel where technical_name = 'card'");
      const row = { ...channel, technicalName: "card", countryIsoCode: "DE", currencyIsoCode: "EUR" };
      await Promise.all([
        shop.tryMutate("paymentMethodsUpsert", {
          paymentMethods: [{ technicalName: "card", active: false }],
        }),
        shop.tryMutate("salesChannelsUpsert", {
          salesChannels: [{ ...row, paymentMethodTechnicalName: "card" }],
        }),
      ]);
      const { rows } = await shop.owner.query(
        `select from erp.sales_channel c join erp.payment_method p on p.id = c.payment_method_id where not p.active`,
      );
      assert.deepEqual(rows, []);
    }
  });
});

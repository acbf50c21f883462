import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());
beforeEach(() =>
  shop.owner.query(
    "delete from erp.product_supplier_configuration; delete from erp.product_purchase_price; delete from erp.exchange_rate",
  ),
);
afterEach(() => assertLedgerIsRight(shop));

type Prices = Record<string, [net: number, gross: number]>;
const inputOf = (prices: Prices) =>
  Object.entries(prices).map(([currency, [net, gross]]) => ({ currencyId: shop.id[currency], net, gross }));
const shown = (prices: any[] | null): Prices | null =>
  prices &&
  Object.fromEntries(
    prices.map(({ currencyId, net, gross }) => [currencyId === shop.id.EUR ? "EUR" : "USD", [net, gross]]),
  );

const select =
  "productSupplierConfiguration { id supplierIsDefault minPurchase supplierProductNumber purchasePrices { currencyId net gross linked } }";
async function assign(supplier: string, purchasePrices: Prices, rest: object = {}): Promise<string> {
  const input = {
    productId: shop.id.hammer,
    supplierId: shop.id[supplier],
    purchasePrices: inputOf(purchasePrices),
    ...rest,
  };
  const payload = await shop.mutate("productSupplierConfigurationCreate", input, { select });
  assert.deepEqual(payload.userErrors, []);
  return payload.productSupplierConfiguration.id;
}
const update = (id: string, input: object) =>
  shop.mutate("productSupplierConfigurationUpdate", { id, ...input }, { select });
const setDefault = (id: string) => shop.mutate("productSupplierConfigurationSetDefault", { id }, { select });

async function prices(): Promise<{ product: Prices | null; suppliers: Record<string, Prices> }> {
  const query = `{ product(id: "${shop.id.hammer}") { purchasePrices { currencyId net gross } }
    productSupplierConfigurations { edges { node { supplier { number } purchasePrices { currencyId net gross } } } } }`;
  const { data } = (await shop.ask(await shop.token(), { query })).body;
  const suppliers = data.productSupplierConfigurations.edges.map(({ node }: any) => [
    node.supplier.number,
    shown(node.purchasePrices),
  ]);
  return { product: shown(data.product.purchasePrices), suppliers: Object.fromEntries(suppliers) };
}
/** Changes of the product's prices by another program, or an administrator. */
const setProductPrices = async (given: Prices) => {
  const id = shop.id.hammer!.slice(-36);
  await shop.owner.query("delete from erp.product_purchase_price where product_id = $1", [id]);
  for (const [currency, [net, gross]] of Object.entries(given))
    await shop.owner.query(
      "insert into erp.product_purchase_price (product_id, currency_id, net, gross) values ($1, $2, $3, $4)",
      [id, shop.id[currency]!.slice(-36), net, gross],
    );
};

for (const supplier of ["acme", "forge"]) {
  describe(`a default supplier who is paid in the default currency (${supplier})`, () => {
    it("gives the product its prices, all of them, whenever they change", async () => {
      const id = await assign(supplier, { EUR: [10, 11.9], USD: [12, 14.28] }, { supplierIsDefault: true });
      assert.deepEqual((await prices()).product, { EUR: [10, 11.9], USD: [12, 14.28] });
      await update(id, { purchasePrices: inputOf({ EUR: [9, 10.71] }) });
      assert.deepEqual((await prices()).product, { EUR: [9, 10.71] });
      await update(id, { purchasePrices: [] });
      assert.equal((await prices()).product, null);
    });

    it("takes over the prices of the product", async () => {
      await assign(supplier, { EUR: [10, 11.9], USD: [12, 14.28] }, { supplierIsDefault: true });
      await setProductPrices({ EUR: [8, 9.52] });
      const expected = { EUR: [8, 9.52] };
      assert.deepEqual(await prices(), { product: expected, suppliers: { [supplier]: expected } });
    });
  });
}

describe("a default supplier who is paid in another currency", () => {
  it("gives the product its price, converted by the rate of the moment", async () => {
    const id = await assign("yankee", { USD: [10, 12.5] }, { supplierIsDefault: true });
    assert.deepEqual((await prices()).product, { EUR: [8, 10] });
    await shop.owner.query(
      "insert into erp.exchange_rate (currency_id, reference_date, factor, source) select id, current_date, 2, 'ECB' from erp.currency where iso_code = 'USD'",
    );
    assert.deepEqual((await prices()).product, { EUR: [8, 10] }, "a new rate alone changes nothing");
    await update(id, { purchasePrices: inputOf({ USD: [20, 25] }) });
    assert.deepEqual((await prices()).product, { EUR: [10, 12.5] });
  });

  it("keeps its own when the product's change", async () => {
    await assign("yankee", { USD: [10, 12.5] }, { supplierIsDefault: true });
    await setProductPrices({ EUR: [1, 2] });
    assert.deepEqual(await prices(), {
      product: { EUR: [1, 2] },
      suppliers: { yankee: { USD: [10, 12.5] } },
    });
  });
});

describe("other suppliers", () => {
  it("keep their prices to themselves", async () => {
    await assign("acme", { EUR: [10, 11.9] }, { supplierIsDefault: true });
    const other = await assign("forge", { EUR: [7, 8.33] });
    await update(other, { purchasePrices: inputOf({ EUR: [6, 7.14] }) });
    await setProductPrices({ EUR: [9, 10.71] });
    assert.deepEqual(await prices(), {
      product: { EUR: [9, 10.71] },
      suppliers: { acme: { EUR: [9, 10.71] }, forge: { EUR: [6, 7.14] } },
    });
  });

  it("hand theirs over when they become the default", async () => {
    await assign("acme", { EUR: [10, 11.9] }, { supplierIsDefault: true });
    await setDefault(await assign("yankee", { USD: [10, 12.5] }));
    assert.deepEqual(await prices(), {
      product: { EUR: [8, 10] },
      suppliers: { acme: { EUR: [10, 11.9] }, yankee: { USD: [10, 12.5] } },
    });
  });

  it("are one default at most, however many want it at once", async () => {
    const ids = [
      await assign("acme", { EUR: [1, 1] }),
      await assign("forge", { EUR: [2, 2] }),
      await assign("yankee", {}),
    ];
    const payloads = await Promise.all(Array.from({ length: 24 }, (_, n) => setDefault(ids[n % 3]!)));
    assert.ok(payloads.every(({ userErrors }) => userErrors.length === 0));
    const { rows } = await shop.owner.query(
      "select count(*)::int as count from erp.product_supplier_configuration where supplier_is_default",
    );
    assert.equal(rows[0].count, 1);
  });
});

describe("assignments of suppliers", () => {
  it("leave the product its prices when they go", async () => {
    const id = await assign("acme", { EUR: [10, 11.9] }, { supplierIsDefault: true });
    const { deletedProductSupplierConfigurationId } = await shop.mutate(
      "productSupplierConfigurationDelete",
      { id },
      { select: "deletedProductSupplierConfigurationId" },
    );
    assert.equal(deletedProductSupplierConfigurationId, id);
    assert.deepEqual((await prices()).product, { EUR: [10, 11.9] });
    assert.deepEqual(refusals(await setDefault(id)), [["NOT_FOUND", "id"]]);
  });

  it("change what is named", async () => {
    const id = await assign("acme", { EUR: [10, 11.9] }, { minPurchase: 5, supplierProductNumber: "H-1" });
    const { productSupplierConfiguration } = await update(id, { supplierProductNumber: null });
    assert.deepEqual(
      [
        productSupplierConfiguration.minPurchase,
        productSupplierConfiguration.supplierProductNumber,
        shown(productSupplierConfiguration.purchasePrices),
      ],
      [5, null, { EUR: [10, 11.9] }],
    );
  });

  it("refuse what makes no sense", async () => {
    const id = await assign("acme", {});
    const again = { productId: shop.id.hammer, supplierId: shop.id.acme };
    assert.deepEqual(refusals(await shop.mutate("productSupplierConfigurationCreate", again)), [
      ["NOT_UNIQUE", "supplierId"],
    ]);
    assert.deepEqual(refusals(await update(id, { minPurchase: 0 })), [["OUT_OF_RANGE", "minPurchase"]]);
    assert.deepEqual(refusals(await update(id, { purchaseSteps: null })), [["REQUIRED", "purchaseSteps"]]);
    const purchasePrices = [...inputOf({ EUR: [-1, 0] }), ...inputOf({ EUR: [1, 1] })];
    assert.deepEqual(refusals(await update(id, { purchasePrices })), [
      ["OUT_OF_RANGE", "purchasePrices.0.net"],
      ["NOT_UNIQUE", "purchasePrices.1.currencyId"],
    ]);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openShop, refusals } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const upsert = (list: string, rows: object[], fields = "id", more = "") =>
  shop.mutate(
    `${list}Upsert`,
    { [list]: rows },
    { select: `results { outcome } ${list} { ${fields} } ${more}` },
  );

describe("rows that name others by their keys", () => {
  it("prices have the codes of their currencies, and unknown ones are refused", async () => {
    const price = { currencyIsoCode: "EUR", net: 1, gross: 1.19 };
    const made = await upsert(
      "products",
      [{ productNumber: "hammer", price: [price] }],
      "currencyPrices price { currencyId }",
    );
    assert.deepEqual(made.products[0].currencyPrices, [{ ...price, linked: true }]);
    assert.equal(made.products[0].price[0].currencyId, shop.id.EUR);
    const rows = [
      { ...price, currencyIsoCode: "XXX" },
      { ...price, currencyIsoCode: "YYY" },
      { net: 1, gross: 1 },
    ];
    assert.deepEqual(refusals(await upsert("products", [{ productNumber: "hammer", price: rows }])), [
      ["NOT_FOUND", "products.0.price.0.currencyIsoCode"],
      ["NOT_FOUND", "products.0.price.1.currencyIsoCode"],
      ["NOT_FOUND", "products.0.price.2.currencyId"],
    ]);
  });

  it("a product names another one of the same call that stands for it", async () => {
    const rows = [{ productNumber: "old", canonicalProductNumber: "new" }, { productNumber: "new" }];
    const made = await upsert("products", rows, "canonicalProduct { productNumber }");
    assert.deepEqual(made.products[0], { canonicalProduct: { productNumber: "new" } });
    assert.equal(outcomes(await upsert("products", rows)), "UNCHANGED UNCHANGED");
    const lost = await upsert("products", [{ productNumber: "old", canonicalProductNumber: "none" }]);
    assert.deepEqual(refusals(lost), [["NOT_FOUND", "products.0.canonicalProductNumber"]]);
  });

  it("unknown customers, channels and methods of orders are refused with their field", async () => {
    const names = {
      customerNumber: "none",
      currencyIsoCode: "XXX",
      salesChannelTechnicalName: "none",
      paymentMethodTechnicalName: "none",
      shippingMethodTechnicalName: "none",
    };
    const refused = await upsert("orders", [{ orderNumber: "1", ...names }]);
    assert.deepEqual(
      refusals(refused).sort(),
      Object.keys(names)
        .map((name) => ["NOT_FOUND", `orders.0.${name}`])
        .sort(),
    );
    const differing = await upsert("suppliers", [
      { number: "acme", currencyId: shop.id.USD, currencyIsoCode: "EUR" },
    ]);
    assert.deepEqual(refusals(differing), [["INVALID", "suppliers.0.currencyIsoCode"]]);
  });

  it("a customer needs a sales channel that exists", async () => {
    const row = { email: "a@example.com", firstName: "A", lastName: "B", salesChannelTechnicalName: "none" };
    const refused = await upsert("customers", [{ customerNumber: "1", ...row, salutationKey: "none" }]);
    assert.deepEqual(refusals(refused).sort(), [
      ["NOT_FOUND", "customers.0.salesChannelTechnicalName"],
      ["NOT_FOUND", "customers.0.salutationKey"],
    ]);
  });
});

describe("binLocationsUpsert", () => {
  const row = { warehouseCode: "hall", code: "Z-1", position: 3, stockState: "damaged", tags: ["top shelf"] };

  it("creates and changes bins with tags, and leaves equal ones alone", async () => {
    const fields = "code position stockState tags { edges { node { name } } } warehouse { code }";
    const made = await upsert("binLocations", [row], fields);
    assert.equal(outcomes(made), "CREATED");
    assert.deepEqual(made.binLocations[0], {
      ...{ code: "Z-1", position: 3, stockState: "damaged", warehouse: { code: "hall" } },
      tags: { edges: [{ node: { name: "top shelf" } }] },
    });
    assert.equal(outcomes(await upsert("binLocations", [row])), "UNCHANGED");
    assert.equal(outcomes(await upsert("binLocations", [{ ...row, tags: [] }])), "UPDATED");
  });

  it("refuses unknown warehouses, other warehouses, blank codes and codes that are taken", async () => {
    const rows = [
      { ...row, warehouseCode: "none" },
      { code: "Z-2" },
      { id: shop.id["A-1"], warehouseCode: "shed" },
      { warehouseCode: "hall", code: " " },
      { id: shop.id["A-2"], code: "A-1" },
    ];
    const refused = refusals(await upsert("binLocations", rows)).map(([code, field]) => `${code} ${field}`);
    for (const fault of [
      "NOT_FOUND binLocations.0.warehouseCode",
      "REQUIRED binLocations.1.warehouseId",
      "NOT_EDITABLE binLocations.2.warehouseCode",
      "INVALID binLocations.3.code",
      "NOT_UNIQUE binLocations.4.code",
    ])
      assert.ok(refused.includes(fault), `${fault} among ${refused.join()}`);
  });

  it("takes the units of bins out of sale and back", async () => {
    const lines = [shop.line("nail", "B-1", { quantity: 5 }), shop.line("nail", "A-2", { quantity: 2 })];
    assert.deepEqual((await shop.mutate("stockSet", { lines })).userErrors, []);
    const available = async () => {
      const { rows } = await shop.owner.query(
        "select available_stock from erp.product where product_number = 'nail'",
      );
      return rows[0].available_stock;
    };
    const states = (stockState: string) => [
      { id: shop.id["A-2"], stockState },
      { warehouseCode: "shed", code: "B-1", stockState },
    ];
    assert.equal(await available(), 7);
    assert.equal(outcomes(await upsert("binLocations", states("quality_control"))), "UPDATED UPDATED");
    assert.equal(await available(), 0);
    assert.equal(outcomes(await upsert("binLocations", states("sellable"))), "UPDATED UPDATED");
    assert.equal(await available(), 7);
  });
});

describe("productSupplierConfigurationsUpsert", () => {
  const list = "productSupplierConfigurations";
  const purchasePrices = [{ currencyIsoCode: "EUR", net: 2, gross: 2.38 }];
  const row = { productNumber: "nail", supplierNumber: "forge", minPurchase: 3, purchasePrices };

  it("sets terms, prices and the default supplier, whose prices the product gets", async () => {
    const made = await upsert(
      list,
      [{ ...row, supplierIsDefault: true }],
      "supplierIsDefault currencyPurchasePrices",
    );
    assert.equal(outcomes(made), "CREATED");
    assert.deepEqual(made[list][0], {
      supplierIsDefault: true,
      currencyPurchasePrices: [{ ...purchasePrices[0], linked: true }],
    });
    const { products } = await upsert("products", [{ productNumber: "nail" }], "currencyPurchasePrices");
    assert.deepEqual(products[0].currencyPurchasePrices, [{ ...purchasePrices[0], linked: true }]);
    assert.equal(outcomes(await upsert(list, [{ ...row, supplierIsDefault: true }])), "UNCHANGED");
    const other = { productNumber: "nail", supplierNumber: "acme", supplierIsDefault: true };
    assert.equal(outcomes(await upsert(list, [{ ...row, purchasePrices: [] }, other])), "UPDATED CREATED");
    const { rows } = await shop.owner.query(
      "select s.number from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id where c.supplier_is_default",
    );
    assert.deepEqual(rows, [{ number: "acme" }]);
  });

  it("refuses two defaults, unknown suppliers, and least quantities below 1", async () => {
    const rows = [
      { productNumber: "glue", supplierNumber: "acme", supplierIsDefault: true },
      { productNumber: "glue", supplierNumber: "forge", supplierIsDefault: true },
      { productNumber: "glue", supplierNumber: "none" },
      { productNumber: "glue", supplierNumber: "yankee", minPurchase: 0 },
    ];
    assert.deepEqual(refusals(await upsert(list, rows)), [
      ["NOT_UNIQUE", `${list}.1.supplierIsDefault`],
      ["NOT_FOUND", `${list}.2.supplierNumber`],
      ["OUT_OF_RANGE", `${list}.3.minPurchase`],
    ]);
  });
});

describe("batchesUpsert", () => {
  const row = { productNumber: "glue", number: "G1" };
  const upsertBatch = (more: object) =>
    upsert(
      "batches",
      [{ ...row, ...more }],
      "stockState isHeld heldAt holdReason",
      "warnings { code field }",
    );

  it("holds a batch for a reason, and releases it", async () => {
    const { batches, warnings } = await upsertBatch({ stockState: "damaged", holdReason: "wet" });
    assert.equal(typeof batches[0].heldAt, "string");
    assert.deepEqual(
      { ...batches[0], heldAt: null },
      { stockState: "damaged", isHeld: true, heldAt: null, holdReason: "wet" },
    );
    assert.deepEqual(warnings, []);
    assert.equal(outcomes(await upsertBatch({ stockState: "damaged", holdReason: "wet" })), "UNCHANGED");
    const { batches: released } = await upsertBatch({ stockState: "sellable" });
    assert.deepEqual(released[0], { stockState: "sellable", isHeld: false, heldAt: null, holdReason: null });
  });

  it("refuses a reason without a hold, and a long one", async () => {
    assert.deepEqual(refusals(await upsertBatch({ holdReason: "wet" })), [
      ["INVALID", "batches.0.holdReason"],
    ]);
    const long = { stockState: "damaged", holdReason: "x".repeat(1001) };
    assert.deepEqual(refusals(await upsertBatch(long)), [["OUT_OF_RANGE", "batches.0.holdReason"]]);
  });

  it("warns if orders wait for units of a batch that is held", async () => {
    const lines = [shop.line("glue", "A-1", { quantity: 4, batchId: shop.id.G1 })];
    assert.deepEqual((await shop.mutate("stockSet", { lines })).userErrors, []);
    const reserved = { productId: shop.id.glue, place: { warehouseId: shop.id.hall }, quantity: 3 };
    assert.deepEqual(
      (await shop.mutate("stockReserve", { lines: [reserved] }, { select: "stockReservations { id }" }))
        .userErrors,
      [],
    );
    const { warnings } = await upsertBatch({ stockState: "quality_control" });
    assert.deepEqual(warnings, [{ code: "STOCK_PROMISED", field: ["batches", "0"] }]);
  });
});

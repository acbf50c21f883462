import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const upsert = (locations: object[], more = {}) =>
  shop.mutate(
    "locationsUpsert",
    { locations, ...more },
    {
      select:
        "results { outcome userErrors { code field } } warnings { code field details } locations { id name active storefrontId warehouse { code } }",
    },
  );
const assign = (order: { id: string }, warehouse?: string) =>
  shop.mutate(
    "fulfillmentOrderCreate",
    { orderId: order.id, ...(warehouse && { warehouseId: shop.id[warehouse] }) },
    { select: "fulfillmentOrders { id sourceWarehouseLocation { warehouse { code } } }" },
  );
const sources = ({ fulfillmentOrders }: any) =>
  fulfillmentOrders.map(({ sourceWarehouseLocation }: any) => sourceWarehouseLocation.warehouse.code);

describe("locationsUpsert", () => {
  it("changes the location of a warehouse, and maps it to the storefront", async () => {
    const row = { warehouseCode: "hall", storefrontId: "front-1", name: "Main hall" };
    const mapped = await upsert([row]);
    assert.deepEqual(mapped.userErrors, []);
    assert.equal(outcomes(mapped), "UPDATED");
    const { id, ...shown } = mapped.locations[0];
    const expected = {
      name: "Main hall",
      active: true,
      storefrontId: "front-1",
      warehouse: { code: "hall" },
    };
    assert.deepEqual(shown, expected);
    assert.equal(outcomes(await upsert([{ ...row, warehouseId: shop.id.hall }])), "UNCHANGED");
    assert.equal(outcomes(await upsert([{ storefrontId: "front-1", name: "Hall" }])), "UPDATED");
    const byId = await upsert([{ id, storefrontId: null }]);
    assert.deepEqual(byId.locations, [{ ...expected, id, name: "Hall", storefrontId: null }]);
  });

  it("makes external locations, and one for a warehouse that has none", async () => {
    await shop.sql("insert into erp.warehouse (code, name) values ('bare', 'Bare')");
    const made = await upsert([
      { storefrontId: "drop", name: "Drop shipper" },
      { warehouseCode: "bare", name: "Bare" },
    ]);
    assert.equal(outcomes(made), "CREATED CREATED");
    assert.deepEqual(
      made.locations.map(({ warehouse }: any) => warehouse),
      [null, { code: "bare" }],
    );
  });

  const mistakes: [what: string, row: () => object, code: string, field: string][] = [
    [
      "another warehouse for a location",
      () => ({ storefrontId: "drop", warehouseCode: "shed" }),
      "NOT_EDITABLE",
      "warehouseCode",
    ],
    [
      "a location without its warehouse",
      () => ({ storefrontId: "shed", warehouseId: null }),
      "NOT_EDITABLE",
      "warehouseId",
    ],
    [
      "an unknown warehouse",
      () => ({ warehouseId: missingId("Warehouse"), name: "X" }),
      "NOT_FOUND",
      "warehouseId",
    ],
    ["an unknown code", () => ({ warehouseCode: "none", name: "X" }), "NOT_FOUND", "warehouseCode"],
    ["a location without a name", () => ({ storefrontId: "new" }), "REQUIRED", "name"],
    ["a blank name", () => ({ storefrontId: "new", name: " " }), "INVALID", "name"],
    ["a long name", () => ({ storefrontId: "new", name: "x".repeat(256) }), "OUT_OF_RANGE", "name"],
    ["no state", () => ({ storefrontId: "new", name: "X", active: null }), "REQUIRED", "active"],
  ];
  for (const [what, row, code, field] of mistakes)
    it(`refuses ${what}: ${code}`, async () => {
      await upsert([
        { storefrontId: "drop", name: "Drop shipper" },
        { warehouseCode: "shed", storefrontId: "shed" },
      ]);
      assert.deepEqual(refusals(await upsert([row()])), [[code, `locations.0.${field}`]]);
    });

  it("refuses the storefront's id of another location", async () => {
    await upsert([{ storefrontId: "taken", name: "First" }]);
    const { locations } = await upsert([{ storefrontId: "other", name: "Second" }]);
    assert.deepEqual(refusals(await upsert([{ id: locations[0].id, storefrontId: "taken" }])), [
      ["NOT_UNIQUE", "locations.0.storefrontId"],
    ]);
  });
});

describe("an inactive location", () => {
  const setActive = (warehouseCode: string, active: boolean) => upsert([{ warehouseCode, active }]);
  before(() => shop.mutate("sourcingRulesSet", { rules: ["fullest"] }));
  afterEach(async () => {
    await setActive("hall", true);
    for (const table of ["erp.fulfillment", "erp.fulfillment_order", "erp.sales_order"])
      await shop.sql(`delete from ${table}`);
    await shop.empty();
  });

  it("gets no more orders: the plan takes another one, and naming it is refused", async () => {
    await shop.store("nail", "hall", 5);
    await shop.store("nail", "shed", 5);
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    assert.deepEqual((await setActive("hall", false)).warnings, []);
    assert.deepEqual(refusals(await assign(order, "hall")), [["INVALID", "warehouseId"]]);
    const assigned = await assign(order);
    assert.deepEqual(assigned.userErrors, []);
    assert.deepEqual(sources(assigned), ["shed"]);
  });

  it("is named where it is the default, and there are no rules", async () => {
    await shop.mutate("sourcingRulesSet", { rules: [] });
    await shop.store("nail", "shed", 5);
    await setActive("hall", false);
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    assert.deepEqual(refusals(await assign(order)), [["INVALID", "orderId"]]);
    await shop.mutate("sourcingRulesSet", { rules: ["fullest"] });
  });

  it("keeps its open fulfillment orders, with a warning, and can ship them", async () => {
    await shop.store("nail", "hall", 5);
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    const { fulfillmentOrders } = await assign(order, "hall");
    const told = await setActive("hall", false);
    assert.deepEqual(told.userErrors, []);
    assert.deepEqual(told.warnings, [
      {
        code: "FULFILLMENT_ORDERS_OPEN",
        field: ["locations", "0", "active"],
        details: { locationId: told.locations[0].id, count: 1 },
      },
    ]);
    assert.deepEqual((await setActive("hall", false)).warnings, []);
    const shipped = await shop.fulfill(fulfillmentOrders[0]);
    assert.deepEqual(shipped.userErrors, []);
    assert.equal(shipped.fulfillment.state, "Fulfilled");
  });

  it("gives them to another location when they are planned again", async () => {
    await shop.store("nail", "hall", 5);
    await shop.store("nail", "shed", 5);
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    const { fulfillmentOrders } = await assign(order, "hall");
    await setActive("hall", false);
    const moved = await shop.mutate(
      "fulfillmentOrderMove",
      { id: fulfillmentOrders[0].id },
      { select: "fulfillmentOrders { id sourceWarehouseLocation { warehouse { code } } }" },
    );
    assert.deepEqual(moved.userErrors, []);
    assert.deepEqual(sources(moved), ["shed"]);
  });
});

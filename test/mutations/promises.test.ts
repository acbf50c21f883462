import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Warnings about bookings that are probably mistakes: of parents of variants, and of promised units
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const place = (name: string) => ({ [name.includes("-") ? "binLocationId" : "warehouseId"]: shop.id[name] });
const select = "warnings { code message field details } stocks { id } stockMovements { id }";
const adjust = (...deltas: [product: string, place: string, delta: number][]) => {
  const lines = deltas.map(([product, name, delta]) => ({
    productId: shop.id[product],
    place: place(name),
    delta,
  }));
  return shop.mutate("stockAdjust", { lines }, { select });
};
const set = (product: string, name: string, quantity: number) =>
  shop.mutate(
    "stockSet",
    { lines: [{ productId: shop.id[product], place: place(name), quantity }] },
    { select },
  );
const transfer = (product: string, source: string, destination: string, quantity: number) => {
  const line = {
    productId: shop.id[product],
    source: place(source),
    destination: place(destination),
    quantity,
  };
  return shop.mutate("stockTransfer", { lines: [line] }, { select });
};
const codes = ({ warnings, userErrors }: any): string[] => {
  assert.deepEqual(userErrors, []);
  return warnings.map(({ code }: any) => code);
};

let made = 0;
/** A separate product for each test. */
async function newProduct(parent?: string): Promise<string> {
  const name = `made-${++made}`;
  const [row] = await shop.sql(
    `insert into erp.product (product_number, parent_id) values ('${name}', ${parent ? "$1" : "null"})
     returning 'gid://service/Product/' || id as id`,
    ...(parent ? [shop.id[parent]!] : []),
  );
  shop.id[name] = row.id;
  return name;
}

describe("a product that only stands for its variants", () => {
  let parent: string;
  let variant: string;
  beforeEach(async () => {
    parent = await newProduct();
    await shop.store(parent, "A-1", 5);
    variant = await newProduct(parent);
  });

  it("is not taken into stock: neither counted up nor added", async () => {
    const before = await shop.movements();
    const added = await adjust([variant, "A-1", 1], [parent, "A-1", 1]);
    assert.deepEqual(refusals(added), [["PRODUCT_HAS_VARIANTS", "lines.1.productId"]]);
    assert.match(added.userErrors[0].message, new RegExp(`${parent} only stands for its variants`));
    assert.deepEqual(refusals(await set(parent, "A-1", 6)), [["PRODUCT_HAS_VARIANTS", "lines.0.productId"]]);
    assert.deepEqual(refusals(await set(parent, "A-2", 1)), [["PRODUCT_HAS_VARIANTS", "lines.0.productId"]]);
    assert.equal(await shop.movements(), before);
  });

  it("appears as INVALID in a version that doesn't list the code", async () => {
    const lines = [{ productId: shop.id[parent], place: place("A-1"), delta: 1 }];
    const payload = await shop.mutate("stockAdjust", { lines }, { version: "2026-06-unstable" });
    assert.deepEqual(refusals(payload), [["INVALID", "lines.0.productId"]]);
  });

  it("what lies there of it can be counted, taken away and moved", async () => {
    assert.deepEqual(codes(await set(parent, "A-1", 5)), []);
    assert.deepEqual(codes(await set(parent, "A-1", 4)), []);
    assert.deepEqual(codes(await adjust([parent, "A-1", -1])), []);
    const moved = await transfer(parent, "A-1", "A-2", 3);
    assert.deepEqual(codes(moved), ["PRODUCT_HAS_VARIANTS"]);
    assert.deepEqual(moved.warnings[0].field, ["lines", "0", "quantity"]);
    assert.equal(await shop.stockAt(parent, "A-2"), 3);
  });

  it("its variants are stocked as any product", async () => {
    assert.deepEqual(codes(await adjust([variant, "A-1", 2])), []);
    assert.deepEqual(codes(await set(variant, "A-1", 3)), []);
  });

  it("goods of it that arrive are booked, with a warning", async () => {
    const receipt = {
      type: "Free",
      warehouseId: shop.id.hall,
      lineItems: [{ productId: shop.id[parent], quantity: 1, unitPrice: 1 }],
    };
    const created = await shop.mutate("goodsReceiptCreate", receipt, { select: "goodsReceipt { id }" });
    assert.deepEqual(created.userErrors, []);
    const { id } = created.goodsReceipt;
    await shop.mutate("goodsReceiptApprove", { id });
    const options = { select: "warnings { code } stocks { quantity }" };
    const done = await shop.mutate("goodsReceiptComplete", { id }, options);
    assert.deepEqual(codes(done), ["PRODUCT_HAS_VARIANTS"]);
  });
});

describe("units that are promised to orders", () => {
  let product: string;
  beforeEach(async () => {
    product = await newProduct();
    await shop.store(product, "A-1", 10);
    await shop.store(product, "B-1", 2);
    await shop.order([{ product, quantity: 8 }], [{ location: "hall", lines: [[0, 8]] }]);
  });

  it("are booked out, and the payload says so: what is reserved, and what is lacking", async () => {
    assert.deepEqual(codes(await adjust([product, "A-1", -2])), []);
    const { warnings, stockMovements } = await adjust([product, "A-1", -5], [product, "A-2", 1]);
    const details = { productId: shop.id[product], reserved: 8, available: -2 };
    const message = `Orders wait for 8 units of product ${product}; 2 of them are missing now.`;
    assert.deepEqual(warnings, [
      { code: "STOCK_PROMISED", message, field: ["lines", "0", "delta"], details },
    ]);
    assert.equal(stockMovements.length, 2);
  });

  it("by a count, too; and again by each booking that takes more, not by one that brings some back", async () => {
    const counted = await set(product, "A-1", 1);
    assert.deepEqual(codes(counted), ["STOCK_PROMISED"]);
    assert.deepEqual(counted.warnings[0].field, ["lines", "0", "quantity"]);
    assert.deepEqual(codes(await adjust([product, "A-1", 1])), []);
    assert.deepEqual(codes(await adjust([product, "A-1", -1], [product, "A-2", 2])), []);
    assert.deepEqual(codes(await set(product, "A-1", 0)), ["STOCK_PROMISED"]);
  });

  it("by a transfer out of the warehouse that is to ship them: of that warehouse", async () => {
    assert.deepEqual(codes(await transfer(product, "A-1", "A-2", 9)), []);
    const { warnings } = await transfer(product, "A-2", "B-1", 4);
    const message = `Orders wait for 8 units of product ${product} from warehouse hall; 2 of them are missing now.`;
    const details = { productId: shop.id[product], warehouseId: shop.id.hall, reserved: 8, available: -2 };
    assert.deepEqual(warnings, [
      { code: "STOCK_PROMISED", message, field: ["lines", "0", "quantity"], details },
    ]);
    assert.deepEqual(codes(await transfer(product, "B-1", "A-2", 1)), []);
  });

  it("by a transfer into a warehouse whose stock isn't sold: of the product", async () => {
    const { warnings } = await transfer(product, "A-1", "R-1", 5);
    assert.deepEqual(
      warnings.map(({ code, details }: any) => [code, details]),
      [["STOCK_PROMISED", { productId: shop.id[product], reserved: 8, available: -1 }]],
    );
  });

  it("shipping them is what they were promised for", async () => {
    await adjust([product, "A-1", -9], [product, "B-1", -2]);
    await shop.store(product, "A-1", 8);
    const order = await shop.order([{ product, quantity: 3 }], [{ location: "hall", lines: [[0, 3]] }]);
    const input = { fulfillmentOrderId: order.fulfillmentOrders[0]!.id };
    const shipped = await shop.mutate("fulfillmentCreate", input, { select: "warnings { code }" });
    assert.deepEqual(codes(shipped), []);
  });

  it("validateOnly tells it before; frozen versions don't, and do it", async () => {
    const lines = [{ productId: shop.id[product], place: place("A-1"), delta: -9 }];
    const dry = await shop.mutate("stockAdjust", { lines, validateOnly: true }, { select });
    assert.deepEqual(codes(dry), ["STOCK_PROMISED"]);
    assert.equal(await shop.stockAt(product, "A-1"), 10);
    const version = "2026-06-unstable";
    assert.deepEqual((await shop.mutate("stockAdjust", { lines }, { version })).userErrors, []);
    assert.equal(await shop.stockAt(product, "A-1"), 1);
  });
});

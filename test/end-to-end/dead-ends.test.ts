import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { buyingIn } from "../lib/buying.ts";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

// What used to lead nowhere: packs, wrong items, tracking that changes, orders that change late
let shop: ShippingShop;
let buying: ReturnType<typeof buyingIn>;
before(async () => {
  shop = await openShippingShop();
  buying = buyingIn(shop);
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('stocktake', 'ST-{n}') on conflict do nothing",
  );
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

describe("goods that are bought in packs of 12 and sold by the piece", () => {
  it("are ordered and received in packs, and are in the books as pieces", async () => {
    await shop.addProduct("egg");
    const eggs = (more: object) => ({ productId: shop.id.egg, ...more });
    const errors = await shop.mutate("supplierOrderCreate", {
      supplierId: shop.id.acme,
      lineItems: [eggs({ packs: 5 })],
    });
    assert.deepEqual(refusals(errors), [["INVALID", "lineItems.0.packs"]]);
    assert.match(errors.userErrors[0].message, /set unitsPerPack of the supplier/);
    const { productSupplierConfiguration: terms } = await shop.succeed(
      "productSupplierConfigurationCreate",
      {
        ...eggs({ supplierId: shop.id.acme, unitsPerPack: 12, purchaseSteps: 12, supplierIsDefault: true }),
        purchasePrices: [{ currencyId: shop.id.EUR, net: 0.25, gross: 0.25 }],
      },
      "productSupplierConfiguration { id unitsPerPack }",
    );
    assert.equal(terms.unitsPerPack, 12);
    for (const [line, field] of [
      [eggs({}), "quantity"],
      [eggs({ packs: 1, quantity: 12 }), "packs"],
      [eggs({ packs: 0 }), "quantity"],
    ] as const)
      assert.equal(
        refusals(
          await shop.mutate("supplierOrderCreate", { supplierId: shop.id.acme, lineItems: [line] }),
        )[0]![1],
        `lineItems.0.${field}`,
      );

    const { id, lines } = await buying.order([eggs({ packs: 5 })]);
    assert.deepEqual([lines[0].quantity, Number(lines[0].totalPrice)], [60, 15]);
    assert.deepEqual(await buying.figures("egg"), [0, 0, 0, 60]);
    assert.deepEqual((await buying.receive([eggs({ packs: 3, supplierOrderId: id })])).quantities, [36]);
    // Nine pieces of a broken pack
    await buying.receive([eggs({ quantity: 9, supplierOrderId: id })]);
    assert.deepEqual(await buying.stateOf(id), ["partially_delivered", [45, 15]]);
    const order = await shop.order([{ product: "egg", quantity: 7 }]);
    await shop.ship(order);
    assert.deepEqual(await buying.figures("egg"), [38, 0, 38, 15]);
    // Another supplier packs differently; the default supplier counts where no supplier is named
    await shop.succeed("productSupplierConfigurationsUpsert", {
      productSupplierConfigurations: [{ productNumber: "egg", supplierNumber: "forge", unitsPerPack: 10 }],
    });
    const second = await buying.order([eggs({ packs: 2 })], "forge");
    assert.equal(second.lines[0].quantity, 20);
    assert.deepEqual(
      (await buying.receive([eggs({ packs: 1, supplierOrderLineItemId: second.lines[0].id })])).quantities,
      [10],
    );
    assert.deepEqual((await buying.receive([eggs({ packs: 1 })], { type: "Free" })).quantities, [12]);
    await shop.succeed("productSupplierConfigurationUpdate", { id: terms.id, unitsPerPack: 6 });
    assert.deepEqual((await buying.receive([eggs({ packs: -1, supplierOrderId: id })])).quantities, [-6]);
    assert.deepEqual(await buying.stateOf(id), ["partially_delivered", [39, 21]]);
  });
});

describe("a product that changes its tracking while it is in stock", () => {
  const track = (tracking: string) =>
    shop.mutate("productsUpsert", { products: [{ productNumber: "paint", tracking }] });
  const count = (lines: object[]) => shop.succeed("stockSet", { lines, reference: "new tracking" });
  const batch = async (number: string) => {
    const { batches } = await shop.succeed(
      "batchesUpsert",
      { batches: [{ productNumber: "paint", number }] },
      "batches { id }",
    );
    return batches[0].id;
  };

  it("gets batches, serial numbers and neither by counts, and its orders ship", async () => {
    await shop.addProduct("paint");
    await shop.store("paint", "A-1", 3);
    const order = await shop.order([{ product: "paint", quantity: 2 }]);
    const refused = await track("batch");
    assert.deepEqual(refusals(refused), [["NOT_EDITABLE", "products.0.tracking"]]);
    assert.match(
      refused.userErrors[0].message,
      /Count it to 0 by stockSet, change the product, and count it again/,
    );

    const at = (rest: object) => shop.line("paint", "A-1", rest);
    await count([at({ quantity: 0, expectedQuantity: 3 })]);
    assert.deepEqual((await track("batch")).userErrors, []);
    assert.deepEqual(refusals(await shop.mutate("stockSet", { lines: [at({ quantity: 3 })] })), [
      ["BATCH_REQUIRED", "lines.0.batchId"],
    ]);
    const red = await batch("RED");
    const blue = await batch("BLUE");
    await count([at({ quantity: 2, batchId: red }), at({ quantity: 1, batchId: blue })]);
    assert.deepEqual(await buying.figures("paint"), [3, 2, 1, 0]);

    // To serial numbers: each unit has one
    assert.deepEqual(refusals(await track("serial")), [["NOT_EDITABLE", "products.0.tracking"]]);
    await count([at({ quantity: 0, batchId: red }), at({ quantity: 0, batchId: blue })]);
    assert.deepEqual((await track("serial")).userErrors, []);
    const serials = [await batch("S-1"), await batch("S-2"), await batch("S-3")];
    await count(serials.map((batchId) => at({ quantity: 1, batchId })));
    assert.deepEqual(await buying.figures("paint"), [3, 2, 1, 0]);
    await shop.ship(order);

    // And back to none
    assert.deepEqual(refusals(await track("none")), [["NOT_EDITABLE", "products.0.tracking"]]);
    await count(serials.map((batchId) => at({ quantity: 0, batchId })));
    assert.deepEqual((await track("none")).userErrors, []);
    await count([at({ quantity: 1 })]);
    assert.deepEqual(await buying.figures("paint"), [1, 0, 1, 0]);
    await shop.mutate("stockAdjust", { lines: [at({ delta: -1 })] });
    assert.deepEqual(await buying.figures("paint"), [0, 0, 0, 0]);
  });
});

describe("a stocktake during which a product came to be kept in batches", () => {
  it("is refused with what to do: the position is counted again, by batch", async () => {
    await shop.addProduct("resin");
    await shop.store("resin", "A-1", 4);
    const stocktakes = await Stocktakes.open(shop);
    const id = await stocktakes.make({ productIds: [shop.id.resin] });
    const [sheet] = await stocktakes.sheets(id);
    await stocktakes.submit(sheet!.id, "Ada", [stocktakes.line("A-1", "resin", 5)], { isComplete: true });
    const at = (rest: object) => shop.line("resin", "A-1", rest);
    await shop.succeed("stockAdjust", { lines: [at({ delta: -4 })] });
    await shop.succeed("productsUpsert", { products: [{ productNumber: "resin", tracking: "batch" }] });
    const { batches } = await shop.succeed(
      "batchesUpsert",
      {
        batches: [
          { productNumber: "resin", number: "R1" },
          { productNumber: "resin", number: "R2" },
        ],
      },
      "batches { id }",
    );
    [shop.id.R1, shop.id.R2] = batches.map((b: any) => b.id);
    await shop.succeed("stockAdjust", { lines: [at({ delta: 4, batchId: shop.id.R1 })] });

    const refused = await stocktakes.approve(id);
    assert.deepEqual(
      refused.userErrors.map((e: any) => [e.code, /stocktakeRecount/.test(e.message)]),
      [["BATCH_REQUIRED", true]],
    );
    const [position] = await stocktakes.positions(id);
    const recount = await stocktakes.recount(id, { lineIds: [position!.id] });
    assert.deepEqual(recount.userErrors, []);
    const lines = [
      stocktakes.line("A-1", "resin", 3, { batchId: shop.id.R1 }),
      stocktakes.line("A-1", "resin", 2, { batchId: shop.id.R2 }),
    ];
    const submitted = await stocktakes.submit(recount.stocktakeSheet.id, "Ada", lines, { isComplete: true });
    assert.deepEqual(submitted.userErrors, []);
    const approved = await stocktakes.approve(id);
    assert.deepEqual([approved.userErrors, approved.stocktake?.state], [[], "approved"]);
    assert.deepEqual(
      (await stocktakes.positions(id)).map((p) => [p.state, p.batch, p.booked]),
      [
        ["cancelled", null, null],
        ["approved", "R1", -1],
        ["approved", "R2", 2],
      ],
    );
    assert.deepEqual(await buying.figures("resin"), [5, 0, 5, 0]);
  });

  it("may be counted without batches again when nothing of it lies there", async () => {
    await shop.addProduct("wax");
    await shop.store("wax", "A-2", 1);
    const stocktakes = await Stocktakes.open(shop);
    const id = await stocktakes.make({ productIds: [shop.id.wax] });
    const [sheet] = await stocktakes.sheets(id);
    await stocktakes.submit(sheet!.id, "Ada", [stocktakes.line("A-2", "wax", 1)], { isComplete: true });
    await shop.succeed("stockAdjust", { lines: [shop.line("wax", "A-2", { delta: -1 })] });
    await shop.succeed("productsUpsert", { products: [{ productNumber: "wax", tracking: "batch" }] });
    const [position] = await stocktakes.positions(id);
    const recount = await stocktakes.recount(id, { lineIds: [position!.id] });
    assert.deepEqual(recount.userErrors, []);
    await stocktakes.submit(recount.stocktakeSheet.id, "Ada", [], { isComplete: true });
    const approved = await stocktakes.approve(id);
    assert.deepEqual([approved.userErrors, approved.stocktake?.state], [[], "approved"]);
    assert.deepEqual(await buying.figures("wax"), [0, 0, 0, 0]);
  });
});

describe("a wrong item that was received", () => {
  const line: typeof buying.line = (...given) => buying.line(...given);

  it("is another line while nothing is booked", async () => {
    await shop.addProduct("bolt");
    await shop.addProduct("screw");
    const { id } = await buying.order([line("bolt", 10)]);
    const { goodsReceipt } = await shop.succeed(
      "goodsReceiptCreate",
      { lineItems: [line("bolt", 10, { supplierOrderId: id })] },
      "goodsReceipt { id }",
    );
    await shop.succeed("goodsReceiptLineItemsSet", { id: goodsReceipt.id, lineItems: [line("screw", 10)] });
    await shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
    await shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id });
    assert.deepEqual(
      [await buying.figures("bolt"), await buying.figures("screw")],
      [
        [0, 0, 0, 10],
        [10, 0, 10, 0],
      ],
    );
    assert.deepEqual(await buying.stateOf(id), ["confirmed", [0, 10]]);
    await shop.succeed("supplierOrderCancel", { id });
  });

  it("is taken back and booked right by another receipt after completion, also when some was sold", async () => {
    const bolts = (await buying.figures("bolt"))[0]!;
    const { id, lines } = await buying.order([line("bolt", 10, { unitPrice: 2 })]);
    const wrong = await buying.receive([line("bolt", 10, { supplierOrderId: id })]);
    assert.deepEqual(await buying.stateOf(id), ["delivered", [10, 0]]);
    const changed = await shop.mutate("goodsReceiptLineItemsSet", {
      id: wrong.id,
      lineItems: [line("screw", 10)],
    });
    assert.deepEqual(refusals(changed), [["NOT_EDITABLE", "id"]]);
    assert.match(changed.userErrors[0].message, /Correct units by a receipt with negative quantities/);

    const correction = await buying.receive([
      line("bolt", -10, { supplierOrderLineItemId: lines[0].id }),
      line("screw", 10, { unitPrice: 3 }),
    ]);
    assert.deepEqual(correction.quantities, [-10, 10]);
    assert.equal((await buying.figures("bolt"))[0], bolts);
    assert.equal((await buying.figures("screw"))[0], 20);
    // The bolts are still to come
    assert.deepEqual(await buying.stateOf(id), ["confirmed", [0, 10]]);
    await buying.receive([line("bolt", 10, { supplierOrderId: id })]);
    assert.deepEqual(await buying.stateOf(id), ["delivered", [10, 0]]);

    // What customers have already can't be taken back from the shelf: they return it first
    const order = await shop.order([{ product: "bolt", quantity: bolts + 4 }]);
    await shop.ship(order);
    const { goodsReceipt } = await shop.succeed(
      "goodsReceiptCreate",
      { lineItems: [line("bolt", -10, { supplierOrderId: id })] },
      "goodsReceipt { id }",
    );
    const short = await shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id });
    assert.equal(short.userErrors[0].code, "INSUFFICIENT_STOCK");
    await shop.succeed("goodsReceiptLineItemsSet", {
      id: goodsReceipt.id,
      lineItems: [line("bolt", -6, { supplierOrderId: id }), line("screw", 6)],
    });
    await shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
    await shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id });
    assert.deepEqual(await buying.stateOf(id), ["partially_delivered", [4, 6]]);
    assert.deepEqual(await buying.figures("bolt"), [0, 0, 0, 6]);
    await shop.succeed("supplierOrderComplete", { id });
    assert.deepEqual(await buying.figures("bolt"), [0, 0, 0, 0]);
  });
});

describe("an order that gets other products after a part was shipped", () => {
  it("takes another product for what is open, more lines and another price, and invoices what was shipped", async () => {
    await shop.store("hammer", "A-1", 10);
    await shop.store("nail", "A-1", 10);
    const order = await shop.order(
      [
        { product: "hammer", quantity: 3, price: 5 },
        { product: "hammer", quantity: 2, price: 5 },
      ],
      [{ lines: [[0, 3]] }],
    );
    const [assigned] = order.fulfillmentOrders;
    await shop.fulfill(assigned!, {
      lines: [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 2 }],
    });
    const change = (lineItems: object[]) =>
      shop.mutate("ordersUpsert", { orders: [{ id: order.id, lineItems }] });
    const [first, second] = order.lines;
    // A line with shipped units stays, with its product
    for (const lineItems of [
      [{ id: first, productId: shop.id.nail, quantity: 3 }, { id: second }],
      [{ id: second, quantity: 2 }],
    ])
      assert.match(JSON.stringify(refusals(await change(lineItems))), /NOT_EDITABLE/);
    const more = [
      { id: first, quantity: 3 },
      { id: second, productId: shop.id.nail, quantity: 4 },
      { type: "product", productId: shop.id.nail, label: "Nails", quantity: 1, unitPrice: 1 },
    ];
    assert.deepEqual((await change(more)).userErrors, []);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    const { state, deliveryState, shipped } = await shop.stateOf(order);
    assert.deepEqual([state, deliveryState, shipped], ["completed", "shipped", [3, 4, 1]]);
    assert.equal(await shop.stockAt("nail", "A-1"), 5);
  });
});

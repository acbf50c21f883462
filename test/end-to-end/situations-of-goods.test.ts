import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { buyingIn } from "../lib/buying.ts";
import { assertProof } from "../lib/proof.ts";
import { reorderingIn } from "../lib/reordering.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// Faults between the supplier and the shelf, and where they end
let shop: ShippingShop;
let buying: ReturnType<typeof buyingIn>;
before(async () => {
  shop = await openShippingShop();
  buying = buyingIn(shop);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

describe("a delivery with more units than were ordered", () => {
  it("fills the order, and the surplus is kept or sent back", async () => {
    await shop.addProduct("cable");
    const order = await buying.order([buying.line("cable", 10, { unitPrice: 2 })]);
    const receipt = await buying.write([buying.line("cable", 13, { supplierOrderId: order.id })]);
    assert.deepEqual(receipt.warnings, [{ code: "SURPLUS", field: ["lineItems", "0", "quantity"] }]);
    await buying.put(receipt.id);
    assert.deepEqual(await buying.stateOf(order.id), ["delivered", [10, 0]]);
    assert.deepEqual(await buying.figures("cable"), [13, 0, 13, 0]);
    const { goodsReceipt } = await shop.read(
      "query ($id: ID!) { goodsReceipt(id: $id) { lineItems { edges { node { quantity unitPrice supplierOrderId } } } } }",
      { id: receipt.id },
    );
    assert.deepEqual(
      goodsReceipt.lineItems.edges.map(({ node }: any) => [
        node.quantity,
        node.unitPrice,
        node.supplierOrderId,
      ]),
      [
        [10, 2, order.id],
        [3, 2, null],
      ],
    );
    // Two are kept; one goes back to the supplier, and the order stays delivered
    await buying.receive([buying.line("cable", -1)], { supplierId: shop.id.acme, type: "Supplier" });
    assert.deepEqual(await buying.stateOf(order.id), ["delivered", [10, 0]]);
    assert.deepEqual(await buying.figures("cable"), [12, 0, 12, 0]);
  });
});

describe("a delivery that nobody ordered", () => {
  it("is taken without an order, or is refused at the dock and leaves nothing", async () => {
    await shop.addProduct("gift");
    const supplier = { supplierId: shop.id.acme, type: "Supplier" };
    const refused = await buying.write([buying.line("gift", 5)], supplier);
    await shop.succeed("goodsReceiptApprove", { id: refused.id });
    assert.deepEqual(await buying.figures("gift"), [0, 0, 0, 0]);
    const gone = await shop.mutate("goodsReceiptDelete", { id: refused.id });
    assert.deepEqual(gone.userErrors, []);
    assert.deepEqual(await buying.figures("gift"), [0, 0, 0, 0]);

    const kept = await buying.receive([buying.line("gift", 5, { unitPrice: 0 })], supplier);
    assert.equal(kept.warnings.length, 0);
    assert.deepEqual(await buying.figures("gift"), [5, 0, 5, 0]);
    // An order that is written afterwards isn't filled by what came before: the line is taken back and named
    const order = await buying.order([buying.line("gift", 5)]);
    await buying.receive(
      [buying.line("gift", -5), buying.line("gift", 5, { supplierOrderId: order.id })],
      supplier,
    );
    assert.deepEqual(await buying.stateOf(order.id), ["delivered", [5, 0]]);
    assert.deepEqual(await buying.figures("gift"), [5, 0, 5, 0]);
  });
});

describe("a receipt that was completed with a wrong quantity", () => {
  it("is corrected by another receipt with the difference, down and up", async () => {
    await shop.addProduct("chair");
    const order = await buying.order([buying.line("chair", 20)]);
    const of = { supplierOrderId: order.id };
    const receipt = await buying.receive([buying.line("chair", 20, of)]);
    const changed = await shop.mutate("goodsReceiptLineItemsSet", {
      id: receipt.id,
      lineItems: [buying.line("chair", 12, of)],
    });
    assert.deepEqual(refusals(changed), [["NOT_EDITABLE", "id"]]);
    assert.match(changed.userErrors[0].message, /receipt with negative quantities/);
    const deleted = await shop.mutate("goodsReceiptDelete", { id: receipt.id });
    assert.deepEqual(refusals(deleted), [["NOT_EDITABLE", "id"]]);
    assert.match(deleted.userErrors[0].message, /another receipt with negative quantities/);
    await buying.receive([buying.line("chair", -8, of)]);
    assert.deepEqual(await buying.stateOf(order.id), ["partially_delivered", [12, 8]]);
    assert.deepEqual(await buying.figures("chair"), [12, 0, 12, 8]);
    // One was found behind the truck
    await buying.receive([buying.line("chair", 1, of)]);
    assert.deepEqual(await buying.stateOf(order.id), ["partially_delivered", [13, 7]]);
    assert.deepEqual(await buying.figures("chair"), [13, 0, 13, 7]);
  });
});

describe("goods that arrive damaged", () => {
  it("are kept apart or thrown away; what is repaired is sold, and the rest is sent back", async () => {
    await shop.addProduct("vase");
    const { binLocation } = await shop.succeed(
      "binLocationCreate",
      { warehouseId: shop.id.hall, code: "D-1", stockState: "damaged" },
      "binLocation { id }",
    );
    shop.id["D-1"] = binLocation.id;
    const order = await buying.order([buying.line("vase", 10)]);
    const of = { supplierOrderId: order.id };
    const receipt = await buying.write([buying.line("vase", 10, { ...of, plannedDisposalQuantity: 1 })]);
    const [{ id: line }] = receipt.lines;
    const put = (bin: string, quantity: number) => ({
      goodsReceiptLineItemId: line,
      place: { binLocationId: shop.id[bin] },
      quantity,
    });
    await buying.put(receipt.id, [put("A-1", 6), put("D-1", 3)]);
    assert.deepEqual(await buying.stateOf(order.id), ["delivered", [10, 0]]);
    assert.deepEqual(await buying.figures("vase"), [9, 0, 6, 0]);
    const customers = await shop.order([{ product: "vase", quantity: 8 }]);
    assert.deepEqual(refusals(await shop.ship(customers)), [["INSUFFICIENT_STOCK", "orderId"]]);
    const repaired = { lines: [shop.move("vase", "D-1", "A-1", { quantity: 2 })], reference: "repaired" };
    await shop.succeed("stockTransfer", repaired);
    assert.deepEqual((await shop.ship(customers)).userErrors, []);
    // The last one goes back, and another one is to come for it
    await buying.receive([buying.line("vase", -1, { ...of, destinationBinLocationId: shop.id["D-1"] })]);
    assert.deepEqual(await buying.figures("vase"), [0, 0, 0, 1]);
    assert.deepEqual(await buying.stateOf(order.id), ["partially_delivered", [9, 1]]);
  });
});

describe("a supplier that delivers in parts and never delivers the rest", () => {
  it("is waited for, until the order is completed; late goods are still taken", async () => {
    await shop.addProduct("desk");
    const order = await buying.order([buying.line("desk", 10)]);
    const of = { supplierOrderId: order.id };
    await buying.receive([buying.line("desk", 4, of)]);
    await buying.receive([buying.line("desk", 2, of)]);
    assert.deepEqual(await buying.stateOf(order.id), ["partially_delivered", [6, 4]]);
    const cancelled = await shop.mutate("supplierOrderCancel", { id: order.id });
    assert.deepEqual(refusals(cancelled), [["INVALID_STATE_TRANSITION", null]]);
    assert.ok(cancelled.userErrors[0].details.allowedActions.includes("complete"), JSON.stringify(cancelled));
    await shop.succeed("supplierOrderComplete", { id: order.id });
    assert.deepEqual(await buying.figures("desk"), [6, 0, 6, 0]);
    const late = await buying.receive([buying.line("desk", 4, of)]);
    assert.deepEqual(late.warnings, []);
    assert.deepEqual(await buying.figures("desk"), [10, 0, 10, 0]);
    assert.equal((await buying.stateOf(order.id))[0], "completed");
  });
});

describe("a supplier that changes its pack or its minimum after the proposals were read", () => {
  it("sells other quantities: the order says so, and is changed before it is sent", async () => {
    const reordering = reorderingIn(shop);
    await reordering.newProduct("tape");
    await reordering.rule("tape", "hall", { reorderPoint: 5, targetMaximumQuantity: 10 });
    const { productSupplierConfiguration: terms } = await shop.succeed(
      "productSupplierConfigurationCreate",
      { productId: shop.id.tape, supplierId: shop.id.acme, supplierIsDefault: true, minPurchase: 10 },
      "productSupplierConfiguration { id }",
    );
    const [read] = await reordering.of("tape");
    assert.equal(read!.quantity, 10);
    await shop.succeed("productSupplierConfigurationUpdate", {
      id: terms.id,
      minPurchase: 24,
      purchaseSteps: 12,
      unitsPerPack: 12,
    });
    const made = await reordering.order([reordering.line("tape", "hall", read!.quantity)]);
    assert.deepEqual(
      [made.userErrors, made.warnings.map(({ code, field }: any) => [code, field])],
      [[], [["PURCHASE_QUANTITY", ["lines", "0", "quantity"]]]],
    );
    const [{ id }] = made.supplierOrders;
    const set = await shop.succeed(
      "supplierOrderLineItemsSet",
      { id, lineItems: [{ productId: shop.id.tape, packs: 2 }] },
      "supplierOrder { lineItems { edges { node { quantity } } } } warnings { code }",
    );
    assert.deepEqual([set.supplierOrder.lineItems.edges[0].node.quantity, set.warnings], [24, []]);
    // Proposals that are read now know it; this one is done
    assert.deepEqual(await reordering.of("tape"), []);
    await shop.succeed("supplierOrderSend", { id });
    assert.deepEqual(await buying.figures("tape"), [0, 0, 0, 24]);
  });
});

describe("a serial number that turns up twice", () => {
  it("is refused by the second receipt, found where it is, and the wrong one gets its own number", async () => {
    await shop.succeed("productsUpsert", { products: [{ productNumber: "drill", tracking: "serial" }] });
    const { products } = await shop.read(
      `{ products(filter: { productNumber: { equals: "drill" } }) { edges { node { id } } } }`,
    );
    shop.id.drill = products.edges[0].node.id;
    const unit = (batchNumber: string) => buying.line("drill", 1, { batchNumber });
    await buying.receive([unit("S-1"), unit("S-2")]);
    const second = await buying.write([unit("S-3"), unit("S-1")]);
    const approved = await shop.mutate("goodsReceiptApprove", { id: second.id });
    assert.deepEqual(refusals(approved), [["SERIAL_NUMBER_IN_STOCK", "id"]]);
    assert.match(
      approved.userErrors[0].message,
      /Count it to 0 where the books have it, or correct the number/,
    );
    assert.deepEqual(await buying.figures("drill"), [2, 0, 2, 0]);
    const { stocks } = await shop.read(
      `{ stocks(filter: { productId: { equals: "${shop.id.drill}" }, quantity: { gt: 0 } }) { edges { node {
           warehouse { code } batches { edges { node { batch { id number } } } } } } } }`,
    );
    const [{ node: there }] = stocks.edges;
    assert.deepEqual(
      [there.warehouse.code, ...there.batches.edges.map(({ node }: any) => node.batch.number).sort()],
      ["hall", "S-1", "S-2"],
    );
    // The label was misread: the unit gets its own number before it is booked
    await shop.succeed("goodsReceiptLineItemsSet", { id: second.id, lineItems: [unit("S-3"), unit("S-7")] });
    await buying.put(second.id);
    assert.deepEqual(await buying.figures("drill"), [4, 0, 4, 0]);

    // The books were wrong: what isn't in the hall is counted to 0, and arrives where it is
    const batchId = there.batches.edges.find(({ node }: any) => node.batch.number === "S-1").node.batch.id;
    const third = await buying.write([unit("S-1")], { warehouseId: shop.id.shed });
    assert.equal((await shop.mutate("goodsReceiptApprove", { id: third.id })).userErrors.length, 1);
    const count = { lines: [shop.line("drill", "hall", { quantity: 0, batchId })] };
    await shop.succeed("stockSet", count);
    await buying.put(third.id);
    assert.deepEqual([await shop.stockAt("drill", "hall"), await shop.stockAt("drill", "shed")], [3, 1]);
    assert.deepEqual(await buying.figures("drill"), [4, 0, 4, 0]);
  });
});

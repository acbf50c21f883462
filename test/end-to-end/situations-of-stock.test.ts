import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { buyingIn } from "../lib/buying.ts";
import { pickingIn } from "../lib/picking.ts";
import { assertProof } from "../lib/proof.ts";
import { reorderingIn } from "../lib/reordering.ts";
import { reservingIn } from "../lib/reserving.ts";
import { openReturnShop } from "../lib/return-shop.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

// Faults with goods on the shelf that orders wait for, and where they end
let shop: ReturnShop;
let buying: ReturnType<typeof buyingIn>;
let picking: ReturnType<typeof pickingIn>;
let reserving: ReturnType<typeof reservingIn>;
let stocktakes: Stocktakes;
before(async () => {
  shop = await openReturnShop();
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('stocktake', 'ST-{n}') on conflict do nothing",
  );
  buying = buyingIn(shop);
  picking = pickingIn(shop);
  reserving = reservingIn(shop);
  stocktakes = await Stocktakes.open(shop);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const codes = (payload: any) => payload.warnings.map(({ code }: any) => code);
/** Makes a product in batches with a batch each, known by their numbers. */
const addBatches = async (productNumber: string, batches: Record<string, object>) => {
  await shop.addProduct(productNumber);
  await shop.succeed("productsUpsert", { products: [{ productNumber, tracking: "batch" }] });
  const rows = Object.entries(batches).map(([number, more]) => ({ productNumber, number, ...more }));
  const made = await shop.succeed("batchesUpsert", { batches: rows }, "batches { id }");
  for (const [n, { number }] of rows.entries()) shop.id[number] = made.batches[n].id;
};
const adjust = (product: string, place: string, delta: number, batch?: string) =>
  shop.succeed(
    "stockAdjust",
    { lines: [shop.line(product, place, { delta, batchId: batch && shop.id[batch] })] },
    "warnings { code }",
  );

describe("a batch that must be recalled while it is with customers, in a parcel and in stock", () => {
  it("is held everywhere at once, comes back held, and is disposed of; orders get another batch", async () => {
    await addBatches("milk", { "M-BAD": {}, "M-GOOD": {} });
    await shop.store("milk", "A-1", 10, "M-BAD");
    const sold = await shop.shipped([{ product: "milk", quantity: 2 }]);
    const [order, other] = [await picking.order(["milk", 3]), await picking.order(["milk", 2])];
    const list = await picking.begin([order, other]);
    await picking.confirm(list.lines[0]);
    await shop.store("milk", "A-2", 6, "M-GOOD");

    const held = await shop.succeed(
      "batchHold",
      { ids: [shop.id["M-BAD"]], reason: "Recall 4", stockState: "damaged" },
      "warnings { code message }",
    );
    assert.deepEqual(held.warnings, [
      { code: "STOCK_PROMISED", message: `Pick list ${list.number} has 5 units of batch M-BAD.` },
    ]);
    assert.deepEqual(await buying.figures("milk"), [14, 5, 1, 0]);
    // Units that are still to be picked are replaced
    const second = list.lines[1];
    const confirmed = await picking.call("pickListLineConfirm", { id: second.id, code: "milk" });
    assert.deepEqual(refusals(confirmed), [["BATCH_HELD", "id"]]);
    const short = await picking.done("pickListLineShort", { id: second.id });
    assert.deepEqual([short.missingQuantity, short.replacements.length], [0, 1]);
    const now = await picking.read(list.id);
    assert.deepEqual(picking.way(now), [
      "A-1 milk M-BAD 3/3 picked",
      "A-1 milk M-BAD 0/2 short",
      "A-2 milk M-GOOD 0/2 open",
    ]);
    await picking.confirm(now.lines[2]);
    await picking.done("pickListPack", { pickTaskId: second.task.id });
    // The parcel that is picked doesn't leave: its goods go back, and others are picked
    const packed = await picking.call("pickListPack", { pickTaskId: list.lines[0].task.id });
    assert.deepEqual(refusals(packed), [["BATCH_HELD", "id"]]);
    assert.match(packed.userErrors[0].message, /pickListCancel puts back what was picked/);
    await picking.done("pickListCancel", { id: list.id });
    const again = await picking.begin([order]);
    assert.deepEqual(picking.way(again), ["A-2 milk M-GOOD 0/3 open"]);
    await picking.confirm(again.lines[0]);
    await picking.done("pickListPack", { pickTaskId: again.tasks[0].id });

    const trace = async () => {
      const { batch } = await shop.read(
        `query ($id: ID!) { batch(id: $id) { trace { shippedQuantity returnedQuantity remainingQuantity removedQuantity }
           shipments { edges { node { keptQuantity order { id } } } } } }`,
        { id: shop.id["M-BAD"] },
      );
      return [
        Object.values(batch.trace),
        batch.shipments.edges.map(({ node }: any) => [node.order.id, node.keptQuantity]),
      ];
    };
    assert.deepEqual(await trace(), [[2, 0, 8, 0], [[sold.id, 2]]]);
    const returned = await shop.request([[sold.lines[0]!, 2]]);
    await shop.succeed("returnOrderApprove", { id: returned.id });
    await shop.receive([{ line: returned.lines[0]!, quantity: 2, batchId: shop.id["M-BAD"]! }]);
    assert.deepEqual(await buying.figures("milk"), [11, 0, 1, 0]);
    await adjust("milk", "A-1", -8, "M-BAD");
    await adjust("milk", "hall", -2, "M-BAD");
    assert.deepEqual(await trace(), [[2, 2, 0, 10], [[sold.id, 0]]]);
    assert.deepEqual(await buying.figures("milk"), [1, 0, 1, 0]);
  });
});

describe("units whose date is past, found in the reservation of an order", () => {
  it("are missing there; the reservation goes to a fresh batch, and the old one is disposed of", async () => {
    await addBatches("yeast", {
      "Y-OLD": { bestBeforeDate: "2999-01-01" },
      "Y-NEW": { bestBeforeDate: "2999-01-01" },
    });
    await shop.store("yeast", "A-1", 5, "Y-OLD");
    await shop.store("yeast", "A-1", 5, "Y-NEW");
    const order = await shop.order([{ product: "yeast", quantity: 4 }]);
    const old = await reserving.reserve("yeast", "hall", 4, {
      batchId: shop.id["Y-OLD"],
      orderLineItemId: order.lines[0],
    });
    // Somebody reads the date on the box
    const dated = await shop.succeed(
      "batchUpdate",
      { id: shop.id["Y-OLD"], bestBeforeDate: "2020-01-01" },
      "batch { isExpired }",
    );
    assert.equal(dated.batch.isExpired, true);
    assert.deepEqual(await reserving.kept(old), ["4 active, 4 missing"]);
    const { stockReservations } = await shop.read(
      `{ stockReservations(filter: { state: { equals: active }, batchId: { equals: "${shop.id["Y-OLD"]}" } }) { edges { node {
           id missingQuantity } } } }`,
    );
    assert.deepEqual(
      stockReservations.edges.map(({ node }: any) => node),
      [{ id: old, missingQuantity: 4 }],
    );
    assert.deepEqual(await buying.figures("yeast"), [10, 4, 1, 0]);
    await reserving.release({ id: old });
    await reserving.reserve("yeast", "hall", 4, {
      batchId: shop.id["Y-NEW"],
      orderLineItemId: order.lines[0],
    });
    const shipped = await shop.ship(order);
    assert.deepEqual(shipped.userErrors, []);
    await adjust("yeast", "A-1", -5, "Y-OLD");
    assert.deepEqual(await buying.figures("yeast"), [1, 0, 1, 0]);
  });
});

describe("a count that finds fewer units than are promised", () => {
  it("warns; what is there is shipped, and another warehouse or a supplier brings the rest", async () => {
    await shop.addProduct("lens");
    await shop.store("lens", "A-1", 10);
    await shop.store("lens", "B-1", 2);
    const order = await shop.order([{ product: "lens", quantity: 9 }], [{ lines: [[0, 9]] }]);
    const [part] = order.fulfillmentOrders;
    const counted = await shop.succeed(
      "stockSet",
      { lines: [shop.line("lens", "A-1", { quantity: 5, expectedQuantity: 10 })] },
      "warnings { code message details }",
    );
    assert.deepEqual(codes(counted), ["STOCK_PROMISED"]);
    assert.deepEqual(await buying.figures("lens"), [7, 9, -2, 0]);
    const whole = await shop.fulfill(part!);
    assert.deepEqual(refusals(whole), [["INSUFFICIENT_STOCK", "fulfillmentOrderId"]]);
    assert.match(
      whole.userErrors[0].message,
      /Other warehouses hold 2: give them the units by fulfillmentOrderMove/,
    );
    const line = (quantity: number) => [{ fulfillmentOrderLineItemId: part!.lines[0], quantity }];
    assert.deepEqual((await shop.fulfill(part!, { lines: line(5) })).userErrors, []);
    // Work has begun, so the rest is called off and assigned again
    const move = { id: part!.id, warehouseId: shop.id.shed, lines: line(2) };
    const moved = await shop.mutate("fulfillmentOrderMove", move);
    assert.deepEqual(refusals(moved), [["INVALID_STATE_TRANSITION", null]]);
    assert.match(moved.userErrors[0].message, /Cancel it by fulfillmentOrderCancel, and assign/);
    await shop.succeed("fulfillmentOrderCancel", { id: part!.id });
    const lines = (quantity: number) => [{ orderLineItemId: order.lines[0], quantity }];
    const rest = await shop.succeed(
      "fulfillmentOrderCreate",
      { orderId: order.id, warehouseId: shop.id.shed, lines: lines(2) },
      "fulfillmentOrders { id }",
    );
    assert.deepEqual((await shop.fulfill(rest.fulfillmentOrders[0])).userErrors, []);
    assert.deepEqual(await buying.figures("lens"), [0, 2, -2, 0]);
    await buying.receive([buying.line("lens", 2)]);
    // The hall called the units off, so it ships them only when it is named
    const unnamed = await shop.ship(order);
    assert.deepEqual(refusals(unnamed), [["INSUFFICIENT_STOCK", "orderId"]]);
    assert.match(unnamed.userErrors[0].message, /Name a warehouse to ship them from there/);
    assert.deepEqual((await shop.ship(order, { warehouseId: shop.id.hall })).userErrors, []);
    const { state, shipped } = await shop.stateOf(order);
    assert.deepEqual([state, shipped], ["completed", [9]]);
    assert.deepEqual(await buying.figures("lens"), [0, 0, 0, 0]);
  });
});

describe("a count of a bin while it is picked", () => {
  it("books the difference of its moment, beside what was picked since", async () => {
    await shop.addProduct("belt");
    await shop.store("belt", "C-2", 10);
    const order = await picking.order(["belt", 5]);
    const list = await picking.begin([order]);
    const id = await stocktakes.make({ binLocationIds: [shop.id["C-2"]] });
    await picking.confirm(list.lines[0], { quantity: 2 });
    const [sheet] = await stocktakes.sheets(id);
    // Two are in the cart already; one of the eight can't be found
    const sent = await stocktakes.submit(sheet!.id, "Ada", [stocktakes.line("C-2", "belt", 7)], {
      isComplete: true,
    });
    assert.deepEqual(sent.userErrors, []);
    await picking.confirm(list.lines[0], { quantity: 3 });
    const approved = await stocktakes.approve(id);
    assert.deepEqual([approved.userErrors, approved.stocktake.state, codes(approved)], [[], "approved", []]);
    assert.equal(await shop.stockAt("belt", "C-2"), 4);
    assert.deepEqual(
      (await stocktakes.positions(id)).map((p) => [p.place, p.expected, p.counted, p.booked]),
      [["C-2", 8, 7, -1]],
    );
    const packed = await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    assert.equal(packed.fulfillmentOrder.state, "Closed");
    assert.deepEqual(await buying.figures("belt"), [4, 0, 4, 0]);
  });
});

describe("a product that is discontinued while it is in stock, on order and promised", () => {
  it("is bought no more and sold off; what can't come is taken out of the orders", async () => {
    const reordering = reorderingIn(shop);
    await reordering.newProduct("pager");
    await reordering.rule("pager", "hall", { reorderPoint: 5, targetMaximumQuantity: 20 });
    const { productSupplierConfiguration: terms } = await shop.succeed(
      "productSupplierConfigurationCreate",
      { productId: shop.id.pager, supplierId: shop.id.acme, supplierIsDefault: true },
      "productSupplierConfiguration { id }",
    );
    await shop.store("pager", "A-1", 3);
    const ordered = await buying.order([buying.line("pager", 10)]);
    const order = await shop.order([{ product: "pager", quantity: 4 }]);
    assert.deepEqual(await buying.figures("pager"), [3, 4, -1, 10]);

    await shop.succeed("supplierOrderCancel", { id: ordered.id });
    await shop.succeed("productSupplierConfigurationDelete", { id: terms.id });
    await reordering.rule("pager", "hall", { reorderPoint: 0, targetMaximumQuantity: null });
    await shop.succeed("productsUpsert", { products: [{ productNumber: "pager", allowsBackorders: false }] });
    // One unit is promised that nobody will deliver
    const [proposal] = await reordering.of("pager");
    assert.deepEqual([proposal!.quantity, proposal!.supplier], [1, null]);
    assert.deepEqual(refusals(await reordering.order([reordering.line("pager", "hall", 1)])), [
      ["REQUIRED", "lines.0.supplierId"],
    ]);
    assert.deepEqual(refusals(await reserving.tryReserve([["pager", "hall", 1]])), [
      ["INSUFFICIENT_STOCK", "lines.0.quantity"],
    ]);
    await shop.succeed("ordersUpsert", {
      orders: [{ id: order.id, lineItems: [{ id: order.lines[0], quantity: 3 }] }],
    });
    assert.deepEqual(await reordering.of("pager"), []);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await buying.figures("pager"), [0, 0, 0, 0]);
  });
});

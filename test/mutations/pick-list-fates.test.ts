import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { pickingIn } from "../lib/picking.ts";
import { reservingIn } from "../lib/reserving.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// What happens to pick lists when something else happens to the goods, or to the fulfillment orders
let shop: ShippingShop;
let picking: ReturnType<typeof pickingIn>;
before(async () => {
  shop = await openShippingShop();
  picking = pickingIn(shop);
});
after(() => shop.close());
beforeEach(() => picking.clear());

describe("missing units", () => {
  it("are replaced from other bins; the rest stays open, and the bin is due for a count", async () => {
    await shop.store("hammer", "A-1", 4);
    await shop.store("hammer", "C-1", 2);
    const order = await picking.order(["hammer", 5]);
    const list = await picking.begin([order]);
    assert.deepEqual(picking.way(list), ["A-1 hammer 0/4 open", "C-1 hammer 0/1 open"]);
    await picking.confirm(list.lines[0], { quantity: 1 });
    const short = await picking.done("pickListLineShort", { id: list.lines[0].id });
    assert.deepEqual(
      [short.pickListLine.state, short.missingQuantity, short.replacements],
      ["short", 2, [{ id: short.replacements[0].id, quantity: 1, binLocation: { code: "C-1" } }]],
    );
    const now = await picking.read(list.id);
    assert.deepEqual(picking.way(now), [
      "A-1 hammer 1/4 short",
      "C-1 hammer 0/1 open",
      "C-1 hammer 0/1 open",
    ]);
    for (const line of now.lines.slice(1)) await picking.confirm(line);
    const packed = await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    assert.deepEqual(
      [packed.pickTask.state, packed.fulfillmentOrder],
      ["packed", { id: order.fulfillmentOrders[0]!.id, state: "InProgress", isPartiallyFulfilled: true }],
    );
    assert.equal((await picking.read(list.id)).state, "completed");
    // The books still have three units in A-1, but nobody is sent there before somebody has counted
    const again = { warehouseId: shop.id.hall, fulfillmentOrderIds: [order.fulfillmentOrders[0]!.id] };
    assert.deepEqual(refusals(await picking.call("pickListsCreate", again)), [
      ["INSUFFICIENT_STOCK", "fulfillmentOrderIds"],
    ]);
    const proposals = async () => {
      const query = `{ cycleCountProposals(warehouseId: "${shop.id.hall}") { edges { node { product { productNumber } binLocation { code } } } } }`;
      const { cycleCountProposals: found } = await shop.read(query);
      return found.edges.map(({ node }: any) => `${node.product.productNumber} ${node.binLocation?.code}`);
    };
    assert.deepEqual(await proposals(), ["hammer A-1"]);
    await shop.succeed("stockSet", { lines: [shop.line("hammer", "A-1", { quantity: 2 })] });
    assert.deepEqual(await proposals(), []);
    const rest = await picking.done("pickListsCreate", again);
    assert.deepEqual(picking.way(await picking.read(rest.pickLists[0].id)), ["A-1 hammer 0/2 open"]);
    await assertLedgerIsRight(shop);
  });

  it("end a list of which nothing is found", async () => {
    await shop.store("hammer", "A-1", 4);
    const order = await picking.order(["hammer", 2]);
    const list = await picking.begin([order]);
    const short = await picking.done("pickListLineShort", { id: list.lines[0].id });
    assert.deepEqual([short.missingQuantity, short.replacements], [2, []]);
    const now = await picking.read(list.id);
    assert.deepEqual([now.state, now.tasks[0].state], ["cancelled", "dropped"]);
    assert.equal(now.tasks[0].stockContainer.fulfillmentOrderId, null);
    assert.deepEqual(refusals(await picking.call("pickListLineShort", { id: list.lines[0].id })), [
      ["INVALID_STATE_TRANSITION", null],
    ]);
  });
});

describe("planned units", () => {
  it("are not reserved by their bin or batch, nor picked for others", async () => {
    const reserving = reservingIn(shop);
    await shop.store("nail", "A-1", 5);
    await shop.store("nail", "C-1", 50);
    await shop.store("glue", "C-2", 5, "G1");
    await shop.store("glue", "C-1", 5, "G2");
    const list = await picking.plan([await picking.order(["nail", 4], ["glue", 3])]);
    const { batch, ...glue } = list.lines.find(({ product }: any) => product.productNumber === "glue");
    const batchId = shop.id[batch.number];
    const codes = async (product: string, place: string, quantity: number, rest?: object) =>
      refusals(await reserving.tryReserve([[product, place, quantity, rest]]))[0]?.[0] ?? "reserved";
    assert.deepEqual(await codes("nail", "A-1", 2), "INSUFFICIENT_STOCK");
    assert.deepEqual(await codes("nail", "A-1", 1), "reserved");
    assert.equal(picking.placeOf(glue), batch.number === "G1" ? "C-2" : "C-1");
    assert.deepEqual(await codes("glue", "hall", 3, { batchId }), "INSUFFICIENT_STOCK");
    assert.deepEqual(await codes("glue", picking.placeOf(glue), 3, { batchId }), "INSUFFICIENT_STOCK");
    assert.deepEqual(await codes("glue", picking.placeOf(glue), 2, { batchId }), "reserved");
    // A shipment of another order takes units from elsewhere, and what was promised last
    const other = await picking.order(["nail", 3]);
    const shipped = await shop.fulfill(other.fulfillmentOrders[0]!);
    assert.deepEqual(
      shop.moves(shipped).map(([quantity, source]) => [quantity, source]),
      [[3, "C-1"]],
    );
    await assertLedgerIsRight(shop);
  });

  it("are missed by a booking that takes them, which warns", async () => {
    await shop.store("hammer", "A-1", 5);
    await shop.store("hammer", "C-1", 5);
    const list = await picking.begin([await picking.order(["hammer", 5])]);
    const set = await shop.mutate(
      "stockSet",
      { lines: [shop.line("hammer", "A-1", { quantity: 3 })] },
      { select: "warnings { code details }" },
    );
    assert.deepEqual(
      set.warnings.map(({ code, details }: any) => [
        code,
        details.pickListNumber,
        details.planned,
        details.left,
      ]),
      [["STOCK_PROMISED", list.number, 5, 3]],
    );
    const more = { id: list.lines[0].id, code: "hammer", quantity: 4 };
    assert.deepEqual(refusals(await picking.call("pickListLineConfirm", more)), [
      ["INSUFFICIENT_STOCK", "quantity"],
    ]);
    await picking.confirm(list.lines[0], { quantity: 3 });
    const short = await picking.done("pickListLineShort", { id: list.lines[0].id });
    assert.deepEqual(short.replacements[0].binLocation.code, "C-1");
    // Other bins warn of nothing
    const other = await shop.mutate(
      "stockAdjust",
      { lines: [shop.line("hammer", "C-1", { delta: -1 })] },
      { select: "warnings { code }" },
    );
    assert.deepEqual(other.warnings, []);
    await assertLedgerIsRight(shop);
  });

  it("are refused when their batch or bin is no longer sellable", async () => {
    await shop.store("glue", "A-1", 5, "G1");
    const list = await picking.begin([await picking.order(["glue", 2])]);
    const { id } = list.lines[0];
    const confirm = async () => refusals(await picking.call("pickListLineConfirm", { id, code: "glue" }));
    await shop.succeed("batchHold", { ids: [shop.id.G1], reason: "recall" });
    assert.deepEqual(await confirm(), [["BATCH_HELD", "id"]]);
    await shop.succeed("batchRelease", { ids: [shop.id.G1] });
    await shop.succeed("binLocationUpdate", { id: shop.id["A-1"], stockState: "damaged" });
    assert.deepEqual(await confirm(), [["BIN_NOT_SELLABLE", "id"]]);
    await shop.succeed("binLocationUpdate", { id: shop.id["A-1"], stockState: "sellable" });
    await picking.confirm(list.lines[0]);
    await shop.succeed("batchHold", { ids: [shop.id.G1], reason: "recall" });
    const packed = await picking.call("pickListPack", { pickTaskId: list.tasks[0].id });
    await shop.succeed("batchRelease", { ids: [shop.id.G1] });
    assert.deepEqual(refusals(packed), [["BATCH_HELD", "id"]]);
  });
});

describe("a fulfillment order on a pick list", () => {
  /** Starts a list of five hammers of which two are picked. */
  const beginWithTwo = async () => {
    await shop.store("hammer", "A-1", 9);
    const order = await picking.order(["hammer", 5]);
    const list = await picking.begin([order]);
    await picking.confirm(list.lines[0], { quantity: 2 });
    return { order, list, fulfillmentOrder: order.fulfillmentOrders[0]!, line: list.lines[0] };
  };
  const stateOf = async (list: any) => {
    const now = await picking.read(list.id);
    return [
      now.state,
      now.tasks[0].state,
      now.tasks[0].stockContainer.fulfillmentOrderId,
      ...picking.way(now),
    ];
  };

  it("waits while it is on hold", async () => {
    const { list, fulfillmentOrder, line } = await beginWithTwo();
    await shop.succeed("fulfillmentOrderHold", { id: fulfillmentOrder.id });
    const input = { id: line.id, code: "hammer" };
    assert.deepEqual(refusals(await picking.call("pickListLineConfirm", input)), [["ON_HOLD", "id"]]);
    assert.deepEqual(refusals(await picking.call("pickListPack", { pickTaskId: list.tasks[0].id })), [
      ["ON_HOLD", "fulfillmentOrderId"],
    ]);
    await shop.succeed("fulfillmentOrderReleaseHold", { id: fulfillmentOrder.id });
    assert.equal((await picking.confirm(line, { quantity: 3 })).pickListLine.state, "picked");
  });

  it("leaves the list when it is cancelled, alone or with its order", async () => {
    for (const cancel of [
      async ({ fulfillmentOrder }: any) =>
        shop.succeed("fulfillmentOrderCancel", { id: fulfillmentOrder.id }),
      async ({ order }: any) => shop.succeed("orderCancel", { id: order.id }),
    ]) {
      await picking.clear();
      const begun = await beginWithTwo();
      await cancel(begun);
      assert.deepEqual(await stateOf(begun.list), ["cancelled", "dropped", null, "A-1 hammer 2/2 picked"]);
      // What is in the container is free, and can be put back
      const container = begun.list.tasks[0].stockContainer.id;
      assert.equal(await picking.inContainer("hammer", container), 2);
      await shop.succeed("stockTransfer", {
        lines: [
          {
            productId: shop.id.hammer,
            source: { stockContainerId: container },
            destination: { binLocationId: shop.id["A-1"] },
            quantity: 2,
          },
        ],
      });
      assert.equal(await shop.stockAt("hammer", "A-1"), 9);
      assert.deepEqual(
        refusals(await picking.call("pickListLineConfirm", { id: begun.line.id, code: "hammer" })),
        [["INVALID_STATE_TRANSITION", null]],
      );
      await assertLedgerIsRight(shop);
    }
  });

  it("leaves the list when another warehouse ships it", async () => {
    await shop.store("hammer", "A-1", 9);
    const order = await picking.order(["hammer", 5]);
    const list = await picking.plan([order]);
    await shop.succeed("fulfillmentOrderMove", {
      id: order.fulfillmentOrders[0]!.id,
      warehouseId: shop.id.shed,
    });
    assert.deepEqual(await stateOf(list), ["cancelled", "dropped", null, "A-1 hammer 0/5 dropped"]);
    await assertLedgerIsRight(shop);
  });

  it("is picked with less when a part of it is split off, or a line goes away", async () => {
    await shop.store("hammer", "A-1", 9);
    await shop.store("nail", "A-2", 9);
    const order = await picking.order(["hammer", 5], ["nail", 1]);
    const { id, lines } = order.fulfillmentOrders[0]!;
    const list = await picking.plan([order]);
    const split = (line: number, quantity: number) =>
      shop.succeed("fulfillmentOrderSplit", {
        id,
        lines: [{ fulfillmentOrderLineItemId: lines[line], quantity }],
      });
    await split(0, 2);
    await split(1, 1);
    assert.deepEqual(picking.way(await picking.read(list.id)), [
      "A-2 nail 0/1 dropped",
      "A-1 hammer 0/3 open",
    ]);
    // Nobody can split it while it is picked, except in SQL: what is in the container already is not needed
    await shop.succeed("pickListStart", { id: list.id });
    await picking.confirm(list.lines[1], { quantity: 2 });
    await shop.sql("update erp.fulfillment_order_line_item set quantity = 1 where id = $1", lines[0]!);
    assert.deepEqual(picking.way(await picking.read(list.id)), [
      "A-2 nail 0/1 dropped",
      "A-1 hammer 2/2 picked",
    ]);
    const packed = await picking.call("pickListPack", {
      pickTaskId: list.tasks[0].id,
      parcels: [{ lines: [{ fulfillmentOrderLineItemId: lines[0], quantity: 1 }] }],
    });
    assert.deepEqual(packed.userErrors, []);
    const now = await picking.read(list.id);
    assert.equal(now.tasks[0].stockContainer.fulfillmentOrderId, null);
    await assertLedgerIsRight(shop);
  });

  it("is packed by any shipment of it, out of its container first", async () => {
    const { list, fulfillmentOrder } = await beginWithTwo();
    const shipped = await shop.fulfill(fulfillmentOrder);
    assert.deepEqual(shipped.userErrors, []);
    assert.equal(await picking.inContainer("hammer", list.tasks[0].stockContainer.id), 0);
    assert.deepEqual(await stateOf(list), ["completed", "packed", null, "A-1 hammer 2/2 picked"]);
    await assertLedgerIsRight(shop);
  });

  it("comes back to its container's warehouse when the parcel is cancelled, never among others' goods", async () => {
    const { list, line } = await beginWithTwo();
    await picking.confirm(line, { quantity: 3 });
    const packed = await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    const other = await picking.begin([await picking.order(["hammer", 1])]);
    assert.equal(other.tasks[0].stockContainer.id, list.tasks[0].stockContainer.id);
    assert.deepEqual((await shop.cancel(packed.fulfillments[0].id)).userErrors, []);
    assert.deepEqual(
      [
        await shop.stockAt("hammer", "hall"),
        await picking.inContainer("hammer", other.tasks[0].stockContainer.id),
      ],
      [5, 0],
    );
    await assertLedgerIsRight(shop);
  });
});

describe("pickListCancel", () => {
  it("puts back what was picked, and opens the fulfillment orders again", async () => {
    await shop.store("hammer", "A-1", 9);
    await shop.store("nail", "A-2", 9);
    const orders = [await picking.order(["hammer", 2]), await picking.order(["nail", 2], ["hammer", 1])];
    const list = await picking.begin(orders);
    for (const line of list.lines) await picking.confirm(line, { quantity: 1 });
    const [, second] = list.tasks;
    const one = await picking.done("pickListCancel", { id: list.id, pickTaskIds: [second.id] });
    assert.deepEqual(
      [one.pickList.state, one.stockMovements],
      [
        "in_progress",
        [
          { quantity: 1, processTypeTechnicalName: "relocation" },
          { quantity: 1, processTypeTechnicalName: "relocation" },
        ],
      ],
    );
    assert.deepEqual((await shop.stateOf(orders[1]!)).fulfillmentOrders, [["Open", false]]);
    assert.deepEqual([await shop.stockAt("nail", "A-2"), await shop.stockAt("hammer", "A-1")], [9, 8]);
    const wrong = await picking.call("pickListCancel", {
      id: list.id,
      pickTaskIds: [missingId("PickTask")],
    });
    assert.deepEqual(refusals(wrong), [["NOT_FOUND", "pickTaskIds"]]);
    assert.equal((await picking.done("pickListCancel", { id: list.id })).pickList.state, "cancelled");
    const now = await picking.read(list.id);
    assert.ok(
      now.lines.every(({ state, pickedQuantity }: any) => state === "dropped" && pickedQuantity === 0),
    );
    assert.deepEqual(refusals(await picking.call("pickListCancel", { id: list.id })), [
      ["INVALID_STATE_TRANSITION", null],
    ]);
    assert.deepEqual(refusals(await picking.call("pickListStart", { id: list.id })), [
      ["INVALID_STATE_TRANSITION", null],
    ]);
    // They can be planned again
    assert.equal((await picking.plan(orders)).lines.length, 3);
    await assertLedgerIsRight(shop);
  });
});

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { pickingIn } from "../lib/picking.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
let picking: ReturnType<typeof pickingIn>;
before(async () => {
  shop = await openShippingShop();
  picking = pickingIn(shop);
});
after(() => shop.close());
beforeEach(() => picking.clear());

describe("pickListsCreate", () => {
  it("plans a wave in the order of bins, each fulfillment order with a container", async () => {
    await shop.store("hammer", "A-1", 3);
    await shop.store("hammer", "hall", 10);
    await shop.store("nail", "A-2", 10);
    await shop.store("glue", "C-1", 5, "G1");
    const one = await picking.order(["hammer", 4], ["nail", 2]);
    const two = await picking.order(["glue", 1], ["nail", 1]);
    const list = await picking.plan([one, two], { lists: [{ assignee: "Ada" }] });
    assert.deepEqual(
      [list.state, list.assignee, list.tasks.map(({ state }: any) => state)],
      ["open", "Ada", ["open", "open"]],
    );
    // A-2 has position 1, A-1 position 5, C-1 none; what lies outside of bins comes last
    assert.deepEqual(picking.way(list), [
      "A-2 nail 0/2 open",
      "A-2 nail 0/1 open",
      "A-1 hammer 0/3 open",
      "C-1 glue G1 0/1 open",
      "hall hammer 0/1 open",
    ]);
    assert.deepEqual(
      list.tasks.map(({ fulfillmentOrderId, stockContainer }: any) => [
        fulfillmentOrderId === stockContainer.fulfillmentOrderId,
        /^PICK-\d+$/.test(stockContainer.number),
      ]),
      [
        [true, true],
        [true, true],
      ],
    );
    // Planning moves nothing, and reserves nothing twice
    assert.deepEqual(await picking.figures("hammer"), [13, 4, 9, 13, 4]);
    await assertLedgerIsRight(shop);
  });

  it("takes the batch that expires first where the product says so", async () => {
    await shop.owner.query(
      "update erp.product set pick_order = 'first_expired' where product_number = 'glue'; " +
        "update erp.batch set best_before_date = case number when 'G1' then date '2099-12-31' else date '2099-01-31' end where number like 'G%'",
    );
    await shop.store("glue", "A-2", 2, "G1");
    await shop.store("glue", "A-1", 2, "G2");
    const list = await picking.plan([await picking.order(["glue", 3])]);
    await shop.owner.query(
      "update erp.product set pick_order = null where product_number = 'glue'; update erp.batch set best_before_date = null",
    );
    assert.deepEqual(picking.way(list), ["A-2 glue G1 0/1 open", "A-1 glue G2 0/2 open"]);
  });

  it("divides a wave among carts and people, and takes the oldest fulfillment orders by itself", async () => {
    await shop.store("nail", "A-1", 100);
    const orders = [];
    for (let n = 0; n < 5; n++) orders.push(await picking.order(["nail", 1]));
    const carts = await picking.containers("T-1", "T-2");
    const { pickLists } = await picking.done("pickListsCreate", {
      warehouseId: shop.id.hall,
      lists: [{ assignee: "cart", stockContainerIds: carts }, { assignee: "Bob" }, { assignee: "Cem" }],
      ordersPerList: 2,
    });
    const lists = await Promise.all(pickLists.map(({ id }: any) => picking.read(id)));
    assert.deepEqual(
      lists.map(({ assignee, tasks }) => [assignee, tasks.map((task: any) => task.fulfillmentOrderId)]),
      [
        ["cart", orders.slice(0, 2).map(({ fulfillmentOrders }) => fulfillmentOrders[0]!.id)],
        ["Bob", orders.slice(2, 4).map(({ fulfillmentOrders }) => fulfillmentOrders[0]!.id)],
        ["Cem", orders.slice(4).map(({ fulfillmentOrders }) => fulfillmentOrders[0]!.id)],
      ],
    );
    assert.deepEqual(
      lists[0]!.tasks.map(({ stockContainer }: any) => stockContainer.number),
      ["T-1", "T-2"],
    );
    const again = await picking.call("pickListsCreate", { warehouseId: shop.id.hall });
    assert.deepEqual(refusals(again), [["REQUIRED", "fulfillmentOrderIds"]]);
  });

  it("plans no unit twice, and warns of those that are not free", async () => {
    await shop.store("nail", "A-1", 3);
    await picking.plan([await picking.order(["nail", 2])]);
    const more = await picking.order(["nail", 2]);
    const { pickLists, warnings } = await picking.done("pickListsCreate", {
      warehouseId: shop.id.hall,
      fulfillmentOrderIds: [more.fulfillmentOrders[0]!.id],
    });
    assert.deepEqual(picking.way(await picking.read(pickLists[0].id)), ["A-1 nail 0/1 open"]);
    assert.deepEqual(
      warnings.map(({ code, details }: any) => [code, details.productNumber, details.missing]),
      [["NOT_PLANNED", "nail", 1]],
    );
    const none = await picking.order(["nail", 1]);
    assert.deepEqual(
      refusals(
        await picking.call("pickListsCreate", {
          warehouseId: shop.id.hall,
          fulfillmentOrderIds: [none.fulfillmentOrders[0]!.id],
        }),
      ),
      [["INSUFFICIENT_STOCK", "fulfillmentOrderIds"]],
    );
    // Nor does a shipment get what is planned for others
    const refused = await shop.fulfill(none.fulfillmentOrders[0]!);
    assert.deepEqual(refusals(refused), [["INSUFFICIENT_STOCK", "fulfillmentOrderId"]]);
    assert.match(refused.userErrors[0].message, /3 are planned for pick lists/);
    assert.deepEqual(refused.userErrors[0].details, {
      ...{ available: 0, requested: 1, planned: 3, productNumber: "nail" },
    });
  });

  it("takes units from a tote that stands in a bin", async () => {
    const [tote] = await picking.containers("TOTE-1");
    await shop.succeed(
      "stockContainerMove",
      { id: tote, binLocationId: shop.id["A-1"] },
      "warnings { code }",
    );
    const place = { stockContainerId: tote };
    await shop.succeed("stockAdjust", { lines: [{ productId: shop.id.nail, place, delta: 3 }] });
    const list = await picking.begin([await picking.order(["nail", 2])]);
    assert.deepEqual(picking.way(list), ["TOTE-1 nail 0/2 open"]);
    for (const line of list.lines) await picking.confirm(line);
    assert.equal(await picking.inContainer("nail", tote!), 1);
    const packed = await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    assert.equal(packed.pickTask.state, "packed");
  });

  it("refuses fulfillment orders that can't be picked, and containers that can't be used", async () => {
    await shop.store("nail", "A-1", 30);
    const listed = await picking.order(["nail", 1]);
    const ok = await picking.order(["nail", 1]);
    await picking.plan([listed]);
    const held = await shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]], state: "OnHold" }]);
    const shed = await shop.order(
      [{ product: "nail", quantity: 1 }],
      [{ lines: [[0, 1]], location: "shed" }],
    );
    const gone = await shop.order(
      [{ product: "nail", quantity: 1 }],
      [{ lines: [[0, 1]], state: "Cancelled" }],
    );
    const outside = await shop.order(
      [{ product: "nail", quantity: 1 }],
      [{ lines: [[0, 1]], type: "ExternalToOrder" }],
    );
    const ids = [ok, ok, listed, held, shed, gone, outside].map((order) => order.fulfillmentOrders[0]!.id);
    const create = (input: object) =>
      picking.call("pickListsCreate", { warehouseId: shop.id.hall, ...input });
    assert.deepEqual(
      refusals(await create({ fulfillmentOrderIds: [...ids, missingId("FulfillmentOrder")] })),
      [
        ["NOT_UNIQUE", "fulfillmentOrderIds.1"],
        ["ON_PICK_LIST", "fulfillmentOrderIds.2"],
        ["ON_HOLD", "fulfillmentOrderIds.3"],
        ["INVALID", "fulfillmentOrderIds.4"],
        ["INVALID_STATE_TRANSITION", "fulfillmentOrderIds.5"],
        ["EXTERNALLY_MANAGED", "fulfillmentOrderIds.6"],
        ["NOT_FOUND", "fulfillmentOrderIds.7"],
      ],
    );
    const [free, filled] = await picking.containers("T-3", "T-4");
    await shop.mutate("stockAdjust", {
      lines: [{ productId: shop.id.nail, place: { stockContainerId: filled }, delta: 1 }],
    });
    const stockContainerIds = [free, free, filled, missingId("StockContainer")];
    const one = { fulfillmentOrderIds: [ids[0]] };
    assert.deepEqual(refusals(await create({ ...one, lists: [{ stockContainerIds }] })), [
      ["NOT_UNIQUE", "lists.0.stockContainerIds.1"],
      ["CONTAINER_IN_USE", "lists.0.stockContainerIds.2"],
      ["NOT_FOUND", "lists.0.stockContainerIds.3"],
    ]);
    const two = await picking.order(["nail", 1]);
    const both = [ids[0], two.fulfillmentOrders[0]!.id];
    assert.deepEqual(
      refusals(await create({ fulfillmentOrderIds: both, lists: [{ stockContainerIds: [free] }] })),
      [["INVALID", "lists"]],
    );
    assert.deepEqual(refusals(await create({ ...one, ordersPerList: 0 })), [
      ["OUT_OF_RANGE", "ordersPerList"],
    ]);
    assert.deepEqual(refusals(await create({ fulfillmentOrderIds: [] })), [
      ["REQUIRED", "fulfillmentOrderIds"],
    ]);
    assert.deepEqual(refusals(await create({ ...one, lists: [{ assignee: "x".repeat(201) }] })), [
      ["OUT_OF_RANGE", "assignee"],
    ]);
    assert.deepEqual(
      refusals(await picking.call("pickListsCreate", { warehouseId: missingId("Warehouse") })),
      [["NOT_FOUND", "warehouseId"]],
    );
    const token = await shop.token({ read: "all", write: ["orders"] });
    const { codes } = await shop.tryMutate("pickListsCreate", { warehouseId: shop.id.hall }, { token });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });
});

describe("picking and packing", () => {
  it("books each scan into the container, and the parcel out of it", async () => {
    await shop.store("hammer", "A-1", 5);
    const order = await picking.order(["hammer", 3]);
    const planned = await picking.plan([order]);
    const [line] = planned.lines;
    const early = await picking.call("pickListLineConfirm", { id: line.id, code: "hammer" });
    assert.deepEqual(refusals(early), [["INVALID_STATE_TRANSITION", null]]);
    const started = await picking.done("pickListStart", { id: planned.id, assignee: "Ada" });
    assert.deepEqual(started.pickList, { id: planned.id, state: "in_progress", assignee: "Ada" });
    assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [["InProgress", false]]);
    const before = await picking.figures("hammer");

    const input = { id: line.id, code: "hammer", idempotencyKey: "scan 1" };
    const first = await picking.done("pickListLineConfirm", input);
    assert.deepEqual(first.pickListLine, { id: line.id, state: "open", pickedQuantity: 1 });
    // The scanner crashed before it got the answer, and sends the call again
    assert.deepEqual((await picking.done("pickListLineConfirm", input)).pickListLine.pickedQuantity, 1);
    const [task] = planned.tasks;
    assert.deepEqual(
      [await shop.stockAt("hammer", "A-1"), await picking.inContainer("hammer", task.stockContainer.id)],
      [4, 1],
    );
    assert.deepEqual(await picking.figures("hammer"), before);
    const unfinished = await picking.call("pickListPack", { pickTaskId: task.id });
    assert.deepEqual(refusals(unfinished), [["INVALID_STATE_TRANSITION", "pickTaskId"]]);
    const tooMany = await picking.call("pickListLineConfirm", { id: line.id, code: "hammer", quantity: 3 });
    assert.deepEqual(tooMany.userErrors[0].details, { open: 2, requested: 3 });
    assert.deepEqual(refusals(tooMany), [["OVER_FULFILLMENT", "quantity"]]);
    await picking.done("pickListLineConfirm", { id: line.id, code: "hammer", quantity: 2 });

    const packed = await picking.done("pickListPack", {
      pickTaskId: task.id,
      parcels: [
        {
          lines: [{ fulfillmentOrderLineItemId: line.fulfillmentOrderLineItemId, quantity: 1 }],
          trackingCodes: ["P1"],
        },
        {
          lines: [{ fulfillmentOrderLineItemId: line.fulfillmentOrderLineItemId, quantity: 2 }],
          trackingCodes: ["P2"],
        },
      ],
    });
    assert.equal(packed.fulfillments.length, 2);
    assert.deepEqual(packed.pickTask.state, "packed");
    assert.deepEqual(
      packed.stockMovements.map(({ quantity, processTypeTechnicalName, sourceStockContainer }: any) => [
        quantity,
        processTypeTechnicalName,
        sourceStockContainer.number,
      ]),
      [
        [1, "api_shipping", task.stockContainer.number],
        [2, "api_shipping", task.stockContainer.number],
      ],
    );
    const list = await picking.read(planned.id);
    assert.deepEqual(
      [list.state, list.tasks[0].stockContainer.fulfillmentOrderId, picking.way(list)],
      ["completed", null, ["A-1 hammer 3/3 picked"]],
    );
    const state = await shop.stateOf(order);
    assert.deepEqual(
      [state.state, state.shipped, state.fulfillmentOrders, state.trackingCodes],
      ["completed", [3], [["Closed", false]], ["P1", "P2"]],
    );
    assert.deepEqual(await picking.figures("hammer"), [2, 0, 2, 2, 0]);
    assert.deepEqual(refusals(await picking.call("pickListPack", { pickTaskId: task.id })), [
      ["INVALID_STATE_TRANSITION", "pickTaskId"],
    ]);
    await assertLedgerIsRight(shop);
  });

  it("uses its own containers again", async () => {
    await shop.store("hammer", "A-1", 9);
    const numbers = [];
    for (let n = 0; n < 2; n++) {
      const list = await picking.begin([await picking.order(["hammer", 1])]);
      await picking.confirm(list.lines[0]);
      await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
      numbers.push(list.tasks[0].stockContainer.number);
    }
    assert.equal(numbers[0], numbers[1]);
  });

  it("packs into parcels only what was picked", async () => {
    await shop.store("hammer", "A-1", 5);
    await shop.store("nail", "A-1", 5);
    const order = await picking.order(["hammer", 2], ["nail", 1]);
    const other = await picking.order(["nail", 1]);
    const list = await picking.begin([order]);
    for (const line of list.lines) await picking.confirm(line);
    const [hammer, nail] = order.fulfillmentOrders[0]!.lines;
    const pack = (...parcels: [line: string, quantity: number][][]) =>
      picking.call("pickListPack", {
        pickTaskId: list.tasks[0].id,
        parcels: parcels.map((lines) => ({
          lines: lines.map(([fulfillmentOrderLineItemId, quantity]) => ({
            fulfillmentOrderLineItemId,
            quantity,
          })),
        })),
      });
    assert.deepEqual(refusals(await pack([[hammer!, 2]], [[hammer!, 1]])), [
      ["OVER_FULFILLMENT", "parcels.1.lines.0.quantity"],
    ]);
    assert.deepEqual(
      refusals(
        await pack([
          [hammer!, 0],
          [other.fulfillmentOrders[0]!.lines[0]!, 1],
          [nail!, 1],
          [nail!, 1],
        ]),
      ),
      [
        ["OUT_OF_RANGE", "parcels.0.lines.0.quantity"],
        ["NOT_FOUND", "parcels.0.lines.1.fulfillmentOrderLineItemId"],
        ["OVER_FULFILLMENT", "parcels.0.lines.2.quantity"],
        ["NOT_UNIQUE", "parcels.0.lines.3.fulfillmentOrderLineItemId"],
      ],
    );
    assert.deepEqual(refusals(await pack([])), [["REQUIRED", "parcels"]]);
    assert.deepEqual(refusals(await picking.call("pickListPack", { pickTaskId: missingId("PickTask") })), [
      ["NOT_FOUND", "pickTaskId"],
    ]);
    // One parcel now, the rest later
    assert.deepEqual((await pack([[hammer!, 1]])).pickTask.state, "open");
    const rest = await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    assert.deepEqual([rest.pickTask.state, rest.fulfillmentOrder.state], ["packed", "Closed"]);
    await assertLedgerIsRight(shop);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { useContainers } from "./containers.ts";

const { used, at, send, pack, move, tote, figures, number } = useContainers();

describe("stockContainerMove", () => {
  it("changes the bin with all that is in it, without a booking, and shows an event", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("hammer", id, 3);
    const { stockContainer, userErrors, warnings } = await move(id, { binLocationId: used.shop.id["A-2"] });
    assert.deepEqual([userErrors, warnings, stockContainer.binLocation.code], [[], [], "A-2"]);
    assert.deepEqual((await move(id, { warehouseId: used.shop.id.hall })).stockContainer.binLocation, null);
    assert.equal(await used.shop.movements(), 1);
    const events = await used.shop.sql(
      "select data from events.outbox where topic = 'stock_container.moved' and entity_id = $1 union all select data from events.event where topic = 'stock_container.moved' and entity_id = $1",
      id,
    );
    assert.equal(events.length, 2);
    assert.deepEqual(await figures("hammer"), [3, 0, 3, 0, 3]);
  });

  it("turns units unsellable with the bin, and warns of promised ones", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("nail", id, 5);
    await pack("glue", id, 2, "G1");
    await used.shop.sql("update erp.bin_location set stock_state = 'damaged' where code = 'A-2'");
    await used.shop.order([{ product: "nail", quantity: 4 }], [{ location: "hall", lines: [[0, 4]] }]);
    const { warnings } = await move(id, { binLocationId: used.shop.id["A-2"] });
    assert.deepEqual(
      warnings.map(({ code, field }: any) => [code, field]),
      [["STOCK_PROMISED", ["binLocationId"]]],
    );
    assert.deepEqual(await figures("nail"), [5, 5, 5, 5, -4]);
    assert.deepEqual(await figures("glue"), [2, 2, 2, 2, 0]);
    await used.shop.mutate(
      "batchHold",
      { ids: [used.shop.id.G1], reason: "x" },
      { select: "batches { id }" },
    );
    assert.deepEqual(await figures("glue"), [2, 2, 2, 2, 0]);
    await assertLedgerIsRight(used.shop);
    // Another product comes into it there
    await pack("hammer", id, 1);
    assert.deepEqual(await figures("hammer"), [1, 1, 1, 1, 0]);
    await move(id, { binLocationId: used.shop.id["A-1"] });
    assert.deepEqual(await figures("nail"), [5, 0, 5, 0, 1]);
    assert.deepEqual(await figures("glue"), [2, 2, 2, 2, 0]);
    await used.shop.mutate("batchRelease", { ids: [used.shop.id.G1] }, { select: "batches { id }" });
  });

  it("turns its units with the state of its bin", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("nail", id, 5);
    await used.shop.mutate("binLocationUpdate", { id: used.shop.id["A-1"], stockState: "quality_control" });
    assert.deepEqual(await figures("nail"), [5, 5, 5, 5, 0]);
    await used.shop.mutate("binLocationUpdate", { id: used.shop.id["A-1"], stockState: "sellable" });
    assert.deepEqual(await figures("nail"), [5, 0, 5, 0, 5]);
  });

  it("keeps a container in its warehouse once it has held goods; a transfer takes them to another one", async () => {
    const id = await tote();
    assert.deepEqual((await move(id, { warehouseId: used.shop.id.shed })).userErrors, []);
    assert.deepEqual((await move(id, { binLocationId: used.shop.id["A-1"] })).userErrors, []);
    await pack("hammer", id, 3);
    assert.deepEqual(refusals(await move(id, { warehouseId: used.shop.id.shed })), [
      ["NOT_EDITABLE", "warehouseId"],
    ]);
    const other = await tote({ warehouseId: used.shop.id.shed });
    assert.deepEqual((await send("hammer", id, other, 3)).userErrors, []);
    assert.deepEqual(await figures("hammer"), [3, 0, 0, 0, 0]);
    assert.deepEqual(refusals(await move(id, { binLocationId: used.shop.id["B-1"] })), [
      ["NOT_EDITABLE", "warehouseId"],
    ]);
  });

  it("refuses two places, none, and those that don't exist", async () => {
    const id = await tote();
    for (const [input, code, field] of [
      [{}, "INVALID", "binLocationId"],
      [{ ...at("hall"), ...at("A-1") }, "INVALID", "binLocationId"],
      [{ warehouseId: missingId("Warehouse") }, "NOT_FOUND", "warehouseId"],
      [{ binLocationId: missingId("BinLocation") }, "NOT_FOUND", "binLocationId"],
    ] as const)
      assert.deepEqual(refusals(await move(id, input)), [[code, field]]);
    assert.deepEqual(refusals(await move(missingId("StockContainer"), at("hall"))), [["NOT_FOUND", "id"]]);
  });

  it("keeps bins and warehouses that containers stand in", async () => {
    const { binLocation } = await used.shop.mutate(
      "binLocationCreate",
      { warehouseId: used.shop.id.hall, code: `Z-${number()}` },
      { select: "binLocation { id }" },
    );
    const id = await tote({ binLocationId: binLocation.id });
    const drop = () =>
      used.shop.mutate("binLocationDelete", { id: binLocation.id }, { select: "deletedBinLocationId" });
    assert.deepEqual(refusals(await drop()), [["REFERENCE_IN_USE", null]]);
    await assert.rejects(
      used.shop.sql(
        "update erp.bin_location set warehouse_id = $2 where id = $1",
        binLocation.id,
        used.shop.id.shed!,
      ),
      /Containers stand in bin/,
    );
    await move(id, at("hall"));
    assert.deepEqual((await drop()).userErrors, []);
  });
});

describe("containers that are picked for a fulfillment order", () => {
  /** An order of nails with a container that holds some of its units. */
  const picked = async (units: number, quantity = units) => {
    const id = await tote();
    await pack("nail", id, units);
    const order = await used.shop.order(
      [{ product: "nail", quantity }],
      [{ location: "hall", lines: [[0, quantity]] }],
    );
    await used.shop.sql(
      "update erp.stock_container set fulfillment_order_id = $2 where id = $1",
      id,
      order.fulfillmentOrders[0]!.id,
    );
    return { id, order };
  };

  it("are refused by stockAdjust, stockSet and stockTransfer", async () => {
    const { id, order } = await picked(3);
    const [{ number }] = await used.shop.sql(
      "select number from erp.fulfillment_order where id = $1",
      order.fulfillmentOrders[0]!.id,
    );
    const payload = await send("nail", id, "A-1", 1);
    assert.deepEqual(refusals(payload), [["PICKED_FOR_ORDER", "lines.0.source.stockContainerId"]]);
    assert.deepEqual(payload.userErrors[0].details, {
      fulfillmentOrderId: order.fulfillmentOrders[0]!.id,
      number,
    });
    await used.shop.store("nail", "A-1", 1);
    assert.deepEqual(refusals(await send("nail", "A-1", id, 1)), [
      ["PICKED_FOR_ORDER", "lines.0.destination.stockContainerId"],
    ]);
    for (const [name, line] of [
      ["stockAdjust", { delta: 1 }],
      ["stockSet", { quantity: 1 }],
    ] as const) {
      const lines = [{ productId: used.shop.id.nail, place: at(id), ...line }];
      assert.deepEqual(refusals(await used.shop.mutate(name, { lines })), [
        ["PICKED_FOR_ORDER", "lines.0.place.stockContainerId"],
      ]);
    }
  });

  it("are shipped first for this one, and never for others", async () => {
    const { id, order } = await picked(3, 4);
    await pack("nail", "A-1", 2);
    const other = await used.shop.order(
      [{ product: "nail", quantity: 3 }],
      [{ location: "hall", lines: [[0, 3]] }],
    );
    const refused = await used.shop.fulfill(other.fulfillmentOrders[0]!);
    assert.deepEqual(refusals(refused), [["INSUFFICIENT_STOCK", "fulfillmentOrderId"]]);
    assert.equal(refused.userErrors[0].details.available, 2);
    const payload = await used.shop.fulfill(order.fulfillmentOrders[0]!);
    assert.deepEqual(payload.userErrors, []);
    const [row] = await used.shop.sql(
      "select c.fulfillment_order_id, s.quantity from erp.stock_container c join ledger.stock s on s.stock_container_id = c.id where c.id = $1",
      id,
    );
    // It is closed, so the container is free again
    assert.deepEqual(row, { fulfillment_order_id: null, quantity: 0 });
    assert.equal(await used.shop.stockAt("nail", "A-1"), 1);
  });

  it("are free again when the fulfillment order is cancelled", async () => {
    const { id, order } = await picked(2);
    const cancelled = await used.shop.mutate(
      "fulfillmentOrderCancel",
      { id: order.fulfillmentOrders[0]!.id },
      {
        select: "fulfillmentOrder { state }",
      },
    );
    assert.deepEqual(cancelled.userErrors, []);
    assert.deepEqual((await send("nail", id, "A-1", 2)).userErrors, []);
  });
});

it("leaves containers of no warehouse nowhere: they can only be emptied", async () => {
  await used.shop.sql("alter table erp.stock_container disable trigger keep_place_of_new");
  const [{ id }] = await used.shop.sql(
    "insert into erp.stock_container (number) values ('old') returning id",
  );
  await used.shop.sql("alter table erp.stock_container enable trigger keep_place_of_new");
  await used.shop.sql(
    `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
       source_special_stock_location_technical_name, destination_location_type_technical_name, destination_stock_container_id)
     values ($1, 2, 'incoming', 'special_stock_location', 'import', 'stock_container', $2)`,
    used.shop.id.hammer!,
    id,
  );
  assert.deepEqual(await figures("hammer"), [0, 0, null, null, null]);
  const place = `gid://service/StockContainer/${id}`;
  await used.shop.store("hammer", "A-1", 1);
  assert.deepEqual(refusals(await send("hammer", "A-1", place, 1)), [
    ["INVALID", "lines.0.destination.stockContainerId"],
  ]);
  assert.deepEqual((await send("hammer", place, "A-1", 2)).userErrors, []);
  assert.deepEqual(await figures("hammer"), [3, 0, 3, 0, 3]);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import { sscc, useContainers } from "./containers.ts";

const { used, at, send, pack, create, change, remove, tote, figures, number } = useContainers();

describe("stockContainerCreate", () => {
  it("makes a container of each kind, in a warehouse or in a bin of it", async () => {
    for (const input of [
      { number: "box 1", kind: "box" },
      { number: "Ä".repeat(100), kind: "tote", binLocationId: used.shop.id["A-1"] },
      { number: "P/1", kind: "pallet", sscc: sscc(1) },
    ]) {
      const { stockContainer, userErrors } = await create(input);
      assert.deepEqual(userErrors, []);
      const { id, binLocation, ...others } = stockContainer;
      assert.match(id, /^gid:\/\/service\/StockContainer\/[0-9a-f-]{36}$/);
      assert.equal(binLocation?.code, "binLocationId" in input ? "A-1" : undefined);
      const given = Object.fromEntries(Object.entries(input).filter(([name]) => name !== "binLocationId"));
      assert.deepEqual(others, {
        sscc: null,
        ...given,
        warehouseId: used.shop.id.hall,
        fulfillmentOrderId: null,
        updatedAt: null,
      });
    }
  });

  for (const [input, code, field] of [
    [{ number: "" }, "INVALID", "number"],
    [{ number: " " }, "INVALID", "number"],
    [{ number: "n".repeat(101) }, "OUT_OF_RANGE", "number"],
    [{ number: "taken" }, "NOT_UNIQUE", "number"],
    [{ sscc: "" }, "INVALID", "sscc"],
    [{ sscc: `${sscc(1).slice(0, 17)}${(Number(sscc(1).at(-1)) + 1) % 10}` }, "INVALID", "sscc"],
    [{ sscc: sscc(1).slice(1) }, "INVALID", "sscc"],
    [{ sscc: sscc(2) }, "NOT_UNIQUE", "sscc"],
    [{ warehouseId: missingId("Warehouse") }, "NOT_FOUND", "warehouseId"],
    [{ binLocationId: missingId("BinLocation") }, "NOT_FOUND", "binLocationId"],
  ] as const) {
    it(`refuses ${JSON.stringify(input).slice(0, 50)}: ${code}`, async () => {
      await create({ number: "taken", sscc: sscc(2) });
      assert.deepEqual(refusals(await create({ number: number(), ...input })), [[code, field]]);
    });
  }

  it("refuses a bin of another warehouse", async () => {
    const payload = await create({ number: number(), binLocationId: used.shop.id["B-1"] });
    assert.deepEqual(refusals(payload), [["INVALID", "binLocationId"]]);
  });

  it("needs the scope warehouses:write", async () => {
    const token = await used.shop.token({ read: "all", write: ["stocks"] });
    const { codes } = await used.shop.tryMutate(
      "stockContainerCreate",
      { number: "x", kind: "box", warehouseId: used.shop.id.hall },
      { token, select: "stockContainer { id }" },
    );
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });
});

describe("stockContainerUpdate and stockContainerDelete", () => {
  it("change what is named, and nothing else", async () => {
    const id = await tote();
    const named = number();
    for (const input of [{ number: named }, { sscc: sscc(3) }, { kind: "pallet" }, { sscc: null }]) {
      const { stockContainer, userErrors } = await change(id, input);
      assert.deepEqual(userErrors, []);
      for (const [name, value] of Object.entries(input)) assert.equal(stockContainer[name], value);
      assert.equal(stockContainer.number, named);
    }
    assert.deepEqual(refusals(await change(id, { number: " " })), [["INVALID", "number"]]);
    assert.deepEqual(refusals(await change(missingId("StockContainer"), {})), [["NOT_FOUND", "id"]]);
  });

  it("delete an empty container, and keep its movements", async () => {
    const id = await tote();
    await pack("hammer", id, 2);
    const refused = await remove(id);
    assert.deepEqual(refusals(refused), [["WAREHOUSE_NOT_EMPTY", null]]);
    assert.deepEqual(refused.userErrors[0].details, { quantity: 2 });
    await send("hammer", id, "A-1", 2);
    const { deletedStockContainerId, userErrors } = await remove(id);
    assert.deepEqual([deletedStockContainerId, userErrors], [id, []]);
    assert.deepEqual(refusals(await remove(id)), [["NOT_FOUND", "id"]]);
    assert.equal(await used.shop.movements(), 2);
    assert.deepEqual(await figures("hammer"), [2, 0, 2, 0, 2]);
  });
});

describe("goods in a container", () => {
  it("count into the warehouse, and moving them in or out changes no figure", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("hammer", "A-1", 10);
    const expected = [10, 0, 10, 0, 10];
    for (const [from, to] of [
      ["A-1", id],
      [id, "hall"],
      ["hall", id],
      [id, "A-2"],
    ] as const) {
      assert.deepEqual((await send("hammer", from, to, 10)).userErrors, []);
      assert.deepEqual(await figures("hammer"), expected);
    }
    const { userErrors } = await send("hammer", id, "A-1", 1);
    assert.deepEqual(
      userErrors.map(({ code }: { code: string }) => code),
      ["INSUFFICIENT_STOCK"],
    );
  });

  it("are counted and adjusted, also batches", async () => {
    const id = await tote();
    await pack("glue", id, 4, "G1");
    const set = { productId: used.shop.id.glue, place: at(id), quantity: 7, batchId: used.shop.id.G1 };
    assert.deepEqual((await used.shop.mutate("stockSet", { lines: [set] })).userErrors, []);
    const [batch] = await used.shop.sql("select physical_stock from erp.batch where number = 'G1'");
    assert.equal(batch.physical_stock, 7);
    assert.deepEqual(await figures("glue"), [7, 0, 7, 0, 7]);
    const expected = { ...set, expectedQuantity: 4 };
    assert.deepEqual(refusals(await used.shop.mutate("stockSet", { lines: [expected] })), [
      ["QUANTITY_CHANGED", "lines.0.expectedQuantity"],
    ]);
    const { stockContainer } = await used.shop.read(
      `{ stockContainer(id: "${id}") { stocks { edges { node { quantity warehouseId stockContainer { id } } } }
         destinationStockMovements { edges { node { destinationStockContainer { id } destinationLocationTypeTechnicalName } } } } }`,
    );
    assert.deepEqual(
      stockContainer.stocks.edges.map(({ node }: any) => [
        node.quantity,
        node.warehouseId,
        node.stockContainer.id,
      ]),
      [[7, null, id]],
    );
    assert.equal(stockContainer.destinationStockMovements.edges.length, 2);
  });

  it("are shipped, by the position of the bin of their container", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-2"] });
    await pack("nail", "A-1", 5);
    await pack("nail", id, 3);
    const order = await used.shop.order(
      [{ product: "nail", quantity: 4 }],
      [{ location: "hall", lines: [[0, 4]] }],
    );
    const payload = await used.shop.fulfill(order.fulfillmentOrders[0]!);
    assert.deepEqual(payload.userErrors, []);
    const [row] = await used.shop.sql("select quantity from ledger.stock where stock_container_id = $1", id);
    assert.equal(row.quantity, 0);
    assert.equal(await used.shop.stockAt("nail", "A-1"), 4);
    // They come back to the container
    const undone = await used.shop.cancel(payload.fulfillment.id);
    assert.deepEqual(undone.userErrors, []);
    const [back] = await used.shop.sql("select quantity from ledger.stock where stock_container_id = $1", id);
    assert.equal(back.quantity, 3);
  });

  it("are past stock of their warehouse, too", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("hammer", id, 6);
    const moment = await used.shop.ago("0 seconds");
    await send("hammer", id, "B-1", 6);
    const read = async (place: string) =>
      (
        await used.shop.read(
          `{ warehouse(id: "${used.shop.id[place]}") { stocksAsOf(moment: "${moment}") { edges { node { productId } } } } }`,
        )
      ).warehouse.stocksAsOf.edges.map(({ node }: any) => node.productId);
    assert.deepEqual([await read("hall"), await read("shed")], [[used.shop.id.hammer], []]);
    const { product } = await used.shop.read(
      `{ product(id: "${used.shop.id.hammer}") { physicalStockAsOf(moment: "${moment}") } }`,
    );
    assert.equal(product.physicalStockAsOf, 6);
  });

  it("are named by only one place, and by a container that exists", async () => {
    const id = await tote();
    const lines = (place: object) => [{ productId: used.shop.id.hammer, place, delta: 1 }];
    for (const [place, code, field] of [
      [{ ...at(id), ...at("hall") }, "INVALID", "lines.0.place"],
      [{ ...at(id), ...at("A-1") }, "INVALID", "lines.0.place"],
      [at(missingId("StockContainer")), "NOT_FOUND", "lines.0.place.stockContainerId"],
    ] as const)
      assert.deepEqual(refusals(await used.shop.mutate("stockAdjust", { lines: lines(place) })), [
        [code, field],
      ]);
    assert.deepEqual(refusals(await send("hammer", id, id, 1)), [["INVALID", "lines.0.destination"]]);
    // These name no containers
    for (const place of [at(id), { ...at(id), ...at("A-1") }]) {
      const reserved = await used.shop.mutate(
        "stockReserve",
        { lines: [{ productId: used.shop.id.hammer, place, quantity: 1 }] },
        { select: "stockReservations { id }" },
      );
      assert.deepEqual(refusals(reserved), [["INVALID", "lines.0.place"]]);
    }
  });

  it("are promised at the bin that their container stands in", async () => {
    const id = await tote({ binLocationId: used.shop.id["A-1"] });
    await pack("hammer", id, 3);
    const reserve = (quantity: number) =>
      used.shop.mutate(
        "stockReserve",
        { lines: [{ productId: used.shop.id.hammer, place: at("A-1"), quantity }] },
        { select: "stockReservations { id }" },
      );
    assert.deepEqual((await reserve(3)).userErrors, []);
    assert.deepEqual(refusals(await reserve(1)), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    await used.shop.sql("delete from erp.stock_reservation");
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refusals } from "../lib/shop.ts";
import { useContainers } from "./containers.ts";

const { used, tote, pack, number, move } = useContainers();

const receipt =
  "goodsReceipt { id state lineItems { edges { node { id quantity product { productNumber } batch { number } } } } }";
const moved = "stockMovements { quantity destinationStockContainer { id } sourceStockContainer { id } }";

/** Approves a receipt with lines of product, quantity and batch. Returns its id, and the ids of its lines. */
async function arrived(lines: [product: string, quantity: number, batchNumber?: string][]) {
  const lineItems = lines.map(([product, quantity, batchNumber]) => {
    return { productId: used.shop.id[product], quantity, batchNumber };
  });
  const { goodsReceipt } = await used.shop.succeed("goodsReceiptCreate", { lineItems }, receipt);
  await used.shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
  return {
    id: goodsReceipt.id as string,
    lines: goodsReceipt.lineItems.edges.map(({ node }: any) => node.id) as string[],
  };
}

/** Units in a container, by product and batch. */
async function inside(id: string): Promise<[string, string | null, number][]> {
  const query = `{ stockContainer(id: "${id}") { stocks { edges { node { quantity product { productNumber }
    batches { edges { node { quantity batch { number } } } } } } } } }`;
  const { stockContainer } = await used.shop.read(query);
  return stockContainer.stocks.edges.flatMap(({ node }: any) =>
    node.batches.edges.length === 0
      ? [[node.product.productNumber, null, node.quantity]]
      : node.batches.edges.map((batch: any) => [
          node.product.productNumber,
          batch.node.batch.number,
          batch.node.quantity,
        ]),
  );
}

describe("goodsReceiptComplete with containers", () => {
  it("puts units onto a pallet, also several batches, and the rest into the warehouse", async () => {
    const { id } = used.shop;
    const pallet = await tote({ kind: "pallet", binLocationId: id["A-1"] });
    const { id: receiptId, lines } = await arrived([
      ["glue", 4, "LOT-A"],
      ["glue", 3, "LOT-B"],
      ["nail", 5],
    ]);
    const place = { stockContainerId: pallet };
    const { stockMovements } = await used.shop.succeed(
      "goodsReceiptComplete",
      {
        id: receiptId,
        putAway: [
          { goodsReceiptLineItemId: lines[0], place, quantity: 4 },
          { goodsReceiptLineItemId: lines[1], place, quantity: 3 },
          { goodsReceiptLineItemId: lines[2], place, quantity: 2 },
          { goodsReceiptLineItemId: lines[2], place: { warehouseId: id.hall }, quantity: 3 },
        ],
      },
      moved,
    );
    assert.deepEqual(
      stockMovements.map((each: any) => [each.quantity, each.destinationStockContainer?.id ?? null]),
      [
        [4, pallet],
        [3, pallet],
        [2, pallet],
        [3, null],
      ],
    );
    assert.deepEqual((await inside(pallet)).sort(), [
      ["glue", "LOT-A", 4],
      ["glue", "LOT-B", 3],
      ["nail", null, 2],
    ]);
  });

  it("refuses containers that do not exist, stand elsewhere, or hold what was picked", async () => {
    const { id } = used.shop;
    const { id: receiptId, lines } = await arrived([["nail", 5]]);
    const put = (place: object, outcome?: string) =>
      used.shop.mutate("goodsReceiptComplete", {
        id: receiptId,
        putAway: [{ goodsReceiptLineItemId: lines[0], place, quantity: 5, outcome }],
      });
    const elsewhere = await tote({ warehouseId: id.shed });
    const here = await tote();
    const picked = await tote();
    const order = await used.shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]);
    await used.shop.sql(
      "update erp.stock_container set fulfillment_order_id = $1 where id = $2",
      order.fulfillmentOrders[0]!.id,
      picked,
    );
    const unknown = here.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const place of [
      { stockContainerId: unknown },
      { stockContainerId: elsewhere },
      { stockContainerId: here, warehouseId: id.hall },
    ])
      assert.deepEqual(refusals(await put(place)), [["INVALID", "putAway.0.place"]], JSON.stringify(place));
    assert.deepEqual(refusals(await put({ stockContainerId: picked })), [
      ["PICKED_FOR_ORDER", "putAway.0.place.stockContainerId"],
    ]);
    // The state of its bin counts
    assert.deepEqual(refusals(await put({ stockContainerId: here }, "quarantine")), [
      ["INVALID", "putAway.0.place"],
    ]);
    assert.deepEqual(refusals(await put({ stockContainerId: here }, "restock")), []);
    assert.deepEqual(await inside(here), [["nail", null, 5]]);
  });
});

describe("a line of a goods receipt that names a container", () => {
  const select = `goodsReceipt { id lineItems { edges { node { id quantity destinationStockContainer { id } } } } } ${moved}`;
  const only = ({ destinationStockContainer, quantity }: any) => [quantity, destinationStockContainer?.id];

  it("puts its units there, and a correction takes them back from there", async () => {
    const { id } = used.shop;
    const pallet = await tote({ kind: "pallet" });
    const line = (product: string, quantity: number, batchNumber?: string) => ({
      ...{ productId: id[product], quantity, batchNumber },
      destinationStockContainerId: pallet,
    });
    const receive = async (lineItems: object[]) => {
      const { goodsReceipt } = await used.shop.succeed("goodsReceiptCreate", { lineItems }, receipt);
      const { stockMovements } = await used.shop.succeed(
        "goodsReceiptApprove",
        { id: goodsReceipt.id },
        moved,
      );
      const done = await used.shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id }, select);
      return { ...done, approved: stockMovements };
    };
    const first = await receive([line("glue", 4, "LOT-C"), line("glue", 2, "LOT-D"), line("nail", 5)]);
    assert.deepEqual(
      first.goodsReceipt.lineItems.edges.map(({ node }: any) => only(node)),
      [
        [4, pallet],
        [2, pallet],
        [5, pallet],
      ],
    );
    assert.deepEqual((await inside(pallet)).sort(), [
      ["glue", "LOT-C", 4],
      ["glue", "LOT-D", 2],
      ["nail", null, 5],
    ]);
    const { approved } = await receive([line("glue", -3, "LOT-C"), line("nail", -5)]);
    assert.deepEqual(
      approved.map((each: any) => [each.quantity, each.sourceStockContainer?.id]),
      [
        [3, pallet],
        [5, pallet],
      ],
    );
    assert.deepEqual((await inside(pallet)).sort(), [
      ["glue", "LOT-C", 1],
      ["glue", "LOT-D", 2],
      ["nail", null, 0],
    ]);
    const { goodsReceipt } = await used.shop.succeed(
      "goodsReceiptCreate",
      { lineItems: [line("nail", -1)] },
      receipt,
    );
    assert.deepEqual(
      refusals(await used.shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id })).map(([code]) => code),
      ["INSUFFICIENT_STOCK"],
    );
  });

  it("names one of the warehouse, and the warehouse stays", async () => {
    const { id } = used.shop;
    const [here, elsewhere] = [await tote(), await tote({ warehouseId: id.shed })];
    const create = (place: object) =>
      used.shop.mutate(
        "goodsReceiptCreate",
        { lineItems: [{ productId: id.nail, quantity: 3, ...place }] },
        { select: receipt },
      );
    const field = "lineItems.0.destinationStockContainerId";
    assert.deepEqual(refusals(await create({ destinationStockContainerId: elsewhere })), [
      ["INVALID", field],
    ]);
    assert.deepEqual(
      refusals(await create({ destinationStockContainerId: here, destinationBinLocationId: id["A-1"] })),
      [["INVALID", field]],
    );
    const { goodsReceipt } = await create({ destinationStockContainerId: here });
    assert.deepEqual(
      refusals(await used.shop.mutate("goodsReceiptUpdate", { id: goodsReceipt.id, warehouseId: id.shed })),
      [["INVALID", "warehouseId"]],
    );
  });

  it("is not completed while its container is elsewhere, or has what was picked", async () => {
    const { id } = used.shop;
    const box = await tote();
    const { goodsReceipt } = await used.shop.succeed(
      "goodsReceiptCreate",
      { lineItems: [{ productId: id.nail, quantity: 3, destinationStockContainerId: box }] },
      receipt,
    );
    await used.shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
    const complete = () => used.shop.mutate("goodsReceiptComplete", { id: goodsReceipt.id });
    assert.deepEqual((await move(box, { warehouseId: id.shed })).userErrors, []);
    assert.deepEqual(refusals(await complete()), [["INVALID", "id"]]);
    assert.deepEqual((await move(box, { warehouseId: id.hall })).userErrors, []);
    const order = await used.shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const give = "update erp.stock_container set fulfillment_order_id = $2 where id = $1";
    await used.shop.sql(give, box, order.fulfillmentOrders[0]!.id);
    assert.deepEqual(refusals(await complete()), [["PICKED_FOR_ORDER", "id"]]);
    await used.shop.sql("update erp.stock_container set fulfillment_order_id = null where id = $1", box);
    assert.deepEqual(refusals(await complete()), []);
    assert.deepEqual(await inside(box), [["nail", null, 3]]);
  });
});

describe("fulfillmentCreate with containers", () => {
  it("takes units from a container, and gives them back to it", async () => {
    const box = await tote();
    await pack("nail", box, 5);
    const order = await used.shop.order([{ product: "nail", quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [fulfillmentOrder] = order.fulfillmentOrders;
    const take = (places: object[]) =>
      used.shop.mutate(
        "fulfillmentCreate",
        {
          fulfillmentOrderId: fulfillmentOrder!.id,
          lines: [{ fulfillmentOrderLineItemId: fulfillmentOrder!.lines[0], quantity: 3, places }],
        },
        { select: `fulfillment { id } ${moved}` },
      );
    const elsewhere = await tote({ warehouseId: used.shop.id.shed });
    const unknown = box.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const at = (place: object) => [{ place, quantity: 3 }];
    const field = "lines.0.places.0.place";
    assert.deepEqual(refusals(await take(at({ stockContainerId: elsewhere }))), [["INVALID", field]]);
    assert.deepEqual(refusals(await take(at({ stockContainerId: unknown }))), [
      ["NOT_FOUND", `${field}.stockContainerId`],
    ]);
    assert.deepEqual(refusals(await take(at({ stockContainerId: box, warehouseId: used.shop.id.hall }))), [
      ["INVALID", field],
    ]);
    const other = await used.shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const give = (id: string | null) =>
      used.shop.sql(
        `update erp.stock_container set fulfillment_order_id = ${id === null ? "null" : "$2"} where id = $1`,
        ...[box, ...(id === null ? [] : [id])],
      );
    await give(other.fulfillmentOrders[0]!.id);
    assert.deepEqual(refusals(await take(at({ stockContainerId: box }))), [
      ["PICKED_FOR_ORDER", `${field}.stockContainerId`],
    ]);
    await give(null);
    const done = await take(at({ stockContainerId: box }));
    assert.deepEqual(done.userErrors, []);
    assert.deepEqual(
      done.stockMovements.map((each: any) => [each.quantity, each.sourceStockContainer.id]),
      [[3, box]],
    );
    assert.deepEqual(await inside(box), [["nail", null, 2]]);
    await used.shop.succeed("fulfillmentCancel", { id: done.fulfillment.id });
    assert.deepEqual(await inside(box), [["nail", null, 5]]);
  });

  it("refuses a container that stands in a bin that is not sellable, and more than it holds", async () => {
    const { id } = used.shop;
    const box = await tote({ binLocationId: id["A-1"] });
    await pack("nail", box, 2);
    const order = await used.shop.order([{ product: "nail", quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [fulfillmentOrder] = order.fulfillmentOrders;
    const places = [{ place: { stockContainerId: box }, quantity: 3 }];
    const take = () =>
      used.shop.mutate("fulfillmentCreate", {
        fulfillmentOrderId: fulfillmentOrder!.id,
        lines: [{ fulfillmentOrderLineItemId: fulfillmentOrder!.lines[0], quantity: 3, places }],
      });
    assert.deepEqual(refusals(await take()), [["INSUFFICIENT_STOCK", "lines.0.places.0.quantity"]]);
    await used.shop.sql("update erp.bin_location set stock_state = 'damaged' where id = $1", id["A-1"]!);
    assert.deepEqual(refusals(await take()), [["BIN_NOT_SELLABLE", "lines.0.places.0.place"]]);
  });
});

describe("files of stock", () => {
  it("name containers by their number", async () => {
    const code = number();
    const box = await tote({ number: code });
    const other = number();
    const there = await tote({ number: other, warehouseId: used.shop.id.shed });
    const countedAt = "2026-01-01T10:00:00Z";
    const load = (rows: object[]) =>
      used.shop.mutate(
        "stocksUpsert",
        { stocks: rows, partial: true },
        {
          select: "results { outcome userErrors { code field } }",
        },
      );
    const row = { productNumber: "nail", quantity: 4, countedAt };
    const { results } = await load([
      { ...row, stockContainerNumber: code, warehouseCode: "hall" },
      { ...row, stockContainerNumber: other },
      { ...row, stockContainerNumber: "T-0" },
      { ...row, stockContainerNumber: code, warehouseCode: "shed" },
      { ...row, stockContainerNumber: code, warehouseCode: "hall", binLocationCode: "A-1" },
      { ...row, productNumber: "hammer", stockContainerNumber: code, place: { stockContainerId: box } },
    ]);
    assert.deepEqual(
      results.map((each: any) => [
        each.outcome,
        ...each.userErrors.map(({ code, field }: any) => `${code} ${field.at(-1)}`),
      ]),
      [
        ["UPDATED"],
        ["UPDATED"],
        ["REFUSED", "NOT_FOUND stockContainerNumber"],
        ["REFUSED", "NOT_FOUND stockContainerNumber"],
        ["REFUSED", "INVALID stockContainerNumber"],
        ["REFUSED", "INVALID place"],
      ],
    );
    assert.deepEqual([await inside(box), await inside(there)], [[["nail", null, 4]], [["nail", null, 4]]]);
    // Exported rows have the same key
    const { stocks } = await used.shop.read(
      "{ stocks(first: 100) { edges { node { quantity product { productNumber } stockContainer { number } } } } }",
    );
    const exported = stocks.edges
      .filter(({ node }: any) => node.stockContainer?.number === code)
      .map(({ node }: any) => ({
        productNumber: node.product.productNumber,
        stockContainerNumber: node.stockContainer.number,
        quantity: node.quantity,
        countedAt,
      }));
    assert.equal(exported.length, 1);
    const again = await load(exported);
    assert.deepEqual(again.results, [{ outcome: "UNCHANGED", userErrors: [] }]);
  });
});

describe("files of goods receipts", () => {
  it("put lines into containers by their number", async () => {
    const code = number();
    const box = await tote({ number: code });
    const load = (numberOfReceipt: string, line: object) =>
      used.shop.mutate(
        "goodsReceiptsUpsert",
        {
          partial: true,
          goodsReceipts: [
            {
              number: numberOfReceipt,
              warehouseCode: "hall",
              lineItems: [{ productNumber: "nail", quantity: 6, ...line }],
            },
          ],
        },
        { select: "results { outcome userErrors { code field } }" },
      );
    const faults = async (line: object) =>
      refusals({ userErrors: (await load(`GR-${code}`, line)).results[0].userErrors }).map(
        ([code, field]) => [code, field!.split(".").at(-1)],
      );
    assert.deepEqual(await faults({ stockContainerNumber: "T-0" }), [["NOT_FOUND", "stockContainerNumber"]]);
    assert.deepEqual(await faults({ stockContainerNumber: code, binLocationCode: "A-1" }), [
      ["INVALID", "stockContainerNumber"],
    ]);
    assert.deepEqual(await faults({ stockContainerNumber: code }), []);
    assert.deepEqual(await inside(box), [["nail", null, 6]]);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

// What used to lead nowhere: bins that move, documents that were sent
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('stocktake', 'ST-{n}') on conflict do nothing",
  );
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

describe("a bin that moves to another warehouse", () => {
  const bin = async (code: string) => {
    const { binLocation } = await shop.succeed(
      "binLocationCreate",
      { warehouseId: shop.id.hall, code },
      "binLocation { id }",
    );
    shop.id[code] = binLocation.id;
  };
  const move = (code: string, warehouse: string) =>
    shop.mutate(
      "binLocationMove",
      { id: shop.id[code], warehouseId: shop.id[warehouse] },
      { select: "binLocation { warehouse { code } } warnings { code }" },
    );
  const held = async (name: string, moment?: string) => {
    const past = moment ? `quantityAsOf(moment: "${moment}")` : "quantity";
    const { warehouseStocks } = await shop.read(
      `query ($filter: WarehouseStockFilterInput) { warehouseStocks(filter: $filter) { edges { node {
         warehouse { code } units: ${past} } } } }`,
      { filter: { productId: { equals: shop.id[name] } } },
    );
    return Object.fromEntries(
      warehouseStocks.edges.map(({ node }: any) => [node.warehouse.code, node.units]),
    );
  };
  /** A moment that no open booking can precede. */
  const now = () => shop.ago("0");

  it("takes its goods along, and what lay there before stays in the former warehouse", async () => {
    await shop.addProduct("rope");
    await bin("M-1");
    await shop.store("rope", "M-1", 7);
    await shop.store("glue", "M-1", 2, "G1");
    await shop.store("glue", "M-1", 3, "G2");
    const earlier = await now();
    const moved = await move("M-1", "shed");
    assert.deepEqual(
      [moved.userErrors, moved.binLocation, moved.warnings],
      [[], { warehouse: { code: "shed" } }, []],
    );
    assert.equal(await shop.stockAt("rope", "M-1"), 7);
    assert.deepEqual(await held("rope"), { hall: 0, shed: 7 });
    const { stocks } = await shop.read(
      `query ($id: ID!) { stocks(filter: { binLocationId: { equals: $id }, productId: { equals: "${shop.id.glue}" } }) {
         edges { node { batches { edges { node { quantity batch { number } } } } } } } }`,
      { id: shop.id["M-1"] },
    );
    assert.deepEqual(
      stocks.edges[0].node.batches.edges.map(({ node }: any) => [node.batch.number, node.quantity]).sort(),
      [
        ["G1", 2],
        ["G2", 3],
      ],
    );
    await sequence(shop.owner);
    assert.deepEqual(await held("rope", earlier), { hall: 7, shed: 0 });
    // An order ships from where the bin is now
    const order = await shop.order(
      [{ product: "rope", quantity: 2 }],
      [{ location: "shed", lines: [[0, 2]] }],
    );
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await held("rope"), { hall: 0, shed: 5 });
    // Nothing happens in the warehouse where it is
    const movements = await shop.movements();
    assert.deepEqual((await move("M-1", "shed")).userErrors, []);
    assert.equal(await shop.movements(), movements);
    assert.deepEqual((await move("M-1", "hall")).userErrors, []);
    assert.deepEqual(await held("rope"), { hall: 5, shed: 0 });
  });

  it("warns when orders wait for its goods, which are no longer for sale where they go", async () => {
    await shop.order([{ product: "rope", quantity: 4 }], [{ lines: [[0, 4]] }]);
    const moved = await move("M-1", "returns");
    assert.deepEqual([moved.userErrors, moved.warnings], [[], [{ code: "STOCK_PROMISED" }]]);
    const { product: rope } = await shop.read(
      "query ($id: ID!) { product(id: $id) { physicalStock stockNotAvailableForSale availableStock } }",
      { id: shop.id.rope },
    );
    assert.deepEqual(Object.values(rope), [5, 5, -4]);
    assert.deepEqual((await move("M-1", "hall")).userErrors, []);
  });

  it("moves empty, and is refused with what to do where it can't move", async () => {
    await bin("M-2");
    assert.deepEqual((await move("M-2", "shed")).userErrors, []);
    const other = await shop.succeed(
      "binLocationCreate",
      { warehouseId: shop.id.hall, code: "M-2" },
      "binLocation { id }",
    );
    const taken = await shop.mutate("binLocationMove", {
      id: other.binLocation.id,
      warehouseId: shop.id.shed,
    });
    assert.equal(taken.userErrors[0].code, "NOT_UNIQUE");
    const missing = {
      id: shop.id["M-2"],
      warehouseId: "gid://service/Warehouse/018fd2d0-0000-7000-8000-000000000000",
    };
    assert.deepEqual(refusals(await shop.mutate("binLocationMove", missing)), [["NOT_FOUND", "warehouseId"]]);

    const { goodsReceipt } = await shop.succeed(
      "goodsReceiptCreate",
      { lineItems: [{ productId: shop.id.rope, quantity: 1, destinationBinLocationId: shop.id["M-1"] }] },
      "goodsReceipt { id number }",
    );
    const waiting = await move("M-1", "shed");
    assert.deepEqual(refusals(waiting), [["NOT_EDITABLE", "id"]]);
    assert.match(
      waiting.userErrors[0].message,
      new RegExp(`${goodsReceipt.number} puts goods into the bin: complete`),
    );
    await shop.succeed("goodsReceiptDelete", { id: goodsReceipt.id });
    const stocktakes = await Stocktakes.open(shop);
    const stocktake = await stocktakes.make({ binLocationIds: [shop.id["M-1"]] });
    const counted = await move("M-1", "shed");
    assert.deepEqual(refusals(counted), [["NOT_EDITABLE", "id"]]);
    assert.match(counted.userErrors[0].message, /Stocktake .* counts the bin: approve or cancel it first/);
    await stocktakes.cancel(stocktake);
    assert.deepEqual((await move("M-1", "shed")).userErrors, []);
    assert.deepEqual((await move("M-1", "hall")).userErrors, []);
  });

  it("loses no unit while others book in it", async () => {
    const work = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) =>
        shop.mutate("stockAdjust", { lines: [shop.line("rope", "M-1", { delta: n % 2 ? 1 : 2 })] }),
      ),
      ...["shed", "hall", "shed"].map((warehouse) => move("M-1", warehouse)),
    ]);
    assert.deepEqual(
      work.flatMap(({ userErrors }: any) => userErrors),
      [],
    );
    assert.equal(await shop.stockAt("rope", "M-1"), 20);
    const units = await held("rope");
    assert.equal(units.hall + units.shed, 20);
    await assertProof(shop.owner);
  });
});

describe("a document that was sent", () => {
  it("says so, never changes, and is corrected by another document", async () => {
    await shop.addProduct("cup");
    await shop.store("cup", "A-1", 5);
    const order = await shop.order(
      [{ product: "cup", quantity: 2, price: 10, taxRate: 19 }],
      [{ lines: [[0, 2]] }],
    );
    const { documents } = await shop.succeed(
      "orderShipmentComplete",
      { orderId: order.id, documents: ["invoice"] },
      "documents { id sent config }",
    );
    const [invoice] = documents;
    assert.equal(invoice.sent, false);
    const mark = (sent: boolean) =>
      shop.succeed("documentUpdate", { id: invoice.id, sent }, "document { id sent config }");
    assert.deepEqual((await mark(true)).document, { ...invoice, sent: true });
    // By mistake
    assert.equal((await mark(false)).document.sent, false);
    await mark(true);
    const { documents: sent } = await shop.read(
      "{ documents(filter: { sent: { equals: true } }) { edges { node { id } } } }",
    );
    assert.deepEqual(
      sent.edges.map(({ node }: any) => node.id),
      [invoice.id],
    );
    await assert.rejects(
      shop.owner.query("update erp.document set config = '{}' where sent"),
      /cannot be changed/,
    );
    const storno = await shop.succeed(
      "documentCreate",
      { orderId: order.id, documentType: "storno" },
      "document { sent referencedDocument { id } }",
    );
    assert.deepEqual(storno.document, { sent: false, referencedDocument: { id: invoice.id } });
    const again = await shop.succeed(
      "documentCreate",
      { orderId: order.id, documentType: "invoice" },
      "document { id }",
    );
    assert.notEqual(again.document.id, invoice.id);
    const nobody = "gid://service/Document/018fd2d0-0000-7000-8000-000000000000";
    assert.deepEqual(refusals(await shop.mutate("documentUpdate", { id: nobody, sent: true })), [
      ["NOT_FOUND", "id"],
    ]);
    const reader = await shop.token({ read: "all" });
    const { body } = await shop.tryMutate(
      "documentUpdate",
      { id: invoice.id, sent: true },
      { token: reader },
    );
    assert.equal(body.errors[0].extensions.code, "FORBIDDEN");
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { ended, jsonl, linesAt, startTestBulk, upload } from "./support.ts";

// Files that book stock, and files of suppliers' prices. Each can be sent again.
let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
});
after(async () => {
  await bulk.stop();
  await shop.close();
});
afterEach(() => assertProof(shop.owner));

const send = async (resource: string, body: string, type = "application/jsonl") => {
  const { status, body: answer, text } = await upload(shop, token, resource, body, { type });
  assert.equal(status, 202, text);
  const { createdCount, updatedCount, doneCount, refusedCount, errorsUrl, state } = await ended(
    shop,
    token,
    answer.bulkOperation.id,
  );
  assert.equal(state, "completed");
  const errors = refusedCount === 0 ? [] : await linesAt(shop, errorsUrl);
  return {
    counts: [createdCount, updatedCount, doneCount, refusedCount],
    errors: errors.map((e: any) => [e.line, e.code, e.field.join(".")]),
  };
};
const processes = async () => {
  const rows = await shop.sql(`select m.process_type_technical_name as process, sum(m.quantity)::int as units
    from ledger.stock_movement m group by 1 order by 1`);
  return Object.fromEntries(rows.map(({ process, units }) => [process, units]));
};

describe("a file of stock", () => {
  it("counts and changes, books by csv_import_…, and books nothing when it comes again", async () => {
    await shop.store("nail", "A-1", 10);
    const countedAt = await shop.ago("0");
    await shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta: -1 })] });
    const nail = { productNumber: "nail", warehouseCode: "hall" };
    const file = [
      { ...nail, binLocationCode: "A-1", quantity: 12, countedAt },
      { ...nail, binLocationCode: "A-2", delta: 5, reference: "F-1" },
      { productNumber: "hammer", warehouseCode: "shed", delta: 4, reference: "F-2", reason: "found" },
      { ...nail, binLocationCode: "A-2", delta: -2, reference: "F-3", comment: "For the stand" },
      {
        productId: shop.id.glue,
        place: { binLocationId: shop.id["A-1"] },
        batchNumber: "G1",
        delta: 3,
        reference: "F-4",
      },
      { productNumber: "glue", warehouseCode: "hall", batchNumber: "G1", quantity: 2, countedAt },
    ];
    const first = await send("stocks", jsonl(file));
    assert.deepEqual(first, { counts: [4, 2, 6, 0], errors: [] });
    assert.deepEqual(await processes(), {
      api_incoming: 10,
      api_outgoing: 1,
      csv_import_incoming: 2 + 5 + 4 + 3 + 2,
      csv_import_outgoing: 2,
    });
    // Later changes stay when the file comes again
    await shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta: -4 })] });
    assert.deepEqual(await send("stocks", jsonl(file)), { counts: [0, 0, 6, 0], errors: [] });
    assert.equal(await shop.stockAt("nail", "A-1"), 7);
    assert.equal(await shop.stockAt("nail", "A-2"), 3);
    assert.equal(await shop.stockAt("hammer", "shed"), 4);
    const { stockBookings } = await shop.read(
      `{ stockBookings(filter: { reference: { equals: "F-2" } }) { edges { node { reason credentialName } } } }`,
    );
    assert.equal(stockBookings.edges[0].node.reason, "found");
  });

  it("may be CSV, and says of each line what is wrong with it", async () => {
    const csv = [
      "productNumber,warehouseCode,binLocationCode,batchNumber,quantity,countedAt,delta,reference,reason",
      "hammer,hall,A-1,,,,6,L-1,",
      "hammer,hall,A-1,,,,1,L-1,",
      "hammer,hall,A-1,,,,-99,L-2,",
      "anvil,hall,,,,,1,L-3,",
      "hammer,moon,,,,,1,L-4,",
      "hammer,hall,Z-9,,,,1,L-5,",
      "hammer,hall,A-1,,,,1,,",
      "hammer,hall,A-1,,3,,,L-6,",
      "hammer,hall,C-1,,3,2026-01-01T00:00:00Z,1,L-7,",
      "glue,hall,A-1,,,,1,L-8,",
      "glue,hall,A-1,G9,,,1,L-9,",
      "hammer,hall,A-1,,,,1,L-10,because",
      "hammer,hall,A-1,,,,2,F-2,",
      ",hall,A-1,,,,2,L-11,",
      "hammer,,,,,,2,L-12,",
      "hammer,hall,A-1,,-1,2026-01-01T00:00:00Z,,,",
      "hammer,hall,A-1,,,,0,L-13,",
      "hammer,hall,A-2,,4,2026-01-01T00:00:00Z,,,",
      "hammer,hall,A-2,,4,2026-01-02T00:00:00Z,,,",
    ].join("\n");
    const { counts, errors } = await send("stocks", csv, "text/csv");
    assert.deepEqual(errors, [
      [3, "NOT_UNIQUE", "reference"],
      [4, "INSUFFICIENT_STOCK", "delta"],
      [5, "NOT_FOUND", "productNumber"],
      [6, "NOT_FOUND", "warehouseCode"],
      [7, "NOT_FOUND", "binLocationCode"],
      [8, "REQUIRED", "reference"],
      [9, "REQUIRED", "countedAt"],
      [10, "INVALID", "quantity"],
      [11, "BATCH_REQUIRED", "batchId"],
      [12, "NOT_FOUND", "batchNumber"],
      [13, "NOT_FOUND", "reason"],
      [14, "NOT_UNIQUE", "reference"],
      [15, "REQUIRED", "productNumber"],
      [16, "REQUIRED", "place"],
      [17, "OUT_OF_RANGE", "quantity"],
      [18, "OUT_OF_RANGE", "delta"],
    ]);
    // The second count of a place comes after the first
    assert.deepEqual(counts, [1, 1, 3, 16]);
    assert.equal(await shop.stockAt("hammer", "A-1"), 6);
    assert.equal(await shop.stockAt("hammer", "A-2"), 4);
  });

  it("is a mutation, too: all rows, or with partial those that are complete", async () => {
    const rows = [
      { productNumber: "nail", warehouseCode: "shed", delta: 1, reference: "M-1" },
      { productNumber: "screw", warehouseCode: "shed", delta: 1, reference: "M-2" },
    ];
    assert.deepEqual(
      refusals(await shop.mutate("stocksUpsert", { stocks: rows }, { select: "results { id }" })),
      [["NOT_FOUND", "stocks.1.productNumber"]],
    );
    const select = "results { outcome id userErrors { code field } }";
    const { results } = await shop.mutate("stocksUpsert", { stocks: rows, partial: true }, { select });
    assert.deepEqual(
      results.map((r: any) => [r.outcome, r.id, r.userErrors.length]),
      [
        ["CREATED", null, 0],
        ["REFUSED", null, 1],
      ],
    );
    assert.deepEqual(
      refusals(await shop.mutate("stocksUpsert", { stocks: [] }, { select: "results { id }" })),
      [["REQUIRED", "stocks"]],
    );
    const many = Array.from({ length: 251 }, () => rows[0]!);
    assert.deepEqual(
      refusals(await shop.mutate("stocksUpsert", { stocks: many }, { select: "results { id }" })),
      [["TOO_MANY_LINES", "stocks"]],
    );
  });

  it("books once when two processes get it at the same time", async () => {
    const stocks = Array.from({ length: 40 }, (_, n) => ({
      productNumber: n % 2 ? "nail" : "hammer",
      warehouseCode: "returns",
      delta: 1,
      reference: `twice-${n}`,
    }));
    const answers = await Promise.all(
      [stocks, stocks.toReversed(), stocks].map((rows) =>
        shop.mutate("stocksUpsert", { stocks: rows }, { select: "results { outcome }" }),
      ),
    );
    const outcomes = answers.flatMap(({ results }: any) => results.map((r: any) => r.outcome));
    assert.equal(outcomes.filter((o: string) => o === "CREATED").length, 40);
    assert.equal(outcomes.filter((o: string) => o === "UNCHANGED").length, 80);
    assert.equal(await shop.stockAt("nail", "returns"), 20);
  });

  it("needs the scope of stock", async () => {
    const other = await shop.token({ read: ["stocks"], write: ["bulk_operations", "products"] });
    assert.equal((await upload(shop, other, "stocks", "{}")).status, 403);
  });
});

describe("a file of goods receipts", () => {
  it("books receipts, delivers supplier orders, and books nothing when it comes again", async () => {
    const { supplierOrder } = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.acme, lineItems: [{ productId: shop.id.nail, quantity: 10, unitPrice: 2 }] },
      { select: "supplierOrder { id number }" },
    );
    await shop.mutate("supplierOrderConfirm", { id: supplierOrder.id });
    const before = await shop.stockAt("nail", "A-2");
    const file = [
      {
        number: "D-1",
        warehouseCode: "hall",
        lineItems: [
          {
            productNumber: "nail",
            quantity: 6,
            supplierOrderNumber: supplierOrder.number,
            binLocationCode: "A-2",
          },
          { productNumber: "glue", quantity: 3, batchNumber: "G7", unitPrice: 5 },
        ],
      },
      { number: "D-2", lineItems: [{ productNumber: "hammer", quantity: 2 }] },
      { number: "D-2", lineItems: [{ productNumber: "hammer", quantity: 3 }] },
      { number: "D-3", lineItems: [{ productNumber: "anvil", quantity: 2 }] },
      { number: "D-4", lineItems: [{ productNumber: "glue", quantity: 2 }] },
      { number: "D-5", lineItems: [{ productNumber: "nail", quantity: 0 }] },
      { number: "", lineItems: [] },
      {
        number: "D-6",
        supplierNumber: "nobody",
        lineItems: [{ productNumber: "nail", quantity: 1, supplierOrderNumber: "no" }],
      },
    ];
    const first = await send("goods_receipts", jsonl(file));
    assert.deepEqual(first, {
      counts: [2, 0, 2, 6],
      errors: [
        [3, "NOT_EDITABLE", "number"],
        [4, "NOT_FOUND", "lineItems.0.productNumber"],
        [5, "BATCH_REQUIRED", ""],
        [6, "OUT_OF_RANGE", "lineItems.0.quantity"],
        [7, "REQUIRED", "lineItems"],
        [7, "REQUIRED", "number"],
        [8, "NOT_FOUND", "lineItems.0.supplierOrderNumber"],
        [8, "NOT_FOUND", "supplierNumber"],
      ],
    });
    const again = await send("goods_receipts", jsonl(file.slice(0, 2)));
    assert.deepEqual(again, { counts: [0, 0, 2, 0], errors: [] });
    assert.equal(await shop.stockAt("nail", "A-2"), before + 6);
    const { goodsReceipts, supplierOrder: now } = await shop.read(
      `query ($id: ID!) { goodsReceipts(first: 9) { edges { node { number state type amountNet } } }
         supplierOrder(id: $id) { state lineItems { edges { node { receivedQuantity openQuantity } } } } }`,
      { id: supplierOrder.id },
    );
    assert.deepEqual(
      goodsReceipts.edges.map(({ node }: any) => [node.number, node.state, node.type]),
      [
        ["D-1", "completed", "Supplier"],
        ["D-2", "completed", "Free"],
      ],
    );
    assert.deepEqual(now.state, "partially_delivered");
    assert.deepEqual(now.lineItems.edges[0].node, { receivedQuantity: 6, openQuantity: 4 });
    const moved =
      await shop.sql(`select distinct m.process_type_technical_name as p from ledger.stock_movement m
      join erp.goods_receipt r on r.id in (m.source_goods_receipt_id, m.destination_goods_receipt_id)`);
    assert.deepEqual(moved, [{ p: "csv_import_incoming" }]);
  });

  it("leaves the numbers of the service alone", async () => {
    const [{ next }] = await shop.sql(
      "select replace(pattern, '{n}', (last_number + 1)::text) as next from erp.number_range where technical_name = 'goods_receipt'",
    );
    await send(
      "goods_receipts",
      jsonl([{ number: next, lineItems: [{ productNumber: "nail", quantity: 1 }] }]),
    );
    const made = await shop.mutate(
      "goodsReceiptCreate",
      { lineItems: [{ productId: shop.id.nail, quantity: 1 }] },
      { select: "goodsReceipt { number }" },
    );
    assert.deepEqual(made.userErrors, []);
    assert.notEqual(made.goodsReceipt.number, next);
    await shop.mutate("goodsReceiptApprove", {
      id: (
        await shop.read(
          `{ goodsReceipts(filter: { number: { equals: "${made.goodsReceipt.number}" } }) { edges { node { id } } } }`,
        )
      ).goodsReceipts.edges[0].node.id,
    });
    const [{ process }] = await shop.sql(
      "select process_type_technical_name as process from ledger.stock_movement order by id desc limit 1",
    );
    assert.equal(process, "free_goods_receipt");
  });
});

describe("a file of suppliers' prices", () => {
  it("assigns suppliers, changes terms and prices, and changes nothing when it comes again", async () => {
    const price = (net: number) => [{ currencyId: shop.id.EUR, net, gross: net }];
    const file = [
      {
        productNumber: "nail",
        supplierNumber: "acme",
        purchasePrices: price(2),
        unitsPerPack: 12,
        minPurchase: 24,
      },
      { productNumber: "nail", supplierNumber: "forge", purchasePrices: price(3), supplierIsDefault: true },
      { productNumber: "anvil", supplierNumber: "forge" },
      { productNumber: "nail", supplierNumber: "nobody" },
      { productNumber: "hammer", supplierNumber: "acme", unitsPerPack: 0 },
      { productNumber: "hammer", supplierNumber: "yankee", purchasePrices: price(-1) },
      { supplierNumber: "acme" },
      { productNumber: "glue" },
    ];
    const first = await send("product_supplier_configurations", jsonl(file));
    assert.deepEqual(first.errors, [
      [3, "NOT_FOUND", "productNumber"],
      [4, "NOT_FOUND", "supplierNumber"],
      [5, "OUT_OF_RANGE", "unitsPerPack"],
      [6, "OUT_OF_RANGE", "purchasePrices.0.net"],
      [7, "REQUIRED", "productId"],
      [8, "REQUIRED", "supplierId"],
    ]);
    assert.deepEqual(first.counts, [2, 0, 2, 6]);
    assert.deepEqual(
      (await send("product_supplier_configurations", jsonl(file.slice(0, 2)))).counts,
      [0, 0, 2, 0],
    );
    const query = `query ($id: ID!) { product(id: $id) { purchasePrices { net }
      supplierConfigurations { edges { node { supplierIsDefault minPurchase purchasePrices { net } supplier { number } } } } } }`;
    const { product } = await shop.read(query, { id: shop.id.nail });
    assert.deepEqual(
      product.supplierConfigurations.edges.map(({ node }: any) => [
        node.supplier.number,
        node.supplierIsDefault,
        node.minPurchase,
        node.purchasePrices[0].net,
      ]),
      [
        ["acme", false, 24, 2],
        ["forge", true, 1, 3],
      ],
    );
    assert.deepEqual(
      product.purchasePrices.map((p: any) => p.net),
      [3],
    );
    const changed = [
      { productNumber: "nail", supplierNumber: "acme", purchasePrices: price(4), supplierIsDefault: true },
    ];
    assert.deepEqual((await send("product_supplier_configurations", jsonl(changed))).counts, [0, 1, 1, 0]);
    const now = (await shop.read(query, { id: shop.id.nail })).product;
    assert.deepEqual(
      now.purchasePrices.map((p: any) => p.net),
      [4],
    );
  });
});

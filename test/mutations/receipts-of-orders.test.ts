import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { Ordered } from "./dock.ts";
import { codes, linesOf, nodes, useDock } from "./dock.ts";
import { refusals } from "../lib/shop.ts";

// What goods receipts take from the supplier orders of their lines
const dock = useDock();

describe("lines tell the receipt what it is for", () => {
  const dollarOrder = () =>
    dock.order(
      [
        ["hammer", 10, 5],
        ["nail", 100, 0.25],
      ],
      { supplierId: dock.shop.id.yankee, taxStatus: "gross" },
    );

  it("type, supplier, currency, rate, tax status and prices follow from an order in another currency", async () => {
    const { id, lines } = await dollarOrder();
    for (const by of [{ supplierOrderId: id }, { supplierOrderLineItemId: lines[0] }]) {
      for (const input of [{}, { type: "Supplier" }]) {
        const { goodsReceipt, warnings } = await dock.create([dock.line("hammer", 4, by)], input);
        assert.deepEqual(warnings, []);
        const { type, supplier, currency, currencyFactor, taxStatus, amountTotal, amountNet } = goodsReceipt;
        assert.deepEqual(
          [type, supplier.number, currency.isoCode, currencyFactor, taxStatus, amountTotal, amountNet],
          ["Supplier", "yankee", "USD", 1.25, "gross", 20, 16.81],
        );
        const [line] = linesOf(goodsReceipt);
        assert.deepEqual(
          [line.unitPrice, line.unitPriceInDefaultCurrency, line.totalPriceInDefaultCurrency],
          [5, 4, 16],
        );
        assert.deepEqual(
          nodes(goodsReceipt.supplierOrders).map((node: any) => node.id),
          [id],
        );
      }
    }
  });

  it("what is given for the receipt wins, and prices are converted to it by the known rates", async () => {
    const { id, number } = await dollarOrder();
    const { goodsReceipt, warnings } = await dock.create(
      [
        dock.line("hammer", 4, { supplierOrderId: id }),
        dock.line("nail", 10, { supplierOrderId: id, unitPrice: 0.3 }),
      ],
      { currencyId: dock.shop.id.EUR, taxStatus: "net" },
    );
    // 5 dollars with 19 % of tax are 4 euros with tax
    assert.deepEqual(
      linesOf(goodsReceipt).map((line: any) => line.unitPrice),
      [3.361345, 0.3],
    );
    assert.deepEqual([goodsReceipt.currency.isoCode, goodsReceipt.supplier.number], ["EUR", "yankee"]);
    assert.deepEqual(codes({ warnings }), ["PRICE_CONVERTED"]);
    assert.deepEqual(warnings[0].details, { supplierOrderNumber: number, from: "USD", to: "EUR" });
    const byHand = await dock.create([dock.line("hammer", 1, { supplierOrderId: id })], {
      currencyFactor: 2,
    });
    assert.deepEqual(
      [byHand.goodsReceipt.currency.isoCode, byHand.goodsReceipt.currencyFactorOriginType],
      ["USD", "Manual"],
    );
    const [line] = linesOf(byHand.goodsReceipt);
    assert.deepEqual([line.unitPrice, line.unitPriceInDefaultCurrency], [5, 2.5]);
  });

  it("lines that are set later give the supplier, and prices in the currency of the receipt", async () => {
    const { id } = await dollarOrder();
    const empty = (await dock.create([], { type: "Supplier" })).goodsReceipt;
    assert.deepEqual([empty.supplier, empty.currency.isoCode], [null, "EUR"]);
    const { goodsReceipt, warnings } = await dock.done("goodsReceiptLineItemsSet", {
      id: empty.id,
      lineItems: [dock.line("hammer", 1, { supplierOrderId: id })],
    });
    assert.deepEqual(
      [goodsReceipt.supplier.number, linesOf(goodsReceipt)[0].unitPrice, codes({ warnings })],
      ["yankee", 3.361345, ["PRICE_CONVERTED"]],
    );
  });

  it("orders in two currencies: the first gives the receipt's, the other's prices are converted", async () => {
    const dollars = await dollarOrder();
    const euros = await dock.order([["nail", 3, 8]], {
      supplierId: dock.shop.id.yankee,
      currencyId: dock.shop.id.EUR,
    });
    const { goodsReceipt } = await dock.create([
      dock.line("nail", 3, { supplierOrderId: euros.id }),
      dock.line("hammer", 1, { supplierOrderId: dollars.id }),
    ]);
    assert.deepEqual(
      [goodsReceipt.currency.isoCode, ...linesOf(goodsReceipt).map((line: any) => line.unitPrice)],
      ["EUR", 8, 3.361345],
    );
  });

  it("without orders the type is that of what is named, else Free", async () => {
    assert.equal((await dock.create([dock.line("nail", 1)])).goodsReceipt.type, "Free");
    assert.equal(
      (await dock.create([dock.line("nail", 1)], { supplierId: dock.shop.id.forge })).goodsReceipt.type,
      "Free",
    );
    const { rows } = await dock.shop.owner.query(
      "insert into erp.return_order (number) values ('R-1') returning id",
    );
    const returnOrderId = `gid://service/ReturnOrder/${rows[0].id}`;
    assert.equal(
      (await dock.create([dock.line("nail", 1, { returnOrderId })])).goodsReceipt.type,
      "Customer",
    );
    const { id } = await dock.order([["nail", 1]]);
    assert.equal((await dock.create([], { supplierOrderIds: [id] })).goodsReceipt.type, "Supplier");
    const free = await dock.mutate("goodsReceiptCreate", {
      type: "Free",
      lineItems: [dock.line("nail", 1, { supplierOrderId: id })],
    });
    assert.deepEqual(refusals(free), [["INVALID", "lineItems.0.supplierOrderId"]]);
  });
});

describe("one receipt delivers orders of one supplier", () => {
  it("another supplier's orders are refused, with the place in the input", async () => {
    const [acme, forge] = [
      await dock.order([["nail", 5]]),
      await dock.order([["nail", 5]], { supplierId: dock.shop.id.forge }),
    ];
    const by = (o: Ordered) => dock.line("nail", 1, { supplierOrderId: o.id });
    const byLine = (o: Ordered) => dock.line("nail", 1, { supplierOrderLineItemId: o.lines[0] });
    for (const [input, ...fields] of [
      [{ supplierId: dock.shop.id.forge, lineItems: [by(acme)] }, "lineItems.0.supplierOrderId"],
      [{ supplierId: dock.shop.id.forge, supplierOrderIds: [acme.id] }, "supplierOrderIds"],
      [
        { lineItems: [by(acme), byLine(forge), by(forge)] },
        "lineItems.1.supplierOrderLineItemId",
        "lineItems.2.supplierOrderId",
      ],
      [{ supplierOrderIds: [forge.id], lineItems: [byLine(acme)] }, "lineItems.0.supplierOrderLineItemId"],
    ] as [object, ...string[]][]) {
      const payload = await dock.mutate("goodsReceiptCreate", { type: "Supplier", ...input });
      assert.deepEqual(
        refusals(payload),
        fields.map((field) => ["SUPPLIER_MISMATCH", field]),
      );
    }
    const { goodsReceipt } = await dock.create([by(acme)]);
    assert.deepEqual(
      refusals(
        await dock.mutate("goodsReceiptLineItemsSet", { id: goodsReceipt.id, lineItems: [by(forge)] }),
      ),
      [["SUPPLIER_MISMATCH", "lineItems.0.supplierOrderId"]],
    );
    const other = { id: goodsReceipt.id, supplierId: dock.shop.id.forge };
    assert.deepEqual(refusals(await dock.mutate("goodsReceiptUpdate", other)), [
      ["SUPPLIER_MISMATCH", "supplierId"],
    ]);
    // Without these lines its supplier can be changed
    await dock.done("goodsReceiptLineItemsSet", { id: goodsReceipt.id, lineItems: [] });
    const changed = (await dock.done("goodsReceiptUpdate", other)).goodsReceipt;
    assert.deepEqual([changed.supplier.number, nodes(changed.supplierOrders)], ["forge", []]);
  });

  it("an order that a receipt names keeps its supplier", async () => {
    const { supplierOrder } = await dock.shop.mutate(
      "supplierOrderCreate",
      { supplierId: dock.shop.id.acme, lineItems: [dock.line("nail", 1)] },
      { select: "supplierOrder { id }" },
    );
    await dock.create([dock.line("nail", 1, { supplierOrderId: supplierOrder.id })]);
    const payload = await dock.shop.mutate("supplierOrderUpdate", {
      id: supplierOrder.id,
      supplierId: dock.shop.id.forge,
    });
    assert.deepEqual(refusals(payload), [["SUPPLIER_MISMATCH", "supplierId"]]);
  });

  it("a line and an order that contradict each other are refused", async () => {
    const [one, two] = [await dock.order([["nail", 1]]), await dock.order([["nail", 1]])];
    const lines = [dock.line("nail", 1, { supplierOrderId: one.id, supplierOrderLineItemId: two.lines[0] })];
    assert.deepEqual(refusals(await dock.mutate("goodsReceiptCreate", { lineItems: lines })), [
      ["INVALID", "lineItems.0.supplierOrderId"],
    ]);
  });

  it("neither can rows that are written by hand mix suppliers", async () => {
    const [acme, forge] = [
      await dock.order([["nail", 5]]),
      await dock.order([["nail", 5]], { supplierId: dock.shop.id.forge }),
    ];
    const { goodsReceipt } = await dock.create([dock.line("nail", 1, { supplierOrderId: acme.id })]);
    const ids = [uuidOf(goodsReceipt.id), uuidOf(forge.id)];
    const mismatch = { code: "UE001", message: /several suppliers/ };
    for (const sql of [
      "insert into erp.goods_receipt_line_item (goods_receipt_id, supplier_order_id, quantity) values ($1, $2, 1)",
      "update erp.goods_receipt_line_item set supplier_order_id = $2 where goods_receipt_id = $1",
      "insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) values ($1, $2)",
      "update erp.goods_receipt r set supplier_id = o.supplier_id from erp.supplier_order o where r.id = $1 and o.id = $2",
    ])
      await assert.rejects(dock.shop.owner.query(sql, ids), mismatch, sql);
    await assert.rejects(
      dock.shop.owner.query(
        "update erp.supplier_order o set supplier_id = f.supplier_id from erp.supplier_order f where o.id = $1 and f.id = $2",
        [uuidOf(acme.id), uuidOf(forge.id)],
      ),
      mismatch,
    );
    // Orders whose supplier is deleted contradict nothing
    await dock.shop.owner.query("update erp.supplier_order set supplier_id = null where id = $1", [
      uuidOf(forge.id),
    ]);
    await dock.create([
      dock.line("nail", 1, { supplierOrderId: acme.id }),
      dock.line("nail", 1, { supplierOrderId: forge.id }),
    ]);
  });
});

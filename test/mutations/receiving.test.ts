import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { until } from "../support/service.ts";
import type { Shop } from "./shop.ts";
import { assertBooksAreRight, openShop, refusals } from "./shop.ts";

// Goods receipts and the supplier orders that they deliver, over HTTP as the dock meets them
let shop: Shop;
let reader: string;
before(async () => {
  shop = await openShop({ poolSize: 10 });
  reader = await shop.token();
});
after(() => shop.close());
afterEach(() => assertBooksAreRight(shop));

const select = `warnings { code message field details } goodsReceipt { id number type state supplier { number } currency { isoCode }
  currencyFactor currencyFactorOriginType taxStatus amountNet amountTotal positionPrice supplierOrders { edges { node { id } } }
  lineItems { edges { node { id quantity unitPrice unitPriceInDefaultCurrency totalPriceInDefaultCurrency plannedDisposalQuantity product { productNumber }
    supplierOrder { id } destinationBinLocation { code } } } } }`;
const receiptLine = (product: string, quantity: number, rest: object = {}) => ({
  productId: shop.id[product],
  quantity,
  ...rest,
});
const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);
const linesOf = ({ lineItems }: any) => nodes(lineItems);
const uuid = (id: string) => id.slice(-36);
const mutate = (name: string, input: object) => shop.mutate(name, input, { select });
const done = async (name: string, input: object) => {
  const payload = await mutate(name, input);
  assert.deepEqual(payload.userErrors, [], name);
  return payload;
};

interface Ordered {
  id: string;
  number: string;
  lines: string[];
}
/** An order that was confirmed, of lines with product, quantity and price. */
async function order(
  lines: [product: string, quantity: number, unitPrice?: number][],
  input: object = {},
): Promise<Ordered> {
  const { supplierOrder, userErrors } = await shop.mutate(
    "supplierOrderCreate",
    {
      supplierId: shop.id.acme,
      lineItems: lines.map(([product, quantity, unitPrice = 2]) =>
        receiptLine(product, quantity, { unitPrice }),
      ),
      ...input,
    },
    { select: "supplierOrder { id number lineItems { edges { node { id } } } }" },
  );
  assert.deepEqual(userErrors, []);
  await move("Confirm", supplierOrder.id);
  const { id, number } = supplierOrder;
  return { id, number, lines: linesOf(supplierOrder).map((line: any) => line.id) };
}
const move = async (action: string, id: string) => {
  const { userErrors } = await shop.mutate(`supplierOrder${action}`, { id });
  assert.deepEqual(userErrors, []);
};
async function orderNow(id: string) {
  const query = `{ supplierOrder(id: "${id}") { state actualDeliveryDate lineItems { edges { node { receivedQuantity openQuantity actualDeliveryDate } } } } }`;
  const { supplierOrder } = (await shop.ask(reader, { query })).body.data;
  const { state, actualDeliveryDate } = supplierOrder;
  return {
    state,
    actualDeliveryDate,
    lines: linesOf(supplierOrder),
    received: linesOf(supplierOrder).map((line: any) => line.receivedQuantity),
  };
}
const expected = async (product: string): Promise<number> => {
  const query = `{ product(id: "${shop.id[product]}") { openSupplierOrderQuantity } }`;
  return (await shop.ask(reader, { query })).body.data.product.openSupplierOrderQuantity;
};
const create = async (lineItems: object[], input: object = {}) =>
  await done("goodsReceiptCreate", { lineItems, ...input });
/** Creates and approves one. */
async function approved(lineItems: object[], input: object = {}): Promise<string> {
  const { goodsReceipt } = await create(lineItems, input);
  await done("goodsReceiptApprove", { id: goodsReceipt.id });
  return goodsReceipt.id;
}
const receive = async (lineItems: object[], input: object = {}) =>
  await done("goodsReceiptComplete", { id: await approved(lineItems, input) });
/** Lines as quantity and whether they count for an order. */
const shares = (receipt: any) => linesOf(receipt).map((line: any) => [line.quantity, !!line.supplierOrder]);
const codes = ({ warnings }: any) => warnings.map(({ code }: any) => code);

describe("lines tell the receipt what it is for", () => {
  const dollarOrder = () =>
    order(
      [
        ["hammer", 10, 5],
        ["nail", 100, 0.25],
      ],
      { supplierId: shop.id.yankee, taxStatus: "gross" },
    );

  it("type, supplier, currency, rate, tax status and prices follow from an order in another currency", async () => {
    const { id, lines } = await dollarOrder();
    for (const by of [{ supplierOrderId: id }, { supplierOrderLineItemId: lines[0] }]) {
      for (const input of [{}, { type: "Supplier" }]) {
        const { goodsReceipt, warnings } = await create([receiptLine("hammer", 4, by)], input);
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
    const { goodsReceipt, warnings } = await create(
      [
        receiptLine("hammer", 4, { supplierOrderId: id }),
        receiptLine("nail", 10, { supplierOrderId: id, unitPrice: 0.3 }),
      ],
      { currencyId: shop.id.EUR, taxStatus: "net" },
    );
    // 5 dollars with 19 % of tax are 4 euros with tax
    assert.deepEqual(
      linesOf(goodsReceipt).map((line: any) => line.unitPrice),
      [3.361345, 0.3],
    );
    assert.deepEqual([goodsReceipt.currency.isoCode, goodsReceipt.supplier.number], ["EUR", "yankee"]);
    assert.deepEqual(codes({ warnings }), ["PRICE_CONVERTED"]);
    assert.deepEqual(warnings[0].details, { supplierOrderNumber: number, from: "USD", to: "EUR" });
    const byHand = await create([receiptLine("hammer", 1, { supplierOrderId: id })], {
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
    const empty = (await create([], { type: "Supplier" })).goodsReceipt;
    assert.deepEqual([empty.supplier, empty.currency.isoCode], [null, "EUR"]);
    const { goodsReceipt, warnings } = await done("goodsReceiptLineItemsSet", {
      id: empty.id,
      lineItems: [receiptLine("hammer", 1, { supplierOrderId: id })],
    });
    assert.deepEqual(
      [goodsReceipt.supplier.number, linesOf(goodsReceipt)[0].unitPrice, codes({ warnings })],
      ["yankee", 3.361345, ["PRICE_CONVERTED"]],
    );
  });

  it("orders in two currencies: the first gives the receipt's, the other's prices are converted", async () => {
    const dollars = await dollarOrder();
    const euros = await order([["nail", 3, 8]], { supplierId: shop.id.yankee, currencyId: shop.id.EUR });
    const { goodsReceipt } = await create([
      receiptLine("nail", 3, { supplierOrderId: euros.id }),
      receiptLine("hammer", 1, { supplierOrderId: dollars.id }),
    ]);
    assert.deepEqual(
      [goodsReceipt.currency.isoCode, ...linesOf(goodsReceipt).map((line: any) => line.unitPrice)],
      ["EUR", 8, 3.361345],
    );
  });

  it("without orders the type is that of what is named, else Free", async () => {
    assert.equal((await create([receiptLine("nail", 1)])).goodsReceipt.type, "Free");
    assert.equal(
      (await create([receiptLine("nail", 1)], { supplierId: shop.id.forge })).goodsReceipt.type,
      "Free",
    );
    const { rows } = await shop.owner.query(
      "insert into erp.return_order (number) values ('R-1') returning id",
    );
    const returnOrderId = `gid://service/ReturnOrder/${rows[0].id}`;
    assert.equal((await create([receiptLine("nail", 1, { returnOrderId })])).goodsReceipt.type, "Customer");
    const { id } = await order([["nail", 1]]);
    assert.equal((await create([], { supplierOrderIds: [id] })).goodsReceipt.type, "Supplier");
    const free = await mutate("goodsReceiptCreate", {
      type: "Free",
      lineItems: [receiptLine("nail", 1, { supplierOrderId: id })],
    });
    assert.deepEqual(refusals(free), [["INVALID", "lineItems.0.supplierOrderId"]]);
  });
});

describe("one receipt delivers orders of one supplier", () => {
  it("another supplier's orders are refused, with the place in the input", async () => {
    const [acme, forge] = [
      await order([["nail", 5]]),
      await order([["nail", 5]], { supplierId: shop.id.forge }),
    ];
    const by = (o: Ordered) => receiptLine("nail", 1, { supplierOrderId: o.id });
    const byLine = (o: Ordered) => receiptLine("nail", 1, { supplierOrderLineItemId: o.lines[0] });
    for (const [input, ...fields] of [
      [{ supplierId: shop.id.forge, lineItems: [by(acme)] }, "lineItems.0.supplierOrderId"],
      [{ supplierId: shop.id.forge, supplierOrderIds: [acme.id] }, "supplierOrderIds"],
      [
        { lineItems: [by(acme), byLine(forge), by(forge)] },
        "lineItems.1.supplierOrderLineItemId",
        "lineItems.2.supplierOrderId",
      ],
      [{ supplierOrderIds: [forge.id], lineItems: [byLine(acme)] }, "lineItems.0.supplierOrderLineItemId"],
    ] as [object, ...string[]][]) {
      const payload = await mutate("goodsReceiptCreate", { type: "Supplier", ...input });
      assert.deepEqual(
        refusals(payload),
        fields.map((field) => ["SUPPLIER_MISMATCH", field]),
      );
    }
    const { goodsReceipt } = await create([by(acme)]);
    assert.deepEqual(
      refusals(await mutate("goodsReceiptLineItemsSet", { id: goodsReceipt.id, lineItems: [by(forge)] })),
      [["SUPPLIER_MISMATCH", "lineItems.0.supplierOrderId"]],
    );
    const other = { id: goodsReceipt.id, supplierId: shop.id.forge };
    assert.deepEqual(refusals(await mutate("goodsReceiptUpdate", other)), [
      ["SUPPLIER_MISMATCH", "supplierId"],
    ]);
    // Without these lines it can be made one of the other supplier
    await done("goodsReceiptLineItemsSet", { id: goodsReceipt.id, lineItems: [] });
    const changed = (await done("goodsReceiptUpdate", other)).goodsReceipt;
    assert.deepEqual([changed.supplier.number, nodes(changed.supplierOrders)], ["forge", []]);
  });

  it("an order that a receipt names keeps its supplier", async () => {
    const { supplierOrder } = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.acme, lineItems: [receiptLine("nail", 1)] },
      { select: "supplierOrder { id }" },
    );
    await create([receiptLine("nail", 1, { supplierOrderId: supplierOrder.id })]);
    const payload = await shop.mutate("supplierOrderUpdate", {
      id: supplierOrder.id,
      supplierId: shop.id.forge,
    });
    assert.deepEqual(refusals(payload), [["SUPPLIER_MISMATCH", "supplierId"]]);
  });

  it("a line and an order that contradict each other are refused", async () => {
    const [one, two] = [await order([["nail", 1]]), await order([["nail", 1]])];
    const lines = [
      receiptLine("nail", 1, { supplierOrderId: one.id, supplierOrderLineItemId: two.lines[0] }),
    ];
    assert.deepEqual(refusals(await mutate("goodsReceiptCreate", { lineItems: lines })), [
      ["INVALID", "lineItems.0.supplierOrderId"],
    ]);
  });

  it("neither can rows that are written by hand mix suppliers", async () => {
    const [acme, forge] = [
      await order([["nail", 5]]),
      await order([["nail", 5]], { supplierId: shop.id.forge }),
    ];
    const { goodsReceipt } = await create([receiptLine("nail", 1, { supplierOrderId: acme.id })]);
    const ids = [uuid(goodsReceipt.id), uuid(forge.id)];
    const mismatch = { code: "UE001", message: /several suppliers/ };
    for (const sql of [
      "insert into erp.goods_receipt_line_item (goods_receipt_id, supplier_order_id, quantity) values ($1, $2, 1)",
      "update erp.goods_receipt_line_item set supplier_order_id = $2 where goods_receipt_id = $1",
      "insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) values ($1, $2)",
      "update erp.goods_receipt r set supplier_id = o.supplier_id from erp.supplier_order o where r.id = $1 and o.id = $2",
    ])
      await assert.rejects(shop.owner.query(sql, ids), mismatch, sql);
    await assert.rejects(
      shop.owner.query(
        "update erp.supplier_order o set supplier_id = f.supplier_id from erp.supplier_order f where o.id = $1 and f.id = $2",
        [uuid(acme.id), uuid(forge.id)],
      ),
      mismatch,
    );
    // Orders whose supplier is deleted contradict nothing
    await shop.owner.query("update erp.supplier_order set supplier_id = null where id = $1", [
      uuid(forge.id),
    ]);
    await create([
      receiptLine("nail", 1, { supplierOrderId: acme.id }),
      receiptLine("nail", 1, { supplierOrderId: forge.id }),
    ]);
  });
});

describe("the dock never stops", () => {
  it("an order that is cancelled after the approval: its goods count for no order", async () => {
    const { id, number } = await order([["nail", 3, 2]]);
    const before = await expected("nail");
    const receipt = await approved([
      receiptLine("nail", 3, { supplierOrderId: id, destinationBinLocationId: shop.id["A-1"] }),
    ]);
    await move("Cancel", id);
    const stock = await shop.stockAt("nail", "A-1");
    const { goodsReceipt, warnings } = await done("goodsReceiptComplete", { id: receipt });
    assert.deepEqual(
      [goodsReceipt.state, goodsReceipt.amountNet, shares(goodsReceipt)],
      ["completed", 6, [[3, false]]],
    );
    assert.deepEqual(
      [codes({ warnings }), warnings[0].field, warnings[0].details],
      [
        ["ORDER_CANCELLED"],
        ["id"],
        {
          quantity: 3,
          productNumber: "nail",
          supplierOrderNumber: number,
          goodsReceiptLineItemId: linesOf(goodsReceipt)[0].id,
        },
      ],
    );
    const now = await orderNow(id);
    assert.deepEqual([now.state, now.received], ["cancelled", [0]]);
    assert.equal(await shop.stockAt("nail", "A-1"), stock + 3);
    assert.equal(await expected("nail"), before - 3);
  });

  it("4 of a product that stands on two lines, 3 and 2, fill both", async () => {
    const { id, lines } = await order([
      ["nail", 3, 2],
      ["hammer", 1, 9],
      ["nail", 2, 2.5],
    ]);
    for (const by of [{ supplierOrderId: id }, { supplierOrderLineItemId: lines[2] }]) {
      const { goodsReceipt, warnings } = await receive([receiptLine("nail", 2, by)]);
      assert.deepEqual([codes({ warnings }), shares(goodsReceipt)], [[], [[2, true]]]);
      await receive([receiptLine("nail", -2, by)]);
    }
    assert.deepEqual((await orderNow(id)).received, [0, 0, 0]);
    const { goodsReceipt, warnings } = await receive([receiptLine("nail", 4, { supplierOrderId: id })]);
    assert.deepEqual(warnings, []);
    assert.deepEqual(shares(goodsReceipt), [
      [3, true],
      [1, true],
    ]);
    const now = await orderNow(id);
    assert.deepEqual([now.state, now.received], ["partially_delivered", [3, 0, 1]]);
    // What the receipt said of prices stays
    assert.deepEqual([goodsReceipt.amountNet, goodsReceipt.positionPrice], [8, 8]);
  });

  it("lines that name lines come first, those that name the order take what is left", async () => {
    const { id, lines } = await order([
      ["nail", 3],
      ["nail", 2],
    ]);
    const { goodsReceipt, warnings } = await receive([
      receiptLine("nail", 4, { supplierOrderLineItemId: lines[0] }),
      receiptLine("nail", 2, { supplierOrderLineItemId: lines[1] }),
    ]);
    assert.deepEqual(shares(goodsReceipt), [
      [3, true],
      [2, true],
      [1, false],
    ]);
    assert.deepEqual(codes({ warnings }), ["SURPLUS"]);
    const now = await orderNow(id);
    assert.deepEqual([now.state, now.received], ["delivered", [3, 2]]);
  });

  it("more than was ordered is said when the receipt is written, and becomes a line of its own", async () => {
    const { id, number } = await order([["hammer", 5, 4]], {
      supplierId: shop.id.yankee,
      currencyId: shop.id.USD,
    });
    const lineItems = [
      receiptLine("nail", 1),
      receiptLine("hammer", 8, { supplierOrderId: id, plannedDisposalQuantity: 1 }),
    ];
    const written = await create(lineItems);
    const surplus = {
      code: "SURPLUS",
      message: `3 of product hammer count for no order: they are more than supplier order ${number} has open.`,
      field: ["lineItems", "1", "quantity"],
      details: { quantity: 3, productNumber: "hammer", supplierOrderNumber: number },
    };
    assert.deepEqual(written.warnings, [surplus]);
    assert.deepEqual(shares(written.goodsReceipt), [
      [1, false],
      [8, true],
    ]);
    const { id: receipt } = written.goodsReceipt;
    assert.deepEqual((await done("goodsReceiptLineItemsSet", { id: receipt, lineItems })).warnings, [
      surplus,
    ]);
    const { goodsReceipt: approvedReceipt } = await done("goodsReceiptApprove", { id: receipt });
    const line = linesOf(approvedReceipt)[1];
    const before = [await shop.stockAt("hammer", "A-1"), await shop.stockAt("hammer", "hall")];
    const { goodsReceipt, warnings, userErrors } = await mutate("goodsReceiptComplete", {
      id: receipt,
      putAway: [
        { goodsReceiptLineItemId: line.id, place: { binLocationId: shop.id["A-1"] }, quantity: 6 },
        { goodsReceiptLineItemId: line.id, place: { warehouseId: shop.id.hall }, quantity: 1 },
      ],
    });
    assert.deepEqual(userErrors, []);
    assert.deepEqual(shares(goodsReceipt), [
      [1, false],
      [5, true],
      [3, false],
    ]);
    assert.deepEqual(codes({ warnings }), ["SURPLUS"]);
    const [, kept, split] = linesOf(goodsReceipt);
    assert.deepEqual([kept.id, split.id], [line.id, warnings[0].details.goodsReceiptLineItemId]);
    assert.deepEqual(
      [split.unitPrice, split.unitPriceInDefaultCurrency, split.totalPriceInDefaultCurrency],
      [4, 3.2, 9.6],
    );
    assert.deepEqual([goodsReceipt.amountNet, written.goodsReceipt.amountNet], [32, 32]);
    const now = await orderNow(id);
    assert.deepEqual([now.state, now.received], ["delivered", [5]]);
    assert.deepEqual(
      [await shop.stockAt("hammer", "A-1"), await shop.stockAt("hammer", "hall")],
      [before[0]! + 6, before[1]! + 1],
    );
    const { rows } = await shop.owner.query(
      "select sum(quantity)::int as left from ledger.stock where goods_receipt_id = $1",
      [uuid(receipt)],
    );
    assert.deepEqual(rows, [{ left: 0 }]);
  });

  it("an order that was cancelled before is said at once, too", async () => {
    const { id } = await order([["nail", 3]]);
    await move("Cancel", id);
    const { goodsReceipt, warnings } = await create([receiptLine("nail", 3, { supplierOrderId: id })]);
    assert.deepEqual(
      warnings.map(({ code, field }: any) => [code, field.join(".")]),
      [["ORDER_CANCELLED", "lineItems.0.supplierOrderId"]],
    );
    await done("goodsReceiptApprove", { id: goodsReceipt.id });
    await done("goodsReceiptComplete", { id: goodsReceipt.id });
  });

  it("an order line that is taken off an open order after the approval holds nothing up", async () => {
    const { supplierOrder } = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.acme, lineItems: [receiptLine("nail", 3), receiptLine("hammer", 1)] },
      { select: "supplierOrder { id }" },
    );
    const receipt = await approved([receiptLine("nail", 3, { supplierOrderId: supplierOrder.id })]);
    const lineItems = [receiptLine("nail", 2), receiptLine("hammer", 1)];
    await shop.mutate("supplierOrderLineItemsSet", { id: supplierOrder.id, lineItems });
    const { goodsReceipt, warnings } = await done("goodsReceiptComplete", { id: receipt });
    assert.deepEqual(
      [codes({ warnings }), shares(goodsReceipt)],
      [
        ["SURPLUS"],
        [
          [2, true],
          [1, false],
        ],
      ],
    );
    const now = await orderNow(supplierOrder.id);
    assert.deepEqual([now.state, now.received], ["partially_delivered", [2, 0]]);
  });

  it("what was ordered from a supplier who is inactive by now is received, into any warehouse", async () => {
    const { id } = await order([["nail", 3]], { supplierId: shop.id.forge, warehouseId: shop.id.hall });
    await shop.owner.query("update erp.supplier set active = false where number = 'forge'");
    try {
      const { goodsReceipt } = await receive([receiptLine("nail", 3, { supplierOrderId: id })], {
        warehouseId: shop.id.shed,
      });
      assert.equal(goodsReceipt.supplier.number, "forge");
      assert.equal((await orderNow(id)).state, "delivered");
    } finally {
      await shop.owner.query("update erp.supplier set active = true where number = 'forge'");
    }
  });

  it("a receipt from before the rule, which mixes suppliers, can be completed, with what is more than open", async () => {
    const [acme, forge] = [
      await order([
        ["nail", 2],
        ["nail", 1],
      ]),
      await order([["nail", 1]]),
    ];
    const receipt = await approved([
      receiptLine("nail", 4, { supplierOrderId: acme.id }),
      receiptLine("nail", 1, { supplierOrderId: forge.id }),
    ]);
    await shop.owner.query("alter table erp.supplier_order disable trigger require_one_supplier");
    await shop.owner.query(
      "update erp.supplier_order o set supplier_id = s.id from erp.supplier s where o.id = $1 and s.number = 'forge'",
      [uuid(forge.id)],
    );
    await shop.owner.query("alter table erp.supplier_order enable trigger require_one_supplier");
    const { goodsReceipt, warnings } = await done("goodsReceiptComplete", { id: receipt });
    assert.deepEqual(
      [codes({ warnings }), shares(goodsReceipt)],
      [
        ["SURPLUS"],
        [
          [2, true],
          [1, true],
          [1, true],
          [1, false],
        ],
      ],
    );
    assert.deepEqual(
      [(await orderNow(acme.id)).state, (await orderNow(forge.id)).state],
      ["delivered", "delivered"],
    );
  });

  it("two receipts of one order by two clients at once: both are completed, the later has the surplus", async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await order([
        ["hammer", 4, 3],
        ["hammer", 1, 3],
      ]);
      const receipts = await Promise.all(
        [3, 4].map((quantity) => approved([receiptLine("hammer", quantity, { supplierOrderId: id })])),
      );
      const payloads = await Promise.all(
        receipts.map((receipt) => done("goodsReceiptComplete", { id: receipt })),
      );
      assert.deepEqual(payloads.flatMap(codes), ["SURPLUS"]);
      const units = payloads.flatMap(({ goodsReceipt }) => shares(goodsReceipt));
      const sum = (counted: boolean) =>
        units
          .filter((unit: any) => unit[1] === counted)
          .reduce((total: number, unit: any) => total + unit[0], 0);
      assert.deepEqual([sum(true), sum(false)], [5, 2]);
      const now = await orderNow(id);
      assert.deepEqual([now.state, now.received], ["delivered", [4, 1]]);
      await assertBooksAreRight(shop);
    }
  });

  it("a completion waits for a cancellation that is under way, and finds the order cancelled", async () => {
    const { id } = await order([["nail", 2]]);
    const receipt = await approved([receiptLine("nail", 2, { supplierOrderId: id })]);
    const other = await shop.owner.connect();
    let completion;
    try {
      await other.query("begin");
      await other.query("update erp.supplier_order set state = 'cancelled' where id = $1", [uuid(id)]);
      completion = done("goodsReceiptComplete", { id: receipt });
      await until(async () => {
        const { rows } = await shop.owner.query(
          "select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0",
        );
        return rows.length > 0;
      });
      await other.query("commit");
    } finally {
      other.release(true);
    }
    assert.deepEqual(codes(await completion), ["ORDER_CANCELLED"]);
  });
});

describe("a correction", () => {
  const state = async (id: string) => {
    const now = await orderNow(id);
    return [now.state, ...now.received, now.actualDeliveryDate !== null];
  };

  it("opens a delivered order again, and what comes then delivers it again", async () => {
    const before = await expected("nail");
    const { id, lines } = await order([
      ["nail", 5],
      ["hammer", 1],
    ]);
    const by = { supplierOrderId: id };
    await receive([receiptLine("nail", 5, by), receiptLine("hammer", 1, by)]);
    const first = await orderNow(id);
    assert.deepEqual(await state(id), ["delivered", 5, 1, true]);
    assert.equal(await expected("nail"), before);
    await receive([receiptLine("nail", -2, by)]);
    assert.deepEqual(await state(id), ["partially_delivered", 3, 1, false]);
    const partly = await orderNow(id);
    assert.deepEqual(
      partly.lines.map((line: any) => line.actualDeliveryDate),
      [null, first.lines[1].actualDeliveryDate],
    );
    assert.equal(await expected("nail"), before + 2);
    await receive([
      receiptLine("nail", -3, { supplierOrderLineItemId: lines[0] }),
      receiptLine("hammer", -1, by),
    ]);
    assert.deepEqual(await state(id), ["confirmed", 0, 0, false]);
    await receive([receiptLine("nail", 5, by), receiptLine("hammer", 1, by)]);
    assert.deepEqual(await state(id), ["delivered", 5, 1, true]);
    assert.equal(await expected("nail"), before);
  });

  it("of everything at once leads from delivered to confirmed, where it can be cancelled", async () => {
    const { id } = await order([["nail", 2]]);
    await receive([receiptLine("nail", 2, { supplierOrderId: id })]);
    await receive([receiptLine("nail", -2, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["confirmed", 0, false]);
    await move("Cancel", id);
  });

  it("leaves an order completed that a person completed", async () => {
    const { id } = await order([["nail", 2]]);
    await receive([receiptLine("nail", 2, { supplierOrderId: id })]);
    await move("Complete", id);
    const before = await expected("nail");
    await receive([receiptLine("nail", -1, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["completed", 1, true]);
    assert.equal(await expected("nail"), before);
    await receive([receiptLine("nail", 1, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["completed", 2, true]);
  });

  it("is shared out over what was received; what never came goes back without an order", async () => {
    const { id, number } = await order([
      ["hammer", 3],
      ["hammer", 2],
    ]);
    const by = { supplierOrderId: id };
    await receive([receiptLine("hammer", 4, by)]);
    await receive([receiptLine("hammer", -4, by), receiptLine("hammer", 1, by)]);
    assert.deepEqual((await orderNow(id)).received, [0, 1]);
    const payload = await receive([receiptLine("hammer", -2, by)]);
    assert.deepEqual(shares(payload.goodsReceipt), [
      [-1, true],
      [-1, false],
    ]);
    assert.deepEqual(codes(payload), ["SURPLUS"]);
    assert.match(
      payload.warnings[0].message,
      new RegExp(`^1 of product hammer .* ${number} never received them`),
    );
    assert.deepEqual(await state(id), ["confirmed", 0, 0, false]);
  });

  it("and its replacement in one receipt cancel each other out", async () => {
    const { id } = await order([["nail", 2]]);
    const by = { supplierOrderId: id };
    await receive([receiptLine("nail", 2, by)]);
    const { goodsReceipt, warnings } = await receive([
      receiptLine("nail", -1, by),
      receiptLine("nail", 1, by),
    ]);
    assert.deepEqual(
      [warnings, shares(goodsReceipt)],
      [
        [],
        [
          [-1, true],
          [1, true],
        ],
      ],
    );
    assert.deepEqual(await state(id), ["delivered", 2, true]);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import { codes, linesOf, shares, useDock } from "./dock.ts";

// Arrived goods are booked, whatever happened to their order
const dock = useDock();

describe("the dock never stops", () => {
  it("an order that is cancelled after the approval: its goods count for no order", async () => {
    const { id, number } = await dock.order([["nail", 3, 2]]);
    const before = await dock.expected("nail");
    const receipt = await dock.approved([
      dock.line("nail", 3, { supplierOrderId: id, destinationBinLocationId: dock.shop.id["A-1"] }),
    ]);
    await dock.move("Cancel", id);
    const stock = await dock.shop.stockAt("nail", "A-1");
    const { goodsReceipt, warnings } = await dock.done("goodsReceiptComplete", { id: receipt });
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
    const now = await dock.orderNow(id);
    assert.deepEqual([now.state, now.received], ["cancelled", [0]]);
    assert.equal(await dock.shop.stockAt("nail", "A-1"), stock + 3);
    assert.equal(await dock.expected("nail"), before - 3);
  });

  it("4 of a product that stands on two lines, 3 and 2, fill both", async () => {
    const { id, lines } = await dock.order([
      ["nail", 3, 2],
      ["hammer", 1, 9],
      ["nail", 2, 2.5],
    ]);
    for (const by of [{ supplierOrderId: id }, { supplierOrderLineItemId: lines[2] }]) {
      const { goodsReceipt, warnings } = await dock.receive([dock.line("nail", 2, by)]);
      assert.deepEqual([codes({ warnings }), shares(goodsReceipt)], [[], [[2, true]]]);
      await dock.receive([dock.line("nail", -2, by)]);
    }
    assert.deepEqual((await dock.orderNow(id)).received, [0, 0, 0]);
    const { goodsReceipt, warnings } = await dock.receive([dock.line("nail", 4, { supplierOrderId: id })]);
    assert.deepEqual(warnings, []);
    assert.deepEqual(shares(goodsReceipt), [
      [3, true],
      [1, true],
    ]);
    const now = await dock.orderNow(id);
    assert.deepEqual([now.state, now.received], ["partially_delivered", [3, 0, 1]]);
    // Given prices stay
    assert.deepEqual([goodsReceipt.amountNet, goodsReceipt.positionPrice], [8, 8]);
  });

  it("lines that name lines come first, those that name the order take what is left", async () => {
    const { id, lines } = await dock.order([
      ["nail", 3],
      ["nail", 2],
    ]);
    const { goodsReceipt, warnings } = await dock.receive([
      dock.line("nail", 4, { supplierOrderLineItemId: lines[0] }),
      dock.line("nail", 2, { supplierOrderLineItemId: lines[1] }),
    ]);
    assert.deepEqual(shares(goodsReceipt), [
      [3, true],
      [2, true],
      [1, false],
    ]);
    assert.deepEqual(codes({ warnings }), ["SURPLUS"]);
    const now = await dock.orderNow(id);
    assert.deepEqual([now.state, now.received], ["delivered", [3, 2]]);
  });

  it("more than was ordered is said when the receipt is written, and becomes a line of its own", async () => {
    const { id, number } = await dock.order([["hammer", 5, 4]], {
      supplierId: dock.shop.id.yankee,
      currencyId: dock.shop.id.USD,
    });
    const lineItems = [
      dock.line("nail", 1),
      dock.line("hammer", 8, { supplierOrderId: id, plannedDisposalQuantity: 1 }),
    ];
    const written = await dock.create(lineItems);
    const surplus = {
      code: "SURPLUS",
      message: `3 of product hammer were not ordered: supplier order ${number} has fewer units open.`,
      field: ["lineItems", "1", "quantity"],
      details: { quantity: 3, productNumber: "hammer", supplierOrderNumber: number },
    };
    assert.deepEqual(written.warnings, [surplus]);
    assert.deepEqual(shares(written.goodsReceipt), [
      [1, false],
      [8, true],
    ]);
    const { id: receipt } = written.goodsReceipt;
    assert.deepEqual((await dock.done("goodsReceiptLineItemsSet", { id: receipt, lineItems })).warnings, [
      surplus,
    ]);
    const { goodsReceipt: approvedReceipt } = await dock.done("goodsReceiptApprove", { id: receipt });
    const line = linesOf(approvedReceipt)[1];
    const before = [await dock.shop.stockAt("hammer", "A-1"), await dock.shop.stockAt("hammer", "hall")];
    const { goodsReceipt, warnings, userErrors } = await dock.mutate("goodsReceiptComplete", {
      id: receipt,
      putAway: [
        { goodsReceiptLineItemId: line.id, place: { binLocationId: dock.shop.id["A-1"] }, quantity: 6 },
        { goodsReceiptLineItemId: line.id, place: { warehouseId: dock.shop.id.hall }, quantity: 1 },
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
    const now = await dock.orderNow(id);
    assert.deepEqual([now.state, now.received], ["delivered", [5]]);
    assert.deepEqual(
      [await dock.shop.stockAt("hammer", "A-1"), await dock.shop.stockAt("hammer", "hall")],
      [before[0]! + 6, before[1]! + 1],
    );
    const { rows } = await dock.shop.owner.query(
      "select sum(quantity)::int as left from ledger.stock where goods_receipt_id = $1",
      [uuidOf(receipt)],
    );
    assert.deepEqual(rows, [{ left: 0 }]);
  });

  it("an order that was cancelled before is said at once, too", async () => {
    const { id } = await dock.order([["nail", 3]]);
    await dock.move("Cancel", id);
    const { goodsReceipt, warnings } = await dock.create([dock.line("nail", 3, { supplierOrderId: id })]);
    assert.deepEqual(
      warnings.map(({ code, field }: any) => [code, field.join(".")]),
      [["ORDER_CANCELLED", "lineItems.0.supplierOrderId"]],
    );
    await dock.done("goodsReceiptApprove", { id: goodsReceipt.id });
    await dock.done("goodsReceiptComplete", { id: goodsReceipt.id });
  });

  it("an order line that is taken off an open order after the approval holds nothing up", async () => {
    const { supplierOrder } = await dock.shop.mutate(
      "supplierOrderCreate",
      { supplierId: dock.shop.id.acme, lineItems: [dock.line("nail", 3), dock.line("hammer", 1)] },
      { select: "supplierOrder { id }" },
    );
    const receipt = await dock.approved([dock.line("nail", 3, { supplierOrderId: supplierOrder.id })]);
    const lineItems = [dock.line("nail", 2), dock.line("hammer", 1)];
    await dock.shop.mutate("supplierOrderLineItemsSet", { id: supplierOrder.id, lineItems });
    const { goodsReceipt, warnings } = await dock.done("goodsReceiptComplete", { id: receipt });
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
    const now = await dock.orderNow(supplierOrder.id);
    assert.deepEqual([now.state, now.received], ["partially_delivered", [2, 0]]);
  });

  it("what was ordered from a supplier who is inactive by now is received, into any warehouse", async () => {
    const { id } = await dock.order([["nail", 3]], {
      supplierId: dock.shop.id.forge,
      warehouseId: dock.shop.id.hall,
    });
    await dock.shop.owner.query("update erp.supplier set active = false where number = 'forge'");
    try {
      const { goodsReceipt } = await dock.receive([dock.line("nail", 3, { supplierOrderId: id })], {
        warehouseId: dock.shop.id.shed,
      });
      assert.equal(goodsReceipt.supplier.number, "forge");
      assert.equal((await dock.orderNow(id)).state, "delivered");
    } finally {
      await dock.shop.owner.query("update erp.supplier set active = true where number = 'forge'");
    }
  });

  it("a receipt from before the rule, which mixes suppliers, can be completed, with what is more than open", async () => {
    const [acme, forge] = [
      await dock.order([
        ["nail", 2],
        ["nail", 1],
      ]),
      await dock.order([["nail", 1]]),
    ];
    const receipt = await dock.approved([
      dock.line("nail", 4, { supplierOrderId: acme.id }),
      dock.line("nail", 1, { supplierOrderId: forge.id }),
    ]);
    await dock.shop.owner.query("alter table erp.supplier_order disable trigger require_one_supplier");
    await dock.shop.owner.query(
      "update erp.supplier_order o set supplier_id = s.id from erp.supplier s where o.id = $1 and s.number = 'forge'",
      [uuidOf(forge.id)],
    );
    await dock.shop.owner.query("alter table erp.supplier_order enable trigger require_one_supplier");
    const { goodsReceipt, warnings } = await dock.done("goodsReceiptComplete", { id: receipt });
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
      [(await dock.orderNow(acme.id)).state, (await dock.orderNow(forge.id)).state],
      ["delivered", "delivered"],
    );
  });

  it("two receipts of one order by two clients at once: both are completed, the later has the surplus", async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await dock.order([
        ["hammer", 4, 3],
        ["hammer", 1, 3],
      ]);
      const receipts = await Promise.all(
        [3, 4].map((quantity) => dock.approved([dock.line("hammer", quantity, { supplierOrderId: id })])),
      );
      const payloads = await Promise.all(
        receipts.map((receipt) => dock.done("goodsReceiptComplete", { id: receipt })),
      );
      assert.deepEqual(payloads.flatMap(codes), ["SURPLUS"]);
      const units = payloads.flatMap(({ goodsReceipt }) => shares(goodsReceipt));
      const sum = (counted: boolean) =>
        units
          .filter((unit: any) => unit[1] === counted)
          .reduce((total: number, unit: any) => total + unit[0], 0);
      assert.deepEqual([sum(true), sum(false)], [5, 2]);
      const now = await dock.orderNow(id);
      assert.deepEqual([now.state, now.received], ["delivered", [4, 1]]);
      await assertLedgerIsRight(dock.shop);
    }
  });

  it("a completion waits for a cancellation that is under way, and finds the order cancelled", async () => {
    const { id } = await dock.order([["nail", 2]]);
    const receipt = await dock.approved([dock.line("nail", 2, { supplierOrderId: id })]);
    const other = await dock.shop.owner.connect();
    let completion;
    try {
      await other.query("begin");
      await other.query("update erp.supplier_order set state = 'cancelled' where id = $1", [uuidOf(id)]);
      completion = dock.done("goodsReceiptComplete", { id: receipt });
      await until(async () => {
        const { rows } = await dock.shop.owner.query(
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

describe("any receipts", () => {
  it("every unit is booked, and counts for an order as long as that has room", async () => {
    let seed = 13;
    const upTo = (most: number) => {
      seed = (seed * 48271) % 2147483647;
      return 1 + (seed % most);
    };
    const products = ["hammer", "nail"];
    for (let round = 0; round < 5; round++) {
      const ordered = Array.from({ length: 1 + upTo(4) }, (_, n): [string, number] => [
        products[n % 2]!,
        upTo(5),
      ]);
      const { id, lines } = await dock.order(ordered);
      for (let visit = 0; visit < 4; visit++) {
        const before = (await dock.orderNow(id)).received;
        const isCorrection = visit === 2;
        const lineItems = Array.from({ length: upTo(4) }, () => {
          const n = upTo(ordered.length) - 1;
          const by = upTo(2) === 1 ? { supplierOrderId: id } : { supplierOrderLineItemId: lines[n] };
          return dock.line(ordered[n]![0], isCorrection ? -upTo(3) : upTo(4), by);
        });
        // Something to take back in any case
        if (isCorrection)
          await dock.shop.mutate("stockAdjust", {
            lines: products.map((product) => ({
              productId: dock.shop.id[product],
              place: { warehouseId: dock.shop.id.hall },
              delta: 20,
            })),
          });
        const receipt = await dock.approved(lineItems);
        const { goodsReceipt, warnings } = await dock.done("goodsReceiptComplete", { id: receipt });
        const now = await dock.orderNow(id);
        for (const product of products) {
          const own = linesOf(goodsReceipt).filter((line: any) => line.product.productNumber === product);
          const sum = (chosen: any[]) => chosen.reduce((total, { quantity }) => total + quantity, 0);
          const came = sum(lineItems.filter(({ productId }) => productId === dock.shop.id[product]));
          const counted = sum(own.filter((line: any) => line.supplierOrder));
          assert.equal(sum(own), came);
          const indices = ordered.flatMap(([name], n) => (name === product ? [n] : []));
          const total = (figures: number[]) => indices.reduce((units, n) => units + figures[n]!, 0);
          const quantities = ordered.map(([, quantity]) => quantity);
          assert.equal(total(now.received) - total(before), counted);
          const room = isCorrection ? 0 - total(before) : total(quantities) - total(before);
          assert.equal(counted, isCorrection ? Math.max(came, room) : Math.min(came, room));
          for (const n of indices) assert.ok(now.received[n] >= 0 && now.received[n] <= quantities[n]!);
        }
        const uncounted = linesOf(goodsReceipt).filter((line: any) => !line.supplierOrder);
        assert.deepEqual(
          warnings.map(({ details }: any) => details.goodsReceiptLineItemId).sort(),
          uncounted.map((line: any) => line.id).sort(),
        );
        const delivered = now.lines.every(({ openQuantity }: any) => openQuantity === 0);
        const begun = now.received.some((quantity: number) => quantity > 0);
        assert.equal(now.state, delivered ? "delivered" : begun ? "partially_delivered" : "confirmed");
        const { rows } = await dock.shop.owner.query(
          "select coalesce(sum(quantity), 0)::int as left from ledger.stock where goods_receipt_id = $1",
          [uuidOf(receipt)],
        );
        assert.deepEqual(rows, [{ left: 0 }]);
      }
      await assertLedgerIsRight(dock.shop);
    }
  });
});

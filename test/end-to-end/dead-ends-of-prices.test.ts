import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

// What used to lead nowhere: prices of receipts that come late or were wrong
let shop: ValuationShop;
before(async () => {
  shop = await openValuationShop();
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

describe("a price that was missing or wrong when a receipt was completed", () => {
  const select = "goodsReceipt { amountNet amountTotal lineItems { edges { node { id unitPrice } } } }";
  const value = async (name: string) => {
    const { product: found } = await shop.read(
      "query ($id: ID!) { product(id: $id) { stockValue { quantity value } } }",
      { id: shop.id[name] },
    );
    return [found.stockValue.quantity, Number(found.stockValue.value)];
  };
  const lineOf = async (id: string) => {
    const { goodsReceipt } = await shop.read(
      "query ($id: ID!) { goodsReceipt(id: $id) { lineItems { edges { node { id } } } } }",
      { id },
    );
    return goodsReceipt.lineItems.edges[0].node.id;
  };
  const setPrice = async (receipt: string, unitPrice: number, more = {}) =>
    shop.mutate(
      "goodsReceiptPricesSet",
      { id: receipt, lineItems: [{ id: await lineOf(receipt), unitPrice, ...more }] },
      { select },
    );

  it("is corrected; the value of what is there and of what was sold follows", async () => {
    await shop.addProduct("lamp");
    const receipt = await shop.buy("lamp", 10, 4);
    const { order } = await shop.sell("lamp", 4);
    assert.deepEqual(await value("lamp"), [6, 24]);
    const changed = await setPrice(receipt, 5);
    assert.deepEqual(changed.userErrors, []);
    assert.deepEqual(
      [Number(changed.goodsReceipt.amountNet), changed.goodsReceipt.lineItems.edges[0].node.unitPrice],
      [50, 5],
    );
    assert.deepEqual(await value("lamp"), [6, 30]);
    const { order: sold } = await shop.read("query ($id: ID!) { order(id: $id) { costOfGoods } }", {
      id: order,
    });
    assert.equal(Number(sold.costOfGoods), 20);
    const taxed = await setPrice(receipt, 5, { taxRate: 19 });
    assert.deepEqual(
      [Number(taxed.goodsReceipt.amountNet), Number(taxed.goodsReceipt.amountTotal)],
      [50, 59.5],
    );
  });

  it("is given when it was missing", async () => {
    await shop.addProduct("bulb");
    const receipt = await shop.buy("bulb", 2, null);
    assert.deepEqual(await value("bulb"), [2, 0]);
    assert.deepEqual((await setPrice(receipt, 3)).userErrors, []);
    assert.deepEqual(await value("bulb"), [2, 6]);
  });

  it("is refused where it is wrong", async () => {
    const receipt = await shop.buy("bulb", 1, 3);
    const id = await lineOf(receipt);
    const set = (lineItems: object[]) => shop.mutate("goodsReceiptPricesSet", { id: receipt, lineItems });
    const other = await lineOf(await shop.buy("bulb", 1, 3));
    for (const [lineItems, code, field] of [
      [[], "REQUIRED", "lineItems"],
      [[{ id, unitPrice: -1 }], "OUT_OF_RANGE", "lineItems.0.unitPrice"],
      [[{ id, unitPrice: 1e15 }], "OUT_OF_RANGE", "lineItems.0.unitPrice"],
      [[{ id, unitPrice: 1, taxRate: 190 }], "OUT_OF_RANGE", "lineItems.0.taxRate"],
      [[{ id: other, unitPrice: 1 }], "NOT_FOUND", "lineItems.0.id"],
      [
        [
          { id, unitPrice: 1 },
          { id, unitPrice: 2 },
        ],
        "NOT_UNIQUE",
        "lineItems.1.id",
      ],
    ] as const)
      assert.deepEqual(refusals(await set([...lineItems])), [[code, field]]);
  });

  it("is final once a closed report counts it: the difference is booked in the open period", async () => {
    const receipt = await shop.buy("lamp", 2, 5);
    await shop.passDays(3);
    const report = await shop.report(2);
    const refused = await setPrice(receipt, 6);
    assert.deepEqual(
      refused.userErrors.map((e: any) => e.code),
      ["PERIOD_CLOSED"],
    );
    assert.match(refused.userErrors[0].message, /landedCostAllocate or stockWriteDown, or void the report/);
    const [, before] = (await value("lamp")) as [number, number];
    await shop.succeed(
      "stockWriteDown",
      { productId: shop.id.lamp, amount: 1, reason: "The invoice is lower" },
      "writeDown { id }",
    );
    assert.deepEqual(await value("lamp"), [8, before - 1]);
    await shop.void(report.id);
    assert.deepEqual((await setPrice(receipt, 6)).userErrors, []);
  });
});

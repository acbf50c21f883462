import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ poolSize: 20 });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let products = 0;
/** Makes a product with serial numbers, and records these. Returns its short name, and the ids of its batches. */
async function make(...numbers: string[]): Promise<{ product: string; serials: string[] }> {
  const product = `unit ${++products}`;
  const made = await shop.mutate(
    "productsUpsert",
    { products: [{ productNumber: product, tracking: "serial" }] },
    { select: "products { id }" },
  );
  shop.id[product] = made.products[0].id;
  if (numbers.length === 0) return { product, serials: [] };
  const batches = numbers.map((number) => ({ productNumber: product, number }));
  const recorded = await shop.mutate("batchesUpsert", { batches }, { select: "batches { id }" });
  assert.deepEqual(recorded.userErrors, []);
  return { product, serials: recorded.batches.map(({ id }: any) => id) };
}
/** Calls a mutation, and again if it waited too long for a lock, as clients do. */
async function send(name: string, input: object): Promise<any> {
  for (let attempt = 1; ; attempt++) {
    const { body, text } = await shop.tryMutate(name, input);
    if (body.errors === undefined) return body.data[name];
    const mayRepeat = body.errors.every(({ extensions }: any) => extensions.code === "CONFLICT_RETRY");
    assert.ok(mayRepeat && attempt < 10, text);
  }
}
const adjust = (product: string, place: string, batchId: string, delta: number) =>
  send("stockAdjust", { lines: [shop.line(product, place, { delta, batchId })] });
/** Receives one unit of a serial number. Returns the approval of the receipt. */
async function receive(product: string, batchNumber: string): Promise<any> {
  const lineItems = [{ productId: shop.id[product], quantity: 1, batchNumber }];
  const { goodsReceipt, userErrors } = await shop.mutate(
    "goodsReceiptCreate",
    { type: "Free", lineItems },
    { select: "goodsReceipt { id }" },
  );
  assert.deepEqual(userErrors, []);
  return send("goodsReceiptApprove", { id: goodsReceipt.id });
}
/** Ships one unit, of a serial number in A-1 if one is given. */
async function ship(product: string, batchId?: string): Promise<any> {
  const { fulfillmentOrders } = await shop.order([{ product, quantity: 1 }], [{ lines: [[0, 1]] }]);
  const [order] = fulfillmentOrders;
  const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 1, batchId }];
  const line = { fulfillmentOrderLineItemId: order!.lines[0], quantity: 1, ...(batchId && { places }) };
  return send("fulfillmentCreate", { fulfillmentOrderId: order!.id, lines: [line] });
}
const codes = (answers: any[]) =>
  answers
    .map((answer) =>
      refusals(answer)
        .map(([code]) => code)
        .join(),
    )
    .sort();

describe("at the same time", () => {
  it("one of three receipts of a serial number wins", async () => {
    const { product } = await make();
    for (let round = 0; round < 5; round++)
      assert.deepEqual(codes(await Promise.all([1, 2, 3].map(() => receive(product, `W${round}`)))), [
        "",
        "SERIAL_NUMBER_IN_STOCK",
        "SERIAL_NUMBER_IN_STOCK",
      ]);
  });

  it("one of three shipments of the last unit wins", async () => {
    for (let round = 0; round < 5; round++) {
      const { product, serials } = await make("L");
      assert.deepEqual((await adjust(product, "A-1", serials[0]!, 1)).userErrors, []);
      const answers = await Promise.all([ship(product, serials[0]), ship(product), ship(product)]);
      assert.deepEqual(codes(answers), ["", "INSUFFICIENT_STOCK", "INSUFFICIENT_STOCK"]);
    }
  });

  it("units come, move and leave at random, and each stays one", async () => {
    const numbers = ["X1", "X2", "X3"];
    const { product, serials } = await make(...numbers);
    const places = ["A-1", "A-2", "B-1", "hall"];
    const random = new Random(seed);
    const acts = [
      () => adjust(product, random.oneOf(places), random.oneOf(serials), 1),
      () => adjust(product, random.oneOf(places), random.oneOf(serials), -1),
      () => receive(product, random.oneOf(numbers)),
      () => ship(product),
      () => {
        const [source, destination] = random.oneOf([
          ["A-1", "B-1"],
          ["B-1", "A-2"],
          ["A-2", "hall"],
          ["hall", "A-1"],
        ]);
        const line = { quantity: 1, batchId: random.oneOf(serials) };
        return send("stockTransfer", { lines: [shop.move(product, source, destination, line)] });
      },
    ];
    const seen = new Set<string>();
    for (let round = 0; round < 15; round++) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => random.oneOf(acts)()));
      for (const code of codes(answers)) seen.add(code);
      await assertLedgerIsRight(shop);
    }
    assert.deepEqual(
      await shop.sql("select number from erp.batch where number ~ '^X' and physical_stock > 1"),
      [],
      `seed ${seed}`,
    );
    assert.deepEqual([...seen].sort(), ["", "INSUFFICIENT_STOCK", "SERIAL_NUMBER_IN_STOCK"], `seed ${seed}`);
  });
});

import assert from "node:assert/strict";
import { divide, micro, shown } from "../../model/money.ts";
import type { Pile } from "./accounts.ts";
import { nodes } from "./merchant.ts";
import type { Story } from "./story.ts";
import { products } from "./story.ts";
import { acceptQuote, packTote, pickShort, reorder } from "./workplace.ts";

type Happening = (story: Story, daysAgo: number) => Promise<void>;

const dayBefore = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
/** Value of each product at the evening of the last day of the half of the month. */
let half: Map<string, string>;
let promise: string;

/** What happens once in the month, by the number of days before today. */
export const happenings: Record<number, Happening> = {
  /** A customer on the phone wants lamps kept for a week. */
  async 27({ merchant }) {
    const { stockReservations } = await merchant.call(
      "stockReserve",
      {
        lines: [{ productId: merchant.id.lamp, place: merchant.place("hall"), quantity: 4 }],
        reference: "phone",
        expiresAt: new Date(Date.now() + 7 * 86_400_000).toISOString(),
      },
      "stockReservations { id }",
    );
    promise = stockReservations[0].id;
    merchant.accounts.reserve("lamp", "hall", 4);
  },

  /** Goods move to the shed, and to the attic, which sells nothing. */
  async 25({ merchant }) {
    const wanted: [string, string, string, number][] = [
      ["cable", "A-3", "shed", 20],
      ["chair", "A-2", "attic", 2],
    ];
    const moves = wanted
      .map(([product, source, destination, most]) => {
        const quantity = Math.min(most, merchant.accounts.unitsAt(product, source));
        return [product, source, destination, quantity] as const;
      })
      .filter(([, , , quantity]) => quantity > 0);
    await merchant.call("stockTransfer", {
      lines: moves.map(([product, source, destination, quantity]) => ({
        productId: merchant.id[product],
        source: merchant.place(source),
        destination: merchant.place(destination),
        quantity,
      })),
    });
    for (const [product, source, destination, quantity] of moves) {
      merchant.accounts.bring(product, source, -quantity);
      merchant.accounts.bring(product, destination, quantity);
    }
  },

  24: packTote,
  11: pickShort,
  8: acceptQuote,
  7: reorder,

  /** The customer on the phone doesn't want them. */
  async 22({ merchant }) {
    await merchant.call("stockRelease", { lines: [{ id: promise }] });
    merchant.accounts.reserve("lamp", "hall", -4);
  },

  /** The shed is counted: some cables are missing, and one lamp more is there. */
  async 20({ merchant }) {
    const { accounts } = merchant;
    const { stocktake } = await merchant.call(
      "stocktakeCreate",
      { warehouseId: merchant.id.shed, sheets: 1 },
      `stocktake { id sheets { edges { node { id } } } }`,
    );
    const [sheet] = nodes(stocktake.sheets);
    const found = new Map([
      ["cable shed", -3],
      ["lamp B-1", 1],
    ]);
    const piles = accounts.piles.filter(
      ({ place, units }) => accounts.places.get(place)!.warehouse === "shed" && units > 0,
    );
    const counted = [...piles];
    if (!piles.some(({ product }) => product === "lamp"))
      counted.push({ product: "lamp", place: "B-1", batch: "", units: 0 });
    const difference = ({ product, place }: Pile) => found.get(`${product} ${place}`) ?? 0;
    const sheetInput = {
      sheetId: sheet.id,
      counterName: "Ben",
      isComplete: true,
      lines: counted.map((pile) => ({
        place: merchant.place(pile.place),
        productId: merchant.id[pile.product],
        quantity: pile.units + difference(pile),
        ...(pile.batch && { batchId: merchant.id[pile.batch] }),
      })),
    };
    await merchant.call("stocktakeSheetSubmit", sheetInput, "", merchant.colleague);
    await merchant.call("stocktakeApprove", { id: stocktake.id, approverName: "Cleo" });
    for (const pile of counted) {
      const units = difference(pile);
      if (units < 0) accounts.worthOf(pile.product).take(-units);
      if (units > 0) accounts.worthOf(pile.product).find(units, 0n);
      accounts.bring(pile.product, pile.place, units, pile.batch);
    }
  },

  /** A customer sends units back: one is sold again, one is looked at, one is thrown away. */
  async 17(story) {
    const { merchant } = story;
    const { accounts, id } = merchant;
    for (const outcome of ["restock", "quarantine", "dispose"]) {
      const order = story.shipped();
      const line = order.lines[0]!;
      const batch = [...order.batches.keys()].find((name) => story.isOf(name, line.product));
      const { returnOrder } = await merchant.call(
        "returnOrderCreate",
        {
          isApproved: true,
          lineItems: [
            {
              orderLineItemId: line.id,
              quantity: 1,
              reason: "changed_mind",
              ...(batch && { batchId: id[batch] }),
            },
          ],
        },
        "returnOrder { id lineItems(first: 5) { edges { node { id } } } }",
      );
      const { goodsReceipt } = await merchant.call(
        "goodsReceiptCreate",
        {
          warehouseId: id.hall,
          lineItems: [
            {
              productId: id[line.product],
              returnOrderLineItemId: nodes(returnOrder.lineItems)[0].id,
              quantity: 1,
              ...(batch && { batchId: id[batch] }),
            },
          ],
        },
        "goodsReceipt { id lineItems(first: 5) { edges { node { id } } } }",
      );
      await merchant.call("goodsReceiptApprove", { id: goodsReceipt.id });
      const place = { restock: "A-1", quarantine: "Q-1" }[outcome];
      await merchant.call("goodsReceiptComplete", {
        id: goodsReceipt.id,
        putAway: [
          {
            goodsReceiptLineItemId: nodes(goodsReceipt.lineItems)[0].id,
            quantity: 1,
            outcome,
            ...(place && { place: merchant.place(place) }),
          },
        ],
      });
      await merchant.call("returnOrderClose", { id: returnOrder.id });
      line.returned++;
      if (place) {
        accounts.takeBack(line.product, order.number, 1);
        accounts.bring(line.product, place, 1, batch);
      } else accounts.loseOutside(line.product, order.number, 1);
    }
  },

  /** The first half of the month is over. */
  async 15({ merchant }) {
    half = new Map(products.map((product) => [product, shown(merchant.accounts.worthOf(product).value)]));
  },
  async 14({ merchant }) {
    await closeReport(merchant, 15, half);
  },

  /** A supplier recalls a batch of tea: it is held, its customers are found, and what is left is thrown away. */
  async 12(story) {
    const { merchant, sales } = story;
    const { accounts, id } = merchant;
    const buyers = new Map(
      sales.orders.flatMap(({ number, batches }) =>
        batches.has("T1") ? [[number, batches.get("T1")!]] : [],
      ),
    );
    await merchant.call("batchHold", { ids: [id.T1], reason: "Recall" });
    accounts.lots.get("T1")!.isHeld = true;
    const { batch } = await merchant.read(
      `query ($id: ID!) { batch(id: $id) { shipments(first: 250) { edges { node { shippedQuantity order { orderNumber } } } } } }`,
      { id: id.T1 },
    );
    const shipped = nodes(batch.shipments).map(({ order, shippedQuantity }) => [
      order.orderNumber,
      shippedQuantity,
    ]);
    assert.deepEqual(new Map(shipped as any), buyers, "who got the batch");
    const left = accounts.piles.filter((pile) => pile.batch === "T1" && pile.units > 0);
    assert.ok(left.length > 0, "nothing is left of the batch");
    await merchant.call("stockAdjust", {
      lines: left.map(({ product, place, units }) => ({
        productId: id[product],
        place: merchant.place(place),
        delta: -units,
        batchId: id.T1,
      })),
      comment: "Recall",
    });
    for (const { product, place, units, batch: name } of left.map((pile) => ({ ...pile }))) {
      accounts.worthOf(product).take(units);
      accounts.bring(product, place, -units, name);
    }
  },

  /** A customer calls an order off before it is sent. */
  async 10(story) {
    const [order] = await story.sales.take("Shop", [
      [
        ["lamp", 2],
        ["chair", 1],
      ],
    ]);
    await story.sales.plan(order!);
    await story.sales.cancel(order!);
  },

  /** A customer wants less, after a part has been sent; and nothing more is sent. */
  async 9(story) {
    const [order] = await story.sales.take("Market place", [[["cable", 6]]]);
    await story.sales.plan(order!);
    await story.sales.ship(order!, order!.assignments[0]!, () => 2);
    const [line] = order!.lines;
    for (const { id } of order!.assignments) await story.merchant.call("fulfillmentOrderCancel", { id });
    await story.merchant.call("ordersUpsert", {
      orders: [{ id: order!.id, lineItems: [{ id: line!.id, quantity: 2 }] }],
    });
    for (const { lines, warehouse } of order!.assignments)
      for (const one of lines) {
        story.merchant.accounts.reserve("cable", warehouse, -one.open);
        one.open = 0;
      }
    line!.quantity = 2;
  },

  /** A third of the value of the chairs is gone. */
  async 6({ merchant }) {
    await merchant.endDay();
    const pool = merchant.accounts.worthOf("chair");
    const amount = pool.value / 3n;
    if (amount === 0n) return;
    const input = {
      productId: merchant.id.chair,
      amount: shown(amount),
      reason: "Scratches",
      day: dayBefore(6),
    };
    await merchant.call("stockWriteDown", input);
    pool.lower(amount);
  },

  /** Lamps come from overseas, and the freight is billed later. */
  async 5({ merchant, purchases }) {
    const purchase = await purchases.order("pacific", "USD", [["lamp", 12, "28.40"]]);
    const receipt = await purchases.receive(purchase, [{ line: 0, units: 12, place: "A-2" }]);
    await merchant.endDay();
    await purchases.addCosts(receipt, "lamp", 12, "17.35", dayBefore(5));
  },
};

/** Closes the books of the month. */
export async function closeMonth(story: Story): Promise<void> {
  const { accounts } = story.merchant;
  await closeReport(
    story.merchant,
    1,
    new Map(products.map((name) => [name, shown(accounts.worthOf(name).value)])),
  );
}

async function closeReport(
  merchant: Story["merchant"],
  daysAgo: number,
  expected: Map<string, string>,
): Promise<void> {
  const { stockValuationReport: draft } = await merchant.call(
    "stockValuationReportCreate",
    { referenceDate: dayBefore(daysAgo) },
    "stockValuationReport { id }",
  );
  const { stockValuationReport } = await merchant.call(
    "stockValuationReportClose",
    { id: draft.id },
    "stockValuationReport { value lines(first: 250) { edges { node { productNumber value } } } }",
  );
  const reported = nodes(stockValuationReport.lines);
  for (const [name, value] of expected) {
    const lines = reported.filter(({ productNumber }) => productNumber === name);
    const total = lines.reduce((sum, line) => sum + micro(line.value.toFixed(2)), 0n);
    const away = micro(value) - total;
    // Each line is in cents, so that all lines add up to the total of the report
    const most = 10_000n * BigInt(Math.max(lines.length, 1));
    assert.ok(away < most && away > -most, `${name} is reported as ${total}, not ${value}`);
  }
  const all = [...expected.values()].reduce((total, value) => total + micro(value), 0n);
  assert.equal(
    micro(stockValuationReport.value.toFixed(2)),
    divide(all, 10_000n) * 10_000n,
    "the value of all",
  );
}

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gid } from "../lib/ids.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { Books, isOpen, readFacts, sum } from "../model/facts.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import type { TestProcess } from "../lib/service.ts";

// Two kinds of work at once, on the same product and the same documents, by two processes: for each pair of kinds
const rounds = Number(process.env.PAIR_ROUNDS ?? 0);
const random = new Random(seed);
let shop: ShippingShop;
let processes: TestProcess[];
let approver: string;
before(async () => {
  shop = await openShippingShop({ poolSize: 8 });
  processes = [shop, await shop.another({ poolSize: 8 })];
  approver = await shop.token({ read: "all", write: "all" });
});
after(() => shop.close());

const expectable = new Set(
  `INSUFFICIENT_STOCK INVALID_STATE_TRANSITION ON_HOLD OVER_FULFILLMENT EXCEEDS_SHIPPED NOT_EDITABLE NOT_FOUND INVALID
   QUANTITY_CHANGED NOT_COUNTED RETURN_EXISTS BATCH_REQUIRED BATCH_MISMATCH IN_OTHER_STOCKTAKE`.split(/\s+/),
);
/** Calls again while the answer allows it. No answer may be a deadlock that reached the client, or a fault. */
async function send(name: string, input: object, token?: string): Promise<any> {
  for (let attempt = 1; ; attempt++) {
    const process = processes[random.below(2)]!;
    const { body, codes, text } = await shop.tryMutate(name, input, {
      process,
      select: "__typename",
      ...(token && { token }),
    });
    if (codes.length === 0) {
      for (const { code } of body.data[name].userErrors) assert.ok(expectable.has(code), `${name}: ${text}`);
      return body.data[name];
    }
    const mayRepeat = body.errors.every(
      ({ extensions }: any) =>
        extensions.retryable && /CONFLICT_RETRY|SERVICE_UNAVAILABLE/.test(extensions.code),
    );
    assert.ok(mayRepeat && attempt < 10, `${name}: ${text} ${JSON.stringify(shop.log.at(-1)?.err)}`);
  }
}

/** What is there to work on: newest rows, by their global ids. */
async function newest(table: string, type: string, where: string): Promise<string[]> {
  const rows = await shop.sql(`select id from erp.${table} where ${where} order by id desc limit 4`);
  return rows.map(({ id }) => gid(type, id));
}
const product = () => shop.id.nail!;
const place = (name: string) => ({ [name.includes("-") ? "binLocationId" : "warehouseId"]: shop.id[name] });
const anyPlace = () => place(random.oneOf(["A-1", "A-2", "hall", "B-1"]));
const openOrders = () => newest("sales_order", "Order", "state in ('open', 'in_progress')");
const each = <T>(list: T[], work: (one: T) => Promise<unknown>) => Promise.all(list.map(work));

const kinds: Record<string, () => Promise<unknown>> = {
  async reserve() {
    const lines = await newest("sales_order_line_item", "OrderLineItem", "shipped_quantity < quantity");
    const line = () => ({ productId: product(), place: anyPlace(), quantity: 1 + random.below(3) });
    await each([...lines.slice(0, 2), null, null], (orderLineItemId) =>
      send("stockReserve", { lines: [{ ...line(), ...(orderLineItemId && { orderLineItemId }) }, line()] }),
    );
  },
  ship: async () =>
    each((await openOrders()).slice(0, 3), (orderId) => send("orderShipmentComplete", { orderId })),
  async divide() {
    const [one, ...others] = await newest("fulfillment_order", "FulfillmentOrder", "state = 'Open'");
    const lines = await newest(
      "fulfillment_order_line_item",
      "FulfillmentOrderLineItem",
      "quantity > fulfilled_quantity",
    );
    if (one)
      await send("fulfillmentOrderSplit", {
        id: one,
        lines: [{ fulfillmentOrderLineItemId: lines[0], quantity: 1 }],
      });
    await each(others, (id) =>
      send("fulfillmentOrderMove", { id, ...(random.below(2) && { warehouseId: shop.id.shed }) }),
    );
  },
  async takeBack() {
    const rows = await shop.sql(
      `select id, order_id from erp.sales_order_line_item where shipped_quantity > returned_quantity order by id desc limit 2`,
    );
    await each(rows, ({ id, order_id }) =>
      send("returnOrderCreate", {
        orderId: gid("Order", order_id),
        isApproved: true,
        lineItems: [{ orderLineItemId: gid("OrderLineItem", id), quantity: 1 }],
      }),
    );
    const returnLines = await newest(
      "return_order_line_item",
      "ReturnOrderLineItem",
      "received_quantity < quantity",
    );
    await each(returnLines, (returnOrderLineItemId) =>
      send("goodsReceiptCreate", {
        type: "Customer",
        warehouseId: shop.id.hall,
        lineItems: [{ productId: product(), quantity: 1, returnOrderLineItemId }],
      }),
    );
    await each(await newest("goods_receipt", "GoodsReceipt", "state = 'created'"), (id) =>
      send("goodsReceiptApprove", { id }),
    );
    await each(await newest("goods_receipt", "GoodsReceipt", "state = 'approved'"), (id) =>
      send("goodsReceiptComplete", { id }),
    );
  },
  async approve() {
    for (const id of await newest("stocktake", "Stocktake", "state = 'review'"))
      await send("stocktakeApprove", { id }, approver);
  },
  setState: () =>
    each(["quality_control", "sellable", "damaged", "sellable"], (stockState) =>
      send("binLocationUpdate", { id: shop.id[random.oneOf(["A-1", "B-1"])], stockState }),
    ),
  hold: () => each([0, 1, 2], (n) => send(n % 2 ? "batchHold" : "batchRelease", { ids: [shop.id.N1] })),
  async cancel() {
    await each((await openOrders()).slice(1), (id) => send("orderCancel", { id }));
    await each(await newest("sales_order", "Order", "state in ('cancelled', 'completed')"), (id) =>
      send("orderReopen", { id }),
    );
  },
  transfer: () =>
    each([1, 2, 3, 4], (quantity) =>
      send("stockTransfer", {
        lines: [{ productId: product(), source: anyPlace(), destination: place("C-1"), quantity }],
      }),
    ),
  close: () =>
    each([false, true, false, true], (isStockAvailableForSale) =>
      send("warehouseUpdate", { id: shop.id[random.oneOf(["hall", "shed"])], isStockAvailableForSale }),
    ),
};

/** Gives the two something to work on: stock, orders, reservations, fulfillment orders, shipments and a counted stocktake. */
async function prepare(): Promise<void> {
  for (const name of ["A-1", "A-2", "hall", "B-1"])
    await send("stockAdjust", { lines: [{ productId: product(), place: place(name), delta: 6 }] });
  await send("stockAdjust", {
    lines: [{ productId: product(), place: place("A-1"), batchId: shop.id.N1, delta: 3 }],
  });
  const lineItem = (n: number) => ({
    productId: product(),
    quantity: 2 + n,
    label: "x",
    identifier: `${n}`,
    unitPrice: 1,
  });
  const orders = [0, 1, 2, 3].map((n) => ({
    orderNumber: `P-${random.next()}`,
    currencyId: shop.id.EUR,
    lineItems: [lineItem(n), lineItem(n + 1)],
  }));
  await send("ordersUpsert", { orders });
  const [first, second, third] = await openOrders();
  await send("fulfillmentOrderCreate", { orderId: first });
  await send("fulfillmentOrderCreate", { orderId: second, warehouseId: shop.id.hall });
  await send("orderShipmentComplete", { orderId: third });
  for (const id of await newest("stocktake", "Stocktake", "state not in ('approved', 'cancelled')"))
    await send("stocktakeCancel", { id }, approver);
  await send("stocktakeCreate", { warehouseId: shop.id.hall, productIds: [product()] });
  const counts =
    await shop.sql(`select c.*, s.id as sheet from erp.stocktake_count c join erp.stocktake_sheet s on s.id = c.sheet_id
    join erp.stocktake t on t.id = s.stocktake_id where t.state in ('open', 'counting') and c.quantity is null`);
  const lines = counts.map(({ bin_location_id: bin, batch_id: batch }) => ({
    place: bin ? { binLocationId: gid("BinLocation", bin) } : place("hall"),
    productId: product(),
    batchId: batch && gid("Batch", batch),
    quantity: 5 + random.below(3),
  }));
  if (lines.length > 0)
    await send("stocktakeSheetSubmit", {
      sheetId: gid("StocktakeSheet", counts[0].sheet),
      counterName: "Ann",
      lines,
      isComplete: true,
    });
}

/** No unit of a line is promised twice, and all figures are those of a plain count. */
async function check(pair: string): Promise<void> {
  const books = new Books(await readFacts(shop.owner));
  const expected = books.expected();
  for (const { what, figures } of books.facts.stored)
    assert.equal(figures, expected.get(what), `${pair}: ${what}`);
  for (const line of books.facts.lines) {
    const reserved = sum(
      books.facts.reservations.filter((one) => one.line === line.id),
      (one) => one.open,
    );
    const assigned = sum(
      books.facts.assigned.filter((one) => one.line === line.id && isOpen(books.row(one.owner))),
      (one) => one.quantity - one.fulfilled,
    );
    const isWanted = ["open", "in_progress"].includes(books.row(line.order).state);
    const open = isWanted ? line.quantity - line.shipped : 0;
    assert.ok(
      reserved + assigned <= open,
      `${pair}: ${reserved} reserved and ${assigned} assigned of ${open}`,
    );
  }
}

const names = Object.keys(kinds);
const pairs = names.flatMap((one, n) => names.slice(n).map((other) => [one, other] as const));
/** Some pairs, or all of them several times. */
const chosen =
  rounds > 0
    ? Array.from({ length: rounds }, () => pairs).flat()
    : pairs.filter((_, n) => n % 9 === seed % 9);

test(`${chosen.length} pairs of kinds of work at once (seed ${seed})`, async () => {
  for (const [one, other] of chosen) {
    await prepare();
    const ends = await Promise.allSettled([one, other, one, other].map((kind) => kinds[kind]!()));
    for (const end of ends)
      if (end.status === "rejected")
        throw new Error(`${one} and ${other}: ${end.reason}`, { cause: end.reason });
    await check(`${one} and ${other}`);
  }
  await assertLedgerIsRight(shop);
  const { rows } = await shop.owner.query(
    "select deadlocks::int as count from pg_stat_database where datname = current_database()",
  );
  assert.equal(rows[0].count, 0, "deadlocks");
});

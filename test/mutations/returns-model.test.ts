import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Random } from "../lib/random.ts";
import type { PutAway, ReturnedOrder, ReturnShop } from "../lib/return-shop.ts";
import { figures, openReturnShop } from "../lib/return-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

// Random returns, beside a model in plain arithmetic: units and cents of every line, the states of returns and
// orders, and the stock. Several returns of a line are made at once.
const seed = Number(process.env.SEED ?? Date.now() % 100_000);
const steps = Number(process.env.RETURN_STEPS ?? 40);

/** A line of an order in the model. Amounts are in cents. */
interface Line {
  id: string;
  units: number;
  paid: bigint;
  returns: Return[];
}
/** A return of one line, in the model. */
interface Return {
  id: string;
  line: Line;
  state: string;
  quantity: number;
  restocked: number;
  quarantined: number;
  disposed: number;
  refunded: number;
  refundedCents: bigint;
}
interface Order {
  id: string;
  lines: Line[];
}

const received = (r: Return) => r.restocked + r.quarantined + r.disposed;
const isOver = ({ state }: Return) => ["closed", "refused", "cancelled"].includes(state);
const claimed = (r: Return) => (isOver(r) ? received(r) : Math.max(r.quantity, received(r)));
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
const free = (line: Line) => line.units - sum(line.returns.map(claimed));
const min = (a: bigint, b: bigint) => (a < b ? a : b);
/** The cents of the first units of a line, half a cent up. */
const share = ({ paid, units }: Line, first: number) =>
  (2n * paid * BigInt(first) + BigInt(units)) / (2n * BigInt(units));

/** Divides cents by weights, by largest remainder. */
function divide(total: bigint, weights: bigint[]): bigint[] {
  const all = weights.reduce((a, b) => a + b, 0n);
  const parts = weights.map((weight, n) => ({
    n,
    cents: (total * weight) / all,
    lost: (total * weight) % all,
  }));
  let rest = total - parts.reduce((a, { cents }) => a + cents, 0n);
  for (const part of parts.toSorted((a, b) => (a.lost === b.lost ? a.n - b.n : a.lost > b.lost ? -1 : 1)))
    if (rest-- > 0n) part.cents += 1n;
  return parts.map(({ cents }) => cents);
}

function stateOf(order: Order): string {
  const back = sum(order.lines.flatMap((line) => line.returns.map(received)));
  if (back === 0) return "shipped";
  return back === sum(order.lines.map(({ units }) => units)) ? "returned" : "returned_partially";
}

describe(`random returns, seed ${seed}`, () => {
  let shop: ReturnShop;
  const random = new Random(seed);
  const whole = (least: number, most: number) => least + random.below(most - least + 1);
  const orders: Order[] = [];
  before(async () => {
    shop = await openReturnShop({ poolSize: 5 });
    await shop.store("hammer", "A-1", 10_000);
  });
  after(() => shop.close());

  async function order(): Promise<void> {
    const lines = Array.from({ length: whole(1, 3) }, () => ({
      product: "hammer",
      quantity: whole(1, 6),
      price: whole(1, 2_000) / 100,
      taxRate: 19,
    }));
    const totals = lines.map(({ quantity, price }) => BigInt(Math.round(quantity * price * 100)));
    const total = totals.reduce((a, b) => a + b, 0n);
    const discount = whole(0, 1) ? total / 7n : 0n;
    const promotion = { type: "promotion", quantity: 1, price: -Number(discount) / 100 };
    const made = await shop.shipped(discount ? [...lines, promotion] : lines);
    const paid = divide(total - discount, totals);
    orders.push({
      id: made.id,
      lines: lines.map(({ quantity }, n) => ({
        id: made.lines[n]!,
        units: quantity,
        paid: paid[n]!,
        returns: [],
      })),
    });
  }

  async function request(line: Line): Promise<void> {
    const wanted = Array.from({ length: whole(1, 3) }, () => whole(1, line.units));
    const available = free(line);
    const results = await Promise.all(
      wanted.map((quantity) =>
        shop.mutate(
          "returnOrderCreate",
          { lineItems: [{ orderLineItemId: line.id, quantity }] },
          { select: "returnOrder { id }" },
        ),
      ),
    );
    for (const [n, { returnOrder, userErrors }] of results.entries()) {
      if (!returnOrder) assert.equal(userErrors[0].code, "EXCEEDS_SHIPPED");
      else
        line.returns.push({
          ...{ id: returnOrder.id, line, state: "requested", quantity: wanted[n]! },
          ...{ restocked: 0, quarantined: 0, disposed: 0, refunded: 0, refundedCents: 0n },
        });
    }
    const left = free(line);
    assert.ok(left >= 0, "never more than was shipped");
    for (const [n, { returnOrder }] of results.entries())
      if (!returnOrder) assert.ok(wanted[n]! > left, `${wanted[n]} of ${available}, ${left} left`);
  }

  async function receive(back: Return): Promise<void> {
    const now = await shop.returned(back.id);
    const most = free(back.line) + claimed(back) - received(back);
    if (!["requested", "approved", "received_partially", "received"].includes(now.state) || most < 1) return;
    const parts = [0, 0, 0];
    for (let unit = whole(1, most); unit > 0; unit--) parts[whole(0, 2)]! += 1;
    const [restocked, quarantined, disposed] = parts as [number, number, number];
    const putAway: PutAway[] = [
      [0, "A-2", restocked, "restock"],
      [0, "C-1", quarantined, "quarantine"],
      [0, null, disposed, "dispose"],
    ];
    await shop.receive(
      [{ line: now.lines[0]!, quantity: sum(parts) }],
      putAway.filter(([, , quantity]) => quantity > 0),
    );
    back.restocked += restocked;
    back.quarantined += quarantined;
    back.disposed += disposed;
    back.state = received(back) >= back.quantity ? "received" : "received_partially";
  }

  async function step(name: string, back: Return): Promise<void> {
    const before = back.state;
    const allowed =
      name === "Approve"
        ? before === "requested"
        : name === "Close"
          ? ["approved", "received_partially", "received"].includes(before)
          : ["requested", "approved"].includes(before);
    const input = { id: back.id, ...(name === "Refuse" && { refusalReason: "No." }) };
    const { userErrors } = await shop.mutate(`returnOrder${name}`, input);
    assert.equal(userErrors[0]?.code, allowed ? undefined : "INVALID_STATE_TRANSITION", `${name} ${before}`);
    const states: Record<string, string> = {
      Approve: "approved",
      Close: "closed",
      Refuse: "refused",
      Cancel: "cancelled",
    };
    if (allowed) back.state = states[name]!;
  }

  async function refund(back: Return): Promise<void> {
    const units = received(back) - back.refunded;
    const { line } = back;
    if (units < 1 || ["refused", "cancelled", "requested"].includes(back.state)) return;
    const before = sum(line.returns.map((r) => r.refunded));
    const spent = line.returns.reduce((a, r) => a + r.refundedCents, 0n);
    const upto = before + units;
    const cents = min(
      line.paid - spent,
      upto === line.units ? line.paid - spent : share(line, upto) - share(line, before),
    );
    const { userErrors } = await shop.mutate("returnOrderRefund", { id: back.id });
    // Less than half a cent
    if (cents === 0n) return assert.equal(userErrors[0].code, "OUT_OF_RANGE");
    assert.deepEqual(userErrors, []);
    back.refunded += units;
    back.refundedCents += cents;
  }

  function assertSame(back: Return, now: ReturnedOrder): void {
    const missing = back.state === "closed" ? Math.max(back.quantity - received(back), 0) : 0;
    assert.deepEqual(
      [now.state, figures(now), now.lines[0]!.refundedQuantity, BigInt(Math.round(now.refundAmount * 100))],
      [
        back.state,
        [[back.quantity, received(back), back.restocked, back.quarantined, back.disposed, missing]],
        back.refunded,
        back.refundedCents,
      ],
    );
  }

  it(`are as the model has them, after ${steps} steps`, async () => {
    await order();
    for (let n = 0; n < steps; n++) {
      const { lines } = random.oneOf(orders);
      const line = random.oneOf(lines);
      const back = line.returns.length ? random.oneOf(line.returns) : undefined;
      const kind = whole(0, 9);
      if (kind === 0) await order();
      else if (kind < 4 || !back) await request(line);
      else if (kind < 7) await receive(back);
      else if (kind === 7) await refund(back);
      else await step(random.oneOf(["Approve", "Approve", "Close", "Refuse", "Cancel"]), back);
      if (back) assertSame(back, await shop.returned(back.id));
    }
    for (const { lines } of orders)
      for (const line of lines)
        for (const back of line.returns) assertSame(back, await shop.returned(back.id));
    for (const made of orders) assert.equal((await shop.stateOf(made as any)).deliveryState, stateOf(made));
    const all = orders.flatMap(({ lines }) => lines);
    const backs = all.flatMap(({ returns }) => returns);
    const stocks = await Promise.all(["A-1", "A-2", "C-1"].map((bin) => shop.stockAt("hammer", bin)));
    const kept = sum(backs.map(({ restocked, quarantined }) => restocked + quarantined));
    assert.equal(sum(stocks), 10_000 - sum(all.map(({ units }) => units)) + kept);
    await assertLedgerIsRight(shop);
  });
});

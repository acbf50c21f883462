import assert from "node:assert/strict";
import { uuidOf } from "../lib/ids.ts";
import type { Books, Row, Step } from "./facts.ts";
import { isOpen, sum } from "./facts.ts";

/** Fails when something is wrong after a step, or when the step did what it must not. */
export function checkStep(before: Books, after: Books, step: Step): void {
  checkFigures(after);
  checkStates(after);
  checkReservations(before, after, step);
  if (step.codes.length > 0)
    assert.deepEqual(
      { ...after.facts, clock: [] },
      { ...before.facts, clock: [] },
      `${step.name} was refused, and something changed`,
    );
  else checkReturns(before, after, step);
  if (step.codes.length === 0 && step.name === "fulfillmentOrderCreate" && !step.input.warehouseId)
    checkPlan(before, after, step);
  if (step.codes.length === 0 && step.name === "stocktakeApprove") checkApproval(before, after);
  if (step.name === "stockReserve") checkPromise(before, after, step);
  if (step.name.startsWith("fulfillmentOrderMove") || step.name.startsWith("fulfillmentOrderSplit"))
    assert.deepEqual(openUnits(after), openUnits(before), "units of a fulfillment order were lost or made");
}

function checkFigures(books: Books): void {
  const expected = books.expected();
  for (const { what, figures } of books.facts.stored)
    assert.equal(`${what}: ${figures}`, `${what}: ${expected.get(what)}`);
  const stored = new Set(books.facts.stored.map(({ what }) => what));
  for (const [what, figures] of expected)
    if (!stored.has(what)) assert.match(figures, /^[^1-9]*$/, `${what} is not stored`);
  for (const pile of books.piles)
    assert.ok(pile.units > 0 || pile.place.startsWith("special"), `${pile.units} units in ${pile.place}`);
}

/** The states of orders and of returns, and the units of their lines. */
function checkStates(books: Books): void {
  const { facts } = books;
  for (const order of facts.orders) {
    const lines = facts.lines.filter((line) => line.order === order.id);
    const [ordered, shipped] = [sum(lines, (line) => line.quantity), sum(lines, (line) => line.shipped)];
    const received = sum(lines, (line) =>
      sum(
        facts.returnLines.filter((one) => one.line === line.id),
        receivedOf,
      ),
    );
    const isAll = shipped >= ordered && ordered > 0;
    const delivery =
      received > 0
        ? isAll && received >= shipped
          ? "returned"
          : "returned_partially"
        : shipped === 0
          ? "open"
          : isAll
            ? "shipped"
            : "shipped_partially";
    if (order.state === "cancelled")
      assert.equal(order.delivery, "cancelled", `order ${order.id} is cancelled`);
    // A reopened order waits for more, also if all of it was shipped
    else if (order.state === "in_progress" && isAll && received === 0)
      assert.equal(order.delivery, "shipped_partially");
    else if (ordered > 0)
      assert.equal(
        order.delivery,
        delivery,
        `order ${order.id}: ${shipped} of ${ordered} shipped, ${received} back`,
      );
    for (const line of lines) {
      const its = facts.assigned.filter((one) => one.line === line.id);
      assert.equal(
        line.shipped,
        sum(its, (one) => one.fulfilled),
        "shipped units of a line",
      );
      assert.ok(line.shipped <= line.quantity, "more shipped than ordered");
      const claimed = sum(
        facts.returnLines.filter((one) => one.line === line.id),
        (one) => claimedBy(one, books),
      );
      assert.equal(line.returned, claimed, `returned units of line ${line.id}`);
      const open = sum(
        its.filter((one) => isOpen(books.row(one.owner))),
        (one) => one.quantity - one.fulfilled,
      );
      if (["open", "in_progress"].includes(order.state))
        assert.ok(
          open <= line.quantity - line.shipped,
          `${open} units assigned, ${line.quantity - line.shipped} open`,
        );
    }
  }
  for (const one of facts.assigned) {
    const fulfilled = facts.shipped.filter((part) => part.assigned === one.id && part.state === "Fulfilled");
    assert.equal(
      one.fulfilled,
      sum(fulfilled, (part) => part.quantity),
      "fulfilled units",
    );
  }
}
const receivedOf = (line: Row): number => Number(line.figures.split(" ")[0]);
const claimedBy = (line: Row, books: Books): number =>
  ["refused", "cancelled", "closed"].includes(books.row(line.return).state)
    ? receivedOf(line)
    : Math.max(line.quantity, receivedOf(line));

/** Open units by order line: in fulfillment orders, and beside them. */
function openUnits(books: Books): Record<string, number> {
  const open = books.facts.assigned.filter(
    (one) => isOpen(books.row(one.owner)) && one.quantity > one.fulfilled,
  );
  const units: Record<string, number> = {};
  for (const { line, quantity, fulfilled } of open) units[line] = (units[line] ?? 0) + quantity - fulfilled;
  return units;
}

/** No unit of an order line is promised twice, and what nobody touched stays promised. */
function checkReservations(before: Books, after: Books, step: Step): void {
  for (const line of after.facts.lines) {
    const reserved = sum(
      after.facts.reservations.filter((one) => one.line === line.id),
      (one) => one.open,
    );
    assert.ok(
      reserved <= after.uncovered(line),
      `${reserved} units reserved for a line with ${after.uncovered(line)}`,
    );
  }
  const isTold = ["stockRelease", "stockReserve", "sql"].includes(step.name);
  for (const old of before.facts.reservations.filter(({ open }) => open > 0)) {
    const now = after.row(old.id);
    if (!now) assert.equal(after.row(old.product), undefined, `reservation ${old.id} is gone`);
    if (!now || isTold || now.open === old.open) continue;
    // Another product is wanted
    if (old.line !== null && after.row(old.line)?.product !== old.product) continue;
    assert.ok(old.line !== null && now.open < old.open, `${step.name} changed a reservation of no order`);
    const line = after.row(old.line);
    if (!line) continue;
    // Units of the line that found a place in fulfillment orders at the same warehouse, or anywhere if the line has no more
    const reserved = (books: Books) =>
      sum(
        books.facts.reservations.filter((one) => one.line === old.line),
        (one) => one.open,
      );
    const consumed = reserved(before) - reserved(after);
    const needed = Math.max(
      reserved(before) - after.uncovered(line),
      before.uncovered(before.row(line.id)) - after.uncovered(line),
    );
    assert.ok(
      consumed <= needed,
      `${step.name} consumed ${consumed} reserved units of a line, and ${needed} found a place`,
    );
  }
}

/** Returned units are where the return says, and what an order holds is what it shipped less what came back. */
function checkReturns(before: Books, after: Books, step: Step): void {
  for (const pile of after.piles)
    assert.ok(!pile.place.startsWith("return_order"), "units are left in a return");
  for (const line of after.facts.returnLines.filter(({ product }) => product !== null)) {
    const old = before.row(line.id);
    const figures: number[] = old ? old.figures.split(" ").map(Number) : [0, 0, 0, 0, 0];
    for (const part of after.facts.receiptLines.filter((one) => one.returnLine === line.id)) {
      const [was, is] = [before.row(part.receipt)?.state, after.row(part.receipt).state];
      if (was !== is && is === "approved") figures[0]! += part.quantity;
      if (was === is || is !== "completed") continue;
      for (const { from, to, quantity, batches } of after.facts.movements.slice(
        before.facts.movements.length,
      )) {
        if (from !== `goods_receipt:${part.receipt}`) continue;
        const bin = to.startsWith("bin") ? to.slice(-36) : null;
        const isSellable = before.isSellable({ bin, batch: Object.keys(batches ?? {})[0] ?? "-" });
        figures[to.startsWith("special") ? 3 : isSellable ? 1 : 2]! += quantity;
      }
    }
    for (const part of before.facts.receiptLines.filter(
      (one) => one.returnLine === line.id && !after.row(one.receipt),
    ))
      if (before.row(part.receipt).state !== "created") figures[0]! -= part.quantity;
    figures[4] = after.row(line.return).state === "closed" ? Math.max(0, line.quantity - figures[0]!) : 0;
    assert.equal(
      line.figures,
      figures.join(" "),
      `${step.name}: received, restocked, quarantined, disposed, missing`,
    );
  }
  for (const { id } of after.facts.orders)
    for (const product of after.facts.products) {
      const lines = after.facts.lines.filter((line) => line.order === id && line.product === product.id);
      const back = after.facts.returnLines.filter((one) => lines.some((line) => line.id === one.line));
      const held = sum(lines, (line) => line.shipped) - sum(back, receivedOf);
      assert.equal(
        after.unitsAt(product.id, `order:${id}`),
        held,
        `units of ${product.name} that the customer has`,
      );
    }
}

/** Units went first where they were reserved; no location but the default one got more than it had. */
function checkPlan(before: Books, after: Books, { input }: Step): void {
  const order = uuidOf(input.orderId);
  const made = after.facts.assigned.filter(
    (one) => after.row(one.owner).order === order && isOpen(after.row(one.owner)),
  );
  const unitsOf = (line: string, warehouse: string, rows: Row[], books: Books) =>
    sum(
      rows.filter(
        (one) =>
          one.line === line && books.row(one.owner).warehouse === warehouse && isOpen(books.row(one.owner)),
      ),
      (one) => one.quantity - one.fulfilled,
    );
  for (const { id: warehouse, isDefault } of before.facts.warehouses) {
    const more = new Map<string, number>();
    for (const line of before.facts.lines.filter((one) => one.order === order && one.product)) {
      const got =
        unitsOf(line.id, warehouse, made, after) - unitsOf(line.id, warehouse, before.facts.assigned, before);
      const kept = sum(
        before
          .openReservations(line.product, warehouse)
          .filter((one) => one.line === line.id && !one.isOverdue),
        (one) => one.open,
      );
      assert.ok(got >= kept, `${got} units were assigned where ${kept} are reserved`);
      more.set(line.product, (more.get(line.product) ?? 0) + got - kept);
    }
    for (const [product, units] of more)
      assert.ok(
        isDefault || units <= Math.max(0, before.ofWarehouse(product, warehouse).available),
        `${units} units more than there are were assigned`,
      );
  }
  for (const line of after.facts.lines.filter((one) => one.order === order))
    assert.equal(after.uncovered(line), 0, "a line was left out");
}

/** What is booked of a stocktake is what people counted less what was there, whatever has moved since. */
function checkApproval(before: Books, after: Books): void {
  const piles = new Map<string, number>();
  for (const line of after.facts.stocktakeLines) {
    if (line.state !== "approved" || before.row(line.id).state === "approved" || line.product === null)
      continue;
    if (line.booked !== null) assert.equal(line.booked, line.counted - line.expected, "booked difference");
    const place = line.bin ? `bin_location:${line.bin}` : `warehouse:${line.warehouse}`;
    const change =
      (line.booked ?? 0) -
      after.unitsAt(line.product, place, line.batch ?? "-") +
      before.unitsAt(line.product, place, line.batch ?? "-");
    piles.set(`${line.product} ${place} ${line.batch}`, change);
  }
  for (const [pile, change] of piles) assert.equal(change, 0, `booked of ${pile}`);
}

/** What was promised was there, and what was refused was not. */
function checkPromise(before: Books, after: Books, { input, codes }: Step): void {
  const wanted = input.lines.map((line: Row) => ({
    product: uuidOf(line.productId),
    batch: line.batchId ? uuidOf(line.batchId) : null,
    bin: line.place.binLocationId ? uuidOf(line.place.binLocationId) : null,
    warehouse: line.place.warehouseId
      ? uuidOf(line.place.warehouseId)
      : before.row(uuidOf(line.place.binLocationId)).warehouse,
    line: line.orderLineItemId ? uuidOf(line.orderLineItemId) : null,
    open: line.quantity,
  }));
  const overdue = before.facts.reservations.filter(
    ({ isOverdue, open, product }) =>
      isOverdue && open > 0 && wanted.some((one: Row) => one.product === product),
  );
  if (codes.length === 0)
    for (const { id } of overdue)
      assert.equal(after.row(id).state, "expired", "an overdue reservation of the product is kept");
  let isShort = false;
  for (const product of new Set<string>(wanted.map((one: Row) => one.product))) {
    if (before.row(product).allowsBackorders) continue;
    const its = wanted.filter((one: Row) => one.product === product);
    const free = sum(
      overdue.filter((one) => one.product === product && one.line === null),
      (one) => one.open,
    );
    const loose = sum(
      its.filter((one: Row) => one.line === null),
      (one: Row) => one.open,
    );
    const all = before.ofProduct(product);
    isShort ||= loose > 0 && loose > availableWith(all.available, all, free);
    for (const warehouse of new Set<string>(its.map((one: Row) => one.warehouse))) {
      const here = its.filter((one: Row) => one.warehouse === warehouse);
      const freed = sum(
        overdue.filter((one) => one.product === product && one.warehouse === warehouse),
        (one) => one.open,
      );
      const there = before.ofWarehouse(product, warehouse);
      isShort ||= sum(here, (one: Row) => one.open) > availableWith(there.available, there, freed);
      const kept = before.openReservations(product, warehouse).filter((one) => !overdue.includes(one));
      isShort ||=
        unmet(before, product, warehouse, [...kept, ...here]) > unmet(before, product, warehouse, kept);
    }
  }
  const isRefused = codes.includes("INSUFFICIENT_STOCK");
  if (codes.length === 0 || isRefused)
    assert.equal(
      isRefused,
      isShort,
      isShort ? "more is promised than there is" : "what is there was not promised",
    );
}
/** Available units once some reserved ones have become free; safety stock is kept back before. */
function availableWith(available: number, parts: Row, freed: number): number {
  if (freed === 0) return available;
  const left = (parts.there ?? parts.physical) - (parts.held ?? parts.notForSale) - parts.reserved + freed;
  return left - Math.max(0, Math.min(left, parts.safety));
}

/** Units of reservations that can't be had at the same time where they are promised: an assignment by augmenting paths. */
function unmet(books: Books, product: string, warehouse: string, promises: Row[]): number {
  const piles = books.piles.filter(
    (pile) => pile.product === product && pile.warehouse === warehouse && books.isSellable(pile),
  );
  const units = piles.flatMap((pile) => Array.from({ length: pile.units }, () => pile));
  const taker: (Row | null)[] = units.map(() => null);
  const place = (promise: Row, seen: Set<number>): boolean =>
    units.some((pile, n) => {
      const fits =
        (!promise.bin || promise.bin === pile.bin) && (!promise.batch || promise.batch === pile.batch);
      if (!fits || seen.has(n)) return false;
      seen.add(n);
      const other = taker[n];
      if (other && !place(other, seen)) return false;
      taker[n] = promise;
      return true;
    });
  return sum(promises, (promise) =>
    sum(Array.from({ length: promise.open }), () => (place(promise, new Set()) ? 0 : 1)),
  );
}

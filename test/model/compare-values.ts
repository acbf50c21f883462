import assert from "node:assert/strict";
import type { Random } from "../lib/random.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import type { Business } from "./business.ts";
import type { Rows } from "./merchant.ts";
import { now, reportedValueOf, valueOf } from "./model.ts";
import type { Valued } from "./model.ts";
import type { Micro } from "./money.ts";
import { scaled, shown } from "./money.ts";
import type { BusinessRecord, Method, Movement, Place } from "./record.ts";
import { isCounted } from "./record.ts";
import { sharesOf } from "./stock.ts";

const methods: Method[] = ["moving_average", "period_average", "fifo"];

/** An amount as Postgres writes it, which may have more zeros. */
const amount = (text: string | null) => (text === null ? null : shown(scaled(text, 6)));
const amountOf = (value: Micro | null) => (value === null ? null : shown(value));
const unitsAndAmount = (row: any) => [Number(row.quantity), amount(row.value)];

/** Compares pairs of keys and values, in any order. */
function assertSame(found: [string, unknown][], expected: [string, unknown][], what: string): void {
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected), what);
}

/** Values of all products, after some numbers of the ledger and at its end. */
export async function compareValues(
  business: Business,
  rows: Rows,
  random: Random,
  count: number,
): Promise<void> {
  const { sequence } = business;
  for (let n = 0; n <= count; n++) {
    const upto = n === count ? sequence : random.below(sequence + 1);
    for (const method of methods) await compareMethod(business, rows, method, upto);
  }
}

async function compareMethod(
  { record, products }: Business,
  rows: Rows,
  method: Method,
  upto: number,
): Promise<void> {
  const read = async (name: string): Promise<(product: string) => any[]> => {
    const found = await rows(`select * from valuation.${name}($1, $2)`, [method, upto]);
    return (product) => found.filter((row) => row.product_id === product);
  };
  const states = await read("states");
  const faults = await read("faults");
  const costs = await read("costs");
  const outside = await read("outside");
  const shares = await read("shares");
  const after = record.closings.findLast(({ sequence }) => sequence <= upto)?.sequence ?? 0;
  for (const { id } of products) {
    const what = `by ${method} up to ${upto} of product ${id}`;
    const valued = valueOf(record, id, method, upto);
    const [state] = states(id);
    if (state) assert.deepEqual(stateOf(state), expectedState(valued, method), `state ${what}`);
    else assert.deepEqual([valued.units, valued.value], [0, 0n], `no state ${what}`);
    const unvalued = faults(id).map((fault) => fault.stock_movement_id);
    assert.deepEqual(unvalued.sort(), [...valued.faults].sort(), `faults ${what}`);
    assertSame(
      costs(id).map((row) => [row.stock_movement_id, amount(row.value)]),
      [...valued.costs].map(([movement, value]) => [movement, shown(value)]),
      `costs ${what}`,
    );
    assertSame(
      outside(id).map((row) => [`${row.place_type}:${row.place}`, unitsAndAmount(row)]),
      expectedOutside(record, id, valued, after, upto, now),
      `outside ${what}`,
    );
    assertSame(
      shares(id).map((row) => [row.warehouse_id, unitsAndAmount(row)]),
      [...sharesOf(record, id, valued.value, upto)].map(([warehouse, { units, value }]) => [
        warehouse,
        [units, shown(value)],
      ]),
      `shares ${what}`,
    );
  }
}

const stateOf = (row: any) => ({
  quantity: Number(row.quantity),
  value: amount(row.value),
  lastUnitCost: amount(row.last_unit_cost),
  layers: row.layers?.map((layer: any) => [layer.quantity, amount(layer.value.toFixed(6))]) ?? null,
  landedExpense: amount(row.landed_expense),
  variance: amount(row.variance),
});

const expectedState = ({ units, layers, ...valued }: Valued, method: Method) => ({
  quantity: units,
  value: shown(valued.value),
  lastUnitCost: amountOf(valued.lastUnitCost),
  layers: method === "fifo" ? layers.map(([quantity, value]) => [quantity, shown(value)]) : null,
  landedExpense: shown(valued.landedExpense),
  variance: shown(valued.variance),
});

/**
 * What places outside hold whose content changed in a period.
 *
 * @param known how many periods had been closed when it was calculated: what was deleted before is no place
 */
function expectedOutside(
  { movements, deletedPlaces }: BusinessRecord,
  product: string,
  { outside }: Valued,
  after: number,
  upto: number,
  known: number,
): [Place, unknown][] {
  const isThere = (place: Place) => (deletedPlaces.get(place) ?? Infinity) > known;
  return movements
    .filter(
      ({ sequence, ...movement }) => movement.product === product && sequence > after && sequence <= upto,
    )
    .filter(({ from }) => isCounted(from) || isThere(from))
    .flatMap((movement) => Bookkeeping.outsideOf(movement))
    .filter(isThere)
    .map((place) => {
      const { units, value } = outside.get(place) ?? { units: 0, value: 0n };
      return [place, [units, shown(value)]];
    });
}

/** What closed reports store, whatever was deleted since. */
export async function compareReports({ record }: Business, rows: Rows): Promise<void> {
  for (const [nth, { id, method, sequence }] of record.closings.entries()) {
    const read = (table: string) => rows(`select * from valuation.${table} where report_id = $1`, [id]);
    const [report] = await rows("select method, sequence::integer from valuation.report where id = $1", [id]);
    assert.deepEqual(report, { method, sequence }, `report ${nth + 1}`);
    const costs = await read("report_cost");
    const outside = await read("report_outside");
    const warehouses = await read("report_warehouse");
    for (const row of await read("report_product")) {
      const what = `report ${nth + 1} of product ${row.product_id}`;
      const isOfProduct = ({ product_id }: any) => product_id === row.product_id;
      const valued = reportedValueOf(record, row.product_id, nth);
      assert.deepEqual([...valued.faults], [], `faults in ${what}`);
      assert.deepEqual(stateOf(row), expectedState(valued, method), what);
      assertSame(
        costs.filter(isOfProduct).map((cost) => [cost.stock_movement_id, amount(cost.value)]),
        [...valued.costs].map(([movement, value]) => [movement, shown(value)]),
        `costs in ${what}`,
      );
      const after = record.closings[nth - 1]?.sequence ?? 0;
      assertSame(
        outside.filter(isOfProduct).map((pool) => [`${pool.place_type}:${pool.place}`, unitsAndAmount(pool)]),
        expectedOutside(record, row.product_id, valued, after, sequence, nth),
        `outside in ${what}`,
      );
      assertSame(
        warehouses.filter(isOfProduct).map((share) => [share.warehouse_id, unitsAndAmount(share)]),
        [...sharesOf(record, row.product_id, valued.value, sequence)].map(([warehouse, { units, value }]) => [
          warehouse,
          [units, shown(value)],
        ]),
        `shares in ${what}`,
      );
    }
  }
}

/** The cost of goods of orders and fulfillments, in closed periods and the open one. */
export async function compareCosts(business: Business, rows: Rows): Promise<void> {
  const { record, products, sequence } = business;
  const method = record.methods.at(-1)?.method ?? "moving_average";
  const valued = new Map(products.map(({ id }) => [id, valueOf(record, id, method, sequence)]));
  const costs = new Map<string, Micro>();
  for (const { id } of products) {
    for (const nth of record.closings.keys())
      for (const [movement, value] of reportedValueOf(record, id, nth).costs) costs.set(movement, value);
    for (const [movement, value] of valued.get(id)!.costs) costs.set(movement, value);
  }
  const of = new Map(record.movements.map((movement) => [movement.id, movement]));
  const isKnown = (id: string) => valued.get(of.get(id)!.product)?.faults.size === 0;
  for (const [id, movements] of record.fulfillments) {
    const isGone = movements.some((movement) => record.deletedPlaces.has(of.get(movement)!.to));
    if (isGone || !movements.every(isKnown)) continue;
    const sum = movements.reduce((all, movement) => all - costs.get(movement)!, 0n);
    const [{ cost }] = await rows("select valuation.cost_of_fulfillment($1) as cost", [id]);
    assert.equal(amount(cost), shown(sum), `cost of fulfillment ${id}`);
  }
  const closed = record.closings.at(-1)?.sequence ?? 0;
  for (const { id } of business.orders) {
    const place = `order:${id}`;
    const moved = record.movements.filter(({ from, to }) => from === place || to === place);
    if (!moved.every(({ product }) => valued.has(product))) continue;
    const sum = products.reduce((all, product) => {
      return all + (valued.get(product.id)!.outside.get(place)?.value ?? 0n);
    }, 0n);
    // A missing price matters to what no report has closed
    const isOpen = (movement: Movement) => movement.sequence > closed && !record.deletedPlaces.has(place);
    const isComplete = moved.every((movement) => !isOpen(movement) || isKnown(movement.id));
    const [{ cost }] = await rows("select valuation.cost_of_order($1) as cost", [id]);
    assert.equal(amount(cost), isComplete ? shown(sum) : null, `cost of order ${id}`);
  }
}

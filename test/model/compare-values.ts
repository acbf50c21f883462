import assert from "node:assert/strict";
import type { Random } from "../lib/random.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import type { Business } from "./business.ts";
import type { Rows } from "./merchant.ts";
import { sharesOf, valueOf } from "./model.ts";
import type { Valued } from "./model.ts";
import type { Micro } from "./money.ts";
import { scaled, shown } from "./money.ts";
import type { Method } from "./record.ts";
import { isCounted } from "./record.ts";

const methods: Method[] = ["moving_average", "period_average", "fifo"];

/** An amount as Postgres writes it, which may have more zeros. */
const amount = (text: string | null) => (text === null ? null : shown(scaled(text, 6)));
const amountOf = (value: Micro | null) => (value === null ? null : shown(value));

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
  const read = async (name: string): Promise<Map<string, any[]>> => {
    const found = await rows(`select * from valuation.${name}($1, $2)`, [method, upto]);
    return Map.groupBy(found, ({ product_id: id }) => id);
  };
  const [states, costs, outside, faults, shares] = [
    await read("states"),
    await read("costs"),
    await read("outside"),
    await read("faults"),
    await read("shares"),
  ];
  for (const { id } of products) {
    const what = `by ${method} up to ${upto} of product ${id}`;
    const valued = valueOf(record, id, method, upto);
    const [state] = states.get(id) ?? [];
    assert.deepEqual(state && stateOf(state), state && expectedState(valued, method), `state ${what}`);
    if (!state) assert.deepEqual([valued.units, valued.value], [0, 0n], `no state ${what}`);
    const isFaulty = (faults.get(id) ?? []).map((fault) => fault.stock_movement_id);
    assert.deepEqual(isFaulty.sort(), [...valued.faults].sort(), `faults ${what}`);
    assert.deepEqual(
      Object.fromEntries((costs.get(id) ?? []).map((row) => [row.stock_movement_id, amount(row.value)])),
      Object.fromEntries([...valued.costs].map(([movement, value]) => [movement, amountOf(value)])),
      `costs ${what}`,
    );
    assert.deepEqual(
      Object.fromEntries(
        (outside.get(id) ?? []).map((row) => [
          `${row.place_type}:${row.place}`,
          [Number(row.quantity), amount(row.value)],
        ]),
      ),
      expectedOutside(record, id, valued, upto),
      `outside ${what}`,
    );
    if (process.env.MODEL_SKIP !== "shares")
      assert.deepEqual(
        Object.fromEntries(
          (shares.get(id) ?? []).map((row) => [row.warehouse_id, [Number(row.quantity), amount(row.value)]]),
        ),
        Object.fromEntries(
          [...sharesOf(record, id, valued.value, upto)].map(([warehouse, { units, value }]) => [
            warehouse,
            [units, shown(value)],
          ]),
        ),
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

/** What places outside hold whose content changed in the open period. */
function expectedOutside(
  record: Business["record"],
  product: string,
  { outside }: Valued,
  upto: number,
): object {
  const after = record.closings.filter(({ sequence }) => sequence <= upto).at(-1)?.sequence ?? 0;
  const places = record.movements
    .filter(
      (movement) => movement.product === product && movement.sequence > after && movement.sequence <= upto,
    )
    .flatMap((movement) => Bookkeeping.outsideOf(movement))
    .filter((place) => !isCounted(place) && !record.deletedPlaces.has(place));
  return Object.fromEntries(
    places.map((place) => {
      const { units, value } = outside.get(place) ?? { units: 0, value: 0n };
      return [place, [units, shown(value)]];
    }),
  );
}

import type { Micro } from "./money.ts";
import { byLargestRemainder } from "./money.ts";
import type { BusinessRecord, Moment, Place } from "./record.ts";
import { isReceipt, isSpecial } from "./record.ts";

/** Divides the value of a product among warehouses by the units in them and in their bins and containers. */
export function sharesOf(
  record: BusinessRecord,
  product: string,
  value: Micro,
  upto: number,
): Map<string, { units: number; value: Micro }> {
  const held = new Map<string, number>();
  for (const [key, units] of stockAsOf(record, { sequence: upto })) {
    const [some, place] = key.split(" ") as [string, Place];
    const warehouse = record.warehouseOf.get(place);
    if (some === product && warehouse) held.set(warehouse, (held.get(warehouse) ?? 0) + units);
  }
  const warehouses = [...held]
    .filter(([, units]) => units > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = byLargestRemainder(
    value,
    warehouses.map(([, units]) => BigInt(units)),
  );
  return new Map(warehouses.map(([warehouse, units], n) => [warehouse, { units, value: parts[n]! }]));
}

/** Up to which movement, or up to when, the ledger counts. */
export type AsOf = { sequence: number } | { moment: Moment };

/** Units by product, place and batch, `` for none, as of a number of the ledger, or of a moment. */
export function stockAsOf(record: BusinessRecord, asOf: AsOf): Map<string, number> {
  const stock = new Map<string, number>();
  for (const movement of record.movements) {
    const isIn = "sequence" in asOf ? movement.sequence <= asOf.sequence : movement.happened <= asOf.moment;
    if (!isIn || record.deletedProducts.has(movement.product)) continue;
    const rest = movement.quantity - movement.batches.reduce((sum, [, units]) => sum + units, 0);
    for (const [batch, units] of [...movement.batches, ["", rest] as const])
      for (const [place, sign] of [
        [movement.from, -1],
        [movement.to, 1],
      ] as const) {
        const key = [movement.product, place, batch].join(" ");
        stock.set(key, (stock.get(key) ?? 0) + sign * units);
      }
  }
  return new Map([...stock].filter(([, units]) => units !== 0));
}

/** Where units of a batch came from, and where they went. */
export interface Trace {
  /** Units by the receipt that brought them, or else by the special place. */
  origins: Map<Place, number>;
  /** Units that left for an order, and that came back. */
  orders: Map<Place, { shipped: number; returned: number }>;
  /** Units that are still there, by place. */
  places: Map<Place, number>;
  /** Units that left without an order. */
  removed: number;
}

export function traceOf(record: BusinessRecord, batch: string): Trace {
  const trace: Trace = { origins: new Map(), orders: new Map(), places: new Map(), removed: 0 };
  const add = (map: Map<Place, number>, place: Place, units: number) =>
    map.set(place, (map.get(place) ?? 0) + units);
  for (const { from, to, batches } of record.movements)
    for (const [, units] of batches.filter(([name]) => name === batch)) {
      if (isSpecial(from)) add(trace.origins, isReceipt(to) ? to : from, units);
      if (isSpecial(to)) trace.removed += units;
      for (const [place, what] of [
        [from, "returned"],
        [to, "shipped"],
      ] as const) {
        if (!place.startsWith("order:")) continue;
        const order = trace.orders.get(place) ?? { shipped: 0, returned: 0 };
        order[what] += units;
        trace.orders.set(place, order);
      }
      if (!isSpecial(from) && !from.startsWith("order:")) add(trace.places, from, -units);
      if (!isSpecial(to) && !to.startsWith("order:")) add(trace.places, to, units);
    }
  return trace;
}

import assert from "node:assert/strict";
import type { Random } from "../lib/random.ts";
import type { Business } from "./business.ts";
import type { Rows } from "./merchant.ts";
import { iso } from "./books.ts";
import { valueOf } from "./model.ts";
import type { Method, Place } from "./record.ts";
import { isCounted } from "./record.ts";
import type { AsOf } from "./stock.ts";
import { stockAsOf, traceOf } from "./stock.ts";

const methods: Method[] = ["moving_average", "period_average", "fifo"];

/** Fails with the first difference. */
function assertSame(found: Map<string, unknown>, expected: Map<string, unknown>, what: string): void {
  for (const key of new Set([...found.keys(), ...expected.keys()]))
    assert.deepEqual(found.get(key), expected.get(key), `${what}: ${key}`);
}

const mapOf = (rows: any[], keys: string[], value: string): Map<string, any> =>
  new Map(rows.map((row) => [keys.map((key) => row[key] ?? "").join(" "), row[value]]));

/** The books as they stand are what the model has, and values add up. */
export async function compareLedger({ record, sequence }: Business, rows: Rows): Promise<void> {
  const lying = await rows(
    `select s.product_id as product, s.location_type_technical_name || ':' || s.place as place, s.quantity
     from ledger.stock s where s.quantity <> 0`,
  );
  const expected = new Map<string, number>();
  for (const [key, units] of stockAsOf(record, { sequence })) {
    const [product, place] = key.split(" ") as [string, string];
    if (record.deletedPlaces.has(place)) continue;
    const name = `${product} ${place}`;
    expected.set(name, (expected.get(name) ?? 0) + units);
  }
  const present = new Map([...expected].filter(([, units]) => units !== 0));
  assertSame(mapOf(lying, ["product", "place"], "quantity"), present, "stock");
  for (const product of new Set(record.movements.map((movement) => movement.product))) {
    if (record.deletedProducts.has(product)) continue;
    const units = [...expected]
      .filter(([key]) => key.startsWith(product) && isCounted(key.split(" ")[1]!))
      .reduce((sum, [, count]) => sum + count, 0);
    for (const method of methods) {
      const valued = valueOf(record, product, method, sequence);
      assert.equal(valued.units, units, `units by ${method}`);
      if (units === 0) assert.equal(valued.value, 0n, `value of nothing by ${method}`);
    }
  }
}

/** What is asked of the past: units of a product or a batch, in a place, a warehouse, or all warehouses. */
interface Question {
  product: string;
  batch: string | null;
  place: Place | null;
  warehouse: string | null;
  sequence: number | null;
  moment: string | null;
}

/** Stock as of moments of both clocks. */
export async function compareStock(
  { record, sequence }: Business,
  rows: Rows,
  random: Random,
  count: number,
): Promise<void> {
  const movements = record.movements.filter(({ product }) => !record.deletedProducts.has(product));
  const questions: Question[] = [];
  const expected: number[] = [];
  for (let n = 0; n < count; n++) {
    const { product, from, to, batches } = random.oneOf(movements);
    const { booked, happened } = random.oneOf(movements);
    const moment =
      random.oneOf([booked, happened]) + BigInt(random.oneOf([-1, 0, 0, random.below(86_400_000) * 1000]));
    const asOf: AsOf = random.below(2) ? { sequence: random.below(sequence + 1) } : { moment };
    const physical = [from, to].filter((place) => !/^(order|special)/.test(place));
    const place = random.below(2) && physical.length > 0 ? random.oneOf(physical) : null;
    const warehouse =
      place === null && random.below(2) ? random.oneOf([...record.warehouseOf.values()]) : null;
    const batch = batches.length > 0 && random.below(2) ? random.oneOf(batches)[0] : null;
    const isAsked = (name: Place) =>
      place === null
        ? /^(warehouse|bin_location|stock_container):/.test(name) &&
          (!warehouse || record.warehouseOf.get(name) === warehouse)
        : name === place;
    let units = 0;
    for (const [key, quantity] of stockAsOf(record, asOf)) {
      const [some, name, lot] = key.split(" ") as [string, Place, string];
      if (some === product && isAsked(name) && (batch === null || lot === batch)) units += quantity;
    }
    expected.push(units);
    questions.push({
      product,
      batch,
      place: place?.split(":")[1] ?? null,
      warehouse,
      sequence: "sequence" in asOf ? asOf.sequence : null,
      moment: "moment" in asOf ? iso(asOf.moment) : null,
    });
  }
  const found = await rows(
    `select case when batch is null then ledger.quantity_as_of(product, place, warehouse, sequence, moment)
       else ledger.batch_quantity_as_of(batch, place, sequence, moment, warehouse) end as units
     from rows from (jsonb_to_recordset($1) as (product uuid, batch uuid, place text, warehouse uuid, sequence bigint, moment timestamptz))
       with ordinality q (product, batch, place, warehouse, sequence, moment, n) order by n`,
    [JSON.stringify(questions)],
  );
  for (const [n, { units }] of found.entries())
    assert.equal(units, expected[n], `stock as of ${JSON.stringify(questions[n])}`);
}

/** Traces of all batches, forwards and backwards. */
export async function compareTraces({ record, merchant }: Business, rows: Rows): Promise<void> {
  // Of places that were deleted since, only the kind is known
  const named = (place: Place) => (record.deletedPlaces.has(place) ? place.replace(/:.*/, ":") : place);
  for (const { id, batches } of merchant.products)
    for (const batch of record.deletedProducts.has(id) ? [] : batches) {
      const { origins, orders, places, removed } = traceOf(record, batch);
      const shipments = await rows(
        `select 'order:' || coalesce(order_id::text, '') as place,
           jsonb_build_object('shipped', sum(shipped_quantity), 'returned', sum(returned_quantity)) as units
         from api_unstable.batch_shipments where batch_id = $1 group by 1`,
        [batch],
      );
      const customers: typeof orders = new Map();
      for (const [place, { shipped, returned }] of orders) {
        const sum = customers.get(named(place)) ?? { shipped: 0, returned: 0 };
        customers.set(named(place), { shipped: sum.shipped + shipped, returned: sum.returned + returned });
      }
      assertSame(mapOf(shipments, ["place"], "units"), customers, `orders that got batch ${batch}`);
      const sources = await rows(
        `select case when o.kind = 'GoodsReceipt' then 'goods_receipt:' || coalesce(o.goods_receipt_id::text, '')
             else 'special_stock_location:' || m.source_special_stock_location_technical_name end as place,
           sum(o.quantity)::integer as units
         from api_unstable.batch_origins o join ledger.stock_movement m on m.id = o.stock_movement_id
         where o.batch_id = $1 group by 1`,
        [batch],
      );
      const from = new Map<Place, number>();
      for (const [place, units] of origins) from.set(named(place), (from.get(named(place)) ?? 0) + units);
      assertSame(mapOf(sources, ["place"], "units"), from, `origins of batch ${batch}`);
      const remaining = await rows(
        `select s.location_type_technical_name || ':' || s.place as place, b.quantity as units
         from api_unstable.batch_stocks b join ledger.stock s on s.id = b.stock_id
         where b.batch_id = $1 and s.order_id is null`,
        [batch],
      );
      const left = new Map([...places].filter(([, units]) => units !== 0));
      assertSame(mapOf(remaining, ["place"], "units"), left, `what is left of batch ${batch}`);
      const [trace] = await rows(
        `select received_quantity, shipped_quantity, returned_quantity, removed_quantity, remaining_quantity
         from api_unstable.batch_traces where batch_id = $1`,
        [batch],
      );
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, units) => all + units, 0);
      assert.deepEqual(
        trace,
        {
          received_quantity: sum(origins.values()),
          shipped_quantity: sum([...orders.values()].map(({ shipped }) => shipped)),
          returned_quantity: sum([...orders.values()].map(({ returned }) => returned)),
          removed_quantity: removed,
          remaining_quantity: sum(places.values()),
        },
        `trace of batch ${batch}`,
      );
    }
}

import type { Micro } from "./money.ts";
import { byLargestRemainder, divide, micro, scaled, share } from "./money.ts";
import type { Average, Pool } from "./pools.ts";
import { FirstInFirstOut, MovingAverage, PeriodAverage } from "./pools.ts";
import type { BusinessRecord, Closing, Method, Movement, Place, Receipt, ValueBooking } from "./record.ts";
import { isCounted, isReceipt, isSpecial } from "./record.ts";

/** What a product is worth after a movement of the ledger, and how that came. */
export interface Valued {
  units: number;
  value: Micro;
  /** What a unit was worth when that was last known. */
  lastUnitCost: Micro | null;
  layers: [units: number, value: Micro][];
  /** Landed costs since the newest report whose goods had left. */
  landedExpense: Micro;
  /** Write-downs since the newest report that found no value to lower. */
  variance: Micro;
  /** The value of movements into stock, negative for those out of it, since the newest report. */
  costs: Map<string, Micro>;
  /** Goods at orders, return orders and receipts, those included that a receipt announced. */
  outside: Map<Place, { units: number; value: Micro }>;
  /** Movements and receipts without a price, since the newest report. */
  faults: Set<string>;
}

/** Goods outside of the stock, whose value may come back. Own ones left in the open period, at its average. */
interface Outside {
  units: number;
  value: Micro;
  own: number;
  ownValue: Micro;
}

interface Goods {
  units: number;
  value: Micro;
  /** Units that are worth what others are worth on average: nobody knows what they cost. */
  foundling: number;
  own: number;
  ownValue: Micro;
}
const nothing = { units: 0, value: 0n, foundling: 0, own: 0, ownValue: 0n };

/** Goods of a receipt that are to come. */
interface Announced {
  units: number;
  value: Micro;
  isUnpriced: boolean;
}

interface Event {
  sequence: number;
  product: string;
  day?: string;
  movement?: Movement;
  booking?: ValueBooking;
}

/** More periods than there are: what is calculated now doesn't find what was deleted. */
export const now = Number.MAX_SAFE_INTEGER;

/**
 * The value of a product by a method, after the movement with a number and everything before.
 *
 * @param day the last day whose bookings of value count; by default all
 * @param periods the reports that were closed before
 */
export function valueOf(
  record: BusinessRecord,
  product: string,
  method: Method,
  upto: number,
  day = "9999-12-31",
  periods = record.closings.filter(({ sequence }) => sequence <= upto),
): Valued {
  return lastPeriod(record, product, [...periods, { method, sequence: upto, day }], now);
}

/** The value that a closed report has. */
export function reportedValueOf(record: BusinessRecord, product: string, nth: number): Valued {
  return lastPeriod(record, product, record.closings.slice(0, nth + 1), nth);
}

/** @param known how many periods had been closed when the last one was calculated */
function lastPeriod(
  record: BusinessRecord,
  product: string,
  periods: Pick<Closing, "method" | "sequence" | "day">[],
  known: number,
): Valued {
  let ledger = new ProductLedger(record, product);
  let rest = eventsOf(record, product);
  for (const [n, { method, sequence, day }] of periods.entries()) {
    const isIn = (event: Event) => event.sequence <= sequence && (event.day ?? "") <= day;
    ledger = ledger.after(method, rest.filter(isIn), n < periods.length - 1 ? n : known);
    rest = rest.filter((event) => !isIn(event));
  }
  return ledger.result();
}

/** In the order of the ledger; a booking of value alone comes after the movement whose number it has. */
function eventsOf({ movements, valueBookings }: BusinessRecord, product: string): Event[] {
  const events: Event[] = [
    ...movements
      .filter(({ sequence }) => sequence > 0)
      .map((movement) => ({ sequence: movement.sequence, product: movement.product, movement })),
    ...valueBookings.map((booking) => ({ ...booking, booking })),
  ];
  return events
    .filter((event) => event.product === product)
    .sort((one, other) => one.sequence - other.sequence || (one.movement ? -1 : other.movement ? 1 : 0));
}

/** The net value of a line of a receipt in the default currency: rounded once. */
export function lineValue(
  { taxStatus, factor }: Receipt,
  price: string,
  quantity: number,
  taxRate: string,
): Micro {
  const percent = taxStatus === "gross" ? scaled(taxRate, 4) : 0n;
  const dividend = micro(price) * BigInt(quantity) * 100_0000n * 10n ** 12n;
  return divide(dividend, scaled(factor, 12) * (100_0000n + percent));
}

/** The history of a product by a method, event after event. */
class ProductLedger {
  readonly #record: BusinessRecord;
  readonly #product: string;
  /** How many periods had been closed when this one was calculated. */
  readonly #known: number;
  #pool: Pool = new MovingAverage();
  #lastUnitCost: Micro | null = null;
  #landedExpense = 0n;
  #variance = 0n;
  #costs = new Map<string, Micro>();
  #faults = new Set<string>();
  #outside = new Map<Place, Outside>();
  #announced = new Map<Place, Announced>();
  #received = new Map<Place, number>();

  constructor(record: BusinessRecord, product: string, known = 0) {
    this.#record = record;
    this.#product = product;
    this.#known = known;
  }

  /** The history at the end of a period, which may value by another method than the one before. */
  after(method: Method, events: Event[], known: number): ProductLedger {
    const first = this.#play(method, events, known, { worth: 0n, units: 0 });
    if (!(first.#pool instanceof PeriodAverage)) return first;
    return this.#play(method, events, known, first.#pool.average);
  }

  #play(method: Method, events: Event[], known: number, average: Average): ProductLedger {
    const next = new ProductLedger(this.#record, this.#product, known);
    next.#lastUnitCost = this.#lastUnitCost;
    for (const [place, { units, value, own, ownValue }] of this.#outside)
      next.#outside.set(place, { units: units + own, value: value + ownValue, own: 0, ownValue: 0n });
    for (const [place, announced] of this.#announced) next.#announced.set(place, { ...announced });
    next.#received = new Map(this.#received);
    next.#pool = next.#opened(method, this.#pool, average);
    for (const { movement, booking } of events) {
      if (movement) next.#move(movement);
      else if (booking?.kind === "landed cost") next.#land(booking);
      else if (booking) next.#writeDown(booking);
    }
    next.#end(method);
    return next;
  }

  #opened(method: Method, before: Pool, average: Average): Pool {
    if (method === "fifo" && before instanceof FirstInFirstOut) return before.copy();
    const pool =
      method === "fifo"
        ? new FirstInFirstOut()
        : method === "moving_average"
          ? new MovingAverage()
          : new PeriodAverage(average, this.#lastUnitCost ?? 0n);
    if (before.units > 0) pool.bring(before.units, before.value);
    return pool;
  }

  /** Of a period average, only its end knows whether more was written down than there was. */
  #end(method: Method): void {
    if (method !== "period_average") return;
    const { average, units, value } = this.#pool as PeriodAverage;
    if (units === 0 && average.units > 0) this.#lastUnitCost = divide(average.worth, BigInt(average.units));
    if (value >= 0n && units > 0) return;
    this.#variance -= value;
    this.#pool.lower(value);
  }

  #move(movement: Movement): void {
    const { from, to, quantity, id } = movement;
    if (isCounted(from) && isCounted(to)) return;
    const goods = isCounted(from) ? this.#leave(movement) : this.#takeFrom(from, quantity);
    if (!isCounted(to)) return this.#bringTo(to, goods, quantity, from);
    this.#costs.set(id, this.#arrive(goods, movement));
    if (isReceipt(from)) this.#received.set(from, (this.#received.get(from) ?? 0) + quantity);
  }

  /** Units go out of stock. */
  #leave({ id, quantity }: Movement): Goods {
    const { units, value } = this.#pool;
    const cost = this.#pool.take(quantity);
    if (units === quantity && !(this.#pool instanceof PeriodAverage) && value > 0n)
      this.#lastUnitCost = divide(value, BigInt(units));
    this.#costs.set(id, -cost);
    return this.#pool instanceof PeriodAverage
      ? { ...nothing, own: quantity, ownValue: cost }
      : { ...nothing, units: quantity, value: cost };
  }

  /** Units come into stock. Returns their value. */
  #arrive(goods: Goods, movement: Movement): Micro {
    const { from, quantity, id } = movement;
    const opening = this.#record.openingValues.get(id);
    if (opening !== undefined) {
      const value = micro(opening) * BigInt(quantity);
      return this.#bringPriced(quantity, value);
    }
    if (isReceipt(from) && this.#record.receipts.get(from.split(":")[1]!)!.type !== "Customer") {
      if (this.#announced.get(from)?.isUnpriced) this.#faults.add(id);
      else if (goods.units > 0)
        return this.#bringPriced(goods.units, goods.value, from) + this.#foundling(goods, movement);
    }
    let value = 0n;
    if (goods.units > 0) this.#pool.bring(goods.units, goods.value, isReceipt(from) ? from : undefined);
    value += goods.value;
    if (goods.own > 0) value += this.#pool.find(goods.own, this.#lastUnitCost ?? 0n);
    return value + this.#foundling(goods, movement);
  }

  #bringPriced(units: number, value: Micro, receipt?: Place): Micro {
    this.#pool.bring(units, value, receipt);
    this.#lastUnitCost = divide(value, BigInt(units));
    return value;
  }

  #foundling({ foundling }: Goods, { id, from }: Movement): Micro {
    if (foundling === 0) return 0n;
    const isUnvalued = /:(initialization|import|unknown)$/.test(from);
    if (!isUnvalued && (this.#pool.units > 0 || this.#lastUnitCost !== null))
      return this.#pool.find(foundling, this.#lastUnitCost ?? 0n);
    this.#faults.add(id);
    this.#pool.bring(foundling, 0n);
    return 0n;
  }

  /** Units leave a place outside; what it doesn't know the value of are foundlings. */
  #takeFrom(place: Place, quantity: number): Goods {
    const pool = this.#poolOf(place);
    if (!pool) return { ...nothing, foundling: quantity };
    const own = Math.min(quantity, pool.own);
    const units = Math.min(quantity - own, pool.units);
    const goods = {
      units,
      value: units === 0 ? 0n : share(pool.value, units, pool.units),
      own,
      ownValue: own === 0 ? 0n : share(pool.ownValue, own, pool.own),
      foundling: quantity - own - units,
    };
    pool.units -= units;
    pool.value -= goods.value;
    pool.own -= own;
    pool.ownValue -= goods.ownValue;
    return goods;
  }

  #bringTo(place: Place, goods: Goods, quantity: number, from: Place): void {
    const pool = this.#poolOf(place);
    if (!pool) return;
    if (isReceipt(place) && isSpecial(from)) {
      const announced = this.#announcedAt(place);
      const value = share(announced.value, quantity, announced.units);
      announced.units -= quantity;
      announced.value -= value;
      pool.units += quantity;
      pool.value += value;
      return;
    }
    pool.units += goods.units;
    pool.value += goods.value;
    pool.own += goods.own;
    pool.ownValue += goods.ownValue;
  }

  /** The pool of a place outside; none of special places, or of those that are gone. */
  #poolOf(place: Place): Outside | null {
    const isGone = (this.#record.deletedPlaces.get(place) ?? Infinity) <= this.#known;
    if (isSpecial(place) || isCounted(place) || isGone) return null;
    const pool = this.#outside.get(place) ?? { units: 0, value: 0n, own: 0, ownValue: 0n };
    this.#outside.set(place, pool);
    return pool;
  }

  #announcedAt(place: Place): Announced {
    const known = this.#announced.get(place);
    if (known) return known;
    const receipt = this.#record.receipts.get(place.split(":")[1]!)!;
    const lines = receipt.lines.filter(({ product, quantity }) => product === this.#product && quantity > 0);
    const isUnpriced = lines.some(({ price }) => price === null);
    const announced = {
      units: lines.reduce((sum, { quantity }) => sum + quantity, 0),
      value: isUnpriced
        ? 0n
        : lines.reduce((sum, line) => sum + lineValue(receipt, line.price!, line.quantity, line.taxRate), 0n),
      isUnpriced,
    };
    this.#announced.set(place, announced);
    return announced;
  }

  /** Landed costs go to what is still there; of what has left, to the cost of goods of the period. */
  #land({ receipt, amount }: ValueBooking): void {
    const place = `goods_receipt:${receipt}`;
    const received = this.#received.get(place) ?? 0;
    if (received === 0) {
      const waiting = [this.#outside.get(place), this.#announcedAt(place)].find(
        (pool) => pool && pool.units > 0,
      );
      if (waiting) waiting.value += micro(amount);
      else this.#landedExpense += micro(amount);
      return;
    }
    const left = this.#pool.left(place, received);
    const part = left === 0 ? 0n : share(micro(amount), left, received);
    // What is taken back of earlier costs lowers the value to nothing at most; a period average knows that at its end
    const least = this.#pool instanceof PeriodAverage ? part : -this.#pool.value;
    const value = part < least ? least : part;
    if (value !== 0n) this.#pool.raise(value, place);
    this.#landedExpense += micro(amount) - value;
  }

  #writeDown({ amount }: ValueBooking): void {
    const wanted = micro(amount);
    if (this.#pool instanceof PeriodAverage) return this.#pool.lower(wanted);
    const { units, value } = this.#pool;
    const possible = units === 0 ? 0n : wanted > value ? value : wanted;
    this.#pool.lower(possible);
    this.#variance += wanted - possible;
  }

  #content(place: Place, { units, value, own, ownValue }: Outside): { units: number; value: Micro } {
    const announced = this.#announced.get(place);
    return {
      units: units + own + (announced?.units ?? 0),
      value: value + ownValue + (announced?.value ?? 0n),
    };
  }

  result(): Valued {
    const { units, value } = this.#pool;
    return {
      units,
      value,
      lastUnitCost: this.#lastUnitCost,
      layers: this.#pool.layers(),
      landedExpense: this.#landedExpense,
      variance: this.#variance,
      costs: this.#costs,
      outside: new Map([...this.#outside].map(([place, pool]) => [place, this.#content(place, pool)])),
      faults: this.#faults,
    };
  }
}

/** Divides costs of a receipt among its products, by largest remainder. */
export function divideCosts(
  receipt: Receipt,
  amount: Micro,
  basis: "by_value" | "by_quantity" | "by_weight",
  weightOf: (product: string) => string,
): Map<string, Micro> {
  const weights = new Map<string, bigint>();
  for (const { product, quantity, price, taxRate } of receipt.lines) {
    if (quantity <= 0) continue;
    const weight = {
      by_value: () => lineValue(receipt, price!, quantity, taxRate),
      by_quantity: () => BigInt(quantity),
      by_weight: () => BigInt(quantity) * micro(weightOf(product)),
    }[basis]();
    weights.set(product, (weights.get(product) ?? 0n) + weight);
  }
  const products = [...weights.keys()].sort();
  const parts = byLargestRemainder(
    amount,
    products.map((product) => weights.get(product)!),
  );
  return new Map(products.map((product, n) => [product, parts[n]!]));
}

import type { Micro } from "./money.ts";
import { byLargestRemainder, divide, share } from "./money.ts";

/** What the stock of a product is worth by a method: units and value, over all places that count. */
export interface Pool {
  units: number;
  readonly value: Micro;
  /** Units come with a value. */
  bring(units: number, value: Micro, receipt?: string): void;
  /** Units come that are worth what lies there, on average. */
  find(units: number, lastUnitCost: Micro): Micro;
  /** Units go. Returns what they are worth. */
  take(units: number): Micro;
  /** How many units of a receipt are still there, for its landed costs. */
  left(receipt: string, received: number): number;
  /** Value without units: landed costs of a receipt, or less by a write-down. */
  raise(amount: Micro, receipt: string): void;
  lower(amount: Micro): void;
  layers(): [units: number, value: Micro][];
}

export class MovingAverage implements Pool {
  units = 0;
  value = 0n;

  bring(units: number, value: Micro): void {
    this.units += units;
    this.value += value;
  }
  find(units: number, lastUnitCost: Micro): Micro {
    const value =
      this.units > 0 ? divide(this.value * BigInt(units), BigInt(this.units)) : lastUnitCost * BigInt(units);
    this.bring(units, value);
    return value;
  }
  take(units: number): Micro {
    const value = share(this.value, units, this.units);
    this.units -= units;
    this.value -= value;
    return value;
  }
  left(_receipt: string, received: number): number {
    return Math.min(this.units, received);
  }
  raise(amount: Micro): void {
    this.value += amount;
  }
  lower(amount: Micro): void {
    this.value -= amount;
  }
  layers(): [number, Micro][] {
    return [];
  }
}

interface Layer {
  units: number;
  value: Micro;
  receipt?: string | undefined;
}

export class FirstInFirstOut implements Pool {
  #layers: Layer[] = [];

  copy(): FirstInFirstOut {
    const pool = new FirstInFirstOut();
    pool.#layers = this.#layers.map((layer) => ({ ...layer }));
    return pool;
  }
  get units(): number {
    return this.#layers.reduce((sum, { units }) => sum + units, 0);
  }
  get value(): Micro {
    return this.#layers.reduce((sum, { value }) => sum + value, 0n);
  }
  bring(units: number, value: Micro, receipt?: string): void {
    this.#layers.push({ units, value, receipt });
  }
  find(units: number, lastUnitCost: Micro): Micro {
    const all = this.units;
    const value = all > 0 ? divide(this.value * BigInt(units), BigInt(all)) : lastUnitCost * BigInt(units);
    this.bring(units, value);
    return value;
  }
  take(units: number): Micro {
    let taken = 0n;
    for (const layer of this.#layers) {
      const some = Math.min(units, layer.units);
      const value = some === 0 ? 0n : share(layer.value, some, layer.units);
      layer.units -= some;
      layer.value -= value;
      units -= some;
      taken += value;
    }
    this.#layers = this.#layers.filter((layer) => layer.units > 0);
    return taken;
  }
  left(receipt: string): number {
    return this.#layers.reduce((sum, layer) => sum + (layer.receipt === receipt ? layer.units : 0), 0);
  }
  raise(amount: Micro, receipt: string): void {
    this.#spread(
      amount,
      this.#layers.filter((layer) => layer.receipt === receipt),
      ({ units }) => BigInt(units),
    );
  }
  lower(amount: Micro): void {
    const weigh = this.value === 0n ? ({ units }: Layer) => BigInt(units) : ({ value }: Layer) => value;
    this.#spread(-amount, this.#layers, weigh);
  }
  #spread(amount: Micro, layers: Layer[], weigh: (layer: Layer) => bigint): void {
    const sign = amount < 0n ? -1n : 1n;
    const parts = byLargestRemainder(amount * sign, layers.map(weigh));
    layers.forEach((layer, n) => (layer.value += sign * parts[n]!));
  }
  layers(): [number, Micro][] {
    return this.#layers.map(({ units, value }) => [units, value]);
  }
}

/** The value of units that were there or came in a period. */
export interface Average {
  worth: Micro;
  units: number;
}

/** Everything that goes in a period costs the average of what was there at its beginning and what came in it. */
export class PeriodAverage implements Pool {
  #came = 0;
  #worth = 0n;
  /** Units that went less those that came back. */
  #gone = 0;
  #lowered = 0n;
  readonly #average: Average;
  readonly #lastUnitCost: Micro;

  /**
   * @param average what was there or came in the period, which is known at its end only
   * @param lastUnitCost what a unit costs if that is nothing
   */
  constructor(average: Average, lastUnitCost: Micro) {
    this.#average = average;
    this.#lastUnitCost = lastUnitCost;
  }

  get units(): number {
    return this.#came - this.#gone;
  }
  get value(): Micro {
    return this.#worth - this.#cost(this.#gone) - this.#lowered;
  }
  /** What the average is, if these are all events of a period. */
  get average(): Average {
    return { worth: this.#worth, units: this.#came };
  }
  #cost(units: number): Micro {
    const { worth, units: all } = this.#average;
    return all === 0 ? this.#lastUnitCost * BigInt(units) : divide(worth * BigInt(units), BigInt(all));
  }
  bring(units: number, value: Micro): void {
    this.#came += units;
    this.#worth += value;
  }
  find(units: number): Micro {
    return -this.take(-units);
  }
  take(units: number): Micro {
    const before = this.#cost(this.#gone);
    this.#gone += units;
    return this.#cost(this.#gone) - before;
  }
  left(_receipt: string, received: number): number {
    return Math.min(this.units, received);
  }
  raise(amount: Micro): void {
    this.#worth += amount;
  }
  lower(amount: Micro): void {
    this.#lowered += amount;
  }
  layers(): [number, Micro][] {
    return [];
  }
}

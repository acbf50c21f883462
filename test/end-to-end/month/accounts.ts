import { MovingAverage } from "../../model/pools.ts";
import type { Micro } from "../../model/money.ts";
import { share } from "../../model/money.ts";

/** Units of a product, in one place, of one batch; the batch is empty where there is none. */
export interface Pile {
  product: string;
  place: string;
  batch: string;
  units: number;
}
/** A place of goods: a bin, or a warehouse for goods outside of its bins. */
export interface Place {
  warehouse: string;
  /** By which bins are visited; the warehouse itself comes last. */
  position: number;
  isSellable: boolean;
}
export interface Lot {
  bestBefore: string;
  isHeld: boolean;
}
interface Goods {
  units: number;
  value: Micro;
}

/** What a merchant writes down during the month, in plain sums: nothing here is read from the service. */
export class Accounts {
  readonly places = new Map<string, Place>();
  readonly lots = new Map<string, Lot>();
  /** Warehouses whose goods are for sale. */
  readonly selling = new Set<string>();
  readonly piles: Pile[] = [];
  /** Units of open orders and promises, by product and warehouse; those without a warehouse are not planned yet. */
  readonly #reserved = new Map<string, number>();
  readonly #worth = new Map<string, MovingAverage>();
  /** Goods that customers have, by product and order: they may come back, at the value they had. */
  readonly #outside = new Map<string, Goods>();

  bring(product: string, place: string, units: number, batch = ""): void {
    const pile = this.piles.find(
      (one) => one.product === product && one.place === place && one.batch === batch,
    );
    if (pile) pile.units += units;
    else this.piles.push({ product, place, batch, units });
  }

  unitsAt(product: string, place: string, batch = ""): number {
    return sum(this.piles, (pile) =>
      pile.product === product && pile.place === place && pile.batch === batch ? pile.units : 0,
    );
  }

  /** Takes units for a customer out of a warehouse: those that expire first, then by the way through the bins. */
  pick(product: string, warehouse: string, units: number): Pile[] {
    const there = this.piles
      .filter((pile) => pile.product === product && pile.units > 0 && this.#isSellable(pile, warehouse))
      .sort((one, other) => this.#order(one) - this.#order(other) || (one.batch < other.batch ? -1 : 1));
    const picked: Pile[] = [];
    let wanted = units;
    for (const pile of there) {
      const some = Math.min(wanted, pile.units);
      if (some === 0) break;
      pile.units -= some;
      wanted -= some;
      picked.push({ ...pile, units: some });
    }
    if (wanted > 0) throw new Error(`${wanted} units of ${product} are missing in ${warehouse}`);
    return picked;
  }

  #order({ batch, place }: Pile): number {
    const day = batch === "" ? 0 : Date.parse(this.lots.get(batch)!.bestBefore) / 86_400_000;
    return day * 1_000 + this.places.get(place)!.position;
  }

  #isSellable({ place, batch }: Pile, warehouse?: string): boolean {
    const its = this.places.get(place)!;
    return (
      (!warehouse || its.warehouse === warehouse) &&
      its.isSellable &&
      !(batch && this.lots.get(batch)!.isHeld)
    );
  }

  // What is promised

  reserve(product: string, warehouse: string, units: number): void {
    const key = `${product} ${warehouse}`;
    this.#reserved.set(key, (this.#reserved.get(key) ?? 0) + units);
  }
  reserved(product: string, warehouse?: string): number {
    return sum(this.#reserved, ([key, units]) =>
      (warehouse ? key === `${product} ${warehouse}` : key.startsWith(`${product} `)) ? units : 0,
    );
  }

  // What is there

  physical(product: string, warehouse?: string): number {
    return this.#units(product, ({ place }) => !warehouse || this.places.get(place)!.warehouse === warehouse);
  }
  notForSale(product: string): number {
    return this.#units(
      product,
      (pile) => !this.#isSellable(pile) || !this.selling.has(this.places.get(pile.place)!.warehouse),
    );
  }
  available(product: string): number {
    return this.physical(product) - this.notForSale(product) - this.reserved(product);
  }
  availableAt(product: string, warehouse: string): number {
    return (
      this.#units(product, (pile) => this.#isSellable(pile, warehouse)) - this.reserved(product, warehouse)
    );
  }
  ofBatch(batch: string): number {
    return sum(this.piles, (pile) => (pile.batch === batch ? pile.units : 0));
  }
  #units(product: string, isMeant: (pile: Pile) => boolean): number {
    return sum(this.piles, (pile) => (pile.product === product && isMeant(pile) ? pile.units : 0));
  }

  // What it is worth, by moving average

  worthOf(product: string): MovingAverage {
    const pool = this.#worth.get(product) ?? new MovingAverage();
    this.#worth.set(product, pool);
    return pool;
  }
  /** Units of a product leave for a customer. Returns their cost. */
  sell(product: string, order: string, units: number): Micro {
    const cost = this.worthOf(product).take(units);
    const goods = this.#outside.get(`${product} ${order}`) ?? { units: 0, value: 0n };
    this.#outside.set(`${product} ${order}`, { units: goods.units + units, value: goods.value + cost });
    return cost;
  }
  /** Units come back from a customer, to be sold again or to be looked at. */
  takeBack(product: string, order: string, units: number): void {
    this.worthOf(product).bring(units, this.loseOutside(product, order, units));
  }
  /** Units that a customer sent back are thrown away before they are stock again. Returns what they were worth. */
  loseOutside(product: string, order: string, units: number): Micro {
    const goods = this.#outside.get(`${product} ${order}`)!;
    const value = share(goods.value, units, goods.units);
    goods.units -= units;
    goods.value -= value;
    return value;
  }
}

export const sum = <T>(list: Iterable<T>, units: (one: T) => number): number => {
  let total = 0;
  for (const one of list) total += units(one);
  return total;
};

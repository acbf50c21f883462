import type { Random } from "../lib/random.ts";
import type { Merchant, Product, Rows } from "./merchant.ts";
import { moveClock, newMovements, openMerchant, side } from "./merchant.ts";
import type { Moment, Movement, Place } from "./record.ts";
import { BusinessRecord } from "./record.ts";

export const hour = 3_600_000_000n;
export const special = (name: string): Place => `special_stock_location:${name}`;
export const iso = (moment: Moment): string =>
  `${new Date(Number(moment / 1000n)).toISOString().slice(0, -1)}${String(moment % 1000n).padStart(3, "0")}Z`;

export interface Move {
  product: string;
  quantity: number;
  batch?: string;
  from: Place;
  to: Place;
}
/** Units of a movement by batch; what has no batch has an empty one. */
export function unitsOf({ quantity, batches }: Movement): [batch: string, quantity: number][] {
  const rest = quantity - batches.reduce((sum, [, units]) => sum + units, 0);
  return rest > 0 ? [...batches, ["", rest]] : batches;
}

/** Books pieces of business in a database, at moments of a story, and records them. */
export class Books {
  readonly record = new BusinessRecord();
  merchant!: Merchant;
  readonly start: Moment;
  now: Moment;
  /** Units by product, place and batch, as movements were booked; the batch is empty where there is none. */
  readonly stock = new Map<string, Map<Place, Map<string, number>>>();
  /** What was done, for messages. */
  readonly log: string[] = [];
  refused = 0;
  readonly run: Rows;
  readonly random: Random;
  #last = "00000000-0000-0000-0000-000000000000";
  #unnumbered: Movement[] = [];
  #numbers = 0;

  constructor(run: Rows, random: Random, start: Moment) {
    this.run = run;
    this.random = random;
    this.start = start;
    this.now = start;
  }

  async open(): Promise<void> {
    await this.run(moveClock);
    this.merchant = await openMerchant(this.run);
    const { warehouses, bins, container, products } = this.merchant;
    for (const id of warehouses) this.record.warehouseOf.set(`warehouse:${id}`, id);
    for (const [id, warehouse] of bins) this.record.warehouseOf.set(`bin_location:${id}`, warehouse);
    this.record.warehouseOf.set(`stock_container:${container[0]}`, container[1]);
    for (const { id } of products) this.stock.set(id, new Map());
  }

  /**
   * Runs a piece of business in a transaction at the present moment. Returns null when it was refused.
   *
   * @param gone a place that the work deletes, whose name the ledger forgets
   */
  async book<T>(work: () => Promise<T>, gone?: Place): Promise<{ result: T; movements: Movement[] } | null> {
    const run = this.run;
    await run("begin");
    await run("select set_config('model.now', $1, true)", [iso(this.now)]);
    let result;
    let rows;
    try {
      result = await work();
      await run("set constraints all immediate");
      rows = await run(newMovements, [this.#last]);
    } catch (error) {
      await run("rollback");
      // By a rule, or because something else refers to it
      if (!["UE001", "23001"].includes((error as { code: string }).code)) throw error;
      this.log.push("refused");
      this.refused++;
      return null;
    }
    await run("commit");
    if (gone) this.record.deletedPlaces.set(gone, this.record.closings.length);
    const movements = rows.map(({ counted, ...row }): Movement => {
      const happened = counted === null ? this.now : BigInt(counted);
      return { ...row, from: row.from ?? gone, to: row.to ?? gone, sequence: 0, booked: this.now, happened };
    });
    await this.note(movements);
    return { result, movements };
  }

  async note(movements: Movement[]): Promise<void> {
    if (movements.length === 0) return;
    this.#last = movements.at(-1)!.id;
    for (const movement of movements) {
      this.record.movements.push(movement);
      for (const [batch, quantity] of unitsOf(movement)) {
        this.add(movement.product, movement.from, batch, -quantity);
        this.add(movement.product, movement.to, batch, quantity);
      }
    }
    // Transactions may commit in another order than they booked, if they have nothing to do with each other
    const isApart = !this.#unnumbered.some(({ product }) => movements.some((m) => m.product === product));
    if (isApart && this.random.below(4) === 0) await this.give(movements);
    else this.#unnumbered.push(...movements);
  }

  add(product: string, place: Place, batch: string, quantity: number): void {
    const places = this.stock.get(product)!;
    const units = places.get(place) ?? new Map<string, number>();
    places.set(place, units.set(batch, (units.get(batch) ?? 0) + quantity));
  }

  unitsIn(product: string, place: Place): number {
    return [...(this.stock.get(product)!.get(place)?.values() ?? [])].reduce((sum, units) => sum + units, 0);
  }

  /** Numbers what was committed, as the sequencer of events does. */
  async number(): Promise<void> {
    await this.give(this.#unnumbered);
    this.#unnumbered = [];
  }

  async give(movements: Movement[]): Promise<void> {
    const alive = movements.filter(({ product }) => !this.record.deletedProducts.has(product));
    if (alive.length === 0) return;
    const ids = alive.map(({ id }) => id);
    await this.run("select ledger.number_movements($1)", [ids]);
    for (const movement of alive) movement.sequence = ++this.#numbers;
  }

  /** The number of the newest movement. */
  get sequence(): number {
    return this.#numbers;
  }

  call(name: string, input: object): Promise<any> {
    return this.run(
      `select to_jsonb(api_unstable.${name}(jsonb_populate_record(null::api_unstable.${name}_input, $1))) as payload`,
      [JSON.stringify(input)],
    ).then(([row]) => row.payload);
  }

  /** Movements that another program inserts. */
  insert(moves: Move[]): Promise<any> {
    const rows = moves.map(({ product, quantity, batch, from, to }, n) => {
      const places = { ...side("source", from), ...side("destination", to) };
      return { n, product_id: product, quantity, batch_id: batch, ...places };
    });
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
      .filter((name) => name !== "n" && name !== "batch_id")
      .join();
    return this.run(
      `with m as (insert into ledger.stock_movement (${columns}) select ${columns}
         from jsonb_populate_recordset(null::ledger.stock_movement, $1) returning id),
       named as (select id, row_number() over (order by id) as n from m)
       insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
       select named.id, j.batch_id, j.quantity from named
       join jsonb_to_recordset($1) j (n integer, batch_id uuid, quantity integer) on j.n + 1 = named.n where j.batch_id is not null`,
      [JSON.stringify(rows)],
    );
  }

  // What there is to do business with

  get products(): Product[] {
    return this.merchant.products.filter(({ id }) => !this.record.deletedProducts.has(id));
  }
  get places(): Place[] {
    return [...this.record.warehouseOf.keys()].filter(
      (place) => !place.startsWith("stock_container") && !this.record.deletedPlaces.has(place),
    );
  }
  /** A pile of units in one of the places, or none. */
  pile(
    isWanted: (place: Place) => boolean,
  ): { product: string; place: Place; batch?: string; units: number } | undefined {
    const piles = this.products.flatMap(({ id }) =>
      [...this.stock.get(id)!].flatMap(([place, units]) =>
        [...units].flatMap(([batch, count]) =>
          count > 0 && isWanted(place)
            ? [{ product: id, place, units: count, ...(batch === "" ? {} : { batch }) }]
            : [],
        ),
      ),
    );
    return piles.length === 0 ? undefined : this.random.oneOf(piles);
  }
  inPlace(): ReturnType<Books["pile"]> {
    const places = new Set(this.places);
    return this.pile((place) => places.has(place));
  }
  some(units: number): number {
    return this.random.below(4) === 0 ? units : 1 + this.random.below(units);
  }
  batchOf({ batches }: Product): { batch?: string } {
    return batches.length > 0 ? { batch: this.random.oneOf(batches) } : {};
  }
  at(place: Place): object {
    const [type, id] = place.split(":");
    return { [`${type}_id`]: id };
  }
}

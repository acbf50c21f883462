/** Rows that were taken out of the queue to be written. */
export interface TakenRows<Row = unknown> {
  rows: Row[];
  /** The function of `auth` that writes them. */
  writeFunction: string;
  /** Puts them back into the queue. */
  putBack: () => void;
}

/** Rows that wait to be written to the database, one for each key. Beyond a maximum, new keys are dropped. */
export class PendingRows<Row> {
  readonly #writeFunction: string;
  readonly #max: number;
  readonly #keyOf: (row: Row) => string;
  readonly #merge: (waiting: Row, row: Row) => void;
  #rows = new Map<string, Row>();

  /**
   * @param by the function of `auth` that writes them
   * @param merge adds a row to the waiting one with its key
   */
  constructor(by: string, max: number, keyOf: (row: Row) => string, merge: (waiting: Row, row: Row) => void) {
    this.#writeFunction = by;
    this.#max = max;
    this.#keyOf = keyOf;
    this.#merge = merge;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = this.#keyOf(row);
      const waiting = this.#rows.get(key);
      if (waiting) this.#merge(waiting, row);
      else if (this.#rows.size < this.#max) this.#rows.set(key, row);
    }
  }

  /** Removes and returns all rows. */
  take(): TakenRows<Row> {
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    return { rows, writeFunction: this.#writeFunction, putBack: () => this.add(rows) };
  }
}

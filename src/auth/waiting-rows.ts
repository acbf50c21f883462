/** Rows that wait to be written to the database, one for each key. Beyond a maximum, new keys are left out. */
export class WaitingRows<Row> {
  readonly #max: number;
  readonly #keyOf: (row: Row) => string;
  readonly #merge: (waiting: Row, row: Row) => void;
  #rows = new Map<string, Row>();

  /** @param merge adds a row to the waiting one with its key */
  constructor(max: number, keyOf: (row: Row) => string, merge: (waiting: Row, row: Row) => void) {
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

  /** Returns the rows, which wait no longer. */
  take(): Row[] {
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    return rows;
  }
}

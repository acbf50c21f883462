import type pg from "pg";

/** How many connections and statements of a number that others need, too, one may have at present. */
export interface Share {
  /** Whether it has more than are its due while others wait, so that it should close one. */
  mustYield: () => boolean;
  /** Whether there is room for one that could wait. */
  mayGrow: () => boolean;
  /** Notes that it has a statement to send. */
  noteUse: () => void;
  /** Its statements that may run at a time, beside quick reads. */
  mostStatements: () => number;
}

/** Opens connections of such a number. Without one, pools open theirs themselves. */
export interface Allotment extends Share {
  /** For pools and single connections: opens one when there is room. */
  Client: typeof pg.Client;
  /** Notes a pool, of which idle connections may be closed when others need them. */
  add(pool: pg.Pool): void;
}

import type pg from "pg";

/** The connections and statements that one of several merchants may use at present. */
export interface Share {
  /** Whether it has more than its due while others wait, so that it should close a connection. */
  mustYield: () => boolean;
  /** Whether it may open a connection that could wait. */
  mayGrow: () => boolean;
  /** Notes that it has a statement to run. */
  noteUse: () => void;
  /** Returns how many statements it may run at a time, not counting quick reads. */
  mostStatements: () => number;
}

/** Opens connections within a share. Pools without an allotment open connections themselves. */
export interface Allotment extends Share {
  /** The class of connections, for pools and single ones. It waits until one may be opened. */
  Client: typeof pg.Client;
  /** Adds a pool, whose idle connections are closed when others need them. */
  add(pool: pg.Pool): void;
}

import type { PgResource } from "postgraphile/@dataplan/pg";

/** Two columns that must be equal: one of this row, one of the row to find. */
export interface Match {
  local: string;
  remote: string;
}

/** A join from one view to the next. */
export interface Hop {
  to: PgResource;
  on: readonly Match[];
}

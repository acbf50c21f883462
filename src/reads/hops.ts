import type { PgResource } from "postgraphile/@dataplan/pg";

/** Two columns that must be equal: of the present row, and of the wanted row. */
export interface Match {
  local: string;
  remote: string;
}

/** A join from one view to the next. */
export interface Hop {
  to: PgResource;
  on: readonly Match[];
}

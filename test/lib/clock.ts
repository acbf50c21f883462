import type { ClientBase, Pool } from "pg";

/**
 * Moves the clock of the ledger by an interval such as `-40 days`; `0` moves it back. Every connection has the moved clock
 * from its next statement on. Only the owner of the functions can do this.
 */
export async function moveClock(owner: ClientBase | Pool, by: string): Promise<void> {
  const later = by === "0" ? "" : ` + interval '${by}'`;
  await owner.query(
    `create or replace function ledger.moment() returns timestamptz language sql volatile
     return clock_timestamp()${later};
     create or replace function ledger.moment_of_statement() returns timestamptz language sql stable
     return statement_timestamp()${later}`,
  );
}

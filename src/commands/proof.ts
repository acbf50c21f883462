import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { say } from "./terminal.ts";

/** Says that the books are right. @throws {UserError} with the first differences when they aren't */
export async function reportProof(client: pg.Client): Promise<void> {
  const { rows: differences } = await client.query<Record<string, unknown>>(
    "select * from ledger.proof union all select * from valuation.proof limit 10",
  );
  if (differences.length === 0) return say("ledger.proof is empty: the books are right.");
  const lines = differences.map((row) => `  ${JSON.stringify(row)}`).join("\n");
  throw new UserError(`The books are wrong. The first rows of ledger.proof:\n${lines}`);
}

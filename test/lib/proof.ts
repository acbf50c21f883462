import assert from "node:assert/strict";
import type { ClientBase, Pool } from "pg";

/** Reads stored figures that differ from the ledger, five at most. Prepared, because planning takes most of the time. */
export async function ledgerDifferences(client: ClientBase | Pool): Promise<Record<string, string>[]> {
  const { rows } = await client.query<Record<string, string>>({
    name: "proof",
    text: "select figure, stored, expected from ledger.proof union all select figure, stored, expected from valuation.proof limit 5",
  });
  return rows;
}

/** Fails when a stored figure differs from the ledger. */
export async function assertProof(client: ClientBase | Pool): Promise<void> {
  assert.deepEqual(await ledgerDifferences(client), []);
}

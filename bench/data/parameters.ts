import { withClient } from "../../src/database/client.ts";
import type { Parameters, ReadName } from "../queries/reads.ts";
import { readQueries } from "../queries/reads.ts";

/** How deep the page of E is where there are that many movements. */
const depth = 200_000;

/** The requests of a query: the same ones in every run on the same data. */
export function parametersOf(ownerUrl: string, query: ReadName, most: number): Promise<Parameters[]> {
  const { variants, parameters } = readQueries[query];
  const wanted = Math.min(variants, most);
  return withClient(ownerUrl, async (client) => {
    const { rows: counts } = await client.query<{ count: string }>("select count(*) from ledger.stock_movement");
    // The statement of E takes every fiftieth row from there on
    const deep = Math.max(0, Math.min(depth, Number(counts[0]!.count) - 51 * wanted));
    const { rows } = await client.query<Record<string, string>>(parameters, [wanted, deep]);
    return rows;
  });
}

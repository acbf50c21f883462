import { withClient } from "../../src/postgres/client.ts";
import type { Parameters, ReadName } from "../queries/reads.ts";
import { readQueries } from "../queries/reads.ts";

/** Depth of E's page, if there are that many movements. */
const depth = 200_000;

export interface ParameterOptions {
  /** The number of movements. */
  most?: number;
  /** Position of E's page, as a share of all movements. */
  depthShare?: number;
}

/** The requests of a query: the same in every run on the same data. */
export function parametersOf(
  ownerUrl: string,
  query: ReadName,
  { most = Infinity, depthShare }: ParameterOptions = {},
): Promise<Parameters[]> {
  const { variants, parameters } = readQueries[query];
  const wanted = Math.min(variants, most);
  return withClient(ownerUrl, async (client) => {
    const { rows: counts } = await client.query<{ count: string }>(
      "select count(*) from ledger.stock_movement",
    );
    // The statement of E takes every fiftieth row from there on
    const deepest = Number(counts[0]!.count) - 51 * wanted;
    const deep = Math.max(0, Math.min(depthShare === undefined ? depth : deepest * depthShare, deepest));
    const { rows } = await client.query<Record<string, string>>(parameters, [wanted, Math.floor(deep)]);
    return rows;
  });
}

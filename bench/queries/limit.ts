import { afterPrefix } from "../../src/reads/filter-operators.ts";
import type { ContestantRequest, Parameters, ReadName } from "./reads.ts";

/** A query for the server without GraphQL: the values of its statement. */
export function askLimit(query: ReadName, parameters: Parameters): ContestantRequest {
  const { prefix, ...others } = parameters;
  const range = prefix === undefined ? [] : [prefix, afterPrefix(prefix)];
  return { path: `/${query}`, body: [...range, ...Object.values(others)] };
}

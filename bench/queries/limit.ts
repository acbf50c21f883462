import { findPrefixEnd } from "../../src/reads/filter-operators.ts";
import type { PreparedRequest } from "../measure/load.ts";
import type { ContestantRequest, Parameters, ReadName } from "./reads.ts";
import type { WriteCall } from "./writes.ts";
import { booksAll, withKey } from "./writes.ts";

/** Makes a request for LIMIT, with the values of its statement. */
export function askLimit(query: ReadName, parameters: Parameters): ContestantRequest {
  const { prefix, ...others } = parameters;
  const range = prefix === undefined ? [] : [prefix, findPrefixEnd(prefix)];
  return { path: `/${query}`, body: [...range, ...Object.values(others)] };
}

/** Makes a mutation for LIMIT's own ledger. */
export function writeToLimit(call: WriteCall): PreparedRequest {
  const [path, values] = statementOf(call);
  return withKey(
    path,
    (key) => [key, ...values],
    booksAll(call, (body) => ({ userErrors: [], movements: (body as { movements: unknown[] }).movements })),
  );
}

function statementOf(call: WriteCall): [path: string, values: string[]] {
  if ("ship" in call) return ["/ship", [call.ship]];
  const lines = call.more.map(({ product, bin }) => ({ product, place: bin, delta: 1 }));
  const [one] = lines;
  return lines.length === 1
    ? ["/adjust-one", [one!.product, one!.place, "1"]]
    : ["/adjust-many", [JSON.stringify(lines)]];
}

/** Makes a mutation for the service's own database function. */
export function writeToFunction(call: WriteCall): PreparedRequest {
  const [operation, input] =
    "ship" in call
      ? ["order_shipment_complete", { order_id: call.ship }]
      : [
          "stock_adjust",
          {
            lines: call.more.map(({ product, bin }) => ({
              product_id: product,
              place: { bin_location_id: bin },
              delta: 1,
            })),
          },
        ];
  return withKey(
    "/run",
    (key) => [key, operation, JSON.stringify(input)],
    booksAll(call, (body) => {
      const { payload, userErrors } = body as {
        payload: { stock_movements: unknown[] } | null;
        userErrors: unknown[];
      };
      return { userErrors, movements: payload?.stock_movements ?? null };
    }),
  );
}

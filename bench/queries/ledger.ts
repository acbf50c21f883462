import { encodeCursor } from "../../src/graphql/cursor.ts";
import { encodeGlobalId } from "../../src/graphql/global-id.ts";
import type { ContestantRequest, Parameters } from "./reads.ts";
import { askService } from "./service.ts";

/** A page of the ledger, whose time must not grow with it. */
export interface LedgerRead {
  title: string;
  /** A statement for the parameters of $1 requests. */
  parameters: string;
  ask(parameters: Parameters): ContestantRequest;
}

/** Numbers of movements have no gaps, so any of them is found at once. */
const last = "(select max(sequence) from ledger.movement_sequence)";
/** Numbers spread over the whole ledger: each next one is the golden section further. */
const anywhere = `1 + floor((${last} - 200) * ((n * 0.6180339887) % 1))`;

const numbered = (number: string, columns = "m.id as after"): string => `
  select ${columns} from generate_series(1, $1::integer) n
  join ledger.movement_sequence s on s.sequence = (${number})::bigint
  join ledger.stock_movement m on m.id = s.movement_id`;

const atDepth = (share: number): LedgerRead => ({
  title: `20 movements, ${share === 0 ? "at the beginning" : share === 1 ? "at the end" : "in the middle"}`,
  parameters: numbered(`1 + floor((${last} - 51 * $1::integer) * ${share}) + 50 * n`),
  ask: (parameters) => askService("E", parameters),
});

const page = "edges { node { id quantity createdAt processTypeTechnicalName } } pageInfo { hasNextPage }";

const ask = (query: string, variables: Record<string, string>): ContestantRequest => ({
  path: "/api/graphql/unstable",
  body: { query, variables },
});

export const ledgerReads: Record<string, LedgerRead> = {
  D: {
    title: "100 movements with product, warehouses and bins, anywhere",
    parameters: numbered(anywhere),
    ask: (parameters) => askService("D", parameters),
  },
  E0: atDepth(0),
  E50: atDepth(0.5),
  E100: atDepth(1),
  F: {
    title: "following: what came after the last 20",
    parameters: numbered(`${last} - 20 - n % 5`),
    ask: ({ after }) =>
      ask(`query F($after: String!) { stockMovements(first: 50, after: $after) { ${page} } }`, {
        after: encodeCursor("Query.stockMovements", after!),
      }),
  },
  T: {
    title: "20 movements before a moment, newest first",
    parameters: numbered(
      anywhere,
      `to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as till`,
    ),
    ask: ({ till }) =>
      ask(
        `query T($till: DateTime!) {
          stockMovements(first: 20, orderBy: CREATED_AT_DESC, filter: { createdAt: { before: $till } }) { ${page} }
        }`,
        { till: till! },
      ),
  },
  P: {
    title: "a product's newest 10 movements",
    parameters: numbered(anywhere, "m.product_id as product"),
    ask: ({ product }) =>
      ask(
        `query P($product: ID!) {
          stockMovements(first: 10, orderBy: ID_DESC, filter: { productId: { equals: $product } }) { ${page} }
        }`,
        { product: encodeGlobalId("Product", product!) },
      ),
  },
  R: {
    title: "a bin and the first 10 movements that went there (relation)",
    parameters: `select l.id as bin from erp.bin_location l
      where exists (select from ledger.stock_movement m where m.destination_bin_location_id = l.id)
      order by l.id limit $1`,
    ask: ({ bin }) =>
      ask(
        `query R($bin: ID!) { binLocation(id: $bin) { code destinationStockMovements(first: 10) { ${page} } } }`,
        {
          bin: encodeGlobalId("BinLocation", bin!),
        },
      ),
  },
};

/** Parameters in neutral terms: ids as uuids, positions as the uuid of the previous row. */
export type Parameters = Readonly<Record<string, string>>;

/** A query in neutral terms, for all contestants. */
export interface ReadQuery {
  title: string;
  /** Number of different requests. Responses are kept for comparison, so queries with large ones have fewer. */
  variants: number;
  /**
   * A statement for the parameters of the requests, spread over all data by a digest of the ids; always the same ones.
   * It may use $1, the number of requests, and $2, the depth of E.
   */
  parameters: string;
}

/** Some pseudorandom rows of a table. */
const some = (columns: string, table: string, condition = "true") =>
  `select ${columns} from ${table} where ${condition} and $2::bigint is not null order by sha256(id::text::bytea) limit $1`;

/** Formats a time for GraphQL. */
const moment = (column: string): string =>
  `to_char((${column}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

export const readQueries = {
  A: {
    title: "a product by id, 6 fields",
    variants: 500,
    parameters: some("id", "erp.product"),
  },
  B: {
    title: "10 products by the beginning of their number",
    variants: 200,
    parameters: some("left(product_number, 7) as prefix", "erp.product"),
  },
  C: {
    title: "20 orders with currency, 5 lines each, and their products",
    variants: 60,
    parameters: some("id as after", "erp.sales_order"),
  },
  D: {
    title: "100 stock movements with product, warehouses and bins",
    variants: 30,
    parameters: some("id as after", "ledger.stock_movement"),
  },
  E: {
    title: "20 stock movements, 200,000 rows deep",
    variants: 200,
    parameters: `select id as after from (
        select id, row_number() over (order by id) as n from ledger.stock_movement order by id offset $2 limit 50 * $1
      ) m where n % 50 = 0`,
  },
  F: {
    title: "a product, an order, warehouses and currencies at once",
    variants: 200,
    parameters: `select p.id as product, o.id as order
      from (select id, row_number() over (order by sha256(id::text::bytea)) as n from erp.product) p
      join (select id, row_number() over (order by sha256(id::text::bytea)) as n from erp.sales_order) o using (n)
      where $2::bigint is not null order by n limit $1`,
  },
  G: {
    title: "products by one of three columns (OR)",
    variants: 200,
    parameters: some(
      `left(product_number, 8) as prefix, gtin, manufacturer_number as "manufacturerNumber"`,
      "erp.product",
      "gtin is not null and manufacturer_number is not null",
    ),
  },
  H: {
    title: "20 products with 5 tags each, many to many",
    variants: 60,
    parameters: some("id as after", "erp.product"),
  },
  I: {
    title: "20 orders of a state before a moment, newest first (order)",
    variants: 100,
    parameters: some(`state, ${moment("order_date_time")} as "till"`, "erp.sales_order"),
  },
  J: {
    title: "sums of two weeks' orders, together and by state (aggregates)",
    variants: 60,
    parameters: some(
      `${moment("order_date_time")} as "since", ${moment("order_date_time + interval '14 days'")} as "till"`,
      "erp.sales_order",
    ),
  },
  K: {
    title: "20 orders with a product in one of their lines (filter through a relation)",
    variants: 100,
    parameters: some("product_id as product", "erp.sales_order_line_item", "product_id is not null"),
  },
} satisfies Record<string, ReadQuery>;

export type ReadName = keyof typeof readQueries;
export const readNames = Object.keys(readQueries) as ReadName[];

/** A request to a contestant. */
export interface ContestantRequest {
  path: string;
  /** Request body of a POST. Without a body it is a GET. */
  body?: unknown;
}

import { withClient } from "../../src/postgres/client.ts";
import type { Ask, Adapter } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";
import type { ReadName } from "./reads.ts";

/** Foreign keys that the service returns as ids; Directus returns the row instead. */
const keys = new Set(["productId", "processTypeTechnicalName"]);

const product = `product: product_id { id productNumber: product_number name }`;
const from = `limit: $limit, offset: $offset, sort: ["id"]`;

/**
 * The queries in the GraphQL of Directus, whose lists have no edges. H goes through a link table, which the service
 * hides.
 */
const documents: Partial<Record<ReadName, string>> = {
  A: `query A($id: ID!) {
    product: product_by_id(id: $id) {
      id productNumber: product_number name gtin physicalStock: physical_stock availableStock: available_stock
    }
  }`,
  B: `query B($prefix: String!) {
    products: product(limit: 11, sort: ["id"], filter: { product_number: { _starts_with: $prefix } }) {
      id productNumber: product_number name availableStock: available_stock
    }
  }`,
  C: `query C($limit: Int!, $offset: Int!) {
    orders: sales_order(${from}) {
      id orderNumber: order_number orderDateTime: order_date_time amountTotal: amount_total
      currency: currency_id { isoCode: iso_code }
      lineItems: line_items(limit: 5, sort: ["id"]) { id quantity unitPrice: unit_price ${product} }
    }
  }`,
  D: `query D($limit: Int!, $offset: Int!) {
    stockMovements: stock_movement(${from}) {
      id quantity createdAt: created_at ${product}
      sourceWarehouse: source_warehouse_id { id code } destinationWarehouse: destination_warehouse_id { id code }
      sourceBinLocation: source_bin_location_id { id code }
      destinationBinLocation: destination_bin_location_id { id code }
    }
  }`,
  E: `query E($limit: Int!, $offset: Int!) {
    stockMovements: stock_movement(${from}) {
      id quantity createdAt: created_at processTypeTechnicalName: process_type_technical_name { technical_name }
      productId: product_id { id }
    }
  }`,
  F: `query F($product: ID!, $order: ID!) {
    product: product_by_id(id: $product) { id productNumber: product_number name }
    order: sales_order_by_id(id: $order) { id orderNumber: order_number state amountTotal: amount_total }
    warehouses: warehouse(limit: 3, sort: ["id"]) { id code name }
    currencies: currency(limit: 5, sort: ["id"]) { id isoCode: iso_code }
  }`,
  G: `query G($prefix: String!, $gtin: String!, $manufacturerNumber: String!) {
    products: product(limit: 10, sort: ["id"], filter: { _or: [
      { product_number: { _starts_with: $prefix } } { gtin: { _eq: $gtin } }
      { manufacturer_number: { _eq: $manufacturerNumber } }
    ] }) { id productNumber: product_number name gtin manufacturerNumber: manufacturer_number }
  }`,
};

/** Pages: number of rows, and table. Directus can't continue after an id, so it gets an offset. */
const pages: Partial<Record<ReadName, { limit: number; table: string }>> = {
  C: { limit: 20, table: "erp.sales_order" },
  D: { limit: 100, table: "ledger.stock_movement" },
  // One more row shows whether there is a next page
  E: { limit: 21, table: "ledger.stock_movement" },
};

/** Page sizes of queries whose response says whether there is a next page. */
const withNextPage: Partial<Record<ReadName, number>> = { B: 10, E: 20 };

/** Prepares requests for Directus. The offsets of pages are counted in the database. */
export async function makeDirectusAdapter(_ask: Ask, ownerUrl: string): Promise<Adapter> {
  return {
    async ask(query, parameters) {
      const page = pages[query];
      const variables = page
        ? { limit: page.limit, offset: await positionAfter(ownerUrl, page.table, parameters.after!) }
        : parameters;
      return { path: "/graphql", body: { query: documents[query], variables } };
    },
    read: (query, body) => toConnections(dataOf(body) as Row, withNextPage[query]),
  };
}

function positionAfter(url: string, table: string, id: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ position: number }>(
      `select count(*)::integer as position from ${table} where id <= $1`,
      [id],
    );
    return rows[0]!.position;
  });
}

type Row = Record<string, unknown>;

/** Converts lists to connections, and rows that stand for a foreign key to the key. */
function toConnections(row: Row, pageSize?: number): Row {
  const entries = Object.entries(row).map(([name, value]) => [name, formOf(value, name, pageSize)]);
  return Object.fromEntries(entries) as Row;
}

function formOf(value: unknown, name: string, pageSize?: number): unknown {
  if (Array.isArray(value)) {
    const edges = (value as Row[]).slice(0, pageSize).map((node) => ({ node: toConnections(node) }));
    return pageSize === undefined ? { edges } : { edges, pageInfo: { hasNextPage: value.length > pageSize } };
  }
  if (typeof value !== "object" || value === null) return value;
  const row = value as Row;
  if (keys.has(name)) return Object.values(row)[0];
  return toConnections(row);
}

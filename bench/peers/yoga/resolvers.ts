import type { Loaders } from "./loaders.ts";
import { afterOf, cursorOf, idOf, uuidOf } from "./ids.ts";
import type { Row, View } from "./rows.ts";
import { columns } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

export interface Context {
  transaction: Transaction;
  loaders: Loaders;
}

interface PageArguments {
  first: number;
  after?: string;
  filter?: ProductFilter;
}

interface ProductFilter {
  OR?: ProductFilter[];
  [field: string]: { equals?: string; startsWith?: string } | ProductFilter[] | undefined;
}

const filterColumns: Record<string, string> = {
  productNumber: "product_number",
  gtin: "gtin",
  manufacturerNumber: "manufacturer_number",
};

function page(rows: Row[], first: number) {
  const shown = rows.slice(0, first);
  return {
    edges: shown.map((node) => ({ node, cursor: () => cursorOf(node.id) })),
    pageInfo: {
      hasNextPage: rows.length > first,
      endCursor: () => (shown.length ? cursorOf(shown.at(-1)!.id) : null),
    },
  };
}

const one =
  (view: View) =>
  async (_: unknown, { id }: { id: string }, { transaction }: Context) => {
    const text = `select ${columns[view]} from api_unstable.${view} where id = $1`;
    return (await transaction.query<Row>(text, [uuidOf(id)]))[0] ?? null;
  };

const list =
  (view: View) =>
  async (_: unknown, { first, after, filter }: PageArguments, { transaction }: Context) => {
    const values: unknown[] = [first + 1];
    const conditions = filter ? [condition(filter, values)] : [];
    if (after !== undefined) conditions.push(`id > $${values.push(afterOf(after))}`);
    const where = conditions.length ? `where ${conditions.join(" and ")}` : "";
    const text = `select ${columns[view]} from api_unstable.${view} ${where} order by id limit $1`;
    return page(await transaction.query<Row>(text, values), first);
  };

/** A filter as SQL, whose values are added to the statement's. */
function condition({ OR, ...fields }: ProductFilter, values: unknown[]): string {
  const parts = Object.entries(fields).map(([field, filter]) => {
    const column = filterColumns[field]!;
    const { equals, startsWith } = filter as { equals?: string; startsWith?: string };
    if (equals !== undefined) return `${column} = $${values.push(equals)}`;
    const after =
      startsWith!.slice(0, -1) + String.fromCharCode(startsWith!.charCodeAt(startsWith!.length - 1) + 1);
    return `${column} >= $${values.push(startsWith)} and ${column} < $${values.push(after)}`;
  });
  if (OR) parts.push(`(${OR.map((part) => `(${condition(part, values)})`).join(" or ")})`);
  return parts.join(" and ");
}

const id = (type: string) => (row: Row) => idOf(type, row.id);
const number = (field: string) => (row: Row) => (row[field] === null ? null : Number(row[field]));
const time = (field: string) => (row: Row) => (row[field] as Date).toISOString();
const related = (loader: "products" | "warehouses" | "bin_locations" | "currencies", field: string) => {
  return (row: Row, _: unknown, { loaders }: Context) =>
    row[field] === null ? null : loaders[loader].load(row[field] as string);
};
const listOf =
  (loader: "lineItems" | "tags") =>
  async (row: Row, { first }: PageArguments, { loaders }: Context) =>
    page(await loaders[loader].load({ parent: row.id, first }), first);

export const resolvers = {
  Query: {
    product: one("products"),
    order: one("orders"),
    products: list("products"),
    orders: list("orders"),
    stockMovements: list("stock_movements"),
    warehouses: list("warehouses"),
    currencies: list("currencies"),
  },
  Product: { id: id("Product"), tags: listOf("tags") },
  Order: {
    id: id("Order"),
    orderDateTime: time("orderDateTime"),
    amountTotal: number("amountTotal"),
    currency: related("currencies", "currencyId"),
    lineItems: listOf("lineItems"),
  },
  OrderLineItem: {
    id: id("OrderLineItem"),
    unitPrice: number("unitPrice"),
    product: related("products", "productId"),
  },
  StockMovement: {
    id: id("StockMovement"),
    createdAt: time("createdAt"),
    productId: (row: Row) => idOf("Product", row.productId as string),
    product: related("products", "productId"),
    sourceWarehouse: related("warehouses", "sourceWarehouseId"),
    destinationWarehouse: related("warehouses", "destinationWarehouseId"),
    sourceBinLocation: related("bin_locations", "sourceBinLocationId"),
    destinationBinLocation: related("bin_locations", "destinationBinLocationId"),
  },
  Warehouse: { id: id("Warehouse") },
  BinLocation: { id: id("BinLocation") },
  Currency: { id: id("Currency") },
  Tag: { id: id("Tag") },
};

import { builder } from "./builder.ts";

// Scopes on types, as the service has them on views.

const Tag = builder.drizzleNode("tags", {
  name: "Tag",
  id: { column: (tag) => tag.id },
  authScopes: { scope: "tags:read" },
  fields: (t) => ({ name: t.exposeString("name") }),
});

const Product = builder.drizzleNode("products", {
  name: "Product",
  id: { column: (product) => product.id },
  authScopes: { scope: "products:read" },
  fields: (t) => ({
    productNumber: t.exposeString("productNumber"),
    name: t.exposeString("name", { nullable: true }),
    gtin: t.exposeString("gtin", { nullable: true }),
    manufacturerNumber: t.exposeString("manufacturerNumber", { nullable: true }),
    physicalStock: t.exposeInt("physicalStock", { nullable: true }),
    availableStock: t.exposeInt("availableStock", { nullable: true }),
    tags: t.relatedConnection("tags", { query: { orderBy: { id: "asc" } } }),
  }),
});

const Currency = builder.drizzleNode("currencies", {
  name: "Currency",
  id: { column: (currency) => currency.id },
  authScopes: { scope: "currencies:read" },
  fields: (t) => ({ isoCode: t.exposeString("isoCode") }),
});

builder.drizzleNode("orderLineItems", {
  name: "OrderLineItem",
  id: { column: (line) => line.id },
  authScopes: { scope: "orders:read" },
  fields: (t) => ({
    quantity: t.exposeInt("quantity"),
    unitPrice: t.exposeFloat("unitPrice", { nullable: true }),
    product: t.relation("product", { nullable: true }),
  }),
});

const Order = builder.drizzleNode("orders", {
  name: "Order",
  id: { column: (order) => order.id },
  authScopes: { scope: "orders:read" },
  fields: (t) => ({
    orderNumber: t.exposeString("orderNumber", { nullable: true }),
    orderDateTime: t.exposeString("orderDateTime"),
    state: t.exposeString("state"),
    amountTotal: t.exposeFloat("amountTotal", { nullable: true }),
    currency: t.relation("currency", { nullable: true }),
    lineItems: t.relatedConnection("lineItems", { query: { orderBy: { id: "asc" } } }),
  }),
});

const Warehouse = builder.drizzleNode("warehouses", {
  name: "Warehouse",
  id: { column: (warehouse) => warehouse.id },
  authScopes: { scope: "warehouses:read" },
  fields: (t) => ({ code: t.exposeString("code"), name: t.exposeString("name") }),
});

builder.drizzleNode("binLocations", {
  name: "BinLocation",
  id: { column: (bin) => bin.id },
  authScopes: { scope: "warehouses:read" },
  fields: (t) => ({ code: t.exposeString("code") }),
});

const StockMovement = builder.drizzleNode("stockMovements", {
  name: "StockMovement",
  id: { column: (movement) => movement.id },
  authScopes: { scope: "stocks:read" },
  fields: (t) => ({
    quantity: t.exposeInt("quantity"),
    createdAt: t.exposeString("createdAt"),
    processTypeTechnicalName: t.exposeString("processTypeTechnicalName", { nullable: true }),
    productId: t.exposeID("productId"),
    product: t.relation("product", { nullable: true }),
    sourceWarehouse: t.relation("sourceWarehouse", { nullable: true }),
    destinationWarehouse: t.relation("destinationWarehouse", { nullable: true }),
    sourceBinLocation: t.relation("sourceBinLocation", { nullable: true }),
    destinationBinLocation: t.relation("destinationBinLocation", { nullable: true }),
  }),
});

const StringFilter = builder.inputType("StringFilter", {
  fields: (t) => ({ equals: t.string(), startsWith: t.string() }),
});

interface TextFilter {
  equals?: string | null;
  startsWith?: string | null;
}

interface ProductFilter {
  OR?: ProductFilter[] | null;
  productNumber?: TextFilter | null;
  gtin?: TextFilter | null;
  manufacturerNumber?: TextFilter | null;
}

const ProductFilterInput = builder.inputRef<ProductFilter>("ProductFilterInput").implement({
  fields: (t) => ({
    OR: t.field({ type: [ProductFilterInput] }),
    productNumber: t.field({ type: StringFilter }),
    gtin: t.field({ type: StringFilter }),
    manufacturerNumber: t.field({ type: StringFilter }),
  }),
});

/** A prefix as a range, which the index answers. */
function text(filter: TextFilter | null | undefined) {
  if (filter == null) return undefined;
  const { equals, startsWith } = filter;
  if (startsWith == null) return { eq: equals! };
  const last = startsWith.length - 1;
  return {
    gte: startsWith,
    lt: startsWith.slice(0, last) + String.fromCharCode(startsWith.charCodeAt(last) + 1),
  };
}

function where({ OR, productNumber, gtin, manufacturerNumber }: ProductFilter): object {
  return {
    ...(productNumber ? { productNumber: text(productNumber) } : {}),
    ...(gtin ? { gtin: text(gtin) } : {}),
    ...(manufacturerNumber ? { manufacturerNumber: text(manufacturerNumber) } : {}),
    ...(OR ? { OR: OR.map(where) } : {}),
  };
}

/** Drizzle's release candidate types rows less exactly than Pothos expects. */
const rows = (found: PromiseLike<unknown>) => found as Promise<never[]>;

builder.queryType({
  fields: (t) => ({
    product: t.drizzleField({
      type: Product,
      nullable: true,
      args: { id: t.arg.globalID({ required: true }) },
      resolve: (query, _root, { id }, { db }) => db.query.products.findFirst(query({ where: { id: id.id } })),
    }),
    order: t.drizzleField({
      type: Order,
      nullable: true,
      args: { id: t.arg.globalID({ required: true }) },
      resolve: (query, _root, { id }, { db }) => db.query.orders.findFirst(query({ where: { id: id.id } })),
    }),
    products: t.drizzleConnection({
      type: Product,
      args: { filter: t.arg({ type: ProductFilterInput }) },
      resolve: (query, _root, { filter }, { db }) =>
        rows(
          db.query.products.findMany(
            query({ orderBy: { id: "asc" }, ...(filter ? { where: where(filter) } : {}) }),
          ),
        ),
    }),
    orders: t.drizzleConnection({
      type: Order,
      resolve: (query, _root, _args, { db }) =>
        rows(db.query.orders.findMany(query({ orderBy: { id: "asc" } }))),
    }),
    stockMovements: t.drizzleConnection({
      type: StockMovement,
      resolve: (query, _root, _args, { db }) =>
        rows(db.query.stockMovements.findMany(query({ orderBy: { id: "asc" } }))),
    }),
    warehouses: t.drizzleConnection({
      type: Warehouse,
      resolve: (query, _root, _args, { db }) =>
        rows(db.query.warehouses.findMany(query({ orderBy: { id: "asc" } }))),
    }),
    currencies: t.drizzleConnection({
      type: Currency,
      resolve: (query, _root, _args, { db }) =>
        rows(db.query.currencies.findMany(query({ orderBy: { id: "asc" } }))),
    }),
  }),
});

void Tag;
export const schema = builder.toSchema();

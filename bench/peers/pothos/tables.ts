import { defineRelations } from "drizzle-orm";
import { integer, numeric, pgSchema, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";

// The same views as for all, declared as tables for Drizzle.

const views = pgSchema("api_unstable");
const time = (name: string) => timestamp(name, { withTimezone: true, mode: "string" });

const products = views.table("products", {
  id: uuid("id").primaryKey(),
  productNumber: text("product_number").notNull(),
  name: text("name"),
  gtin: text("gtin"),
  manufacturerNumber: text("manufacturer_number"),
  physicalStock: integer("physical_stock"),
  availableStock: integer("available_stock"),
});

const productTags = views.table(
  "product_tags",
  { productId: uuid("product_id").notNull(), tagId: uuid("tag_id").notNull() },
  (table) => [primaryKey({ columns: [table.productId, table.tagId] })],
);

const tags = views.table("tags", { id: uuid("id").primaryKey(), name: text("name").notNull() });

const orders = views.table("orders", {
  id: uuid("id").primaryKey(),
  orderNumber: text("order_number"),
  orderDateTime: time("order_date_time").notNull(),
  state: text("state").notNull(),
  amountTotal: numeric("amount_total", { mode: "number" }),
  currencyId: uuid("currency_id").notNull(),
});

const orderLineItems = views.table("order_line_items", {
  id: uuid("id").primaryKey(),
  orderId: uuid("order_id").notNull(),
  productId: uuid("product_id"),
  quantity: integer("quantity").notNull(),
  unitPrice: numeric("unit_price", { mode: "number" }),
});

const stockMovements = views.table("stock_movements", {
  id: uuid("id").primaryKey(),
  quantity: integer("quantity").notNull(),
  createdAt: time("created_at").notNull(),
  processTypeTechnicalName: text("process_type_technical_name"),
  productId: uuid("product_id").notNull(),
  sourceWarehouseId: uuid("source_warehouse_id"),
  destinationWarehouseId: uuid("destination_warehouse_id"),
  sourceBinLocationId: uuid("source_bin_location_id"),
  destinationBinLocationId: uuid("destination_bin_location_id"),
});

const warehouses = views.table("warehouses", {
  id: uuid("id").primaryKey(),
  code: text("code").notNull(),
  name: text("name").notNull(),
});

const binLocations = views.table("bin_locations", {
  id: uuid("id").primaryKey(),
  code: text("code").notNull(),
});

const currencies = views.table("currencies", {
  id: uuid("id").primaryKey(),
  isoCode: text("iso_code").notNull(),
});

const tables = {
  products,
  productTags,
  tags,
  orders,
  orderLineItems,
  stockMovements,
  warehouses,
  binLocations,
  currencies,
};

export const relations = defineRelations(tables, (r) => ({
  products: {
    tags: r.many.tags({
      from: r.products.id.through(r.productTags.productId),
      to: r.tags.id.through(r.productTags.tagId),
    }),
  },
  orders: {
    currency: r.one.currencies({ from: r.orders.currencyId, to: r.currencies.id }),
    lineItems: r.many.orderLineItems({ from: r.orders.id, to: r.orderLineItems.orderId }),
  },
  orderLineItems: { product: r.one.products({ from: r.orderLineItems.productId, to: r.products.id }) },
  stockMovements: {
    product: r.one.products({ from: r.stockMovements.productId, to: r.products.id }),
    sourceWarehouse: r.one.warehouses({ from: r.stockMovements.sourceWarehouseId, to: r.warehouses.id }),
    destinationWarehouse: r.one.warehouses({
      from: r.stockMovements.destinationWarehouseId,
      to: r.warehouses.id,
    }),
    sourceBinLocation: r.one.binLocations({
      from: r.stockMovements.sourceBinLocationId,
      to: r.binLocations.id,
    }),
    destinationBinLocation: r.one.binLocations({
      from: r.stockMovements.destinationBinLocationId,
      to: r.binLocations.id,
    }),
  },
}));

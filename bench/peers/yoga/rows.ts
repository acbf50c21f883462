/** The selected columns of each view, by field. */
export const columns = {
  products: `id, product_number as "productNumber", name, gtin, manufacturer_number as "manufacturerNumber",
    physical_stock as "physicalStock", available_stock as "availableStock"`,
  orders: `id, order_number as "orderNumber", order_date_time as "orderDateTime", state, amount_total as "amountTotal",
    currency_id as "currencyId"`,
  order_line_items: `id, order_id as "orderId", product_id as "productId", quantity, unit_price as "unitPrice"`,
  stock_movements: `id, quantity, created_at as "createdAt", process_type_technical_name as "processTypeTechnicalName",
    product_id as "productId", source_warehouse_id as "sourceWarehouseId", destination_warehouse_id as "destinationWarehouseId",
    source_bin_location_id as "sourceBinLocationId", destination_bin_location_id as "destinationBinLocationId"`,
  warehouses: "id, code, name",
  bin_locations: "id, code",
  currencies: `id, iso_code as "isoCode"`,
  tags: "id, name",
} as const;

export type View = keyof typeof columns;

export interface Row {
  id: string;
  [field: string]: unknown;
}

--! Previous: sha1:832e1f75d904745501799f71a75e185e7e6cd7f5
--! Hash: sha1:e5d6aec301b42cbd9434e69ed5037a7b573244cf
--! Message: version-2026-06-unstable

-- From here on each migration derives in its own transaction what follows from it, and leaves frozen versions as they
-- were released
create trigger finish after insert on graphile_migrate.migrations
  for each row execute function api_meta.finish_committed_migration();

-- The version of June 2026 as it was released: clones of what the head was then, made by api_meta.freeze.

create schema api_2026_06_unstable;
comment on schema api_2026_06_unstable is 'Frozen clone of api_unstable.';

create type api_2026_06_unstable.bin_location_create_input as (
  warehouse_id uuid,
  code text,
  "position" integer
);
comment on type api_2026_06_unstable.bin_location_create_input is 'A new bin.';
comment on column api_2026_06_unstable.bin_location_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse that it is in.';
comment on column api_2026_06_unstable.bin_location_create_input.code is
  E'@notNull\nLabel, unique in the warehouse; 1 to 100 characters.';
comment on column api_2026_06_unstable.bin_location_create_input."position" is
  'Place on the pick route; lower is visited first.';

create type api_2026_06_unstable.bin_location_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.bin_location_delete_input is 'A bin to delete.';
comment on column api_2026_06_unstable.bin_location_delete_input.id is
  E'@notNull\n@gid BinLocation\nId of the bin.';

create type api_2026_06_unstable.bin_location_update_input as (
  id uuid,
  code text,
  "position" integer
);
comment on type api_2026_06_unstable.bin_location_update_input is
  'Changes of a bin. What is left out stays as it is. A bin stays in its warehouse.';
comment on column api_2026_06_unstable.bin_location_update_input.id is
  E'@notNull\n@gid BinLocation\nId of the bin.';
comment on column api_2026_06_unstable.bin_location_update_input.code is
  'Label, unique in the warehouse; 1 to 100 characters.';
comment on column api_2026_06_unstable.bin_location_update_input."position" is
  'Place on the pick route; lower is visited first. Null takes it off the route.';

create type api_2026_06_unstable.currency_factor_origin_type as enum (
  'ExchangeRateImport',
  'Manual',
  'ShopCurrencyFactor'
);
comment on type api_2026_06_unstable.currency_factor_origin_type is
  E'\n'
  '@value ExchangeRateImport The automatic update of exchange rates.\n'
  '@value Manual Somebody set it for this goods receipt.\n'
  '@value ShopCurrencyFactor The factor of the currency in the shop, kept without the automatic update.\n'
  'Where the exchange rate of a goods receipt came from.';

create type api_2026_06_unstable.customer_account_type as enum (
  'Private',
  'Business'
);
comment on type api_2026_06_unstable.customer_account_type is
  E'\n@value Private A person.\n@value Business A company.\nWhether a person or a company buys.';

create type api_2026_06_unstable.fulfillment_cancel_input as (
  id uuid,
  comment text
);
comment on type api_2026_06_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_2026_06_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_2026_06_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_2026_06_unstable.fulfillment_order_cancel_input as (
  id uuid
);
comment on type api_2026_06_unstable.fulfillment_order_cancel_input is 'A fulfillment order to cancel.';
comment on column api_2026_06_unstable.fulfillment_order_cancel_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create type api_2026_06_unstable.fulfillment_order_hold_input as (
  id uuid,
  comment text
);
comment on type api_2026_06_unstable.fulfillment_order_hold_input is 'A fulfillment order to put on hold.';
comment on column api_2026_06_unstable.fulfillment_order_hold_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_2026_06_unstable.fulfillment_order_hold_input.comment is
  'Why it has to wait, in at most 1,000 characters. Kept until the hold is released.';

create type api_2026_06_unstable.fulfillment_order_release_hold_input as (
  id uuid
);
comment on type api_2026_06_unstable.fulfillment_order_release_hold_input is
  'A fulfillment order to go on with.';
comment on column api_2026_06_unstable.fulfillment_order_release_hold_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create type api_2026_06_unstable.fulfillment_order_start_input as (
  id uuid
);
comment on type api_2026_06_unstable.fulfillment_order_start_input is 'A fulfillment order to start with.';
comment on column api_2026_06_unstable.fulfillment_order_start_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create type api_2026_06_unstable.fulfillment_order_state as enum (
  'Open',
  'InProgress',
  'OnHold',
  'Closed',
  'Cancelled'
);
comment on type api_2026_06_unstable.fulfillment_order_state is
  E'\n'
  '@value Open Nobody has begun.\n'
  '@value InProgress Work such as picking has begun.\n'
  '@value OnHold The merchant paused it; nobody may work on it until it is released.\n'
  '@value Closed No work is left. Not everything need have been fulfilled.\n'
  '@value Cancelled Its quantities are not to be shipped from its location any more.\n'
  'How far the work on a fulfillment order is.';

create type api_2026_06_unstable.fulfillment_order_type as enum (
  'WarehouseLocationToOrder',
  'ExternalToOrder'
);
comment on type api_2026_06_unstable.fulfillment_order_type is
  E'\n'
  '@value WarehouseLocationToOrder A location of the merchant ships to the customer, and the work is '
  'done in this system.\n'
  '@value ExternalToOrder A location outside this system ships, such as a fulfillment network; this '
  'system only mirrors it.\n'
  'Who ships a fulfillment order.';

create type api_2026_06_unstable.fulfillment_state as enum (
  'Fulfilled',
  'Cancelled'
);
comment on type api_2026_06_unstable.fulfillment_state is
  E'\n'
  '@value Fulfilled The shipping work was done.\n'
  '@value Cancelled It was taken back; its quantities are open again on the fulfillment order.\n'
  'Whether shipping work stands.';

create type api_2026_06_unstable.goods_receipt_approve_input as (
  id uuid
);
comment on type api_2026_06_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_2026_06_unstable.goods_receipt_approve_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create type api_2026_06_unstable.goods_receipt_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.goods_receipt_delete_input is 'A goods receipt to delete.';
comment on column api_2026_06_unstable.goods_receipt_delete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create type api_2026_06_unstable.goods_receipt_line_input as (
  id uuid,
  product_id uuid,
  quantity integer,
  batch_id uuid,
  batch_number text,
  supplier_order_line_item_id uuid,
  supplier_order_id uuid,
  return_order_id uuid,
  unit_price numeric,
  tax_rate numeric,
  planned_disposal_quantity integer,
  destination_bin_location_id uuid
);
comment on type api_2026_06_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_input.id is
  E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_2026_06_unstable.goods_receipt_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.goods_receipt_line_input.quantity is
  E'@notNull\nUnits that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_2026_06_unstable.goods_receipt_line_input.batch_id is
  E'@gid Batch\nId of the batch that comes in.';
comment on column api_2026_06_unstable.goods_receipt_line_input.batch_number is
  'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_2026_06_unstable.goods_receipt_line_input.supplier_order_line_item_id is
  E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_2026_06_unstable.goods_receipt_line_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order whose line with this product is delivered.';
comment on column api_2026_06_unstable.goods_receipt_line_input.return_order_id is
  E'@gid ReturnOrder\nId of the return order that the goods come from; on receipts of type Customer.';
comment on column api_2026_06_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt. When left out, that of the supplier order.';
comment on column api_2026_06_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. When left out, that of the supplier order or of the product.';
comment on column api_2026_06_unstable.goods_receipt_line_input.planned_disposal_quantity is
  'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_2026_06_unstable.goods_receipt_line_input.destination_bin_location_id is
  E'@gid BinLocation\nId of the bin that the units are to be put into.';

create type api_2026_06_unstable.goods_receipt_line_items_set_input as (
  id uuid,
  line_items api_2026_06_unstable.goods_receipt_line_input[]
);
comment on type api_2026_06_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_items_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_items_set_input.line_items is
  E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create type api_2026_06_unstable.goods_receipt_start_input as (
  id uuid
);
comment on type api_2026_06_unstable.goods_receipt_start_input is 'A goods receipt to start.';
comment on column api_2026_06_unstable.goods_receipt_start_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create type api_2026_06_unstable.goods_receipt_type as enum (
  'Free',
  'Customer',
  'Supplier'
);
comment on type api_2026_06_unstable.goods_receipt_type is
  E'\n'
  '@value Free Stands alone: neither a supplier order nor a return is behind it.\n'
  '@value Customer Books what a customer sends back.\n'
  '@value Supplier Books what supplier orders bring.\n'
  'Where the goods of a receipt come from.';

create type api_2026_06_unstable.goods_receipt_update_input as (
  id uuid,
  warehouse_id uuid,
  supplier_id uuid,
  customer_id uuid,
  currency_id uuid,
  currency_factor numeric,
  tax_status text,
  comment text,
  is_draft boolean
);
comment on type api_2026_06_unstable.goods_receipt_update_input is
  'Changes of a goods receipt. What is left out stays as it is.';
comment on column api_2026_06_unstable.goods_receipt_update_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_update_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse that receives the goods.';
comment on column api_2026_06_unstable.goods_receipt_update_input.supplier_id is
  E'@gid Supplier\nId of the supplier.';
comment on column api_2026_06_unstable.goods_receipt_update_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_2026_06_unstable.goods_receipt_update_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts, which are not converted; the exchange rate is taken anew.';
comment on column api_2026_06_unstable.goods_receipt_update_input.currency_factor is
  'Exchange rate, set by hand: units of the currency per unit of the default currency. Null takes the '
  'rate of this moment. It can be changed until a stock valuation report counts with it.';
comment on column api_2026_06_unstable.goods_receipt_update_input.tax_status is
  'Whether prices are net, gross or tax-free.';
comment on column api_2026_06_unstable.goods_receipt_update_input.comment is 'Free note.';
comment on column api_2026_06_unstable.goods_receipt_update_input.is_draft is
  'Whether the receipt is only a draft; until it is approved.';

create type api_2026_06_unstable.order_shipment_complete_input as (
  order_id uuid,
  tracking_codes text[],
  documents text[],
  comment text
);
comment on type api_2026_06_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_2026_06_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_2026_06_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_2026_06_unstable.order_shipment_complete_input.documents is
  'Documents to make of the order, by technical names of document types, for example invoice and '
  'delivery_note.';
comment on column api_2026_06_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_2026_06_unstable.price as (
  currency_id uuid,
  net numeric,
  gross numeric,
  linked boolean
);
comment on type api_2026_06_unstable.price is
  E'@name Price\nAn amount of money in one currency, with and without tax.';
comment on column api_2026_06_unstable.price.currency_id is
  E'@notNull\n@gid Currency\nCurrency of the amounts.';
comment on column api_2026_06_unstable.price.net is E'@notNull\nAmount without tax.';
comment on column api_2026_06_unstable.price.gross is E'@notNull\nAmount with tax.';
comment on column api_2026_06_unstable.price.linked is
  E'@notNull\nWhether one of the amounts follows from the other by the tax rate.';

create type api_2026_06_unstable.product_supplier_configuration_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.product_supplier_configuration_delete_input is
  'An assignment to delete.';
comment on column api_2026_06_unstable.product_supplier_configuration_delete_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';

create type api_2026_06_unstable.product_supplier_configuration_set_default_input as (
  id uuid
);
comment on type api_2026_06_unstable.product_supplier_configuration_set_default_input is
  'A default supplier.';
comment on column api_2026_06_unstable.product_supplier_configuration_set_default_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment of the supplier to the product.';

create type api_2026_06_unstable.product_warehouse_configuration_set_input as (
  product_id uuid,
  warehouse_id uuid,
  default_bin_location_id uuid,
  reorder_point integer,
  target_maximum_quantity integer
);
comment on type api_2026_06_unstable.product_warehouse_configuration_set_input is
  'How a product is kept in a warehouse. What is left out stays as it is; where there was nothing, it '
  'is empty, and the reorder point 0.';
comment on column api_2026_06_unstable.product_warehouse_configuration_set_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.product_warehouse_configuration_set_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_2026_06_unstable.product_warehouse_configuration_set_input.default_bin_location_id is
  E'@gid BinLocation\n'
  'Id of the bin of this warehouse that the product is put in unless something else says otherwise; '
  'null for none.';
comment on column api_2026_06_unstable.product_warehouse_configuration_set_input.reorder_point is
  'Stock in the warehouse at which it is to be refilled; not negative.';
comment on column api_2026_06_unstable.product_warehouse_configuration_set_input.target_maximum_quantity is
  'Stock to fill up to; null for no such target.';

create type api_2026_06_unstable.purchase_price_input as (
  currency_id uuid,
  net numeric,
  gross numeric,
  linked boolean
);
comment on type api_2026_06_unstable.purchase_price_input is 'A purchase price in one currency.';
comment on column api_2026_06_unstable.purchase_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_2026_06_unstable.purchase_price_input.net is
  E'@notNull\nAmount without tax; not negative.';
comment on column api_2026_06_unstable.purchase_price_input.gross is
  E'@notNull\nAmount with tax; not negative.';
comment on column api_2026_06_unstable.purchase_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_2026_06_unstable.stock_place_input as (
  warehouse_id uuid,
  bin_location_id uuid
);
comment on type api_2026_06_unstable.stock_place_input is
  'A place that holds stock: either a warehouse, for what lies in it outside of bins, or a bin.';
comment on column api_2026_06_unstable.stock_place_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse.';
comment on column api_2026_06_unstable.stock_place_input.bin_location_id is
  E'@gid BinLocation\nId of the bin.';

create type api_2026_06_unstable.stock_set_line_input as (
  product_id uuid,
  place api_2026_06_unstable.stock_place_input,
  quantity integer,
  batch_id uuid,
  expected_quantity integer,
  counted_at timestamp with time zone
);
comment on type api_2026_06_unstable.stock_set_line_input is
  'What the stock of a product in a place is to be.';
comment on column api_2026_06_unstable.stock_set_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.stock_set_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_2026_06_unstable.stock_set_line_input.quantity is
  E'@notNull\nUnits that are there; not negative.';
comment on column api_2026_06_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that was counted. The line then sets the stock of this batch only. Needed for '
  'products that are kept in batches.';
comment on column api_2026_06_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';
comment on column api_2026_06_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted. What came and went after that second stays on top of it: the stock '
  'becomes the quantity and all later movements, save what other counts have corrected (processes api '
  'and stocktaking). So the same count can be sent again. Without it the quantity holds for now.';

create type api_2026_06_unstable.stock_transfer_line_input as (
  product_id uuid,
  source api_2026_06_unstable.stock_place_input,
  destination api_2026_06_unstable.stock_place_input,
  quantity integer,
  batch_id uuid,
  expected_quantity integer
);
comment on type api_2026_06_unstable.stock_transfer_line_input is
  'Units that move from one place to another.';
comment on column api_2026_06_unstable.stock_transfer_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.stock_transfer_line_input.source is
  E'@notNull\nWhere it is taken from.';
comment on column api_2026_06_unstable.stock_transfer_line_input.destination is E'@notNull\nWhere it goes.';
comment on column api_2026_06_unstable.stock_transfer_line_input.quantity is
  E'@notNull\nUnits that move; at least 1.';
comment on column api_2026_06_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_2026_06_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_2026_06_unstable.supplier_order_cancel_input as (
  id uuid
);
comment on type api_2026_06_unstable.supplier_order_cancel_input is 'A supplier order to cancel.';
comment on column api_2026_06_unstable.supplier_order_cancel_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create type api_2026_06_unstable.supplier_order_complete_input as (
  id uuid
);
comment on type api_2026_06_unstable.supplier_order_complete_input is 'A supplier order to complete.';
comment on column api_2026_06_unstable.supplier_order_complete_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create type api_2026_06_unstable.supplier_order_confirm_input as (
  id uuid,
  supplier_order_number text,
  delivery_date timestamp with time zone
);
comment on type api_2026_06_unstable.supplier_order_confirm_input is 'A supplier order to confirm.';
comment on column api_2026_06_unstable.supplier_order_confirm_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_2026_06_unstable.supplier_order_confirm_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_2026_06_unstable.supplier_order_confirm_input.delivery_date is
  'When the supplier says that the goods come.';

create type api_2026_06_unstable.supplier_order_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.supplier_order_delete_input is 'A supplier order to delete.';
comment on column api_2026_06_unstable.supplier_order_delete_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create type api_2026_06_unstable.supplier_order_line_input as (
  id uuid,
  product_id uuid,
  quantity integer,
  unit_price numeric,
  tax_rate numeric,
  expected_delivery_date timestamp with time zone
);
comment on type api_2026_06_unstable.supplier_order_line_input is 'A line of a supplier order.';
comment on column api_2026_06_unstable.supplier_order_line_input.id is
  E'@gid SupplierOrderLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_2026_06_unstable.supplier_order_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.supplier_order_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_2026_06_unstable.supplier_order_line_input.unit_price is
  'Price of one unit, with tax if the order''s tax status is gross. When left out, the supplier''s '
  'price in the currency of the order.';
comment on column api_2026_06_unstable.supplier_order_line_input.tax_rate is
  'Tax rate in percent. When left out, that of the product.';
comment on column api_2026_06_unstable.supplier_order_line_input.expected_delivery_date is
  'When the units are expected.';

create type api_2026_06_unstable.supplier_order_line_items_set_input as (
  id uuid,
  line_items api_2026_06_unstable.supplier_order_line_input[]
);
comment on type api_2026_06_unstable.supplier_order_line_items_set_input is 'The lines of a supplier order.';
comment on column api_2026_06_unstable.supplier_order_line_items_set_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_2026_06_unstable.supplier_order_line_items_set_input.line_items is
  E'@notNull\nAll lines that the order is to have, up to 250. Lines that are not among them go.';

create type api_2026_06_unstable.supplier_order_send_input as (
  id uuid
);
comment on type api_2026_06_unstable.supplier_order_send_input is 'A supplier order to send.';
comment on column api_2026_06_unstable.supplier_order_send_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create type api_2026_06_unstable.supplier_order_update_input as (
  id uuid,
  supplier_id uuid,
  warehouse_id uuid,
  currency_id uuid,
  tax_status text,
  supplier_order_number text,
  order_date_time timestamp with time zone,
  due_date timestamp with time zone,
  delivery_date timestamp with time zone,
  comment text
);
comment on type api_2026_06_unstable.supplier_order_update_input is
  'Changes of a supplier order. What is left out stays as it is.';
comment on column api_2026_06_unstable.supplier_order_update_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_2026_06_unstable.supplier_order_update_input.supplier_id is
  E'@gid Supplier\nId of the supplier; only while the order is open.';
comment on column api_2026_06_unstable.supplier_order_update_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse that the goods are to come to; only while the order is open.';
comment on column api_2026_06_unstable.supplier_order_update_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts, which are not converted; only while the order is open.';
comment on column api_2026_06_unstable.supplier_order_update_input.tax_status is
  'Whether prices are net, gross or tax-free; only while the order is open.';
comment on column api_2026_06_unstable.supplier_order_update_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_2026_06_unstable.supplier_order_update_input.order_date_time is
  'When the order was placed; only while the order is open.';
comment on column api_2026_06_unstable.supplier_order_update_input.due_date is 'When the invoice is due.';
comment on column api_2026_06_unstable.supplier_order_update_input.delivery_date is
  'When the goods are expected.';
comment on column api_2026_06_unstable.supplier_order_update_input.comment is 'Free note.';

create type api_2026_06_unstable.user_error_code as enum (
  'REQUIRED',
  'INVALID',
  'NOT_FOUND',
  'NOT_UNIQUE',
  'OUT_OF_RANGE',
  'INVALID_STATE_TRANSITION',
  'NOT_EDITABLE',
  'INSUFFICIENT_STOCK',
  'QUANTITY_CHANGED',
  'OVER_RECEIPT',
  'OVER_FULFILLMENT',
  'BATCH_REQUIRED',
  'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY',
  'REFERENCE_IN_USE',
  'CURRENCY_FACTOR_LOCKED',
  'EXTERNALLY_MANAGED',
  'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH',
  'TOO_MANY_LINES',
  'URL_FORBIDDEN',
  'SCOPE_MISSING'
);
comment on type api_2026_06_unstable.user_error_code is
  E'\n'
  '@value REQUIRED Something is missing, or null where it must not be.\n'
  '@value INVALID A value makes no sense here; the message says why.\n'
  '@value NOT_FOUND An id leads to nothing.\n'
  '@value NOT_UNIQUE Something else has this value already.\n'
  '@value OUT_OF_RANGE A number, a moment or the length of a text is too small or too large.\n'
  '@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that '
  'it allows.\n'
  '@value NOT_EDITABLE The state, or where it comes from, does not allow changes.\n'
  '@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is '
  'available and requested.\n'
  '@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is '
  'expected and actual.\n'
  '@value OVER_RECEIPT More would be received than can be.\n'
  '@value OVER_FULFILLMENT More would be fulfilled than is open.\n'
  '@value BATCH_REQUIRED The units are kept in batches: a batch must be named.\n'
  '@value BATCH_MISMATCH The batch is of another product.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.\n'
  '@value REFERENCE_IN_USE Something that cannot do without it still refers to it.\n'
  '@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.\n'
  '@value EXTERNALLY_MANAGED Another system manages it; here it can only be read.\n'
  '@value ON_HOLD It is on hold.\n'
  '@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 '
  'hours.\n'
  '@value TOO_MANY_LINES The input has more lines than are allowed at once.\n'
  '@value URL_FORBIDDEN The address may not be called.\n'
  '@value SCOPE_MISSING The access token lacks a scope that depends on the input.\n'
  'What kept a mutation from being done. A version never shows codes that it does not list: later ones '
  'appear as INVALID.';

create type api_2026_06_unstable.warehouse_create_input as (
  code text,
  name text,
  is_default boolean,
  is_default_receiving boolean,
  is_stock_available_for_sale boolean,
  address jsonb
);
comment on type api_2026_06_unstable.warehouse_create_input is 'A new warehouse.';
comment on column api_2026_06_unstable.warehouse_create_input.code is
  E'@notNull\nShort name, unique; 1 to 100 characters.';
comment on column api_2026_06_unstable.warehouse_create_input.name is E'@notNull\nName; 1 to 255 characters.';
comment on column api_2026_06_unstable.warehouse_create_input.is_default is
  'Whether it takes the place of the warehouse that is the default now. False when left out.';
comment on column api_2026_06_unstable.warehouse_create_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now. False when left out.';
comment on column api_2026_06_unstable.warehouse_create_input.is_stock_available_for_sale is
  'Whether its stock may be sold. True when left out.';
comment on column api_2026_06_unstable.warehouse_create_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create type api_2026_06_unstable.warehouse_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.warehouse_delete_input is 'A warehouse to delete.';
comment on column api_2026_06_unstable.warehouse_delete_input.id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';

create type api_2026_06_unstable.warehouse_update_input as (
  id uuid,
  code text,
  name text,
  is_default boolean,
  is_default_receiving boolean,
  is_stock_available_for_sale boolean,
  address jsonb
);
comment on type api_2026_06_unstable.warehouse_update_input is
  'Changes of a warehouse. What is left out stays as it is.';
comment on column api_2026_06_unstable.warehouse_update_input.id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_2026_06_unstable.warehouse_update_input.code is
  'Short name, unique; 1 to 100 characters.';
comment on column api_2026_06_unstable.warehouse_update_input.name is 'Name; 1 to 255 characters.';
comment on column api_2026_06_unstable.warehouse_update_input.is_default is
  'True makes it take the place of the warehouse that is the default now. To make one no longer the '
  'default, make another one it.';
comment on column api_2026_06_unstable.warehouse_update_input.is_default_receiving is
  'The same for the warehouse where goods are received by default.';
comment on column api_2026_06_unstable.warehouse_update_input.is_stock_available_for_sale is
  'Whether its stock may be sold.';
comment on column api_2026_06_unstable.warehouse_update_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress. It replaces the old one '
  'as a whole; null removes it.';

create type api_2026_06_unstable.webhook_deliveries_replay_input as (
  id uuid,
  from_sequence numeric,
  to_sequence numeric,
  from_time timestamp with time zone,
  to_time timestamp with time zone,
  only_undelivered boolean
);
comment on type api_2026_06_unstable.webhook_deliveries_replay_input is
  'A part of the log to be sent to a subscriber, 10,000 events at most.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.from_sequence is
  'Sequence of the first event. This or fromTime must be given.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.to_sequence is
  'Sequence of the last event; without it, up to the newest.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.from_time is
  'When the first event happened.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.to_time is
  'When the last event happened.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_input.only_undelivered is
  'Leaves out what the receiver has taken already. False when left out.';

create type api_2026_06_unstable.webhook_delivery_retry_input as (
  id uuid
);
comment on type api_2026_06_unstable.webhook_delivery_retry_input is 'A delivery to try again.';
comment on column api_2026_06_unstable.webhook_delivery_retry_input.id is
  E'@notNull\n@gid WebhookDelivery\nId of the delivery.';

create type api_2026_06_unstable.webhook_subscription_create_input as (
  topic text,
  url text,
  api_version text,
  fields text[],
  payload_query text,
  enabled boolean
);
comment on type api_2026_06_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.topic is
  E'@notNull\nWhat to be told of, for example order.created. Subscribing needs the scope that reads it.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.url is
  E'@notNull\n'
  'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 '
  'characters at most.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.api_version is
  E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.fields is
  'Fields, as the data of the topic names them, of which one must have changed. Only for topics that '
  'tell of changes; without it, every change is told.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.payload_query is
  'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event '
  'is about. 10,000 characters at most.';
comment on column api_2026_06_unstable.webhook_subscription_create_input.enabled is
  'Whether events are sent from now on. True when left out.';

create type api_2026_06_unstable.webhook_subscription_delete_input as (
  id uuid
);
comment on type api_2026_06_unstable.webhook_subscription_delete_input is 'A webhook subscription to delete.';
comment on column api_2026_06_unstable.webhook_subscription_delete_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create type api_2026_06_unstable.webhook_subscription_enable_input as (
  id uuid
);
comment on type api_2026_06_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_2026_06_unstable.webhook_subscription_enable_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create type api_2026_06_unstable.webhook_subscription_rotate_secret_input as (
  id uuid
);
comment on type api_2026_06_unstable.webhook_subscription_rotate_secret_input is
  'A webhook subscription that gets a new secret.';
comment on column api_2026_06_unstable.webhook_subscription_rotate_secret_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create type api_2026_06_unstable.webhook_subscription_test_input as (
  id uuid
);
comment on type api_2026_06_unstable.webhook_subscription_test_input is 'A webhook subscription to test.';
comment on column api_2026_06_unstable.webhook_subscription_test_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create type api_2026_06_unstable.webhook_subscription_update_input as (
  id uuid,
  url text,
  api_version text,
  fields text[],
  payload_query text,
  enabled boolean
);
comment on type api_2026_06_unstable.webhook_subscription_update_input is
  'Changes of a webhook subscription. What is left out stays as it is. Its topic stays.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.url is
  'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 '
  'characters at most.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.api_version is
  'Version of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.fields is
  'Fields, as the data of the topic names them, of which one must have changed. Only for topics that '
  'tell of changes; without it, every change is told. Null for every change.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.payload_query is
  'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event '
  'is about. 10,000 characters at most. Null for none.';
comment on column api_2026_06_unstable.webhook_subscription_update_input.enabled is
  'False stops it: what waits is kept until it is enabled again, and what happens in between is not sent.';

create type api_2026_06_unstable.fulfillment_create_place_input as (
  place api_2026_06_unstable.stock_place_input,
  quantity integer,
  batch_id uuid
);
comment on type api_2026_06_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_2026_06_unstable.fulfillment_create_place_input.place is
  E'@notNull\nWhere they lie: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_2026_06_unstable.fulfillment_create_place_input.quantity is
  E'@notNull\nHow many; at least 1.';
comment on column api_2026_06_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';

create type api_2026_06_unstable.goods_receipt_create_input as (
  type text,
  warehouse_id uuid,
  supplier_id uuid,
  customer_id uuid,
  currency_id uuid,
  currency_factor numeric,
  tax_status text,
  comment text,
  is_draft boolean,
  supplier_order_ids uuid[],
  line_items api_2026_06_unstable.goods_receipt_line_input[]
);
comment on type api_2026_06_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_create_input.type is
  E'@notNull\n@enum goods_receipt_type\nWhere the goods come from.';
comment on column api_2026_06_unstable.goods_receipt_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that receives the goods. When left out, the one where goods are received by '
  'default.';
comment on column api_2026_06_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\nId of the supplier. When left out, that of the first supplier order.';
comment on column api_2026_06_unstable.goods_receipt_create_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_2026_06_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. When left out, that of the supplier order or of the supplier.';
comment on column api_2026_06_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. When left out, the imported '
  'rate of the day, else that of the shop.';
comment on column api_2026_06_unstable.goods_receipt_create_input.tax_status is
  'Whether prices are net, gross or tax-free.';
comment on column api_2026_06_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_2026_06_unstable.goods_receipt_create_input.is_draft is
  'Whether the receipt is only a draft.';
comment on column api_2026_06_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\nIds of the supplier orders that are delivered; those of the lines need not be named.';
comment on column api_2026_06_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create type api_2026_06_unstable.product_supplier_configuration_create_input as (
  product_id uuid,
  supplier_id uuid,
  supplier_product_number text,
  min_purchase integer,
  purchase_steps integer,
  delivery_time_days integer,
  purchase_prices api_2026_06_unstable.purchase_price_input[],
  supplier_is_default boolean
);
comment on type api_2026_06_unstable.product_supplier_configuration_create_input is
  'A supplier of a product.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.purchase_prices is
  'What the product costs there, one price per currency. They take the place of all present ones. Those '
  'of the default supplier become the purchase prices of the product.';
comment on column api_2026_06_unstable.product_supplier_configuration_create_input.supplier_is_default is
  'Whether it takes the place of the present default supplier. False when left out.';

create type api_2026_06_unstable.product_supplier_configuration_update_input as (
  id uuid,
  supplier_product_number text,
  min_purchase integer,
  purchase_steps integer,
  delivery_time_days integer,
  purchase_prices api_2026_06_unstable.purchase_price_input[]
);
comment on type api_2026_06_unstable.product_supplier_configuration_update_input is
  'Changes of the terms of a supplier. What is left out stays as it is.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_2026_06_unstable.product_supplier_configuration_update_input.purchase_prices is
  'What the product costs there, one price per currency. They take the place of all present ones. Those '
  'of the default supplier become the purchase prices of the product.';

create type api_2026_06_unstable.put_away_input as (
  goods_receipt_line_item_id uuid,
  place api_2026_06_unstable.stock_place_input,
  quantity integer
);
comment on type api_2026_06_unstable.put_away_input is 'Where units of a line are put.';
comment on column api_2026_06_unstable.put_away_input.goods_receipt_line_item_id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_2026_06_unstable.put_away_input.place is
  E'@notNull\nThe bin, or the warehouse for goods that lie outside of bins.';
comment on column api_2026_06_unstable.put_away_input.quantity is
  E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';

create type api_2026_06_unstable.stock_adjust_line_input as (
  product_id uuid,
  place api_2026_06_unstable.stock_place_input,
  delta integer,
  batch_id uuid,
  expected_quantity integer
);
comment on type api_2026_06_unstable.stock_adjust_line_input is
  'How the stock of a product in a place changes.';
comment on column api_2026_06_unstable.stock_adjust_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_2026_06_unstable.stock_adjust_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_2026_06_unstable.stock_adjust_line_input.delta is
  E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_2026_06_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_2026_06_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_2026_06_unstable.stock_set_input as (
  lines api_2026_06_unstable.stock_set_line_input[],
  comment text
);
comment on type api_2026_06_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_2026_06_unstable.stock_set_input.lines is
  E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_2026_06_unstable.stock_set_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_2026_06_unstable.stock_transfer_input as (
  lines api_2026_06_unstable.stock_transfer_line_input[],
  comment text
);
comment on type api_2026_06_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_2026_06_unstable.stock_transfer_input.lines is E'@notNull\nWhat moves; 1 to 250 lines.';
comment on column api_2026_06_unstable.stock_transfer_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_2026_06_unstable.supplier_order_create_input as (
  supplier_id uuid,
  warehouse_id uuid,
  currency_id uuid,
  tax_status text,
  supplier_order_number text,
  order_date_time timestamp with time zone,
  due_date timestamp with time zone,
  delivery_date timestamp with time zone,
  comment text,
  line_items api_2026_06_unstable.supplier_order_line_input[]
);
comment on type api_2026_06_unstable.supplier_order_create_input is 'A new supplier order.';
comment on column api_2026_06_unstable.supplier_order_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_2026_06_unstable.supplier_order_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that the goods are to come to. When left out, the one where goods are received '
  'by default.';
comment on column api_2026_06_unstable.supplier_order_create_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. When left out, the one that the supplier is paid in.';
comment on column api_2026_06_unstable.supplier_order_create_input.tax_status is
  'Whether prices are net, gross or tax-free. Net when left out.';
comment on column api_2026_06_unstable.supplier_order_create_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_2026_06_unstable.supplier_order_create_input.order_date_time is
  'When the order was placed. Now, when left out.';
comment on column api_2026_06_unstable.supplier_order_create_input.due_date is 'When the invoice is due.';
comment on column api_2026_06_unstable.supplier_order_create_input.delivery_date is
  'When the goods are expected.';
comment on column api_2026_06_unstable.supplier_order_create_input.comment is 'Free note.';
comment on column api_2026_06_unstable.supplier_order_create_input.line_items is 'The lines, up to 250.';

create type api_2026_06_unstable.user_error as (
  code api_2026_06_unstable.user_error_code,
  message text,
  field text[],
  details jsonb
);
comment on type api_2026_06_unstable.user_error is
  'Why a mutation was refused. Nothing has been changed then.';
comment on column api_2026_06_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_2026_06_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_2026_06_unstable.user_error.field is
  'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no '
  'single part is.';
comment on column api_2026_06_unstable.user_error.details is
  'Further facts, for programs; which ones depends on the code.';

create type api_2026_06_unstable.warehouse_delete_payload as (
  deleted_warehouse_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.warehouse_delete_payload is 'What deleting a warehouse answers.';
comment on column api_2026_06_unstable.warehouse_delete_payload.deleted_warehouse_id is
  E'@gid Warehouse\nId of the warehouse that is gone; null when it was refused.';
comment on column api_2026_06_unstable.warehouse_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create type api_2026_06_unstable.warehouse_payload as (
  warehouse uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.warehouse_payload is 'What creating or changing a warehouse answers.';
comment on column api_2026_06_unstable.warehouse_payload.warehouse is
  E'@entity Warehouse\nThe warehouse as it is now; null when it was refused.';
comment on column api_2026_06_unstable.warehouse_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.webhook_deliveries_replay_payload as (
  webhook_subscription uuid,
  replayed_count integer,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_deliveries_replay_payload is 'What replaying answers.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_payload.replayed_count is
  'How many events are sent; those that waited anyway are not counted. Null when it was refused.';
comment on column api_2026_06_unstable.webhook_deliveries_replay_payload.user_errors is
  'Why nothing is sent; empty when it is.';

create type api_2026_06_unstable.webhook_delivery_retry_payload as (
  webhook_delivery_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_delivery_retry_payload is
  'What trying a delivery again answers.';
comment on column api_2026_06_unstable.webhook_delivery_retry_payload.webhook_delivery_id is
  E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_2026_06_unstable.webhook_delivery_retry_payload.user_errors is
  'Why it is not tried again; empty when it is.';

create type api_2026_06_unstable.webhook_subscription_delete_payload as (
  deleted_webhook_subscription_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_subscription_delete_payload is
  'What deleting a webhook subscription answers.';
comment on column api_2026_06_unstable.webhook_subscription_delete_payload.deleted_webhook_subscription_id is
  E'@gid WebhookSubscription\nId of the subscription that is gone; null when it was refused.';
comment on column api_2026_06_unstable.webhook_subscription_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create type api_2026_06_unstable.webhook_subscription_payload as (
  webhook_subscription uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_subscription_payload is
  'What changing a webhook subscription answers.';
comment on column api_2026_06_unstable.webhook_subscription_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_2026_06_unstable.webhook_subscription_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.webhook_subscription_secret_payload as (
  webhook_subscription uuid,
  secret text,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_subscription_secret_payload is
  'What subscribing and a new secret answer.';
comment on column api_2026_06_unstable.webhook_subscription_secret_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_2026_06_unstable.webhook_subscription_secret_payload.secret is
  E'@secret\n'
  'What deliveries are signed with, by Standard Webhooks: whsec_ and the key in Base64. Shown this '
  'once: null when the mutation is repeated with its idempotency key.';
comment on column api_2026_06_unstable.webhook_subscription_secret_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.webhook_subscription_test_payload as (
  webhook_delivery_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.webhook_subscription_test_payload is
  'What a test of a webhook subscription answers.';
comment on column api_2026_06_unstable.webhook_subscription_test_payload.webhook_delivery_id is
  E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_2026_06_unstable.webhook_subscription_test_payload.user_errors is
  'Why nothing is sent; empty when it is.';

create type api_2026_06_unstable.bin_location_delete_payload as (
  deleted_bin_location_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.bin_location_delete_payload is 'What deleting a bin answers.';
comment on column api_2026_06_unstable.bin_location_delete_payload.deleted_bin_location_id is
  E'@gid BinLocation\nId of the bin that is gone; null when it was refused.';
comment on column api_2026_06_unstable.bin_location_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create type api_2026_06_unstable.bin_location_payload as (
  bin_location uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.bin_location_payload is 'What creating or changing a bin answers.';
comment on column api_2026_06_unstable.bin_location_payload.bin_location is
  E'@entity BinLocation\nThe bin as it is now; null when it was refused.';
comment on column api_2026_06_unstable.bin_location_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.fulfillment_cancel_payload as (
  fulfillment uuid,
  fulfillment_orders uuid[],
  stock_movements uuid[],
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.fulfillment_cancel_payload is 'What cancelling a fulfillment answers.';
comment on column api_2026_06_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_2026_06_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_2026_06_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_2026_06_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid,
  quantity integer,
  places api_2026_06_unstable.fulfillment_create_place_input[]
);
comment on type api_2026_06_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_2026_06_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_2026_06_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_2026_06_unstable.fulfillment_create_line_input.places is
  'Where the units are taken from, the whole quantity. Left out, they are picked: the bins by their '
  'position, then by code, and at last what lies in no bin; of products that are kept in batches, the '
  'oldest batch first.';

create type api_2026_06_unstable.fulfillment_create_payload as (
  fulfillment uuid,
  fulfillment_order uuid,
  stock_movements uuid[],
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.fulfillment_create_payload is
  'What shipping from a fulfillment order answers.';
comment on column api_2026_06_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_2026_06_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_2026_06_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_2026_06_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';

create type api_2026_06_unstable.fulfillment_order_payload as (
  fulfillment_order uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.fulfillment_order_payload is
  'What changing the state of a fulfillment order answers.';
comment on column api_2026_06_unstable.fulfillment_order_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_2026_06_unstable.fulfillment_order_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.goods_receipt_booking_payload as (
  goods_receipt uuid,
  stock_movements uuid[],
  stocks uuid[],
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.goods_receipt_booking_payload is 'What booking a goods receipt answers.';
comment on column api_2026_06_unstable.goods_receipt_booking_payload.goods_receipt is
  E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_2026_06_unstable.goods_receipt_booking_payload.stock_movements is
  E'@atMost 500\n@perLine put_away\n@entity StockMovement\nThe movements that were booked.';
comment on column api_2026_06_unstable.goods_receipt_booking_payload.stocks is
  E'@atMost 500\n@perLine put_away\n@entity Stock\nThe stock that has changed, as it is now.';
comment on column api_2026_06_unstable.goods_receipt_booking_payload.user_errors is
  'Why nothing was booked; empty when all was.';

create type api_2026_06_unstable.goods_receipt_complete_input as (
  id uuid,
  put_away api_2026_06_unstable.put_away_input[]
);
comment on type api_2026_06_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_2026_06_unstable.goods_receipt_complete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_complete_input.put_away is
  'Where the goods were put. A line that is not named goes to its own bin, else to the usual bin of the '
  'product, else to the warehouse.';

create type api_2026_06_unstable.goods_receipt_delete_payload as (
  deleted_goods_receipt_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.goods_receipt_delete_payload is 'What deleting a goods receipt answers.';
comment on column api_2026_06_unstable.goods_receipt_delete_payload.deleted_goods_receipt_id is
  E'@gid GoodsReceipt\nId of the goods receipt that is gone; null when it was refused.';
comment on column api_2026_06_unstable.goods_receipt_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.goods_receipt_payload as (
  goods_receipt uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.goods_receipt_payload is 'What a mutation of a goods receipt answers.';
comment on column api_2026_06_unstable.goods_receipt_payload.goods_receipt is
  E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_2026_06_unstable.goods_receipt_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.order_shipment_complete_payload as (
  "order" uuid,
  fulfillments uuid[],
  fulfillment_orders uuid[],
  stock_movements uuid[],
  documents uuid[],
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_2026_06_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_2026_06_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_2026_06_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, one that was made for the purpose included.';
comment on column api_2026_06_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_2026_06_unstable.order_shipment_complete_payload.documents is
  E'@perLine documents\n'
  '@entity Document\n'
  'The documents that were made, in the order in which they were asked for.';
comment on column api_2026_06_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';

create type api_2026_06_unstable.product_supplier_configuration_delete_payload as (
  deleted_product_supplier_configuration_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.product_supplier_configuration_delete_payload is
  'What deleting an assignment answers.';
comment on column
  api_2026_06_unstable.product_supplier_configuration_delete_payload.deleted_product_supplier_configuration_id is
  E'@gid ProductSupplierConfiguration\nId of the assignment that is gone; null when it was refused.';
comment on column api_2026_06_unstable.product_supplier_configuration_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.product_supplier_configuration_payload as (
  product_supplier_configuration uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.product_supplier_configuration_payload is
  'What a mutation of how a supplier sells a product answers.';
comment on column
  api_2026_06_unstable.product_supplier_configuration_payload.product_supplier_configuration is
  E'@entity ProductSupplierConfiguration\nThe assignment as it is now; null when it was refused.';
comment on column api_2026_06_unstable.product_supplier_configuration_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.product_warehouse_configuration_payload as (
  product_warehouse_configuration uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.product_warehouse_configuration_payload is
  'What setting the configuration of a product in a warehouse answers.';
comment on column
  api_2026_06_unstable.product_warehouse_configuration_payload.product_warehouse_configuration is
  E'@entity ProductWarehouseConfiguration\nThe settings as they are now; null when they were refused.';
comment on column api_2026_06_unstable.product_warehouse_configuration_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.stock_adjust_input as (
  lines api_2026_06_unstable.stock_adjust_line_input[],
  comment text
);
comment on type api_2026_06_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_2026_06_unstable.stock_adjust_input.lines is
  E'@notNull\nWhat changes; 1 to 250 lines. A product and place may occur in several.';
comment on column api_2026_06_unstable.stock_adjust_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_2026_06_unstable.stock_payload as (
  stock_movements uuid[],
  stocks uuid[],
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.stock_payload is 'What a mutation of stock answers.';
comment on column api_2026_06_unstable.stock_payload.stock_movements is
  E'@perLine lines\n'
  '@entity StockMovement\n'
  'The movements that were booked, in the order of the lines. Empty when there was nothing to book.';
comment on column api_2026_06_unstable.stock_payload.stocks is
  E'@perLine lines 2\n@entity Stock\nThe stock in the places of the lines, as it is now.';
comment on column api_2026_06_unstable.stock_payload.user_errors is
  'Why nothing was booked; empty when all was.';

create type api_2026_06_unstable.supplier_order_delete_payload as (
  deleted_supplier_order_id uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.supplier_order_delete_payload is
  'What deleting a supplier order answers.';
comment on column api_2026_06_unstable.supplier_order_delete_payload.deleted_supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order that is gone; null when it was refused.';
comment on column api_2026_06_unstable.supplier_order_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.supplier_order_payload as (
  supplier_order uuid,
  user_errors api_2026_06_unstable.user_error[]
);
comment on type api_2026_06_unstable.supplier_order_payload is 'What a mutation of a supplier order answers.';
comment on column api_2026_06_unstable.supplier_order_payload.supplier_order is
  E'@entity SupplierOrder\nThe supplier order as it is now; null when it was refused.';
comment on column api_2026_06_unstable.supplier_order_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create type api_2026_06_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid,
  lines api_2026_06_unstable.fulfillment_create_line_input[],
  tracking_codes text[],
  comment text
);
comment on type api_2026_06_unstable.fulfillment_create_input is 'What of a fulfillment order is shipped.';
comment on column api_2026_06_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_2026_06_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_2026_06_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_2026_06_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create view api_2026_06_unstable.batch_tags with (security_invoker=true) as
 SELECT batch_id,
    tag_id
   FROM erp.batch_tag;
comment on view api_2026_06_unstable.batch_tags is
  E'\n'
  '@primaryKey batch_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes batches:read tags:read\n'
  '@foreignKey (batch_id) references batches (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between batches and tags; not a type of the API.';
comment on column api_2026_06_unstable.batch_tags.batch_id is '@notNull';
comment on column api_2026_06_unstable.batch_tags.tag_id is '@notNull';

create view api_2026_06_unstable.batches with (security_invoker=true) as
 SELECT id,
    product_id,
    number,
    comment,
    physical_stock
   FROM erp.batch;
comment on view api_2026_06_unstable.batches is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes batches:read\n'
  '@nullable number\n'
  '@filters comment,number,physical_stock,product_id\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)\n'
  'A batch (lot) of a product. Product and number together are unique.';
comment on column api_2026_06_unstable.batches.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.batches.product_id is E'@notNull\nProduct that the batch is of.';
comment on column api_2026_06_unstable.batches.number is 'Number of the batch, unique for its product.';
comment on column api_2026_06_unstable.batches.comment is 'Free note.';
comment on column api_2026_06_unstable.batches.physical_stock is
  E'@notNull\nUnits of the batch in all warehouses together.';

create view api_2026_06_unstable.bin_location_tags with (security_invoker=true) as
 SELECT bin_location_id,
    tag_id
   FROM erp.bin_location_tag;
comment on view api_2026_06_unstable.bin_location_tags is
  E'\n'
  '@primaryKey bin_location_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes warehouses:read tags:read\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between bin_locations and tags; not a type of the API.';
comment on column api_2026_06_unstable.bin_location_tags.bin_location_id is '@notNull';
comment on column api_2026_06_unstable.bin_location_tags.tag_id is '@notNull';

create view api_2026_06_unstable.bin_locations with (security_invoker=true) as
 SELECT id,
    warehouse_id,
    code,
    "position",
    created_at,
    updated_at
   FROM erp.bin_location;
comment on view api_2026_06_unstable.bin_locations is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes warehouses:read\n'
  '@filters *\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'binLocations\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->bin_location_tags(bin_location_id);(tag_id)->tags(id)\n'
  'The smallest place in a warehouse that has an address of its own.';
comment on column api_2026_06_unstable.bin_locations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.bin_locations.warehouse_id is
  E'@notNull\nWarehouse that the bin is in.';
comment on column api_2026_06_unstable.bin_locations.code is
  E'@notNull\nLabel of the bin, unique in its warehouse.';
comment on column api_2026_06_unstable.bin_locations."position" is
  'Place on the pick route; lower is visited first.';
comment on column api_2026_06_unstable.bin_locations.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.bin_locations.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.countries with (security_invoker=true) as
 SELECT id,
    erp.localized(name::jsonb) AS name
   FROM erp.country;
comment on view api_2026_06_unstable.countries is
  E'\n'
  '@primaryKey id\n'
  '@rootField countrys\n'
  '@requiresScopes countries:read\n'
  '@nullable name\n'
  '@filters id\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_countries(country_id);(sales_channel_id)->sales_channels(id)\n'
  'A country that the shop delivers to.';
comment on column api_2026_06_unstable.countries.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.countries.name is
  'Name of the country, in the language of the request.';

create view api_2026_06_unstable.currencies with (security_invoker=true) as
 SELECT id,
    iso_code,
    symbol,
    erp.localized(name::jsonb) AS name,
    erp.localized(short_name::jsonb) AS short_name,
    factor,
    "position",
    is_default_currency
   FROM erp.currency;
comment on view api_2026_06_unstable.currencies is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes currencies:read\n'
  '@nullable name,short_name,position\n'
  '@filters factor,iso_code,symbol,position\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_currencies(currency_id);(sales_channel_id)->sales_channels(id)\n'
  'A currency that the shop trades in.';
comment on column api_2026_06_unstable.currencies.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.currencies.iso_code is E'@notNull\nThree-letter code of ISO 4217.';
comment on column api_2026_06_unstable.currencies.symbol is E'@notNull\nSign that is printed beside amounts.';
comment on column api_2026_06_unstable.currencies.name is 'Full name, in the language of the request.';
comment on column api_2026_06_unstable.currencies.short_name is 'Short name, in the language of the request.';
comment on column api_2026_06_unstable.currencies.factor is
  E'@notNull\nUnits of this currency per unit of the default currency; 1 for the default.';
comment on column api_2026_06_unstable.currencies."position" is
  'Where the symbol stands: 1 after the amount, 0 before it.';
comment on column api_2026_06_unstable.currencies.is_default_currency is
  E'@notNull\nWhether this is the default currency of the system. Exactly one is.';

create view api_2026_06_unstable.customer_groups with (security_invoker=true) as
 SELECT id,
    erp.localized(name::jsonb) AS name
   FROM erp.customer_group;
comment on view api_2026_06_unstable.customer_groups is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes customer_groups:read\n'
  '@nullable name\n'
  '@filters id\n'
  '@ref registrationSalesChannels to:SalesChannel plural\n'
  '@refVia registrationSalesChannels '
  'via:(id)->sales_channel_registration_groups(customer_group_id);(sales_channel_id)->sales_channels(id)\n'
  '@describe registrationSalesChannels Sales channels where customers can ask to join the group, oldest '
  'first.\n'
  'A group of customers with common terms.';
comment on column api_2026_06_unstable.customer_groups.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.customer_groups.name is
  'Name of the group, in the language of the request.';

create view api_2026_06_unstable.customer_tags with (security_invoker=true) as
 SELECT customer_id,
    tag_id
   FROM erp.customer_tag;
comment on view api_2026_06_unstable.customer_tags is
  E'\n'
  '@primaryKey customer_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes customers:read tags:read\n'
  '@foreignKey (customer_id) references customers (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between customers and tags; not a type of the API.';
comment on column api_2026_06_unstable.customer_tags.customer_id is '@notNull';
comment on column api_2026_06_unstable.customer_tags.tag_id is '@notNull';

create view api_2026_06_unstable.customers with (security_invoker=true) as
 SELECT id,
    customer_number,
    account_type,
    email,
    first_name,
    last_name,
    title,
    company,
    vat_ids,
    active,
    guest,
    group_id,
    sales_channel_id,
    storefront_id,
    created_at,
    updated_at,
    bound_sales_channel_id,
    requested_group_id,
    default_payment_method_id,
    last_payment_method_id,
    salutation_id
   FROM erp.customer;
comment on view api_2026_06_unstable.customers is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes customers:read\n'
  '@hidden bound_sales_channel_id,requested_group_id,default_payment_method_id,last_payment_method_id,'
  'salutation_id\n'
  '@nullable active,guest\n'
  '@columnEnum account_type customer_account_type\n'
  '@filters group_id,sales_channel_id,account_type,active,guest,company,customer_number,email,'
  'first_name,last_name,title,created_at,updated_at\n'
  '@foreignKey (bound_sales_channel_id) references sales_channels (id)|@fieldName '
  'boundSalesChannel|@foreignFieldName boundCustomers\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName customers\n'
  '@foreignKey (default_payment_method_id) references payment_methods (id)|@fieldName '
  'defaultPaymentMethod|@foreignFieldName customers\n'
  '@foreignKey (last_payment_method_id) references payment_methods (id)|@fieldName lastPaymentMethod\n'
  '@foreignKey (group_id) references customer_groups (id)|@fieldName group|@foreignFieldName customers\n'
  '@foreignKey (requested_group_id) references customer_groups (id)|@fieldName requestedGroup\n'
  '@foreignKey (salutation_id) references salutations (id)|@fieldName salutation|@foreignFieldName '
  'customers\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->customer_tags(customer_id);(tag_id)->tags(id)\n'
  'A person or a company that buys.';
comment on column api_2026_06_unstable.customers.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.customers.customer_number is
  E'@notNull\nNumber that the shop knows the customer by; unique.';
comment on column api_2026_06_unstable.customers.account_type is
  E'@notNull\n@enum customer_account_type\nWhether a person or a company buys.';
comment on column api_2026_06_unstable.customers.email is
  E'@notNull\nE-mail address; unique within the sales channel and the channel that the account is bound to.';
comment on column api_2026_06_unstable.customers.first_name is E'@notNull\nGiven name.';
comment on column api_2026_06_unstable.customers.last_name is E'@notNull\nFamily name.';
comment on column api_2026_06_unstable.customers.title is 'Academic or honorary title.';
comment on column api_2026_06_unstable.customers.company is 'Name of the company, for business customers.';
comment on column api_2026_06_unstable.customers.vat_ids is
  'VAT identification numbers, as a JSON array of strings.';
comment on column api_2026_06_unstable.customers.active is 'Whether the account may log in and buy.';
comment on column api_2026_06_unstable.customers.guest is
  'Whether the customer bought without opening an account.';
comment on column api_2026_06_unstable.customers.group_id is E'@notNull\nCustomer group whose terms apply.';
comment on column api_2026_06_unstable.customers.sales_channel_id is
  E'@notNull\nSales channel where the account was made.';
comment on column api_2026_06_unstable.customers.storefront_id is
  'Id of the customer in the external storefront platform; null when not imported from it.';
comment on column api_2026_06_unstable.customers.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.customers.updated_at is
  'When it was last changed; null when it never was.';
comment on column api_2026_06_unstable.customers.bound_sales_channel_id is '@behavior -*';
comment on column api_2026_06_unstable.customers.requested_group_id is '@behavior -*';
comment on column api_2026_06_unstable.customers.default_payment_method_id is '@behavior -*';
comment on column api_2026_06_unstable.customers.last_payment_method_id is '@behavior -*';
comment on column api_2026_06_unstable.customers.salutation_id is '@behavior -*';

create view api_2026_06_unstable.document_types with (security_invoker=true) as
 SELECT id,
    technical_name,
    erp.localized(name::jsonb) AS name
   FROM erp.document_type;
comment on view api_2026_06_unstable.document_types is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@nullable name\n'
  '@filters technical_name\n'
  'A kind of document.';
comment on column api_2026_06_unstable.document_types.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.document_types.technical_name is
  E'@notNull\nStable machine name, for example invoice or credit_note.';
comment on column api_2026_06_unstable.document_types.name is
  'Name for people, in the language of the request.';

create view api_2026_06_unstable.documents with (security_invoker=true) as
 SELECT id,
    document_number,
    deep_link_code,
    config,
    static,
    sent,
    (('/api/_action/document/'::text || id::text) || '/'::text) || deep_link_code AS download_url,
    document_type_id,
    order_id,
    referenced_document_id
   FROM erp.document;
comment on view api_2026_06_unstable.documents is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@hidden document_type_id,order_id,referenced_document_id\n'
  '@nullable static,sent\n'
  '@filters deep_link_code,document_number,sent,static\n'
  '@foreignKey (document_type_id) references document_types (id)|@fieldName '
  'documentType|@foreignFieldName documents\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents\n'
  '@foreignKey (referenced_document_id) references documents (id)|@fieldName '
  'referencedDocument|@foreignFieldName dependentDocuments\n'
  'A document of an order, such as an invoice or a delivery note.';
comment on column api_2026_06_unstable.documents.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.documents.document_number is
  'Number of the document, given when it is rendered, by the number range of its type.';
comment on column api_2026_06_unstable.documents.deep_link_code is
  E'@notNull\nRandom code that opens the document without a login.';
comment on column api_2026_06_unstable.documents.config is
  E'@notNull\n'
  'What the document is rendered from, as it was when it was made: a JSON object. Empty for uploaded '
  'files.';
comment on column api_2026_06_unstable.documents.static is
  'Whether the document was uploaded as a finished file instead of rendered.';
comment on column api_2026_06_unstable.documents.sent is
  'Whether the document was marked as sent to the customer.';
comment on column api_2026_06_unstable.documents.download_url is
  E'@notNull\n'
  'Address that opens the document without a token, relative to the address of the service; stays the '
  'same as long as the document lives.';
comment on column api_2026_06_unstable.documents.document_type_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.documents.order_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.documents.referenced_document_id is '@behavior -*';

create view api_2026_06_unstable.fulfillment_line_items with (security_invoker=true) as
 SELECT id,
    quantity,
    fulfillment_id,
    fulfillment_order_line_item_id,
    product_id
   FROM erp.fulfillment_line_item;
comment on view api_2026_06_unstable.fulfillment_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_id,fulfillment_order_line_item_id,product_id\n'
  '@filters quantity\n'
  '@foreignKey (fulfillment_id) references fulfillments (id)|@fieldName fulfillment|@foreignFieldName '
  'lineItems\n'
  '@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName '
  'fulfillmentOrderLineItem|@foreignFieldName fulfillmentLineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'What a fulfillment shipped of one line of a fulfillment order.';
comment on column api_2026_06_unstable.fulfillment_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.fulfillment_line_items.quantity is
  E'@notNull\nUnits of the fulfillment order''s line that were fulfilled.';
comment on column api_2026_06_unstable.fulfillment_line_items.fulfillment_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.fulfillment_line_items.fulfillment_order_line_item_id is
  E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.fulfillment_line_items.product_id is '@behavior -*';

create view api_2026_06_unstable.fulfillment_order_fulfillments with (security_invoker=true) as
 SELECT fulfillment_order_id,
    fulfillment_id
   FROM erp.fulfillment_order_fulfillment;
comment on view api_2026_06_unstable.fulfillment_order_fulfillments is
  E'\n'
  '@primaryKey fulfillment_order_id,fulfillment_id\n'
  '@behavior -*\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@behavior -*\n'
  '@foreignKey (fulfillment_id) references fulfillments (id)|@behavior -*\n'
  'Link between fulfillment_orders and fulfillments; not a type of the API.';
comment on column api_2026_06_unstable.fulfillment_order_fulfillments.fulfillment_order_id is '@notNull';
comment on column api_2026_06_unstable.fulfillment_order_fulfillments.fulfillment_id is '@notNull';

create view api_2026_06_unstable.fulfillment_order_line_items with (security_invoker=true) as
 SELECT id,
    quantity,
    storefront_id,
    fulfillment_order_id,
    destination_order_line_item_id,
    product_id
   FROM erp.fulfillment_order_line_item;
comment on view api_2026_06_unstable.fulfillment_order_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_order_id,destination_order_line_item_id,product_id\n'
  '@filters quantity,storefront_id\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName lineItems\n'
  '@foreignKey (destination_order_line_item_id) references order_line_items (id)|@fieldName '
  'destinationOrderLineItem\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'What a fulfillment order is to ship of one line of the order.';
comment on column api_2026_06_unstable.fulfillment_order_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.fulfillment_order_line_items.quantity is
  E'@notNull\nUnits of the order line that are assigned here; what has been fulfilled is not subtracted.';
comment on column api_2026_06_unstable.fulfillment_order_line_items.storefront_id is
  'Id in the external storefront platform; null when the order was not imported from it.';
comment on column api_2026_06_unstable.fulfillment_order_line_items.fulfillment_order_id is
  E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.fulfillment_order_line_items.destination_order_line_item_id is
  '@behavior -*';
comment on column api_2026_06_unstable.fulfillment_order_line_items.product_id is '@behavior -*';

create view api_2026_06_unstable.fulfillment_orders with (security_invoker=true) as
 SELECT id,
    number,
    type,
    state,
    is_partially_fulfilled,
    destination_order_id,
    source_warehouse_location_id,
    external_location_name,
    shipping_method_id,
    shipping_method_name,
    shipping_address,
    storefront_id,
    created_at,
    updated_at
   FROM erp.fulfillment_order;
comment on view api_2026_06_unstable.fulfillment_orders is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@gid shipping_method_id ShippingMethod\n'
  '@columnEnum state fulfillment_order_state\n'
  '@columnEnum type fulfillment_order_type\n'
  '@filters destination_order_id,shipping_method_id,source_warehouse_location_id,created_at,updated_at,'
  'is_partially_fulfilled,number,state,type\n'
  '@foreignKey (destination_order_id) references orders (id)|@fieldName '
  'destinationOrder|@foreignFieldName fulfillmentOrders\n'
  '@foreignKey (source_warehouse_location_id) references locations (id)|@fieldName '
  'sourceWarehouseLocation|@foreignFieldName fulfillmentOrders\n'
  '@ref fulfillments to:Fulfillment plural noFilter\n'
  '@refVia fulfillments '
  'via:(id)->fulfillment_order_fulfillments(fulfillment_order_id);(fulfillment_id)->fulfillments(id)\n'
  'Lines of one order, in given quantities, that exactly one location is to ship. An order can have '
  'several.';
comment on column api_2026_06_unstable.fulfillment_orders.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.fulfillment_orders.number is
  E'@notNull\nNumber of the fulfillment order.';
comment on column api_2026_06_unstable.fulfillment_orders.type is
  E'@notNull\n'
  '@enum fulfillment_order_type\n'
  'Who ships: one of the merchant''s locations, or somebody outside the system.';
comment on column api_2026_06_unstable.fulfillment_orders.state is
  E'@notNull\n@enum fulfillment_order_state\nHow far the work is.';
comment on column api_2026_06_unstable.fulfillment_orders.is_partially_fulfilled is
  E'@notNull\nWhether something has been fulfilled while some quantity is still open.';
comment on column api_2026_06_unstable.fulfillment_orders.destination_order_id is
  'Order whose customer gets the goods.';
comment on column api_2026_06_unstable.fulfillment_orders.source_warehouse_location_id is
  'Location that ships; null when fulfilled externally, or when the location has been deleted.';
comment on column api_2026_06_unstable.fulfillment_orders.external_location_name is
  'Name of the external location; null when one of the merchant''s locations ships.';
comment on column api_2026_06_unstable.fulfillment_orders.shipping_method_id is 'Way of shipping.';
comment on column api_2026_06_unstable.fulfillment_orders.shipping_method_name is
  'Name of the way of shipping, as it was when the fulfillment order was made.';
comment on column api_2026_06_unstable.fulfillment_orders.shipping_address is
  'Address as it was when the fulfillment order was made; null when the order had none. An object with '
  'the keys company, department, firstName, lastName, street, additionalAddressLine1, '
  'additionalAddressLine2, zipcode, city, countryName, countryIso, countryStateName, '
  'countryStateShortCode and phoneNumber, each a string or null.';
comment on column api_2026_06_unstable.fulfillment_orders.storefront_id is
  'Id in the external storefront platform; null when the order was not imported from it.';
comment on column api_2026_06_unstable.fulfillment_orders.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.fulfillment_orders.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.fulfillments with (security_invoker=true) as
 SELECT id,
    number,
    state,
    storefront_id,
    created_at
   FROM erp.fulfillment;
comment on view api_2026_06_unstable.fulfillments is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@columnEnum state fulfillment_state\n'
  '@filters *\n'
  'The record of shipping work that was done. It may fulfill a part of a fulfillment order, several of '
  'them, or parts of several.';
comment on column api_2026_06_unstable.fulfillments.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.fulfillments.number is E'@notNull\nNumber of the fulfillment.';
comment on column api_2026_06_unstable.fulfillments.state is
  E'@notNull\n@enum fulfillment_state\nWhether the work stands or was cancelled afterwards.';
comment on column api_2026_06_unstable.fulfillments.storefront_id is
  'Id in the external storefront platform; null when it was not reported there.';
comment on column api_2026_06_unstable.fulfillments.created_at is
  E'@notNull\nWhen the shipping work was recorded.';

create view api_2026_06_unstable.goods_receipt_line_items with (security_invoker=true) as
 SELECT id,
    goods_receipt_id,
    product_id,
    batch_id,
    quantity,
    planned_disposal_quantity,
    return_order_id,
    supplier_order_id,
    unit_price,
    total_price,
    unit_price_in_default_currency,
    total_price_in_default_currency,
    destination_bin_location_id,
    supplier_order_line_item_id
   FROM erp.goods_receipt_line_item;
comment on view api_2026_06_unstable.goods_receipt_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@hidden destination_bin_location_id,supplier_order_line_item_id\n'
  '@gid return_order_id ReturnOrder\n'
  '@filters batch_id,goods_receipt_id,product_id,return_order_id,supplier_order_id,'
  'planned_disposal_quantity,quantity,total_price,total_price_in_default_currency,unit_price,'
  'unit_price_in_default_currency\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName '
  'goodsReceiptLineItems\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationGoodsReceiptLineItems\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName '
  'goodsReceipt|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName goodsReceiptLineItems\n'
  '@foreignKey (supplier_order_line_item_id) references supplier_order_line_items (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName goodsReceiptLineItems\n'
  'A line of a goods receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.goods_receipt_line_items.goods_receipt_id is
  E'@notNull\nGoods receipt that the line belongs to.';
comment on column api_2026_06_unstable.goods_receipt_line_items.product_id is
  'Product that comes in; null when it has been deleted.';
comment on column api_2026_06_unstable.goods_receipt_line_items.batch_id is
  'Batch that comes in, for products that are tracked by batch.';
comment on column api_2026_06_unstable.goods_receipt_line_items.quantity is
  E'@notNull\nUnits; negative when they go out, as in a correction.';
comment on column api_2026_06_unstable.goods_receipt_line_items.planned_disposal_quantity is
  E'@notNull\n'
  'Units of the line that are to be thrown away instead of stocked. Set while the receipt is worked on; '
  '0 again once the receipt is stocked and the disposal booked.';
comment on column api_2026_06_unstable.goods_receipt_line_items.return_order_id is
  'Return order that the line was opened from.';
comment on column api_2026_06_unstable.goods_receipt_line_items.supplier_order_id is
  'Supplier order that the line was opened from.';
comment on column api_2026_06_unstable.goods_receipt_line_items.unit_price is
  'Price of one unit, in the currency of the receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_items.total_price is
  'Unit price times quantity, in the currency of the receipt.';
comment on column api_2026_06_unstable.goods_receipt_line_items.unit_price_in_default_currency is
  'Price of one unit in the default currency, by the currency factor of the receipt. Stock value and '
  'last purchase price follow from it. Null while the line has no price, and on old lines until a '
  'background job fills it.';
comment on column api_2026_06_unstable.goods_receipt_line_items.total_price_in_default_currency is
  'Unit price in the default currency times quantity. Null when the unit price in the default currency is.';
comment on column api_2026_06_unstable.goods_receipt_line_items.destination_bin_location_id is '@behavior -*';
comment on column api_2026_06_unstable.goods_receipt_line_items.supplier_order_line_item_id is '@behavior -*';

create view api_2026_06_unstable.goods_receipt_supplier_orders with (security_invoker=true) as
 SELECT goods_receipt_id,
    supplier_order_id
   FROM erp.goods_receipt_supplier_order;
comment on view api_2026_06_unstable.goods_receipt_supplier_orders is
  E'\n'
  '@primaryKey goods_receipt_id,supplier_order_id\n'
  '@behavior -*\n'
  '@requiresScopes goods_receipts:read supplier_orders:read\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*\n'
  'Link between goods_receipts and supplier_orders; not a type of the API.';
comment on column api_2026_06_unstable.goods_receipt_supplier_orders.goods_receipt_id is '@notNull';
comment on column api_2026_06_unstable.goods_receipt_supplier_orders.supplier_order_id is '@notNull';

create view api_2026_06_unstable.goods_receipt_tags with (security_invoker=true) as
 SELECT goods_receipt_id,
    tag_id
   FROM erp.goods_receipt_tag;
comment on view api_2026_06_unstable.goods_receipt_tags is
  E'\n'
  '@primaryKey goods_receipt_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes goods_receipts:read tags:read\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between goods_receipts and tags; not a type of the API.';
comment on column api_2026_06_unstable.goods_receipt_tags.goods_receipt_id is '@notNull';
comment on column api_2026_06_unstable.goods_receipt_tags.tag_id is '@notNull';

create view api_2026_06_unstable.goods_receipts with (security_invoker=true) as
 SELECT id,
    number,
    type,
    state,
    goods_receipt_date_time,
    warehouse_id,
    supplier_id,
    customer_id,
    user_id,
    currency_id,
    currency_factor,
    currency_factor_origin_type,
    currency_factor_origin_source,
    currency_factor_reference_date,
    currency_factor_captured_at,
    tax_status,
    amount_net,
    amount_total,
    position_price,
    comment
   FROM erp.goods_receipt;
comment on view api_2026_06_unstable.goods_receipts is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@gid user_id User\n'
  '@columnEnum type goods_receipt_type\n'
  '@columnEnum currency_factor_origin_type currency_factor_origin_type\n'
  '@filters *\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'goodsReceipts\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'goodsReceipts\n'
  '@ref supplierOrders to:SupplierOrder plural\n'
  '@refVia supplierOrders '
  'via:(id)->goods_receipt_supplier_orders(goods_receipt_id);(supplier_order_id)->supplier_orders(id)\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->goods_receipt_tags(goods_receipt_id);(tag_id)->tags(id)\n'
  'Goods that come into a warehouse, or go out of it again as a correction.';
comment on column api_2026_06_unstable.goods_receipts.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.goods_receipts.number is
  E'@notNull\nNumber of the goods receipt; unique.';
comment on column api_2026_06_unstable.goods_receipts.type is
  E'@notNull\n'
  '@enum goods_receipt_type\n'
  'Where the goods come from: a supplier, a customer who sends back, or neither.';
comment on column api_2026_06_unstable.goods_receipts.state is
  E'@notNull\ndraft, created, approved, in_progress or completed.';
comment on column api_2026_06_unstable.goods_receipts.goods_receipt_date_time is
  E'@notNull\nWhen the goods moved: the time of completion, and of creation until then.';
comment on column api_2026_06_unstable.goods_receipts.warehouse_id is 'Warehouse that receives the goods.';
comment on column api_2026_06_unstable.goods_receipts.supplier_id is 'Supplier who sends the goods.';
comment on column api_2026_06_unstable.goods_receipts.customer_id is
  'Customer who sends the goods back; set on customer returns only.';
comment on column api_2026_06_unstable.goods_receipts.user_id is
  'Person of the back office who made the receipt.';
comment on column api_2026_06_unstable.goods_receipts.currency_id is
  'Currency of all amounts of the receipt.';
comment on column api_2026_06_unstable.goods_receipts.currency_factor is
  'Exchange rate: units of the receipt''s currency per unit of the default currency. Taken when the '
  'receipt is made; can change until the receipt is part of a stock valuation report.';
comment on column api_2026_06_unstable.goods_receipts.currency_factor_origin_type is
  E'@enum currency_factor_origin_type\n'
  'Where the exchange rate came from; null on receipts older than this record.';
comment on column api_2026_06_unstable.goods_receipts.currency_factor_origin_source is
  'Who published the exchange rate, when it was imported; null otherwise.';
comment on column api_2026_06_unstable.goods_receipts.currency_factor_reference_date is
  'Day for which the exchange rate was published, when it was imported; null otherwise.';
comment on column api_2026_06_unstable.goods_receipts.currency_factor_captured_at is
  'When the exchange rate was taken, or last set by hand; null on receipts older than this record.';
comment on column api_2026_06_unstable.goods_receipts.tax_status is 'gross, net or tax-free.';
comment on column api_2026_06_unstable.goods_receipts.amount_net is
  'Total without tax, in the currency of the receipt.';
comment on column api_2026_06_unstable.goods_receipts.amount_total is
  'Total with tax, in the currency of the receipt.';
comment on column api_2026_06_unstable.goods_receipts.position_price is
  'Sum of the lines before discounts and charges on the whole receipt.';
comment on column api_2026_06_unstable.goods_receipts.comment is 'Free note.';

create view api_2026_06_unstable.locations with (security_invoker=true) as
 SELECT id,
    name,
    active,
    warehouse_id,
    storefront_id,
    created_at,
    updated_at
   FROM erp.location;
comment on view api_2026_06_unstable.locations is
  E'\n'
  '@primaryKey id\n'
  '@unique warehouse_id\n'
  '@requiresScopes locations:read\n'
  '@filters *\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'location\n'
  'A place that orders are fulfilled from.';
comment on column api_2026_06_unstable.locations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.locations.name is E'@notNull\nName of the location.';
comment on column api_2026_06_unstable.locations.active is E'@notNull\nWhether orders may be assigned to it.';
comment on column api_2026_06_unstable.locations.warehouse_id is
  'Warehouse behind the location; null when the system does not manage it.';
comment on column api_2026_06_unstable.locations.storefront_id is
  'Id of the location in the external storefront platform; null when it is not mapped.';
comment on column api_2026_06_unstable.locations.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.locations.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.order_line_items with (security_invoker=true) as
 SELECT id,
    order_id,
    product_id,
    type,
    identifier,
    label,
    description,
    quantity,
    shipped_quantity,
    unit_price,
    total_price,
    storefront_id,
    parent_id
   FROM erp.sales_order_line_item;
comment on view api_2026_06_unstable.order_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@hidden parent_id\n'
  '@nullable shipped_quantity\n'
  '@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems\n'
  '@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName '
  'children\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'orderLineItems\n'
  'A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below '
  'them.';
comment on column api_2026_06_unstable.order_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.order_line_items.order_id is
  E'@notNull\nOrder that the line belongs to.';
comment on column api_2026_06_unstable.order_line_items.product_id is
  'Product that was ordered; set on lines of type product only.';
comment on column api_2026_06_unstable.order_line_items.type is
  'What the line stands for: product, custom, promotion, credit or another word.';
comment on column api_2026_06_unstable.order_line_items.identifier is
  E'@notNull\nIdentifier taken over from the cart; on promotion lines the same as in their payload.';
comment on column api_2026_06_unstable.order_line_items.label is
  E'@notNull\nText shown for the line, as it was when the order was placed.';
comment on column api_2026_06_unstable.order_line_items.description is 'Second line of text.';
comment on column api_2026_06_unstable.order_line_items.quantity is
  E'@notNull\nUnits ordered; always positive.';
comment on column api_2026_06_unstable.order_line_items.shipped_quantity is
  'Units that have been shipped; equals the quantity once all are.';
comment on column api_2026_06_unstable.order_line_items.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_2026_06_unstable.order_line_items.total_price is
  'Price of the line with tax, in the currency of the order: unit price times quantity, less discounts '
  'of the line.';
comment on column api_2026_06_unstable.order_line_items.storefront_id is
  'Id of the line in the external storefront platform; null when it has no line there.';
comment on column api_2026_06_unstable.order_line_items.parent_id is '@behavior -*';

create view api_2026_06_unstable.order_tags with (security_invoker=true) as
 SELECT order_id,
    tag_id
   FROM erp.order_tag;
comment on view api_2026_06_unstable.order_tags is
  E'\n'
  '@primaryKey order_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes orders:read tags:read\n'
  '@foreignKey (order_id) references orders (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between orders and tags; not a type of the API.';
comment on column api_2026_06_unstable.order_tags.order_id is '@notNull';
comment on column api_2026_06_unstable.order_tags.tag_id is '@notNull';

create view api_2026_06_unstable.orders with (security_invoker=true) as
 SELECT id,
    order_number,
    order_date_time,
    state,
    delivery_state,
    payment_state,
    amount_net,
    amount_total,
    currency_id,
    tracking_codes,
    storefront_id,
    created_at,
    updated_at,
    sales_channel_id,
    customer_id
   FROM erp.sales_order;
comment on view api_2026_06_unstable.orders is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@hidden sales_channel_id,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName orders|@noFilter\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
comment on column api_2026_06_unstable.orders.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.orders.order_number is
  'Number that the customer knows the order by, given at checkout.';
comment on column api_2026_06_unstable.orders.order_date_time is E'@notNull\nWhen the customer ordered.';
comment on column api_2026_06_unstable.orders.state is
  E'@notNull\nState of the order, for example open, in_progress, completed or cancelled.';
comment on column api_2026_06_unstable.orders.delivery_state is
  'State of the primary delivery, for example open, shipped or returned.';
comment on column api_2026_06_unstable.orders.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_2026_06_unstable.orders.amount_net is
  'Total without tax, in the currency of the order.';
comment on column api_2026_06_unstable.orders.amount_total is
  'Total with tax, in the currency of the order; computed anew when a line changes.';
comment on column api_2026_06_unstable.orders.currency_id is
  E'@notNull\nCurrency of all amounts of the order.';
comment on column api_2026_06_unstable.orders.tracking_codes is
  'Tracking codes of the primary delivery, as a JSON array of strings: those of shipping labels that '
  'are not cancelled, and those entered by hand. Empty when there are none yet, null when the order has '
  'no delivery.';
comment on column api_2026_06_unstable.orders.storefront_id is
  'Id of the order in the external storefront platform; null when not imported from it.';
comment on column api_2026_06_unstable.orders.created_at is
  E'@notNull\nWhen the row was made; usually the time of the order.';
comment on column api_2026_06_unstable.orders.updated_at is
  'When it was last changed; null when it never was.';
comment on column api_2026_06_unstable.orders.sales_channel_id is '@behavior -*';
comment on column api_2026_06_unstable.orders.customer_id is '@behavior -*';

create view api_2026_06_unstable.payment_methods with (security_invoker=true) as
 SELECT id,
    technical_name,
    erp.localized(name::jsonb) AS name,
    erp.localized(description::jsonb) AS description,
    active,
    "position",
    after_order_enabled,
    created_at,
    updated_at
   FROM erp.payment_method;
comment on view api_2026_06_unstable.payment_methods is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes payment_methods:read\n'
  '@filters technical_name,active,position,after_order_enabled,created_at,updated_at\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_payment_methods(payment_method_id);(sales_channel_id)->sales_channels(id)\n'
  'A way to pay.';
comment on column api_2026_06_unstable.payment_methods.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.payment_methods.technical_name is
  E'@notNull\nStable machine name, for example invoice.';
comment on column api_2026_06_unstable.payment_methods.name is
  'Name shown at checkout, in the language of the request.';
comment on column api_2026_06_unstable.payment_methods.description is
  'Explanation shown at checkout, in the language of the request.';
comment on column api_2026_06_unstable.payment_methods.active is
  E'@notNull\nWhether customers are offered it.';
comment on column api_2026_06_unstable.payment_methods."position" is
  'Place in the list at checkout; lower comes first.';
comment on column api_2026_06_unstable.payment_methods.after_order_enabled is
  E'@notNull\nWhether a customer may still change to it once the order is placed.';
comment on column api_2026_06_unstable.payment_methods.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.payment_methods.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.product_stock_location_configurations with (security_invoker=true) as
 SELECT id,
    reorder_point,
    stock_below_reorder_point,
    target_maximum_quantity,
    product_id
   FROM erp.product_stock_location_configuration;
comment on view api_2026_06_unstable.product_stock_location_configurations is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes product_stock_location_configurations:read\n'
  '@hidden product_id\n'
  '@nullable stock_below_reorder_point\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName stockLocationConfigurations|@noFilter\n'
  'When to refill a product at one place: a bin, or the part of a warehouse that has no bin.';
comment on column api_2026_06_unstable.product_stock_location_configurations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.product_stock_location_configurations.reorder_point is
  E'@notNull\nStock at the place at which it is to be refilled.';
comment on column api_2026_06_unstable.product_stock_location_configurations.stock_below_reorder_point is
  'Reorder point less the stock at the place; zero or negative when there is enough.';
comment on column api_2026_06_unstable.product_stock_location_configurations.target_maximum_quantity is
  'Stock to fill up to; null when there is no such target.';
comment on column api_2026_06_unstable.product_stock_location_configurations.product_id is
  E'@notNull\n@behavior -*';

create view api_2026_06_unstable.product_supplier_configurations with (security_invoker=true) as
 SELECT id,
    product_id,
    supplier_id,
    supplier_product_number,
    min_purchase,
    purchase_steps,
    ARRAY( SELECT ROW(p.currency_id, p.net, p.gross, p.linked)::api_2026_06_unstable.price AS "row"
           FROM erp.product_supplier_price p
          WHERE p.product_supplier_configuration_id = c.id
          ORDER BY p.currency_id) AS purchase_prices,
    supplier_is_default,
    delivery_time_days,
    created_at,
    updated_at
   FROM erp.product_supplier_configuration c;
comment on view api_2026_06_unstable.product_supplier_configurations is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'What a supplier sells a product for, and on what terms.';
comment on column api_2026_06_unstable.product_supplier_configurations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.product_supplier_configurations.product_id is
  E'@notNull\nProduct that is bought.';
comment on column api_2026_06_unstable.product_supplier_configurations.supplier_id is
  E'@notNull\nSupplier that sells it.';
comment on column api_2026_06_unstable.product_supplier_configurations.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_2026_06_unstable.product_supplier_configurations.min_purchase is
  E'@notNull\nLeast quantity that can be ordered.';
comment on column api_2026_06_unstable.product_supplier_configurations.purchase_steps is
  E'@notNull\nQuantities are ordered in multiples of this.';
comment on column api_2026_06_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\nWhat the product costs at this supplier, one price per currency.';
comment on column api_2026_06_unstable.product_supplier_configurations.supplier_is_default is
  E'@notNull\n'
  'Whether the product is bought here unless something else says otherwise. At most one supplier of a '
  'product is its default.';
comment on column api_2026_06_unstable.product_supplier_configurations.delivery_time_days is
  'Days from order to delivery of this product.';
comment on column api_2026_06_unstable.product_supplier_configurations.created_at is
  E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.product_supplier_configurations.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.product_tags with (security_invoker=true) as
 SELECT product_id,
    tag_id
   FROM erp.product_tag;
comment on view api_2026_06_unstable.product_tags is
  E'\n'
  '@primaryKey product_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes products:read tags:read\n'
  '@foreignKey (product_id) references products (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between products and tags; not a type of the API.';
comment on column api_2026_06_unstable.product_tags.product_id is '@notNull';
comment on column api_2026_06_unstable.product_tags.tag_id is '@notNull';

create view api_2026_06_unstable.product_warehouse_configurations with (security_invoker=true) as
 SELECT id,
    product_id,
    warehouse_id,
    default_bin_location_id,
    reorder_point,
    target_maximum_quantity,
    stock_below_reorder_point,
    created_at,
    updated_at
   FROM erp.product_warehouse_configuration;
comment on view api_2026_06_unstable.product_warehouse_configurations is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes product_warehouse_configurations:read\n'
  '@nullable stock_below_reorder_point\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'warehouseConfigurations|@noFilter\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'productConfigurations\n'
  '@foreignKey (default_bin_location_id) references bin_locations (id)|@fieldName '
  'defaultBinLocation|@foreignFieldName productWarehouseConfigurations\n'
  'How a product is kept in a warehouse: its usual bin, and when to refill.';
comment on column api_2026_06_unstable.product_warehouse_configurations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.product_warehouse_configurations.product_id is
  E'@notNull\nProduct that the settings are for.';
comment on column api_2026_06_unstable.product_warehouse_configurations.warehouse_id is
  E'@notNull\nWarehouse that the settings hold in.';
comment on column api_2026_06_unstable.product_warehouse_configurations.default_bin_location_id is
  'Bin that the product is put in unless something else says otherwise.';
comment on column api_2026_06_unstable.product_warehouse_configurations.reorder_point is
  E'@notNull\nStock in the warehouse at which it is to be refilled.';
comment on column api_2026_06_unstable.product_warehouse_configurations.target_maximum_quantity is
  'Stock to fill up to; null when there is no such target.';
comment on column api_2026_06_unstable.product_warehouse_configurations.stock_below_reorder_point is
  'Reorder point less the stock in the warehouse; zero or negative when there is enough.';
comment on column api_2026_06_unstable.product_warehouse_configurations.created_at is
  E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.product_warehouse_configurations.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.products with (security_invoker=true) as
 SELECT id,
    product_number,
    parent_id,
    name,
    description,
    gtin,
    manufacturer_number,
    ARRAY( SELECT ROW(p.currency_id, p.net, p.gross, p.linked)::api_2026_06_unstable.price AS "row"
           FROM erp.product_price p
          WHERE p.product_id = product.id
          ORDER BY p.currency_id) AS price,
    NULLIF(ARRAY( SELECT ROW(p.currency_id, p.net, p.gross, p.linked)::api_2026_06_unstable.price AS "row"
           FROM erp.product_purchase_price p
          WHERE p.product_id = product.id
          ORDER BY p.currency_id), '{}'::api_2026_06_unstable.price[]) AS purchase_prices,
    physical_stock,
    stock_not_available_for_sale,
    reserved_stock,
    available_stock,
    open_supplier_order_quantity,
    last_supplier_order_at,
    reorder_point,
    target_maximum_quantity,
    storefront_variants,
    canonical_product_id
   FROM erp.product;
comment on view api_2026_06_unstable.products is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes products:read\n'
  '@hidden canonical_product_id\n'
  '@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock\n'
  '@filters parent_id,available_stock,gtin,manufacturer_number,product_number\n'
  '@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children\n'
  '@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)\n'
  'A product of the catalog, or a variant of one.';
comment on column api_2026_06_unstable.products.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.products.product_number is
  E'@notNull\nStock keeping unit (SKU), unique across the catalog.';
comment on column api_2026_06_unstable.products.parent_id is
  'Product that this one is a variant of; null for products that are no variant.';
comment on column api_2026_06_unstable.products.name is 'Name of the product.';
comment on column api_2026_06_unstable.products.description is 'Text that describes the product to buyers.';
comment on column api_2026_06_unstable.products.gtin is 'Global Trade Item Number (EAN, UPC).';
comment on column api_2026_06_unstable.products.manufacturer_number is
  'Number that the manufacturer gave the product.';
comment on column api_2026_06_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_2026_06_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
comment on column api_2026_06_unstable.products.physical_stock is
  'Units that lie in all warehouses together, their bins included.';
comment on column api_2026_06_unstable.products.stock_not_available_for_sale is
  'Units in warehouses whose stock is not sold; part of the physical stock.';
comment on column api_2026_06_unstable.products.reserved_stock is
  'Units of open and in-progress orders that are not shipped yet.';
comment on column api_2026_06_unstable.products.available_stock is
  'Units that can be sold: physical stock less the stock not for sale and less the reserved stock. '
  'Negative when more was sold than there is.';
comment on column api_2026_06_unstable.products.open_supplier_order_quantity is
  E'@notNull\nUnits on open supplier orders that have not arrived yet.';
comment on column api_2026_06_unstable.products.last_supplier_order_at is
  'Time of the newest supplier order, in any state, that contains the product.';
comment on column api_2026_06_unstable.products.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again.';
comment on column api_2026_06_unstable.products.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; null when there is no such target.';
comment on column api_2026_06_unstable.products.storefront_variants is
  E'@notNull\n'
  'Counterparts in the external storefront platform: objects with productId and variantId (null when '
  'the product is not a variant there). Empty when the product is not synced.';
comment on column api_2026_06_unstable.products.canonical_product_id is '@behavior -*';

create view api_2026_06_unstable.quote_line_items with (security_invoker=true) as
 SELECT id,
    quote_id,
    product_id,
    type,
    identifier,
    label,
    description,
    "position",
    quantity,
    unit_price,
    total_price,
    created_at,
    updated_at
   FROM erp.quote_line_item;
comment on view api_2026_06_unstable.quote_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes quotes:read\n'
  '@filters *\n'
  '@foreignKey (quote_id) references quotes (id)|@fieldName quote|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'A line of a quote.';
comment on column api_2026_06_unstable.quote_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.quote_line_items.quote_id is
  E'@notNull\nQuote that the line belongs to.';
comment on column api_2026_06_unstable.quote_line_items.product_id is
  'Product that is offered; set on lines of type product only.';
comment on column api_2026_06_unstable.quote_line_items.type is
  'What the line stands for: product, custom, promotion, credit or another word.';
comment on column api_2026_06_unstable.quote_line_items.identifier is
  E'@notNull\nIdentifier of the line within its quote.';
comment on column api_2026_06_unstable.quote_line_items.label is E'@notNull\nText shown for the line.';
comment on column api_2026_06_unstable.quote_line_items.description is 'Second line of text.';
comment on column api_2026_06_unstable.quote_line_items."position" is
  E'@notNull\nPlace of the line within its quote.';
comment on column api_2026_06_unstable.quote_line_items.quantity is
  E'@notNull\nUnits offered; always positive.';
comment on column api_2026_06_unstable.quote_line_items.unit_price is
  'Price of one unit with tax, in the currency of the quote.';
comment on column api_2026_06_unstable.quote_line_items.total_price is
  'Price of the line with tax, in the currency of the quote.';
comment on column api_2026_06_unstable.quote_line_items.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.quote_line_items.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.quotes with (security_invoker=true) as
 SELECT id,
    number,
    state,
    customer_id,
    sales_channel_id,
    currency_id,
    order_id,
    amount_net,
    amount_total,
    tax_status,
    valid_until,
    comment,
    created_at,
    updated_at
   FROM erp.quote;
comment on view api_2026_06_unstable.quotes is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes quotes:read\n'
  '@filters *\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName salesChannel\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  'An offer made to a customer.';
comment on column api_2026_06_unstable.quotes.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.quotes.number is E'@notNull\nNumber of the quote.';
comment on column api_2026_06_unstable.quotes.state is
  E'@notNull\ndraft, open, sent, accepted, declined or expired.';
comment on column api_2026_06_unstable.quotes.customer_id is 'Customer that the quote is for.';
comment on column api_2026_06_unstable.quotes.sales_channel_id is 'Sales channel that the quote was made in.';
comment on column api_2026_06_unstable.quotes.currency_id is
  E'@notNull\nCurrency of all amounts of the quote.';
comment on column api_2026_06_unstable.quotes.order_id is 'Order that came of the quote.';
comment on column api_2026_06_unstable.quotes.amount_net is
  'Total without tax, in the currency of the quote.';
comment on column api_2026_06_unstable.quotes.amount_total is 'Total with tax, in the currency of the quote.';
comment on column api_2026_06_unstable.quotes.tax_status is 'gross, net or tax-free.';
comment on column api_2026_06_unstable.quotes.valid_until is 'Until when the customer can accept.';
comment on column api_2026_06_unstable.quotes.comment is 'Free note.';
comment on column api_2026_06_unstable.quotes.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.quotes.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.sales_channel_countries with (security_invoker=true) as
 SELECT sales_channel_id,
    country_id
   FROM erp.sales_channel_country;
comment on view api_2026_06_unstable.sales_channel_countries is
  E'\n'
  '@primaryKey sales_channel_id,country_id\n'
  '@behavior -*\n'
  '@requiresScopes sales_channels:read countries:read\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*\n'
  '@foreignKey (country_id) references countries (id)|@behavior -*\n'
  'Link between sales_channels and countries; not a type of the API.';
comment on column api_2026_06_unstable.sales_channel_countries.sales_channel_id is '@notNull';
comment on column api_2026_06_unstable.sales_channel_countries.country_id is '@notNull';

create view api_2026_06_unstable.sales_channel_currencies with (security_invoker=true) as
 SELECT sales_channel_id,
    currency_id
   FROM erp.sales_channel_currency;
comment on view api_2026_06_unstable.sales_channel_currencies is
  E'\n'
  '@primaryKey sales_channel_id,currency_id\n'
  '@behavior -*\n'
  '@requiresScopes sales_channels:read currencies:read\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*\n'
  '@foreignKey (currency_id) references currencies (id)|@behavior -*\n'
  'Link between sales_channels and currencies; not a type of the API.';
comment on column api_2026_06_unstable.sales_channel_currencies.sales_channel_id is '@notNull';
comment on column api_2026_06_unstable.sales_channel_currencies.currency_id is '@notNull';

create view api_2026_06_unstable.sales_channel_payment_methods with (security_invoker=true) as
 SELECT sales_channel_id,
    payment_method_id
   FROM erp.sales_channel_payment_method;
comment on view api_2026_06_unstable.sales_channel_payment_methods is
  E'\n'
  '@primaryKey sales_channel_id,payment_method_id\n'
  '@behavior -*\n'
  '@requiresScopes sales_channels:read payment_methods:read\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*\n'
  '@foreignKey (payment_method_id) references payment_methods (id)|@behavior -*\n'
  'Link between sales_channels and payment_methods; not a type of the API.';
comment on column api_2026_06_unstable.sales_channel_payment_methods.sales_channel_id is '@notNull';
comment on column api_2026_06_unstable.sales_channel_payment_methods.payment_method_id is '@notNull';

create view api_2026_06_unstable.sales_channel_registration_groups with (security_invoker=true) as
 SELECT sales_channel_id,
    customer_group_id
   FROM erp.sales_channel_registration_group;
comment on view api_2026_06_unstable.sales_channel_registration_groups is
  E'\n'
  '@primaryKey sales_channel_id,customer_group_id\n'
  '@behavior -*\n'
  '@requiresScopes sales_channels:read customer_groups:read\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*\n'
  '@foreignKey (customer_group_id) references customer_groups (id)|@behavior -*\n'
  'Link between sales_channels and customer_groups; not a type of the API.';
comment on column api_2026_06_unstable.sales_channel_registration_groups.sales_channel_id is '@notNull';
comment on column api_2026_06_unstable.sales_channel_registration_groups.customer_group_id is '@notNull';

create view api_2026_06_unstable.sales_channels with (security_invoker=true) as
 SELECT id,
    erp.localized(name::jsonb) AS name,
    country_id,
    currency_id,
    customer_group_id,
    payment_method_id
   FROM erp.sales_channel;
comment on view api_2026_06_unstable.sales_channels is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes sales_channels:read\n'
  '@hidden country_id,currency_id,customer_group_id,payment_method_id\n'
  '@nullable name\n'
  '@filters id\n'
  '@foreignKey (country_id) references countries (id)|@fieldName country|@foreignFieldName '
  'salesChannelDefaultAssignments\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName '
  'salesChannelDefaultAssignments\n'
  '@foreignKey (customer_group_id) references customer_groups (id)|@fieldName '
  'customerGroup|@foreignFieldName salesChannels\n'
  '@foreignKey (payment_method_id) references payment_methods (id)|@fieldName paymentMethod\n'
  '@ref countries to:Country plural\n'
  '@refVia countries via:(id)->sales_channel_countries(sales_channel_id);(country_id)->countries(id)\n'
  '@ref currencies to:Currency plural\n'
  '@refVia currencies '
  'via:(id)->sales_channel_currencies(sales_channel_id);(currency_id)->currencies(id)\n'
  '@ref customerGroupsRegistrations to:CustomerGroup plural\n'
  '@refVia customerGroupsRegistrations '
  'via:(id)->sales_channel_registration_groups(sales_channel_id);(customer_group_id)->customer_groups(id)\n'
  '@describe customerGroupsRegistrations Customer groups that customers can ask to join here, oldest '
  'first.\n'
  '@ref paymentMethods to:PaymentMethod plural\n'
  '@refVia paymentMethods '
  'via:(id)->sales_channel_payment_methods(sales_channel_id);(payment_method_id)->payment_methods(id)\n'
  'A place where the shop sells: a web shop, a market place, a till.';
comment on column api_2026_06_unstable.sales_channels.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.sales_channels.name is
  'Name of the sales channel, in the language of the request.';
comment on column api_2026_06_unstable.sales_channels.country_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.sales_channels.currency_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.sales_channels.customer_group_id is E'@notNull\n@behavior -*';
comment on column api_2026_06_unstable.sales_channels.payment_method_id is E'@notNull\n@behavior -*';

create view api_2026_06_unstable.salutations with (security_invoker=true) as
 SELECT id,
    salutation_key,
    erp.localized(display_name::jsonb) AS display_name,
    erp.localized(letter_name::jsonb) AS letter_name,
    created_at,
    updated_at
   FROM erp.salutation;
comment on view api_2026_06_unstable.salutations is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes salutations:read\n'
  '@filters salutation_key,created_at,updated_at\n'
  'A form of address.';
comment on column api_2026_06_unstable.salutations.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.salutations.salutation_key is
  E'@notNull\nStable machine name, for example mrs or not_specified.';
comment on column api_2026_06_unstable.salutations.display_name is
  'Form shown in lists and forms, in the language of the request.';
comment on column api_2026_06_unstable.salutations.letter_name is
  'Form that opens a letter, in the language of the request.';
comment on column api_2026_06_unstable.salutations.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.salutations.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.shipping_labels with (security_invoker=true) as
 SELECT id,
    state,
    type,
    carrier_technical_name,
    carrier_name,
    tracking_codes,
    tracking_url,
    document_url,
    weight_in_grams,
    fulfillment_order_id,
    order_id,
    cancelled_at,
    created_at,
    updated_at
   FROM erp.shipping_label;
comment on view api_2026_06_unstable.shipping_labels is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes shipping_labels:read\n'
  '@filters *\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName shippingLabels|@noFilter\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  'A label that was bought from a carrier.';
comment on column api_2026_06_unstable.shipping_labels.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.shipping_labels.state is E'@notNull\ncreated, cancelled or failed.';
comment on column api_2026_06_unstable.shipping_labels.type is
  E'@notNull\noutgoing for parcels to customers, return for parcels from them.';
comment on column api_2026_06_unstable.shipping_labels.carrier_technical_name is
  E'@notNull\nStable machine name of the carrier, for example dhl.';
comment on column api_2026_06_unstable.shipping_labels.carrier_name is 'Name of the carrier for people.';
comment on column api_2026_06_unstable.shipping_labels.tracking_codes is
  E'@notNull\nCodes to follow the parcels by, as a JSON array of strings.';
comment on column api_2026_06_unstable.shipping_labels.tracking_url is
  'Page of the carrier that shows where the parcel is.';
comment on column api_2026_06_unstable.shipping_labels.document_url is
  'Address of the label as a file to print.';
comment on column api_2026_06_unstable.shipping_labels.weight_in_grams is
  'Weight that was declared to the carrier, in grams.';
comment on column api_2026_06_unstable.shipping_labels.fulfillment_order_id is
  'Fulfillment order that the label was bought for.';
comment on column api_2026_06_unstable.shipping_labels.order_id is 'Order that the label was bought for.';
comment on column api_2026_06_unstable.shipping_labels.cancelled_at is 'When the label was cancelled.';
comment on column api_2026_06_unstable.shipping_labels.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.shipping_labels.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.stock_movements with (security_invoker=true) as
 SELECT id,
    created_at,
    product_id,
    quantity,
    source_location_type_technical_name,
    source_warehouse_id,
    source_bin_location_id,
    source_order_id,
    source_return_order_id,
    source_goods_receipt_id,
    source_stock_container_id,
    source_special_stock_location_technical_name,
    destination_location_type_technical_name,
    destination_warehouse_id,
    destination_bin_location_id,
    destination_order_id,
    destination_return_order_id,
    destination_goods_receipt_id,
    destination_stock_container_id,
    destination_special_stock_location_technical_name,
    process_type_technical_name,
    transaction_id
   FROM ledger.stock_movement;
comment on view api_2026_06_unstable.stock_movements is
  E'\n'
  '@primaryKey id\n'
  '@followed transaction_id\n'
  '@requiresScopes stocks:read\n'
  '@gid source_return_order_id ReturnOrder\n'
  '@gid destination_return_order_id ReturnOrder\n'
  '@gid source_stock_container_id StockContainer\n'
  '@gid destination_stock_container_id StockContainer\n'
  '@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,'
  'destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,'
  'source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,'
  'source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,'
  'destination_special_stock_location_technical_name,source_location_type_technical_name,'
  'source_special_stock_location_technical_name,quantity\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName '
  'sourceWarehouse|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName '
  'destinationWarehouse|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName '
  'sourceBinLocation|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder\n'
  '@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder\n'
  '@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'sourceGoodsReceipt|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'destinationGoodsReceipt|@foreignFieldName destinationStockMovements\n'
  'A booking in the ledger of stock: a positive quantity that moved from one place to another. '
  'Movements are never changed; they go only with their product.';
comment on column api_2026_06_unstable.stock_movements.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.stock_movements.created_at is
  E'@notNull\nWhen the movement was booked.';
comment on column api_2026_06_unstable.stock_movements.product_id is E'@notNull\nProduct that moved.';
comment on column api_2026_06_unstable.stock_movements.quantity is
  E'@notNull\nUnits that moved; always positive, the direction follows from source and destination.';
comment on column api_2026_06_unstable.stock_movements.source_location_type_technical_name is
  E'@notNull\n'
  'Kind of place that is the source: warehouse, bin_location, order, return_order, goods_receipt, '
  'stock_container or special_stock_location.';
comment on column api_2026_06_unstable.stock_movements.source_warehouse_id is
  'Warehouse that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_bin_location_id is
  'Bin location that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_order_id is
  'Order that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_return_order_id is
  'Return order that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_goods_receipt_id is
  'Goods receipt that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_stock_container_id is
  'Stock container that is the source, when the source is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.source_special_stock_location_technical_name is
  'Special place that is the source, when it is one: for example stock_correction, import, '
  'initialization or unknown.';
comment on column api_2026_06_unstable.stock_movements.destination_location_type_technical_name is
  E'@notNull\n'
  'Kind of place that is the destination: warehouse, bin_location, order, return_order, goods_receipt, '
  'stock_container or special_stock_location.';
comment on column api_2026_06_unstable.stock_movements.destination_warehouse_id is
  'Warehouse that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_bin_location_id is
  'Bin location that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_order_id is
  'Order that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_return_order_id is
  'Return order that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_goods_receipt_id is
  'Goods receipt that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_stock_container_id is
  'Stock container that is the destination, when the destination is one; null once it has been deleted.';
comment on column api_2026_06_unstable.stock_movements.destination_special_stock_location_technical_name is
  'Special place that is the destination, when it is one: for example stock_correction, import, '
  'initialization or unknown.';
comment on column api_2026_06_unstable.stock_movements.process_type_technical_name is
  'Process that booked the movement, for example shipping or stocktaking. An open list; null for '
  'movements booked without a process and for all that are older than March 2025.';
comment on column api_2026_06_unstable.stock_movements.transaction_id is '@behavior -*';

create view api_2026_06_unstable.stocks with (security_invoker=true) as
 SELECT id,
    product_id,
    quantity,
    location_type_technical_name,
    warehouse_id,
    bin_location_id,
    order_id,
    return_order_id,
    goods_receipt_id,
    stock_container_id,
    special_stock_location_technical_name,
    created_at,
    updated_at
   FROM ledger.stock;
comment on view api_2026_06_unstable.stocks is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@gid return_order_id ReturnOrder\n'
  '@gid stock_container_id StockContainer\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName '
  'stocks\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName '
  'goodsReceipt|@foreignFieldName stocks\n'
  'How much of a product lies in one place.';
comment on column api_2026_06_unstable.stocks.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.stocks.product_id is E'@notNull\nProduct that lies there.';
comment on column api_2026_06_unstable.stocks.quantity is
  E'@notNull\nUnits in the place. Negative in special places only.';
comment on column api_2026_06_unstable.stocks.location_type_technical_name is
  E'@notNull\n'
  'Kind of place: warehouse, bin_location, order, return_order, goods_receipt, stock_container or '
  'special_stock_location.';
comment on column api_2026_06_unstable.stocks.warehouse_id is
  'Warehouse that the stock is in, outside of any bin.';
comment on column api_2026_06_unstable.stocks.bin_location_id is 'Bin that the stock is in.';
comment on column api_2026_06_unstable.stocks.order_id is 'Order that the stock was shipped for.';
comment on column api_2026_06_unstable.stocks.return_order_id is 'Return order that the stock is in.';
comment on column api_2026_06_unstable.stocks.goods_receipt_id is
  'Goods receipt that the stock is in until it is put away.';
comment on column api_2026_06_unstable.stocks.stock_container_id is 'Stock container that the stock is in.';
comment on column api_2026_06_unstable.stocks.special_stock_location_technical_name is
  'Special place that the stock is booked against, for example stock_correction.';
comment on column api_2026_06_unstable.stocks.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.stocks.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.supplier_order_line_items with (security_invoker=true) as
 SELECT id,
    supplier_order_id,
    product_id,
    "position",
    label,
    product_number,
    supplier_product_number,
    quantity,
    received_quantity,
    open_quantity,
    min_purchase,
    purchase_steps,
    unit_price,
    total_price,
    tax_rate,
    expected_delivery_date,
    actual_delivery_date,
    created_at,
    updated_at
   FROM erp.supplier_order_line_item;
comment on view api_2026_06_unstable.supplier_order_line_items is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes supplier_orders:read\n'
  '@filters *\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'A line of a supplier order.';
comment on column api_2026_06_unstable.supplier_order_line_items.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.supplier_order_line_items.supplier_order_id is
  E'@notNull\nSupplier order that the line belongs to.';
comment on column api_2026_06_unstable.supplier_order_line_items.product_id is
  'Product that was ordered; null when it has been deleted.';
comment on column api_2026_06_unstable.supplier_order_line_items."position" is
  E'@notNull\nPlace of the line within its order.';
comment on column api_2026_06_unstable.supplier_order_line_items.label is
  E'@notNull\nName of the product, as it was when the order was made.';
comment on column api_2026_06_unstable.supplier_order_line_items.product_number is
  E'@notNull\nStock keeping unit, as it was when the order was made.';
comment on column api_2026_06_unstable.supplier_order_line_items.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_2026_06_unstable.supplier_order_line_items.quantity is E'@notNull\nUnits ordered.';
comment on column api_2026_06_unstable.supplier_order_line_items.received_quantity is
  E'@notNull\nUnits that have arrived, by completed goods receipts.';
comment on column api_2026_06_unstable.supplier_order_line_items.open_quantity is
  E'@notNull\nUnits that have not arrived yet; never negative.';
comment on column api_2026_06_unstable.supplier_order_line_items.min_purchase is
  'Least quantity at the time of the order.';
comment on column api_2026_06_unstable.supplier_order_line_items.purchase_steps is
  'Step of quantities at the time of the order.';
comment on column api_2026_06_unstable.supplier_order_line_items.unit_price is
  'Price of one unit, in the currency of the order.';
comment on column api_2026_06_unstable.supplier_order_line_items.total_price is
  'Price of the line, in the currency of the order.';
comment on column api_2026_06_unstable.supplier_order_line_items.tax_rate is 'Tax rate in percent.';
comment on column api_2026_06_unstable.supplier_order_line_items.expected_delivery_date is
  'When the units of this line are expected.';
comment on column api_2026_06_unstable.supplier_order_line_items.actual_delivery_date is
  'When the last units of this line came.';
comment on column api_2026_06_unstable.supplier_order_line_items.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.supplier_order_line_items.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.supplier_order_tags with (security_invoker=true) as
 SELECT supplier_order_id,
    tag_id
   FROM erp.supplier_order_tag;
comment on view api_2026_06_unstable.supplier_order_tags is
  E'\n'
  '@primaryKey supplier_order_id,tag_id\n'
  '@behavior -*\n'
  '@requiresScopes supplier_orders:read tags:read\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*\n'
  '@foreignKey (tag_id) references tags (id)|@behavior -*\n'
  'Link between supplier_orders and tags; not a type of the API.';
comment on column api_2026_06_unstable.supplier_order_tags.supplier_order_id is '@notNull';
comment on column api_2026_06_unstable.supplier_order_tags.tag_id is '@notNull';

create view api_2026_06_unstable.supplier_orders with (security_invoker=true) as
 SELECT id,
    number,
    supplier_order_number,
    state,
    payment_state,
    supplier_id,
    warehouse_id,
    supplier_snapshot,
    warehouse_snapshot,
    currency_id,
    amount_net,
    amount_total,
    position_price,
    tax_status,
    order_date_time,
    due_date,
    delivery_date,
    actual_delivery_date,
    comment,
    created_at,
    updated_at
   FROM erp.supplier_order;
comment on view api_2026_06_unstable.supplier_orders is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes supplier_orders:read\n'
  '@filters *\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'supplierOrders\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  '@ref goodsReceipts to:GoodsReceipt plural\n'
  '@refVia goodsReceipts '
  'via:(id)->goods_receipt_supplier_orders(supplier_order_id);(goods_receipt_id)->goods_receipts(id)\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->supplier_order_tags(supplier_order_id);(tag_id)->tags(id)\n'
  'An order that the shop placed with a supplier.';
comment on column api_2026_06_unstable.supplier_orders.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.supplier_orders.number is E'@notNull\nNumber of the order; unique.';
comment on column api_2026_06_unstable.supplier_orders.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_2026_06_unstable.supplier_orders.state is
  E'@notNull\nopen, sent, confirmed, partially_delivered, delivered, completed or cancelled.';
comment on column api_2026_06_unstable.supplier_orders.payment_state is
  E'@notNull\nState of the payment, for example open or paid.';
comment on column api_2026_06_unstable.supplier_orders.supplier_id is
  'Supplier; null when it has been deleted.';
comment on column api_2026_06_unstable.supplier_orders.warehouse_id is
  'Warehouse that the goods are to come to; null when it has been deleted.';
comment on column api_2026_06_unstable.supplier_orders.supplier_snapshot is
  E'@notNull\nThe supplier as it was when the order was made: a JSON object.';
comment on column api_2026_06_unstable.supplier_orders.warehouse_snapshot is
  E'@notNull\nThe warehouse as it was when the order was made: a JSON object.';
comment on column api_2026_06_unstable.supplier_orders.currency_id is
  E'@notNull\nCurrency of all amounts of the order.';
comment on column api_2026_06_unstable.supplier_orders.amount_net is 'Total without tax.';
comment on column api_2026_06_unstable.supplier_orders.amount_total is 'Total with tax.';
comment on column api_2026_06_unstable.supplier_orders.position_price is
  'Sum of the lines before discounts and charges on the whole order.';
comment on column api_2026_06_unstable.supplier_orders.tax_status is 'gross, net or tax-free.';
comment on column api_2026_06_unstable.supplier_orders.order_date_time is
  E'@notNull\nWhen the order was placed.';
comment on column api_2026_06_unstable.supplier_orders.due_date is 'When the invoice is due.';
comment on column api_2026_06_unstable.supplier_orders.delivery_date is 'When the goods are expected.';
comment on column api_2026_06_unstable.supplier_orders.actual_delivery_date is
  'When the last of the goods came.';
comment on column api_2026_06_unstable.supplier_orders.comment is 'Free note.';
comment on column api_2026_06_unstable.supplier_orders.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.supplier_orders.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.suppliers with (security_invoker=true) as
 SELECT id,
    number,
    name,
    customer_number,
    currency_id,
    language_code,
    email,
    phone,
    address,
    default_delivery_time_days,
    minimum_order_value,
    vat_id,
    active,
    created_at,
    updated_at
   FROM erp.supplier;
comment on view api_2026_06_unstable.suppliers is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes suppliers:read\n'
  '@filters *\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  'A company that the shop buys from.';
comment on column api_2026_06_unstable.suppliers.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.suppliers.number is E'@notNull\nNumber of the supplier; unique.';
comment on column api_2026_06_unstable.suppliers.name is E'@notNull\nName of the supplier.';
comment on column api_2026_06_unstable.suppliers.customer_number is
  'Number that the supplier knows the shop by.';
comment on column api_2026_06_unstable.suppliers.currency_id is
  'Currency that the supplier is paid in; null for the default currency.';
comment on column api_2026_06_unstable.suppliers.language_code is
  'Locale that the supplier is written to in, for example de-DE.';
comment on column api_2026_06_unstable.suppliers.email is 'E-mail address that orders are sent to.';
comment on column api_2026_06_unstable.suppliers.phone is 'Telephone number.';
comment on column api_2026_06_unstable.suppliers.address is
  'Postal address, with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_2026_06_unstable.suppliers.default_delivery_time_days is
  'Days from order to delivery, unless a product says otherwise.';
comment on column api_2026_06_unstable.suppliers.minimum_order_value is
  'Least value of an order, in the currency of the supplier.';
comment on column api_2026_06_unstable.suppliers.vat_id is 'VAT identification number.';
comment on column api_2026_06_unstable.suppliers.active is E'@notNull\nWhether the shop still orders there.';
comment on column api_2026_06_unstable.suppliers.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.suppliers.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.tags with (security_invoker=true) as
 SELECT id,
    name
   FROM erp.tag;
comment on view api_2026_06_unstable.tags is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes tags:read\n'
  '@filters name\n'
  '@ref customers to:Customer plural\n'
  '@refVia customers via:(id)->customer_tags(tag_id);(customer_id)->customers(id)\n'
  '@ref orders to:Order plural\n'
  '@refVia orders via:(id)->order_tags(tag_id);(order_id)->orders(id)\n'
  '@ref products to:Product plural\n'
  '@refVia products via:(id)->product_tags(tag_id);(product_id)->products(id)\n'
  'A label that people put on things to find them again.';
comment on column api_2026_06_unstable.tags.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.tags.name is E'@notNull\nThe label itself, unique across all tags.';

create view api_2026_06_unstable.warehouse_stocks with (security_invoker=true) as
 SELECT id,
    product_id,
    warehouse_id,
    quantity,
    reserved_quantity,
    available_quantity,
    created_at,
    updated_at
   FROM ledger.warehouse_stock;
comment on view api_2026_06_unstable.warehouse_stocks is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'warehouseStocks\n'
  'How much of a product a warehouse holds, its bins included.';
comment on column api_2026_06_unstable.warehouse_stocks.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.warehouse_stocks.product_id is E'@notNull\nProduct that is held.';
comment on column api_2026_06_unstable.warehouse_stocks.warehouse_id is E'@notNull\nWarehouse that holds it.';
comment on column api_2026_06_unstable.warehouse_stocks.quantity is
  E'@notNull\nUnits in the warehouse and all its bins.';
comment on column api_2026_06_unstable.warehouse_stocks.reserved_quantity is
  E'@notNull\nUnits that open fulfillment orders of the warehouse still have to ship.';
comment on column api_2026_06_unstable.warehouse_stocks.available_quantity is
  E'@notNull\nQuantity less reserved quantity. Negative when more was promised than there is.';
comment on column api_2026_06_unstable.warehouse_stocks.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.warehouse_stocks.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.warehouses with (security_invoker=true) as
 SELECT id,
    code,
    name,
    is_default,
    is_default_receiving,
    is_stock_available_for_sale,
    address,
    created_at,
    updated_at
   FROM erp.warehouse;
comment on view api_2026_06_unstable.warehouses is
  E'\n@primaryKey id\n@requiresScopes warehouses:read\n@filters *\nA building that holds stock.';
comment on column api_2026_06_unstable.warehouses.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.warehouses.code is
  E'@notNull\nShort name used in lists and on labels; unique.';
comment on column api_2026_06_unstable.warehouses.name is E'@notNull\nName of the warehouse.';
comment on column api_2026_06_unstable.warehouses.is_default is
  E'@notNull\n'
  'Whether orders are fulfilled from here unless something else says otherwise. Exactly one warehouse '
  'is the default.';
comment on column api_2026_06_unstable.warehouses.is_default_receiving is
  E'@notNull\n'
  'Whether goods are received here unless something else says otherwise. Exactly one warehouse is.';
comment on column api_2026_06_unstable.warehouses.is_stock_available_for_sale is
  E'@notNull\nWhether the stock here may be sold. When false, it counts as stock not available for sale.';
comment on column api_2026_06_unstable.warehouses.address is
  'Postal address, with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_2026_06_unstable.warehouses.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.warehouses.updated_at is
  'When it was last changed; null when it never was.';

create view api_2026_06_unstable.webhook_subscriptions with (security_invoker=true) as
 SELECT id,
    topic,
    url,
    api_version,
    fields,
    payload_query,
    enabled,
    health,
    health_reason,
    backlog_count,
    created_at,
    updated_at
   FROM events.webhook_subscription;
comment on view api_2026_06_unstable.webhook_subscriptions is
  E'\n'
  '@primaryKey id\n'
  '@requiresScopes webhook_subscriptions:read\n'
  '@filters *\n'
  'Who is told when something happens.';
comment on column api_2026_06_unstable.webhook_subscriptions.id is E'@notNull\nGlobal id.';
comment on column api_2026_06_unstable.webhook_subscriptions.topic is
  E'@notNull\nEvent that is told, as resource.event, for example order.created.';
comment on column api_2026_06_unstable.webhook_subscriptions.url is
  E'@notNull\nAddress that events are sent to.';
comment on column api_2026_06_unstable.webhook_subscriptions.api_version is
  E'@notNull\nAPI version that payloads are shaped by.';
comment on column api_2026_06_unstable.webhook_subscriptions.fields is
  'Only changes to one of these fields are told; null for all.';
comment on column api_2026_06_unstable.webhook_subscriptions.payload_query is
  'GraphQL document that the payload is read with; null for the usual payload.';
comment on column api_2026_06_unstable.webhook_subscriptions.enabled is E'@notNull\nWhether events are sent.';
comment on column api_2026_06_unstable.webhook_subscriptions.health is
  E'@notNull\nHEALTHY, DEGRADED, SUSPENDED or DISABLED.';
comment on column api_2026_06_unstable.webhook_subscriptions.health_reason is 'Why the health is what it is.';
comment on column api_2026_06_unstable.webhook_subscriptions.backlog_count is
  E'@notNull\nEvents that wait to be delivered.';
comment on column api_2026_06_unstable.webhook_subscriptions.created_at is E'@notNull\nWhen it was made.';
comment on column api_2026_06_unstable.webhook_subscriptions.updated_at is
  'When it was last changed; null when it never was.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.bin_location_create(input api_2026_06_unstable.bin_location_create_input)
 RETURNS api_2026_06_unstable.bin_location_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.create_bin_location(input.warehouse_id, input.code, input.position), null)::api_2026_06_unstable.bin_location_payload
$function$;
comment on function
  api_2026_06_unstable.bin_location_create(api_2026_06_unstable.bin_location_create_input) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Makes a bin in a warehouse.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.bin_location_delete(input api_2026_06_unstable.bin_location_delete_input)
 RETURNS api_2026_06_unstable.bin_location_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.delete_bin_location(input.id), null)::api_2026_06_unstable.bin_location_delete_payload
$function$;
comment on function
  api_2026_06_unstable.bin_location_delete(api_2026_06_unstable.bin_location_delete_input) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY\n'
  'Deletes an empty bin. Movements of stock that passed through it are kept; they no longer name it.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.bin_location_update(input api_2026_06_unstable.bin_location_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.bin_location_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.update_bin_location(input.id, changes), null)::api_2026_06_unstable.bin_location_payload
$function$;
comment on function
  api_2026_06_unstable.bin_location_update(api_2026_06_unstable.bin_location_update_input,jsonb) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Changes a bin.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_cancel(input api_2026_06_unstable.fulfillment_cancel_input)
 RETURNS api_2026_06_unstable.fulfillment_cancel_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, null)::api_2026_06_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$function$;
comment on function api_2026_06_unstable.fulfillment_cancel(api_2026_06_unstable.fulfillment_cancel_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_create(input api_2026_06_unstable.fulfillment_create_input)
 RETURNS api_2026_06_unstable.fulfillment_create_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements, null)::api_2026_06_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line from unnest(input.lines) with ordinality l order by l.ordinality
    ) end,
    array(
      select row (l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id)::erp.shipping_place
      from unnest(input.lines) with ordinality l cross join unnest(l.places) with ordinality p order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment
  ) s
$function$;
comment on function api_2026_06_unstable.fulfillment_create(api_2026_06_unstable.fulfillment_create_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_order_cancel(input api_2026_06_unstable.fulfillment_order_cancel_input)
 RETURNS api_2026_06_unstable.fulfillment_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.change_fulfillment_order(input.id, 'cancel'), null)::api_2026_06_unstable.fulfillment_order_payload
$function$;
comment on function
  api_2026_06_unstable.fulfillment_order_cancel(api_2026_06_unstable.fulfillment_order_cancel_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION\n'
  'Cancels a fulfillment order: what is open of it is no longer to be shipped from its location, and '
  'can be shipped from another one. What was shipped stays shipped.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_order_hold(input api_2026_06_unstable.fulfillment_order_hold_input)
 RETURNS api_2026_06_unstable.fulfillment_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.change_fulfillment_order(input.id, 'hold', input.comment), null)::api_2026_06_unstable.fulfillment_order_payload
$function$;
comment on function
  api_2026_06_unstable.fulfillment_order_hold(api_2026_06_unstable.fulfillment_order_hold_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION OUT_OF_RANGE\n'
  'Puts a fulfillment order on hold that is open or in progress: nothing of it can be shipped until the '
  'hold is released.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_order_release_hold(input api_2026_06_unstable.fulfillment_order_release_hold_input)
 RETURNS api_2026_06_unstable.fulfillment_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.change_fulfillment_order(input.id, 'release_hold'), null)::api_2026_06_unstable.fulfillment_order_payload
$function$;
comment on function
  api_2026_06_unstable.fulfillment_order_release_hold(api_2026_06_unstable.fulfillment_order_release_hold_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION\n'
  'Releases a fulfillment order from its hold. It is open or in progress again, as it was before.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.fulfillment_order_start(input api_2026_06_unstable.fulfillment_order_start_input)
 RETURNS api_2026_06_unstable.fulfillment_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.change_fulfillment_order(input.id, 'start'), null)::api_2026_06_unstable.fulfillment_order_payload
$function$;
comment on function
  api_2026_06_unstable.fulfillment_order_start(api_2026_06_unstable.fulfillment_order_start_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION\n'
  'Tells that work on an open fulfillment order has begun.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_approve(input api_2026_06_unstable.goods_receipt_approve_input)
 RETURNS api_2026_06_unstable.goods_receipt_booking_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (input.id, b.stock_movements, b.stocks, null)::api_2026_06_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_approve(api_2026_06_unstable.goods_receipt_approve_input) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK\n'
  'Approves a goods receipt: the goods are there. Books the lines to the place of the receipt: from the '
  'return orders for receipts of type Customer, else from the special place unknown; lines with a '
  'negative quantity from where the goods lie.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_complete(input api_2026_06_unstable.goods_receipt_complete_input)
 RETURNS api_2026_06_unstable.goods_receipt_booking_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (input.id, b.stock_movements, b.stocks, null)::api_2026_06_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (p.ordinality, p.goods_receipt_line_item_id, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity)::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  )) b
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_complete(api_2026_06_unstable.goods_receipt_complete_input) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE OVER_RECEIPT INSUFFICIENT_STOCK\n'
  'Completes an approved goods receipt: books the goods to where they were put away, and what is thrown '
  'away to stock_correction. Lines of supplier orders become received, and their orders '
  'partially_delivered or delivered.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_create(input api_2026_06_unstable.goods_receipt_create_input, changes jsonb)
 RETURNS api_2026_06_unstable.goods_receipt_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id, l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null)::api_2026_06_unstable.goods_receipt_payload
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_create(api_2026_06_unstable.goods_receipt_create_input,jsonb) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES\n'
  'Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. '
  'Nothing is booked yet.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_delete(input api_2026_06_unstable.goods_receipt_delete_input)
 RETURNS api_2026_06_unstable.goods_receipt_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.delete_goods_receipt(input.id), null)::api_2026_06_unstable.goods_receipt_delete_payload
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_delete(api_2026_06_unstable.goods_receipt_delete_input) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INSUFFICIENT_STOCK\n'
  'Deletes a goods receipt that no stock has left yet; what was approved goes back to where it came '
  'from.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_line_items_set(input api_2026_06_unstable.goods_receipt_line_items_set_input)
 RETURNS api_2026_06_unstable.goods_receipt_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id, l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null)::api_2026_06_unstable.goods_receipt_payload
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_line_items_set(api_2026_06_unstable.goods_receipt_line_items_set_input) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES\n'
  'Sets the lines of a goods receipt that is not approved yet, and computes its totals anew.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_start(input api_2026_06_unstable.goods_receipt_start_input)
 RETURNS api_2026_06_unstable.goods_receipt_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.start_goods_receipt(input.id), null)::api_2026_06_unstable.goods_receipt_payload
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_start(api_2026_06_unstable.goods_receipt_start_input) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Notes that the goods of an approved receipt are being put away.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.goods_receipt_update(input api_2026_06_unstable.goods_receipt_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.goods_receipt_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.update_goods_receipt(input.id, changes), null)::api_2026_06_unstable.goods_receipt_payload
$function$;
comment on function
  api_2026_06_unstable.goods_receipt_update(api_2026_06_unstable.goods_receipt_update_input,jsonb) is
  E'\n'
  '@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID OUT_OF_RANGE CURRENCY_FACTOR_LOCKED\n'
  'Changes a goods receipt. Once it is approved, only the comment and the exchange rate can be changed.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.order_shipment_complete(input api_2026_06_unstable.order_shipment_complete_input)
 RETURNS api_2026_06_unstable.order_shipment_complete_payload
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  done constant erp.shipment := erp.complete_shipment(input.order_id, input.tracking_codes, input.documents, input.comment);
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents), null)::api_2026_06_unstable.order_shipment_complete_payload;
end
$function$;
comment on function
  api_2026_06_unstable.order_shipment_complete(api_2026_06_unstable.order_shipment_complete_input) is
  E'\n'
  '@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  'Ships everything that is still open of an order: its open fulfillment orders, each from the '
  'warehouse of its location, and what no fulfillment order covers from the default warehouse. Units '
  'are picked from the bins by their position, then by code, and at last from what lies in no bin; of '
  'products that are kept in batches, the oldest batch first. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.product_supplier_configuration_create(input api_2026_06_unstable.product_supplier_configuration_create_input, changes jsonb)
 RETURNS api_2026_06_unstable.product_supplier_configuration_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.create_product_supplier_configuration(changes - 'purchase_prices', array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price from unnest(input.purchase_prices) with ordinality p order by p.ordinality
  )), null)::api_2026_06_unstable.product_supplier_configuration_payload
$function$;
comment on function
  api_2026_06_unstable.product_supplier_configuration_create(api_2026_06_unstable.product_supplier_configuration_create_input,jsonb) is
  E'\n'
  '@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND NOT_UNIQUE OUT_OF_RANGE\n'
  'Assigns a supplier to a product.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.product_supplier_configuration_delete(input api_2026_06_unstable.product_supplier_configuration_delete_input)
 RETURNS api_2026_06_unstable.product_supplier_configuration_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.delete_product_supplier_configuration(input.id), null)::api_2026_06_unstable.product_supplier_configuration_delete_payload
$function$;
comment on function
  api_2026_06_unstable.product_supplier_configuration_delete(api_2026_06_unstable.product_supplier_configuration_delete_input) is
  E'\n'
  '@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND\n'
  'Takes a supplier off a product. The product keeps its purchase prices.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.product_supplier_configuration_set_default(input api_2026_06_unstable.product_supplier_configuration_set_default_input)
 RETURNS api_2026_06_unstable.product_supplier_configuration_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.set_default_supplier(input.id), null)::api_2026_06_unstable.product_supplier_configuration_payload
$function$;
comment on function
  api_2026_06_unstable.product_supplier_configuration_set_default(api_2026_06_unstable.product_supplier_configuration_set_default_input) is
  E'\n'
  '@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND\n'
  'Makes a supplier the default of its product, in place of the one that was; the purchase prices of '
  'the product become its prices.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.product_supplier_configuration_update(input api_2026_06_unstable.product_supplier_configuration_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.product_supplier_configuration_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.update_product_supplier_configuration(input.id, changes, array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price from unnest(input.purchase_prices) with ordinality p order by p.ordinality
  )), null)::api_2026_06_unstable.product_supplier_configuration_payload
$function$;
comment on function
  api_2026_06_unstable.product_supplier_configuration_update(api_2026_06_unstable.product_supplier_configuration_update_input,jsonb) is
  E'\n'
  '@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND REQUIRED OUT_OF_RANGE NOT_UNIQUE\n'
  'Changes the terms on which a supplier sells a product.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.product_warehouse_configuration_set(input api_2026_06_unstable.product_warehouse_configuration_set_input, changes jsonb)
 RETURNS api_2026_06_unstable.product_warehouse_configuration_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.set_product_warehouse_configuration(input.product_id, input.warehouse_id, changes), null)::api_2026_06_unstable.product_warehouse_configuration_payload
$function$;
comment on function
  api_2026_06_unstable.product_warehouse_configuration_set(api_2026_06_unstable.product_warehouse_configuration_set_input,jsonb) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE\n'
  'Sets how a product is kept in a warehouse: its usual bin, and when to refill.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.stock_adjust(input api_2026_06_unstable.stock_adjust_input)
 RETURNS api_2026_06_unstable.stock_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (b.stock_movements, b.stocks, null)::api_2026_06_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$function$;
comment on function api_2026_06_unstable.stock_adjust(api_2026_06_unstable.stock_adjust_input) is
  E'\n'
  '@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of '
  'all lines together.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.stock_set(input api_2026_06_unstable.stock_set_input)
 RETURNS api_2026_06_unstable.stock_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (b.stock_movements, b.stocks, null)::api_2026_06_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$function$;
comment on function api_2026_06_unstable.stock_set(api_2026_06_unstable.stock_set_input) is
  E'\n'
  '@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. All lines are booked, or '
  'none.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.stock_transfer(input api_2026_06_unstable.stock_transfer_input)
 RETURNS api_2026_06_unstable.stock_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (b.stock_movements, b.stocks, null)::api_2026_06_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id, (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$function$;
comment on function api_2026_06_unstable.stock_transfer(api_2026_06_unstable.stock_transfer_input) is
  E'\n'
  '@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  'Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or '
  'none; whether there is enough is asked of all lines together.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_cancel(input api_2026_06_unstable.supplier_order_cancel_input)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.move_supplier_order(input.id, 'cancel'), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_cancel(api_2026_06_unstable.supplier_order_cancel_input) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Cancels a supplier order of which nothing has been delivered.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_complete(input api_2026_06_unstable.supplier_order_complete_input)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.move_supplier_order(input.id, 'complete'), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_complete(api_2026_06_unstable.supplier_order_complete_input) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Closes a supplier order that was confirmed; what is still open is no longer expected.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_confirm(input api_2026_06_unstable.supplier_order_confirm_input, changes jsonb)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.move_supplier_order(input.id, 'confirm', changes), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_confirm(api_2026_06_unstable.supplier_order_confirm_input,jsonb) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Notes that the supplier has confirmed an order that is open or was sent.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_create(input api_2026_06_unstable.supplier_order_create_input, changes jsonb)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.create_supplier_order(changes - 'line_items', array(
    select row (l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date)::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_create(api_2026_06_unstable.supplier_order_create_input,jsonb) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND OUT_OF_RANGE INVALID TOO_MANY_LINES\n'
  'Makes an open supplier order, with the next number of its range. Prices, tax rates and product '
  'numbers come from the terms of the supplier unless they are given.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_delete(input api_2026_06_unstable.supplier_order_delete_input)
 RETURNS api_2026_06_unstable.supplier_order_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.delete_supplier_order(input.id), null)::api_2026_06_unstable.supplier_order_delete_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_delete(api_2026_06_unstable.supplier_order_delete_input) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE REFERENCE_IN_USE\n'
  'Deletes a supplier order that is open or cancelled and that no goods receipt belongs to.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_line_items_set(input api_2026_06_unstable.supplier_order_line_items_set_input)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.set_lines_of_supplier_order(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date)::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_line_items_set(api_2026_06_unstable.supplier_order_line_items_set_input) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  'Sets the lines of an open supplier order and computes its totals anew.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_send(input api_2026_06_unstable.supplier_order_send_input)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.move_supplier_order(input.id, 'send'), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_send(api_2026_06_unstable.supplier_order_send_input) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Notes that an open supplier order was sent to the supplier.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.supplier_order_update(input api_2026_06_unstable.supplier_order_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.supplier_order_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.update_supplier_order(input.id, changes), null)::api_2026_06_unstable.supplier_order_payload
$function$;
comment on function
  api_2026_06_unstable.supplier_order_update(api_2026_06_unstable.supplier_order_update_input,jsonb) is
  E'\n'
  '@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID\n'
  'Changes a supplier order. Once it has been sent, only its dates, the number that the supplier gave '
  'it and the comment can be changed.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.warehouse_create(input api_2026_06_unstable.warehouse_create_input)
 RETURNS api_2026_06_unstable.warehouse_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.create_warehouse(input.code, input.name, input.is_default, input.is_default_receiving, input.is_stock_available_for_sale,
    input.address), null)::api_2026_06_unstable.warehouse_payload
$function$;
comment on function api_2026_06_unstable.warehouse_create(api_2026_06_unstable.warehouse_create_input) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Makes a warehouse, and the location that orders are fulfilled from there. The first warehouse is the '
  'default for everything.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.warehouse_delete(input api_2026_06_unstable.warehouse_delete_input)
 RETURNS api_2026_06_unstable.warehouse_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.delete_warehouse(input.id), null)::api_2026_06_unstable.warehouse_delete_payload
$function$;
comment on function api_2026_06_unstable.warehouse_delete(api_2026_06_unstable.warehouse_delete_input) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY REFERENCE_IN_USE INVALID\n'
  'Deletes an empty warehouse with its bins, its location and the settings of products there. Movements '
  'of stock that passed through it are kept; they no longer name it. The default warehouse cannot be '
  'deleted, nor one that goods are being received in or that has orders to fulfill.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.warehouse_update(input api_2026_06_unstable.warehouse_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.warehouse_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (erp.update_warehouse(input.id, changes), null)::api_2026_06_unstable.warehouse_payload
$function$;
comment on function
  api_2026_06_unstable.warehouse_update(api_2026_06_unstable.warehouse_update_input,jsonb) is
  E'\n'
  '@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Changes a warehouse.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_deliveries_replay(input api_2026_06_unstable.webhook_deliveries_replay_input)
 RETURNS api_2026_06_unstable.webhook_deliveries_replay_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (input.id, events.replay_deliveries(input.id, input.from_sequence, input.to_sequence, input.from_time, input.to_time,
    input.only_undelivered), null)::api_2026_06_unstable.webhook_deliveries_replay_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_deliveries_replay(api_2026_06_unstable.webhook_deliveries_replay_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends the events of a part of the log to a subscriber, again or for the first time: those of its '
  'topic, and with the fields that concern it. For receivers that were down, lost something, or were '
  'disabled. The log goes back 30 days.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_delivery_retry(input api_2026_06_unstable.webhook_delivery_retry_input)
 RETURNS api_2026_06_unstable.webhook_delivery_retry_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (events.retry_delivery(input.id), null)::api_2026_06_unstable.webhook_delivery_retry_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_delivery_retry(api_2026_06_unstable.webhook_delivery_retry_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Delivers an event again, whatever became of it before, or at once when it was to be tried later. '
  'Receivers know it by its webhook-id.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_create(input api_2026_06_unstable.webhook_subscription_create_input)
 RETURNS api_2026_06_unstable.webhook_subscription_secret_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (made.id, events.new_secret(made.id), null)::api_2026_06_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields, input.payload_query,
    coalesce(input.enabled, true)) made (id)
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_create(api_2026_06_unstable.webhook_subscription_create_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN\n'
  'Has events of a topic sent to an address. Needs the scope that reads what the topic is about, now '
  'and as long as events are sent.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_delete(input api_2026_06_unstable.webhook_subscription_delete_input)
 RETURNS api_2026_06_unstable.webhook_subscription_delete_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (events.delete_webhook_subscription(input.id), null)::api_2026_06_unstable.webhook_subscription_delete_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_delete(api_2026_06_unstable.webhook_subscription_delete_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND\n'
  'Deletes a webhook subscription with all that waits to be delivered, and the record of what was.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_enable(input api_2026_06_unstable.webhook_subscription_enable_input)
 RETURNS api_2026_06_unstable.webhook_subscription_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (events.enable_webhook_subscription(input.id), null)::api_2026_06_unstable.webhook_subscription_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_enable(api_2026_06_unstable.webhook_subscription_enable_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN\n'
  'Lets a webhook subscription go on that was disabled, and has what waits delivered at once, also '
  'where it was only failing. From then on the scopes of the credential that enabled it decide what is '
  'sent. What happened while it was disabled can be had by webhookDeliveriesReplay.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_rotate_secret(input api_2026_06_unstable.webhook_subscription_rotate_secret_input)
 RETURNS api_2026_06_unstable.webhook_subscription_secret_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (input.id, events.rotate_webhook_secret(input.id), null)::api_2026_06_unstable.webhook_subscription_secret_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_rotate_secret(api_2026_06_unstable.webhook_subscription_rotate_secret_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND SCOPE_MISSING\n'
  'Gives a webhook subscription a new secret. For 24 hours deliveries are signed with the old one too, '
  'so that receivers can change over.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_test(input api_2026_06_unstable.webhook_subscription_test_input)
 RETURNS api_2026_06_unstable.webhook_subscription_test_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (events.test_webhook_subscription(input.id), null)::api_2026_06_unstable.webhook_subscription_test_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_test(api_2026_06_unstable.webhook_subscription_test_input) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends an event of the type webhook_subscription.test, signed like any other. It is in no log and has '
  'no sequence.';

CREATE OR REPLACE FUNCTION api_2026_06_unstable.webhook_subscription_update(input api_2026_06_unstable.webhook_subscription_update_input, changes jsonb)
 RETURNS api_2026_06_unstable.webhook_subscription_payload
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select row (events.update_webhook_subscription(input.id, changes), null)::api_2026_06_unstable.webhook_subscription_payload
$function$;
comment on function
  api_2026_06_unstable.webhook_subscription_update(api_2026_06_unstable.webhook_subscription_update_input,jsonb) is
  E'\n'
  '@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN\n'
  'Changes a webhook subscription. From then on the scopes of the credential that changed it decide '
  'what is sent.';

select api_meta.record_version('api_2026_06_unstable');

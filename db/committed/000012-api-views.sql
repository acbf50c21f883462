--! Previous: sha1:dd1f5cc65eb8e09d452acac60578464544194707
--! Hash: sha1:b27c5dc785020994863612c2e65762bf85828537
--! Message: api-views

--! split: 1-current.sql
-- Enter migration here

--! split: 0800-api-views.sql
-- The head of the API: its types and views.

create type api_unstable.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.price is E'@name Price\nAn amount of money in one currency, with and without tax.';
comment on column api_unstable.price.currency_id is E'@notNull\n@gid Currency\nCurrency of the amounts.';
comment on column api_unstable.price.net is E'@notNull\nAmount without tax.';
comment on column api_unstable.price.gross is E'@notNull\nAmount with tax.';
comment on column api_unstable.price.linked is E'@notNull\nWhether one of the amounts follows from the other by the tax rate.';

create type api_unstable.fulfillment_order_state as enum ('Open', 'InProgress', 'OnHold', 'Closed', 'Cancelled');
comment on type api_unstable.fulfillment_order_state is $$
@value Open Nobody has begun.
@value InProgress Work such as picking has begun.
@value OnHold The merchant paused it; nobody may work on it until it is released.
@value Closed No work is left. Not everything need have been fulfilled.
@value Cancelled Its quantities are not to be shipped from its location any more.
How far the work on a fulfillment order is.$$;
create type api_unstable.fulfillment_order_type as enum ('WarehouseLocationToOrder', 'ExternalToOrder');
comment on type api_unstable.fulfillment_order_type is $$
@value WarehouseLocationToOrder A location of the merchant ships to the customer, and the work is done in this system.
@value ExternalToOrder A location outside this system ships, such as a fulfillment network; this system only mirrors it.
Who ships a fulfillment order.$$;
create type api_unstable.fulfillment_state as enum ('Fulfilled', 'Cancelled');
comment on type api_unstable.fulfillment_state is $$
@value Fulfilled The shipping work was done.
@value Cancelled It was taken back; its quantities are open again on the fulfillment order.
Whether shipping work stands.$$;
create type api_unstable.currency_factor_origin_type as enum ('ExchangeRateImport', 'Manual', 'ShopCurrencyFactor');
comment on type api_unstable.currency_factor_origin_type is $$
@value ExchangeRateImport The automatic update of exchange rates.
@value Manual Somebody set it for this goods receipt.
@value ShopCurrencyFactor The factor of the currency in the shop, kept without the automatic update.
Where the exchange rate of a goods receipt came from.$$;
create type api_unstable.goods_receipt_type as enum ('Free', 'Customer', 'Supplier');
comment on type api_unstable.goods_receipt_type is $$
@value Free Stands alone: neither a supplier order nor a return is behind it.
@value Customer Books what a customer sends back.
@value Supplier Books what supplier orders bring.
Where the goods of a receipt come from.$$;
create type api_unstable.customer_account_type as enum ('Private', 'Business');
comment on type api_unstable.customer_account_type is $$
@value Private A person.
@value Business A company.
Whether a person or a company buys.$$;

--! Included views/api/batch_tags.sql
create view api_unstable.batch_tags with (security_invoker = true) as
select batch_id, tag_id from erp.batch_tag;
comment on view api_unstable.batch_tags is $$
@primaryKey batch_id,tag_id
@behavior -*
@requiresScopes batches:read tags:read
@foreignKey (batch_id) references batches (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between batches and tags; not a type of the API.$$;
--! EndIncluded views/api/batch_tags.sql
--! Included views/api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, physical_stock from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@nullable number
@filters comment,number,physical_stock,product_id
@foreignKey (product_id) references products (id)|@fieldName product
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded views/api/batches.sql
--! Included views/api/bin_location_tags.sql
create view api_unstable.bin_location_tags with (security_invoker = true) as
select bin_location_id, tag_id from erp.bin_location_tag;
comment on view api_unstable.bin_location_tags is $$
@primaryKey bin_location_id,tag_id
@behavior -*
@requiresScopes warehouses:read tags:read
@foreignKey (bin_location_id) references bin_locations (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between bin_locations and tags; not a type of the API.$$;
--! EndIncluded views/api/bin_location_tags.sql
--! Included views/api/bin_locations.sql
create view api_unstable.bin_locations with (security_invoker = true) as
select id, warehouse_id, code, position, created_at, updated_at from erp.bin_location;
comment on view api_unstable.bin_locations is $$
@primaryKey id
@requiresScopes warehouses:read
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName binLocations
@ref tags to:Tag plural
@refVia tags via:(id)->bin_location_tags(bin_location_id);(tag_id)->tags(id)
The smallest place in a warehouse that has an address of its own.$$;
--! EndIncluded views/api/bin_locations.sql
--! Included views/api/countries.sql
create view api_unstable.countries with (security_invoker = true) as
select id, erp.localized(name) as name from erp.country;
comment on view api_unstable.countries is $$
@primaryKey id
@rootField countrys
@requiresScopes countries:read
@nullable name
@filters id
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_countries(country_id);(sales_channel_id)->sales_channels(id)
A country that the shop delivers to.$$;
--! EndIncluded views/api/countries.sql
--! Included views/api/currencies.sql
create view api_unstable.currencies with (security_invoker = true) as
select id, iso_code, symbol, erp.localized(name) as name, erp.localized(short_name) as short_name, factor, position, is_default_currency
from erp.currency;
comment on view api_unstable.currencies is $$
@primaryKey id
@requiresScopes currencies:read
@nullable name,short_name,position
@filters factor,iso_code,symbol,position
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_currencies(currency_id);(sales_channel_id)->sales_channels(id)
A currency that the shop trades in.$$;
--! EndIncluded views/api/currencies.sql
--! Included views/api/customer_groups.sql
create view api_unstable.customer_groups with (security_invoker = true) as
select id, erp.localized(name) as name from erp.customer_group;
comment on view api_unstable.customer_groups is $$
@primaryKey id
@requiresScopes customer_groups:read
@nullable name
@filters id
@ref registrationSalesChannels to:SalesChannel plural
@refVia registrationSalesChannels via:(id)->sales_channel_registration_groups(customer_group_id);(sales_channel_id)->sales_channels(id)
@describe registrationSalesChannels Sales channels where customers can ask to join the group, oldest first.
A group of customers with common terms.$$;
--! EndIncluded views/api/customer_groups.sql
--! Included views/api/customer_tags.sql
create view api_unstable.customer_tags with (security_invoker = true) as
select customer_id, tag_id from erp.customer_tag;
comment on view api_unstable.customer_tags is $$
@primaryKey customer_id,tag_id
@behavior -*
@requiresScopes customers:read tags:read
@foreignKey (customer_id) references customers (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between customers and tags; not a type of the API.$$;
--! EndIncluded views/api/customer_tags.sql
--! Included views/api/customers.sql
create view api_unstable.customers with (security_invoker = true) as
select id, customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active, guest, group_id,
  sales_channel_id, storefront_id, created_at, updated_at,
  bound_sales_channel_id, requested_group_id, default_payment_method_id, last_payment_method_id, salutation_id
from erp.customer;
comment on view api_unstable.customers is $$
@primaryKey id
@requiresScopes customers:read
@hidden bound_sales_channel_id,requested_group_id,default_payment_method_id,last_payment_method_id,salutation_id
@nullable active,guest
@columnEnum account_type customer_account_type
@filters group_id,sales_channel_id,account_type,active,guest,company,customer_number,email,first_name,last_name,title,created_at,updated_at
@foreignKey (bound_sales_channel_id) references sales_channels (id)|@fieldName boundSalesChannel|@foreignFieldName boundCustomers
@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName salesChannel|@foreignFieldName customers
@foreignKey (default_payment_method_id) references payment_methods (id)|@fieldName defaultPaymentMethod|@foreignFieldName customers
@foreignKey (last_payment_method_id) references payment_methods (id)|@fieldName lastPaymentMethod
@foreignKey (group_id) references customer_groups (id)|@fieldName group|@foreignFieldName customers
@foreignKey (requested_group_id) references customer_groups (id)|@fieldName requestedGroup
@foreignKey (salutation_id) references salutations (id)|@fieldName salutation|@foreignFieldName customers
@ref tags to:Tag plural
@refVia tags via:(id)->customer_tags(customer_id);(tag_id)->tags(id)
A person or a company that buys.$$;
--! EndIncluded views/api/customers.sql
--! Included views/api/document_types.sql
create view api_unstable.document_types with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name from erp.document_type;
comment on view api_unstable.document_types is $$
@primaryKey id
@requiresScopes documents:read
@nullable name
@filters technical_name
A kind of document.$$;
--! EndIncluded views/api/document_types.sql
--! Included views/api/documents.sql
create view api_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  document_type_id, order_id, referenced_document_id
from erp.document;
comment on view api_unstable.documents is $$
@primaryKey id
@requiresScopes documents:read
@hidden document_type_id,order_id,referenced_document_id
@nullable static,sent
@filters deep_link_code,document_number,sent,static
@foreignKey (document_type_id) references document_types (id)|@fieldName documentType|@foreignFieldName documents
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents
@foreignKey (referenced_document_id) references documents (id)|@fieldName referencedDocument|@foreignFieldName dependentDocuments
A document of an order, such as an invoice or a delivery note.$$;
comment on column api_unstable.documents.download_url is
  E'@notNull\nAddress that opens the document without a token, relative to the address of the service; stays the same as long as the document lives.';
--! EndIncluded views/api/documents.sql
--! Included views/api/fulfillment_line_items.sql
create view api_unstable.fulfillment_line_items with (security_invoker = true) as
select id, quantity, fulfillment_id, fulfillment_order_line_item_id, product_id from erp.fulfillment_line_item;
comment on view api_unstable.fulfillment_line_items is $$
@primaryKey id
@requiresScopes fulfillment_orders:read
@hidden fulfillment_id,fulfillment_order_line_item_id,product_id
@filters quantity
@foreignKey (fulfillment_id) references fulfillments (id)|@fieldName fulfillment|@foreignFieldName lineItems
@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName fulfillmentOrderLineItem|@foreignFieldName fulfillmentLineItems
@foreignKey (product_id) references products (id)|@fieldName product
What a fulfillment shipped of one line of a fulfillment order.$$;
--! EndIncluded views/api/fulfillment_line_items.sql
--! Included views/api/fulfillment_order_fulfillments.sql
create view api_unstable.fulfillment_order_fulfillments with (security_invoker = true) as
select fulfillment_order_id, fulfillment_id from erp.fulfillment_order_fulfillment;
comment on view api_unstable.fulfillment_order_fulfillments is $$
@primaryKey fulfillment_order_id,fulfillment_id
@behavior -*
@requiresScopes fulfillment_orders:read
@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@behavior -*
@foreignKey (fulfillment_id) references fulfillments (id)|@behavior -*
Link between fulfillment_orders and fulfillments; not a type of the API.$$;
--! EndIncluded views/api/fulfillment_order_fulfillments.sql
--! Included views/api/fulfillment_order_line_items.sql
create view api_unstable.fulfillment_order_line_items with (security_invoker = true) as
select id, quantity, storefront_id, fulfillment_order_id, destination_order_line_item_id, product_id
from erp.fulfillment_order_line_item;
comment on view api_unstable.fulfillment_order_line_items is $$
@primaryKey id
@requiresScopes fulfillment_orders:read
@hidden fulfillment_order_id,destination_order_line_item_id,product_id
@filters quantity,storefront_id
@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName fulfillmentOrder|@foreignFieldName lineItems
@foreignKey (destination_order_line_item_id) references order_line_items (id)|@fieldName destinationOrderLineItem
@foreignKey (product_id) references products (id)|@fieldName product
What a fulfillment order is to ship of one line of the order.$$;
--! EndIncluded views/api/fulfillment_order_line_items.sql
--! Included views/api/fulfillment_orders.sql
create view api_unstable.fulfillment_orders with (security_invoker = true) as
select id, number, type, state, is_partially_fulfilled, destination_order_id, source_warehouse_location_id,
  external_location_name, shipping_method_id, shipping_method_name, shipping_address, storefront_id, created_at, updated_at
from erp.fulfillment_order;
comment on view api_unstable.fulfillment_orders is $$
@primaryKey id
@requiresScopes fulfillment_orders:read
@gid shipping_method_id ShippingMethod
@columnEnum state fulfillment_order_state
@columnEnum type fulfillment_order_type
@filters destination_order_id,shipping_method_id,source_warehouse_location_id,created_at,updated_at,is_partially_fulfilled,number,state,type
@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder|@foreignFieldName fulfillmentOrders
@foreignKey (source_warehouse_location_id) references locations (id)|@fieldName sourceWarehouseLocation|@foreignFieldName fulfillmentOrders
@ref fulfillments to:Fulfillment plural noFilter
@refVia fulfillments via:(id)->fulfillment_order_fulfillments(fulfillment_order_id);(fulfillment_id)->fulfillments(id)
Lines of one order, in given quantities, that exactly one location is to ship. An order can have several.$$;
--! EndIncluded views/api/fulfillment_orders.sql
--! Included views/api/fulfillments.sql
create view api_unstable.fulfillments with (security_invoker = true) as
select id, number, state, storefront_id, created_at from erp.fulfillment;
comment on view api_unstable.fulfillments is $$
@primaryKey id
@requiresScopes fulfillment_orders:read
@columnEnum state fulfillment_state
@filters *
The record of shipping work that was done. It may fulfill a part of a fulfillment order, several of them, or parts of several.$$;
--! EndIncluded views/api/fulfillments.sql
--! Included views/api/goods_receipt_line_items.sql
create view api_unstable.goods_receipt_line_items with (security_invoker = true) as
select id, goods_receipt_id, product_id, batch_id, quantity, planned_disposal_quantity, return_order_id, supplier_order_id,
  unit_price, total_price, unit_price_in_default_currency, total_price_in_default_currency, destination_bin_location_id,
  supplier_order_line_item_id
from erp.goods_receipt_line_item;
comment on view api_unstable.goods_receipt_line_items is $$
@primaryKey id
@requiresScopes goods_receipts:read
@hidden destination_bin_location_id,supplier_order_line_item_id
@gid return_order_id ReturnOrder
@filters batch_id,goods_receipt_id,product_id,return_order_id,supplier_order_id,planned_disposal_quantity,quantity,total_price,total_price_in_default_currency,unit_price,unit_price_in_default_currency
@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName goodsReceiptLineItems
@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName destinationBinLocation|@foreignFieldName destinationGoodsReceiptLineItems
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName lineItems
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName supplierOrder|@foreignFieldName goodsReceiptLineItems
@foreignKey (supplier_order_line_item_id) references supplier_order_line_items (id)|@behavior -singularRelation:resource:single|@foreignFieldName goodsReceiptLineItems
A line of a goods receipt.$$;
--! EndIncluded views/api/goods_receipt_line_items.sql
--! Included views/api/goods_receipt_supplier_orders.sql
create view api_unstable.goods_receipt_supplier_orders with (security_invoker = true) as
select goods_receipt_id, supplier_order_id from erp.goods_receipt_supplier_order;
comment on view api_unstable.goods_receipt_supplier_orders is $$
@primaryKey goods_receipt_id,supplier_order_id
@behavior -*
@requiresScopes goods_receipts:read supplier_orders:read
@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*
@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*
Link between goods_receipts and supplier_orders; not a type of the API.$$;
--! EndIncluded views/api/goods_receipt_supplier_orders.sql
--! Included views/api/goods_receipt_tags.sql
create view api_unstable.goods_receipt_tags with (security_invoker = true) as
select goods_receipt_id, tag_id from erp.goods_receipt_tag;
comment on view api_unstable.goods_receipt_tags is $$
@primaryKey goods_receipt_id,tag_id
@behavior -*
@requiresScopes goods_receipts:read tags:read
@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between goods_receipts and tags; not a type of the API.$$;
--! EndIncluded views/api/goods_receipt_tags.sql
--! Included views/api/goods_receipts.sql
create view api_unstable.goods_receipts with (security_invoker = true) as
select id, number, type, state, goods_receipt_date_time, warehouse_id, supplier_id, customer_id, user_id, currency_id,
  currency_factor, currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
  currency_factor_captured_at, tax_status, amount_net, amount_total, position_price, comment
from erp.goods_receipt;
comment on view api_unstable.goods_receipts is $$
@primaryKey id
@requiresScopes goods_receipts:read
@gid user_id User
@columnEnum type goods_receipt_type
@columnEnum currency_factor_origin_type currency_factor_origin_type
@filters *
@foreignKey (currency_id) references currencies (id)|@fieldName currency
@foreignKey (customer_id) references customers (id)|@fieldName customer
@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName goodsReceipts
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName goodsReceipts
@ref supplierOrders to:SupplierOrder plural
@refVia supplierOrders via:(id)->goods_receipt_supplier_orders(goods_receipt_id);(supplier_order_id)->supplier_orders(id)
@ref tags to:Tag plural
@refVia tags via:(id)->goods_receipt_tags(goods_receipt_id);(tag_id)->tags(id)
Goods that come into a warehouse, or go out of it again as a correction.$$;
--! EndIncluded views/api/goods_receipts.sql
--! Included views/api/locations.sql
create view api_unstable.locations with (security_invoker = true) as
select id, name, active, warehouse_id, storefront_id, created_at, updated_at from erp.location;
comment on view api_unstable.locations is $$
@primaryKey id
@unique warehouse_id
@requiresScopes locations:read
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName location
A place that orders are fulfilled from.$$;
--! EndIncluded views/api/locations.sql
--! Included views/api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price, total_price,
  storefront_id, parent_id
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
--! EndIncluded views/api/order_line_items.sql
--! Included views/api/order_tags.sql
create view api_unstable.order_tags with (security_invoker = true) as
select order_id, tag_id from erp.order_tag;
comment on view api_unstable.order_tags is $$
@primaryKey order_id,tag_id
@behavior -*
@requiresScopes orders:read tags:read
@foreignKey (order_id) references orders (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between orders and tags; not a type of the API.$$;
--! EndIncluded views/api/order_tags.sql
--! Included views/api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total, currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id
from erp.sales_order;
comment on view api_unstable.orders is $$
@primaryKey id
@requiresScopes orders:read
@hidden sales_channel_id,customer_id
@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number
@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders
@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName salesChannel|@foreignFieldName orders
@foreignKey (customer_id) references customers (id)|@behavior -singularRelation:resource:single|@foreignFieldName orders|@noFilter
@ref tags to:Tag plural
@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)
An order of a customer.$$;
--! EndIncluded views/api/orders.sql
--! Included views/api/payment_methods.sql
create view api_unstable.payment_methods with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name, erp.localized(description) as description, active, position,
  after_order_enabled, created_at, updated_at
from erp.payment_method;
comment on view api_unstable.payment_methods is $$
@primaryKey id
@requiresScopes payment_methods:read
@filters technical_name,active,position,after_order_enabled,created_at,updated_at
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_payment_methods(payment_method_id);(sales_channel_id)->sales_channels(id)
A way to pay.$$;
--! EndIncluded views/api/payment_methods.sql
--! Included views/api/product_stock_location_configurations.sql
create view api_unstable.product_stock_location_configurations with (security_invoker = true) as
select id, reorder_point, stock_below_reorder_point, target_maximum_quantity, product_id
from erp.product_stock_location_configuration;
comment on view api_unstable.product_stock_location_configurations is $$
@primaryKey id
@requiresScopes product_stock_location_configurations:read
@hidden product_id
@nullable stock_below_reorder_point
@filters *
@foreignKey (product_id) references products (id)|@behavior -singularRelation:resource:single|@foreignFieldName stockLocationConfigurations|@noFilter
When to refill a product at one place: a bin, or the part of a warehouse that has no bin.$$;
--! EndIncluded views/api/product_stock_location_configurations.sql
--! Included views/api/product_supplier_configurations.sql
create view api_unstable.product_supplier_configurations with (security_invoker = true) as
select id, product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id order by p.currency_id
  ) as purchase_prices,
  supplier_is_default, delivery_time_days, created_at, updated_at
from erp.product_supplier_configuration c;
comment on view api_unstable.product_supplier_configurations is $$
@primaryKey id
@requiresScopes product_supplier_configurations:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName productConfigurations
What a supplier sells a product for, and on what terms.$$;
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\nWhat the product costs at this supplier, one price per currency.';
--! EndIncluded views/api/product_supplier_configurations.sql
--! Included views/api/product_tags.sql
create view api_unstable.product_tags with (security_invoker = true) as
select product_id, tag_id from erp.product_tag;
comment on view api_unstable.product_tags is $$
@primaryKey product_id,tag_id
@behavior -*
@requiresScopes products:read tags:read
@foreignKey (product_id) references products (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between products and tags; not a type of the API.$$;
--! EndIncluded views/api/product_tags.sql
--! Included views/api/product_warehouse_configurations.sql
create view api_unstable.product_warehouse_configurations with (security_invoker = true) as
select id, product_id, warehouse_id, default_bin_location_id, reorder_point, target_maximum_quantity,
  stock_below_reorder_point, created_at, updated_at
from erp.product_warehouse_configuration;
comment on view api_unstable.product_warehouse_configurations is $$
@primaryKey id
@requiresScopes product_warehouse_configurations:read
@nullable stock_below_reorder_point
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName warehouseConfigurations|@noFilter
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName productConfigurations
@foreignKey (default_bin_location_id) references bin_locations (id)|@fieldName defaultBinLocation|@foreignFieldName productWarehouseConfigurations
How a product is kept in a warehouse: its usual bin, and when to refill.$$;
--! EndIncluded views/api/product_warehouse_configurations.sql
--! Included views/api/products.sql
create view api_unstable.products with (security_invoker = true) as
select id, product_number, parent_id, name, description, gtin, manufacturer_number,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_price p where p.product_id = product.id order by p.currency_id
  ) as price,
  nullif(array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_purchase_price p where p.product_id = product.id order by p.currency_id
  ), '{}') as purchase_prices,
  physical_stock, stock_not_available_for_sale, reserved_stock, available_stock, open_supplier_order_quantity,
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.price is
  E'@notNull\nSales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that supplier is paid in the default currency; otherwise only copied from it, converted by the rate of the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
--! EndIncluded views/api/products.sql
--! Included views/api/quote_line_items.sql
create view api_unstable.quote_line_items with (security_invoker = true) as
select id, quote_id, product_id, type, identifier, label, description, position, quantity, unit_price, total_price,
  created_at, updated_at
from erp.quote_line_item;
comment on view api_unstable.quote_line_items is $$
@primaryKey id
@requiresScopes quotes:read
@filters *
@foreignKey (quote_id) references quotes (id)|@fieldName quote|@foreignFieldName lineItems
@foreignKey (product_id) references products (id)|@fieldName product
A line of a quote.$$;
--! EndIncluded views/api/quote_line_items.sql
--! Included views/api/quotes.sql
create view api_unstable.quotes with (security_invoker = true) as
select id, number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net, amount_total, tax_status,
  valid_until, comment, created_at, updated_at
from erp.quote;
comment on view api_unstable.quotes is $$
@primaryKey id
@requiresScopes quotes:read
@filters *
@foreignKey (customer_id) references customers (id)|@fieldName customer
@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName salesChannel
@foreignKey (currency_id) references currencies (id)|@fieldName currency
@foreignKey (order_id) references orders (id)|@fieldName order
An offer made to a customer.$$;
--! EndIncluded views/api/quotes.sql
--! Included views/api/sales_channel_countries.sql
create view api_unstable.sales_channel_countries with (security_invoker = true) as
select sales_channel_id, country_id from erp.sales_channel_country;
comment on view api_unstable.sales_channel_countries is $$
@primaryKey sales_channel_id,country_id
@behavior -*
@requiresScopes sales_channels:read countries:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (country_id) references countries (id)|@behavior -*
Link between sales_channels and countries; not a type of the API.$$;
--! EndIncluded views/api/sales_channel_countries.sql
--! Included views/api/sales_channel_currencies.sql
create view api_unstable.sales_channel_currencies with (security_invoker = true) as
select sales_channel_id, currency_id from erp.sales_channel_currency;
comment on view api_unstable.sales_channel_currencies is $$
@primaryKey sales_channel_id,currency_id
@behavior -*
@requiresScopes sales_channels:read currencies:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (currency_id) references currencies (id)|@behavior -*
Link between sales_channels and currencies; not a type of the API.$$;
--! EndIncluded views/api/sales_channel_currencies.sql
--! Included views/api/sales_channel_payment_methods.sql
create view api_unstable.sales_channel_payment_methods with (security_invoker = true) as
select sales_channel_id, payment_method_id from erp.sales_channel_payment_method;
comment on view api_unstable.sales_channel_payment_methods is $$
@primaryKey sales_channel_id,payment_method_id
@behavior -*
@requiresScopes sales_channels:read payment_methods:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (payment_method_id) references payment_methods (id)|@behavior -*
Link between sales_channels and payment_methods; not a type of the API.$$;
--! EndIncluded views/api/sales_channel_payment_methods.sql
--! Included views/api/sales_channel_registration_groups.sql
create view api_unstable.sales_channel_registration_groups with (security_invoker = true) as
select sales_channel_id, customer_group_id from erp.sales_channel_registration_group;
comment on view api_unstable.sales_channel_registration_groups is $$
@primaryKey sales_channel_id,customer_group_id
@behavior -*
@requiresScopes sales_channels:read customer_groups:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (customer_group_id) references customer_groups (id)|@behavior -*
Link between sales_channels and customer_groups; not a type of the API.$$;
--! EndIncluded views/api/sales_channel_registration_groups.sql
--! Included views/api/sales_channels.sql
create view api_unstable.sales_channels with (security_invoker = true) as
select id, erp.localized(name) as name, country_id, currency_id, customer_group_id, payment_method_id from erp.sales_channel;
comment on view api_unstable.sales_channels is $$
@primaryKey id
@requiresScopes sales_channels:read
@hidden country_id,currency_id,customer_group_id,payment_method_id
@nullable name
@filters id
@foreignKey (country_id) references countries (id)|@fieldName country|@foreignFieldName salesChannelDefaultAssignments
@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName salesChannelDefaultAssignments
@foreignKey (customer_group_id) references customer_groups (id)|@fieldName customerGroup|@foreignFieldName salesChannels
@foreignKey (payment_method_id) references payment_methods (id)|@fieldName paymentMethod
@ref countries to:Country plural
@refVia countries via:(id)->sales_channel_countries(sales_channel_id);(country_id)->countries(id)
@ref currencies to:Currency plural
@refVia currencies via:(id)->sales_channel_currencies(sales_channel_id);(currency_id)->currencies(id)
@ref customerGroupsRegistrations to:CustomerGroup plural
@refVia customerGroupsRegistrations via:(id)->sales_channel_registration_groups(sales_channel_id);(customer_group_id)->customer_groups(id)
@describe customerGroupsRegistrations Customer groups that customers can ask to join here, oldest first.
@ref paymentMethods to:PaymentMethod plural
@refVia paymentMethods via:(id)->sales_channel_payment_methods(sales_channel_id);(payment_method_id)->payment_methods(id)
A place where the shop sells: a web shop, a market place, a till.$$;
--! EndIncluded views/api/sales_channels.sql
--! Included views/api/salutations.sql
create view api_unstable.salutations with (security_invoker = true) as
select id, salutation_key, erp.localized(display_name) as display_name, erp.localized(letter_name) as letter_name,
  created_at, updated_at
from erp.salutation;
comment on view api_unstable.salutations is $$
@primaryKey id
@requiresScopes salutations:read
@filters salutation_key,created_at,updated_at
A form of address.$$;
--! EndIncluded views/api/salutations.sql
--! Included views/api/shipping_labels.sql
create view api_unstable.shipping_labels with (security_invoker = true) as
select id, state, type, carrier_technical_name, carrier_name, tracking_codes, tracking_url, document_url, weight_in_grams,
  fulfillment_order_id, order_id, cancelled_at, created_at, updated_at
from erp.shipping_label;
comment on view api_unstable.shipping_labels is $$
@primaryKey id
@requiresScopes shipping_labels:read
@filters *
@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName fulfillmentOrder|@foreignFieldName shippingLabels|@noFilter
@foreignKey (order_id) references orders (id)|@fieldName order
A label that was bought from a carrier.$$;
--! EndIncluded views/api/shipping_labels.sql
--! Included views/api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select id, created_at, product_id, quantity,
  source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
  source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
  destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
  destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id,
  destination_special_stock_location_technical_name, process_type_technical_name
from ledger.stock_movement;
comment on view api_unstable.stock_movements is $$
@primaryKey id
@requiresScopes stocks:read
@gid source_return_order_id ReturnOrder
@gid destination_return_order_id ReturnOrder
@gid source_stock_container_id StockContainer
@gid destination_stock_container_id StockContainer
@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,destination_special_stock_location_technical_name,source_location_type_technical_name,source_special_stock_location_technical_name,quantity
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName sourceWarehouse|@foreignFieldName sourceStockMovements
@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName destinationWarehouse|@foreignFieldName destinationStockMovements
@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName sourceBinLocation|@foreignFieldName sourceStockMovements
@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName destinationBinLocation|@foreignFieldName destinationStockMovements
@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder
@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder
@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName sourceGoodsReceipt|@foreignFieldName sourceStockMovements
@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName destinationGoodsReceipt|@foreignFieldName destinationStockMovements
A booking in the ledger of stock: a positive quantity that moved from one place to another. Movements are never changed; they go only with their product.$$;
--! EndIncluded views/api/stock_movements.sql
--! Included views/api/stocks.sql
create view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id, return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is $$
@primaryKey id
@requiresScopes stocks:read
@gid return_order_id ReturnOrder
@gid stock_container_id StockContainer
@filters *
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName stocks
@foreignKey (order_id) references orders (id)|@fieldName order
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName stocks
How much of a product lies in one place.$$;
--! EndIncluded views/api/stocks.sql
--! Included views/api/supplier_order_line_items.sql
create view api_unstable.supplier_order_line_items with (security_invoker = true) as
select id, supplier_order_id, product_id, position, label, product_number, supplier_product_number, quantity,
  received_quantity, open_quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate,
  expected_delivery_date, actual_delivery_date, created_at, updated_at
from erp.supplier_order_line_item;
comment on view api_unstable.supplier_order_line_items is $$
@primaryKey id
@requiresScopes supplier_orders:read
@filters *
@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName supplierOrder|@foreignFieldName lineItems
@foreignKey (product_id) references products (id)|@fieldName product
A line of a supplier order.$$;
--! EndIncluded views/api/supplier_order_line_items.sql
--! Included views/api/supplier_order_tags.sql
create view api_unstable.supplier_order_tags with (security_invoker = true) as
select supplier_order_id, tag_id from erp.supplier_order_tag;
comment on view api_unstable.supplier_order_tags is $$
@primaryKey supplier_order_id,tag_id
@behavior -*
@requiresScopes supplier_orders:read tags:read
@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between supplier_orders and tags; not a type of the API.$$;
--! EndIncluded views/api/supplier_order_tags.sql
--! Included views/api/supplier_orders.sql
create view api_unstable.supplier_orders with (security_invoker = true) as
select id, number, supplier_order_number, state, payment_state, supplier_id, warehouse_id, supplier_snapshot,
  warehouse_snapshot, currency_id, amount_net, amount_total, position_price, tax_status, order_date_time, due_date,
  delivery_date, actual_delivery_date, comment, created_at, updated_at
from erp.supplier_order;
comment on view api_unstable.supplier_orders is $$
@primaryKey id
@requiresScopes supplier_orders:read
@filters *
@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName supplierOrders
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (currency_id) references currencies (id)|@fieldName currency
@ref goodsReceipts to:GoodsReceipt plural
@refVia goodsReceipts via:(id)->goods_receipt_supplier_orders(supplier_order_id);(goods_receipt_id)->goods_receipts(id)
@ref tags to:Tag plural
@refVia tags via:(id)->supplier_order_tags(supplier_order_id);(tag_id)->tags(id)
An order that the shop placed with a supplier.$$;
--! EndIncluded views/api/supplier_orders.sql
--! Included views/api/suppliers.sql
create view api_unstable.suppliers with (security_invoker = true) as
select id, number, name, customer_number, currency_id, language_code, email, phone, address, default_delivery_time_days,
  minimum_order_value, vat_id, active, created_at, updated_at
from erp.supplier;
comment on view api_unstable.suppliers is $$
@primaryKey id
@requiresScopes suppliers:read
@filters *
@foreignKey (currency_id) references currencies (id)|@fieldName currency
A company that the shop buys from.$$;
--! EndIncluded views/api/suppliers.sql
--! Included views/api/tags.sql
create view api_unstable.tags with (security_invoker = true) as
select id, name from erp.tag;
comment on view api_unstable.tags is $$
@primaryKey id
@requiresScopes tags:read
@filters name
@ref customers to:Customer plural
@refVia customers via:(id)->customer_tags(tag_id);(customer_id)->customers(id)
@ref orders to:Order plural
@refVia orders via:(id)->order_tags(tag_id);(order_id)->orders(id)
@ref products to:Product plural
@refVia products via:(id)->product_tags(tag_id);(product_id)->products(id)
A label that people put on things to find them again.$$;
--! EndIncluded views/api/tags.sql
--! Included views/api/warehouse_stocks.sql
create view api_unstable.warehouse_stocks with (security_invoker = true) as
select id, product_id, warehouse_id, quantity, reserved_quantity, available_quantity, created_at, updated_at
from ledger.warehouse_stock;
comment on view api_unstable.warehouse_stocks is $$
@primaryKey id
@requiresScopes stocks:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName warehouseStocks
How much of a product a warehouse holds, its bins included.$$;
--! EndIncluded views/api/warehouse_stocks.sql
--! Included views/api/warehouses.sql
create view api_unstable.warehouses with (security_invoker = true) as
select id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, created_at, updated_at
from erp.warehouse;
comment on view api_unstable.warehouses is $$
@primaryKey id
@requiresScopes warehouses:read
@filters *
A building that holds stock.$$;
--! EndIncluded views/api/warehouses.sql
--! Included views/api/webhook_subscriptions.sql
create view api_unstable.webhook_subscriptions with (security_invoker = true) as
select id, topic, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count, created_at, updated_at
from events.webhook_subscription;
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@filters *
Who is told when something happens.$$;
--! EndIncluded views/api/webhook_subscriptions.sql

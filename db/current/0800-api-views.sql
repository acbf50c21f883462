-- The head of the API. Types and views are replaced as a whole: what reads them is rebuilt, what they read stays.
drop schema if exists api_2026_06_unstable, api_unstable cascade;
create schema api_unstable;
comment on schema api_unstable is 'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

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

--!include views/api/batch_tags.sql
--!include views/api/batches.sql
--!include views/api/bin_location_tags.sql
--!include views/api/bin_locations.sql
--!include views/api/countries.sql
--!include views/api/currencies.sql
--!include views/api/customer_groups.sql
--!include views/api/customer_tags.sql
--!include views/api/customers.sql
--!include views/api/document_types.sql
--!include views/api/documents.sql
--!include views/api/fulfillment_line_items.sql
--!include views/api/fulfillment_order_fulfillments.sql
--!include views/api/fulfillment_order_line_items.sql
--!include views/api/fulfillment_orders.sql
--!include views/api/fulfillments.sql
--!include views/api/goods_receipt_line_items.sql
--!include views/api/goods_receipt_supplier_orders.sql
--!include views/api/goods_receipt_tags.sql
--!include views/api/goods_receipts.sql
--!include views/api/locations.sql
--!include views/api/order_line_items.sql
--!include views/api/order_tags.sql
--!include views/api/orders.sql
--!include views/api/payment_methods.sql
--!include views/api/product_stock_location_configurations.sql
--!include views/api/product_supplier_configurations.sql
--!include views/api/product_tags.sql
--!include views/api/product_warehouse_configurations.sql
--!include views/api/products.sql
--!include views/api/quote_line_items.sql
--!include views/api/quotes.sql
--!include views/api/sales_channel_countries.sql
--!include views/api/sales_channel_currencies.sql
--!include views/api/sales_channel_payment_methods.sql
--!include views/api/sales_channel_registration_groups.sql
--!include views/api/sales_channels.sql
--!include views/api/salutations.sql
--!include views/api/shipping_labels.sql
--!include views/api/stock_movements.sql
--!include views/api/stocks.sql
--!include views/api/supplier_order_line_items.sql
--!include views/api/supplier_order_tags.sql
--!include views/api/supplier_orders.sql
--!include views/api/suppliers.sql
--!include views/api/tags.sql
--!include views/api/warehouse_stocks.sql
--!include views/api/warehouses.sql
--!include views/api/webhook_subscriptions.sql

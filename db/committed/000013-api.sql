--! Previous: sha1:3e101694480618a41ab8ac7dd1c226cbc99b181e
--! Hash: sha1:832e1f75d904745501799f71a75e185e7e6cd7f5
--! Message: api

-- The version that changes: types, views and mutations.

-- Whose bigint and numeric are Floats: in others they lose no digit
comment on schema api_unstable is
  E'@floats currencies events goods_receipt_create_input goods_receipt_line_input '
  'goods_receipt_line_items goods_receipt_update_input goods_receipts order_line_items '
  'order_line_upsert_input orders price product_price_input product_upsert_input '
  'purchase_price_input quote_line_items quotes stock_movements supplier_order_line_input '
  'supplier_order_line_items supplier_orders supplier_upsert_input suppliers webhook_deliveries '
  'webhook_deliveries_replay_input webhook_subscriptions\n'
  'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

create type api_unstable.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.price is
  E'@name Price\nAn amount of money in one currency, with and without tax.';
comment on column api_unstable.price.currency_id is E'@notNull\n@gid Currency\nCurrency of the amounts.';
comment on column api_unstable.price.net is E'@notNull\nAmount without tax.';
comment on column api_unstable.price.gross is E'@notNull\nAmount with tax.';
comment on column api_unstable.price.linked is
  E'@notNull\nWhether one of the amounts follows from the other by the tax rate.';

create type api_unstable.fulfillment_order_state as enum (
  'Open', 'InProgress', 'OnHold', 'Closed', 'Cancelled'
);
comment on type api_unstable.fulfillment_order_state is
  E'\n'
  '@value Open Nobody has begun.\n'
  '@value InProgress Work such as picking has begun.\n'
  '@value OnHold The merchant paused it; nobody may work on it until it is released.\n'
  '@value Closed No work is left. Not everything need have been fulfilled.\n'
  '@value Cancelled Its quantities are not to be shipped from its location any more.\n'
  'How far the work on a fulfillment order is.';

create type api_unstable.fulfillment_order_type as enum ('WarehouseLocationToOrder', 'ExternalToOrder');
comment on type api_unstable.fulfillment_order_type is
  E'\n'
  '@value WarehouseLocationToOrder A location of the merchant ships to the customer, and the work is '
  'done in this system.\n'
  '@value ExternalToOrder A location outside this system ships, such as a fulfillment network; this '
  'system only mirrors it.\n'
  'Who ships a fulfillment order.';

create type api_unstable.fulfillment_state as enum ('Fulfilled', 'Cancelled');
comment on type api_unstable.fulfillment_state is
  E'\n'
  '@value Fulfilled The shipping work was done.\n'
  '@value Cancelled It was taken back; its quantities are open again on the fulfillment order.\n'
  'Whether shipping work stands.';

create type api_unstable.currency_factor_origin_type as enum (
  'ExchangeRateImport', 'Manual', 'ShopCurrencyFactor'
);
comment on type api_unstable.currency_factor_origin_type is
  E'\n'
  '@value ExchangeRateImport The automatic update of exchange rates.\n'
  '@value Manual Somebody set it for this goods receipt.\n'
  '@value ShopCurrencyFactor The factor of the currency in the shop, kept without the automatic update.\n'
  'Where the exchange rate of a goods receipt came from.';

create type api_unstable.goods_receipt_type as enum ('Free', 'Customer', 'Supplier');
comment on type api_unstable.goods_receipt_type is
  E'\n'
  '@value Free Stands alone: neither a supplier order nor a return is behind it.\n'
  '@value Customer Books what a customer sends back.\n'
  '@value Supplier Books what supplier orders bring.\n'
  'Where the goods of a receipt come from.';

create type api_unstable.customer_account_type as enum ('Private', 'Business');
comment on type api_unstable.customer_account_type is
  E'\n@value Private A person.\n@value Business A company.\nWhether a person or a company buys.';

--! Included api/batch_tags.sql
create view api_unstable.batch_tags with (security_invoker = true) as
select batch_id, tag_id from erp.batch_tag;
comment on view api_unstable.batch_tags is $$
@primaryKey batch_id,tag_id
@behavior -*
@requiresScopes batches:read tags:read
@foreignKey (batch_id) references batches (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between batches and tags; not a type of the API.$$;
--! EndIncluded api/batch_tags.sql
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, physical_stock from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@search number,product_id
@nullable number
@filters comment,number,physical_stock,product_id
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName batches
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded api/batches.sql
--! Included api/user_error_code.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION',
    'NOT_EDITABLE',
  'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED',
    'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING',
  'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE', 'TOO_MANY_SUBSCRIPTIONS');
comment on type api_unstable.user_error_code is
  E'@value REQUIRED Something is missing, or null where it must not be.\n'
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
  '@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was '
  'ordered becomes a line without an order.\n'
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
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is '
  'not.\n'
  '@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details '
  'names the order or the receipt that is of another.\n'
  '@value SUPPLIER_INACTIVE The shop orders nothing from the supplier any more. What was ordered before '
  'can still be received.\n'
  '@value TOO_MANY_SUBSCRIPTIONS There are as many webhook subscriptions as are allowed. Field details '
  'has how many.\n'
  'What kept a mutation from being done. A version never shows codes that it does not list: later ones '
  'appear as INVALID.';
--! EndIncluded api/user_error_code.sql
--! Included api/user_error.sql
do $$
begin
  if to_regtype('api_unstable.user_error') is null then
    create type api_unstable.user_error as (
      code api_unstable.user_error_code, message text, field text[], details jsonb
    );
  end if;
end
$$;
comment on type api_unstable.user_error is 'Why a mutation was refused. Nothing has been changed then.';
comment on column api_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_unstable.user_error.field is
  'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no '
  'single part is.';
comment on column api_unstable.user_error.details is
  'Further facts, for programs; which ones depends on the code.';
--! EndIncluded api/user_error.sql
--! Included api/bin_location_payload.sql
drop type if exists api_unstable.bin_location_payload cascade;
create type api_unstable.bin_location_payload as (bin_location uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bin_location_payload is 'What creating or changing a bin answers.';
comment on column api_unstable.bin_location_payload.bin_location is
  E'@entity BinLocation\nThe bin as it is now; null when it was refused.';
comment on column api_unstable.bin_location_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/bin_location_payload.sql
--! Included api/bin_location_create.sql
drop type if exists api_unstable.bin_location_create_input cascade;
create type api_unstable.bin_location_create_input as (warehouse_id uuid, code text, position integer);
comment on type api_unstable.bin_location_create_input is 'A new bin.';
comment on column api_unstable.bin_location_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse that it is in.';
comment on column api_unstable.bin_location_create_input.code is
  E'@notNull\nLabel, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_create_input.position is
  'Place on the pick route; lower is visited first.';

create function api_unstable.bin_location_create(input api_unstable.bin_location_create_input)
returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_bin_location(input.warehouse_id, input.code, input.position), null
  )::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_create(api_unstable.bin_location_create_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE
Makes a bin in a warehouse.$$;
--! EndIncluded api/bin_location_create.sql
--! Included api/bin_location_delete.sql
drop type if exists api_unstable.bin_location_delete_input cascade;
create type api_unstable.bin_location_delete_input as (id uuid);
comment on type api_unstable.bin_location_delete_input is 'A bin to delete.';
comment on column api_unstable.bin_location_delete_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';

drop type if exists api_unstable.bin_location_delete_payload cascade;
create type api_unstable.bin_location_delete_payload
  as (deleted_bin_location_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bin_location_delete_payload is 'What deleting a bin answers.';
comment on column api_unstable.bin_location_delete_payload.deleted_bin_location_id is
  E'@gid BinLocation\nId of the bin that is gone; null when it was refused.';
comment on column api_unstable.bin_location_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create function api_unstable.bin_location_delete(input api_unstable.bin_location_delete_input)
returns api_unstable.bin_location_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_bin_location(input.id), null)::api_unstable.bin_location_delete_payload
$$;
comment on function api_unstable.bin_location_delete(api_unstable.bin_location_delete_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY
Deletes an empty bin. Movements of stock that passed through it are kept; they no longer name it.$$;
--! EndIncluded api/bin_location_delete.sql
--! Included api/bin_location_tags.sql
create view api_unstable.bin_location_tags with (security_invoker = true) as
select bin_location_id, tag_id from erp.bin_location_tag;
comment on view api_unstable.bin_location_tags is $$
@primaryKey bin_location_id,tag_id
@behavior -*
@requiresScopes warehouses:read tags:read
@foreignKey (bin_location_id) references bin_locations (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between bin_locations and tags; not a type of the API.$$;
--! EndIncluded api/bin_location_tags.sql
--! Included api/bin_location_update.sql
drop type if exists api_unstable.bin_location_update_input cascade;
create type api_unstable.bin_location_update_input as (id uuid, code text, position integer);
comment on type api_unstable.bin_location_update_input is
  'Changes of a bin. What is left out stays as it is. A bin stays in its warehouse.';
comment on column api_unstable.bin_location_update_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';
comment on column api_unstable.bin_location_update_input.code is
  'Label, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_update_input.position is
  'Place on the pick route; lower is visited first. Null takes it off the route.';

create function api_unstable.bin_location_update(input api_unstable.bin_location_update_input, changes jsonb)
returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_bin_location(input.id, changes), null)::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_update(api_unstable.bin_location_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a bin.$$;
--! EndIncluded api/bin_location_update.sql
--! Included api/bin_locations.sql
create view api_unstable.bin_locations with (security_invoker = true) as
select id, warehouse_id, code, position, created_at, updated_at from erp.bin_location;
comment on view api_unstable.bin_locations is $$
@primaryKey id
@requiresScopes warehouses:read
@search code
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName binLocations
@ref tags to:Tag plural
@refVia tags via:(id)->bin_location_tags(bin_location_id);(tag_id)->tags(id)
The smallest place in a warehouse that has an address of its own.$$;
--! EndIncluded api/bin_locations.sql
--! Included api/bulk_operation_cancel.sql
drop type if exists api_unstable.bulk_operation_cancel_input cascade;
create type api_unstable.bulk_operation_cancel_input as (id uuid);
comment on type api_unstable.bulk_operation_cancel_input is 'A bulk operation to stop.';
comment on column api_unstable.bulk_operation_cancel_input.id is
  E'@notNull\n@gid BulkOperation\nId of the bulk operation.';

drop type if exists api_unstable.bulk_operation_cancel_payload cascade;
create type api_unstable.bulk_operation_cancel_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_cancel_payload is 'What stopping a bulk operation answers.';
comment on column api_unstable.bulk_operation_cancel_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation as it is now; null when it was refused.';
comment on column api_unstable.bulk_operation_cancel_payload.user_errors is
  'Why it was not stopped; empty when it was.';

create function api_unstable.bulk_operation_cancel(input api_unstable.bulk_operation_cancel_input)
returns api_unstable.bulk_operation_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.cancel(input.id), null)::api_unstable.bulk_operation_cancel_payload
$$;
comment on function api_unstable.bulk_operation_cancel(api_unstable.bulk_operation_cancel_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Stops a bulk operation that has not ended. Rows that were done stay done.';
--! EndIncluded api/bulk_operation_cancel.sql
--! Included api/bulk_operation_run.sql
drop type if exists api_unstable.bulk_operation_run_input cascade;
create type api_unstable.bulk_operation_run_input as (query text, variables jsonb, format text);
comment on type api_unstable.bulk_operation_run_input is 'A list to be written to a file.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\nA GraphQL document with one query of one list, up to 10,000 characters. Its pages and those of '
  'lists within it don''t count: all rows are written.';
comment on column api_unstable.bulk_operation_run_input.variables is
  'Values of the variables of the query: an object.';
comment on column api_unstable.bulk_operation_run_input.format is
  'Format of the file: jsonl, which is meant when it is left out, or csv.';

drop type if exists api_unstable.bulk_operation_run_payload cascade;
create type api_unstable.bulk_operation_run_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_run_payload is 'What asking for an export answers.';
comment on column api_unstable.bulk_operation_run_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation; null when it was refused.';
comment on column api_unstable.bulk_operation_run_payload.user_errors is
  'Why it was refused; empty when it was not.';

create function api_unstable.bulk_operation_run(input api_unstable.bulk_operation_run_input)
returns api_unstable.bulk_operation_run_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.run_export(input.query, coalesce(input.variables, '{}'), coalesce(input.format, 'jsonl')),
    null)::api_unstable.bulk_operation_run_payload
$$;
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Writes all rows of a list to a file, as background work, as they are at one moment: a line for each row, '
  'and for each row of lists within it a line with __parentId.';
--! EndIncluded api/bulk_operation_run.sql
--! Included api/bulk_operation_state.sql
create type api_unstable.bulk_operation_state
  as enum ('uploading', 'queued', 'running', 'completed', 'failed', 'cancelled');
comment on type api_unstable.bulk_operation_state is $$
@value uploading The file is arriving.
@value queued It waits for its turn: one of a credential is worked on at a time.
@value running It is being worked on.
@value completed It has ended. Rows may have been refused nevertheless.
@value failed It had to stop; the error says why. What was done before stays.
@value cancelled Somebody stopped it. What was done before stays.
State of a bulk operation.$$;

create type api_unstable.bulk_operation_kind as enum ('import', 'export');
comment on type api_unstable.bulk_operation_kind is $$
@value import Rows of a file are taken in, as by the upsert of their resource.
@value export The rows of a list are written to a file.
What a bulk operation does.$$;
--! EndIncluded api/bulk_operation_state.sql
--! Included api/bulk_operations.sql
create view api_unstable.bulk_operations with (security_invoker = true) as
select id, kind, state, resource, format, row_count, done_count, created_count, updated_count, refused_count,
  case when state = 'completed' then 1
    else least(1, (done_count + refused_count)::double precision / nullif(row_count, 0))
  end::double precision as progress,
  error_code, error_message, created_at, started_at, finished_at, expires_at,
  case when kind = 'export' and state = 'completed' then
    '/api/bulk/' || id::text || '/result?code=' || code end as result_url,
  case when refused_count > 0 then '/api/bulk/' || id::text || '/errors?code=' || code end as errors_url
from bulk.operation;
comment on view api_unstable.bulk_operations is
  E'@primaryKey id\n'
  '@requiresScopes bulk_operations:read\n'
  '@columnEnum state bulk_operation_state\n'
  '@columnEnum kind bulk_operation_kind\n'
  '@filters created_at\n'
  'A file of many rows that is taken in, or a list that is written to a file, as background work. Each '
  'credential sees its own. They are kept for 7 days after their end.';
comment on column api_unstable.bulk_operations.progress is
  'The part that is done, from 0 to 1; null while that isn''t known.';
comment on column api_unstable.bulk_operations.result_url is
  'Address of the file that an export has written, relative to the address of the service. It needs no '
  'token: anyone with the address may read it.';
comment on column api_unstable.bulk_operations.errors_url is
  'Address of a file about the rows that were refused, a line of JSON each: line, code, message and field. '
  'It needs no token, as the result.';
--! EndIncluded api/bulk_operations.sql
--! Included api/countries.sql
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
--! EndIncluded api/countries.sql
--! Included api/currencies.sql
create view api_unstable.currencies with (security_invoker = true) as
select id, iso_code, symbol, erp.localized(name) as name, erp.localized(short_name) as short_name, factor,
  position, is_default_currency
from erp.currency;
comment on view api_unstable.currencies is $$
@primaryKey id
@requiresScopes currencies:read
@nullable name,short_name,position
@filters factor,iso_code,symbol,position
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_currencies(currency_id);(sales_channel_id)->sales_channels(id)
A currency that the shop trades in.$$;
--! EndIncluded api/currencies.sql
--! Included api/customer_groups.sql
create view api_unstable.customer_groups with (security_invoker = true) as
select id, erp.localized(name) as name from erp.customer_group;
comment on view api_unstable.customer_groups is
  E'@primaryKey id\n'
  '@requiresScopes customer_groups:read\n'
  '@nullable name\n'
  '@filters id\n'
  '@ref registrationSalesChannels to:SalesChannel plural\n'
  '@refVia registrationSalesChannels '
  'via:(id)->sales_channel_registration_groups(customer_group_id);(sales_channel_id)->sales_channels(id)\n'
  '@describe registrationSalesChannels Sales channels where customers can ask to join the group, oldest '
  'first.\n'
  'A group of customers with common terms.';
--! EndIncluded api/customer_groups.sql
--! Included api/customer_tags.sql
create view api_unstable.customer_tags with (security_invoker = true) as
select customer_id, tag_id from erp.customer_tag;
comment on view api_unstable.customer_tags is $$
@primaryKey customer_id,tag_id
@behavior -*
@requiresScopes customers:read tags:read
@foreignKey (customer_id) references customers (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between customers and tags; not a type of the API.$$;
--! EndIncluded api/customer_tags.sql
--! Included api/customers.sql
create view api_unstable.customers with (security_invoker = true) as
select id, customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active,
  guest, group_id,
  sales_channel_id, storefront_id, created_at, updated_at,
  bound_sales_channel_id, requested_group_id, default_payment_method_id, last_payment_method_id, salutation_id
from erp.customer;
comment on view api_unstable.customers is
  E'@primaryKey id\n'
  '@requiresScopes customers:read\n'
  '@aggregates created_at\n'
  '@groupBy account_type,group_id,active,created_at\n'
  '@search customer_number,first_name,last_name,company,email\n'
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
--! EndIncluded api/customers.sql
--! Included api/upsert_outcome.sql
do $$
begin
  if to_regtype('api_unstable.upsert_outcome') is null then
    create type api_unstable.upsert_outcome as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.upsert_outcome', 'CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED');
comment on type api_unstable.upsert_outcome is
  E'@value CREATED It was not there, and was made.\n'
  '@value UPDATED It was there, and something about it was changed.\n'
  '@value UNCHANGED It is as the row says already: nothing was written, and no event tells of it.\n'
  '@value REFUSED The row was refused, for its user errors. Nothing of it was done.\n'
  'What became of a row of an upsert.';

drop type if exists api_unstable.upsert_result cascade;
create type api_unstable.upsert_result as (
  index integer, outcome api_unstable.upsert_outcome, id uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.upsert_result is 'What became of a row of an upsert.';
comment on column api_unstable.upsert_result.index is
  E'@notNull\nThe place of the row in the input, counted from 0.';
comment on column api_unstable.upsert_result.outcome is E'@notNull\nWhat became of it.';
comment on column api_unstable.upsert_result.id is
  E'@gid Node\nId of what the row is about; null when it is new and was refused.';
comment on column api_unstable.upsert_result.user_errors is
  E'@notNull\nWhy it was refused; empty otherwise.';
--! EndIncluded api/upsert_outcome.sql
--! Included api/customers_upsert.sql
drop type if exists api_unstable.customers_upsert_input cascade;
drop type if exists api_unstable.customer_upsert_input cascade;
drop type if exists api_unstable.customers_upsert_payload cascade;

create type api_unstable.customer_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, customer_number text,
  account_type api_unstable.customer_account_type, email text, first_name text, last_name text, title text,
  company text, vat_ids jsonb, active boolean, guest boolean, group_id uuid, requested_group_id uuid,
  bound_sales_channel_id uuid, default_payment_method_id uuid, salutation_id uuid, tags text[]
);
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.customer_upsert_input.id is
  E'@gid Customer\nId of the customer. Without it, the customer is known by storefrontId and '
  'salesChannelId, or else by customerNumber.';
comment on column api_unstable.customer_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters.';
comment on column api_unstable.customer_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where the account was made. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.customer_number is
  'Number that the shop knows the customer by, unique; at most 255 characters. When left out of a new '
  'one, the next of its range.';
comment on column api_unstable.customer_upsert_input.account_type is
  'Whether a person or a company buys. Private when left out of a new one.';
comment on column api_unstable.customer_upsert_input.email is
  'E-mail address, unique within the sales channel and the channel that the account is bound to; at '
  'most 255 characters. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.first_name is
  'Given name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.last_name is
  'Family name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.title is
  'Academic or honorary title.';
comment on column api_unstable.customer_upsert_input.company is
  'Name of the company, for business customers.';
comment on column api_unstable.customer_upsert_input.vat_ids is
  'VAT identification numbers: a list of strings.';
comment on column api_unstable.customer_upsert_input.active is
  'Whether the account may log in and buy. True when left out of a new one.';
comment on column api_unstable.customer_upsert_input.guest is
  'Whether the customer bought without opening an account. False when left out of a new one.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\nId of the customer group whose terms apply. That of the sales channel when left '
  'out of a new one.';
comment on column api_unstable.customer_upsert_input.requested_group_id is
  E'@gid CustomerGroup\nId of the group that the customer wants to belong to.';
comment on column api_unstable.customer_upsert_input.bound_sales_channel_id is
  E'@gid SalesChannel\nId of the only sales channel where the account is valid; null for all.';
comment on column api_unstable.customer_upsert_input.default_payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay that the customer prefers.';
comment on column api_unstable.customer_upsert_input.salutation_id is
  E'@gid Salutation\nId of the form of address.';
comment on column api_unstable.customer_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.customers_upsert_input
  as (customers api_unstable.customer_upsert_input[], partial boolean);
comment on type api_unstable.customers_upsert_input is 'Customers as they are to be.';
comment on column api_unstable.customers_upsert_input.customers is
  E'@notNull\nThe customers; 1 to 250 rows.';
comment on column api_unstable.customers_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.customers_upsert_payload as (
  results api_unstable.upsert_result[], customers uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.customers_upsert_payload is 'What an upsert of customers answers.';
comment on column api_unstable.customers_upsert_payload.results is
  E'@resultOf Customer\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.customers_upsert_payload.customers is
  E'@entity Customer\n@perLine customers\nThe customers of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.customers_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.customers_upsert(input api_unstable.customers_upsert_input, changes jsonb)
returns api_unstable.customers_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.customers_upsert_payload
  from mutation.upserted(erp.upsert_customers(changes -> 'customers', input.partial)) d
$$;
comment on function api_unstable.customers_upsert(api_unstable.customers_upsert_input, jsonb) is
  E'@requiresScopes customers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes customers and changes those that are there, known by their id, by storefrontId and sales '
  'channel, or by number. A customer found by number who has no storefrontId yet gets that of the row. '
  'Rows that say nothing new change nothing.';
--! EndIncluded api/customers_upsert.sql
--! Included api/document_types.sql
create view api_unstable.document_types with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name from erp.document_type;
comment on view api_unstable.document_types is $$
@primaryKey id
@requiresScopes documents:read
@nullable name
@filters technical_name
A kind of document.$$;
--! EndIncluded api/document_types.sql
--! Included api/documents.sql
create view api_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  document_type_id, order_id, referenced_document_id
from erp.document;
comment on view api_unstable.documents is
  E'@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@search document_number,order_id\n'
  '@hidden document_type_id,order_id,referenced_document_id\n'
  '@nullable static,sent\n'
  '@filters deep_link_code,document_number,sent,static\n'
  '@foreignKey (document_type_id) references document_types (id)|@fieldName '
  'documentType|@foreignFieldName documents\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents\n'
  '@foreignKey (referenced_document_id) references documents (id)|@fieldName '
  'referencedDocument|@foreignFieldName dependentDocuments\n'
  'A document of an order, such as an invoice or a delivery note.';
comment on column api_unstable.documents.download_url is
  E'@notNull\n'
  'Address that opens the document without a token, relative to the address of the service; stays the '
  'same as long as the document lives.';
--! EndIncluded api/documents.sql
--! Included api/events.sql
create or replace view api_unstable.events with (security_invoker = true) as
select id, sequence, topic, occurred_at, changed_fields, cause, data from events.event;
comment on view api_unstable.events is
  E'@primaryKey id\n'
  '@requiresScopes orders:read fulfillment_orders:read stocks:read products:read goods_receipts:read '
  'supplier_orders:read batches:read customers:read documents:read shipping_labels:read\n'
  '@filters topic,sequence,occurred_at\n'
  '@log\n'
  'Something that happened, as the log has it: in the order in which it was committed, without gaps, '
  'for 30 days. Shown are the events whose subjects the caller may read.';
--! EndIncluded api/events.sql
--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE');
comment on type api_unstable.warning_code is
  E'@value OTHER Something that this version has no code for; the message says what.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, for there is a later one. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units were booked out that orders are waiting for. Field details has the '
  'productId, what is reserved, and what is available now: less than nothing; and the warehouseId when '
  'only that warehouse is short.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold.\n'
  '@value SURPLUS More comes in than the supplier order has open, or goes back than it received. When '
  'the receipt is completed, the rest becomes a line without an order. Field details has the quantity, '
  'the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, what comes in '
  'of it becomes a line without an order. Field details is that of SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were taken in another currency, by the known '
  'rates. Field details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was made that lacks something the law asks for. Field details '
  'names it in missing, for example merchant.vatId, and the documentNumber.\n'
  'What a mutation tells although it was done. A version never shows codes that it does not list: later '
  'ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included api/warning.sql
do $$
begin
  if to_regtype('api_unstable.warning') is null then
    create type api_unstable.warning
      as (code api_unstable.warning_code, message text, field text[], details jsonb);
  end if;
end
$$;
comment on type api_unstable.warning is 'What to look at, although the mutation was done.';
comment on column api_unstable.warning.code is E'@notNull\nWhat it is about, for programs.';
comment on column api_unstable.warning.message is E'@notNull\nWhat it is about, for people.';
comment on column api_unstable.warning.field is
  'Way to the part of the input that it is about, for example ["lines", "0", "quantity"]; null when '
  'that is no single part.';
comment on column api_unstable.warning.details is
  'Further facts, for programs; which ones depends on the code.';
--! EndIncluded api/warning.sql
--! Included api/fulfillment_cancel.sql
drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'What cancelling a fulfillment answers.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\n'
  'The cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; '
  'empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input)
returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it '
  'is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new '
  'invoice.';
--! EndIncluded api/fulfillment_cancel.sql
--! Included api/stock_place_input.sql
drop type if exists api_unstable.stock_place_input cascade;
create type api_unstable.stock_place_input as (warehouse_id uuid, bin_location_id uuid);
comment on type api_unstable.stock_place_input is
  'A place that holds stock: either a warehouse, for what lies in it outside of bins, or a bin.';
comment on column api_unstable.stock_place_input.warehouse_id is E'@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stock_place_input.bin_location_id is E'@gid BinLocation\nId of the bin.';
--! EndIncluded api/stock_place_input.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'What shipping from a fulfillment order answers.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\nThe documents that were made, in the order in which they were asked for.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\nWhere they lie: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Where the units are taken from, the whole quantity. Left out, they are picked: the bins by their '
  'position, then by code, and at last what lies in no bin; of products that are kept in batches, the '
  'oldest batch first.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'What of a fulfillment order is shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
--! Included api/fulfillment_line_items.sql
create view api_unstable.fulfillment_line_items with (security_invoker = true) as
select id, quantity, fulfillment_id, fulfillment_order_line_item_id, product_id
from erp.fulfillment_line_item;
comment on view api_unstable.fulfillment_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_id,fulfillment_order_line_item_id,product_id\n'
  '@filters quantity\n'
  '@foreignKey (fulfillment_id) references fulfillments (id)|@fieldName fulfillment|@foreignFieldName '
  'lineItems\n'
  '@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName '
  'fulfillmentOrderLineItem|@foreignFieldName fulfillmentLineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'What a fulfillment shipped of one line of a fulfillment order.';
--! EndIncluded api/fulfillment_line_items.sql
--! Included api/fulfillment_order_payload.sql
drop type if exists api_unstable.fulfillment_order_payload cascade;
create type api_unstable.fulfillment_order_payload as (
  fulfillment_order uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_order_payload is
  'What changing the state of a fulfillment order answers.';
comment on column api_unstable.fulfillment_order_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_order_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_order_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded api/fulfillment_order_payload.sql
--! Included api/fulfillment_order_cancel.sql
drop type if exists api_unstable.fulfillment_order_cancel_input cascade;
create type api_unstable.fulfillment_order_cancel_input as (id uuid);
comment on type api_unstable.fulfillment_order_cancel_input is 'A fulfillment order to cancel.';
comment on column api_unstable.fulfillment_order_cancel_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_cancel(input api_unstable.fulfillment_order_cancel_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'cancel'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_cancel(api_unstable.fulfillment_order_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION\n'
  'Cancels a fulfillment order: what is open of it is no longer to be shipped from its location. It '
  'belongs to no fulfillment order then: fulfillmentOrderCreate has another warehouse ship it, and so '
  'does orderShipmentComplete. What was shipped stays shipped.';
--! EndIncluded api/fulfillment_order_cancel.sql
--! Included api/fulfillment_order_create.sql
drop type if exists api_unstable.fulfillment_order_create_input cascade;
drop type if exists api_unstable.fulfillment_order_create_line_input cascade;
create type api_unstable.fulfillment_order_create_line_input as (order_line_item_id uuid, quantity integer);
comment on type api_unstable.fulfillment_order_create_line_input is
  'Units of a line of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which must have a product.';
comment on column api_unstable.fulfillment_order_create_line_input.quantity is
  E'@notNull\n'
  'Number of units: at least 1, and at most those that are neither shipped nor in an open fulfillment '
  'order.';

create type api_unstable.fulfillment_order_create_input as (
  order_id uuid, warehouse_id uuid, lines api_unstable.fulfillment_order_create_line_input[]
);
comment on type api_unstable.fulfillment_order_create_input is
  'The part of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.fulfillment_order_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse; it has an active location.';
comment on column api_unstable.fulfillment_order_create_input.lines is
  '1 to 250 lines, each of another line of the order. Without it, all units are assigned that no open '
  'fulfillment order has.';

create function api_unstable.fulfillment_order_create(input api_unstable.fulfillment_order_create_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_fulfillment_order(input.order_id, input.warehouse_id,
    case when input.lines is not null then array(
      select row (l.order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end), null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_create(api_unstable.fulfillment_order_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID INVALID_STATE_TRANSITION OVER_FULFILLMENT REQUIRED NOT_UNIQUE '
  'OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes a warehouse ship units of an order that no fulfillment order has, for example because one was '
  'cancelled. They are promised to the order in that warehouse, even if it does not have them yet; '
  'fulfillmentCreate or orderShipmentComplete ships them from there.';
--! EndIncluded api/fulfillment_order_create.sql
--! Included api/fulfillment_order_fulfillments.sql
create view api_unstable.fulfillment_order_fulfillments with (security_invoker = true) as
select fulfillment_order_id, fulfillment_id from erp.fulfillment_order_fulfillment;
comment on view api_unstable.fulfillment_order_fulfillments is $$
@primaryKey fulfillment_order_id,fulfillment_id
@behavior -*
@requiresScopes fulfillment_orders:read
@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@behavior -*
@foreignKey (fulfillment_id) references fulfillments (id)|@behavior -*
Link between fulfillment_orders and fulfillments; not a type of the API.$$;
--! EndIncluded api/fulfillment_order_fulfillments.sql
--! Included api/fulfillment_order_hold.sql
drop type if exists api_unstable.fulfillment_order_hold_input cascade;
create type api_unstable.fulfillment_order_hold_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_order_hold_input is 'A fulfillment order to put on hold.';
comment on column api_unstable.fulfillment_order_hold_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_order_hold_input.comment is
  'Why it has to wait, in at most 1,000 characters. Kept until the hold is released.';

create function api_unstable.fulfillment_order_hold(input api_unstable.fulfillment_order_hold_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'hold', input.comment),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_hold(api_unstable.fulfillment_order_hold_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION OUT_OF_RANGE\n'
  'Puts a fulfillment order on hold that is open or in progress: nothing of it can be shipped until the '
  'hold is released.';
--! EndIncluded api/fulfillment_order_hold.sql
--! Included api/fulfillment_order_line_items.sql
create view api_unstable.fulfillment_order_line_items with (security_invoker = true) as
select id, quantity, storefront_id, fulfillment_order_id, destination_order_line_item_id, product_id
from erp.fulfillment_order_line_item;
comment on view api_unstable.fulfillment_order_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_order_id,destination_order_line_item_id,product_id\n'
  '@filters quantity,storefront_id\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName lineItems\n'
  '@foreignKey (destination_order_line_item_id) references order_line_items (id)|@fieldName '
  'destinationOrderLineItem\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'What a fulfillment order is to ship of one line of the order.';
--! EndIncluded api/fulfillment_order_line_items.sql
--! Included api/fulfillment_order_release_hold.sql
drop type if exists api_unstable.fulfillment_order_release_hold_input cascade;
create type api_unstable.fulfillment_order_release_hold_input as (id uuid);
comment on type api_unstable.fulfillment_order_release_hold_input is 'A fulfillment order to go on with.';
comment on column api_unstable.fulfillment_order_release_hold_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_release_hold(
  input api_unstable.fulfillment_order_release_hold_input
)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'release_hold'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function
  api_unstable.fulfillment_order_release_hold(api_unstable.fulfillment_order_release_hold_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION\n'
  'Releases a fulfillment order from its hold. It is open or in progress again, as it was before.';
--! EndIncluded api/fulfillment_order_release_hold.sql
--! Included api/fulfillment_order_start.sql
drop type if exists api_unstable.fulfillment_order_start_input cascade;
create type api_unstable.fulfillment_order_start_input as (id uuid);
comment on type api_unstable.fulfillment_order_start_input is 'A fulfillment order to start with.';
comment on column api_unstable.fulfillment_order_start_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_start(input api_unstable.fulfillment_order_start_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'start'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_start(api_unstable.fulfillment_order_start_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Tells that work on an open fulfillment order has begun.$$;
--! EndIncluded api/fulfillment_order_start.sql
--! Included api/fulfillment_orders.sql
create view api_unstable.fulfillment_orders with (security_invoker = true) as
select id, number, type, state, is_partially_fulfilled, destination_order_id, source_warehouse_location_id,
  external_location_name, shipping_method_id, shipping_method_name, shipping_address, storefront_id,
    created_at, updated_at,
  case when state = 'OnHold' then hold_comment end as hold_comment
from erp.fulfillment_order;
comment on view api_unstable.fulfillment_orders is
  E'@primaryKey id\n'
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
--! EndIncluded api/fulfillment_orders.sql
--! Included api/fulfillments.sql
create view api_unstable.fulfillments with (security_invoker = true) as
select id, number, state, storefront_id, created_at from erp.fulfillment;
comment on view api_unstable.fulfillments is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@aggregates created_at\n'
  '@groupBy state,created_at\n'
  '@search number\n'
  '@columnEnum state fulfillment_state\n'
  '@filters *\n'
  'The record of shipping work that was done. It may fulfill a part of a fulfillment order, several of '
  'them, or parts of several.';
--! EndIncluded api/fulfillments.sql
--! Included api/goods_receipt_booking_payload.sql
drop type if exists api_unstable.goods_receipt_booking_payload cascade;
create type api_unstable.goods_receipt_booking_payload as (
  goods_receipt uuid, stock_movements uuid[], stocks uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_booking_payload is 'What booking a goods receipt answers.';
comment on column api_unstable.goods_receipt_booking_payload.goods_receipt is
  E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_booking_payload.stock_movements is
  E'@entity StockMovement\n@atMost 500\n@perLine put_away\nThe movements that were booked.';
comment on column api_unstable.goods_receipt_booking_payload.stocks is
  E'@entity Stock\n@atMost 500\n@perLine put_away\nThe stock that has changed, as it is now.';
comment on column api_unstable.goods_receipt_booking_payload.user_errors is
  'Why nothing was booked; empty when all was.';
comment on column api_unstable.goods_receipt_booking_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded api/goods_receipt_booking_payload.sql
--! Included api/goods_receipt_approve.sql
drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks,
    null, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Approves a goods receipt: the goods are there. Books the lines to the place of the receipt: from the '
  'return orders for receipts of type Customer, else from the special place unknown; lines with a '
  'negative quantity from where the goods lie.';
--! EndIncluded api/goods_receipt_approve.sql
--! Included api/put_away_input.sql
drop type if exists api_unstable.put_away_input cascade;
create type api_unstable.put_away_input
  as (goods_receipt_line_item_id uuid, place api_unstable.stock_place_input, quantity integer);
comment on type api_unstable.put_away_input is 'Where units of a line are put.';
comment on column api_unstable.put_away_input.goods_receipt_line_item_id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.put_away_input.place is
  E'@notNull\nThe bin, or the warehouse for goods that lie outside of bins.';
comment on column api_unstable.put_away_input.quantity is
  E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';
--! EndIncluded api/put_away_input.sql
--! Included api/goods_receipt_complete.sql
drop type if exists api_unstable.goods_receipt_complete_input cascade;
create type api_unstable.goods_receipt_complete_input as (id uuid, put_away api_unstable.put_away_input[]);
comment on type api_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_unstable.goods_receipt_complete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Where the goods were put. A line that is not named goes to its own bin, else to the usual bin of the '
  'product, else to the warehouse.';

create function api_unstable.goods_receipt_complete(input api_unstable.goods_receipt_complete_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (
      p.ordinality, p.goods_receipt_line_item_id, (p.place).warehouse_id, (p.place).bin_location_id,
      p.quantity
    )::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  )) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE INSUFFICIENT_STOCK\n'
  '@warnings SURPLUS ORDER_CANCELLED PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Completes an approved goods receipt: books the goods to where they were put away, and what is thrown '
  'away to stock_correction. Lines of supplier orders become received, and their orders '
  'partially_delivered or delivered, or less than that after a correction. All that came is booked: '
  'what fits on no line of the order that a line names, by now, becomes a line without an order.';
--! EndIncluded api/goods_receipt_complete.sql
--! Included api/goods_receipt_line_input.sql
drop type if exists api_unstable.goods_receipt_line_input cascade;
create type api_unstable.goods_receipt_line_input as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text,
    supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer,
    destination_bin_location_id uuid
);
comment on type api_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_unstable.goods_receipt_line_input.id is
  E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.goods_receipt_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_input.quantity is
  E'@notNull\nUnits that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_unstable.goods_receipt_line_input.batch_id is
  E'@gid Batch\nId of the batch that comes in.';
comment on column api_unstable.goods_receipt_line_input.batch_number is
  'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_line_item_id is
  E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is
  E'@gid ReturnOrder\nId of the return order that the goods come from; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. When left out, that of the '
  'supplier order, converted where that is in another currency or states tax otherwise.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. When left out, that of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is
  'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is
  E'@gid BinLocation\nId of the bin that the units are to be put into.';
--! EndIncluded api/goods_receipt_line_input.sql
--! Included api/goods_receipt_payload.sql
drop type if exists api_unstable.goods_receipt_payload cascade;
create type api_unstable.goods_receipt_payload as (
  goods_receipt uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_payload is 'What a mutation of a goods receipt answers.';
comment on column api_unstable.goods_receipt_payload.goods_receipt is
  E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.goods_receipt_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded api/goods_receipt_payload.sql
--! Included api/goods_receipt_create.sql
drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric,
    tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Where the goods come from. When left out: Supplier if supplier orders are named, Customer if return '
  'orders or a customer are, else Free.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that receives the goods. When left out, the one where goods are received by '
  'default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. When left out, that of the supplier orders that are named here or by the lines. '
  'Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. When left out, that of the first supplier order that is named '
  'here or by a line, else that of the supplier.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. When left out, the imported '
  'rate of the day, else that of the shop.';
comment on column api_unstable.goods_receipt_create_input.tax_status is
  'Whether prices are net, gross or tax-free. When left out, as on the first supplier order; net '
  'without one.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft. False when left out.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\nIds of the supplier orders that are delivered; those of the lines need not be named.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(
  input api_unstable.goods_receipt_create_input, changes jsonb
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. '
  'Nothing is booked yet. Its lines say what it is for: what is left out of type, supplier, currency, '
  'tax status and prices follows from the supplier orders that they name.';
--! EndIncluded api/goods_receipt_create.sql
--! Included api/goods_receipt_delete.sql
drop type if exists api_unstable.goods_receipt_delete_input cascade;
create type api_unstable.goods_receipt_delete_input as (id uuid);
comment on type api_unstable.goods_receipt_delete_input is 'A goods receipt to delete.';
comment on column api_unstable.goods_receipt_delete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

drop type if exists api_unstable.goods_receipt_delete_payload cascade;
create type api_unstable.goods_receipt_delete_payload as (
  deleted_goods_receipt_id uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_delete_payload is 'What deleting a goods receipt answers.';
comment on column api_unstable.goods_receipt_delete_payload.deleted_goods_receipt_id is
  E'@gid GoodsReceipt\nId of the goods receipt that is gone; null when it was refused.';
comment on column api_unstable.goods_receipt_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.goods_receipt_delete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

create function api_unstable.goods_receipt_delete(input api_unstable.goods_receipt_delete_input)
returns api_unstable.goods_receipt_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_goods_receipt(input.id), null, null)::api_unstable.goods_receipt_delete_payload
$$;
comment on function api_unstable.goods_receipt_delete(api_unstable.goods_receipt_delete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE INSUFFICIENT_STOCK
Deletes a goods receipt that no stock has left yet; what was approved goes back to where it came from.$$;
--! EndIncluded api/goods_receipt_delete.sql
--! Included api/goods_receipt_line_items.sql
create view api_unstable.goods_receipt_line_items with (security_invoker = true) as
select id, goods_receipt_id, product_id, batch_id, quantity, planned_disposal_quantity, return_order_id,
  supplier_order_id,
  unit_price, total_price, unit_price_in_default_currency, total_price_in_default_currency,
    destination_bin_location_id,
  supplier_order_line_item_id
from erp.goods_receipt_line_item;
comment on view api_unstable.goods_receipt_line_items is
  E'@primaryKey id\n'
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
--! EndIncluded api/goods_receipt_line_items.sql
--! Included api/goods_receipt_line_items_set.sql
drop type if exists api_unstable.goods_receipt_line_items_set_input cascade;
create type api_unstable.goods_receipt_line_items_set_input
  as (id uuid, line_items api_unstable.goods_receipt_line_input[]);
comment on type api_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.line_items is
  E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create function api_unstable.goods_receipt_line_items_set(
  input api_unstable.goods_receipt_line_items_set_input
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Sets the lines of a goods receipt that is not approved yet, and computes its totals again. Lines are '
  'listed in the given order, except existing lines that change places among themselves. A receipt without '
  'a supplier takes that of the supplier orders that its lines name.';
--! EndIncluded api/goods_receipt_line_items_set.sql
--! Included api/goods_receipt_start.sql
drop type if exists api_unstable.goods_receipt_start_input cascade;
create type api_unstable.goods_receipt_start_input as (id uuid);
comment on type api_unstable.goods_receipt_start_input is 'A goods receipt to start.';
comment on column api_unstable.goods_receipt_start_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_start(input api_unstable.goods_receipt_start_input)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.start_goods_receipt(input.id), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_start(api_unstable.goods_receipt_start_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Notes that the goods of an approved receipt are being put away.$$;
--! EndIncluded api/goods_receipt_start.sql
--! Included api/goods_receipt_supplier_orders.sql
create view api_unstable.goods_receipt_supplier_orders with (security_invoker = true) as
select goods_receipt_id, supplier_order_id from erp.goods_receipt_supplier_order;
comment on view api_unstable.goods_receipt_supplier_orders is $$
@primaryKey goods_receipt_id,supplier_order_id
@behavior -*
@requiresScopes goods_receipts:read supplier_orders:read
@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*
@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*
Link between goods_receipts and supplier_orders; not a type of the API.$$;
--! EndIncluded api/goods_receipt_supplier_orders.sql
--! Included api/goods_receipt_tags.sql
create view api_unstable.goods_receipt_tags with (security_invoker = true) as
select goods_receipt_id, tag_id from erp.goods_receipt_tag;
comment on view api_unstable.goods_receipt_tags is $$
@primaryKey goods_receipt_id,tag_id
@behavior -*
@requiresScopes goods_receipts:read tags:read
@foreignKey (goods_receipt_id) references goods_receipts (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between goods_receipts and tags; not a type of the API.$$;
--! EndIncluded api/goods_receipt_tags.sql
--! Included api/goods_receipt_update.sql
drop type if exists api_unstable.goods_receipt_update_input cascade;
create type api_unstable.goods_receipt_update_input as (
  id uuid, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric,
    tax_status text, comment text,
  is_draft boolean
);
comment on type api_unstable.goods_receipt_update_input is
  'Changes of a goods receipt. What is left out stays as it is.';
comment on column api_unstable.goods_receipt_update_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_update_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse that receives the goods.';
comment on column api_unstable.goods_receipt_update_input.supplier_id is
  E'@gid Supplier\nId of the supplier.';
comment on column api_unstable.goods_receipt_update_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_update_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts, which are not converted; the exchange rate is taken anew.';
comment on column api_unstable.goods_receipt_update_input.currency_factor is
  'Exchange rate, set by hand: units of the currency per unit of the default currency. Null takes the '
  'rate of this moment. It can be changed until a stock valuation report counts with it.';
comment on column api_unstable.goods_receipt_update_input.tax_status is
  'Whether prices are net, gross or tax-free.';
comment on column api_unstable.goods_receipt_update_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_update_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft; until it is approved.';

create function api_unstable.goods_receipt_update(
  input api_unstable.goods_receipt_update_input, changes jsonb
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_goods_receipt(input.id, changes), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_update(api_unstable.goods_receipt_update_input, jsonb) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID OUT_OF_RANGE CURRENCY_FACTOR_LOCKED SUPPLIER_MISMATCH
Changes a goods receipt. Once it is approved, only the comment and the exchange rate can be changed.$$;
--! EndIncluded api/goods_receipt_update.sql
--! Included api/goods_receipts.sql
create view api_unstable.goods_receipts with (security_invoker = true) as
select id, number, type, state, goods_receipt_date_time, warehouse_id, supplier_id, customer_id, user_id,
  currency_id,
  currency_factor, currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
  currency_factor_captured_at, tax_status, amount_net, amount_total, position_price, comment
from erp.goods_receipt;
comment on view api_unstable.goods_receipts is
  E'@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@aggregates amount_net,amount_total,goods_receipt_date_time\n'
  '@groupBy type,state,supplier_id,warehouse_id,currency_id,goods_receipt_date_time\n'
  '@search number,supplier_id\n'
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
--! EndIncluded api/goods_receipts.sql
--! Included api/locations.sql
create view api_unstable.locations with (security_invoker = true) as
select id, name, active, warehouse_id, storefront_id, created_at, updated_at from erp.location;
comment on view api_unstable.locations is $$
@primaryKey id
@unique warehouse_id
@requiresScopes locations:read
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName location
A place that orders are fulfilled from.$$;
--! EndIncluded api/locations.sql
--! Included api/order_cancel.sql
drop type if exists api_unstable.order_cancel_input cascade;
drop type if exists api_unstable.order_cancel_payload cascade;

create type api_unstable.order_cancel_input as (id uuid);
comment on type api_unstable.order_cancel_input is 'An order to cancel.';
comment on column api_unstable.order_cancel_input.id is E'@notNull\n@gid Order\nId of the order.';

create type api_unstable.order_cancel_payload as (
  "order" uuid, fulfillment_orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.order_cancel_payload is 'What cancelling an order answers.';
comment on column api_unstable.order_cancel_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders that were cancelled with it.';
comment on column api_unstable.order_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.order_cancel(input api_unstable.order_cancel_input)
returns api_unstable.order_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (d.order_id, d.fulfillment_orders, null)::api_unstable.order_cancel_payload
  from erp.cancel_order(input.id) d
$$;
comment on function api_unstable.order_cancel(api_unstable.order_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION NOT_EDITABLE\n'
  'Cancels an open order, or one in progress, of which nothing is shipped, and its open fulfillment '
  'orders. Its '
  'units are no longer reserved. What is fulfilled externally is left alone.';
--! EndIncluded api/order_cancel.sql
--! Included api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price,
  total_price,
  storefront_id, parent_id
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@aggregates quantity,shipped_quantity,total_price
@groupBy product_id,order_id,type
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
--! EndIncluded api/order_line_items.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were made, in the order in which they were asked for.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, it is the default '
  'warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another '
  'warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION ON_HOLD '
  'EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships everything that is still open of an order: its open fulfillment orders, each from the warehouse '
  'of its location, and what no open fulfillment order has from the warehouse that is named, or else from '
  'the default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; of '
  'products that are kept in batches, the oldest batch first. Books them out by the process api_shipping, '
  'records the fulfillment, closes the fulfillment orders, and brings the states of the order up to date. '
  'What is fulfilled externally is left alone. All of it is shipped, or nothing.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/order_tags.sql
create view api_unstable.order_tags with (security_invoker = true) as
select order_id, tag_id from erp.order_tag;
comment on view api_unstable.order_tags is $$
@primaryKey order_id,tag_id
@behavior -*
@requiresScopes orders:read tags:read
@foreignKey (order_id) references orders (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between orders and tags; not a type of the API.$$;
--! EndIncluded api/order_tags.sql
--! Included api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total,
  currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id
from erp.sales_order;
comment on view api_unstable.orders is
  E'@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,delivery_state,payment_state,currency_id,order_date_time\n'
  '@search order_number,storefront_id,tracking_codes,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number,state,'
  'delivery_state,payment_state,customer_id,sales_channel_id\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer|@foreignFieldName orders\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
--! EndIncluded api/orders.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'What the line stands for: product, custom, promotion, credit or another word. When left out of a new '
  'line, product or custom.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax. When left out beside a unit price or a quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  line_items api_unstable.order_line_upsert_input[], tags text[]
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. That of the sales channel when left out of a new '
  'one.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Where to ship to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Where the invoice goes: an object of the same keys.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.orders_upsert_input as (orders api_unstable.order_upsert_input[], partial boolean);
comment on type api_unstable.orders_upsert_input is 'Orders as they are to be.';
comment on column api_unstable.orders_upsert_input.orders is
  E'@notNull\nThe orders; 1 to 250 rows.';
comment on column api_unstable.orders_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.orders_upsert_payload as (
  results api_unstable.upsert_result[], orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.orders_upsert_payload is 'What an upsert of orders answers.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.orders_upsert_payload.orders is
  E'@entity Order\n@perLine orders\nThe orders of the rows that were not refused, in their order.';
comment on column api_unstable.orders_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.orders_upsert(input api_unstable.orders_upsert_input, changes jsonb)
returns api_unstable.orders_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.orders_upsert_payload
  from mutation.upserted(erp.upsert_orders(changes -> 'orders', input.partial)) d
$$;
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Makes orders and changes those that are there, known by their id, by storefrontId and sales channel, '
  'or by number. What is shipped, assigned to a fulfillment order or invoiced stays: a line keeps at '
  'least these units, and its product; lines of completed and cancelled orders stay as they are. Rows '
  'that say nothing new change nothing.';
--! EndIncluded api/orders_upsert.sql
--! Included api/payment_methods.sql
create view api_unstable.payment_methods with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name, erp.localized(description) as description, active,
  position,
  after_order_enabled, created_at, updated_at
from erp.payment_method;
comment on view api_unstable.payment_methods is
  E'@primaryKey id\n'
  '@requiresScopes payment_methods:read\n'
  '@filters technical_name,active,position,after_order_enabled,created_at,updated_at\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_payment_methods(payment_method_id);(sales_channel_id)->sales_channels(id)\n'
  'A way to pay.';
--! EndIncluded api/payment_methods.sql
--! Included api/product_images.sql
drop type if exists api_unstable.product_image_translation;
create type api_unstable.product_image_translation as (locale text, alt_text text);
comment on type api_unstable.product_image_translation is
  'The alternative text of an image in another language.';
comment on column api_unstable.product_image_translation.locale is
  E'@notNull\nThe language, perhaps with script and region, such as de or de-AT.';
comment on column api_unstable.product_image_translation.alt_text is
  E'@notNull\nWhat the image shows.';

create view api_unstable.product_images with (security_invoker = true) as
select product_id, position, url, alt_text,
  array(
    select row (t.key, t.value ->> 'alt_text')::api_unstable.product_image_translation
    from jsonb_each(product_image.translations) t order by t.key collate "C"
  ) as translations
from erp.product_image;
comment on view api_unstable.product_images is $$
@primaryKey product_id,position
@requiresScopes products:read
@filters product_id,position,url
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName images
@describe productImages All images of products that the caller may read, those of a product in their order.
An image of a product. Its id says which product's, and the place among its images.$$;
comment on column api_unstable.product_images.translations is
  E'@notNull\nThe alternative text in other languages, in the order of their locales.';
--! EndIncluded api/product_images.sql
--! Included api/product_stock_location_configurations.sql
create view api_unstable.product_stock_location_configurations with (security_invoker = true) as
select id, reorder_point, stock_below_reorder_point, target_maximum_quantity, product_id
from erp.product_stock_location_configuration;
comment on view api_unstable.product_stock_location_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_stock_location_configurations:read\n'
  '@hidden product_id\n'
  '@nullable stock_below_reorder_point\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName stockLocationConfigurations|@noFilter\n'
  'When to refill a product at one place: a bin, or the part of a warehouse that has no bin.';
--! EndIncluded api/product_stock_location_configurations.sql
--! Included api/purchase_price_input.sql
drop type if exists api_unstable.purchase_price_input cascade;
create type api_unstable.purchase_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.purchase_price_input is 'A purchase price in one currency.';
comment on column api_unstable.purchase_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.purchase_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.purchase_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.purchase_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';
--! EndIncluded api/purchase_price_input.sql
--! Included api/product_supplier_configuration_payload.sql
drop type if exists api_unstable.product_supplier_configuration_payload cascade;
create type api_unstable.product_supplier_configuration_payload
  as (product_supplier_configuration uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.product_supplier_configuration_payload is
  'What a mutation of how a supplier sells a product answers.';
comment on column api_unstable.product_supplier_configuration_payload.product_supplier_configuration is
  E'@entity ProductSupplierConfiguration\nThe assignment as it is now; null when it was refused.';
comment on column api_unstable.product_supplier_configuration_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/product_supplier_configuration_payload.sql
--! Included api/product_supplier_configuration_create.sql
drop type if exists api_unstable.product_supplier_configuration_create_input cascade;
create type api_unstable.product_supplier_configuration_create_input as (
  product_id uuid, supplier_id uuid, supplier_product_number text, min_purchase integer,
    purchase_steps integer, delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[], supplier_is_default boolean
);
comment on type api_unstable.product_supplier_configuration_create_input is 'A supplier of a product.';
comment on column api_unstable.product_supplier_configuration_create_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_create_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_prices is
  'What the product costs there, one price per currency. They take the place of all present ones. Those '
  'of the default supplier become the purchase prices of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_is_default is
  'Whether it takes the place of the present default supplier. False when left out.';

create function api_unstable.product_supplier_configuration_create(
  input api_unstable.product_supplier_configuration_create_input, changes jsonb
)
returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_product_supplier_configuration(changes - 'purchase_prices', array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price
    from unnest(input.purchase_prices) with ordinality p
    order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_create(
    api_unstable.product_supplier_configuration_create_input, jsonb
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND NOT_UNIQUE OUT_OF_RANGE\n'
  'Assigns a supplier to a product.';
--! EndIncluded api/product_supplier_configuration_create.sql
--! Included api/product_supplier_configuration_delete.sql
drop type if exists api_unstable.product_supplier_configuration_delete_input cascade;
create type api_unstable.product_supplier_configuration_delete_input as (id uuid);
comment on type api_unstable.product_supplier_configuration_delete_input is 'An assignment to delete.';
comment on column api_unstable.product_supplier_configuration_delete_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';

drop type if exists api_unstable.product_supplier_configuration_delete_payload cascade;
create type api_unstable.product_supplier_configuration_delete_payload as (
  deleted_product_supplier_configuration_id uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.product_supplier_configuration_delete_payload is
  'What deleting an assignment answers.';
comment on column
  api_unstable.product_supplier_configuration_delete_payload.deleted_product_supplier_configuration_id is
  E'@gid ProductSupplierConfiguration\nId of the assignment that is gone; null when it was refused.';
comment on column api_unstable.product_supplier_configuration_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.product_supplier_configuration_delete(
  input api_unstable.product_supplier_configuration_delete_input
)
returns api_unstable.product_supplier_configuration_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.delete_product_supplier_configuration(input.id), null
  )::api_unstable.product_supplier_configuration_delete_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_delete(
    api_unstable.product_supplier_configuration_delete_input
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND\n'
  'Takes a supplier off a product. The product keeps its purchase prices.';
--! EndIncluded api/product_supplier_configuration_delete.sql
--! Included api/product_supplier_configuration_set_default.sql
drop type if exists api_unstable.product_supplier_configuration_set_default_input cascade;
create type api_unstable.product_supplier_configuration_set_default_input as (id uuid);
comment on type api_unstable.product_supplier_configuration_set_default_input is 'A default supplier.';
comment on column api_unstable.product_supplier_configuration_set_default_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment of the supplier to the product.';

create function api_unstable.product_supplier_configuration_set_default(
  input api_unstable.product_supplier_configuration_set_default_input
)
returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_default_supplier(input.id), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_set_default(
    api_unstable.product_supplier_configuration_set_default_input
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND\n'
  'Makes a supplier the default of its product, in place of the one that was; the purchase prices of '
  'the product become its prices.';
--! EndIncluded api/product_supplier_configuration_set_default.sql
--! Included api/product_supplier_configuration_update.sql
drop type if exists api_unstable.product_supplier_configuration_update_input cascade;
create type api_unstable.product_supplier_configuration_update_input as (
  id uuid, supplier_product_number text, min_purchase integer, purchase_steps integer,
    delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[]
);
comment on type api_unstable.product_supplier_configuration_update_input is
  'Changes of the terms of a supplier. What is left out stays as it is.';
comment on column api_unstable.product_supplier_configuration_update_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';
comment on column api_unstable.product_supplier_configuration_update_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_update_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_prices is
  'What the product costs there, one price per currency. They take the place of all present ones. Those '
  'of the default supplier become the purchase prices of the product.';

create function api_unstable.product_supplier_configuration_update(
  input api_unstable.product_supplier_configuration_update_input, changes jsonb
)
returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_product_supplier_configuration(input.id, changes, array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price
    from unnest(input.purchase_prices) with ordinality p
    order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_update(
    api_unstable.product_supplier_configuration_update_input, jsonb
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND REQUIRED OUT_OF_RANGE NOT_UNIQUE\n'
  'Changes the terms on which a supplier sells a product.';
--! EndIncluded api/product_supplier_configuration_update.sql
--! Included api/product_supplier_configurations.sql
create view api_unstable.product_supplier_configurations with (security_invoker = true) as
select id, product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id order by p.currency_id
  ) as purchase_prices,
  supplier_is_default, delivery_time_days, created_at, updated_at
from erp.product_supplier_configuration c;
comment on view api_unstable.product_supplier_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'supplierConfigurations\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'What a supplier sells a product for, and on what terms.';
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\nWhat the product costs at this supplier, one price per currency.';
--! EndIncluded api/product_supplier_configurations.sql
--! Included api/product_tags.sql
create view api_unstable.product_tags with (security_invoker = true) as
select product_id, tag_id from erp.product_tag;
comment on view api_unstable.product_tags is $$
@primaryKey product_id,tag_id
@behavior -*
@requiresScopes products:read tags:read
@foreignKey (product_id) references products (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between products and tags; not a type of the API.$$;
--! EndIncluded api/product_tags.sql
--! Included api/product_translation.sql
drop type if exists api_unstable.product_translation;
create type api_unstable.product_translation as (locale text, name text, description text);
comment on type api_unstable.product_translation is 'Texts of a product in another language.';
comment on column api_unstable.product_translation.locale is
  E'@notNull\nThe language, perhaps with script and region, such as de or de-AT.';
comment on column api_unstable.product_translation.name is
  'Name of the product; null when it has none in this language.';
comment on column api_unstable.product_translation.description is
  'Text that describes the product to buyers; null when there is none in this language.';
--! EndIncluded api/product_translation.sql
--! Included api/product_warehouse_configuration_payload.sql
drop type if exists api_unstable.product_warehouse_configuration_payload cascade;
create type api_unstable.product_warehouse_configuration_payload
  as (product_warehouse_configuration uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.product_warehouse_configuration_payload is
  'What setting the configuration of a product in a warehouse answers.';
comment on column api_unstable.product_warehouse_configuration_payload.product_warehouse_configuration is
  E'@entity ProductWarehouseConfiguration\nThe settings as they are now; null when they were refused.';
comment on column api_unstable.product_warehouse_configuration_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/product_warehouse_configuration_payload.sql
--! Included api/product_warehouse_configuration_set.sql
drop type if exists api_unstable.product_warehouse_configuration_set_input cascade;
create type api_unstable.product_warehouse_configuration_set_input as (
  product_id uuid, warehouse_id uuid, default_bin_location_id uuid, reorder_point integer,
    target_maximum_quantity integer
);
comment on type api_unstable.product_warehouse_configuration_set_input is
  'How a product is kept in a warehouse. What is left out stays as it is; where there was nothing, it '
  'is empty, and the reorder point 0.';
comment on column api_unstable.product_warehouse_configuration_set_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_warehouse_configuration_set_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.product_warehouse_configuration_set_input.default_bin_location_id is
  E'@gid BinLocation\n'
  'Id of the bin of this warehouse that the product is put in unless something else says otherwise; '
  'null for none.';
comment on column api_unstable.product_warehouse_configuration_set_input.reorder_point is
  'Stock in the warehouse at which it is to be refilled; not negative.';
comment on column api_unstable.product_warehouse_configuration_set_input.target_maximum_quantity is
  'Stock to fill up to; null for no such target.';

create function api_unstable.product_warehouse_configuration_set(
  input api_unstable.product_warehouse_configuration_set_input, changes jsonb
)
returns api_unstable.product_warehouse_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.set_product_warehouse_configuration(input.product_id, input.warehouse_id, changes), null
  )::api_unstable.product_warehouse_configuration_payload
$$;
comment on function
  api_unstable.product_warehouse_configuration_set(
    api_unstable.product_warehouse_configuration_set_input, jsonb
  ) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE\n'
  'Sets how a product is kept in a warehouse: its usual bin, and when to refill.';
--! EndIncluded api/product_warehouse_configuration_set.sql
--! Included api/product_warehouse_configurations.sql
create view api_unstable.product_warehouse_configurations with (security_invoker = true) as
select id, product_id, warehouse_id, default_bin_location_id, reorder_point, target_maximum_quantity,
  stock_below_reorder_point, created_at, updated_at
from erp.product_warehouse_configuration;
comment on view api_unstable.product_warehouse_configurations is
  E'@primaryKey id\n'
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
--! EndIncluded api/product_warehouse_configurations.sql
--! Included api/products.sql
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
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id,
  array(
    select row (t.key, t.value ->> 'name', t.value ->> 'description')::api_unstable.product_translation
    from jsonb_each(product.translations) t order by t.key collate "C"
  ) as translations
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@aggregates physical_stock,available_stock,reserved_stock
@groupBy parent_id
@search product_number,name,gtin,manufacturer_number in erp.product_words
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
@describe images The images of the product, in their order. The first is shown where there is room for one.
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
comment on column api_unstable.products.translations is
  E'@notNull\nName and description in other languages, in the order of their locales.';
--! EndIncluded api/products.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'What the image shows; at most 1000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'What the image shows, for those who can''t see it; at most 1000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, tax_rate numeric,
  is_batch_managed boolean, reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.products_upsert_payload is 'What an upsert of products answers.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
--! Included api/quote_line_items.sql
create view api_unstable.quote_line_items with (security_invoker = true) as
select id, quote_id, product_id, type, identifier, label, description, position, quantity, unit_price,
  total_price,
  created_at, updated_at
from erp.quote_line_item;
comment on view api_unstable.quote_line_items is $$
@primaryKey id
@requiresScopes quotes:read
@filters *
@foreignKey (quote_id) references quotes (id)|@fieldName quote|@foreignFieldName lineItems
@foreignKey (product_id) references products (id)|@fieldName product
A line of a quote.$$;
--! EndIncluded api/quote_line_items.sql
--! Included api/quotes.sql
create view api_unstable.quotes with (security_invoker = true) as
select id, number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net, amount_total,
  tax_status,
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
--! EndIncluded api/quotes.sql
--! Included api/sales_channel_countries.sql
create view api_unstable.sales_channel_countries with (security_invoker = true) as
select sales_channel_id, country_id from erp.sales_channel_country;
comment on view api_unstable.sales_channel_countries is $$
@primaryKey sales_channel_id,country_id
@behavior -*
@requiresScopes sales_channels:read countries:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (country_id) references countries (id)|@behavior -*
Link between sales_channels and countries; not a type of the API.$$;
--! EndIncluded api/sales_channel_countries.sql
--! Included api/sales_channel_currencies.sql
create view api_unstable.sales_channel_currencies with (security_invoker = true) as
select sales_channel_id, currency_id from erp.sales_channel_currency;
comment on view api_unstable.sales_channel_currencies is $$
@primaryKey sales_channel_id,currency_id
@behavior -*
@requiresScopes sales_channels:read currencies:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (currency_id) references currencies (id)|@behavior -*
Link between sales_channels and currencies; not a type of the API.$$;
--! EndIncluded api/sales_channel_currencies.sql
--! Included api/sales_channel_payment_methods.sql
create view api_unstable.sales_channel_payment_methods with (security_invoker = true) as
select sales_channel_id, payment_method_id from erp.sales_channel_payment_method;
comment on view api_unstable.sales_channel_payment_methods is $$
@primaryKey sales_channel_id,payment_method_id
@behavior -*
@requiresScopes sales_channels:read payment_methods:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (payment_method_id) references payment_methods (id)|@behavior -*
Link between sales_channels and payment_methods; not a type of the API.$$;
--! EndIncluded api/sales_channel_payment_methods.sql
--! Included api/sales_channel_registration_groups.sql
create view api_unstable.sales_channel_registration_groups with (security_invoker = true) as
select sales_channel_id, customer_group_id from erp.sales_channel_registration_group;
comment on view api_unstable.sales_channel_registration_groups is $$
@primaryKey sales_channel_id,customer_group_id
@behavior -*
@requiresScopes sales_channels:read customer_groups:read
@foreignKey (sales_channel_id) references sales_channels (id)|@behavior -*
@foreignKey (customer_group_id) references customer_groups (id)|@behavior -*
Link between sales_channels and customer_groups; not a type of the API.$$;
--! EndIncluded api/sales_channel_registration_groups.sql
--! Included api/sales_channels.sql
create view api_unstable.sales_channels with (security_invoker = true) as
select id, erp.localized(name) as name, country_id, currency_id, customer_group_id, payment_method_id
from erp.sales_channel;
comment on view api_unstable.sales_channels is
  E'@primaryKey id\n'
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
--! EndIncluded api/sales_channels.sql
--! Included api/salutations.sql
create view api_unstable.salutations with (security_invoker = true) as
select id, salutation_key, erp.localized(display_name) as display_name,
  erp.localized(letter_name) as letter_name,
  created_at, updated_at
from erp.salutation;
comment on view api_unstable.salutations is $$
@primaryKey id
@requiresScopes salutations:read
@filters salutation_key,created_at,updated_at
A form of address.$$;
--! EndIncluded api/salutations.sql
--! Included api/shipping_labels.sql
create view api_unstable.shipping_labels with (security_invoker = true) as
select id, state, type, carrier_technical_name, carrier_name, tracking_codes, tracking_url, document_url,
  weight_in_grams,
  fulfillment_order_id, order_id, cancelled_at, created_at, updated_at
from erp.shipping_label;
comment on view api_unstable.shipping_labels is
  E'@primaryKey id\n'
  '@requiresScopes shipping_labels:read\n'
  '@filters *\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName shippingLabels|@noFilter\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  'A label that was bought from a carrier.';
--! EndIncluded api/shipping_labels.sql
--! Included api/stock_payload.sql
drop type if exists api_unstable.stock_payload cascade;
create type api_unstable.stock_payload as (
  stock_movements uuid[], stocks uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.stock_payload is 'What a mutation of stock answers.';
comment on column api_unstable.stock_payload.stock_movements is
  E'@entity StockMovement\n'
  '@perLine lines\n'
  'The movements that were booked, in the order of the lines. Empty when there was nothing to book.';
comment on column api_unstable.stock_payload.stocks is
  E'@entity Stock\n@perLine lines 2\nThe stock in the places of the lines, as it is now.';
comment on column api_unstable.stock_payload.user_errors is 'Why nothing was booked; empty when all was.';
comment on column api_unstable.stock_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded api/stock_payload.sql
--! Included api/stock_adjust.sql
drop type if exists api_unstable.stock_adjust_input cascade;
drop type if exists api_unstable.stock_adjust_line_input cascade;
create type api_unstable.stock_adjust_line_input as (
  product_id uuid, place api_unstable.stock_place_input, delta integer, batch_id uuid,
    expected_quantity integer
);
comment on type api_unstable.stock_adjust_line_input is 'How the stock of a product in a place changes.';
comment on column api_unstable.stock_adjust_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_adjust_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_adjust_line_input.delta is
  E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_adjust_input as (lines api_unstable.stock_adjust_line_input[], comment text);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\nWhat changes; 1 to 250 lines. A product and place may occur in several.';
comment on column api_unstable.stock_adjust_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (
      l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id,
      l.expected_quantity, null
    )::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS\n'
  '@warnings STOCK_PROMISED\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of '
  'all lines together.';
--! EndIncluded api/stock_adjust.sql
--! Included api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select m.id, m.created_at, m.product_id, m.quantity,
  m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
    m.source_return_order_id,
  m.source_goods_receipt_id, m.source_stock_container_id, m.source_special_stock_location_technical_name,
  m.destination_location_type_technical_name, m.destination_warehouse_id, m.destination_bin_location_id,
    m.destination_order_id,
  m.destination_return_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
  m.destination_special_stock_location_technical_name, m.process_type_technical_name, m.comment, s.sequence,
  m.transaction_id
from ledger.stock_movement m left join ledger.movement_sequence s on s.movement_id = m.id;
comment on view api_unstable.stock_movements is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@aggregates quantity,created_at\n'
  '@groupBy created_at,product_id,source_warehouse_id,destination_warehouse_id\n'
  '@followed transaction_id\n'
  '@hidden transaction_id\n'
  '@nullable sequence\n'
  '@gid source_return_order_id ReturnOrder\n'
  '@gid destination_return_order_id ReturnOrder\n'
  '@gid source_stock_container_id StockContainer\n'
  '@gid destination_stock_container_id StockContainer\n'
  '@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,'
  'destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,'
  'source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,'
  'source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,'
  'destination_special_stock_location_technical_name,source_location_type_technical_name,'
  'source_special_stock_location_technical_name,quantity,sequence\n'
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
--! EndIncluded api/stock_movements.sql
--! Included api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
    expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'What the stock of a product in a place is to be.';
comment on column api_unstable.stock_set_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_set_line_input.quantity is
  E'@notNull\nUnits that are there; not negative.';
comment on column api_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that was counted. The line then sets the stock of this batch only. Needed for '
  'products that are kept in batches.';
comment on column api_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a moment without decimals is the beginning of its '
  'second. What came and went later stays on top of it: the stock becomes the quantity and all later '
  'movements, save what other counts have corrected. Counts may come late, in any order, and more than '
  'once: one that is older than another of the same stock is kept, changes nothing, and is told by the '
  'warning COUNT_SUPERSEDED. Of two counts of the same moment, the one that comes later stands. Without '
  'it the quantity holds for now.';

create type api_unstable.stock_set_input as (lines api_unstable.stock_set_line_input[], comment text);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is
  E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. All lines are booked, or '
  'none.';
--! EndIncluded api/stock_set.sql
--! Included api/stock_transfer.sql
drop type if exists api_unstable.stock_transfer_input cascade;
drop type if exists api_unstable.stock_transfer_line_input cascade;
create type api_unstable.stock_transfer_line_input as (
  product_id uuid, source api_unstable.stock_place_input, destination api_unstable.stock_place_input,
    quantity integer, batch_id uuid,
  expected_quantity integer
);
comment on type api_unstable.stock_transfer_line_input is 'Units that move from one place to another.';
comment on column api_unstable.stock_transfer_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_transfer_line_input.source is E'@notNull\nWhere it is taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is E'@notNull\nWhere it goes.';
comment on column api_unstable.stock_transfer_line_input.quantity is
  E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_transfer_input
  as (lines api_unstable.stock_transfer_line_input[], comment text);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is E'@notNull\nWhat moves; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id,
      (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or '
  'none; whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_transfer.sql
--! Included api/stocks.sql
create view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id,
  return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is $$
@primaryKey id
@requiresScopes stocks:read
@aggregates quantity
@groupBy product_id,warehouse_id,bin_location_id
@gid return_order_id ReturnOrder
@gid stock_container_id StockContainer
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName stocks
@foreignKey (order_id) references orders (id)|@fieldName order
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName stocks
How much of a product lies in one place.$$;
--! EndIncluded api/stocks.sql
--! Included api/supplier_order_payload.sql
drop type if exists api_unstable.supplier_order_payload cascade;
create type api_unstable.supplier_order_payload as (
  supplier_order uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.supplier_order_payload is 'What a mutation of a supplier order answers.';
comment on column api_unstable.supplier_order_payload.supplier_order is
  E'@entity SupplierOrder\nThe supplier order as it is now; null when it was refused.';
comment on column api_unstable.supplier_order_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.supplier_order_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded api/supplier_order_payload.sql
--! Included api/supplier_order_cancel.sql
drop type if exists api_unstable.supplier_order_cancel_input cascade;
create type api_unstable.supplier_order_cancel_input as (id uuid);
comment on type api_unstable.supplier_order_cancel_input is 'A supplier order to cancel.';
comment on column api_unstable.supplier_order_cancel_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_cancel(input api_unstable.supplier_order_cancel_input)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'cancel'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_cancel(api_unstable.supplier_order_cancel_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Cancels a supplier order of which nothing has been delivered.$$;
--! EndIncluded api/supplier_order_cancel.sql
--! Included api/supplier_order_complete.sql
drop type if exists api_unstable.supplier_order_complete_input cascade;
create type api_unstable.supplier_order_complete_input as (id uuid);
comment on type api_unstable.supplier_order_complete_input is 'A supplier order to complete.';
comment on column api_unstable.supplier_order_complete_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_complete(input api_unstable.supplier_order_complete_input)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'complete'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_complete(api_unstable.supplier_order_complete_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Closes a supplier order that was confirmed; what is still open is no longer expected.$$;
--! EndIncluded api/supplier_order_complete.sql
--! Included api/supplier_order_confirm.sql
drop type if exists api_unstable.supplier_order_confirm_input cascade;
create type api_unstable.supplier_order_confirm_input
  as (id uuid, supplier_order_number text, delivery_date timestamptz);
comment on type api_unstable.supplier_order_confirm_input is 'A supplier order to confirm.';
comment on column api_unstable.supplier_order_confirm_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_confirm_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_confirm_input.delivery_date is
  'When the supplier says that the goods come.';

create function api_unstable.supplier_order_confirm(
  input api_unstable.supplier_order_confirm_input, changes jsonb
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'confirm', changes),
    null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_confirm(api_unstable.supplier_order_confirm_input, jsonb) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED SUPPLIER_INACTIVE\n'
  'Notes that the supplier has confirmed an order that is open or was sent. One that was not sent must '
  'have lines, and an active supplier.';
--! EndIncluded api/supplier_order_confirm.sql
--! Included api/supplier_order_line_input.sql
drop type if exists api_unstable.supplier_order_line_input cascade;
create type api_unstable.supplier_order_line_input as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric,
    expected_delivery_date timestamptz
);
comment on type api_unstable.supplier_order_line_input is 'A line of a supplier order.';
comment on column api_unstable.supplier_order_line_input.id is
  E'@gid SupplierOrderLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.supplier_order_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.supplier_order_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_unstable.supplier_order_line_input.unit_price is
  'Price of one unit, with tax if the order''s tax status is gross. When left out, the supplier''s '
  'price in the currency of the order.';
comment on column api_unstable.supplier_order_line_input.tax_rate is
  'Tax rate in percent. When left out, that of the product.';
comment on column api_unstable.supplier_order_line_input.expected_delivery_date is
  'When the units are expected.';
--! EndIncluded api/supplier_order_line_input.sql
--! Included api/supplier_order_create.sql
drop type if exists api_unstable.supplier_order_create_input cascade;
create type api_unstable.supplier_order_create_input as (
  supplier_id uuid, warehouse_id uuid, currency_id uuid, tax_status text, supplier_order_number text,
    order_date_time timestamptz,
  due_date timestamptz, delivery_date timestamptz, comment text,
    line_items api_unstable.supplier_order_line_input[]
);
comment on type api_unstable.supplier_order_create_input is 'A new supplier order.';
comment on column api_unstable.supplier_order_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.supplier_order_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that the goods are to come to. When left out, the one where goods are received '
  'by default.';
comment on column api_unstable.supplier_order_create_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. When left out, the one that the supplier is paid in.';
comment on column api_unstable.supplier_order_create_input.tax_status is
  'Whether prices are net, gross or tax-free. Net when left out.';
comment on column api_unstable.supplier_order_create_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_create_input.order_date_time is
  'When the order was placed. Now, when left out.';
comment on column api_unstable.supplier_order_create_input.due_date is 'When the invoice is due.';
comment on column api_unstable.supplier_order_create_input.delivery_date is 'When the goods are expected.';
comment on column api_unstable.supplier_order_create_input.comment is 'Free note.';
comment on column api_unstable.supplier_order_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.supplier_order_create(
  input api_unstable.supplier_order_create_input, changes jsonb
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_supplier_order(changes - 'line_items', array(
    select row (
      l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date
    )::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_create(api_unstable.supplier_order_create_input, jsonb) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND OUT_OF_RANGE INVALID TOO_MANY_LINES SUPPLIER_INACTIVE\n'
  'Makes an open supplier order, with the next number of its range. Prices, tax rates and product '
  'numbers come from the terms of the supplier unless they are given.';
--! EndIncluded api/supplier_order_create.sql
--! Included api/supplier_order_delete.sql
drop type if exists api_unstable.supplier_order_delete_input cascade;
create type api_unstable.supplier_order_delete_input as (id uuid);
comment on type api_unstable.supplier_order_delete_input is 'A supplier order to delete.';
comment on column api_unstable.supplier_order_delete_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

drop type if exists api_unstable.supplier_order_delete_payload cascade;
create type api_unstable.supplier_order_delete_payload as (
  deleted_supplier_order_id uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.supplier_order_delete_payload is 'What deleting a supplier order answers.';
comment on column api_unstable.supplier_order_delete_payload.deleted_supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order that is gone; null when it was refused.';
comment on column api_unstable.supplier_order_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.supplier_order_delete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

create function api_unstable.supplier_order_delete(input api_unstable.supplier_order_delete_input)
returns api_unstable.supplier_order_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_supplier_order(input.id), null, null)::api_unstable.supplier_order_delete_payload
$$;
comment on function api_unstable.supplier_order_delete(api_unstable.supplier_order_delete_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE REFERENCE_IN_USE
Deletes a supplier order that is open or cancelled and that no goods receipt belongs to.$$;
--! EndIncluded api/supplier_order_delete.sql
--! Included api/supplier_order_line_items.sql
create view api_unstable.supplier_order_line_items with (security_invoker = true) as
select id, supplier_order_id, product_id, position, label, product_number, supplier_product_number, quantity,
  received_quantity, open_quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate,
  expected_delivery_date, actual_delivery_date, created_at, updated_at
from erp.supplier_order_line_item;
comment on view api_unstable.supplier_order_line_items is
  E'@primaryKey id\n'
  '@requiresScopes supplier_orders:read\n'
  '@filters *\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'A line of a supplier order.';
--! EndIncluded api/supplier_order_line_items.sql
--! Included api/supplier_order_line_items_set.sql
drop type if exists api_unstable.supplier_order_line_items_set_input cascade;
create type api_unstable.supplier_order_line_items_set_input
  as (id uuid, line_items api_unstable.supplier_order_line_input[]);
comment on type api_unstable.supplier_order_line_items_set_input is 'The lines of a supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.line_items is
  E'@notNull\nAll lines that the order is to have, up to 250. Lines that are not among them go.';

create function api_unstable.supplier_order_line_items_set(
  input api_unstable.supplier_order_line_items_set_input
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_supplier_order(input.id, array(
    select row (
      l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date
    )::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.supplier_order_payload
$$;
comment on function
  api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  'Sets the lines of an open supplier order and computes its totals again. Lines are listed in the given '
  'order, except existing lines that change places among themselves; position is always that of the input.';
--! EndIncluded api/supplier_order_line_items_set.sql
--! Included api/supplier_order_send.sql
drop type if exists api_unstable.supplier_order_send_input cascade;
create type api_unstable.supplier_order_send_input as (id uuid);
comment on type api_unstable.supplier_order_send_input is 'A supplier order to send.';
comment on column api_unstable.supplier_order_send_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_send(input api_unstable.supplier_order_send_input)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'send'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_send(api_unstable.supplier_order_send_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED SUPPLIER_INACTIVE
Notes that an open supplier order was sent to the supplier. It must have lines.$$;
--! EndIncluded api/supplier_order_send.sql
--! Included api/supplier_order_tags.sql
create view api_unstable.supplier_order_tags with (security_invoker = true) as
select supplier_order_id, tag_id from erp.supplier_order_tag;
comment on view api_unstable.supplier_order_tags is $$
@primaryKey supplier_order_id,tag_id
@behavior -*
@requiresScopes supplier_orders:read tags:read
@foreignKey (supplier_order_id) references supplier_orders (id)|@behavior -*
@foreignKey (tag_id) references tags (id)|@behavior -*
Link between supplier_orders and tags; not a type of the API.$$;
--! EndIncluded api/supplier_order_tags.sql
--! Included api/supplier_order_update.sql
drop type if exists api_unstable.supplier_order_update_input cascade;
create type api_unstable.supplier_order_update_input as (
  id uuid, supplier_id uuid, warehouse_id uuid, currency_id uuid, tax_status text, supplier_order_number text,
    order_date_time timestamptz,
  due_date timestamptz, delivery_date timestamptz, comment text
);
comment on type api_unstable.supplier_order_update_input is
  'Changes of a supplier order. What is left out stays as it is.';
comment on column api_unstable.supplier_order_update_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_update_input.supplier_id is
  E'@gid Supplier\nId of the supplier; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse that the goods are to come to; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts, which are not converted; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.tax_status is
  'Whether prices are net, gross or tax-free; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_update_input.order_date_time is
  'When the order was placed; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.due_date is 'When the invoice is due.';
comment on column api_unstable.supplier_order_update_input.delivery_date is 'When the goods are expected.';
comment on column api_unstable.supplier_order_update_input.comment is 'Free note.';

create function api_unstable.supplier_order_update(
  input api_unstable.supplier_order_update_input, changes jsonb
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_supplier_order(input.id, changes), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_update(api_unstable.supplier_order_update_input, jsonb) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID SUPPLIER_INACTIVE SUPPLIER_MISMATCH\n'
  'Changes a supplier order. Once it has been sent, only its dates, the number that the supplier gave '
  'it and the comment can be changed.';
--! EndIncluded api/supplier_order_update.sql
--! Included api/supplier_orders.sql
create view api_unstable.supplier_orders with (security_invoker = true) as
select id, number, supplier_order_number, state, payment_state, supplier_id, warehouse_id, supplier_snapshot,
  warehouse_snapshot, currency_id, amount_net, amount_total, position_price, tax_status, order_date_time,
    due_date,
  delivery_date, actual_delivery_date, comment, created_at, updated_at
from erp.supplier_order;
comment on view api_unstable.supplier_orders is
  E'@primaryKey id\n'
  '@requiresScopes supplier_orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,supplier_id,warehouse_id,currency_id,order_date_time\n'
  '@search number,supplier_order_number,supplier_id\n'
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
--! EndIncluded api/supplier_orders.sql
--! Included api/suppliers.sql
create view api_unstable.suppliers with (security_invoker = true) as
select id, number, name, customer_number, currency_id, language_code, email, phone, address,
  default_delivery_time_days,
  minimum_order_value, vat_id, active, created_at, updated_at
from erp.supplier;
comment on view api_unstable.suppliers is $$
@primaryKey id
@requiresScopes suppliers:read
@search number,name,customer_number,email
@filters *
@foreignKey (currency_id) references currencies (id)|@fieldName currency
A company that the shop buys from.$$;
--! EndIncluded api/suppliers.sql
--! Included api/suppliers_upsert.sql
drop type if exists api_unstable.suppliers_upsert_input cascade;
drop type if exists api_unstable.supplier_upsert_input cascade;
drop type if exists api_unstable.suppliers_upsert_payload cascade;

create type api_unstable.supplier_upsert_input as (
  id uuid, number text, name text, customer_number text, currency_id uuid, language_code text, email text,
  phone text, address jsonb, default_delivery_time_days integer, minimum_order_value numeric, vat_id text,
  active boolean
);
comment on type api_unstable.supplier_upsert_input is
  'A supplier as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.supplier_upsert_input.id is
  E'@gid Supplier\nId of the supplier. Without it, the supplier is known by the number.';
comment on column api_unstable.supplier_upsert_input.number is
  'Number of the supplier, unique; 1 to 255 characters. Beside an id it is the number that the supplier '
  'gets.';
comment on column api_unstable.supplier_upsert_input.name is
  'Name of the supplier; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.supplier_upsert_input.customer_number is
  'Number that the supplier knows the shop by.';
comment on column api_unstable.supplier_upsert_input.currency_id is
  E'@gid Currency\nId of the currency that the supplier is paid in; null for the default currency.';
comment on column api_unstable.supplier_upsert_input.language_code is
  'Locale that the supplier is written to in, for example de-DE.';
comment on column api_unstable.supplier_upsert_input.email is
  'E-mail address that orders are sent to.';
comment on column api_unstable.supplier_upsert_input.phone is
  'Telephone number.';
comment on column api_unstable.supplier_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.supplier_upsert_input.default_delivery_time_days is
  'Days from order to delivery, unless a product says otherwise; not negative.';
comment on column api_unstable.supplier_upsert_input.minimum_order_value is
  'Least value of an order, in the currency of the supplier; not negative.';
comment on column api_unstable.supplier_upsert_input.vat_id is
  'VAT identification number.';
comment on column api_unstable.supplier_upsert_input.active is
  'Whether the shop still orders there. True when left out of a new one.';

create type api_unstable.suppliers_upsert_input
  as (suppliers api_unstable.supplier_upsert_input[], partial boolean);
comment on type api_unstable.suppliers_upsert_input is 'Suppliers as they are to be.';
comment on column api_unstable.suppliers_upsert_input.suppliers is
  E'@notNull\nThe suppliers; 1 to 250 rows.';
comment on column api_unstable.suppliers_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.suppliers_upsert_payload as (
  results api_unstable.upsert_result[], suppliers uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.suppliers_upsert_payload is 'What an upsert of suppliers answers.';
comment on column api_unstable.suppliers_upsert_payload.results is
  E'@resultOf Supplier\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.suppliers_upsert_payload.suppliers is
  E'@entity Supplier\n@perLine suppliers\nThe suppliers of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.suppliers_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.suppliers_upsert(input api_unstable.suppliers_upsert_input, changes jsonb)
returns api_unstable.suppliers_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.suppliers_upsert_payload
  from mutation.upserted(erp.upsert_suppliers(changes -> 'suppliers', input.partial)) d
$$;
comment on function api_unstable.suppliers_upsert(api_unstable.suppliers_upsert_input, jsonb) is
  E'@requiresScopes suppliers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes suppliers and changes those that are there, known by their id or number. Rows that say nothing '
  'new change nothing.';
--! EndIncluded api/suppliers_upsert.sql
--! Included api/tags.sql
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
--! EndIncluded api/tags.sql
--! Included api/warehouse_payload.sql
drop type if exists api_unstable.warehouse_payload cascade;
create type api_unstable.warehouse_payload as (warehouse uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_payload is 'What creating or changing a warehouse answers.';
comment on column api_unstable.warehouse_payload.warehouse is
  E'@entity Warehouse\nThe warehouse as it is now; null when it was refused.';
comment on column api_unstable.warehouse_payload.user_errors is 'Why nothing was changed; empty when it was.';
--! EndIncluded api/warehouse_payload.sql
--! Included api/warehouse_create.sql
drop type if exists api_unstable.warehouse_create_input cascade;
create type api_unstable.warehouse_create_input as (
  code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean,
    address jsonb
);
comment on type api_unstable.warehouse_create_input is 'A new warehouse.';
comment on column api_unstable.warehouse_create_input.code is
  E'@notNull\nShort name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_create_input.name is E'@notNull\nName; 1 to 255 characters.';
comment on column api_unstable.warehouse_create_input.is_default is
  'Whether it takes the place of the warehouse that is the default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_stock_available_for_sale is
  E'@neverNull\nWhether its stock may be sold. True when left out.';
comment on column api_unstable.warehouse_create_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create function api_unstable.warehouse_create(input api_unstable.warehouse_create_input)
returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_warehouse(input.code, input.name, input.is_default, input.is_default_receiving,
    input.is_stock_available_for_sale,
    input.address), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_create(api_unstable.warehouse_create_input) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Makes a warehouse, and the location that orders are fulfilled from there. The first warehouse is the '
  'default for everything.';
--! EndIncluded api/warehouse_create.sql
--! Included api/warehouse_delete.sql
drop type if exists api_unstable.warehouse_delete_input cascade;
create type api_unstable.warehouse_delete_input as (id uuid);
comment on type api_unstable.warehouse_delete_input is 'A warehouse to delete.';
comment on column api_unstable.warehouse_delete_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';

drop type if exists api_unstable.warehouse_delete_payload cascade;
create type api_unstable.warehouse_delete_payload
  as (deleted_warehouse_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_delete_payload is 'What deleting a warehouse answers.';
comment on column api_unstable.warehouse_delete_payload.deleted_warehouse_id is
  E'@gid Warehouse\nId of the warehouse that is gone; null when it was refused.';
comment on column api_unstable.warehouse_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create function api_unstable.warehouse_delete(input api_unstable.warehouse_delete_input)
returns api_unstable.warehouse_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_warehouse(input.id), null)::api_unstable.warehouse_delete_payload
$$;
comment on function api_unstable.warehouse_delete(api_unstable.warehouse_delete_input) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY REFERENCE_IN_USE INVALID\n'
  'Deletes an empty warehouse with its bins, its location and the settings of products there. Movements '
  'of stock that passed through it are kept; they no longer name it. The default warehouse cannot be '
  'deleted, nor one that goods are being received in or that has orders to fulfill.';
--! EndIncluded api/warehouse_delete.sql
--! Included api/warehouse_stocks.sql
create view api_unstable.warehouse_stocks with (security_invoker = true) as
select id, product_id, warehouse_id, quantity, reserved_quantity, available_quantity, created_at, updated_at
from ledger.warehouse_stock;
comment on view api_unstable.warehouse_stocks is $$
@primaryKey id
@requiresScopes stocks:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName warehouseStocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName warehouseStocks
How much of a product a warehouse holds, its bins included.$$;
--! EndIncluded api/warehouse_stocks.sql
--! Included api/warehouse_update.sql
drop type if exists api_unstable.warehouse_update_input cascade;
create type api_unstable.warehouse_update_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean,
    is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_update_input is
  'Changes of a warehouse. What is left out stays as it is.';
comment on column api_unstable.warehouse_update_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.warehouse_update_input.code is 'Short name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_update_input.name is 'Name; 1 to 255 characters.';
comment on column api_unstable.warehouse_update_input.is_default is
  'True makes it take the place of the warehouse that is the default now. To make one no longer the '
  'default, make another one it.';
comment on column api_unstable.warehouse_update_input.is_default_receiving is
  'The same for the warehouse where goods are received by default.';
comment on column api_unstable.warehouse_update_input.is_stock_available_for_sale is
  'Whether its stock may be sold.';
comment on column api_unstable.warehouse_update_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress. It replaces the old one '
  'as a whole; null removes it.';

create function api_unstable.warehouse_update(input api_unstable.warehouse_update_input, changes jsonb)
returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_warehouse(input.id, changes), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_update(api_unstable.warehouse_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a warehouse.$$;
--! EndIncluded api/warehouse_update.sql
--! Included api/warehouses.sql
create view api_unstable.warehouses with (security_invoker = true) as
select id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, created_at,
  updated_at
from erp.warehouse;
comment on view api_unstable.warehouses is $$
@primaryKey id
@requiresScopes warehouses:read
@search code,name
@filters *
A building that holds stock.$$;
--! EndIncluded api/warehouses.sql
--! Included api/warehouses_upsert.sql
drop type if exists api_unstable.warehouses_upsert_input cascade;
drop type if exists api_unstable.warehouse_upsert_input cascade;
drop type if exists api_unstable.warehouses_upsert_payload cascade;

create type api_unstable.warehouse_upsert_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_upsert_input is
  'A warehouse as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.warehouse_upsert_input.id is
  E'@gid Warehouse\nId of the warehouse. Without it, the warehouse is known by its code.';
comment on column api_unstable.warehouse_upsert_input.code is
  'Short name, unique; 1 to 100 characters. Beside an id it is the code that the warehouse gets.';
comment on column api_unstable.warehouse_upsert_input.name is
  'Name; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.warehouse_upsert_input.is_default is
  'Whether it takes the place of the warehouse that is the default now.';
comment on column api_unstable.warehouse_upsert_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now.';
comment on column api_unstable.warehouse_upsert_input.is_stock_available_for_sale is
  'Whether its stock may be sold. True when left out of a new one.';
comment on column api_unstable.warehouse_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create type api_unstable.warehouses_upsert_input
  as (warehouses api_unstable.warehouse_upsert_input[], partial boolean);
comment on type api_unstable.warehouses_upsert_input is 'Warehouses as they are to be.';
comment on column api_unstable.warehouses_upsert_input.warehouses is
  E'@notNull\nThe warehouses; 1 to 250 rows.';
comment on column api_unstable.warehouses_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.warehouses_upsert_payload as (
  results api_unstable.upsert_result[], warehouses uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.warehouses_upsert_payload is 'What an upsert of warehouses answers.';
comment on column api_unstable.warehouses_upsert_payload.results is
  E'@resultOf Warehouse\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.warehouses_upsert_payload.warehouses is
  E'@entity Warehouse\n@perLine warehouses\nThe warehouses of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.warehouses_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.warehouses_upsert(input api_unstable.warehouses_upsert_input, changes jsonb)
returns api_unstable.warehouses_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.warehouses_upsert_payload
  from mutation.upserted(erp.upsert_warehouses(changes -> 'warehouses', input.partial)) d
$$;
comment on function api_unstable.warehouses_upsert(api_unstable.warehouses_upsert_input, jsonb) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes warehouses, with the locations that orders are fulfilled from, and changes those that are '
  'there, known by their id or code. Rows that say nothing new change nothing.';
--! EndIncluded api/warehouses_upsert.sql
--! Included api/webhook_delivery_attempt.sql
create type api_unstable.webhook_delivery_attempt as (
  number integer, at timestamptz, duration_ms integer, status integer, error text, request_headers jsonb,
    response_headers jsonb, response_body text
);
comment on type api_unstable.webhook_delivery_attempt is
  E'@name WebhookDeliveryAttempt\nWhat came of an attempt to deliver an event.';
comment on column api_unstable.webhook_delivery_attempt.number is E'@notNull\nCounts the attempts, from 1.';
comment on column api_unstable.webhook_delivery_attempt.at is E'@notNull\nWhen the request was sent.';
comment on column api_unstable.webhook_delivery_attempt.duration_ms is 'How long it took, in milliseconds.';
comment on column api_unstable.webhook_delivery_attempt.status is
  'HTTP status of the answer; null when there was none.';
comment on column api_unstable.webhook_delivery_attempt.error is
  'Why it failed, in words; null when it succeeded.';
comment on column api_unstable.webhook_delivery_attempt.request_headers is 'Headers that were sent.';
comment on column api_unstable.webhook_delivery_attempt.response_headers is
  'Headers of the answer; null when there was none.';
comment on column api_unstable.webhook_delivery_attempt.response_body is
  'Beginning of the answer, 4,096 characters at most.';
--! EndIncluded api/webhook_delivery_attempt.sql
--! Included api/webhook_deliveries.sql
create view api_unstable.webhook_deliveries with (security_invoker = true) as
select id, subscription_id, event_id, sequence, previous_sequence, state, attempts, next_attempt_at,
  delivered_at, created_at,
  array(
    select row (
      a.number, a.at, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers, a.response_body
    )::api_unstable.webhook_delivery_attempt
    from events.delivery_attempt a where a.delivery_id = delivery.id order by a.number
  ) as history
from events.delivery;
comment on view api_unstable.webhook_deliveries is
  E'@primaryKey id\n'
  '@requiresScopes webhook_subscriptions:read\n'
  '@gid event_id Event\n'
  '@columnEnum state webhook_delivery_state\n'
  '@filters event_id,sequence,state,created_at\n'
  '@behavior -query:resource:connection\n'
  '@foreignKey (subscription_id) references webhook_subscriptions (id)|@fieldName '
  'subscription|@foreignFieldName deliveries\n'
  '@foreignKey (event_id) references events (id)|@fieldName event\n'
  'An event on its way to a subscriber. Deliveries are kept 30 days.';
comment on column api_unstable.webhook_deliveries.history is
  E'@notNull\nThe attempts to deliver it, oldest first.';
--! EndIncluded api/webhook_deliveries.sql
--! Included api/webhook_deliveries_replay.sql
drop type if exists api_unstable.webhook_deliveries_replay_payload cascade;
create type api_unstable.webhook_deliveries_replay_payload
  as (webhook_subscription uuid, replayed_count integer, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_deliveries_replay_payload is 'What replaying answers.';
comment on column api_unstable.webhook_deliveries_replay_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.replayed_count is
  'How many events are sent; those that waited anyway are not counted. Null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.user_errors is
  'Why nothing is sent; empty when it is.';

drop type if exists api_unstable.webhook_deliveries_replay_input cascade;
create type api_unstable.webhook_deliveries_replay_input
  as (
    id uuid, from_sequence numeric, to_sequence numeric, from_time timestamptz, to_time timestamptz,
    only_undelivered boolean
  );
comment on type api_unstable.webhook_deliveries_replay_input is
  'A part of the log to be sent to a subscriber, 10,000 events at most.';
comment on column api_unstable.webhook_deliveries_replay_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_deliveries_replay_input.from_sequence is
  'Sequence of the first event. This or fromTime must be given.';
comment on column api_unstable.webhook_deliveries_replay_input.to_sequence is
  'Sequence of the last event; without it, up to the newest.';
comment on column api_unstable.webhook_deliveries_replay_input.from_time is 'When the first event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.to_time is 'When the last event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.only_undelivered is
  E'@neverNull\nLeaves out what the receiver has taken already. False when left out.';

create function api_unstable.webhook_deliveries_replay(input api_unstable.webhook_deliveries_replay_input)
returns api_unstable.webhook_deliveries_replay_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id,
    events.replay_deliveries(input.id, input.from_sequence, input.to_sequence, input.from_time, input.to_time,
    input.only_undelivered), null)::api_unstable.webhook_deliveries_replay_payload
$$;
comment on function api_unstable.webhook_deliveries_replay(api_unstable.webhook_deliveries_replay_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends the events of a part of the log to a subscriber, again or for the first time: those of its '
  'topic, and with the fields that concern it. For receivers that were down, lost something, or were '
  'disabled. The log goes back 30 days.';
--! EndIncluded api/webhook_deliveries_replay.sql
--! Included api/webhook_delivery_retry.sql
drop type if exists api_unstable.webhook_delivery_retry_payload cascade;
create type api_unstable.webhook_delivery_retry_payload
  as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_delivery_retry_payload is 'What trying a delivery again answers.';
comment on column api_unstable.webhook_delivery_retry_payload.webhook_delivery_id is
  E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_delivery_retry_payload.user_errors is
  'Why it is not tried again; empty when it is.';

drop type if exists api_unstable.webhook_delivery_retry_input cascade;
create type api_unstable.webhook_delivery_retry_input as (id uuid);
comment on type api_unstable.webhook_delivery_retry_input is 'A delivery to try again.';
comment on column api_unstable.webhook_delivery_retry_input.id is
  E'@notNull\n@gid WebhookDelivery\nId of the delivery.';

create function api_unstable.webhook_delivery_retry(input api_unstable.webhook_delivery_retry_input)
returns api_unstable.webhook_delivery_retry_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.retry_delivery(input.id), null)::api_unstable.webhook_delivery_retry_payload
$$;
comment on function api_unstable.webhook_delivery_retry(api_unstable.webhook_delivery_retry_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Delivers an event again, or at once if it waits for its next attempt. Receivers recognise it by its '
  'webhook-id.';
--! EndIncluded api/webhook_delivery_retry.sql
--! Included api/webhook_delivery_state.sql
create type api_unstable.webhook_delivery_state as enum ('pending', 'delivered', 'failed', 'cancelled');
comment on type api_unstable.webhook_delivery_state is $$
@value pending It waits for its turn, or to be tried again.
@value delivered The receiver took it.
@value failed It was given up.
@value cancelled It is no longer to be sent.
State of a delivery.$$;
--! EndIncluded api/webhook_delivery_state.sql
--! Included api/webhook_subscription_secret_payload.sql
-- The secret is in the payload once: the tag @secret keeps it out of what is remembered under an idempotency
-- key.
drop type if exists api_unstable.webhook_subscription_secret_payload cascade;
create type api_unstable.webhook_subscription_secret_payload
  as (webhook_subscription uuid, secret text, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_secret_payload is
  'What subscribing and a new secret answer.';
comment on column api_unstable.webhook_subscription_secret_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is
  E'@secret\n'
  'What deliveries are signed with, by Standard Webhooks: whsec_ and the key in Base64. Shown this '
  'once: null when the mutation is repeated with its idempotency key.';
comment on column api_unstable.webhook_subscription_secret_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/webhook_subscription_secret_payload.sql
--! Included api/webhook_subscription_create.sql
drop type if exists api_unstable.webhook_subscription_create_input cascade;
create type api_unstable.webhook_subscription_create_input
  as (topic text, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_unstable.webhook_subscription_create_input.topic is
  E'@notNull\nThe topic, for example order.created. Subscribing needs the scope that reads its subject.';
comment on column api_unstable.webhook_subscription_create_input.url is
  E'@notNull\n'
  'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 '
  'characters at most.';
comment on column api_unstable.webhook_subscription_create_input.api_version is
  E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_create_input.fields is
  'Fields, as the data of the topic names them, of which one must have changed. Only for topics that '
  'tell of changes; without it, every change is told.';
comment on column api_unstable.webhook_subscription_create_input.payload_query is
  'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event '
  'is about. 10,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.enabled is
  E'@neverNull\nWhether events are sent from now on. True when left out.';

create function api_unstable.webhook_subscription_create(input api_unstable.webhook_subscription_create_input)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made.id, events.new_secret(made.id), null)::api_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields,
    input.payload_query,
    coalesce(input.enabled, true)) made (id)
$$;
comment on function
  api_unstable.webhook_subscription_create(api_unstable.webhook_subscription_create_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS\n'
  'Sends events of a topic to an address. Needs the scope that reads the subject of the topic, now and as '
  'long as events are sent.';
--! EndIncluded api/webhook_subscription_create.sql
--! Included api/webhook_subscription_delete.sql
drop type if exists api_unstable.webhook_subscription_delete_payload cascade;
create type api_unstable.webhook_subscription_delete_payload
  as (deleted_webhook_subscription_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_delete_payload is
  'What deleting a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_delete_payload.deleted_webhook_subscription_id is
  E'@gid WebhookSubscription\nId of the subscription that is gone; null when it was refused.';
comment on column api_unstable.webhook_subscription_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

drop type if exists api_unstable.webhook_subscription_delete_input cascade;
create type api_unstable.webhook_subscription_delete_input as (id uuid);
comment on type api_unstable.webhook_subscription_delete_input is 'A webhook subscription to delete.';
comment on column api_unstable.webhook_subscription_delete_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_delete(input api_unstable.webhook_subscription_delete_input)
returns api_unstable.webhook_subscription_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    events.delete_webhook_subscription(input.id), null
  )::api_unstable.webhook_subscription_delete_payload
$$;
comment on function
  api_unstable.webhook_subscription_delete(api_unstable.webhook_subscription_delete_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND\n'
  'Deletes a webhook subscription with all that waits to be delivered, and the record of what was.';
--! EndIncluded api/webhook_subscription_delete.sql
--! Included api/webhook_subscription_payload.sql
drop type if exists api_unstable.webhook_subscription_payload cascade;
create type api_unstable.webhook_subscription_payload
  as (webhook_subscription uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_payload is 'What changing a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_payload.webhook_subscription is
  E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/webhook_subscription_payload.sql
--! Included api/webhook_subscription_enable.sql
drop type if exists api_unstable.webhook_subscription_enable_input cascade;
create type api_unstable.webhook_subscription_enable_input as (id uuid);
comment on type api_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_unstable.webhook_subscription_enable_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_enable(input api_unstable.webhook_subscription_enable_input)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.enable_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_payload
$$;
comment on function
  api_unstable.webhook_subscription_enable(api_unstable.webhook_subscription_enable_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS\n'
  'Enables a disabled webhook subscription, and sends all waiting events at once, also if it was only '
  'failing. From then on the scopes of the credential that enabled it decide what is sent. '
  'webhookDeliveriesReplay sends the events that happened while it was disabled.';
--! EndIncluded api/webhook_subscription_enable.sql
--! Included api/webhook_subscription_rotate_secret.sql
drop type if exists api_unstable.webhook_subscription_rotate_secret_input cascade;
create type api_unstable.webhook_subscription_rotate_secret_input as (id uuid);
comment on type api_unstable.webhook_subscription_rotate_secret_input is
  'A webhook subscription that gets a new secret.';
comment on column api_unstable.webhook_subscription_rotate_secret_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_rotate_secret(
  input api_unstable.webhook_subscription_rotate_secret_input
)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    input.id, events.rotate_webhook_secret(input.id), null
  )::api_unstable.webhook_subscription_secret_payload
$$;
comment on function
  api_unstable.webhook_subscription_rotate_secret(api_unstable.webhook_subscription_rotate_secret_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND SCOPE_MISSING\n'
  'Gives a webhook subscription a new secret. For 24 hours deliveries are signed with the old one too, '
  'so that receivers can change over.';
--! EndIncluded api/webhook_subscription_rotate_secret.sql
--! Included api/webhook_subscription_test.sql
drop type if exists api_unstable.webhook_subscription_test_payload cascade;
create type api_unstable.webhook_subscription_test_payload
  as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_test_payload is
  'What a test of a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_test_payload.webhook_delivery_id is
  E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_subscription_test_payload.user_errors is
  'Why nothing is sent; empty when it is.';

drop type if exists api_unstable.webhook_subscription_test_input cascade;
create type api_unstable.webhook_subscription_test_input as (id uuid);
comment on type api_unstable.webhook_subscription_test_input is 'A webhook subscription to test.';
comment on column api_unstable.webhook_subscription_test_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_test(input api_unstable.webhook_subscription_test_input)
returns api_unstable.webhook_subscription_test_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    events.test_webhook_subscription(input.id), null
  )::api_unstable.webhook_subscription_test_payload
$$;
comment on function api_unstable.webhook_subscription_test(api_unstable.webhook_subscription_test_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends an event of the type webhook_subscription.test, signed like any other. It is in no log and has '
  'no sequence.';
--! EndIncluded api/webhook_subscription_test.sql
--! Included api/webhook_subscription_update.sql
drop type if exists api_unstable.webhook_subscription_update_input cascade;
create type api_unstable.webhook_subscription_update_input
  as (id uuid, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_update_input is
  'Changes of a webhook subscription. What is left out stays as it is. Its topic stays.';
comment on column api_unstable.webhook_subscription_update_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_subscription_update_input.url is
  'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 '
  'characters at most.';
comment on column api_unstable.webhook_subscription_update_input.api_version is
  'Version of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_update_input.fields is
  'Fields, as the data of the topic names them, of which one must have changed. Only for topics that '
  'tell of changes; without it, every change is told. Null for every change.';
comment on column api_unstable.webhook_subscription_update_input.payload_query is
  'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event '
  'is about. 10,000 characters at most. Null for none.';
comment on column api_unstable.webhook_subscription_update_input.enabled is
  'False stops it: what waits is kept until it is enabled again, and what happens in between is not sent.';

create function api_unstable.webhook_subscription_update(
  input api_unstable.webhook_subscription_update_input, changes jsonb
)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    events.update_webhook_subscription(input.id, changes), null
  )::api_unstable.webhook_subscription_payload
$$;
comment on function
  api_unstable.webhook_subscription_update(api_unstable.webhook_subscription_update_input, jsonb) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN '
  'TOO_MANY_SUBSCRIPTIONS\n'
  'Changes a webhook subscription. From then on the scopes of the credential that changed it decide '
  'what is sent.';
--! EndIncluded api/webhook_subscription_update.sql
--! Included api/webhook_subscriptions.sql
create view api_unstable.webhook_subscriptions with (security_invoker = true) as
select id, topic, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count,
  created_at, updated_at,
  last_sequence, last_delivered_at, failing_since, disabled_at
from events.webhook_subscription;
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@filters *
Who is told when something happens.$$;
--! EndIncluded api/webhook_subscriptions.sql

-- What lists are searched by
select api_meta.index_search('api_unstable.products');
select api_meta.index_search('api_unstable.customers');
select api_meta.index_search('api_unstable.orders');
select api_meta.index_search('api_unstable.suppliers');
select api_meta.index_search('api_unstable.warehouses');
select api_meta.index_search('api_unstable.bin_locations');
select api_meta.index_search('api_unstable.batches');
select api_meta.index_search('api_unstable.documents');
select api_meta.index_search('api_unstable.supplier_orders');
select api_meta.index_search('api_unstable.goods_receipts');
select api_meta.index_search('api_unstable.fulfillments');

--! Included events/topics.sql
-- What events are about, and what may happen to it. Everything else follows from this: the triggers that
-- write events down (events.derive_announcements), who may know of them, and the JSON schemas of their bodies
-- (events.schema). Fields are columns, in the API's spelling; behind a colon stands the type that an id
-- belongs to. Columns that change with everything, or that open something to their holder (a document's
-- code), are left out or don't count.
-- Foreign schemas have subjects of their own, so a subject that is no longer here is left to a migration.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment physical_stock'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was made.', null::text[]),
    ('order.updated', 'Order', 'Something about an order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was made.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'A place that is not a special one holds another quantity of a product.', null
    ),
    ('product.created', 'Product', 'A product was made.', null),
    (
      'product.updated', 'Product',
      'Something about a product was changed, be it only a figure of its stock.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was made.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods are in their places.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was made.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'All that was ordered from a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back something of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was made.', null),
    ('batch.updated', 'Batch', 'Something about a batch was changed, be it only its stock.', null),
    ('customer.created', 'Customer', 'A customer was made.', null),
    ('customer.updated', 'Customer', 'Something about a customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was made.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'Somebody tries whether deliveries arrive. It stands in no log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql

-- Of the topics follow functions by which bookings write events
select events.derive_announcements();

--! Included ledger/events_of_single.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.events_of_single(
  movement ledger.stock_movement, stock ledger.stock, product erp.product, change integer,
  not_for_sale integer, stock_change bigint, product_change bigint, not_for_sale_change bigint,
  today timestamptz
)
returns table (
  "position" integer, topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]
)
language sql stable
begin atomic
  select 1, e.* from events.stock_movement_insert_events(movement) e
  union all
  select 2, e.* from (
    select jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change - change)),
      jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change, 'updated_at', today))
    offset 0
  ) r (o, n) cross join lateral events.stock_update_events(r.o, r.n) e
  union all
  select 3, e.* from (
    select ledger.product_after(product, product_change - change, not_for_sale_change - not_for_sale),
      ledger.product_after(product, product_change, not_for_sale_change)
    offset 0
  ) r (o, n) cross join lateral events.product_update_events(r.o, r.n) e;
end;
comment on function ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz) is
  'The events of a booking of one correction among several: stock and product are as they were before all '
  'of them, the changes what it does itself and what they do up to it.';
grant execute on function ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz) to service_booker;
--! EndIncluded ledger/events_of_single.sql

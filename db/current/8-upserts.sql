-- Data comes in: upserts of many rows at once.
--!include auth/known_scopes.sql
--!include mutation/run.sql
--!include mutation/upsert_row.sql
--!include mutation/thing.sql
--!include mutation/defaults_of.sql
--!include mutation/match_of.sql
--!include mutation/match_rows.sql
--!include mutation/faults_of_columns.sql
--!include mutation/faults_of_keys.sql
--!include mutation/row_faults.sql
--!include mutation/with_faults.sql
--!include mutation/with_values.sql
--!include mutation/require_rows.sql
--!include mutation/order_of_keys.sql
--!include mutation/write_rows.sql
--!include mutation/with_changes.sql
--!include mutation/upserted.sql
--!include erp/set_prices.sql
--!include erp/set_tags.sql
--!include erp/upsert_products.sql
-- Amounts are Floats, as everywhere
do $$
declare
  old constant text := obj_description('api_unstable'::regnamespace, 'pg_namespace');
  named constant text[] := string_to_array(substring(old from '(?n)^@floats (.*)$'), ' ');
  added constant text[] := '{product_price_input,product_upsert_input,supplier_upsert_input,'
    'order_line_upsert_input}';
begin
  execute format('comment on schema api_unstable is %L', regexp_replace(old, '(?n)^@floats .*$',
    '@floats ' || (
      select string_agg(n, ' ' order by n) from (select unnest(named) union select unnest(added)) x (n)
    )));
end
$$;
--!include api/upsert_outcome.sql
--!include api/products_upsert.sql
--!include erp/upsert_suppliers.sql
--!include erp/upsert_warehouses.sql
--!include erp/upsert_customers.sql
--!include api/suppliers_upsert.sql
--!include api/warehouses_upsert.sql
--!include api/customers_upsert.sql
--!include erp/match_order_lines.sql
--!include erp/faults_of_order_lines.sql
--!include erp/upsert_orders.sql
--!include erp/cancel_order.sql
--!include api/orders_upsert.sql
--!include api/order_cancel.sql

select api_meta.allow('service_writer', 'erp.tag', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.product_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.product_price',
  'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', 'erp.product', 'insert',
  'update (product_number, parent_id, canonical_product_id, name, description, gtin, manufacturer_number, '
  'tax_rate, is_batch_managed, reorder_point, target_maximum_quantity, storefront_variants)');

select api_meta.allow('service_writer', 'erp.language', 'select');
select api_meta.allow('service_writer', 'erp.supplier', 'insert',
  'update (number, name, customer_number, currency_id, language_code, email, phone, address, '
  'default_delivery_time_days, minimum_order_value, vat_id, active)');
select api_meta.allow('service_writer', 'erp.customer_group', 'select');
select api_meta.allow('service_writer', 'erp.salutation', 'select');
select api_meta.allow('service_writer', 'erp.customer_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.customer', 'insert',
  'update (customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active, '
  'guest, storefront_id, group_id, requested_group_id, sales_channel_id, bound_sales_channel_id, '
  'default_payment_method_id, salutation_id)');

drop index if exists erp.customer_storefront_id_is_unique;
-- waive index-blocks-writes: a million customers take a second, and there are few writers of them
create unique index customer_storefront_id_is_unique on erp.customer (storefront_id, sales_channel_id);
comment on index erp.customer_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother customer of the sales channel has this id.';
comment on constraint customer_number_is_unique on erp.customer is
  E'@userError NOT_UNIQUE customer_number\nAnother customer has this number.';
comment on constraint customer_email_is_unique_per_channel on erp.customer is
  E'@userError NOT_UNIQUE email\nAnother customer of the sales channel has this address.';
comment on constraint customer_account_type_is_known on erp.customer is
  E'@userError INVALID account_type\nThere is no such type of accounts.';
comment on constraint customer_vat_ids_are_strings on erp.customer is
  E'@userError INVALID vat_ids\nThis must be a list of texts.';

select api_meta.allow('service_writer', 'erp.shipping_method', 'select');
select api_meta.allow('service_writer', 'erp.order_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_order', 'insert',
  'update (order_number, order_date_time, state, delivery_state, payment_state, tax_status, currency_id, '
  'sales_channel_id, customer_id, shipping_method_id, payment_method_id, shipping_address, billing_address, '
  'storefront_id, entered_tracking_codes)');
select api_meta.allow('service_writer', 'erp.sales_order_line_item', 'insert', 'delete',
  'update (product_id, type, identifier, label, description, "position", quantity, unit_price, total_price, '
  'tax_rate, storefront_id)');

drop index if exists erp.order_storefront_id_is_unique;
-- waive index-blocks-writes: a million orders take a second
create unique index order_storefront_id_is_unique on erp.sales_order (storefront_id, sales_channel_id);
comment on index erp.order_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother order of the sales channel has this id.';
comment on constraint order_number_is_unique on erp.sales_order is
  E'@userError NOT_UNIQUE order_number\nAnother order has this number.';
comment on constraint order_tax_status_is_known on erp.sales_order is
  E'@userError INVALID tax_status\nThis is gross, net or tax-free.';
comment on constraint order_shipping_address_is_an_object on erp.sales_order is
  E'@userError INVALID shipping_address\nThe address must be a JSON object.';
comment on constraint order_billing_address_is_an_object on erp.sales_order is
  E'@userError INVALID billing_address\nThe address must be a JSON object.';
comment on constraint order_line_item_quantity_is_positive on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE quantity\nThe quantity must be at least 1.';
comment on constraint order_line_item_tax_rate_is_a_percentage on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
comment on constraint order_line_item_product_only_on_product_lines on erp.sales_order_line_item is
  E'@userError INVALID type\nOnly lines of type product name a product.';
comment on constraint order_line_item_promotion_identifier_matches_payload on erp.sales_order_line_item is
  E'@userError INVALID identifier\nThe identifier of a promotion is that of its payload.';
comment on constraint order_line_item_is_not_its_own_parent on erp.sales_order_line_item is
  '@internal No function writes the parent.';

comment on constraint supplier_number_is_unique on erp.supplier is
  E'@userError NOT_UNIQUE number\nAnother supplier has this number.';
comment on constraint supplier_name_is_not_blank on erp.supplier is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint supplier_address_is_an_object on erp.supplier is
  E'@userError INVALID address\nThe address must be a JSON object.';
comment on constraint supplier_delivery_time_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE default_delivery_time_days\nThe delivery time must not be negative.';
comment on constraint supplier_minimum_order_value_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE minimum_order_value\nThe value must not be negative.';

comment on constraint product_price_gross_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
comment on constraint product_price_net_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
comment on constraint product_number_is_unique on erp.product is
  E'@userError NOT_UNIQUE product_number\nAnother product has this number.';
comment on constraint product_number_is_not_blank on erp.product is
  E'@userError INVALID product_number\nThe number is blank.';
comment on constraint product_is_not_its_own_parent on erp.product is
  E'@userError INVALID parent_id\nA product is no variant of itself.';
comment on constraint product_reorder_point_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_target_maximum_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe quantity must not be negative.';
comment on constraint product_tax_rate_is_a_percentage on erp.product is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
comment on constraint product_storefront_variants_is_a_list on erp.product is
  E'@userError INVALID storefront_variants\nThis must be a list.';
comment on constraint tag_name_is_not_blank on erp.tag is
  E'@userError INVALID name\nThe name of the tag is blank.';
comment on constraint tag_name_is_unique on erp.tag is
  E'@userError NOT_UNIQUE name\nAnother tag has this name.';

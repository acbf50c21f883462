-- Masters: tags, customer groups, payment methods, sales channels, shipping methods, locations, and
-- configurations of products can be written
drop view if exists api_unstable.customer_groups, api_unstable.payment_methods, api_unstable.sales_channels,
  api_unstable.countries, api_unstable.shipping_methods,
  api_unstable.product_stock_location_configurations cascade;
drop trigger if exists sales_channel_offers_its_defaults on erp.sales_channel;
drop trigger if exists sales_channel_has_an_active_payment_method on erp.sales_channel;
drop trigger if exists payment_method_of_a_sales_channel_is_active on erp.payment_method;
drop trigger if exists sales_channel_country_is_kept on erp.sales_channel_country;
drop trigger if exists sales_channel_currency_is_kept on erp.sales_channel_currency;
drop trigger if exists sales_channel_payment_method_is_kept on erp.sales_channel_payment_method;

alter table erp.customer_group drop column if exists technical_name cascade;
-- waive constraint-builds-index: a handful of rows
alter table erp.customer_group add column technical_name text collate "C"
  constraint customer_group_technical_name_is_unique unique;
alter table erp.customer_group add constraint customer_group_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.sales_channel drop column if exists technical_name cascade;
-- waive constraint-builds-index: a handful of rows
alter table erp.sales_channel add column technical_name text collate "C"
  constraint sales_channel_technical_name_is_unique unique;
alter table erp.sales_channel add constraint sales_channel_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.payment_method drop constraint if exists payment_method_technical_name_is_not_blank;
alter table erp.payment_method add constraint payment_method_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.shipping_method drop constraint if exists shipping_method_technical_name_is_not_blank;
alter table erp.shipping_method add constraint shipping_method_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.location drop constraint if exists location_storefront_id_is_unique,
  drop constraint if exists location_storefront_id_is_not_blank,
  drop constraint if exists location_name_is_not_blank;
-- waive constraint-builds-index: a handful of rows
alter table erp.location add constraint location_storefront_id_is_unique unique (storefront_id),
  add constraint location_storefront_id_is_not_blank check (not erp.is_blank(storefront_id)) not valid,
  add constraint location_name_is_not_blank check (not erp.is_blank(name)) not valid;

comment on constraint customer_group_technical_name_is_unique on erp.customer_group is
  E'@userError NOT_UNIQUE technical_name\nAnother customer group has this technical name.';
comment on constraint customer_group_technical_name_is_not_blank on erp.customer_group is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint sales_channel_technical_name_is_unique on erp.sales_channel is
  E'@userError NOT_UNIQUE technical_name\nAnother sales channel has this technical name.';
comment on constraint sales_channel_technical_name_is_not_blank on erp.sales_channel is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint payment_method_technical_name_key on erp.payment_method is
  E'@userError NOT_UNIQUE technical_name\nAnother payment method has this technical name.';
comment on constraint payment_method_technical_name_is_not_blank on erp.payment_method is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint payment_method_means_code_has_its_form on erp.payment_method is
  E'@userError INVALID means_code\nA code of UNTDID 4461 has one or two digits, or is ZZZ.';
comment on constraint shipping_method_technical_name_key on erp.shipping_method is
  E'@userError NOT_UNIQUE technical_name\nAnother shipping method has this technical name.';
comment on constraint shipping_method_technical_name_is_not_blank on erp.shipping_method is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint location_has_one_per_warehouse on erp.location is
  E'@userError NOT_UNIQUE warehouse_id\nThe warehouse has another location already.';
comment on constraint location_storefront_id_is_unique on erp.location is
  E'@userError NOT_UNIQUE storefront_id\nAnother location has this id of the storefront.';
comment on constraint location_storefront_id_is_not_blank on erp.location is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or send null.';
comment on constraint location_name_is_not_blank on erp.location is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint product_stock_location_configuration_is_unique
  on erp.product_stock_location_configuration is
  E'@userError NOT_UNIQUE product_id\nAn earlier row configures the same product and place.';
comment on constraint product_stock_location_configuration_has_one_place
  on erp.product_stock_location_configuration is
  E'@userError INVALID warehouse_id\nA row has either a warehouse or a bin.';
comment on constraint product_stock_location_configuration_reorder_point_not_negative
  on erp.product_stock_location_configuration is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_stock_location_configuration_target_is_not_negative
  on erp.product_stock_location_configuration is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe target must not be negative.';
comment on constraint product_warehouse_configuration_is_unique on erp.product_warehouse_configuration is
  E'@userError NOT_UNIQUE product_id\nAn earlier row configures the same product and warehouse.';

comment on column erp.customer_group.technical_name is
  'Stable machine name, for example retail; unique, and null where there is none.';
comment on column erp.customer_group.display_gross is
  'Whether members see prices with tax. True by default.';
comment on column erp.sales_channel.technical_name is
  'Stable machine name, for example web_shop_de; unique, and null where there is none.';
comment on column erp.shipping_method.technical_name is 'Stable machine name, for example parcel; unique.';
comment on column erp.shipping_method.name is 'Name of the way to ship, in the language of the request.';
comment on column erp.shipping_method.active is 'Whether customers are offered it.';
comment on column erp.country.iso_code is 'Two-letter code of ISO 3166-1.';
comment on column erp.product_stock_location_configuration.product_id is 'Product that the settings are for.';
comment on column erp.product_stock_location_configuration.warehouse_id is
  'Warehouse, if it is the place: its part that has no bin.';
comment on column erp.product_stock_location_configuration.bin_location_id is 'Bin, if it is the place.';

select api_meta.allow('service_writer', 'erp.tag', 'update (name)', 'delete');
select api_meta.allow('service_writer', 'erp.customer_group', 'insert',
  'update (technical_name, name, display_gross)');
select api_meta.allow('service_writer', 'erp.payment_method', 'insert',
  'update (technical_name, name, description, active, position, after_order_enabled, means_code)');
select api_meta.allow('service_writer', 'erp.shipping_method', 'insert',
  'update (technical_name, name, active)');
select api_meta.allow('service_writer', 'erp.sales_channel', 'insert',
  'update (technical_name, name, country_id, currency_id, customer_group_id, payment_method_id)');
select api_meta.allow('service_writer', 'erp.sales_channel_country', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_currency', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_payment_method', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_registration_group', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.location', 'update (name, active, storefront_id)');
select api_meta.allow('service_writer', 'erp.product_stock_location_configuration', 'select', 'insert',
  'update (reorder_point, target_maximum_quantity)');

-- Sales channels offer what they begin with, whoever writes
insert into erp.sales_channel_country (sales_channel_id, country_id)
select id, country_id from erp.sales_channel on conflict do nothing;
insert into erp.sales_channel_currency (sales_channel_id, currency_id)
select id, currency_id from erp.sales_channel on conflict do nothing;
insert into erp.sales_channel_payment_method (sales_channel_id, payment_method_id)
select id, payment_method_id from erp.sales_channel on conflict do nothing;
--!include erp/keep_channel_defaults.sql
create constraint trigger sales_channel_offers_its_defaults
  after insert or update of country_id, currency_id, payment_method_id on erp.sales_channel
  deferrable initially deferred for each row execute function erp.keep_channel_defaults();
create constraint trigger sales_channel_has_an_active_payment_method
  after insert or update of payment_method_id on erp.sales_channel
  for each row execute function erp.keep_default_active();
create constraint trigger payment_method_of_a_sales_channel_is_active
  after update of active on erp.payment_method
  for each row when (old.active and not new.active) execute function erp.keep_default_active();
create constraint trigger sales_channel_country_is_kept after delete on erp.sales_channel_country
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('country_id');
create constraint trigger sales_channel_currency_is_kept after delete on erp.sales_channel_currency
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('currency_id');
create constraint trigger sales_channel_payment_method_is_kept after delete
  on erp.sales_channel_payment_method
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('payment_method_id');

-- What all upserts share
--!include mutation/nil_id.sql
--!include mutation/references_of.sql
--!include mutation/localized_columns.sql
--!include mutation/with_columns.sql
--!include mutation/faults_of_texts.sql
--!include mutation/faults_of_fields.sql
--!include mutation/match_rows.sql
--!include mutation/upsert.sql
--!include mutation/links_of.sql
--!include mutation/set_links.sql
--!include api_meta/upsert_name.sql
--!include api_meta/upsert_type.sql
--!include api_meta/upsert_field_note.sql
--!include api_meta/add_upsert.sql
--!include api/warning_code.sql

--!include api/countries.sql
--!include api/customer_groups.sql
--!include api/payment_methods.sql
--!include api/sales_channels.sql
--!include api/shipping_methods.sql
--!include api/product_stock_location_configurations.sql

--!include api/tags_upsert.sql
--!include erp/delete_tags.sql
--!include api/tags_delete.sql
--!include api/customer_groups_upsert.sql
--!include erp/upsert_payment_methods.sql
--!include api/payment_methods_upsert.sql
--!include api/shipping_methods_upsert.sql
--!include erp/upsert_sales_channels.sql
--!include api/sales_channels_upsert.sql
--!include erp/upsert_locations.sql
--!include api/locations_upsert.sql
--!include erp/with_bins_by_code.sql
--!include erp/upsert_product_stock_location_configurations.sql
--!include api/product_stock_location_configurations_upsert.sql
--!include erp/upsert_product_warehouse_configurations.sql
--!include api/product_warehouse_configurations_upsert.sql

-- The same for the upserts that were there
--!include erp/upsert_suppliers.sql
--!include api/warehouses_upsert.sql

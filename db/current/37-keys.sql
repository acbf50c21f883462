-- A key by which rows are found is never blank: an empty one would be the same for all that have none
--!include erp/is_blank.sql
alter table erp.batch drop constraint if exists batch_number_is_not_blank;
alter table erp.batch add constraint batch_number_is_not_blank check (not erp.is_blank(number)) not enforced;
comment on constraint batch_number_is_not_blank on erp.batch is
  '@internal check_goods_receipt_lines() refuses it';

alter table erp.product drop constraint if exists product_number_is_not_blank;
alter table erp.product add constraint product_number_is_not_blank
  check (not erp.is_blank(product_number)) not enforced;
comment on constraint product_number_is_not_blank on erp.product is
  E'@userError INVALID product_number\nThe number is blank.';

alter table erp.tag drop constraint if exists tag_name_is_not_blank;
alter table erp.tag add constraint tag_name_is_not_blank check (not erp.is_blank(name)) not valid;
comment on constraint tag_name_is_not_blank on erp.tag is
  E'@userError INVALID name\nThe name of the tag is blank.';

alter table erp.supplier drop constraint if exists supplier_number_is_not_blank;
alter table erp.supplier add constraint supplier_number_is_not_blank
  check (not erp.is_blank(number)) not valid;
comment on constraint supplier_number_is_not_blank on erp.supplier is
  E'@userError INVALID number\nThe number is blank.';

alter table erp.customer drop constraint if exists customer_number_is_not_blank;
alter table erp.customer drop constraint if exists customer_storefront_id_is_not_blank;
alter table erp.customer drop constraint if exists customer_email_is_not_blank;
alter table erp.customer add constraint customer_number_is_not_blank
  check (not erp.is_blank(customer_number)) not valid;
alter table erp.customer add constraint customer_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not valid;
alter table erp.customer add constraint customer_email_is_not_blank
  check (not erp.is_blank(email)) not valid;
comment on constraint customer_number_is_not_blank on erp.customer is
  E'@userError INVALID customer_number\nThe number is blank.';
comment on constraint customer_storefront_id_is_not_blank on erp.customer is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';
comment on constraint customer_email_is_not_blank on erp.customer is
  E'@userError INVALID email\nThe address is blank.';

alter table erp.sales_order drop constraint if exists order_number_is_not_blank;
alter table erp.sales_order drop constraint if exists order_storefront_id_is_not_blank;
alter table erp.sales_order add constraint order_number_is_not_blank
  check (not erp.is_blank(order_number)) not enforced;
alter table erp.sales_order add constraint order_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not enforced;
comment on constraint order_number_is_not_blank on erp.sales_order is
  E'@userError INVALID order_number\nThe number is blank. Leave it out, or give null, if there is none.';
comment on constraint order_storefront_id_is_not_blank on erp.sales_order is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';

alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_storefront_id_is_not_blank;
alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_identifier_is_not_blank;
alter table erp.sales_order_line_item add constraint order_line_item_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not enforced;
alter table erp.sales_order_line_item add constraint order_line_item_identifier_is_not_blank
  check (not erp.is_blank(identifier)) not enforced;
comment on constraint order_line_item_storefront_id_is_not_blank on erp.sales_order_line_item is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';
comment on constraint order_line_item_identifier_is_not_blank on erp.sales_order_line_item is
  E'@userError INVALID identifier\nThe identifier is blank. Leave it out if there is none.';

comment on constraint idempotency_key_pkey on mutation.idempotency_key is
  '@internal take_key() refuses keys without a character, and another input with the same key';
comment on index bulk.operation_idempotency_key_is_unique is
  '@internal begin_upload() answers the operation that has the key, if it is the same upload';
--!include erp/check_goods_receipt_lines.sql

-- Blank keys that are there: null where that means none, and for lines what they would have got without. A
-- new database has none
select api_meta.backfill('blank keys of customers', 'erp.customer', '{storefront_id}', 'null',
  'erp.is_blank(storefront_id)') where exists (select from erp.customer);
select api_meta.backfill('blank keys of orders', 'erp.sales_order', '{order_number,storefront_id}',
  'case when not erp.is_blank(order_number) then order_number end, '
  'case when not erp.is_blank(storefront_id) then storefront_id end',
  'erp.is_blank(order_number) or erp.is_blank(storefront_id)') where exists (select from erp.sales_order);
select api_meta.backfill('blank keys of order lines', 'erp.sales_order_line_item',
  '{storefront_id,identifier}', 'case when not erp.is_blank(storefront_id) then storefront_id end, '
  'case when erp.is_blank(identifier) then id::text else identifier end',
  'erp.is_blank(storefront_id) or erp.is_blank(identifier)')
where exists (select from erp.sales_order_line_item);

-- Unique keys are judged as they are after a call, so rows may exchange them
--!include events/retract.sql
grant select on sequence events.outbox_position_seq to service_writer;
drop function if exists mutation.match_of(regclass, text[]);
--!include mutation/match_of.sql
--!include mutation/match_rows.sql
--!include mutation/faults_of_keys.sql
--!include mutation/row_faults.sql
--!include mutation/with_faults_of_taken_keys.sql
--!include mutation/free_keys.sql
--!include mutation/write_rows.sql
--!include erp/upsert_products.sql
--!include erp/upsert_customers.sql
--!include erp/upsert_suppliers.sql
--!include erp/upsert_warehouses.sql

-- A line of an order keeps its position, unless a call gives another
--!include erp/match_order_lines.sql
--!include erp/faults_of_order_lines.sql
--!include erp/upsert_orders.sql
drop view if exists api_unstable.order_line_items;
--!include api/order_line_items.sql
--!include api/orders_upsert.sql

-- Supplier orders, goods receipts, and what suppliers sell products for.
drop type if exists erp.price cascade;
drop type if exists erp.supplier_order_line cascade;
drop type if exists erp.goods_receipt_line cascade;
drop type if exists erp.placement cascade;
create type erp.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type erp.price is 'An amount in one currency, with and without tax.';
create type erp.supplier_order_line as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric, expected_delivery_date timestamptz
);
comment on type erp.supplier_order_line is 'A line of a supplier order as it is to be; with the id of one that is there, or without.';
create type erp.goods_receipt_line as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text, supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer, destination_bin_location_id uuid
);
comment on type erp.goods_receipt_line is 'A line of a goods receipt as it is to be; with the id of one that is there, or without.';
create type erp.placement as (line bigint, goods_receipt_line_item_id uuid, warehouse_id uuid, bin_location_id uuid, quantity integer);
comment on type erp.placement is 'How many units of a line of a goods receipt are put where; line is the place in the input, for user errors.';

--!include functions/erp/currency_factor_at.sql
--!include functions/erp/amounts.sql
--!include functions/erp/purchase_prices.sql
--!include functions/erp/product_supplier_configuration.sql
--!include functions/ledger/keep_purchase_figures.sql
--!include functions/erp/supplier_order.sql
--!include functions/erp/goods_receipt_lines.sql
--!include functions/erp/goods_receipt.sql
--!include functions/erp/goods_receipt_booking.sql

do $$
declare
  item record;
begin
  for item in
    select * from (values
      ('erp.product_supplier_price', 'erp.keep_purchase_prices()'), ('erp.product_purchase_price', 'erp.keep_purchase_prices()'),
      ('erp.product_supplier_configuration', 'erp.keep_purchase_prices()'),
      ('erp.supplier_order_line_item', 'ledger.keep_purchase_figures()'), ('erp.supplier_order', 'ledger.keep_purchase_figures()')
    ) v (relation, routine)
  loop
    execute format('create or replace trigger keep_figures_on_update after update on %s
      referencing old table as gone new table as changed for each statement execute function %s', item.relation, item.routine);
    continue when item.relation = 'erp.supplier_order';
    execute format('create or replace trigger keep_figures_on_insert after insert on %s
      referencing new table as changed for each statement execute function %s', item.relation, item.routine);
    continue when item.relation = 'erp.product_supplier_configuration';
    execute format('create or replace trigger keep_figures_on_delete after delete on %s
      referencing old table as gone for each statement execute function %s', item.relation, item.routine);
  end loop;
end
$$;
create or replace trigger keep_figures before insert or update of unit_price, goods_receipt_id on erp.goods_receipt_line_item
  for each row execute function erp.keep_default_currency_price();
create or replace trigger keep_figures after update of currency_factor on erp.goods_receipt
  for each row when (old.currency_factor is distinct from new.currency_factor) execute function erp.keep_currency_factor();

select api_meta.allow('service_writer', 'erp.supplier_order', 'select', 'insert', 'delete', 'update (supplier_order_number, state, supplier_id,
  warehouse_id, supplier_snapshot, warehouse_snapshot, currency_id, amount_net, amount_total, position_price, tax_status, order_date_time, due_date,
  delivery_date, actual_delivery_date, comment)');
select api_meta.allow('service_writer', 'erp.supplier_order_line_item', 'select', 'insert', 'delete', 'update (product_id, position, label,
  product_number, supplier_product_number, quantity, received_quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate,
  expected_delivery_date, actual_delivery_date)');
select api_meta.allow('service_writer', 'erp.goods_receipt', 'select', 'insert', 'delete', 'update (state, goods_receipt_date_time, warehouse_id,
  supplier_id, customer_id, currency_id, currency_factor, currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
  currency_factor_captured_at, tax_status, amount_net, amount_total, position_price, comment)');
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item', 'select', 'insert', 'delete', 'update (product_id, batch_id, return_order_id,
  supplier_order_id, supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
  unit_price_in_default_currency, tax_rate)');
select api_meta.allow('service_writer', 'erp.goods_receipt_supplier_order', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.batch', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.product_supplier_configuration', 'select', 'insert', 'delete',
  'update (supplier_product_number, min_purchase, purchase_steps, supplier_is_default, delivery_time_days)');
select api_meta.allow('service_writer', 'erp.product_supplier_price', 'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', 'erp.product_purchase_price', 'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.supplier', 'erp.customer', 'erp.currency', 'erp.exchange_rate', 'erp.return_order', 'erp.stock_valuation_report_goods_receipt',
  'ledger.stock_movement', 'ledger.stock_movement_batch']::regclass[]) relation;
select api_meta.allow('service_ledger', 'erp.supplier_order', 'select');
select api_meta.allow('service_ledger', 'erp.supplier_order_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.product', 'update (open_supplier_order_quantity, last_supplier_order_at)');

select api_meta.give('ledger.keep_purchase_figures()', 'service_ledger');
select api_meta.give('erp.keep_purchase_prices()', 'service_writer');
grant select on ledger.flow to service_writer;
grant execute on function ledger.place_of(uuid, uuid), ledger.post(ledger.draft[], text) to service_writer;
do $$
declare
  routine regprocedure;
begin
  -- What of the schema erp runs within mutations, may run there
  for routine in
    select p.oid from pg_proc p where p.pronamespace = 'erp'::regnamespace and not p.prosecdef and p.prorettype <> 'trigger'::regtype
  loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;
comment on constraint product_supplier_configuration_is_unique on erp.product_supplier_configuration is
  E'@userError NOT_UNIQUE supplier_id\nThe supplier is assigned to the product already.';
comment on constraint product_supplier_configuration_min_purchase_is_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE min_purchase\nThe least quantity must be at least 1.';
comment on constraint product_supplier_configuration_purchase_steps_are_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE purchase_steps\nThe step must be at least 1.';
comment on constraint product_supplier_configuration_delivery_time_is_not_negative on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE delivery_time_days\nThe delivery time must not be negative.';
comment on constraint supplier_order_tax_status_is_known on erp.supplier_order is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint goods_receipt_tax_status_is_known on erp.goods_receipt is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint goods_receipt_currency_factor_is_positive on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor\nThe exchange rate must be greater than 0.';
comment on constraint goods_receipt_customer_only_on_customer_returns on erp.goods_receipt is
  E'@userError INVALID customer_id\nOnly receipts of type Customer have a customer.';
comment on constraint goods_receipt_supplier_only_on_supplier_receipts on erp.goods_receipt is
  E'@userError INVALID supplier_id\nReceipts of type Customer have no supplier.';
do $$
declare
  item record;
begin
  -- Checked before, line by line, or written by the functions alone
  for item in
    select c.conrelid::regclass as relation, c.conname from pg_constraint c
    where c.contype in ('c', 'u') and obj_description(c.oid, 'pg_constraint') is null and c.conrelid = any (array['erp.supplier_order',
      'erp.supplier_order_line_item', 'erp.goods_receipt', 'erp.goods_receipt_line_item', 'erp.product_supplier_price',
      'erp.product_purchase_price', 'erp.number_range']::regclass[])
  loop
    execute format('comment on constraint %I on %s is %L', item.conname, item.relation, '@internal The functions that write here see to it.');
  end loop;
end
$$;

-- Stock valuation reports that close periods; values, costs and margins in the API

drop index if exists valuation.report_number_is_unique, valuation.report_has_one_draft;
drop function if exists api_unstable.stock_valuation_report_create, api_unstable.stock_valuation_report_close,
  api_unstable.stock_valuation_report_void, api_unstable.orders_cost_of_goods, api_unstable.orders_margin,
  api_unstable.fulfillments_cost_of_goods;
drop view if exists api_unstable.stock_valuation_report_lines, api_unstable.stock_valuation_report_faults,
  api_unstable.stock_valuation_report_late_entries, api_unstable.stock_valuation_reports cascade;

-- What reports have beside what values are calculated from

alter table valuation.report drop column if exists currency_code cascade,
  drop column if exists quantity cascade, drop column if exists value cascade,
  drop column if exists fault_count cascade, drop column if exists late_entry_count cascade,
  drop column if exists created_at cascade, drop column if exists void_reason cascade,
  drop column if exists hash cascade,
  drop column if exists previous_hash cascade, drop column if exists lines_hash cascade,
  drop column if exists state_hash cascade;
alter table valuation.report
  add column currency_code text not null default 'XXX',
  add column quantity bigint not null default 0,
  add column value numeric not null default 0,
  add column fault_count bigint not null default 0,
  add column late_entry_count bigint not null default 0,
  add column created_at timestamptz(0) not null default date_trunc('second', now()),
  add column void_reason text constraint report_void_reason_length check (length(void_reason) <= 1000),
  add column hash text,
  add column previous_hash text,
  add column lines_hash text,
  add column state_hash text,
  add constraint report_closed_is_complete check ((closed_at is null) = (number is null)
    and (closed_at is null) = (hash is null) and (closed_at is null) = (lines_hash is null)
    and (closed_at is null) = (state_hash is null)),
  add constraint report_void_has_a_reason check ((voided_at is null) = (void_reason is null)),
  add constraint report_void_was_closed check (voided_at is null or closed_at is not null);
create unique index report_number_is_unique on valuation.report (number);
create unique index report_has_one_draft on valuation.report ((true)) where closed_at is null;
comment on constraint report_void_reason_length on valuation.report is
  '@internal valuation.void_report refuses longer ones.';
comment on constraint report_closed_is_complete on valuation.report is
  '@internal valuation.close_report sets all of them.';
comment on constraint report_void_has_a_reason on valuation.report is
  '@internal valuation.void_report sets both.';
comment on constraint report_void_was_closed on valuation.report is
  '@internal valuation.void_report refuses drafts.';
comment on index valuation.report_number_is_unique is 'Reports are closed one after another.';
comment on index valuation.report_has_one_draft is 'There is one draft at most.';
comment on column valuation.report.currency_code is 'Currency of all amounts: the default one, as ISO code.';
comment on column valuation.report.quantity is 'Units in stock.';
comment on column valuation.report.value is
  'Value of the stock in cents: the sum of the products, rounded once.';
comment on column valuation.report.fault_count is
  'How often units came in without a price; with faults, a draft cannot be closed.';
comment on column valuation.report.late_entry_count is
  'Movements that belong to days that were closed before.';
comment on column valuation.report.created_at is 'When the draft was made.';
comment on column valuation.report.void_reason is 'Why the report was declared void.';
comment on column valuation.report.hash is
  'SHA-256 of the content, with the hash of the report before, as hexadecimal digits; null for drafts.';
comment on column valuation.report.previous_hash is
  'Hash of the report with the number before, also if it is void; null for the first.';
comment on column valuation.report.lines_hash is 'SHA-256 of the lines, which is part of the hash.';
comment on column valuation.report.state_hash is
  'SHA-256 of what later reports continue from, which is part of the hash.';

-- The lines of people: product by warehouse
alter table valuation.report_warehouse drop column if exists id cascade,
  drop column if exists product_number cascade, drop column if exists unit_cost cascade,
  drop column if exists amount cascade;
alter table valuation.report_warehouse
  add column id uuid primary key default uuidv7(),
  add column product_number text not null,
  add column unit_cost numeric not null,
  add column amount numeric not null;
drop index if exists valuation.report_warehouse_report_id_idx;
create index report_warehouse_report_id_id_idx on valuation.report_warehouse (report_id, id);
create index report_warehouse_product_id_idx on valuation.report_warehouse (product_id);
create index report_warehouse_warehouse_id_idx on valuation.report_warehouse (warehouse_id);
comment on column valuation.report_warehouse.product_number is
  'Number of the product when the report was made.';
comment on column valuation.report_warehouse.unit_cost is
  'Value of a unit of the product in all warehouses, rounded to six decimals.';
comment on column valuation.report_warehouse.amount is
  'The value in cents. The lines of a report add up to its value, by largest remainder.';
drop index if exists valuation.report_product_product_id_idx, valuation.report_cost_stock_movement_id_idx;
create index report_product_product_id_idx on valuation.report_product (product_id);
create index report_cost_stock_movement_id_idx on valuation.report_cost (stock_movement_id);
comment on index valuation.report_product_product_id_idx is 'For valuation.keep_counted.';
comment on index valuation.report_cost_stock_movement_id_idx is 'For valuation.cost_of_fulfillment.';

drop table if exists valuation.report_fault, valuation.report_late_entry, valuation.counted_receipt;
create table valuation.report_fault (
  id uuid primary key default uuidv7(),
  report_id uuid not null references valuation.report on delete cascade,
  code text not null,
  product_id uuid not null,
  stock_movement_id uuid not null,
  goods_receipt_id uuid
);
create index report_fault_report_id_id_idx on valuation.report_fault (report_id, id);
create index report_fault_product_id_idx on valuation.report_fault (product_id);
create index report_fault_goods_receipt_id_idx on valuation.report_fault (goods_receipt_id);
alter table valuation.report_fault enable row level security;
comment on table valuation.report_fault is
  'Units that had no value when the draft of a report was made, at most 10,000 of a draft.';
comment on column valuation.report_fault.report_id is 'The draft.';
comment on column valuation.report_fault.code is 'Code of what is missing: PRICE_MISSING.';
comment on column valuation.report_fault.product_id is 'Product of the units.';
comment on column valuation.report_fault.stock_movement_id is 'Movement by which the units came in.';
comment on column valuation.report_fault.goods_receipt_id is
  'Goods receipt of which a line has no price; null for other movements.';

create table valuation.report_late_entry (
  id uuid primary key default uuidv7(),
  report_id uuid not null references valuation.report on delete cascade,
  stock_movement_id uuid not null,
  product_id uuid not null,
  day date not null,
  quantity integer not null,
  value numeric not null
);
create index report_late_entry_report_id_id_idx on valuation.report_late_entry (report_id, id);
create index report_late_entry_product_id_idx on valuation.report_late_entry (product_id);
alter table valuation.report_late_entry enable row level security;
comment on table valuation.report_late_entry is
  'Movements that a report counts although they belong to a day that was closed before: they were numbered '
  'late, or correct a count of such a day.';
comment on column valuation.report_late_entry.report_id is 'The report that counts the movement.';
comment on column valuation.report_late_entry.stock_movement_id is 'The movement.';
comment on column valuation.report_late_entry.product_id is 'Product of the movement.';
comment on column valuation.report_late_entry.day is
  'Day to which it belongs: of the count, else of the booking, in the time zone of the merchant.';
comment on column valuation.report_late_entry.quantity is 'Units of the movement.';
comment on column valuation.report_late_entry.value is 'Value of the units; negative when they went out.';

create table valuation.counted_receipt (
  goods_receipt_id uuid primary key references erp.goods_receipt on delete cascade,
  report_id uuid references valuation.report on delete cascade
);
create index counted_receipt_report_id_idx on valuation.counted_receipt (report_id);
alter table valuation.counted_receipt enable row level security;
comment on table valuation.counted_receipt is
  'Goods receipts that a valid closed report counts: their prices and exchange rates are final.';
comment on column valuation.counted_receipt.goods_receipt_id is 'The goods receipt.';
comment on column valuation.counted_receipt.report_id is
  'The first report that counts it; null if another program made that report.';

comment on constraint report_product_report_id_fkey on valuation.report_product is
  '@internal valuation.fill_report names the report.';
comment on constraint report_warehouse_report_id_fkey on valuation.report_warehouse is
  '@internal valuation.fill_report names the report.';
comment on constraint report_cost_report_id_fkey on valuation.report_cost is
  '@internal valuation.fill_report names the report.';
comment on constraint report_outside_report_id_fkey on valuation.report_outside is
  '@internal valuation.keep_places names the report.';
comment on constraint report_outside_pkey on valuation.report_outside is
  '@internal valuation.keep_places takes places from movements.';
comment on constraint report_fault_report_id_fkey on valuation.report_fault is
  '@internal valuation.fill_report names the report.';
comment on constraint report_late_entry_report_id_fkey on valuation.report_late_entry is
  '@internal valuation.fill_report names the report.';
comment on constraint counted_receipt_goods_receipt_id_fkey on valuation.counted_receipt is
  '@internal valuation.keep_state looks for the receipts.';
comment on constraint counted_receipt_report_id_fkey on valuation.counted_receipt is
  '@internal valuation.keep_state names the report.';

do $$
begin
  if to_regclass('erp.stock_valuation_report_goods_receipt') is not null then
    insert into valuation.counted_receipt (goods_receipt_id)
    select distinct r.goods_receipt_id from erp.stock_valuation_report_goods_receipt r;
  end if;
end
$$;

select api_meta.allow('service_writer', t.name::regclass, 'select', 'insert', 'update', 'delete')
from unnest('{valuation.report,valuation.report_product,valuation.report_warehouse,
  valuation.report_outside,valuation.report_cost,valuation.report_fault,
  valuation.report_late_entry,valuation.counted_receipt}'::text[])
  t (name);

select api_meta.allow('service_writer', 'erp.stock_container', 'select');
select api_meta.allow('service_writer', 'ledger.stock_count', 'select');
-- Fills in prices, which the triggers below look at
grant usage on schema valuation to service_keeper;
select api_meta.allow('service_keeper', 'valuation.counted_receipt', 'select');
select api_meta.allow('service_keeper', 'valuation.report', 'select');
select api_meta.allow('service_keeper', 'erp.goods_receipt', 'select (id, state)');

--!include valuation/shares.sql
--!include valuation/newest_report.sql
--!include valuation/day_of.sql
--!include valuation/keep_places.sql
--!include valuation/digest.sql
--!include valuation/lines_hash.sql
--!include valuation/state_hash.sql
--!include valuation/report_hash.sql
--!include valuation/total_report.sql
--!include valuation/fill_report.sql
--!include valuation/empty_report.sql
--!include valuation/refuse_faults.sql
--!include valuation/create_report.sql
--!include valuation/close_report.sql
--!include valuation/void_report.sql
--!include valuation/is_binding.sql
--!include valuation/is_counted.sql
--!include valuation/await_closing.sql
--!include valuation/keep_report.sql
--!include valuation/keep_report_parts.sql
--!include valuation/keep_counted.sql
--!include valuation/keep_prices.sql
--!include valuation/keep_lines.sql
--!include valuation/keep_tax_status.sql
--!include erp/keep_currency_factor.sql

create or replace trigger keep_report before update or delete on valuation.report
for each row when (old.closed_at is not null) execute function valuation.keep_report();
do $$
declare
  part text;
  operation text;
begin
  foreach part in array array['report_product', 'report_warehouse', 'report_outside', 'report_cost',
    'report_late_entry'] loop
    foreach operation in array array['insert', 'update', 'delete'] loop
      execute format('create or replace trigger keep_report_parts_on_%s after %1$s on valuation.%I '
        'referencing %s table as changed for each statement execute function valuation.keep_report_parts()',
        operation, part, case operation when 'delete' then 'old' else 'new' end);
    end loop;
  end loop;
end
$$;
create or replace trigger keep_counted before delete on erp.product
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.warehouse
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.sales_order
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.return_order
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.goods_receipt
for each row execute function valuation.keep_counted();

create or replace trigger keep_prices_on_update before update of unit_price, unit_price_in_default_currency,
  tax_rate, quantity, product_id, goods_receipt_id on erp.goods_receipt_line_item
for each row when ((new.unit_price, new.tax_rate, new.quantity, new.product_id, new.goods_receipt_id)
  is distinct from (old.unit_price, old.tax_rate, old.quantity, old.product_id, old.goods_receipt_id)
  or new.unit_price_in_default_currency <> old.unit_price_in_default_currency)
execute function valuation.keep_prices();
create or replace trigger keep_prices_on_delete before delete on erp.goods_receipt_line_item
for each row execute function valuation.keep_prices();
create or replace trigger keep_prices_on_insert after insert on erp.goods_receipt_line_item
referencing new table as changed for each statement execute function valuation.keep_lines();
create or replace trigger keep_tax_status before update of tax_status, type on erp.goods_receipt
for each row when ((new.tax_status, new.type) is distinct from (old.tax_status, old.type))
execute function valuation.keep_tax_status();

-- waive drops-data: valuation.counted_receipt has the receipts; only a trigger read them, which is replaced
drop table if exists erp.stock_valuation_report_goods_receipt, erp.stock_valuation_report;

-- Money is a Float, as in the types around it
do $$
declare
  words text;
begin
  select string_agg(w, ' ' order by w collate "C") into words from (
    select regexp_split_to_table(
      substring(obj_description('api_unstable'::regnamespace, 'pg_namespace')
        from '(?n)^@floats +(.*)$'), ' +')
    union select unnest('{stock_valuation_reports,stock_valuation_report_lines,stock_value,
      stock_valuation_report_late_entries}'::text[])
  ) f (w);
  execute format('comment on schema api_unstable is %L', regexp_replace(
    obj_description('api_unstable'::regnamespace, 'pg_namespace'), '(?n)^@floats.*$', '@floats ' || words));
end
$$;
--!include valuation/proof.sql
--!include api/user_error_code.sql
--!include api/stock_valuation_reports.sql
--!include api/stock_valuation_report_lines.sql
--!include api/stock_valuation_report_faults.sql
--!include api/stock_valuation_report_late_entries.sql
--!include api/stock_valuation_report_payload.sql
--!include api/stock_valuation_report_create.sql
--!include api/stock_valuation_report_close.sql
--!include api/stock_valuation_report_void.sql
--!include valuation/stock_value.sql
--!include valuation/product_value.sql
--!include valuation/cost_of_order.sql
--!include valuation/margin_of_order.sql
--!include valuation/cost_of_fulfillment.sql
--!include api/stock_valuation.sql
--!include api/products_stock_value.sql
--!include api/orders_cost_of_goods.sql
--!include api/orders_margin.sql
--!include api/fulfillments_cost_of_goods.sql
--!include events/topics.sql

-- Booking of stock. Figures follow from the ledger by triggers, whoever inserts.
create table if not exists ledger.batch_stock (
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid not null references erp.batch on delete cascade,
  quantity integer not null default 0 constraint batch_stock_quantity_is_not_negative check (quantity >= 0),
  primary key (stock_id, batch_id)
);
create index if not exists batch_stock_batch_id_idx on ledger.batch_stock (batch_id);
alter table ledger.batch_stock enable row level security;
comment on table ledger.batch_stock is
  'How much of the stock in a place belongs to a batch. What belongs to none is the rest. Special places have none.';

drop view if exists ledger.proof;
drop view if exists ledger.flow cascade;
--!include views/flow.sql
-- The proof is made anew by 0900-proof.sql, when all that it compares is there

insert into ledger.batch_stock (stock_id, batch_id, quantity)
select s.id, b.batch_id, sum(f.direction * b.quantity)
from ledger.flow f join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id
join ledger.stock s on s.product_id = f.product_id and s.place = f.place
where f.location_type_technical_name <> 'special_stock_location'
group by s.id, b.batch_id
on conflict (stock_id, batch_id) do nothing;

create index if not exists stock_movement_product_id_created_at_idx on ledger.stock_movement (product_id, created_at);

drop type if exists ledger.line cascade;
drop type if exists ledger.named_place cascade;
drop type if exists ledger.draft cascade;
drop type if exists ledger.booking cascade;
create type ledger.line as (
  product_id uuid, source_warehouse_id uuid, source_bin_location_id uuid, destination_warehouse_id uuid, destination_bin_location_id uuid,
  quantity integer, batch_id uuid, expected_quantity integer, counted_at timestamptz
);
comment on type ledger.line is
  'A line of a mutation of stock. Where there is one place only, it is the source; quantity is then a target or, for adjustments, a change.';
create type ledger.named_place as (line bigint, name text, warehouse_id uuid, bin_location_id uuid);
comment on type ledger.named_place is 'A place of a line, with the name that the input gives it.';
create type ledger.draft as (
  field text[], product_id uuid, quantity integer, batch_id uuid, source_type text, source text, destination_type text, destination text, process text
);
comment on type ledger.draft is
  'A movement to be booked. source and destination are keys of places as in ledger.stock.place; field is where the input says the quantity, for user errors.';
create type ledger.booking as (stock_movements uuid[], stocks uuid[]);
comment on type ledger.booking is 'Ids of the movements that were booked and of the stock that they changed.';

--!include functions/ledger/lock.sql
--!include functions/ledger/place_of.sql
--!include functions/ledger/quantity_at.sql
--!include functions/ledger/keep_figures.sql
--!include functions/ledger/keep_saleable_stock.sql
--!include functions/ledger/fill_configured_stock.sql
--!include functions/ledger/require_empty_place.sql
--!include functions/ledger/post.sql
--!include functions/ledger/prepare.sql
--!include functions/ledger/set_stock.sql
--!include functions/ledger/adjust_stock.sql
--!include functions/ledger/transfer_stock.sql

create or replace trigger keep_figures after insert on ledger.stock_movement
  referencing new table as booked for each statement execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked for each statement execute function ledger.keep_batch_figures();
create or replace trigger keep_figures_first before update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale) execute function ledger.keep_saleable_stock();
create or replace trigger keep_figures after update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale) execute function ledger.keep_saleable_stock();
create or replace trigger keep_figures before insert on erp.product_warehouse_configuration
  for each row execute function ledger.fill_configured_stock();
create or replace trigger keep_figures before insert on erp.product_stock_location_configuration
  for each row execute function ledger.fill_configured_stock();
create or replace trigger require_empty_place before delete on erp.warehouse
  for each row execute function ledger.require_empty_place();
create or replace trigger require_empty_place before delete on erp.bin_location
  for each row execute function ledger.require_empty_place();
create or replace trigger require_empty_place_before_move before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.require_empty_place();

-- The ledger can be added to, and that is all.
select api_meta.allow('service_ledger', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'erp.product', 'select', 'update (physical_stock, stock_not_available_for_sale)');
select api_meta.allow('service_ledger', 'erp.batch', 'select', 'update (physical_stock)');
select api_meta.allow('service_ledger', 'erp.product_warehouse_configuration', 'select', 'update (stock)');
select api_meta.allow('service_ledger', 'erp.product_stock_location_configuration', 'select', 'update (stock)');
-- Postgres asks for the right to change something before it lets a role lock a row
select api_meta.allow('service_ledger', 'erp.warehouse', 'select', 'update (updated_at)');
select api_meta.allow('service_ledger', 'erp.bin_location', 'select', 'update (updated_at)');

select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.keep_figures()', 'ledger.keep_batch_figures()', 'ledger.keep_saleable_stock()', 'ledger.fill_configured_stock()',
  'ledger.post(ledger.draft[], text)', 'ledger.set_stock(ledger.line[], text)', 'ledger.adjust_stock(ledger.line[], text)',
  'ledger.transfer_stock(ledger.line[], text)']::regprocedure[]) routine;
grant select on ledger.flow to service_ledger;
grant execute on function ledger.lock(uuid[], uuid[], uuid[]), ledger.place_of(uuid, uuid), ledger.quantity_at(uuid, text, uuid),
  ledger.moved_since(uuid, text, uuid, timestamptz), ledger.prepare(ledger.line[], text) to service_ledger;
grant execute on function ledger.set_stock(ledger.line[], text), ledger.adjust_stock(ledger.line[], text),
  ledger.transfer_stock(ledger.line[], text) to service_writer;

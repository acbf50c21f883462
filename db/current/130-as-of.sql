-- Stock as of a moment or of the number of a movement, and stock cards, in the version unstable.
drop function if exists api_unstable.stocks_quantity_as_of, api_unstable.batch_stocks_quantity_as_of,
  api_unstable.warehouse_stocks_quantity_as_of, api_unstable.products_physical_stock_as_of,
  api_unstable.batches_physical_stock_as_of, api_unstable.warehouses_stocks_as_of,
  api_unstable.products_stock_card_lines, api_unstable.products_stock_card;
drop view if exists api_unstable.stock_card_lines;
drop function if exists ledger.batch_quantity_as_of, ledger.note_numbers, ledger.write_closing,
  ledger.bound_closings, ledger.next_month_end;
drop trigger if exists keep_former_place on erp.warehouse;
drop trigger if exists keep_former_place on erp.bin_location;
drop trigger if exists keep_former_place_of_moved on erp.bin_location;
drop trigger if exists keep_former_place on erp.goods_receipt;
drop trigger if exists keep_former_place on erp.return_order;
drop trigger if exists keep_former_place on erp.stock_container;
drop table if exists ledger.closing_batch_balance, ledger.closing_balance, ledger.closing,
  ledger.former_place, ledger.writing_since cascade;

create table ledger.former_place (
  movement_id uuid not null constraint former_place_movement_id_fkey
    references ledger.stock_movement on delete cascade not enforced,
  direction integer not null,
  place text collate "C" not null,
  warehouse_id uuid,
  code text collate "C",
  counted_at timestamptz,
  constraint former_place_pkey primary key (movement_id, direction)
);
alter table ledger.former_place enable row level security;
comment on table ledger.former_place is
  'Places of movements that were deleted since, or that are bins and were moved to another warehouse.';
comment on column ledger.former_place.movement_id is 'The movement.';
comment on column ledger.former_place.direction is
  '1 if the place was its destination, -1 if it was its source.';
comment on column ledger.former_place.place is 'Key of the place, as in ledger.stock.place.';
comment on column ledger.former_place.warehouse_id is
  'The warehouse, or the one in which the bin stood then. It may have been deleted, too.';
comment on column ledger.former_place.code is
  'Code of the bin or warehouse, or number of the goods receipt, return order or container.';
comment on column ledger.former_place.counted_at is
  'Moment of the count that the movement corrected, which was deleted with the place.';
select api_meta.allow('service_ledger', 'ledger.former_place', 'select', 'insert');
select api_meta.allow('service_recorder', 'ledger.former_place', 'select');

create table ledger.closing (
  id integer constraint closing_pkey primary key,
  sequence bigint not null constraint closing_sequence_key unique,
  least_id uuid,
  least_moment timestamptz,
  greatest_id uuid not null,
  greatest_moment timestamptz not null,
  least_id_after uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  least_moment_after timestamptz not null default 'infinity',
  closed_at timestamptz not null default clock_timestamp()
);
alter table ledger.closing enable row level security;
comment on table ledger.closing is
  'Closings of the ledger: its balances as of the number of a movement. Bounds say which movements can have '
  'been numbered, or have happened, before and after it.';
comment on column ledger.closing.id is 'Id of the closing.';
comment on column ledger.closing.sequence is
  'The last number that it includes (ledger.movement_sequence). Numbers do not change, so closings do not.';
comment on column ledger.closing.least_id is
  'The least id of the movements that it includes and the one before does not; null if there are none.';
comment on column ledger.closing.least_moment is 'The earliest moment of these movements.';
comment on column ledger.closing.greatest_id is 'The greatest id of the movements that it includes.';
comment on column ledger.closing.greatest_moment is 'The latest moment of the movements that it includes.';
comment on column ledger.closing.least_id_after is
  'The least id of the movements with later numbers; numbering lowers it.';
comment on column ledger.closing.least_moment_after is
  'The earliest moment of the movements with later numbers; numbering lowers it, for counts arrive late.';
comment on column ledger.closing.closed_at is 'When it was written.';
select api_meta.allow('service_ledger', 'ledger.closing', 'select');
select api_meta.allow('service_recorder', 'ledger.closing', 'select', 'insert',
  'update (least_id_after, least_moment_after)');

create table ledger.closing_balance (
  closing_id integer not null
    constraint closing_balance_closing_id_fkey references ledger.closing on delete cascade not enforced,
  product_id uuid not null
    constraint closing_balance_product_id_fkey references erp.product on delete cascade not enforced,
  place text collate "C" not null,
  location_type text collate "C" not null,
  warehouse_id uuid,
  quantity integer not null,
  constraint closing_balance_pkey primary key (closing_id, product_id, place)
);
create index closing_balance_product_id_idx on ledger.closing_balance (product_id);
alter table ledger.closing_balance enable row level security;
comment on table ledger.closing_balance is
  'Units of a product in a physical place at a closing; no row for none. Not in orders and special places. '
  'Goes with its product, stays when the place is deleted.';
comment on column ledger.closing_balance.closing_id is 'The closing.';
comment on column ledger.closing_balance.product_id is 'The product.';
comment on column ledger.closing_balance.place is
  'Key of the place, as in ledger.stock.place. It may have been deleted since.';
comment on column ledger.closing_balance.location_type is
  'Kind of place: warehouse, bin_location, return_order, goods_receipt or stock_container.';
comment on column ledger.closing_balance.warehouse_id is
  'The warehouse, or the one in which the bin stood. It may have been deleted since.';
comment on column ledger.closing_balance.quantity is 'Units in the place.';
select api_meta.allow('service_ledger', 'ledger.closing_balance', 'select');
select api_meta.allow('service_recorder', 'ledger.closing_balance', 'select', 'insert');

create table ledger.closing_batch_balance (
  closing_id integer not null
    constraint closing_batch_balance_closing_id_fkey references ledger.closing on delete cascade not enforced,
  batch_id uuid not null
    constraint closing_batch_balance_batch_id_fkey references erp.batch on delete cascade not enforced,
  place text collate "C" not null,
  location_type text collate "C" not null,
  warehouse_id uuid,
  quantity integer not null,
  constraint closing_batch_balance_pkey primary key (closing_id, batch_id, place)
);
create index closing_batch_balance_batch_id_idx on ledger.closing_batch_balance (batch_id);
alter table ledger.closing_batch_balance enable row level security;
comment on table ledger.closing_batch_balance is
  'Units of a batch in a physical place at a closing; no row for none.';
comment on column ledger.closing_batch_balance.closing_id is 'The closing.';
comment on column ledger.closing_batch_balance.batch_id is 'The batch.';
comment on column ledger.closing_batch_balance.place is
  'Key of the place, as in ledger.stock.place. It may have been deleted since.';
comment on column ledger.closing_batch_balance.location_type is
  'Kind of place: warehouse, bin_location, return_order, goods_receipt or stock_container.';
comment on column ledger.closing_batch_balance.warehouse_id is
  'The warehouse, or the one in which the bin stood. It may have been deleted since.';
comment on column ledger.closing_batch_balance.quantity is 'Units of the batch in the place.';
select api_meta.allow('service_ledger', 'ledger.closing_batch_balance', 'select');
select api_meta.allow('service_recorder', 'ledger.closing_batch_balance', 'select', 'insert');

create table ledger.writing_since (
  transaction_id bigint constraint writing_since_pkey primary key,
  moment timestamptz not null
);
create index writing_since_moment_idx on ledger.writing_since (moment);
comment on index ledger.writing_since_moment_idx is 'For ledger.note_writing.';
alter table ledger.writing_since enable row level security;
comment on table ledger.writing_since is
  'When transactions began to write, a few an hour: to say up to which moment no open transaction can have '
  'booked. Rows older than a week are deleted.';
comment on column ledger.writing_since.transaction_id is 'Number of a transaction.';
comment on column ledger.writing_since.moment is
  'Before it was given this number. So transactions with the same number, or a greater one, began to write '
  'later.';
select api_meta.allow('service_ledger', 'ledger.writing_since', 'select');
select api_meta.allow('service_recorder', 'ledger.writing_since', 'select', 'insert', 'delete');

select api_meta.allow('service_ledger', 'ledger.movement_sequence', 'select');
select api_meta.allow('service_recorder', 'ledger.stock_count', 'select (stock_movement_id, counted_at)');
select api_meta.allow('service_recorder', 'ledger.stock_movement_batch', 'select');
select api_meta.allow('service_recorder', 'erp.bin_location', 'select (id, warehouse_id)');
grant select on ledger.flow to service_recorder;
grant execute on function ledger.is_count(text, text, text) to service_recorder;
grant usage on schema erp to service_recorder;
grant usage on schema ledger to service_worker;

grant usage on schema auth to service_ledger;
--!include auth/has_scope.sql
--!include ledger/past_leg.sql
--!include ledger/keep_former_place.sql
create trigger keep_former_place before delete on erp.warehouse
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.bin_location
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place_of_moved before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.goods_receipt
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.return_order
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.stock_container
  for each row execute function ledger.keep_former_place();

--!include ledger/note_writing.sql
--!include ledger/note_numbers.sql
--!include ledger/number_movements.sql
--!include ledger/next_month_end.sql
--!include ledger/bound_closings.sql
--!include ledger/write_closing.sql
--!include ledger/close_next.sql
--!include ledger/closing_proof.sql
--!include ledger/proof.sql

--!include ledger/settled_until.sql
--!include ledger/span_of.sql
--!include ledger/quantity_as_of.sql
--!include ledger/batch_quantity_as_of.sql
--!include ledger/stock_card.sql
--!include api/stocks_quantity_as_of.sql
--!include api/batch_stocks_quantity_as_of.sql
--!include api/warehouse_stocks_quantity_as_of.sql
--!include api/products_physical_stock_as_of.sql
--!include api/batches_physical_stock_as_of.sql
--!include api/warehouses_stocks_as_of.sql
-- waive unique-key api_unstable.stock_card_lines: a movement has at most one line for each direction
--!include api/stock_card_lines.sql
--!include api/products_stock_card_lines.sql
--!include api/products_stock_card.sql

-- Reservations of stock: units that are promised at a place, for an order line or for anything else

drop view if exists api_unstable.stock_reservations cascade;
drop table if exists erp.stock_reservation cascade;
alter table erp.product drop column if exists allows_backorders cascade;
alter table erp.product add column allows_backorders boolean not null default false;
comment on column erp.product.allows_backorders is
  'Whether units may be reserved that are not there yet.';
select api_meta.allow('service_writer', 'erp.product', 'update (allows_backorders)');

create table erp.stock_reservation (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete set null,
  batch_id uuid references erp.batch on delete set null,
  order_line_item_id uuid references erp.sales_order_line_item on delete set null,
  quantity integer not null,
  open_quantity integer not null,
  state text collate "C" not null default 'active',
  expires_at timestamptz,
  reference text collate "C",
  note text collate "C",
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint stock_reservation_quantity_is_plausible
    check (quantity between 1 and 1000000000) not enforced,
  constraint stock_reservation_open_quantity_is_part_of_it
    check (open_quantity between 0 and quantity) not enforced,
  constraint stock_reservation_state_is_known
    check (state in ('active', 'consumed', 'released', 'expired')) not enforced,
  constraint stock_reservation_is_active_with_open_units
    check ((state = 'active') = (open_quantity > 0)) not enforced,
  constraint stock_reservation_reference_length check (length(reference) <= 255) not enforced,
  constraint stock_reservation_note_length check (length(note) <= 1000) not enforced
);
-- What counts, by product; the rest is history
create index stock_reservation_open_idx
  on erp.stock_reservation (product_id, warehouse_id) where open_quantity > 0;
create index stock_reservation_expires_at_idx
  on erp.stock_reservation (expires_at) where open_quantity > 0;
create index stock_reservation_product_id_id_idx on erp.stock_reservation (product_id, id);
create index stock_reservation_warehouse_id_id_idx on erp.stock_reservation (warehouse_id, id);
create index stock_reservation_bin_location_id_id_idx
  on erp.stock_reservation (bin_location_id, id) where bin_location_id is not null;
create index stock_reservation_batch_id_id_idx
  on erp.stock_reservation (batch_id, id) where batch_id is not null;
create index stock_reservation_order_line_item_id_id_idx
  on erp.stock_reservation (order_line_item_id, id) where order_line_item_id is not null;
comment on index erp.stock_reservation_open_idx is 'For ledger.free_units and ledger.expire_reservations.';
comment on index erp.stock_reservation_expires_at_idx is 'For ledger.expire_reservations.';
alter table erp.stock_reservation enable row level security;
comment on table erp.stock_reservation is
  'Units of a product that are promised at a place. Units for an order line are part of what the order has '
  'reserved; others add to it.';
comment on column erp.stock_reservation.product_id is 'Product that is reserved.';
comment on column erp.stock_reservation.warehouse_id is 'Warehouse that the units are promised at.';
comment on column erp.stock_reservation.bin_location_id is
  'Bin that the units are promised in; null if any place of the warehouse will do.';
comment on column erp.stock_reservation.batch_id is
  'Batch that is promised; null if any will do.';
comment on column erp.stock_reservation.order_line_item_id is
  'Order line that the units are for; null if they are for no order.';
comment on column erp.stock_reservation.quantity is 'Units that were reserved.';
comment on column erp.stock_reservation.open_quantity is
  'Units that are still reserved: neither consumed, nor released, nor expired.';
comment on column erp.stock_reservation.state is
  'active, or how the last units of it ended: consumed by a fulfillment order, released or expired.';
comment on column erp.stock_reservation.expires_at is
  'When the reservation ends by itself; null if never.';
comment on column erp.stock_reservation.reference is 'The caller''s own reference, such as a cart.';
comment on column erp.stock_reservation.note is 'Note of the caller.';
comment on constraint stock_reservation_quantity_is_plausible on erp.stock_reservation is
  '@internal ledger.check_reservations() refuses others';
comment on constraint stock_reservation_open_quantity_is_part_of_it on erp.stock_reservation is
  '@internal ledger.release_stock() refuses more';
comment on constraint stock_reservation_state_is_known on erp.stock_reservation is
  '@internal an enum in the API';
comment on constraint stock_reservation_is_active_with_open_units on erp.stock_reservation is
  '@internal the functions of ledger set both';
comment on constraint stock_reservation_reference_length on erp.stock_reservation is
  E'@userError OUT_OF_RANGE reference\nThe reference has more than 255 characters.';
comment on constraint stock_reservation_note_length on erp.stock_reservation is
  E'@userError OUT_OF_RANGE note\nThe note has more than 1,000 characters.';
select api_meta.allow('service_ledger', 'erp.stock_reservation', 'select', 'insert',
  'update (open_quantity, state, bin_location_id)');
select api_meta.allow('service_writer', 'erp.stock_reservation', 'select');

-- Functions
--!include ledger/uncovered_units.sql
--!include ledger/fit_reservations.sql
--!include ledger/consume_reservations.sql
--!include ledger/expire_reservations.sql
--!include ledger/require_open_lines.sql
--!include ledger/keep_reservation.sql
--!include ledger/keep_reservations_of_bin.sql
--!include ledger/change_promised_stock.sql
--!include ledger/keep_reservation_figures.sql
--!include ledger/keep_order_figures.sql
--!include ledger/keep_order_line_figures.sql
--!include ledger/keep_fulfillment_order_figures.sql
--!include ledger/keep_fulfillment_order_line_figures.sql
--!include ledger/write_assigned.sql
--!include ledger/sellable_units.sql
--!include ledger/reservation_line.sql
--!include ledger/free_units.sql
--!include ledger/check_reservations.sql
--!include ledger/check_reserved_things.sql
--!include ledger/unmet_units.sql
--!include ledger/refuse_reservations.sql
--!include ledger/reserve_stock.sql
--!include ledger/release_stock.sql
--!include erp/delete_warehouse.sql

create trigger keep_reservation before insert or update of product_id, warehouse_id, bin_location_id,
  batch_id, order_line_item_id on erp.stock_reservation
  for each row execute function ledger.keep_reservation();
create trigger touch_updated_at before update on erp.stock_reservation
  for each row execute function erp.touch_updated_at();
create trigger keep_figures_after_insert after insert on erp.stock_reservation
  referencing new table as new_rows for each statement execute function ledger.keep_reservation_figures();
create trigger keep_figures_after_update after update on erp.stock_reservation
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_reservation_figures();
create trigger keep_figures_after_delete after delete on erp.stock_reservation
  referencing old table as old_rows for each statement execute function ledger.keep_reservation_figures();
create or replace trigger keep_reservations after update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id)
  execute function ledger.keep_reservations_of_bin();

-- API
--!include ledger/allows_backorders.sql
--!include ledger/expected_units.sql
--!include ledger/missing_units.sql
--!include api/stock_reservation_state.sql
--!include api/stock_reservations.sql
--!include api/stock_reservations_missing_quantity.sql
drop function if exists api_unstable.products_allows_backorders(api_unstable.products);
--!include api/products_allows_backorders.sql
drop function if exists api_unstable.products_available_to_promise(api_unstable.products, date);
--!include api/products_available_to_promise.sql
drop function if exists
  api_unstable.warehouse_stocks_available_to_promise(api_unstable.warehouse_stocks, date);
--!include api/warehouse_stocks_available_to_promise.sql
--!include api/products_upsert.sql
--!include api/stock_reservation_payload.sql
--!include api/stock_reserve.sql
--!include api/stock_release.sql

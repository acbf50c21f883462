-- Batches on hold: what is held is not picked, not promised and not available

alter table erp.batch
  drop column if exists is_held cascade,
  drop column if exists held_at cascade,
  drop column if exists hold_reason cascade;
alter table erp.batch
  add column is_held boolean not null default false,
  add column held_at timestamptz(0),
  add column hold_reason text collate "C";
alter table erp.batch
  add constraint batch_is_held_since_a_moment check (is_held = (held_at is not null)) not enforced,
  add constraint batch_has_a_reason_only_on_hold check (is_held or hold_reason is null) not enforced,
  add constraint batch_hold_reason_length check (length(hold_reason) <= 1000) not enforced;
-- waive index-blocks-writes: it is built under the lock of the new columns, in about 0.1 s for 100,000 batches
create index batch_held_at_id_idx on erp.batch (held_at, id);
comment on column erp.batch.is_held is
  'Whether the batch is on hold: its units are not picked, not promised and not available.';
comment on column erp.batch.held_at is 'When the batch was put on hold; null when it is not on hold.';
comment on column erp.batch.hold_reason is 'Why the batch is on hold.';
comment on constraint batch_is_held_since_a_moment on erp.batch is
  '@internal erp.hold_batches() sets both';
comment on constraint batch_has_a_reason_only_on_hold on erp.batch is
  '@internal erp.hold_batches() clears the reason';
comment on constraint batch_hold_reason_length on erp.batch is
  '@internal erp.hold_batches() refuses longer ones';

alter table ledger.warehouse_stock drop column if exists held_quantity cascade;
alter table ledger.warehouse_stock add column held_quantity integer not null default 0;
alter table ledger.warehouse_stock
  drop constraint if exists warehouse_stock_held_quantity_is_not_negative,
  drop constraint if exists warehouse_stock_available_quantity_follows;
alter table ledger.warehouse_stock
  add constraint warehouse_stock_held_quantity_is_not_negative check (held_quantity >= 0) not enforced,
  add constraint warehouse_stock_available_quantity_follows
    check (available_quantity = quantity - reserved_quantity - held_quantity) not enforced;
comment on column ledger.warehouse_stock.held_quantity is
  'Units of batches that are on hold, in the warehouse and all its bins.';
comment on column ledger.warehouse_stock.available_quantity is
  'Quantity less reserved and held quantity. Negative when more was promised than there is.';
comment on constraint warehouse_stock_available_quantity_follows
  on ledger.warehouse_stock is E'@internal\n@keeps available_quantity';
comment on constraint warehouse_stock_held_quantity_is_not_negative on ledger.warehouse_stock is
  '@internal batches have no negative stock';
select api_meta.allow('service_booker', 'ledger.warehouse_stock', 'update (held_quantity)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (held_quantity)');
select api_meta.allow('service_writer', 'erp.batch', 'update (is_held, held_at, hold_reason)');

-- Movements that are inserted in SQL are counted before their batches are, so held units may exceed the stock
-- for a moment. ledger.proof compares the figure with the ledger.
alter table erp.product
  drop constraint if exists product_stock_not_for_sale_is_part_of_physical_stock,
  drop constraint if exists product_stock_not_for_sale_is_not_negative;
alter table erp.product add constraint product_stock_not_for_sale_is_not_negative
  check (stock_not_available_for_sale >= 0) not enforced;
comment on constraint product_stock_not_for_sale_is_not_negative on erp.product is
  '@internal The figure follows from the ledger.';

drop view if exists api_unstable.batches, api_unstable.warehouse_stocks;
--!include api/warehouse_stocks.sql

-- Figures
--!include ledger/place_change.sql
--!include ledger/examine.sql
--!include ledger/changed_parts.sql
--!include ledger/lock_stock.sql
--!include ledger/units_of_batches.sql
--!include ledger/change_held_stock.sql
--!include ledger/keep_held_stock.sql
--!include ledger/keep_batch_figures.sql
--!include ledger/keep_saleable_stock.sql
create or replace trigger keep_figures after update on erp.batch
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker') execute function ledger.keep_held_stock();

-- Putting batches on hold
--!include api/warning_code.sql
--!include ledger/warn_of_promises.sql
--!include ledger/warn_of_hold.sql
--!include erp/hold_batches.sql
--!include api/batch_hold.sql
--!include api/batch_release.sql

-- What shipping reads
--!include erp/other_location.sql

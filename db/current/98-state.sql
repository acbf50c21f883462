-- State of stock: what is in quality control, damaged or expired is not available; safety stock is kept back

alter table erp.bin_location drop column if exists stock_state cascade;
alter table erp.bin_location add column stock_state text collate "C" not null default 'sellable';
alter table erp.bin_location add constraint bin_location_stock_state_is_known
  check (stock_state in ('sellable', 'quality_control', 'damaged')) not valid;
comment on column erp.bin_location.stock_state is
  'State of the units in the bin. Unless it is sellable, they are not picked, not promised, not available.';
comment on constraint bin_location_stock_state_is_known on erp.bin_location is '@internal an enum in the API';
select api_meta.allow('service_writer', 'erp.bin_location', 'update (stock_state)');

alter table erp.batch
  drop column if exists stock_state cascade,
  drop column if exists is_expired cascade;
alter table erp.batch
  add column stock_state text collate "C" not null default 'sellable',
  add column is_expired boolean not null default false;
alter table erp.batch
  add constraint batch_stock_state_is_known
    check (stock_state in ('sellable', 'quality_control', 'damaged')) not enforced,
  add constraint batch_is_held_by_its_state check (is_held = (stock_state <> 'sellable')) not enforced;
-- waive index-blocks-writes: built under the lock of the new columns, in about 0.1 s for 100,000 batches
create index batch_is_expired_best_before_date_idx on erp.batch (is_expired, best_before_date);
comment on index erp.batch_is_expired_best_before_date_idx is 'For erp.expire_batches.';
comment on column erp.batch.stock_state is
  'State of the units of the batch. It is sellable unless the batch is on hold.';
comment on column erp.batch.is_expired is
  'Whether the best-before date has passed, in the merchant''s time zone: the units are not available. '
  'Follows within an hour of the day''s end.';
comment on constraint batch_stock_state_is_known on erp.batch is '@internal an enum in the API';
comment on constraint batch_is_held_by_its_state on erp.batch is
  '@internal erp.keep_batch_state() sets one by the other';
select api_meta.allow('service_writer', 'erp.batch', 'update (stock_state)');
select api_meta.allow('service_ledger', 'erp.batch', 'update (is_expired)');
-- The few that are on hold, found by the index of held_at
update erp.batch set stock_state = 'quality_control' where held_at is not null and is_held;

alter table erp.product_warehouse_configuration drop column if exists safety_stock cascade;
alter table erp.product_warehouse_configuration add column safety_stock integer not null default 0;
alter table erp.product_warehouse_configuration
  add constraint product_warehouse_configuration_safety_stock_is_plausible
    check (safety_stock between 0 and 10000000) not enforced;
comment on column erp.product_warehouse_configuration.safety_stock is
  'Units in the warehouse that are not offered for sale, because a count or a sale elsewhere may be late.';
comment on constraint product_warehouse_configuration_safety_stock_is_plausible
  on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE safety_stock\nThe safety stock must be from 0 to 10,000,000.';
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration', 'update (safety_stock)');

alter table ledger.warehouse_stock drop column if exists safety_stock cascade;
alter table ledger.warehouse_stock add column safety_stock integer not null default 0;
alter table ledger.warehouse_stock drop constraint if exists warehouse_stock_available_quantity_follows;
alter table ledger.warehouse_stock add constraint warehouse_stock_available_quantity_follows
  check (available_quantity = quantity - reserved_quantity - held_quantity
    - greatest(least(quantity - reserved_quantity - held_quantity, safety_stock), 0)) not enforced;
comment on column ledger.warehouse_stock.safety_stock is
  'Units that are kept back from sale, as far as they are there.';
comment on column ledger.warehouse_stock.held_quantity is
  'Units that cannot be sold, in the warehouse and all its bins. Their batch is on hold or has expired, or '
  'their bin is not sellable. Each counts once.';
comment on column ledger.warehouse_stock.available_quantity is
  'Units that can be sold: quantity less reserved, held and safety stock. The safety stock reduces it '
  'to 0 at most. Negative when more was promised than there is.';
comment on constraint warehouse_stock_available_quantity_follows
  on ledger.warehouse_stock is E'@internal\n@keeps available_quantity';
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (safety_stock)');

alter table erp.product drop column if exists safety_stock cascade;
alter table erp.product add column safety_stock integer not null default 0;
alter table erp.product drop constraint if exists product_available_stock_follows;
alter table erp.product add constraint product_available_stock_follows
  check (available_stock = physical_stock - stock_not_available_for_sale - reserved_stock
    - greatest(least(physical_stock - stock_not_available_for_sale - reserved_stock, safety_stock), 0))
    not enforced;
comment on column erp.product.safety_stock is
  'Safety stock of the warehouses that sell their stock together.';
comment on column erp.product.available_stock is
  'Units that can be sold: physical stock less the stock not for sale, the reserved stock and the safety '
  'stock. The safety stock reduces it to 0 at most. Negative when more was sold than there is.';
comment on constraint product_available_stock_follows on erp.product is E'@internal\n@keeps available_stock';
select api_meta.allow('service_ledger', 'erp.product', 'update (safety_stock)');
-- Among the figures, whose rules alone are checked when it changes (api_meta.upholding)
select api_meta.allow('service_booker', 'erp.product', 'update (safety_stock)');

-- Figures
--!include erp/keep_batch_state.sql
create or replace trigger keep_figures_of_state before insert or update of is_held, held_at, hold_reason,
  stock_state, best_before_date, is_expired on erp.batch for each row execute function erp.keep_batch_state();
--!include ledger/examine.sql
--!include ledger/plain_place.sql
--!include ledger/plain_singles.sql
--!include ledger/product_after.sql
--!include ledger/units_of_batches.sql
--!include ledger/keep_held_stock.sql
--!include ledger/keep_batch_figures.sql
--!include ledger/keep_figures.sql
--!include ledger/keep_saleable_stock.sql
--!include ledger/keep_bin_state.sql
create or replace trigger keep_figures_first before update of stock_state on erp.bin_location for each row
  when ((old.stock_state = 'sellable') <> (new.stock_state = 'sellable'))
  execute function ledger.keep_bin_state();
create or replace trigger keep_figures after update of stock_state on erp.bin_location for each row
  when ((old.stock_state = 'sellable') <> (new.stock_state = 'sellable'))
  execute function ledger.keep_bin_state();
--!include ledger/keep_safety_stock.sql
create or replace trigger keep_figures_of_safety_after_insert after insert
  on erp.product_warehouse_configuration for each row
  when (new.safety_stock > 0) execute function ledger.keep_safety_stock();
create or replace trigger keep_figures_of_safety_after_update after update of safety_stock, product_id,
  warehouse_id on erp.product_warehouse_configuration for each row
  when ((old.safety_stock, old.product_id, old.warehouse_id)
    is distinct from (new.safety_stock, new.product_id, new.warehouse_id))
  execute function ledger.keep_safety_stock();
create or replace trigger keep_figures_of_safety_after_delete after delete
  on erp.product_warehouse_configuration for each row
  when (old.safety_stock > 0) execute function ledger.keep_safety_stock();
--!include erp/expire_batches.sql

-- Picking and warnings
--!include ledger/pick_units.sql
--!include ledger/require_picked.sql
--!include erp/require_places.sql
--!include ledger/warn_of_promises.sql
--!include ledger/warn_of_hold.sql
--!include ledger/warn_of_bin_state.sql

-- API
--!include api/stock_state.sql
drop view if exists api_unstable.bin_locations, api_unstable.batches, api_unstable.warehouse_stocks,
  api_unstable.product_warehouse_configurations cascade;
--!include api/bin_locations.sql
--!include api/batches.sql
--!include api/batches_physical_stock_as_of.sql
--!include api/products_stock_card.sql
--!include api/products_stock_card_lines.sql
--!include api/warehouse_stocks.sql
--!include api/warehouse_stocks_quantity_as_of.sql
--!include api/warehouses_stocks_as_of.sql
--!include api/product_warehouse_configurations.sql
drop function if exists api_unstable.products_safety_stock(api_unstable.products);
--!include ledger/safety_stock_of.sql
--!include api/products_safety_stock.sql
--!include erp/create_bin_location.sql
--!include erp/update_bin_location.sql
--!include erp/set_product_warehouse_configuration.sql
--!include erp/hold_batches.sql
--!include api/bin_location_payload.sql
--!include api/bin_location_create.sql
--!include api/bin_location_update.sql
--!include api/product_warehouse_configuration_payload.sql
--!include api/product_warehouse_configuration_set.sql
--!include api/fulfillment_create.sql
--!include api/batch_hold.sql
--!include api/batch_release.sql

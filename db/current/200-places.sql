-- Containers as places of stock
drop view if exists api_unstable.stock_containers, api_unstable.stock_card_lines cascade;
drop trigger if exists keep_place on erp.stock_container;
drop trigger if exists keep_place_of_new on erp.stock_container;
drop trigger if exists require_empty_place on erp.stock_container;
drop trigger if exists touch_updated_at on erp.stock_container;
drop trigger if exists free_containers on erp.fulfillment_order;
drop function if exists ledger.lock_lines(ledger.line[]), ledger.lock_places(ledger.draft[]),
  ledger.lock(uuid[], uuid[], uuid[]), ledger.lock(uuid[], uuid[], uuid[], uuid[]),
  ledger.warn_of_bin_state(uuid);

alter table erp.stock_container drop constraint if exists stock_container_warehouse_id_fkey,
  drop constraint if exists stock_container_number_is_not_blank,
  drop constraint if exists stock_container_number_length,
  drop column if exists sscc cascade, drop column if exists kind cascade,
  drop column if exists bin_location_id cascade, drop column if exists fulfillment_order_id cascade,
  drop column if exists updated_at cascade;
alter table erp.stock_container
  add column sscc text collate "C", add column kind text collate "C" not null default 'box',
  add column bin_location_id uuid, add column fulfillment_order_id uuid,
  add column updated_at timestamptz(0);
alter table erp.stock_container
  add constraint stock_container_warehouse_id_fkey foreign key (warehouse_id) references erp.warehouse
    on delete restrict not valid,
  add constraint stock_container_bin_location_id_fkey foreign key (bin_location_id)
    references erp.bin_location on delete restrict not valid,
  add constraint stock_container_fulfillment_order_id_fkey foreign key (fulfillment_order_id)
    references erp.fulfillment_order on delete set null not valid,
  add constraint stock_container_number_is_not_blank check (not erp.is_blank(number)) not valid,
  add constraint stock_container_number_length check (length(number) <= 100) not valid,
  add constraint stock_container_kind_is_known check (kind in ('box', 'tote', 'pallet')) not valid;
comment on constraint stock_container_number_key on erp.stock_container is
  E'@userError NOT_UNIQUE number\nAnother container has this code.';
comment on constraint stock_container_number_is_not_blank on erp.stock_container is
  E'@userError INVALID number\nA container needs a code.';
comment on constraint stock_container_number_length on erp.stock_container is
  E'@userError OUT_OF_RANGE number\nThe code has more than 100 characters.';
comment on constraint stock_container_kind_is_known on erp.stock_container is
  '@internal An enum of the API.';
--!include erp/is_gs1_number.sql
alter table erp.stock_container
  add constraint stock_container_sscc_is_valid
    check (sscc ~ '^\d{18}$' and erp.has_check_digit(sscc)) not valid;
comment on constraint stock_container_sscc_is_valid on erp.stock_container is
  E'@userError INVALID sscc\nAn SSCC has 18 digits, and the last one is the check digit of the others.';
-- waive index-blocks-writes: containers are few
create unique index stock_container_sscc_is_unique on erp.stock_container (sscc) where sscc is not null;
-- waive index-blocks-writes: containers are few
create index stock_container_bin_location_id_idx on erp.stock_container (bin_location_id)
  where bin_location_id is not null;
-- waive index-blocks-writes: containers are few
create index stock_container_fulfillment_order_id_idx on erp.stock_container (fulfillment_order_id)
  where fulfillment_order_id is not null;
comment on index erp.stock_container_sscc_is_unique is
  E'@userError NOT_UNIQUE sscc\nAnother container has this SSCC.';
comment on table erp.stock_container is
  'Boxes, totes and pallets that stock lies in. A container in a warehouse is a part of it, like a bin.';
comment on column erp.stock_container.number is 'The code on the container.';
comment on column erp.stock_container.sscc is
  'SSCC of the container, the number of GS1 for a logistic unit: 18 digits.';
comment on column erp.stock_container.kind is 'Kind of container: box, tote or pallet.';
comment on column erp.stock_container.warehouse_id is
  'Warehouse that the container is in. Null only for old rows: their units count nowhere.';
comment on column erp.stock_container.bin_location_id is
  'Bin of the warehouse that the container stands in; null outside of bins.';
comment on column erp.stock_container.fulfillment_order_id is
  'Fulfillment order that the units in it are picked for; null when they are free.';
comment on column erp.stock_container.created_at is 'When the container was created.';
comment on column erp.stock_container.updated_at is 'When the container was last changed; null if never.';

alter table erp.stocktake_line drop constraint if exists stocktake_line_has_one_place,
  drop constraint if exists stocktake_line_names_its_place, drop column if exists stock_container_id cascade;
alter table erp.stocktake_count drop column if exists stock_container_id cascade;
alter table erp.stocktake_line add column stock_container_id uuid;
alter table erp.stocktake_count add column stock_container_id uuid;
alter table erp.stocktake_line
  add constraint stocktake_line_stock_container_id_fkey foreign key (stock_container_id)
    references erp.stock_container on delete set null not valid,
  add constraint stocktake_line_has_one_place
    check (num_nonnulls(warehouse_id, bin_location_id, stock_container_id) <= 1) not valid,
  add constraint stocktake_line_names_its_place
    check (state in ('approved', 'cancelled')
      or coalesce(place = coalesce(stock_container_id, bin_location_id, warehouse_id)::text, false))
    not valid;
alter table erp.stocktake_count
  add constraint stocktake_count_stock_container_id_fkey foreign key (stock_container_id)
    references erp.stock_container on delete set null not valid;
-- waive index-blocks-writes: no row has a container yet, and only stocktakes wait
create index stocktake_line_stock_container_id_idx on erp.stocktake_line (stock_container_id)
  where stock_container_id is not null;
-- waive index-blocks-writes: no row has a container yet, and only stocktakes wait
create index stocktake_count_stock_container_id_idx on erp.stocktake_count (stock_container_id)
  where stock_container_id is not null;
comment on column erp.stocktake_line.stock_container_id is 'The container, if the position is in one.';
comment on column erp.stocktake_count.stock_container_id is 'The container, if it is one.';
comment on constraint stocktake_line_has_one_place on erp.stocktake_line is
  '@internal A position is in a bin, in a container, or outside of both.';
comment on constraint stocktake_line_names_its_place on erp.stocktake_line is
  E'@userError REFERENCE_IN_USE id\nA stocktake that is not finished counts this place.';
-- The migration before this one makes it concurrently. If that failed half-way, an invalid index is left
do $$
begin
  if exists (select from pg_index i where i.indexrelid = to_regclass('ledger.stock_in_places_idx')
    and not i.indisvalid) then
    raise exception 'Run drop index concurrently ledger.stock_in_places_idx, and migrate again.';
  end if;
end
$$;
-- waive index-blocks-writes: it is there, unless an invalid one was dropped
create index if not exists stock_in_places_idx on ledger.stock (product_id)
  where location_type_technical_name in ('warehouse', 'bin_location', 'stock_container');
comment on index ledger.stock_in_places_idx is
  'For picks, promises and batches: where a product lies, without the thousands of orders that have it.';

alter type ledger.line drop attribute if exists source_stock_container_id cascade,
  drop attribute if exists destination_stock_container_id cascade;
alter type ledger.line add attribute source_stock_container_id uuid,
  add attribute destination_stock_container_id uuid;
alter type ledger.named_place drop attribute if exists stock_container_id cascade;
alter type ledger.named_place add attribute stock_container_id uuid;

select api_meta.allow('service_writer', 'erp.stock_container', 'select', 'insert', 'delete',
  'update (number, kind, sscc, warehouse_id, bin_location_id, fulfillment_order_id, updated_at)');
select api_meta.allow('service_ledger', 'erp.stock_container', 'select',
  'update (fulfillment_order_id, updated_at)');
select api_meta.allow('service_booker', 'erp.stock_container', 'select');
select api_meta.allow('service_recorder', 'erp.stock_container', 'select');
select api_meta.allow('service_registrar', 'erp.stock_container', 'select');

--!include ledger/site.sql
--!include ledger/lock.sql
--!include ledger/lock_lines.sql
--!include ledger/lock_places.sql
--!include ledger/lock_shipment.sql
--!include ledger/lock_way_back.sql
--!include ledger/named_places.sql
--!include ledger/is_malformed.sql
--!include ledger/check_form.sql
--!include ledger/check_references.sql
--!include ledger/check_containers.sql
--!include ledger/check_expectations.sql
--!include ledger/prepare.sql
--!include ledger/read_counts.sql
--!include ledger/examine.sql
--!include ledger/keep_figures.sql
--!include ledger/keep_batch_figures.sql
--!include ledger/write_batch_figures.sql
--!include ledger/units_of_batches.sql
--!include ledger/stock_of_bin.sql
--!include ledger/turn_stock.sql
--!include ledger/keep_bin_state.sql
--!include ledger/keep_container_place.sql
--!include ledger/free_containers.sql
--!include ledger/keep_former_place.sql
--!include ledger/require_empty_place.sql
--!include ledger/warn_of_lost_stock.sql
--!include ledger/sellable_units.sql
--!include ledger/own_picks.sql
--!include ledger/pick_units.sql
--!include ledger/require_picked.sql
--!include ledger/past_leg.sql
--!include ledger/quantity_as_of.sql
--!include ledger/batch_quantity_as_of.sql
--!include ledger/stock_card.sql
--!include api/stock_card_lines.sql
--!include ledger/proof.sql
--!include valuation/shares.sql
--!include mutation/joint_calls.sql
--!include erp/update_bin_location.sql
--!include erp/stocktake_reading.sql
--!include erp/check_stocktake_readings.sql
--!include erp/new_readings.sql
--!include erp/take_counts.sql
--!include erp/add_found_lines.sql
--!include erp/submit_stocktake_sheet.sql
--!include erp/add_stocktake_lines.sql
--!include erp/add_stocktake_sheets.sql
--!include erp/book_stocktake_lines.sql
--!include administration/report_stocktake.sql
--!include erp/require_container_place.sql
--!include erp/create_stock_container.sql
--!include erp/update_stock_container.sql
--!include erp/move_stock_container.sql
--!include erp/delete_stock_container.sql

create trigger keep_place_of_new before insert on erp.stock_container
  for each row execute function ledger.keep_container_place();
create trigger keep_place before update of warehouse_id, bin_location_id, fulfillment_order_id
  on erp.stock_container for each row
  when ((old.warehouse_id, old.bin_location_id, old.fulfillment_order_id)
    is distinct from (new.warehouse_id, new.bin_location_id, new.fulfillment_order_id))
  execute function ledger.keep_container_place();
create trigger require_empty_place before delete on erp.stock_container
  for each row execute function ledger.require_empty_place();
create trigger touch_updated_at before update on erp.stock_container
  for each row execute function erp.touch_updated_at();
create trigger free_containers after update of state on erp.fulfillment_order
  for each row when (old.state <> new.state and new.state in ('Closed', 'Cancelled'))
  execute function ledger.free_containers();

--!include api/stock_container_kind.sql
--!include api/stock_containers.sql
--!include api/stocks.sql
--!include api/stock_movements.sql
--!include api/stocktake_lines.sql
--!include api/stocktake_counts.sql
drop function if exists api_unstable.stocktake_sheets_open_count(api_unstable.stocktake_sheets);
--!include api/stocktake_sheets_open_count.sql
--!include api/stocktakes_progress.sql
--!include api/stock_place_input.sql
--!include api/stock_reserve.sql
--!include api/put_away_input.sql
--!include api/goods_receipt_complete.sql
--!include api/stocktake_sheet_submit.sql
--!include api/stock_container_payload.sql
--!include api/stock_container_create.sql
--!include api/stock_container_update.sql
--!include api/stock_container_move.sql
--!include api/stock_container_delete.sql

-- The frozen version names no containers. Its calls make the same lines as before.

-- waive frozen-version api_2026_06_unstable.stock_adjust(input api_2026_06_unstable.stock_adjust_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.stock_set(input api_2026_06_unstable.stock_set_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.stock_transfer(input api_2026_06_unstable.stock_transfer_input): lines without containers, as before.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('stock_adjust', 'stock_set', 'stock_transfer')
      and p.prosrc ~ '::ledger\.line' and p.prosrc !~ 'null, null\)::ledger\.line'
  loop
    execute replace(definition, ')::ledger.line', ', null, null)::ledger.line');
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

-- Units in containers of a warehouse count from now on, also the ones that are there already
do $$
declare
  products constant uuid[] := array(
    select distinct s.product_id from ledger.stock s
    join erp.stock_container c on c.id = s.stock_container_id and c.warehouse_id is not null);
begin
  perform ledger.lock(products);
  update ledger.closing_balance b set warehouse_id = c.warehouse_id
  from ledger.stock s join erp.stock_container c on c.id = s.stock_container_id, ledger.closing k
  where b.closing_id = k.id and b.product_id = s.product_id and b.place = s.place
    and b.warehouse_id is distinct from c.warehouse_id;
  update ledger.closing_batch_balance b set warehouse_id = c.warehouse_id
  from ledger.stock s join erp.stock_container c on c.id = s.stock_container_id
  join ledger.batch_stock u on u.stock_id = s.id, ledger.closing k
  where b.closing_id = k.id and b.batch_id = u.batch_id and b.place = s.place
    and b.warehouse_id is distinct from c.warehouse_id;

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct s.product_id, c.warehouse_id from ledger.stock s
  join erp.stock_container c on c.id = s.stock_container_id
  where c.warehouse_id is not null
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock w set quantity = x.quantity, held_quantity = x.held
  from (
    select s.product_id, t.warehouse_id, sum(s.quantity) as quantity,
      sum(case when t.is_sellable then u.held else s.quantity end) as held
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    cross join lateral (
      select coalesce(sum(n.quantity), 0) as held from ledger.batch_stock n
      join erp.batch b on b.id = n.batch_id where n.stock_id = s.id and (b.is_held or b.is_expired)) u
    where s.product_id = any (products) and t.warehouse_id is not null
    group by s.product_id, t.warehouse_id
  ) x
  where w.product_id = x.product_id and w.warehouse_id = x.warehouse_id
    and (w.quantity, w.held_quantity) <> (x.quantity, x.held);
  update erp.product_warehouse_configuration c set stock = w.quantity
  from ledger.warehouse_stock w
  where w.product_id = any (products) and c.product_id = w.product_id and c.warehouse_id = w.warehouse_id
    and c.stock <> w.quantity;
  update erp.product p
  set physical_stock = x.quantity, stock_not_available_for_sale = x.not_for_sale
  from (
    select w.product_id, sum(w.quantity)::integer as quantity,
      sum(case when h.is_stock_available_for_sale then w.held_quantity else w.quantity end)::integer
        as not_for_sale
    from ledger.warehouse_stock w join erp.warehouse h on h.id = w.warehouse_id
    where w.product_id = any (products) group by w.product_id
  ) x
  where p.id = x.product_id
    and (p.physical_stock, p.stock_not_available_for_sale) <> (x.quantity, x.not_for_sale);
  update erp.batch b set physical_stock = x.quantity
  from (
    select u.batch_id, sum(u.quantity) as quantity
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    join ledger.batch_stock u on u.stock_id = s.id
    where s.product_id = any (products) and t.warehouse_id is not null group by u.batch_id
  ) x
  where b.id = x.batch_id and b.physical_stock <> x.quantity;
end
$$;

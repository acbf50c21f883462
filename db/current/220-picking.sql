-- Picking: waves of fulfillment orders become pick lists, which people work through with scanners.

select api_meta.allow('service_writer', 'erp.stock_container', 'select', 'insert', 'delete',
  'update (number, kind, sscc, warehouse_id, bin_location_id, fulfillment_order_id, updated_at)');

drop function if exists api_unstable.propose_cycle_counts(uuid, integer, integer, integer);

drop type if exists erp.scanned_code cascade;
create type erp.scanned_code as (
  text text, gtin text, batch text, best_before date, serial text, count integer, sscc text
);
comment on type erp.scanned_code is
  'A scanned code, as src/codes reads it: the whole text, and what it contains by the rules of GS1. The '
  'GTIN has 14 digits, or it is null, like everything that the code lacks.';
drop type if exists erp.pick_round cascade;
create type erp.pick_round as (assignee text, stock_container_ids uuid[]);
comment on type erp.pick_round is
  'A pick list to be made: who picks, and the containers on the cart. Without containers the service uses '
  'its own.';
drop type if exists erp.parcel_line cascade;
create type erp.parcel_line as (parcel bigint, nth bigint, id uuid, quantity integer);
comment on type erp.parcel_line is
  'Units of a line of a fulfillment order in a parcel: the numbers of both in the input, the line and the '
  'units.';

--!include erp/end_pick_task.sql
--!include erp/settle_pick_task.sql
--!include erp/keep_picks_of_order.sql
--!include ledger/place_of.sql
--!include ledger/take_back.sql
--!include ledger/planned_picks.sql
--!include ledger/plan_picks.sql
--!include ledger/planned_units.sql
--!include ledger/warn_of_picks.sql
--!include ledger/free_units.sql
--!include ledger/unmet_units.sql
--!include ledger/plain_place.sql
--!include ledger/plain_singles.sql
--!include ledger/ship.sql
--!include ledger/book.sql
--!include erp/cycle_counts.sql
--!include api/propose_cycle_counts.sql
--!include erp/scanned_products.sql
--!include erp/place_of_pick.sql
--!include erp/lock_pick_line.sql
--!include erp/check_pick_code.sql
--!include erp/check_pick_place.sql
--!include erp/confirm_pick.sql
--!include erp/report_short.sql
--!include erp/pick_candidates.sql
--!include erp/pick_containers.sql
--!include erp/lock_pick_containers.sql
--!include erp/lock_pick_orders.sql
--!include erp/write_pick_list.sql
--!include erp/units_to_pick.sql
--!include erp/warn_of_unplanned.sql
--!include erp/create_pick_lists.sql
--!include erp/lock_pick_list.sql
--!include erp/start_pick_list.sql
--!include erp/parcel_picks.sql
--!include erp/check_parcels.sql
--!include erp/require_packable.sql
--!include erp/lines_of_parcels.sql
--!include erp/pack_pick_task.sql
--!include erp/cancel_pick_list.sql
--!include erp/set_product_gtins.sql
--!include api/pick_tasks.sql
--!include api/pick_list_lines.sql
--!include api/product_gtins.sql
--!include api/pick_lists_progress.sql
--!include api/pick_list_payload.sql
--!include api/pick_list_line_payload.sql
--!include api/pick_lists_create.sql
--!include api/pick_list_start.sql
--!include api/pick_list_line_confirm.sql
--!include api/pick_list_line_short.sql
--!include api/pick_list_pack.sql
--!include api/pick_list_cancel.sql
--!include api/product_gtins_set.sql

create trigger keep_picks after update of state, source_warehouse_location_id on erp.fulfillment_order
for each row when (new.state = 'Cancelled' and old.state <> 'Cancelled'
  or new.source_warehouse_location_id is distinct from old.source_warehouse_location_id)
execute function erp.keep_picks_of_order();
create trigger keep_picks after update of quantity, fulfilled_quantity on erp.fulfillment_order_line_item
for each row when (new.quantity - new.fulfilled_quantity < old.quantity - old.fulfilled_quantity)
execute function erp.keep_picks_of_line();
create trigger keep_line_open before update of fulfillment_order_line_item_id on erp.pick_list_line
for each row when (new.fulfillment_order_line_item_id is null and old.state = 'open')
execute function erp.drop_pick_line();
create trigger settle_task after update of state, packed_quantity on erp.pick_list_line
for each row execute function erp.settle_pick_task();
create trigger end_task after update of state on erp.pick_task
for each row when (old.state = 'open' and new.state <> 'open') execute function erp.end_pick_task();

-- Goods receipts put units into containers, and shipments take them from there
alter type erp.placement drop attribute if exists stock_container_id cascade;
alter type erp.placement add attribute stock_container_id uuid;
alter type erp.shipping_place drop attribute if exists stock_container_id cascade;
alter type erp.shipping_place add attribute stock_container_id uuid;

drop view if exists api_unstable.goods_receipt_line_items cascade;
alter table erp.goods_receipt_line_item drop column if exists destination_stock_container_id cascade;
alter table erp.goods_receipt_line_item add column destination_stock_container_id uuid;
alter table erp.goods_receipt_line_item
  add constraint goods_receipt_line_item_destination_stock_container_id_fkey
  foreign key (destination_stock_container_id) references erp.stock_container on delete set null not valid;
comment on column erp.goods_receipt_line_item.destination_stock_container_id is
  'The container that the units are to be put into, or are taken from if they are negative.';
-- waive index-blocks-writes: the index has no rows, and receipts wait a moment.
create index on erp.goods_receipt_line_item (destination_stock_container_id)
  where destination_stock_container_id is not null;
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item',
  'update (destination_stock_container_id)');
alter type erp.goods_receipt_line drop attribute if exists destination_stock_container_id cascade;
alter type erp.goods_receipt_line add attribute destination_stock_container_id uuid;

--!include ledger/place_columns.sql
--!include ledger/lock_places.sql
--!include ledger/check_containers.sql
--!include ledger/require_picked.sql
--!include erp/put_away_place.sql
--!include erp/check_line_containers.sql
--!include erp/faults_of_things_named.sql
--!include erp/resolve_goods_receipt_lines.sql
--!include erp/set_goods_receipt_lines.sql
--!include erp/settle_receipt_lines.sql
--!include erp/update_goods_receipt.sql
--!include erp/approve_goods_receipt.sql
--!include erp/import_goods_receipts.sql
--!include erp/check_placements.sql
--!include erp/put_away_drafts.sql
--!include erp/keep_outcomes.sql
--!include erp/complete_goods_receipt.sql
--!include erp/require_shipping_lines.sql
--!include erp/picks_of.sql
--!include erp/faults_of_shipping_containers.sql
--!include erp/require_places.sql
--!include erp/import_stocks.sql
--!include ledger/place_name.sql
--!include administration/report_stock_card.sql
--!include administration/report_trace.sql
--!include api/stock_place_input.sql
--!include api/put_away_input.sql
--!include api/goods_receipt_line_items.sql
--!include api/return_orders_goods_receipts.sql
--!include api/goods_receipt_line_input.sql
--!include api/goods_receipt_create.sql
--!include api/goods_receipt_line_items_set.sql
--!include api/goods_receipt_approve.sql
--!include api/goods_receipt_complete.sql
--!include api/goods_receipts_upsert.sql
--!include api/fulfillment_create.sql
--!include api/stock_adjust.sql
--!include api/stock_set.sql
--!include api/stock_transfer.sql
--!include api/stock_reserve.sql
--!include api/stocks_upsert.sql
--!include api/stocktake_sheet_submit.sql

-- The frozen version names no containers. Its calls make the same places as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_complete(input api_2026_06_unstable.goods_receipt_complete_input): places without containers, as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_create(input api_2026_06_unstable.goods_receipt_create_input, changes jsonb): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_line_items_set(input api_2026_06_unstable.goods_receipt_line_items_set_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.fulfillment_create(input api_2026_06_unstable.fulfillment_create_input): places without containers, as before.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('goods_receipt_complete', 'goods_receipt_create', 'goods_receipt_line_items_set',
        'fulfillment_create')
      and p.prosrc !~ 'null\)::erp\.(placement|shipping_place|goods_receipt_line)'
  loop
    execute regexp_replace(definition, '\)::erp\.(placement|shipping_place|goods_receipt_line)',
      ', null)::erp.\1');
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

-- What processes may be used for
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
drop function if exists ledger.adjust_stock(ledger.line[], text, text, text),
  ledger.adjust_stock(ledger.line[], text, text, text, text),
  ledger.set_stock(ledger.line[], text, text, text, text),
  ledger.set_stock(ledger.line[], text, text, text, text, text),
  ledger.transfer_stock(ledger.line[], text, text, text),
  ledger.transfer_stock(ledger.line[], text, text, text, text),
  ledger.ship(uuid, ledger.pick[], uuid[], text), ledger.ship(uuid, ledger.pick[], uuid[], text, text),
  erp.ship(uuid, ledger.pick[], uuid[], text[], text),
  erp.ship(uuid, ledger.pick[], uuid[], text[], text, text),
  erp.complete_shipment(uuid, text[], text[], text, uuid),
  erp.complete_shipment(uuid, text[], text[], text, uuid, text),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[], text);
alter table ledger.process_type drop constraint if exists process_type_can_require_a_reason;
alter table ledger.process_type drop column if exists uses cascade;

-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add column uses text[] not null default '{}'
  constraint process_type_uses_are_known
    check (uses <@ '{incoming,outgoing,count,relocation,shipping}' and array_position(uses, null) is null);
comment on column ledger.process_type.uses is
  'Uses that calls may name the process for. incoming and outgoing: stockAdjust, by the direction of its '
  'lines. count: stockSet. relocation: stockTransfer. shipping: orderShipmentComplete and fulfillmentCreate. '
  'Empty for processes that only follow from documents.';
comment on constraint process_type_uses_are_known on ledger.process_type is
  '@internal Only people who write SQL change processes.';
update ledger.process_type t set uses = v.uses
from (values ('api', array['count']), ('stocktaking', '{count}'),
  ('api_incoming', '{incoming}'), ('incoming', '{incoming}'), ('csv_import_incoming', '{incoming}'),
  ('api_outgoing', '{outgoing}'), ('outgoing', '{outgoing}'), ('csv_import_outgoing', '{outgoing}'),
  ('api_relocation', '{relocation}'), ('relocation', '{relocation}'),
  ('api_shipping', '{shipping}'), ('shipping', '{shipping}'), ('shipped_automatically', '{shipping}')
) v (name, uses)
where t.technical_name = v.name;
-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add constraint process_type_can_require_a_reason
  check (not requires_reason
    or uses && '{incoming,outgoing,count,relocation}' and technical_name <> 'relocation');
comment on constraint process_type_can_require_a_reason on ledger.process_type is
  '@internal Only people who write SQL change processes. Picking books relocations, and knows no reason.';
comment on column ledger.process_type.requires_reason is
  'Whether bookings by this process need a reason. Only stockAdjust, stockSet, stockTransfer, stocktakes and '
  'imports of stock can give one.';
insert into ledger.special_stock_location (technical_name) values ('count_correction') on conflict do nothing;

--!include ledger/is_count.sql
--!include ledger/check_process.sql
--!include ledger/by_process.sql
--!include ledger/adjust_stock.sql
--!include ledger/set_stock.sql
--!include ledger/transfer_stock.sql
--!include ledger/check_variants.sql
--!include ledger/warn_of_promises.sql
--!include ledger/epcis_step.sql
--!include erp/ship.sql
--!include erp/complete_shipment.sql
--!include erp/create_fulfillment.sql
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
deferrable initially deferred for each row
when (current_user <> 'service_booker' and (new.process_type_technical_name in ('api', 'stocktaking')
  or new.source_special_stock_location_technical_name = 'count_correction'
  or new.destination_special_stock_location_technical_name = 'count_correction'))
execute function ledger.keep_count();
--!include api/batch_origins.sql
--!include api/batch_removals.sql
--!include api/stock_adjust.sql
--!include api/stock_set.sql
--!include api/stock_transfer.sql
--!include api/order_shipment_complete.sql
--!include api/fulfillment_create.sql

-- Packs of suppliers
alter table erp.product_supplier_configuration drop column if exists units_per_pack cascade;
alter table erp.product_supplier_configuration add column units_per_pack integer;
alter table erp.product_supplier_configuration add constraint product_supplier_units_per_pack_are_positive
  check (units_per_pack > 0) not valid;
comment on column erp.product_supplier_configuration.units_per_pack is
  'Units of the product in a pack of the supplier; null when it sells single units.';
comment on constraint product_supplier_units_per_pack_are_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE units_per_pack\nA pack has at least 1 unit.';
select api_meta.allow('service_writer', 'erp.product_supplier_configuration', 'update (units_per_pack)');

-- Rows of files that book
select api_meta.allow('service_writer', 'ledger.booking', 'select');
--!include erp/goods_receipt_process.sql
--!include erp/create_goods_receipt.sql
--!include erp/import_stocks.sql
--!include erp/import_goods_receipts.sql
--!include api/stocks_upsert.sql
--!include api/goods_receipts_upsert.sql

-- Remedies for what used to be dead ends
drop view if exists api_unstable.product_supplier_configurations;
--!include erp/units_of_line.sql
--!include erp/create_product_supplier_configuration.sql
--!include erp/update_product_supplier_configuration.sql
--!include api/product_supplier_configurations.sql
--!include api/product_supplier_configuration_create.sql
--!include api/product_supplier_configuration_update.sql
--!include api/supplier_order_line_input.sql
--!include api/goods_receipt_line_input.sql
--!include api/goods_receipt_create.sql
--!include api/goods_receipt_line_items_set.sql
--!include erp/with_tracking.sql
--!include erp/set_lines_of_goods_receipt.sql
select api_meta.allow('service_writer', 'erp.document', 'update (sent)');
--!include erp/mark_document.sql
--!include api/document_update.sql
select api_meta.allow('service_writer', 'erp.bin_location', 'update (warehouse_id)');
--!include erp/move_bin_location.sql
--!include api/bin_location_move.sql
--!include valuation/keep_prices.sql
--!include erp/set_prices_of_goods_receipt.sql
--!include api/goods_receipt_prices_set.sql
--!include erp/with_lines_of_batches.sql
--!include erp/check_found_units.sql
--!include erp/recount_stocktake.sql
--!include erp/approve_stocktake.sql
--!include erp/require_approvable.sql
--!include erp/about_stocktake_lines.sql

-- Traces of batches, recall lists, and events of EPCIS

drop view if exists api_unstable.batch_shipments, api_unstable.batch_origins, api_unstable.batch_removals,
  api_unstable.batch_traces, api_unstable.epcis_records;
drop function if exists ledger.shipment_parcels(uuid, uuid);
drop function if exists ledger.delivered_orders(uuid, uuid);
drop function if exists ledger.epcis_step(text, text, text, text);
drop function if exists ledger.epcis_site(uuid, uuid, uuid);
drop function if exists ledger.epcis_quantities(uuid, text, integer);
drop function if exists ledger.epcis_transactions(text, uuid, uuid, uuid, uuid, uuid, uuid);

--!include erp/is_gs1_number.sql
--!include erp/in_uri.sql

alter table erp.warehouse drop column if exists gln cascade;
alter table erp.warehouse add column gln text collate "C";
alter table erp.warehouse add constraint warehouse_gln_has_its_check_digit
  check (length(gln) = 13 and erp.is_gs1_number(gln)) not valid;
comment on column erp.warehouse.gln is
  'Global Location Number of GS1: 13 digits, of which the last one is the check digit.';
comment on constraint warehouse_gln_has_its_check_digit on erp.warehouse is
  E'@userError INVALID gln\nA GLN has 13 digits, and the last one must be the check digit of the others.';
select api_meta.allow('service_writer', 'erp.warehouse', 'update (gln)');

drop function if exists erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb);
--!include erp/create_warehouse.sql
--!include erp/update_warehouse.sql
drop view if exists api_unstable.warehouses;
--!include api/warehouses.sql
--!include api/warehouse_create.sql
--!include api/warehouse_update.sql
--!include api/warehouses_upsert.sql

--!include ledger/shipment_parcels.sql
--!include ledger/delivered_orders.sql
--!include api/batch_traces.sql
--!include api/batch_shipments.sql
--!include api/batch_origins.sql
--!include api/batch_removals.sql

--!include ledger/epcis_step.sql
--!include ledger/epcis_site.sql
--!include ledger/epcis_quantities.sql
--!include ledger/epcis_transactions.sql
--!include api/epcis_records.sql

-- A text with a check of its length needs no second refusal for its index
--!include mutation/faults_of_columns.sql
drop index if exists erp.batch_best_before_date_id_idx;
drop index if exists erp.batch_supplier_lot_id_idx;
-- waive index-blocks-writes: 100,000 batches take a tenth of a second
create index batch_best_before_date_id_idx on erp.batch (best_before_date, id);
-- waive index-blocks-writes: 100,000 batches take a tenth of a second
create index batch_supplier_lot_id_idx on erp.batch (supplier_lot, id);
drop view if exists api_unstable.batches;
--!include api/batches.sql

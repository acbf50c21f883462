-- Tracking of products, serial numbers, shelf life, and pick order

-- Picking reads the pick order and the time zone
select api_meta.allow('service_ledger', 'erp.merchant', 'select');
--!include erp/local_date.sql

drop view if exists api_unstable.batches;
--!include api/fulfillment_create.sql
--!include api/fulfillment_cancel.sql
--!include api/goods_receipt_approve.sql
--!include api/order_shipment_complete.sql

--!include erp/with_tracking.sql
--!include erp/upsert_products.sql
--!include erp/faults_of_things_named.sql
--!include erp/require_places.sql
--!include erp/create_fulfillment.sql
--!include ledger/require_serial_numbers.sql
--!include ledger/require_batches.sql
--!include ledger/pick_units.sql
--!include ledger/require_picked.sql
--!include ledger/ship.sql

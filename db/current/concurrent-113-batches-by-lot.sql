--! no-transaction
-- For filters by the lot, which serial numbers and batches may have in common
create index concurrently batch_supplier_lot_id_idx on erp.batch (supplier_lot, id);

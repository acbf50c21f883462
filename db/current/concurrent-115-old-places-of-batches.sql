--! no-transaction
drop index concurrently if exists ledger.batch_stock_batch_id_idx;

--! no-transaction
drop index concurrently ledger.batch_stock_batch_id_idx;

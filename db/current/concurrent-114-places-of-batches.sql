--! no-transaction
-- The places of a batch in their order, in place of batch_stock_batch_id_idx
create index concurrently batch_stock_batch_id_stock_id_idx on ledger.batch_stock (batch_id, stock_id);

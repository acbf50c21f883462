--! no-transaction
-- For filters and orders by best-before date
create index concurrently batch_best_before_date_id_idx on erp.batch (best_before_date, id);

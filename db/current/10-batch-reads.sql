--! Message: Batches in reads, with dates and mutations

-- Batches of stock, of movements and of the lines of fulfillments, in the version unstable.

--!include api_meta/read_policy.sql
--!include api_meta/protect_reads.sql

comment on column ledger.batch_stock.stock_id is 'Stock of the product in the place.';
comment on column ledger.batch_stock.batch_id is 'Batch that the units belong to.';
comment on column ledger.batch_stock.quantity is 'Units of the batch in the place.';
comment on column ledger.stock_movement_batch.stock_movement_id is 'Movement that moved the units.';
comment on column ledger.stock_movement_batch.batch_id is 'Batch that the units belong to.';
comment on column ledger.stock_movement_batch.quantity is 'Units of the batch that were moved.';
comment on column erp.fulfillment_stock_movement.fulfillment_line_item_id is
  'Line of the fulfillment that shipped the units.';
comment on column erp.fulfillment_stock_movement.stock_movement_id is
  'Movement that took the units to the order.';

drop view if exists api_unstable.batch_stocks, api_unstable.stock_movement_batches,
  api_unstable.fulfillment_line_item_batches;
--!include api/batch_stocks.sql
--!include api/stock_movement_batches.sql
--!include api/fulfillment_line_item_batches.sql

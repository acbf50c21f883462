--! Previous: sha1:31fd2b2776fc3c3a1428e245fecbdfebefbd5ff0
--! Hash: sha1:0157d7bc229275c61111eb99c9d4610d09facc98
--! Message: Validate the rule of containers in goods receipts

--! split: 1-current.sql
-- Validates the rule of the migration before, while others read and write
alter table erp.goods_receipt_line_item
  validate constraint goods_receipt_line_item_destination_stock_container_id_fkey;

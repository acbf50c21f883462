--! Previous: sha1:eb2f9725719eb9835eb766a70418c0d65e1fdfda
--! Hash: sha1:d401d04855cb75e394aa067d523b7ecc4c67ef78
--! Message: Validate the rule of containers in goods receipts

--! split: 1-current.sql
-- Validates the rule of the migration before, while others read and write
alter table erp.goods_receipt_line_item
  validate constraint goods_receipt_line_item_destination_stock_container_id_fkey;

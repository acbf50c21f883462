--! Previous: sha1:2dedf870a641e4cfc47eb4ff89f9a64a581998ae
--! Hash: sha1:9a3bae5379ed575334aa3db49768e764c70b9d13
--! Message: Validate the rule of containers in goods receipts

--! split: 1-current.sql
-- Validates the rule of the migration before, while others read and write
alter table erp.goods_receipt_line_item
  validate constraint goods_receipt_line_item_destination_stock_container_id_fkey;

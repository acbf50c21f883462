--! Previous: sha1:7741dc93ffa55d248ee2ee9d91c3191f24a64274
--! Hash: sha1:f80c69872fc6b4dc3427a9fbadd1f619f6f35034
--! Message: Validate the rule of containers in goods receipts

--! split: 1-current.sql
-- Validates the rule of the migration before, while others read and write
alter table erp.goods_receipt_line_item
  validate constraint goods_receipt_line_item_destination_stock_container_id_fkey;

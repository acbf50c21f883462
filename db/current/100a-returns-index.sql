--! no-transaction
drop index concurrently if exists erp.goods_receipt_line_item_return_order_line_item_id_idx;
create index concurrently goods_receipt_line_item_return_order_line_item_id_idx
  on erp.goods_receipt_line_item (return_order_line_item_id, id) where return_order_line_item_id is not null;

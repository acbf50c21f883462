--! Previous: sha1:23a3c5ec19da724f3b63b51edca284e1cccfd032
--! Hash: sha1:7c1a94d610f7c154a9b63eb150e360808b487e1f
--! Message: validate the rules of returns and states of stock

--! split: 1-current.sql
-- Rules that were declared without reading the rows that were there
alter table erp.bin_location validate constraint bin_location_stock_state_is_known;
alter table erp.return_order validate constraint return_order_reference_length;
alter table erp.return_order validate constraint return_order_comment_length;
alter table erp.return_order validate constraint return_order_refusal_reason_length;
alter table erp.return_order validate constraint return_order_state_length;
alter table erp.return_order validate constraint return_order_refund_is_not_negative;
alter table erp.return_order validate constraint return_order_is_not_replaced_by_its_order;
alter table erp.return_order validate constraint return_order_replacement_order_id_fkey;
alter table erp.goods_receipt_line_item
  validate constraint goods_receipt_line_item_return_order_line_item_id_fkey;
alter table erp.goods_receipt_line_item validate constraint goods_receipt_line_item_has_what_it_lost;
alter table erp.state_transition validate constraint state_transition_machine_is_known;
alter table ledger.process_type validate constraint process_type_can_require_a_reason;

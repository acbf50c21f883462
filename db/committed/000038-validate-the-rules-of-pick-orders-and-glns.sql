--! Previous: sha1:9cd11af5a8d1cd35bcc9bdf1cce70c6ef456da99
--! Hash: sha1:db339f448ebade530796a8d4967e8246d8e5bd7f
--! Message: validate the rules of pick orders and GLNs

--! split: 1-current.sql
-- Rules that were declared without reading the rows that were there
alter table erp.merchant validate constraint merchant_pick_order_is_known;
alter table erp.warehouse validate constraint warehouse_gln_has_its_check_digit;

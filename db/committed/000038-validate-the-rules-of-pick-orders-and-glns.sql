--! Previous: sha1:d0692e68391a1aefd2a81de749e9e74e6a8744f5
--! Hash: sha1:86d8fddb9e69edf8b9c1c8c07dc1a9a42b0cca57
--! Message: validate the rules of pick orders and GLNs

--! split: 1-current.sql
-- Rules that were declared without reading the rows that were there
alter table erp.merchant validate constraint merchant_pick_order_is_known;
alter table erp.warehouse validate constraint warehouse_gln_has_its_check_digit;

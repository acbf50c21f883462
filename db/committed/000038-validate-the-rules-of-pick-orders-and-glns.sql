--! Previous: sha1:631793d7370c7602d4589d0d32eca70c82ee1b91
--! Hash: sha1:3403cdbc1ddef55e7bc2362732ee39186789b7bf
--! Message: validate the rules of pick orders and GLNs

--! split: 1-current.sql
-- Rules that were declared without reading the rows that were there
alter table erp.merchant validate constraint merchant_pick_order_is_known;
alter table erp.warehouse validate constraint warehouse_gln_has_its_check_digit;

--! Previous: sha1:fd4d539ad073135dcbf833b76a56e2fe477b1f23
--! Hash: sha1:60c44f2d970f2169cbf72d3ede4136c8112e5f49
--! Message: validate the rules of pick orders and GLNs

--! split: 1-current.sql
-- Rules that were declared without reading the rows that were there
alter table erp.merchant validate constraint merchant_pick_order_is_known;
alter table erp.warehouse validate constraint warehouse_gln_has_its_check_digit;

--! Previous: sha1:e46c1d578b47eb281e21552809c8beade3f890eb
--! Hash: sha1:1aacfdfd573726a6eb0ffcd99873495c1d558d19
--! Message: Names of the reservations that are there, and the rule of deleted files of labels

--! split: 1-current.sql
-- Names of reservations, also of those that a process of the version before writes while the migration before runs
-- waive locks-table: reservations wait for the time of two short statements
lock table erp.stock_reservation in share row exclusive mode;
insert into ledger.named_reservation (reservation_id, product_id, warehouse_id)
select r.id, r.product_id, r.warehouse_id from erp.stock_reservation r where ledger.may_owe_units(r)
on conflict do nothing;
-- Validates the rule of the migration before, while others read and write
alter table erp.shipping_label_file validate constraint shipping_label_file_is_there_or_has_a_reason;

--! Previous: sha1:975232d49129ba11ec09b68b1db24922a90f0bf9
--! Hash: sha1:d20cf24cb752bbfd2ef2fe8cfe5976a4189ed187
--! Message: Validate the rules of the archive

--! split: 1-current.sql
-- Migration 30 added these rules for new rows; existing ones are checked while others write
alter table erp.document validate constraint document_order_id_fkey;
alter table erp.document validate constraint document_referenced_document_id_fkey;
alter table erp.merchant validate constraint merchant_time_zone_is_known;
alter table erp.merchant validate constraint merchant_retention_years_are_plausible;

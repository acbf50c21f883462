--! Previous: sha1:478e776cdbe0f0548693bedb77f7f6a8eb5d0ec9
--! Hash: sha1:de02f9d9981926e05a4e4b6b21912c394adb1040
--! Message: Validate the rules of the archive

--! split: 1-current.sql
-- Migration 30 added these rules for new rows; existing ones are checked while others write
alter table erp.document validate constraint document_order_id_fkey;
alter table erp.document validate constraint document_referenced_document_id_fkey;
alter table erp.merchant validate constraint merchant_time_zone_is_known;
alter table erp.merchant validate constraint merchant_retention_years_are_plausible;

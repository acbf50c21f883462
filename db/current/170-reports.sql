-- Reports for merchants
grant usage on schema erp, ledger to service_registrar;
select api_meta.allow('service_registrar', 'erp.product', 'select (id, product_number, name)');
select api_meta.allow('service_registrar', 'erp.warehouse', 'select (id, code)');
select api_meta.allow('service_registrar', 'ledger.warehouse_stock', 'select');
drop function if exists administration.reports();
drop function if exists administration.report_stock(text);
--!include administration/reports.sql
--!include administration/report_stock.sql

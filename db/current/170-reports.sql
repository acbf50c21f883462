-- Reports for merchants
grant usage on schema erp, ledger to service_registrar;
select api_meta.allow('service_registrar', 'erp.product', 'select (id, product_number, name)');
select api_meta.allow('service_registrar', 'erp.warehouse', 'select (id, code)');
select api_meta.allow('service_registrar', 'ledger.warehouse_stock', 'select');
select api_meta.allow('service_registrar', t, 'select')
from unnest('{erp.batch, erp.goods_receipt, erp.supplier, erp.sales_order, erp.bin_location, ledger.stock,
  ledger.batch_stock, ledger.stock_movement, ledger.stock_movement_batch}'::text[]) t;
drop function if exists administration.reports();
drop function if exists administration.report_trace(text, text);
drop function if exists administration.report_stock(text);
--!include administration/reports.sql
--!include administration/report_stock.sql
--!include administration/report_trace.sql

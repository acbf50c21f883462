-- Reports for merchants
grant usage on schema erp, ledger, valuation to service_registrar;
select api_meta.allow('service_registrar', 'erp.product', 'select (id, product_number, name)');
select api_meta.allow('service_registrar', t, 'select')
from unnest('{erp.warehouse, erp.batch, erp.goods_receipt, erp.supplier, erp.sales_order, erp.bin_location,
  erp.merchant, ledger.stock, ledger.batch_stock, ledger.warehouse_stock, ledger.stock_movement,
  ledger.stock_movement_batch, valuation.report}'::text[]) t;
--!include erp/end_of_day.sql
--!include valuation/product_values.sql
--!include ledger/place_name.sql
--!include administration/reports.sql
--!include administration/report_stock.sql
--!include administration/report_stock_card.sql
--!include administration/report_trace.sql
--!include administration/report_value.sql
--!include administration/report_closed_periods.sql
grant execute on function ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz) to service_registrar;
grant execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)
  to service_registrar;
grant execute on function ledger.settled_until(pg_snapshot) to service_registrar;
grant execute on function erp.local_date(timestamptz) to service_registrar;
grant execute on function erp.rounded(numeric) to service_registrar;
grant execute on function erp.rounded_price(numeric) to service_registrar;

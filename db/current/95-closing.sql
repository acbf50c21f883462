-- What questions about stock and value cost, when the past is settled, and how fast a period is closed
--!include ledger/settled_until.sql
--!include valuation/stock_value.sql

-- A closing adds hundreds of thousands of rows for one report: references are checked once for each statement
alter table valuation.report_product alter constraint report_product_report_id_fkey not enforced;
alter table valuation.report_warehouse alter constraint report_warehouse_report_id_fkey not enforced;
alter table valuation.report_cost alter constraint report_cost_report_id_fkey not enforced;
alter table valuation.report_outside alter constraint report_outside_report_id_fkey not enforced;
--!include valuation/entries.sql
--!include valuation/require_short_period.sql
--!include valuation/create_report.sql
--!include valuation/close_report.sql
--!include valuation/keep_entries.sql
--!include valuation/fill_report.sql
drop function if exists valuation.keep_places(uuid, valuation.run);

--!include api/stock_valuation.sql
--!include api/products_stock_value.sql
drop function if exists api_unstable.products_stock_card_lines(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid);
drop function if exists api_unstable.orders_cost_of_goods(api_unstable.orders),
  api_unstable.orders_margin(api_unstable.orders),
  api_unstable.fulfillments_cost_of_goods(api_unstable.fulfillments);
--!include api/orders_cost_of_goods.sql
--!include api/orders_margin.sql
--!include api/fulfillments_cost_of_goods.sql
--!include api/stock_valuation_report_create.sql
--!include api/stock_valuation_report_close.sql

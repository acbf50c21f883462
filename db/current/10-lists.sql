-- Lists are filtered through relations; orders by what people ask for first
--!include api_meta/describe.sql

drop index if exists erp.sales_order_delivery_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_delivery_state_order_date_time_id_idx
  on erp.sales_order (delivery_state, order_date_time, id);
drop index if exists erp.sales_order_payment_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_payment_state_order_date_time_id_idx
  on erp.sales_order (payment_state, order_date_time, id);
comment on index erp.sales_order_state_order_date_time_id_idx is null;

comment on column erp.sales_order.customer_id is
  'Customer who ordered; null when it is not known, or was deleted since.';
comment on column erp.sales_order.sales_channel_id is
  'Sales channel that the order came through; null when it is not known, or was deleted since.';
drop view if exists api_unstable.orders;
--!include api/orders.sql
drop view if exists api_unstable.batches;
--!include api/batches.sql
drop view if exists api_unstable.stocks;
--!include api/stocks.sql
drop view if exists api_unstable.warehouse_stocks;
--!include api/warehouse_stocks.sql
drop view if exists api_unstable.product_supplier_configurations;
--!include api/product_supplier_configurations.sql

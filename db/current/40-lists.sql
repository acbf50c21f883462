-- What indexes do for views of the API
drop view if exists api_meta.index_tag;
--!include api_meta/index_tag.sql
--!include api_meta/describe.sql

-- Lists in the orders that people ask for first
drop index if exists erp.product_name_id_idx;
-- waive index-blocks-writes: a million products take a second or two
create index product_name_id_idx on erp.product (name, id);
comment on index erp.product_name_id_idx is 'For lists of products by name.';
drop index if exists erp.customer_email_id_idx;
-- waive index-blocks-writes: a million customers take a second
create index customer_email_id_idx on erp.customer (email, id);
drop index if exists erp.sales_order_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_state_order_date_time_id_idx on erp.sales_order (state, order_date_time, id);
comment on index erp.sales_order_state_order_date_time_id_idx is
  'For lists of orders in a state, newest first.';

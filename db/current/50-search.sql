-- Lists can be searched by words, and aggregated
do $$
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    if not exists (select from pg_available_extensions where name = 'pg_trgm') then
      raise exception 'The service searches by the extension pg_trgm, which this Postgres does not have.'
        using errcode = 'feature_not_supported', hint = 'Install the package of Postgres'' contributed '
          'extensions on its server, such as postgresql18-contrib, and migrate again.';
    end if;
    create schema if not exists extensions;
    begin
      create extension pg_trgm with schema extensions;
    exception when insufficient_privilege then
      raise exception 'The service searches by the extension pg_trgm, which service_owner may not create.'
        using errcode = 'insufficient_privilege',
          hint = 'As superuser, in this database: create extension pg_trgm; and migrate again.';
    end;
  end if;
end
$$;
--!include api_meta/own_schema.sql
drop schema if exists search cascade;
create schema search;
comment on schema search is
  'Functions that find rows by words, one for each view of the API that can be searched.';
grant usage on schema search to service_api, service_searcher;
grant usage on schema erp, auth to service_searcher;
grant execute on function auth.has_scope(text[]) to service_searcher;
--!include search/sought.sql
--!include search/require_few.sql
--!include erp/require_countable.sql

drop table if exists erp.product_words;
create table erp.product_words (
  product_id uuid primary key references erp.product on delete cascade,
  words text not null
);
alter table erp.product_words enable row level security;
comment on table erp.product_words is
  'By what products are found, in lower case: beside the products, because a booking changes these, and each '
  'change writes to every index.';
select api_meta.allow('service_searcher', 'erp.product_words', 'select', 'insert', 'update (words)');

drop view if exists api_meta.searched_view cascade;
--!include api_meta/searched_view.sql
--!include api_meta/index_search.sql
--!include api_meta/derive_searches.sql
--!include api_meta/derive.sql
drop view if exists api_unstable.products;
--!include api/products.sql
drop view if exists api_unstable.customers;
--!include api/customers.sql
drop view if exists api_unstable.orders;
--!include api/orders.sql
drop view if exists api_unstable.suppliers;
--!include api/suppliers.sql
drop view if exists api_unstable.warehouses;
--!include api/warehouses.sql
drop view if exists api_unstable.bin_locations;
--!include api/bin_locations.sql
drop view if exists api_unstable.batches;
--!include api/batches.sql
drop view if exists api_unstable.documents;
--!include api/documents.sql
drop view if exists api_unstable.supplier_orders;
--!include api/supplier_orders.sql
drop view if exists api_unstable.goods_receipts;
--!include api/goods_receipts.sql
drop view if exists api_unstable.fulfillments;
--!include api/fulfillments.sql
drop view if exists api_unstable.stock_movements;
--!include api/stock_movements.sql
drop view if exists api_unstable.stocks;
--!include api/stocks.sql
drop view if exists api_unstable.order_line_items;
--!include api/order_line_items.sql

select api_meta.index_search('api_unstable.products');
select api_meta.index_search('api_unstable.customers');
select api_meta.index_search('api_unstable.orders');
select api_meta.index_search('api_unstable.suppliers');
select api_meta.index_search('api_unstable.warehouses');
select api_meta.index_search('api_unstable.bin_locations');
select api_meta.index_search('api_unstable.batches');
select api_meta.index_search('api_unstable.documents');
select api_meta.index_search('api_unstable.supplier_orders');
select api_meta.index_search('api_unstable.goods_receipts');
select api_meta.index_search('api_unstable.fulfillments');

-- What background work does in the database. The queue itself is graphile-worker's, see db/worker.sql.
--!include functions/erp/exchange_rates.sql
--!include functions/erp/in_default_currency.sql
--!include functions/erp/fill_default_currency_prices.sql

grant usage on schema erp to service_worker, service_keeper;
select api_meta.allow('service_keeper', 'erp.currency', 'select (id, iso_code, is_default_currency)');
select api_meta.allow('service_keeper', 'erp.exchange_rate', 'select', 'insert', 'update (factor, imported_at)');
select api_meta.allow('service_keeper', 'erp.goods_receipt_line_item', 'select (id, goods_receipt_id, unit_price, unit_price_in_default_currency)',
  'update (unit_price_in_default_currency)');
-- Postgres asks for the right to change something before it lets a role lock a row
select api_meta.allow('service_keeper', 'erp.goods_receipt', 'select (id, currency_factor)', 'update (updated_at)');
select api_meta.give(routine, 'service_keeper') from unnest(array[
  'erp.import_exchange_rates(date, jsonb, text)', 'erp.fill_default_currency_prices(uuid, integer)']::regprocedure[]) routine;
grant execute on function erp.import_exchange_rates(date, jsonb, text), erp.fill_default_currency_prices(uuid, integer) to service_worker;

-- Receipts take the rate of their day
select api_meta.allow('service_writer', 'erp.exchange_rate', 'select');
grant execute on function erp.exchange_rate_on(uuid, timestamptz) to service_writer;
grant execute on function erp.in_default_currency(numeric, numeric) to service_writer, service_keeper;

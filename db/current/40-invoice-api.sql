-- Fields of structured invoices in the version unstable of the API

-- The view api_unstable.invoices is filtered and sorted by it
create index if not exists invoice_figures_due_date_document_id_idx
  on erp.invoice_figures (due_date, document_id);
comment on column erp.invoice_figures.document_id is 'The document that shows these amounts.';
comment on constraint document_file_pkey on erp.document_file is
  '@internal erp.keep_invoice is called with a new document';

-- Dates can be infinite, and no document could show such a date
alter table erp.sales_order
  drop constraint if exists order_due_date_is_plausible,
  drop constraint if exists order_exchange_rate_date_is_plausible;
alter table erp.sales_order
  add constraint order_due_date_is_plausible check (due_date between '1900-01-01' and '9999-12-31')
    not enforced,
  add constraint order_exchange_rate_date_is_plausible
    check (exchange_rate_date between '1900-01-01' and '9999-12-31') not enforced;
comment on constraint order_due_date_is_plausible on erp.sales_order is
  E'@userError OUT_OF_RANGE due_date\nThe year must be between 1900 and 9999.';
comment on constraint order_exchange_rate_date_is_plausible on erp.sales_order is
  E'@userError OUT_OF_RANGE exchange_rate_date\nThe year must be between 1900 and 9999.';

select api_meta.allow('service_writer', 'erp.customer',
  'update (invoice_form, buyer_reference, electronic_address, electronic_address_scheme, registration_id)');
select api_meta.allow('service_writer', 'erp.sales_order',
  'update (buyer_reference, purchase_order_number, due_date, paid_amount, exchange_rate, exchange_rate_date,
    exchange_rate_source)');
select api_meta.allow('service_writer', 'erp.sales_order_line_item',
  'update (tax_category, exemption_code, discount_reason, unit_code)');
select api_meta.allow('service_writer', 'erp.product', 'update (unit_code)');

--!include api/invoice_form.sql
--!include erp/upsert_orders.sql
--!include erp/faults_of_order_lines.sql
--!include erp/personal_values.sql
--!include erp/anonymize_rows.sql
--!include events/anonymous_data.sql

drop view if exists api_unstable.customers, api_unstable.orders, api_unstable.order_line_items,
  api_unstable.products, api_unstable.payment_methods, api_unstable.documents;
--!include api/customers.sql
--!include api/orders.sql
--!include api/order_line_items.sql
--!include api/products.sql
--!include api/payment_methods.sql
--!include api/documents.sql
--!include api/invoices.sql
--!include api/customers_upsert.sql
--!include api/orders_upsert.sql
--!include api/products_upsert.sql
--!include events/topics.sql

-- Invoices with tax categories, forms and partial credits; a refused invoice stops no shipment

-- Money is a Float, as in the types around it
comment on schema api_unstable is
  E'@floats currencies document_create_input document_create_line_input events goods_receipt_create_input '
  'goods_receipt_line_input goods_receipt_line_items goods_receipt_update_input goods_receipts '
  'invoice_tax invoices order_line_items order_line_upsert_input order_upsert_input orders price '
  'product_price_input product_upsert_input purchase_price_input quote_line_items quotes stock_movements '
  'supplier_order_line_input supplier_order_line_items supplier_orders supplier_upsert_input suppliers '
  'webhook_deliveries webhook_deliveries_replay_input webhook_subscriptions\n'
  'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

-- Their parameters or results change, and others depend on them
drop function if exists erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]);
drop function if exists erp.document_config(
  uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]
);
drop function if exists erp.document_config(uuid, text, date, text, erp.document_part[], uuid[]);
drop function if exists erp.document_amounts_in(uuid, date, text, text, text, jsonb, erp.document_part[]);
drop function if exists erp.document_amounts(uuid, text, erp.document_part[]);
drop function if exists erp.document_amounts(uuid, text, text, text, erp.document_part[]);
drop function if exists erp.charged_pieces(uuid, text, text, erp.document_part[]);
drop function if exists erp.order_pieces(uuid, text);
drop function if exists erp.tax_in_default_currency(uuid, jsonb, date);
drop function if exists erp.seller(text);
drop function if exists erp.create_reversal(uuid, text, uuid, text[], text[]);
drop function if exists erp.create_order_document(uuid, text, uuid[], uuid);

--!include erp/rounded.sql
--!include erp/tax_reason_of.sql
--!include erp/order_pieces.sql
--!include erp/charged_pieces.sql
--!include erp/document_lines.sql
--!include erp/document_amounts.sql
--!include erp/tax_in_default_currency.sql
--!include erp/seller.sql
--!include erp/credited_total.sql
--!include erp/reversal_of.sql
--!include erp/standing_prepayments.sql
--!include erp/invoice_terms.sql
--!include erp/document_title.sql
--!include erp/document_config.sql
--!include erp/reversed_amounts.sql
--!include erp/reversal_config.sql
--!include ledger/keep_cancellations.sql
--!include erp/creditable_lines.sql
--!include erp/require_credit_lines.sql
--!include erp/converted_taxes.sql
--!include erp/credit_note_config.sql
--!include erp/require_invoice.sql
--!include erp/keep_invoice.sql
--!include erp/insert_document.sql
--!include erp/create_invoice.sql
--!include erp/try_invoice.sql
--!include erp/create_delivery_note.sql
--!include erp/create_documents.sql
--!include erp/create_reversal.sql
--!include erp/prepayment_config.sql
--!include erp/create_prepayment.sql
--!include erp/create_document.sql
--!include erp/open_invoices.sql
--!include erp/cancel_invoices_of.sql
--!include erp/cancel_order.sql
--!include erp/create_order_document.sql
--!include api/warning_code.sql
--!include api/document_create.sql
--!include api/fulfillment_create.sql
--!include api/order_shipment_complete.sql
--!include api/fulfillment_cancel.sql

-- Prepayments are numbered as invoices are
insert into erp.document_type (technical_name, name, number_range)
select 'prepayment',
  '{"en-GB": "Prepayment invoice", "de-DE": "Anzahlungsrechnung", "fr-FR": "Facture d''acompte"}',
  t.number_range
from erp.document_type t where t.technical_name = 'invoice'
on conflict do nothing;

-- Amounts of the invoices that exist
insert into erp.invoice_figures (
  document_id, type_code, form, currency_code, net, tax, total, paid, due, due_date
)
select d.id, case t.technical_name when 'invoice' then '380' when 'storno' then '384' else '381' end, 'pdf',
  d.config #>> '{currency,isoCode}', v.net, v.total - v.net, v.total, 0, v.total, null
from erp.document d
join erp.document_type t on t.id = d.document_type_id
  and t.technical_name in ('invoice', 'credit_note', 'storno')
cross join lateral jsonb_to_record(d.config -> 'totals') v (net numeric, total numeric)
where d.document_number is not null and d.config #>> '{currency,isoCode}' is not null
  and v.net is not null and v.total is not null
on conflict do nothing;

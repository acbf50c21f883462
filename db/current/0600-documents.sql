-- Documents: what they are made of, and the way by which their addresses open them.

-- Numbers and kinds of documents, which a shop needs from its first day
insert into erp.number_range (technical_name, pattern, last_number)
select name, prefix || '{n}', 10000 from (values ('order', 'SO-'), ('customer', 'C-'), ('fulfillment_order', 'FO-'), ('fulfillment', 'F-'),
  ('return_order', 'R-'), ('supplier_order', 'PO-'), ('goods_receipt', 'GR-'), ('quote', 'Q-'), ('supplier', 'S-'), ('document_invoice', 'INV-'),
  ('document_delivery_note', 'DN-'), ('document_credit_note', 'CN-'), ('document_storno', 'ST-'), ('document_upload', 'UP-')) as v (name, prefix)
on conflict do nothing;
insert into erp.document_type (technical_name, name, number_range)
select technical_name, jsonb_build_object('en-GB', en, 'de-DE', de, 'fr-FR', fr), 'document_' || technical_name
from (values ('invoice', 'Invoice', 'Rechnung', 'Facture'), ('delivery_note', 'Delivery note', 'Lieferschein', 'Bon de livraison'),
  ('credit_note', 'Credit note', 'Gutschrift', 'Avoir'), ('storno', 'Cancellation invoice', 'Stornorechnung', 'Facture d''annulation'),
  ('upload', 'Uploaded file', 'Hochgeladene Datei', 'Fichier')) as v (technical_name, en, de, fr)
on conflict do nothing;

--!include functions/erp/document_locale.sql
--!include functions/erp/document_amounts.sql
--!include functions/erp/document_config.sql
--!include functions/erp/create_document.sql
--!include functions/erp/open_document.sql

select api_meta.allow('service_writer', 'erp.document', 'select', 'insert');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.document_type', 'erp.sales_order', 'erp.sales_order_line_item', 'erp.product', 'erp.currency', 'erp.customer', 'erp.country',
  'erp.sales_channel', 'erp.shipping_method', 'erp.payment_method', 'erp.warehouse', 'erp.language']::regclass[]) relation;
grant execute on function erp.document_locale(uuid), erp.document_amounts(uuid, text, boolean), erp.reversed_amounts(jsonb),
  erp.document_config(uuid, text, text, date, text, text, jsonb), erp.create_document(uuid, text, uuid) to service_writer;

select api_meta.allow('service_document', 'erp.document', 'select (id, deep_link_code, document_number, config, static, content, content_type)');
select api_meta.give('erp.open_document(uuid, bytea)', 'service_document');

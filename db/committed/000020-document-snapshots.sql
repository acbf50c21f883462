--! Previous: sha1:e521f4af4332a8d27dfdd52dee7c2e0199ea2ae7
--! Hash: sha1:f81dac3fbfe2a92467076655c63798fa481dfdea
--! Message: document-snapshots

--! split: 1-current.sql
-- Enter migration here

--! split: 0600-documents.sql
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

--! Included functions/erp/document_locale.sql
create or replace function erp.document_locale(order_id uuid) returns text
language sql stable
return (
  select coalesce(
    (select l.code from erp.language l where split_part(l.code, '-', 2) = o.billing_address ->> 'countryIso' order by l.code limit 1),
    (select l.code from erp.language l join erp.sales_channel s on s.id = o.sales_channel_id join erp.country c on c.id = s.country_id
      where split_part(l.code, '-', 2) = c.iso_code order by l.code limit 1),
    'en-GB')
  from erp.sales_order o where o.id = document_locale.order_id
);
comment on function erp.document_locale(uuid) is
  'The language to write to the customer of an order in: that of the country of the billing address, or else of the sales channel, as far as names are kept in it; else en-GB.';
--! EndIncluded functions/erp/document_locale.sql
--! Included functions/erp/document_amounts.sql
-- Prices in erp.sales_order_line_item are with tax, whatever the tax status of the order. This one and document_config
-- return rows, for then Postgres puts them into the query that calls them, instead of starting a new one each time.
create or replace function erp.document_amounts(order_id uuid, tax_status text, with_prices boolean) returns table (amounts jsonb)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.label, l.description, p.product_number, l.quantity, l.unit_price,
      l.total_price as total,
      -- Discounts have no rate of their own: the standard rate stands in, as it does for products (erp.product.tax_rate)
      case when tax_status = 'tax-free' then 0 else coalesce(l.tax_rate, 19) end as rate
    from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id
    where l.order_id = document_amounts.order_id
      -- What is taken off the price is in no parcel
      and (with_prices or l.type is null or l.type not in ('promotion', 'credit'))
  ),
  taxed as (select *, round(total * 100 / (100 + rate), 2) as net from line),
  by_rate as (select rate, sum(net) as net, sum(total - net) as tax from taxed group by rate)
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description, 'productNumber', product_number,
          'quantity', quantity)
        || case when with_prices then jsonb_build_object(
          -- With four digits, so that times the quantity it is what the line comes to
          'unitPrice', case when tax_status = 'net' then round(unit_price * 100 / (100 + rate), 4) else unit_price end,
          'total', case when tax_status = 'net' then net else total end,
          'taxRate', case when tax_status <> 'tax-free' then rate end) else '{}' end order by n)
      from taxed), '[]'),
    'totals', case when with_prices then (
      select jsonb_build_object('net', coalesce(sum(net), 0), 'total', coalesce(sum(net + tax), 0),
        'taxes', coalesce(jsonb_agg(jsonb_build_object('rate', rate, 'net', net, 'tax', tax) order by rate)
          filter (where tax_status <> 'tax-free'), '[]'))
      from by_rate) end);
end;
comment on function erp.document_amounts(uuid, text, boolean) is
  'The lines of an order and what they come to, as documents show them: prices without tax where the tax status is net, and none at all on delivery notes.';

create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return jsonb_build_object(
  'lines', (
    select coalesce(jsonb_agg(line || jsonb_build_object('unitPrice', - (line ->> 'unitPrice')::numeric, 'total', - (line ->> 'total')::numeric)
      order by n), '[]')
    from jsonb_array_elements(amounts -> 'lines') with ordinality v (line, n)),
  'totals', jsonb_build_object('net', - (amounts #>> '{totals,net}')::numeric, 'total', - (amounts #>> '{totals,total}')::numeric,
    'taxes', (
      select coalesce(jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'net', - (tax ->> 'net')::numeric, 'tax', - (tax ->> 'tax')::numeric)
        order by n), '[]')
      from jsonb_array_elements(amounts #> '{totals,taxes}') with ordinality v (tax, n))));
comment on function erp.reversed_amounts(jsonb) is 'The lines and totals of a document, with every amount negative.';
--! EndIncluded functions/erp/document_amounts.sql
--! Included functions/erp/document_config.sql
create or replace function erp.document_config(order_id uuid, document_type text, document_number text, document_date date, locale text,
  referenced_number text default null, referenced_config jsonb default null) returns table (config jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'documentType', document_type,
    'title', coalesce(t.name ->> locale, t.name ->> 'en-GB'),
    'documentNumber', document_number,
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'referencedDocumentNumber', referenced_number,
    'locale', locale,
    'displayPrices', document_type <> 'delivery_note',
    'orderNumber', o.order_number,
    'orderDate', to_char(o.order_date_time at time zone 'UTC', 'YYYY-MM-DD'),
    'customerNumber', c.customer_number,
    'customerVatId', c.vat_ids ->> 0,
    'taxStatus', o.tax_status,
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'shippingMethod', coalesce(s.name ->> locale, s.name ->> 'en-GB'),
    'paymentMethod', coalesce(p.name ->> locale, p.name ->> 'en-GB'),
    'billingAddress', o.billing_address,
    'shippingAddress', o.shipping_address,
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name), 'address', w.address)
  ) || case
    when document_type not in ('credit_note', 'storno') then a.amounts
    -- The order may have changed since the invoice. What takes an invoice back, takes back what it said.
    when referenced_config ? 'lines' then erp.reversed_amounts(referenced_config)
      || jsonb_build_object('taxStatus', referenced_config -> 'taxStatus', 'currency', referenced_config -> 'currency')
    else erp.reversed_amounts(a.amounts)
  end
  from erp.sales_order o
  join erp.currency u on u.id = o.currency_id
  join erp.document_type t on t.technical_name = document_type
  left join erp.customer c on c.id = o.customer_id
  left join erp.sales_channel h on h.id = o.sales_channel_id
  left join erp.shipping_method s on s.id = o.shipping_method_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.warehouse w on w.is_default
  cross join erp.document_amounts(document_config.order_id, o.tax_status, document_type <> 'delivery_note') a
  where o.id = document_config.order_id;
end;
comment on function erp.document_config(uuid, text, text, date, text, text, jsonb) is
  'All that a document of an order shows, as it is now: what a document keeps in its config and is rendered from (src/documents/config.ts has the form). Credit notes and stornos also take the number and config of the invoice that they take back.';
--! EndIncluded functions/erp/document_config.sql
--! Included functions/erp/create_document.sql
create or replace function erp.create_document(order_id uuid, document_type text, referenced_document_id uuid default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_');
  kind erp.document_type;
  referenced erp.document;
  number text;
  snapshot jsonb;
  new_id uuid;
begin
  select * into kind from erp.document_type t
  where t.technical_name = document_type and t.technical_name in ('invoice', 'delivery_note', 'credit_note', 'storno');
  if not found then
    perform mutation.refuse('INVALID', format('Documents of the type %s are not made here.', document_type));
  end if;
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  end if;

  if document_type in ('credit_note', 'storno') then
    select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
    where d.order_id = create_document.order_id and t.technical_name = 'invoice' and d.document_number is not null
      and d.id = coalesce(referenced_document_id, d.id)
    order by d.id desc limit 1;
    if not found then
      perform mutation.refuse('INVALID', case when referenced_document_id is null then 'The order has no invoice.'
        else 'The order has no such invoice.' end);
    end if;
  elsif referenced_document_id is not null then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;

  number := erp.next_number(kind.number_range);
  select c.config into strict snapshot from erp.document_config(order_id, document_type, number, (now() at time zone 'UTC')::date,
    erp.document_locale(order_id), referenced.document_number, referenced.config) c;
  if jsonb_path_exists(snapshot, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  end if;
  insert into erp.document (document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config)
  values (kind.id, create_document.order_id, referenced.id, number, code, snapshot)
  returning id into new_id;
  return new_id;
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Makes an invoice, delivery_note, credit_note or storno of an order: with the next number of its type, a random code for its address, and all that it shows. Credit notes and stornos refer to an invoice of the order, the newest unless one is named.';
--! EndIncluded functions/erp/create_document.sql
--! Included functions/erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea)
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison tells nothing about the code. An unknown id goes the
  -- same way, with a hash that nobody can present.
  if sha256(nonce || presented_hash) <> sha256(nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)) then
    return;
  end if;
  return query select d.document_number, d.config, d.static, d.content, d.content_type from erp.document d where d.id = open_document.id;
end
$$;
comment on function erp.open_document(uuid, bytea) is
  'The document with this id and the SHA-256 of this deep link code, or no row. Takes a hash, so that no code gets into a log of Postgres, and any code can be asked about.';
--! EndIncluded functions/erp/open_document.sql

select api_meta.allow('service_writer', 'erp.document', 'select', 'insert');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.document_type', 'erp.sales_order', 'erp.sales_order_line_item', 'erp.product', 'erp.currency', 'erp.customer', 'erp.country',
  'erp.sales_channel', 'erp.shipping_method', 'erp.payment_method', 'erp.warehouse', 'erp.language']::regclass[]) relation;
grant execute on function erp.document_locale(uuid), erp.document_amounts(uuid, text, boolean), erp.reversed_amounts(jsonb),
  erp.document_config(uuid, text, text, date, text, text, jsonb), erp.create_document(uuid, text, uuid) to service_writer;

select api_meta.allow('service_document', 'erp.document', 'select (id, deep_link_code, document_number, config, static, content, content_type)');
select api_meta.give('erp.open_document(uuid, bytea)', 'service_document');

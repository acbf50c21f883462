-- Documents
-- A page that any viewer opens: the places of its objects are counted while it is put together.
create function demo.pdf(title text) returns bytea language plpgsql immutable as $$
declare
  content text := format('BT /F1 18 Tf 72 770 Td (%s) Tj ET', title);
  objects text[] := array['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] '
    '/Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>',
    format(E'<< /Length %s >>\nstream\n%s\nendstream', length(content), content),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'];
  pdf text := E'%PDF-1.4\n';
  xref text := E'0000000000 65535 f \n';
begin
  for i in 1 .. cardinality(objects) loop
    xref := xref || lpad(length(pdf)::text, 10, '0') || E' 00000 n \n';
    pdf := pdf || i || E' 0 obj\n' || objects[i] || E'\nendobj\n';
  end loop;
  return convert_to(
    format(
      E'%sxref\n0 6\n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%s\n%%%%EOF\n', pdf, xref, length(pdf)
    ),
    'UTF8'
  );
end
$$;

-- The parcels of an order, as they left
create table demo.parcel as
select f.*, row_number() over (partition by order_n order by n) as copy,
  count(*) over (partition by order_n) as parcels,
  max(sent_at) over (partition by order_n) as last_sent_at
from demo.fulfillment f where not is_cancelled;
alter table demo.parcel add primary key (order_n, copy);
analyze demo.parcel;

-- Type 1 invoice, 2 delivery note of each parcel, 3 credit note and 4 storno of the invoice, 5 a file that
-- was uploaded
create table demo.document as
select row_number() over (order by at, order_n, type, copy) as n,
  row_number() over (partition by type, is_draft order by at, order_n,
  copy) as number, *,
  demo.id('document', row_number() over (order by at, order_n, type, copy)) as id
from (
  select o.n as order_n, type, c.copy,
    coalesce(case type when 1 then p.last_sent_at when 2 then p.sent_at end + interval '1 hour', o.at
    + (
      array[interval '1 day', interval '2 days', interval '20 days', interval '3 days', interval '1 hour']
    )[type]) as at,
    type = 1 and o.state = 'in_progress' as is_draft
  from demo.sales_order o cross join generate_series(1, 5) type
  left join lateral (select max(parcels) as parcels from demo.parcel where order_n = o.n) k on true
  cross join lateral generate_series(
    1, case when type = 2 then coalesce(k.parcels, 1) when o.n % 500 = 17 and type = 5 then 12 else 1 end
  ) c (copy)
  left join demo.parcel p on p.order_n = o.n and p.copy = case type when 2 then c.copy else 1 end
  where case type
    when 1 then o.state = 'completed' or o.state = 'cancelled' and o.n % 2 = 0 or o.state = 'in_progress'
      and o.n % 3 = 0
    when 2 then o.state = 'completed' and not is_digital and o.n % 2 = 1
    when 3 then o.state = 'completed' and wants_return
    when 4 then o.state = 'cancelled' and o.n % 2 = 0
    when 5 then o.n % 37 = 5 or o.n % 500 = 17 end
) v where at < demo.today();
analyze demo.document;
-- What documents show is read order by order: without statistics, each time by all lines of all orders
analyze erp.sales_order, erp.sales_order_line_item, erp.fulfillment, erp.fulfillment_line_item,
  erp.fulfillment_order_line_item;

-- Real codes are random. These are hashes, so that the same scale gives the same data: they protect nothing.
create function demo.insert_documents(are_reversals boolean) returns void language sql as $$
insert into erp.document (id, document_type_id, order_id, referenced_document_id, document_number,
  deep_link_code, config, static, sent, content,
  content_type, created_at, updated_at)
select d.id, demo.id('document_type', d.type), d.order_id, d.invoice_id, d.document_number,
  md5('deep link ' || d.n), coalesce(case
    -- An intra-Community supply needs a day of delivery, which an order that never left lacks (BR-IC-11)
    when c.config #>> '{totals,taxes,0,category}' = 'K' and c.config ->> 'deliveryDate' is null
      then c.config || '{"form": "pdf", "standard": null}'
    when d.type < 3 then c.config
    when d.type < 5 then erp.reversal_config(i.config, d.kind, d.at::date)
  end || jsonb_build_object('documentNumber', d.document_number), '{}'),
  d.type = 5, not d.is_draft
    and d.n % 5 > 0, case when d.type = 5 then demo.pdf('Purchase order ' || d.order_n) end,
  case when d.type = 5 then 'application/pdf' end, d.at,
    case when d.n % 3 = 0 then d.at + interval '10 minutes' end
from (
  select d.*, demo.id('order', d.order_n) as order_id, i.id as invoice_id,
    case
      when not d.is_draft then demo.number((array['INV-', 'DN-', 'CN-', 'ST-', 'UP-'])[d.type], d.number)
    end as document_number,
    (array['invoice', 'delivery_note', 'credit_note', 'storno'])[d.type] as kind,
      erp.document_locale(demo.id('order', d.order_n)) as locale,
    array(
      select p.id
      from demo.parcel p
      where p.order_n = d.order_n and (d.type = 1 or p.copy = d.copy)
      order by p.copy
    ) as parcels
  from demo.document d
  left join demo.document i on i.order_n = d.order_n and i.type = 1 and d.type in (3, 4, 5)
  order by d.n
) d
left join lateral erp.document_config(d.order_id, d.kind, d.at::date, d.locale, null, d.parcels) c
  on d.type < 3
left join erp.document i on i.id = d.invoice_id
where (d.type in (3, 4)) = are_reversals
order by d.n;
$$;
-- Reversals need the invoice's config, and a document with a number can't be updated
select demo.insert_documents(false);
select demo.insert_documents(true);
do $$ begin
  perform erp.keep_invoice(d.id, d.config) from erp.document d join demo.document n on n.id = d.id
  where n.type in (1, 3, 4) and not n.is_draft order by n.n;
end $$;
alter table erp.document_file disable trigger keep_document_files;
update erp.document_file f set created_at = d.created_at from erp.document d where d.id = f.document_id;
alter table erp.document_file enable trigger keep_document_files;

insert into erp.document_fulfillment (document_id, fulfillment_id)
select d.id, p.id
from demo.document d
join demo.parcel p on p.order_n = d.order_n and (d.type = 1 or d.type = 2 and p.copy = d.copy)
where d.type in (1, 2) and not d.is_draft order by d.n, p.copy;
insert into erp.invoice (document_id, cancellation_id)
select d.id, s.id from demo.document d left join demo.document s on s.order_n = d.order_n and s.type = 4
where d.type = 1 and not d.is_draft order by d.n;
insert into erp.invoice_line_item (id, document_id, order_line_item_id, quantity)
select demo.id('invoice line', row_number() over (order by d.n, p.ordinality)), d.id, p.order_line_item_id,
  p.quantity
from demo.document d
cross join lateral unnest(erp.billable_parts(demo.id('order', d.order_n), false)) with ordinality p
where d.type = 1 and not d.is_draft order by d.n, p.ordinality;
update erp.sales_order_line_item l set invoiced_quantity = i.quantity
from erp.invoice_line_item i join erp.invoice v on v.document_id = i.document_id and v.cancellation_id is null
where i.order_line_item_id = l.id;

-- docs/reference/data-model.md, a section a row: an ER diagram for each topic, with tables, keys, and lines
-- for the foreign keys within it. Tables without a topic come last. A table that only links two others is a
-- line, in the topic of the first.
with topic (place, title, names) as (values
  (1, 'Products and prices', '{erp.product, erp.product_image, erp.product_price, erp.product_purchase_price,
    erp.product_supplier_configuration, erp.product_supplier_price, erp.supplier, erp.currency,
    erp.exchange_rate, erp.tag, erp.language}'::text[]),
  (2, 'Warehouses and places', '{erp.warehouse, erp.bin_location, erp.location, erp.stock_container,
    erp.product_warehouse_configuration, erp.product_stock_location_configuration}'),
  (3, 'Stock and its ledger', '{ledger.*, erp.batch, erp.stock_reservation}'),
  (3.5, 'Stocktakes', '{erp.stocktake, erp.stocktake_scope, erp.stocktake_sheet, erp.stocktake_line,
    erp.stocktake_count}'),
  (4, 'Customers and sales channels', '{erp.customer, erp.customer_group, erp.salutation, erp.sales_channel,
    erp.country, erp.payment_method}'),
  (5, 'Orders, quotes and returns', '{erp.sales_order, erp.sales_order_line_item, erp.quote,
    erp.quote_line_item, erp.return_order, erp.return_order_line_item, erp.return_order_charge,
    erp.return_order_document, erp.return_reason}'),
  (6, 'Fulfillment', '{erp.shipping_method, erp.fulfillment, erp.fulfillment_line_item,
    erp.fulfillment_order_fulfillment, erp.fulfillment_order, erp.fulfillment_order_line_item,
    erp.shipping_label, erp.shipping_label_work, erp.shipping_label_file, erp.carrier, sourcing.rule}'),
  (6.5, 'Picking', '{erp.pick_list, erp.pick_task, erp.pick_list_line, erp.product_gtin}'),
  (7, 'Documents', '{erp.document, erp.document_type, erp.number_range, erp.invoice, erp.invoice_line_item,
    erp.merchant, erp.invoice_figures, erp.invoice_tax, erp.invoice_form, erp.tax_reason, erp.document_file,
    erp.number_range_year, erp.channel_number_range, erp.number_gap}'),
  (8, 'Purchasing and goods receipts', '{erp.supplier_order, erp.supplier_order_line_item, erp.goods_receipt,
    erp.goods_receipt_line_item, erp.admin_user}'),
  (9, 'The value of the stock', '{valuation.*}'),
  (10, 'Events and webhooks', '{events.*}'),
  (11, 'Credentials and administrators', '{auth.*}'),
  (12, 'Other tables', '{}')
),

entity as (
  select c.oid, s.name || '.' || c.relname as name, s.name || '.*' as schema, c.relname, c.relnatts
  from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
  where c.relkind = 'r'
),

reference as (
  select r.conrelid, r.conkey, r.confrelid, n.nspname || '.' || c.relname as name,
    (
      select bool_or(not a.attnotnull)
      from pg_attribute a
      where a.attrelid = r.conrelid and a.attnum = any (r.conkey)
    ) as is_optional,
    exists (
      select from pg_constraint u
      where u.conrelid = r.conrelid and u.contype in ('p', 'u') and u.conkey <@ r.conkey
    ) as is_unique
  from pg_constraint r
  join pg_class c on c.oid = r.confrelid join pg_namespace n on n.oid = c.relnamespace
  where r.contype = 'f'
),

-- A table of two foreign keys and nothing else, to which no other refers
link as (
  select e.oid, (array_agg(r.confrelid order by r.conkey))[1] as first_oid, format('  "%s" }o--o{ "%s" : %s',
    (array_agg(r.name order by r.conkey))[1], (array_agg(r.name order by r.conkey))[2], e.relname) as line
  from entity e join reference r on r.conrelid = e.oid
  where e.relnatts = 2 and not exists (select from reference o where o.confrelid = e.oid)
  group by e.oid, e.relname
  having count(*) = 2
),

placed as (
  select e.oid, e.name, coalesce(t.place, 12) as place
  from entity e left join topic t on t.names && array[e.name, e.schema]
  where e.oid not in (select l.oid from link l)
),

key as (
  select k.conrelid, string_agg(concat_ws(' ', '   ', t.typname, a.attname, k.kinds,
    '"' || (
      select string_agg(r.name, ', ' order by r.conkey)
      from reference r
      where r.conrelid = k.conrelid and a.attnum = any (r.conkey)
    ) || '"'), E'\n' order by a.attnum) as lines
  from (
    select c.conrelid, n, concat_ws(', ', max('PK') filter (where c.contype = 'p'),
      max('FK') filter (where c.contype = 'f'), max('UK') filter (where c.contype = 'u')) as kinds
    from pg_constraint c cross join unnest(c.conkey) n
    where c.contype in ('p', 'f', 'u')
    group by c.conrelid, n
  ) k
  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.n join pg_type t on t.oid = a.atttypid
  group by k.conrelid
),

line as (
  select p.place, 1 as part, p.name, concat_ws(E'\n', format('  "%s" {', p.name), k.lines, '  }', (
    select string_agg(format('  "%s" %s--%s "%s" : ""', r.name,
      case when r.is_optional then '|o' else '||' end, case when r.is_unique then 'o|' else 'o{' end, p.name),
      E'\n' order by r.conkey)
    from reference r join placed o on o.oid = r.confrelid
    where r.conrelid = p.oid and o.place = p.place
  )) as text
  from placed p left join key k on k.conrelid = p.oid
  union all
  select p.place, 2, e.name, l.line
  from link l join placed p on p.oid = l.first_oid join entity e on e.oid = l.oid
)

select format(E'\n## %s\n\n```mermaid\nerDiagram\n%s\n```\n', t.title,
  string_agg(l.text, E'\n' order by l.part, l.name)) as section
from topic t left join line l using (place)
group by t.place, t.title
order by t.place;

-- Number ranges, which continue after the last number given
update erp.number_range r set last_number = 10000 + coalesce(v.last, 0)
from (
  select 'order' as name, demo.orders()::bigint as last
  union all select 'customer', demo.customers()
  union all select 'supplier', demo.suppliers()
  union all select 'fulfillment_order', max(n)
  from demo.fulfillment_order
  union all select 'fulfillment', max(n)
  from demo.fulfillment
  union all select 'return_order', max(n)
  from demo.return_order
  union all select 'supplier_order', max(n)
  from demo.supplier_order
  union all select 'goods_receipt', max(n) from demo.receipt union all select 'quote', max(n) from demo.quote
  union all select 'document_'
    || (array['invoice', 'delivery_note', 'credit_note', 'storno', 'upload'])[type],
    max(number) from demo.document group by type
) v where v.name = r.technical_name;
select setval(r.sequence, r.last_number) from erp.number_range r where r.sequence is not null;

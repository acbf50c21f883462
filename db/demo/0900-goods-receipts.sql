-- Goods receipts
-- Where each receipt comes from: a delivery (part) of a supplier order, a return, or neither. The key orders
-- receipts of the same second.
create table demo.receipt as
with
delivery as (
  select o.*, part, case
      when part < 100 then 'completed'
      else (array['draft', 'created', 'approved', 'in_progress'])[1 + o.n / 4 % 4]
    end as receipt_state
  from demo.supplier_order o, lateral (
    select generate_series(1, case when o.n % 60 = 5 then 13 when o.n % 6 = 0 then 2 else 1 end) as part
      where o.state in ('delivered', 'completed', 'partially_delivered')
    union all select 100 where o.state = 'partially_delivered' or o.state = 'confirmed' and o.n % 3 = 0
  ) p
),
source as (
  select 'Supplier' as type, n * 128 + part as key, n as source_n, part, receipt_state as state, warehouse,
    least(at + interval '7 days' + part * interval '9 hours', demo.today() - interval '9 hours') as at,
      supplier, null::integer as customer_n
  from delivery
  union all
  -- The largest supplier has announced one load with what was missing from all its deliveries
  select 'Supplier', 0, 0, 200, 'draft', 2, demo.today() - interval '2 hours', null, null
  union all
  select 'Customer', r.n, r.n, 1, r.state, 3, r.at + interval '2 days', null, r.customer_n
  from demo.return_order r
  where r.state <> 'none'
  union all
  -- Every tenth takes back what a delivery brought (see below): its quantities are negative
  select 'Free', n, n, case when n % 10 = 0 then -1 else 1 end,
    case when n % 10 = 0 or n < 15 * demo.scale() then 'completed'
      else (array['draft', 'created', 'approved', 'in_progress', 'completed'])[1 + n % 5] end,
    1 + n % 2, demo.moment('free receipt', n, 25 * demo.scale()),
      case when n % 3 = 0 then 1 + demo.pick(n, 'free supplier', demo.suppliers()) end, null
  from generate_series(1, 24 * demo.scale()) n
)
select row_number() over (order by at, type, key) as n,
  demo.id('goods receipt', row_number() over (order by at, type, key)) as id, *
from source;
alter table demo.receipt add primary key (n);
create unique index on demo.receipt (type, source_n, part);
analyze demo.receipt;

create table demo.receipt_line as
with
line as (
  select r.n as receipt_n, l.position, l.key as supplier_line_key, l.supplier_order_n,
    null::uuid as return_order_id, l.product_n, l.batch,
    case
      when l.supplier_order_n % 60 = 5
        and l.position <> 1 then case when r.part = l.position then l.quantity end
      when l.supplier_order_n % 60 = 5 then case when r.part < 13 then 1 else greatest(l.quantity - 12, 1) end
      when l.state = 'partially_delivered' then case when r.part = 100 then l.quantity - l.quantity / 2
        when r.part = 1 then case when l.supplier_order_n % 6 = 0 then l.quantity / 4 else l.quantity / 2 end
          else l.quantity / 2 - l.quantity / 4 end
      when l.supplier_order_n % 6 = 0
        and r.part < 100 then case when r.part = 1 then l.quantity / 2 else l.quantity - l.quantity / 2 end
      else l.quantity
    end as quantity,
    l.price, l.tax_rate, l.currency_id, l.factor
  from demo.supplier_line l join demo.receipt r on r.type = 'Supplier' and r.source_n = l.supplier_order_n
  union all
  select r.n, row_number() over (order by l.key), l.key, l.supplier_order_n, null, l.product_n, l.batch,
    l.quantity, null, null, null, null
  from demo.receipt r, (
    select l.*
    from demo.supplier_line l
    join demo.supplier_order o on o.n = l.supplier_order_n and o.state <> 'cancelled'
      and o.supplier = (select largest.supplier from demo.supplier_order largest where largest.n = 5)
    where l.position = 1 order by l.key desc limit 12
  ) l
  where r.type = 'Supplier' and r.part = 200
  union all
  select r.n, row_number() over (partition by r.n order by l.key), null, null, l.return_order_id, l.product_n,
    l.batch, l.quantity, l.unit_price,
    l.tax_rate, o.currency_id, o.factor
  from demo.return_line l
  join demo.receipt r on r.type = 'Customer' and r.source_n = l.return_order_n
  join demo.sales_order o on o.n = l.order_n
  union all
  select r.n, i.position, null, null, null, p.n,
    case when p.has_batches then 1 + demo.pick(r.n * 16 + i.position, 'batch', p.batches) end,
    1 + demo.pick(r.n * 16 + i.position, 'quantity', 12),
    case when r.n % 4 > 0 then round(demo.net(p.gross, p.tax_rate) * 0.4 * c.factor, 2) end, p.tax_rate, c.id,
      c.factor
  from demo.receipt r
  cross join generate_series(1, 3) as i (position)
  join demo.stocked p on p.s = 1 + demo.pick(r.n * 16 + i.position,
    'product', (select count(*) from demo.stocked))
  join erp.currency c on c.id = demo.id('currency', case when r.source_n % 5 = 0 then 2 else 1 end)
  where r.type = 'Free' and r.part = 1
  union all
  -- Damaged goods go back: one line of a delivery that was completed long before
  select r.n, 1, l.key, l.supplier_order_n, null, l.product_n, l.batch, -2, l.price, l.tax_rate,
    l.currency_id, l.factor
  from demo.receipt r join lateral (
    select l.*
    from demo.supplier_order o
    join demo.supplier_line l on l.supplier_order_n = o.n and l.position = 2
    where o.state in ('delivered', 'completed') and o.at < r.at - interval '30 days'
    order by o.at desc
    limit 1
  ) l on true
  where r.type = 'Free' and r.part = -1
)
select row_number() over (order by l.receipt_n, l.position) as n, l.*, r.type, r.state, r.warehouse, r.at,
  r.source_n,
  demo.id('goods receipt line', row_number() over (order by l.receipt_n, l.position)) as id,
  r.state in ('draft', 'created') and l.position % 4 = 3 as is_gone,
  case
    when r.type = 'Customer' and l.quantity > 0 and r.source_n % 3 = 0 and l.position = 1 then 1
    else 0 end as disposed
from line l join demo.receipt r on r.n = l.receipt_n
where l.quantity <> 0;
create index on demo.receipt_line (receipt_n);
analyze demo.receipt_line;

-- Exchange rates have been recorded with their origin since 2025; default-currency prices are filled in for
-- older lines later
insert into erp.goods_receipt (id, number, type, state, goods_receipt_date_time, warehouse_id, supplier_id,
  customer_id, user_id, currency_id,
  currency_factor, currency_factor_origin_type, currency_factor_origin_source,
  currency_factor_reference_date, currency_factor_captured_at, tax_status, amount_net, amount_total,
    position_price, comment, created_at, updated_at)
select r.id, demo.number('GR-', r.n), case when l.is_correction then 'Supplier' else r.type end, r.state,
  case when r.state = 'completed' then r.at + interval '5 hours' else r.at end,
  case when r.n % 60 <> 31 then demo.id('warehouse', r.warehouse) end, case when r.n % 60 <> 32 then
    demo.id(
      'supplier', case when l.is_correction then l.supplier else coalesce(r.supplier, l.supplier) end
    ) end,
      case when r.n % 60 <> 33 then demo.id('customer', r.customer_n) end,
  case when r.n % 5 > 0 then demo.id('admin_user', 1 + r.n % 4) end,
  case when r.n % 24 <> 8 then l.currency_id end, case when r.n % 24 <> 8 then l.factor end, origin,
  case when origin = 'ExchangeRateImport' then 'ecb' end,
    case when origin = 'ExchangeRateImport' then date_trunc('day',
    r.at) - interval '1 day' end, case when origin is not null then r.at end,
  case
    when r.n % 11 > 0
      then case when l.factor <> 1 then 'tax-free' when r.n % 13 = 4 then 'gross' else 'net' end end,
  net - discount, gross - discount, net,
    case when r.n % 6 = 0 then demo.one_of(r.n, 'comment', array['Karton beschädigt', 'Palette 2 von 2',
    'Contrôlé par sondage']) end, r.at,
  case when r.state <> 'draft' then r.at + interval '5 hours' end
from demo.receipt r
left join (select receipt_n, min(currency_id::text)::uuid as currency_id, min(factor) as factor,
  round(sum(price * quantity), 2) as net,
  round(sum(price * quantity * (1 + tax_rate / 100)), 2) as gross,
    bool_or(quantity < 0) as is_correction, case when receipt_n % 10 = 0 then 5 else 0 end as discount,
      min(o.supplier) as supplier
  from demo.receipt_line x
  left join demo.supplier_order o on o.n = x.supplier_order_n
  group by receipt_n) l on l.receipt_n = r.n,
lateral (select case when r.at < timestamptz '2025-01-01' + demo.age() or l.currency_id is null
  or r.n % 24 = 8 then null when l.factor = 1 then 'ShopCurrencyFactor' when r.n % 4 = 0 then 'Manual'
    else 'ExchangeRateImport' end as origin) v
order by r.n;

insert into erp.goods_receipt_line_item (id, goods_receipt_id, product_id, batch_id, return_order_id,
  supplier_order_id,
  supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity,
  unit_price, unit_price_in_default_currency, total_price_in_default_currency, tax_rate, created_at,
  updated_at)
select l.id, demo.id('goods receipt', l.receipt_n),
  case when not l.is_gone then demo.id('product', l.product_n) end,
  case when not l.is_gone then demo.batch_id(l.product_n, l.batch) end, l.return_order_id,
    demo.id('supplier order', l.supplier_order_n),
  demo.id('supplier order line', l.supplier_line_key), demo.bin_id(h.warehouse, h.bin), l.quantity,
    case when l.state = 'in_progress' then disposed else 0 end,
  l.price,
  case when c.is_converted then erp.in_default_currency(l.price, l.factor) end,
  case when c.is_converted then erp.amount_in_default_currency(l.price * l.quantity, l.factor) end,
  l.tax_rate,
    l.at,
    case when l.state in ('in_progress', 'completed') then l.at + interval '5 hours' end
from demo.receipt_line l join demo.home h on h.product_n = l.product_n and h.warehouse = l.warehouse
cross join lateral (
  select l.at >= timestamptz '2024-10-01' + demo.age() or l.factor = 1 as is_converted
) c
order by l.n;

-- Some goods are to come onto a pallet or into a box
update erp.goods_receipt_line_item l
set destination_bin_location_id = null, destination_stock_container_id = c.id
from erp.goods_receipt r cross join lateral (
  select c.id from erp.stock_container c
  where c.warehouse_id = r.warehouse_id and c.fulfillment_order_id is null order by c.number limit 1
) c
where r.id = l.goods_receipt_id and r.state in ('draft', 'created');

insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
select distinct demo.id('goods receipt', receipt_n),
  demo.id('supplier order', supplier_order_n) from demo.receipt_line where supplier_order_n is not null;
insert into erp.goods_receipt_tag (goods_receipt_id, tag_id)
select r.id, demo.id('tag', t) from demo.receipt r, generate_series(1, 24) t
where case when r.n = 1 then t <= 12 else demo.pick(r.n * 32 + t, 'goods receipt tag', 50) = 0 end;

update erp.supplier_order_line_item l set received_quantity = greatest(r.quantity, 0)
from (select supplier_line_key as key, sum(quantity) as quantity
  from demo.receipt_line where state = 'completed' and supplier_line_key is not null group by 1) r
where l.id = demo.id('supplier order line', r.key);

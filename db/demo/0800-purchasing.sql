-- Supplier orders and returns
create function demo.supplier_orders() returns integer language sql stable return 60 * demo.scale();

create table demo.supplier_order as
select n, demo.id('supplier order', n) as id, demo.moment('supplier order', n, demo.supplier_orders()) as at,
  case
    when n % 5 = 0 or n % 60 in (6, 59) then largest.supplier
    else 1 + demo.pick(n, 'supplier', demo.suppliers()) end as supplier,
    case when n % 3 = 0 then 2 else 1 end as warehouse,
  case
    -- Number 5 of 60 comes in 13 deliveries, one per line, and a little of the first line in each
    when n % 60 = 5 then 'completed'
    when n > demo.supplier_orders() * 0.85
      then (array['open', 'sent', 'confirmed', 'partially_delivered'])[1 + n % 4]
    when demo.pick(n, 'state', 100) < 9 then 'cancelled'
    when demo.pick(n, 'state', 100) < 30 then 'delivered'
    else 'completed'
  end as state
from generate_series(1, demo.supplier_orders()) n, (
  select supplier
  from demo.supply s
  join demo.stocked p on p.n = s.product_n
  group by supplier
  order by bool_or(p.has_batches) desc,
    count(*) desc, supplier limit 1
) largest;
alter table demo.supplier_order add primary key (n);

create table demo.supplier_line as
with
offered as (
  select s.*, row_number() over (partition by supplier order by has_batches desc, product_n, k) - 1 as i,
    count(*) over (partition by supplier) as offers
  from demo.supply s join demo.stocked p on p.n = s.product_n
)
select o.n * 16 + position as key, o.n as supplier_order_n, position, s.product_n, s.id as configuration_id,
  s.price, s.factor, s.currency_id,
  o.state, o.at, o.warehouse, p.label, p.number, p.tax_rate,
  case when p.has_batches then 1 + demo.pick(o.n * 16 + position, 'batch', p.batches) end as batch,
  5 * (1 + demo.pick(o.n * 16 + position, 'quantity', 8)) as quantity
from demo.supplier_order o
cross join lateral generate_series(
  1, case when o.n % 60 in (5, 6, 59) then 13 else 5 + demo.pick(o.n, 'lines', 8) end
) position
join offered s on s.supplier = o.supplier and s.i = (case when o.n % 60 = 5 then s.offers - 1
  else demo.pick(o.n, 'first line', s.offers) end + position) % s.offers and position <= s.offers
join demo.stocked p on p.n = s.product_n;
alter table demo.supplier_line add primary key (key);
create index on demo.supplier_line (supplier_order_n);
-- Suppliers that sell nothing get no orders
delete
from demo.supplier_order o
where not exists (select from demo.supplier_line l where l.supplier_order_n = o.n);
analyze demo.supplier_order;
analyze demo.supplier_line;

insert into erp.supplier_order (id, number, supplier_order_number, state, payment_state, supplier_id,
  warehouse_id, supplier_snapshot,
  warehouse_snapshot, currency_id, amount_net, amount_total, position_price,
  tax_status, order_date_time, due_date, delivery_date, actual_delivery_date, comment, created_at, updated_at)
select o.id, demo.number('PO-', o.n),
  case when o.state not in ('open', 'cancelled') and o.n % 5 > 0 then 'AB-' || 30000 + o.n end, o.state,
  case when o.state = 'completed' then 'paid' else 'open' end,
  case when o.n % 40 <> 13 then s.id end, case when o.n % 45 <> 17 then w.id end,
  jsonb_build_object('number', s.number, 'name', s.name, 'email', s.email),
    jsonb_build_object('code', w.code, 'name', w.name),
  l.currency_id, case when l.priced then l.net - l.discount end,
    case when l.priced then l.gross - l.discount end,
    case when l.priced then l.net end, case when o.n % 15 > 0 then case
    when not c.is_default_currency then 'tax-free' when o.n % 13 = 4 then 'gross' else 'net' end end, o.at,
  case when o.n % 4 > 0 then o.at + interval '30 days' end,
    case when o.n % 6 > 0 then o.at + interval '14 days' end,
  case when o.state in ('delivered', 'completed') then o.at + interval '15 days' end,
    case when o.n % 7 = 3 then 'Bitte Lieferavis 24 h vorher' end,
  o.at, case when o.state <> 'open' then least(o.at + interval '2 days', demo.today()) end
from demo.supplier_order o
join (select supplier_order_n, min(currency_id::text)::uuid as currency_id, sum(price * quantity) as net,
  supplier_order_n % 20 <> 19 as priced,
    round(sum(price * quantity * case when factor = 1 then 1 + tax_rate / 100 else 1 end), 2) as gross,
      case when supplier_order_n % 8 = 0 then 10 else 0 end as discount from demo.supplier_line group by 1) l
  on l.supplier_order_n = o.n
join erp.supplier s on s.id = demo.id('supplier', o.supplier)
  join erp.warehouse w on w.id = demo.id('warehouse', o.warehouse) join erp.currency c on c.id = l.currency_id
order by o.n;

insert into erp.supplier_order_line_item (id, supplier_order_id, product_id, position, label, product_number,
  supplier_product_number, quantity,
  min_purchase, purchase_steps, unit_price, total_price, tax_rate,
  expected_delivery_date, actual_delivery_date, created_at, updated_at)
select demo.id('supplier order line', l.key), demo.id('supplier order', supplier_order_n),
  case when l.key % 150 <> 83 then demo.id('product', product_n) end, position, label, number,
    c.supplier_product_number, quantity,
  case when l.key % 10 > 0 then c.min_purchase end, case when l.key % 10 > 0 then c.purchase_steps end,
  case when supplier_order_n % 20 <> 19 then price end,
    case when supplier_order_n % 20 <> 19 then price * quantity end,
    case when supplier_order_n % 20 <> 19 then case when factor = 1 then tax_rate else 0 end end,
  case when supplier_order_n % 6 > 0 then at + interval '14 days' end,
    case when state in ('delivered', 'completed') then at + interval '15 days' end, at,
    case when state in ('delivered', 'completed') then least(at + interval '15 days', demo.today()) end
from demo.supplier_line l join erp.product_supplier_configuration c on c.id = l.configuration_id
order by l.key;

insert into erp.supplier_order_tag (supplier_order_id, tag_id)
select o.id, demo.id('tag', t) from demo.supplier_order o, generate_series(1, 24) t
where case when o.n % 60 = 5 then t <= 12 else demo.pick(o.n * 32 + t, 'supplier order tag', 40) = 0 end;

-- Returns, the newest first: some of those are still on their way to the warehouse
create table demo.return_order as
select row_number() over (order by n) as n, row_number() over (order by n desc) as newest, n as order_n,
  at + interval '15 days' as at,
  n % 2 = 0 as is_complete, customer_n, demo.id('return order', n) as id,
  tax_status, currency_id, factor
from demo.sales_order o where wants_return and state = 'completed';
alter table demo.return_order add column state text;
update demo.return_order set state = case when newest > 10 * demo.scale() then 'completed'
  else (array['none', 'draft', 'created', 'approved', 'in_progress', 'completed'])[1 + newest % 6] end;
analyze demo.return_order;

insert into erp.return_order (id, number, state, order_id, customer_id, created_at)
select id, demo.number('R-', n),
  'open',
  demo.id('order', order_n), demo.id('customer', customer_n), at
from demo.return_order order by n;

create table demo.return_line as
select l.key, r.id as return_order_id, l.product_n, l.batch, l.unit_price, l.tax_rate, r.order_n, r.at,
  r.n as return_order_n,
  case when r.is_complete then l.shipped else greatest(l.shipped / 2, 1) end as quantity
from demo.return_order r join demo.line l on l.order_n = r.order_n
where not l.is_gone and l.product_n is not null and l.shipped > 0 and (r.is_complete or l.slot <= 2);

-- The value of the stock
select ledger.number_movements();
analyze ledger.movement_sequence, ledger.stock_movement;

-- Every eighth product has not been weighed yet
update erp.product p
set gross_weight = round((0.15 + demo.pick(d.n, 'weight', 4000) / 1000.0)::numeric, 3)
from demo.product d
where p.id = demo.id('product', d.n) and d.n % 8 > 0;

insert into valuation.method (id, starts_on, method, created_at)
select demo.id('valuation method', n), (d.day + demo.age())::date, d.method, demo.opening()
from (values (1, date '2024-01-01', 'moving_average'), (2, date '2027-01-01', 'fifo')) d (n, day, method);

-- What was there at the beginning, and what was imported until the end of March
insert into valuation.opening_value (id, stock_movement_id, product_id, unit_value, created_at, updated_at)
select demo.id('opening value', row_number() over (order by m.id)), m.id, m.product_id,
  coalesce(
    round(p.net, 2), case when row_number() over (order by m.id) % 17 = 0 then 0 else 4.5 end
  ),
  date_trunc('day', m.created_at) + interval '3 days',
  case when row_number() over (order by m.id) % 9 = 0
    then date_trunc('day', m.created_at) + interval '20 days' end
from ledger.stock_movement m
left join erp.product_purchase_price p on p.product_id = m.product_id
  and p.currency_id = (select c.id from erp.currency c where c.is_default_currency)
where m.source_special_stock_location_technical_name in ('initialization', 'import')
  and m.created_at < timestamptz '2026-04-01' + demo.age()
order by m.id;

-- Freight and customs, whose invoices come ten days after the goods
with chosen as (
  select r.*, row_number() over (order by r.n) as nth from demo.receipt r
  where r.type = 'Supplier' and r.state = 'completed' and r.at < demo.today() - interval '30 days'
    and r.n % 5 = 2
  order by r.n limit 12
), cost as (
  select row_number() over (order by c.n, l.product_n) as n, c.nth,
    demo.id('goods receipt', c.n) as receipt_id, demo.id('product', l.product_n) as product_id,
    sum(l.quantity) as units, (c.at + interval '10 days')::date as day
  from chosen c join demo.receipt_line l on l.receipt_n = c.n and l.quantity > 0
  group by c.n, c.nth, c.at, l.product_n
)
insert into valuation.landed_cost (id, goods_receipt_id, product_id, amount, day, sequence, note, created_at)
select demo.id('landed cost', c.n), c.receipt_id, c.product_id, round(c.units * 0.35, 2), c.day,
  d.sequence, case when c.nth % 3 > 0 then 'Fracht ' || 4000 + c.nth end, c.day + interval '11 hours'
from cost c
join (select x.day, valuation.cut(x.day) as sequence from (select distinct day from cost) x) d
using (day)
order by c.n;

-- Goods that are out of fashion; one of them sold well after all
with written as (
  select d.n, demo.id('product', k.n) as product_id, d.day, d.reason, d.amount
  from (values
    (1, 7, date '2025-12-30', 'Auslaufmodell', 6.5), (2, 11, date '2025-12-30', 'Farbe nicht gefragt', 4),
    (3, 19, date '2026-03-30', 'Emballage abîmé', 2.75), (4, 23, date '2026-03-30', 'Scratched', 1.2),
    (5, 7, date '2026-05-20', 'Wieder gefragt', -3)
  ) d (n, s, day, reason, amount)
  join demo.stocked k on k.s = d.s
)
insert into valuation.write_down (id, product_id, amount, day, sequence, reason, created_at)
select demo.id('write-down', w.n), w.product_id, w.amount, (w.day + demo.age())::date,
  valuation.cut((w.day + demo.age())::date), w.reason, w.day + demo.age() + interval '15 hours'
from written w order by w.n;

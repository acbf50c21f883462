-- Stock valuation reports: five periods, one of them closed twice, and a draft
select ledger.number_movements();

create function demo.day(day date) returns date language sql stable return (day + demo.age())::date;

-- Everything that came before the last closing has a price
with fault as materialized (
  select f.* from valuation.faults('moving_average', valuation.cut(demo.day('2026-03-31'))) f
),
given as (
  insert into valuation.opening_value (stock_movement_id, product_id, unit_value)
  select f.stock_movement_id, f.product_id,
    coalesce((
      select round(p.net, 2) from erp.product_purchase_price p join erp.currency c on c.id = p.currency_id
      where p.product_id = f.product_id and c.is_default_currency
    ), 4.5)
  from fault f where f.goods_receipt_id is null
  on conflict (stock_movement_id) do nothing
)
update erp.goods_receipt_line_item l set unit_price = coalesce(l.unit_price, 4.5)
from fault f where l.goods_receipt_id = f.goods_receipt_id and l.product_id = f.product_id;
update erp.goods_receipt r
set currency_factor = 1, currency_id = (select c.id from erp.currency c where c.is_default_currency)
where r.currency_factor is null and exists (
  select from valuation.faults('moving_average', valuation.cut(demo.day('2026-03-31'))) f
  where f.goods_receipt_id = r.id
);

-- A stocktake of the first week of January that was typed in a month later
insert into ledger.stock_count (stock_id, quantity, counted_at, recorded_at, difference, stock_movement_id)
select s.id, s.quantity, m.created_at - interval '30 days', m.created_at, 0, m.id
from ledger.stock_movement m
join ledger.stock s on s.product_id = m.product_id and s.place = m.destination_bin_location_id::text
where m.process_type_technical_name = 'stocktaking'
  and m.created_at >= demo.day('2026-02-01') and m.created_at < demo.day('2026-02-10')
order by m.id limit 12;

select valuation.close_report(valuation.create_report(demo.day(d.day)))
from unnest('{2024-12-31,2025-12-31}'::date[]) with ordinality d (day, n) order by d.n;
select valuation.void_report(r.id, 'The freight of December was missing.')
from valuation.report r where r.number = 2;
select valuation.close_report(valuation.create_report(demo.day(d.day)))
from unnest('{2025-12-31,2026-01-31,2026-02-28,2026-03-31}'::date[]) with ordinality d (day, n) order by d.n;
select valuation.create_report(demo.day('2026-04-30'));

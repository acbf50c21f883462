-- Stocktakes: some whose differences are among the movements, and some that are under way
create table demo.take_line as
with corrected as (
  select m.product_id, x.batch_id, b.warehouse_id, b.id as bin_location_id, m.id as movement_id,
    m.created_at::timestamptz as counted_at, m.destination_bin_location_id is not null as came, m.quantity,
    row_number() over (partition by b.warehouse_id order by m.id) as nth
  from ledger.stock_movement m
  join erp.bin_location b on b.id = coalesce(m.source_bin_location_id, m.destination_bin_location_id)
  left join ledger.stock_movement_batch x on x.stock_movement_id = m.id
  where m.process_type_technical_name = 'stocktaking'
    and 'stock_correction' in (m.source_special_stock_location_technical_name,
      m.destination_special_stock_location_technical_name)
), lying as (
  select s.product_id, x.batch_id, coalesce(b.warehouse_id, s.warehouse_id) as warehouse_id,
    s.bin_location_id, coalesce(x.quantity, s.quantity) as quantity,
    row_number() over (partition by coalesce(b.warehouse_id, s.warehouse_id)
      order by s.bin_location_id is not null, s.id, x.batch_id) as nth
  from ledger.stock s left join erp.bin_location b on b.id = s.bin_location_id
  join erp.product p on p.id = s.product_id
  left join ledger.batch_stock x on x.stock_id = s.id and x.quantity > 0 and p.is_batch_managed
  where s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
    and (x.batch_id is not null or not p.is_batch_managed)
)
select dense_rank() over (order by is_done desc, part, warehouse_id) as n,
  row_number() over (partition by is_done, part, warehouse_id
    order by bin_location_id is not null, bin_location_id, product_id, batch_id) as number, t.*
from (
  select true as is_done, (nth - 1) / 14 as part, product_id, batch_id, warehouse_id, bin_location_id,
    movement_id, counted_at, case when came then quantity else - quantity end as difference,
    20 + case when came then 0 else quantity end as expected
  from corrected where nth <= 28
  union all
  select false, (nth - 1) / 14, product_id, batch_id, warehouse_id, bin_location_id, null, null,
    case when nth % 4 = 0 then - least(quantity, 2) when nth % 9 = 0 then 1 else 0 end, quantity
  from lying where nth <= 140
) t;

create table demo.take as
select l.n, l.warehouse_id, count(*) as lines,
  case when bool_and(l.is_done) then 'approved'
    else (array['open', 'counting', 'review', 'cancelled', 'counting', 'review'])[1 + l.n % 6] end as state,
  coalesce(date_trunc('day', min(l.counted_at)), demo.today() - interval '1 day' * (20 - l.n % 20)) as at
from demo.take_line l group by l.n, l.warehouse_id, l.is_done;

insert into erp.stocktake (id, number, state, warehouse_id, counts_all_bins, counts_all_products,
  recount_units, recount_percent, recount_value, comment, created_at, updated_at, reviewed_at, approved_at,
  cancelled_at)
select demo.id('stocktake', t.n), demo.number('STK-', t.n), t.state, t.warehouse_id, t.n % 3 > 0, t.n % 5 > 0,
  case when t.n % 2 = 0 then 5 end, case when t.n % 3 = 0 then 10 end, case when t.n % 4 = 0 then 100 end,
  case when t.n % 3 = 1 then 'Inventur' end, t.at,
  case when t.state <> 'open' then t.at + interval '6 hours' end,
  case when t.state in ('review', 'approved') then t.at + interval '5 hours' end,
  case when t.state = 'approved' then t.at + interval '6 hours' end,
  case when t.state = 'cancelled' then t.at + interval '6 hours' end
from demo.take t order by t.n;

insert into erp.stocktake_scope (id, stocktake_id, bin_location_id, product_id, batch_id)
select demo.id('stocktake scope', row_number() over (order by n, bin_location_id, product_id, batch_id)),
  demo.id('stocktake', n), bin_location_id, product_id, batch_id
from (
  select distinct l.n, l.bin_location_id, null::uuid as product_id, null::uuid as batch_id
  from demo.take_line l where l.n % 3 = 0 and l.bin_location_id is not null
  union all
  select distinct l.n, null::uuid, case when l.batch_id is null then l.product_id end, l.batch_id
  from demo.take_line l where l.n % 5 = 0
) s order by n, bin_location_id, product_id, batch_id;

-- A second sheet is a recount, of every second position in review
insert into erp.stocktake_sheet (id, stocktake_id, number, round, created_at, completed_at)
select demo.id('stocktake sheet', 2 * t.n + r), demo.id('stocktake', t.n), 1 + r, 1 + r,
  t.at + interval '3 hours' * r,
  case when t.state in ('review', 'approved') then t.at + interval '4 hours' end
from demo.take t cross join generate_series(0, 1) r where r = 0 or t.state = 'review' order by 1;

create table demo.take_count as
select t.n, l.number, t.state, t.at, l.product_id, l.batch_id, l.bin_location_id,
  case when l.bin_location_id is null then l.warehouse_id end as warehouse_id,
  coalesce(l.bin_location_id, l.warehouse_id)::text as place, l.expected, l.difference, l.movement_id,
  t.state in ('review', 'approved') or t.state <> 'open' and l.number % 2 = 0 as is_counted,
  coalesce(l.counted_at, t.at + interval '1 hour' + interval '1 minute' * l.number) as counted_at,
  t.state = 'review' and l.number % 2 = 0 as is_recounted
from demo.take t join demo.take_line l on l.n = t.n
union all
-- A bin that should be empty then
select t.n, t.lines + 1, t.state, t.at, null, null, b.id, null, b.id::text, 0, 0, null,
  t.state in ('review', 'approved'), t.at + interval '2 hours', false
from demo.take t
cross join lateral (
  select b.id from erp.bin_location b
  where b.warehouse_id = t.warehouse_id
  order by b.id offset t.n % 7 limit 1
) b
where t.n % 2 = 0 and t.state in ('approved', 'cancelled');

insert into erp.stocktake_line (id, stocktake_id, number, place, warehouse_id, bin_location_id, product_id,
  batch_id, is_found, state, round, expected_quantity, counted_quantity, counted_at, difference,
  earlier_difference, unit_value, reason, approved_at, approved_by, booked_difference, stock_movement_id)
select demo.id('stocktake line', 100 * c.n + c.number), demo.id('stocktake', c.n), c.number, c.place,
  c.warehouse_id, c.bin_location_id, c.product_id, c.batch_id, c.expected = 0 and c.product_id is not null,
  case when c.state in ('approved', 'cancelled') then c.state when not c.is_counted then 'open'
    when not c.is_recounted and abs(c.difference) > 1 then 'beyond_bound' else 'counted' end,
  case when c.is_recounted then 2 else 1 end, c.expected,
  case when c.is_counted then c.expected + c.difference end, case when c.is_counted then c.counted_at end,
  case when c.is_counted then c.difference end, case when c.is_recounted then c.difference - 1 end,
  case when c.is_counted and c.product_id is not null then u.unit_value end,
  case when c.movement_id is not null and c.difference < 0 then 'lost' end,
  case when c.state = 'approved' then c.at + interval '6 hours' end,
  case when c.state = 'approved' then demo.id('credential', 1) end,
  case when c.movement_id is not null then c.difference end, c.movement_id
from demo.take_count c
left join erp.unit_values(array(select distinct x.product_id from demo.take_count x)) u
  on u.product_id = c.product_id
order by 1;

insert into erp.stocktake_count (id, sheet_id, line_id, number, place, warehouse_id, bin_location_id,
  product_id, batch_id, quantity, counted_at, counter_name, credential_id, submitted_at)
select demo.id('stocktake count', 200 * c.n + 2 * c.number + r), demo.id('stocktake sheet', 2 * c.n + r),
  demo.id('stocktake line', 100 * c.n + c.number), c.number, c.place, c.warehouse_id, c.bin_location_id,
  c.product_id, c.batch_id, case when c.is_counted then
    case when c.is_recounted and r = 0 then greatest(c.expected + c.difference - 1, 0)
      else c.expected + c.difference end end,
  case when c.is_counted then c.counted_at - case when c.is_recounted and r = 0 then interval '30 minutes'
    else '0' end end,
  case when c.is_counted then (array['Hanna', 'Thomas'])[1 + r] end,
  case when c.is_counted then demo.id('credential', 2) end,
  case when c.is_counted then c.counted_at + interval '5 minutes' end
from demo.take_count c cross join generate_series(0, 1) r where r = 0 or c.is_recounted order by 1;

update erp.number_range r set last_number = 10000 + (select max(n) from demo.take)
where r.technical_name = 'stocktake';

-- Somebody counts what lies in containers, too
with added as (
  insert into erp.stocktake_line (id, stocktake_id, number, place, stock_container_id, product_id,
    expected_quantity)
  select demo.id('stocktake line', 900000 + s.nth), t.id, t.last + s.nth, s.place, s.stock_container_id,
    s.product_id, s.quantity
  from (
    select k.id, (select max(l.number) from erp.stocktake_line l where l.stocktake_id = k.id) as last
    from erp.stocktake k
    where k.state in ('open', 'counting') and k.warehouse_id = demo.id('warehouse', 1) order by k.id limit 1
  ) t cross join (
    select s.*, row_number() over (order by s.id) as nth
    from ledger.stock s join erp.stock_container c on c.id = s.stock_container_id
    join erp.product p on p.id = s.product_id
    where c.warehouse_id = demo.id('warehouse', 1) and c.fulfillment_order_id is null and s.quantity > 0
      and not p.is_batch_managed
  ) s
  returning id, stocktake_id, number, place, stock_container_id, product_id
)
insert into erp.stocktake_count (id, sheet_id, line_id, number, place, stock_container_id, product_id)
select demo.id('stocktake count', 900000 + a.number), h.id, a.id, a.number, a.place, a.stock_container_id,
  a.product_id
from added a join erp.stocktake_sheet h on h.stocktake_id = a.stocktake_id and h.number = 1;

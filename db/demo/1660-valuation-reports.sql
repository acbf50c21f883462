-- Stock valuation reports: five periods, one of them closed twice, and a draft
select ledger.number_movements();
analyze ledger.movement_sequence, ledger.stock_movement, ledger.stock, erp.goods_receipt,
  erp.goods_receipt_line_item;

create function demo.day(day date) returns date language sql stable return (day + demo.age())::date;

create function demo.give_prices(day date) returns void language plpgsql as $$
begin
  insert into valuation.opening_value (stock_movement_id, product_id, unit_value)
  select f.stock_movement_id, f.product_id,
    coalesce((
      select round(p.net, 2) from erp.product_purchase_price p join erp.currency c on c.id = p.currency_id
      where p.product_id = f.product_id and c.is_default_currency
    ), 4.5)
  from valuation.faults('moving_average', valuation.cut(demo.day(give_prices.day))) f
  where f.goods_receipt_id is null;
  update erp.goods_receipt_line_item l
  set unit_price = coalesce(l.unit_price, 4.5), unit_price_in_default_currency = coalesce(l.unit_price, 4.5),
    total_price_in_default_currency = coalesce(l.unit_price, 4.5) * l.quantity
  from valuation.faults('moving_average', valuation.cut(demo.day(give_prices.day))) f
  where l.goods_receipt_id = f.goods_receipt_id and l.product_id = f.product_id;
  update erp.goods_receipt r
  set currency_factor = 1, currency_id = (select c.id from erp.currency c where c.is_default_currency)
  where r.currency_factor is null and exists (
    select from valuation.faults('moving_average', valuation.cut(demo.day(give_prices.day))) f
    where f.goods_receipt_id = r.id
  );
end
$$;
select demo.give_prices('2026-03-31');

-- Stocktakes of January that were typed in weeks later. The stock is what was counted and what moved since
insert into ledger.stock_count (stock_id, quantity, counted_at, recorded_at, difference, stock_movement_id)
select c.stock_id, c.quantity, c.counted_at, c.created_at, c.difference, c.id
from (
  select distinct on (s.id) s.id as stock_id, m.id, m.created_at, v.counted_at, -1 * v.units as difference,
    s.quantity - coalesce((
      select sum(f.quantity) from ledger.flow f
      where f.product_id = s.product_id and f.place = s.place and f.booked_at > v.counted_at
        and not f.is_count
    ), 0) as quantity
  from ledger.stock_movement m
  cross join lateral (values
    (m.source_bin_location_id, m.quantity), (m.destination_bin_location_id, - m.quantity)
  ) d (bin_location_id, units)
  cross join lateral (
    select demo.day('2026-01-30') + interval '10 hours' as counted_at, d.units
  ) v
  join ledger.stock s on s.product_id = m.product_id and s.bin_location_id = d.bin_location_id
  join erp.product p on p.id = m.product_id and not p.is_batch_managed
  where m.process_type_technical_name in ('stocktaking', 'api')
    and m.created_at >= demo.day('2026-02-01') and m.created_at < demo.day('2026-03-31')
  order by s.id, m.id desc
) c
where c.quantity >= 0 order by c.id;

-- Prices of April came after the draft was made
update erp.goods_receipt_line_item l
set unit_price = null, unit_price_in_default_currency = null, total_price_in_default_currency = null
where l.goods_receipt_id = (
  select r.id from erp.goods_receipt r
  where r.type <> 'Customer' and r.state = 'completed'
    and r.goods_receipt_date_time between demo.day('2026-04-02') and demo.day('2026-04-28')
  order by r.id limit 1
);

-- The same scale gives the same ids
create sequence demo.valuation_number;
create function demo.next_id() returns uuid language sql volatile
return demo.id('stock valuation', nextval('demo.valuation_number'));
alter table valuation.report alter id set default demo.next_id();
alter table valuation.report_warehouse alter id set default demo.next_id();
alter table valuation.report_fault alter id set default demo.next_id();
alter table valuation.report_late_entry alter id set default demo.next_id();
select valuation.close_report(valuation.create_report(demo.day(d.day)))
from unnest('{2024-12-31,2025-12-31}'::date[]) with ordinality d (day, n) order by d.n;
select valuation.void_report(r.id, 'The freight of December was missing.')
from valuation.report r where r.number = 2;
select valuation.close_report(valuation.create_report(demo.day(d.day)))
from unnest('{2025-12-31,2026-01-31,2026-02-28,2026-03-31}'::date[]) with ordinality d (day, n) order by d.n;
select valuation.create_report(demo.day('2026-04-30'));
select demo.give_prices('2026-06-30');

-- Closed within some days, not when this file runs
alter table valuation.report disable trigger keep_report;
do $$
declare
  r valuation.report;
  hash_before text;
begin
  for r in select * from valuation.report order by number loop
    r.created_at := r.reference_date + 5 + coalesce(r.number, 7) + interval '8 hours';
    r.closed_at := case when r.number is not null then r.created_at + interval '1 hour' end;
    r.voided_at := case when r.voided_at is not null then r.closed_at + interval '1 day' end;
    r.previous_hash := case when r.number is not null then hash_before end;
    hash_before := valuation.report_hash(r);
    update valuation.report t
    set created_at = r.created_at, closed_at = r.closed_at, voided_at = r.voided_at,
      previous_hash = r.previous_hash, hash = hash_before
    where t.id = r.id;
  end loop;
end
$$;
alter table valuation.report enable trigger keep_report;
alter table valuation.report alter id set default uuidv7();
alter table valuation.report_warehouse alter id set default uuidv7();
alter table valuation.report_fault alter id set default uuidv7();
alter table valuation.report_late_entry alter id set default uuidv7();

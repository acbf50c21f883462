-- Reservations of stock: for order lines, and for carts that nobody has ordered
create table demo.reservation (
  nth bigint generated always as identity, product_id uuid, warehouse_id uuid, bin_location_id uuid,
  batch_id uuid, order_line_item_id uuid, quantity integer, state text, at timestamptz, reference text,
  note text, lasts interval
);

-- Every third line that still waits, and some that have been shipped, in the warehouse that has most of it
insert into demo.reservation (product_id, warehouse_id, order_line_item_id, quantity, state, at, note)
select l.product_id, s.warehouse_id, l.id, case when l.uncovered > 0 then l.uncovered else l.quantity end,
  case when l.uncovered > 0 then 'active' else 'consumed' end, l.at,
  case when l.nth % 2 = 0 then demo.one_of(l.nth, 'reserved', array['Wird abgeholt', 'Called by phone']) end
from (
  select row_number() over (order by l.id) as nth, l.id, l.product_id, l.quantity, o.order_date_time as at,
    coalesce(ledger.uncovered_units(l.id), 0) as uncovered
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where l.product_id is not null and o.order_date_time < demo.today() - interval '2 days'
) l
cross join lateral (
  select s.warehouse_id from ledger.warehouse_stock s where s.product_id = l.product_id
  order by s.available_quantity desc, s.warehouse_id limit 1
) s
where l.nth % case when l.uncovered > 0 then 3 else 40 end = 0 order by l.uncovered = 0, l.nth;

-- Carts, where a bin has enough: most have been paid or given up. Guides show figures of earlier products
insert into demo.reservation (product_id, warehouse_id, bin_location_id, batch_id, quantity, state, at,
  reference, lasts)
select c.product_id, c.warehouse_id, case when c.nth % 2 = 0 then c.bin_location_id end, c.batch_id,
  1 + demo.pick(c.nth, 'cart', 3),
  (array['released', 'expired', 'expired', 'active'])[1 + demo.pick(c.nth, 'cart state', 4)],
  demo.moment('cart', c.nth, c.count), case when c.nth % 5 > 0 then 'cart ' || 7000 + c.nth end,
  case when c.nth % 3 > 0 then interval '30 minutes' end
from (
  select row_number() over (order by s.id) as nth, count(*) over () as count, s.product_id,
    s.bin_location_id, l.warehouse_id,
    (select min(u.batch_id::text)::uuid from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
      where u.stock_id = s.id and u.quantity > 2 and not b.is_held) as batch_id
  from ledger.stock s join erp.bin_location l on l.id = s.bin_location_id
  join erp.warehouse w on w.id = l.warehouse_id and w.is_stock_available_for_sale
  join erp.product p on p.id = s.product_id
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = l.warehouse_id
  where s.product_id > demo.id('product', 120) and s.quantity > 5 and p.available_stock > 30
    and h.available_quantity > 20
) c
where c.nth % 4 = 0 order by c.nth;

-- A line whose units were promised again and again, in the same bin and of the same batch
insert into demo.reservation (product_id, warehouse_id, bin_location_id, batch_id, order_line_item_id,
  quantity, state, at, lasts)
select x.product_id, x.warehouse_id, x.bin_location_id, x.batch_id, x.line_id, 1, 'released',
  x.at + n * interval '1 hour', interval '1 hour'
from (
  select u.batch_id, s.product_id, s.bin_location_id, b.warehouse_id, l.id as line_id,
    o.order_date_time as at
  from ledger.batch_stock u join ledger.stock s on s.id = u.stock_id
  join erp.bin_location b on b.id = s.bin_location_id
  join erp.sales_order_line_item l on l.product_id = s.product_id
  join erp.sales_order o on o.id = l.order_id and o.order_date_time < demo.today() - interval '2 days'
  order by l.id, u.batch_id limit 1
) x, generate_series(1, 12) n;

insert into erp.stock_reservation (id, product_id, warehouse_id, bin_location_id, batch_id,
  order_line_item_id, quantity, open_quantity, state, expires_at, reference, note, created_at, updated_at)
select demo.id('stock reservation', r.nth), r.product_id, r.warehouse_id, r.bin_location_id, r.batch_id,
  r.order_line_item_id, r.quantity, case r.state when 'active' then r.quantity else 0 end, r.state,
  -- Those that still count last longer than anybody looks at the shop
  r.at + case when r.lasts is not null and r.state = 'active' then interval '50 years' else r.lasts end,
  r.reference, r.note, r.at, case when r.state <> 'active' then r.at + coalesce(r.lasts, '1 day') end
from demo.reservation r order by r.nth;

update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + r.quantity
from (
  select r.product_id, r.warehouse_id, sum(r.open_quantity) as quantity
  from erp.stock_reservation r group by r.product_id, r.warehouse_id
) r
where s.product_id = r.product_id and s.warehouse_id = r.warehouse_id and r.quantity > 0;
update erp.product p set reserved_stock = p.reserved_stock + r.quantity
from (
  select r.product_id, sum(r.open_quantity) as quantity
  from erp.stock_reservation r where r.order_line_item_id is null group by r.product_id
) r
where p.id = r.product_id and r.quantity > 0;
insert into ledger.named_reservation (reservation_id, product_id, warehouse_id)
select r.id, r.product_id, r.warehouse_id from erp.stock_reservation r where ledger.may_owe_units(r);

-- Stock movements
-- Every movement but the first ones, as one row per product, batch and pair of places. step orders those of
-- the same second.
create table demo.flow (
  at timestamptz not null, step integer not null, key bigint not null, product_n bigint not null,
    batch integer, quantity integer not null,
    process text,
  source_type text not null, source_id uuid, source_name text, destination_type text not null,
    destination_id uuid, destination_name text,
    comment text
);

-- Goods come in: to the receipt's own place when it is approved, to their bins when it is completed
insert into demo.flow
select at, 1, n, product_n, batch, quantity, process,
  case when type = 'Customer' then 'return_order' else 'special_stock_location' end,
  return_order_id, case when type <> 'Customer' then 'unknown' end,
  'goods_receipt', demo.id('goods receipt', receipt_n), null
from demo.receipt_line, lateral (select case type when 'Supplier' then 'supplier_order'
  when 'Customer' then 'return_order' else 'free_goods_receipt' end as process) v
where state in ('approved', 'in_progress', 'completed') and quantity > 0;
insert into demo.flow
select l.at + interval '5 hours', 2, l.n, l.product_n, l.batch, l.quantity - l.disposed,
  case type
    when 'Supplier' then 'supplier_order'
    when 'Customer' then 'return_order'
    else 'free_goods_receipt' end,
  'goods_receipt', demo.id('goods receipt', receipt_n), null, h.place_type, h.place_id, null
from demo.receipt_line l join demo.home h on h.product_n = l.product_n and h.warehouse = l.warehouse
where state = 'completed' and l.quantity > l.disposed and l.quantity > 0;
insert into demo.flow
select at + interval '5 hours', 3, n, product_n, batch, disposed, 'return_order', 'goods_receipt',
  demo.id('goods receipt', receipt_n), null,
  'special_stock_location', null, 'stock_correction', 'Entsorgt'
from demo.receipt_line where state = 'completed' and disposed > 0;
-- A negative line goes the other way
insert into demo.flow
select l.at, 1, l.n, l.product_n, l.batch, - l.quantity, 'supplier_order', h.place_type, h.place_id, null,
  'goods_receipt',
  demo.id('goods receipt', receipt_n), null
from demo.receipt_line l
join demo.home h on h.product_n = l.product_n and h.warehouse = l.warehouse
where l.quantity < 0;
insert into demo.flow
select at + interval '5 hours', 2, n, product_n, batch, - quantity, 'supplier_order', 'goods_receipt',
  demo.id('goods receipt', receipt_n), null,
  'special_stock_location', null, 'unknown' from demo.receipt_line where quantity < 0;

-- Goods go out to orders; what a cancelled fulfillment took comes back
insert into demo.flow
select f.sent_at, 4, l.key * 16 + l.part, l.product_n, l.batch, l.sent,
  case f.n % 12 when 5 then 'shipped_automatically' when 8 then 'api_shipping' else 'shipping' end,
  h.place_type, h.place_id, null, 'order', demo.id('order', l.order_n), null
from demo.parcel_line l
join demo.fulfillment f
using (order_n, parcel)
join demo.home h on h.product_n = l.product_n and h.warehouse = l.warehouse
where not l.is_external and not l.is_gone;
insert into demo.flow
select f.sent_at + interval '1 hour', 5, l.key * 16 + l.part, l.product_n, l.batch, l.sent,
  'cancelled_fulfillment', 'order',
  demo.id('order', l.order_n), null, h.place_type, h.place_id, null
from demo.parcel_line l
join demo.fulfillment f
using (order_n, parcel)
join demo.home h on h.product_n = l.product_n and h.warehouse = l.warehouse
where f.is_cancelled and not l.is_external and not l.is_gone;
insert into demo.flow
select at, 6, key, product_n, batch, quantity, 'return_order', 'order', demo.id('order', order_n), null,
  'return_order', return_order_id,
  null from demo.return_line;

-- Relocations: to a second bin, from the other warehouse, by way of a container, by way of the bin that was
-- torn down
create table demo.relocation as
select i.n, demo.moment('relocation', i.n, demo.scale() * 180) as at, p.n as product_n,
  case when p.has_batches then 1 + demo.pick(i.n, 'relocation batch', p.batches) end as batch,
  1 + demo.pick(i.n, 'relocation quantity', 5) as quantity,
  i.n % 6 as kind,
    demo.id('container', 1 + demo.pick(i.n, 'container', 10 + 10 * demo.scale())) as container_id,
  h.place_id as home_id,
    demo.bin_id(1, 1 + (h.bin + demo.pick(i.n, 'other bin', demo.bins(1) - 1)) % demo.bins(1)) as other_id,
    b.place_type as receiving_type, b.place_id as receiving_id, demo.bin_id(1, demo.bins(1) + 1) as old_bin_id
from generate_series(1, demo.scale() * 180) as i (n)
join demo.stocked p on p.s = 1 + demo.pick(i.n, 'relocated product', (select count(*) from demo.stocked))
join demo.home h on h.product_n = p.n and h.warehouse = 1
join demo.home b on b.product_n = p.n and b.warehouse = 2;
insert into demo.flow
select at, 7, n, product_n, batch, quantity, 'relocation', 'bin_location', home_id, null, 'bin_location',
  other_id,
  null from demo.relocation where kind in (0, 1)
union all
select at, 7, n, product_n, batch, quantity, 'api_relocation', receiving_type, receiving_id, null,
  'bin_location', home_id,
  null from demo.relocation where kind in (2, 3)
union all
select at, 7, n, product_n, batch, quantity, 'relocation', 'bin_location', home_id, null, 'stock_container',
  container_id,
  null from demo.relocation where kind = 4
union all
select at + interval '40 minutes', 8, n, product_n, batch, quantity, 'relocation', 'stock_container',
  container_id, null, 'bin_location',
  other_id, null from demo.relocation where kind = 4 and n % 24 > 4 and at < demo.today() - interval '1 hour'
union all
select at, 7, n, product_n, batch, quantity, 'relocation', 'bin_location', home_id, null, 'bin_location',
  old_bin_id,
  null from demo.relocation where kind = 5 and n < 60
union all
select at + interval '2 days', 8, n, product_n, batch, quantity, 'relocation', 'bin_location', old_bin_id,
  null, 'bin_location', home_id,
  null from demo.relocation where kind = 5 and n < 60;

-- Counting, imports and hand-made bookings
insert into demo.flow
select v.at, 9, i.n, p.n, case when p.has_batches then 1 + demo.pick(i.n, 'adjusted batch', p.batches) end,
  1 + demo.pick(i.n, 'adjusted quantity', 4), process,
  case when is_in then 'special_stock_location' else place_type end, case when not is_in then place_id end,
    case when is_in then special end,
  case when is_in then place_type else 'special_stock_location' end, case when is_in then place_id end,
    case when not is_in then special end,
  case process when 'stocktaking' then 'Inventur' when 'api' then 'Regal für Regal' end
from generate_series(1, demo.scale() * 270) as i (n)
join demo.stocked p on p.s = 1 + demo.pick(i.n, 'adjusted product', (select count(*) from demo.stocked))
join demo.home h on h.product_n = p.n and h.warehouse = 1 + i.n % 10 / 8,
lateral (select demo.moment('adjustment', i.n, demo.scale() * 270) as at,
  (array['stocktaking', 'stocktaking', 'incoming', 'outgoing', 'csv_import_incoming', 'csv_import_outgoing',
    'api', 'api_incoming',
    'api_outgoing', null])[1 + i.n % 10] as process,
  i.n % 10 in (0, 2, 4, 7)
    or i.n % 20 in (6, 9) as is_in,
      case when i.n = 20 then 'count_correction' when i.n % 10 in (4, 5) then 'import'
        else 'stock_correction' end as special) v;

-- Serial numbers: seven units come in, one moves on, and one is disposed of. They are the newest movements,
-- so that the ids of the others stay
insert into demo.flow
select at, 10, i, demo.serial_product(), i, 1, process,
  case when step = 1 then 'special_stock_location' else 'bin_location' end,
  case when step > 1 then demo.bin_id(1, 1) end, case when step = 1 then 'import' end,
  case when step = 3 then 'special_stock_location' else 'bin_location' end,
  case when step < 3 then demo.bin_id(1, step) end, case when step = 3 then 'stock_correction' end, null
from (
  values (1, 1, 7, 'csv_import_incoming'), (2, 3, 3, 'relocation'), (3, 5, 5, 'outgoing')
) v (step, low, high, process)
cross join lateral generate_series(low, high) i
cross join lateral (select demo.today() - make_interval(secs => 4 - step) as at) t;

-- The opening stock covers everything that later goes out before it comes in, and a little more for what is
-- kept in stock
create table demo.opening_stock as
with
event as (
  select destination_id as place_id, product_n, batch, at, step, quantity
  from demo.flow
  where destination_type in ('bin_location', 'warehouse')
  union all select source_id, product_n, batch, at, step, - quantity
  from demo.flow
  where source_type in ('bin_location', 'warehouse')
),
running as (
  select place_id, product_n, batch,
    sum(quantity) over (partition by place_id, product_n, batch order by at, step,
    quantity rows unbounded preceding) as balance from event
),
need as (
  select place_id, product_n, batch, greatest(- min(balance), 0) as quantity
  from running
  group by place_id, product_n, batch
  union all
  select h.place_id, p.n, batch,
    demo.pick(p.n, 'surplus ' || warehouse, case warehouse when 1 then 40 when 2 then 90 else 4 end)
  from demo.stocked p
  join demo.home h on h.product_n = p.n
  left join lateral generate_series(1, p.batches) batch on true
  where h.warehouse = 1 and p.s % 6 > 0 or h.warehouse = 2 and p.s % 2 = 0 or h.warehouse = 3 and p.s % 9 = 0
)
select place_id, product_n, batch, sum(quantity)::integer as quantity
from need
group by place_id, product_n, batch
having sum(quantity) > 0;

-- Movements, in time order. An opening movement may hold several batches, all others hold one.
create table demo.movement as
select row_number() over (order by at, step, key, source_id, destination_id) as n, *,
  demo.id('stock movement', row_number() over (order by at, step, key, source_id, destination_id)) as id
from (
  select at, step, key, product_n, batch, quantity,
    case when at >= timestamptz '2025-03-01' + demo.age() then process end as process,
    source_type, source_id, source_name,
    destination_type, destination_id, destination_name, comment from demo.flow
  union all
  select demo.opening() - interval '5 days' + product_n % 7200 * interval '1 second', 0, product_n, product_n,
    null, sum(s.quantity), null,
    'special_stock_location', null,
    case when product_n % 3 = 0 then 'import' else 'initialization' end,
      case when w.id is null then 'bin_location' else 'warehouse' end,
      place_id, null, null
  from demo.opening_stock s left join erp.warehouse w on w.id = s.place_id group by product_n, place_id, w.id
) v;
alter table demo.movement add primary key (n);
analyze demo.movement;

-- Bookings of the last nine months: a shipment is one call, everything else has a call of its own
create table demo.booking as
select n, at, process, comment, row_number() over (order by n) as nth, first_value(id) over of_call as id,
  last_value(id) over of_call as last_id, row_number() over of_call = 1 as is_first
from (
  select m.*, sum((p.n is null)::integer) over (order by m.n) as call
  from demo.movement m
  left join demo.movement p on p.n = m.n - 1
    and (p.process, p.at, p.destination_id) = (m.process, m.at, m.destination_id)
  where m.process ^@ 'api' and m.at >= timestamptz '2025-09-01' + demo.age()
) m
window of_call as (partition by call order by n rows between unbounded preceding and unbounded following);
alter table demo.booking add primary key (n);
insert into ledger.booker (id, name) values
  (demo.id('booker', 1), 'Warehouse terminal'), (demo.id('booker', 2), 'Shop'),
  (demo.id('booker', 3), 'h.meyer')
on conflict (id) do nothing;
insert into ledger.booking (id, last_movement_id, booked_at, credential_id, administrator_id, request_id,
  reference, reason, note)
select id, last_id, at,
  case when nth % 9 > 0 then demo.id('booker', case process when 'api_shipping' then 2 else 1 end) end,
  case when nth % 9 = 0 then demo.id('booker', 3) end, case when nth % 9 > 0 then 'demo-' || nth end,
  case when process <> 'api_shipping' and nth % 3 = 0 then 'ST-' || to_char(at, 'YYYY-MM') end,
  case process when 'api' then 'counting_error'
    when 'api_incoming' then demo.one_of(nth, 'reason in', '{found,counting_error}')
    when 'api_outgoing' then demo.one_of(nth, 'reason out', '{damaged,expired,theft,sample,internal_use}')
    when 'api_relocation' then case when nth % 2 = 0 then 'replenishment' end end,
  comment
from demo.booking where is_first order by n;

insert into ledger.stock_movement (id, created_at, product_id, quantity, source_location_type_technical_name,
  source_warehouse_id,
  source_bin_location_id, source_order_id, source_return_order_id,
  source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name,
    destination_warehouse_id, destination_bin_location_id,
  destination_order_id, destination_return_order_id, destination_goods_receipt_id,
    destination_stock_container_id,
    destination_special_stock_location_technical_name, process_type_technical_name, comment, booking_id)
select m.id, m.at, demo.id('product', product_n), quantity, source_type,
  case when source_type = 'warehouse' then source_id end,
  case when source_type = 'bin_location' then source_id end,
    case when source_type = 'order' then source_id end,
  case when source_type = 'return_order' then source_id end,
    case when source_type = 'goods_receipt' then source_id end,
    case when source_type = 'stock_container' then source_id end, source_name,
  destination_type, case when destination_type = 'warehouse' then destination_id end,
    case when destination_type = 'bin_location' then destination_id end,
      case when destination_type = 'order' then destination_id end,
  case when destination_type = 'return_order' then destination_id end,
    case when destination_type = 'goods_receipt' then destination_id end,
    case when destination_type = 'stock_container' then destination_id end, destination_name,
  m.process, m.comment, b.id
from demo.movement m left join demo.booking b using (n) order by n;

insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
select id, demo.batch_id(product_n, batch), quantity from demo.movement where batch is not null
union all
select m.id, demo.batch_id(s.product_n, s.batch),
  s.quantity from demo.opening_stock s join demo.movement m on m.step = 0
  and m.product_n = s.product_n and m.destination_id = s.place_id where s.batch is not null;

insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
select demo.id('fulfillment line', key), id from demo.movement where step = 4;

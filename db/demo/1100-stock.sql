-- Stock and all figures that follow from the movements
create table demo.balance as
select product_n, type, place_id, name, sum(quantity)::integer as quantity, min(at) as first_at,
  max(at) as last_at, min(n) as first_n
from (
  select n, at, product_n, destination_type as type, destination_id as place_id, destination_name as name,
    quantity
  from demo.movement
  union all select n, at, product_n, source_type, source_id, source_name, - quantity from demo.movement
) v
-- The bin that is torn down below
where place_id is distinct from demo.bin_id(1, demo.bins(1) + 1)
group by product_n, type, place_id, name;

insert into ledger.stock (id, product_id, quantity, location_type_technical_name, warehouse_id,
  bin_location_id, order_id, return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at)
select demo.id(
  'stock', row_number() over (order by coalesce(name = 'count_correction', false), first_n,
    type = 'special_stock_location', type, place_id)
),
  demo.id('product', product_n),
  quantity, type, case when type = 'warehouse' then place_id end,
    case when type = 'bin_location' then place_id end,
  case when type = 'order' then place_id end, case when type = 'return_order' then place_id end,
    case when type = 'goods_receipt' then place_id end, case when type = 'stock_container' then place_id end,
      name,
  first_at, case when last_at > first_at then last_at end
from demo.balance where quantity <> 0 or type in ('warehouse', 'bin_location', 'special_stock_location')
order by 1;

create table demo.held as
select b.product_n, t.warehouse_id, sum(b.quantity) as quantity, min(b.first_at) as first_at,
  max(b.last_at) as last_at
from demo.balance b cross join lateral ledger.site_of(b.type, b.place_id::text) t
where t.warehouse_id is not null group by 1, 2;

insert into ledger.warehouse_stock (
  id, product_id, warehouse_id, quantity, reserved_quantity, created_at, updated_at
)
select demo.id('warehouse stock', row_number() over (order by product_id, warehouse_id)), product_id,
  warehouse_id, coalesce(h.quantity, 0),
  coalesce(r.quantity, 0), coalesce(h.first_at, demo.opening()), nullif(h.last_at, h.first_at)
from (select demo.id('product', product_n) as product_id, * from demo.held) h
full join (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by 1, 2
) r using (product_id, warehouse_id)
order by 1;

update erp.product p
set physical_stock = f.physical, stock_not_available_for_sale = f.not_for_sale, reserved_stock = f.reserved,
  open_supplier_order_quantity = f.ordered, last_supplier_order_at = f.last_at
from (
  select p.id, coalesce(h.physical, 0) as physical, coalesce(h.not_for_sale, 0) as not_for_sale,
    coalesce(r.reserved, 0) as reserved,
    coalesce(o.ordered, 0) as ordered, o.last_at
  from erp.product p
  left join (
    select s.product_id, sum(s.quantity) as physical,
      sum(s.quantity) filter (where not w.is_stock_available_for_sale) as not_for_sale
    from ledger.warehouse_stock s join erp.warehouse w on w.id = s.warehouse_id group by 1
  ) h on h.product_id = p.id
  left join (
    select l.product_id, sum(l.quantity - l.shipped_quantity) as reserved
    from erp.sales_order_line_item l
    join erp.sales_order o on o.id = l.order_id and o.state in ('open', 'in_progress')
    group by 1
  ) r on r.product_id = p.id
  left join (
    select l.product_id,
      sum(l.open_quantity) filter (
        where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')
      ) as ordered,
      max(o.order_date_time) as last_at
    from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id group by 1
  ) o on o.product_id = p.id
) f where f.id = p.id;

insert into ledger.batch_stock (stock_id, batch_id, quantity)
select s.id, b.batch_id, sum(f.direction * b.quantity)
from ledger.flow f join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id
join ledger.stock s on s.product_id = f.product_id and s.place = f.place
where f.location_type_technical_name <> 'special_stock_location'
group by s.id, b.batch_id;

update erp.batch b set physical_stock = f.quantity
from (
  select u.batch_id, sum(u.quantity) as quantity
  from ledger.batch_stock u join ledger.stock s on s.id = u.stock_id
  cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
  where t.warehouse_id is not null group by 1
) f where f.batch_id = b.id;

-- Two batches are on hold, partly in a warehouse that doesn't sell its stock, and a few have expired
update erp.batch b
set is_held = true, stock_state = h.state, held_at = demo.today() - h.age, hold_reason = h.reason,
  updated_at = demo.today() - h.age
from (values
  ('LM-0002-17', 2, 'quality_control', interval '3 days',
    'The supplier tests samples again: glass was found in this lot.'),
  ('KA-0003-15', 1, 'damaged', interval '20 hours', null)
) h (number, nth, state, age, reason)
join demo.stocked p using (number)
where b.id = demo.batch_id(p.n, h.nth);
update erp.batch set is_expired = true where best_before_date < demo.today()::date;
update ledger.warehouse_stock s set held_quantity = u.quantity
from (
  select s.product_id, t.warehouse_id,
    sum(case when t.is_sellable then coalesce(n.quantity, 0) else s.quantity end) as quantity
  from ledger.stock s
  cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
  left join lateral (
    select sum(u.quantity) as quantity from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
    where u.stock_id = s.id and (b.is_held or b.is_expired)
  ) n on true
  where t.warehouse_id is not null group by 1, 2
) u
where s.product_id = u.product_id and s.warehouse_id = u.warehouse_id and u.quantity > 0;
update erp.product_warehouse_configuration c set safety_stock = 2
from ledger.warehouse_stock s
where s.product_id = c.product_id and s.warehouse_id = c.warehouse_id and s.quantity % 7 = 3;
update ledger.warehouse_stock s set safety_stock = c.safety_stock
from erp.product_warehouse_configuration c
where c.product_id = s.product_id and c.warehouse_id = s.warehouse_id and c.safety_stock > 0;
update erp.product p
set stock_not_available_for_sale = p.stock_not_available_for_sale + s.held, safety_stock = s.safety
from (
  select h.product_id, sum(h.held_quantity) as held, sum(h.safety_stock) as safety
  from ledger.warehouse_stock h join erp.warehouse w on w.id = h.warehouse_id
  where w.is_stock_available_for_sale and (h.held_quantity > 0 or h.safety_stock > 0) group by 1
) s
where p.id = s.product_id;

update erp.product_warehouse_configuration c set stock = s.quantity
  from ledger.warehouse_stock s where s.product_id = c.product_id and s.warehouse_id = c.warehouse_id;
update erp.product_stock_location_configuration c set stock = s.quantity
  from ledger.stock s
  where s.product_id = c.product_id and s.place = coalesce(c.warehouse_id, c.bin_location_id)::text;

-- Movements that went through this bin keep the kind of place, but not which one it was
delete from erp.bin_location where id = demo.bin_id(1, demo.bins(1) + 1);

-- Two totes are on their way to the packing table
update erp.stock_container c set fulfillment_order_id = f.id
from (
  select f.id, row_number() over (order by f.id) as nth
  from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
  where f.state = 'Open' and l.warehouse_id = demo.id('warehouse', 1) order by f.id limit 2
) f
where c.id = demo.id('container', 4 * f.nth);

-- Pick lists: most are packed, some are under way, and further GTINs of products
create table demo.pick_order as
select row_number() over (order by o.is_open, o.id) as n, 1 + (row_number() over (
    partition by o.is_open, o.warehouse_id order by o.id) - 1) / 4 as part, o.*
from (
  select f.id, f.state = 'InProgress' as is_open, l.warehouse_id, f.created_at,
    row_number() over (partition by f.state, l.warehouse_id order by f.id desc) as newest
  from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
  where f.type = 'WarehouseLocationToOrder' and l.warehouse_id is not null
    and f.state in ('Closed', 'InProgress')
    and exists (select from erp.fulfillment_order_line_item i
      where i.fulfillment_order_id = f.id and i.product_id is not null
        and (f.state = 'Closed' or i.quantity > i.fulfilled_quantity))
) o
where o.newest <= case when o.is_open then 4 else 30 end;

create table demo.pick_round as
select row_number() over (order by o.is_open, min(o.n)) as n, o.is_open, o.warehouse_id, o.part,
  least(max(o.created_at) + interval '2 hours', demo.today() - interval '1 hour') as at
from demo.pick_order o group by o.is_open, o.warehouse_id, o.part;

insert into erp.pick_list (id, number, state, warehouse_id, assignee, created_at, updated_at, started_at,
  ended_at)
select demo.id('pick list', r.n), demo.number('PL-', r.n),
  case when r.is_open then case when r.n % 2 = 1 then 'open' else 'in_progress' end
    when r.n % 5 = 4 then 'cancelled' else 'completed' end,
  r.warehouse_id, case when r.n % 3 > 0 then (array['Hanna', 'Thomas'])[r.n % 3] end, r.at,
  case when not (r.is_open and r.n % 2 = 1) then r.at + interval '40 minutes' end,
  case when not (r.is_open and r.n % 2 = 1) then r.at + interval '5 minutes' end,
  case when not r.is_open then r.at + interval '40 minutes' end
from demo.pick_round r order by r.n;

-- The containers of the service for lists without a cart
alter table erp.stock_container disable trigger keep_place_of_new;
insert into erp.stock_container (id, number, kind, warehouse_id, created_at)
select demo.id('pick container', n), 'PICK-' || n, 'tote', w.id, demo.opening()
from (select id, row_number() over (order by id) as nth from erp.warehouse where id in (
  select warehouse_id from demo.pick_round)) w
cross join lateral generate_series(8 * w.nth - 7, 8 * w.nth) n order by n;
update erp.stock_container c set fulfillment_order_id = o.id
from (
  select o.id, o.warehouse_id, row_number() over (partition by o.warehouse_id order by o.n) as nth
  from demo.pick_order o where o.is_open
) o
join (
  select c.id, c.warehouse_id, row_number() over (partition by c.warehouse_id order by c.id) as nth
  from erp.stock_container c where c.number like 'PICK-%'
) k on k.warehouse_id = o.warehouse_id and k.nth = o.nth
where c.id = k.id;
alter table erp.stock_container enable trigger keep_place_of_new;

insert into erp.pick_task (id, pick_list_id, number, fulfillment_order_id, stock_container_id, state,
  ended_at)
select demo.id('pick task', o.n), demo.id('pick list', r.n),
  row_number() over (partition by r.n order by o.n), o.id,
  case when o.is_open then (select c.id from erp.stock_container c where c.fulfillment_order_id = o.id)
    when o.n % 3 > 0 then (select c.id from erp.stock_container c where c.warehouse_id = o.warehouse_id
      and c.number like 'PICK-%' order by c.id offset o.n % 8 limit 1) end,
  case when o.is_open then 'open' when r.n % 5 = 4 then 'dropped' else 'packed' end,
  case when not o.is_open then r.at + interval '40 minutes' end
from demo.pick_order o
join demo.pick_round r using (is_open, warehouse_id, part) order by o.n;

insert into erp.pick_list_line (id, pick_list_id, number, pick_task_id, fulfillment_order_line_item_id,
  product_id, batch_id, bin_location_id, stock_container_id, quantity, picked_quantity, packed_quantity,
  state, short_at, updated_at)
select demo.id('pick list line', row_number() over (order by x.round, x.number)),
  demo.id('pick list', x.round), x.number, demo.id('pick task', x.n),
  case when x.state <> 'dropped' then x.item_id end, x.product_id, x.batch_id,
  case when not x.in_container then x.bin_location_id end,
  case when x.in_container then demo.id('container', 1) end, x.quantity,
  case when x.state = 'picked' then x.quantity else 0 end,
  case when x.state = 'picked' then x.quantity else 0 end, x.state,
  case when x.state = 'short' then x.at + interval '20 minutes' end,
  case when x.state <> 'open' then x.at + interval '30 minutes' end
from (
  select r.n as round, r.at, o.n, i.id as item_id, i.product_id, i.units as quantity, k.bin_location_id,
    k.batch_id,
    not r.is_open and i.nth % 11 = 0 as in_container,
    row_number() over (partition by r.n order by k.code nulls last, i.id) as number,
    case when r.is_open then 'open' when r.n % 5 = 4 then 'dropped' when i.nth % 11 = 0 then 'short'
      else 'picked' end as state
  from demo.pick_order o join demo.pick_round r using (is_open, warehouse_id, part)
  cross join lateral (
    select i.*, row_number() over (order by i.id) + o.n as nth,
      case when r.is_open then i.quantity - i.fulfilled_quantity else i.quantity end as units
    from erp.fulfillment_order_line_item i
    where i.fulfillment_order_id = o.id and i.product_id is not null
      and (not r.is_open or i.quantity > i.fulfilled_quantity)
  ) i
  left join lateral (
    select s.bin_location_id, b.batch_id, l.code
    from ledger.stock s join erp.bin_location l on l.id = s.bin_location_id
    left join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
    where s.product_id = i.product_id and l.warehouse_id = o.warehouse_id
    order by coalesce(b.quantity, s.quantity) desc, s.id, b.batch_id limit 1
  ) k on true
) x
order by x.round, x.number;

-- Cases of 12, whose GTINs begin with 2; the last digit is the check digit
insert into erp.product_gtin (id, product_id, gtin, quantity)
select demo.id('product gtin', p.n), p.id, g.gtin, (array[12, 6, 24, 1])[1 + p.n % 4]
from (
  select id, row_number() over (order by id) as n from erp.product
  where not is_batch_managed order by id limit 40
) p
cross join lateral (
  select '2952' || lpad(p.n::text, 9, '0') || d as gtin from generate_series(0, 9) d
  where erp.is_gs1_number('2952' || lpad(p.n::text, 9, '0') || d)
) g;

update erp.number_range r set last_number = x.last
from (values ('pick_list', 10000 + (select max(n) from demo.pick_round)),
  ('pick_container', (select count(*) from erp.stock_container where number like 'PICK-%'))) x (name, last)
where r.technical_name = x.name;

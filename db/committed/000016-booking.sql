--! Previous: sha1:44acd2a10d0614334739287170e945cbd235231f
--! Hash: sha1:5db136bcb55f841905202b3a4156c783765d58b9
--! Message: booking

--! split: 0200-ledger.sql
-- Booking of stock. Figures follow from the ledger by triggers, whoever inserts.
create table if not exists ledger.batch_stock (
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid not null references erp.batch on delete cascade,
  quantity integer not null default 0 constraint batch_stock_quantity_is_not_negative check (quantity >= 0),
  primary key (stock_id, batch_id)
);
create index if not exists batch_stock_batch_id_idx on ledger.batch_stock (batch_id);
alter table ledger.batch_stock enable row level security;
comment on table ledger.batch_stock is
  'How much of the stock in a place belongs to a batch. What belongs to none is the rest. Special places have none.';

drop view if exists ledger.proof;
drop view if exists ledger.flow cascade;
--! Included views/flow.sql
-- A movement seen from its two ends: what came to one place, and what left another.
create view ledger.flow with (security_invoker = true) as
select m.id as movement_id, m.product_id, m.created_at, m.process_type_technical_name, m.destination_location_type_technical_name as location_type_technical_name,
  m.destination_warehouse_id as warehouse_id, m.destination_bin_location_id as bin_location_id, m.destination_order_id as order_id,
  m.destination_return_order_id as return_order_id, m.destination_goods_receipt_id as goods_receipt_id,
  m.destination_stock_container_id as stock_container_id,
  m.destination_special_stock_location_technical_name as special_stock_location_technical_name,
  coalesce(m.destination_warehouse_id::text, m.destination_bin_location_id::text, m.destination_order_id::text,
    m.destination_return_order_id::text, m.destination_goods_receipt_id::text, m.destination_stock_container_id::text,
    m.destination_special_stock_location_technical_name) as place,
  m.quantity, 1 as direction
from ledger.stock_movement m
union all
select m.id, m.product_id, m.created_at, m.process_type_technical_name, m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id,
  m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id, m.source_stock_container_id,
  m.source_special_stock_location_technical_name,
  coalesce(m.source_warehouse_id::text, m.source_bin_location_id::text, m.source_order_id::text, m.source_return_order_id::text,
    m.source_goods_receipt_id::text, m.source_stock_container_id::text, m.source_special_stock_location_technical_name),
  - m.quantity, -1
from ledger.stock_movement m;
comment on view ledger.flow is
  'Each movement twice: as what came to its destination, and, negative, as what left its source. place is the key of ledger.stock, null once the place was deleted; direction is 1 or -1. No joins here: with one, Postgres could not look up single movements in it by index.';
--! EndIncluded views/flow.sql
--! Included views/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
create view ledger.proof with (security_invoker = true) as
with
balance as (select product_id, place, sum(quantity) as quantity from ledger.flow where place is not null group by product_id, place),
building as (
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity, coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id group by h.product_id
),
reserved as (
  select l.product_id, sum(l.quantity - l.shipped_quantity) as quantity
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where o.state in ('open', 'in_progress') and l.product_id is not null group by l.product_id
),
promised as (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
),
ordered as (
  select l.product_id, coalesce(sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location') and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place as (select stock_id, batch_id, sum(quantity) as quantity from batch_flow where stock_id is not null group by stock_id, batch_id),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place), coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text, coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text, coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text, x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity', coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id), coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id group by s.id having sum(b.quantity) > s.quantity
  union all select 'warehouse_stock.quantity', coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id), coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity', coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id), coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text, coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text, coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text, greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text, coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id group by f.id
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded views/proof.sql

insert into ledger.batch_stock (stock_id, batch_id, quantity)
select s.id, b.batch_id, sum(f.direction * b.quantity)
from ledger.flow f join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id
join ledger.stock s on s.product_id = f.product_id and s.place = f.place
where f.location_type_technical_name <> 'special_stock_location'
group by s.id, b.batch_id
on conflict (stock_id, batch_id) do nothing;

-- A product goes with its batches and its movements, in whichever order
alter table ledger.stock_movement_batch alter constraint stock_movement_batch_batch_id_fkey deferrable initially deferred;
create index if not exists stock_movement_product_id_created_at_idx on ledger.stock_movement (product_id, created_at);

drop type if exists ledger.line cascade;
drop type if exists ledger.named_place cascade;
drop type if exists ledger.draft cascade;
drop type if exists ledger.booking cascade;
create type ledger.line as (
  product_id uuid, source_warehouse_id uuid, source_bin_location_id uuid, destination_warehouse_id uuid, destination_bin_location_id uuid,
  quantity integer, batch_id uuid, expected_quantity integer, counted_at timestamptz
);
comment on type ledger.line is
  'A line of a mutation of stock. Where there is one place only, it is the source; quantity is then a target or, for adjustments, a change.';
create type ledger.named_place as (line bigint, name text, warehouse_id uuid, bin_location_id uuid);
comment on type ledger.named_place is 'A place of a line, with the name that the input gives it.';
create type ledger.draft as (
  field text[], product_id uuid, quantity integer, batch_id uuid, source_type text, source text, destination_type text, destination text, process text
);
comment on type ledger.draft is
  'A movement to be booked. source and destination are keys of places as in ledger.stock.place; field is where the input says the quantity, for user errors.';
create type ledger.booking as (stock_movements uuid[], stocks uuid[]);
comment on type ledger.booking is 'Ids of the movements that were booked and of the stock that they changed.';

--! Included functions/ledger/lock.sql
create or replace function ledger.lock(product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.warehouse w where w.id = any (warehouse_ids) order by w.id for key share;
  perform from erp.bin_location b where b.id = any (bin_location_ids) order by b.id for key share;
  perform from erp.product p where p.id = any (product_ids) order by p.id for no key update;
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a circle: warehouses and bins against being deleted and against a change of what they count for, then the products. Whoever has a product''s lock is alone with all of its stock and figures.';
--! EndIncluded functions/ledger/lock.sql
--! Included functions/ledger/place_of.sql
create or replace function ledger.place_of(warehouse_id uuid, bin_location_id uuid, out type text, out place text)
language sql immutable
return row (case when warehouse_id is null then 'bin_location' else 'warehouse' end, coalesce(warehouse_id, bin_location_id)::text);
comment on function ledger.place_of(uuid, uuid) is 'Kind and key (see ledger.stock.place) of the place that is a warehouse or a bin.';
--! EndIncluded functions/ledger/place_of.sql
--! Included functions/ledger/quantity_at.sql
create or replace function ledger.quantity_at(product_id uuid, place text, batch_id uuid default null) returns integer
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(case when quantity_at.batch_id is null
    then (select s.quantity from ledger.stock s where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
    else (select b.quantity from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = quantity_at.batch_id
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
  end, 0);
end;
comment on function ledger.quantity_at(uuid, text, uuid) is 'Units of a product, or of one batch of it, in a place (see ledger.stock.place).';

create or replace function ledger.moved_since(product_id uuid, place text, batch_id uuid, moment timestamptz) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(sum(case when moved_since.batch_id is null then f.quantity else f.direction * b.quantity end), 0)
  from ledger.flow f left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = moved_since.batch_id
  where f.product_id = moved_since.product_id and f.place = moved_since.place and f.created_at > moved_since.moment
    and coalesce(f.process_type_technical_name, '') not in ('api', 'stocktaking');
end;
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Units of a product, or of one batch of it, that came to a place after a moment, less those that left it. What counts have corrected (processes api, stocktaking) did not move. Bookings carry whole seconds; one of the same second counts as earlier.';
--! EndIncluded functions/ledger/quantity_at.sql
--! Included functions/ledger/keep_figures.sql
create or replace function ledger.open_stock(movement_ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id, order_id, return_order_id,
    goods_receipt_id, stock_container_id, special_stock_location_technical_name)
  select distinct f.product_id, f.location_type_technical_name, f.warehouse_id, f.bin_location_id, f.order_id, f.return_order_id,
    f.goods_receipt_id, f.stock_container_id, f.special_stock_location_technical_name
  from ledger.flow f where f.movement_id = any (movement_ids)
  on conflict (product_id, place) do nothing;
end;
comment on function ledger.open_stock(uuid[]) is 'Makes the rows of stock, at 0, that movements change and that are not there yet.';

create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  -- A posting function has these locks already; what is inserted by hand gets them here.
  perform ledger.lock(array(select product_id from booked));

  perform ledger.open_stock(array(select id from booked));

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct f.product_id, coalesce(f.warehouse_id, b.warehouse_id)
  from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
  where f.location_type_technical_name in ('warehouse', 'bin_location')
  on conflict (product_id, warehouse_id) do nothing;

  with flow as materialized (
    select f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id) as warehouse_id, sum(f.quantity) as change
    from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
    group by f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id) having sum(f.quantity) <> 0
  ),
  held as materialized (
    select f.product_id, f.warehouse_id, sum(f.change) as change
    from flow f where f.warehouse_id is not null group by f.product_id, f.warehouse_id having sum(f.change) <> 0
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + f.change
    from flow f where s.product_id = f.product_id and s.place = f.place
  ),
  in_configured_place as (
    update erp.product_stock_location_configuration c set stock = c.stock + f.change
    from flow f where c.product_id = f.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = f.place
  ),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change
    from held h where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
  ),
  in_configured_warehouse as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change
    from held h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id
  )
  update erp.product p
  set physical_stock = p.physical_stock + h.change, stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale
  from (
    select held.product_id, sum(held.change) as change, coalesce(sum(held.change) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
    from held join erp.warehouse w on w.id = held.warehouse_id group by held.product_id
  ) h where p.id = h.product_id;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted, whoever did: brings stock, warehouse stock, the figures of products and of their configurations up to date in the same statement.';

create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(select m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  insert into ledger.batch_stock (stock_id, batch_id)
  select distinct s.id, m.batch_id
  from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
  on conflict (stock_id, batch_id) do nothing;

  with flow as materialized (
    select s.id as stock_id, m.batch_id, sum(m.quantity * f.direction) as change,
      coalesce(sum(m.quantity * f.direction) filter (where f.location_type_technical_name in ('warehouse', 'bin_location')), 0) as held
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where f.location_type_technical_name <> 'special_stock_location'
    group by s.id, m.batch_id
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id
  )
  update erp.batch b set physical_stock = b.physical_stock + f.held
  from (select flow.batch_id, sum(flow.held) as held from flow group by flow.batch_id having sum(flow.held) <> 0) f where b.id = f.batch_id;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted: brings the stock of batches up to date, in each place and altogether.';
--! EndIncluded functions/ledger/keep_figures.sql
--! Included functions/ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that count by the old value; later ones wait for this change.
    perform from erp.warehouse w where w.id = old.id for update;
    return new;
  end if;
  perform ledger.lock(array(select s.product_id from ledger.warehouse_stock s where s.warehouse_id = new.id));
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale + case when new.is_stock_available_for_sale then - s.quantity else s.quantity end
  from ledger.warehouse_stock s where s.warehouse_id = new.id and s.product_id = p.id and s.quantity <> 0;
  return null;
end
$$;
comment on function ledger.keep_saleable_stock() is
  'Triggers before and after a warehouse starts or stops selling its stock: moves it into or out of the products'' stock not available for sale.';
--! EndIncluded functions/ledger/keep_saleable_stock.sql
--! Included functions/ledger/fill_configured_stock.sql
create or replace function ledger.fill_configured_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  -- A booking that is under way changes the figure after this or is seen by it
  perform ledger.lock(array[new.product_id]);
  if tg_table_name = 'product_warehouse_configuration' then
    new.stock := coalesce((select s.quantity from ledger.warehouse_stock s
      where s.product_id = new.product_id and s.warehouse_id = new.warehouse_id), 0);
  else
    new.stock := coalesce((select s.quantity from ledger.stock s
      where s.product_id = new.product_id and s.place = coalesce(new.warehouse_id, new.bin_location_id)::text), 0);
  end if;
  return new;
end
$$;
comment on function ledger.fill_configured_stock() is 'Trigger: gives a new configuration of a product the stock that there is at its place.';
--! EndIncluded functions/ledger/fill_configured_stock.sql
--! Included functions/ledger/require_empty_place.sql
create or replace function ledger.require_empty_place() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  held bigint;
begin
  if tg_table_name = 'warehouse' then
    select sum(s.quantity) into held from ledger.warehouse_stock s where s.warehouse_id = old.id;
  else
    select sum(s.quantity) into held from ledger.stock s where s.bin_location_id = old.id;
  end if;
  if held > 0 then
    perform mutation.refuse('WAREHOUSE_NOT_EMPTY', format('%s %s still holds stock: %s units.',
      case tg_table_name when 'warehouse' then 'Warehouse' else 'Bin' end, old.code, held), null, jsonb_build_object('quantity', held));
  end if;
  return coalesce(new, old);
end
$$;
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse or a bin that holds stock, and to move such a bin to another warehouse.';
--! EndIncluded functions/ledger/require_empty_place.sql
--! Included functions/ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  errors jsonb;
  bins uuid[];
  booked uuid[];
  places uuid[];
  -- Not the time of the transaction: it may have waited for the locks.
  moment timestamptz;
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  bins := array(
    select d.source::uuid from unnest(drafts) d where d.source_type = 'bin_location'
    union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'bin_location'
  );
  perform ledger.lock(
    array(select d.product_id from unnest(drafts) d),
    array(
      select d.source::uuid from unnest(drafts) d where d.source_type = 'warehouse'
      union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'warehouse'
      union select b.warehouse_id from erp.bin_location b where b.id = any (bins)
    ),
    bins
  );
  moment := date_trunc('second', clock_timestamp());

  select jsonb_agg(mutation.user_error('BATCH_REQUIRED', format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);

  -- What each place has now, and how it changes: all lines together, so that their order does not matter.
  with flow as (
    select d.product_id, d.source as place, d.batch_id, - d.quantity as change, d.ordinality as line
    from unnest(drafts) with ordinality d where d.source_type <> 'special_stock_location'
    union all
    select d.product_id, d.destination, d.batch_id, d.quantity, d.ordinality
    from unnest(drafts) with ordinality d where d.destination_type <> 'special_stock_location'
  ),
  place as (
    select f.*, coalesce(s.quantity, 0) as quantity,
      coalesce(s.quantity, 0) - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change, min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity, min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b join place p on p.product_id = b.product_id and p.place = b.place where p.quantity + p.change >= 0
    union all
    select p.loose_line, mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);

  booked := array(select uuidv7() from generate_subscripts(drafts, 1));
  insert into ledger.stock_movement (id, created_at, product_id, quantity, process_type_technical_name, comment,
    source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
    source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
    destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id, destination_special_stock_location_technical_name)
  select booked[d.ordinality], moment, d.product_id, d.quantity, d.process, note,
    d.source_type,
    case d.source_type when 'warehouse' then d.source::uuid end, case d.source_type when 'bin_location' then d.source::uuid end,
    case d.source_type when 'order' then d.source::uuid end, case d.source_type when 'return_order' then d.source::uuid end,
    case d.source_type when 'goods_receipt' then d.source::uuid end, case d.source_type when 'stock_container' then d.source::uuid end,
    case d.source_type when 'special_stock_location' then d.source end,
    d.destination_type,
    case d.destination_type when 'warehouse' then d.destination::uuid end, case d.destination_type when 'bin_location' then d.destination::uuid end,
    case d.destination_type when 'order' then d.destination::uuid end, case d.destination_type when 'return_order' then d.destination::uuid end,
    case d.destination_type when 'goods_receipt' then d.destination::uuid end, case d.destination_type when 'stock_container' then d.destination::uuid end,
    case d.destination_type when 'special_stock_location' then d.destination end
  from unnest(drafts) with ordinality d order by d.ordinality;

  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select booked[d.ordinality], d.batch_id, d.quantity from unnest(drafts) with ordinality d where d.batch_id is not null;

  places := array(
    select s.id from (
      select f.product_id, f.place, min(f.position) as position
      from (
        select d.product_id, d.source as place, d.source_type as type, d.ordinality * 2 as position from unnest(drafts) with ordinality d
        union all select d.product_id, d.destination, d.destination_type, d.ordinality * 2 + 1 from unnest(drafts) with ordinality d
      ) f where f.type <> 'special_stock_location' group by f.product_id, f.place
    ) t join ledger.stock s on s.product_id = t.product_id and s.place = t.place order by t.position
  );
  return row (booked, places)::ledger.booking;
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: the one way into the ledger. Its statements are planned once, and by index: estimates for a handful of lines are poor, and planning anew took a quarter of the time. Takes the locks, checks that no real place is left with less than nothing of a product or a batch, and inserts; triggers bring the figures up to date. Answers the movements in the order of the drafts, and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
--! EndIncluded functions/ledger/post.sql
--! Included functions/ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  places ledger.named_place[];
  errors jsonb;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  elsif cardinality(lines) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s lines; %s are allowed at once.', cardinality(lines), most),
      '{lines}', jsonb_build_object('lines', cardinality(lines), 'maximum', most));
  end if;
  places := array(
    select row (l.ordinality, p.name, p.warehouse_id, p.bin_location_id)::ledger.named_place
    from unnest(lines) with ordinality l cross join lateral (values
      (case operation when 'transfer' then 'source' else 'place' end, l.source_warehouse_id, l.source_bin_location_id),
      (case operation when 'transfer' then 'destination' end, l.destination_warehouse_id, l.destination_bin_location_id)
    ) p (name, warehouse_id, bin_location_id) where p.name is not null
  );

  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be negative.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where operation = 'set' and l.quantity < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The change must not be 0.', '{delta}'
    from unnest(lines) with ordinality l where operation = 'adjust' and l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'
    from unnest(lines) with ordinality l where operation = 'transfer' and l.quantity < 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'This moment is still to come.', '{counted_at}'
    from unnest(lines) with ordinality l where l.counted_at > clock_timestamp()
    union all
    select p.line, 'INVALID', 'Name a warehouse or a bin, and not both.', array[p.name]
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
    union all
    select l.ordinality, 'INVALID', 'Source and destination are the same place.', '{destination}'
    from unnest(lines) with ordinality l
    where l.source_warehouse_id = l.destination_warehouse_id or l.source_bin_location_id = l.destination_bin_location_id
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line sets the same stock.', '{}'
    from (
      select l.*, row_number() over (partition by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l where operation = 'set' and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  perform ledger.lock(
    array(select l.product_id from unnest(lines) l),
    array(select p.warehouse_id from unnest(places) p where p.warehouse_id is not null
      union select b.warehouse_id from unnest(places) p join erp.bin_location b on b.id = p.bin_location_id),
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null)
  );

  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', '{product_id}'::text[]
    from unnest(lines) with ordinality l where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such warehouse.', array[p.name, 'warehouse_id']
    from unnest(places) p where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such bin.', array[p.name, 'bin_location_id']
    from unnest(places) p where p.bin_location_id is not null and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(lines) with ordinality l where l.batch_id is not null and not exists (select from erp.batch b where b.id = l.batch_id)
    union all
    select l.ordinality, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(lines) with ordinality l join erp.batch b on b.id = l.batch_id where b.product_id <> l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  select jsonb_agg(mutation.user_error('QUANTITY_CHANGED', format('The place holds %s units, not %s.', q.quantity, l.expected_quantity),
    array['lines', (l.ordinality - 1)::text, 'expected_quantity'],
    jsonb_build_object('expected', l.expected_quantity, 'actual', q.quantity)) order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  cross join lateral ledger.quantity_at(l.product_id, coalesce(l.source_warehouse_id, l.source_bin_location_id)::text, l.batch_id) q (quantity)
  where l.expected_quantity <> q.quantity;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'What the mutations of stock (set, adjust, transfer) have in common: checks their lines, and takes the locks of the booking, so that what is read afterwards is what the booking finds. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, QUANTITY_CHANGED.';
--! EndIncluded functions/ledger/prepare.sql
--! Included functions/ledger/set_stock.sql
create or replace function ledger.set_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  errors jsonb;
  booking ledger.booking;
begin
  perform ledger.prepare(lines, 'set');

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK', format('%s were counted, but %s more have left the place since.', l.quantity, - c.change),
    array['lines', (l.ordinality - 1)::text, 'quantity'], jsonb_build_object('available', l.quantity, 'requested', - c.change)) order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  cross join lateral ledger.moved_since(l.product_id, coalesce(l.source_warehouse_id, l.source_bin_location_id)::text, l.batch_id, l.counted_at) c (change)
  where l.counted_at is not null and l.quantity + c.change < 0;
  perform mutation.refuse(errors);

  booking := ledger.post(array(
    select row (array['lines', (l.ordinality - 1)::text, 'quantity'], l.product_id, abs(d.difference), l.batch_id,
      case when d.difference > 0 then 'special_stock_location' else p.type end, case when d.difference > 0 then 'stock_correction' else p.place end,
      case when d.difference > 0 then p.type else 'special_stock_location' end, case when d.difference > 0 then p.place else 'stock_correction' end,
      'api')::ledger.draft
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    cross join lateral (
      select l.quantity - ledger.quantity_at(l.product_id, p.place, l.batch_id)
        + case when l.counted_at is null then 0 else ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end
    ) d (difference)
    where d.difference <> 0 order by l.ordinality
  ), note);
  -- Stock that was right already belongs to the answer too
  booking.stocks := array(
    select s.id from unnest(lines) with ordinality l
    join ledger.stock s on s.product_id = l.product_id and s.place = coalesce(l.source_warehouse_id, l.source_bin_location_id)::text
    group by s.id order by min(l.ordinality)
  );
  return booking;
end
$$;
comment on function ledger.set_stock(ledger.line[], text) is
  'Sets stock to what was counted: books the difference against stock_correction. With counted_at, what was booked after that moment stays on top of the count.';
--! EndIncluded functions/ledger/set_stock.sql
--! Included functions/ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.post(array(
    select row (array['lines', (l.ordinality - 1)::text, 'delta'], l.product_id, abs(l.quantity), l.batch_id,
      case when l.quantity > 0 then 'special_stock_location' else p.type end, case when l.quantity > 0 then 'stock_correction' else p.place end,
      case when l.quantity > 0 then p.type else 'special_stock_location' end, case when l.quantity > 0 then p.place else 'stock_correction' end,
      case when l.quantity > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft
    from unnest(lines) with ordinality l cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adds to stock or takes from it, against stock_correction.';
--! EndIncluded functions/ledger/adjust_stock.sql
--! Included functions/ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.post(array(
    select row (array['lines', (l.ordinality - 1)::text, 'quantity'], l.product_id, l.quantity, l.batch_id, s.type, s.place, d.type, d.place,
      'api_relocation')::ledger.draft
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id) d
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text) is 'Moves stock from one warehouse or bin to another.';
--! EndIncluded functions/ledger/transfer_stock.sql

create or replace trigger keep_figures after insert on ledger.stock_movement
  referencing new table as booked for each statement execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked for each statement execute function ledger.keep_batch_figures();
create or replace trigger keep_figures_first before update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale) execute function ledger.keep_saleable_stock();
create or replace trigger keep_figures after update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale) execute function ledger.keep_saleable_stock();
create or replace trigger keep_figures before insert on erp.product_warehouse_configuration
  for each row execute function ledger.fill_configured_stock();
create or replace trigger keep_figures before insert on erp.product_stock_location_configuration
  for each row execute function ledger.fill_configured_stock();
create or replace trigger require_empty_place before delete on erp.warehouse
  for each row execute function ledger.require_empty_place();
create or replace trigger require_empty_place before delete on erp.bin_location
  for each row execute function ledger.require_empty_place();
create or replace trigger require_empty_place_before_move before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.require_empty_place();

-- The ledger can be added to, and that is all.
select api_meta.allow('service_ledger', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_ledger', 'erp.product', 'select', 'update (physical_stock, stock_not_available_for_sale)');
select api_meta.allow('service_ledger', 'erp.batch', 'select', 'update (physical_stock)');
select api_meta.allow('service_ledger', 'erp.product_warehouse_configuration', 'select', 'update (stock)');
select api_meta.allow('service_ledger', 'erp.product_stock_location_configuration', 'select', 'update (stock)');
-- Postgres asks for the right to change something before it lets a role lock a row
select api_meta.allow('service_ledger', 'erp.warehouse', 'select', 'update (updated_at)');
select api_meta.allow('service_ledger', 'erp.bin_location', 'select', 'update (updated_at)');

select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.lock(uuid[], uuid[], uuid[])',
  'ledger.keep_figures()', 'ledger.keep_batch_figures()', 'ledger.keep_saleable_stock()', 'ledger.fill_configured_stock()',
  'ledger.post(ledger.draft[], text)', 'ledger.set_stock(ledger.line[], text)', 'ledger.adjust_stock(ledger.line[], text)',
  'ledger.transfer_stock(ledger.line[], text)']::regprocedure[]) routine;
grant select on ledger.flow to service_ledger;
grant execute on function ledger.open_stock(uuid[]), ledger.lock(uuid[], uuid[], uuid[]), ledger.place_of(uuid, uuid), ledger.quantity_at(uuid, text, uuid),
  ledger.moved_since(uuid, text, uuid, timestamptz), ledger.prepare(ledger.line[], text) to service_ledger;
-- Workflows take the locks of their bookings early
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
grant execute on function ledger.set_stock(ledger.line[], text), ledger.adjust_stock(ledger.line[], text),
  ledger.transfer_stock(ledger.line[], text) to service_writer;

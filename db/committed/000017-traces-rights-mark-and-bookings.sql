--! Previous: sha1:855305541f493a8ac4860c4a2a27721fae8da591
--! Hash: sha1:5430733a9b162758752303936edb959b7f23ed13
--! Message: traces-rights-mark-and-bookings

--! split: 17-writes.sql
-- Bookings look at less, and write what is configured along with the other figures
drop function if exists ledger.examine(ledger.leg[]);
drop function if exists ledger.write_new_stock(ledger.place_change[], boolean);
drop function if exists ledger.write_configured_figures(ledger.place_change[]);
drop function if exists
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean);
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out opens boolean,
  out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change)::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    bool_or(s.id is null),
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, opens, recounted
  from (
    select l.product_id, l.place_type, l.place, sum(l.change) as change, min(l.position) as position,
      bool_or(l.change < 0) as leaves, bool_or(l.change > 0) as comes,
      bool_or(l.batch_id is not null) as names_batches,
      min(l.booked_at) filter (where not l.is_count) as moved_at,
      sum(l.change) <> 0 or min(l.booked_at) < max(l.booked_at) as has_moved
    from unnest(legs) l group by l.product_id, l.place_type, l.place order by min(l.position)
  ) g
  -- Where units leave, which each product does somewhere, so that it is read once. One that has been deleted
  -- lets the booking fail, for its stock can't be opened
  left join erp.product p on p.id = g.product_id and g.leaves
  left join ledger.stock s on s.product_id = g.product_id and s.place = g.place
  left join erp.bin_location b on b.id = case g.place_type when 'bin_location' then g.place::uuid end
  left join lateral (
    select case g.place_type when 'warehouse' then g.place::uuid else b.warehouse_id end
  ) w (id) on true;
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'What legs of movements change, one entry for each product and place, and what is to be seen to: '
  'needs_care when they may have to be refused or warned of, which is rare (batches or variants have a '
  'part in them, or a place has not enough); opens when rows of stock are not there yet; and the stock that '
  'was counted, as is known, after the moment of a leg. The products are locked.';
select api_meta.plan_by_index('ledger.examine(ledger.leg[])');
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/lock_lines.sql
create or replace function ledger.lock_lines(lines ledger.line[]) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
begin
  select array_agg(distinct l.product_id) as products,
    array_agg(distinct p.warehouse_id) filter (where p.warehouse_id is not null) as warehouses,
    coalesce(array_agg(distinct p.bin_id) filter (where p.bin_id is not null), '{}') as bins
  into named
  from unnest(lines) l
  cross join lateral (values (l.source_warehouse_id, l.source_bin_location_id),
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id)
  where coalesce(p.warehouse_id, p.bin_id) is not null;
  return ledger.lock(named.products, array(
    select n.id from unnest(named.warehouses) n (id)
    union select b.warehouse_id from erp.bin_location b where b.id = any (named.bins)
  ), named.bins);
end
$$;
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Answers whether all that they name is '
  'there.';
grant execute on function ledger.lock_lines(ledger.line[]) to service_ledger;
--! EndIncluded ledger/lock_lines.sql
--! Included ledger/write_new_stock.sql
create or replace function ledger.write_new_stock(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with opened as (
    insert into ledger.stock (id, product_id, quantity, location_type_technical_name, warehouse_id,
      bin_location_id, order_id, return_order_id, goods_receipt_id, stock_container_id,
      special_stock_location_technical_name)
    select c.stock_id, c.product_id, c.change, c.place_type,
      case c.place_type when 'warehouse' then c.place::uuid end,
      case c.place_type when 'bin_location' then c.place::uuid end,
      case c.place_type when 'order' then c.place::uuid end,
      case c.place_type when 'return_order' then c.place::uuid end,
      case c.place_type when 'goods_receipt' then c.place::uuid end,
      case c.place_type when 'stock_container' then c.place::uuid end,
      case c.place_type when 'special_stock_location' then c.place end
    from unnest(changes) c where c.is_new order by c.position
    returning stock as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from opened o cross join lateral events.stock_insert_events(o.n) e order by (o.n).id;
end
$$;
comment on function ledger.write_new_stock(ledger.place_change[]) is
  'Makes the rows of stock that are not there yet, and tells of them. Only for ledger.write_figures.';
grant execute on function ledger.write_new_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/write_new_stock.sql
--! Included ledger/changed_parts.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.changed_parts(
  changes ledger.place_change[], others ledger.figure_change[]
)
returns table (
  product_id uuid, warehouse_id uuid, change integer, promised integer, reserved integer, awaited integer,
  "position" bigint
)
language sql stable
begin atomic
  select x.product_id, x.warehouse_id, sum(x.change)::integer, sum(x.promised)::integer,
    sum(x.reserved)::integer, sum(x.awaited)::integer, min(x."position")
  from (
    select c.product_id, c.warehouse_id, c.change, 0, 0, 0, c."position"
    from unnest(changes) c where c.warehouse_id is not null
    union all
    select o.product_id, o.warehouse_id, 0, o.promised, o.reserved, o.awaited, null from unnest(others) o
  ) x (product_id, warehouse_id, change, promised, reserved, awaited, "position")
  group by x.product_id, x.warehouse_id;
end;
comment on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[]) is
  'By how much the figures of each product change in each warehouse, and without one, by a booking and what '
  'changes along with it.';
grant execute on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[])
  to service_booker;
--! EndIncluded ledger/changed_parts.sql
--! Included ledger/open_warehouse_stock.sql
create or replace function ledger.open_warehouse_stock(
  changes ledger.place_change[], others ledger.figure_change[]
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.warehouse_stock (product_id, warehouse_id, quantity, reserved_quantity)
  select p.product_id, p.warehouse_id, p.change, p.promised
  from ledger.changed_parts(changes, others) p
  where p.warehouse_id is not null and p."position" is not null and not exists (
    select from ledger.warehouse_stock h
    where h.product_id = p.product_id and h.warehouse_id = p.warehouse_id)
  order by p."position";
end;
comment on function ledger.open_warehouse_stock(ledger.place_change[], ledger.figure_change[]) is
  'Makes the rows of the stock of warehouses that ledger.write_figures found missing, with their figures.';
grant execute on function ledger.open_warehouse_stock(ledger.place_change[], ledger.figure_change[])
  to service_booker;
--! EndIncluded ledger/open_warehouse_stock.sql
--! Included ledger/write_figures.sql
create or replace function ledger.write_figures(
  changes ledger.place_change[], others ledger.figure_change[], opens boolean
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  seen record;
begin
  if opens then
    perform ledger.write_new_stock(changes);
  end if;
  perform ledger.write_stock(changes, today);
  with part as materialized (select * from ledger.changed_parts(changes, others)),
  in_warehouse as (
    update ledger.warehouse_stock s
    set quantity = s.quantity + h.change, reserved_quantity = s.reserved_quantity + h.promised,
      updated_at = today
    from part h
    where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id and (h.change, h.promised) <> (0, 0)
    returning s.available_quantity
  ),
  configured as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change, updated_at = today
    from part h
    where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id and h.change <> 0
  ),
  configured_places as (
    update erp.product_stock_location_configuration s set stock = s.stock + c.change, updated_at = today
    from unnest(changes) c
    where c.warehouse_id is not null and c.change <> 0
      and s.product_id = c.product_id and coalesce(s.warehouse_id, s.bin_location_id)::text = c.place
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale,
      reserved_stock = p.reserved_stock + h.reserved,
      open_supplier_order_quantity = p.open_supplier_order_quantity + h.awaited
    from (
      select f.product_id, sum(f.change)::integer as change, min(f.position) as position,
        sum(case when w.is_stock_available_for_sale then 0 else f.change end)::integer as not_for_sale,
        sum(f.reserved)::integer as reserved, sum(f.awaited)::integer as awaited
      from part f left join erp.warehouse w on w.id = f.warehouse_id group by f.product_id
      having bool_or((f.change, f.reserved, f.awaited) <> (0, 0, 0))
    ) h where p.id = h.product_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_product p cross join lateral events.product_update_events(p.o, p.n) e order by p.position
  )
  select exists (select from in_product p where (p.n).available_stock < 0)
      or exists (select from in_warehouse w where w.available_quantity < 0) as lacks,
    (select count(*) from in_warehouse)
      < (select count(*) from part where warehouse_id is not null and (change, promised) <> (0, 0)) as opens
  into seen;
  if seen.opens then
    perform ledger.open_warehouse_stock(changes, others);
  end if;
  return seen.lacks;
end
$$;
comment on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean) is
  'Brings the figures up to date with what ledger.examine found, and with what else changes, and tells of '
  'it: stock, warehouse stock, products, and their configurations, each row once. Answers whether '
  'available stock that it changed is below 0 now.';
select api_meta.plan_by_index(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean)');
select api_meta.give(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean)',
  'service_booker');
grant execute on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean)
  to service_ledger;
--! EndIncluded ledger/write_figures.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  perform ledger.lock(array(select distinct product_id from booked));
  select * into seen from ledger.examine(array(
    select row (row_number() over (order by min(f.movement_id::text), min(f.direction)), f.product_id,
      f.location_type_technical_name, f.place, sum(f.quantity), null, f.booked_at, f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.id
    group by f.product_id, f.location_type_technical_name, f.place, f.booked_at, f.is_count
  ));
  if seen.changes is not null then
    perform ledger.write_figures(seen.changes, '{}', seen.opens);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anybody but ledger.book: takes the locks that a booking '
  'takes, and brings the figures up to date in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/book_correction.sql
create or replace function ledger.book_correction(
  d ledger.draft, note text, out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  comes constant boolean := d.source_type = 'special_stock_location';
  real_place constant text := case when comes then d.destination else d.source end;
  special constant text := case when comes then d.source else d.destination end;
  change constant integer := case when comes then d.quantity else - d.quantity end;
  counted_from constant timestamptz :=
    case when not ledger.is_count(d.process, d.source, d.destination) then moment end;
  cause constant jsonb := events.cause();
  seen record;
  m ledger.stock_movement;
  stock ledger.stock;
  product record;
begin
  select p.stock, p.special_id, p.is_for_sale, (p.held).id as held_id, p.configuration_id,
    p.place_configuration_id
  into seen
  from ledger.plain_place(d.product_id, real_place, special, comes, counted_from) p
  where (p.stock).quantity + change >= 0;
  if not found then
    return;
  end if;
  m := ledger.movement_of(d, moment, note);
  insert into ledger.stock_movement values (m.*);
  stock := seen.stock;
  stock_id := stock.id;
  update ledger.stock s
  set quantity = s.quantity + case when s.id = stock_id then change else - change end, updated_at = today
  where s.id = any (array[stock_id, seen.special_id]);
  if seen.special_id is null then
    insert into ledger.stock (product_id, quantity, location_type_technical_name,
      special_stock_location_technical_name)
    values (d.product_id, - change, 'special_stock_location', special);
  end if;
  stock.quantity := stock.quantity + change;
  stock.updated_at := today;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p
  set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale =
      p.stock_not_available_for_sale + case when seen.is_for_sale then 0 else change end
  where p.id = d.product_id returning with (old as o, new as n) o, n into product;
  if seen.configuration_id is not null then
    update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.configuration_id;
  end if;
  if seen.place_configuration_id is not null then
    update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.place_configuration_id;
  end if;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, cause from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(seen.stock, stock)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  movement_id := m.id;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(ledger.draft, text) is
  'Books one movement between a warehouse or bin and a special place by plain statements, which takes much '
  'less than what books any number, and leaves the same. Answers the movement, the stock, and whether '
  'available stock is below 0 now; nulls when there is something to be seen to, and then nothing is booked. '
  'Only for ledger.book.';
select api_meta.plan_by_index('ledger.book_correction(ledger.draft, text)');
select api_meta.give('ledger.book_correction(ledger.draft, text)', 'service_booker');
grant execute on function ledger.book_correction(ledger.draft, text) to service_ledger;
--! EndIncluded ledger/book_correction.sql
--! Included ledger/book.sql
create or replace function ledger.book(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := clock_timestamp();
  legs ledger.leg[];
  booked record;
  seen record;
  movement_ids uuid[];
begin
  if cardinality(drafts) = 0 then
    perform ledger.write_figures('{}', others, false) where others <> '{}';
    return row ('{}', '{}')::ledger.booking;
  end if;
  if cardinality(drafts) = 1 and ledger.is_correction(drafts[1]) then
    booked := ledger.book_correction(drafts[1], note);
    if booked.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if booked.movement_id is not null then
      return row (array[booked.movement_id], array[booked.stock_id])::ledger.booking;
    end if;
  end if;
  legs := ledger.legs_of(drafts, moment);
  seen := ledger.examine(legs);
  if seen.needs_care then
    perform ledger.check_variants(drafts);
    perform ledger.require_batches(drafts);
    perform ledger.require_stock(drafts);
  end if;

  movement_ids := ledger.write_movements(drafts, moment, note);
  if ledger.write_figures(seen.changes, others, seen.opens) then
    perform ledger.warn_of_promises(drafts);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  -- Without need of care there are no batches
  if seen.needs_care then
    perform ledger.write_batches(drafts, movement_ids);
    perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  end if;
  return row (movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booking;
end
$$;
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements, of which the locks have been taken: checks that no real place is left with less than '
  'nothing of a product or a batch, and writes each row once, also where other figures change along with '
  'them. Answers the movements in the order of the drafts, and the stock that they changed. User errors '
  'INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.book(ledger.draft[], text, ledger.figure_change[])');
grant execute on function ledger.book(ledger.draft[], text, ledger.figure_change[]) to service_ledger;
--! EndIncluded ledger/book.sql
--! Included ledger/next_movement_ids.sql
create or replace function ledger.next_movement_ids(amount integer) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Drawing an id takes much longer than counting on from it. 42 of its bits stay random
  beginning constant text := left(ledger.next_movement_id()::text, 31);
begin
  return array(
    select (beginning || to_hex(x'10000'::integer + n))::uuid from generate_series(0, amount - 1) n
  );
end
$$;
comment on function ledger.next_movement_ids(integer) is
  'New ids for movements of one booking, in order, as ledger.next_movement_id gives one.';
grant execute on function ledger.next_movement_ids(integer) to service_booker;
--! EndIncluded ledger/next_movement_ids.sql
--! Included ledger/write_movements.sql
create or replace function ledger.write_movements(drafts ledger.draft[], moment timestamptz, note text)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- First the number of the transaction, then ids (ledger.next_movement_id)
  transaction_number constant bigint := pg_current_xact_id()::text::bigint;
  ids constant uuid[] := ledger.next_movement_ids(cardinality(drafts));
begin
  with booked as (
    insert into ledger.stock_movement (
      id, transaction_id, created_at, microseconds, product_id, quantity, process_type_technical_name,
      comment,
      source_location_type_technical_name, source_warehouse_id, source_bin_location_id,
      source_order_id, source_return_order_id, source_goods_receipt_id, source_stock_container_id,
      source_special_stock_location_technical_name,
      destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id,
      destination_order_id, destination_return_order_id, destination_goods_receipt_id,
      destination_stock_container_id, destination_special_stock_location_technical_name
    )
    select ids[d.ordinality], transaction_number, date_trunc('second', moment), ledger.microseconds(moment),
      d.product_id, d.quantity, d.process, note,
      d.source_type,
      case d.source_type when 'warehouse' then d.source::uuid end,
      case d.source_type when 'bin_location' then d.source::uuid end,
      case d.source_type when 'order' then d.source::uuid end,
      case d.source_type when 'return_order' then d.source::uuid end,
      case d.source_type when 'goods_receipt' then d.source::uuid end,
      case d.source_type when 'stock_container' then d.source::uuid end,
      case d.source_type when 'special_stock_location' then d.source end,
      d.destination_type,
      case d.destination_type when 'warehouse' then d.destination::uuid end,
      case d.destination_type when 'bin_location' then d.destination::uuid end,
      case d.destination_type when 'order' then d.destination::uuid end,
      case d.destination_type when 'return_order' then d.destination::uuid end,
      case d.destination_type when 'goods_receipt' then d.destination::uuid end,
      case d.destination_type when 'stock_container' then d.destination::uuid end,
      case d.destination_type when 'special_stock_location' then d.destination end
    from unnest(drafts) with ordinality d order by d.ordinality
    returning stock_movement as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from booked b cross join lateral events.stock_movement_insert_events(b.n) e order by (b.n).id;
  return ids;
end
$$;
comment on function ledger.write_movements(ledger.draft[], timestamptz, text) is
  'Adds movements to the ledger, in the order of their drafts, and tells of them; answers their ids. Only '
  'for ledger.book, which checks them first.';
select api_meta.plan_by_index('ledger.write_movements(ledger.draft[], timestamptz, text)');
select api_meta.give('ledger.write_movements(ledger.draft[], timestamptz, text)', 'service_booker');
grant execute on function ledger.write_movements(ledger.draft[], timestamptz, text) to service_ledger;
--! EndIncluded ledger/write_movements.sql
--! Included ledger/write_singles.sql
create or replace function ledger.write_singles(singles ledger.single[])
returns table (nth integer, movement_ids uuid[], stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  number constant xid8 := pg_current_xact_id(); -- Before ids (ledger.next_movement_id)
  ids constant uuid[] := ledger.next_movement_ids(cardinality(singles));
begin
  return query
  with plain as materialized (select * from ledger.plain_singles(singles, moment, ids)),
  moved as not materialized (select * from plain where change <> 0),
  booked as (
    insert into ledger.stock_movement
    select (m.movement).*
    from (select ledger.movement_of(p.draft, p.booked_at, p.note, p.movement_id) as movement
      from moved p where p.side = 1 order by p.nth offset 0) m returning stock_movement as n
  ),
  counted as (
    insert into ledger.stock_count (stock_id, quantity, counted_at, difference, stock_movement_id)
    select (p.stock).id, p.counted, p.booked_at, p.change, p.movement_id
    from plain p where p.counted is not null order by p.nth
  ),
  opened as (
    insert into ledger.stock (product_id, quantity, location_type_technical_name,
      special_stock_location_technical_name)
    select (p.product).id, - sum(p.change), 'special_stock_location', 'stock_correction' from moved p
    where p.special_id is null and (p.draft).process <> 'api_relocation' group by 1 order by 1
  ),
  in_places as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from (select x.id, sum(x.change) from moved p cross join lateral (
      values ((p.stock).id, p.change), (p.special_id, - p.change)) x (id, change) group by 1) c (id, change)
    where s.id = c.id
  ),
  configured_places as (
    update erp.product_stock_location_configuration t set stock = t.stock + c.n, updated_at = today
    from (select p.place_configuration_id, sum(p.change) from moved p group by 1) c (id, n) where t.id = c.id
  ),
  -- What stays in its warehouse changes none of its figures
  part as materialized (
    select p.held_id, p.configuration_id, (p.product).id as product_id, sum(p.change) as change,
      sum(p.not_for_sale) as not_for_sale from moved p group by p.nth, 1, 2, 3 having sum(p.change) <> 0
  ),
  in_warehouses as (
    update ledger.warehouse_stock s set quantity = s.quantity + c.change, updated_at = today
    from (select p.held_id, sum(p.change) from part p group by 1) c (id, change) where s.id = c.id
  ),
  configured as (
    update erp.product_warehouse_configuration t set stock = t.stock + c.change, updated_at = today
    from (select p.configuration_id, sum(p.change) from part p group by 1) c (id, change) where t.id = c.id
  ),
  in_products as (
    update erp.product p set physical_stock = p.physical_stock + c.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + c.not_for_sale
    from (select p.product_id, sum(p.change), sum(p.not_for_sale) from part p group by 1)
      c (id, change, not_for_sale) where p.id = c.id
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, p.cause
    from plain p left join booked b on (b.n).id = p.movement_id
    cross join lateral ledger.events_of_single(b.n, p.side, p.stock, p.product, p.change, p.stock_change,
      p.own_change, p.own_not_for_sale, p.product_change, p.not_for_sale_change, today) e
    order by p.nth, e.position
  )
  select p.nth, array_remove(array_agg(p.movement_id), null), array_agg((p.stock).id order by p.side)
  from plain p group by p.nth;
end
$$;
comment on function ledger.write_singles(ledger.single[]) is
  'Makes mutations of stock with one line each together: what ledger.book does for each, with events and '
  'figures in them as if one had been made after the other, and their counts. Answers those that were made; '
  'of the others nothing is. The locks have been taken.';
select api_meta.plan_by_index('ledger.write_singles(ledger.single[])');
select api_meta.give('ledger.write_singles(ledger.single[])', 'service_booker');
grant execute on function ledger.write_singles(ledger.single[]) to service_ledger;
--! EndIncluded ledger/write_singles.sql

-- Answers are ids, which hardly become shorter when they are compressed
alter table mutation.idempotency_key alter column payload set storage external;

-- Rows that come many at a time, and are updated soon after, find room in their page
alter table ledger.stock set (fillfactor = 80);
alter table erp.supplier_order_line_item set (fillfactor = 80);
alter table erp.sales_order_line_item set (fillfactor = 90);
alter table erp.fulfillment_order_line_item set (fillfactor = 90);

--! split: 0600-traces.sql
-- A bulk operation belongs to the trace of the request that has asked for it
alter table bulk.operation drop column if exists traceparent;
alter table bulk.operation add column traceparent text;
comment on column bulk.operation.traceparent is
  'The trace of the request that has asked for it; null when it was not traced.';
comment on column events.event.traceparent is
  'The trace of the request that has caused it, for the webhooks that tell of it: traceparent and, behind a '
  'space, tracestate. Null when it was not traced.';
drop function if exists bulk.begin_upload(uuid, text[], text, text, text, uuid);
drop function if exists bulk.take(uuid, integer, integer);
drop function if exists
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer);
--! Included bulk/begin_upload.sql
create or replace function bulk.begin_upload(credential_id uuid, scopes text[], resource text, format text,
  idempotency_key text, claim uuid, traceparent text default null)
returns table (id uuid, is_ours boolean, is_same boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_variable
declare
  present bulk.operation;
begin
  if idempotency_key is not null then
    perform pg_advisory_xact_lock(mutation.key_lock(credential_id, 'bulk ' || idempotency_key));
    select * into present from bulk.operation o
    where o.credential_id = begin_upload.credential_id
      and o.idempotency_key = begin_upload.idempotency_key;
  end if;
  if present.id is null then
    insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, idempotency_key,
      claim, claimed_until, row_count, traceparent)
    values (credential_id, scopes, 'import', 'uploading', resource, format, idempotency_key, claim,
      now() + bulk.upload_pause(), 0, traceparent)
    returning o.id into id;
    return query select id, true, true;
    return;
  end if;
  is_same := (present.kind, present.resource, present.format) = ('import', resource, format);
  is_ours := is_same and present.state = 'uploading';
  if is_ours then
    -- That upload was cut off, or is about to be: its next chunk will be refused
    delete from bulk.chunk c where c.operation_id = present.id;
    update bulk.operation o
    set claim = begin_upload.claim, claimed_until = now() + bulk.upload_pause(), scopes = begin_upload.scopes,
      traceparent = begin_upload.traceparent, next_chunk = 0, stored_bytes = 0, row_count = 0
    where o.id = present.id;
  end if;
  return query select present.id, is_ours, is_same;
end
$$;
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) is
  'Begins the upload of a file. With a key that was used before: begins it again if the file has not '
  'arrived, or else answers the operation that it has made. is_ours: the file is to be sent; is_same: the '
  'key was used for the same kind of file.';

create or replace function bulk.upload_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '10 minutes';
comment on function bulk.upload_pause() is
  'After what time without anything new an upload counts as cut off.';
grant execute on function bulk.upload_pause() to service_writer;
select api_meta.give('bulk.begin_upload(uuid, text[], text, text, text, uuid, text)', 'service_writer');
grant execute on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) to service_worker;
--! EndIncluded bulk/begin_upload.sql
--! Included bulk/take.sql
create or replace function bulk.take(claim uuid, at_once integer, lease_ms integer)
returns table (id uuid, kind text, resource text, format text, query text, variables jsonb, locale text,
  credential_id uuid, scopes text[], next_chunk integer, traceparent text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  most_attempts constant integer := 10;
begin
  perform pg_advisory_xact_lock(hashtextextended('bulk.take', 0));
  update bulk.operation o
  set state = 'failed', error_code = 'INTERNAL_SERVER_ERROR', finished_at = now(),
    error_message = 'It failed again and again, through a fault of ours.',
    expires_at = now() + bulk.lifetime()
  where o.state = 'running' and o.claimed_until < now() and o.attempts >= most_attempts;
  return query
    update bulk.operation o
    set state = 'running', claim = take.claim, claimed_until = now() + lease_ms * interval '1 ms',
      started_at = coalesce(o.started_at, now()), attempts = o.attempts + 1
    where o.id = (
      select w.id
      from bulk.operation w
      where (w.state = 'queued' or w.state = 'running' and w.claimed_until < now())
        and not exists (
          select from bulk.operation r
          where r.credential_id = w.credential_id and r.state = 'running' and r.claimed_until >= now())
        and at_once > (
          select count(*) from bulk.operation r where r.state = 'running' and r.claimed_until >= now())
      order by w.id limit 1)
    returning o.id, o.kind, o.resource, o.format, o.query, o.variables, o.locale, o.credential_id,
      bulk.scopes_of(o.id), o.next_chunk, o.traceparent;
end
$$;
comment on function bulk.take(uuid, integer, integer) is
  'Takes the bulk operation that is to be worked on next, for some milliseconds: the oldest that waits, or '
  'that somebody left. No more than so many are worked on at once, and of a credential one.';

create or replace function bulk.lifetime() returns interval
language sql stable
return greatest(interval '7 days',
  nullif(pg_catalog.current_setting('service.keep_bulk_results', true), '')::interval);
comment on function bulk.lifetime() is
  'How long a bulk operation is kept after its end: the setting service.keep_bulk_results, and at least the '
  '7 days that clients are promised.';
grant execute on function bulk.lifetime() to service_writer;
select api_meta.give('bulk.take(uuid, integer, integer)', 'service_writer');
grant execute on function bulk.take(uuid, integer, integer) to service_worker;
--! EndIncluded bulk/take.sql
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  if format not in ('jsonl', 'csv') then
    perform mutation.refuse('INVALID', 'A format is jsonl or csv.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query has up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'Variables are an object.', '{variables}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included bulk/import_chunk.sql
create or replace function bulk.import_chunk(operation_id uuid, claim uuid, number integer, version name,
  operation name, list text, rows jsonb, lines integer[], faults jsonb, lease_ms integer,
  traceparent text default null)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present bulk.operation;
  results jsonb := '[]';
begin
  select * into present from bulk.operation o
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    return 'gone';
  elsif (select p.name from auth.current_plan() p) is distinct from 'full' then
    return 'FORBIDDEN';
  end if;
  perform set_config('service.scopes',
    coalesce(array_to_string(bulk.scopes_of(operation_id), ' '), ''), true),
    set_config('service.credential_id', present.credential_id::text, true),
    set_config('service.request_id', operation_id::text, true),
    set_config('service.traceparent', coalesce(traceparent, ''), true);
  if not auth.has_scope(present.resource || ':write') then
    return 'SCOPE_MISSING';
  end if;
  if jsonb_array_length(rows) > 0 then
    results := bulk.upsert(version, operation, list, rows);
  end if;
  insert into bulk.refusal (operation_id, line, number, code, message, field, details)
  select operation_id, f.line, row_number() over (partition by f.line order by f.n), f.error ->> 'code',
    f.error ->> 'message', f.field, nullif(f.error -> 'details', 'null')
  from (
    select lines[r.place], e.error, e.n,
      -- Without the list and the place in it
      (array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))))[3:]
    from jsonb_array_elements(results) with ordinality r (result, place)
    cross join jsonb_array_elements(r.result -> 'user_errors') with ordinality e (error, n)
    union all
    select (e.error ->> 'line')::integer, e.error, e.n,
      array(select jsonb_array_elements_text(e.error -> 'field'))
    from jsonb_array_elements(faults) with ordinality e (error, n)
  ) f (line, error, n, field);
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, attempts = 0, claimed_until = now() + lease_ms * interval '1 ms',
    created_count = o.created_count + c.created, updated_count = o.updated_count + c.updated,
    done_count = o.done_count + c.done,
    refused_count = o.refused_count + c.refused + (
      select count(distinct f -> 'line') from jsonb_array_elements(faults) f),
    stored_bytes = o.stored_bytes - (
      select length(k.content) from bulk.chunk k
      where k.operation_id = o.id and k.number = import_chunk.number)
  from (
    select count(*) filter (where r ->> 'outcome' = 'CREATED') as created,
      count(*) filter (where r ->> 'outcome' = 'UPDATED') as updated,
      count(*) filter (where r ->> 'outcome' <> 'REFUSED') as done,
      count(*) filter (where r ->> 'outcome' = 'REFUSED') as refused
    from jsonb_array_elements(results) r
  ) c
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    -- Cancelled, or taken by another process meanwhile: then nothing of this is to be done
    raise exception 'The bulk operation is no longer ours.' using errcode = 'serialization_failure';
  end if;
  delete from bulk.chunk k
  where k.operation_id = import_chunk.operation_id and k.number = import_chunk.number;
  return 'done';
end
$$;
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text) is
  'Takes in the rows of a chunk, with the rights that the credential has now, notes refusals, and marks the '
  'chunk as done, in one transaction: no row is done twice. Faults are rows that can not be read. '
  'Answers done; gone when somebody else works on it, or it was cancelled; FORBIDDEN when the plan allows no '
  'mutations; SCOPE_MISSING when the credential may not write any more.';
select api_meta.give(
  'bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)',
  'service_writer'
);
grant execute on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)
  to service_worker;
--! EndIncluded bulk/import_chunk.sql

--! split: 0610-comments-in-dumps.sql
-- pg_dump leaves out the comment of a constraint that is a trigger, but has the trigger's
comment on constraint warehouse_has_its_defaults on erp.warehouse is null;
comment on trigger warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\n'
  'One warehouse must be the default, and one the default for receiving. Make another one it first.';
--! Included mutation/violation.sql
create or replace function mutation.violation(
  constraint_schema name, constraint_table name, constraint_name name
)
returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (note) as (
    select obj_description(c.oid, 'pg_constraint') from pg_constraint c
    where c.conname = constraint_name
      and c.conrelid = to_regclass(format('%I.%I', constraint_schema, constraint_table))
    union all
    -- Dumps lack the comments of constraints that are triggers
    select obj_description(t.oid, 'pg_trigger') from pg_trigger t
    where t.tgname = constraint_name
      and t.tgrelid = to_regclass(format('%I.%I', constraint_schema, constraint_table))
    union all
    select obj_description(to_regclass(format('%I.%I', constraint_schema, constraint_name)), 'pg_class')
  )
  select mutation.user_error(m[1], m[3], string_to_array(nullif(m[2], ''), ','))
  from found cross join lateral regexp_match(found.note, '^@userError +([A-Z_]+) *([a-z_,]*)\s+(.*)$') m
  where m is not null limit 1;
end;
comment on function mutation.violation(name, name, name) is
  'The user error that a violated constraint means, from the constraint''s comment: @userError CODE '
  'column, and on the next line a sentence for people. Null when the comment says nothing: then the '
  'violation is a fault of ours.';
grant execute on function mutation.violation(name, name, name) to service_writer;
--! EndIncluded mutation/violation.sql

--! split: 0650-derive-rules.sql
--! Included api_meta/derive_rules.sql
create or replace function api_meta.derive_rules() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select r.relation, t.name, t.columns, b.columns as behind, t.name = 'uphold_figures' as is_of_figures,
      concat_ws(' or ', case t.name when 'uphold_rules' then 'insert' end, 'update of ' || a.names) as events
    from (
      select c.conrelid::regclass as relation,
        array_agg(distinct k order by k) filter (where b.is_booked) as booked,
        array_agg(distinct k order by k) filter (where not b.is_booked) as others
      from pg_constraint c cross join unnest(c.conkey) k
      cross join lateral (
        select has_column_privilege('service_booker', c.conrelid, k, 'update')
      ) b (is_booked)
      where c.contype = 'c' and not c.conenforced group by c.conrelid
    ) r
    -- A booking changes little, and is asked for the rules of that only
    cross join lateral (values ('uphold_rules', r.others), ('uphold_figures', r.booked)) t (name, columns)
    -- Offset: once for all columns of the table, not for each
    cross join lateral (select api_meta.columns_behind(r.relation, t.columns) as columns offset 0) b
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a where a.attrelid = r.relation and a.attnum = any (b.columns)
    ) a
    where t.name = 'uphold_rules' or t.columns is not null order by r.relation::text, t.name
  loop
    perform api_meta.uphold(item.relation, item.name, case when item.is_of_figures then item.columns end);
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name
        and t.tgattr::text = coalesce(array_to_string(item.behind, ' '), '')
    ) then
      -- By their names they come after all others that change the row
      execute format('create or replace trigger %I before %s on %s for each row execute function %s()',
        item.name, item.events, item.relation, api_meta.upholder(item.relation, item.name));
    end if;
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name, t.tgfoid::regprocedure as routine
    from pg_trigger t
    where t.tgname in ('uphold_rules', 'uphold_figures') and not exists (
      select from pg_constraint c where c.conrelid = t.tgrelid and c.contype = 'c' and not c.conenforced)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_rules() is
  'Makes triggers of the checks of each table that are declared as not enforced, which refuse the same '
  'rows with the same error: uphold_figures of the checks of columns that bookings update, uphold_rules of '
  'all. They fire for what changes such a column by another trigger, too. Postgres compiles an enforced '
  'check anew in each statement, and a generated column as well, so tables that every booking writes to '
  'declare theirs in this way. Runs after each migration.';
--! EndIncluded api_meta/derive_rules.sql

--! split: 0700-rights-mark.sql
-- A service with many merchants sees by one value that rights are what they were: an idle merchant then
-- needs one connection for its request, not two.
drop function if exists auth.rights_now();
drop table if exists auth.rights_mark;
create table auth.rights_mark (
  is_one boolean primary key default true constraint rights_mark_is_one check (is_one),
  mark uuid not null default gen_random_uuid()
);
alter table auth.rights_mark enable row level security;
comment on table auth.rights_mark is
  'Another value after each change of rights: of credentials, the plan, signing keys, stored operations.';
select api_meta.allow('service_registrar', 'auth.rights_mark', 'select', 'update (mark)');
insert into auth.rights_mark default values;
--! Included auth/announce_credential_change.sql
create or replace function auth.announce_credential_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('service_credential_change', '');
  update auth.rights_mark set mark = gen_random_uuid();
  return null;
end
$$;
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget what it remembers about credentials and the '
  'plan, as soon as the change is committed. Who does not listen sees it by auth.rights_mark.';
select api_meta.give('auth.announce_credential_change()', 'service_registrar');
--! EndIncluded auth/announce_credential_change.sql
--! Included auth/rights_now.sql
create or replace function auth.rights_now() returns table (mark uuid, state text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select m.mark, api_meta.migration_state() from auth.rights_mark m;
end;
comment on function auth.rights_now() is
  'Whether anything has changed about rights, or the database had other migrations: both stay the same while '
  'nothing has. It tells nothing else, so the role of clients'' operations may ask, on their connections.';
grant execute on function auth.rights_now() to service_api, service_auth;
--! EndIncluded auth/rights_now.sql

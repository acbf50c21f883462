--! Previous: sha1:21839db47c217df2c4c01182dc776d332bfb5e8f
--! Hash: sha1:2eff8824dba6d5f21f052091fa900d1f169b3c69
--! Message: One writer of the books

--! split: 20-ledger.sql
-- One statement writes the books, for one call or several
drop function if exists ledger.adjust_line(ledger.line, text);
drop function if exists ledger.lock_line(ledger.line);
drop function if exists ledger.book_draft(ledger.draft, text);
drop function if exists ledger.is_correction(ledger.draft);
drop function if exists ledger.book_correction(
  uuid, integer, text, uuid, text, text, boolean, uuid, boolean, text);
drop function if exists ledger.plain_stock(uuid, uuid, integer, text, uuid, timestamptz, uuid);
drop function if exists ledger.open_special_stock(uuid, integer, text);
drop function if exists ledger.write_singles(ledger.single[]);
drop function if exists ledger.plain_singles(ledger.single[], timestamptz, uuid[]);
drop function if exists ledger.plain_place(uuid, text, text, boolean, timestamptz) cascade;
drop function if exists ledger.events_of_single(ledger.stock_movement, integer, ledger.stock, erp.product,
  integer, bigint, bigint, bigint, bigint, bigint, timestamptz);
drop function if exists ledger.draft_of_single(text, uuid, integer, integer, text, text, text, text);
drop function if exists ledger.places_of(ledger.line);
drop function if exists ledger.lock_lines(ledger.line[]);
drop function if exists ledger.movement_of(ledger.draft, timestamptz, text, uuid);
drop function if exists ledger.write_movements(ledger.draft[], timestamptz, text);
-- The functions that take this type go with it
--! Included ledger/place_change.sql
drop type if exists ledger.place_change cascade;
create type ledger.place_change as (
  "position" bigint, call integer, product_id uuid, place_type text, place text, warehouse_id uuid,
  stock_id uuid, is_new boolean, change bigint, not_for_sale bigint
);
comment on type ledger.place_change is
  'By how much a booking, or one call of several that are booked together, changes what lies in a place, '
  'which is a key as in ledger.stock.place: the stock there, which may have to be made, the warehouse that '
  'it is in, if any, and how much of the change is not for sale.';
--! EndIncluded ledger/place_change.sql
--! Included ledger/call.sql
drop type if exists ledger.call cascade;
create type ledger.call as (moment timestamptz, note text, cause jsonb);
comment on type ledger.call is
  'A call that books, alone or along with others: the moment and the note of its movements, and what its '
  'events go back to.';
--! EndIncluded ledger/call.sql
--! Included ledger/place_columns.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.place_columns(type text, place text)
returns table (
  warehouse_id uuid, bin_location_id uuid, order_id uuid, return_order_id uuid, goods_receipt_id uuid,
  stock_container_id uuid, special_place text
)
language sql immutable
begin atomic
  select case place_columns.type when 'warehouse' then place_columns.place::uuid end,
    case place_columns.type when 'bin_location' then place_columns.place::uuid end,
    case place_columns.type when 'order' then place_columns.place::uuid end,
    case place_columns.type when 'return_order' then place_columns.place::uuid end,
    case place_columns.type when 'goods_receipt' then place_columns.place::uuid end,
    case place_columns.type when 'stock_container' then place_columns.place::uuid end,
    case place_columns.type when 'special_stock_location' then place_columns.place end;
end;
comment on function ledger.place_columns(text, text) is
  'A place, given by its kind and its key (see ledger.stock.place), as the columns of tables that refer to '
  'it.';
grant execute on function ledger.place_columns(text, text) to service_booker;
--! EndIncluded ledger/place_columns.sql
--! Included ledger/movements_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.movements_of(calls ledger.call[], drafts ledger.draft[], ids uuid[])
returns setof ledger.stock_movement
language sql stable
begin atomic
  select ids[d.ordinality], date_trunc('second', (c.call).moment), d.product_id, d.quantity,
    d.source_type, s.warehouse_id, s.bin_location_id, s.order_id, s.return_order_id, s.goods_receipt_id,
    s.stock_container_id, s.special_place,
    d.destination_type, t.warehouse_id, t.bin_location_id, t.order_id, t.return_order_id, t.goods_receipt_id,
    t.stock_container_id, t.special_place,
    d.process, (c.call).note, pg_current_xact_id()::text::bigint, ledger.microseconds((c.call).moment)
  from unnest(drafts) with ordinality d
  cross join lateral (select calls[least(d.ordinality, cardinality(calls))]) c (call)
  cross join lateral ledger.place_columns(d.source_type, d.source) s
  cross join lateral ledger.place_columns(d.destination_type, d.destination) t
  order by d.ordinality;
end;
comment on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) is
  'Drafts as rows of the ledger with these ids: all of one call, or each of a call of its own.';
grant execute on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) to service_booker;
--! EndIncluded ledger/movements_of.sql
--! Included ledger/changed_parts.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.changed_parts(
  changes ledger.place_change[], others ledger.figure_change[]
)
returns table (
  product_id uuid, warehouse_id uuid, change integer, not_for_sale integer, promised integer,
  reserved integer, awaited integer, "position" bigint
)
language sql stable
begin atomic
  select x.product_id, x.warehouse_id, sum(x.change)::integer, sum(x.not_for_sale)::integer,
    sum(x.promised)::integer, sum(x.reserved)::integer, sum(x.awaited)::integer, min(x."position")
  from (
    select c.product_id, c.warehouse_id, c.change, c.not_for_sale, 0, 0, 0, c."position"
    from unnest(changes) c where c.warehouse_id is not null
    union all
    select o.product_id, o.warehouse_id, 0, 0, o.promised, o.reserved, o.awaited, null
    from unnest(others) o
  ) x (product_id, warehouse_id, change, not_for_sale, promised, reserved, awaited, "position")
  group by x.product_id, x.warehouse_id;
end;
comment on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[]) is
  'By how much the figures of each product change in each warehouse, and without one, by what is booked and '
  'what changes along with it.';
grant execute on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[])
  to service_booker;
--! EndIncluded ledger/changed_parts.sql
--! Included ledger/product_after.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.product_after(product erp.product, change bigint, not_for_sale bigint)
returns erp.product
language sql stable
return case when change = 0 and not_for_sale = 0 then product
  else jsonb_populate_record(product, jsonb_build_object(
  'physical_stock', (product).physical_stock + change,
  'stock_not_available_for_sale', (product).stock_not_available_for_sale + not_for_sale,
  'available_stock', (product).available_stock + change - not_for_sale)) end;
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'A product as it is when its stock has changed, and the part of it that is not for sale.';
grant execute on function ledger.product_after(erp.product, bigint, bigint) to service_booker;
--! EndIncluded ledger/product_after.sql
--! Included ledger/lock_stock.sql
create or replace function ledger.lock_stock(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_rows bigint;
begin
  perform from ledger.stock s where s.id in (select c.stock_id from unnest(changes) c)
  order by s.id for key share;
  get diagnostics found_rows = row_count;
  if found_rows <> cardinality(changes) then
    raise serialization_failure using message = 'A place of the booking has been deleted: try again.';
  end if;
end
$$;
comment on function ledger.lock_stock(ledger.place_change[]) is
  'Locks the stock of each place of a booking, and fails if some is missing. Stock refers to its product and '
  'its place, so they are there too, which nobody asks of the movements of a booking '
  '(api_meta.derive_references). Only for ledger.write_missing: most bookings find out by an update.';
grant execute on function ledger.lock_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/lock_stock.sql
--! Included ledger/tell_steps.sql
create or replace function ledger.tell_steps(
  calls ledger.call[], movement_ids uuid[], steps ledger.place_change[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with in_place as (
    select c.stock_id, c.call, c.position, c.change, (sum(c.change) over onwards)::bigint as onwards
    from unnest(steps) c where c.change <> 0 and c.place_type <> 'special_stock_location'
    window onwards as (partition by c.stock_id order by c.call
      rows between current row and unbounded following)
  ),
  in_product as (
    select c.product_id, c.call, sum(c.change)::bigint as change, sum(c.not_for_sale)::bigint as not_for_sale,
      (sum(sum(c.change)) over onwards)::bigint as onwards,
      (sum(sum(c.not_for_sale)) over onwards)::bigint as not_for_sale_onwards
    from unnest(steps) c where c.warehouse_id is not null group by c.product_id, c.call
    window onwards as (partition by c.product_id order by c.call
      rows between current row and unbounded following)
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[e.call]).cause
  from (
    select 1 as kind, i.call, 0::bigint as position, e.*
    from unnest(movement_ids) with ordinality i (id, call) join ledger.stock_movement m on m.id = i.id
    cross join lateral events.stock_movement_insert_events(m) e
    union all
    select 2, p.call, p.position, e.*
    from in_place p join ledger.stock s on s.id = p.stock_id
    cross join lateral (
      select jsonb_populate_record(s, jsonb_build_object('quantity', s.quantity - p.onwards)),
        jsonb_populate_record(s, jsonb_build_object('quantity', s.quantity - p.onwards + p.change))
      offset 0
    ) r (o, n) cross join lateral events.stock_update_events(r.o, r.n) e
    union all
    select 3, p.call, 0, e.*
    from in_product p join erp.product q on q.id = p.product_id
    cross join lateral (
      select ledger.product_after(q, - p.onwards, - p.not_for_sale_onwards),
        ledger.product_after(q, p.change - p.onwards, p.not_for_sale - p.not_for_sale_onwards)
      offset 0
    ) r (o, n) cross join lateral events.product_update_events(r.o, r.n) e
  ) e order by e.call, e.kind, e.position;
end
$$;
comment on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) is
  'Tells of what several calls have changed, each call for itself, in their order, with the figures as they '
  'were after it. Only for ledger.write, which has written the figures after all calls.';
grant execute on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) to service_booker;
--! EndIncluded ledger/tell_steps.sql
--! Included ledger/write_missing.sql
create or replace function ledger.write_missing(
  calls ledger.call[], changes ledger.place_change[], others ledger.figure_change[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with opened as (
    insert into ledger.stock (id, product_id, quantity, location_type_technical_name, warehouse_id,
      bin_location_id, order_id, return_order_id, goods_receipt_id, stock_container_id,
      special_stock_location_technical_name)
    select c.stock_id, c.product_id, c.change, c.place_type, p.*
    from unnest(changes) c cross join lateral ledger.place_columns(c.place_type, c.place) p
    where c.is_new order by c.position
    returning stock as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[1]).cause
  from opened o cross join lateral events.stock_insert_events(o.n) e order by (o.n).id;
  perform ledger.lock_stock(changes);
  insert into ledger.warehouse_stock (product_id, warehouse_id, quantity, reserved_quantity)
  select p.product_id, p.warehouse_id, p.change, p.promised
  from ledger.changed_parts(changes, others) p
  where p.warehouse_id is not null and p.position is not null and not exists (
    select from ledger.warehouse_stock h
    where h.product_id = p.product_id and h.warehouse_id = p.warehouse_id)
  order by p.position;
end
$$;
comment on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) is
  'Makes the rows of stock and of warehouse stock that are not there yet, with their figures, and tells of '
  'them; calls that come together have none. Refuses a booking that names a place which is not there any '
  'more. Only for ledger.write.';
grant execute on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) to service_booker;
--! EndIncluded ledger/write_missing.sql
--! Included ledger/write_rows.sql
create or replace function ledger.write_rows(
  calls ledger.call[], drafts ledger.draft[], movement_ids uuid[], changes ledger.place_change[],
  others ledger.figure_change[], out lacks boolean, out is_incomplete boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
begin
  with booked as (
    insert into ledger.stock_movement select m.* from ledger.movements_of(calls, drafts, movement_ids) m
    returning stock_movement as n
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from unnest(changes) c where s.id = c.stock_id and c.change <> 0 and not c.is_new
    returning with (old as o, new as n) o, n, c.position
  ),
  configured_place as (
    update erp.product_stock_location_configuration s set stock = s.stock + c.change, updated_at = today
    from unnest(changes) c
    where c.warehouse_id is not null and c.change <> 0 and s.product_id = c.product_id
      and coalesce(s.warehouse_id, s.bin_location_id)::text = c.place
  ),
  part as materialized (select * from ledger.changed_parts(changes, others)),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change,
      reserved_quantity = s.reserved_quantity + h.promised, updated_at = today from part h
    where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id and (h.change, h.promised) <> (0, 0)
    returning s.available_quantity
  ),
  configured as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change, updated_at = today
    from part h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id and h.change <> 0
  ),
  in_product as (
    update erp.product p set physical_stock = p.physical_stock + h.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale,
      reserved_stock = p.reserved_stock + h.reserved,
      open_supplier_order_quantity = p.open_supplier_order_quantity + h.awaited
    from (
      select f.product_id, sum(f.change)::integer as change, sum(f.not_for_sale)::integer as not_for_sale,
        sum(f.reserved)::integer as reserved, sum(f.awaited)::integer as awaited, min(f.position) as position
      from part f group by f.product_id having bool_or((f.change, f.reserved, f.awaited) <> (0, 0, 0))
    ) h where p.id = h.product_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[1]).cause from (
      select 1 as kind, array_position(movement_ids, (b.n).id)::bigint as position, e.*
      from booked b cross join lateral events.stock_movement_insert_events(b.n) e
      union all
      select 2, p.position, e.* from in_place p cross join lateral events.stock_update_events(p.o, p.n) e
      union all
      select 3, p.position, e.* from in_product p cross join lateral events.product_update_events(p.o, p.n) e
    ) e where cardinality(calls) = 1 order by e.kind, e.position
  )
  select exists (select from in_product p where (p.n).available_stock < 0)
      or exists (select from in_warehouse w where w.available_quantity < 0),
    (select count(*) from in_place) < cardinality(changes)
      or (select count(*) from in_warehouse)
        < (select count(*) from part h where h.warehouse_id is not null and (h.change, h.promised) <> (0, 0))
  into lacks, is_incomplete;
end
$$;
comment on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) is
  'Adds movements with these ids, brings stock, warehouse stock, products and their configurations up to '
  'date, and tells of it if there is one call. Answers whether available stock is below 0 now, and whether '
  'rows were missing. A new figure stands here; one that mutations of stock change in '
  'ledger.book_correction, too, and one of products in ledger.product_after. Only for ledger.write.';
grant execute on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) to service_booker;
--! EndIncluded ledger/write_rows.sql
--! Included ledger/write.sql
create or replace function ledger.write(
  calls ledger.call[], drafts ledger.draft[], changes ledger.place_change[],
  others ledger.figure_change[] default '{}', steps ledger.place_change[] default '{}',
  out movement_ids uuid[], out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- The number of the transaction is drawn before the ids (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  written record;
begin
  if calls[1].cause is null then
    calls[1].cause := events.cause();
  end if;
  movement_ids := ledger.next_movement_ids(cardinality(drafts));
  written := ledger.write_rows(calls, drafts, movement_ids, changes, others);
  if written.is_incomplete then
    perform ledger.write_missing(calls, changes, others);
  end if;
  if cardinality(calls) > 1 then
    perform ledger.tell_steps(calls, movement_ids, steps);
  end if;
  lacks := written.lacks;
end
$$;
comment on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) is
  'Writes the books for one call or several: adds movements to the ledger, in the order of their drafts, and '
  'brings figures up to date with them and with what else changes, each row once, and tells of it. The '
  'drafts are of one call, or each of a call of its own; then steps are what each call changes, and all is '
  'as if one had come after the other. The events of a call without a cause go back to the mutation that '
  'runs. Answers the movements, and whether available stock that it changed is below 0 now. All has been '
  'checked and locked before. Its callers have statements planned by index.';
select api_meta.give('ledger.write(ledger.call[], ledger.draft[], ledger.place_change[], '
  'ledger.figure_change[], ledger.place_change[])', 'service_booker');
grant execute on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) to service_ledger;
--! EndIncluded ledger/write.sql
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, null, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change, case when w.is_stock_available_for_sale then 0 else g.change end
      )::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, recounted
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
  left join erp.warehouse w
    on w.id = case g.place_type when 'warehouse' then g.place::uuid else b.warehouse_id end;
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'What legs of movements change, one entry for each product and place; needs_care when they may have to be '
  'refused or warned of, which is rare (batches or variants have a part in them, or a place has not enough); '
  'and the stock that was counted, as is known, after the moment of a leg. The products are locked. Its '
  'callers have statements planned by index.';
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/plain_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean, held ledger.warehouse_stock
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h
  from ledger.stock s
  left join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
    and (plain_place.special_place is null or x.id is not null)
    and (plain_place.comes is false
      or not exists (select from erp.product v where v.parent_id = plain_place.product_id))
    and (plain_place.comes is true
      or not exists (select from ledger.batch_stock b where b.stock_id = s.id))
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_place.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'What changes where units come or go: the stock of a product in a warehouse or bin, and in a special '
  'place, if one is given. No row when one of these, or of the figures that follow, has none, or there is '
  'something to be seen to: batches, variants that units come to, or counts from a moment on. The product is '
  'locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz)
  to service_ledger, service_booker;
--! EndIncluded ledger/plain_place.sql
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
    perform ledger.write(array[null::ledger.call], '{}', seen.changes);
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
  d ledger.draft, calls ledger.call[], out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  -- The number of the transaction is drawn before the id (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  comes constant boolean := d.source_type = 'special_stock_location';
  change constant integer := case when comes then d.quantity else - d.quantity end;
  place constant text := case when comes then d.destination else d.source end;
  seen record;
  ids uuid[];
  m ledger.stock_movement;
  stock ledger.stock;
  product record;
begin
  select p.stock, p.special_id, p.is_for_sale, (p.held).id as held_id, (p.held).warehouse_id into seen
  from ledger.plain_place(d.product_id, place, case when comes then d.source else d.destination end, comes,
    case when not ledger.is_count(d.process, d.source, d.destination) then calls[1].moment end) p
  where (p.stock).quantity + change >= 0;
  if not found then
    return;
  end if;
  -- Not in the statement: one with a volatile argument would not become part of it
  ids := array[ledger.next_movement_id()];
  insert into ledger.stock_movement
  select n.* from ledger.movements_of(calls, array[d], ids) n returning * into m;
  movement_id := m.id;
  stock := seen.stock;
  stock_id := stock.id;
  update ledger.stock s set updated_at = today,
    quantity = s.quantity + case when s.id = stock_id then change else - change end
  where s.id = any (array[stock_id, seen.special_id]);
  stock.quantity := stock.quantity + change;
  stock.updated_at := today;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale = p.stock_not_available_for_sale
      + case when seen.is_for_sale then 0 else change end
  where p.id = d.product_id returning with (old as o, new as n) o, n into product;
  update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
  where c.product_id = d.product_id and c.warehouse_id = seen.warehouse_id;
  update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
  where c.product_id = d.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = place;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause()) from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(seen.stock, stock)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(ledger.draft, ledger.call[]) is
  'Books one movement between a warehouse or bin and a special place by plain statements, which takes '
  'Postgres two thirds of the time of ledger.write, and leaves the same. Answers the movement, the stock, '
  'and whether available stock is below 0 now; nulls when ledger.plain_place finds something to be seen '
  'to, or too little, and then nothing is booked. The product is locked. Its callers have statements '
  'planned by index.';
select api_meta.give('ledger.book_correction(ledger.draft, ledger.call[])', 'service_booker');
grant execute on function ledger.book_correction(ledger.draft, ledger.call[]) to service_ledger;
--! EndIncluded ledger/book_correction.sql
--! Included ledger/book.sql
create or replace function ledger.book(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := clock_timestamp();
  calls constant ledger.call[] := array[row (moment, note, null)::ledger.call];
  legs ledger.leg[];
  seen record;
  written record;
begin
  if cardinality(drafts) = 0 then
    perform ledger.write(calls, '{}', '{}', others) where others <> '{}';
    return row ('{}', '{}')::ledger.booking;
  end if;
  if cardinality(drafts) = 1 and drafts[1].batch_id is null and (case 'special_stock_location'
    when drafts[1].source_type then drafts[1].destination_type in ('warehouse', 'bin_location')
    when drafts[1].destination_type then drafts[1].source_type in ('warehouse', 'bin_location') end) then
    written := ledger.book_correction(drafts[1], calls);
    if written.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if written.movement_id is not null then
      return row (array[written.movement_id], array[written.stock_id])::ledger.booking;
    end if;
  end if;
  legs := ledger.legs_of(drafts, moment);
  seen := ledger.examine(legs);
  if seen.needs_care then
    perform ledger.check_variants(drafts);
    perform ledger.require_batches(drafts);
    perform ledger.require_stock(drafts);
  end if;

  written := ledger.write(calls, drafts, seen.changes, others);
  if written.lacks then
    perform ledger.warn_of_promises(drafts);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  -- Without need of care there are no batches
  if seen.needs_care then
    perform ledger.write_batches(drafts, written.movement_ids);
    perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  end if;
  return row (written.movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booking;
end
$$;
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements, of which the locks have been taken: checks that no real place is left with less than '
  'nothing of a product or a batch, and writes each row once, also where other figures change along with '
  'them. Answers the movements in the order of the drafts, and the stock that they changed. User errors '
  'INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS. Its callers have statements planned by index.';
grant execute on function ledger.book(ledger.draft[], text, ledger.figure_change[]) to service_ledger;
--! EndIncluded ledger/book.sql
--! Included ledger/adjustment_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.adjustment_of(
  field text[], product_id uuid, delta integer, batch_id uuid, place_type text, place text,
  is_count boolean default false
)
returns ledger.draft
language sql immutable
return row (field, product_id, abs(delta), batch_id,
  case when delta > 0 then 'special_stock_location' else place_type end,
  case when delta > 0 then 'stock_correction' else place end,
  case when delta > 0 then place_type else 'special_stock_location' end,
  case when delta > 0 then place else 'stock_correction' end,
  case when is_count then 'api' when delta > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft;
comment on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean) is
  'The draft of what stockAdjust and stockSet book: units that come or go, against stock_correction.';
grant execute on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean)
  to service_ledger;
--! EndIncluded ledger/adjustment_of.sql
--! Included ledger/relocation_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.relocation_of(
  field text[], product_id uuid, quantity integer, batch_id uuid, source_type text, source text,
  destination_type text, destination text
)
returns ledger.draft
language sql immutable
return row (field, product_id, quantity, batch_id, source_type, source, destination_type, destination,
  'api_relocation')::ledger.draft;
comment on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text) is
  'The draft of what stockTransfer books: units that go from one place to another.';
grant execute on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text)
  to service_ledger;
--! EndIncluded ledger/relocation_of.sql
--! Included ledger/place_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.place_of(warehouse_id uuid, bin_location_id uuid)
returns table (type text, place text)
language sql immutable
begin atomic
  select case when place_of.warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce(place_of.warehouse_id, place_of.bin_location_id)::text;
end;
comment on function ledger.place_of(uuid, uuid) is
  'Kind and key (see ledger.stock.place) of the place that is a warehouse or a bin.';
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer;
--! EndIncluded ledger/place_of.sql
revoke execute on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean)
  from service_booker;
revoke execute on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text)
  from service_booker;
revoke execute on function ledger.place_of(uuid, uuid) from service_booker;
--! Included ledger/lock_lines.sql
create or replace function ledger.lock_lines(
  lines ledger.line[], out are_there boolean, out name_batches boolean, out expect boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
begin
  select array_agg(distinct l.product_id) as products,
    coalesce(array_agg(distinct coalesce(p.warehouse_id, b.warehouse_id))
      filter (where coalesce(p.warehouse_id, b.warehouse_id) is not null), '{}') as warehouses,
    coalesce(array_agg(distinct p.bin_id) filter (where p.bin_id is not null), '{}') as bins,
    bool_or(l.batch_id is not null) as name_batches, bool_or(l.expected_quantity is not null) as expect
  into named
  from unnest(lines) l
  cross join lateral (values (l.source_warehouse_id, l.source_bin_location_id),
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id)
  left join erp.bin_location b on b.id = p.bin_id
  where coalesce(p.warehouse_id, p.bin_id) is not null;
  are_there := ledger.lock(named.products, named.warehouses, named.bins);
  name_batches := named.name_batches;
  expect := named.expect;
end
$$;
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Answers whether all products and places '
  'that they name are there, and whether some name batches, or expect quantities.';
grant execute on function ledger.lock_lines(ledger.line[]) to service_ledger;
--! EndIncluded ledger/lock_lines.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locked record;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  if cardinality(lines) > 250 then
    perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  end if;
  if ledger.is_malformed(lines, operation) then
    perform ledger.check_form(lines, ledger.named_places(lines, operation), operation);
  end if;
  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  locked := ledger.lock_lines(lines);
  if not locked.are_there or locked.name_batches then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if locked.expect then
    perform ledger.check_expectations(lines);
  end if;
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'What the mutations of stock (set, adjust, transfer) have in common: checks their lines, and takes '
  'the locks of the booking, so that what is read afterwards is what the booking finds. User errors '
  'REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, '
  'QUANTITY_CHANGED.';
grant execute on function ledger.prepare(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/prepare.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.book(array(
    select ledger.adjustment_of(mutation.path('lines', l.ordinality, 'delta'), l.product_id, l.quantity,
      l.batch_id, p.type, p.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adds to stock or takes from it, against stock_correction.';
select api_meta.plan_by_index('ledger.adjust_stock(ledger.line[], text)');
select api_meta.give('ledger.adjust_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.adjust_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/adjust_stock.sql
--! Included ledger/draft_of_single.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.draft_of_single(operation text, l ledger.line, change integer)
returns ledger.draft
language sql immutable
return case operation when 'transfer'
  then ledger.relocation_of(null, (l).product_id, (l).quantity, null,
    case when (l).source_warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce((l).source_warehouse_id, (l).source_bin_location_id)::text,
    case when (l).destination_warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce((l).destination_warehouse_id, (l).destination_bin_location_id)::text)
  else ledger.adjustment_of(null, (l).product_id, change, null,
    case when (l).source_warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce((l).source_warehouse_id, (l).source_bin_location_id)::text, operation = 'set') end;
comment on function ledger.draft_of_single(text, ledger.line, integer) is
  'What a mutation of stock with one line books (set, adjust or transfer) that changes the stock of its '
  'first place by so much.';
grant execute on function ledger.draft_of_single(text, ledger.line, integer) to service_ledger;
--! EndIncluded ledger/draft_of_single.sql
--! Included ledger/plain_singles.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_singles(singles ledger.single[], moment timestamptz)
returns table (
  nth integer, side integer, operation text, note text, cause jsonb, line ledger.line, change integer,
  not_for_sale integer, stock ledger.stock, special_id uuid, warehouse_id uuid, booked_at timestamptz,
  movement bigint
)
language sql stable
begin atomic
  select j.nth, j.side, j.operation, j.note, j.cause, j.line, j.change, j.not_for_sale, j.stock, j.special_id,
    (j.held).warehouse_id,
    -- Later ones have moved since what earlier ones count
    moment + j.nth * interval '1 microsecond',
    case when j.change <> 0 then
      count(*) filter (where j.change <> 0 and j.side = 1) over (order by j.nth) end
  from (
    select r.*,
      bool_and(coalesce(
        (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- What was changed before can't be set by what is known here
        and (r.operation <> 'set' or r.nth_there = 1)
        -- A warning is due, unless units come
        and (r.change >= 0 or (r.held).available_quantity + r.held_change >= 0
          and (r.product).available_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.line).product_id order by r.nth) as is_plain
    from (
      select s.*, row_number() over there as nth_there, sum(s.change) over there as stock_change,
        sum(s.change) over (partition by (s.held).id order by s.nth) as held_change,
        sum(s.change) over everywhere as product_change,
        sum(s.not_for_sale) over everywhere as not_for_sale_change
      from (
        select c.*, l.side, p.*, x.change, case when p.is_for_sale then 0 else x.change end as not_for_sale
        from unnest(singles) c
        cross join lateral (
          values (1, (c.line).source_warehouse_id, (c.line).source_bin_location_id,
            case c.operation when 'adjust' then 1 when 'transfer' then - 1 end * (c.line).quantity),
          (2, (c.line).destination_warehouse_id, (c.line).destination_bin_location_id, (c.line).quantity)
        ) l (side, warehouse_id, bin_location_id, units)
        left join lateral ledger.plain_place(
          (c.line).product_id, coalesce(l.warehouse_id, l.bin_location_id)::text,
          case when c.operation <> 'transfer' then 'stock_correction' end, l.units > 0, moment) p
          -- Else a warehouse's id would do for a bin's
          on (p.stock).warehouse_id is not distinct from l.warehouse_id
            and (p.stock).bin_location_id is not distinct from l.bin_location_id
        cross join lateral (
          select case c.operation when 'set' then (c.line).quantity - (p.stock).quantity else l.units end
        ) x (change)
        where l.side = 1 or c.operation = 'transfer'
      ) s
      window there as (partition by (s.stock).id order by s.nth),
        everywhere as (partition by (s.line).product_id order by s.nth)
    ) r
  ) j where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Of mutations of stock with one line each, those that ledger.plain_place finds plain, that leave enough, '
  'and that no earlier one of the same product stands in the way of. One row for each place of theirs: what '
  'changes there, and which movement it is, counted from 1, if something does. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz) to service_ledger;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/book_singles.sql
create or replace function ledger.book_singles(singles ledger.single[])
returns table (nth integer, movement_ids uuid[], stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment timestamptz;
  seen record;
  ids uuid[];
begin
  perform ledger.lock_lines(array(select s.line from unnest(singles) s where s.operation is not null));
  moment := clock_timestamp();
  with plain as materialized (select * from ledger.plain_singles(singles, moment))
  select array_agg(row (p.booked_at, p.note, p.cause)::ledger.call order by p.movement)
      filter (where p.movement is not null and p.side = 1) as calls,
    array_agg(ledger.draft_of_single(p.operation, p.line, p.change) order by p.movement)
      filter (where p.movement is not null and p.side = 1) as drafts,
    (
      select array_agg(row (p.nth * 4 + x.nth, p.movement, (p.line).product_id, x.place_type, x.place,
        x.warehouse_id, x.stock_id, false, x.change, x.not_for_sale)::ledger.place_change)
      from plain p cross join lateral (
        values (p.side, (p.stock).location_type_technical_name, (p.stock).place, p.warehouse_id,
          (p.stock).id, p.change, p.not_for_sale),
        (3, 'special_stock_location', 'stock_correction', null, p.special_id, - p.change, 0)
      ) x (nth, place_type, place, warehouse_id, stock_id, change, not_for_sale)
      where p.movement is not null and x.stock_id is not null
    ) as steps,
    array_agg(row (p.nth, (p.stock).id, null, null, (p.line).product_id, null, (p.line).quantity,
      p.booked_at, 0, (p.stock).quantity, null, null)::ledger.stock_reading order by p.nth)
      filter (where p.operation = 'set') as readings,
    array_agg(p.movement order by p.nth) filter (where p.operation = 'set' and p.movement is not null)
      as corrections,
    array_agg(p.nth order by p.nth, p.side) as nths,
    array_agg(p.movement order by p.nth, p.side) as movements,
    array_agg((p.stock).id order by p.nth, p.side) as stocks
  into seen from plain p;
  if seen.calls is not null then
    ids := (ledger.write(seen.calls, seen.drafts, array(
      select row (min(s.position), null, s.product_id, s.place_type, s.place, s.warehouse_id, s.stock_id,
        false, sum(s.change), sum(s.not_for_sale))::ledger.place_change
      from unnest(seen.steps) s
      group by s.product_id, s.place_type, s.place, s.warehouse_id, s.stock_id
    ), '{}', seen.steps)).movement_ids;
  end if;
  if seen.readings is not null then
    perform ledger.note_counts(seen.readings,
      array(select ids[c.nth] from unnest(seen.corrections) with ordinality c (nth, line) order by c.line));
  end if;
  return query
  select m.nth, case when m.movement is null then '{}' else array[ids[m.movement]] end,
    array_agg(m.stock_id order by m.place)
  from unnest(seen.nths, seen.movements, seen.stocks) with ordinality m (nth, movement, stock_id, place)
  group by m.nth, m.movement;
end
$$;
comment on function ledger.book_singles(ledger.single[]) is
  'Takes the locks, and makes together what is plain of mutations of stock with one line each, as if one '
  'were made after the other: what ledger.book does for each, and the counts. Answers those that it made.';
select api_meta.plan_by_index('ledger.book_singles(ledger.single[])');
select api_meta.give('ledger.book_singles(ledger.single[])', 'service_ledger');
grant execute on function ledger.book_singles(ledger.single[]) to service_writer;
--! EndIncluded ledger/book_singles.sql

-- Calls that come together: what they are is in columns, and of which mutations they are is in tags
--! Included mutation/joint_call.sql
drop type if exists mutation.joint_call cascade;
create type mutation.joint_call as (
  nth integer, operation name, kind text, input_type regtype, input jsonb, line ledger.line, key text,
  caller uuid, cause jsonb, fits boolean, digest bytea, repeated jsonb
);
comment on type mutation.joint_call is
  'A call of a mutation that is to be run together with others; its kind (set, adjust or transfer), and its '
  'line; whether it can be; what its events go back to; and, if it has a key, its digest, and what the call '
  'answered that had the key before.';
--! EndIncluded mutation/joint_call.sql
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (c.ordinality, o.operation, f.kind, o.input_type, c.input, l.line, c.key,
      coalesce(c.credential_id, '00000000-0000-0000-0000-000000000000'),
      events.traced(events.cause(c.credential_id::text, c.request_id, c.key), c.traceparent),
      coalesce(o.scopes && string_to_array(c.scopes, ' ')
        and jsonb_array_length(c.input -> 'lines') = 1
        -- What isn't known here, or is seldom said, is left to mutation.run
        and jsonb_strip_nulls(c.input) - '{lines,comment}'::text[] = '{}'
        and jsonb_strip_nulls(j.line) - array['product_id', f.place, f.destination, f.quantity] = '{}'
        and jsonb_strip_nulls(j.line -> f.place) - '{warehouse_id,bin_location_id}'::text[] = '{}'
        and coalesce(jsonb_strip_nulls(j.line -> f.destination)
          - '{warehouse_id,bin_location_id}'::text[] = '{}', f.destination is null)
        and (l.line).product_id is not null and abs((l.line).quantity) <= 1000000
        and ledger.is_malformed(l.line, f.kind) is not true
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text, traceparent text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    join (values ('stock_adjust', 'adjust', 'place', null, 'delta'),
      ('stock_set', 'set', 'place', null, 'quantity'),
      ('stock_transfer', 'transfer', 'source', 'destination', 'quantity')
    ) f (operation, kind, place, destination, quantity) on f.operation = c.operation
    cross join lateral (select c.input #> '{lines,0}' offset 0) j (line)
    cross join lateral (select row (
      j.line ->> 'product_id', j.line -> f.place ->> 'warehouse_id', j.line -> f.place ->> 'bin_location_id',
      j.line -> f.destination ->> 'warehouse_id', j.line -> f.destination ->> 'bin_location_id',
      j.line ->> f.quantity, null, null, null)::ledger.line offset 0) l (line)
    order by c.ordinality
  );
end
$$;
comment on function mutation.joint_calls(jsonb) is
  'Of the calls that mutation.run_together is given, those of stock_adjust, stock_set and stock_transfer; '
  'they fit when they have one line that says what is usual, and come from callers that have the scope.';
grant execute on function mutation.joint_calls(jsonb) to service_writer;
--! EndIncluded mutation/joint_calls.sql
--! Included mutation/take_keys.sql
create or replace function mutation.take_keys(calls mutation.joint_call[]) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locked integer[];
begin
  -- A key that another transaction is taking is not waited for; of calls with the same key, the first is run
  locked := array(
    select c.nth from (
      select distinct on (c.caller, c.key) c.* from unnest(calls) c where c.key is not null
      order by c.caller, c.key, c.nth
    ) c where c.fits and pg_try_advisory_xact_lock(mutation.key_lock(c.caller, c.key))
  );
  return array(
    select row (c.nth, c.operation, c.kind, c.input_type, c.input, c.line, c.key, c.caller, c.cause,
      c.fits and (c.key is null or c.nth = any (locked) and (k.key is null or k.request = d.digest
        and k.payload is not null and k.refused_at is null
        and k.created_at >= now() - mutation.key_lifetime())),
      d.digest, k.payload)::mutation.joint_call
    from unnest(calls) c
    cross join lateral (
      select case when c.key is not null then
        mutation.digest(c.operation, c.input_type, c.input, false) end offset 0
    ) d (digest)
    left join mutation.idempotency_key k on k.credential_id = c.caller and k.key = c.key
    order by c.nth
  );
end
$$;
comment on function mutation.take_keys(mutation.joint_call[]) is
  'The calls, of which those fit that have no key, or one that is free, or repeat what was answered already. '
  'Keys that stand for something else, or are too old, are left to mutation.run.';
select api_meta.plan_by_index('mutation.take_keys(mutation.joint_call[])');
grant execute on function mutation.take_keys(mutation.joint_call[]) to service_writer;
--! EndIncluded mutation/take_keys.sql
--! Included mutation/run_together.sql
create or replace function mutation.run_together(calls jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  joint mutation.joint_call[];
  answers jsonb;
begin
  if (select p.name from auth.current_plan() p) = 'full' then
    joint := mutation.take_keys(mutation.joint_calls(calls));
  end if;
  with booked as materialized (
    select * from ledger.book_singles(array(
      -- A call that doesn't fit isn't made, and none that comes after it for its product
      select row (c.nth, case when c.fits then c.kind end, c.line, c.input ->> 'comment', c.cause
        )::ledger.single
      from unnest(joint) c
      where not (c.fits and c.repeated is not null) order by c.nth
    ))
  ),
  done as materialized (
    select c.nth, c.caller, c.key, c.digest, b.nth is not null as is_new,
      coalesce(c.repeated, jsonb_build_object('stock_movements', b.movement_ids,
        'stocks', b.stock_ids, 'user_errors', null, 'warnings', '[]'::jsonb)) as payload
    from unnest(joint) c left join booked b on b.nth = c.nth
    where c.fits and c.repeated is not null or b.nth is not null
  ),
  kept as (
    insert into mutation.idempotency_key (credential_id, key, request, payload)
    select d.caller, d.key, d.digest, d.payload from done d where d.key is not null and d.is_new
  )
  select jsonb_agg(case when d.nth is not null then jsonb_build_object('payload', d.payload,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(d.payload -> 'warnings', '[]')) end order by n.nth)
  into answers
  from generate_series(1, jsonb_array_length(calls)) n (nth) left join done d on d.nth = n.nth;
  if exists (select from unnest(joint) c where c.key is not null) then
    perform mutation.forget_keys();
    -- As in mutation.take_key
    perform pg_logical_emit_message(true, 'service', '')
    from unnest(joint) c where c.repeated is not null limit 1;
  end if;
  return coalesce(answers, '[]');
end
$$;
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations together, as if each were run by mutation.run, one after the other: an array of '
  'objects with version, operation, input, key, credential_id, request_id and scopes. Answers an array: '
  'for each call what mutation.run would answer, or null when it was not run, and has to be, by '
  'mutation.run: whatever is not plain, will perhaps be refused, or would have to wait for a key; and '
  'whatever concerns the same product and comes after such a call.';
select api_meta.give('mutation.run_together(jsonb)', 'service_writer');
grant execute on function mutation.run_together(jsonb) to service_api;
--! EndIncluded mutation/run_together.sql
--! Included api/stock_adjust.sql
drop type if exists api_unstable.stock_adjust_input cascade;
drop type if exists api_unstable.stock_adjust_line_input cascade;
create type api_unstable.stock_adjust_line_input as (
  product_id uuid, place api_unstable.stock_place_input, delta integer, batch_id uuid,
    expected_quantity integer
);
comment on type api_unstable.stock_adjust_line_input is 'How the stock of a product in a place changes.';
comment on column api_unstable.stock_adjust_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_adjust_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_adjust_line_input.delta is
  E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_adjust_input as (lines api_unstable.stock_adjust_line_input[], comment text);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\nWhat changes; 1 to 250 lines. A product and place may occur in several.';
comment on column api_unstable.stock_adjust_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (
      l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id,
      l.expected_quantity, null
    )::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS\n'
  '@warnings STOCK_PROMISED\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of '
  'all lines together.';
--! EndIncluded api/stock_adjust.sql
--! Included api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
    expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'What the stock of a product in a place is to be.';
comment on column api_unstable.stock_set_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_set_line_input.quantity is
  E'@notNull\nUnits that are there; not negative.';
comment on column api_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that was counted. The line then sets the stock of this batch only. Needed for '
  'products that are kept in batches.';
comment on column api_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a moment without decimals is the beginning of its '
  'second. What came and went later stays on top of it: the stock becomes the quantity and all later '
  'movements, save what other counts have corrected. Counts may come late, in any order, and more than '
  'once: one that is older than another of the same stock is kept, changes nothing, and is told by the '
  'warning COUNT_SUPERSEDED. Of two counts of the same moment, the one that comes later stands. Without '
  'it the quantity holds for now.';

create type api_unstable.stock_set_input as (lines api_unstable.stock_set_line_input[], comment text);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is
  E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. All lines are booked, or '
  'none.';
--! EndIncluded api/stock_set.sql
--! Included api/stock_transfer.sql
drop type if exists api_unstable.stock_transfer_input cascade;
drop type if exists api_unstable.stock_transfer_line_input cascade;
create type api_unstable.stock_transfer_line_input as (
  product_id uuid, source api_unstable.stock_place_input, destination api_unstable.stock_place_input,
    quantity integer, batch_id uuid,
  expected_quantity integer
);
comment on type api_unstable.stock_transfer_line_input is 'Units that move from one place to another.';
comment on column api_unstable.stock_transfer_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_transfer_line_input.source is E'@notNull\nWhere it is taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is E'@notNull\nWhere it goes.';
comment on column api_unstable.stock_transfer_line_input.quantity is
  E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_transfer_input
  as (lines api_unstable.stock_transfer_line_input[], comment text);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is E'@notNull\nWhat moves; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id,
      (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or '
  'none; whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_transfer.sql
-- waive frozen-version api_2026_06_unstable.stock_adjust(input api_2026_06_unstable.stock_adjust_input): a tag for the service, which no client sees
-- waive frozen-version api_2026_06_unstable.stock_set(input api_2026_06_unstable.stock_set_input): a tag for the service, which no client sees
-- waive frozen-version api_2026_06_unstable.stock_transfer(input api_2026_06_unstable.stock_transfer_input): a tag for the service, which no client sees
do $$
declare
  item record;
begin
  for item in
    select p.oid::regprocedure as routine, d.description as note
    from pg_proc p join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('stock_adjust', 'stock_set', 'stock_transfer') and d.description !~ '(?n)^@together'
  loop
    execute format('comment on function %s is %L', item.routine,
      regexp_replace(item.note, '(?n)^@userErrors', E'@together product_id\n@userErrors'));
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

-- What connections rehearse
--! Included mutation/rehearse.sql
create or replace function mutation.rehearse() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms' as $$
declare
  -- Of the newest hundred any, so that real work does not meet the same lock again and again
  line constant jsonb := (
    select jsonb_build_object('product_id', p.id, 'delta', 1, 'place', jsonb_build_object('bin_location_id',
      coalesce((
        select s.bin_location_id from ledger.stock s
        where s.product_id = p.id and s.bin_location_id is not null limit 1
      ), (select b.id from erp.bin_location b order by b.id limit 1))))
    from (select p.id, p.is_batch_managed from erp.product p order by p.id desc limit 100) p
    where not p.is_batch_managed order by random() limit 1
  );
  order_id constant uuid := (
    select o.id from (select o.id, o.state from erp.sales_order o order by o.id desc limit 100) o
    where o.state in ('open', 'in_progress') and (
      select bool_and(p.physical_stock >= l.quantity)
      from erp.sales_order_line_item l join erp.product p on p.id = l.product_id
      where l.order_id = o.id and l.shipped_quantity < l.quantity
    ) order by random() limit 1
  );
begin
  perform set_config('service.scopes', 'orders:write stocks:write', true);
  if line #>> '{place,bin_location_id}' is not null then
    perform mutation.run(
      'api_unstable', 'stock_adjust', jsonb_build_object('lines', jsonb_build_array(line)), null, true);
  end if;
  if order_id is not null then
    perform mutation.run(
      'api_unstable', 'order_shipment_complete', jsonb_build_object('order_id', order_id), null, true);
  end if;
end
$$;
comment on function mutation.rehearse() is
  'Rehearses a booking of stock and a shipment, with validate_only, on a connection that no request has used '
  'yet: the connection keeps what it reads of the catalog, compiles and plans for them. Waits for locks for '
  '50 ms, does nothing in an empty shop, and leaves nothing behind but numbers of fulfillments that are not '
  'used.';
select api_meta.give('mutation.rehearse()', 'service_writer');
grant execute on function mutation.rehearse() to service_api;
--! EndIncluded mutation/rehearse.sql

-- Lines of orders are known by their orders
--! Included erp/match_order_lines.sql
create or replace function erp.match_order_lines(orders mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select row_number() over (order by o.line, l.n) as line, o.id as order_id, l.value as given,
        %s as defaults
      from unnest($1) o
      cross join jsonb_array_elements(nullif(o.given -> 'line_items', 'null')) with ordinality l (value, n)
      where o.errors is null and l.n <= 250
    ),
    matched as (
      select g.*, case
        when r.id is not null
          then (select p.id from erp.sales_order_line_item p where p.id = r.id and p.order_id = g.order_id)
        when r.storefront_id is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.storefront_id = r.storefront_id order by p.id limit 1)
        when r.identifier is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.identifier = r.identifier order by p.id limit 1) end as id,
        case when g.given ? 'product_number' and g.given ->> 'product_number' is not null
          then (select p.id from erp.product p where p.product_number = g.given ->> 'product_number')
          else r.product_id end as product_id
      from given g cross join lateral jsonb_populate_record(null::erp.sales_order_line_item, g.given) r
    ),
    -- Not joins, which would read all of tables that are not large
    known as materialized (
      select m.*, (select p from erp.sales_order_line_item p where p.id = m.id) as p,
        (select i from erp.product i where i.id = m.product_id) as i
      from matched m
    ),
    -- Lines without a position come after those that have one
    placed as (
      select k.*, k.place is null as is_last, coalesce(max(k.place) over (partition by k.order_id), 0) as last
      from (
        select m.*, coalesce((m.given ->> 'position')::integer, (m.p).position) as place from known m
      ) k
    ),
    numbered as (
      select m.*, m.last + row_number() over (partition by m.order_id, m.is_last order by m.line) as next
      from placed m
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'position', case when m.given ? 'position' then w.position else m.next end,
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier,
            case when not erp.is_blank(w.storefront_id) then w.storefront_id end, (m.i).product_number,
            case when not erp.is_blank(w.label) then w.label end, m.defaults ->> 'id')) end || case
        when m.given ? 'total_price' then jsonb_build_object('total_price', erp.rounded(w.total_price))
        when m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', erp.rounded(w.unit_price * w.quantity)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from numbered m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else m.p end, m.given - 'id') w
    $q$, mutation.defaults_of('erp.sales_order_line_item'))
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'The lines that rows of an upsert of orders give, as rows of an upsert themselves, counted through all '
  'orders. A line is known by its id, its storefrontId or its '
  'identifier, within its order. A new one without a position comes after those that are there.';
grant execute on function erp.match_order_lines(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included erp/faults_of_order_lines.sql
create or replace function erp.units_at_work(order_ids uuid[])
returns table (id uuid, order_id uuid, label text, shipped integer, assigned integer, invoiced integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.id, l.order_id, l.label, l.shipped_quantity, coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), l.invoiced_quantity
  from erp.sales_order_line_item l where l.order_id = any (order_ids);
end;
comment on function erp.units_at_work(uuid[]) is
  'Of each line of orders the units that are shipped, that open fulfillment orders have, and that are '
  'invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced, row_number() over (partition by l.id order by l.line) as nth,
      array(
        select c.key from jsonb_each(l.wanted) c
        where not l.is_new and c.value <> l.present -> c.key
      ) as changes
    from unnest(lines) l
    join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid and o.errors is null
    left join erp.units_at_work(array(select x.id from unnest(orders) x where not x.is_new)) w on w.id = l.id
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select l.line, 'NOT_FOUND', 'The order has no such line.', array['id'], null::jsonb
    from line l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product of this number.', array['product_number'], null
    from line l where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line is the same one.', null, null from line l where l.nth > 1
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state in ('completed', 'cancelled') and (l.is_new or l.changes <> '{}')
    union all
    select l.line, 'NOT_EDITABLE', format('%s units are shipped or assigned to be.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned to be, or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with lines of an upsert of orders: what is shipped, assigned or invoiced stays as it is.';
grant execute on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.faults_of_orders(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with work as (
    select w.*, o.line, o.present ->> 'state' as state,
      o.given ? 'line_items' and not exists (select from unnest(lines) l where l.id = w.id) as is_left_out
    from unnest(orders) o join erp.units_at_work(array(
      select x.id from unnest(orders) x where not x.is_new
    )) w on w.order_id = o.id
    where not o.is_new
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    -- The errors of lines, by the place of their order
    select o.line, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then (l.nth - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from (
      select x.errors, x.order_id, row_number() over (partition by x.order_id order by x.line) as nth
      from (select u.*, (u.wanted ->> 'order_id')::uuid as order_id from unnest(lines) u) x
    ) l join unnest(orders) o on o.id = l.order_id and o.errors is null
    cross join jsonb_array_elements(l.errors) e (error)
    union all
    select o.line, 'TOO_MANY_LINES', 'An order has at most 250 lines.', array['line_items'], null
    from unnest(orders) o where jsonb_array_length(nullif(o.given -> 'line_items', 'null')) > 250
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned to be, or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'Something of the order is shipped or invoiced, or it is closed.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of orders beyond the rules of the table, with the errors of their '
  'lines: what is shipped, assigned or invoiced stays as it is, and so do orders that are closed.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select (l.wanted ->> 'order_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'The rows of an upsert of orders, new ones with the amounts of their lines, so that these need not be '
  'written, and told of, as a change of the order.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- All products at once, and in one order: those of old lines and of new ones
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' = 'shipped_partially' and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes those that are left out. Answers the orders of '
  'which a '
  'line has changed.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', given, '{storefront_id,order_number}', matches);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('delivery_state', 'open')
      || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
        select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
      ) end)))
    from unnest(rows) u where u.is_new));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Makes and changes orders, with their lines and tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql

-- Words
--! Included api_meta/view_targets.sql
create or replace function api_meta.view_targets(view regclass)
returns table (attnum smallint, expression text, origin oid, origin_attnum smallint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with recursive stripped (tree) as (
    select w.ev_action::text from pg_rewrite w where w.ev_class = view and w.rulename = '_RETURN'
    union all
    -- The query that begins last has no other within it
    select left(s.tree, b.at - 1) || substr(s.tree, b.at + strpos(substr(s.tree, b.at), ':stmt_len'))
    from stripped s
    cross join lateral (select length(s.tree) - strpos(reverse(s.tree), reverse('{QUERY')) - 4 as at) b
    -- The outermost one begins at 2
    where b.at > 2
  ), outermost as materialized (
    select s.tree,
      array(
        select substring(e.text from ':rtekind (\d+)')
        from string_to_table(s.tree, '{RANGETBLENTRY ') with ordinality e (text, n) where e.n > 1 order by e.n
      ) as kinds
    from stripped s order by length(s.tree) limit 1
  ), target as materialized (
    -- Splitting a text is faster than a pattern for all of it
    select split_part(e.text, ' :resno ', 1) as expression, o.kinds,
      regexp_match(split_part(e.text, ' :resno ', 2),
        '^(\d+) .* :resorigtbl (\d+) :resorigcol (\d+) :resjunk false') as part
    from outermost o
    cross join string_to_table(substr(o.tree, strpos(o.tree, ':targetList (')), '{TARGETENTRY :expr ')
      with ordinality e (text, n)
    where e.n > 1
  )
  select t.part[1]::smallint, t.expression,
    -- 0: a table or view. Of a subquery it is not known here which columns its joins may empty
    case when t.kinds[substring(t.expression
      from '^\{VAR :varno (\d+) [^{}]*:varnullingrels \(b\) :varlevelsup 0 [^{}]*\}$')::integer] = '0'
      then t.part[2]::oid end,
    t.part[3]::smallint
  from target t where t.part is not null;
end;
comment on function api_meta.view_targets(regclass) is
  'The columns of a view as Postgres keeps them: the expression of each, and for a column that stands in '
  'the view as it stands in a table or another view, that one. A column that an outer join may empty is '
  'an expression.';
--! EndIncluded api_meta/view_targets.sql
--! Included api_meta/record_promises.sql
create or replace function api_meta.record_promises(version name) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from api_meta.frozen_promise p where p.version = record_promises.version;
  with origin as materialized (
    select o.* from api_meta.view_origins(record_promises.version) o
  ), beneath as materialized (
    -- Columns that an expression reads which is never null or has fields, unless the view shows them itself
    select s.view, s.table_id, s.attnum from api_meta.view_column_source s
    where s.view in (
      select o.view from origin o
      join pg_attribute a on a.attrelid = o.view and a.attname = o.column_name
      join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem
      where o.relation is null and (o.is_promised or 'c' in (t.typtype, e.typtype))
    ) and not exists (
      select from origin o
      where o.view = s.view and o.relation = s.table_id and o.attnum = s.attnum
    )
  )
  insert into api_meta.frozen_promise (version, name, ground, tree)
  select record_promises.version, p.name, g.ground, g.tree
  from (
    select o.name || '.' || o.column_name, o.relation, o.attnum, null::oid
    from origin o where o.is_promised and o.relation is not null
    union
    select v.name, b.table_id, b.attnum, null
    from beneath b join api_meta.api_view v on v.view = b.view
    union
    select v.name, null, null, c.oid
    from beneath b join api_meta.api_view v on v.view = b.view
    join pg_constraint c on c.conrelid = b.table_id and b.attnum = any (c.conkey)
    -- Others, such as bounds of a number, accept null themselves
    where c.contype = 'c' and exists (
      select from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.conrelid and a.attnum = b.attnum
        and (t.typcategory = 'A' or t.oid in ('json'::regtype, 'jsonb'::regtype))
    )
  ) p (name, relation, attnum, constraint_id)
  join api_meta.promise_ground g
    on g.tree = coalesce(p.constraint_id::text, format('%s.%s', p.relation::oid, p.attnum))
  -- A column that is said never to be null has to be so; an expression may rest on others than these
  where g.holds or position('.' in p.name) > 0;
end;
comment on function api_meta.record_promises(name) is
  'Notes on which tables'' columns and checks a frozen version relies where it says that something is never '
  'null.';
--! EndIncluded api_meta/record_promises.sql

--! split: 80-cli.sql
--! Included api_meta/require_backfilled.sql
create or replace function api_meta.require_backfilled(wanted text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  b api_meta.backfill;
  progress api_meta.backfill_progress;
  others bigint;
begin
  -- A new database has few rows, or none
  for attempt in 1 .. 10 loop
    exit when api_meta.fill_batch(wanted, 1000, 100);
  end loop;
  select * into b from api_meta.backfill f where f.name = wanted;
  if b.name is null then
    raise exception 'No migration has declared the backfill %.', wanted using errcode = 'UE093',
      hint = format('select api_meta.backfill(%L, …) belongs into an earlier migration.', wanted);
  end if;
  if b.ended_at is null then
    select * into progress from api_meta.backfill_progress p where p.name = wanted;
    raise exception 'The backfill % of % has not ended: % % rows are done.', wanted, b.relation,
      b.rows_seen, coalesce('of about ' || progress.rows_total, 'of its')
      using errcode = 'UE092', detail = coalesce(b.failure, ''),
      hint = 'npx erp db backfill shows how far it is; npx erp db backfill --run works it off.';
  end if;
  execute format('select count(*) from (select from %s where %s limit 1000) x', b.relation, b.condition)
  into others;
  if others > 0 then
    raise exception 'The backfill % has ended, but % of % still %: %', wanted,
      case when others = 1000 then '1000 rows or more' else others || ' rows' end, b.relation,
      'meet its condition', b.condition
      using errcode = 'UE093', hint = 'Rows are written without it. Make a trigger that fills what is '
      || 'written from now on, and then declare the backfill again.';
  end if;
end
$$;
comment on function api_meta.require_backfilled(text) is
  'Refuses a migration, with SQLSTATE UE092, until a backfill has ended, and with UE093 when rows have been '
  'written without it. `erp db setup` then works the backfill off and begins the migration again.';
--! EndIncluded api_meta/require_backfilled.sql

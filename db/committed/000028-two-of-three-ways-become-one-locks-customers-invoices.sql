--! Previous: sha1:2eff8824dba6d5f21f052091fa900d1f169b3c69
--! Hash: sha1:65e22cf88e1b5b7963e7d69c879a08ea5f7536e0
--! Message: two of three ways become one: locks, customers, invoices

--! split: 28-books.sql
--! Message: two of three ways become one: locks, customers, invoices

-- Locks of a booking: ledger.lock finds the warehouses of bins, for all its callers
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
grant execute on function ledger.place_columns(text, text) to service_ledger, service_booker;
--! EndIncluded ledger/place_columns.sql
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}'
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  warehouses uuid[] := array_remove(warehouse_ids, null);
  bins constant uuid[] := array_remove(bin_location_ids, null);
  locked uuid[];
  are_found boolean := true;
begin
  if bins <> '{}' then
    warehouses := warehouses || array(
      select b.warehouse_id from erp.bin_location b where b.id = any (bins));
  end if;
  if warehouses <> '{}' then
    locked := array(
      select w.id from erp.warehouse w where w.id = any (warehouses) order by w.id for key share);
    are_found := warehouses <@ locked;
  end if;
  if bins <> '{}' then
    locked := array(select b.id from erp.bin_location b where b.id = any (bins) order by b.id for key share);
    are_found := are_found and bins <@ locked;
  end if;
  locked := array(
    select p.id from erp.product p where p.id = any (product_ids) order by p.id for no key update);
  -- One may be named several times. Containment would take the square of their number
  if cardinality(locked) < cardinality(product_ids) then
    are_found := are_found
      and cardinality(locked) = (select count(distinct p) from unnest(product_ids) as p);
  end if;
  return are_found;
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a '
  'circle: warehouses, those of the bins too, and bins against being deleted and against a change of what '
  'they count for, then the products. The holder of a product''s lock is alone with all of its stock and '
  'figures. Answers whether all are there. Nulls among the warehouses and bins are left out.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included ledger/lock_lines.sql
create or replace function ledger.lock_lines(
  lines ledger.line[], out are_there boolean, out name_batches boolean, out expect boolean
)
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.lock(array_agg(l.product_id),
      array_agg(l.source_warehouse_id) || array_agg(l.destination_warehouse_id),
      array_agg(l.source_bin_location_id) || array_agg(l.destination_bin_location_id)),
    bool_or(l.batch_id is not null), bool_or(l.expected_quantity is not null)
  from unnest(lines) l;
end;
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Answers whether all products and places '
  'that they name are there, and whether some name batches, or expect quantities.';
grant execute on function ledger.lock_lines(ledger.line[]) to service_ledger;
--! EndIncluded ledger/lock_lines.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.lock(array_agg(d.product_id), array_agg(s.warehouse_id) || array_agg(t.warehouse_id),
    array_agg(s.bin_location_id) || array_agg(t.bin_location_id))
  from unnest(drafts) d
  cross join lateral ledger.place_columns(d.source_type, d.source) s
  cross join lateral ledger.place_columns(d.destination_type, d.destination) t;
end;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of movements that are to be booked: those of ledger.lock, for their products and places.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/lock_places.sql
-- Comments alone
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
  'brings figures up to date with them and with what else changes, each row once, and emits events. The '
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
  'date, and emits events if there is one call. Answers whether available stock is below 0 now, and whether '
  'rows were missing. A new figure stands here; one that mutations of stock change in '
  'ledger.book_correction, too, and one of products in ledger.product_after. Only for ledger.write.';
grant execute on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) to service_booker;
--! EndIncluded ledger/write_rows.sql
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
  'Makes the rows of stock and of warehouse stock that are not there yet, with their figures, and emits '
  'their events; calls that come together have none. Refuses a booking that names a place which is not '
  'there any more. Only for ledger.write.';
grant execute on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) to service_booker;
--! EndIncluded ledger/write_missing.sql
--! Included ledger/write_batch_figures.sql
create or replace function ledger.write_batch_figures(legs ledger.leg[])
returns table (batch_id uuid, stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  today constant timestamptz := date_trunc('second', now());
begin
  return query
  with flow as materialized (
    select s.id as stock_id, l.batch_id, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.place_type in ('warehouse', 'bin_location')), 0) as held,
      min(l.booked_at) filter (where not l.is_count) as moved_at
    from unnest(legs) l
    join ledger.stock s on s.product_id = l.product_id and s.place = l.place
    where l.batch_id is not null and l.place_type <> 'special_stock_location'
    group by s.id, l.batch_id
  ),
  opened as (
    insert into ledger.batch_stock (stock_id, batch_id, quantity)
    select f.stock_id, f.batch_id, f.change from flow f
    where not exists (
      select from ledger.batch_stock b where b.stock_id = f.stock_id and b.batch_id = f.batch_id)
    order by f.position
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id and f.change <> 0
  ),
  in_batch as (
    update erp.batch b set physical_stock = b.physical_stock + h.change, updated_at = today
    from (
      select flow.batch_id, sum(flow.held)::bigint as change, min(flow.position) as position
      from flow group by flow.batch_id having sum(flow.held) <> 0
    ) h
    where b.id = h.batch_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_batch b cross join lateral events.batch_update_events(b.o, b.n) e order by b.position
  )
  select f.batch_id, array_agg(f.stock_id) from flow f
  where exists (
    select from ledger.stock_count c
    where c.stock_id = f.stock_id and c.counted_at >= f.moved_at
      and c.batch_id = f.batch_id and c.difference is not null)
  group by f.batch_id;
end
$$;
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Brings the stock of batches up to date with movements, in each place and altogether, and emits events. '
  'Answers the batches that were counted, as is known, after the moment of a leg, and in which stock.';
select api_meta.plan_by_index('ledger.write_batch_figures(ledger.leg[])');
select api_meta.give('ledger.write_batch_figures(ledger.leg[])', 'service_booker');
grant execute on function ledger.write_batch_figures(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/write_batch_figures.sql
--! Included ledger/write_order_states.sql
create or replace function ledger.write_order_states(
  order_id uuid, state text, delivery_state text, tracking_codes text[]
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- The trigger of tracking codes only runs when these are written
  if cardinality(tracking_codes) > 0 then
    with changed as (
      update erp.sales_order s
      set state = write_order_states.state, delivery_state = write_order_states.delivery_state,
        entered_tracking_codes = s.entered_tracking_codes || write_order_states.tracking_codes
      where s.id = order_id returning with (old as o, new as n) o, n
    )
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, events.cause()
    from changed c cross join lateral events.sales_order_update_events(c.o, c.n) e;
  else
    with changed as (
      update erp.sales_order s
      set state = write_order_states.state, delivery_state = write_order_states.delivery_state
      where s.id = order_id returning with (old as o, new as n) o, n
    )
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, events.cause()
    from changed c cross join lateral events.sales_order_update_events(c.o, c.n) e;
  end if;
end
$$;
comment on function ledger.write_order_states(uuid, text, text, text[]) is
  'Writes the states of an order and codes to follow it by, and emits events. Only for '
  'erp.settle_order, and for states that change nothing of what the order reserves: one that is completed '
  'has shipped it all.';
select api_meta.plan_by_index('ledger.write_order_states(uuid, text, text, text[])');
select api_meta.give('ledger.write_order_states(uuid, text, text, text[])', 'service_booker');
grant execute on function ledger.write_order_states(uuid, text, text, text[]) to service_writer;
--! EndIncluded ledger/write_order_states.sql
--! Included ledger/write_shipment.sql
create or replace function ledger.write_shipment(
  number text, picks ledger.pick[], stock_movements uuid[], lines uuid[],
  out fulfillment_id uuid, out fulfillment_orders uuid[], out turned uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  fulfillment_id := uuidv7();
  with line as materialized (select * from ledger.picked_lines(picks)),
  source as materialized (
    select x.fulfillment_order_id as id, sum(x.rest) > 0 as is_partial,
      bool_or(x.rest > 0 and x.is_wanted) as is_open
    from (
      select l.fulfillment_order_id, l.destination_order_line_item_id is not null as is_wanted,
        l.quantity - l.fulfilled_quantity - coalesce(line.quantity, 0) as rest
      from erp.fulfillment_order_line_item l left join line on line.id = l.id
      where l.fulfillment_order_id = any (array(select line.fulfillment_order_id from line))
    ) x group by x.fulfillment_order_id
  ),
  made as (
    insert into erp.fulfillment (id, number) values (write_shipment.fulfillment_id, write_shipment.number)
    returning fulfillment as n
  ),
  paired as (
    insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id)
    select s.id, write_shipment.fulfillment_id from source s order by 1
  ),
  shipped as (
    insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id,
      fulfillment_order_line_item_id, product_id, quantity)
    select write_shipment.fulfillment_id, line.fulfillment_order_id, line.id, line.product_id, line.quantity
    from line order by line.position
    returning id, fulfillment_order_line_item_id
  ),
  linked as (
    insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
    select s.id, m.id from unnest(stock_movements, lines) m (id, line_id)
    join shipped s on s.fulfillment_order_line_item_id = m.line_id
  ),
  fulfilled as (
    update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + line.quantity
    from line where l.id = line.id
  ),
  ordered as (
    update erp.sales_order_line_item s set shipped_quantity = s.shipped_quantity + i.quantity
    from (select line.item_id, sum(line.quantity)::integer as quantity from line group by line.item_id) i
    where s.id = i.item_id
  ),
  moved as (
    update erp.fulfillment_order f
    set state = case when s.is_open and f.state <> 'Open' then f.state else erp.next_state(
        'fulfillment_order', case when s.is_open then 'start' else 'close' end, f.state) end,
      is_partially_fulfilled = s.is_partial
    from source s
    where f.id = s.id and (f.state = 'Open' or not s.is_open or f.is_partially_fulfilled <> s.is_partial)
    returning with (old as o, new as n) o, n, s.is_partial
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause()) from (
      select null::uuid as id, e.* from made m cross join lateral events.fulfillment_insert_events(m.n) e
      union all
      select (m.n).id, e.* from moved m cross join lateral events.fulfillment_order_update_events(m.o, m.n) e
    ) e order by e.id nulls first
  )
  select array(select s.id from source s order by 1), array(select (m.n).id from moved m where m.is_partial
    and (m.o).state in ('Open', 'InProgress', 'OnHold') <> ((m.n).state in ('Open', 'InProgress', 'OnHold')))
  into fulfillment_orders, turned;
end
$$;
comment on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) is
  'Records a fulfillment, what it ships, by which movements, each for its line of a fulfillment order, and '
  'what is fulfilled, shipped and closed thereby, and emits events. Answers the fulfillment, the fulfillment '
  'orders, and those of them that have units left and ended, or began, to promise them. Only for erp.ship: '
  'ledger.ship has booked it, and kept the other figures that follow.';
select api_meta.plan_by_index('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])');
select api_meta.give('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])', 'service_booker');
grant execute on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/write_shipment.sql
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
  'Emits the events of several calls, each call for itself, in their order, with the figures as they '
  'were after it. Only for ledger.write, which has written the figures after all calls.';
grant execute on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) to service_booker;
--! EndIncluded ledger/tell_steps.sql
--! Included api_meta/derive_references.sql
create or replace function api_meta.make_reference_check(relation regclass) returns regprocedure
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  checked record;
  routine text;
  body text;
begin
  select n.nspname as schema, c.relname as name,
    string_agg(format('bool_or(n.%I is not null) as %1$I', r.column), E',\n    ' order by r.name) as named,
    string_agg(format($f$
  if used.%I and exists (
    select from (select distinct n.%1$I as key from new_rows n) n
    where n.key is not null and not exists (select from %s t where t.%I = n.key for key share)
  ) then
    missing := %L;
  end if;$f$, r.column, r.target, r.key, r.name), '' order by r.name) as checks
  into strict checked
  from api_meta.upheld_reference r join pg_class c on c.oid = r.relation
  join pg_namespace n on n.oid = c.relnamespace
  where r.relation = make_reference_check.relation group by n.nspname, c.relname;
  routine := format('%I.%I()', checked.schema, 'check_references_of_' || checked.name);
  body := format($f$
declare
  used record;
  missing text;
begin
  select %s
  into used from new_rows n;%s
  if missing is not null then
    raise foreign_key_violation using constraint = missing, schema = %L, table = %L,
      message = 'insert on table "' || %4$L || '" violates foreign key constraint "' || missing || '"';
  end if;
  return null;
end
$f$, checked.named, checked.checks, checked.schema, checked.name);
  if not exists (select from pg_proc p where p.oid = to_regprocedure(routine) and p.prosrc = body) then
    -- With the rights of the owner of the tables, as foreign keys have them
    execute format(E'create or replace function %s returns trigger\n'
      'language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', routine, body);
    execute format('comment on function %s is %L', routine,
      'Trigger, made by api_meta.derive_references: upholds foreign keys of ' || relation
      || ' that are declared as not enforced.');
    perform api_meta.plan_by_index(routine::regprocedure);
  end if;
  return routine::regprocedure;
end
$$;
comment on function api_meta.make_reference_check(regclass) is
  'Makes the function of a trigger that looks for the rows which new ones refer to, if it is not as it '
  'should be.';

create or replace function api_meta.derive_references() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  -- A trigger that is as it should be isn't made again, for that would lock its table
  for item in
    select r.relation, api_meta.make_reference_check(r.relation) as routine,
      string_agg(quote_ident(r.column), ', ' order by r.name) as columns,
      string_agg(a.attnum::text, ' ' order by r.name) as numbers,
      string_agg(format('new.%I <> old.%1$I or new.%1$I is not null and old.%1$I is null', r.column),
        ' or ' order by r.name) as changes
    from api_meta.upheld_reference r
    join pg_attribute a on a.attrelid = r.relation and a.attname = r.column group by r.relation
  loop
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_new'
    ) then
      execute format('create trigger check_references_of_new after insert on %s '
        'referencing new table as new_rows for each statement '
        'when (current_user <> ''service_booker''::text) execute function %s', item.relation, item.routine);
    end if;
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_changed'
        and t.tgattr::text = item.numbers
    ) then
      execute format('create or replace trigger check_references_of_changed before update of %s on %s '
        'for each row when (%s) execute function api_meta.refuse_other_reference()',
        item.columns, item.relation, item.changes);
    end if;
  end loop;
  for item in
    select distinct r.target from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_gone')
  loop
    execute format('create trigger check_references_to_gone after delete on %s '
      'referencing old table as gone for each statement execute function api_meta.follow_deletion()',
      item.target);
  end loop;
  for item in
    select distinct r.target, r.key from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_changed')
  loop
    execute format('create trigger check_references_to_changed before update of %I on %s '
      'for each row when (new.%1$I <> old.%1$I) execute function api_meta.refuse_other_reference()',
      item.key, item.target);
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name from pg_trigger t
    where t.tgname ~ '^check_references_' and not exists (
      select from api_meta.upheld_reference r
      where t.tgrelid = case when t.tgname ~ '_to_' then r.target else r.relation end)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
  end loop;
end
$$;
comment on function api_meta.derive_references() is
  'Makes triggers of the foreign keys that are declared as not enforced, which ask once for each statement, '
  'where an enforced one asks for each row: of the rows that new ones refer to, and of what becomes of those '
  'that refer to a deleted one. Neither side of a reference can be changed. Bookings write no reference to '
  'what they have not locked (ledger.lock_stock). Runs after each migration.';
--! EndIncluded api_meta/derive_references.sql

--! split: 29-tools.sql
--! Included erp/about_customer.sql
create or replace function erp.about_customer(customer uuid) returns table (
  customer uuid, number text, email text, orders uuid[], quotes uuid[], fulfillment_orders uuid[],
  fulfillments uuid[], labels uuid[], returns uuid[], receipts uuid[], documents uuid[]
)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with o as (
    select s.id
    from erp.sales_order s
    where s.customer_id = about_customer.customer
  ),
  fo as (
    select f.id
    from erp.fulfillment_order f
    where f.destination_order_id in (select o.id from o)
  )
  select c.id, c.customer_number, c.email, array(select o.id from o order by o.id),
    array(
      select q.id from erp.quote q
      where q.customer_id = c.id or q.order_id in (select o.id from o) order by q.id
    ),
    array(select fo.id from fo order by fo.id),
    array(
      select distinct f.fulfillment_id from erp.fulfillment_order_fulfillment f
      where f.fulfillment_order_id in (select fo.id from fo)
    ),
    array(
      select l.id from erp.shipping_label l
      where l.order_id in (select o.id from o) or l.fulfillment_order_id in (select fo.id from fo)
      order by l.id
    ),
    array(
      select r.id from erp.return_order r
      where r.customer_id = c.id or r.order_id in (select o.id from o) order by r.id
    ),
    array(select g.id from erp.goods_receipt g where g.customer_id = c.id order by g.id),
    array(select d.id from erp.document d where d.order_id in (select o.id from o) order by d.id)
  from erp.customer c
  where c.id = about_customer.customer;
end;
comment on function erp.about_customer(uuid) is
  'A customer, and the ids of all that is about them. `npx erp customers` hands that over, or anonymizes it.';
--! EndIncluded erp/about_customer.sql
--! Included erp/subjects_about.sql
create or replace function erp.subjects_about(customer uuid) returns uuid[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select a.customer || a.orders || a.fulfillment_orders || a.fulfillments || a.labels || a.receipts
    || a.documents
  from erp.about_customer(subjects_about.customer) a;
end;
comment on function erp.subjects_about(uuid) is 'The ids whose events are about a customer.';
--! EndIncluded erp/subjects_about.sql
--! Included erp/country_alone.sql
create or replace function erp.country_alone(address jsonb) returns jsonb
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'countryIso', address -> 'countryIso', 'countryName', address -> 'countryName')), '{}');
end;
comment on function erp.country_alone(jsonb) is
  'What stays of the address of a customer who is anonymized: the country, by which taxes and statistics go.';
--! EndIncluded erp/country_alone.sql
--! Included erp/personal_values.sql
create or replace function erp.personal_values(customer uuid) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with address as (
    select x.address
    from erp.about_customer(personal_values.customer) a
    cross join lateral (
      select o.shipping_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select o.billing_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select f.shipping_address from erp.fulfillment_order f where f.id = any (a.fulfillment_orders)
    ) x (address)
  ),
  value (value) as (
    select unnest(array[c.email, c.first_name, c.last_name, c.company, c.storefront_id])
    from erp.customer c
    where c.id = personal_values.customer
    union
    select jsonb_array_elements_text(c.vat_ids) from erp.customer c where c.id = personal_values.customer
    union
    select v.value #>> '{}'
    from address a cross join jsonb_path_query(a.address, 'strict $.**') v (value)
    where jsonb_typeof(v.value) = 'string' and v.value #>> '{}' is distinct from a.address ->> 'countryName'
  )
  select lower(v.value)
  from value v
  where length(v.value) >= 3 and v.value !~ '@anonymized[.]invalid$'
    and v.value not in ('Anonymized', 'Customer');
end;
comment on function erp.personal_values(uuid) is
  'What tells who a customer is, in lower case, to find where else it is: names, numbers, and what their '
  'addresses have but the country.';
--! EndIncluded erp/personal_values.sql
--! Included erp/names_person.sql
create or replace function erp.names_person(text text, personal text[]) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  -- Short ones are only compared: they are within many words
  select coalesce(bool_or(lower(names_person.text) = p.value
    or length(p.value) >= 6 and strpos(lower(names_person.text), p.value) > 0), false)
  from unnest(personal) p (value);
end;
comment on function erp.names_person(text, text[]) is
  'Whether a text is one of some personal values, which are in lower case, or contains one of six characters '
  'or more.';
--! EndIncluded erp/names_person.sql
--! Included erp/without_person.sql
create or replace function erp.without_person(node jsonb, personal text[]) returns jsonb
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return case jsonb_typeof(node)
    when 'string' then
      case when erp.names_person(node #>> '{}', personal) then '"[removed]"'::jsonb else node end
    when 'array' then (
      select coalesce(jsonb_agg(erp.without_person(e.value, personal) order by e.nr), '[]')
      from jsonb_array_elements(node) with ordinality e (value, nr))
    when 'object' then (
      select coalesce(jsonb_object_agg(e.key, erp.without_person(e.value, personal)), '{}')
      from jsonb_each(node) e)
    else node end;
end
$$;
comment on function erp.without_person(jsonb, text[]) is
  'The same JSON with other texts in the place of those that are, or contain, a personal value.';
--! EndIncluded erp/without_person.sql
--! Included erp/mentions_of_customer.sql
create or replace function erp.mentions_of_customer(customer uuid) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with about as (
    select a.orders, a.quotes
    from erp.about_customer(mentions_of_customer.customer) a
  ),
  place (place, text) as (
    select format('line %s of the order %s', l.id, coalesce(o.order_number, o.id::text)),
      concat_ws(' ', l.identifier, l.label, l.description, l.payload)
    from about a join erp.sales_order o on o.id = any (a.orders)
    join erp.sales_order_line_item l on l.order_id = o.id
    union all
    select format('line %s of the quote %s', l.id, q.number),
      concat_ws(' ', l.identifier, l.label, l.description)
    from about a join erp.quote q on q.id = any (a.quotes) join erp.quote_line_item l on l.quote_id = q.id
    union all
    select 'comment of the stock movement ' || m.id, m.comment
    from about a join ledger.stock_movement m
      on m.source_order_id = any (a.orders) or m.destination_order_id = any (a.orders)
    where m.comment is not null
  )
  select p.place
  from place p
  where erp.names_person(p.text, array(select erp.personal_values(mentions_of_customer.customer)));
end;
comment on function erp.mentions_of_customer(uuid) is
  'Where people have written what tells who a customer is, in texts about its orders that stay as they are.';
--! EndIncluded erp/mentions_of_customer.sql
--! Included mutation/answers_about.sql
create or replace function mutation.answers_about(customer uuid)
returns table (credential_id uuid, key text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select k.credential_id, k.key
  from erp.about_customer(answers_about.customer) a join mutation.idempotency_key k on exists (
    select from unnest(a.customer::text || a.orders::text[] || lower(a.email)) n (needle)
    where strpos(lower(k.payload::text), n.needle) > 0);
end;
comment on function mutation.answers_about(uuid) is
  'The idempotency keys whose answers, which repeated calls get, name a customer or one of its orders.';
--! EndIncluded mutation/answers_about.sql
--! Included events/anonymous_data.sql
create or replace function events.anonymous_data(topic text, subject_id uuid, data jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select anonymous_data.data || coalesce(jsonb_object_agg(f.field, case
    when f.field = 'email' then to_jsonb(anonymous_data.subject_id || '@anonymized.invalid')
    when f.field = 'shippingAddress' then
      coalesce(case when jsonb_typeof(anonymous_data.data -> f.field) = 'object'
        then erp.postal_address(erp.country_alone(anonymous_data.data -> f.field)) end, 'null')
    -- Of orders null, of labels a list
    when f.field = 'trackingCodes' then
      case jsonb_typeof(anonymous_data.data -> f.field) when 'array' then '[]' else 'null' end::jsonb
    else f.value end), '{}')
  from events.topic t
  join (values
    ('Customer', 'email', 'null'::jsonb), ('Customer', 'firstName', '"Anonymized"'),
    ('Customer', 'lastName', '"Customer"'), ('Customer', 'title', 'null'), ('Customer', 'company', 'null'),
    ('Customer', 'vatIds', 'null'), ('Customer', 'storefrontId', 'null'),
    ('Customer', 'salutationId', 'null'), ('Order', 'trackingCodes', 'null'),
    ('FulfillmentOrder', 'holdComment', 'null'), ('FulfillmentOrder', 'shippingAddress', 'null'),
    ('ShippingLabel', 'trackingCodes', 'null'), ('ShippingLabel', 'trackingUrl', 'null'),
    ('ShippingLabel', 'documentUrl', 'null'), ('GoodsReceipt', 'comment', 'null')
  ) f (subject_type, field, value) on f.subject_type = t.subject_type and anonymous_data.data ? f.field
  where t.name = anonymous_data.topic;
end;
comment on function events.anonymous_data(text, uuid, jsonb) is
  'The data of an event without what tells who a customer is. What is done stays as it is.';
--! EndIncluded events/anonymous_data.sql
--! Included events/sequences_about.sql
create or replace function events.sequences_about(subjects uuid[], after bigint default 0)
returns setof bigint
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select e.sequence
  from events.topic t join events.event e on e.topic = t.name
  where t.subject_type in (
      'Customer', 'Order', 'FulfillmentOrder', 'Fulfillment', 'ShippingLabel', 'GoodsReceipt', 'Document')
    and e.subject_id = any (subjects) and e.sequence > after
  order by e.sequence;
end;
comment on function events.sequences_about(uuid[], bigint) is
  'The events about subjects that belong to customers, by the index of topics: most events are about stock.';
--! EndIncluded events/sequences_about.sql
--! Included erp/export_customer.sql
create or replace function erp.export_customer(customer uuid) returns table (kind text, content jsonb)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with about as (
    select a.*
    from erp.about_customer(export_customer.customer) a
  )
  select 'customer', to_jsonb(r) || jsonb_build_object('tags', array(
    select t.name from erp.customer_tag c join erp.tag t on t.id = c.tag_id
    where c.customer_id = r.id order by t.name))
  from erp.customer r
  where r.id = export_customer.customer
  union all
  select 'orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.sales_order_line_item l where l.order_id = r.id order by l.id))
  from about a join erp.sales_order r on r.id = any (a.orders)
  union all
  select 'quotes', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.quote_line_item l where l.quote_id = r.id order by l.id))
  from about a join erp.quote r on r.id = any (a.quotes)
  union all
  select 'fulfillment_orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l)
    from erp.fulfillment_order_line_item l
    where l.fulfillment_order_id = r.id order by l.id))
  from about a join erp.fulfillment_order r on r.id = any (a.fulfillment_orders)
  union all
  select 'fulfillments', to_jsonb(r) from about a join erp.fulfillment r on r.id = any (a.fulfillments)
  union all
  select 'labels', to_jsonb(r) from about a join erp.shipping_label r on r.id = any (a.labels)
  union all
  select 'returns', to_jsonb(r) from about a join erp.return_order r on r.id = any (a.returns)
  union all
  select 'receipts', to_jsonb(r) from about a join erp.goods_receipt r on r.id = any (a.receipts)
  union all
  (select 'events', to_jsonb(e) || jsonb_build_object('deliveries', array(
    select to_jsonb(d) || jsonb_build_object('attempts', array(
      select to_jsonb(t) from events.delivery_attempt t where t.delivery_id = d.id order by t.number))
    from events.delivery d where d.sequence = e.sequence order by d.id))
  from events.sequences_about(erp.subjects_about(export_customer.customer)) s (sequence)
  join events.event e on e.sequence = s.sequence
  order by e.sequence)
  union all
  (select 'events_to_be_numbered', to_jsonb(r)
  from events.outbox r
  where r.subject_id = any (array(select unnest(erp.subjects_about(export_customer.customer))))
  order by r.position)
  union all
  select 'answers_of_idempotency_keys', to_jsonb(r) - 'request'
  from mutation.answers_about(export_customer.customer) a
  join mutation.idempotency_key r on r.credential_id = a.credential_id and r.key = a.key
  union all
  (select 'audit', to_jsonb(r)
  from auth.audit_event r
  where r.action ~ '^customer[.]' and r.subject = export_customer.customer::text
  order by r.id);
end;
comment on function erp.export_customer(uuid) is
  'Rows about a customer, each with what belongs to it, but for documents and files of bulk operations.';
--! EndIncluded erp/export_customer.sql
--! Included erp/anonymize_rows.sql
create or replace function erp.anonymize_rows(customer uuid) returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  about record;
begin
  select * into about from erp.about_customer(anonymize_rows.customer);
  return query with done as (
    update erp.customer c
    set email = c.id || '@anonymized.invalid', first_name = 'Anonymized', last_name = 'Customer',
      title = null, company = null, vat_ids = null, storefront_id = null, salutation_id = null, active = false
    where c.id = about.customer and (c.email <> c.id || '@anonymized.invalid'
      or c.first_name <> 'Anonymized' or c.last_name <> 'Customer' or c.active
      or num_nonnulls(c.title, c.company, c.vat_ids, c.storefront_id, c.salutation_id) > 0)
    returning 1
  ) select 'customer', count(*) from done;
  return query with done as (
    delete from erp.customer_tag t where t.customer_id = about.customer returning 1
  ) select 'tags', count(*) from done;
  -- Also changes the tracking codes of orders
  return query with done as (
    update erp.shipping_label l
    set tracking_codes = '[]', tracking_url = null, document_url = null
    where l.id = any (about.labels)
      and (l.tracking_codes <> '[]' or num_nonnulls(l.tracking_url, l.document_url) > 0)
    returning 1
  ) select 'shipping labels', count(*) from done;
  return query with done as (
    update erp.sales_order o
    set shipping_address = erp.country_alone(o.shipping_address),
      billing_address = erp.country_alone(o.billing_address), entered_tracking_codes = '{}',
      tracking_codes = null
    where o.id = any (about.orders)
      and (o.shipping_address is distinct from erp.country_alone(o.shipping_address)
        or o.billing_address is distinct from erp.country_alone(o.billing_address)
        or cardinality(o.entered_tracking_codes) > 0)
    returning 1
  ) select 'orders', count(*) from done;
  return query with done as (
    update erp.fulfillment_order f
    set shipping_address = erp.postal_address(erp.country_alone(f.shipping_address)), hold_comment = null
    where f.id = any (about.fulfillment_orders) and (f.hold_comment is not null
      or f.shipping_address is distinct from erp.postal_address(erp.country_alone(f.shipping_address)))
    returning 1
  ) select 'fulfillment orders', count(*) from done;
  return query with done as (
    update erp.quote q set comment = null where q.id = any (about.quotes) and q.comment is not null
    returning 1
  ) select 'quotes', count(*) from done;
  return query with done as (
    update erp.goods_receipt g set comment = null where g.id = any (about.receipts) and g.comment is not null
    returning 1
  ) select 'goods receipts', count(*) from done;
end
$$;
comment on function erp.anonymize_rows(uuid) is
  'Replaces personal values in the tables of a shop, for erp.anonymize_customer.';
--! EndIncluded erp/anonymize_rows.sql
--! Included erp/anonymize_customer.sql
create or replace function erp.anonymize_customer(
  customer uuid, sequences bigint[], bulk_operations uuid[]
) returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  subjects uuid[] := erp.subjects_about(customer);
  personal text[] := array(select erp.personal_values(customer));
  answers bigint;
begin
  -- They are found by what is replaced then
  with done as (
    update mutation.idempotency_key k
    set payload = erp.without_person(k.payload, personal)
    from mutation.answers_about(anonymize_customer.customer) a
    where k.credential_id = a.credential_id and k.key = a.key
      and k.payload <> erp.without_person(k.payload, personal)
    returning 1
  ) select count(*) into answers from done;
  return query select * from erp.anonymize_rows(anonymize_customer.customer);
  -- What waits becomes events meanwhile, so it comes first. A change of now isn't among the old values
  return query with done as (
    update events.outbox o
    set data = events.anonymous_data(o.topic, o.subject_id, o.data)
    where o.subject_id = any (subjects)
      and o.data <> events.anonymous_data(o.topic, o.subject_id, o.data)
    returning 1
  ) select 'changes to be numbered', count(*) from done;
  sequences := sequences
    || array(select * from events.sequences_about(subjects, coalesce(sequences[cardinality(sequences)], 0)));
  return query with done as (
    update events.event e
    set data = events.anonymous_data(e.topic, e.subject_id, e.data)
    where e.sequence = any (sequences)
      and e.data <> events.anonymous_data(e.topic, e.subject_id, e.data)
    returning 1
  ) select 'events', count(*) from done;
  return query with done as (
    update events.delivery_attempt a
    set request_headers = '{}', response_headers = null, response_body = null
    from events.delivery d
    where d.id = a.delivery_id and d.sequence = any (sequences)
      and (num_nonnulls(a.response_body, a.response_headers) > 0 or a.request_headers <> '{}')
    returning 1
  ) select 'attempts to send webhooks', count(*) from done;
  return query with done as (
    delete from bulk.chunk c where c.operation_id = any (bulk_operations) returning 1
  ) select 'files of bulk operations', count(*) from done;
  return query with done as (
    delete from bulk.refusal r where r.operation_id = any (bulk_operations) returning 1
  ) select 'refusals of bulk operations', count(*) from done;
  return query with done as (
    update bulk.operation o
    set expires_at = now(), stored_bytes = 0, query = null, variables = null
    where o.id = any (bulk_operations)
      and (o.expires_at > now() or num_nonnulls(o.query, o.variables) > 0)
    returning 1
  ) select 'bulk operations', count(*) from done;
  return query select 'answers of idempotency keys', answers;
end
$$;
comment on function erp.anonymize_customer(uuid, bigint[], uuid[]) is
  'Replaces what tells who a customer is, everywhere but in documents, and counts what '
  'has changed. Known are the events about it so far, in their order, and bulk operations '
  'whose files have rows about it. Rows that are done are not changed again, so they cause no events.';
--! EndIncluded erp/anonymize_customer.sql

--! split: 70-flakes.sql
--! Included ledger/keep_invoice_figures.sql
create or replace function ledger.keep_invoice_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- 1 when it becomes valid again, -1 when it no longer is
  change constant integer := (tg_op <> 'DELETE' and new.cancellation_id is null)::integer
    - (old.cancellation_id is null)::integer;
begin
  if change <> 0 then
    perform ledger.change_invoiced_quantities(array(
      select row (l.document_id, l.order_line_item_id, change * l.quantity)::ledger.change
      from erp.invoice_line_item l where l.document_id = old.document_id));
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
comment on function ledger.keep_invoice_figures() is
  'Trigger before an invoice is deleted, while its lines are there, and before it is cancelled, or no longer '
  'is: one that is cancelled charges nothing. What a foreign key changes must count at once: a trigger '
  'afterwards waits until the whole statement has deleted its documents.';
select api_meta.give('ledger.keep_invoice_figures()', 'service_ledger');
--! EndIncluded ledger/keep_invoice_figures.sql
drop trigger if exists keep_figures_after_update on erp.invoice;
drop trigger if exists keep_figures_before_delete on erp.invoice;
drop trigger if exists keep_figures on erp.invoice;
create trigger keep_figures before update of cancellation_id or delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();

--! split: 80-words.sql
--! Included ledger/next_movement_id.sql
create or replace function ledger.next_movement_id() returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid := uuidv7();
  newest uuid;
begin
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m
    where m.id >= made order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an
      -- id now, too
      made := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint
        + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return made;
end
$$;
comment on function ledger.next_movement_id() is
  'A new id for a movement: larger than that of every movement that was committed before the '
  'transaction. The number of the transaction is drawn before it, never after it: readers rely on it '
  '(docs/internals/decisions, followed lists).';
grant execute on function ledger.next_movement_id() to service_booker;
--! EndIncluded ledger/next_movement_id.sql

--! Previous: sha1:e5d6aec301b42cbd9434e69ed5037a7b573244cf
--! Hash: sha1:1befd63414eac6c38750c9ae7b1dfde47ae064f4
--! Message: shipments, groups and checks of filled columns

--! split: 0100-shipments.sql
-- A shipment takes fewer statements
drop function if exists erp.lock_order_to_ship(uuid);
drop function if exists erp.refuse_nothing_to_ship(erp.sales_order);
drop function if exists ledger.forget_unwanted(uuid[]);
drop function if exists ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]);
--! Included erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
-- For different roles Postgres would plan its statement anew at each turn
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  select t.to_state into result from erp.state_transition t
  where t.machine = next_state.machine and t.action = next_state.action and t.from_state = state;
  if not found then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('In state %s this cannot be done: %s.', state, action), null, jsonb_build_object(
      'state', state, 'allowedActions',
        (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
        where t.machine = next_state.machine and t.from_state = next_state.state)));
  end if;
  return result;
end
$$;
comment on function erp.next_state(text, text, text) is
  'The state that an action leads to, by erp.state_transition. User error INVALID_STATE_TRANSITION, '
  'with the state and the actions that it allows.';
select api_meta.give('erp.next_state(text, text, text)', 'service_writer');
grant execute on function erp.next_state(text, text, text) to service_booker;
--! EndIncluded erp/next_state.sql
--! Included erp/lock_order_to_ship.sql
create or replace function erp.lock_order_to_ship(
  order_id uuid, out state text, out is_on_hold boolean, out locations uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select o.state into state from erp.sales_order o where o.id = order_id for no key update;
  if not found then
    perform mutation.refuse_missing('order', '{order_id}');
  end if;
  if state <> 'in_progress' then
    perform erp.next_state('order', 'process', state);
  end if;
  -- The second lock of ledger.lock_orders
  select bool_or(f.type = 'WarehouseLocationToOrder' and f.state = 'OnHold'),
    array_agg(f.source_warehouse_location_id)
  into is_on_hold, locations
  from (
    select f.type, f.state, f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = order_id order by f.id for no key update
  ) f;
end
$$;
comment on function erp.lock_order_to_ship(uuid) is
  'Takes the locks of an order and its fulfillment orders, as ledger.lock_orders does. Answers the state of '
  'the order, in which it can be worked on, whether a fulfillment order is on hold, and where they ship '
  'from. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
grant execute on function erp.lock_order_to_ship(uuid) to service_writer;
--! EndIncluded erp/lock_order_to_ship.sql
--! Included erp/refuse_nothing_to_ship.sql
create or replace function erp.refuse_nothing_to_ship(order_id uuid, state text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = order_id and f.state in ('Open', 'InProgress', 'OnHold')
      and erp.has_open_lines(f.id)
  ) then
    perform mutation.refuse(
      'EXTERNALLY_MANAGED', 'What is left to ship is shipped by somebody else.', '{order_id}'
    );
  end if;
  perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{order_id}',
    jsonb_build_object(
      'state', state, 'allowedActions', erp.allowed_actions('order', state)
    ));
end
$$;
comment on function erp.refuse_nothing_to_ship(uuid, text) is
  'Says why nothing of an order can be shipped. User errors EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION.';
grant execute on function erp.refuse_nothing_to_ship(uuid, text) to service_writer;
--! EndIncluded erp/refuse_nothing_to_ship.sql
--! Included erp/lock_to_ship.sql
create or replace function erp.lock_to_ship(
  picks ledger.pick[], assignments erp.assignment[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  line_ids uuid[];
  product_ids uuid[];
  warehouse_ids uuid[];
begin
  select array_agg(p.line_id), array_agg(p.warehouse_id) into line_ids, warehouse_ids from unnest(picks) p;
  -- What nobody wants any more is no longer promised when the fulfillment order is closed
  select array_agg(l.product_id) || array_agg(s.product_id) into product_ids
  from erp.fulfillment_order_line_item l
  left join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
  where l.quantity > l.fulfilled_quantity
    and (l.id = any (line_ids) or l.destination_order_line_item_id is null)
    and l.fulfillment_order_id = any (array(
      select n.fulfillment_order_id from erp.fulfillment_order_line_item n where n.id = any (line_ids)));
  if cardinality(assignments) > 0 then
    product_ids := product_ids || array(select a.product_id from unnest(assignments) a);
    warehouse_ids := warehouse_ids || array(
      select l.warehouse_id from unnest(assignments) a join erp.location l on l.id = a.location_id);
  end if;
  perform ledger.lock_shipment(product_ids, warehouse_ids, bin_location_ids);
end
$$;
comment on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) is
  'Takes the locks of ledger.lock_shipment for what fulfillment orders have open and what is to be assigned, '
  'and for bins that are named: all that shipping changes.';
grant execute on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) to service_writer;
--! EndIncluded erp/lock_to_ship.sql
--! Included ledger/lock_shipment.sql
create or replace function ledger.lock_shipment(
  product_ids uuid[], warehouse_ids uuid[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(product_ids, warehouse_ids, array(
    select s.bin_location_id from ledger.stock s
    where s.product_id = any (product_ids) and s.location_type_technical_name = 'bin_location'
      and s.quantity > 0 and (
        -- One after the other: a join would look for all warehouses in each bin
        select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id) = any (warehouse_ids)
  ) || bin_location_ids);
end
$$;
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks that shipping products from warehouses needs, those of the bins that hold them included, '
  'after the locks of the orders. From here on no other transaction changes the stock of these products.';
select api_meta.plan_by_index('ledger.lock_shipment(uuid[], uuid[], uuid[])');
select api_meta.give('ledger.lock_shipment(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock_shipment.sql
--! Included ledger/promises_kept.sql
create or replace function ledger.promises_kept(picks ledger.pick[], assigned uuid[])
returns ledger.figure_change[]
language sql stable
begin atomic
  with line as materialized (
    select l.fulfillment_order_id, l.destination_order_line_item_id, l.product_id, p.warehouse_id,
      p.quantity as units
    from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
  )
  select array(
    select row (l.product_id, l.warehouse_id, - l.units, 0, 0)::ledger.figure_change
    from line l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    where l.product_id is not null and l.warehouse_id is not null
      and f.state in ('Open', 'InProgress', 'OnHold') and f.id <> all (assigned)
    union all
    -- More than is ordered will be refused when it is written down
    select row (s.product_id, null, 0,
      - least(sum(l.units), s.quantity - s.shipped_quantity), 0)::ledger.figure_change
    from line l join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
    join erp.sales_order o on o.id = s.order_id
    where s.product_id is not null and o.state in ('open', 'in_progress') group by s.id
  );
end;
comment on function ledger.promises_kept(ledger.pick[], uuid[]) is
  'What is promised and reserved no longer when picks are shipped: fulfillment orders of them, save those '
  'that were assigned for the purpose and so have promised nothing, and orders.';
grant execute on function ledger.promises_kept(ledger.pick[], uuid[]) to service_ledger;
--! EndIncluded ledger/promises_kept.sql
--! Included ledger/follow_states.sql
create or replace function ledger.follow_states(fulfillment_orders uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.change_promised_stock(array(
    select row (w.warehouse_id, l.product_id,
      case when f.state in ('Open', 'InProgress', 'OnHold') then l.quantity - l.fulfilled_quantity
        else l.fulfilled_quantity - l.quantity end)::ledger.change
    from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    join erp.location w on w.id = f.source_warehouse_location_id
    where f.id = any (fulfillment_orders) and l.quantity > l.fulfilled_quantity
      and l.product_id is not null and w.warehouse_id is not null));
end
$$;
comment on function ledger.follow_states(uuid[]) is
  'Ends the promises of units that fulfillment orders still had when a shipment closed them, because their '
  'lines of an order were deleted; or makes them, if it opened the fulfillment orders by a transition that '
  'was added. Only for erp.ship.';
select api_meta.give('ledger.follow_states(uuid[])', 'service_ledger');
grant execute on function ledger.follow_states(uuid[]) to service_writer;
--! EndIncluded ledger/follow_states.sql
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
  'what is fulfilled, shipped and closed thereby, and tells of it. Answers the fulfillment, the fulfillment '
  'orders, and those of them that have units left and ended, or began, to promise them. Only for erp.ship: '
  'ledger.ship has booked it, and kept the other figures that follow.';
select api_meta.plan_by_index('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])');
select api_meta.give('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])', 'service_booker');
grant execute on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/write_shipment.sql
--! Included erp/ship.sql
create or replace function erp.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], tracking_codes text[], note text
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Assigned, not selected: an expression takes less than a statement
  booked record;
  made record;
begin
  booked := ledger.ship(order_id, picks, assigned, note);
  -- The number is the last lock, because it blocks all other shipping
  made := ledger.write_shipment(
    erp.next_number('fulfillment'), picks, booked.stock_movements, booked.lines);
  if made.turned <> '{}'::uuid[] then
    perform ledger.follow_states(made.turned);
  end if;
  perform erp.settle_order(order_id, tracking_codes);
  return row (order_id, array[made.fulfillment_id], made.fulfillment_orders, booked.stock_movements,
    '{}')::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) is
  'Ships units of fulfillment orders of one order, some of which may have been assigned for the purpose: '
  'books them out, records the fulfillment, closes what is fulfilled, and writes each row once. The caller '
  'holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
grant execute on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) to service_writer;
--! EndIncluded erp/ship.sql
--! Included erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[],
  note text,
  warehouse_id uuid default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  picks ledger.pick[];
  assignments erp.assignment[];
  assigned uuid[] := '{}';
begin
  if cardinality(tracking_codes) > 0 then
    perform erp.require_tracking_codes(tracking_codes);
  end if;
  if cardinality(documents) > 0 then
    perform erp.require_documents(documents);
  end if;
  present := erp.lock_order_to_ship(order_id);
  if present.is_on_hold then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l where l.id = any (present.locations) order by l.id for key share;
  picks := erp.open_picks(order_id);
  assignments := erp.plan_uncovered(order_id, warehouse_id);
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.refuse_nothing_to_ship(order_id, present.state);
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  if cardinality(assignments) > 0 then
    assigned := erp.assign(order_id, assignments, true);
    picks := erp.open_picks(order_id);
  end if;
  return erp.ship(order_id, picks, assigned, tracking_codes, note);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships all that is open of an order: from the warehouses that it is assigned to, and what no open '
  'fulfillment order has from those of erp.plan_uncovered, for which a warehouse may be named. External '
  'fulfillment orders are left alone. Documents are only checked here. User errors NOT_FOUND, INVALID, '
  'NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, '
  'TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.complete_shipment(uuid, text[], text[], text, uuid)');
grant execute on function erp.complete_shipment(uuid, text[], text[], text, uuid) to service_writer;
--! EndIncluded erp/complete_shipment.sql
--! Included erp/create_fulfillment_order.sql
create or replace function erp.create_fulfillment_order(
  order_id uuid, warehouse_id uuid, lines erp.shipping_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  assignments erp.assignment[];
begin
  perform erp.require_shipping_lines(lines, '{}', 'order_line_item_id');
  present := erp.lock_order_to_ship(order_id);
  if lines is null then
    assignments := erp.plan_uncovered(order_id, warehouse_id);
    if cardinality(assignments) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION',
        'Nothing of the order is open that no fulfillment order has.', '{order_id}',
        jsonb_build_object(
          'state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)
        ));
    end if;
  else
    perform erp.require_assignable_lines(order_id, lines);
    assignments := array(
      select row (w.location_id, s.id, s.product_id, l.quantity)::erp.assignment
      from (select erp.location_of_warehouse(warehouse_id, '{warehouse_id}') as location_id) w
      cross join unnest(lines) with ordinality l
      join erp.sales_order_line_item s on s.id = l.id
      order by l.ordinality);
  end if;
  perform erp.lock_to_ship('{}', assignments);
  return (erp.assign(order_id, assignments))[1];
end
$$;
comment on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) is
  'Has a warehouse ship units of lines of an order that no fulfillment order has, or all of them when '
  'lines is null. Answers the fulfillment order. User errors NOT_FOUND, INVALID, '
  'INVALID_STATE_TRANSITION, OVER_FULFILLMENT, REQUIRED, OUT_OF_RANGE, NOT_UNIQUE, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[])');
grant execute on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/create_fulfillment_order.sql
--! Included erp/complete_goods_receipt.sql
create or replace function erp.complete_goods_receipt(goods_receipt_id uuid, placements erp.placement[])
returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', now());
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  parts erp.receipt_part[];
  deliveries erp.delivery[];
  booking ledger.booking;
begin
  -- After the receipt and before the stock, always in this order. From here on no other transaction delivers
  -- these orders
  perform from erp.supplier_order o where o.id = any (array(
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  )) order by o.id for no key update;
  if cardinality(placements) > 0 then
    perform erp.check_placements(present, placements);
  end if;
  parts := array(
    select row (case when a.nth = 1 then l.id else uuidv7() end, l.id, a.nth, l.supplier_order_id,
      a.supplier_order_id, a.supplier_order_line_item_id, a.quantity)::erp.receipt_part
    from erp.allotment(present.id) a join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
    order by l.id, a.nth
  );
  deliveries := erp.deliveries(present.id, parts);
  booking := ledger.post(erp.put_away_drafts(present, placements), null, array(
    select row (d.product_id, null, 0, 0, d.awaited)::ledger.figure_change
    from unnest(deliveries) d where d.product_id is not null and d.awaited <> 0
  ));

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = moment where r.id = present.id;
  perform erp.settle_receipt_lines(present.id, parts);
  perform ledger.write_deliveries(deliveries, moment);
  update erp.supplier_order o
  set state = d.new_state,
    -- If a person completed it, its delivery date no longer follows from its lines
    actual_delivery_date = case when d.is_complete then coalesce(o.actual_delivery_date, moment)
      when o.state = 'completed' then o.actual_delivery_date end
  from (select distinct d.supplier_order_id, d.new_state, d.is_complete from unnest(deliveries) d) d
  where o.id = d.supplier_order_id;
  return booking;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt: books its lines from the place of the receipt to where they are put away, '
  'and what is to be thrown away to stock_correction; notes what arrived of supplier orders. A line '
  'without placements goes to its own bin, the usual bin, or the warehouse. All units are booked, also '
  'those that no order has open: these become lines of their own.';
select api_meta.plan_by_index('erp.complete_goods_receipt(uuid, erp.placement[])');
grant execute on function erp.complete_goods_receipt(uuid, erp.placement[]) to service_writer;
--! EndIncluded erp/complete_goods_receipt.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
begin
  select array_agg(d.product_id) as products,
    array_agg(d.source::uuid) filter (where d.source_type = 'warehouse')
      || array_agg(d.destination::uuid) filter (where d.destination_type = 'warehouse') as warehouses,
    coalesce(array_agg(d.source::uuid) filter (where d.source_type = 'bin_location')
      || array_agg(d.destination::uuid) filter (where d.destination_type = 'bin_location'), '{}') as bins
  into named from unnest(drafts) d;
  if named.bins <> '{}' then
    named.warehouses := named.warehouses
      || array(select b.warehouse_id from erp.bin_location b where b.id = any (named.bins));
  end if;
  perform ledger.lock(named.products, coalesce(named.warehouses, '{}'), named.bins);
end
$$;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of movements that are to be booked: those of ledger.lock, for their products and places.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/lock_places.sql
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
  '(api_meta.derive_references). Only for ledger.write_stock, which finds out of most by updating them.';
grant execute on function ledger.lock_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/lock_stock.sql
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
    perform ledger.write_figures('{}', others, false, false, false) where others <> '{}';
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
  if ledger.write_figures(
    seen.changes, others, seen.opens, seen.opens_warehouses, seen.is_configured
  ) then
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
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  digest bytea;
  repeated jsonb;
  result jsonb;
  errors jsonb;
  warnings jsonb := '[]';
  state text;
  detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  target := mutation.find(version, operation);
  -- GraphQL checks scopes first, but may not know of a change yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    perform mutation.refuse_nulls(target.input_type,
      case when validate_only is null then input || '{"validate_only": null}' else input end);
    if idempotency_key is not null then
      digest := mutation.digest(operation, target.input_type, input, target.takes_changes);
      repeated := mutation.take_key(idempotency_key, digest, operation, input);
      if repeated is not null then
        return jsonb_build_object('payload', case when not validate_only then repeated end,
          'userErrors', '[]'::jsonb, 'warnings', coalesce(repeated -> 'warnings', '[]'));
      end if;
    end if;
    -- For the cause of events, and for upserts: a trial doesn't show their results
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true), set_config(
      'service.validate_only', validate_only::text, true), set_config('service.warnings', '', true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;
    -- A variable survives the rollback of validate_only
    warnings := mutation.warnings();
    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      perform mutation.keep_answer(idempotency_key, digest,
        (result - target.secrets) || jsonb_build_object('warnings', warnings));
    end if;
    return jsonb_build_object('payload', result, 'userErrors', '[]'::jsonb, 'warnings', warnings);
  exception
    when sqlstate 'UE002' then
      return jsonb_build_object('payload', null, 'userErrors', '[]'::jsonb, 'warnings', warnings);
    when sqlstate 'UE001' then
      get stacked diagnostics detail = pg_exception_detail;
      errors := detail::jsonb;
    when numeric_value_out_of_range then
      errors := jsonb_build_array(mutation.user_error('OUT_OF_RANGE',
        'A quantity or an amount would become larger than can be kept.'));
    when integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate,
        violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := mutation.broken_rule(
        state, input, violated_schema, violated_table, violated_column, violated_constraint);
      if errors is null then raise; end if;
  end;
  return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. '
  'The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s '
  'comment. Answers {payload, userErrors, warnings}; with user errors nothing has been changed, and '
  'there are no warnings. A key makes a repetition within 24 hours answer the first payload and its '
  'warnings again. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';
select api_meta.give('mutation.run(name, name, jsonb, text, boolean)', 'service_writer');
grant execute on function mutation.run(name, name, jsonb, text, boolean) to service_api;
--! EndIncluded mutation/run.sql

-- What a shipment refers to is locked by it, or new
do $$
declare
  reference record;
begin
  for reference in
    select c.conrelid::regclass as relation, c.conname as name from pg_constraint c
    where c.contype = 'f' and c.conenforced and cardinality(c.conkey) = 1 and c.conrelid in (
      'erp.fulfillment_order_fulfillment'::regclass, 'erp.fulfillment_line_item'::regclass,
      'erp.fulfillment_stock_movement'::regclass)
  loop
    execute format('alter table %s alter constraint %I not enforced', reference.relation, reference.name);
  end loop;
end
$$;

--! split: 0200-groups.sql
-- Mutations of stock that arrive together: stockSet and stockTransfer as well
drop function if exists ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz);
drop function if exists ledger.adjustment_of(text[], uuid, integer, uuid, text, text);
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
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer, service_booker;
--! EndIncluded ledger/place_of.sql
--! Included ledger/is_malformed.sql
-- In a form that becomes part of the expression that calls it
create or replace function ledger.is_malformed(l ledger.line, operation text) returns boolean
language sql stable
return case operation when 'set' then (l).quantity < 0 when 'adjust' then (l).quantity = 0
    else (l).quantity < 1
      or num_nonnulls((l).destination_warehouse_id, (l).destination_bin_location_id) <> 1 end
  or num_nonnulls((l).source_warehouse_id, (l).source_bin_location_id) <> 1
  or (l).source_warehouse_id = (l).destination_warehouse_id
  or (l).source_bin_location_id = (l).destination_bin_location_id
  -- A little earlier than now, but one that is volatile could not become part of anything
  or (l).counted_at > statement_timestamp();
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds something in a line, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line, text) to service_ledger, service_writer;

create or replace function ledger.is_malformed(lines ledger.line[], operation text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(lines) = 1 then
    return coalesce(ledger.is_malformed(lines[1], operation), false);
  end if;
  return exists (select from unnest(lines) l where ledger.is_malformed(l, operation))
    or operation = 'set' and exists (
      select from unnest(lines) l
      group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id having count(*) > 1);
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds something, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
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
  to service_ledger, service_booker;
--! EndIncluded ledger/adjustment_of.sql
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  booking ledger.booking;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    mutation.path('lines', r.line, 'quantity'),
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  booking := ledger.book(array(
    select ledger.adjustment_of(
      d.field, r.product_id, d.difference::integer, r.batch_id, r.place_type, r.place, true)
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  ), note);
  perform ledger.note_counts(readings, booking.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since. This count was kept, and changes nothing.',
    mutation.path('lines', r.line, 'counted_at'),
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- The result includes stock that was right already
  booking.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booking;
end
$$;
comment on function ledger.set_stock(ledger.line[], text) is
  'Sets stock to what was counted: books the difference against stock_correction. With counted_at, what '
  'was booked after that moment stays on top of the count; a count that is older than one that is known '
  'changes nothing, and is told by the warning COUNT_SUPERSEDED.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text)');
select api_meta.give('ledger.set_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/set_stock.sql
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
  to service_ledger, service_booker;
--! EndIncluded ledger/relocation_of.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.book(array(
    select ledger.relocation_of(mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity,
      l.batch_id, s.type, s.place, d.type, d.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id) d
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text) is
  'Moves stock from one warehouse or bin to another.';
select api_meta.plan_by_index('ledger.transfer_stock(ledger.line[], text)');
select api_meta.give('ledger.transfer_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.transfer_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/transfer_stock.sql
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
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id);
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
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
  if cardinality(lines) = 1 and operation <> 'transfer' and lines[1].batch_id is null
    and lines[1].expected_quantity is null then
    if not ledger.lock_line(lines[1]) then
      perform ledger.check_references(lines, ledger.named_places(lines, operation));
    end if;
    return;
  end if;

  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  if not ledger.lock_lines(lines) or exists (select from unnest(lines) l where l.batch_id is not null) then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if exists (select from unnest(lines) l where l.expected_quantity is not null) then
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
--! Included ledger/single.sql
drop type if exists ledger.single cascade;
create type ledger.single as (nth integer, operation text, line ledger.line, note text, cause jsonb);
comment on type ledger.single is
  'A mutation of stock with one line, of several that are made together: set, adjust or transfer, its line, '
  'its note, and the cause of its events. One without an operation is not to be made.';
--! EndIncluded ledger/single.sql
--! Included ledger/plain_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean,
  held ledger.warehouse_stock, configuration_id uuid, place_configuration_id uuid
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h, c.id, l.id
  from ledger.stock s
  left join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  left join erp.product_warehouse_configuration c
    on c.product_id = s.product_id and c.warehouse_id = h.warehouse_id
  left join erp.product_stock_location_configuration l on l.product_id = s.product_id
    and coalesce(l.warehouse_id, l.bin_location_id) = coalesce(s.warehouse_id, s.bin_location_id)
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
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
  'place, if one is given and it has a row, and the figures that follow. No row when others are missing or '
  'there is something to be seen to: batches, variants that units come to, or counts from a moment on, if '
  'one is given. The product is locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz) to service_booker;
--! EndIncluded ledger/plain_place.sql
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
  where (p.stock).quantity + change >= 0 and p.special_id is not null;
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
--! Included ledger/places_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.places_of(l ledger.line)
returns table (source_type text, source text, destination_type text, destination text)
language sql immutable
begin atomic
  select s.type, s.place, d.type, d.place
  from ledger.place_of((l).source_warehouse_id, (l).source_bin_location_id) s
  cross join ledger.place_of((l).destination_warehouse_id, (l).destination_bin_location_id) d offset 0;
end;
comment on function ledger.places_of(ledger.line) is
  'Kinds and keys of the places of a line, of which the second may be none.';
grant execute on function ledger.places_of(ledger.line) to service_booker;
--! EndIncluded ledger/places_of.sql
--! Included ledger/draft_of_single.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.draft_of_single(
  operation text, product_id uuid, quantity integer, change integer, source_type text, source text,
  destination_type text, destination text
)
returns ledger.draft
language sql immutable
return case operation when 'transfer'
  then ledger.relocation_of(
    null, product_id, quantity, null, source_type, source, destination_type, destination)
  else ledger.adjustment_of(null, product_id, change, null, source_type, source, operation = 'set') end;
comment on function ledger.draft_of_single(text, uuid, integer, integer, text, text, text, text) is
  'What a mutation of stock with one line books (set, adjust or transfer), which names a quantity and '
  'changes the stock of its first place by so much.';
grant execute on function ledger.draft_of_single(text, uuid, integer, integer, text, text, text, text)
  to service_booker;
--! EndIncluded ledger/draft_of_single.sql
--! Included ledger/plain_singles.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_singles(
  singles ledger.single[], moment timestamptz, ids uuid[]
)
returns table (
  nth integer, side integer, draft ledger.draft, counted integer, note text, cause jsonb,
  booked_at timestamptz, movement_id uuid, change integer, not_for_sale integer, stock ledger.stock,
  special_id uuid, product erp.product, held_id uuid, configuration_id uuid, place_configuration_id uuid,
  stock_change bigint, product_change bigint, not_for_sale_change bigint, own_change bigint,
  own_not_for_sale bigint
)
language sql stable
begin atomic
  select j.nth, j.side,
    ledger.draft_of_single(j.operation, (j.line).product_id, (j.line).quantity, j.change,
      w.source_type, w.source, w.destination_type, w.destination),
    case j.operation when 'set' then (j.line).quantity end, j.note, j.cause,
    -- Later ones have moved since what earlier ones count
    moment + j.nth * interval '1 microsecond',
    case when j.change <> 0 and j.side = 1 then ids[j.position] end, j.change, j.not_for_sale,
    j.stock, j.special_id, j.product, (j.held).id, j.configuration_id,
    j.place_configuration_id, j.stock_change, j.product_change, j.not_for_sale_change, j.own_change,
    j.own_not_for_sale
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
        sum(s.not_for_sale) over everywhere as not_for_sale_change,
        sum(s.change) over own as own_change,
        sum(s.not_for_sale) over own as own_not_for_sale
      from (
        select c.*, l.side, p.*, x.change, case when p.is_for_sale then 0 else x.change end as not_for_sale
        from unnest(singles) with ordinality c (nth, operation, line, note, cause, position)
        cross join lateral (
          values (1, (c.line).source_warehouse_id, (c.line).source_bin_location_id,
            case c.operation when 'adjust' then 1 when 'transfer' then - 1 end * (c.line).quantity),
          (2, (c.line).destination_warehouse_id, (c.line).destination_bin_location_id, (c.line).quantity)
        ) l (side, warehouse_id, bin_location_id, units)
        left join lateral ledger.plain_place(
          (c.line).product_id, coalesce(l.warehouse_id, l.bin_location_id)::text,
          case when c.operation <> 'transfer' then 'stock_correction' end, l.units > 0, moment) p on true
        cross join lateral (
          select case c.operation when 'set' then (c.line).quantity - (p.stock).quantity else l.units end
        ) x (change)
        where l.side = 1 or c.operation = 'transfer'
      ) s
      window there as (partition by (s.stock).id order by s.nth),
        everywhere as (partition by (s.line).product_id order by s.nth),
        own as (partition by (s.line).product_id, s.nth)
    ) r
  ) j cross join lateral ledger.places_of(j.line) w
  where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz, uuid[]) is
  'Of mutations of stock with one line each, those that ledger.plain_place finds plain, that leave enough, '
  'and that no earlier one of the same product stands in the way of. One row for each place of theirs: what '
  'changes there, there and of the product together with the earlier ones, and of the product by both places '
  'of the mutation. Ids of movements are given in order. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz, uuid[]) to service_booker;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/events_of_single.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.events_of_single(
  movement ledger.stock_movement, side integer, stock ledger.stock, product erp.product, change integer,
  stock_change bigint, own_change bigint, own_not_for_sale bigint, product_change bigint,
  not_for_sale_change bigint, today timestamptz
)
returns table (
  "position" integer, topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]
)
language sql stable
begin atomic
  select 1, e.* from events.stock_movement_insert_events(movement) e
  where side = 1 and (movement).id is not null
  union all
  select 1 + side, e.* from (
    select jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change - change)),
      jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change, 'updated_at', today))
    offset 0
  ) r (o, n) cross join lateral events.stock_update_events(r.o, r.n) e
  union all
  select 4, e.* from (
    select ledger.product_after(product, product_change - own_change, not_for_sale_change - own_not_for_sale),
      ledger.product_after(product, product_change, not_for_sale_change)
    offset 0
  ) r (o, n) cross join lateral events.product_update_events(r.o, r.n) e where side = 1;
end;
comment on function ledger.events_of_single(ledger.stock_movement, integer, ledger.stock, erp.product,
  integer, bigint, bigint, bigint, bigint, bigint, timestamptz) is
  'The events of a place of ledger.plain_singles, and with the first those of the movement and the product: '
  'stock and product are as they were before all of them.';
grant execute on function ledger.events_of_single(ledger.stock_movement, integer, ledger.stock, erp.product,
  integer, bigint, bigint, bigint, bigint, bigint, timestamptz) to service_booker;
--! EndIncluded ledger/events_of_single.sql
--! Included ledger/write_singles.sql
create or replace function ledger.write_singles(singles ledger.single[])
returns table (nth integer, movement_ids uuid[], stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  number constant xid8 := pg_current_xact_id(); -- Before ids (ledger.next_movement_id)
  ids constant uuid[] := array(select ledger.next_movement_id() as id from unnest(singles) order by id);
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
--! Included ledger/book_singles.sql
create or replace function ledger.book_singles(singles ledger.single[])
returns table (nth integer, movement_ids uuid[], stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_lines(array(select s.line from unnest(singles) s where s.operation is not null));
  return query select * from ledger.write_singles(singles);
end
$$;
comment on function ledger.book_singles(ledger.single[]) is
  'Takes the locks, and makes together what is plain of mutations of stock with one line each, as if one '
  'were made after the other. Answers those that it made.';
select api_meta.give('ledger.book_singles(ledger.single[])', 'service_ledger');
grant execute on function ledger.book_singles(ledger.single[]) to service_writer;
--! EndIncluded ledger/book_singles.sql
--! Included mutation/joint_call.sql
drop type if exists mutation.joint_call cascade;
create type mutation.joint_call as (
  nth integer, operation name, input_type regtype, input jsonb, line ledger.line, key text, caller uuid,
  cause jsonb, fits boolean, digest bytea, repeated jsonb
);
comment on type mutation.joint_call is
  'A call of a mutation that is to be run together with others; its line; whether it can be; what its events '
  'go back to; and, if it has a key, its digest, and what the call answered that had the key before.';
--! EndIncluded mutation/joint_call.sql
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (c.ordinality, o.operation, o.input_type, c.input, l.line, c.key,
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
        and ledger.is_malformed(l.line, substr(c.operation, 7)) is not true
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text, traceparent text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    join (values ('stock_adjust', 'place', null, 'delta'), ('stock_set', 'place', null, 'quantity'),
      ('stock_transfer', 'source', 'destination', 'quantity')) f (operation, place, destination, quantity)
      on f.operation = c.operation
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
    select row (c.nth, c.operation, c.input_type, c.input, c.line, c.key, c.caller, c.cause,
      c.fits and (c.key is null or c.nth = any (locked) and (k.key is null or k.request = d.digest
        and k.payload is not null and k.created_at >= now() - mutation.key_lifetime())),
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
      -- What doesn't fit isn't made, nor what comes after it of its product
      select row (c.nth, case when c.fits then substr(c.operation, 7) end, c.line,
        c.input ->> 'comment', c.cause)::ledger.single
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

--! split: 0300-faults.sql
-- Checks of columns that other triggers fill, and stock that is deleted while it is counted
--! Included api_meta/filling_triggers.sql
create or replace function api_meta.filling_triggers(relation regclass, columns smallint[])
returns setof pg_trigger
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select t.*
  from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_language l on l.oid = p.prolang
  -- 1: for each row, 2: before
  where t.tgrelid = relation and t.tgtype & 3 = 3 and t.tgname !~ '^uphold_' and (
    l.lanname <> 'plpgsql' or p.prosrc ~* '\mnew\s*:?=|\minto\s+(strict\s+)?new\M(?!\s*\.)' or exists (
      select from pg_attribute a where a.attrelid = relation and a.attnum = any (columns)
        and p.prosrc ~* ('\mnew\s*\.\s*"?' || a.attname || '"?\s*:?='
          || '|\minto\s+(strict\s+)?("?\w+"?(\s*\.\s*"?\w+"?)?\s*,\s*)*new\s*\.\s*"?' || a.attname || '\M'))
  );
end;
comment on function api_meta.filling_triggers(regclass, smallint[]) is
  'The triggers before a row is written that may set some of its columns, as their source reads. It names '
  'rather too many: one that compares a column, too, and any that is not PL/pgSQL.';
--! EndIncluded api_meta/filling_triggers.sql
--! Included api_meta/columns_behind.sql
create or replace function api_meta.columns_behind(relation regclass, columns smallint[])
returns smallint[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(distinct a.attnum order by a.attnum)
  from pg_attribute a
  where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and (
    a.attnum = any (columns) or exists (
      select from api_meta.filling_triggers(relation, columns) t
      -- 16: update
      where t.tgtype & 16 > 0 and (t.tgattr::text = '' or a.attnum = any (t.tgattr::smallint[])))
  );
end;
comment on function api_meta.columns_behind(regclass, smallint[]) is
  'The columns by whose update some columns change: these themselves, and those that have a trigger set '
  'one of them. Postgres asks a trigger of columns only whether the statement names one.';
--! EndIncluded api_meta/columns_behind.sql
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
    cross join lateral (select api_meta.columns_behind(r.relation, t.columns) as columns) b
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
--! Included api_meta/uphold.sql
create or replace function api_meta.upholder(relation regclass, name text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('%I.%I', n.nspname, name || '_of_' || t.relname)
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
end;
comment on function api_meta.upholder(regclass, text) is
  'The function of a trigger that upholds checks of a table which are declared as not enforced.';

create or replace function api_meta.uphold(relation regclass, name text, columns smallint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made record;
  body text;
begin
  select string_agg(format('not (%s) then %L', r.rule, r.name), E'\n      when ' order by r.name)
      filter (where r.keeps is null) as cases,
    string_agg(format('(%s)', r.rule), E'\n    and ' order by r.name)
      filter (where r.keeps is null) as rules,
    string_agg(format('  new.%I := %s; -- %L', r.keeps, r.value, r.name), E'\n' order by r.name)
      filter (where r.keeps is not null) as kept
  into made
  from api_meta.upheld_rules(relation) r
  where uphold.columns is null or r.columns && uphold.columns or r.columns && array(
    -- Those that change with them
    select a.attnum from api_meta.upheld_rules(relation) k
    join pg_attribute a on a.attrelid = relation and a.attname = k.keeps where k.columns && uphold.columns);
  select concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', made.kept,
    case when made.rules is not null then
      format(E'  if not (%s) then\n    broken := case\n      when %s end;', made.rules, made.cases)
      || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
        '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
        ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
    '  return new;', 'end', '') into body
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
  if exists (
    select from pg_proc p
    where p.oid = to_regprocedure(api_meta.upholder(relation, name) || '()') and p.prosrc = body
  ) then
    return;
  end if;
  execute format(E'create or replace function %s() returns trigger\n'
    'language plpgsql set search_path = pg_catalog, pg_temp as %L', api_meta.upholder(relation, name), body);
  execute format('comment on function %s() is %L', api_meta.upholder(relation, name),
    'Trigger, made by api_meta.derive_rules: upholds checks of ' || relation
    || ' that are declared as not enforced.');
end
$$;
comment on function api_meta.uphold(regclass, text, smallint[]) is
  'Makes the function of a trigger that upholds the checks of a table which are declared as not enforced, '
  'of some columns or all, if it is not as it should be.';
--! EndIncluded api_meta/uphold.sql
--! Included ledger/await_bookings.sql
create or replace function ledger.await_bookings() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.product p where p.id in (select g.product_id from gone g) order by p.id for share;
  return null;
end
$$;
comment on function ledger.await_bookings() is
  'Trigger after stock was deleted by itself, not with its product or place: waits for bookings of the '
  'product. A count that finds the stock right writes nothing to it, so a deletion would not wait for it, '
  'nor see that it has to delete the count as well (api_meta.follow_deletion).';
select api_meta.give('ledger.await_bookings()', 'service_ledger');
--! EndIncluded ledger/await_bookings.sql
-- By its name it comes before what follows a deletion
create or replace trigger await_bookings after delete on ledger.stock
referencing old table as gone for each statement when (pg_trigger_depth() = 0)
execute function ledger.await_bookings();

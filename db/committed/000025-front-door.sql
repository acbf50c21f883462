--! Previous: sha1:dc255ed797c810e91e25dd92096ebcf3ed40c9b1
--! Hash: sha1:80c87276362f859b9510ae1eef724aab483149ed
--! Message: front door

--! split: 10-orders.sql
-- Bookings of orders and receipts

-- The locks of all products at once
--! Included ledger/change_reserved_stock.sql
create or replace function ledger.change_reserved_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (null, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0
  );
  if changes = '{}' then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c));
  update erp.product p set reserved_stock = p.reserved_stock + c.quantity,
    updated_at = date_trunc('second', now())
  from unnest(changes) c where p.id = c.item_id;
end
$$;
comment on function ledger.change_reserved_stock(ledger.change[]) is
  'Adds to the reserved stock of the items, which are products.';
grant execute on function ledger.change_reserved_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_reserved_stock.sql
--! Included ledger/change_promised_stock.sql
create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (c.owner_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.owner_id, c.item_id having sum(c.quantity) <> 0
  );
  if changes = '{}' then
    return;
  end if;
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c), array(select c.owner_id from unnest(changes) c)
  );
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity,
    updated_at = date_trunc('second', now())
  from unnest(changes) c
  -- During the deletion of a warehouse or a product its figures may exist a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';
grant execute on function ledger.change_promised_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_promised_stock.sql
--! Included ledger/keep_order_figures.sql
create or replace function ledger.keep_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
    if old.state in ('open', 'in_progress') then
      perform ledger.change_reserved_stock(array(
        select row (old.id, l.product_id, sum(l.shipped_quantity - l.quantity))::ledger.change
        from erp.sales_order_line_item l
        where l.order_id = old.id and l.product_id is not null
        group by l.product_id));
    end if;
    return old;
  end if;
  changes := array(
    select row (null, l.product_id, sum(t.direction * (l.quantity - l.shipped_quantity)))::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.id, 1 as direction from new_rows n where n.state in ('open', 'in_progress')
        union all select o.id, -1 from old_rows o where o.state in ('open', 'in_progress')
      ) s group by s.id having sum(s.direction) <> 0
    ) t join erp.sales_order_line_item l
      on l.order_id = t.id where l.product_id is not null and l.quantity <> l.shipped_quantity
    group by l.product_id);
  perform ledger.change_reserved_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders were changed: an order that begins or ends '
  'being open changes the reserved stock of its products.';
select api_meta.plan_by_index('ledger.keep_order_figures()');
select api_meta.give('ledger.keep_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_figures.sql
--! Included ledger/keep_fulfillment_order_figures.sql
create or replace function ledger.keep_fulfillment_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
  moved ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its warehouse is no longer known
    perform ledger.change_promised_stock(ledger.promises_of(array(
      select row (old.id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = old.id and l.product_id is not null
      group by l.product_id)));
    return old;
  end if;
  -- By location: fulfillment orders that begin or cease to have open units there
  moved := array(
    select row (t.location_id, t.id, sum(t.direction))::ledger.change
    from (
      select n.id, n.source_warehouse_location_id as location_id, 1 as direction
      from new_rows n
      where n.state in ('Open', 'InProgress', 'OnHold')
      union all
      select o.id, o.source_warehouse_location_id, -1
      from old_rows o
      where o.state in ('Open', 'InProgress', 'OnHold')
    ) t where t.location_id is not null group by t.location_id, t.id having sum(t.direction) <> 0);
  if cardinality(moved) = 0 then
    return null;
  end if;
  perform
  from erp.location l
  where l.id in (select m.owner_id from unnest(moved) m)
  order by l.id for key share;
  changes := array(
    select row (
      w.warehouse_id, l.product_id, sum(m.quantity * (l.quantity - l.fulfilled_quantity))
    )::ledger.change
    from unnest(moved) m
    join erp.location w on w.id = m.owner_id
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = m.item_id
    where w.warehouse_id is not null and l.product_id is not null and l.quantity <> l.fulfilled_quantity
    group by w.warehouse_id, l.product_id);
  perform ledger.change_promised_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after some were changed: one that begins or ends '
  'being open, or moves to another location, changes the reserved quantities of the warehouses.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_figures()');
select api_meta.give('ledger.keep_fulfillment_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_figures.sql
--! Included erp/awaits_goods.sql
-- In a form that becomes part of the statement that calls it
create or replace function erp.awaits_goods(state text) returns boolean
language sql immutable
return state in ('open', 'sent', 'confirmed', 'partially_delivered');
comment on function erp.awaits_goods(text) is
  'Whether what is open of a supplier order in this state is still to come.';
grant execute on function erp.awaits_goods(text) to service_ledger, service_writer;
--! EndIncluded erp/awaits_goods.sql
--! Included ledger/keep_purchase_figures.sql
create or replace function ledger.keep_purchase_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  products uuid[];
begin
  if tg_table_name = 'supplier_order' then
    products := array(select distinct l.product_id from changed n join gone g on g.id = n.id
      join erp.supplier_order_line_item l on l.supplier_order_id = n.id
      where l.product_id is not null
        and (n.order_date_time is distinct from g.order_date_time
          or erp.awaits_goods(n.state) <> erp.awaits_goods(g.state) and l.open_quantity > 0));
  elsif tg_op = 'INSERT' then
    products := array(select distinct l.product_id from changed l where l.product_id is not null);
  elsif tg_op = 'DELETE' then
    products := array(select distinct l.product_id from gone l where l.product_id is not null);
  else
    products := array(select l.product_id from gone l where l.product_id is not null
      union select l.product_id from changed l where l.product_id is not null);
  end if;
  if products = '{}' then
    return null;
  end if;
  perform ledger.lock(products);
  update erp.product p
  set open_supplier_order_quantity = f.quantity, last_supplier_order_at = f.last_at,
    updated_at = date_trunc('second', now())
  from unnest(products) x (id) cross join lateral (
    select coalesce(
      sum(l.open_quantity) filter (where erp.awaits_goods(o.state)), 0
    ) as quantity,
      max(o.order_date_time) as last_at
    from erp.supplier_order_line_item l
    join erp.supplier_order o on o.id = l.supplier_order_id
    where l.product_id = x.id
  ) f
  where p.id = x.id
    and (
      p.open_supplier_order_quantity, p.last_supplier_order_at
    ) is distinct from (f.quantity::integer, f.last_at);
  return null;
end
$$;
comment on function ledger.keep_purchase_figures() is
  'Trigger after supplier orders or their lines changed: brings the open quantity and the time of the '
  'last supplier order of their products up to date.';
select api_meta.give('ledger.keep_purchase_figures()', 'service_ledger');
--! EndIncluded ledger/keep_purchase_figures.sql
--! Included ledger/lock_promises.sql
create or replace function ledger.lock_promises(order_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(
    array(
      select l.product_id from erp.sales_order_line_item l
      where l.order_id = lock_promises.order_id and l.quantity > l.shipped_quantity
        and l.product_id is not null
      union
      select l.product_id from erp.fulfillment_order f
      join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.destination_order_id = lock_promises.order_id and l.quantity > l.fulfilled_quantity
        and l.product_id is not null
    ),
    array(
      select l.warehouse_id from erp.fulfillment_order f
      join erp.location l on l.id = f.source_warehouse_location_id
      where f.destination_order_id = lock_promises.order_id and l.warehouse_id is not null
    )
  );
end
$$;
comment on function ledger.lock_promises(uuid) is
  'Takes the locks of ledger.lock for all that an order has reserved, and that is promised for it, after the '
  'locks of the order, its fulfillment orders and their locations.';
select api_meta.plan_by_index('ledger.lock_promises(uuid)');
select api_meta.give('ledger.lock_promises(uuid)', 'service_ledger');
grant execute on function ledger.lock_promises(uuid) to service_writer;
--! EndIncluded ledger/lock_promises.sql
--! Included ledger/lock_way_back.sql
create or replace function ledger.lock_way_back(fulfillment_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(
    array(
      select unnest(array[l.product_id, a.product_id, s.product_id])
      from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.id = l.fulfillment_order_line_item_id
      left join erp.sales_order_line_item s on s.id = a.destination_order_line_item_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
      -- What else is open of its orders and fulfillment orders is reserved and promised again
      union
      select s.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      join erp.sales_order_line_item s on s.order_id = f.destination_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and s.quantity > s.shipped_quantity
      union
      select a.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.fulfillment_order_id = l.fulfillment_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and a.quantity > a.fulfilled_quantity
    ),
    array(
      select unnest(array[w.warehouse_id, m.source_warehouse_id, b.warehouse_id])
      from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      left join erp.location w on w.id = f.source_warehouse_location_id
      left join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      left join ledger.stock_movement m on m.id = k.stock_movement_id
      left join erp.bin_location b on b.id = m.source_bin_location_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
    ),
    array(
      select m.source_bin_location_id
      from erp.fulfillment_line_item l
      join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and m.source_bin_location_id is not null
    )
  );
end
$$;
comment on function ledger.lock_way_back(uuid) is
  'Takes the locks of ledger.lock for what a fulfillment took away, and for where it came from.';
grant execute on function ledger.lock_way_back(uuid) to service_ledger;
--! EndIncluded ledger/lock_way_back.sql
drop function if exists erp.lock_to_ship(ledger.pick[], erp.assignment[]);
--! Included erp/lock_to_ship.sql
create or replace function erp.lock_to_ship(
  picks ledger.pick[], assignments erp.assignment[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_shipment(
    array(
      select p.product_id from unnest(picks) p where p.product_id is not null
      union
      select s.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
      where s.product_id is not null
      union
      -- What nobody wants any more is no longer promised when the fulfillment order is closed
      select n.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.fulfillment_order_line_item n on n.fulfillment_order_id = l.fulfillment_order_id
      where n.destination_order_line_item_id is null and n.quantity > n.fulfilled_quantity
        and n.product_id is not null
      union
      select a.product_id from unnest(assignments) a where a.product_id is not null
    ),
    array(
      select p.warehouse_id from unnest(picks) p
      union
      select l.warehouse_id from unnest(assignments) a join erp.location l on l.id = a.location_id
    ),
    bin_location_ids
  );
end
$$;
comment on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) is
  'Takes the locks of ledger.lock_shipment for what fulfillment orders have open and what is to be assigned, '
  'and for bins that are named: all that shipping changes.';
grant execute on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) to service_writer;
--! EndIncluded erp/lock_to_ship.sql
--! Included erp/create_fulfillment_order.sql
create or replace function erp.create_fulfillment_order(
  order_id uuid, warehouse_id uuid, lines erp.shipping_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  assignments erp.assignment[];
begin
  perform erp.require_shipping_lines(lines, '{}', 'order_line_item_id');
  present := erp.lock_order_to_ship(order_id);
  if lines is null then
    assignments := erp.plan_uncovered(present.id, warehouse_id);
    if cardinality(assignments) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION',
        'Nothing of the order is open that no fulfillment order has.', '{order_id}',
        jsonb_build_object(
          'state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)
        ));
    end if;
  else
    perform erp.require_assignable_lines(present.id, lines);
    assignments := array(
      select row (w.location_id, s.id, s.product_id, l.quantity)::erp.assignment
      from (select erp.location_of_warehouse(warehouse_id, '{warehouse_id}') as location_id) w
      cross join unnest(lines) with ordinality l
      join erp.sales_order_line_item s on s.id = l.id
      order by l.ordinality);
  end if;
  perform erp.lock_to_ship('{}', assignments);
  return (erp.assign(present.id, assignments))[1];
end
$$;
comment on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) is
  'Has a warehouse ship units of lines of an order that no fulfillment order has, or all of them when '
  'lines is null. Answers the fulfillment order. User errors NOT_FOUND, INVALID, '
  'INVALID_STATE_TRANSITION, OVER_FULFILLMENT, REQUIRED, OUT_OF_RANGE, NOT_UNIQUE, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[])');
grant execute on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/create_fulfillment_order.sql
--! Included erp/cancel_order.sql
create or replace function erp.cancel_order(order_id uuid) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted text;
  cancelled uuid[];
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = cancel_order.order_id));
  select * into present from erp.sales_order o where o.id = cancel_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Something of the order is shipped. Cancel its fulfillments first.', '{id}');
  end if;
  perform from erp.location l where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = present.id
  ) order by l.id for key share;
  perform ledger.lock_promises(present.id);
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null
    where f.destination_order_id = present.id and f.type <> 'ExternalToOrder'
      and f.state in ('Open', 'InProgress', 'OnHold')
    returning f.id
  )
  select coalesce(array_agg(g.id order by g.id), '{}') into cancelled from gone g;
  update erp.sales_order o
  set state = wanted, delivery_state = erp.next_state('order_delivery', 'cancel', o.delivery_state)
  where o.id = present.id and o.delivery_state is not null;
  update erp.sales_order o set state = wanted where o.id = present.id and o.state <> wanted;
  return row (present.id, '{}', cancelled, '{}', '{}')::erp.shipment;
end
$$;
comment on function erp.cancel_order(uuid) is
  'Cancels an order of which nothing is shipped, and its open fulfillment orders, so that nothing is '
  'reserved '
  'for it any more. What is fulfilled externally is left alone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql

-- A shipment and a receipt write each row once: their figures are booked along with their movements.
grant update (reserved_stock, open_supplier_order_quantity) on erp.product to service_booker;
grant update (updated_at) on erp.product to service_ledger;
grant update (reserved_quantity) on ledger.warehouse_stock to service_booker;
grant update (updated_at) on ledger.warehouse_stock to service_ledger;
grant update (is_partially_fulfilled) on erp.fulfillment_order to service_writer;
select api_meta.allow('service_booker', 'erp.fulfillment_order_fulfillment', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_stock_movement', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_line_item', 'select', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_order_line_item',
  'select', 'insert', 'update (fulfilled_quantity)');
select api_meta.allow('service_booker', 'erp.sales_order_line_item', 'select', 'update (shipped_quantity)');
create or replace trigger keep_figures_after_insert after insert on erp.fulfillment_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_line_figures();
create or replace trigger keep_figures_after_insert after insert on erp.fulfillment_order_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_line_figures();
create or replace trigger keep_figures_after_update after update on erp.fulfillment_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_fulfillment_order_line_figures();
create or replace trigger keep_figures_after_update after update on erp.sales_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_order_line_figures();

select api_meta.allow('service_booker', 'erp.supplier_order_line_item',
  'select', 'update (received_quantity, actual_delivery_date)');
create or replace trigger keep_figures_on_update after update on erp.supplier_order_line_item
  referencing old table as gone new table as changed for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_purchase_figures();

--! Included ledger/figure_change.sql
drop type if exists ledger.figure_change cascade;
create type ledger.figure_change as (
  product_id uuid, warehouse_id uuid, promised integer, reserved integer, awaited integer
);
comment on type ledger.figure_change is
  'By how much figures of a product change along with a booking: what fulfillment orders promise of it, '
  'which is that of a warehouse, what orders reserve, and what supplier orders await, without a warehouse.';
--! EndIncluded ledger/figure_change.sql
drop function if exists ledger.write_figures(ledger.place_change[], boolean, boolean, boolean);
drop function if exists ledger.write_new_stock(ledger.place_change[]);
--! Included ledger/write_new_stock.sql
create or replace function ledger.write_new_stock(
  changes ledger.place_change[], opens_warehouses boolean
)
returns void
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
  if opens_warehouses then
    insert into ledger.warehouse_stock (product_id, warehouse_id)
    select c.product_id, c.warehouse_id from unnest(changes) c where c.warehouse_id is not null
    group by c.product_id, c.warehouse_id order by min(c.position)
    on conflict (product_id, warehouse_id) do nothing;
  end if;
end
$$;
comment on function ledger.write_new_stock(ledger.place_change[], boolean) is
  'Makes the rows of stock that are not there yet, and tells of them, and those of the stock of '
  'warehouses. Only for ledger.write_figures.';
grant execute on function ledger.write_new_stock(ledger.place_change[], boolean) to service_booker;
--! EndIncluded ledger/write_new_stock.sql
--! Included ledger/write_figures.sql
create or replace function ledger.write_figures(
  changes ledger.place_change[], others ledger.figure_change[], opens boolean, opens_warehouses boolean,
  is_configured boolean
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  lacks boolean;
begin
  if opens or opens_warehouses then
    perform ledger.write_new_stock(changes, opens_warehouses);
  end if;
  with in_place as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from unnest(changes) c where s.id = c.stock_id and c.change <> 0 and not c.is_new
    returning with (old as o, new as n) o, n, c.position
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from in_place p cross join lateral events.stock_update_events(p.o, p.n) e order by p.position;
  with part as materialized (
    select x.product_id, x.warehouse_id, sum(x.change)::integer as change,
      sum(x.promised)::integer as promised, sum(x.reserved)::integer as reserved,
      sum(x.awaited)::integer as awaited, min(x.position) as position
    from (
      select c.product_id, c.warehouse_id, c.change, 0, 0, 0, c.position
      from unnest(changes) c where c.warehouse_id is not null
      union all
      select o.product_id, o.warehouse_id, 0, o.promised, o.reserved, o.awaited, null from unnest(others) o
    ) x (product_id, warehouse_id, change, promised, reserved, awaited, position)
    group by x.product_id, x.warehouse_id
  ),
  in_warehouse as (
    update ledger.warehouse_stock s
    set quantity = s.quantity + h.change, reserved_quantity = s.reserved_quantity + h.promised,
      updated_at = today
    from part h
    where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id and (h.change, h.promised) <> (0, 0)
    returning s.available_quantity
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
    or exists (select from in_warehouse w where w.available_quantity < 0)
  into lacks;
  if is_configured then
    perform ledger.write_configured_figures(changes);
  end if;
  return lacks;
end
$$;
comment on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean) is
  'Brings the figures up to date with what ledger.examine found, and with what else changes, and tells of '
  'it: stock, warehouse stock, products, and their configurations, each row once. Answers whether '
  'available stock that it changed is below 0 now.';
select api_meta.plan_by_index(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)');
select api_meta.give(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)',
  'service_booker');
grant execute on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)
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
    perform ledger.write_figures(
      seen.changes, '{}', seen.opens, seen.opens_warehouses, seen.is_configured);
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
drop function if exists ledger.book(ledger.draft[], text);
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
    select * into booked from ledger.book_correction(drafts[1], note);
    if booked.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if booked.movement_id is not null then
      return row (array[booked.movement_id], array[booked.stock_id])::ledger.booking;
    end if;
  end if;
  legs := ledger.legs_of(drafts, moment);
  select * into seen from ledger.examine(legs);
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
drop function if exists ledger.post(ledger.draft[], text);
--! Included ledger/post.sql
create or replace function ledger.post(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(drafts);
  return ledger.book(drafts, note, others);
end
$$;
comment on function ledger.post(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements: takes the locks, then does what ledger.book does. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text, ledger.figure_change[])');
select api_meta.give('ledger.post(ledger.draft[], text, ledger.figure_change[])', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text, ledger.figure_change[]) to service_writer;
--! EndIncluded ledger/post.sql
--! Included ledger/promises_kept.sql
create or replace function ledger.promises_kept(picks ledger.pick[], assigned uuid[])
returns ledger.figure_change[]
language sql stable
begin atomic
  with line as materialized (
    select l.*, p.quantity as units from unnest(picks) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id
  )
  select array(
    select row (l.product_id, w.warehouse_id, - l.units, 0, 0)::ledger.figure_change
    from line l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    join erp.location w on w.id = f.source_warehouse_location_id
    where l.product_id is not null and w.warehouse_id is not null
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
--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Usually there are enough
  if (select sum(w.quantity) from unnest(picks) w where w.place is null and w.product_id is not null)
    is not distinct from (select sum(f.quantity) from unnest(found_units) f) then
    return;
  end if;
  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format(
      'Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested
    ),
    picks[t.line].field,
    jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number
    )) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce(
          (select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0
        ) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. User error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
drop function if exists ledger.ship(uuid, ledger.pick[], text);
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], note text, out stock_movements uuid[],
  out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_units ledger.pick[];
begin
  found_units := ledger.pick_units(picks);
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.book(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      'api_shipping'
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note, ledger.promises_kept(picks, assigned))).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text) is
  'Books units out to an order, and ends what was promised of them; fulfillment orders that were assigned '
  'for the purpose have promised nothing. What names no place is picked: the bins of the warehouse by '
  'their position, then by code, and at last what lies in no bin; of products that are kept in batches the '
  'oldest batch first. Answers the movements, and for each the line that it is for. ledger.lock_shipment '
  'comes first. User error INSUFFICIENT_STOCK, and those of ledger.book.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], uuid[], text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], uuid[], text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], uuid[], text) to service_writer;
--! EndIncluded ledger/ship.sql
--! Included ledger/write_shipment.sql
create or replace function ledger.write_shipment(
  fulfillment_id uuid, picks ledger.pick[], stock_movements uuid[], lines uuid[]
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with line as materialized (
    select l.fulfillment_order_id, l.id, l.destination_order_line_item_id as item_id, l.product_id,
      p.quantity, p.position
    from (
      select p.line_id, min(p.ordinality) as position, sum(p.quantity)::integer as quantity
      from unnest(picks) with ordinality p group by p.line_id
    ) p join erp.fulfillment_order_line_item l on l.id = p.line_id
  ),
  paired as (
    insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id)
    select distinct line.fulfillment_order_id, write_shipment.fulfillment_id from line order by 1
  ),
  shipped as (
    insert into erp.fulfillment_line_item (
      fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, product_id, quantity
    )
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
  )
  update erp.sales_order_line_item s set shipped_quantity = s.shipped_quantity + i.quantity
  from (
    select line.item_id, sum(line.quantity)::integer as quantity from line group by line.item_id
  ) i where s.id = i.item_id;
end
$$;
comment on function ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[]) is
  'Records what a fulfillment ships, by which movements, each for its line of a fulfillment order, and what '
  'is fulfilled and shipped thereby. Only for erp.ship: ledger.ship has booked it, and kept the figures that '
  'follow.';
select api_meta.plan_by_index('ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[])');
select api_meta.give('ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[])', 'service_booker');
grant execute on function ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/write_shipment.sql
--! Included ledger/write_assigned.sql
create or replace function ledger.write_assigned(
  fulfillment_order_id uuid, assignments erp.assignment[]
)
returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  insert into erp.fulfillment_order_line_item (
    fulfillment_order_id, destination_order_line_item_id, product_id, quantity
  )
  select write_assigned.fulfillment_order_id, a.order_line_item_id, a.product_id, a.quantity
  from unnest(assignments) with ordinality a order by a.ordinality;
end;
comment on function ledger.write_assigned(uuid, erp.assignment[]) is
  'Adds lines to a fulfillment order that promise nothing, because the same transaction ships them. Only for '
  'erp.assign.';
select api_meta.give('ledger.write_assigned(uuid, erp.assignment[])', 'service_booker');
grant execute on function ledger.write_assigned(uuid, erp.assignment[]) to service_writer;
--! EndIncluded ledger/write_assigned.sql
drop function if exists erp.assign(uuid, erp.assignment[]);
--! Included erp/assign.sql
create or replace function erp.assign(
  order_id uuid, assignments erp.assignment[], are_shipped boolean default false
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  source_id uuid;
  own erp.assignment[];
  made uuid;
  all_made uuid[] := '{}';
begin
  for source_id in
    select a.location_id
    from unnest(assignments) with ordinality a
    group by a.location_id
    order by min(a.ordinality)
  loop
    insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id,
      shipping_method_id,
      shipping_method_name, shipping_address)
    select erp.next_number('fulfillment_order'), o.id, source_id, m.id, m.name ->> 'en-GB', o.shipping_address
    from erp.sales_order o
    left join erp.shipping_method m on m.id = o.shipping_method_id
    where o.id = assign.order_id
    returning id into strict made;
    own := array(
      select row (a.location_id, a.order_line_item_id, a.product_id, a.quantity)::erp.assignment
      from unnest(assignments) with ordinality a where a.location_id = source_id order by a.ordinality
    );
    if are_shipped then
      perform ledger.write_assigned(made, own);
    else
      insert into erp.fulfillment_order_line_item (
        fulfillment_order_id, destination_order_line_item_id, product_id, quantity
      )
      select made, a.order_line_item_id, a.product_id, a.quantity
      from unnest(own) with ordinality a order by a.ordinality;
    end if;
    all_made := all_made || made;
  end loop;
  return all_made;
end
$$;
comment on function erp.assign(uuid, erp.assignment[], boolean) is
  'Makes a fulfillment order for each location that is to ship units of an order, or ships them at once, '
  'so that nothing is promised. Answers their ids. The caller holds the locks of the order, and those of '
  'ledger.lock: the number range comes last.';
grant execute on function erp.assign(uuid, erp.assignment[], boolean) to service_writer;
--! EndIncluded erp/assign.sql
drop function if exists erp.settle_order(uuid);
--! Included erp/settle_order.sql
create or replace function erp.settle_order(order_id uuid, tracking_codes text[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_all_shipped boolean;
begin
  select * into strict present from erp.sales_order o where o.id = order_id;
  wanted := present;
  is_all_shipped := not exists (
      select from erp.sales_order_line_item l
      where l.order_id = present.id and l.type = 'product' and l.shipped_quantity < l.quantity)
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold')
        and erp.has_open_lines(f.id));
  -- An order without a delivery state gets one when something is shipped
  wanted.delivery_state := erp.next_state('order_delivery',
    case when is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  if wanted.state <> 'in_progress' then
    wanted.state := erp.next_state('order', 'process', wanted.state);
  end if;
  if is_all_shipped then
    wanted.state := erp.next_state('order', 'complete', wanted.state);
  end if;
  if cardinality(tracking_codes) > 0 then
    update erp.sales_order o
    set state = wanted.state, delivery_state = wanted.delivery_state,
      entered_tracking_codes = o.entered_tracking_codes || settle_order.tracking_codes
    where o.id = present.id;
  else
    update erp.sales_order o
    set state = wanted.state, delivery_state = wanted.delivery_state
    where o.id = present.id;
  end if;
end
$$;
comment on function erp.settle_order(uuid, text[]) is
  'Brings the states of an order up to date after something of it was shipped, and adds codes to follow it '
  'by: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid, text[]) to service_writer;
--! EndIncluded erp/settle_order.sql
drop function if exists erp.ship(uuid, ledger.pick[], text[], text);
--! Included erp/ship.sql
create or replace function erp.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], tracking_codes text[], note text
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made uuid;
  fulfillment_orders uuid[];
begin
  select * into booked from ledger.ship(order_id, picks, assigned, note);
  fulfillment_orders := array(
    select distinct l.fulfillment_order_id
    from unnest(picks) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id
    order by 1);
  -- The last lock, because it blocks all other shipping
  insert into erp.fulfillment (number) values (erp.next_number('fulfillment')) returning id into made;
  perform ledger.write_shipment(made, picks, booked.stock_movements, booked.lines);
  update erp.fulfillment_order f
  set state = case
      when not w.is_open then erp.next_state('fulfillment_order', 'close', f.state)
      when f.state = 'Open' then erp.next_state('fulfillment_order', 'start', f.state)
      else f.state end,
    is_partially_fulfilled = w.is_partial
  from (
    select l.fulfillment_order_id as id, sum(l.fulfilled_quantity) < sum(l.quantity) as is_partial,
      bool_or(l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null) as is_open
    from erp.fulfillment_order_line_item l where l.fulfillment_order_id = any (fulfillment_orders)
    group by l.fulfillment_order_id
  ) w
  where f.id = w.id
    and (f.state = 'Open' or not w.is_open or f.is_partially_fulfilled <> w.is_partial);
  perform erp.settle_order(order_id, tracking_codes);
  return row (order_id, array[made], fulfillment_orders, booked.stock_movements, '{}')::erp.shipment;
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
  present erp.sales_order;
  picks ledger.pick[];
  assignments erp.assignment[];
  assigned uuid[] := '{}';
begin
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
  present := erp.lock_order_to_ship(order_id);
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = present.id and f.type = 'WarehouseLocationToOrder' and f.state = 'OnHold'
  ) then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l
  where l.id in (
    select f.source_warehouse_location_id
    from erp.fulfillment_order f
    where f.destination_order_id = present.id
  )
  order by l.id for key share;
  picks := erp.open_picks(present.id);
  assignments := erp.plan_uncovered(present.id, warehouse_id);
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.refuse_nothing_to_ship(present);
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  if cardinality(assignments) > 0 then
    assigned := erp.assign(present.id, assignments, true);
    picks := erp.open_picks(present.id);
  end if;
  return erp.ship(present.id, picks, assigned, tracking_codes, note);
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
--! Included erp/create_fulfillment.sql
create or replace function erp.create_fulfillment(fulfillment_order_id uuid, lines erp.shipping_line[],
  places erp.shipping_place[],
  tracking_codes text[], note text, documents text[] default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
  source_id uuid;
  picks ledger.pick[];
begin
  perform erp.require_shipping_lines(lines, places, 'fulfillment_order_line_item_id');
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
  present := erp.lock_fulfillment_order(fulfillment_order_id, '{fulfillment_order_id}');
  perform erp.require_shippable(present);
  picks := erp.picks_of(present, lines, places);

  select l.warehouse_id
  into source_id
  from erp.location l
  where l.id = present.source_warehouse_location_id for key share;
  if source_id is null and exists (select from unnest(picks) p where p.product_id is not null) then
    perform mutation.refuse(
      'INVALID', 'The fulfillment order has no warehouse to ship from.', '{fulfillment_order_id}'
    );
  end if;
  picks := array(
    select row (
      p.field, p.line_id, p.product_id, source_id, p.quantity, p.place_type, p.place, p.batch_id
    )::ledger.pick
    from unnest(picks) with ordinality p order by p.ordinality);
  perform erp.lock_to_ship(picks, '{}',
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null));
  perform erp.require_places(lines, places, source_id);
  return erp.ship(present.destination_order_id, picks, '{}', tracking_codes, note);
end
$$;
comment on function
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]) is
  'Ships some of what a fulfillment order has open, or all when lines is null, from the places that are '
  'named or, where none is, from those that are next on the pick route. Documents are only checked '
  'here. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, '
  'EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, '
  'BATCH_REQUIRED, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index(
  'erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[])'
);
grant execute on function erp.create_fulfillment(
  uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]
)
  to service_writer;
--! EndIncluded erp/create_fulfillment.sql
--! Included erp/receipt_part.sql
drop type if exists erp.receipt_part cascade;
create type erp.receipt_part as (
  id uuid, goods_receipt_line_item_id uuid, nth bigint, named_order_id uuid, supplier_order_id uuid,
  supplier_order_line_item_id uuid, quantity integer
);
comment on type erp.receipt_part is
  'A part of a line of a goods receipt, for one line of a supplier order, or for none (erp.allotment). Its '
  'id is that of the line that it becomes: the first part keeps its line. named_order_id is the order that '
  'the line named.';
--! EndIncluded erp/receipt_part.sql
--! Included erp/delivery.sql
drop type if exists erp.delivery cascade;
create type erp.delivery as (
  supplier_order_line_item_id uuid, supplier_order_id uuid, product_id uuid, received integer,
  arrives boolean, new_state text, is_complete boolean, awaited integer
);
comment on type erp.delivery is
  'What becomes of a line of a supplier order when a goods receipt is completed: its received quantity, '
  'whether units of it arrive, the new state of its order and whether all of that has arrived, and by how '
  'much less, or more, of its product is awaited.';
--! EndIncluded erp/delivery.sql
--! Included erp/deliveries.sql
create or replace function erp.deliveries(receipt_id uuid, parts erp.receipt_part[])
returns erp.delivery[]
language sql stable
begin atomic
  with arriving as materialized (
    select p.supplier_order_line_item_id as id, sum(p.quantity) as quantity
    from unnest(parts) p where p.supplier_order_line_item_id is not null
    group by p.supplier_order_line_item_id
  ),
  item as materialized (
    select i.*, a.id is not null as arrives,
      case when a.id is null then i.received_quantity else greatest(a.quantity + coalesce((
        select sum(l.quantity) from erp.goods_receipt_line_item l
        join erp.goods_receipt g on g.id = l.goods_receipt_id
        where l.supplier_order_line_item_id = i.id and g.state = 'completed' and g.id <> receipt_id
      ), 0), 0)::integer end as received
    from erp.supplier_order_line_item i left join arriving a on a.id = i.id
    where i.supplier_order_id in (select p.supplier_order_id from unnest(parts) p)
  ),
  placed as materialized (
    select o.id, o.state, d.is_complete, erp.state_after_delivery(o.state, case
      when d.is_complete then 'delivered'
      when d.has_begun then 'partially_delivered'
      else 'confirmed' end) as new_state
    from (
      select i.supplier_order_id as id, bool_and(i.received >= i.quantity) as is_complete,
        bool_or(i.received > 0) as has_begun
      from item i group by i.supplier_order_id
    ) d join erp.supplier_order o on o.id = d.id
  )
  select array(
    select row (i.id, o.id, i.product_id, i.received, i.arrives, o.new_state, o.is_complete,
      case when erp.awaits_goods(o.new_state) then greatest(i.quantity - i.received, 0) else 0 end
        - case when erp.awaits_goods(o.state) then i.open_quantity else 0 end)::erp.delivery
    from item i join placed o on o.id = i.supplier_order_id order by o.id, i.id
  );
end;
comment on function erp.deliveries(uuid, erp.receipt_part[]) is
  'What becomes of the supplier orders whose lines a goods receipt delivers: one entry for each of their '
  'lines. The states follow from the received quantities, forth and back: confirmed, partially_delivered '
  'or delivered. Orders that are completed stay so.';
grant execute on function erp.deliveries(uuid, erp.receipt_part[]) to service_writer;
--! EndIncluded erp/deliveries.sql
--! Included ledger/write_deliveries.sql
create or replace function ledger.write_deliveries(deliveries erp.delivery[], moment timestamptz)
returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update erp.supplier_order_line_item i
  set received_quantity = d.received,
    actual_delivery_date = case when d.received >= i.quantity
      then coalesce(i.actual_delivery_date, moment) end
  from unnest(deliveries) d where d.arrives and i.id = d.supplier_order_line_item_id;
end;
comment on function ledger.write_deliveries(erp.delivery[], timestamptz) is
  'Writes down what has been received of lines of supplier orders. Only for erp.complete_goods_receipt, '
  'which has booked what is awaited less.';
select api_meta.plan_by_index('ledger.write_deliveries(erp.delivery[], timestamptz)');
select api_meta.give('ledger.write_deliveries(erp.delivery[], timestamptz)', 'service_booker');
grant execute on function ledger.write_deliveries(erp.delivery[], timestamptz) to service_writer;
--! EndIncluded ledger/write_deliveries.sql
drop function if exists erp.settle_receipt_lines(uuid);
--! Included erp/settle_receipt_lines.sql
create or replace function erp.settle_receipt_lines(receipt_id uuid, parts erp.receipt_part[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  with kept as (
    update erp.goods_receipt_line_item l
    set quantity = n.quantity, supplier_order_id = n.supplier_order_id,
      supplier_order_line_item_id = n.supplier_order_line_item_id, planned_disposal_quantity = 0
    from (
      select o.id, coalesce(p.quantity, o.quantity) as quantity,
        case when p.id is null then o.supplier_order_id else p.supplier_order_id end as supplier_order_id,
        case when p.id is null then o.supplier_order_line_item_id else p.supplier_order_line_item_id end
          as supplier_order_line_item_id
      from erp.goods_receipt_line_item o left join unnest(parts) p on p.id = o.id
      where o.goods_receipt_id = receipt_id
    ) n
    where n.id = l.id
      and (l.quantity, l.supplier_order_id, l.supplier_order_line_item_id, l.planned_disposal_quantity)
      is distinct from (n.quantity, n.supplier_order_id, n.supplier_order_line_item_id, 0)
  ),
  added as (
    insert into erp.goods_receipt_line_item (id, goods_receipt_id, product_id, batch_id, return_order_id,
      supplier_order_id,
      supplier_order_line_item_id, destination_bin_location_id, quantity, unit_price, tax_rate)
    select p.id, l.goods_receipt_id, l.product_id, l.batch_id, l.return_order_id, p.supplier_order_id,
      p.supplier_order_line_item_id, l.destination_bin_location_id, p.quantity, l.unit_price, l.tax_rate
    from unnest(parts) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    where p.nth > 1 order by p.id
  )
  select jsonb_agg(erp.excess_warning(coalesce(o.state = 'cancelled', false), p.quantity, r.product_number,
    o.number, '{id}', p.id)
    order by p.goods_receipt_line_item_id, p.nth) into warnings
  from unnest(parts) p
  join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
  left join erp.supplier_order o on o.id = p.named_order_id
  left join erp.product r on r.id = l.product_id
  where p.supplier_order_line_item_id is null;
  perform mutation.warn(warnings);
end
$$;
comment on function erp.settle_receipt_lines(uuid, erp.receipt_part[]) is
  'Splits the lines of a goods receipt so that each delivers one line of a supplier order, of which it has '
  'no more than was open; what is left over becomes a line without an order, of the same product, batch, '
  'price and bin. Nothing is to be thrown away any more; totals stay as they are. Warnings SURPLUS, '
  'ORDER_CANCELLED.';
grant execute on function erp.settle_receipt_lines(uuid, erp.receipt_part[]) to service_writer;
--! EndIncluded erp/settle_receipt_lines.sql
drop function if exists erp.deliver_supplier_orders(uuid);
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
  perform from erp.supplier_order o where o.id in (
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  ) order by o.id for no key update;
  perform erp.check_placements(present, placements);
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

--! split: 20-ledger.sql
-- What a mutation needs to know about itself is resolved when it is migrated, and its key is written once.
drop function if exists mutation.secrets_of(oid), mutation.find(name, name),
  mutation.take_key(text, bytea, bytea), mutation.keep_answer(text, jsonb);
-- waive drops-data: only functions of this schema read it, and they are replaced by the same migration
alter table mutation.operation drop column if exists payload_type;
alter table mutation.operation drop column if exists secrets;
alter table mutation.operation add column secrets text[] not null default '{}';
--! Included mutation/derive_operations.sql
create or replace function mutation.derive_operations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from mutation.operation;
  insert into mutation.operation (
    version, operation, routine, input_type, takes_changes, scopes, secrets
  )
  select n.nspname, p.proname, p.oid, p.proargtypes[0], p.pronargs > 1, s.scopes,
    array(
      select a.attname::text from pg_type t
      join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      where t.oid = p.prorettype and col_description(a.attrelid, a.attnum) ~ '(?n)^@secret$')
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  cross join lateral (
    select regexp_split_to_array(
      substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +'
    )
  ) s (scopes)
  where n.nspname ~ '^api_(unstable|\d)' and p.provolatile = 'v' and s.scopes is not null;
end
$$;
comment on function mutation.derive_operations() is
  'Writes down what mutation.run is to know of each mutation, from the functions of the API schemas and '
  'the tags of their comments. Runs after each migration.';
--! EndIncluded mutation/derive_operations.sql
--! Included mutation/find.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out takes_changes boolean, out secrets text[]
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select o.routine, o.input_type, o.takes_changes, o.secrets, o.scopes
  into routine, input_type, takes_changes, secrets, scopes
  from mutation.operation o where o.version = find.version and o.operation = find.operation;
  if scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(scopes, ' or ')
      using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function mutation.find(name, name) is
  'The function of a mutation, the type of its input, whether it takes changes, and the columns of its '
  'payload that are shown once, as mutation.derive_operations wrote them down. Fails when there is none of '
  'that name, or the caller lacks its scope.';
grant execute on function mutation.find(name, name) to service_writer;
--! EndIncluded mutation/find.sql
--! Included mutation/caller.sql
-- In a form that becomes part of the statement that calls it
create or replace function mutation.caller() returns uuid
language sql stable
return coalesce(nullif(pg_catalog.current_setting('service.credential_id', true), ''),
  '00000000-0000-0000-0000-000000000000')::uuid;
comment on function mutation.caller() is
  'The credential of the request, to which idempotency keys belong; the nil uuid when there is none.';
grant execute on function mutation.caller() to service_writer;
--! EndIncluded mutation/caller.sql
--! Included mutation/key_lock.sql
-- In a form that becomes part of the expression that calls it
create or replace function mutation.key_lock(credential_id uuid, key text) returns bigint
language sql immutable
return pg_catalog.hashtextextended(credential_id::text || ' ' || key, 17);
comment on function mutation.key_lock(uuid, text) is
  'The advisory lock of an idempotency key. Whoever has it knows whether the key is taken, without waiting '
  'for the transaction that takes it.';
grant execute on function mutation.key_lock(uuid, text) to service_writer;
--! EndIncluded mutation/key_lock.sql
--! Included mutation/warnings.sql
-- In a form that becomes part of the expression that calls it
create or replace function mutation.warnings() returns jsonb
language sql stable
return coalesce(nullif(pg_catalog.current_setting('service.warnings', true), ''), '[]')::jsonb;
comment on function mutation.warnings() is
  'The warnings of the running mutation, as mutation.warn noted them. They live as long as its transaction.';
grant execute on function mutation.warnings()
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warnings.sql
--! Included mutation/forget_keys.sql
create or replace function mutation.forget_keys() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  expired constant timestamptz := now() - mutation.key_lifetime();
begin
  -- A look at the oldest takes a fraction of what deleting none would
  if (select k.created_at from mutation.idempotency_key k order by k.created_at limit 1) >= expired then
    return;
  end if;
  -- Each call deletes a few old keys, so that none takes long.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < expired
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.forget_keys() is 'Removes a few idempotency keys that are too old.';
grant execute on function mutation.forget_keys() to service_writer;
--! EndIncluded mutation/forget_keys.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb
)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier record;
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse(
      'OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}'
    );
  end if;
  -- A concurrent call with the same key waits here until the first has committed or failed.
  perform pg_advisory_xact_lock(mutation.key_lock(mutation.caller(), idempotency_key));
  select k.request, k.payload, k.created_at into earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if not found or earlier.created_at < now() - mutation.key_lifetime() then
    return null;
  end if;
  -- The second digest is that of keys from before mutation.digest was
  if earlier.request <> digest
    and earlier.request <> sha256(convert_to(operation || ' ' || input::text, 'UTF8')) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, name, jsonb) is
  'Takes a key for the running mutation, by a lock: mutation.keep_answer writes it down. Null when it was '
  'free; otherwise what the mutation answered that had it before. A key that is taken by another request is '
  'refused: IDEMPOTENCY_KEY_MISMATCH.';
grant execute on function mutation.take_key(text, bytea, name, jsonb) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, digest bytea, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- One that is there is too old: mutation.take_key has the lock
  insert into mutation.idempotency_key (credential_id, key, request, payload)
  values (mutation.caller(), idempotency_key, digest, answer)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = excluded.payload, created_at = excluded.created_at;
  perform mutation.forget_keys();
end
$$;
comment on function mutation.keep_answer(text, bytea, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, with the digest of its input, and '
  'removes a few keys that are too old.';
grant execute on function mutation.keep_answer(text, bytea, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql
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
  select * into target from mutation.find(version, operation);
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
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause(credential_id text, request_id text, idempotency_key text)
returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId', 'gid://service/Credential/' || nullif(credential_id, ''),
  'requestId', nullif(request_id, ''),
  'idempotencyKey', nullif(idempotency_key, ''));
comment on function events.cause(text, text, text) is
  'What an event goes back to: the credential, the request and the idempotency key of a mutation.';
grant execute on function events.cause(text, text, text)
  to service_recorder, service_booker, service_writer;

create or replace function events.cause() returns jsonb
language sql stable
return events.cause(
  pg_catalog.current_setting('service.credential_id', true),
  pg_catalog.current_setting('service.request_id', true),
  pg_catalog.current_setting('service.idempotency_key', true));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs; nulls outside of one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
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
grant execute on function ledger.is_malformed(ledger.line, text) to service_ledger;

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

-- Conditions compare with a text: a name is read as 64 bytes, in each statement that writes.
--! Included events/derive_announcements.sql
create or replace function events.derive_announcements() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  -- Bookings write their events themselves
  aside text;
begin
  for item in
    select s as subject, s.relation, e.operation, e.tables, 'announce_' || e.operation as name,
      format('events.announce_%s_%s', c.relname, e.operation) as routine,
      events.announcement(s, e.operation, case e.operation
        when 'insert' then 'from new_rows n'
        when 'delete' then 'from old_rows o'
        else format('from new_rows n join old_rows o on %s '
          'cross join lateral (select %s offset 0) c (changed)',
          (
            select string_agg(format('o.%1$I = n.%1$I', k.name), ' and ' order by k.position)
            from unnest(events.key_columns(s.relation)) with ordinality k (name, position)
          ), events.changed_expression(s, false))
        end) as rows,
      case e.operation
        when 'insert' then has_table_privilege('service_booker', s.relation, 'insert')
        when 'update' then has_any_column_privilege('service_booker', s.relation, 'update')
        else false end as is_booked
    from events.subject s join pg_class c on c.oid = s.relation
    cross join (
      values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'),
        ('delete', 'old table as old_rows')
    )
      e (operation, tables)
  loop
    if item.is_booked then
      perform events.derive_booked_events(item.subject, item.operation);
    end if;
    if item.rows is null then
      execute format('drop trigger if exists %I on %s', item.name, item.relation);
      execute format('drop function if exists %s()', item.routine);
      continue;
    end if;
    -- A plan is kept for all later calls: one for a single row would be bad for a thousand
    execute format($f$create or replace function %s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp%s as $b$
      begin
        insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
        select e.*, (select events.cause()) from (%s) e (topic, subject_id, entity_id, data, changed_fields);
        return null;
      end
      $b$ $f$, item.routine,
        case item.operation when 'update' then ' set enable_nestloop = off set enable_hashjoin = on' end,
        item.rows);
    execute format('comment on function %s() is %L', item.routine,
      'Trigger, made by events.derive_announcements: writes the events of '
      || item.operation || 's of ' || item.relation || ' into the outbox.');
    perform api_meta.give(format('%s()', item.routine)::regprocedure, 'service_recorder');
    aside := case when item.is_booked then 'when (current_user <> ''service_booker''::text) ' else '' end;
    if not exists (
      select from pg_trigger t
      where t.tgrelid = item.relation and t.tgname = item.name
        and (t.tgqual is not null) = item.is_booked and (aside = '' or pg_get_triggerdef(t.oid) ~ '::text')
    ) then
      -- By its name it comes before the triggers that keep figures, and so before the events of these
      execute format('create or replace trigger %I after %s on %s referencing %s '
        'for each statement %sexecute function %s()',
        item.name, item.operation, item.relation, item.tables, aside, item.routine);
    end if;
  end loop;
end
$$;
comment on function events.derive_announcements() is
  'Makes the triggers that write events down out of what is declared, and, of tables that bookings write '
  'to, the functions by which bookings write the same events. Runs after each migration.';
--! EndIncluded events/derive_announcements.sql
create or replace trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row when (current_user <> 'service_booker'::text)
  execute function ledger.require_movement_places();
create or replace trigger keep_figures after insert on ledger.stock_movement referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text) execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_batch_figures();
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (current_user <> 'service_booker'::text and new.process_type_technical_name in ('api', 'stocktaking'))
  execute function ledger.keep_count();

-- What needs each index (db/lint/index-use.sql).
drop view if exists api_meta.index_use;
--! Included api_meta/index_use.sql
create or replace view api_meta.index_use as
with index as (
  select i.indexrelid as id, i.indrelid as table_id, i.indisunique or i.indisexclusion as is_rule,
    (i.indkey::smallint[])[0:i.indnkeyatts - 1] as columns, i.indpred is null as is_whole,
    coalesce(pg_get_expr(i.indpred, i.indrelid), '') as condition,
    i.indexprs is null as is_plain, obj_description(i.indexrelid, 'pg_class') as own
  from pg_index i
  join pg_class x on x.oid = i.indexrelid join api_meta.own_schema s on s.oid = x.relnamespace
), filter as materialized (
  select c.table_id, c.attnum,
    string_agg(distinct format('%s.%s', v.view::regclass, c.attname), ', ') as names
  from api_meta.api_view v
  cross join regexp_matches(obj_description(v.view, 'pg_class'), '(?n)^@filters[ \t]+(.*)$', 'g') f
  join api_meta.view_column_source c on c.view = v.view
  where (f[1] = '*' or c.attname::text = any (string_to_array(f[1], ',')))
  group by c.table_id, c.attnum
)
select i.id::regclass as index, i.table_id::regclass as relation, n.needs,
  (
    select string_agg(j.id::regclass::text, ', ') from index j
    where j.table_id = i.table_id and j.id <> i.id and i.is_plain and j.is_plain and not i.is_rule
      and (j.is_whole or j.condition = i.condition) and j.columns[:cardinality(i.columns)] = i.columns
      and (cardinality(j.columns) > cardinality(i.columns) or j.is_rule or j.id < i.id)
  ) as covered_by
from index i
cross join lateral (
  select array_remove(array[
    case when i.is_rule then 'rule ' || coalesce((
      select c.conname from pg_constraint c where c.conindid = i.id and c.contype <> 'f'
    ), 'of the index itself') end,
    (
      select 'relation ' || string_agg(c.conname, ', ' order by c.conname) from pg_constraint c
      where c.conrelid = i.table_id and c.contype = 'f'
        and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@unindexed'
        and c.conkey <@ i.columns[:cardinality(c.conkey)] and c.conkey @> i.columns[:cardinality(c.conkey)]
    ),
    (
      select 'filter ' || f.names from filter f where f.table_id = i.table_id and f.attnum = i.columns[1]
    ),
    i.own
  ], null)
) n (needs);
comment on view api_meta.index_use is
  'What needs each index: a rule, a relation (a foreign key, which deletions look up too), a filter of the '
  'API, or what its own comment says. covered_by names others that begin with the same columns, and have '
  'its rows.';
--! EndIncluded api_meta/index_use.sql
comment on index ledger.stock_in_warehouses_idx is
  'For picking: a product may have stock in thousands of orders, and in a dozen bins.';
comment on index ledger.stock_movement_product_id_created_at_idx is
  'For ledger.moved_since, and for a time of a product.';

--! split: 30-bulk.sql
-- Many rows at once, as background work
drop view if exists api_unstable.bulk_operations cascade;
drop type if exists api_unstable.bulk_operation_state cascade;
drop type if exists api_unstable.bulk_operation_kind cascade;
drop schema if exists bulk cascade;
create schema bulk;
comment on schema bulk is
  'Files of many rows on their way in and out, which background work reads and writes.';
grant usage on schema bulk to service_writer, service_worker;
select api_meta.expose('bulk');

create table bulk.operation (
  id uuid primary key default uuidv7(),
  credential_id uuid not null,
  scopes text[] not null,
  kind text not null,
  state text not null,
  resource text not null,
  format text not null,
  query text,
  variables jsonb,
  locale text,
  idempotency_key text,
  code text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  claim uuid,
  claimed_until timestamptz,
  attempts smallint not null default 0,
  next_chunk integer not null default 0,
  stored_bytes bigint not null default 0,
  row_count integer,
  created_count integer not null default 0,
  updated_count integer not null default 0,
  done_count integer not null default 0,
  refused_count integer not null default 0,
  error_code text,
  error_message text,
  created_at timestamptz(0) not null default now(),
  started_at timestamptz(0),
  finished_at timestamptz(0),
  expires_at timestamptz(0)
);
alter table bulk.operation enable row level security;
create unique index operation_idempotency_key_is_unique on bulk.operation (credential_id, idempotency_key)
where idempotency_key is not null;
create index on bulk.operation (created_at);
create index on bulk.operation (id) where state in ('uploading', 'queued', 'running');
comment on index bulk.operation_id_idx is 'For those that have not ended: who begins next.';
comment on table bulk.operation is
  'Bulk operations: files of rows that are taken in, and lists that are written to a file.';
comment on column bulk.operation.id is 'Id of the bulk operation.';
comment on column bulk.operation.credential_id is 'The credential that asked for it. Only that one sees it.';
comment on column bulk.operation.scopes is
  'Scopes of the token that asked for it; those count that the credential still has.';
comment on column bulk.operation.kind is 'Whether rows come in or go out.';
comment on column bulk.operation.state is 'How far it is.';
comment on column bulk.operation.resource is
  'What the rows are: products, customers, suppliers, warehouses or orders; of an export, the field of the '
  'query.';
comment on column bulk.operation.format is 'Format of the file: jsonl or csv.';
comment on column bulk.operation.query is 'Of an export: the GraphQL document whose list is written.';
comment on column bulk.operation.variables is 'Of an export: values of the variables.';
comment on column bulk.operation.locale is 'Of an export: the language of its texts.';
comment on column bulk.operation.idempotency_key is
  'Key by which the upload, or the mutation, can be repeated without a second operation.';
comment on column bulk.operation.code is 'Opens its files to whoever knows it.';
comment on column bulk.operation.claim is 'Who uploads it, or works on it; each time another.';
comment on column bulk.operation.claimed_until is 'When others may go on with it.';
comment on column bulk.operation.attempts is 'How often it was begun since it last got further.';
comment on column bulk.operation.next_chunk is
  'The chunk that comes next. What was done before it is committed.';
comment on column bulk.operation.stored_bytes is 'Bytes of its chunks.';
comment on column bulk.operation.row_count is
  'Rows of the file, known when it has arrived; of an export, rows of the list, known at its end.';
comment on column bulk.operation.created_count is 'Rows that made something new.';
comment on column bulk.operation.updated_count is 'Rows that changed something.';
comment on column bulk.operation.done_count is
  'Rows that were done: created, updated or unchanged; of an export, lines that are written.';
comment on column bulk.operation.refused_count is 'Rows that were refused. The errors say why.';
comment on column bulk.operation.error_code is 'Why it failed, for programs; null unless it did.';
comment on column bulk.operation.error_message is 'Why it failed, for people; null unless it did.';
comment on column bulk.operation.created_at is 'When it was asked for.';
comment on column bulk.operation.started_at is 'When work on it began.';
comment on column bulk.operation.finished_at is 'When it ended, in whatever way.';
comment on column bulk.operation.expires_at is 'When it is deleted with its files: 7 days after its end.';
-- Others see nothing of it, whatever their scopes
create policy operation_of_caller on bulk.operation as restrictive for select to service_api
using (credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid));

create table bulk.chunk (
  operation_id uuid not null references bulk.operation on delete cascade,
  number integer not null,
  content bytea not null,
  primary key (operation_id, number)
);
alter table bulk.chunk enable row level security;
-- The content is compressed already
alter table bulk.chunk alter column content set storage external;
comment on table bulk.chunk is
  'A part of the file of a bulk operation, compressed: rows that are yet to be taken in, or lines of '
  'a result.';

create table bulk.refusal (
  operation_id uuid not null references bulk.operation on delete cascade,
  line integer not null,
  number smallint not null,
  code text not null,
  message text not null,
  field text[],
  details jsonb,
  primary key (operation_id, line, number)
);
alter table bulk.refusal enable row level security;
comment on table bulk.refusal is 'Why a row of a bulk operation was refused, by its line in the file.';

select api_meta.allow('service_writer', 'bulk.operation', 'select', 'insert', 'update', 'delete');
select api_meta.allow('service_writer', 'bulk.chunk', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'bulk.refusal', 'select', 'insert', 'delete');

--! Included api/bulk_operation_state.sql
create type api_unstable.bulk_operation_state
  as enum ('uploading', 'queued', 'running', 'completed', 'failed', 'cancelled');
comment on type api_unstable.bulk_operation_state is $$
@value uploading The file is arriving.
@value queued It waits for its turn: one of a credential is worked on at a time.
@value running It is being worked on.
@value completed It has ended. Rows may have been refused nevertheless.
@value failed It had to stop; the error says why. What was done before stays.
@value cancelled Somebody stopped it. What was done before stays.
State of a bulk operation.$$;

create type api_unstable.bulk_operation_kind as enum ('import', 'export');
comment on type api_unstable.bulk_operation_kind is $$
@value import Rows of a file are taken in, as by the upsert of their resource.
@value export The rows of a list are written to a file.
What a bulk operation does.$$;
--! EndIncluded api/bulk_operation_state.sql
--! Included api/bulk_operations.sql
create view api_unstable.bulk_operations with (security_invoker = true) as
select id, kind, state, resource, format, row_count, done_count, created_count, updated_count, refused_count,
  case when state = 'completed' then 1
    else least(1, (done_count + refused_count)::double precision / nullif(row_count, 0))
  end::double precision as progress,
  error_code, error_message, created_at, started_at, finished_at, expires_at,
  case when kind = 'export' and state = 'completed' then
    '/api/bulk/' || id::text || '/result?code=' || code end as result_url,
  case when refused_count > 0 then '/api/bulk/' || id::text || '/errors?code=' || code end as errors_url
from bulk.operation;
comment on view api_unstable.bulk_operations is
  E'@primaryKey id\n'
  '@requiresScopes bulk_operations:read\n'
  '@columnEnum state bulk_operation_state\n'
  '@columnEnum kind bulk_operation_kind\n'
  '@filters created_at\n'
  'A file of many rows that is taken in, or a list that is written to a file, as background work. Each '
  'credential sees its own. They are kept for 7 days after their end.';
comment on column api_unstable.bulk_operations.progress is
  'The part that is done, from 0 to 1; null while that isn''t known.';
comment on column api_unstable.bulk_operations.result_url is
  'Address of the file that an export has written, relative to the address of the service. It needs no '
  'token: anyone with the address may read it.';
comment on column api_unstable.bulk_operations.errors_url is
  'Address of a file about the rows that were refused, a line of JSON each: line, code, message and field. '
  'It needs no token, as the result.';
--! EndIncluded api/bulk_operations.sql
--! Included bulk/scopes_of.sql
create or replace function bulk.scopes_of(operation_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select unnest(o.scopes) intersect select unnest(c.scopes))
  from bulk.operation o join auth.credential c on c.id = o.credential_id and c.deactivated_at is null
  where o.id = scopes_of.operation_id;
end;
comment on function bulk.scopes_of(uuid) is
  'The rights of a bulk operation now: the scopes of the token that asked for it which its credential still '
  'has. Null when the credential is gone or deactivated.';
grant execute on function bulk.scopes_of(uuid) to service_writer;
--! EndIncluded bulk/scopes_of.sql
--! Included bulk/begin_upload.sql
create or replace function bulk.begin_upload(credential_id uuid, scopes text[], resource text, format text,
  idempotency_key text, claim uuid)
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
      claim, claimed_until, row_count)
    values (credential_id, scopes, 'import', 'uploading', resource, format, idempotency_key, claim,
      now() + bulk.upload_pause(), 0)
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
      next_chunk = 0, stored_bytes = 0, row_count = 0
    where o.id = present.id;
  end if;
  return query select present.id, is_ours, is_same;
end
$$;
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid) is
  'Begins the upload of a file. With a key that was used before: begins it again if the file has not '
  'arrived, or else answers the operation that it has made. is_ours: the file is to be sent; is_same: the '
  'key was used for the same kind of file.';

create or replace function bulk.upload_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '10 minutes';
comment on function bulk.upload_pause() is
  'After what time without anything new an upload counts as cut off.';
grant execute on function bulk.upload_pause() to service_writer;
select api_meta.give('bulk.begin_upload(uuid, text[], text, text, text, uuid)', 'service_writer');
grant execute on function bulk.begin_upload(uuid, text[], text, text, text, uuid) to service_worker;
--! EndIncluded bulk/begin_upload.sql
--! Included bulk/add_chunk.sql
create or replace function bulk.add_chunk(operation_id uuid, claim uuid, rows integer, content bytea,
  max_stored_bytes bigint)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nth integer;
begin
  if (select coalesce(sum(o.stored_bytes), 0) from bulk.operation o) + length(content) > max_stored_bytes then
    return 'full';
  end if;
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, row_count = o.row_count + rows,
    stored_bytes = o.stored_bytes + length(content), claimed_until = now() + bulk.upload_pause()
  where o.id = operation_id and o.claim = add_chunk.claim and o.state = 'uploading'
  returning o.next_chunk - 1 into nth;
  if not found then
    return 'gone';
  end if;
  insert into bulk.chunk (operation_id, number, content) values (operation_id, nth, content);
  return 'added';
end
$$;
comment on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) is
  'Adds a chunk to the file that is being uploaded. Answers added; full when all bulk operations together '
  'would take more room than they may; gone when the upload was cancelled, or began anew elsewhere.';
select api_meta.give('bulk.add_chunk(uuid, uuid, integer, bytea, bigint)', 'service_writer');
grant execute on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) to service_worker;
--! EndIncluded bulk/add_chunk.sql
--! Included bulk/end_upload.sql
create or replace function bulk.end_upload(operation_id uuid, claim uuid) returns integer
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = 'queued', next_chunk = 0, claim = null, claimed_until = null
  where o.id = operation_id and o.claim = end_upload.claim and o.state = 'uploading'
  returning o.row_count;
end;
comment on function bulk.end_upload(uuid, uuid) is
  'The whole file has arrived: its rows wait for their turn. Answers how many they are, or null when the '
  'upload was cancelled, or began anew elsewhere.';
select api_meta.give('bulk.end_upload(uuid, uuid)', 'service_writer');
grant execute on function bulk.end_upload(uuid, uuid) to service_worker;

create or replace function bulk.drop_upload(operation_id uuid, claim uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  delete from bulk.operation o
  where o.id = operation_id and o.claim = drop_upload.claim and o.state = 'uploading';
end;
comment on function bulk.drop_upload(uuid, uuid) is 'Forgets an upload that was refused or cut off.';
select api_meta.give('bulk.drop_upload(uuid, uuid)', 'service_writer');
grant execute on function bulk.drop_upload(uuid, uuid) to service_worker;
--! EndIncluded bulk/end_upload.sql
--! Included bulk/take.sql
create or replace function bulk.take(claim uuid, at_once integer, lease_ms integer)
returns table (id uuid, kind text, resource text, format text, query text, variables jsonb, locale text,
  credential_id uuid, scopes text[], next_chunk integer)
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
      bulk.scopes_of(o.id), o.next_chunk;
end
$$;
comment on function bulk.take(uuid, integer, integer) is
  'Takes the bulk operation that is to be worked on next, for some milliseconds: the oldest that waits, or '
  'that somebody left. No more than so many are worked on at once, and of a credential one.';

create or replace function bulk.lifetime() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '7 days';
comment on function bulk.lifetime() is 'How long a bulk operation is kept after its end.';
grant execute on function bulk.lifetime() to service_writer;
select api_meta.give('bulk.take(uuid, integer, integer)', 'service_writer');
grant execute on function bulk.take(uuid, integer, integer) to service_worker;
--! EndIncluded bulk/take.sql
--! Included bulk/read_chunk.sql
create or replace function bulk.read_chunk(operation_id uuid, claim uuid, number integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select c.content
  from bulk.operation o join bulk.chunk c on c.operation_id = o.id
  where o.id = read_chunk.operation_id and o.claim = read_chunk.claim and c.number = read_chunk.number;
end;
comment on function bulk.read_chunk(uuid, uuid, integer) is
  'A chunk of a file, for whoever works on it; null behind the last one.';
select api_meta.give('bulk.read_chunk(uuid, uuid, integer)', 'service_writer');
grant execute on function bulk.read_chunk(uuid, uuid, integer) to service_worker;
--! EndIncluded bulk/read_chunk.sql
--! Included bulk/upsert.sql
create or replace function bulk.upsert(version name, operation name, list text, rows jsonb) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  answer constant jsonb := mutation.run(version, operation,
    jsonb_build_object(list, rows, 'partial', true), null, false);
  count constant integer := jsonb_array_length(rows);
  half constant integer := count / 2;
  results jsonb := answer #> '{payload,results}';
  late integer[];
begin
  if answer -> 'userErrors' <> '[]' then
    if count = 1 then
      return jsonb_build_array(
        jsonb_build_object('outcome', 'REFUSED', 'user_errors', answer -> 'userErrors'));
    end if;
    return bulk.upsert(version, operation, list, jsonb_path_query_array(rows, '$[0 to $last]',
        jsonb_build_object('last', half - 1)))
      || bulk.upsert(version, operation, list, jsonb_path_query_array(rows, '$[$first to last]',
        jsonb_build_object('first', half)));
  end if;
  late := array(
    select r.place - 1 from jsonb_array_elements(results) with ordinality r (result, place)
    where r.result ->> 'outcome' = 'REFUSED'
      and not r.result @? '$.user_errors[*] ? (@.code != "NOT_UNIQUE")' order by r.place);
  if cardinality(late) not between 1 and count - 1 then
    return results;
  end if;
  select jsonb_agg(coalesce(l.result, r.result) order by r.place) into results
  from jsonb_array_elements(results) with ordinality r (result, place)
  left join (
    select late[a.nth] + 1 as place, a.result
    from jsonb_array_elements(bulk.upsert(version, operation, list, (
      select jsonb_agg(rows -> l.place order by l.nth) from unnest(late) with ordinality l (place, nth)
    ))) with ordinality a (result, nth)
  ) l on l.place = r.place;
  return results;
end
$$;
comment on function bulk.upsert(name, name, text, jsonb) is
  'Runs the upsert of a version with many rows, and answers what became of each. When it is refused as a '
  'whole, halves are tried, so that only the rows are refused that are to blame. Rows of which an earlier '
  'one in the same call speaks already come after it, as they would in a call of their own.';
grant execute on function bulk.upsert(name, name, text, jsonb) to service_writer;
--! EndIncluded bulk/upsert.sql
--! Included bulk/import_chunk.sql
create or replace function bulk.import_chunk(operation_id uuid, claim uuid, number integer, version name,
  operation name, list text, rows jsonb, lines integer[], faults jsonb, lease_ms integer)
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
    set_config('service.request_id', operation_id::text, true);
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
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer) is
  'Takes in the rows of a chunk, with the rights that the credential has now, notes refusals, and marks the '
  'chunk as done, in one transaction: no row is done twice. Faults are rows that can not be read. '
  'Answers done; gone when somebody else works on it, or it was cancelled; FORBIDDEN when the plan allows no '
  'mutations; SCOPE_MISSING when the credential may not write any more.';
select api_meta.give(
  'bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer)',
  'service_writer'
);
grant execute on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer)
  to service_worker;
--! EndIncluded bulk/import_chunk.sql
--! Included bulk/finish.sql
create or replace function bulk.finish(operation_id uuid, claim uuid, error_code text, error_message text)
returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = case when finish.error_code is null then 'completed' else 'failed' end,
    error_code = finish.error_code, error_message = finish.error_message, claim = null, claimed_until = null,
    finished_at = now(), expires_at = now() + bulk.lifetime()
  where o.id = operation_id and o.claim = finish.claim and o.state = 'running'
  returning true;
end;
comment on function bulk.finish(uuid, uuid, text, text) is
  'Ends a bulk operation: it is completed, or has failed with an error. Answers whether it was still ours.';
select api_meta.give('bulk.finish(uuid, uuid, text, text)', 'service_writer');
grant execute on function bulk.finish(uuid, uuid, text, text) to service_worker;

create or replace function bulk.release(operation_id uuid, claim uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = 'queued', claim = null, claimed_until = null, attempts = greatest(0, o.attempts - 1)
  where o.id = operation_id and o.claim = release.claim and o.state = 'running';
end;
comment on function bulk.release(uuid, uuid) is
  'Leaves a bulk operation to others, at once: this process is about to stop.';
select api_meta.give('bulk.release(uuid, uuid)', 'service_writer');
grant execute on function bulk.release(uuid, uuid) to service_worker;
--! EndIncluded bulk/finish.sql
--! Included bulk/cancel.sql
create or replace function bulk.cancel(operation_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update bulk.operation o
  set state = 'cancelled', claim = null, claimed_until = null, finished_at = now(),
    expires_at = now() + bulk.lifetime()
  where o.id = operation_id and o.credential_id = mutation.caller()
    and o.state in ('uploading', 'queued', 'running');
  if found then
    return operation_id;
  elsif exists (
    select from bulk.operation o where o.id = operation_id and o.credential_id = mutation.caller()
  ) then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'It has ended already.', '{id}');
  end if;
  perform mutation.refuse_missing('bulk_operation', '{id}');
end
$$;
comment on function bulk.cancel(uuid) is
  'Stops a bulk operation of the caller. A chunk that is being taken in is undone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
grant execute on function bulk.cancel(uuid) to service_writer;
--! EndIncluded bulk/cancel.sql
--! Included bulk/open_errors.sql
create or replace function bulk.is_code(operation_id uuid, presented_hash bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
begin
  -- As in erp.open_document: the time of the comparison reveals nothing about the code
  return sha256(nonce || presented_hash) = sha256(nonce || coalesce((
    select sha256(convert_to(o.code, 'UTF8')) from bulk.operation o where o.id = operation_id
  ), nonce));
end
$$;
comment on function bulk.is_code(uuid, bytea) is
  'Whether this is the SHA-256 of the code that opens the files of a bulk operation.';
grant execute on function bulk.is_code(uuid, bytea) to service_writer;

create or replace function bulk.open_errors(operation_id uuid, presented_hash bytea, after_line integer,
  after_number integer)
returns table (line integer, number smallint, code text, message text, field text[], details jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_errors.operation_id, presented_hash) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select r.line, r.number, r.code, r.message, r.field, r.details
    from bulk.refusal r
    where r.operation_id = open_errors.operation_id and (r.line, r.number) > (after_line, after_number)
    order by r.line, r.number limit 1000;
end
$$;
comment on function bulk.open_errors(uuid, bytea, integer, integer) is
  'Why rows of a bulk operation were refused: up to 1,000 behind a place, for whoever has the code. Fails '
  'with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_errors(uuid, bytea, integer, integer)', 'service_writer');
grant execute on function bulk.open_errors(uuid, bytea, integer, integer) to service_worker;
--! EndIncluded bulk/open_errors.sql
--! Included bulk/prune.sql
create or replace function bulk.prune() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  count integer := 0;
  deleted integer;
begin
  -- Files that nobody will read any more
  delete from bulk.chunk c where c.ctid = any (array(
    select k.ctid from bulk.chunk k join bulk.operation o on o.id = k.operation_id
    where o.expires_at < now() or o.kind = 'import' and o.state in ('failed', 'cancelled')
      or o.state = 'uploading' and o.claimed_until < now()
    limit 200));
  get diagnostics deleted = row_count;
  count := count + deleted;
  delete from bulk.refusal r where r.ctid = any (array(
    select f.ctid from bulk.refusal f join bulk.operation o on o.id = f.operation_id
    where o.expires_at < now() limit 5000));
  get diagnostics deleted = row_count;
  count := count + deleted;
  update bulk.operation o set stored_bytes = 0
  where o.kind = 'import' and o.state in ('failed', 'cancelled') and o.stored_bytes > 0;
  delete from bulk.operation o
  where (o.expires_at < now() or o.state = 'uploading' and o.claimed_until < now())
    and not exists (select from bulk.chunk c where c.operation_id = o.id)
    and not exists (select from bulk.refusal r where r.operation_id = o.id);
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function bulk.prune() is
  'Deletes bulk operations that have expired, uploads that were cut off, and what failed and cancelled ones '
  'leave, a part at a time. Answers how much; 0 when nothing is left.';
select api_meta.give('bulk.prune()', 'service_writer');
grant execute on function bulk.prune() to service_worker;
--! EndIncluded bulk/prune.sql
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
    locale)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included bulk/begin_result.sql
create or replace function bulk.begin_result(operation_id uuid, claim uuid, resource text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update bulk.operation o
  set next_chunk = 0, stored_bytes = 0, done_count = 0, row_count = null, resource = begin_result.resource
  where o.id = operation_id and o.claim = begin_result.claim and o.state = 'running';
  if found then
    delete from bulk.chunk c where c.operation_id = begin_result.operation_id;
    return true;
  end if;
  return false;
end
$$;
comment on function bulk.begin_result(uuid, uuid, text) is
  'Begins to write the file of an export, perhaps anew: what a killed process has written is of another '
  'moment. Answers whether it is ours.';
select api_meta.give('bulk.begin_result(uuid, uuid, text)', 'service_writer');
grant execute on function bulk.begin_result(uuid, uuid, text) to service_worker;
--! EndIncluded bulk/begin_result.sql
--! Included bulk/add_result.sql
create or replace function bulk.add_result(operation_id uuid, claim uuid, lines integer, rows integer,
  content bytea, max_stored_bytes bigint, lease_ms integer)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nth integer;
begin
  if (select coalesce(sum(o.stored_bytes), 0) from bulk.operation o) + length(content) > max_stored_bytes then
    return 'full';
  end if;
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, done_count = o.done_count + lines,
    row_count = coalesce(o.row_count, 0) + rows, stored_bytes = o.stored_bytes + length(content),
    claimed_until = now() + lease_ms * interval '1 ms'
  where o.id = operation_id and o.claim = add_result.claim and o.state = 'running'
  returning o.next_chunk - 1 into nth;
  if not found then
    return 'gone';
  end if;
  insert into bulk.chunk (operation_id, number, content) values (operation_id, nth, content);
  return 'added';
end
$$;
comment on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer) is
  'Adds lines to the file of an export. Answers added; full when all bulk operations together would take '
  'more room than they may; gone when somebody else works on it, or it was cancelled.';
select api_meta.give(
  'bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer)', 'service_writer'
);
grant execute on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer)
  to service_worker;
--! EndIncluded bulk/add_result.sql
--! Included bulk/renew.sql
create or replace function bulk.renew(operation_id uuid, claim uuid, lease_ms integer) returns text[]
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o set claimed_until = now() + lease_ms * interval '1 ms'
  where o.id = operation_id and o.claim = renew.claim and o.state = 'running'
  returning coalesce(bulk.scopes_of(o.id), '{}');
end;
comment on function bulk.renew(uuid, uuid, integer) is
  'Keeps a bulk operation for some more milliseconds. Answers the scopes that it has now, or null when '
  'somebody else works on it, or it was cancelled.';
select api_meta.give('bulk.renew(uuid, uuid, integer)', 'service_writer');
grant execute on function bulk.renew(uuid, uuid, integer) to service_worker;
--! EndIncluded bulk/renew.sql
--! Included bulk/open_result.sql
create or replace function bulk.open_result(operation_id uuid, presented_hash bytea, after_number integer)
returns table (number integer, content bytea, format text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_result.operation_id, presented_hash) or not exists (
    select from bulk.operation o
    where o.id = open_result.operation_id and o.kind = 'export' and o.state = 'completed'
  ) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select c.number, c.content, o.format
    from bulk.operation o left join bulk.chunk c on c.operation_id = o.id and c.number > after_number
    where o.id = open_result.operation_id order by c.number limit 1;
end
$$;
comment on function bulk.open_result(uuid, bytea, integer) is
  'The next part of the file of an export, for whoever has the code; without content behind the last one. '
  'Fails with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_result(uuid, bytea, integer)', 'service_writer');
grant execute on function bulk.open_result(uuid, bytea, integer) to service_worker;
--! EndIncluded bulk/open_result.sql
--! Included api/bulk_operation_cancel.sql
drop type if exists api_unstable.bulk_operation_cancel_input cascade;
create type api_unstable.bulk_operation_cancel_input as (id uuid);
comment on type api_unstable.bulk_operation_cancel_input is 'A bulk operation to stop.';
comment on column api_unstable.bulk_operation_cancel_input.id is
  E'@notNull\n@gid BulkOperation\nId of the bulk operation.';

drop type if exists api_unstable.bulk_operation_cancel_payload cascade;
create type api_unstable.bulk_operation_cancel_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_cancel_payload is 'What stopping a bulk operation answers.';
comment on column api_unstable.bulk_operation_cancel_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation as it is now; null when it was refused.';
comment on column api_unstable.bulk_operation_cancel_payload.user_errors is
  'Why it was not stopped; empty when it was.';

create function api_unstable.bulk_operation_cancel(input api_unstable.bulk_operation_cancel_input)
returns api_unstable.bulk_operation_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.cancel(input.id), null)::api_unstable.bulk_operation_cancel_payload
$$;
comment on function api_unstable.bulk_operation_cancel(api_unstable.bulk_operation_cancel_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Stops a bulk operation that has not ended. Rows that were done stay done.';
--! EndIncluded api/bulk_operation_cancel.sql
--! Included api/bulk_operation_run.sql
drop type if exists api_unstable.bulk_operation_run_input cascade;
create type api_unstable.bulk_operation_run_input as (query text, variables jsonb, format text);
comment on type api_unstable.bulk_operation_run_input is 'A list to be written to a file.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\nA GraphQL document with one query of one list, up to 10,000 characters. Its pages and those of '
  'lists within it don''t count: all rows are written.';
comment on column api_unstable.bulk_operation_run_input.variables is
  'Values of the variables of the query: an object.';
comment on column api_unstable.bulk_operation_run_input.format is
  'Format of the file: jsonl, which is meant when it is left out, or csv.';

drop type if exists api_unstable.bulk_operation_run_payload cascade;
create type api_unstable.bulk_operation_run_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_run_payload is 'What asking for an export answers.';
comment on column api_unstable.bulk_operation_run_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation; null when it was refused.';
comment on column api_unstable.bulk_operation_run_payload.user_errors is
  'Why it was refused; empty when it was not.';

create function api_unstable.bulk_operation_run(input api_unstable.bulk_operation_run_input)
returns api_unstable.bulk_operation_run_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.run_export(input.query, coalesce(input.variables, '{}'), coalesce(input.format, 'jsonl')),
    null)::api_unstable.bulk_operation_run_payload
$$;
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Writes all rows of a list to a file, as background work, as they are at one moment: a line for each row, '
  'and for each row of lists within it a line with __parentId.';
--! EndIncluded api/bulk_operation_run.sql
--! Included events/topics.sql
-- What events are about, and what may happen to it. Everything else follows from this: the triggers that
-- write events down (events.derive_announcements), who may know of them, and the JSON schemas of their bodies
-- (events.schema). Fields are columns, in the API's spelling; behind a colon stands the type that an id
-- belongs to. Columns that change with everything, or that open something to whoever has them (a document's
-- code), are left out or don't count.
-- Foreign schemas have subjects of their own, so a subject that is no longer here is left to a migration.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment physical_stock'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was made.', null::text[]),
    ('order.updated', 'Order', 'Something about an order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was made.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'A place that is not a special one holds another quantity of a product.', null
    ),
    ('product.created', 'Product', 'A product was made.', null),
    (
      'product.updated', 'Product',
      'Something about a product was changed, be it only a figure of its stock.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was made.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods are in their places.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was made.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'All that was ordered from a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back something of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was made.', null),
    ('batch.updated', 'Batch', 'Something about a batch was changed, be it only its stock.', null),
    ('customer.created', 'Customer', 'A customer was made.', null),
    ('customer.updated', 'Customer', 'Something about a customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was made.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'Somebody tries whether deliveries arrive. It stands in no log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql

--! split: 40-lists.sql
-- What indexes do for views of the API
drop view if exists api_meta.index_tag;
--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with main as (
  select distinct on (s.view) s.view, s.table_id,
    (
      select string_to_array(replace(k, ' ', ''), ',') from api_meta.view_tag(s.view, 'primaryKey') k limit 1
    ) as key
  from api_meta.view_column_source s
  order by s.view, s.weight desc, s.table_id
), index as (
  select m.view, m.key, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as is_filter,
    array(
      select c.attname::text
      from generate_series(0, x.indnkeyatts - 1) k
      left join pg_attribute t on t.attrelid = x.indrelid and t.attnum = x.indkey[k]
        and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
      -- A column as it stands in the table; of views with joins nothing more can be told
      left join pg_attribute c on c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
        and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
        -- Behind policies Postgres finds rows by no other comparisons
        and exists (
          select from pg_opclass o
          join pg_amop a on a.amopfamily = o.opcfamily and a.amopstrategy = 1
            and a.amoplefttype = o.opcintype and a.amoprighttype = o.opcintype
          join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
          where o.oid = x.indclass[k] and p.proleakproof)
      order by k
    ) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  where x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = (
    select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
    where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
), ordered as (
  select i.view,
    case
      when i.names[cardinality(i.names) - cardinality(i.key) + 1:] = i.key
        then i.names[:cardinality(i.names) - cardinality(i.key)]
      -- Without ties no more columns are needed
      when i.indisunique and not exists (
        select from unnest(i.names) n join pg_attribute a on a.attrelid = i.indrelid and a.attname = n
        where not api_meta.is_never_null(a.attrelid, a.attnum)) then i.names
    end as names
  from index i
  where i.is_whole and array_position(i.names, null) is null
)
select i.view, i.names[1] as name, '@indexed' as tag from index i
where i.names[1] is not null and i.is_filter
union
select o.view, o.names[1], rtrim('@orders ' || array_to_string(o.names[2:], ','))
from ordered o
where cardinality(o.names) > 0 and not o.names <@ (select m.key from main m where m.view = o.view);
comment on view api_meta.index_tag is
  'What the indexes of its main table do for each API view, as tags of its columns: @indexed, its values are '
  'found by an index; @orders, an index has the order of it, of the columns that follow, and of the key.';
--! EndIncluded api_meta/index_tag.sql
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  col record;
begin
  for col in
    with tagged as materialized (
      select v.*,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ','))
          from api_meta.view_tag(v.view, 'nullable') t
        ) as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select t from api_meta.view_tag(v.view, 'columnEnum') t) as enums
      from api_meta.api_view v
      -- frozen versions keep the words that they were released with
      where v.schema = 'api_unstable'
    ), source as (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.* from api_meta.index_tag i
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, col_description(v.view, a.attnum) as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          (
            select string_agg(i.tag, E'\n' order by i.tag) from index_tag i
            where i.view = v.view and i.name = a.attname and a.attname <> all (v.hidden)
          )
        ) as tags,
        coalesce(
          col_description(s.table_id, s.attnum),
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
    )
    select d.schema, d.name, d.attname, w.words
    from described d
    cross join lateral (select nullif(concat_ws(E'\n', nullif(d.tags, ''), d.text), '') as words) w
    -- a comment written by hand beside the view stays; what this function wrote before is written anew
    where (d.own is null or d.table_id is not null and d.text is not null) and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the views of api_unstable: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum, and '
  'what indexes do for it. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql

-- Lists in the orders that people ask for first
drop index if exists erp.product_name_id_idx;
-- waive index-blocks-writes: a million products take a second or two
create index product_name_id_idx on erp.product (name, id);
comment on index erp.product_name_id_idx is 'For lists of products by name.';
drop index if exists erp.customer_email_id_idx;
-- waive index-blocks-writes: a million customers take a second
create index customer_email_id_idx on erp.customer (email, id);
drop index if exists erp.sales_order_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_state_order_date_time_id_idx on erp.sales_order (state, order_date_time, id);
comment on index erp.sales_order_state_order_date_time_id_idx is
  'For lists of orders in a state, newest first.';

--! split: 50-search.sql
-- Lists can be searched by words, and aggregated
do $$
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    if not exists (select from pg_available_extensions where name = 'pg_trgm') then
      raise exception 'The service searches by the extension pg_trgm, which this Postgres does not have.'
        using errcode = 'feature_not_supported', hint = 'Install the package of Postgres'' contributed '
          'extensions on its server, such as postgresql18-contrib, and migrate again.';
    end if;
    create schema if not exists extensions;
    begin
      create extension pg_trgm with schema extensions;
    exception when insufficient_privilege then
      raise exception 'The service searches by the extension pg_trgm, which service_owner may not create.'
        using errcode = 'insufficient_privilege',
          hint = 'As superuser, in this database: create extension pg_trgm; and migrate again.';
    end;
  end if;
end
$$;
--! Included api_meta/own_schema.sql
create or replace view api_meta.own_schema as
select n.oid, n.nspname as name, n.nspname ~ '^api_(unstable|\d)' as is_api,
  n.nspname ~ '^api_\d' as is_frozen
from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
where n.nspname !~ '^graphile_' and n.nspname <> 'extensions'
  and (o.rolname = 'service_owner' or exists (
    select from api_meta.exposed_schema e where e.name = n.nspname
  ));
comment on view api_meta.own_schema is
  'The schemas of the service: those that service_owner owns, but for those of packages, called '
  'graphile_… and extensions, and those of others that are exposed to the API. is_api: it holds a '
  'version of the API; is_frozen: a released one.';
--! EndIncluded api_meta/own_schema.sql
drop schema if exists search cascade;
create schema search;
comment on schema search is
  'Functions that find rows by words, one for each view of the API that can be searched.';
grant usage on schema search to service_api, service_searcher;
grant usage on schema erp, auth to service_searcher;
grant execute on function auth.has_scope(text[]) to service_searcher;
--! Included search/sought.sql
create or replace function search.sought(patterns text[]) returns text[]
language sql immutable parallel safe
return (
  select array_agg(coalesce(lower(patterns[n] collate pg_catalog.pg_c_utf8), '%') order by n)
  from generate_series(1, 6) n
);
comment on function search.sought(text[]) is
  'Six patterns, in lower case, of one to six: the functions of this schema have a condition for each.';
revoke execute on function search.sought(text[]) from public;
grant execute on function search.sought(text[]) to service_searcher;
--! EndIncluded search/sought.sql
--! Included search/require_few.sql
create or replace function search.require_few(ids uuid[]) returns uuid[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(ids) > 10000 then
    raise exception 'The search finds more than 10000 rows.' using errcode = 'UE006';
  end if;
  return ids;
end
$$;
comment on function search.require_few(uuid[]) is
  'Refuses, with SQLSTATE UE006, a search that finds more than 10,000 rows: to read on from there, a list '
  'would have to read and sort all of them again for each page.';
revoke execute on function search.require_few(uuid[]) from public;
grant execute on function search.require_few(uuid[]) to service_searcher;
--! EndIncluded search/require_few.sql
--! Included erp/require_countable.sql
create or replace function erp.require_countable(entries numeric, groups bigint) returns boolean
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  if entries > 100000 then
    raise exception 'More than 100000 entries would be aggregated.' using errcode = 'UE007';
  elsif groups > 1000 then
    raise exception 'There are more than 1000 groups.' using errcode = 'UE008';
  end if;
  return true;
end
$$;
comment on function erp.require_countable(numeric, bigint) is
  'Refuses aggregates of more than 100,000 rows (SQLSTATE UE007) and of more than 1,000 groups (UE008): '
  'their time grows with the rows, however quickly these are found.';
revoke execute on function erp.require_countable(numeric, bigint) from public;
grant execute on function erp.require_countable(numeric, bigint) to service_api;
--! EndIncluded erp/require_countable.sql

drop table if exists erp.product_words;
create table erp.product_words (
  product_id uuid primary key references erp.product on delete cascade,
  words text not null
);
alter table erp.product_words enable row level security;
comment on table erp.product_words is
  'By what products are found, in lower case: beside the products, because a booking changes these, and each '
  'change writes to every index.';
select api_meta.allow('service_searcher', 'erp.product_words', 'select', 'insert', 'update (words)');

drop view if exists api_meta.searched_view cascade;
--! Included api_meta/searched_view.sql
create or replace view api_meta.searched_view as
with tagged as (
  select v.view, v.schema, v.name, to_regclass(m[2]) as kept,
    array(
      select c from regexp_split_to_table(replace(m[1], ' ', ''), ',') with ordinality x (c, n) order by n
    )::name[] as columns,
    array(
      select s from api_meta.view_tag(v.view, 'requiresScopes') r
      cross join regexp_split_to_table(r, '\s+') s where s ~ '^[a-z_]+:[a-z_]+$'
    ) as scopes
  from api_meta.api_view v
  cross join lateral api_meta.view_tag(v.view, 'search') t
  cross join lateral regexp_match(t, '^(.*?)(?:\s+in\s+(\S+))?\s*$') m
), sourced as (
  select t.*, (
    select s.table_id::regclass from api_meta.view_column_source s where s.view = t.view
    group by s.table_id order by max(s.weight) desc limit 1
  ) as relation
  from tagged t
), related as (
  select s.view, f[1]::name as col, o.view as target
  from sourced s
  cross join lateral api_meta.view_tag(s.view, 'foreignKey') k
  cross join lateral regexp_match(k, '^\(([^)]*)\) references (\w+) ') f
  join sourced o on o.schema = s.schema and o.name = f[2]
  where f[1]::name = any (s.columns)
)
select s.view, s.schema, s.name, s.relation, s.kept, s.columns, s.scopes,
  format('search.%I', regexp_replace(s.schema, '^api_', '') || '_' || s.name) as routine,
  (
    select format('lower((%s) collate pg_catalog.pg_c_utf8)', string_agg(
      format(case when a.attnotnull then '%I::text' else 'coalesce(%I::text, '''')' end, a.attname),
      E' || ''\n'' || ' order by c.n))
    from unnest(s.columns) with ordinality c (name, n)
    join pg_attribute a on a.attrelid = s.relation and a.attname = c.name and a.attnum > 0
    where c.name not in (select r.col from related r where r.view = s.view)
  ) as words,
  (
    select array_agg(r.col::text order by r.col) from related r where r.view = s.view
  ) as links,
  (
    select array_agg(r.target order by r.col) from related r where r.view = s.view
  ) as targets
from sourced s;
comment on view api_meta.searched_view is
  'The views whose lists can be searched, by the tag @search: `@search number,name,customer_id`. A column '
  'with a @foreignKey to such a view finds what belongs to the rows that are found there. words: the text of '
  'the other columns that is searched, as an expression over the table that the view is about; links: '
  'columns with such a key; targets: the views that they lead to. `in erp.product_words` names a table that '
  'keeps that text, by id, for a table that bookings change: there, an index of it would cost each of them.';
--! EndIncluded api_meta/searched_view.sql
--! Included api_meta/index_search.sql
create or replace function api_meta.search_index(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('create index concurrently %I on %s using gin ((%s) %I.gin_trgm_ops) '
    'with (gin_pending_list_limit = 1024)', (parse_ident(place::text))[2] || '_search_idx', place,
    case when wanted.kept is null then wanted.words else 'words' end, n.nspname)
  from coalesce(wanted.kept, wanted.relation) place
  cross join pg_extension e join pg_namespace n on n.oid = e.extnamespace
  where e.extname = 'pg_trgm' and wanted.words is not null
$$;
comment on function api_meta.search_index(api_meta.searched_view) is
  'The statement that makes the index by which a view with the tag @search is searched; null when it needs '
  'none of its own.';

create or replace function api_meta.index_search(wanted regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  searched api_meta.searched_view;
  statement text;
  index text;
begin
  select * into searched from api_meta.searched_view v where v.view = wanted;
  statement := api_meta.search_index(searched);
  if statement is null then
    raise exception '% has no tag @search, or names no column of its own there.', wanted;
  end if;
  index := format('%I.%s', (parse_ident(coalesce(searched.kept, searched.relation)::text))[1],
    split_part(statement, ' ', 4));
  execute format('drop index if exists %s', index);
  execute replace(statement, ' concurrently ', ' ');
  execute format('comment on index %s is %L', index, statement);
end
$$;
comment on function api_meta.index_search(regclass) is
  'Makes the index by which a view with the tag @search is searched, anew where there is one. Nobody can '
  'write the table meanwhile: on a large one, run the statement of api_meta.search_index in a migration of '
  'its own, and then comment the index with it.';
--! EndIncluded api_meta/index_search.sql
--! Included api_meta/derive_searches.sql
create or replace function api_meta.search_routine(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
create or replace function %1$s(patterns text[]) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $search$
#variable_conflict use_column
declare
  sought constant text[] := search.sought(patterns);%5$s
begin
  if not auth.has_scope(variadic %2$L::text[]) then return '{}'; end if;%6$s
  return search.require_few(array(%3$s));
end
$search$;
comment on function %1$s(text[]) is %4$L;$f$,
    wanted.routine, wanted.scopes,
    (
      select string_agg(b.text, E'\n    union\n    ' order by b.n)
      from (
        select 0, format('(select %s from %s where %s limit 10001)',
          case when wanted.kept is null then 'id' else (
            select quote_ident(a.attname) from pg_attribute a
            where a.attrelid = wanted.kept and a.attnum = 1
          ) end, coalesce(wanted.kept, wanted.relation),
          (
            select string_agg(format('%s like sought[%s]',
              case when wanted.kept is null then wanted.words else 'words' end, i), ' and ' order by i)
            from generate_series(1, 6) i
          ))
        where wanted.words is not null
        union all
        select l.n, format('(select id from %s where %I = any (through_%s) limit 10001)',
          wanted.relation, l.col, l.n)
        from unnest(wanted.links) with ordinality l (col, n)
      ) b (n, text)
    ),
    format('The ids of rows of %s in which each of the patterns of LIKE, six at most, is found, if the '
      'caller may read them. Made of the tag @search of the view by api_meta.derive_searches().',
      wanted.view::regclass),
    (
      select string_agg(format(E'\n  through_%s uuid[];', l.n), '' order by l.n)
      from unnest(wanted.links) with ordinality l (col, n)
    ),
    (
      select string_agg(format(E'\n  through_%s := %s(patterns);', l.n, v.routine), '' order by l.n)
      from unnest(wanted.targets) with ordinality l (view, n)
      join api_meta.searched_view v on v.view = l.view
    ))
$$;
comment on function api_meta.search_routine(api_meta.searched_view) is
  'The statements that make the function by which a view is searched.';

create or replace function api_meta.fill_words() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted api_meta.searched_view;
begin
  for wanted in select * from api_meta.searched_view where kept is not null loop
    execute format('insert into %1$s select id, %2$s from %3$s on conflict (%4$I) do update '
      'set words = excluded.words', wanted.kept, wanted.words, wanted.relation,
      (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1));
  end loop;
end
$$;
comment on function api_meta.fill_words() is
  'Fills the tables that keep the text by which rows are found, also for rows that were written while '
  'triggers were switched off.';

create or replace function api_meta.keep_words(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key constant name := (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1);
  routine constant text := format('search.keep_words_of_%s', (parse_ident(wanted.relation::text))[2]);
begin
  execute format($q$
    create or replace function %1$s() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $keep$
    begin
      insert into %2$s (%3$I, words) select id, %4$s from (select new.*) row
      on conflict (%3$I) do update set words = excluded.words where %5$I.words <> excluded.words;
      return null;
    end
    $keep$;
    comment on function %1$s() is
      'Trigger: keeps the text in %2$s by which a row is found. Made by api_meta.derive_searches().';
    revoke execute on function %1$s() from public;
    $q$, routine, wanted.kept, key, wanted.words,
    (select relname from pg_class where oid = wanted.kept));
  perform api_meta.give((routine || '()')::regprocedure, 'service_searcher');
  if col_description(wanted.kept, 2) is distinct from wanted.words then
    execute format('create or replace trigger keep_words after insert or update of %s on %s '
      'for each row execute function %s()',
      (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c), wanted.relation, routine);
    perform api_meta.fill_words();
    execute format('comment on column %s.words is %L', wanted.kept, wanted.words);
  end if;
end
$$;
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Makes the trigger that keeps the text by which rows are found in a table of its own, and fills that table '
  'where it is something else that is searched now.';

create or replace function api_meta.derive_searches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted api_meta.searched_view;
  item record;
begin
  for item in
    select r.relation, format('grant select (%s) on %s to service_searcher',
      string_agg(distinct quote_ident(r.col), ', '), r.relation) as rights,
      bool_and(has_column_privilege('service_searcher', r.relation, r.col, 'select')) as is_granted,
      exists (
        select from pg_policy p where p.polrelid = r.relation and p.polname ~ '_select_searcher$'
      ) as is_open
    from (
      select v.relation, c as col from api_meta.searched_view v cross join unnest(v.columns || name 'id') c
    ) r
    group by r.relation
  loop
    if not item.is_granted then execute item.rights; end if;
    continue when item.is_open;
    execute format('create policy %I on %s for select to service_searcher using (true)',
      (parse_ident(item.relation::text))[2] || '_select_searcher', item.relation);
  end loop;
  for wanted in select * from api_meta.searched_view loop
    if wanted.kept is not null then perform api_meta.keep_words(wanted); end if;
    execute api_meta.search_routine(wanted);
    perform api_meta.give((wanted.routine || '(text[])')::regprocedure, 'service_searcher');
    execute format('revoke execute on function %1$s(text[]) from public; '
      'grant execute on function %1$s(text[]) to service_api', wanted.routine);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = 'search'::regnamespace and p.prosecdef and p.prorettype = 'uuid[]'::regtype
      and p.oid::regprocedure::text not in (select v.routine || '(text[])' from api_meta.searched_view v)
  loop
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_searches() is
  'Makes a function of each view with the tag @search, which finds the ids of its rows by words, and the '
  'rights that it needs. Finding is done by the rights of service_searcher, because behind row-level '
  'security Postgres uses no index for LIKE. It gives ids only: what the caller may not read stays out of '
  'sight, because rows are read as ever. Runs after each migration.';
--! EndIncluded api_meta/derive_searches.sql
--! Included api_meta/derive.sql
create or replace function api_meta.derive() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.derive_scopes();
  perform api_meta.require_protected_reads();
  perform api_meta.describe();
  perform api_meta.grant_reads();
  perform api_meta.grant_mutations();
  perform api_meta.protect_reads();
  perform api_meta.derive_searches();
end
$$;
comment on function api_meta.derive() is
  'Everything that follows from the API schemas: descriptions, grants, policies. Runs after each '
  'migration; running it again changes nothing.';
--! EndIncluded api_meta/derive.sql
drop view if exists api_unstable.products;
--! Included api/products.sql
create view api_unstable.products with (security_invoker = true) as
select id, product_number, parent_id, name, description, gtin, manufacturer_number,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_price p where p.product_id = product.id order by p.currency_id
  ) as price,
  nullif(array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_purchase_price p where p.product_id = product.id order by p.currency_id
  ), '{}') as purchase_prices,
  physical_stock, stock_not_available_for_sale, reserved_stock, available_stock, open_supplier_order_quantity,
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@aggregates physical_stock,available_stock,reserved_stock
@groupBy parent_id
@search product_number,name,gtin,manufacturer_number in erp.product_words
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
--! EndIncluded api/products.sql
drop view if exists api_unstable.customers;
--! Included api/customers.sql
create view api_unstable.customers with (security_invoker = true) as
select id, customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active,
  guest, group_id,
  sales_channel_id, storefront_id, created_at, updated_at,
  bound_sales_channel_id, requested_group_id, default_payment_method_id, last_payment_method_id, salutation_id
from erp.customer;
comment on view api_unstable.customers is
  E'@primaryKey id\n'
  '@requiresScopes customers:read\n'
  '@aggregates created_at\n'
  '@groupBy account_type,group_id,active,created_at\n'
  '@search customer_number,first_name,last_name,company,email\n'
  '@hidden bound_sales_channel_id,requested_group_id,default_payment_method_id,last_payment_method_id,'
  'salutation_id\n'
  '@nullable active,guest\n'
  '@columnEnum account_type customer_account_type\n'
  '@filters group_id,sales_channel_id,account_type,active,guest,company,customer_number,email,'
  'first_name,last_name,title,created_at,updated_at\n'
  '@foreignKey (bound_sales_channel_id) references sales_channels (id)|@fieldName '
  'boundSalesChannel|@foreignFieldName boundCustomers\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName customers\n'
  '@foreignKey (default_payment_method_id) references payment_methods (id)|@fieldName '
  'defaultPaymentMethod|@foreignFieldName customers\n'
  '@foreignKey (last_payment_method_id) references payment_methods (id)|@fieldName lastPaymentMethod\n'
  '@foreignKey (group_id) references customer_groups (id)|@fieldName group|@foreignFieldName customers\n'
  '@foreignKey (requested_group_id) references customer_groups (id)|@fieldName requestedGroup\n'
  '@foreignKey (salutation_id) references salutations (id)|@fieldName salutation|@foreignFieldName '
  'customers\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->customer_tags(customer_id);(tag_id)->tags(id)\n'
  'A person or a company that buys.';
--! EndIncluded api/customers.sql
drop view if exists api_unstable.orders;
--! Included api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total,
  currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id
from erp.sales_order;
comment on view api_unstable.orders is
  E'@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,delivery_state,payment_state,currency_id,order_date_time\n'
  '@search order_number,storefront_id,tracking_codes,customer_id\n'
  '@hidden sales_channel_id,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName orders|@noFilter\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
--! EndIncluded api/orders.sql
drop view if exists api_unstable.suppliers;
--! Included api/suppliers.sql
create view api_unstable.suppliers with (security_invoker = true) as
select id, number, name, customer_number, currency_id, language_code, email, phone, address,
  default_delivery_time_days,
  minimum_order_value, vat_id, active, created_at, updated_at
from erp.supplier;
comment on view api_unstable.suppliers is $$
@primaryKey id
@requiresScopes suppliers:read
@search number,name,customer_number,email
@filters *
@foreignKey (currency_id) references currencies (id)|@fieldName currency
A company that the shop buys from.$$;
--! EndIncluded api/suppliers.sql
drop view if exists api_unstable.warehouses;
--! Included api/warehouses.sql
create view api_unstable.warehouses with (security_invoker = true) as
select id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, created_at,
  updated_at
from erp.warehouse;
comment on view api_unstable.warehouses is $$
@primaryKey id
@requiresScopes warehouses:read
@search code,name
@filters *
A building that holds stock.$$;
--! EndIncluded api/warehouses.sql
drop view if exists api_unstable.bin_locations;
--! Included api/bin_locations.sql
create view api_unstable.bin_locations with (security_invoker = true) as
select id, warehouse_id, code, position, created_at, updated_at from erp.bin_location;
comment on view api_unstable.bin_locations is $$
@primaryKey id
@requiresScopes warehouses:read
@search code
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName binLocations
@ref tags to:Tag plural
@refVia tags via:(id)->bin_location_tags(bin_location_id);(tag_id)->tags(id)
The smallest place in a warehouse that has an address of its own.$$;
--! EndIncluded api/bin_locations.sql
drop view if exists api_unstable.batches;
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, physical_stock from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@search number,product_id
@nullable number
@filters comment,number,physical_stock,product_id
@foreignKey (product_id) references products (id)|@fieldName product
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded api/batches.sql
drop view if exists api_unstable.documents;
--! Included api/documents.sql
create view api_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  document_type_id, order_id, referenced_document_id
from erp.document;
comment on view api_unstable.documents is
  E'@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@search document_number,order_id\n'
  '@hidden document_type_id,order_id,referenced_document_id\n'
  '@nullable static,sent\n'
  '@filters deep_link_code,document_number,sent,static\n'
  '@foreignKey (document_type_id) references document_types (id)|@fieldName '
  'documentType|@foreignFieldName documents\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents\n'
  '@foreignKey (referenced_document_id) references documents (id)|@fieldName '
  'referencedDocument|@foreignFieldName dependentDocuments\n'
  'A document of an order, such as an invoice or a delivery note.';
comment on column api_unstable.documents.download_url is
  E'@notNull\n'
  'Address that opens the document without a token, relative to the address of the service; stays the '
  'same as long as the document lives.';
--! EndIncluded api/documents.sql
drop view if exists api_unstable.supplier_orders;
--! Included api/supplier_orders.sql
create view api_unstable.supplier_orders with (security_invoker = true) as
select id, number, supplier_order_number, state, payment_state, supplier_id, warehouse_id, supplier_snapshot,
  warehouse_snapshot, currency_id, amount_net, amount_total, position_price, tax_status, order_date_time,
    due_date,
  delivery_date, actual_delivery_date, comment, created_at, updated_at
from erp.supplier_order;
comment on view api_unstable.supplier_orders is
  E'@primaryKey id\n'
  '@requiresScopes supplier_orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,supplier_id,warehouse_id,currency_id,order_date_time\n'
  '@search number,supplier_order_number,supplier_id\n'
  '@filters *\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'supplierOrders\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  '@ref goodsReceipts to:GoodsReceipt plural\n'
  '@refVia goodsReceipts '
  'via:(id)->goods_receipt_supplier_orders(supplier_order_id);(goods_receipt_id)->goods_receipts(id)\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->supplier_order_tags(supplier_order_id);(tag_id)->tags(id)\n'
  'An order that the shop placed with a supplier.';
--! EndIncluded api/supplier_orders.sql
drop view if exists api_unstable.goods_receipts;
--! Included api/goods_receipts.sql
create view api_unstable.goods_receipts with (security_invoker = true) as
select id, number, type, state, goods_receipt_date_time, warehouse_id, supplier_id, customer_id, user_id,
  currency_id,
  currency_factor, currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
  currency_factor_captured_at, tax_status, amount_net, amount_total, position_price, comment
from erp.goods_receipt;
comment on view api_unstable.goods_receipts is
  E'@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@aggregates amount_net,amount_total,goods_receipt_date_time\n'
  '@groupBy type,state,supplier_id,warehouse_id,currency_id,goods_receipt_date_time\n'
  '@search number,supplier_id\n'
  '@gid user_id User\n'
  '@columnEnum type goods_receipt_type\n'
  '@columnEnum currency_factor_origin_type currency_factor_origin_type\n'
  '@filters *\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'goodsReceipts\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'goodsReceipts\n'
  '@ref supplierOrders to:SupplierOrder plural\n'
  '@refVia supplierOrders '
  'via:(id)->goods_receipt_supplier_orders(goods_receipt_id);(supplier_order_id)->supplier_orders(id)\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->goods_receipt_tags(goods_receipt_id);(tag_id)->tags(id)\n'
  'Goods that come into a warehouse, or go out of it again as a correction.';
--! EndIncluded api/goods_receipts.sql
drop view if exists api_unstable.fulfillments;
--! Included api/fulfillments.sql
create view api_unstable.fulfillments with (security_invoker = true) as
select id, number, state, storefront_id, created_at from erp.fulfillment;
comment on view api_unstable.fulfillments is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@aggregates created_at\n'
  '@groupBy state,created_at\n'
  '@search number\n'
  '@columnEnum state fulfillment_state\n'
  '@filters *\n'
  'The record of shipping work that was done. It may fulfill a part of a fulfillment order, several of '
  'them, or parts of several.';
--! EndIncluded api/fulfillments.sql
drop view if exists api_unstable.stock_movements;
--! Included api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select m.id, m.created_at, m.product_id, m.quantity,
  m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
    m.source_return_order_id,
  m.source_goods_receipt_id, m.source_stock_container_id, m.source_special_stock_location_technical_name,
  m.destination_location_type_technical_name, m.destination_warehouse_id, m.destination_bin_location_id,
    m.destination_order_id,
  m.destination_return_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
  m.destination_special_stock_location_technical_name, m.process_type_technical_name, m.comment, s.sequence,
  m.transaction_id
from ledger.stock_movement m left join ledger.movement_sequence s on s.movement_id = m.id;
comment on view api_unstable.stock_movements is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@aggregates quantity,created_at\n'
  '@groupBy created_at,product_id,source_warehouse_id,destination_warehouse_id\n'
  '@followed transaction_id\n'
  '@hidden transaction_id\n'
  '@nullable sequence\n'
  '@gid source_return_order_id ReturnOrder\n'
  '@gid destination_return_order_id ReturnOrder\n'
  '@gid source_stock_container_id StockContainer\n'
  '@gid destination_stock_container_id StockContainer\n'
  '@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,'
  'destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,'
  'source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,'
  'source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,'
  'destination_special_stock_location_technical_name,source_location_type_technical_name,'
  'source_special_stock_location_technical_name,quantity,sequence\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName '
  'sourceWarehouse|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName '
  'destinationWarehouse|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName '
  'sourceBinLocation|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder\n'
  '@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder\n'
  '@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'sourceGoodsReceipt|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'destinationGoodsReceipt|@foreignFieldName destinationStockMovements\n'
  'A booking in the ledger of stock: a positive quantity that moved from one place to another. '
  'Movements are never changed; they go only with their product.';
--! EndIncluded api/stock_movements.sql
drop view if exists api_unstable.stocks;
--! Included api/stocks.sql
create view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id,
  return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is $$
@primaryKey id
@requiresScopes stocks:read
@aggregates quantity
@groupBy product_id,warehouse_id,bin_location_id
@gid return_order_id ReturnOrder
@gid stock_container_id StockContainer
@filters *
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName stocks
@foreignKey (order_id) references orders (id)|@fieldName order
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName stocks
How much of a product lies in one place.$$;
--! EndIncluded api/stocks.sql
drop view if exists api_unstable.order_line_items;
--! Included api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price,
  total_price,
  storefront_id, parent_id
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@aggregates quantity,shipped_quantity,total_price
@groupBy product_id,order_id,type
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
--! EndIncluded api/order_line_items.sql

select api_meta.index_search('api_unstable.products');
select api_meta.index_search('api_unstable.customers');
select api_meta.index_search('api_unstable.orders');
select api_meta.index_search('api_unstable.suppliers');
select api_meta.index_search('api_unstable.warehouses');
select api_meta.index_search('api_unstable.bin_locations');
select api_meta.index_search('api_unstable.batches');
select api_meta.index_search('api_unstable.documents');
select api_meta.index_search('api_unstable.supplier_orders');
select api_meta.index_search('api_unstable.goods_receipts');
select api_meta.index_search('api_unstable.fulfillments');

--! split: 60-docs.sql
-- What the documentation tells of events.
drop function if exists auth.documented_topics();
drop function if exists auth.documented_schema(text);
--! Included auth/documented_topics.sql
create or replace function auth.documented_topics()
returns table (name text, description text, scope text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select t.name, t.description, t.scope from events.topic t order by t.name;
end;
comment on function auth.documented_topics() is
  'All topics of events, for the documentation, which is public.';
grant execute on function auth.documented_topics() to service_auth;
--! EndIncluded auth/documented_topics.sql
--! Included auth/documented_schema.sql
create or replace function auth.documented_schema(topic text) returns json
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select events.schema(documented_schema.topic);
end;
comment on function auth.documented_schema(text) is
  'The JSON Schema of a topic''s messages, for the documentation. One at a time: each takes some '
  'ten milliseconds.';
grant execute on function auth.documented_schema(text) to service_auth;
--! EndIncluded auth/documented_schema.sql

--! split: 70-operations.sql
-- Which operations credentials send, how often, and how long their statements take
drop function if exists administration.operations(text);
drop view if exists auth.operation_overview;
drop table if exists auth.operation_use;
drop table if exists auth.operation;
create table auth.operation (
  id text primary key,
  version text not null,
  name text,
  document text not null,
  statement text,
  slowest_ms double precision not null,
  slowest_on date not null
);
alter table auth.operation enable row level security;
comment on table auth.operation is
  'Operations that credentials sent in the last 14 days: one for all that differ only in names, aliases and '
  'values.';
comment on column auth.operation.id is
  '16 hexadecimal digits, as in the comments of its statements and the application_name of its transactions.';
comment on column auth.operation.name is 'What a client calls it.';
comment on column auth.operation.document is 'Its text without names, aliases and values.';
comment on column auth.operation.statement is
  'Its slowest statement, with parameters instead of values; null when that is very long.';
comment on column auth.operation.slowest_ms is 'Milliseconds that this statement took.';
create table auth.operation_use (
  credential_id uuid not null references auth.credential on delete cascade,
  day date not null,
  operation_id text not null references auth.operation on delete cascade,
  requests bigint not null,
  ms double precision not null,
  slowest_ms double precision not null,
  primary key (credential_id, day, operation_id)
);
create index operation_use_operation_id_idx on auth.operation_use (operation_id);
alter table auth.operation_use enable row level security;
comment on table auth.operation_use is 'How often credentials sent operations, by day of UTC.';
comment on column auth.operation_use.ms is 'Milliseconds that their statements took in all.';
comment on column auth.operation_use.slowest_ms is 'Milliseconds of the slowest statement.';
select api_meta.allow('service_registrar', 'auth.operation', 'select', 'insert',
  'update (name, statement, slowest_ms, slowest_on)', 'delete');
select api_meta.allow('service_registrar', 'auth.operation_use', 'select', 'insert',
  'update (requests, ms, slowest_ms)', 'delete');
--! Included auth/record_operations.sql
create or replace function auth.record_operations(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Those that were deleted meanwhile are left out; in one order, as auth.record_use has it
    select credential.id from auth.credential
    where credential.id in (select (e ->> 'credential_id')::uuid from jsonb_array_elements(entries) e)
    order by credential.id for key share
  ), given as materialized (
    select e.* from jsonb_to_recordset(entries) as e (
      id text, version text, name text, document text, credential_id uuid, day date, requests bigint,
      ms double precision, slowest_ms double precision, statement text
    ) join present on present.id = e.credential_id
  ), one as (
    select g.id, g.credential_id, g.day, sum(g.requests) as requests, sum(g.ms) as ms,
      max(g.slowest_ms) as slowest_ms, u.operation_id is not null as is_known
    from given g left join auth.operation_use u
      on u.credential_id = g.credential_id and u.day = g.day and u.operation_id = g.id
    group by g.id, g.credential_id, g.day, u.operation_id
  ), numbered as (
    select one.*, row_number() over (partition by credential_id, day, is_known order by requests desc, id)
      + present_already as nth
    from one cross join lateral (
      select count(*) as present_already from auth.operation_use u
      where u.credential_id = one.credential_id and u.day = one.day
    ) p
  ), kept as materialized (
    -- So many of a credential on a day: nobody fills the journal for others
    select * from numbered where is_known or nth <= 300
  ), operations as (
    insert into auth.operation as o (id, version, name, document, slowest_ms, statement, slowest_on)
    select distinct on (g.id) g.id, g.version, g.name, g.document, g.slowest_ms, g.statement, g.day
    from given g where g.id in (select kept.id from kept)
    order by g.id, g.slowest_ms desc
    on conflict on constraint operation_pkey do update
    set name = excluded.name, slowest_ms = excluded.slowest_ms, statement = excluded.statement,
      slowest_on = excluded.slowest_on
    where o.slowest_ms < excluded.slowest_ms or o.slowest_on < excluded.slowest_on - 14
  )
  insert into auth.operation_use as u (credential_id, day, operation_id, requests, ms, slowest_ms)
  select kept.credential_id, kept.day, kept.id, kept.requests, kept.ms, kept.slowest_ms
  from kept order by 1, 2, 3
  on conflict on constraint operation_use_pkey do update
  set requests = u.requests + excluded.requests, ms = u.ms + excluded.ms,
    slowest_ms = greatest(u.slowest_ms, excluded.slowest_ms)
$$;
comment on function auth.record_operations(jsonb) is
  'Adds up the operations that credentials sent: an array of objects with id, version, name, document, '
  'credential_id, day, requests, ms, slowest_ms, statement. Of one credential 300 operations a day are kept.';
select api_meta.give('auth.record_operations(jsonb)', 'service_registrar');
grant execute on function auth.record_operations(jsonb) to service_auth;
--! EndIncluded auth/record_operations.sql
--! Included auth/prune_operations.sql
create or replace function auth.prune_operations() returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from auth.operation_use where day < (now() at time zone 'UTC')::date - 14;

  delete from auth.operation o
  where not exists (select from auth.operation_use u where u.operation_id = o.id)
$$;
comment on function auth.prune_operations() is
  'Forgets what was sent more than 14 days ago, and operations that nobody sends any more.';
select api_meta.give('auth.prune_operations()', 'service_registrar');
grant execute on function auth.prune_operations() to service_worker;
--! EndIncluded auth/prune_operations.sql
--! Included auth/operation_overview.sql
create or replace view auth.operation_overview with (security_invoker) as
select
  o.id,
  o.version,
  o.name,
  o.document,
  o.statement,
  sum(u.requests)::bigint as requests,
  sum(u.ms) as ms,
  max(u.slowest_ms) as slowest_ms,
  count(distinct u.credential_id) as tokens,
  max(u.day) as last_used_on
from auth.operation o
join auth.operation_use u on u.operation_id = o.id
group by o.id;
comment on view auth.operation_overview is
  'Operations of the last 14 days with their sums: requests, milliseconds of their statements, tokens.';
grant select on auth.operation_overview to service_registrar;
--! EndIncluded auth/operation_overview.sql
--! Included administration/operations.sql
create or replace function administration.operations(wanted text default null)
returns setof auth.operation_overview
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select * from auth.operation_overview as overview
  where operations.wanted is null or overview.id = operations.wanted
  order by overview.ms desc, overview.id
  limit 100;
end
$$;
comment on function administration.operations(text) is
  'The operations whose statements took the most time, or one.';
select api_meta.give('administration.operations(text)', 'service_registrar');
grant execute on function administration.operations(text) to service_administration;
--! EndIncluded administration/operations.sql
--! Included administration/operation_senders.sql
create or replace function administration.operation_senders(wanted text)
returns table (
  credential_id uuid, credential_name text, requests bigint, ms double precision,
  slowest_ms double precision, last_used_on date
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select c.id, c.name::text, sum(u.requests)::bigint, sum(u.ms), max(u.slowest_ms), max(u.day)
  from auth.operation_use u join auth.credential c on c.id = u.credential_id
  where u.operation_id = operation_senders.wanted
  group by c.id
  order by 4 desc;
end
$$;
comment on function administration.operation_senders(text) is 'The credentials that sent an operation.';
select api_meta.give('administration.operation_senders(text)', 'service_registrar');
grant execute on function administration.operation_senders(text) to service_administration;
--! EndIncluded administration/operation_senders.sql

--! split: 80-live.sql
-- Whoever follows the log is told when it grows, and it can be subscribed to
--! Included events/announce_growth.sql
create or replace function events.announce_growth() returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
-- Its owner may notify, whatever the fence around the other roles says
begin atomic
  select pg_notify('service_events', '');
end;
comment on function events.announce_growth() is
  'Tells whoever listens on the channel service_events that the log has grown, once that is committed.';
grant execute on function events.announce_growth() to service_recorder;
--! EndIncluded events/announce_growth.sql
--! Included events/sequence_events.sql
create or replace function events.sequence_events(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Plans are kept while the tables grow, so they must suit large ones from the first call on
set enable_seqscan = off as $$
declare
  head bigint;
  moved integer;
  movements uuid[];
begin
  select h.last_sequence into head from events.log_head h for no key update skip locked;
  if not found then
    return null;
  end if;

  with taken as (
    delete from events.outbox o
    where o.position = any (array(select w.position from events.outbox w order by w.position limit batch))
    returning o.*
  ), numbered as (
    select head + row_number() over (order by t.position) as sequence, t.* from taken t
  ), logged as (
    insert into events.event (
      sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at
    )
    select n.sequence, events.event_id(n.sequence), n.topic, n.subject_id, n.entity_id, n.data,
      n.changed_fields, n.cause, n.occurred_at
    from numbered n order by n.sequence
    returning sequence, topic, subject_id
  )
  select count(*),
    array_agg(l.subject_id order by l.sequence) filter (where l.topic = 'stock_movement.created')
  into moved, movements from logged l;
  if moved > 0 then
    update events.log_head h set last_sequence = head + moved;
    perform events.fan_out(head, head + moved);
    perform events.announce_growth();
  end if;
  if movements is not null then
    perform ledger.number_movements(movements);
  end if;
  return moved;
end
$$;
comment on function events.sequence_events(integer) is
  'Moves what has been committed since the last time from the outbox into the log, as much as a batch, '
  'and makes deliveries of it. What becomes visible later gets a later number, so readers of the log '
  'miss nothing, and events of one entity keep their order. Movements of stock get their numbers here, '
  'too. Whoever listens on the channel service_events is told. One process at a time: answers null when '
  'another one is at it, else how many events it moved.';
select api_meta.give('events.sequence_events(integer)', 'service_recorder');
grant execute on function events.sequence_events(integer) to service_delivery;
--! EndIncluded events/sequence_events.sql
--! Included api/events.sql
create or replace view api_unstable.events with (security_invoker = true) as
select id, sequence, topic, occurred_at, changed_fields, cause, data from events.event;
comment on view api_unstable.events is
  E'@primaryKey id\n'
  '@requiresScopes orders:read fulfillment_orders:read stocks:read products:read goods_receipts:read '
  'supplier_orders:read batches:read customers:read documents:read shipping_labels:read\n'
  '@filters topic,sequence,occurred_at\n'
  '@log\n'
  'Something that happened, as the log has it: in the order in which it was committed, without gaps, '
  'for 30 days. Shown are the events whose subjects the caller may read.';
--! EndIncluded api/events.sql

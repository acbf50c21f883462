--! Previous: sha1:f81dac3fbfe2a92467076655c63798fa481dfdea
--! Hash: sha1:17269ed7c5051950d3e33ea22cffd0ec3864dabe
--! Message: shipping-mutations

--! split: 1-current.sql
-- Enter migration here

--! split: 0500-shipping.sql
-- Shipping: the figures that follow from orders, fulfillment orders, fulfillments and labels, and the mutations.
alter table erp.sales_order add column if not exists entered_tracking_codes text[] not null default '{}';
comment on column erp.sales_order.entered_tracking_codes is
  'Tracking codes that were entered by hand. They stay in the list of all codes when a label with the same code is cancelled.';

drop type if exists ledger.change cascade;
create type ledger.change as (owner_id uuid, item_id uuid, quantity bigint);
comment on type ledger.change is
  'By how much a quantity of an item changes for its owner: of a product for an order, a fulfillment order or a warehouse, of a line for a fulfillment.';

--! Included functions/ledger/lock_orders.sql
create or replace function ledger.lock_orders(order_ids uuid[], fulfillment_order_ids uuid[] default '{}') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = any (order_ids) order by o.id for no key update;
  perform from erp.fulfillment_order f where f.id = any (fulfillment_order_ids) order by f.id for no key update;
end
$$;
comment on function ledger.lock_orders(uuid[], uuid[]) is
  'Takes the locks of work on orders, always in this order and before those of ledger.lock: the orders, then their fulfillment orders. Whoever has the lock of an order is alone with its lines, states and shipments.';
--! EndIncluded functions/ledger/lock_orders.sql
--! Included functions/ledger/change_figures.sql
create or replace function ledger.change_reserved_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c));
  update erp.product p set reserved_stock = p.reserved_stock + c.quantity
  from (select c.item_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0) c
  where p.id = c.item_id;
end
$$;
comment on function ledger.change_reserved_stock(ledger.change[]) is 'Adds to the reserved stock of the items, which are products.';

create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c), array(select c.owner_id from unnest(changes) c));
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity
  from (select c.item_id, c.owner_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id, c.owner_id having sum(c.quantity) <> 0) c
  -- While a warehouse or a product is being deleted its figures may be there a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';

create or replace function ledger.lock_orders_of(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(select s.order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id),
    array(select l.fulfillment_order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id)
  );
end
$$;
comment on function ledger.lock_orders_of(ledger.change[]) is
  'Takes the locks of the orders and fulfillment orders of the items, which are lines of fulfillment orders.';

create or replace function ledger.change_fulfilled_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders_of(changes);
  update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + c.quantity
  from (select c.item_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0) c
  where l.id = c.item_id and exists (select from erp.fulfillment_order f where f.id = l.fulfillment_order_id);
end
$$;
comment on function ledger.change_fulfilled_quantities(ledger.change[]) is
  'Adds to the fulfilled quantities of the items, which are lines of fulfillment orders.';
--! EndIncluded functions/ledger/change_figures.sql
--! Included functions/ledger/order_amounts.sql
create or replace function ledger.order_amounts(order_id uuid, tax_status text) returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select s.total, case when order_amounts.tax_status = 'tax-free' then s.total
    else s.rated_net + round((s.total - s.rated) * coalesce(s.rated_net / nullif(s.rated, 0), 1), 2) end
  from (
    select sum(l.total_price) as total, coalesce(sum(l.total_price) filter (where l.tax_rate is not null), 0) as rated,
      coalesce(sum(round(l.total_price * 100 / (100 + l.tax_rate), 2)), 0) as rated_net
    from erp.sales_order_line_item l where l.order_id = order_amounts.order_id having count(l.total_price) > 0
  ) s;
end;
comment on function ledger.order_amounts(uuid, text) is
  'Totals of an order with and without tax, from its lines; no row when no line has a price. Lines without a tax rate, such as promotions, are taxed as the others on average.';
--! EndIncluded functions/ledger/order_amounts.sql
--! Included functions/ledger/promises_of.sql
create or replace function ledger.promises_of(changes ledger.change[]) returns ledger.change[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.location l
  where l.id in (select f.source_warehouse_location_id from unnest(changes) c join erp.fulfillment_order f on f.id = c.owner_id)
  order by l.id for key share;
  return array(
    select row (w.warehouse_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c join erp.fulfillment_order f on f.id = c.owner_id join erp.location w on w.id = f.source_warehouse_location_id
    where f.state in ('Open', 'InProgress', 'OnHold') and w.warehouse_id is not null
    group by w.warehouse_id, c.item_id having sum(c.quantity) <> 0);
end
$$;
comment on function ledger.promises_of(ledger.change[]) is
  'Turns changes of fulfillment orders into those of their warehouses. What is closed or cancelled promises nothing.';
--! EndIncluded functions/ledger/promises_of.sql
--! Included functions/ledger/keep_order_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  -- By order and product: units that are still to be shipped
  changes ledger.change[];
  -- Orders of which lines with a price changed
  priced uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.order_id, l.product_id, sum(l.quantity - l.shipped_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from new_rows l where l.total_price is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.order_id, l.product_id, sum(l.shipped_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from old_rows l where l.total_price is not null);
  else
    changes := array(
      select row (l.order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.order_id, n.product_id, n.quantity - n.shipped_quantity as quantity from new_rows n
        union all select o.order_id, o.product_id, o.shipped_quantity - o.quantity from old_rows o
      ) l where l.product_id is not null group by l.order_id, l.product_id having sum(l.quantity) <> 0);
    priced := array(
      select distinct l.order_id
      from (
        select n.order_id, n.total_price, n.tax_rate, 1 as direction from new_rows n
        union all select o.order_id, o.total_price, o.tax_rate, -1 from old_rows o
      ) l where l.total_price is not null group by l.order_id, l.total_price, l.tax_rate having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) = 0 and cardinality(priced) = 0 then
    return null;
  end if;

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, and has taken
  -- its reservations along.
  perform ledger.lock_orders(array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id)));
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c join erp.sales_order o on o.id = c.owner_id where o.state in ('open', 'in_progress')));
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, whoever changed them: brings the reserved stock of products and the amounts of the orders up to date.';

create or replace function ledger.keep_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  changes ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more what state it was in
    if old.state in ('open', 'in_progress') then
      perform ledger.change_reserved_stock(array(
        select row (old.id, l.product_id, sum(l.shipped_quantity - l.quantity))::ledger.change
        from erp.sales_order_line_item l where l.order_id = old.id and l.product_id is not null group by l.product_id));
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
    ) t join erp.sales_order_line_item l on l.order_id = t.id where l.product_id is not null group by l.product_id);
  perform ledger.change_reserved_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders were changed: an order that begins or ends being open changes the reserved stock of its products.';

create or replace function ledger.keep_order_amounts() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  amounts record;
begin
  select * into amounts from ledger.order_amounts(new.id, new.tax_status);
  if found then
    new.amount_total := amounts.amount_total;
    new.amount_net := amounts.amount_net;
  end if;
  return new;
end
$$;
comment on function ledger.keep_order_amounts() is 'Trigger before the tax status of an order changes: its amounts follow.';
--! EndIncluded functions/ledger/keep_order_figures.sql
--! Included functions/ledger/keep_tracking_codes.sql
create or replace function ledger.keep_tracking_codes() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  present text[];
  of_labels text[];
begin
  -- Then the constraint refuses it
  if not erp.is_string_array(new.tracking_codes) then
    return new;
  end if;
  present := array(select c from jsonb_array_elements_text(new.tracking_codes) c);
  of_labels := array(
    select c.code from erp.shipping_label l cross join lateral jsonb_array_elements_text(l.tracking_codes) with ordinality c (code, position)
    where l.order_id = new.id and l.state = 'created' and l.type = 'outgoing' order by l.id, c.position);
  if tg_op = 'INSERT' then
    new.entered_tracking_codes := new.entered_tracking_codes || present;
  elsif new.tracking_codes is distinct from old.tracking_codes and new.entered_tracking_codes = old.entered_tracking_codes then
    -- Someone wrote the list as a whole: whatever no label brings along was entered by hand
    new.entered_tracking_codes := array(
      select p.code from unnest(present) p (code) where p.code <> all (of_labels) or p.code = any (old.entered_tracking_codes));
  end if;
  new.entered_tracking_codes := array(
    select e.code from unnest(new.entered_tracking_codes) with ordinality e (code, position) group by e.code order by min(e.position));
  if new.tracking_codes is null and cardinality(new.entered_tracking_codes || of_labels) = 0 then
    return new;
  end if;
  -- What is in the list already keeps its place
  new.tracking_codes := (
    select coalesce(jsonb_agg(d.code order by d.place, d.position), '[]')
    from (
      select d.code, min(d.position) as position, array_position(present, d.code) as place
      from unnest(new.entered_tracking_codes || of_labels) with ordinality d (code, position) group by d.code
    ) d
  );
  return new;
end
$$;
comment on function ledger.keep_tracking_codes() is
  'Trigger before the tracking codes of an order are written: the list holds those that were entered by hand and those of its outgoing labels, each once. Codes that are written into the list itself count as entered by hand.';

create or replace function ledger.keep_label_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  changed uuid[];
begin
  if tg_op = 'INSERT' then
    changed := array(select distinct l.order_id from new_rows l where l.order_id is not null and l.state = 'created' and l.type = 'outgoing');
  elsif tg_op = 'DELETE' then
    changed := array(select distinct l.order_id from old_rows l where l.order_id is not null and l.state = 'created' and l.type = 'outgoing');
  else
    changed := array(
      select distinct l.order_id
      from (
        select n.order_id, n.tracking_codes, 1 as direction from new_rows n where n.state = 'created' and n.type = 'outgoing'
        union all select o.order_id, o.tracking_codes, -1 from old_rows o where o.state = 'created' and o.type = 'outgoing'
      ) l where l.order_id is not null group by l.order_id, l.tracking_codes having sum(l.direction) <> 0);
  end if;
  if cardinality(changed) > 0 then
    perform ledger.lock_orders(changed);
    -- The trigger on orders puts the list together
    update erp.sales_order o set entered_tracking_codes = o.entered_tracking_codes where o.id = any (changed);
  end if;
  return null;
end
$$;
comment on function ledger.keep_label_figures() is
  'Trigger after shipping labels changed: the tracking codes of their orders follow. What counts are outgoing labels that were neither cancelled nor failed.';
--! EndIncluded functions/ledger/keep_tracking_codes.sql
--! Included functions/ledger/keep_fulfillment_order_figures.sql
create or replace function ledger.keep_fulfillment_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  -- By fulfillment order and product: units that are still to be fulfilled
  changes ledger.change[];
  -- By line of the order: units that were fulfilled
  shipped ledger.change[];
  -- Fulfillment orders of which something may have begun or ended being fulfilled in part
  touched uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.fulfillment_order_id, l.product_id, sum(l.quantity - l.fulfilled_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id, sum(l.fulfilled_quantity))::ledger.change
      from new_rows l where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0 group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from new_rows l);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.fulfillment_order_id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id, - sum(l.fulfilled_quantity))::ledger.change
      from old_rows l where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0 group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from old_rows l);
  else
    changes := array(
      select row (l.fulfillment_order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_order_id, n.product_id, n.quantity - n.fulfilled_quantity as quantity from new_rows n
        union all select o.fulfillment_order_id, o.product_id, o.fulfilled_quantity - o.quantity from old_rows o
      ) l where l.product_id is not null group by l.fulfillment_order_id, l.product_id having sum(l.quantity) <> 0);
    shipped := array(
      select row (null, l.line_id, sum(l.quantity))::ledger.change
      from (
        select n.destination_order_line_item_id as line_id, n.fulfilled_quantity as quantity from new_rows n
        union all select o.destination_order_line_item_id, - o.fulfilled_quantity from old_rows o
      ) l where l.line_id is not null group by l.line_id having sum(l.quantity) <> 0);
    touched := array(
      select distinct l.fulfillment_order_id
      from (
        select n.fulfillment_order_id, n.quantity, n.fulfilled_quantity, 1 as direction from new_rows n
        union all select o.fulfillment_order_id, o.quantity, o.fulfilled_quantity, -1 from old_rows o
      ) l group by l.fulfillment_order_id, l.quantity, l.fulfilled_quantity having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) + cardinality(shipped) + cardinality(touched) = 0 then
    return null;
  end if;

  perform ledger.lock_orders(array(select l.order_id from unnest(shipped) s join erp.sales_order_line_item l on l.id = s.item_id),
    array(select c.owner_id from unnest(changes) c union select t.id from unnest(touched) t (id)));
  -- A fulfillment order that is being deleted is gone already, and has taken its promises along
  changes := ledger.promises_of(changes);
  -- All products at once: the lines of the orders may name others
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c
      union select l.product_id from unnest(shipped) s join erp.sales_order_line_item l on l.id = s.item_id where l.product_id is not null),
    array(select c.owner_id from unnest(changes) c)
  );
  perform ledger.change_promised_stock(changes);
  update erp.sales_order_line_item l set shipped_quantity = l.shipped_quantity + s.quantity from unnest(shipped) s where l.id = s.item_id;
  update erp.fulfillment_order f set is_partially_fulfilled = p.is_partial
  from unnest(touched) t (id) cross join lateral (
    select coalesce(sum(l.fulfilled_quantity) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity), false) as is_partial
    from erp.fulfillment_order_line_item l where l.fulfillment_order_id = t.id
  ) p
  where f.id = t.id and f.is_partially_fulfilled <> p.is_partial;
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, whoever changed them: brings the reserved quantities of warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially fulfilled, up to date.';

create or replace function ledger.keep_fulfillment_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  changes ledger.change[];
  moved ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more which warehouse was to ship them
    perform ledger.change_promised_stock(ledger.promises_of(array(
      select row (old.id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from erp.fulfillment_order_line_item l where l.fulfillment_order_id = old.id and l.product_id is not null group by l.product_id)));
    return old;
  end if;
  -- By location: the fulfillment orders that begin or end having something to ship from there
  moved := array(
    select row (t.location_id, t.id, sum(t.direction))::ledger.change
    from (
      select n.id, n.source_warehouse_location_id as location_id, 1 as direction from new_rows n where n.state in ('Open', 'InProgress', 'OnHold')
      union all
      select o.id, o.source_warehouse_location_id, -1 from old_rows o where o.state in ('Open', 'InProgress', 'OnHold')
    ) t where t.location_id is not null group by t.location_id, t.id having sum(t.direction) <> 0);
  if cardinality(moved) = 0 then
    return null;
  end if;
  perform from erp.location l where l.id in (select m.owner_id from unnest(moved) m) order by l.id for key share;
  changes := array(
    select row (w.warehouse_id, l.product_id, sum(m.quantity * (l.quantity - l.fulfilled_quantity)))::ledger.change
    from unnest(moved) m join erp.location w on w.id = m.owner_id join erp.fulfillment_order_line_item l on l.fulfillment_order_id = m.item_id
    where w.warehouse_id is not null and l.product_id is not null group by w.warehouse_id, l.product_id);
  perform ledger.change_promised_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after some were changed: one that begins or ends being open, or moves to another location, changes the reserved quantities of the warehouses.';
--! EndIncluded functions/ledger/keep_fulfillment_order_figures.sql
--! Included functions/ledger/keep_fulfillment_figures.sql
create or replace function ledger.keep_fulfillment_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  -- By fulfillment and line of a fulfillment order
  changes ledger.change[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.fulfillment_id, l.fulfillment_order_line_item_id, l.quantity)::ledger.change from new_rows l);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.fulfillment_id, l.fulfillment_order_line_item_id, - l.quantity)::ledger.change from old_rows l);
  else
    changes := array(
      select row (l.fulfillment_id, l.line_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_id, n.fulfillment_order_line_item_id as line_id, n.quantity from new_rows n
        union all select o.fulfillment_id, o.fulfillment_order_line_item_id, - o.quantity from old_rows o
      ) l group by l.fulfillment_id, l.line_id having sum(l.quantity) <> 0);
  end if;
  if cardinality(changes) = 0 then
    return null;
  end if;
  perform ledger.lock_orders_of(changes);
  perform from erp.fulfillment f where f.id in (select c.owner_id from unnest(changes) c) order by f.id for no key update;
  -- A fulfillment that is being deleted is gone already, and has taken its quantities along
  perform ledger.change_fulfilled_quantities(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c join erp.fulfillment f on f.id = c.owner_id where f.state = 'Fulfilled'));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, whoever changed them: brings the fulfilled quantities of the lines of fulfillment orders up to date.';

create or replace function ledger.keep_fulfillment_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more whether it stood
    if old.state = 'Fulfilled' then
      perform ledger.change_fulfilled_quantities(array(
        select row (old.id, l.fulfillment_order_line_item_id, - l.quantity)::ledger.change
        from erp.fulfillment_line_item l where l.fulfillment_id = old.id));
    end if;
    return old;
  end if;
  perform ledger.change_fulfilled_quantities(array(
    select row (f.id, l.fulfillment_order_line_item_id, f.direction * l.quantity)::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.id, 1 as direction from new_rows n where n.state = 'Fulfilled'
        union all select o.id, -1 from old_rows o where o.state = 'Fulfilled'
      ) s group by s.id having sum(s.direction) <> 0
    ) f join erp.fulfillment_line_item l on l.fulfillment_id = f.id));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_figures() is
  'Triggers before a fulfillment is deleted and after some were changed: one that is cancelled fulfills nothing any more.';
--! EndIncluded functions/ledger/keep_fulfillment_figures.sql
--! Included functions/ledger/keep_location_figures.sql
create or replace function ledger.keep_location_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  changes ledger.change[];
begin
  changes := array(
    select row (w.id, l.product_id, w.direction * sum(l.quantity - l.fulfilled_quantity))::ledger.change
    from (
      select old.warehouse_id as id, -1 as direction
      union all select new.warehouse_id, 1 where tg_op = 'UPDATE'
    ) w
    join erp.fulfillment_order f on f.source_warehouse_location_id = old.id and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    where w.id is not null and l.product_id is not null group by w.id, w.direction, l.product_id);
  perform ledger.change_promised_stock(changes);
  return coalesce(new, old);
end
$$;
comment on function ledger.keep_location_figures() is
  'Triggers before a location is deleted and after it was given to another warehouse: what its fulfillment orders promise goes along.';
--! EndIncluded functions/ledger/keep_location_figures.sql

do $$
declare
  item record;
begin
  -- A trigger with transition tables is for one event only
  for item in
    select t.relation, t.routine, e.event, e.tables
    from (values
      ('erp.sales_order_line_item', 'ledger.keep_order_line_figures', '{insert,update,delete}'::text[]),
      ('erp.sales_order', 'ledger.keep_order_figures', '{update}'),
      ('erp.shipping_label', 'ledger.keep_label_figures', '{insert,update,delete}'),
      ('erp.fulfillment_order_line_item', 'ledger.keep_fulfillment_order_line_figures', '{insert,update,delete}'),
      ('erp.fulfillment_order', 'ledger.keep_fulfillment_order_figures', '{update}'),
      ('erp.fulfillment_line_item', 'ledger.keep_fulfillment_line_figures', '{insert,update,delete}'),
      ('erp.fulfillment', 'ledger.keep_fulfillment_figures', '{update}')
    ) t (relation, routine, events)
    join (values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'), ('delete', 'old table as old_rows'))
      e (event, tables) on e.event = any (t.events)
  loop
    execute format('create or replace trigger keep_figures_after_%s after %1$s on %s referencing %s for each statement execute function %s()',
      item.event, item.relation, item.tables, item.routine);
  end loop;
end
$$;
create or replace trigger keep_figures_before_delete before delete on erp.sales_order
  for each row execute function ledger.keep_order_figures();
create or replace trigger keep_figures_before_delete before delete on erp.fulfillment_order
  for each row execute function ledger.keep_fulfillment_order_figures();
create or replace trigger keep_figures_before_delete before delete on erp.fulfillment
  for each row execute function ledger.keep_fulfillment_figures();
create or replace trigger keep_figures_before_delete before delete on erp.location
  for each row execute function ledger.keep_location_figures();
create or replace trigger keep_figures_after_move after update of warehouse_id on erp.location
  for each row when (old.warehouse_id is distinct from new.warehouse_id) execute function ledger.keep_location_figures();
create or replace trigger keep_figures_of_tax before update of tax_status on erp.sales_order
  for each row when (old.tax_status <> new.tax_status) execute function ledger.keep_order_amounts();
create or replace trigger keep_figures_of_tracking before insert or update of tracking_codes, entered_tracking_codes on erp.sales_order
  for each row execute function ledger.keep_tracking_codes();

-- What the triggers find right they leave alone. Orders from before them are brought up to date here.
update erp.sales_order o set entered_tracking_codes = e.codes
from (
  select o.id, array_agg(c.code) as codes from erp.sales_order o cross join jsonb_array_elements_text(o.tracking_codes) c (code)
  where c.code <> all (o.entered_tracking_codes) and not exists (
    select from erp.shipping_label l where l.order_id = o.id and l.state = 'created' and l.type = 'outgoing' and l.tracking_codes ? c.code)
  group by o.id
) e where e.id = o.id;
update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
from erp.sales_order present cross join lateral ledger.order_amounts(present.id, present.tax_status) a
where o.id = present.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);

select api_meta.allow('service_ledger', 'erp.sales_order', 'select', 'update (amount_total, amount_net, tracking_codes, entered_tracking_codes)');
select api_meta.allow('service_ledger', 'erp.sales_order_line_item', 'select', 'update (shipped_quantity)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order', 'select', 'update (is_partially_fulfilled)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order_line_item', 'select', 'update (fulfilled_quantity)');
select api_meta.allow('service_ledger', 'erp.fulfillment_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.shipping_label', 'select');
select api_meta.allow('service_ledger', 'erp.product', 'update (reserved_stock)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (reserved_quantity)');
-- To lock rows
select api_meta.allow('service_ledger', 'erp.fulfillment', 'select', 'update (updated_at)');
select api_meta.allow('service_ledger', 'erp.location', 'select', 'update (updated_at)');
select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.keep_order_line_figures()', 'ledger.keep_order_figures()', 'ledger.keep_order_amounts()', 'ledger.keep_tracking_codes()',
  'ledger.keep_label_figures()', 'ledger.keep_fulfillment_order_line_figures()', 'ledger.keep_fulfillment_order_figures()',
  'ledger.keep_fulfillment_line_figures()', 'ledger.keep_fulfillment_figures()', 'ledger.keep_location_figures()']::regprocedure[]) routine;
grant execute on function erp.is_string_array(jsonb), ledger.lock_orders(uuid[], uuid[]) to service_ledger, service_writer;
grant execute on function ledger.change_reserved_stock(ledger.change[]), ledger.change_promised_stock(ledger.change[]),
  ledger.change_fulfilled_quantities(ledger.change[]), ledger.lock_orders_of(ledger.change[]), ledger.promises_of(ledger.change[]),
  ledger.order_amounts(uuid, text) to service_ledger;

comment on constraint number_range_last_number_is_not_negative on erp.number_range is
  E'@userError OUT_OF_RANGE\nThe number range has come to an end.';

-- What the mutations need beside the figures
create table if not exists erp.fulfillment_stock_movement (
  fulfillment_line_item_id uuid not null references erp.fulfillment_line_item on delete cascade,
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  primary key (fulfillment_line_item_id, stock_movement_id)
);
create index if not exists fulfillment_stock_movement_stock_movement_id_idx on erp.fulfillment_stock_movement (stock_movement_id);
alter table erp.fulfillment_stock_movement enable row level security;
comment on table erp.fulfillment_stock_movement is
  'Which movements took the units of a line of a fulfillment to the order. Cancelling the fulfillment books them back the same way.';
-- Bins and warehouses that hold a product, among all the orders that it went to
create index if not exists stock_in_warehouses_idx on ledger.stock (product_id) where location_type_technical_name in ('warehouse', 'bin_location');

alter table erp.fulfillment_order add column if not exists hold_comment text;
comment on column erp.fulfillment_order.hold_comment is 'Why it is on hold, in the words of whoever put it there; null when it is not, or nobody said.';
do $$
begin
  if not exists (select from pg_constraint where conname = 'fulfillment_order_hold_comment_is_not_too_long') then
    alter table erp.fulfillment_order
      add constraint fulfillment_order_hold_comment_is_not_too_long check (length(hold_comment) <= 1000),
      add constraint fulfillment_order_hold_comment_only_on_hold check (state = 'OnHold' or hold_comment is null);
  end if;
end
$$;
drop view if exists api_unstable.fulfillment_orders;
--! Included views/api/fulfillment_orders.sql
create view api_unstable.fulfillment_orders with (security_invoker = true) as
select id, number, type, state, is_partially_fulfilled, destination_order_id, source_warehouse_location_id,
  external_location_name, shipping_method_id, shipping_method_name, shipping_address, storefront_id, created_at, updated_at, hold_comment
from erp.fulfillment_order;
comment on view api_unstable.fulfillment_orders is $$
@primaryKey id
@requiresScopes fulfillment_orders:read
@gid shipping_method_id ShippingMethod
@columnEnum state fulfillment_order_state
@columnEnum type fulfillment_order_type
@filters destination_order_id,shipping_method_id,source_warehouse_location_id,created_at,updated_at,is_partially_fulfilled,number,state,type
@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder|@foreignFieldName fulfillmentOrders
@foreignKey (source_warehouse_location_id) references locations (id)|@fieldName sourceWarehouseLocation|@foreignFieldName fulfillmentOrders
@ref fulfillments to:Fulfillment plural noFilter
@refVia fulfillments via:(id)->fulfillment_order_fulfillments(fulfillment_order_id);(fulfillment_id)->fulfillments(id)
Lines of one order, in given quantities, that exactly one location is to ship. An order can have several.$$;
--! EndIncluded views/api/fulfillment_orders.sql

do $$
begin
  if not exists (select from pg_constraint where conname = 'state_transition_machine_is_known' and pg_get_constraintdef(oid) like '%''fulfillment''%') then
    alter table erp.state_transition drop constraint state_transition_machine_is_known;
    alter table erp.state_transition add constraint state_transition_machine_is_known check (machine in
      ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment', 'supplier_order', 'quote', 'shipping_label'));
  end if;
end
$$;
insert into erp.state_transition (machine, action, from_state, to_state) values
  ('order', 'stop', 'in_progress', 'open'),
  ('order_delivery', 'ship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship', 'shipped', 'open'), ('order_delivery', 'unship', 'shipped_partially', 'open'),
  ('fulfillment_order', 'release_hold', 'OnHold', 'Open'),
  ('fulfillment', 'cancel', 'Fulfilled', 'Cancelled')
on conflict do nothing;

comment on constraint order_state_is_known on erp.sales_order is E'@userError INVALID state\nThere is no such state of orders.';
comment on constraint order_line_item_ships_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be shipped than was ordered.';
comment on constraint fulfillment_order_line_item_fulfills_no_more_than_assigned on erp.fulfillment_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be fulfilled than is assigned.';
comment on constraint fulfillment_order_state_is_known on erp.fulfillment_order is E'@userError INVALID state\nThere is no such state of fulfillment orders.';
comment on constraint fulfillment_order_returns_from_hold_to_work on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\nA fulfillment order returns from hold to being open or in progress.';
comment on constraint fulfillment_order_remembers_its_state_on_hold on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\nOnly a fulfillment order on hold has a state to return to.';
comment on constraint fulfillment_order_hold_comment_is_not_too_long on erp.fulfillment_order is
  E'@userError OUT_OF_RANGE hold_comment\nThe comment has more than 1,000 characters.';
comment on constraint fulfillment_order_hold_comment_only_on_hold on erp.fulfillment_order is
  E'@userError INVALID hold_comment\nOnly a fulfillment order on hold has a reason for it.';
comment on constraint fulfillment_state_is_known on erp.fulfillment is E'@userError INVALID state\nThere is no such state of fulfillments.';

drop type if exists ledger.pick cascade;
create type ledger.pick as (
  field text[], line_id uuid, product_id uuid, warehouse_id uuid, quantity integer, place_type text, place text, batch_id uuid
);
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. place is a key as in ledger.stock.place, null when the units are to be picked; field is where the input says the quantity, for user errors.';
drop type if exists erp.shipping_line cascade;
drop type if exists erp.shipping_place cascade;
drop type if exists erp.shipment cascade;
create type erp.shipping_line as (id uuid, quantity integer);
comment on type erp.shipping_line is 'Units of a line of a fulfillment order that are to be shipped.';
create type erp.shipping_place as (line integer, nth integer, warehouse_id uuid, bin_location_id uuid, quantity integer, batch_id uuid);
comment on type erp.shipping_place is 'The nth place that units of a line are taken from. Lines and places are numbered from 1.';
create type erp.shipment as (order_id uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[]);
comment on type erp.shipment is 'Ids of what was made and changed by shipping something, or by taking it back.';

--! Included functions/ledger/lock_shipment.sql
create or replace function ledger.lock_shipment(product_ids uuid[], warehouse_ids uuid[], bin_location_ids uuid[] default '{}') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  perform ledger.lock(product_ids, warehouse_ids, array(
    select b.id
    from ledger.stock s join erp.bin_location b on b.id = s.bin_location_id
    where s.product_id = any (product_ids) and s.location_type_technical_name in ('warehouse', 'bin_location')
      and s.quantity > 0 and b.warehouse_id = any (warehouse_ids)
    union select n.id from unnest(bin_location_ids) n (id)
  ));
end
$$;
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks that shipping products from warehouses needs, those of the bins that hold them included, after the locks of the orders. From here on nobody else changes the stock of these products.';
--! EndIncluded functions/ledger/lock_shipment.sql
--! Included functions/ledger/ship.sql
create or replace function ledger.ship(order_id uuid, picks ledger.pick[], note text, out stock_movements uuid[], out lines uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  found_units ledger.pick[];
  errors jsonb;
begin
  -- Side by side, the units that are wanted and the units that lie there form two rulers. Where a stretch of one lies
  -- over a stretch of the other, these units go to that line.
  found_units := array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        sum(p.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p where p.place is null and p.product_id is not null
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    lying as (
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type, s.quantity, b."position", b.code, a.is_batch_managed
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id and s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
      left join erp.bin_location b on b.id = s.bin_location_id
      where coalesce(s.warehouse_id, b.warehouse_id) = w.warehouse_id
    ),
    pile as (
      select l.*, b.batch_id, b.quantity as units from lying l join ledger.batch_stock b on b.stock_id = l.id
      union all
      select l.*, null, l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0)
      from lying l where not l.is_batch_managed
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity_left
      from pile p left join named n on n.product_id = p.product_id and n.place = p.place and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity_left) over (
        partition by f.product_id, f.warehouse_id
        order by case when f.is_batch_managed then f.batch_id end, f.place_type = 'warehouse', f."position" nulls last, f.code, f.batch_id nulls first
        rows unbounded preceding) as upto
      from free f where f.quantity_left > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity_left), o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity_left < w.upto
    order by w.line, o.upto
  );

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available, p.product_number, t.requested),
    picks[t.line].field, jsonb_build_object('available', t.available, 'requested', t.requested, 'productNumber', p.product_number)) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce((select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id;
  perform mutation.refuse(errors);

  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.post(array(
    select row (f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text, 'api_shipping')::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note)).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], text) is
  'Books units out to an order. What names no place is picked: the bins of the warehouse by their position, then by code, and at last what lies in no bin; of products that are kept in batches the oldest batch first. Answers the movements, and for each the line that it is for. ledger.lock_shipment comes first. User error INSUFFICIENT_STOCK, and those of ledger.post.';

create or replace function ledger.take_back(fulfillment_id uuid, note text) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.lock(
    array(
      select unnest(array[l.product_id, a.product_id, s.product_id])
      from erp.fulfillment_line_item l join erp.fulfillment_order_line_item a on a.id = l.fulfillment_order_line_item_id
      left join erp.sales_order_line_item s on s.id = a.destination_order_line_item_id
      where l.fulfillment_id = take_back.fulfillment_id
    ),
    array(
      select unnest(array[w.warehouse_id, m.source_warehouse_id, b.warehouse_id])
      from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      left join erp.location w on w.id = f.source_warehouse_location_id
      left join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      left join ledger.stock_movement m on m.id = k.stock_movement_id left join erp.bin_location b on b.id = m.source_bin_location_id
      where l.fulfillment_id = take_back.fulfillment_id
    ),
    array(
      select m.source_bin_location_id
      from erp.fulfillment_line_item l join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = take_back.fulfillment_id and m.source_bin_location_id is not null
    )
  );

  if exists (
    select from erp.fulfillment_line_item l
    where l.fulfillment_id = take_back.fulfillment_id and l.product_id is not null and l.quantity <> coalesce((
      select sum(m.quantity) from erp.fulfillment_stock_movement k join ledger.stock_movement m on m.id = k.stock_movement_id
      where k.fulfillment_line_item_id = l.id), 0)
  ) then
    perform mutation.refuse('INVALID', 'The books do not say where its units came from, so they cannot go back there.', '{id}');
  end if;
  drafts := array(
    select row ('{id}', m.product_id, u.quantity, u.batch_id, 'order', m.destination_order_id::text,
      case when m.source_bin_location_id is null then 'warehouse' else 'bin_location' end,
      coalesce(m.source_bin_location_id, m.source_warehouse_id, w.warehouse_id)::text, 'cancelled_fulfillment')::ledger.draft
    from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    left join erp.location w on w.id = f.source_warehouse_location_id
    join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
    join ledger.stock_movement m on m.id = k.stock_movement_id
    cross join lateral (
      select b.batch_id, b.quantity from ledger.stock_movement_batch b where b.stock_movement_id = m.id
      union all
      select null, m.quantity - coalesce(sum(b.quantity), 0) from ledger.stock_movement_batch b where b.stock_movement_id = m.id
    ) u
    where l.fulfillment_id = take_back.fulfillment_id and u.quantity > 0
    order by l.id, m.id, u.batch_id
  );
  if exists (select from unnest(drafts) d where d.source is null) then
    perform mutation.refuse('INVALID', 'Its order has been deleted, so nothing can come back from there.', '{id}');
  elsif exists (select from unnest(drafts) d where d.destination is null) then
    perform mutation.refuse('INVALID', 'The warehouse that its units came from has been deleted.', '{id}');
  end if;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function ledger.take_back(uuid, text) is
  'Books the units of a fulfillment back from the order to where each came from. What came from a bin that is gone comes to the part of the warehouse that has no bin. Answers the movements. User error INVALID, and those of ledger.post.';
--! EndIncluded functions/ledger/ship.sql
--! Included functions/erp/allowed_actions.sql
create or replace function erp.allowed_actions(machine text, state text) returns jsonb
language sql stable
return (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
  where t.machine = allowed_actions.machine and t.from_state = allowed_actions.state);
comment on function erp.allowed_actions(text, text) is 'The actions that a state allows, by erp.state_transition, as a JSON array.';
--! EndIncluded functions/erp/allowed_actions.sql
--! Included functions/erp/shipment.sql
create or replace function erp.require_tracking_codes(codes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if cardinality(codes) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s tracking codes; %s are allowed at once.', cardinality(codes), most),
      '{tracking_codes}', jsonb_build_object('lines', cardinality(codes), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error('OUT_OF_RANGE', 'A tracking code has 1 to 255 characters.', array['tracking_codes', (c.ordinality - 1)::text])
    order by c.ordinality)
  into errors
  from unnest(codes) with ordinality c (code) where c.code is null or length(c.code) > 255 or btrim(c.code) = '';
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_tracking_codes(text[]) is 'Refuses tracking codes that are none. User errors TOO_MANY_LINES, OUT_OF_RANGE.';

create or replace function erp.has_open_lines(fulfillment_order_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item l
  where l.fulfillment_order_id = has_open_lines.fulfillment_order_id and l.quantity > l.fulfilled_quantity
    and l.destination_order_line_item_id is not null);
comment on function erp.has_open_lines(uuid) is
  'Whether a fulfillment order has something left to ship. Lines of which the order line was deleted are not wanted any more.';

create or replace function erp.settle_order(order_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_all_shipped boolean;
begin
  select * into strict present from erp.sales_order o where o.id = order_id;
  wanted := present;
  is_all_shipped := not exists (
      select from erp.sales_order_line_item l where l.order_id = present.id and l.type = 'product' and l.shipped_quantity < l.quantity)
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold') and erp.has_open_lines(f.id));
  -- An order without a delivery has one as soon as something of it is shipped
  wanted.delivery_state := erp.next_state('order_delivery', case when is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  if wanted.state <> 'in_progress' then
    wanted.state := erp.next_state('order', 'process', wanted.state);
  end if;
  if is_all_shipped then
    wanted.state := erp.next_state('order', 'complete', wanted.state);
  end if;
  update erp.sales_order o set state = wanted.state, delivery_state = wanted.delivery_state where o.id = present.id;
end
$$;
comment on function erp.settle_order(uuid) is
  'Brings the states of an order up to date after something of it was shipped: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';

create or replace function erp.unsettle_order(order_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_some_shipped boolean;
begin
  select * into strict present from erp.sales_order o where o.id = order_id;
  wanted := present;
  is_some_shipped := exists (
      select from erp.sales_order_line_item l where l.order_id = present.id and l.type = 'product' and l.shipped_quantity > 0)
    or exists (
      select from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.destination_order_id = present.id and l.fulfilled_quantity > 0);
  -- What was called off stays so: parcels that come back do not bring the order back
  if present.delivery_state <> 'cancelled' then
    wanted.delivery_state := erp.next_state('order_delivery', case when is_some_shipped then 'unship_partially' else 'unship' end, present.delivery_state);
  end if;
  if present.state = 'cancelled' then
    if wanted.delivery_state = 'open' then
      wanted.delivery_state := erp.next_state('order_delivery', 'cancel', wanted.delivery_state);
    end if;
  elsif is_some_shipped and present.state = 'completed' then
    wanted.state := erp.next_state('order', 'process', erp.next_state('order', 'reopen', present.state));
  elsif not is_some_shipped and present.state <> 'open' then
    wanted.state := erp.next_state('order', case present.state when 'completed' then 'reopen' else 'stop' end, present.state);
  end if;
  update erp.sales_order o set state = wanted.state, delivery_state = wanted.delivery_state where o.id = present.id;
end
$$;
comment on function erp.unsettle_order(uuid) is
  'Brings the states of an order up to date after a fulfillment of it was cancelled: open when nothing is shipped any more, else in progress. A cancelled order stays cancelled. User error INVALID_STATE_TRANSITION.';

create or replace function erp.ship(order_id uuid, picks ledger.pick[], tracking_codes text[], note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made uuid;
  fulfillment_orders uuid[];
begin
  select * into booked from ledger.ship(order_id, picks, note);
  fulfillment_orders := array(
    select distinct l.fulfillment_order_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id order by 1);
  -- Last of all locks, for it keeps everybody waiting who ships something
  insert into erp.fulfillment (number) values (erp.next_number('fulfillment')) returning id into made;
  insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id) select f.id, made from unnest(fulfillment_orders) f (id);
  with shipped as (
    insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, product_id, quantity)
    select made, l.fulfillment_order_id, l.id, l.product_id, p.quantity
    from (select p.line_id, min(p.ordinality) as position, sum(p.quantity) as quantity from unnest(picks) with ordinality p group by p.line_id) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id order by p.position
    returning id, fulfillment_order_line_item_id
  )
  insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
  select s.id, m.id
  from unnest(booked.stock_movements, booked.lines) m (id, line_id) join shipped s on s.fulfillment_order_line_item_id = m.line_id;

  update erp.fulfillment_order f
  set state = erp.next_state('fulfillment_order', case when w.is_open then 'start' else 'close' end, f.state)
  from (select n.id, erp.has_open_lines(n.id) as is_open from unnest(fulfillment_orders) n (id)) w
  where f.id = w.id and (f.state = 'Open' or not w.is_open);
  if cardinality(tracking_codes) > 0 then
    update erp.sales_order o set entered_tracking_codes = o.entered_tracking_codes || ship.tracking_codes where o.id = order_id;
  end if;
  perform erp.settle_order(order_id);
  return row (order_id, array[made], fulfillment_orders, booked.stock_movements)::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], text[], text) is
  'Ships units of fulfillment orders of one order: books them out, records the fulfillment, closes what is fulfilled. Whoever calls holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
--! EndIncluded functions/erp/shipment.sql
--! Included functions/erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[], note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  source_location_id uuid;
  source_warehouse_id uuid;
  picks ledger.pick[];
  -- Units of order lines that no fulfillment order is to ship
  uncovered ledger.change[];
  made uuid;
  errors jsonb;
begin
  perform erp.require_tracking_codes(tracking_codes);
  select jsonb_agg(mutation.user_error(case when d.nth > 1 then 'NOT_UNIQUE' else 'INVALID' end,
    case when d.nth > 1 then 'This type is in the list already.' else format('There is no type of documents named %s.', d.name) end,
    array['documents', (d.position - 1)::text]) order by d.position)
  into errors
  from (
    select d.name, d.position, row_number() over (partition by d.name order by d.position) as nth
    from unnest(documents) with ordinality d (name, position)
  ) d
  where d.nth > 1 or not exists (select from erp.document_type t where t.technical_name = d.name);
  perform mutation.refuse(errors);

  select * into present from erp.sales_order o where o.id = order_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.', '{order_id}');
  end if;
  if present.state <> 'in_progress' then
    perform erp.next_state('order', 'process', present.state);
  end if;
  perform ledger.lock_orders('{}', array(select f.id from erp.fulfillment_order f where f.destination_order_id = present.id));
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = present.id and f.type = 'WarehouseLocationToOrder' and f.state = 'OnHold'
  ) then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l
  where l.id in (select f.source_warehouse_location_id from erp.fulfillment_order f where f.destination_order_id = present.id)
  order by l.id for key share;
  picks := array(
    select row ('{order_id}', l.id, l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity, null, null, null)::ledger.pick
    from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    left join erp.location w on w.id = f.source_warehouse_location_id
    where f.destination_order_id = present.id and f.type = 'WarehouseLocationToOrder' and f.state in ('Open', 'InProgress')
      and l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null
    order by l.id
  );
  uncovered := array(
    select row (l.id, l.product_id, l.quantity - l.shipped_quantity - c.quantity)::ledger.change
    from erp.sales_order_line_item l
    cross join lateral (
      select coalesce(sum(a.quantity - a.fulfilled_quantity), 0) as quantity
      from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
      where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
    ) c
    where l.order_id = present.id and l.type = 'product' and l.quantity > l.shipped_quantity + c.quantity
    order by l."position", l.id
  );
  if cardinality(picks) + cardinality(uncovered) = 0 then
    if exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold') and erp.has_open_lines(f.id)
    ) then
      perform mutation.refuse('EXTERNALLY_MANAGED', 'What is left to ship is shipped by somebody else.', '{order_id}');
    end if;
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{order_id}',
      jsonb_build_object('state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)));
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  if cardinality(uncovered) > 0 then
    select l.id, l.warehouse_id into source_location_id, source_warehouse_id
    from erp.location l join erp.warehouse w on w.id = l.warehouse_id where w.is_default and l.active for key share of l;
    if not found then
      perform mutation.refuse('INVALID', 'The default warehouse has no active location to ship from.', '{order_id}');
    end if;
  end if;

  perform ledger.lock_shipment(
    array(
      select p.product_id from unnest(picks) p where p.product_id is not null
      union
      select s.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id where s.product_id is not null
      union
      select u.item_id from unnest(uncovered) u where u.item_id is not null
    ),
    array(select p.warehouse_id from unnest(picks) p union select source_warehouse_id)
  );
  if cardinality(uncovered) > 0 then
    insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id, shipping_method_id, shipping_method_name, shipping_address)
    select erp.next_number('fulfillment_order'), present.id, source_location_id, m.id, m.name ->> 'en-GB', present.shipping_address
    from (select) o left join erp.shipping_method m on m.id = present.shipping_method_id
    returning id into made;
    with assigned as (
      insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
      select made, u.owner_id, u.item_id, u.quantity from unnest(uncovered) with ordinality u order by u.ordinality
      returning id, product_id, quantity
    )
    select picks || array_agg(row ('{order_id}', a.id, a.product_id, source_warehouse_id, a.quantity, null, null, null)::ledger.pick order by a.id)
    into picks from assigned a;
  end if;
  return erp.ship(present.id, picks, tracking_codes, note);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text) is
  'Ships all that is open of an order, from the warehouses that it is assigned to, and from the default warehouse what is assigned to none. What somebody else ships is left to them. Documents are only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES.';

create or replace function erp.create_documents(order_id uuid, documents text[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  name text;
  made uuid[] := '{}';
begin
  foreach name in array coalesce(documents, '{}') loop
    made := made || erp.create_document(order_id, name);
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[]) is 'Makes one document of each type for an order. Answers their ids.';
--! EndIncluded functions/erp/complete_shipment.sql
--! Included functions/erp/fulfillment_order.sql
create or replace function erp.lock_fulfillment_order(fulfillment_order_id uuid, field text[]) returns erp.fulfillment_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
begin
  select * into present from erp.fulfillment_order f where f.id = fulfillment_order_id;
  if found then
    perform ledger.lock_orders(array[present.destination_order_id], array[fulfillment_order_id]);
    select * into present from erp.fulfillment_order f where f.id = fulfillment_order_id;
  end if;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such fulfillment order.', field);
  end if;
  if present.type = 'ExternalToOrder' then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'Somebody else works on this fulfillment order.', field);
  end if;
  return present;
end
$$;
comment on function erp.lock_fulfillment_order(uuid, text[]) is
  'Takes the locks of a fulfillment order and its order, and answers it. User errors NOT_FOUND, EXTERNALLY_MANAGED.';

create or replace function erp.change_fulfillment_order(fulfillment_order_id uuid, action text, note text default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.fulfillment_order := erp.lock_fulfillment_order(fulfillment_order_id, '{id}');
  wanted text := erp.next_state('fulfillment_order', action, present.state);
begin
  if length(note) > 1000 then
    perform mutation.refuse('OUT_OF_RANGE', 'The comment has more than 1,000 characters.', '{comment}');
  end if;
  -- Who was at work before the hold is at work again
  if action = 'release_hold' and present.state_before_hold = 'InProgress' then
    wanted := erp.next_state('fulfillment_order', 'start', wanted);
  end if;
  update erp.fulfillment_order f
  set state = wanted, state_before_hold = case when action = 'hold' then present.state end, hold_comment = case when action = 'hold' then note end
  where f.id = present.id;
  return present.id;
end
$$;
comment on function erp.change_fulfillment_order(uuid, text, text) is
  'Does an action of the machine fulfillment_order of erp.state_transition: start, hold, release_hold or cancel. Answers the id. User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, OUT_OF_RANGE.';
--! EndIncluded functions/erp/fulfillment_order.sql
--! Included functions/erp/fulfillment.sql
create or replace function erp.create_fulfillment(fulfillment_order_id uuid, lines erp.shipping_line[], places erp.shipping_place[],
  tracking_codes text[], note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  present erp.fulfillment_order;
  order_state text;
  source_id uuid;
  picks ledger.pick[];
  errors jsonb;
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed. Leave the list out to fulfill all that is open.', '{lines}');
  elsif greatest(cardinality(lines), cardinality(places)) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s lines with %s places; %s are allowed at once.', cardinality(lines), cardinality(places), most),
      '{lines}', jsonb_build_object('lines', greatest(cardinality(lines), cardinality(places)), 'maximum', most));
  end if;
  perform erp.require_tracking_codes(tracking_codes);
  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where l.quantity < 1
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line is about the same.', '{fulfillment_order_line_item_id}'
    from (select l.*, row_number() over (partition by l.id order by l.ordinality) as nth from unnest(lines) with ordinality l) l where l.nth > 1
    union all
    select p.line, 'INVALID', 'Name a warehouse or a bin, and not both.', array['places', (p.nth - 1)::text, 'place']
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', array['places', (p.nth - 1)::text, 'quantity']
    from unnest(places) p where p.quantity < 1
    union all
    select l.ordinality, 'INVALID', format('The places have %s units together, the line has %s.', p.quantity, l.quantity), '{places}'
    from unnest(lines) with ordinality l join (select p.line, sum(p.quantity) as quantity from unnest(places) p group by p.line) p on p.line = l.ordinality
    where p.quantity <> l.quantity
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  present := erp.lock_fulfillment_order(fulfillment_order_id, '{fulfillment_order_id}');
  if present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold.', '{fulfillment_order_id}');
  end if;
  perform erp.next_state('fulfillment_order', 'close', present.state);
  select o.state into order_state from erp.sales_order o where o.id = present.destination_order_id;
  if not found then
    perform mutation.refuse('INVALID', 'Its order has been deleted: there is nobody to ship to.', '{fulfillment_order_id}');
  elsif order_state <> 'in_progress' then
    perform erp.next_state('order', 'process', order_state);
  end if;

  if lines is null then
    picks := array(
      select row ('{fulfillment_order_id}', l.id, l.product_id, null, l.quantity - l.fulfilled_quantity, null, null, null)::ledger.pick
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = present.id and l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null order by l.id
    );
    if cardinality(picks) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{fulfillment_order_id}',
        jsonb_build_object('state', present.state, 'allowedActions', erp.allowed_actions('fulfillment_order', present.state)));
    end if;
  else
    select jsonb_agg(case
      when a.id is null then mutation.user_error('NOT_FOUND', 'The fulfillment order has no such line.',
        array['lines', (l.ordinality - 1)::text, 'fulfillment_order_line_item_id'])
      else mutation.user_error('OVER_FULFILLMENT', format('%s units are open, not %s.', a.quantity - a.fulfilled_quantity, l.quantity),
        array['lines', (l.ordinality - 1)::text, 'quantity'],
        jsonb_build_object('open', a.quantity - a.fulfilled_quantity, 'requested', l.quantity))
      end order by l.ordinality)
    into errors
    from unnest(lines) with ordinality l
    left join erp.fulfillment_order_line_item a on a.id = l.id and a.fulfillment_order_id = present.id
    where a.id is null or l.quantity > a.quantity - a.fulfilled_quantity;
    perform mutation.refuse(errors);
    picks := array(
      select row (array['lines', (l.ordinality - 1)::text] || case when p.line is null then '{quantity}'::text[]
        else array['places', (p.nth - 1)::text, 'quantity'] end, l.id, a.product_id, null, coalesce(p.quantity, l.quantity),
        case when p.warehouse_id is not null then 'warehouse' when p.bin_location_id is not null then 'bin_location' end,
        coalesce(p.warehouse_id, p.bin_location_id)::text, p.batch_id)::ledger.pick
      from unnest(lines) with ordinality l join erp.fulfillment_order_line_item a on a.id = l.id
      left join unnest(places) p on p.line = l.ordinality order by l.ordinality, p.nth
    );
  end if;

  select l.warehouse_id into source_id from erp.location l where l.id = present.source_warehouse_location_id for key share;
  if source_id is null and exists (select from unnest(picks) p where p.product_id is not null) then
    perform mutation.refuse('INVALID', 'The fulfillment order has no warehouse to ship from.', '{fulfillment_order_id}');
  end if;
  picks := array(
    select row (p.field, p.line_id, p.product_id, source_id, p.quantity, p.place_type, p.place, p.batch_id)::ledger.pick
    from unnest(picks) with ordinality p order by p.ordinality);
  perform ledger.lock_shipment(
    array(
      select p.product_id from unnest(picks) p where p.product_id is not null
      union
      select s.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id where s.product_id is not null
    ),
    array[source_id],
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null)
  );
  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text, 'places', (e.nth - 1)::text] || e.field) order by e.line, e.nth)
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p where p.bin_location_id is not null and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p left join erp.bin_location b on b.id = p.bin_location_id left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could lie there.', '{place}'
    from unnest(places) p join erp.fulfillment_order_line_item l on l.id = lines[p.line].id where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(places) p join erp.batch b on b.id = p.batch_id join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
  return erp.ship(present.destination_order_id, picks, tracking_codes, note);
end
$$;
comment on function erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text) is
  'Ships some of what a fulfillment order has open, or all when lines is null, from the places that are named or, where none is, from those that are next on the pick route. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_REQUIRED, INSUFFICIENT_STOCK.';

create or replace function erp.cancel_fulfillment(fulfillment_id uuid, note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment;
  wanted text;
  orders uuid[];
  fulfillment_orders uuid[];
  stock_movements uuid[];
begin
  fulfillment_orders := array(
    select p.fulfillment_order_id from erp.fulfillment_order_fulfillment p where p.fulfillment_id = cancel_fulfillment.fulfillment_id order by 1);
  orders := array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (fulfillment_orders) and f.destination_order_id is not null order by 1);
  perform ledger.lock_orders(orders, fulfillment_orders);
  select * into present from erp.fulfillment f where f.id = fulfillment_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such fulfillment.', '{id}');
  elsif exists (select from erp.fulfillment_order f where f.id = any (fulfillment_orders) and f.type = 'ExternalToOrder') then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'Somebody else has shipped it.', '{id}');
  end if;
  wanted := erp.next_state('fulfillment', 'cancel', present.state);
  perform from erp.location l
  where l.id in (select f.source_warehouse_location_id from erp.fulfillment_order f where f.id = any (fulfillment_orders)) order by l.id for key share;

  stock_movements := ledger.take_back(present.id, note);
  update erp.fulfillment f set state = wanted where f.id = present.id;
  -- Nobody is to work on an order that was called off
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'reopen', f.state)
  from erp.sales_order o where f.id = any (fulfillment_orders) and f.state = 'Closed' and o.id = f.destination_order_id and o.state <> 'cancelled';
  perform erp.unsettle_order(o.id) from unnest(orders) o (id);
  return row (orders[1], array[present.id], fulfillment_orders, stock_movements)::erp.shipment;
end
$$;
comment on function erp.cancel_fulfillment(uuid, text) is
  'Cancels a fulfillment: books its units back, and opens its quantities again. User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID, INVALID_STATE_TRANSITION, and those of ledger.take_back.';
--! EndIncluded functions/erp/fulfillment.sql

select api_meta.allow('service_ledger', 'erp.fulfillment_stock_movement', 'select');
select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.lock_shipment(uuid[], uuid[], uuid[])', 'ledger.ship(uuid, ledger.pick[], text)', 'ledger.take_back(uuid, text)']::regprocedure[]) routine;
select api_meta.allow('service_writer', 'erp.sales_order', 'select', 'update (state, delivery_state, entered_tracking_codes)');
select api_meta.allow('service_writer', 'erp.fulfillment_order', 'select', 'insert', 'update (state, state_before_hold, hold_comment)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_line_item', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment', 'select', 'insert', 'update (state)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_fulfillment', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment_line_item', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment_stock_movement', 'select', 'insert');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.sales_order_line_item', 'erp.shipping_method', 'erp.document_type', 'erp.batch']::regclass[]) relation;
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]), ledger.ship(uuid, ledger.pick[], text), ledger.take_back(uuid, text),
  erp.allowed_actions(text, text), erp.require_tracking_codes(text[]), erp.has_open_lines(uuid), erp.settle_order(uuid), erp.unsettle_order(uuid),
  erp.ship(uuid, ledger.pick[], text[], text), erp.complete_shipment(uuid, text[], text[], text), erp.create_documents(uuid, text[]),
  erp.lock_fulfillment_order(uuid, text[]), erp.change_fulfillment_order(uuid, text, text),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text), erp.cancel_fulfillment(uuid, text) to service_writer;

--! Included functions/api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_unstable.order_shipment_complete_payload."order" is E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders that were fulfilled, one that was made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\nThe movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is E'@entity Document\nThe documents that were made, in the order in which they were asked for.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is 'Why nothing was shipped; empty when all was.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (order_id uuid, tracking_codes text[], documents text[], comment text);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make of the order, by technical names of document types, for example invoice and delivery_note.';
comment on column api_unstable.order_shipment_complete_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(input.order_id, input.tracking_codes, input.documents, input.comment);
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents), null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED
Ships everything that is still open of an order: its open fulfillment orders, each from the warehouse of its location, and what no fulfillment order covers from the default warehouse. Units are picked from the bins by their position, then by code, and at last from what lies in no bin; of products that are kept in batches, the oldest batch first. Books them out by the process api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing.$$;
--! EndIncluded functions/api/order_shipment_complete.sql
--! Included functions/api/fulfillment_order.sql
drop type if exists api_unstable.fulfillment_order_payload cascade;
create type api_unstable.fulfillment_order_payload as (fulfillment_order uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.fulfillment_order_payload is 'What changing the state of a fulfillment order answers.';
comment on column api_unstable.fulfillment_order_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_order_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.fulfillment_order_hold_input cascade;
create type api_unstable.fulfillment_order_hold_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_order_hold_input is 'A fulfillment order to put on hold.';
comment on column api_unstable.fulfillment_order_hold_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_order_hold_input.comment is 'Why it has to wait, in at most 1,000 characters. Kept until the hold is released.';

create function api_unstable.fulfillment_order_hold(input api_unstable.fulfillment_order_hold_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'hold', input.comment), null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_hold(api_unstable.fulfillment_order_hold_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION OUT_OF_RANGE
Puts a fulfillment order on hold that is open or in progress: nothing of it can be shipped until the hold is released.$$;

drop type if exists api_unstable.fulfillment_order_release_hold_input cascade;
create type api_unstable.fulfillment_order_release_hold_input as (id uuid);
comment on type api_unstable.fulfillment_order_release_hold_input is 'A fulfillment order to go on with.';
comment on column api_unstable.fulfillment_order_release_hold_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_release_hold(input api_unstable.fulfillment_order_release_hold_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'release_hold'), null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_release_hold(api_unstable.fulfillment_order_release_hold_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Releases a fulfillment order from its hold. It is open or in progress again, as it was before.$$;

drop type if exists api_unstable.fulfillment_order_start_input cascade;
create type api_unstable.fulfillment_order_start_input as (id uuid);
comment on type api_unstable.fulfillment_order_start_input is 'A fulfillment order to start with.';
comment on column api_unstable.fulfillment_order_start_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_start(input api_unstable.fulfillment_order_start_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'start'), null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_start(api_unstable.fulfillment_order_start_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Tells that work on an open fulfillment order has begun.$$;

drop type if exists api_unstable.fulfillment_order_cancel_input cascade;
create type api_unstable.fulfillment_order_cancel_input as (id uuid);
comment on type api_unstable.fulfillment_order_cancel_input is 'A fulfillment order to cancel.';
comment on column api_unstable.fulfillment_order_cancel_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_cancel(input api_unstable.fulfillment_order_cancel_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'cancel'), null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_cancel(api_unstable.fulfillment_order_cancel_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Cancels a fulfillment order: what is open of it is no longer to be shipped from its location, and can be shipped from another one. What was shipped stays shipped.$$;
--! EndIncluded functions/api/fulfillment_order.sql
--! Included functions/api/fulfillment.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.fulfillment_create_payload is 'What shipping from a fulfillment order answers.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\nThe movements that took the units to the order: first those from places that were named, then those that were picked.';
comment on column api_unstable.fulfillment_create_payload.user_errors is 'Why nothing was shipped; empty when it was.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is E'@notNull\nWhere they lie: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Where the units are taken from, the whole quantity. Left out, they are picked: the bins by their position, then by code, and at last what lies in no bin; of products that are kept in batches, the oldest batch first.';
create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'What of a fulfillment order is shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input) returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line from unnest(input.lines) with ordinality l order by l.ordinality
    ) end,
    array(
      select row (l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id)::erp.shipping_place
      from unnest(input.lines) with ordinality l cross join unnest(l.places) with ordinality p order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_REQUIRED
Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when nothing is open any more; the states of the order follow.$$;

drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'What cancelling a fulfillment answers.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input) returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK BATCH_REQUIRED OUT_OF_RANGE
Cancels a fulfillment: books its units back to where they came from, by the process cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed fulfillment orders too, and the states of the order go back. Tracking codes stay.$$;
--! EndIncluded functions/api/fulfillment.sql

-- The version of June ships too. 0300-mutations.sql has removed what an earlier run made of this.
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

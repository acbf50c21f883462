--! Previous: sha1:f80c69872fc6b4dc3427a9fbadd1f619f6f35034
--! Hash: sha1:e46c1d578b47eb281e21552809c8beade3f890eb
--! Message: Keep promised units until they are shipped, delete files of labels by age, and calculate costs of orders once

--! split: 10-hold.sql
drop table if exists ledger.named_reservation cascade;
create table ledger.named_reservation (
  reservation_id uuid primary key references erp.stock_reservation on delete cascade,
  product_id uuid not null,
  warehouse_id uuid not null
);
create index named_reservation_product_id_warehouse_id_idx
  on ledger.named_reservation (product_id, warehouse_id);
comment on index ledger.named_reservation_product_id_warehouse_id_idx is 'For ledger.pick_units.';
alter table ledger.named_reservation enable row level security;
comment on table ledger.named_reservation is
  'Reservations that name a bin or a batch, until they owe no more units: the few that shipments look at. '
  'The next such reservation of the product deletes those that have ended.';
comment on column ledger.named_reservation.reservation_id is 'The reservation.';
comment on column ledger.named_reservation.product_id is 'Its product.';
comment on column ledger.named_reservation.warehouse_id is 'Its warehouse.';
select api_meta.allow('service_ledger', 'ledger.named_reservation', 'select', 'insert', 'update', 'delete');
--! Included ledger/may_owe_units.sql
create or replace function ledger.may_owe_units(reservation erp.stock_reservation) returns boolean
language sql stable
return num_nonnulls(reservation.bin_location_id, reservation.batch_id) > 0 and (
  reservation.open_quantity > 0 or reservation.state = 'consumed' and exists (
    select from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
    where l.id = reservation.order_line_item_id and l.shipped_quantity < l.quantity
      and o.state in ('open', 'in_progress')));
comment on function ledger.may_owe_units(erp.stock_reservation) is
  'Returns whether a reservation names a bin or a batch, and has units that are perhaps still to be shipped.';
grant execute on function ledger.may_owe_units(erp.stock_reservation) to service_ledger;
--! EndIncluded ledger/may_owe_units.sql
--! Included ledger/named_units.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.named_units(order_line_item_id uuid, picked bigint)
returns table (
  id uuid, product_id uuid, warehouse_id uuid, bin_location_id uuid, batch_id uuid, units bigint
)
language sql stable
begin atomic
  select r.id, r.product_id, r.warehouse_id, r.bin_location_id, r.batch_id,
    -- Shipped units were promised ones, of the oldest reservation first
    least(r.quantity, greatest(
      sum(r.quantity) over line - first_value(s.units) over line, r.quantity - s.units) - picked)
  from erp.stock_reservation r
  cross join lateral (
    select coalesce(sum(i.quantity), 0) as units
    from erp.fulfillment_order_line_item a
    join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    join erp.location w on w.id = f.source_warehouse_location_id and w.warehouse_id = r.warehouse_id
    join erp.fulfillment_line_item i on i.fulfillment_order_line_item_id = a.id and i.id > r.id
    join erp.fulfillment x on x.id = i.fulfillment_id and x.state = 'Fulfilled'
    where a.destination_order_line_item_id = r.order_line_item_id
  ) s
  where r.order_line_item_id = named_units.order_line_item_id and r.state in ('active', 'consumed')
    and num_nonnulls(r.bin_location_id, r.batch_id) > 0
  window line as (partition by r.product_id, r.warehouse_id order by r.id);
end;
comment on function ledger.named_units(uuid, bigint) is
  'Returns the reservations of an order line that name a bin or a batch, with their units that are still to '
  'be shipped, 0 or less if none are. What their warehouse has shipped of the line since then counts as '
  'promised. Units that are picked count, too.';
grant execute on function ledger.named_units(uuid, bigint) to service_ledger;
--! EndIncluded ledger/named_units.sql
--! Included ledger/named_promises.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.named_promises(
  product_ids uuid[], warehouse_ids uuid[], picks ledger.pick[] default '{}'
)
returns setof ledger.reservation_line
language sql stable
begin atomic
  select r.product_id, r.warehouse_id, r.bin_location_id, (o.units + coalesce(t.units, 0))::integer,
    r.batch_id, r.order_line_item_id
  from (
    select distinct w.product_id, w.warehouse_id
    from unnest(named_promises.product_ids, named_promises.warehouse_ids) w (product_id, warehouse_id)
  ) w
  join ledger.named_reservation n on n.product_id = w.product_id and n.warehouse_id = w.warehouse_id
  join erp.stock_reservation r on r.id = n.reservation_id
    and num_nonnulls(r.bin_location_id, r.batch_id) > 0
  cross join lateral (
    values (case when r.expires_at <= ledger.moment_of_statement() then 0 else r.open_quantity end)
  ) o (units)
  -- Units that fulfillment orders took over, and that no pick list has
  left join lateral (
    select greatest(0, least(u.units - r.open_quantity, a.units)) as units
    from (
      select sum(l.quantity - l.fulfilled_quantity) - coalesce(sum(k.units), 0) as units,
        coalesce(sum(k.units), 0) as listed
      from erp.fulfillment_order_line_item l
      join erp.fulfillment_order f on f.id = l.fulfillment_order_id
        and f.state in ('Open', 'InProgress', 'OnHold')
      join erp.location x on x.id = f.source_warehouse_location_id and x.warehouse_id = r.warehouse_id
      cross join lateral (
        select sum(case k.state when 'open' then k.quantity else k.picked_quantity end - k.packed_quantity)
          as units
        from erp.pick_list_line k join erp.pick_task t on t.id = k.pick_task_id and t.state = 'open'
        where k.fulfillment_order_line_item_id = l.id
      ) k
      -- Older ones had their units before
      where l.destination_order_line_item_id = r.order_line_item_id and l.id > r.id
    ) a
    cross join lateral ledger.named_units(r.order_line_item_id, (a.listed + coalesce((
      select sum(p.quantity)
      from unnest(named_promises.picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      where p.place is null and p.warehouse_id = r.warehouse_id
        and l.destination_order_line_item_id = r.order_line_item_id), 0))::bigint) u
    where a.units > 0 and u.id = r.id
  ) t on r.state in ('active', 'consumed') and r.quantity > r.open_quantity;
end;
comment on function ledger.named_promises(uuid[], uuid[], ledger.pick[]) is
  'Returns the reservations that name a bin or a batch, of products, each in the warehouse with the same '
  'number. Their quantities are the units that are still reserved, and those that fulfillment orders took '
  'over and have not shipped. Units of pick lists and of the given picks are left out.';
grant execute on function ledger.named_promises(uuid[], uuid[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/named_promises.sql
--! Included ledger/promised_places.sql
create or replace function ledger.promised_places(
  product_ids uuid[], warehouse_ids uuid[], picks ledger.pick[]
)
returns ledger.reservation_line[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (d.product_id, d.warehouse_id, d.bin_location_id, null, d.batch_id,
      null)::ledger.reservation_line
    from (
      select distinct r.product_id, r.warehouse_id, r.bin_location_id, r.batch_id
      from ledger.named_reservation n join erp.stock_reservation r on r.id = n.reservation_id
      where n.product_id = any (product_ids) and n.warehouse_id = any (warehouse_ids)
    ) d
    -- The first promise that counts is enough
    where exists (
      select from ledger.named_promises(array[d.product_id], array[d.warehouse_id], picks) n
      where n.bin_location_id is not distinct from d.bin_location_id
        and n.batch_id is not distinct from d.batch_id and n.quantity > 0));
end
$$;
comment on function ledger.promised_places(uuid[], uuid[], ledger.pick[]) is
  'Returns the bins and batches that have units of ledger.named_promises, each once and without a quantity. '
  'Units of the given picks are left out.';
grant execute on function ledger.promised_places(uuid[], uuid[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/promised_places.sql
--! Included ledger/keep_reservation_figures.sql
create or replace function ledger.keep_reservation_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By warehouse and product, with the units that no order line has
  promised ledger.change[];
  reserved ledger.change[];
  -- Order lines for which more is reserved than before
  lines uuid[];
begin
  if tg_op = 'INSERT' then
    promised := array(select row (n.warehouse_id, n.product_id, n.open_quantity)::ledger.change
      from new_rows n where n.open_quantity > 0);
    reserved := array(select row (null, n.product_id, n.open_quantity)::ledger.change
      from new_rows n where n.open_quantity > 0 and n.order_line_item_id is null);
    lines := array(select n.order_line_item_id from new_rows n
      where n.open_quantity > 0 and n.order_line_item_id is not null);
    delete from ledger.named_reservation x using erp.stock_reservation r
    where x.product_id in (
      select n.product_id from new_rows n where num_nonnulls(n.bin_location_id, n.batch_id) > 0
    ) and r.id = x.reservation_id and not ledger.may_owe_units(r);
  elsif tg_op = 'DELETE' then
    promised := array(select row (o.warehouse_id, o.product_id, - o.open_quantity)::ledger.change
      from old_rows o where o.open_quantity > 0);
    reserved := array(select row (null, o.product_id, - o.open_quantity)::ledger.change
      from old_rows o where o.open_quantity > 0 and o.order_line_item_id is null);
  else
    promised := array(select row (x.warehouse_id, x.product_id, x.units)::ledger.change
      from (select n.warehouse_id, n.product_id, n.open_quantity as units from new_rows n
        union all select o.warehouse_id, o.product_id, - o.open_quantity from old_rows o) x
      where x.units <> 0);
    reserved := array(select row (null, x.product_id, x.units)::ledger.change
      from (select n.order_line_item_id, n.product_id, n.open_quantity as units from new_rows n
        union all select o.order_line_item_id, o.product_id, - o.open_quantity from old_rows o) x
      where x.units <> 0 and x.order_line_item_id is null);
    lines := array(select n.order_line_item_id from new_rows n join old_rows o on o.id = n.id
      where n.order_line_item_id is not null and n.open_quantity > 0
        and (n.open_quantity > o.open_quantity or n.order_line_item_id is distinct from o.order_line_item_id
          or n.product_id <> o.product_id));
  end if;
  if tg_op <> 'DELETE' then
    insert into ledger.named_reservation as x (reservation_id, product_id, warehouse_id)
    select n.id, n.product_id, n.warehouse_id from new_rows n
    where num_nonnulls(n.bin_location_id, n.batch_id) > 0 and (tg_op = 'INSERT' or n.open_quantity > 0)
    on conflict (reservation_id) do update
      set product_id = excluded.product_id, warehouse_id = excluded.warehouse_id
      where (x.product_id, x.warehouse_id) <> (excluded.product_id, excluded.warehouse_id);
  end if;
  if lines <> '{}' then
    perform ledger.require_open_lines(lines);
  end if;
  perform ledger.change_promised_stock(promised);
  perform ledger.change_reserved_stock(reserved);
  return null;
end
$$;
comment on function ledger.keep_reservation_figures() is
  'Trigger after reservations changed, by any writer: updates the reserved quantities of warehouses, and the '
  'reserved stock of products by reservations without an order line. Keeps ledger.named_reservation. '
  'Refuses more units of an order line than it has open without a fulfillment order.';
select api_meta.plan_by_index('ledger.keep_reservation_figures()');
select api_meta.give('ledger.keep_reservation_figures()', 'service_ledger');
--! EndIncluded ledger/keep_reservation_figures.sql
--! Included ledger/change_fulfilled_quantities.sql
create or replace function ledger.change_fulfilled_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders_of(changes);
  update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + c.quantity
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id
    having sum(c.quantity) <> 0
  ) c
  where l.id = c.item_id and exists (select from erp.fulfillment_order f where f.id = l.fulfillment_order_id);
  -- Reservations name the units again that come back
  if exists (select from unnest(changes) c where c.quantity < 0) then
    insert into ledger.named_reservation (reservation_id, product_id, warehouse_id)
    select distinct r.id, r.product_id, r.warehouse_id
    from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id
    join erp.stock_reservation r on r.order_line_item_id = l.destination_order_line_item_id
    where c.quantity < 0 and r.state in ('active', 'consumed')
      and num_nonnulls(r.bin_location_id, r.batch_id) > 0
    on conflict do nothing;
  end if;
end
$$;
comment on function ledger.change_fulfilled_quantities(ledger.change[]) is
  'Adds to the fulfilled quantities of the items, which are lines of fulfillment orders.';
grant execute on function ledger.change_fulfilled_quantities(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_fulfilled_quantities.sql
--! Included ledger/promised_picks.sql
create or replace function ledger.promised_picks(picks ledger.pick[], own ledger.pick[])
returns ledger.pick[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  named ledger.pick[];
  found_units ledger.pick[] := '{}';
  d record;
begin
  for d in
    select p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity, r.bin_location_id, r.batch_id,
      r.units as promised
    from unnest(picks) with ordinality p join erp.fulfillment_order_line_item l on l.id = p.line_id
    cross join lateral ledger.named_units(l.destination_order_line_item_id, 0) r
    where p.place is null and r.product_id = p.product_id and r.warehouse_id = p.warehouse_id
    order by p.ordinality, r.id
  loop
    named := coalesce(named, array(select p from unnest(picks) p where p.place is not null));
    d.quantity := least(d.promised, d.quantity - coalesce((
      select sum(f.quantity) from unnest(own || found_units) f where f.line_id = d.line_id), 0));
    if d.quantity > 0 then
      found_units := found_units || ledger.pick_units(
        row (d.field, d.line_id, d.product_id, d.warehouse_id, d.quantity, null, null, null)::ledger.pick
          || named || found_units, d.bin_location_id, d.batch_id);
    end if;
  end loop;
  return found_units;
end
$$;
comment on function ledger.promised_picks(ledger.pick[], ledger.pick[]) is
  'Returns units of picks without a place that reservations of their order lines name by bin or batch. Own '
  'picks have been found before. Reservations that a fulfillment order consumed still say what to pick.';
grant execute on function ledger.promised_picks(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/promised_picks.sql
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(
  picks ledger.pick[], only_bin uuid default null, only_batch uuid default null
)
returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  products uuid[];
  warehouses uuid[];
  own ledger.pick[] := '{}';
  are_named boolean;
  promised ledger.reservation_line[];
begin
  select array_agg(p.product_id), array_agg(p.warehouse_id), bool_or(exists (
    select from ledger.named_reservation n
    where n.product_id = p.product_id and n.warehouse_id = p.warehouse_id))
  into products, warehouses, are_named
  from unnest(picks) p where p.place is null and p.product_id is not null;
  promised := case when are_named then ledger.promised_places(products, warehouses, picks) end;
  -- Few lines have units of their own, by a container of their fulfillment order or by a promise
  if num_nonnulls(only_bin, only_batch) = 0 and (are_named or exists (
    select from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
    where exists (select from erp.stock_container c where c.fulfillment_order_id = l.fulfillment_order_id)
  )) then
    own := ledger.own_picks(picks);
    own := own || ledger.promised_picks(picks, own);
  end if;
  -- Wanted and stored units form two rulers, side by side. Where both overlap, units go to that line.
  return own || array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, q.quantity,
        sum(q.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p
      cross join lateral (select p.quantity - case when own = '{}' then 0 else coalesce((
        select sum(o.quantity) from unnest(own) o where o.line_id = p.line_id), 0)::integer end) q (quantity)
      where p.place is null and p.product_id is not null and q.quantity > 0
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks || own) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity, are_named and exists (
        select from unnest(promised) r
        where r.product_id = p.product_id and r.warehouse_id = p.warehouse_id and (
          r.bin_location_id = p.bin_location_id and coalesce(r.batch_id = p.batch_id, r.batch_id is null)
          or r.bin_location_id is null and r.batch_id = p.batch_id)) as is_promised
      from ledger.piles(products, warehouses, only_bin, only_batch) p
      left join named n on n.product_id = p.product_id and n.place = p.place
        and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity) over (
        partition by f.product_id, f.warehouse_id
        order by f.is_promised, case f.pick_order when 'first_expired' then f.best_before_date end,
          case when f.is_batch_managed or f.pick_order <> 'bin' then f.batch_id end,
          case when f.pick_order <> 'bin' and f.batch_id is null then f.stock_id end,
          f.place_type = 'warehouse', f."position" nulls last, f.code, f.batch_id nulls first, f.place
        rows unbounded preceding) as upto
      from free f where f.quantity > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity),
      o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.pick_units(ledger.pick[], uuid, uuid) is
  'Returns the places to take the units of picks from that name no place, perhaps only in a bin or of a '
  'batch. First come units that were picked for their fulfillment order, then those that reservations of '
  'their order lines name, then others in the pick order of their product. Bins and batches that others '
  'were promised come last. Takes what ledger.piles returns. Returns fewer units if there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[], uuid, uuid) to service_ledger;
--! EndIncluded ledger/pick_units.sql
--! Included ledger/free_units.sql
create or replace function ledger.free_units(line ledger.reservation_line) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  free bigint[] := array[null, null, null, null, null]::bigint[];
  named ledger.reservation_line[];
begin
  free[1] := coalesce((
    select s.available_quantity from ledger.warehouse_stock s
    where s.product_id = line.product_id and s.warehouse_id = line.warehouse_id), 0);
  if line.order_line_item_id is null then
    free[2] := (select p.available_stock from erp.product p where p.id = line.product_id);
  end if;
  if num_nonnulls(line.bin_location_id, line.batch_id) > 0 then
    named := array(select n from ledger.named_promises(array[line.product_id], array[line.warehouse_id]) n);
  end if;
  if line.bin_location_id is not null then
    free[3] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, null)
      - coalesce((
        select sum(n.quantity) from unnest(named) n where n.bin_location_id = line.bin_location_id), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, line.bin_location_id, null);
  end if;
  if line.batch_id is not null then
    free[4] := ledger.sellable_units(line.product_id, line.warehouse_id, null, line.batch_id)
      - coalesce((
        select sum(n.quantity) from unnest(named) n where n.batch_id = line.batch_id), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, null, line.batch_id);
  end if;
  if line.bin_location_id is not null and line.batch_id is not null then
    free[5] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, line.batch_id)
      - coalesce((
        select sum(n.quantity) from unnest(named) n
        where n.batch_id = line.batch_id and n.bin_location_id = line.bin_location_id), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, line.bin_location_id, line.batch_id);
  end if;
  return free;
end
$$;
comment on function ledger.free_units(ledger.reservation_line) is
  'Returns how many units are left to be reserved. The five numbers are for the warehouse, the product in '
  'all, the bin, the batch in the warehouse, and the batch in the bin; null if it does not matter. The '
  'product matters only without an order line: other orders wait for units of any warehouse. Callers must be '
  'marked by api_meta.plan_by_index.';
grant execute on function ledger.free_units(ledger.reservation_line) to service_ledger;
--! EndIncluded ledger/free_units.sql
--! Included ledger/unmet_units.sql
create or replace function ledger.unmet_units(
  product_id uuid, warehouse_id uuid, lines ledger.reservation_line[]
)
returns bigint
language sql stable set search_path = pg_catalog, pg_temp
return (
  with need as materialized (
    select x.bin, x.batch, sum(x.units) as units
    from (
      select r.bin_location_id as bin, r.batch_id as batch, r.quantity as units
      from ledger.named_promises(array[unmet_units.product_id], array[unmet_units.warehouse_id]) r
      union all
      select t.bin_location_id, k.batch_id, k.quantity - k.picked_quantity
      from erp.pick_list_line k join erp.pick_list p on p.id = k.pick_list_id
      cross join lateral ledger.site(null, k.bin_location_id, k.stock_container_id) t
      where k.product_id = unmet_units.product_id and k.state = 'open'
        and p.warehouse_id = unmet_units.warehouse_id
      union all
      select l.bin_location_id, l.batch_id, l.quantity from unnest(unmet_units.lines) l
      where l.product_id = unmet_units.product_id and l.warehouse_id = unmet_units.warehouse_id
    ) x
    where num_nonnulls(x.bin, x.batch) > 0 group by x.bin, x.batch
  ),
  bin as materialized (
    select n.bin, row_number() over (order by n.bin)::integer - 1 as nth from need n
    where n.batch is null and exists (select from need b where b.bin is null)
  ),
  -- Promised units less sellable units, by bin and batch
  lack as materialized (
    select n.bin, n.batch, n.units from need n
    union all
    select t.bin_location_id, u.batch, - u.units
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    cross join lateral (
      select b.id as batch, k.quantity as units
      from ledger.batch_stock k join erp.batch b on b.id = k.batch_id
      where k.stock_id = s.id and not b.is_held
        and coalesce(b.best_before_date >= (select erp.local_date(now())), true)
      union all
      select null, s.quantity - coalesce(sum(k.quantity), 0) from ledger.batch_stock k where k.stock_id = s.id
    ) u
    where s.product_id = unmet_units.product_id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
      and t.warehouse_id = unmet_units.warehouse_id and t.is_sellable and t.fulfillment_order_id is null
      and exists (select from bin)
  ),
  -- Some bins as a whole, and of each batch what lies elsewhere: for any choice of bins
  chosen as (
    select m.mask, i.is_in, case when not i.is_in then k.batch end as batch, sum(k.units) as units
    from generate_series(0, (1 << (select least(count(*), 10)::integer from bin)) - 1) m (mask)
    cross join lack k left join bin b on b.bin = k.bin
    cross join lateral (values (coalesce(b.nth < 10 and m.mask & (1 << (b.nth % 10)) <> 0, false))) i (is_in)
    where exists (select from bin) and (i.is_in or k.batch in (select n.batch from need n)) group by 1, 2, 3
  )
  select coalesce(max(c.units), 0)
  from (
    select sum(case when c.is_in then c.units else greatest(c.units, 0) end)::bigint as units
    from chosen c group by c.mask
  ) c
);
comment on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) is
  'Returns how many promised units of a product in a warehouse cannot be had at the same time: some name a '
  'bin, and others a batch that lies there. Counts what ledger.named_promises returns, the units that pick '
  'lists will take, and the given lines. By Hall''s theorem, for up to ten bins. Returns 0 unless both kinds '
  'exist.';
select api_meta.plan_by_index('ledger.unmet_units(uuid, uuid, ledger.reservation_line[])');
grant execute on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/unmet_units.sql
--! Included ledger/refuse_reservations.sql
create or replace function ledger.refuse_reservations(lines ledger.reservation_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  -- Materialized: otherwise ledger.free_units would be called again for each of its five numbers
  with line as materialized (
    select l.*, ledger.free_units(lines[l.ordinality]) as free,
      coalesce(ledger.uncovered_units(l.order_line_item_id), 0) - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.order_line_item_id = l.order_line_item_id and r.open_quantity > 0), 0) as open
    from unnest(lines) with ordinality l
  ),
  -- Earlier lines of the call have their units already
  counted as (
    select l.ordinality as line, l.product_id, l.warehouse_id, l.bin_location_id, l.batch_id, l.quantity,
      l.order_line_item_id,
      l.open - sum(l.quantity) over of_line + l.quantity as open,
      -- Where a line does not ask it is null, which does not count
      least(l.free[1] - sum(l.quantity) over in_warehouse, l.free[2] - sum(l.quantity) over of_product,
        l.free[3] - sum(l.quantity) over in_bin, l.free[4] - sum(l.quantity) over of_batch,
        l.free[5] - sum(l.quantity) over of_batch_in_bin) + l.quantity as free
    from line l
    window of_line as (partition by l.order_line_item_id order by l.ordinality),
      in_warehouse as (partition by l.product_id, l.warehouse_id order by l.ordinality),
      of_product as (partition by l.product_id, l.order_line_item_id is null order by l.ordinality),
      in_bin as (partition by l.product_id, l.bin_location_id order by l.ordinality),
      of_batch as (partition by l.batch_id, l.warehouse_id order by l.ordinality),
      of_batch_in_bin as (partition by l.batch_id, l.bin_location_id order by l.ordinality)
  )
  select jsonb_agg(mutation.user_error('OVER_FULFILLMENT',
      format('The order line has %s units left to reserve, not %s.', greatest(c.open, 0), c.quantity),
      mutation.path('lines', c.line, 'quantity'),
      jsonb_build_object('open', greatest(c.open, 0), 'requested', c.quantity)) order by c.line)
      filter (where c.order_line_item_id is not null and c.open < c.quantity) as over,
    jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
      format('%s units are left to reserve there, not %s.', greatest(c.free, 0), c.quantity)
        || coalesce(' Of what lies there, ' || n.planned || ' are planned for pick lists.', ''),
      mutation.path('lines', c.line, 'quantity'), jsonb_strip_nulls(jsonb_build_object(
        'available', greatest(c.free, 0), 'requested', c.quantity, 'planned', n.planned))) order by c.line)
      filter (where c.free < c.quantity and not p.allows_backorders) as short
  into found
  from counted c join erp.product p on p.id = c.product_id
  -- Without a bin or a batch, the fulfillment orders of pick lists count
  left join lateral (select nullif(
      ledger.planned_units(c.product_id, c.warehouse_id, c.bin_location_id, c.batch_id), 0)) n (planned)
    on c.free < c.quantity and num_nonnulls(c.bin_location_id, c.batch_id) > 0;
  perform mutation.refuse(found.over);
  perform mutation.refuse(found.short);
  -- A bin and a batch that lies in it must not promise the same units
  if exists (
    select from unnest(lines) l join erp.batch b on b.product_id = l.product_id
    where num_nonnulls(l.bin_location_id, l.batch_id) > 0
  ) then
    perform mutation.refuse((
      select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
        format('%s of these %s units are promised by reservations that name a bin or a batch.',
          u.units, l.quantity),
        mutation.path('lines', l.ordinality, 'quantity'),
        jsonb_build_object('available', greatest(l.quantity - u.units, 0), 'requested', l.quantity))
        order by l.ordinality)
      from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
      cross join lateral (
        select ledger.unmet_units(l.product_id, l.warehouse_id, lines[1 : l.ordinality])
          - ledger.unmet_units(l.product_id, l.warehouse_id, lines[1 : l.ordinality - 1]) as units
      ) u
      where num_nonnulls(l.bin_location_id, l.batch_id) > 0 and not p.allows_backorders and u.units > 0));
  end if;
end
$$;
comment on function ledger.refuse_reservations(ledger.reservation_line[]) is
  'Refuses lines of stockReserve with more units than there are, unless the product allows backorders, or '
  'than their order lines have open. Lines of a call count one after the other. The orders and products are '
  'locked. User errors OVER_FULFILLMENT, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index('ledger.refuse_reservations(ledger.reservation_line[])');
grant execute on function ledger.refuse_reservations(ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/refuse_reservations.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the ledger is right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id, true as is_sellable from erp.warehouse
  union all select id::text, warehouse_id, stock_state = 'sellable' from erp.bin_location
  union all select c.id::text, t.warehouse_id, t.is_sellable
    from erp.stock_container c cross join lateral ledger.site(null, null, c.id) t
    where t.warehouse_id is not null
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
-- In bins that are not sellable, and of batches that are held or have expired elsewhere: each unit once
on_hold as (
  select u.product_id, u.warehouse_id, sum(u.quantity) as quantity
  from (
    select b.product_id, p.warehouse_id, b.quantity
    from balance b join building p using (place) where not p.is_sellable
    union all
    select t.product_id, p.warehouse_id, f.direction * b.quantity
    from erp.batch t join ledger.stock_movement_batch b on b.batch_id = t.id
    join ledger.flow f on f.movement_id = b.stock_movement_id join building p on p.place = f.place
    where (t.is_held or t.is_expired) and p.is_sellable
  ) u
  group by u.product_id, u.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    sum(case when w.is_stock_available_for_sale then coalesce(b.quantity, 0) else h.quantity end)
      as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id
  left join on_hold b on b.product_id = h.product_id and b.warehouse_id = h.warehouse_id
  group by h.product_id
),
-- A reservation for an order line is part of what the order has reserved
reserved as (
  select x.product_id, sum(x.quantity) as quantity
  from (
    select l.product_id, l.quantity - l.shipped_quantity as quantity
    from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
    where o.state in ('open', 'in_progress') and l.product_id is not null
    union all
    select r.product_id, r.open_quantity from erp.stock_reservation r where r.order_line_item_id is null
  ) x group by x.product_id
),
promised as (
  select x.product_id, x.warehouse_id, sum(x.quantity) as quantity
  from (
    select l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity as quantity
    from erp.fulfillment_order_line_item l
    join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.location w on w.id = f.source_warehouse_location_id
    where l.product_id is not null and w.warehouse_id is not null
    union all
    select r.product_id, r.warehouse_id, r.open_quantity from erp.stock_reservation r
    where r.open_quantity > 0
  ) x group by x.product_id, x.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, p.place is not null as is_held,
    f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  left join building p on p.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
  union all select 'batch_stock.serial_number', b.batch_id::text, sum(b.quantity)::text, 'at most 1'
    from erp.product p join ledger.stock s on s.product_id = p.id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container', 'goods_receipt')
    join ledger.batch_stock b on b.stock_id = s.id
    where p.has_serial_numbers
    group by b.batch_id
    having sum(b.quantity) > 1
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.held_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.held_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join on_hold x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.safety_stock',
    coalesce(w.product_id, c.product_id) || ' ' || coalesce(w.warehouse_id, c.warehouse_id),
    coalesce(w.safety_stock, 0)::text, coalesce(c.safety_stock, 0)::text
    from ledger.warehouse_stock w
    full join erp.product_warehouse_configuration c
      on c.product_id = w.product_id and c.warehouse_id = w.warehouse_id
  union all select 'product.safety_stock', p.id::text, p.safety_stock::text, coalesce((
      select sum(c.safety_stock) from erp.product_warehouse_configuration c
      join erp.warehouse w on w.id = c.warehouse_id and w.is_stock_available_for_sale
      where c.product_id = p.id), 0)::text
    from erp.product p
  -- A batch that has expired today, or a time zone that was changed, is found within the hour
  union all select 'batch.is_expired', b.id::text, 'true', coalesce(b.best_before_date::text, 'no date')
    from erp.batch b
    where b.is_expired and coalesce(b.best_before_date > erp.local_date(now()) + 1, true)
  -- No unit of an order line is promised by a reservation and by a fulfillment order
  union all select 'stock_reservation.units', l.id::text, r.units::text,
      'at most ' || coalesce(ledger.uncovered_units(l.id), 0)
    from (
      select s.order_line_item_id, sum(s.open_quantity) as units, min(s.product_id::text) as first_product,
        max(s.product_id::text) as last_product
      from erp.stock_reservation s where s.order_line_item_id is not null and s.open_quantity > 0
      group by s.order_line_item_id
    ) r join erp.sales_order_line_item l on l.id = r.order_line_item_id
    where r.units > coalesce(ledger.uncovered_units(l.id), 0)
      or (r.first_product, r.last_product) is distinct from (l.product_id::text, l.product_id::text)
  union all select 'named_reservation.id', r.id::text, 'none', 'one'
    from erp.stock_reservation r
    where r.open_quantity > 0 and num_nonnulls(r.bin_location_id, r.batch_id) > 0
      and not exists (select from ledger.named_reservation n where n.reservation_id = r.id)
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  -- A movement names a booking of its moment, whose ids are around its own
  union all select 'stock_movement.booking_id', m.id::text, m.booking_id::text, 'a booking that holds it'
    from ledger.stock_movement m
    where m.booking_id is not null and not exists (
      select from ledger.booking b
      where b.id = m.booking_id and m.id >= b.id and m.id <= b.last_movement_id
        and m.created_at = date_trunc('second', b.booked_at)
        and m.microseconds = ledger.microseconds(b.booked_at))
  union all select 'booking.movements', b.id::text, m.id::text, 'no movement of others'
    from ledger.booking b
    join ledger.stock_movement m on m.id > b.id and m.id <= b.last_movement_id
    where b.last_movement_id <> b.id and m.booking_id is distinct from b.id
  union all select 'booking.transaction', m.booking_id::text, max(m.transaction_id)::text,
    min(m.transaction_id)::text
    from ledger.stock_movement m where m.booking_id is not null group by m.booking_id
  -- The bin of a container is in its warehouse
  union all select 'stock_container.warehouse_id', c.id::text, c.warehouse_id::text, b.warehouse_id::text
    from erp.stock_container c join erp.bin_location b on b.id = c.bin_location_id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select n.figure, n.id, n.stored, n.expected from erp.number_proof n
  union all select r.figure, r.id, r.stored, r.expected from erp.return_proof r
  union all select c.figure, c.id, c.stored, c.expected from ledger.closing_proof c
  union all select t.figure, t.id, t.stored, t.expected from ledger.stocktake_proof t
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql

--! split: 20-labels.sql
-- Files of shipping labels are deleted by age, and their addresses say why
drop index if exists erp.shipping_label_file_kept_idx;
alter table erp.shipping_label_file drop column if exists created_at, drop column if exists deleted_because,
  alter column content drop not null;
alter table erp.shipping_label_file
  -- The age of older files begins now
  add column created_at timestamptz(0) not null default date_trunc('second', now()),
  add column deleted_because text,
  add constraint shipping_label_file_is_there_or_has_a_reason
    check (num_nonnulls(content, deleted_because) = 1
      and deleted_because in ('LABEL_CANCELLED', 'FILE_EXPIRED', 'FILE_ERASED')) not valid;
comment on column erp.shipping_label_file.content is 'The file. Null after it was deleted.';
comment on column erp.shipping_label_file.created_at is 'When the carrier made the file.';
comment on column erp.shipping_label_file.deleted_because is
  'Error code that says why the file was deleted: LABEL_CANCELLED, FILE_EXPIRED or FILE_ERASED.';
comment on constraint shipping_label_file_is_there_or_has_a_reason on erp.shipping_label_file is
  '@internal erp.follow_shipping_label writes the reason.';
-- waive index-blocks-writes: files are kept since the same release
create index shipping_label_file_kept_idx on erp.shipping_label_file (created_at)
  where deleted_because is null;
comment on index erp.shipping_label_file_kept_idx is 'For erp.prune_label_files.';
revoke delete on erp.shipping_label_file from service_writer;
drop policy if exists shipping_label_file_delete_writer on erp.shipping_label_file;
select api_meta.allow('service_writer', 'erp.shipping_label_file', 'select (created_at, deleted_because)',
  'update (content, deleted_because)');
--! Included erp/label_file_lifetime.sql
create or replace function erp.label_file_lifetime() returns interval
language sql stable
return greatest(interval '7 days', coalesce(
  nullif(pg_catalog.current_setting('service.keep_label_files', true), '')::interval, interval '90 days'));
comment on function erp.label_file_lifetime() is
  'Returns how long files of shipping labels are kept: the setting service.keep_label_files, or 90 days '
  'without it. At least 7 days, in which webhooks tell receivers the address of the file.';
grant execute on function erp.label_file_lifetime() to service_writer;
--! EndIncluded erp/label_file_lifetime.sql
--! Included erp/prune_label_files.sql
create or replace function erp.prune_label_files(batch integer default 100) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  deleted integer;
begin
  -- The trigger deletes the file with its address
  update erp.shipping_label l set document_url = null
  where l.id = any (array(
    select o.id
    from erp.shipping_label_file f join erp.shipping_label o on o.id = f.shipping_label_id
    where f.deleted_because is null and f.created_at < now() - erp.label_file_lifetime()
    order by f.created_at limit batch for no key update of o skip locked));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function erp.prune_label_files(integer) is
  'Deletes files of shipping labels that are older than erp.label_file_lifetime(), at most as many as the '
  'batch. The labels stay. Returns how many: call it again until that is 0.';
select api_meta.plan_by_index('erp.prune_label_files(integer)');
select api_meta.give('erp.prune_label_files(integer)', 'service_writer');
grant execute on function erp.prune_label_files(integer) to service_worker;
--! EndIncluded erp/prune_label_files.sql
--! Included erp/follow_shipping_label.sql
create or replace function erp.follow_shipping_label() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.document_url is null and tg_op = 'UPDATE' then
    update erp.shipping_label_file f
    set content = null, deleted_because = case
      when new.state = 'cancelled' then 'LABEL_CANCELLED'
      when f.created_at < now() - erp.label_file_lifetime() then 'FILE_EXPIRED'
      else 'FILE_ERASED' end
    where f.shipping_label_id = new.id and f.deleted_because is null;
  end if;
  if tg_op = 'UPDATE' and new.state = old.state
    and new.cancellation_requested_at is not distinct from old.cancellation_requested_at then
    return null;
  end if;
  if new.state = 'requested' or new.state <> 'cancelled' and new.cancellation_requested_at is not null then
    insert into erp.shipping_label_work as w (shipping_label_id, carrier_technical_name)
    values (new.id, new.carrier_technical_name)
    on conflict on constraint shipping_label_work_pkey do update set attempts = 0, due_at = excluded.due_at;
  else
    delete from erp.shipping_label_work w where w.shipping_label_id = new.id;
  end if;
  return null;
end
$$;
comment on function erp.follow_shipping_label() is
  'Trigger after a shipping label was written: the service has work to do while the label is requested, or '
  'while its cancellation is. A label without an address of its file has no file; the code that opened the '
  'file stays, with the reason why it is gone.';
select api_meta.give('erp.follow_shipping_label()', 'service_writer');
--! EndIncluded erp/follow_shipping_label.sql
--! Included erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea, format text default 'pdf')
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id
  union all
  select f.code from erp.shipping_label_file f where f.shipping_label_id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison reveals nothing about the code. An unknown
  -- id takes the same path, with a hash that no code has.
  if sha256(nonce || presented_hash) is distinct from sha256(
    nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)
  ) then
    return;
  end if;
  return query select d.document_number,
      d.config || case
        when x.content is not null then jsonb_build_object('xml', convert_from(x.content, 'UTF8'))
        else '{}' end,
      d.static, coalesce(case when open_document.format = 'pdf' then d.content end, f.content),
      coalesce(case when open_document.format = 'pdf' then d.content_type end, f.content_type)
    from erp.document d
    left join erp.document_file f on f.document_id = d.id and f.format = open_document.format
    left join erp.document_file x on x.document_id = d.id and x.format = 'xml' and f.content is null
      and (d.config #>> '{standard,embedsXml}')::boolean
    where d.id = open_document.id
    union all
    select l.tracking_codes ->> 0, jsonb_strip_nulls(jsonb_build_object('deletedBecause', f.deleted_because)),
      true, f.content, f.content_type
    from erp.shipping_label_file f join erp.shipping_label l on l.id = f.shipping_label_id
    where f.shipping_label_id = open_document.id and open_document.format = 'pdf';
end
$$;
comment on function erp.open_document(uuid, bytea, text) is
  'Returns the document, or the file of the shipping label, with this id and the SHA-256 of this deep link '
  'code, or no row. The content is the file of a format, pdf or xml. A PDF is null until it is rendered; '
  'the config then also has the XML that the PDF is to contain. The file of a label is null after it was '
  'deleted; the config then says why. Takes a hash, so that no code gets into the log of Postgres, and any '
  'input can be checked.';
select api_meta.give('erp.open_document(uuid, bytea, text)', 'service_document');
--! EndIncluded erp/open_document.sql
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
  select 'labels', to_jsonb(r) || jsonb_build_object('file', (
    select jsonb_build_object('content_type', f.content_type, 'base64', encode(f.content, 'base64'))
    from erp.shipping_label_file f where f.shipping_label_id = r.id and f.content is not null))
  from about a join erp.shipping_label r on r.id = any (a.labels)
  union all
  select 'returns', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.return_order_line_item l where l.return_order_id = r.id order by l.id))
  from about a join erp.return_order r on r.id = any (a.returns)
  union all
  select 'reservations', to_jsonb(r)
  from about a cross join erp.reservations_about(a.orders) i (id) join erp.stock_reservation r on r.id = i.id
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
  'Returns the rows about a customer, each with what belongs to it, except documents and files of bulk '
  'operations.';
--! EndIncluded erp/export_customer.sql
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
      select coalesce(l.wanted ->> 'order_id', l.wanted ->> 'quote_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders or quotes, new ones with the totals of their lines. So these '
  'need not be '
  'written, and reported, as a later change.';
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
  -- Locks the products of old and new lines together, in one order
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
    and o.present ->> 'delivery_state' in ('shipped_partially', 'returned_partially') and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.warnings_of_addresses(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('OLD_ADDRESS_KEPT',
    format('Fulfillment orders and labels of order %s keep the former address. Cancel the labels, then the '
      'fulfillment orders, and create them again.', coalesce(u.wanted ->> 'order_number', u.id::text)),
    mutation.path('orders', u.line, 'shipping_address'),
    jsonb_build_object('fulfillmentOrderIds', k.parts, 'shippingLabelIds', k.labels)) order by u.line)
  from unnest(rows) u
  cross join lateral (
    select array(
      select f.id from erp.fulfillment_order f
      where f.destination_order_id = u.id and f.state in ('Open', 'InProgress', 'OnHold')
        and f.shipping_address <> erp.postal_address(u.wanted -> 'shipping_address')
      order by f.id)
  ) o (ids)
  cross join lateral (
    select array(select 'gid://service/FulfillmentOrder/' || i from unnest(o.ids) i),
      array(
        select 'gid://service/ShippingLabel/' || l.id from erp.shipping_label l
        where l.order_id = u.id and l.type = 'outgoing' and l.state = 'created'
          and (l.fulfillment_order_id = any (o.ids) or l.fulfillment_order_id is null)
        order by l.id)
  ) k (parts, labels)
  where u.errors is null and u.present ->> 'state' in ('open', 'in_progress')
    and u.wanted -> 'shipping_address' <> u.present -> 'shipping_address'
    and cardinality(k.parts || k.labels) > 0;
end;
comment on function erp.warnings_of_addresses(mutation.upsert_row[]) is
  'Warns about orders with another shipping address than their open fulfillment orders, or labels that are '
  'printed already.';
grant execute on function erp.warnings_of_addresses(mutation.upsert_row[]) to service_writer;

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
  rows := mutation.match_rows('erp.sales_order', 'orders', mutation.with_columns('erp.sales_order', given),
    '{storefront_id,order_number}', matches);
  rows := mutation.with_faults(rows, 'orders', mutation.faults_of_fields('erp.sales_order', rows));
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case
      when u.is_new then jsonb_build_object('delivery_state', 'open')
        || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
          select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
        ) end))
      else '{}' end || jsonb_strip_nulls(jsonb_build_object(
        'paid_amount', erp.rounded((u.given ->> 'paid_amount')::numeric))))
    from unnest(rows) u where u.is_new or u.given ? 'paid_amount'));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  perform mutation.warn(erp.warnings_of_addresses(rows));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE', 'DOCUMENT_NOT_MADE', 'FULFILLMENT_ORDERS_OPEN', 'NOT_PLANNED',
  'PURCHASE_QUANTITY', 'MINIMUM_ORDER_VALUE', 'PRODUCT_DELETED', 'CUSTOMER_ANONYMIZED', 'OLD_ADDRESS_KEPT');
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units that orders wait for were booked out or put on hold. Field details has the '
  'productId, the reserved stock and the available stock, which is negative now; and the warehouseId if '
  'only that warehouse is short. Call fulfillmentOrderMove without warehouseId to plan a fulfillment order '
  'again. If it is a pick list that takes the units, field details has its pickListNumber, the planned '
  'units, and those that are left.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock; after quoteAccept, the '
  'productId and the orderLineItemId.\n'
  '@value SURPLUS More units arrive than the supplier order or the return has open, or go back than it '
  'received. When the receipt is completed, the surplus of a supplier order becomes a line without an '
  'order. Field details has the quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  '@value DOCUMENT_NOT_MADE The goods were shipped, but the invoice was refused for the reason in the '
  'message. Field details has the documentType, the orderNumber, and the rule and the field to mend; then '
  'documentCreate makes the invoice.\n'
  '@value FULFILLMENT_ORDERS_OPEN A location became inactive while fulfillment orders are open there. They '
  'stay, and can be shipped. Field details has the locationId and their count. Call fulfillmentOrderMove '
  'without warehouseId to plan one again.\n'
  '@value NOT_PLANNED The warehouse has not all units of a fulfillment order free to be picked. Field '
  'details has the fulfillmentOrderId, the productNumber and how many are missing.\n'
  '@value PURCHASE_QUANTITY The supplier sells at least a quantity, in multiples. Field details has '
  'minPurchase and purchaseSteps.\n'
  '@value MINIMUM_ORDER_VALUE The order is worth less than the supplier takes. Field details has its '
  'supplierOrderNumber, amountNet and the minimumOrderValue.\n'
  '@value PRODUCT_DELETED The product of a line is gone: no stock is reserved or booked for the line. Field '
  'details has the orderLineItemId.\n'
  '@value CUSTOMER_ANONYMIZED The customer was anonymized, and so were the addresses. Field details has the '
  'customerId.\n'
  '@value OLD_ADDRESS_KEPT The shipping address of the order changed, but fulfillment orders that are open, '
  'or labels that are printed, keep the former one. Field details has the fulfillmentOrderIds and the '
  'shippingLabelIds. Cancel the labels, then the fulfillment orders, and create them again.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric,
  tax_category text, exemption_code text, discount_reason text, unit_code text, position integer
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.order_line_upsert_input.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. S needs a tax rate above 0, the others one of 0. By default it follows '
  'from the tax rate and the tax status of the order.';
comment on column api_unstable.order_line_upsert_input.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX, such as VATEX-EU-AE. It needs a tax '
  'category of E, AE, K or G. By default the code of the category.';
comment on column api_unstable.order_line_upsert_input.discount_reason is
  'Reason why the total is less than the unit price times the quantity (BT-139); at most 255 characters.';
comment on column api_unstable.order_line_upsert_input.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20 (BT-130), such as C62 for pieces or KGM for kilograms. '
  'By default the unit of the product.';
comment on column api_unstable.order_line_upsert_input.position is
  'Place of the line within its order, by which documents list lines. When left out of a new line, it '
  'comes after those that are there, in the order of the call.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  buyer_reference text, purchase_order_number text, due_date date, paid_amount numeric, exchange_rate numeric,
  exchange_rate_date date, exchange_rate_source text,
  line_items api_unstable.order_line_upsert_input[], tags text[],
  sales_channel_technical_name text, currency_iso_code text, customer_number text,
  shipping_method_technical_name text, payment_method_technical_name text
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress. Fulfillment orders that '
  'are open keep the former one; a warning says which.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on column api_unstable.order_upsert_input.buyer_reference is
  'Reference that the buyer wants on invoices of this order (BT-10); at most 255 characters. By default the '
  'customer''s.';
comment on column api_unstable.order_upsert_input.purchase_order_number is
  'Number of the buyer''s purchase order (BT-13); at most 255 characters.';
comment on column api_unstable.order_upsert_input.due_date is
  'Day on which invoices of the order are due (BT-9). By default it follows from the merchant''s days for '
  'payment.';
comment on column api_unstable.order_upsert_input.paid_amount is
  'Amount that the customer has paid already (BT-113), in the currency of the order and in cents: more '
  'decimals are rounded. Invoices deduct it.';
comment on column api_unstable.order_upsert_input.exchange_rate is
  'Units of the order''s currency per unit of the default currency, for the tax on invoices. It needs its '
  'date and source. By default the rate of the day of delivery.';
comment on column api_unstable.order_upsert_input.exchange_rate_date is
  'Day on which the exchange rate was published.';
comment on column api_unstable.order_upsert_input.exchange_rate_source is
  'Publisher of the exchange rate, for example ecb; at most 255 characters.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

select api_meta.add_upsert('api_unstable.orders_upsert', 'erp.sales_order', null,
  'Creates and updates orders. A row is matched by id, by storefrontId and sales channel, or by number. '
  'Units that are shipped, assigned to a fulfillment order or invoiced stay: a line keeps at least '
  'these units, and its product. Lines of completed and cancelled orders don''t change. Rows without a '
  'change write nothing.', errors => 'NOT_EDITABLE OVER_FULFILLMENT',
  warnings => 'OLD_ADDRESS_KEPT');
--! EndIncluded api/orders_upsert.sql
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
    ('Customer', 'salutationId', 'null'), ('Customer', 'buyerReference', 'null'),
    ('Customer', 'electronicAddress', 'null'), ('Customer', 'electronicAddressScheme', 'null'),
    ('Customer', 'registrationId', 'null'), ('Order', 'trackingCodes', 'null'),
    ('Order', 'buyerReference', 'null'), ('Order', 'purchaseOrderNumber', 'null'),
    ('FulfillmentOrder', 'holdComment', 'null'), ('FulfillmentOrder', 'shippingAddress', 'null'),
    ('ShippingLabel', 'trackingCodes', 'null'), ('ShippingLabel', 'trackingUrl', 'null'),
    ('ShippingLabel', 'documentUrl', 'null'), ('ShippingLabel', 'failure', 'null'),
    ('GoodsReceipt', 'comment', 'null'),
    ('ReturnOrder', 'comment', 'null'), ('ReturnOrder', 'reference', 'null'),
    ('ReturnOrder', 'refusalReason', 'null'), ('Quote', 'comment', 'null'),
    ('Quote', 'declineReason', 'null'), ('StockReservation', 'reference', 'null'),
    ('StockReservation', 'note', 'null')
  ) f (subject_type, field, value) on f.subject_type = t.subject_type and anonymous_data.data ? f.field
  where t.name = anonymous_data.topic;
end;
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
--! EndIncluded events/anonymous_data.sql

--! split: 30-margin.sql
select api_meta.allow('service_writer', 'ledger.closing', 'select (sequence, least_id_after)');
--! Included valuation/movements.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.is_small(run valuation.run) returns boolean
language sql immutable parallel safe
return run.products is not null and cardinality(run.products) <= 20;
comment on function valuation.is_small(valuation.run) is
  'Whether a calculation is of a few products. A plan that is made once looks up their rows by product: to '
  'plan again would take longer than the work. So statements have two branches, and run one of them.';
grant execute on function valuation.is_small(valuation.run) to service_writer;

-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.movements(run valuation.run)
returns table (
  id uuid, product_id uuid, sequence bigint, quantity integer, leaves boolean, arrives boolean,
  from_place uuid, to_place uuid, from_receipt_id uuid, special_place text, kind text
)
language sql stable
begin atomic
  select m.id, m.product_id, m.sequence, m.quantity, m.leaves, m.arrives, m.from_place, m.to_place,
    m.source_goods_receipt_id, m.source_special_stock_location_technical_name,
    case when m.leaves
      then coalesce(m.destination_special_stock_location_technical_name,
        m.destination_location_type_technical_name)
      else coalesce(m.source_special_stock_location_technical_name,
        m.source_location_type_technical_name) end
  from (
    select v.*,
      v.source_location_type_technical_name in ('warehouse', 'bin_location', 'stock_container') as leaves,
      v.destination_location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
        as arrives,
      coalesce(v.source_order_id, v.source_return_order_id, v.source_goods_receipt_id) as from_place,
      coalesce(v.destination_order_id, v.destination_return_order_id, v.destination_goods_receipt_id)
        as to_place
    from (
      select s.sequence, w.*
      from ledger.movement_sequence s join ledger.stock_movement w on w.id = s.movement_id
      where not valuation.is_small(run) and s.sequence > run.after and s.sequence <= run.upto
        and (run.products is null or w.product_id = any (run.products))
      union all
      select s.sequence, w.* from ledger.stock_movement w
      -- The limit lets Postgres look up each movement: it can't know how many numbers lie between two
      cross join lateral (
        select n.sequence from ledger.movement_sequence n where n.movement_id = w.id limit 1
      ) s
      where valuation.is_small(run) and w.product_id = any (run.products)
        -- Skips what was before: ids of later movements begin there
        and w.id >= coalesce((
          select c.least_id_after from ledger.closing c where c.sequence <= run.after
          order by c.sequence desc limit 1), '00000000-0000-0000-0000-000000000000')
        and s.sequence > run.after and s.sequence <= run.upto
    ) v
  ) m
  where m.leaves <> m.arrives or not m.leaves and m.from_place is not null;
end;
comment on function valuation.movements(valuation.run) is
  'Returns the movements that change a value: into stock, out of it, and between orders, return orders and '
  'goods receipts. Movements within the stock change none.';
grant execute on function valuation.movements(valuation.run) to service_writer;
--! EndIncluded valuation/movements.sql
--! Included valuation/bookings.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.bookings(run valuation.run)
returns table (
  id uuid, product_id uuid, sequence bigint, kind text, amount numeric, goods_receipt_id uuid,
  received bigint
)
language sql stable
begin atomic
  select b.id, b.product_id, b.sequence, b.kind, b.amount, b.goods_receipt_id, b.received
  from (
    select c.id, c.product_id, c.sequence, c.day, 'landed_cost' as kind, c.amount, c.goods_receipt_id,
      valuation.received_of(c.goods_receipt_id, c.product_id, c.sequence) as received
    from (
      select l.* from valuation.landed_cost l
      where not valuation.is_small(run) and (run.products is null or l.product_id = any (run.products))
      union all
      select l.* from valuation.landed_cost l
      where valuation.is_small(run) and l.product_id = any (run.products)
    ) c
    union all
    select w.id, w.product_id, w.sequence, w.day, 'write_down', w.amount, null, null
    from (
      select d.* from valuation.write_down d
      where not valuation.is_small(run) and (run.products is null or d.product_id = any (run.products))
      union all
      select d.* from valuation.write_down d
      where valuation.is_small(run) and d.product_id = any (run.products)
    ) w
  ) b
  where b.sequence <= run.upto and (b.sequence > run.after or b.day > run.after_day)
    and (run.day is null or b.day <= run.day)
    -- Costs allocated before the goods arrive come in with the goods
    and (b.kind <> 'landed_cost' or b.received is not null);
end;
comment on function valuation.bookings(valuation.run) is
  'Returns the costs of purchase and write-downs of the open period. received has the units of the receipt '
  'that had come into stock.';
grant execute on function valuation.bookings(valuation.run) to service_writer;
--! EndIncluded valuation/bookings.sql
--! Included valuation/events.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.events(run valuation.run)
returns table (
  product_id uuid, sequence bigint, step integer, id uuid, type text, kind text, quantity bigint,
  value bigint, last_unit_cost bigint, layers jsonb, from_slot integer, to_slot integer,
  is_unvalued boolean, is_unpriced boolean, is_supply boolean, goods_receipt_id uuid
)
language sql stable
begin atomic
  with movement as (select m.* from valuation.movements(run) m),
  -- Only places that something comes back from need a memory of what they hold
  pool as (
    select p.product_id, p.place, p.receipt_id,
      row_number() over (order by p.product_id, p.place)::integer as slot
    from (
      select distinct m.product_id, m.from_place as place, m.from_receipt_id as receipt_id from movement m
      where m.from_place is not null
    ) p
  )
  select s.product_id, -1, 0, null::uuid, 'state', null::text, s.quantity, (s.value * 1000000)::bigint,
    (s.last_unit_cost * 1000000)::bigint, s.layers, null::integer, null::integer, false, false, false,
    null::uuid
  from (
    select r.* from valuation.report_product r
    where not valuation.is_small(run) and (run.products is null or r.product_id = any (run.products))
    union all
    select r.* from valuation.report_product r
    where valuation.is_small(run) and r.product_id = any (run.products)
  ) s
  join erp.product p on p.id = s.product_id
  where s.report_id = run.report_id
  union all
  select p.product_id, -1, p.slot, null, 'pool', null, a.quantity, a.value, null, null, p.slot, null, false,
    a.is_unpriced, a.is_supply, null
  from pool p cross join lateral valuation.pool_at(run.report_number, p.place, p.receipt_id, p.product_id) a
  union all
  select m.product_id, m.sequence, 0, m.id,
    case when m.leaves then 'out' when m.arrives then 'in' else 'carry' end, m.kind, m.quantity,
    case when m.arrives and m.special_place is not null then (
      select (o.unit_value * m.quantity * 1000000)::bigint from valuation.opening_value o
      where o.stock_movement_id = m.id
    ) end, null, null, f.slot, t.slot,
    coalesce(m.special_place in ('initialization', 'import', 'unknown'), false), false, false,
    m.from_receipt_id
  from movement m
  left join pool f on f.product_id = m.product_id and f.place = m.from_place
  left join pool t on t.product_id = m.product_id and t.place = m.to_place
  union all
  select b.product_id, b.sequence, 1, b.id, b.kind, null, b.received, (b.amount * 1000000)::bigint, null,
    null, null, null, false, false, false, b.goods_receipt_id
  from valuation.bookings(run) b;
end;
comment on function valuation.events(valuation.run) is
  'Returns everything that values follow from: movements, bookings of value alone, the states of a closed '
  'report, and the content of places that something comes back from. Amounts are in '
  'millionths. The order is product, sequence, step and id.';
grant execute on function valuation.events(valuation.run) to service_writer;
--! EndIncluded valuation/events.sql
--! Included valuation/entries.sql
create or replace function valuation.state_of(pool valuation.pool) returns valuation.entry
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  excess bigint := case when pool.quantity = 0 then pool.lowered
    else greatest(pool.lowered - pool.value, 0) end;
  layers jsonb;
begin
  -- Of a period average, only the end of the period knows what the units cost that went
  if pool.method = 'period_average' and pool.quantity = 0 and pool.came > 0 then
    pool.unit_cost := valuation.part_of(pool.worth, 1, pool.came);
  elsif pool.method = 'fifo' then
    layers := (
      select coalesce(jsonb_agg(jsonb_build_object('quantity', l.quantity, 'value', l.amount * 0.000001,
        'goods_receipt_id', l.receipt) order by l.n), '[]')
      from unnest(pool.quantities, pool.amounts, pool.receipts) with ordinality
        l (quantity, amount, receipt, n)
    );
  end if;
  return row ('state', pool.product_id, null, null, null, pool.quantity, pool.value - pool.lowered + excess,
    pool.came, pool.worth, pool.unit_cost, layers, pool.landed_expense, pool.variance + excess,
    null)::valuation.entry;
end
$$;
comment on function valuation.state_of(valuation.pool) is
  'Returns the state of a product at the end of a calculation. The layers are an array, the oldest first, '
  'of {quantity, value, goods_receipt_id}.';
grant execute on function valuation.state_of(valuation.pool) to service_writer;

create or replace function valuation.entries(
  run valuation.run, details boolean, counts bigint[] default null, worths bigint[] default null
) returns setof valuation.entry
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
-- A merge by the product alone would compare each movement with each place of the product
set enable_mergejoin = off set enable_bitmapscan = off set enable_seqscan = on set enable_hashjoin = on
set work_mem = '64MB' as $$
declare
  is_period constant boolean := run.method = 'period_average';
  e record; p valuation.pool; n integer := 0; f integer; t integer;
  -- Units that move between places: from this period, from before; and their value
  own bigint; old bigint; own_part bigint; part bigint; entered bigint;
  -- Places outside by slot: units and value from before, and from this period
  old_q bigint[]; old_v bigint[]; own_q bigint[]; own_v bigint[]; supply boolean[]; unpriced boolean[];
begin
  perform set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)
  where valuation.is_small(run);
  if is_period and counts is null then
    -- Units leave at the average of all units of the period, so a first pass calculates the average
    select array_agg(x.pool_quantity order by x.product_id), array_agg(x.pool_value order by x.product_id)
    into counts, worths from valuation.entries(run, false, '{}', '{}') x where x.type = 'state';
  end if;
  for e in select x.* from valuation.events(run) x order by x.product_id, x.sequence, x.step, x.id loop
    if e.product_id is distinct from p.product_id then
      if p.product_id is not null then return next valuation.state_of(p); end if;
      n := n + 1;
      -- The state of a closed report is the first event of its product
      p := valuation.pool_of(e.product_id, run.method, case e.type when 'state' then e.quantity else 0 end,
        case e.type when 'state' then e.value else 0 end, e.last_unit_cost, e.layers, counts[n], worths[n]);
    end if;
    f := e.from_slot; t := e.to_slot; own := 0; old := 0; own_part := 0; part := 0;
    if e.type = 'out' then
      p := valuation.without_units(p, e.quantity); entered := - p.moved;
      if is_period then own := e.quantity; own_part := p.moved;
      else old := e.quantity; part := p.moved;
      end if;
    elsif e.type = 'pool' then
      old_q[f] := e.quantity; old_v[f] := e.value; own_q[f] := 0; own_v[f] := 0;
      supply[f] := e.is_supply; unpriced[f] := e.is_unpriced;
    elsif e.type in ('landed_cost', 'write_down') then
      p := valuation.with_booking(p, e.type, e.value, e.goods_receipt_id, e.quantity);
    elsif f is not null then
      own := least(e.quantity, own_q[f]); own_part := valuation.part_of(own_v[f], own, own_q[f]);
      old := least(e.quantity - own, old_q[f]); part := valuation.part_of(old_v[f], old, old_q[f]);
      own_q[f] := own_q[f] - own; own_v[f] := own_v[f] - own_part;
      old_q[f] := old_q[f] - old; old_v[f] := old_v[f] - part;
    end if;
    if e.type = 'in' then
      if e.value is not null then old := e.quantity; part := e.value; end if;
      p := valuation.with_arrival(p, e.quantity, old, part, own, e.value is not null or supply[f]
        and not unpriced[f], unpriced[f], e.is_unvalued, e.goods_receipt_id);
      entered := p.moved;
      if p.is_unvalued then
        return next row ('fault', e.product_id, e.sequence, e.id, 'PRICE_MISSING', e.quantity, null, null,
          null, null, null, null, null, e.goods_receipt_id)::valuation.entry;
      end if;
    elsif t is not null then
      own_q[t] := own_q[t] + own; own_v[t] := own_v[t] + own_part;
      old_q[t] := old_q[t] + old; old_v[t] := old_v[t] + part;
    end if;
    if details and e.type in ('in', 'out', 'carry') then
      return next row (case when e.type = 'carry' then 'carry' else 'cost' end, e.product_id, e.sequence,
        e.id, e.kind, case when e.type = 'out' then - e.quantity else e.quantity end,
        case when e.type <> 'carry' then entered end, own + old,
        own_part + part, null, null, null, null, e.goods_receipt_id)::valuation.entry;
    end if;
  end loop;
  if p.product_id is not null then return next valuation.state_of(p); end if;
end
$$;
comment on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) is
  'Calculates the value of products, event after event: states and faults, with details also costs of '
  'movements. Of a period average, counts and worths have the units and the value of all that was there or '
  'came, by product; they are calculated if they are null.';
grant execute on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) to service_writer;
--! EndIncluded valuation/entries.sql
--! Included valuation/outside.sql
create or replace function valuation.outside(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (place_type text, place text, product_id uuid, quantity bigint, value numeric)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select c.type, c.place::text, c.product_id, a.quantity + c.quantity, (a.value + c.value) * 0.000001
  from valuation.run_of(method, upto, products, day) run
  cross join lateral (
    select e.product_id, p.place, sum(p.sign * e.pool_quantity)::bigint as quantity,
      sum(p.sign * e.pool_value)::bigint as value, min(p.type) as type
    from valuation.entries(run, true) e
    join ledger.stock_movement m on m.id = e.stock_movement_id
    cross join lateral (values
      (coalesce(m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id),
        m.source_location_type_technical_name, -1),
      (coalesce(m.destination_order_id, m.destination_return_order_id, m.destination_goods_receipt_id),
        m.destination_location_type_technical_name, 1)
    ) p (place, type, sign)
    where e.type in ('cost', 'carry') and p.place is not null
    group by e.product_id, p.place
  ) c
  cross join lateral valuation.pool_at(run.report_number, c.place,
    case when c.type = 'goods_receipt' then c.place end, c.product_id) a;
end;
comment on function valuation.outside(text, bigint, uuid[], date) is
  'Returns orders, return orders and goods receipts whose content changed since the newest closed report: '
  'units that came with a value, and this value. A receipt of goods that were bought has its lines until '
  'they are put away.';
grant execute on function valuation.outside(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/outside.sql
--! Included valuation/cost_of_order.sql
create or replace function valuation.cost_of_order(order_id uuid) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  run valuation.run;
  is_complete boolean;
  change bigint;
begin
  if not auth.has_scope('valuation:read') then
    return null;
  end if;
  run := valuation.run_of(valuation.method_on(erp.local_date(now())),
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), null, null);
  -- Only what has changed since the closed report is calculated
  select array_agg(distinct m.product_id) filter (where s.sequence > run.after),
    count(*) filter (where m.comes and s.sequence is null) = 0
  into run.products, is_complete
  from (
    select m.id, m.product_id, true as comes from ledger.stock_movement m
    where m.destination_order_id = cost_of_order.order_id
    union all
    select m.id, m.product_id, false from ledger.stock_movement m
    where m.source_order_id = cost_of_order.order_id
  ) m
  left join ledger.movement_sequence s on s.movement_id = m.id;
  if is_complete and run.products is not null then
    select count(*) filter (where e.type = 'fault') = 0,
      sum(case when m.destination_order_id = cost_of_order.order_id then e.pool_value else - e.pool_value end)
        filter (where e.type <> 'fault')
    into is_complete, change
    from valuation.entries(run, true) e
    left join ledger.stock_movement m on m.id = e.stock_movement_id
      and cost_of_order.order_id in (m.source_order_id, m.destination_order_id)
    where e.type = 'fault' or m.id is not null;
  end if;
  return (
    select case when is_complete then coalesce(sum(c.value), 0) + coalesce(change, 0) * 0.000001 end
    from (
      select distinct on (c.product_id) c.value
      from valuation.report_outside c
      join valuation.report r on r.id = c.report_id and r.voided_at is null
      where c.place = cost_of_order.order_id::text
      order by c.product_id, r.number desc
    ) c
  );
end
$$;
comment on function valuation.cost_of_order(uuid) is
  'Returns the value of the goods that an order has received and kept, in the default currency. Null while '
  'units have no value yet, or were shipped a moment ago and have no number in the ledger, and without the '
  'scope valuation:read.';
select api_meta.give('valuation.cost_of_order(uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.cost_of_order(uuid)');
revoke execute on function valuation.cost_of_order(uuid) from public;
grant execute on function valuation.cost_of_order(uuid) to service_api;
--! EndIncluded valuation/cost_of_order.sql
--! Included valuation/cost_of_fulfillment.sql
create or replace function valuation.cost_of_fulfillment(fulfillment_id uuid) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  run valuation.run;
  movements uuid[];
  closed numeric;
  is_complete boolean;
begin
  if not auth.has_scope('valuation:read') then
    return null;
  end if;
  run := valuation.run_of(valuation.method_on(erp.local_date(now())),
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), null, null);
  select array_agg(m.id) filter (where c.value is null),
    array_agg(distinct m.product_id) filter (where c.value is null), sum(- c.value)
  into movements, run.products, closed
  from erp.fulfillment_line_item l
  join erp.fulfillment_stock_movement f on f.fulfillment_line_item_id = l.id
  join ledger.stock_movement m on m.id = f.stock_movement_id
  left join lateral (
    select c.value from valuation.report_cost c join valuation.report r on r.id = c.report_id
    where c.stock_movement_id = m.id and r.closed_at is not null and r.voided_at is null
  ) c on true
  where l.fulfillment_id = cost_of_fulfillment.fulfillment_id;
  if movements is null then
    return closed;
  end if;
  select coalesce(closed, 0) - sum(e.value) filter (where e.type = 'cost') * 0.000001,
    count(*) filter (where e.type = 'cost') = cardinality(movements) and bool_and(e.type = 'cost')
  into closed, is_complete
  from valuation.entries(run, true) e
  where e.type = 'fault' or e.type = 'cost' and e.stock_movement_id = any (movements);
  return case when is_complete then closed end;
end
$$;
comment on function valuation.cost_of_fulfillment(uuid) is
  'Returns the value at which the goods of a fulfillment left the stock, in the default currency. Null for '
  'fulfillments without movements, while units have no value yet, and without the scope valuation:read.';
select api_meta.give('valuation.cost_of_fulfillment(uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.cost_of_fulfillment(uuid)');
revoke execute on function valuation.cost_of_fulfillment(uuid) from public;
grant execute on function valuation.cost_of_fulfillment(uuid) to service_api;
--! EndIncluded valuation/cost_of_fulfillment.sql
drop function if exists valuation.outside_of(valuation.run);

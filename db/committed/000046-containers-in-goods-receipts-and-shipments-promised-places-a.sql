--! Previous: sha1:a9a18018386baf5b53180536417af63e29ef821b
--! Hash: sha1:7741dc93ffa55d248ee2ee9d91c3191f24a64274
--! Message: Containers in goods receipts and shipments, promised places, and refusals that say what to do

--! split: 10-picks-and-promises.sql
-- Bookings look for pick lists and containers only where these matter; promised places are picked first
--! Included ledger/check_process.sql
create or replace function ledger.check_process(process text, uses text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present text[];
  missing text;
  fitting text[];
begin
  if process is null then
    return;
  end if;
  select t.uses into present from ledger.process_type t where t.technical_name = process;
  missing := (
    select u.use from unnest(uses) with ordinality u (use, nth) where u.use <> all (coalesce(present, '{}'))
    order by u.nth limit 1);
  if missing is null then
    return;
  end if;
  fitting := array(
    select t.technical_name from ledger.process_type t where missing = any (t.uses)
    order by t.technical_name limit 50);
  perform mutation.refuse(case when present is null then 'NOT_FOUND' else 'INVALID' end,
    format(case when present is null then 'There is no process %s. For %s there are %s.'
      else 'The process %s does not fit. For %s there are %s.' end,
      process, case missing when 'incoming' then 'units that come in' when 'outgoing' then 'units that go out'
        when 'count' then 'counts' when 'relocation' then 'transfers' else 'shipments' end,
      coalesce(nullif(array_to_string(fitting, ', '), ''), 'none')),
    '{process_type}', jsonb_build_object('fitting', fitting));
end
$$;
comment on function ledger.check_process(text, text[]) is
  'Refuses a process that a call names, unless it has all these uses of ledger.process_type. The details '
  'list up to 50 that fit. Null is the process of the call itself. User errors NOT_FOUND, INVALID.';
grant execute on function ledger.check_process(text, text[]) to service_ledger, service_writer;
--! EndIncluded ledger/check_process.sql
--! Included ledger/free_containers.sql
create or replace function ledger.free_containers() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Usually there are none, and an update of nothing would call the triggers of its statement
  if exists (select from erp.stock_container c where c.fulfillment_order_id = new.id) then
    update erp.stock_container c set fulfillment_order_id = null where c.fulfillment_order_id = new.id;
  end if;
  return null;
end
$$;
comment on function ledger.free_containers() is
  'Trigger after a fulfillment order was closed or cancelled: units that were picked for it are free again.';
select api_meta.plan_by_index('ledger.free_containers()');
select api_meta.give('ledger.free_containers()', 'service_ledger');
--! EndIncluded ledger/free_containers.sql
drop function if exists ledger.examine(ledger.leg[]);
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out are_picked boolean,
  out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, null, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change, case when w.is_stock_available_for_sale then u.on_hold else g.change end,
      u.on_hold)::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    bool_or(g.leaves and g.place_type <> 'special_stock_location' and exists (
      select from erp.pick_list_line k where k.product_id = g.product_id and k.state = 'open')),
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, are_picked, recounted
  from (
    select l.product_id, l.place_type, l.place, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.batch_id is not null
        and (select b.is_held or b.is_expired from erp.batch b where b.id = l.batch_id)), 0) as on_hold,
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
  cross join lateral ledger.site_of(g.place_type, g.place) t
  left join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (select case when t.is_sellable then g.on_hold else g.change end) u (on_hold);
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result are_picked says that pick lists wait for some of the products that '
  'leave. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/warn_of_picks.sql
create or replace function ledger.warn_of_picks(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform mutation.warn((
    select jsonb_agg(mutation.user_error('STOCK_PROMISED',
      format('Pick list %s takes %s units of product %s from there; %s are left.', x.number, x.planned,
        x.product_number, greatest(x.lying, 0)),
      drafts[x.line].field,
      jsonb_build_object('productId', 'gid://service/Product/' || x.product_id, 'pickListNumber', x.number,
        'planned', x.planned, 'left', x.lying))
      order by x.line)
    from (
      select g.product_id, a.product_number, g.line, min(p.number) as number,
        sum(l.quantity - l.picked_quantity) as planned,
        coalesce((
          select case when g.batch_id is null then s.quantity else coalesce((
            select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = g.batch_id
          ), 0) end
          from ledger.stock s where s.product_id = g.product_id and s.place = g.source), 0) as lying
      from (
        select d.product_id, d.source, d.batch_id, min(d.ordinality) as line
        from unnest(drafts) with ordinality d
        where d.source_type in ('warehouse', 'bin_location', 'stock_container')
        group by d.product_id, d.source, d.batch_id
      ) g
      join erp.product a on a.id = g.product_id
      join erp.pick_list_line l on l.product_id = g.product_id and l.state = 'open'
        and (g.batch_id is null or l.batch_id = g.batch_id)
      join erp.pick_list p on p.id = l.pick_list_id
      where coalesce(l.stock_container_id, l.bin_location_id, p.warehouse_id)::text = g.source
      group by g.product_id, a.product_number, g.line, g.source, g.batch_id
    ) x
    where x.lying < x.planned));
end
$$;
comment on function ledger.warn_of_picks(ledger.draft[]) is
  'Warns if movements, which have been booked, left less in a place than pick lists are to take from there: '
  'warning STOCK_PROMISED. The person who picks will report the rest as missing.';
grant execute on function ledger.warn_of_picks(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_picks.sql
--! Included ledger/book.sql
create or replace function ledger.book(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}', reference text default null,
  reason text default null
) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := ledger.moment();
  calls constant ledger.call[] := array[
    row (moment, note, null, reference, reason)::ledger.call];
  legs ledger.leg[];
  seen record;
  written record;
begin
  if cardinality(drafts) = 0 then
    perform ledger.write(calls, '{}', '{}', others) where others <> '{}';
    return row ('{}', '{}')::ledger.booked;
  end if;
  if reason is not null or exists (select from ledger.process_type t where t.requires_reason) then
    perform ledger.check_reason(reason, drafts);
  end if;
  if cardinality(drafts) = 1 and drafts[1].batch_id is null and (case 'special_stock_location'
    when drafts[1].source_type then drafts[1].destination_type in ('warehouse', 'bin_location')
    when drafts[1].destination_type then drafts[1].source_type in ('warehouse', 'bin_location') end) then
    written := ledger.book_correction(drafts[1], calls[1]);
    if written.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if written.movement_id is not null then
      return row (array[written.movement_id], array[written.stock_id])::ledger.booked;
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
  if seen.are_picked then
    perform ledger.warn_of_picks(drafts);
  end if;
  return row (written.movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booked;
end
$$;
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[], text, text) is
  'Books movements whose locks have been taken. Checks that no real place is left with a negative quantity '
  'of a product or a batch, and writes each row once, including other figures that change with the '
  'movements. Returns the movements in the order of the drafts, and the stock that they changed. User '
  'errors INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS, the errors of ledger.require_batches and '
  'ledger.check_reason. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.book(ledger.draft[], text, ledger.figure_change[], text, text)
  to service_ledger;
--! EndIncluded ledger/book.sql
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], note text, process text default null,
  out stock_movements uuid[], out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  products constant uuid[] := array(select p.product_id from unnest(picks) p);
  planned ledger.pick[] := '{}';
  found_units ledger.pick[];
begin
  -- Usually no pick list waits for any of these products
  if exists (select from erp.pick_list_line l where l.product_id = any (products) and l.state = 'open') then
    planned := array(
      select q from ledger.planned_picks(products, array(select p.warehouse_id from unnest(picks) p), array(
        select l.fulfillment_order_id from unnest(picks) p
        join erp.fulfillment_order_line_item l on l.id = p.line_id), false) q);
  end if;
  found_units := ledger.pick_units(picks || planned);
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.book(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      coalesce(process, 'api_shipping')
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note, ledger.promises_kept(picks, assigned))).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text, text) is
  'Books units out to an order and ends their promises; fulfillment orders that were assigned for this '
  'shipment have promised nothing. Units of picks without a place are taken by ledger.pick_units, but not '
  'what pick lists take for others. Returns '
  'the movements, each with its line. Before, ledger.lock_shipment must be called. User error '
  'INSUFFICIENT_STOCK, and the user errors of ledger.book.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], uuid[], text, text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], uuid[], text, text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], uuid[], text, text) to service_writer;
--! EndIncluded ledger/ship.sql
drop function if exists ledger.pick_units(ledger.pick[]);
--! Included ledger/own_picks.sql
create or replace function ledger.own_picks(picks ledger.pick[]) returns ledger.pick[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Two rulers, as in ledger.pick_units
  return array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        l.fulfillment_order_id,
        sum(p.quantity) over (partition by p.product_id, l.fulfillment_order_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p join erp.fulfillment_order_line_item l on l.id = p.line_id
      where p.place is null and p.product_id is not null
    ),
    lying as (
      select w.product_id, w.fulfillment_order_id, s.id, s.place, s.quantity, c.number
      from (select distinct w.product_id, w.warehouse_id, w.fulfillment_order_id from wanted w) w
      join erp.stock_container c on c.fulfillment_order_id = w.fulfillment_order_id
        and c.warehouse_id = w.warehouse_id
      join ledger.stock s on s.product_id = w.product_id and s.place = c.id::text and s.quantity > 0
      cross join lateral ledger.site(null, null, c.id) t
      where t.is_sellable
    ),
    pile as (
      select l.*, b.batch_id, b.quantity as units
      from lying l join ledger.batch_stock b on b.stock_id = l.id and b.quantity > 0
      join erp.batch x on x.id = b.batch_id
      where not x.is_held and coalesce(x.best_before_date >= (select erp.local_date(now())), true)
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0)
      from lying l
    ),
    offered as (
      select p.*, sum(p.units) over (
        partition by p.product_id, p.fulfillment_order_id order by p.number, p.batch_id nulls first
        rows unbounded preceding) as upto
      from pile p where p.units > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.units), 'stock_container', o.place,
      o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id
      and o.fulfillment_order_id = w.fulfillment_order_id
      and o.upto > w.upto - w.quantity and o.upto - o.units < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.own_picks(ledger.pick[]) is
  'Returns units of picks without a place that were picked for their fulfillment order before: they lie in '
  'its containers. Units that are not sellable, of held or of expired batches are left out.';
grant execute on function ledger.own_picks(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/own_picks.sql
--! Included ledger/piles.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.piles(
  product_ids uuid[], warehouse_ids uuid[], only_bin uuid, only_batch uuid
)
returns table (
  product_id uuid, warehouse_id uuid, bin_location_id uuid, place text, place_type text, batch_id uuid,
  units bigint, is_batch_managed boolean, pick_order text, best_before_date date, stock_id uuid,
  "position" integer, code text
)
language sql stable
begin atomic
  with lying as (
    select w.product_id, w.warehouse_id, t.bin_location_id, s.place,
      s.location_type_technical_name as place_type, s.quantity, a.is_batch_managed,
      coalesce(a.pick_order, (select m.pick_order from erp.merchant m), 'bin') as pick_order,
      case when piles.only_batch is null then coalesce(a.minimum_remaining_shelf_life_days, 0) else 0 end
        as days,
      s.id, t."position", t.code
    from (
      select distinct w.product_id, w.warehouse_id
      from unnest(piles.product_ids, piles.warehouse_ids) w (product_id, warehouse_id)
    ) w
    join erp.product a on a.id = w.product_id
    join ledger.stock s on s.product_id = w.product_id and s.quantity > 0
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    where t.warehouse_id = w.warehouse_id and t.is_sellable and t.fulfillment_order_id is null
      and (piles.only_bin is null or t.bin_location_id = piles.only_bin)
  )
  select l.product_id, l.warehouse_id, l.bin_location_id, l.place, l.place_type, b.batch_id,
    b.quantity::bigint, l.is_batch_managed, l.pick_order, x.best_before_date, l.id, l."position", l.code
  from lying l join ledger.batch_stock b on b.stock_id = l.id
  -- Offset: looked up one by one
  cross join lateral (
    select x.is_held, x.best_before_date from erp.batch x where x.id = b.batch_id offset 0) x
  where not x.is_held and coalesce(x.best_before_date - l.days >= (select erp.local_date(now())), true)
    and (piles.only_batch is null or b.batch_id = piles.only_batch)
  union all
  select l.product_id, l.warehouse_id, l.bin_location_id, l.place, l.place_type, null,
    l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0),
    l.is_batch_managed, l.pick_order, null, l.id, l."position", l.code
  from lying l where not l.is_batch_managed and piles.only_batch is null;
end;
comment on function ledger.piles(uuid[], uuid[], uuid, uuid) is
  'Returns the units that can be picked of products, each in the warehouse with the same number: by place '
  'and batch, which is null for units without one. A bin or a batch limits them. Units in bins that are not '
  'sellable, or picked for fulfillment orders, are left out. So are batches that are on hold, have expired '
  'or, unless named, are short of the promised shelf life.';
grant execute on function ledger.piles(uuid[], uuid[], uuid, uuid) to service_ledger;
--! EndIncluded ledger/piles.sql
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
  are_promised boolean;
begin
  select array_agg(p.product_id), array_agg(p.warehouse_id), bool_or(exists (
    select from erp.stock_reservation r where r.product_id = p.product_id and r.open_quantity > 0
      and num_nonnulls(r.bin_location_id, r.batch_id) > 0))
  into products, warehouses, are_promised
  from unnest(picks) p where p.place is null and p.product_id is not null;
  -- Units are rarely picked or promised for these lines before
  if num_nonnulls(only_bin, only_batch) = 0 and exists (
    select from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
    where exists (select from erp.stock_container c where c.fulfillment_order_id = l.fulfillment_order_id)
      or exists (select from erp.stock_reservation r
        where r.order_line_item_id = l.destination_order_line_item_id)
  ) then
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
      select p.*, p.units - coalesce(n.quantity, 0) as quantity, are_promised and exists (
        select from erp.stock_reservation r where r.product_id = p.product_id
          and r.warehouse_id = p.warehouse_id and r.open_quantity > 0
          and (r.bin_location_id = p.bin_location_id and coalesce(r.batch_id = p.batch_id, r.batch_id is null)
            or r.bin_location_id is null and r.batch_id = p.batch_id)
          and coalesce(r.expires_at > ledger.moment_of_statement(), true)) as is_promised
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
  'their order lines name, then others in the pick order of their product. What other reservations '
  'name comes last. Takes what ledger.piles returns. Returns fewer units if there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[], uuid, uuid) to service_ledger;
--! EndIncluded ledger/pick_units.sql
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
      -- Units that were shipped before count as promised, the oldest reservation first
      least(r.quantity, sum(r.quantity) over (partition by p.ordinality order by r.id) - s.shipped_quantity)
        as promised
    from unnest(picks) with ordinality p join erp.fulfillment_order_line_item l on l.id = p.line_id
    join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
    join erp.stock_reservation r on r.order_line_item_id = s.id and r.product_id = p.product_id
      and r.warehouse_id = p.warehouse_id
    where p.place is null and r.state in ('active', 'consumed')
      and num_nonnulls(r.bin_location_id, r.batch_id) > 0
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
    select l.ordinality as line, l.product_id, l.quantity, l.order_line_item_id,
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
      format('%s units are left to reserve there, not %s.', greatest(c.free, 0), c.quantity),
      mutation.path('lines', c.line, 'quantity'),
      jsonb_build_object('available', greatest(c.free, 0), 'requested', c.quantity)) order by c.line)
      filter (where c.free < c.quantity and not p.allows_backorders) as short
  into found
  from counted c join erp.product p on p.id = c.product_id;
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

--! split: 20-goods.sql
-- Refusals say what to do, and holding a batch names the pick lists that have it
--! Included ledger/require_serial_numbers.sql
create or replace function ledger.require_serial_numbers(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own constant text[] := '{warehouse,bin_location,stock_container,goods_receipt}';
  errors jsonb;
begin
  with flow as (
    select d.field, d.batch_id, d.quantity, d.ordinality as line,
      (d.destination_type = any (own))::integer - (d.source_type = any (own))::integer as direction
    from unnest(drafts) with ordinality d
    -- Offset: looked up one by one
    cross join lateral (
      select p.has_serial_numbers from erp.product p where p.id = d.product_id offset 0) p
    where p.has_serial_numbers
  ),
  -- By all lines together, so that their order does not matter
  arrival as (
    select f.batch_id, sum(f.quantity * f.direction) as change,
      max(f.line) filter (where f.direction > 0) as line
    from flow f group by f.batch_id having sum(f.quantity * f.direction) > 0
  ),
  fault (line, error) as (
    select f.line, mutation.user_error('OUT_OF_RANGE',
      format('A serial number is one unit, not %s.', f.quantity), f.field)
    from flow f where f.quantity > 1
    union all
    select a.line, mutation.user_error('SERIAL_NUMBER_IN_STOCK',
      format(case when s.units > 0 then 'The unit with the serial number %s is in stock already. '
          'Count it to 0 where the books have it, or correct the number.'
        else 'Another line brings the unit with the serial number %s.' end, b.number),
      case when cardinality(drafts[a.line].field) > 1
        then trim_array(drafts[a.line].field, 1) || '{batch_id}' else drafts[a.line].field end,
      jsonb_build_object('serialNumber', b.number))
    from arrival a
    cross join lateral (select b.number from erp.batch b where b.id = a.batch_id offset 0) b
    cross join lateral (
      select coalesce(sum(x.quantity), 0) as units
      from ledger.batch_stock x join ledger.stock s on s.id = x.stock_id
      where x.batch_id = a.batch_id and s.location_type_technical_name = any (own)
    ) s
    where s.units + a.change > 1 and not exists (
      select from flow f where f.batch_id = a.batch_id and f.quantity > 1)
  )
  select jsonb_agg(fault.error order by fault.line) into errors from fault;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_serial_numbers(ledger.draft[]) is
  'Refuses movements that would leave more than one unit of a serial number with the merchant: in '
  'warehouses, bins, containers and goods receipts together. A unit that was sold may come back. The '
  'products are locked, so bookings at the same time see each other. User errors OUT_OF_RANGE, '
  'SERIAL_NUMBER_IN_STOCK.';
grant execute on function ledger.require_serial_numbers(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_serial_numbers.sql
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
    format('Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested)
    || coalesce(' Of what lies there, ' || nullif(concat_ws(', ', n.planned || ' are planned for pick lists',
      u.held || ' are on hold', u.expired || ' have expired',
      u.blocked || ' lie in bins that are not sellable',
      u.short || ' are short of the promised shelf life, unless you name their batches'), '') || '.', '')
    || case when e.units > 0
      then format(' Other warehouses hold %s: give them the units by fulfillmentOrderMove, or by '
        'fulfillmentOrderCreate if no fulfillment order has them.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number, 'held', u.held,
      'expired', u.expired, 'short', u.short, 'notSellable', u.blocked,
      'planned', n.planned
    ))) order by t.line)
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
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (
    select coalesce(sum(s.quantity - s.held_quantity), 0) as units from ledger.warehouse_stock s
    where s.product_id = t.product_id and s.warehouse_id <> t.warehouse_id
  ) e
  cross join lateral (
    select sum(q.quantity) as planned from ledger.planned_picks(array[t.product_id], array[t.warehouse_id],
      array(select l.fulfillment_order_id from unnest(picks) k
        join erp.fulfillment_order_line_item l on l.id = k.line_id), false) q
  ) n
  -- Units in the warehouse that are not picked, by reason
  cross join lateral (
    select sum(i.quantity) filter (where not i.is_blocked and i.is_held) as held,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left < 0) as expired,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left >= 0
        and i.days_left < coalesce(p.minimum_remaining_shelf_life_days, 0)) as short,
      nullif(sum(i.in_place) filter (where i.is_blocked and i.nth = 1), 0) as blocked
    from (
      select b.quantity, x.is_held, x.best_before_date - erp.local_date(now()) as days_left,
        not l.is_sellable as is_blocked, s.quantity as in_place,
        row_number() over (partition by s.id) as nth
      from ledger.stock s
      cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) l
      left join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
      left join erp.batch x on x.id = b.batch_id
      where s.product_id = t.product_id and l.warehouse_id = t.warehouse_id
        and l.fulfillment_order_id is null
    ) i
  ) u;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. Says how many lie there that are not picked, and '
  'how many pick lists are still to take. User error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included ledger/require_empty_place.sql
create or replace function ledger.require_empty_place() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  held bigint;
begin
  if tg_table_name = 'bin_location'
    and exists (select from erp.stock_container c where c.bin_location_id = old.id) then
    perform mutation.refuse('REFERENCE_IN_USE', format(
      'Containers stand in bin %s: move them to another one first.', old.code));
  end if;
  if tg_table_name = 'warehouse' then
    select sum(s.quantity) into held from ledger.warehouse_stock s where s.warehouse_id = old.id;
  elsif tg_table_name = 'stock_container' then
    select sum(s.quantity) into held from ledger.stock s where s.stock_container_id = old.id;
  else
    select sum(s.quantity) into held from ledger.stock s where s.bin_location_id = old.id;
  end if;
  if held > 0 then
    perform mutation.refuse('WAREHOUSE_NOT_EMPTY', format('%s %s still holds stock: %s units. Transfer '
      'them to another place first.',
      case tg_table_name when 'warehouse' then 'Warehouse' when 'bin_location' then 'Bin'
        else 'Container' end,
      coalesce(to_jsonb(old) ->> 'code', to_jsonb(old) ->> 'number'), held), null,
        jsonb_build_object('quantity', held));
  end if;
  return coalesce(new, old);
end
$$;
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse, a bin or a container that holds stock, or to move such a bin '
  'to another warehouse. A bin must not have containers in it, either.';
--! EndIncluded ledger/require_empty_place.sql
--! Included ledger/warn_of_hold.sql
drop function if exists ledger.warn_of_hold(uuid[]);
create or replace function ledger.warn_of_hold(batch_ids uuid[], list text default 'ids') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row (mutation.path(list, i.n), u.product_id, u.quantity, null, 'warehouse', u.warehouse_id::text,
      'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from unnest(batch_ids) with ordinality i (id, n)
    join ledger.units_of_batches(batch_ids) u on u.batch_id = i.id
    order by i.n, u.warehouse_id
  ));
  -- Units that were picked already lie in a container, and would only be refused when they are packed
  perform mutation.warn((
    select jsonb_agg(mutation.user_error('STOCK_PROMISED',
      format('Pick list %s has %s units of batch %s.', x.list_number, x.units, x.batch_number),
      mutation.path(list, x.n),
      jsonb_build_object('productId', 'gid://service/Product/' || x.product_id, 'pickListNumber',
        x.list_number, 'planned', x.units, 'left', 0)) order by x.n, x.list_number)
    from (
      select i.n, b.product_id, b.number as batch_number, p.number as list_number,
        sum(case l.state when 'open' then l.quantity else l.picked_quantity end) as units
      from unnest(batch_ids) with ordinality i (id, n)
      join erp.batch b on b.id = i.id
      join erp.pick_list_line l on l.batch_id = b.id and (l.state = 'open' or l.picked_quantity > 0)
      join erp.pick_task t on t.id = l.pick_task_id and t.state = 'open'
      join erp.pick_list p on p.id = l.pick_list_id
      group by i.n, b.id, p.id
    ) x
  ));
end
$$;
comment on function ledger.warn_of_hold(uuid[], text) is
  'Warns if orders wait for units of batches that have been put on hold: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises; and if pick lists have units of them. Nulls among the batches are ignored. The '
  'list is the field of the input that has the batches.';
select api_meta.plan_by_index('ledger.warn_of_hold(uuid[], text)');
select api_meta.give('ledger.warn_of_hold(uuid[], text)', 'service_ledger');
grant execute on function ledger.warn_of_hold(uuid[], text) to service_writer;
--! EndIncluded ledger/warn_of_hold.sql
--! Included valuation/position_of.sql
create or replace function valuation.position_of(day date) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  today constant date := erp.local_date(now());
  newest constant valuation.run := valuation.run_of(null, 9223372036854775807, null, null);
begin
  if day > today then
    perform mutation.refuse('OUT_OF_RANGE', 'The day is in the future.', '{day}');
  elsif day <= newest.after_day then
    perform mutation.refuse('PERIOD_CLOSED',
      format('Report %s closed the period up to %s. Give a later day.', newest.report_number,
        newest.after_day), '{day}',
      jsonb_build_object('number', newest.report_number, 'referenceDate', newest.after_day));
  end if;
  return greatest(newest.after, case when day < today then valuation.cut(day)
    else coalesce((select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0)
    end);
end
$$;
comment on function valuation.position_of(date) is
  'Returns the number of the last movement before a booking of value at the end of a day. Call it under '
  'valuation.lock(). User errors OUT_OF_RANGE, PERIOD_CLOSED.';
grant execute on function valuation.position_of(date) to service_writer;
--! EndIncluded valuation/position_of.sql
--! Included erp/check_pick_place.sql
create or replace function erp.check_pick_place(
  batch_ids uuid[], bin_location_id uuid, stock_container_id uuid, warehouse_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  remedy constant text := 'Report what is still to be picked by pickListLineShort; pickListCancel puts back '
    'what was picked.';
  batch erp.batch;
  bin erp.bin_location;
begin
  select * into batch from erp.batch b
  where b.id = any (batch_ids) and (b.is_held or b.best_before_date < erp.local_date(now()))
  order by b.number limit 1;
  if batch.is_held then
    perform mutation.refuse('BATCH_HELD', format('Batch %s is on hold. %s', batch.number, remedy), '{id}');
  elsif found then
    perform mutation.refuse('BATCH_EXPIRED', format('Batch %s was best before %s. %s', batch.number,
      batch.best_before_date, remedy), '{id}');
  end if;
  select * into bin from erp.bin_location b where b.id = coalesce(check_pick_place.bin_location_id, (
    select c.bin_location_id from erp.stock_container c where c.id = check_pick_place.stock_container_id));
  if bin.stock_state <> 'sellable' then
    perform mutation.refuse('BIN_NOT_SELLABLE', format('The units in bin %s are %s. %s', bin.code,
      case bin.stock_state when 'damaged' then 'damaged' else 'in quality control' end, remedy), '{id}');
  elsif bin.warehouse_id <> check_pick_place.warehouse_id then
    perform mutation.refuse('INVALID', format('Bin %s stands in another warehouse now. Report the units as '
      'missing.', bin.code), '{id}');
  end if;
end
$$;
comment on function erp.check_pick_place(uuid[], uuid, uuid, uuid) is
  'Refuses units of batches, and of a bin, that may not be sold any more, or a bin that has left the '
  'warehouse. User errors BATCH_HELD, BATCH_EXPIRED, BIN_NOT_SELLABLE, INVALID.';
select api_meta.plan_by_index('erp.check_pick_place(uuid[], uuid, uuid, uuid)');
grant execute on function erp.check_pick_place(uuid[], uuid, uuid, uuid) to service_writer;
--! EndIncluded erp/check_pick_place.sql
--! Included erp/require_places.sql
create or replace function erp.require_places(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message,
    mutation.path('lines', e.line) || mutation.path('places', e.nth) || e.field) order by e.line, e.nth)
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select f.line, f.nth, f.code, f.message, f.field
    from erp.faults_of_shipping_containers(lines, places, source_id) f
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p
    left join erp.bin_location b on b.id = p.bin_location_id
    left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could be taken from a place.', '{place}'
    from unnest(places) p
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p
    where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
    union all
    select p.line, p.nth, 'BATCH_HELD', format('Batch %s is on hold. Name another one, or release it by '
      'batchRelease.', b.number), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.is_held and b.product_id = l.product_id
    union all
    select p.line, p.nth, 'BIN_NOT_SELLABLE', format('The units in bin %s are %s.', b.code,
      case b.stock_state when 'damaged' then 'damaged' else 'in quality control' end), '{place}'
    from unnest(places) p
    cross join lateral ledger.site(null, p.bin_location_id, p.stock_container_id) t
    join erp.bin_location b on b.id = t.bin_location_id
    where b.stock_state <> 'sellable' and b.warehouse_id = source_id
    union all
    select p.line, p.nth, 'BATCH_EXPIRED', format('Batch %s was best before %s. Name another one.', b.number,
      b.best_before_date), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.best_before_date < erp.local_date(now()) and b.product_id = l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that a warehouse cannot take units of lines from. Batches that are short of '
  'the promised shelf life may be named. User errors NOT_FOUND, INVALID, BATCH_MISMATCH, BATCH_HELD, '
  'BIN_NOT_SELLABLE, BATCH_EXPIRED, PICKED_FOR_ORDER.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
--! Included erp/lock_divisible_order.sql
create or replace function erp.lock_divisible_order(fulfillment_order_id uuid, action text)
returns erp.fulfillment_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.fulfillment_order := erp.lock_fulfillment_order(fulfillment_order_id, '{id}');
begin
  if present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold. Release the hold first.', '{id}');
  elsif present.state = 'InProgress' then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'Work on the fulfillment order has begun. Cancel it '
      'by fulfillmentOrderCancel, and assign its open units by fulfillmentOrderCreate.', null,
      jsonb_build_object('state', present.state,
        'allowedActions', erp.allowed_actions('fulfillment_order', present.state)));
  end if;
  perform erp.next_state('fulfillment_order', action, present.state);
  return present;
end
$$;
comment on function erp.lock_divisible_order(uuid, text) is
  'Takes the locks of a fulfillment order that is to be moved or split, and of its order. Returns it. User '
  'errors NOT_FOUND, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION.';
grant execute on function erp.lock_divisible_order(uuid, text) to service_writer;
--! EndIncluded erp/lock_divisible_order.sql
--! Included erp/delete_warehouse.sql
create or replace function erp.delete_warehouse(warehouse_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- As the other mutations of warehouses do, before any row
  lock table erp.warehouse in share row exclusive mode;
  perform from erp.warehouse w where w.id = warehouse_id for update;
  if not found then
    perform mutation.refuse_missing('warehouse', '{id}');
  end if;
  if exists (
    select from erp.goods_receipt r
    where r.warehouse_id = delete_warehouse.warehouse_id and r.state in ('approved', 'in_progress')
  ) then
    perform mutation.refuse('REFERENCE_IN_USE', 'Goods are being received in this warehouse. Complete '
      'its goods receipts first.', '{id}');
  end if;
  if exists (
    select from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
    where l.warehouse_id = delete_warehouse.warehouse_id and f.state in ('Open', 'InProgress', 'OnHold')
  ) then
    perform mutation.refuse('REFERENCE_IN_USE', 'Orders are still to be fulfilled from this warehouse. Give '
      'them to another one by fulfillmentOrderMove first.', '{id}');
  end if;
  if exists (
    select from erp.stock_reservation r
    where r.warehouse_id = delete_warehouse.warehouse_id and r.open_quantity > 0
  ) then
    perform mutation.refuse(
      'REFERENCE_IN_USE', 'Stock is reserved in this warehouse. Release it first.', '{id}'
    );
  end if;
  delete from erp.warehouse w where w.id = warehouse_id;
  return warehouse_id;
end
$$;
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive, to fulfill or reserved, and is not a default. '
  'Returns its id.';
grant execute on function erp.delete_warehouse(uuid) to service_writer;
--! EndIncluded erp/delete_warehouse.sql
--! Included erp/approve_goods_receipt.sql
create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  drafts ledger.draft[] := '{}';
  booked ledger.booked;
begin
  if present.type = 'Customer' then
    perform erp.lock_returns_of(present.id);
  end if;
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more. Name one by '
      'goodsReceiptUpdate.', '{id}');
  end if;
  select jsonb_agg(e.error order by e.id) into errors
  from (
    select l.id,
      mutation.user_error('BATCH_REQUIRED',
        format('Product %s is kept in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number)) as error
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and p.is_batch_managed and l.batch_id is null
    union all
    select l.id,
      mutation.user_error('REQUIRED',
        format('The line of product %s must name its return order.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and present.type = 'Customer' and l.quantity > 0
      and l.return_order_id is null
  ) e;
  perform mutation.refuse(errors);
  if present.type = 'Customer' then
    perform erp.require_returns(present);
    drafts := erp.return_drafts(present);
  end if;
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  drafts := drafts || array(
    select row ('{id}', l.product_id, abs(l.quantity), l.batch_id,
      case
        when l.quantity < 0 then p.type
        when present.type = 'Customer' then 'return_order'
        else 'special_stock_location' end,
      case
        when l.quantity < 0 then p.place
        when present.type = 'Customer' then l.return_order_id::text
        else 'unknown' end,
      'goods_receipt', present.id::text, erp.goods_receipt_process(present.type))::ledger.draft
    from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) p
    where l.goods_receipt_id = present.id and l.product_id is not null order by l.id
  );
  perform erp.check_line_containers(present, drafts);
  booked := ledger.post(drafts, null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booked;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are. Units of a line of a return come from its order, '
  'through the return, in the same booking.';
grant execute on function erp.approve_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/approve_goods_receipt.sql
--! Included erp/plan_uncovered.sql
create or replace function erp.plan_uncovered(
  order_id uuid, warehouse_id uuid, out assignments erp.assignment[], out planned erp.assignment[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered ledger.change[] := erp.uncovered_lines(order_id);
  lines constant ledger.change[] := uncovered;
  home uuid;
  called_off ledger.change[];
  elsewhere uuid;
begin
  planned := '{}';
  if cardinality(uncovered) = 0 then
    assignments := '{}';
    return;
  elsif warehouse_id is not null then
    home := erp.location_of_warehouse(warehouse_id, '{warehouse_id}');
    assignments := array(
      select row (home, u.owner_id, u.item_id, u.quantity)::erp.assignment from unnest(uncovered) u
    );
    return;
  end if;
  planned := sourcing.checked_plan(order_id);
  assignments := planned;
  if planned <> '{}' then
    uncovered := array(
      select row (u.owner_id, u.item_id, u.quantity - coalesce(p.quantity, 0))::ledger.change
      from unnest(lines) with ordinality u
      left join (
        select a.order_line_item_id, sum(a.quantity) as quantity from unnest(planned) a group by 1
      ) p on p.order_line_item_id = u.owner_id
      where u.quantity > coalesce(p.quantity, 0) order by u.ordinality);
    if cardinality(uncovered) = 0 then
      return;
    end if;
  end if;
  select l.id into home from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where w.is_default and l.active for key share of l;
  called_off := array(select u from unnest(uncovered) u where erp.is_called_off((u).owner_id, home));
  if cardinality(called_off) > 0 then
    elsewhere := erp.other_location(order_id, called_off);
    perform from erp.location l where l.id = elsewhere for key share;
    if not found then
      perform mutation.refuse('INSUFFICIENT_STOCK',
        'The default warehouse does not ship units whose shipping was cancelled there, '
        'and no other warehouse has all of them. Name a warehouse to ship them from there.', '{order_id}',
        jsonb_build_object('requested', (select sum(c.quantity) from unnest(called_off) c)));
    end if;
  end if;
  if home is null and cardinality(called_off) < cardinality(uncovered) then
    perform mutation.refuse(
      'INVALID', 'The default warehouse has no active location to ship from.', '{order_id}'
    );
  end if;
  assignments := array(
    select row (
      case when u = any (called_off) then elsewhere else home end, u.owner_id, u.item_id, u.quantity
    )::erp.assignment
    from unnest(uncovered) u);
  if planned <> '{}' then
    assignments := erp.joined_assignments(planned || assignments);
  end if;
end
$$;
comment on function erp.plan_uncovered(uuid, uuid) is
  'Returns the locations that are to ship the units of an order that no open fulfillment order has. That is '
  'the location of the given warehouse, or else the locations of sourcing.plan. What a plan leaves out goes '
  'to the default warehouse or, if its shipping was cancelled there, to erp.other_location. Locations are '
  'protected from deletion until the end of the transaction. Also returns the plan alone. User errors '
  'NOT_FOUND, INVALID, INSUFFICIENT_STOCK, SOURCING_PLAN_INVALID.';
grant execute on function erp.plan_uncovered(uuid, uuid) to service_writer;
--! EndIncluded erp/plan_uncovered.sql
--! Included mutation/broken_rule.sql
create or replace function mutation.broken_rule(
  state text, detail text, input jsonb, violated_schema name, violated_table name, violated_column name,
  violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
  referring text[];
begin
  if state = 'UE001' then
    return detail::jsonb;
  end if;
  error := case
    when state = '22003' then
      mutation.user_error('OUT_OF_RANGE', 'A quantity or an amount would become too large.')
    -- The caller gave null for a required value
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key with on delete restrict, whose comment may be about rows that name what doesn't exist
    when state = '23001' then coalesce(
      (select v from mutation.violation(violated_schema, violated_table, violated_constraint) v
        where v ->> 'code' = 'REFERENCE_IN_USE'),
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.'))
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  if error is null and state = '23503' then
    -- The column is in the input, so the caller has named something that doesn't exist
    select array_agg(a.attname::text) into referring
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.contype = 'f' and c.conname = violated_constraint
      and c.conrelid = to_regclass(format('%I.%I', violated_schema, violated_table))
      and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@internal'
      and jsonb_path_exists(input, format('$.**.%s', to_json(a.attname))::jsonpath);
    if referring is not null then
      error := mutation.user_error('NOT_FOUND', 'This refers to something that does not exist.',
        case when input ?& referring then referring end);
    end if;
  end if;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, text, jsonb, name, name, name, name) is
  'Returns the user errors of an exception in a mutation. They are the detail of an exception of '
  'mutation.refuse, or follow from the SQLSTATE and the violated constraint. Null if the exception is an '
  'internal fault. A foreign key needs no comment if its column has the same name in the input.';
grant execute on function mutation.broken_rule(text, text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded mutation/broken_rule.sql
comment on constraint pick_list_warehouse_id_fkey on erp.pick_list is
  E'@userError REFERENCE_IN_USE id\nPick lists keep the warehouse. Close it instead: warehouseUpdate with '
  'isStockAvailableForSale false, and locationsUpsert with active false.';
comment on constraint stocktake_warehouse_id_fkey on erp.stocktake is
  E'@userError REFERENCE_IN_USE id\nStocktakes keep the warehouse. Close it instead: warehouseUpdate with '
  'isStockAvailableForSale false, and locationsUpsert with active false.';
comment on constraint stock_container_warehouse_id_fkey on erp.stock_container is
  E'@userError REFERENCE_IN_USE id\nContainers are in the warehouse: delete them by stockContainerDelete '
  'first.';
comment on index erp.stocktake_line_is_counted_by_one_stocktake is
  E'@userError IN_OTHER_STOCKTAKE\nAnother stocktake that is not finished counts the same stock. Approve '
  'or cancel it first.';

--! split: 30-sales.sql
-- An accepted quote tells what its order lacks; refusals say what to do
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
  'PURCHASE_QUANTITY', 'MINIMUM_ORDER_VALUE', 'PRODUCT_DELETED', 'CUSTOMER_ANONYMIZED');
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
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included erp/warn_of_quoted_order.sql
create or replace function erp.warn_of_quoted_order("order" uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform mutation.warn((
    with line as (
      select l.id, l.label, l.position, l.product_id from erp.sales_order_line_item l
      where l.order_id = warn_of_quoted_order."order" and l.type = 'product'
    )
    select jsonb_agg(mutation.user_error(w.code, w.message, '{id}', w.details) order by w.nth, w.id)
    from (
      select l.position, l.id, 'PRODUCT_DELETED', format('The product of line %s is gone: no stock is '
        'reserved or booked for it. Give the line another product by ordersUpsert.', l.label),
        jsonb_build_object('orderLineItemId', 'gid://service/OrderLineItem/' || l.id)
      from line l where l.product_id is null
      union all
      select l.position, l.id, 'PRODUCT_HAS_VARIANTS', format('Product %s only stands for its variants: '
        'its stock cannot be sold. Give the line one of them by ordersUpsert.', p.product_number),
        jsonb_build_object('orderLineItemId', 'gid://service/OrderLineItem/' || l.id,
          'productId', 'gid://service/Product/' || p.id)
      from line l join erp.product p on p.id = l.product_id
      where p.id = any (erp.those_with_variants(array(select x.product_id from line x)))
      union all
      select 0, c.id, 'CUSTOMER_ANONYMIZED', 'The customer was anonymized, and so were the addresses of the '
        'quote. Name the customer and the addresses by ordersUpsert before the order is shipped.',
        jsonb_build_object('customerId', 'gid://service/Customer/' || c.id)
      from erp.sales_order o join erp.customer c on c.id = o.customer_id
      where o.id = warn_of_quoted_order."order" and c.email = c.id || '@anonymized.invalid'
    ) w (nth, id, code, message, details)));
end
$$;
comment on function erp.warn_of_quoted_order(uuid) is
  'Warns about what has happened to the products and the customer of a quote that becomes an order. '
  'Warnings PRODUCT_DELETED, PRODUCT_HAS_VARIANTS, CUSTOMER_ANONYMIZED.';
grant execute on function erp.warn_of_quoted_order(uuid) to service_writer;
--! EndIncluded erp/warn_of_quoted_order.sql
--! Included erp/accept_quote.sql
create or replace function erp.order_of_quote(quote_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('sales_channel_id', q.sales_channel_id, 'currency_id', q.currency_id,
    'customer_id', q.customer_id, 'tax_status', coalesce(q.tax_status, 'gross'),
    'shipping_address', q.shipping_address, 'billing_address', q.billing_address,
    'line_items', (
      select jsonb_agg(to_jsonb(l) - '{id,quote_id,created_at,updated_at}'::text[] order by l.position, l.id)
      from erp.quote_line_item l where l.quote_id = q.id
    ))
  from erp.quote q where q.id = order_of_quote.quote_id;
end;
comment on function erp.order_of_quote(uuid) is
  'Returns the order that a quote becomes, in the form of a row of erp.upsert_orders, except its numbers.';
grant execute on function erp.order_of_quote(uuid) to service_writer;

create or replace function erp.accept_quote(
  quote_id uuid, order_number text, purchase_order_number text, revision integer, allow_expired boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.quote := erp.lock_quote(quote_id);
  made mutation.upsert_row;
  new_state text;
begin
  if present.state = 'accepted' and present.order_id is not null then
    return present.order_id;
  end if;
  new_state := erp.next_state('quote', 'accept', present.state);
  if revision <> present.revision then
    perform mutation.refuse('INVALID', format('The quote has revision %s now.', present.revision),
      '{revision}', jsonb_build_object('revision', present.revision));
  elsif not coalesce(allow_expired, false)
    and (present.state = 'expired' or present.valid_until <= ledger.moment()) then
    perform mutation.refuse('QUOTE_EXPIRED', 'The quote has expired. Say allowExpired to accept it anyway, '
      'or make it a draft again by quoteRevise.', '{id}',
      jsonb_build_object('validUntil', present.valid_until));
  end if;
  -- Products come before number ranges
  perform ledger.lock(array(select distinct l.product_id from erp.quote_line_item l
    where l.quote_id = present.id and l.product_id is not null));
  order_number := coalesce(order_number,
    erp.next_free_number('order', 'erp.sales_order', 'order_number'));
  select u.* into made from unnest(erp.upsert_orders(jsonb_build_array(erp.order_of_quote(present.id)
    || jsonb_build_object('order_number', accept_quote.order_number,
      'purchase_order_number', accept_quote.purchase_order_number)), true)) u;
  perform mutation.refuse((
    select jsonb_agg(e || jsonb_build_object('field', (e -> 'field') - 0 - 0))
    from jsonb_array_elements(made.errors) e
  ));
  -- The number has led to an order that exists, whose changes are undone
  if not made.is_new then
    perform mutation.refuse('NOT_UNIQUE', 'Another order has this number.', '{order_number}');
  end if;
  update erp.quote q set state = new_state, order_id = made.id where q.id = present.id;
  perform erp.warn_of_quoted_order(made.id);
  return made.id;
end
$$;
comment on function erp.accept_quote(uuid, text, text, integer, boolean) is
  'Makes an order of a quote that was sent, with its prices, taxes, addresses, customer and sales channel, '
  'unless there is one already. The order gets the next free number of its range, if none is given. Returns '
  'the order. User errors NOT_FOUND, INVALID_STATE_TRANSITION, INVALID, QUOTE_EXPIRED, NOT_UNIQUE. '
  'Warnings of erp.warn_of_quoted_order.';
grant execute on function erp.accept_quote(uuid, text, text, integer, boolean) to service_writer;
--! EndIncluded erp/accept_quote.sql
--! Included api/quote_accept.sql
drop type if exists api_unstable.quote_accept_payload cascade;
create type api_unstable.quote_accept_payload as (
  quote uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.quote_accept_payload is 'The result of accepting a quote.';
comment on column api_unstable.quote_accept_payload.quote is
  E'@entity Quote\nThe quote as it is now; null when it was refused.';
comment on column api_unstable.quote_accept_payload."order" is
  E'@entity Order\nThe order that the quote has become; null when it was refused.';
comment on column api_unstable.quote_accept_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.quote_accept_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.quote_accept_input cascade;
create type api_unstable.quote_accept_input as (
  id uuid, order_number text, purchase_order_number text, revision integer, allow_expired boolean
);
comment on type api_unstable.quote_accept_input is 'A quote that the customer has accepted.';
comment on column api_unstable.quote_accept_input.id is
  E'@notNull\n@gid Quote\nId of the quote.';
comment on column api_unstable.quote_accept_input.order_number is
  'Number of the order, unique; at most 255 characters. By default the next free one of the number range of '
  'orders.';
comment on column api_unstable.quote_accept_input.purchase_order_number is
  'Number of the buyer''s purchase order (BT-13); at most 255 characters.';
comment on column api_unstable.quote_accept_input.revision is
  'Revision that the customer has seen. Another one is refused. Left out, any is accepted.';
comment on column api_unstable.quote_accept_input.allow_expired is
  E'@neverNull\nWhether a quote may be accepted after validUntil. False when left out.';

create function api_unstable.quote_accept(input api_unstable.quote_accept_input)
returns api_unstable.quote_accept_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, erp.accept_quote(input.id, input.order_number, input.purchase_order_number,
    input.revision, input.allow_expired), null, null)::api_unstable.quote_accept_payload
$$;
comment on function api_unstable.quote_accept(api_unstable.quote_accept_input) is $$
@requiresScopes quotes:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID QUOTE_EXPIRED NOT_UNIQUE OUT_OF_RANGE
@warnings PRODUCT_DELETED PRODUCT_HAS_VARIANTS CUSTOMER_ANONYMIZED
Makes an order of a quote that was sent, with its lines, prices, taxes, addresses, customer and sales
channel. Its units are reserved as in other orders. A quote that has become an order
already returns it.$$;
--! EndIncluded api/quote_accept.sql
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
  'Returns for each line of orders the units that are shipped, that open fulfillment orders have, and that '
  'are invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced,
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
    select f.* from unnest(erp.faults_of_named_lines(lines, 'order')) f
    union all
    select l.line, 'NOT_EDITABLE',
      format('The order is %s: its lines cannot change. Open it by orderReopen first.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state = 'cancelled' and (l.is_new or l.changes <> '{}')
      -- An invoice that was refused for such data is made after the shipment
      or l.state = 'completed' and (l.is_new
        or not l.changes <@ '{tax_category,exemption_code,discount_reason,unit_code}')
    union all
    select l.line, 'NOT_EDITABLE',
      format('%s units are shipped or assigned: cancel their fulfillment orders first.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate', 'tax_category', 'exemption_code') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with lines of an upsert of orders: shipped, assigned or invoiced units must not '
  'change.';
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
    select f.* from unnest(erp.faults_of_their_lines(orders, lines, 'order_id')) f
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'The order is closed, or parts of it are shipped or invoiced.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of orders beyond the rules of the table, including the '
  'errors of their lines. Shipped, assigned or invoiced units must not change, nor closed orders.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql
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
  if present.state = 'completed' then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      'The order is completed. Take back parcels that have not left by fulfillmentCancel first, or let a '
      'return bring the goods back, by returnOrderCreate.', null, jsonb_build_object(
      'state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)));
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Parts of the order are shipped. Cancel its fulfillments first, or let a return bring them back.',
      '{id}', jsonb_build_object('allowedActions', erp.allowed_actions('order', present.state)));
  elsif cardinality(erp.open_invoices(present.id)) > 0 then
    perform mutation.refuse('NOT_EDITABLE',
      'The order is invoiced. Take its invoices back first, by documentCreate with the type storno, or '
      'credit_note for what is left of a partly credited one.', '{id}',
      jsonb_build_object('invoices', erp.open_invoices(present.id)));
  end if;
  perform from erp.location l where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = present.id
  ) order by l.id for key share;
  perform ledger.lock_promises(present.id);
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null, was_cancelled_with_order = true
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
  'Cancels an order of which nothing is shipped or charged, and its open fulfillment orders, so that '
  'nothing is reserved for it any more. Externally managed fulfillment orders stay unchanged. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
--! Included erp/retry_shipping_label.sql
create or replace function erp.retry_shipping_label(label_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.shipping_label := erp.lock_shipping_label(label_id);
  wanted constant text := erp.next_state('shipping_label', 'retry', present.state);
begin
  if present.parcel_number is null then
    perform mutation.refuse('NOT_EDITABLE', 'Another program made the label. Request a new one.', '{id}');
  elsif present.cancellation_requested_at is not null then
    perform mutation.refuse('NOT_EDITABLE', 'The label is being cancelled. Request a new one.', '{id}');
  elsif present.type = 'outgoing' and (
    exists (select from erp.fulfillment_order f
      where f.id = present.fulfillment_order_id and f.state = 'Cancelled')
    or exists (select from erp.sales_order o where o.id = present.order_id and o.state = 'cancelled')
  ) then
    perform mutation.refuse('NOT_EDITABLE', 'What the label is for is cancelled, so nothing is shipped. '
      'Request a label for another fulfillment order.', '{id}');
  end if;
  perform erp.require_unlabelled_parcel(present, '{id}');
  update erp.shipping_label l set state = wanted where l.id = present.id;
  return present.id;
end
$$;
comment on function erp.retry_shipping_label(uuid) is
  'Requests a failed label again. The carrier gets the same key, so it never makes a second label. Returns '
  'its id. User errors NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE, NOT_UNIQUE.';
select api_meta.plan_by_index('erp.retry_shipping_label(uuid)');
grant execute on function erp.retry_shipping_label(uuid) to service_writer;
--! EndIncluded erp/retry_shipping_label.sql

--! split: 40-put-away.sql
-- Goods receipts put units into containers, and shipments take them from there
alter type erp.placement drop attribute if exists stock_container_id cascade;
alter type erp.placement add attribute stock_container_id uuid;
alter type erp.shipping_place drop attribute if exists stock_container_id cascade;
alter type erp.shipping_place add attribute stock_container_id uuid;

drop view if exists api_unstable.goods_receipt_line_items cascade;
alter table erp.goods_receipt_line_item drop column if exists destination_stock_container_id cascade;
alter table erp.goods_receipt_line_item add column destination_stock_container_id uuid;
alter table erp.goods_receipt_line_item
  add constraint goods_receipt_line_item_destination_stock_container_id_fkey
  foreign key (destination_stock_container_id) references erp.stock_container on delete set null not valid;
comment on column erp.goods_receipt_line_item.destination_stock_container_id is
  'The container that the units are to be put into, or are taken from if they are negative.';
-- waive index-blocks-writes: the column is new, so the index has no rows; receipts wait while the table is read.
create index on erp.goods_receipt_line_item (destination_stock_container_id)
  where destination_stock_container_id is not null;
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item',
  'update (destination_stock_container_id)');
alter type erp.goods_receipt_line drop attribute if exists destination_stock_container_id cascade;
alter type erp.goods_receipt_line add attribute destination_stock_container_id uuid;

--! Included ledger/place_columns.sql
-- Has no settings, so that Postgres inlines it into the calling statement
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
  'Returns a place, given by its kind and its key (see ledger.stock.place), as the columns of tables that '
  'refer to it.';
grant execute on function ledger.place_columns(text, text) to service_ledger, service_booker, service_writer;
--! EndIncluded ledger/place_columns.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.lock(array_agg(d.product_id), array_agg(s.warehouse_id) || array_agg(t.warehouse_id),
    array_agg(s.bin_location_id) || array_agg(t.bin_location_id),
    array_agg(s.stock_container_id) || array_agg(t.stock_container_id))
  from unnest(drafts) d
  cross join lateral ledger.place_columns(d.source_type, d.source) s
  cross join lateral ledger.place_columns(d.destination_type, d.destination) t;
end;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of ledger.lock for the products and places of movements to be booked.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger, service_writer;
--! EndIncluded ledger/lock_places.sql
--! Included ledger/check_containers.sql
drop function if exists ledger.check_containers(ledger.named_place[]);
create or replace function ledger.check_containers(places ledger.named_place[], list text default 'lines')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    case when c.fulfillment_order_id is not null then mutation.user_error('PICKED_FOR_ORDER',
      format('What is in container %s was picked for fulfillment order %s.', c.number, f.number),
      mutation.path(list, p.line) || array[p.name, 'stock_container_id'], jsonb_build_object(
        'fulfillmentOrderId', 'gid://service/FulfillmentOrder/' || f.id, 'number', f.number))
    else mutation.user_error('INVALID',
      format('Container %s is in no warehouse: it can only be emptied, by stockTransfer.', c.number),
      mutation.path(list, p.line) || array[p.name, 'stock_container_id']) end
    order by p.line, p.name)
  into errors
  from unnest(places) p join erp.stock_container c on c.id = p.stock_container_id
  left join erp.fulfillment_order f on f.id = c.fulfillment_order_id
  where c.fulfillment_order_id is not null or c.warehouse_id is null and p.name <> 'source';
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_containers(ledger.named_place[], text) is
  'Refuses containers of a mutation of stock: those with units that are picked for a fulfillment order, and '
  'those in no warehouse, which can only be emptied. The containers are locked. The text is the name of '
  'the list in the input. User errors PICKED_FOR_ORDER, INVALID.';
select api_meta.plan_by_index('ledger.check_containers(ledger.named_place[], text)');
grant execute on function ledger.check_containers(ledger.named_place[], text)
  to service_ledger, service_writer;
--! EndIncluded ledger/check_containers.sql
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
    format('Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested)
    || coalesce(' Of what lies there, ' || nullif(concat_ws(', ', n.planned || ' are planned for pick lists',
      u.held || ' are on hold', u.expired || ' have expired',
      u.blocked || ' lie in bins that are not sellable',
      u.short || ' are short of the promised shelf life, unless you name their batches'), '') || '.', '')
    || case when e.units > 0
      then format(' Other warehouses hold %s: give them the units by fulfillmentOrderMove, or by '
        'fulfillmentOrderCreate if no fulfillment order has them.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number, 'held', u.held,
      'expired', u.expired, 'short', u.short, 'notSellable', u.blocked,
      'planned', n.planned
    ))) order by t.line)
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
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (
    select coalesce(sum(s.quantity - s.held_quantity), 0) as units from ledger.warehouse_stock s
    where s.product_id = t.product_id and s.warehouse_id <> t.warehouse_id
  ) e
  cross join lateral (
    select sum(q.quantity) as planned from ledger.planned_picks(array[t.product_id], array[t.warehouse_id],
      array(select l.fulfillment_order_id from unnest(picks) k
        join erp.fulfillment_order_line_item l on l.id = k.line_id), false) q
  ) n
  -- Units in the warehouse that are not picked, by reason
  cross join lateral (
    select sum(i.quantity) filter (where not i.is_blocked and i.is_held) as held,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left < 0) as expired,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left >= 0
        and i.days_left < coalesce(p.minimum_remaining_shelf_life_days, 0)) as short,
      nullif(sum(i.in_place) filter (where i.is_blocked and i.nth = 1), 0) as blocked
    from (
      select b.quantity, x.is_held, x.best_before_date - erp.local_date(now()) as days_left,
        not l.is_sellable as is_blocked, s.quantity as in_place,
        row_number() over (partition by s.id) as nth
      from ledger.stock s
      cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) l
      left join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
      left join erp.batch x on x.id = b.batch_id
      where s.product_id = t.product_id and l.warehouse_id = t.warehouse_id
        and l.fulfillment_order_id is null
    ) i
  ) u;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. Says how many lie there that are not picked, and '
  'how many pick lists are still to take. User error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included erp/put_away_place.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function erp.put_away_place(
  receipt erp.goods_receipt, line erp.goods_receipt_line_item
)
returns table (type text, place text)
language sql stable
begin atomic
  select p.type, p.place from (
    select case when line.destination_stock_container_id is null then coalesce(
      line.destination_bin_location_id,
      (select c.default_bin_location_id from erp.product_warehouse_configuration c
        where c.product_id = line.product_id and c.warehouse_id = receipt.warehouse_id)) end as bin
  ) b cross join lateral ledger.place_of(case when b.bin is null then receipt.warehouse_id end, b.bin,
    line.destination_stock_container_id) p;
end;
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Returns the default place where a line is put away: its own container or bin, otherwise the '
  'usual bin of the product in the warehouse, otherwise the warehouse. Units of lines with a negative '
  'quantity are taken from there.';
grant execute on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item)
  to service_writer;
--! EndIncluded erp/put_away_place.sql
--! Included erp/check_line_containers.sql
create or replace function erp.check_line_containers(receipt erp.goods_receipt, drafts ledger.draft[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  containers constant uuid[] := array(
    select p.place::uuid from unnest(drafts) d
    cross join lateral (values (d.source_type, d.source), (d.destination_type, d.destination)) p (type, place)
    where p.type = 'stock_container');
  errors jsonb;
begin
  if containers = '{}' then
    return;
  end if;
  -- Until the goods are booked, nobody moves the containers or packs for an order into them
  perform ledger.lock_places(drafts);
  select jsonb_agg(case
    when c.warehouse_id is distinct from receipt.warehouse_id then mutation.user_error('INVALID',
      format('Container %s is in another warehouse: name another place for its line.', c.number), '{id}')
    else mutation.user_error('PICKED_FOR_ORDER',
      format('What is in container %s was picked for fulfillment order %s.', c.number, f.number), '{id}',
      jsonb_build_object(
        'fulfillmentOrderId', 'gid://service/FulfillmentOrder/' || f.id, 'number', f.number))
    end order by c.number)
  into errors
  from erp.stock_container c left join erp.fulfillment_order f on f.id = c.fulfillment_order_id
  where c.id = any (containers)
    and (c.warehouse_id is distinct from receipt.warehouse_id or f.id is not null);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_line_containers(erp.goods_receipt, ledger.draft[]) is
  'Refuses movements of a goods receipt to or from containers that have left its warehouse since its lines '
  'named them, or that hold what was picked for an order. Locks the places. User errors INVALID, '
  'PICKED_FOR_ORDER.';
grant execute on function erp.check_line_containers(erp.goods_receipt, ledger.draft[]) to service_writer;
--! EndIncluded erp/check_line_containers.sql
--! Included erp/faults_of_things_named.sql
create or replace function erp.faults_of_things_named(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns table (line bigint, code text, message text, field text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
    select l.ordinality, case when b.id is null then 'NOT_FOUND' else 'BATCH_MISMATCH' end,
      case
        when b.id is null then 'There is no such batch.'
        else format('Batch %s belongs to another product.', b.number) end,
      'batch_id'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, 'INVALID', 'The batch has another number.', 'batch_number'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where l.batch_number <> b.number
    union all
    select l.ordinality, 'OUT_OF_RANGE',
      'Each unit has a serial number: a line has one unit, or -1 to take it back.', 'quantity'
    from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
    where p.has_serial_numbers and abs(l.quantity) > 1
    union all
    select l.ordinality, 'INVALID', 'Only receipts of type Customer name return orders.', 'return_order_id'
    from unnest(lines) with ordinality l where target.type <> 'Customer' and l.return_order_id is not null
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such return.', 'return_order_id'
    from unnest(lines) with ordinality l where l.return_order_id is not null
      and not exists (select from erp.return_order r where r.id = l.return_order_id)
      and not exists (select from erp.return_order_line_item i where i.id = l.return_order_id)
    union all
    select l.ordinality, 'INVALID', 'The line of the return is about another product: add a line about this '
      'one to the return.', 'return_order_line_item_id'
    from unnest(lines) with ordinality l join erp.return_order_line_item i on i.id = l.return_order_id
    where i.product_id <> l.product_id
    union all
    select l.ordinality, 'INVALID', 'The warehouse of the receipt has no such bin.',
      'destination_bin_location_id'
    from unnest(lines) with ordinality l where l.destination_bin_location_id is not null and not exists (
      select from erp.bin_location b
      where b.id = l.destination_bin_location_id and b.warehouse_id = target.warehouse_id)
    union all
    select l.ordinality, 'INVALID', case when l.destination_bin_location_id is null
        then 'The warehouse of the receipt has no such container.'
        else 'Name either a bin or a container: a container knows its bin.' end,
      'destination_stock_container_id'
    from unnest(lines) with ordinality l where l.destination_stock_container_id is not null
      and (l.destination_bin_location_id is not null or not exists (
        select from erp.stock_container c
        where c.id = l.destination_stock_container_id and c.warehouse_id = target.warehouse_id));
end
$$;
comment on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Returns what is wrong with the batches, serial numbers, return orders, bins and containers that lines '
  'of a goods receipt name.';
grant execute on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_things_named.sql
--! Included erp/resolve_goods_receipt_lines.sql
create or replace function erp.resolve_goods_receipt_lines(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns erp.goods_receipt_line[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Batches that are given by a new number are made
  insert into erp.batch (product_id, number)
  select l.product_id, l.batch_number from unnest(lines) with ordinality l
  where l.batch_number is not null and l.batch_id is null
    and exists (select from erp.product p where p.id = l.product_id)
  group by l.product_id, l.batch_number order by min(l.ordinality)
  on conflict (product_id, number) do nothing;
  return array(
    select row (l.id, l.product_id, l.quantity, coalesce(l.batch_id, b.id), l.batch_number,
      coalesce(o.id, s.id),
      coalesce(o.supplier_order_id, l.supplier_order_id), l.return_order_id, l.unit_price, l.tax_rate,
      l.planned_disposal_quantity, l.destination_bin_location_id,
      l.destination_stock_container_id)::erp.goods_receipt_line
    from unnest(lines) with ordinality l
    left join erp.batch b on b.product_id = l.product_id and b.number = l.batch_number
    left join lateral (
      -- An order without a line means its line of this product: the first that still expects some, or has
      -- some to return
      select i.id from erp.supplier_order_line_item i
      where l.supplier_order_line_item_id is null and i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id
      order by case when l.quantity > 0 then i.open_quantity else i.received_quantity end = 0, i."position",
        i.id
      limit 1
    ) s on true
    left join erp.supplier_order_line_item o on o.id = l.supplier_order_line_item_id
    order by l.ordinality
  );
end
$$;
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name indirectly: batches by number, which are created if they are '
  'new, and lines of supplier orders by the order. The lines must have been checked before.';
grant execute on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/resolve_goods_receipt_lines.sql
--! Included erp/set_goods_receipt_lines.sql
create or replace function erp.set_goods_receipt_lines(
  target erp.goods_receipt, given erp.goods_receipt_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines erp.goods_receipt_line[];
  ids uuid[];
  discount constant numeric := target.position_price
    - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_goods_receipt_lines(target, given);
  lines := erp.resolve_goods_receipt_lines(target, given);
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id and i.id <> all (ids);

  insert into erp.goods_receipt_line_item as i (id, goods_receipt_id, product_id, batch_id, return_order_id,
    return_order_line_item_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
      tax_rate, destination_stock_container_id)
  select ids[l.ordinality], target.id, l.product_id, l.batch_id,
    coalesce(r.return_order_id, l.return_order_id), r.id, l.supplier_order_id,
    l.supplier_order_line_item_id,
    l.destination_bin_location_id, l.quantity, coalesce(l.planned_disposal_quantity, 0),
    coalesce(l.unit_price,
      case when s.id is not null then erp.price_on_receipt(target, s.id, l.tax_rate) end),
    coalesce(l.tax_rate, s.tax_rate, p.tax_rate), l.destination_stock_container_id
  from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
  left join erp.supplier_order_line_item s on s.id = l.supplier_order_line_item_id
  -- A line may name the line of a return in place of the return
  left join erp.return_order_line_item r on r.id = l.return_order_id
  order by l.ordinality
  on conflict (id) do update
  set product_id = excluded.product_id, batch_id = excluded.batch_id,
    return_order_id = excluded.return_order_id,
    return_order_line_item_id = excluded.return_order_line_item_id,
    supplier_order_id = excluded.supplier_order_id,
      supplier_order_line_item_id = excluded.supplier_order_line_item_id,
    destination_bin_location_id = excluded.destination_bin_location_id,
    destination_stock_container_id = excluded.destination_stock_container_id, quantity = excluded.quantity,
    planned_disposal_quantity = excluded.planned_disposal_quantity, unit_price = excluded.unit_price,
      tax_rate = excluded.tax_rate;

  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
  select distinct target.id, l.supplier_order_id from unnest(lines) l where l.supplier_order_id is not null
  on conflict do nothing;

  update erp.goods_receipt r
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id
  ) a where r.id = target.id;
  perform erp.warn_of_lines(target, ids);
  perform erp.warn_of_conversions(target, lines);
end
$$;
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt: lines with an id are updated, others are inserted, and missing ones '
  'deleted. They are listed in this order, except that existing lines keep their order among themselves. '
  'Omitted prices and tax rates come from the supplier order, converted if its currency differs, and from '
  'the product. Warns about units that the orders do not have open.';
grant execute on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/set_goods_receipt_lines.sql
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
      supplier_order_line_item_id, destination_bin_location_id, quantity, unit_price, tax_rate,
      destination_stock_container_id)
    select p.id, l.goods_receipt_id, l.product_id, l.batch_id, l.return_order_id, p.supplier_order_id,
      p.supplier_order_line_item_id, l.destination_bin_location_id, p.quantity, l.unit_price, l.tax_rate,
      l.destination_stock_container_id
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
  'Splits the lines of a goods receipt so that each delivers one line of a supplier order, and no more than '
  'was open of it. The rest becomes a line without an order, with the same product, batch, price and place. '
  'Nothing is to be thrown away any more; totals stay the same. Warnings SURPLUS, ORDER_CANCELLED.';
grant execute on function erp.settle_receipt_lines(uuid, erp.receipt_part[]) to service_writer;
--! EndIncluded erp/settle_receipt_lines.sql
--! Included erp/update_goods_receipt.sql
create or replace function erp.update_goods_receipt(goods_receipt_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  always_editable constant text[] := '{id,comment,currency_factor}';
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  wanted erp.goods_receipt;
  errors jsonb;
begin
  if present.state not in ('draft', 'created') then
    select jsonb_agg(
      mutation.user_error(
        'NOT_EDITABLE', format('The receipt is %s: this cannot be changed any more.', present.state),
        array[key]
      )
    )
    into errors from jsonb_object_keys(changes - always_editable) key;
    perform mutation.refuse(errors);
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,currency_factor,is_draft}'::text[]);
  perform erp.check_goods_receipt(wanted);
  if wanted.supplier_id is distinct from present.supplier_id then
    perform erp.change_supplier_of_receipt(present.id, wanted.supplier_id);
  end if;
  if wanted.warehouse_id <> present.warehouse_id and exists (
    select from erp.goods_receipt_line_item i
    where i.goods_receipt_id = present.id
      and num_nonnulls(i.destination_bin_location_id, i.destination_stock_container_id) > 0
  ) then
    perform mutation.refuse('INVALID', 'Lines name bins or containers of the present warehouse.',
      '{warehouse_id}');
  end if;
  if changes ? 'currency_factor' or wanted.currency_id is distinct from present.currency_id then
    wanted := erp.with_currency_factor(wanted, (changes ->> 'currency_factor')::numeric);
  end if;
  if (changes ->> 'is_draft')::boolean <> (present.state = 'draft') then
    wanted.state := erp.next_state(
      'goods_receipt', case when present.state = 'draft' then 'create' else 'withdraw' end, present.state
    );
  end if;
  update erp.goods_receipt r
  set state = wanted.state, warehouse_id = wanted.warehouse_id, supplier_id = wanted.supplier_id,
    customer_id = wanted.customer_id,
    currency_id = wanted.currency_id, currency_factor = wanted.currency_factor,
      currency_factor_origin_type = wanted.currency_factor_origin_type,
    currency_factor_origin_source = wanted.currency_factor_origin_source,
      currency_factor_reference_date = wanted.currency_factor_reference_date,
    currency_factor_captured_at = wanted.currency_factor_captured_at, tax_status = wanted.tax_status,
      comment = wanted.comment,
    amount_net = a.amount_net, amount_total = a.amount_total
  from (
    select (erp.amounts(wanted.tax_status, array_agg(i.total_price), array_agg(i.tax_rate),
      present.position_price
        - case present.tax_status when 'gross' then present.amount_total else present.amount_net end)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = present.id
  ) a where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.update_goods_receipt(uuid, jsonb) is
  'Changes the columns of a goods receipt in the object, and whether it is a draft. After approval, only '
  'the comment and the exchange rate can change. A given factor counts as set manually; null takes the '
  'present factor. Returns its id.';
grant execute on function erp.update_goods_receipt(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_goods_receipt.sql
--! Included erp/approve_goods_receipt.sql
create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  drafts ledger.draft[] := '{}';
  booked ledger.booked;
begin
  if present.type = 'Customer' then
    perform erp.lock_returns_of(present.id);
  end if;
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more. Name one by '
      'goodsReceiptUpdate.', '{id}');
  end if;
  select jsonb_agg(e.error order by e.id) into errors
  from (
    select l.id,
      mutation.user_error('BATCH_REQUIRED',
        format('Product %s is kept in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number)) as error
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and p.is_batch_managed and l.batch_id is null
    union all
    select l.id,
      mutation.user_error('REQUIRED',
        format('The line of product %s must name its return order.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and present.type = 'Customer' and l.quantity > 0
      and l.return_order_id is null
  ) e;
  perform mutation.refuse(errors);
  if present.type = 'Customer' then
    perform erp.require_returns(present);
    drafts := erp.return_drafts(present);
  end if;
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  drafts := drafts || array(
    select row ('{id}', l.product_id, abs(l.quantity), l.batch_id,
      case
        when l.quantity < 0 then p.type
        when present.type = 'Customer' then 'return_order'
        else 'special_stock_location' end,
      case
        when l.quantity < 0 then p.place
        when present.type = 'Customer' then l.return_order_id::text
        else 'unknown' end,
      'goods_receipt', present.id::text, erp.goods_receipt_process(present.type))::ledger.draft
    from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) p
    where l.goods_receipt_id = present.id and l.product_id is not null order by l.id
  );
  perform erp.check_line_containers(present, drafts);
  booked := ledger.post(drafts, null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booked;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are. Units of a line of a return come from its order, '
  'through the return, in the same booking.';
grant execute on function erp.approve_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/approve_goods_receipt.sql
--! Included erp/import_goods_receipts.sql
create or replace function erp.receipt_row(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('number', given ->> 'number', 'comment', given ->> 'comment',
    'warehouse_id', coalesce(given ->> 'warehouse_id', w.id::text),
    'supplier_id', coalesce(given ->> 'supplier_id', (
      select s.id::text from erp.supplier s where s.number = given ->> 'supplier_number')),
    'currency_id', given ->> 'currency_id', 'tax_status', given ->> 'tax_status',
    'line_items', (
      select jsonb_agg(l.line || jsonb_build_object(
        'product_id', coalesce(l.line ->> 'product_id', (
          select p.id::text from erp.product p where p.product_number = l.line ->> 'product_number')),
        'supplier_order_id', (
          select o.id from erp.supplier_order o where o.number = l.line ->> 'supplier_order_number'),
        'destination_bin_location_id', (
          select b.id from erp.bin_location b
          where b.warehouse_id = w.id and b.code = l.line ->> 'bin_location_code'),
        'destination_stock_container_id', (
          select c.id from erp.stock_container c
          where c.warehouse_id = w.id and c.number = l.line ->> 'stock_container_number')) order by l.n)
      from jsonb_array_elements(nullif(given -> 'line_items', 'null')) with ordinality l (line, n)))
  from (
    select coalesce((given ->> 'warehouse_id')::uuid,
      (select x.id from erp.warehouse x where x.code = given ->> 'warehouse_code'),
      case when given ->> 'warehouse_code' is null
        then (select x.id from erp.warehouse x where x.is_default_receiving) end)
  ) w (id);
end;
comment on function erp.receipt_row(jsonb) is
  'Returns a row of an import of goods receipts with the ids of what it names by number or code.';
grant execute on function erp.receipt_row(jsonb) to service_writer;

create or replace function erp.faults_of_receipts(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with receipt as (
    select u.line, u.given g, u.wanted w,
      row_number() over (partition by u.given ->> 'number' order by u.line) as nth
    from unnest(rows) u
  ),
  item as (
    select r.line, r.w, l.n, l.line as g from receipt r
    cross join jsonb_array_elements(nullif(r.w -> 'line_items', 'null')) with ordinality l (line, n)
  )
  select array_agg(row (f.line, f.code, f.message, f.field, null)::mutation.row_fault)
  from (
    select r.line, 'REQUIRED', 'A receipt needs a number of its own, so that it is booked once.',
      '{number}'::text[]
    from receipt r where erp.is_blank(coalesce(r.g ->> 'number', ''))
    union all
    select r.line, 'NOT_UNIQUE', 'An earlier row has this number.', '{number}' from receipt r where r.nth > 1
    union all
    select r.line, 'REQUIRED', 'The receipt has no lines.', '{line_items}' from receipt r
    where coalesce(r.w -> 'line_items', 'null') = 'null'
    union all
    select r.line, 'NOT_FOUND', 'There is no such supplier.', '{supplier_number}' from receipt r
    where r.g ->> 'supplier_number' is not null and r.w ->> 'supplier_id' is null
    union all
    select r.line, 'NOT_FOUND', 'There is no such warehouse.', '{warehouse_code}' from receipt r
    where r.g ->> 'warehouse_code' is not null and r.w ->> 'warehouse_id' is null
    union all
    select i.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.',
      array['line_items', (i.n - 1)::text, 'quantity']
    from item i where (i.g ->> 'quantity')::integer < 1
    union all
    select i.line, 'NOT_FOUND', 'There is no such product.',
      array['line_items', (i.n - 1)::text, 'product_number']
    from item i where i.g ->> 'product_id' is null
    union all
    select i.line, 'NOT_FOUND', 'There is no such supplier order.',
      array['line_items', (i.n - 1)::text, 'supplier_order_number']
    from item i where i.g ->> 'supplier_order_number' is not null and i.g ->> 'supplier_order_id' is null
    union all
    select i.line, 'NOT_FOUND', 'The warehouse has no such bin.',
      array['line_items', (i.n - 1)::text, 'bin_location_code']
    from item i
    where i.g ->> 'bin_location_code' is not null and i.g ->> 'destination_bin_location_id' is null
    union all
    select i.line, 'NOT_FOUND', 'The warehouse has no such container.',
      array['line_items', (i.n - 1)::text, 'stock_container_number']
    from item i
    where i.g ->> 'stock_container_number' is not null and i.g ->> 'destination_stock_container_id' is null
    union all
    select i.line, 'INVALID', 'Name either a bin or a container: a container knows its bin.',
      array['line_items', (i.n - 1)::text, 'stock_container_number']
    from item i where num_nonnulls(i.g ->> 'bin_location_code', i.g ->> 'stock_container_number') = 2
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_receipts(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an import of goods receipts, before anything is booked.';
grant execute on function erp.faults_of_receipts(mutation.upsert_row[]) to service_writer;

create or replace function erp.booked_receipts(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, coalesce(r.id, u.id), r.id is null, u.given, u.present, u.wanted, false,
    coalesce(u.errors, case when r.id is not null and (
      select jsonb_object_agg(x.product_id, x.units) from (
        select l ->> 'product_id' as product_id, sum((l ->> 'quantity')::integer) as units
        from jsonb_array_elements(u.wanted -> 'line_items') l group by 1) x
    ) is distinct from (
      select jsonb_object_agg(x.product_id, x.units) from (
        select i.product_id, sum(i.quantity) as units from erp.goods_receipt_line_item i
        where i.goods_receipt_id = r.id and i.product_id is not null group by 1) x
    ) then jsonb_build_array(mutation.user_error('NOT_EDITABLE',
      'The receipt is there already, with other units. Correct it by another receipt.',
      mutation.path('goods_receipts', u.line, 'number'))) end))::mutation.upsert_row order by u.line)
  from unnest(rows) u
  left join erp.goods_receipt r on r.number = u.given ->> 'number';
end;
comment on function erp.booked_receipts(mutation.upsert_row[]) is
  'Returns rows of an import of goods receipts; those whose number is there already are no longer new. One '
  'with other units than before is refused.';
grant execute on function erp.booked_receipts(mutation.upsert_row[]) to service_writer;

create or replace function erp.import_goods_receipts(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  rows mutation.upsert_row[];
  u mutation.upsert_row;
  made uuid;
  faults text;
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', '{goods_receipts}');
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, '{goods_receipts}');
  rows := array(
    select row (e.n, null, true, e.row, null, erp.receipt_row(e.row), false, null)::mutation.upsert_row
    from jsonb_array_elements(given) with ordinality e (row, n) order by e.n);
  rows := mutation.with_faults(rows, 'goods_receipts', erp.faults_of_receipts(rows));
  -- All at once, because the calls below come in the order of the file
  perform from erp.supplier_order o where o.id = any (array(
    select (l ->> 'supplier_order_id')::uuid
    from unnest(rows) x cross join jsonb_array_elements(nullif(x.wanted -> 'line_items', 'null')) l
  )) order by o.id for no key update;
  perform ledger.lock(array(
    select (l ->> 'product_id')::uuid
    from unnest(rows) x cross join jsonb_array_elements(nullif(x.wanted -> 'line_items', 'null')) l
    where x.errors is null
  ), stock_container_ids => array(
    select (l ->> 'destination_stock_container_id')::uuid
    from unnest(rows) x cross join jsonb_array_elements(nullif(x.wanted -> 'line_items', 'null')) l
    where x.errors is null
  ));
  rows := erp.booked_receipts(rows);
  perform mutation.require_rows(rows, partial);
  perform set_config('service.receipt_process', 'csv_import_incoming', true);
  foreach u in array rows loop
    continue when u.errors is not null or not u.is_new;
    begin
      made := erp.create_goods_receipt(u.wanted - 'line_items', array(
        select jsonb_populate_record(null::erp.goods_receipt_line, l.line)
        from jsonb_array_elements(u.wanted -> 'line_items') with ordinality l (line, n) order by l.n), '{}');
      perform erp.approve_goods_receipt(made);
      perform erp.complete_goods_receipt(made, '{}');
    exception when sqlstate 'UE001' then
      get stacked diagnostics faults = pg_exception_detail;
      perform mutation.refuse(erp.about_rows(faults::jsonb, 'goods_receipts', array[u.line]));
    end;
    u.id := made;
    u.is_changed := true;
    rows[u.line] := u;
  end loop;
  perform set_config('service.receipt_process', '', true),
    set_config('service.warnings', earlier::text, true);
  return rows;
end
$$;
comment on function erp.import_goods_receipts(jsonb, boolean) is
  'Creates goods receipts with the numbers in a file, and books them at once by csv_import_incoming. A '
  'receipt whose number is there already books nothing. Rows that name something unknown are refused each; '
  'what a receipt refuses ends the call. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.import_goods_receipts(jsonb, boolean)');
grant execute on function erp.import_goods_receipts(jsonb, boolean) to service_writer;
--! EndIncluded erp/import_goods_receipts.sql
--! Included erp/check_placements.sql
create or replace function erp.check_placements(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('put_away', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select p.line, 'NOT_FOUND', 'The receipt has no such line.', '{goods_receipt_line_item_id}'::text[]
    from unnest(placements) p where not exists (
      select from erp.goods_receipt_line_item l
      where l.id = p.goods_receipt_line_item_id and l.goods_receipt_id = receipt.id and l.quantity > 0)
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'
    from unnest(placements) p
    where p.quantity < 1
    union all
    select p.line, 'INVALID', 'An outcome is restock, quarantine or dispose.', '{outcome}'
    from unnest(placements) p where outcomes[p.line] not in ('restock', 'quarantine', 'dispose')
    union all
    select p.line, 'INVALID', 'Units that are thrown away are put nowhere.', '{place}'
    from unnest(placements) p
    where outcomes[p.line] = 'dispose'
      and num_nonnulls(p.warehouse_id, p.bin_location_id, p.stock_container_id) > 0
    union all
    select p.line, 'INVALID', case outcomes[p.line]
        when 'restock' then 'Units there cannot be sold: quarantine them, or name another place.'
        else 'Units there can be sold: name a bin whose state is not sellable or a container in one, '
          'or hold the batch.' end,
      '{place}'
    from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    cross join lateral ledger.site(null, p.bin_location_id, p.stock_container_id) t
    cross join lateral erp.placed_state(t.bin_location_id, l.batch_id) s (state)
    where outcomes[p.line] = 'quarantine' and s.state = 'sellable'
      or outcomes[p.line] = 'restock' and s.state <> 'sellable'
    union all
    select p.line, 'INVALID', 'Name the warehouse of the receipt, or one of its bins or containers.',
      '{place}'
    from unnest(placements) p
    cross join lateral ledger.site(p.warehouse_id, p.bin_location_id, p.stock_container_id) t
    where outcomes[p.line] is distinct from 'dispose'
        and num_nonnulls(p.warehouse_id, p.bin_location_id, p.stock_container_id) <> 1
      or num_nonnulls(p.warehouse_id, p.bin_location_id, p.stock_container_id) = 1
        and t.warehouse_id is distinct from receipt.warehouse_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  perform ledger.check_containers(array(
    select row (p.line, 'place', null, null, p.stock_container_id)::ledger.named_place
    from unnest(placements) p), 'put_away');
  select jsonb_agg(mutation.user_error('INVALID',
    format('%s units are put away, but the line has %s.', s.placed, s.wanted),
    mutation.path('put_away', s.line, 'quantity'),
      jsonb_build_object('placed', s.placed, 'expected', s.wanted)) order by s.line) into errors
  from (
    select min(p.line) as line, sum(p.quantity) as placed, l.quantity - l.planned_disposal_quantity as wanted
    from unnest(placements) p
    join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    group by l.id
  ) s where s.placed <> s.wanted;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_placements(erp.goods_receipt, erp.placement[], text[]) is
  'Refuses placements that do not fit the lines of a goods receipt or its warehouse. User errors '
  'NOT_FOUND, OUT_OF_RANGE, INVALID, PICKED_FOR_ORDER.';
grant execute on function erp.check_placements(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/check_placements.sql
--! Included erp/put_away_drafts.sql
create or replace function erp.put_away_drafts(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', (receipt).id::text, d.type,
      d.place,
      erp.goods_receipt_process((receipt).type))::ledger.draft
    from (
      select l.id, l.product_id, l.batch_id, p.quantity,
        case when outcomes[p.line] = 'dispose' then 'special_stock_location' else t.type end,
        case when outcomes[p.line] = 'dispose' then 'stock_correction' else t.place end, p.line as "position"
      from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
      cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id, p.stock_container_id) t
      union all
      select l.id, l.product_id, l.batch_id, l.quantity - l.planned_disposal_quantity, t.type, t.place, 0
      from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(receipt, l) t
      where l.goods_receipt_id = (receipt).id and l.quantity > l.planned_disposal_quantity
        and not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = l.id)
      union all
      select l.id, l.product_id, l.batch_id, l.planned_disposal_quantity, 'special_stock_location',
        'stock_correction', 1000
      from erp.goods_receipt_line_item l
      where l.goods_receipt_id = (receipt).id and l.planned_disposal_quantity > 0
      union all
      select l.id, l.product_id, l.batch_id, - l.quantity,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then 'return_order'
          else 'special_stock_location' end,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then l.return_order_id::text
          else 'unknown' end,
          0
      from erp.goods_receipt_line_item l where l.goods_receipt_id = (receipt).id and l.quantity < 0
    ) d (id, product_id, batch_id, quantity, type, place, "position")
    where d.product_id is not null order by d.id, d."position"
  );
end;
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[], text[]) is
  'Returns the movements that complete a goods receipt. Units go from its place to where its lines are put '
  'away, or to stock_correction if they are to be thrown away. Units of negative lines go where their goods '
  'are returned to.';
grant execute on function erp.put_away_drafts(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/put_away_drafts.sql
--! Included erp/keep_outcomes.sql
create or replace function erp.keep_outcomes(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update erp.goods_receipt_line_item l
  set disposed_quantity = f.disposed, quarantined_quantity = f.quarantined
  from (
    select x.id, x.planned_disposal_quantity
        + coalesce(sum(u.quantity) filter (where u.outcome = 'dispose'), 0) as disposed,
      coalesce(sum(u.quantity) filter (where u.outcome = 'quarantine'), 0) as quarantined
    from erp.goods_receipt_line_item x
    cross join lateral erp.put_away_place(receipt, x) d
    left join lateral (
      select p.quantity, coalesce(outcomes[p.line],
        case when s.state <> 'sellable' then 'quarantine' else 'restock' end) as outcome
      from unnest(placements) p
      cross join lateral ledger.site(null, p.bin_location_id, p.stock_container_id) t
      cross join lateral erp.placed_state(t.bin_location_id, x.batch_id) s
      where p.goods_receipt_line_item_id = x.id
      union all
      select x.quantity - x.planned_disposal_quantity,
        case when s.state <> 'sellable' then 'quarantine' else 'restock' end
      from ledger.site_of(d.type, d.place) t
      cross join lateral erp.placed_state(t.bin_location_id, x.batch_id) s
      where not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = x.id)
    ) u on true
    where x.goods_receipt_id = receipt.id and x.quantity > 0 and x.return_order_line_item_id is not null
    group by x.id
  ) f
  where l.id = f.id and (l.disposed_quantity, l.quarantined_quantity)
    is distinct from (f.disposed::integer, f.quarantined::integer);
end
$$;
comment on function erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[]) is
  'Keeps what became of units of returns when their goods receipt is completed. Without a named outcome, '
  'units in a bin or batch that is not sellable are in quarantine.';
select api_meta.plan_by_index('erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[])');
grant execute on function erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/keep_outcomes.sql
--! Included erp/complete_goods_receipt.sql
create or replace function erp.complete_goods_receipt(
  goods_receipt_id uuid, placements erp.placement[], outcomes text[] default '{}'
)
returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', ledger.moment());
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  parts erp.receipt_part[];
  deliveries erp.delivery[];
  given_back ledger.draft[] := '{}';
  drafts ledger.draft[];
  booked ledger.booked;
begin
  if present.type = 'Customer' then
    perform erp.lock_returns_of(present.id);
    given_back := erp.give_back_drafts(present);
  end if;
  -- After the receipt and before the stock, always in this order. From here on no other transaction delivers
  -- these orders
  perform from erp.supplier_order o where o.id = any (array(
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  )) order by o.id for no key update;
  drafts := erp.put_away_drafts(present, placements, outcomes) || given_back;
  if cardinality(placements) > 0 then
    perform ledger.lock_places(drafts);
    perform erp.check_placements(present, placements, outcomes);
  end if;
  perform erp.check_line_containers(present, drafts);
  parts := array(
    select row (case when a.nth = 1 then l.id else uuidv7() end, l.id, a.nth, l.supplier_order_id,
      a.supplier_order_id, a.supplier_order_line_item_id, a.quantity)::erp.receipt_part
    from erp.allotment(present.id) a join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
    order by l.id, a.nth
  );
  deliveries := erp.deliveries(present.id, parts);
  booked := ledger.post(drafts, null, array(
    select row (d.product_id, null, 0, 0, d.awaited)::ledger.figure_change
    from unnest(deliveries) d where d.product_id is not null and d.awaited <> 0
  ));

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = moment where r.id = present.id;
  if present.type = 'Customer' then
    perform erp.keep_outcomes(present, placements, outcomes);
  end if;
  perform erp.settle_receipt_lines(present.id, parts);
  perform ledger.write_deliveries(deliveries, moment);
  update erp.supplier_order o
  set state = d.new_state,
    -- If a person completed it, its delivery date no longer follows from its lines
    actual_delivery_date = case when d.is_complete then coalesce(o.actual_delivery_date, moment)
      when o.state = 'completed' then o.actual_delivery_date end
  from (select distinct d.supplier_order_id, d.new_state, d.is_complete from unnest(deliveries) d) d
  where o.id = d.supplier_order_id;
  return booked;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[], text[]) is
  'Completes a goods receipt. Books its lines from the place of the receipt to where they are put away, and '
  'units to be thrown away to stock_correction, and records what arrived of supplier orders. A line without '
  'placements goes to its own place, the usual bin, or the warehouse. All units are booked, including units '
  'that no order has open: these become lines of their own. An outcome says of a placement, by its place in '
  'the input: restock, quarantine or dispose.';
select api_meta.plan_by_index('erp.complete_goods_receipt(uuid, erp.placement[], text[])');
grant execute on function erp.complete_goods_receipt(uuid, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/complete_goods_receipt.sql
--! Included erp/require_shipping_lines.sql
create or replace function erp.require_shipping_lines(
  lines erp.shipping_line[], places erp.shipping_place[], id_field text
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse(
      'REQUIRED', 'At least one line is needed. Omit the list to fulfill everything that is open.', '{lines}'
    );
  elsif greatest(cardinality(lines), cardinality(places)) > most then
    perform mutation.refuse('TOO_MANY_LINES',
      format(
        'There are %s lines with %s places; %s are allowed at once.', cardinality(lines), cardinality(places),
        most
      ),
      '{lines}', jsonb_build_object(
        'lines', greatest(cardinality(lines), cardinality(places)), 'maximum', most
      ));
  end if;
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where l.quantity < 1
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has the same id.', array[id_field]
    from (
      select l.*, row_number() over (partition by l.id order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l
    where l.nth > 1
    union all
    select p.line, 'INVALID', 'Name either a warehouse, a bin or a container.',
      mutation.path('places', p.nth, 'place')
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id, p.stock_container_id) <> 1
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.',
      mutation.path('places', p.nth, 'quantity')
    from unnest(places) p where p.quantity < 1
    union all
    select l.ordinality, 'INVALID',
      format('The places have %s units together, the line has %s.', p.quantity, l.quantity), '{places}'
    from unnest(lines) with ordinality l
    join (select p.line, sum(p.quantity) as quantity from unnest(places) p group by p.line) p
      on p.line = l.ordinality
    where p.quantity <> l.quantity
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text) is
  'Refuses lines and places that are invalid by themselves. The text is the name of the input field of a '
  'line''s id. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, INVALID.';
grant execute on function erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text)
  to service_writer;
--! EndIncluded erp/require_shipping_lines.sql
--! Included erp/picks_of.sql
create or replace function erp.picks_of(
  present erp.fulfillment_order, lines erp.shipping_line[], places erp.shipping_place[]
)
returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  picks ledger.pick[];
  errors jsonb;
begin
  if lines is null then
    picks := array(
      select row (
        '{fulfillment_order_id}', l.id, l.product_id, null, l.quantity - l.fulfilled_quantity, null, null,
        null
      )::ledger.pick
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = present.id and l.quantity > l.fulfilled_quantity
        and l.destination_order_line_item_id is not null
      order by l.id
    );
    if cardinality(picks) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.',
        '{fulfillment_order_id}',
        jsonb_build_object(
          'state', present.state, 'allowedActions', erp.allowed_actions('fulfillment_order', present.state)
        ));
    end if;
    return picks;
  end if;
  select jsonb_agg(case
    when a.id is null then mutation.user_error('NOT_FOUND', 'The fulfillment order has no such line.',
      mutation.path('lines', l.ordinality, 'fulfillment_order_line_item_id'))
    else mutation.user_error('OVER_FULFILLMENT',
      format('%s units are open, not %s.', a.quantity - a.fulfilled_quantity, l.quantity),
      mutation.path('lines', l.ordinality, 'quantity'),
      jsonb_build_object('open', a.quantity - a.fulfilled_quantity, 'requested', l.quantity))
    end order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  left join erp.fulfillment_order_line_item a on a.id = l.id and a.fulfillment_order_id = present.id
  where a.id is null or l.quantity > a.quantity - a.fulfilled_quantity;
  perform mutation.refuse(errors);
  return array(
    select row (mutation.path('lines', l.ordinality) || case when p.line is null then '{quantity}'::text[]
      else mutation.path('places', p.nth, 'quantity') end, l.id, a.product_id, null,
        coalesce(p.quantity, l.quantity),
      case when p.line is not null then t.type end, t.place, p.batch_id)::ledger.pick
    from unnest(lines) with ordinality l join erp.fulfillment_order_line_item a on a.id = l.id
    left join unnest(places) p on p.line = l.ordinality
    cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id, p.stock_container_id) t
    order by l.ordinality, p.nth
  );
end
$$;
comment on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]) is
  'Returns lines of a fulfillment order, or all open units if lines is null, as picks of ledger.ship that '
  'have no warehouse yet. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION.';
grant execute on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[])
  to service_writer;
--! EndIncluded erp/picks_of.sql
--! Included erp/faults_of_shipping_containers.sql
create or replace function erp.faults_of_shipping_containers(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns table (line integer, nth integer, code text, message text, field text[])
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select p.line, p.nth, 'NOT_FOUND', 'There is no such container.', '{place,stock_container_id}'::text[]
  from unnest(places) p
  where p.stock_container_id is not null
    and not exists (select from erp.stock_container c where c.id = p.stock_container_id)
  union all
  select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
  from unnest(places) p join erp.stock_container c on c.id = p.stock_container_id
  where c.warehouse_id is distinct from source_id
  union all
  select p.line, p.nth, 'PICKED_FOR_ORDER',
    format('What is in container %s was picked for fulfillment order %s.', c.number, f.number),
    '{place,stock_container_id}'
  from unnest(places) p
  join erp.stock_container c on c.id = p.stock_container_id
  join erp.fulfillment_order f on f.id = c.fulfillment_order_id
  join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
  where f.id <> l.fulfillment_order_id;
end;
comment on function erp.faults_of_shipping_containers(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Returns which containers a warehouse cannot take units of lines from, and why.';
grant execute on function erp.faults_of_shipping_containers(
  erp.shipping_line[], erp.shipping_place[], uuid
)
  to service_writer;
--! EndIncluded erp/faults_of_shipping_containers.sql
--! Included erp/require_places.sql
create or replace function erp.require_places(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message,
    mutation.path('lines', e.line) || mutation.path('places', e.nth) || e.field) order by e.line, e.nth)
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select f.line, f.nth, f.code, f.message, f.field
    from erp.faults_of_shipping_containers(lines, places, source_id) f
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p
    left join erp.bin_location b on b.id = p.bin_location_id
    left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could be taken from a place.', '{place}'
    from unnest(places) p
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p
    where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
    union all
    select p.line, p.nth, 'BATCH_HELD', format('Batch %s is on hold. Name another one, or release it by '
      'batchRelease.', b.number), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.is_held and b.product_id = l.product_id
    union all
    select p.line, p.nth, 'BIN_NOT_SELLABLE', format('The units in bin %s are %s.', b.code,
      case b.stock_state when 'damaged' then 'damaged' else 'in quality control' end), '{place}'
    from unnest(places) p
    cross join lateral ledger.site(null, p.bin_location_id, p.stock_container_id) t
    join erp.bin_location b on b.id = t.bin_location_id
    where b.stock_state <> 'sellable' and b.warehouse_id = source_id
    union all
    select p.line, p.nth, 'BATCH_EXPIRED', format('Batch %s was best before %s. Name another one.', b.number,
      b.best_before_date), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.best_before_date < erp.local_date(now()) and b.product_id = l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that a warehouse cannot take units of lines from. Batches that are short of '
  'the promised shelf life may be named. User errors NOT_FOUND, INVALID, BATCH_MISMATCH, BATCH_HELD, '
  'BIN_NOT_SELLABLE, BATCH_EXPIRED, PICKED_FOR_ORDER.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
--! Included erp/import_stocks.sql
create or replace function erp.stock_row(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('product_id', p.id, 'quantity', coalesce(given -> 'quantity', given -> 'delta'),
    'source_warehouse_id', coalesce(given #>> '{place,warehouse_id}',
      case when given ->> 'bin_location_code' is null and given ->> 'stock_container_number' is null
        then w.id::text end),
    'source_bin_location_id', coalesce(given #>> '{place,bin_location_id}', (
      select b.id::text from erp.bin_location b
      where b.warehouse_id = w.id and b.code = given ->> 'bin_location_code')),
    'source_stock_container_id', coalesce(given #>> '{place,stock_container_id}', (
      select c.id::text from erp.stock_container c
      where c.number = given ->> 'stock_container_number'
        and (c.warehouse_id = w.id or given ->> 'warehouse_code' is null))),
    'batch_id', coalesce(given ->> 'batch_id', (
      select b.id::text from erp.batch b
      where b.product_id = p.id and b.number = given ->> 'batch_number')),
    'counted_at', given ->> 'counted_at')
  from (
    select case when given ->> 'product_id' is null
      then (select p.id from erp.product p where p.product_number = given ->> 'product_number')
      else (select p.id from erp.product p where p.id = (given ->> 'product_id')::uuid) end
  ) p (id)
  cross join lateral (
    select (select w.id from erp.warehouse w where w.code = given ->> 'warehouse_code')
  ) w (id);
end;
comment on function erp.stock_row(jsonb) is
  'Returns a row of an import of stock as an object with the fields of ledger.line. Products, places and '
  'batches that it names by number or code are looked up.';
grant execute on function erp.stock_row(jsonb) to service_writer;

create or replace function erp.faults_of_stocks(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with stock as (
    select u.line, u.given g, u.wanted w, num_nonnulls(u.wanted ->> 'source_warehouse_id',
        u.wanted ->> 'source_bin_location_id', u.wanted ->> 'source_stock_container_id') as places,
      row_number() over (partition by u.given ->> 'reference', u.given ? 'delta' order by u.line) as nth,
      row_number() over (
        partition by u.wanted - '{quantity,counted_at}'::text[], u.given ? 'quantity' order by u.line
      ) as nth_there
    from unnest(rows) u
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], null)::mutation.row_fault)
  from (
    select s.line, case when s.g ?| '{product_id,product_number}' then 'NOT_FOUND' else 'REQUIRED' end,
      case when s.g ?| '{product_id,product_number}' then 'There is no such product.'
        else 'A row needs a product.' end,
      case when s.g ->> 'product_id' is null then 'product_number' else 'product_id' end
    from stock s where s.w ->> 'product_id' is null
    union all
    select s.line, 'INVALID', 'Name the place by its id or by codes.', 'place'
    from stock s where s.g ->> 'place' is not null
      and num_nonnulls(s.g ->> 'warehouse_code', s.g ->> 'stock_container_number') > 0
    union all
    select s.line, 'INVALID', 'Name either a bin or a container: a container knows its bin.',
      'stock_container_number'
    from stock s
    where num_nonnulls(s.g ->> 'bin_location_code', s.g ->> 'stock_container_number') = 2
    union all
    select s.line, 'REQUIRED',
      'A row needs a place: an id, the number of a container, or the code of a warehouse.', 'place'
    from stock s where s.places = 0
      and num_nonnulls(s.g ->> 'warehouse_code', s.g ->> 'stock_container_number') = 0
    union all
    select s.line, 'NOT_FOUND', 'There is no such place.',
      case when s.g ->> 'stock_container_number' is not null then 'stock_container_number'
        when s.g ->> 'bin_location_code' is null then 'warehouse_code' else 'bin_location_code' end
    from stock s where s.places = 0
      and num_nonnulls(s.g ->> 'warehouse_code', s.g ->> 'stock_container_number') > 0
    union all
    select s.line, 'NOT_FOUND', 'The product has no batch with this number.', 'batch_number'
    from stock s where s.w ->> 'batch_id' is null and s.g ->> 'batch_number' is not null
    union all
    select s.line, 'INVALID', 'A row has either a counted quantity or a delta.', 'quantity'
    from stock s where num_nonnulls(s.g ->> 'quantity', s.g ->> 'delta') <> 1
    union all
    select s.line, 'REQUIRED', 'A count needs its time, so that it counts once.', 'counted_at'
    from stock s where s.g ->> 'quantity' is not null and s.g ->> 'counted_at' is null
    union all
    select s.line, 'REQUIRED', 'A change needs a reference of its own, so that it is booked once.',
      'reference'
    from stock s where s.g ->> 'delta' is not null and erp.is_blank(coalesce(s.g ->> 'reference', ''))
    union all
    select s.line, 'NOT_UNIQUE', 'An earlier row has this reference.', 'reference'
    from stock s where s.g ->> 'delta' is not null and s.nth > 1
    union all
    select s.line, 'NOT_UNIQUE', 'An earlier row counts the same stock.', 'quantity'
    from stock s where s.g ->> 'quantity' is not null and s.nth_there > 1 and s.places = 1
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_stocks(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an import of stock, before anything is booked.';
grant execute on function erp.faults_of_stocks(mutation.upsert_row[]) to service_writer;

create or replace function erp.about_rows(faults jsonb, list text, nths bigint[]) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(f.fault || jsonb_build_object('field', case when f.fault -> 'field' ->> 0 = 'lines'
    then jsonb_build_array(list, (nths[(f.fault -> 'field' ->> 1)::integer + 1] - 1)::text)
      || ((f.fault -> 'field') - 0 - 0)
    else jsonb_build_array(list, (nths[1] - 1)::text) || case when f.fault -> 'field' <> '["id"]'
      then coalesce(nullif(f.fault -> 'field', 'null'), '[]') else '[]' end end) order by f.n)
  from jsonb_array_elements(faults) with ordinality f (fault, n);
end;
comment on function erp.about_rows(jsonb, text, bigint[]) is
  'Returns user errors of a call that a mutation of many rows made for these rows: they name the row in the '
  'list, and the field in it.';
grant execute on function erp.about_rows(jsonb, text, bigint[]) to service_writer;

create or replace function erp.booked_stocks(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, u.id, u.is_new and m.id is null, u.given, u.present, u.wanted, false,
    coalesce(u.errors, case when m.is_other then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
      'An earlier import booked something else by this reference.',
      mutation.path('stocks', u.line, 'reference'))) end))::mutation.upsert_row order by u.line)
  from unnest(rows) u
  left join lateral (
    select m.id, (u.wanted ->> 'product_id')::uuid <> m.product_id
        or (u.wanted ->> 'quantity')::integer * d.direction <> m.quantity
        or d.place is distinct from coalesce(u.wanted ->> 'source_warehouse_id',
          u.wanted ->> 'source_bin_location_id', u.wanted ->> 'source_stock_container_id') as is_other
    from ledger.booking b join ledger.stock_movement m on m.id = b.id
    cross join lateral (
      select case when m.source_location_type_technical_name = 'special_stock_location'
        then 1 else - 1 end, coalesce(m.source_warehouse_id, m.source_bin_location_id,
        m.source_stock_container_id, m.destination_warehouse_id, m.destination_bin_location_id,
        m.destination_stock_container_id)::text
    ) d (direction, place)
    where u.given ->> 'delta' is not null and b.reference = u.given ->> 'reference'
      and m.process_type_technical_name in ('csv_import_incoming', 'csv_import_outgoing')
    limit 1
  ) m on true;
end;
comment on function erp.booked_stocks(mutation.upsert_row[]) is
  'Returns rows of an import of stock; changes that an earlier import has booked are no longer new. One '
  'whose reference stands for something else is refused.';
grant execute on function erp.booked_stocks(mutation.upsert_row[]) to service_writer;

create or replace function erp.import_stocks(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  rows mutation.upsert_row[];
  changed uuid[] := '{}';
  call record;
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', '{stocks}');
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, '{stocks}');
  -- Nobody else books the same references meanwhile
  perform pg_advisory_xact_lock(hashtextextended('erp.import_stocks', 0));
  rows := array(
    select row (e.n, uuidv7(), jsonb_typeof(e.row -> 'delta') = 'number', e.row, null, erp.stock_row(e.row),
      false, null)::mutation.upsert_row
    from jsonb_array_elements(given) with ordinality e (row, n) order by e.n);
  rows := mutation.with_faults(rows, 'stocks', erp.faults_of_stocks(rows));
  rows := erp.booked_stocks(rows);
  perform mutation.require_rows(rows, partial);
  -- All at once, because the calls below come in the order of the file
  perform ledger.lock(
    array(select (u.wanted ->> 'product_id')::uuid from unnest(rows) u where u.errors is null),
    array(select (u.wanted ->> 'source_warehouse_id')::uuid from unnest(rows) u where u.errors is null),
    array(select (u.wanted ->> 'source_bin_location_id')::uuid from unnest(rows) u where u.errors is null),
    array(
      select (u.wanted ->> 'source_stock_container_id')::uuid from unnest(rows) u where u.errors is null));
  for call in
    select array_agg(u.line order by u.line) as nths, array_agg(u.id order by u.line) as ids,
      array_agg(jsonb_populate_record(null::ledger.line, u.wanted) order by u.line) as lines, u.is_new,
      u.given ->> 'reference' as reference, u.given ->> 'reason' as reason, u.given ->> 'comment' as note
    from unnest(rows) u
    where u.errors is null and (u.is_new or u.given ->> 'quantity' is not null)
    group by u.is_new, u.given ->> 'reference', u.given ->> 'reason', u.given ->> 'comment'
    order by min(u.line)
  loop
    changed := changed || erp.import_stock(call.lines, call.nths, call.ids, call.is_new, call.note,
      call.reference, call.reason);
  end loop;
  -- They name lines of these calls
  perform set_config('service.warnings', earlier::text, true);
  return mutation.with_changes(rows, changed);
end
$$;
comment on function erp.import_stocks(jsonb, boolean) is
  'Books rows of a file: counts, and changes with a reference of their own, by csv_import_incoming and '
  'csv_import_outgoing. A repeated row books nothing. Rows that name something unknown are refused each; '
  'what the ledger refuses ends the call. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.import_stocks(jsonb, boolean)');
grant execute on function erp.import_stocks(jsonb, boolean) to service_writer;

create or replace function erp.import_stock(lines ledger.line[], nths bigint[], ids uuid[],
  is_change boolean, note text, reference text, reason text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text;
  booked ledger.booked;
begin
  begin
    if is_change then
      booked := ledger.adjust_stock(lines, note, reference, reason,
        case when lines[1].quantity > 0 then 'csv_import_incoming' else 'csv_import_outgoing' end);
      return ids;
    end if;
    booked := ledger.set_stock(lines, note, reference, reason, 'csv_import_incoming', 'csv_import_outgoing');
  exception when sqlstate 'UE001' then
    get stacked diagnostics faults = pg_exception_detail;
    perform mutation.refuse(erp.about_rows(faults::jsonb, 'stocks', nths));
  end;
  return array(
    select ids[l.ordinality] from unnest(lines) with ordinality l
    where exists (
      select from ledger.flow f
      left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id
      where f.movement_id = any (booked.stock_movements) and f.product_id = l.product_id
        and f.place = coalesce(to_jsonb(l) ->> 'source_warehouse_id',
          to_jsonb(l) ->> 'source_bin_location_id', to_jsonb(l) ->> 'source_stock_container_id')
        and b.batch_id is not distinct from l.batch_id
    )
  );
end
$$;
comment on function erp.import_stock(ledger.line[], bigint[], uuid[], boolean, text, text, text) is
  'Books rows of an import of stock in one call: a change, or counts. Returns the ids whose row booked '
  'something.';
grant execute on function erp.import_stock(ledger.line[], bigint[], uuid[], boolean, text, text, text)
  to service_writer;
--! EndIncluded erp/import_stocks.sql
--! Included ledger/place_name.sql
drop function if exists ledger.place_name(uuid, uuid, uuid, uuid, text, text);
create or replace function ledger.place_name(
  warehouse_id uuid, bin_location_id uuid, order_id uuid, goods_receipt_id uuid,
  stock_container_id uuid, special text, type text
) returns text
language sql stable
begin atomic
  select coalesce(
    (select w.code from erp.warehouse w where w.id = place_name.warehouse_id),
    (
      select w.code || ' ' || b.code from erp.bin_location b join erp.warehouse w on w.id = b.warehouse_id
      where b.id = place_name.bin_location_id
    ),
    (select 'Order ' || o.order_number from erp.sales_order o where o.id = place_name.order_id),
    (select 'Receipt ' || r.number from erp.goods_receipt r where r.id = place_name.goods_receipt_id),
    (
      select coalesce(w.code || ' ', '') || c.number from erp.stock_container c
      left join erp.warehouse w on w.id = c.warehouse_id where c.id = place_name.stock_container_id
    ),
    initcap(replace(special, '_', ' ')), initcap(replace(type, '_', ' ')));
end;
comment on function ledger.place_name(uuid, uuid, uuid, uuid, uuid, text, text) is
  'Returns the name of a place in reports: the code of a warehouse, a bin or a container, or the '
  'number of an order or receipt. For special and deleted places it returns their kind.';
grant execute on function ledger.place_name(uuid, uuid, uuid, uuid, uuid, text, text) to service_registrar;
--! EndIncluded ledger/place_name.sql
--! Included administration/report_stock_card.sql
create or replace function administration.report_stock_card(
  product_number text, warehouse_code text, batch_number text, since date, until date, how_many integer
)
returns table (
  happened_at timestamptz, process text, source text, destination text, note text, quantity integer,
  balance bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  found_product constant uuid := (
    select p.id from erp.product p where p.product_number = report_stock_card.product_number
  );
  found_batch constant uuid := (
    select b.id from erp.batch b
    where b.product_id = found_product and b.number = report_stock_card.batch_number
  );
  found_warehouse constant uuid := (select w.id from erp.warehouse w where w.code = warehouse_code);
begin
  perform administration.require_administrator();
  -- Functions for API clients need a scope
  perform set_config('service.scopes', 'stocks:read batches:read', true);
  if found_product is null or num_nulls(warehouse_code, found_warehouse) = 1
    or num_nulls(batch_number, found_batch) = 1 then
    return;
  end if;
  return query select c.moment, m.process_type_technical_name,
    ledger.place_name(m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
      m.source_goods_receipt_id, m.source_stock_container_id,
      m.source_special_stock_location_technical_name, m.source_location_type_technical_name),
    ledger.place_name(m.destination_warehouse_id, m.destination_bin_location_id,
      m.destination_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
      m.destination_special_stock_location_technical_name, m.destination_location_type_technical_name),
    m.comment, c.quantity, c.balance
  from ledger.stock_card(found_product, null, found_warehouse, found_batch,
    (erp.end_of_day(coalesce(since, current_date - 90) - 1) + interval '1 microsecond'),
    erp.end_of_day(until) + interval '1 microsecond') c
  left join ledger.stock_movement m on m.id = c.movement_id
  order by c.moment, c.movement_id nulls first, c.direction limit how_many;
end
$$;
comment on function administration.report_stock_card(text, text, text, date, date, integer) is $$
@title Stock card
@picture lines
@hint product_number The number of the product.
@hint warehouse_code The code of a warehouse. Empty: all warehouses.
@hint batch_number The number of a batch. Empty: all units.
@hint since The first day; the first row is the balance before it. Empty: 90 days ago.
@hint until The last day. Empty: today.
Movements of a product in a period, with the balance after each.$$;
select api_meta.give('administration.report_stock_card(text, text, text, date, date, integer)',
  'service_registrar');
grant execute on function administration.report_stock_card(text, text, text, date, date, integer)
  to service_administration;
--! EndIncluded administration/report_stock_card.sql
--! Included administration/report_trace.sql
create or replace function administration.report_trace(
  product_number text, batch_number text, how_many integer
)
returns table (source text, destination text, units bigint, first_moved_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  batch erp.batch;
begin
  perform administration.require_administrator();
  select b.* into batch from erp.batch b join erp.product p on p.id = b.product_id
  where p.product_number = report_trace.product_number and b.number = report_trace.batch_number;
  if not found then
    return;
  end if;
  return query
  with leg as (
    select m.*, b.quantity as units,
      m.destination_location_type_technical_name as destination_type,
      m.source_location_type_technical_name as source_type
    from ledger.stock_movement_batch b join ledger.stock_movement m on m.id = b.stock_movement_id
    where b.batch_id = batch.id
  ),
  step (source, destination, units, moved_at) as (
    select coalesce('Receipt ' || r.number || coalesce(', ' || s.name, ''),
        initcap(replace(l.source_special_stock_location_technical_name, '_', ' '))),
      'Batch ' || batch.number, l.units, l.created_at
    from leg l left join erp.goods_receipt r on r.id = l.destination_goods_receipt_id
    left join erp.supplier s on s.id = r.supplier_id where l.source_type = 'special_stock_location'
    union all
    select 'Batch ' || batch.number, coalesce('Order ' || o.order_number, 'An order that was deleted'),
      case when l.destination_type = 'order' then l.units else - l.units end, l.created_at
    from leg l left join erp.sales_order o on o.id = coalesce(l.destination_order_id, l.source_order_id)
    where (l.destination_type = 'order') <> (l.source_type = 'order')
    union all
    select 'Batch ' || batch.number,
      case when l.source_type = 'goods_receipt' then 'Disposed of or returned'
        else initcap(replace(l.destination_special_stock_location_technical_name, '_', ' '))
          || ' (removed)' end,
      l.units, l.created_at
    from leg l where l.destination_type = 'special_stock_location'
    union all
    select 'Batch ' || batch.number, coalesce(w.code || ' ' || n.code, v.code || ', no bin',
      coalesce(x.code || ' ', '') || c.number,
      initcap(replace(s.location_type_technical_name, '_', ' '))), h.quantity, null
    from ledger.batch_stock h join ledger.stock s on s.id = h.stock_id
    left join erp.bin_location n on n.id = s.bin_location_id
    left join erp.warehouse w on w.id = n.warehouse_id
    left join erp.warehouse v on v.id = s.warehouse_id
    left join erp.stock_container c on c.id = s.stock_container_id
    left join erp.warehouse x on x.id = c.warehouse_id
    where h.batch_id = batch.id and h.quantity > 0 and s.order_id is null
  )
  select s.source, s.destination, sum(s.units), min(s.moved_at)::timestamptz
  from step s group by s.source, s.destination having sum(s.units) > 0
  order by s.source = 'Batch ' || batch.number, sum(s.units) desc, s.destination limit how_many;
end
$$;
comment on function administration.report_trace(text, text, integer) is $$
@title Trace of a batch
@picture flow
@hint product_number The number of the product.
@hint batch_number The number of the batch, or the serial number.
Receipts that the units of a batch came with, orders that got them, and places that still have some.$$;
select api_meta.give('administration.report_trace(text, text, integer)', 'service_registrar');
grant execute on function administration.report_trace(text, text, integer) to service_administration;
--! EndIncluded administration/report_trace.sql
--! Included api/stock_place_input.sql
drop type if exists api_unstable.stock_place_input cascade;
create type api_unstable.stock_place_input as (
  warehouse_id uuid, bin_location_id uuid, stock_container_id uuid
);
comment on type api_unstable.stock_place_input is
  'A place that holds stock: either a warehouse, for what lies in it outside of bins and containers, or a '
  'bin, or a container. Reservations name no containers.';
comment on column api_unstable.stock_place_input.warehouse_id is E'@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stock_place_input.bin_location_id is E'@gid BinLocation\nId of the bin.';
comment on column api_unstable.stock_place_input.stock_container_id is
  E'@gid StockContainer\nId of the container.';
--! EndIncluded api/stock_place_input.sql
--! Included api/put_away_input.sql
drop type if exists api_unstable.put_away_input cascade;
create type api_unstable.put_away_input
  as (goods_receipt_line_item_id uuid, place api_unstable.stock_place_input, quantity integer, outcome text);
comment on type api_unstable.put_away_input is 'A place where units of a line are put.';
comment on column api_unstable.put_away_input.goods_receipt_line_item_id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.put_away_input.place is
  'The bin or the container, or the warehouse for goods that lie outside of both. Left out for goods that '
  'are thrown away.';
comment on column api_unstable.put_away_input.quantity is
  E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';
comment on column api_unstable.put_away_input.outcome is
  'The decision about the units. It is restock if they can be sold, and dispose if they are thrown away. It '
  'is quarantine if they wait, in a bin or batch that cannot be sold. Left out, the place says it.';
--! EndIncluded api/put_away_input.sql
--! Included api/goods_receipt_line_items.sql
create view api_unstable.goods_receipt_line_items with (security_invoker = true) as
select id, goods_receipt_id, product_id, batch_id, quantity, planned_disposal_quantity, return_order_id,
  supplier_order_id,
  unit_price, total_price, unit_price_in_default_currency, total_price_in_default_currency,
    destination_bin_location_id,
  supplier_order_line_item_id, return_order_line_item_id, destination_stock_container_id
from erp.goods_receipt_line_item;
comment on view api_unstable.goods_receipt_line_items is
  E'@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@hidden destination_bin_location_id,destination_stock_container_id,supplier_order_line_item_id,'
  'return_order_line_item_id\n'
  '@filters batch_id,goods_receipt_id,product_id,return_order_id,supplier_order_id,'
  'planned_disposal_quantity,quantity,total_price,total_price_in_default_currency,unit_price,'
  'unit_price_in_default_currency\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName '
  'goodsReceiptLineItems\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationGoodsReceiptLineItems\n'
  '@foreignKey (destination_stock_container_id) references stock_containers (id)|@fieldName '
  'destinationStockContainer|@foreignFieldName destinationGoodsReceiptLineItems\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName '
  'goodsReceipt|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (return_order_id) references return_orders (id)|@fieldName returnOrder|@foreignFieldName '
  'goodsReceiptLineItems\n'
  '@foreignKey (return_order_line_item_id) references return_order_line_items (id)|@fieldName '
  'returnOrderLineItem|@foreignFieldName goodsReceiptLineItems\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName goodsReceiptLineItems\n'
  '@foreignKey (supplier_order_line_item_id) references supplier_order_line_items (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName goodsReceiptLineItems\n'
  'A line of a goods receipt.';
--! EndIncluded api/goods_receipt_line_items.sql
--! Included api/return_orders_goods_receipts.sql
create function api_unstable.return_orders_goods_receipts(return_order api_unstable.return_orders)
returns setof api_unstable.goods_receipts
language sql stable begin atomic
  select g.* from api_unstable.goods_receipts g
  where g.id in (
    select l.goods_receipt_id from api_unstable.goods_receipt_line_items l
    where l.return_order_id = return_order.id);
end;
comment on function api_unstable.return_orders_goods_receipts(api_unstable.return_orders) is $$
The goods receipts whose lines name the return.$$;
--! EndIncluded api/return_orders_goods_receipts.sql
--! Included api/goods_receipt_line_input.sql
drop type if exists api_unstable.goods_receipt_line_input cascade;
create type api_unstable.goods_receipt_line_input as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text,
    supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer,
    destination_bin_location_id uuid, return_order_line_item_id uuid,
    packs integer, destination_stock_container_id uuid
);
comment on type api_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_unstable.goods_receipt_line_input.id is
  E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.goods_receipt_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_input.quantity is
  'Units that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_unstable.goods_receipt_line_input.batch_id is
  E'@gid Batch\nId of the batch that comes in.';
comment on column api_unstable.goods_receipt_line_input.batch_number is
  'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_line_item_id is
  E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is
  E'@gid ReturnOrder\n'
  'Id of the return that the goods come from, if no line of it does; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. By default the price of the '
  'supplier order, converted if the order has another currency or tax status.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is
  'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is
  E'@gid BinLocation\nId of the bin that the units are to be put into.';
comment on column api_unstable.goods_receipt_line_input.destination_stock_container_id is
  E'@gid StockContainer\n'
  'Id of the container that the units are to be put into, in place of a bin. A negative line takes them '
  'from there.';
comment on column api_unstable.goods_receipt_line_input.return_order_line_item_id is
  E'@gid ReturnOrderLineItem\n'
  'Id of the line of a return whose units arrive; on receipts of type Customer. It names the return, too.';
comment on column api_unstable.goods_receipt_line_input.packs is
  'Packs instead of a quantity. A pack has unitsPerPack units of the supplier of the order or the receipt, '
  'or of the default supplier. The price is for one unit.';
--! EndIncluded api/goods_receipt_line_input.sql
--! Included api/goods_receipt_create.sql
drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric,
    tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Origin of the goods. By default Supplier if supplier orders are named, Customer if return orders or '
  'a customer are named, and otherwise Free.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that receives the goods. When left out, the one where goods are received by '
  'default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. By default the supplier of the supplier orders that are named here or by the '
  'lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. By default the currency of the first supplier order that is named '
  'here or by a line, or else the supplier''s currency.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. By default the imported rate '
  'of the day, or else the shop''s own rate.';
comment on column api_unstable.goods_receipt_create_input.tax_status is
  'Whether prices are net, gross or tax-free. When left out, as on the first supplier order; net '
  'without one.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft. False when left out.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\n'
  'Ids of the supplier orders that are delivered. Orders that the lines name can be left out.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(
  input api_unstable.goods_receipt_create_input, changes jsonb
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs,
        erp.supplier_of_line(input.supplier_id, l.supplier_order_id,
          l.supplier_order_line_item_id)), l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id, l.destination_stock_container_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. '
  'Nothing is booked yet. Its lines say what it is for: what is left out of type, supplier, currency, '
  'tax status and prices follows from the supplier orders that they name.';
--! EndIncluded api/goods_receipt_create.sql
--! Included api/goods_receipt_line_items_set.sql
drop type if exists api_unstable.goods_receipt_line_items_set_input cascade;
create type api_unstable.goods_receipt_line_items_set_input
  as (id uuid, line_items api_unstable.goods_receipt_line_input[]);
comment on type api_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.line_items is
  E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create function api_unstable.goods_receipt_line_items_set(
  input api_unstable.goods_receipt_line_items_set_input
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs,
        erp.supplier_of_line((select r.supplier_id from erp.goods_receipt r where r.id = input.id),
          l.supplier_order_id, l.supplier_order_line_item_id)), l.batch_id, l.batch_number,
      l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id, l.destination_stock_container_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Replaces the lines of a goods receipt that is not approved yet, and recomputes its totals. Lines are '
  'listed in the order of the input, except existing lines that swap places. A receipt without a '
  'supplier takes the supplier of the supplier orders that its lines name.';
--! EndIncluded api/goods_receipt_line_items_set.sql
--! Included api/goods_receipt_approve.sql
drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks,
    null, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK '
  'OUT_OF_RANGE SERIAL_NUMBER_IN_STOCK BATCH_MISMATCH EXCEEDS_SHIPPED INVALID '
  'PICKED_FOR_ORDER\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED SURPLUS\n'
  'Approves a goods receipt: the goods have arrived. Books the lines to the place of the receipt: from '
  'the return orders for receipts of type Customer, and otherwise from the special place unknown. Lines '
  'with a negative quantity are booked from the place of the goods. Units of a line of a return come from '
  'its order, in the batches that were shipped, or from unknown while nobody knows the order.';
--! EndIncluded api/goods_receipt_approve.sql
--! Included api/goods_receipt_complete.sql
drop type if exists api_unstable.goods_receipt_complete_input cascade;
create type api_unstable.goods_receipt_complete_input as (id uuid, put_away api_unstable.put_away_input[]);
comment on type api_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_unstable.goods_receipt_complete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Places where the goods were put. Any other line goes to its own bin, or else to the usual bin of the '
  'product, or else to the warehouse.';

create function api_unstable.goods_receipt_complete(input api_unstable.goods_receipt_complete_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (
      p.ordinality, p.goods_receipt_line_item_id,
      (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, (p.place).stock_container_id
    )::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  ), array(select p.outcome from unnest(input.put_away) with ordinality p order by p.ordinality)) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE INSUFFICIENT_STOCK '
  'PICKED_FOR_ORDER\n'
  '@warnings SURPLUS ORDER_CANCELLED PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Completes an approved goods receipt: books the goods to where they were put away, and what is thrown '
  'away to stock_correction. Lines of supplier orders become received, and their orders '
  'partially_delivered or delivered, or less than that after a correction. All that came is booked: '
  'what fits on no line of the order that a line names, by now, becomes a line without an order. Lines of '
  'returns know what became of their units.';
--! EndIncluded api/goods_receipt_complete.sql
--! Included api/goods_receipts_upsert.sql
drop type if exists api_unstable.goods_receipts_upsert_input cascade;
drop type if exists api_unstable.goods_receipt_upsert_input cascade;
drop type if exists api_unstable.goods_receipt_line_upsert_input cascade;
drop type if exists api_unstable.goods_receipts_upsert_payload cascade;

create type api_unstable.goods_receipt_line_upsert_input as (
  product_id uuid, product_number text, quantity integer, batch_number text, supplier_order_number text,
  unit_price numeric, tax_rate numeric, bin_location_code text, stock_container_number text
);
comment on type api_unstable.goods_receipt_line_upsert_input is 'A line of a goods receipt in a file.';
comment on column api_unstable.goods_receipt_line_upsert_input.product_id is
  E'@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.goods_receipt_line_upsert_input.quantity is
  E'@notNull\nUnits that came; at least 1.';
comment on column api_unstable.goods_receipt_line_upsert_input.batch_number is
  'Number of the batch that came; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_upsert_input.supplier_order_number is
  'Number of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_upsert_input.unit_price is
  'Price of one unit, in the currency of the receipt. By default the price of the supplier order.';
comment on column api_unstable.goods_receipt_line_upsert_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_upsert_input.bin_location_code is
  'Code of the bin that the units were put into. By default the usual bin of the product, or else the '
  'warehouse.';
comment on column api_unstable.goods_receipt_line_upsert_input.stock_container_number is
  'Number of the container that the units were put into, instead of a bin.';

create type api_unstable.goods_receipt_upsert_input as (
  number text, warehouse_id uuid, warehouse_code text, supplier_id uuid, supplier_number text,
  currency_id uuid, tax_status text, comment text,
  line_items api_unstable.goods_receipt_line_upsert_input[]
);
comment on type api_unstable.goods_receipt_upsert_input is 'A goods receipt in a file: goods that have come.';
comment on column api_unstable.goods_receipt_upsert_input.number is
  E'@notNull\nNumber of the receipt. A receipt whose number is there already is not booked again.';
comment on column api_unstable.goods_receipt_upsert_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse. By default the one where goods are received.';
comment on column api_unstable.goods_receipt_upsert_input.warehouse_code is
  'Code of the warehouse, instead of its id.';
comment on column api_unstable.goods_receipt_upsert_input.supplier_id is
  E'@gid Supplier\nId of the supplier. By default the supplier of the orders that the lines name.';
comment on column api_unstable.goods_receipt_upsert_input.supplier_number is
  'Number of the supplier, instead of its id.';
comment on column api_unstable.goods_receipt_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all prices. By default the currency of the order or the supplier.';
comment on column api_unstable.goods_receipt_upsert_input.tax_status is
  'Whether prices are net, gross or tax-free.';
comment on column api_unstable.goods_receipt_upsert_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_upsert_input.line_items is E'@notNull\nThe lines, 1 to 250.';

create type api_unstable.goods_receipts_upsert_input
  as (goods_receipts api_unstable.goods_receipt_upsert_input[], partial boolean);
comment on type api_unstable.goods_receipts_upsert_input is 'Goods receipts in a file.';
comment on column api_unstable.goods_receipts_upsert_input.goods_receipts is
  E'@notNull\nThe receipts; 1 to 250 rows.';
comment on column api_unstable.goods_receipts_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others name something unknown, or are incomplete. What else '
  'is refused refuses the call. False when left out: all rows, or none.';

create type api_unstable.goods_receipts_upsert_payload as (
  results api_unstable.upsert_result[], goods_receipts uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.goods_receipts_upsert_payload is 'The result of goods receipts in a file.';
comment on column api_unstable.goods_receipts_upsert_payload.results is
  E'@resultOf GoodsReceipt\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.goods_receipts_upsert_payload.goods_receipts is
  E'@entity GoodsReceipt\n@perLine goods_receipts\n'
  'The receipts of the rows that were not refused, in their order.';
comment on column api_unstable.goods_receipts_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.goods_receipts_upsert(
  input api_unstable.goods_receipts_upsert_input, changes jsonb
)
returns api_unstable.goods_receipts_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.goods_receipts_upsert_payload
  from mutation.upserted(erp.import_goods_receipts(changes -> 'goods_receipts', input.partial)) d
$$;
comment on function api_unstable.goods_receipts_upsert(api_unstable.goods_receipts_upsert_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED SUPPLIER_MISMATCH SERIAL_NUMBER_IN_STOCK\n'
  'Books goods that have come, by rows of a file, which can be sent again. Each receipt is created with its '
  'own number, approved and completed at once, by the process csv_import_incoming. Bulk imports of '
  'goods_receipts run it.';
--! EndIncluded api/goods_receipts_upsert.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins or containers.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that the units belong to. Needed for products that are kept in batches. An expired batch '
  'is refused.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks in the pick order of the product. Then it leaves out batches that are on hold, have expired or are '
  'short of the promised shelf life.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text,
    process_type text
);
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.fulfillment_create_input.process_type is
  'Technical name of the process that books the units out, such as shipping or shipped_automatically. It '
  'must be one for shipments; by default api_shipping. A refusal lists those that fit.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality,
        (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id,
        (p.place).stock_container_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents, input.process_type
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_HELD '
  'BIN_NOT_SELLABLE BATCH_EXPIRED BATCH_REQUIRED PICKED_FOR_ORDER\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
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
comment on column api_unstable.stock_adjust_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_adjust_line_input.delta is
  E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_adjust_input as (
  lines api_unstable.stock_adjust_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\n'
  'The changes; 1 to 250 lines. Several lines may have the same product and place.';
comment on column api_unstable.stock_adjust_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_adjust_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_adjust_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_adjust_input.process_type is
  'Technical name of the process that books the lines, such as incoming or outgoing. It must fit units '
  'that come in, if there are any, and units that go out. By default api_incoming and api_outgoing. A '
  'refusal lists those that fit.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (
      l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id,
      l.expected_quantity, null, (l.place).stock_container_id, null
    )::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, input.process_type) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK PICKED_FOR_ORDER\n'
  '@warnings STOCK_PROMISED\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing unless another is named. All lines are booked, or none; '
  'whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_adjust.sql
--! Included api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
    expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'The stock that a product has in a place.';
comment on column api_unstable.stock_set_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
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
  'When the quantity was counted, to the microsecond; a time without decimals is the beginning of its '
  'second. Later movements are added: the stock becomes the quantity plus all later movements, except '
  'corrections by other counts. Counts may arrive late, in any order, and more than once. A count that '
  'is older than another one of the same stock is kept and changes nothing; the warning '
  'COUNT_SUPERSEDED reports it. Of two counts of the same time, the one that arrives later is valid. By '
  'default the quantity was counted now.';

create type api_unstable.stock_set_input as (
  lines api_unstable.stock_set_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is
  E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_set_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_set_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_set_input.process_type is
  'Technical name of the process that books the differences, such as stocktaking. It must be one for '
  'counts; by default api. A refusal lists those that fit.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at,
      (l.place).stock_container_id, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, coalesce(input.process_type, 'api')) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK '
  'PICKED_FOR_ORDER\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. A count by another process '
  'than api or stocktaking is booked against count_correction. All lines are booked, or none.';
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
comment on column api_unstable.stock_transfer_line_input.source is
  E'@notNull\n'
  'Place that the units are taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is
  E'@notNull\n'
  'Place that the units go to.';
comment on column api_unstable.stock_transfer_line_input.quantity is
  E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_transfer_input as (
  lines api_unstable.stock_transfer_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is
  E'@notNull\n'
  'The transfers; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_transfer_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_transfer_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_transfer_input.process_type is
  'Technical name of the process that books the lines, such as relocation. It must be one for '
  'transfers; by default api_relocation. A refusal lists those that fit.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id,
      (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null,
      (l.source).stock_container_id, (l.destination).stock_container_id)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, input.process_type) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PICKED_FOR_ORDER\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves units between warehouses, bins and containers, by the process api_relocation unless another is '
  'named. All lines are booked, or none; whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_transfer.sql
--! Included api/stock_reserve.sql
drop type if exists api_unstable.stock_reserve_input cascade;
drop type if exists api_unstable.stock_reserve_line_input cascade;
create type api_unstable.stock_reserve_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
  order_line_item_id uuid
);
comment on type api_unstable.stock_reserve_line_input is 'Units of a product to be reserved.';
comment on column api_unstable.stock_reserve_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_reserve_line_input.place is
  E'@notNull\nPlace that the units are promised at: a warehouse with all its bins, or one bin.';
comment on column api_unstable.stock_reserve_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_unstable.stock_reserve_line_input.batch_id is
  E'@gid Batch\nId of the batch that is promised. Without it, any will do.';
comment on column api_unstable.stock_reserve_line_input.order_line_item_id is
  E'@gid OrderLineItem\nId of the order line that the units are for. The order has them reserved already, so '
  'the reserved stock of the product stays as it is.';

create type api_unstable.stock_reserve_input as (
  lines api_unstable.stock_reserve_line_input[], expires_at timestamptz, reference text, note text
);
comment on type api_unstable.stock_reserve_input is 'Units to be reserved.';
comment on column api_unstable.stock_reserve_input.lines is
  E'@notNull\nThe units; 1 to 250 lines. Each becomes a reservation.';
comment on column api_unstable.stock_reserve_input.expires_at is
  'When the reservations end by themselves, in the future. Without it they never do.';
comment on column api_unstable.stock_reserve_input.reference is
  'The caller''s own reference, such as the number of a cart, of at most 255 characters. '
  'stockReservations can be filtered by it.';
comment on column api_unstable.stock_reserve_input.note is
  'Note that is kept with the reservations, of at most 1,000 characters.';

create function api_unstable.stock_reserve(input api_unstable.stock_reserve_input)
returns api_unstable.stock_reservation_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (ledger.reserve_stock(array(
    select row (l.product_id,
      case when (l.place).stock_container_id is null then (l.place).warehouse_id end,
      case when (l.place).stock_container_id is null then (l.place).bin_location_id end, l.quantity,
      l.batch_id, l.order_line_item_id)::ledger.reservation_line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.expires_at, input.reference, input.note), null, null)::api_unstable.stock_reservation_payload
$$;
comment on function api_unstable.stock_reserve(api_unstable.stock_reserve_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK\n'
  'Reserves units at a place: all lines, or none. Never more than there is, unless the product allows '
  'backorders. The place, the batch, and the available stock of the product must have the units. For an '
  'order line the product need not, because the order has reserved them already.';
--! EndIncluded api/stock_reserve.sql
--! Included api/stocks_upsert.sql
drop type if exists api_unstable.stocks_upsert_input cascade;
drop type if exists api_unstable.stock_upsert_input cascade;
drop type if exists api_unstable.stocks_upsert_payload cascade;

create type api_unstable.stock_upsert_input as (
  product_id uuid, product_number text, place api_unstable.stock_place_input, warehouse_code text,
  bin_location_code text, batch_id uuid, batch_number text, quantity integer, counted_at timestamptz,
  delta integer, reference text, reason text, comment text, stock_container_number text
);
comment on type api_unstable.stock_upsert_input is
  'A row of a file of stock: a count, or a change. It names product, place and batch by id, or by number '
  'and code.';
comment on column api_unstable.stock_upsert_input.product_id is E'@gid Product\nId of the product.';
comment on column api_unstable.stock_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.stock_upsert_input.place is 'Place of the stock, instead of codes.';
comment on column api_unstable.stock_upsert_input.warehouse_code is
  'Code of the warehouse. Without a bin it means what lies outside of bins.';
comment on column api_unstable.stock_upsert_input.bin_location_code is 'Code of the bin in the warehouse.';
comment on column api_unstable.stock_upsert_input.stock_container_number is
  'Number of the container, instead of a bin. With warehouseCode, it must be in that warehouse.';
comment on column api_unstable.stock_upsert_input.batch_id is
  E'@gid Batch\nId of the batch. Needed for products that are kept in batches.';
comment on column api_unstable.stock_upsert_input.batch_number is 'Number of the batch, instead of its id.';
comment on column api_unstable.stock_upsert_input.quantity is
  'Units that were counted; not negative. The row is a count, as of stockSet.';
comment on column api_unstable.stock_upsert_input.counted_at is
  'When they were counted. Every count needs it: a repeated row then changes nothing.';
comment on column api_unstable.stock_upsert_input.delta is
  'Units that come in, or, negative, go out. The row is a change, as of stockAdjust.';
comment on column api_unstable.stock_upsert_input.reference is
  'Own number of the row, of at most 255 characters. Every change needs one. A row whose reference another '
  'import has booked changes nothing.';
comment on column api_unstable.stock_upsert_input.reason is 'Code of one of stockBookingReasons.';
comment on column api_unstable.stock_upsert_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_unstable.stocks_upsert_input as (stocks api_unstable.stock_upsert_input[], partial boolean);
comment on type api_unstable.stocks_upsert_input is 'Rows of a file of stock.';
comment on column api_unstable.stocks_upsert_input.stocks is E'@notNull\nThe rows; 1 to 250.';
comment on column api_unstable.stocks_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others name something unknown, or are incomplete. What the '
  'ledger refuses, such as missing units, refuses the call. False when left out: all rows, or none.';

create type api_unstable.stocks_upsert_payload as (
  results api_unstable.upsert_result[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.stocks_upsert_payload is 'The result of rows of a file of stock.';
comment on column api_unstable.stocks_upsert_payload.results is
  E'@resultOf Stock\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused. CREATED is a '
  'change that was booked, UPDATED a count that booked a difference. The id is null.';
comment on column api_unstable.stocks_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.stocks_upsert(input api_unstable.stocks_upsert_input, changes jsonb)
returns api_unstable.stocks_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), null
  )::api_unstable.stocks_upsert_payload
  from (
    select jsonb_agg(e.result - 'id' order by e.n) as results
    from mutation.upserted(erp.import_stocks(changes -> 'stocks', input.partial)) u
    cross join jsonb_array_elements(u.results) with ordinality e (result, n)
  ) d
$$;
comment on function api_unstable.stocks_upsert(api_unstable.stocks_upsert_input, jsonb) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK\n'
  'Books rows of a file of stock, which can be sent again: counts, and changes with a reference of their '
  'own. Differences and changes are booked by csv_import_incoming and csv_import_outgoing. Bulk imports of '
  'stocks run it.';
--! EndIncluded api/stocks_upsert.sql
--! Included api/stocktake_sheet_submit.sql
drop type if exists api_unstable.stocktake_sheet_submit_input cascade;
drop type if exists api_unstable.stocktake_sheet_submit_line_input cascade;
create type api_unstable.stocktake_sheet_submit_line_input as (
  place api_unstable.stock_place_input, product_id uuid, batch_id uuid, quantity integer,
  counted_at timestamptz, is_empty boolean
);
comment on type api_unstable.stocktake_sheet_submit_line_input is 'A count of one person in a place.';
comment on column api_unstable.stocktake_sheet_submit_line_input.place is
  E'@notNull\nThe place, of this sheet or of no sheet.';
comment on column api_unstable.stocktake_sheet_submit_line_input.product_id is
  E'@gid Product\nId of the product. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.batch_id is
  E'@gid Batch\nId of the batch, for products that are kept in batches.';
comment on column api_unstable.stocktake_sheet_submit_line_input.quantity is
  'Units that are there; not negative. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.counted_at is
  'When it was counted, to the microsecond; not before the stocktake. By default now.';
comment on column api_unstable.stocktake_sheet_submit_line_input.is_empty is
  E'@neverNull\n'
  'True says that the place holds nothing, or nothing else than was counted: all its positions without a '
  'count get 0 units. False when left out.';

create type api_unstable.stocktake_sheet_submit_input as (
  sheet_id uuid, counter_name text, lines api_unstable.stocktake_sheet_submit_line_input[],
  is_complete boolean
);
comment on type api_unstable.stocktake_sheet_submit_input is 'Counts of one person on a sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.sheet_id is
  E'@notNull\n@gid StocktakeSheet\nId of the sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.counter_name is
  E'@notNull\nThe person who counted, of at most 255 characters.';
comment on column api_unstable.stocktake_sheet_submit_input.lines is
  'The counts, up to 250. Others follow in other calls.';
comment on column api_unstable.stocktake_sheet_submit_input.is_complete is
  E'@neverNull\nWhether the sheet is complete now, with these counts. False when left out.';

create function api_unstable.stocktake_sheet_submit(input api_unstable.stocktake_sheet_submit_input)
returns api_unstable.stocktake_sheet_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.submit_stocktake_sheet(input.sheet_id, input.counter_name, array(
    select row ((l.place).warehouse_id, (l.place).bin_location_id, (l.place).stock_container_id, l.product_id,
      l.batch_id, l.quantity,
      coalesce(l.counted_at, n.moment), coalesce(l.is_empty, false))::erp.stocktake_reading
    from unnest(input.lines) with ordinality l cross join (select ledger.moment()) n (moment)
    order by l.ordinality
  ), coalesce(input.is_complete, false)), null, null)::api_unstable.stocktake_sheet_payload
$$;
comment on function api_unstable.stocktake_sheet_submit(api_unstable.stocktake_sheet_submit_input) is
  E'@requiresScopes stocktakes:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES BATCH_REQUIRED '
  'BATCH_MISMATCH PRODUCT_HAS_VARIANTS NOT_ON_SHEET OUT_OF_SCOPE IN_OTHER_STOCKTAKE NOT_COUNTED '
  'NOT_EDITABLE SAME_PERSON INVALID_STATE_TRANSITION PICKED_FOR_ORDER\n'
  '@warnings COUNT_SUPERSEDED\n'
  'Takes counts of one person: of lines of the sheet, and of units that nobody expected there. Calls may '
  'arrive late, in any order and more than once: of a position the count with the latest countedAt is '
  'valid, until the sheet is complete.';
--! EndIncluded api/stocktake_sheet_submit.sql

-- The frozen version names no containers. Its calls make the same places as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_complete(input api_2026_06_unstable.goods_receipt_complete_input): places without containers, as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_create(input api_2026_06_unstable.goods_receipt_create_input, changes jsonb): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.goods_receipt_line_items_set(input api_2026_06_unstable.goods_receipt_line_items_set_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.fulfillment_create(input api_2026_06_unstable.fulfillment_create_input): places without containers, as before.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('goods_receipt_complete', 'goods_receipt_create', 'goods_receipt_line_items_set',
        'fulfillment_create')
      and p.prosrc !~ 'null\)::erp\.(placement|shipping_place|goods_receipt_line)'
  loop
    execute regexp_replace(definition, '\)::erp\.(placement|shipping_place|goods_receipt_line)',
      ', null)::erp.\1');
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

--! split: 50-shrink.sql
-- The same rules in fewer places
--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
with d as (
  select * from (values
    ('Order', 'erp.sales_order', 'orders', 'id',
      'id order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      buyer_reference purchase_order_number due_date paid_amount exchange_rate exchange_rate_date
      exchange_rate_source created_at updated_at'),
    ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id',
      'id number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id',
      'id number state storefront_id created_at'),
    ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id',
      'id product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock', 'ledger.stock', 'stocks', 'product_id',
      'id product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product', 'erp.product', 'products', 'id',
      'id product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number unit_code physical_stock stock_not_available_for_sale reserved_stock
      available_stock open_supplier_order_quantity last_supplier_order_at reorder_point
      target_maximum_quantity storefront_variants'),
    ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id',
      'id number type state goods_receipt_date_time warehouse_id:Warehouse supplier_id:Supplier
      customer_id:Customer user_id:User currency_id:Currency currency_factor currency_factor_origin_type
      currency_factor_origin_source currency_factor_reference_date currency_factor_captured_at tax_status
      amount_net amount_total position_price comment'),
    ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id',
      'id number supplier_order_number state payment_state supplier_id:Supplier warehouse_id:Warehouse
      currency_id:Currency amount_net amount_total position_price tax_status order_date_time due_date
      delivery_date actual_delivery_date comment created_at updated_at'),
    ('ReturnOrder', 'erp.return_order', 'return_orders', 'id',
      'id number state order_id:Order customer_id:Customer reference comment withdrawal_date requested_at
      closed_at refusal_reason replacement_order_id:Order refund_amount refunded_at created_at updated_at'),
    ('Batch', 'erp.batch', 'batches', 'id',
      'id product_id:Product number comment best_before_date production_date supplier_lot physical_stock
      is_held held_at hold_reason stock_state is_expired'),
    ('Customer', 'erp.customer', 'customers', 'id',
      'id customer_number account_type email first_name last_name title company vat_ids active guest
      group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      invoice_form buyer_reference electronic_address electronic_address_scheme registration_id
      storefront_id created_at updated_at'),
    ('Document', 'erp.document', 'documents', 'id',
      'id document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id',
      'id state type carrier_technical_name carrier_name tracking_codes tracking_url document_url
      weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at created_at
      updated_at parcel_number failure'),
    ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id',
      'id topic api_version created_at'),
    ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id',
      'id kind state resource row_count done_count created_count updated_count refused_count error_code
      error_message created_at started_at finished_at'),
    ('StockValuationReport', 'valuation.report', 'stock_valuation_reports', 'id',
      'id number reference_date sequence method currency_code quantity value hash previous_hash lines_hash
      state_hash closed_at voided_at void_reason'),
    ('Stocktake', 'erp.stocktake', 'stocktakes', 'id',
      'id number state warehouse_id:Warehouse counts_all_bins counts_all_products recount_units
      recount_percent recount_value comment created_at reviewed_at approved_at cancelled_at'),
    ('StockValuationHead', 'valuation.head', 'stock_valuation_heads', 'id',
      'id day report_number report_hash previous_hash signing_key_id:StockValuationSigningKey signature
      signed_at'),
    ('StockReservation', 'erp.stock_reservation', 'stock_reservations', 'product_id',
      'id product_id:Product warehouse_id:Warehouse bin_location_id:BinLocation batch_id:Batch
      order_line_item_id:OrderLineItem quantity open_quantity state expires_at reference note created_at
      updated_at'),
    ('PickList', 'erp.pick_list', 'pick_lists', 'id',
      'id number state warehouse_id:Warehouse assignee created_at started_at ended_at'),
    ('StockContainer', 'erp.stock_container', 'stock_containers', 'id',
      'id number sscc kind warehouse_id:Warehouse bin_location_id:BinLocation
      fulfillment_order_id:FulfillmentOrder created_at updated_at'),
    ('Quote', 'erp.quote', 'quotes', 'id',
      'id number state customer_id:Customer sales_channel_id:SalesChannel currency_id:Currency
      order_id:Order amount_net amount_total tax_status valid_until comment revision sent_at decline_reason
      created_at updated_at')
  ) d (type, relation, view_name, entity_column, fields)
),
subject as (
  merge into events.subject s
  using d on s.type = d.type
  when matched then update
  set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
  when not matched
    then insert (type, relation, view_name, entity_column) values (
      d.type, d.relation::regclass, d.view_name, d.entity_column
    )
  returning s.type
),
field as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    case w.word when 'id' then d.type else nullif(split_part(w.word, ':', 2), '') end as id_of
  from d
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using field d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

-- A topic begins with the name of its subject. Its events have all fields, unless some are named. A row
-- without a description is another change that causes the topic above
with d as (
  select * from (values
    ('order.created', 'An order was created.', 'insert', null::text[], null, null::text[]),
    ('order.updated', 'An order was changed.', 'update', null, null, null),
    ('order.state_changed', 'The state of an order, of its delivery or of its payment was changed.',
      'update', '{state,delivery_state,payment_state}', null, null),
    ('fulfillment_order.created', 'A fulfillment order was created.', 'insert', null, null, null),
    ('fulfillment_order.held', 'A fulfillment order was put on hold.',
      'update', '{state}', $$n.state = 'OnHold'$$, null),
    ('fulfillment_order.released', 'A fulfillment order is no longer on hold.',
      'update', '{state}', $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$, null),
    ('fulfillment_order.closed', 'A fulfillment order was fulfilled completely.',
      'update', '{state}', $$n.state = 'Closed'$$, null),
    ('fulfillment_order.cancelled', 'A fulfillment order was cancelled.',
      'update', '{state}', $$n.state = 'Cancelled'$$, null),
    ('fulfillment_order.moved', 'Another location ships a fulfillment order now.',
      'update', '{source_warehouse_location_id}', null, null),
    ('fulfillment_order.divided', 'Units of a fulfillment order were put into others.',
      'update', '{division_count}', null, null),
    ('fulfillment.created', 'Something was shipped.', 'insert', null, null, null),
    ('fulfillment.cancelled', 'A fulfillment was cancelled.',
      'update', '{state}', $$n.state = 'Cancelled'$$, null),
    ('stock_movement.created', 'Stock was moved.', 'insert', null, null, null),
    ('stock.changed', 'The quantity of a product changed in a place that is not special.',
      'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null', null),
    ('stock.changed', null, 'update', '{quantity}', 'n.special_stock_location_technical_name is null', null),
    ('product.created', 'A product was created.', 'insert', null, null, null),
    ('product.updated', 'A product or a figure of its stock was changed.', 'update', null, null, null),
    ('product.deleted', 'A product was deleted.', 'delete', null, null, '{id,productNumber}'),
    ('goods_receipt.created', 'A goods receipt was created.', 'insert', null, null, null),
    ('goods_receipt.approved', 'A goods receipt was approved: the goods are there.',
      'update', '{state}', $$n.state = 'approved'$$, null),
    ('goods_receipt.completed', 'A goods receipt was completed: the goods have been put away.',
      'update', '{state}', $$n.state = 'completed'$$, null),
    ('goods_receipt.deleted', 'A goods receipt was deleted.', 'delete', null, null, '{id,number}'),
    ('supplier_order.created', 'An order to a supplier was created.', 'insert', null, null, null),
    ('supplier_order.sent', 'An order was sent to its supplier.',
      'update', '{state}', $$n.state = 'sent'$$, null),
    ('supplier_order.confirmed', 'A supplier confirmed an order.',
      'update', '{state}', $$n.state = 'confirmed' and o.state in ('open', 'sent')$$, null),
    ('supplier_order.delivered', 'Everything of an order to a supplier has been received.',
      'update', '{state}', $$n.state = 'delivered'$$, null),
    ('supplier_order.reopened', 'A correction took back part of a delivered order: it waits for goods again.',
      'update', '{state}', $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$,
      null),
    ('supplier_order.completed', 'An order to a supplier was completed.',
      'update', '{state}', $$n.state = 'completed'$$, null),
    ('supplier_order.cancelled', 'An order to a supplier was cancelled.',
      'update', '{state}', $$n.state = 'cancelled'$$, null),
    ('return_order.created', 'A return was created.', 'insert', null, null, null),
    ('return_order.approved', 'A return was approved.',
      'update', '{state}', $$n.state = 'approved' and o.state in ('requested', 'open')$$, null),
    ('return_order.refused', 'A return was refused.', 'update', '{state}', $$n.state = 'refused'$$, null),
    ('return_order.cancelled', 'A return was cancelled.',
      'update', '{state}', $$n.state = 'cancelled'$$, null),
    ('return_order.received', 'Goods of a return arrived, not necessarily all of them.',
      'update', '{state}', $$n.state in ('received_partially', 'received')$$, null),
    ('return_order.closed', 'A return was closed.', 'update', '{state}', $$n.state = 'closed'$$, null),
    ('return_order.refunded', 'A refund was recorded for a return.', 'update', '{refund_amount}', null, null),
    ('batch.created', 'A batch was created.', 'insert', null, null, null),
    ('batch.updated', 'A batch or its stock was changed.', 'update', null, null, null),
    ('customer.created', 'A customer was created.', 'insert', null, null, null),
    ('customer.updated', 'A customer was changed.', 'update', null, null, null),
    ('customer.deleted', 'A customer was deleted.', 'delete', null, null, '{id,customerNumber}'),
    -- The orderId of these events is never null
    ('document.created', 'A document of an order was created.',
      'insert', null, 'n.order_id is not null', null),
    ('shipping_label.created', 'A shipping label was bought.', 'insert', null, $$n.state = 'created'$$, null),
    ('shipping_label.created', null, 'update', '{state}', $$n.state = 'created'$$, null),
    ('shipping_label.cancelled', 'A shipping label was cancelled.',
      'update', '{state}', $$n.state = 'cancelled'$$, null),
    ('shipping_label.failed', 'A requested shipping label could not be made.',
      'update', '{state}', $$n.state = 'failed'$$, null),
    ('bulk_operation.finished', 'A bulk operation has ended: it is completed, has failed or was cancelled.',
      'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$, null),
    ('stock_valuation_report.closed', 'A stock valuation report was closed.',
      'update', '{closed_at}', 'n.closed_at is not null', null),
    ('stock_valuation_report.voided',
      'The newest stock valuation report was declared void: its period is open again.',
      'update', '{voided_at}', 'n.voided_at is not null', null),
    ('stocktake.created', 'A stocktake was created.', 'insert', null, null, null),
    ('stocktake.reviewed', 'All sheets of a stocktake are complete: its review begins.',
      'update', '{state}', $$n.state = 'review'$$, null),
    ('stocktake.approved', 'All positions of a stocktake are approved and booked.',
      'update', '{state}', $$n.state = 'approved'$$, null),
    ('stocktake.cancelled', 'A stocktake was cancelled.',
      'update', '{state}', $$n.state = 'cancelled'$$, null),
    ('stock_valuation_head.signed', 'The head of the chain of stock valuation reports was signed for a day.',
      'insert', null, null, null),
    ('stock_reservation.created', 'Units were reserved.', 'insert', null, null, null),
    ('stock_reservation.updated', 'A reservation was changed: for example, some of its units were consumed.',
      'update', null, null, null),
    ('stock_reservation.consumed', 'Fulfillment orders have got all units of a reservation.',
      'update', '{state}', $$n.state = 'consumed'$$, null),
    ('stock_reservation.released', 'A reservation was released.',
      'update', '{state}', $$n.state = 'released'$$, null),
    ('stock_reservation.expired', 'The time of a reservation is over.',
      'update', '{state}', $$n.state = 'expired'$$, null),
    ('pick_list.created', 'A pick list was planned.', 'insert', null, null, null),
    ('pick_list.started', 'Somebody began to work on a pick list.',
      'update', '{state}', $$n.state = 'in_progress'$$, null),
    ('pick_list.completed', 'All fulfillment orders of a pick list are packed or have left it.',
      'update', '{state}', $$n.state = 'completed'$$, null),
    ('pick_list.cancelled', 'A pick list has ended without a parcel.',
      'update', '{state}', $$n.state = 'cancelled'$$, null),
    ('stock_container.moved', 'A container stands in another bin or warehouse.',
      'update', '{warehouse_id,bin_location_id}', null, null),
    ('quote.created', 'A quote was created.', 'insert', null, null, null),
    ('quote.sent', 'A quote was sent to the customer.', 'update', '{state}', $$n.state = 'sent'$$, null),
    ('quote.accepted', 'The customer accepted a quote: it has become an order.',
      'update', '{state}', $$n.state = 'accepted'$$, null),
    ('quote.declined', 'The customer declined a quote.', 'update', '{state}', $$n.state = 'declined'$$, null),
    ('quote.expired', 'The time to accept a quote is over.',
      'update', '{state}', $$n.state = 'expired'$$, null),
    ('webhook_subscription.test',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.',
      null, null, null, null)
  ) d (name, description, operation, columns, condition, fields)
),
of_subject as (
  select d.*, s.type as subject_type, scope
  from d
  join events.subject s
    on s.type = replace(initcap(replace(split_part(d.name, '.', 1), '_', ' ')), ' ', '')
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
  where d.description is not null
),
topic as (
  merge into events.topic t
  using of_subject d on t.name = d.name
  when matched then update
  set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
    subscribable = d.operation is not null
  when not matched then insert (name, subject_type, description, fields, scope, subscribable)
    values (d.name, d.subject_type, d.description, d.fields, d.scope, d.operation is not null)
  when not matched by source and t.subject_type in (select subject_type from of_subject) then delete
)
merge into events.occasion o
using (select * from d where d.operation is not null) d on o.topic = d.name and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.name, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select name from d) then delete;
--! EndIncluded events/topics.sql
--! Included erp/faults_of_lines.sql
create or replace function erp.faults_of_lines(lines jsonb)
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.n, f.code, f.message, f.field
  from (
    select e.n, r.id, r.unit_price, r.tax_rate, row_number() over (partition by r.id order by e.n) as nth
    from jsonb_array_elements(lines) with ordinality e (value, n)
    cross join lateral jsonb_to_record(e.value) r (id uuid, unit_price numeric, tax_rate numeric)
  ) l
  cross join lateral (
    values
      (l.unit_price < 0, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'),
      (l.unit_price >= 1e15, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.',
        'unit_price'),
      (l.tax_rate not between 0 and 100, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.',
        'tax_rate'),
      (l.id is not null and l.nth > 1, 'NOT_UNIQUE', 'An earlier line has this id.', 'id')
  ) f (is_fault, code, message, field)
  where f.is_fault;
end;
comment on function erp.faults_of_lines(jsonb) is
  'Returns what is wrong with the prices, tax rates and ids of lines, whatever they belong to: the line, and '
  'the parts of a user error.';
grant execute on function erp.faults_of_lines(jsonb) to service_writer;
--! EndIncluded erp/faults_of_lines.sql
--! Included erp/check_goods_receipt_lines.sql
create or replace function erp.check_goods_receipt_lines(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be 0.', 'quantity'
    from unnest(lines) with ordinality l
    where l.quantity = 0
    union all
    select f.line, f.code, f.message, f.field from erp.faults_of_lines(to_jsonb(lines)) f
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'More units are to be thrown away than arrive.',
      'planned_disposal_quantity'
    from unnest(lines) with ordinality l
    where l.planned_disposal_quantity not between 0 and greatest(l.quantity, 0)
    union all
    select l.ordinality, 'INVALID', 'A batch needs a number.', 'batch_number'
    from unnest(lines) with ordinality l where erp.is_blank(l.batch_number)
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The text has more than 255 characters.', 'batch_number'
    from unnest(lines) with ordinality l where length(l.batch_number) > 255
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (
        select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = target.id
      )
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_things_named(target, lines) e
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_orders_named(target, lines) e
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Refuses lines that do not fit their goods receipt. User errors TOO_MANY_LINES, OUT_OF_RANGE, '
  'NOT_FOUND, NOT_UNIQUE, BATCH_MISMATCH, INVALID.';
grant execute on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/check_goods_receipt_lines.sql
--! Included erp/check_supplier_order_lines.sql
create or replace function erp.check_supplier_order_lines(
  target erp.supplier_order, lines erp.supplier_order_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity'
    from unnest(lines) with ordinality l
    where l.quantity < 1
    union all
    select f.line, f.code, f.message, f.field from erp.faults_of_lines(to_jsonb(lines)) f
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The supplier order has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (
        select from erp.supplier_order_line_item i where i.id = l.id and i.supplier_order_id = target.id
      )
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Refuses lines that do not fit their supplier order. User errors TOO_MANY_LINES, OUT_OF_RANGE, '
  'NOT_FOUND, NOT_UNIQUE.';
grant execute on function erp.check_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[])
  to service_writer;
--! EndIncluded erp/check_supplier_order_lines.sql
--! Included erp/check_return_lines.sql
create or replace function erp.was_shipped(order_id uuid, product_id uuid, batch_id uuid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
return exists (
  select from ledger.stock s
  where s.product_id = was_shipped.product_id and s.place = was_shipped.order_id::text
    and (s.quantity > coalesce(
        (select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0)
      or exists (
        select from ledger.batch_stock b
        where b.stock_id = s.id and b.batch_id = was_shipped.batch_id and b.quantity > 0)))
  or not exists (
    select from ledger.stock s
    where s.product_id = was_shipped.product_id and s.place = was_shipped.order_id::text and s.quantity > 0);
comment on function erp.was_shipped(uuid, uuid, uuid) is
  'Whether a batch can come back from an order. It can if it was shipped there and has not come back, or if '
  'the ledger does not know the batches of the shipped units.';
grant execute on function erp.was_shipped(uuid, uuid, uuid) to service_writer;

create or replace function erp.return_lines_of(target uuid, given erp.return_order_line[])
returns erp.return_order_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (g.id, g.fulfillment_line_item_id, g.order_line_item_id,
      coalesce(g.product_id, o.product_id), g.batch_id, g.quantity, g.reason,
      g.wanted_outcome)::erp.return_order_line
    from (
      select l.ordinality, l.id, coalesce(l.fulfillment_line_item_id, p.fulfillment_line_item_id)
          as fulfillment_line_item_id,
        coalesce(l.order_line_item_id, a.destination_order_line_item_id, p.order_line_item_id)
          as order_line_item_id,
        coalesce(l.product_id, p.product_id) as product_id, coalesce(l.batch_id, p.batch_id) as batch_id,
        coalesce(l.quantity, p.quantity) as quantity, coalesce(l.reason, p.reason) as reason,
        coalesce(l.wanted_outcome, p.wanted_outcome) as wanted_outcome
      from unnest(given) with ordinality l
      left join erp.return_order_line_item p on p.id = l.id and p.return_order_id = target
      left join erp.fulfillment_line_item f on f.id = l.fulfillment_line_item_id
      left join erp.fulfillment_order_line_item a on a.id = f.fulfillment_order_line_item_id
    ) g
    left join erp.sales_order_line_item o on o.id = g.order_line_item_id
    order by g.ordinality
  );
end;
comment on function erp.return_lines_of(uuid, erp.return_order_line[]) is
  'Fills in what lines of a return name indirectly: the line of the order by the fulfillment, the product by '
  'the order. A line with an id keeps what is left out.';
grant execute on function erp.return_lines_of(uuid, erp.return_order_line[]) to service_writer;

create or replace function erp.faults_of_return_lines(
  target erp.return_order, lines erp.return_order_line[]
)
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.ordinality, f.code, f.message, f.field
  from unnest(lines) with ordinality l
  left join erp.fulfillment_line_item i on i.id = l.fulfillment_line_item_id
  left join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
  left join erp.sales_order_line_item o on o.id = l.order_line_item_id
  left join erp.product p on p.id = l.product_id
  left join erp.batch b on b.id = l.batch_id
  left join erp.return_reason r on r.code = l.reason
  left join erp.return_order_line_item x on x.id = l.id and x.return_order_id = (target).id
  cross join lateral (
    values
      (l.id is not null and x.id is null, 'NOT_FOUND', 'The return has no such line.', 'id'),
      (l.quantity is null, 'REQUIRED', 'How many units come back?', 'quantity'),
      (l.quantity < 1, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity'),
      (l.fulfillment_line_item_id is not null and i.id is null, 'NOT_FOUND',
        'There is no such line of a fulfillment.', 'fulfillment_line_item_id'),
      (a.destination_order_line_item_id <> l.order_line_item_id, 'INVALID',
        'The fulfillment shipped another line of the order.', 'fulfillment_line_item_id'),
      (l.order_line_item_id is not null and o.id is null, 'NOT_FOUND', 'There is no such line of an order.',
        'order_line_item_id'),
      (o.order_id is distinct from (target).order_id and o.id is not null, 'INVALID',
        'The line belongs to another order than the return.',
        case when l.fulfillment_line_item_id is null then 'order_line_item_id'
          else 'fulfillment_line_item_id' end),
      (l.product_id is null, 'REQUIRED', 'Name the line of the fulfillment or of the order, or the product.',
        'product_id'),
      (l.product_id is not null and p.id is null, 'NOT_FOUND', 'There is no such product.', 'product_id'),
      (o.product_id <> l.product_id, 'INVALID', 'The line of the order has another product.', 'product_id'),
      (x.product_id <> l.product_id and x.received_quantity > 0, 'NOT_EDITABLE',
        'Units of the line have arrived.', 'product_id'),
      (x.order_line_item_id <> l.order_line_item_id and x.received_quantity > 0, 'NOT_EDITABLE',
        'Units of the line have arrived.', 'order_line_item_id'),
      (p.has_serial_numbers and l.quantity > 1 and l.batch_id is not null, 'OUT_OF_RANGE',
        'A serial number is one unit.', 'quantity'),
      (l.batch_id is not null and b.id is null, 'NOT_FOUND', 'There is no such batch.', 'batch_id'),
      (b.product_id <> l.product_id, 'BATCH_MISMATCH',
        format('Batch %s belongs to another product.', b.number), 'batch_id'),
      (b.product_id = l.product_id and o.id is not null and coalesce(x.received_quantity, 0) = 0
        and not erp.was_shipped((target).order_id, l.product_id, b.id), 'BATCH_MISMATCH',
        format('Batch %s was not shipped in the order, or has come back already.', b.number), 'batch_id'),
      (l.reason is not null and r.code is null, 'NOT_FOUND', 'There is no such reason of returns.', 'reason'),
      (not r.is_active and l.reason is distinct from x.reason, 'INVALID',
        'This reason is no longer in use.', 'reason')
  ) f (is_fault, code, message, field)
  where f.is_fault;
end;
comment on function erp.faults_of_return_lines(erp.return_order, erp.return_order_line[]) is
  'Returns what is wrong with lines of a return on their own.';
grant execute on function erp.faults_of_return_lines(erp.return_order, erp.return_order_line[])
  to service_writer;

create or replace function erp.excess_returns(target uuid, lines erp.return_order_line[])
returns table (line bigint, returnable integer, requested integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with
  wanted as (
    select w.ordinality as line, w.order_line_item_id, w.fulfillment_line_item_id,
      greatest(w.quantity, coalesce(x.received_quantity, 0)) as quantity
    from unnest(lines) with ordinality w
    left join erp.return_order_line_item x on x.id = w.id and x.return_order_id = target
  ),
  -- The return itself claims its own units again
  own as (
    select l.order_line_item_id, l.fulfillment_line_item_id,
      erp.claimed_units(o.state, l.quantity, l.received_quantity) as quantity
    from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
    where l.return_order_id = target
  )
  select max(w.line), (l.shipped_quantity - l.returned_quantity + coalesce((
      select sum(o.quantity) from own o where o.order_line_item_id = l.id), 0))::integer as returnable,
    sum(w.quantity)::integer
  from wanted w join erp.sales_order_line_item l on l.id = w.order_line_item_id
  group by l.id
  having sum(w.quantity) > l.shipped_quantity - l.returned_quantity + coalesce((
    select sum(o.quantity) from own o where o.order_line_item_id = l.id), 0)
  union
  select max(w.line), (f.shipped - f.claimed)::integer, sum(w.quantity)::integer
  from wanted w
  join lateral (
    select i.id, case t.state when 'Cancelled' then 0 else i.quantity end as shipped, coalesce((
      select sum(erp.claimed_units(o.state, l.quantity, l.received_quantity))
      from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
      where l.fulfillment_line_item_id = i.id and o.id is distinct from target), 0) as claimed
    from erp.fulfillment_line_item i join erp.fulfillment t on t.id = i.fulfillment_id
    where i.id = w.fulfillment_line_item_id
  ) f on true
  group by f.id, f.shipped, f.claimed having sum(w.quantity) > f.shipped - f.claimed;
end;
comment on function erp.excess_returns(uuid, erp.return_order_line[]) is
  'Returns the lines by which a return would claim more of a line of an order, or of a fulfillment, than was '
  'shipped and no other return claims.';
grant execute on function erp.excess_returns(uuid, erp.return_order_line[]) to service_writer;

create or replace function erp.check_return_lines(target erp.return_order, lines erp.return_order_line[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select f.line, f.code, f.message, f.field from erp.faults_of_return_lines(target, lines) f
    union all
    select f.line, f.code, f.message, f.field from erp.faults_of_lines(to_jsonb(lines)) f
  ) e;
  perform mutation.refuse(errors);
  select jsonb_agg(mutation.user_error('EXCEEDS_SHIPPED',
    format('%s units would come back, but only %s were shipped and have not come back.', e.requested,
      e.returnable),
    mutation.path('line_items', e.line, 'quantity'),
    jsonb_build_object('returnable', e.returnable, 'requested', e.requested)) order by e.line)
  into errors
  from (
    select x.line, min(x.returnable) as returnable, max(x.requested) as requested
    from erp.excess_returns(target.id, lines) x group by x.line
  ) e;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_return_lines(erp.return_order, erp.return_order_line[]) is
  'Refuses lines that do not fit their return. The lock of the order has been taken. User errors '
  'TOO_MANY_LINES, REQUIRED, OUT_OF_RANGE, NOT_FOUND, NOT_UNIQUE, NOT_EDITABLE, INVALID, BATCH_MISMATCH, '
  'EXCEEDS_SHIPPED.';
grant execute on function erp.check_return_lines(erp.return_order, erp.return_order_line[])
  to service_writer;
--! EndIncluded erp/check_return_lines.sql
--! Included erp/set_prices_of_goods_receipt.sql
create or replace function erp.set_prices_of_goods_receipt(
  goods_receipt_id uuid, lines erp.goods_receipt_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  discount constant numeric := present.position_price
    - case present.tax_status when 'gross' then present.amount_total else present.amount_net end;
  errors jsonb;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{line_items}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where not exists (
      select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = present.id)
    union all
    select f.line, f.code, f.message, f.field from erp.faults_of_lines(to_jsonb(lines)) f
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
  update erp.goods_receipt_line_item i
  set unit_price = l.unit_price, tax_rate = coalesce(l.tax_rate, i.tax_rate)
  from unnest(lines) l
  where i.id = l.id
    and (i.unit_price, i.tax_rate) is distinct from (l.unit_price, coalesce(l.tax_rate, i.tax_rate));
  update erp.goods_receipt r
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(present.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = present.id
  ) a where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Sets prices and tax rates of lines of a goods receipt in any state, and its amounts. Values of stock '
  'follow. Returns the receipt. User errors NOT_FOUND, NOT_UNIQUE, OUT_OF_RANGE, PERIOD_CLOSED.';
select api_meta.plan_by_index('erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[])');
grant execute on function erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[]) to service_writer;
--! EndIncluded erp/set_prices_of_goods_receipt.sql
--! Included erp/prices_with_codes.sql
create or replace function erp.prices_with_codes(prices jsonb) returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object(
    'currencyIsoCode', c.iso_code, 'net', p.net, 'gross', p.gross, 'linked', p.linked) order by c.iso_code),
    '[]')
  from jsonb_populate_recordset(null::erp.price, prices) p join erp.currency c on c.id = p.currency_id
);
comment on function erp.prices_with_codes(jsonb) is
  'Returns prices with the codes of their currencies instead of ids, in the form that upserts take.';
grant execute on function erp.prices_with_codes(jsonb) to service_api;
--! EndIncluded erp/prices_with_codes.sql
drop function if exists api_unstable.products_currency_prices(api_unstable.products);
--! Included api/products_currency_prices.sql
create function api_unstable.products_currency_prices(product api_unstable.products)
returns jsonb
language sql stable
return erp.prices_with_codes(to_jsonb(product.price));
comment on function api_unstable.products_currency_prices(api_unstable.products) is $$
@notNull
@requiresScopes currencies:read
The prices of price, with the codes of their currencies instead of ids: a list of objects in the form
that upserts take.$$;
--! EndIncluded api/products_currency_prices.sql
drop function if exists api_unstable.products_currency_purchase_prices(api_unstable.products);
--! Included api/products_currency_purchase_prices.sql
create function api_unstable.products_currency_purchase_prices(product api_unstable.products)
returns jsonb
language sql stable
return erp.prices_with_codes(to_jsonb(product.purchase_prices));
comment on function api_unstable.products_currency_purchase_prices(api_unstable.products) is $$
@notNull
@requiresScopes currencies:read
The prices of purchasePrices, with the codes of their currencies instead of ids: a list of objects in the
form that upserts take.$$;
--! EndIncluded api/products_currency_purchase_prices.sql
drop function if exists api_unstable.product_supplier_configurations_currency_purchase_prices(
  api_unstable.product_supplier_configurations
);
--! Included api/product_supplier_configurations_currency_purchase_prices.sql
create function api_unstable.product_supplier_configurations_currency_purchase_prices(
  configuration api_unstable.product_supplier_configurations
)
returns jsonb
language sql stable
return erp.prices_with_codes(to_jsonb(configuration.purchase_prices));
comment on function api_unstable.product_supplier_configurations_currency_purchase_prices(
  api_unstable.product_supplier_configurations
) is $$
@notNull
@requiresScopes currencies:read
The prices of purchasePrices, with the codes of their currencies instead of ids: a list of objects in the
form that upserts take.$$;
--! EndIncluded api/product_supplier_configurations_currency_purchase_prices.sql

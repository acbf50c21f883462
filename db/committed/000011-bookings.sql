--! Previous: sha1:a408ff8f799de7db5db6a3161305f8f051ab75bf
--! Hash: sha1:032b44f07278f493bfaca657281abf66a9cb93ef
--! Message: bookings

-- Booking of stock. Figures follow from the ledger and from documents by triggers, whoever inserts.

create type ledger.line as (
  product_id uuid, source_warehouse_id uuid, source_bin_location_id uuid, destination_warehouse_id uuid,
  destination_bin_location_id uuid, quantity integer, batch_id uuid, expected_quantity integer, counted_at
  timestamptz
);
comment on type ledger.line is
  'A line of a mutation of stock. Where there is one place only, it is the source; quantity is then a '
  'target or, for adjustments, a change.';

create type ledger.named_place as (line bigint, name text, warehouse_id uuid, bin_location_id uuid);
comment on type ledger.named_place is 'A place of a line, with the name that the input gives it.';

create type ledger.draft as (
  field text[], product_id uuid, quantity integer, batch_id uuid, source_type text, source text,
  destination_type text, destination text, process text
);
comment on type ledger.draft is
  'A movement to be booked. source and destination are keys of places as in ledger.stock.place; field '
  'is where the input says the quantity, for user errors.';

create type ledger.booking as (stock_movements uuid[], stocks uuid[]);
comment on type ledger.booking is 'Ids of the movements that were booked and of the stock that they changed.';

create type ledger.change as (owner_id uuid, item_id uuid, quantity bigint);
comment on type ledger.change is
  'By how much a quantity of an item changes for its owner: of a product for an order, a fulfillment '
  'order or a warehouse, of a line for a fulfillment.';

create type ledger.pick as (
  field text[], line_id uuid, product_id uuid, warehouse_id uuid, quantity integer, place_type text, place
  text, batch_id uuid
);
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. place is a key as in '
  'ledger.stock.place, null when the units are to be picked; field is where the input says the '
  'quantity, for user errors.';

create type ledger.stock_reading as (
  line bigint, stock_id uuid, place_type text, place text, product_id uuid, batch_id uuid,
  quantity integer, counted_at timestamptz, moved bigint, present integer,
  newer_counted_at timestamptz, newer_quantity integer
);
comment on type ledger.stock_reading is
  'A line of stockSet: what was counted, what has moved since, what the books say at present, and a '
  'newer count if there is one; then moved is null.';

--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.post(array(
    select row (mutation.path('lines', l.ordinality, 'delta'), l.product_id, abs(l.quantity), l.batch_id,
      case when l.quantity > 0 then 'special_stock_location' else p.type end,
        case when l.quantity > 0 then 'stock_correction' else p.place end,
      case when l.quantity > 0 then p.type else 'special_stock_location' end,
        case when l.quantity > 0 then p.place else 'stock_correction' end,
      case when l.quantity > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft
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
--! Included ledger/apply_fulfillment_changes.sql
create or replace function ledger.apply_fulfillment_changes(
  changes ledger.change[], shipped ledger.change[], touched uuid[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(
      select l.order_id
      from unnest(shipped) s
      join erp.sales_order_line_item l on l.id = s.item_id
    ),
    array(select c.owner_id from unnest(changes) c union select t.id from unnest(touched) t (id))
  );
  -- A fulfillment order that is being deleted is gone already, and has taken its promises along
  changes := ledger.promises_of(changes);
  -- All products at once: the lines of the orders may name others
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c
      union select l.product_id
      from unnest(shipped) s
      join erp.sales_order_line_item l on l.id = s.item_id
      where l.product_id is not null),
    array(select c.owner_id from unnest(changes) c)
  );
  perform ledger.change_promised_stock(changes);
  update erp.sales_order_line_item l
  set shipped_quantity = l.shipped_quantity + s.quantity
  from unnest(shipped) s
  where l.id = s.item_id;
  update erp.fulfillment_order f set is_partially_fulfilled = p.is_partial
  from unnest(touched) t (id) cross join lateral (
    select coalesce(
      sum(l.fulfilled_quantity) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity), false
    ) as is_partial
    from erp.fulfillment_order_line_item l where l.fulfillment_order_id = t.id
  ) p
  where f.id = t.id and f.is_partially_fulfilled <> p.is_partial;
end
$$;
comment on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[]) is
  'Brings figures up to date after lines of fulfillment orders changed: units still to be fulfilled, by '
  'fulfillment order and product; units that were fulfilled, by line of the order; and whether the '
  'fulfillment orders that were touched are partially fulfilled. Takes the locks first.';
grant execute on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[])
  to service_ledger;
--! EndIncluded ledger/apply_fulfillment_changes.sql
--! Included ledger/is_count.sql
create or replace function ledger.is_count(process text, source_special text, destination_special text)
returns boolean
language sql immutable parallel safe
return coalesce(process in ('api', 'stocktaking')
  and (source_special = 'stock_correction' or destination_special = 'stock_correction'), false);
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between special places of these names if any, corrects the books '
  'after a count. Then nothing moved.';
grant execute on function ledger.is_count(text, text, text) to service_ledger, service_writer;
--! EndIncluded ledger/is_count.sql
--! Included ledger/flow.sql
-- A movement seen from its two ends: what came to one place, and what left another.
create or replace view ledger.flow with (security_invoker = true) as
select m.id as movement_id, m.product_id, m.created_at, m.process_type_technical_name,
  m.destination_location_type_technical_name as location_type_technical_name,
  m.destination_warehouse_id as warehouse_id, m.destination_bin_location_id as bin_location_id,
    m.destination_order_id as order_id,
  m.destination_return_order_id as return_order_id, m.destination_goods_receipt_id as goods_receipt_id,
  m.destination_stock_container_id as stock_container_id,
  m.destination_special_stock_location_technical_name as special_stock_location_technical_name,
  coalesce(m.destination_warehouse_id::text, m.destination_bin_location_id::text,
    m.destination_order_id::text,
    m.destination_return_order_id::text, m.destination_goods_receipt_id::text,
      m.destination_stock_container_id::text,
    m.destination_special_stock_location_technical_name) as place,
  m.quantity, 1 as direction,
  m.created_at + m.microseconds * interval '1 microsecond' as booked_at,
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name) as is_count
from ledger.stock_movement m
union all
select m.id, m.product_id, m.created_at, m.process_type_technical_name, m.source_location_type_technical_name,
  m.source_warehouse_id, m.source_bin_location_id,
  m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id, m.source_stock_container_id,
  m.source_special_stock_location_technical_name,
  coalesce(m.source_warehouse_id::text, m.source_bin_location_id::text, m.source_order_id::text,
    m.source_return_order_id::text,
    m.source_goods_receipt_id::text, m.source_stock_container_id::text,
      m.source_special_stock_location_technical_name),
  - m.quantity, -1,
  m.created_at + m.microseconds * interval '1 microsecond',
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name)
from ledger.stock_movement m;
comment on view ledger.flow is
  'Each movement twice: as what came to its destination, and, negative, as what left its source. place '
  'is the key of ledger.stock, null once the place was deleted; direction is 1 or -1; booked_at is the '
  'exact moment, of which created_at is the second; is_count tells corrections after counts from goods '
  'that moved. No joins here: with one, Postgres could not look up single movements in it by index.';
grant select on ledger.flow to service_ledger, service_writer;
--! EndIncluded ledger/flow.sql
--! Included ledger/moved_since.sql
create or replace function ledger.moved_since(product_id uuid, place text, batch_id uuid, moment timestamptz)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select (
    select coalesce(sum(
      case when moved_since.batch_id is null then f.quantity else f.direction * b.quantity end), 0)
    from ledger.flow f
    left join ledger.stock_movement_batch b
      on b.stock_movement_id = f.movement_id and b.batch_id = moved_since.batch_id
    where f.product_id = moved_since.product_id and f.place = moved_since.place and not f.is_count
      -- The second is what the index knows
      and f.created_at >= date_trunc('second', moved_since.moment) and f.booked_at > moved_since.moment
  ) + (
    select coalesce(sum(c.difference), 0) from ledger.stock s join ledger.stock_count c on c.stock_id = s.id
    where s.product_id = moved_since.product_id and s.place = moved_since.place
      and c.counted_at > moved_since.moment and c.batch_id is not null
      and moved_since.batch_id is null
  );
end;
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Units of a product, or of one batch of it, that came to a place after a moment, to the microsecond, '
  'less those that left it. What counts have corrected did not move; but for the place as a whole, what '
  'later counts of single batches have changed counts too.';
grant execute on function ledger.moved_since(uuid, text, uuid, timestamptz) to service_ledger;
--! EndIncluded ledger/moved_since.sql
--! Included ledger/quantity_at.sql
create or replace function ledger.quantity_at(product_id uuid, place text, batch_id uuid default null)
returns integer
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(case when quantity_at.batch_id is null
    then (
      select s.quantity
      from ledger.stock s
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place
    )
    else (select b.quantity from ledger.stock s
      join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = quantity_at.batch_id
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
  end, 0);
end;
comment on function ledger.quantity_at(uuid, text, uuid) is
  'Units of a product, or of one batch of it, in a place (see ledger.stock.place).';
grant execute on function ledger.quantity_at(uuid, text, uuid) to service_ledger;
--! EndIncluded ledger/quantity_at.sql
--! Included ledger/counted_quantity.sql
create or replace function ledger.counted_quantity(stock_id uuid, batch_id uuid, moment timestamptz)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.quantity_at(s.product_id, s.place, counted_quantity.batch_id)
    - ledger.moved_since(s.product_id, s.place, counted_quantity.batch_id, counted_quantity.moment)
  from ledger.stock s where s.id = counted_quantity.stock_id;
end;
comment on function ledger.counted_quantity(uuid, uuid, timestamptz) is
  'What a count at a moment must have said, of stock or of one batch of it, for the books to be as they are.';
grant execute on function ledger.counted_quantity(uuid, uuid, timestamptz) to service_ledger;
--! EndIncluded ledger/counted_quantity.sql
--! Included ledger/carry_counts.sql
create or replace function ledger.carry_counts(stock_ids uuid[], batch_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at)
  select s.id, carry_counts.batch_id,
    ledger.counted_quantity(s.id, carry_counts.batch_id, c.counted_at), c.counted_at
  from ledger.stock s
  cross join lateral (
    select c.counted_at from ledger.stock_count c
    where c.stock_id = s.id and c.batch_id is not distinct from carry_counts.batch_id
      and c.difference is not null
    order by c.counted_at desc, c.id desc limit 1
  ) c
  where s.id = any (carry_counts.stock_ids);
end;
comment on function ledger.carry_counts(uuid[], uuid) is
  'Counts stock, or one batch of it, once more at the moment of its latest count, so that the books are '
  'right as they are: for movements that are inserted with an earlier moment, which the count cannot '
  'have known.';
grant execute on function ledger.carry_counts(uuid[], uuid) to service_ledger;
--! EndIncluded ledger/carry_counts.sql
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
end
$$;
comment on function ledger.change_fulfilled_quantities(ledger.change[]) is
  'Adds to the fulfilled quantities of the items, which are lines of fulfillment orders.';
grant execute on function ledger.change_fulfilled_quantities(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_fulfilled_quantities.sql
--! Included ledger/change_invoiced_quantities.sql
create or replace function ledger.change_invoiced_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders(
    array(select l.order_id from unnest(changes) c join erp.sales_order_line_item l on l.id = c.item_id)
  );
  update erp.sales_order_line_item l set invoiced_quantity = l.invoiced_quantity + c.quantity
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id
    having sum(c.quantity) <> 0
  ) c
  where l.id = c.item_id;
end
$$;
comment on function ledger.change_invoiced_quantities(ledger.change[]) is
  'Adds to the invoiced quantities of the items, which are lines of orders.';
grant execute on function ledger.change_invoiced_quantities(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_invoiced_quantities.sql
--! Included ledger/change_promised_stock.sql
create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c), array(select c.owner_id from unnest(changes) c)
  );
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity
  from (
    select c.item_id, c.owner_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id, c.owner_id
    having sum(c.quantity) <> 0
  ) c
  -- While a warehouse or a product is being deleted its figures may be there a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';
grant execute on function ledger.change_promised_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_promised_stock.sql
--! Included ledger/change_reserved_stock.sql
create or replace function ledger.change_reserved_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c));
  update erp.product p set reserved_stock = p.reserved_stock + c.quantity
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id
    having sum(c.quantity) <> 0
  ) c
  where p.id = c.item_id;
end
$$;
comment on function ledger.change_reserved_stock(ledger.change[]) is
  'Adds to the reserved stock of the items, which are products.';
grant execute on function ledger.change_reserved_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_reserved_stock.sql
--! Included ledger/check_expectations.sql
create or replace function ledger.check_expectations(lines ledger.line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('QUANTITY_CHANGED',
    format('The place holds %s units, not %s.', q.quantity, l.expected_quantity),
    mutation.path('lines', l.ordinality, 'expected_quantity'),
    jsonb_build_object('expected', l.expected_quantity, 'actual', q.quantity)) order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  cross join lateral ledger.quantity_at(
    l.product_id, coalesce(l.source_warehouse_id, l.source_bin_location_id)::text, l.batch_id
  ) q (quantity)
  where l.expected_quantity <> q.quantity;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_expectations(ledger.line[]) is
  'Refuses lines of a mutation of stock that expect another quantity than there is. User error '
  'QUANTITY_CHANGED.';
grant execute on function ledger.check_expectations(ledger.line[]) to service_ledger;
--! EndIncluded ledger/check_expectations.sql
--! Included ledger/check_form.sql
create or replace function ledger.check_form(lines ledger.line[], places ledger.named_place[], operation text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
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
    where l.source_warehouse_id = l.destination_warehouse_id
      or l.source_bin_location_id = l.destination_bin_location_id
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line sets the same stock.', '{}'
    from (
      select l.*, row_number() over (
        partition by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id
        order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l where operation = 'set' and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_form(ledger.line[], ledger.named_place[], text) is
  'Refuses lines of a mutation of stock that make no sense by themselves, whatever there is. User '
  'errors OUT_OF_RANGE, INVALID, NOT_UNIQUE.';
grant execute on function ledger.check_form(ledger.line[], ledger.named_place[], text) to service_ledger;
--! EndIncluded ledger/check_form.sql
--! Included ledger/check_references.sql
create or replace function ledger.check_references(lines ledger.line[], places ledger.named_place[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', '{product_id}'::text[]
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such warehouse.', array[p.name, 'warehouse_id']
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such bin.', array[p.name, 'bin_location_id']
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(lines) with ordinality l
    where l.batch_id is not null and not exists (select from erp.batch b where b.id = l.batch_id)
    union all
    select l.ordinality, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where b.product_id <> l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_references(ledger.line[], ledger.named_place[]) is
  'Refuses lines of a mutation of stock that name what is not there, or a batch of another product. '
  'User errors NOT_FOUND, BATCH_MISMATCH.';
grant execute on function ledger.check_references(ledger.line[], ledger.named_place[]) to service_ledger;
--! EndIncluded ledger/check_references.sql
--! Included ledger/check_variants.sql
create or replace function ledger.check_variants(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parents uuid[];
  errors jsonb;
  warnings jsonb;
begin
  parents := erp.those_with_variants(array(
    select d.product_id from unnest(drafts) d where d.destination_type in ('warehouse', 'bin_location')));
  if parents = '{}' then
    return;
  end if;

  with concerned as (
    select d.ordinality, d.field, p.product_number,
      d.source_type = 'special_stock_location' and d.process in ('api', 'api_incoming') as is_refused
    from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
    where d.destination_type in ('warehouse', 'bin_location') and d.product_id = any (parents)
  )
  select
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: book one of them.', c.product_number),
      trim_array(c.field, 1) || '{product_id}') order by c.ordinality) filter (where c.is_refused),
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: its stock cannot be sold.', c.product_number),
      c.field) order by c.ordinality)
  into errors, warnings
  from concerned c;
  perform mutation.refuse(errors);
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.check_variants(ledger.draft[]) is
  'Looks for drafts that bring products into a place which only stand for their variants. What counts '
  'and corrections would add is refused: user error PRODUCT_HAS_VARIANTS. What has arrived, comes back '
  'or is moved is booked, with a warning of that name: it lies there, and old stock must be movable.';
grant execute on function ledger.check_variants(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/check_variants.sql
--! Included ledger/fill_configured_stock.sql
create or replace function ledger.fill_configured_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A booking that is under way changes the figure after this or is seen by it
  perform ledger.lock(array[new.product_id]);
  if tg_table_name = 'product_warehouse_configuration' then
    new.stock := coalesce((select s.quantity from ledger.warehouse_stock s
      where s.product_id = new.product_id and s.warehouse_id = new.warehouse_id), 0);
  else
    new.stock := coalesce((select s.quantity from ledger.stock s
      where s.product_id = new.product_id
        and s.place = coalesce(new.warehouse_id, new.bin_location_id)::text),
        0);
  end if;
  return new;
end
$$;
comment on function ledger.fill_configured_stock() is
  'Trigger: gives a new configuration of a product the stock that there is at its place.';
select api_meta.plan_by_index('ledger.fill_configured_stock()');
select api_meta.give('ledger.fill_configured_stock()', 'service_ledger');
--! EndIncluded ledger/fill_configured_stock.sql
--! Included ledger/insert_movements.sql
create or replace function ledger.insert_movements(drafts ledger.draft[], moment timestamptz, note text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked uuid[];
begin
  -- Each id is larger than the one before it.
  with inserted as (
    insert into ledger.stock_movement (
      created_at, microseconds, product_id, quantity, process_type_technical_name, comment,
      source_location_type_technical_name, source_warehouse_id, source_bin_location_id,
      source_order_id, source_return_order_id, source_goods_receipt_id, source_stock_container_id,
      source_special_stock_location_technical_name,
      destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id,
      destination_order_id, destination_return_order_id, destination_goods_receipt_id,
      destination_stock_container_id, destination_special_stock_location_technical_name
    )
    select date_trunc('second', moment), ledger.microseconds(moment), d.product_id, d.quantity, d.process,
      note,
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
    returning id
  )
  select array_agg(i.id order by i.id) into booked from inserted i;
  return booked;
end
$$;
comment on function ledger.insert_movements(ledger.draft[], timestamptz, text) is
  'Adds movements to the ledger, in the order of their drafts; answers their ids. Only for ledger.post, '
  'which checks them first.';
grant execute on function ledger.insert_movements(ledger.draft[], timestamptz, text) to service_ledger;
--! EndIncluded ledger/insert_movements.sql
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  counted record;
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(
    array(select m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id)
  );
  perform ledger.open_stock(array(select stock_movement_id from booked));
  insert into ledger.batch_stock (stock_id, batch_id)
  select distinct s.id, m.batch_id
  from booked m
  join ledger.flow f on f.movement_id = m.stock_movement_id
  join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
  on conflict (stock_id, batch_id) do nothing;

  with flow as materialized (
    select s.id as stock_id, m.batch_id, sum(m.quantity * f.direction) as change,
      coalesce(
        sum(m.quantity * f.direction) filter (
          where f.location_type_technical_name in ('warehouse', 'bin_location')
        ),
        0
      ) as held
    from booked m
    join ledger.flow f on f.movement_id = m.stock_movement_id
    join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where f.location_type_technical_name <> 'special_stock_location'
    group by s.id, m.batch_id
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id
  )
  update erp.batch b set physical_stock = b.physical_stock + f.held
  from (
    select flow.batch_id, sum(flow.held) as held from flow group by flow.batch_id having sum(flow.held) <> 0
  ) f
  where b.id = f.batch_id;

  for counted in
    select m.batch_id, array_agg(distinct s.id) as stock_ids
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id and not f.is_count
    join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where exists (
      select from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at >= f.booked_at
        and c.batch_id = m.batch_id and c.difference is not null)
    group by m.batch_id
  loop
    perform ledger.carry_counts(counted.stock_ids, counted.batch_id);
  end loop;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted: brings the stock of batches up to date, in each '
  'place and altogether.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/keep_cancellations.sql
create or replace function ledger.keep_cancellations() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from new_rows n join erp.document d on d.referenced_document_id = n.referenced_document_id
    join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'storno'
    where n.document_type_id = t.id group by n.referenced_document_id having count(distinct d.id) > 1
  ) then
    perform mutation.refuse('INVALID', 'The invoice has been cancelled already.');
  end if;
  update erp.invoice i set cancellation_id = n.id
  from new_rows n join erp.document_type t on t.id = n.document_type_id and t.technical_name = 'storno'
  where i.document_id = n.referenced_document_id;
  return null;
end
$$;
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, whoever inserted them: a storno cancels the invoice that it '
  'refers to, which can happen once. User error INVALID.';
select api_meta.give('ledger.keep_cancellations()', 'service_ledger');
--! EndIncluded ledger/keep_cancellations.sql
--! Included ledger/keep_count.sql
create or replace function ledger.keep_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off as $$
declare
  place record;
begin
  -- Those of ledger.set_stock are there already, and so are those that came through here twice
  if exists (select from ledger.stock_count c where c.stock_movement_id = new.id) then
    return null;
  end if;
  select s.id, f.direction, f.booked_at into place
  from ledger.flow f join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.movement_id = new.id and f.location_type_technical_name <> 'special_stock_location';
  if not found then
    return null;
  end if;

  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at, difference, stock_movement_id)
  select place.id, b.batch_id, ledger.counted_quantity(place.id, b.batch_id, m.moment), m.moment,
    place.direction * b.quantity, new.id
  from ledger.stock_movement_batch b
  cross join lateral (
    select greatest(place.booked_at, max(c.counted_at)) as moment from ledger.stock_count c
    where c.stock_id = place.id and c.counted_at > place.booked_at
      and coalesce(c.batch_id = b.batch_id, true) and c.difference is not null
  ) m
  where b.stock_movement_id = new.id;

  insert into ledger.stock_count (stock_id, quantity, counted_at, difference, stock_movement_id)
  select place.id, ledger.counted_quantity(place.id, null, m.moment), m.moment,
    place.direction * r.quantity, new.id
  from (
    select new.quantity - coalesce(sum(b.quantity), 0) as quantity
    from ledger.stock_movement_batch b where b.stock_movement_id = new.id
  ) r
  cross join lateral (
    select greatest(place.booked_at, max(c.counted_at)) as moment from ledger.stock_count c
    where c.stock_id = place.id and c.counted_at > place.booked_at
      and c.batch_id is null and c.difference is not null
  ) m
  where r.quantity > 0;
  return null;
end
$$;
comment on function ledger.keep_count() is
  'Trigger at the end of a transaction, when batches are known: a correction by a count that is '
  'inserted by hand, or by other programs, is a count of its moment; or of that of the latest one, if '
  'that is later, for the stock has changed on top of it.';
select api_meta.give('ledger.keep_count()', 'service_ledger');
--! EndIncluded ledger/keep_count.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Stock that was counted, as is known already, after the moment of what is booked now
  counted uuid[];
begin
  -- A posting function has these locks already; what is inserted by hand gets them here.
  perform ledger.lock(array(select product_id from booked));
  perform ledger.open_stock(array(select id from booked));

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct f.product_id, coalesce(f.warehouse_id, b.warehouse_id)
  from booked m join ledger.flow f on f.movement_id = m.id
  left join erp.bin_location b on b.id = f.bin_location_id
  where f.location_type_technical_name in ('warehouse', 'bin_location') order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;

  with flow as materialized (
    select f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id) as warehouse_id,
      sum(f.quantity) as change, min(f.booked_at) filter (where not f.is_count) as moved_at
    from booked m join ledger.flow f on f.movement_id = m.id
    left join erp.bin_location b on b.id = f.bin_location_id
    group by f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id)
    having sum(f.quantity) <> 0 or min(f.booked_at) < max(f.booked_at)
  ),
  held as materialized (
    select f.product_id, f.warehouse_id, sum(f.change) as change
    from flow f
    where f.warehouse_id is not null
    group by f.product_id, f.warehouse_id
    having sum(f.change) <> 0
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + f.change
    from flow f where s.product_id = f.product_id and s.place = f.place
    returning s.id, f.moved_at
  ),
  in_configured_place as (
    update erp.product_stock_location_configuration c set stock = c.stock + f.change
    from flow f
    where c.product_id = f.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = f.place
  ),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change
    from held h where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
  ),
  in_configured_warehouse as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change
    from held h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale
    from (
      select held.product_id, sum(held.change) as change,
        coalesce(sum(held.change) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
      from held join erp.warehouse w on w.id = held.warehouse_id group by held.product_id
    ) h where p.id = h.product_id
  )
  select array_agg(p.id) into counted from in_place p
  where exists (
    select from ledger.stock_count c where c.stock_id = p.id and c.counted_at >= p.moved_at
      and c.batch_id is null and c.difference is not null);
  if counted is not null then
    perform ledger.carry_counts(counted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted, whoever did: brings stock, warehouse stock, the figures of '
  'products and of their configurations up to date in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/keep_fulfillment_figures.sql
create or replace function ledger.keep_fulfillment_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
  'Triggers before a fulfillment is deleted and after some were changed: one that is cancelled fulfills '
  'nothing any more.';
select api_meta.plan_by_index('ledger.keep_fulfillment_figures()');
select api_meta.give('ledger.keep_fulfillment_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_figures.sql
--! Included ledger/keep_fulfillment_line_figures.sql
create or replace function ledger.keep_fulfillment_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By fulfillment and line of a fulfillment order
  changes ledger.change[];
begin
  if tg_op = 'INSERT' then
    changes := array(
      select row (l.fulfillment_id, l.fulfillment_order_line_item_id, l.quantity)::ledger.change
      from new_rows l
    );
  elsif tg_op = 'DELETE' then
    changes := array(
      select row (l.fulfillment_id, l.fulfillment_order_line_item_id, - l.quantity)::ledger.change
      from old_rows l
    );
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
  perform
  from erp.fulfillment f
  where f.id in (select c.owner_id from unnest(changes) c)
  order by f.id for no key update;
  -- A fulfillment that is being deleted is gone already, and has taken its quantities along
  perform ledger.change_fulfilled_quantities(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c join erp.fulfillment f on f.id = c.owner_id where f.state = 'Fulfilled'));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, whoever changed them: brings the fulfilled quantities '
  'of the lines of fulfillment orders up to date.';
select api_meta.plan_by_index('ledger.keep_fulfillment_line_figures()');
select api_meta.give('ledger.keep_fulfillment_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_line_figures.sql
--! Included ledger/keep_fulfillment_order_figures.sql
create or replace function ledger.keep_fulfillment_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
  moved ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more which warehouse was to ship them
    perform ledger.change_promised_stock(ledger.promises_of(array(
      select row (old.id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = old.id and l.product_id is not null
      group by l.product_id)));
    return old;
  end if;
  -- By location: the fulfillment orders that begin or end having something to ship from there
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
    where w.warehouse_id is not null and l.product_id is not null group by w.warehouse_id, l.product_id);
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
--! Included ledger/keep_fulfillment_order_line_figures.sql
create or replace function ledger.keep_fulfillment_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By fulfillment order and product: units that are still to be fulfilled
  changes ledger.change[];
  -- By line of the order: units that were fulfilled
  shipped ledger.change[];
  -- Fulfillment orders of which something may have begun or ended being fulfilled in part
  touched uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.quantity - l.fulfilled_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      sum(l.fulfilled_quantity))::ledger.change
      from new_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from new_rows l);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      - sum(l.fulfilled_quantity))::ledger.change
      from old_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from old_rows l);
  else
    changes := array(
      select row (l.fulfillment_order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_order_id, n.product_id, n.quantity - n.fulfilled_quantity as quantity
        from new_rows n
        union all select o.fulfillment_order_id, o.product_id, o.fulfilled_quantity - o.quantity
        from old_rows o
      ) l where l.product_id is not null group by l.fulfillment_order_id,
        l.product_id having sum(l.quantity) <> 0);
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
  perform ledger.apply_fulfillment_changes(changes, shipped, touched);
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, whoever changed them: brings the reserved '
  'quantities of warehouses, the shipped quantities of order lines, and whether the fulfillment orders '
  'are partially fulfilled, up to date.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_line_figures()');
select api_meta.give('ledger.keep_fulfillment_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_line_figures.sql
--! Included ledger/keep_invoice_figures.sql
create or replace function ledger.keep_invoice_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more whether it stood
    if old.cancellation_id is null then
      perform ledger.change_invoiced_quantities(array(
        select row (old.document_id, l.order_line_item_id, - l.quantity)::ledger.change
        from erp.invoice_line_item l where l.document_id = old.document_id));
    end if;
    return old;
  end if;
  perform ledger.change_invoiced_quantities(array(
    select row (i.id, l.order_line_item_id, i.direction * l.quantity)::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.document_id as id, 1 as direction from new_rows n where n.cancellation_id is null
        union all select o.document_id, -1 from old_rows o where o.cancellation_id is null
      ) s group by s.id having sum(s.direction) <> 0
    ) i join erp.invoice_line_item l on l.document_id = i.id));
  return null;
end
$$;
comment on function ledger.keep_invoice_figures() is
  'Triggers before an invoice is deleted and after some were changed: one that is cancelled charges '
  'nothing any more.';
select api_meta.give('ledger.keep_invoice_figures()', 'service_ledger');
--! EndIncluded ledger/keep_invoice_figures.sql
--! Included ledger/keep_invoice_line_figures.sql
create or replace function ledger.keep_invoice_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By invoice and line of the order
  changes ledger.change[] := '{}';
begin
  if tg_op in ('INSERT', 'UPDATE') then
    changes := array(
      select row (l.document_id, l.order_line_item_id, l.quantity)::ledger.change from new_rows l
    );
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    changes := changes
      || array(select row (l.document_id, l.order_line_item_id, - l.quantity)::ledger.change from old_rows l);
  end if;
  -- An invoice that is being deleted is gone already, and has taken its quantities along
  perform ledger.change_invoiced_quantities(array(
    select c
    from unnest(changes) c
    join erp.invoice i on i.document_id = (c).owner_id
    where i.cancellation_id is null));
  return null;
end
$$;
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, whoever changed them: brings the invoiced quantities of the '
  'lines of orders up to date.';
select api_meta.give('ledger.keep_invoice_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_invoice_line_figures.sql
--! Included ledger/keep_label_figures.sql
create or replace function ledger.keep_label_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  if tg_op = 'INSERT' then
    changed := array(
      select distinct l.order_id
      from new_rows l
      where l.order_id is not null and l.state = 'created' and l.type = 'outgoing'
    );
  elsif tg_op = 'DELETE' then
    changed := array(
      select distinct l.order_id
      from old_rows l
      where l.order_id is not null and l.state = 'created' and l.type = 'outgoing'
    );
  else
    changed := array(
      select distinct l.order_id
      from (
        select n.order_id, n.tracking_codes, 1 as direction
        from new_rows n
        where n.state = 'created' and n.type = 'outgoing'
        union all select o.order_id, o.tracking_codes, -1
        from old_rows o
        where o.state = 'created' and o.type = 'outgoing'
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
  'Trigger after shipping labels changed: the tracking codes of their orders follow. What counts are '
  'outgoing labels that were neither cancelled nor failed.';
select api_meta.plan_by_index('ledger.keep_label_figures()');
select api_meta.give('ledger.keep_label_figures()', 'service_ledger');
--! EndIncluded ledger/keep_label_figures.sql
--! Included ledger/keep_location_figures.sql
create or replace function ledger.keep_location_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  changes := array(
    select row (w.id, l.product_id, w.direction * sum(l.quantity - l.fulfilled_quantity))::ledger.change
    from (
      select old.warehouse_id as id, -1 as direction
      union all select new.warehouse_id, 1 where tg_op = 'UPDATE'
    ) w
    join erp.fulfillment_order f on f.source_warehouse_location_id = old.id
      and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    where w.id is not null and l.product_id is not null group by w.id, w.direction, l.product_id);
  perform ledger.change_promised_stock(changes);
  return coalesce(new, old);
end
$$;
comment on function ledger.keep_location_figures() is
  'Triggers before a location is deleted and after it was given to another warehouse: what its '
  'fulfillment orders promise goes along.';
select api_meta.plan_by_index('ledger.keep_location_figures()');
select api_meta.give('ledger.keep_location_figures()', 'service_ledger');
--! EndIncluded ledger/keep_location_figures.sql
--! Included ledger/keep_order_amounts.sql
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
comment on function ledger.keep_order_amounts() is
  'Trigger before the tax status of an order changes: its amounts follow.';
select api_meta.give('ledger.keep_order_amounts()', 'service_ledger');
--! EndIncluded ledger/keep_order_amounts.sql
--! Included ledger/keep_order_figures.sql
create or replace function ledger.keep_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more what state it was in
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
      on l.order_id = t.id where l.product_id is not null group by l.product_id);
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
--! Included ledger/keep_order_line_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By order and product: units that are still to be shipped
  changes ledger.change[];
  -- Orders of which lines with a price changed
  priced uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.quantity - l.shipped_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from new_rows l where l.total_price is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.shipped_quantity - l.quantity))::ledger.change
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
      ) l where l.total_price is not null group by l.order_id, l.total_price,
        l.tax_rate having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) = 0 and cardinality(priced) = 0 then
    return null;
  end if;

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, and
  -- has taken its reservations along.
  perform ledger.lock_orders(
    array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id))
  );
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c
    join erp.sales_order o on o.id = c.owner_id
    where o.state in ('open', 'in_progress')));
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, whoever changed them: brings the reserved stock of products '
  'and the amounts of the orders up to date.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
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
        and (n.state, n.order_date_time) is distinct from (g.state, g.order_date_time));
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
  set open_supplier_order_quantity = f.quantity, last_supplier_order_at = f.last_at
  from unnest(products) x (id) cross join lateral (
    select coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
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
--! Included ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that count by the old value; later ones wait for this change.
    perform from erp.warehouse w where w.id = old.id for update;
    return new;
  end if;
  perform ledger.lock(array(select s.product_id from ledger.warehouse_stock s where s.warehouse_id = new.id));
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale
    + case when new.is_stock_available_for_sale then - s.quantity else s.quantity end
  from ledger.warehouse_stock s where s.warehouse_id = new.id and s.product_id = p.id and s.quantity <> 0;
  return null;
end
$$;
comment on function ledger.keep_saleable_stock() is
  'Triggers before and after a warehouse starts or stops selling its stock: moves it into or out of the '
  'products'' stock not available for sale.';
select api_meta.plan_by_index('ledger.keep_saleable_stock()');
select api_meta.give('ledger.keep_saleable_stock()', 'service_ledger');
--! EndIncluded ledger/keep_saleable_stock.sql
--! Included ledger/keep_tracking_codes.sql
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
    select c.code
    from erp.shipping_label l
    cross join lateral jsonb_array_elements_text(l.tracking_codes) with ordinality c (code, position)
    where l.order_id = new.id and l.state = 'created' and l.type = 'outgoing' order by l.id, c.position);
  if tg_op = 'INSERT' then
    new.entered_tracking_codes := new.entered_tracking_codes || present;
  elsif new.tracking_codes is distinct from old.tracking_codes
    and new.entered_tracking_codes = old.entered_tracking_codes then
    -- Someone wrote the list as a whole: whatever no label brings along was entered by hand
    new.entered_tracking_codes := array(
      select p.code
      from unnest(present) p (code)
      where p.code <> all (of_labels) or p.code = any (old.entered_tracking_codes));
  end if;
  new.entered_tracking_codes := array(
    select e.code
    from unnest(new.entered_tracking_codes) with ordinality e (code, position)
    group by e.code
    order by min(e.position));
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
  'Trigger before the tracking codes of an order are written: the list holds those that were entered by '
  'hand and those of its outgoing labels, each once. Codes that are written into the list itself count '
  'as entered by hand.';
select api_meta.give('ledger.keep_tracking_codes()', 'service_ledger');
--! EndIncluded ledger/keep_tracking_codes.sql
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.warehouse w where w.id = any (warehouse_ids) order by w.id for key share;
  perform from erp.bin_location b where b.id = any (bin_location_ids) order by b.id for key share;
  perform from erp.product p where p.id = any (product_ids) order by p.id for no key update;
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a '
  'circle: warehouses and bins against being deleted and against a change of what they count for, then '
  'the products. Whoever has a product''s lock is alone with all of its stock and figures.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included ledger/lock_orders.sql
create or replace function ledger.lock_orders(order_ids uuid[], fulfillment_order_ids uuid[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = any (order_ids) order by o.id for no key update;
  perform
  from erp.fulfillment_order f
  where f.id = any (fulfillment_order_ids)
  order by f.id for no key update;
end
$$;
comment on function ledger.lock_orders(uuid[], uuid[]) is
  'Takes the locks of work on orders, always in this order and before those of ledger.lock: the orders, '
  'then their fulfillment orders. Whoever has the lock of an order is alone with its lines, states and '
  'shipments.';
grant execute on function ledger.lock_orders(uuid[], uuid[]) to service_ledger, service_writer;
--! EndIncluded ledger/lock_orders.sql
--! Included ledger/lock_orders_of.sql
create or replace function ledger.lock_orders_of(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(select s.order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id),
    array(
      select l.fulfillment_order_id
      from unnest(changes) c
      join erp.fulfillment_order_line_item l on l.id = c.item_id
    )
  );
end
$$;
comment on function ledger.lock_orders_of(ledger.change[]) is
  'Takes the locks of the orders and fulfillment orders of the items, which are lines of fulfillment orders.';
grant execute on function ledger.lock_orders_of(ledger.change[]) to service_ledger;
--! EndIncluded ledger/lock_orders_of.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  bins uuid[];
begin
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
end
$$;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of movements that are to be booked: those of ledger.lock, for their products and places.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/lock_places.sql
--! Included ledger/lock_shipment.sql
create or replace function ledger.lock_shipment(
  product_ids uuid[], warehouse_ids uuid[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
  'Takes all locks that shipping products from warehouses needs, those of the bins that hold them '
  'included, after the locks of the orders. From here on nobody else changes the stock of these '
  'products.';
select api_meta.plan_by_index('ledger.lock_shipment(uuid[], uuid[], uuid[])');
select api_meta.give('ledger.lock_shipment(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock_shipment.sql
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
--! Included ledger/microseconds.sql
create or replace function ledger.microseconds(moment timestamptz) returns integer
language sql stable parallel safe
return extract(microseconds from moment)::integer % 1000000;
comment on function ledger.microseconds(timestamptz) is
  'What a moment has beyond its second: see ledger.stock_movement.microseconds.';
grant execute on function ledger.microseconds(timestamptz) to service_ledger;
--! EndIncluded ledger/microseconds.sql
--! Included ledger/note_counts.sql
create or replace function ledger.note_counts(readings ledger.stock_reading[], movement_ids uuid[])
returns void language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at, difference, stock_movement_id)
  select r.stock_id, r.batch_id, r.quantity, r.counted_at,
    case when r.newer_counted_at is null then r.difference end,
    case when r.newer_counted_at is null and r.difference <> 0 then movement_ids[r.nth] end
  from (
    select r.*, r.quantity + r.moved - r.present as difference,
      count(*) filter (where r.newer_counted_at is null and r.quantity + r.moved <> r.present)
        over (order by r.line) as nth
    from unnest(readings) r
  ) r
  join erp.product p on p.id = r.product_id
  where (r.batch_id is not null or not p.is_batch_managed)
    -- The same count once more
    and not exists (
      select from (
        select c.quantity from ledger.stock_count c
        where c.stock_id = r.stock_id and c.counted_at = r.counted_at
          and c.batch_id is not distinct from r.batch_id
        order by c.id desc limit 1
      ) c where c.quantity = r.quantity)
  order by r.line;
end;
comment on function ledger.note_counts(ledger.stock_reading[], uuid[]) is
  'Keeps counts, those that came too late as well, beside the movements that corrected the books, which '
  'are given in the order of the counts. Products that are kept in batches are counted by batch; their '
  'sum alone is compared, not kept.';
grant execute on function ledger.note_counts(ledger.stock_reading[], uuid[]) to service_ledger;
--! EndIncluded ledger/note_counts.sql
--! Included ledger/number_movements.sql
create or replace function ledger.number_movements(movement_ids uuid[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_number bigint;
  given bigint;
begin
  -- Whoever holds it is alone with the numbers.
  perform from events.log_head h for no key update;
  last_number := coalesce(
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0
  );
  if movement_ids is null then
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by m.id), m.id from ledger.stock_movement m
    where not exists (select from ledger.movement_sequence s where s.movement_id = m.id) order by m.id;
  else
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by n.ordinality), n.id
    from unnest(movement_ids) with ordinality n (id)
    where not exists (select from ledger.movement_sequence s where s.movement_id = n.id)
    order by n.ordinality;
  end if;
  get diagnostics given = row_count;
  return given;
end
$$;
comment on function ledger.number_movements(uuid[]) is
  'Gives committed movements their numbers, those that have none yet: the given ones, in that order, '
  'or, without any given, all, in the order of their ids, which is for what was written while triggers '
  'were switched off. The sequencer of events calls it for what has been committed. Answers how many it '
  'numbered.';
select api_meta.give('ledger.number_movements(uuid[])', 'service_recorder');
--! EndIncluded ledger/number_movements.sql
--! Included ledger/open_stock.sql
create or replace function ledger.open_stock(movement_ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id, order_id,
    return_order_id,
    goods_receipt_id, stock_container_id, special_stock_location_technical_name)
  select f.product_id, f.location_type_technical_name, f.warehouse_id, f.bin_location_id, f.order_id,
    f.return_order_id,
    f.goods_receipt_id, f.stock_container_id, f.special_stock_location_technical_name
  from ledger.flow f where f.movement_id = any (movement_ids)
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by min(f.movement_id::text), min(f.direction)
  on conflict (product_id, place) do nothing;
end;
comment on function ledger.open_stock(uuid[]) is
  'Makes the rows of stock, at 0, that movements change and that are not there yet.';
grant execute on function ledger.open_stock(uuid[]) to service_ledger;
--! EndIncluded ledger/open_stock.sql
--! Included ledger/order_amounts.sql
create or replace function ledger.order_amounts(order_id uuid, tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select s.total, case when order_amounts.tax_status = 'tax-free' then s.total
    else s.rated_net + round((s.total - s.rated) * coalesce(s.rated_net / nullif(s.rated, 0), 1), 2) end
  from (
    select sum(l.total_price) as total,
      coalesce(sum(l.total_price) filter (where l.tax_rate is not null), 0) as rated,
      coalesce(sum(round(l.total_price * 100 / (100 + l.tax_rate), 2)), 0) as rated_net
    from erp.sales_order_line_item l where l.order_id = order_amounts.order_id having count(l.total_price) > 0
  ) s;
end;
comment on function ledger.order_amounts(uuid, text) is
  'Totals of an order with and without tax, from its lines; no row when no line has a price. Lines '
  'without a tax rate, such as promotions, are taxed as the others on average.';
grant execute on function ledger.order_amounts(uuid, text) to service_ledger;
--! EndIncluded ledger/order_amounts.sql
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Side by side, the units that are wanted and the units that lie there form two rulers. Where a stretch of
  -- one lies over a stretch of the other, these units go to that line.
  return array(
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
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type,
        s.quantity, b."position", b.code, a.is_batch_managed
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id
        and s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
      left join erp.bin_location b on b.id = s.bin_location_id
      where coalesce(s.warehouse_id, b.warehouse_id) = w.warehouse_id
    ),
    pile as (
      select l.*, b.batch_id, b.quantity as units from lying l join ledger.batch_stock b on b.stock_id = l.id
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0)
      from lying l where not l.is_batch_managed
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity_left
      from pile p
      left join named n on n.product_id = p.product_id and n.place = p.place
        and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity_left) over (
        partition by f.product_id, f.warehouse_id
        order by case when f.is_batch_managed then f.batch_id end, f.place_type = 'warehouse',
          f."position" nulls last, f.code, f.batch_id nulls first
        rows unbounded preceding) as upto
      from free f where f.quantity_left > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity_left),
      o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity_left < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.pick_units(ledger.pick[]) is
  'Where the units lie that are to be picked: of the picks that name no place, in the order of '
  'ledger.ship. Fewer when there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/pick_units.sql
--! Included ledger/place_of.sql
create or replace function ledger.place_of(
  warehouse_id uuid, bin_location_id uuid, out type text, out place text
)
language sql immutable
return row (
  case when warehouse_id is null then 'bin_location' else 'warehouse' end,
  coalesce(warehouse_id, bin_location_id)::text
);
comment on function ledger.place_of(uuid, uuid) is
  'Kind and key (see ledger.stock.place) of the place that is a warehouse or a bin.';
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer;
--! EndIncluded ledger/place_of.sql
--! Included ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  booked uuid[];
  -- Not the time of the transaction: it may have waited for the locks.
  moment timestamptz;
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  perform ledger.lock_places(drafts);
  perform ledger.check_variants(drafts);
  moment := clock_timestamp();
  perform ledger.require_batches(drafts);
  perform ledger.require_stock(drafts);
  booked := ledger.insert_movements(drafts, moment, note);
  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select booked[d.ordinality], d.batch_id, d.quantity
  from unnest(drafts) with ordinality d
  where d.batch_id is not null;

  perform ledger.warn_of_promises(drafts);
  return row (booked, ledger.stock_of(drafts))::ledger.booking;
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: the one way into the ledger. Its statements are planned once, and by index: '
  'estimates for a handful of lines are poor, and planning anew took a quarter of the time. Takes the '
  'locks, checks that no real place is left with less than nothing of a product or a batch, and '
  'inserts; triggers bring the figures up to date. Answers the movements in the order of the drafts, '
  'and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text)');
select api_meta.give('ledger.post(ledger.draft[], text)', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text) to service_writer;
--! EndIncluded ledger/post.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  places ledger.named_place[];
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  places := array(
    select row (l.ordinality, p.name, p.warehouse_id, p.bin_location_id)::ledger.named_place
    from unnest(lines) with ordinality l cross join lateral (values
      (case operation when 'transfer' then 'source' else 'place' end,
        l.source_warehouse_id, l.source_bin_location_id),
      (case operation when 'transfer' then 'destination' end,
        l.destination_warehouse_id, l.destination_bin_location_id)
    ) p (name, warehouse_id, bin_location_id) where p.name is not null
  );

  perform ledger.check_form(lines, places, operation);

  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  perform ledger.lock(
    array(select l.product_id from unnest(lines) l),
    array(select p.warehouse_id from unnest(places) p where p.warehouse_id is not null
      union select b.warehouse_id from unnest(places) p join erp.bin_location b on b.id = p.bin_location_id),
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null)
  );

  perform ledger.check_references(lines, places);
  perform ledger.check_expectations(lines);
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'What the mutations of stock (set, adjust, transfer) have in common: checks their lines, and takes '
  'the locks of the booking, so that what is read afterwards is what the booking finds. User errors '
  'REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, '
  'QUANTITY_CHANGED.';
grant execute on function ledger.prepare(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/prepare.sql
--! Included ledger/promises_of.sql
create or replace function ledger.promises_of(changes ledger.change[]) returns ledger.change[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.location l
  where l.id in (
    select f.source_warehouse_location_id
    from unnest(changes) c
    join erp.fulfillment_order f on f.id = c.owner_id
  )
  order by l.id for key share;
  return array(
    select row (w.warehouse_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c
    join erp.fulfillment_order f on f.id = c.owner_id
    join erp.location w on w.id = f.source_warehouse_location_id
    where f.state in ('Open', 'InProgress', 'OnHold') and w.warehouse_id is not null
    group by w.warehouse_id, c.item_id having sum(c.quantity) <> 0);
end
$$;
comment on function ledger.promises_of(ledger.change[]) is
  'Turns changes of fulfillment orders into those of their warehouses. What is closed or cancelled '
  'promises nothing.';
grant execute on function ledger.promises_of(ledger.change[]) to service_ledger;
--! EndIncluded ledger/promises_of.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
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
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
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
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
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
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
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
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all that has been booked of these products, for they are locked
  moment constant timestamptz := clock_timestamp();
begin
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id)
  select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
  from unnest(lines) with ordinality l
  cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
  group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
  order by min(l.ordinality)
  on conflict (product_id, place) do nothing;

  return array(
    select row (l.ordinality, s.id, p.type, p.place, l.product_id, l.batch_id, l.quantity,
      case when l.counted_at is null then greatest(moment, newer.counted_at) else l.counted_at end,
      case when l.counted_at is null then 0
        when newer.counted_at is null
          then ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end,
      ledger.quantity_at(l.product_id, p.place, l.batch_id),
      case when l.counted_at is not null then newer.counted_at end, newer.quantity
    )::ledger.stock_reading
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    join ledger.stock s on s.product_id = l.product_id and s.place = p.place
    left join lateral (
      select c.counted_at, c.quantity from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at > coalesce(l.counted_at, moment)
        and (c.batch_id is null or c.batch_id = l.batch_id) and c.difference is not null
      order by c.counted_at desc, c.id desc limit 1
    ) newer on true
    order by l.ordinality
  );
end
$$;
comment on function ledger.read_counts(ledger.line[]) is
  'What lines of stockSet say, beside what the books do. The products are locked. Stock that is counted '
  'for the first time has a row from now on, be it of 0 units.';
grant execute on function ledger.read_counts(ledger.line[]) to service_ledger;
--! EndIncluded ledger/read_counts.sql
--! Included ledger/require_batches.sql
create or replace function ledger.require_batches(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('BATCH_REQUIRED',
    format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_batches(ledger.draft[]) is
  'Refuses movements of products that are kept in batches but name none. User error BATCH_REQUIRED.';
grant execute on function ledger.require_batches(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_batches.sql
--! Included ledger/require_empty_place.sql
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
      case tg_table_name when 'warehouse' then 'Warehouse' else 'Bin' end, old.code, held), null,
        jsonb_build_object('quantity', held));
  end if;
  return coalesce(new, old);
end
$$;
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse or a bin that holds stock, and to move such a bin to another '
  'warehouse.';
--! EndIncluded ledger/require_empty_place.sql
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest uuid;
begin
  -- History that is inserted lies where it says
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t)
    into new.created_at, new.microseconds
    from clock_timestamp() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id,
    new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id,
        new.source_special_stock_location_technical_name)
        <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger',
        table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: leave the id out, and ask for it by returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  -- First the number, then the id, and never the other way round: readers rely on it (docs/decisions.md,
  -- "Following").
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := uuidv7();
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m where m.id >= new.id order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an
      -- id now, too
      new.id := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint
        + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets '
  'its transaction and its id, which is larger than that of every movement that was committed before '
  'the transaction. A constraint can''t ask for the places, for the id becomes null when the place is '
  'deleted.';
--! EndIncluded ledger/require_movement_places.sql
--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
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
--! Included ledger/require_stock.sql
create or replace function ledger.require_stock(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
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
      coalesce(s.quantity, 0)
        - coalesce(
          (select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0
        ) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change,
        min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity,
      min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line,
      mutation.user_error('INSUFFICIENT_STOCK',
        format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line,
      mutation.user_error('INSUFFICIENT_STOCK',
        format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b
    join place p on p.product_id = b.product_id and p.place = b.place
    where p.quantity + p.change >= 0
    union all
    select p.loose_line,
      mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p
    where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_stock(ledger.draft[]) is
  'Refuses movements that would leave a real place with less than nothing of a product or of a batch. '
  'The locks have been taken. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
grant execute on function ledger.require_stock(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_stock.sql
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

  booking := ledger.post(array(
    select case when d.difference > 0
      then row (d.field, r.product_id, d.difference, r.batch_id,
        'special_stock_location', 'stock_correction', r.place_type, r.place, 'api')::ledger.draft
      else row (d.field, r.product_id, - d.difference, r.batch_id,
        r.place_type, r.place, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    end
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
  -- Stock that was right already belongs to the answer too
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
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], note text, out stock_movements uuid[], out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_units ledger.pick[];
begin
  found_units := ledger.pick_units(picks);
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.post(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      'api_shipping'
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note)).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], text) is
  'Books units out to an order. What names no place is picked: the bins of the warehouse by their '
  'position, then by code, and at last what lies in no bin; of products that are kept in batches the '
  'oldest batch first. Answers the movements, and for each the line that it is for. '
  'ledger.lock_shipment comes first. User error INSUFFICIENT_STOCK, and those of ledger.post.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], text) to service_writer;
--! EndIncluded ledger/ship.sql
--! Included ledger/stock_of.sql
create or replace function ledger.stock_of(drafts ledger.draft[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select s.id from (
      select f.product_id, f.place, min(f.position) as position
      from (
        select d.product_id, d.source as place, d.source_type as type, d.ordinality * 2 as position
        from unnest(drafts) with ordinality d
        union all select d.product_id, d.destination, d.destination_type, d.ordinality * 2 + 1
        from unnest(drafts) with ordinality d
      ) f where f.type <> 'special_stock_location' group by f.product_id, f.place
    ) t join ledger.stock s on s.product_id = t.product_id and s.place = t.place order by t.position
  );
end
$$;
comment on function ledger.stock_of(ledger.draft[]) is
  'The stock in the places that movements come from and go to, each once, in the order of the drafts.';
grant execute on function ledger.stock_of(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/stock_of.sql
--! Included ledger/take_back.sql
create or replace function ledger.take_back(fulfillment_id uuid, note text) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.lock_way_back(fulfillment_id);
  if exists (
    select from erp.fulfillment_line_item l
    where l.fulfillment_id = take_back.fulfillment_id and l.product_id is not null
      and l.quantity <> coalesce((
      select sum(m.quantity)
      from erp.fulfillment_stock_movement k
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where k.fulfillment_line_item_id = l.id), 0)
  ) then
    perform mutation.refuse(
      'INVALID', 'The books do not say where its units came from, so they cannot go back there.', '{id}'
    );
  end if;
  drafts := array(
    select row ('{id}', m.product_id, u.quantity, u.batch_id, 'order', m.destination_order_id::text,
      case when m.source_bin_location_id is null then 'warehouse' else 'bin_location' end,
      coalesce(m.source_bin_location_id, m.source_warehouse_id, w.warehouse_id)::text,
        'cancelled_fulfillment')::ledger.draft
    from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    left join erp.location w on w.id = f.source_warehouse_location_id
    join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
    join ledger.stock_movement m on m.id = k.stock_movement_id
    cross join lateral (
      select b.batch_id, b.quantity from ledger.stock_movement_batch b where b.stock_movement_id = m.id
      union all
      select null, m.quantity - coalesce(sum(b.quantity), 0)
      from ledger.stock_movement_batch b
      where b.stock_movement_id = m.id
    ) u
    where l.fulfillment_id = take_back.fulfillment_id and u.quantity > 0
    order by l.id, m.id, u.batch_id
  );
  if exists (select from unnest(drafts) d where d.source is null) then
    perform mutation.refuse(
      'INVALID', 'Its order has been deleted, so nothing can come back from there.', '{id}'
    );
  elsif exists (select from unnest(drafts) d where d.destination is null) then
    perform mutation.refuse('INVALID', 'The warehouse that its units came from has been deleted.', '{id}');
  end if;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function ledger.take_back(uuid, text) is
  'Books the units of a fulfillment back from the order to where each came from. What came from a bin '
  'that is gone comes to the part of the warehouse that has no bin. Answers the movements. User error '
  'INVALID, and those of ledger.post.';
select api_meta.plan_by_index('ledger.take_back(uuid, text)');
select api_meta.give('ledger.take_back(uuid, text)', 'service_ledger');
grant execute on function ledger.take_back(uuid, text) to service_writer;
--! EndIncluded ledger/take_back.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.post(array(
    select row (mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity, l.batch_id,
      s.type, s.place, d.type, d.place,
      'api_relocation')::ledger.draft
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
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- What leaves by shipping was promised, and is taken off the promises with it
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- The figures are those after the booking. Mostly nothing is below 0, and that is all there is to do.
  suspects := array(
    select distinct d.product_id from unnest(drafts) d join erp.product p on p.id = d.product_id
    where d.source_type in ('warehouse', 'bin_location') and d.process <> shipping
      and (p.available_stock < 0 or exists (
        select from ledger.warehouse_stock s
        where s.product_id = d.product_id and s.available_quantity < 0)));
  if suspects = '{}' then
    return;
  end if;

  with leg (product_id, place_type, place, change, line, field) as (
    select d.product_id, d.source_type, d.source, - d.quantity, d.ordinality, d.field
    from unnest(drafts) with ordinality d where d.product_id = any (suspects)
    union all
    select d.product_id, d.destination_type, d.destination, d.quantity, d.ordinality, null
    from unnest(drafts) with ordinality d where d.product_id = any (suspects)
  ),
  change as (
    select leg.product_id, w.id as warehouse_id, w.code, w.is_stock_available_for_sale as is_for_sale,
      sum(leg.change) as units, min(leg.line) filter (where leg.change < 0) as line
    from leg
    left join erp.bin_location b on b.id = case leg.place_type when 'bin_location' then leg.place::uuid end
    join erp.warehouse w
      on w.id = case leg.place_type when 'warehouse' then leg.place::uuid else b.warehouse_id end
    group by leg.product_id, w.id
  ),
  short (product_id, warehouse_id, code, available, reserved, line) as (
    select p.id, null, null, p.available_stock, p.reserved_stock, c.line
    from (
      select change.product_id, min(change.line) as line from change
      group by change.product_id having sum(change.units) filter (where change.is_for_sale) < 0
    ) c join erp.product p on p.id = c.product_id where p.available_stock < 0 and p.reserved_stock > 0
    union all
    select c.product_id, c.warehouse_id, c.code, s.available_quantity, s.reserved_quantity, c.line
    from change c
    join ledger.warehouse_stock s on s.product_id = c.product_id and s.warehouse_id = c.warehouse_id
    where c.units < 0 and s.available_quantity < 0 and s.reserved_quantity > 0
  )
  select jsonb_agg(mutation.user_error('STOCK_PROMISED',
    format('Orders wait for %s units of product %s%s; %s of them are lacking now.',
      s.reserved, p.product_number, ' from warehouse ' || s.code, - s.available),
    drafts[s.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'productId', 'gid://service/Product/' || s.product_id,
      'warehouseId', 'gid://service/Warehouse/' || s.warehouse_id,
      'reserved', s.reserved, 'available', s.available)))
    order by s.line, s.code)
  into warnings
  from (
    -- One warning for each product: that all of it is short says more than where
    select short.*,
      bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns of movements, which have been booked, that took away what orders are waiting for: the '
  'available stock of the product, or of a warehouse, is below 0 and lower than before. Warning '
  'STOCK_PROMISED, one for the product, or one for each warehouse that is short while the product is '
  'not.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql

create trigger require_empty_place before delete on erp.bin_location
  for each row execute function ledger.require_empty_place();
create trigger require_empty_place_before_move before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.require_empty_place();
create trigger keep_figures_after_insert after insert on erp.document
  referencing new table as new_rows for each statement execute function ledger.keep_cancellations();
create trigger keep_figures_after_update after update on erp.fulfillment
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_figures();
create trigger keep_figures_before_delete before delete on erp.fulfillment
  for each row execute function ledger.keep_fulfillment_figures();
create trigger keep_figures_after_delete after delete on erp.fulfillment_line_item
  referencing old table as old_rows
  for each statement execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_insert after insert on erp.fulfillment_line_item
  referencing new table as new_rows
  for each statement execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_order
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_order_figures();
create trigger keep_figures_before_delete before delete on erp.fulfillment_order
  for each row execute function ledger.keep_fulfillment_order_figures();
create trigger keep_figures_after_delete after delete on erp.fulfillment_order_line_item
  referencing old table as old_rows
  for each statement execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_insert after insert on erp.fulfillment_order_line_item
  referencing new table as new_rows
  for each statement execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_order_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_update after update on erp.invoice
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_invoice_figures();
create trigger keep_figures_before_delete before delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();
create trigger keep_figures_after_delete after delete on erp.invoice_line_item
  referencing old table as old_rows for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_insert after insert on erp.invoice_line_item
  referencing new table as new_rows for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_update after update on erp.invoice_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_move after update of warehouse_id on erp.location
  for each row when (old.warehouse_id is distinct from new.warehouse_id)
  execute function ledger.keep_location_figures();
create trigger keep_figures_before_delete before delete on erp.location
  for each row execute function ledger.keep_location_figures();
create trigger keep_figures before insert on erp.product_stock_location_configuration
  for each row execute function ledger.fill_configured_stock();
create trigger keep_figures before insert on erp.product_warehouse_configuration
  for each row execute function ledger.fill_configured_stock();
create trigger keep_figures_after_update after update on erp.sales_order
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_order_figures();
create trigger keep_figures_before_delete before delete on erp.sales_order
  for each row execute function ledger.keep_order_figures();
create trigger keep_figures_of_tax before update of tax_status on erp.sales_order
  for each row when (old.tax_status <> new.tax_status) execute function ledger.keep_order_amounts();
create trigger keep_figures_of_tracking before insert or update of tracking_codes, entered_tracking_codes on erp.sales_order
  for each row
  execute function ledger.keep_tracking_codes();
create trigger keep_figures_after_delete after delete on erp.sales_order_line_item
  referencing old table as old_rows for each statement execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_insert after insert on erp.sales_order_line_item
  referencing new table as new_rows for each statement execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_update after update on erp.sales_order_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_delete after delete on erp.shipping_label
  referencing old table as old_rows for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_after_insert after insert on erp.shipping_label
  referencing new table as new_rows for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_after_update after update on erp.shipping_label
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_on_update after update on erp.supplier_order
  referencing old table as gone new table as changed
  for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_delete after delete on erp.supplier_order_line_item
  referencing old table as gone for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_insert after insert on erp.supplier_order_line_item
  referencing new table as changed for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_update after update on erp.supplier_order_line_item
  referencing old table as gone new table as changed
  for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures after update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale)
  execute function ledger.keep_saleable_stock();
create trigger keep_figures_first before update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale)
  execute function ledger.keep_saleable_stock();
create trigger require_empty_place before delete on erp.warehouse
  for each row execute function ledger.require_empty_place();
create trigger keep_figures after insert on ledger.stock_movement
  referencing new table as booked for each statement execute function ledger.keep_figures();
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement deferrable initially deferred
  for each row
  when (ledger.is_count(new.process_type_technical_name, new.source_special_stock_location_technical_name, new.destination_special_stock_location_technical_name))
  execute function ledger.keep_count();
create trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row execute function ledger.require_movement_places();
create trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked for each statement execute function ledger.keep_batch_figures();

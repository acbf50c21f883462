--! Previous: sha1:5430733a9b162758752303936edb959b7f23ed13
--! Hash: sha1:43eb3f5283ab89f69b922b4187596166d0d53e08
--! Message: plain bookings, promised JSON

--! split: 2-json-as-promised.sql
-- JSON that clients wrote was shown as it came, where they are promised keys and types
--! Included ledger/keep_tracking_codes.sql
create or replace function ledger.keep_tracking_codes() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  present text[];
  of_labels text[];
begin
  -- A new order has no labels yet. Clients are promised an empty list where there is a delivery
  if tg_op = 'INSERT' and new.tracking_codes is null and new.entered_tracking_codes = '{}' then
    if new.delivery_state is not null then
      new.tracking_codes := '[]';
    end if;
    return new;
  end if;
  -- The constraint will refuse it
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
    -- Someone wrote the whole list: codes of no label count as entered by hand
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
  -- Codes that are in the list already keep their places
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
--! Included erp/postal_address.sql
create or replace function erp.postal_address(address jsonb) returns jsonb
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_object_agg(k.name,
    case when jsonb_typeof(address -> k.name) in ('string', 'number', 'boolean') then address ->> k.name end)
  from unnest(array['company', 'department', 'firstName', 'lastName', 'street', 'additionalAddressLine1',
    'additionalAddressLine2', 'zipcode', 'city', 'countryName', 'countryIso', 'countryStateName',
    'countryStateShortCode', 'phoneNumber']) k (name);
end;
comment on function erp.postal_address(jsonb) is
  'An address with the keys that clients are promised, all of them, each a text or null. What else a shop '
  'has sent stays with its order.';
grant execute on function erp.postal_address(jsonb) to service_writer;
--! EndIncluded erp/postal_address.sql
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
    select erp.next_number('fulfillment_order'), o.id, source_id, m.id, m.name ->> 'en-GB',
      erp.postal_address(o.shipping_address)
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
--! Included erp/are_storefront_variants.sql
create or replace function erp.are_storefront_variants(value jsonb) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select not exists (
    select from jsonb_array_elements(case jsonb_typeof(value) when 'array' then value end) v (entry)
    where jsonb_typeof(entry -> 'productId') is distinct from 'string'
      or jsonb_typeof(entry -> 'variantId') not in ('string', 'null')
  );
end;
comment on function erp.are_storefront_variants(jsonb) is
  'Whether the entries of a list are objects that name a product of the storefront, and perhaps its variant.';
grant execute on function erp.are_storefront_variants(jsonb) to service_writer;
--! EndIncluded erp/are_storefront_variants.sql
alter table erp.product drop constraint if exists product_storefront_variants_name_products;
alter table erp.product add constraint product_storefront_variants_name_products
  check (erp.are_storefront_variants(storefront_variants)) not enforced;
comment on constraint product_storefront_variants_name_products on erp.product is
  E'@userError INVALID storefront_variants\nEach entry must be an object with productId and variantId.';

--! split: 0100-plain-bookings.sql
-- A line of stockAdjust alone is locked and booked with fewer statements and expressions
drop function if exists ledger.book_correction(ledger.draft, text);
drop function if exists ledger.lock_line(ledger.line);
drop function if exists mutation.find(name, name);
drop function if exists mutation.refuse_nulls(regtype, jsonb);
select api_meta.allow('service_writer', 'auth.plan', 'select (name, is_current)');
--! Included ledger/lock_line.sql
create or replace function ledger.lock_line(
  l ledger.line, out warehouse_id uuid, out is_for_sale boolean, out is_batch_managed boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Rows are locked in the order of the clauses
  if l.source_bin_location_id is null then
    select w.id, w.is_stock_available_for_sale, p.is_batch_managed
    into warehouse_id, is_for_sale, is_batch_managed
    from erp.warehouse w cross join erp.product p
    where w.id = l.source_warehouse_id and p.id = l.product_id
    for key share of w for no key update of p;
  else
    select w.id, w.is_stock_available_for_sale, p.is_batch_managed
    into warehouse_id, is_for_sale, is_batch_managed
    from erp.bin_location b join erp.warehouse w on w.id = b.warehouse_id cross join erp.product p
    where b.id = l.source_bin_location_id and p.id = l.product_id
    for key share of w, b for no key update of p;
  end if;
end
$$;
comment on function ledger.lock_line(ledger.line) is
  'Takes the locks of ledger.lock for a line with one place, by one plain statement, which takes less. '
  'Answers the warehouse of the place, whether its stock is for sale, and whether the product is kept in '
  'batches, as they stay while the locks are held; nulls when something that it names is not there.';
grant execute on function ledger.lock_line(ledger.line) to service_ledger;
--! EndIncluded ledger/lock_line.sql
--! Included ledger/open_special_stock.sql
create or replace function ledger.open_special_stock(of_product uuid, quantity integer, special text)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (
    product_id, quantity, location_type_technical_name, special_stock_location_technical_name
  )
  values (of_product, open_special_stock.quantity, 'special_stock_location', special);
end;
comment on function ledger.open_special_stock(uuid, integer, text) is
  'Makes the row of a product''s stock in a special place. Only for ledger.book_correction.';
grant execute on function ledger.open_special_stock(uuid, integer, text) to service_booker;
--! EndIncluded ledger/open_special_stock.sql
--! Included ledger/plain_stock.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_stock(
  product_id uuid, place uuid, change integer, special text, in_warehouse uuid, counted_from timestamptz,
  movement_id uuid
)
returns table (
  stock ledger.stock, special_id uuid, held_id uuid, configuration_id uuid, place_configuration_id uuid,
  is_behind boolean
)
language sql stable
begin atomic
  select s, x.id, h.id, c.id, l.id,
    exists (select from ledger.stock_movement m where m.id >= plain_stock.movement_id)
  from ledger.stock s
  join ledger.warehouse_stock h
    on h.product_id = s.product_id and h.warehouse_id = plain_stock.in_warehouse
  left join ledger.stock x on x.product_id = s.product_id and x.place = plain_stock.special
  left join erp.product_warehouse_configuration c
    on c.product_id = s.product_id and c.warehouse_id = plain_stock.in_warehouse
  left join erp.product_stock_location_configuration l on l.product_id = s.product_id
    and coalesce(l.warehouse_id, l.bin_location_id) = plain_stock.place
  where s.product_id = plain_stock.product_id and s.place = plain_stock.place::text
    and s.quantity + plain_stock.change >= 0
    and case when plain_stock.change > 0
      then not exists (select from erp.product v where v.parent_id = plain_stock.product_id)
      else not exists (select from ledger.batch_stock b where b.stock_id = s.id) end
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_stock.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_stock(uuid, uuid, integer, text, uuid, timestamptz, uuid) is
  'What changes where units come or go: the stock of a product in a warehouse or bin, and in a special '
  'place, if that has a row, and the figures that follow; and whether an id would not be the largest of '
  'movements. No row when others are missing or there is something to be seen to: too little, variants that '
  'units come to, batches, or counts from a moment on, if one is given. The product is locked.';
grant execute on function ledger.plain_stock(uuid, uuid, integer, text, uuid, timestamptz, uuid)
  to service_booker;
--! EndIncluded ledger/plain_stock.sql
--! Included ledger/book_correction.sql
create or replace function ledger.book_correction(
  of_product uuid, change integer, place_type text, real_place uuid, special text, process text,
  is_count boolean, in_warehouse uuid, is_for_sale boolean, note text,
  out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  comes constant boolean := change > 0;
  bin constant uuid := case place_type when 'bin_location' then real_place end;
  warehouse constant uuid := case when bin is null then real_place end;
  not_for_sale constant integer := case when is_for_sale then 0 else change end;
  -- First the number of the transaction, then the id (ledger.next_movement_id)
  transaction_number constant bigint := pg_current_xact_id()::text::bigint;
  new_id constant uuid := uuidv7();
  seen record;
  m ledger.stock_movement;
  stock ledger.stock;
  product record;
begin
  select p.* into seen from ledger.plain_stock(of_product, real_place, change, special, in_warehouse,
    case when not is_count then moment end, new_id) p;
  if not found then
    return;
  end if;
  insert into ledger.stock_movement (id, transaction_id, created_at, microseconds, product_id, quantity,
    process_type_technical_name, comment, source_location_type_technical_name, source_warehouse_id,
    source_bin_location_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id,
    destination_special_stock_location_technical_name)
  values (case when seen.is_behind then ledger.next_movement_id() else new_id end, transaction_number,
    date_trunc('second', moment), ledger.microseconds(moment), of_product, abs(change), process, note,
    case when comes then 'special_stock_location' else place_type end, case when not comes then warehouse end,
    case when not comes then bin end, case when comes then special end,
    case when comes then place_type else 'special_stock_location' end, case when comes then warehouse end,
    case when comes then bin end, case when not comes then special end) returning * into m;
  movement_id := m.id;
  stock := seen.stock;
  stock_id := stock.id;
  update ledger.stock s set updated_at = today,
    quantity = s.quantity + case when s.id = stock_id then change else - change end
  where s.id = any (array[stock_id, seen.special_id]);
  if seen.special_id is null then
    perform ledger.open_special_stock(of_product, - change, special);
  end if;
  stock.quantity := stock.quantity + change;
  stock.updated_at := today;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale = p.stock_not_available_for_sale + not_for_sale
  where p.id = of_product returning with (old as o, new as n) o, n into product;
  if seen.configuration_id is not null then
    update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.configuration_id;
  end if;
  if seen.place_configuration_id is not null then
    update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.place_configuration_id;
  end if;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause()) from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(seen.stock, stock)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(
  uuid, integer, text, uuid, text, text, boolean, uuid, boolean, text
) is
  'Books one movement between a warehouse or bin and a special place by plain statements, which takes much '
  'less than what books any number, and leaves the same. Gets the warehouse of the place, and whether its '
  'stock is for sale. Answers the movement, the stock, and whether available stock is below 0 now; nulls '
  'when there is something to be seen to, and then nothing is booked. The product is locked, and is not '
  'kept in batches. Its callers have statements planned by index.';
select api_meta.give(
  'ledger.book_correction(uuid, integer, text, uuid, text, text, boolean, uuid, boolean, text)',
  'service_booker');
grant execute on function ledger.book_correction(
  uuid, integer, text, uuid, text, text, boolean, uuid, boolean, text
) to service_ledger;
--! EndIncluded ledger/book_correction.sql
--! Included ledger/book_draft.sql
create or replace function ledger.book_draft(
  d ledger.draft, note text, out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  comes constant boolean := d.source_type = 'special_stock_location';
  place_type constant text := case when comes then d.destination_type else d.source_type end;
  real_place constant uuid := case when comes then d.destination else d.source end;
  located record;
  booked record;
begin
  select w.id, w.is_stock_available_for_sale as is_for_sale into located
  from erp.product p cross join erp.warehouse w
  where p.id = d.product_id and not p.is_batch_managed
    and w.id = case place_type when 'warehouse' then real_place
      else (select b.warehouse_id from erp.bin_location b where b.id = real_place) end;
  if not found then
    return;
  end if;
  booked := ledger.book_correction(d.product_id, case when comes then d.quantity else - d.quantity end,
    place_type, real_place, case when comes then d.source else d.destination end, d.process,
    ledger.is_count(d.process, d.source, d.destination), located.id, located.is_for_sale, note);
  movement_id := booked.movement_id;
  stock_id := booked.stock_id;
  lacks := booked.lacks;
end
$$;
comment on function ledger.book_draft(ledger.draft, text) is
  'Books a draft that ledger.is_correction tells to be one by ledger.book_correction, and answers the same.';
grant execute on function ledger.book_draft(ledger.draft, text) to service_ledger;
--! EndIncluded ledger/book_draft.sql
--! Included ledger/adjust_line.sql
create or replace function ledger.adjust_line(l ledger.line, note text) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  place_type constant text :=
    case when l.source_bin_location_id is null then 'warehouse' else 'bin_location' end;
  place constant uuid := coalesce(l.source_warehouse_id, l.source_bin_location_id);
  locked record;
  booked record;
begin
  if l.quantity = 0 or l.batch_id is not null or l.expected_quantity is not null
    or num_nonnulls(l.source_warehouse_id, l.source_bin_location_id) <> 1 then
    return null;
  end if;
  locked := ledger.lock_line(l);
  -- Null, too, where something isn't there
  if locked.is_batch_managed is not false then
    return null;
  end if;
  booked := ledger.book_correction(l.product_id, l.quantity, place_type, place, 'stock_correction',
    case when l.quantity > 0 then 'api_incoming' else 'api_outgoing' end, false,
    locked.warehouse_id, locked.is_for_sale, note);
  if booked.movement_id is null then
    return null;
  end if;
  if booked.lacks then
    perform ledger.warn_of_promises(array[ledger.adjustment_of(
      mutation.path('lines', 1, 'delta'), l.product_id, l.quantity, null, place_type, place::text)]);
  end if;
  return row (array[booked.movement_id], array[booked.stock_id])::ledger.booking;
end
$$;
comment on function ledger.adjust_line(ledger.line, text) is
  'Takes the locks of the only line of stockAdjust, and books it if it is plain, as most are, which takes '
  'less than what books any number. Null when there is something to be seen to or to be refused, and then '
  'nothing is booked. Only for ledger.adjust_stock.';
grant execute on function ledger.adjust_line(ledger.line, text) to service_ledger;
--! EndIncluded ledger/adjust_line.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  booking ledger.booking;
begin
  if cardinality(lines) = 1 then
    booking := ledger.adjust_line(lines[1], note);
    if booking.stock_movements is not null then
      return booking;
    end if;
  end if;
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
    booked := ledger.book_draft(drafts[1], note);
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
    if (ledger.lock_line(lines[1])).warehouse_id is null then
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
--! Included mutation/find.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out takes_changes boolean, out secrets text[],
  out plan text
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select o.routine, o.input_type, o.takes_changes, o.secrets, o.scopes,
    (select p.name from auth.plan p where p.is_current)
  into routine, input_type, takes_changes, secrets, scopes, plan
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
--! Included mutation/refuse_nulls.sql
create or replace function mutation.refuse_nulls(input_type regtype, input jsonb, validate_only boolean)
returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('REQUIRED', 'Null is not an answer here: say it, or leave it out.',
    array[f.key])
    order by f.key)
  into errors
  from (
    select e.key from jsonb_each(input) e
    where e.value = 'null' and exists (
      select from pg_type t join pg_attribute a on a.attrelid = t.typrelid
      where t.oid = input_type and a.attname = e.key
        and col_description(a.attrelid, a.attnum) ~ '(?n)^@neverNull$')
    union all select 'validate_only' where validate_only is null
  ) f;
  perform mutation.refuse(errors);
end
$$;
comment on function mutation.refuse_nulls(regtype, jsonb, boolean) is
  'Refuses nulls in fields that hold something back when they are given, validate_only and columns with '
  'the tag @neverNull: a null there would pass for their default, and do what was perhaps to be held '
  'back. User error REQUIRED.';
grant execute on function mutation.refuse_nulls(regtype, jsonb, boolean) to service_writer;
--! EndIncluded mutation/refuse_nulls.sql
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
  state text; detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  target := mutation.find(version, operation);
  -- GraphQL checks scopes first, but may not know of a change yet
  if target.plan is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    if validate_only is null or input @? '$.* ? (@ == null)' then
      perform mutation.refuse_nulls(target.input_type, input, validate_only);
    end if;
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
  -- More than come meanwhile, and so few that no call takes long
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < expired
    order by o.created_at limit 20 for update skip locked));
end
$$;
comment on function mutation.forget_keys() is 'Removes some idempotency keys that are too old.';
grant execute on function mutation.forget_keys() to service_writer;
--! EndIncluded mutation/forget_keys.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, digest bytea, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- One that is there is too old: mutation.take_key has the lock
  insert into mutation.idempotency_key (credential_id, key, request, payload)
  values (mutation.caller(), idempotency_key, digest, answer)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = excluded.payload, created_at = excluded.created_at;
  -- Looking for old ones takes a hundredth of a short call, so one in eight does
  if hashtext(idempotency_key) % 8 = 0 then
    perform mutation.forget_keys();
  end if;
end
$$;
comment on function mutation.keep_answer(text, bytea, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, with the digest of its input. One '
  'call in eight removes some keys that are too old.';
grant execute on function mutation.keep_answer(text, bytea, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql

--! split: 0150-cheaper-derivation.sql
-- What each migration and each check derive takes less: the same results
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
        -- Most sources don't name it, and a regular expression takes longer to make than they to read
        and strpos(lower(p.prosrc), lower(a.attname)) > 0
        and p.prosrc ~* ('\mnew\s*\.\s*"?' || a.attname || '"?\s*:?='
          || '|\minto\s+(strict\s+)?("?\w+"?(\s*\.\s*"?\w+"?)?\s*,\s*)*new\s*\.\s*"?' || a.attname || '\M'))
  );
end;
comment on function api_meta.filling_triggers(regclass, smallint[]) is
  'The triggers before a row is written that may set some of its columns, as their source reads. It names '
  'rather too many: one that compares a column, too, and any that is not PL/pgSQL.';
--! EndIncluded api_meta/filling_triggers.sql
--! Included api_meta/upheld_rules.sql
create or replace function api_meta.upheld_rules(relation regclass)
returns table (name text, rule text, columns smallint[], keeps text, value text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select c.conname::text, r.rule, c.conkey, k.keeps,
    case when k.keeps is not null then substring(r.rule from '^\(new\.\w+ = (.*)\)$') end
  from pg_constraint c
  cross join lateral (
    select string_agg(quote_ident(a.attname), '|') as columns
    from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  ) a
  -- Offset: once, not at each place that names the result
  cross join lateral (select pg_get_expr(c.conbin, c.conrelid) as text offset 0) e
  cross join lateral (
    -- Names of columns, but not in texts, which begin and end with a quotation mark
    select regexp_replace(e.text, '\m(' || a.columns || ')\M'
      || case when strpos(e.text, '''') > 0 then '(?=([^'']*''[^'']*'')*[^'']*$)' else '' end,
      'new.\1', 'g') as rule
    offset 0
  ) r
  cross join lateral (
    select substring(obj_description(c.oid, 'pg_constraint') from '(?n)^@keeps +(\w+)$') as keeps offset 0
  ) k
  where c.conrelid = relation and c.contype = 'c' and not c.conenforced;
end;
comment on function api_meta.upheld_rules(regclass) is
  'The checks of a table that are declared as not enforced, as they read in a trigger, with their columns. '
  'One whose comment has the tag @keeps is of the form column = value, and is upheld by setting the column '
  'to the value.';
--! EndIncluded api_meta/upheld_rules.sql
--! Included events/value_schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- Once: its subqueries would be copied to each place that names their result, and set up at each call
  with col as materialized (
    select a.attname, format_type(t.oid, null) as type, t.typcategory as category, t.typtype as kind,
      (
        select c.is_never_null from api_meta.table_column c
        where c.relation = a.attrelid and c.attnum = a.attnum
      ) as not_null,
      col_description(a.attrelid, a.attnum) as note,
      (
        select string_agg(pg_get_constraintdef(c.oid), ' ')
        from pg_constraint c
        where c.conrelid = a.attrelid and c.conkey = array[a.attnum] and c.contype = 'c'
      ) as checks
    from pg_attribute a join pg_type d on d.oid = a.atttypid
    join pg_type t on t.oid = case d.typtype when 'd' then d.typbasetype else d.oid end
    where a.attrelid = relation and a.attname = split_part(field.column_name, ',', 1)
  ), described as (
    select case
        when field.id_of is not null
          then jsonb_build_object('type', 'string', 'pattern', format('^gid://service/%s/%s$', field.id_of,
            case when type = 'uuid' then '[0-9a-f-]{36}' else '.+' end))
        when type = 'timestamp with time zone' then '{"type": "string", "format": "date-time"}'
        when type in ('bigint', 'numeric') and events.is_exact(field)
          then jsonb_build_object('type', 'string', 'pattern', case type
            when 'bigint' then '^-?[0-9]+$' else '^(-?[0-9]+([.][0-9]+)?|NaN|-?Infinity)$' end)
        when type in ('smallint', 'integer', 'bigint') then '{"type": "integer"}'
        when type = 'numeric' then '{"type": "number"}'
        when type = 'boolean' then '{"type": "boolean"}'
        when type = 'text[]'
          or checks like '%is_string_array%' then '{"type": "array", "items": {"type": "string"}}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'object'%$$ then '{"type": "object"}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'array'%$$ then '{"type": "array"}'
        when type = 'date' then '{"type": "string", "format": "date"}'
        when type in ('real', 'double precision') then '{"type": "number"}'
        when category = 'A' then '{"type": "array"}'
        when type in ('json', 'jsonb') or kind = 'c'
          then '{"type": ["object", "array", "string", "number", "boolean"]}'
        else '{"type": "string"}'
      end as base, not_null, coalesce(note, case
        when attname = 'id' then 'Global id.'
        when attname = 'created_at' then 'When it was made.'
        when attname = 'updated_at' then 'When it was last changed; null when it never was.'
        when field.id_of is not null then 'Global id of the '
          || lower(regexp_replace(field.id_of, '(?<=[a-z])(?=[A-Z])', ' ', 'g')) || '.'
      end) as note
    from col
  )
  select case
    when not_null then base
    else base || jsonb_build_object('type', (base -> 'type') || '["null"]') end
    || jsonb_strip_nulls(jsonb_build_object('description', note))
  from described;
end;
comment on function events.value_schema(events.field, regclass) is
  'JSON Schema of a field, from the column that it shows.';
--! EndIncluded events/value_schema.sql

--! Previous: sha1:3095bafa6aeb359e401e0bf8a4525a5eb3ccaa1e
--! Hash: sha1:bafcae14e0e5bf330adc7d6e19c9b2dce92a01f0
--! Message: shipping-by-index

--! split: 1-current.sql
-- Enter migration here

--! split: 0100-shipping-and-documents.sql
-- Mutations of shipping plan their statements once, by index. Who takes a fulfillment order off hold with SQL need not
-- know of its comment: the API shows it only as long as it is on hold.
alter table erp.fulfillment_order drop constraint if exists fulfillment_order_hold_comment_only_on_hold;
drop view if exists api_unstable.fulfillment_orders;
--! Included views/api/fulfillment_orders.sql
create view api_unstable.fulfillment_orders with (security_invoker = true) as
select id, number, type, state, is_partially_fulfilled, destination_order_id, source_warehouse_location_id,
  external_location_name, shipping_method_id, shipping_method_name, shipping_address, storefront_id, created_at, updated_at,
  case when state = 'OnHold' then hold_comment end as hold_comment
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
--! Included functions/erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[], note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
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
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
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
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
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
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
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

-- Credit notes and cancellations can be made; and no hash at all opens no document
--! Included functions/erp/create_document.sql
create or replace function erp.create_document(order_id uuid, document_type text, referenced_document_id uuid default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_');
  kind erp.document_type;
  referenced erp.document;
  number text;
  snapshot jsonb;
  new_id uuid;
begin
  select * into kind from erp.document_type t
  where t.technical_name = document_type and t.technical_name in ('invoice', 'delivery_note', 'credit_note', 'storno');
  if not found then
    perform mutation.refuse('INVALID', format('Documents of the type %s are not made here.', document_type));
  end if;
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  end if;

  if document_type in ('credit_note', 'storno') then
    select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
    where d.order_id = create_document.order_id and t.technical_name = 'invoice' and d.document_number is not null
      and d.id = coalesce(create_document.referenced_document_id, d.id)
    order by d.id desc limit 1;
    if not found then
      perform mutation.refuse('INVALID', case when referenced_document_id is null then 'The order has no invoice.'
        else 'The order has no such invoice.' end);
    end if;
  elsif referenced_document_id is not null then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;

  number := erp.next_number(kind.number_range);
  select c.config into strict snapshot from erp.document_config(order_id, document_type, number, (now() at time zone 'UTC')::date,
    erp.document_locale(order_id), referenced.document_number, referenced.config) c;
  if jsonb_path_exists(snapshot, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  end if;
  insert into erp.document (document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config)
  values (kind.id, create_document.order_id, referenced.id, number, code, snapshot)
  returning id into new_id;
  return new_id;
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Makes an invoice, delivery_note, credit_note or storno of an order: with the next number of its type, a random code for its address, and all that it shows. Credit notes and stornos refer to an invoice of the order, the newest unless one is named.';
--! EndIncluded functions/erp/create_document.sql
--! Included functions/erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea)
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison tells nothing about the code. An unknown id goes the
  -- same way, with a hash that nobody can present.
  if sha256(nonce || presented_hash) is distinct from sha256(nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)) then
    return;
  end if;
  return query select d.document_number, d.config, d.static, d.content, d.content_type from erp.document d where d.id = open_document.id;
end
$$;
comment on function erp.open_document(uuid, bytea) is
  'The document with this id and the SHA-256 of this deep link code, or no row. Takes a hash, so that no code gets into a log of Postgres, and any code can be asked about.';
--! EndIncluded functions/erp/open_document.sql

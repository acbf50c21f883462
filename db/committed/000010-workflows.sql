--! Previous: sha1:209235d438f5c58009b3836deffc8ed145755f82
--! Hash: sha1:186d0eec4ad4784eb03d48168a6f3e8389f15f38
--! Message: workflows

-- What mutations do to master data, orders, shipments, purchases and documents, and what background work
-- does.

create type erp.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type erp.price is 'An amount in one currency, with and without tax.';

create type erp.supplier_order_line as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric, expected_delivery_date
  timestamptz
);
comment on type erp.supplier_order_line is
  'A line of a supplier order as it is to be; with the id of one that is there, or without.';

create type erp.goods_receipt_line as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text, supplier_order_line_item_id
  uuid, supplier_order_id uuid, return_order_id uuid, unit_price numeric, tax_rate numeric,
  planned_disposal_quantity integer, destination_bin_location_id uuid
);
comment on type erp.goods_receipt_line is
  'A line of a goods receipt as it is to be; with the id of one that is there, or without.';

create type erp.placement as (
  line bigint, goods_receipt_line_item_id uuid, warehouse_id uuid, bin_location_id uuid, quantity integer
);
comment on type erp.placement is
  'How many units of a line of a goods receipt are put where; line is the place in the input, for user '
  'errors.';

create type erp.shipping_line as (id uuid, quantity integer);
comment on type erp.shipping_line is 'Units of a line of a fulfillment order that are to be shipped.';

create type erp.shipping_place as (
  line integer, nth integer, warehouse_id uuid, bin_location_id uuid, quantity integer, batch_id uuid
);
comment on type erp.shipping_place is
  'The nth place that units of a line are taken from. Lines and places are numbered from 1.';

create type erp.shipment as (
  order_id uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[]
);
comment on type erp.shipment is
  'Ids of what was made and changed by shipping something, or by taking it back.';

create type erp.document_part as (
  order_line_item_id uuid,
  first_unit integer,
  quantity integer
);
comment on type erp.document_part is
  'Units of a line of an order that a document is about: so many, after so many others.';

create type erp.assignment as (
  location_id uuid,
  order_line_item_id uuid,
  product_id uuid,
  quantity bigint
);
comment on type erp.assignment is 'Units of a line of an order that a location is to ship.';

--! Included erp/allotment_by_name.sql
-- How goods that arrive are distributed over ordered lines

create or replace function erp.allotment_by_name(goods_receipt_id uuid)
returns table (goods_receipt_line_item_id uuid, supplier_order_line_item_id uuid, quantity integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with named as (
    select l.id, i.id as item_id, abs(l.quantity) as units, l.quantity < 0 as goes_back, i.open_quantity,
      i.received_quantity,
      coalesce(sum(l.quantity) filter (where l.quantity > 0) over item, 0) as coming,
      coalesce(sum(- l.quantity) filter (where l.quantity < 0) over item, 0) as going,
      sum(abs(l.quantity)) over (partition by i.id, l.quantity < 0 order by l.id) as up_to
    from erp.goods_receipt_line_item l
    join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
      and i.product_id is not distinct from l.product_id
    join erp.supplier_order o on o.id = i.supplier_order_id and o.state <> 'cancelled'
    where l.goods_receipt_id = allotment_by_name.goods_receipt_id
    window item as (partition by i.id)
  ),
  -- Returned units make room for new ones, as far as they had arrived
  room as (
    select n.*, least(n.going, n.received_quantity + n.coming) as returned from named n
  ),
  share as (
    select r.id, r.item_id, r.goes_back, least(r.units,
      r.returned + case when r.goes_back then 0 else r.open_quantity end - (r.up_to - r.units)) as units
    from room r
  )
  select s.id, s.item_id, (case when s.goes_back then - s.units else s.units end)::integer
  from share s where s.units > 0;
end;
comment on function erp.allotment_by_name(uuid) is
  'How many units of each line of a goods receipt fit on the line of a supplier order that it names, in '
  'the order of the lines: no more than is open, and no more back than was received. Orders that were '
  'cancelled take nothing.';
grant execute on function erp.allotment_by_name(uuid) to service_writer;
--! EndIncluded erp/allotment_by_name.sql
--! Included erp/allotment.sql
create or replace function erp.allotment(goods_receipt_id uuid)
returns table (goods_receipt_line_item_id uuid, nth bigint, supplier_order_id uuid,
  supplier_order_line_item_id uuid, quantity integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with fitting as materialized (
    select a.goods_receipt_line_item_id as id, a.supplier_order_line_item_id as item_id, a.quantity
    from erp.allotment_by_name(allotment.goods_receipt_id) a
  ),
  rest as (
    select l.id, l.order_id, l.product_id, sign(l.quantity) as direction, abs(l.quantity) as units,
      sum(abs(l.quantity)) over (partition by l.order_id, l.product_id, sign(l.quantity)
        order by l.id) as up_to
    from (
      select l.id, coalesce(i.supplier_order_id, l.supplier_order_id) as order_id, l.product_id,
        l.quantity - coalesce(f.quantity, 0) as quantity
      from erp.goods_receipt_line_item l
      left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
      left join fitting f on f.id = l.id
      where l.goods_receipt_id = allotment.goods_receipt_id
        and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
    ) l where l.quantity <> 0
  ),
  -- Open quantities of the lines of the same orders, in order
  room as (
    select i.id, i.supplier_order_id as order_id, i.product_id, r.direction, r.units, i."position",
      sum(r.units) over (partition by i.supplier_order_id, i.product_id, r.direction
        order by i."position", i.id) as up_to
    from erp.supplier_order_line_item i
    join erp.supplier_order o on o.id = i.supplier_order_id and o.state <> 'cancelled'
    left join (select f.item_id, sum(f.quantity) as quantity from fitting f group by f.item_id) f
      on f.item_id = i.id
    cross join lateral (values
      (1, i.quantity - i.received_quantity - coalesce(f.quantity, 0)),
      (-1, i.received_quantity + coalesce(f.quantity, 0))
    ) r (direction, units)
    where r.units > 0 and o.id in (select rest.order_id from rest)
  ),
  -- Both laid end to end: where they overlap, units of a line fit on a line
  spread as (
    select r.id, o.id as item_id, o.up_to, r.direction,
      least(r.up_to, o.up_to) - greatest(r.up_to - r.units, o.up_to - o.units) as units
    from rest r join room o on o.order_id = r.order_id and o.product_id = r.product_id
      and o.direction = r.direction
    where least(r.up_to, o.up_to) > greatest(r.up_to - r.units, o.up_to - o.units)
  ),
  part (id, rank, item_id, quantity) as (
    select f.id, -1::numeric, f.item_id, f.quantity::numeric from fitting f
    union all
    select s.id, s.up_to::numeric, s.item_id, (s.direction * s.units)::numeric from spread s
    union all
    select r.id, 'infinity'::numeric, null, (r.direction * (r.units - coalesce(sum(s.units), 0)))::numeric
    from rest r left join spread s on s.id = r.id group by r.id, r.direction, r.units
    having r.units > coalesce(sum(s.units), 0)
  )
  select p.id, row_number() over (partition by p.id order by p.rank), i.supplier_order_id, p.item_id,
    p.quantity::integer
  from part p left join erp.supplier_order_line_item i on i.id = p.item_id;
end;
comment on function erp.allotment(uuid) is
  'How the lines of a goods receipt that name supplier orders share out over what was ordered: parts of '
  'each line, first on the line of an order that it names, then on other lines of the order with the '
  'product, and last, without a line, what the order has no room for. Units that go back are shared out '
  'over what was received.';
grant execute on function erp.allotment(uuid) to service_writer;
--! EndIncluded erp/allotment.sql
--! Included erp/allowed_actions.sql
create or replace function erp.allowed_actions(machine text, state text) returns jsonb
language sql stable
return (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
  where t.machine = allowed_actions.machine and t.from_state = allowed_actions.state);
comment on function erp.allowed_actions(text, text) is
  'The actions that a state allows, by erp.state_transition, as a JSON array.';
grant execute on function erp.allowed_actions(text, text) to service_writer;
--! EndIncluded erp/allowed_actions.sql
--! Included erp/amounts.sql
create or replace function erp.amounts(tax_status text, totals numeric[], tax_rates numeric[],
  discount numeric,
  out amount_net numeric, out amount_total numeric, out position_price numeric)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select
    case
      when tax_status = 'gross' then round(sum(l.total / (1 + coalesce(l.tax_rate, 0) / 100)), 2)
      else sum(l.total) end
      - coalesce(discount, 0),
    case
      when tax_status = 'net' then round(sum(l.total * (1 + coalesce(l.tax_rate, 0) / 100)), 2)
      else sum(l.total) end
      - coalesce(discount, 0),
    sum(l.total)
  from unnest(totals, tax_rates) l (total, tax_rate);
end;
comment on function erp.amounts(text, numeric[], numeric[], numeric) is
  'Totals of a document out of its lines: what they cost by its tax status, and their tax rates in '
  'percent. A discount on the whole is taken off both totals. Null when no line has a price.';
grant execute on function erp.amounts(text, numeric[], numeric[], numeric) to service_writer;
--! EndIncluded erp/amounts.sql
--! Included erp/approve_goods_receipt.sql
create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  booking ledger.booking;
begin
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more.', '{id}');
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
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  booking := ledger.post(array(
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
  ), null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booking;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books what its lines say to the place of the receipt, from the return '
  'order or from unknown, and what they take back from where it lies.';
grant execute on function erp.approve_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/approve_goods_receipt.sql
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
--! Included erp/awaits_goods.sql
-- In a form that becomes part of the statement that calls it
create or replace function erp.awaits_goods(state text) returns boolean
language sql immutable
return state in ('open', 'sent', 'confirmed', 'partially_delivered');
comment on function erp.awaits_goods(text) is
  'Whether what is open of a supplier order in this state is still to come.';
grant execute on function erp.awaits_goods(text) to service_ledger, service_writer;
--! EndIncluded erp/awaits_goods.sql
--! Included erp/billable_parts.sql
create or replace function erp.billable_parts(order_id uuid, only_shipped boolean) returns erp.document_part[]
language sql stable
return array(
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.quantity,
      case when only_shipped and l.type = 'product' then l.shipped_quantity else l.quantity end
        - l.invoiced_quantity as due
    from erp.sales_order_line_item l
    where l.order_id = billable_parts.order_id and (l.type = 'product' or l.tax_rate is not null
      -- Other lines without a rate are charged with those that have one, see erp.order_pieces
      or not exists (
        select from erp.sales_order_line_item r
        where r.order_id = billable_parts.order_id and r.tax_rate is not null
      ))
  ),
  gap as (
    select l.n, l.id, l.due, lower(g.units) as first_unit, upper(g.units) - lower(g.units) as quantity,
      sum(upper(g.units) - lower(g.units)) over (partition by l.id order by g.units) as upto
    from line l cross join lateral unnest(int4multirange(int4range(0, l.quantity)) - coalesce((
      select range_agg(int4range(i.first_unit, i.first_unit + i.quantity))
      from erp.invoice_line_item i join erp.invoice v on v.document_id = i.document_id
      where i.order_line_item_id = l.id and v.cancellation_id is null), '{}')) g (units)
    where l.due > 0
  )
  select row (g.id, g.first_unit, least(g.quantity, g.due - (g.upto - g.quantity)))::erp.document_part
  from gap g where g.due > g.upto - g.quantity order by g.n, g.first_unit);
comment on function erp.billable_parts(uuid, boolean) is
  'Units of lines of an order that no invoice charges: of products only those that were shipped, if '
  'that is wanted; of other lines, such as the costs of shipping, all.';
grant execute on function erp.billable_parts(uuid, boolean) to service_writer;
--! EndIncluded erp/billable_parts.sql
--! Included erp/cancel_fulfillment.sql
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
    select p.fulfillment_order_id
    from erp.fulfillment_order_fulfillment p
    where p.fulfillment_id = cancel_fulfillment.fulfillment_id
    order by 1);
  orders := array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (fulfillment_orders) and f.destination_order_id is not null order by 1);
  perform ledger.lock_orders(orders, fulfillment_orders);
  select * into present from erp.fulfillment f where f.id = fulfillment_id for no key update;
  if not found then
    perform mutation.refuse_missing('fulfillment', '{id}');
  elsif exists (
    select from erp.fulfillment_order f where f.id = any (fulfillment_orders) and f.type = 'ExternalToOrder'
  ) then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'Somebody else has shipped it.', '{id}');
  end if;
  wanted := erp.next_state('fulfillment', 'cancel', present.state);
  perform from erp.location l
  where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f where f.id = any (fulfillment_orders)
  )
  order by l.id for key share;

  stock_movements := ledger.take_back(present.id, note);
  update erp.fulfillment f set state = wanted where f.id = present.id;
  -- Cancelled orders get no more work
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'reopen', f.state)
  from erp.sales_order o
  where f.id = any (fulfillment_orders) and f.state = 'Closed' and o.id = f.destination_order_id
    and o.state <> 'cancelled';
  perform erp.unsettle_order(o.id) from unnest(orders) o (id);
  return row (
    orders[1], array[present.id], fulfillment_orders, stock_movements, erp.cancel_invoices_of(present.id)
  )::erp.shipment;
end
$$;
comment on function erp.cancel_fulfillment(uuid, text) is
  'Cancels a fulfillment: books its units back, opens its quantities again, and cancels the invoices '
  'over it (erp.cancel_invoices_of). User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID, '
  'INVALID_STATE_TRANSITION, and those of ledger.take_back.';
select api_meta.plan_by_index('erp.cancel_fulfillment(uuid, text)');
grant execute on function erp.cancel_fulfillment(uuid, text) to service_writer;
--! EndIncluded erp/cancel_fulfillment.sql
--! Included erp/cancel_invoices_of.sql
create or replace function erp.cancel_invoices_of(fulfillment_id uuid) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled record;
  left_over uuid;
  made uuid[] := '{}';
  orders uuid[] := '{}';
begin
  for cancelled in
    select d.id, d.order_id, exists (
      select from erp.document_fulfillment o join erp.fulfillment f on f.id = o.fulfillment_id
      where o.document_id = d.id and f.state = 'Fulfilled') as has_more
    from erp.document_fulfillment c
    join erp.invoice i on i.document_id = c.document_id and i.cancellation_id is null
    join erp.document d on d.id = i.document_id
    where c.fulfillment_id = cancel_invoices_of.fulfillment_id
    order by d.id
  loop
    made := made || erp.create_reversal(cancelled.order_id, 'storno', cancelled.id);
    if cancelled.has_more and cancelled.order_id <> all (orders) then
      orders := orders || cancelled.order_id;
    end if;
  end loop;
  foreach left_over in array orders loop
    if cardinality(erp.billable_parts(left_over, true)) > 0 then
      made := made || erp.create_invoice(left_over, true);
    end if;
  end loop;
  return made;
end
$$;
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices over a shipment that was cancelled, each by a storno. What they charged of '
  'other shipments is charged by a new invoice. Answers what was made.';
grant execute on function erp.cancel_invoices_of(uuid) to service_writer;
--! EndIncluded erp/cancel_invoices_of.sql
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
--! Included erp/change_fulfillment_order.sql
create or replace function erp.change_fulfillment_order(
  fulfillment_order_id uuid, action text, note text default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.fulfillment_order := erp.lock_fulfillment_order(fulfillment_order_id, '{id}');
  wanted text := erp.next_state('fulfillment_order', action, present.state);
begin
  if length(note) > 1000 then
    perform mutation.refuse('OUT_OF_RANGE', 'The comment has more than 1,000 characters.', '{comment}');
  end if;
  -- After a hold, work continues if it had begun before
  if action = 'release_hold' and present.state_before_hold = 'InProgress' then
    wanted := erp.next_state('fulfillment_order', 'start', wanted);
  end if;
  update erp.fulfillment_order f
  set state = wanted, state_before_hold = case when action = 'hold' then present.state end,
    hold_comment = case when action = 'hold' then note end
  where f.id = present.id;
  return present.id;
end
$$;
comment on function erp.change_fulfillment_order(uuid, text, text) is
  'Does an action of the machine fulfillment_order of erp.state_transition: start, hold, release_hold '
  'or cancel. Answers the id. User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, '
  'OUT_OF_RANGE.';
select api_meta.plan_by_index('erp.change_fulfillment_order(uuid, text, text)');
grant execute on function erp.change_fulfillment_order(uuid, text, text) to service_writer;
--! EndIncluded erp/change_fulfillment_order.sql
--! Included erp/change_supplier_of_receipt.sql
create or replace function erp.change_supplier_of_receipt(receipt_id uuid, new_supplier_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  order_number text;
begin
  -- Orders that only the receipt as a whole names are removed with the supplier
  delete from erp.goods_receipt_supplier_order n
  using erp.supplier_order o
  where n.goods_receipt_id = receipt_id and o.id = n.supplier_order_id and o.supplier_id <> new_supplier_id
    and not exists (
      select from erp.goods_receipt_line_item l
      where l.goods_receipt_id = receipt_id and l.supplier_order_id = o.id
    );
  select o.number into order_number
  from erp.goods_receipt_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.goods_receipt_id = receipt_id and o.supplier_id <> new_supplier_id order by l.id limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH',
      format('Lines name supplier order %s, of another supplier.', order_number),
      '{supplier_id}', jsonb_build_object('supplierOrderNumber', order_number));
  end if;
end
$$;
comment on function erp.change_supplier_of_receipt(uuid, uuid) is
  'Makes a goods receipt ready for another supplier: it no longer names orders of others. User error '
  'SUPPLIER_MISMATCH, when its lines name such orders.';
grant execute on function erp.change_supplier_of_receipt(uuid, uuid) to service_writer;
--! EndIncluded erp/change_supplier_of_receipt.sql
--! Included erp/check_goods_receipt.sql
create or replace function erp.check_goods_receipt(wanted erp.goods_receipt) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array[e.field])) into errors
  from (
    select 'NOT_FOUND', 'There is no such warehouse.', 'warehouse_id'
    where not exists (select from erp.warehouse w where w.id = wanted.warehouse_id)
    union all
    select 'NOT_FOUND', 'There is no such supplier.', 'supplier_id'
    where wanted.supplier_id is not null
      and not exists (select from erp.supplier s where s.id = wanted.supplier_id)
    union all
    select 'NOT_FOUND', 'There is no such customer.', 'customer_id'
    where wanted.customer_id is not null
      and not exists (select from erp.customer c where c.id = wanted.customer_id)
    union all
    select 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    where not exists (select from erp.currency c where c.id = wanted.currency_id)
  ) e (code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt(erp.goods_receipt) is
  'Refuses a goods receipt that refers to what is not there. User error NOT_FOUND.';
grant execute on function erp.check_goods_receipt(erp.goods_receipt) to service_writer;
--! EndIncluded erp/check_goods_receipt.sql
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
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'No more can be thrown away than comes in.',
      'planned_disposal_quantity'
    from unnest(lines) with ordinality l
    where l.planned_disposal_quantity not between 0 and greatest(l.quantity, 0)
    union all
    select l.ordinality, 'INVALID', 'A batch has a number.', 'batch_number'
    from unnest(lines) with ordinality l where btrim(l.batch_number) = ''
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
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
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
--! Included erp/check_placements.sql
create or replace function erp.check_placements(receipt erp.goods_receipt, placements erp.placement[])
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
    select p.line, 'INVALID', 'Name the warehouse of the receipt or one of its bins.', '{place}'
    from unnest(placements) p
    where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1 or p.warehouse_id <> receipt.warehouse_id
      or p.bin_location_id is not null and not exists (
        select from erp.bin_location b
        where b.id = p.bin_location_id and b.warehouse_id = receipt.warehouse_id)
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

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
comment on function erp.check_placements(erp.goods_receipt, erp.placement[]) is
  'Refuses placements that do not fit the lines of a goods receipt or its warehouse. User errors '
  'NOT_FOUND, OUT_OF_RANGE, INVALID.';
grant execute on function erp.check_placements(erp.goods_receipt, erp.placement[]) to service_writer;
--! EndIncluded erp/check_placements.sql
--! Included erp/check_receipt_suppliers.sql
create or replace function erp.check_receipt_suppliers(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[], order_ids uuid[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('SUPPLIER_MISMATCH',
      format('Supplier order %s is of another supplier than the receipt.', o.number), n.field,
      jsonb_build_object('supplierOrderNumber', o.number)) order by n."position") into errors
  from erp.orders_named(lines, order_ids) n join erp.supplier_order o on o.id = n.id
  where receipt.type = 'Supplier' and o.supplier_id <> receipt.supplier_id;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_receipt_suppliers(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'Refuses supplier orders of another supplier than that of the goods receipt. User error '
  'SUPPLIER_MISMATCH.';
grant execute on function erp.check_receipt_suppliers(erp.goods_receipt, erp.goods_receipt_line[], uuid[])
  to service_writer;
--! EndIncluded erp/check_receipt_suppliers.sql
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
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
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
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
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
--! Included erp/converted_price.sql
create or replace function erp.converted_price(price numeric, from_tax_status text, from_tax_rate numeric,
  from_factor numeric, to_tax_status text, to_tax_rate numeric, to_factor numeric) returns numeric
language sql immutable parallel safe
return case
  when from_factor = to_factor
    and (from_tax_status is not distinct from 'gross') = (to_tax_status is not distinct from 'gross')
    then price
  else round(price
    / case when from_tax_status = 'gross' then 1 + coalesce(from_tax_rate, 0) / 100 else 1 end
    * case when to_tax_status = 'gross' then 1 + coalesce(to_tax_rate, 0) / 100 else 1 end
    * to_factor / from_factor, 6)
  end;
comment on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric) is
  'A unit price of one document as another one states it, which may be in another currency or with tax '
  'where the first is without: to six decimals, or as it is when nothing differs. Null when a rate is '
  'unknown.';
grant execute on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric)
  to service_writer;
--! EndIncluded erp/converted_price.sql
--! Included erp/copy_product_prices.sql
create or replace function erp.copy_product_prices(product_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with target as (
    select c.id, c.product_id
    from erp.product_supplier_configuration c
    join erp.supplier s on s.id = c.supplier_id
    left join erp.currency u on u.id = s.currency_id
    where c.supplier_is_default and c.product_id = any (product_ids) and coalesce(u.is_default_currency, true)
  ),
  gone as (
    delete from erp.product_supplier_price s using target t
    where s.product_supplier_configuration_id = t.id
      and not exists (
        select from erp.product_purchase_price p
        where p.product_id = t.product_id and p.currency_id = s.currency_id
      )
  )
  insert into erp.product_supplier_price as s (
    product_supplier_configuration_id, currency_id, net, gross, linked
  )
  select t.id, p.currency_id, p.net, p.gross, p.linked
  from target t
  join erp.product_purchase_price p on p.product_id = t.product_id
  on conflict (product_supplier_configuration_id, currency_id) do update
  set net = excluded.net, gross = excluded.gross, linked = excluded.linked
    where (s.net, s.gross, s.linked) is distinct from (excluded.net, excluded.gross, excluded.linked);
end
$$;
comment on function erp.copy_product_prices(uuid[]) is
  'Makes the prices of default suppliers that are paid in the default currency those of the products. '
  'Other suppliers keep theirs.';
grant execute on function erp.copy_product_prices(uuid[]) to service_writer;
--! EndIncluded erp/copy_product_prices.sql
--! Included erp/copy_supplier_prices.sql
-- Purchase prices of a product and those of its default supplier. The rules are those of
-- Product.purchasePrices.

create or replace function erp.copy_supplier_prices(product_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with supplier_price as (
    -- paid in the default currency: all of them, unchanged
    select c.product_id, p.currency_id, p.net, p.gross, p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    left join erp.currency u on u.id = s.currency_id
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id
    where c.supplier_is_default and c.product_id = any (product_ids) and coalesce(u.is_default_currency, true)
    union all
    -- paid in another one: the price in that currency, and in the default currency by the present rate
    select c.product_id, d.id, round(p.net / r.factor, 2), round(p.gross / r.factor, 2), p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    join erp.currency u on u.id = s.currency_id and not u.is_default_currency
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id and p.currency_id = u.id
    join erp.currency d on d.is_default_currency
    cross join lateral erp.currency_factor_at(u.id, now()) r
    where c.supplier_is_default and c.product_id = any (product_ids)
  ),
  gone as (
    -- Without a default supplier the prices are the product's own
    delete from erp.product_purchase_price p
    where p.product_id in (
        select c.product_id
        from erp.product_supplier_configuration c
        where c.supplier_is_default and c.product_id = any (product_ids))
      and not exists (
        select from supplier_price s where s.product_id = p.product_id and s.currency_id = p.currency_id
      )
  )
  insert into erp.product_purchase_price as p (product_id, currency_id, net, gross, linked)
  select s.product_id, s.currency_id, s.net, s.gross, s.linked from supplier_price s
  on conflict (product_id, currency_id) do update
  set net = excluded.net, gross = excluded.gross, linked = excluded.linked
    where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked);
end
$$;
comment on function erp.copy_supplier_prices(uuid[]) is
  'Makes the purchase prices of products those of their default suppliers: the same when the supplier '
  'is paid in the default currency, else converted by the present rate.';
grant execute on function erp.copy_supplier_prices(uuid[]) to service_writer;
--! EndIncluded erp/copy_supplier_prices.sql
--! Included erp/create_bin_location.sql
create or replace function erp.create_bin_location(warehouse_id uuid, code text, "position" integer)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform from erp.warehouse w where w.id = warehouse_id for key share;
  if not found then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  insert into erp.bin_location (warehouse_id, code, "position")
  values (warehouse_id, code, "position")
  returning id
  into made;
  return made;
end
$$;
comment on function erp.create_bin_location(uuid, text, integer) is
  'Makes a bin in a warehouse. Answers its id.';
grant execute on function erp.create_bin_location(uuid, text, integer) to service_writer;
--! EndIncluded erp/create_bin_location.sql
--! Included erp/create_delivery_note.sql
create or replace function erp.create_delivery_note(order_id uuid, fulfillment_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  made := erp.insert_document(
    order_id, 'delivery_note', null, null, array_remove(array[fulfillment_id], null)
  );
  insert into erp.document_fulfillment (document_id, fulfillment_id) select made, fulfillment_id
  where fulfillment_id is not null;
  return made;
end
$$;
comment on function erp.create_delivery_note(uuid, uuid) is
  'Makes a delivery note of a shipment of an order, or of the whole order when there is none.';
grant execute on function erp.create_delivery_note(uuid, uuid) to service_writer;
--! EndIncluded erp/create_delivery_note.sql
--! Included erp/create_document.sql
create or replace function erp.create_document(
  order_id uuid, document_type text, referenced_document_id uuid default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  elsif referenced_document_id is not null and document_type not in ('credit_note', 'storno') then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;
  if document_type = 'invoice' then
    return erp.create_invoice(order_id, false);
  elsif document_type = 'delivery_note' then
    return erp.create_delivery_note(order_id, null);
  elsif document_type in ('credit_note', 'storno') then
    return erp.create_reversal(order_id, document_type, referenced_document_id);
  end if;
  perform mutation.refuse('INVALID', format('Documents of the type %s are not made here.', document_type));
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Makes an invoice, delivery_note, credit_note or storno of an order as a whole: an invoice over all '
  'that no other charges. Credit notes and stornos refer to an invoice of the order, the newest that '
  'stands unless one is named. User errors NOT_FOUND, INVALID.';
grant execute on function erp.create_document(uuid, text, uuid) to service_writer;
--! EndIncluded erp/create_document.sql
--! Included erp/create_documents.sql
create or replace function erp.create_documents(
  order_id uuid, documents text[], fulfillment_id uuid default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  shipment_id uuid := fulfillment_id;
  wanted record;
  made uuid[] := '{}';
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return '{}';
  end if;
  if shipment_id is null then
    select f.id
    into shipment_id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_documents.order_id order by f.created_at desc, f.id desc limit 1;
  end if;
  -- In a fixed order, because number ranges are locked until the end
  perform from erp.number_range r join erp.document_type t on t.number_range = r.technical_name
  where t.technical_name = any (documents) order by r.technical_name for update of r;
  for wanted in select d.name,
    mutation.path(
      'documents', d.ordinality
    ) as field from unnest(documents) with ordinality d (name) order by d.ordinality loop
    made := made || case wanted.name
      when 'invoice' then erp.create_invoice(order_id, true, wanted.field)
      when 'delivery_note' then erp.create_delivery_note(order_id, shipment_id)
      else erp.create_document(order_id, wanted.name) end;
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[], uuid) is
  'Makes documents of the types that are named of a shipment of an order, the newest unless one is '
  'given: the delivery note lists what is in it, the invoice charges all that was shipped and that no '
  'other charges. Answers their ids. User error INVALID.';
grant execute on function erp.create_documents(uuid, text[], uuid) to service_writer;
--! EndIncluded erp/create_documents.sql
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
--! Included erp/create_goods_receipt.sql
create or replace function erp.create_goods_receipt(
  given jsonb, lines erp.goods_receipt_line[], supplier_order_ids uuid[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.goods_receipt := jsonb_populate_record(null::erp.goods_receipt, given - 'currency_factor');
  wanted_lines constant erp.goods_receipt_line[] := coalesce(lines, '{}');
  orders uuid[];
begin
  made.type := coalesce(made.type, erp.receipt_type(made, wanted_lines, supplier_order_ids));
  made.warehouse_id := coalesce(
    made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving)
  );
  if made.type <> 'Supplier' and supplier_order_ids <> '{}' then
    perform mutation.refuse(
      'INVALID', 'Only receipts of type Supplier deliver supplier orders.', '{supplier_order_ids}'
    );
  end if;
  if exists (
    select from unnest(supplier_order_ids) i
    where not exists (select from erp.supplier_order o where o.id = i)
  ) then
    perform mutation.refuse_missing('supplier order', '{supplier_order_ids}');
  end if;
  -- Supplier, currency and tax status are those of the supplier orders, unless given
  orders := case
    when made.type = 'Supplier' then erp.lock_orders_named(wanted_lines, supplier_order_ids)
    else '{}' end;
  made := erp.with_orders(made, orders);
  perform erp.check_goods_receipt(made);
  perform erp.check_receipt_suppliers(made, wanted_lines, supplier_order_ids);
  made := erp.with_currency_factor(made, (given ->> 'currency_factor')::numeric);
  insert into erp.goods_receipt (number, type, state, warehouse_id, supplier_id, customer_id, currency_id,
    currency_factor,
    currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
      currency_factor_captured_at, tax_status, comment)
  values (erp.next_number('goods_receipt'), made.type,
    case when (given ->> 'is_draft')::boolean then 'draft' else 'created' end,
    made.warehouse_id, made.supplier_id, made.customer_id, made.currency_id, made.currency_factor,
      made.currency_factor_origin_type,
    made.currency_factor_origin_source, made.currency_factor_reference_date, made.currency_factor_captured_at,
      made.tax_status, made.comment)
  returning * into made;
  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) select distinct made.id,
    i
  from unnest(supplier_order_ids) i;
  perform erp.set_goods_receipt_lines(made, wanted_lines);
  return made.id;
end
$$;
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Makes a goods receipt out of the columns that the object names (is_draft: as a draft), its lines, '
  'and the supplier orders that it delivers. What is left out of type, supplier, currency and tax '
  'status follows from the orders that it and its lines name. Answers its id.';
grant execute on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) to service_writer;
--! EndIncluded erp/create_goods_receipt.sql
--! Included erp/create_invoice.sql
create or replace function erp.create_invoice(order_id uuid, only_shipped boolean, field text[] default null)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parts erp.document_part[];
  shipments uuid[];
  made uuid;
begin
  perform ledger.lock_orders(array[order_id]);
  parts := erp.billable_parts(order_id, only_shipped);
  if cardinality(parts) = 0 then
    perform mutation.refuse('INVALID',
      case when only_shipped then 'All that was shipped has been invoiced already.'
      else 'There is nothing of the order that has not been invoiced already.' end, field,
        jsonb_build_object('invoices', (
        select coalesce(jsonb_agg(d.document_number order by d.id), '[]')
        from erp.document d
        join erp.invoice i on i.document_id = d.id
        where d.order_id = create_invoice.order_id and i.cancellation_id is null)));
  end if;
  shipments := array(
    select distinct f.id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_invoice.order_id and not exists (
      select from erp.document_fulfillment c join erp.invoice i on i.document_id = c.document_id
      where c.fulfillment_id = f.id and i.cancellation_id is null)
    order by f.id);
  made := erp.insert_document(order_id, 'invoice', null, parts, shipments);
  insert into erp.invoice (document_id) values (made);
  insert into erp.invoice_line_item (document_id, order_line_item_id, first_unit, quantity)
  select made, p.order_line_item_id, p.first_unit, p.quantity
  from unnest(parts) with ordinality p
  order by p.ordinality;
  if only_shipped then
    insert into erp.document_fulfillment (document_id, fulfillment_id) select made, s.id
    from unnest(shipments) s (id)
    order by s.id;
  end if;
  return made;
end
$$;
comment on function erp.create_invoice(uuid, boolean, text[]) is
  'Makes an invoice over what no other charges of an order: of what was shipped, or of all. Cancelling one '
  'of the shipments cancels the invoice over them, too. User error INVALID when there is nothing to charge, '
  'or a line has no price.';
grant execute on function erp.create_invoice(uuid, boolean, text[]) to service_writer;
--! EndIncluded erp/create_invoice.sql
--! Included erp/create_product_supplier_configuration.sql
create or replace function erp.create_product_supplier_configuration(given jsonb, prices erp.price[])
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.product_supplier_configuration := jsonb_populate_record(
    null::erp.product_supplier_configuration, given
  );
begin
  perform ledger.lock(array[made.product_id]);
  if not exists (select from erp.product p where p.id = made.product_id) then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  if not exists (select from erp.supplier s where s.id = made.supplier_id) then
    perform mutation.refuse_missing('supplier', '{supplier_id}');
  end if;
  insert into erp.product_supplier_configuration (
    product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps, delivery_time_days
  )
  values (made.product_id, made.supplier_id, made.supplier_product_number, coalesce(made.min_purchase, 1),
    coalesce(made.purchase_steps, 1),
    made.delivery_time_days)
  returning id into made.id;
  perform erp.set_supplier_prices(made.id, coalesce(prices, '{}'));
  if made.supplier_is_default then
    perform erp.make_default_supplier(made.id);
  end if;
  return made.id;
end
$$;
comment on function erp.create_product_supplier_configuration(jsonb, erp.price[]) is
  'Notes that a supplier sells a product, on the terms that the object names and at these prices. '
  'Answers its id.';
grant execute on function erp.create_product_supplier_configuration(jsonb, erp.price[]) to service_writer;
--! EndIncluded erp/create_product_supplier_configuration.sql
--! Included erp/create_reversal.sql
create or replace function erp.create_reversal(order_id uuid, document_type text, invoice_id uuid)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  referenced erp.document;
  is_cancelled boolean;
begin
  perform ledger.lock_orders(array[order_id]);
  select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = create_reversal.order_id and t.technical_name = 'invoice'
    and d.document_number is not null
    and d.id = coalesce(create_reversal.invoice_id, d.id)
  order by erp.is_cancelled_invoice(d.id), d.id desc limit 1;
  if not found then
    perform mutation.refuse('INVALID', case when invoice_id is null then 'The order has no invoice.'
      else 'The order has no such invoice.' end);
  elsif erp.is_cancelled_invoice(referenced.id) then
    perform mutation.refuse(
      'INVALID', format('Invoice %s has been cancelled already.', referenced.document_number)
    );
  end if;
  return erp.insert_document(order_id, document_type, referenced, null, null);
end
$$;
comment on function erp.create_reversal(uuid, text, uuid) is
  'Makes a credit note or storno of an invoice of an order, of the newest that stands unless one is '
  'named. A storno cancels it: what it charged can be invoiced again. User error INVALID.';
grant execute on function erp.create_reversal(uuid, text, uuid) to service_writer;
--! EndIncluded erp/create_reversal.sql
--! Included erp/create_supplier_order.sql
create or replace function erp.create_supplier_order(given jsonb, lines erp.supplier_order_line[])
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.supplier_order;
  seller erp.supplier;
begin
  made := jsonb_populate_record(null::erp.supplier_order, given);
  select * into seller from erp.supplier s where s.id = made.supplier_id;
  if not found then
    perform mutation.refuse_missing('supplier', '{supplier_id}');
  end if;
  perform erp.require_active_supplier(seller.id, '{supplier_id}');
  made.warehouse_id := coalesce(
    made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving)
  );
  if not exists (select from erp.warehouse w where w.id = made.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  made.currency_id := coalesce(
    made.currency_id, seller.currency_id, (select c.id from erp.currency c where c.is_default_currency)
  );
  if not exists (select from erp.currency c where c.id = made.currency_id) then
    perform mutation.refuse_missing('currency', '{currency_id}');
  end if;
  insert into erp.supplier_order (number, supplier_order_number, supplier_id, warehouse_id, supplier_snapshot,
    warehouse_snapshot, currency_id,
    tax_status, order_date_time, due_date, delivery_date, comment)
  values (erp.next_number('supplier_order'), made.supplier_order_number, made.supplier_id, made.warehouse_id,
    erp.supplier_snapshot(made.supplier_id),
    erp.warehouse_snapshot(made.warehouse_id), made.currency_id, coalesce(made.tax_status, 'net'),
    coalesce(made.order_date_time, date_trunc('second', now())), made.due_date, made.delivery_date,
      made.comment)
  returning * into made;
  perform erp.set_supplier_order_lines(made, coalesce(lines, '{}'));
  return made.id;
end
$$;
comment on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) is
  'Makes an open supplier order out of the columns that the object names, and its lines. Currency and '
  'warehouse are the supplier''s and the one for receiving, unless given. Answers its id.';
grant execute on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) to service_writer;
--! EndIncluded erp/create_supplier_order.sql
--! Included erp/create_warehouse.sql
create or replace function erp.create_warehouse(code text, name text, is_default boolean,
  is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made constant uuid := uuidv7();
  is_first boolean;
begin
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  is_first := not exists (select from erp.warehouse);
  perform erp.hand_over_defaults(made, is_default, is_default_receiving);
  insert into erp.warehouse (
    id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address
  )
  values (made, code, name, is_first or coalesce(is_default, false), is_first
    or coalesce(is_default_receiving, false),
    coalesce(is_stock_available_for_sale, true), address);
  insert into erp.location (name, warehouse_id) values (name, made);
  return made;
end
$$;
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb) is
  'Makes a warehouse with the location that orders are fulfilled from. The first one is the default for '
  'everything. Answers its id.';
grant execute on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb)
  to service_writer;
--! EndIncluded erp/create_warehouse.sql
--! Included erp/exchange_rate_on.sql
create or replace function erp.exchange_rate_on(currency_id uuid, moment timestamptz)
returns table (factor numeric, source text, reference_date date)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select r.factor, r.source, r.reference_date
  from erp.exchange_rate r, timezone('UTC', moment) as t (moment)
  where r.currency_id = exchange_rate_on.currency_id
    and r.reference_date between t.moment::date - 7 and t.moment::date
  order by r.reference_date desc, r.imported_at desc, r.source
  limit 1
$$;
comment on function erp.exchange_rate_on(uuid, timestamptz) is
  'The imported exchange rate of a currency at a moment: the newest that was published on that day, in UTC, '
  'or up to 7 days before, because none is published on weekends and holidays. No row when there is none, as '
  'for the default currency.';
grant execute on function erp.exchange_rate_on(uuid, timestamptz) to service_writer;
--! EndIncluded erp/exchange_rate_on.sql
--! Included erp/currency_factor_at.sql
create or replace function erp.currency_factor_at(currency_id uuid, moment timestamptz, out factor numeric,
  out origin_type text, out origin_source text,
  out reference_date timestamptz) returns record
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(r.factor, c.factor),
    case when r.factor is null then 'ShopCurrencyFactor' else 'ExchangeRateImport' end, r.source,
    r.reference_date::timestamp at time zone 'UTC'
  from erp.currency c
  left join lateral erp.exchange_rate_on(c.id, moment) r on not c.is_default_currency
  where c.id = currency_factor_at.currency_id;
end;
comment on function erp.currency_factor_at(uuid, timestamptz) is
  'Units of a currency per unit of the default currency at a moment, and where the figure is from: an '
  'imported exchange rate, else the factor of the shop''s own table of currencies.';
grant execute on function erp.currency_factor_at(uuid, timestamptz) to service_writer;
--! EndIncluded erp/currency_factor_at.sql
--! Included erp/delete_bin_location.sql
create or replace function erp.delete_bin_location(bin_location_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from erp.bin_location b where b.id = bin_location_id;
  if not found then
    perform mutation.refuse_missing('bin', '{id}');
  end if;
  return bin_location_id;
end
$$;
comment on function erp.delete_bin_location(uuid) is 'Deletes an empty bin. Answers its id.';
grant execute on function erp.delete_bin_location(uuid) to service_writer;
--! EndIncluded erp/delete_bin_location.sql
--! Included erp/delete_goods_receipt.sql
create or replace function erp.delete_goods_receipt(goods_receipt_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state = 'completed'
    or exists (select from ledger.stock_movement m where m.source_goods_receipt_id = present.id) then
    perform mutation.refuse(
      'NOT_EDITABLE', 'Stock has left the receipt. Correct it by another receipt with negative quantities.',
      '{id}'
    );
  end if;
  -- Approved goods are booked back
  perform ledger.post(array(
    select row ('{id}', m.product_id, coalesce(b.quantity, m.quantity), b.batch_id, 'goods_receipt',
      present.id::text,
      case when f.place is null then 'special_stock_location' else f.location_type_technical_name end,
        coalesce(f.place, 'unknown'),
      m.process_type_technical_name)::ledger.draft
    from ledger.stock_movement m
    join ledger.flow f on f.movement_id = m.id and f.direction = -1
    left join ledger.stock_movement_batch b on b.stock_movement_id = m.id
    where m.destination_goods_receipt_id = present.id order by m.id, b.batch_id
  ), null);
  delete from erp.goods_receipt r where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_goods_receipt(uuid) is
  'Deletes a goods receipt that no stock has left. What was approved is booked back first; movements '
  'are kept, without the receipt. Answers its id.';
grant execute on function erp.delete_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/delete_goods_receipt.sql
--! Included erp/delete_product_supplier_configuration.sql
create or replace function erp.delete_product_supplier_configuration(configuration_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.lock_product_supplier_configuration(configuration_id);
  delete from erp.product_supplier_configuration c where c.id = configuration_id;
  return configuration_id;
end
$$;
comment on function erp.delete_product_supplier_configuration(uuid) is
  'Forgets that a supplier sells a product. The product keeps its purchase prices. Answers the id.';
grant execute on function erp.delete_product_supplier_configuration(uuid) to service_writer;
--! EndIncluded erp/delete_product_supplier_configuration.sql
--! Included erp/delete_supplier_order.sql
create or replace function erp.delete_supplier_order(supplier_order_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
begin
  if present.state not in ('open', 'cancelled') then
    perform mutation.refuse(
      'NOT_EDITABLE', format('The order is %s: cancel it first.', present.state), '{id}'
    );
  end if;
  if exists (select from erp.goods_receipt_line_item i where i.supplier_order_id = present.id)
    or exists (select from erp.goods_receipt_supplier_order r where r.supplier_order_id = present.id) then
    perform mutation.refuse('REFERENCE_IN_USE', 'A goods receipt belongs to this order.', '{id}');
  end if;
  delete from erp.supplier_order o where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_supplier_order(uuid) is
  'Deletes an open or cancelled supplier order that no goods receipt belongs to. Answers its id.';
grant execute on function erp.delete_supplier_order(uuid) to service_writer;
--! EndIncluded erp/delete_supplier_order.sql
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
    perform mutation.refuse('REFERENCE_IN_USE', 'Goods are being received in this warehouse.', '{id}');
  end if;
  if exists (
    select from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
    where l.warehouse_id = delete_warehouse.warehouse_id and f.state in ('Open', 'InProgress', 'OnHold')
  ) then
    perform mutation.refuse(
      'REFERENCE_IN_USE', 'Orders are still to be fulfilled from this warehouse.', '{id}'
    );
  end if;
  delete from erp.warehouse w where w.id = warehouse_id;
  return warehouse_id;
end
$$;
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive or to fulfill, and is not a default. '
  'Answers its id.';
grant execute on function erp.delete_warehouse(uuid) to service_writer;
--! EndIncluded erp/delete_warehouse.sql
--! Included erp/delivered_lines.sql
create or replace function erp.delivered_lines(order_id uuid, fulfillment_id uuid) returns jsonb
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.label, l.description,
      p.product_number, l.quantity as ordered,
      coalesce(s.here, 0) as here, l.shipped_quantity - coalesce(s.later, 0) - coalesce(s.here, 0) as earlier
    from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id
    left join lateral (
      -- One line at a time by its indexes, even if Postgres expects few fulfillments to be all
      select sum(i.quantity) filter (where i.fulfillment_id = delivered_lines.fulfillment_id) as here,
        sum(i.quantity) filter (where i.fulfillment_id > delivered_lines.fulfillment_id) as later
      from erp.fulfillment_order_line_item a cross join lateral (
        select i.fulfillment_id, i.quantity
        from erp.fulfillment_line_item i
        where i.fulfillment_order_line_item_id = a.id offset 0
      ) i
      where a.destination_order_line_item_id = l.id
        and (select f.state from erp.fulfillment f where f.id = i.fulfillment_id) = 'Fulfilled'
    ) s on delivered_lines.fulfillment_id is not null
    -- Discounts are in no parcel
    where l.order_id = delivered_lines.order_id and (l.type is null or l.type not in ('promotion', 'credit'))
  )
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description,
        'productNumber', product_number,
          'quantity', case when delivered_lines.fulfillment_id is null then ordered else here end)
        || case when delivered_lines.fulfillment_id is not null and here <> ordered
          then jsonb_build_object('orderedQuantity', ordered, 'shippedBefore', earlier)
            else '{}' end order by n)
      from line where delivered_lines.fulfillment_id is null or here > 0), '[]'),
    'outstanding', case when delivered_lines.fulfillment_id is not null then coalesce((
      select jsonb_agg(
        jsonb_build_object(
          'label', label, 'productNumber', product_number, 'quantity', ordered - here - earlier
        ) order by n
      )
      from line where type = 'product' and ordered > here + earlier), '[]') end,
    'totals', null);
end;
comment on function erp.delivered_lines(uuid, uuid) is
  'What a delivery note lists: the units that a shipment has of an order, what it was the rest of, and '
  'what is still to come; or all of the order without a shipment.';
grant execute on function erp.delivered_lines(uuid, uuid) to service_writer;
--! EndIncluded erp/delivered_lines.sql
--! Included erp/state_after_delivery.sql
create or replace function erp.state_after_delivery(state text, reached text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Goods that arrive have been confirmed, noted or not
  confirmed constant text := case when state in ('open', 'sent')
    then erp.next_state('supplier_order', 'confirm', state) else state end;
begin
  return case
    when confirmed in (reached, 'completed') then confirmed
    else erp.next_state('supplier_order', case reached
      when 'delivered' then 'deliver' when 'partially_delivered' then 'deliver_partially'
        else 'take_back' end, confirmed)
  end;
end
$$;
comment on function erp.state_after_delivery(text, text) is
  'The state of a supplier order, of which so much has been received that it is now confirmed, '
  'partially_delivered or delivered, by erp.state_transition.';
grant execute on function erp.state_after_delivery(text, text) to service_writer;
--! EndIncluded erp/state_after_delivery.sql
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
--! Included erp/delivery_date.sql
create or replace function erp.delivery_date(fulfillments uuid[], order_state text, document_date date)
returns jsonb
language sql stable
return (
  select case
    when min(f.created_at) is not null then jsonb_build_object(
      'from', to_char(min(f.created_at at time zone 'UTC'), 'YYYY-MM-DD'),
      'to', to_char(max(f.created_at at time zone 'UTC'), 'YYYY-MM-DD'))
    when order_state = 'completed' then jsonb_build_object(
      'from', to_char(document_date, 'YYYY-MM-DD'), 'to', to_char(document_date, 'YYYY-MM-DD')) end
  from erp.fulfillment f where f.id = any (fulfillments));
comment on function erp.delivery_date(uuid[], text, date) is
  'The first and last day on which shipments went out. What was delivered without one was on the day of '
  'the document; null when nothing was yet.';
grant execute on function erp.delivery_date(uuid[], text, date) to service_writer;
--! EndIncluded erp/delivery_date.sql
--! Included erp/order_pieces.sql
-- Prices in erp.sales_order_line_item include tax, whatever the tax status of the order. This function and
-- document_config return rows, because Postgres then inlines them into the calling query.
create or replace function erp.order_pieces(order_id uuid, tax_status text)
returns table (line_id uuid, unit_line_id uuid, rate numeric, total numeric, net numeric)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.total_price as total,
      case when tax_status = 'tax-free' then l.tax_rate * 0 else l.tax_rate end as rate
    from erp.sales_order_line_item l where l.order_id = order_pieces.order_id
  ),
  rated as (
    select l.id, l.n, coalesce(l.rate, 0) as rate, l.total,
      round(l.total * 100 / (100 + coalesce(l.rate, 0)), 2) as net
    from line l where l.rate is not null or not exists (select from line where rate is not null)
  ),
  -- The range of each line with a rate when these lines are laid end to end, by amount
  ruler as (
    select r.*, coalesce(sum(r.net) over () / nullif(sum(r.total) over (), 0), 1) as factor,
      coalesce((sum(r.total) over so_far - r.total) / nullif(sum(r.total) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as starts,
      coalesce(sum(r.total) over so_far / nullif(sum(r.total) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as ends,
      coalesce((sum(r.net) over so_far - r.net) / nullif(sum(r.net) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as net_starts,
      coalesce(sum(r.net) over so_far / nullif(sum(r.net) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as net_ends
    from rated r window so_far as (order by r.rate, r.n)
  ),
  -- As in ledger.order_amounts: lines without a rate, such as promotions, are taxed at the average of the
  -- others
  unrated as (
    select l.*, sum(l.total) over (order by l.n) as upto, f.factor
    from line l, (select factor from ruler limit 1) f
    where l.rate is null and exists (select from line where rate is not null)
  )
  select r.id, r.id, r.rate, r.total, r.net from rated r
  union all
  -- Sums are rounded, not their parts, so that the parts add up by line and by rate
  select u.id, case when u.type = 'product' then u.id else r.id end, r.rate,
    round(u.upto * r.ends, 2) - round((u.upto - u.total) * r.ends, 2)
      - round(u.upto * r.starts, 2) + round((u.upto - u.total) * r.starts, 2),
    round(round(u.factor * u.upto, 2) * r.net_ends, 2)
      - round(round(u.factor * (u.upto - u.total), 2) * r.net_ends, 2)
      - round(round(u.factor * u.upto, 2) * r.net_starts, 2)
      + round(round(u.factor * (u.upto - u.total), 2) * r.net_starts, 2)
  from unrated u cross join ruler r;
end;
comment on function erp.order_pieces(uuid, text) is
  'What the lines of an order come to with and without tax, by rates. A line without a rate, such as a '
  'promotion, is spread over the lines that have one, by what these come to. Each piece is charged '
  'along with the units of a line: its own, or for what is no product of that other line. All pieces '
  'come to the cent to what the order does.';
grant execute on function erp.order_pieces(uuid, text) to service_writer;
--! EndIncluded erp/order_pieces.sql
--! Included erp/document_amounts.sql
create or replace function erp.document_amounts(
  order_id uuid, tax_status text, parts erp.document_part[] default null
)
returns table (amounts jsonb)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.label, l.description, p.product_number,
      l.quantity, l.unit_price,
      l.total_price, l.tax_rate
    from erp.sales_order_line_item l
    left join erp.product p on p.id = l.product_id
    where l.order_id = document_amounts.order_id
  ),
  part as (
    select p.order_line_item_id as id, p.first_unit, p.first_unit + p.quantity as upto from unnest(parts) p
    union all select l.id, 0, l.quantity from line l where parts is null
  ),
  -- The units' share of each piece, such that the shares of all units add up to the piece
  charged as (
    select c.line_id, c.rate, c.unit_line_id,
      case when p.upto = u.quantity then c.total else round(c.total * p.upto / u.quantity, 2) end
        - case when p.first_unit = 0 then 0 else round(c.total * p.first_unit / u.quantity, 2) end as total,
      case when p.upto = u.quantity then c.net else round(c.net * p.upto / u.quantity, 2) end
        - case when p.first_unit = 0 then 0 else round(c.net * p.first_unit / u.quantity, 2) end as net
    from erp.order_pieces(document_amounts.order_id, tax_status) c
    join line u on u.id = c.unit_line_id join part p on p.id = c.unit_line_id
  ),
  shown as (
    select l.n, l.label, l.description, l.product_number, l.unit_price, l.tax_rate as rate, c.total, c.net,
      case when tax_status = 'net' then c.net else c.total end as amount,
        coalesce(q.quantity, l.quantity) as quantity,
      -- This document's share of a discount on the whole order
      q.quantity is null and c.total <> l.total_price as is_share
    from line l
    join (
      select c.line_id as id, sum(c.total) as total, sum(c.net) as net from charged c group by c.line_id
    ) c
      on c.id = l.id
    left join (select p.id, sum(p.upto - p.first_unit) as quantity from part p group by p.id) q on q.id = l.id
  ),
  by_rate as (select c.rate, sum(c.net) as net, sum(c.total) as total from charged c group by c.rate)
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description,
        'productNumber', product_number,
          'quantity', quantity,
          -- With four decimals, so that the price times the quantity gives the amount of the line
          'unitPrice', case when is_share then round(amount / quantity, 4)
            when tax_status = 'net'
              then round(unit_price * coalesce(100 / (100 + rate), net / nullif(total, 0), 1), 4)
            else unit_price end,
          'total', amount, 'taxRate', case when tax_status <> 'tax-free' then rate end)
        || case when is_share then '{"isShare": true}'::jsonb else '{}' end order by n)
      from shown where not is_share or amount <> 0), '[]'),
    'totals', (
      select jsonb_build_object('net', coalesce(sum(net), 0), 'total', coalesce(sum(total), 0),
        'taxes', coalesce(jsonb_agg(jsonb_build_object('rate', rate, 'net', net, 'tax', total - net)
          order by rate)
          filter (where tax_status <> 'tax-free'), '[]'))
      from by_rate));
end;
comment on function erp.document_amounts(uuid, text, erp.document_part[]) is
  'What units of lines of an order are charged, all of them when there are no parts: prices without tax '
  'where the tax status is net. Discounts on the whole order go along with the units, by their share. '
  'Documents that have each unit once come to the cent to what the order does.';
grant execute on function erp.document_amounts(uuid, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/document_amounts.sql
--! Included erp/seller.sql
create or replace function erp.seller(locale text) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('legalName', m.legal_name, 'email', m.email, 'phone', m.phone, 'website',
    m.website,
    'address', m.address || jsonb_build_object('countryName',
      coalesce(c.name ->> locale, m.address ->> 'countryName', c.name ->> 'en-GB')),
    'vatId', m.vat_id, 'taxNumber', m.tax_number, 'managers', m.managers, 'register', m.register,
    'footer', coalesce(m.footer ->> locale, m.footer ->> 'en-GB'),
    'bank', case when m.iban is not null then jsonb_build_object(
      'accountHolder', coalesce(m.account_holder, m.legal_name), 'iban', m.iban, 'bic', m.bic, 'name',
        m.bank_name) end)
  from erp.merchant m left join erp.country c on c.iso_code = m.address ->> 'countryIso';
end;
comment on function erp.seller(text) is
  'What documents say of the merchant, in a language; null as long as erp.merchant has no row.';
grant execute on function erp.seller(text) to service_writer;
--! EndIncluded erp/seller.sql
--! Included erp/vat_id_for.sql
create or replace function erp.vat_id_for(vat_ids jsonb, country_iso text) returns text
language sql immutable
return (
  select v.id from jsonb_array_elements_text(vat_ids) with ordinality v (id, n)
  order by upper(left(v.id, 2)) <> case country_iso when 'GR' then 'EL' else country_iso end, v.n limit 1);
comment on function erp.vat_id_for(jsonb, text) is
  'Of the VAT numbers of a customer the one of a country, or else the first.';
grant execute on function erp.vat_id_for(jsonb, text) to service_writer;
--! EndIncluded erp/vat_id_for.sql
--! Included erp/is_in_eu.sql
create or replace function erp.is_in_eu(country_iso text) returns boolean
language sql immutable
return country_iso in ('AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU',
  'IE', 'IT', 'LT', 'LU', 'LV',
  'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK');
comment on function erp.is_in_eu(text) is
  'Whether a country, by its ISO 3166 code, is a member of the European Union.';
grant execute on function erp.is_in_eu(text) to service_writer;
--! EndIncluded erp/is_in_eu.sql
--! Included erp/tax_exemption.sql
create or replace function erp.tax_exemption(tax_status text, destination text, customer_vat_id text)
returns text
language sql stable
return case when tax_status = 'tax-free' then (
  select case
    when (select m.is_small_business from erp.merchant m) then 'small_business'
    when destination = h.home then null
    when erp.is_in_eu(h.home) and not erp.is_in_eu(destination) then 'export'
    -- The VAT number of a business in another country than the seller's
    when erp.is_in_eu(h.home) and left(customer_vat_id, 2) <> case h.home when 'GR' then 'EL' else h.home end
      then 'intra_community' end
  from (select coalesce((select m.address ->> 'countryIso' from erp.merchant m),
    (select w.address ->> 'countryIso' from erp.warehouse w where w.is_default)) as home) h) end;
comment on function erp.tax_exemption(text, text, text) is
  'Why an order without tax has none: small_business, export (to a country outside of the European '
  'Union) or intra_community (to another of its countries, to a business with a VAT number of another '
  'country). Null when it has tax, or no reason is known. The destination is an ISO 3166 code.';
grant execute on function erp.tax_exemption(text, text, text) to service_writer;
--! EndIncluded erp/tax_exemption.sql
--! Included erp/reversed_amounts.sql
create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return jsonb_build_object(
  'lines', (
    select coalesce(jsonb_agg(line
      || jsonb_build_object(
        'unitPrice', - (line ->> 'unitPrice')::numeric, 'total', - (line ->> 'total')::numeric
      )
      order by n), '[]')
    from jsonb_array_elements(amounts -> 'lines') with ordinality v (line, n)),
  'totals', jsonb_build_object('net', - (amounts #>> '{totals,net}')::numeric, 'total',
    - (amounts #>> '{totals,total}')::numeric,
    'taxes', (
      select coalesce(jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'net', - (tax ->> 'net')::numeric,
        'tax', - (tax ->> 'tax')::numeric)
        order by n), '[]')
      from jsonb_array_elements(amounts #> '{totals,taxes}') with ordinality v (tax, n))));
comment on function erp.reversed_amounts(jsonb) is
  'The lines and totals of a document, with every amount negative.';
grant execute on function erp.reversed_amounts(jsonb) to service_writer;
--! EndIncluded erp/reversed_amounts.sql
--! Included erp/document_config.sql
create or replace function erp.document_config(order_id uuid, document_type text, document_number text,
  document_date date, locale text,
  referenced_number text default null, referenced_config jsonb default null,
    parts erp.document_part[] default null,
  fulfillments uuid[] default null) returns table (config jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'documentType', document_type,
    'title', coalesce(t.name ->> locale, t.name ->> 'en-GB'),
    'documentNumber', document_number,
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'referencedDocumentNumber', referenced_number,
    'referencedDocumentDate', referenced_config -> 'documentDate',
    'locale', locale,
    'displayPrices', document_type <> 'delivery_note',
    'orderNumber', o.order_number,
    'orderDate', to_char(o.order_date_time at time zone 'UTC', 'YYYY-MM-DD'),
    'deliveryDate', erp.delivery_date(fulfillments, o.state, document_date),
    'customerNumber', c.customer_number,
    'customerVatId', v.vat_id,
    'taxStatus', o.tax_status,
    'taxExemption', erp.tax_exemption(o.tax_status, v.destination, v.vat_id),
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'shippingMethod', coalesce(s.name ->> locale, s.name ->> 'en-GB'),
    'paymentMethod', coalesce(p.name ->> locale, p.name ->> 'en-GB'),
    'billingAddress', o.billing_address,
    'shippingAddress', o.shipping_address,
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name),
      'address', coalesce(m.seller -> 'address', w.address)),
    'seller', m.seller
  ) || case
    when document_type = 'delivery_note' then erp.delivered_lines(document_config.order_id, fulfillments[1])
    when document_type not in ('credit_note', 'storno') then a.amounts
    -- The order may have changed since the invoice. A reversal repeats the invoice's data.
    when referenced_config ? 'lines' then erp.reversed_amounts(referenced_config)
      || jsonb_build_object('taxStatus', referenced_config -> 'taxStatus', 'currency',
        referenced_config -> 'currency',
        'taxExemption', referenced_config -> 'taxExemption', 'deliveryDate',
          referenced_config -> 'deliveryDate')
    else erp.reversed_amounts(a.amounts)
  end
  from erp.sales_order o
  join erp.currency u on u.id = o.currency_id
  join erp.document_type t on t.technical_name = document_type
  cross join lateral (select erp.seller(locale) as seller) m
  left join erp.customer c on c.id = o.customer_id
  cross join lateral (
    select d.destination, erp.vat_id_for(c.vat_ids, d.destination) as vat_id
    from (
      select coalesce(o.shipping_address ->> 'countryIso', o.billing_address ->> 'countryIso') as destination
    ) d
  ) v
  left join erp.sales_channel h on h.id = o.sales_channel_id
  left join erp.shipping_method s on s.id = o.shipping_method_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.warehouse w on w.is_default
  cross join erp.document_amounts(document_config.order_id, o.tax_status, parts) a
  where o.id = document_config.order_id;
end;
comment on function
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]) is
  'All that a document of an order shows, as it is now: what a document keeps in its config and is '
  'rendered from (src/pdf/config.ts has the form). Credit notes and stornos also take the number '
  'and config of the invoice that they take back; invoices the units that they charge, if not all, and '
  'the shipments that brought them; delivery notes their shipment.';
grant execute on function erp.document_config(
  uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]
)
  to service_writer;
--! EndIncluded erp/document_config.sql
--! Included erp/document_locale.sql
create or replace function erp.document_locale(order_id uuid) returns text
language sql stable
return (
  select coalesce(
    (
      select l.code
      from erp.language l
      where split_part(l.code, '-', 2) = o.billing_address ->> 'countryIso'
      order by l.code
      limit 1
    ),
    (select l.code from erp.language l join erp.sales_channel s on s.id = o.sales_channel_id
      join erp.country c on c.id = s.country_id
      where split_part(l.code, '-', 2) = c.iso_code order by l.code limit 1),
    'en-GB')
  from erp.sales_order o where o.id = document_locale.order_id
);
comment on function erp.document_locale(uuid) is
  'The language to write to the customer of an order in: that of the country of the billing address, or '
  'else of the sales channel, as far as names are kept in it; else en-GB.';
grant execute on function erp.document_locale(uuid) to service_writer;
--! EndIncluded erp/document_locale.sql
--! Included erp/excess_warning.sql
create or replace function erp.excess_warning(is_cancelled boolean, quantity integer, product_number text,
  order_number text, field text[], line_id uuid default null) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.user_error(case when is_cancelled then 'ORDER_CANCELLED' else 'SURPLUS' end,
    format(case
        when is_cancelled then '%1$s of product %2$s count for no order: supplier order %3$s is cancelled.'
        when quantity < 0
          then '%1$s of product %2$s go back without an order: supplier order %3$s never received them.'
        else '%1$s of product %2$s count for no order: they are more than supplier order %3$s has open.' end,
      abs(quantity), product_number, order_number),
    field,
    jsonb_strip_nulls(jsonb_build_object('quantity', quantity, 'productNumber', product_number,
      'supplierOrderNumber', order_number,
      'goodsReceiptLineItemId', 'gid://service/GoodsReceiptLineItem/' || line_id)));
end;
comment on function erp.excess_warning(boolean, integer, text, text, text[], uuid) is
  'The warning of units on a goods receipt that its supplier order does not account for; with the line '
  'that they have become, if they have.';
grant execute on function erp.excess_warning(boolean, integer, text, text, text[], uuid) to service_writer;
--! EndIncluded erp/excess_warning.sql
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
        where not l.is_new and c.value <> l.present -> c.key and c.key <> 'position'
      ) as changes
    from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
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
    select l.line / 1000, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then ((l.line % 1000) - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from unnest(lines) l cross join jsonb_array_elements(l.errors) e (error)
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
--! Included erp/faults_of_orders_named.sql
create or replace function erp.faults_of_orders_named(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[])
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.ordinality, 'INVALID', 'Only receipts of type Supplier name supplier orders.',
    case when l.supplier_order_id is null then 'supplier_order_line_item_id' else 'supplier_order_id' end
  from unnest(lines) with ordinality l
  where (receipt).type <> 'Supplier'
    and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
  union all
  select l.ordinality, 'NOT_FOUND', 'There is no such line of a supplier order with this product.',
    'supplier_order_line_item_id'
  from unnest(lines) with ordinality l
  where l.supplier_order_line_item_id is not null and not exists (
    select from erp.supplier_order_line_item i where i.id = l.supplier_order_line_item_id
      and i.product_id = l.product_id)
  union all
  select l.ordinality, 'NOT_FOUND', 'The supplier order has no line with this product.', 'supplier_order_id'
  from unnest(lines) with ordinality l
  where (receipt).type = 'Supplier' and l.supplier_order_id is not null
    and l.supplier_order_line_item_id is null
    and not exists (
      select from erp.supplier_order_line_item i where i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id)
  union all
  select l.ordinality, 'INVALID', 'The line is of another supplier order.', 'supplier_order_id'
  from unnest(lines) with ordinality l join erp.supplier_order_line_item i
    on i.id = l.supplier_order_line_item_id
  where l.supplier_order_id <> i.supplier_order_id;
end;
comment on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'What is wrong with the supplier orders that lines of a goods receipt name: number of the line, code, '
  'sentence and column.';
grant execute on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_orders_named.sql
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
        else format('Batch %s is of another product.', b.number) end,
      'batch_id'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, 'INVALID', 'The batch has another number.', 'batch_number'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where l.batch_number <> b.number
    union all
    select l.ordinality, 'INVALID', 'Only receipts of type Customer name return orders.', 'return_order_id'
    from unnest(lines) with ordinality l where target.type <> 'Customer' and l.return_order_id is not null
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such return order.', 'return_order_id'
    from unnest(lines) with ordinality l where l.return_order_id is not null
      and not exists (select from erp.return_order r where r.id = l.return_order_id)
    union all
    select l.ordinality, 'INVALID', 'The warehouse of the receipt has no such bin.',
      'destination_bin_location_id'
    from unnest(lines) with ordinality l where l.destination_bin_location_id is not null and not exists (
      select from erp.bin_location b
      where b.id = l.destination_bin_location_id and b.warehouse_id = target.warehouse_id);
end
$$;
comment on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'What is wrong with the batches, return orders and bins that lines of a goods receipt name.';
grant execute on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_things_named.sql
--! Included erp/in_default_currency.sql
create or replace function erp.in_default_currency(amount numeric, currency_factor numeric) returns numeric
language sql immutable strict parallel safe
-- A quotient has infinitely many digits, and a rate four to six significant ones. With six decimals of a
-- price, the rounding on a line of 10,000 units is still below a cent.
return round(amount / currency_factor, 6);
comment on function erp.in_default_currency(numeric, numeric) is
  'An amount in the default currency: divided by the units of its currency per unit of the default '
  'currency, to six decimals.';
grant execute on function erp.in_default_currency(numeric, numeric) to service_keeper, service_writer;
--! EndIncluded erp/in_default_currency.sql
--! Included erp/fill_default_currency_prices.sql
create or replace function erp.fill_default_currency_prices(
  after uuid, batch integer, out filled integer, out last uuid
)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with old_line as (
    select l.id, erp.in_default_currency(l.unit_price, r.currency_factor) as price
    from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
    where l.unit_price is not null and l.unit_price_in_default_currency is null
      and r.currency_factor is not null
      and l.id > coalesce(after, '00000000-0000-0000-0000-000000000000')
    order by l.id
    limit batch
    -- Lines that are locked, or whose receipt is, are left to the next run
    for update of l skip locked
    for share of r skip locked
  ), filled_line as (
    update erp.goods_receipt_line_item l set unit_price_in_default_currency = o.price
    from old_line o where o.id = l.id returning l.id
  )
  select count(*)::integer, (array_agg(id order by id desc))[1] from filled_line
$$;
comment on function erp.fill_default_currency_prices(uuid, integer) is
  'Fills in the price in the default currency on old lines of goods receipts, at most as many as the '
  'batch, in the order of their ids, those after the given one. Lines of receipts without a currency '
  'factor stay as they are. Answers how many it filled, and the last of them, after which to go on.';
select api_meta.give('erp.fill_default_currency_prices(uuid, integer)', 'service_keeper');
grant execute on function erp.fill_default_currency_prices(uuid, integer) to service_worker;
--! EndIncluded erp/fill_default_currency_prices.sql
--! Included erp/goods_receipt_process.sql
create or replace function erp.goods_receipt_process(type text) returns text
language sql immutable parallel safe
return case type
  when 'Supplier' then 'supplier_order'
  when 'Customer' then 'return_order'
  else 'free_goods_receipt' end;
comment on function erp.goods_receipt_process(text) is
  'Process of the movements of a goods receipt, by its type.';
grant execute on function erp.goods_receipt_process(text) to service_writer;
--! EndIncluded erp/goods_receipt_process.sql
--! Included erp/hand_over_defaults.sql
create or replace function erp.hand_over_defaults(
  warehouse_id uuid, is_default boolean, is_default_receiving boolean
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if hand_over_defaults.is_default then
    update erp.warehouse w set is_default = false where w.is_default and w.id <> warehouse_id;
  end if;
  if hand_over_defaults.is_default_receiving then
    update erp.warehouse w
    set is_default_receiving = false
    where w.is_default_receiving and w.id <> warehouse_id;
  end if;
end
$$;
comment on function erp.hand_over_defaults(uuid, boolean, boolean) is
  'Takes the marks of being the default from other warehouses, where this one is to have them: there is '
  'exactly one of each.';
grant execute on function erp.hand_over_defaults(uuid, boolean, boolean) to service_writer;
--! EndIncluded erp/hand_over_defaults.sql
--! Included erp/has_open_lines.sql
create or replace function erp.has_open_lines(fulfillment_order_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item l
  where l.fulfillment_order_id = has_open_lines.fulfillment_order_id and l.quantity > l.fulfilled_quantity
    and l.destination_order_line_item_id is not null);
comment on function erp.has_open_lines(uuid) is
  'Whether a fulfillment order has something left to ship. Lines of which the order line was deleted '
  'are not wanted any more.';
grant execute on function erp.has_open_lines(uuid) to service_writer;
--! EndIncluded erp/has_open_lines.sql
--! Included erp/has_variants.sql
create or replace function erp.has_variants(product_id uuid) returns boolean
language sql stable parallel safe
return exists (select from erp.product v where v.parent_id = has_variants.product_id);
comment on function erp.has_variants(uuid) is
  'Whether a product only stands for its variants: some product has it as parent. Nothing new of it is '
  'taken into stock.';
grant execute on function erp.has_variants(uuid) to service_ledger, service_writer;
--! EndIncluded erp/has_variants.sql
--! Included erp/id_between.sql
create or replace function erp.id_between(lower uuid, upper uuid, wanted integer) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  -- The second half of a UUID of version 7: two fixed bits, and 62 random ones
  least_tail constant numeric := -9223372036854775808;
  greatest_tail constant numeric := -4611686018427387905;
  head constant bytea := substring(uuid_send(coalesce(lower, upper)) from 1 for 8);
  first_tail constant numeric :=
    coalesce(substring(uuid_send(lower) from 9)::bigint::numeric + 1, least_tail);
  last_tail constant numeric := case
    when upper > lower is not false and substring(uuid_send(upper) from 1 for 8) = head
      then substring(uuid_send(upper) from 9)::bigint::numeric - 1
    else greatest_tail end;
  -- Evenly, so that there is room again and again; nearly, so that ids can't be guessed
  room constant numeric := div(last_tail - first_tail, wanted + 1);
begin
  return case when room > 0 and last_tail <= greatest_tail
    then encode(
      head || int8send((first_tail + room - div(room, 32) + random(0, div(room, 16)))::bigint), 'hex'
    )::uuid end;
end
$$;
comment on function erp.id_between(uuid, uuid, integer) is
  'A new id after one that is there and before another, of which one may be null, so that as many as are '
  'wanted find room there one after the other. It keeps the moment of the one that it stands beside. Null '
  'when there is no room.';
grant execute on function erp.id_between(uuid, uuid, integer) to service_writer;
--! EndIncluded erp/id_between.sql
--! Included erp/import_exchange_rates.sql
create or replace function erp.import_exchange_rates(reference_date date, rates jsonb, source text)
returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  base constant text := (select c.iso_code from erp.currency c where c.is_default_currency);
  per_euro jsonb;
  known integer;
begin
  if reference_date is null or coalesce(btrim(source), '') = ''
    or coalesce(jsonb_typeof(rates), '') <> 'object'
    or jsonb_path_exists(rates, 'strict $.* ? (@.type() != "number" || @ <= 0)') then
    raise exception 'Exchange rates need a day, a source, and an object from currency to a number above 0.';
  elsif base is null then
    raise exception 'The system has no default currency, which exchange rates refer to.';
  end if;
  per_euro := rates || '{"EUR": 1}';
  if not per_euro ? base then
    raise exception 'The exchange rates of % have none for %, the default currency of the system.',
      reference_date, base;
  end if;
  with rate as (
    select c.id, trim_scale(r.value::numeric / (per_euro ->> base)::numeric) as factor
    from jsonb_each_text(per_euro) r join erp.currency c on c.iso_code = r.key
    where not c.is_default_currency
  ), stored as (
    -- In one order, so that two imports of the same day can't deadlock
    insert into erp.exchange_rate as present (currency_id, reference_date, factor, source)
    select rate.id, import_exchange_rates.reference_date, rate.factor, import_exchange_rates.source
    from rate
    order by rate.id
    on conflict on constraint exchange_rate_pkey do update
    set factor = excluded.factor, imported_at = excluded.imported_at
    where present.factor <> excluded.factor
  )
  select count(*) into known from rate;
  return known;
end
$$;
comment on function erp.import_exchange_rates(date, jsonb, text) is
  'Stores the exchange rates of a day, given as units per euro, as units per unit of the default '
  'currency, for each currency that the system knows. A day that is imported again is corrected. '
  'Answers for how many currencies there is a rate.';
select api_meta.give('erp.import_exchange_rates(date, jsonb, text)', 'service_keeper');
grant execute on function erp.import_exchange_rates(date, jsonb, text) to service_worker;
--! EndIncluded erp/import_exchange_rates.sql
--! Included erp/insert_document.sql
create or replace function erp.insert_document(order_id uuid, document_type text, referenced erp.document,
  parts erp.document_part[],
  fulfillments uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(
    encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_'
  );
  kind erp.document_type;
  number text;
  snapshot jsonb;
  missing text[];
  new_id uuid;
begin
  select * into strict kind from erp.document_type t where t.technical_name = document_type;
  number := erp.next_number(kind.number_range);
  select c.config
  into strict snapshot
  from erp.document_config(order_id, document_type, number, (now() at time zone 'UTC')::date,
    erp.document_locale(order_id), referenced.document_number, referenced.config, parts, fulfillments) c;
  if jsonb_path_exists(snapshot, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  end if;
  insert into erp.document (
    document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config
  )
  values (kind.id, insert_document.order_id, referenced.id, number, code, snapshot)
  returning id into new_id;
  missing := erp.missing_in_document(snapshot);
  if cardinality(missing) > 0 then
    perform mutation.warn('DOCUMENT_INCOMPLETE',
      format('%s lacks what the law asks for: %s.', number, array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', number, 'documentType', document_type, 'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]) is
  'Inserts a document of an order: with the next number of its type, a random code for its address, and '
  'all that it shows, see erp.document_config. Warning DOCUMENT_INCOMPLETE.';
grant execute on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[])
  to service_writer;
--! EndIncluded erp/insert_document.sql
--! Included erp/is_called_off.sql
create or replace function erp.is_called_off(order_line_item_id uuid, location_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
  where a.destination_order_line_item_id = is_called_off.order_line_item_id
    and a.quantity > a.fulfilled_quantity
    and f.state = 'Cancelled' and f.source_warehouse_location_id = is_called_off.location_id);
comment on function erp.is_called_off(uuid, uuid) is
  'Whether a fulfillment order was cancelled by which a location was to ship units of a line of an order. '
  'They are shipped from there only on request.';
grant execute on function erp.is_called_off(uuid, uuid) to service_writer;
--! EndIncluded erp/is_called_off.sql
--! Included erp/is_cancelled_invoice.sql
create or replace function erp.is_cancelled_invoice(invoice_id uuid) returns boolean
language sql stable
return exists (
  select from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.referenced_document_id = is_cancelled_invoice.invoice_id and t.technical_name = 'storno');
comment on function erp.is_cancelled_invoice(uuid) is 'Whether an invoice was cancelled by a storno.';
grant execute on function erp.is_cancelled_invoice(uuid) to service_writer;
--! EndIncluded erp/is_cancelled_invoice.sql
--! Included erp/is_locale.sql
create or replace function erp.is_locale(code text) returns boolean
language sql immutable strict parallel safe
return code ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$';
comment on function erp.is_locale(text) is
  'Whether a text has the form of a locale: a language, perhaps with script and region, such as de or de-AT.';
grant execute on function erp.is_locale(text) to service_writer;
--! EndIncluded erp/is_locale.sql
--! Included erp/keep_currency_factor.sql
create or replace function erp.keep_currency_factor() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.stock_valuation_report_goods_receipt v where v.goods_receipt_id = new.id) then
    perform mutation.refuse(
      'CURRENCY_FACTOR_LOCKED', 'A stock valuation report counts with this exchange rate.',
      '{currency_factor}'
    );
  end if;
  update erp.goods_receipt_line_item l
  set unit_price_in_default_currency = erp.in_default_currency(l.unit_price, new.currency_factor)
  where l.goods_receipt_id = new.id and l.unit_price is not null;
  return null;
end
$$;
comment on function erp.keep_currency_factor() is
  'Trigger after the exchange rate of a goods receipt changed: refuses when a stock valuation report counts '
  'with it, and converts the lines again.';
--! EndIncluded erp/keep_currency_factor.sql
--! Included erp/keep_default_currency_price.sql
create or replace function erp.keep_default_currency_price() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.unit_price_in_default_currency := erp.in_default_currency(new.unit_price,
    (select r.currency_factor from erp.goods_receipt r where r.id = new.goods_receipt_id));
  return new;
end
$$;
comment on function erp.keep_default_currency_price() is
  'Trigger: gives a line of a goods receipt its unit price in the default currency, by the factor of '
  'the receipt.';
--! EndIncluded erp/keep_default_currency_price.sql
--! Included erp/keep_purchase_prices.sql
create or replace function erp.keep_purchase_prices() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  products uuid[];
begin
  -- Each side writes only differences, so the copying back and forth ends
  if tg_table_name = 'product_supplier_price' then
    if tg_op = 'INSERT' then
      products := array(select distinct c.product_id from changed p join erp.product_supplier_configuration c
        on c.id = p.product_supplier_configuration_id where c.supplier_is_default);
    elsif tg_op = 'DELETE' then
      products := array(select distinct c.product_id from gone p join erp.product_supplier_configuration c
        on c.id = p.product_supplier_configuration_id where c.supplier_is_default);
    else
      products := array(select distinct c.product_id
        from (select g.product_supplier_configuration_id from gone g
        union select n.product_supplier_configuration_id from changed n) p
        join erp.product_supplier_configuration c on c.id = p.product_supplier_configuration_id
        where c.supplier_is_default);
    end if;
    perform erp.copy_supplier_prices(products) where products <> '{}';
  elsif tg_table_name = 'product_purchase_price' then
    if tg_op = 'INSERT' then
      products := array(select distinct p.product_id from changed p);
    elsif tg_op = 'DELETE' then
      products := array(select distinct p.product_id from gone p);
    else
      products := array(select p.product_id from gone p union select n.product_id from changed n);
    end if;
    perform erp.copy_product_prices(products) where products <> '{}';
  elsif tg_op = 'INSERT' then
    products := array(select distinct c.product_id from changed c where c.supplier_is_default);
    -- A new default supplier without prices removes nothing; its prices follow
    perform erp.copy_supplier_prices(array(select c.product_id from erp.product_supplier_configuration c
      where c.supplier_is_default and c.product_id = any (products)
        and exists (
          select from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id
        )));
  else
    products := array(select distinct n.product_id from changed n join gone g on g.id = n.id
      where n.supplier_is_default and not g.supplier_is_default);
    perform erp.copy_supplier_prices(products) where products <> '{}';
  end if;
  return null;
end
$$;
comment on function erp.keep_purchase_prices() is
  'Trigger: keeps the purchase prices of products and of their default suppliers in step, in both '
  'directions.';
select api_meta.give('erp.keep_purchase_prices()', 'service_writer');
--! EndIncluded erp/keep_purchase_prices.sql
--! Included erp/line_ids.sql
create or replace function erp.line_ids(given uuid[]) returns uuid[]
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  ids uuid[] := given;
  next_kept integer := 0;
begin
  for i in 1 .. cardinality(given) loop
    continue when given[i] is not null;
    if next_kept is not null and next_kept < i then
      select min(g.ordinality) into next_kept from unnest(given) with ordinality g (id, ordinality)
      where g.ordinality > i and g.id is not null;
    end if;
    ids[i] := coalesce(
      case when next_kept is not null then erp.id_between(ids[i - 1], given[next_kept], next_kept - i) end,
      uuidv7());
  end loop;
  return ids;
end
$$;
comment on function erp.line_ids(uuid[]) is
  'The ids of lines that are to stand in this order, of which some are there already: null stands for a '
  'new one. Lists are ordered by id, so new lines get ids between those of their neighbours. Lines that '
  'are there keep theirs.';
grant execute on function erp.line_ids(uuid[]) to service_writer;
--! EndIncluded erp/line_ids.sql
--! Included erp/localized.sql
create or replace function erp.localized(texts jsonb) returns text
language sql stable parallel safe
return coalesce(texts ->> pg_catalog.current_setting('service.locale', true), texts ->> 'en-GB');
comment on function erp.localized(jsonb) is
  'The text of an erp.localized_text in the locale of the request (setting service.locale), or in '
  'en-GB, which every text has.';
grant execute on function erp.localized(jsonb) to service_api, service_writer;
--! EndIncluded erp/localized.sql
--! Included erp/location_of_warehouse.sql
create or replace function erp.location_of_warehouse(warehouse_id uuid, field text[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted uuid;
begin
  perform from erp.warehouse w where w.id = location_of_warehouse.warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', field);
  end if;
  select l.id into wanted from erp.location l
  where l.warehouse_id = location_of_warehouse.warehouse_id and l.active for key share;
  if not found then
    perform mutation.refuse('INVALID', 'The warehouse has no active location to ship from.', field);
  end if;
  return wanted;
end
$$;
comment on function erp.location_of_warehouse(uuid, text[]) is
  'The active location of a warehouse, from which orders are shipped; it is kept from deletion until '
  'the end of the transaction. User errors NOT_FOUND, INVALID.';
grant execute on function erp.location_of_warehouse(uuid, text[]) to service_writer;
--! EndIncluded erp/location_of_warehouse.sql
--! Included erp/lock_fulfillment_order.sql
create or replace function erp.lock_fulfillment_order(fulfillment_order_id uuid, field text[])
returns erp.fulfillment_order
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
    perform mutation.refuse_missing('fulfillment order', field);
  end if;
  if present.type = 'ExternalToOrder' then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'Somebody else works on this fulfillment order.', field);
  end if;
  return present;
end
$$;
comment on function erp.lock_fulfillment_order(uuid, text[]) is
  'Takes the locks of a fulfillment order and its order, and answers it. User errors NOT_FOUND, '
  'EXTERNALLY_MANAGED.';
grant execute on function erp.lock_fulfillment_order(uuid, text[]) to service_writer;
--! EndIncluded erp/lock_fulfillment_order.sql
--! Included erp/lock_goods_receipt.sql
create or replace function erp.lock_goods_receipt(goods_receipt_id uuid) returns erp.goods_receipt
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.goods_receipt;
begin
  select * into present from erp.goods_receipt r where r.id = goods_receipt_id for no key update;
  if not found then
    perform mutation.refuse_missing('goods receipt', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_goods_receipt(uuid) is
  'A goods receipt, kept from others until the end of the transaction. User error NOT_FOUND.';
grant execute on function erp.lock_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/lock_goods_receipt.sql
--! Included erp/lock_order_to_ship.sql
create or replace function erp.lock_order_to_ship(order_id uuid) returns erp.sales_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
begin
  select * into present from erp.sales_order o where o.id = order_id for no key update;
  if not found then
    perform mutation.refuse_missing('order', '{order_id}');
  end if;
  if present.state <> 'in_progress' then
    perform erp.next_state('order', 'process', present.state);
  end if;
  perform ledger.lock_orders(
    '{}', array(select f.id from erp.fulfillment_order f where f.destination_order_id = present.id)
  );
  return present;
end
$$;
comment on function erp.lock_order_to_ship(uuid) is
  'Takes the locks of an order and its fulfillment orders, and answers the order, which can be worked '
  'on. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
grant execute on function erp.lock_order_to_ship(uuid) to service_writer;
--! EndIncluded erp/lock_order_to_ship.sql
--! Included erp/lock_orders_named.sql
create or replace function erp.lock_orders_named(lines erp.goods_receipt_line[], order_ids uuid[])
  returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant uuid[] := array(
    select n.id from erp.orders_named(lines, order_ids) n group by n.id order by min(n."position"));
begin
  -- Their supplier, currency and prices can't change until the lines that depend on them are written
  perform from erp.supplier_order o where o.id = any (named) order by o.id for share;
  return named;
end
$$;
comment on function erp.lock_orders_named(erp.goods_receipt_line[], uuid[]) is
  'The supplier orders that a goods receipt names, first for itself and then by its lines, in this order; '
  'kept from changes until the end of the transaction.';
grant execute on function erp.lock_orders_named(erp.goods_receipt_line[], uuid[]) to service_writer;
--! EndIncluded erp/lock_orders_named.sql
--! Included erp/lock_product_supplier_configuration.sql
create or replace function erp.lock_product_supplier_configuration(configuration_id uuid)
returns erp.product_supplier_configuration
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.product_supplier_configuration;
begin
  select * into present from erp.product_supplier_configuration c where c.id = configuration_id;
  if not found then
    perform mutation.refuse_missing('assignment', '{id}');
  end if;
  -- Only one supplier of a product is changed at a time, because one of them is the default
  perform ledger.lock(array[present.product_id]);
  select *
  into present
  from erp.product_supplier_configuration c
  where c.id = configuration_id for no key update;
  if not found then
    perform mutation.refuse_missing('assignment', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_product_supplier_configuration(uuid) is
  'How a supplier sells a product, kept from others together with the product until the end of the '
  'transaction. User error NOT_FOUND.';
grant execute on function erp.lock_product_supplier_configuration(uuid) to service_writer;
--! EndIncluded erp/lock_product_supplier_configuration.sql
--! Included erp/lock_supplier_order.sql
create or replace function erp.lock_supplier_order(supplier_order_id uuid) returns erp.supplier_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_order erp.supplier_order;
begin
  select * into found_order from erp.supplier_order o where o.id = supplier_order_id for no key update;
  if not found then
    perform mutation.refuse_missing('supplier order', '{id}');
  end if;
  return found_order;
end
$$;
comment on function erp.lock_supplier_order(uuid) is
  'A supplier order, kept from others until the end of the transaction. User error NOT_FOUND.';
grant execute on function erp.lock_supplier_order(uuid) to service_writer;
--! EndIncluded erp/lock_supplier_order.sql
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
--! Included erp/make_default_supplier.sql
create or replace function erp.make_default_supplier(configuration_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update erp.product_supplier_configuration c set supplier_is_default = false
  where c.supplier_is_default and c.id <> configuration_id
    and c.product_id
      = (select o.product_id from erp.product_supplier_configuration o where o.id = configuration_id);
  update erp.product_supplier_configuration c
  set supplier_is_default = true
  where c.id = configuration_id and not c.supplier_is_default;
end
$$;
comment on function erp.make_default_supplier(uuid) is
  'Makes a supplier the default of its product, in place of the one that was.';
grant execute on function erp.make_default_supplier(uuid) to service_writer;
--! EndIncluded erp/make_default_supplier.sql
--! Included erp/match_order_lines.sql
create or replace function erp.match_order_lines(orders mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select o.line * 1000 + l.n as line, o.id as order_id, l.n, l.value as given, %s as defaults
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
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id, 'position', m.n) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier, w.storefront_id, (m.i).product_number, w.label)) end || case
        when not m.given ? 'total_price' and m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', round(w.unit_price * w.quantity, 2)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from known m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else m.p end, m.given - 'id') w
    $q$, mutation.defaults_of('erp.sales_order_line_item'))
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'The lines that rows of an upsert of orders give, as rows of an upsert themselves; the place of a line '
  'is a '
  'thousand times that of its order, and its own. A line is known by its id, its storefrontId or its '
  'identifier, within its order.';
grant execute on function erp.match_order_lines(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included erp/missing_in_document.sql
create or replace function erp.missing_in_document(config jsonb) returns text[]
language sql immutable
return case when config ->> 'documentType' = 'delivery_note' then '{}'::text[] else array(
  select m.name from (values
    (1, 'merchant.legalName', config #>> '{seller,legalName}'),
    (
      2, 'merchant.address',
      coalesce(config #>> '{seller,address,street}', config #>> '{seller,address,city}')
    ),
    (3, 'merchant.vatId', coalesce(config #>> '{seller,vatId}', config #>> '{seller,taxNumber}')),
    (
      4, 'order.billingAddress',
      coalesce(config #>> '{billingAddress,lastName}', config #>> '{billingAddress,company}')
    ),
    (
      5, 'order.taxExemption',
      case when config ->> 'taxStatus' = 'tax-free' then config ->> 'taxExemption' else '' end
    )
  ) m (n, name, value) where m.value is null order by m.n) end;
comment on function erp.missing_in_document(jsonb) is
  'What a document about money lacks that the law asks for: settings of the merchant (table '
  'erp.merchant), the name in the billing address, or the reason why there is no tax. Bank details are '
  'left out where there are none; they need not be there.';
grant execute on function erp.missing_in_document(jsonb) to service_writer;
--! EndIncluded erp/missing_in_document.sql
--! Included erp/move_supplier_order.sql
create or replace function erp.move_supplier_order(
  supplier_order_id uuid, action text, changes jsonb default '{}'
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
  new_state constant text := erp.next_state('supplier_order', action, present.state);
  wanted constant erp.supplier_order := jsonb_populate_record(present, changes - 'id');
begin
  -- Orders that were sent are still received, and so are confirmed
  if present.state = 'open' and action in ('send', 'confirm') then
    perform erp.require_placeable(present);
  end if;
  update erp.supplier_order o
  set state = new_state, supplier_order_number = wanted.supplier_order_number,
    delivery_date = wanted.delivery_date
  where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.move_supplier_order(uuid, text, jsonb) is
  'Does an action of the machine supplier_order, and notes what the supplier said with it: its own '
  'number, the date of delivery. Answers the id. User errors INVALID_STATE_TRANSITION; REQUIRED and '
  'SUPPLIER_INACTIVE when an order is placed.';
grant execute on function erp.move_supplier_order(uuid, text, jsonb) to service_writer;
--! EndIncluded erp/move_supplier_order.sql
--! Included erp/next_number.sql
create or replace function erp.next_number(number_range text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.number_range;
begin
  select * into present from erp.number_range r where r.technical_name = number_range;
  if present.sequence is not null then
    return replace(present.pattern, '{n}', nextval(present.sequence)::text);
  end if;
  update erp.number_range r set last_number = r.last_number + 1 where r.technical_name = number_range
  returning r.* into present;
  if not found then
    raise exception 'There is no number range %.', number_range using errcode = 'no_data_found';
  end if;
  return replace(present.pattern, '{n}', present.last_number::text);
end
$$;
comment on function erp.next_number(text) is
  'The next number of a range. Without a sequence it has no gaps: other transactions wait until the number '
  'is committed or given back.';
grant execute on function erp.next_number(text) to service_writer;
--! EndIncluded erp/next_number.sql
--! Included erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
grant execute on function erp.next_state(text, text, text) to service_writer, service_booker;
--! EndIncluded erp/next_state.sql
--! Included erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea)
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison reveals nothing about the code. An unknown
  -- id takes the same path, with a hash that no code has.
  if sha256(nonce || presented_hash) is distinct from sha256(
    nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)
  ) then
    return;
  end if;
  return query select d.document_number, d.config, d.static, d.content,
    d.content_type from erp.document d where d.id = open_document.id;
end
$$;
comment on function erp.open_document(uuid, bytea) is
  'The document with this id and the SHA-256 of this deep link code, or no row. Takes a hash, so that '
  'no code gets into a log of Postgres, and any code can be asked about.';
select api_meta.give('erp.open_document(uuid, bytea)', 'service_document');
--! EndIncluded erp/open_document.sql
--! Included erp/open_picks.sql
create or replace function erp.open_picks(order_id uuid) returns ledger.pick[]
language sql stable
return array(
  select row (
    '{order_id}', l.id, l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity, null, null, null
  )::ledger.pick
  from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
  left join erp.location w on w.id = f.source_warehouse_location_id
  where f.destination_order_id = open_picks.order_id and f.type = 'WarehouseLocationToOrder'
    and f.state in ('Open', 'InProgress')
    and l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null
  order by l.id);
comment on function erp.open_picks(uuid) is
  'What the open fulfillment orders of an order are to ship from the warehouses of the merchant, as '
  'picks of ledger.ship.';
grant execute on function erp.open_picks(uuid) to service_writer;
--! EndIncluded erp/open_picks.sql
--! Included erp/open_transactions.sql
create or replace function erp.open_transactions() returns text
-- Not in parallel, because it makes a setting
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
  seen constant pg_snapshot := pg_current_snapshot();
  oldest constant bigint := pg_snapshot_xmin(seen)::text::bigint;
  beyond constant bigint := pg_snapshot_xmax(seen)::text::bigint;
  answered constant text := coalesce(current_setting('service.open_transactions', true), '');
  begun integer;
  answer text := '';
begin
  if split_part(answered, ' ', 1) = seen::text then
    return split_part(answered, ' ', 2);
  elsif answered <> '' or pg_current_xact_id_if_assigned() is not null then
    -- Postgres would not tell which transactions have begun since then, and rows would be lost.
    raise exception 'Pages of lists that are followed are read by one statement in a transaction of its own.'
      using errcode = 'invalid_transaction_state';
  end if;
  -- The number of transactions that are newer than the newest ended one. They are open, but not in the
  -- snapshot's list.
  begun := age((pg_snapshot_xmax(seen))::xid);
  if oldest < beyond or begun > 0 then
    answer := '~' || oldest
      || coalesce(
        (select string_agg('.' || x::text::bigint - oldest, '' order by x) from pg_snapshot_xip(seen) x), ''
      )
      || case when begun > 0 then format('-%s.%s', beyond - oldest, begun) else '' end;
  end if;
  perform set_config('service.open_transactions', seen::text || ' ' || answer, true);
  return answer;
end
$$;
comment on function erp.open_transactions() is
  'The transactions that were open when the statement began to read, as they stand in cursors: empty '
  'when there are none; else ~, the number of the oldest, and, all relative to it, a number for each '
  'after a dot, then, after a hyphen, the first and the count of those that came last. Some of these '
  'may be parts of others. All databases count.';
grant execute on function erp.open_transactions() to service_api, service_writer;
--! EndIncluded erp/open_transactions.sql
--! Included erp/orders_named.sql
-- Data of a goods receipt from the supplier orders that its lines name

create or replace function erp.orders_named(lines erp.goods_receipt_line[], order_ids uuid[])
returns table (id uuid, field text[], "position" bigint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select o.id, '{supplier_order_ids}'::text[], o.ordinality
  from unnest(order_ids) with ordinality o (id, ordinality)
  union all
  select coalesce(i.supplier_order_id, l.supplier_order_id), array['line_items', (l.ordinality - 1)::text,
    case when l.supplier_order_line_item_id is null then 'supplier_order_id'
      else 'supplier_order_line_item_id' end],
    cardinality(order_ids) + l.ordinality
  from unnest(lines) with ordinality l
  left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
  where num_nonnulls(i.supplier_order_id, l.supplier_order_id) > 0;
end;
comment on function erp.orders_named(erp.goods_receipt_line[], uuid[]) is
  'The supplier orders that a goods receipt names, for itself and by its lines, with the way to each in '
  'the input.';
grant execute on function erp.orders_named(erp.goods_receipt_line[], uuid[]) to service_writer;
--! EndIncluded erp/orders_named.sql
--! Included erp/other_location.sql
create or replace function erp.other_location(order_id uuid, lines ledger.change[]) returns uuid
language sql stable
begin atomic
  select l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where l.active and w.is_stock_available_for_sale
    and not exists (select from unnest(lines) u where erp.is_called_off(u.owner_id, l.id))
    and not exists (
      select from (
        select u.item_id as product_id, sum(u.quantity) as quantity
        from unnest(lines) u
        where u.item_id is not null
        group by 1
      ) n
      left join ledger.warehouse_stock s on s.product_id = n.product_id and s.warehouse_id = w.id
      where coalesce(s.quantity - s.reserved_quantity, 0) < n.quantity)
  order by not exists (
      select from erp.fulfillment_order f where f.destination_order_id = other_location.order_id
        and f.source_warehouse_location_id = l.id and f.state in ('Open', 'InProgress')),
    w.code, l.id
  limit 1;
end;
comment on function erp.other_location(uuid, ledger.change[]) is
  'A location from which units of lines can be shipped that were called off elsewhere: its warehouse '
  'sells its stock, and has all of them beside what it is to ship already. One that ships something of '
  'the order anyway comes first, then the order is that of the codes of the warehouses. Null when there '
  'is none.';
grant execute on function erp.other_location(uuid, ledger.change[]) to service_writer;
--! EndIncluded erp/other_location.sql
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
      case
        when p.warehouse_id is not null then 'warehouse'
        when p.bin_location_id is not null then 'bin_location' end,
      coalesce(p.warehouse_id, p.bin_location_id)::text, p.batch_id)::ledger.pick
    from unnest(lines) with ordinality l join erp.fulfillment_order_line_item a on a.id = l.id
    left join unnest(places) p on p.line = l.ordinality order by l.ordinality, p.nth
  );
end
$$;
comment on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]) is
  'Lines of a fulfillment order, or all that is open of it when lines is null, as picks of ledger.ship '
  'that have no warehouse yet. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION.';
grant execute on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[])
  to service_writer;
--! EndIncluded erp/picks_of.sql
--! Included erp/plan_uncovered.sql
create or replace function erp.plan_uncovered(order_id uuid, warehouse_id uuid) returns erp.assignment[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered constant ledger.change[] := erp.uncovered_lines(order_id);
  home uuid;
  called_off ledger.change[];
  elsewhere uuid;
begin
  if cardinality(uncovered) = 0 then
    return '{}';
  elsif warehouse_id is not null then
    home := erp.location_of_warehouse(warehouse_id, '{warehouse_id}');
    return array(
      select row (home, u.owner_id, u.item_id, u.quantity)::erp.assignment from unnest(uncovered) u
    );
  end if;
  select l.id into home from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where w.is_default and l.active for key share of l;
  called_off := array(select u from unnest(uncovered) u where erp.is_called_off((u).owner_id, home));
  if cardinality(called_off) > 0 then
    elsewhere := erp.other_location(order_id, called_off);
    perform from erp.location l where l.id = elsewhere for key share;
    if not found then
      perform mutation.refuse('INSUFFICIENT_STOCK',
        'What was called off at the default warehouse is not shipped from there, '
        'and no other warehouse has all of it.', '{order_id}',
        jsonb_build_object('requested', (select sum(c.quantity) from unnest(called_off) c)));
    end if;
  end if;
  if home is null and cardinality(called_off) < cardinality(uncovered) then
    perform mutation.refuse(
      'INVALID', 'The default warehouse has no active location to ship from.', '{order_id}'
    );
  end if;
  return array(
    select row (
      case when u = any (called_off) then elsewhere else home end, u.owner_id, u.item_id, u.quantity
    )::erp.assignment
    from unnest(uncovered) u);
end
$$;
comment on function erp.plan_uncovered(uuid, uuid) is
  'Which locations are to ship what no open fulfillment order has of an order: that of the warehouse '
  'that is named, or else of the default warehouse; and what was called off there, erp.other_location. '
  'They are kept from deletion until the end of the transaction. User errors NOT_FOUND, INVALID, '
  'INSUFFICIENT_STOCK.';
grant execute on function erp.plan_uncovered(uuid, uuid) to service_writer;
--! EndIncluded erp/plan_uncovered.sql
--! Included erp/price_on_receipt.sql
create or replace function erp.price_on_receipt(receipt erp.goods_receipt,
  supplier_order_line_item_id uuid, tax_rate numeric)
returns numeric
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select erp.converted_price(i.unit_price, o.tax_status, i.tax_rate,
    case when o.currency_id = (receipt).currency_id then 1 else f.factor end,
    (receipt).tax_status, coalesce(price_on_receipt.tax_rate, i.tax_rate),
    case when o.currency_id = (receipt).currency_id then 1 else (receipt).currency_factor end)
  from erp.supplier_order_line_item i join erp.supplier_order o on o.id = i.supplier_order_id
  cross join lateral erp.currency_factor_at(o.currency_id, now()) f
  where i.id = price_on_receipt.supplier_order_line_item_id;
end;
comment on function erp.price_on_receipt(erp.goods_receipt, uuid, numeric) is
  'What a unit of a supplier order''s line costs, in the currency and by the tax status of a goods '
  'receipt, whose line may have another tax rate. Currencies are converted by the rate of the receipt and '
  'the present one of the order''s currency.';
grant execute on function erp.price_on_receipt(erp.goods_receipt, uuid, numeric) to service_writer;
--! EndIncluded erp/price_on_receipt.sql
--! Included erp/put_away_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function erp.put_away_place(
  receipt erp.goods_receipt, line erp.goods_receipt_line_item
)
returns table (type text, place text)
language sql stable
begin atomic
  select p.type, p.place from (
    select coalesce(line.destination_bin_location_id,
      (select c.default_bin_location_id from erp.product_warehouse_configuration c
        where c.product_id = line.product_id and c.warehouse_id = receipt.warehouse_id)) as bin
  ) b cross join lateral ledger.place_of(case when b.bin is null then receipt.warehouse_id end, b.bin) p;
end;
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Where a line is put away unless something else is said: its own bin, else the usual bin of the '
  'product in the warehouse, else the warehouse. Lines with a negative quantity are taken from there.';
grant execute on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item)
  to service_writer;
--! EndIncluded erp/put_away_place.sql
--! Included erp/put_away_drafts.sql
create or replace function erp.put_away_drafts(receipt erp.goods_receipt, placements erp.placement[])
returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', (receipt).id::text, d.type,
      d.place,
      erp.goods_receipt_process((receipt).type))::ledger.draft
    from (
      select l.id, l.product_id, l.batch_id, p.quantity, t.type, t.place, p.line as "position"
      from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
      cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id) t
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
    ) d where d.product_id is not null order by d.id, d."position"
  );
end;
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) is
  'The movements that complete a goods receipt: from its place to where its lines are put away, and '
  'what is to be thrown away to stock_correction; what its lines take back to where that goes.';
grant execute on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) to service_writer;
--! EndIncluded erp/put_away_drafts.sql
--! Included erp/receipt_type.sql
create or replace function erp.receipt_type(receipt erp.goods_receipt, lines erp.goods_receipt_line[],
  order_ids uuid[])
returns text
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when cardinality(order_ids) > 0
      or bool_or(num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0) then 'Supplier'
    when (receipt).customer_id is not null or bool_or(l.return_order_id is not null) then 'Customer'
    else 'Free' end
  from unnest(lines) l;
end;
comment on function erp.receipt_type(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'The default type of a goods receipt, by the supplier orders or return orders that it names.';
grant execute on function erp.receipt_type(erp.goods_receipt, erp.goods_receipt_line[], uuid[])
  to service_writer;
--! EndIncluded erp/receipt_type.sql
--! Included erp/refuse_nothing_to_ship.sql
create or replace function erp.refuse_nothing_to_ship(present erp.sales_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold')
      and erp.has_open_lines(f.id)
  ) then
    perform mutation.refuse(
      'EXTERNALLY_MANAGED', 'What is left to ship is shipped by somebody else.', '{order_id}'
    );
  end if;
  perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{order_id}',
    jsonb_build_object(
      'state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)
    ));
end
$$;
comment on function erp.refuse_nothing_to_ship(erp.sales_order) is
  'Says why nothing of an order can be shipped. User errors EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION.';
grant execute on function erp.refuse_nothing_to_ship(erp.sales_order) to service_writer;
--! EndIncluded erp/refuse_nothing_to_ship.sql
--! Included erp/require_active_supplier.sql
create or replace function erp.require_active_supplier(supplier_id uuid, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.supplier s where s.id = require_active_supplier.supplier_id and not s.active)
  then
    perform mutation.refuse(
      'SUPPLIER_INACTIVE', 'The shop orders nothing from this supplier any more.', field
    );
  end if;
end
$$;
comment on function erp.require_active_supplier(uuid, text[]) is
  'Refuses a supplier that the shop no longer orders from. User error SUPPLIER_INACTIVE.';
grant execute on function erp.require_active_supplier(uuid, text[]) to service_writer;
--! EndIncluded erp/require_active_supplier.sql
--! Included erp/require_assignable_lines.sql
create or replace function erp.require_assignable_lines(order_id uuid, lines erp.shipping_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered constant ledger.change[] := erp.uncovered_lines(order_id);
  errors jsonb;
begin
  select jsonb_agg(case
    when s.id is null then mutation.user_error('NOT_FOUND', 'The order has no such line.',
      mutation.path('lines', l.ordinality, 'order_line_item_id'))
    when s.type is distinct from 'product'
      then mutation.user_error('INVALID', 'Nothing of this line is shipped: it is no product.',
      mutation.path('lines', l.ordinality, 'order_line_item_id'))
    else mutation.user_error('OVER_FULFILLMENT',
      format('%s units are open that no fulfillment order has, not %s.', coalesce(u.quantity, 0), l.quantity),
      mutation.path('lines', l.ordinality, 'quantity'),
        jsonb_build_object('open', coalesce(u.quantity, 0), 'requested', l.quantity))
    end order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  left join erp.sales_order_line_item s on s.id = l.id and s.order_id = require_assignable_lines.order_id
  left join unnest(uncovered) u on u.owner_id = l.id
  where s.id is null or s.type is distinct from 'product' or l.quantity > coalesce(u.quantity, 0);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_assignable_lines(uuid, erp.shipping_line[]) is
  'Refuses lines of an order of which fewer units are open that no fulfillment order has. User errors '
  'NOT_FOUND, INVALID, OVER_FULFILLMENT.';
grant execute on function erp.require_assignable_lines(uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/require_assignable_lines.sql
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
--! Included erp/require_default_warehouse.sql
create or replace function erp.require_default_warehouse() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.warehouse) and not (
    exists (select from erp.warehouse where is_default)
      and exists (select from erp.warehouse where is_default_receiving)
  ) then
    raise exception 'One warehouse must be the default, and one the default for receiving.'
      using errcode = 'integrity_constraint_violation', constraint = 'warehouse_has_its_defaults',
        schema = 'erp', table = 'warehouse';
  end if;
  return null;
end
$$;
comment on function erp.require_default_warehouse() is
  'Constraint trigger: as soon as there are warehouses, one is the default and one the default for '
  'receiving. That no two are is a unique index.';
--! EndIncluded erp/require_default_warehouse.sql
--! Included erp/require_documents.sql
create or replace function erp.require_documents(documents text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return;
  end if;
  select jsonb_agg(mutation.user_error(case when d.nth > 1 then 'NOT_UNIQUE' else 'INVALID' end,
    case
      when d.nth > 1 then 'This type is in the list already.'
      else format('There is no type of documents named %s.', d.name) end,
    mutation.path('documents', d.position)) order by d.position)
  into errors
  from (
    select d.name, d.position, row_number() over (partition by d.name order by d.position) as nth
    from unnest(documents) with ordinality d (name, position)
  ) d
  where d.nth > 1 or not exists (select from erp.document_type t where t.technical_name = d.name);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_documents(text[]) is
  'Refuses names of document types that are none, or there twice. User errors INVALID, NOT_UNIQUE.';
grant execute on function erp.require_documents(text[]) to service_writer;
--! EndIncluded erp/require_documents.sql
--! Included erp/require_one_supplier.sql
create or replace function erp.require_one_supplier() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  receipts uuid[];
  mixed text;
begin
  if tg_table_name = 'goods_receipt' then
    receipts := array[new.id];
  elsif tg_table_name = 'supplier_order' then
    receipts := array(
      select l.goods_receipt_id from erp.goods_receipt_line_item l where l.supplier_order_id = new.id
      union select l.goods_receipt_id from erp.goods_receipt_supplier_order l
        where l.supplier_order_id = new.id);
  elsif tg_table_name = 'goods_receipt_supplier_order' then
    receipts := array(select distinct c.goods_receipt_id from changed c);
  else
    -- Earlier links of a receipt are accepted
    receipts := array(
      select distinct c.goods_receipt_id from changed c where c.supplier_order_id is not null
        and not exists (
        select from erp.goods_receipt_supplier_order l
        where l.goods_receipt_id = c.goods_receipt_id and l.supplier_order_id = c.supplier_order_id));
  end if;
  if receipts = '{}' then
    return null;
  end if;
  select r.number into mixed
  from erp.goods_receipt r cross join lateral (
    select r.supplier_id as id
    union select o.supplier_id from erp.goods_receipt_line_item l join erp.supplier_order o
      on o.id = l.supplier_order_id
      where l.goods_receipt_id = r.id
    union select o.supplier_id from erp.goods_receipt_supplier_order l join erp.supplier_order o
      on o.id = l.supplier_order_id
      where l.goods_receipt_id = r.id
  ) s where r.id = any (receipts) group by r.id having count(s.id) > 1 limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH',
      format('Goods receipt %s would deliver orders of several suppliers.', mixed));
  end if;
  return null;
end
$$;
comment on function erp.require_one_supplier() is
  'Trigger: refuses that a goods receipt delivers orders of another supplier than its own, or of several, '
  'for every writer. Orders and receipts whose supplier has been deleted contradict nothing. User error '
  'SUPPLIER_MISMATCH.';
select api_meta.give('erp.require_one_supplier()', 'service_writer');
--! EndIncluded erp/require_one_supplier.sql
--! Included erp/require_placeable.sql
create or replace function erp.require_placeable(present erp.supplier_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from erp.supplier_order_line_item i where i.supplier_order_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The order has no lines.', '{id}');
  end if;
  perform erp.require_active_supplier(present.supplier_id, '{id}');
end
$$;
comment on function erp.require_placeable(erp.supplier_order) is
  'Refuses to place an order that is empty, or whose supplier the shop no longer orders from. User '
  'errors REQUIRED, SUPPLIER_INACTIVE.';
grant execute on function erp.require_placeable(erp.supplier_order) to service_writer;
--! EndIncluded erp/require_placeable.sql
--! Included erp/require_places.sql
create or replace function erp.require_places(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(
      e.code, e.message, mutation.path('lines', e.line) || mutation.path('places', e.nth) || e.field
    ) order by e.line,
    e.nth
  )
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
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p
    left join erp.bin_location b on b.id = p.bin_location_id
    left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could lie there.', '{place}'
    from unnest(places) p
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p
    where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that units of lines cannot be taken from by a warehouse. User errors '
  'NOT_FOUND, INVALID, BATCH_MISMATCH.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
--! Included erp/require_receipts_of_supplier.sql
create or replace function erp.require_receipts_of_supplier(supplier_order_id uuid, supplier_id uuid)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  receipt text;
begin
  select r.number into receipt from erp.goods_receipt r
  where r.supplier_id <> require_receipts_of_supplier.supplier_id and r.id in (
    select l.goods_receipt_id from erp.goods_receipt_line_item l
      where l.supplier_order_id = require_receipts_of_supplier.supplier_order_id
    union select l.goods_receipt_id from erp.goods_receipt_supplier_order l
      where l.supplier_order_id = require_receipts_of_supplier.supplier_order_id)
  order by r.id limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH',
      format('Goods receipt %s receives this order from the present supplier.', receipt),
      '{supplier_id}', jsonb_build_object('goodsReceiptNumber', receipt));
  end if;
end
$$;
comment on function erp.require_receipts_of_supplier(uuid, uuid) is
  'Refuses another supplier for an order that goods receipts of the present one name. User error '
  'SUPPLIER_MISMATCH.';
grant execute on function erp.require_receipts_of_supplier(uuid, uuid) to service_writer;
--! EndIncluded erp/require_receipts_of_supplier.sql
--! Included erp/require_shippable.sql
create or replace function erp.require_shippable(present erp.fulfillment_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  order_state text;
begin
  if present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold.', '{fulfillment_order_id}');
  end if;
  perform erp.next_state('fulfillment_order', 'close', present.state);
  select o.state into order_state from erp.sales_order o where o.id = present.destination_order_id;
  if not found then
    perform mutation.refuse(
      'INVALID', 'Its order has been deleted: there is nobody to ship to.', '{fulfillment_order_id}'
    );
  elsif order_state <> 'in_progress' then
    perform erp.next_state('order', 'process', order_state);
  end if;
end
$$;
comment on function erp.require_shippable(erp.fulfillment_order) is
  'Refuses fulfillment orders of which nothing can be shipped in their state or that of their order. '
  'User errors ON_HOLD, INVALID_STATE_TRANSITION, INVALID.';
grant execute on function erp.require_shippable(erp.fulfillment_order) to service_writer;
--! EndIncluded erp/require_shippable.sql
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
      'REQUIRED', 'At least one line is needed. Leave the list out to fulfill all that is open.', '{lines}'
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
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line is about the same.', array[id_field]
    from (
      select l.*, row_number() over (partition by l.id order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l
    where l.nth > 1
    union all
    select p.line, 'INVALID', 'Name a warehouse or a bin, and not both.',
      mutation.path('places', p.nth, 'place')
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
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
  'Refuses lines and places that are wrong by themselves. The text is the name of the input field of a '
  'line''s id. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, INVALID.';
grant execute on function erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text)
  to service_writer;
--! EndIncluded erp/require_shipping_lines.sql
--! Included erp/require_tracking_codes.sql
create or replace function erp.require_tracking_codes(codes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if coalesce(cardinality(codes), 0) = 0 then
    return;
  elsif cardinality(codes) > most then
    perform mutation.refuse('TOO_MANY_LINES',
      format('There are %s tracking codes; %s are allowed at once.', cardinality(codes), most),
      '{tracking_codes}', jsonb_build_object('lines', cardinality(codes), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error('OUT_OF_RANGE', 'A tracking code has 1 to 255 characters.',
    mutation.path('tracking_codes', c.ordinality))
    order by c.ordinality)
  into errors
  from unnest(codes) with ordinality c (code)
  where c.code is null or length(c.code) > 255 or btrim(c.code) = '';
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_tracking_codes(text[]) is
  'Refuses tracking codes that are none. User errors TOO_MANY_LINES, OUT_OF_RANGE.';
grant execute on function erp.require_tracking_codes(text[]) to service_writer;
--! EndIncluded erp/require_tracking_codes.sql
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
      l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
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
  'Fills in what lines of a goods receipt name in other words: batches by number, made when they are '
  'new, and lines of supplier orders by the order. To be called with lines that have been checked.';
grant execute on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/resolve_goods_receipt_lines.sql
--! Included erp/set_default_supplier.sql
create or replace function erp.set_default_supplier(configuration_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.lock_product_supplier_configuration(configuration_id);
  perform erp.make_default_supplier(configuration_id);
  return configuration_id;
end
$$;
comment on function erp.set_default_supplier(uuid) is
  'Makes a supplier the default of its product. Answers the id of the assignment.';
grant execute on function erp.set_default_supplier(uuid) to service_writer;
--! EndIncluded erp/set_default_supplier.sql
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
    supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
      tax_rate)
  select ids[l.ordinality], target.id, l.product_id, l.batch_id, l.return_order_id, l.supplier_order_id,
    l.supplier_order_line_item_id,
    l.destination_bin_location_id, l.quantity, coalesce(l.planned_disposal_quantity, 0),
    coalesce(l.unit_price,
      case when s.id is not null then erp.price_on_receipt(target, s.id, l.tax_rate) end),
    coalesce(l.tax_rate, s.tax_rate, p.tax_rate)
  from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
  left join erp.supplier_order_line_item s on s.id = l.supplier_order_line_item_id
  order by l.ordinality
  on conflict (id) do update
  set product_id = excluded.product_id, batch_id = excluded.batch_id,
    return_order_id = excluded.return_order_id,
    supplier_order_id = excluded.supplier_order_id,
      supplier_order_line_item_id = excluded.supplier_order_line_item_id,
    destination_bin_location_id = excluded.destination_bin_location_id, quantity = excluded.quantity,
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
  'Makes these the lines of a goods receipt: those with an id are changed, those without are new, '
  'others go. They are listed in this order, as far as lines that are there do not change places. '
  'Prices and tax rates that are left out come from the supplier order, converted where it has another '
  'currency, and from the product. Warns of what the orders do not have open.';
grant execute on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/set_goods_receipt_lines.sql
--! Included erp/with_translations.sql
-- Without settings, so that it becomes a part of the statement that asks
create or replace function erp.translations_of(given jsonb) returns setof jsonb
language sql immutable
begin atomic
  select coalesce(pg_catalog.jsonb_object_agg(t.value ->> 'locale', x.texts), '{}')
  from pg_catalog.jsonb_array_elements(nullif(given, 'null')) t (value)
  cross join lateral (select pg_catalog.jsonb_strip_nulls(t.value - 'locale')) x (texts)
  where x.texts <> '{}';
end;
comment on function erp.translations_of(jsonb) is
  'A list of translations that a caller gives as it is stored. What has no text is left out.';
grant execute on function erp.translations_of(jsonb) to service_writer;

create or replace function erp.with_translations(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('translations', t.texts))
    from unnest(rows) u cross join lateral erp.translations_of(u.given -> 'translations') t (texts)
    where u.given ? 'translations'
  ));
end;
comment on function erp.with_translations(mutation.upsert_row[]) is
  'The rows of an upsert with the translations that they give.';
grant execute on function erp.with_translations(mutation.upsert_row[]) to service_writer;

-- Without settings, so that it becomes a part of the statement that asks
create or replace function erp.translation_faults(line bigint, path text[], given jsonb)
returns setof mutation.row_fault
language sql stable
begin atomic
  with translation as (
    select t.n, t.value ->> 'locale' as locale, t.value - 'locale' as texts,
      row_number() over (partition by t.value ->> 'locale' order by t.n) as nth
    from jsonb_array_elements(nullif(given, 'null')) with ordinality t (value, n)
  )
  select line, f.code, f.message, path || array['translations', (f.n - 1)::text, f.field], null::jsonb
  from (
    select t.n, 'INVALID', 'A locale is a language, perhaps with script and region: de, de-AT, zh-Hant-TW.',
      'locale'
    from translation t where not erp.is_locale(t.locale)
    union all
    select t.n, 'NOT_UNIQUE', 'An earlier translation is in this locale.', 'locale'
    from translation t where t.nth > 1
    union all
    select t.n, 'OUT_OF_RANGE', format('The text has more than %s characters.', m.longest), x.key
    from translation t cross join jsonb_each_text(t.texts) x
    cross join lateral (select case x.key when 'name' then 255 when 'alt_text' then 1000 end) m (longest)
    where length(x.value) > m.longest
    union all
    select 251, 'TOO_MANY_LINES', 'There are more than 250 translations.', 'locale'
    where jsonb_array_length(nullif(given, 'null')) > 250
  ) f (n, code, message, field);
end;
comment on function erp.translation_faults(bigint, text[], jsonb) is
  'What is wrong with translations that a row of an upsert gives, at a path within the row.';
grant execute on function erp.translation_faults(bigint, text[], jsonb) to service_writer;

create or replace function erp.faults_of_translations(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(f)
  from unnest(rows) u
  cross join lateral erp.translation_faults(u.line, '{}', u.given -> 'translations') f
  where u.given ? 'translations';
end;
comment on function erp.faults_of_translations(mutation.upsert_row[]) is
  'What is wrong with the translations that rows of an upsert give.';
grant execute on function erp.faults_of_translations(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/with_translations.sql
--! Included erp/set_images.sql
create or replace function erp.faults_of_images(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with image as materialized (
    select u.line, i.n, i.value ->> 'url' as url, i.value ->> 'alt_text' as alt_text,
      i.value -> 'translations' as translations,
      row_number() over (partition by u.line, i.value ->> 'url' order by i.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> 'images', 'null')) with ordinality i (value, n)
    where u.given ? 'images'
  )
  select array_agg(f.fault)
  from (
    select row (f.line, f.code, f.message, array['images', (f.n - 1)::text, f.field],
      null)::mutation.row_fault
    from (
      select i.line, i.n, 'INVALID', 'The address must begin with https:// or http://, name a host and no '
        'user, and have only characters that addresses have.', 'url'
      from image i where not erp.is_web_address(i.url)
      union all
      select i.line, i.n, 'OUT_OF_RANGE', 'The address has more than 2048 characters.', 'url'
      from image i where length(i.url) > 2048
      union all
      select i.line, i.n, 'NOT_UNIQUE', 'An earlier image has this address.', 'url'
      from image i where i.nth > 1
      union all
      select i.line, i.n, 'OUT_OF_RANGE', 'The text has more than 1000 characters.', 'alt_text'
      from image i where length(i.alt_text) > 1000
      union all
      select i.line, i.n, 'TOO_MANY_LINES', 'There are more than 250 images.', 'url'
      from image i where i.n = 251
    ) f (line, n, code, message, field)
    union all
    select t
    from image i
    cross join lateral erp.translation_faults(i.line, array['images', (i.n - 1)::text], i.translations) t
    where i.translations is not null
  ) f (fault);
end;
comment on function erp.faults_of_images(mutation.upsert_row[]) is
  'What is wrong with the images that rows of an upsert give.';
grant execute on function erp.faults_of_images(mutation.upsert_row[]) to service_writer;

create or replace function erp.set_images(rows mutation.upsert_row[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  with given as (
    select u.id, u.given -> 'images' as images
    from unnest(rows) u where u.errors is null and u.given ? 'images'
  ),
  wanted as (
    select g.id, i.n::int as position, i.value ->> 'url' as url, i.value ->> 'alt_text' as alt_text,
      t.texts as translations
    from given g
    cross join jsonb_array_elements(nullif(g.images, 'null')) with ordinality i (value, n)
    cross join lateral erp.translations_of(i.value -> 'translations') t (texts)
  ),
  gone as (
    delete from erp.product_image i using given g
    where i.product_id = g.id and i.position > coalesce(jsonb_array_length(nullif(g.images, 'null')), 0)
    returning i.product_id
  ),
  made as (
    insert into erp.product_image as i (product_id, position, url, alt_text, translations)
    select w.id, w.position, w.url, w.alt_text, w.translations from wanted w order by w.id, w.position
    on conflict (product_id, position) do update
    set url = excluded.url, alt_text = excluded.alt_text, translations = excluded.translations
    where (i.url, i.alt_text, i.translations)
      is distinct from (excluded.url, excluded.alt_text, excluded.translations)
    returning i.product_id
  )
  select array(select product_id from gone union select product_id from made) into changed;
  return changed;
end
$$;
comment on function erp.set_images(mutation.upsert_row[]) is
  'Makes the lists that rows of an upsert give the images of their products, in this order. Answers the '
  'products of which one has changed.';
grant execute on function erp.set_images(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/set_images.sql
--! Included erp/set_lines_of_goods_receipt.sql
create or replace function erp.set_lines_of_goods_receipt(
  goods_receipt_id uuid, lines erp.goods_receipt_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state not in ('draft', 'created') then
    perform mutation.refuse(
      'NOT_EDITABLE', format('The receipt is %s: its lines cannot be changed any more.', present.state),
      '{id}'
    );
  end if;
  if present.type = 'Supplier' then
    present.supplier_id := coalesce(
      present.supplier_id, (erp.with_orders(present, erp.lock_orders_named(lines, '{}'))).supplier_id
    );
    perform erp.check_receipt_suppliers(present, lines, '{}');
    update erp.goods_receipt r set supplier_id = present.supplier_id
    where r.id = present.id and r.supplier_id is distinct from present.supplier_id;
  end if;
  perform erp.set_goods_receipt_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Makes these the lines of a goods receipt that is not approved yet. A receipt without a supplier '
  'takes that of the supplier orders that they name. Answers its id.';
grant execute on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) to service_writer;
--! EndIncluded erp/set_lines_of_goods_receipt.sql
--! Included erp/set_lines_of_supplier_order.sql
create or replace function erp.set_lines_of_supplier_order(
  supplier_order_id uuid, lines erp.supplier_order_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
begin
  if present.state <> 'open' then
    perform mutation.refuse(
      'NOT_EDITABLE', format('The order is %s: its lines cannot be changed any more.', present.state), '{id}'
    );
  end if;
  perform erp.set_supplier_order_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_supplier_order(uuid, erp.supplier_order_line[]) is
  'Makes these the lines of an open supplier order. Answers its id.';
grant execute on function erp.set_lines_of_supplier_order(uuid, erp.supplier_order_line[]) to service_writer;
--! EndIncluded erp/set_lines_of_supplier_order.sql
--! Included erp/set_prices.sql
create or replace function erp.faults_of_prices(rows mutation.upsert_row[], list text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with price as (
    select u.line, p.n, r.*, row_number() over (partition by u.line, r.currency_id order by p.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> list, 'null')) with ordinality p (value, n)
    cross join lateral jsonb_populate_record(null::erp.price, p.value) r
  )
  select array_agg(
    row (f.line, f.code, f.message, array[list, (f.n - 1)::text, f.field], null)::mutation.row_fault
  )
  from (
    select p.line, p.n, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from price p where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from price p where p.net < 0 or p.gross < 0
    union all
    select p.line, p.n, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from price p where p.nth > 1
    union all
    select u.line, 251, 'TOO_MANY_LINES', 'There are more than 250 prices.', 'currency_id'
    from unnest(rows) u
    where jsonb_array_length(nullif(u.given -> list, 'null')) > 250
  ) f (line, n, code, message, field);
end;
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'What is wrong with the prices that rows of an upsert give in a list.';
grant execute on function erp.faults_of_prices(mutation.upsert_row[], text) to service_writer;

create or replace function erp.set_prices(relation regclass, rows mutation.upsert_row[], list text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  -- One statement, so that a supplier never copies half of the change
  execute format($q$
    with given as (
      select u.id, u.given -> $2 as prices from unnest($1) u where u.errors is null and u.given ? $2
    ),
    wanted as (
      select g.id, r.currency_id, r.net, r.gross, coalesce(r.linked, true) as linked
      from given g
      cross join jsonb_array_elements(nullif(g.prices, 'null')) p (v)
      cross join lateral jsonb_populate_record(null::erp.price, p.v) r
    ),
    gone as (
      delete from %1$s p using given g where p.product_id = g.id and not exists (
        select from wanted w where w.id = p.product_id and w.currency_id = p.currency_id)
      returning p.product_id
    ),
    made as (
      insert into %1$s as p (product_id, currency_id, net, gross, linked)
      select w.id, w.currency_id, w.net, w.gross, w.linked from wanted w order by w.id, w.currency_id
      on conflict (product_id, currency_id) do update
      set net = excluded.net, gross = excluded.gross, linked = excluded.linked
      where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked)
      returning p.product_id
    )
    select array(select product_id from gone union select product_id from made)
    $q$, relation) into changed using rows, list;
  return changed;
end
$$;
comment on function erp.set_prices(regclass, mutation.upsert_row[], text) is
  'Makes the lists that rows of an upsert give the prices of their products, in a table of prices. '
  'Answers the '
  'products of which one has changed.';
grant execute on function erp.set_prices(regclass, mutation.upsert_row[], text) to service_writer;
--! EndIncluded erp/set_prices.sql
--! Included erp/set_product_warehouse_configuration.sql
create or replace function erp.set_product_warehouse_configuration(
  product_id uuid, warehouse_id uuid, changes jsonb
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  wanted erp.product_warehouse_configuration;
begin
  -- So that neither can be deleted before the row exists
  perform ledger.lock(
    array[set_product_warehouse_configuration.product_id],
    array[set_product_warehouse_configuration.warehouse_id]
  );
  perform from erp.product p where p.id = set_product_warehouse_configuration.product_id;
  if not found then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  perform from erp.warehouse w where w.id = set_product_warehouse_configuration.warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  insert into erp.product_warehouse_configuration as c (product_id, warehouse_id)
  values (set_product_warehouse_configuration.product_id, set_product_warehouse_configuration.warehouse_id)
  on conflict (product_id, warehouse_id) do nothing;
  select * into wanted from erp.product_warehouse_configuration c
  where c.product_id = set_product_warehouse_configuration.product_id
    and c.warehouse_id = set_product_warehouse_configuration.warehouse_id
  for no key update;
  wanted := jsonb_populate_record(
    wanted, changes - '{id,product_id,warehouse_id,stock,created_at,updated_at}'::text[]
  );
  update erp.product_warehouse_configuration c
  set default_bin_location_id = wanted.default_bin_location_id, reorder_point = wanted.reorder_point,
    target_maximum_quantity = wanted.target_maximum_quantity
  where c.id = wanted.id;
  return wanted.id;
end
$$;
comment on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) is
  'Changes how a product is kept in a warehouse: the usual bin, the reorder point and the target, where '
  'the object names them; makes the row where there was none. Answers its id.';
grant execute on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) to service_writer;
--! EndIncluded erp/set_product_warehouse_configuration.sql
--! Included erp/set_supplier_order_lines.sql
create or replace function erp.set_supplier_order_lines(
  target erp.supplier_order, lines erp.supplier_order_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ids uuid[];
  discount constant numeric := target.position_price
    - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_supplier_order_lines(target, lines);
  -- Writing lines locks their products; all are locked here in one order
  perform ledger.lock(array(
    select l.product_id from unnest(lines) l
    union select i.product_id
    from erp.supplier_order_line_item i
    where i.supplier_order_id = target.id and i.product_id is not null
  ));
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.supplier_order_line_item i
  where i.supplier_order_id = target.id and not exists (select from unnest(lines) l where l.id = i.id);

  insert into erp.supplier_order_line_item as i (
    id, supplier_order_id, product_id, "position", label, product_number,
    supplier_product_number, quantity, min_purchase, purchase_steps, unit_price,
    total_price, tax_rate, expected_delivery_date
  )
  select ids[l.ordinality], target.id, p.id, l.ordinality,
    coalesce(p.name, parent.name, p.product_number), p.product_number,
    c.supplier_product_number, l.quantity, c.min_purchase, c.purchase_steps, price.unit,
    round(price.unit * l.quantity, 2), coalesce(l.tax_rate, p.tax_rate), l.expected_delivery_date
  from unnest(lines) with ordinality l
  join erp.product p on p.id = l.product_id left join erp.product parent on parent.id = p.parent_id
  left join erp.product_supplier_configuration c on c.product_id = p.id and c.supplier_id = target.supplier_id
  left join erp.product_supplier_price s on s.product_supplier_configuration_id = c.id
    and s.currency_id = target.currency_id
  cross join lateral (
    select coalesce(l.unit_price, case target.tax_status when 'gross' then s.gross else s.net end) as unit
  ) price
  order by l.ordinality
  on conflict (id) do update
  set product_id = excluded.product_id, "position" = excluded."position", label = excluded.label,
    product_number = excluded.product_number, supplier_product_number = excluded.supplier_product_number,
    quantity = excluded.quantity, min_purchase = excluded.min_purchase,
    purchase_steps = excluded.purchase_steps, unit_price = excluded.unit_price,
    total_price = excluded.total_price, tax_rate = excluded.tax_rate,
    expected_delivery_date = excluded.expected_delivery_date;

  update erp.supplier_order o
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.supplier_order_line_item i where i.supplier_order_id = target.id
  ) a where o.id = target.id;
end
$$;
comment on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Makes these the lines of a supplier order: those with an id are changed, those without are new, others '
  'go. They are listed in this order, but for lines that are there and change places among themselves: their '
  'positions say so. What a line leaves open, price and tax rate, comes from the supplier''s terms and the '
  'product. Totals are computed again; a discount on the whole order stays.';
grant execute on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[])
  to service_writer;
--! EndIncluded erp/set_supplier_order_lines.sql
--! Included erp/set_supplier_prices.sql
create or replace function erp.set_supplier_prices(configuration_id uuid, prices erp.price[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('purchase_prices', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select p.ordinality, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from unnest(prices) with ordinality p
    where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from unnest(prices) with ordinality p where p.net < 0 or p.gross < 0
    union all
    select p.ordinality, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from (
      select i.*, row_number() over (partition by i.currency_id order by i.ordinality) as nth
      from unnest(prices) with ordinality i
    ) p
    where p.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
  -- One statement, so that the product never copies half of the change
  with gone as (
    delete from erp.product_supplier_price s where s.product_supplier_configuration_id = configuration_id
      and not exists (select from unnest(prices) p where p.currency_id = s.currency_id)
  )
  insert into erp.product_supplier_price as s (
    product_supplier_configuration_id, currency_id, net, gross, linked
  )
  select configuration_id, p.currency_id, p.net, p.gross, coalesce(p.linked, true) from unnest(prices) p
  on conflict (product_supplier_configuration_id, currency_id) do update
  set net = excluded.net, gross = excluded.gross, linked = excluded.linked;
end
$$;
comment on function erp.set_supplier_prices(uuid, erp.price[]) is
  'Makes these the prices of a product at a supplier, one per currency.';
grant execute on function erp.set_supplier_prices(uuid, erp.price[]) to service_writer;
--! EndIncluded erp/set_supplier_prices.sql
--! Included erp/set_tags.sql
create or replace function erp.faults_of_tags(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, f.code, f.message, array['tags', (t.n - 1)::text], null)::mutation.row_fault)
  from unnest(rows) u
  cross join jsonb_array_elements_text(nullif(u.given -> 'tags', 'null')) with ordinality t (name, n)
  cross join lateral (
    select 'INVALID', 'The name of the tag is blank.' where erp.is_blank(t.name)
    union all
    select 'OUT_OF_RANGE', 'The name of the tag has more than 255 characters.' where length(t.name) > 255
    union all
    select 'TOO_MANY_LINES', 'There are more than 250 tags.' where t.n = 251
  ) f (code, message);
end;
comment on function erp.faults_of_tags(mutation.upsert_row[]) is
  'What is wrong with the names of tags that rows of an upsert give.';
grant execute on function erp.faults_of_tags(mutation.upsert_row[]) to service_writer;

create or replace function erp.set_tags(relation regclass, owner name, rows mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  insert into erp.tag (name)
  select distinct t.name
  from unnest(rows) u
  cross join jsonb_array_elements_text(nullif(u.given -> 'tags', 'null')) t (name)
  where u.errors is null and not exists (select from erp.tag x where x.name = t.name)
  order by t.name
  on conflict (name) do nothing;
  execute format($q$
    with given as (
      select u.id, u.given -> 'tags' as names from unnest($1) u where u.errors is null and u.given ? 'tags'
    ),
    wanted as (
      select distinct g.id, t.id as tag_id
      from given g
      cross join jsonb_array_elements_text(nullif(g.names, 'null')) n
      join erp.tag t on t.name = n
    ),
    gone as (
      delete from %1$s x using given g where x.%2$I = g.id and not exists (
        select from wanted w where w.id = x.%2$I and w.tag_id = x.tag_id)
      returning x.%2$I as id
    ),
    made as (
      insert into %1$s as x (%2$I, tag_id) select w.id, w.tag_id from wanted w order by w.id, w.tag_id
      on conflict do nothing returning x.%2$I as id
    )
    select array(select id from gone union select id from made)
    $q$, relation, owner) into changed using rows;
  return changed;
end
$$;
comment on function erp.set_tags(regclass, name, mutation.upsert_row[]) is
  'Gives what rows of an upsert are about the tags that they name, in a table of links, and makes those '
  'that do '
  'not exist. Answers the ids of which a tag has changed. Tags come last of all that an upsert writes: other '
  'calls may wait for a new one.';
grant execute on function erp.set_tags(regclass, name, mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/set_tags.sql
--! Included erp/settle_order.sql
create or replace function erp.settle_order(order_id uuid, tracking_codes text[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  new_delivery_state text;
  new_state text;
begin
  select o.state, o.delivery_state,
    not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity)
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = o.id and f.state in ('Open', 'InProgress', 'OnHold')
        and erp.has_open_lines(f.id)) as is_all_shipped
  into strict present from erp.sales_order o where o.id = order_id;
  -- An order without a delivery state gets one when something is shipped
  new_delivery_state := erp.next_state('order_delivery',
    case when present.is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  new_state := present.state;
  if new_state <> 'in_progress' then
    new_state := erp.next_state('order', 'process', new_state);
  end if;
  if present.is_all_shipped then
    new_state := erp.next_state('order', 'complete', new_state);
  end if;
  if present.state not in ('open', 'in_progress') then
    -- A transition that was added: what the order reserves again follows by triggers
    update erp.sales_order o set state = new_state where o.id = order_id;
  end if;
  perform ledger.write_order_states(order_id, new_state, new_delivery_state, tracking_codes);
end
$$;
comment on function erp.settle_order(uuid, text[]) is
  'Brings the states of an order up to date after something of it was shipped, and adds codes to follow it '
  'by: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid, text[]) to service_writer;
--! EndIncluded erp/settle_order.sql
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
--! Included erp/ship.sql
create or replace function erp.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], tracking_codes text[], note text
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made record;
begin
  select * into booked from ledger.ship(order_id, picks, assigned, note);
  -- The number is the last lock, because it blocks all other shipping
  select * into made from ledger.write_shipment(
    erp.next_number('fulfillment'), picks, booked.stock_movements, booked.lines);
  if made.leaves_unwanted then
    perform ledger.forget_unwanted(made.fulfillment_orders);
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
--! Included erp/start_goods_receipt.sql
create or replace function erp.start_goods_receipt(goods_receipt_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  update erp.goods_receipt r
  set state = erp.next_state('goods_receipt', 'start', present.state)
  where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.start_goods_receipt(uuid) is
  'Notes that the goods are being put away. Answers the id.';
grant execute on function erp.start_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/start_goods_receipt.sql
--! Included erp/supplier_snapshot.sql
create or replace function erp.supplier_snapshot(supplier_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('number', s.number, 'name', s.name, 'email', s.email, 'phone', s.phone, 'address',
    s.address,
    'customerNumber', s.customer_number, 'vatId', s.vat_id)
  from erp.supplier s where s.id = supplier_snapshot.supplier_id;
end;
comment on function erp.supplier_snapshot(uuid) is
  'A supplier as it is now, for SupplierOrder.supplierSnapshot.';
grant execute on function erp.supplier_snapshot(uuid) to service_writer;
--! EndIncluded erp/supplier_snapshot.sql
--! Included erp/those_with_variants.sql
create or replace function erp.those_with_variants(product_ids uuid[]) returns uuid[]
language sql stable parallel safe
return array(select distinct v.parent_id from erp.product v where v.parent_id = any (product_ids));
comment on function erp.those_with_variants(uuid[]) is
  'Those of the products that only stand for their variants, as erp.has_variants says; found by one '
  'look at the index.';
grant execute on function erp.those_with_variants(uuid[]) to service_ledger, service_writer;
--! EndIncluded erp/those_with_variants.sql
--! Included erp/uncovered_lines.sql
create or replace function erp.uncovered_lines(order_id uuid) returns ledger.change[]
language sql stable
return array(
  select row (l.id, l.product_id, l.quantity - l.shipped_quantity - c.quantity)::ledger.change
  from erp.sales_order_line_item l
  cross join lateral (
    select coalesce(sum(a.quantity - a.fulfilled_quantity), 0) as quantity
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ) c
  where l.order_id = uncovered_lines.order_id and l.type = 'product'
    and l.quantity > l.shipped_quantity + c.quantity
  order by l."position", l.id
);
comment on function erp.uncovered_lines(uuid) is
  'Units of lines of an order that are neither shipped nor to be shipped by an open fulfillment order: '
  'by line (owner) and product (item). What a cancelled fulfillment order had open is among them.';
grant execute on function erp.uncovered_lines(uuid) to service_writer;
--! EndIncluded erp/uncovered_lines.sql
--! Included erp/unsettle_order.sql
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
      select from erp.sales_order_line_item l
      where l.order_id = present.id and l.type = 'product' and l.shipped_quantity > 0)
    or exists (
      select from erp.fulfillment_order f
      join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.destination_order_id = present.id and l.fulfilled_quantity > 0);
  -- A cancelled order stays cancelled when parcels come back
  if present.delivery_state <> 'cancelled' then
    wanted.delivery_state := erp.next_state(
      'order_delivery', case when is_some_shipped then 'unship_partially' else 'unship' end,
      present.delivery_state
    );
  end if;
  if present.state = 'cancelled' then
    if wanted.delivery_state = 'open' then
      wanted.delivery_state := erp.next_state('order_delivery', 'cancel', wanted.delivery_state);
    end if;
  elsif is_some_shipped and present.state = 'completed' then
    wanted.state := erp.next_state('order', 'process', erp.next_state('order', 'reopen', present.state));
  elsif not is_some_shipped and present.state <> 'open' then
    wanted.state := erp.next_state(
      'order', case present.state when 'completed' then 'reopen' else 'stop' end, present.state
    );
  end if;
  update erp.sales_order o
  set state = wanted.state, delivery_state = wanted.delivery_state
  where o.id = present.id;
end
$$;
comment on function erp.unsettle_order(uuid) is
  'Brings the states of an order up to date after a fulfillment of it was cancelled: open when nothing '
  'is shipped any more, else in progress. A cancelled order stays cancelled. User error '
  'INVALID_STATE_TRANSITION.';
grant execute on function erp.unsettle_order(uuid) to service_writer;
--! EndIncluded erp/unsettle_order.sql
--! Included erp/update_bin_location.sql
create or replace function erp.update_bin_location(bin_location_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted erp.bin_location;
begin
  select * into wanted from erp.bin_location b where b.id = bin_location_id for no key update;
  if not found then
    perform mutation.refuse_missing('bin', '{id}');
  end if;
  wanted := jsonb_populate_record(wanted, changes - '{id,warehouse_id,created_at,updated_at}'::text[]);
  update erp.bin_location b
  set code = wanted.code, "position" = wanted."position"
  where b.id = bin_location_id;
  return bin_location_id;
end
$$;
comment on function erp.update_bin_location(uuid, jsonb) is
  'Changes code and position of a bin, where the object names them. Answers its id.';
grant execute on function erp.update_bin_location(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_bin_location.sql
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
    where i.goods_receipt_id = present.id and i.destination_bin_location_id is not null
  ) then
    perform mutation.refuse('INVALID', 'Lines name bins of the present warehouse.', '{warehouse_id}');
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
  'Changes the columns of a goods receipt that the object names, and whether it is a draft. Once it is '
  'approved, only the comment and the exchange rate. A factor that is given counts as set by hand; null '
  'takes that of this moment. Answers its id.';
grant execute on function erp.update_goods_receipt(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_goods_receipt.sql
--! Included erp/update_product_supplier_configuration.sql
create or replace function erp.update_product_supplier_configuration(
  configuration_id uuid, changes jsonb, prices erp.price[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.product_supplier_configuration :=
    erp.lock_product_supplier_configuration(configuration_id);
  wanted constant erp.product_supplier_configuration := jsonb_populate_record(
    present, changes - '{id,purchase_prices}'::text[]
  );
begin
  update erp.product_supplier_configuration c
  set supplier_product_number = wanted.supplier_product_number, min_purchase = wanted.min_purchase,
    purchase_steps = wanted.purchase_steps,
    delivery_time_days = wanted.delivery_time_days
  where c.id = configuration_id;
  if changes ? 'purchase_prices' then
    perform erp.set_supplier_prices(configuration_id, coalesce(prices, '{}'));
  end if;
  return configuration_id;
end
$$;
comment on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[]) is
  'Changes the terms that the object names; prices only when it names purchase_prices. Answers the id.';
grant execute on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[])
  to service_writer;
--! EndIncluded erp/update_product_supplier_configuration.sql
--! Included erp/update_supplier_order.sql
create or replace function erp.update_supplier_order(supplier_order_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  always_editable constant text[] := '{id,supplier_order_number,due_date,delivery_date,comment}';
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
  wanted erp.supplier_order;
  errors jsonb;
begin
  if present.state <> 'open' then
    select jsonb_agg(
      mutation.user_error(
        'NOT_EDITABLE', format('The order is %s: this cannot be changed any more.', present.state), array[key]
      )
    )
    into errors from jsonb_object_keys(changes - always_editable) key;
    perform mutation.refuse(errors);
  end if;
  wanted := jsonb_populate_record(present, changes - 'id');
  if wanted.supplier_id is distinct from present.supplier_id then
    wanted.supplier_snapshot := erp.supplier_snapshot(wanted.supplier_id);
    if wanted.supplier_snapshot is null then
      perform mutation.refuse_missing('supplier', '{supplier_id}');
    end if;
    perform erp.require_active_supplier(wanted.supplier_id, '{supplier_id}');
    perform erp.require_receipts_of_supplier(present.id, wanted.supplier_id);
  end if;
  if wanted.warehouse_id is distinct from present.warehouse_id then
    wanted.warehouse_snapshot := erp.warehouse_snapshot(wanted.warehouse_id);
    if wanted.warehouse_snapshot is null then
      perform mutation.refuse_missing('warehouse', '{warehouse_id}');
    end if;
  end if;
  if wanted.currency_id <> present.currency_id
    and not exists (select from erp.currency c where c.id = wanted.currency_id) then
    perform mutation.refuse_missing('currency', '{currency_id}');
  end if;
  update erp.supplier_order o
  set supplier_order_number = wanted.supplier_order_number, supplier_id = wanted.supplier_id,
    supplier_snapshot = wanted.supplier_snapshot,
    warehouse_id = wanted.warehouse_id, warehouse_snapshot = wanted.warehouse_snapshot,
      currency_id = wanted.currency_id,
    tax_status = wanted.tax_status, order_date_time = wanted.order_date_time, due_date = wanted.due_date,
      delivery_date = wanted.delivery_date,
    comment = wanted.comment, amount_net = a.amount_net, amount_total = a.amount_total
  from (
    select (erp.amounts(wanted.tax_status, array_agg(i.total_price), array_agg(i.tax_rate),
      present.position_price
        - case present.tax_status when 'gross' then present.amount_total else present.amount_net end)).*
    from erp.supplier_order_line_item i where i.supplier_order_id = present.id
  ) a where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.update_supplier_order(uuid, jsonb) is
  'Changes the columns of a supplier order that the object names. Once it has been sent, only its '
  'dates, the supplier''s number and the comment. Answers its id.';
grant execute on function erp.update_supplier_order(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_supplier_order.sql
--! Included erp/update_warehouse.sql
create or replace function erp.update_warehouse(warehouse_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.warehouse;
  wanted erp.warehouse;
begin
  lock table erp.warehouse in share row exclusive mode;
  select * into present from erp.warehouse w where w.id = warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,created_at,updated_at}'::text[]);
  perform erp.hand_over_defaults(wanted.id, wanted.is_default, wanted.is_default_receiving);
  update erp.warehouse w
  set code = wanted.code, name = wanted.name, is_default = wanted.is_default,
    is_default_receiving = wanted.is_default_receiving,
    is_stock_available_for_sale = wanted.is_stock_available_for_sale, address = wanted.address
  where w.id = present.id;
  -- A location with its own name keeps it
  update erp.location l
  set name = wanted.name
  where l.warehouse_id = present.id and l.name = present.name and l.name <> wanted.name;
  return present.id;
end
$$;
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse that the object names, and its location''s name along with its '
  'own. Answers its id.';
grant execute on function erp.update_warehouse(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_warehouse.sql
--! Included erp/upsert_customers.sql
create or replace function erp.with_terms_of_channel(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  unnumbered constant bigint := count(*) from unnest(rows) u
    where u.is_new and u.errors is null and not u.given ? 'customer_number';
  last_number bigint;
  pattern text;
begin
  if unnumbered > 0 then
    update erp.number_range r set last_number = r.last_number + unnumbered
    where r.technical_name = 'customer'
    returning r.last_number, r.pattern into strict last_number, pattern;
  end if;
  return mutation.with_values(rows, (
    select jsonb_object_agg(n.line, jsonb_strip_nulls(jsonb_build_object('customer_number', n.number,
      'group_id', case when not n.given ? 'group_id' then c.customer_group_id end)))
    from (
      select u.line, u.given, u.wanted, case when not u.given ? 'customer_number' then replace(pattern, '{n}',
        (last_number + 1 - row_number() over (
          partition by u.given ? 'customer_number' order by u.line desc))::text) end as number
      from unnest(rows) u where u.is_new and u.errors is null
    ) n
    left join erp.sales_channel c on c.id = (n.wanted ->> 'sales_channel_id')::uuid));
end
$$;
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'The rows of an upsert of customers, of which new ones without a number have the next of its range, and '
  'those '
  'without a group the group of their sales channel.';
grant execute on function erp.with_terms_of_channel(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_customers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.customer_number = r.customer_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
begin
  -- By its number, a customer is found who is not imported yet
  rows := erp.with_terms_of_channel(mutation.match_rows('erp.customer', 'customers', given,
    '{storefront_id,customer_number}', matches));
  rows := mutation.with_faults(rows, 'customers',
    mutation.row_faults('erp.customer', rows, matches) || erp.faults_of_tags(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.customer', rows);
  return mutation.with_changes(rows, erp.set_tags('erp.customer_tag', 'customer_id', rows));
end
$$;
comment on function erp.upsert_customers(jsonb, boolean) is
  'Makes and changes customers, with their tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_customers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_customers.sql
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
      select l.line / 1000 as line, array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by l.line / 1000
    ) l on l.line = o.line
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
    select l from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
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
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may come in the same call
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (select o.id from erp.product o where o.product_number = u.given ->> 'parent_product_number')
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'The rows of an upsert of products with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- What stands for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product of this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product that stands for its variants is no variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'NOT_EDITABLE', 'This can change only while there is no stock.',
      'is_batch_managed', jsonb_build_object('quantity', p.present -> 'physical_stock')
    from product p
    where p.is_batch_managed is distinct from (p.present ->> 'is_batch_managed')::boolean
      and (p.present ->> 'physical_stock')::int > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of products beyond the rules of the table: variants of variants, and '
  'batches that begin while there is stock.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.is_new and p.errors is not null
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent is a new product that is refused.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
begin
  rows := erp.with_translations(erp.with_parents(mutation.match_rows('erp.product', 'products', given,
    '{product_number}', matches)));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices, images and tags: the objects of the list, fields named as '
  'columns. Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
--! Included erp/upsert_suppliers.sql
create or replace function erp.upsert_suppliers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.number = r.number}';
  rows mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.supplier', 'suppliers', given, '{number}', matches);
  rows := mutation.with_faults(rows, 'suppliers', mutation.row_faults('erp.supplier', rows, matches));
  perform mutation.require_rows(rows, partial);
  return mutation.write_rows('erp.supplier', rows);
end
$$;
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Makes and changes suppliers: the objects of the list, fields named as columns. Answers what became of '
  'each.';
grant execute on function erp.upsert_suppliers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_suppliers.sql
--! Included erp/upsert_warehouses.sql
create or replace function erp.faults_of_defaults(rows mutation.upsert_row[], mark text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with taker as (
    select u.line, row_number() over (order by u.line) as nth from unnest(rows) u
    where u.errors is null and u.given ->> mark = 'true'
  )
  select array_agg(row (f.line, f.code, f.message, array[mark], null)::mutation.row_fault)
  from (
    select t.line, 'NOT_UNIQUE', 'An earlier row takes this mark already.' from taker t where t.nth > 1
    union all
    select u.line, 'INVALID', 'One warehouse must have this mark. Give it to another one.'
    from unnest(rows) u
    where u.present ->> mark = 'true' and u.wanted ->> mark = 'false' and not exists (select from taker)
  ) f (line, code, message);
end;
comment on function erp.faults_of_defaults(mutation.upsert_row[], text) is
  'What is wrong with rows of an upsert of warehouses that take the mark of being a default, or lay it down: '
  'exactly one warehouse has it.';
grant execute on function erp.faults_of_defaults(mutation.upsert_row[], text) to service_writer;

create or replace function erp.upsert_warehouses(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.code = r.code}';
  rows mutation.upsert_row[];
begin
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  rows := mutation.match_rows('erp.warehouse', 'warehouses', given, '{code}', matches);
  rows := mutation.with_faults(rows, 'warehouses', mutation.row_faults('erp.warehouse', rows, matches));
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_defaults(rows, 'is_default')
    || erp.faults_of_defaults(rows, 'is_default_receiving'));
  perform mutation.require_rows(rows, partial);
  if not exists (select from erp.warehouse) then
    rows := mutation.with_values(rows, (
      select jsonb_build_object(min(u.line), jsonb_object_agg(m.mark, true))
      from unnest(rows) u cross join unnest('{is_default,is_default_receiving}'::text[]) m (mark)
      where u.errors is null and not exists (
        select from unnest(rows) t where t.errors is null and t.wanted ->> m.mark = 'true')));
  end if;
  perform erp.hand_over_defaults(u.id, (u.wanted ->> 'is_default')::boolean,
    (u.wanted ->> 'is_default_receiving')::boolean)
  from unnest(rows) u
  where u.errors is null and exists (
    select from unnest('{is_default,is_default_receiving}'::text[]) m (mark)
    where u.wanted -> m.mark = 'true' and u.present -> m.mark is distinct from 'true');
  rows := mutation.write_rows('erp.warehouse', rows);
  insert into erp.location (name, warehouse_id)
  select u.wanted ->> 'name', u.id from unnest(rows) u where u.errors is null and u.is_new order by u.line;
  -- A location with its own name keeps it
  update erp.location l set name = u.wanted ->> 'name'
  from unnest(rows) u
  where u.errors is null and l.warehouse_id = u.id and l.name = u.present ->> 'name'
    and l.name <> u.wanted ->> 'name';
  return rows;
end
$$;
comment on function erp.upsert_warehouses(jsonb, boolean) is
  'Makes and changes warehouses, with the locations that orders are fulfilled from: the objects of the '
  'list, fields named as columns. The first one is the default for everything, unless a row says otherwise. '
  'Answers what became of each.';
grant execute on function erp.upsert_warehouses(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_warehouses.sql
--! Included erp/warehouse_snapshot.sql
create or replace function erp.warehouse_snapshot(warehouse_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('code', w.code, 'name', w.name, 'address', w.address)
  from erp.warehouse w
  where w.id = warehouse_snapshot.warehouse_id;
end;
comment on function erp.warehouse_snapshot(uuid) is
  'A warehouse as it is now, for SupplierOrder.warehouseSnapshot.';
grant execute on function erp.warehouse_snapshot(uuid) to service_writer;
--! EndIncluded erp/warehouse_snapshot.sql
--! Included erp/warn_of_conversions.sql
create or replace function erp.warn_of_conversions(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  select jsonb_agg(mutation.user_error('PRICE_CONVERTED',
      format('Prices of supplier order %s are in %s: they were converted to %s.', o.number, f.iso_code,
        t.iso_code), null,
      jsonb_build_object('supplierOrderNumber', o.number, 'from', f.iso_code, 'to', t.iso_code))
        order by o.id) into warnings
  from erp.supplier_order o join erp.currency f on f.id = o.currency_id join erp.currency t
    on t.id = receipt.currency_id
  where o.currency_id <> receipt.currency_id and o.id in (
    select i.supplier_order_id from unnest(lines) l
    join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.unit_price is null and i.unit_price is not null);
  perform mutation.warn(warnings);
end
$$;
comment on function erp.warn_of_conversions(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Warns when lines of a goods receipt take prices of supplier orders in another currency. Warning '
  'PRICE_CONVERTED.';
grant execute on function erp.warn_of_conversions(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/warn_of_conversions.sql
--! Included erp/warn_of_lines.sql
create or replace function erp.warn_of_lines(receipt erp.goods_receipt, line_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  select jsonb_agg(erp.excess_warning(o.state = 'cancelled', a.quantity, p.product_number, o.number,
      array['line_items', (t.position - 1)::text,
        case when o.state = 'cancelled' then 'supplier_order_id' else 'quantity' end])
    order by t.position) into warnings
  from erp.allotment(receipt.id) a
  join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
  cross join lateral (select array_position(line_ids, l.id)) t (position)
  join erp.supplier_order o on o.id = l.supplier_order_id
  join erp.product p on p.id = l.product_id
  where a.supplier_order_line_item_id is null;
  perform mutation.warn(warnings);
end
$$;
comment on function erp.warn_of_lines(erp.goods_receipt, uuid[]) is
  'Warns of lines of a goods receipt, given in the order of the input, that bring or take back more than '
  'their supplier orders account for. Warnings SURPLUS, ORDER_CANCELLED.';
grant execute on function erp.warn_of_lines(erp.goods_receipt, uuid[]) to service_writer;
--! EndIncluded erp/warn_of_lines.sql
--! Included erp/with_currency_factor.sql
create or replace function erp.with_currency_factor(wanted erp.goods_receipt, manual_factor numeric)
returns erp.goods_receipt
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  wanted.currency_factor_captured_at := date_trunc('second', now());
  if manual_factor is not null then
    wanted.currency_factor := manual_factor;
    wanted.currency_factor_origin_type := 'Manual';
    wanted.currency_factor_origin_source := null;
    wanted.currency_factor_reference_date := null;
  else
    select f.factor, f.origin_type, f.origin_source, f.reference_date
    into wanted.currency_factor, wanted.currency_factor_origin_type, wanted.currency_factor_origin_source,
      wanted.currency_factor_reference_date
    from erp.currency_factor_at(wanted.currency_id, now()) f;
  end if;
  return wanted;
end
$$;
comment on function erp.with_currency_factor(erp.goods_receipt, numeric) is
  'The receipt with an exchange rate: the given one, set by hand, or that of this moment, with its origin.';
grant execute on function erp.with_currency_factor(erp.goods_receipt, numeric) to service_writer;
--! EndIncluded erp/with_currency_factor.sql
--! Included erp/with_orders.sql
create or replace function erp.with_orders(receipt erp.goods_receipt, order_ids uuid[])
  returns erp.goods_receipt
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  first_order erp.supplier_order;
begin
  select o.* into first_order from erp.supplier_order o where o.id = any (order_ids)
  order by array_position(order_ids, o.id) limit 1;
  receipt.supplier_id := coalesce(receipt.supplier_id, (
    select o.supplier_id from erp.supplier_order o where o.id = any (order_ids)
      and o.supplier_id is not null
    order by array_position(order_ids, o.id) limit 1));
  receipt.currency_id := coalesce(receipt.currency_id, first_order.currency_id,
    (select s.currency_id from erp.supplier s where s.id = receipt.supplier_id),
    (select c.id from erp.currency c where c.is_default_currency));
  receipt.tax_status := coalesce(receipt.tax_status, first_order.tax_status, 'net');
  return receipt;
end
$$;
comment on function erp.with_orders(erp.goods_receipt, uuid[]) is
  'The receipt with what its supplier orders say where nothing else is given: their supplier, and the '
  'currency and the tax status of the first.';
grant execute on function erp.with_orders(erp.goods_receipt, uuid[]) to service_writer;
--! EndIncluded erp/with_orders.sql
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

create trigger keep_figures after update of currency_factor on erp.goods_receipt
  for each row when (old.currency_factor is distinct from new.currency_factor)
  execute function erp.keep_currency_factor();
create trigger require_one_supplier after update of supplier_id on erp.goods_receipt
  for each row when ((new.supplier_id is distinct from old.supplier_id) and (new.supplier_id is not null))
  execute function erp.require_one_supplier();
create trigger keep_figures before insert or update of unit_price,
  goods_receipt_id on erp.goods_receipt_line_item
  for each row
  execute function erp.keep_default_currency_price();
create trigger require_one_supplier_on_insert after insert on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create trigger require_one_supplier_on_update after update on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create trigger require_one_supplier after insert on erp.goods_receipt_supplier_order
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create trigger keep_figures_on_delete after delete on erp.product_purchase_price
  referencing old table as gone for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_insert after insert on erp.product_purchase_price
  referencing new table as changed for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_update after update on erp.product_purchase_price
  referencing old table as gone new table as changed
  for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_insert after insert on erp.product_supplier_configuration
  referencing new table as changed for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_update after update on erp.product_supplier_configuration
  referencing old table as gone new table as changed
  for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_delete after delete on erp.product_supplier_price
  referencing old table as gone for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_insert after insert on erp.product_supplier_price
  referencing new table as changed for each statement execute function erp.keep_purchase_prices();
create trigger keep_figures_on_update after update on erp.product_supplier_price
  referencing old table as gone new table as changed
  for each statement execute function erp.keep_purchase_prices();
create trigger require_one_supplier after update of supplier_id on erp.supplier_order
  for each row when ((new.supplier_id is distinct from old.supplier_id) and (new.supplier_id is not null))
  execute function erp.require_one_supplier();
create constraint trigger warehouse_has_its_defaults after insert or delete or update
  on erp.warehouse deferrable initially deferred
  for each row
  execute function erp.require_default_warehouse();
comment on constraint warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\n'
  'One warehouse must be the default, and one the default for receiving. Make another one it first.';

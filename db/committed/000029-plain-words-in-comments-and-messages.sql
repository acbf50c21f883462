--! Previous: sha1:65e22cf88e1b5b7963e7d69c879a08ea5f7536e0
--! Hash: sha1:443f57d6757f1e35f8c88fd9a51356594bb0466a
--! Message: plain words in comments and messages

--! split: 29-comments.sql
--! Message: plain words in comments and messages

--! Message: plain words in comments and messages

-- Comments and messages in plain words. Only functions whose messages change are included.

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
  -- First, because payloads are found by the values that the next statement replaces
  with done as (
    update mutation.idempotency_key k
    set payload = erp.without_person(k.payload, personal)
    from mutation.answers_about(anonymize_customer.customer) a
    where k.credential_id = a.credential_id and k.key = a.key
      and k.payload <> erp.without_person(k.payload, personal)
    returning 1
  ) select count(*) into answers from done;
  return query select * from erp.anonymize_rows(anonymize_customer.customer);
  -- The outbox comes before the log, because the sequencer may move its rows into the log meanwhile
  return query with done as (
    update events.outbox o
    set data = events.anonymous_data(o.topic, o.subject_id, o.data)
    where o.subject_id = any (subjects)
      and o.data <> events.anonymous_data(o.topic, o.subject_id, o.data)
    returning 1
  ) select 'changes in the outbox', count(*) from done;
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
  return query select 'payloads of idempotency keys', answers;
end
$$;
comment on function erp.anonymize_customer(uuid, bigint[], uuid[]) is
  'Anonymizes a customer: replaces what identifies them everywhere except in documents, and returns the '
  'number of changes of each kind. The parameter sequences has the events about the customer that are known '
  'so far, ascending; bulk_operations has the operations whose files have rows about them. Rows that are '
  'anonymous already are not changed again, so they cause no events.';
--! EndIncluded erp/anonymize_customer.sql
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
    perform mutation.refuse('EXTERNALLY_MANAGED', 'The fulfillment is managed externally.', '{id}');
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
  'Cancels a fulfillment: books its units back, opens its quantities again, and cancels the invoices over '
  'it (erp.cancel_invoices_of). User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID, '
  'INVALID_STATE_TRANSITION, and the user errors of ledger.take_back.';
select api_meta.plan_by_index('erp.cancel_fulfillment(uuid, text)');
grant execute on function erp.cancel_fulfillment(uuid, text) to service_writer;
--! EndIncluded erp/cancel_fulfillment.sql
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
    perform mutation.refuse('EXTERNALLY_MANAGED', 'The fulfillment order is managed externally.', field);
  end if;
  return present;
end
$$;
comment on function erp.lock_fulfillment_order(uuid, text[]) is
  'Takes the locks of a fulfillment order and its order, and returns it. User errors NOT_FOUND, '
  'EXTERNALLY_MANAGED.';
grant execute on function erp.lock_fulfillment_order(uuid, text[]) to service_writer;
--! EndIncluded erp/lock_fulfillment_order.sql
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
      'Parts of the order are shipped. Cancel its fulfillments first.', '{id}');
  elsif cardinality(erp.open_invoices(present.id)) > 0 then
    perform mutation.refuse('NOT_EDITABLE',
      'The order is invoiced. Cancel its invoices first, by documentCreate with the type storno.', '{id}',
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
  'Cancels an order of which nothing is shipped or charged, and its open fulfillment orders, so that '
  'nothing is reserved for it any more. Externally managed fulfillment orders stay unchanged. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
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
      format('Lines name supplier order %s, which belongs to another supplier.', order_number),
      '{supplier_id}', jsonb_build_object('supplierOrderNumber', order_number));
  end if;
end
$$;
comment on function erp.change_supplier_of_receipt(uuid, uuid) is
  'Prepares a goods receipt for another supplier: it no longer names orders of the former one. User error '
  'SUPPLIER_MISMATCH if its lines name such orders.';
grant execute on function erp.change_supplier_of_receipt(uuid, uuid) to service_writer;
--! EndIncluded erp/change_supplier_of_receipt.sql
--! Included erp/check_receipt_suppliers.sql
create or replace function erp.check_receipt_suppliers(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[], order_ids uuid[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('SUPPLIER_MISMATCH',
      format('Supplier order %s belongs to another supplier than the receipt.', o.number), n.field,
      jsonb_build_object('supplierOrderNumber', o.number)) order by n."position") into errors
  from erp.orders_named(lines, order_ids) n join erp.supplier_order o on o.id = n.id
  where receipt.type = 'Supplier' and o.supplier_id <> receipt.supplier_id;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_receipt_suppliers(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'Refuses supplier orders of another supplier than the goods receipt''s. User error SUPPLIER_MISMATCH.';
grant execute on function erp.check_receipt_suppliers(erp.goods_receipt, erp.goods_receipt_line[], uuid[])
  to service_writer;
--! EndIncluded erp/check_receipt_suppliers.sql
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
    select l.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price >= 1e15
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
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
  perform mutation.refuse('INVALID', format('Documents of type %s cannot be created here.', document_type));
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Creates an invoice, delivery_note, credit_note or storno (cancellation invoice) for an order as a whole. '
  'An invoice charges everything that no other invoice charges. Credit notes and cancellation invoices '
  'refer to an invoice of the order, which must be given if several are valid. User errors NOT_FOUND, '
  'INVALID, REQUIRED.';
grant execute on function erp.create_document(uuid, text, uuid) to service_writer;
--! EndIncluded erp/create_document.sql
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
        'Fulfillment orders have all open units of the order already.', '{order_id}',
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
  'Creates a fulfillment order by which a warehouse ships units of an order that no fulfillment order has: '
  'the given ones, or all if lines is null. Returns it. User errors NOT_FOUND, INVALID, '
  'INVALID_STATE_TRANSITION, OVER_FULFILLMENT, REQUIRED, OUT_OF_RANGE, NOT_UNIQUE, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[])');
grant execute on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/create_fulfillment_order.sql
--! Included erp/create_invoice.sql
create or replace function erp.create_invoice(
  order_id uuid, only_shipped boolean, field text[] default null, fulfillment_ids uuid[] default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parts erp.document_part[];
  shipments uuid[];
  made uuid;
begin
  perform ledger.lock_orders(array[order_id]);
  parts := erp.billable_parts(order_id, only_shipped, fulfillment_ids);
  if cardinality(parts) = 0 then
    perform mutation.refuse('INVALID', case
      when not only_shipped then 'The whole order has been invoiced already.'
      when erp.charges_services(order_id) then 'Everything that was shipped has been invoiced already.'
      when (select o.state from erp.sales_order o where o.id = order_id) = 'cancelled'
        then 'The order is cancelled, and nothing of it was shipped.'
      else 'Nothing of the order has been shipped. Ship it first, by orderShipmentComplete or '
        'fulfillmentCreate.' end,
      field, jsonb_build_object('invoices', erp.standing_invoices(order_id)));
  end if;
  shipments := array(
    select distinct f.id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_invoice.order_id
      and (fulfillment_ids is null or f.id = any (fulfillment_ids)) and not exists (
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
comment on function erp.create_invoice(uuid, boolean, text[], uuid[]) is
  'Creates an invoice over units of an order that no other invoice charges: shipped units, of some '
  'fulfillments if they are given, or all units. If one of the shipments is cancelled, the invoice is '
  'cancelled, too. User error INVALID if there is nothing to charge, or a line has no price.';
grant execute on function erp.create_invoice(uuid, boolean, text[], uuid[]) to service_writer;
--! EndIncluded erp/create_invoice.sql
--! Included erp/create_order_document.sql
create or replace function erp.create_order_document(
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_reversal constant boolean := document_type in ('credit_note', 'storno');
  shipment_id uuid;
begin
  if document_type not in ('invoice', 'delivery_note', 'credit_note', 'storno') then
    perform mutation.refuse('INVALID',
      'The type must be invoice, delivery_note, credit_note or storno.',
      '{document_type}');
  elsif is_reversal and fulfillment_ids is not null then
    perform mutation.refuse('INVALID', 'Credit notes and cancellations take back a whole invoice: name it by '
      'referencedDocumentId, or cancel the fulfillment.', '{fulfillment_ids}');
  elsif not is_reversal and referenced_document_id is not null then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.',
      '{referenced_document_id}');
  end if;
  perform ledger.lock_orders(array[order_id]);
  perform from erp.sales_order o where o.id = create_order_document.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{order_id}');
  elsif is_reversal then
    return erp.create_reversal(order_id, document_type, referenced_document_id, '{document_type}',
      '{referenced_document_id}');
  elsif fulfillment_ids is not null then
    perform erp.require_fulfillments(order_id, fulfillment_ids);
  end if;
  if document_type = 'invoice' then
    perform erp.require_uninvoiced(fulfillment_ids);
    return erp.create_invoice(order_id, true, '{document_type}', fulfillment_ids);
  elsif cardinality(fulfillment_ids) > 1 then
    perform mutation.refuse('INVALID', 'A delivery note lists one parcel: create one for each fulfillment.',
      '{fulfillment_ids}');
  end if;
  shipment_id := coalesce(fulfillment_ids[1], erp.newest_shipment(order_id));
  if shipment_id is null then
    perform mutation.refuse('INVALID', 'Nothing of the order has been shipped. Ship it first, by '
      'orderShipmentComplete or fulfillmentCreate.', '{document_type}');
  end if;
  return erp.create_delivery_note(order_id, shipment_id);
end
$$;
comment on function erp.create_order_document(uuid, text, uuid[], uuid) is
  'Creates a document about shipped units of an order. An invoice charges what no other invoice charges, of '
  'some fulfillments if they are given. A delivery note lists one fulfillment, by default the newest. A '
  'credit note or storno (cancellation invoice) takes an invoice back. User errors NOT_FOUND, REQUIRED, '
  'INVALID, NOT_UNIQUE, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.create_order_document(uuid, text, uuid[], uuid)');
grant execute on function erp.create_order_document(uuid, text, uuid[], uuid) to service_writer;
--! EndIncluded erp/create_order_document.sql
--! Included erp/excess_warning.sql
create or replace function erp.excess_warning(is_cancelled boolean, quantity integer, product_number text,
  order_number text, field text[], line_id uuid default null) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.user_error(case when is_cancelled then 'ORDER_CANCELLED' else 'SURPLUS' end,
    format(case
        when is_cancelled then '%1$s of product %2$s were not ordered: supplier order %3$s is cancelled.'
        when quantity < 0
          then '%1$s of product %2$s go back without an order: supplier order %3$s never received them.'
        else '%1$s of product %2$s were not ordered: supplier order %3$s has fewer units open.' end,
      abs(quantity), product_number, order_number),
    field,
    jsonb_strip_nulls(jsonb_build_object('quantity', quantity, 'productNumber', product_number,
      'supplierOrderNumber', order_number,
      'goodsReceiptLineItemId', 'gid://service/GoodsReceiptLineItem/' || line_id)));
end;
comment on function erp.excess_warning(boolean, integer, text, text, text[], uuid) is
  'Returns the warning about units on a goods receipt that its supplier order does not account for, with '
  'the line that they have become, if any.';
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
      w.invoiced, row_number() over (partition by l.id order by l.line) as nth,
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
    select l.line, 'NOT_FOUND', 'The order has no such line.', array['id'], null::jsonb
    from line l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product with this number.', array['product_number'], null
    from line l where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line refers to the same line.', null, null from line l
    where l.nth > 1
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state in ('completed', 'cancelled') and (l.is_new or l.changes <> '{}')
    union all
    select l.line, 'NOT_EDITABLE', format('%s units are shipped or assigned.', l.taken),
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
    where c.name in ('unit_price', 'tax_rate') and l.invoiced > 0
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
    -- Errors of lines, with paths that begin at their order
    select o.line, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then (l.nth - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from (
      select x.errors, x.order_id, row_number() over (partition by x.order_id order by x.line) as nth
      from (select u.*, (u.wanted ->> 'order_id')::uuid as order_id from unnest(lines) u) x
    ) l join unnest(orders) o on o.id = l.order_id and o.errors is null
    cross join jsonb_array_elements(l.errors) e (error)
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
  select l.ordinality, 'NOT_FOUND', 'The supplier order has no line with this product. '
    'Enter goods that were not ordered as a line without a supplier order.',
    'supplier_order_id'
  from unnest(lines) with ordinality l
  where (receipt).type = 'Supplier' and l.supplier_order_id is not null
    and l.supplier_order_line_item_id is null
    and not exists (
      select from erp.supplier_order_line_item i where i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id)
  union all
  select l.ordinality, 'INVALID', 'The line belongs to another supplier order.', 'supplier_order_id'
  from unnest(lines) with ordinality l join erp.supplier_order_line_item i
    on i.id = l.supplier_order_line_item_id
  where l.supplier_order_id <> i.supplier_order_id;
end;
comment on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Returns what is wrong with the supplier orders that lines of a goods receipt name: number of the line, '
  'code, message and column.';
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
  'Returns what is wrong with the batches, return orders and bins that lines of a goods receipt name.';
grant execute on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_things_named.sql
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
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that a warehouse cannot take units of lines from. User errors NOT_FOUND, '
  'INVALID, BATCH_MISMATCH.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
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
      format('%s lacks details that the law demands: %s.', number, array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', number, 'documentType', document_type, 'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]) is
  'Inserts a document of an order: with the next number of its type, a random code for its address, and '
  'everything that it shows, see erp.document_config. Warning DOCUMENT_INCOMPLETE.';
grant execute on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[])
  to service_writer;
--! EndIncluded erp/insert_document.sql
--! Included erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
-- Has one owner, because Postgres would plan the statement again whenever the role changes
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  select t.to_state into result from erp.state_transition t
  where t.machine = next_state.machine and t.action = next_state.action and t.from_state = state;
  if not found then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('In state %s, this is not possible: %s.', state, action), null, jsonb_build_object(
      'state', state, 'allowedActions', erp.allowed_actions(machine, state)));
  end if;
  return result;
end
$$;
comment on function erp.next_state(text, text, text) is
  'Returns the state that an action leads to, according to erp.state_transition. User error '
  'INVALID_STATE_TRANSITION, with the state and the actions that it allows.';
select api_meta.give('erp.next_state(text, text, text)', 'service_writer');
grant execute on function erp.next_state(text, text, text) to service_booker;
--! EndIncluded erp/next_state.sql
--! Included erp/keep_currency_factor.sql
create or replace function erp.keep_currency_factor() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.stock_valuation_report_goods_receipt v where v.goods_receipt_id = new.id) then
    perform mutation.refuse(
      'CURRENCY_FACTOR_LOCKED', 'A stock valuation report uses this exchange rate.',
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
  'Trigger after the exchange rate of a goods receipt changed: refuses the change if a stock valuation '
  'report uses the rate, and converts the lines again.';
--! EndIncluded erp/keep_currency_factor.sql
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
        'The default warehouse does not ship units whose shipping was cancelled there, '
        'and no other warehouse has all of them.', '{order_id}',
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
  'Returns the locations that are to ship the units of an order that no open fulfillment order has: the '
  'location of the given warehouse, or of the default warehouse. For units whose shipping was cancelled '
  'there, it is erp.other_location. The locations are protected from deletion until the end of the '
  'transaction. User errors NOT_FOUND, INVALID, INSUFFICIENT_STOCK.';
grant execute on function erp.plan_uncovered(uuid, uuid) to service_writer;
--! EndIncluded erp/plan_uncovered.sql
--! Included erp/require_active_supplier.sql
create or replace function erp.require_active_supplier(supplier_id uuid, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.supplier s where s.id = require_active_supplier.supplier_id and not s.active)
  then
    perform mutation.refuse(
      'SUPPLIER_INACTIVE', 'The shop no longer orders from this supplier.', field
    );
  end if;
end
$$;
comment on function erp.require_active_supplier(uuid, text[]) is
  'Refuses a supplier that the shop no longer orders from. User error SUPPLIER_INACTIVE.';
grant execute on function erp.require_active_supplier(uuid, text[]) to service_writer;
--! EndIncluded erp/require_active_supplier.sql
--! Included erp/require_all_shipped.sql
create or replace function erp.require_all_shipped(order_id uuid, state text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not erp.is_all_shipped(order_id) then
    perform mutation.refuse(
      'EXTERNALLY_MANAGED', 'The rest of the order is shipped externally.', '{order_id}'
    );
  elsif not exists (
    select from erp.sales_order_line_item l where l.order_id = require_all_shipped.order_id
  ) then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The order has no lines: there is nothing to ship.',
      '{order_id}',
      jsonb_build_object('state', state, 'allowedActions', erp.allowed_actions('order', state)));
  end if;
end
$$;
comment on function erp.require_all_shipped(uuid, text) is
  'Refuses an order that has nothing to ship here, unless all of it is shipped. User errors '
  'EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION.';
grant execute on function erp.require_all_shipped(uuid, text) to service_writer;
--! EndIncluded erp/require_all_shipped.sql
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
      then mutation.user_error('INVALID', 'The line is not a product, so it is not shipped.',
      mutation.path('lines', l.ordinality, 'order_line_item_id'))
    else mutation.user_error('OVER_FULFILLMENT',
      format('%s units are open without a fulfillment order, not %s.', coalesce(u.quantity, 0), l.quantity),
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
  'Refuses lines of an order with more units than are open without a fulfillment order. User errors '
  'NOT_FOUND, INVALID, OVER_FULFILLMENT.';
grant execute on function erp.require_assignable_lines(uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/require_assignable_lines.sql
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
      -- Documents that take an invoice back are no part of a shipment, which charges goods
      else format('A shipment has no document of the type %s, only an invoice and a delivery_note. '
        'Credit notes and cancellation invoices are created by documentCreate.', d.name) end,
    mutation.path('documents', d.position)) order by d.position)
  into errors
  from (
    select d.name, d.position, row_number() over (partition by d.name order by d.position) as nth
    from unnest(documents) with ordinality d (name, position)
  ) d
  where d.nth > 1 or d.name is null or d.name not in ('invoice', 'delivery_note');
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_documents(text[]) is
  'Refuses types of documents that a shipment cannot have, or that are given twice. User errors INVALID, '
  'NOT_UNIQUE.';
grant execute on function erp.require_documents(text[]) to service_writer;
--! EndIncluded erp/require_documents.sql
--! Included erp/require_fulfillments.sql
create or replace function erp.require_fulfillments(order_id uuid, fulfillment_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if cardinality(fulfillment_ids) = 0 then
    perform mutation.refuse('REQUIRED', 'Name a fulfillment, or omit the list.', '{fulfillment_ids}');
  end if;
  perform mutation.refuse_too_many(cardinality(fulfillment_ids), 250, '{fulfillment_ids}');
  select jsonb_agg(mutation.user_error(f.code, f.message, mutation.path('fulfillment_ids', f.n)) order by f.n)
  into errors
  from (
    select n.n,
      case when n.nth > 1 then 'NOT_UNIQUE' when f.id is null then 'NOT_FOUND' else 'INVALID' end as code,
      case when n.nth > 1 then 'This fulfillment is in the list already.'
        when f.id is null then 'The order has no such fulfillment.'
        else 'The fulfillment has been cancelled.' end as message,
      f.state
    from (
      select u.id, u.n, row_number() over (partition by u.id order by u.n) as nth
      from unnest(fulfillment_ids) with ordinality u (id, n)
    ) n
    left join erp.fulfillment f on f.id = n.id and exists (
      select from erp.fulfillment_order_fulfillment p
      join erp.fulfillment_order o on o.id = p.fulfillment_order_id
      where p.fulfillment_id = f.id and o.destination_order_id = require_fulfillments.order_id)
    where n.nth > 1 or f.state is distinct from 'Fulfilled'
  ) f;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_fulfillments(uuid, uuid[]) is
  'Refuses ids that are no fulfillments of an order, or belong to cancelled ones. User errors REQUIRED, '
  'TOO_MANY_LINES, NOT_UNIQUE, NOT_FOUND, INVALID.';
grant execute on function erp.require_fulfillments(uuid, uuid[]) to service_writer;
--! EndIncluded erp/require_fulfillments.sql
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
    select p.line, 'INVALID', 'Name either a warehouse or a bin.',
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
  'Refuses lines and places that are invalid by themselves. The text is the name of the input field of a '
  'line''s id. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, INVALID.';
grant execute on function erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text)
  to service_writer;
--! EndIncluded erp/require_shipping_lines.sql
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may be in the same call, whose numbers come before present ones
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (
        select o.id from erp.product o
        where o.product_number = u.given ->> 'parent_product_number'
          and o.id <> all (array(select r.id from unnest(rows) r))
      )
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.with_storefront_variants(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Clients are promised both keys. Other values than lists of objects are refused later
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('storefront_variants', (
      select coalesce(jsonb_agg('{"variantId": null}' || e.entry order by e.n), '[]')
      from jsonb_array_elements(u.given -> 'storefront_variants') with ordinality e (entry, n)
    )))
    from unnest(rows) u
    where jsonb_typeof(u.given -> 'storefront_variants') = 'array'
      and not u.given @? '$.storefront_variants[*] ? (@.type() != "object")'
  ));
end;
comment on function erp.with_storefront_variants(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with a variantId in each entry of storefront_variants, null '
  'if it was omitted.';
grant execute on function erp.with_storefront_variants(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- Products that stand for variants after the call
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
    select p.line, 'NOT_FOUND', 'There is no product with this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product with variants cannot be a variant itself.', p.field, null
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
    union all
    select p.line, 'INVALID', 'Each entry has a productId, perhaps a variantId, and nothing else.',
      'storefront_variants', null
    from product p
    where erp.are_storefront_variants(p.given -> 'storefront_variants') and p.given @? ('strict '
      || '$.storefront_variants[*].keyvalue() ? (@.key != "productId" && @.key != "variantId" '
      || '|| @.value == "")')::jsonpath
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of products beyond the rules of the table. Finds variants '
  'of variants, batches that begin while there is stock, and unknown keys in storefront_variants.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.errors is not null
    and (p.is_new or p.present ->> 'product_number' <> u.given ->> 'parent_product_number')
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent, or its number, comes from a refused row.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.warnings_of_parents(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
    format('Product %s only stands for its variants now: %s units of it in stock cannot be sold, and open '
      'orders promise %s.', p.product_number, p.physical_stock, p.reserved_stock),
    mutation.path('products', f.line, f.field), jsonb_build_object('productNumber', p.product_number,
      'physicalStock', p.physical_stock, 'reservedStock', p.reserved_stock)) order by f.line)
  from (
    select (u.wanted ->> 'parent_id')::uuid as id, min(u.line) as line,
      min(case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end)
        as field
    from unnest(rows) u
    where u.errors is null and u.wanted ->> 'parent_id' is distinct from u.present ->> 'parent_id'
    group by 1
  ) f
  join erp.product p on p.id = f.id
  where p.physical_stock > 0 or p.reserved_stock > 0;
end;
comment on function erp.warnings_of_parents(mutation.upsert_row[]) is
  'Warns about products that get variants while they are in stock or on open orders themselves.';
grant execute on function erp.warnings_of_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
  refused integer;
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_parents(
    mutation.match_rows('erp.product', 'products', given, '{product_number}', matches))));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  loop
    refused := (select count(*) from unnest(rows) u where u.errors is not null);
    rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
    rows := mutation.with_faults_of_taken_keys('erp.product', rows, 'products', partial);
    exit when refused = (select count(*) from unnest(rows) u where u.errors is not null);
  end loop;
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  perform mutation.warn(erp.warnings_of_parents(rows));
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Creates and updates products, with their prices, images and tags: the objects in the list, whose fields '
  'are named like columns. Returns the outcome of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
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
    select t.line, 'NOT_UNIQUE', 'An earlier row takes this default already.' from taker t where t.nth > 1
    union all
    select u.line, 'INVALID', 'One warehouse must be this default. Make another one the default instead.'
    from unnest(rows) u
    where u.present ->> mark = 'true' and u.wanted ->> mark = 'false' and not exists (select from taker)
  ) f (line, code, message);
end;
comment on function erp.faults_of_defaults(mutation.upsert_row[], text) is
  'Returns what is wrong with rows of an upsert of warehouses that take or give up the mark of a default: '
  'exactly one warehouse has each.';
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
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_addresses(rows)
    || erp.faults_of_defaults(rows, 'is_default') || erp.faults_of_defaults(rows, 'is_default_receiving'));
  rows := mutation.with_faults_of_taken_keys('erp.warehouse', rows, 'warehouses', partial);
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
  'Creates and updates warehouses, with the locations that orders are fulfilled from: the objects in the '
  'list, whose fields are named like columns. The first warehouse is the default for everything, unless a '
  'row says otherwise. Returns the outcome of each.';
grant execute on function erp.upsert_warehouses(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_warehouses.sql
--! Included erp/with_translations.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function erp.translations_of(given jsonb) returns setof jsonb
language sql immutable
begin atomic
  select coalesce(pg_catalog.jsonb_object_agg(t.value ->> 'locale', x.texts), '{}')
  from pg_catalog.jsonb_array_elements(nullif(given, 'null')) t (value)
  cross join lateral (select pg_catalog.jsonb_strip_nulls(t.value - 'locale')) x (texts)
  where x.texts <> '{}';
end;
comment on function erp.translations_of(jsonb) is
  'Returns a caller''s list of translations as it is stored. Entries without text are omitted.';
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
  'Returns the rows of an upsert, with their new translations.';
grant execute on function erp.with_translations(mutation.upsert_row[]) to service_writer;

-- Has no settings, so that Postgres inlines it into the calling statement
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
    select t.n, 'INVALID', 'A locale is a language, optionally script and region: de, de-AT, zh-Hant-TW.',
      'locale'
    from translation t where not erp.is_locale(t.locale)
    union all
    select t.n, 'NOT_UNIQUE', 'An earlier translation is in this locale.', 'locale'
    from translation t where t.nth > 1
    union all
    select t.n, 'OUT_OF_RANGE', format('The text has more than %s characters.', m.longest), x.key
    from translation t cross join jsonb_each_text(t.texts) x
    cross join lateral (
      select case x.key when 'name' then 255 when 'alt_text' then 1000 when 'description' then 65535 end
    ) m (longest)
    where length(x.value) > m.longest
    union all
    select 251, 'TOO_MANY_LINES', 'There are more than 250 translations.', 'locale'
    where jsonb_array_length(nullif(given, 'null')) > 250
  ) f (n, code, message, field);
end;
comment on function erp.translation_faults(bigint, text[], jsonb) is
  'Returns what is wrong with the translations in a row of an upsert, at a path within the row.';
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
  'Returns what is wrong with the translations in rows of an upsert.';
grant execute on function erp.faults_of_translations(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/with_translations.sql
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
    select l.ordinality, 'OUT_OF_RANGE', 'This moment is in the future.', '{counted_at}'
    from unnest(lines) with ordinality l where l.counted_at > clock_timestamp()
    union all
    select p.line, 'INVALID', 'Name either a warehouse or a bin.', array[p.name]
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
  'Refuses lines of a mutation of stock that are invalid by themselves. User errors OUT_OF_RANGE, INVALID, '
  'NOT_UNIQUE.';
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
    select l.ordinality, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where b.product_id <> l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_references(ledger.line[], ledger.named_place[]) is
  'Refuses lines of a mutation of stock that name something that does not exist, or a batch of another '
  'product. User errors NOT_FOUND, BATCH_MISMATCH.';
grant execute on function ledger.check_references(ledger.line[], ledger.named_place[]) to service_ledger;
--! EndIncluded ledger/check_references.sql
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Imported movements keep their own moment
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
    raise exception 'The ledger gives movements their ids: omit the id, and read it with returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  -- The number must be drawn before the id
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := ledger.next_movement_id();
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: requires both places of a new movement, sets its moment to now unless it has one, and sets its '
  'transaction and its id (ledger.next_movement_id). A constraint cannot require the places, because they '
  'become null when the place is deleted.';
--! EndIncluded ledger/require_movement_places.sql
--! Included ledger/require_stock.sql
create or replace function ledger.require_stock(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- The stock of each place, and its change by all lines together, so that their order does not matter.
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
      mutation.user_error('BATCH_REQUIRED', 'The stock there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p
    where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_stock(ledger.draft[]) is
  'Refuses movements that would leave a real place with a negative quantity of a product or a batch. The '
  'locks have been taken. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
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
    'The place has been counted again since then. This count was recorded, but changes nothing.',
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
  'Sets stock to a counted quantity: books the difference against stock_correction. With counted_at, '
  'movements after that moment are added to the count. A count that is older than a known one changes '
  'nothing and adds the warning COUNT_SUPERSEDED.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text)');
select api_meta.give('ledger.set_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/set_stock.sql
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
      'INVALID', 'The ledger does not say where its units came from, so they cannot go back there.', '{id}'
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
  'Books the units of a fulfillment from the order back to the places that they came from. Units from a '
  'deleted bin go to the warehouse, outside of any bin. Returns the movements. User error INVALID, and the '
  'user errors of ledger.post.';
select api_meta.plan_by_index('ledger.take_back(uuid, text)');
select api_meta.give('ledger.take_back(uuid, text)', 'service_ledger');
grant execute on function ledger.take_back(uuid, text) to service_writer;
--! EndIncluded ledger/take_back.sql
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Shipped units were promised; the promises end with them
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- These are the figures after the booking. Usually none is below 0, and there is nothing to warn about.
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
    format('Orders wait for %s units of product %s%s; %s of them are missing now.',
      s.reserved, p.product_number, ' from warehouse ' || s.code, - s.available),
    drafts[s.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'productId', 'gid://service/Product/' || s.product_id,
      'warehouseId', 'gid://service/Warehouse/' || s.warehouse_id,
      'reserved', s.reserved, 'available', s.available)))
    order by s.line, s.code)
  into warnings
  from (
    -- One warning per product: its shortage makes warnings about its warehouses redundant
    select short.*,
      bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns if movements, which have been booked, took units that orders wait for: the available stock of the '
  'product, or of a warehouse, is below 0 and lower than before. Adds one warning STOCK_PROMISED for the '
  'product or, if the product itself is not short, one for each warehouse that is.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql
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
    -- A foreign key with on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
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
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches, '$2');
  leaving uuid[] := '{}';
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  -- Rows that are named by their id and get another key: their present key becomes free
  execute format('select array(select g.id from (select (e ->> %L)::uuid as id, e from '
    'jsonb_array_elements($1) e where e ?| $2) g where (select %s from %s o where o.id = g.id))', 'id',
    (select string_agg(format('g.e ? %1$L and o.%1$I is distinct from g.e ->> %1$L', k), ' or ')
      from unnest(keys) k), relation)
  into leaving using given, keys;
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given, leaving;
  execute format($q$
    with matched as materialized (
      select e.line, e.value as given, r.id as given_id, %2$s as id,
        num_nonnulls(r.id, %5$s) > 0 as is_named, %4$s as defaults
      from %3$s
    ),
    -- Not a join, which would read all of a table that is not large
    counted as materialized (
      select m.*, row_number() over (partition by m.id order by m.line) as nth,
        (select o from %1$s o where o.id = m.id) as present
      from matched m
    )
    select array_agg(row(c.line, coalesce(c.id, (c.defaults ->> 'id')::uuid), (c.present).id is null, c.given,
      case when (c.present).id is not null then to_jsonb(c.present) end,
      to_jsonb(jsonb_populate_record(case when (c.present).id is null
        then jsonb_populate_record(null::%1$s, c.defaults) else c.present end, c.given - 'id')), false,
      case
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $4,
          mutation.path($3, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $5, mutation.path($3, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row refers to the same object.', mutation.path($3, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, leaving, list, format('A row needs one of these: id, %s.',
      (select string_agg(lower(left(c.camel, 1)) || substr(c.camel, 2), ', ' order by k.n)
        from unnest(keys) with ordinality k (name, n)
        cross join lateral (select replace(initcap(replace(k.name, '_', ' ')), ' ', '')) c (camel))),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'Returns the rows of an upsert into a table, each with the table''s row that it refers to. That is the '
  'row with its id, else the first that fulfills a match, a condition on a row o of the table and the given '
  'row r. A row is not matched if another row of the call names it by id and gives it another key. Omitted '
  'fields keep their value, or get their default. Locks the table''s rows, by id. Keys are columns that can '
  'identify a row instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with '
  'REQUIRED, NOT_FOUND and NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included mutation/refuse_nulls.sql
create or replace function mutation.refuse_nulls(input_type regtype, input jsonb, validate_only boolean)
returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('REQUIRED', 'This must not be null: give a value, or omit the field.',
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
  'Refuses null in fields by which callers hold something back: validate_only and columns with the tag '
  '@neverNull. Null would mean their default, and do what callers may have wanted to prevent. User error '
  'REQUIRED.';
grant execute on function mutation.refuse_nulls(regtype, jsonb, boolean) to service_writer;
--! EndIncluded mutation/refuse_nulls.sql
--! Included events/count_subscriptions.sql
create or replace function events.count_subscriptions() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  max_of_credential constant integer :=
    coalesce(nullif(current_setting('service.max_subscriptions_per_token', true), ''), '100')::integer;
  max_in_all constant integer :=
    coalesce(nullif(current_setting('service.max_subscriptions', true), ''), '1000')::integer;
begin
  -- Concurrent subscriptions count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('events.count_subscriptions', 0));
  if (select count(*) from events.webhook_subscription s
    where s.credential_id = new.credential_id) > max_of_credential then
    perform mutation.refuse('TOO_MANY_SUBSCRIPTIONS',
      format('The credential has %s webhook subscriptions; more are not allowed. Delete some.',
        max_of_credential),
      details => jsonb_build_object('maximum', max_of_credential));
  elsif tg_op = 'INSERT' and (select count(*) from events.webhook_subscription s) > max_in_all then
    perform mutation.refuse('TOO_MANY_SUBSCRIPTIONS',
      format('There are %s webhook subscriptions; more are not allowed.', max_in_all),
      details => jsonb_build_object('maximum', max_in_all));
  end if;
  return null;
end
$$;
comment on function events.count_subscriptions() is
  'Trigger: refuses subscriptions beyond the maximum of a credential, or of all, for every writer. The '
  'settings are service.max_subscriptions_per_token and service.max_subscriptions, by default 100 and '
  '1,000. Existing subscriptions stay. User error TOO_MANY_SUBSCRIPTIONS.';
--! EndIncluded events/count_subscriptions.sql
--! Included events/replay_deliveries.sql
create or replace function events.replay_deliveries(subscription_id uuid, from_sequence numeric,
  to_sequence numeric,
  from_time timestamptz, to_time timestamptz, only_undelivered boolean) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 10000;
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  wanted bigint[];
  queued uuid[];
begin
  perform events.require_enabled(present);
  if num_nonnulls(from_sequence, from_time) <> 1 then
    perform mutation.refuse('REQUIRED', 'Say where to begin: at a sequence or a time.', '{from_sequence}');
  elsif num_nonnulls(to_sequence, to_time) > 1 then
    perform mutation.refuse(
      'INVALID', 'Say where to end: at a sequence or a time, not both.', '{to_sequence}'
    );
  end if;
  wanted := array(
    select e.sequence
    from events.event e
    left join events.delivery d on d.sequence = e.sequence and d.subscription_id = present.id
    where e.topic = present.topic and events.concerns(present.fields, e.changed_fields)
      and (from_sequence is null or e.sequence >= ceil(least(greatest(from_sequence, 0), 9e18))::bigint)
      and (to_sequence is null or e.sequence <= floor(least(greatest(to_sequence, 0), 9e18))::bigint)
      and (from_time is null or e.occurred_at >= from_time) and (to_time is null or e.occurred_at <= to_time)
      and (
        d.id is null or d.state <> 'pending'
          and not (d.state = 'delivered' and coalesce(only_undelivered, false))
      )
    order by e.sequence limit most + 1);
  if cardinality(wanted) > most then
    perform mutation.refuse('OUT_OF_RANGE',
      format('These are more than %s events. Replay a part at a time.', most),
      array[case when to_time is null then 'to_sequence' else 'to_time' end],
        jsonb_build_object('maximum', most, 'lastSequence', wanted[most]));
  end if;
  with again as (
    update events.delivery d set state = 'pending', next_attempt_at = null, delivered_at = null
    where d.subscription_id = present.id and d.sequence = any (wanted) returning d.id, d.sequence
  ), missed as (
    -- Events from before it existed, while it was disabled, or outside of its fields
    insert into events.delivery as n (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select present.id, e.sequence, e.id, e.entity_id, coalesce(lag(e.sequence) over (order by e.sequence),
      (
        select max(p.sequence)
        from events.delivery p
        where p.subscription_id = present.id and p.sequence < e.sequence
      ))
    from events.event e
    where e.sequence = any (wanted)
      and not exists (
        select from events.delivery d where d.subscription_id = present.id and d.sequence = e.sequence
      )
    order by e.sequence
    returning n.id
  )
  select array(select id from again union all select id from missed) into queued;
  perform events.enqueue(queued);
  update events.webhook_subscription s
  set last_sequence = greatest(s.last_sequence, wanted[cardinality(wanted)])
  where s.id = present.id and cardinality(wanted) > 0;
  return cardinality(queued);
end
$$;
comment on function events.replay_deliveries(uuid, numeric, numeric, timestamptz, timestamptz, boolean) is
  'Delivers events of a part of the log to a subscription that wants them, again or for the first time. '
  'Pending deliveries stay unchanged. Returns how many.';
grant execute on function events.replay_deliveries(uuid, numeric, numeric, timestamptz, timestamptz, boolean)
  to service_writer;
--! EndIncluded events/replay_deliveries.sql
--! Included events/require_scope.sql
create or replace function events.require_scope(topic text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed constant text := (select t.scope from events.topic t where t.name = topic);
begin
  if not auth.has_scope(needed) then
    perform mutation.refuse('SCOPE_MISSING',
      format('Events about %s require the right to read it: the scope %s is missing.', topic, needed),
      field, jsonb_build_object('scope', needed));
  end if;
end
$$;
comment on function events.require_scope(text, text[]) is
  'Requires that the caller may read the subject of a topic. User error SCOPE_MISSING.';
grant execute on function events.require_scope(text, text[]) to service_writer;
--! EndIncluded events/require_scope.sql
--! Included events/require_settings.sql
create or replace function events.require_settings(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(
    select f.name from events.topic t
    join events.occasion o on o.topic = t.name and o.operation = 'update'
    join events.field f on f.subject_type = t.subject_type
      and f.column_name <> all ('{id,created_at,updated_at}')
    where t.name = subscription.topic order by f.position);
  unknown constant text[] := array(select unnest(subscription.fields) except select unnest(known) order by 1);
begin
  if to_regnamespace('api_' || replace(subscription.api_version, '-', '_')) is null
    or subscription.api_version !~ '^(unstable|\d[\w-]*)$' then
    perform mutation.refuse('INVALID', 'There is no such version of the API.', '{api_version}');
  elsif subscription.fields = '{}' then
    perform mutation.refuse(
      'INVALID', 'Name fields, or omit them to receive every change.', '{fields}'
    );
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID',
      format(
        'Events of the topic %s report no changes of %s.', subscription.topic, array_to_string(unknown, ', ')
      ),
        '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.payload_query is not null
    and not auth.may_send(events.caller(), subscription.payload_query) then
    perform mutation.refuse('INVALID',
      'The credential may only send stored operations, and this query is not stored for it.',
      '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse(
      'URL_FORBIDDEN', 'Webhooks are not sent to this host, because it is not on the public internet. '
      'The operator can allow it by the setting WEBHOOK_ALLOW.', '{url}'
    );
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Validates the input about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';
grant execute on function events.require_settings(events.webhook_subscription) to service_writer;
--! EndIncluded events/require_settings.sql
--! Included events/schema.sql
create or replace function events.schema(topic text) returns json
language sql stable set search_path = pg_catalog, pg_temp
-- Planning takes longer than running it for all topics, and would be repeated for the first five
set plan_cache_mode = force_generic_plan
begin atomic
  select json_build_object(
    '$schema', 'https://json-schema.org/draft/2020-12/schema',
    'title', t.name,
    'description', t.description,
    'type', 'object',
    'required', json_build_array(
      'type', 'timestamp', 'sequence', 'previousSequence', 'apiVersion', 'changedFields', 'cause', 'data'
    ),
    'properties', json_build_object(
      'type', json_build_object('const', t.name),
      'timestamp', '{"type": "string", "format": "date-time", "description": "When it happened."}'::json,
      'sequence', json_build_object(
        'type', case when t.subscribable then 'integer' else 'null' end, 'description',
        'Number in the log, which has no gaps.'
      ),
      'previousSequence', json_build_object('type',
        case when t.subscribable then '["integer", "null"]'::json else '"null"' end,
        'description',
          'Number of the previous event for the same subscription; null for the first one.'),
      'apiVersion',
        '{"type": "string", "description": "Version of the API that the subscription is set to."}'::json,
      'changedFields', case when o.operations @> '{update}'
        then json_build_object('type',
          case when o.operations = '{update}' then '"array"'::json else '["array", "null"]' end,
          'items', json_build_object('enum', changeable.names), 'description',
            'Fields of data that were changed.')
        else '{"type": "null"}' end,
      'cause', '{"type": "object", "required": ["credentialId", "requestId", "idempotencyKey"],
        "description": "The request that caused it; nulls for changes by other programs.", "properties": {
        "credentialId": {"type": ["string", "null"], "pattern": "^gid://service/Credential/[0-9a-f-]{36}$"},
        "requestId": {"type": ["string", "null"]}, "idempotencyKey": {"type": ["string", "null"]}}}'::json,
      'data', json_build_object(
        'title', t.subject_type, 'type', 'object', 'required', shown.names, 'properties', shown.properties,
        'description', case
          when o.operations = '{delete}' then 'The deleted object.'
          else 'The object, as it was then.' end)
    ))
  from events.topic t join events.subject s on s.type = t.subject_type
  cross join lateral (
    select json_agg(f.name order by f.position) as names,
      json_object_agg(f.name, events.value_schema(f, s.relation) order by f.position) as properties
    from events.field f
    where f.subject_type = t.subject_type and (t.fields is null or f.name = any (t.fields))
  ) shown
  cross join lateral (
    select json_agg(f.name order by f.position) as names
    from events.field f
    where f.subject_type = t.subject_type and f.column_name <> all ('{id,created_at,updated_at}')
  ) changeable
  cross join lateral (
    select coalesce(array_agg(o.operation order by o.operation), '{}') as operations
    from events.occasion o
    where o.topic = t.name
  ) o
  where t.name = schema.topic;
end;
comment on function events.schema(text) is
  'Returns the JSON Schema of the message bodies of a topic. `npm run schema` writes them to docs/events. '
  'Fields may be added without notice, so the schema allows more than it names.';
--! EndIncluded events/schema.sql
--! Included events/value_schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- Materialized, so that its subqueries are not copied to each place that uses their results
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
        when attname = 'created_at' then 'When it was created.'
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
  'Returns the JSON Schema of a field, from its column.';
--! EndIncluded events/value_schema.sql
--! Included events/send_again.sql
create or replace function events.send_again(delivery_id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.delivery;
begin
  select * into present from events.delivery d where d.id = delivery_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'The delivery does not exist, or no longer exists.', '{id}');
  end if;
  perform events.require_enabled(events.locked_subscription(present.subscription_id));
  update events.delivery d
  set state = 'pending', next_attempt_at = null, delivered_at = null
  where d.id = delivery_id and d.state <> 'pending';
  if found then
    perform events.enqueue(array[delivery_id]);
  else
    update events.delivery_queue q set next_attempt_at = clock_timestamp(), attempts = 0
    where q.subscription_id = present.subscription_id and q.entity_id = present.entity_id;
  end if;
  return present.subscription_id;
end
$$;
comment on function events.send_again(uuid) is
  'Sends a delivery again, or at once if it waits for its next attempt. Returns the subscription. User '
  'errors NOT_FOUND, INVALID_STATE_TRANSITION.';
select api_meta.give('events.send_again(uuid)', 'service_writer');
grant execute on function events.send_again(uuid) to service_registrar;
--! EndIncluded events/send_again.sql
--! Included auth/limit_credential.sql
create or replace function auth.limit_credential(credential_id uuid, lasts interval) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ends_at constant timestamptz := date_trunc('second', now() + lasts);
  credential_name text;
begin
  if lasts <= interval '0' then
    raise exception 'The end must be in the future.' using errcode = 'invalid_parameter_value';
  end if;
  update auth.credential set expires_at = ends_at
  where credential.id = limit_credential.credential_id
  returning credential.name into credential_name;
  if not found then
    raise exception 'There is no credential %.',
      limit_credential.credential_id using errcode = 'no_data_found';
  end if;
  perform auth.note_event('credential.limited', credential_name, limit_credential.credential_id,
    jsonb_build_object('ends_at', ends_at));
end
$$;
comment on function auth.limit_credential(uuid, interval) is
  'Sets the expiry of a credential to some time from now, whatever it was before. After that it is refused, '
  'with all of its client IDs and access tokens; rotating does not change the expiry.';
grant execute on function auth.limit_credential(uuid, interval) to service_registrar;
--! EndIncluded auth/limit_credential.sql
--! Included auth/retire_signing_key.sql
create or replace function auth.retire_signing_key(id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update auth.signing_key k
  set retires_at = least(k.retires_at, date_trunc('second', clock_timestamp())), secret = null
  where k.id = retire_signing_key.id and k.retires_at is not null;
  if not found then
    raise exception 'There is no key % to retire. The one that signs cannot retire.', retire_signing_key.id
      using errcode = 'no_data_found';
  end if;
  perform auth.note_event('signing_key.retired', retire_signing_key.id::text);
end
$$;
comment on function auth.retire_signing_key(uuid) is
  'Retires a signing key at once, so that the access tokens that it signed are refused. The key that signs '
  'cannot be retired.';
--! EndIncluded auth/retire_signing_key.sql
--! Included auth/rotate_credential.sql
create or replace function auth.rotate_credential(
  credential_id uuid, access_key text, secret_hash bytea, overlap interval default '0'
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_moment constant timestamptz := now() + overlap;
  credential_name text;
begin
  if overlap < interval '0' or last_moment > now() + interval '30 days' then
    raise exception 'The overlap can be 30 days at most.' using errcode = 'invalid_parameter_value';
  end if;
  update auth.credential set rotated_at = date_trunc('second', now())
  where id = rotate_credential.credential_id and deactivated_at is null
    and (expires_at is null or expires_at > now())
  returning name into credential_name;
  if not found then
    raise exception 'There is no active credential %.',
      rotate_credential.credential_id using errcode = 'no_data_found';
  end if;
  -- Without an overlap, client IDs from an earlier overlap stop, too, because they may have leaked.
  if overlap = interval '0' then
    delete from auth.credential_secret as secret where secret.credential_id = rotate_credential.credential_id;
  else
    delete
    from auth.credential_secret as secret
    where secret.credential_id = rotate_credential.credential_id and secret.expires_at <= now();
    update auth.credential_secret as secret set expires_at = least(secret.expires_at, last_moment)
    where secret.credential_id = rotate_credential.credential_id;
  end if;
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (rotate_credential.access_key, rotate_credential.credential_id, rotate_credential.secret_hash);
  perform auth.note_event('credential.rotated', credential_name, rotate_credential.credential_id,
    jsonb_build_object(
      'access_key', rotate_credential.access_key, 'old_key_ends_at',
      case when overlap > interval '0' then last_moment end
    ));
end
$$;
comment on function auth.rotate_credential(uuid, text, bytea, interval) is
  'Gives a credential a new client ID and client secret. Earlier ones, and access tokens that were issued '
  'for them, stop working after the overlap; by default at once.';
grant execute on function auth.rotate_credential(uuid, text, bytea, interval) to service_registrar;
--! EndIncluded auth/rotate_credential.sql
--! Included auth/publish_operations.sql
create or replace function auth.publish_operations(version text, credential_id uuid, operations jsonb)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  published integer;
  total record;
begin
  -- One after the other, so that the limits below hold
  lock table auth.stored_operation in share row exclusive mode;
  insert into auth.stored_operation (version, credential_id, sha256, name, document)
  select publish_operations.version, publish_operations.credential_id,
    pg_catalog.sha256(convert_to(given.document, 'UTF8')), given.name, given.document
  from jsonb_to_recordset(publish_operations.operations) as given (name text, document text)
  on conflict on constraint stored_operation_is_stored_once do nothing;
  get diagnostics published = row_count;
  select count(*) as operations, sum(octet_length(document)) as bytes into total from auth.stored_operation;
  if total.operations > 5000 or total.bytes > 16777216 then
    raise exception 'There would be % stored operations of % bytes: 5000 of 16777216 bytes are the maximum.',
      total.operations, total.bytes using errcode = 'program_limit_exceeded';
  end if;
  if published > 0 then
    perform auth.note_event('operations.published', coalesce(
        (select c.name from auth.credential c where c.id = publish_operations.credential_id), 'all tokens'
      ), publish_operations.credential_id,
      jsonb_build_object('operations', published, 'version', publish_operations.version));
  end if;
  return published;
end
$$;
comment on function auth.publish_operations(text, uuid, jsonb) is
  'Stores operations of a version, for one credential or, with null, for all: an array of objects with name '
  'and document. Operations that are stored already stay unchanged. Returns how many are new.';
--! EndIncluded auth/publish_operations.sql
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  -- Concurrent exports count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('bulk.run_export ' || mutation.caller(), 0));
  -- PHP writes an empty object as an empty list
  if variables = '[]' then
    variables := '{}';
  end if;
  if format not in ('jsonl', 'csv', 'csv_raw') then
    perform mutation.refuse('INVALID', 'The format must be jsonl, csv or csv_raw.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query can have up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'The variables must be an object.', '{variables}');
  elsif not auth.may_send(mutation.caller(), query) then
    perform mutation.refuse('INVALID',
      'The credential may only send stored operations, and this query is not stored for it.', '{query}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Requests an export: the list of a query is written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included bulk/take.sql
create or replace function bulk.take(claim uuid, at_once integer, lease_ms integer)
returns table (id uuid, kind text, resource text, format text, query text, variables jsonb, locale text,
  credential_id uuid, scopes text[], next_chunk integer, traceparent text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  most_attempts constant integer := 10;
begin
  perform pg_advisory_xact_lock(hashtextextended('bulk.take', 0));
  update bulk.operation o
  set state = 'failed', error_code = 'INTERNAL_SERVER_ERROR', finished_at = now(),
    error_message = 'It failed repeatedly, because of an internal error.',
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
      bulk.scopes_of(o.id), o.next_chunk, o.traceparent;
end
$$;
comment on function bulk.take(uuid, integer, integer) is
  'Takes the next bulk operation to work on, for some milliseconds: the oldest that waits, or whose process '
  'is gone. At most so many are in progress at once, and one of each credential.';

create or replace function bulk.lifetime() returns interval
language sql stable
return greatest(interval '7 days',
  nullif(pg_catalog.current_setting('service.keep_bulk_results', true), '')::interval);
comment on function bulk.lifetime() is
  'Returns how long a bulk operation is kept after its end: the setting service.keep_bulk_results, but at '
  'least the 7 days that clients are promised.';
grant execute on function bulk.lifetime() to service_writer;
select api_meta.give('bulk.take(uuid, integer, integer)', 'service_writer');
grant execute on function bulk.take(uuid, integer, integer) to service_worker;
--! EndIncluded bulk/take.sql
--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
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
    ('order.created', 'Order', 'An order was created.', null::text[]),
    ('order.updated', 'Order', 'An order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was created.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'The quantity of a product changed in a place that is not special.', null
    ),
    ('product.created', 'Product', 'A product was created.', null),
    (
      'product.updated', 'Product',
      'A product or a figure of its stock was changed.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was created.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods have been put away.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was created.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'Everything of an order to a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back part of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.', null
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

comment on schema ledger is
  'Stock movements and their booking, and the proof that every stored figure follows from them.';
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adjusts stock: books additions and removals against stock_correction.';
comment on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean) is
  'Returns the draft of a booking of stockAdjust or stockSet: units that are added or removed, against '
  'stock_correction.';
comment on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[]) is
  'Updates figures after lines of fulfillment orders changed. Takes the locks first. The parameter changes '
  'has units still to be fulfilled, by fulfillment order and product; shipped has fulfilled units, by line '
  'of the order. The fulfillment orders in touched may be partially fulfilled now.';
comment on function ledger.await_bookings() is
  'Trigger after stock was deleted alone, without its product or place: waits for bookings of the product. '
  'A count that finds the stock right writes nothing to it, so a deletion would neither wait for it nor see '
  'that it has to delete the count, too (api_meta.follow_deletion).';
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements whose locks have been taken. Checks that no real place is left with a negative quantity '
  'of a product or a batch, and writes each row once, including other figures that change with the '
  'movements. Returns the movements in the order of the drafts, and the stock that they changed. User '
  'errors INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS. Callers must be marked by '
  'api_meta.plan_by_index.';
comment on function ledger.book_correction(ledger.draft, ledger.call[]) is
  'Books one movement between a warehouse or bin and a special place by simple statements. They take two '
  'thirds of the time of ledger.write, with the same result. Returns the movement, the stock, and whether '
  'available stock is below 0 now. Returns nulls, and books nothing, if ledger.plain_place returns no row '
  'or the place has too little stock. The product is locked. Callers must be marked by '
  'api_meta.plan_by_index.';
comment on function ledger.book_singles(ledger.single[]) is
  'Books mutations of stock with one line each in a group commit, as if one came after the other. Takes the '
  'locks, then writes movements and counts of all that qualify for the single-line path. Returns the '
  'mutations that it booked.';
comment on function ledger.broken_rules() is
  'Returns rows that break a check or a foreign key that is declared as not enforced '
  '(api_meta.derive_rules, api_meta.derive_references), with the name of that constraint.';
comment on type ledger.call is
  'One booking, alone or in a group commit: the moment and the note of its movements, and the cause of its '
  'events.';
comment on function ledger.carry_counts(uuid[], uuid) is
  'Repeats the latest count of stock, or of one batch of it, at the same moment, so that the present ledger '
  'is right. For movements that are inserted with an earlier moment, which the count did not include.';
comment on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[]) is
  'Returns how much a booking, and the changes that accompany it, change the figures of each product: by '
  'warehouse, and without a warehouse.';
comment on function ledger.check_expectations(ledger.line[]) is
  'Refuses lines of a mutation of stock that expect another quantity than the present one. User error '
  'QUANTITY_CHANGED.';
comment on function ledger.check_variants(ledger.draft[]) is
  'Checks drafts that bring a product into a place although it only stands for its variants. Counts and '
  'corrections that would add units are refused with the user error PRODUCT_HAS_VARIANTS. Units that '
  'arrive, come back or are moved are booked with a warning of that name, because old stock must be '
  'movable.';
comment on function ledger.counted_quantity(uuid, uuid, timestamptz) is
  'Returns the quantity that a count at a moment must have found, of stock or of one batch of it, for the '
  'present ledger to be right.';
comment on function ledger.draft_of_single(text, ledger.line, integer) is
  'Returns the draft of a mutation of stock with one line (set, adjust or transfer) that changes the stock '
  'of its first place by this quantity.';
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
comment on type ledger.figure_change is
  'A change of figures of a product that accompanies a booking: units promised by fulfillment orders, '
  'reserved by orders, or awaited from supplier orders. Only promised units have a warehouse.';
comment on function ledger.fill_configured_stock() is
  'Trigger: fills a new configuration of a product with the present stock at its place.';
comment on view ledger.flow is
  'Each movement as two rows: the arrival at its destination and, negative, the departure from its source. '
  'The column place is the key of ledger.stock, null once the place was deleted; direction is 1 or -1. The '
  'column booked_at is the exact moment, of which created_at is the second. The column is_count marks '
  'corrections after counts. There are no joins: with one, Postgres could not look up single movements by '
  'index.';
comment on function ledger.follow_states(uuid[]) is
  'Updates promised units after a shipment changed the state of fulfillment orders that have units left. '
  'Promises end if it closed them, because their order lines were deleted; promises begin if an added '
  'transition opened them. Only for erp.ship.';
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between these special places if any, corrects the ledger after a '
  'count. Then no goods moved.';
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds a fault in a line; a cheap test, because faults are rare.';
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds a fault; a cheap test, because faults are rare.';
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anyone but ledger.book: updates the stock of '
  'batches, in each place and in total.';
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, by any writer: a cancellation invoice cancels the invoice that it '
  'refers to. An invoice can be taken back only once, by a cancellation invoice or a credit note. User '
  'error INVALID.';
comment on function ledger.keep_count() is
  'Trigger at the end of a transaction, when batches are known: adds a count for a correction by a count '
  'that was inserted manually or by another program. The count gets the moment of the correction, or of the '
  'latest count if that is later, because the stock has changed since.';
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anyone but ledger.book: takes the locks of a booking, and '
  'updates the figures in the same statement.';
comment on function ledger.keep_fulfillment_figures() is
  'Triggers before a fulfillment is deleted and after fulfillments changed: a cancelled one fulfills '
  'nothing any more.';
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, by any writer: updates the fulfilled quantities of the '
  'lines of fulfillment orders.';
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after fulfillment orders changed: one that opens, '
  'closes or moves to another location changes the reserved quantities of the warehouses.';
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, by any writer: updates the reserved quantities of '
  'warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially '
  'fulfilled.';
comment on function ledger.keep_invoice_figures() is
  'Trigger before an invoice is deleted, while its lines exist, and before it is cancelled or reinstated: a '
  'cancelled invoice charges nothing. Changes by a foreign key must count at once, but a trigger afterwards '
  'would run only after the statement has deleted all of its documents.';
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, by any writer: updates the invoiced quantities of order lines.';
comment on function ledger.keep_label_figures() is
  'Trigger after shipping labels changed: updates the tracking codes of their orders. Outgoing labels count '
  'unless they were cancelled or failed.';
comment on function ledger.keep_location_figures() is
  'Triggers before a location is deleted and after it was given to another warehouse: the promises of its '
  'fulfillment orders go along.';
comment on function ledger.keep_order_amounts() is
  'Trigger before the tax status of an order changes: updates its amounts.';
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders changed: an order that opens or closes changes the '
  'reserved stock of its products.';
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: updates the reserved stock of products and the '
  'amounts of the orders.';
comment on function ledger.keep_purchase_figures() is
  'Trigger after supplier orders or their lines changed: updates the open quantity and the time of the last '
  'supplier order of their products.';
comment on function ledger.keep_tracking_codes() is
  'Trigger before the tracking codes of an order are written: the list holds the codes that people entered '
  'and the codes of its outgoing labels, each once. Codes that are written into the list itself count as '
  'entered by a person.';
comment on function ledger.legs_of(ledger.draft[], timestamptz) is
  'Returns both legs of each movement to be booked.';
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in the same order, so that bookings cannot deadlock. The order is: '
  'warehouses, also of the bins; bins, against deletion and changes of their warehouse; products. Only the '
  'holder of a product''s lock changes its stock and figures. Returns whether all were found. Nulls among '
  'the warehouses and bins are ignored.';
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Returns whether all their products and '
  'places exist, and whether some name batches or expect quantities.';
comment on function ledger.lock_orders(uuid[], uuid[]) is
  'Takes the locks of work on orders, always in the same order and before the locks of ledger.lock: the '
  'orders, then their fulfillment orders. Only the transaction with the lock of an order changes its lines, '
  'states and shipments.';
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of ledger.lock for the products and places of movements to be booked.';
comment on function ledger.lock_promises(uuid) is
  'Takes the locks of ledger.lock for everything that is reserved and promised for an order, after the '
  'locks of the order, its fulfillment orders and their locations.';
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks for shipping products from warehouses, including the locks of the bins that hold them, '
  'after the locks of the orders. From then on no other transaction changes the stock of these products.';
comment on function ledger.lock_stock(ledger.place_change[]) is
  'Locks the stock of each place of a booking, and fails if some is missing. Stock refers to its product '
  'and place, so these exist, too; nothing else checks that for the movements of a booking '
  '(api_meta.derive_references). Only for ledger.write_missing: most bookings find out by an update.';
comment on function ledger.lock_way_back(uuid) is
  'Takes the locks of ledger.lock to take a fulfillment back: for the products that are returned, reserved '
  'or promised again, and for the places that the units came from.';
comment on function ledger.microseconds(timestamptz) is
  'Returns the microseconds of a moment beyond its second: see ledger.stock_movement.microseconds.';
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Returns the units of a product, or of one batch of it, that came to a place after a moment, to the '
  'microsecond, less the units that left it. Corrections by counts are no movements of goods. They are '
  'included only for the place as a whole, if they are from later counts of single batches.';
comment on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) is
  'Returns drafts as rows of the ledger with these ids. All drafts belong to one call, or each to a call of '
  'its own.';
comment on function ledger.named_places(ledger.line[], text) is
  'Returns the places of the lines of a mutation of stock, each with the name of its field in the input.';
comment on function ledger.next_movement_id() is
  'Returns a new id for a movement, larger than the id of every movement that was committed before the '
  'transaction. The number of the transaction is always drawn before the id: readers rely on it '
  '(docs/internals/decisions, followed lists).';
comment on function ledger.next_movement_ids(integer) is
  'Returns new ids for the movements of one booking, ascending, as ledger.next_movement_id would.';
comment on function ledger.note_counts(ledger.stock_reading[], uuid[]) is
  'Records counts, also superseded ones, with the movements that corrected the ledger, which are given in '
  'the order of the counts. Products that are kept in batches are counted by batch; their sum is only '
  'compared, not recorded. Only for ledger.set_stock, which has locked them.';
comment on function ledger.number_movements(uuid[]) is
  'Numbers committed movements that have no number yet: the given ones in this order, or, if none are '
  'given, all in the order of their ids. The latter is for movements that were written while triggers were '
  'switched off. The sequencer of events calls it after commits. Returns how many it numbered.';
comment on function ledger.open_stock(uuid[]) is
  'Inserts the missing rows of stock, with quantity 0, for movements.';
comment on function ledger.amounts_of(numeric[], numeric[], text) is
  'Returns the totals with and without tax of lines with these prices and tax rates; no row if no line has '
  'a price. Lines without a tax rate, such as promotions, are taxed at the average of the others.';
comment on function ledger.order_amounts(uuid, text) is
  'Returns the totals of an order with and without tax, from its lines; no row if no line has a price.';
comment on function ledger.pick_units(ledger.pick[]) is
  'Returns the places to take the units of picks from that name no place, in the order of ledger.ship. '
  'Returns fewer units if there are not enough.';
comment on function ledger.picked_lines(ledger.pick[]) is
  'Returns the picked lines of fulfillment orders, with their units and their position among the picks.';
comment on type ledger.place_change is
  'A change of the stock in a place by a booking, or by one call of a group commit. The column place is a '
  'key as in ledger.stock.place, and warehouse_id the warehouse of the place, if any. The column is_new '
  'says that the stock must be created first; not_for_sale is the part of the change that is not for sale.';
comment on function ledger.place_columns(text, text) is
  'Returns a place, given by its kind and its key (see ledger.stock.place), as the columns of tables that '
  'refer to it.';
comment on function ledger.place_of(uuid, uuid) is
  'Returns the kind and the key (see ledger.stock.place) of a warehouse or a bin.';
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'Returns the rows that change when units come to or leave a warehouse or bin: its stock, the stock in a '
  'special place, if given, and the figures that follow. Returns no row if one of these is missing, or if '
  'batches, variants or counts from a moment on need a check. The product is locked.';
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Returns the mutations of stock with one line each that qualify for the single-line path. For each of '
  'their places, ledger.plain_place must return a row and enough stock must be left. No earlier mutation of '
  'the same product may have been left out. Returns a row for each place: the change there, and the number '
  'of the movement, from 1, if there is one. The products are locked.';
comment on function ledger.post(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements: takes the locks, then calls ledger.book. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
comment on function ledger.prepare(ledger.line[], text) is
  'Prepares a mutation of stock (set, adjust, transfer): checks its lines and takes the locks of the '
  'booking, so that later reads see what the booking finds. User errors REQUIRED, TOO_MANY_LINES, '
  'OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, QUANTITY_CHANGED.';
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'Returns a product after a change of its stock and of the part that is not for sale.';
comment on function ledger.promises_kept(ledger.pick[], uuid[]) is
  'Returns the promises and reservations that end when picks are shipped: of their orders, and of their '
  'fulfillment orders, unless these were assigned for this shipment and so promised nothing.';
comment on function ledger.promises_of(ledger.change[]) is
  'Turns changes of fulfillment orders into changes of their warehouses. Closed and cancelled fulfillment '
  'orders promise nothing.';
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
comment on function ledger.quantity_at(uuid, text, uuid) is
  'Returns the units of a product, or of one batch of it, in a place (see ledger.stock.place).';
comment on function ledger.read_counts(ledger.line[]) is
  'Compares the lines of stockSet with the ledger. The products are locked. Stock that is counted for the '
  'first time gets a row, even with 0 units.';
comment on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text) is
  'Returns the draft of a booking of stockTransfer: units that go from one place to another.';
comment on function ledger.require_batches(ledger.draft[]) is
  'Refuses movements of products that are kept in batches but name no batch. User error BATCH_REQUIRED.';
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse or a bin that holds stock, or to move such a bin to another '
  'warehouse.';
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text) is
  'Books units out to an order and ends their promises; fulfillment orders that were assigned for this '
  'shipment have promised nothing. Units of picks without a place are taken from the bins of the warehouse '
  'by position, then by code. Units outside of any bin come last, and the oldest batch first. Returns the '
  'movements, each with its line. Before, ledger.lock_shipment must be called. User error '
  'INSUFFICIENT_STOCK, and the user errors of ledger.book.';
comment on type ledger.single is
  'A mutation of stock with one line, in a group commit: the operation (set, adjust or transfer), the line, '
  'the note, and the cause of its events. One without an operation is skipped.';
comment on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) is
  'Emits the events of several calls, call by call, with the figures as they were after each. Only for '
  'ledger.write, which has written the figures after all calls.';
comment on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) is
  'Writes bookings of one call or several: adds movements to the ledger, in the order of their drafts, '
  'updates all figures that change, each row once, and emits events. The drafts belong to one call, or each '
  'to a call of its own. Then steps are the changes of each call, and the result is the same as one call '
  'after the other. Events of a call without a cause get the running mutation as their cause. Returns the '
  'movements, and whether available stock that it changed is below 0 now. Everything has been checked and '
  'locked before. Callers must be marked by api_meta.plan_by_index.';
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Updates the stock of batches after movements, in each place and in total, and emits events. Returns the '
  'batches with a known count after the moment of a leg, each with its stock.';
comment on function ledger.write_batches(ledger.draft[], uuid[]) is
  'Records which batches movements moved. Only for ledger.book.';
comment on function ledger.write_deliveries(erp.delivery[], timestamptz) is
  'Records the received quantities of lines of supplier orders. Only for erp.complete_goods_receipt, which '
  'has subtracted them from the awaited units.';
comment on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) is
  'Inserts missing rows of stock and warehouse stock, with their figures, and emits their events; in a '
  'group commit no row is missing. Refuses a booking that names a deleted place. Only for ledger.write.';
comment on function ledger.write_order_states(uuid, text, text, text[]) is
  'Writes the states of an order and its tracking codes, and emits events. Only for erp.settle_order, and '
  'for states that do not change what the order reserves: a completed order has shipped everything.';
comment on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) is
  'Adds movements with these ids, updates stock, warehouse stock, products and their configurations, and '
  'emits events if there is one call. Returns whether available stock is below 0 now, and whether rows were '
  'missing. Add a new figure here. Add it to ledger.book_correction, too, if mutations of stock change it, '
  'and to ledger.product_after if it belongs to products. Only for ledger.write.';
comment on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) is
  'Records a fulfillment: its lines, the movements of each line, and what is fulfilled, shipped and closed '
  'by it, and emits events. Returns the fulfillment, its fulfillment orders, and the ones with units left '
  'whose promises ended or began. Only for erp.ship: ledger.ship has booked the units and updated the other '
  'figures.';
comment on type ledger.booking is
  'The result of a booking: ids of its movements and of the stock that they changed.';
comment on type ledger.change is
  'A change of the quantity of an item for its owner. The item is a product and the owner an order, a '
  'fulfillment order or a warehouse; or the item is a line and the owner a fulfillment.';
comment on type ledger.draft is
  'A movement to be booked. The columns source and destination are keys of places as in ledger.stock.place; '
  'field is the path to the quantity in the input, for user errors.';
comment on type ledger.leg is
  'One end of a movement: the change of the stock in a place, negative where units leave. The column place '
  'is a key as in ledger.stock.place; is_count marks corrections after counts.';
comment on type ledger.line is
  'A line of a mutation of stock. If it has only one place, that is the source; quantity is then a target '
  'or, for adjustments, a change.';
comment on type ledger.named_place is 'A place of a line, with the name of its field in the input.';
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. The column place is a '
  'key as in ledger.stock.place, null while it is still to be chosen; field is the path to the quantity in '
  'the input, for user errors.';
comment on type ledger.stock_reading is
  'A line of stockSet. It has the counted quantity, the units that have moved since, the present quantity '
  'in the ledger, and a newer count if there is one; then moved is null.';
comment on table ledger.batch_stock is
  'The part of the stock in a place that belongs to a batch. The rest belongs to no batch. Special places '
  'have no batches.';
comment on table ledger.movement_sequence is
  'Numbers of movements, assigned after the commit, without gaps. A number stays after its movement was '
  'deleted with its product, so that readers notice what they have missed.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may have been deleted.';
comment on table ledger.special_stock_location is
  'Special places, which do not exist physically: stock comes from them or goes to them when it enters or '
  'leaves the ledger.';
comment on table ledger.stock is
  'The stock of a product in a place: the sum of its movements in, less its movements out.';
comment on column ledger.stock.product_id is 'Product in the place.';
comment on table ledger.stock_count is
  'Counts of stock. Of several counts of a stock, or of one batch of it, the one with the latest moment '
  'applies; of equal moments, the one recorded last. The stock is the counted quantity and what has moved '
  'since (ledger.moved_since). A count of the whole stock also applies to its batches. Rows are never '
  'changed. Counts from before this table existed left only their corrections.';
comment on column ledger.stock_count.id is 'Id, ascending in the order in which counts were recorded.';
comment on column ledger.stock_count.stock_id is
  'The counted stock: a product in a place. Counts are deleted with the place.';
comment on column ledger.stock_count.batch_id is 'The counted batch; null if the whole stock was counted.';
comment on column ledger.stock_count.quantity is
  'Counted units. May be negative in rows that keep the ledger right after movements with an earlier moment '
  'were inserted.';
comment on column ledger.stock_count.counted_at is 'Moment of the count, to the microsecond.';
comment on column ledger.stock_count.difference is
  'Units that the count added to the ledger, negative if it removed some. Null if it was superseded: a '
  'later count of the same stock and batch, or of the whole stock, was known already.';
comment on column ledger.stock_count.stock_movement_id is
  'The movement that corrected the ledger; null if the ledger was right.';
comment on column ledger.stock_movement.transaction_id is
  'Number of the transaction that booked the movement, by which readers find out which movements they could '
  'see; null if that transaction ended long ago.';
comment on column ledger.stock_movement.microseconds is
  'Microseconds of the exact moment of the booking beyond the second in created_at. 0 where only the second '
  'is known.';
comment on constraint stock_movement_process_type_technical_name_fkey on ledger.stock_movement is
  '@unindexed No list is filtered by it, and process types are hardly ever deleted; an index would take a '
  'sixth of the space of all indexes of the table.';
comment on index ledger.stock_movement_product_id_created_at_idx is
  'For ledger.moved_since, and for movements of a product in a period.';
comment on index ledger.stock_movement_transaction_id_idx is 'For clients that follow the list.';
comment on table ledger.stock_movement_batch is 'Units of batches that a movement moved.';
comment on table ledger.warehouse_stock is 'Units of a product in a warehouse, including its bins.';
comment on column ledger.warehouse_stock.product_id is 'The product.';
comment on column ledger.warehouse_stock.available_quantity is
  'Quantity less reserved quantity. Negative if more was promised than there is.';

comment on schema mutation is
  'Everything that all mutations share: the entry point, idempotency keys, user errors.';
comment on function mutation.answers_about(uuid) is
  'Returns the idempotency keys whose stored payloads name a customer or one of its orders.';
comment on function mutation.caller() is
  'Returns the credential of the request, which owns idempotency keys; the nil uuid without a credential.';
comment on function mutation.defaults_of(regclass) is
  'Returns SQL for an object with the default values of a table''s columns, evaluated again for each row.';
comment on function mutation.derive_operations() is
  'Records the properties of each mutation for mutation.run, from the functions of the API schemas and the '
  'tags of their comments. Runs after each migration, and changes only what differs.';
comment on function mutation.digest(name, regtype, jsonb, boolean) is
  'Returns what an idempotency key stands for: SHA-256 of the name of a mutation and of the meaning of its '
  'input. Equal moments are equal in any spelling. Null means the same as omitting the field, except in '
  'mutations that take changes, where null clears a field. The version does not count, nor do fields that a '
  'later version adds and a caller omits.';
comment on function mutation.faults_of_columns(regclass) is
  'Returns SQL that finds the faults of a row w of mutation.row_faults by itself. It finds nulls in '
  'required columns that mutations change, violated checks, foreign keys to missing rows, and texts that '
  'are too long for an index. It runs row by row, because reading many long rows again for each rule takes '
  'seconds.';
comment on function mutation.faults_of_keys(regclass) is
  'Returns SQL that finds rows of mutation.row_faults with a unique key that another row has after the '
  'call. Keys that rows of the call give up are free. Null if the table has no unique key.';
comment on function mutation.find(name, name) is
  'Returns the function of a mutation, the type of its input, whether it takes changes, and the payload '
  'columns that are shown once, as recorded by mutation.derive_operations. Fails if there is no mutation of '
  'that name, or the caller lacks its scope.';
comment on function mutation.forget_keys() is 'Removes some expired idempotency keys.';
comment on function mutation.free_keys(regclass, mutation.upsert_row[], text[]) is
  'Frees unique keys that rows of an upsert take from each other: Postgres checks each row by itself, and '
  'would refuse rows that swap keys. Their holders have their own id as a key until they are written, which '
  'no event reports.';
comment on type mutation.joint_call is
  'A call in a group commit: its kind (set, adjust or transfer) and line, whether it fits the single-line '
  'path, and the cause of its events. With an idempotency key, also the digest, and the payload of the '
  'earlier call with this key.';
comment on function mutation.joint_calls(jsonb) is
  'Returns the calls of stock_adjust, stock_set and stock_transfer among the calls of '
  'mutation.run_together. They fit the single-line path if they have one line with only the usual fields, '
  'and the caller has the scope.';
comment on function mutation.keep_answer(text, bytea, jsonb, timestamptz) is
  'Stores the result of the running mutation for repetitions with its idempotency key, with the digest of '
  'its input: its payload or, with a moment, its user errors. One call in eight removes some expired keys.';
comment on function mutation.key_lifetime() is
  'Returns how long an idempotency key is kept: the setting service.keep_idempotency_keys, but at least the '
  '24 hours that clients are promised.';
comment on function mutation.key_lock(uuid, text) is
  'Returns the advisory lock of an idempotency key. Its holder finds out whether the key is taken, without '
  'waiting for the transaction that takes it.';
comment on function mutation.match_of(regclass, text[], text) is
  'Returns SQL for the id of the row of a table that a given row r refers to. That is the row with its id, '
  'else the first that a match finds and that is not in others, an array of ids.';
comment on function mutation.order_of_keys(regclass) is
  'Returns SQL for the order in which rows r are inserted into a table: by its unique keys.';
comment on function mutation.path(text, bigint, text[]) is
  'Returns the path to an element of a list in the input, or to a field of it, for user errors. Lines are '
  'counted from 1.';
comment on function mutation.prune_keys(integer) is
  'Removes expired idempotency keys that no mutation has removed, at most as many as the batch. Returns how '
  'many: call it again until that is 0.';
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; does nothing if the array is empty or null. SQLSTATE '
  'UE001, with the array as detail.';
comment on function mutation.refuse_missing(text, text[]) is
  'Ends the mutation because an id in the input does not exist. User error NOT_FOUND.';
comment on function mutation.refuse_too_many(integer, integer, text[]) is
  'Ends the mutation if a list of the input is too long. User error TOO_MANY_LINES.';
comment on function mutation.rehearse() is
  'Rehearses a booking of stock and a shipment, with validate_only, on a new connection, so that Postgres '
  'reads its catalog, compiles and plans before the first request. Waits for locks for 50 ms, does nothing '
  'in an empty shop, and leaves nothing behind but unused numbers of fulfillments.';
comment on function mutation.require_rows(mutation.upsert_row[], boolean) is
  'Ends an upsert that has refused rows, unless it is partial.';
comment on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) is
  'Returns the faults of the rows of an upsert by the rules of the table: not null, checks, foreign and '
  'unique keys, with the user errors in their comments. One statement, built from the catalog, checks all '
  'rows and rules.';
comment on function mutation.run(name, name, jsonb, text, boolean, jsonb, timestamptz) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The '
  'only entry point for service_api: needs the scope in the tag @requiresScopes of the function''s comment. '
  'Returns {payload, userErrors, warnings}; with user errors nothing has been changed, and there are no '
  'warnings. With an idempotency key, a repetition within 24 hours returns the first payload and its '
  'warnings again. A refusal with a key is stored, too: a call with that key gets it again, with a field '
  'refusal, unless newer_than is its moment (see mutation.take_key). The parameter refusals has user errors '
  'of earlier checks. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 if the plan allows no mutations, internal faults, and conflicts that are worth another '
  'try.';
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations in a group commit, as if mutation.run ran one after the other. Takes an array of '
  'objects with version, operation, input, key, credential_id, request_id, scopes and traceparent. Returns '
  'an array: for each call the result of mutation.run, or null if the caller must use mutation.run. Null is '
  'returned for calls that do not fit the single-line path, may be refused, or would wait for an '
  'idempotency key, and for later calls of the same product.';
comment on function mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) is
  'Takes an idempotency key for the running mutation, which holds its lock; mutation.keep_answer stores it. '
  'Returns null if the key is free. Otherwise returns the result of the earlier call with the key, or '
  'IDEMPOTENCY_KEY_MISMATCH if that call had another input. A refusal holds the key for calls that arrived '
  'before it. Only the caller knows whether its own did, so the result has a field refusal, with the moment '
  'and the age of the refusal. The caller then calls again: with this moment as newer_than for a new try, '
  'or with -infinity for the final refusal. With validate_only, refusals are ignored.';
comment on function mutation.take_keys(mutation.joint_call[]) is
  'Returns the calls, of which only some still fit the single-line path. They have no idempotency key or a '
  'free one, or repeat a call that has a result. Keys that stand for another input, or have expired, are '
  'left to mutation.run.';
comment on function mutation.thing(regclass) is
  'Returns the everyday name of a row of a table, for messages.';
comment on type mutation.upsert_row is
  'A row of an upsert in progress. It has its place in the input, from 1; the id of its object, which may '
  'be new; the caller''s input; the present and the wanted row of the table. It also has whether something '
  'was written, and the user errors that refuse it, or null.';
comment on type mutation.row_fault is
  'A fault of a row of an upsert: the place of the row in the input, and a user error whose field is a path '
  'within the row.';
comment on function mutation.upserted(mutation.upsert_row[]) is
  'Returns the outcome of each row of an upsert, in the form of upsert_result, and the ids of the rows that '
  'are not refused, in their order.';
comment on function mutation.user_error(text, text, text[], jsonb) is
  'Returns one user error: a code of api_unstable.user_error_code, a message, the path to the wrong input '
  'in names of columns (such as {lines,0,quantity}), and further facts.';
comment on function mutation.violation(name, name, name) is
  'Returns the user error of a violated constraint, from the constraint''s comment: @userError CODE column, '
  'and on the next line a message. Null if the comment has none: then the violation is an internal fault.';
comment on function mutation.warn(jsonb) is
  'Adds an array of warnings to the running mutation, each as mutation.user_error returns it; does nothing '
  'if the array is empty or null. mutation.run returns them if the mutation succeeds. A rollback to a '
  'savepoint removes the warnings since then.';
comment on function mutation.warn(text, text, text[], jsonb) is
  'Adds a warning to the running mutation: a code of api_unstable.warning_code, a message, the path to the '
  'input in names of columns (such as {lines,0,quantity}), and further facts.';
comment on function mutation.warnings() is
  'Returns the warnings of the running mutation, as added by mutation.warn. They live as long as its '
  'transaction.';
comment on function mutation.with_changes(mutation.upsert_row[], uuid[]) is
  'Returns the rows of an upsert, of which the rows with these ids are marked as changed, because something '
  'that belongs to them was.';
comment on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[]) is
  'Refuses rows of an upsert for these faults, in addition to the faults that they have.';
comment on function mutation.with_faults_of_taken_keys(regclass, mutation.upsert_row[], text, boolean) is
  'Refuses rows of a partial upsert that want the unique key of another row, if that row is refused and so '
  'keeps it.';
comment on function mutation.with_values(mutation.upsert_row[], jsonb) is
  'Returns the rows of an upsert with other values of columns, given as an object by the places of the '
  'rows; null changes nothing.';
comment on function mutation.write_rows(regclass, mutation.upsert_row[]) is
  'Writes the rows of an upsert that are not refused: new ones in the order of their unique key, so that '
  'two calls cannot deadlock, and rows that differ. Unchanged rows are not touched.';
comment on table mutation.idempotency_key is
  'Idempotency keys of the last 24 hours, by credential, with their mutations. Written in the transaction '
  'of the mutation''s effect or refusal.';
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of the meaning of its input, by mutation.digest.';
comment on column mutation.idempotency_key.payload is
  'The stored result: the payload, with ids instead of objects, and warnings; for a refused mutation, its '
  'user errors.';
comment on column mutation.idempotency_key.refused_at is
  'When the mutation was refused; null if it succeeded. A call that arrived later may use the key again.';
comment on constraint idempotency_key_pkey on mutation.idempotency_key is
  '@internal take_key() refuses empty keys, and another input with the same key';
comment on index mutation.idempotency_key_created_at_idx is 'For the removal of expired keys.';
comment on table mutation.operation is
  'Mutations, with the properties that mutation.run needs. Derived from the functions of the API schemas '
  'after each migration.';

comment on schema events is 'Webhook subscriptions, and the events that are delivered to them.';
comment on function events.announce_growth() is
  'Notifies listeners on the channel service_events that the log has grown, once that is committed.';
comment on function events.announcement(events.subject, text, text) is
  'Returns SQL for the events that rows of a subject cause: topic, subject, entity, data, changed fields. '
  'The source names the new row n, the old one o, and the changed fields of an update c.changed. Null if '
  'there are none.';
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
comment on function events.backlog() is
  'Returns the backlog: the number of changes in the outbox and of pending deliveries, the age of the '
  'oldest, and the number of subscriptions by health. Of the outbox it counts up to 10,001 rows, so that it '
  'stays cheap with any backlog.';
comment on function events.caller() is 'Returns the credential of the request.';
comment on function events.cancel_deliveries(uuid[]) is
  'Cancels pending deliveries, and removes them from their queues. Returns how many.';
comment on function events.cause(text, text, text) is
  'Returns the cause of an event: the credential, the request and the idempotency key of a mutation.';
comment on function events.traced(jsonb, text) is
  'Returns a cause with the trace of its request, in W3C format. The sequencer stores it apart from the '
  'cause, which clients see.';
comment on function events.cause() is
  'Returns the cause of events: credential, request and idempotency key of the running mutation, nulls '
  'outside of one, and the trace of the request, if it has one.';
comment on function events.changed_expression(events.subject, boolean) is
  'Returns SQL for the names of the fields that differ between the old row o of a subject and the new row '
  'n. These may be all fields, or the fields that a booking may change.';
comment on function events.claim_delivery_queues(text, integer, integer, jsonb, interval, jsonb, integer) is
  'Claims due queues for the length of the lease, and returns their first deliveries. The parameter busy is '
  'the number of queues of each subscription that the process is sending; hanging is how many of these have '
  'taken long. Together with them, a credential gets at most credential_share queues, a subscription at '
  'most share, and a degraded subscription a single one that does not hang. A suspended subscription is '
  'only probed from time to time, and a paused one is tried after its pause: by one process, with the queue '
  'that has waited longest. The same holds for a degraded one that has not been tried for a while. Nothing '
  'is claimed while the plan has no API.';
comment on function events.claimed_delivery(uuid, uuid, text) is
  'Returns the first delivery of a claimed queue without a recorded outcome, with the ones that follow. '
  'Returns none while the subscription is disabled or the plan has no API. It takes no locks.';
comment on function events.concerns(text[], text[]) is
  'Whether a subscription to changes of some fields wants an event. It wants every event that is no update.';
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Returns the id; the secret has to be created afterwards. User errors '
  'INVALID, SCOPE_MISSING, URL_FORBIDDEN.';
comment on function events.data_columns(events.subject, text[], text) is
  'Returns SQL for the data of an event: the given fields, or all, from a row with an alias, in the '
  'spelling of the API. An id may consist of several columns, with commas between them.';
comment on function events.delete_webhook_subscription(uuid) is
  'Deletes a subscription with its secrets and deliveries. Returns its id.';
comment on function events.make_announcer(text, text, regclass, text) is
  'Creates the function of a trigger that writes the events of rows into the outbox, unless it is up to '
  'date.';
comment on function events.derive_announcements() is
  'Creates the triggers that write declared events and, for tables that bookings write to, the functions by '
  'which bookings write the same events. Runs after each migration.';
comment on function events.derive_booked_events(events.subject, text) is
  'Creates the function that returns the events of a booking''s change of a row: the same events as the '
  'trigger''s.';
comment on function events.derive_scopes() is
  'Lets the scopes of all topics read the log of events: writes them into the comment of its view.';
comment on function events.disable_webhook_subscription(uuid) is
  'Stops a subscription for a client, as events.stop_subscription does.';
comment on function events.drop_waiting(uuid, integer) is
  'Cancels pending deliveries to a subscription, at most as many as the batch. Returns how many: call it '
  'again until that is less than the batch.';
comment on function events.due_at() is
  'Returns when there is work next: -infinity while committed changes are not in the log yet, otherwise '
  'when events.claim_delivery_queues will find an unclaimed queue; null if there is none. A service with '
  'many merchants sleeps until then.';
comment on function events.enable_webhook_subscription(uuid) is
  'Resumes a subscription for a client, as events.resume_subscription does; from then on the subscription '
  'belongs to the caller. Returns its id.';
comment on function events.enqueue(uuid[]) is
  'Adds deliveries that have just become pending to their queues, which are tried at once. The caller has '
  'locked the subscriptions.';
comment on function events.entity_columns(events.subject) is
  'Returns the columns by which events of a subject are kept in order; without such columns, the columns of '
  'its key.';
comment on function events.event_id(bigint) is
  'Returns a new id for the event with this number. Ids sort as the numbers do.';
comment on function events.fan_out(bigint, bigint) is
  'Creates the deliveries of new events of the log, one for each enabled subscription that wants the event.';
comment on function events.host_of(text) is
  'Returns the host name or address in a web address, without the brackets of IPv6; null if there is none, '
  'or if the web address has a user name.';
comment on function events.is_exact(events.field) is
  'Whether bigint and numeric are texts in the view of a field''s subject, so that no digit is lost.';
comment on function events.is_forbidden_host(text) is
  'Whether webhooks to a host are forbidden, judging by its name: addresses outside of the public internet, '
  'and names that usually lead to such. The operator allows names, addresses and ranges by the setting '
  'service.webhook_allow. The address that a name resolves to is checked at each delivery.';
comment on function events.is_private_address(inet) is
  'Whether an address is outside of the public internet: private, loopback, link-local, shared, reserved or '
  'multicast.';
comment on function events.key_columns(regclass) is 'Returns the columns of the primary key of a table.';
comment on function events.key_uuid(jsonb[]) is
  'Returns a uuid for a key of other types, so that events of equal keys are kept in order. It depends on '
  'the key alone.';
comment on function events.lifetime() is
  'Returns how long events and their deliveries are kept: the setting service.keep_events, but at least the '
  '30 days that subscribers are promised.';
comment on function events.attempt_lifetime() is
  'Returns how long attempts to send webhooks are kept, with their responses: the setting '
  'service.keep_webhook_attempts, or 30 days without it. At least 7 days, in which all attempts are made.';
comment on function events.lock_subscription(uuid) is
  'Locks a subscription to work on it for a client, and returns it. Every way to make it send something, or '
  'to change its address, needs the scope of its topic. User errors NOT_FOUND, SCOPE_MISSING.';
comment on function events.locked_subscription(uuid) is
  'Locks a subscription to work on it, and returns it. User error NOT_FOUND.';
comment on view events.message is
  'The message of each delivery, unless a payload query reads the data. events.schema describes it. The '
  'message of a test, which is no event of the log, contains the subscription itself.';
comment on function events.message_body(uuid) is
  'Returns the body that a delivery sends, unless a payload query reads the data. events.schema describes '
  'it.';
comment on function events.new_secret(uuid) is
  'Stores the new secret of a subscription that the service has generated (settings service.new_secret_id '
  'and service.new_secret). Returns its id, which the service replaces by the secret, once. The previous '
  'secret also signs for another 24 hours.';
comment on function events.next_deliveries(jsonb) is
  'Returns the next deliveries of queues that continue after events.record_attempts.';
comment on view events.next_delivery is
  'The next delivery of each queue, with everything that is needed to send it: secrets as they are stored, '
  'with their ids. The column withheld is the reason why it must not be sent, null if it may be sent. The '
  'column is_early says that the queue was taken before its schedule, to check whether the receiver '
  'responds again. The column following has up to nine later deliveries of the queue, which are sent one '
  'after the other while each is accepted.';
comment on function events.prune(integer) is
  'Deletes events that were recorded longer ago than events.lifetime(), with their deliveries, and old '
  'tests, at most as many of each as the batch; also deletes expired secrets. Returns how many: call it '
  'again until that is 0.';
comment on function events.prune_attempts(integer) is
  'Deletes attempts to send webhooks that are older than events.attempt_lifetime(), at most as many as the '
  'batch. Returns how many: call it again until that is 0.';
comment on function events.readable_topics() is
  'Returns the topics whose subjects the caller may read. The policy of the log calls it once per '
  'statement.';
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Records the outcome of deliveries, and the new state of their subscriptions, whose locks the caller '
  'holds. A queue may have several outcomes if all but the last are successes. Queues that continue stay '
  'claimed for another lease, unless the plan has no API any more; returns their next deliveries. A '
  'delay_ms of null leaves the time of the next attempt unchanged. If a claim was lost, the outcome of its '
  'delivery still counts, because the receiver has it, but the queue stays unchanged.';
comment on function events.renew_claims(text[], interval) is
  'Extends the leases of the queues of claims, and returns these queues. A missing one was taken by another '
  'process, is empty, or will be renewed the next time.';
comment on function events.require_enabled(events.webhook_subscription) is
  'Refuses to send anything for a disabled subscription. User error INVALID_STATE_TRANSITION.';
comment on function events.resume_subscription(uuid) is
  'Resumes a subscription, with the credential that it belongs to: pending deliveries are sent at once, and '
  'its failures are reset. User errors NOT_FOUND, INVALID, URL_FORBIDDEN.';
comment on function events.retract(uuid[], bigint) is
  'Deletes the events about these subjects that the running transaction has written after a position, '
  'because it changes the subjects again. It holds their locks, so no other transaction has written events '
  'about them since.';
comment on function events.retry_delivery(uuid) is
  'Sends a delivery again for a client, as events.send_again does. Returns its id.';
comment on function events.rotate_webhook_secret(uuid) is
  'Gives a subscription a new secret, and returns the secret''s id.';
comment on function events.scopes_of_subscription(uuid) is
  'Returns the scopes that the messages of a subscription may use; called at every attempt. They are the '
  'present scopes of the subscription''s credential, or all scopes if an administrator created it. Returns '
  'null if nothing may be sent. Then the credential is deleted, deactivated or expired, lacks the scope of '
  'the topic, or may only send stored operations and the query of the subscription is none.';
comment on function events.send_test(uuid) is
  'Sends a test to a subscription: an event of the topic webhook_subscription.test. Returns the delivery. '
  'User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
comment on function events.sequence_events(integer) is
  'Moves committed changes from the outbox into the log, at most a batch, and creates their deliveries. '
  'Changes that become visible later get later numbers, so readers of the log miss nothing, and events of '
  'one entity keep their order. Also numbers stock movements. Notifies listeners on the channel '
  'service_events. Returns how many events it moved, or null while another process is doing the same.';
comment on function events.sequences_about(uuid[], bigint) is
  'Returns the events about subjects that belong to customers, by the index of topics, because most events '
  'are about stock.';
comment on function events.settle_delivery_queues(jsonb, jsonb, timestamptz) is
  'Updates delivery queues after events.record_attempts: deletes empty ones, and makes all queues of a '
  'subscription due at once, or never, if its new state demands that.';
comment on function events.stop_subscription(uuid, text) is
  'Stops a subscription. Pending deliveries wait until it is enabled again; it does not receive events that '
  'happen in between.';
comment on function events.test_webhook_subscription(uuid) is
  'Sends a test to a subscription for a client, as events.send_test does. Returns the delivery.';
comment on function events.update_webhook_subscription(uuid, jsonb) is
  'Changes the properties of a subscription that the object names. Its topic stays, because deliveries of '
  'it may be pending. Returns its id.';
comment on function events.uuid_expression(regclass, name[], text) is
  'Returns SQL for the uuid of columns of a row with an alias. That is the value of the only column if it '
  'is a uuid, otherwise a uuid that is computed from them.';
comment on table events.delivery is 'An event for one subscription. Kept as long as the event.';
comment on column events.delivery.sequence is
  'Number of the event in the log; null for a test, which is not in the log.';
comment on column events.delivery.previous_sequence is
  'Sequence of the previous event for the subscription; null for the first one. A receiver that has not '
  'received that event has missed something.';
comment on constraint delivery_is_one_per_event_and_subscription on events.delivery is
  '@internal replay_deliveries() and send_test() skip existing deliveries';
comment on table events.delivery_attempt is 'Attempts to deliver, with their outcome.';
comment on column events.delivery_attempt.number is 'Number of the attempt at this delivery, from 1.';
comment on column events.delivery_attempt.status is 'HTTP status of the response; null if there was none.';
comment on column events.delivery_attempt.error is 'Error message; null if the attempt succeeded.';
comment on column events.delivery_attempt.response_headers is 'Headers of the response.';
comment on column events.delivery_attempt.response_body is
  'Beginning of the response, 4,096 characters at most.';
comment on table events.delivery_queue is
  'Delivery queues: the pending deliveries of one entity to one subscription, which are sent one after the '
  'other. A queue whose first delivery fails delays only itself. A queue exists while something is pending '
  'in it.';
comment on column events.delivery_queue.pending is 'Number of pending deliveries in the queue.';
comment on column events.delivery_queue.attempts is 'Number of failed attempts at its first delivery.';
comment on column events.delivery_queue.next_attempt_at is
  'Time of the next attempt; infinity while the subscription is disabled.';
comment on column events.delivery_queue.claimed_until is
  'End of the lease: until then no other process takes the queue. The process with the lease renews it '
  'every few seconds.';
comment on column events.delivery_queue.claimed_by is 'The claim that holds the lease.';
comment on column events.delivery_queue.due_at is
  'When the queue may be taken: after the waiting time and the lease.';
comment on index events.delivery_queue_claimed_by_idx is 'For a process that renews its claims.';
comment on table events.event is
  'The log: all events of the last 30 days, in the order in which they were committed.';
comment on column events.event.id is 'Id that begins with the sequence, so that ids sort as the log does.';
comment on column events.event.changed_fields is
  'Fields that the update changed; null if the event is no update.';
comment on column events.event.traceparent is
  'Trace of the request that caused the event, for its webhooks: traceparent and, after a space, '
  'tracestate. Null if the request was not traced.';
comment on table events.field is 'Fields in the data of events, by the type of their subject.';
comment on column events.field.name is 'Name of the field, as in the API.';
comment on column events.field.column_name is
  'The column, or several columns of a combined id, with commas between them.';
comment on column events.field.id_of is 'Type whose id the column holds; null if it holds no id.';
comment on table events.log_head is
  'The end of the log: one row. Only the transaction that has locked it may write to the log.';
comment on table events.occasion is
  'Changes of a subject that cause an event of a topic. events.derive_announcements turns them into '
  'triggers.';
comment on column events.occasion.columns is
  'Columns of which one must have changed; null for any column in the data.';
comment on column events.occasion.condition is
  'SQL condition on the new row n and, for an update, the old row o; null for none.';
comment on table events.outbox is
  'Committed changes on their way to the log. Each is written in the transaction of the change, and the '
  'sequencer moves it to the log. The primary key is the only index, because each further one would make '
  'every booking slower.';
comment on column events.outbox.entity_id is
  'Events with the same entity_id are kept in order. It is the id of the subject itself or, for stock, of '
  'the product; for keys that are no uuid, it comes from events.key_uuid.';
comment on column events.outbox.data is 'The subject as it was then, with the names and ids of the API.';
comment on column events.outbox.changed_fields is
  'Fields of the data that an update changed; null if the event is no update.';
comment on column events.outbox.cause is 'The credential and the request that caused it.';
comment on table events.subject is
  'Subjects of events: types of the API. Declared in db/fixtures/events/topics.sql.';
comment on column events.subject.view_name is
  'View of the type in the version unstable of the API. Its scope is needed to read the events.';
comment on column events.subject.entity_column is 'Column with the id by which events are kept in order.';
comment on table events.topic is 'Topics: kinds of events, each with the scope that is needed to receive it.';
comment on column events.topic.scope is 'Scope that reads the subject, as declared by its view.';
comment on column events.topic.fields is 'Fields in the data; null for all fields of the subject.';
comment on column events.topic.subscribable is
  'Whether webhooks can subscribe to it. Only the topic of tests cannot be subscribed to.';
comment on table events.webhook_secret is
  'Secrets that sign deliveries: the current one of each subscription and, for 24 hours, earlier ones. Only '
  'service_delivery reads them.';
comment on column events.webhook_secret.secret is
  'whsec_ and the key in base64, or its encrypted form (src/secrets).';
comment on column events.webhook_secret.expires_at is 'When it stops signing; null for the current secret.';
comment on constraint webhook_secret_has_its_form on events.webhook_secret is
  '@internal the service creates it';
comment on column events.webhook_subscription.credential_id is
  'Credential that created or last changed it, and whose scopes decide what is sent. Null if an '
  'administrator did; then every event is sent.';
comment on column events.webhook_subscription.topic is
  'Topic to subscribe to, as resource.event, for example order.created.';
comment on column events.webhook_subscription.api_version is 'API version that shapes the payloads.';
comment on column events.webhook_subscription.fields is
  'Sends only changes of at least one of these fields; null for all changes.';
comment on column events.webhook_subscription.payload_query is
  'GraphQL document that reads the payload; null for the default payload.';
comment on column events.webhook_subscription.health_reason is 'Explanation of the health.';
comment on column events.webhook_subscription.backlog_count is 'Number of events that wait to be delivered.';
comment on column events.webhook_subscription.last_sequence is
  'Sequence of the newest event for it; null if there was none yet.';
comment on column events.webhook_subscription.payload_failures is
  'How many times in a row the payload query took too many resources.';
comment on column events.webhook_subscription.paused_until is
  'End of the pause after the payload query took too many resources; null without a pause.';
comment on constraint webhook_subscription_url_is_web on events.webhook_subscription is
  E'@userError INVALID url\nThis is not a valid web address: it must begin with https:// or http://, and '
  'have no user name, fragment or spaces.';
comment on index events.webhook_subscription_credential_id_idx is
  'For counting the subscriptions of a credential.';

comment on function auth.acting_administrator() is
  'Returns the administrator to whose session the transaction belongs: the setting service.session has the '
  'SHA-256 of the session''s token, in hex. Null without a session that has not ended.';
comment on function auth.activate_credential(uuid) is
  'Activates a deactivated credential again, with the same client ID and secret. Does nothing to an active '
  'one, and cannot revive an expired one.';
comment on function auth.active_scopes(text) is
  'Returns the present scopes of access tokens of this client ID, how much longer it lasts (null if it '
  'never expires), and whether it may only send stored operations. No row if it does not exist, or its '
  'credential is expired or deactivated.';
comment on function auth.add_first_signing_key(uuid, text) is
  'Stores a key to sign access tokens, if none signs yet.';
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget cached credentials and the cached plan, as soon as '
  'the change is committed. Processes that do not listen notice it by auth.rights_mark.';
comment on function auth.authenticate_credential(text, bytea) is
  'Returns the active credential that has this client ID and SHA-256 of a client secret, or no row. The '
  'caller cannot find out what was wrong.';
comment on function auth.change_credential(uuid, text, text[]) is
  'Gives a credential another name or other scopes. Removed scopes are gone from its access tokens at once; '
  'added ones are in its next access tokens.';
comment on function auth.charge_points(text, double precision, double precision) is
  'Takes points from a bucket after the fact, whether or not it has them. Afterwards it is full again in '
  'maximum_ms milliseconds at most.';
comment on function auth.clear_full_buckets() is
  'Deletes up to 10,000 full buckets, because a missing one counts as full. Returns how many.';
comment on function auth.create_administrator(text, text) is
  'Creates an administrator, with the argon2id hash of a password. Returns the id.';
comment on function auth.create_credential(text, text[], text, bytea, uuid) is
  'Creates a credential with its first client ID and the SHA-256 of its client secret. Returns its id. '
  'Refuses scopes that do not exist.';
comment on view auth.credential_overview is
  'Credentials as administrators see them: everything but the secrets. The newest client ID comes first; '
  'earlier ones will expire.';
comment on function auth.current_plan() is 'Returns the plan that the merchant has, with its limits.';
comment on function auth.deactivate_administrator(text) is
  'Ends all sessions of an administrator, and refuses their log-ins from then on.';
comment on function auth.deactivate_credential(uuid) is
  'Deactivates a credential and all of its access tokens. Deactivating it again changes nothing.';
comment on function auth.delete_credential(uuid) is
  'Deletes a credential with its secrets. Its access tokens stop working at once.';
comment on function auth.documented_schema(text) is
  'Returns the JSON Schema of a topic''s messages, for the documentation. One topic per call, because each '
  'takes some ten milliseconds.';
comment on function auth.documented_topics() is
  'Returns all topics of events, for the documentation, which is public.';
comment on function auth.erase_retired_keys() is
  'Erases signing keys that have retired, but not their rows. Returns how many.';
comment on function auth.is_scope_list(text[]) is
  'Whether all elements have the form <resource>:read or <resource>:write, and each write scope is '
  'accompanied by its read scope.';
comment on function auth.is_session(bytea) is
  'Whether this is the SHA-256 of the token of a session that has not ended. By this, the API recognizes '
  'tokens of the administration.';
comment on function auth.keep_audit() is
  'Trigger: refuses changes and deletions, also by the owner, except for the deletions of auth.prune_audit.';
comment on function auth.known_scopes() is
  'Returns every scope that a credential can have: the scopes in the tags @requiresScopes and @scopesOfAll '
  'in the API schemas, and a read scope for each write scope. So a scope is declared in one place, beside '
  'the view that it protects or the mutation that needs it, and no write scope exists without a mutation.';
comment on view auth.live_session is
  'Sessions that have not ended: begun within 12 hours, used within one, and of an active administrator.';
comment on function auth.may_send(uuid, text) is
  'Whether a credential may run a GraphQL document. If it may only send stored operations, the document '
  'must be stored for it, in any version. Null stands for a document that cannot be stored.';
comment on function auth.note_event(text, text, uuid, jsonb) is
  'Adds an event to the audit, done by the administrator of the session. Without a session, it was done at '
  'the command line or, if there is an address (setting service.address), by a visitor who is not logged '
  'in.';
comment on function auth.note_webhook_event(text, uuid, jsonb) is
  'Adds an event about a webhook subscription to the audit, also linked to the credential that the '
  'subscription belongs to.';
comment on view auth.operation_overview is
  'Operations of the last 14 days with their totals: requests, time of their SQL statements, credentials.';
comment on function auth.prune_audit(integer) is
  'Deletes events of the audit that are older than auth.audit_lifetime(), at most as many as the batch. '
  'Returns how many: call it again until that is 0.';
comment on function auth.prune_credentials(integer) is
  'Deletes credentials that expired longer ago than auth.use_lifetime(), with the remaining counts of their '
  'use, at most as many as the batch. Credentials of webhook subscriptions stay. Returns how many: call it '
  'again until that is 0.';
comment on function auth.prune_operations(integer) is
  'Deletes uses of operations older than 14 days, and operations that nobody sends any more, at most as '
  'many of each as the batch. Returns how many: call it again until that is 0.';
comment on function auth.prune_uses(integer) is
  'Deletes records of use by credentials that are older than auth.use_lifetime(), at most as many rows of '
  'each kind as the batch. Returns how many: call it again until that is 0.';
comment on function auth.record_fields(jsonb) is
  'Records the last day on which credentials used fields: an array of objects with credential_id, version, '
  'field, day.';
comment on function auth.record_operations(jsonb) is
  'Adds to the statistics of operations that credentials sent: an array of objects with id, version, name, '
  'document, credential_id, day, requests, ms, slowest_ms, statement. Keeps up to 300 operations of a '
  'credential per day.';
comment on function auth.record_use(jsonb) is
  'Adds to the counts of use by credentials: an array of objects with credential_id, day, version, '
  'requests, last_used_at, and for uses of a deprecated field deprecated_field.';
comment on function auth.remove_operations(text, uuid, text[]) is
  'Removes the stored operations of a version, of a credential and with these SHA-256 in hex; null stands '
  'for any. Returns how many.';
comment on function auth.reset_administrator_password(text, text) is
  'Gives an administrator another password, ends all of their sessions, and activates them if they were '
  'deactivated.';
comment on function auth.restrict_operations(uuid, boolean) is
  'Restricts a credential to stored operations, or allows it all operations again.';
comment on function auth.rights_now() is
  'Returns a mark of rights and the state of migrations: both stay the same while nothing has changed about '
  'rights, and no migration has run. It reveals nothing else, so the role of clients'' operations may call '
  'it, on their connections.';
comment on function auth.rotate_signing_key(uuid, text, interval) is
  'Creates a new signing key. The previous one is accepted for the overlap, which must outlast the access '
  'tokens that it has signed. Returns when the overlap ends.';
comment on function auth.secrets_key_id(text) is
  'Returns the id of the key that a secret is encrypted with (src/secrets); null if it is not encrypted.';
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if they are given. Takes effect at once on every process. '
  'Raises no_data_found for a plan that does not exist.';
comment on view auth.signing_key_overview is
  'Keys that sign access tokens as administrators see them: everything but the keys. key_id is the id of '
  'the key that they are encrypted with.';
comment on function auth.signing_keys() is
  'Returns the keys whose signatures of access tokens are accepted, which of them signs, and how long the '
  'others remain valid.';
comment on function auth.stored_document(text) is
  'Returns the document of a stored operation, by its SHA-256 in hex; null if there is none.';
comment on view auth.stored_operation_overview is
  'Stored operations without their documents. Operations without a credential are stored for all '
  'credentials.';
comment on function auth.stored_operations() is
  'Returns the version, the SHA-256 of the document and the credential of each stored operation; no '
  'credential means all credentials.';
comment on function auth.stored_secrets() is
  'Returns the number of secrets of each kind, and the keys that they are encrypted with, null for '
  'unencrypted ones. Returns no secret.';
comment on function auth.supported_locales() is
  'Returns the locales that a request may use: the locales in which names are stored.';
comment on function auth.take_points(text, double precision, double precision) is
  'Takes points from a bucket, by the generic cell rate algorithm: only the time at which the bucket is '
  'full again is stored. The taken points take refill_ms milliseconds to come back, and all points '
  'capacity_ms. Takes all or nothing; returns which, and in how many milliseconds the bucket is full.';
comment on function auth.use_lifetime() is
  'Returns how long records of use by credentials are kept: the setting service.keep_use_counts, or 400 '
  'days without it. At least the 90 days that the check of a change reads.';
comment on function auth.audit_lifetime() is
  'Returns how long events of the audit are kept: the setting service.keep_audit, but at least a year. Null '
  'without the setting: for ever.';
comment on table auth.administrator is
  'People who may use the administration in the browser. Rows are never deleted, because auth.audit_event '
  'refers to them.';
comment on column auth.administrator.name is
  'The user name, or an email address, regardless of upper and lower case.';
comment on column auth.administrator.deactivated_at is
  'When the administrator was deactivated; null while they may log in.';
comment on table auth.administrator_session is
  'Sessions in the browser. auth.live_session says when they end.';
comment on table auth.audit_event is
  'The audit: changes of credentials, administrators and settings, with their author and address. Rows are '
  'only added. Never contains a secret.';
comment on column auth.audit_event.actor is
  'The author: administrator, command line, or nobody for a visitor who is not logged in.';
comment on column auth.audit_event.credential_id is
  'The credential that it is about; no foreign key, because the credential may be deleted.';
comment on column auth.audit_event.subject is
  'The name, at that time, of the credential or administrator that it is about.';
comment on index auth.audit_event_credential_id_idx is 'For the administration''s page of a credential.';
comment on table auth.bucket is
  'Buckets of points for rate limits, with the time when each is full again. A bucket that is not here is '
  'full.';
comment on column auth.bucket.key is 'Purpose of the points, and their owner.';
comment on table auth.credential is
  'API credentials: each has a name and the scopes of its access tokens, and is created by an administrator '
  'for one client of the API. Its client ID and client secret are in auth.credential_secret.';
comment on column auth.credential.name is 'Name of the client in lists and in the log.';
comment on column auth.credential.scopes is
  'Scopes of its access tokens, for example {products:read,stocks:read,stocks:write}. A write scope '
  'includes its read scope.';
comment on column auth.credential.stored_operations_only is
  'Whether its access tokens may only send operations of auth.stored_operation.';
comment on column auth.credential.last_used_at is
  'When it last obtained an access token, or sent a request with one; to the minute.';
comment on column auth.credential.rotated_at is
  'When its present client ID and client secret replaced earlier ones; null while it has its first.';
comment on column auth.credential.deactivated_at is
  'When it and its access tokens were deactivated; null while it is active.';
comment on column auth.credential.expires_at is
  'When it and its access tokens expire; null if they never do.';
comment on table auth.credential_secret is
  'Client IDs with their client secrets, which authenticate a credential. A separate table, so that after a '
  'rotation the old ones can overlap with the new ones.';
comment on column auth.credential_secret.access_key is
  'The client ID, as sent to the token endpoint. Safe to log.';
comment on column auth.credential_secret.expires_at is
  'When they expire, after a rotation with an overlap; null for the newest.';
comment on table auth.credential_use is
  'Number of requests of each credential to each version, by day in UTC.';
comment on column auth.credential_use.deprecated_field is
  'Type.field, if the row counts requests that used this deprecated field; empty if it counts all requests.';
comment on table auth.field_use is
  'Days on which each credential last used each field of each version, in UTC: the clients that a change of '
  'the field would break.';
comment on table auth.log_in_attempt is
  'Recent failed log-ins, by name and address. Belongs to the package rate-limiter-flexible, which counts '
  'here by its own statements, so that all processes share the count.';
comment on table auth.operation is
  'Operations that credentials sent in the last 14 days. Operations that differ only in names, aliases and '
  'values are one row.';
comment on column auth.operation.id is
  '16 hexadecimal digits, as in the comments of its SQL statements and the application_name of its '
  'transactions.';
comment on column auth.operation.name is 'Name that a client gives it.';
comment on column auth.operation.statement is
  'Its slowest SQL statement, with parameters instead of values; null if that is very long.';
comment on table auth.operation_use is
  'Number of requests of credentials with each operation, by day in UTC.';
comment on column auth.operation_use.ms is 'Total time of their SQL statements, in milliseconds.';
comment on column auth.operation_use.slowest_ms is 'Time of the slowest statement, in milliseconds.';
comment on table auth.plan is 'The plans that a merchant can have. One is current.';
comment on column auth.plan.is_current is 'Whether the merchant has this plan.';
comment on column auth.plan.limits is
  'Limits that differ from the settings of the service while the plan is current, by their names in '
  'src/graphql/limits.ts, for example {"cost": 4000}.';
comment on table auth.rights_mark is
  'A value that differs after each change of rights: of credentials, the plan, signing keys, stored '
  'operations.';
comment on table auth.signing_key is
  'Keys that sign access tokens (HMAC-SHA256). One signs; earlier ones are accepted until the access tokens '
  'that they signed have expired.';
comment on column auth.signing_key.secret is
  '32 bytes in base64, or their encrypted form (src/secrets); null after the key has retired.';
comment on column auth.signing_key.retires_at is
  'When its signatures stop being accepted; null for the key that signs.';
comment on table auth.stored_operation is
  'Operations that were stored for clients. They may be sent by the SHA-256 of their document alone.';
comment on column auth.stored_operation.sha256 is 'SHA-256 of the document, in UTF-8.';
comment on column auth.stored_operation.credential_id is
  'The credential that may send it; null for every credential.';
comment on column auth.stored_operation.name is 'Its name in the document or the manifest.';

comment on schema bulk is 'Imports and exports of files with many rows, which background work processes.';
comment on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) is
  'Adds a chunk to the file that is being uploaded. Returns added; full if all bulk operations together '
  'would take too much space; gone if the upload was cancelled, or began again elsewhere.';
comment on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer) is
  'Adds lines to the file of an export. Returns added; full if all bulk operations together would take too '
  'much space; gone if another process works on it, or it was cancelled.';
comment on function bulk.begin_result(uuid, uuid, text) is
  'Begins to write the file of an export. Deletes what a killed process has written, because that is from '
  'another moment. Returns whether this process still holds the operation.';
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) is
  'Begins the upload of a file. With a key that was used before, it begins the same upload again if the '
  'file has not arrived, or else returns the existing operation. The result is_ours says that the file must '
  'be sent; is_same says that the key was used for the same kind of file. The result content_sha256 is the '
  'SHA-256 of the text of a file that has arrived, null if that was not stored.';
comment on function bulk.upload_pause() is
  'Returns the time without progress after which an upload counts as interrupted.';
comment on function bulk.cancel(uuid) is
  'Cancels a bulk operation of the caller. A chunk in progress is undone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
comment on function bulk.due_at() is
  'Returns when bulk.take will find something next: -infinity while an operation waits that could begin, '
  'otherwise when the next lease ends; null if there is none.';
comment on function bulk.end_upload(uuid, uuid, bytea) is
  'Ends an upload after the whole file has arrived: its rows wait to be imported. Returns the number of '
  'rows, or null if the upload was cancelled, or began again elsewhere.';
comment on function bulk.drop_upload(uuid, uuid) is 'Deletes an upload that was refused or cut off.';
comment on function bulk.finish(uuid, uuid, text, text) is
  'Ends a bulk operation: it is completed, or has failed with an error. Returns whether this process still '
  'held it.';
comment on function bulk.release(uuid, uuid) is
  'Releases a bulk operation, so that other processes can take it at once: this process is about to stop.';
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text) is
  'Imports the rows of a chunk, with the present rights of the credential, records refusals, and marks the '
  'chunk as done. It does so in one transaction, so that no row is imported twice. Faults are rows that '
  'cannot be parsed. Returns done, or gone if another process works on it, or it was cancelled. Returns '
  'FORBIDDEN if the plan allows no mutations, and SCOPE_MISSING if the credential lacks the scope by now.';
comment on function bulk.open_errors(uuid, bytea, integer, integer) is
  'Returns why rows of a bulk operation were refused: up to 1,000 after a position, for clients that have '
  'the code. Fails with P0002 if the id or the code is wrong.';
comment on function bulk.open_result(uuid, bytea, integer) is
  'Returns the next part of the file of an export, for clients that have the code; without content after '
  'the last one. Fails with P0002 if the id or the code is wrong.';
comment on function bulk.prune() is
  'Deletes expired bulk operations, interrupted uploads, and the remains of failed and cancelled '
  'operations, in parts. Returns how much; 0 if nothing is left.';
comment on function bulk.read_chunk(uuid, uuid, integer) is
  'Returns a chunk of a file, for the process that works on it; null after the last one.';
comment on function bulk.renew(uuid, uuid, integer) is
  'Extends the lease of a bulk operation by some milliseconds. Returns its present scopes, or null if '
  'another process works on it, or it was cancelled.';
comment on function bulk.rights_to_files(uuid, bytea) is
  'Returns the bulk operation whose files the code opens, and its present scopes, as bulk.scopes_of does. '
  'No row if the id or the code is wrong, or the files have expired.';
comment on function bulk.scopes_of(uuid) is
  'Returns the present scopes of a bulk operation: the scopes of the access token that requested it which '
  'its credential still has. Null if the credential is deleted, expired or deactivated, if it may only send '
  'stored operations and this is none, or while the plan of the merchant has no API.';
comment on function bulk.upsert(name, name, text, jsonb) is
  'Runs the upsert of a version with many rows, and returns the outcome of each. If it is refused as a '
  'whole, halves are tried, so that only the faulty rows are refused. Rows about the same object as an '
  'earlier row are run after it, as in a call of their own.';
comment on table bulk.chunk is
  'A part of the file of a bulk operation, compressed: rows to be imported, or lines of a result.';
comment on table bulk.operation is
  'Bulk operations: imports of files of rows, and exports of lists to a file.';
comment on column bulk.operation.credential_id is
  'Credential that requested it. Only this credential sees it.';
comment on column bulk.operation.scopes is
  'Scopes of the access token that requested it. A scope counts while the credential still has it.';
comment on column bulk.operation.kind is 'Whether it imports or exports rows.';
comment on column bulk.operation.state is 'State of the operation.';
comment on column bulk.operation.resource is
  'The kind of rows: products, customers, suppliers, warehouses or orders; for an export, the field of the '
  'query.';
comment on column bulk.operation.query is 'For an export: the GraphQL document whose list is written.';
comment on column bulk.operation.variables is 'For an export: values of the variables.';
comment on column bulk.operation.locale is 'For an export: the language of its texts.';
comment on column bulk.operation.idempotency_key is
  'Idempotency key of the upload or the mutation: a repetition with the same key starts no second '
  'operation.';
comment on column bulk.operation.code is
  'Secret code in the address of its files. Everyone who has the code can open them.';
comment on column bulk.operation.claim is
  'Id of the present upload or the present work on it; differs each time.';
comment on column bulk.operation.claimed_until is
  'End of the lease, after which other processes may continue it.';
comment on column bulk.operation.attempts is
  'Number of times that work on it began since it last made progress.';
comment on column bulk.operation.next_chunk is
  'The chunk to process next. All chunks before it are committed.';
comment on column bulk.operation.stored_bytes is 'Size of its chunks in bytes.';
comment on column bulk.operation.row_count is
  'Rows of the file, known when it has arrived; for an export, rows of the list, known at its end.';
comment on column bulk.operation.created_count is 'Rows that created an object.';
comment on column bulk.operation.updated_count is 'Rows that changed an object.';
comment on column bulk.operation.done_count is
  'Rows that succeeded: created, updated or unchanged; for an export, written lines.';
comment on column bulk.operation.refused_count is 'Refused rows. The errors say why.';
comment on column bulk.operation.error_code is 'Code of the error that ended it; null unless it failed.';
comment on column bulk.operation.error_message is
  'Message of the error that ended it; null unless it failed.';
comment on column bulk.operation.created_at is 'When it was requested.';
comment on column bulk.operation.finished_at is 'When it ended: completed, failed or cancelled.';
comment on column bulk.operation.traceparent is
  'Trace of the request that started it; null if the request was not traced.';
comment on column bulk.operation.content_sha256 is
  'SHA-256 of the text of an uploaded file, in UTF-8: another file with the same key is refused. Null for '
  'exports, and for files that arrived before this column existed.';
comment on index bulk.operation_id_idx is
  'For operations that have not ended, in the order in which they begin.';
comment on index bulk.operation_idempotency_key_is_unique is
  '@internal begin_upload() returns the operation that has the key, if it is the same upload';
comment on table bulk.refusal is 'Reasons why rows of bulk operations were refused, by line of the file.';

comment on schema erp is
  'Tables of the shop and the rules about them. This is no interface: clients read the API schemas.';
comment on function erp.about_customer(uuid) is
  'Returns a customer, and the ids of everything about them. `npx erp customers` exports or anonymizes '
  'that.';
comment on function erp.address_faults(jsonb) is
  'Returns what is wrong with an address that is entered for a warehouse or a supplier. The tables check '
  'that it is an object.';
comment on function erp.require_address(jsonb) is
  'Refuses an address with unknown keys or values. User error INVALID.';
comment on function erp.faults_of_addresses(mutation.upsert_row[]) is
  'Returns what is wrong with the addresses in rows of an upsert.';
comment on function erp.address_keys() is 'Returns the keys of an address that clients are promised.';
comment on function erp.allotment(uuid) is
  'Returns how the lines of a goods receipt that name supplier orders are distributed over the ordered '
  'lines. Parts of a line go first to the order line that it names, then to other lines of the order with '
  'the product. Units without room in the order come last, without an order line. Returned units are '
  'distributed over the received ones.';
comment on function erp.allotment_by_name(uuid) is
  'Returns how many units of each line of a goods receipt fit into the line of a supplier order that it '
  'names, in the order of the lines. Units that arrive are limited by the open quantity, returned units by '
  'the received quantity. Cancelled orders take nothing.';
comment on function erp.allowed_actions(text, text) is
  'Returns the actions that clients can do in a state by a mutation, according to erp.state_transition, as '
  'a JSON array.';
comment on function erp.amounts(text, numeric[], numeric[], numeric) is
  'Returns the totals of a document from its lines: their amounts by its tax status, and their tax rates in '
  'percent. A discount on the whole document is subtracted from both totals. Null if no line has a price.';
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are.';
comment on function erp.are_storefront_variants(jsonb) is
  'Whether the entries of a list are objects that name a product of the storefront and, optionally, its '
  'variant.';
comment on function erp.are_translations(jsonb) is
  'Whether a JSON value is an object with an object of texts for each locale, such as {"de": {"name": '
  '"Zelt"}}.';
comment on function erp.assign(uuid, erp.assignment[], boolean) is
  'Creates a fulfillment order for each location that is to ship units of an order, or ships them at once, '
  'so that nothing is promised. Returns their ids. The caller holds the locks of the order, and the locks '
  'of ledger.lock, because the number range is locked last.';
comment on function erp.awaits_goods(text) is
  'Whether the open units of a supplier order in this state will still arrive.';
comment on function erp.billable_parts(uuid, boolean, uuid[]) is
  'Returns the units of an order''s lines that no invoice charges. With only_shipped, these are the shipped '
  'units of products, of some fulfillments if they are given, and all units of other lines, such as '
  'shipping costs, if erp.charges_services allows it.';
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices of a cancelled shipment, each by a cancellation invoice. A new invoice charges what '
  'they charged of other shipments. Of an invoice that was credited, only the units of the shipment can be '
  'invoiced again. Returns the created documents.';
comment on function erp.change_fulfillment_order(uuid, text, text) is
  'Does an action of the machine fulfillment_order of erp.state_transition: start, hold, release_hold or '
  'cancel. Returns the id. User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, '
  'OUT_OF_RANGE.';
comment on function erp.charges_services(uuid) is
  'Whether lines of an order other than products may be charged, such as shipping costs. They may if some '
  'of its goods were shipped, or if it has none and was not cancelled.';
comment on function erp.check_goods_receipt(erp.goods_receipt) is
  'Refuses a goods receipt that refers to something that does not exist. User error NOT_FOUND.';
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt. Books its lines from the place of the receipt to where they are put away, and '
  'units to be thrown away to stock_correction, and records what arrived of supplier orders. A line without '
  'placements goes to its own bin, the usual bin, or the warehouse. All units are booked, including units '
  'that no order has open: these become lines of their own.';
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships everything that is open of an order. Assigned units are shipped from their warehouses, all others '
  'from the warehouses of erp.plan_uncovered, for which a warehouse may be given. External fulfillment '
  'orders stay unchanged. An order with nothing to ship, such as services, is only completed. Documents are '
  'only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, '
  'INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES.';
comment on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric) is
  'Converts the unit price of one document for another one, whose currency may differ, or which may state '
  'prices with tax instead of without. The result has six decimals, or is unchanged if nothing differs. '
  'Null if a rate is unknown.';
comment on function erp.copy_product_prices(uuid[]) is
  'Copies the prices of default suppliers that are paid in the default currency to their products. Other '
  'suppliers keep theirs.';
comment on function erp.copy_supplier_prices(uuid[]) is
  'Copies the purchase prices of products to their default suppliers: unchanged if the supplier is paid in '
  'the default currency, otherwise converted by the present rate.';
comment on function erp.country_alone(jsonb) is
  'Returns an address with only its country, by which taxes and statistics go, for a customer who is '
  'anonymized.';
comment on function erp.create_bin_location(uuid, text, integer) is
  'Creates a bin in a warehouse. Returns its id.';
comment on function erp.create_delivery_note(uuid, uuid) is
  'Creates a delivery note for a shipment of an order, or for the whole order without one.';
comment on function erp.create_documents(uuid, text[], uuid) is
  'Creates documents of the given types for a shipment of an order, by default the newest one. The delivery '
  'note lists the content of the shipment; the invoice charges everything that was shipped and that no '
  'other invoice charges. erp.require_documents names the types. Returns their ids. User error INVALID.';
comment on function
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]) is
  'Ships some of the open units of a fulfillment order, or all if lines is null. They are taken from the '
  'given places or, by default, from the next ones on the pick route. Documents are only checked here. User '
  'errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, '
  'ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_REQUIRED, INSUFFICIENT_STOCK.';
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Creates a goods receipt from the columns in the object (is_draft: as a draft), its lines, and the '
  'supplier orders that it delivers. Omitted values of type, supplier, currency and tax status follow from '
  'the orders that it and its lines name. Returns its id.';
comment on function erp.create_product_supplier_configuration(jsonb, erp.price[]) is
  'Records that a supplier sells a product, with the terms in the object and these prices. Returns its id.';
comment on function erp.create_reversal(uuid, text, uuid, text[], text[]) is
  'Creates a credit note or storno (cancellation invoice) of an invoice of an order, which may be omitted '
  'if only one is valid. A cancellation invoice cancels it: what it charged can be invoiced again. A credit '
  'note returns the money, and what it credits is not charged again. An invoice can be taken back once. '
  'User errors INVALID, REQUIRED.';
comment on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) is
  'Creates an open supplier order from the columns in the object, with its lines. By default, the currency '
  'is the supplier''s, and the warehouse is the default for receiving. Returns its id.';
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb) is
  'Creates a warehouse with the location that orders are fulfilled from. The first one is the default for '
  'everything. Returns its id.';
comment on function erp.currency_factor_at(uuid, timestamptz) is
  'Returns the units of a currency per unit of the default currency at a moment, and the source of the '
  'figure. The source is an imported exchange rate, otherwise the factor in the shop''s own table of '
  'currencies.';
comment on function erp.delete_bin_location(uuid) is 'Deletes an empty bin. Returns its id.';
comment on function erp.delete_goods_receipt(uuid) is
  'Deletes a goods receipt whose stock is still at its place. Approved goods are booked back first; '
  'movements are kept, without the receipt. Returns its id.';
comment on function erp.delete_product_supplier_configuration(uuid) is
  'Records that a supplier no longer sells a product. The product keeps its purchase prices. Returns the '
  'id.';
comment on function erp.delete_supplier_order(uuid) is
  'Deletes an open or cancelled supplier order that has no goods receipt. Returns its id.';
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive or to fulfill, and is not a default. Returns '
  'its id.';
comment on function erp.delivered_lines(uuid, uuid) is
  'Returns the lines of a delivery note: the units of an order in a shipment, the units that were shipped '
  'before, and the units that are still to come. Without a shipment, the whole order.';
comment on function erp.deliveries(uuid, erp.receipt_part[]) is
  'Returns the effect of a goods receipt on the supplier orders that it delivers: an entry for each of '
  'their lines. The states follow from the received quantities in both directions: confirmed, '
  'partially_delivered or delivered. Completed orders stay completed.';
comment on type erp.delivery is
  'The effect of a completed goods receipt on a line of a supplier order: its received quantity, whether '
  'units of it arrive, and the new state of its order. Also whether everything of the order has arrived, '
  'and the change of the awaited units of the product.';
comment on function erp.delivery_date(uuid[], text, date) is
  'Returns the first and the last day on which shipments went out. Units delivered without a shipment count '
  'on the day of the document; null if nothing was delivered yet.';
comment on function erp.document_amounts(uuid, text, erp.document_part[]) is
  'Returns the amounts that units of an order''s lines are charged, or all units without parts. If the tax '
  'status is net, prices are without tax. Discounts on the whole order are distributed over the units. '
  'Documents that contain each unit once add up exactly to the order.';
comment on function
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]) is
  'Returns everything that a document of an order shows, as it is now. A document stores it in its config, '
  'from which it is rendered (src/pdf/config.ts has the format). Credit notes and cancellation invoices '
  'also need the number and the config of the invoice that they take back. Invoices need the units that '
  'they charge, if not all, and the shipments that brought them; delivery notes need their shipment.';
comment on function erp.document_locale(uuid) is
  'Returns the language for documents to the customer of an order: the language of the billing country, '
  'otherwise of the sales channel, if names are stored in it; otherwise en-GB.';
comment on function erp.exchange_rate_on(uuid, timestamptz) is
  'Returns the imported exchange rate of a currency at a moment: the newest that was published on that day, '
  'in UTC, or up to 7 days before. On weekends and holidays, none is published. No row if there is none, as '
  'for the default currency.';
comment on function erp.export_customer(uuid) is
  'Returns the rows about a customer, each with what belongs to it, except documents and files of bulk '
  'operations.';
comment on function erp.fill_default_currency_prices(uuid, integer) is
  'Fills in the price in the default currency on old lines of goods receipts, by id, after the given one, '
  'at most as many as the batch. Lines of receipts without a currency factor stay unchanged. Returns how '
  'many it filled, and the last of them, after which to continue.';
comment on function erp.goods_receipt_process(text) is
  'Returns the process type of the movements of a goods receipt, by its type.';
comment on function erp.hand_over_defaults(uuid, boolean, boolean) is
  'Removes the marks of the defaults from other warehouses, if this one takes them: exactly one warehouse '
  'has each.';
comment on function erp.has_open_lines(uuid) is
  'Whether a fulfillment order has units left to ship. Lines whose order line was deleted are not wanted '
  'any more.';
comment on function erp.has_variants(uuid) is
  'Whether a product only stands for its variants: some product has it as parent. Units of it can no longer '
  'be added to stock.';
comment on function erp.id_between(uuid, uuid, integer) is
  'Returns a new id between two ids, of which one may be null. It leaves room for as many further ids as '
  'are wanted, and keeps the moment of its neighbour. Null if there is no room.';
comment on function erp.import_exchange_rates(date, jsonb, text) is
  'Stores the exchange rates of a day, given as units per euro, as units per unit of the default currency, '
  'for each currency that the system knows. Importing a day again corrects it. Returns the number of '
  'currencies with a rate.';
comment on function erp.is_all_shipped(uuid) is
  'Whether nothing is left to ship of an order, which is also true without goods.';
comment on function erp.is_blank(text) is
  'Whether a text is empty, or has only white space: that includes all of Unicode''s, and characters '
  'without a width.';
comment on function erp.is_called_off(uuid, uuid) is
  'Whether a fulfillment order was cancelled by which a location was to ship units of an order line. The '
  'location then ships them only on request.';
comment on function erp.is_iban(text) is
  'Whether a text is an IBAN without spaces and with correct check digits.';
comment on function erp.is_locale(text) is
  'Whether a text has the form of a locale: a language, optionally with script and region, such as de or '
  'de-AT.';
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object with a text for each locale, including the default locale, en-GB.';
comment on function erp.is_string_array(jsonb) is
  'Whether a JSON value is an array that contains only strings.';
comment on function erp.keep_default_currency_price() is
  'Trigger: sets the unit price and the total of a line of a goods receipt in the default currency, by the '
  'factor of the receipt.';
comment on function erp.line_ids(uuid[]) is
  'Returns the ids of lines in this order, of which some exist; null stands for a new one. Lists are '
  'ordered by id, so a new line gets an id between the ids of its neighbours. Existing lines keep theirs.';
comment on function erp.localized(jsonb) is
  'Returns the text of an erp.localized_text in the locale of the request (setting service.locale), or in '
  'en-GB, which every text has.';
comment on function erp.location_of_warehouse(uuid, text[]) is
  'Returns the active location of a warehouse, from which orders are shipped, and protects it from deletion '
  'until the end of the transaction. User errors NOT_FOUND, INVALID.';
comment on function erp.lock_goods_receipt(uuid) is
  'Locks a goods receipt until the end of the transaction, and returns it. User error NOT_FOUND.';
comment on function erp.lock_order_to_ship(uuid) is
  'Takes the locks of an order and its fulfillment orders, as ledger.lock_orders does. Requires a state in '
  'which the order can be shipped. Returns the state, whether a fulfillment order is on hold, and the '
  'locations to ship from. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
comment on function erp.lock_orders_named(erp.goods_receipt_line[], uuid[]) is
  'Locks the supplier orders of a goods receipt against changes until the end of the transaction, and '
  'returns them. The ones that it names itself come first, then the ones of its lines.';
comment on function erp.lock_product_supplier_configuration(uuid) is
  'Locks a product, and how a supplier sells it, until the end of the transaction, and returns the latter. '
  'User error NOT_FOUND.';
comment on function erp.lock_supplier_order(uuid) is
  'Locks a supplier order until the end of the transaction, and returns it. User error NOT_FOUND.';
comment on function erp.lock_to_ship(ledger.pick[], erp.assignment[], uuid[]) is
  'Takes the locks of ledger.lock_shipment for open units of fulfillment orders, for units that are to be '
  'assigned, and for given bins: everything that shipping changes.';
comment on function erp.make_default_supplier(uuid) is
  'Makes a supplier the default of its product, instead of the present one.';
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'Returns the lines in rows of an upsert of orders as rows of an upsert themselves, numbered across all '
  'orders. A line is identified by its id, its storefrontId or its identifier, within its order. A new line '
  'without a position comes after the existing ones.';
comment on function erp.mentions_of_customer(uuid) is
  'Returns the places where people have written what identifies a customer, in texts about its orders that '
  'are not anonymized.';
comment on function erp.missing_in_document(jsonb) is
  'Returns what an invoice or similar document lacks that the law demands. That may be settings of the '
  'merchant (table erp.merchant), the name in the billing address, or the reason why there is no tax. Bank '
  'details are optional.';
comment on function erp.move_supplier_order(uuid, text, jsonb) is
  'Does an action of the machine supplier_order, and records the supplier''s details with it: its own '
  'number, the date of delivery. Returns the id. User errors INVALID_STATE_TRANSITION; REQUIRED and '
  'SUPPLIER_INACTIVE when an order is placed.';
comment on function erp.names_person(text, text[]) is
  'Whether a text equals one of some personal values, which are in lower case, or contains one of at least '
  'six characters.';
comment on function erp.newest_shipment(uuid) is
  'Returns the newest fulfillment of an order that was not cancelled; null if nothing was shipped.';
comment on function erp.next_number(text) is
  'Returns the next number of a range. Without a sequence it has no gaps: other transactions wait until the '
  'number is committed or rolled back.';
comment on function erp.open_document(uuid, bytea) is
  'Returns the document with this id and the SHA-256 of this deep link code, or no row. Takes a hash, so '
  'that no code gets into the log of Postgres, and any input can be checked.';
comment on function erp.open_invoices(uuid) is
  'Returns the numbers of the invoices of an order that neither a cancellation invoice nor a credit note '
  'has taken back.';
comment on function erp.open_picks(uuid) is
  'Returns the open units of an order''s fulfillment orders that the merchant''s warehouses ship, as picks '
  'of ledger.ship.';
comment on function erp.open_transactions() is
  'Returns the transactions that were open when the statement began to read, in the format of cursors. It '
  'is empty if there are none. Otherwise it begins with ~ and the number of the oldest. All further numbers '
  'are relative to it: a dot and the number of each other transaction; then, after a hyphen, the first and '
  'the count of the latest ones. Some may be subtransactions. All databases count.';
comment on function erp.order_pieces(uuid, text) is
  'Returns the amounts of an order''s lines with and without tax, by rates. A line without a rate, such as '
  'a promotion, is distributed over the lines with one, in proportion to their amounts. Each piece is '
  'charged with the units of a line. It is the piece''s own line, unless that has no rate and is no '
  'product; then it is the line that the piece is distributed to. All pieces add up exactly to the order.';
comment on function erp.orders_named(erp.goods_receipt_line[], uuid[]) is
  'Returns the supplier orders that a goods receipt names, itself and by its lines, with the path to each '
  'in the input.';
comment on function erp.other_location(uuid, ledger.change[]) is
  'Returns a location that can ship units of lines whose shipping was cancelled elsewhere. Its warehouse '
  'sells its stock, and has all of the units in addition to what it ships already. Locations that ship '
  'something of the order already come first, then the code of the warehouse decides. Null if there is '
  'none.';
comment on function erp.personal_values(uuid) is
  'Returns the values that identify a customer, in lower case, to find them elsewhere: names, numbers, and '
  'their addresses except for the country.';
comment on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]) is
  'Returns lines of a fulfillment order, or all open units if lines is null, as picks of ledger.ship that '
  'have no warehouse yet. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION.';
comment on function erp.postal_address(jsonb) is
  'Returns an address with exactly the keys that clients are promised, each a text or null. Anything else '
  'that a shop has sent stays with its order.';
comment on function erp.price_on_receipt(erp.goods_receipt, uuid, numeric) is
  'Returns the price of a unit of a supplier order''s line in the currency and by the tax status of a goods '
  'receipt, whose line may have another tax rate. Currencies are converted by the rate of the receipt and '
  'the present rate of the order''s currency.';
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) is
  'Returns the movements that complete a goods receipt. Units go from its place to where its lines are put '
  'away, or to stock_correction if they are to be thrown away. Units of negative lines go where their goods '
  'are returned to.';
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Returns the default place where a line is put away: its own bin, otherwise the usual bin of the product '
  'in the warehouse, otherwise the warehouse. Units of lines with a negative quantity are taken from there.';
comment on type erp.receipt_part is
  'A part of a line of a goods receipt, for one line of a supplier order, or for none (erp.allotment). Its '
  'id is the id of the line that it becomes: the first part keeps its line. The column named_order_id is '
  'the order that the line named.';
comment on function erp.receipt_type(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'Returns the default type of a goods receipt, by the supplier orders or return orders that it names.';
comment on function erp.release_credited_units(uuid, uuid) is
  'Removes the units of a cancelled shipment from an invoice that a credit note has taken back, so that '
  'they can be invoiced when they are shipped again. The rest of the invoice stays credited.';
comment on function erp.require_countable(numeric, bigint) is
  'Refuses aggregates of more than 100,000 rows (SQLSTATE UE007) or more than 1,000 groups (UE008): their '
  'time grows with the rows, even if an index finds these quickly.';
comment on function erp.require_default_warehouse() is
  'Constraint trigger: once there are warehouses, one must be the default and one the default for '
  'receiving. A unique index ensures that there are no two.';
comment on function erp.require_one_supplier() is
  'Trigger: refuses, for every writer, a goods receipt that delivers orders of another supplier than its '
  'own, or of several. Orders and receipts whose supplier has been deleted contradict nothing. User error '
  'SUPPLIER_MISMATCH.';
comment on function erp.require_receipts_of_supplier(uuid, uuid) is
  'Refuses another supplier for an order that goods receipts of the present supplier name. User error '
  'SUPPLIER_MISMATCH.';
comment on function erp.require_shippable(erp.fulfillment_order) is
  'Refuses fulfillment orders that cannot be shipped because of their state, or the state of their order. '
  'User errors ON_HOLD, INVALID_STATE_TRANSITION, INVALID.';
comment on function erp.require_tracking_codes(text[]) is
  'Refuses too many tracking codes, and codes of a wrong length. User errors TOO_MANY_LINES, OUT_OF_RANGE.';
comment on function erp.require_uninvoiced(uuid[]) is
  'Refuses fulfillments that a valid invoice charges. User error INVALID.';
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name indirectly: batches by number, which are created if they are '
  'new, and lines of supplier orders by the order. The lines must have been checked before.';
comment on function erp.reversal_of(uuid) is
  'Returns the number of the document that takes an invoice back, a credit note or cancellation invoice; '
  'null if none does.';
comment on function erp.reversed_amounts(jsonb) is
  'Returns the lines and totals of a document with all amounts negated, at its exchange rate.';
comment on function erp.rounded(numeric) is
  'Rounds an amount to cents: half a cent is rounded away from zero.';
comment on function erp.rounded_price(numeric) is 'Rounds a calculated price of one unit to six decimals.';
comment on function erp.net_amount(numeric, numeric) is
  'Returns an amount without its tax, in cents; the rate is in percent. Null without a rate.';
comment on function erp.share_of(numeric, integer, integer) is
  'Returns the amount of the first units of a quantity, in cents. The difference between two shares is the '
  'amount of the units between them, so that the amounts of all units add up.';
comment on function erp.in_default_currency(numeric, numeric) is
  'Converts a price to the default currency: divides it by the units of its currency per unit of the '
  'default currency. The result has six decimals.';
comment on function erp.amount_in_default_currency(numeric, numeric) is
  'Returns an amount in the default currency, in cents. The amount is a price times a quantity, so that no '
  'rounded price is multiplied.';
comment on function erp.price_on_document(numeric, integer, numeric) is
  'Returns the price of one unit as a document shows it. It has at least four decimals, and as many as are '
  'needed for the price times the quantity to give the amount in cents. If no number of decimals does, as '
  'with a line that has a discount of its own, it is the amount divided by the quantity.';
comment on function erp.seller(text) is
  'Returns the merchant''s details for documents in a language; null while erp.merchant has no row.';
comment on function erp.set_default_supplier(uuid) is
  'Makes a supplier the default of its product. Returns the id of the assignment.';
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt: lines with an id are updated, others are inserted, and missing ones '
  'deleted. They are listed in this order, except that existing lines keep their order among themselves. '
  'Omitted prices and tax rates come from the supplier order, converted if its currency differs, and from '
  'the product. Warns about units that the orders do not have open.';
comment on function erp.faults_of_images(mutation.upsert_row[]) is
  'Returns what is wrong with the images in rows of an upsert.';
comment on function erp.set_images(mutation.upsert_row[]) is
  'Sets the images of products to the lists in rows of an upsert, in this order. Returns the products with '
  'a changed image.';
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt that is not approved yet. A receipt without a supplier takes the '
  'supplier of the supplier orders that they name. Returns its id.';
comment on function erp.set_lines_of_supplier_order(uuid, erp.supplier_order_line[]) is
  'Sets the lines of an open supplier order. Returns its id.';
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'Returns what is wrong with the prices in a list of rows of an upsert.';
comment on function erp.set_prices(regclass, mutation.upsert_row[], text) is
  'Sets the prices of products to the lists in rows of an upsert, in a table of prices. Returns the '
  'products with a changed price.';
comment on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) is
  'Changes how a product is kept in a warehouse: the usual bin, the reorder point and the target, if the '
  'object contains them. Inserts the row if it is missing. Returns its id.';
comment on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Sets the lines of a supplier order: lines with an id are updated, others are inserted, and missing ones '
  'deleted. Lists show them in this order, except that existing lines keep their order among themselves; '
  'their positions follow the new order. Omitted prices and tax rates come from the supplier''s terms and '
  'the product. Totals are calculated again; a discount on the whole order stays.';
comment on function erp.set_supplier_prices(uuid, erp.price[]) is
  'Sets the prices of a product at a supplier, one per currency.';
comment on function erp.faults_of_tags(mutation.upsert_row[]) is
  'Returns what is wrong with the names of tags in rows of an upsert.';
comment on function erp.set_tags(regclass, name, mutation.upsert_row[]) is
  'Sets the tags of the objects in rows of an upsert, in a table of links, and creates missing tags. '
  'Returns the ids of objects with a changed tag. Tags must be written last in an upsert, because other '
  'calls may wait for a new one.';
comment on function erp.settle_order(uuid, text[]) is
  'Updates the states of an order after something of it was shipped, and adds tracking codes: it is in '
  'progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
comment on function erp.settle_receipt_lines(uuid, erp.receipt_part[]) is
  'Splits the lines of a goods receipt so that each delivers one line of a supplier order, and no more than '
  'was open of it. The rest becomes a line without an order, with the same product, batch, price and bin. '
  'Nothing is to be thrown away any more; totals stay the same. Warnings SURPLUS, ORDER_CANCELLED.';
comment on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) is
  'Ships units of fulfillment orders of one order, some of which may have been assigned for this shipment. '
  'Books them out, records the fulfillment, closes what is fulfilled, and writes each row once. The caller '
  'holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
comment on function erp.standing_invoices(uuid) is
  'Returns the numbers of the valid invoices of an order, which no document has cancelled, as a JSON array.';
comment on function erp.start_goods_receipt(uuid) is
  'Records that the goods are being put away. Returns the id.';
comment on function erp.state_after_delivery(text, text) is
  'Returns the state of a supplier order after a delivery that makes it confirmed, partially_delivered or '
  'delivered, according to erp.state_transition.';
comment on function erp.subjects_about(uuid) is 'Returns the ids whose events are about a customer.';
comment on function erp.supplier_snapshot(uuid) is
  'Returns a supplier as it is now, for SupplierOrder.supplierSnapshot.';
comment on function erp.tax_exemption(text, text, text) is
  'Returns the reason why an order has no tax. The reasons are small_business, export (to a country outside '
  'of the European Union) or intra_community (to another of its countries, to a business with a VAT number '
  'of another country). Null if it has tax, or no reason is known. The destination is an ISO 3166 code.';
comment on function erp.tax_in_default_currency(uuid, jsonb, date) is
  'Returns the tax of a document in a foreign currency, by rates and in total, in the default currency. '
  'That is the currency of the merchant''s country, in which invoices have to state it (Article 230 of '
  'Directive 2006/112/EC). Includes the exchange rate of the day and its date of publication. Null in the '
  'default currency, and without tax.';
comment on function erp.those_with_variants(uuid[]) is
  'Returns the products that only stand for their variants, like erp.has_variants for each, but with one '
  'look at the index.';
comment on function erp.uncovered_lines(uuid) is
  'Returns the units of an order''s lines that are neither shipped nor to be shipped by an open fulfillment '
  'order: by line (owner) and product (item). They include open units of cancelled fulfillment orders.';
comment on function erp.unsettle_order(uuid) is
  'Updates the states of an order after a fulfillment of it was cancelled: open if nothing is shipped any '
  'more, otherwise in progress. A cancelled order stays cancelled. User error INVALID_STATE_TRANSITION.';
comment on function erp.update_bin_location(uuid, jsonb) is
  'Changes code and position of a bin, if the object contains them. Returns its id.';
comment on function erp.update_goods_receipt(uuid, jsonb) is
  'Changes the columns of a goods receipt in the object, and whether it is a draft. After approval, only '
  'the comment and the exchange rate can change. A given factor counts as set manually; null takes the '
  'present factor. Returns its id.';
comment on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[]) is
  'Changes the terms in the object, and the prices if it contains purchase_prices. Returns the id.';
comment on function erp.update_supplier_order(uuid, jsonb) is
  'Changes the columns of a supplier order in the object. After it was sent, only its dates, the '
  'supplier''s number and the comment can change. Returns its id.';
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse in the object, and its location''s name along with its own. Returns '
  'its id.';
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'Returns the rows of an upsert of customers. New ones get the next number of their range, if they have '
  'none, and the group of their sales channel, if they have no group.';
comment on function erp.upsert_customers(jsonb, boolean) is
  'Creates and updates customers, with their tags: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders, new ones with the totals of their lines. So these need not be '
  'written, and reported, as a later change of the order.';
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Creates and updates suppliers: the objects in the list, whose fields are named like columns. Returns the '
  'outcome of each.';
comment on function erp.vat_id_for(jsonb, text) is
  'Returns the VAT number of a customer for a country, otherwise the first one.';
comment on function erp.warehouse_snapshot(uuid) is
  'Returns a warehouse as it is now, for SupplierOrder.warehouseSnapshot.';
comment on function erp.warn_of_lines(erp.goods_receipt, uuid[]) is
  'Warns about lines of a goods receipt that bring or take back more than their supplier orders account '
  'for. The lines are given in the order of the input. Warnings SURPLUS, ORDER_CANCELLED.';
comment on function erp.with_currency_factor(erp.goods_receipt, numeric) is
  'Returns the receipt with an exchange rate: the given one, as set manually, or the present one with its '
  'origin.';
comment on function erp.with_orders(erp.goods_receipt, uuid[]) is
  'Returns the receipt with omitted values filled in from its supplier orders: the supplier, and the '
  'currency and the tax status of the first.';
comment on function erp.without_person(jsonb, text[]) is
  'Returns the JSON with the texts replaced that equal or contain a personal value.';
comment on trigger warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\nOne warehouse must be the default, and one the default for receiving. Make another '
  'warehouse the default first.';

--! split: 30-descriptions.sql
-- Comments of tables, views and functions, and so descriptions of the API, in plain words.

--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- Postgres takes what follows from the catalog for a few rows
set enable_nestloop = off as $$
declare
  col record;
begin
  for col in
    with tagged as materialized (
      select v.*,
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'nullable') t)
          as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'fullLists') t) as full,
        array(select t from api_meta.view_tag(v.view, 'columnEnum') t) as enums
      from api_meta.api_view v
      -- frozen versions keep the words that they were released with
      where v.schema = 'api_unstable'
    ), source as materialized (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.view, i.name, string_agg(i.tag, E'\n' order by i.tag) as tags
      from api_meta.index_tag i group by i.view, i.name
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, own.description as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          case when a.attname <> all (v.full) and api_meta.has_null_elements(s.table_id, s.attnum, a.atttypid)
            then '@nullElements' end,
          i.tags
        ) as tags,
        coalesce(
          below.description,
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
      left join index_tag i on i.view = v.view and i.name = a.attname
      left join pg_description own on own.classoid = 'pg_class'::regclass
        and own.objoid = v.view and own.objsubid = a.attnum
      left join pg_description below on below.classoid = 'pg_class'::regclass
        and below.objoid = s.table_id and below.objsubid = s.attnum
    )
    select d.schema, d.name, d.attname, w.words
    from described d
    cross join lateral (select nullif(concat_ws(E'\n', nullif(d.tags, ''), d.text), '') as words) w
    -- A comment in the view's own file stays. A comment that this function wrote is written again
    where (d.own is null or d.table_id is not null and d.text is not null
        or d.own ~ '^(@notNull(\n|$))?(@behavior -\*(\n|$))?(@(nullElements|indexed|orders)[^\n]*(\n|$))*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of views in api_unstable. Description and nullability come from '
  'the table''s column of the same name. The view''s tags @nullable, @hidden, @columnEnum and '
  '@fullLists correct them, and tags of indexes are added. Columns that are expressions have their own '
  'comments. Only changed comments are written.';
--! EndIncluded api_meta/describe.sql
--! Included api_meta/grant_mutations.sql
create or replace function api_meta.grant_mutations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    with home as materialized (
      select distinct v.schema from api_meta.api_view v
    ), routine as materialized (
      -- An array, and materialized, so that rights are only checked for these
      select p.oid, p.provolatile from pg_proc p
      where p.pronamespace = any (array(select h.schema::text::regnamespace::oid from home h))
    )
    select format('grant usage on schema %I to service_writer', h.schema) as change
    from home h where not has_schema_privilege('service_writer', h.schema, 'usage')
    union all
    select format('grant execute on function %s to service_writer', r.oid::regprocedure)
    from routine r where not has_function_privilege('service_writer', r.oid, 'execute')
    union all
    select format('grant execute on function %s to service_api', r.oid::regprocedure)
    from routine r where r.provolatile <> 'v' and not has_function_privilege('service_api', r.oid, 'execute')
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.grant_mutations() is
  'Lets service_writer, as which mutation.run works, execute the functions of the API schemas, '
  'and service_api those that change nothing, which are columns that are worked out. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_mutations.sql
--! Included api_meta/upholding.sql
create or replace view api_meta.upholding as
with rule as materialized (
  select * from api_meta.upheld_rule
), booked as (
  select c.relation, array_agg(distinct c.number order by c.number) filter (where c.is_booked) as booked,
    array_agg(distinct c.number order by c.number) filter (where not c.is_booked) as others
  from (
    select r.relation, k as number,
      has_column_privilege('service_booker', r.relation, k, 'update') as is_booked
    from rule r cross join unnest(r.columns) k
  ) c
  group by c.relation
), wanted as materialized (
  select b.relation, t.name, t.columns,
    case t.name when 'uphold_figures' then t.columns || array(
      -- Columns that change with them
      select a.attnum from rule k
      join pg_catalog.pg_attribute a on a.attrelid = k.relation and a.attname = k.keeps
      where k.relation = b.relation and k.columns && t.columns
    ) end as asked
  -- A booking changes few columns, so only their rules are checked
  from booked b
  cross join lateral (
    values ('uphold_rules', b.others), ('uphold_figures', b.booked)
  ) t (name, columns)
  where t.name = 'uphold_rules' or t.columns is not null
)
select w.relation, w.name, w.columns, format('%I.%I', n.nspname, w.name || '_of_' || t.relname) as routine,
  concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', m.kept,
    case when m.rules is not null then
      format(E'  if not (%s) then\n    broken := case\n      when %s end;', m.rules, m.cases)
      || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
        '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
        ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
    '  return new;', 'end', '') as body
from wanted w
join pg_catalog.pg_class t on t.oid = w.relation
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
cross join lateral (
  select string_agg(format('not (%s) then %L', r.rule, r.name), E'\n      when ' order by r.name)
      filter (where r.keeps is null) as cases,
    string_agg(format('(%s)', r.rule), E'\n    and ' order by r.name)
      filter (where r.keeps is null) as rules,
    string_agg(format('  new.%I := %s; -- %L', r.keeps, r.value, r.name), E'\n' order by r.name)
      filter (where r.keeps is not null) as kept
  from rule r where r.relation = w.relation and (w.asked is null or r.columns && w.asked)
) m;
comment on view api_meta.upholding is
  'The triggers that uphold checks which are declared as not enforced: uphold_figures for columns that '
  'bookings update, uphold_rules for all. columns: the trigger fires when one of them changes.';
--! EndIncluded api_meta/upholding.sql
--! Included auth/record_fields.sql
create or replace function auth.record_fields(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Without credentials that were deleted meanwhile. The order of locks is the same as in auth.record_use
    select credential.id from auth.credential
    where credential.id in (select (e ->> 'credential_id')::uuid from jsonb_array_elements(entries) e)
    order by credential.id for key share
  )
  insert into auth.field_use as use (credential_id, version, field, last_used_on)
  select e.credential_id, e.version, e.field, max(e.day)
  from jsonb_to_recordset(entries) as e (credential_id uuid, version text, field text, day date)
  join present on present.id = e.credential_id
  group by 1, 2, 3
  order by 1, 2, 3
  on conflict on constraint field_use_pkey do update set last_used_on = excluded.last_used_on
  where use.last_used_on < excluded.last_used_on
$$;
comment on function auth.record_fields(jsonb) is
  'Records the last day on which credentials used fields: an array of objects with credential_id, version, '
  'field, day.';
select api_meta.give('auth.record_fields(jsonb)', 'service_registrar');
grant execute on function auth.record_fields(jsonb) to service_auth;
--! EndIncluded auth/record_fields.sql
--! Included auth/record_operations.sql
create or replace function auth.record_operations(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Without credentials that were deleted meanwhile. The order of locks is the same as in auth.record_use
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
  'Adds to the statistics of operations that credentials sent: an array of objects with id, version, name, '
  'document, credential_id, day, requests, ms, slowest_ms, statement. Keeps up to 300 operations of a '
  'credential per day.';
select api_meta.give('auth.record_operations(jsonb)', 'service_registrar');
grant execute on function auth.record_operations(jsonb) to service_auth;
--! EndIncluded auth/record_operations.sql
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
  -- The supplier orders give supplier, currency and tax status, unless the input does
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
  'Creates a goods receipt from the columns in the object (is_draft: as a draft), its lines, and the '
  'supplier orders that it delivers. Omitted values of type, supplier, currency and tax status follow from '
  'the orders that it and its lines name. Returns its id.';
grant execute on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) to service_writer;
--! EndIncluded erp/create_goods_receipt.sql
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
      select (l.wanted ->> 'order_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders, new ones with the totals of their lines. So these need not be '
  'written, and reported, as a later change of the order.';
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
    and o.present ->> 'delivery_state' = 'shipped_partially' and not exists (
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
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included ledger/keep_order_line_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By order and product: units that are not shipped yet
  changes ledger.change[];
  -- Orders with changed lines that have a price
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

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, with
  -- its reservations.
  perform ledger.lock_orders(
    array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id))
  );
  -- A sub-select per row: a join could be planned by the index of states, through all open orders
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c
    where (select o.state from erp.sales_order o where o.id = c.owner_id) in ('open', 'in_progress')));
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: updates the reserved stock of products and the '
  'amounts of the orders.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
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
    -- The whole list was written: codes without a label count as entered manually
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
  if new.tracking_codes is null and new.delivery_state is null
    and cardinality(new.entered_tracking_codes || of_labels) = 0 then
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
  'Trigger before the tracking codes of an order are written: the list holds the codes that people entered '
  'and the codes of its outgoing labels, each once. Codes that are written into the list itself count as '
  'entered by a person.';
select api_meta.give('ledger.keep_tracking_codes()', 'service_ledger');
--! EndIncluded ledger/keep_tracking_codes.sql
--! Included mutation/faults_of_keys.sql
create or replace function mutation.faults_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- For each unique key: its name, its columns, and conditions. A row of the table has the key of a row of
  -- the call; it keeps its key; an earlier row of the call has the same key
  with unique_key as (
    select c.relname as name, n.nspname as schema, t.relname as owner,
      format('_nth %s', i.indexrelid) as nth,
      string_agg(format(e.pattern, a.attname, 'o', 'w'), ' and ' order by k.n) as is_same,
      string_agg(format(e.pattern, a.attname, 'x', 'o'), ' and ' order by k.n) as is_kept,
      string_agg(format('r.%I', a.attname), ', ' order by k.n) as columns,
      concat_ws(' and ', format('w."_nth %s" > 1', i.indexrelid), string_agg(
        case when not i.indnullsnotdistinct then format('w.%I is not null', a.attname) end, ' and '))
        as is_late
    from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
    cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, n)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    cross join lateral (
      select case when a.attnotnull or not i.indnullsnotdistinct then '%2$s.%1$I = %3$s.%1$I'
        else '%2$s.%1$I is not distinct from %3$s.%1$I' end as pattern
    ) e
    where i.indrelid = relation and i.indisunique and not i.indisprimary and i.indexprs is null
      and i.indpred is null
    group by i.indexrelid, i.indnullsnotdistinct, c.relname, n.nspname, t.relname
  )
  -- Rows are compared with all others, so without the rest of what they have
  select format('(with w as materialized (select u.line as _line, r.id, %s, %s from unnest($1) u '
    'cross join lateral jsonb_populate_record(null::%s, u.wanted) r where u.errors is null) ',
    (select string_agg(distinct c, ', ') from unique_key o cross join string_to_table(o.columns, ', ') c
      where c <> 'r.id'),
    string_agg(format('row_number() over (partition by %s order by u.line) as %I', u.columns, u.nth), ', '),
    relation)
  -- One that keeps its key is in nobody's way but of those that take it
  || string_agg(format($q$
    select w._line, %1$L, %2$L, %3$L::text[] from w
    where exists (select from %4$s o where %5$s and o.id <> w.id
        and coalesce((select coalesce(%6$s, false) from w x where x.id = o.id), true))
      or %7$s and not exists (select from %4$s o where o.id = w.id and %5$s)$q$,
    e.error ->> 'code', e.error ->> 'message',
    array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
    relation, u.is_same, u.is_kept, u.is_late), ' union all ' order by u.name) || ')'
  from unique_key u cross join mutation.violation(u.schema, u.owner, u.name) e (error);
end;
comment on function mutation.faults_of_keys(regclass) is
  'Returns SQL that finds rows of mutation.row_faults with a unique key that another row has after the '
  'call. Keys that rows of the call give up are free. Null if the table has no unique key.';
grant execute on function mutation.faults_of_keys(regclass) to service_writer;
--! EndIncluded mutation/faults_of_keys.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb, validate_only boolean,
  newer_than timestamptz
)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp
-- The plan is kept while the table grows, so it must suit many keys from the first call on
set enable_seqscan = off as $$
declare
  earlier record;
  errors jsonb := '[]';
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse(
      'OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}'
    );
  end if;
  -- Keys that are older than mutation.digest have the second digest
  select k.payload, k.created_at, k.refused_at, k.request = digest
    or k.request = sha256(convert_to(operation || ' ' || input::text, 'UTF8')) as is_same into earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if not found or earlier.created_at < now() - mutation.key_lifetime()
    or earlier.refused_at = newer_than or earlier.refused_at is not null and validate_only then
    return null;
  end if;
  if not earlier.is_same then
    errors := jsonb_build_array(mutation.user_error('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}'));
  elsif earlier.refused_at is not null then
    errors := earlier.payload;
  end if;
  if earlier.refused_at is not null and newer_than is distinct from '-infinity' then
    return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb,
      'refusal', jsonb_build_object('at', earlier.refused_at,
        'ageMs', trim_scale(1000 * extract(epoch from clock_timestamp() - earlier.refused_at))));
  end if;
  -- Something is written, so that this waits for the synchronous standby as the first call may not have done
  perform pg_logical_emit_message(true, 'service', '');
  if errors <> '[]' then
    return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
  end if;
  return jsonb_build_object('payload', case when not validate_only then earlier.payload end,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(earlier.payload -> 'warnings', '[]'));
end
$$;
comment on function mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) is
  'Takes an idempotency key for the running mutation, which holds its lock; mutation.keep_answer stores it. '
  'Returns null if the key is free. Otherwise returns the result of the earlier call with the key, or '
  'IDEMPOTENCY_KEY_MISMATCH if that call had another input. A refusal holds the key for calls that arrived '
  'before it. Only the caller knows whether its own did, so the result has a field refusal, with the moment '
  'and the age of the refusal. The caller then calls again: with this moment as newer_than for a new try, '
  'or with -infinity for the final refusal. With validate_only, refusals are ignored.';
grant execute on function
  mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) to service_writer;
--! EndIncluded mutation/take_key.sql

comment on table api_meta.backfill is
  'Columns that background work fills in batches, or has filled. Migrations declare them by '
  'api_meta.backfill().';
comment on table api_meta.frozen_part is
  'The parts of each frozen version when it was recorded, from api_meta.current_parts.';
comment on column api_meta.frozen_part.parent is
  'The view, type or function that the part belongs to; null for views, types and functions themselves.';
comment on table api_meta.frozen_promise is
  'Columns and checks of tables that keep null out of columns of frozen versions that are never null.';
comment on column api_meta.frozen_promise.name is
  'view.column, or the view alone if it isn''t known which of its columns rely on the expression.';
comment on type erp.delivery is
  'The changes of a supplier order''s line when a goods receipt is completed. They are its received '
  'quantity, whether units arrive, and the new state of its order; also whether the whole order has '
  'arrived, and the change of the product''s open quantity.';
comment on type erp.receipt_part is
  'A part of a goods receipt''s line, for one line of a supplier order or for none (erp.allotment). The '
  'first part keeps the id of its line. named_order_id is the order that the line named.';
comment on column erp.currency."position" is 'Place of the symbol: 1 after the amount, 0 before it.';
comment on column erp.document.config is
  'Data that the document is rendered from, as they were when it was created: a JSON object. Empty for '
  'uploaded files.';
comment on table erp.fulfillment_line_item is
  'Units that a fulfillment shipped, by line of a fulfillment order.';
comment on column erp.fulfillment_order.type is
  'Kind of location that ships: one of the merchant''s own, or one outside the system.';
comment on column erp.fulfillment_order.state is 'Progress of the work: a state of erp.state_transition.';
comment on table erp.fulfillment_order_fulfillment is
  'Pairs of fulfillments and the fulfillment orders that they shipped from. Every fulfillment line '
  'needs its pair here.';
comment on table erp.fulfillment_order_line_item is
  'Units of order lines that a fulfillment order has to ship.';
comment on column erp.fulfillment_order_line_item.quantity is
  'Units of the order line that are assigned here, including fulfilled ones.';
comment on table erp.fulfillment_stock_movement is
  'Movements that took the units of a fulfillment''s line to the order. Cancelling the fulfillment '
  'books them back the same way.';
comment on column erp.goods_receipt.type is
  'Origin of the goods: a supplier, a customer who returns them, or neither.';
comment on column erp.goods_receipt.state is 'State: draft, created, approved, in_progress or completed.';
comment on column erp.goods_receipt.currency_factor_origin_type is
  'Origin of the exchange rate; null on receipts older than this record.';
comment on column erp.goods_receipt.currency_factor_origin_source is
  'Publisher of the exchange rate, if it was imported; null otherwise.';
comment on column erp.goods_receipt.currency_factor_captured_at is
  'When the exchange rate was looked up, or last entered manually; null on receipts older than this '
  'record.';
comment on column erp.goods_receipt.tax_status is 'Tax status of prices: gross, net or tax-free.';
comment on table erp.merchant is
  'The merchant''s details on documents. The table has one row, or none until it is filled in: then '
  'documents lack data that the law demands, and a warning says so.';
comment on column erp.merchant.is_only_row is 'Always true, so that there is no second row.';
comment on column erp.merchant.managers is
  'Persons who may act for the company, where the law demands their names.';
comment on table erp.number_range is
  'Number ranges of documents and orders: the pattern, with {n} for the counter, and the last number.';
comment on column erp.number_range.last_number is 'Last number that was used; unused if a sequence counts.';
comment on column erp.product_image."position" is
  'Position of the image in the product''s list, counted from 1.';
comment on column erp.product_image.url is
  'Address of the image, which begins with https:// or http://. The service stores it without fetching '
  'the image.';
comment on column erp.product_image.alt_text is 'Description of the image for people who can''t see it.';
comment on table erp.product_supplier_configuration is 'Suppliers of products, with their terms.';
comment on table erp.product_supplier_price is 'Prices of products at suppliers, one per currency.';
comment on column erp.quote_line_item.type is
  'Kind of the line: product, custom, promotion, credit or another word.';
comment on table erp.return_order is 'Returns of customers. Clients know them by id only.';
comment on column erp.sales_order.amount_total is
  'Total with tax, in the currency of the order; recomputed when a line changes.';
comment on column erp.sales_order.tracking_codes is
  'Tracking codes of the primary delivery, as a JSON array of strings: codes of shipping labels that '
  'are not cancelled, and codes entered manually. Empty if there are none yet, null if the order has no '
  'delivery.';
comment on column erp.sales_order.entered_tracking_codes is
  'Tracking codes that were entered manually. They stay in the list of all codes when a label with the '
  'same code is cancelled.';
comment on column erp.sales_order_line_item.type is
  'Kind of the line: product, custom, promotion, credit or another word.';
comment on table erp.state_transition is
  'Transitions between states: the action that leads an entity from one state to the next.';
comment on column erp.state_transition.mutation is
  'Mutation that does the action, by the name of its function, such as order_cancel. Null if no '
  'mutation does it: then refusals do not offer the action.';
comment on column erp.document.static is 'Whether the document is an uploaded file, and not rendered.';
comment on type api_unstable.bin_location_delete_payload is 'The result of deleting a bin.';
comment on type api_unstable.bin_location_payload is 'The result of creating or changing a bin.';
comment on type api_unstable.bulk_operation_cancel_payload is 'The result of stopping a bulk operation.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\n'
  'A GraphQL document with one query of one list, up to 10,000 characters. Page sizes are ignored, also '
  'in nested lists: all rows are exported.';
comment on type api_unstable.bulk_operation_run_payload is 'The result of requesting an export.';
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Exports all rows of a list to a file, in the background. The file is a snapshot of one moment. It '
  'has a line for each row, and a line with __parentId for each row of nested lists.';
comment on type api_unstable.bulk_operation_kind is $$
@value import Imports the rows of a file, like the upsert of their resource.
@value export Exports the rows of a list to a file.
The kind of a bulk operation.$$;
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\n'
  'Id of the customer group whose terms apply. A new customer gets the group of the sales channel by '
  'default.';
comment on type api_unstable.customers_upsert_payload is 'The result of upserting customers.';
comment on column api_unstable.customers_upsert_payload.results is
  E'@resultOf Customer\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on function api_unstable.customers_upsert(api_unstable.customers_upsert_input, jsonb) is
  E'@requiresScopes customers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Creates and updates customers. A row is matched by id, by storefrontId and sales channel, or by '
  'number. A customer who was matched by number and has no storefrontId yet gets the one of the row. '
  'Rows without a change write nothing.';
comment on column api_unstable.document_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.fulfillment_cancel_payload is 'The result of cancelling a fulfillment.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks: from bins by position, then by code, and last from stock without a bin; of products in '
  'batches, from the oldest batch first.';
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on type api_unstable.fulfillment_order_payload is
  'The result of changing the state of a fulfillment order.';
comment on column api_unstable.fulfillment_order_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Approves a goods receipt: the goods have arrived. Books the lines to the place of the receipt: from '
  'the return orders for receipts of type Customer, and otherwise from the special place unknown. Lines '
  'with a negative quantity are booked from the place of the goods.';
comment on type api_unstable.goods_receipt_booking_payload is 'The result of booking a goods receipt.';
comment on column api_unstable.goods_receipt_booking_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Places where the goods were put. Any other line goes to its own bin, or else to the usual bin of the '
  'product, or else to the warehouse.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Origin of the goods. By default Supplier if supplier orders are named, Customer if return orders or '
  'a customer are named, and otherwise Free.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. By default the supplier of the supplier orders that are named here or by the '
  'lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. By default the currency of the first supplier order that is named '
  'here or by a line, or else the supplier''s currency.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. By default the imported rate '
  'of the day, or else the shop''s own rate.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\n'
  'Ids of the supplier orders that are delivered. Orders that the lines name can be left out.';
comment on type api_unstable.goods_receipt_delete_payload is 'The result of deleting a goods receipt.';
comment on column api_unstable.goods_receipt_delete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. By default the price of the '
  'supplier order, converted if the order has another currency or tax status.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Replaces the lines of a goods receipt that is not approved yet, and recomputes its totals. Lines are '
  'listed in the order of the input, except existing lines that swap places. A receipt without a '
  'supplier takes the supplier of the supplier orders that its lines name.';
comment on type api_unstable.goods_receipt_payload is 'The result of a mutation of a goods receipt.';
comment on column api_unstable.goods_receipt_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_update_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts, which are not converted. The exchange rate is looked up again.';
comment on column api_unstable.goods_receipt_update_input.currency_factor is
  'Exchange rate, entered manually: units of the currency per unit of the default currency. Null takes '
  'the rate of this moment. It can be changed until a stock valuation report counts with it.';
comment on type api_unstable.order_cancel_payload is 'The result of cancelling an order.';
comment on type api_unstable.order_shipment_complete_payload is 'The result of shipping an order.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or else from the '
  'default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; '
  'of products that are kept in batches, the oldest batch first. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on type api_unstable.orders_upsert_payload is 'The result of upserting orders.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Creates and updates orders. A row is matched by id, by storefrontId and sales channel, or by number. '
  'Units that are shipped, assigned to a fulfillment order or invoiced stay: a line keeps at least '
  'these units, and its product. Lines of completed and cancelled orders don''t change. Rows without a '
  'change write nothing.';
comment on column api_unstable.product_image_translation.alt_text is
  E'@notNull\n'
  'Description of the image.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';
comment on type api_unstable.product_supplier_configuration_delete_payload is
  'The result of removing a supplier from a product.';
comment on type api_unstable.product_supplier_configuration_payload is
  'The result of setting how a supplier sells a product.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';
comment on view api_unstable.product_supplier_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'supplierConfigurations\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'A supplier''s prices and terms for a product.';
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\n'
  'Prices of the product at this supplier, one per currency.';
comment on type api_unstable.product_warehouse_configuration_payload is
  'The result of configuring a product in a warehouse.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'Description of the image; at most 1,000 characters.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'Description of the image for people who can''t see it; at most 1,000 characters.';
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.products_upsert_payload is 'The result of upserting products.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.products_upsert_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.put_away_input is 'A place where units of a line are put.';
comment on column api_unstable.stock_adjust_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\n'
  'The changes; 1 to 250 lines. Several lines may have the same product and place.';
comment on type api_unstable.stock_payload is 'The result of a mutation of stock.';
comment on column api_unstable.stock_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.stock_set_line_input is 'The stock that a product has in a place.';
comment on column api_unstable.stock_set_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a time without decimals is the beginning of its '
  'second. Later movements are added: the stock becomes the quantity plus all later movements, except '
  'corrections by other counts. Counts may arrive late, in any order, and more than once. A count that '
  'is older than another one of the same stock is kept and changes nothing; the warning '
  'COUNT_SUPERSEDED reports it. Of two counts of the same time, the one that arrives later is valid. By '
  'default the quantity was counted now.';
comment on column api_unstable.stock_transfer_line_input.source is
  E'@notNull\n'
  'Place that the units are taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is
  E'@notNull\n'
  'Place that the units go to.';
comment on column api_unstable.stock_transfer_input.lines is
  E'@notNull\n'
  'The transfers; 1 to 250 lines.';
comment on type api_unstable.supplier_order_delete_payload is 'The result of deleting a supplier order.';
comment on column api_unstable.supplier_order_delete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.supplier_order_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the product.';
comment on function
  api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  'Replaces the lines of an open supplier order, and recomputes its totals. Lines are listed in the '
  'order of the input, except existing lines that swap places. The position is always the one of the '
  'input.';
comment on type api_unstable.supplier_order_payload is 'The result of a mutation of a supplier order.';
comment on column api_unstable.supplier_order_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.supplier_upsert_input is
  'A supplier as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.suppliers_upsert_payload is 'The result of upserting suppliers.';
comment on column api_unstable.suppliers_upsert_payload.results is
  E'@resultOf Supplier\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on type api_unstable.upsert_outcome is
  E'@value CREATED The object was created.\n'
  '@value UPDATED The object existed, and was changed.\n'
  '@value UNCHANGED The object has the values of the row already. Nothing was written, and there is no '
  'event.\n'
  '@value REFUSED The row was refused because of its user errors. Nothing of it was written.\n'
  'The outcome of a row of an upsert.';
comment on type api_unstable.upsert_result is 'The outcome of a row of an upsert.';
comment on column api_unstable.upsert_result.outcome is
  E'@notNull\n'
  'The outcome of the row.';
comment on column api_unstable.upsert_result.id is
  E'@gid Node\n'
  'Id of the object; null if it is new and was refused.';
comment on column api_unstable.user_error.code is
  E'@notNull\n'
  'Code of the error, for programs.';
comment on column api_unstable.user_error.message is
  E'@notNull\n'
  'Message for people.';
comment on column api_unstable.user_error.field is
  'Path to the input that is wrong, for example ["lines", "0", "quantity"]; null if no single input is.';
comment on type api_unstable.user_error_code is
  E'@value REQUIRED A value is missing, or null.\n'
  '@value INVALID The value is not valid here; the message says why.\n'
  '@value NOT_FOUND There is no object with this id.\n'
  '@value NOT_UNIQUE Another object has this value.\n'
  '@value OUT_OF_RANGE A number, date or text length is outside the allowed range.\n'
  '@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that '
  'it allows.\n'
  '@value NOT_EDITABLE The state, or where it comes from, does not allow changes.\n'
  '@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is '
  'available and requested.\n'
  '@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is '
  'expected and actual.\n'
  '@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was '
  'ordered becomes a line without an order.\n'
  '@value OVER_FULFILLMENT More would be fulfilled than is open.\n'
  '@value BATCH_REQUIRED The units are kept in batches: a batch must be named.\n'
  '@value BATCH_MISMATCH The batch is of another product.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.\n'
  '@value REFERENCE_IN_USE Another object still refers to it, and can''t exist without it.\n'
  '@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.\n'
  '@value EXTERNALLY_MANAGED Another system manages it; it is read-only here.\n'
  '@value ON_HOLD It is on hold.\n'
  '@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 '
  'hours.\n'
  '@value TOO_MANY_LINES The input has more lines than are allowed at once.\n'
  '@value URL_FORBIDDEN The address may not be called.\n'
  '@value SCOPE_MISSING The access token lacks a scope that depends on the input.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is '
  'not.\n'
  '@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details '
  'names the order or the receipt that is of another.\n'
  '@value SUPPLIER_INACTIVE The shop no longer orders from the supplier. Earlier orders can still be '
  'received.\n'
  '@value TOO_MANY_SUBSCRIPTIONS The maximum number of webhook subscriptions is reached. Field details '
  'has the number.\n'
  'The code of a user error. A version only shows codes that it lists: later ones appear as INVALID.';
comment on type api_unstable.warehouse_delete_payload is 'The result of deleting a warehouse.';
comment on type api_unstable.warehouse_payload is 'The result of creating or changing a warehouse.';
comment on type api_unstable.warehouse_upsert_input is
  'A warehouse as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.warehouses_upsert_payload is 'The result of upserting warehouses.';
comment on column api_unstable.warehouses_upsert_payload.results is
  E'@resultOf Warehouse\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on type api_unstable.warning is 'A warning about a mutation that succeeded.';
comment on column api_unstable.warning.code is
  E'@notNull\n'
  'Code of the warning, for programs.';
comment on column api_unstable.warning.message is
  E'@notNull\n'
  'Message for people.';
comment on column api_unstable.warning.field is
  'Path to the input that the warning is about, for example ["lines", "0", "quantity"]; null if it is '
  'about no single input.';
comment on type api_unstable.webhook_deliveries_replay_payload is 'The result of a replay.';
comment on function api_unstable.webhook_deliveries_replay(api_unstable.webhook_deliveries_replay_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends events of the log to a subscriber again, or for the first time: events of its topic and '
  'fields. Use it for receivers that were down, lost something, or were disabled. The log goes back 30 '
  'days.';
comment on type api_unstable.webhook_delivery_attempt is
  E'@name WebhookDeliveryAttempt\n'
  'An attempt to deliver an event.';
comment on type api_unstable.webhook_delivery_retry_payload is 'The result of retrying a delivery.';
comment on column api_unstable.webhook_subscription_create_input.fields is
  'Fields of the topic''s data, of which one must have changed. Only for topics about changes. By '
  'default every change is sent.';
comment on type api_unstable.webhook_subscription_delete_payload is
  'The result of deleting a webhook subscription.';
comment on type api_unstable.webhook_subscription_payload is 'The result of changing a webhook subscription.';
comment on type api_unstable.webhook_subscription_secret_payload is
  'The result of subscribing, or of changing the secret.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is
  E'@secret\n'
  'Secret that signs deliveries, by Standard Webhooks: whsec_ and the key in Base64. It is shown once: '
  'null when the mutation is repeated with its idempotency key.';
comment on type api_unstable.webhook_subscription_test_payload is
  'The result of testing a webhook subscription.';
comment on column api_unstable.webhook_subscription_update_input.fields is
  'Fields of the topic''s data, of which one must have changed. Only for topics about changes. By '
  'default every change is sent. Null for every change.';
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@scopesOfAll all_webhook_subscriptions:read all_webhook_subscriptions:write
@filters *
@fullLists fields
A subscription to a topic of events. Each credential sees its own; all_webhook_subscriptions:read opens all.$$;
comment on function administration.webhook_delivery(uuid) is
  'Returns a delivery, with the body that it sends if the subscription has no payload query.';
comment on view api_unstable.fulfillment_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_id,fulfillment_order_line_item_id,product_id\n'
  '@filters quantity\n'
  '@foreignKey (fulfillment_id) references fulfillments (id)|@fieldName fulfillment|@foreignFieldName '
  'lineItems\n'
  '@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName '
  'fulfillmentOrderLineItem|@foreignFieldName fulfillmentLineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'The units of a fulfillment order''s line that a fulfillment shipped.';
comment on view api_unstable.fulfillment_order_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_order_id,destination_order_line_item_id,product_id\n'
  '@filters quantity,storefront_id\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName lineItems\n'
  '@foreignKey (destination_order_line_item_id) references order_line_items (id)|@fieldName '
  'destinationOrderLineItem\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'The units of an order line that a fulfillment order has to ship.';
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units were booked out that orders wait for. Field details has the productId, '
  'the reserved stock and the available stock, which is negative now; and the warehouseId if only that '
  'warehouse is short.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More units arrive than the supplier order has open, or go back than it received. When '
  'the receipt is completed, the surplus becomes a line without an order. Field details has the '
  'quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
comment on function api_meta.allow(regrole, regclass, text[]) is
  'Grants a role that runs functions rights on a table, with policies for all rows. A right is select, '
  'insert, update or delete, with a list of columns in parentheses if not all are meant.';
comment on function api_meta.backfill(text, regclass, name[], text, text) is
  'Lets background work fill columns of a table in batches. Rows that meet the condition get the value '
  'of the expression, or of a list of expressions for several columns. Filled rows must no longer meet '
  'the condition. A second call starts it again.';
comment on function api_meta.clone_column_comments(name, name, name) is
  'Copies the comments of the columns of a view or composite type to another API schema.';
comment on function api_meta.current_parts(name) is
  'Returns the parts of a version of the API: views with their queries and columns, types with their '
  'attributes, functions with their bodies. A definition ends with the comment. Queries and bodies are '
  'hashed by MD5: definition has the hash of the text, tree the hash of Postgres'' own form with object '
  'ids.';
comment on function api_meta.derive_references() is
  'Creates triggers for foreign keys that are declared as not enforced. They check once per statement, '
  'while an enforced key checks each row. New rows must refer to existing ones; deleting a referenced '
  'row does what the key declares. Neither side of a reference can be changed. Bookings only refer to '
  'rows that they have locked (ledger.lock_stock). Runs after each migration.';
comment on function api_meta.derive_rules() is
  'Creates triggers for checks that are declared as not enforced. They refuse the same rows with the '
  'same error: uphold_figures has the checks of columns that bookings update, uphold_rules has all. '
  'They also fire if another trigger changes such a column. Tables that every booking writes to declare '
  'their checks in this way, because Postgres compiles enforced checks and generated columns again in '
  'each statement. Runs after each migration.';
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Creates the trigger that keeps the searched text of rows in a separate table. Fills that table again '
  'if other columns are searched now.';
comment on function api_meta.describe() is
  'Writes the comments of the columns of views in api_unstable. Description and nullability come from '
  'the table''s column of the same name. The view''s tags @nullable, @hidden, @columnEnum and '
  '@fullLists correct them, and tags of indexes are added. Columns that are expressions have their own '
  'comments. Only changed comments are written.';
comment on function api_meta.follow_deletion() is
  'Trigger after a delete in a table that foreign keys refer to which are declared as not enforced. '
  'Does what these keys declare for a deletion, with the rights of the tables'' owner, like an enforced '
  'key.';
comment on function api_meta.has_null_elements(oid, integer, oid) is
  'Whether a column of a table is an array that may hold null: no check array_position(…, null) is null '
  'forbids it, and no domain of the array or its elements.';
comment on function api_meta.index_search(regclass) is
  'Creates the index for searches of a view with the tag @search, and replaces an existing one. Writes '
  'to the table wait meanwhile. For a large table, run the statement of api_meta.search_index in a '
  'separate migration, and then comment on the index with it.';
comment on view api_meta.index_tag is
  'Tags that follow from the indexes of each view''s main table, by column. The tag @indexed: an index '
  'finds its values. The tag @foundExactly: an index finds whole texts but not their beginnings; with '
  'unique, a text has few rows. The tag @orders: an index has the order of this column, of the columns '
  'that follow, and of the key.';
comment on view api_meta.index_use is
  'The use of each index: a constraint, a relation (a foreign key, which deletions look up too), a '
  'filter of the API, or a use that its comment names. Column covered_by lists other indexes that begin '
  'with the same columns and have its rows.';
comment on view api_meta.own_schema is
  'The schemas of the service: schemas of service_owner, except the packages'' (graphile_… and '
  'extensions), and schemas of others that are exposed to the API. Column is_api: the schema is a '
  'version of the API; is_frozen: a released version.';
comment on view api_meta.promise_ground is
  'Columns and checks of tables that can keep null out of the API. Column tree names them by object '
  'ids, ground by names. Column holds is true if no row has null there, or breaks the check.';
comment on function api_meta.read_faults() is
  'Returns tables that views of the API read although no policy protects them or their schema isn''t '
  'exposed, each with a remedy.';
comment on view api_meta.searched_view is
  'The views whose lists can be searched, by the tag @search: `@search number,name,customer_id`. A '
  'column with a @foreignKey to such a view also finds rows that belong to matches there. Column words: '
  'the searched text of the other columns, an expression over the view''s main table. Column links: '
  'columns with such a key; targets: the views that they lead to; through: the functions that search '
  'these. The tag `in erp.product_words` names a table that keeps the text by id. Tables that bookings '
  'change need it, because an index would slow down each booking.';
comment on function api_meta.uphold(api_meta.upholding) is
  'Creates or replaces the trigger function that upholds a table''s checks that are declared as not '
  'enforced, for some columns or all.';
comment on view api_meta.upholding is
  'The triggers that uphold checks which are declared as not enforced: uphold_figures for columns that '
  'bookings update, uphold_rules for all. columns: the trigger fires when one of them changes.';
comment on function api_meta.version_faults() is
  'Returns differences between the frozen versions and their records, one row per part. Columns, types, '
  'attributes and functions must have the same order and comments. Renaming a table or column behind a '
  'view is no difference. A view that reads other data is one, and so is a dropped not-null column or '
  'check that a promise to clients relies on.';
comment on view api_meta.view_column_source is
  'The columns of tables that each API view reads, also through other views. The table with the '
  'greatest weight is the view''s main table.';
comment on function api_meta.view_origins(name) is
  'Returns the table column behind each column of a version''s views, also through other views, and '
  'whether it is never null; for other columns the expression alone. Column is_promised: the tag '
  '@notNull or a key promises clients that it is never null. It takes a tenth of a second, because it '
  'reads Postgres'' form of the views, so migrations don''t call it routinely.';
comment on function api_meta.view_targets(regclass) is
  'Returns the columns of a view from Postgres'' own form: the expression of each, or the column of a '
  'table or another view that it shows unchanged. A column that an outer join may set to null is an '
  'expression.';
comment on function search.require_few(uuid[]) is
  'Refuses a search with more than 10,000 matches by SQLSTATE UE006: each page would have to read and '
  'sort all of them again.';
comment on type api_unstable.fulfillment_order_type is
  E'\n'
  '@value WarehouseLocationToOrder A location of the merchant ships to the customer, and the work is '
  'done in this system.\n'
  '@value ExternalToOrder A location outside this system ships, such as a fulfillment network; this '
  'system only mirrors it.\n'
  'Kind of location that ships a fulfillment order.';
comment on type api_unstable.currency_factor_origin_type is
  E'\n'
  '@value ExchangeRateImport The automatic update of exchange rates.\n'
  '@value Manual Somebody set it for this goods receipt.\n'
  '@value ShopCurrencyFactor The factor of the currency in the shop, kept without the automatic update.\n'
  'Origin of a goods receipt''s exchange rate.';
comment on type api_unstable.goods_receipt_type is
  E'\n'
  '@value Free Stands alone: neither a supplier order nor a return is behind it.\n'
  '@value Customer Books what a customer sends back.\n'
  '@value Supplier Books what supplier orders bring.\n'
  'Origin of the goods of a receipt.';
comment on view api_unstable.product_images is $$
@primaryKey product_id,position
@requiresScopes products:read
@filters product_id,position,url
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName images
@describe productImages All images of products that the caller may read, ordered within each product.
An image of a product. Its id contains the product and the position among its images.$$;

--! split: 31-last.sql
comment on schema administration is
  'Functions behind the pages of the administration. Each one, except those for logging in, requires a live '
  'session.';
comment on constraint order_line_item_promotion_identifier_matches_payload on erp.sales_order_line_item is
  E'@userError INVALID identifier\n'
  'The identifier of a promotion is the identifier in its payload.';

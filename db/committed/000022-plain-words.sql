--! Previous: sha1:1298c90d076a59abd2eacd74f01eb9cd36985f22
--! Hash: sha1:559175a25d6a276a8951caa1345dcb25d48a71ac
--! Message: plain words

--! split: 90-prose.sql
-- Comments and descriptions in plainer words. No behaviour changes.
comment on table events.webhook_subscription is
  'Webhook subscriptions: a topic, and the address that its events are sent to.';
comment on column events.webhook_subscription.next_probe_at is
  'Time of the next probe by a single delivery, outside of the schedule; null while it is healthy.';
comment on column events.webhook_subscription.payload_failures is
  'How many times in a row the payload query took too much.';
comment on column events.webhook_subscription.paused_until is
  'End of the pause after the payload query took too much; null without one.';
comment on column events.webhook_subscription.last_sequence is
  'Sequence of the newest event for it; null when there was none yet.';
comment on column events.webhook_subscription.failing_since is
  'Time of the first failure after the last success; null after a success.';
comment on column events.event.topic is 'The topic, as resource.event.';
comment on column events.event.data is 'The subject as it was at that time.';
comment on column events.event.changed_fields is
  'Fields that the update changed; null when it was no update.';
comment on column events.event.cause is
  'The request that caused it: an object with credentialId, requestId and idempotencyKey, each null for '
  'changes by other programs.';
comment on column events.delivery.subscription_id is 'The subscription.';
comment on column events.delivery.event_id is 'Id of the event, by which receivers recognise repetitions.';
comment on column events.delivery.entity_id is 'Deliveries of the same entity are sent in order.';
comment on column events.delivery.previous_sequence is
  'Sequence of the previous event for the subscription; null for the first one. A receiver that has not '
  'seen that event has missed something.';
comment on column events.delivery.state is 'State: pending, delivered, failed or cancelled.';
comment on column events.delivery.attempts is 'Number of attempts.';
comment on column events.delivery.next_attempt_at is 'Time of the next attempt after a failure.';
comment on column events.delivery.delivered_at is 'When the receiver accepted it.';
comment on column erp.fulfillment_order.hold_comment is
  'Why it is on hold, in the words of the person who put it there; null when it is not, or without a reason.';
comment on column ledger.stock_movement.comment is 'Note about the booking.';
comment on column ledger.movement_sequence.sequence is
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a moment '
  'after the commit.';
--! Included administration/credential_uses.sql
create or replace function administration.credential_uses(since date, wanted uuid default null)
returns table (
  credential_id uuid, day date, version text, deprecated_field text, requests bigint, last_used_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select use.credential_id, use.day, use.version, use.deprecated_field, use.requests,
    use.last_used_at::timestamptz
  from auth.credential_use as use
  where use.day >= credential_uses.since
    and (credential_uses.wanted is null or use.credential_id = credential_uses.wanted)
  order by use.day desc, use.version, use.deprecated_field;
end
$$;
comment on function administration.credential_uses(date, uuid) is
  'Uses of all credentials, or one, since a day.';
select api_meta.give('administration.credential_uses(date, uuid)', 'service_registrar');
grant execute on function administration.credential_uses(date, uuid) to service_administration;
--! EndIncluded administration/credential_uses.sql
--! Included administration/drop_webhook_backlog.sql
create or replace function administration.drop_webhook_backlog(id uuid, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  -- If it is enabled in the meantime, the remaining deliveries stay
  perform from events.webhook_subscription s where s.id = drop_webhook_backlog.id and not s.enabled;
  if not found then
    return 0;
  end if;
  return events.drop_waiting(drop_webhook_backlog.id, batch);
end
$$;
comment on function administration.drop_webhook_backlog(uuid, integer) is
  'Cancels what waits for a disabled subscription, at most as many deliveries as the batch. Answers how '
  'many: to be called again until that is 0.';
select api_meta.give('administration.drop_webhook_backlog(uuid, integer)', 'service_registrar');
grant execute on function administration.drop_webhook_backlog(uuid, integer) to service_administration;
--! EndIncluded administration/drop_webhook_backlog.sql
--! Included administration/note_refused_log_in.sql
create or replace function administration.note_refused_log_in(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A name that no administrator has may be a password in the wrong field
  perform auth.note_event(
    'session.refused', (
      select administrator.name
      from auth.administrator
      where lower(administrator.name) = lower(note_refused_log_in.name)
    )
  );
end
$$;
comment on function administration.note_refused_log_in(text) is
  'Notes a failed log-in, with the name if there is such an administrator.';
select api_meta.give('administration.note_refused_log_in(text)', 'service_registrar');
grant execute on function administration.note_refused_log_in(text) to service_administration;
--! EndIncluded administration/note_refused_log_in.sql
--! Included administration/start_session.sql
create or replace function administration.start_session(
  administrator_id uuid, checked_hash text, token_hash bytea
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  administrator_name text;
begin
  -- The caller has compared the hash before. If the password has changed since, the old one must not work.
  update auth.administrator set last_log_in_at = date_trunc('second', now())
  where id = start_session.administrator_id and password_hash = start_session.checked_hash
    and deactivated_at is null
  returning name into administrator_name;
  if not found then
    raise exception 'The password has changed.' using errcode = 'invalid_authorization_specification';
  end if;
  delete from auth.administrator_session as session
  where session.administrator_id = start_session.administrator_id
    and session.token_hash not in (select alive.token_hash from auth.live_session as alive);
  insert into auth.administrator_session (token_hash, administrator_id)
  values (start_session.token_hash, start_session.administrator_id);
  perform set_config('service.session', encode(start_session.token_hash, 'hex'), true);
  perform auth.note_event('session.started', administrator_name);
end
$$;
comment on function administration.start_session(uuid, text, bytea) is
  'Begins the session of an administrator whose password has been compared with this hash. Sessions of '
  'the same administrator that have ended are cleared away.';
select api_meta.give('administration.start_session(uuid, text, bytea)', 'service_registrar');
grant execute on function administration.start_session(uuid, text, bytea) to service_administration;
--! EndIncluded administration/start_session.sql
--! Included administration/use_session.sql
create or replace function administration.use_session()
returns table (administrator_id uuid, name text, ends_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present record;
begin
  select * into present from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
  if not found then return; end if;
  -- To the minute, so that not every page writes
  update auth.administrator_session as session set last_seen_at = date_trunc('second', now())
  where session.token_hash = present.token_hash and session.last_seen_at < now() - interval '1 minute';
  return query select present.administrator_id, present.name, present.ends_at;
end
$$;
comment on function administration.use_session() is
  'The administrator of the session, whose use is noted; no row when it has ended.';
select api_meta.give('administration.use_session()', 'service_registrar');
grant execute on function administration.use_session() to service_administration;
--! EndIncluded administration/use_session.sql
--! Included administration/webhook_deliveries.sql
create or replace function administration.webhook_deliveries(subscription uuid, before uuid, how_many integer)
returns table (
  id uuid, created_at timestamptz, topic text, subject_id uuid, state text, attempts integer,
  last_status integer, last_error text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select d.id, d.created_at::timestamptz, coalesce(e.topic::text, 'webhook_subscription.test'), e.subject_id,
    d.state, d.attempts, a.status, a.error
  from events.delivery d
  left join events.event e on e.sequence = d.sequence
  left join events.delivery_attempt a on a.delivery_id = d.id and a.number = d.attempts
  where d.subscription_id = webhook_deliveries.subscription
    and (webhook_deliveries.before is null or d.id < webhook_deliveries.before)
  order by d.id desc
  limit least(webhook_deliveries.how_many, 200);
end
$$;
comment on function administration.webhook_deliveries(uuid, uuid, integer) is
  'The newest deliveries to a subscriber, or those before one, with the result of their last attempt.';
select api_meta.give('administration.webhook_deliveries(uuid, uuid, integer)', 'service_registrar');
grant execute on function administration.webhook_deliveries(uuid, uuid, integer) to service_administration;
--! EndIncluded administration/webhook_deliveries.sql
--! Included administration/webhook_subscriptions.sql
create or replace function administration.webhook_subscriptions(
  wanted uuid default null, before uuid default null, troubled boolean default false,
  how_many integer default 200
)
returns table (id uuid, topic text, url text, api_version text, fields text[], payload_query text,
  credential_id uuid, credential_name text,
  enabled boolean, health text, health_reason text, backlog_count bigint, last_delivered_at timestamptz,
    failing_since timestamptz,
  next_attempt_at timestamptz, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select s.id, s.topic, s.url, s.api_version, s.fields, s.payload_query, s.credential_id, c.name, s.enabled,
    s.health, s.health_reason,
    s.backlog_count::bigint, s.last_delivered_at::timestamptz, s.failing_since::timestamptz,
    -- Suspended ones are only probed, degraded ones also; without a backlog there is nothing to try
    case when s.enabled and s.backlog_count > 0 then greatest(s.paused_until::timestamptz, (
      select case when s.health = 'DEGRADED' then least(s.next_probe_at, min(q.due_at))
        else greatest(s.next_probe_at, min(q.due_at)) end::timestamptz
      from events.delivery_queue q where q.subscription_id = s.id and q.due_at < 'infinity')) end,
    s.created_at::timestamptz
  from events.webhook_subscription s left join auth.credential c on c.id = s.credential_id
  where (webhook_subscriptions.wanted is null or s.id = webhook_subscriptions.wanted)
    and (webhook_subscriptions.before is null or s.id < webhook_subscriptions.before)
    and (not webhook_subscriptions.troubled or s.health <> 'HEALTHY')
  order by s.id desc
  limit least(webhook_subscriptions.how_many, 200);
end
$$;
comment on function administration.webhook_subscriptions(uuid, uuid, boolean, integer) is
  'The newest webhook subscriptions, or those before one, or a single one; of all, or of those that are '
  'not healthy. Never their secrets.';
select api_meta.give(
  'administration.webhook_subscriptions(uuid, uuid, boolean, integer)', 'service_registrar'
);
grant execute on function administration.webhook_subscriptions(uuid, uuid, boolean, integer)
  to service_administration;
--! EndIncluded administration/webhook_subscriptions.sql
--! Included api/fulfillment_order_create.sql
drop type if exists api_unstable.fulfillment_order_create_input cascade;
drop type if exists api_unstable.fulfillment_order_create_line_input cascade;
create type api_unstable.fulfillment_order_create_line_input as (order_line_item_id uuid, quantity integer);
comment on type api_unstable.fulfillment_order_create_line_input is
  'Units of a line of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which must have a product.';
comment on column api_unstable.fulfillment_order_create_line_input.quantity is
  E'@notNull\n'
  'Number of units: at least 1, and at most those that are neither shipped nor in an open fulfillment '
  'order.';

create type api_unstable.fulfillment_order_create_input as (
  order_id uuid, warehouse_id uuid, lines api_unstable.fulfillment_order_create_line_input[]
);
comment on type api_unstable.fulfillment_order_create_input is
  'The part of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.fulfillment_order_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse; it has an active location.';
comment on column api_unstable.fulfillment_order_create_input.lines is
  '1 to 250 lines, each of another line of the order. Without it, all units are assigned that no open '
  'fulfillment order has.';

create function api_unstable.fulfillment_order_create(input api_unstable.fulfillment_order_create_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_fulfillment_order(input.order_id, input.warehouse_id,
    case when input.lines is not null then array(
      select row (l.order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end), null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_create(api_unstable.fulfillment_order_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID INVALID_STATE_TRANSITION OVER_FULFILLMENT REQUIRED NOT_UNIQUE '
  'OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes a warehouse ship units of an order that no fulfillment order has, for example because one was '
  'cancelled. They are promised to the order in that warehouse, even if it does not have them yet; '
  'fulfillmentCreate or orderShipmentComplete ships them from there.';
--! EndIncluded api/fulfillment_order_create.sql
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
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Sets the lines of a goods receipt that is not approved yet, and computes its totals again. Lines are '
  'listed in the given order, except existing lines that change places among themselves. A receipt without '
  'a supplier takes that of the supplier orders that its lines name.';
--! EndIncluded api/goods_receipt_line_items_set.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were made, in the order in which they were asked for.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, it is the default '
  'warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another '
  'warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION ON_HOLD '
  'EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships everything that is still open of an order: its open fulfillment orders, each from the warehouse '
  'of its location, and what no open fulfillment order has from the warehouse that is named, or else from '
  'the default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; of '
  'products that are kept in batches, the oldest batch first. Books them out by the process api_shipping, '
  'records the fulfillment, closes the fulfillment orders, and brings the states of the order up to date. '
  'What is fulfilled externally is left alone. All of it is shipped, or nothing.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/supplier_order_line_items_set.sql
drop type if exists api_unstable.supplier_order_line_items_set_input cascade;
create type api_unstable.supplier_order_line_items_set_input
  as (id uuid, line_items api_unstable.supplier_order_line_input[]);
comment on type api_unstable.supplier_order_line_items_set_input is 'The lines of a supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.line_items is
  E'@notNull\nAll lines that the order is to have, up to 250. Lines that are not among them go.';

create function api_unstable.supplier_order_line_items_set(
  input api_unstable.supplier_order_line_items_set_input
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_supplier_order(input.id, array(
    select row (
      l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date
    )::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.supplier_order_payload
$$;
comment on function
  api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  'Sets the lines of an open supplier order and computes its totals again. Lines are listed in the given '
  'order, except existing lines that change places among themselves; position is always that of the input.';
--! EndIncluded api/supplier_order_line_items_set.sql
--! Included api/webhook_delivery_retry.sql
drop type if exists api_unstable.webhook_delivery_retry_payload cascade;
create type api_unstable.webhook_delivery_retry_payload
  as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_delivery_retry_payload is 'What trying a delivery again answers.';
comment on column api_unstable.webhook_delivery_retry_payload.webhook_delivery_id is
  E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_delivery_retry_payload.user_errors is
  'Why it is not tried again; empty when it is.';

drop type if exists api_unstable.webhook_delivery_retry_input cascade;
create type api_unstable.webhook_delivery_retry_input as (id uuid);
comment on type api_unstable.webhook_delivery_retry_input is 'A delivery to try again.';
comment on column api_unstable.webhook_delivery_retry_input.id is
  E'@notNull\n@gid WebhookDelivery\nId of the delivery.';

create function api_unstable.webhook_delivery_retry(input api_unstable.webhook_delivery_retry_input)
returns api_unstable.webhook_delivery_retry_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.retry_delivery(input.id), null)::api_unstable.webhook_delivery_retry_payload
$$;
comment on function api_unstable.webhook_delivery_retry(api_unstable.webhook_delivery_retry_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Delivers an event again, or at once if it waits for its next attempt. Receivers recognise it by its '
  'webhook-id.';
--! EndIncluded api/webhook_delivery_retry.sql
--! Included api/webhook_subscription_create.sql
drop type if exists api_unstable.webhook_subscription_create_input cascade;
create type api_unstable.webhook_subscription_create_input
  as (topic text, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_unstable.webhook_subscription_create_input.topic is
  E'@notNull\nThe topic, for example order.created. Subscribing needs the scope that reads its subject.';
comment on column api_unstable.webhook_subscription_create_input.url is
  E'@notNull\n'
  'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 '
  'characters at most.';
comment on column api_unstable.webhook_subscription_create_input.api_version is
  E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_create_input.fields is
  'Fields, as the data of the topic names them, of which one must have changed. Only for topics that '
  'tell of changes; without it, every change is told.';
comment on column api_unstable.webhook_subscription_create_input.payload_query is
  'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event '
  'is about. 10,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.enabled is
  E'@neverNull\nWhether events are sent from now on. True when left out.';

create function api_unstable.webhook_subscription_create(input api_unstable.webhook_subscription_create_input)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made.id, events.new_secret(made.id), null)::api_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields,
    input.payload_query,
    coalesce(input.enabled, true)) made (id)
$$;
comment on function
  api_unstable.webhook_subscription_create(api_unstable.webhook_subscription_create_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS\n'
  'Sends events of a topic to an address. Needs the scope that reads the subject of the topic, now and as '
  'long as events are sent.';
--! EndIncluded api/webhook_subscription_create.sql
--! Included api/webhook_subscription_enable.sql
drop type if exists api_unstable.webhook_subscription_enable_input cascade;
create type api_unstable.webhook_subscription_enable_input as (id uuid);
comment on type api_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_unstable.webhook_subscription_enable_input.id is
  E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_enable(input api_unstable.webhook_subscription_enable_input)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.enable_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_payload
$$;
comment on function
  api_unstable.webhook_subscription_enable(api_unstable.webhook_subscription_enable_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS\n'
  'Enables a disabled webhook subscription, and sends all waiting events at once, also if it was only '
  'failing. From then on the scopes of the credential that enabled it decide what is sent. '
  'webhookDeliveriesReplay sends the events that happened while it was disabled.';
--! EndIncluded api/webhook_subscription_enable.sql
--! Included api_meta/current_parts.sql
create or replace function api_meta.current_parts(version name)
returns table (kind text, name text, parent text, definition text, tree text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with relation as (
    select c.oid, c.relname::text as name, c.relkind, c.reltype, c.reloptions from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(version)) and c.relkind in ('v', 'c')
  )
  select 'view', r.name, null,
    case when 'security_invoker=true' = any (r.reloptions) then 'security_invoker' else '' end
      || api_meta.part_note(obj_description(r.oid, 'pg_class')), null
  from relation r where r.relkind = 'v'
  union all
  -- The tree refers to tables and columns by number, the text by name
  select 'query', r.name, r.name, md5(pg_get_viewdef(r.oid)), md5(w.ev_action::text)
  from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename = '_RETURN'
  union all
  select case r.relkind when 'v' then 'column' else 'attribute' end, r.name || '.' || a.attname, r.name,
    row_number() over (partition by r.oid order by a.attnum) || '. ' || format_type(a.atttypid, a.atttypmod)
      || api_meta.part_note(col_description(r.oid, a.attnum)), null
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  union all
  select 'type', t.typname, null, case t.typtype when 'e' then
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      else '' end
      || api_meta.part_note(obj_description(t.oid, 'pg_type')), null
  from pg_type t left join relation r on r.reltype = t.oid
  where t.typnamespace = to_regnamespace(quote_ident(version)) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(obj_description(p.oid, 'pg_proc')), null
  from pg_proc p join pg_language l on l.oid = p.prolang
  where p.pronamespace = to_regnamespace(quote_ident(version))
  union all
  select 'body', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    md5(concat_ws(E'\n', coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), p.proconfig::text)),
    md5(p.prosqlbody::text)
  from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(version))
$$;
comment on function api_meta.current_parts(name) is
  'What a version of the API consists of now: views with their queries and columns, types with their '
  'attributes, functions with their bodies. definition ends with the comment; that of a query or body is an '
  'MD5 hash of its text, and tree one of how Postgres keeps it, by object ids.';
--! EndIncluded api_meta/current_parts.sql
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
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, col_description(v.view, a.attnum) as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
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
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql
--! Included api_meta/finish_migration.sql
create or replace function api_meta.finish_migration() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cause text;
  code text;
  place text;
begin
  begin
    perform api_meta.derive();
    perform events.derive_announcements();
    perform api_meta.derive_rules();
    perform mutation.derive_operations();
  exception when others then
    get stacked diagnostics cause = message_text, code = returned_sqlstate, place = pg_exception_context;
    raise exception using errcode = code,
      message = 'What follows from the migration could not be derived: ' || cause,
      -- The innermost statement names the object, the function below it the derived part
      detail = concat_ws(E'\nin ',
        left(substring(place from '^SQL statement "(.*?)"\nPL/pgSQL function'), 300),
        substring(place from '\nPL/pgSQL function ([^ ]+)'));
  end;
  perform api_meta.require_frozen_versions();
end
$$;
comment on function api_meta.finish_migration() is
  'The last step of every migration, in its transaction: derives what follows from it, then holds the '
  'frozen versions against what was recorded of them. When either fails, so does the '
  'migration, and nothing of it stays.';
--! EndIncluded api_meta/finish_migration.sql
--! Included api_meta/freeze.sql
create or replace function api_meta.freeze(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  if to_regnamespace(quote_ident(target)) is not null then
    raise exception 'There is a schema % already.', target using errcode = 'duplicate_schema',
      hint = format(
        'If a migration that was being written has left it: drop schema %I cascade; '
        'select api_meta.forget_version(%L);', target, target
      );
  end if;
  -- The source of the clone is complete only after this
  perform api_meta.derive();
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, concat_ws(E'\n',
    substring(obj_description(source::text::regnamespace, 'pg_namespace') from '(?n)^@floats.*$'),
    'Frozen clone of ' || source || '.'));
  perform api_meta.clone_types(source, target);
  for item in
    select c.oid, c.relname, obj_description(c.oid, 'pg_class') as note from pg_class c
    where c.relnamespace = source::text::regnamespace and c.relkind = 'v' order by c.oid
  loop
    execute format('create view %I.%I with (security_invoker = true) as %s', target, item.relname,
      replace(pg_get_viewdef(item.oid), quote_ident(source) || '.', quote_ident(target) || '.'));
    execute format('comment on view %I.%I is %L', target, item.relname, item.note);
    perform api_meta.clone_column_comments(source, target, item.relname);
  end loop;
  perform api_meta.clone_functions(source, target);
  perform api_meta.record_version(target);
end
$$;
comment on function api_meta.freeze(name, name) is
  'Clones an API schema under a new name: types, views, functions, and their comments, after deriving '
  'what follows from it; grants follow by api_meta.derive(). Records what the clone consists of, so '
  'that no later migration changes it by accident. It reads the same tables; views are bound to tables '
  'by identity, so renaming a table or a column does not touch it.';
--! EndIncluded api_meta/freeze.sql
--! Included api_meta/give.sql
create or replace function api_meta.give(routine regprocedure, new_owner regrole) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  home constant regnamespace := (select pronamespace from pg_proc where oid = routine);
begin
  if (select proowner from pg_proc where oid = routine) <> new_owner then
    execute format('grant usage, create on schema %s to %s', home, new_owner);
    execute format('alter function %s owner to %s', routine, new_owner);
    execute format('revoke create on schema %s from %s', home, new_owner);
  end if;
end
$$;
comment on function api_meta.give(regprocedure, regrole) is
  'Makes a narrow role the owner of a security definer function, so that the function has only the rights of '
  'that role.';
--! EndIncluded api_meta/give.sql
--! Included api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema as name from api_meta.api_view
    union select distinct c.relnamespace::regnamespace::text
    from api_meta.view_column_source s
    join pg_class c on c.oid = s.table_id
    union select 'erp'
  loop
    if not has_schema_privilege('service_api', item.name, 'usage') then
      execute format('grant usage on schema %I to service_api', item.name);
    end if;
  end loop;
  for item in select view from api_meta.api_view where not has_table_privilege('service_api', view, 'select')
  loop
    execute format('grant select on %s to service_api', item.view::regclass);
  end loop;
  -- by column: the role can't read columns that no view reads
  for item in
    select a.attrelid::regclass as relation, a.attname, c.relkind,
      exists (
        select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum
      ) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p', 'v', 'm', 'f')
    join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    where a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and item.relkind in ('r', 'p')
      and has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('revoke select (%I) on %s from service_api', item.attname, item.relation);
    end if;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_reads.sql
--! Included api_meta/plan_by_index.sql
create or replace function api_meta.plan_by_index(routine regprocedure) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  setting text;
begin
  foreach setting in array array[
    'plan_cache_mode = force_generic_plan', 'enable_hashjoin = off', 'enable_mergejoin = off',
      'enable_seqscan = off'
  ] loop
    execute format('alter function %s set %s', routine, setting);
  end loop;
end
$$;
comment on function api_meta.plan_by_index(regprocedure) is
  'Has the statements of a function planned once, and by index: for a handful of lines among many rows '
  'estimates are poor, and planning again takes longer than the work.';
--! EndIncluded api_meta/plan_by_index.sql
--! Included api_meta/protect_reads.sql
create or replace function api_meta.protect_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select p.polname, p.polrelid::regclass as relation
    from pg_policy p
    left join api_meta.read_policy r on r.table_id = p.polrelid
    where p.polname like '%\_select\_api'
      and (
        r.policy is distinct from p.polname or pg_get_expr(p.polqual, p.polrelid) is distinct from r.qualifier
      )
  loop
    execute format('drop policy %I on %s', item.polname, item.relation);
  end loop;
  for item in
    select r.*
    from api_meta.read_policy r
    left join pg_policy p on p.polrelid = r.table_id and p.polname = r.policy
    where p.oid is null
  loop
    execute format('create policy %I on %s for select to service_api '
      'using ((select auth.has_scope(variadic %L::text[])))',
      item.policy, item.table_id::regclass, item.scopes);
  end loop;
end
$$;
comment on function api_meta.protect_reads() is
  'Makes the row-level security policies of service_api out of the @requiresScopes tags of the API views. '
  'The function call stands in a sub-select, so that it runs once per statement. Changes only what differs, '
  'because a change locks the table.';
--! EndIncluded api_meta/protect_reads.sql
--! Included api_meta/read_policy.sql
create or replace view api_meta.read_policy as
select s.table_id, array_agg(distinct scope order by scope) as scopes,
  format('%s_select_api', c.relname) as policy,
  format(
    '( SELECT auth.has_scope(VARIADIC %L::text[]) AS has_scope)', array_agg(distinct scope order by scope)
  ) as qualifier
from (select distinct view, table_id from api_meta.view_column_source) s
join pg_catalog.pg_class c on c.oid = s.table_id
cross join lateral api_meta.view_tag(s.view, 'requiresScopes') tag
cross join lateral regexp_split_to_table(regexp_replace(tag, '^(anyOf|allOf):', ''), '\s+') scope
where scope <> '' and c.relkind in ('r', 'p')
group by s.table_id, c.relname;
comment on view api_meta.read_policy is
  'The row-level security policy that each table needs: readable with a scope of any view that reads the '
  'table.';
--! EndIncluded api_meta/read_policy.sql
--! Included api_meta/record_version.sql
create or replace function api_meta.record_version(version name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if to_regnamespace(quote_ident(version)) is null then
    raise exception 'There is no schema %.', version using errcode = 'invalid_schema_name';
  end if;
  delete from api_meta.frozen_version f where f.name = version;
  insert into api_meta.frozen_version (name, postgres) values (version, api_meta.postgres_version());
  insert into api_meta.frozen_part (version, kind, name, parent, definition, tree)
  select version, c.kind, c.name, c.parent, c.definition, c.tree from api_meta.current_parts(version) c;
end
$$;
comment on function api_meta.record_version(name) is
  'Notes what a frozen version consists of from now on. A migration that adds to a frozen version on '
  'purpose, or fixes it, ends with this call; any other change of it is refused, see '
  'api_meta.version_faults.';
--! EndIncluded api_meta/record_version.sql
--! Included api_meta/require_frozen_versions.sql
create or replace function api_meta.require_frozen_versions() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text[];
begin
  select array_agg(format('%s: %s', f.version, f.fault) order by f.version, f.fault) into faults
  from api_meta.version_faults() f;
  if faults is not null then
    raise exception 'A frozen version of the API would change' using errcode = 'UE090',
      detail = array_to_string(faults[:20], E'\n')
        || case when cardinality(faults) > 20 then format(E'\nand %s more', cardinality(faults) - 20)
        else '' end,
      hint = 'Frozen versions stay as they were released. A migration that adds to one on purpose ends with: '
        'select api_meta.record_version(''api_…'');';
  end if;
  -- The text after a renaming, or the tree after restoring a dump
  update api_meta.frozen_part p set definition = c.definition, tree = c.tree
  from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  where p.version = v.name and c.kind = p.kind and c.name = p.name
    and (c.definition, c.tree) is distinct from (p.definition, p.tree);
  update api_meta.frozen_version set postgres = api_meta.postgres_version()
  where postgres <> api_meta.postgres_version();
end
$$;
comment on function api_meta.require_frozen_versions() is
  'Refuses, with SQLSTATE UE090 and the names of what differs, when a frozen version is not as recorded.';
--! EndIncluded api_meta/require_frozen_versions.sql
--! Included api_meta/version_faults.sql
create or replace function api_meta.version_faults() returns table (version name, fault text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with found as (
    select v.name as version, c.*
    from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  ), difference as (
    select coalesce(p.version, f.version) as version, coalesce(p.kind, f.kind) as kind,
      coalesce(p.name, f.name) as name, coalesce(p.parent, f.parent) as parent,
      p.definition as recorded, f.definition as found
    from api_meta.frozen_part p
    full join found f on f.version = p.version and f.kind = p.kind and f.name = p.name
    where p.definition is distinct from f.definition
      -- One form of a query or a body has to match: renaming a table changes its text, restoring a dump its
      -- tree
      and (p.tree is null or f.tree is null or p.tree <> f.tree)
      -- Other major versions of Postgres may print the same query differently
      and not (p.kind in ('query', 'body') and f.kind is not null and exists (
        select from api_meta.frozen_version v
        where v.name = p.version and v.postgres <> api_meta.postgres_version()
      ))
  )
  select v.name, format('schema %s is missing', v.name) from api_meta.frozen_version v
  where to_regnamespace(quote_ident(v.name)) is null
  union all
  select s.name,
    'is not recorded: api_meta.freeze makes versions, api_meta.record_version notes what they consist of'
  from api_meta.own_schema s
  where s.is_frozen and not exists (select from api_meta.frozen_version v where v.name = s.name)
  union all
  select d.version, api_meta.part_fault(d.kind, d.name, d.recorded, d.found) from difference d
  where to_regnamespace(quote_ident(d.version)) is not null
    -- Parts that are missing or new as a whole are named once
    and not exists (
      select from difference o
      where o.version = d.version and o.parent is null and o.name = d.parent
        and (o.recorded is null or o.found is null)
    )
  order by 1, 2
$$;
comment on function api_meta.version_faults() is
  'How the frozen versions differ from what was recorded of them, a line for each part. Columns, types, '
  'attributes and functions must be as they were, in their order and with their comments. A renamed table or '
  'column behind a view is no difference; a view that reads something else is.';
grant execute on function api_meta.version_faults() to service_login;
--! EndIncluded api_meta/version_faults.sql
--! Included auth/add_first_signing_key.sql
create or replace function auth.add_first_signing_key(id uuid, secret text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- If several processes start at the same time, one makes the key and the others use it.
  lock table auth.signing_key in share row exclusive mode;
  insert into auth.signing_key (id, secret)
  select add_first_signing_key.id, add_first_signing_key.secret
  where not exists (select from auth.signing_key k where k.retires_at is null);
end
$$;
comment on function auth.add_first_signing_key(uuid, text) is
  'Takes a key to sign access tokens, when there is none that signs.';
grant execute on function auth.add_first_signing_key(uuid, text) to service_auth;
--! EndIncluded auth/add_first_signing_key.sql
--! Included auth/authenticate_credential.sql
create or replace function auth.authenticate_credential(presented_key text, presented_hash bytea)
returns table (credential_id uuid, scopes text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  candidate record;
begin
  select credential.id, credential.scopes, credential.last_used_at, credential.deactivated_at,
    secret.secret_hash
  into candidate
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = presented_key and (secret.expires_at is null or secret.expires_at > now());

  -- Hashing both sides once more with a nonce makes the time of the comparison independent of the stored
  -- hash. An unknown key takes the same path, with a hash that no secret has.
  if sha256(nonce || presented_hash) <> sha256(nonce || coalesce(candidate.secret_hash, nonce))
    or candidate.deactivated_at is not null
  then
    return;
  end if;

  -- To the minute, so that a busy client does not write a row for each token.
  update auth.credential set last_used_at = date_trunc('second', now())
  where credential.id = candidate.id
    and (candidate.last_used_at is null or candidate.last_used_at < now() - interval '1 minute');
  return query select candidate.id, candidate.scopes;
end
$$;
comment on function auth.authenticate_credential(text, bytea) is
  'The active credential that has this access key and SHA-256 of a secret, or no row. The row does not '
  'tell what was wrong.';
grant execute on function auth.authenticate_credential(text, bytea) to service_auth;
--! EndIncluded auth/authenticate_credential.sql
--! Included auth/clear_full_buckets.sql
create or replace function auth.clear_full_buckets() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cleared integer;
begin
  delete from auth.bucket b where b.key = any (array(
    select o.key from auth.bucket o where o.full_at < clock_timestamp() limit 10000 for update skip locked));
  get diagnostics cleared = row_count;
  return cleared;
end
$$;
comment on function auth.clear_full_buckets() is
  'Deletes up to 10,000 full buckets: a missing one counts as full. Answers how many.';
grant execute on function auth.clear_full_buckets() to service_limiter;
--! EndIncluded auth/clear_full_buckets.sql
--! Included auth/note_event.sql
create or replace function auth.note_event(
  action text, subject text, credential_id uuid default null, details jsonb default '{}'
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  administrator_id constant uuid := auth.acting_administrator();
begin
  insert into auth.audit_event (actor, administrator_id, address, action, credential_id, subject, details)
  values (
    case
      when administrator_id is not null then 'administrator'
      when current_setting('service.address', true) <> '' then 'nobody'
      else 'command line' end,
    administrator_id, nullif(current_setting('service.address', true), '')::inet,
    note_event.action, note_event.credential_id, note_event.subject, jsonb_strip_nulls(note_event.details)
  );
end
$$;
comment on function auth.note_event(text, text, uuid, jsonb) is
  'Adds to the audit, as done by the administrator of the session; without one, at the command line, or if '
  'there is an address (setting service.address), by a visitor who is not logged in.';
grant execute on function auth.note_event(text, text, uuid, jsonb) to service_registrar;
--! EndIncluded auth/note_event.sql
--! Included auth/record_use.sql
create or replace function auth.record_use(entries jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with entry as (
    select * from jsonb_to_recordset(entries)
      as e (
        credential_id uuid, day date, version text, deprecated_field text, requests bigint,
        last_used_at timestamptz
      )
  ), present as materialized (
    -- Deleted credentials are left out, and the others can't be deleted until this has been written. In one
    -- order, so that two processes can't deadlock.
    select credential.id from auth.credential
    where credential.id in (select entry.credential_id from entry)
    order by credential.id for key share
  )
  insert into auth.credential_use as use (
    credential_id, day, version, deprecated_field, requests, last_used_at
  )
  select entry.credential_id, entry.day, entry.version, coalesce(entry.deprecated_field, ''),
    sum(entry.requests), max(entry.last_used_at)
  from entry join present on present.id = entry.credential_id
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict on constraint credential_use_pkey do update
  set requests = use.requests + excluded.requests,
    last_used_at = greatest(use.last_used_at, excluded.last_used_at);

  update auth.credential set last_used_at = newest.moment
  from (
    select e.credential_id as id, max(e.last_used_at) as moment
    from jsonb_to_recordset(entries) as e (credential_id uuid, last_used_at timestamptz) group by 1
  ) as newest
  where credential.id = newest.id
    and (credential.last_used_at is null or credential.last_used_at < newest.moment - interval '1 minute');
end
$$;
comment on function auth.record_use(jsonb) is
  'Adds up how credentials were used: an array of objects with credential_id, day, version, requests, '
  'last_used_at, and for uses of a deprecated field deprecated_field.';
select api_meta.give('auth.record_use(jsonb)', 'service_registrar');
grant execute on function auth.record_use(jsonb) to service_auth;
--! EndIncluded auth/record_use.sql
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
    raise exception 'An old key can go on for 30 days at most.' using errcode = 'invalid_parameter_value';
  end if;
  update auth.credential set rotated_at = date_trunc('second', now())
  where id = rotate_credential.credential_id and deactivated_at is null
  returning name into credential_name;
  if not found then
    raise exception 'There is no active credential %.',
      rotate_credential.credential_id using errcode = 'no_data_found';
  end if;
  -- Without an overlap, keys from an earlier overlap stop too, because they may have leaked.
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
  'Gives a credential a new key and secret. Older credentials, and the tokens that were issued for them, '
  'stop after the overlap; by default at once.';
grant execute on function auth.rotate_credential(uuid, text, bytea, interval) to service_registrar;
--! EndIncluded auth/rotate_credential.sql
--! Included auth/rotate_signing_key.sql
create or replace function auth.rotate_signing_key(id uuid, secret text, overlap interval) returns timestamptz
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_moment constant timestamptz(0) := clock_timestamp() + overlap;
begin
  lock table auth.signing_key in share row exclusive mode;
  update auth.signing_key k set retires_at = last_moment where k.retires_at is null;
  insert into auth.signing_key (id, secret) values (rotate_signing_key.id, rotate_signing_key.secret);
  perform auth.erase_retired_keys();
  perform auth.note_event('signing_key.rotated', rotate_signing_key.id::text);
  return last_moment;
end
$$;
comment on function auth.rotate_signing_key(uuid, text, interval) is
  'Makes a new signing key. The previous one is accepted for the overlap, which must outlast the tokens that '
  'it has signed. Answers until when.';
--! EndIncluded auth/rotate_signing_key.sql
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
--! Included erp/assign.sql
create or replace function erp.assign(order_id uuid, assignments erp.assignment[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  source_id uuid;
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
    insert into erp.fulfillment_order_line_item (
      fulfillment_order_id, destination_order_line_item_id, product_id, quantity
    )
    select made, a.order_line_item_id, a.product_id, a.quantity from unnest(assignments) with ordinality a
    where a.location_id = source_id order by a.ordinality;
    all_made := all_made || made;
  end loop;
  return all_made;
end
$$;
comment on function erp.assign(uuid, erp.assignment[]) is
  'Makes a fulfillment order for each location that is to ship units of an order. Answers their ids. The '
  'caller holds the locks of the order, and those of ledger.lock: the number range comes last.';
grant execute on function erp.assign(uuid, erp.assignment[]) to service_writer;
--! EndIncluded erp/assign.sql
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
--! Included erp/complete_goods_receipt.sql
create or replace function erp.complete_goods_receipt(goods_receipt_id uuid, placements erp.placement[])
returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
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
  booking := ledger.post(erp.put_away_drafts(present, placements), null);

  update erp.goods_receipt r
  set state = new_state, goods_receipt_date_time = date_trunc('second', now())
  where r.id = present.id;
  update erp.goods_receipt_line_item l
  set planned_disposal_quantity = 0
  where l.goods_receipt_id = present.id and l.planned_disposal_quantity > 0;
  perform erp.settle_receipt_lines(present.id);
  perform erp.deliver_supplier_orders(present.id);
  return booking;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt: books its lines from the place of the receipt to where they are put away, '
  'and what is to be thrown away to stock_correction; notes what arrived of supplier orders. A line '
  'without placements goes to its own bin, the usual bin, or the warehouse. All units are booked, also '
  'those that no order has open: these become lines of their own.';
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
    perform erp.assign(present.id, assignments);
    picks := erp.open_picks(present.id);
  end if;
  return erp.ship(present.id, picks, tracking_codes, note);
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
  if cardinality(documents) > 0 and shipment_id is null then
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
--! Included erp/deliver_supplier_orders.sql
create or replace function erp.deliver_supplier_orders(goods_receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', now());
  delivered record;
begin
  update erp.supplier_order_line_item i
  set received_quantity = r.quantity,
    actual_delivery_date = case when r.quantity >= i.quantity
      then coalesce(i.actual_delivery_date, moment) end
  from (
    select l.supplier_order_line_item_id as id, greatest(sum(l.quantity), 0) as quantity
    from erp.goods_receipt_line_item l join erp.goods_receipt g on g.id = l.goods_receipt_id
      and g.state = 'completed'
    where l.supplier_order_line_item_id in (
      select o.supplier_order_line_item_id from erp.goods_receipt_line_item o
        where o.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    group by 1
  ) r where i.id = r.id;

  for delivered in
    select o.id, o.state, i.is_complete, case
      when i.is_complete then 'delivered'
      when i.has_begun then 'partially_delivered'
      else 'confirmed' end as reached
    from erp.supplier_order o cross join lateral (
      select bool_and(i.open_quantity = 0) as is_complete, bool_or(i.received_quantity > 0) as has_begun
      from erp.supplier_order_line_item i where i.supplier_order_id = o.id
    ) i
    where o.id in (
      select l.supplier_order_id from erp.goods_receipt_line_item l
        where l.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    order by o.id
  loop
    update erp.supplier_order o
    set state = erp.state_after_delivery(delivered.state, delivered.reached),
      -- A person completed it, so its delivery date no longer follows from its lines
      actual_delivery_date = case when delivered.is_complete then coalesce(o.actual_delivery_date, moment)
        when delivered.state = 'completed' then o.actual_delivery_date end
    where o.id = delivered.id;
  end loop;
end
$$;
comment on function erp.deliver_supplier_orders(uuid) is
  'After a goods receipt was completed: the received quantities of the supplier orders'' lines, and the '
  'orders'' states that follow from them, forth and back: confirmed, partially_delivered or delivered. '
  'Orders that are completed stay so.';
grant execute on function erp.deliver_supplier_orders(uuid) to service_writer;
--! EndIncluded erp/deliver_supplier_orders.sql
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
  result text;
begin
  update erp.number_range r set last_number = r.last_number + 1 where r.technical_name = number_range
  returning replace(r.pattern, '{n}', r.last_number::text) into result;
  if not found then
    raise exception 'There is no number range %.', number_range using errcode = 'no_data_found';
  end if;
  return result;
end
$$;
comment on function erp.next_number(text) is
  'The next number of a range, without gaps: other transactions wait until it is committed or given back.';
grant execute on function erp.next_number(text) to service_writer;
--! EndIncluded erp/next_number.sql
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
--! Included erp/settle_order.sql
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
  update erp.sales_order o
  set state = wanted.state, delivery_state = wanted.delivery_state
  where o.id = present.id;
end
$$;
comment on function erp.settle_order(uuid) is
  'Brings the states of an order up to date after something of it was shipped: it is in progress, and '
  'completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid) to service_writer;
--! EndIncluded erp/settle_order.sql
--! Included erp/ship.sql
create or replace function erp.ship(order_id uuid, picks ledger.pick[], tracking_codes text[], note text)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made uuid;
  fulfillment_orders uuid[];
begin
  select * into booked from ledger.ship(order_id, picks, note);
  fulfillment_orders := array(
    select distinct l.fulfillment_order_id
    from unnest(picks) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id
    order by 1);
  -- The last lock, because it blocks all other shipping
  insert into erp.fulfillment (number) values (erp.next_number('fulfillment')) returning id into made;
  insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id) select f.id, made
  from unnest(fulfillment_orders) f (id);
  with shipped as (
    insert into erp.fulfillment_line_item (
      fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, product_id, quantity
    )
    select made, l.fulfillment_order_id, l.id, l.product_id, p.quantity
    from (
      select p.line_id, min(p.ordinality) as position, sum(p.quantity) as quantity
      from unnest(picks) with ordinality p
      group by p.line_id
    ) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id order by p.position
    returning id, fulfillment_order_line_item_id
  )
  insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
  select s.id, m.id
  from unnest(booked.stock_movements, booked.lines) m (id, line_id)
  join shipped s on s.fulfillment_order_line_item_id = m.line_id;

  update erp.fulfillment_order f
  set state = erp.next_state('fulfillment_order', case when w.is_open then 'start' else 'close' end, f.state)
  from (select n.id, erp.has_open_lines(n.id) as is_open from unnest(fulfillment_orders) n (id)) w
  where f.id = w.id and (f.state = 'Open' or not w.is_open);
  if cardinality(tracking_codes) > 0 then
    update erp.sales_order o
    set entered_tracking_codes = o.entered_tracking_codes || ship.tracking_codes
    where o.id = order_id;
  end if;
  perform erp.settle_order(order_id);
  return row (order_id, array[made], fulfillment_orders, booked.stock_movements, '{}')::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], text[], text) is
  'Ships units of fulfillment orders of one order: books them out, records the fulfillment, closes what is '
  'fulfilled. The caller holds the locks of the order and of ledger.lock_shipment. User errors '
  'INSUFFICIENT_STOCK, BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
grant execute on function erp.ship(uuid, ledger.pick[], text[], text) to service_writer;
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
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format('select %s, %I.id, %I.%I, %s, %s %s where %s', t.topics, alias, alias,
      subject.entity_column,
      events.data_expression(subject, t.fields, alias),
        case operation when 'update' then 'c.changed' else 'null::text[]' end, source, t.condition),
        ' union all ')
    from (
      -- Topics with the same data share a scan of the rows
      select t.fields,
        case when count(*) = 1 then format('%L::text', min(t.name)) else
          format('unnest(array_remove(array[%s], null))',
            string_agg(format('case when %s then %L end', c.condition, t.name), ', '
            order by o.columns is not null, t.name)) end as topics,
            string_agg(format('(%s)', c.condition), ' or ') as condition
      from events.topic t join events.occasion o on o.topic = t.name and o.operation = announcement.operation
      cross join lateral (select concat_ws(' and ',
        case when announcement.operation = 'update' then case
          when o.columns is null then 'c.changed <> ''{}''' else format('(%s)', (
            select string_agg(format('n.%1$I is distinct from o.%1$I', name), ' or ')
            from unnest(o.columns) name)) end end,
        '(' || coalesce(o.condition, 'true') || ')') as condition) c
      where t.subject_type = subject.type group by t.fields
    ) t
  );
end
$$;
comment on function events.announcement(events.subject, text, text) is
  'SQL for the events that rows of a subject make: topic, subject, entity, data, changed fields. The '
  'source names the new row n and the old one o, and, of updates, the fields that changed c.changed. '
  'Null when there are none.';
--! EndIncluded events/announcement.sql
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause() returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId',
    'gid://service/Credential/' || nullif(pg_catalog.current_setting('service.credential_id', true), ''),
  'requestId', nullif(pg_catalog.current_setting('service.request_id', true), ''),
  'idempotencyKey', nullif(pg_catalog.current_setting('service.idempotency_key', true), ''));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs; nulls outside of one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
--! Included events/claim_delivery_queues.sql
create or replace function events.claim_delivery_queues(
  claim text, wanted integer, share integer, busy jsonb, lease interval,
  hanging jsonb default '{}', credential_share integer default null
) returns setof events.next_delivery
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
begin
  if (select p.name from auth.current_plan() p) = 'none' then
    return;
  end if;
  with subscription as (
    select s.id, s.health, s.enabled, s.next_probe_at, s.paused_until, w.busy, w.hanging,
      coalesce(s.credential_id, s.id) as owner,
      case when s.credential_id is not null then
        credential_share - sum(w.busy) over (partition by s.credential_id) end as room_of_owner,
      -- Whether other processes may claim it at the same time
      s.health = 'SUSPENDED' and s.next_probe_at is not null or s.paused_until is not null as is_alone
    from events.webhook_subscription s
    cross join lateral (
      select coalesce((claim_delivery_queues.busy ->> s.id::text)::integer, 0) as busy,
        coalesce((claim_delivery_queues.hanging ->> s.id::text)::integer, 0) as hanging
    ) w
  ), ready as (
    select s.id, s.owner, s.room_of_owner,
      case when s.next_probe_at <= now and c.is_idle then 'infinity' else now end as due_by,
      case
        when s.is_alone or s.health = 'SUSPENDED' then 1 - s.busy
        when s.health = 'HEALTHY' then share - s.busy
        else least(share - s.busy, 1 - (s.busy - s.hanging)) end as room
    from subscription s
    cross join lateral (
      -- Evaluated only if it matters
      select (s.is_alone or s.next_probe_at <= now) and not exists (
        select from events.delivery_queue q
        where q.subscription_id = s.id and q.claimed_by is not null and q.claimed_until > now) as is_idle
    ) c
    where s.enabled and (s.paused_until is null or s.paused_until <= now)
      and (s.health <> 'SUSPENDED' or s.next_probe_at is null or s.next_probe_at <= now)
      and (not s.is_alone or c.is_idle)
  ), found as (
    select r.owner, r.room_of_owner, q.subscription_id, q.entity_id, q.due_at,
      row_number() over (partition by q.subscription_id order by q.due_at) as turn
    from ready r
    cross join lateral (
      select q.subscription_id, q.entity_id, q.due_at from events.delivery_queue q
      where q.subscription_id = r.id and q.due_at <= r.due_by
        and (q.claimed_until is null or q.claimed_until <= now)
      order by q.due_at limit greatest(least(r.room, r.room_of_owner, wanted), 0)
      for no key update skip locked
    ) q
  ), turns as (
    select f.*, row_number() over (partition by f.owner order by f.turn, f.due_at) as turn_of_owner
    from found f
  ), chosen as (
    -- In turns, so that a credential or subscription with a large backlog leaves room for others
    select t.subscription_id, t.entity_id from turns t
    where t.turn_of_owner <= coalesce(t.room_of_owner, wanted)
    order by t.turn_of_owner, t.due_at limit wanted
  )
  update events.delivery_queue q set claimed_until = now + lease, claimed_by = claim
  from chosen c where q.subscription_id = c.subscription_id and q.entity_id = c.entity_id;
  return query select d.* from events.next_delivery d where d.claim = claim_delivery_queues.claim;
end
$$;
comment on function events.claim_delivery_queues(text, integer, integer, jsonb, interval, jsonb, integer) is
  'Takes queues that are due for as long as the lease, and answers their first deliveries. busy says how '
  'many queues of each subscription the process is busy with, hanging with how many of these for long. '
  'Together with those, at most credential_share are of the subscriptions of one credential, and at '
  'most share of one subscription; of one that is degraded a single one, beside those that hang. One '
  'that is suspended is only probed now and then, and one that is paused tried when its pause is over: '
  'by one process, with whichever queue has waited longest. So is a degraded one that was not tried for '
  'a while. While the plan has no API, nothing is taken.';
grant execute on function
  events.claim_delivery_queues(text, integer, integer, jsonb, interval, jsonb, integer) to service_delivery;
--! EndIncluded events/claim_delivery_queues.sql
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
      format('The token has %s webhook subscriptions; more are not allowed. Delete some.', max_of_credential),
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
  'Trigger: refuses more subscriptions of one credential, and in all, than are allowed, for any writer that '
  'makes them. Settings service.max_subscriptions_per_token and service.max_subscriptions, 100 and 1,000 '
  'where there are none. What is there already stays. User error TOO_MANY_SUBSCRIPTIONS.';
--! EndIncluded events/count_subscriptions.sql
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
        else format('from new_rows n join old_rows o on o.id = n.id '
          'cross join lateral (select %s offset 0) c (changed)', events.changed_expression(s, false))
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
    aside := case when item.is_booked then 'when (current_user <> ''service_booker'') ' else '' end;
    if not exists (
      select from pg_trigger t
      where t.tgrelid = item.relation and t.tgname = item.name and (t.tgqual is not null) = item.is_booked
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
--! Included events/fan_out.sql
create or replace function events.fan_out(after bigint, up_to bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Transactions that change subscriptions, deliveries and queues lock them in this order, and subscriptions
  -- by their ids
  perform from events.webhook_subscription s
  where s.enabled
    and s.topic in (select e.topic from events.event e where e.sequence > after and e.sequence <= up_to)
  order by s.id for no key update;

  with made as (
    insert into events.delivery (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select s.id, e.sequence, e.id, e.entity_id,
      coalesce(lag(e.sequence) over (partition by s.id order by e.sequence), s.last_sequence)
    from events.event e join events.webhook_subscription s on s.topic = e.topic
    where e.sequence > after and e.sequence <= up_to and s.enabled
      and events.concerns(s.fields, e.changed_fields)
    order by e.sequence, s.id
    returning subscription_id, sequence, entity_id
  ), noted as (
    update events.webhook_subscription s
    set last_sequence = m.last_sequence, backlog_count = s.backlog_count + m.count
    from (
      select made.subscription_id, max(made.sequence) as last_sequence, count(*) as count
      from made
      group by made.subscription_id
    ) m
    where s.id = m.subscription_id
  )
  insert into events.delivery_queue (subscription_id, entity_id, pending)
  select made.subscription_id, made.entity_id, count(*) from made
  group by made.subscription_id, made.entity_id order by made.subscription_id, made.entity_id
  on conflict (subscription_id, entity_id) do update set pending = delivery_queue.pending + excluded.pending;
end
$$;
comment on function events.fan_out(bigint, bigint) is
  'Makes deliveries of new events of the log, one for each enabled subscription that they concern.';
grant execute on function events.fan_out(bigint, bigint) to service_recorder;
--! EndIncluded events/fan_out.sql
--! Included events/is_forbidden_host.sql
create or replace function events.is_forbidden_host(host text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  allowed constant text[] := regexp_split_to_array(
    btrim(lower(coalesce(current_setting('service.webhook_allow', true), ''))), '[\s,]+'
  );
  address inet;
begin
  if host is null or host = any (allowed) then
    -- A constraint refuses an address without a host
    return false;
  end if;
  if host ~ '^\d{1,3}(\.\d{1,3}){3}$' or host ~ ':' then
    if not pg_input_is_valid(host, 'inet') then
      return true;
    end if;
    address := host::inet;
    return events.is_private_address(address)
      and not exists (
        select from unnest(allowed) a where pg_input_is_valid(a, 'inet') and address <<= a::inet
      );
  end if;
  -- Other spellings of addresses, such as 0x7f.1 and 2130706433, end in a number; names do not
  return host ~ '(^|\.)(\d+|0x[0-9a-f]*)\.?$' or host ~ '(^|\.)(localhost|local|internal|home\.arpa)\.?$';
end
$$;
comment on function events.is_forbidden_host(text) is
  'Whether webhooks may not be sent to a host, as far as its name tells: addresses that are none of the '
  'public internet, and names that lead to such by custom. The operator allows names, addresses and '
  'ranges by the setting service.webhook_allow. Where a name leads is checked at each delivery.';
grant execute on function events.is_forbidden_host(text) to service_writer;
--! EndIncluded events/is_forbidden_host.sql
--! Included events/is_private_address.sql
create or replace function events.is_private_address(address inet) returns boolean
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select case family(address)
    when 4
      then address <<= any (array['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16',
        '172.16.0.0/12',
      '192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
        '224.0.0.0/3']::inet[])
    -- Addresses that are not assigned to the public internet, or embed one of IPv4
    else not address <<= inet '2000::/3'
      or address <<= any (array['2001::/32', '2001:db8::/32', '2002::/16']::inet[])
  end;
end;
comment on function events.is_private_address(inet) is
  'Whether an address is none of the public internet: private, of this machine, link-local, shared, '
  'reserved or multicast.';
grant execute on function events.is_private_address(inet) to service_writer;
--! EndIncluded events/is_private_address.sql
--! Included events/locked_subscription.sql
create or replace function events.locked_subscription(subscription_id uuid)
returns events.webhook_subscription
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  select * into present from events.webhook_subscription s where s.id = subscription_id for no key update;
  if not found then
    perform mutation.refuse_missing('webhook subscription', '{id}');
  end if;
  return present;
end
$$;
comment on function events.locked_subscription(uuid) is
  'Locks a subscription to work on. User error NOT_FOUND.';
grant execute on function events.locked_subscription(uuid) to service_writer;
--! EndIncluded events/locked_subscription.sql
--! Included events/next_deliveries.sql
create or replace function events.next_deliveries(results jsonb) returns setof events.next_delivery
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select d.*
  from jsonb_to_recordset(results) as r (subscription uuid, entity uuid, claim text, go_on boolean)
  -- One by one: for all queues at once it would take long with a large backlog
  cross join lateral (
    select * from events.next_delivery d
    where d.subscription_id = r.subscription and d.entity_id = r.entity and d.claim = r.claim limit 1
  ) d
  where r.go_on;
end;
comment on function events.next_deliveries(jsonb) is
  'The next deliveries of the queues that go on after events.record_attempts.';
grant execute on function events.next_deliveries(jsonb) to service_delivery;
--! EndIncluded events/next_deliveries.sql
--! Included events/next_delivery.sql
create or replace view events.next_delivery with (security_invoker = true) as
select q.subscription_id, q.entity_id, q.claimed_by as claim, q.attempts as failures, d.id as delivery_id,
  d.event_id, m.topic, m.body,
  s.url, s.api_version, s.payload_query, s.credential_id, a.scopes,
  case when a.scopes is null then
    format(
      'The credential behind it has been deactivated or deleted, or no longer has the scope %s.', (
        select t.scope from events.topic t where t.name = s.topic
      )
    )
  end as withheld,
  k.secrets,
  q.next_attempt_at > clock_timestamp() as is_early,
  k.ids as secret_ids
from events.delivery_queue q
join events.webhook_subscription s on s.id = q.subscription_id
cross join lateral (
  select d.id, d.event_id
  from events.delivery d
  where d.subscription_id = q.subscription_id and d.entity_id = q.entity_id and d.state = 'pending'
  order by d.sequence nulls first, d.id limit 1
) d
join events.message m on m.delivery_id = d.id
cross join lateral (
  select coalesce(array_agg(w.secret order by w.expires_at desc nulls first, w.id), '{}') as secrets,
    coalesce(array_agg(w.id order by w.expires_at desc nulls first, w.id), '{}') as ids
  from events.webhook_secret w
  where w.subscription_id = s.id and (w.expires_at is null or w.expires_at > now())
) k
cross join lateral (
  -- An administrator's subscription may send everything; the scopes take long to list, and only a query needs
  -- them
  select case
    when s.credential_id is null and s.payload_query is null then '{}'
    else events.scopes_of_subscription(s.id) end as scopes
) a;
comment on view events.next_delivery is
  'The delivery whose turn it is in each queue, with all that sending it needs: secrets as they are '
  'kept, with their ids. withheld says why it must not be sent; null when it may. is_early says that '
  'the queue was taken before its schedule, to try whether the receiver is back.';
grant select on events.next_delivery to service_delivery;
--! EndIncluded events/next_delivery.sql
--! Included events/prune.sql
create or replace function events.prune(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := interval '30 days';
  old bigint[];
  old_tests uuid[];
begin
  -- The log is ordered by time, so old events are at its beginning
  old := array(
    select e.sequence
    from (select x.sequence, x.recorded_at from events.event x order by x.sequence limit batch) e
    where e.recorded_at < now() - lifetime);
  old_tests := array(
    select d.id
    from events.delivery d
    where d.sequence is null and d.created_at < now() - lifetime
    order by d.created_at
    limit batch);
  perform events.cancel_deliveries(array(
    select d.id from events.delivery d where d.sequence = any (old) and d.state = 'pending'
    union all select d.id from events.delivery d where d.id = any (old_tests) and d.state = 'pending'));
  delete from events.delivery d where d.id = any (old_tests);
  -- This deletes deliveries and their attempts too
  delete from events.event e where e.sequence = any (old);
  delete from events.webhook_secret s where s.expires_at < now();
  return cardinality(old) + cardinality(old_tests);
end
$$;
comment on function events.prune(integer) is
  'Deletes events that were recorded more than 30 days ago, with their deliveries, at most as many as '
  'the batch; tests likewise; and secrets that have expired. Answers how many: to be called again until '
  'that is 0.';
select api_meta.give('events.prune(integer)', 'service_recorder');
grant execute on function events.prune(integer) to service_delivery, service_worker;
--! EndIncluded events/prune.sql
--! Included events/record_attempts.sql
create or replace function events.record_attempts(results jsonb, states jsonb, lease interval)
returns setof events.next_delivery
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
  has_api constant boolean := (select p.name <> 'none' from auth.current_plan() p);
begin
  with result as (
    select r.*, now + r.delay_ms * interval '1 ms' as next_at
    from jsonb_to_recordset(results) as r (delivery uuid, subscription uuid, entity uuid, claim text,
      state text, tried boolean, counted boolean, delay_ms bigint, go_on boolean, attempt jsonb)
  ), told as (
    update events.delivery d set state = r.state, attempts = d.attempts + r.tried::integer,
      next_attempt_at = case when r.state = 'pending' then coalesce(r.next_at, d.next_attempt_at) end,
      delivered_at = case when r.state = 'delivered' then now end
    from result r
    -- Pending, in a form that keeps Postgres from reading the whole index of pending deliveries
    where d.id = r.delivery and d.state not in ('delivered', 'failed', 'cancelled')
    returning d.id, d.subscription_id, d.attempts, d.state
  ), noted as (
    insert into events.delivery_attempt (
      delivery_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body
    )
    select t.id, t.attempts, a.at, a.duration_ms, a.status, a.error,
      a.request_headers, a.response_headers, a.response_body
    from told t join result r on r.delivery = t.id
    cross join lateral jsonb_populate_record(null::events.delivery_attempt, r.attempt) a
    where r.tried
  ), moved as (
    update events.delivery_queue q set
      pending = q.pending - (t.state is not null and t.state <> 'pending')::integer,
      attempts = case
        when q.claimed_by is distinct from r.claim then q.attempts
        when t.state <> 'pending' then 0
        else q.attempts + (r.counted and t.id is not null)::integer end,
      next_attempt_at = case
        when q.claimed_by = r.claim and t.state = 'pending' then greatest(q.next_attempt_at, r.next_at)
        else q.next_attempt_at end,
      claimed_until = case
        when q.claimed_by is distinct from r.claim then q.claimed_until
        when r.go_on and s.enabled and has_api then now + lease end,
      claimed_by = case
        when q.claimed_by is distinct from r.claim then q.claimed_by
        when r.go_on and s.enabled and has_api then r.claim end
    from result r join events.webhook_subscription s on s.id = r.subscription
    left join told t on t.id = r.delivery
    where q.subscription_id = r.subscription and q.entity_id = r.entity
  )
  update events.webhook_subscription s set
    health = n.health, health_reason = n.reason,
    consecutive_failures = n.failures, failing_since = n.failing_since,
    payload_failures = coalesce(n.payload_failures, 0),
    next_probe_at = now + n.probe_after_ms * interval '1 ms', paused_until = case
      when n.stays_paused then s.paused_until else now + n.paused_for_ms * interval '1 ms' end,
    disabled_at = case when n.health = 'DISABLED' then coalesce(s.disabled_at, now) else s.disabled_at end,
    enabled = s.enabled and n.health <> 'DISABLED', backlog_count = greatest(s.backlog_count - d.done, 0),
    last_delivered_at = case when d.delivered > 0 then now else s.last_delivered_at end
  from jsonb_to_recordset(states)
    as n (id uuid, health text, reason text, failures integer, failing_since timestamptz,
      probe_after_ms bigint, payload_failures integer, paused_for_ms bigint, stays_paused boolean)
  cross join lateral (
    select count(*) filter (where t.state <> 'pending') as done,
      count(*) filter (where t.state = 'delivered') as delivered
    from told t where t.subscription_id = n.id
  ) d
  where s.id = n.id;
  perform events.settle_delivery_queues(results, states, now);
  return query select * from events.next_deliveries(results);
end
$$;
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Notes what came of deliveries, one of each queue at most, and how their subscriptions are doing by '
  'now; the caller holds the locks of these. Queues that go on stay claimed, unless the plan has no API '
  'any more, for another lease, and it answers their next deliveries. A delay_ms of null leaves the next '
  'attempt when it was to be. What a claim that was lost says about a delivery still counts, for the '
  'receiver has it; about the queue it says nothing any more.';
grant execute on function events.record_attempts(jsonb, jsonb, interval) to service_delivery;
--! EndIncluded events/record_attempts.sql
--! Included events/renew_claims.sql
create or replace function events.renew_claims(claims text[], lease interval)
returns table (subscription_id uuid, entity_id uuid, claim text)
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  with held as (
    -- Rows that are locked are renewed the next time
    select q.subscription_id, q.entity_id from events.delivery_queue q
    where q.claimed_by = any (claims) for no key update skip locked
  )
  update events.delivery_queue q set claimed_until = clock_timestamp() + lease
  from held h where q.subscription_id = h.subscription_id and q.entity_id = h.entity_id
  returning q.subscription_id, q.entity_id, q.claimed_by;
end;
comment on function events.renew_claims(text[], interval) is
  'Keeps the queues of claims for another lease, and answers which: one that is missing was taken by '
  'somebody else, is done, or is renewed the next time.';
grant execute on function events.renew_claims(text[], interval) to service_delivery;
--! EndIncluded events/renew_claims.sql
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
    perform mutation.refuse('REQUIRED', 'Say where to begin: by a sequence or by a time.', '{from_sequence}');
  elsif num_nonnulls(to_sequence, to_time) > 1 then
    perform mutation.refuse(
      'INVALID', 'Say where to end by a sequence or by a time, not both.', '{to_sequence}'
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
      format('These are more than %s events. Take a part at a time.', most),
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
  'Delivers the events of a part of the log again, or for the first time, that concern a subscription. '
  'What waits anyway stays as it is. Answers how many.';
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
      format('Whoever is told of %s must be allowed to read it: the scope %s is missing.', topic, needed),
      field, jsonb_build_object('scope', needed));
  end if;
end
$$;
comment on function events.require_scope(text, text[]) is
  'Requires that the caller may read the subject of a topic. User error SCOPE_MISSING.';
grant execute on function events.require_scope(text, text[]) to service_writer;
--! EndIncluded events/require_scope.sql
--! Included events/send_again.sql
create or replace function events.send_again(delivery_id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.delivery;
begin
  select * into present from events.delivery d where d.id = delivery_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such delivery, or no longer.', '{id}');
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
  'Delivers something again, or at once if it waits for its next attempt. Answers the subscription. User '
  'errors NOT_FOUND, INVALID_STATE_TRANSITION.';
select api_meta.give('events.send_again(uuid)', 'service_writer');
grant execute on function events.send_again(uuid) to service_registrar;
--! EndIncluded events/send_again.sql
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
  'too. One process at a time: answers null when another one is at it, else how many events it moved.';
select api_meta.give('events.sequence_events(integer)', 'service_recorder');
grant execute on function events.sequence_events(integer) to service_delivery;
--! EndIncluded events/sequence_events.sql
--! Included events/settle_delivery_queues.sql
create or replace function events.settle_delivery_queues(results jsonb, states jsonb, moment timestamptz)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from events.delivery_queue q using jsonb_to_recordset(results) as r (subscription uuid, entity uuid)
  where q.subscription_id = r.subscription and q.entity_id = r.entity and q.pending = 0;

  -- A probe before the scheduled time gets one more attempt in exchange
  update events.delivery_queue q set next_attempt_at = case when n.hurry then moment else 'infinity' end,
    attempts = case when n.hurry then greatest(q.attempts - 1, 0) else q.attempts end
  from jsonb_to_recordset(states) as n (id uuid, health text, hurry boolean)
  where q.subscription_id = n.id and (n.hurry and q.next_attempt_at > moment or n.health = 'DISABLED');
end;
comment on function events.settle_delivery_queues(jsonb, jsonb, timestamptz) is
  'What events.record_attempts leaves of queues: without those that are empty, and with all of a '
  'subscription due at once, or never, where its state says so.';
grant execute on function events.settle_delivery_queues(jsonb, jsonb, timestamptz) to service_delivery;
--! EndIncluded events/settle_delivery_queues.sql
--! Included events/update_webhook_subscription.sql
create or replace function events.update_webhook_subscription(subscription_id uuid, changes jsonb)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  wanted constant events.webhook_subscription := jsonb_populate_record(present,
    (
      select coalesce(jsonb_object_agg(c.key, c.value), '{}')
      from jsonb_each(changes) c
      where c.key in ('url', 'api_version', 'fields', 'payload_query', 'enabled')
    ));
begin
  perform events.require_settings(wanted);
  -- From now on it belongs to the client that changes it
  update events.webhook_subscription s
  set url = wanted.url, api_version = wanted.api_version, fields = wanted.fields,
    payload_query = wanted.payload_query,
    credential_id = events.caller(),
    -- Another query, or other points that pay for it, may succeed
    payload_failures = 0, paused_until = null
  where s.id = present.id;
  if wanted.enabled is null then
    perform mutation.refuse('REQUIRED', 'This must not be null.', '{enabled}');
  elsif present.enabled and not wanted.enabled then
    perform events.disable_webhook_subscription(present.id);
  elsif wanted.enabled and not present.enabled then
    perform events.enable_webhook_subscription(present.id);
  end if;
  return present.id;
end
$$;
comment on function events.update_webhook_subscription(uuid, jsonb) is
  'Changes of a subscription what the object names. Its topic stays: deliveries of it may be waiting. '
  'Answers its id.';
grant execute on function events.update_webhook_subscription(uuid, jsonb) to service_writer;
--! EndIncluded events/update_webhook_subscription.sql
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
  -- A fulfillment order that is being deleted is gone already, with its promises
  changes := ledger.promises_of(changes);
  -- All products at once, because lines of the orders may name others
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
  -- During the deletion of a warehouse or a product its figures may exist a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';
grant execute on function ledger.change_promised_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_promised_stock.sql
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
  'Refuses lines of a mutation of stock that are wrong by themselves. User errors OUT_OF_RANGE, INVALID, '
  'NOT_UNIQUE.';
grant execute on function ledger.check_form(ledger.line[], ledger.named_place[], text) to service_ledger;
--! EndIncluded ledger/check_form.sql
--! Included ledger/fill_configured_stock.sql
create or replace function ledger.fill_configured_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Bookings in progress either see this row or wait, and change the figure afterwards
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
--! Included ledger/flow.sql
-- Each movement as two rows: the arrival in one place, and the departure from the other.
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
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(
    select distinct m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id
  ));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  perform ledger.carry_counts(w.stock_ids, w.batch_id)
  from ledger.write_batch_figures(array(
    select row (row_number() over (order by f.movement_id, f.direction), f.product_id,
      f.location_type_technical_name, f.place, m.quantity * f.direction, m.batch_id, f.booked_at,
      f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id
  )) w;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anybody but ledger.book: brings the stock of '
  'batches up to date, in each place and altogether.';
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
  'Trigger after documents were inserted, by any writer: a storno cancels the invoice that it refers to, '
  'which can happen once. User error INVALID.';
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
  -- ledger.set_stock has inserted its counts already, and a second run has nothing to add
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
  'Trigger at the end of a transaction, when batches are known: a correction by a count that is inserted by '
  'hand, or by other programs, is a count of its moment; or of that of the latest one, if that is later, '
  'because the stock has changed since.';
select api_meta.give('ledger.keep_count()', 'service_ledger');
--! EndIncluded ledger/keep_count.sql
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
    perform ledger.write_figures(seen.changes, seen.opens, seen.opens_warehouses, seen.is_configured);
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
--! Included ledger/keep_fulfillment_figures.sql
create or replace function ledger.keep_fulfillment_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
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
  -- A fulfillment that is being deleted is gone already, with its quantities
  perform ledger.change_fulfilled_quantities(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c join erp.fulfillment f on f.id = c.owner_id where f.state = 'Fulfilled'));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, by any writer: brings the fulfilled quantities of the lines '
  'of fulfillment orders up to date.';
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
  -- By fulfillment order and product: open units
  changes ledger.change[];
  -- By line of the order: fulfilled units
  shipped ledger.change[];
  -- Fulfillment orders that may have begun or ceased to be partially fulfilled
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
  'Trigger after lines of fulfillment orders changed, by any writer: brings the reserved quantities of '
  'warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially '
  'fulfilled, up to date.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_line_figures()');
select api_meta.give('ledger.keep_fulfillment_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_line_figures.sql
--! Included ledger/keep_invoice_figures.sql
create or replace function ledger.keep_invoice_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
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
  -- An invoice that is being deleted is gone already, with its quantities
  perform ledger.change_invoiced_quantities(array(
    select c
    from unnest(changes) c
    join erp.invoice i on i.document_id = (c).owner_id
    where i.cancellation_id is null));
  return null;
end
$$;
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, by any writer: brings the invoiced quantities of the lines of '
  'orders up to date.';
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
    -- The trigger on orders makes the list
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
  'Trigger after lines of orders changed, by any writer: brings the reserved stock of products and the '
  'amounts of the orders up to date.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
--! Included ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old value; later ones wait for this change.
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
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}'
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  are_found boolean := true;
  found_rows bigint;
begin
  if warehouse_ids <> '{}' then
    perform from erp.warehouse w where w.id = any (warehouse_ids) order by w.id for key share;
    get diagnostics found_rows = row_count;
    are_found := found_rows = cardinality(warehouse_ids);
  end if;
  if bin_location_ids <> '{}' then
    perform from erp.bin_location b where b.id = any (bin_location_ids) order by b.id for key share;
    get diagnostics found_rows = row_count;
    are_found := are_found and found_rows = cardinality(bin_location_ids);
  end if;
  perform from erp.product p where p.id = any (product_ids) order by p.id for no key update;
  get diagnostics found_rows = row_count;
  return are_found and found_rows = cardinality(product_ids);
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a '
  'circle: warehouses and bins against being deleted and against a change of what they count for, then '
  'the products. Whoever has a product''s lock is alone with all of its stock and figures. Answers whether '
  'there are as many as ids, each of which is to be given once then.';
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
  'Takes the locks of work on orders, always in this order and before those of ledger.lock: the orders, then '
  'their fulfillment orders. Only the transaction with the lock of an order changes its lines, states and '
  'shipments.';
grant execute on function ledger.lock_orders(uuid[], uuid[]) to service_ledger, service_writer;
--! EndIncluded ledger/lock_orders.sql
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
  'Takes all locks that shipping products from warehouses needs, those of the bins that hold them included, '
  'after the locks of the orders. From here on no other transaction changes the stock of these products.';
select api_meta.plan_by_index('ledger.lock_shipment(uuid[], uuid[], uuid[])');
select api_meta.give('ledger.lock_shipment(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock_shipment.sql
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
      -- The index is on seconds
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
    -- The same count, repeated
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
  -- Only one transaction at a time numbers movements.
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
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- The wanted units and the stored units form two rulers, side by side. Where stretches of both overlap,
  -- these units go to that line.
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
--! Included ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(drafts);
  return ledger.book(drafts, note);
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: takes the locks, then does what ledger.book does. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text)');
select api_meta.give('ledger.post(ledger.draft[], text)', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text) to service_writer;
--! EndIncluded ledger/post.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
  are_found boolean;
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

  select array_agg(distinct l.product_id) as products, bool_or(l.batch_id is not null) as batches,
    bool_or(l.expected_quantity is not null) as expectations,
    array_agg(distinct p.warehouse_id) filter (where p.warehouse_id is not null) as warehouses,
    coalesce(array_agg(distinct p.bin_id) filter (where p.bin_id is not null), '{}') as bins
  into named
  from unnest(lines) l
  cross join lateral (values (l.source_warehouse_id, l.source_bin_location_id),
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id);
  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  are_found := ledger.lock(named.products, array(
    select n.id from unnest(named.warehouses) n (id)
    union select b.warehouse_id from erp.bin_location b where b.id = any (named.bins)
  ), named.bins);
  if not are_found or named.batches then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if named.expectations then
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
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all bookings of these products, because they are locked
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
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Inserted history keeps its own time
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
  -- First the number, then the id, and never the other way round
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := ledger.next_movement_id();
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets '
  'its transaction and its id (ledger.next_movement_id). A constraint can''t ask for the places, for the '
  'id becomes null when the place is deleted.';
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

  booking := ledger.book(array(
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
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Shipped units were promised; the promises end with them
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- The figures are those after the booking. Usually none is below 0, and nothing is to be done.
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
    -- One warning for each product: a shortage of the whole product makes those of its warehouses redundant
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
--! Included mutation/broken_rule.sql
create or replace function mutation.broken_rule(
  state text, input jsonb, violated_schema name, violated_table name, violated_column name,
    violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
begin
  error := case
    -- The caller gave null for a required value
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key with on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, jsonb, name, name, name, name) is
  'The user errors that the violation of a constraint means, by its SQLSTATE and the constraint; null '
  'when it is a fault of ours.';
grant execute on function mutation.broken_rule(text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded mutation/broken_rule.sql
--! Included mutation/digest.sql
create or replace function mutation.digest(
  operation name, input_type regtype, input jsonb, takes_changes boolean
)
returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
  decoded jsonb;
  emptied jsonb;
begin
  -- Ids and times have one spelling each after conversion to the type of their column
  execute format('select jsonb_strip_nulls(to_jsonb(jsonb_populate_record(null::%s, $1)))', input_type)
    into decoded using input;
  if takes_changes then
    select jsonb_agg(f.key order by f.key collate "C")
    into emptied
    from jsonb_each(input) f
    where f.value = 'null';
  end if;
  return sha256(convert_to(concat_ws(' ', operation, decoded, emptied), 'UTF8'));
end
$$;
comment on function mutation.digest(name, regtype, jsonb, boolean) is
  'What an idempotency key stands for: SHA-256 of the name of a mutation and of what its input means. '
  'Equal moments are equal however they are spelled; null is the same as left out, save in the fields '
  'of a mutation that takes changes, which null empties. The version has no part in it, nor have fields '
  'that a later one adds and a caller leaves out.';
grant execute on function mutation.digest(name, regtype, jsonb, boolean) to service_writer;
--! EndIncluded mutation/digest.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update mutation.idempotency_key k set payload = answer
  where k.credential_id = mutation.caller() and k.key = idempotency_key;
  -- Each call deletes a few old keys, so that none takes long.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.keep_answer(text, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, and removes a few keys that '
  'are too old.';
grant execute on function mutation.keep_answer(text, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
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
      repeated := mutation.take_key(idempotency_key,
        mutation.digest(operation, target.input_type, input, target.takes_changes),
        sha256(convert_to(operation || ' ' || input::text, 'UTF8')));
      if repeated is not null then
        return jsonb_build_object('payload', case when not validate_only then repeated end,
          'userErrors', '[]'::jsonb, 'warnings', coalesce(repeated -> 'warnings', '[]'));
      end if;
    end if;
    -- For the cause of events
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true);
    perform set_config('service.warnings', '', true);

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
      perform mutation.keep_answer(idempotency_key,
        (result - mutation.secrets_of(target.payload_type)) || jsonb_build_object('warnings', warnings));
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
--! Included mutation/take_key.sql
create or replace function mutation.take_key(idempotency_key text, digest bytea, earlier_digest bytea)
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
  insert into mutation.idempotency_key as k (credential_id, key, request)
  values (mutation.caller(), idempotency_key, digest)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = null, created_at = excluded.created_at
    where k.created_at < now() - mutation.key_lifetime();
  if found then
    return null;
  end if;
  select k.request, k.payload into strict earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if earlier.request not in (digest, earlier_digest) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, bytea) is
  'Takes a key for the running mutation. Null when it was free; otherwise what the mutation answered '
  'that had it before. A key that is taken by another request is refused: IDEMPOTENCY_KEY_MISMATCH. The '
  'second digest is that of keys from before mutation.digest was.';
grant execute on function mutation.take_key(text, bytea, bytea) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/user_error.sql
create or replace function mutation.user_error(
  code text, message text, field text[] default null, details jsonb default null
)
returns jsonb
language sql immutable parallel safe
return pg_catalog.jsonb_build_object(
  'code', code, 'message', message, 'field', pg_catalog.to_jsonb(field), 'details', details
);
comment on function mutation.user_error(text, text, text[], jsonb) is
  'One user error: a code of api_unstable.user_error_code, a sentence for people, the way to the input '
  'at fault in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.user_error(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/user_error.sql
--! Included mutation/warn.sql
create or replace function mutation.warn(warnings jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(warnings) > 0 then
    perform set_config('service.warnings', (mutation.warnings() || warnings)::text, true);
  end if;
end
$$;
comment on function mutation.warn(jsonb) is
  'Notes an array of warnings of the running mutation, each as mutation.user_error makes one; does '
  'nothing when the array is empty or null. mutation.run answers them when the mutation is done. What '
  'is rolled back to a savepoint takes its warnings with it.';
grant execute on function mutation.warn(jsonb)
  to service_ledger, service_booker, service_writer;

create or replace function mutation.warn(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.warn(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.warn(text, text, text[], jsonb) is
  'Notes a warning of the running mutation: a code of api_unstable.warning_code, a sentence for people, '
  'the way to the input that it is about in names of columns (such as {lines,0,quantity}), and further '
  'facts.';
grant execute on function mutation.warn(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warn.sql

--! Previous: sha1:59f021b3be39f269671caedbad00b535b23a4bdb
--! Hash: sha1:2e9b4721bfbf50bdeb164b03d10c11c2d6945f7a
--! Message: fairness

--! split: 70-webhooks.sql
-- Webhooks that harm nobody else: pauses of payload queries, a maximum of subscriptions, shorter leases that are renewed,
-- early tries of receivers that are away
alter table events.webhook_subscription
  add column if not exists payload_failures integer not null default 0,
  add column if not exists paused_until timestamptz(3);
comment on column events.webhook_subscription.payload_failures is
  'How often in a row the payload query took too much.';
comment on column events.webhook_subscription.paused_until is
  'Until when nothing is sent, since the payload query took too much; null while it does not.';
comment on column events.webhook_subscription.next_probe_at is
  'When it is tried with a single delivery, whatever the schedule says, whether the receiver is back; null while it is healthy.';
comment on column events.lane.claimed_until is
  'A lease: until then nobody else takes it. Who has taken it renews it every few seconds.';

--! Included functions/api/user_error.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION', 'NOT_EDITABLE',
  'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED', 'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING',
  'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE', 'TOO_MANY_SUBSCRIPTIONS');
comment on type api_unstable.user_error_code is $$
@value REQUIRED Something is missing, or null where it must not be.
@value INVALID A value makes no sense here; the message says why.
@value NOT_FOUND An id leads to nothing.
@value NOT_UNIQUE Something else has this value already.
@value OUT_OF_RANGE A number, a moment or the length of a text is too small or too large.
@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that it allows.
@value NOT_EDITABLE The state, or where it comes from, does not allow changes.
@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is available and requested.
@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is expected and actual.
@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was ordered becomes a line without an order.
@value OVER_FULFILLMENT More would be fulfilled than is open.
@value BATCH_REQUIRED The units are kept in batches: a batch must be named.
@value BATCH_MISMATCH The batch is of another product.
@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.
@value REFERENCE_IN_USE Something that cannot do without it still refers to it.
@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.
@value EXTERNALLY_MANAGED Another system manages it; here it can only be read.
@value ON_HOLD It is on hold.
@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 hours.
@value TOO_MANY_LINES The input has more lines than are allowed at once.
@value URL_FORBIDDEN The address may not be called.
@value SCOPE_MISSING The access token lacks a scope that depends on the input.
@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is not.
@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details names the order or the receipt that is of another.
@value SUPPLIER_INACTIVE The shop orders nothing from the supplier any more. What was ordered before can still be received.
@value TOO_MANY_SUBSCRIPTIONS There are as many webhook subscriptions as are allowed. Field details has how many.
What kept a mutation from being done. A version never shows codes that it does not list: later ones appear as INVALID.$$;

do $$
begin
  if to_regtype('api_unstable.user_error') is null then
    create type api_unstable.user_error as (
      code api_unstable.user_error_code, message text, field text[], details jsonb
    );
  end if;
end
$$;
comment on type api_unstable.user_error is 'Why a mutation was refused. Nothing has been changed then.';
comment on column api_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_unstable.user_error.field is 'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no single part is.';
comment on column api_unstable.user_error.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/user_error.sql
drop function if exists events.claim_lanes(text, integer, integer, jsonb, interval);
--! Included views/lane_head.sql
create or replace view events.lane_head with (security_invoker = true) as
select l.subscription_id, l.entity_id, l.claimed_by as claim, l.attempts as failures, d.id as delivery_id, d.event_id, m.topic, m.body,
  s.url, s.api_version, s.payload_query, s.credential_id, a.scopes,
  case when a.scopes is null then
    format('The credential behind it has been deactivated or deleted, or no longer has the scope %s.', (select t.scope from events.topic t where t.name = s.topic))
  end as withheld,
  array(
    select w.secret from events.webhook_secret w where w.subscription_id = s.id and (w.expires_at is null or w.expires_at > now())
    order by w.expires_at desc nulls first
  ) as secrets,
  l.next_attempt_at > clock_timestamp() as is_early
from events.lane l
join events.webhook_subscription s on s.id = l.subscription_id
cross join lateral (
  select d.id, d.event_id
  from events.delivery d where d.subscription_id = l.subscription_id and d.entity_id = l.entity_id and d.state = 'pending'
  order by d.sequence nulls first, d.id limit 1
) d
join events.message m on m.delivery_id = d.id
cross join lateral (
  -- What an administrator made may send everything; listing what that is takes long, and only a query needs it
  select case when s.credential_id is null and s.payload_query is null then '{}' else events.scopes_of_subscription(s.id) end as scopes
) a;
comment on view events.lane_head is
  'The delivery that is the turn of each lane, with all that sending it needs. withheld says why it must not be sent; null when it may. is_early says that the lane was taken before its schedule, to try whether the receiver is back.';
grant select on events.lane_head to service_delivery;
--! EndIncluded views/lane_head.sql
--! Included functions/events/claim_lanes.sql
create or replace function events.claim_lanes(
  claim text, wanted integer, share integer, busy jsonb, lease interval,
  hanging jsonb default '{}', credential_share integer default null
) returns setof events.lane_head
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
      -- Whether others may be at it at the same time
      s.health = 'SUSPENDED' and s.next_probe_at is not null or s.paused_until is not null as is_alone
    from events.webhook_subscription s
    cross join lateral (
      select coalesce((claim_lanes.busy ->> s.id::text)::integer, 0) as busy,
        coalesce((claim_lanes.hanging ->> s.id::text)::integer, 0) as hanging
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
      -- Asked only where it matters
      select (s.is_alone or s.next_probe_at <= now) and not exists (
        select from events.lane l
        where l.subscription_id = s.id and l.claimed_by is not null and l.claimed_until > now) as is_idle
    ) c
    where s.enabled and (s.paused_until is null or s.paused_until <= now)
      and (s.health <> 'SUSPENDED' or s.next_probe_at is null or s.next_probe_at <= now)
      and (not s.is_alone or c.is_idle)
  ), found as (
    select r.owner, r.room_of_owner, l.subscription_id, l.entity_id, l.due_at,
      row_number() over (partition by l.subscription_id order by l.due_at) as turn
    from ready r
    cross join lateral (
      select l.subscription_id, l.entity_id, l.due_at from events.lane l
      where l.subscription_id = r.id and l.due_at <= r.due_by
        and (l.claimed_until is null or l.claimed_until <= now)
      order by l.due_at limit greatest(least(r.room, r.room_of_owner, wanted), 0)
      for no key update skip locked
    ) l
  ), turns as (
    select f.*, row_number() over (partition by f.owner order by f.turn, f.due_at) as turn_of_owner
    from found f
  ), chosen as (
    -- In turns, so that one credential, or one subscription, with much to send leaves room for the others
    select t.subscription_id, t.entity_id from turns t
    where t.turn_of_owner <= coalesce(t.room_of_owner, wanted)
    order by t.turn_of_owner, t.due_at limit wanted
  )
  update events.lane l set claimed_until = now + lease, claimed_by = claim
  from chosen c where l.subscription_id = c.subscription_id and l.entity_id = c.entity_id;
  return query select h.* from events.lane_head h where h.claim = claim_lanes.claim;
end
$$;
comment on function events.claim_lanes(text, integer, integer, jsonb, interval, jsonb, integer) is
  'Takes lanes that are due for as long as the lease, and answers their first deliveries. busy says how many lanes of each subscription the process is busy with, hanging with how many of these for long. Together with those, at most credential_share are of the subscriptions of one credential, and at most share of one subscription; of one that is degraded a single one, beside those that hang. One that is suspended is only probed now and then, and one that is paused tried when its pause is over: by one process, with whichever lane has waited longest. So is a degraded one that was not tried for a while. While the plan has no API, nothing is taken.';
grant execute on function events.claim_lanes(text, integer, integer, jsonb, interval, jsonb, integer) to service_delivery;
--! EndIncluded functions/events/claim_lanes.sql
--! Included functions/events/renew_claims.sql
create or replace function events.renew_claims(claims text[], lease interval)
returns table (subscription_id uuid, entity_id uuid, claim text)
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  with held as (
    -- What somebody is changing right now is renewed the next time
    select l.subscription_id, l.entity_id from events.lane l
    where l.claimed_by = any (claims) for no key update skip locked
  )
  update events.lane l set claimed_until = clock_timestamp() + lease
  from held h where l.subscription_id = h.subscription_id and l.entity_id = h.entity_id
  returning l.subscription_id, l.entity_id, l.claimed_by;
end;
comment on function events.renew_claims(text[], interval) is
  'Keeps the lanes of claims for another lease, and answers which: one that is missing was taken by somebody else, is done, or is renewed the next time.';
grant execute on function events.renew_claims(text[], interval) to service_delivery;
--! EndIncluded functions/events/renew_claims.sql
--! Included functions/events/record_attempts.sql
create or replace function events.settle_lanes(results jsonb, states jsonb, moment timestamptz) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from events.lane l using jsonb_to_recordset(results) as r (subscription uuid, entity uuid)
  where l.subscription_id = r.subscription and l.entity_id = r.entity and l.pending = 0;

  -- What is tried sooner than its schedule says is tried once more for that
  update events.lane l set next_attempt_at = case when n.hurry then moment else 'infinity' end,
    attempts = case when n.hurry then greatest(l.attempts - 1, 0) else l.attempts end
  from jsonb_to_recordset(states) as n (id uuid, health text, hurry boolean)
  where l.subscription_id = n.id and (n.hurry and l.next_attempt_at > moment or n.health = 'DISABLED');
end;
comment on function events.settle_lanes(jsonb, jsonb, timestamptz) is
  'What events.record_attempts leaves of lanes: without those that are empty, and with all of a subscription due at once, or never, where its state says so.';
grant execute on function events.settle_lanes(jsonb, jsonb, timestamptz) to service_delivery;

create or replace function events.record_attempts(results jsonb, states jsonb, lease interval) returns setof events.lane_head
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
  has_api constant boolean := (select p.name <> 'none' from auth.current_plan() p);
begin
  with result as (
    select * from jsonb_to_recordset(results)
      as r (delivery uuid, subscription uuid, entity uuid, claim text, state text, tried boolean, counted boolean, delay bigint, go_on boolean, attempt jsonb)
  ), told as (
    update events.delivery d set state = r.state, attempts = d.attempts + r.tried::integer,
      next_attempt_at = case when r.state = 'pending' then coalesce(now + r.delay * interval '1 ms', d.next_attempt_at) end,
      delivered_at = case when r.state = 'delivered' then now end
    from result r
    -- Pending, in words that keep Postgres from reading the whole index of what is pending
    where d.id = r.delivery and d.state not in ('delivered', 'failed', 'cancelled')
    returning d.id, d.subscription_id, d.attempts, d.state
  ), noted as (
    insert into events.delivery_attempt (delivery_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body)
    select t.id, t.attempts, a.at, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers, a.response_body
    from told t join result r on r.delivery = t.id
    cross join lateral jsonb_populate_record(null::events.delivery_attempt, r.attempt) a
    where r.tried
  ), moved as (
    update events.lane l set
      pending = l.pending - (t.state is not null and t.state <> 'pending')::integer,
      attempts = case
        when l.claimed_by is distinct from r.claim then l.attempts
        when t.state <> 'pending' then 0
        else l.attempts + (r.counted and t.id is not null)::integer end,
      next_attempt_at = case
        when l.claimed_by = r.claim and t.state = 'pending' then greatest(l.next_attempt_at, now + r.delay * interval '1 ms')
        else l.next_attempt_at end,
      claimed_until = case
        when l.claimed_by is distinct from r.claim then l.claimed_until
        when r.go_on and s.enabled and has_api then now + lease end,
      claimed_by = case
        when l.claimed_by is distinct from r.claim then l.claimed_by
        when r.go_on and s.enabled and has_api then r.claim end
    from result r join events.webhook_subscription s on s.id = r.subscription
    left join told t on t.id = r.delivery
    where l.subscription_id = r.subscription and l.entity_id = r.entity
  )
  update events.webhook_subscription s set
    health = n.health, health_reason = n.reason, consecutive_failures = n.failures, failing_since = n.failing_since,
    next_probe_at = now + n.probe_after * interval '1 ms',
    payload_failures = coalesce(n.payload_failures, 0),
    paused_until = case when n.stays_paused then s.paused_until else now + n.paused_for * interval '1 ms' end,
    enabled = s.enabled and n.health <> 'DISABLED',
    disabled_at = case when n.health = 'DISABLED' then coalesce(s.disabled_at, now) else s.disabled_at end,
    backlog_count = greatest(s.backlog_count - d.done, 0),
    last_delivered_at = case when d.delivered > 0 then now else s.last_delivered_at end
  from jsonb_to_recordset(states)
    as n (id uuid, health text, reason text, failures integer, failing_since timestamptz, probe_after bigint, hurry boolean,
      payload_failures integer, paused_for bigint, stays_paused boolean)
  cross join lateral (
    select count(*) filter (where t.state <> 'pending') as done, count(*) filter (where t.state = 'delivered') as delivered
    from told t where t.subscription_id = n.id
  ) d
  where s.id = n.id;

  perform events.settle_lanes(results, states, now);
  return query
    select h.* from jsonb_to_recordset(results) as r (subscription uuid, entity uuid, claim text, go_on boolean)
    -- One by one: heads of all lanes at once would take long where many wait
    cross join lateral (
      select * from events.lane_head h
      where h.subscription_id = r.subscription and h.entity_id = r.entity and h.claim = r.claim limit 1
    ) h
    where r.go_on;
end
$$;
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Notes what came of deliveries, one of each lane at most, and how their subscriptions are doing by now; the caller holds the locks of these. Lanes that go on stay claimed, unless the plan has no API any more, for another lease, and it answers their next deliveries. A delay of null leaves the next attempt when it was to be. What a claim that was lost says about a delivery still counts, for the receiver has it; about the lane it says nothing any more.';
grant execute on function events.record_attempts(jsonb, jsonb, interval) to service_delivery;
--! EndIncluded functions/events/record_attempts.sql
--! Included functions/events/webhook_subscription.sql
create or replace function events.require_scope(topic text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed constant text := (select t.scope from events.topic t where t.name = topic);
begin
  if not auth.has_scope(needed) then
    perform mutation.refuse('SCOPE_MISSING', format('Whoever is told of %s must be allowed to read it: the scope %s is missing.', topic, needed),
      field, jsonb_build_object('scope', needed));
  end if;
end
$$;
comment on function events.require_scope(text, text[]) is 'Sees to it that the caller may read what a topic is about. User error SCOPE_MISSING.';

create or replace function events.require_settings(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(
    select f.name from events.topic t
    join events.occasion o on o.topic = t.name and o.operation = 'update'
    join events.field f on f.subject_type = t.subject_type and f.column_name <> all ('{id,created_at,updated_at}')
    where t.name = subscription.topic order by f.position);
  unknown constant text[] := array(select unnest(subscription.fields) except select unnest(known) order by 1);
begin
  if to_regnamespace('api_' || replace(subscription.api_version, '-', '_')) is null or subscription.api_version !~ '^(unstable|\d[\w-]*)$' then
    perform mutation.refuse('INVALID', 'There is no such version of the API.', '{api_version}');
  elsif subscription.fields = '{}' then
    perform mutation.refuse('INVALID', 'Name fields, or leave them out to be told of every change.', '{fields}');
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID', format('Events of the topic %s tell of no changes of %s.', subscription.topic, array_to_string(unknown, ', ')), '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse('URL_FORBIDDEN', 'Nothing is sent to this host: it is none of the public internet.', '{url}');
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Checks what was entered about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';

create or replace function events.caller() returns uuid
language sql stable set search_path = pg_catalog, pg_temp
return nullif(pg_catalog.current_setting('service.credential_id', true), '')::pg_catalog.uuid;
comment on function events.caller() is 'The credential of the request.';

create or replace function events.locked_subscription(subscription_id uuid) returns events.webhook_subscription
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  select * into present from events.webhook_subscription s where s.id = subscription_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such webhook subscription.', '{id}');
  end if;
  return present;
end
$$;
comment on function events.locked_subscription(uuid) is 'A subscription to work on, whoever asks. User error NOT_FOUND.';

create or replace function events.lock_subscription(subscription_id uuid) returns events.webhook_subscription
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.locked_subscription(subscription_id);
begin
  perform events.require_scope(present.topic, '{id}');
  return present;
end
$$;
comment on function events.lock_subscription(uuid) is
  'A subscription for a client to work on. Every way to make one send something, or send it elsewhere, needs the scope of its topic. User errors NOT_FOUND, SCOPE_MISSING.';

create or replace function events.require_enabled(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not subscription.enabled then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The subscription is disabled. Enable it first.', '{id}',
      '{"state": "DISABLED", "allowedActions": ["enable"]}');
  end if;
end
$$;
comment on function events.require_enabled(events.webhook_subscription) is 'Refuses to send for a disabled subscription. User error INVALID_STATE_TRANSITION.';

create or replace function events.new_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Three times 122 bits out of the strong source of Postgres, mixed into 256
  secret constant text := 'whsec_' || encode(sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64');
begin
  update events.webhook_secret s set expires_at = date_trunc('second', now()) + interval '24 hours'
  where s.subscription_id = new_secret.subscription_id and s.expires_at is null;
  insert into events.webhook_secret (subscription_id, secret) values (new_secret.subscription_id, secret);
  return secret;
end
$$;
comment on function events.new_secret(uuid) is
  'Gives a subscription a secret, and answers it, once. The one before signs too for 24 hours more.';

create or replace function events.create_webhook_subscription(topic text, url text, api_version text, fields text[], payload_query text, enabled boolean)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted events.webhook_subscription;
begin
  if not exists (select from events.topic t where t.name = create_webhook_subscription.topic and t.subscribable) then
    perform mutation.refuse('INVALID', 'There is no such topic.', '{topic}',
      jsonb_build_object('topics', (select jsonb_agg(t.name order by t.name) from events.topic t where t.subscribable)));
  end if;
  perform events.require_scope(topic, '{topic}');
  wanted.topic := topic; wanted.url := url; wanted.api_version := api_version; wanted.fields := fields; wanted.payload_query := payload_query;
  perform events.require_settings(wanted);
  insert into events.webhook_subscription as s (credential_id, topic, url, api_version, fields, payload_query)
  values (events.caller(), wanted.topic, wanted.url, wanted.api_version, wanted.fields, wanted.payload_query) returning s.id into wanted.id;
  if not enabled then
    perform events.disable_webhook_subscription(wanted.id);
  end if;
  return wanted.id;
end
$$;
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Answers the id; a secret is yet to be made. User errors INVALID, SCOPE_MISSING, URL_FORBIDDEN.';

create or replace function events.update_webhook_subscription(subscription_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  wanted constant events.webhook_subscription := jsonb_populate_record(present,
    (select coalesce(jsonb_object_agg(c.key, c.value), '{}') from jsonb_each(changes) c where c.key in ('url', 'api_version', 'fields', 'payload_query', 'enabled')));
begin
  perform events.require_settings(wanted);
  -- What it sends from now on is on the account of whoever says so
  update events.webhook_subscription s
  set url = wanted.url, api_version = wanted.api_version, fields = wanted.fields, payload_query = wanted.payload_query,
    credential_id = events.caller(),
    -- Another query, or another bucket that pays for it, is another chance
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
  'Changes of a subscription what the object names. Its topic stays: deliveries of it may be waiting. Answers its id.';

create or replace function events.stop_subscription(subscription_id uuid, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s
  set enabled = false, health = 'DISABLED', health_reason = reason, disabled_at = now()
  where s.id = subscription_id;
  update events.lane l set next_attempt_at = 'infinity' where l.subscription_id = stop_subscription.subscription_id;
end
$$;
comment on function events.stop_subscription(uuid, text) is
  'Stops a subscription. What waits to be delivered waits until it is enabled again; what happens in between is not meant for it.';

create or replace function events.resume_subscription(subscription_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.locked_subscription(subscription_id);
begin
  perform events.require_settings(present);
  update events.webhook_subscription s
  set enabled = true, health = 'HEALTHY', health_reason = null, failing_since = null, consecutive_failures = 0,
    next_probe_at = null, disabled_at = null, payload_failures = 0, paused_until = null
  where s.id = present.id;
  update events.lane l set next_attempt_at = clock_timestamp(), attempts = 0 where l.subscription_id = present.id;
end
$$;
comment on function events.resume_subscription(uuid) is
  'Lets a subscription go on, on the account that it is on: what waits is delivered at once, and troubles are forgotten. User errors NOT_FOUND, INVALID, URL_FORBIDDEN.';

-- The administration has these done as well, and may do nothing else to subscriptions
select api_meta.give('events.stop_subscription(uuid, text)', 'service_writer');
select api_meta.give('events.resume_subscription(uuid)', 'service_writer');
grant execute on function events.stop_subscription(uuid, text), events.resume_subscription(uuid) to service_registrar;

create or replace function events.disable_webhook_subscription(subscription_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select events.stop_subscription(subscription_id, 'It was disabled through the API.')
$$;
comment on function events.disable_webhook_subscription(uuid) is 'Stops a subscription, as events.stop_subscription, for a client.';

create or replace function events.enable_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
begin
  perform events.resume_subscription(present.id);
  update events.webhook_subscription s set credential_id = events.caller() where s.id = present.id;
  return present.id;
end
$$;
comment on function events.enable_webhook_subscription(uuid) is
  'Lets a subscription go on, as events.resume_subscription, on the account of the caller. Answers its id.';

create or replace function events.rotate_webhook_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.lock_subscription(subscription_id);
  return events.new_secret(subscription_id);
end
$$;
comment on function events.rotate_webhook_secret(uuid) is 'Gives a subscription a new secret, and answers it.';

create or replace function events.delete_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from events.webhook_subscription s where s.id = subscription_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such webhook subscription.', '{id}');
  end if;
  return subscription_id;
end
$$;
comment on function events.delete_webhook_subscription(uuid) is 'Deletes a subscription with its secrets and deliveries. Answers its id.';
--! EndIncluded functions/events/webhook_subscription.sql
--! Included functions/events/prune.sql
create or replace function events.prune(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := interval '30 days';
  old bigint[];
  old_tests uuid[];
begin
  -- The log is in the order of time, so what is old stands at its beginning
  old := array(
    select e.sequence from (select x.sequence, x.recorded_at from events.event x order by x.sequence limit batch) e
    where e.recorded_at < now() - lifetime);
  old_tests := array(
    select d.id from events.delivery d where d.sequence is null and d.created_at < now() - lifetime order by d.created_at limit batch);
  perform events.cancel_deliveries(array(
    select d.id from events.delivery d where d.sequence = any (old) and d.state = 'pending'
    union all select d.id from events.delivery d where d.id = any (old_tests) and d.state = 'pending'));
  delete from events.delivery d where d.id = any (old_tests);
  -- Deliveries and their attempts go with it
  delete from events.event e where e.sequence = any (old);
  delete from events.webhook_secret s where s.expires_at < now();
  return cardinality(old) + cardinality(old_tests);
end
$$;
comment on function events.prune(integer) is
  'Deletes events that were recorded more than 30 days ago, with their deliveries, at most as many as the batch; tests likewise; and secrets that have expired. Answers how many: to be called again until that is 0.';

create or replace function events.cancel_deliveries(delivery_ids uuid[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled integer;
begin
  perform from events.webhook_subscription s
  where s.id in (select d.subscription_id from events.delivery d where d.id = any (delivery_ids)) order by s.id for no key update;
  with ended as (
    update events.delivery d set state = 'cancelled', next_attempt_at = null
    where d.id = any (delivery_ids) and d.state = 'pending' returning d.subscription_id, d.entity_id
  ), noted as (
    update events.webhook_subscription s set backlog_count = greatest(s.backlog_count - e.count, 0)
    from (select ended.subscription_id, count(*) as count from ended group by ended.subscription_id) e where s.id = e.subscription_id
  ), shortened as (
    update events.lane l set pending = l.pending - e.count
    from (select ended.subscription_id, ended.entity_id, count(*) as count from ended group by ended.subscription_id, ended.entity_id) e
    where l.subscription_id = e.subscription_id and l.entity_id = e.entity_id
  )
  select count(*) into cancelled from ended;
  delete from events.lane l using events.delivery d
  where d.id = any (delivery_ids) and l.subscription_id = d.subscription_id and l.entity_id = d.entity_id and l.pending = 0;
  return cancelled;
end
$$;
comment on function events.cancel_deliveries(uuid[]) is 'Takes pending deliveries out of their lanes: they are not sent any more. Answers how many.';

create or replace function events.drop_waiting(subscription_id uuid, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return events.cancel_deliveries(array(
    select d.id from events.delivery d
    where d.subscription_id = drop_waiting.subscription_id and d.state = 'pending' limit batch));
end
$$;
comment on function events.drop_waiting(uuid, integer) is
  'Cancels deliveries to a subscriber that wait, at most as many as the batch. Answers how many: to be called again until that is less than the batch.';
--! EndIncluded functions/events/prune.sql
--! Included functions/events/count_subscriptions.sql
create or replace function events.count_subscriptions() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  max_of_credential constant integer :=
    coalesce(nullif(current_setting('service.max_subscriptions_per_token', true), ''), '100')::integer;
  max_in_all constant integer :=
    coalesce(nullif(current_setting('service.max_subscriptions', true), ''), '1000')::integer;
begin
  -- Two that subscribe at the same time count each other: what is committed by now is seen from here on
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
  'Trigger: refuses more subscriptions of one credential, and in all, than are allowed, whoever makes them. Settings service.max_subscriptions_per_token and service.max_subscriptions, 100 and 1,000 where there are none. What is there already stays. User error TOO_MANY_SUBSCRIPTIONS.';
--! EndIncluded functions/events/count_subscriptions.sql
--! Included functions/administration/change_webhooks.sql
create or replace function auth.note_webhook_event(action text, subscription_id uuid, details jsonb default '{}') returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select auth.note_event(note_webhook_event.action, s.topic || ' to ' || substring(s.url from '^https?://([^/?]+)'), s.credential_id,
    jsonb_build_object('subscription_id', s.id) || note_webhook_event.details)
  from events.webhook_subscription s where s.id = note_webhook_event.subscription_id
$$;
comment on function auth.note_webhook_event(text, uuid, jsonb) is
  'Adds to the audit what was done to a webhook subscription, also as about the credential that it is on the account of.';
grant execute on function auth.note_webhook_event(text, uuid, jsonb) to service_registrar;

create or replace function administration.set_webhook_enabled(id uuid, enabled boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  perform administration.require_administrator();
  select * into present from events.webhook_subscription s where s.id = set_webhook_enabled.id;
  if not found then
    raise exception 'There is no webhook subscription %.', set_webhook_enabled.id using errcode = 'no_data_found';
  elsif set_webhook_enabled.enabled and present.health <> 'HEALTHY' then
    perform events.resume_subscription(present.id);
    perform auth.note_webhook_event('webhook_subscription.enabled', present.id);
  elsif present.enabled and not set_webhook_enabled.enabled then
    perform events.stop_subscription(present.id, 'An administrator disabled it.');
    perform auth.note_webhook_event('webhook_subscription.disabled', present.id);
  end if;
end
$$;
comment on function administration.set_webhook_enabled(uuid, boolean) is
  'Disables a webhook subscription, or lets one go on that is disabled or in trouble, on the account that it is on. What is so already stays so.';

create or replace function administration.stop_webhook(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  perform administration.require_administrator();
  select * into present from events.webhook_subscription s where s.id = stop_webhook.id;
  if not found then
    raise exception 'There is no webhook subscription %.', stop_webhook.id using errcode = 'no_data_found';
  elsif present.enabled or present.backlog_count > 0 then
    perform events.stop_subscription(present.id, 'An administrator stopped it, and dropped what waited.');
    perform auth.note_webhook_event('webhook_subscription.stopped', present.id,
      jsonb_build_object('dropped', present.backlog_count));
  end if;
end
$$;
comment on function administration.stop_webhook(uuid) is
  'Disables a webhook subscription, and notes that what waits is dropped, which administration.drop_webhook_backlog does.';

create or replace function administration.drop_webhook_backlog(id uuid, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  -- Whoever enables it in the meantime keeps what is left
  perform from events.webhook_subscription s where s.id = drop_webhook_backlog.id and not s.enabled;
  if not found then
    return 0;
  end if;
  return events.drop_waiting(drop_webhook_backlog.id, batch);
end
$$;
comment on function administration.drop_webhook_backlog(uuid, integer) is
  'Cancels what waits for a disabled subscription, at most as many deliveries as the batch. Answers how many: to be called again until that is 0.';

create or replace function administration.test_webhook(id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform administration.require_administrator();
  made := events.send_test(test_webhook.id);
  perform auth.note_webhook_event('webhook_subscription.tested', test_webhook.id, jsonb_build_object('delivery_id', made));
  return made;
end
$$;
comment on function administration.test_webhook(uuid) is 'Sends a test, as events.send_test. Answers the delivery.';

create or replace function administration.retry_webhook_delivery(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.note_webhook_event('webhook_delivery.retried', events.send_again(retry_webhook_delivery.id),
    jsonb_build_object('delivery_id', retry_webhook_delivery.id));
end
$$;
comment on function administration.retry_webhook_delivery(uuid) is 'Delivers something again, as events.send_again.';

select api_meta.give('administration.set_webhook_enabled(uuid, boolean)', 'service_registrar');
select api_meta.give('administration.stop_webhook(uuid)', 'service_registrar');
select api_meta.give('administration.drop_webhook_backlog(uuid, integer)', 'service_registrar');
select api_meta.give('administration.test_webhook(uuid)', 'service_registrar');
select api_meta.give('administration.retry_webhook_delivery(uuid)', 'service_registrar');
grant execute on function administration.set_webhook_enabled(uuid, boolean), administration.stop_webhook(uuid),
  administration.drop_webhook_backlog(uuid, integer), administration.test_webhook(uuid),
  administration.retry_webhook_delivery(uuid) to service_administration;
--! EndIncluded functions/administration/change_webhooks.sql
--! Included functions/administration/webhooks.sql
create or replace function administration.webhook_subscriptions(wanted uuid default null, before uuid default null, troubled boolean default false, how_many integer default 200)
returns table (id uuid, topic text, url text, api_version text, fields text[], payload_query text, credential_id uuid, credential_name text,
  enabled boolean, health text, health_reason text, backlog_count bigint, last_delivered_at timestamptz, failing_since timestamptz,
  next_attempt_at timestamptz, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select s.id, s.topic, s.url, s.api_version, s.fields, s.payload_query, s.credential_id, c.name, s.enabled, s.health, s.health_reason,
    s.backlog_count::bigint, s.last_delivered_at::timestamptz, s.failing_since::timestamptz,
    -- Suspended ones are only probed, degraded ones probed as well; without a backlog there is nothing to try
    case when s.enabled and s.backlog_count > 0 then greatest(s.paused_until::timestamptz, (
      select case when s.health = 'DEGRADED' then least(s.next_probe_at, min(l.due_at))
        else greatest(s.next_probe_at, min(l.due_at)) end::timestamptz
      from events.lane l where l.subscription_id = s.id and l.due_at < 'infinity')) end,
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
  'The newest webhook subscriptions, or those before one, or a single one; of all, or of those that are not healthy. Never their secrets.';

create or replace function administration.webhook_deliveries(subscription uuid, before uuid, how_many integer)
returns table (id uuid, created_at timestamptz, topic text, subject_id uuid, state text, attempts integer, last_status integer, last_error text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select d.id, d.created_at::timestamptz, coalesce(e.topic::text, 'webhook_subscription.test'), e.subject_id, d.state, d.attempts, a.status, a.error
  from events.delivery d
  left join events.event e on e.sequence = d.sequence
  left join events.delivery_attempt a on a.delivery_id = d.id and a.number = d.attempts
  where d.subscription_id = webhook_deliveries.subscription and (webhook_deliveries.before is null or d.id < webhook_deliveries.before)
  order by d.id desc
  limit least(webhook_deliveries.how_many, 200);
end
$$;
comment on function administration.webhook_deliveries(uuid, uuid, integer) is 'The newest deliveries to a subscriber, or those before one, with what came of their last attempt.';

create or replace function administration.webhook_delivery(wanted uuid)
returns table (id uuid, subscription_id uuid, event_id uuid, sequence bigint, created_at timestamptz, topic text, subject_id uuid, state text, attempts integer,
  next_attempt_at timestamptz, delivered_at timestamptz, body text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select d.id, d.subscription_id, d.event_id, d.sequence, d.created_at::timestamptz, m.topic::text, e.subject_id, d.state, d.attempts,
    d.next_attempt_at::timestamptz, d.delivered_at::timestamptz, jsonb_pretty(m.body)
  from events.delivery d
  join events.message m on m.delivery_id = d.id
  left join events.event e on e.sequence = d.sequence
  where d.id = webhook_delivery.wanted;
end
$$;
comment on function administration.webhook_delivery(uuid) is 'A delivery, with the body that it sends unless a payload query is asked for the data.';

create or replace function administration.webhook_attempts(delivery uuid)
returns table (number integer, at timestamptz, duration_ms integer, status integer, error text, request_headers jsonb, response_headers jsonb, response_body text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select a.number, a.at::timestamptz, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers, a.response_body
  from events.delivery_attempt a where a.delivery_id = webhook_attempts.delivery
  order by a.number desc limit 100;
end
$$;
comment on function administration.webhook_attempts(uuid) is 'The last hundred attempts of a delivery, the newest first.';

select api_meta.give('administration.webhook_subscriptions(uuid, uuid, boolean, integer)', 'service_registrar');
select api_meta.give('administration.webhook_deliveries(uuid, uuid, integer)', 'service_registrar');
select api_meta.give('administration.webhook_delivery(uuid)', 'service_registrar');
select api_meta.give('administration.webhook_attempts(uuid)', 'service_registrar');
grant execute on function administration.webhook_subscriptions(uuid, uuid, boolean, integer), administration.webhook_deliveries(uuid, uuid, integer),
  administration.webhook_delivery(uuid), administration.webhook_attempts(uuid) to service_administration;
--! EndIncluded functions/administration/webhooks.sql
--! Included functions/api/webhook_subscription.sql
-- The secret is in the payload once: the tag @secret keeps it out of what is remembered under an idempotency key.
drop type if exists api_unstable.webhook_subscription_secret_payload cascade;
create type api_unstable.webhook_subscription_secret_payload as (webhook_subscription uuid, secret text, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_secret_payload is 'What subscribing and a new secret answer.';
comment on column api_unstable.webhook_subscription_secret_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is E'@secret\nWhat deliveries are signed with, by Standard Webhooks: whsec_ and the key in Base64. Shown this once: null when the mutation is repeated with its idempotency key.';
comment on column api_unstable.webhook_subscription_secret_payload.user_errors is 'Why nothing was changed; empty when it was.';
drop type if exists api_unstable.webhook_subscription_payload cascade;
create type api_unstable.webhook_subscription_payload as (webhook_subscription uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_payload is 'What changing a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.webhook_subscription_create_input cascade;
create type api_unstable.webhook_subscription_create_input as (topic text, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_unstable.webhook_subscription_create_input.topic is E'@notNull\nWhat to be told of, for example order.created. Subscribing needs the scope that reads it.';
comment on column api_unstable.webhook_subscription_create_input.url is E'@notNull\nAddress that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.api_version is E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_create_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told.';
comment on column api_unstable.webhook_subscription_create_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.enabled is
  E'@neverNull\nWhether events are sent from now on. True when left out.';

create function api_unstable.webhook_subscription_create(input api_unstable.webhook_subscription_create_input)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made.id, events.new_secret(made.id), null)::api_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields, input.payload_query,
    coalesce(input.enabled, true)) made (id)
$$;
comment on function api_unstable.webhook_subscription_create(api_unstable.webhook_subscription_create_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS
Has events of a topic sent to an address. Needs the scope that reads what the topic is about, now and as long as events are sent.$$;

drop type if exists api_unstable.webhook_subscription_update_input cascade;
create type api_unstable.webhook_subscription_update_input as (id uuid, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_update_input is 'Changes of a webhook subscription. What is left out stays as it is. Its topic stays.';
comment on column api_unstable.webhook_subscription_update_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_subscription_update_input.url is 'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_update_input.api_version is 'Version of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_update_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told. Null for every change.';
comment on column api_unstable.webhook_subscription_update_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most. Null for none.';
comment on column api_unstable.webhook_subscription_update_input.enabled is 'False stops it: what waits is kept until it is enabled again, and what happens in between is not sent.';

create function api_unstable.webhook_subscription_update(input api_unstable.webhook_subscription_update_input, changes jsonb)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.update_webhook_subscription(input.id, changes), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_update(api_unstable.webhook_subscription_update_input, jsonb) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS
Changes a webhook subscription. From then on the scopes of the credential that changed it decide what is sent.$$;

drop type if exists api_unstable.webhook_subscription_delete_payload cascade;
create type api_unstable.webhook_subscription_delete_payload as (deleted_webhook_subscription_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_delete_payload is 'What deleting a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_delete_payload.deleted_webhook_subscription_id is E'@gid WebhookSubscription\nId of the subscription that is gone; null when it was refused.';
comment on column api_unstable.webhook_subscription_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';
drop type if exists api_unstable.webhook_subscription_delete_input cascade;
create type api_unstable.webhook_subscription_delete_input as (id uuid);
comment on type api_unstable.webhook_subscription_delete_input is 'A webhook subscription to delete.';
comment on column api_unstable.webhook_subscription_delete_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_delete(input api_unstable.webhook_subscription_delete_input) returns api_unstable.webhook_subscription_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.delete_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_delete_payload
$$;
comment on function api_unstable.webhook_subscription_delete(api_unstable.webhook_subscription_delete_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND
Deletes a webhook subscription with all that waits to be delivered, and the record of what was.$$;

drop type if exists api_unstable.webhook_subscription_rotate_secret_input cascade;
create type api_unstable.webhook_subscription_rotate_secret_input as (id uuid);
comment on type api_unstable.webhook_subscription_rotate_secret_input is 'A webhook subscription that gets a new secret.';
comment on column api_unstable.webhook_subscription_rotate_secret_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_rotate_secret(input api_unstable.webhook_subscription_rotate_secret_input) returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, events.rotate_webhook_secret(input.id), null)::api_unstable.webhook_subscription_secret_payload
$$;
comment on function api_unstable.webhook_subscription_rotate_secret(api_unstable.webhook_subscription_rotate_secret_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND SCOPE_MISSING
Gives a webhook subscription a new secret. For 24 hours deliveries are signed with the old one too, so that receivers can change over.$$;

drop type if exists api_unstable.webhook_subscription_enable_input cascade;
create type api_unstable.webhook_subscription_enable_input as (id uuid);
comment on type api_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_unstable.webhook_subscription_enable_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_enable(input api_unstable.webhook_subscription_enable_input) returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.enable_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_enable(api_unstable.webhook_subscription_enable_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN TOO_MANY_SUBSCRIPTIONS
Lets a webhook subscription go on that was disabled, and has what waits delivered at once, also where it was only failing. From then on the scopes of the credential that enabled it decide what is sent. What happened while it was disabled can be had by webhookDeliveriesReplay.$$;

drop type if exists api_unstable.webhook_subscription_test_payload cascade;
create type api_unstable.webhook_subscription_test_payload as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_test_payload is 'What a test of a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_test_payload.webhook_delivery_id is E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_subscription_test_payload.user_errors is 'Why nothing is sent; empty when it is.';
drop type if exists api_unstable.webhook_subscription_test_input cascade;
create type api_unstable.webhook_subscription_test_input as (id uuid);
comment on type api_unstable.webhook_subscription_test_input is 'A webhook subscription to test.';
comment on column api_unstable.webhook_subscription_test_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_test(input api_unstable.webhook_subscription_test_input) returns api_unstable.webhook_subscription_test_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.test_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_test_payload
$$;
comment on function api_unstable.webhook_subscription_test(api_unstable.webhook_subscription_test_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING
Sends an event of the type webhook_subscription.test, signed like any other. It is in no log and has no sequence.$$;
--! EndIncluded functions/api/webhook_subscription.sql

create or replace trigger count_subscriptions after insert on events.webhook_subscription
  for each row execute function events.count_subscriptions();
create or replace trigger count_subscriptions_taken_over after update of credential_id on events.webhook_subscription
  for each row when (new.credential_id is distinct from old.credential_id) execute function events.count_subscriptions();
select api_meta.allow('service_delivery', 'events.webhook_subscription', 'update (paused_until, payload_failures)');
select api_meta.allow('service_writer', 'events.webhook_subscription', 'update (paused_until, payload_failures)');
select api_meta.give('events.drop_waiting(uuid, integer)', 'service_recorder');
grant execute on function events.drop_waiting(uuid, integer) to service_registrar;

--! split: 90-fair.sql
-- What clients may spend, where processes count together: buckets that fill all the time, in place of windows.
drop table if exists auth.taken_points;

-- Not worth a log: after a crash every bucket counts as full.
create unlogged table if not exists auth.bucket (
  key text primary key,
  full_at timestamptz not null
);
alter table auth.bucket enable row level security;
comment on table auth.bucket is 'When buckets of points are full again. A bucket that is not here is full.';
comment on column auth.bucket.key is 'What the points are for, and whose they are.';
comment on column auth.bucket.full_at is 'When all points that were taken will have come back.';
grant usage on schema auth to service_limiter;
select api_meta.allow('service_limiter', 'auth.bucket', 'select', 'insert', 'update', 'delete');

--! Included functions/auth/take_points.sql
create or replace function auth.take_points(bucket text, refill_ms double precision, capacity_ms double precision)
returns table (is_allowed boolean, full_in_ms double precision)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  refill constant interval := refill_ms * interval '1 ms';
  latest constant timestamptz := moment + capacity_ms * interval '1 ms';
  full_at timestamptz;
begin
  if refill_ms <= capacity_ms then
    insert into auth.bucket as b (key, full_at) values (bucket, moment + refill)
    on conflict (key) do update set full_at = greatest(b.full_at, moment) + refill
      where greatest(b.full_at, moment) + refill <= latest
    returning b.full_at into full_at;
  end if;
  is_allowed := full_at is not null;
  if not is_allowed then
    select b.full_at into full_at from auth.bucket b where b.key = bucket;
  end if;
  full_in_ms := greatest(0, extract(epoch from coalesce(full_at, moment) - moment) * 1000);
  return next;
end
$$;
comment on function auth.take_points(text, double precision, double precision) is
  'Takes points out of a bucket, by the generic cell rate algorithm: only the moment is kept at which the bucket is full again. refill_ms is how long what is taken takes to come back, capacity_ms how long all of it takes, both in milliseconds. Takes all or nothing; answers which, and in how many milliseconds the bucket is full.';

create or replace function auth.charge_points(bucket text, refill_ms double precision, maximum_ms double precision) returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  insert into auth.bucket as b (key, full_at)
  values (bucket, clock_timestamp() + least(refill_ms, maximum_ms) * interval '1 ms')
  on conflict (key) do update set full_at = least(
    greatest(b.full_at, clock_timestamp()) + refill_ms * interval '1 ms',
    clock_timestamp() + maximum_ms * interval '1 ms');
end;
comment on function auth.charge_points(text, double precision, double precision) is
  'Takes points out of a bucket after the fact, whether or not they are there. Afterwards it is full again in maximum_ms milliseconds at most.';

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
  'Deletes up to 10,000 buckets that are full: one that is not there counts as full. Answers how many.';
revoke all on function auth.take_points(text, double precision, double precision),
  auth.charge_points(text, double precision, double precision), auth.clear_full_buckets() from public;
grant execute on function auth.take_points(text, double precision, double precision),
  auth.charge_points(text, double precision, double precision), auth.clear_full_buckets() to service_limiter;
--! EndIncluded functions/auth/take_points.sql

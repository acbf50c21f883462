--! Previous: sha1:28cde0380ca32067c284f63b4ede6c669039fbb8
--! Hash: sha1:7c67829cddfc143d53a9ac6157ac55461cea5667
--! Message: webhook-pages

--! split: 1-current.sql
-- Enter migration here

--! split: 0400-webhook-pages.sql
-- The pages about webhooks: what they read, and what they have done, by the same functions that mutations call
grant usage on schema events to service_registrar;
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
    credential_id = events.caller()
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
    next_probe_at = null, disabled_at = null
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
--! Included functions/events/webhook_delivery.sql
create or replace function events.enqueue(delivery_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s set backlog_count = s.backlog_count + d.count
  from (select d.subscription_id, count(*) as count from events.delivery d where d.id = any (delivery_ids) group by d.subscription_id) d
  where s.id = d.subscription_id;
  insert into events.lane (subscription_id, entity_id, pending)
  select d.subscription_id, d.entity_id, count(*) from events.delivery d where d.id = any (delivery_ids)
  group by d.subscription_id, d.entity_id order by d.subscription_id, d.entity_id
  on conflict (subscription_id, entity_id) do update
  set pending = lane.pending + excluded.pending, next_attempt_at = excluded.next_attempt_at, attempts = 0;
end
$$;
comment on function events.enqueue(uuid[]) is
  'Puts deliveries that have just become pending into their lanes, which are tried at once. The caller has locked the subscriptions.';

create or replace function events.send_test(subscription_id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.locked_subscription(subscription_id);
  made uuid;
begin
  perform events.require_enabled(present);
  insert into events.delivery as d (subscription_id, event_id, entity_id) values (present.id, gen_random_uuid(), present.id) returning d.id into made;
  perform events.enqueue(array[made]);
  return made;
end
$$;
comment on function events.send_test(uuid) is
  'Sends a test to a subscriber: an event of the topic webhook_subscription.test. Answers the delivery. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';

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
  update events.delivery d set state = 'pending', next_attempt_at = null, delivered_at = null where d.id = delivery_id and d.state <> 'pending';
  if found then
    perform events.enqueue(array[delivery_id]);
  else
    update events.lane l set next_attempt_at = clock_timestamp(), attempts = 0
    where l.subscription_id = present.subscription_id and l.entity_id = present.entity_id;
  end if;
  return present.subscription_id;
end
$$;
comment on function events.send_again(uuid) is
  'Delivers something again, whatever became of it, or at once what was to be tried later. Answers the subscription. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';

select api_meta.give('events.send_test(uuid)', 'service_writer');
select api_meta.give('events.send_again(uuid)', 'service_writer');
grant execute on function events.send_test(uuid), events.send_again(uuid) to service_registrar;

create or replace function events.test_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.lock_subscription(subscription_id);
  return events.send_test(subscription_id);
end
$$;
comment on function events.test_webhook_subscription(uuid) is 'Sends a test to a subscriber, as events.send_test, for a client. Answers the delivery.';

create or replace function events.retry_delivery(delivery_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  subscription constant uuid := (select d.subscription_id from events.delivery d where d.id = delivery_id);
begin
  if subscription is not null then
    perform events.lock_subscription(subscription);
  end if;
  perform events.send_again(delivery_id);
  return delivery_id;
end
$$;
comment on function events.retry_delivery(uuid) is 'Delivers something again, as events.send_again, for a client. Answers its id.';

create or replace function events.replay_deliveries(subscription_id uuid, from_sequence numeric, to_sequence numeric,
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
    perform mutation.refuse('INVALID', 'Say where to end by a sequence or by a time, not both.', '{to_sequence}');
  end if;
  wanted := array(
    select e.sequence from events.event e left join events.delivery d on d.sequence = e.sequence and d.subscription_id = present.id
    where e.topic = present.topic and events.concerns(present.fields, e.changed_fields)
      and (from_sequence is null or e.sequence >= ceil(least(greatest(from_sequence, 0), 9e18))::bigint)
      and (to_sequence is null or e.sequence <= floor(least(greatest(to_sequence, 0), 9e18))::bigint)
      and (from_time is null or e.occurred_at >= from_time) and (to_time is null or e.occurred_at <= to_time)
      and (d.id is null or d.state <> 'pending' and not (d.state = 'delivered' and coalesce(only_undelivered, false)))
    order by e.sequence limit most + 1);
  if cardinality(wanted) > most then
    perform mutation.refuse('OUT_OF_RANGE', format('These are more than %s events. Take a part at a time.', most),
      array[case when to_time is null then 'to_sequence' else 'to_time' end], jsonb_build_object('maximum', most, 'lastSequence', wanted[most]));
  end if;
  with again as (
    update events.delivery d set state = 'pending', next_attempt_at = null, delivered_at = null
    where d.subscription_id = present.id and d.sequence = any (wanted) returning d.id, d.sequence
  ), missed as (
    -- What happened before it was there, while it was disabled, or did not concern it then
    insert into events.delivery as n (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select present.id, e.sequence, e.id, e.entity_id, coalesce(lag(e.sequence) over (order by e.sequence),
      (select max(p.sequence) from events.delivery p where p.subscription_id = present.id and p.sequence < e.sequence))
    from events.event e
    where e.sequence = any (wanted) and not exists (select from events.delivery d where d.subscription_id = present.id and d.sequence = e.sequence)
    order by e.sequence
    returning n.id
  )
  select array(select id from again union all select id from missed) into queued;
  perform events.enqueue(queued);
  update events.webhook_subscription s set last_sequence = greatest(s.last_sequence, wanted[cardinality(wanted)])
  where s.id = present.id and cardinality(wanted) > 0;
  return cardinality(queued);
end
$$;
comment on function events.replay_deliveries(uuid, numeric, numeric, timestamptz, timestamptz, boolean) is
  'Delivers the events of a part of the log again, or for the first time, that concern a subscription. What waits anyway stays as it is. Answers how many.';
--! EndIncluded functions/events/webhook_delivery.sql
grant execute on function events.locked_subscription(uuid) to service_writer;

select api_meta.allow('service_registrar', 'events.webhook_subscription', 'select');
select api_meta.allow('service_registrar', 'events.delivery', 'select');
select api_meta.allow('service_registrar', 'events.delivery_attempt', 'select');
select api_meta.allow('service_registrar', 'events.event', 'select');
select api_meta.allow('service_registrar', 'events.lane', 'select (subscription_id, due_at)');
grant select on events.message to service_registrar;

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
    -- Suspended ones are only probed; without a backlog there is nothing to try
    case when s.enabled and s.backlog_count > 0 then greatest(s.next_probe_at::timestamptz, (
      select min(l.due_at)::timestamptz from events.lane l where l.subscription_id = s.id and l.due_at < 'infinity')) end,
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
select api_meta.give('administration.test_webhook(uuid)', 'service_registrar');
select api_meta.give('administration.retry_webhook_delivery(uuid)', 'service_registrar');
grant execute on function administration.set_webhook_enabled(uuid, boolean), administration.test_webhook(uuid),
  administration.retry_webhook_delivery(uuid) to service_administration;
--! EndIncluded functions/administration/change_webhooks.sql

--! Previous: sha1:69a469630db9b896d203815a7d762cb2b4542c3c
--! Hash: sha1:28cde0380ca32067c284f63b4ede6c669039fbb8
--! Message: delivery

--! split: 1-current.sql
-- Enter migration here

--! split: 0310-delivery.sql
-- Sending events: lanes that are claimed, and what came of it
create index if not exists lane_due_of_subscription_idx on events.lane (subscription_id, due_at);
create index if not exists lane_claimed_by_idx on events.lane (claimed_by) where claimed_by is not null;
drop function if exists events.record_attempts(jsonb, jsonb, interval);
drop function if exists events.claim_lanes(text, integer, integer, jsonb, interval);
drop view if exists events.lane_head;
drop view if exists events.message;
drop function if exists events.message_body(uuid);
--! Included views/message.sql
create or replace view events.message with (security_invoker = true) as
select d.id as delivery_id, d.subscription_id, coalesce(e.topic, 'webhook_subscription.test') as topic, jsonb_build_object(
  'type', coalesce(e.topic, 'webhook_subscription.test'),
  'timestamp', to_char(coalesce(e.occurred_at, d.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
  'sequence', d.sequence,
  'previousSequence', d.previous_sequence,
  'apiVersion', s.api_version,
  'changedFields', e.changed_fields,
  'cause', coalesce(e.cause, jsonb_build_object('credentialId', null, 'requestId', null, 'idempotencyKey', null)),
  'data', coalesce(e.data, jsonb_build_object(
    'id', 'gid://service/WebhookSubscription/' || s.id,
    'topic', s.topic,
    'apiVersion', s.api_version,
    'createdAt', to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')))) as body
from events.delivery d join events.webhook_subscription s on s.id = d.subscription_id
left join events.event e on e.sequence = d.sequence;
comment on view events.message is
  'What each delivery sends, unless a payload query is asked for the data. events.schema describes it. A test, which is no event of the log, tells of the subscription itself.';
grant select on events.message to service_delivery;
--! EndIncluded views/message.sql
--! Included functions/events/message_body.sql
create or replace function events.message_body(delivery_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select m.body from events.message m where m.delivery_id = message_body.delivery_id;
end;
comment on function events.message_body(uuid) is 'The body that a delivery sends, unless a payload query is asked for the data. events.schema describes it.';
grant execute on function events.message_body(uuid) to service_delivery;
--! EndIncluded functions/events/message_body.sql
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
  ) as secrets
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
  'The delivery that is the turn of each lane, with all that sending it needs. withheld says why it must not be sent; null when it may.';
grant select on events.lane_head to service_delivery;
--! EndIncluded views/lane_head.sql
--! Included functions/events/claim_lanes.sql
create or replace function events.claim_lanes(claim text, wanted integer, share integer, busy jsonb, lease interval) returns setof events.lane_head
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
begin
  with ready as (
    select s.id, case when s.next_probe_at is null then now else 'infinity' end as due_by,
      case when s.health = 'HEALTHY' then share else 1 end - coalesce((busy ->> s.id::text)::integer, 0) as room
    from events.webhook_subscription s
    where s.enabled and (s.next_probe_at is null or s.next_probe_at <= now and not exists (
      select from events.lane l where l.subscription_id = s.id and l.claimed_by is not null and l.claimed_until > now))
  ), found as (
    select l.subscription_id, l.entity_id, l.due_at, row_number() over (partition by l.subscription_id order by l.due_at) as turn
    from ready r
    cross join lateral (
      select l.subscription_id, l.entity_id, l.due_at from events.lane l
      where l.subscription_id = r.id and l.due_at <= r.due_by and (l.claimed_until is null or l.claimed_until <= now)
      order by l.due_at limit greatest(least(r.room, wanted), 0)
      for no key update skip locked
    ) l
  ), chosen as (
    -- In turns, so that one subscription with much to send leaves room for the others
    select f.subscription_id, f.entity_id from found f order by f.turn, f.due_at limit wanted
  )
  update events.lane l set claimed_until = now + lease, claimed_by = claim
  from chosen c where l.subscription_id = c.subscription_id and l.entity_id = c.entity_id;
  return query select h.* from events.lane_head h where h.claim = claim_lanes.claim;
end
$$;
comment on function events.claim_lanes(text, integer, integer, jsonb, interval) is
  'Takes lanes that are due for as long as the lease, and answers their first deliveries. With those that the process is busy with, which it counts by subscription, at most a share is of one subscription, and a single one of a subscription that is not healthy. One that is suspended is only probed now and then, by one process, with whichever lane has waited longest.';
grant execute on function events.claim_lanes(text, integer, integer, jsonb, interval) to service_delivery;
--! EndIncluded functions/events/claim_lanes.sql
--! Included functions/events/record_attempts.sql
create or replace function events.record_attempts(results jsonb, states jsonb, lease interval) returns setof events.lane_head
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
begin
  with result as (
    select * from jsonb_to_recordset(results)
      as r (delivery uuid, subscription uuid, entity uuid, claim text, state text, tried boolean, counted boolean, delay bigint, go_on boolean, attempt jsonb)
  ), told as (
    update events.delivery d set state = r.state, attempts = d.attempts + r.tried::integer,
      next_attempt_at = case when r.state = 'pending' then now + r.delay * interval '1 ms' end,
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
        when r.go_on and s.enabled then now + lease end,
      claimed_by = case
        when l.claimed_by is distinct from r.claim then l.claimed_by
        when r.go_on and s.enabled then r.claim end
    from result r join events.webhook_subscription s on s.id = r.subscription
    left join told t on t.id = r.delivery
    where l.subscription_id = r.subscription and l.entity_id = r.entity
  )
  update events.webhook_subscription s set
    health = n.health, health_reason = n.reason, consecutive_failures = n.failures, failing_since = n.failing_since,
    next_probe_at = now + n.probe_after * interval '1 ms',
    enabled = s.enabled and n.health <> 'DISABLED',
    disabled_at = case when n.health = 'DISABLED' then coalesce(s.disabled_at, now) else s.disabled_at end,
    backlog_count = greatest(s.backlog_count - d.done, 0),
    last_delivered_at = case when d.delivered > 0 then now else s.last_delivered_at end
  from jsonb_to_recordset(states)
    as n (id uuid, health text, reason text, failures integer, failing_since timestamptz, probe_after bigint, hurry boolean)
  cross join lateral (
    select count(*) filter (where t.state <> 'pending') as done, count(*) filter (where t.state = 'delivered') as delivered
    from told t where t.subscription_id = n.id
  ) d
  where s.id = n.id;

  delete from events.lane l using jsonb_to_recordset(results) as r (subscription uuid, entity uuid)
  where l.subscription_id = r.subscription and l.entity_id = r.entity and l.pending = 0;

  update events.lane l set next_attempt_at = case when n.hurry then now else 'infinity' end
  from jsonb_to_recordset(states) as n (id uuid, health text, hurry boolean)
  where l.subscription_id = n.id and (n.hurry and l.next_attempt_at > now or n.health = 'DISABLED');

  return query
    select h.* from jsonb_to_recordset(results) as r (subscription uuid, entity uuid, claim text, go_on boolean)
    join events.lane_head h on h.subscription_id = r.subscription and h.entity_id = r.entity and h.claim = r.claim
    where r.go_on;
end
$$;
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Notes what came of deliveries, one of each lane at most, and how their subscriptions are doing by now; the caller holds the locks of these. Lanes that go on stay claimed for another lease, and it answers their next deliveries. What a claim that was lost says about a delivery still counts, for the receiver has it; about the lane it says nothing any more.';
grant execute on function events.record_attempts(jsonb, jsonb, interval) to service_delivery;
--! EndIncluded functions/events/record_attempts.sql

-- Deleting what is old is a job of background work
grant usage on schema events to service_worker;
grant execute on function events.prune(integer) to service_worker;

--! Previous: sha1:aa88c60f694494853668a748ccda557f4217c9a7
--! Hash: sha1:1fc2493cb08aed8b61a95593059dee92a116b093
--! Message: names

--! split: 10-names.sql
-- events.lane becomes events.delivery_queue, and events.lane_head events.next_delivery. Rows and rights stay;
-- after the first run there is nothing left to rename.
do $$
declare
  part record;
begin
  if to_regclass('events.lane') is null then
    return;
  end if;
  alter table events.lane rename to delivery_queue;
  for part in
    select conname as name from pg_constraint where conrelid = 'events.delivery_queue'::regclass
  loop
    execute format('alter table events.delivery_queue rename constraint %I to %I',
      part.name, regexp_replace(part.name, '^lane_', 'delivery_queue_'));
  end loop;
  for part in
    select polname as name from pg_policy where polrelid = 'events.delivery_queue'::regclass
  loop
    execute format('alter policy %I on events.delivery_queue rename to %I',
      part.name, regexp_replace(part.name, '^lane_', 'delivery_queue_'));
  end loop;
  alter index events.lane_claimed_by_idx rename to delivery_queue_claimed_by_idx;
  alter index events.lane_due_of_subscription_idx rename to delivery_queue_due_of_subscription_idx;
  alter view events.lane_head rename to next_delivery;
  drop function events.claim_lanes(text, integer, integer, jsonb, interval, jsonb, integer);
  drop function events.next_heads(jsonb);
  drop function events.settle_lanes(jsonb, jsonb, timestamptz);
end
$$;
comment on table events.delivery_queue is
  'What is delivered one after the other: the pending deliveries of one entity to one subscription. A '
  'queue whose first delivery fails holds up only itself. There is a queue as long as something is '
  'pending in it.';

comment on column auth.plan.limits is
  'Limits that differ from the settings of the service while the plan is current, by the names that '
  'src/graphql/limits.ts gives them, for example {"cost": 4000}.';

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
--! Included events/enqueue.sql
create or replace function events.enqueue(delivery_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s set backlog_count = s.backlog_count + d.count
  from (
    select d.subscription_id, count(*) as count
    from events.delivery d
    where d.id = any (delivery_ids)
    group by d.subscription_id
  ) d
  where s.id = d.subscription_id;
  insert into events.delivery_queue (subscription_id, entity_id, pending)
  select d.subscription_id, d.entity_id, count(*) from events.delivery d where d.id = any (delivery_ids)
  group by d.subscription_id, d.entity_id order by d.subscription_id, d.entity_id
  on conflict (subscription_id, entity_id) do update
  set pending = delivery_queue.pending + excluded.pending,
    next_attempt_at = excluded.next_attempt_at, attempts = 0;
end
$$;
comment on function events.enqueue(uuid[]) is
  'Puts deliveries that have just become pending into their queues, which are tried at once. The caller '
  'has locked the subscriptions.';
grant execute on function events.enqueue(uuid[]) to service_writer;
--! EndIncluded events/enqueue.sql
--! Included events/cancel_deliveries.sql
create or replace function events.cancel_deliveries(delivery_ids uuid[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled integer;
begin
  perform from events.webhook_subscription s
  where s.id in (select d.subscription_id from events.delivery d where d.id = any (delivery_ids))
  order by s.id for no key update;
  with ended as (
    update events.delivery d set state = 'cancelled', next_attempt_at = null
    where d.id = any (delivery_ids) and d.state = 'pending' returning d.subscription_id, d.entity_id
  ), noted as (
    update events.webhook_subscription s set backlog_count = greatest(s.backlog_count - e.count, 0)
    from (select ended.subscription_id, count(*) as count from ended group by ended.subscription_id) e
    where s.id = e.subscription_id
  ), shortened as (
    update events.delivery_queue q set pending = q.pending - e.count
    from (
      select ended.subscription_id, ended.entity_id, count(*) as count
      from ended
      group by ended.subscription_id, ended.entity_id
    ) e
    where q.subscription_id = e.subscription_id and q.entity_id = e.entity_id
  )
  select count(*) into cancelled from ended;
  delete from events.delivery_queue q using events.delivery d
  where d.id = any (delivery_ids) and q.subscription_id = d.subscription_id and q.entity_id = d.entity_id
    and q.pending = 0;
  return cancelled;
end
$$;
comment on function events.cancel_deliveries(uuid[]) is
  'Takes pending deliveries out of their queues: they are not sent any more. Answers how many.';
grant execute on function events.cancel_deliveries(uuid[]) to service_recorder;
--! EndIncluded events/cancel_deliveries.sql
--! Included events/stop_subscription.sql
create or replace function events.stop_subscription(subscription_id uuid, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s
  set enabled = false, health = 'DISABLED', health_reason = reason, disabled_at = now()
  where s.id = subscription_id;
  update events.delivery_queue q
  set next_attempt_at = 'infinity'
  where q.subscription_id = stop_subscription.subscription_id;
end
$$;
comment on function events.stop_subscription(uuid, text) is
  'Stops a subscription. What waits to be delivered waits until it is enabled again; what happens in '
  'between is not meant for it.';
select api_meta.give('events.stop_subscription(uuid, text)', 'service_writer');
grant execute on function events.stop_subscription(uuid, text) to service_registrar;
--! EndIncluded events/stop_subscription.sql
--! Included events/resume_subscription.sql
create or replace function events.resume_subscription(subscription_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.locked_subscription(subscription_id);
begin
  perform events.require_settings(present);
  update events.webhook_subscription s
  set enabled = true, health = 'HEALTHY', health_reason = null, failing_since = null,
    consecutive_failures = 0,
    next_probe_at = null, disabled_at = null, payload_failures = 0, paused_until = null
  where s.id = present.id;
  update events.delivery_queue q
  set next_attempt_at = clock_timestamp(), attempts = 0
  where q.subscription_id = present.id;
end
$$;
comment on function events.resume_subscription(uuid) is
  'Lets a subscription go on, on the account that it is on: what waits is delivered at once, and '
  'troubles are forgotten. User errors NOT_FOUND, INVALID, URL_FORBIDDEN.';
select api_meta.give('events.resume_subscription(uuid)', 'service_writer');
grant execute on function events.resume_subscription(uuid) to service_registrar;
--! EndIncluded events/resume_subscription.sql
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

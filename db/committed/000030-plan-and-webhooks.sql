--! Previous: sha1:7c67829cddfc143d53a9ac6157ac55461cea5667
--! Hash: sha1:ae3bbf97b047e15fc65bbb9c46f338c5cb8ae76e
--! Message: plan-and-webhooks

--! split: 1-current.sql
-- Enter migration here

--! split: 2-plan-and-webhooks.sql
-- Webhooks wait while the plan has no API
--! Included functions/auth/plan.sql
create or replace function auth.current_plan() returns table (name text, limits jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select plan.name, plan.limits from auth.plan where plan.is_current;
end;
comment on function auth.current_plan() is 'The plan that the merchant has, and the limits that come with it.';
grant execute on function auth.current_plan() to service_auth;
-- For mutation.run, the second fence
grant usage on schema auth to service_writer;
grant execute on function auth.current_plan() to service_writer;
-- For webhooks, which wait while the plan has no API
grant usage on schema auth to service_delivery;
grant execute on function auth.current_plan() to service_delivery;

create or replace function auth.set_plan(name text, limits jsonb default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select p.name, p.limits into old from auth.plan p where p.is_current for update;
  if not exists (select from auth.plan p where p.name = set_plan.name) then
    raise exception 'There is no plan %.', name using errcode = 'no_data_found';
  end if;
  update auth.plan p set is_current = false where p.is_current and p.name <> set_plan.name;
  update auth.plan p set is_current = true, limits = coalesce(set_plan.limits, p.limits) where p.name = set_plan.name;
  perform auth.note_event('plan.changed', set_plan.name, null, jsonb_build_object('old_plan', nullif(old.name, set_plan.name), 'limits', set_plan.limits));
end
$$;
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if these are named. Takes effect at once on every process. Raises no_data_found for a plan that does not exist.';
grant execute on function auth.set_plan(text, jsonb) to service_registrar;
--! EndIncluded functions/auth/plan.sql
--! Included functions/events/claim_lanes.sql
create or replace function events.claim_lanes(claim text, wanted integer, share integer, busy jsonb, lease interval) returns setof events.lane_head
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
begin
  if (select p.name from auth.current_plan() p) = 'none' then
    return;
  end if;
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
  'Takes lanes that are due for as long as the lease, and answers their first deliveries. With those that the process is busy with, which it counts by subscription, at most a share is of one subscription, and a single one of a subscription that is not healthy. One that is suspended is only probed now and then, by one process, with whichever lane has waited longest. While the plan has no API, nothing is taken.';
grant execute on function events.claim_lanes(text, integer, integer, jsonb, interval) to service_delivery;
--! EndIncluded functions/events/claim_lanes.sql
--! Included functions/events/record_attempts.sql
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
  'Notes what came of deliveries, one of each lane at most, and how their subscriptions are doing by now; the caller holds the locks of these. Lanes that go on stay claimed, unless the plan has no API any more, for another lease, and it answers their next deliveries. What a claim that was lost says about a delivery still counts, for the receiver has it; about the lane it says nothing any more.';
grant execute on function events.record_attempts(jsonb, jsonb, interval) to service_delivery;
--! EndIncluded functions/events/record_attempts.sql

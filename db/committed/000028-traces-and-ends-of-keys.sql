--! Previous: sha1:7d3a45c2d3b70bd32b08b2a48010a9c1aba6af31
--! Hash: sha1:b978da51eb7cd0d02491ab3fb5a804da38845010
--! Message: traces-and-ends-of-keys

--! split: 19-7-traces.sql
alter table events.event add column if not exists traceparent text;
comment on column events.event.traceparent is
  'The trace of the request that has caused it, for the webhooks that tell of it; null when it was not '
  'traced.';
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause(credential_id text, request_id text, idempotency_key text)
returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId', 'gid://service/Credential/' || nullif(credential_id, ''),
  'requestId', nullif(request_id, ''),
  'idempotencyKey', nullif(idempotency_key, ''));
comment on function events.cause(text, text, text) is
  'What an event goes back to: the credential, the request and the idempotency key of a mutation.';
grant execute on function events.cause(text, text, text)
  to service_recorder, service_booker, service_writer;

create or replace function events.traced(cause jsonb, traceparent text) returns jsonb
language sql immutable
return case when nullif(traceparent, '') is null then cause
  else cause || pg_catalog.jsonb_build_object('traceparent', traceparent) end;
comment on function events.traced(jsonb, text) is
  'A cause with the trace of its request, in the form of W3C. The sequencer keeps it apart from the cause, '
  'which clients see.';
grant execute on function events.traced(jsonb, text)
  to service_recorder, service_booker, service_writer;

create or replace function events.cause() returns jsonb
language sql stable
return events.traced(events.cause(
    pg_catalog.current_setting('service.credential_id', true),
    pg_catalog.current_setting('service.request_id', true),
    pg_catalog.current_setting('service.idempotency_key', true)),
  pg_catalog.current_setting('service.traceparent', true));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs, nulls outside of one; and the trace, if the request has one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
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
      sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at, traceparent
    )
    select n.sequence, events.event_id(n.sequence), n.topic, n.subject_id, n.entity_id, n.data,
      n.changed_fields, n.cause - 'traceparent', n.occurred_at, n.cause ->> 'traceparent'
    from numbered n order by n.sequence
    returning sequence, topic, subject_id
  )
  select count(*),
    array_agg(l.subject_id order by l.sequence) filter (where l.topic = 'stock_movement.created')
  into moved, movements from logged l;
  if moved > 0 then
    update events.log_head h set last_sequence = head + moved;
    perform events.fan_out(head, head + moved);
    perform events.announce_growth();
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
  'too. Whoever listens on the channel service_events is told. One process at a time: answers null when '
  'another one is at it, else how many events it moved.';
select api_meta.give('events.sequence_events(integer)', 'service_recorder');
grant execute on function events.sequence_events(integer) to service_delivery;
--! EndIncluded events/sequence_events.sql
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
  k.ids as secret_ids,
  (select e.traceparent from events.event e where e.sequence = d.sequence) as traceparent
from events.delivery_queue q
join events.webhook_subscription s on s.id = q.subscription_id
cross join lateral (
  select d.id, d.event_id, d.sequence
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
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (c.ordinality, o.operation, o.input_type, c.input, c.key,
      coalesce(c.credential_id, '00000000-0000-0000-0000-000000000000'),
      events.traced(events.cause(c.credential_id::text, c.request_id, c.key), c.traceparent),
      coalesce(o.scopes && string_to_array(c.scopes, ' ')
        and jsonb_array_length(c.input -> 'lines') = 1
        -- What isn't known here, or is seldom said, mutation.run sees to
        and jsonb_strip_nulls(c.input) - '{lines,comment}'::text[] = '{}'
        and jsonb_strip_nulls(l.line) - '{product_id,place,delta}'::text[] = '{}'
        and jsonb_strip_nulls(l.place) - '{warehouse_id,bin_location_id}'::text[] = '{}'
        and num_nonnulls(l.place ->> 'warehouse_id', l.place ->> 'bin_location_id') = 1
        and abs((l.line ->> 'delta')::bigint) between 1 and 1000000
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text, traceparent text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    cross join lateral (select c.input #> '{lines,0}', c.input #> '{lines,0,place}') l (line, place)
    where c.operation = 'stock_adjust' order by c.ordinality
  );
end
$$;
comment on function mutation.joint_calls(jsonb) is
  'Of the calls that mutation.run_together is given, those of stock_adjust; they fit when they have one line '
  'that says what is usual, and come from callers that have the scope.';
grant execute on function mutation.joint_calls(jsonb) to service_writer;
--! EndIncluded mutation/joint_calls.sql
--! Included events/backlog.sql
create or replace function events.backlog() returns table (
  outbox integer, outbox_seconds double precision, deliveries integer, delivery_seconds double precision,
  subscriptions jsonb
)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  with subscription as (
    select s.enabled, s.health, s.backlog_count,
      case when s.enabled and s.health = 'HEALTHY' and s.paused_until is null then (
        select min(q.due_at) from events.delivery_queue q where q.subscription_id = s.id) end as due_at
    from events.webhook_subscription s
  )
  select (select count(*) from (select from events.outbox limit 10001) few)::integer,
    coalesce(extract(epoch from clock_timestamp() - (
      select o.occurred_at from events.outbox o order by o.position limit 1)), 0),
    coalesce(sum(s.backlog_count) filter (where s.enabled), 0)::integer,
    coalesce(greatest(extract(epoch from clock_timestamp() - min(s.due_at)), 0), 0),
    coalesce((
      select jsonb_object_agg(h.health, h.count)
      from (
        select case when s.enabled then s.health else 'DISABLED' end as health, count(*) as count
        from subscription s group by 1
      ) h
    ), '{}')
  from subscription s;
end;
comment on function events.backlog() is
  'What waits: changes that are to become events, and messages of webhooks; for how long the oldest; and how '
  'many subscriptions are of which health. Of the outbox it counts no more than 10,001, so that it stays '
  'cheap however much waits.';
select api_meta.give('events.backlog()', 'service_recorder');
grant execute on function events.backlog() to service_delivery;
--! EndIncluded events/backlog.sql

--! split: 90-hourkey.sql
-- A credential may have an end of its own
alter table auth.credential add column if not exists expires_at timestamptz(0);
comment on column auth.credential.expires_at is
  'When it and its tokens end; null when it has no end.';
drop index if exists auth.credential_expires_at_idx;
-- waive index-blocks-writes: some hundred rows
create index credential_expires_at_idx on auth.credential (expires_at) where expires_at is not null;
comment on index auth.credential_expires_at_idx is 'For auth.prune_credentials.';
select api_meta.allow('service_registrar', 'auth.credential', 'update (expires_at)');
drop trigger if exists credential_announces_changes on auth.credential;
create trigger credential_announces_changes
  after update of scopes, deactivated_at, stored_operations_only, expires_at or delete or truncate
  on auth.credential for each statement execute function auth.announce_credential_change();

--! Included auth/credential_overview.sql
create or replace view auth.credential_overview with (security_invoker) as
select
  credential.id,
  credential.name,
  array(
    select secret.access_key from auth.credential_secret as secret
    where secret.credential_id = credential.id and (secret.expires_at is null or secret.expires_at > now())
    order by secret.expires_at desc nulls first, secret.access_key
  ) as access_keys,
  credential.scopes,
  credential.deactivated_at is null and (credential.expires_at is null or credential.expires_at > now())
    as active,
  credential.created_at,
  credential.last_used_at,
  credential.rotated_at,
  credential.deactivated_at,
  (select max(secret.expires_at) from auth.credential_secret as secret
    where secret.credential_id = credential.id and secret.expires_at > now()) as old_key_ends_at,
  credential.stored_operations_only,
  credential.expires_at
from auth.credential;
comment on view auth.credential_overview is
  'Credentials as an administrator sees them: everything but the secrets. The newest key comes first; '
  'those before it end.';
grant select on auth.credential_overview to service_registrar;
--! EndIncluded auth/credential_overview.sql
--! Included auth/active_scopes.sql
create or replace function auth.active_scopes(access_key text)
returns table (scopes text[], remaining interval, stored_operations_only boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select credential.scopes, least(secret.expires_at, credential.expires_at) - now(),
    credential.stored_operations_only
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = active_scopes.access_key and credential.deactivated_at is null
    and (secret.expires_at is null or secret.expires_at > now())
    and (credential.expires_at is null or credential.expires_at > now());
end;
comment on function auth.active_scopes(text) is
  'Scopes that tokens of this access key may have now, for how long the key goes on, or null when it has '
  'no end, and whether they may send stored operations only. No row when it is gone or its credential has '
  'ended or is deactivated.';
grant execute on function auth.active_scopes(text) to service_auth;
--! EndIncluded auth/active_scopes.sql
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
  where secret.access_key = presented_key and (secret.expires_at is null or secret.expires_at > now())
    and (credential.expires_at is null or credential.expires_at > now());

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
--! Included auth/activate_credential.sql
create or replace function auth.activate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.deactivated_at, credential.expires_at
  into old
  from auth.credential
  where credential.id = activate_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      activate_credential.credential_id using errcode = 'no_data_found';
  elsif old.expires_at <= now() then
    raise exception 'The credential % has ended.',
      activate_credential.credential_id using errcode = 'no_data_found';
  elsif old.deactivated_at is not null then
    update auth.credential set deactivated_at = null where credential.id = activate_credential.credential_id;
    perform auth.note_event('credential.activated', old.name, activate_credential.credential_id);
  end if;
end
$$;
comment on function auth.activate_credential(uuid) is
  'Lets a deactivated credential work again, with the same key and secret. On an active one it changes '
  'nothing; one that has ended stays so.';
grant execute on function auth.activate_credential(uuid) to service_registrar;
--! EndIncluded auth/activate_credential.sql
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
    and (expires_at is null or expires_at > now())
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
--! Included auth/limit_credential.sql
create or replace function auth.limit_credential(credential_id uuid, lasts interval) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ends_at constant timestamptz := date_trunc('second', now() + lasts);
  credential_name text;
begin
  if lasts <= interval '0' then
    raise exception 'A credential lasts longer than nothing.' using errcode = 'invalid_parameter_value';
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
  'Lets a credential last for a while from now on, whatever its end was. Then it is refused, as all of its '
  'keys and tokens are; rotating it moves no end.';
grant execute on function auth.limit_credential(uuid, interval) to service_registrar;
--! EndIncluded auth/limit_credential.sql
--! Included auth/prune_credentials.sql
create or replace function auth.prune_credentials(batch integer default 100) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  ended constant uuid[] := array(
    select c.id from auth.credential c
    where c.expires_at < now() - auth.use_lifetime()
      and not exists (select from events.webhook_subscription s where s.credential_id = c.id)
    order by c.expires_at limit batch for update skip locked);
begin
  -- Deleting nothing would be announced too
  if ended <> '{}' then
    delete from auth.credential c where c.id = any (ended);
  end if;
  return cardinality(ended);
end
$$;
comment on function auth.prune_credentials(integer) is
  'Deletes credentials that ended longer ago than auth.use_lifetime(), with what is left of the counts of '
  'their use, at most as many as the batch; those that a webhook subscription names stay. Answers how many: '
  'to be called again until that is 0.';
select api_meta.give('auth.prune_credentials(integer)', 'service_registrar');
grant execute on function auth.prune_credentials(integer) to service_worker;
--! EndIncluded auth/prune_credentials.sql
--! Included administration/limit_credential.sql
create or replace function administration.limit_credential(id uuid, lasts interval) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.limit_credential(limit_credential.id, limit_credential.lasts);
end
$$;
comment on function administration.limit_credential(uuid, interval) is
  'Gives a credential an end, as auth.limit_credential.';
select api_meta.give('administration.limit_credential(uuid, interval)', 'service_registrar');
grant execute on function administration.limit_credential(uuid, interval) to service_administration;
--! EndIncluded administration/limit_credential.sql
--! Included bulk/scopes_of.sql
create or replace function bulk.scopes_of(operation_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select unnest(o.scopes) intersect select unnest(c.scopes))
  from bulk.operation o join auth.credential c on c.id = o.credential_id and c.deactivated_at is null
    and (c.expires_at is null or c.expires_at > now())
  where o.id = scopes_of.operation_id;
end;
comment on function bulk.scopes_of(uuid) is
  'The rights of a bulk operation now: the scopes of the token that asked for it which its credential still '
  'has. Null when the credential is gone, has ended or is deactivated.';
grant execute on function bulk.scopes_of(uuid) to service_writer;
--! EndIncluded bulk/scopes_of.sql
--! Included events/scopes_of_subscription.sql
create or replace function events.scopes_of_subscription(subscription_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select case when s.credential_id is null then array(select auth.known_scopes()) else c.scopes end
  from events.webhook_subscription s join events.topic t on t.name = s.topic
  left join auth.credential c on c.id = s.credential_id and c.deactivated_at is null
    and (c.expires_at is null or c.expires_at > now())
  where s.id = scopes_of_subscription.subscription_id
    and (s.credential_id is null or t.scope = any (c.scopes));
end;
comment on function events.scopes_of_subscription(uuid) is
  'What may be sent to a subscriber, to be asked at every attempt: the scopes that the credential '
  'behind the subscription has now; all of them where an administrator made it. Null when the '
  'credential is gone or deactivated, has ended or lost the scope of the topic: then nothing may be sent.';
grant execute on function events.scopes_of_subscription(uuid) to service_delivery;
--! EndIncluded events/scopes_of_subscription.sql

-- Those for the explorer had a second key, without an end, whose secret nobody has
update auth.credential set expires_at = rotated_at + interval '1 hour'
where expires_at is null and name like 'Explorer of %' and uuid_extract_version(id) = 8;

--! Previous: sha1:2247f4f93467accc18de5c6b156a18cfc45db36d
--! Hash: sha1:c59026c8859d17aa245b14b8b0b170b98c3eaca7
--! Message: events

-- Events: what may happen (subject, field, topic, occasion), what has (outbox, event), and who is told
-- (subscription, delivery, queue, attempt).

create table events.subject (
  type text primary key constraint subject_type_is_a_type_name check (type ~ '^[A-Z][A-Za-z]*$'),
  relation regclass not null unique,
  view_name text not null,
  entity_column text not null default 'id'
);
alter table events.subject enable row level security;
comment on table events.subject is
  'What events are about: types of the API. db/fixtures/events/topics.sql declares them.';
comment on column events.subject.relation is 'Table whose changes are events.';
comment on column events.subject.view_name is
  'View of the type in the head of the API. Its scope opens the events.';
comment on column events.subject.entity_column is 'Column with the id that events are kept in order by.';

create table events.field (
  subject_type text not null references events.subject on delete cascade,
  name text not null constraint field_name_is_camel_case check (name ~ '^[a-z][A-Za-z]*$'),
  position integer not null,
  column_name text not null,
  id_of text,
  primary key (subject_type, name)
);
alter table events.field enable row level security;
comment on table events.field is 'What the data of an event says about its subject.';
comment on column events.field.name is 'Name, as in the API.';
comment on column events.field.column_name is
  'The column, or those of an id that is made of several, with commas between them.';
comment on column events.field.id_of is 'Type of what a column with an id points to.';
select api_meta.allow('service_writer', 'events.field', 'select');

create table events.topic (
  name text collate "C" primary key constraint topic_name_has_a_resource check (name ~ '^[a-z_]+\.[a-z_]+$'),
  subject_type text not null references events.subject on delete cascade,
  scope text not null,
  fields text[],
  description text not null,
  subscribable boolean not null default true
);
create index topic_subject_type_idx on events.topic (subject_type);
alter table events.topic enable row level security;
comment on table events.topic is 'What may happen, and which scope lets one know of it.';
comment on column events.topic.scope is 'Scope that reads the subject: that of its view.';
comment on column events.topic.fields is 'Fields that the data has; null for all fields of the subject.';
comment on column events.topic.subscribable is
  'Whether a webhook can be subscribed to it. Only the topic of tests cannot.';
select api_meta.allow('service_delivery', 'events.topic', 'select');
select api_meta.allow('service_writer', 'events.topic', 'select');

create table events.occasion (
  topic text collate "C" not null references events.topic on delete cascade,
  operation text not null
    constraint occasion_operation_is_known check (operation in ('insert', 'update', 'delete')),
  columns text[],
  condition text,
  primary key (topic, operation)
);
alter table events.occasion enable row level security;
comment on table events.occasion is
  'Which changes of its subject make a topic happen. events.derive_announcements makes triggers of it.';
comment on column events.occasion.columns is
  'Columns of which one must have changed; null for any that the data shows.';
comment on column events.occasion.condition is
  'Condition in SQL on the row as it is, n, and, for an update, as it was, o; null for none.';
select api_meta.allow('service_writer', 'events.occasion', 'select');

create table events.outbox (
  position bigint generated always as identity primary key,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  occurred_at timestamptz(3) not null default clock_timestamp()
);
alter table events.outbox enable row level security;
comment on table events.outbox is
  'What has happened, written in the transaction in which it did. The sequencer takes it from here into '
  'the log; nothing stays. No keys and indexes but one: each would make every booking slower.';
comment on column events.outbox."position" is
  'Taken while the entity is locked: of two events of one entity, the earlier one has the lower position.';
comment on column events.outbox.entity_id is
  'What events are kept in order by: the subject itself, or the product of stock. Of a key that is no uuid, '
  'what events.key_uuid makes of it.';
comment on column events.outbox.data is 'The subject as it was then, in the names and ids of the API.';
comment on column events.outbox.changed_fields is
  'Which fields of the data an update changed; null for what is no update.';
comment on column events.outbox.cause is 'Which request of which credential it was.';
select api_meta.allow('service_booker', 'events.outbox', 'insert');
select api_meta.allow('service_recorder', 'events.outbox', 'select', 'insert', 'delete');

-- It is always nearly empty, however much passes through
alter table events.outbox set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000
);

create table events.event (
  sequence bigint primary key,
  id uuid not null constraint event_id_is_unique unique,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  traceparent text,
  occurred_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default clock_timestamp()
);
create index event_occurred_at_idx on events.event (occurred_at);
create index event_topic_idx on events.event (topic, id);
alter table events.event enable row level security;
comment on table events.event is
  'The log: everything that happened in the last 30 days, in the order in which it was committed.';
comment on column events.event.sequence is 'Number in the log, without gaps.';
comment on column events.event.id is 'Begins with the sequence, so that ids sort as the log does.';
comment on column events.event.topic is 'The topic, as resource.event.';
comment on column events.event.data is 'The subject as it was at that time.';
comment on column events.event.changed_fields is
  'Fields that the update changed; null when it was no update.';
comment on column events.event.cause is
  'The request that caused it: an object with credentialId, requestId and idempotencyKey, each null for '
  'changes by other programs.';
comment on column events.event.traceparent is
  'The trace of the request that has caused it, for the webhooks that tell of it; null when it was not '
  'traced.';
comment on column events.event.occurred_at is 'When it happened.';
select api_meta.allow('service_delivery', 'events.event', 'select');
select api_meta.allow('service_recorder', 'events.event', 'select', 'insert', 'delete');
select api_meta.allow('service_registrar', 'events.event', 'select');
select api_meta.allow('service_writer', 'events.event',
  'select (sequence, id, topic, entity_id, changed_fields, occurred_at)');

create table events.log_head (
  singleton boolean primary key default true constraint log_head_is_one_row check (singleton),
  last_sequence bigint not null default 0
);
alter table events.log_head enable row level security;
comment on table events.log_head is
  'The end of the log. Whoever has locked the one row may write to the log.';
select api_meta.allow('service_recorder', 'events.log_head', 'select', 'update (last_sequence)');

insert into events.log_head (singleton) values (true);

create table events.webhook_subscription (
  id uuid primary key default uuidv7(),
  credential_id uuid,
  topic text collate "C" not null
    constraint webhook_subscription_topic_has_a_subject check (topic ~ '^[a-z_]+\.[a-z_]+$'),
  url text not null,
  api_version text not null,
  fields text[],
  payload_query text,
  enabled boolean not null default true,
  health text not null default 'HEALTHY'
    constraint webhook_subscription_health_is_known
    check (health in ('HEALTHY', 'DEGRADED', 'SUSPENDED', 'DISABLED')),
  health_reason text,
  backlog_count integer not null default 0
    constraint webhook_subscription_backlog_is_not_negative check (backlog_count >= 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  last_sequence bigint,
  failing_since timestamptz(0),
  consecutive_failures integer not null default 0,
  last_delivered_at timestamptz(0),
  next_probe_at timestamptz(3),
  disabled_at timestamptz(0),
  payload_failures integer not null default 0,
  paused_until timestamptz(3),
  constraint webhook_subscription_topic_is_known
    foreign key (topic) references events.topic on delete restrict on update cascade,
  constraint webhook_subscription_url_is_web
    check (url ~ '^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?][^#[:space:][:cntrl:]]*)?$'),
  constraint webhook_subscription_url_is_short check (length(url) <= 2000),
  constraint webhook_subscription_payload_query_is_short check (length(payload_query) <= 10000)
);
create index webhook_subscription_credential_id_idx on events.webhook_subscription (credential_id);
create index webhook_subscription_topic_idx on events.webhook_subscription (topic);
alter table events.webhook_subscription enable row level security;
comment on table events.webhook_subscription is
  'Webhook subscriptions: a topic, and the address that its events are sent to.';
comment on column events.webhook_subscription.credential_id is
  'Credential that made or last changed it, and whose scopes decide what is sent; null when an '
  'administrator did, who may know everything.';
comment on column events.webhook_subscription.topic is
  'Event that is told, as resource.event, for example order.created.';
comment on column events.webhook_subscription.url is 'Address that events are sent to.';
comment on column events.webhook_subscription.api_version is 'API version that payloads are shaped by.';
comment on column events.webhook_subscription.fields is
  'Only changes to one of these fields are told; null for all.';
comment on column events.webhook_subscription.payload_query is
  'GraphQL document that the payload is read with; null for the usual payload.';
comment on column events.webhook_subscription.enabled is 'Whether events are sent.';
comment on column events.webhook_subscription.health is 'HEALTHY, DEGRADED, SUSPENDED or DISABLED.';
comment on column events.webhook_subscription.health_reason is 'Why the health is what it is.';
comment on column events.webhook_subscription.backlog_count is 'Events that wait to be delivered.';
comment on column events.webhook_subscription.last_sequence is
  'Sequence of the newest event for it; null when there was none yet.';
comment on column events.webhook_subscription.failing_since is
  'Time of the first failure after the last success; null after a success.';
comment on column events.webhook_subscription.consecutive_failures is
  'Attempts that failed since the last success.';
comment on column events.webhook_subscription.last_delivered_at is 'When an event was last delivered.';
comment on column events.webhook_subscription.next_probe_at is
  'Time of the next probe by a single delivery, outside of the schedule; null while it is healthy.';
comment on column events.webhook_subscription.disabled_at is
  'When it was disabled; null while it is enabled.';
comment on column events.webhook_subscription.payload_failures is
  'How many times in a row the payload query took too much.';
comment on column events.webhook_subscription.paused_until is
  'End of the pause after the payload query took too much; null without one.';
comment on constraint webhook_subscription_backlog_is_not_negative on events.webhook_subscription is
  '@internal Counted by functions.';
comment on constraint webhook_subscription_health_is_known on events.webhook_subscription is
  '@internal Set by functions.';
comment on constraint webhook_subscription_payload_query_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE payload_query\nA query has 10,000 characters at most.';
comment on constraint webhook_subscription_topic_has_a_subject on events.webhook_subscription is
  '@internal Topics are declared.';
comment on constraint webhook_subscription_url_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE url\nAn address has 2,000 characters at most.';
comment on constraint webhook_subscription_url_is_web on events.webhook_subscription is
  E'@userError INVALID url\n'
  'This is no address of the web: it begins with https:// or http://, and has no user name, fragment or '
  'spaces.';
comment on index events.webhook_subscription_credential_id_idx is
  'For the number of them that a credential may have.';
create trigger touch_updated_at before update of topic, url, api_version, fields, payload_query,
  enabled on events.webhook_subscription
  for each row
  execute function erp.touch_updated_at();
select api_meta.allow('service_delivery', 'events.webhook_subscription',
  'select', 'update (
    enabled, health, health_reason, backlog_count, failing_since, consecutive_failures,
    last_delivered_at, next_probe_at, disabled_at, payload_failures, paused_until)');
select api_meta.allow('service_recorder', 'events.webhook_subscription',
  'select', 'update (backlog_count, last_sequence)');
select api_meta.allow('service_registrar', 'events.webhook_subscription', 'select');
select api_meta.allow('service_writer', 'events.webhook_subscription',
  'select', 'insert', 'update (
    credential_id, url, api_version, fields, payload_query, enabled, health, health_reason,
    backlog_count, last_sequence, failing_since, consecutive_failures, next_probe_at, disabled_at,
    payload_failures, paused_until)',
  'delete');

create table events.webhook_secret (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  secret text not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  expires_at timestamptz(0),
  constraint webhook_secret_has_its_form
    check (secret ~ '^(whsec_[A-Za-z0-9+/]{32,}=*|sealed:v1:[0-9a-f]{16}:[A-Za-z0-9_-]+)$')
);
create unique index webhook_secret_is_one_without_end
  on events.webhook_secret (subscription_id) where expires_at is null;
create index webhook_secret_subscription_id_idx on events.webhook_secret (subscription_id, id);
alter table events.webhook_secret enable row level security;
comment on table events.webhook_secret is
  'What deliveries are signed with: the secret of each subscription, and for 24 hours the ones before. '
  'Only service_delivery reads them.';
comment on column events.webhook_secret.secret is
  'whsec_ and the key in base64, or what that is encrypted to (src/secrets).';
comment on column events.webhook_secret.expires_at is 'When it stops to sign; null for the one in use.';
comment on constraint webhook_secret_has_its_form on events.webhook_secret is
  '@internal the service makes it';
select api_meta.allow('service_delivery', 'events.webhook_secret', 'select');
select api_meta.allow('service_recorder', 'events.webhook_secret', 'select (expires_at)', 'delete');
select api_meta.allow('service_writer', 'events.webhook_secret',
  'select (subscription_id, expires_at)', 'insert (id, subscription_id, secret)', 'update (expires_at)');

create table events.delivery (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  sequence bigint references events.event on delete cascade,
  event_id uuid not null,
  entity_id uuid not null,
  previous_sequence bigint,
  state text not null default 'pending'
    constraint delivery_state_is_known check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  delivered_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint delivery_is_one_per_event_and_subscription unique (sequence, subscription_id)
);
create index delivery_pending_idx
  on events.delivery (subscription_id, entity_id, sequence nulls first, id) where state = 'pending'::text;
create index delivery_subscription_id_idx on events.delivery (subscription_id, id);
create index delivery_test_idx on events.delivery (created_at) where sequence is null;
alter table events.delivery enable row level security;
comment on table events.delivery is 'An event on its way to a subscriber. Kept as long as the event is.';
comment on column events.delivery.subscription_id is 'The subscription.';
comment on column events.delivery.sequence is
  'Number of the event in the log; null for a test, which is not in it.';
comment on column events.delivery.event_id is 'Id of the event, by which receivers recognise repetitions.';
comment on column events.delivery.entity_id is 'Deliveries of the same entity are sent in order.';
comment on column events.delivery.previous_sequence is
  'Sequence of the previous event for the subscription; null for the first one. A receiver that has not '
  'seen that event has missed something.';
comment on column events.delivery.state is 'State: pending, delivered, failed or cancelled.';
comment on column events.delivery.attempts is 'Number of attempts.';
comment on column events.delivery.next_attempt_at is 'Time of the next attempt after a failure.';
comment on column events.delivery.delivered_at is 'When the receiver accepted it.';
comment on constraint delivery_is_one_per_event_and_subscription on events.delivery is
  '@internal replay_deliveries() and send_test() leave out what is there';
comment on constraint delivery_state_is_known on events.delivery is '@internal Set by functions.';
select api_meta.allow('service_delivery', 'events.delivery',
  'select', 'update (state, attempts, next_attempt_at, delivered_at)');
select api_meta.allow('service_recorder', 'events.delivery',
  'select', 'insert', 'update (state, next_attempt_at)', 'delete');
select api_meta.allow('service_registrar', 'events.delivery', 'select');
select api_meta.allow('service_writer', 'events.delivery',
  'select', 'insert (subscription_id, sequence, event_id, entity_id, previous_sequence)',
  'update (state, next_attempt_at, delivered_at)');

create table events.delivery_queue (
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  entity_id uuid not null,
  pending integer not null constraint delivery_queue_pending_is_not_negative check (pending >= 0),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default clock_timestamp(),
  claimed_until timestamptz(3),
  claimed_by text,
  due_at timestamptz(3) not null generated always as (greatest(next_attempt_at, claimed_until)) stored,
  primary key (subscription_id, entity_id)
);
create index delivery_queue_claimed_by_idx on events.delivery_queue (claimed_by) where claimed_by is not null;
create index delivery_queue_due_of_subscription_idx on events.delivery_queue (subscription_id, due_at);
alter table events.delivery_queue enable row level security;
comment on table events.delivery_queue is
  'What is delivered one after the other: the pending deliveries of one entity to one subscription. A '
  'queue whose first delivery fails holds up only itself. There is a queue as long as something is '
  'pending in it.';
comment on column events.delivery_queue.pending is 'How many deliveries wait in it.';
comment on column events.delivery_queue.attempts is 'How often its first delivery has failed.';
comment on column events.delivery_queue.next_attempt_at is
  'When to go on; infinity while the subscription is disabled.';
comment on column events.delivery_queue.claimed_until is
  'A lease: until then nobody else takes it. Who has taken it renews it every few seconds.';
comment on column events.delivery_queue.claimed_by is 'Who took it.';
comment on column events.delivery_queue.due_at is 'From when on it may be taken: neither waiting nor leased.';
comment on constraint delivery_queue_pending_is_not_negative
  on events.delivery_queue is '@internal Counted by functions.';
comment on index events.delivery_queue_claimed_by_idx is 'For a process to renew what it has claimed.';
select api_meta.allow('service_delivery', 'events.delivery_queue',
  'select', 'update (pending, attempts, next_attempt_at, claimed_until, claimed_by)', 'delete');
select api_meta.allow('service_recorder', 'events.delivery_queue',
  'select', 'insert', 'update (pending)', 'delete');
select api_meta.allow('service_registrar', 'events.delivery_queue', 'select (subscription_id, due_at)');
select api_meta.allow('service_writer', 'events.delivery_queue',
  'select', 'insert (subscription_id, entity_id, pending)',
  'update (pending, attempts, next_attempt_at)');

create table events.delivery_attempt (
  delivery_id uuid not null references events.delivery on delete cascade,
  number integer not null constraint delivery_attempt_number_is_positive check (number > 0),
  at timestamptz(3) not null default clock_timestamp(),
  duration_ms integer,
  status integer,
  error text,
  request_headers jsonb not null default '{}',
  response_headers jsonb,
  response_body text constraint delivery_attempt_response_body_is_short check (length(response_body) <= 4096),
  primary key (delivery_id, number)
);
alter table events.delivery_attempt enable row level security;
comment on table events.delivery_attempt is 'What came of each attempt to deliver.';
comment on column events.delivery_attempt.number is 'Counts the attempts of a delivery, from 1.';
comment on column events.delivery_attempt.at is 'When the request was sent.';
comment on column events.delivery_attempt.duration_ms is 'How long it took, in milliseconds.';
comment on column events.delivery_attempt.status is 'HTTP status of the answer; null when there was none.';
comment on column events.delivery_attempt.error is 'Why it failed, in words; null when it succeeded.';
comment on column events.delivery_attempt.request_headers is 'Headers that were sent.';
comment on column events.delivery_attempt.response_headers is 'Headers of the answer.';
comment on column events.delivery_attempt.response_body is
  'Beginning of the answer, 4,096 characters at most.';
select api_meta.allow('service_delivery', 'events.delivery_attempt', 'select', 'insert');
select api_meta.allow('service_recorder', 'events.delivery_attempt', 'select', 'delete');
select api_meta.allow('service_registrar', 'events.delivery_attempt', 'select');

--! Included events/announce_growth.sql
create or replace function events.announce_growth() returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
-- Its owner may notify, whatever the fence around the other roles says
begin atomic
  select pg_notify('service_events', '');
end;
comment on function events.announce_growth() is
  'Tells those who listen on the channel service_events that the log has grown, once that is committed.';
grant execute on function events.announce_growth() to service_recorder;
--! EndIncluded events/announce_growth.sql
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format(
      -- A row as JSON takes less than jsonb_build_object, which looks up the types of names, too
      'select %s, %s, %s, to_jsonb(d), %s %s (select %s) d where %s', t.topics,
      events.uuid_expression(subject.relation, events.key_columns(subject.relation), alias),
      events.uuid_expression(subject.relation, events.entity_columns(subject), alias),
      case operation when 'update' then 'c.changed' else 'null::text[]' end,
      case source when '' then 'from' else source || ' cross join lateral' end,
      events.data_columns(subject, t.fields, alias), t.condition), ' union all ')
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
--! Included events/caller.sql
create or replace function events.caller() returns uuid
language sql stable set search_path = pg_catalog, pg_temp
return nullif(pg_catalog.current_setting('service.credential_id', true), '')::pg_catalog.uuid;
comment on function events.caller() is 'The credential of the request.';
grant execute on function events.caller() to service_writer;
--! EndIncluded events/caller.sql
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

-- Not immutable, as jsonb_build_object isn't: it could not become part of a statement then
create or replace function events.traced(cause jsonb, traceparent text) returns jsonb
language sql stable
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
--! Included events/changed_expression.sql
create or replace function events.changed_expression(subject events.subject, by_booking boolean) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('array_remove(array[%s]::text[], null)', string_agg(
    format('case when n.%1$I is distinct from o.%1$I then %2$L end', f.column_name, f.name),
    ', ' order by f.position
  ))
  from events.field f
  join pg_attribute a on a.attrelid = subject.relation and a.attname = f.column_name
  where f.subject_type = subject.type and f.column_name <> all ('{id,created_at,updated_at}')
    and (not by_booking
      or f.column_name in (
        select r.keeps from api_meta.upheld_rules(subject.relation) r where r.keeps is not null
      )
      or has_column_privilege('service_booker', subject.relation, f.column_name, 'update'));
end;
comment on function events.changed_expression(events.subject, boolean) is
  'SQL for the names of the fields that differ between the old row o of a subject and the new row n: of '
  'all, or of those that a booking may change.';
--! EndIncluded events/changed_expression.sql
--! Included events/message.sql
create or replace view events.message with (security_invoker = true) as
select d.id as delivery_id, d.subscription_id, coalesce(e.topic, 'webhook_subscription.test') as topic,
  jsonb_build_object(
  'type', coalesce(e.topic, 'webhook_subscription.test'),
  'timestamp', to_char(
    coalesce(e.occurred_at, d.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'
  ),
  'sequence', d.sequence,
  'previousSequence', d.previous_sequence,
  'apiVersion', s.api_version,
  'changedFields', e.changed_fields,
  'cause', coalesce(
    e.cause, jsonb_build_object('credentialId', null, 'requestId', null, 'idempotencyKey', null)
  ),
  'data', coalesce(e.data, jsonb_build_object(
    'id', 'gid://service/WebhookSubscription/' || s.id,
    'topic', s.topic,
    'apiVersion', s.api_version,
    'createdAt', to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')))) as body
from events.delivery d join events.webhook_subscription s on s.id = d.subscription_id
left join events.event e on e.sequence = d.sequence;
comment on view events.message is
  'What each delivery sends, unless a payload query is asked for the data. events.schema describes it. '
  'A test, which is no event of the log, tells of the subscription itself.';
grant select on events.message to service_delivery, service_registrar;
--! EndIncluded events/message.sql
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
--! Included events/concerns.sql
create or replace function events.concerns(fields text[], changed_fields text[]) returns boolean
language sql immutable parallel safe
return fields is null or changed_fields is null or fields && changed_fields;
comment on function events.concerns(text[], text[]) is
  'Whether a subscription to changes of some fields wants an event. What is no update always concerns it.';
grant execute on function events.concerns(text[], text[]) to service_recorder, service_writer;
--! EndIncluded events/concerns.sql
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
--! Included events/create_webhook_subscription.sql
create or replace function events.create_webhook_subscription(
  topic text, url text, api_version text, fields text[], payload_query text, enabled boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(select t.name from events.topic t where t.subscribable order by t.name);
  wanted events.webhook_subscription;
begin
  if topic <> all (known) then
    perform mutation.refuse('INVALID',
      format('There is no such topic. There are: %s.', array_to_string(known, ', ')),
      '{topic}', jsonb_build_object('topics', known));
  end if;
  perform events.require_scope(topic, '{topic}');
  wanted.topic := topic;
  wanted.url := url;
  wanted.api_version := api_version;
  wanted.fields := fields;
  wanted.payload_query := payload_query;
  perform events.require_settings(wanted);
  insert into events.webhook_subscription as s (credential_id, topic, url, api_version, fields, payload_query)
  values (events.caller(), wanted.topic, wanted.url, wanted.api_version, wanted.fields, wanted.payload_query)
  returning s.id
  into wanted.id;
  if not enabled then
    perform events.disable_webhook_subscription(wanted.id);
  end if;
  return wanted.id;
end
$$;
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Answers the id; a secret is yet to be made. User errors INVALID, '
  'SCOPE_MISSING, URL_FORBIDDEN.';
grant execute on function events.create_webhook_subscription(text, text, text, text[], text, boolean)
  to service_writer;
--! EndIncluded events/create_webhook_subscription.sql
--! Included events/is_exact.sql
create or replace function events.is_exact(field events.field) returns boolean
language sql stable
begin atomic
  select s.view_name <> all (string_to_array(coalesce(substring(
    obj_description(to_regnamespace('api_unstable'), 'pg_namespace') from '(?n)^@floats +(.*)$'), ''), ' '))
  from events.subject s where s.type = field.subject_type;
end;
comment on function events.is_exact(events.field) is
  'Whether bigint and numeric are texts in the view of the subject of a field, so that no digit is lost.';
--! EndIncluded events/is_exact.sql
--! Included events/data_columns.sql
create or replace function events.data_columns(subject events.subject, fields text[], alias text)
returns text
language sql stable
begin atomic
  -- In the order in which jsonb keeps names, so that it sorts nothing
  select string_agg(format('%s as %I', v.value, v.name), ', '
    order by octet_length(v.name), v.name collate "C")
  from (
    select f.name,
      case
        when f.id_of is not null then format('%L || %s', 'gid://service/' || f.id_of || '/',
          string_agg(case
            when a.atttypid in ('uuid'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype)
              then format('%I.%I', alias, a.attname)
            else format(
              $$replace(replace(to_jsonb(%I.%I) #>> '{}', '%%', '%%25'), '/', '%%2F')$$, alias, a.attname
            )
          end, $$ || '/' || $$ order by k.position))
        when bool_and(a.atttypid = 'timestamptz'::regtype) then
          format(
            $$to_char(%I.%I at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')$$, alias, f.column_name
          )
        when bool_and(a.atttypid in ('int8'::regtype, 'numeric'::regtype)) and events.is_exact(f)
          then format('%I.%I::text', alias, f.column_name)
        else format('%I.%I', alias, f.column_name)
      end as value
    from events.field f
    cross join unnest(string_to_array(f.column_name, ',')) with ordinality k (name, position)
    left join pg_attribute a on a.attrelid = subject.relation and a.attname = k.name
    where f.subject_type = subject.type and (fields is null or f.name = any (fields))
    group by f.subject_type, f.name
  ) v;
end;
comment on function events.data_columns(events.subject, text[], text) is
  'SQL for the data of an event: the fields, or all, as columns, from a row with an alias, in the spelling '
  'of the API. An id may be made of several columns, with commas between them.';
--! EndIncluded events/data_columns.sql
--! Included events/delete_webhook_subscription.sql
create or replace function events.delete_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from events.webhook_subscription s where s.id = subscription_id;
  if not found then
    perform mutation.refuse_missing('webhook subscription', '{id}');
  end if;
  return subscription_id;
end
$$;
comment on function events.delete_webhook_subscription(uuid) is
  'Deletes a subscription with its secrets and deliveries. Answers its id.';
grant execute on function events.delete_webhook_subscription(uuid) to service_writer;
--! EndIncluded events/delete_webhook_subscription.sql
--! Included events/derive_announcements.sql
create or replace function events.make_announcer(routine text, operation text, relation regclass, rows text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  signature constant text := routine || '()';
  body constant text := format($b$
begin
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.*, (select events.cause()) from (%s) e (topic, subject_id, entity_id, data, changed_fields);
  return null;
end
$b$, rows);
  -- A plan is kept for all later calls: one for a single row would be bad for a thousand
  settings constant text[] := array['search_path=pg_catalog, pg_temp'] || case operation
    when 'update' then array['enable_nestloop=off', 'enable_hashjoin=on'] end;
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(signature) and p.prosrc = body
      and p.proconfig = settings and p.prosecdef and p.proowner = 'service_recorder'::regrole
  ) then
    return;
  end if;
  execute format('create or replace function %s returns trigger language plpgsql security definer %s as %L',
    signature, (select string_agg('set ' || replace(s, '=', ' = '), ' ') from unnest(settings) s), body);
  execute format('comment on function %s is %L', signature,
    'Trigger, made by events.derive_announcements: writes the events of '
    || operation || 's of ' || relation || ' into the outbox.');
  perform api_meta.give(signature::regprocedure, 'service_recorder');
end
$$;
comment on function events.make_announcer(text, text, regclass, text) is
  'Makes the function of a trigger that writes the events of rows into the outbox, if it is not as it should '
  'be.';

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
        else format('from new_rows n join old_rows o on %s '
          'cross join lateral (select %s offset 0) c (changed)',
          (
            select string_agg(format('o.%1$I = n.%1$I', k.name), ' and ' order by k.position)
            from unnest(events.key_columns(s.relation)) with ordinality k (name, position)
          ), events.changed_expression(s, false))
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
    perform events.make_announcer(item.routine, item.operation, item.relation, item.rows);
    aside := case when item.is_booked then 'when (current_user <> ''service_booker''::text) ' else '' end;
    if not exists (
      select from pg_trigger t
      where t.tgrelid = item.relation and t.tgname = item.name
        and (t.tgqual is not null) = item.is_booked and (aside = '' or pg_get_triggerdef(t.oid) ~ '::text')
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
--! Included events/derive_booked_events.sql
create or replace function events.derive_booked_events(subject events.subject, operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  name constant text := (select relname from pg_class where oid = subject.relation);
  routine constant text := format('events.%I', name || '_' || operation || '_events');
begin
  -- In a form that becomes part of the statement that calls it
  execute format(
    'create or replace function %s(%s) returns table ('
    'topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]) '
    'language sql stable begin atomic %s; end',
    routine,
    concat_ws(', ', case when operation = 'update' then format('o %s', subject.relation) end,
      format('n %s', subject.relation)),
    coalesce(
      events.announcement(subject, operation, case
        when operation = 'update' then
          format('from (select %s offset 0) c (changed)', events.changed_expression(subject, true))
        else '' end),
      'select null::text, null::uuid, null::uuid, null::jsonb, null::text[] where false'
    )
  );
  execute format('comment on function %s is %L', routine::regproc::regprocedure,
    'Made by events.derive_announcements: the events of one of the ' || operation || 's of '
    || subject.relation || ' that a booking does.');
  execute format('grant execute on function %s to service_booker', routine::regproc::regprocedure);
end
$$;
comment on function events.derive_booked_events(events.subject, text) is
  'Makes the function by which bookings tell what they do to a row: the same events as the trigger''s.';
--! EndIncluded events/derive_booked_events.sql
--! Included events/derive_scopes.sql
create or replace function events.derive_scopes() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  log constant regclass := to_regclass('api_unstable.events');
  note constant text := obj_description(log, 'pg_class');
  wanted constant text[] := array(select distinct t.scope from events.topic t where t.subscribable);
  present constant text[] := regexp_split_to_array(substring(note from '(?n)^@requiresScopes +(.*)$'), ' +');
  scopes constant text := (
    select string_agg(s.scope, ' ' order by array_position(present, s.scope), s.scope)
    from unnest(wanted) s (scope)
  );
begin
  if not (present @> wanted and present <@ wanted) then
    execute format('comment on view %s is %L', log,
      regexp_replace(note, '(?n)^@requiresScopes .*$', '@requiresScopes ' || scopes));
  end if;
end
$$;
comment on function events.derive_scopes() is
  'Opens the log of events to the scopes of all topics: writes them into the comment of its view.';
--! EndIncluded events/derive_scopes.sql
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
--! Included events/disable_webhook_subscription.sql
create or replace function events.disable_webhook_subscription(subscription_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select events.stop_subscription(subscription_id, 'It was disabled through the API.')
$$;
comment on function events.disable_webhook_subscription(uuid) is
  'Stops a subscription, as events.stop_subscription, for a client.';
grant execute on function events.disable_webhook_subscription(uuid) to service_writer;
--! EndIncluded events/disable_webhook_subscription.sql
--! Included events/drop_waiting.sql
create or replace function events.drop_waiting(subscription_id uuid, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return events.cancel_deliveries(array(
    select d.id from events.delivery d
    where d.subscription_id = drop_waiting.subscription_id and d.state = 'pending' limit batch));
end
$$;
comment on function events.drop_waiting(uuid, integer) is
  'Cancels deliveries to a subscriber that wait, at most as many as the batch. Answers how many: to be '
  'called again until that is less than the batch.';
select api_meta.give('events.drop_waiting(uuid, integer)', 'service_recorder');
grant execute on function events.drop_waiting(uuid, integer) to service_registrar;
--! EndIncluded events/drop_waiting.sql
--! Included events/due_at.sql
create or replace function events.due_at() returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  -- Few, which have an index of their own
  with claimed as materialized (
    select q.subscription_id, min(greatest(q.due_at, q.claimed_until)) as due_at,
      max(q.claimed_until) as busy_until
    from events.delivery_queue q where q.claimed_by is not null and q.claimed_until > clock_timestamp()
    group by q.subscription_id
  )
  select least(
    (select '-infinity'::timestamptz where exists (select from events.outbox)),
    (
      select min(greatest(least(q.due_at, b.probe_at), s.paused_until,
        case when s.health = 'SUSPENDED' then s.next_probe_at end, b.alone_at))
      from events.webhook_subscription s
      left join claimed c on c.subscription_id = s.id
      cross join lateral (
        select least(c.due_at, (
          select f.due_at from events.delivery_queue f
          where f.subscription_id = s.id and (f.claimed_until is null or f.claimed_until <= clock_timestamp())
          order by f.due_at limit 1)) as due_at
      ) q
      -- Probes, and whatever is tried alone, come after what is under way
      cross join lateral (
        select case when s.next_probe_at is not null then
            greatest(s.next_probe_at, c.busy_until) end as probe_at,
          case when s.paused_until is not null or s.health = 'SUSPENDED' then c.busy_until end as alone_at
      ) b
      where s.enabled and q.due_at is not null and (select p.name from auth.current_plan() p) <> 'none'
    )
  );
end;
comment on function events.due_at() is
  'When there is something to do next: -infinity while committed changes are no events yet, else when '
  'events.claim_delivery_queues is next to find a queue that no process has claimed; null if there is '
  'none. A service with many merchants sleeps until then.';
select api_meta.give('events.due_at()', 'service_recorder');
grant execute on function events.due_at() to service_delivery;
--! EndIncluded events/due_at.sql
--! Included events/enable_webhook_subscription.sql
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
grant execute on function events.enable_webhook_subscription(uuid) to service_writer;
--! EndIncluded events/enable_webhook_subscription.sql
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
--! Included events/key_columns.sql
create or replace function events.key_columns(relation regclass) returns name[]
language sql stable
begin atomic
  select array_agg(a.attname order by k.position)
  from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k (number, position)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
  where i.indrelid = relation and i.indisprimary;
end;
comment on function events.key_columns(regclass) is 'The columns of the primary key of a table.';
--! EndIncluded events/key_columns.sql
--! Included events/entity_columns.sql
create or replace function events.entity_columns(subject events.subject) returns name[]
language sql stable
begin atomic
  select case
    when exists (
      select from pg_attribute a where a.attrelid = subject.relation and a.attname = subject.entity_column
    ) then array[subject.entity_column::name]
    else events.key_columns(subject.relation) end;
end;
comment on function events.entity_columns(events.subject) is
  'The columns that events of a subject are kept in order by: those of its key where it has no other.';
--! EndIncluded events/entity_columns.sql
--! Included events/event_id.sql
create or replace function events.event_id(sequence bigint) returns uuid
language sql volatile
-- Version 8 of RFC 9562: 48 bits of our own first, the rest random
return overlay(overlay(gen_random_uuid()::text
  placing lpad(to_hex(sequence >> 16), 8, '0') || '-'
    || lpad(to_hex(sequence & 65535), 4, '0') from 1) placing '8' from 15)::uuid;
comment on function events.event_id(bigint) is
  'A new id for the event with this number. Ids sort as the numbers do.';
grant execute on function events.event_id(bigint) to service_recorder;
--! EndIncluded events/event_id.sql
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
--! Included events/host_of.sql
create or replace function events.host_of(url text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select lower(coalesce(m[1], m[2]))
  from regexp_match(url, '^https?://(?:\[([0-9a-fA-F:.]+)\]|([^/:?#\[\]@]+))(?::\d+)?(?:[/?#]|$)') m;
end;
comment on function events.host_of(text) is
  'The name or the address in a URL of the web, without the brackets of IPv6; null when it has none, or '
  'has a user name.';
grant execute on function events.host_of(text) to service_writer;
--! EndIncluded events/host_of.sql
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
--! Included events/key_uuid.sql
create or replace function events.key_uuid(variadic key jsonb[]) returns uuid
language sql immutable
return overlay(overlay(md5(key::text) placing '8' from 13) placing '8' from 17)::uuid;
comment on function events.key_uuid(jsonb[]) is
  'A uuid that stands for a key of other types, so that events of equal keys are kept in order. It is '
  'made of the key alone.';
grant execute on function events.key_uuid(jsonb[]) to service_recorder;
--! EndIncluded events/key_uuid.sql
--! Included events/lifetime.sql
create or replace function events.lifetime() returns interval
language sql stable
return greatest(interval '30 days',
  nullif(pg_catalog.current_setting('service.keep_events', true), '')::interval);
comment on function events.lifetime() is
  'How long events and their deliveries are kept: the setting service.keep_events, and at least the 30 days '
  'that subscribers are promised.';
grant execute on function events.lifetime() to service_recorder;

create or replace function events.attempt_lifetime() returns interval
language sql stable
return greatest(interval '7 days', coalesce(
  nullif(pg_catalog.current_setting('service.keep_webhook_attempts', true), '')::interval,
  interval '30 days'));
comment on function events.attempt_lifetime() is
  'How long attempts to send webhooks are kept, with what was answered: the setting '
  'service.keep_webhook_attempts, at least 7 days, in which all attempts are made, and without it 30.';
grant execute on function events.attempt_lifetime() to service_recorder;
--! EndIncluded events/lifetime.sql
--! Included events/lock_subscription.sql
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
  'A subscription for a client to work on. Every way to make one send something, or send it elsewhere, '
  'needs the scope of its topic. User errors NOT_FOUND, SCOPE_MISSING.';
grant execute on function events.lock_subscription(uuid) to service_writer;
--! EndIncluded events/lock_subscription.sql
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
--! Included events/message_body.sql
create or replace function events.message_body(delivery_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select m.body from events.message m where m.delivery_id = message_body.delivery_id;
end;
comment on function events.message_body(uuid) is
  'The body that a delivery sends, unless a payload query is asked for the data. events.schema describes it.';
grant execute on function events.message_body(uuid) to service_delivery;
--! EndIncluded events/message_body.sql
--! Included events/new_secret.sql
create or replace function events.new_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  id constant uuid := nullif(current_setting('service.new_secret_id', true), '');
  secret constant text := nullif(current_setting('service.new_secret', true), '');
begin
  if id is null or secret is null then
    raise exception 'A secret is made by the service, which has given none.'
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  update events.webhook_secret s set expires_at = date_trunc('second', now()) + interval '24 hours'
  where s.subscription_id = new_secret.subscription_id and s.expires_at is null;
  insert into events.webhook_secret (id, subscription_id, secret)
  values (id, new_secret.subscription_id, secret);
  return id;
end
$$;
comment on function events.new_secret(uuid) is
  'Gives a subscription the secret that the service has made (settings service.new_secret_id and '
  'service.new_secret). Answers its id, in the place of which the service shows it, once. The one '
  'before signs too for 24 hours more.';
grant execute on function events.new_secret(uuid) to service_writer;
--! EndIncluded events/new_secret.sql
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
--! Included events/prune.sql
create or replace function events.prune(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant timestamptz := now() - events.lifetime();
  old bigint[];
  old_tests uuid[];
begin
  -- Two at a time would only wait for each other
  if not pg_try_advisory_xact_lock(hashtextextended('events.prune', 0)) then
    return 0;
  end if;
  -- The log is ordered by time, so old events are at its beginning
  old := array(
    select e.sequence
    from (select x.sequence, x.recorded_at from events.event x order by x.sequence limit batch) e
    where e.recorded_at < oldest);
  old_tests := array(
    select d.id
    from events.delivery d
    where d.sequence is null and d.created_at < oldest
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
  'Deletes events that were recorded longer ago than events.lifetime(), with their deliveries, and tests '
  'likewise, at most as many of each as the batch; and secrets that have expired. Answers how many: to be '
  'called again until that is 0.';
select api_meta.give('events.prune(integer)', 'service_recorder');
grant execute on function events.prune(integer) to service_delivery, service_worker;

create or replace function events.prune_attempts(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := events.attempt_lifetime();
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('events.prune_attempts', 0)) then
    return 0;
  end if;
  -- Ids of deliveries are ordered by time, so old attempts are at the beginning of the primary key
  delete from events.delivery_attempt a where a.ctid = any (array(
    select o.ctid from events.delivery_attempt o
    where o.delivery_id < uuidv7(-lifetime) and o.at < now() - lifetime
    order by o.delivery_id, o.number limit batch));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function events.prune_attempts(integer) is
  'Deletes attempts to send webhooks that were made longer ago than events.attempt_lifetime(), at most as '
  'many as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('events.prune_attempts(integer)', 'service_recorder');
grant execute on function events.prune_attempts(integer) to service_worker;
--! EndIncluded events/prune.sql
--! Included events/readable_topics.sql
create or replace function events.readable_topics() returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select t.name from events.topic t where auth.has_scope(t.scope));
end;
comment on function events.readable_topics() is
  'The topics whose subjects the caller may read. The policy of the log asks it, once per statement.';
grant execute on function events.readable_topics() to service_api;
--! EndIncluded events/readable_topics.sql
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
--! Included events/require_enabled.sql
create or replace function events.require_enabled(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not subscription.enabled then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The subscription is disabled. Enable it first.',
      '{id}',
      '{"state": "DISABLED", "allowedActions": ["enable"]}');
  end if;
end
$$;
comment on function events.require_enabled(events.webhook_subscription) is
  'Refuses to send for a disabled subscription. User error INVALID_STATE_TRANSITION.';
grant execute on function events.require_enabled(events.webhook_subscription) to service_writer;
--! EndIncluded events/require_enabled.sql
--! Included events/require_fields.sql
create or replace function events.require_fields() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  missing constant text := (
    select string_agg(format('Events about %s show %s, but %s has no column %s.', f.subject_type, f.name,
      s.relation, c.name), ' ' order by f.subject_type, f.position)
    from events.field f join events.subject s on s.type = f.subject_type
    cross join unnest(string_to_array(f.column_name, ',')) c (name)
    where not exists (
      select from pg_attribute a where a.attrelid = s.relation and a.attname = c.name and a.attnum > 0
    )
  );
begin
  if missing is not null then
    raise exception '% Change events.field along with the table: receivers rely on what events show.', missing
      using errcode = 'undefined_column';
  end if;
end
$$;
comment on function events.require_fields() is
  'Refuses a migration after which a field of an event would have no column.';
--! EndIncluded events/require_fields.sql
--! Included events/require_scope.sql
create or replace function events.require_scope(topic text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed constant text := (select t.scope from events.topic t where t.name = topic);
begin
  if not auth.has_scope(needed) then
    perform mutation.refuse('SCOPE_MISSING',
      format('To be told of %s, a token must be allowed to read it: the scope %s is missing.', topic, needed),
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
      'INVALID', 'Name fields, or leave them out to be told of every change.', '{fields}'
    );
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID',
      format(
        'Events of the topic %s tell of no changes of %s.', subscription.topic, array_to_string(unknown, ', ')
      ),
        '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse(
      'URL_FORBIDDEN', 'Nothing is sent to this host: it is none of the public internet.', '{url}'
    );
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Checks what was entered about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';
grant execute on function events.require_settings(events.webhook_subscription) to service_writer;
--! EndIncluded events/require_settings.sql
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
--! Included events/retry_delivery.sql
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
comment on function events.retry_delivery(uuid) is
  'Delivers something again, as events.send_again, for a client. Answers its id.';
grant execute on function events.retry_delivery(uuid) to service_writer;
--! EndIncluded events/retry_delivery.sql
--! Included events/rotate_webhook_secret.sql
create or replace function events.rotate_webhook_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.lock_subscription(subscription_id);
  return events.new_secret(subscription_id);
end
$$;
comment on function events.rotate_webhook_secret(uuid) is
  'Gives a subscription a new secret, and answers its id.';
grant execute on function events.rotate_webhook_secret(uuid) to service_writer;
--! EndIncluded events/rotate_webhook_secret.sql
--! Included events/value_schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with col as (
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
        when attname = 'created_at' then 'When it was made.'
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
  'JSON Schema of a field, from the column that it shows.';
--! EndIncluded events/value_schema.sql
--! Included events/schema.sql
create or replace function events.schema(topic text) returns json
language sql stable set search_path = pg_catalog, pg_temp
-- Planning takes longer than all topics together, and would be done for five of them
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
          'Number of the event before it that was meant for the same subscription; null for the first one.'),
      'apiVersion',
        '{"type": "string", "description": "Version of the API that the subscription is set to."}'::json,
      'changedFields', case when o.operations @> '{update}'
        then json_build_object('type',
          case when o.operations = '{update}' then '"array"'::json else '["array", "null"]' end,
          'items', json_build_object('enum', changeable.names), 'description',
            'Fields of data that were changed.')
        else '{"type": "null"}' end,
      'cause', '{"type": "object", "required": ["credentialId", "requestId", "idempotencyKey"],
        "description": "Which request it was; nulls for what another program did.", "properties": {
        "credentialId": {"type": ["string", "null"], "pattern": "^gid://service/Credential/[0-9a-f-]{36}$"},
        "requestId": {"type": ["string", "null"]}, "idempotencyKey": {"type": ["string", "null"]}}}'::json,
      'data', json_build_object(
        'title', t.subject_type, 'type', 'object', 'required', shown.names, 'properties', shown.properties,
        'description', case
          when o.operations = '{delete}' then 'What is gone.'
          else 'What it happened to, as it was then.' end)
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
  'JSON Schema of the bodies of a topic. `npm run schema` writes them to docs/events. Fields may be '
  'added without notice, so the schema allows more than it names.';
--! EndIncluded events/schema.sql
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
--! Included events/send_test.sql
create or replace function events.send_test(subscription_id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.locked_subscription(subscription_id);
  made uuid;
begin
  perform events.require_enabled(present);
  insert into events.delivery as d (subscription_id, event_id, entity_id)
  values (present.id, gen_random_uuid(), present.id)
  returning d.id
  into made;
  perform events.enqueue(array[made]);
  return made;
end
$$;
comment on function events.send_test(uuid) is
  'Sends a test to a subscriber: an event of the topic webhook_subscription.test. Answers the delivery. '
  'User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
select api_meta.give('events.send_test(uuid)', 'service_writer');
grant execute on function events.send_test(uuid) to service_registrar;
--! EndIncluded events/send_test.sql
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
  'too. Those who listen on the channel service_events are told. One process at a time: answers null when '
  'another one is at it, else how many events it moved.';
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
--! Included events/test_webhook_subscription.sql
create or replace function events.test_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.lock_subscription(subscription_id);
  return events.send_test(subscription_id);
end
$$;
comment on function events.test_webhook_subscription(uuid) is
  'Sends a test to a subscriber, as events.send_test, for a client. Answers the delivery.';
grant execute on function events.test_webhook_subscription(uuid) to service_writer;
--! EndIncluded events/test_webhook_subscription.sql
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
--! Included events/uuid_expression.sql
create or replace function events.uuid_expression(relation regclass, columns name[], alias text) returns text
language sql stable
begin atomic
  select case
    when count(*) = 1 and min(a.atttypid::regtype::text) = 'uuid' then format('%I.%I', alias, min(a.attname))
    else format('events.key_uuid(%s)',
      string_agg(format('to_jsonb(%I.%I)', alias, a.attname), ', ' order by k.position))
  end
  from unnest(columns) with ordinality k (name, position)
  join pg_attribute a on a.attrelid = relation and a.attname = k.name and a.attnum > 0;
end;
comment on function events.uuid_expression(regclass, name[], text) is
  'SQL for the uuid that stands for columns of a row with an alias: the value of the one column that is '
  'a uuid, or one that is made of them.';
--! EndIncluded events/uuid_expression.sql
--! Included auth/documented_schema.sql
create or replace function auth.documented_schema(topic text) returns json
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select events.schema(documented_schema.topic);
end;
comment on function auth.documented_schema(text) is
  'The JSON Schema of a topic''s messages, for the documentation. One at a time: each takes some '
  'ten milliseconds.';
grant execute on function auth.documented_schema(text) to service_auth;
--! EndIncluded auth/documented_schema.sql
--! Included auth/documented_topics.sql
create or replace function auth.documented_topics()
returns table (name text, description text, scope text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select t.name, t.description, t.scope from events.topic t order by t.name;
end;
comment on function auth.documented_topics() is
  'All topics of events, for the documentation, which is public.';
grant execute on function auth.documented_topics() to service_auth;
--! EndIncluded auth/documented_topics.sql
--! Included auth/note_webhook_event.sql
create or replace function auth.note_webhook_event(
  action text, subscription_id uuid, details jsonb default '{}'
)
returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select auth.note_event(note_webhook_event.action,
    s.topic || ' to ' || substring(s.url from '^https?://([^/?]+)'), s.credential_id,
    jsonb_build_object('subscription_id', s.id) || note_webhook_event.details)
  from events.webhook_subscription s where s.id = note_webhook_event.subscription_id
$$;
comment on function auth.note_webhook_event(text, uuid, jsonb) is
  'Adds to the audit what was done to a webhook subscription, also as about the credential that it is '
  'on the account of.';
grant execute on function auth.note_webhook_event(text, uuid, jsonb) to service_registrar;
--! EndIncluded auth/note_webhook_event.sql
--! Included auth/stored_secrets.sql
create or replace function auth.stored_secrets() returns table (kind text, key_id text, count bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select 'signing key', auth.secrets_key_id(k.secret), count(*)
  from auth.signing_key k
  where k.secret is not null and (k.retires_at is null or k.retires_at > now())
  group by 2
  union all
  select 'webhook secret', auth.secrets_key_id(w.secret), count(*)
  from events.webhook_secret w
  where w.expires_at is null or w.expires_at > now()
  group by 2;
end;
comment on function auth.stored_secrets() is
  'How many secrets there are of each kind, and which keys they are encrypted with: null where they are '
  'plain. No secret.';
grant execute on function auth.stored_secrets() to service_auth;
--! EndIncluded auth/stored_secrets.sql

create trigger count_subscriptions after insert on events.webhook_subscription
  for each row execute function events.count_subscriptions();
create trigger count_subscriptions_taken_over after update of credential_id on events.webhook_subscription
  for each row when (new.credential_id is distinct from old.credential_id)
  execute function events.count_subscriptions();

create policy event_is_of_a_readable_topic on events.event as restrictive for select to service_api
  using (topic = any ((select events.readable_topics())::text[]));

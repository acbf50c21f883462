-- Events: what may happen (subject, field, topic, occasion), what has (outbox, event), and who is told (subscription,
-- delivery, lane, attempt).

create table if not exists events.subject (
  type text primary key constraint subject_type_is_a_type_name check (type ~ '^[A-Z][A-Za-z]*$'),
  relation regclass not null unique,
  view_name text not null,
  entity_column text not null default 'id'
);
comment on table events.subject is 'What events are about: types of the API. db/fixtures/functions/events/topics.sql declares them.';
comment on column events.subject.relation is 'Table whose changes are events.';
comment on column events.subject.view_name is 'View of the type in the head of the API. Its scope opens the events.';
comment on column events.subject.entity_column is 'Column with the id that events are kept in order by.';

create table if not exists events.field (
  subject_type text not null references events.subject on delete cascade,
  name text not null constraint field_name_is_camel_case check (name ~ '^[a-z][A-Za-z]*$'),
  position integer not null,
  column_name text not null,
  id_of text,
  primary key (subject_type, name)
);
comment on table events.field is 'What the data of an event says about its subject.';
comment on column events.field.name is 'Name, as in the API.';
comment on column events.field.id_of is 'Type of what a column with an id points to.';

create table if not exists events.topic (
  name text collate "C" primary key constraint topic_name_has_a_resource check (name ~ '^[a-z_]+\.[a-z_]+$'),
  subject_type text not null references events.subject on delete cascade,
  scope text not null,
  fields text[],
  description text not null,
  subscribable boolean not null default true
);
create index if not exists topic_subject_type_idx on events.topic (subject_type);
comment on table events.topic is 'What may happen, and which scope lets one know of it.';
comment on column events.topic.scope is 'Scope that reads the subject: that of its view.';
comment on column events.topic.fields is 'Fields that the data has; null for all fields of the subject.';
comment on column events.topic.subscribable is 'Whether a webhook can be subscribed to it. Only the topic of tests cannot.';

create table if not exists events.occasion (
  topic text collate "C" not null references events.topic on delete cascade,
  operation text not null constraint occasion_operation_is_known check (operation in ('insert', 'update', 'delete')),
  columns text[],
  condition text,
  primary key (topic, operation)
);
comment on table events.occasion is 'Which changes of its subject make a topic happen. events.derive_announcements makes triggers of it.';
comment on column events.occasion.columns is 'Columns of which one must have changed; null for any that the data shows.';
comment on column events.occasion.condition is 'Condition in SQL on the row as it is, n, and, for an update, as it was, o; null for none.';

create table if not exists events.outbox (
  position bigint generated always as identity primary key,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  occurred_at timestamptz(3) not null default clock_timestamp()
);
comment on table events.outbox is
  'What has happened, written in the transaction in which it did. The sequencer takes it from here into the log; nothing stays. No keys and indexes but one: each would make every booking slower.';
comment on column events.outbox.position is 'Taken while the entity is locked: of two events of one entity, the earlier one has the lower position.';
comment on column events.outbox.entity_id is 'What events are kept in order by: the subject itself, or the product of stock.';
comment on column events.outbox.data is 'The subject as it was then, in the names and ids of the API.';
comment on column events.outbox.changed_fields is 'Which fields of the data an update changed; null for what is no update.';
comment on column events.outbox.cause is 'Which request of which credential it was.';
-- It is always nearly empty, however much passes through
alter table events.outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000);

create table if not exists events.event (
  sequence bigint primary key,
  id uuid not null constraint event_id_is_unique unique,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  occurred_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default clock_timestamp()
);
create index if not exists event_topic_idx on events.event (topic, id);
create index if not exists event_occurred_at_idx on events.event (occurred_at);
comment on table events.event is 'The log: everything that happened in the last 30 days, in the order in which it was committed.';
comment on column events.event.sequence is 'Number in the log, without gaps.';
comment on column events.event.id is 'Begins with the sequence, so that ids sort as the log does.';
comment on column events.event.topic is 'What happened, as resource.event.';
comment on column events.event.data is 'What it happened to, as it was then.';
comment on column events.event.changed_fields is 'Fields that were changed; null when it was no update.';
comment on column events.event.cause is
  'Which request it was: an object with credentialId, requestId and idempotencyKey, each null for what other programs did.';
comment on column events.event.occurred_at is 'When it happened.';

create table if not exists events.log_head (
  singleton boolean primary key default true constraint log_head_is_one_row check (singleton),
  last_sequence bigint not null default 0
);
insert into events.log_head (singleton) values (true) on conflict do nothing;
comment on table events.log_head is 'The end of the log. Whoever has locked the one row may write to the log.';

alter table events.webhook_subscription
  add column if not exists last_sequence bigint,
  add column if not exists failing_since timestamptz(0),
  add column if not exists consecutive_failures integer not null default 0,
  add column if not exists last_delivered_at timestamptz(0),
  add column if not exists next_probe_at timestamptz(3),
  add column if not exists disabled_at timestamptz(0);
create index if not exists webhook_subscription_topic_idx on events.webhook_subscription (topic);
comment on column events.webhook_subscription.credential_id is
  'Credential that made or last changed it, and whose scopes decide what is sent; null when an administrator did, who may know everything.';
comment on column events.webhook_subscription.last_sequence is 'The newest event that was meant for it; null when none was yet.';
comment on column events.webhook_subscription.failing_since is 'First failure after the last success; null while all is well.';
comment on column events.webhook_subscription.consecutive_failures is 'Attempts that failed since the last success.';
comment on column events.webhook_subscription.last_delivered_at is 'When an event was last delivered.';
comment on column events.webhook_subscription.next_probe_at is
  'When it is tried again whether deliveries arrive, with a single one; null while it is not suspended.';
comment on column events.webhook_subscription.disabled_at is 'When it was disabled; null while it is enabled.';
-- Progress is no change of a subscription
create or replace trigger touch_updated_at before update of topic, url, api_version, fields, payload_query, enabled
  on events.webhook_subscription for each row execute function erp.touch_updated_at();

create table if not exists events.webhook_secret (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  secret text not null constraint webhook_secret_has_its_form check (secret ~ '^whsec_[A-Za-z0-9+/]{32,}=*$'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  expires_at timestamptz(0)
);
create unique index if not exists webhook_secret_is_one_without_end on events.webhook_secret (subscription_id) where expires_at is null;
create index if not exists webhook_secret_subscription_id_idx on events.webhook_secret (subscription_id, id);
comment on table events.webhook_secret is
  'What deliveries are signed with: the secret of each subscription, and for 24 hours the ones before. Only service_delivery reads them.';
comment on column events.webhook_secret.expires_at is 'When it stops to sign; null for the one in use.';

create table if not exists events.delivery (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  sequence bigint references events.event on delete cascade,
  event_id uuid not null,
  entity_id uuid not null,
  previous_sequence bigint,
  state text not null default 'pending' constraint delivery_state_is_known check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  delivered_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint delivery_is_one_per_event_and_subscription unique (sequence, subscription_id)
);
create index if not exists delivery_subscription_id_idx on events.delivery (subscription_id, id);
create index if not exists delivery_pending_idx on events.delivery (subscription_id, entity_id, sequence nulls first, id) where state = 'pending';
create index if not exists delivery_test_idx on events.delivery (created_at) where sequence is null;
comment on table events.delivery is 'An event on its way to a subscriber. Kept as long as the event is.';
comment on column events.delivery.subscription_id is 'Subscription that it is for.';
comment on column events.delivery.sequence is 'Number of the event in the log; null for a test, which is not in it.';
comment on column events.delivery.event_id is 'Id of the event: what receivers know repetitions by.';
comment on column events.delivery.entity_id is 'What deliveries are kept in order by.';
comment on column events.delivery.previous_sequence is
  'The event before it that was meant for the subscription; null for the first one. A receiver that has not seen that one has missed something.';
comment on column events.delivery.state is 'What became of it: pending, delivered, failed or cancelled.';
comment on column events.delivery.attempts is 'How often it was tried.';
comment on column events.delivery.next_attempt_at is 'When it is tried again after a failure.';
comment on column events.delivery.delivered_at is 'When the receiver took it.';

create table if not exists events.lane (
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  entity_id uuid not null,
  pending integer not null constraint lane_pending_is_not_negative check (pending >= 0),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default clock_timestamp(),
  claimed_until timestamptz(3),
  claimed_by text,
  due_at timestamptz(3) not null generated always as (greatest(next_attempt_at, claimed_until)) stored,
  primary key (subscription_id, entity_id)
);
create index if not exists lane_due_at_idx on events.lane (due_at);
comment on table events.lane is
  'What is delivered one after the other: the pending deliveries of one entity to one subscription. A lane whose first delivery fails holds up only itself. There is a lane as long as something is pending in it.';
comment on column events.lane.pending is 'How many deliveries wait in it.';
comment on column events.lane.attempts is 'How often its first delivery has failed.';
comment on column events.lane.next_attempt_at is 'When to go on; infinity while the subscription is disabled.';
comment on column events.lane.claimed_until is 'A lease: until then nobody else takes it.';
comment on column events.lane.claimed_by is 'Who took it.';
comment on column events.lane.due_at is 'From when on it may be taken: neither waiting nor leased.';

create table if not exists events.delivery_attempt (
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
comment on table events.delivery_attempt is 'What came of each attempt to deliver.';
comment on column events.delivery_attempt.number is 'Counts the attempts of a delivery, from 1.';
comment on column events.delivery_attempt.at is 'When the request was sent.';
comment on column events.delivery_attempt.duration_ms is 'How long it took, in milliseconds.';
comment on column events.delivery_attempt.status is 'HTTP status of the answer; null when there was none.';
comment on column events.delivery_attempt.error is 'Why it failed, in words; null when it succeeded.';
comment on column events.delivery_attempt.request_headers is 'Headers that were sent.';
comment on column events.delivery_attempt.response_headers is 'Headers of the answer.';
comment on column events.delivery_attempt.response_body is 'Beginning of the answer, 4,096 characters at most.';

do $$
declare t regclass;
begin
  for t in select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'events' and c.relkind = 'r' and not c.relrowsecurity
  loop
    execute format('alter table %s enable row level security', t);
  end loop;
end
$$;

--!include functions/events/topics.sql
do $$
begin
  if not exists (select from pg_constraint where conname = 'webhook_subscription_topic_is_known' and conrelid = 'events.webhook_subscription'::regclass) then
    alter table events.webhook_subscription add constraint webhook_subscription_topic_is_known
      foreign key (topic) references events.topic on delete restrict on update cascade;
  end if;
end
$$;

--!include functions/events/announcements.sql
--!include functions/events/sequence_events.sql
--!include functions/events/prune.sql
--!include functions/events/message_body.sql
--!include functions/events/schema.sql
--!include functions/events/scopes_of_subscription.sql
--!include functions/events/forbidden_host.sql
--!include functions/events/webhook_subscription.sql
--!include functions/events/webhook_delivery.sql
--!include functions/mutation/run.sql

grant usage on schema events to service_recorder, service_delivery;
-- Without the position, which nobody chooses
select api_meta.allow('service_recorder', 'events.outbox', 'select', 'insert', 'delete');
select api_meta.allow('service_recorder', 'events.event', 'select', 'insert', 'delete');
select api_meta.allow('service_recorder', 'events.log_head', 'select', 'update (last_sequence)');
select api_meta.allow('service_recorder', 'events.webhook_subscription', 'select', 'update (last_sequence, backlog_count)');
select api_meta.allow('service_recorder', 'events.delivery', 'select', 'insert', 'delete', 'update (state, next_attempt_at)');
select api_meta.allow('service_recorder', 'events.lane', 'select', 'insert', 'delete', 'update (pending)');
grant execute on function events.cause(), events.event_id(bigint), events.fan_out(bigint, bigint), events.concerns(text[], text[]) to service_recorder;
select api_meta.allow('service_recorder', 'events.webhook_secret', 'select (expires_at)', 'delete');
grant execute on function events.cancel_deliveries(uuid[]) to service_recorder;
select api_meta.give(routine, 'service_recorder') from unnest(array['events.sequence_events(integer)', 'events.prune(integer)']::regprocedure[]) routine;
grant execute on function events.sequence_events(integer), events.prune(integer), events.message_body(uuid), events.scopes_of_subscription(uuid)
  to service_delivery;

select api_meta.allow('service_delivery', 'events.webhook_subscription', 'select',
  'update (enabled, health, health_reason, backlog_count, failing_since, consecutive_failures, last_delivered_at, next_probe_at, disabled_at)');
select api_meta.allow('service_delivery', 'events.webhook_secret', 'select');
select api_meta.allow('service_delivery', 'events.event', 'select');
select api_meta.allow('service_delivery', 'events.topic', 'select');
select api_meta.allow('service_delivery', 'events.delivery', 'select', 'update (state, attempts, next_attempt_at, delivered_at)');
select api_meta.allow('service_delivery', 'events.lane', 'select', 'delete',
  'update (pending, attempts, next_attempt_at, claimed_until, claimed_by)');
select api_meta.allow('service_delivery', 'events.delivery_attempt', 'select', 'insert');

-- Mutations
do $$
begin
  alter table events.webhook_subscription drop constraint if exists webhook_subscription_url_is_web,
    drop constraint if exists webhook_subscription_url_is_short, drop constraint if exists webhook_subscription_payload_query_is_short;
  alter table events.webhook_subscription
    add constraint webhook_subscription_url_is_web
      check (url ~ '^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?][^#[:space:][:cntrl:]]*)?$'),
    add constraint webhook_subscription_url_is_short check (length(url) <= 2000),
    add constraint webhook_subscription_payload_query_is_short check (length(payload_query) <= 10000);
end
$$;
comment on constraint webhook_subscription_url_is_web on events.webhook_subscription is
  E'@userError INVALID url\nThis is no address of the web: it begins with https:// or http://, and has no user name, fragment or spaces.';
comment on constraint webhook_subscription_url_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE url\nAn address has 2,000 characters at most.';
comment on constraint webhook_subscription_payload_query_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE payload_query\nA query has 10,000 characters at most.';
comment on constraint webhook_subscription_topic_has_a_subject on events.webhook_subscription is '@internal Topics are declared.';
comment on constraint webhook_subscription_health_is_known on events.webhook_subscription is '@internal Set by functions.';
comment on constraint webhook_subscription_backlog_is_not_negative on events.webhook_subscription is '@internal Counted by functions.';
comment on constraint lane_pending_is_not_negative on events.lane is '@internal Counted by functions.';
comment on constraint delivery_state_is_known on events.delivery is '@internal Set by functions.';

grant usage on schema events to service_writer;
select api_meta.allow('service_writer', 'events.topic', 'select');
select api_meta.allow('service_writer', 'events.field', 'select');
select api_meta.allow('service_writer', 'events.occasion', 'select');
select api_meta.allow('service_writer', 'events.event', 'select (sequence, id, topic, entity_id, changed_fields, occurred_at)');
select api_meta.allow('service_writer', 'events.webhook_subscription', 'select', 'insert', 'delete',
  'update (credential_id, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count, last_sequence, failing_since,
    consecutive_failures, next_probe_at, disabled_at)');
-- Writes secrets, and never reads one
select api_meta.allow('service_writer', 'events.webhook_secret', 'select (subscription_id, expires_at)', 'insert (subscription_id, secret)', 'update (expires_at)');
select api_meta.allow('service_writer', 'events.delivery', 'select', 'insert (subscription_id, sequence, event_id, entity_id, previous_sequence)',
  'update (state, next_attempt_at, delivered_at)');
select api_meta.allow('service_writer', 'events.lane', 'select', 'insert (subscription_id, entity_id, pending)', 'update (pending, attempts, next_attempt_at)');
grant execute on function auth.has_scope(text[]) to service_writer;
grant usage on schema auth to service_writer;
do $$
declare routine regprocedure;
begin
  for routine in select p.oid from pg_proc p where p.pronamespace = 'events'::regnamespace and p.proname = any ('{require_scope,require_settings,caller,
    lock_subscription,require_enabled,new_secret,create_webhook_subscription,update_webhook_subscription,disable_webhook_subscription,
    enable_webhook_subscription,rotate_webhook_secret,delete_webhook_subscription,enqueue,test_webhook_subscription,retry_delivery,replay_deliveries,
    host_of,is_private_address,is_forbidden_host,concerns}'::name[]) loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;

--!include functions/api/webhook_subscription.sql
--!include functions/api/webhook_delivery.sql
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

-- What can be read, beyond what the specification says: in the head only
--!include functions/events/readable_topics.sql
grant execute on function events.readable_topics() to service_api;
do $$
begin
  if not exists (select from pg_policy where polname = 'event_is_of_a_readable_topic') then
    create policy event_is_of_a_readable_topic on events.event as restrictive for select to service_api
      using (topic = any ((select events.readable_topics())::text[]));
  end if;
end
$$;
drop view if exists api_unstable.webhook_subscriptions;
--!include views/api/webhook_subscriptions.sql
drop view if exists api_unstable.webhook_deliveries;
drop type if exists api_unstable.webhook_delivery_attempt;
drop type if exists api_unstable.webhook_delivery_state;
--!include views/api/webhook_deliveries.sql
drop view if exists api_unstable.events;
--!include views/api/events.sql

--! Previous: sha1:cfd5c9f4155d78d827116d861a98a553c5f2070a
--! Hash: sha1:ff1a96ad632587b5c7ea1d451baa96e5be44fa6d
--! Message: state-and-events

--! split: 1-current.sql
-- Enter migration here

--! split: 0190-state-and-events.sql
create table erp.state_transition (
  machine text not null constraint state_transition_machine_is_known
    check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'supplier_order', 'quote', 'shipping_label')),
  action text not null,
  from_state text not null,
  to_state text not null,
  primary key (machine, action, from_state)
);
comment on table erp.state_transition is 'What may follow on what: the action that leads an entity from one state to the next.';
insert into erp.state_transition (machine, action, from_state, to_state) values
  ('goods_receipt', 'create', 'draft', 'created'), ('goods_receipt', 'withdraw', 'created', 'draft'),
  ('goods_receipt', 'approve', 'created', 'approved'), ('goods_receipt', 'start', 'approved', 'in_progress'),
  ('goods_receipt', 'complete', 'approved', 'completed'), ('goods_receipt', 'complete', 'in_progress', 'completed'),
  ('order', 'process', 'open', 'in_progress'), ('order', 'complete', 'in_progress', 'completed'),
  ('order', 'cancel', 'open', 'cancelled'), ('order', 'cancel', 'in_progress', 'cancelled'),
  ('order', 'reopen', 'completed', 'open'), ('order', 'reopen', 'cancelled', 'open'),
  ('order_delivery', 'ship_partially', 'open', 'shipped_partially'), ('order_delivery', 'ship', 'open', 'shipped'),
  ('order_delivery', 'ship', 'shipped_partially', 'shipped'), ('order_delivery', 'cancel', 'open', 'cancelled'),
  ('order_delivery', 'return_partially', 'shipped', 'returned_partially'), ('order_delivery', 'return', 'shipped', 'returned'),
  ('order_delivery', 'return', 'returned_partially', 'returned'),
  ('fulfillment_order', 'start', 'Open', 'InProgress'), ('fulfillment_order', 'stop', 'InProgress', 'Open'),
  ('fulfillment_order', 'hold', 'Open', 'OnHold'), ('fulfillment_order', 'hold', 'InProgress', 'OnHold'),
  ('fulfillment_order', 'close', 'Open', 'Closed'), ('fulfillment_order', 'close', 'InProgress', 'Closed'),
  ('fulfillment_order', 'cancel', 'Open', 'Cancelled'), ('fulfillment_order', 'cancel', 'InProgress', 'Cancelled'),
  ('fulfillment_order', 'cancel', 'OnHold', 'Cancelled'), ('fulfillment_order', 'reopen', 'Closed', 'Open'),
  ('supplier_order', 'send', 'open', 'sent'), ('supplier_order', 'confirm', 'sent', 'confirmed'),
  ('supplier_order', 'confirm', 'open', 'confirmed'), ('supplier_order', 'deliver_partially', 'confirmed', 'partially_delivered'),
  ('supplier_order', 'deliver', 'confirmed', 'delivered'), ('supplier_order', 'deliver', 'partially_delivered', 'delivered'),
  ('supplier_order', 'complete', 'confirmed', 'completed'), ('supplier_order', 'complete', 'partially_delivered', 'completed'),
  ('supplier_order', 'complete', 'delivered', 'completed'), ('supplier_order', 'cancel', 'open', 'cancelled'),
  ('supplier_order', 'cancel', 'sent', 'cancelled'), ('supplier_order', 'cancel', 'confirmed', 'cancelled'),
  ('quote', 'open', 'draft', 'open'), ('quote', 'send', 'open', 'sent'), ('quote', 'accept', 'sent', 'accepted'),
  ('quote', 'decline', 'sent', 'declined'), ('quote', 'expire', 'sent', 'expired'),
  ('shipping_label', 'cancel', 'created', 'cancelled'), ('shipping_label', 'fail', 'created', 'failed');

create table events.webhook_subscription (
  id uuid primary key default uuidv7(),
  credential_id uuid,
  topic text collate "C" not null constraint webhook_subscription_topic_has_a_subject check (topic ~ '^[a-z_]+\.[a-z_]+$'),
  url text not null constraint webhook_subscription_url_is_web check (url ~ '^https?://' and length(url) <= 2000),
  api_version text not null,
  fields text[],
  payload_query text,
  enabled boolean not null default true,
  health text not null default 'HEALTHY'
    constraint webhook_subscription_health_is_known check (health in ('HEALTHY', 'DEGRADED', 'SUSPENDED', 'DISABLED')),
  health_reason text,
  backlog_count integer not null default 0 constraint webhook_subscription_backlog_is_not_negative check (backlog_count >= 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index on events.webhook_subscription (credential_id);
comment on table events.webhook_subscription is 'Who is told about what.';
comment on column events.webhook_subscription.topic is 'Event that is told, as resource.event, for example order.created.';
comment on column events.webhook_subscription.url is 'Address that events are sent to.';
comment on column events.webhook_subscription.api_version is 'API version that payloads are shaped by.';
comment on column events.webhook_subscription.fields is 'Only changes to one of these fields are told; null for all.';
comment on column events.webhook_subscription.payload_query is 'GraphQL document that the payload is read with; null for the usual payload.';
comment on column events.webhook_subscription.enabled is 'Whether events are sent.';
comment on column events.webhook_subscription.health is 'HEALTHY, DEGRADED, SUSPENDED or DISABLED.';
comment on column events.webhook_subscription.health_reason is 'Why the health is what it is.';
comment on column events.webhook_subscription.backlog_count is 'Events that wait to be delivered.';

do $$
declare t regclass;
begin
  for t in
    select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'updated_at' and not a.attisdropped
    where n.nspname in ('erp', 'ledger', 'events') and c.relkind = 'r'
  loop
    execute format('create trigger touch_updated_at before update on %s for each row execute function erp.touch_updated_at()', t);
  end loop;
  for t in select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('erp', 'ledger', 'events') and c.relkind = 'r'
  loop
    execute format('alter table %s enable row level security', t);
  end loop;
end
$$;

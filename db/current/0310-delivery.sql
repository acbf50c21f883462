-- Sending events: who may know of them now, lanes that are claimed, and what came of it
alter table events.webhook_subscription add column if not exists next_probe_at timestamptz(3);
comment on column events.webhook_subscription.next_probe_at is
  'When it is tried again whether deliveries arrive, with a single one; null while it is not suspended.';

create index if not exists lane_due_of_subscription_idx on events.lane (subscription_id, due_at);
create index if not exists lane_claimed_by_idx on events.lane (claimed_by) where claimed_by is not null;
-- The first of these knows more
drop index if exists events.lane_due_at_idx;

--!include functions/auth/credential_scopes.sql
drop function if exists events.record_attempts(jsonb, jsonb, interval);
drop function if exists events.claim_lanes(text, integer, integer, interval);
drop view if exists events.lane_head;
--!include views/lane_head.sql
--!include functions/events/claim_lanes.sql
--!include functions/events/record_attempts.sql

select api_meta.allow('service_delivery', 'events.webhook_subscription', 'select',
  'update (enabled, health, health_reason, backlog_count, failing_since, consecutive_failures, last_delivered_at, disabled_at, next_probe_at)');

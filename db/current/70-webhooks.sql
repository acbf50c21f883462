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

--!include functions/api/user_error.sql
drop function if exists events.claim_lanes(text, integer, integer, jsonb, interval);
--!include views/lane_head.sql
--!include functions/events/claim_lanes.sql
--!include functions/events/renew_claims.sql
--!include functions/events/record_attempts.sql
--!include functions/events/webhook_subscription.sql
--!include functions/events/prune.sql
--!include functions/events/count_subscriptions.sql
--!include functions/administration/change_webhooks.sql
--!include functions/administration/webhooks.sql
--!include functions/api/webhook_subscription.sql

create or replace trigger count_subscriptions after insert on events.webhook_subscription
  for each row execute function events.count_subscriptions();
create or replace trigger count_subscriptions_taken_over after update of credential_id on events.webhook_subscription
  for each row when (new.credential_id is distinct from old.credential_id) execute function events.count_subscriptions();
select api_meta.allow('service_delivery', 'events.webhook_subscription', 'update (paused_until, payload_failures)');
select api_meta.allow('service_writer', 'events.webhook_subscription', 'update (paused_until, payload_failures)');
select api_meta.give('events.drop_waiting(uuid, integer)', 'service_recorder');
grant execute on function events.drop_waiting(uuid, integer) to service_registrar;

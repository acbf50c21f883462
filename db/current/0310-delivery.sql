-- Sending events: lanes that are claimed, and what came of it
create index if not exists lane_due_of_subscription_idx on events.lane (subscription_id, due_at);
create index if not exists lane_claimed_by_idx on events.lane (claimed_by) where claimed_by is not null;
-- The first of these knows more
drop index if exists events.lane_due_at_idx;

drop function if exists events.record_attempts(jsonb, jsonb, interval);
drop function if exists events.claim_lanes(text, integer, integer, jsonb, interval);
drop view if exists events.lane_head;
drop view if exists events.message;
drop function if exists events.message_body(uuid);
--!include views/message.sql
-- What the view says, for a single one
create function events.message_body(delivery_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select m.body from events.message m where m.delivery_id = message_body.delivery_id;
end;
comment on function events.message_body(uuid) is 'The body that a delivery sends, unless a payload query is asked for the data. events.schema describes it.';
grant execute on function events.message_body(uuid) to service_delivery;
--!include views/lane_head.sql
--!include functions/events/claim_lanes.sql
--!include functions/events/record_attempts.sql

-- Deleting what is old is a job of background work
grant usage on schema events to service_worker;
grant execute on function events.prune(integer) to service_worker;

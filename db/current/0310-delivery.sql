-- Sending events: lanes that are claimed, and what came of it
create index if not exists lane_due_of_subscription_idx on events.lane (subscription_id, due_at);
create index if not exists lane_claimed_by_idx on events.lane (claimed_by) where claimed_by is not null;
-- The first of these knows more
drop index if exists events.lane_due_at_idx;

drop function if exists events.record_attempts(jsonb, jsonb, interval);
drop function if exists events.claim_lanes(text, integer, integer, jsonb, interval);
drop view if exists events.lane_head;
drop view if exists events.message;
-- A view, which is planned with the rest of a statement, unlike a function
drop function if exists events.message_body(uuid);
--!include views/message.sql
--!include views/lane_head.sql
--!include functions/events/claim_lanes.sql
--!include functions/events/record_attempts.sql

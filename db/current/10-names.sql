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

--!include events/next_delivery.sql
--!include events/claim_delivery_queues.sql
--!include events/settle_delivery_queues.sql
--!include events/next_deliveries.sql
--!include events/record_attempts.sql
--!include events/renew_claims.sql
--!include events/fan_out.sql
--!include events/enqueue.sql
--!include events/cancel_deliveries.sql
--!include events/stop_subscription.sql
--!include events/resume_subscription.sql
--!include events/send_again.sql
--!include administration/webhook_subscriptions.sql
--!include erp/document_config.sql

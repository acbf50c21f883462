alter table events.event add column if not exists traceparent text;
comment on column events.event.traceparent is
  'The trace of the request that has caused it, for the webhooks that tell of it; null when it was not '
  'traced.';
--!include events/cause.sql
--!include events/sequence_events.sql
--!include events/next_delivery.sql
--!include events/next_deliveries.sql
--!include mutation/joint_calls.sql
--!include events/backlog.sql

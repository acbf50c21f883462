-- The log of events, and their deliveries
create table demo.happening (
  topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[], occurred_at timestamptz
);

-- As if the newest rows of a kind had been announced
create function demo.announce(topic text, changed_fields text[], count integer)
returns void language plpgsql as $$
declare
  s events.subject;
begin
  select x.*
  into s
  from events.topic t
  join events.subject x on x.type = t.subject_type
  where t.name = announce.topic;
  execute format('insert into demo.happening select $1, n.id, n.%I, to_jsonb(d), $2, n.created_at '
    'from %3$s n cross join lateral (select %2$s) d order by n.created_at desc, n.id limit $3',
    s.entity_column, events.data_columns(s, null, 'n'), s.relation) using topic, changed_fields, count;
end
$$;
select demo.announce('order.created', null, 40), demo.announce('order.updated', '{trackingCodes}', 25),
  demo.announce('order.state_changed', '{state,deliveryState}', 25),
    demo.announce('fulfillment.created', null, 20),
  demo.announce('stock_movement.created', null, 60), demo.announce('stock.changed', '{quantity}', 30),
  demo.announce('document.created', null, 20), demo.announce('customer.created', null, 15);

-- Recorded now: events are kept for 30 days from then on, while the shop's own calendar stands still
insert into events.event (
  sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at, recorded_at
)
select n, (lpad(to_hex(n), 12, '0') || '8' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid, topic,
  subject_id, entity_id, data, changed_fields,
  events.cause(), occurred_at, now()
from (
  select *, row_number() over (order by occurred_at, topic, subject_id) as n, md5(topic || subject_id) as h
  from demo.happening
) v;
update events.log_head set last_sequence = (select max(sequence) from events.event);

insert into events.webhook_secret (id, subscription_id, secret, created_at)
select demo.id('webhook secret', row_number() over (order by id)), id,
  'whsec_' || encode(sha256(convert_to('demo ' || id, 'UTF8')), 'base64'), created_at
from events.webhook_subscription;

insert into events.delivery (
  id, subscription_id, sequence, event_id, entity_id, previous_sequence, state, attempts, next_attempt_at,
  delivered_at, created_at
)
select demo.id('delivery', n), subscription_id, sequence, event_id, entity_id, previous_sequence, state,
  case state
    when 'failed' then 10
    when 'pending' then case when next_attempt_at is null then 0 else 3 end
    else 1 end,
  next_attempt_at, case state when 'delivered' then occurred_at + interval '1 second' end, occurred_at
from (
  select *,
    case
      when state = 'pending'
        and row_number() over (partition by subscription_id, entity_id, state order by sequence) = 1
    then demo.today() + interval '1 hour' end as next_attempt_at
  from (
    select s.id as subscription_id, e.sequence, e.id as event_id, e.entity_id, e.occurred_at,
      row_number() over (order by e.sequence, s.id) as n,
      lag(e.sequence) over (partition by s.id order by e.sequence) as previous_sequence,
      case
        when s.health <> 'HEALTHY'
          and row_number() over (
            partition by s.id order by e.sequence desc
          ) <= case s.health when 'DEGRADED' then 3 else 20 end
          then 'pending'
        when row_number() over (partition by s.id order by e.sequence) = 2 then 'failed'
        when row_number() over (partition by s.id order by e.sequence) = 3 then 'cancelled'
        else 'delivered'
      end as state
    from events.event e
    join events.webhook_subscription s on s.topic = e.topic and s.enabled
      and events.concerns(s.fields, e.changed_fields)
  ) d
) d;
-- A test, which is in no log
insert into events.delivery (
  id, subscription_id, event_id, entity_id, state, attempts, delivered_at, created_at
)
select demo.id('delivery', 0), id, demo.id('test', 1), id, 'delivered', 1, created_at, created_at
from events.webhook_subscription where id = demo.id('webhook', 1);

insert into events.delivery_attempt (
  delivery_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body
)
-- As events, attempts are kept for some days from now on
select d.id, n, now() - (d.attempts - n) * interval '1 hour', 40 + demo.pick(n, 'duration ' || d.id, 200),
  case when ok then 200 else 503 end,
  case when not ok then 'The receiver responded with 503.' end,
  jsonb_build_object('content-type', 'application/json', 'webhook-id', d.event_id),
    '{"content-type": "text/plain"}',
  case when ok then 'OK' else 'Service Unavailable' end
from events.delivery d
cross join lateral generate_series(1, d.attempts) n
cross join lateral (select d.state = 'delivered') v (ok);

insert into events.delivery_queue (subscription_id, entity_id, pending, attempts, next_attempt_at)
select subscription_id, entity_id, count(*), max(attempts), max(next_attempt_at)
from events.delivery where state = 'pending' group by subscription_id, entity_id;

update events.webhook_subscription s
set backlog_count = d.backlog, last_sequence = d.last_sequence, last_delivered_at = d.last_delivered_at,
  failing_since
    = case
      when d.backlog > 0 then demo.today()
        - case s.health when 'DEGRADED' then interval '1 hour' else interval '1 day' end end,
  consecutive_failures = case when d.backlog > 0 then 3 * d.queues else 0 end
from (
  select subscription_id, count(*) filter (where state = 'pending') as backlog,
    max(sequence) as last_sequence, max(delivered_at) as last_delivered_at,
    count(distinct entity_id) filter (where state = 'pending') as queues
  from events.delivery group by subscription_id
) d where d.subscription_id = s.id;
-- Nobody receives anything: deliveries of what happens in the shop would wait for ever, and more each day.
-- Each keeps the health that it had
update events.webhook_subscription set enabled = false, disabled_at = updated_at;
update events.delivery_queue set next_attempt_at = 'infinity';

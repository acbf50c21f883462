-- The pages about webhooks: what they read, and what they have done, by the same functions that mutations call
grant usage on schema events to service_registrar;
--!include functions/events/webhook_subscription.sql
--!include functions/events/webhook_delivery.sql
grant execute on function events.locked_subscription(uuid) to service_writer;

select api_meta.allow('service_registrar', 'events.webhook_subscription', 'select');
select api_meta.allow('service_registrar', 'events.delivery', 'select');
select api_meta.allow('service_registrar', 'events.delivery_attempt', 'select');
select api_meta.allow('service_registrar', 'events.event', 'select');
select api_meta.allow('service_registrar', 'events.lane', 'select (subscription_id, due_at)');
grant select on events.message to service_registrar;

--!include functions/administration/webhooks.sql
--!include functions/administration/change_webhooks.sql

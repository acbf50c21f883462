--! Message: what fresh cases found

-- Rights are asked again wherever something long runs: files, work on them, subscriptions.
--!include auth/may_send.sql
--!include bulk/scopes_of.sql
--!include bulk/open_errors.sql
--!include bulk/rights_to_files.sql
--!include bulk/run_export.sql
--!include events/require_settings.sql
--!include events/scopes_of_subscription.sql

-- Webhook subscriptions belong to the credential that they are on the account of, as bulk operations do
--!include auth/known_scopes.sql
drop view if exists api_unstable.webhook_subscriptions;
--!include api/webhook_subscriptions.sql

drop policy if exists webhook_subscription_of_caller on events.webhook_subscription;
create policy webhook_subscription_of_caller on events.webhook_subscription
as restrictive for select to service_api
using (credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid)
  or (select auth.has_scope('all_webhook_subscriptions:read')));
-- Without a caller it is the administration, or SQL. Locking a row counts as changing it
drop policy if exists webhook_subscription_updated_by_caller on events.webhook_subscription;
create policy webhook_subscription_updated_by_caller on events.webhook_subscription
as restrictive for update to service_writer
using (credential_id = (select events.caller()) or (select events.caller()) is null
  or (select auth.has_scope('all_webhook_subscriptions:write')));
drop policy if exists webhook_subscription_deleted_by_caller on events.webhook_subscription;
create policy webhook_subscription_deleted_by_caller on events.webhook_subscription
as restrictive for delete to service_writer
using (credential_id = (select events.caller()) or (select events.caller()) is null
  or (select auth.has_scope('all_webhook_subscriptions:write')));
-- What belongs to a subscription is seen where it is
drop policy if exists delivery_of_caller on events.delivery;
create policy delivery_of_caller on events.delivery as restrictive for select to service_api
using (subscription_id = any ((select array_agg(s.id) from events.webhook_subscription s)::uuid[]));
drop policy if exists delivery_attempt_of_caller on events.delivery_attempt;
-- waive costly-policy events.delivery_attempt: attempts are read by their delivery, a handful each
create policy delivery_attempt_of_caller on events.delivery_attempt as restrictive for select to service_api
using ((select d.subscription_id from events.delivery d where d.id = delivery_id) is not null);

comment on policy webhook_subscription_of_caller on events.webhook_subscription is
  'A credential sees its own subscriptions only, without the scope for all.';
comment on policy delivery_of_caller on events.delivery is
  'Deliveries are seen where their subscription is.';
comment on policy delivery_attempt_of_caller on events.delivery_attempt is
  'Attempts are seen where their delivery is.';

-- Credentials that may read, or write, everything keep that
with known as (
  select array_agg(scope) filter (where scope like '%:read') as readable,
    array_agg(scope) filter (where scope like '%:write') as writable
  from auth.known_scopes() scope where scope not like 'all\_webhook%'
)
update auth.credential c
set scopes = c.scopes || '{all_webhook_subscriptions:read}'
  || case when c.scopes @> k.writable then '{all_webhook_subscriptions:write}' else '{}' end::text[]
from known k
where c.scopes @> k.readable and not c.scopes @> '{all_webhook_subscriptions:read}';

-- CSV without the apostrophes before formulas
--!include api/bulk_operation_run.sql
comment on column bulk.operation.format is 'Format of the file: jsonl, csv or csv_raw.';

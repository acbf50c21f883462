-- How long things are kept are settings: service.keep_…, with the promised ages as their least
--!include events/lifetime.sql
--!include events/prune.sql
--!include mutation/key_lifetime.sql
--!include mutation/prune_keys.sql
--!include bulk/take.sql
--!include bulk/prune.sql
--!include auth/use_lifetime.sql
--!include auth/prune_uses.sql
--!include auth/prune_audit.sql
drop function if exists auth.prune_operations();
--!include auth/prune_operations.sql

select api_meta.allow('service_recorder', 'events.delivery_attempt', 'select', 'delete');
select api_meta.allow('service_registrar', 'auth.credential_use', 'delete');
select api_meta.allow('service_registrar', 'auth.field_use', 'delete');
select api_meta.allow('service_keeper', 'auth.audit_event', 'select', 'delete');
grant usage on schema mutation, auth to service_worker;

--!include auth/keep_audit.sql
drop trigger if exists audit_event_is_kept on auth.audit_event;
create trigger audit_event_is_kept before update or truncate on auth.audit_event
  for each statement execute function auth.keep_audit();
drop trigger if exists audit_event_is_kept_until_its_age on auth.audit_event;
create trigger audit_event_is_kept_until_its_age before delete on auth.audit_event
  for each row execute function auth.keep_audit();

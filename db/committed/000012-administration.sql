--! Previous: sha1:d9a1fb2d18010398e87fd2e83659ab1b7ee18188
--! Hash: sha1:3e101694480618a41ab8ac7dd1c226cbc99b181e
--! Message: administration

-- The functions behind the pages of the administration. Each looks at the session first.

--! Included administration/activity.sql
create or replace function administration.activity(about uuid, before uuid, how_many integer)
returns table (
  id uuid, happened_at timestamptz, actor text, administrator_name text, address text, action text,
  credential_id uuid, credential_exists boolean, subject text, details jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select event.id, event.happened_at::timestamptz, event.actor, administrator.name,
    host(event.address), event.action,
    event.credential_id,
    exists (select from auth.credential where credential.id = event.credential_id), event.subject,
      event.details
  from auth.audit_event as event
  left join auth.administrator on administrator.id = event.administrator_id
  where (activity.about is null or event.credential_id = activity.about)
    and (activity.before is null or event.id < activity.before)
  order by event.id desc
  limit least(activity.how_many, 200);
end
$$;
comment on function administration.activity(uuid, uuid, integer) is
  'The newest events of the audit, of all or of one credential; or those before one.';
select api_meta.give('administration.activity(uuid, uuid, integer)', 'service_registrar');
grant execute on function administration.activity(uuid, uuid, integer) to service_administration;
--! EndIncluded administration/activity.sql
--! Included administration/change_credential.sql
create or replace function administration.change_credential(id uuid, name text, scopes text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.change_credential(change_credential.id, change_credential.name, change_credential.scopes);
end
$$;
comment on function administration.change_credential(uuid, text, text[]) is
  'Changes a credential, as auth.change_credential.';
select api_meta.give('administration.change_credential(uuid, text, text[])', 'service_registrar');
grant execute on function administration.change_credential(uuid, text, text[]) to service_administration;
--! EndIncluded administration/change_credential.sql
--! Included administration/change_password.sql
create or replace function administration.change_password(checked_hash text, new_hash text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  own_id constant uuid := administration.require_administrator();
  own_name text;
begin
  update auth.administrator
  set password_hash = change_password.new_hash, password_changed_at = date_trunc('second', now())
  where id = own_id and password_hash = change_password.checked_hash
  returning name into own_name;
  if not found then
    raise exception 'The password has changed.' using errcode = 'invalid_authorization_specification';
  end if;
  delete from auth.administrator_session
  where administrator_id = own_id and token_hash <> decode(current_setting('service.session', true), 'hex');
  perform auth.note_event('administrator.password_changed', own_name);
end
$$;
comment on function administration.change_password(text, text) is
  'Changes the administrator''s own password, whose present one has been compared with this hash, and '
  'ends all other sessions.';
select api_meta.give('administration.change_password(text, text)', 'service_registrar');
grant execute on function administration.change_password(text, text) to service_administration;
--! EndIncluded administration/change_password.sql
--! Included administration/create_credential.sql
create or replace function administration.create_credential(
  id uuid, name text, scopes text[], access_key text, secret_hash bytea
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.create_credential(
    create_credential.name, create_credential.scopes, create_credential.access_key,
    create_credential.secret_hash, create_credential.id
  );
end
$$;
comment on function administration.create_credential(uuid, text, text[], text, bytea) is
  'Makes a credential, as auth.create_credential. The form brings the id, so that one that is sent '
  'twice makes one credential.';
select api_meta.give(
  'administration.create_credential(uuid, text, text[], text, bytea)', 'service_registrar'
);
grant execute on function administration.create_credential(uuid, text, text[], text, bytea)
  to service_administration;
--! EndIncluded administration/create_credential.sql
--! Included administration/credential_uses.sql
create or replace function administration.credential_uses(since date, wanted uuid default null)
returns table (
  credential_id uuid, day date, version text, deprecated_field text, requests bigint, last_used_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select use.credential_id, use.day, use.version, use.deprecated_field, use.requests,
    use.last_used_at::timestamptz
  from auth.credential_use as use
  where use.day >= credential_uses.since
    and (credential_uses.wanted is null or use.credential_id = credential_uses.wanted)
  order by use.day desc, use.version, use.deprecated_field;
end
$$;
comment on function administration.credential_uses(date, uuid) is
  'Uses of all credentials, or one, since a day.';
select api_meta.give('administration.credential_uses(date, uuid)', 'service_registrar');
grant execute on function administration.credential_uses(date, uuid) to service_administration;
--! EndIncluded administration/credential_uses.sql
--! Included administration/credentials.sql
create or replace function administration.credentials(wanted uuid default null)
returns setof auth.credential_overview
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select * from auth.credential_overview as overview
  where credentials.wanted is null or overview.id = credentials.wanted
  order by lower(overview.name), overview.id;
end
$$;
comment on function administration.credentials(uuid) is 'All credentials, or one, without their secrets.';
select api_meta.give('administration.credentials(uuid)', 'service_registrar');
grant execute on function administration.credentials(uuid) to service_administration;
--! EndIncluded administration/credentials.sql
--! Included administration/delete_credential.sql
create or replace function administration.delete_credential(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.delete_credential(delete_credential.id);
end
$$;
comment on function administration.delete_credential(uuid) is
  'Removes a credential, as auth.delete_credential.';
select api_meta.give('administration.delete_credential(uuid)', 'service_registrar');
grant execute on function administration.delete_credential(uuid) to service_administration;
--! EndIncluded administration/delete_credential.sql
--! Included administration/drop_webhook_backlog.sql
create or replace function administration.drop_webhook_backlog(id uuid, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  -- If it is enabled in the meantime, the remaining deliveries stay
  perform from events.webhook_subscription s where s.id = drop_webhook_backlog.id and not s.enabled;
  if not found then
    return 0;
  end if;
  return events.drop_waiting(drop_webhook_backlog.id, batch);
end
$$;
comment on function administration.drop_webhook_backlog(uuid, integer) is
  'Cancels what waits for a disabled subscription, at most as many deliveries as the batch. Answers how '
  'many: to be called again until that is 0.';
select api_meta.give('administration.drop_webhook_backlog(uuid, integer)', 'service_registrar');
grant execute on function administration.drop_webhook_backlog(uuid, integer) to service_administration;
--! EndIncluded administration/drop_webhook_backlog.sql
--! Included administration/end_session.sql
create or replace function administration.end_session() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  administrator_name constant text := (
    select administrator.name
    from auth.administrator
    where administrator.id = administration.require_administrator());
begin
  perform auth.note_event('session.ended', administrator_name);
  delete
  from auth.administrator_session
  where token_hash = decode(current_setting('service.session', true), 'hex');
end
$$;
comment on function administration.end_session() is 'Ends the session.';
select api_meta.give('administration.end_session()', 'service_registrar');
grant execute on function administration.end_session() to service_administration;
--! EndIncluded administration/end_session.sql
--! Included administration/known_scopes.sql
create or replace function administration.known_scopes() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select auth.known_scopes();
end
$$;
comment on function administration.known_scopes() is 'Every scope that a credential can have.';
select api_meta.give('administration.known_scopes()', 'service_registrar');
grant execute on function administration.known_scopes() to service_administration;
--! EndIncluded administration/known_scopes.sql
--! Included administration/limit_credential.sql
create or replace function administration.limit_credential(id uuid, lasts interval) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.limit_credential(limit_credential.id, limit_credential.lasts);
end
$$;
comment on function administration.limit_credential(uuid, interval) is
  'Gives a credential an end, as auth.limit_credential.';
select api_meta.give('administration.limit_credential(uuid, interval)', 'service_registrar');
grant execute on function administration.limit_credential(uuid, interval) to service_administration;
--! EndIncluded administration/limit_credential.sql
--! Included administration/note_refused_log_in.sql
create or replace function administration.note_refused_log_in(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A name that no administrator has may be a password in the wrong field
  perform auth.note_event(
    'session.refused', (
      select administrator.name
      from auth.administrator
      where lower(administrator.name) = lower(note_refused_log_in.name)
    )
  );
end
$$;
comment on function administration.note_refused_log_in(text) is
  'Notes a failed log-in, with the name if there is such an administrator.';
select api_meta.give('administration.note_refused_log_in(text)', 'service_registrar');
grant execute on function administration.note_refused_log_in(text) to service_administration;
--! EndIncluded administration/note_refused_log_in.sql
--! Included administration/operation_senders.sql
create or replace function administration.operation_senders(wanted text)
returns table (
  credential_id uuid, credential_name text, requests bigint, ms double precision,
  slowest_ms double precision, last_used_on date
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select c.id, c.name::text, sum(u.requests)::bigint, sum(u.ms), max(u.slowest_ms), max(u.day)
  from auth.operation_use u join auth.credential c on c.id = u.credential_id
  where u.operation_id = operation_senders.wanted
  group by c.id
  order by 4 desc;
end
$$;
comment on function administration.operation_senders(text) is 'The credentials that sent an operation.';
select api_meta.give('administration.operation_senders(text)', 'service_registrar');
grant execute on function administration.operation_senders(text) to service_administration;
--! EndIncluded administration/operation_senders.sql
--! Included administration/operations.sql
create or replace function administration.operations(wanted text default null)
returns setof auth.operation_overview
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select * from auth.operation_overview as overview
  where operations.wanted is null or overview.id = operations.wanted
  order by overview.ms desc, overview.id
  limit 100;
end
$$;
comment on function administration.operations(text) is
  'The operations whose statements took the most time, or one.';
select api_meta.give('administration.operations(text)', 'service_registrar');
grant execute on function administration.operations(text) to service_administration;
--! EndIncluded administration/operations.sql
--! Included administration/require_administrator.sql
create or replace function administration.require_administrator() returns uuid
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  administrator_id constant uuid := auth.acting_administrator();
begin
  if administrator_id is null then
    raise exception 'There is no session, or it has ended.' using errcode
      = 'invalid_authorization_specification';
  end if;
  return administrator_id;
end
$$;
comment on function administration.require_administrator() is
  'The administrator of the session; refuses when there is none that is alive.';
grant execute on function administration.require_administrator() to service_registrar;
--! EndIncluded administration/require_administrator.sql
--! Included administration/own_password.sql
create or replace function administration.own_password() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select administrator.password_hash
  from auth.administrator
  where administrator.id = administration.require_administrator();
end;
comment on function administration.own_password() is
  'The hash of the administrator''s own password, which changing it is checked with.';
select api_meta.give('administration.own_password()', 'service_registrar');
grant execute on function administration.own_password() to service_administration;
--! EndIncluded administration/own_password.sql
--! Included administration/password_of.sql
create or replace function administration.password_of(name text)
returns table (administrator_id uuid, password_hash text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select administrator.id, administrator.password_hash from auth.administrator
  where lower(administrator.name) = lower(password_of.name) and administrator.deactivated_at is null;
end;
comment on function administration.password_of(text) is
  'The hash that a password is compared with; no row for an administrator who is unknown or deactivated.';
select api_meta.give('administration.password_of(text)', 'service_registrar');
grant execute on function administration.password_of(text) to service_administration;
--! EndIncluded administration/password_of.sql
--! Included administration/plans.sql
create or replace function administration.plans() returns table (name text, is_current boolean, limits jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select plan.name, plan.is_current, plan.limits from auth.plan;
end
$$;
comment on function administration.plans() is 'The plans that there are, of which one is current.';
select api_meta.give('administration.plans()', 'service_registrar');
grant execute on function administration.plans() to service_administration;
--! EndIncluded administration/plans.sql
--! Included administration/restrict_operations.sql
create or replace function administration.restrict_operations(id uuid, stored_only boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.restrict_operations(restrict_operations.id, restrict_operations.stored_only);
end
$$;
comment on function administration.restrict_operations(uuid, boolean) is
  'Restricts a credential to stored operations, or not, as auth.restrict_operations.';
select api_meta.give('administration.restrict_operations(uuid, boolean)', 'service_registrar');
grant execute on function administration.restrict_operations(uuid, boolean) to service_administration;
--! EndIncluded administration/restrict_operations.sql
--! Included administration/retry_webhook_delivery.sql
create or replace function administration.retry_webhook_delivery(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.note_webhook_event('webhook_delivery.retried', events.send_again(retry_webhook_delivery.id),
    jsonb_build_object('delivery_id', retry_webhook_delivery.id));
end
$$;
comment on function administration.retry_webhook_delivery(uuid) is
  'Delivers something again, as events.send_again.';
select api_meta.give('administration.retry_webhook_delivery(uuid)', 'service_registrar');
grant execute on function administration.retry_webhook_delivery(uuid) to service_administration;
--! EndIncluded administration/retry_webhook_delivery.sql
--! Included administration/rotate_credential.sql
create or replace function administration.rotate_credential(
  id uuid, present_key text, access_key text, secret_hash bytea, overlap interval
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform from auth.credential where credential.id = rotate_credential.id for update;
  if not exists (
    select from auth.credential_secret as secret
    where secret.credential_id = rotate_credential.id and secret.access_key = rotate_credential.present_key
      and secret.expires_at is null
  ) then
    return false;
  end if;
  perform auth.rotate_credential(
    rotate_credential.id, rotate_credential.access_key, rotate_credential.secret_hash,
    rotate_credential.overlap
  );
  return true;
end
$$;
comment on function administration.rotate_credential(uuid, text, text, bytea, interval) is
  'Rotates a credential, as auth.rotate_credential, if its newest key is still the one that the page '
  'showed; answers whether it was. So a form that is sent twice rotates once.';
select api_meta.give(
  'administration.rotate_credential(uuid, text, text, bytea, interval)', 'service_registrar'
);
grant execute on function administration.rotate_credential(uuid, text, text, bytea, interval)
  to service_administration;
--! EndIncluded administration/rotate_credential.sql
--! Included administration/set_credential_active.sql
create or replace function administration.set_credential_active(id uuid, active boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  if set_credential_active.active then
    perform auth.activate_credential(set_credential_active.id);
  else
    perform auth.deactivate_credential(set_credential_active.id);
  end if;
end
$$;
comment on function administration.set_credential_active(uuid, boolean) is
  'Deactivates a credential, or activates it again.';
select api_meta.give('administration.set_credential_active(uuid, boolean)', 'service_registrar');
grant execute on function administration.set_credential_active(uuid, boolean) to service_administration;
--! EndIncluded administration/set_credential_active.sql
--! Included administration/set_plan.sql
create or replace function administration.set_plan(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.set_plan(set_plan.name);
end
$$;
comment on function administration.set_plan(text) is
  'Gives the merchant another plan, as auth.set_plan; the limits that come with it stay.';
select api_meta.give('administration.set_plan(text)', 'service_registrar');
grant execute on function administration.set_plan(text) to service_administration;
--! EndIncluded administration/set_plan.sql
--! Included administration/set_webhook_enabled.sql
create or replace function administration.set_webhook_enabled(id uuid, enabled boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  perform administration.require_administrator();
  select * into present from events.webhook_subscription s where s.id = set_webhook_enabled.id;
  if not found then
    raise exception 'There is no webhook subscription %.',
      set_webhook_enabled.id using errcode = 'no_data_found';
  elsif set_webhook_enabled.enabled and present.health <> 'HEALTHY' then
    perform events.resume_subscription(present.id);
    perform auth.note_webhook_event('webhook_subscription.enabled', present.id);
  elsif present.enabled and not set_webhook_enabled.enabled then
    perform events.stop_subscription(present.id, 'An administrator disabled it.');
    perform auth.note_webhook_event('webhook_subscription.disabled', present.id);
  end if;
end
$$;
comment on function administration.set_webhook_enabled(uuid, boolean) is
  'Disables a webhook subscription, or lets one go on that is disabled or in trouble, on the account '
  'that it is on. What is so already stays so.';
select api_meta.give('administration.set_webhook_enabled(uuid, boolean)', 'service_registrar');
grant execute on function administration.set_webhook_enabled(uuid, boolean) to service_administration;
--! EndIncluded administration/set_webhook_enabled.sql
--! Included administration/start_session.sql
create or replace function administration.start_session(
  administrator_id uuid, checked_hash text, token_hash bytea
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  administrator_name text;
begin
  -- The caller has compared the hash before. If the password has changed since, the old one must not work.
  update auth.administrator set last_log_in_at = date_trunc('second', now())
  where id = start_session.administrator_id and password_hash = start_session.checked_hash
    and deactivated_at is null
  returning name into administrator_name;
  if not found then
    raise exception 'The password has changed.' using errcode = 'invalid_authorization_specification';
  end if;
  delete from auth.administrator_session as session
  where session.administrator_id = start_session.administrator_id
    and session.token_hash not in (select alive.token_hash from auth.live_session as alive);
  insert into auth.administrator_session (token_hash, administrator_id)
  values (start_session.token_hash, start_session.administrator_id);
  perform set_config('service.session', encode(start_session.token_hash, 'hex'), true);
  perform auth.note_event('session.started', administrator_name);
end
$$;
comment on function administration.start_session(uuid, text, bytea) is
  'Begins the session of an administrator whose password has been compared with this hash. Sessions of '
  'the same administrator that have ended are cleared away.';
select api_meta.give('administration.start_session(uuid, text, bytea)', 'service_registrar');
grant execute on function administration.start_session(uuid, text, bytea) to service_administration;
--! EndIncluded administration/start_session.sql
--! Included administration/stop_webhook.sql
create or replace function administration.stop_webhook(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  perform administration.require_administrator();
  select * into present from events.webhook_subscription s where s.id = stop_webhook.id;
  if not found then
    raise exception 'There is no webhook subscription %.', stop_webhook.id using errcode = 'no_data_found';
  elsif present.enabled or present.backlog_count > 0 then
    perform events.stop_subscription(present.id, 'An administrator stopped it, and dropped what waited.');
    perform auth.note_webhook_event('webhook_subscription.stopped', present.id,
      jsonb_build_object('dropped', present.backlog_count));
  end if;
end
$$;
comment on function administration.stop_webhook(uuid) is
  'Disables a webhook subscription, and notes that what waits is dropped, which '
  'administration.drop_webhook_backlog does.';
select api_meta.give('administration.stop_webhook(uuid)', 'service_registrar');
grant execute on function administration.stop_webhook(uuid) to service_administration;
--! EndIncluded administration/stop_webhook.sql
--! Included administration/stored_operations.sql
create or replace function administration.stored_operations(wanted uuid)
returns setof auth.stored_operation_overview
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select * from auth.stored_operation_overview as o
  where o.credential_id = stored_operations.wanted or o.credential_id is null
  order by o.name, o.version, o.sha256
  limit 200;
end
$$;
comment on function administration.stored_operations(uuid) is
  'The stored operations that a credential may send, as many as a page shows.';
select api_meta.give('administration.stored_operations(uuid)', 'service_registrar');
grant execute on function administration.stored_operations(uuid) to service_administration;
--! EndIncluded administration/stored_operations.sql
--! Included administration/test_webhook.sql
create or replace function administration.test_webhook(id uuid) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform administration.require_administrator();
  made := events.send_test(test_webhook.id);
  perform auth.note_webhook_event(
    'webhook_subscription.tested', test_webhook.id, jsonb_build_object('delivery_id', made)
  );
  return made;
end
$$;
comment on function administration.test_webhook(uuid) is
  'Sends a test, as events.send_test. Answers the delivery.';
select api_meta.give('administration.test_webhook(uuid)', 'service_registrar');
grant execute on function administration.test_webhook(uuid) to service_administration;
--! EndIncluded administration/test_webhook.sql
--! Included administration/use_session.sql
create or replace function administration.use_session()
returns table (administrator_id uuid, name text, ends_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present record;
begin
  select * into present from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
  if not found then return; end if;
  -- To the minute, so that not every page writes
  update auth.administrator_session as session set last_seen_at = date_trunc('second', now())
  where session.token_hash = present.token_hash and session.last_seen_at < now() - interval '1 minute';
  return query select present.administrator_id, present.name, present.ends_at;
end
$$;
comment on function administration.use_session() is
  'The administrator of the session, whose use is noted; no row when it has ended.';
select api_meta.give('administration.use_session()', 'service_registrar');
grant execute on function administration.use_session() to service_administration;
--! EndIncluded administration/use_session.sql
--! Included administration/webhook_attempts.sql
create or replace function administration.webhook_attempts(delivery uuid)
returns table (
  number integer, at timestamptz, duration_ms integer, status integer, error text, request_headers jsonb,
  response_headers jsonb, response_body text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select a.number, a.at::timestamptz, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers,
    a.response_body
  from events.delivery_attempt a where a.delivery_id = webhook_attempts.delivery
  order by a.number desc limit 100;
end
$$;
comment on function administration.webhook_attempts(uuid) is
  'The last hundred attempts of a delivery, the newest first.';
select api_meta.give('administration.webhook_attempts(uuid)', 'service_registrar');
grant execute on function administration.webhook_attempts(uuid) to service_administration;
--! EndIncluded administration/webhook_attempts.sql
--! Included administration/webhook_deliveries.sql
create or replace function administration.webhook_deliveries(subscription uuid, before uuid, how_many integer)
returns table (
  id uuid, created_at timestamptz, topic text, subject_id uuid, state text, attempts integer,
  last_status integer, last_error text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select d.id, d.created_at::timestamptz, coalesce(e.topic::text, 'webhook_subscription.test'), e.subject_id,
    d.state, d.attempts, a.status, a.error
  from events.delivery d
  left join events.event e on e.sequence = d.sequence
  left join events.delivery_attempt a on a.delivery_id = d.id and a.number = d.attempts
  where d.subscription_id = webhook_deliveries.subscription
    and (webhook_deliveries.before is null or d.id < webhook_deliveries.before)
  order by d.id desc
  limit least(webhook_deliveries.how_many, 200);
end
$$;
comment on function administration.webhook_deliveries(uuid, uuid, integer) is
  'The newest deliveries to a subscriber, or those before one, with the result of their last attempt.';
select api_meta.give('administration.webhook_deliveries(uuid, uuid, integer)', 'service_registrar');
grant execute on function administration.webhook_deliveries(uuid, uuid, integer) to service_administration;
--! EndIncluded administration/webhook_deliveries.sql
--! Included administration/webhook_delivery.sql
create or replace function administration.webhook_delivery(wanted uuid)
returns table (id uuid, subscription_id uuid, event_id uuid, sequence bigint, created_at timestamptz,
  topic text, subject_id uuid, state text, attempts integer,
  next_attempt_at timestamptz, delivered_at timestamptz, body text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select d.id, d.subscription_id, d.event_id, d.sequence, d.created_at::timestamptz, m.topic::text,
    e.subject_id, d.state, d.attempts,
    d.next_attempt_at::timestamptz, d.delivered_at::timestamptz, jsonb_pretty(m.body)
  from events.delivery d
  join events.message m on m.delivery_id = d.id
  left join events.event e on e.sequence = d.sequence
  where d.id = webhook_delivery.wanted;
end
$$;
comment on function administration.webhook_delivery(uuid) is
  'A delivery, with the body that it sends unless a payload query is asked for the data.';
select api_meta.give('administration.webhook_delivery(uuid)', 'service_registrar');
grant execute on function administration.webhook_delivery(uuid) to service_administration;
--! EndIncluded administration/webhook_delivery.sql
--! Included administration/webhook_subscriptions.sql
create or replace function administration.webhook_subscriptions(
  wanted uuid default null, before uuid default null, troubled boolean default false,
  how_many integer default 200
)
returns table (id uuid, topic text, url text, api_version text, fields text[], payload_query text,
  credential_id uuid, credential_name text,
  enabled boolean, health text, health_reason text, backlog_count bigint, last_delivered_at timestamptz,
    failing_since timestamptz,
  next_attempt_at timestamptz, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query
  select s.id, s.topic, s.url, s.api_version, s.fields, s.payload_query, s.credential_id, c.name, s.enabled,
    s.health, s.health_reason,
    s.backlog_count::bigint, s.last_delivered_at::timestamptz, s.failing_since::timestamptz,
    -- Suspended ones are only probed, degraded ones also; without a backlog there is nothing to try
    case when s.enabled and s.backlog_count > 0 then greatest(s.paused_until::timestamptz, (
      select case when s.health = 'DEGRADED' then least(s.next_probe_at, min(q.due_at))
        else greatest(s.next_probe_at, min(q.due_at)) end::timestamptz
      from events.delivery_queue q where q.subscription_id = s.id and q.due_at < 'infinity')) end,
    s.created_at::timestamptz
  from events.webhook_subscription s left join auth.credential c on c.id = s.credential_id
  where (webhook_subscriptions.wanted is null or s.id = webhook_subscriptions.wanted)
    and (webhook_subscriptions.before is null or s.id < webhook_subscriptions.before)
    and (not webhook_subscriptions.troubled or s.health <> 'HEALTHY')
  order by s.id desc
  limit least(webhook_subscriptions.how_many, 200);
end
$$;
comment on function administration.webhook_subscriptions(uuid, uuid, boolean, integer) is
  'The newest webhook subscriptions, or those before one, or a single one; of all, or of those that are '
  'not healthy. Never their secrets.';
select api_meta.give(
  'administration.webhook_subscriptions(uuid, uuid, boolean, integer)', 'service_registrar'
);
grant execute on function administration.webhook_subscriptions(uuid, uuid, boolean, integer)
  to service_administration;
--! EndIncluded administration/webhook_subscriptions.sql

--! Previous: sha1:de61304e595248933085d1deeaec65e3abdd614e
--! Hash: sha1:babb5139cc9ee93b56ce70759a09c0c601a1a87a
--! Message: keys by index

--! split: 1-current.sql
-- A look-up of a key doesn't read all keys
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb
)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp
-- The plan is kept while the table grows, so it must suit many keys from the first call on
set enable_seqscan = off as $$
declare
  earlier record;
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse(
      'OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}'
    );
  end if;
  -- A concurrent call with the same key waits here until the first has committed or failed.
  perform pg_advisory_xact_lock(mutation.key_lock(mutation.caller(), idempotency_key));
  select k.request, k.payload, k.created_at into earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if not found or earlier.created_at < now() - mutation.key_lifetime() then
    return null;
  end if;
  -- The second digest is that of keys from before mutation.digest was
  if earlier.request <> digest
    and earlier.request <> sha256(convert_to(operation || ' ' || input::text, 'UTF8')) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  -- Something is written, so that this waits for the synchronous standby as the first call may not have done
  perform pg_logical_emit_message(true, 'service', '');
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, name, jsonb) is
  'Takes a key for the running mutation, by a lock: mutation.keep_answer writes it down. Null when it was '
  'free; otherwise what the mutation answered that had it before. A key that is taken by another request is '
  'refused: IDEMPOTENCY_KEY_MISMATCH.';
grant execute on function mutation.take_key(text, bytea, name, jsonb) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/take_keys.sql
create or replace function mutation.take_keys(calls mutation.joint_call[]) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locked integer[];
begin
  -- A key that another transaction is taking is not waited for; of calls with the same key, the first is run
  locked := array(
    select c.nth from (
      select distinct on (c.caller, c.key) c.* from unnest(calls) c where c.key is not null
      order by c.caller, c.key, c.nth
    ) c where c.fits and pg_try_advisory_xact_lock(mutation.key_lock(c.caller, c.key))
  );
  return array(
    select row (c.nth, c.operation, c.input_type, c.input, c.line, c.key, c.caller, c.cause,
      c.fits and (c.key is null or c.nth = any (locked) and (k.key is null or k.request = d.digest
        and k.payload is not null and k.created_at >= now() - mutation.key_lifetime())),
      d.digest, k.payload)::mutation.joint_call
    from unnest(calls) c
    cross join lateral (
      select case when c.key is not null then
        mutation.digest(c.operation, c.input_type, c.input, false) end offset 0
    ) d (digest)
    left join mutation.idempotency_key k on k.credential_id = c.caller and k.key = c.key
    order by c.nth
  );
end
$$;
comment on function mutation.take_keys(mutation.joint_call[]) is
  'The calls, of which those fit that have no key, or one that is free, or repeat what was answered already. '
  'Keys that stand for something else, or are too old, are left to mutation.run.';
select api_meta.plan_by_index('mutation.take_keys(mutation.joint_call[])');
grant execute on function mutation.take_keys(mutation.joint_call[]) to service_writer;
--! EndIncluded mutation/take_keys.sql
--! Included mutation/forget_keys.sql
create or replace function mutation.forget_keys() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- The plan is kept while the table grows, so it must suit many keys from the first call on
set enable_seqscan = off as $$
declare
  expired constant timestamptz := now() - mutation.key_lifetime();
begin
  -- A look at the oldest takes a fraction of what deleting none would
  if (select k.created_at from mutation.idempotency_key k order by k.created_at limit 1) >= expired then
    return;
  end if;
  -- More than come meanwhile, and so few that no call takes long
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < expired
    order by o.created_at limit 20 for update skip locked));
end
$$;
comment on function mutation.forget_keys() is 'Removes some idempotency keys that are too old.';
grant execute on function mutation.forget_keys() to service_writer;
--! EndIncluded mutation/forget_keys.sql
--! Included mutation/prune_keys.sql
create or replace function mutation.prune_keys(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off as $$
declare
  deleted integer;
begin
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o
    where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit batch for update skip locked));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function mutation.prune_keys(integer) is
  'Removes idempotency keys that are too old, at most as many as the batch: those that no mutation has '
  'removed along with its own. Answers how many: to be called again until that is 0.';
select api_meta.give('mutation.prune_keys(integer)', 'service_writer');
grant execute on function mutation.prune_keys(integer) to service_worker;
--! EndIncluded mutation/prune_keys.sql

--! Previous: sha1:1fc2493cb08aed8b61a95593059dee92a116b093
--! Hash: sha1:64422e0ddfdb873a7c0ebfea5ca9784c3a5a7a99
--! Message: bookings

--! split: 30-bookings.sql
-- Bookings write each row once, as service_booker; triggers are for everybody else.
drop function if exists ledger.insert_movements(ledger.draft[], timestamptz, text);
drop function if exists ledger.stock_of(ledger.draft[]);
drop function if exists ledger.lock(uuid[], uuid[], uuid[]);
drop function if exists events.announcement(events.subject, text);
drop type if exists ledger.leg cascade;
drop type if exists ledger.place_change cascade;

create type ledger.leg as (
  position bigint, product_id uuid, place_type text, place text, change integer, batch_id uuid,
    booked_at timestamptz, is_count boolean
);
comment on type ledger.leg is
  'One end of a movement: by how much it changes what lies in a place, which is a key as in '
  'ledger.stock.place; negative where it leaves. is_count tells corrections after counts.';
create type ledger.place_change as (
  position bigint, product_id uuid, place_type text, place text, warehouse_id uuid, stock_id uuid,
    is_new boolean, change bigint
);
comment on type ledger.place_change is
  'By how much movements change what lies in a place, which is a key as in ledger.stock.place: the stock '
  'there, which may have to be made, and the warehouse that it is in, if any.';

-- Triggers of others on what it writes may refuse and warn.
grant usage on schema ledger, erp, events, mutation to service_booker;
select api_meta.allow('service_booker', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_booker', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_booker', 'ledger.stock', 'select', 'insert', 'update (quantity, updated_at)');
select api_meta.allow('service_booker', 'ledger.stock_count', 'select');
select api_meta.allow('service_booker', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_booker', 'ledger.warehouse_stock',
  'select', 'insert', 'update (quantity, updated_at)');
select api_meta.allow('service_booker', 'erp.product',
  'select', 'update (physical_stock, stock_not_available_for_sale, updated_at)');
select api_meta.allow('service_booker', 'erp.batch', 'select', 'update (physical_stock, updated_at)');
select api_meta.allow('service_booker', 'erp.product_warehouse_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_booker', 'erp.product_stock_location_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_booker', 'erp.warehouse', 'select');
select api_meta.allow('service_booker', 'erp.bin_location', 'select');
select api_meta.allow('service_booker', 'events.outbox', 'insert');
revoke insert on ledger.stock_movement, ledger.stock_movement_batch from service_ledger;
drop policy if exists stock_movement_insert_ledger on ledger.stock_movement;
drop policy if exists stock_movement_batch_insert_ledger on ledger.stock_movement_batch;

-- What a mutation needs to know about itself is written down when it is migrated.
drop table if exists mutation.operation;
create table mutation.operation (
  version name collate "C" not null,
  operation name collate "C" not null,
  routine regproc not null,
  input_type regtype not null,
  payload_type regtype not null,
  takes_changes boolean not null,
  scopes text[] not null,
  constraint operation_pkey primary key (version, operation)
);
alter table mutation.operation enable row level security;
comment on table mutation.operation is
  'What mutation.run is to know of each mutation. Follows from the functions of the API schemas, after each '
  'migration.';
select api_meta.allow('service_writer', 'mutation.operation', 'select');
--! Included mutation/user_error.sql
create or replace function mutation.user_error(
  code text, message text, field text[] default null, details jsonb default null
)
returns jsonb
language sql immutable parallel safe
return pg_catalog.jsonb_build_object(
  'code', code, 'message', message, 'field', pg_catalog.to_jsonb(field), 'details', details
);
comment on function mutation.user_error(text, text, text[], jsonb) is
  'One user error: a code of api_unstable.user_error_code, a sentence for people, the way to the input '
  'at fault in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.user_error(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/user_error.sql
--! Included mutation/path.sql
create or replace function mutation.path(list text, line bigint, variadic field text[] default '{}')
returns text[]
language sql immutable parallel safe
return array[list, (line - 1)::text] operator(pg_catalog.||) field;
comment on function mutation.path(text, bigint, text[]) is
  'The way to an element of a list in the input, or to a field of it, for user errors. Lines are '
  'counted from 1.';
grant execute on function mutation.path(text, bigint, text[])
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/path.sql
--! Included mutation/refuse.sql
create or replace function mutation.refuse(errors jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(errors) > 0 then
    raise exception using errcode = 'UE001', message = errors -> 0 ->> 'message', detail = errors::text;
  end if;
end
$$;
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; goes on when the array is empty or null. SQLSTATE '
  'UE001, the detail is the array.';
grant execute on function mutation.refuse(jsonb)
  to service_ledger, service_booker, service_writer;

create or replace function mutation.refuse(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.refuse(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.refuse(text, text, text[], jsonb) is 'Ends the mutation with one user error.';
grant execute on function mutation.refuse(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/refuse.sql
--! Included mutation/refuse_missing.sql
create or replace function mutation.refuse_missing(thing text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform mutation.refuse('NOT_FOUND', format('There is no such %s.', thing), field);
end
$$;
comment on function mutation.refuse_missing(text, text[]) is
  'Ends the mutation, since an id in the input leads to nothing. User error NOT_FOUND.';
grant execute on function mutation.refuse_missing(text, text[])
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/refuse_missing.sql
--! Included mutation/warnings.sql
create or replace function mutation.warnings() returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
return coalesce(nullif(current_setting('service.warnings', true), ''), '[]')::jsonb;
comment on function mutation.warnings() is
  'The warnings of the running mutation, as mutation.warn noted them. They live as long as its transaction.';
grant execute on function mutation.warnings()
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warnings.sql
--! Included mutation/warn.sql
create or replace function mutation.warn(warnings jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(warnings) > 0 then
    perform set_config('service.warnings', (mutation.warnings() || warnings)::text, true);
  end if;
end
$$;
comment on function mutation.warn(jsonb) is
  'Notes an array of warnings of the running mutation, each as mutation.user_error makes one; does '
  'nothing when the array is empty or null. mutation.run answers them when the mutation is done. What '
  'is rolled back to a savepoint takes its warnings with it.';
grant execute on function mutation.warn(jsonb)
  to service_ledger, service_booker, service_writer;

create or replace function mutation.warn(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.warn(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.warn(text, text, text[], jsonb) is
  'Notes a warning of the running mutation: a code of api_unstable.warning_code, a sentence for people, '
  'the way to the input that it is about in names of columns (such as {lines,0,quantity}), and further '
  'facts.';
grant execute on function mutation.warn(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warn.sql
--! Included mutation/derive_operations.sql
create or replace function mutation.derive_operations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from mutation.operation;
  insert into mutation.operation (
    version, operation, routine, input_type, payload_type, takes_changes, scopes
  )
  select n.nspname, p.proname, p.oid, p.proargtypes[0], p.prorettype, p.pronargs > 1, s.scopes
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  cross join lateral (
    select regexp_split_to_array(
      substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +'
    )
  ) s (scopes)
  where n.nspname ~ '^api_(unstable|\d)' and p.provolatile = 'v' and s.scopes is not null;
end
$$;
comment on function mutation.derive_operations() is
  'Writes down what mutation.run is to know of each mutation, from the functions of the API schemas and '
  'the tags of their comments. Runs after each migration.';
--! EndIncluded mutation/derive_operations.sql
--! Included mutation/find.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out payload_type regtype, out takes_changes boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select o.routine, o.input_type, o.payload_type, o.takes_changes, o.scopes
  into routine, input_type, payload_type, takes_changes, scopes
  from mutation.operation o where o.version = find.version and o.operation = find.operation;
  if scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(scopes, ' or ')
      using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function mutation.find(name, name) is
  'The function of a mutation, its types, and whether it takes changes, as mutation.derive_operations '
  'wrote them down. Fails when there is none of that name, or the caller lacks its scope.';
grant execute on function mutation.find(name, name) to service_writer;
--! EndIncluded mutation/find.sql
--! Included api_meta/rule_columns.sql
create or replace function api_meta.rule_columns(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(
    format('  %1$I constant %2$s.%1$I%%type := new.%1$I;', a.attname, relation), E'\n' order by a.attnum
  )
  from pg_attribute a
  where a.attrelid = relation and a.attnum in (
    select k from pg_constraint c cross join unnest(c.conkey) k
    where c.conrelid = relation and c.contype = 'c' and not c.conenforced);
end;
comment on function api_meta.rule_columns(regclass) is
  'Declarations of variables, for the columns of a new row that the checks of a table are about which '
  'are declared as not enforced: in their names, a check reads in a trigger as it does in the table.';
--! EndIncluded api_meta/rule_columns.sql
--! Included api_meta/derive_rules.sql
create or replace function api_meta.derive_rules() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select c.conrelid::regclass as relation, n.nspname as schema, t.relname as name,
      format('%I.%I', n.nspname, 'uphold_rules_of_' || t.relname) as routine,
      string_agg(format('(%s)', e.rule), E'\n    and ' order by c.conname) as rules,
      string_agg(format('when not (%s) then %L', e.rule, c.conname), E'\n      ' order by c.conname) as cases
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    cross join lateral (select pg_get_expr(c.conbin, c.conrelid) as rule) e
    where c.contype = 'c' and not c.conenforced
    group by c.conrelid, n.nspname, t.relname order by c.conrelid::regclass::text
  loop
    execute format($f$create or replace function %s() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $b$
declare
%s
  broken text;
begin
  if not (%s) then
    broken := case
      %s end;
    raise check_violation using constraint = broken, table = %L, schema = %L,
      message = format('new row for relation "%%s" violates check constraint "%%s"', %L, broken);
  end if;
  return new;
end
$b$ $f$, item.routine, api_meta.rule_columns(item.relation), item.rules, item.cases, item.name, item.schema,
      item.name);
    execute format('comment on function %s() is %L', item.routine,
      'Trigger, made by api_meta.derive_rules: upholds the checks of ' || item.relation
      || ' that are declared as not enforced.');
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'uphold_rules'
    ) then
      -- By its name it comes after all others that change the row
      execute format('create trigger uphold_rules before insert or update on %s '
        'for each row execute function %s()', item.relation, item.routine);
    end if;
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgfoid::regprocedure as routine from pg_trigger t
    where t.tgname = 'uphold_rules' and not exists (
      select from pg_constraint c where c.conrelid = t.tgrelid and c.contype = 'c' and not c.conenforced)
  loop
    execute format('drop trigger uphold_rules on %s', item.relation);
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_rules() is
  'Makes a trigger of the checks of each table that are declared as not enforced, which refuses the '
  'same rows with the same error. Postgres compiles an enforced check anew in each statement, a trigger '
  'once in a session, so tables that every booking writes to declare theirs in this way. Runs after each '
  'migration.';
--! EndIncluded api_meta/derive_rules.sql
--! Included api_meta/finish_migration.sql
create or replace function api_meta.finish_migration() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cause text;
  code text;
  place text;
begin
  begin
    perform api_meta.derive();
    perform events.derive_announcements();
    perform api_meta.derive_rules();
    perform mutation.derive_operations();
  exception when others then
    get stacked diagnostics cause = message_text, code = returned_sqlstate, place = pg_exception_context;
    raise exception using errcode = code,
      message = 'What follows from the migration could not be derived: ' || cause,
      -- The innermost statement names the object, the function below it the derived part
      detail = concat_ws(E'\nin ',
        left(substring(place from '^SQL statement "(.*?)"\nPL/pgSQL function'), 300),
        substring(place from '\nPL/pgSQL function ([^ ]+)'));
  end;
  perform api_meta.require_frozen_versions();
end
$$;
comment on function api_meta.finish_migration() is
  'The last step of every migration, in its transaction: derives what follows from it, then holds the '
  'frozen versions against what was recorded of them. When either fails, so does the '
  'migration, and nothing of it stays.';
--! EndIncluded api_meta/finish_migration.sql
--! Included events/changed_expression.sql
create or replace function events.changed_expression(subject events.subject, by_booking boolean) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('array_remove(array[%s], null)', string_agg(
    format('case when n.%1$I is distinct from o.%1$I then %2$L end', f.column_name, f.name),
    ', ' order by f.position
  ))
  from events.field f
  join pg_attribute a on a.attrelid = subject.relation and a.attname = f.column_name
  where f.subject_type = subject.type and f.column_name <> all ('{id,created_at,updated_at}')
    and (not by_booking or a.attgenerated <> ''
      or has_column_privilege('service_booker', subject.relation, f.column_name, 'update'));
end;
comment on function events.changed_expression(events.subject, boolean) is
  'SQL for the names of the fields that differ between the old row o of a subject and the new row n: of '
  'all, or of those that a booking may change.';
--! EndIncluded events/changed_expression.sql
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format('select %s, %I.id, %I.%I, %s, %s %s where %s', t.topics, alias, alias,
      subject.entity_column,
      events.data_expression(subject, t.fields, alias),
        case operation when 'update' then 'c.changed' else 'null::text[]' end, source, t.condition),
        ' union all ')
    from (
      -- Topics with the same data share a scan of the rows
      select t.fields,
        case when count(*) = 1 then format('%L::text', min(t.name)) else
          format('unnest(array_remove(array[%s], null))',
            string_agg(format('case when %s then %L end', c.condition, t.name), ', '
            order by o.columns is not null, t.name)) end as topics,
            string_agg(format('(%s)', c.condition), ' or ') as condition
      from events.topic t join events.occasion o on o.topic = t.name and o.operation = announcement.operation
      cross join lateral (select concat_ws(' and ',
        case when announcement.operation = 'update' then case
          when o.columns is null then 'c.changed <> ''{}''' else format('(%s)', (
            select string_agg(format('n.%1$I is distinct from o.%1$I', name), ' or ')
            from unnest(o.columns) name)) end end,
        '(' || coalesce(o.condition, 'true') || ')') as condition) c
      where t.subject_type = subject.type group by t.fields
    ) t
  );
end
$$;
comment on function events.announcement(events.subject, text, text) is
  'SQL for the events that rows of a subject make: topic, subject, entity, data, changed fields. The '
  'source names the new row n and the old one o, and, of updates, the fields that changed c.changed. '
  'Null when there are none.';
--! EndIncluded events/announcement.sql
--! Included events/derive_booked_events.sql
create or replace function events.derive_booked_events(subject events.subject, operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  name constant text := (select relname from pg_class where oid = subject.relation);
  routine constant text := format('events.%I', name || '_' || operation || '_events');
begin
  -- In a form that becomes part of the statement that calls it
  execute format(
    'create or replace function %s(%s) returns table ('
    'topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]) '
    'language sql stable begin atomic %s; end',
    routine,
    concat_ws(', ', case when operation = 'update' then format('o %s', subject.relation) end,
      format('n %s', subject.relation)),
    coalesce(
      events.announcement(subject, operation, case
        when operation = 'update' then
          format('from (select %s offset 0) c (changed)', events.changed_expression(subject, true))
        else '' end),
      'select null::text, null::uuid, null::uuid, null::jsonb, null::text[] where false'
    )
  );
  execute format('comment on function %s is %L', routine::regproc::regprocedure,
    'Made by events.derive_announcements: the events of one of the ' || operation || 's of '
    || subject.relation || ' that a booking does.');
  execute format('grant execute on function %s to service_booker', routine::regproc::regprocedure);
end
$$;
comment on function events.derive_booked_events(events.subject, text) is
  'Makes the function by which bookings tell what they do to a row: the same events as the trigger''s.';
--! EndIncluded events/derive_booked_events.sql
--! Included events/derive_announcements.sql
create or replace function events.derive_announcements() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  -- Bookings write their events themselves
  aside text;
begin
  for item in
    select s as subject, s.relation, e.operation, e.tables, 'announce_' || e.operation as name,
      format('events.announce_%s_%s', c.relname, e.operation) as routine,
      events.announcement(s, e.operation, case e.operation
        when 'insert' then 'from new_rows n'
        when 'delete' then 'from old_rows o'
        else format('from new_rows n join old_rows o on o.id = n.id '
          'cross join lateral (select %s offset 0) c (changed)', events.changed_expression(s, false))
        end) as rows,
      case e.operation
        when 'insert' then has_table_privilege('service_booker', s.relation, 'insert')
        when 'update' then has_any_column_privilege('service_booker', s.relation, 'update')
        else false end as is_booked
    from events.subject s join pg_class c on c.oid = s.relation
    cross join (
      values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'),
        ('delete', 'old table as old_rows')
    )
      e (operation, tables)
  loop
    if item.is_booked then
      perform events.derive_booked_events(item.subject, item.operation);
    end if;
    if item.rows is null then
      execute format('drop trigger if exists %I on %s', item.name, item.relation);
      execute format('drop function if exists %s()', item.routine);
      continue;
    end if;
    -- A plan is kept for all later calls: one for a single row would be bad for a thousand
    execute format($f$create or replace function %s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp%s as $b$
      begin
        insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
        select e.*, (select events.cause()) from (%s) e (topic, subject_id, entity_id, data, changed_fields);
        return null;
      end
      $b$ $f$, item.routine,
        case item.operation when 'update' then ' set enable_nestloop = off set enable_hashjoin = on' end,
        item.rows);
    execute format('comment on function %s() is %L', item.routine,
      'Trigger, made by events.derive_announcements: writes the events of '
      || item.operation || 's of ' || item.relation || ' into the outbox.');
    perform api_meta.give(format('%s()', item.routine)::regprocedure, 'service_recorder');
    aside := case when item.is_booked then 'when (current_user <> ''service_booker'') ' else '' end;
    if not exists (
      select from pg_trigger t
      where t.tgrelid = item.relation and t.tgname = item.name and (t.tgqual is not null) = item.is_booked
    ) then
      -- By its name it comes before the triggers that keep figures, and so before the events of these
      execute format('create or replace trigger %I after %s on %s referencing %s '
        'for each statement %sexecute function %s()',
        item.name, item.operation, item.relation, item.tables, aside, item.routine);
    end if;
  end loop;
end
$$;
comment on function events.derive_announcements() is
  'Makes the triggers that write events down out of what is declared, and, of tables that bookings write '
  'to, the functions by which bookings write the same events. Runs after each migration.';
--! EndIncluded events/derive_announcements.sql
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause() returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId',
    'gid://service/Credential/' || nullif(pg_catalog.current_setting('service.credential_id', true), ''),
  'requestId', nullif(pg_catalog.current_setting('service.request_id', true), ''),
  'idempotencyKey', nullif(pg_catalog.current_setting('service.idempotency_key', true), ''));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs; nulls outside of one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
--! Included ledger/is_count.sql
create or replace function ledger.is_count(process text, source_special text, destination_special text)
returns boolean
language sql immutable parallel safe
return coalesce(process in ('api', 'stocktaking')
  and (source_special = 'stock_correction' or destination_special = 'stock_correction'), false);
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between special places of these names if any, corrects the books '
  'after a count. Then nothing moved.';
grant execute on function ledger.is_count(text, text, text)
  to service_ledger, service_writer, service_booker;
--! EndIncluded ledger/is_count.sql
--! Included ledger/microseconds.sql
create or replace function ledger.microseconds(moment timestamptz) returns integer
language sql stable parallel safe
return extract(microseconds from moment)::integer % 1000000;
comment on function ledger.microseconds(timestamptz) is
  'What a moment has beyond its second: see ledger.stock_movement.microseconds.';
grant execute on function ledger.microseconds(timestamptz) to service_ledger, service_booker;
--! EndIncluded ledger/microseconds.sql
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}'
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  are_found boolean := true;
  found_rows bigint;
begin
  if warehouse_ids <> '{}' then
    perform from erp.warehouse w where w.id = any (warehouse_ids) order by w.id for key share;
    get diagnostics found_rows = row_count;
    are_found := found_rows = cardinality(warehouse_ids);
  end if;
  if bin_location_ids <> '{}' then
    perform from erp.bin_location b where b.id = any (bin_location_ids) order by b.id for key share;
    get diagnostics found_rows = row_count;
    are_found := are_found and found_rows = cardinality(bin_location_ids);
  end if;
  perform from erp.product p where p.id = any (product_ids) order by p.id for no key update;
  get diagnostics found_rows = row_count;
  return are_found and found_rows = cardinality(product_ids);
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a '
  'circle: warehouses and bins against being deleted and against a change of what they count for, then '
  'the products. Whoever has a product''s lock is alone with all of its stock and figures. Answers whether '
  'there are as many as ids, each of which is to be given once then.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included ledger/next_movement_id.sql
create or replace function ledger.next_movement_id() returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid := uuidv7();
  newest uuid;
begin
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m
    where m.id >= made order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an
      -- id now, too
      made := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint
        + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return made;
end
$$;
comment on function ledger.next_movement_id() is
  'A new id for a movement: larger than that of every movement that was committed before the '
  'transaction. The number of the transaction is drawn before it, never after it: readers rely on it '
  '(docs/decisions.md, "Following").';
grant execute on function ledger.next_movement_id() to service_booker;
--! EndIncluded ledger/next_movement_id.sql
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Inserted history keeps its own time
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t)
    into new.created_at, new.microseconds
    from clock_timestamp() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id,
    new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id,
        new.source_special_stock_location_technical_name)
        <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger',
        table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: leave the id out, and ask for it by returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  -- First the number, then the id, and never the other way round
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := ledger.next_movement_id();
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets '
  'its transaction and its id (ledger.next_movement_id). A constraint can''t ask for the places, for the '
  'id becomes null when the place is deleted.';
--! EndIncluded ledger/require_movement_places.sql
--! Included ledger/write_movements.sql
create or replace function ledger.write_movements(drafts ledger.draft[], moment timestamptz, note text)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- First the number of the transaction, then ids (ledger.next_movement_id)
  transaction_number constant bigint := pg_current_xact_id()::text::bigint;
  ids constant uuid[] := array(select ledger.next_movement_id() from generate_subscripts(drafts, 1));
begin
  with booked as (
    insert into ledger.stock_movement (
      id, transaction_id, created_at, microseconds, product_id, quantity, process_type_technical_name,
      comment,
      source_location_type_technical_name, source_warehouse_id, source_bin_location_id,
      source_order_id, source_return_order_id, source_goods_receipt_id, source_stock_container_id,
      source_special_stock_location_technical_name,
      destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id,
      destination_order_id, destination_return_order_id, destination_goods_receipt_id,
      destination_stock_container_id, destination_special_stock_location_technical_name
    )
    select ids[d.ordinality], transaction_number, date_trunc('second', moment), ledger.microseconds(moment),
      d.product_id, d.quantity, d.process, note,
      d.source_type,
      case d.source_type when 'warehouse' then d.source::uuid end,
      case d.source_type when 'bin_location' then d.source::uuid end,
      case d.source_type when 'order' then d.source::uuid end,
      case d.source_type when 'return_order' then d.source::uuid end,
      case d.source_type when 'goods_receipt' then d.source::uuid end,
      case d.source_type when 'stock_container' then d.source::uuid end,
      case d.source_type when 'special_stock_location' then d.source end,
      d.destination_type,
      case d.destination_type when 'warehouse' then d.destination::uuid end,
      case d.destination_type when 'bin_location' then d.destination::uuid end,
      case d.destination_type when 'order' then d.destination::uuid end,
      case d.destination_type when 'return_order' then d.destination::uuid end,
      case d.destination_type when 'goods_receipt' then d.destination::uuid end,
      case d.destination_type when 'stock_container' then d.destination::uuid end,
      case d.destination_type when 'special_stock_location' then d.destination end
    from unnest(drafts) with ordinality d order by d.ordinality
    returning stock_movement as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from booked b cross join lateral events.stock_movement_insert_events(b.n) e order by (b.n).id;
  return ids;
end
$$;
comment on function ledger.write_movements(ledger.draft[], timestamptz, text) is
  'Adds movements to the ledger, in the order of their drafts, and tells of them; answers their ids. Only '
  'for ledger.book, which checks them first.';
select api_meta.plan_by_index('ledger.write_movements(ledger.draft[], timestamptz, text)');
select api_meta.give('ledger.write_movements(ledger.draft[], timestamptz, text)', 'service_booker');
grant execute on function ledger.write_movements(ledger.draft[], timestamptz, text) to service_ledger;
--! EndIncluded ledger/write_movements.sql
--! Included ledger/write_batches.sql
create or replace function ledger.write_batches(drafts ledger.draft[], movement_ids uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select movement_ids[d.ordinality], d.batch_id, d.quantity
  from unnest(drafts) with ordinality d
  where d.batch_id is not null order by d.ordinality;
end
$$;
comment on function ledger.write_batches(ledger.draft[], uuid[]) is
  'Notes which batches movements moved. Only for ledger.book.';
select api_meta.plan_by_index('ledger.write_batches(ledger.draft[], uuid[])');
select api_meta.give('ledger.write_batches(ledger.draft[], uuid[])', 'service_booker');
grant execute on function ledger.write_batches(ledger.draft[], uuid[]) to service_ledger;
--! EndIncluded ledger/write_batches.sql
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out opens boolean,
  out opens_warehouses boolean, out is_configured boolean, out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change)::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    bool_or(s.id is null),
    bool_or(w.id is not null and not exists (
      select from ledger.warehouse_stock h where h.product_id = g.product_id and h.warehouse_id = w.id)),
    bool_or(w.id is not null and (exists (
      select from erp.product_warehouse_configuration c
      where c.product_id = g.product_id and c.warehouse_id = w.id
    ) or exists (
      select from erp.product_stock_location_configuration c
      where c.product_id = g.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = g.place
    ))),
    array_agg(s.id) filter (where g.has_moved and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, opens, opens_warehouses, is_configured, recounted
  from (
    select l.product_id, l.place_type, l.place, sum(l.change) as change, min(l.position) as position,
      bool_or(l.change < 0) as leaves, bool_or(l.change > 0) as comes,
      bool_or(l.batch_id is not null) as names_batches,
      min(l.booked_at) filter (where not l.is_count) as moved_at,
      sum(l.change) <> 0 or min(l.booked_at) < max(l.booked_at) as has_moved
    from unnest(legs) l group by l.product_id, l.place_type, l.place order by min(l.position)
  ) g
  join erp.product p on p.id = g.product_id
  left join ledger.stock s on s.product_id = g.product_id and s.place = g.place
  left join erp.bin_location b on b.id = case g.place_type when 'bin_location' then g.place::uuid end
  left join lateral (
    select case g.place_type when 'warehouse' then g.place::uuid else b.warehouse_id end
  ) w (id) on true;
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'What legs of movements change, one entry for each product and place, and what is to be seen to: '
  'needs_care when they may have to be refused or warned of, which is rare (batches or variants have a '
  'part in them, or a place has not enough); opens and opens_warehouses when rows of stock or of warehouse '
  'stock are not there yet; is_configured when configurations have figures that change; and the stock that '
  'was counted, as is known, after the moment of a leg. The products are locked.';
select api_meta.plan_by_index('ledger.examine(ledger.leg[])');
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/write_new_stock.sql
create or replace function ledger.write_new_stock(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with opened as (
    insert into ledger.stock (id, product_id, quantity, location_type_technical_name, warehouse_id,
      bin_location_id, order_id, return_order_id, goods_receipt_id, stock_container_id,
      special_stock_location_technical_name)
    select c.stock_id, c.product_id, c.change, c.place_type,
      case c.place_type when 'warehouse' then c.place::uuid end,
      case c.place_type when 'bin_location' then c.place::uuid end,
      case c.place_type when 'order' then c.place::uuid end,
      case c.place_type when 'return_order' then c.place::uuid end,
      case c.place_type when 'goods_receipt' then c.place::uuid end,
      case c.place_type when 'stock_container' then c.place::uuid end,
      case c.place_type when 'special_stock_location' then c.place end
    from unnest(changes) c where c.is_new order by c.position
    returning stock as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from opened o cross join lateral events.stock_insert_events(o.n) e order by (o.n).id;
end
$$;
comment on function ledger.write_new_stock(ledger.place_change[]) is
  'Makes the rows of stock that are not there yet, and tells of them. Only for ledger.write_figures.';
grant execute on function ledger.write_new_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/write_new_stock.sql
--! Included ledger/write_configured_figures.sql
create or replace function ledger.write_configured_figures(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
begin
  with in_place as (
    update erp.product_stock_location_configuration s set stock = s.stock + c.change, updated_at = today
    from unnest(changes) c
    where s.product_id = c.product_id and coalesce(s.warehouse_id, s.bin_location_id)::text = c.place
      and c.change <> 0
  )
  update erp.product_warehouse_configuration s set stock = s.stock + h.change, updated_at = today
  from (
    select c.product_id, c.warehouse_id, sum(c.change)::bigint as change
    from unnest(changes) c where c.warehouse_id is not null
    group by c.product_id, c.warehouse_id having sum(c.change) <> 0
  ) h
  where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id;
end
$$;
comment on function ledger.write_configured_figures(ledger.place_change[]) is
  'Brings the stock up to date that configurations of products have. Only for ledger.write_figures.';
grant execute on function ledger.write_configured_figures(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/write_configured_figures.sql
--! Included ledger/write_figures.sql
create or replace function ledger.write_figures(
  changes ledger.place_change[], opens boolean, opens_warehouses boolean, is_configured boolean
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  lacks boolean;
begin
  if opens then
    perform ledger.write_new_stock(changes);
  end if;
  with in_place as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from unnest(changes) c where s.id = c.stock_id and c.change <> 0 and not c.is_new
    returning with (old as o, new as n) o, n, c.position
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
  from in_place p cross join lateral events.stock_update_events(p.o, p.n) e order by p.position;
  if opens_warehouses then
    insert into ledger.warehouse_stock (product_id, warehouse_id)
    select c.product_id, c.warehouse_id from unnest(changes) c where c.warehouse_id is not null
    group by c.product_id, c.warehouse_id order by min(c.position)
    on conflict (product_id, warehouse_id) do nothing;
  end if;

  with held as materialized (
    select c.product_id, c.warehouse_id, sum(c.change)::bigint as change, min(c.position) as position
    from unnest(changes) c where c.warehouse_id is not null
    group by c.product_id, c.warehouse_id having sum(c.change) <> 0
  ),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change, updated_at = today
    from held h where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
    returning s.available_quantity
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale
    from (
      select held.product_id, sum(held.change)::bigint as change, min(held.position) as position,
        coalesce(sum(held.change) filter (where not w.is_stock_available_for_sale), 0)::bigint as not_for_sale
      from held join erp.warehouse w on w.id = held.warehouse_id group by held.product_id
    ) h where p.id = h.product_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_product p cross join lateral events.product_update_events(p.o, p.n) e order by p.position
  )
  select exists (select from in_product p where (p.n).available_stock < 0)
    or exists (select from in_warehouse w where w.available_quantity < 0)
  into lacks;
  if is_configured then
    perform ledger.write_configured_figures(changes);
  end if;
  return lacks;
end
$$;
comment on function ledger.write_figures(ledger.place_change[], boolean, boolean, boolean) is
  'Brings the figures up to date with what ledger.examine found, and tells of it: stock, warehouse stock, '
  'products, and their configurations, each row once. Answers whether available stock that it changed is '
  'below 0 now.';
select api_meta.plan_by_index('ledger.write_figures(ledger.place_change[], boolean, boolean, boolean)');
select api_meta.give('ledger.write_figures(ledger.place_change[], boolean, boolean, boolean)',
  'service_booker');
grant execute on function ledger.write_figures(ledger.place_change[], boolean, boolean, boolean)
  to service_ledger;
--! EndIncluded ledger/write_figures.sql
--! Included ledger/write_batch_figures.sql
create or replace function ledger.write_batch_figures(legs ledger.leg[])
returns table (batch_id uuid, stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  today constant timestamptz := date_trunc('second', now());
begin
  return query
  with flow as materialized (
    select s.id as stock_id, l.batch_id, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.place_type in ('warehouse', 'bin_location')), 0) as held,
      min(l.booked_at) filter (where not l.is_count) as moved_at
    from unnest(legs) l
    join ledger.stock s on s.product_id = l.product_id and s.place = l.place
    where l.batch_id is not null and l.place_type <> 'special_stock_location'
    group by s.id, l.batch_id
  ),
  opened as (
    insert into ledger.batch_stock (stock_id, batch_id, quantity)
    select f.stock_id, f.batch_id, f.change from flow f
    where not exists (
      select from ledger.batch_stock b where b.stock_id = f.stock_id and b.batch_id = f.batch_id)
    order by f.position
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id and f.change <> 0
  ),
  in_batch as (
    update erp.batch b set physical_stock = b.physical_stock + h.change, updated_at = today
    from (
      select flow.batch_id, sum(flow.held)::bigint as change, min(flow.position) as position
      from flow group by flow.batch_id having sum(flow.held) <> 0
    ) h
    where b.id = h.batch_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_batch b cross join lateral events.batch_update_events(b.o, b.n) e order by b.position
  )
  select f.batch_id, array_agg(f.stock_id) from flow f
  where exists (
    select from ledger.stock_count c
    where c.stock_id = f.stock_id and c.counted_at >= f.moved_at
      and c.batch_id = f.batch_id and c.difference is not null)
  group by f.batch_id;
end
$$;
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Brings the stock of batches up to date with movements, in each place and altogether, and tells of it. '
  'Answers the batches that were counted, as is known, after the moment of a leg, and in which stock.';
select api_meta.plan_by_index('ledger.write_batch_figures(ledger.leg[])');
select api_meta.give('ledger.write_batch_figures(ledger.leg[])', 'service_booker');
grant execute on function ledger.write_batch_figures(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/write_batch_figures.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  perform ledger.lock(array(select distinct product_id from booked));
  select * into seen from ledger.examine(array(
    select row (row_number() over (order by min(f.movement_id::text), min(f.direction)), f.product_id,
      f.location_type_technical_name, f.place, sum(f.quantity), null, f.booked_at, f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.id
    group by f.product_id, f.location_type_technical_name, f.place, f.booked_at, f.is_count
  ));
  if seen.changes is not null then
    perform ledger.write_figures(seen.changes, seen.opens, seen.opens_warehouses, seen.is_configured);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anybody but ledger.book: takes the locks that a booking '
  'takes, and brings the figures up to date in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(
    select distinct m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id
  ));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  perform ledger.carry_counts(w.stock_ids, w.batch_id)
  from ledger.write_batch_figures(array(
    select row (row_number() over (order by f.movement_id, f.direction), f.product_id,
      f.location_type_technical_name, f.place, m.quantity * f.direction, m.batch_id, f.booked_at,
      f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id
  )) w;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anybody but ledger.book: brings the stock of '
  'batches up to date, in each place and altogether.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/named_places.sql
create or replace function ledger.named_places(lines ledger.line[], operation text)
returns ledger.named_place[]
language sql immutable
return array(
  select row (l.ordinality, p.name, p.warehouse_id, p.bin_location_id)::ledger.named_place
  from unnest(lines) with ordinality l cross join lateral (values
    (case operation when 'transfer' then 'source' else 'place' end,
      l.source_warehouse_id, l.source_bin_location_id),
    (case operation when 'transfer' then 'destination' end,
      l.destination_warehouse_id, l.destination_bin_location_id)
  ) p (name, warehouse_id, bin_location_id) where p.name is not null
);
comment on function ledger.named_places(ledger.line[], text) is
  'The places that lines of a mutation of stock name, by the names that the input gives them.';
grant execute on function ledger.named_places(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/named_places.sql
--! Included ledger/is_malformed.sql
create or replace function ledger.is_malformed(lines ledger.line[], operation text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from unnest(lines) l
    where case operation when 'set' then l.quantity < 0 when 'adjust' then l.quantity = 0
        else l.quantity < 1
          or num_nonnulls(l.destination_warehouse_id, l.destination_bin_location_id) <> 1 end
      or num_nonnulls(l.source_warehouse_id, l.source_bin_location_id) <> 1
      or l.source_warehouse_id = l.destination_warehouse_id
      or l.source_bin_location_id = l.destination_bin_location_id
      or l.counted_at > clock_timestamp()
  ) or operation = 'set' and cardinality(lines) > 1 and exists (
    select from unnest(lines) l
    group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id having count(*) > 1
  );
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds something, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
  are_found boolean;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  if cardinality(lines) > 250 then
    perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  end if;
  if ledger.is_malformed(lines, operation) then
    perform ledger.check_form(lines, ledger.named_places(lines, operation), operation);
  end if;

  select array_agg(distinct l.product_id) as products, bool_or(l.batch_id is not null) as batches,
    bool_or(l.expected_quantity is not null) as expectations,
    array_agg(distinct p.warehouse_id) filter (where p.warehouse_id is not null) as warehouses,
    coalesce(array_agg(distinct p.bin_id) filter (where p.bin_id is not null), '{}') as bins
  into named
  from unnest(lines) l
  cross join lateral (values (l.source_warehouse_id, l.source_bin_location_id),
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id);
  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  are_found := ledger.lock(named.products, array(
    select n.id from unnest(named.warehouses) n (id)
    union select b.warehouse_id from erp.bin_location b where b.id = any (named.bins)
  ), named.bins);
  if not are_found or named.batches then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if named.expectations then
    perform ledger.check_expectations(lines);
  end if;
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'What the mutations of stock (set, adjust, transfer) have in common: checks their lines, and takes '
  'the locks of the booking, so that what is read afterwards is what the booking finds. User errors '
  'REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, '
  'QUANTITY_CHANGED.';
grant execute on function ledger.prepare(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/prepare.sql
--! Included ledger/legs_of.sql
create or replace function ledger.legs_of(drafts ledger.draft[], moment timestamptz) returns ledger.leg[]
language sql stable
return array(
  select row (d.ordinality * 2 + l.side, d.product_id, l.type, l.place, l.change, d.batch_id, moment,
    ledger.is_count(d.process, d.source, d.destination))::ledger.leg
  from unnest(drafts) with ordinality d
  cross join lateral (values (0, d.source_type, d.source, - d.quantity),
    (1, d.destination_type, d.destination, d.quantity)) l (side, type, place, change)
);
comment on function ledger.legs_of(ledger.draft[], timestamptz) is 'Both legs of each movement to be booked.';
grant execute on function ledger.legs_of(ledger.draft[], timestamptz) to service_ledger;
--! EndIncluded ledger/legs_of.sql
--! Included ledger/book.sql
create or replace function ledger.book(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := clock_timestamp();
  legs ledger.leg[];
  seen record;
  movement_ids uuid[];
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  legs := ledger.legs_of(drafts, moment);
  select * into seen from ledger.examine(legs);
  if seen.needs_care then
    perform ledger.check_variants(drafts);
    perform ledger.require_batches(drafts);
    perform ledger.require_stock(drafts);
  end if;

  movement_ids := ledger.write_movements(drafts, moment, note);
  if ledger.write_figures(seen.changes, seen.opens, seen.opens_warehouses, seen.is_configured) then
    perform ledger.warn_of_promises(drafts);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  -- Without need of care there are no batches
  if seen.needs_care then
    perform ledger.write_batches(drafts, movement_ids);
    perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  end if;
  return row (movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booking;
end
$$;
comment on function ledger.book(ledger.draft[], text) is
  'Books movements, of which the locks have been taken: checks that no real place is left with less '
  'than nothing of a product or a batch, and writes each row once. Answers the movements in the order of '
  'the drafts, and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED, '
  'PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.book(ledger.draft[], text)');
grant execute on function ledger.book(ledger.draft[], text) to service_ledger;
--! EndIncluded ledger/book.sql
--! Included ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(drafts);
  return ledger.book(drafts, note);
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: takes the locks, then does what ledger.book does. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text)');
select api_meta.give('ledger.post(ledger.draft[], text)', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text) to service_writer;
--! EndIncluded ledger/post.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.book(array(
    select row (mutation.path('lines', l.ordinality, 'delta'), l.product_id, abs(l.quantity), l.batch_id,
      case when l.quantity > 0 then 'special_stock_location' else p.type end,
        case when l.quantity > 0 then 'stock_correction' else p.place end,
      case when l.quantity > 0 then p.type else 'special_stock_location' end,
        case when l.quantity > 0 then p.place else 'stock_correction' end,
      case when l.quantity > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adds to stock or takes from it, against stock_correction.';
select api_meta.plan_by_index('ledger.adjust_stock(ledger.line[], text)');
select api_meta.give('ledger.adjust_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.adjust_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/adjust_stock.sql
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  booking ledger.booking;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    mutation.path('lines', r.line, 'quantity'),
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  booking := ledger.book(array(
    select case when d.difference > 0
      then row (d.field, r.product_id, d.difference, r.batch_id,
        'special_stock_location', 'stock_correction', r.place_type, r.place, 'api')::ledger.draft
      else row (d.field, r.product_id, - d.difference, r.batch_id,
        r.place_type, r.place, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    end
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  ), note);
  perform ledger.note_counts(readings, booking.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since. This count was kept, and changes nothing.',
    mutation.path('lines', r.line, 'counted_at'),
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- The result includes stock that was right already
  booking.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booking;
end
$$;
comment on function ledger.set_stock(ledger.line[], text) is
  'Sets stock to what was counted: books the difference against stock_correction. With counted_at, what '
  'was booked after that moment stays on top of the count; a count that is older than one that is known '
  'changes nothing, and is told by the warning COUNT_SUPERSEDED.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text)');
select api_meta.give('ledger.set_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/set_stock.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.book(array(
    select row (mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity, l.batch_id,
      s.type, s.place, d.type, d.place,
      'api_relocation')::ledger.draft
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id) d
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text) is
  'Moves stock from one warehouse or bin to another.';
select api_meta.plan_by_index('ledger.transfer_stock(ledger.line[], text)');
select api_meta.give('ledger.transfer_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.transfer_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/transfer_stock.sql

create or replace trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row when (current_user <> 'service_booker') execute function ledger.require_movement_places();
create or replace trigger keep_figures after insert on ledger.stock_movement referencing new table as booked
  for each statement when (current_user <> 'service_booker') execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked
  for each statement when (current_user <> 'service_booker') execute function ledger.keep_batch_figures();
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred
  for each row when (current_user <> 'service_booker' and ledger.is_count(new.process_type_technical_name,
    new.source_special_stock_location_technical_name, new.destination_special_stock_location_technical_name))
  execute function ledger.keep_count();
do $$
declare
  booked regclass;
begin
  foreach booked in array array['ledger.stock', 'ledger.warehouse_stock', 'erp.product', 'erp.batch',
    'erp.product_warehouse_configuration', 'erp.product_stock_location_configuration']::regclass[]
  loop
    execute format('create or replace trigger touch_updated_at before update on %s for each row '
      'when (current_user <> ''service_booker'') execute function erp.touch_updated_at()', booked);
  end loop;
end
$$;

-- Their checks are declared, and upheld by a trigger that is made of them (api_meta.derive_rules).
do $$
declare
  rule record;
begin
  for rule in
    select c.conrelid::regclass as relation, c.conname, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note
    from pg_constraint c
    where c.contype = 'c' and c.conenforced and c.conrelid = any (array[
      'ledger.stock_movement', 'ledger.stock', 'ledger.stock_movement_batch', 'ledger.batch_stock',
      'ledger.warehouse_stock', 'erp.product', 'erp.batch', 'erp.product_warehouse_configuration',
      'erp.product_stock_location_configuration']::regclass[])
  loop
    execute format('alter table %s drop constraint %I', rule.relation, rule.conname);
    execute format('alter table %s add constraint %I %s not enforced', rule.relation, rule.conname,
      rule.definition);
    if rule.note is not null then
      execute format('comment on constraint %I on %s is %L', rule.conname, rule.relation, rule.note);
    end if;
  end loop;
end
$$;
--! Included ledger/broken_rules.sql
create or replace function ledger.broken_rules() returns table (rule text, id text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  declared record;
begin
  for declared in
    select c.conrelid::regclass as relation, c.conname as name, k.key,
      pg_get_expr(c.conbin, c.conrelid) as rule
    from pg_constraint c
    cross join lateral (
      select string_agg(format('t.%I', a.attname), ', ' order by a.attnum) as key
      from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid and a.attnum = any (p.conkey)
      where p.conrelid = c.conrelid and p.contype = 'p'
    ) k
    where c.contype = 'c' and not c.conenforced order by c.conname
  loop
    return query execute format('select %L, concat_ws('' '', %s) from %s t where not (%s)',
      declared.name, declared.key, declared.relation, declared.rule);
  end loop;
end
$$;
comment on function ledger.broken_rules() is
  'Rows that break a check which is declared as not enforced (api_meta.derive_rules), with the names of '
  'the checks.';
--! EndIncluded ledger/broken_rules.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id group by h.product_id
),
reserved as (
  select l.product_id, sum(l.quantity - l.shipped_quantity) as quantity
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where o.state in ('open', 'in_progress') and l.product_id is not null group by l.product_id
),
promised as (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql

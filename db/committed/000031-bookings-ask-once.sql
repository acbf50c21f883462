--! Previous: sha1:5df02718c4cca8a99e98b6dcd8731d010a7fd309
--! Hash: sha1:7c5310c9852439ed7e2e6feac22cf795fd0ca16f
--! Message: bookings-ask-once

--! split: 16-announcements.sql
-- What follows from topics of events is derived in half the time: values of fields in one query per subject
-- and topic, and no settings around functions that are bound to their objects.
--! Included events/is_exact.sql
create or replace function events.is_exact(field events.field) returns boolean
language sql stable
begin atomic
  select s.view_name <> all (string_to_array(coalesce(substring(
    obj_description(to_regnamespace('api_unstable'), 'pg_namespace') from '(?n)^@floats +(.*)$'), ''), ' '))
  from events.subject s where s.type = field.subject_type;
end;
comment on function events.is_exact(events.field) is
  'Whether bigint and numeric are texts in the view of the subject of a field, so that no digit is lost.';
--! EndIncluded events/is_exact.sql
--! Included events/key_columns.sql
create or replace function events.key_columns(relation regclass) returns name[]
language sql stable
begin atomic
  select array_agg(a.attname order by k.position)
  from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k (number, position)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
  where i.indrelid = relation and i.indisprimary;
end;
comment on function events.key_columns(regclass) is 'The columns of the primary key of a table.';
--! EndIncluded events/key_columns.sql
--! Included events/entity_columns.sql
create or replace function events.entity_columns(subject events.subject) returns name[]
language sql stable
begin atomic
  select case
    when exists (
      select from pg_attribute a where a.attrelid = subject.relation and a.attname = subject.entity_column
    ) then array[subject.entity_column::name]
    else events.key_columns(subject.relation) end;
end;
comment on function events.entity_columns(events.subject) is
  'The columns that events of a subject are kept in order by: those of its key where it has no other.';
--! EndIncluded events/entity_columns.sql
--! Included events/uuid_expression.sql
create or replace function events.uuid_expression(relation regclass, columns name[], alias text) returns text
language sql stable
begin atomic
  select case
    when count(*) = 1 and min(a.atttypid::regtype::text) = 'uuid' then format('%I.%I', alias, min(a.attname))
    else format('events.key_uuid(%s)',
      string_agg(format('to_jsonb(%I.%I)', alias, a.attname), ', ' order by k.position))
  end
  from unnest(columns) with ordinality k (name, position)
  join pg_attribute a on a.attrelid = relation and a.attname = k.name and a.attnum > 0;
end;
comment on function events.uuid_expression(regclass, name[], text) is
  'SQL for the uuid that stands for columns of a row with an alias: the value of the one column that is '
  'a uuid, or one that is made of them.';
--! EndIncluded events/uuid_expression.sql
--! Included events/data_columns.sql
create or replace function events.data_columns(subject events.subject, fields text[], alias text)
returns text
language sql stable
begin atomic
  -- In the order in which jsonb keeps names, so that it sorts nothing
  select string_agg(format('%s as %I', v.value, v.name), ', '
    order by octet_length(v.name), v.name collate "C")
  from (
    select f.name,
      case
        when f.id_of is not null then format('%L || %s', 'gid://service/' || f.id_of || '/',
          string_agg(case
            when a.atttypid in ('uuid'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype)
              then format('%I.%I', alias, a.attname)
            else format(
              $$replace(replace(to_jsonb(%I.%I) #>> '{}', '%%', '%%25'), '/', '%%2F')$$, alias, a.attname
            )
          end, $$ || '/' || $$ order by k.position))
        when bool_and(a.atttypid = 'timestamptz'::regtype) then
          format(
            $$to_char(%I.%I at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')$$, alias, f.column_name
          )
        when bool_and(a.atttypid in ('int8'::regtype, 'numeric'::regtype)) and events.is_exact(f)
          then format('%I.%I::text', alias, f.column_name)
        else format('%I.%I', alias, f.column_name)
      end as value
    from events.field f
    cross join unnest(string_to_array(f.column_name, ',')) with ordinality k (name, position)
    left join pg_attribute a on a.attrelid = subject.relation and a.attname = k.name
    where f.subject_type = subject.type and (fields is null or f.name = any (fields))
    group by f.subject_type, f.name
  ) v;
end;
comment on function events.data_columns(events.subject, text[], text) is
  'SQL for the data of an event: the fields, or all, as columns, from a row with an alias, in the spelling '
  'of the API. An id may be made of several columns, with commas between them.';
--! EndIncluded events/data_columns.sql
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format(
      -- A row as JSON takes less than jsonb_build_object, which looks up the types of names, too
      'select %s, %s, %s, to_jsonb(d), %s %s (select %s) d where %s', t.topics,
      events.uuid_expression(subject.relation, events.key_columns(subject.relation), alias),
      events.uuid_expression(subject.relation, events.entity_columns(subject), alias),
      case operation when 'update' then 'c.changed' else 'null::text[]' end,
      case source when '' then 'from' else source || ' cross join lateral' end,
      events.data_columns(subject, t.fields, alias), t.condition), ' union all ')
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
drop function if exists events.data_expression(events.subject, text[], text);
drop function if exists events.value_expression(events.field, regclass, text);

--! split: 17-bookings.sql
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause(credential_id text, request_id text, idempotency_key text)
returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId', 'gid://service/Credential/' || nullif(credential_id, ''),
  'requestId', nullif(request_id, ''),
  'idempotencyKey', nullif(idempotency_key, ''));
comment on function events.cause(text, text, text) is
  'What an event goes back to: the credential, the request and the idempotency key of a mutation.';
grant execute on function events.cause(text, text, text)
  to service_recorder, service_booker, service_writer;

-- Not immutable, as jsonb_build_object isn't: it could not become part of a statement then
create or replace function events.traced(cause jsonb, traceparent text) returns jsonb
language sql stable
return case when nullif(traceparent, '') is null then cause
  else cause || pg_catalog.jsonb_build_object('traceparent', traceparent) end;
comment on function events.traced(jsonb, text) is
  'A cause with the trace of its request, in the form of W3C. The sequencer keeps it apart from the cause, '
  'which clients see.';
grant execute on function events.traced(jsonb, text)
  to service_recorder, service_booker, service_writer;

create or replace function events.cause() returns jsonb
language sql stable
return events.traced(events.cause(
    pg_catalog.current_setting('service.credential_id', true),
    pg_catalog.current_setting('service.request_id', true),
    pg_catalog.current_setting('service.idempotency_key', true)),
  pg_catalog.current_setting('service.traceparent', true));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs, nulls outside of one; and the trace, if the request has one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format(
      -- A row as JSON takes less than jsonb_build_object, which looks up the types of names, too
      'select %s, %s, %s, to_jsonb(d), %s %s (select %s) d where %s', t.topics,
      events.uuid_expression(subject.relation, events.key_columns(subject.relation), alias),
      events.uuid_expression(subject.relation, events.entity_columns(subject), alias),
      case operation when 'update' then 'c.changed' else 'null::text[]' end,
      case source when '' then 'from' else source || ' cross join lateral' end,
      events.data_columns(subject, t.fields, alias), t.condition), ' union all ')
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

-- What a movement refers to is asked once for each statement
--! Included api_meta/upheld_reference.sql
create or replace view api_meta.upheld_reference as
select c.conrelid::regclass as relation, c.conname as name, a.attname as "column",
  c.confrelid::regclass as target, t.attname as key, c.confdeltype as on_delete
from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
join pg_attribute t on t.attrelid = c.confrelid and t.attnum = c.confkey[1]
where c.contype = 'f' and not c.conenforced and cardinality(c.conkey) = 1;
comment on view api_meta.upheld_reference is
  'Foreign keys that are declared as not enforced, which api_meta.derive_references upholds.';
--! EndIncluded api_meta/upheld_reference.sql
--! Included api_meta/follow_deletion.sql
create or replace function api_meta.follow_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r record;
  is_in_use boolean;
begin
  -- Only so does it see what was written while it waited for locks
  if current_setting('transaction_isolation') <> 'read committed' then
    raise serialization_failure using
      message = format('Rows of %s are deleted in a transaction that is read committed.', tg_relid::regclass);
  end if;
  for r in select u.* from api_meta.upheld_reference u where u.target = tg_relid order by u.name loop
    case r.on_delete
      when 'c' then
        execute format('delete from %s c using gone g where c.%I = g.%I', r.relation, r.column, r.key);
      when 'n' then
        execute format('update %s c set %I = null from gone g where c.%2$I = g.%I',
          r.relation, r.column, r.key);
      else
        execute format('select exists (select from %s c join gone g on c.%I = g.%I)',
          r.relation, r.column, r.key) into is_in_use;
        if is_in_use then
          raise restrict_violation using constraint = r.name, schema = tg_table_schema, table = tg_table_name,
            message = format('update or delete on table "%s" violates RESTRICT setting of foreign key '
              'constraint "%s" on table "%s"', tg_table_name, r.name, r.relation);
        end if;
    end case;
  end loop;
  return null;
end
$$;
comment on function api_meta.follow_deletion() is
  'Trigger after rows were deleted that foreign keys refer to which are declared as not enforced: does what '
  'these say of a deletion, with the rights of the tables'' owner, as foreign keys do.';

create or replace function api_meta.refuse_other_reference() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise foreign_key_violation using schema = tg_table_schema, table = tg_table_name,
    message = format('Keys of %s that rows refer to, or refer by, cannot be changed.', tg_relid::regclass);
end
$$;
comment on function api_meta.refuse_other_reference() is
  'Trigger before either side of a foreign key that is declared as not enforced would be changed.';
--! EndIncluded api_meta/follow_deletion.sql
--! Included api_meta/derive_references.sql
create or replace function api_meta.make_reference_check(relation regclass) returns regprocedure
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  checked record;
  routine text;
  body text;
begin
  select n.nspname as schema, c.relname as name,
    string_agg(format('bool_or(n.%I is not null) as %1$I', r.column), E',\n    ' order by r.name) as named,
    string_agg(format($f$
  if used.%I and exists (
    select from (select distinct n.%1$I as key from new_rows n) n
    where n.key is not null and not exists (select from %s t where t.%I = n.key for key share)
  ) then
    missing := %L;
  end if;$f$, r.column, r.target, r.key, r.name), '' order by r.name) as checks
  into strict checked
  from api_meta.upheld_reference r join pg_class c on c.oid = r.relation
  join pg_namespace n on n.oid = c.relnamespace
  where r.relation = make_reference_check.relation group by n.nspname, c.relname;
  routine := format('%I.%I()', checked.schema, 'check_references_of_' || checked.name);
  body := format($f$
declare
  used record;
  missing text;
begin
  select %s
  into used from new_rows n;%s
  if missing is not null then
    raise foreign_key_violation using constraint = missing, schema = %L, table = %L,
      message = 'insert on table "' || %4$L || '" violates foreign key constraint "' || missing || '"';
  end if;
  return null;
end
$f$, checked.named, checked.checks, checked.schema, checked.name);
  if not exists (select from pg_proc p where p.oid = to_regprocedure(routine) and p.prosrc = body) then
    -- With the rights of the owner of the tables, as foreign keys have them
    execute format(E'create or replace function %s returns trigger\n'
      'language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', routine, body);
    execute format('comment on function %s is %L', routine,
      'Trigger, made by api_meta.derive_references: upholds foreign keys of ' || relation
      || ' that are declared as not enforced.');
    perform api_meta.plan_by_index(routine::regprocedure);
  end if;
  return routine::regprocedure;
end
$$;
comment on function api_meta.make_reference_check(regclass) is
  'Makes the function of a trigger that looks for the rows which new ones refer to, if it is not as it '
  'should be.';

create or replace function api_meta.derive_references() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  -- A trigger that is as it should be isn't made again, for that would lock its table
  for item in
    select r.relation, api_meta.make_reference_check(r.relation) as routine,
      string_agg(quote_ident(r.column), ', ' order by r.name) as columns,
      string_agg(a.attnum::text, ' ' order by r.name) as numbers,
      string_agg(format('new.%I <> old.%1$I or new.%1$I is not null and old.%1$I is null', r.column),
        ' or ' order by r.name) as changes
    from api_meta.upheld_reference r
    join pg_attribute a on a.attrelid = r.relation and a.attname = r.column group by r.relation
  loop
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_new'
    ) then
      execute format('create trigger check_references_of_new after insert on %s '
        'referencing new table as new_rows for each statement '
        'when (current_user <> ''service_booker''::text) execute function %s', item.relation, item.routine);
    end if;
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_changed'
        and t.tgattr::text = item.numbers
    ) then
      execute format('create or replace trigger check_references_of_changed before update of %s on %s '
        'for each row when (%s) execute function api_meta.refuse_other_reference()',
        item.columns, item.relation, item.changes);
    end if;
  end loop;
  for item in
    select distinct r.target from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_gone')
  loop
    execute format('create trigger check_references_to_gone after delete on %s '
      'referencing old table as gone for each statement execute function api_meta.follow_deletion()',
      item.target);
  end loop;
  for item in
    select distinct r.target, r.key from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_changed')
  loop
    execute format('create trigger check_references_to_changed before update of %I on %s '
      'for each row when (new.%1$I <> old.%1$I) execute function api_meta.refuse_other_reference()',
      item.key, item.target);
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name from pg_trigger t
    where t.tgname ~ '^check_references_' and not exists (
      select from api_meta.upheld_reference r
      where t.tgrelid = case when t.tgname ~ '_to_' then r.target else r.relation end)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
  end loop;
end
$$;
comment on function api_meta.derive_references() is
  'Makes triggers of the foreign keys that are declared as not enforced, which ask once for each statement, '
  'where an enforced one asks for each row: of the rows that new ones refer to, and of what becomes of those '
  'that refer to a deleted one. Neither side of a reference can be changed. Bookings write no reference to '
  'what they have not locked (ledger.write_stock). Runs after each migration.';
--! EndIncluded api_meta/derive_references.sql
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
    perform events.require_fields();
    perform events.derive_announcements();
    perform api_meta.derive_rules();
    perform api_meta.derive_references();
    perform api_meta.derive_touches();
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
do $$
declare
  name text;
  relation regclass;
begin
  for name, relation in
    select c.conname, c.conrelid::regclass from pg_constraint c
    where c.conrelid in ('ledger.stock_movement'::regclass, 'ledger.stock_count'::regclass)
      and c.contype = 'f' and c.conenforced
      and c.confrelid not in ('ledger.process_type'::regclass, 'erp.batch'::regclass)
  loop
    execute format('alter table %s alter constraint %I not enforced', relation, name);
  end loop;
end
$$;
--! Included ledger/lock_stock.sql
create or replace function ledger.lock_stock(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_rows bigint;
begin
  perform from ledger.stock s where s.id in (select c.stock_id from unnest(changes) c)
  order by s.id for key share;
  get diagnostics found_rows = row_count;
  if found_rows <> cardinality(changes) then
    raise serialization_failure using message = 'A place of the booking has been deleted: try again.';
  end if;
end
$$;
comment on function ledger.lock_stock(ledger.place_change[]) is
  'Sees to it that the stock of each place of a booking is there, and stays. Stock refers to its product and '
  'its place, so they are there too, which nobody asks of the movements of a booking '
  '(api_meta.derive_references). Only for ledger.write_stock, which finds out of most by updating them.';
grant execute on function ledger.lock_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/lock_stock.sql
--! Included ledger/write_stock.sql
create or replace function ledger.write_stock(changes ledger.place_change[], today timestamptz) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_in_doubt boolean;
begin
  with in_place as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from unnest(changes) c where s.id = c.stock_id and c.change <> 0 and not c.is_new
    returning with (old as o, new as n) o, n, c.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_place p cross join lateral events.stock_update_events(p.o, p.n) e order by p.position
  )
  select count(*) <> (select count(*) from in_place) into is_in_doubt
  from unnest(changes) c where not c.is_new;
  if is_in_doubt then
    perform ledger.lock_stock(changes);
  end if;
end
$$;
comment on function ledger.write_stock(ledger.place_change[], timestamptz) is
  'Brings stock up to date, and tells of it. Refuses a booking that names a place which is not there any '
  'more. Only for ledger.write_figures.';
grant execute on function ledger.write_stock(ledger.place_change[], timestamptz) to service_booker;
--! EndIncluded ledger/write_stock.sql
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
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
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
  -- One that has been deleted lets the booking fail, for its stock can't be opened
  left join erp.product p on p.id = g.product_id
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
--! Included ledger/write_figures.sql
create or replace function ledger.write_figures(
  changes ledger.place_change[], others ledger.figure_change[], opens boolean, opens_warehouses boolean,
  is_configured boolean
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  lacks boolean;
begin
  if opens or opens_warehouses then
    perform ledger.write_new_stock(changes, opens_warehouses);
  end if;
  perform ledger.write_stock(changes, today);
  with part as materialized (
    select x.product_id, x.warehouse_id, sum(x.change)::integer as change,
      sum(x.promised)::integer as promised, sum(x.reserved)::integer as reserved,
      sum(x.awaited)::integer as awaited, min(x.position) as position
    from (
      select c.product_id, c.warehouse_id, c.change, 0, 0, 0, c.position
      from unnest(changes) c where c.warehouse_id is not null
      union all
      select o.product_id, o.warehouse_id, 0, o.promised, o.reserved, o.awaited, null from unnest(others) o
    ) x (product_id, warehouse_id, change, promised, reserved, awaited, position)
    group by x.product_id, x.warehouse_id
  ),
  in_warehouse as (
    update ledger.warehouse_stock s
    set quantity = s.quantity + h.change, reserved_quantity = s.reserved_quantity + h.promised,
      updated_at = today
    from part h
    where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id and (h.change, h.promised) <> (0, 0)
    returning s.available_quantity
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale,
      reserved_stock = p.reserved_stock + h.reserved,
      open_supplier_order_quantity = p.open_supplier_order_quantity + h.awaited
    from (
      select f.product_id, sum(f.change)::integer as change, min(f.position) as position,
        sum(case when w.is_stock_available_for_sale then 0 else f.change end)::integer as not_for_sale,
        sum(f.reserved)::integer as reserved, sum(f.awaited)::integer as awaited
      from part f left join erp.warehouse w on w.id = f.warehouse_id group by f.product_id
      having bool_or((f.change, f.reserved, f.awaited) <> (0, 0, 0))
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
comment on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean) is
  'Brings the figures up to date with what ledger.examine found, and with what else changes, and tells of '
  'it: stock, warehouse stock, products, and their configurations, each row once. Answers whether '
  'available stock that it changed is below 0 now.';
select api_meta.plan_by_index(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)');
select api_meta.give(
  'ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)',
  'service_booker');
grant execute on function
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean)
  to service_ledger;
--! EndIncluded ledger/write_figures.sql
--! Included ledger/broken_rules.sql
create or replace function ledger.broken_rules() returns table (rule text, id text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  declared record;
begin
  for declared in
    select c.conrelid::regclass as relation, c.conname as name, k.key,
      coalesce(pg_get_expr(c.conbin, c.conrelid),
        format('t.%I is null or exists (select from %s u where u.%I = t.%1$I)', r.column, r.target, r.key)
      ) as rule
    from pg_constraint c
    left join api_meta.upheld_reference r on r.relation = c.conrelid and r.name = c.conname
    cross join lateral (
      select string_agg(format('t.%I', a.attname), ', ' order by a.attnum) as key
      from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid and a.attnum = any (p.conkey)
      where p.conrelid = c.conrelid and p.contype = 'p'
    ) k
    where not c.conenforced and (c.contype = 'c' or r.name is not null) order by c.conname
  loop
    return query execute format('select %L, concat_ws('' '', %s) from %s t where not (%s)',
      declared.name, declared.key, declared.relation, declared.rule);
  end loop;
end
$$;
comment on function ledger.broken_rules() is
  'Rows that break a check or a foreign key which is declared as not enforced (api_meta.derive_rules, '
  'api_meta.derive_references), with the names of these.';
--! EndIncluded ledger/broken_rules.sql
--! Included ledger/write_movements.sql
create or replace function ledger.write_movements(drafts ledger.draft[], moment timestamptz, note text)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- First the number of the transaction, then ids (ledger.next_movement_id). They are sorted, as they don't
  -- grow by themselves when the clock went back.
  transaction_number constant bigint := pg_current_xact_id()::text::bigint;
  ids constant uuid[] := array(
    select case current_setting('service.movement_ids', true) when 'grow' then uuidv7()
      else ledger.next_movement_id() end as id
    from generate_subscripts(drafts, 1) order by id);
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
--! Included ledger/write_new_stock.sql
create or replace function ledger.write_new_stock(
  changes ledger.place_change[], opens_warehouses boolean
)
returns void
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
  if opens_warehouses then
    insert into ledger.warehouse_stock (product_id, warehouse_id)
    select c.product_id, c.warehouse_id from unnest(changes) c
    where c.warehouse_id is not null and not exists (
      select from ledger.warehouse_stock h
      where h.product_id = c.product_id and h.warehouse_id = c.warehouse_id)
    group by c.product_id, c.warehouse_id order by min(c.position)
    on conflict (product_id, warehouse_id) do nothing;
  end if;
end
$$;
comment on function ledger.write_new_stock(ledger.place_change[], boolean) is
  'Makes the rows of stock that are not there yet, and tells of them, and those of the stock of '
  'warehouses. Only for ledger.write_figures.';
grant execute on function ledger.write_new_stock(ledger.place_change[], boolean) to service_booker;
--! EndIncluded ledger/write_new_stock.sql
select api_meta.allow('service_booker', 'ledger.stock_count', 'insert');
--! Included ledger/note_counts.sql
create or replace function ledger.note_counts(readings ledger.stock_reading[], movement_ids uuid[])
returns void language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at, difference, stock_movement_id)
  select r.stock_id, r.batch_id, r.quantity, r.counted_at,
    case when r.newer_counted_at is null then r.difference end,
    case when r.newer_counted_at is null and r.difference <> 0 then movement_ids[r.nth] end
  from (
    select r.*, r.quantity + r.moved - r.present as difference,
      count(*) filter (where r.newer_counted_at is null and r.quantity + r.moved <> r.present)
        over (order by r.line) as nth
    from unnest(readings) r
  ) r
  join erp.product p on p.id = r.product_id
  where (r.batch_id is not null or not p.is_batch_managed)
    -- The same count, repeated
    and not exists (
      select from (
        select c.quantity from ledger.stock_count c
        where c.stock_id = r.stock_id and c.counted_at = r.counted_at
          and c.batch_id is not distinct from r.batch_id
        order by c.id desc limit 1
      ) c where c.quantity = r.quantity)
  order by r.line;
end;
comment on function ledger.note_counts(ledger.stock_reading[], uuid[]) is
  'Keeps counts, those that came too late as well, beside the movements that corrected the books, which '
  'are given in the order of the counts. Products that are kept in batches are counted by batch; their '
  'sum alone is compared, not kept. Only for ledger.set_stock, which has locked them.';
select api_meta.give('ledger.note_counts(ledger.stock_reading[], uuid[])', 'service_booker');
grant execute on function ledger.note_counts(ledger.stock_reading[], uuid[]) to service_ledger;
--! EndIncluded ledger/note_counts.sql

--! split: 18-shipments.sql
drop function if exists ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[]);
select api_meta.allow('service_booker', 'erp.state_transition', 'select');
select api_meta.allow('service_booker', 'erp.fulfillment', 'select', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_order',
  'select', 'update (state, is_partially_fulfilled)');
select api_meta.allow('service_booker', 'erp.sales_order',
  'select', 'update (state, delivery_state, tracking_codes, entered_tracking_codes)');
create or replace trigger keep_figures_after_update after update on erp.fulfillment_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_figures();
create or replace trigger keep_figures_after_update after update on erp.sales_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_order_figures();
-- The functions that tell of what follows in it
select events.derive_announcements();
--! Included erp/is_string_array.sql
create or replace function erp.is_string_array(value jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(value) = 'array'
  and not pg_catalog.jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string")');
comment on function erp.is_string_array(jsonb) is
  'Whether a JSON value is an array that holds nothing but strings.';
grant execute on function erp.is_string_array(jsonb) to service_ledger, service_writer, service_booker;
--! EndIncluded erp/is_string_array.sql
--! Included erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  select t.to_state into result from erp.state_transition t
  where t.machine = next_state.machine and t.action = next_state.action and t.from_state = state;
  if not found then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('In state %s this cannot be done: %s.', state, action), null, jsonb_build_object(
      'state', state, 'allowedActions',
        (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
        where t.machine = next_state.machine and t.from_state = next_state.state)));
  end if;
  return result;
end
$$;
comment on function erp.next_state(text, text, text) is
  'The state that an action leads to, by erp.state_transition. User error INVALID_STATE_TRANSITION, '
  'with the state and the actions that it allows.';
grant execute on function erp.next_state(text, text, text) to service_writer, service_booker;
--! EndIncluded erp/next_state.sql
--! Included ledger/forget_unwanted.sql
create or replace function ledger.forget_unwanted(fulfillment_orders uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.change_promised_stock(array(
    select row (w.warehouse_id, l.product_id, l.fulfilled_quantity - l.quantity)::ledger.change
    from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    join erp.location w on w.id = f.source_warehouse_location_id
    where f.id = any (fulfillment_orders) and f.state = 'Closed' and l.quantity > l.fulfilled_quantity
      and l.product_id is not null and w.warehouse_id is not null));
end
$$;
comment on function ledger.forget_unwanted(uuid[]) is
  'Ends the promises of units that fulfillment orders still had when they were closed, because their lines '
  'of an order were deleted. Only for erp.ship.';
select api_meta.give('ledger.forget_unwanted(uuid[])', 'service_ledger');
grant execute on function ledger.forget_unwanted(uuid[]) to service_writer;
--! EndIncluded ledger/forget_unwanted.sql
--! Included ledger/write_order_states.sql
create or replace function ledger.write_order_states(
  order_id uuid, state text, delivery_state text, tracking_codes text[]
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- The trigger of tracking codes only runs when these are written
  if cardinality(tracking_codes) > 0 then
    with changed as (
      update erp.sales_order s
      set state = write_order_states.state, delivery_state = write_order_states.delivery_state,
        entered_tracking_codes = s.entered_tracking_codes || write_order_states.tracking_codes
      where s.id = order_id returning with (old as o, new as n) o, n
    )
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, events.cause()
    from changed c cross join lateral events.sales_order_update_events(c.o, c.n) e;
  else
    with changed as (
      update erp.sales_order s
      set state = write_order_states.state, delivery_state = write_order_states.delivery_state
      where s.id = order_id returning with (old as o, new as n) o, n
    )
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, events.cause()
    from changed c cross join lateral events.sales_order_update_events(c.o, c.n) e;
  end if;
end
$$;
comment on function ledger.write_order_states(uuid, text, text, text[]) is
  'Writes the states of an order and codes to follow it by, and tells of it. Only for erp.settle_order: an '
  'order that is completed has nothing reserved any more, so no figures follow.';
select api_meta.plan_by_index('ledger.write_order_states(uuid, text, text, text[])');
select api_meta.give('ledger.write_order_states(uuid, text, text, text[])', 'service_booker');
grant execute on function ledger.write_order_states(uuid, text, text, text[]) to service_writer;
--! EndIncluded ledger/write_order_states.sql
--! Included ledger/picked_lines.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.picked_lines(picks ledger.pick[])
returns table (
  id uuid, fulfillment_order_id uuid, item_id uuid, product_id uuid, quantity integer, "position" bigint
)
language sql stable
begin atomic
  select l.id, l.fulfillment_order_id, l.destination_order_line_item_id, l.product_id, p.quantity,
    p."position"
  from (
    select u.line_id, min(u.ordinality) as "position", sum(u.quantity)::integer as quantity
    from unnest(picks) with ordinality u group by u.line_id
  ) p join erp.fulfillment_order_line_item l on l.id = p.line_id;
end;
comment on function ledger.picked_lines(ledger.pick[]) is
  'Lines of fulfillment orders that are picked, with their units and their place among the picks.';
grant execute on function ledger.picked_lines(ledger.pick[]) to service_booker;
--! EndIncluded ledger/picked_lines.sql
--! Included ledger/write_shipment.sql
create or replace function ledger.write_shipment(
  number text, picks ledger.pick[], stock_movements uuid[], lines uuid[],
  out fulfillment_id uuid, out fulfillment_orders uuid[], out leaves_unwanted boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  fulfillment_id := uuidv7();
  with line as materialized (select * from ledger.picked_lines(picks)),
  source as materialized (
    select x.fulfillment_order_id as id, sum(x.rest) > 0 as is_partial,
      bool_or(x.rest > 0 and x.is_wanted) as is_open, bool_or(x.rest > 0 and not x.is_wanted) as is_unwanted
    from (
      select l.fulfillment_order_id, l.destination_order_line_item_id is not null as is_wanted,
        l.quantity - l.fulfilled_quantity - coalesce(line.quantity, 0) as rest
      from erp.fulfillment_order_line_item l left join line on line.id = l.id
      where l.fulfillment_order_id = any (array(select line.fulfillment_order_id from line))
    ) x group by x.fulfillment_order_id
  ),
  made as (
    insert into erp.fulfillment (id, number) values (write_shipment.fulfillment_id, write_shipment.number)
    returning fulfillment as n
  ),
  paired as (
    insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id)
    select s.id, write_shipment.fulfillment_id from source s order by 1
  ),
  shipped as (
    insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id,
      fulfillment_order_line_item_id, product_id, quantity)
    select write_shipment.fulfillment_id, line.fulfillment_order_id, line.id, line.product_id, line.quantity
    from line order by line.position
    returning id, fulfillment_order_line_item_id
  ),
  linked as (
    insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
    select s.id, m.id from unnest(stock_movements, lines) m (id, line_id)
    join shipped s on s.fulfillment_order_line_item_id = m.line_id
  ),
  fulfilled as (
    update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + line.quantity
    from line where l.id = line.id
  ),
  ordered as (
    update erp.sales_order_line_item s set shipped_quantity = s.shipped_quantity + i.quantity
    from (select line.item_id, sum(line.quantity)::integer as quantity from line group by line.item_id) i
    where s.id = i.item_id
  ),
  moved as (
    update erp.fulfillment_order f
    set state = case
        when not s.is_open then erp.next_state('fulfillment_order', 'close', f.state)
        when f.state = 'Open' then erp.next_state('fulfillment_order', 'start', f.state)
        else f.state end,
      is_partially_fulfilled = s.is_partial
    from source s
    where f.id = s.id and (f.state = 'Open' or not s.is_open or f.is_partially_fulfilled <> s.is_partial)
    returning with (old as o, new as n) o, n
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause()) from (
      select null::uuid as id, e.* from made m cross join lateral events.fulfillment_insert_events(m.n) e
      union all
      select (m.n).id, e.* from moved m cross join lateral events.fulfillment_order_update_events(m.o, m.n) e
    ) e order by e.id nulls first
  )
  select array_agg(s.id order by s.id), bool_or(s.is_unwanted and not s.is_open)
  into fulfillment_orders, leaves_unwanted from source s;
end
$$;
comment on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) is
  'Records a fulfillment, what it ships, by which movements, each for its line of a fulfillment order, and '
  'what is fulfilled, shipped and closed thereby, and tells of it. Answers the fulfillment, the fulfillment '
  'orders, and whether one was closed with units that nobody wants any more, which are to be promised no '
  'longer. Only for erp.ship: ledger.ship has booked it, and kept the other figures that follow.';
select api_meta.plan_by_index('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])');
select api_meta.give('ledger.write_shipment(text, ledger.pick[], uuid[], uuid[])', 'service_booker');
grant execute on function ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/write_shipment.sql
--! Included erp/settle_order.sql
create or replace function erp.settle_order(order_id uuid, tracking_codes text[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  delivery_state text;
  state text;
begin
  select o.state, o.delivery_state,
    not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity)
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = o.id and f.state in ('Open', 'InProgress', 'OnHold')
        and erp.has_open_lines(f.id)) as is_all_shipped
  into strict present from erp.sales_order o where o.id = order_id;
  -- An order without a delivery state gets one when something is shipped
  delivery_state := erp.next_state('order_delivery',
    case when present.is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  state := present.state;
  if state <> 'in_progress' then
    state := erp.next_state('order', 'process', state);
  end if;
  if present.is_all_shipped then
    state := erp.next_state('order', 'complete', state);
  end if;
  perform ledger.write_order_states(order_id, state, delivery_state, tracking_codes);
end
$$;
comment on function erp.settle_order(uuid, text[]) is
  'Brings the states of an order up to date after something of it was shipped, and adds codes to follow it '
  'by: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid, text[]) to service_writer;
--! EndIncluded erp/settle_order.sql
--! Included erp/ship.sql
create or replace function erp.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], tracking_codes text[], note text
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made record;
begin
  select * into booked from ledger.ship(order_id, picks, assigned, note);
  -- The number is the last lock, because it blocks all other shipping
  select * into made from ledger.write_shipment(
    erp.next_number('fulfillment'), picks, booked.stock_movements, booked.lines);
  if made.leaves_unwanted then
    perform ledger.forget_unwanted(made.fulfillment_orders);
  end if;
  perform erp.settle_order(order_id, tracking_codes);
  return row (order_id, array[made.fulfillment_id], made.fulfillment_orders, booked.stock_movements,
    '{}')::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) is
  'Ships units of fulfillment orders of one order, some of which may have been assigned for the purpose: '
  'books them out, records the fulfillment, closes what is fulfilled, and writes each row once. The caller '
  'holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
grant execute on function erp.ship(uuid, ledger.pick[], uuid[], text[], text) to service_writer;
--! EndIncluded erp/ship.sql
--! Included erp/create_documents.sql
create or replace function erp.create_documents(
  order_id uuid, documents text[], fulfillment_id uuid default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  shipment_id uuid := fulfillment_id;
  wanted record;
  made uuid[] := '{}';
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return '{}';
  end if;
  if shipment_id is null then
    select f.id
    into shipment_id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_documents.order_id order by f.created_at desc, f.id desc limit 1;
  end if;
  -- In a fixed order, because number ranges are locked until the end
  perform from erp.number_range r join erp.document_type t on t.number_range = r.technical_name
  where t.technical_name = any (documents) order by r.technical_name for update of r;
  for wanted in select d.name,
    mutation.path(
      'documents', d.ordinality
    ) as field from unnest(documents) with ordinality d (name) order by d.ordinality loop
    made := made || case wanted.name
      when 'invoice' then erp.create_invoice(order_id, true, wanted.field)
      when 'delivery_note' then erp.create_delivery_note(order_id, shipment_id)
      else erp.create_document(order_id, wanted.name) end;
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[], uuid) is
  'Makes documents of the types that are named of a shipment of an order, the newest unless one is '
  'given: the delivery note lists what is in it, the invoice charges all that was shipped and that no '
  'other charges. Answers their ids. User error INVALID.';
grant execute on function erp.create_documents(uuid, text[], uuid) to service_writer;
--! EndIncluded erp/create_documents.sql
--! Included erp/require_documents.sql
create or replace function erp.require_documents(documents text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return;
  end if;
  select jsonb_agg(mutation.user_error(case when d.nth > 1 then 'NOT_UNIQUE' else 'INVALID' end,
    case
      when d.nth > 1 then 'This type is in the list already.'
      else format('There is no type of documents named %s.', d.name) end,
    mutation.path('documents', d.position)) order by d.position)
  into errors
  from (
    select d.name, d.position, row_number() over (partition by d.name order by d.position) as nth
    from unnest(documents) with ordinality d (name, position)
  ) d
  where d.nth > 1 or not exists (select from erp.document_type t where t.technical_name = d.name);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_documents(text[]) is
  'Refuses names of document types that are none, or there twice. User errors INVALID, NOT_UNIQUE.';
grant execute on function erp.require_documents(text[]) to service_writer;
--! EndIncluded erp/require_documents.sql
--! Included erp/require_tracking_codes.sql
create or replace function erp.require_tracking_codes(codes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if coalesce(cardinality(codes), 0) = 0 then
    return;
  elsif cardinality(codes) > most then
    perform mutation.refuse('TOO_MANY_LINES',
      format('There are %s tracking codes; %s are allowed at once.', cardinality(codes), most),
      '{tracking_codes}', jsonb_build_object('lines', cardinality(codes), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error('OUT_OF_RANGE', 'A tracking code has 1 to 255 characters.',
    mutation.path('tracking_codes', c.ordinality))
    order by c.ordinality)
  into errors
  from unnest(codes) with ordinality c (code)
  where c.code is null or length(c.code) > 255 or btrim(c.code) = '';
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_tracking_codes(text[]) is
  'Refuses tracking codes that are none. User errors TOO_MANY_LINES, OUT_OF_RANGE.';
grant execute on function erp.require_tracking_codes(text[]) to service_writer;
--! EndIncluded erp/require_tracking_codes.sql
--! Included ledger/lock_orders.sql
create or replace function ledger.lock_orders(order_ids uuid[], fulfillment_order_ids uuid[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if order_ids <> '{}' then
    perform from erp.sales_order o where o.id = any (order_ids) order by o.id for no key update;
  end if;
  perform
  from erp.fulfillment_order f
  where f.id = any (fulfillment_order_ids)
  order by f.id for no key update;
end
$$;
comment on function ledger.lock_orders(uuid[], uuid[]) is
  'Takes the locks of work on orders, always in this order and before those of ledger.lock: the orders, then '
  'their fulfillment orders. Only the transaction with the lock of an order changes its lines, states and '
  'shipments.';
grant execute on function ledger.lock_orders(uuid[], uuid[]) to service_ledger, service_writer;
--! EndIncluded ledger/lock_orders.sql

-- Their checks are declared, and upheld by triggers that are made of them (api_meta.derive_rules): Postgres
-- compiles an enforced one anew in each statement.
do $$
declare
  rule record;
begin
  for rule in
    select c.conrelid::regclass as relation, c.conname, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note
    from pg_constraint c
    where c.contype = 'c' and c.conenforced and c.conrelid = any (array[
      'erp.sales_order', 'erp.sales_order_line_item', 'erp.fulfillment_order',
      'erp.fulfillment_order_line_item', 'erp.fulfillment', 'erp.fulfillment_line_item']::regclass[])
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

--! split: 20-work-due.sql
-- When background work is next due, for services with many merchants
--! Included auth/current_plan.sql
create or replace function auth.current_plan() returns table (name text, limits jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select plan.name, plan.limits from auth.plan where plan.is_current;
end;
comment on function auth.current_plan() is
  'The plan that the merchant has, and the limits that come with it.';
grant execute on function auth.current_plan() to service_auth, service_delivery, service_recorder,
  service_writer;
--! EndIncluded auth/current_plan.sql
--! Included events/due_at.sql
create or replace function events.due_at() returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select least(
    (select '-infinity'::timestamptz where exists (select from events.outbox)),
    (
      select min(greatest(least(q.due_at, s.next_probe_at), s.paused_until,
        case when s.health = 'SUSPENDED' then s.next_probe_at end))
      from events.webhook_subscription s
      cross join lateral (
        select q.due_at from events.delivery_queue q where q.subscription_id = s.id order by q.due_at limit 1
      ) q
      where s.enabled and (select p.name from auth.current_plan() p) <> 'none'
    )
  );
end;
comment on function events.due_at() is
  'When there is something to do next: -infinity while committed changes are no events yet, else when '
  'events.claim_delivery_queues is next to find a queue; null if there is none. A service with many '
  'merchants sleeps until then.';
select api_meta.give('events.due_at()', 'service_recorder');
grant execute on function events.due_at() to service_delivery;
--! EndIncluded events/due_at.sql
--! Included bulk/due_at.sql
create or replace function bulk.due_at() returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select min(case when o.state = 'running' then o.claimed_until else '-infinity' end)
  from bulk.operation o
  where o.state = 'running' or o.state = 'queued' and not exists (
    select from bulk.operation r
    where r.credential_id = o.credential_id and r.state = 'running' and r.claimed_until >= clock_timestamp());
end;
comment on function bulk.due_at() is
  'When bulk.take is next to find something: -infinity while an operation waits that could begin, else '
  'when those who work on others would have to be heard of; null if there is none.';
select api_meta.give('bulk.due_at()', 'service_writer');
grant execute on function bulk.due_at() to service_worker;
--! EndIncluded bulk/due_at.sql

--! split: 0100-words.sql
-- Words of comments and of one message
--! Included bulk/open_errors.sql
create or replace function bulk.is_code(operation_id uuid, presented_hash bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
begin
  -- As in erp.open_document: the time of the comparison reveals nothing about the code
  return sha256(nonce || presented_hash) = sha256(nonce || coalesce((
    select sha256(convert_to(o.code, 'UTF8')) from bulk.operation o where o.id = operation_id
  ), nonce));
end
$$;
comment on function bulk.is_code(uuid, bytea) is
  'Whether this is the SHA-256 of the code that opens the files of a bulk operation.';
grant execute on function bulk.is_code(uuid, bytea) to service_writer;

create or replace function bulk.open_errors(operation_id uuid, presented_hash bytea, after_line integer,
  after_number integer)
returns table (line integer, number smallint, code text, message text, field text[], details jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_errors.operation_id, presented_hash) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select r.line, r.number, r.code, r.message, r.field, r.details
    from bulk.refusal r
    where r.operation_id = open_errors.operation_id and (r.line, r.number) > (after_line, after_number)
    order by r.line, r.number limit 1000;
end
$$;
comment on function bulk.open_errors(uuid, bytea, integer, integer) is
  'Why rows of a bulk operation were refused: up to 1,000 behind a place, for clients that have the code. '
  'Fails with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_errors(uuid, bytea, integer, integer)', 'service_writer');
grant execute on function bulk.open_errors(uuid, bytea, integer, integer) to service_worker;
--! EndIncluded bulk/open_errors.sql
--! Included bulk/open_result.sql
create or replace function bulk.open_result(operation_id uuid, presented_hash bytea, after_number integer)
returns table (number integer, content bytea, format text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_result.operation_id, presented_hash) or not exists (
    select from bulk.operation o
    where o.id = open_result.operation_id and o.kind = 'export' and o.state = 'completed'
  ) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select c.number, c.content, o.format
    from bulk.operation o left join bulk.chunk c on c.operation_id = o.id and c.number > after_number
    where o.id = open_result.operation_id order by c.number limit 1;
end
$$;
comment on function bulk.open_result(uuid, bytea, integer) is
  'The next part of the file of an export, for clients that have the code; without content behind the '
  'last one. Fails with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_result(uuid, bytea, integer)', 'service_writer');
grant execute on function bulk.open_result(uuid, bytea, integer) to service_worker;
--! EndIncluded bulk/open_result.sql
--! Included bulk/read_chunk.sql
create or replace function bulk.read_chunk(operation_id uuid, claim uuid, number integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select c.content
  from bulk.operation o join bulk.chunk c on c.operation_id = o.id
  where o.id = read_chunk.operation_id and o.claim = read_chunk.claim and c.number = read_chunk.number;
end;
comment on function bulk.read_chunk(uuid, uuid, integer) is
  'A chunk of a file, for the process that works on it; null behind the last one.';
select api_meta.give('bulk.read_chunk(uuid, uuid, integer)', 'service_writer');
grant execute on function bulk.read_chunk(uuid, uuid, integer) to service_worker;
--! EndIncluded bulk/read_chunk.sql
--! Included events/announce_growth.sql
create or replace function events.announce_growth() returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
-- Its owner may notify, whatever the fence around the other roles says
begin atomic
  select pg_notify('service_events', '');
end;
comment on function events.announce_growth() is
  'Tells those who listen on the channel service_events that the log has grown, once that is committed.';
grant execute on function events.announce_growth() to service_recorder;
--! EndIncluded events/announce_growth.sql
--! Included events/require_scope.sql
create or replace function events.require_scope(topic text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed constant text := (select t.scope from events.topic t where t.name = topic);
begin
  if not auth.has_scope(needed) then
    perform mutation.refuse('SCOPE_MISSING',
      format('To be told of %s, a token must be allowed to read it: the scope %s is missing.', topic, needed),
      field, jsonb_build_object('scope', needed));
  end if;
end
$$;
comment on function events.require_scope(text, text[]) is
  'Requires that the caller may read the subject of a topic. User error SCOPE_MISSING.';
grant execute on function events.require_scope(text, text[]) to service_writer;
--! EndIncluded events/require_scope.sql
--! Included events/sequence_events.sql
create or replace function events.sequence_events(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Plans are kept while the tables grow, so they must suit large ones from the first call on
set enable_seqscan = off as $$
declare
  head bigint;
  moved integer;
  movements uuid[];
begin
  select h.last_sequence into head from events.log_head h for no key update skip locked;
  if not found then
    return null;
  end if;

  with taken as (
    delete from events.outbox o
    where o.position = any (array(select w.position from events.outbox w order by w.position limit batch))
    returning o.*
  ), numbered as (
    select head + row_number() over (order by t.position) as sequence, t.* from taken t
  ), logged as (
    insert into events.event (
      sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at, traceparent
    )
    select n.sequence, events.event_id(n.sequence), n.topic, n.subject_id, n.entity_id, n.data,
      n.changed_fields, n.cause - 'traceparent', n.occurred_at, n.cause ->> 'traceparent'
    from numbered n order by n.sequence
    returning sequence, topic, subject_id
  )
  select count(*),
    array_agg(l.subject_id order by l.sequence) filter (where l.topic = 'stock_movement.created')
  into moved, movements from logged l;
  if moved > 0 then
    update events.log_head h set last_sequence = head + moved;
    perform events.fan_out(head, head + moved);
    perform events.announce_growth();
  end if;
  if movements is not null then
    perform ledger.number_movements(movements);
  end if;
  return moved;
end
$$;
comment on function events.sequence_events(integer) is
  'Moves what has been committed since the last time from the outbox into the log, as much as a batch, '
  'and makes deliveries of it. What becomes visible later gets a later number, so readers of the log '
  'miss nothing, and events of one entity keep their order. Movements of stock get their numbers here, '
  'too. Those who listen on the channel service_events are told. One process at a time: answers null when '
  'another one is at it, else how many events it moved.';
select api_meta.give('events.sequence_events(integer)', 'service_recorder');
grant execute on function events.sequence_events(integer) to service_delivery;
--! EndIncluded events/sequence_events.sql
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
  'the products. The holder of a product''s lock is alone with all of its stock and figures. Answers whether '
  'there are as many as ids, each of which is to be given once then.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included mutation/key_lock.sql
-- In a form that becomes part of the expression that calls it
create or replace function mutation.key_lock(credential_id uuid, key text) returns bigint
language sql immutable
return pg_catalog.hashtextextended(credential_id::text || ' ' || key, 17);
comment on function mutation.key_lock(uuid, text) is
  'The advisory lock of an idempotency key. Its holder knows whether the key is taken, without waiting '
  'for the transaction that takes it.';
grant execute on function mutation.key_lock(uuid, text) to service_writer;
--! EndIncluded mutation/key_lock.sql
--! Included events/topics.sql
-- What events are about, and what may happen to it. Everything else follows from this: the triggers that
-- write events down (events.derive_announcements), who may know of them, and the JSON schemas of their bodies
-- (events.schema). Fields are columns, in the API's spelling; behind a colon stands the type that an id
-- belongs to. Columns that change with everything, or that open something to their holder (a document's
-- code), are left out or don't count.
-- Foreign schemas have subjects of their own, so a subject that is no longer here is left to a migration.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment physical_stock'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was made.', null::text[]),
    ('order.updated', 'Order', 'Something about an order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was made.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'A place that is not a special one holds another quantity of a product.', null
    ),
    ('product.created', 'Product', 'A product was made.', null),
    (
      'product.updated', 'Product',
      'Something about a product was changed, be it only a figure of its stock.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was made.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods are in their places.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was made.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'All that was ordered from a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back something of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was made.', null),
    ('batch.updated', 'Batch', 'Something about a batch was changed, be it only its stock.', null),
    ('customer.created', 'Customer', 'A customer was made.', null),
    ('customer.updated', 'Customer', 'Something about a customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was made.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'Somebody tries whether deliveries arrive. It stands in no log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql

--! split: 161-words-of-rules.sql
-- Every rule about columns that mutations write says what a client is told, or why none can break it. A blank
-- number of a batch was an internal error.
--! Included erp/check_goods_receipt_lines.sql
create or replace function erp.check_goods_receipt_lines(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be 0.', 'quantity'
    from unnest(lines) with ordinality l
    where l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'No more can be thrown away than comes in.',
      'planned_disposal_quantity'
    from unnest(lines) with ordinality l
    where l.planned_disposal_quantity not between 0 and greatest(l.quantity, 0)
    union all
    select l.ordinality, 'INVALID', 'A batch has a number.', 'batch_number'
    from unnest(lines) with ordinality l where btrim(l.batch_number) = ''
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (
        select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = target.id
      )
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_things_named(target, lines) e
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_orders_named(target, lines) e
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Refuses lines that do not fit their goods receipt. User errors TOO_MANY_LINES, OUT_OF_RANGE, '
  'NOT_FOUND, NOT_UNIQUE, BATCH_MISMATCH, INVALID.';
grant execute on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/check_goods_receipt_lines.sql

comment on constraint product_open_supplier_order_quantity_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_physical_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_reserved_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_stock_not_for_sale_is_part_of_physical_stock on erp.product is
  '@internal new products have no stock';
comment on constraint batch_physical_stock_is_not_negative on erp.batch is
  '@internal new products have no stock';
comment on constraint batch_number_is_not_blank on erp.batch is
  '@internal check_goods_receipt_lines() refuses it';
comment on constraint batch_number_is_unique_per_product on erp.batch is
  '@internal resolve_goods_receipt_lines() takes the batch that is there';
comment on constraint location_has_one_per_warehouse on erp.location is
  '@internal each new warehouse gets its own';
comment on constraint product_warehouse_configuration_is_unique on erp.product_warehouse_configuration is
  '@internal set_product_warehouse_configuration() changes the one that is there';
comment on constraint order_tracking_codes_are_strings on erp.sales_order is
  '@internal settle_order() writes texts';
comment on constraint fulfillment_order_external_has_no_warehouse_location on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_external_name_only_on_external on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_type_is_known on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_number_is_unique on erp.fulfillment_order is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_number_is_unique on erp.fulfillment is
  '@internal next_number() gives each number once';
comment on constraint document_number_is_unique_per_type on erp.document is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_order_shipping_address_is_an_object on erp.fulfillment_order is
  '@internal it is the address of the order';
comment on constraint fulfillment_order_line_item_is_unique on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
comment on constraint fulfillment_order_line_item_quantity_is_positive on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
comment on constraint fulfillment_line_item_is_unique on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on constraint fulfillment_line_item_quantity_is_positive on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on constraint document_config_is_an_object on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_content_has_a_type on erp.document is '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_is_long on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_key on erp.document is '@internal insert_document() sees to it';
comment on constraint document_static_has_no_config on erp.document is
  '@internal insert_document() sees to it';
comment on constraint invoice_is_cancelled_by_one_document on erp.invoice is
  '@internal the invoice is locked while it is cancelled';
comment on constraint invoice_line_item_first_unit_is_not_negative on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_is_unique on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_quantity_is_positive on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint webhook_secret_has_its_form on events.webhook_secret is
  '@internal the service makes it';
comment on constraint delivery_is_one_per_event_and_subscription on events.delivery is
  '@internal replay_deliveries() and send_test() leave out what is there';

--! split: 163-repeats-are-durable.sql
-- A repeated mutation is confirmed when a synchronous standby has the first one
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb
)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
--! Included mutation/run_together.sql
create or replace function mutation.run_together(calls jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  joint mutation.joint_call[];
  answers jsonb;
begin
  if (select p.name from auth.current_plan() p) = 'full' then
    joint := mutation.take_keys(mutation.joint_calls(calls));
  end if;
  with booked as materialized (
    select * from ledger.book_singles(array(
      select row (c.nth,
        -- Without a quantity it isn't booked, and nothing of its product after it
        ledger.adjustment_of(null, (l.line ->> 'product_id')::uuid,
          case when c.fits then (l.line ->> 'delta')::integer end, null, p.type, p.place),
        c.input ->> 'comment', c.cause)::ledger.single
      from unnest(joint) c cross join lateral (select c.input #> '{lines,0}') l (line)
      cross join lateral ledger.place_of(
        (l.line #>> '{place,warehouse_id}')::uuid, (l.line #>> '{place,bin_location_id}')::uuid) p
      where not (c.fits and c.repeated is not null) order by c.nth
    ))
  ),
  done as materialized (
    select c.nth, c.caller, c.key, c.digest, b.nth is not null as is_new,
      coalesce(c.repeated, jsonb_build_object('stock_movements', array[b.movement_id],
        'stocks', array[b.stock_id], 'user_errors', null, 'warnings', '[]'::jsonb)) as payload
    from unnest(joint) c left join booked b on b.nth = c.nth
    where c.fits and c.repeated is not null or b.nth is not null
  ),
  kept as (
    insert into mutation.idempotency_key (credential_id, key, request, payload)
    select d.caller, d.key, d.digest, d.payload from done d where d.key is not null and d.is_new
  )
  select jsonb_agg(case when d.nth is not null then jsonb_build_object('payload', d.payload,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(d.payload -> 'warnings', '[]')) end order by n.nth)
  into answers
  from generate_series(1, jsonb_array_length(calls)) n (nth) left join done d on d.nth = n.nth;
  if exists (select from unnest(joint) c where c.key is not null) then
    perform mutation.forget_keys();
    -- As in mutation.take_key
    perform pg_logical_emit_message(true, 'service', '')
    from unnest(joint) c where c.repeated is not null limit 1;
  end if;
  return coalesce(answers, '[]');
end
$$;
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations together, as if each were run by mutation.run, one after the other: an array of '
  'objects with version, operation, input, key, credential_id, request_id and scopes. Answers an array: '
  'for each call what mutation.run would answer, or null when it was not run, and has to be, by '
  'mutation.run: whatever is not plain, will perhaps be refused, or would have to wait for a key; and '
  'whatever concerns the same product and comes after such a call.';
select api_meta.give('mutation.run_together(jsonb)', 'service_writer');
grant execute on function mutation.run_together(jsonb) to service_api;
--! EndIncluded mutation/run_together.sql

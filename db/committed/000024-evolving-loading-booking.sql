--! Previous: sha1:7f00cc4676396ae9e9ab5fbe52698e8d499c658a
--! Hash: sha1:dc255ed797c810e91e25dd92096ebcf3ed40c9b1
--! Message: evolving loading booking

--! split: 2-evolve.sql
-- Columns that background work fills in batches
drop table if exists api_meta.backfill cascade;
create table api_meta.backfill (
  name text primary key,
  relation regclass not null,
  columns name[] not null,
  expression text not null,
  condition text not null,
  position text[],
  batch_rows integer not null default 100,
  is_stuck boolean not null default false,
  rows_seen bigint not null default 0,
  rows_filled bigint not null default 0,
  declared_at timestamptz not null default clock_timestamp(),
  worked_at timestamptz,
  ended_at timestamptz,
  failure text
);
alter table api_meta.backfill enable row level security;
comment on table api_meta.backfill is
  'What background work fills, or has filled, in batches: declared by migrations, by api_meta.backfill().';
comment on column api_meta.backfill.columns is 'The columns to fill.';
comment on column api_meta.backfill.expression is
  'SQL for their values, out of the other columns of the row.';
comment on column api_meta.backfill.condition is 'SQL for the rows that still need it.';
comment on column api_meta.backfill.position is
  'The primary key up to which all rows are done, as texts; null at the beginning.';
comment on column api_meta.backfill.batch_rows is
  'Rows of the next batch, by the time that the last one took.';
comment on column api_meta.backfill.is_stuck is
  'The next row is locked by others: it is waited for, alone, instead of being passed over.';
comment on column api_meta.backfill.failure is 'Why the last batch failed; null when it did not.';
--! Included api_meta/backfill_progress.sql
create or replace view api_meta.backfill_progress as
select b.name, b.relation::text as relation, b.rows_seen, b.rows_filled,
  case when b.ended_at is not null then b.rows_seen when c.reltuples >= 0
    then greatest(c.reltuples::bigint, b.rows_seen) end as rows_total,
  case when b.ended_at is not null then 'ended' when b.failure is not null then 'fails'
    when b.worked_at is null then 'waits' else 'works' end as state,
  b.failure, b.declared_at, b.worked_at, b.ended_at
from api_meta.backfill b left join pg_class c on c.oid = b.relation;
comment on view api_meta.backfill_progress is
  'How far backfills are. rows_total is an estimate, and null when the table was never analyzed.';
--! EndIncluded api_meta/backfill_progress.sql
--! Included api_meta/fill_statement.sql
create or replace function api_meta.fill_statement(wanted api_meta.backfill) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
    with page as materialized (
      select %1$s, array[%2$s] as "key", row_number() over (order by %3$s) as "place",
        coalesce((%4$s), false) as "is wanted"
      from %5$s where %6$s order by %3$s limit $1
    ), taken as materialized (
      select %1$s, array[%2$s] as "key" from %5$s t
      where (%3$s) in (select %7$s from page p where p."is wanted") and (%4$s)
      order by %3$s for no key update of t %8$s
    ), filled as (
      update %5$s t set (%9$s) = row(%10$s) from taken l where %11$s returning 1
    ), done as (
      -- Not beyond a row that somebody else holds
      select count(*) as looked, coalesce(min(p."place") filter (
        where p."is wanted" and not exists (select from taken l where l."key" = p."key")
      ) - 1, count(*)) as passed from page p
    )
    select d.looked, d.passed, (select p."key" from page p where p."place" = d.passed) as "position",
      (select count(*) from filled) as filled from done d$f$,
    string_agg(format('%1$I as %2$I', k.name, k.alias), ', ' order by k.place),
    string_agg(format('%I::text', k.name), ', ' order by k.place),
    string_agg(format('%I', k.name), ', ' order by k.place),
    wanted.condition, wanted.relation,
    case when wanted.position is null then 'true' else format('(%s) > (%s)',
      string_agg(format('%I', k.name), ', ' order by k.place),
      string_agg(format('%L::%s', wanted.position[k.place], k.type), ', ' order by k.place)) end,
    string_agg(format('p.%I', k.alias), ', ' order by k.place),
    -- Several rows are never waited for, because two that wait for each other are a deadlock
    case when wanted.is_stuck then '' else 'skip locked' end,
    (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c), wanted.expression,
    string_agg(format('t.%I = l.%I', k.name, k.alias), ' and ' order by k.place))
  from (
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, n.place::integer as place,
      format('key %s', n.place) as alias
    from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality n (attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.attnum
    where i.indrelid = wanted.relation and i.indisprimary and n.place <= i.indnkeyatts
  ) k
$$;
comment on function api_meta.fill_statement(api_meta.backfill) is
  'SQL for the next batch of a backfill, of at most $1 rows in the order of the primary key. Answers how '
  'many were looked at, how many of these are done up to the first that is locked, with its key, and '
  'how many were filled.';
--! EndIncluded api_meta/fill_statement.sql
--! Included api_meta/fill_batch.sql
create or replace function api_meta.fill_batch(wanted text, max_rows integer, target_ms integer)
returns boolean
language plpgsql set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  begun constant timestamptz := clock_timestamp();
  b api_meta.backfill;
  size integer;
  batch record;
  next_size integer;
begin
  select * into b from api_meta.backfill f where f.name = wanted and f.ended_at is null for update;
  if not found then
    return true;
  end if;
  size := case when b.is_stuck then 1 else least(b.batch_rows, max_rows) end;
  begin
    execute api_meta.fill_statement(b) into batch using size;
  exception
    when lock_not_available or deadlock_detected then
      update api_meta.backfill f set is_stuck = true, worked_at = clock_timestamp() where f.name = wanted;
      return false;
    when others or query_canceled then
      -- Smaller batches take less time, and lead to the row that is at fault
      update api_meta.backfill f set batch_rows = greatest(1, size / 4), worked_at = clock_timestamp(),
        failure = format('%s (in a batch of %s%s)', sqlerrm, size, ' after the key ' || b.position::text)
      where f.name = wanted;
      return false;
  end;
  next_size := size * least(2, target_ms / greatest(1, extract(epoch from clock_timestamp() - begun) * 1000));
  update api_meta.backfill f set position = coalesce(batch.position, f.position),
    -- A batch of one row because of a lock says nothing about the time of others
    batch_rows = case when b.is_stuck then f.batch_rows else greatest(1, least(max_rows, next_size)) end,
    is_stuck = batch.looked > 0 and batch.passed = 0 and batch.filled = 0,
    rows_seen = f.rows_seen + batch.passed, rows_filled = f.rows_filled + batch.filled,
    worked_at = clock_timestamp(), failure = null,
    ended_at = case when batch.looked < size and batch.passed = batch.looked then clock_timestamp() end
  where f.name = wanted
  returning f.* into b;
  return b.ended_at is not null;
end
$$;
comment on function api_meta.fill_batch(text, integer, integer) is
  'Fills one batch of a backfill, of at most so many rows, and fewer if these take longer than so many '
  'milliseconds. Answers whether it has ended. What fails is noted and tried again with fewer rows.';
--! EndIncluded api_meta/fill_batch.sql
--! Included api_meta/fill_next_batch.sql
create or replace function api_meta.fill_next_batch(max_rows integer, target_ms integer)
returns setof api_meta.backfill_progress
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  chosen text;
begin
  select f.name into chosen from api_meta.backfill f where f.ended_at is null
  -- One that fails holds up no other
  order by f.failure is not null, f.declared_at, f.name
  for update skip locked limit 1;
  if chosen is not null then
    perform api_meta.fill_batch(chosen, max_rows, target_ms);
    return query select * from api_meta.backfill_progress p where p.name = chosen;
  end if;
end
$$;
comment on function api_meta.fill_next_batch(integer, integer) is
  'Fills one batch of the oldest backfill that has not ended and that no other process works on, and answers '
  'how far it is; nothing when there is none. Runs as the owner of the tables, by whom alone backfills '
  'are declared.';
grant execute on function api_meta.fill_next_batch(integer, integer) to service_worker;
--! EndIncluded api_meta/fill_next_batch.sql
--! Included api_meta/backfill.sql
create or replace function api_meta.backfill(
  name text, relation regclass, columns name[], expression text, condition text
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  declared api_meta.backfill;
begin
  if not exists (select from pg_index i where i.indrelid = backfill.relation and i.indisprimary) then
    raise exception 'The table % has no primary key, by which it could be filled in batches.',
      backfill.relation using errcode = 'UE093';
  end if;
  insert into api_meta.backfill as b (name, relation, columns, expression, condition)
  values (backfill.name, backfill.relation, backfill.columns, backfill.expression, backfill.condition)
  on conflict on constraint backfill_pkey do update set relation = excluded.relation,
    columns = excluded.columns, expression = excluded.expression, condition = excluded.condition,
    position = null, batch_rows = excluded.batch_rows, is_stuck = false, rows_seen = 0, rows_filled = 0,
    declared_at = excluded.declared_at, worked_at = null, ended_at = null, failure = null
  returning b.* into declared;
  -- A mistake in it is found now, and not by the first batch
  execute api_meta.fill_statement(declared) using 0;
  if to_regproc('graphile_worker.add_job') is not null then
    perform graphile_worker.add_job('backfill', job_key => 'backfill');
  end if;
end
$$;
comment on function api_meta.backfill(text, regclass, name[], text, text) is
  'Has background work fill columns of a table in batches: those rows that meet the condition, with the '
  'expression, or a list of them for several columns. Filled rows must not meet it any more. Declared '
  'again, it begins anew.';
--! EndIncluded api_meta/backfill.sql
--! Included api_meta/require_backfilled.sql
create or replace function api_meta.require_backfilled(wanted text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  b api_meta.backfill;
  progress api_meta.backfill_progress;
  others bigint;
begin
  -- A new database has few rows, or none
  for attempt in 1 .. 10 loop
    exit when api_meta.fill_batch(wanted, 1000, 100);
  end loop;
  select * into b from api_meta.backfill f where f.name = wanted;
  if b.name is null then
    raise exception 'No migration has declared the backfill %.', wanted using errcode = 'UE093',
      hint = format('select api_meta.backfill(%L, …) belongs into an earlier migration.', wanted);
  end if;
  if b.ended_at is null then
    select * into progress from api_meta.backfill_progress p where p.name = wanted;
    raise exception 'The backfill % of % has not ended: % % rows are done.', wanted, b.relation,
      b.rows_seen, coalesce('of about ' || progress.rows_total, 'of its')
      using errcode = 'UE092', detail = coalesce(b.failure, ''),
      hint = 'npm run db:backfill shows how far it is; npm run db:backfill -- --run works it off.';
  end if;
  execute format('select count(*) from (select from %s where %s limit 1000) x', b.relation, b.condition)
  into others;
  if others > 0 then
    raise exception 'The backfill % has ended, but % of % still %: %', wanted,
      case when others = 1000 then '1000 rows or more' else others || ' rows' end, b.relation,
      'meet its condition', b.condition
      using errcode = 'UE093', hint = 'Rows are written without it. Make a trigger that fills what is '
      || 'written from now on, and then declare the backfill again.';
  end if;
end
$$;
comment on function api_meta.require_backfilled(text) is
  'Refuses a migration, with SQLSTATE UE092, until a backfill has ended, and with UE093 when rows have been '
  'written without it. db:setup then works the backfill off and begins the migration again.';
--! EndIncluded api_meta/require_backfilled.sql
grant usage on schema api_meta to service_worker;

-- A constraint that has not been validated promises clients nothing
--! Included api_meta/is_never_null.sql
create or replace function api_meta.is_never_null(relation oid, col smallint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select a.attnotnull and not exists (
    select from pg_constraint c
    where c.conrelid = relation and c.contype = 'n' and c.conkey = array[col] and not c.convalidated
  )
  from pg_attribute a where a.attrelid = relation and a.attnum = col
$$;
comment on function api_meta.is_never_null(oid, smallint) is
  'Whether no row of a table has null in a column: it is not null, and that has been validated.';
--! EndIncluded api_meta/is_never_null.sql
--! Included api_meta/view_column_source.sql
create or replace view api_meta.view_column_source as
with recursive read (view, through) as (
  select v.view, v.view from api_meta.api_view v
  union
  select r.view, c.oid
  from read r
  join pg_catalog.pg_rewrite w on w.ev_class = r.through
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> r.through
  join pg_catalog.pg_class c on c.oid = d.refobjid and c.relkind = 'v'
)
select v.view, d.refobjid as table_id, d.refobjsubid as attnum, a.attname,
  api_meta.is_never_null(a.attrelid, a.attnum) as attnotnull,
  count(*) over (partition by v.view, d.refobjid) as weight
from read v
join pg_catalog.pg_rewrite r on r.ev_class = v.through
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> v.through and d.refobjsubid > 0
join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads, also through other views. The table with the greatest '
  'weight is what the view is about.';
--! EndIncluded api_meta/view_column_source.sql

-- What is told in better words, or not done in silence
--! Included api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema as name from api_meta.api_view
    union select distinct c.relnamespace::regnamespace::text
    from api_meta.view_column_source s
    join pg_class c on c.oid = s.table_id
    union select 'erp'
  loop
    if not has_schema_privilege('service_api', item.name, 'usage') then
      execute format('grant usage on schema %I to service_api', item.name);
    end if;
  end loop;
  for item in select view from api_meta.api_view where not has_table_privilege('service_api', view, 'select')
  loop
    execute format('grant select on %s to service_api', item.view::regclass);
  end loop;
  for item in
    select distinct c.oid::regclass as relation
    from pg_class c join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    cross join aclexplode(c.relacl) a
    where c.relkind in ('r', 'p') and a.grantee = 'service_api'::regrole and a.privilege_type = 'SELECT'
  loop
    execute format('revoke select on %s from service_api', item.relation);
  end loop;
  -- by column: the role can't read columns that no view reads
  for item in
    select a.attrelid::regclass as relation, a.attname, c.relkind,
      exists (
        select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum
      ) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p', 'v', 'm', 'f')
    join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    where a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and item.relkind in ('r', 'p')
      and has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('revoke select (%I) on %s from service_api', item.attname, item.relation);
    end if;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_reads.sql
--! Included events/require_fields.sql
create or replace function events.require_fields() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  missing constant text := (
    select string_agg(format('Events about %s show %s, but %s has no column %s.', f.subject_type, f.name,
      s.relation, c.name), ' ' order by f.subject_type, f.position)
    from events.field f join events.subject s on s.type = f.subject_type
    cross join unnest(string_to_array(f.column_name, ',')) c (name)
    where not exists (
      select from pg_attribute a where a.attrelid = s.relation and a.attname = c.name and a.attnum > 0
    )
  );
begin
  if missing is not null then
    raise exception '% Change events.field along with the table: receivers rely on what events show.', missing
      using errcode = 'undefined_column';
  end if;
end
$$;
comment on function events.require_fields() is
  'Refuses a migration after which a field of an event would have no column.';
--! EndIncluded events/require_fields.sql
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
--! Included events/derive_scopes.sql
create or replace function events.derive_scopes() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  log constant regclass := to_regclass('api_unstable.events');
  note constant text := obj_description(log, 'pg_class');
  wanted constant text[] := array(select distinct t.scope from events.topic t where t.subscribable);
  present constant text[] := regexp_split_to_array(substring(note from '(?n)^@requiresScopes +(.*)$'), ' +');
  scopes constant text := (
    select string_agg(s.scope, ' ' order by array_position(present, s.scope), s.scope)
    from unnest(wanted) s (scope)
  );
begin
  if not (present @> wanted and present <@ wanted) then
    execute format('comment on view %s is %L', log,
      regexp_replace(note, '(?n)^@requiresScopes .*$', '@requiresScopes ' || scopes));
  end if;
end
$$;
comment on function events.derive_scopes() is
  'Opens the log of events to the scopes of all topics: writes them into the comment of its view.';
--! EndIncluded events/derive_scopes.sql
--! Included api_meta/derive.sql
create or replace function api_meta.derive() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.derive_scopes();
  perform api_meta.require_protected_reads();
  perform api_meta.describe();
  perform api_meta.grant_reads();
  perform api_meta.grant_mutations();
  perform api_meta.protect_reads();
end
$$;
comment on function api_meta.derive() is
  'Everything that follows from the API schemas: descriptions, grants, policies. Runs after each '
  'migration; running it again changes nothing.';
--! EndIncluded api_meta/derive.sql

--! split: 3-events-of-any-key.sql
-- Events of rows whose key is no uuid, and numbers that lose no digit in the events of new views
--! Included events/key_uuid.sql
create or replace function events.key_uuid(variadic key jsonb[]) returns uuid
language sql immutable
return overlay(overlay(md5(key::text) placing '8' from 13) placing '8' from 17)::uuid;
comment on function events.key_uuid(jsonb[]) is
  'A uuid that stands for a key of other types, so that events of equal keys are kept in order. It is '
  'made of the key alone.';
grant execute on function events.key_uuid(jsonb[]) to service_recorder;
--! EndIncluded events/key_uuid.sql
--! Included events/key_columns.sql
create or replace function events.key_columns(relation regclass) returns name[]
language sql stable set search_path = pg_catalog, pg_temp
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
language sql stable set search_path = pg_catalog, pg_temp
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
language sql stable set search_path = pg_catalog, pg_temp
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
--! Included events/is_exact.sql
create or replace function events.is_exact(field events.field) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select s.view_name <> all (string_to_array(coalesce(substring(
    obj_description(to_regnamespace('api_unstable'), 'pg_namespace') from '(?n)^@floats +(.*)$'), ''), ' '))
  from events.subject s where s.type = field.subject_type;
end;
comment on function events.is_exact(events.field) is
  'Whether bigint and numeric are texts in the view of the subject of a field, so that no digit is lost.';
--! EndIncluded events/is_exact.sql
--! Included events/value_expression.sql
create or replace function events.value_expression(field events.field, relation regclass, alias text)
returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when field.id_of is not null then format('%L || %s', 'gid://service/' || field.id_of || '/',
      string_agg(case
        when a.atttypid in ('uuid'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype)
          then format('%I.%I', alias, a.attname)
        else format(
          $$replace(replace(to_jsonb(%I.%I) #>> '{}', '%%', '%%25'), '/', '%%2F')$$, alias, a.attname
        )
      end, $$ || '/' || $$ order by k.position))
    when min(a.atttypid::regtype::text) = 'timestamp with time zone' then
      format(
        $$to_char(%I.%I at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')$$, alias, field.column_name
      )
    when min(a.atttypid::regtype::text) in ('bigint', 'numeric') and events.is_exact(field)
      then format('%I.%I::text', alias, field.column_name)
    else format('%I.%I', alias, field.column_name)
  end
  from unnest(string_to_array(field.column_name, ',')) with ordinality k (name, position)
  join pg_attribute a on a.attrelid = relation and a.attname = k.name;
end;
comment on function events.value_expression(events.field, regclass, text) is
  'SQL for the value of a field, in the spelling of the API, from a row with an alias. An id may be made '
  'of several columns, with commas between them.';
--! EndIncluded events/value_expression.sql
--! Included events/value_schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with col as (
    select a.attname, format_type(t.oid, null) as type, t.typcategory as category, t.typtype as kind,
      api_meta.is_never_null(relation, a.attnum) as not_null,
      col_description(a.attrelid, a.attnum) as note,
      (
        select string_agg(pg_get_constraintdef(c.oid), ' ')
        from pg_constraint c
        where c.conrelid = a.attrelid and c.conkey = array[a.attnum] and c.contype = 'c'
      ) as checks
    from pg_attribute a join pg_type d on d.oid = a.atttypid
    join pg_type t on t.oid = case d.typtype when 'd' then d.typbasetype else d.oid end
    where a.attrelid = relation and a.attname = split_part(field.column_name, ',', 1)
  ), described as (
    select case
        when field.id_of is not null
          then jsonb_build_object('type', 'string', 'pattern', format('^gid://service/%s/%s$', field.id_of,
            case when type = 'uuid' then '[0-9a-f-]{36}' else '.+' end))
        when type = 'timestamp with time zone' then '{"type": "string", "format": "date-time"}'
        when type in ('bigint', 'numeric') and events.is_exact(field)
          then jsonb_build_object('type', 'string', 'pattern', case type
            when 'bigint' then '^-?[0-9]+$' else '^(-?[0-9]+([.][0-9]+)?|NaN|-?Infinity)$' end)
        when type in ('smallint', 'integer', 'bigint') then '{"type": "integer"}'
        when type = 'numeric' then '{"type": "number"}'
        when type = 'boolean' then '{"type": "boolean"}'
        when type = 'text[]'
          or checks like '%is_string_array%' then '{"type": "array", "items": {"type": "string"}}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'object'%$$ then '{"type": "object"}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'array'%$$ then '{"type": "array"}'
        when type = 'date' then '{"type": "string", "format": "date"}'
        when type in ('real', 'double precision') then '{"type": "number"}'
        when category = 'A' then '{"type": "array"}'
        when type in ('json', 'jsonb') or kind = 'c'
          then '{"type": ["object", "array", "string", "number", "boolean"]}'
        else '{"type": "string"}'
      end as base, not_null, coalesce(note, case
        when attname = 'id' then 'Global id.'
        when attname = 'created_at' then 'When it was made.'
        when attname = 'updated_at' then 'When it was last changed; null when it never was.'
        when field.id_of is not null then 'Global id of the '
          || lower(regexp_replace(field.id_of, '(?<=[a-z])(?=[A-Z])', ' ', 'g')) || '.'
      end) as note
    from col
  )
  select case
    when not_null then base
    else base || jsonb_build_object('type', (base -> 'type') || '["null"]') end
    || jsonb_strip_nulls(jsonb_build_object('description', note))
  from described;
end;
comment on function events.value_schema(events.field, regclass) is
  'JSON Schema of a field, from the column that it shows.';
--! EndIncluded events/value_schema.sql
--! Included events/announcement.sql
create or replace function events.announcement(subject events.subject, operation text, source text)
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
begin
  return (
    select string_agg(format('select %s, %s, %s, %s, %s %s where %s', t.topics,
      events.uuid_expression(subject.relation, events.key_columns(subject.relation), alias),
      events.uuid_expression(subject.relation, events.entity_columns(subject), alias),
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
        else format('from new_rows n join old_rows o on %s '
          'cross join lateral (select %s offset 0) c (changed)',
          (
            select string_agg(format('o.%1$I = n.%1$I', k.name), ' and ' order by k.position)
            from unnest(events.key_columns(s.relation)) with ordinality k (name, position)
          ), events.changed_expression(s, false))
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
comment on column events.outbox.entity_id is
  'What events are kept in order by: the subject itself, or the product of stock. Of a key that is no uuid, '
  'what events.key_uuid makes of it.';
comment on column events.field.column_name is
  'The column, or those of an id that is made of several, with commas between them.';

--! split: 4-finish.sql
-- What ends each migration holds its locks for a shorter time.
--! Included api_meta/read_faults.sql
create or replace function api_meta.read_faults() returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with source as materialized (
    select distinct s.view::regclass as view, c.oid::regclass as relation, c.relkind, c.relrowsecurity,
      n.nspname as schema, coalesce('security_invoker=true' = any (c.reloptions), false) as as_caller
    from api_meta.view_column_source s
    join pg_class c on c.oid = s.table_id
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^(pg_catalog$|information_schema$|api_)'
  )
  select format('%s reads %s, but the schema %s is not exposed to the API: select api_meta.expose(%L);',
    view, relation, schema, schema)
  from source where schema not in (select e.name from api_meta.exposed_schema e)
  union all
  select format(
    '%s reads %s, whose row-level security is off, so that a policy would be without effect: '
      'alter table %s enable row level security;', view, relation, relation
  )
  from source where relkind in ('r', 'p') and not relrowsecurity
    and exists (select from api_meta.view_tag(view, 'requiresScopes'))
  union all
  select format('%s reads %s, of which Postgres can hide no rows: let the view of the API do it, '
    'where (select auth.has_scope(''…:read''))', view, relation)
  from source where relkind in ('m', 'f') and not exists (
    select from pg_rewrite r
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where r.ev_class = view and d.refobjid = 'auth.has_scope(text[])'::regprocedure
  )
  union all
  select format('%s reads the view %s, which reads with the rights of its owner, past row-level security: '
    'alter view %s set (security_invoker = true);', view, relation, relation)
  from source where relkind = 'v' and not as_caller
$$;
comment on function api_meta.read_faults() is
  'What views of the API read without its being protected, or without the schema''s being exposed, '
  'each with what to do.';
--! EndIncluded api_meta/read_faults.sql
--! Included api_meta/protect_reads.sql
create or replace function api_meta.protect_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    with wanted as materialized (select * from api_meta.read_policy),
    present as materialized (
      select p.polrelid as table_id, p.polname as policy, pg_get_expr(p.polqual, p.polrelid) as qualifier
      from pg_policy p where p.polname like '%\_select\_api'
    )
    select format('drop policy %I on %s', p.policy, p.table_id::regclass) as change
    from present p
    where not exists (
      select from wanted w where (w.table_id, w.policy, w.qualifier) = (p.table_id, p.policy, p.qualifier))
    union all
    select format('create policy %I on %s for select to service_api '
      'using ((select auth.has_scope(variadic %L::text[])))', w.policy, w.table_id::regclass, w.scopes)
    from wanted w
    where not exists (
      select from present p where (w.table_id, w.policy, w.qualifier) = (p.table_id, p.policy, p.qualifier))
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.protect_reads() is
  'Makes the row-level security policies of service_api out of the @requiresScopes tags of the API views. '
  'The function call stands in a sub-select, so that it runs once per statement. Changes only what differs, '
  'because a change locks the table.';
--! EndIncluded api_meta/protect_reads.sql
--! Included api_meta/require_frozen_versions.sql
create or replace function api_meta.require_frozen_versions() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text[];
begin
  if not exists (select from api_meta.frozen_version where postgres <> api_meta.postgres_version())
    and not exists (select from api_meta.own_schema s where s.is_frozen
      and not exists (select from api_meta.frozen_version v where v.name = s.name))
    and not exists (
      select from (
        select v.name as version, c.*
        from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
      ) c
      full join api_meta.frozen_part p on p.version = c.version and p.kind = c.kind and p.name = c.name
      where (c.definition, c.tree) is distinct from (p.definition, p.tree)
    )
  then
    return; -- Nothing differs, which is found in one look
  end if;
  select array_agg(format('%s: %s', f.version, f.fault) order by f.version, f.fault) into faults
  from api_meta.version_faults() f;
  if faults is not null then
    raise exception 'A frozen version of the API would change' using errcode = 'UE090',
      detail = array_to_string(faults[:20], E'\n')
        || case when cardinality(faults) > 20 then format(E'\nand %s more', cardinality(faults) - 20)
        else '' end,
      hint = 'Frozen versions stay as they were released. A migration that adds to one on purpose ends with: '
        'select api_meta.record_version(''api_…'');';
  end if;
  -- The text after a renaming, or the tree after restoring a dump
  update api_meta.frozen_part p set definition = c.definition, tree = c.tree
  from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  where p.version = v.name and c.kind = p.kind and c.name = p.name
    and (c.definition, c.tree) is distinct from (p.definition, p.tree);
  update api_meta.frozen_version set postgres = api_meta.postgres_version()
  where postgres <> api_meta.postgres_version();
end
$$;
comment on function api_meta.require_frozen_versions() is
  'Refuses, with SQLSTATE UE090 and the names of what differs, when a frozen version is not as recorded.';
--! EndIncluded api_meta/require_frozen_versions.sql

--! split: 5-bookings.sql
-- Bookings at the price of the disk, continued

drop function if exists api_meta.rule_columns(regclass);
--! Included api_meta/upheld_rules.sql
create or replace function api_meta.upheld_rules(relation regclass)
returns table (name text, rule text, columns smallint[], keeps text, value text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select c.conname::text, r.rule, c.conkey, k.keeps,
    case when k.keeps is not null then substring(r.rule from '^\(new\.\w+ = (.*)\)$') end
  from pg_constraint c
  cross join lateral (
    select string_agg(quote_ident(a.attname), '|') as columns
    from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  ) a
  cross join lateral (
    -- Names of columns, but not in texts, which begin and end with a quotation mark
    select regexp_replace(pg_get_expr(c.conbin, c.conrelid),
      '\m(' || a.columns || ')\M(?=([^'']*''[^'']*'')*[^'']*$)', 'new.\1', 'g') as rule
  ) r
  cross join lateral (
    select substring(obj_description(c.oid, 'pg_constraint') from '(?n)^@keeps +(\w+)$') as keeps
  ) k
  where c.conrelid = relation and c.contype = 'c' and not c.conenforced;
end;
comment on function api_meta.upheld_rules(regclass) is
  'The checks of a table that are declared as not enforced, as they read in a trigger, with their columns. '
  'One whose comment has the tag @keeps is of the form column = value, and is upheld by setting the column '
  'to the value.';
--! EndIncluded api_meta/upheld_rules.sql
--! Included api_meta/uphold.sql
create or replace function api_meta.upholder(relation regclass, name text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('%I.%I', n.nspname, name || '_of_' || t.relname)
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
end;
comment on function api_meta.upholder(regclass, text) is
  'The function of a trigger that upholds checks of a table which are declared as not enforced.';

create or replace function api_meta.uphold(relation regclass, name text, columns smallint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made record;
begin
  select string_agg(format('not (%s) then %L', r.rule, r.name), E'\n      when ' order by r.name)
      filter (where r.keeps is null) as cases,
    string_agg(format('(%s)', r.rule), E'\n    and ' order by r.name)
      filter (where r.keeps is null) as rules,
    string_agg(format('  new.%I := %s; -- %L', r.keeps, r.value, r.name), E'\n' order by r.name)
      filter (where r.keeps is not null) as kept
  into made
  from api_meta.upheld_rules(relation) r
  where uphold.columns is null or r.columns && uphold.columns;
  execute (
    select format(E'create or replace function %s() returns trigger\n'
      'language plpgsql set search_path = pg_catalog, pg_temp as %L',
      api_meta.upholder(relation, name),
      concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', made.kept,
        case when made.rules is not null then
          format(E'  if not (%s) then\n    broken := case\n      when %s end;', made.rules, made.cases)
          || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
            '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
            ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
        '  return new;', 'end', ''))
    from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation
  );
  execute format('comment on function %s() is %L', api_meta.upholder(relation, name),
    'Trigger, made by api_meta.derive_rules: upholds checks of ' || relation
    || ' that are declared as not enforced.');
end
$$;
comment on function api_meta.uphold(regclass, text, smallint[]) is
  'Makes the function of a trigger that upholds the checks of a table which are declared as not enforced: '
  'those of some columns, or all.';
--! EndIncluded api_meta/uphold.sql
--! Included api_meta/derive_rules.sql
create or replace function api_meta.derive_rules() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select r.relation, t.name, t.columns, t.name = 'uphold_figures' as is_of_figures,
      concat_ws(' or ', case t.name when 'uphold_rules' then 'insert' end, 'update of ' || a.names) as events
    from (
      select c.conrelid::regclass as relation,
        array_agg(distinct k order by k) filter (where b.is_booked) as booked,
        array_agg(distinct k order by k) filter (where not b.is_booked) as others
      from pg_constraint c cross join unnest(c.conkey) k
      cross join lateral (
        select has_column_privilege('service_booker', c.conrelid, k, 'update')
      ) b (is_booked)
      where c.contype = 'c' and not c.conenforced group by c.conrelid
    ) r
    -- A booking changes little, and is asked for the rules of that only
    cross join lateral (values ('uphold_rules', r.others), ('uphold_figures', r.booked)) t (name, columns)
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a where a.attrelid = r.relation and a.attnum = any (t.columns)
    ) a
    where t.name = 'uphold_rules' or t.columns is not null order by r.relation::text, t.name
  loop
    perform api_meta.uphold(item.relation, item.name, case when item.is_of_figures then item.columns end);
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name
        and t.tgattr::text = coalesce(array_to_string(item.columns, ' '), '')
    ) then
      -- By their names they come after all others that change the row
      execute format('create or replace trigger %I before %s on %s for each row execute function %s()',
        item.name, item.events, item.relation, api_meta.upholder(item.relation, item.name));
    end if;
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name, t.tgfoid::regprocedure as routine
    from pg_trigger t
    where t.tgname in ('uphold_rules', 'uphold_figures') and not exists (
      select from pg_constraint c where c.conrelid = t.tgrelid and c.contype = 'c' and not c.conenforced)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_rules() is
  'Makes triggers of the checks of each table that are declared as not enforced, which refuse the same '
  'rows with the same error: uphold_figures of the checks of columns that bookings update, uphold_rules of '
  'all. Postgres compiles an enforced check anew in each statement, and a generated column as well, so '
  'tables that every booking writes to declare theirs in this way. Runs after each migration.';
--! EndIncluded api_meta/derive_rules.sql

-- Postgres compiles a generated column anew in each statement. These are kept by the triggers of the rules.
do $$
declare
  kept record;
begin
  for kept in
    select a.attrelid::regclass as relation, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as value,
      format('%s_%s_follows', t.relname, a.attname) as rule
    from pg_attribute a join pg_class t on t.oid = a.attrelid
    join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attgenerated = 's' and a.attrelid = any (array['erp.product', 'ledger.stock',
      'ledger.warehouse_stock', 'erp.product_warehouse_configuration',
      'erp.product_stock_location_configuration']::regclass[])
  loop
    execute format('alter table %s alter column %I drop expression', kept.relation, kept.name);
    execute format('alter table %s add constraint %I check (%I = %s) not enforced',
      kept.relation, kept.rule, kept.name, kept.value);
    execute format('comment on constraint %I on %s is %L', kept.rule, kept.relation,
      E'@internal\n@keeps ' || kept.name);
  end loop;
end
$$;
--! Included events/changed_expression.sql
create or replace function events.changed_expression(subject events.subject, by_booking boolean) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('array_remove(array[%s]::text[], null)', string_agg(
    format('case when n.%1$I is distinct from o.%1$I then %2$L end', f.column_name, f.name),
    ', ' order by f.position
  ))
  from events.field f
  join pg_attribute a on a.attrelid = subject.relation and a.attname = f.column_name
  where f.subject_type = subject.type and f.column_name <> all ('{id,created_at,updated_at}')
    and (not by_booking
      or exists (select from api_meta.upheld_rules(subject.relation) r where r.keeps = f.column_name)
      or has_column_privilege('service_booker', subject.relation, f.column_name, 'update'));
end;
comment on function events.changed_expression(events.subject, boolean) is
  'SQL for the names of the fields that differ between the old row o of a subject and the new row n: of '
  'all, or of those that a booking may change.';
--! EndIncluded events/changed_expression.sql

--! Included ledger/is_malformed.sql
-- In a form that becomes part of the expression that calls it
create or replace function ledger.is_malformed(l ledger.line, operation text) returns boolean
language sql stable
return case operation when 'set' then (l).quantity < 0 when 'adjust' then (l).quantity = 0
    else (l).quantity < 1
      or num_nonnulls((l).destination_warehouse_id, (l).destination_bin_location_id) <> 1 end
  or num_nonnulls((l).source_warehouse_id, (l).source_bin_location_id) <> 1
  or (l).source_warehouse_id = (l).destination_warehouse_id
  or (l).source_bin_location_id = (l).destination_bin_location_id
  or (l).counted_at > clock_timestamp();
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds something in a line, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line, text) to service_ledger;

create or replace function ledger.is_malformed(lines ledger.line[], operation text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(lines) = 1 then
    return coalesce(ledger.is_malformed(lines[1], operation), false);
  end if;
  return exists (select from unnest(lines) l where ledger.is_malformed(l, operation))
    or operation = 'set' and exists (
      select from unnest(lines) l
      group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id having count(*) > 1);
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds something, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
--! Included ledger/lock_line.sql
create or replace function ledger.lock_line(l ledger.line) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if l.source_bin_location_id is null then
    perform from erp.warehouse w where w.id = l.source_warehouse_id for key share;
  else
    perform from erp.warehouse w join erp.bin_location b on b.warehouse_id = w.id
    where b.id = l.source_bin_location_id for key share of w, b;
  end if;
  if not found then
    return false;
  end if;
  perform from erp.product p where p.id = l.product_id for no key update;
  return found;
end
$$;
comment on function ledger.lock_line(ledger.line) is
  'Takes the locks of ledger.lock for a line with one place, by plain statements, which takes less. Answers '
  'whether all that it names is there.';
grant execute on function ledger.lock_line(ledger.line) to service_ledger;
--! EndIncluded ledger/lock_line.sql
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
  if cardinality(lines) = 1 and operation <> 'transfer' and lines[1].batch_id is null
    and lines[1].expected_quantity is null then
    if not ledger.lock_line(lines[1]) then
      perform ledger.check_references(lines, ledger.named_places(lines, operation));
    end if;
    return;
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
drop function if exists ledger.movement_of(ledger.draft, timestamptz, text);
--! Included ledger/movement_of.sql
create or replace function ledger.movement_of(
  d ledger.draft, moment timestamptz, note text, id uuid default null
)
returns ledger.stock_movement
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  m ledger.stock_movement;
begin
  -- First the number of the transaction, then the id (ledger.next_movement_id)
  m.transaction_id := pg_current_xact_id()::text::bigint;
  m.id := coalesce(id, ledger.next_movement_id());
  m.created_at := date_trunc('second', moment);
  m.microseconds := ledger.microseconds(moment);
  m.product_id := d.product_id;
  m.quantity := d.quantity;
  m.process_type_technical_name := d.process;
  m.comment := note;
  m.source_location_type_technical_name := d.source_type;
  m.destination_location_type_technical_name := d.destination_type;
  case d.source_type
    when 'warehouse' then m.source_warehouse_id := d.source::uuid;
    when 'bin_location' then m.source_bin_location_id := d.source::uuid;
    when 'order' then m.source_order_id := d.source::uuid;
    when 'return_order' then m.source_return_order_id := d.source::uuid;
    when 'goods_receipt' then m.source_goods_receipt_id := d.source::uuid;
    when 'stock_container' then m.source_stock_container_id := d.source::uuid;
    else m.source_special_stock_location_technical_name := d.source;
  end case;
  case d.destination_type
    when 'warehouse' then m.destination_warehouse_id := d.destination::uuid;
    when 'bin_location' then m.destination_bin_location_id := d.destination::uuid;
    when 'order' then m.destination_order_id := d.destination::uuid;
    when 'return_order' then m.destination_return_order_id := d.destination::uuid;
    when 'goods_receipt' then m.destination_goods_receipt_id := d.destination::uuid;
    when 'stock_container' then m.destination_stock_container_id := d.destination::uuid;
    else m.destination_special_stock_location_technical_name := d.destination;
  end case;
  return m;
end
$$;
comment on function ledger.movement_of(ledger.draft, timestamptz, text, uuid) is
  'A draft as a row of the ledger, with its id, which is a new one unless it is given.';
grant execute on function ledger.movement_of(ledger.draft, timestamptz, text, uuid) to service_booker;
--! EndIncluded ledger/movement_of.sql
--! Included ledger/plain_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean,
  held ledger.warehouse_stock, configuration_id uuid, place_configuration_id uuid
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h, c.id, l.id
  from ledger.stock s
  join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  left join erp.product_warehouse_configuration c
    on c.product_id = s.product_id and c.warehouse_id = h.warehouse_id
  left join erp.product_stock_location_configuration l on l.product_id = s.product_id
    and coalesce(l.warehouse_id, l.bin_location_id) = coalesce(s.warehouse_id, s.bin_location_id)
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
    and case when plain_place.comes
      then not exists (select from erp.product v where v.parent_id = plain_place.product_id)
      else not exists (select from ledger.batch_stock b where b.stock_id = s.id) end
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_place.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'What a correction of stock changes: the stock of a product in a warehouse or bin, and in a special '
  'place, and the figures that follow. No row when rows are missing or there is something to be seen to: '
  'batches, variants that units come to, or counts from a moment on, if one is given. The product is '
  'locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz) to service_booker;
--! EndIncluded ledger/plain_place.sql
--! Included ledger/book_correction.sql
create or replace function ledger.book_correction(
  d ledger.draft, note text, out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  comes constant boolean := d.source_type = 'special_stock_location';
  real_place constant text := case when comes then d.destination else d.source end;
  special constant text := case when comes then d.source else d.destination end;
  change constant integer := case when comes then d.quantity else - d.quantity end;
  counted_from constant timestamptz :=
    case when not ledger.is_count(d.process, d.source, d.destination) then moment end;
  seen record;
  m ledger.stock_movement;
  stock record;
  product record;
begin
  select (p.stock).id, (p.stock).warehouse_id, (p.stock).bin_location_id, p.special_id, p.is_for_sale,
    (p.held).id as held_id, p.configuration_id, p.place_configuration_id
  into seen
  from ledger.plain_place(d.product_id, real_place, special, comes, counted_from) p
  where (p.stock).quantity + change >= 0;
  if not found then
    return;
  end if;
  m := ledger.movement_of(d, moment, note);
  insert into ledger.stock_movement values (m.*);
  update ledger.stock s set quantity = s.quantity + change, updated_at = today where s.id = seen.id
  returning with (old as o, new as n) o, n into stock;
  update ledger.stock s set quantity = s.quantity - change, updated_at = today where s.id = seen.special_id;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p
  set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale =
      p.stock_not_available_for_sale + case when seen.is_for_sale then 0 else change end
  where p.id = d.product_id returning with (old as o, new as n) o, n into product;
  if seen.configuration_id is not null then
    update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.configuration_id;
  end if;
  if seen.place_configuration_id is not null then
    update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.place_configuration_id;
  end if;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, events.cause() from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(stock.o, stock.n)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  movement_id := m.id;
  stock_id := seen.id;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(ledger.draft, text) is
  'Books one movement between a warehouse or bin and a special place by plain statements, which takes much '
  'less than what books any number, and leaves the same. Answers the movement, the stock, and whether '
  'available stock is below 0 now; nulls when there is something to be seen to, and then nothing is booked. '
  'Only for ledger.book.';
select api_meta.plan_by_index('ledger.book_correction(ledger.draft, text)');
select api_meta.give('ledger.book_correction(ledger.draft, text)', 'service_booker');
grant execute on function ledger.book_correction(ledger.draft, text) to service_ledger;
--! EndIncluded ledger/book_correction.sql
--! Included ledger/is_correction.sql
-- In a form that becomes part of the expression that calls it
create or replace function ledger.is_correction(d ledger.draft) returns boolean
language sql immutable
return (d).batch_id is null and ((d).source_type = 'special_stock_location'
    and (d).destination_type in ('warehouse', 'bin_location')
  or (d).destination_type = 'special_stock_location' and (d).source_type in ('warehouse', 'bin_location'));
comment on function ledger.is_correction(ledger.draft) is
  'Whether a movement goes from a special place to a warehouse or bin, or back, and names no batch.';
grant execute on function ledger.is_correction(ledger.draft) to service_ledger;
--! EndIncluded ledger/is_correction.sql
--! Included ledger/book.sql
create or replace function ledger.book(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := clock_timestamp();
  legs ledger.leg[];
  booked record;
  seen record;
  movement_ids uuid[];
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  if cardinality(drafts) = 1 and ledger.is_correction(drafts[1]) then
    select * into booked from ledger.book_correction(drafts[1], note);
    if booked.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if booked.movement_id is not null then
      return row (array[booked.movement_id], array[booked.stock_id])::ledger.booking;
    end if;
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

-- Several bookings in one statement
--! Included ledger/single.sql
drop type if exists ledger.single cascade;
create type ledger.single as (nth integer, draft ledger.draft, note text, cause jsonb);
comment on type ledger.single is
  'A booking of one movement, of several that are made together: its draft, its note, and the cause of its '
  'events.';
--! EndIncluded ledger/single.sql
--! Included ledger/plain_singles.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_singles(singles ledger.single[], moment timestamptz)
returns table (
  nth integer, draft ledger.draft, note text, cause jsonb, change integer, stock ledger.stock,
  special_id uuid, product erp.product, held_id uuid, configuration_id uuid, place_configuration_id uuid,
  not_for_sale integer, stock_change bigint, product_change bigint, not_for_sale_change bigint
)
language sql stable
begin atomic
  select j.nth, j.draft, j.note, j.cause, j.change, j.stock, j.special_id, j.product, (j.held).id,
    j.configuration_id, j.place_configuration_id, j.not_for_sale, j.stock_change, j.product_change,
    j.not_for_sale_change
  from (
    select r.*,
      bool_and(coalesce(
        r.change <> 0 and (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- A warning is due, unless units come
        and (r.change > 0 or (r.held).available_quantity + r.held_change >= 0
          and (r.product).available_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.draft).product_id order by r.nth) as is_plain
    from (
      select c.nth, c.draft, c.note, c.cause, x.change, p.*,
        case when p.is_for_sale then 0 else x.change end as not_for_sale,
        sum(x.change) over (partition by (c.draft).product_id, x.place order by c.nth) as stock_change,
        sum(x.change) over (partition by (c.draft).product_id order by c.nth) as product_change,
        sum(x.change) over (partition by (p.held).id order by c.nth) as held_change,
        sum(case when p.is_for_sale then 0 else x.change end)
          over (partition by (c.draft).product_id order by c.nth) as not_for_sale_change
      from unnest(singles) c
      cross join lateral (select (c.draft).source_type = 'special_stock_location') d (comes)
      cross join lateral (
        select case when d.comes then (c.draft).destination else (c.draft).source end,
          case when d.comes then (c.draft).source else (c.draft).destination end,
          case when d.comes then (c.draft).quantity else - (c.draft).quantity end
      ) x (place, special_place, change)
      left join lateral ledger.plain_place((c.draft).product_id, x.place, x.special_place, d.comes,
        case when not ledger.is_count((c.draft).process, (c.draft).source, (c.draft).destination)
          then moment end) p on true
    ) r
  ) j
  where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Of bookings of one correction each, those that ledger.plain_place finds plain, that leave enough, and '
  'that no earlier one of the same product stands in the way of; with what they change, by themselves and '
  'together with the earlier ones. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz) to service_booker;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/product_after.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.product_after(product erp.product, change bigint, not_for_sale bigint)
returns erp.product
language sql stable
return jsonb_populate_record(product, jsonb_build_object(
  'physical_stock', (product).physical_stock + change,
  'stock_not_available_for_sale', (product).stock_not_available_for_sale + not_for_sale,
  'available_stock', (product).available_stock + change - not_for_sale));
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'A product as it is when its stock has changed, and the part of it that is not for sale.';
grant execute on function ledger.product_after(erp.product, bigint, bigint) to service_booker;
--! EndIncluded ledger/product_after.sql
--! Included ledger/events_of_single.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.events_of_single(
  movement ledger.stock_movement, stock ledger.stock, product erp.product, change integer,
  not_for_sale integer, stock_change bigint, product_change bigint, not_for_sale_change bigint,
  today timestamptz
)
returns table (
  "position" integer, topic text, subject_id uuid, entity_id uuid, data jsonb, changed_fields text[]
)
language sql stable
begin atomic
  select 1, e.* from events.stock_movement_insert_events(movement) e
  union all
  select 2, e.* from (
    select jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change - change)),
      jsonb_populate_record(stock,
        jsonb_build_object('quantity', (stock).quantity + stock_change, 'updated_at', today))
    offset 0
  ) r (o, n) cross join lateral events.stock_update_events(r.o, r.n) e
  union all
  select 3, e.* from (
    select ledger.product_after(product, product_change - change, not_for_sale_change - not_for_sale),
      ledger.product_after(product, product_change, not_for_sale_change)
    offset 0
  ) r (o, n) cross join lateral events.product_update_events(r.o, r.n) e;
end;
comment on function ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz) is
  'The events of a booking of one correction among several: stock and product are as they were before all '
  'of them, the changes what it does itself and what they do up to it.';
grant execute on function ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz) to service_booker;
--! EndIncluded ledger/events_of_single.sql
--! Included ledger/write_singles.sql
create or replace function ledger.write_singles(singles ledger.single[])
returns table (nth integer, movement_id uuid, stock_id uuid)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  -- First the number of the transaction, then ids (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  ids constant uuid[] := array(
    select ledger.next_movement_id() as id from generate_subscripts(singles, 1) order by id);
begin
  return query
  with plain as materialized (
    select s.*, ids[row_number() over (order by s.nth)] as id from ledger.plain_singles(singles, moment) s
  ),
  booked as (
    insert into ledger.stock_movement
    select (m.movement).* from (
      select ledger.movement_of(p.draft, moment, p.note, p.id) as movement
      from plain p order by p.nth offset 0
    ) m
    returning stock_movement as n
  ),
  in_places as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from (
      select x.id, sum(x.change)::integer as change
      from plain p cross join lateral (
        values ((p.stock).id, p.change), (p.special_id, - p.change)) x (id, change)
      group by x.id
    ) c where s.id = c.id
  ),
  in_warehouses as (
    update ledger.warehouse_stock s set quantity = s.quantity + c.change, updated_at = today
    from (select p.held_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where s.id = c.id
  ),
  in_products as (
    update erp.product p set physical_stock = p.physical_stock + c.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + c.not_for_sale
    from (
      select (p.product).id, sum(p.change)::integer as change, sum(p.not_for_sale)::integer as not_for_sale
      from plain p group by (p.product).id
    ) c where p.id = c.id
  ),
  configured as (
    update erp.product_warehouse_configuration t set stock = t.stock + c.change, updated_at = today
    from (select p.configuration_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where t.id = c.id
  ),
  configured_places as (
    update erp.product_stock_location_configuration t set stock = t.stock + c.change, updated_at = today
    from (select p.place_configuration_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where t.id = c.id
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, p.cause
    from plain p join booked b on (b.n).id = p.id
    cross join lateral ledger.events_of_single(b.n, p.stock, p.product, p.change, p.not_for_sale,
      p.stock_change, p.product_change, p.not_for_sale_change, today) e
    order by p.nth, e.position
  )
  select p.nth, p.id, (p.stock).id from plain p;
end
$$;
comment on function ledger.write_singles(ledger.single[]) is
  'Books bookings of one correction each together: what ledger.book_correction does, with events and '
  'figures in them as if one had been booked after the other. Answers those that were booked; of the others '
  'nothing is. The locks have been taken.';
select api_meta.plan_by_index('ledger.write_singles(ledger.single[])');
select api_meta.give('ledger.write_singles(ledger.single[])', 'service_booker');
grant execute on function ledger.write_singles(ledger.single[]) to service_ledger;
--! EndIncluded ledger/write_singles.sql
--! Included ledger/book_singles.sql
create or replace function ledger.book_singles(singles ledger.single[])
returns table (nth integer, movement_id uuid, stock_id uuid)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(array(select s.draft from unnest(singles) s
    where (s.draft).quantity is not null));
  return query select * from ledger.write_singles(singles);
end
$$;
comment on function ledger.book_singles(ledger.single[]) is
  'Takes the locks, and books together what is plain of bookings of one correction each, as if one were '
  'booked after the other. Answers those that it booked.';
select api_meta.give('ledger.book_singles(ledger.single[])', 'service_ledger');
grant execute on function ledger.book_singles(ledger.single[]) to service_writer;
--! EndIncluded ledger/book_singles.sql
drop function if exists ledger.adjustment_of(text[], uuid, integer, uuid, uuid, uuid);
--! Included ledger/adjustment_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.adjustment_of(
  field text[], product_id uuid, delta integer, batch_id uuid, place_type text, place text
)
returns ledger.draft
language sql immutable
return row (field, product_id, abs(delta), batch_id,
  case when delta > 0 then 'special_stock_location' else place_type end,
  case when delta > 0 then 'stock_correction' else place end,
  case when delta > 0 then place_type else 'special_stock_location' end,
  case when delta > 0 then place else 'stock_correction' end,
  case when delta > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft;
comment on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text) is
  'The draft of what stockAdjust books: units that come or go, against stock_correction.';
grant execute on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text)
  to service_ledger, service_writer;
--! EndIncluded ledger/adjustment_of.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.book(array(
    select ledger.adjustment_of(mutation.path('lines', l.ordinality, 'delta'), l.product_id, l.quantity,
      l.batch_id, p.type, p.place)
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
--! Included events/cause.sql
-- In a form that Postgres inlines into the calling statement, because every booking uses it
create or replace function events.cause(credential_id text, request_id text, idempotency_key text)
returns jsonb
language sql immutable
return pg_catalog.jsonb_build_object(
  'credentialId', 'gid://service/Credential/' || nullif(credential_id, ''),
  'requestId', nullif(request_id, ''),
  'idempotencyKey', nullif(idempotency_key, ''));
comment on function events.cause(text, text, text) is
  'What an event goes back to: the credential, the request and the idempotency key of a mutation.';
grant execute on function events.cause(text, text, text)
  to service_recorder, service_booker, service_writer;

create or replace function events.cause() returns jsonb
language sql stable
return events.cause(
  pg_catalog.current_setting('service.credential_id', true),
  pg_catalog.current_setting('service.request_id', true),
  pg_catalog.current_setting('service.idempotency_key', true));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that '
  'runs; nulls outside of one.';
grant execute on function events.cause() to service_recorder, service_booker;
--! EndIncluded events/cause.sql
--! Included mutation/key_lock.sql
create or replace function mutation.key_lock(credential_id uuid, key text) returns bigint
language sql immutable set search_path = pg_catalog, pg_temp
return hashtextextended(credential_id || ' ' || key, 17);
comment on function mutation.key_lock(uuid, text) is
  'The advisory lock of an idempotency key. Whoever has it knows whether the key is taken, without waiting '
  'for the transaction that takes it.';
grant execute on function mutation.key_lock(uuid, text) to service_writer;
--! EndIncluded mutation/key_lock.sql
--! Included mutation/forget_keys.sql
create or replace function mutation.forget_keys() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Each call deletes a few old keys, so that none takes long.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.forget_keys() is 'Removes a few idempotency keys that are too old.';
grant execute on function mutation.forget_keys() to service_writer;
--! EndIncluded mutation/forget_keys.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update mutation.idempotency_key k set payload = answer
  where k.credential_id = mutation.caller() and k.key = idempotency_key;
  perform mutation.forget_keys();
end
$$;
comment on function mutation.keep_answer(text, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, and removes a few keys that '
  'are too old.';
grant execute on function mutation.keep_answer(text, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(idempotency_key text, digest bytea, earlier_digest bytea)
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
  insert into mutation.idempotency_key as k (credential_id, key, request)
  values (mutation.caller(), idempotency_key, digest)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = null, created_at = excluded.created_at
    where k.created_at < now() - mutation.key_lifetime();
  if found then
    return null;
  end if;
  select k.request, k.payload into strict earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if earlier.request not in (digest, earlier_digest) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, bytea) is
  'Takes a key for the running mutation. Null when it was free; otherwise what the mutation answered '
  'that had it before. A key that is taken by another request is refused: IDEMPOTENCY_KEY_MISMATCH. The '
  'second digest is that of keys from before mutation.digest was.';
grant execute on function mutation.take_key(text, bytea, bytea) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/joint_call.sql
drop type if exists mutation.joint_call cascade;
create type mutation.joint_call as (
  nth integer, operation name, input_type regtype, input jsonb, key text, caller uuid,
  cause jsonb, fits boolean, digest bytea, repeated jsonb
);
comment on type mutation.joint_call is
  'A call of a mutation that is to be run together with others; whether it can be; what its events go back '
  'to; and, if it has a key, its digest, and what the call answered that had the key before.';
--! EndIncluded mutation/joint_call.sql
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (c.ordinality, o.operation, o.input_type, c.input, c.key,
      coalesce(c.credential_id, '00000000-0000-0000-0000-000000000000'),
      events.cause(c.credential_id::text, c.request_id, c.key),
      coalesce(o.scopes && string_to_array(c.scopes, ' ')
        and jsonb_array_length(c.input -> 'lines') = 1
        -- What isn't known here, or is seldom said, mutation.run sees to
        and jsonb_strip_nulls(c.input) - '{lines,comment}'::text[] = '{}'
        and jsonb_strip_nulls(l.line) - '{product_id,place,delta}'::text[] = '{}'
        and jsonb_strip_nulls(l.place) - '{warehouse_id,bin_location_id}'::text[] = '{}'
        and num_nonnulls(l.place ->> 'warehouse_id', l.place ->> 'bin_location_id') = 1
        and abs((l.line ->> 'delta')::bigint) between 1 and 1000000
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    cross join lateral (select c.input #> '{lines,0}', c.input #> '{lines,0,place}') l (line, place)
    where c.operation = 'stock_adjust' order by c.ordinality
  );
end
$$;
comment on function mutation.joint_calls(jsonb) is
  'Of the calls that mutation.run_together is given, those of stock_adjust; they fit when they have one line '
  'that says what is usual, and come from callers that have the scope.';
grant execute on function mutation.joint_calls(jsonb) to service_writer;
--! EndIncluded mutation/joint_calls.sql
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
    select row (c.nth, c.operation, c.input_type, c.input, c.key, c.caller, c.cause,
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
grant execute on function mutation.take_keys(mutation.joint_call[]) to service_writer;
--! EndIncluded mutation/take_keys.sql
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

-- Postgres reads and compiles a condition in each statement, so it is short; the function asks the rest.
--! Included ledger/keep_count.sql
create or replace function ledger.keep_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off as $$
declare
  place record;
begin
  -- ledger.set_stock has inserted its counts already, and a second run has nothing to add
  if not ledger.is_count(new.process_type_technical_name,
      new.source_special_stock_location_technical_name, new.destination_special_stock_location_technical_name)
    or exists (select from ledger.stock_count c where c.stock_movement_id = new.id) then
    return null;
  end if;
  select s.id, f.direction, f.booked_at into place
  from ledger.flow f join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.movement_id = new.id and f.location_type_technical_name <> 'special_stock_location';
  if not found then
    return null;
  end if;

  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at, difference, stock_movement_id)
  select place.id, b.batch_id, ledger.counted_quantity(place.id, b.batch_id, m.moment), m.moment,
    place.direction * b.quantity, new.id
  from ledger.stock_movement_batch b
  cross join lateral (
    select greatest(place.booked_at, max(c.counted_at)) as moment from ledger.stock_count c
    where c.stock_id = place.id and c.counted_at > place.booked_at
      and coalesce(c.batch_id = b.batch_id, true) and c.difference is not null
  ) m
  where b.stock_movement_id = new.id;

  insert into ledger.stock_count (stock_id, quantity, counted_at, difference, stock_movement_id)
  select place.id, ledger.counted_quantity(place.id, null, m.moment), m.moment,
    place.direction * r.quantity, new.id
  from (
    select new.quantity - coalesce(sum(b.quantity), 0) as quantity
    from ledger.stock_movement_batch b where b.stock_movement_id = new.id
  ) r
  cross join lateral (
    select greatest(place.booked_at, max(c.counted_at)) as moment from ledger.stock_count c
    where c.stock_id = place.id and c.counted_at > place.booked_at
      and c.batch_id is null and c.difference is not null
  ) m
  where r.quantity > 0;
  return null;
end
$$;
comment on function ledger.keep_count() is
  'Trigger at the end of a transaction, when batches are known: a correction by a count that is inserted by '
  'hand, or by other programs, is a count of its moment; or of that of the latest one, if that is later, '
  'because the stock has changed since.';
select api_meta.give('ledger.keep_count()', 'service_ledger');
--! EndIncluded ledger/keep_count.sql
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (current_user <> 'service_booker' and new.process_type_technical_name in ('api', 'stocktaking'))
  execute function ledger.keep_count();

--! Included api_meta/derive_touches.sql
create or replace function api_meta.derive_touches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select t.tgrelid::regclass as relation, c.columns, c.names
    from pg_trigger t
    join pg_attribute u on u.attrelid = t.tgrelid and u.attname = 'updated_at'
    cross join lateral (
      select array_to_string(array_agg(a.attnum order by a.attnum), ' ') as columns,
        string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a
      where a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
        and not has_column_privilege('service_booker', a.attrelid, a.attnum, 'update')
    ) c
    where t.tgname = 'touch_updated_at'
      and has_column_privilege('service_booker', u.attrelid, u.attnum, 'update')
      and t.tgattr::text <> c.columns
  loop
    execute format('create or replace trigger touch_updated_at before update of %s on %s for each row '
      'execute function erp.touch_updated_at()', item.names, item.relation);
  end loop;
end
$$;
comment on function api_meta.derive_touches() is
  'Has the triggers touch_updated_at of tables that bookings update stand aside for them: a booking sets '
  'updated_at itself. Neither a condition nor a run is as cheap as a trigger of other columns. Runs after '
  'each migration.';
--! EndIncluded api_meta/derive_touches.sql
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

--! split: 8-upserts.sql
-- Data comes in: upserts of many rows at once.
--! Included auth/known_scopes.sql
create or replace function auth.known_scopes() returns setof text
language sql stable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  with api_object (oid) as (
    select pg_class.oid from pg_class
    join pg_namespace on pg_namespace.oid = pg_class.relnamespace
    where pg_namespace.nspname ^@ 'api_' and pg_class.relkind = 'v'
    union all
    select pg_proc.oid from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname ^@ 'api_'
  ), named (resource, level) as (
    select scope.match[1], scope.match[2]
    from api_object
    join pg_description on pg_description.objoid = api_object.oid
      and pg_description.classoid in ('pg_class'::regclass, 'pg_proc'::regclass)
    cross join lateral regexp_matches(
      pg_description.description, '@requiresScopes\s+([^\n|]+)', 'g'
    ) as tag (match)
    cross join lateral regexp_matches(tag.match[1], '([a-z][a-z_]*):([a-z]+)', 'g') as scope (match)
  )
  select scope.resource || ':' || scope.level
  from (
    select named.resource, 'read' as level from named
    union
    select named.resource, named.level from named
  ) scope
  order by scope.resource, scope.level;
end;
comment on function auth.known_scopes() is
  'Every scope that a credential can have: those that a @requiresScopes tag names in an API schema, and '
  'reading of what can be written. So a scope is declared in one place, beside the view that it protects or '
  'the mutation that needs it, and nobody is offered to write what no mutation writes.';
grant execute on function auth.known_scopes() to service_registrar;
--! EndIncluded auth/known_scopes.sql
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  repeated jsonb;
  result jsonb;
  errors jsonb;
  warnings jsonb := '[]';
  state text;
  detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  select * into target from mutation.find(version, operation);
  -- GraphQL checks scopes first, but may not know of a change yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    perform mutation.refuse_nulls(target.input_type,
      case when validate_only is null then input || '{"validate_only": null}' else input end);
    if idempotency_key is not null then
      repeated := mutation.take_key(idempotency_key,
        mutation.digest(operation, target.input_type, input, target.takes_changes),
        sha256(convert_to(operation || ' ' || input::text, 'UTF8')));
      if repeated is not null then
        return jsonb_build_object('payload', case when not validate_only then repeated end,
          'userErrors', '[]'::jsonb, 'warnings', coalesce(repeated -> 'warnings', '[]'));
      end if;
    end if;
    -- For the cause of events, and for upserts: a trial doesn't show their results
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true), set_config(
      'service.validate_only', validate_only::text, true), set_config('service.warnings', '', true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;
    -- A variable survives the rollback of validate_only
    warnings := mutation.warnings();
    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      perform mutation.keep_answer(idempotency_key,
        (result - mutation.secrets_of(target.payload_type)) || jsonb_build_object('warnings', warnings));
    end if;
    return jsonb_build_object('payload', result, 'userErrors', '[]'::jsonb, 'warnings', warnings);
  exception
    when sqlstate 'UE002' then
      return jsonb_build_object('payload', null, 'userErrors', '[]'::jsonb, 'warnings', warnings);
    when sqlstate 'UE001' then
      get stacked diagnostics detail = pg_exception_detail;
      errors := detail::jsonb;
    when numeric_value_out_of_range then
      errors := jsonb_build_array(mutation.user_error('OUT_OF_RANGE',
        'A quantity or an amount would become larger than can be kept.'));
    when integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate,
        violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := mutation.broken_rule(
        state, input, violated_schema, violated_table, violated_column, violated_constraint);
      if errors is null then raise; end if;
  end;
  return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. '
  'The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s '
  'comment. Answers {payload, userErrors, warnings}; with user errors nothing has been changed, and '
  'there are no warnings. A key makes a repetition within 24 hours answer the first payload and its '
  'warnings again. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';
select api_meta.give('mutation.run(name, name, jsonb, text, boolean)', 'service_writer');
grant execute on function mutation.run(name, name, jsonb, text, boolean) to service_api;
--! EndIncluded mutation/run.sql
--! Included mutation/upsert_row.sql
drop type if exists mutation.upsert_row cascade;
create type mutation.upsert_row as (
  line bigint, id uuid, is_new boolean, given jsonb, present jsonb, wanted jsonb, is_changed boolean,
  errors jsonb
);
comment on type mutation.upsert_row is
  'A row of an upsert on its way: its place in the input, counted from 1; the id of the row that it is '
  'about, '
  'which may be new; what the caller gave; the row of the table as it is and as it is to be; whether '
  'something '
  'was written; the user errors that refuse it, null if none do.';

drop type if exists mutation.row_fault cascade;
create type mutation.row_fault as (line bigint, code text, message text, field text[], details jsonb);
comment on type mutation.row_fault is
  'Why a row of an upsert is refused: its place in the input, and a user error whose field begins in the '
  'row.';
--! EndIncluded mutation/upsert_row.sql
--! Included mutation/thing.sql
create or replace function mutation.thing(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
return (select replace(regexp_replace(c.relname, '^sales_', ''), '_', ' ') from pg_class c
  where c.oid = relation);
comment on function mutation.thing(regclass) is 'What people call a row of a table, for messages.';
grant execute on function mutation.thing(regclass) to service_writer;
--! EndIncluded mutation/thing.sql
--! Included mutation/defaults_of.sql
create or replace function mutation.defaults_of(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('jsonb_build_object(%s)',
    string_agg(format('%L, %s', a.attname, pg_get_expr(d.adbin, d.adrelid)), ', ' order by a.attnum))
  from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = relation and a.attgenerated = '';
end;
comment on function mutation.defaults_of(regclass) is
  'SQL for an object of the defaults of a table''s columns, evaluated anew for each row.';
grant execute on function mutation.defaults_of(regclass) to service_writer;
--! EndIncluded mutation/defaults_of.sql
--! Included mutation/match_of.sql
create or replace function mutation.match_of(relation regclass, matches text[]) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('case when r.id is not null then (select o.id from %s o where o.id = r.id) '
    'else coalesce(%s) end', relation,
    string_agg(format('(select o.id from %s o where %s)', relation, m.condition), ', ' order by m.n))
  from unnest(matches) with ordinality m (condition, n);
end;
comment on function mutation.match_of(regclass, text[]) is
  'SQL for the id of the row of a table that a given row r is about: the one with its id, else the first '
  'that a '
  'match finds.';
grant execute on function mutation.match_of(regclass, text[]) to service_writer;
--! EndIncluded mutation/match_of.sql
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches);
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given;
  execute format($q$
    with matched as materialized (
      select e.line, e.value as given, r.id as given_id, %2$s as id,
        num_nonnulls(r.id, %5$s) > 0 as is_named, %4$s as defaults
      from %3$s
    ),
    counted as (select m.*, row_number() over (partition by m.id order by m.line) as nth from matched m)
    select array_agg(row(c.line, coalesce(c.id, (c.defaults ->> 'id')::uuid), o.id is null, c.given,
      case when o.id is not null then to_jsonb(o) end,
      to_jsonb(jsonb_populate_record(case when o.id is null
        then jsonb_populate_record(null::%1$s, c.defaults) else o end, c.given - 'id')), false,
      case
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $3,
          mutation.path($2, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $4, mutation.path($2, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row is about the same one.', mutation.path($2, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c left join %1$s o on o.id = c.id
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, list, format('A row is known by one of these: id, %s.', array_to_string(keys, ', ')),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'The rows of an upsert into a table, each with the row that it is about: the one with its id, else the '
  'first '
  'that a match finds, a condition on a row o of the table and the given row r. What was left out stays '
  'as it '
  'is, or gets its default. Locks what is there, by id. Keys are the columns by which a row can be known '
  'instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with REQUIRED, NOT_FOUND and '
  'NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included mutation/faults_of_columns.sql
create or replace function mutation.faults_of_columns(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(f.query, ' union all ')
  from (
    select format($q$select w._line, 'REQUIRED', 'This must not be null.', array[%1$L] from w
      where w.%1$I is null$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.attnum > 0 and a.attnotnull and not a.attisdropped
      and has_column_privilege(relation, a.attnum, 'update')
    union all
    select format($q$select w._line, 'OUT_OF_RANGE', 'The text has more than 255 characters.', array[%1$L]
      from w where length(w.%1$I) > 255$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = relation and a.attnum = any (i.indkey::smallint[]))
    union all
    select format($q$select w._line, 'NOT_FOUND', 'There is no such %3$s.', array[%1$L] from w
      where w._given ? %1$L and w.%1$I is not null
        and not exists (select from %2$s o where o.%4$I = w.%1$I)$q$,
      a.attname, c.confrelid::regclass, mutation.thing(c.confrelid), r.attname)
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    join pg_attribute r on r.attrelid = c.confrelid and r.attnum = c.confkey[1]
    where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1
    union all
    select format('select w._line, %L, %L, %L::text[] from w where not (%s)', e.error ->> 'code',
      e.error ->> 'message', array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
      pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    cross join mutation.violation(n.nspname, t.relname, c.conname) e (error)
    where c.conrelid = relation and c.contype = 'c' and e.error is not null
  ) f (query);
end;
comment on function mutation.faults_of_columns(regclass) is
  'SQL for the rows w of mutation.row_faults that break a rule of their own: columns that must not be '
  'null, of those that mutations change, checks, foreign keys that lead to nothing, and texts that are too '
  'long for an index.';
grant execute on function mutation.faults_of_columns(regclass) to service_writer;
--! EndIncluded mutation/faults_of_columns.sql
--! Included mutation/faults_of_keys.sql
create or replace function mutation.faults_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- Of each unique key: its name, the columns that say where it applies, and when two rows have the same
  with unique_key as (
    select c.relname as name, n.nspname as schema, t.relname as owner,
      string_agg(format(case when a.attnotnull or not i.indnullsnotdistinct then 'o.%1$I = w.%1$I'
        else 'o.%1$I is not distinct from w.%1$I' end, a.attname), ' and ' order by k.n) as is_same
    from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
    cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, n)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = relation and i.indisunique and not i.indisprimary and i.indexprs is null
      and i.indpred is null
    group by c.relname, n.nspname, t.relname, i.indnullsnotdistinct
  )
  select string_agg(format($q$
    select w._line, %L, %L, %L::text[] from w
    where exists (select from %s o where %s and o.id <> w.id)
      or exists (select from w o where o._line < w._line and %s)$q$,
    e.error ->> 'code', e.error ->> 'message',
    array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
    relation, u.is_same, u.is_same), ' union all ' order by u.name)
  from unique_key u cross join mutation.violation(u.schema, u.owner, u.name) e (error);
end;
comment on function mutation.faults_of_keys(regclass) is
  'SQL for the rows w of mutation.row_faults with a unique key that another row has, be it one of the same '
  'call. Null when a table has no unique key.';
grant execute on function mutation.faults_of_keys(regclass) to service_writer;
--! EndIncluded mutation/faults_of_keys.sql
--! Included mutation/row_faults.sql
create or replace function mutation.row_faults(
  relation regclass, rows mutation.upsert_row[], matches text[] default '{}'
)
returns mutation.row_fault[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.row_fault[];
  is_late boolean := false;
begin
  execute format($q$
    with w as materialized (
      select u.line as _line, u.given as _given, r.*
      from unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r
      where u.errors is null
    )
    select array_agg(row(f.line, f.code, f.message, f.field, null)::mutation.row_fault)
    from (%s) f (line, code, message, field)
    $q$, relation,
    concat_ws(' union all ', mutation.faults_of_columns(relation), mutation.faults_of_keys(relation)))
  into result using rows;
  -- Somebody has just made what a row is about: another try will find it
  if matches <> '{}' and exists (
    select from unnest(result) f join unnest(rows) u on u.line = f.line
    where f.code = 'NOT_UNIQUE' and u.is_new
  ) then
    execute format('select exists (select from unnest($1) u
      cross join lateral jsonb_populate_record(null::%s, u.given) r
      where u.is_new and u.errors is null and %s is not null)',
      relation, mutation.match_of(relation, matches))
    into is_late using rows;
  end if;
  if is_late then
    raise exception 'Another transaction has made a row of these keys.'
      using errcode = 'serialization_failure';
  end if;
  return result;
end
$$;
comment on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) is
  'What the rules of a table say against the rows of an upsert: not null, checks, foreign and unique '
  'keys, with '
  'the user errors that their comments name. One statement, made of the catalog, for all rows and rules.';
grant execute on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) to service_writer;
--! EndIncluded mutation/row_faults.sql
--! Included mutation/with_faults.sql
create or replace function mutation.with_faults(
  rows mutation.upsert_row[], list text, faults mutation.row_fault[]
)
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (line, errors) as (
    select f.line, jsonb_agg(mutation.user_error(f.code, f.message,
      mutation.path(list, f.line, variadic coalesce(f.field, '{}')), f.details)
      order by f.field, f.code, f.message)
    from unnest(faults) f group by f.line
  )
  select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted, u.is_changed,
    case when u.errors is null then f.errors else u.errors || coalesce(f.errors, '[]') end
  )::mutation.upsert_row order by u.line)
  from unnest(rows) u left join found f on f.line = u.line;
end;
comment on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[]) is
  'Refuses rows of an upsert for these faults, beside those that are noted already.';
grant execute on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[])
  to service_writer;
--! EndIncluded mutation/with_faults.sql
--! Included mutation/with_values.sql
create or replace function mutation.with_values(rows mutation.upsert_row[], changes jsonb)
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, u.id, u.is_new, u.given, u.present,
    u.wanted || coalesce(changes -> u.line::text, '{}'), u.is_changed, u.errors)::mutation.upsert_row
    order by u.line)
  from unnest(rows) u;
end;
comment on function mutation.with_values(mutation.upsert_row[], jsonb) is
  'The rows of an upsert with other values of columns, which an object names by the places of rows.';
grant execute on function mutation.with_values(mutation.upsert_row[], jsonb) to service_writer;
--! EndIncluded mutation/with_values.sql
--! Included mutation/require_rows.sql
create or replace function mutation.require_rows(rows mutation.upsert_row[], partial boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A trial has no results, so its user errors name the rows
  if not coalesce(partial, false) or current_setting('service.validate_only', true) = 'true' then
    perform mutation.refuse((
      select jsonb_agg(e.error order by u.line, e.n)
      from unnest(rows) u cross join jsonb_array_elements(u.errors) with ordinality e (error, n)
    ));
  end if;
end
$$;
comment on function mutation.require_rows(mutation.upsert_row[], boolean) is
  'Ends an upsert that has refused rows, unless it is to do what it can.';
grant execute on function mutation.require_rows(mutation.upsert_row[], boolean) to service_writer;
--! EndIncluded mutation/require_rows.sql
--! Included mutation/order_of_keys.sql
create or replace function mutation.order_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(string_agg(format('r.%I', a.attname), ', ' order by k.conname, k.n), 'r.id')
  from (
    select c.conname, x.attnum, x.n
    from pg_constraint c cross join unnest(c.conkey) with ordinality x (attnum, n)
    where c.conrelid = relation and c.contype = 'u'
  ) k
  join pg_attribute a on a.attrelid = relation and a.attnum = k.attnum;
end;
comment on function mutation.order_of_keys(regclass) is
  'SQL for the order in which rows r are to be inserted into a table: by its unique keys.';
grant execute on function mutation.order_of_keys(regclass) to service_writer;
--! EndIncluded mutation/order_of_keys.sql
--! Included mutation/write_rows.sql
create or replace function mutation.write_rows(relation regclass, rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed constant text[] := array(select distinct w.key
    from unnest(rows) u cross join jsonb_each(u.wanted) w join pg_attribute a on a.attname = w.key
    where u.errors is null and not u.is_new and w.value is distinct from u.present -> w.key
      and a.attrelid = relation and a.attgenerated = '' order by w.key);
  source constant text := format(
    'unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r', relation);
begin
  if changed <> '{}' then
    execute format('update %s t set (%s) = row(%s) from %s
      where t.id = u.id and u.errors is null and not u.is_new and u.wanted <> u.present',
      relation, (select string_agg(format('%I', c), ', ' order by c) from unnest(changed) c),
      (select string_agg(format('r.%I', c), ', ' order by c) from unnest(changed) c), source) using rows;
  end if;
  if exists (select from unnest(rows) u where u.errors is null and u.is_new) then
    execute (select format('insert into %s (%s) select %s from %s where u.errors is null and u.is_new '
      'order by %s', relation, string_agg(format('%I', a.attname), ', ' order by a.attnum),
      string_agg(format('r.%I', a.attname), ', ' order by a.attnum), source, mutation.order_of_keys(relation))
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and a.attgenerated = '' and not a.attisdropped) using rows;
  end if;
  return array(
    select row(u.line, u.id, u.is_new, u.given, u.present, u.wanted,
      u.errors is null and (u.is_new or u.wanted <> u.present), u.errors)::mutation.upsert_row
    from unnest(rows) u order by u.line);
exception
  -- The keys were free a moment ago: somebody else has just taken one. Another try will find theirs.
  when unique_violation then
    raise exception 'Another transaction has taken a key of these rows.'
      using errcode = 'serialization_failure';
end
$$;
comment on function mutation.write_rows(regclass, mutation.upsert_row[]) is
  'Writes the rows of an upsert that are not refused: what is new in the order of its unique key, so that '
  'two '
  'calls never wait for each other in a circle, and what is different. Rows that are as they should be '
  'are not '
  'touched.';
grant execute on function mutation.write_rows(regclass, mutation.upsert_row[]) to service_writer;
--! EndIncluded mutation/write_rows.sql
--! Included mutation/with_changes.sql
create or replace function mutation.with_changes(rows mutation.upsert_row[], changed uuid[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted,
    u.is_changed or u.errors is null and u.id = any (changed), u.errors)::mutation.upsert_row order by u.line)
  from unnest(rows) u;
end;
comment on function mutation.with_changes(mutation.upsert_row[], uuid[]) is
  'The rows of an upsert, those with these ids noted as changed: something that belongs to them was.';
grant execute on function mutation.with_changes(mutation.upsert_row[], uuid[]) to service_writer;
--! EndIncluded mutation/with_changes.sql
--! Included mutation/upserted.sql
create or replace function mutation.upserted(rows mutation.upsert_row[], out results jsonb, out ids uuid[])
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(jsonb_build_object(
    'index', u.line - 1,
    'outcome', case when u.errors is not null then 'REFUSED' when u.is_new then 'CREATED'
      when u.is_changed then 'UPDATED' else 'UNCHANGED' end,
    'id', case when u.errors is null or not u.is_new then u.id end,
    'user_errors', coalesce(u.errors, '[]')) order by u.line),
    coalesce(array_agg(u.id order by u.line) filter (where u.errors is null), '{}')
  from unnest(rows) u;
end;
comment on function mutation.upserted(mutation.upsert_row[]) is
  'What became of each row of an upsert, in the form of upsert_result, and the ids of those that are not '
  'refused, in their order.';
grant execute on function mutation.upserted(mutation.upsert_row[]) to service_writer;
--! EndIncluded mutation/upserted.sql
--! Included erp/set_prices.sql
create or replace function erp.faults_of_prices(rows mutation.upsert_row[], list text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with price as (
    select u.line, p.n, r.*, row_number() over (partition by u.line, r.currency_id order by p.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> list, 'null')) with ordinality p (value, n)
    cross join lateral jsonb_populate_record(null::erp.price, p.value) r
  )
  select array_agg(
    row (f.line, f.code, f.message, array[list, (f.n - 1)::text, f.field], null)::mutation.row_fault
  )
  from (
    select p.line, p.n, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from price p where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from price p where p.net < 0 or p.gross < 0
    union all
    select p.line, p.n, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from price p where p.nth > 1
    union all
    select u.line, 251, 'TOO_MANY_LINES', 'There are more than 250 prices.', 'currency_id'
    from unnest(rows) u
    where jsonb_array_length(nullif(u.given -> list, 'null')) > 250
  ) f (line, n, code, message, field);
end;
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'What is wrong with the prices that rows of an upsert give in a list.';
grant execute on function erp.faults_of_prices(mutation.upsert_row[], text) to service_writer;

create or replace function erp.set_prices(relation regclass, rows mutation.upsert_row[], list text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  -- One statement, so that a supplier never copies half of the change
  execute format($q$
    with given as (
      select u.id, u.given -> $2 as prices from unnest($1) u where u.errors is null and u.given ? $2
    ),
    wanted as (
      select g.id, r.currency_id, r.net, r.gross, coalesce(r.linked, true) as linked
      from given g
      cross join jsonb_array_elements(nullif(g.prices, 'null')) p (v)
      cross join lateral jsonb_populate_record(null::erp.price, p.v) r
    ),
    gone as (
      delete from %1$s p using given g where p.product_id = g.id and not exists (
        select from wanted w where w.id = p.product_id and w.currency_id = p.currency_id)
      returning p.product_id
    ),
    made as (
      insert into %1$s as p (product_id, currency_id, net, gross, linked)
      select w.id, w.currency_id, w.net, w.gross, w.linked from wanted w order by w.id, w.currency_id
      on conflict (product_id, currency_id) do update
      set net = excluded.net, gross = excluded.gross, linked = excluded.linked
      where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked)
      returning p.product_id
    )
    select array(select product_id from gone union select product_id from made)
    $q$, relation) into changed using rows, list;
  return changed;
end
$$;
comment on function erp.set_prices(regclass, mutation.upsert_row[], text) is
  'Makes the lists that rows of an upsert give the prices of their products, in a table of prices. '
  'Answers the '
  'products of which one has changed.';
grant execute on function erp.set_prices(regclass, mutation.upsert_row[], text) to service_writer;
--! EndIncluded erp/set_prices.sql
--! Included erp/set_tags.sql
create or replace function erp.faults_of_tags(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, f.code, f.message, array['tags', (t.n - 1)::text], null)::mutation.row_fault)
  from unnest(rows) u
  cross join jsonb_array_elements_text(nullif(u.given -> 'tags', 'null')) with ordinality t (name, n)
  cross join lateral (
    select 'INVALID', 'The name of the tag is blank.' where erp.is_blank(t.name)
    union all
    select 'OUT_OF_RANGE', 'The name of the tag has more than 255 characters.' where length(t.name) > 255
    union all
    select 'TOO_MANY_LINES', 'There are more than 250 tags.' where t.n = 251
  ) f (code, message);
end;
comment on function erp.faults_of_tags(mutation.upsert_row[]) is
  'What is wrong with the names of tags that rows of an upsert give.';
grant execute on function erp.faults_of_tags(mutation.upsert_row[]) to service_writer;

create or replace function erp.set_tags(relation regclass, owner name, rows mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  insert into erp.tag (name)
  select distinct t.name
  from unnest(rows) u
  cross join jsonb_array_elements_text(nullif(u.given -> 'tags', 'null')) t (name)
  where u.errors is null and not exists (select from erp.tag x where x.name = t.name)
  order by t.name
  on conflict (name) do nothing;
  execute format($q$
    with given as (
      select u.id, u.given -> 'tags' as names from unnest($1) u where u.errors is null and u.given ? 'tags'
    ),
    wanted as (
      select distinct g.id, t.id as tag_id
      from given g
      cross join jsonb_array_elements_text(nullif(g.names, 'null')) n
      join erp.tag t on t.name = n
    ),
    gone as (
      delete from %1$s x using given g where x.%2$I = g.id and not exists (
        select from wanted w where w.id = x.%2$I and w.tag_id = x.tag_id)
      returning x.%2$I as id
    ),
    made as (
      insert into %1$s as x (%2$I, tag_id) select w.id, w.tag_id from wanted w order by w.id, w.tag_id
      on conflict do nothing returning x.%2$I as id
    )
    select array(select id from gone union select id from made)
    $q$, relation, owner) into changed using rows;
  return changed;
end
$$;
comment on function erp.set_tags(regclass, name, mutation.upsert_row[]) is
  'Gives what rows of an upsert are about the tags that they name, in a table of links, and makes those '
  'that do '
  'not exist. Answers the ids of which a tag has changed. Tags come last of all that an upsert writes: other '
  'calls may wait for a new one.';
grant execute on function erp.set_tags(regclass, name, mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/set_tags.sql
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may come in the same call
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (select o.id from erp.product o where o.product_number = u.given ->> 'parent_product_number')
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'The rows of an upsert of products with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- What stands for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product of this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product that stands for its variants is no variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'NOT_EDITABLE', 'This can change only while there is no stock.',
      'is_batch_managed', jsonb_build_object('quantity', p.present -> 'physical_stock')
    from product p
    where p.is_batch_managed is distinct from (p.present ->> 'is_batch_managed')::boolean
      and (p.present ->> 'physical_stock')::int > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of products beyond the rules of the table: variants of variants, and '
  'batches that begin while there is stock.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.is_new and p.errors is not null
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent is a new product that is refused.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
begin
  rows := erp.with_parents(mutation.match_rows('erp.product', 'products', given,
    '{product_number}', matches));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_tags(rows));
  rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices'));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices and tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
-- Amounts are Floats, as everywhere
do $$
declare
  old constant text := obj_description('api_unstable'::regnamespace, 'pg_namespace');
  named constant text[] := string_to_array(substring(old from '(?n)^@floats (.*)$'), ' ');
  added constant text[] := '{product_price_input,product_upsert_input,supplier_upsert_input,'
    'order_line_upsert_input}';
begin
  execute format('comment on schema api_unstable is %L', regexp_replace(old, '(?n)^@floats .*$',
    '@floats ' || (
      select string_agg(n, ' ' order by n) from (select unnest(named) union select unnest(added)) x (n)
    )));
end
$$;
--! Included api/upsert_outcome.sql
do $$
begin
  if to_regtype('api_unstable.upsert_outcome') is null then
    create type api_unstable.upsert_outcome as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.upsert_outcome', 'CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED');
comment on type api_unstable.upsert_outcome is
  E'@value CREATED It was not there, and was made.\n'
  '@value UPDATED It was there, and something about it was changed.\n'
  '@value UNCHANGED It is as the row says already: nothing was written, and no event tells of it.\n'
  '@value REFUSED The row was refused, for its user errors. Nothing of it was done.\n'
  'What became of a row of an upsert.';

drop type if exists api_unstable.upsert_result cascade;
create type api_unstable.upsert_result as (
  index integer, outcome api_unstable.upsert_outcome, id uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.upsert_result is 'What became of a row of an upsert.';
comment on column api_unstable.upsert_result.index is
  E'@notNull\nThe place of the row in the input, counted from 0.';
comment on column api_unstable.upsert_result.outcome is E'@notNull\nWhat became of it.';
comment on column api_unstable.upsert_result.id is
  E'@gid Node\nId of what the row is about; null when it is new and was refused.';
comment on column api_unstable.upsert_result.user_errors is
  E'@notNull\nWhy it was refused; empty otherwise.';
--! EndIncluded api/upsert_outcome.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, tax_rate numeric,
  is_batch_managed boolean, reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.products_upsert_payload is 'What an upsert of products answers.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  'Makes products and changes those that are there, known by their id or number: with prices, tags, and '
  'variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
--! Included erp/upsert_suppliers.sql
create or replace function erp.upsert_suppliers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.number = r.number}';
  rows mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.supplier', 'suppliers', given, '{number}', matches);
  rows := mutation.with_faults(rows, 'suppliers', mutation.row_faults('erp.supplier', rows, matches));
  perform mutation.require_rows(rows, partial);
  return mutation.write_rows('erp.supplier', rows);
end
$$;
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Makes and changes suppliers: the objects of the list, fields named as columns. Answers what became of '
  'each.';
grant execute on function erp.upsert_suppliers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_suppliers.sql
--! Included erp/upsert_warehouses.sql
create or replace function erp.faults_of_defaults(rows mutation.upsert_row[], mark text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with taker as (
    select u.line, row_number() over (order by u.line) as nth from unnest(rows) u
    where u.errors is null and u.given ->> mark = 'true'
  )
  select array_agg(row (f.line, f.code, f.message, array[mark], null)::mutation.row_fault)
  from (
    select t.line, 'NOT_UNIQUE', 'An earlier row takes this mark already.' from taker t where t.nth > 1
    union all
    select u.line, 'INVALID', 'One warehouse must have this mark. Give it to another one.'
    from unnest(rows) u
    where u.present ->> mark = 'true' and u.wanted ->> mark = 'false' and not exists (select from taker)
  ) f (line, code, message);
end;
comment on function erp.faults_of_defaults(mutation.upsert_row[], text) is
  'What is wrong with rows of an upsert of warehouses that take the mark of being a default, or lay it down: '
  'exactly one warehouse has it.';
grant execute on function erp.faults_of_defaults(mutation.upsert_row[], text) to service_writer;

create or replace function erp.upsert_warehouses(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.code = r.code}';
  rows mutation.upsert_row[];
begin
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  rows := mutation.match_rows('erp.warehouse', 'warehouses', given, '{code}', matches);
  rows := mutation.with_faults(rows, 'warehouses', mutation.row_faults('erp.warehouse', rows, matches));
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_defaults(rows, 'is_default')
    || erp.faults_of_defaults(rows, 'is_default_receiving'));
  perform mutation.require_rows(rows, partial);
  if not exists (select from erp.warehouse) then
    rows := mutation.with_values(rows, (
      select jsonb_build_object(min(u.line), jsonb_object_agg(m.mark, true))
      from unnest(rows) u cross join unnest('{is_default,is_default_receiving}'::text[]) m (mark)
      where u.errors is null and not exists (
        select from unnest(rows) t where t.errors is null and t.wanted ->> m.mark = 'true')));
  end if;
  perform erp.hand_over_defaults(u.id, (u.wanted ->> 'is_default')::boolean,
    (u.wanted ->> 'is_default_receiving')::boolean)
  from unnest(rows) u
  where u.errors is null;
  rows := mutation.write_rows('erp.warehouse', rows);
  insert into erp.location (name, warehouse_id)
  select u.wanted ->> 'name', u.id from unnest(rows) u where u.errors is null and u.is_new order by u.line;
  -- A location with its own name keeps it
  update erp.location l set name = u.wanted ->> 'name'
  from unnest(rows) u
  where u.errors is null and l.warehouse_id = u.id and l.name = u.present ->> 'name'
    and l.name <> u.wanted ->> 'name';
  return rows;
end
$$;
comment on function erp.upsert_warehouses(jsonb, boolean) is
  'Makes and changes warehouses, with the locations that orders are fulfilled from: the objects of the '
  'list, fields named as columns. The first one is the default for everything, unless a row says otherwise. '
  'Answers what became of each.';
grant execute on function erp.upsert_warehouses(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_warehouses.sql
--! Included erp/upsert_customers.sql
create or replace function erp.with_terms_of_channel(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  unnumbered constant bigint := count(*) from unnest(rows) u
    where u.is_new and u.errors is null and not u.given ? 'customer_number';
  last_number bigint;
  pattern text;
begin
  if unnumbered > 0 then
    update erp.number_range r set last_number = r.last_number + unnumbered
    where r.technical_name = 'customer'
    returning r.last_number, r.pattern into strict last_number, pattern;
  end if;
  return mutation.with_values(rows, (
    select jsonb_object_agg(n.line, jsonb_strip_nulls(jsonb_build_object('customer_number', n.number,
      'group_id', case when not n.given ? 'group_id' then c.customer_group_id end)))
    from (
      select u.line, u.given, u.wanted, case when not u.given ? 'customer_number' then replace(pattern, '{n}',
        (last_number + 1 - row_number() over (
          partition by u.given ? 'customer_number' order by u.line desc))::text) end as number
      from unnest(rows) u where u.is_new and u.errors is null
    ) n
    left join erp.sales_channel c on c.id = (n.wanted ->> 'sales_channel_id')::uuid));
end
$$;
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'The rows of an upsert of customers, of which new ones without a number have the next of its range, and '
  'those '
  'without a group the group of their sales channel.';
grant execute on function erp.with_terms_of_channel(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_customers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.customer_number = r.customer_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
begin
  -- By its number, a customer is found who is not imported yet
  rows := erp.with_terms_of_channel(mutation.match_rows('erp.customer', 'customers', given,
    '{storefront_id,customer_number}', matches));
  rows := mutation.with_faults(rows, 'customers',
    mutation.row_faults('erp.customer', rows, matches) || erp.faults_of_tags(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.customer', rows);
  return mutation.with_changes(rows, erp.set_tags('erp.customer_tag', 'customer_id', rows));
end
$$;
comment on function erp.upsert_customers(jsonb, boolean) is
  'Makes and changes customers, with their tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_customers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_customers.sql
--! Included api/suppliers_upsert.sql
drop type if exists api_unstable.suppliers_upsert_input cascade;
drop type if exists api_unstable.supplier_upsert_input cascade;
drop type if exists api_unstable.suppliers_upsert_payload cascade;

create type api_unstable.supplier_upsert_input as (
  id uuid, number text, name text, customer_number text, currency_id uuid, language_code text, email text,
  phone text, address jsonb, default_delivery_time_days integer, minimum_order_value numeric, vat_id text,
  active boolean
);
comment on type api_unstable.supplier_upsert_input is
  'A supplier as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.supplier_upsert_input.id is
  E'@gid Supplier\nId of the supplier. Without it, the supplier is known by the number.';
comment on column api_unstable.supplier_upsert_input.number is
  'Number of the supplier, unique; 1 to 255 characters. Beside an id it is the number that the supplier '
  'gets.';
comment on column api_unstable.supplier_upsert_input.name is
  'Name of the supplier; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.supplier_upsert_input.customer_number is
  'Number that the supplier knows the shop by.';
comment on column api_unstable.supplier_upsert_input.currency_id is
  E'@gid Currency\nId of the currency that the supplier is paid in; null for the default currency.';
comment on column api_unstable.supplier_upsert_input.language_code is
  'Locale that the supplier is written to in, for example de-DE.';
comment on column api_unstable.supplier_upsert_input.email is
  'E-mail address that orders are sent to.';
comment on column api_unstable.supplier_upsert_input.phone is
  'Telephone number.';
comment on column api_unstable.supplier_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.supplier_upsert_input.default_delivery_time_days is
  'Days from order to delivery, unless a product says otherwise; not negative.';
comment on column api_unstable.supplier_upsert_input.minimum_order_value is
  'Least value of an order, in the currency of the supplier; not negative.';
comment on column api_unstable.supplier_upsert_input.vat_id is
  'VAT identification number.';
comment on column api_unstable.supplier_upsert_input.active is
  'Whether the shop still orders there. True when left out of a new one.';

create type api_unstable.suppliers_upsert_input
  as (suppliers api_unstable.supplier_upsert_input[], partial boolean);
comment on type api_unstable.suppliers_upsert_input is 'Suppliers as they are to be.';
comment on column api_unstable.suppliers_upsert_input.suppliers is
  E'@notNull\nThe suppliers; 1 to 250 rows.';
comment on column api_unstable.suppliers_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.suppliers_upsert_payload as (
  results api_unstable.upsert_result[], suppliers uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.suppliers_upsert_payload is 'What an upsert of suppliers answers.';
comment on column api_unstable.suppliers_upsert_payload.results is
  E'@resultOf Supplier\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.suppliers_upsert_payload.suppliers is
  E'@entity Supplier\n@perLine suppliers\nThe suppliers of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.suppliers_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.suppliers_upsert(input api_unstable.suppliers_upsert_input, changes jsonb)
returns api_unstable.suppliers_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.suppliers_upsert_payload
  from mutation.upserted(erp.upsert_suppliers(changes -> 'suppliers', input.partial)) d
$$;
comment on function api_unstable.suppliers_upsert(api_unstable.suppliers_upsert_input, jsonb) is
  E'@requiresScopes suppliers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes suppliers and changes those that are there, known by their id or number. Rows that say nothing '
  'new change nothing.';
--! EndIncluded api/suppliers_upsert.sql
--! Included api/warehouses_upsert.sql
drop type if exists api_unstable.warehouses_upsert_input cascade;
drop type if exists api_unstable.warehouse_upsert_input cascade;
drop type if exists api_unstable.warehouses_upsert_payload cascade;

create type api_unstable.warehouse_upsert_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_upsert_input is
  'A warehouse as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.warehouse_upsert_input.id is
  E'@gid Warehouse\nId of the warehouse. Without it, the warehouse is known by its code.';
comment on column api_unstable.warehouse_upsert_input.code is
  'Short name, unique; 1 to 100 characters. Beside an id it is the code that the warehouse gets.';
comment on column api_unstable.warehouse_upsert_input.name is
  'Name; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.warehouse_upsert_input.is_default is
  'Whether it takes the place of the warehouse that is the default now.';
comment on column api_unstable.warehouse_upsert_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now.';
comment on column api_unstable.warehouse_upsert_input.is_stock_available_for_sale is
  'Whether its stock may be sold. True when left out of a new one.';
comment on column api_unstable.warehouse_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create type api_unstable.warehouses_upsert_input
  as (warehouses api_unstable.warehouse_upsert_input[], partial boolean);
comment on type api_unstable.warehouses_upsert_input is 'Warehouses as they are to be.';
comment on column api_unstable.warehouses_upsert_input.warehouses is
  E'@notNull\nThe warehouses; 1 to 250 rows.';
comment on column api_unstable.warehouses_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.warehouses_upsert_payload as (
  results api_unstable.upsert_result[], warehouses uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.warehouses_upsert_payload is 'What an upsert of warehouses answers.';
comment on column api_unstable.warehouses_upsert_payload.results is
  E'@resultOf Warehouse\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.warehouses_upsert_payload.warehouses is
  E'@entity Warehouse\n@perLine warehouses\nThe warehouses of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.warehouses_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.warehouses_upsert(input api_unstable.warehouses_upsert_input, changes jsonb)
returns api_unstable.warehouses_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.warehouses_upsert_payload
  from mutation.upserted(erp.upsert_warehouses(changes -> 'warehouses', input.partial)) d
$$;
comment on function api_unstable.warehouses_upsert(api_unstable.warehouses_upsert_input, jsonb) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes warehouses, with the locations that orders are fulfilled from, and changes those that are '
  'there, known by their id or code. Rows that say nothing new change nothing.';
--! EndIncluded api/warehouses_upsert.sql
--! Included api/customers_upsert.sql
drop type if exists api_unstable.customers_upsert_input cascade;
drop type if exists api_unstable.customer_upsert_input cascade;
drop type if exists api_unstable.customers_upsert_payload cascade;

create type api_unstable.customer_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, customer_number text,
  account_type api_unstable.customer_account_type, email text, first_name text, last_name text, title text,
  company text, vat_ids jsonb, active boolean, guest boolean, group_id uuid, requested_group_id uuid,
  bound_sales_channel_id uuid, default_payment_method_id uuid, salutation_id uuid, tags text[]
);
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.customer_upsert_input.id is
  E'@gid Customer\nId of the customer. Without it, the customer is known by storefrontId and '
  'salesChannelId, or else by customerNumber.';
comment on column api_unstable.customer_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters.';
comment on column api_unstable.customer_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where the account was made. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.customer_number is
  'Number that the shop knows the customer by, unique; at most 255 characters. When left out of a new '
  'one, the next of its range.';
comment on column api_unstable.customer_upsert_input.account_type is
  'Whether a person or a company buys. Private when left out of a new one.';
comment on column api_unstable.customer_upsert_input.email is
  'E-mail address, unique within the sales channel and the channel that the account is bound to; at '
  'most 255 characters. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.first_name is
  'Given name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.last_name is
  'Family name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.title is
  'Academic or honorary title.';
comment on column api_unstable.customer_upsert_input.company is
  'Name of the company, for business customers.';
comment on column api_unstable.customer_upsert_input.vat_ids is
  'VAT identification numbers: a list of strings.';
comment on column api_unstable.customer_upsert_input.active is
  'Whether the account may log in and buy. True when left out of a new one.';
comment on column api_unstable.customer_upsert_input.guest is
  'Whether the customer bought without opening an account. False when left out of a new one.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\nId of the customer group whose terms apply. That of the sales channel when left '
  'out of a new one.';
comment on column api_unstable.customer_upsert_input.requested_group_id is
  E'@gid CustomerGroup\nId of the group that the customer wants to belong to.';
comment on column api_unstable.customer_upsert_input.bound_sales_channel_id is
  E'@gid SalesChannel\nId of the only sales channel where the account is valid; null for all.';
comment on column api_unstable.customer_upsert_input.default_payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay that the customer prefers.';
comment on column api_unstable.customer_upsert_input.salutation_id is
  E'@gid Salutation\nId of the form of address.';
comment on column api_unstable.customer_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.customers_upsert_input
  as (customers api_unstable.customer_upsert_input[], partial boolean);
comment on type api_unstable.customers_upsert_input is 'Customers as they are to be.';
comment on column api_unstable.customers_upsert_input.customers is
  E'@notNull\nThe customers; 1 to 250 rows.';
comment on column api_unstable.customers_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.customers_upsert_payload as (
  results api_unstable.upsert_result[], customers uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.customers_upsert_payload is 'What an upsert of customers answers.';
comment on column api_unstable.customers_upsert_payload.results is
  E'@resultOf Customer\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.customers_upsert_payload.customers is
  E'@entity Customer\n@perLine customers\nThe customers of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.customers_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.customers_upsert(input api_unstable.customers_upsert_input, changes jsonb)
returns api_unstable.customers_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.customers_upsert_payload
  from mutation.upserted(erp.upsert_customers(changes -> 'customers', input.partial)) d
$$;
comment on function api_unstable.customers_upsert(api_unstable.customers_upsert_input, jsonb) is
  E'@requiresScopes customers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes customers and changes those that are there, known by their id, by storefrontId and sales '
  'channel, or by number. A customer found by number who has no storefrontId yet gets that of the row. '
  'Rows that say nothing new change nothing.';
--! EndIncluded api/customers_upsert.sql
--! Included erp/match_order_lines.sql
create or replace function erp.match_order_lines(orders mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select o.line * 1000 + l.n as line, o.id as order_id, l.n, l.value as given, %s as defaults
      from unnest($1) o
      cross join jsonb_array_elements(nullif(o.given -> 'line_items', 'null')) with ordinality l (value, n)
      where o.errors is null and l.n <= 250
    ),
    matched as (
      select g.*, case
        when r.id is not null
          then (select p.id from erp.sales_order_line_item p where p.id = r.id and p.order_id = g.order_id)
        when r.storefront_id is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.storefront_id = r.storefront_id order by p.id limit 1)
        when r.identifier is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.identifier = r.identifier order by p.id limit 1) end as id,
        case when g.given ? 'product_number' and g.given ->> 'product_number' is not null
          then (select p.id from erp.product p where p.product_number = g.given ->> 'product_number')
          else r.product_id end as product_id
      from given g cross join lateral jsonb_populate_record(null::erp.sales_order_line_item, g.given) r
    )
    select array_agg(row(m.line, coalesce(p.id, (m.defaults ->> 'id')::uuid), p.id is null, m.given,
      to_jsonb(p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id, 'position', m.n) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when p.id is not null then '{}'
        else jsonb_build_object(
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, i.name, i.product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier, w.storefront_id, i.product_number, w.label)) end || case
        when not m.given ? 'total_price' and m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', round(w.unit_price * w.quantity, 2)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from matched m left join erp.sales_order_line_item p on p.id = m.id
    left join erp.product i on i.id = m.product_id
    cross join lateral jsonb_populate_record(case when p.id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else p end, m.given - 'id') w
    $q$, mutation.defaults_of('erp.sales_order_line_item'))
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'The lines that rows of an upsert of orders give, as rows of an upsert themselves; the place of a line '
  'is a '
  'thousand times that of its order, and its own. A line is known by its id, its storefrontId or its '
  'identifier, within its order.';
grant execute on function erp.match_order_lines(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included erp/faults_of_order_lines.sql
create or replace function erp.units_at_work(order_ids uuid[])
returns table (id uuid, order_id uuid, label text, shipped integer, assigned integer, invoiced integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.id, l.order_id, l.label, l.shipped_quantity, coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), l.invoiced_quantity
  from erp.sales_order_line_item l where l.order_id = any (order_ids);
end;
comment on function erp.units_at_work(uuid[]) is
  'Of each line of orders the units that are shipped, that open fulfillment orders have, and that are '
  'invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced, row_number() over (partition by l.id order by l.line) as nth,
      array(
        select c.key from jsonb_each(l.wanted) c
        where not l.is_new and c.value <> l.present -> c.key and c.key <> 'position'
      ) as changes
    from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
    left join erp.units_at_work(array(select x.id from unnest(orders) x where not x.is_new)) w on w.id = l.id
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select l.line, 'NOT_FOUND', 'The order has no such line.', array['id'], null::jsonb
    from line l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product of this number.', array['product_number'], null
    from line l where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line is the same one.', null, null from line l where l.nth > 1
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state in ('completed', 'cancelled') and (l.is_new or l.changes <> '{}')
    union all
    select l.line, 'NOT_EDITABLE', format('%s units are shipped or assigned to be.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned to be, or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with lines of an upsert of orders: what is shipped, assigned or invoiced stays as it is.';
grant execute on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.faults_of_orders(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with work as (
    select w.*, o.line, o.present ->> 'state' as state,
      o.given ? 'line_items' and not exists (select from unnest(lines) l where l.id = w.id) as is_left_out
    from unnest(orders) o join erp.units_at_work(array(
      select x.id from unnest(orders) x where not x.is_new
    )) w on w.order_id = o.id
    where not o.is_new
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    -- The errors of lines, by the place of their order
    select l.line / 1000, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then ((l.line % 1000) - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from unnest(lines) l cross join jsonb_array_elements(l.errors) e (error)
    union all
    select o.line, 'TOO_MANY_LINES', 'An order has at most 250 lines.', array['line_items'], null
    from unnest(orders) o where jsonb_array_length(nullif(o.given -> 'line_items', 'null')) > 250
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned to be, or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'Something of the order is shipped or invoiced, or it is closed.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of orders beyond the rules of the table, with the errors of their '
  'lines: what is shipped, assigned or invoiced stays as it is, and so do orders that are closed.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql
--! Included erp/upsert_orders.sql
create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- All products at once, and in one order: those of old lines and of new ones
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' = 'shipped_partially' and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes those that are left out. Answers the orders of '
  'which a '
  'line has changed.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', given, '{storefront_id,order_number}', matches);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('delivery_state', 'open')
      || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
        select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
      ) end)))
    from unnest(rows) u where u.is_new));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', rows);
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Makes and changes orders, with their lines and tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included erp/cancel_order.sql
create or replace function erp.cancel_order(order_id uuid) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted text;
  cancelled uuid[];
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = cancel_order.order_id));
  select * into present from erp.sales_order o where o.id = cancel_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Something of the order is shipped. Cancel its fulfillments first.', '{id}');
  end if;
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null
    where f.destination_order_id = present.id and f.type <> 'ExternalToOrder'
      and f.state in ('Open', 'InProgress', 'OnHold')
    returning f.id
  )
  select coalesce(array_agg(g.id order by g.id), '{}') into cancelled from gone g;
  update erp.sales_order o
  set state = wanted, delivery_state = erp.next_state('order_delivery', 'cancel', o.delivery_state)
  where o.id = present.id and o.delivery_state is not null;
  update erp.sales_order o set state = wanted where o.id = present.id and o.state <> wanted;
  return row (present.id, '{}', cancelled, '{}', '{}')::erp.shipment;
end
$$;
comment on function erp.cancel_order(uuid) is
  'Cancels an order of which nothing is shipped, and its open fulfillment orders, so that nothing is '
  'reserved '
  'for it any more. What is fulfilled externally is left alone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'What the line stands for: product, custom, promotion, credit or another word. When left out of a new '
  'line, product or custom.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax. When left out beside a unit price or a quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  line_items api_unstable.order_line_upsert_input[], tags text[]
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. That of the sales channel when left out of a new '
  'one.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Where to ship to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Where the invoice goes: an object of the same keys.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.orders_upsert_input as (orders api_unstable.order_upsert_input[], partial boolean);
comment on type api_unstable.orders_upsert_input is 'Orders as they are to be.';
comment on column api_unstable.orders_upsert_input.orders is
  E'@notNull\nThe orders; 1 to 250 rows.';
comment on column api_unstable.orders_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.orders_upsert_payload as (
  results api_unstable.upsert_result[], orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.orders_upsert_payload is 'What an upsert of orders answers.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.orders_upsert_payload.orders is
  E'@entity Order\n@perLine orders\nThe orders of the rows that were not refused, in their order.';
comment on column api_unstable.orders_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.orders_upsert(input api_unstable.orders_upsert_input, changes jsonb)
returns api_unstable.orders_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.orders_upsert_payload
  from mutation.upserted(erp.upsert_orders(changes -> 'orders', input.partial)) d
$$;
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Makes orders and changes those that are there, known by their id, by storefrontId and sales channel, '
  'or by number. What is shipped, assigned to a fulfillment order or invoiced stays: a line keeps at '
  'least these units, and its product; lines of completed and cancelled orders stay as they are. Rows '
  'that say nothing new change nothing.';
--! EndIncluded api/orders_upsert.sql
--! Included api/order_cancel.sql
drop type if exists api_unstable.order_cancel_input cascade;
drop type if exists api_unstable.order_cancel_payload cascade;

create type api_unstable.order_cancel_input as (id uuid);
comment on type api_unstable.order_cancel_input is 'An order to cancel.';
comment on column api_unstable.order_cancel_input.id is E'@notNull\n@gid Order\nId of the order.';

create type api_unstable.order_cancel_payload as (
  "order" uuid, fulfillment_orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.order_cancel_payload is 'What cancelling an order answers.';
comment on column api_unstable.order_cancel_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders that were cancelled with it.';
comment on column api_unstable.order_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.order_cancel(input api_unstable.order_cancel_input)
returns api_unstable.order_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (d.order_id, d.fulfillment_orders, null)::api_unstable.order_cancel_payload
  from erp.cancel_order(input.id) d
$$;
comment on function api_unstable.order_cancel(api_unstable.order_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION NOT_EDITABLE\n'
  'Cancels an open order, or one in progress, of which nothing is shipped, and its open fulfillment '
  'orders. Its '
  'units are no longer reserved. What is fulfilled externally is left alone.';
--! EndIncluded api/order_cancel.sql

select api_meta.allow('service_writer', 'erp.tag', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.product_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.product_price',
  'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', 'erp.product', 'insert',
  'update (product_number, parent_id, canonical_product_id, name, description, gtin, manufacturer_number, '
  'tax_rate, is_batch_managed, reorder_point, target_maximum_quantity, storefront_variants)');

select api_meta.allow('service_writer', 'erp.language', 'select');
select api_meta.allow('service_writer', 'erp.supplier', 'insert',
  'update (number, name, customer_number, currency_id, language_code, email, phone, address, '
  'default_delivery_time_days, minimum_order_value, vat_id, active)');
select api_meta.allow('service_writer', 'erp.customer_group', 'select');
select api_meta.allow('service_writer', 'erp.salutation', 'select');
select api_meta.allow('service_writer', 'erp.customer_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.customer', 'insert',
  'update (customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active, '
  'guest, storefront_id, group_id, requested_group_id, sales_channel_id, bound_sales_channel_id, '
  'default_payment_method_id, salutation_id)');

drop index if exists erp.customer_storefront_id_is_unique;
-- waive index-blocks-writes: a million customers take a second, and there are few writers of them
create unique index customer_storefront_id_is_unique on erp.customer (storefront_id, sales_channel_id);
comment on index erp.customer_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother customer of the sales channel has this id.';
comment on constraint customer_number_is_unique on erp.customer is
  E'@userError NOT_UNIQUE customer_number\nAnother customer has this number.';
comment on constraint customer_email_is_unique_per_channel on erp.customer is
  E'@userError NOT_UNIQUE email\nAnother customer of the sales channel has this address.';
comment on constraint customer_account_type_is_known on erp.customer is
  E'@userError INVALID account_type\nThere is no such type of accounts.';
comment on constraint customer_vat_ids_are_strings on erp.customer is
  E'@userError INVALID vat_ids\nThis must be a list of texts.';

select api_meta.allow('service_writer', 'erp.shipping_method', 'select');
select api_meta.allow('service_writer', 'erp.order_tag', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_order', 'insert',
  'update (order_number, order_date_time, state, delivery_state, payment_state, tax_status, currency_id, '
  'sales_channel_id, customer_id, shipping_method_id, payment_method_id, shipping_address, billing_address, '
  'storefront_id, entered_tracking_codes)');
select api_meta.allow('service_writer', 'erp.sales_order_line_item', 'insert', 'delete',
  'update (product_id, type, identifier, label, description, "position", quantity, unit_price, total_price, '
  'tax_rate, storefront_id)');

drop index if exists erp.order_storefront_id_is_unique;
-- waive index-blocks-writes: a million orders take a second
create unique index order_storefront_id_is_unique on erp.sales_order (storefront_id, sales_channel_id);
comment on index erp.order_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother order of the sales channel has this id.';
comment on constraint order_number_is_unique on erp.sales_order is
  E'@userError NOT_UNIQUE order_number\nAnother order has this number.';
comment on constraint order_tax_status_is_known on erp.sales_order is
  E'@userError INVALID tax_status\nThis is gross, net or tax-free.';
comment on constraint order_shipping_address_is_an_object on erp.sales_order is
  E'@userError INVALID shipping_address\nThe address must be a JSON object.';
comment on constraint order_billing_address_is_an_object on erp.sales_order is
  E'@userError INVALID billing_address\nThe address must be a JSON object.';
comment on constraint order_line_item_quantity_is_positive on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE quantity\nThe quantity must be at least 1.';
comment on constraint order_line_item_tax_rate_is_a_percentage on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
comment on constraint order_line_item_product_only_on_product_lines on erp.sales_order_line_item is
  E'@userError INVALID type\nOnly lines of type product name a product.';
comment on constraint order_line_item_promotion_identifier_matches_payload on erp.sales_order_line_item is
  E'@userError INVALID identifier\nThe identifier of a promotion is that of its payload.';
comment on constraint order_line_item_is_not_its_own_parent on erp.sales_order_line_item is
  '@internal No function writes the parent.';

comment on constraint supplier_number_is_unique on erp.supplier is
  E'@userError NOT_UNIQUE number\nAnother supplier has this number.';
comment on constraint supplier_name_is_not_blank on erp.supplier is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint supplier_address_is_an_object on erp.supplier is
  E'@userError INVALID address\nThe address must be a JSON object.';
comment on constraint supplier_delivery_time_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE default_delivery_time_days\nThe delivery time must not be negative.';
comment on constraint supplier_minimum_order_value_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE minimum_order_value\nThe value must not be negative.';

comment on constraint product_price_gross_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
comment on constraint product_price_net_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
comment on constraint product_number_is_unique on erp.product is
  E'@userError NOT_UNIQUE product_number\nAnother product has this number.';
comment on constraint product_number_is_not_blank on erp.product is
  E'@userError INVALID product_number\nThe number is blank.';
comment on constraint product_is_not_its_own_parent on erp.product is
  E'@userError INVALID parent_id\nA product is no variant of itself.';
comment on constraint product_reorder_point_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_target_maximum_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe quantity must not be negative.';
comment on constraint product_tax_rate_is_a_percentage on erp.product is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
comment on constraint product_storefront_variants_is_a_list on erp.product is
  E'@userError INVALID storefront_variants\nThis must be a list.';
comment on constraint tag_name_is_not_blank on erp.tag is
  E'@userError INVALID name\nThe name of the tag is blank.';
comment on constraint tag_name_is_unique on erp.tag is
  E'@userError NOT_UNIQUE name\nAnother tag has this name.';
-- The refusal of an unknown topic lists the topics
--! Included events/create_webhook_subscription.sql
create or replace function events.create_webhook_subscription(
  topic text, url text, api_version text, fields text[], payload_query text, enabled boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(select t.name from events.topic t where t.subscribable order by t.name);
  wanted events.webhook_subscription;
begin
  if topic <> all (known) then
    perform mutation.refuse('INVALID',
      format('There is no such topic. There are: %s.', array_to_string(known, ', ')),
      '{topic}', jsonb_build_object('topics', known));
  end if;
  perform events.require_scope(topic, '{topic}');
  wanted.topic := topic;
  wanted.url := url;
  wanted.api_version := api_version;
  wanted.fields := fields;
  wanted.payload_query := payload_query;
  perform events.require_settings(wanted);
  insert into events.webhook_subscription as s (credential_id, topic, url, api_version, fields, payload_query)
  values (events.caller(), wanted.topic, wanted.url, wanted.api_version, wanted.fields, wanted.payload_query)
  returning s.id
  into wanted.id;
  if not enabled then
    perform events.disable_webhook_subscription(wanted.id);
  end if;
  return wanted.id;
end
$$;
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Answers the id; a secret is yet to be made. User errors INVALID, '
  'SCOPE_MISSING, URL_FORBIDDEN.';
grant execute on function events.create_webhook_subscription(text, text, text, text[], text, boolean)
  to service_writer;
--! EndIncluded events/create_webhook_subscription.sql

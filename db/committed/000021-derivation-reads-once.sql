--! Previous: sha1:a45dc18f05037497487c25aa1a6c55e073eeb7ea
--! Hash: sha1:e1636d2d1a5d750c3d771ddd0c31d717a24ad181
--! Message: derivation-reads-once

--! split: 0300-finish.sql
-- What migrations derive takes less: the checks of all tables are read at once, and what is the same is left
--! Included api_meta/table_column.sql
create or replace view api_meta.table_column as
select a.attrelid as relation, a.attnum, a.attname as name,
  a.attnotnull and not exists (
    select from pg_catalog.pg_constraint c
    where c.conrelid = a.attrelid and c.conkey[1] = a.attnum and c.contype = 'n' and not c.convalidated
  ) as is_never_null
from pg_catalog.pg_attribute a;
comment on view api_meta.table_column is
  'The columns of all tables. is_never_null: no row has null there, for it is not null, and that has been '
  'validated.';
--! EndIncluded api_meta/table_column.sql
--! Included api_meta/upheld_rule.sql
create or replace view api_meta.upheld_rule as
select c.conrelid::regclass as relation, c.conname::text as name, r.rule, c.conkey as columns, k.keeps,
  case when k.keeps is not null then substring(r.rule from '^\(new\.\w+ = (.*)\)$') end as value
from pg_catalog.pg_constraint c
-- Offset: once, not at each place that names the result, and not at all where none does
cross join lateral (
  -- Names of columns, but not in texts. One pattern for all, because making one takes longer than using it
  select string_agg(case when t.part[1] = any (a.names) then 'new.' else '' end || t.part[1], '' order by t.n)
    as rule
  from (
    select array_agg(quote_ident(a.attname)) as names
    from pg_catalog.pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  ) a
  cross join regexp_matches(pg_get_expr(c.conbin, c.conrelid), '\w+|''[^'']*''|[^\w'']+', 'g')
    with ordinality t (part, n)
  offset 0
) r
cross join lateral (
  select substring(obj_description(c.oid, 'pg_constraint') from '(?n)^@keeps +(\w+)$') as keeps offset 0
) k
where c.contype = 'c' and not c.conenforced;
comment on view api_meta.upheld_rule is
  'The checks that are declared as not enforced, as they read in a trigger, with their columns. '
  'One whose comment has the tag @keeps is of the form column = value, and is upheld by setting the column '
  'to the value.';
--! EndIncluded api_meta/upheld_rule.sql
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
      or f.column_name in (
        select r.keeps from api_meta.upheld_rule r where r.relation = subject.relation and r.keeps is not null
      )
      or has_column_privilege('service_booker', subject.relation, f.column_name, 'update'));
end;
comment on function events.changed_expression(events.subject, boolean) is
  'SQL for the names of the fields that differ between the old row o of a subject and the new row n: of '
  'all, or of those that a booking may change.';
--! EndIncluded events/changed_expression.sql
drop function if exists api_meta.uphold(regclass, text, smallint[]);
drop function if exists api_meta.upheld_rules(regclass);
drop function if exists api_meta.upholder(regclass, text);
--! Included api_meta/upholding.sql
create or replace view api_meta.upholding as
with rule as materialized (
  select * from api_meta.upheld_rule
), booked as (
  select c.relation, array_agg(distinct c.number order by c.number) filter (where c.is_booked) as booked,
    array_agg(distinct c.number order by c.number) filter (where not c.is_booked) as others
  from (
    select r.relation, k as number,
      has_column_privilege('service_booker', r.relation, k, 'update') as is_booked
    from rule r cross join unnest(r.columns) k
  ) c
  group by c.relation
), wanted as materialized (
  select b.relation, t.name, t.columns,
    case t.name when 'uphold_figures' then t.columns || array(
      -- Those that change with them
      select a.attnum from rule k
      join pg_catalog.pg_attribute a on a.attrelid = k.relation and a.attname = k.keeps
      where k.relation = b.relation and k.columns && t.columns
    ) end as asked
  -- A booking changes little, and is asked for the rules of that only
  from booked b
  cross join lateral (
    values ('uphold_rules', b.others), ('uphold_figures', b.booked)
  ) t (name, columns)
  where t.name = 'uphold_rules' or t.columns is not null
)
select w.relation, w.name, w.columns, format('%I.%I', n.nspname, w.name || '_of_' || t.relname) as routine,
  concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', m.kept,
    case when m.rules is not null then
      format(E'  if not (%s) then\n    broken := case\n      when %s end;', m.rules, m.cases)
      || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
        '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
        ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
    '  return new;', 'end', '') as body
from wanted w
join pg_catalog.pg_class t on t.oid = w.relation
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
cross join lateral (
  select string_agg(format('not (%s) then %L', r.rule, r.name), E'\n      when ' order by r.name)
      filter (where r.keeps is null) as cases,
    string_agg(format('(%s)', r.rule), E'\n    and ' order by r.name)
      filter (where r.keeps is null) as rules,
    string_agg(format('  new.%I := %s; -- %L', r.keeps, r.value, r.name), E'\n' order by r.name)
      filter (where r.keeps is not null) as kept
  from rule r where r.relation = w.relation and (w.asked is null or r.columns && w.asked)
) m;
comment on view api_meta.upholding is
  'The triggers that uphold checks which are declared as not enforced: uphold_figures those of columns that '
  'bookings update, uphold_rules all. columns: those by whose change it has to fire.';
--! EndIncluded api_meta/upholding.sql
--! Included api_meta/uphold.sql
create or replace function api_meta.uphold(wanted api_meta.upholding) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(wanted.routine || '()') and p.prosrc = wanted.body
  ) then
    return;
  end if;
  execute format(E'create or replace function %s() returns trigger\n'
    'language plpgsql set search_path = pg_catalog, pg_temp as %L', wanted.routine, wanted.body);
  execute format('comment on function %s() is %L', wanted.routine,
    'Trigger, made by api_meta.derive_rules: upholds checks of ' || wanted.relation
    || ' that are declared as not enforced.');
end
$$;
comment on function api_meta.uphold(api_meta.upholding) is
  'Makes the function of a trigger that upholds the checks of a table which are declared as not enforced, '
  'of some columns or all, if it is not as it should be.';
--! EndIncluded api_meta/uphold.sql
--! Included api_meta/derive_rules.sql
create or replace function api_meta.derive_rules() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select u as upholding, u.relation, u.name, u.routine, b.columns as behind,
      concat_ws(' or ', case u.name when 'uphold_rules' then 'insert' end, 'update of ' || a.names) as events
    from api_meta.upholding u
    -- Offset: once for all columns of the table, not for each
    cross join lateral (select api_meta.columns_behind(u.relation, u.columns) as columns offset 0) b
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a where a.attrelid = u.relation and a.attnum = any (b.columns)
    ) a
    order by u.relation::text, u.name
  loop
    perform api_meta.uphold(item.upholding);
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name
        and t.tgattr::text = coalesce(array_to_string(item.behind, ' '), '')
    ) then
      -- By their names they come after all others that change the row
      execute format('create or replace trigger %I before %s on %s for each row execute function %s()',
        item.name, item.events, item.relation, item.routine);
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
  'all. They fire for what changes such a column by another trigger, too. Postgres compiles an enforced '
  'check anew in each statement, and a generated column as well, so tables that every booking writes to '
  'declare theirs in this way. Runs after each migration.';
--! EndIncluded api_meta/derive_rules.sql
--! Included events/derive_announcements.sql
create or replace function events.make_announcer(routine text, operation text, relation regclass, rows text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  signature constant text := routine || '()';
  body constant text := format($b$
begin
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.*, (select events.cause()) from (%s) e (topic, subject_id, entity_id, data, changed_fields);
  return null;
end
$b$, rows);
  -- A plan is kept for all later calls: one for a single row would be bad for a thousand
  settings constant text[] := array['search_path=pg_catalog, pg_temp'] || case operation
    when 'update' then array['enable_nestloop=off', 'enable_hashjoin=on'] end;
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(signature) and p.prosrc = body
      and p.proconfig = settings and p.prosecdef and p.proowner = 'service_recorder'::regrole
  ) then
    return;
  end if;
  execute format('create or replace function %s returns trigger language plpgsql security definer %s as %L',
    signature, (select string_agg('set ' || replace(s, '=', ' = '), ' ') from unnest(settings) s), body);
  execute format('comment on function %s is %L', signature,
    'Trigger, made by events.derive_announcements: writes the events of '
    || operation || 's of ' || relation || ' into the outbox.');
  perform api_meta.give(signature::regprocedure, 'service_recorder');
end
$$;
comment on function events.make_announcer(text, text, regclass, text) is
  'Makes the function of a trigger that writes the events of rows into the outbox, if it is not as it should '
  'be.';

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
      if exists (select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name) then
        execute format('drop trigger %I on %s', item.name, item.relation);
      end if;
      if to_regprocedure(item.routine || '()') is not null then
        execute format('drop function %s()', item.routine);
      end if;
      continue;
    end if;
    perform events.make_announcer(item.routine, item.operation, item.relation, item.rows);
    aside := case when item.is_booked then 'when (current_user <> ''service_booker''::text) ' else '' end;
    if not exists (
      select from pg_trigger t
      where t.tgrelid = item.relation and t.tgname = item.name
        and (t.tgqual is not null) = item.is_booked and (aside = '' or pg_get_triggerdef(t.oid) ~ '::text')
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
--! Included api_meta/grant_mutations.sql
create or replace function api_meta.grant_mutations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    with home as materialized (
      select distinct v.schema from api_meta.api_view v
    ), routine as materialized (
      -- An array and apart, so that rights are asked for of these only
      select p.oid, p.provolatile from pg_proc p
      where p.pronamespace = any (array(select h.schema::text::regnamespace::oid from home h))
    )
    select format('grant usage on schema %I to service_writer', h.schema) as change
    from home h where not has_schema_privilege('service_writer', h.schema, 'usage')
    union all
    select format('grant execute on function %s to service_writer', r.oid::regprocedure)
    from routine r where not has_function_privilege('service_writer', r.oid, 'execute')
    union all
    select format('grant execute on function %s to service_api', r.oid::regprocedure)
    from routine r where r.provolatile <> 'v' and not has_function_privilege('service_api', r.oid, 'execute')
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.grant_mutations() is
  'Lets service_writer, as which mutation.run works, execute the functions of the API schemas, '
  'and service_api those that change nothing, which are columns that are worked out. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_mutations.sql
--! Included mutation/derive_operations.sql
create or replace function mutation.derive_operations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  merge into mutation.operation o
  using (
    select n.nspname as version, p.proname as operation, p.oid::regproc as routine,
      p.proargtypes[0]::regtype as input_type, p.pronargs > 1 as takes_changes, s.scopes,
      array(
        select a.attname::text from pg_type t
        join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
        join pg_description d on d.objoid = a.attrelid and d.classoid = 'pg_class'::regclass
          and d.objsubid = a.attnum
        where t.oid = p.prorettype and d.description ~ '(?n)^@secret$'
        order by a.attnum
      ) as secrets
    from pg_namespace n join pg_proc p on p.pronamespace = n.oid
    join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0
    cross join lateral (
      select regexp_split_to_array(substring(d.description from '(?n)^@requiresScopes +(.*)$'), ' +')
      offset 0
    ) s (scopes)
    where n.nspname ~ '^api_(unstable|\d)' and p.provolatile = 'v' and s.scopes is not null
  ) w
  on o.version = w.version and o.operation = w.operation
  when matched and (o.routine, o.input_type, o.takes_changes, o.scopes, o.secrets)
    is distinct from (w.routine, w.input_type, w.takes_changes, w.scopes, w.secrets)
  then update set routine = w.routine, input_type = w.input_type, takes_changes = w.takes_changes,
    scopes = w.scopes, secrets = w.secrets
  when not matched then insert (version, operation, routine, input_type, takes_changes, scopes, secrets)
    values (w.version, w.operation, w.routine, w.input_type, w.takes_changes, w.scopes, w.secrets)
  when not matched by source then delete;
end
$$;
comment on function mutation.derive_operations() is
  'Writes down what mutation.run is to know of each mutation, from the functions of the API schemas and '
  'the tags of their comments. Runs after each migration, and changes only what differs.';
--! EndIncluded mutation/derive_operations.sql
--! Included api_meta/current_parts.sql
create or replace function api_meta.current_parts(version name)
returns table (kind text, name text, parent text, definition text, tree text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with home as materialized (
    -- Once, not for each function there is
    select to_regnamespace(quote_ident(version))::oid as oid
  ), relation as (
    select c.oid, c.relname::text as name, c.relkind, c.reltype, c.reloptions from pg_class c
    where c.relnamespace = (select h.oid from home h) and c.relkind in ('v', 'c')
  ), note as not materialized (
    select d.classoid, d.objoid, d.objsubid, d.description as text from pg_description d
  )
  select 'view', r.name, null,
    case when 'security_invoker=true' = any (r.reloptions) then 'security_invoker' else '' end
      || api_meta.part_note(n.text), null
  from relation r
  left join note n on n.objoid = r.oid and n.classoid = 'pg_class'::regclass and n.objsubid = 0
  where r.relkind = 'v'
  union all
  -- The tree refers to tables and columns by number, the text by name
  select 'query', r.name, r.name, md5(pg_get_viewdef(r.oid)), md5(w.ev_action::text)
  from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename = '_RETURN'
  union all
  select case r.relkind when 'v' then 'column' else 'attribute' end, r.name || '.' || a.attname, r.name,
    row_number() over (partition by r.oid order by a.attnum) || '. ' || format_type(a.atttypid, a.atttypmod)
      || api_meta.part_note(n.text), null
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join note n on n.objoid = r.oid and n.classoid = 'pg_class'::regclass and n.objsubid = a.attnum
  union all
  select 'type', t.typname, null, case t.typtype when 'e' then
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      else '' end
      || api_meta.part_note(n.text), null
  from pg_type t left join relation r on r.reltype = t.oid
  left join note n on n.objoid = t.oid and n.classoid = 'pg_type'::regclass
  where t.typnamespace = (select h.oid from home h) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(n.text), null
  from pg_proc p join pg_language l on l.oid = p.prolang
  left join note n on n.objoid = p.oid and n.classoid = 'pg_proc'::regclass
  where p.pronamespace = (select h.oid from home h)
  union all
  select 'body', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    md5(concat_ws(E'\n', coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), p.proconfig::text)),
    md5(p.prosqlbody::text)
  from pg_proc p where p.pronamespace = (select h.oid from home h)
$$;
comment on function api_meta.current_parts(name) is
  'What a version of the API consists of now: views with their queries and columns, types with their '
  'attributes, functions with their bodies. definition ends with the comment; that of a query or body is an '
  'MD5 hash of its text, and tree one of how Postgres keeps it, by object ids.';
--! EndIncluded api_meta/current_parts.sql
--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with main as materialized (
  select s.view, s.table_id,
    (
      select string_to_array(replace(k, ' ', ''), ',') from api_meta.view_tag(s.view, 'primaryKey') k limit 1
    ) as key
  from (
    select distinct on (s.view) s.view, s.table_id from api_meta.view_column_source s
    -- An array, so that the other versions are left out early
    where s.view = any (array(select v.view from api_meta.api_view v where v.schema = 'api_unstable'))
    order by s.view, s.weight desc, s.table_id
  ) s
), leakproof as materialized (
  select o.oid as opclass
  from pg_opclass o
  join pg_amop a on (a.amopfamily, a.amoplefttype, a.amoprighttype, a.amopstrategy)
    = (o.opcfamily, o.opcintype, o.opcintype, 1)
  join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
  where p.proleakproof and o.oid = any (array(
    select unnest(x.indclass::oid[]) from pg_index x join main m on m.table_id = x.indrelid
  ))
), index as materialized (
  select m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as has_beginnings,
    array_agg(c.attname::text order by k) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  cross join generate_series(0, x.indnkeyatts - 1) k
  -- Offset: looked up by the indexes of the catalog, for all attributes take longer to read than these
  left join lateral (
    select t.attname, t.atttypid from pg_attribute t
    where t.attrelid = x.indrelid and t.attnum = x.indkey[k]
      and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
    offset 0
  ) t on true
  -- A column as it stands in the table; of views with joins nothing more can be told
  left join lateral (
    select c.attname from pg_attribute c
    where c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
      and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
      -- Behind policies Postgres finds rows by no other comparisons
      and x.indclass[k] in (select l.opclass from leakproof l)
    offset 0
  ) c on true
  where x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = (
    select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
    where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
  group by m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null, x.indcollation[0]
), ordered as materialized (
  select i.view,
    case
      when i.names[cardinality(i.names) - cardinality(i.key) + 1:] = i.key
        then i.names[:cardinality(i.names) - cardinality(i.key)]
      -- Without ties no more columns are needed
      when i.indisunique and not exists (
        select from unnest(i.names) n join api_meta.table_column c on c.relation = i.indrelid and c.name = n
        where not c.is_never_null) then i.names
    end as names
  from index i
  where i.is_whole and array_position(i.names, null) is null
)
select i.view, i.names[1] as name,
  case when i.has_beginnings then '@indexed'
    when i.indisunique then '@foundExactly unique' else '@foundExactly' end as tag
from index i
where i.names[1] is not null
union
select o.view, o.names[1], rtrim('@orders ' || array_to_string(o.names[2:], ','))
from ordered o
where cardinality(o.names) > 0 and not o.names <@ (select m.key from main m where m.view = o.view);
comment on view api_meta.index_tag is
  'What the indexes of its main table do for each view of the head, as tags of its columns: @indexed, its '
  'values are found by an index; @foundExactly, its texts are, but not by how they begin, and with unique '
  'they stand for few rows; @orders, an index has the order of it, of the columns that follow, and of the '
  'key.';
--! EndIncluded api_meta/index_tag.sql
--! Included api_meta/index_use.sql
create or replace view api_meta.index_use as
with index as materialized (
  select i.indexrelid as id, i.indrelid as table_id, i.indisunique or i.indisexclusion as is_rule,
    (i.indkey::smallint[])[0:i.indnkeyatts - 1] as columns, i.indpred is null as is_whole,
    coalesce(pg_get_expr(i.indpred, i.indrelid), '') as condition,
    i.indexprs is null as is_plain, obj_description(i.indexrelid, 'pg_class') as own
  from pg_index i
  join pg_class x on x.oid = i.indexrelid join api_meta.own_schema s on s.oid = x.relnamespace
), tag as materialized (
  select v.view, f[1] = '*' as is_all, string_to_array(f[1], ',') as columns
  from api_meta.api_view v
  cross join regexp_matches(obj_description(v.view, 'pg_class'), '(?n)^@filters[ \t]+(.*)$', 'g') f
), filter as materialized (
  select c.table_id, c.attnum,
    string_agg(distinct format('%s.%s', t.view::regclass, c.attname), ', ') as names
  from tag t join api_meta.view_column_source c on c.view = t.view
  where t.is_all or c.attname::text = any (t.columns)
  group by c.table_id, c.attnum
), covered as (
  select i.id, string_agg(j.id::regclass::text, ', ') as covered_by
  from index i join index j on j.table_id = i.table_id
  where j.id <> i.id and i.is_plain and j.is_plain and not i.is_rule
    and (j.is_whole or j.condition = i.condition) and j.columns[:cardinality(i.columns)] = i.columns
    and (cardinality(j.columns) > cardinality(i.columns) or j.is_rule or j.id < i.id)
  group by i.id
)
select i.id::regclass as index, i.table_id::regclass as relation, n.needs, c.covered_by
from index i
cross join lateral (
  select array_remove(array[
    case when i.is_rule then 'rule ' || coalesce((
      select c.conname from pg_constraint c
      where c.conrelid = i.table_id and c.conindid = i.id and c.contype <> 'f'
    ), 'of the index itself') end,
    (
      select 'relation ' || string_agg(c.conname, ', ' order by c.conname) from pg_constraint c
      where c.conrelid = i.table_id and c.contype = 'f'
        and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@unindexed'
        and c.conkey <@ i.columns[:cardinality(c.conkey)] and c.conkey @> i.columns[:cardinality(c.conkey)]
    ),
    (
      select 'filter ' || f.names from filter f where f.table_id = i.table_id and f.attnum = i.columns[1]
    ),
    i.own
  ], null)
) n (needs)
left join covered c on c.id = i.id;
comment on view api_meta.index_use is
  'What needs each index: a rule, a relation (a foreign key, which deletions look up too), a filter of the '
  'API, or what its own comment says. covered_by names others that begin with the same columns, and have '
  'its rows.';
--! EndIncluded api_meta/index_use.sql
--! Included api_meta/finish_migration.sql
create or replace function api_meta.finish_migration() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- What is asked for each of a hundred objects is planned once
set plan_cache_mode = force_generic_plan as $$
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

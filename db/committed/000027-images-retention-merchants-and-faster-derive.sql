--! Previous: sha1:af4fae3c64cd79d4eba8e9f38b5b948f13af2964
--! Hash: sha1:7d3a45c2d3b70bd32b08b2a48010a9c1aba6af31
--! Message: images-retention-merchants-and-faster-derive

--! split: 16-derive.sql
-- What follows from the views of the API, derived in a third of the time: what is as it should be stays
--! Included api_meta/table_column.sql
create or replace view api_meta.table_column as
select a.attrelid as relation, a.attnum, a.attname as name,
  a.attnotnull and (a.attrelid, a.attnum) not in (
    select c.conrelid, c.conkey[1] from pg_catalog.pg_constraint c
    where c.contype = 'n' and not c.convalidated
  ) as is_never_null
from pg_catalog.pg_attribute a;
comment on view api_meta.table_column is
  'The columns of all tables. is_never_null: no row has null there, for it is not null, and that has been '
  'validated.';
--! EndIncluded api_meta/table_column.sql
--! Included api_meta/view_tag.sql
create or replace function api_meta.view_tag(view regclass, tag text) returns setof text
language sql stable
begin atomic
  -- In a form that becomes part of the statement that calls it
  select m[1]
  from pg_description d
  cross join lateral regexp_matches(d.description, '(?n)^@' || tag || '[ \t]+(.*)$', 'g') m
  where d.objoid = view and d.classoid = 'pg_class'::regclass and d.objsubid = 0;
end;
comment on function api_meta.view_tag(regclass, text) is
  'The values of one smart tag of a view, a row for each time it is given.';
--! EndIncluded api_meta/view_tag.sql
--! Included api_meta/view_column_source.sql
create or replace view api_meta.view_column_source as
with recursive link as materialized (
  select w.ev_class as reader, d.refobjid as relation, d.refobjsubid as attnum, c.relkind
  from pg_catalog.pg_rewrite w
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> w.ev_class
  join pg_catalog.pg_class c on c.oid = d.refobjid
), read (view, through) as (
  select v.view, v.view from api_meta.api_view v
  union
  select r.view, l.relation from read r join link l on l.reader = r.through and l.relkind = 'v'
)
select v.view, l.relation as table_id, l.attnum, a.name as attname, a.is_never_null as attnotnull,
  count(*) over (partition by v.view, l.relation) as weight
from read v
join link l on l.reader = v.through and l.attnum > 0
join api_meta.table_column a on a.relation = l.relation and a.attnum = l.attnum;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads, also through other views. The table with the greatest '
  'weight is what the view is about.';
--! EndIncluded api_meta/view_column_source.sql
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
), index as materialized (
  select m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as is_filter,
    array_agg(c.attname::text order by k) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  cross join generate_series(0, x.indnkeyatts - 1) k
  left join pg_attribute t on t.attrelid = x.indrelid and t.attnum = x.indkey[k]
    and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
  -- A column as it stands in the table; of views with joins nothing more can be told
  left join pg_attribute c on c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
    and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
    -- Behind policies Postgres finds rows by no other comparisons
    and x.indclass[k] in (
      select o.oid from pg_opclass o
      join pg_amop a on a.amopfamily = o.opcfamily and a.amopstrategy = 1
        and a.amoplefttype = o.opcintype and a.amoprighttype = o.opcintype
      join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
      where p.proleakproof)
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
select i.view, i.names[1] as name, '@indexed' as tag from index i
where i.names[1] is not null and i.is_filter
union
select o.view, o.names[1], rtrim('@orders ' || array_to_string(o.names[2:], ','))
from ordered o
where cardinality(o.names) > 0 and not o.names <@ (select m.key from main m where m.view = o.view);
comment on view api_meta.index_tag is
  'What the indexes of its main table do for each view of the head, as tags of its columns: @indexed, its '
  'values are found by an index; @orders, an index has the order of it, of the columns that follow, and of '
  'the key.';
--! EndIncluded api_meta/index_tag.sql
--! Included events/value_schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with col as (
    select a.attname, format_type(t.oid, null) as type, t.typcategory as category, t.typtype as kind,
      (
        select c.is_never_null from api_meta.table_column c
        where c.relation = a.attrelid and c.attnum = a.attnum
      ) as not_null,
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
--! Included api_meta/searched_view.sql
create or replace view api_meta.searched_view as
with tagged as materialized (
  select v.view, v.schema, v.name, to_regclass(m[2]) as kept,
    array(
      select c from regexp_split_to_table(replace(m[1], ' ', ''), ',') with ordinality x (c, n) order by n
    )::name[] as columns,
    array(
      select s from api_meta.view_tag(v.view, 'requiresScopes') r
      cross join regexp_split_to_table(r, '\s+') s where s ~ '^[a-z_]+:[a-z_]+$'
    ) as scopes
  from api_meta.api_view v
  cross join lateral api_meta.view_tag(v.view, 'search') t
  cross join lateral regexp_match(t, '^(.*?)(?:\s+in\s+(\S+))?\s*$') m
), sourced as materialized (
  select t.*, m.table_id::regclass as relation,
    format('search.%I', regexp_replace(t.schema, '^api_', '') || '_' || t.name) as routine
  from tagged t
  left join (
    select distinct on (s.view) s.view, s.table_id from api_meta.view_column_source s
    where s.view = any (array(select t.view from tagged t))
    order by s.view, s.weight desc, s.table_id
  ) m on m.view = t.view
), key as materialized (
  select s.view, s.schema, f[1]::name as col, f[2] as target
  from sourced s
  cross join lateral api_meta.view_tag(s.view, 'foreignKey') k
  cross join lateral regexp_match(k, '^\(([^)]*)\) references (\w+) ') f
  where f[1]::name = any (s.columns)
), related as (
  select k.view, array_agg(k.col::text order by k.col) as links, array_agg(o.view order by k.col) as targets,
    array_agg(o.routine order by k.col) as through
  from key k join sourced o on o.schema = k.schema and o.name = k.target
  group by k.view
)
select s.view, s.schema, s.name, s.relation, s.kept, s.columns, s.scopes,
  s.routine,
  (
    select format('lower((%s) collate pg_catalog.pg_c_utf8)', string_agg(
      format(case when a.attnotnull then '%I::text' else 'coalesce(%I::text, '''')' end, a.attname),
      E' || ''\n'' || ' order by c.n))
    from unnest(s.columns) with ordinality c (name, n)
    join pg_attribute a on a.attrelid = s.relation and a.attname = c.name and a.attnum > 0
    where r.links is null or c.name <> all (r.links::name[])
  ) as words,
  r.links, r.targets, r.through
from sourced s left join related r on r.view = s.view;
comment on view api_meta.searched_view is
  'The views whose lists can be searched, by the tag @search: `@search number,name,customer_id`. A column '
  'with a @foreignKey to such a view finds what belongs to the rows that are found there. words: the text of '
  'the other columns that is searched, as an expression over the table that the view is about; links: '
  'columns with such a key; targets: the views that they lead to; through: the functions that search these. '
  '`in erp.product_words` names a table that keeps that text, by id, for a table that bookings change: '
  'there, an index of it would cost each of them.';
--! EndIncluded api_meta/searched_view.sql
--! Included api_meta/derive_searches.sql
create or replace function api_meta.search_body(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
#variable_conflict use_column
declare
  sought constant text[] := search.sought(patterns);%3$s
begin
  if not auth.has_scope(variadic %1$L::text[]) then return '{}'; end if;%4$s
  return search.require_few(array(%2$s));
end
$f$,
    wanted.scopes,
    (
      select string_agg(b.text, E'\n    union\n    ' order by b.n)
      from (
        select 0, format('(select %s from %s where %s limit 10001)',
          case when wanted.kept is null then 'id' else (
            select quote_ident(a.attname) from pg_attribute a
            where a.attrelid = wanted.kept and a.attnum = 1
          ) end, coalesce(wanted.kept, wanted.relation),
          (
            select string_agg(format('%s like sought[%s]',
              case when wanted.kept is null then wanted.words else 'words' end, i), ' and ' order by i)
            from generate_series(1, 6) i
          ))
        where wanted.words is not null
        union all
        select l.n, format('(select id from %s where %I = any (through_%s) limit 10001)',
          wanted.relation, l.col, l.n)
        from unnest(wanted.links) with ordinality l (col, n)
      ) b (n, text)
    ),
    (
      select string_agg(format(E'\n  through_%s uuid[];', l.n), '' order by l.n)
      from unnest(wanted.links) with ordinality l (col, n)
    ),
    (
      select string_agg(format(E'\n  through_%s := %s(patterns);', t.n, t.routine), '' order by t.n)
      from unnest(wanted.through) with ordinality t (routine, n)
    ))
$$;
comment on function api_meta.search_body(api_meta.searched_view) is
  'The body of the function by which a view is searched.';

create or replace function api_meta.make_search(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  signature constant text := wanted.routine || '(text[])';
  body constant text := api_meta.search_body(wanted);
  -- Only the bitmap of an index finds patterns
  settings constant text[] := array['search_path=pg_catalog, pg_temp', 'plan_cache_mode=force_custom_plan',
    'enable_seqscan=off', 'enable_indexscan=off', 'enable_indexonlyscan=off'];
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(signature) and p.prosrc = body
      and p.proconfig = settings and p.prosecdef and p.proowner = 'service_searcher'::regrole
      and has_function_privilege('service_api', p.oid, 'execute')
      and not has_function_privilege('public', p.oid, 'execute')
  ) then
    return;
  end if;
  execute format('create or replace function %s(patterns text[]) returns uuid[] '
    'language plpgsql stable security definer %s as %L', wanted.routine,
    (select string_agg('set ' || replace(s, '=', ' = '), ' ') from unnest(settings) s), body);
  execute format('comment on function %s is %L', signature,
    format('The ids of rows of %s in which each of the patterns of LIKE, six at most, is found, if the '
      'caller may read them. Made of the tag @search of the view by api_meta.derive_searches().',
      wanted.view::regclass));
  perform api_meta.give(signature::regprocedure, 'service_searcher');
  execute format('revoke execute on function %1$s from public; '
    'grant execute on function %1$s to service_api', signature);
end
$$;
comment on function api_meta.make_search(api_meta.searched_view) is
  'Makes the function by which a view is searched, if it is not as it should be.';

create or replace function api_meta.fill_words() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted api_meta.searched_view;
begin
  for wanted in select * from api_meta.searched_view where kept is not null loop
    execute format('insert into %1$s select id, %2$s from %3$s on conflict (%4$I) do update '
      'set words = excluded.words', wanted.kept, wanted.words, wanted.relation,
      (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1));
  end loop;
end
$$;
comment on function api_meta.fill_words() is
  'Fills the tables that keep the text by which rows are found, also for rows that were written while '
  'triggers were switched off.';

create or replace function api_meta.keep_words(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key constant name := (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1);
  routine constant text := format('search.keep_words_of_%s', (parse_ident(wanted.relation::text))[2]);
  body constant text := format($b$
begin
  if tg_op = 'INSERT' then
    insert into %1$s (%2$I, words) select id, %3$s from new_rows
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  else
    insert into %1$s (%2$I, words) select id, %3$s from (select new.*) row
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  end if;
  return null;
end
$b$, wanted.kept, key, wanted.words, (select relname from pg_class where oid = wanted.kept));
  is_same constant boolean := col_description(wanted.kept, 2) is not distinct from wanted.words;
begin
  if not exists (
    select from pg_proc p where p.oid = to_regprocedure(routine || '()') and p.prosrc = body
      and p.prosecdef and p.proowner = 'service_searcher'::regrole
  ) then
    execute format($q$
      create or replace function %1$s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp as %3$L;
      comment on function %1$s() is
        'Trigger: keeps the text in %2$s by which a row is found. Made by api_meta.derive_searches().';
      revoke execute on function %1$s() from public;
      $q$, routine, wanted.kept, body);
    perform api_meta.give((routine || '()')::regprocedure, 'service_searcher');
  end if;
  -- New rows by one statement. Of others, only those whose text is set: a trigger of columns is one of rows
  if not is_same or not exists (
    select from pg_trigger t where t.tgrelid = wanted.relation and t.tgname = 'keep_words_of_new'
  ) then
    execute format('create or replace trigger keep_words_of_new after insert on %1$s '
      'referencing new table as new_rows for each statement execute function %2$s(); '
      'create or replace trigger keep_words after update of %3$s on %1$s '
      'for each row execute function %2$s()',
      wanted.relation, routine, (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c));
  end if;
  if not is_same then
    perform api_meta.fill_words();
    execute format('comment on column %s.words is %L', wanted.kept, wanted.words);
  end if;
end
$$;
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Makes the trigger that keeps the text by which rows are found in a table of its own, and fills that table '
  'where it is something else that is searched now.';

create or replace function api_meta.derive_searches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  all_wanted constant api_meta.searched_view[] := array(select v from api_meta.searched_view v);
  wanted api_meta.searched_view;
  item record;
begin
  for item in
    select r.relation, format('grant select (%s) on %s to service_searcher',
      string_agg(distinct quote_ident(r.col), ', '), r.relation) as rights,
      bool_and(has_column_privilege('service_searcher', r.relation, r.col, 'select')) as is_granted,
      exists (
        select from pg_policy p where p.polrelid = r.relation and p.polname ~ '_select_searcher$'
      ) as is_open
    from (
      select v.relation, c as col from unnest(all_wanted) v cross join unnest(v.columns || name 'id') c
    ) r
    group by r.relation
  loop
    if not item.is_granted then execute item.rights; end if;
    continue when item.is_open;
    execute format('create policy %I on %s for select to service_searcher using (true)',
      (parse_ident(item.relation::text))[2] || '_select_searcher', item.relation);
  end loop;
  foreach wanted in array all_wanted loop
    if wanted.kept is not null then perform api_meta.keep_words(wanted); end if;
    perform api_meta.make_search(wanted);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = 'search'::regnamespace and p.prosecdef and p.prorettype = 'uuid[]'::regtype
      and p.oid::regprocedure::text not in (select v.routine || '(text[])' from unnest(all_wanted) v)
  loop
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_searches() is
  'Makes a function of each view with the tag @search, which finds the ids of its rows by words, and the '
  'rights that it needs. Finding is done by the rights of service_searcher, because behind row-level '
  'security Postgres uses no index for LIKE. It gives ids only: what the caller may not read stays out of '
  'sight, because rows are read as ever. Runs after each migration.';
--! EndIncluded api_meta/derive_searches.sql
--! Included api_meta/current_parts.sql
create or replace function api_meta.current_parts(version name)
returns table (kind text, name text, parent text, definition text, tree text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with relation as (
    select c.oid, c.relname::text as name, c.relkind, c.reltype, c.reloptions from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(version)) and c.relkind in ('v', 'c')
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
  where t.typnamespace = to_regnamespace(quote_ident(version)) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(n.text), null
  from pg_proc p join pg_language l on l.oid = p.prolang
  left join note n on n.objoid = p.oid and n.classoid = 'pg_proc'::regclass
  where p.pronamespace = to_regnamespace(quote_ident(version))
  union all
  select 'body', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    md5(concat_ws(E'\n', coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), p.proconfig::text)),
    md5(p.prosqlbody::text)
  from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(version))
$$;
comment on function api_meta.current_parts(name) is
  'What a version of the API consists of now: views with their queries and columns, types with their '
  'attributes, functions with their bodies. definition ends with the comment; that of a query or body is an '
  'MD5 hash of its text, and tree one of how Postgres keeps it, by object ids.';
--! EndIncluded api_meta/current_parts.sql
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- Postgres takes what follows from the catalog for a few rows
set enable_nestloop = off as $$
declare
  col record;
begin
  for col in
    with tagged as materialized (
      select v.*,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ','))
          from api_meta.view_tag(v.view, 'nullable') t
        ) as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select t from api_meta.view_tag(v.view, 'columnEnum') t) as enums
      from api_meta.api_view v
      -- frozen versions keep the words that they were released with
      where v.schema = 'api_unstable'
    ), source as materialized (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.view, i.name, string_agg(i.tag, E'\n' order by i.tag) as tags
      from api_meta.index_tag i group by i.view, i.name
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, own.description as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          i.tags
        ) as tags,
        coalesce(
          below.description,
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
      left join index_tag i on i.view = v.view and i.name = a.attname
      left join pg_description own on own.classoid = 'pg_class'::regclass
        and own.objoid = v.view and own.objsubid = a.attnum
      left join pg_description below on below.classoid = 'pg_class'::regclass
        and below.objoid = s.table_id and below.objsubid = s.attnum
    )
    select d.schema, d.name, d.attname, w.words
    from described d
    cross join lateral (select nullif(concat_ws(E'\n', nullif(d.tags, ''), d.text), '') as words) w
    -- a comment written by hand beside the view stays; what this function wrote before is written anew
    where (d.own is null or d.table_id is not null and d.text is not null
        or d.own ~ '^(@notNull\n)?@behavior -\*(\n@(indexed|orders).*)*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the views of api_unstable: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum, and '
  'what indexes do for it. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql
--! Included api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  -- With these the rights on columns go as well, so those are looked at afterwards
  for item in
    select distinct c.oid::regclass as relation
    from pg_class c join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    cross join aclexplode(c.relacl) a
    where c.relkind in ('r', 'p') and a.grantee = 'service_api'::regrole and a.privilege_type = 'SELECT'
  loop
    execute format('revoke select on %s from service_api', item.relation);
  end loop;
  for item in
    with source as materialized (
      select distinct s.table_id, s.attnum from api_meta.view_column_source s
    ), home as (
      select v.schema as name from api_meta.api_view v
      union select c.relnamespace::regnamespace::text
      from pg_class c where c.oid in (select s.table_id from source s)
      union select 'erp'
    )
    select format('grant usage on schema %I to service_api', h.name) as change
    from home h where not has_schema_privilege('service_api', h.name, 'usage')
    union all
    select format('grant select on %s to service_api', v.view::regclass)
    from api_meta.api_view v where not has_table_privilege('service_api', v.view, 'select')
    union all
    -- By column: the role can't read columns that no view reads
    select format(case when s.attnum is null then 'revoke select (%I) on %s from service_api'
      else 'grant select (%I) on %s to service_api' end, a.attname, c.oid::regclass)
    from pg_class c join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join source s on s.table_id = a.attrelid and s.attnum = a.attnum
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and (s.attnum is not null or c.relkind in ('r', 'p'))
      and has_column_privilege('service_api', a.attrelid, a.attnum, 'select') <> (s.attnum is not null)
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_reads.sql
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
  body text;
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
  select concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', made.kept,
    case when made.rules is not null then
      format(E'  if not (%s) then\n    broken := case\n      when %s end;', made.rules, made.cases)
      || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
        '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
        ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
    '  return new;', 'end', '') into body
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
  if exists (
    select from pg_proc p
    where p.oid = to_regprocedure(api_meta.upholder(relation, name) || '()') and p.prosrc = body
  ) then
    return;
  end if;
  execute format(E'create or replace function %s() returns trigger\n'
    'language plpgsql set search_path = pg_catalog, pg_temp as %L', api_meta.upholder(relation, name), body);
  execute format('comment on function %s() is %L', api_meta.upholder(relation, name),
    'Trigger, made by api_meta.derive_rules: upholds checks of ' || relation
    || ' that are declared as not enforced.');
end
$$;
comment on function api_meta.uphold(regclass, text, smallint[]) is
  'Makes the function of a trigger that upholds the checks of a table which are declared as not enforced, '
  'of some columns or all, if it is not as it should be.';
--! EndIncluded api_meta/uphold.sql
--! Included mutation/derive_operations.sql
create or replace function mutation.derive_operations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from mutation.operation;
  insert into mutation.operation (
    version, operation, routine, input_type, takes_changes, scopes, secrets
  )
  select n.nspname, p.proname, p.oid, p.proargtypes[0], p.pronargs > 1, s.scopes,
    array(
      select a.attname::text from pg_type t
      join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      join pg_description d on d.objoid = a.attrelid and d.classoid = 'pg_class'::regclass
        and d.objsubid = a.attnum
      where t.oid = p.prorettype and d.description ~ '(?n)^@secret$')
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
        select r.keeps from api_meta.upheld_rules(subject.relation) r where r.keeps is not null
      )
      or has_column_privilege('service_booker', subject.relation, f.column_name, 'update'));
end;
comment on function events.changed_expression(events.subject, boolean) is
  'SQL for the names of the fields that differ between the old row o of a subject and the new row n: of '
  'all, or of those that a booking may change.';
--! EndIncluded events/changed_expression.sql
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
      execute format('drop trigger if exists %I on %s', item.name, item.relation);
      execute format('drop function if exists %s()', item.routine);
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
drop function if exists api_meta.is_never_null(oid, smallint);
drop function if exists api_meta.search_routine(api_meta.searched_view);

--! split: 50-images.sql
-- Products have images, and texts in other languages
drop view if exists api_unstable.product_images;
drop view if exists api_unstable.products;
drop table if exists erp.product_image;
alter table erp.product drop column if exists translations cascade;

--! Included erp/is_locale.sql
create or replace function erp.is_locale(code text) returns boolean
language sql immutable strict parallel safe
return code ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$';
comment on function erp.is_locale(text) is
  'Whether a text has the form of a locale: a language, perhaps with script and region, such as de or de-AT.';
grant execute on function erp.is_locale(text) to service_writer;
--! EndIncluded erp/is_locale.sql
--! Included erp/is_web_address.sql
create or replace function erp.is_web_address(url text) returns boolean
language sql immutable strict parallel safe
return url ~* '^https?://([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?([/?#][]!#-;=?-[^-~]*)?$';
comment on function erp.is_web_address(text) is
  'Whether a text is an absolute address of http or https, spelled as it is sent: without user, spaces or '
  'characters beyond ASCII.';
grant execute on function erp.is_web_address(text) to service_writer;
--! EndIncluded erp/is_web_address.sql
--! Included erp/are_translations.sql
create or replace function erp.are_translations(texts jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object'
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "object")')
  and not pg_catalog.jsonb_path_exists(texts, '$.*.* ? (@.type() != "string")');
comment on function erp.are_translations(jsonb) is
  'Whether a JSON value is an object from locale to an object of texts, such as {"de": {"name": "Zelt"}}.';
grant execute on function erp.are_translations(jsonb) to service_writer;
--! EndIncluded erp/are_translations.sql

alter table erp.product add column translations jsonb not null default '{}';
alter table erp.product add constraint product_translations_are_texts
  check (erp.are_translations(translations)) not enforced;
comment on column erp.product.translations is
  'Name and description in other languages: an object from locale to an object of texts.';
comment on constraint product_translations_are_texts on erp.product is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product', 'update (translations)');

create table erp.product_image (
  product_id uuid not null references erp.product on delete cascade,
  position integer not null constraint product_image_position_is_counted_from_1 check (position > 0),
  url text collate "C" not null constraint product_image_url_is_a_web_address check (erp.is_web_address(url)),
  alt_text text,
  translations jsonb not null default '{}'
    constraint product_image_translations_are_texts check (erp.are_translations(translations)),
  primary key (product_id, position),
  -- Looked at when a statement ends, because images change their places
  constraint product_image_is_unique unique (url, product_id) deferrable
);
alter table erp.product_image enable row level security;
comment on table erp.product_image is 'Addresses of images of products, in their order.';
comment on column erp.product_image.product_id is 'Product that the image shows.';
comment on column erp.product_image.position is
  'Place of the image among those of the product, counted from 1.';
comment on column erp.product_image.url is
  'Address of the image, which begins with https:// or http://. It is kept, and not fetched.';
comment on column erp.product_image.alt_text is 'What the image shows, for those who can''t see it.';
comment on column erp.product_image.translations is
  'The alternative text in other languages: an object from locale to an object of texts.';
comment on constraint product_image_position_is_counted_from_1 on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_url_is_a_web_address on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_translations_are_texts on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_is_unique on erp.product_image is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_image', 'select', 'insert', 'delete',
  'update (url, alt_text, translations)');

--! Included erp/with_translations.sql
-- Without settings, so that it becomes a part of the statement that asks
create or replace function erp.translations_of(given jsonb) returns setof jsonb
language sql immutable
begin atomic
  select coalesce(pg_catalog.jsonb_object_agg(t.value ->> 'locale', x.texts), '{}')
  from pg_catalog.jsonb_array_elements(nullif(given, 'null')) t (value)
  cross join lateral (select pg_catalog.jsonb_strip_nulls(t.value - 'locale')) x (texts)
  where x.texts <> '{}';
end;
comment on function erp.translations_of(jsonb) is
  'A list of translations that a caller gives as it is stored. What has no text is left out.';
grant execute on function erp.translations_of(jsonb) to service_writer;

create or replace function erp.with_translations(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('translations', t.texts))
    from unnest(rows) u cross join lateral erp.translations_of(u.given -> 'translations') t (texts)
    where u.given ? 'translations'
  ));
end;
comment on function erp.with_translations(mutation.upsert_row[]) is
  'The rows of an upsert with the translations that they give.';
grant execute on function erp.with_translations(mutation.upsert_row[]) to service_writer;

-- Without settings, so that it becomes a part of the statement that asks
create or replace function erp.translation_faults(line bigint, path text[], given jsonb)
returns setof mutation.row_fault
language sql stable
begin atomic
  with translation as (
    select t.n, t.value ->> 'locale' as locale, t.value - 'locale' as texts,
      row_number() over (partition by t.value ->> 'locale' order by t.n) as nth
    from jsonb_array_elements(nullif(given, 'null')) with ordinality t (value, n)
  )
  select line, f.code, f.message, path || array['translations', (f.n - 1)::text, f.field], null::jsonb
  from (
    select t.n, 'INVALID', 'A locale is a language, perhaps with script and region: de, de-AT, zh-Hant-TW.',
      'locale'
    from translation t where not erp.is_locale(t.locale)
    union all
    select t.n, 'NOT_UNIQUE', 'An earlier translation is in this locale.', 'locale'
    from translation t where t.nth > 1
    union all
    select t.n, 'OUT_OF_RANGE', format('The text has more than %s characters.', m.longest), x.key
    from translation t cross join jsonb_each_text(t.texts) x
    cross join lateral (select case x.key when 'name' then 255 when 'alt_text' then 1000 end) m (longest)
    where length(x.value) > m.longest
    union all
    select 251, 'TOO_MANY_LINES', 'There are more than 250 translations.', 'locale'
    where jsonb_array_length(nullif(given, 'null')) > 250
  ) f (n, code, message, field);
end;
comment on function erp.translation_faults(bigint, text[], jsonb) is
  'What is wrong with translations that a row of an upsert gives, at a path within the row.';
grant execute on function erp.translation_faults(bigint, text[], jsonb) to service_writer;

create or replace function erp.faults_of_translations(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(f)
  from unnest(rows) u
  cross join lateral erp.translation_faults(u.line, '{}', u.given -> 'translations') f
  where u.given ? 'translations';
end;
comment on function erp.faults_of_translations(mutation.upsert_row[]) is
  'What is wrong with the translations that rows of an upsert give.';
grant execute on function erp.faults_of_translations(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/with_translations.sql
--! Included erp/set_images.sql
create or replace function erp.faults_of_images(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with image as materialized (
    select u.line, i.n, i.value ->> 'url' as url, i.value ->> 'alt_text' as alt_text,
      i.value -> 'translations' as translations,
      row_number() over (partition by u.line, i.value ->> 'url' order by i.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> 'images', 'null')) with ordinality i (value, n)
    where u.given ? 'images'
  )
  select array_agg(f.fault)
  from (
    select row (f.line, f.code, f.message, array['images', (f.n - 1)::text, f.field],
      null)::mutation.row_fault
    from (
      select i.line, i.n, 'INVALID', 'The address must begin with https:// or http://, name a host and no '
        'user, and have only characters that addresses have.', 'url'
      from image i where not erp.is_web_address(i.url)
      union all
      select i.line, i.n, 'OUT_OF_RANGE', 'The address has more than 2048 characters.', 'url'
      from image i where length(i.url) > 2048
      union all
      select i.line, i.n, 'NOT_UNIQUE', 'An earlier image has this address.', 'url'
      from image i where i.nth > 1
      union all
      select i.line, i.n, 'OUT_OF_RANGE', 'The text has more than 1000 characters.', 'alt_text'
      from image i where length(i.alt_text) > 1000
      union all
      select i.line, i.n, 'TOO_MANY_LINES', 'There are more than 250 images.', 'url'
      from image i where i.n = 251
    ) f (line, n, code, message, field)
    union all
    select t
    from image i
    cross join lateral erp.translation_faults(i.line, array['images', (i.n - 1)::text], i.translations) t
    where i.translations is not null
  ) f (fault);
end;
comment on function erp.faults_of_images(mutation.upsert_row[]) is
  'What is wrong with the images that rows of an upsert give.';
grant execute on function erp.faults_of_images(mutation.upsert_row[]) to service_writer;

create or replace function erp.set_images(rows mutation.upsert_row[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  with given as (
    select u.id, u.given -> 'images' as images
    from unnest(rows) u where u.errors is null and u.given ? 'images'
  ),
  wanted as (
    select g.id, i.n::int as position, i.value ->> 'url' as url, i.value ->> 'alt_text' as alt_text,
      t.texts as translations
    from given g
    cross join jsonb_array_elements(nullif(g.images, 'null')) with ordinality i (value, n)
    cross join lateral erp.translations_of(i.value -> 'translations') t (texts)
  ),
  gone as (
    delete from erp.product_image i using given g
    where i.product_id = g.id and i.position > coalesce(jsonb_array_length(nullif(g.images, 'null')), 0)
    returning i.product_id
  ),
  made as (
    insert into erp.product_image as i (product_id, position, url, alt_text, translations)
    select w.id, w.position, w.url, w.alt_text, w.translations from wanted w order by w.id, w.position
    on conflict (product_id, position) do update
    set url = excluded.url, alt_text = excluded.alt_text, translations = excluded.translations
    where (i.url, i.alt_text, i.translations)
      is distinct from (excluded.url, excluded.alt_text, excluded.translations)
    returning i.product_id
  )
  select array(select product_id from gone union select product_id from made) into changed;
  return changed;
end
$$;
comment on function erp.set_images(mutation.upsert_row[]) is
  'Makes the lists that rows of an upsert give the images of their products, in this order. Answers the '
  'products of which one has changed.';
grant execute on function erp.set_images(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/set_images.sql
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
  rows := erp.with_translations(erp.with_parents(mutation.match_rows('erp.product', 'products', given,
    '{product_number}', matches)));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices, images and tags: the objects of the list, fields named as '
  'columns. Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
--! Included api/product_translation.sql
drop type if exists api_unstable.product_translation;
create type api_unstable.product_translation as (locale text, name text, description text);
comment on type api_unstable.product_translation is 'Texts of a product in another language.';
comment on column api_unstable.product_translation.locale is
  E'@notNull\nThe language, perhaps with script and region, such as de or de-AT.';
comment on column api_unstable.product_translation.name is
  'Name of the product; null when it has none in this language.';
comment on column api_unstable.product_translation.description is
  'Text that describes the product to buyers; null when there is none in this language.';
--! EndIncluded api/product_translation.sql
--! Included api/products.sql
create view api_unstable.products with (security_invoker = true) as
select id, product_number, parent_id, name, description, gtin, manufacturer_number,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_price p where p.product_id = product.id order by p.currency_id
  ) as price,
  nullif(array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_purchase_price p where p.product_id = product.id order by p.currency_id
  ), '{}') as purchase_prices,
  physical_stock, stock_not_available_for_sale, reserved_stock, available_stock, open_supplier_order_quantity,
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id,
  array(
    select row (t.key, t.value ->> 'name', t.value ->> 'description')::api_unstable.product_translation
    from jsonb_each(product.translations) t order by t.key collate "C"
  ) as translations
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@aggregates physical_stock,available_stock,reserved_stock
@groupBy parent_id
@search product_number,name,gtin,manufacturer_number in erp.product_words
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
@describe images The images of the product, in their order. The first is shown where there is room for one.
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
comment on column api_unstable.products.translations is
  E'@notNull\nName and description in other languages, in the order of their locales.';
--! EndIncluded api/products.sql
--! Included api/product_images.sql
drop type if exists api_unstable.product_image_translation;
create type api_unstable.product_image_translation as (locale text, alt_text text);
comment on type api_unstable.product_image_translation is
  'The alternative text of an image in another language.';
comment on column api_unstable.product_image_translation.locale is
  E'@notNull\nThe language, perhaps with script and region, such as de or de-AT.';
comment on column api_unstable.product_image_translation.alt_text is
  E'@notNull\nWhat the image shows.';

create view api_unstable.product_images with (security_invoker = true) as
select product_id, position, url, alt_text,
  array(
    select row (t.key, t.value ->> 'alt_text')::api_unstable.product_image_translation
    from jsonb_each(product_image.translations) t order by t.key collate "C"
  ) as translations
from erp.product_image;
comment on view api_unstable.product_images is $$
@primaryKey product_id,position
@requiresScopes products:read
@filters product_id,position,url
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName images
@describe productImages All images of products that the caller may read, those of a product in their order.
An image of a product. Its id says which product's, and the place among its images.$$;
comment on column api_unstable.product_images.translations is
  E'@notNull\nThe alternative text in other languages, in the order of their locales.';
--! EndIncluded api/product_images.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'What the image shows; at most 1000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'What the image shows, for those who can''t see it; at most 1000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, tax_rate numeric,
  is_batch_managed boolean, reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
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
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

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
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql

--! split: 51-loading.sql
-- New orders are written once, with their amounts; the words of new products by one statement
--! Included ledger/order_amounts.sql
-- Without settings, so that both become a part of the statement that asks
create or replace function ledger.amounts_of(prices numeric[], tax_rates numeric[], tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select s.total, case when amounts_of.tax_status = 'tax-free' then s.total
    else s.rated_net + round((s.total - s.rated) * coalesce(s.rated_net / nullif(s.rated, 0), 1), 2) end
  from (
    select sum(l.price) as total,
      coalesce(sum(l.price) filter (where l.tax_rate is not null), 0) as rated,
      coalesce(sum(round(l.price * 100 / (100 + l.tax_rate), 2)), 0) as rated_net
    from unnest(prices, tax_rates) l (price, tax_rate) having count(l.price) > 0
  ) s;
end;
comment on function ledger.amounts_of(numeric[], numeric[], text) is
  'Totals with and without tax of lines with these prices and tax rates; no row when no line has a price. '
  'Lines without a tax rate, such as promotions, are taxed as the others on average.';
grant execute on function ledger.amounts_of(numeric[], numeric[], text) to service_ledger, service_writer;

create or replace function ledger.order_amounts(order_id uuid, tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select a.amount_total, a.amount_net
  from (
    select array_agg(l.total_price) as prices, array_agg(l.tax_rate) as tax_rates
    from erp.sales_order_line_item l where l.order_id = order_amounts.order_id
  ) s
  cross join lateral ledger.amounts_of(s.prices, s.tax_rates, order_amounts.tax_status) a;
end;
comment on function ledger.order_amounts(uuid, text) is
  'Totals of an order with and without tax, from its lines; no row when no line has a price.';
grant execute on function ledger.order_amounts(uuid, text) to service_ledger;
--! EndIncluded ledger/order_amounts.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select l.line / 1000 as line, array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by l.line / 1000
    ) l on l.line = o.line
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'The rows of an upsert of orders, new ones with the amounts of their lines, so that these need not be '
  'written, and told of, as a change of the order.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
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
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Makes and changes orders, with their lines and tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included api_meta/derive_searches.sql
create or replace function api_meta.search_body(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
#variable_conflict use_column
declare
  sought constant text[] := search.sought(patterns);%3$s
begin
  if not auth.has_scope(variadic %1$L::text[]) then return '{}'; end if;%4$s
  return search.require_few(array(%2$s));
end
$f$,
    wanted.scopes,
    (
      select string_agg(b.text, E'\n    union\n    ' order by b.n)
      from (
        select 0, format('(select %s from %s where %s limit 10001)',
          case when wanted.kept is null then 'id' else (
            select quote_ident(a.attname) from pg_attribute a
            where a.attrelid = wanted.kept and a.attnum = 1
          ) end, coalesce(wanted.kept, wanted.relation),
          (
            select string_agg(format('%s like sought[%s]',
              case when wanted.kept is null then wanted.words else 'words' end, i), ' and ' order by i)
            from generate_series(1, 6) i
          ))
        where wanted.words is not null
        union all
        select l.n, format('(select id from %s where %I = any (through_%s) limit 10001)',
          wanted.relation, l.col, l.n)
        from unnest(wanted.links) with ordinality l (col, n)
      ) b (n, text)
    ),
    (
      select string_agg(format(E'\n  through_%s uuid[];', l.n), '' order by l.n)
      from unnest(wanted.links) with ordinality l (col, n)
    ),
    (
      select string_agg(format(E'\n  through_%s := %s(patterns);', t.n, t.routine), '' order by t.n)
      from unnest(wanted.through) with ordinality t (routine, n)
    ))
$$;
comment on function api_meta.search_body(api_meta.searched_view) is
  'The body of the function by which a view is searched.';

create or replace function api_meta.make_search(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  signature constant text := wanted.routine || '(text[])';
  body constant text := api_meta.search_body(wanted);
  -- Only the bitmap of an index finds patterns
  settings constant text[] := array['search_path=pg_catalog, pg_temp', 'plan_cache_mode=force_custom_plan',
    'enable_seqscan=off', 'enable_indexscan=off', 'enable_indexonlyscan=off'];
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(signature) and p.prosrc = body
      and p.proconfig = settings and p.prosecdef and p.proowner = 'service_searcher'::regrole
      and has_function_privilege('service_api', p.oid, 'execute')
      and not has_function_privilege('public', p.oid, 'execute')
  ) then
    return;
  end if;
  execute format('create or replace function %s(patterns text[]) returns uuid[] '
    'language plpgsql stable security definer %s as %L', wanted.routine,
    (select string_agg('set ' || replace(s, '=', ' = '), ' ') from unnest(settings) s), body);
  execute format('comment on function %s is %L', signature,
    format('The ids of rows of %s in which each of the patterns of LIKE, six at most, is found, if the '
      'caller may read them. Made of the tag @search of the view by api_meta.derive_searches().',
      wanted.view::regclass));
  perform api_meta.give(signature::regprocedure, 'service_searcher');
  execute format('revoke execute on function %1$s from public; '
    'grant execute on function %1$s to service_api', signature);
end
$$;
comment on function api_meta.make_search(api_meta.searched_view) is
  'Makes the function by which a view is searched, if it is not as it should be.';

create or replace function api_meta.fill_words() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted api_meta.searched_view;
begin
  for wanted in select * from api_meta.searched_view where kept is not null loop
    execute format('insert into %1$s select id, %2$s from %3$s on conflict (%4$I) do update '
      'set words = excluded.words', wanted.kept, wanted.words, wanted.relation,
      (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1));
  end loop;
end
$$;
comment on function api_meta.fill_words() is
  'Fills the tables that keep the text by which rows are found, also for rows that were written while '
  'triggers were switched off.';

create or replace function api_meta.keep_words(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key constant name := (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1);
  routine constant text := format('search.keep_words_of_%s', (parse_ident(wanted.relation::text))[2]);
  body constant text := format($b$
begin
  if tg_op = 'INSERT' then
    insert into %1$s (%2$I, words) select id, %3$s from new_rows
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  else
    insert into %1$s (%2$I, words) select id, %3$s from (select new.*) row
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  end if;
  return null;
end
$b$, wanted.kept, key, wanted.words, (select relname from pg_class where oid = wanted.kept));
  is_same constant boolean := col_description(wanted.kept, 2) is not distinct from wanted.words;
begin
  if not exists (
    select from pg_proc p where p.oid = to_regprocedure(routine || '()') and p.prosrc = body
      and p.prosecdef and p.proowner = 'service_searcher'::regrole
  ) then
    execute format($q$
      create or replace function %1$s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp as %3$L;
      comment on function %1$s() is
        'Trigger: keeps the text in %2$s by which a row is found. Made by api_meta.derive_searches().';
      revoke execute on function %1$s() from public;
      $q$, routine, wanted.kept, body);
    perform api_meta.give((routine || '()')::regprocedure, 'service_searcher');
  end if;
  -- New rows by one statement. Of others, only those whose text is set: a trigger of columns is one of rows
  if not is_same or not exists (
    select from pg_trigger t where t.tgrelid = wanted.relation and t.tgname = 'keep_words_of_new'
  ) then
    execute format('create or replace trigger keep_words_of_new after insert on %1$s '
      'referencing new table as new_rows for each statement execute function %2$s(); '
      'create or replace trigger keep_words after update of %3$s on %1$s '
      'for each row execute function %2$s()',
      wanted.relation, routine, (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c));
  end if;
  if not is_same then
    perform api_meta.fill_words();
    execute format('comment on column %s.words is %L', wanted.kept, wanted.words);
  end if;
end
$$;
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Makes the trigger that keeps the text by which rows are found in a table of its own, and fills that table '
  'where it is something else that is searched now.';

create or replace function api_meta.derive_searches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  all_wanted constant api_meta.searched_view[] := array(select v from api_meta.searched_view v);
  wanted api_meta.searched_view;
  item record;
begin
  for item in
    select r.relation, format('grant select (%s) on %s to service_searcher',
      string_agg(distinct quote_ident(r.col), ', '), r.relation) as rights,
      bool_and(has_column_privilege('service_searcher', r.relation, r.col, 'select')) as is_granted,
      exists (
        select from pg_policy p where p.polrelid = r.relation and p.polname ~ '_select_searcher$'
      ) as is_open
    from (
      select v.relation, c as col from unnest(all_wanted) v cross join unnest(v.columns || name 'id') c
    ) r
    group by r.relation
  loop
    if not item.is_granted then execute item.rights; end if;
    continue when item.is_open;
    execute format('create policy %I on %s for select to service_searcher using (true)',
      (parse_ident(item.relation::text))[2] || '_select_searcher', item.relation);
  end loop;
  foreach wanted in array all_wanted loop
    if wanted.kept is not null then perform api_meta.keep_words(wanted); end if;
    perform api_meta.make_search(wanted);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = 'search'::regnamespace and p.prosecdef and p.prorettype = 'uuid[]'::regtype
      and p.oid::regprocedure::text not in (select v.routine || '(text[])' from unnest(all_wanted) v)
  loop
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_searches() is
  'Makes a function of each view with the tag @search, which finds the ids of its rows by words, and the '
  'rights that it needs. Finding is done by the rights of service_searcher, because behind row-level '
  'security Postgres uses no index for LIKE. It gives ids only: what the caller may not read stays out of '
  'sight, because rows are read as ever. Runs after each migration.';
--! EndIncluded api_meta/derive_searches.sql

--! split: 73-merchants.sql
--! Included api_meta/migration_state.sql
create or replace function api_meta.migration_state() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
return (
  select md5(coalesce(string_agg(hash, ' ' order by hash), '')
    || coalesce((select string_agg(content, ' ' order by filename) from graphile_migrate.current), ''))
  from graphile_migrate.migrations
);
comment on function api_meta.migration_state() is
  'The same in all databases that have had the same migrations. A service with many merchants shares what it '
  'has built from one of them. It asks as the role that it logs in as, which may read nothing else.';
grant execute on function api_meta.migration_state() to service_login;
--! EndIncluded api_meta/migration_state.sql

--! split: 1912-retention.sql
-- How long things are kept are settings: service.keep_…, with the promised ages as their least
--! Included events/lifetime.sql
create or replace function events.lifetime() returns interval
language sql stable
return greatest(interval '30 days',
  nullif(pg_catalog.current_setting('service.keep_events', true), '')::interval);
comment on function events.lifetime() is
  'How long events and their deliveries are kept: the setting service.keep_events, and at least the 30 days '
  'that subscribers are promised.';
grant execute on function events.lifetime() to service_recorder;

create or replace function events.attempt_lifetime() returns interval
language sql stable
return greatest(interval '7 days', coalesce(
  nullif(pg_catalog.current_setting('service.keep_webhook_attempts', true), '')::interval,
  interval '30 days'));
comment on function events.attempt_lifetime() is
  'How long attempts to send webhooks are kept, with what was answered: the setting '
  'service.keep_webhook_attempts, at least 7 days, in which all attempts are made, and without it 30.';
grant execute on function events.attempt_lifetime() to service_recorder;
--! EndIncluded events/lifetime.sql
--! Included events/prune.sql
create or replace function events.prune(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant timestamptz := now() - events.lifetime();
  old bigint[];
  old_tests uuid[];
begin
  -- Two at a time would only wait for each other
  if not pg_try_advisory_xact_lock(hashtextextended('events.prune', 0)) then
    return 0;
  end if;
  -- The log is ordered by time, so old events are at its beginning
  old := array(
    select e.sequence
    from (select x.sequence, x.recorded_at from events.event x order by x.sequence limit batch) e
    where e.recorded_at < oldest);
  old_tests := array(
    select d.id
    from events.delivery d
    where d.sequence is null and d.created_at < oldest
    order by d.created_at
    limit batch);
  perform events.cancel_deliveries(array(
    select d.id from events.delivery d where d.sequence = any (old) and d.state = 'pending'
    union all select d.id from events.delivery d where d.id = any (old_tests) and d.state = 'pending'));
  delete from events.delivery d where d.id = any (old_tests);
  -- This deletes deliveries and their attempts too
  delete from events.event e where e.sequence = any (old);
  delete from events.webhook_secret s where s.expires_at < now();
  return cardinality(old) + cardinality(old_tests);
end
$$;
comment on function events.prune(integer) is
  'Deletes events that were recorded longer ago than events.lifetime(), with their deliveries, and tests '
  'likewise, at most as many of each as the batch; and secrets that have expired. Answers how many: to be '
  'called again until that is 0.';
select api_meta.give('events.prune(integer)', 'service_recorder');
grant execute on function events.prune(integer) to service_delivery, service_worker;

create or replace function events.prune_attempts(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := events.attempt_lifetime();
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('events.prune_attempts', 0)) then
    return 0;
  end if;
  -- Ids of deliveries are ordered by time, so old attempts are at the beginning of the primary key
  delete from events.delivery_attempt a where a.ctid = any (array(
    select o.ctid from events.delivery_attempt o
    where o.delivery_id < uuidv7(-lifetime) and o.at < now() - lifetime
    order by o.delivery_id, o.number limit batch));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function events.prune_attempts(integer) is
  'Deletes attempts to send webhooks that were made longer ago than events.attempt_lifetime(), at most as '
  'many as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('events.prune_attempts(integer)', 'service_recorder');
grant execute on function events.prune_attempts(integer) to service_worker;
--! EndIncluded events/prune.sql
--! Included mutation/key_lifetime.sql
create or replace function mutation.key_lifetime() returns interval
language sql stable
return greatest(interval '24 hours',
  nullif(pg_catalog.current_setting('service.keep_idempotency_keys', true), '')::interval);
comment on function mutation.key_lifetime() is
  'How long an idempotency key stands for the mutation that had it: the setting '
  'service.keep_idempotency_keys, and at least the 24 hours that clients are promised.';
grant execute on function mutation.key_lifetime() to service_writer;
--! EndIncluded mutation/key_lifetime.sql
--! Included mutation/prune_keys.sql
create or replace function mutation.prune_keys(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
--! Included bulk/take.sql
create or replace function bulk.take(claim uuid, at_once integer, lease_ms integer)
returns table (id uuid, kind text, resource text, format text, query text, variables jsonb, locale text,
  credential_id uuid, scopes text[], next_chunk integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  most_attempts constant integer := 10;
begin
  perform pg_advisory_xact_lock(hashtextextended('bulk.take', 0));
  update bulk.operation o
  set state = 'failed', error_code = 'INTERNAL_SERVER_ERROR', finished_at = now(),
    error_message = 'It failed again and again, through a fault of ours.',
    expires_at = now() + bulk.lifetime()
  where o.state = 'running' and o.claimed_until < now() and o.attempts >= most_attempts;
  return query
    update bulk.operation o
    set state = 'running', claim = take.claim, claimed_until = now() + lease_ms * interval '1 ms',
      started_at = coalesce(o.started_at, now()), attempts = o.attempts + 1
    where o.id = (
      select w.id
      from bulk.operation w
      where (w.state = 'queued' or w.state = 'running' and w.claimed_until < now())
        and not exists (
          select from bulk.operation r
          where r.credential_id = w.credential_id and r.state = 'running' and r.claimed_until >= now())
        and at_once > (
          select count(*) from bulk.operation r where r.state = 'running' and r.claimed_until >= now())
      order by w.id limit 1)
    returning o.id, o.kind, o.resource, o.format, o.query, o.variables, o.locale, o.credential_id,
      bulk.scopes_of(o.id), o.next_chunk;
end
$$;
comment on function bulk.take(uuid, integer, integer) is
  'Takes the bulk operation that is to be worked on next, for some milliseconds: the oldest that waits, or '
  'that somebody left. No more than so many are worked on at once, and of a credential one.';

create or replace function bulk.lifetime() returns interval
language sql stable
return greatest(interval '7 days',
  nullif(pg_catalog.current_setting('service.keep_bulk_results', true), '')::interval);
comment on function bulk.lifetime() is
  'How long a bulk operation is kept after its end: the setting service.keep_bulk_results, and at least the '
  '7 days that clients are promised.';
grant execute on function bulk.lifetime() to service_writer;
select api_meta.give('bulk.take(uuid, integer, integer)', 'service_writer');
grant execute on function bulk.take(uuid, integer, integer) to service_worker;
--! EndIncluded bulk/take.sql
--! Included bulk/prune.sql
create or replace function bulk.prune() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  count integer := 0;
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('bulk.prune', 0)) then
    return 0;
  end if;
  -- Files that nobody will read any more
  delete from bulk.chunk c where c.ctid = any (array(
    select k.ctid from bulk.chunk k join bulk.operation o on o.id = k.operation_id
    where o.expires_at < now() or o.kind = 'import' and o.state in ('failed', 'cancelled')
      or o.state = 'uploading' and o.claimed_until < now()
    limit 200));
  get diagnostics deleted = row_count;
  count := count + deleted;
  delete from bulk.refusal r where r.ctid = any (array(
    select f.ctid from bulk.refusal f join bulk.operation o on o.id = f.operation_id
    where o.expires_at < now() limit 5000));
  get diagnostics deleted = row_count;
  count := count + deleted;
  update bulk.operation o set stored_bytes = 0
  where o.kind = 'import' and o.state in ('failed', 'cancelled') and o.stored_bytes > 0;
  delete from bulk.operation o
  where (o.expires_at < now() or o.state = 'uploading' and o.claimed_until < now())
    and not exists (select from bulk.chunk c where c.operation_id = o.id)
    and not exists (select from bulk.refusal r where r.operation_id = o.id);
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function bulk.prune() is
  'Deletes bulk operations that have expired, uploads that were cut off, and what failed and cancelled ones '
  'leave, a part at a time. Answers how much; 0 when nothing is left.';
select api_meta.give('bulk.prune()', 'service_writer');
grant execute on function bulk.prune() to service_worker;
--! EndIncluded bulk/prune.sql
--! Included auth/use_lifetime.sql
create or replace function auth.use_lifetime() returns interval
language sql stable
return greatest(interval '90 days', coalesce(
  nullif(pg_catalog.current_setting('service.keep_use_counts', true), '')::interval, interval '400 days'));
comment on function auth.use_lifetime() is
  'How long it is kept which credential used what: the setting service.keep_use_counts, at least the 90 days '
  'that checks of a change look back on, and without it 400.';
grant execute on function auth.use_lifetime() to service_registrar;

create or replace function auth.audit_lifetime() returns interval
language sql stable
return case when nullif(pg_catalog.current_setting('service.keep_audit', true), '') is not null
  then greatest(interval '365 days', pg_catalog.current_setting('service.keep_audit')::interval) end;
comment on function auth.audit_lifetime() is
  'How long events of the audit are kept: the setting service.keep_audit, at least a year. Null without it: '
  'for ever.';
grant execute on function auth.audit_lifetime() to service_registrar, service_keeper;
--! EndIncluded auth/use_lifetime.sql
--! Included auth/prune_uses.sql
create or replace function auth.prune_uses(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant date := (now() at time zone 'UTC')::date - extract(day from auth.use_lifetime())::integer;
  count integer;
  deleted integer;
begin
  -- By credential, as the primary keys are ordered
  delete from auth.credential_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.credential_use x where x.credential_id = c.id and x.day < oldest limit batch
    ) o
    limit batch));
  get diagnostics count = row_count;
  delete from auth.field_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.field_use x
      where x.credential_id = c.id and x.last_used_on < oldest limit batch
    ) o
    limit batch));
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function auth.prune_uses(integer) is
  'Forgets which credentials used what longer ago than auth.use_lifetime(), at most as many rows of each '
  'kind as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_uses(integer)', 'service_registrar');
grant execute on function auth.prune_uses(integer) to service_worker;
--! EndIncluded auth/prune_uses.sql
--! Included auth/prune_audit.sql
create or replace function auth.prune_audit(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := auth.audit_lifetime();
  deleted integer;
begin
  if lifetime is null or not pg_try_advisory_xact_lock(hashtextextended('auth.prune_audit', 0)) then
    return 0;
  end if;
  -- Ids are ordered by time
  delete from auth.audit_event e where e.id = any (array(
    select o.id from auth.audit_event o
    where o.id < uuidv7(-lifetime) and o.happened_at < now() - lifetime order by o.id limit batch));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function auth.prune_audit(integer) is
  'Deletes events of the audit that are older than auth.audit_lifetime(), at most as many as the batch. '
  'Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_audit(integer)', 'service_keeper');
grant execute on function auth.prune_audit(integer) to service_worker;
--! EndIncluded auth/prune_audit.sql
drop function if exists auth.prune_operations();
--! Included auth/prune_operations.sql
create or replace function auth.prune_operations(batch integer default 2000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant date := (now() at time zone 'UTC')::date - 14;
  count integer;
  deleted integer;
begin
  delete from auth.operation_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.operation_use x where x.credential_id = c.id and x.day < oldest limit batch
    ) o
    limit batch));
  get diagnostics count = row_count;

  delete from auth.operation p where p.id = any (array(
    select o.id from auth.operation o
    where not exists (select from auth.operation_use u where u.operation_id = o.id)
    limit batch));
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function auth.prune_operations(integer) is
  'Forgets what was sent more than 14 days ago, and operations that nobody sends any more, at most as many '
  'of each as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_operations(integer)', 'service_registrar');
grant execute on function auth.prune_operations(integer) to service_worker;
--! EndIncluded auth/prune_operations.sql

select api_meta.allow('service_recorder', 'events.delivery_attempt', 'select', 'delete');
select api_meta.allow('service_registrar', 'auth.credential_use', 'delete');
select api_meta.allow('service_registrar', 'auth.field_use', 'delete');
select api_meta.allow('service_keeper', 'auth.audit_event', 'select', 'delete');
grant usage on schema mutation, auth to service_worker;

--! Included auth/keep_audit.sql
create or replace function auth.keep_audit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Only the trigger for deletions has a row
  if tg_op = 'DELETE' and current_user = 'service_keeper' then
    if old.happened_at < now() - auth.audit_lifetime() then
      return old;
    end if;
  end if;
  raise exception 'Events of the audit are never changed, and deleted only by age.' using errcode
    = 'integrity_constraint_violation';
end
$$;
comment on function auth.keep_audit() is
  'Trigger: refuses changes and deletions, also by the owner, but for what auth.prune_audit deletes.';
--! EndIncluded auth/keep_audit.sql
drop trigger if exists audit_event_is_kept on auth.audit_event;
create trigger audit_event_is_kept before update or truncate on auth.audit_event
  for each statement execute function auth.keep_audit();
drop trigger if exists audit_event_is_kept_until_its_age on auth.audit_event;
create trigger audit_event_is_kept_until_its_age before delete on auth.audit_event
  for each row execute function auth.keep_audit();

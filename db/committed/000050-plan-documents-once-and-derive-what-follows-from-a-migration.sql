--! Previous: sha1:1aacfdfd573726a6eb0ffcd99873495c1d558d19
--! Hash: sha1:79df03282122066fd7c8e33896c20355c88443bb
--! Message: Plan documents once, and derive what follows from a migration faster

--! split: 1-current.sql
--! Included erp/document_amounts.sql
create or replace function erp.document_taxes(pieces erp.charged_piece[], exemption text, locale text)
returns jsonb
language sql stable
return (
  select jsonb_agg(jsonb_build_object('category', t.category, 'rate', t.rate, 'net', t.net,
    'tax', t.total - t.net, 'exemptionCode', coalesce(t.exemption_code, r.exemption_code),
    'reason', coalesce(r.reason ->> locale, r.reason ->> 'en-GB')) order by t.rate, t.category)
  from (
    select p.category, p.rate, min(p.exemption_code) as exemption_code, sum(p.net) as net,
      sum(p.total) as total
    from unnest(pieces) p group by p.category, p.rate
  ) t
  left join erp.tax_reason r on r.technical_name = erp.tax_reason_of(t.category, exemption)
);
comment on function erp.document_taxes(erp.charged_piece[], text, text) is
  'Returns the taxes of what is charged, by category and rate (BG-23), with the reasons in a language.';
grant execute on function erp.document_taxes(erp.charged_piece[], text, text) to service_writer;

create or replace function erp.document_discounts(pieces erp.charged_piece[], lines jsonb) returns jsonb
language sql immutable
return (
  select jsonb_build_object(
    'allowances', coalesce(jsonb_agg(d.entry || jsonb_build_object('amount', - d.net) order by d.n, d.rate)
      filter (where d.net < 0), '[]'),
    'charges', coalesce(jsonb_agg(d.entry || jsonb_build_object('amount', d.net) order by d.n, d.rate)
      filter (where d.net > 0), '[]'))
  from (
    select l.n, p.rate, p.net, jsonb_build_object('reason', l.line ->> 'label', 'taxCategory', p.category,
      'taxRate', p.rate) as entry
    from jsonb_array_elements(lines) with ordinality l (line, n)
    join unnest(pieces) p on p.line_id = (l.line ->> 'lineId')::uuid
    where l.line ->> 'kind' = 'allowance'
  ) d
);
comment on function erp.document_discounts(erp.charged_piece[], jsonb) is
  'Returns the discounts and surcharges on a whole document, without tax, by rates (BG-20, BG-21): the '
  'lines of the kind allowance.';
grant execute on function erp.document_discounts(erp.charged_piece[], jsonb) to service_writer;

create or replace function erp.document_amounts(
  order_id uuid, tax_status text, exemption text, locale text, parts erp.document_part[] default null
)
returns jsonb
-- Planning takes 40 to 100 ms, which a connection would pay for each of its first five documents
language sql stable set plan_cache_mode = force_generic_plan
begin atomic
  select jsonb_build_object('lines', l.lines, 'allowances', d.discounts -> 'allowances',
    'charges', d.discounts -> 'charges',
    'totals', jsonb_build_object('net', t.net, 'total', t.total, 'taxes', coalesce(
        erp.document_taxes(p.pieces, document_amounts.exemption, document_amounts.locale), '[]'),
      'lineNet', (
        select coalesce(sum((e.line ->> 'net')::numeric), 0) from jsonb_array_elements(l.lines) e (line)
      ),
      'allowances', a.allowances, 'charges', a.charges))
  from (
    select array(select c from erp.charged_pieces(
      document_amounts.order_id, document_amounts.tax_status, document_amounts.exemption,
      document_amounts.parts
    ) c) as pieces
  ) p
  cross join lateral (
    select coalesce(sum(c.net), 0) as net, coalesce(sum(c.total), 0) as total from unnest(p.pieces) c
  ) t
  cross join lateral (
    select erp.document_lines(
      document_amounts.order_id, document_amounts.tax_status, document_amounts.parts, p.pieces
    ) as lines
  ) l
  cross join lateral (select erp.document_discounts(p.pieces, l.lines) as discounts) d
  cross join lateral (
    select coalesce(sum(e.amount) filter (where e.kind = 'allowances'), 0) as allowances,
      coalesce(sum(e.amount) filter (where e.kind = 'charges'), 0) as charges
    from (
      select k.kind, (v.entry ->> 'amount')::numeric as amount
      from jsonb_each(d.discounts) k (kind, entries) cross join jsonb_array_elements(k.entries) v (entry)
    ) e
  ) a;
end;
comment on function erp.document_amounts(uuid, text, text, text, erp.document_part[]) is
  'Returns the amounts that units of an order''s lines are charged, or all units without parts. If the tax '
  'status is net, prices are without tax. Discounts on the whole order are distributed over the units. The '
  'totals of documents that contain each unit once add up exactly to the order.';
grant execute on function erp.document_amounts(uuid, text, text, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/document_amounts.sql
--! Included api_meta/view_targets.sql
create or replace function api_meta.view_targets(view regclass)
returns table (attnum smallint, expression text, origin oid, origin_attnum smallint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with part as (
    -- Depth: how many queries have begun before a part, less those that have ended
    select q.n, e.n as nth, e.text, (q.n - 1) - (row_number() over (order by q.n, e.n) - q.n) as depth
    from pg_rewrite w
    cross join string_to_table(w.ev_action::text, '{QUERY ') with ordinality q (text, n)
    cross join string_to_table(q.text, ' :stmt_len ') with ordinality e (text, n)
    where w.ev_class = view and w.rulename = '_RETURN'
  ), outermost as materialized (
    select w.tree,
      array(
        select substring(e.text from ':rtekind (\d+)')
        from string_to_table(w.tree, '{RANGETBLENTRY ') with ordinality e (text, n) where e.n > 1 order by e.n
      ) as kinds
    from (select string_agg(p.text, '' order by p.n, p.nth) as tree from part p where p.depth = 1) w
  ), target as materialized (
    -- Splitting a text is faster than a pattern for all of it
    select split_part(e.text, ' :resno ', 1) as expression, o.kinds,
      regexp_match(split_part(e.text, ' :resno ', 2),
        '^(\d+) .* :resorigtbl (\d+) :resorigcol (\d+) :resjunk false') as part
    from outermost o
    cross join string_to_table(substr(o.tree, strpos(o.tree, ':targetList (')), '{TARGETENTRY :expr ')
      with ordinality e (text, n)
    where e.n > 1
  )
  select t.part[1]::smallint, t.expression,
    -- 0: a table or view. Of a subquery it is not known here which columns its joins may empty
    case when t.kinds[substring(t.expression
      from '^\{VAR :varno (\d+) [^{}]*:varnullingrels \(b\) :varlevelsup 0 [^{}]*\}$')::integer] = '0'
      then t.part[2]::oid end,
    t.part[3]::smallint
  from target t where t.part is not null;
end;
comment on function api_meta.view_targets(regclass) is
  'Returns the columns of a view from Postgres'' own form: the expression of each, or the column of a '
  'table or another view that it shows unchanged. A column that an outer join may set to null is an '
  'expression.';
--! EndIncluded api_meta/view_targets.sql
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
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'nullable') t)
          as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'fullLists') t) as full,
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
          case when y.typcategory = 'A' and a.attname <> all (v.full)
            and api_meta.has_null_elements(s.table_id, s.attnum, a.atttypid) then '@nullElements' end,
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
      join pg_type y on y.oid = a.atttypid
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
    -- A comment in the view's own file stays. A comment that this function wrote is written again
    where (d.own is null or d.table_id is not null and d.text is not null
        or d.own ~ '^(@notNull(\n|$))?(@behavior -\*(\n|$))?(@(nullElements|indexed|orders)[^\n]*(\n|$))*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of views in api_unstable. Description and nullability come from '
  'the table''s column of the same name. The view''s tags @nullable, @hidden, @columnEnum and '
  '@fullLists correct them, and tags of indexes are added. Columns that are expressions have their own '
  'comments. Only changed comments are written.';
--! EndIncluded api_meta/describe.sql
--! Included bulk/cancel.sql
create or replace function bulk.cancel(operation_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update bulk.operation o
  set state = 'cancelled', claim = null, claimed_until = null, finished_at = now(),
    expires_at = now() + bulk.lifetime()
  where o.id = operation_id and o.credential_id = mutation.caller()
    and o.state in ('uploading', 'queued', 'running');
  if found then
    return operation_id;
  elsif exists (
    select from bulk.operation o where o.id = operation_id and o.credential_id = mutation.caller()
  ) then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'It has ended already.', '{id}');
  end if;
  perform mutation.refuse_missing('bulk operation', '{id}');
end
$$;
comment on function bulk.cancel(uuid) is
  'Cancels a bulk operation of the caller. A chunk in progress is undone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
grant execute on function bulk.cancel(uuid) to service_writer;
--! EndIncluded bulk/cancel.sql
--! Included events/derive_scopes.sql
create or replace function events.derive_scopes() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  log constant regclass := to_regclass('api_unstable.events');
  note constant text := obj_description(log, 'pg_class');
  -- Sorted, so that the order doesn't depend on which topic was there first
  wanted constant text[] := array(
    select distinct t.scope collate "C" from events.topic t where t.subscribable order by 1
  );
  present constant text[] := regexp_split_to_array(substring(note from '(?n)^@requiresScopes +(.*)$'), ' +');
begin
  if present is distinct from wanted then
    execute format('comment on view %s is %L', log,
      regexp_replace(note, '(?n)^@requiresScopes .*$', '@requiresScopes ' || array_to_string(wanted, ' ')));
  end if;
end
$$;
comment on function events.derive_scopes() is
  'Lets the scopes of all topics read the log of events: writes them into the comment of its view.';
--! EndIncluded events/derive_scopes.sql

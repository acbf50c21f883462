--! Previous: sha1:80c87276362f859b9510ae1eef724aab483149ed
--! Hash: sha1:af4fae3c64cd79d4eba8e9f38b5b948f13af2964
--! Message: operations, lists and ledger

--! split: 10-lists.sql
-- Lists are filtered through relations; orders by what people ask for first
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
    ), source as (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.* from api_meta.index_tag i
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, col_description(v.view, a.attnum) as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          (
            select string_agg(i.tag, E'\n' order by i.tag) from index_tag i
            where i.view = v.view and i.name = a.attname
          )
        ) as tags,
        coalesce(
          col_description(s.table_id, s.attnum),
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
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

drop index if exists erp.sales_order_delivery_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_delivery_state_order_date_time_id_idx
  on erp.sales_order (delivery_state, order_date_time, id);
drop index if exists erp.sales_order_payment_state_order_date_time_id_idx;
-- waive index-blocks-writes: a million orders take a second
create index sales_order_payment_state_order_date_time_id_idx
  on erp.sales_order (payment_state, order_date_time, id);
comment on index erp.sales_order_state_order_date_time_id_idx is null;

comment on column erp.sales_order.customer_id is
  'Customer who ordered; null when it is not known, or was deleted since.';
comment on column erp.sales_order.sales_channel_id is
  'Sales channel that the order came through; null when it is not known, or was deleted since.';
drop view if exists api_unstable.orders;
--! Included api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total,
  currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id
from erp.sales_order;
comment on view api_unstable.orders is
  E'@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,delivery_state,payment_state,currency_id,order_date_time\n'
  '@search order_number,storefront_id,tracking_codes,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number,state,'
  'delivery_state,payment_state,customer_id,sales_channel_id\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer|@foreignFieldName orders\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
--! EndIncluded api/orders.sql
drop view if exists api_unstable.batches;
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, physical_stock from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@search number,product_id
@nullable number
@filters comment,number,physical_stock,product_id
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName batches
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded api/batches.sql
drop view if exists api_unstable.stocks;
--! Included api/stocks.sql
create view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id,
  return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is $$
@primaryKey id
@requiresScopes stocks:read
@aggregates quantity
@groupBy product_id,warehouse_id,bin_location_id
@gid return_order_id ReturnOrder
@gid stock_container_id StockContainer
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName stocks
@foreignKey (order_id) references orders (id)|@fieldName order
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName stocks
How much of a product lies in one place.$$;
--! EndIncluded api/stocks.sql
drop view if exists api_unstable.warehouse_stocks;
--! Included api/warehouse_stocks.sql
create view api_unstable.warehouse_stocks with (security_invoker = true) as
select id, product_id, warehouse_id, quantity, reserved_quantity, available_quantity, created_at, updated_at
from ledger.warehouse_stock;
comment on view api_unstable.warehouse_stocks is $$
@primaryKey id
@requiresScopes stocks:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName warehouseStocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName warehouseStocks
How much of a product a warehouse holds, its bins included.$$;
--! EndIncluded api/warehouse_stocks.sql
drop view if exists api_unstable.product_supplier_configurations;
--! Included api/product_supplier_configurations.sql
create view api_unstable.product_supplier_configurations with (security_invoker = true) as
select id, product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id order by p.currency_id
  ) as purchase_prices,
  supplier_is_default, delivery_time_days, created_at, updated_at
from erp.product_supplier_configuration c;
comment on view api_unstable.product_supplier_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'supplierConfigurations\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'What a supplier sells a product for, and on what terms.';
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\nWhat the product costs at this supplier, one price per currency.';
--! EndIncluded api/product_supplier_configurations.sql

--! split: 15-faster-derivation.sql
--! Included events/schema.sql
create or replace function events.schema(topic text) returns json
language sql stable set search_path = pg_catalog, pg_temp
-- Planning takes longer than all topics together, and would be done for five of them
set plan_cache_mode = force_generic_plan
begin atomic
  select json_build_object(
    '$schema', 'https://json-schema.org/draft/2020-12/schema',
    'title', t.name,
    'description', t.description,
    'type', 'object',
    'required', json_build_array(
      'type', 'timestamp', 'sequence', 'previousSequence', 'apiVersion', 'changedFields', 'cause', 'data'
    ),
    'properties', json_build_object(
      'type', json_build_object('const', t.name),
      'timestamp', '{"type": "string", "format": "date-time", "description": "When it happened."}'::json,
      'sequence', json_build_object(
        'type', case when t.subscribable then 'integer' else 'null' end, 'description',
        'Number in the log, which has no gaps.'
      ),
      'previousSequence', json_build_object('type',
        case when t.subscribable then '["integer", "null"]'::json else '"null"' end,
        'description',
          'Number of the event before it that was meant for the same subscription; null for the first one.'),
      'apiVersion',
        '{"type": "string", "description": "Version of the API that the subscription is set to."}'::json,
      'changedFields', case when o.operations @> '{update}'
        then json_build_object('type',
          case when o.operations = '{update}' then '"array"'::json else '["array", "null"]' end,
          'items', json_build_object('enum', changeable.names), 'description',
            'Fields of data that were changed.')
        else '{"type": "null"}' end,
      'cause', '{"type": "object", "required": ["credentialId", "requestId", "idempotencyKey"],
        "description": "Which request it was; nulls for what another program did.", "properties": {
        "credentialId": {"type": ["string", "null"], "pattern": "^gid://service/Credential/[0-9a-f-]{36}$"},
        "requestId": {"type": ["string", "null"]}, "idempotencyKey": {"type": ["string", "null"]}}}'::json,
      'data', json_build_object(
        'title', t.subject_type, 'type', 'object', 'required', shown.names, 'properties', shown.properties,
        'description', case
          when o.operations = '{delete}' then 'What is gone.'
          else 'What it happened to, as it was then.' end)
    ))
  from events.topic t join events.subject s on s.type = t.subject_type
  cross join lateral (
    select json_agg(f.name order by f.position) as names,
      json_object_agg(f.name, events.value_schema(f, s.relation) order by f.position) as properties
    from events.field f
    where f.subject_type = t.subject_type and (t.fields is null or f.name = any (t.fields))
  ) shown
  cross join lateral (
    select json_agg(f.name order by f.position) as names
    from events.field f
    where f.subject_type = t.subject_type and f.column_name <> all ('{id,created_at,updated_at}')
  ) changeable
  cross join lateral (
    select coalesce(array_agg(o.operation order by o.operation), '{}') as operations
    from events.occasion o
    where o.topic = t.name
  ) o
  where t.name = schema.topic;
end;
comment on function events.schema(text) is
  'JSON Schema of the bodies of a topic. `npm run schema` writes them to docs/events. Fields may be '
  'added without notice, so the schema allows more than it names.';
--! EndIncluded events/schema.sql

--! split: 16-derive.sql
-- What follows from a migration is derived sooner: its locks hold up others for less time

--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with main as (
  select distinct on (s.view) s.view, s.table_id,
    (
      select string_to_array(replace(k, ' ', ''), ',') from api_meta.view_tag(s.view, 'primaryKey') k limit 1
    ) as key
  from api_meta.view_column_source s
  -- An array, so that the other versions are left out early
  where s.view = any (array(select v.view from api_meta.api_view v where v.schema = 'api_unstable'))
  order by s.view, s.weight desc, s.table_id
), index as (
  select m.view, m.key, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as is_filter,
    array(
      select c.attname::text
      from generate_series(0, x.indnkeyatts - 1) k
      left join pg_attribute t on t.attrelid = x.indrelid and t.attnum = x.indkey[k]
        and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
      -- A column as it stands in the table; of views with joins nothing more can be told
      left join pg_attribute c on c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
        and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
        -- Behind policies Postgres finds rows by no other comparisons
        and exists (
          select from pg_opclass o
          join pg_amop a on a.amopfamily = o.opcfamily and a.amopstrategy = 1
            and a.amoplefttype = o.opcintype and a.amoprighttype = o.opcintype
          join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
          where o.oid = x.indclass[k] and p.proleakproof)
      order by k
    ) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  where x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = (
    select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
    where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
), ordered as (
  select i.view,
    case
      when i.names[cardinality(i.names) - cardinality(i.key) + 1:] = i.key
        then i.names[:cardinality(i.names) - cardinality(i.key)]
      -- Without ties no more columns are needed
      when i.indisunique and not exists (
        select from unnest(i.names) n join pg_attribute a on a.attrelid = i.indrelid and a.attname = n
        where not api_meta.is_never_null(a.attrelid, a.attnum)) then i.names
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
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
    ), source as (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.* from api_meta.index_tag i
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, col_description(v.view, a.attnum) as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          (
            select string_agg(i.tag, E'\n' order by i.tag) from index_tag i
            where i.view = v.view and i.name = a.attname
          )
        ) as tags,
        coalesce(
          col_description(s.table_id, s.attnum),
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
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
--! Included api_meta/derive_searches.sql
create or replace function api_meta.search_routine(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
create or replace function %1$s(patterns text[]) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $search$
#variable_conflict use_column
declare
  sought constant text[] := search.sought(patterns);%5$s
begin
  if not auth.has_scope(variadic %2$L::text[]) then return '{}'; end if;%6$s
  return search.require_few(array(%3$s));
end
$search$;
comment on function %1$s(text[]) is %4$L;$f$,
    wanted.routine, wanted.scopes,
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
    format('The ids of rows of %s in which each of the patterns of LIKE, six at most, is found, if the '
      'caller may read them. Made of the tag @search of the view by api_meta.derive_searches().',
      wanted.view::regclass),
    (
      select string_agg(format(E'\n  through_%s uuid[];', l.n), '' order by l.n)
      from unnest(wanted.links) with ordinality l (col, n)
    ),
    (
      select string_agg(format(E'\n  through_%s := %s(patterns);', l.n, v.routine), '' order by l.n)
      from unnest(wanted.targets) with ordinality l (view, n)
      cross join lateral (
        select v.routine from api_meta.searched_view v where v.view = l.view offset 0
      ) v
    ))
$$;
comment on function api_meta.search_routine(api_meta.searched_view) is
  'The statements that make the function by which a view is searched.';

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
begin
  execute format($q$
    create or replace function %1$s() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $keep$
    begin
      insert into %2$s (%3$I, words) select id, %4$s from (select new.*) row
      on conflict (%3$I) do update set words = excluded.words where %5$I.words <> excluded.words;
      return null;
    end
    $keep$;
    comment on function %1$s() is
      'Trigger: keeps the text in %2$s by which a row is found. Made by api_meta.derive_searches().';
    revoke execute on function %1$s() from public;
    $q$, routine, wanted.kept, key, wanted.words,
    (select relname from pg_class where oid = wanted.kept));
  perform api_meta.give((routine || '()')::regprocedure, 'service_searcher');
  if col_description(wanted.kept, 2) is distinct from wanted.words then
    execute format('create or replace trigger keep_words after insert or update of %s on %s '
      'for each row execute function %s()',
      (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c), wanted.relation, routine);
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
      select v.relation, c as col from api_meta.searched_view v cross join unnest(v.columns || name 'id') c
    ) r
    group by r.relation
  loop
    if not item.is_granted then execute item.rights; end if;
    continue when item.is_open;
    execute format('create policy %I on %s for select to service_searcher using (true)',
      (parse_ident(item.relation::text))[2] || '_select_searcher', item.relation);
  end loop;
  for wanted in select * from api_meta.searched_view loop
    if wanted.kept is not null then perform api_meta.keep_words(wanted); end if;
    execute api_meta.search_routine(wanted);
    perform api_meta.give((wanted.routine || '(text[])')::regprocedure, 'service_searcher');
    execute format('revoke execute on function %1$s(text[]) from public; '
      'grant execute on function %1$s(text[]) to service_api', wanted.routine);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = 'search'::regnamespace and p.prosecdef and p.prorettype = 'uuid[]'::regtype
      and p.oid::regprocedure::text not in (select v.routine || '(text[])' from api_meta.searched_view v)
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

--! split: 20-intake.sql
--! Included ledger/keep_order_line_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By order and product: units that are not shipped yet
  changes ledger.change[];
  -- Orders with changed lines that have a price
  priced uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.quantity - l.shipped_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from new_rows l where l.total_price is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.shipped_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from old_rows l where l.total_price is not null);
  else
    changes := array(
      select row (l.order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.order_id, n.product_id, n.quantity - n.shipped_quantity as quantity from new_rows n
        union all select o.order_id, o.product_id, o.shipped_quantity - o.quantity from old_rows o
      ) l where l.product_id is not null group by l.order_id, l.product_id having sum(l.quantity) <> 0);
    priced := array(
      select distinct l.order_id
      from (
        select n.order_id, n.total_price, n.tax_rate, 1 as direction from new_rows n
        union all select o.order_id, o.total_price, o.tax_rate, -1 from old_rows o
      ) l where l.total_price is not null group by l.order_id, l.total_price,
        l.tax_rate having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) = 0 and cardinality(priced) = 0 then
    return null;
  end if;

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, with
  -- its reservations.
  perform ledger.lock_orders(
    array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id))
  );
  -- Asked for each: as a join it may be planned by the index of states, through all open orders
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c
    where (select o.state from erp.sales_order o where o.id = c.owner_id) in ('open', 'in_progress')));
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: brings the reserved stock of products and the '
  'amounts of the orders up to date.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
--! Included ledger/keep_tracking_codes.sql
create or replace function ledger.keep_tracking_codes() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  present text[];
  of_labels text[];
begin
  -- A new order has no labels yet
  if tg_op = 'INSERT' and new.tracking_codes is null and new.entered_tracking_codes = '{}' then
    return new;
  end if;
  -- The constraint will refuse it
  if not erp.is_string_array(new.tracking_codes) then
    return new;
  end if;
  present := array(select c from jsonb_array_elements_text(new.tracking_codes) c);
  of_labels := array(
    select c.code
    from erp.shipping_label l
    cross join lateral jsonb_array_elements_text(l.tracking_codes) with ordinality c (code, position)
    where l.order_id = new.id and l.state = 'created' and l.type = 'outgoing' order by l.id, c.position);
  if tg_op = 'INSERT' then
    new.entered_tracking_codes := new.entered_tracking_codes || present;
  elsif new.tracking_codes is distinct from old.tracking_codes
    and new.entered_tracking_codes = old.entered_tracking_codes then
    -- Someone wrote the whole list: codes of no label count as entered by hand
    new.entered_tracking_codes := array(
      select p.code
      from unnest(present) p (code)
      where p.code <> all (of_labels) or p.code = any (old.entered_tracking_codes));
  end if;
  new.entered_tracking_codes := array(
    select e.code
    from unnest(new.entered_tracking_codes) with ordinality e (code, position)
    group by e.code
    order by min(e.position));
  if new.tracking_codes is null and cardinality(new.entered_tracking_codes || of_labels) = 0 then
    return new;
  end if;
  -- Codes that are in the list already keep their places
  new.tracking_codes := (
    select coalesce(jsonb_agg(d.code order by d.place, d.position), '[]')
    from (
      select d.code, min(d.position) as position, array_position(present, d.code) as place
      from unnest(new.entered_tracking_codes || of_labels) with ordinality d (code, position) group by d.code
    ) d
  );
  return new;
end
$$;
comment on function ledger.keep_tracking_codes() is
  'Trigger before the tracking codes of an order are written: the list holds those that were entered by '
  'hand and those of its outgoing labels, each once. Codes that are written into the list itself count '
  'as entered by hand.';
select api_meta.give('ledger.keep_tracking_codes()', 'service_ledger');
--! EndIncluded ledger/keep_tracking_codes.sql
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
    -- Not a join, which would read all of a table that is not large
    counted as materialized (
      select m.*, row_number() over (partition by m.id order by m.line) as nth,
        (select o from %1$s o where o.id = m.id) as present
      from matched m
    )
    select array_agg(row(c.line, coalesce(c.id, (c.defaults ->> 'id')::uuid), (c.present).id is null, c.given,
      case when (c.present).id is not null then to_jsonb(c.present) end,
      to_jsonb(jsonb_populate_record(case when (c.present).id is null
        then jsonb_populate_record(null::%1$s, c.defaults) else c.present end, c.given - 'id')), false,
      case
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $3,
          mutation.path($2, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $4, mutation.path($2, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row is about the same one.', mutation.path($2, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
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
    ),
    -- Not joins, which would read all of tables that are not large
    known as materialized (
      select m.*, (select p from erp.sales_order_line_item p where p.id = m.id) as p,
        (select i from erp.product i where i.id = m.product_id) as i
      from matched m
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id, 'position', m.n) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier, w.storefront_id, (m.i).product_number, w.label)) end || case
        when not m.given ? 'total_price' and m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', round(w.unit_price * w.quantity, 2)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from known m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else m.p end, m.given - 'id') w
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
--! Included erp/upsert_orders.sql
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
  where u.errors is null and exists (
    select from unnest('{is_default,is_default_receiving}'::text[]) m (mark)
    where u.wanted -> m.mark = 'true' and u.present -> m.mark is distinct from 'true');
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

--! split: 30-operations.sql
drop function if exists auth.active_scopes(text);
drop view if exists auth.stored_operation_overview cascade;
drop table if exists auth.stored_operation cascade;

create table auth.stored_operation (
  version text not null constraint stored_operation_has_a_version check (version <> ''),
  sha256 bytea not null constraint stored_operation_hash_has_32_bytes check (octet_length(sha256) = 32),
  credential_id uuid references auth.credential on delete cascade,
  name text not null
    constraint stored_operation_name_has_1_to_200_characters check (length(name) between 1 and 200),
  document text not null
    constraint stored_operation_has_at_most_65536_bytes check (octet_length(document) between 1 and 65536),
  published_at timestamptz(0) not null default date_trunc('second', now()),
  constraint stored_operation_is_stored_once unique nulls not distinct (sha256, version, credential_id)
);
create index on auth.stored_operation (credential_id);
alter table auth.stored_operation enable row level security;
comment on table auth.stored_operation is
  'Operations that were published for clients: they may be sent by the SHA-256 of their document alone.';
comment on column auth.stored_operation.sha256 is 'Of the document, in UTF-8.';
comment on column auth.stored_operation.credential_id is 'Who may send it; null: every credential.';
comment on column auth.stored_operation.name is 'What the document or the manifest calls it.';
create policy stored_operation_select_registrar on auth.stored_operation
  for select to service_registrar using (true);
grant select on table auth.stored_operation to service_registrar;
create trigger stored_operation_announces_changes after insert or update or delete or truncate
  on auth.stored_operation for each statement execute function auth.announce_credential_change();

alter table auth.credential drop column if exists stored_operations_only cascade;
alter table auth.credential add column stored_operations_only boolean not null default false;
comment on column auth.credential.stored_operations_only is
  'Whether its tokens may send operations of auth.stored_operation only.';
grant update (stored_operations_only) on table auth.credential to service_registrar;
drop trigger if exists credential_announces_changes on auth.credential;
create trigger credential_announces_changes
  after delete or update of scopes, deactivated_at, stored_operations_only or truncate
  on auth.credential for each statement execute function auth.announce_credential_change();

--! Included auth/active_scopes.sql
create or replace function auth.active_scopes(access_key text)
returns table (scopes text[], remaining interval, stored_operations_only boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select credential.scopes, secret.expires_at - now(), credential.stored_operations_only
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = active_scopes.access_key and credential.deactivated_at is null
    and (secret.expires_at is null or secret.expires_at > now());
end;
comment on function auth.active_scopes(text) is
  'Scopes that tokens of this access key may have now, for how long the key goes on, or null when it has '
  'no end, and whether they may send stored operations only. No row when it is gone or its credential is '
  'deactivated.';
grant execute on function auth.active_scopes(text) to service_auth;
--! EndIncluded auth/active_scopes.sql
--! Included auth/credential_overview.sql
create or replace view auth.credential_overview with (security_invoker) as
select
  credential.id,
  credential.name,
  array(
    select secret.access_key from auth.credential_secret as secret
    where secret.credential_id = credential.id and (secret.expires_at is null or secret.expires_at > now())
    order by secret.expires_at desc nulls first, secret.access_key
  ) as access_keys,
  credential.scopes,
  credential.deactivated_at is null as active,
  credential.created_at,
  credential.last_used_at,
  credential.rotated_at,
  credential.deactivated_at,
  (select max(secret.expires_at) from auth.credential_secret as secret
    where secret.credential_id = credential.id and secret.expires_at > now()) as old_key_ends_at,
  credential.stored_operations_only
from auth.credential;
comment on view auth.credential_overview is
  'Credentials as an administrator sees them: everything but the secrets. The newest key comes first; '
  'those before it end.';
grant select on auth.credential_overview to service_registrar;
--! EndIncluded auth/credential_overview.sql
--! Included auth/stored_operations.sql
create or replace function auth.stored_operations()
returns table (version text, sha256 text, credential_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select o.version, encode(o.sha256, 'hex'), o.credential_id from auth.stored_operation o;
end;
comment on function auth.stored_operations() is
  'Which operations are stored, by version and SHA-256 of their document, and for which credential; null: '
  'for all of them.';
select api_meta.give('auth.stored_operations()', 'service_registrar');
grant execute on function auth.stored_operations() to service_auth;
--! EndIncluded auth/stored_operations.sql
--! Included auth/stored_document.sql
create or replace function auth.stored_document(wanted text) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select o.document from auth.stored_operation o where o.sha256 = decode(wanted, 'hex') limit 1;
end;
comment on function auth.stored_document(text) is
  'The document of a stored operation, by its SHA-256 in hex; null when there is none.';
select api_meta.give('auth.stored_document(text)', 'service_registrar');
grant execute on function auth.stored_document(text) to service_auth;
--! EndIncluded auth/stored_document.sql
--! Included auth/publish_operations.sql
create or replace function auth.publish_operations(version text, credential_id uuid, operations jsonb)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  published integer;
  total record;
begin
  -- One after the other, so that the limits below hold
  lock table auth.stored_operation in share row exclusive mode;
  insert into auth.stored_operation (version, credential_id, sha256, name, document)
  select publish_operations.version, publish_operations.credential_id,
    pg_catalog.sha256(convert_to(given.document, 'UTF8')), given.name, given.document
  from jsonb_to_recordset(publish_operations.operations) as given (name text, document text)
  on conflict on constraint stored_operation_is_stored_once do nothing;
  get diagnostics published = row_count;
  select count(*) as operations, sum(octet_length(document)) as bytes into total from auth.stored_operation;
  if total.operations > 5000 or total.bytes > 16777216 then
    raise exception 'There would be % stored operations of % bytes: 5000 of 16777216 bytes are the most.',
      total.operations, total.bytes using errcode = 'program_limit_exceeded';
  end if;
  if published > 0 then
    perform auth.note_event('operations.published', coalesce(
        (select c.name from auth.credential c where c.id = publish_operations.credential_id), 'all tokens'
      ), publish_operations.credential_id,
      jsonb_build_object('operations', published, 'version', publish_operations.version));
  end if;
  return published;
end
$$;
comment on function auth.publish_operations(text, uuid, jsonb) is
  'Stores operations of a version, for one credential or, with null, for all: an array of objects with name '
  'and document. Those that are stored already stay as they are. Answers how many are new.';
--! EndIncluded auth/publish_operations.sql
--! Included auth/remove_operations.sql
create or replace function auth.remove_operations(version text, credential_id uuid, hashes text[])
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  removed integer;
begin
  delete from auth.stored_operation o
  where (remove_operations.version is null or o.version = remove_operations.version)
    and (remove_operations.credential_id is null or o.credential_id = remove_operations.credential_id)
    and (remove_operations.hashes is null or encode(o.sha256, 'hex') = any (remove_operations.hashes));
  get diagnostics removed = row_count;
  if removed > 0 then
    perform auth.note_event('operations.removed', coalesce(
        (select c.name from auth.credential c where c.id = remove_operations.credential_id), 'all tokens'
      ), remove_operations.credential_id,
      jsonb_build_object('operations', removed, 'version', remove_operations.version));
  end if;
  return removed;
end
$$;
comment on function auth.remove_operations(text, uuid, text[]) is
  'Removes stored operations: those of a version, of a credential and with these SHA-256 in hex; null stands '
  'for any. Answers how many there were.';
--! EndIncluded auth/remove_operations.sql
--! Included auth/stored_operation_overview.sql
create or replace view auth.stored_operation_overview with (security_invoker) as
select
  operation.version,
  encode(operation.sha256, 'hex') as sha256,
  operation.name,
  octet_length(operation.document) as bytes,
  operation.published_at,
  operation.credential_id,
  credential.name as credential_name
from auth.stored_operation as operation
left join auth.credential on credential.id = operation.credential_id;
comment on view auth.stored_operation_overview is
  'Stored operations without their documents. Those without a credential are for all of them.';
grant select on auth.stored_operation_overview to service_registrar;
--! EndIncluded auth/stored_operation_overview.sql
--! Included auth/restrict_operations.sql
create or replace function auth.restrict_operations(credential_id uuid, stored_only boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.stored_operations_only
  into old
  from auth.credential
  where credential.id = restrict_operations.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      restrict_operations.credential_id using errcode = 'no_data_found';
  elsif old.stored_operations_only <> restrict_operations.stored_only then
    update auth.credential set stored_operations_only = restrict_operations.stored_only
    where credential.id = restrict_operations.credential_id;
    perform auth.note_event('credential.changed', old.name, restrict_operations.credential_id,
      jsonb_build_object('stored_operations_only', restrict_operations.stored_only));
  end if;
end
$$;
comment on function auth.restrict_operations(uuid, boolean) is
  'Lets a credential send stored operations only, or all operations again.';
grant execute on function auth.restrict_operations(uuid, boolean) to service_registrar;
--! EndIncluded auth/restrict_operations.sql
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

--! split: 40-ledger.sql
-- Ranges whose numbers may skip come from a sequence, so that shipments do not wait for each other. Running
-- this again keeps what was counted
create sequence if not exists erp.fulfillment_number;
create sequence if not exists erp.fulfillment_order_number;
grant usage on sequence erp.fulfillment_number, erp.fulfillment_order_number to service_writer;
alter table erp.number_range add column if not exists sequence regclass;
comment on column erp.number_range.sequence is
  'The sequence that counts in the place of last_number: nobody waits for others then, and what is undone '
  'leaves a gap. Null for ranges without gaps.';
comment on column erp.number_range.last_number is
  'The last number given; not used when a sequence counts.';
--! Included erp/next_number.sql
create or replace function erp.next_number(number_range text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.number_range;
begin
  select * into present from erp.number_range r where r.technical_name = number_range;
  if present.sequence is not null then
    return replace(present.pattern, '{n}', nextval(present.sequence)::text);
  end if;
  update erp.number_range r set last_number = r.last_number + 1 where r.technical_name = number_range
  returning r.* into present;
  if not found then
    raise exception 'There is no number range %.', number_range using errcode = 'no_data_found';
  end if;
  return replace(present.pattern, '{n}', present.last_number::text);
end
$$;
comment on function erp.next_number(text) is
  'The next number of a range. Without a sequence it has no gaps: other transactions wait until the number '
  'is committed or given back.';
grant execute on function erp.next_number(text) to service_writer;
--! EndIncluded erp/next_number.sql
with counted as (
  update erp.number_range r set sequence = format('erp.%I', r.technical_name || '_number')::regclass
  where r.technical_name in ('fulfillment', 'fulfillment_order') and r.sequence is null
  returning r.sequence, r.last_number
)
select setval(c.sequence, greatest(c.last_number, 1), c.last_number > 0) from counted c;

-- What is asked of each line becomes part of the statement that asks
drop function if exists ledger.place_of(uuid, uuid) cascade;
--! Included ledger/place_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.place_of(warehouse_id uuid, bin_location_id uuid)
returns table (type text, place text)
language sql immutable
begin atomic
  select case when place_of.warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce(place_of.warehouse_id, place_of.bin_location_id)::text;
end;
comment on function ledger.place_of(uuid, uuid) is
  'Kind and key (see ledger.stock.place) of the place that is a warehouse or a bin.';
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer;
--! EndIncluded ledger/place_of.sql
--! Included erp/put_away_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function erp.put_away_place(
  receipt erp.goods_receipt, line erp.goods_receipt_line_item
)
returns table (type text, place text)
language sql stable
begin atomic
  select p.type, p.place from (
    select coalesce(line.destination_bin_location_id,
      (select c.default_bin_location_id from erp.product_warehouse_configuration c
        where c.product_id = line.product_id and c.warehouse_id = receipt.warehouse_id)) as bin
  ) b cross join lateral ledger.place_of(case when b.bin is null then receipt.warehouse_id end, b.bin) p;
end;
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Where a line is put away unless something else is said: its own bin, else the usual bin of the '
  'product in the warehouse, else the warehouse. Lines with a negative quantity are taken from there.';
grant execute on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item)
  to service_writer;
--! EndIncluded erp/put_away_place.sql
--! Included erp/put_away_drafts.sql
create or replace function erp.put_away_drafts(receipt erp.goods_receipt, placements erp.placement[])
returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', (receipt).id::text, d.type,
      d.place,
      erp.goods_receipt_process((receipt).type))::ledger.draft
    from (
      select l.id, l.product_id, l.batch_id, p.quantity, t.type, t.place, p.line as "position"
      from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
      cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id) t
      union all
      select l.id, l.product_id, l.batch_id, l.quantity - l.planned_disposal_quantity, t.type, t.place, 0
      from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(receipt, l) t
      where l.goods_receipt_id = (receipt).id and l.quantity > l.planned_disposal_quantity
        and not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = l.id)
      union all
      select l.id, l.product_id, l.batch_id, l.planned_disposal_quantity, 'special_stock_location',
        'stock_correction', 1000
      from erp.goods_receipt_line_item l
      where l.goods_receipt_id = (receipt).id and l.planned_disposal_quantity > 0
      union all
      select l.id, l.product_id, l.batch_id, - l.quantity,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then 'return_order'
          else 'special_stock_location' end,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then l.return_order_id::text
          else 'unknown' end,
          0
      from erp.goods_receipt_line_item l where l.goods_receipt_id = (receipt).id and l.quantity < 0
    ) d where d.product_id is not null order by d.id, d."position"
  );
end;
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) is
  'The movements that complete a goods receipt: from its place to where its lines are put away, and '
  'what is to be thrown away to stock_correction; what its lines take back to where that goes.';
grant execute on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) to service_writer;
--! EndIncluded erp/put_away_drafts.sql
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all bookings of these products, because they are locked
  moment constant timestamptz := clock_timestamp();
begin
  if exists (
    select from unnest(lines) l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    where not exists (select from ledger.stock s where s.product_id = l.product_id and s.place = p.place)
  ) then
    insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id)
    select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
    order by min(l.ordinality)
    on conflict (product_id, place) do nothing;
  end if;

  return array(
    select row (l.ordinality, s.id, p.type, p.place, l.product_id, l.batch_id, l.quantity,
      case when l.counted_at is null then greatest(moment, newer.counted_at) else l.counted_at end,
      case when l.counted_at is null then 0
        when newer.counted_at is null
          then ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end,
      case when l.batch_id is null then s.quantity else coalesce((
        select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = l.batch_id
      ), 0) end,
      case when l.counted_at is not null then newer.counted_at end, newer.quantity
    )::ledger.stock_reading
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    join ledger.stock s on s.product_id = l.product_id and s.place = p.place
    left join lateral (
      select c.counted_at, c.quantity from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at > coalesce(l.counted_at, moment)
        and (c.batch_id is null or c.batch_id = l.batch_id) and c.difference is not null
      order by c.counted_at desc, c.id desc limit 1
    ) newer on true
    order by l.ordinality
  );
end
$$;
comment on function ledger.read_counts(ledger.line[]) is
  'What lines of stockSet say, beside what the books do. The products are locked. Stock that is counted '
  'for the first time has a row from now on, be it of 0 units.';
grant execute on function ledger.read_counts(ledger.line[]) to service_ledger;
--! EndIncluded ledger/read_counts.sql

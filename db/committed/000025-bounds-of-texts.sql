--! Previous: sha1:babb5139cc9ee93b56ce70759a09c0c601a1a87a
--! Hash: sha1:d840e0f151ce3c9353a84cc07c89b5e4fab739c1
--! Message: bounds of texts

--! split: 1-current.sql
--! Message: bounds of texts

-- Long rows of an upsert are read once, not again for each rule and each other row
--! Included mutation/faults_of_columns.sql
create or replace function mutation.faults_of_columns(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(f.query, ' union all ')
  from (
    select format($q$select 'REQUIRED', 'This must not be null.', array[%1$L] where w.%1$I is null$q$,
      a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.attnum > 0 and a.attnotnull and not a.attisdropped
      and has_column_privilege(relation, a.attnum, 'update')
    union all
    select format($q$select 'OUT_OF_RANGE', 'The text has more than 255 characters.', array[%1$L]
      where length(w.%1$I) > 255$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = relation and a.attnum = any (i.indkey::smallint[]))
    union all
    select format($q$select 'NOT_FOUND', 'There is no such %3$s.', array[%1$L]
      where w._given ? %1$L and w.%1$I is not null
        and not exists (select from %2$s o where o.%4$I = w.%1$I)$q$,
      a.attname, c.confrelid::regclass, mutation.thing(c.confrelid), r.attname)
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    join pg_attribute r on r.attrelid = c.confrelid and r.attnum = c.confkey[1]
    where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1
    union all
    select format('select %L, %L, %L::text[] where not (%s)', e.error ->> 'code',
      e.error ->> 'message', array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
      pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    cross join mutation.violation(n.nspname, t.relname, c.conname) e (error)
    where c.conrelid = relation and c.contype = 'c' and e.error is not null
  ) f (query);
end;
comment on function mutation.faults_of_columns(regclass) is
  'SQL for what is wrong with a row w of mutation.row_faults by itself: columns that must not be null, of '
  'those that mutations change, checks, foreign keys that lead to nothing, and texts that are too long for '
  'an index. It is asked of each row in turns, as reading many long rows again for each rule takes seconds.';
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
        else 'o.%1$I is not distinct from w.%1$I' end, a.attname), ' and ' order by k.n) as is_same,
      array_agg(a.attname) as columns
    from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
    cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, n)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = relation and i.indisunique and not i.indisprimary and i.indexprs is null
      and i.indpred is null
    group by c.relname, n.nspname, t.relname, i.indnullsnotdistinct
  )
  -- Rows are compared with all others, so without the rest of what they have
  select format('(with w as materialized (select u.line as _line, r.id, %s from unnest($1) u '
    'cross join lateral jsonb_populate_record(null::%s, u.wanted) r where u.errors is null) ',
    (select string_agg(distinct format('r.%I', c), ', ') from unique_key o cross join unnest(o.columns) c
      where c <> 'id'), relation)
  || string_agg(format($q$
    select w._line, %L, %L, %L::text[] from w
    where exists (select from %s o where %s and o.id <> w.id)
      or exists (select from w o where o._line < w._line and %s)$q$,
    e.error ->> 'code', e.error ->> 'message',
    array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
    relation, u.is_same, u.is_same), ' union all ' order by u.name) || ')'
  from unique_key u cross join mutation.violation(u.schema, u.owner, u.name) e (error);
end;
comment on function mutation.faults_of_keys(regclass) is
  'SQL for the rows of mutation.row_faults with a unique key that another row has, be it one of the same '
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
    select array_agg(row(f.line, f.code, f.message, f.field, null)::mutation.row_fault)
    from (%s) f (line, code, message, field)
    $q$, concat_ws(' union all ', format($q$
      select w._line, f.*
      from (
        select u.line as _line, u.given as _given, r.*
        from unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r
        where u.errors is null
      ) w
      cross join lateral (%s) f
      $q$, relation, mutation.faults_of_columns(relation)), mutation.faults_of_keys(relation)))
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
--! Included mutation/with_values.sql
create or replace function mutation.with_values(rows mutation.upsert_row[], changes jsonb)
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Rows may be long, and most calls have nothing to be done here
  select case when changes is null then rows else (
    select array_agg(row (u.line, u.id, u.is_new, u.given, u.present,
      u.wanted || coalesce(changes -> u.line::text, '{}'), u.is_changed, u.errors)::mutation.upsert_row
      order by u.line)
    from unnest(rows) u
  ) end;
end;
comment on function mutation.with_values(mutation.upsert_row[], jsonb) is
  'The rows of an upsert with other values of columns, which an object names by the places of rows; null for '
  'none.';
grant execute on function mutation.with_values(mutation.upsert_row[], jsonb) to service_writer;
--! EndIncluded mutation/with_values.sql
--! Included mutation/with_changes.sql
create or replace function mutation.with_changes(rows mutation.upsert_row[], changed uuid[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case when cardinality(changed) = 0 then rows else (
    select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted,
      u.is_changed or u.errors is null and u.id = any (changed), u.errors)::mutation.upsert_row
      order by u.line)
    from unnest(rows) u
  ) end;
end;
comment on function mutation.with_changes(mutation.upsert_row[], uuid[]) is
  'The rows of an upsert, those with these ids noted as changed: something that belongs to them was.';
grant execute on function mutation.with_changes(mutation.upsert_row[], uuid[]) to service_writer;
--! EndIncluded mutation/with_changes.sql
--! Included mutation/with_faults.sql
create or replace function mutation.with_faults(
  rows mutation.upsert_row[], list text, faults mutation.row_fault[]
)
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case when coalesce(cardinality(faults), 0) = 0 then rows else (
    with found (line, errors) as (
      select f.line, jsonb_agg(mutation.user_error(f.code, f.message,
        mutation.path(list, f.line, variadic coalesce(f.field, '{}')), f.details)
        order by f.field, f.code, f.message)
      from unnest(faults) f group by f.line
    )
    select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted, u.is_changed,
      case when u.errors is null then f.errors else u.errors || coalesce(f.errors, '[]') end
    )::mutation.upsert_row order by u.line)
    from unnest(rows) u left join found f on f.line = u.line
  ) end;
end;
comment on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[]) is
  'Refuses rows of an upsert for these faults, beside those that are noted already.';
grant execute on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[])
  to service_writer;
--! EndIncluded mutation/with_faults.sql

--! split: 2-texts.sql
-- What clients can make longer and longer would make pages, and so answers, too long for everyone
alter table erp.customer drop constraint if exists customer_first_name_length;
alter table erp.customer add constraint customer_first_name_length
  check (length(first_name) <= 255) not valid;
comment on constraint customer_first_name_length on erp.customer is
  E'@userError OUT_OF_RANGE first_name\nThe text has more than 255 characters.';
alter table erp.customer drop constraint if exists customer_title_length;
alter table erp.customer add constraint customer_title_length
  check (length(title) <= 255) not valid;
comment on constraint customer_title_length on erp.customer is
  E'@userError OUT_OF_RANGE title\nThe text has more than 255 characters.';
alter table erp.customer drop constraint if exists customer_vat_ids_length;
alter table erp.customer add constraint customer_vat_ids_length
  check (length(vat_ids::text) <= 5000) not valid;
comment on constraint customer_vat_ids_length on erp.customer is
  E'@userError OUT_OF_RANGE vat_ids\nThis has more than 5,000 characters as JSON.';
alter table erp.goods_receipt drop constraint if exists goods_receipt_comment_length;
alter table erp.goods_receipt add constraint goods_receipt_comment_length
  check (length(comment) <= 10000) not valid;
comment on constraint goods_receipt_comment_length on erp.goods_receipt is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 10,000 characters.';
alter table erp.goods_receipt drop constraint if exists goods_receipt_rate_source_length;
alter table erp.goods_receipt add constraint goods_receipt_rate_source_length
  check (length(currency_factor_origin_source) <= 255) not valid;
comment on constraint goods_receipt_rate_source_length on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor_origin_source\nThe text has more than 255 characters.';
alter table erp.location drop constraint if exists location_name_length;
alter table erp.location add constraint location_name_length
  check (length(name) <= 255) not valid;
comment on constraint location_name_length on erp.location is
  E'@userError OUT_OF_RANGE name\nThe text has more than 255 characters.';
alter table erp.product drop constraint if exists product_description_length;
alter table erp.product add constraint product_description_length
  check (length(description) <= 65535) not enforced;
comment on constraint product_description_length on erp.product is
  E'@userError OUT_OF_RANGE description\nThe text has more than 65,535 characters.';
alter table erp.product drop constraint if exists product_storefront_variants_length;
alter table erp.product add constraint product_storefront_variants_length
  check (length(storefront_variants::text) <= 100000) not enforced;
comment on constraint product_storefront_variants_length on erp.product is
  E'@userError OUT_OF_RANGE storefront_variants\nThis has more than 100,000 characters as JSON.';
alter table erp.product drop constraint if exists product_translations_length;
alter table erp.product add constraint product_translations_length
  check (length(translations::text) <= 500000) not enforced;
comment on constraint product_translations_length on erp.product is
  E'@userError OUT_OF_RANGE translations\nThis has more than 500,000 characters as JSON.';
alter table erp.product_image drop constraint if exists product_image_alt_text_length;
alter table erp.product_image add constraint product_image_alt_text_length
  check (length(alt_text) <= 1000) not valid;
comment on constraint product_image_alt_text_length on erp.product_image is
  E'@userError OUT_OF_RANGE alt_text\nThe text has more than 1,000 characters.';
alter table erp.product_image drop constraint if exists product_image_translations_length;
alter table erp.product_image add constraint product_image_translations_length
  check (length(translations::text) <= 500000) not valid;
comment on constraint product_image_translations_length on erp.product_image is
  E'@userError OUT_OF_RANGE translations\nThis has more than 500,000 characters as JSON.';
alter table erp.product_supplier_configuration
  drop constraint if exists product_supplier_product_number_length;
alter table erp.product_supplier_configuration add constraint product_supplier_product_number_length
  check (length(supplier_product_number) <= 255) not valid;
comment on constraint product_supplier_product_number_length on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE supplier_product_number\nThe text has more than 255 characters.';
alter table erp.sales_order drop constraint if exists sales_order_billing_address_length;
alter table erp.sales_order add constraint sales_order_billing_address_length
  check (length(billing_address::text) <= 10000) not enforced;
comment on constraint sales_order_billing_address_length on erp.sales_order is
  E'@userError OUT_OF_RANGE billing_address\nThis has more than 10,000 characters as JSON.';
alter table erp.sales_order drop constraint if exists sales_order_shipping_address_length;
alter table erp.sales_order add constraint sales_order_shipping_address_length
  check (length(shipping_address::text) <= 10000) not enforced;
comment on constraint sales_order_shipping_address_length on erp.sales_order is
  E'@userError OUT_OF_RANGE shipping_address\nThis has more than 10,000 characters as JSON.';
alter table erp.sales_order_line_item drop constraint if exists sales_order_line_item_label_length;
alter table erp.sales_order_line_item add constraint sales_order_line_item_label_length
  check (length(label) <= 1000) not enforced;
comment on constraint sales_order_line_item_label_length on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE label\nThe text has more than 1,000 characters.';
alter table erp.sales_order_line_item drop constraint if exists sales_order_line_item_description_length;
alter table erp.sales_order_line_item add constraint sales_order_line_item_description_length
  check (length(description) <= 10000) not enforced;
comment on constraint sales_order_line_item_description_length on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE description\nThe text has more than 10,000 characters.';
alter table erp.sales_order_line_item
  drop constraint if exists sales_order_line_item_storefront_id_length;
alter table erp.sales_order_line_item add constraint sales_order_line_item_storefront_id_length
  check (length(storefront_id) <= 255) not enforced;
comment on constraint sales_order_line_item_storefront_id_length on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE storefront_id\nThe text has more than 255 characters.';
alter table erp.sales_order_line_item drop constraint if exists sales_order_line_item_type_length;
alter table erp.sales_order_line_item add constraint sales_order_line_item_type_length
  check (length(type) <= 255) not enforced;
comment on constraint sales_order_line_item_type_length on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE type\nThe text has more than 255 characters.';
alter table erp.supplier drop constraint if exists supplier_customer_number_length;
alter table erp.supplier add constraint supplier_customer_number_length
  check (length(customer_number) <= 255) not valid;
comment on constraint supplier_customer_number_length on erp.supplier is
  E'@userError OUT_OF_RANGE customer_number\nThe text has more than 255 characters.';
alter table erp.supplier drop constraint if exists supplier_email_length;
alter table erp.supplier add constraint supplier_email_length
  check (length(email) <= 255) not valid;
comment on constraint supplier_email_length on erp.supplier is
  E'@userError OUT_OF_RANGE email\nThe text has more than 255 characters.';
alter table erp.supplier drop constraint if exists supplier_phone_length;
alter table erp.supplier add constraint supplier_phone_length
  check (length(phone) <= 255) not valid;
comment on constraint supplier_phone_length on erp.supplier is
  E'@userError OUT_OF_RANGE phone\nThe text has more than 255 characters.';
alter table erp.supplier drop constraint if exists supplier_vat_id_length;
alter table erp.supplier add constraint supplier_vat_id_length
  check (length(vat_id) <= 255) not valid;
comment on constraint supplier_vat_id_length on erp.supplier is
  E'@userError OUT_OF_RANGE vat_id\nThe text has more than 255 characters.';
alter table erp.supplier drop constraint if exists supplier_address_length;
alter table erp.supplier add constraint supplier_address_length
  check (length(address::text) <= 10000) not valid;
comment on constraint supplier_address_length on erp.supplier is
  E'@userError OUT_OF_RANGE address\nThis has more than 10,000 characters as JSON.';
alter table erp.supplier_order drop constraint if exists supplier_order_comment_length;
alter table erp.supplier_order add constraint supplier_order_comment_length
  check (length(comment) <= 10000) not valid;
comment on constraint supplier_order_comment_length on erp.supplier_order is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 10,000 characters.';
alter table erp.supplier_order drop constraint if exists supplier_order_supplier_order_number_length;
alter table erp.supplier_order add constraint supplier_order_supplier_order_number_length
  check (length(supplier_order_number) <= 255) not valid;
comment on constraint supplier_order_supplier_order_number_length on erp.supplier_order is
  E'@userError OUT_OF_RANGE supplier_order_number\nThe text has more than 255 characters.';
alter table erp.supplier_order drop constraint if exists supplier_order_supplier_snapshot_length;
alter table erp.supplier_order add constraint supplier_order_supplier_snapshot_length
  check (length(supplier_snapshot::text) <= 50000) not valid;
comment on constraint supplier_order_supplier_snapshot_length on erp.supplier_order is
  '@internal';
alter table erp.supplier_order drop constraint if exists supplier_order_warehouse_snapshot_length;
alter table erp.supplier_order add constraint supplier_order_warehouse_snapshot_length
  check (length(warehouse_snapshot::text) <= 50000) not valid;
comment on constraint supplier_order_warehouse_snapshot_length on erp.supplier_order is
  '@internal';
alter table erp.supplier_order_line_item drop constraint if exists supplier_order_line_item_label_length;
alter table erp.supplier_order_line_item add constraint supplier_order_line_item_label_length
  check (length(label) <= 1000) not valid;
comment on constraint supplier_order_line_item_label_length on erp.supplier_order_line_item is
  E'@userError OUT_OF_RANGE label\nThe text has more than 1,000 characters.';
alter table erp.supplier_order_line_item
  drop constraint if exists supplier_order_line_item_product_number_length;
alter table erp.supplier_order_line_item add constraint supplier_order_line_item_product_number_length
  check (length(product_number) <= 255) not valid;
comment on constraint supplier_order_line_item_product_number_length on erp.supplier_order_line_item is
  E'@userError OUT_OF_RANGE product_number\nThe text has more than 255 characters.';
alter table erp.supplier_order_line_item
  drop constraint if exists supplier_order_line_item_supplier_product_number_length;
alter table erp.supplier_order_line_item
  add constraint supplier_order_line_item_supplier_product_number_length
  check (length(supplier_product_number) <= 255) not valid;
comment on constraint supplier_order_line_item_supplier_product_number_length
  on erp.supplier_order_line_item is
  E'@userError OUT_OF_RANGE supplier_product_number\nThe text has more than 255 characters.';
alter table erp.warehouse drop constraint if exists warehouse_address_length;
alter table erp.warehouse add constraint warehouse_address_length
  check (length(address::text) <= 10000) not valid;
comment on constraint warehouse_address_length on erp.warehouse is
  E'@userError OUT_OF_RANGE address\nThis has more than 10,000 characters as JSON.';
-- What the check of the whole column says, language by language
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
    cross join lateral (
      select case x.key when 'name' then 255 when 'alt_text' then 1000 when 'description' then 65535 end
    ) m (longest)
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

--! Previous: sha1:61ef5f3d47dead4901ed48844e4f94743f8bbfce
--! Hash: sha1:960826ddbcd4556b6c5611ea82b8c312bc630bbb
--! Message: Batches in reads, with dates and mutations

--! split: 10-batch-reads.sql
--! Message: Batches in reads, with dates and mutations

-- Batches of stock, of movements and of the lines of fulfillments, in the version unstable.

--! Included api_meta/read_policy.sql
create or replace view api_meta.read_policy as
with tag as materialized (
  select view, coalesce(parts.part[1], '') as any_part, parts.part[2] as all_part
  from (select distinct s.view from api_meta.view_column_source s) source
  cross join lateral api_meta.view_tag(source.view, 'requiresScopes') line
  cross join lateral (select regexp_split_to_array(replace(line, 'anyOf:', ''), 'allOf:') as part) parts
), way as materialized (
  -- Each scope of which one is enough is a way of its own, with the scopes that are all needed
  select t.view,
    array(select distinct n from unnest(o.one || regexp_split_to_array(t.all_part, '\s+')) n
      where n <> '' order by n) as needed
  from tag t
  cross join lateral (
    select array[w] as one from regexp_split_to_table(t.any_part, '\s+') w where w <> ''
    union all
    select '{}' where btrim(t.any_part) = ''
  ) o
), known as materialized (
  select distinct s.table_id, w.needed
  from (select distinct view, table_id from api_meta.view_column_source) s
  join way w using (view)
  where w.needed <> '{}'
), least as materialized (
  -- Without the ways that need more than another one
  select k.* from known k
  where not exists (
    select from known o where o.table_id = k.table_id and o.needed <@ k.needed and o.needed <> k.needed)
), condition as (
  select l.table_id, 1 as n, array_agg(l.needed[1] order by l.needed[1]) as scopes,
    format('( SELECT auth.has_scope(VARIADIC %L::text[]) AS has_scope)',
      array_agg(l.needed[1] order by l.needed[1])) as qualifier
  from least l where cardinality(l.needed) = 1 group by l.table_id
  union all
  select l.table_id, 2, array[array_to_string(l.needed, ' and ')],
    (
      select '(' || string_agg(
        format('( SELECT auth.has_scope(VARIADIC ''{%s}''::text[]) AS has_scope)', n), ' AND ' order by n
      ) || ')'
      from unnest(l.needed) n
    )
  from least l where cardinality(l.needed) > 1
), gathered as (
  select c.table_id, count(*) as count,
    string_agg(c.qualifier, ' OR ' order by c.n, c.scopes) as qualifier,
    array(
      select unnest(o.scopes) from condition o where o.table_id = c.table_id order by 1
    ) as scopes
  from condition c group by c.table_id
)
select g.table_id, g.scopes, format('%s_select_api', c.relname) as policy,
  case when g.count > 1 then '(' || g.qualifier || ')' else g.qualifier end as qualifier
from gathered g
join pg_catalog.pg_class c on c.oid = g.table_id
where c.relkind in ('r', 'p');
comment on view api_meta.read_policy is
  'The row-level security policy that each table needs. A table is readable with the scopes of any view '
  'that reads it: one of them, or all after the word allOf:.';
--! EndIncluded api_meta/read_policy.sql
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
    select format('create policy %I on %s for select to service_api using (%s)', w.policy,
      w.table_id::regclass, w.qualifier)
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

comment on column ledger.batch_stock.stock_id is 'Stock of the product in the place.';
comment on column ledger.batch_stock.batch_id is 'Batch that the units belong to.';
comment on column ledger.batch_stock.quantity is 'Units of the batch in the place.';
comment on column ledger.stock_movement_batch.stock_movement_id is 'Movement that moved the units.';
comment on column ledger.stock_movement_batch.batch_id is 'Batch that the units belong to.';
comment on column ledger.stock_movement_batch.quantity is 'Units of the batch that were moved.';
comment on column erp.fulfillment_stock_movement.fulfillment_line_item_id is
  'Line of the fulfillment that shipped the units.';
comment on column erp.fulfillment_stock_movement.stock_movement_id is
  'Movement that took the units to the order.';

drop view if exists api_unstable.batch_stocks, api_unstable.stock_movement_batches,
  api_unstable.fulfillment_line_item_batches;
--! Included api/batch_stocks.sql
create view api_unstable.batch_stocks with (security_invoker = true) as
select stock_id, batch_id, quantity from ledger.batch_stock where quantity <> 0;
comment on view api_unstable.batch_stocks is $$
@primaryKey stock_id,batch_id
@requiresScopes allOf: stocks:read batches:read
@aggregates quantity
@groupBy batch_id
@filters batch_id,stock_id
@foreignKey (stock_id) references stocks (id)|@fieldName stock|@foreignFieldName batches
@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName stocks
How much of a batch lies in one place; the stock names the place. Places that hold none are left out.$$;
--! EndIncluded api/batch_stocks.sql
--! Included api/stock_movement_batches.sql
create view api_unstable.stock_movement_batches with (security_invoker = true) as
select stock_movement_id, batch_id, quantity from ledger.stock_movement_batch;
comment on view api_unstable.stock_movement_batches is
  E'@primaryKey stock_movement_id,batch_id\n'
  '@requiresScopes allOf: stocks:read batches:read\n'
  '@aggregates quantity\n'
  '@groupBy batch_id\n'
  '@filters batch_id,stock_movement_id\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName '
  'stockMovement|@foreignFieldName batches\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName stockMovements\n'
  'How many units of a batch a movement moved.';
--! EndIncluded api/stock_movement_batches.sql
--! Included api/fulfillment_line_item_batches.sql
-- Has no list of all: pages after a cursor would read one of the tables from its beginning.
create view api_unstable.fulfillment_line_item_batches with (security_invoker = true) as
select b.stock_movement_id, b.batch_id, l.fulfillment_line_item_id, b.quantity
from erp.fulfillment_stock_movement l
join ledger.stock_movement_batch b on b.stock_movement_id = l.stock_movement_id;
comment on view api_unstable.fulfillment_line_item_batches is
  E'@primaryKey stock_movement_id,batch_id,fulfillment_line_item_id\n'
  '@requiresScopes allOf: fulfillment_orders:read stocks:read batches:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@aggregates quantity\n'
  '@groupBy batch_id\n'
  '@filters batch_id,fulfillment_line_item_id,stock_movement_id\n'
  '@foreignKey (fulfillment_line_item_id) references fulfillment_line_items (id)|@fieldName '
  'fulfillmentLineItem|@foreignFieldName batches\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName fulfillmentLineItems\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement\n'
  'How many units of a batch a line of a fulfillment shipped from one place; the movement names the '
  'place. A cancelled fulfillment keeps the batches that it had shipped.';
--! EndIncluded api/fulfillment_line_item_batches.sql

--! split: 20-batch-writes.sql
-- Dates and the supplier's lot of batches, and mutations of batches

alter table erp.batch
  add column if not exists best_before_date date,
  add column if not exists production_date date,
  add column if not exists supplier_lot text collate "C";
alter table erp.batch
  drop constraint if exists batch_comment_length,
  drop constraint if exists batch_supplier_lot_length,
  drop constraint if exists batch_best_before_date_is_plausible,
  drop constraint if exists batch_production_date_is_plausible,
  drop constraint if exists batch_is_produced_before_it_expires;
alter table erp.batch
  add constraint batch_comment_length check (length(comment) <= 10000) not enforced,
  add constraint batch_supplier_lot_length check (length(supplier_lot) <= 255) not enforced,
  add constraint batch_best_before_date_is_plausible
    check (best_before_date between '1900-01-01' and '9999-12-31') not enforced,
  add constraint batch_production_date_is_plausible
    check (production_date between '1900-01-01' and '9999-12-31') not enforced,
  add constraint batch_is_produced_before_it_expires check (production_date <= best_before_date) not enforced;
comment on column erp.batch.best_before_date is 'Day until which the goods keep their quality.';
comment on column erp.batch.production_date is 'Day on which the goods were made.';
comment on column erp.batch.supplier_lot is 'The supplier''s number of the lot.';
comment on constraint batch_number_is_not_blank on erp.batch is
  E'@userError INVALID number\nA batch needs a number.';
comment on constraint batch_number_is_unique_per_product on erp.batch is
  E'@userError NOT_UNIQUE number\nAnother batch of the product has this number.';
comment on constraint batch_comment_length on erp.batch is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 10,000 characters.';
comment on constraint batch_supplier_lot_length on erp.batch is
  E'@userError OUT_OF_RANGE supplier_lot\nThe text has more than 255 characters.';
comment on constraint batch_best_before_date_is_plausible on erp.batch is
  E'@userError OUT_OF_RANGE best_before_date\nThe year must be between 1900 and 9999.';
comment on constraint batch_production_date_is_plausible on erp.batch is
  E'@userError OUT_OF_RANGE production_date\nThe year must be between 1900 and 9999.';
comment on constraint batch_is_produced_before_it_expires on erp.batch is
  E'@userError INVALID production_date\nThe production date is after the best-before date.';
comment on constraint batch_tag_tag_id_fkey on erp.batch_tag is
  '@internal erp.set_tags() creates missing tags';
comment on column bulk.operation.resource is
  'The kind of rows: products, customers, suppliers, warehouses, orders or batches; for an export, the field '
  'of the query.';

select api_meta.allow('service_writer', 'erp.batch',
  'update (number, comment, best_before_date, production_date, supplier_lot)');
select api_meta.allow('service_writer', 'erp.batch_tag', 'select', 'insert', 'delete');

--! Included erp/update_batch.sql
create or replace function erp.update_batch(batch_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.batch;
  wanted erp.batch;
  rows mutation.upsert_row[];
begin
  -- Bookings update batches under the lock of their product, which comes first here, too
  perform from erp.product p
  where p.id = (select b.product_id from erp.batch b where b.id = batch_id) for no key update;
  select * into present from erp.batch b where b.id = batch_id for no key update;
  if not found then
    perform mutation.refuse_missing('batch', '{id}');
  end if;
  if length(changes ->> 'number') > 255 then
    perform mutation.refuse('OUT_OF_RANGE', 'The text has more than 255 characters.', '{number}');
  end if;
  rows := array[
    row (1, present.id, false, changes, to_jsonb(present), null, false, null)::mutation.upsert_row];
  perform mutation.refuse((
    select jsonb_agg(mutation.user_error(f.code, f.message, f.field, f.details))
    from unnest(erp.faults_of_tags(rows)) f));
  wanted := jsonb_populate_record(present, changes);
  update erp.batch b
  set number = wanted.number, comment = wanted.comment, best_before_date = wanted.best_before_date,
    production_date = wanted.production_date, supplier_lot = wanted.supplier_lot
  where b.id = present.id and wanted is distinct from present;
  perform erp.set_tags('erp.batch_tag', 'batch_id', rows);
  return present.id;
end
$$;
comment on function erp.update_batch(uuid, jsonb) is
  'Changes number, comment, dates, the supplier''s lot and tags of a batch, if the object contains them. '
  'Returns its id.';
select api_meta.plan_by_index('erp.update_batch(uuid, jsonb)');
grant execute on function erp.update_batch(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_batch.sql
--! Included erp/upsert_batches.sql
create or replace function erp.with_products_by_number(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(e.batch || jsonb_strip_nulls(jsonb_build_object('product_id', (
    select p.id from erp.product p
    where p.product_number = e.batch ->> 'product_number'
      and coalesce(e.batch ->> 'id', e.batch ->> 'product_id') is null
  ))) order by e.n)
  from jsonb_array_elements(given) with ordinality e (batch, n);
end;
comment on function erp.with_products_by_number(jsonb) is
  'Returns the input of an upsert of batches, with the ids of products that rows without an id name by '
  'number.';
grant execute on function erp.with_products_by_number(jsonb) to service_writer;

create or replace function erp.faults_of_batches(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with batch as (
    select u.line, u.is_new, (u.wanted ->> 'product_id')::uuid as product_id,
      (u.present ->> 'product_id')::uuid as present_id, u.given ->> 'product_number' as number,
      (select p.id from erp.product p where p.product_number = u.given ->> 'product_number') as numbered_id
    from unnest(rows) u where u.errors is null
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], null)::mutation.row_fault)
  from (
    select b.line, 'NOT_FOUND', 'There is no product with this number.', 'product_number'
    from batch b where b.number is not null and b.numbered_id is null
    union all
    select b.line, 'INVALID', 'The product has another number.', 'product_number'
    from batch b where b.is_new and b.numbered_id <> b.product_id
    union all
    select b.line, 'REQUIRED', 'A new batch needs a product.', 'product_id'
    from batch b where b.is_new and b.product_id is null and b.number is null
    union all
    select b.line, 'NOT_EDITABLE', 'A batch stays with its product.', 'product_id'
    from batch b where not b.is_new and b.product_id is distinct from b.present_id
    union all
    select b.line, 'NOT_EDITABLE', 'A batch stays with its product.', 'product_number'
    from batch b where not b.is_new and b.numbered_id <> b.present_id
    union all
    select b.line, 'INVALID', 'The product is not managed in batches.',
      case when b.number is null then 'product_id' else 'product_number' end
    from batch b join erp.product p on p.id = b.product_id
    where b.is_new and not p.is_batch_managed and (b.number is null or b.numbered_id = b.product_id)
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_batches(mutation.upsert_row[]) is
  'Returns what is wrong with the products in rows of an upsert of batches.';
grant execute on function erp.faults_of_batches(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_batches(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_id = r.product_id and o.number = r.number}';
  named constant jsonb := erp.with_products_by_number(given);
  rows mutation.upsert_row[];
begin
  -- Bookings update batches under the lock of their product, which comes first here, too
  perform from erp.product p
  where p.id = any (array(
    select coalesce((select b.product_id from erp.batch b where b.id = (e ->> 'id')::uuid),
      (e ->> 'product_id')::uuid)
    from jsonb_array_elements(named) e))
  order by p.id for no key update;
  rows := mutation.match_rows('erp.batch', 'batches', named, '{number}', matches);
  rows := mutation.with_faults(rows, 'batches', erp.faults_of_batches(rows));
  rows := mutation.with_faults(rows, 'batches',
    mutation.row_faults('erp.batch', rows, matches) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.batch', rows, 'batches', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.batch', rows);
  return mutation.with_changes(rows, erp.set_tags('erp.batch_tag', 'batch_id', rows));
end
$$;
comment on function erp.upsert_batches(jsonb, boolean) is
  'Creates and updates batches, with their tags: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
select api_meta.plan_by_index('erp.upsert_batches(jsonb, boolean)');
grant execute on function erp.upsert_batches(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_batches.sql

drop view if exists api_unstable.batches;
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, best_before_date, production_date, supplier_lot, physical_stock
from erp.batch;
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
--! Included api/batch_update.sql
drop type if exists api_unstable.batch_payload cascade;
create type api_unstable.batch_payload as (batch uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.batch_payload is 'The result of changing a batch.';
comment on column api_unstable.batch_payload.batch is
  E'@entity Batch\nThe batch as it is now; null when it was refused.';
comment on column api_unstable.batch_payload.user_errors is
  'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.batch_update_input cascade;
create type api_unstable.batch_update_input as (
  id uuid, number text, comment text, best_before_date date, production_date date, supplier_lot text,
  tags text[]
);
comment on type api_unstable.batch_update_input is
  'Changes of a batch. Omitted fields keep their value; null clears them. A batch stays with its product.';
comment on column api_unstable.batch_update_input.id is E'@notNull\n@gid Batch\nId of the batch.';
comment on column api_unstable.batch_update_input.number is
  'Number of the batch, unique for its product; 1 to 255 characters.';
comment on column api_unstable.batch_update_input.comment is 'Free note; at most 10,000 characters.';
comment on column api_unstable.batch_update_input.best_before_date is
  'Day until which the goods keep their quality; from the year 1900 to 9999.';
comment on column api_unstable.batch_update_input.production_date is
  'Day on which the goods were made, not after the best-before date; from the year 1900 to 9999.';
comment on column api_unstable.batch_update_input.supplier_lot is
  'The supplier''s number of the lot; at most 255 characters.';
comment on column api_unstable.batch_update_input.tags is
  'Names of tags, which replace all present ones. Missing tags are created.';

create function api_unstable.batch_update(input api_unstable.batch_update_input, changes jsonb)
returns api_unstable.batch_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_batch(input.id, changes), null)::api_unstable.batch_payload
$$;
comment on function api_unstable.batch_update(api_unstable.batch_update_input, jsonb) is
  E'@requiresScopes batches:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Changes a batch. Its number may change, even after bookings, as long as no other batch of the product '
  'has it.';
--! EndIncluded api/batch_update.sql
--! Included api/batches_upsert.sql
drop type if exists api_unstable.batches_upsert_input cascade;
drop type if exists api_unstable.batch_upsert_input cascade;
drop type if exists api_unstable.batches_upsert_payload cascade;

create type api_unstable.batch_upsert_input as (
  id uuid, product_id uuid, product_number text, number text, comment text, best_before_date date,
  production_date date, supplier_lot text, tags text[]
);
comment on type api_unstable.batch_upsert_input is
  'A batch as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.batch_upsert_input.id is
  E'@gid Batch\nId of the batch. Without it, the batch is known by its product and number.';
comment on column api_unstable.batch_upsert_input.product_id is
  E'@gid Product\nId of the product. A batch stays with its product. New batches need one that is managed '
  'in batches.';
comment on column api_unstable.batch_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.batch_upsert_input.number is
  'Number of the batch, unique for its product; 1 to 255 characters. Beside an id it is the number that the '
  'batch gets.';
comment on column api_unstable.batch_upsert_input.comment is 'Free note; at most 10,000 characters.';
comment on column api_unstable.batch_upsert_input.best_before_date is
  'Day until which the goods keep their quality; from the year 1900 to 9999.';
comment on column api_unstable.batch_upsert_input.production_date is
  'Day on which the goods were made, not after the best-before date; from the year 1900 to 9999.';
comment on column api_unstable.batch_upsert_input.supplier_lot is
  'The supplier''s number of the lot; at most 255 characters.';
comment on column api_unstable.batch_upsert_input.tags is
  'Names of tags, which replace all present ones. Missing tags are created.';

create type api_unstable.batches_upsert_input
  as (batches api_unstable.batch_upsert_input[], partial boolean);
comment on type api_unstable.batches_upsert_input is 'Batches as they are to be.';
comment on column api_unstable.batches_upsert_input.batches is E'@notNull\nThe batches; 1 to 250 rows.';
comment on column api_unstable.batches_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.batches_upsert_payload as (
  results api_unstable.upsert_result[], batches uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.batches_upsert_payload is 'The result of upserting batches.';
comment on column api_unstable.batches_upsert_payload.results is
  E'@resultOf Batch\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.batches_upsert_payload.batches is
  E'@entity Batch\n@perLine batches\nThe batches of the rows that were not refused, in their order.';
comment on column api_unstable.batches_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.batches_upsert(input api_unstable.batches_upsert_input, changes jsonb)
returns api_unstable.batches_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.batches_upsert_payload
  from mutation.upserted(erp.upsert_batches(changes -> 'batches', input.partial)) d
$$;
comment on function api_unstable.batches_upsert(api_unstable.batches_upsert_input, jsonb) is
  E'@requiresScopes batches:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  'Makes batches and changes those that are there, known by their id, or by product and number. Rows that '
  'say nothing new change nothing.';
--! EndIncluded api/batches_upsert.sql
--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
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
      buyer_reference purchase_order_number due_date paid_amount exchange_rate exchange_rate_date
      exchange_rate_source created_at updated_at'),
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
      manufacturer_number unit_code physical_stock stock_not_available_for_sale reserved_stock available_stock
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
      'id:Batch product_id:Product number comment best_before_date production_date supplier_lot
      physical_stock'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      invoice_form buyer_reference electronic_address electronic_address_scheme registration_id
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
    ('order.created', 'Order', 'An order was created.', null::text[]),
    ('order.updated', 'Order', 'An order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was created.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'The quantity of a product changed in a place that is not special.', null
    ),
    ('product.created', 'Product', 'A product was created.', null),
    (
      'product.updated', 'Product',
      'A product or a figure of its stock was changed.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was created.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods have been put away.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was created.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'Everything of an order to a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back part of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.', null
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

--! Previous: sha1:5df02718c4cca8a99e98b6dcd8731d010a7fd309
--! Hash: sha1:cf5af31c0855ae35730d355b694bad509be3cea3
--! Message: words-announcements-and-due-work

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
  -- Few, which have an index of their own
  with claimed as materialized (
    select q.subscription_id, min(greatest(q.due_at, q.claimed_until)) as due_at,
      max(q.claimed_until) as busy_until
    from events.delivery_queue q where q.claimed_by is not null and q.claimed_until > clock_timestamp()
    group by q.subscription_id
  )
  select least(
    (select '-infinity'::timestamptz where exists (select from events.outbox)),
    (
      select min(greatest(least(q.due_at, b.probe_at), s.paused_until,
        case when s.health = 'SUSPENDED' then s.next_probe_at end, b.alone_at))
      from events.webhook_subscription s
      left join claimed c on c.subscription_id = s.id
      cross join lateral (
        select least(c.due_at, (
          select f.due_at from events.delivery_queue f
          where f.subscription_id = s.id and (f.claimed_until is null or f.claimed_until <= clock_timestamp())
          order by f.due_at limit 1)) as due_at
      ) q
      -- Probes, and whatever is tried alone, come after what is under way
      cross join lateral (
        select case when s.next_probe_at is not null then
            greatest(s.next_probe_at, c.busy_until) end as probe_at,
          case when s.paused_until is not null or s.health = 'SUSPENDED' then c.busy_until end as alone_at
      ) b
      where s.enabled and q.due_at is not null and (select p.name from auth.current_plan() p) <> 'none'
    )
  );
end;
comment on function events.due_at() is
  'When there is something to do next: -infinity while committed changes are no events yet, else when '
  'events.claim_delivery_queues is next to find a queue that no process has claimed; null if there is '
  'none. A service with many merchants sleeps until then.';
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

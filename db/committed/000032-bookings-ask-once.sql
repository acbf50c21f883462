--! Previous: sha1:cf5af31c0855ae35730d355b694bad509be3cea3
--! Hash: sha1:703920a667100cb2d74c7fbbbf64ac414f495fbf
--! Message: bookings-ask-once

--! split: 17-bookings.sql
-- waive locks-table: each is changed below, and in another order a booking and this would wait for each other
lock table erp.sales_order, erp.sales_order_line_item, erp.fulfillment_order, erp.fulfillment_order_line_item,
  erp.fulfillment, erp.fulfillment_line_item, erp.return_order, erp.goods_receipt, erp.warehouse,
  erp.bin_location, erp.stock_container, erp.product, ledger.stock, ledger.stock_movement, ledger.stock_count,
  ledger.special_stock_location;

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
  if not exists (select from gone) then
    return null;
  end if;
  -- Only so does it see what was written while it waited for locks
  if current_setting('transaction_isolation') <> 'read committed' then
    raise feature_not_supported using
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
  'Writes the states of an order and codes to follow it by, and tells of it. Only for erp.settle_order, and '
  'for states that change nothing of what the order reserves: one that is completed has shipped it all.';
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
  new_delivery_state text;
  new_state text;
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
  new_delivery_state := erp.next_state('order_delivery',
    case when present.is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  new_state := present.state;
  if new_state <> 'in_progress' then
    new_state := erp.next_state('order', 'process', new_state);
  end if;
  if present.is_all_shipped then
    new_state := erp.next_state('order', 'complete', new_state);
  end if;
  if present.state not in ('open', 'in_progress') then
    -- A transition that was added: what the order reserves again follows by triggers
    update erp.sales_order o set state = new_state where o.id = order_id;
  end if;
  perform ledger.write_order_states(order_id, new_state, new_delivery_state, tracking_codes);
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

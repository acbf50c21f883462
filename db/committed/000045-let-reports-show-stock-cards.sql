--! Previous: sha1:243f0e09cb4db70377bbf9cde3a45b08784d8e5a
--! Hash: sha1:a9a18018386baf5b53180536417af63e29ef821b
--! Message: let reports show stock cards

--! split: 100-card.sql
-- Reports show stock cards, too
drop view if exists api_unstable.stock_card_lines cascade;
--! Included ledger/stock_card.sql
drop type if exists ledger.card_line cascade;
create type ledger.card_line as (
  moment timestamptz, movement_id uuid, direction integer, booked_at timestamptz, quantity integer,
  balance bigint, former_place text, warehouse_id uuid, bin_location_id uuid
);
comment on type ledger.card_line is
  'A line of a stock card: units that came, or negative ones that left, and what was there then.';

create or replace function ledger.stock_card(
  product_id uuid, place text, warehouse_id uuid, batch_id uuid, since timestamptz, until timestamptz
) returns setof ledger.card_line
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp
-- The plan must stay right while the table of former places grows
set enable_material = off as $$
declare
  before constant timestamptz := since - interval '1 microsecond';
  first constant ledger.span := ledger.span_of(null, before);
  last_id constant uuid := case when until is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
    else (ledger.span_of(null, until - interval '1 microsecond')).to_id end;
  opening constant bigint := case
    when batch_id is null then ledger.quantity_as_of(product_id, place, warehouse_id, null, before)
    when exists (select from erp.batch b where b.id = batch_id and b.product_id = stock_card.product_id)
      then ledger.batch_quantity_as_of(batch_id, place, null, before, warehouse_id)
    else 0 end;
begin
  if not auth.has_scope('stocks:read') or batch_id is not null and not auth.has_scope('batches:read') then
    return;
  end if;
  return next row (before, null, null, null, null, opening, null, null, null)::ledger.card_line;
  return query
  select l.moment, l.movement_id, l.direction, l.booked_at, u.quantity::integer,
    (opening + sum(u.quantity) over (
      order by l.moment, l.movement_id, l.direction rows unbounded preceding
    ))::bigint, l.former_code, l.warehouse_id, l.bin_location_id
  from ledger.past_leg l
  left join ledger.stock_movement_batch b
    on b.stock_movement_id = l.movement_id and b.batch_id = stock_card.batch_id
  cross join lateral (
    select case when stock_card.batch_id is null then l.quantity else l.direction * b.quantity end as quantity
  ) u
  where l.product_id = stock_card.product_id and l.movement_id between first.from_id and last_id
    and l.moment >= stock_card.since and l.moment < coalesce(stock_card.until, 'infinity')
    and u.quantity is not null
    and case when stock_card.place is not null then l.place = stock_card.place
      when stock_card.warehouse_id is not null then l.warehouse_id = stock_card.warehouse_id
      else l.location_type in ('warehouse', 'bin_location')
        or l.location_type = 'stock_container' and l.warehouse_id is not null end;
end
$$;
comment on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) is
  'Returns the stock card of a product, or of a batch of it, in a place, in a warehouse with its bins and '
  'containers, or in all warehouses. The first line has the opening balance and no movement. Then each '
  'arrival and departure from a moment on follows, up to but without another, in the order in which they '
  'happened. Empty without the scopes stocks:read and, for a batch, batches:read.';
select api_meta.plan_by_index('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)');
select api_meta.give('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)', 'service_ledger');
revoke execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) from public;
grant execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)
  to service_api, service_writer, service_registrar;
--! EndIncluded ledger/stock_card.sql
--! Included api/stock_card_lines.sql
-- Has no rows by itself: api_unstable.products_stock_card_lines fills it for a product and a period
create view api_unstable.stock_card_lines with (security_invoker = true) as
select m.id as stock_movement_id, 0 as direction, m.created_at::timestamptz as happened_at,
  m.created_at::timestamptz as booked_at, 0 as quantity, 0 as balance, m.source_warehouse_id as warehouse_id,
  m.source_bin_location_id as bin_location_id, m.comment as former_place
from ledger.stock_movement m where false;
comment on view api_unstable.stock_card_lines is $$
@primaryKey happened_at,stock_movement_id,direction
@requiresScopes stocks:read
@behavior -query:resource:connection -node
@hidden direction
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
A line of a stock card: an arrival or a departure, and how many units were there then.$$;
comment on column api_unstable.stock_card_lines.stock_movement_id is E'@notNull\nThe movement.';
comment on column api_unstable.stock_card_lines.direction is '1 for an arrival, -1 for a departure.';
comment on column api_unstable.stock_card_lines.happened_at is
  E'@notNull\nWhen it happened: for the difference of a count, the moment of the count.';
comment on column api_unstable.stock_card_lines.booked_at is
  E'@notNull\nWhen it was booked: later than it happened, if a count arrived late.';
comment on column api_unstable.stock_card_lines.quantity is
  E'@notNull\nUnits that came; negative if they left.';
comment on column api_unstable.stock_card_lines.balance is
  E'@notNull\nUnits that were there after it, in the place or the places of the card.';
comment on column api_unstable.stock_card_lines.warehouse_id is
  'The warehouse, also of a bin that has been moved to another one or deleted since.';
comment on column api_unstable.stock_card_lines.bin_location_id is
  'The bin; null outside of bins, and once the bin was deleted.';
comment on column api_unstable.stock_card_lines.former_place is
  'The code of the bin or warehouse, if it was deleted since.';
--! EndIncluded api/stock_card_lines.sql
--! Included api/products_stock_card.sql
drop type if exists api_unstable.stock_card cascade;
create type api_unstable.stock_card as (
  opening_balance integer, incoming integer, outgoing integer, closing_balance integer
);
comment on type api_unstable.stock_card is 'Units that came, that left, and that were there, in a period.';
comment on column api_unstable.stock_card.opening_balance is
  E'@notNull\nUnits that were there before the period.';
comment on column api_unstable.stock_card.incoming is E'@notNull\nUnits that came in the period.';
comment on column api_unstable.stock_card.outgoing is E'@notNull\nUnits that left in the period.';
comment on column api_unstable.stock_card.closing_balance is
  E'@notNull\nUnits that were there at the end of the period.';

create function api_unstable.products_stock_card(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns api_unstable.stock_card language sql stable
begin atomic
  select row (c.opening, c.incoming, c.outgoing, c.opening + c.incoming - c.outgoing)::api_unstable.stock_card
  from (
    select min(c.balance) filter (where c.movement_id is null) as opening,
      coalesce(sum(c.quantity) filter (where c.quantity > 0), 0) as incoming,
      coalesce(- sum(c.quantity) filter (where c.quantity < 0), 0) as outgoing
    from ledger.stock_card(product.id, products_stock_card.bin_location_id::text,
      products_stock_card.warehouse_id, products_stock_card.batch_id, since, until) c
  ) c
  where products_stock_card.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card.batch_id);
end;
comment on function api_unstable.products_stock_card(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@requiresScopes stocks:read
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, the period reaches to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The balances of the stock card; stockCardLines has its lines. Null for a batch that you may not read.$$;
--! EndIncluded api/products_stock_card.sql
--! Included api/products_stock_card_lines.sql
create function api_unstable.products_stock_card_lines(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns setof api_unstable.stock_card_lines language sql stable
begin atomic
  select c.movement_id, c.direction, c.moment, c.booked_at,
    c.quantity, c.balance::integer, c.warehouse_id, c.bin_location_id, c.former_place
  from ledger.stock_card(product.id, products_stock_card_lines.bin_location_id::text,
    products_stock_card_lines.warehouse_id, products_stock_card_lines.batch_id, since, until) c
  where c.movement_id is not null and (products_stock_card_lines.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card_lines.batch_id));
end;
comment on function api_unstable.products_stock_card_lines(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@noFilter
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, all lines up to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The lines of the stock card: arrivals and departures of a period, in the order in which they happened. Each
has the balance after it.$$;
--! EndIncluded api/products_stock_card_lines.sql
--! Included bulk/scope_of.sql
create or replace function bulk.scope_of(version name, operation name) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes (\S+)')
  from pg_proc p
  where p.pronamespace = to_regnamespace(quote_ident(scope_of.version)) and p.proname = scope_of.operation;
end;
comment on function bulk.scope_of(name, name) is
  'Returns the scope that a mutation of a version needs, which its comment names.';
grant execute on function bulk.scope_of(name, name) to service_writer;
--! EndIncluded bulk/scope_of.sql
--! Included bulk/import_chunk.sql
create or replace function bulk.import_chunk(operation_id uuid, claim uuid, number integer, version name,
  operation name, list text, rows jsonb, lines integer[], faults jsonb, lease_ms integer,
  traceparent text default null)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present bulk.operation;
  results jsonb := '[]';
begin
  select * into present from bulk.operation o
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    return 'gone';
  elsif (select p.name from auth.current_plan() p) is distinct from 'full' then
    return 'FORBIDDEN';
  end if;
  perform set_config('service.scopes',
    coalesce(array_to_string(bulk.scopes_of(operation_id), ' '), ''), true),
    set_config('service.credential_id', present.credential_id::text, true),
    set_config('service.request_id', operation_id::text, true),
    set_config('service.traceparent', coalesce(traceparent, ''), true);
  if not auth.has_scope(bulk.scope_of(version, operation)) then
    return 'SCOPE_MISSING';
  end if;
  if jsonb_array_length(rows) > 0 then
    results := bulk.upsert(version, operation, list, rows);
  end if;
  insert into bulk.refusal (operation_id, line, number, code, message, field, details)
  select operation_id, f.line, row_number() over (partition by f.line order by f.n), f.error ->> 'code',
    f.error ->> 'message', f.field, nullif(f.error -> 'details', 'null')
  from (
    select lines[r.place], e.error, e.n,
      -- Without the list and the place in it
      (array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))))[3:]
    from jsonb_array_elements(results) with ordinality r (result, place)
    cross join jsonb_array_elements(r.result -> 'user_errors') with ordinality e (error, n)
    union all
    select (e.error ->> 'line')::integer, e.error, e.n,
      array(select jsonb_array_elements_text(e.error -> 'field'))
    from jsonb_array_elements(faults) with ordinality e (error, n)
  ) f (line, error, n, field);
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, attempts = 0, claimed_until = now() + lease_ms * interval '1 ms',
    created_count = o.created_count + c.created, updated_count = o.updated_count + c.updated,
    done_count = o.done_count + c.done,
    refused_count = o.refused_count + c.refused + (
      select count(distinct f -> 'line') from jsonb_array_elements(faults) f),
    stored_bytes = o.stored_bytes - (
      select length(k.content) from bulk.chunk k
      where k.operation_id = o.id and k.number = import_chunk.number)
  from (
    select count(*) filter (where r ->> 'outcome' = 'CREATED') as created,
      count(*) filter (where r ->> 'outcome' = 'UPDATED') as updated,
      count(*) filter (where r ->> 'outcome' <> 'REFUSED') as done,
      count(*) filter (where r ->> 'outcome' = 'REFUSED') as refused
    from jsonb_array_elements(results) r
  ) c
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    -- Cancelled, or taken by another process meanwhile: then nothing of this is to be done
    raise exception 'The bulk operation is no longer ours.' using errcode = 'serialization_failure';
  end if;
  delete from bulk.chunk k
  where k.operation_id = import_chunk.operation_id and k.number = import_chunk.number;
  return 'done';
end
$$;
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text) is
  'Imports the rows of a chunk, with the present rights of the credential, records refusals, and marks the '
  'chunk as done. It does so in one transaction, so that no row is imported twice. Faults are rows that '
  'cannot be parsed. Returns done, or gone if another process works on it, or it was cancelled. Returns '
  'FORBIDDEN if the plan allows no mutations, and SCOPE_MISSING if the credential lacks the scope by now.';
select api_meta.give(
  'bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)',
  'service_writer'
);
grant execute on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)
  to service_worker;
--! EndIncluded bulk/import_chunk.sql
--! Included erp/cycle_counts.sql
create or replace function erp.cycle_counts(
  warehouse_id uuid, days_of_a integer, days_of_b integer, days_of_c integer, maximum integer
)
returns table (rank integer, stock_id uuid, product_id uuid, place_warehouse_id uuid, bin_location_id uuid,
  value_class text, last_counted_at timestamptz, due_ratio double precision, difference_count integer)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  with held as materialized (
    select s.* from (
      select s.*, s.warehouse_id as site_id, null::uuid as bin_id from ledger.stock s
      where s.warehouse_id = cycle_counts.warehouse_id
      union all
      select s.*, null, b.id from erp.bin_location b join ledger.stock s on s.bin_location_id = b.id
      where b.warehouse_id = cycle_counts.warehouse_id
      union all
      select s.*, case when c.bin_location_id is null then c.warehouse_id end, c.bin_location_id
      from erp.stock_container c join ledger.stock s on s.stock_container_id = c.id
      where c.warehouse_id = cycle_counts.warehouse_id and c.fulfillment_order_id is null
    ) s
    where s.quantity > 0 and (select auth.has_scope('stocktake_results:read'))
  ), product as materialized (
    select h.product_id, sum(h.quantity) as quantity from held h group by h.product_id
  ), worth as (
    select p.product_id, p.quantity * coalesce(u.unit_value, 0) as value
    from product p
    join erp.unit_values(array(select p.product_id from product p)) u on u.product_id = p.product_id
  ), class as (
    -- The first 80 percent of the value are class A, the next 15 are class B
    select c.product_id, c.value,
      case when c.before < 0.80 * c.total then 'A' when c.before < 0.95 * c.total then 'B' else 'C' end
        as name
    from (
      select w.product_id, w.value, sum(w.value) over () as total,
        sum(w.value) over (order by w.value desc, w.product_id) - w.value as before
      from worth w
    ) c
  ), due as (
    select h.id, h.product_id, h.site_id as warehouse_id, h.bin_id as bin_location_id, c.name, c.value,
      n.counted_at,
      extract(epoch from ledger.moment() - coalesce(n.counted_at, h.created_at)) / 86400
        / case c.name when 'A' then days_of_a when 'B' then days_of_b else days_of_c end
        -- A person who picked there found too little
        + case when exists (
          select from erp.pick_list_line l
          where l.product_id = h.product_id and l.state = 'short'
            and l.short_at > coalesce(n.counted_at, '-infinity')
            and (l.bin_location_id = h.bin_location_id or l.stock_container_id = h.stock_container_id
              or num_nonnulls(h.bin_location_id, h.stock_container_id) = 0
              and num_nonnulls(l.bin_location_id, l.stock_container_id) = 0
              and exists (select from erp.pick_list p
                where p.id = l.pick_list_id and p.warehouse_id = h.warehouse_id))
        ) then 1000 else 0 end as ratio
    from held h join class c on c.product_id = h.product_id
    left join lateral (
      select max(n.counted_at) as counted_at from ledger.stock_count n
      where n.stock_id = h.id and n.difference is not null
    ) n on true
    where not exists (
      select from erp.stocktake_line l
      where l.place = h.place and l.product_id = h.product_id and l.state not in ('approved', 'cancelled'))
  ), first as (
    select row_number() over (order by d.ratio desc, d.value desc, d.id) as rank, d.* from due d
    where d.ratio >= 1 order by 1 limit maximum
  )
  select f.rank::integer, f.id, f.product_id, f.warehouse_id, f.bin_location_id, f.name, f.counted_at,
    f.ratio::double precision, (
      select count(*) from ledger.stock_count n where n.stock_id = f.id and n.difference <> 0
    )::integer
  from first f order by f.rank;
end;
comment on function erp.cycle_counts(uuid, integer, integer, integer, integer) is
  'Returns the stock of a warehouse that is due for a count, by how long it is due. The interval in days '
  'depends on the share of the product in the value of the warehouse: class A, B or C. What was never '
  'counted is due since its first movement. Places that lacked units of a pick list come '
  'first. Stock of open stocktakes is left out. Empty without the scope '
  'stocktake_results:read.';
select api_meta.give('erp.cycle_counts(uuid, integer, integer, integer, integer)', 'service_writer');
revoke execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) from public;
grant execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) to service_api;
--! EndIncluded erp/cycle_counts.sql
--! Included erp/order_proposals.sql
create or replace function erp.order_proposals(lines erp.reorder_line[], note text) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid[] := '{}';
  planned record;
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  -- A call that orders the same products at the same time waits here, and then sees these orders
  perform ledger.lock(array(select l.product_id from unnest(lines) l),
    array(select l.warehouse_id from unnest(lines) l));
  perform mutation.refuse(erp.reorder_faults(lines));
  for planned in
    select t.supplier_id, l.warehouse_id, t.currency_id,
      array_agg(row (null, l.product_id, l.quantity, null, null, null)::erp.supplier_order_line
        order by l.nth) as items,
      array_agg(l.nth order by l.nth) as nths
    from unnest(lines) with ordinality
      l (product_id, warehouse_id, quantity, on_order_quantity, supplier_id, nth)
    join erp.supplier_terms(array(select n.product_id from unnest(lines) n),
      array(select n.supplier_id from unnest(lines) n)) t on t.nth = l.nth
    group by t.supplier_id, l.warehouse_id, t.currency_id order by min(l.nth)
  loop
    made := made || erp.create_supplier_order(jsonb_build_object('supplier_id', planned.supplier_id,
      'warehouse_id', planned.warehouse_id, 'currency_id', planned.currency_id, 'comment', note),
      planned.items);
    perform erp.warn_of_purchase(made[cardinality(made)], 'lines', planned.nths);
  end loop;
  return made;
end
$$;
comment on function erp.order_proposals(erp.reorder_line[], text) is
  'Makes open supplier orders of proposals, one for each supplier, warehouse and currency, in the order of '
  'the lines. Returns their ids. User errors REQUIRED and TOO_MANY_LINES, and user errors of '
  'erp.reorder_faults. '
  'Warnings PURCHASE_QUANTITY, MINIMUM_ORDER_VALUE.';
grant execute on function erp.order_proposals(erp.reorder_line[], text) to service_writer;
--! EndIncluded erp/order_proposals.sql

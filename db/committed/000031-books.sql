--! Previous: sha1:ae3bbf97b047e15fc65bbb9c46f338c5cb8ae76e
--! Hash: sha1:59f021b3be39f269671caedbad00b535b23a4bdb
--! Message: books

--! split: 5-warnings.sql
-- The proof compares what the other files make, so it comes back last.
drop view if exists ledger.proof;

-- Warnings: what a mutation tells although it was done. Enums of codes grow from here on without being dropped.
--! Included functions/api_meta/add_values.sql
create or replace function api_meta.add_values(enum regtype, variadic labels text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  label text;
begin
  foreach label in array labels loop
    execute format('alter type %s add value if not exists %L', enum, label);
  end loop;
end
$$;
comment on function api_meta.add_values(regtype, text[]) is
  'Adds the labels that an enum lacks, at its end. So codes come without anything being dropped that uses the enum.';
--! EndIncluded functions/api_meta/add_values.sql
--! Included functions/api/user_error.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION', 'NOT_EDITABLE',
  'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED', 'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING',
  'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE');
comment on type api_unstable.user_error_code is $$
@value REQUIRED Something is missing, or null where it must not be.
@value INVALID A value makes no sense here; the message says why.
@value NOT_FOUND An id leads to nothing.
@value NOT_UNIQUE Something else has this value already.
@value OUT_OF_RANGE A number, a moment or the length of a text is too small or too large.
@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that it allows.
@value NOT_EDITABLE The state, or where it comes from, does not allow changes.
@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is available and requested.
@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is expected and actual.
@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was ordered becomes a line without an order.
@value OVER_FULFILLMENT More would be fulfilled than is open.
@value BATCH_REQUIRED The units are kept in batches: a batch must be named.
@value BATCH_MISMATCH The batch is of another product.
@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.
@value REFERENCE_IN_USE Something that cannot do without it still refers to it.
@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.
@value EXTERNALLY_MANAGED Another system manages it; here it can only be read.
@value ON_HOLD It is on hold.
@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 hours.
@value TOO_MANY_LINES The input has more lines than are allowed at once.
@value URL_FORBIDDEN The address may not be called.
@value SCOPE_MISSING The access token lacks a scope that depends on the input.
@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is not.
@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details names the order or the receipt that is of another.
@value SUPPLIER_INACTIVE The shop orders nothing from the supplier any more. What was ordered before can still be received.
What kept a mutation from being done. A version never shows codes that it does not list: later ones appear as INVALID.$$;

do $$
begin
  if to_regtype('api_unstable.user_error') is null then
    create type api_unstable.user_error as (
      code api_unstable.user_error_code, message text, field text[], details jsonb
    );
  end if;
end
$$;
comment on type api_unstable.user_error is 'Why a mutation was refused. Nothing has been changed then.';
comment on column api_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_unstable.user_error.field is 'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no single part is.';
comment on column api_unstable.user_error.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/user_error.sql
--! Included functions/api/warning.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE');
comment on type api_unstable.warning_code is $$
@value OTHER Something that this version has no code for; the message says what.
@value COUNT_SUPERSEDED A count was kept and changes nothing, for there is a later one. Field details has its countedAt and quantity.
@value STOCK_PROMISED Units were booked out that orders are waiting for. Field details has the productId, what is reserved, and what is available now: less than nothing; and the warehouseId when only that warehouse is short.
@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold.
@value SURPLUS More comes in than the supplier order has open, or goes back than it received. When the receipt is completed, the rest becomes a line without an order. Field details has the quantity, the product, the order and then the line.
@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, what comes in of it becomes a line without an order. Field details is that of SURPLUS.
@value PRICE_CONVERTED Prices of a supplier order were taken in another currency, by the known rates. Field details names the order and both currencies.
@value DOCUMENT_INCOMPLETE A document was made that lacks something the law asks for. Field details names it in missing, for example merchant.vatId, and the documentNumber.
What a mutation tells although it was done. A version never shows codes that it does not list: later ones appear as OTHER.$$;

do $$
begin
  if to_regtype('api_unstable.warning') is null then
    create type api_unstable.warning as (code api_unstable.warning_code, message text, field text[], details jsonb);
  end if;
end
$$;
comment on type api_unstable.warning is 'What to look at, although the mutation was done.';
comment on column api_unstable.warning.code is E'@notNull\nWhat it is about, for programs.';
comment on column api_unstable.warning.message is E'@notNull\nWhat it is about, for people.';
comment on column api_unstable.warning.field is
  'Way to the part of the input that it is about, for example ["lines", "0", "quantity"]; null when that is no single part.';
comment on column api_unstable.warning.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/warning.sql
--! Included functions/mutation/warnings.sql
create or replace function mutation.warnings() returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
return coalesce(nullif(current_setting('service.warnings', true), ''), '[]')::jsonb;
comment on function mutation.warnings() is
  'The warnings of the running mutation, as mutation.warn noted them. They live as long as its transaction.';
grant execute on function mutation.warnings() to service_writer, service_ledger;

create or replace function mutation.warn(warnings jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(warnings) > 0 then
    perform set_config('service.warnings', (mutation.warnings() || warnings)::text, true);
  end if;
end
$$;
comment on function mutation.warn(jsonb) is
  'Notes an array of warnings of the running mutation, each as mutation.user_error makes one; does nothing when the array is empty or null. mutation.run answers them when the mutation is done. What is rolled back to a savepoint takes its warnings with it.';
grant execute on function mutation.warn(jsonb) to service_writer, service_ledger;

create or replace function mutation.warn(code text, message text, field text[] default null, details jsonb default null) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.warn(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.warn(text, text, text[], jsonb) is
  'Notes a warning of the running mutation: a code of api_unstable.warning_code, a sentence for people, the way to the input that it is about in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.warn(text, text, text[], jsonb) to service_writer, service_ledger;
--! EndIncluded functions/mutation/warnings.sql
comment on column mutation.idempotency_key.payload is
  'What the mutation answered: ids, not the things themselves; and its warnings.';

--! split: 10-following.sql
-- Whoever follows a list by its cursor sees each row exactly once, also rows whose transaction was open for long: rows
-- remember their transaction, and cursors what was open. Movements have numbers without gaps, too.
--! Included functions/erp/open_transactions.sql
create or replace function erp.open_transactions() returns text
-- Not in parallel: it makes a setting
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
  seen constant pg_snapshot := pg_current_snapshot();
  oldest constant bigint := pg_snapshot_xmin(seen)::text::bigint;
  beyond constant bigint := pg_snapshot_xmax(seen)::text::bigint;
  answered constant text := coalesce(current_setting('service.open_transactions', true), '');
  begun integer;
  answer text := '';
begin
  if split_part(answered, ' ', 1) = seen::text then
    return split_part(answered, ' ', 2);
  elsif answered <> '' or pg_current_xact_id_if_assigned() is not null then
    -- Postgres would not tell which transactions have begun since then, and rows would be lost.
    raise exception 'Pages of lists that are followed are read by one statement in a transaction of its own.'
      using errcode = 'invalid_transaction_state';
  end if;
  -- How many have begun whose numbers are larger than that of any that has ended. They are open, and no part of the snapshot.
  begun := age((pg_snapshot_xmax(seen))::xid);
  if oldest < beyond or begun > 0 then
    answer := '~' || oldest
      || coalesce((select string_agg('.' || x::text::bigint - oldest, '' order by x) from pg_snapshot_xip(seen) x), '')
      || case when begun > 0 then format('-%s.%s', beyond - oldest, begun) else '' end;
  end if;
  perform set_config('service.open_transactions', seen::text || ' ' || answer, true);
  return answer;
end
$$;
comment on function erp.open_transactions() is
  'The transactions that were open when the statement began to read, as they stand in cursors: empty when there are none; else ~, the number of the oldest, and, all relative to it, a number for each after a dot, then, after a hyphen, the first and the count of those that came last. Some of these may be parts of others. All databases count.';
grant execute on function erp.open_transactions() to service_api;
--! EndIncluded functions/erp/open_transactions.sql

-- Null in the rows that were there before. Nothing is rewritten.
alter table ledger.stock_movement add column if not exists transaction_id bigint;
comment on column ledger.stock_movement.transaction_id is
  'The transaction that booked it, which tells readers who saw what; null where that is long over.';
create index if not exists stock_movement_transaction_id_idx on ledger.stock_movement (transaction_id, id)
  where transaction_id is not null;
-- By the trigger, which takes the transaction first
alter table ledger.stock_movement alter column id drop default;
--! Included functions/ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest uuid;
begin
  -- History that is inserted lies where it says
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t) into new.created_at, new.microseconds from clock_timestamp() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id, new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id, new.source_special_stock_location_technical_name) <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger', table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: leave the id out, and ask for it by returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger', table = 'stock_movement';
  end if;
  -- First the number, then the id, and never the other way round: readers rely on it (docs/decisions.md, "Following").
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := uuidv7();
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m where m.id >= new.id order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an id now, too
      new.id := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets its transaction and its id, which is larger than that of every movement that was committed before the transaction. A constraint can''t ask for the places, for the id becomes null when the place is deleted.';
--! EndIncluded functions/ledger/require_movement_places.sql
--! Included functions/ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  errors jsonb;
  bins uuid[];
  booked uuid[];
  places uuid[];
  -- Not the time of the transaction: it may have waited for the locks.
  moment timestamptz;
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  bins := array(
    select d.source::uuid from unnest(drafts) d where d.source_type = 'bin_location'
    union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'bin_location'
  );
  perform ledger.lock(
    array(select d.product_id from unnest(drafts) d),
    array(
      select d.source::uuid from unnest(drafts) d where d.source_type = 'warehouse'
      union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'warehouse'
      union select b.warehouse_id from erp.bin_location b where b.id = any (bins)
    ),
    bins
  );
  perform ledger.check_variants(drafts);
  moment := clock_timestamp();

  select jsonb_agg(mutation.user_error('BATCH_REQUIRED', format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);

  -- What each place has now, and how it changes: all lines together, so that their order does not matter.
  with flow as (
    select d.product_id, d.source as place, d.batch_id, - d.quantity as change, d.ordinality as line
    from unnest(drafts) with ordinality d where d.source_type <> 'special_stock_location'
    union all
    select d.product_id, d.destination, d.batch_id, d.quantity, d.ordinality
    from unnest(drafts) with ordinality d where d.destination_type <> 'special_stock_location'
  ),
  place as (
    select f.*, coalesce(s.quantity, 0) as quantity,
      coalesce(s.quantity, 0) - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change, min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity, min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b join place p on p.product_id = b.product_id and p.place = b.place where p.quantity + p.change >= 0
    union all
    select p.loose_line, mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);

  -- Each id is larger than the one before it.
  with inserted as (
  insert into ledger.stock_movement (created_at, microseconds, product_id, quantity, process_type_technical_name, comment,
    source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
    source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
    destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id, destination_special_stock_location_technical_name)
  select date_trunc('second', moment), ledger.microseconds(moment),
    d.product_id, d.quantity, d.process, note,
    d.source_type,
    case d.source_type when 'warehouse' then d.source::uuid end, case d.source_type when 'bin_location' then d.source::uuid end,
    case d.source_type when 'order' then d.source::uuid end, case d.source_type when 'return_order' then d.source::uuid end,
    case d.source_type when 'goods_receipt' then d.source::uuid end, case d.source_type when 'stock_container' then d.source::uuid end,
    case d.source_type when 'special_stock_location' then d.source end,
    d.destination_type,
    case d.destination_type when 'warehouse' then d.destination::uuid end, case d.destination_type when 'bin_location' then d.destination::uuid end,
    case d.destination_type when 'order' then d.destination::uuid end, case d.destination_type when 'return_order' then d.destination::uuid end,
    case d.destination_type when 'goods_receipt' then d.destination::uuid end, case d.destination_type when 'stock_container' then d.destination::uuid end,
    case d.destination_type when 'special_stock_location' then d.destination end
  from unnest(drafts) with ordinality d order by d.ordinality
  returning id
  )
  select array_agg(i.id order by i.id) into booked from inserted i;

  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select booked[d.ordinality], d.batch_id, d.quantity from unnest(drafts) with ordinality d where d.batch_id is not null;

  places := array(
    select s.id from (
      select f.product_id, f.place, min(f.position) as position
      from (
        select d.product_id, d.source as place, d.source_type as type, d.ordinality * 2 as position from unnest(drafts) with ordinality d
        union all select d.product_id, d.destination, d.destination_type, d.ordinality * 2 + 1 from unnest(drafts) with ordinality d
      ) f where f.type <> 'special_stock_location' group by f.product_id, f.place
    ) t join ledger.stock s on s.product_id = t.product_id and s.place = t.place order by t.position
  );
  perform ledger.warn_of_promises(drafts);
  return row (booked, places)::ledger.booking;
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: the one way into the ledger. Its statements are planned once, and by index: estimates for a handful of lines are poor, and planning anew took a quarter of the time. Takes the locks, checks that no real place is left with less than nothing of a product or a batch, and inserts; triggers bring the figures up to date. Answers the movements in the order of the drafts, and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
--! EndIncluded functions/ledger/post.sql

create table if not exists ledger.movement_sequence (
  sequence bigint primary key,
  movement_id uuid not null constraint movement_sequence_is_one_per_movement unique
);
alter table ledger.movement_sequence enable row level security;
comment on table ledger.movement_sequence is
  'The numbers of movements, given after the commit, without gaps. That of a movement which went with its product stays, so that nothing can go unseen.';
comment on column ledger.movement_sequence.sequence is
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a moment, until it is given.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may be gone.';
--! Included functions/ledger/number_movements.sql
create or replace function ledger.number_movements(movement_ids uuid[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_number bigint;
  given bigint;
begin
  -- Whoever holds it is alone with the numbers.
  perform from events.log_head h for no key update;
  last_number := coalesce((select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0);
  if movement_ids is null then
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by m.id), m.id from ledger.stock_movement m
    where not exists (select from ledger.movement_sequence s where s.movement_id = m.id) order by m.id;
  else
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by n.ordinality), n.id from unnest(movement_ids) with ordinality n (id)
    where not exists (select from ledger.movement_sequence s where s.movement_id = n.id) order by n.ordinality;
  end if;
  get diagnostics given = row_count;
  return given;
end
$$;
comment on function ledger.number_movements(uuid[]) is
  'Gives committed movements their numbers, those that have none yet: the given ones, in that order, or, without any given, all, in the order of their ids, which is for what was written while triggers were switched off. The sequencer of events calls it for what has been committed. Answers how many it numbered.';
--! EndIncluded functions/ledger/number_movements.sql
grant usage on schema ledger to service_recorder;
select api_meta.allow('service_recorder', 'ledger.movement_sequence', 'select', 'insert');
select api_meta.allow('service_recorder', 'ledger.stock_movement', 'select');
select api_meta.give('ledger.number_movements(uuid[])', 'service_recorder');
--! Included functions/events/sequence_events.sql
create or replace function events.sequence_events(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Plans are kept while the tables grow: they must be good for large ones from the first call on
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
    insert into events.event (sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at)
    select n.sequence, events.event_id(n.sequence), n.topic, n.subject_id, n.entity_id, n.data, n.changed_fields, n.cause, n.occurred_at
    from numbered n order by n.sequence
    returning sequence, topic, subject_id
  )
  select count(*), array_agg(l.subject_id order by l.sequence) filter (where l.topic = 'stock_movement.created')
  into moved, movements from logged l;
  if moved > 0 then
    update events.log_head h set last_sequence = head + moved;
    perform events.fan_out(head, head + moved);
  end if;
  if movements is not null then
    perform ledger.number_movements(movements);
  end if;
  return moved;
end
$$;
comment on function events.sequence_events(integer) is
  'Moves what has been committed since the last time from the outbox into the log, as much as a batch, and makes deliveries of it. What becomes visible later gets a later number, so readers of the log miss nothing, and events of one entity keep their order. Movements of stock get their numbers here, too. One process at a time: answers null when another one is at it, else how many events it moved.';

create or replace function events.event_id(sequence bigint) returns uuid
language sql volatile
-- Version 8 of RFC 9562: 48 bits of our own first, the rest random
return overlay(overlay(gen_random_uuid()::text
  placing lpad(to_hex(sequence >> 16), 8, '0') || '-' || lpad(to_hex(sequence & 65535), 4, '0') from 1) placing '8' from 15)::uuid;
comment on function events.event_id(bigint) is 'A new id for the event with this number. Ids sort as the numbers do.';

create or replace function events.fan_out(after bigint, up_to bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Whoever changes subscriptions, deliveries and lanes locks them in this order, and subscriptions by their ids
  perform from events.webhook_subscription s
  where s.enabled and s.topic in (select e.topic from events.event e where e.sequence > after and e.sequence <= up_to)
  order by s.id for no key update;

  with made as (
    insert into events.delivery (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select s.id, e.sequence, e.id, e.entity_id,
      coalesce(lag(e.sequence) over (partition by s.id order by e.sequence), s.last_sequence)
    from events.event e join events.webhook_subscription s on s.topic = e.topic
    where e.sequence > after and e.sequence <= up_to and s.enabled and events.concerns(s.fields, e.changed_fields)
    order by e.sequence, s.id
    returning subscription_id, sequence, entity_id
  ), noted as (
    update events.webhook_subscription s set last_sequence = m.last_sequence, backlog_count = s.backlog_count + m.count
    from (select made.subscription_id, max(made.sequence) as last_sequence, count(*) as count from made group by made.subscription_id) m
    where s.id = m.subscription_id
  )
  insert into events.lane (subscription_id, entity_id, pending)
  select made.subscription_id, made.entity_id, count(*) from made
  group by made.subscription_id, made.entity_id order by made.subscription_id, made.entity_id
  on conflict (subscription_id, entity_id) do update set pending = lane.pending + excluded.pending;
end
$$;
comment on function events.fan_out(bigint, bigint) is 'Makes deliveries of new events of the log, one for each enabled subscription that they concern.';

create or replace function events.concerns(fields text[], changed_fields text[]) returns boolean
language sql immutable parallel safe
return fields is null or changed_fields is null or fields && changed_fields;
comment on function events.concerns(text[], text[]) is
  'Whether a subscription to changes of some fields wants an event. What is no update always concerns it.';
--! EndIncluded functions/events/sequence_events.sql
select ledger.number_movements();

drop view if exists api_unstable.stock_movements;
--! Included views/api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select m.id, m.created_at, m.product_id, m.quantity,
  m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id, m.source_order_id, m.source_return_order_id,
  m.source_goods_receipt_id, m.source_stock_container_id, m.source_special_stock_location_technical_name,
  m.destination_location_type_technical_name, m.destination_warehouse_id, m.destination_bin_location_id, m.destination_order_id,
  m.destination_return_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
  m.destination_special_stock_location_technical_name, m.process_type_technical_name, m.comment, s.sequence,
  m.transaction_id
from ledger.stock_movement m left join ledger.movement_sequence s on s.movement_id = m.id;
comment on view api_unstable.stock_movements is $$
@primaryKey id
@requiresScopes stocks:read
@followed transaction_id
@hidden transaction_id
@nullable sequence
@gid source_return_order_id ReturnOrder
@gid destination_return_order_id ReturnOrder
@gid source_stock_container_id StockContainer
@gid destination_stock_container_id StockContainer
@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,destination_special_stock_location_technical_name,source_location_type_technical_name,source_special_stock_location_technical_name,quantity,sequence
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName sourceWarehouse|@foreignFieldName sourceStockMovements
@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName destinationWarehouse|@foreignFieldName destinationStockMovements
@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName sourceBinLocation|@foreignFieldName sourceStockMovements
@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName destinationBinLocation|@foreignFieldName destinationStockMovements
@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder
@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder
@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName sourceGoodsReceipt|@foreignFieldName sourceStockMovements
@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName destinationGoodsReceipt|@foreignFieldName destinationStockMovements
A booking in the ledger of stock: a positive quantity that moved from one place to another. Movements are never changed; they go only with their product.$$;
--! EndIncluded views/api/stock_movements.sql

-- The promise holds in the frozen version, too, whose schema stays as it is: the column is hidden.
create or replace view api_2026_06_unstable.stock_movements with (security_invoker = true) as
select id, created_at, product_id, quantity,
  source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
  source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
  destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
  destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id,
  destination_special_stock_location_technical_name, process_type_technical_name, transaction_id
from ledger.stock_movement;
comment on column api_2026_06_unstable.stock_movements.transaction_id is '@behavior -*';
do $$
declare
  note constant text := obj_description('api_2026_06_unstable.stock_movements'::regclass, 'pg_class');
begin
  if note !~ '(?n)^@followed ' then
    execute format('comment on view api_2026_06_unstable.stock_movements is %L',
      regexp_replace(note, '@requiresScopes', E'@followed transaction_id\n@requiresScopes'));
  end if;
end
$$;

--! split: 20-counts.sql
-- Counts are kept, each with its moment; moments of movements are kept to the microsecond.

-- The second stays where it is. What it lacks is added beside it: a default needs no movement to be written anew,
-- and the index by product and second serves exact moments too.
alter table ledger.stock_movement add column if not exists microseconds integer not null default 0
  constraint stock_movement_microseconds_are_of_a_second check (microseconds between 0 and 999999);
comment on column ledger.stock_movement.microseconds is
  'What the exact moment of the booking has beyond created_at. 0 where only the second is known.';
-- A trigger gives the present moment, so that it can tell what was given
alter table ledger.stock_movement alter column created_at drop default;

create table if not exists ledger.stock_count (
  id bigint not null generated always as identity,
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  quantity integer not null,
  counted_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  difference integer default 0,
  stock_movement_id uuid references ledger.stock_movement on delete cascade,
  constraint stock_count_comes_after_earlier_ones primary key (stock_id, counted_at, id)
);
create index if not exists stock_count_batch_id_idx on ledger.stock_count (batch_id)
  where batch_id is not null;
create index if not exists stock_count_stock_movement_id_idx on ledger.stock_count (stock_movement_id)
  where stock_movement_id is not null;
alter table ledger.stock_count enable row level security;
comment on table ledger.stock_count is
  'Counts of stock. Of those of one stock, or of one batch of it, the latest moment stands, and of equal moments what was recorded last: the stock is its quantity and what moved after it (ledger.moved_since). A count of the stock as a whole stands for its batches, too. Rows are never changed. They begin with the migration that made the table: older counts left nothing but their corrections.';
comment on column ledger.stock_count.id is 'The order in which counts of a stock were recorded.';
comment on column ledger.stock_count.stock_id is
  'The product and the place that were counted. With the place its counts go.';
comment on column ledger.stock_count.batch_id is
  'The batch that was counted; null when all that lies there was.';
comment on column ledger.stock_count.quantity is
  'Units that were there. May be negative in rows that keep the books right after movements with an earlier moment were inserted.';
comment on column ledger.stock_count.counted_at is 'When they were there, to the microsecond.';
comment on column ledger.stock_count.recorded_at is 'When the count was recorded.';
comment on column ledger.stock_count.difference is
  'Units that the count brought into the books, negative when it took some out. Null when it was superseded: a later one was known already, of the same stock and batch or of all that lies there.';
comment on column ledger.stock_count.stock_movement_id is
  'The movement that did; null where the books were right.';

drop type if exists ledger.stock_reading cascade;
create type ledger.stock_reading as (
  line bigint, stock_id uuid, place_type text, place text, product_id uuid, batch_id uuid,
  quantity integer, counted_at timestamptz, moved bigint, present integer,
  newer_counted_at timestamptz, newer_quantity integer
);
comment on type ledger.stock_reading is
  'A line of stockSet: what was counted, what has moved since, what the books say at present, and a newer count if there is one; then moved is null.';

--! Included functions/ledger/microseconds.sql
create or replace function ledger.microseconds(moment timestamptz) returns integer
language sql stable parallel safe
return extract(microseconds from moment)::integer % 1000000;
comment on function ledger.microseconds(timestamptz) is
  'What a moment has beyond its second: see ledger.stock_movement.microseconds.';
--! EndIncluded functions/ledger/microseconds.sql
--! Included functions/ledger/is_count.sql
create or replace function ledger.is_count(process text, source_special text, destination_special text)
returns boolean
language sql immutable parallel safe
return coalesce(process in ('api', 'stocktaking')
  and (source_special = 'stock_correction' or destination_special = 'stock_correction'), false);
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between special places of these names if any, corrects the books after a count. Then nothing moved.';
--! EndIncluded functions/ledger/is_count.sql
--! Included functions/ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest uuid;
begin
  -- History that is inserted lies where it says
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t) into new.created_at, new.microseconds from clock_timestamp() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id, new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id, new.source_special_stock_location_technical_name) <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger', table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: leave the id out, and ask for it by returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger', table = 'stock_movement';
  end if;
  -- First the number, then the id, and never the other way round: readers rely on it (docs/decisions.md, "Following").
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := uuidv7();
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m where m.id >= new.id order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an id now, too
      new.id := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets its transaction and its id, which is larger than that of every movement that was committed before the transaction. A constraint can''t ask for the places, for the id becomes null when the place is deleted.';
--! EndIncluded functions/ledger/require_movement_places.sql
--! Included views/flow.sql
-- A movement seen from its two ends: what came to one place, and what left another.
create or replace view ledger.flow with (security_invoker = true) as
select m.id as movement_id, m.product_id, m.created_at, m.process_type_technical_name, m.destination_location_type_technical_name as location_type_technical_name,
  m.destination_warehouse_id as warehouse_id, m.destination_bin_location_id as bin_location_id, m.destination_order_id as order_id,
  m.destination_return_order_id as return_order_id, m.destination_goods_receipt_id as goods_receipt_id,
  m.destination_stock_container_id as stock_container_id,
  m.destination_special_stock_location_technical_name as special_stock_location_technical_name,
  coalesce(m.destination_warehouse_id::text, m.destination_bin_location_id::text, m.destination_order_id::text,
    m.destination_return_order_id::text, m.destination_goods_receipt_id::text, m.destination_stock_container_id::text,
    m.destination_special_stock_location_technical_name) as place,
  m.quantity, 1 as direction,
  m.created_at + m.microseconds * interval '1 microsecond' as booked_at,
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name) as is_count
from ledger.stock_movement m
union all
select m.id, m.product_id, m.created_at, m.process_type_technical_name, m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id,
  m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id, m.source_stock_container_id,
  m.source_special_stock_location_technical_name,
  coalesce(m.source_warehouse_id::text, m.source_bin_location_id::text, m.source_order_id::text, m.source_return_order_id::text,
    m.source_goods_receipt_id::text, m.source_stock_container_id::text, m.source_special_stock_location_technical_name),
  - m.quantity, -1,
  m.created_at + m.microseconds * interval '1 microsecond',
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name)
from ledger.stock_movement m;
comment on view ledger.flow is
  'Each movement twice: as what came to its destination, and, negative, as what left its source. place is the key of ledger.stock, null once the place was deleted; direction is 1 or -1; booked_at is the exact moment, of which created_at is the second; is_count tells corrections after counts from goods that moved. No joins here: with one, Postgres could not look up single movements in it by index.';
--! EndIncluded views/flow.sql
--! Included functions/ledger/quantity_at.sql
create or replace function ledger.quantity_at(product_id uuid, place text, batch_id uuid default null) returns integer
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(case when quantity_at.batch_id is null
    then (select s.quantity from ledger.stock s where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
    else (select b.quantity from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = quantity_at.batch_id
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
  end, 0);
end;
comment on function ledger.quantity_at(uuid, text, uuid) is 'Units of a product, or of one batch of it, in a place (see ledger.stock.place).';

create or replace function ledger.moved_since(product_id uuid, place text, batch_id uuid, moment timestamptz)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select (
    select coalesce(sum(
      case when moved_since.batch_id is null then f.quantity else f.direction * b.quantity end), 0)
    from ledger.flow f
    left join ledger.stock_movement_batch b
      on b.stock_movement_id = f.movement_id and b.batch_id = moved_since.batch_id
    where f.product_id = moved_since.product_id and f.place = moved_since.place and not f.is_count
      -- The second is what the index knows
      and f.created_at >= date_trunc('second', moved_since.moment) and f.booked_at > moved_since.moment
  ) + (
    select coalesce(sum(c.difference), 0) from ledger.stock s join ledger.stock_count c on c.stock_id = s.id
    where s.product_id = moved_since.product_id and s.place = moved_since.place
      and c.counted_at > moved_since.moment and c.batch_id is not null
      and moved_since.batch_id is null
  );
end;
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Units of a product, or of one batch of it, that came to a place after a moment, to the microsecond, less those that left it. What counts have corrected did not move; but for the place as a whole, what later counts of single batches have changed counts too.';
--! EndIncluded functions/ledger/quantity_at.sql
--! Included functions/ledger/stock_counts.sql
create or replace function ledger.counted_quantity(stock_id uuid, batch_id uuid, moment timestamptz)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.quantity_at(s.product_id, s.place, counted_quantity.batch_id)
    - ledger.moved_since(s.product_id, s.place, counted_quantity.batch_id, counted_quantity.moment)
  from ledger.stock s where s.id = counted_quantity.stock_id;
end;
comment on function ledger.counted_quantity(uuid, uuid, timestamptz) is
  'What a count at a moment must have said, of stock or of one batch of it, for the books to be as they are.';

create or replace function ledger.carry_counts(stock_ids uuid[], batch_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock_count (stock_id, batch_id, quantity, counted_at)
  select s.id, carry_counts.batch_id,
    ledger.counted_quantity(s.id, carry_counts.batch_id, c.counted_at), c.counted_at
  from ledger.stock s
  cross join lateral (
    select c.counted_at from ledger.stock_count c
    where c.stock_id = s.id and c.batch_id is not distinct from carry_counts.batch_id
      and c.difference is not null
    order by c.counted_at desc, c.id desc limit 1
  ) c
  where s.id = any (carry_counts.stock_ids);
end;
comment on function ledger.carry_counts(uuid[], uuid) is
  'Counts stock, or one batch of it, once more at the moment of its latest count, so that the books are right as they are: for movements that are inserted with an earlier moment, which the count cannot have known.';

create or replace function ledger.keep_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off as $$
declare
  place record;
begin
  -- Those of ledger.set_stock are there already, and so are those that came through here twice
  if exists (select from ledger.stock_count c where c.stock_movement_id = new.id) then
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
  'Trigger at the end of a transaction, when batches are known: a correction by a count that is inserted by hand, or by other programs, is a count of its moment; or of that of the latest one, if that is later, for the stock has changed on top of it.';
--! EndIncluded functions/ledger/stock_counts.sql
--! Included functions/ledger/keep_figures.sql
create or replace function ledger.open_stock(movement_ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id, order_id, return_order_id,
    goods_receipt_id, stock_container_id, special_stock_location_technical_name)
  select f.product_id, f.location_type_technical_name, f.warehouse_id, f.bin_location_id, f.order_id, f.return_order_id,
    f.goods_receipt_id, f.stock_container_id, f.special_stock_location_technical_name
  from ledger.flow f where f.movement_id = any (movement_ids)
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by min(f.movement_id::text), min(f.direction)
  on conflict (product_id, place) do nothing;
end;
comment on function ledger.open_stock(uuid[]) is 'Makes the rows of stock, at 0, that movements change and that are not there yet.';

create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  -- Stock that was counted, as is known already, after the moment of what is booked now
  counted uuid[];
begin
  -- A posting function has these locks already; what is inserted by hand gets them here.
  perform ledger.lock(array(select product_id from booked));

  perform ledger.open_stock(array(select id from booked));

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct f.product_id, coalesce(f.warehouse_id, b.warehouse_id)
  from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
  where f.location_type_technical_name in ('warehouse', 'bin_location') order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;

  with flow as materialized (
    select f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id) as warehouse_id,
      sum(f.quantity) as change, min(f.booked_at) filter (where not f.is_count) as moved_at
    from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
    group by f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id)
    having sum(f.quantity) <> 0 or min(f.booked_at) < max(f.booked_at)
  ),
  held as materialized (
    select f.product_id, f.warehouse_id, sum(f.change) as change
    from flow f where f.warehouse_id is not null group by f.product_id, f.warehouse_id having sum(f.change) <> 0
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + f.change
    from flow f where s.product_id = f.product_id and s.place = f.place
    returning s.id, f.moved_at
  ),
  in_configured_place as (
    update erp.product_stock_location_configuration c set stock = c.stock + f.change
    from flow f where c.product_id = f.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = f.place
  ),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change
    from held h where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
  ),
  in_configured_warehouse as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change
    from held h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale
    from (
      select held.product_id, sum(held.change) as change,
        coalesce(sum(held.change) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
      from held join erp.warehouse w on w.id = held.warehouse_id group by held.product_id
    ) h where p.id = h.product_id
  )
  select array_agg(p.id) into counted from in_place p
  where exists (
    select from ledger.stock_count c where c.stock_id = p.id and c.counted_at >= p.moved_at
      and c.batch_id is null and c.difference is not null);
  if counted is not null then
    perform ledger.carry_counts(counted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted, whoever did: brings stock, warehouse stock, the figures of products and of their configurations up to date in the same statement.';

create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  counted record;
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(select m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  insert into ledger.batch_stock (stock_id, batch_id)
  select distinct s.id, m.batch_id
  from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
  on conflict (stock_id, batch_id) do nothing;

  with flow as materialized (
    select s.id as stock_id, m.batch_id, sum(m.quantity * f.direction) as change,
      coalesce(sum(m.quantity * f.direction) filter (where f.location_type_technical_name in ('warehouse', 'bin_location')), 0) as held
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where f.location_type_technical_name <> 'special_stock_location'
    group by s.id, m.batch_id
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id
  )
  update erp.batch b set physical_stock = b.physical_stock + f.held
  from (select flow.batch_id, sum(flow.held) as held from flow group by flow.batch_id having sum(flow.held) <> 0) f where b.id = f.batch_id;

  for counted in
    select m.batch_id, array_agg(distinct s.id) as stock_ids
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id and not f.is_count
    join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where exists (
      select from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at >= f.booked_at
        and c.batch_id = m.batch_id and c.difference is not null)
    group by m.batch_id
  loop
    perform ledger.carry_counts(counted.stock_ids, counted.batch_id);
  end loop;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted: brings the stock of batches up to date, in each place and altogether.';
--! EndIncluded functions/ledger/keep_figures.sql
--! Included functions/ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  errors jsonb;
  bins uuid[];
  booked uuid[];
  places uuid[];
  -- Not the time of the transaction: it may have waited for the locks.
  moment timestamptz;
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  bins := array(
    select d.source::uuid from unnest(drafts) d where d.source_type = 'bin_location'
    union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'bin_location'
  );
  perform ledger.lock(
    array(select d.product_id from unnest(drafts) d),
    array(
      select d.source::uuid from unnest(drafts) d where d.source_type = 'warehouse'
      union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'warehouse'
      union select b.warehouse_id from erp.bin_location b where b.id = any (bins)
    ),
    bins
  );
  perform ledger.check_variants(drafts);
  moment := clock_timestamp();

  select jsonb_agg(mutation.user_error('BATCH_REQUIRED', format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);

  -- What each place has now, and how it changes: all lines together, so that their order does not matter.
  with flow as (
    select d.product_id, d.source as place, d.batch_id, - d.quantity as change, d.ordinality as line
    from unnest(drafts) with ordinality d where d.source_type <> 'special_stock_location'
    union all
    select d.product_id, d.destination, d.batch_id, d.quantity, d.ordinality
    from unnest(drafts) with ordinality d where d.destination_type <> 'special_stock_location'
  ),
  place as (
    select f.*, coalesce(s.quantity, 0) as quantity,
      coalesce(s.quantity, 0) - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change, min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity, min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b join place p on p.product_id = b.product_id and p.place = b.place where p.quantity + p.change >= 0
    union all
    select p.loose_line, mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);

  -- Each id is larger than the one before it.
  with inserted as (
  insert into ledger.stock_movement (created_at, microseconds, product_id, quantity, process_type_technical_name, comment,
    source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
    source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
    destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id, destination_special_stock_location_technical_name)
  select date_trunc('second', moment), ledger.microseconds(moment),
    d.product_id, d.quantity, d.process, note,
    d.source_type,
    case d.source_type when 'warehouse' then d.source::uuid end, case d.source_type when 'bin_location' then d.source::uuid end,
    case d.source_type when 'order' then d.source::uuid end, case d.source_type when 'return_order' then d.source::uuid end,
    case d.source_type when 'goods_receipt' then d.source::uuid end, case d.source_type when 'stock_container' then d.source::uuid end,
    case d.source_type when 'special_stock_location' then d.source end,
    d.destination_type,
    case d.destination_type when 'warehouse' then d.destination::uuid end, case d.destination_type when 'bin_location' then d.destination::uuid end,
    case d.destination_type when 'order' then d.destination::uuid end, case d.destination_type when 'return_order' then d.destination::uuid end,
    case d.destination_type when 'goods_receipt' then d.destination::uuid end, case d.destination_type when 'stock_container' then d.destination::uuid end,
    case d.destination_type when 'special_stock_location' then d.destination end
  from unnest(drafts) with ordinality d order by d.ordinality
  returning id
  )
  select array_agg(i.id order by i.id) into booked from inserted i;

  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select booked[d.ordinality], d.batch_id, d.quantity from unnest(drafts) with ordinality d where d.batch_id is not null;

  places := array(
    select s.id from (
      select f.product_id, f.place, min(f.position) as position
      from (
        select d.product_id, d.source as place, d.source_type as type, d.ordinality * 2 as position from unnest(drafts) with ordinality d
        union all select d.product_id, d.destination, d.destination_type, d.ordinality * 2 + 1 from unnest(drafts) with ordinality d
      ) f where f.type <> 'special_stock_location' group by f.product_id, f.place
    ) t join ledger.stock s on s.product_id = t.product_id and s.place = t.place order by t.position
  );
  perform ledger.warn_of_promises(drafts);
  return row (booked, places)::ledger.booking;
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: the one way into the ledger. Its statements are planned once, and by index: estimates for a handful of lines are poor, and planning anew took a quarter of the time. Takes the locks, checks that no real place is left with less than nothing of a product or a batch, and inserts; triggers bring the figures up to date. Answers the movements in the order of the drafts, and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
--! EndIncluded functions/ledger/post.sql
--! Included functions/ledger/set_stock.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all that has been booked of these products, for they are locked
  moment constant timestamptz := clock_timestamp();
begin
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id)
  select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
  from unnest(lines) with ordinality l
  cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
  group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
  order by min(l.ordinality)
  on conflict (product_id, place) do nothing;

  return array(
    select row (l.ordinality, s.id, p.type, p.place, l.product_id, l.batch_id, l.quantity,
      case when l.counted_at is null then greatest(moment, newer.counted_at) else l.counted_at end,
      case when l.counted_at is null then 0
        when newer.counted_at is null
          then ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end,
      ledger.quantity_at(l.product_id, p.place, l.batch_id),
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
  'What lines of stockSet say, beside what the books do. The products are locked. Stock that is counted for the first time has a row from now on, be it of 0 units.';

create or replace function ledger.note_counts(readings ledger.stock_reading[], movement_ids uuid[])
returns void language sql set search_path = pg_catalog, pg_temp
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
    -- The same count once more
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
  'Keeps counts, those that came too late as well, beside the movements that corrected the books, which are given in the order of the counts. Products that are kept in batches are counted by batch; their sum alone is compared, not kept.';

create or replace function ledger.set_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  booking ledger.booking;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    array['lines', (r.line - 1)::text, 'quantity'],
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  booking := ledger.post(array(
    select case when d.difference > 0
      then row (d.field, r.product_id, d.difference, r.batch_id,
        'special_stock_location', 'stock_correction', r.place_type, r.place, 'api')::ledger.draft
      else row (d.field, r.product_id, - d.difference, r.batch_id,
        r.place_type, r.place, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    end
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, array['lines', (r.line - 1)::text, 'quantity']
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  ), note);
  perform ledger.note_counts(readings, booking.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since. This count was kept, and changes nothing.',
    array['lines', (r.line - 1)::text, 'counted_at'],
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- Stock that was right already belongs to the answer too
  booking.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booking;
end
$$;
comment on function ledger.set_stock(ledger.line[], text) is
  'Sets stock to what was counted: books the difference against stock_correction. With counted_at, what was booked after that moment stays on top of the count; a count that is older than one that is known changes nothing, and is told by the warning COUNT_SUPERSEDED.';
--! EndIncluded functions/ledger/set_stock.sql

-- Figures are kept by triggers of this name; this one is last
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (ledger.is_count(new.process_type_technical_name, new.source_special_stock_location_technical_name,
    new.destination_special_stock_location_technical_name))
  execute function ledger.keep_count();

select api_meta.allow('service_ledger', 'ledger.stock_count', 'select', 'insert');
select api_meta.give('ledger.keep_count()', 'service_ledger');
grant execute on function ledger.microseconds(timestamptz), ledger.counted_quantity(uuid, uuid, timestamptz),
  ledger.carry_counts(uuid[], uuid), ledger.read_counts(ledger.line[]),
  ledger.note_counts(ledger.stock_reading[], uuid[]) to service_ledger;
-- Workflows read the flow
grant execute on function ledger.is_count(text, text, text) to service_ledger, service_writer;

--! split: 30-calls.sql
-- What a key stands for, and what a mutation is asked for.
--! Included functions/mutation/user_errors.sql
create or replace function mutation.user_error(code text, message text, field text[] default null, details jsonb default null) returns jsonb
language sql immutable parallel safe
return pg_catalog.jsonb_build_object('code', code, 'message', message, 'field', pg_catalog.to_jsonb(field), 'details', details);
comment on function mutation.user_error(text, text, text[], jsonb) is
  'One user error: a code of api_unstable.user_error_code, a sentence for people, the way to the input at fault in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.user_error(text, text, text[], jsonb) to service_writer, service_ledger;

create or replace function mutation.refuse(errors jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(errors) > 0 then
    raise exception using errcode = 'UE001', message = errors -> 0 ->> 'message', detail = errors::text;
  end if;
end
$$;
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; goes on when the array is empty or null. SQLSTATE UE001, the detail is the array.';
grant execute on function mutation.refuse(jsonb) to service_writer, service_ledger;

create or replace function mutation.refuse(code text, message text, field text[] default null, details jsonb default null) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.refuse(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.refuse(text, text, text[], jsonb) is 'Ends the mutation with one user error.';
grant execute on function mutation.refuse(text, text, text[], jsonb) to service_writer, service_ledger;

create or replace function mutation.violation(constraint_schema name, constraint_table name, constraint_name name) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (note) as (
    select obj_description(c.oid, 'pg_constraint') from pg_constraint c
    where c.conname = constraint_name and c.conrelid = to_regclass(format('%I.%I', constraint_schema, constraint_table))
    union all
    select obj_description(to_regclass(format('%I.%I', constraint_schema, constraint_name)), 'pg_class')
  )
  select mutation.user_error(m[1], m[3], string_to_array(nullif(m[2], ''), ','))
  from found cross join lateral regexp_match(found.note, '^@userError +([A-Z_]+) *([a-z_,]*)\s+(.*)$') m
  where m is not null limit 1;
end;
comment on function mutation.violation(name, name, name) is
  'The user error that a violated constraint means, from the constraint''s comment: @userError CODE column, and on the next line a sentence for people. Null when the comment says nothing: then the violation is a fault of ours.';
grant execute on function mutation.violation(name, name, name) to service_writer;

create or replace function mutation.broken_rule(
  state text, input jsonb, violated_schema name, violated_table name, violated_column name, violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
begin
  error := case
    -- The caller gave null for what must not be null
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key says: on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, jsonb, name, name, name, name) is
  'The user errors that the violation of a constraint means, by its SQLSTATE and the constraint; null when it is a fault of ours.';
grant execute on function mutation.broken_rule(text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded functions/mutation/user_errors.sql
--! Included functions/mutation/digest.sql
create or replace function mutation.digest(operation name, input_type regtype, input jsonb, takes_changes boolean)
returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
  decoded jsonb;
  emptied jsonb;
begin
  -- Ids and moments have one spelling each when they come out of a column of their type
  execute format('select jsonb_strip_nulls(to_jsonb(jsonb_populate_record(null::%s, $1)))', input_type)
    into decoded using input;
  if takes_changes then
    select jsonb_agg(f.key order by f.key collate "C") into emptied from jsonb_each(input) f where f.value = 'null';
  end if;
  return sha256(convert_to(concat_ws(' ', operation, decoded, emptied), 'UTF8'));
end
$$;
comment on function mutation.digest(name, regtype, jsonb, boolean) is
  'What an idempotency key stands for: SHA-256 of the name of a mutation and of what its input means. Equal moments are equal however they are spelled; null is the same as left out, save in the fields of a mutation that takes changes, which null empties. The version has no part in it, nor have fields that a later one adds and a caller leaves out.';
grant execute on function mutation.digest(name, regtype, jsonb, boolean) to service_writer;
--! EndIncluded functions/mutation/digest.sql
--! Included functions/mutation/run.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out payload_type regtype, out takes_changes boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select p.oid::regproc, p.proargtypes[0]::regtype, p.prorettype::regtype, p.pronargs > 1,
    regexp_split_to_array(substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +')
  into routine, input_type, payload_type, takes_changes, scopes
  from pg_proc p
  where p.pronamespace = to_regnamespace(quote_ident(version)) and p.proname = operation
    and version ~ '^api_(unstable|\d)';
  if scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(scopes, ' or ')
      using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function mutation.find(name, name) is
  'The function of a mutation, its types, and whether it takes changes. Fails when there is none of that name, or the caller lacks its scope, which the tag @requiresScopes of its comment names.';
grant execute on function mutation.find(name, name) to service_writer;

create or replace function mutation.caller() returns uuid
language sql stable set search_path = pg_catalog, pg_temp
return coalesce(nullif(current_setting('service.credential_id', true), ''),
  '00000000-0000-0000-0000-000000000000')::uuid;
comment on function mutation.caller() is
  'The credential of the request, to which idempotency keys belong; the nil uuid when there is none.';
grant execute on function mutation.caller() to service_writer;

create or replace function mutation.key_lifetime() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '24 hours';
comment on function mutation.key_lifetime() is 'How long an idempotency key stands for the mutation that had it.';
grant execute on function mutation.key_lifetime() to service_writer;

create or replace function mutation.take_key(idempotency_key text, digest bytea, earlier_digest bytea)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier record;
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse('OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}');
  end if;
  -- Whoever comes with the same key at the same time waits here until the first has committed or failed.
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
  'Takes a key for the running mutation. Null when it was free; otherwise what the mutation answered that had it before. A key that is taken by another request is refused: IDEMPOTENCY_KEY_MISMATCH. The second digest is that of keys from before mutation.digest was.';
grant execute on function mutation.take_key(text, bytea, bytea) to service_writer;

create or replace function mutation.keep_answer(idempotency_key text, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update mutation.idempotency_key k set payload = answer
  where k.credential_id = mutation.caller() and k.key = idempotency_key;
  -- Old keys go a few at a time, so that no call pays for many.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.keep_answer(text, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, and removes a few keys that are too old.';
grant execute on function mutation.keep_answer(text, jsonb) to service_writer;

create or replace function mutation.refuse_nulls(input_type regtype, input jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if input @? '$.* ? (@ == null)' then
    select jsonb_agg(mutation.user_error('REQUIRED', 'Null is not an answer here: say it, or leave it out.', array[f.key])
      order by f.key)
    into errors
    from jsonb_each(input) f
    where f.value = 'null' and (f.key = 'validate_only' or exists (
      select from pg_type t join pg_attribute a on a.attrelid = t.typrelid
      where t.oid = input_type and a.attname = f.key and col_description(a.attrelid, a.attnum) ~ '(?n)^@neverNull$'));
    perform mutation.refuse(errors);
  end if;
end
$$;
comment on function mutation.refuse_nulls(regtype, jsonb) is
  'Refuses nulls in fields that hold something back when they are given, validate_only and columns with the tag @neverNull: a null there would pass for their default, and do what was perhaps to be held back. User error REQUIRED.';
grant execute on function mutation.refuse_nulls(regtype, jsonb) to service_writer;

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
  -- The first fence stands before GraphQL, and may not have heard yet
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
    -- Events say what caused them
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true);
    perform set_config('service.warnings', '', true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;
    -- A variable keeps what the end of validate_only undoes
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
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s comment. Answers {payload, userErrors, warnings}; with user errors nothing has been changed, and there are no warnings. A key makes a repetition within 24 hours answer the first payload and its warnings again. With validate_only everything is undone, and the payload is null. Other errors are raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';

create or replace function mutation.secrets_of(payload_type oid) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select a.attname::text from pg_type t
    join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    where t.oid = payload_type and col_description(a.attrelid, a.attnum) ~ '(?n)^@secret$');
end;
comment on function mutation.secrets_of(oid) is
  'The columns of a payload with the tag @secret. They are shown once: not when a mutation is repeated, so they are not stored.';
grant execute on function mutation.secrets_of(oid) to service_writer;
--! EndIncluded functions/mutation/run.sql
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of what its input means, by mutation.digest.';

-- What is said about bookings: of products that only stand for variants, and of units that orders wait for.
--! Included functions/erp/has_variants.sql
create or replace function erp.has_variants(product_id uuid) returns boolean
language sql stable parallel safe
return exists (select from erp.product v where v.parent_id = has_variants.product_id);
comment on function erp.has_variants(uuid) is
  'Whether a product only stands for its variants: some product has it as parent. Nothing new of it is taken into stock.';
grant execute on function erp.has_variants(uuid) to service_writer, service_ledger;

create or replace function erp.those_with_variants(product_ids uuid[]) returns uuid[]
language sql stable parallel safe
return array(select distinct v.parent_id from erp.product v where v.parent_id = any (product_ids));
comment on function erp.those_with_variants(uuid[]) is
  'Those of the products that only stand for their variants, as erp.has_variants says; found by one look at the index.';
grant execute on function erp.those_with_variants(uuid[]) to service_writer, service_ledger;
--! EndIncluded functions/erp/has_variants.sql
--! Included functions/ledger/check_variants.sql
create or replace function ledger.check_variants(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parents uuid[];
  errors jsonb;
  warnings jsonb;
begin
  parents := erp.those_with_variants(array(
    select d.product_id from unnest(drafts) d where d.destination_type in ('warehouse', 'bin_location')));
  if parents = '{}' then
    return;
  end if;

  with concerned as (
    select d.ordinality, d.field, p.product_number,
      d.source_type = 'special_stock_location' and d.process in ('api', 'api_incoming') as is_refused
    from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
    where d.destination_type in ('warehouse', 'bin_location') and d.product_id = any (parents)
  )
  select
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: book one of them.', c.product_number),
      trim_array(c.field, 1) || '{product_id}') order by c.ordinality) filter (where c.is_refused),
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: its stock cannot be sold.', c.product_number),
      c.field) order by c.ordinality)
  into errors, warnings
  from concerned c;
  perform mutation.refuse(errors);
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.check_variants(ledger.draft[]) is
  'Looks for drafts that bring products into a place which only stand for their variants. What counts and corrections would add is refused: user error PRODUCT_HAS_VARIANTS. What has arrived, comes back or is moved is booked, with a warning of that name: it lies there, and old stock must be movable.';
grant execute on function ledger.check_variants(ledger.draft[]) to service_ledger;
--! EndIncluded functions/ledger/check_variants.sql
--! Included functions/ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- What leaves by shipping was promised, and is taken off the promises with it
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- The figures are those after the booking. Mostly nothing is below 0, and that is all there is to do.
  suspects := array(
    select distinct d.product_id from unnest(drafts) d join erp.product p on p.id = d.product_id
    where d.source_type in ('warehouse', 'bin_location') and d.process <> shipping
      and (p.available_stock < 0 or exists (
        select from ledger.warehouse_stock s
        where s.product_id = d.product_id and s.available_quantity < 0)));
  if suspects = '{}' then
    return;
  end if;

  with leg (product_id, place_type, place, change, line, field) as (
    select d.product_id, d.source_type, d.source, - d.quantity, d.ordinality, d.field
    from unnest(drafts) with ordinality d where d.product_id = any (suspects)
    union all
    select d.product_id, d.destination_type, d.destination, d.quantity, d.ordinality, null
    from unnest(drafts) with ordinality d where d.product_id = any (suspects)
  ),
  change as (
    select leg.product_id, w.id as warehouse_id, w.code, w.is_stock_available_for_sale as is_for_sale,
      sum(leg.change) as units, min(leg.line) filter (where leg.change < 0) as line
    from leg
    left join erp.bin_location b on b.id = case leg.place_type when 'bin_location' then leg.place::uuid end
    join erp.warehouse w
      on w.id = case leg.place_type when 'warehouse' then leg.place::uuid else b.warehouse_id end
    group by leg.product_id, w.id
  ),
  short (product_id, warehouse_id, code, available, reserved, line) as (
    select p.id, null, null, p.available_stock, p.reserved_stock, c.line
    from (
      select change.product_id, min(change.line) as line from change
      group by change.product_id having sum(change.units) filter (where change.is_for_sale) < 0
    ) c join erp.product p on p.id = c.product_id where p.available_stock < 0 and p.reserved_stock > 0
    union all
    select c.product_id, c.warehouse_id, c.code, s.available_quantity, s.reserved_quantity, c.line
    from change c join ledger.warehouse_stock s on s.product_id = c.product_id and s.warehouse_id = c.warehouse_id
    where c.units < 0 and s.available_quantity < 0 and s.reserved_quantity > 0
  )
  select jsonb_agg(mutation.user_error('STOCK_PROMISED',
    format('Orders wait for %s units of product %s%s; %s of them are lacking now.',
      s.reserved, p.product_number, ' from warehouse ' || s.code, - s.available),
    drafts[s.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'productId', 'gid://service/Product/' || s.product_id,
      'warehouseId', 'gid://service/Warehouse/' || s.warehouse_id,
      'reserved', s.reserved, 'available', s.available)))
    order by s.line, s.code)
  into warnings
  from (
    -- One warning for each product: that all of it is short says more than where
    select short.*, bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns of movements, which have been booked, that took away what orders are waiting for: the available stock of the product, or of a warehouse, is below 0 and lower than before. Warning STOCK_PROMISED, one for the product, or one for each warehouse that is short while the product is not.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded functions/ledger/warn_of_promises.sql
--! Included functions/ledger/post.sql
create or replace function ledger.post(drafts ledger.draft[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  errors jsonb;
  bins uuid[];
  booked uuid[];
  places uuid[];
  -- Not the time of the transaction: it may have waited for the locks.
  moment timestamptz;
begin
  if cardinality(drafts) = 0 then
    return row ('{}', '{}')::ledger.booking;
  end if;
  bins := array(
    select d.source::uuid from unnest(drafts) d where d.source_type = 'bin_location'
    union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'bin_location'
  );
  perform ledger.lock(
    array(select d.product_id from unnest(drafts) d),
    array(
      select d.source::uuid from unnest(drafts) d where d.source_type = 'warehouse'
      union select d.destination::uuid from unnest(drafts) d where d.destination_type = 'warehouse'
      union select b.warehouse_id from erp.bin_location b where b.id = any (bins)
    ),
    bins
  );
  perform ledger.check_variants(drafts);
  moment := clock_timestamp();

  select jsonb_agg(mutation.user_error('BATCH_REQUIRED', format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);

  -- What each place has now, and how it changes: all lines together, so that their order does not matter.
  with flow as (
    select d.product_id, d.source as place, d.batch_id, - d.quantity as change, d.ordinality as line
    from unnest(drafts) with ordinality d where d.source_type <> 'special_stock_location'
    union all
    select d.product_id, d.destination, d.batch_id, d.quantity, d.ordinality
    from unnest(drafts) with ordinality d where d.destination_type <> 'special_stock_location'
  ),
  place as (
    select f.*, coalesce(s.quantity, 0) as quantity,
      coalesce(s.quantity, 0) - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change, min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity, min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line, mutation.user_error('INSUFFICIENT_STOCK', format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b join place p on p.product_id = b.product_id and p.place = b.place where p.quantity + p.change >= 0
    union all
    select p.loose_line, mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);

  -- Each id is larger than the one before it.
  with inserted as (
  insert into ledger.stock_movement (created_at, microseconds, product_id, quantity, process_type_technical_name, comment,
    source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
    source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
    destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
    destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id, destination_special_stock_location_technical_name)
  select date_trunc('second', moment), ledger.microseconds(moment),
    d.product_id, d.quantity, d.process, note,
    d.source_type,
    case d.source_type when 'warehouse' then d.source::uuid end, case d.source_type when 'bin_location' then d.source::uuid end,
    case d.source_type when 'order' then d.source::uuid end, case d.source_type when 'return_order' then d.source::uuid end,
    case d.source_type when 'goods_receipt' then d.source::uuid end, case d.source_type when 'stock_container' then d.source::uuid end,
    case d.source_type when 'special_stock_location' then d.source end,
    d.destination_type,
    case d.destination_type when 'warehouse' then d.destination::uuid end, case d.destination_type when 'bin_location' then d.destination::uuid end,
    case d.destination_type when 'order' then d.destination::uuid end, case d.destination_type when 'return_order' then d.destination::uuid end,
    case d.destination_type when 'goods_receipt' then d.destination::uuid end, case d.destination_type when 'stock_container' then d.destination::uuid end,
    case d.destination_type when 'special_stock_location' then d.destination end
  from unnest(drafts) with ordinality d order by d.ordinality
  returning id
  )
  select array_agg(i.id order by i.id) into booked from inserted i;

  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select booked[d.ordinality], d.batch_id, d.quantity from unnest(drafts) with ordinality d where d.batch_id is not null;

  places := array(
    select s.id from (
      select f.product_id, f.place, min(f.position) as position
      from (
        select d.product_id, d.source as place, d.source_type as type, d.ordinality * 2 as position from unnest(drafts) with ordinality d
        union all select d.product_id, d.destination, d.destination_type, d.ordinality * 2 + 1 from unnest(drafts) with ordinality d
      ) f where f.type <> 'special_stock_location' group by f.product_id, f.place
    ) t join ledger.stock s on s.product_id = t.product_id and s.place = t.place order by t.position
  );
  perform ledger.warn_of_promises(drafts);
  return row (booked, places)::ledger.booking;
end
$$;
comment on function ledger.post(ledger.draft[], text) is
  'Books movements: the one way into the ledger. Its statements are planned once, and by index: estimates for a handful of lines are poor, and planning anew took a quarter of the time. Takes the locks, checks that no real place is left with less than nothing of a product or a batch, and inserts; triggers bring the figures up to date. Answers the movements in the order of the drafts, and the stock that they changed. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
--! EndIncluded functions/ledger/post.sql

-- How many rows lists of payloads can have, in the frozen version too: what is asked costs as much there.
do $$
declare
  item record;
begin
  for item in
    select a.attrelid::regclass as type, a.attname as name, t.tags || E'\n' ||
      regexp_replace(col_description(a.attrelid, a.attnum), '(?n)^@(perLine|atMost) .*\n', '', 'g') as note
    from (values
      ('stock_payload', 'stock_movements', '@perLine lines'),
      ('stock_payload', 'stocks', '@perLine lines 2'),
      ('goods_receipt_booking_payload', 'stock_movements', E'@atMost 500\n@perLine put_away'),
      ('goods_receipt_booking_payload', 'stocks', E'@atMost 500\n@perLine put_away'),
      ('order_shipment_complete_payload', 'documents', '@perLine documents')
    ) t (type, name, tags)
    join pg_attribute a
      on a.attrelid = format('api_2026_06_unstable.%I', t.type)::regclass and a.attname = t.name
  loop
    execute format('comment on column %s.%I is %L', item.type, item.name, item.note);
  end loop;
end
$$;

--! split: 40-purchasing.sql
-- Receipts follow the supplier orders that their lines name, share out what comes over them, and book all of it.
--! Included functions/api/user_error.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION', 'NOT_EDITABLE',
  'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED', 'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING',
  'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE');
comment on type api_unstable.user_error_code is $$
@value REQUIRED Something is missing, or null where it must not be.
@value INVALID A value makes no sense here; the message says why.
@value NOT_FOUND An id leads to nothing.
@value NOT_UNIQUE Something else has this value already.
@value OUT_OF_RANGE A number, a moment or the length of a text is too small or too large.
@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that it allows.
@value NOT_EDITABLE The state, or where it comes from, does not allow changes.
@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is available and requested.
@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is expected and actual.
@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was ordered becomes a line without an order.
@value OVER_FULFILLMENT More would be fulfilled than is open.
@value BATCH_REQUIRED The units are kept in batches: a batch must be named.
@value BATCH_MISMATCH The batch is of another product.
@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.
@value REFERENCE_IN_USE Something that cannot do without it still refers to it.
@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.
@value EXTERNALLY_MANAGED Another system manages it; here it can only be read.
@value ON_HOLD It is on hold.
@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 hours.
@value TOO_MANY_LINES The input has more lines than are allowed at once.
@value URL_FORBIDDEN The address may not be called.
@value SCOPE_MISSING The access token lacks a scope that depends on the input.
@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is not.
@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details names the order or the receipt that is of another.
@value SUPPLIER_INACTIVE The shop orders nothing from the supplier any more. What was ordered before can still be received.
What kept a mutation from being done. A version never shows codes that it does not list: later ones appear as INVALID.$$;

do $$
begin
  if to_regtype('api_unstable.user_error') is null then
    create type api_unstable.user_error as (
      code api_unstable.user_error_code, message text, field text[], details jsonb
    );
  end if;
end
$$;
comment on type api_unstable.user_error is 'Why a mutation was refused. Nothing has been changed then.';
comment on column api_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_unstable.user_error.field is 'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no single part is.';
comment on column api_unstable.user_error.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/user_error.sql
--! Included functions/api/warning.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE');
comment on type api_unstable.warning_code is $$
@value OTHER Something that this version has no code for; the message says what.
@value COUNT_SUPERSEDED A count was kept and changes nothing, for there is a later one. Field details has its countedAt and quantity.
@value STOCK_PROMISED Units were booked out that orders are waiting for. Field details has the productId, what is reserved, and what is available now: less than nothing; and the warehouseId when only that warehouse is short.
@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold.
@value SURPLUS More comes in than the supplier order has open, or goes back than it received. When the receipt is completed, the rest becomes a line without an order. Field details has the quantity, the product, the order and then the line.
@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, what comes in of it becomes a line without an order. Field details is that of SURPLUS.
@value PRICE_CONVERTED Prices of a supplier order were taken in another currency, by the known rates. Field details names the order and both currencies.
@value DOCUMENT_INCOMPLETE A document was made that lacks something the law asks for. Field details names it in missing, for example merchant.vatId, and the documentNumber.
What a mutation tells although it was done. A version never shows codes that it does not list: later ones appear as OTHER.$$;

do $$
begin
  if to_regtype('api_unstable.warning') is null then
    create type api_unstable.warning as (code api_unstable.warning_code, message text, field text[], details jsonb);
  end if;
end
$$;
comment on type api_unstable.warning is 'What to look at, although the mutation was done.';
comment on column api_unstable.warning.code is E'@notNull\nWhat it is about, for programs.';
comment on column api_unstable.warning.message is E'@notNull\nWhat it is about, for people.';
comment on column api_unstable.warning.field is
  'Way to the part of the input that it is about, for example ["lines", "0", "quantity"]; null when that is no single part.';
comment on column api_unstable.warning.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/warning.sql

-- An order that a correction opens again goes back
insert into erp.state_transition (machine, action, from_state, to_state) values
  ('supplier_order', 'deliver_partially', 'delivered', 'partially_delivered'),
  ('supplier_order', 'take_back', 'delivered', 'confirmed'),
  ('supplier_order', 'take_back', 'partially_delivered', 'confirmed')
on conflict do nothing;
--! Included functions/events/topics.sql
-- What events are about, and what may happen to it. Everything else follows from this: the triggers that write events
-- down (events.derive_announcements), who may know of them, and the JSON schemas of their bodies (events.schema).
-- Fields are columns, in the API's spelling; behind a colon stands the type that an id belongs to. Columns that change
-- with everything, or that open something to whoever has them (a document's code), are left out or don't count.
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
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched then insert (type, relation, view_name, entity_column) values (d.type, d.relation::regclass, d.view_name, d.entity_column)
when not matched by source then delete;

merge into events.field f
using (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name, nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order', 'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total tracking_codes storefront_id
      currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer created_at updated_at'),
    ('FulfillmentOrder', 'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod shipping_method_name
      shipping_address storefront_id created_at updated_at'),
    ('Fulfillment', 'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement', 'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation source_order_id:Order
      source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt source_stock_container_id:StockContainer
      source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse destination_bin_location_id:BinLocation
      destination_order_id:Order destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name created_at'),
    ('Stock', 'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse bin_location_id:BinLocation
      order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt stock_container_id:StockContainer created_at updated_at'),
    ('Product', 'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin manufacturer_number
      physical_stock stock_not_available_for_sale reserved_stock available_stock open_supplier_order_quantity last_supplier_order_at
      reorder_point target_maximum_quantity storefront_variants'),
    ('GoodsReceipt', 'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse supplier_id:Supplier
      customer_id:Customer user_id:User currency_id:Currency currency_factor currency_factor_origin_type currency_factor_origin_source
      currency_factor_reference_date currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder', 'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier warehouse_id:Warehouse
      currency_id:Currency amount_net amount_total position_price tax_status order_date_time due_date delivery_date
      actual_delivery_date comment created_at updated_at'),
    ('Batch', 'id:Batch product_id:Product number comment physical_stock'),
    ('Customer', 'id:Customer customer_number account_type email first_name last_name title company vat_ids active guest
      group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel requested_group_id:CustomerGroup
      default_payment_method_id:PaymentMethod salutation_id:Salutation storefront_id created_at updated_at'),
    ('Document', 'id:Document document_number static sent document_type_id:DocumentType order_id:Order referenced_document_id:Document'),
    ('ShippingLabel', 'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url document_url
      weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at created_at updated_at'),
    ('WebhookSubscription', 'id:WebhookSubscription topic api_version created_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2) from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
) d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched then insert (subject_type, name, position, column_name, id_of) values (d.type, d.name, d.position, d.column_name, d.id_of)
when not matched by source then delete;

merge into events.topic t
using (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was made.', null::text[]),
    ('order.updated', 'Order', 'Something about an order was changed.', null),
    ('order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.', null),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was made.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    ('stock.changed', 'Stock', 'A place that is not a special one holds another quantity of a product.', null),
    ('product.created', 'Product', 'A product was made.', null),
    ('product.updated', 'Product', 'Something about a product was changed, be it only a figure of its stock.', null),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was made.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    ('goods_receipt.completed', 'GoodsReceipt', 'A goods receipt was completed: the goods are in their places.', null),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was made.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    ('supplier_order.delivered', 'SupplierOrder', 'All that was ordered from a supplier has been received.', null),
    ('supplier_order.reopened', 'SupplierOrder', 'A correction took back something of a delivered order: it waits for goods again.', null),
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
    ('webhook_subscription.test', 'WebhookSubscription', 'Somebody tries whether deliveries arrive. It stands in no log, and has no sequence.', null)
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes') scope
) d on t.name = d.name
when matched then update set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source then delete;

merge into events.occasion o
using (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}', $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
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
  ('supplier_order.confirmed', 'update', '{state}', $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}', $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$)
) d (topic, operation, columns, condition) on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source then delete;
--! EndIncluded functions/events/topics.sql

--! Included functions/erp/line_ids.sql
create or replace function erp.id_between(lower uuid, upper uuid, wanted integer) returns uuid
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  -- The second half of a UUID of version 7: two bits that say so, and 62 that are random
  least_tail constant numeric := -9223372036854775808;
  greatest_tail constant numeric := -4611686018427387905;
  head constant bytea := substring(uuid_send(coalesce(lower, upper)) from 1 for 8);
  first_tail constant numeric :=
    coalesce(substring(uuid_send(lower) from 9)::bigint::numeric + 1, least_tail);
  last_tail constant numeric := case
    when upper > lower is not false and substring(uuid_send(upper) from 1 for 8) = head
      then substring(uuid_send(upper) from 9)::bigint::numeric - 1
    else greatest_tail end;
  -- Evenly, so that there is room again and again; nearly, so that nobody can tell
  room constant numeric := div(last_tail - first_tail, wanted + 1);
begin
  return case when room > 0 and last_tail <= greatest_tail
    then encode(head || int8send((first_tail + room - div(room, 32) + random(0, div(room, 16)))::bigint), 'hex')::uuid end;
end
$$;
comment on function erp.id_between(uuid, uuid, integer) is
  'A new id after one that is there and before another, of which one may be null, so that as many as are '
  'wanted find room there one after the other. It keeps the moment of the one that it stands beside. Null '
  'when there is no room.';

create or replace function erp.line_ids(given uuid[]) returns uuid[]
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  ids uuid[] := given;
  next_kept integer := 0;
begin
  for i in 1 .. cardinality(given) loop
    continue when given[i] is not null;
    if next_kept is not null and next_kept < i then
      select min(g.ordinality) into next_kept from unnest(given) with ordinality g (id, ordinality)
      where g.ordinality > i and g.id is not null;
    end if;
    ids[i] := coalesce(
      case when next_kept is not null then erp.id_between(ids[i - 1], given[next_kept], next_kept - i) end,
      uuidv7());
  end loop;
  return ids;
end
$$;
comment on function erp.line_ids(uuid[]) is
  'The ids of lines that are to stand in this order, of which some are there already: null stands for a '
  'new one. Lists are ordered by id, so new lines get ids between those of their neighbours. Lines that '
  'are there keep theirs.';
--! EndIncluded functions/erp/line_ids.sql
--! Included functions/erp/goods_receipt_orders.sql
-- What the lines of a goods receipt say by the supplier orders that they name

create or replace function erp.orders_named(lines erp.goods_receipt_line[], order_ids uuid[])
returns table (id uuid, field text[], "position" bigint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select o.id, '{supplier_order_ids}'::text[], o.ordinality
  from unnest(order_ids) with ordinality o (id, ordinality)
  union all
  select coalesce(i.supplier_order_id, l.supplier_order_id), array['line_items', (l.ordinality - 1)::text,
    case when l.supplier_order_line_item_id is null then 'supplier_order_id'
      else 'supplier_order_line_item_id' end],
    cardinality(order_ids) + l.ordinality
  from unnest(lines) with ordinality l
  left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
  where num_nonnulls(i.supplier_order_id, l.supplier_order_id) > 0;
end;
comment on function erp.orders_named(erp.goods_receipt_line[], uuid[]) is
  'The supplier orders that a goods receipt names, for itself and by its lines, with the way to each in '
  'the input.';

create or replace function erp.receipt_type(receipt erp.goods_receipt, lines erp.goods_receipt_line[],
  order_ids uuid[])
returns text
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when cardinality(order_ids) > 0
      or bool_or(num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0) then 'Supplier'
    when (receipt).customer_id is not null or bool_or(l.return_order_id is not null) then 'Customer'
    else 'Free' end
  from unnest(lines) l;
end;
comment on function erp.receipt_type(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'What a goods receipt is for, when nobody says so: supplier orders or return orders that it names make '
  'it.';

create or replace function erp.lock_orders_named(lines erp.goods_receipt_line[], order_ids uuid[])
  returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant uuid[] := array(
    select n.id from erp.orders_named(lines, order_ids) n group by n.id order by min(n."position"));
begin
  -- Their supplier, currency and prices stay as they are until the lines that follow from them are written
  perform from erp.supplier_order o where o.id = any (named) order by o.id for share;
  return named;
end
$$;
comment on function erp.lock_orders_named(erp.goods_receipt_line[], uuid[]) is
  'The supplier orders that a goods receipt names, first for itself and then by its lines, in this order; '
  'kept from changes until the end of the transaction.';

create or replace function erp.with_orders(receipt erp.goods_receipt, order_ids uuid[])
  returns erp.goods_receipt
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  first_order erp.supplier_order;
begin
  select o.* into first_order from erp.supplier_order o where o.id = any (order_ids)
  order by array_position(order_ids, o.id) limit 1;
  receipt.supplier_id := coalesce(receipt.supplier_id, (
    select o.supplier_id from erp.supplier_order o where o.id = any (order_ids)
      and o.supplier_id is not null
    order by array_position(order_ids, o.id) limit 1));
  receipt.currency_id := coalesce(receipt.currency_id, first_order.currency_id,
    (select s.currency_id from erp.supplier s where s.id = receipt.supplier_id),
    (select c.id from erp.currency c where c.is_default_currency));
  receipt.tax_status := coalesce(receipt.tax_status, first_order.tax_status, 'net');
  return receipt;
end
$$;
comment on function erp.with_orders(erp.goods_receipt, uuid[]) is
  'The receipt with what its supplier orders say where nothing else is given: their supplier, and the '
  'currency and the tax status of the first.';

create or replace function erp.faults_of_orders_named(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[])
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.ordinality, 'INVALID', 'Only receipts of type Supplier name supplier orders.',
    case when l.supplier_order_id is null then 'supplier_order_line_item_id' else 'supplier_order_id' end
  from unnest(lines) with ordinality l
  where (receipt).type <> 'Supplier'
    and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
  union all
  select l.ordinality, 'NOT_FOUND', 'There is no such line of a supplier order with this product.',
    'supplier_order_line_item_id'
  from unnest(lines) with ordinality l
  where l.supplier_order_line_item_id is not null and not exists (
    select from erp.supplier_order_line_item i where i.id = l.supplier_order_line_item_id
      and i.product_id = l.product_id)
  union all
  select l.ordinality, 'NOT_FOUND', 'The supplier order has no line with this product.', 'supplier_order_id'
  from unnest(lines) with ordinality l
  where (receipt).type = 'Supplier' and l.supplier_order_id is not null
    and l.supplier_order_line_item_id is null
    and not exists (
      select from erp.supplier_order_line_item i where i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id)
  union all
  select l.ordinality, 'INVALID', 'The line is of another supplier order.', 'supplier_order_id'
  from unnest(lines) with ordinality l join erp.supplier_order_line_item i
    on i.id = l.supplier_order_line_item_id
  where l.supplier_order_id <> i.supplier_order_id;
end;
comment on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'What is wrong with the supplier orders that lines of a goods receipt name: number of the line, code, '
  'sentence and column.';

create or replace function erp.check_receipt_suppliers(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[], order_ids uuid[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('SUPPLIER_MISMATCH',
      format('Supplier order %s is of another supplier than the receipt.', o.number), n.field,
      jsonb_build_object('supplierOrderNumber', o.number)) order by n."position") into errors
  from erp.orders_named(lines, order_ids) n join erp.supplier_order o on o.id = n.id
  where receipt.type = 'Supplier' and o.supplier_id <> receipt.supplier_id;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_receipt_suppliers(erp.goods_receipt, erp.goods_receipt_line[], uuid[]) is
  'Refuses supplier orders of another supplier than that of the goods receipt. User error '
  'SUPPLIER_MISMATCH.';

create or replace function erp.converted_price(price numeric, from_tax_status text, from_tax_rate numeric,
  from_factor numeric, to_tax_status text, to_tax_rate numeric, to_factor numeric) returns numeric
language sql immutable parallel safe
return case
  when from_factor = to_factor
    and (from_tax_status is not distinct from 'gross') = (to_tax_status is not distinct from 'gross')
    then price
  else round(price
    / case when from_tax_status = 'gross' then 1 + coalesce(from_tax_rate, 0) / 100 else 1 end
    * case when to_tax_status = 'gross' then 1 + coalesce(to_tax_rate, 0) / 100 else 1 end
    * to_factor / from_factor, 6)
  end;
comment on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric) is
  'A unit price of one document as another one states it, which may be in another currency or with tax '
  'where the first is without: to six decimals, or as it is when nothing differs. Null when a rate is '
  'unknown.';

create or replace function erp.price_on_receipt(receipt erp.goods_receipt,
  supplier_order_line_item_id uuid, tax_rate numeric)
returns numeric
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select erp.converted_price(i.unit_price, o.tax_status, i.tax_rate,
    case when o.currency_id = (receipt).currency_id then 1 else f.factor end,
    (receipt).tax_status, coalesce(price_on_receipt.tax_rate, i.tax_rate),
    case when o.currency_id = (receipt).currency_id then 1 else (receipt).currency_factor end)
  from erp.supplier_order_line_item i join erp.supplier_order o on o.id = i.supplier_order_id
  cross join lateral erp.currency_factor_at(o.currency_id, now()) f
  where i.id = price_on_receipt.supplier_order_line_item_id;
end;
comment on function erp.price_on_receipt(erp.goods_receipt, uuid, numeric) is
  'What a unit of a supplier order''s line costs, in the currency and by the tax status of a goods '
  'receipt, whose line may have another tax rate. Currencies are converted by the rate of the receipt and '
  'the present one of the order''s currency.';

create or replace function erp.warn_of_conversions(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  select jsonb_agg(mutation.user_error('PRICE_CONVERTED',
      format('Prices of supplier order %s are in %s: they were converted to %s.', o.number, f.iso_code,
        t.iso_code), null,
      jsonb_build_object('supplierOrderNumber', o.number, 'from', f.iso_code, 'to', t.iso_code))
        order by o.id) into warnings
  from erp.supplier_order o join erp.currency f on f.id = o.currency_id join erp.currency t
    on t.id = receipt.currency_id
  where o.currency_id <> receipt.currency_id and o.id in (
    select i.supplier_order_id from unnest(lines) l
    join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.unit_price is null and i.unit_price is not null);
  perform mutation.warn(warnings);
end
$$;
comment on function erp.warn_of_conversions(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Warns when lines of a goods receipt take prices of supplier orders in another currency. Warning '
  'PRICE_CONVERTED.';

create or replace function erp.require_one_supplier() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  receipts uuid[];
  mixed text;
begin
  if tg_table_name = 'goods_receipt' then
    receipts := array[new.id];
  elsif tg_table_name = 'supplier_order' then
    receipts := array(
      select l.goods_receipt_id from erp.goods_receipt_line_item l where l.supplier_order_id = new.id
      union select l.goods_receipt_id from erp.goods_receipt_supplier_order l
        where l.supplier_order_id = new.id);
  elsif tg_table_name = 'goods_receipt_supplier_order' then
    receipts := array(select distinct c.goods_receipt_id from changed c);
  else
    -- What a receipt named before stays
    receipts := array(
      select distinct c.goods_receipt_id from changed c where c.supplier_order_id is not null
        and not exists (
        select from erp.goods_receipt_supplier_order l
        where l.goods_receipt_id = c.goods_receipt_id and l.supplier_order_id = c.supplier_order_id));
  end if;
  if receipts = '{}' then
    return null;
  end if;
  select r.number into mixed
  from erp.goods_receipt r cross join lateral (
    select r.supplier_id as id
    union select o.supplier_id from erp.goods_receipt_line_item l join erp.supplier_order o
      on o.id = l.supplier_order_id
      where l.goods_receipt_id = r.id
    union select o.supplier_id from erp.goods_receipt_supplier_order l join erp.supplier_order o
      on o.id = l.supplier_order_id
      where l.goods_receipt_id = r.id
  ) s where r.id = any (receipts) group by r.id having count(s.id) > 1 limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH',
      format('Goods receipt %s would deliver orders of several suppliers.', mixed));
  end if;
  return null;
end
$$;
comment on function erp.require_one_supplier() is
  'Trigger: refuses that a goods receipt delivers orders of another supplier than its own, or of several, '
  'whoever writes. Orders and receipts whose supplier has been deleted contradict nothing. User error '
  'SUPPLIER_MISMATCH.';
--! EndIncluded functions/erp/goods_receipt_orders.sql
--! Included functions/erp/goods_receipt_delivery.sql
-- How goods that arrive are shared out over what was ordered

create or replace function erp.allotment_by_name(goods_receipt_id uuid)
returns table (goods_receipt_line_item_id uuid, supplier_order_line_item_id uuid, quantity integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with named as (
    select l.id, i.id as item_id, abs(l.quantity) as units, l.quantity < 0 as goes_back, i.open_quantity,
      i.received_quantity,
      coalesce(sum(l.quantity) filter (where l.quantity > 0) over item, 0) as coming,
      coalesce(sum(- l.quantity) filter (where l.quantity < 0) over item, 0) as going,
      sum(abs(l.quantity)) over (partition by i.id, l.quantity < 0 order by l.id) as up_to
    from erp.goods_receipt_line_item l
    join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
      and i.product_id is not distinct from l.product_id
    join erp.supplier_order o on o.id = i.supplier_order_id and o.state <> 'cancelled'
    where l.goods_receipt_id = allotment_by_name.goods_receipt_id
    window item as (partition by i.id)
  ),
  -- What goes back makes room for what comes, as far as it had come
  room as (
    select n.*, least(n.going, n.received_quantity + n.coming) as returned from named n
  ),
  share as (
    select r.id, r.item_id, r.goes_back, least(r.units,
      r.returned + case when r.goes_back then 0 else r.open_quantity end - (r.up_to - r.units)) as units
    from room r
  )
  select s.id, s.item_id, (case when s.goes_back then - s.units else s.units end)::integer
  from share s where s.units > 0;
end;
comment on function erp.allotment_by_name(uuid) is
  'How many units of each line of a goods receipt fit on the line of a supplier order that it names, in '
  'the order of the lines: no more than is open, and no more back than was received. Orders that were '
  'cancelled take nothing.';

create or replace function erp.allotment(goods_receipt_id uuid)
returns table (goods_receipt_line_item_id uuid, nth bigint, supplier_order_id uuid,
  supplier_order_line_item_id uuid, quantity integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with fitting as materialized (
    select a.goods_receipt_line_item_id as id, a.supplier_order_line_item_id as item_id, a.quantity
    from erp.allotment_by_name(allotment.goods_receipt_id) a
  ),
  rest as (
    select l.id, l.order_id, l.product_id, sign(l.quantity) as direction, abs(l.quantity) as units,
      sum(abs(l.quantity)) over (partition by l.order_id, l.product_id, sign(l.quantity)
        order by l.id) as up_to
    from (
      select l.id, coalesce(i.supplier_order_id, l.supplier_order_id) as order_id, l.product_id,
        l.quantity - coalesce(f.quantity, 0) as quantity
      from erp.goods_receipt_line_item l
      left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
      left join fitting f on f.id = l.id
      where l.goods_receipt_id = allotment.goods_receipt_id
        and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
    ) l where l.quantity <> 0
  ),
  -- Room that is left on the lines of the same orders, in their order
  room as (
    select i.id, i.supplier_order_id as order_id, i.product_id, r.direction, r.units, i."position",
      sum(r.units) over (partition by i.supplier_order_id, i.product_id, r.direction
        order by i."position", i.id) as up_to
    from erp.supplier_order_line_item i
    join erp.supplier_order o on o.id = i.supplier_order_id and o.state <> 'cancelled'
    left join (select f.item_id, sum(f.quantity) as quantity from fitting f group by f.item_id) f
      on f.item_id = i.id
    cross join lateral (values
      (1, i.quantity - i.received_quantity - coalesce(f.quantity, 0)),
      (-1, i.received_quantity + coalesce(f.quantity, 0))
    ) r (direction, units)
    where r.units > 0 and o.id in (select rest.order_id from rest)
  ),
  -- Both laid end to end: where they overlap, units of a line fit on a line
  spread as (
    select r.id, o.id as item_id, o.up_to, r.direction,
      least(r.up_to, o.up_to) - greatest(r.up_to - r.units, o.up_to - o.units) as units
    from rest r join room o on o.order_id = r.order_id and o.product_id = r.product_id
      and o.direction = r.direction
    where least(r.up_to, o.up_to) > greatest(r.up_to - r.units, o.up_to - o.units)
  ),
  part (id, rank, item_id, quantity) as (
    select f.id, -1::numeric, f.item_id, f.quantity::numeric from fitting f
    union all
    select s.id, s.up_to::numeric, s.item_id, (s.direction * s.units)::numeric from spread s
    union all
    select r.id, 'infinity'::numeric, null, (r.direction * (r.units - coalesce(sum(s.units), 0)))::numeric
    from rest r left join spread s on s.id = r.id group by r.id, r.direction, r.units
    having r.units > coalesce(sum(s.units), 0)
  )
  select p.id, row_number() over (partition by p.id order by p.rank), i.supplier_order_id, p.item_id,
    p.quantity::integer
  from part p left join erp.supplier_order_line_item i on i.id = p.item_id;
end;
comment on function erp.allotment(uuid) is
  'How the lines of a goods receipt that name supplier orders share out over what was ordered: parts of '
  'each line, first on the line of an order that it names, then on other lines of the order with the '
  'product, and last, without a line, what the order has no room for. Units that go back are shared out '
  'over what was received.';

create or replace function erp.excess_warning(is_cancelled boolean, quantity integer, product_number text,
  order_number text, field text[], line_id uuid default null) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.user_error(case when is_cancelled then 'ORDER_CANCELLED' else 'SURPLUS' end,
    format(case
        when is_cancelled then '%1$s of product %2$s count for no order: supplier order %3$s is cancelled.'
        when quantity < 0
          then '%1$s of product %2$s go back without an order: supplier order %3$s never received them.'
        else '%1$s of product %2$s count for no order: they are more than supplier order %3$s has open.' end,
      abs(quantity), product_number, order_number),
    field,
    jsonb_strip_nulls(jsonb_build_object('quantity', quantity, 'productNumber', product_number,
      'supplierOrderNumber', order_number,
      'goodsReceiptLineItemId', 'gid://service/GoodsReceiptLineItem/' || line_id)));
end;
comment on function erp.excess_warning(boolean, integer, text, text, text[], uuid) is
  'The warning of units on a goods receipt that its supplier order does not account for; with the line '
  'that they have become, if they have.';

create or replace function erp.warn_of_lines(receipt erp.goods_receipt, line_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  select jsonb_agg(erp.excess_warning(o.state = 'cancelled', a.quantity, p.product_number, o.number,
      array['line_items', (t.position - 1)::text,
        case when o.state = 'cancelled' then 'supplier_order_id' else 'quantity' end])
    order by t.position) into warnings
  from erp.allotment(receipt.id) a
  join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
  cross join lateral (select array_position(line_ids, l.id)) t (position)
  join erp.supplier_order o on o.id = l.supplier_order_id
  join erp.product p on p.id = l.product_id
  where a.supplier_order_line_item_id is null;
  perform mutation.warn(warnings);
end
$$;
comment on function erp.warn_of_lines(erp.goods_receipt, uuid[]) is
  'Warns of lines of a goods receipt, given in the order of the input, that bring or take back more than '
  'their supplier orders account for. Warnings SURPLUS, ORDER_CANCELLED.';

create or replace function erp.settle_receipt_lines(receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  with part as materialized (
    select a.*, l.supplier_order_id as named_order_id, case when a.nth = 1 then l.id else uuidv7() end as id
    from erp.allotment(receipt_id) a join erp.goods_receipt_line_item l
      on l.id = a.goods_receipt_line_item_id
    order by l.id, a.nth
  ),
  kept as (
    update erp.goods_receipt_line_item l
    set quantity = p.quantity, supplier_order_id = p.supplier_order_id,
      supplier_order_line_item_id = p.supplier_order_line_item_id
    from part p
    where p.id = l.id and (l.quantity, l.supplier_order_id, l.supplier_order_line_item_id)
      is distinct from (p.quantity, p.supplier_order_id, p.supplier_order_line_item_id)
  ),
  added as (
    insert into erp.goods_receipt_line_item (id, goods_receipt_id, product_id, batch_id, return_order_id,
      supplier_order_id,
      supplier_order_line_item_id, destination_bin_location_id, quantity, unit_price, tax_rate)
    select p.id, l.goods_receipt_id, l.product_id, l.batch_id, l.return_order_id, p.supplier_order_id,
      p.supplier_order_line_item_id, l.destination_bin_location_id, p.quantity, l.unit_price, l.tax_rate
    from part p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    where p.nth > 1 order by p.id
  )
  select jsonb_agg(erp.excess_warning(coalesce(o.state = 'cancelled', false), p.quantity, r.product_number,
    o.number, '{id}', p.id)
    order by p.goods_receipt_line_item_id, p.nth) into warnings
  from part p
  join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
  left join erp.supplier_order o on o.id = p.named_order_id
  left join erp.product r on r.id = l.product_id
  where p.supplier_order_line_item_id is null;
  perform mutation.warn(warnings);
end
$$;
comment on function erp.settle_receipt_lines(uuid) is
  'Splits the lines of a goods receipt so that each delivers one line of a supplier order, of which it '
  'has no more than was open; what is left over becomes a line without an order, of the same product, '
  'batch, price and bin. Totals stay as they are. Warnings SURPLUS, ORDER_CANCELLED.';

create or replace function erp.deliver_supplier_orders(goods_receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', now());
  delivered record;
begin
  update erp.supplier_order_line_item i
  set received_quantity = r.quantity,
    actual_delivery_date = case when r.quantity >= i.quantity
      then coalesce(i.actual_delivery_date, moment) end
  from (
    select l.supplier_order_line_item_id as id, greatest(sum(l.quantity), 0) as quantity
    from erp.goods_receipt_line_item l join erp.goods_receipt g on g.id = l.goods_receipt_id
      and g.state = 'completed'
    where l.supplier_order_line_item_id in (
      select o.supplier_order_line_item_id from erp.goods_receipt_line_item o
        where o.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    group by 1
  ) r where i.id = r.id;

  for delivered in
    select o.id, o.state, i.is_complete, case
      when i.is_complete then 'delivered'
      when i.has_begun then 'partially_delivered'
      else 'confirmed' end as reached
    from erp.supplier_order o cross join lateral (
      select bool_and(i.open_quantity = 0) as is_complete, bool_or(i.received_quantity > 0) as has_begun
      from erp.supplier_order_line_item i where i.supplier_order_id = o.id
    ) i
    where o.id in (
      select l.supplier_order_id from erp.goods_receipt_line_item l
        where l.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    order by o.id
  loop
    update erp.supplier_order o
    set state = erp.state_after_delivery(delivered.state, delivered.reached),
      -- A person completed it; when the last goods came is then no longer a matter of its lines
      actual_delivery_date = case when delivered.is_complete then coalesce(o.actual_delivery_date, moment)
        when delivered.state = 'completed' then o.actual_delivery_date end
    where o.id = delivered.id;
  end loop;
end
$$;
comment on function erp.deliver_supplier_orders(uuid) is
  'After a goods receipt was completed: the received quantities of the supplier orders'' lines, and the '
  'orders'' states that follow from them, forth and back: confirmed, partially_delivered or delivered. '
  'Orders that are completed stay so.';

create or replace function erp.state_after_delivery(state text, reached text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Goods that come have been confirmed, whether or not somebody noted it
  confirmed constant text := case when state in ('open', 'sent')
    then erp.next_state('supplier_order', 'confirm', state) else state end;
begin
  return case
    when confirmed in (reached, 'completed') then confirmed
    else erp.next_state('supplier_order', case reached
      when 'delivered' then 'deliver' when 'partially_delivered' then 'deliver_partially'
        else 'take_back' end, confirmed)
  end;
end
$$;
comment on function erp.state_after_delivery(text, text) is
  'The state of a supplier order, of which so much has been received that it is now confirmed, '
  'partially_delivered or delivered, by erp.state_transition.';
--! EndIncluded functions/erp/goods_receipt_delivery.sql
--! Included functions/erp/goods_receipt_lines.sql
create or replace function erp.keep_default_currency_price() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.unit_price_in_default_currency := erp.in_default_currency(new.unit_price,
    (select r.currency_factor from erp.goods_receipt r where r.id = new.goods_receipt_id));
  return new;
end
$$;
comment on function erp.keep_default_currency_price() is 'Trigger: gives a line of a goods receipt its unit price in the default currency, by the factor of the receipt.';

create or replace function erp.keep_currency_factor() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.stock_valuation_report_goods_receipt v where v.goods_receipt_id = new.id) then
    perform mutation.refuse('CURRENCY_FACTOR_LOCKED', 'A stock valuation report counts with this exchange rate.', '{currency_factor}');
  end if;
  update erp.goods_receipt_line_item l set unit_price_in_default_currency = erp.in_default_currency(l.unit_price, new.currency_factor)
  where l.goods_receipt_id = new.id and l.unit_price is not null;
  return null;
end
$$;
comment on function erp.keep_currency_factor() is
  'Trigger after the exchange rate of a goods receipt changed: refuses when a stock valuation report counts with it, and converts the lines anew.';

create or replace function erp.resolve_goods_receipt_lines(target erp.goods_receipt, lines erp.goods_receipt_line[]) returns erp.goods_receipt_line[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Batches that are named by a number are made when they are new
  insert into erp.batch (product_id, number)
  select l.product_id, l.batch_number from unnest(lines) with ordinality l
  where l.batch_number is not null and l.batch_id is null and exists (select from erp.product p where p.id = l.product_id)
  group by l.product_id, l.batch_number order by min(l.ordinality)
  on conflict (product_id, number) do nothing;
  return array(
    select row (l.id, l.product_id, l.quantity, coalesce(l.batch_id, b.id), l.batch_number, coalesce(o.id, s.id),
      coalesce(o.supplier_order_id, l.supplier_order_id), l.return_order_id, l.unit_price, l.tax_rate,
      l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(lines) with ordinality l
    left join erp.batch b on b.product_id = l.product_id and b.number = l.batch_number
    left join lateral (
      -- An order alone means its line of this product: the first that still waits for some, or has some to give back
      select i.id from erp.supplier_order_line_item i
      where l.supplier_order_line_item_id is null and i.supplier_order_id = l.supplier_order_id and i.product_id = l.product_id
      order by case when l.quantity > 0 then i.open_quantity else i.received_quantity end = 0, i."position", i.id limit 1
    ) s on true
    left join erp.supplier_order_line_item o on o.id = l.supplier_order_line_item_id
    order by l.ordinality
  );
end
$$;
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name in other words: batches by number, made when they are new, and lines of supplier orders by the order. To be called with lines that have been checked.';

create or replace function erp.check_goods_receipt_lines(target erp.goods_receipt, lines erp.goods_receipt_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if cardinality(lines) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s lines; %s are allowed at once.', cardinality(lines), most),
      '{line_items}', jsonb_build_object('lines', cardinality(lines), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error(e.code, e.message, array['line_items', (e.line - 1)::text, e.field]) order by e.line) into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be 0.', 'quantity' from unnest(lines) with ordinality l where l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price' from unnest(lines) with ordinality l where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'No more can be thrown away than comes in.', 'planned_disposal_quantity'
    from unnest(lines) with ordinality l where l.planned_disposal_quantity not between 0 and greatest(l.quantity, 0)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = target.id)
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (select i.*, row_number() over (partition by i.id order by i.ordinality) as nth from unnest(lines) with ordinality i) l
    where l.id is not null and l.nth > 1
    union all
    select l.ordinality, case when b.id is null then 'NOT_FOUND' else 'BATCH_MISMATCH' end,
      case when b.id is null then 'There is no such batch.' else format('Batch %s is of another product.', b.number) end, 'batch_id'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, 'INVALID', 'The batch has another number.', 'batch_number'
    from unnest(lines) with ordinality l join erp.batch b on b.id = l.batch_id where l.batch_number <> b.number
    union all
    select l.ordinality, 'INVALID', 'Only receipts of type Customer name return orders.', 'return_order_id'
    from unnest(lines) with ordinality l where target.type <> 'Customer' and l.return_order_id is not null
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such return order.', 'return_order_id'
    from unnest(lines) with ordinality l where l.return_order_id is not null
      and not exists (select from erp.return_order r where r.id = l.return_order_id)
    union all
    select l.ordinality, 'INVALID', 'The warehouse of the receipt has no such bin.', 'destination_bin_location_id'
    from unnest(lines) with ordinality l where l.destination_bin_location_id is not null and not exists (
      select from erp.bin_location b where b.id = l.destination_bin_location_id and b.warehouse_id = target.warehouse_id)
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_orders_named(target, lines) e
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Refuses lines that do not fit their goods receipt. User errors TOO_MANY_LINES, OUT_OF_RANGE, NOT_FOUND, NOT_UNIQUE, BATCH_MISMATCH, INVALID.';

create or replace function erp.set_goods_receipt_lines(target erp.goods_receipt, given erp.goods_receipt_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines erp.goods_receipt_line[];
  ids uuid[];
  discount constant numeric := target.position_price - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_goods_receipt_lines(target, given);
  lines := erp.resolve_goods_receipt_lines(target, given);
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id and i.id <> all (ids);

  insert into erp.goods_receipt_line_item as i (id, goods_receipt_id, product_id, batch_id, return_order_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price, tax_rate)
  select ids[l.ordinality], target.id, l.product_id, l.batch_id, l.return_order_id, l.supplier_order_id, l.supplier_order_line_item_id,
    l.destination_bin_location_id, l.quantity, coalesce(l.planned_disposal_quantity, 0),
    coalesce(l.unit_price,
      case when s.id is not null then erp.price_on_receipt(target, s.id, l.tax_rate) end),
    coalesce(l.tax_rate, s.tax_rate, p.tax_rate)
  from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
  left join erp.supplier_order_line_item s on s.id = l.supplier_order_line_item_id
  order by l.ordinality
  on conflict (id) do update set product_id = excluded.product_id, batch_id = excluded.batch_id, return_order_id = excluded.return_order_id,
    supplier_order_id = excluded.supplier_order_id, supplier_order_line_item_id = excluded.supplier_order_line_item_id,
    destination_bin_location_id = excluded.destination_bin_location_id, quantity = excluded.quantity,
    planned_disposal_quantity = excluded.planned_disposal_quantity, unit_price = excluded.unit_price, tax_rate = excluded.tax_rate;

  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
  select distinct target.id, l.supplier_order_id from unnest(lines) l where l.supplier_order_id is not null
  on conflict do nothing;

  update erp.goods_receipt r
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id
  ) a where r.id = target.id;
  perform erp.warn_of_lines(target, ids);
  perform erp.warn_of_conversions(target, lines);
end
$$;
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Makes these the lines of a goods receipt: those with an id are changed, those without are new, others go. They are listed in this order, as far as lines that are there do not change places. Prices and tax rates that are left out come from the supplier order, converted where it has another currency, and from the product. Warns of what the orders do not have open.';
--! EndIncluded functions/erp/goods_receipt_lines.sql
--! Included functions/erp/goods_receipt.sql
create or replace function erp.lock_goods_receipt(goods_receipt_id uuid) returns erp.goods_receipt
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.goods_receipt;
begin
  select * into present from erp.goods_receipt r where r.id = goods_receipt_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such goods receipt.', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_goods_receipt(uuid) is 'A goods receipt, kept from others until the end of the transaction. User error NOT_FOUND.';

create or replace function erp.check_goods_receipt(wanted erp.goods_receipt) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array[e.field])) into errors
  from (
    select 'NOT_FOUND', 'There is no such warehouse.', 'warehouse_id' where not exists (select from erp.warehouse w where w.id = wanted.warehouse_id)
    union all
    select 'NOT_FOUND', 'There is no such supplier.', 'supplier_id'
    where wanted.supplier_id is not null and not exists (select from erp.supplier s where s.id = wanted.supplier_id)
    union all
    select 'NOT_FOUND', 'There is no such customer.', 'customer_id'
    where wanted.customer_id is not null and not exists (select from erp.customer c where c.id = wanted.customer_id)
    union all
    select 'NOT_FOUND', 'There is no such currency.', 'currency_id' where not exists (select from erp.currency c where c.id = wanted.currency_id)
  ) e (code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt(erp.goods_receipt) is 'Refuses a goods receipt that refers to what is not there. User error NOT_FOUND.';

create or replace function erp.with_currency_factor(wanted erp.goods_receipt, manual_factor numeric) returns erp.goods_receipt
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  wanted.currency_factor_captured_at := date_trunc('second', now());
  if manual_factor is not null then
    wanted.currency_factor := manual_factor;
    wanted.currency_factor_origin_type := 'Manual';
    wanted.currency_factor_origin_source := null;
    wanted.currency_factor_reference_date := null;
  else
    select f.factor, f.origin_type, f.origin_source, f.reference_date
    into wanted.currency_factor, wanted.currency_factor_origin_type, wanted.currency_factor_origin_source, wanted.currency_factor_reference_date
    from erp.currency_factor_at(wanted.currency_id, now()) f;
  end if;
  return wanted;
end
$$;
comment on function erp.with_currency_factor(erp.goods_receipt, numeric) is
  'The receipt with an exchange rate: the given one, set by hand, or that of this moment, with its origin.';

create or replace function erp.create_goods_receipt(given jsonb, lines erp.goods_receipt_line[], supplier_order_ids uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.goods_receipt := jsonb_populate_record(null::erp.goods_receipt, given - 'currency_factor');
  wanted_lines constant erp.goods_receipt_line[] := coalesce(lines, '{}');
  orders uuid[];
begin
  made.type := coalesce(made.type, erp.receipt_type(made, wanted_lines, supplier_order_ids));
  made.warehouse_id := coalesce(made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving));
  if made.type <> 'Supplier' and supplier_order_ids <> '{}' then
    perform mutation.refuse('INVALID', 'Only receipts of type Supplier deliver supplier orders.', '{supplier_order_ids}');
  end if;
  if exists (select from unnest(supplier_order_ids) i where not exists (select from erp.supplier_order o where o.id = i)) then
    perform mutation.refuse('NOT_FOUND', 'There is no such supplier order.', '{supplier_order_ids}');
  end if;
  -- What supplier orders say of supplier, currency and tax holds for their receipt, unless something else is given
  orders := case when made.type = 'Supplier' then erp.lock_orders_named(wanted_lines, supplier_order_ids) else '{}' end;
  made := erp.with_orders(made, orders);
  perform erp.check_goods_receipt(made);
  perform erp.check_receipt_suppliers(made, wanted_lines, supplier_order_ids);
  made := erp.with_currency_factor(made, (given ->> 'currency_factor')::numeric);
  insert into erp.goods_receipt (number, type, state, warehouse_id, supplier_id, customer_id, currency_id, currency_factor,
    currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date, currency_factor_captured_at, tax_status, comment)
  values (erp.next_number('goods_receipt'), made.type, case when (given ->> 'is_draft')::boolean then 'draft' else 'created' end,
    made.warehouse_id, made.supplier_id, made.customer_id, made.currency_id, made.currency_factor, made.currency_factor_origin_type,
    made.currency_factor_origin_source, made.currency_factor_reference_date, made.currency_factor_captured_at, made.tax_status, made.comment)
  returning * into made;
  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) select distinct made.id, i from unnest(supplier_order_ids) i;
  perform erp.set_goods_receipt_lines(made, wanted_lines);
  return made.id;
end
$$;
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Makes a goods receipt out of the columns that the object names (is_draft: as a draft), its lines, and the supplier orders that it delivers. What is left out of type, supplier, currency and tax status follows from the orders that it and its lines name. Answers its id.';

create or replace function erp.update_goods_receipt(goods_receipt_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  always_editable constant text[] := '{id,comment,currency_factor}';
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  wanted erp.goods_receipt;
  errors jsonb;
begin
  if present.state not in ('draft', 'created') then
    select jsonb_agg(mutation.user_error('NOT_EDITABLE', format('The receipt is %s: this cannot be changed any more.', present.state), array[key]))
    into errors from jsonb_object_keys(changes - always_editable) key;
    perform mutation.refuse(errors);
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,currency_factor,is_draft}'::text[]);
  perform erp.check_goods_receipt(wanted);
  if wanted.supplier_id is distinct from present.supplier_id then
    perform erp.change_supplier_of_receipt(present.id, wanted.supplier_id);
  end if;
  if wanted.warehouse_id <> present.warehouse_id and exists (
    select from erp.goods_receipt_line_item i where i.goods_receipt_id = present.id and i.destination_bin_location_id is not null
  ) then
    perform mutation.refuse('INVALID', 'Lines name bins of the present warehouse.', '{warehouse_id}');
  end if;
  if changes ? 'currency_factor' or wanted.currency_id is distinct from present.currency_id then
    wanted := erp.with_currency_factor(wanted, (changes ->> 'currency_factor')::numeric);
  end if;
  if (changes ->> 'is_draft')::boolean <> (present.state = 'draft') then
    wanted.state := erp.next_state('goods_receipt', case when present.state = 'draft' then 'create' else 'withdraw' end, present.state);
  end if;
  update erp.goods_receipt r
  set state = wanted.state, warehouse_id = wanted.warehouse_id, supplier_id = wanted.supplier_id, customer_id = wanted.customer_id,
    currency_id = wanted.currency_id, currency_factor = wanted.currency_factor, currency_factor_origin_type = wanted.currency_factor_origin_type,
    currency_factor_origin_source = wanted.currency_factor_origin_source, currency_factor_reference_date = wanted.currency_factor_reference_date,
    currency_factor_captured_at = wanted.currency_factor_captured_at, tax_status = wanted.tax_status, comment = wanted.comment,
    amount_net = a.amount_net, amount_total = a.amount_total
  from (
    select (erp.amounts(wanted.tax_status, array_agg(i.total_price), array_agg(i.tax_rate),
      present.position_price - case present.tax_status when 'gross' then present.amount_total else present.amount_net end)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = present.id
  ) a where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.update_goods_receipt(uuid, jsonb) is
  'Changes the columns of a goods receipt that the object names, and whether it is a draft. Once it is approved, only the comment and the exchange rate. A factor that is given counts as set by hand; null takes that of this moment. Answers its id.';

create or replace function erp.change_supplier_of_receipt(receipt_id uuid, new_supplier_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  order_number text;
begin
  -- Orders that only the receipt as a whole names go with the supplier
  delete from erp.goods_receipt_supplier_order n
  using erp.supplier_order o
  where n.goods_receipt_id = receipt_id and o.id = n.supplier_order_id and o.supplier_id <> new_supplier_id
    and not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = receipt_id and l.supplier_order_id = o.id);
  select o.number into order_number
  from erp.goods_receipt_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.goods_receipt_id = receipt_id and o.supplier_id <> new_supplier_id order by l.id limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH', format('Lines name supplier order %s, of another supplier.', order_number),
      '{supplier_id}', jsonb_build_object('supplierOrderNumber', order_number));
  end if;
end
$$;
comment on function erp.change_supplier_of_receipt(uuid, uuid) is
  'Makes a goods receipt ready for another supplier: it no longer names orders of others. User error SUPPLIER_MISMATCH, when its lines name such orders.';

create or replace function erp.set_lines_of_goods_receipt(goods_receipt_id uuid, lines erp.goods_receipt_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state not in ('draft', 'created') then
    perform mutation.refuse('NOT_EDITABLE', format('The receipt is %s: its lines cannot be changed any more.', present.state), '{id}');
  end if;
  if present.type = 'Supplier' then
    present.supplier_id := coalesce(present.supplier_id, (erp.with_orders(present, erp.lock_orders_named(lines, '{}'))).supplier_id);
    perform erp.check_receipt_suppliers(present, lines, '{}');
    update erp.goods_receipt r set supplier_id = present.supplier_id
    where r.id = present.id and r.supplier_id is distinct from present.supplier_id;
  end if;
  perform erp.set_goods_receipt_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Makes these the lines of a goods receipt that is not approved yet. A receipt without a supplier takes that of the supplier orders that they name. Answers its id.';
--! EndIncluded functions/erp/goods_receipt.sql
--! Included functions/erp/goods_receipt_booking.sql
create or replace function erp.goods_receipt_process(type text) returns text
language sql immutable parallel safe
return case type when 'Supplier' then 'supplier_order' when 'Customer' then 'return_order' else 'free_goods_receipt' end;
comment on function erp.goods_receipt_process(text) is 'Process of the movements of a goods receipt, by its type.';

create or replace function erp.put_away_place(receipt erp.goods_receipt, line erp.goods_receipt_line_item, out type text, out place text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select p.type, p.place from (
    select coalesce(line.destination_bin_location_id,
      (select c.default_bin_location_id from erp.product_warehouse_configuration c
        where c.product_id = line.product_id and c.warehouse_id = receipt.warehouse_id)) as bin
  ) b cross join lateral ledger.place_of(case when b.bin is null then receipt.warehouse_id end, b.bin) p;
end;
comment on function erp.put_away_place(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Where a line is put away unless something else is said: its own bin, else the usual bin of the product in the warehouse, else the warehouse. Lines with a negative quantity are taken from there.';

create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  booking ledger.booking;
begin
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more.', '{id}');
  end if;
  select jsonb_agg(e.error order by e.id) into errors
  from (
    select l.id, mutation.user_error('BATCH_REQUIRED', format('Product %s is kept in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number)) as error
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and p.is_batch_managed and l.batch_id is null
    union all
    select l.id, mutation.user_error('REQUIRED', format('The line of product %s must name its return order.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and present.type = 'Customer' and l.quantity > 0 and l.return_order_id is null
  ) e;
  perform mutation.refuse(errors);
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  booking := ledger.post(array(
    select row ('{id}', l.product_id, abs(l.quantity), l.batch_id,
      case when l.quantity < 0 then p.type when present.type = 'Customer' then 'return_order' else 'special_stock_location' end,
      case when l.quantity < 0 then p.place when present.type = 'Customer' then l.return_order_id::text else 'unknown' end,
      'goods_receipt', present.id::text, erp.goods_receipt_process(present.type))::ledger.draft
    from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) p
    where l.goods_receipt_id = present.id and l.product_id is not null order by l.id
  ), null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booking;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books what its lines say to the place of the receipt, from the return order or from unknown, and what they take back from where it lies.';

create or replace function erp.start_goods_receipt(goods_receipt_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  update erp.goods_receipt r set state = erp.next_state('goods_receipt', 'start', present.state) where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.start_goods_receipt(uuid) is 'Notes that somebody is putting the goods away. Answers the id.';

create or replace function erp.check_placements(receipt erp.goods_receipt, placements erp.placement[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array['put_away', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select p.line, 'NOT_FOUND', 'The receipt has no such line.', '{goods_receipt_line_item_id}'::text[]
    from unnest(placements) p where not exists (
      select from erp.goods_receipt_line_item l where l.id = p.goods_receipt_line_item_id and l.goods_receipt_id = receipt.id and l.quantity > 0)
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}' from unnest(placements) p where p.quantity < 1
    union all
    select p.line, 'INVALID', 'Name the warehouse of the receipt or one of its bins.', '{place}'
    from unnest(placements) p
    where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1 or p.warehouse_id <> receipt.warehouse_id
      or p.bin_location_id is not null and not exists (
        select from erp.bin_location b where b.id = p.bin_location_id and b.warehouse_id = receipt.warehouse_id)
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  select jsonb_agg(mutation.user_error('INVALID', format('%s units are put away, but the line has %s.', s.placed, s.wanted),
    array['put_away', (s.line - 1)::text, 'quantity'], jsonb_build_object('placed', s.placed, 'expected', s.wanted)) order by s.line) into errors
  from (
    select min(p.line) as line, sum(p.quantity) as placed, l.quantity - l.planned_disposal_quantity as wanted
    from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id group by l.id
  ) s where s.placed <> s.wanted;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_placements(erp.goods_receipt, erp.placement[]) is
  'Refuses placements that do not fit the lines of a goods receipt or its warehouse. User errors NOT_FOUND, OUT_OF_RANGE, INVALID.';

create or replace function erp.put_away_drafts(receipt erp.goods_receipt, placements erp.placement[]) returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', (receipt).id::text, d.type, d.place,
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
      select l.id, l.product_id, l.batch_id, l.planned_disposal_quantity, 'special_stock_location', 'stock_correction', 1000
      from erp.goods_receipt_line_item l where l.goods_receipt_id = (receipt).id and l.planned_disposal_quantity > 0
      union all
      select l.id, l.product_id, l.batch_id, - l.quantity,
        case when (receipt).type = 'Customer' and l.return_order_id is not null then 'return_order' else 'special_stock_location' end,
        case when (receipt).type = 'Customer' and l.return_order_id is not null then l.return_order_id::text else 'unknown' end, 0
      from erp.goods_receipt_line_item l where l.goods_receipt_id = (receipt).id and l.quantity < 0
    ) d where d.product_id is not null order by d.id, d."position"
  );
end;
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[]) is
  'The movements that complete a goods receipt: from its place to where its lines are put away, and what is to be thrown away to stock_correction; what its lines take back to where that goes.';

create or replace function erp.complete_goods_receipt(goods_receipt_id uuid, placements erp.placement[]) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  booking ledger.booking;
begin
  -- After the receipt and before the stock, always in this order. From here on nobody else delivers these orders
  perform from erp.supplier_order o where o.id in (
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  ) order by o.id for no key update;
  perform erp.check_placements(present, placements);
  booking := ledger.post(erp.put_away_drafts(present, placements), null);

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = date_trunc('second', now()) where r.id = present.id;
  update erp.goods_receipt_line_item l set planned_disposal_quantity = 0 where l.goods_receipt_id = present.id and l.planned_disposal_quantity > 0;
  perform erp.settle_receipt_lines(present.id);
  perform erp.deliver_supplier_orders(present.id);
  return booking;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt: books its lines from the place of the receipt to where they are put away, and what is to be thrown away to stock_correction; notes what arrived of supplier orders. A line without placements goes to its own bin, the usual bin, or the warehouse. All units are booked, also those that no order has open: these become lines of their own.';

create or replace function erp.delete_goods_receipt(goods_receipt_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state = 'completed' or exists (select from ledger.stock_movement m where m.source_goods_receipt_id = present.id) then
    perform mutation.refuse('NOT_EDITABLE', 'Stock has left the receipt. Correct it by another receipt with negative quantities.', '{id}');
  end if;
  -- What was approved goes back to where it came from
  perform ledger.post(array(
    select row ('{id}', m.product_id, coalesce(b.quantity, m.quantity), b.batch_id, 'goods_receipt', present.id::text,
      case when f.place is null then 'special_stock_location' else f.location_type_technical_name end, coalesce(f.place, 'unknown'),
      m.process_type_technical_name)::ledger.draft
    from ledger.stock_movement m
    join ledger.flow f on f.movement_id = m.id and f.direction = -1
    left join ledger.stock_movement_batch b on b.stock_movement_id = m.id
    where m.destination_goods_receipt_id = present.id order by m.id, b.batch_id
  ), null);
  delete from erp.goods_receipt r where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_goods_receipt(uuid) is
  'Deletes a goods receipt that no stock has left. What was approved is booked back first; movements are kept, without the receipt. Answers its id.';
--! EndIncluded functions/erp/goods_receipt_booking.sql
--! Included functions/erp/supplier_order.sql
create or replace function erp.lock_supplier_order(supplier_order_id uuid) returns erp.supplier_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_order erp.supplier_order;
begin
  select * into found_order from erp.supplier_order o where o.id = supplier_order_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such supplier order.', '{id}');
  end if;
  return found_order;
end
$$;
comment on function erp.lock_supplier_order(uuid) is 'A supplier order, kept from others until the end of the transaction. User error NOT_FOUND.';

create or replace function erp.supplier_snapshot(supplier_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('number', s.number, 'name', s.name, 'email', s.email, 'phone', s.phone, 'address', s.address,
    'customerNumber', s.customer_number, 'vatId', s.vat_id)
  from erp.supplier s where s.id = supplier_snapshot.supplier_id;
end;
comment on function erp.supplier_snapshot(uuid) is 'A supplier as it is now, for SupplierOrder.supplierSnapshot.';

create or replace function erp.warehouse_snapshot(warehouse_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('code', w.code, 'name', w.name, 'address', w.address) from erp.warehouse w where w.id = warehouse_snapshot.warehouse_id;
end;
comment on function erp.warehouse_snapshot(uuid) is 'A warehouse as it is now, for SupplierOrder.warehouseSnapshot.';

create or replace function erp.set_supplier_order_lines(target erp.supplier_order, lines erp.supplier_order_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
  ids uuid[];
  discount constant numeric := target.position_price - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  if cardinality(lines) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s lines; %s are allowed at once.', cardinality(lines), most),
      '{line_items}', jsonb_build_object('lines', cardinality(lines), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error(e.code, e.message, array['line_items', (e.line - 1)::text, e.field]) order by e.line) into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity' from unnest(lines) with ordinality l where l.quantity < 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price' from unnest(lines) with ordinality l where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The supplier order has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (select from erp.supplier_order_line_item i where i.id = l.id and i.supplier_order_id = target.id)
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (select i.*, row_number() over (partition by i.id order by i.ordinality) as nth from unnest(lines) with ordinality i) l
    where l.id is not null and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  -- The lines lock their products when they are written; in one order for all
  perform ledger.lock(array(
    select l.product_id from unnest(lines) l
    union select i.product_id from erp.supplier_order_line_item i where i.supplier_order_id = target.id and i.product_id is not null
  ));
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.supplier_order_line_item i
  where i.supplier_order_id = target.id and not exists (select from unnest(lines) l where l.id = i.id);

  insert into erp.supplier_order_line_item as i (id, supplier_order_id, product_id, "position", label, product_number, supplier_product_number,
    quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate, expected_delivery_date)
  select ids[l.ordinality], target.id, p.id, l.ordinality, coalesce(p.name, parent.name, p.product_number), p.product_number,
    c.supplier_product_number, l.quantity, c.min_purchase, c.purchase_steps, price.unit, round(price.unit * l.quantity, 2),
    coalesce(l.tax_rate, p.tax_rate), l.expected_delivery_date
  from unnest(lines) with ordinality l
  join erp.product p on p.id = l.product_id left join erp.product parent on parent.id = p.parent_id
  left join erp.product_supplier_configuration c on c.product_id = p.id and c.supplier_id = target.supplier_id
  left join erp.product_supplier_price s on s.product_supplier_configuration_id = c.id and s.currency_id = target.currency_id
  cross join lateral (select coalesce(l.unit_price, case target.tax_status when 'gross' then s.gross else s.net end) as unit) price
  order by l.ordinality
  on conflict (id) do update set product_id = excluded.product_id, "position" = excluded."position", label = excluded.label,
    product_number = excluded.product_number, supplier_product_number = excluded.supplier_product_number, quantity = excluded.quantity,
    min_purchase = excluded.min_purchase, purchase_steps = excluded.purchase_steps, unit_price = excluded.unit_price,
    total_price = excluded.total_price, tax_rate = excluded.tax_rate, expected_delivery_date = excluded.expected_delivery_date;

  update erp.supplier_order o
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.supplier_order_line_item i where i.supplier_order_id = target.id
  ) a where o.id = target.id;
end
$$;
comment on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Makes these the lines of a supplier order: those with an id are changed, those without are new, others go. They are listed in this order, but for lines that are there and change places among themselves: their positions say so. What a line leaves open, price and tax rate, comes from the supplier''s terms and the product. Totals are computed anew; a discount on the whole order stays.';

create or replace function erp.create_supplier_order(given jsonb, lines erp.supplier_order_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.supplier_order;
  seller erp.supplier;
begin
  made := jsonb_populate_record(null::erp.supplier_order, given);
  select * into seller from erp.supplier s where s.id = made.supplier_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such supplier.', '{supplier_id}');
  end if;
  perform erp.require_active_supplier(seller.id, '{supplier_id}');
  made.warehouse_id := coalesce(made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving));
  if not exists (select from erp.warehouse w where w.id = made.warehouse_id) then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{warehouse_id}');
  end if;
  made.currency_id := coalesce(made.currency_id, seller.currency_id, (select c.id from erp.currency c where c.is_default_currency));
  if not exists (select from erp.currency c where c.id = made.currency_id) then
    perform mutation.refuse('NOT_FOUND', 'There is no such currency.', '{currency_id}');
  end if;
  insert into erp.supplier_order (number, supplier_order_number, supplier_id, warehouse_id, supplier_snapshot, warehouse_snapshot, currency_id,
    tax_status, order_date_time, due_date, delivery_date, comment)
  values (erp.next_number('supplier_order'), made.supplier_order_number, made.supplier_id, made.warehouse_id, erp.supplier_snapshot(made.supplier_id),
    erp.warehouse_snapshot(made.warehouse_id), made.currency_id, coalesce(made.tax_status, 'net'),
    coalesce(made.order_date_time, date_trunc('second', now())), made.due_date, made.delivery_date, made.comment)
  returning * into made;
  perform erp.set_supplier_order_lines(made, coalesce(lines, '{}'));
  return made.id;
end
$$;
comment on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) is
  'Makes an open supplier order out of the columns that the object names, and its lines. Currency and warehouse are the supplier''s and the one for receiving, unless given. Answers its id.';

create or replace function erp.update_supplier_order(supplier_order_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  always_editable constant text[] := '{id,supplier_order_number,due_date,delivery_date,comment}';
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
  wanted erp.supplier_order;
  errors jsonb;
begin
  if present.state <> 'open' then
    select jsonb_agg(mutation.user_error('NOT_EDITABLE', format('The order is %s: this cannot be changed any more.', present.state), array[key]))
    into errors from jsonb_object_keys(changes - always_editable) key;
    perform mutation.refuse(errors);
  end if;
  wanted := jsonb_populate_record(present, changes - 'id');
  if wanted.supplier_id is distinct from present.supplier_id then
    wanted.supplier_snapshot := erp.supplier_snapshot(wanted.supplier_id);
    if wanted.supplier_snapshot is null then
      perform mutation.refuse('NOT_FOUND', 'There is no such supplier.', '{supplier_id}');
    end if;
    perform erp.require_active_supplier(wanted.supplier_id, '{supplier_id}');
    perform erp.require_receipts_of_supplier(present.id, wanted.supplier_id);
  end if;
  if wanted.warehouse_id is distinct from present.warehouse_id then
    wanted.warehouse_snapshot := erp.warehouse_snapshot(wanted.warehouse_id);
    if wanted.warehouse_snapshot is null then
      perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{warehouse_id}');
    end if;
  end if;
  if wanted.currency_id <> present.currency_id and not exists (select from erp.currency c where c.id = wanted.currency_id) then
    perform mutation.refuse('NOT_FOUND', 'There is no such currency.', '{currency_id}');
  end if;
  update erp.supplier_order o
  set supplier_order_number = wanted.supplier_order_number, supplier_id = wanted.supplier_id, supplier_snapshot = wanted.supplier_snapshot,
    warehouse_id = wanted.warehouse_id, warehouse_snapshot = wanted.warehouse_snapshot, currency_id = wanted.currency_id,
    tax_status = wanted.tax_status, order_date_time = wanted.order_date_time, due_date = wanted.due_date, delivery_date = wanted.delivery_date,
    comment = wanted.comment, amount_net = a.amount_net, amount_total = a.amount_total
  from (
    select (erp.amounts(wanted.tax_status, array_agg(i.total_price), array_agg(i.tax_rate),
      present.position_price - case present.tax_status when 'gross' then present.amount_total else present.amount_net end)).*
    from erp.supplier_order_line_item i where i.supplier_order_id = present.id
  ) a where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.update_supplier_order(uuid, jsonb) is
  'Changes the columns of a supplier order that the object names. Once it has been sent, only its dates, the supplier''s number and the comment. Answers its id.';

create or replace function erp.set_lines_of_supplier_order(supplier_order_id uuid, lines erp.supplier_order_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
begin
  if present.state <> 'open' then
    perform mutation.refuse('NOT_EDITABLE', format('The order is %s: its lines cannot be changed any more.', present.state), '{id}');
  end if;
  perform erp.set_supplier_order_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_supplier_order(uuid, erp.supplier_order_line[]) is 'Makes these the lines of an open supplier order. Answers its id.';

create or replace function erp.require_active_supplier(supplier_id uuid, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.supplier s where s.id = require_active_supplier.supplier_id and not s.active) then
    perform mutation.refuse('SUPPLIER_INACTIVE', 'The shop orders nothing from this supplier any more.', field);
  end if;
end
$$;
comment on function erp.require_active_supplier(uuid, text[]) is
  'Refuses a supplier that the shop no longer orders from. User error SUPPLIER_INACTIVE.';

create or replace function erp.require_receipts_of_supplier(supplier_order_id uuid, supplier_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  receipt text;
begin
  select r.number into receipt from erp.goods_receipt r
  where r.supplier_id <> require_receipts_of_supplier.supplier_id and r.id in (
    select l.goods_receipt_id from erp.goods_receipt_line_item l
      where l.supplier_order_id = require_receipts_of_supplier.supplier_order_id
    union select l.goods_receipt_id from erp.goods_receipt_supplier_order l
      where l.supplier_order_id = require_receipts_of_supplier.supplier_order_id)
  order by r.id limit 1;
  if found then
    perform mutation.refuse('SUPPLIER_MISMATCH', format('Goods receipt %s receives this order from the present supplier.', receipt),
      '{supplier_id}', jsonb_build_object('goodsReceiptNumber', receipt));
  end if;
end
$$;
comment on function erp.require_receipts_of_supplier(uuid, uuid) is
  'Refuses another supplier for an order that goods receipts of the present one name. User error SUPPLIER_MISMATCH.';

create or replace function erp.require_placeable(present erp.supplier_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from erp.supplier_order_line_item i where i.supplier_order_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The order has no lines.', '{id}');
  end if;
  perform erp.require_active_supplier(present.supplier_id, '{id}');
end
$$;
comment on function erp.require_placeable(erp.supplier_order) is
  'Refuses to place an order that is empty, or whose supplier the shop no longer orders from. User errors REQUIRED, SUPPLIER_INACTIVE.';

create or replace function erp.move_supplier_order(supplier_order_id uuid, action text, changes jsonb default '{}') returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
  new_state constant text := erp.next_state('supplier_order', action, present.state);
  wanted constant erp.supplier_order := jsonb_populate_record(present, changes - 'id');
begin
  -- What was sent before is still received, and confirmed
  if present.state = 'open' and action in ('send', 'confirm') then
    perform erp.require_placeable(present);
  end if;
  update erp.supplier_order o
  set state = new_state, supplier_order_number = wanted.supplier_order_number, delivery_date = wanted.delivery_date
  where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.move_supplier_order(uuid, text, jsonb) is
  'Does an action of the machine supplier_order, and notes what the supplier said with it: its own number, the date of delivery. Answers the id. User errors INVALID_STATE_TRANSITION; REQUIRED and SUPPLIER_INACTIVE when an order is placed.';

create or replace function erp.delete_supplier_order(supplier_order_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
begin
  if present.state not in ('open', 'cancelled') then
    perform mutation.refuse('NOT_EDITABLE', format('The order is %s: cancel it first.', present.state), '{id}');
  end if;
  if exists (select from erp.goods_receipt_line_item i where i.supplier_order_id = present.id)
    or exists (select from erp.goods_receipt_supplier_order r where r.supplier_order_id = present.id) then
    perform mutation.refuse('REFERENCE_IN_USE', 'A goods receipt belongs to this order.', '{id}');
  end if;
  delete from erp.supplier_order o where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_supplier_order(uuid) is 'Deletes an open or cancelled supplier order that no goods receipt belongs to. Answers its id.';
--! EndIncluded functions/erp/supplier_order.sql
--! Included functions/ledger/keep_figures.sql
create or replace function ledger.open_stock(movement_ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id, order_id, return_order_id,
    goods_receipt_id, stock_container_id, special_stock_location_technical_name)
  select f.product_id, f.location_type_technical_name, f.warehouse_id, f.bin_location_id, f.order_id, f.return_order_id,
    f.goods_receipt_id, f.stock_container_id, f.special_stock_location_technical_name
  from ledger.flow f where f.movement_id = any (movement_ids)
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by min(f.movement_id::text), min(f.direction)
  on conflict (product_id, place) do nothing;
end;
comment on function ledger.open_stock(uuid[]) is 'Makes the rows of stock, at 0, that movements change and that are not there yet.';

create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  -- Stock that was counted, as is known already, after the moment of what is booked now
  counted uuid[];
begin
  -- A posting function has these locks already; what is inserted by hand gets them here.
  perform ledger.lock(array(select product_id from booked));

  perform ledger.open_stock(array(select id from booked));

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct f.product_id, coalesce(f.warehouse_id, b.warehouse_id)
  from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
  where f.location_type_technical_name in ('warehouse', 'bin_location') order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;

  with flow as materialized (
    select f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id) as warehouse_id,
      sum(f.quantity) as change, min(f.booked_at) filter (where not f.is_count) as moved_at
    from booked m join ledger.flow f on f.movement_id = m.id left join erp.bin_location b on b.id = f.bin_location_id
    group by f.product_id, f.place, coalesce(f.warehouse_id, b.warehouse_id)
    having sum(f.quantity) <> 0 or min(f.booked_at) < max(f.booked_at)
  ),
  held as materialized (
    select f.product_id, f.warehouse_id, sum(f.change) as change
    from flow f where f.warehouse_id is not null group by f.product_id, f.warehouse_id having sum(f.change) <> 0
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + f.change
    from flow f where s.product_id = f.product_id and s.place = f.place
    returning s.id, f.moved_at
  ),
  in_configured_place as (
    update erp.product_stock_location_configuration c set stock = c.stock + f.change
    from flow f where c.product_id = f.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = f.place
  ),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change
    from held h where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
  ),
  in_configured_warehouse as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change
    from held h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id
  ),
  in_product as (
    update erp.product p
    set physical_stock = p.physical_stock + h.change,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale
    from (
      select held.product_id, sum(held.change) as change,
        coalesce(sum(held.change) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
      from held join erp.warehouse w on w.id = held.warehouse_id group by held.product_id
    ) h where p.id = h.product_id
  )
  select array_agg(p.id) into counted from in_place p
  where exists (
    select from ledger.stock_count c where c.stock_id = p.id and c.counted_at >= p.moved_at
      and c.batch_id is null and c.difference is not null);
  if counted is not null then
    perform ledger.carry_counts(counted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted, whoever did: brings stock, warehouse stock, the figures of products and of their configurations up to date in the same statement.';

create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  counted record;
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(select m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  insert into ledger.batch_stock (stock_id, batch_id)
  select distinct s.id, m.batch_id
  from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
  on conflict (stock_id, batch_id) do nothing;

  with flow as materialized (
    select s.id as stock_id, m.batch_id, sum(m.quantity * f.direction) as change,
      coalesce(sum(m.quantity * f.direction) filter (where f.location_type_technical_name in ('warehouse', 'bin_location')), 0) as held
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where f.location_type_technical_name <> 'special_stock_location'
    group by s.id, m.batch_id
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id
  )
  update erp.batch b set physical_stock = b.physical_stock + f.held
  from (select flow.batch_id, sum(flow.held) as held from flow group by flow.batch_id having sum(flow.held) <> 0) f where b.id = f.batch_id;

  for counted in
    select m.batch_id, array_agg(distinct s.id) as stock_ids
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id and not f.is_count
    join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    where exists (
      select from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at >= f.booked_at
        and c.batch_id = m.batch_id and c.difference is not null)
    group by m.batch_id
  loop
    perform ledger.carry_counts(counted.stock_ids, counted.batch_id);
  end loop;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted: brings the stock of batches up to date, in each place and altogether.';
--! EndIncluded functions/ledger/keep_figures.sql
--! Included functions/ledger/change_figures.sql
create or replace function ledger.change_reserved_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c));
  update erp.product p set reserved_stock = p.reserved_stock + c.quantity
  from (select c.item_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0) c
  where p.id = c.item_id;
end
$$;
comment on function ledger.change_reserved_stock(ledger.change[]) is 'Adds to the reserved stock of the items, which are products.';

create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c), array(select c.owner_id from unnest(changes) c));
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity
  from (select c.item_id, c.owner_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id, c.owner_id having sum(c.quantity) <> 0) c
  -- While a warehouse or a product is being deleted its figures may be there a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';

create or replace function ledger.lock_orders_of(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(select s.order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id),
    array(select l.fulfillment_order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id)
  );
end
$$;
comment on function ledger.lock_orders_of(ledger.change[]) is
  'Takes the locks of the orders and fulfillment orders of the items, which are lines of fulfillment orders.';

create or replace function ledger.change_fulfilled_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders_of(changes);
  update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + c.quantity
  from (select c.item_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0) c
  where l.id = c.item_id and exists (select from erp.fulfillment_order f where f.id = l.fulfillment_order_id);
end
$$;
comment on function ledger.change_fulfilled_quantities(ledger.change[]) is
  'Adds to the fulfilled quantities of the items, which are lines of fulfillment orders.';
--! EndIncluded functions/ledger/change_figures.sql

-- What lines name, their receipts name: the rule of one supplier asks of orders that are new to a receipt
insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
select distinct l.goods_receipt_id, l.supplier_order_id
from erp.goods_receipt_line_item l
where l.supplier_order_id is not null and not exists (
  select from erp.goods_receipt_supplier_order n
  where n.goods_receipt_id = l.goods_receipt_id and n.supplier_order_id = l.supplier_order_id);
create or replace trigger require_one_supplier_on_insert after insert on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier_on_update after update on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after insert on erp.goods_receipt_supplier_order
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after update of supplier_id on erp.goods_receipt
  for each row when (new.supplier_id is distinct from old.supplier_id and new.supplier_id is not null)
  execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after update of supplier_id on erp.supplier_order
  for each row when (new.supplier_id is distinct from old.supplier_id and new.supplier_id is not null)
  execute function erp.require_one_supplier();
select api_meta.give('erp.require_one_supplier()', 'service_writer');
do $$
declare
  routine regprocedure;
begin
  -- What of the schema erp runs within mutations, may run there
  for routine in
    select p.oid from pg_proc p
    where p.pronamespace = 'erp'::regnamespace and not p.prosecdef and p.prorettype <> 'trigger'::regtype
  loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;

--! split: 50-shipping.sql
-- Shipping and documents: what is called off at one location is shipped from another, delivery notes list what is in
-- their parcel, each unit is charged by one invoice, and invoices have what the law asks for.

-- Who sells
create table if not exists erp.merchant (
  is_only_row boolean primary key default true constraint merchant_is_one check (is_only_row),
  legal_name text collate "C" constraint merchant_legal_name_is_not_blank check (btrim(legal_name) <> ''),
  address jsonb constraint merchant_address_is_an_object check (jsonb_typeof(address) = 'object'),
  email text collate "C",
  phone text collate "C",
  website text collate "C",
  vat_id text collate "C" constraint merchant_vat_id_begins_with_a_country check (vat_id ~ '^[A-Z]{2}[A-Z0-9+*]{2,12}$'),
  tax_number text collate "C",
  is_small_business boolean not null default false,
  managers text collate "C",
  register text collate "C",
  account_holder text collate "C",
  iban text collate "C",
  bic text collate "C" constraint merchant_bic_has_its_form check (bic ~ '^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$'),
  bank_name text collate "C",
  footer erp.localized_text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.merchant enable row level security;
comment on table erp.merchant is
  'What documents say of the merchant. One row, or none as long as nobody has filled it in: then documents lack what the law asks for, and a warning says so.';
comment on column erp.merchant.is_only_row is 'True, so that there is no second row.';
comment on column erp.merchant.legal_name is 'Full name of the company or person, as the law knows it.';
comment on column erp.merchant.address is 'Address of the seat, an object with the keys of erp.fulfillment_order.shipping_address. countryIso decides what is a delivery abroad.';
comment on column erp.merchant.vat_id is 'VAT identification number, without spaces, for example DE999999999.';
comment on column erp.merchant.tax_number is 'Number at the tax office, for merchants without a VAT number or beside it.';
comment on column erp.merchant.is_small_business is 'Whether no VAT is charged because the business is small. Said on invoices of orders without tax.';
comment on column erp.merchant.managers is 'Who may act for the company, where that has to be said.';
comment on column erp.merchant.register is 'Court and number of the company in the commercial register.';
comment on column erp.merchant.account_holder is 'Name of the account, where it differs from the legal name.';
comment on column erp.merchant.iban is 'Number of the bank account, without spaces.';
comment on column erp.merchant.bic is 'Code of the bank.';
comment on column erp.merchant.footer is 'Text at the end of each document, in the languages of documents.';
create or replace trigger touch_updated_at before update on erp.merchant for each row execute function erp.touch_updated_at();

-- What documents are about
create table if not exists erp.document_fulfillment (
  document_id uuid not null references erp.document on delete cascade,
  fulfillment_id uuid not null references erp.fulfillment on delete cascade,
  primary key (document_id, fulfillment_id)
);
create index if not exists document_fulfillment_fulfillment_id_idx on erp.document_fulfillment (fulfillment_id, document_id);
alter table erp.document_fulfillment enable row level security;
comment on table erp.document_fulfillment is
  'The shipments that a delivery note lists, or that an invoice charges. Cancelling one of them cancels the invoice.';

create table if not exists erp.invoice (
  document_id uuid primary key references erp.document on delete cascade,
  cancellation_id uuid constraint invoice_is_cancelled_by_one_document unique references erp.document on delete set null
);
alter table erp.invoice enable row level security;
comment on table erp.invoice is 'Documents that charge something: invoices, drafts not included.';
comment on column erp.invoice.cancellation_id is 'The storno that cancelled the invoice; null while it stands.';

create table if not exists erp.invoice_line_item (
  id uuid primary key default uuidv7(),
  document_id uuid not null references erp.invoice on delete cascade,
  order_line_item_id uuid not null references erp.sales_order_line_item on delete cascade,
  first_unit integer not null default 0 constraint invoice_line_item_first_unit_is_not_negative check (first_unit >= 0),
  quantity integer not null constraint invoice_line_item_quantity_is_positive check (quantity > 0),
  constraint invoice_line_item_is_unique unique (document_id, order_line_item_id, first_unit)
);
create index if not exists invoice_line_item_order_line_item_id_idx on erp.invoice_line_item (order_line_item_id, document_id);
alter table erp.invoice_line_item enable row level security;
comment on table erp.invoice_line_item is 'Units of lines of orders that an invoice charges.';
comment on column erp.invoice_line_item.first_unit is
  'How many units of the line come before these. Units are counted, so that prices that do not divide by them add up over several invoices.';

alter table erp.sales_order_line_item add column if not exists invoiced_quantity integer not null default 0;
comment on column erp.sales_order_line_item.invoiced_quantity is 'Units that an invoice charges which was not cancelled.';

do $$
begin
  if to_regtype('erp.document_part') is null then
    create type erp.document_part as (order_line_item_id uuid, first_unit integer, quantity integer);
    create type erp.assignment as (location_id uuid, order_line_item_id uuid, product_id uuid, quantity bigint);
    alter type erp.shipment add attribute documents uuid[];
  end if;
  if not exists (select from pg_constraint where conname = 'order_line_item_invoices_no_more_than_ordered') then
    alter table erp.sales_order_line_item
      add constraint order_line_item_invoices_no_more_than_ordered check (invoiced_quantity between 0 and greatest(quantity, 0));
  end if;
end
$$;
comment on type erp.document_part is 'Units of a line of an order that a document is about: so many, after so many others.';
comment on type erp.assignment is 'Units of a line of an order that a location is to ship.';
comment on constraint order_line_item_invoices_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError INVALID\nMore would be invoiced than was ordered.';

-- Their signatures have changed
drop function if exists erp.complete_shipment(uuid, text[], text[], text);
drop function if exists erp.create_documents(uuid, text[]);
drop function if exists erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text);
drop function if exists erp.document_config(uuid, text, text, date, text, text, jsonb);
drop function if exists erp.document_amounts(uuid, text, boolean);

--! Included functions/erp/merchant.sql
create or replace function erp.is_iban(iban text) returns boolean
language sql immutable strict
return iban ~ '^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$' and (
  select string_agg(case when c.letter ~ '\d' then c.letter else (ascii(c.letter) - 55)::text end, '' order by c.n)::numeric
    % 97 = 1
  from regexp_split_to_table(substr(iban, 5) || left(iban, 4), '') with ordinality c (letter, n));
comment on function erp.is_iban(text) is 'Whether a text is an IBAN, without spaces, whose check digits are right.';

create or replace function erp.is_in_eu(country_iso text) returns boolean
language sql immutable
return country_iso in ('AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU', 'IE', 'IT', 'LT', 'LU', 'LV',
  'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK');
comment on function erp.is_in_eu(text) is 'Whether a country, by its ISO 3166 code, is a member of the European Union.';

create or replace function erp.seller(locale text) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('legalName', m.legal_name, 'email', m.email, 'phone', m.phone, 'website', m.website,
    'address', m.address || jsonb_build_object('countryName',
      coalesce(c.name ->> locale, m.address ->> 'countryName', c.name ->> 'en-GB')),
    'vatId', m.vat_id, 'taxNumber', m.tax_number, 'managers', m.managers, 'register', m.register,
    'footer', coalesce(m.footer ->> locale, m.footer ->> 'en-GB'),
    'bank', case when m.iban is not null then jsonb_build_object(
      'accountHolder', coalesce(m.account_holder, m.legal_name), 'iban', m.iban, 'bic', m.bic, 'name', m.bank_name) end)
  from erp.merchant m left join erp.country c on c.iso_code = m.address ->> 'countryIso';
end;
comment on function erp.seller(text) is
  'What documents say of the merchant, in a language; null as long as erp.merchant has no row.';

create or replace function erp.tax_exemption(tax_status text, destination text, customer_vat_id text) returns text
language sql stable
return case when tax_status = 'tax-free' then (
  select case
    when (select m.is_small_business from erp.merchant m) then 'small_business'
    when destination = h.home then null
    when erp.is_in_eu(h.home) and not erp.is_in_eu(destination) then 'export'
    -- The number of a business in another country: none of the seller's own
    when erp.is_in_eu(h.home) and left(customer_vat_id, 2) <> case h.home when 'GR' then 'EL' else h.home end
      then 'intra_community' end
  from (select coalesce((select m.address ->> 'countryIso' from erp.merchant m),
    (select w.address ->> 'countryIso' from erp.warehouse w where w.is_default)) as home) h) end;
comment on function erp.tax_exemption(text, text, text) is
  'Why an order without tax has none: small_business, export (to a country outside of the European Union) or intra_community (to another of its countries, to a business with a VAT number of another country). Null when it has tax, or no reason is known. The destination is an ISO 3166 code.';

create or replace function erp.vat_id_for(vat_ids jsonb, country_iso text) returns text
language sql immutable
return (
  select v.id from jsonb_array_elements_text(vat_ids) with ordinality v (id, n)
  order by upper(left(v.id, 2)) <> case country_iso when 'GR' then 'EL' else country_iso end, v.n limit 1);
comment on function erp.vat_id_for(jsonb, text) is 'Of the VAT numbers of a customer the one of a country, or else the first.';

create or replace function erp.missing_in_document(config jsonb) returns text[]
language sql immutable
return case when config ->> 'documentType' = 'delivery_note' then '{}'::text[] else array(
  select m.name from (values
    (1, 'merchant.legalName', config #>> '{seller,legalName}'),
    (2, 'merchant.address', coalesce(config #>> '{seller,address,street}', config #>> '{seller,address,city}')),
    (3, 'merchant.vatId', coalesce(config #>> '{seller,vatId}', config #>> '{seller,taxNumber}')),
    (4, 'order.billingAddress', coalesce(config #>> '{billingAddress,lastName}', config #>> '{billingAddress,company}')),
    (5, 'order.taxExemption', case when config ->> 'taxStatus' = 'tax-free' then config ->> 'taxExemption' else '' end)
  ) m (n, name, value) where m.value is null order by m.n) end;
comment on function erp.missing_in_document(jsonb) is
  'What a document about money lacks that the law asks for: settings of the merchant (table erp.merchant), the name in the billing address, or the reason why there is no tax. Bank details are left out where there are none; they need not be there.';
--! EndIncluded functions/erp/merchant.sql
--! Included functions/erp/document_amounts.sql
-- Prices in erp.sales_order_line_item are with tax, whatever the tax status of the order. This one and document_config
-- return rows, for then Postgres puts them into the query that calls them, instead of starting a new one each time.
create or replace function erp.order_pieces(order_id uuid, tax_status text)
returns table (line_id uuid, unit_line_id uuid, rate numeric, total numeric, net numeric)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.total_price as total,
      case when tax_status = 'tax-free' then l.tax_rate * 0 else l.tax_rate end as rate
    from erp.sales_order_line_item l where l.order_id = order_pieces.order_id
  ),
  rated as (
    select l.id, l.n, coalesce(l.rate, 0) as rate, l.total, round(l.total * 100 / (100 + coalesce(l.rate, 0)), 2) as net
    from line l where l.rate is not null or not exists (select from line where rate is not null)
  ),
  -- From where to where a line reaches when all that have a rate are laid side by side, by what they come to
  ruler as (
    select r.*, coalesce(sum(r.net) over () / nullif(sum(r.total) over (), 0), 1) as factor,
      coalesce((sum(r.total) over so_far - r.total) / nullif(sum(r.total) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as starts,
      coalesce(sum(r.total) over so_far / nullif(sum(r.total) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as ends,
      coalesce((sum(r.net) over so_far - r.net) / nullif(sum(r.net) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as net_starts,
      coalesce(sum(r.net) over so_far / nullif(sum(r.net) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as net_ends
    from rated r window so_far as (order by r.rate, r.n)
  ),
  -- As ledger.order_amounts has it: lines without a rate, such as promotions, are taxed as the others on average
  unrated as (
    select l.*, sum(l.total) over (order by l.n) as upto, f.factor
    from line l, (select factor from ruler limit 1) f
    where l.rate is null and exists (select from line where rate is not null)
  )
  select r.id, r.id, r.rate, r.total, r.net from rated r
  union all
  -- Sums are rounded, not their parts, so that the parts add up along both lines and rates
  select u.id, case when u.type = 'product' then u.id else r.id end, r.rate,
    round(u.upto * r.ends, 2) - round((u.upto - u.total) * r.ends, 2)
      - round(u.upto * r.starts, 2) + round((u.upto - u.total) * r.starts, 2),
    round(round(u.factor * u.upto, 2) * r.net_ends, 2) - round(round(u.factor * (u.upto - u.total), 2) * r.net_ends, 2)
      - round(round(u.factor * u.upto, 2) * r.net_starts, 2)
      + round(round(u.factor * (u.upto - u.total), 2) * r.net_starts, 2)
  from unrated u cross join ruler r;
end;
comment on function erp.order_pieces(uuid, text) is
  'What the lines of an order come to with and without tax, by rates. A line without a rate, such as a promotion, is spread over the lines that have one, by what these come to. Each piece is charged along with the units of a line: its own, or for what is no product of that other line. All pieces come to the cent to what the order does.';

create or replace function erp.document_amounts(order_id uuid, tax_status text, parts erp.document_part[] default null)
returns table (amounts jsonb)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.label, l.description, p.product_number, l.quantity, l.unit_price,
      l.total_price, l.tax_rate
    from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id where l.order_id = document_amounts.order_id
  ),
  part as (
    select p.order_line_item_id as id, p.first_unit, p.first_unit + p.quantity as upto from unnest(parts) p
    union all select l.id, 0, l.quantity from line l where parts is null
  ),
  -- Of each piece what falls to the units, in a way that all units come to all of it
  charged as (
    select c.line_id, c.rate, c.unit_line_id,
      case when p.upto = u.quantity then c.total else round(c.total * p.upto / u.quantity, 2) end
        - case when p.first_unit = 0 then 0 else round(c.total * p.first_unit / u.quantity, 2) end as total,
      case when p.upto = u.quantity then c.net else round(c.net * p.upto / u.quantity, 2) end
        - case when p.first_unit = 0 then 0 else round(c.net * p.first_unit / u.quantity, 2) end as net
    from erp.order_pieces(document_amounts.order_id, tax_status) c
    join line u on u.id = c.unit_line_id join part p on p.id = c.unit_line_id
  ),
  shown as (
    select l.n, l.label, l.description, l.product_number, l.unit_price, l.tax_rate as rate, c.total, c.net,
      case when tax_status = 'net' then c.net else c.total end as amount, coalesce(q.quantity, l.quantity) as quantity,
      -- A discount on the whole order, of which this document has a share
      q.quantity is null and c.total <> l.total_price as is_share
    from line l
    join (select c.line_id as id, sum(c.total) as total, sum(c.net) as net from charged c group by c.line_id) c on c.id = l.id
    left join (select p.id, sum(p.upto - p.first_unit) as quantity from part p group by p.id) q on q.id = l.id
  ),
  by_rate as (select c.rate, sum(c.net) as net, sum(c.total) as total from charged c group by c.rate)
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description, 'productNumber', product_number,
          'quantity', quantity,
          -- With four digits, so that times the quantity it is what the line comes to
          'unitPrice', case when is_share then round(amount / quantity, 4)
            when tax_status = 'net' then round(unit_price * coalesce(100 / (100 + rate), net / nullif(total, 0), 1), 4)
            else unit_price end,
          'total', amount, 'taxRate', case when tax_status <> 'tax-free' then rate end)
        || case when is_share then '{"isShare": true}'::jsonb else '{}' end order by n)
      from shown where not is_share or amount <> 0), '[]'),
    'totals', (
      select jsonb_build_object('net', coalesce(sum(net), 0), 'total', coalesce(sum(total), 0),
        'taxes', coalesce(jsonb_agg(jsonb_build_object('rate', rate, 'net', net, 'tax', total - net) order by rate)
          filter (where tax_status <> 'tax-free'), '[]'))
      from by_rate));
end;
comment on function erp.document_amounts(uuid, text, erp.document_part[]) is
  'What units of lines of an order are charged, all of them when there are no parts: prices without tax where the tax status is net. Discounts on the whole order go along with the units, by their share. Documents that have each unit once come to the cent to what the order does.';

create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return jsonb_build_object(
  'lines', (
    select coalesce(jsonb_agg(line || jsonb_build_object('unitPrice', - (line ->> 'unitPrice')::numeric, 'total', - (line ->> 'total')::numeric)
      order by n), '[]')
    from jsonb_array_elements(amounts -> 'lines') with ordinality v (line, n)),
  'totals', jsonb_build_object('net', - (amounts #>> '{totals,net}')::numeric, 'total', - (amounts #>> '{totals,total}')::numeric,
    'taxes', (
      select coalesce(jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'net', - (tax ->> 'net')::numeric, 'tax', - (tax ->> 'tax')::numeric)
        order by n), '[]')
      from jsonb_array_elements(amounts #> '{totals,taxes}') with ordinality v (tax, n))));
comment on function erp.reversed_amounts(jsonb) is 'The lines and totals of a document, with every amount negative.';
--! EndIncluded functions/erp/document_amounts.sql
--! Included functions/erp/document_config.sql
create or replace function erp.delivered_lines(order_id uuid, fulfillment_id uuid) returns jsonb
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.label, l.description, p.product_number, l.quantity as ordered,
      coalesce(s.here, 0) as here, l.shipped_quantity - coalesce(s.later, 0) - coalesce(s.here, 0) as earlier
    from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id
    left join lateral (
      -- One line at a time by its indexes, also where Postgres takes a few fulfillments for all that there are
      select sum(i.quantity) filter (where i.fulfillment_id = delivered_lines.fulfillment_id) as here,
        sum(i.quantity) filter (where i.fulfillment_id > delivered_lines.fulfillment_id) as later
      from erp.fulfillment_order_line_item a cross join lateral (
        select i.fulfillment_id, i.quantity from erp.fulfillment_line_item i where i.fulfillment_order_line_item_id = a.id offset 0
      ) i
      where a.destination_order_line_item_id = l.id
        and (select f.state from erp.fulfillment f where f.id = i.fulfillment_id) = 'Fulfilled'
    ) s on delivered_lines.fulfillment_id is not null
    -- What is taken off the price is in no parcel
    where l.order_id = delivered_lines.order_id and (l.type is null or l.type not in ('promotion', 'credit'))
  )
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description, 'productNumber', product_number,
          'quantity', case when delivered_lines.fulfillment_id is null then ordered else here end)
        || case when delivered_lines.fulfillment_id is not null and here <> ordered
          then jsonb_build_object('orderedQuantity', ordered, 'shippedBefore', earlier) else '{}' end order by n)
      from line where delivered_lines.fulfillment_id is null or here > 0), '[]'),
    'outstanding', case when delivered_lines.fulfillment_id is not null then coalesce((
      select jsonb_agg(jsonb_build_object('label', label, 'productNumber', product_number, 'quantity', ordered - here - earlier) order by n)
      from line where type = 'product' and ordered > here + earlier), '[]') end,
    'totals', null);
end;
comment on function erp.delivered_lines(uuid, uuid) is
  'What a delivery note lists: the units that a shipment has of an order, what it was the rest of, and what is still to come; or all of the order without a shipment.';

create or replace function erp.delivery_date(fulfillments uuid[], order_state text, document_date date) returns jsonb
language sql stable
return (
  select case
    when min(f.created_at) is not null then jsonb_build_object(
      'from', to_char(min(f.created_at at time zone 'UTC'), 'YYYY-MM-DD'),
      'to', to_char(max(f.created_at at time zone 'UTC'), 'YYYY-MM-DD'))
    when order_state = 'completed' then jsonb_build_object(
      'from', to_char(document_date, 'YYYY-MM-DD'), 'to', to_char(document_date, 'YYYY-MM-DD')) end
  from erp.fulfillment f where f.id = any (fulfillments));
comment on function erp.delivery_date(uuid[], text, date) is
  'The first and last day on which shipments went out. What was delivered without one was on the day of the document; null when nothing was yet.';

create or replace function erp.document_config(order_id uuid, document_type text, document_number text, document_date date, locale text,
  referenced_number text default null, referenced_config jsonb default null, parts erp.document_part[] default null,
  fulfillments uuid[] default null) returns table (config jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'documentType', document_type,
    'title', coalesce(t.name ->> locale, t.name ->> 'en-GB'),
    'documentNumber', document_number,
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'referencedDocumentNumber', referenced_number,
    'referencedDocumentDate', referenced_config -> 'documentDate',
    'locale', locale,
    'displayPrices', document_type <> 'delivery_note',
    'orderNumber', o.order_number,
    'orderDate', to_char(o.order_date_time at time zone 'UTC', 'YYYY-MM-DD'),
    'deliveryDate', erp.delivery_date(fulfillments, o.state, document_date),
    'customerNumber', c.customer_number,
    'customerVatId', v.vat_id,
    'taxStatus', o.tax_status,
    'taxExemption', erp.tax_exemption(o.tax_status, v.destination, v.vat_id),
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'shippingMethod', coalesce(s.name ->> locale, s.name ->> 'en-GB'),
    'paymentMethod', coalesce(p.name ->> locale, p.name ->> 'en-GB'),
    'billingAddress', o.billing_address,
    'shippingAddress', o.shipping_address,
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name),
      'address', coalesce(m.seller -> 'address', w.address)),
    'seller', m.seller
  ) || case
    when document_type = 'delivery_note' then erp.delivered_lines(document_config.order_id, fulfillments[1])
    when document_type not in ('credit_note', 'storno') then a.amounts
    -- The order may have changed since the invoice. What takes an invoice back, takes back what it said.
    when referenced_config ? 'lines' then erp.reversed_amounts(referenced_config)
      || jsonb_build_object('taxStatus', referenced_config -> 'taxStatus', 'currency', referenced_config -> 'currency',
        'taxExemption', referenced_config -> 'taxExemption', 'deliveryDate', referenced_config -> 'deliveryDate')
    else erp.reversed_amounts(a.amounts)
  end
  from erp.sales_order o
  join erp.currency u on u.id = o.currency_id
  join erp.document_type t on t.technical_name = document_type
  cross join lateral (select erp.seller(locale) as seller) m
  left join erp.customer c on c.id = o.customer_id
  cross join lateral (
    select d.destination, erp.vat_id_for(c.vat_ids, d.destination) as vat_id
    from (select coalesce(o.shipping_address ->> 'countryIso', o.billing_address ->> 'countryIso') as destination) d
  ) v
  left join erp.sales_channel h on h.id = o.sales_channel_id
  left join erp.shipping_method s on s.id = o.shipping_method_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.warehouse w on w.is_default
  cross join erp.document_amounts(document_config.order_id, o.tax_status, parts) a
  where o.id = document_config.order_id;
end;
comment on function erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]) is
  'All that a document of an order shows, as it is now: what a document keeps in its config and is rendered from (src/documents/config.ts has the form). Credit notes and stornos also take the number and config of the invoice that they take back; invoices the units that they charge, if not all, and the shipments that brought them; delivery notes their shipment.';
--! EndIncluded functions/erp/document_config.sql
--! Included functions/erp/invoice.sql
create or replace function erp.billable_parts(order_id uuid, only_shipped boolean) returns erp.document_part[]
language sql stable
return array(
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.quantity,
      case when only_shipped and l.type = 'product' then l.shipped_quantity else l.quantity end - l.invoiced_quantity as due
    from erp.sales_order_line_item l
    where l.order_id = billable_parts.order_id and (l.type = 'product' or l.tax_rate is not null
      -- Other lines without a rate go along with those that have one, see erp.order_pieces
      or not exists (select from erp.sales_order_line_item r where r.order_id = billable_parts.order_id and r.tax_rate is not null))
  ),
  gap as (
    select l.n, l.id, l.due, lower(g.units) as first_unit, upper(g.units) - lower(g.units) as quantity,
      sum(upper(g.units) - lower(g.units)) over (partition by l.id order by g.units) as upto
    from line l cross join lateral unnest(int4multirange(int4range(0, l.quantity)) - coalesce((
      select range_agg(int4range(i.first_unit, i.first_unit + i.quantity))
      from erp.invoice_line_item i join erp.invoice v on v.document_id = i.document_id
      where i.order_line_item_id = l.id and v.cancellation_id is null), '{}')) g (units)
    where l.due > 0
  )
  select row (g.id, g.first_unit, least(g.quantity, g.due - (g.upto - g.quantity)))::erp.document_part
  from gap g where g.due > g.upto - g.quantity order by g.n, g.first_unit);
comment on function erp.billable_parts(uuid, boolean) is
  'Units of lines of an order that no invoice charges: of products only those that were shipped, if that is wanted; of other lines, such as the costs of shipping, all.';

create or replace function erp.create_invoice(order_id uuid, only_shipped boolean, field text[] default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parts erp.document_part[];
  shipments uuid[];
  made uuid;
begin
  perform ledger.lock_orders(array[order_id]);
  parts := erp.billable_parts(order_id, only_shipped);
  if cardinality(parts) = 0 then
    perform mutation.refuse('INVALID', case when only_shipped then 'All that was shipped has been invoiced already.'
      else 'There is nothing of the order that has not been invoiced already.' end, field, jsonb_build_object('invoices', (
        select coalesce(jsonb_agg(d.document_number order by d.id), '[]') from erp.document d join erp.invoice i on i.document_id = d.id
        where d.order_id = create_invoice.order_id and i.cancellation_id is null)));
  end if;
  shipments := array(
    select distinct f.id from erp.fulfillment_order o join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_invoice.order_id and not exists (
      select from erp.document_fulfillment c join erp.invoice i on i.document_id = c.document_id
      where c.fulfillment_id = f.id and i.cancellation_id is null)
    order by f.id);
  made := erp.insert_document(order_id, 'invoice', null, parts, shipments);
  insert into erp.invoice (document_id) values (made);
  insert into erp.invoice_line_item (document_id, order_line_item_id, first_unit, quantity)
  select made, p.order_line_item_id, p.first_unit, p.quantity from unnest(parts) with ordinality p order by p.ordinality;
  if only_shipped then
    insert into erp.document_fulfillment (document_id, fulfillment_id) select made, s.id from unnest(shipments) s (id) order by s.id;
  end if;
  return made;
end
$$;
comment on function erp.create_invoice(uuid, boolean, text[]) is
  'Makes an invoice over what no other charges of an order: of what was shipped, or of all. Whoever cancels one of the shipments cancels the invoice over them, too. User error INVALID when there is nothing to charge, or a line has no price.';

create or replace function erp.create_delivery_note(order_id uuid, fulfillment_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  made := erp.insert_document(order_id, 'delivery_note', null, null, array_remove(array[fulfillment_id], null));
  insert into erp.document_fulfillment (document_id, fulfillment_id) select made, fulfillment_id where fulfillment_id is not null;
  return made;
end
$$;
comment on function erp.create_delivery_note(uuid, uuid) is
  'Makes a delivery note of a shipment of an order, or of the whole order when there is none.';

create or replace function erp.create_reversal(order_id uuid, document_type text, invoice_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  referenced erp.document;
  is_cancelled boolean;
begin
  perform ledger.lock_orders(array[order_id]);
  select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = create_reversal.order_id and t.technical_name = 'invoice' and d.document_number is not null
    and d.id = coalesce(create_reversal.invoice_id, d.id)
  order by erp.is_cancelled_invoice(d.id), d.id desc limit 1;
  if not found then
    perform mutation.refuse('INVALID', case when invoice_id is null then 'The order has no invoice.'
      else 'The order has no such invoice.' end);
  elsif erp.is_cancelled_invoice(referenced.id) then
    perform mutation.refuse('INVALID', format('Invoice %s has been cancelled already.', referenced.document_number));
  end if;
  return erp.insert_document(order_id, document_type, referenced, null, null);
end
$$;
comment on function erp.create_reversal(uuid, text, uuid) is
  'Makes a credit note or storno of an invoice of an order, of the newest that stands unless one is named. A storno cancels it: what it charged can be invoiced again. User error INVALID.';

create or replace function erp.is_cancelled_invoice(invoice_id uuid) returns boolean
language sql stable
return exists (
  select from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.referenced_document_id = is_cancelled_invoice.invoice_id and t.technical_name = 'storno');
comment on function erp.is_cancelled_invoice(uuid) is 'Whether an invoice was cancelled by a storno.';

create or replace function erp.cancel_invoices_of(fulfillment_id uuid) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled record;
  left_over uuid;
  made uuid[] := '{}';
  orders uuid[] := '{}';
begin
  for cancelled in
    select d.id, d.order_id, exists (
      select from erp.document_fulfillment o join erp.fulfillment f on f.id = o.fulfillment_id
      where o.document_id = d.id and f.state = 'Fulfilled') as has_more
    from erp.document_fulfillment c join erp.invoice i on i.document_id = c.document_id and i.cancellation_id is null
    join erp.document d on d.id = i.document_id where c.fulfillment_id = cancel_invoices_of.fulfillment_id order by d.id
  loop
    made := made || erp.create_reversal(cancelled.order_id, 'storno', cancelled.id);
    if cancelled.has_more and cancelled.order_id <> all (orders) then
      orders := orders || cancelled.order_id;
    end if;
  end loop;
  foreach left_over in array orders loop
    if cardinality(erp.billable_parts(left_over, true)) > 0 then
      made := made || erp.create_invoice(left_over, true);
    end if;
  end loop;
  return made;
end
$$;
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices over a shipment that was cancelled, each by a storno. What they charged of other shipments is charged by a new invoice. Answers what was made.';
--! EndIncluded functions/erp/invoice.sql
--! Included functions/erp/create_document.sql
create or replace function erp.insert_document(order_id uuid, document_type text, referenced erp.document, parts erp.document_part[],
  fulfillments uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_');
  kind erp.document_type;
  number text;
  snapshot jsonb;
  missing text[];
  new_id uuid;
begin
  select * into strict kind from erp.document_type t where t.technical_name = document_type;
  number := erp.next_number(kind.number_range);
  select c.config into strict snapshot from erp.document_config(order_id, document_type, number, (now() at time zone 'UTC')::date,
    erp.document_locale(order_id), referenced.document_number, referenced.config, parts, fulfillments) c;
  if jsonb_path_exists(snapshot, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  end if;
  insert into erp.document (document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config)
  values (kind.id, insert_document.order_id, referenced.id, number, code, snapshot)
  returning id into new_id;
  missing := erp.missing_in_document(snapshot);
  if cardinality(missing) > 0 then
    perform mutation.warn('DOCUMENT_INCOMPLETE', format('%s lacks what the law asks for: %s.', number, array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', number, 'documentType', document_type, 'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]) is
  'Inserts a document of an order: with the next number of its type, a random code for its address, and all that it shows, see erp.document_config. Warning DOCUMENT_INCOMPLETE.';

create or replace function erp.create_document(order_id uuid, document_type text, referenced_document_id uuid default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  elsif referenced_document_id is not null and document_type not in ('credit_note', 'storno') then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;
  if document_type = 'invoice' then
    return erp.create_invoice(order_id, false);
  elsif document_type = 'delivery_note' then
    return erp.create_delivery_note(order_id, null);
  elsif document_type in ('credit_note', 'storno') then
    return erp.create_reversal(order_id, document_type, referenced_document_id);
  end if;
  perform mutation.refuse('INVALID', format('Documents of the type %s are not made here.', document_type));
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Makes an invoice, delivery_note, credit_note or storno of an order as a whole: an invoice over all that no other charges. Credit notes and stornos refer to an invoice of the order, the newest that stands unless one is named. User errors NOT_FOUND, INVALID.';

create or replace function erp.create_documents(order_id uuid, documents text[], fulfillment_id uuid default null) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  shipment_id uuid := fulfillment_id;
  wanted record;
  made uuid[] := '{}';
begin
  if cardinality(documents) > 0 and shipment_id is null then
    select f.id into shipment_id from erp.fulfillment_order o join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_documents.order_id order by f.created_at desc, f.id desc limit 1;
  end if;
  -- In one order, whatever the order that is asked for: who makes documents keeps the others waiting
  perform from erp.number_range r join erp.document_type t on t.number_range = r.technical_name
  where t.technical_name = any (documents) order by r.technical_name for update of r;
  for wanted in select d.name, array['documents', (d.ordinality - 1)::text] as field from unnest(documents) with ordinality d (name) order by d.ordinality loop
    made := made || case wanted.name
      when 'invoice' then erp.create_invoice(order_id, true, wanted.field)
      when 'delivery_note' then erp.create_delivery_note(order_id, shipment_id)
      else erp.create_document(order_id, wanted.name) end;
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[], uuid) is
  'Makes documents of the types that are named of a shipment of an order, the newest unless one is given: the delivery note lists what is in it, the invoice charges all that was shipped and that no other charges. Answers their ids. User error INVALID.';
--! EndIncluded functions/erp/create_document.sql
--! Included functions/ledger/keep_invoice_figures.sql
create or replace function ledger.change_invoiced_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders(array(select l.order_id from unnest(changes) c join erp.sales_order_line_item l on l.id = c.item_id));
  update erp.sales_order_line_item l set invoiced_quantity = l.invoiced_quantity + c.quantity
  from (select c.item_id, sum(c.quantity) as quantity from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0) c
  where l.id = c.item_id;
end
$$;
comment on function ledger.change_invoiced_quantities(ledger.change[]) is 'Adds to the invoiced quantities of the items, which are lines of orders.';

create or replace function ledger.keep_invoice_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By invoice and line of the order
  changes ledger.change[] := '{}';
begin
  if tg_op in ('INSERT', 'UPDATE') then
    changes := array(select row (l.document_id, l.order_line_item_id, l.quantity)::ledger.change from new_rows l);
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    changes := changes || array(select row (l.document_id, l.order_line_item_id, - l.quantity)::ledger.change from old_rows l);
  end if;
  -- An invoice that is being deleted is gone already, and has taken its quantities along
  perform ledger.change_invoiced_quantities(array(
    select c from unnest(changes) c join erp.invoice i on i.document_id = (c).owner_id where i.cancellation_id is null));
  return null;
end
$$;
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, whoever changed them: brings the invoiced quantities of the lines of orders up to date.';

create or replace function ledger.keep_invoice_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines go, for then nobody knows any more whether it stood
    if old.cancellation_id is null then
      perform ledger.change_invoiced_quantities(array(
        select row (old.document_id, l.order_line_item_id, - l.quantity)::ledger.change
        from erp.invoice_line_item l where l.document_id = old.document_id));
    end if;
    return old;
  end if;
  perform ledger.change_invoiced_quantities(array(
    select row (i.id, l.order_line_item_id, i.direction * l.quantity)::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.document_id as id, 1 as direction from new_rows n where n.cancellation_id is null
        union all select o.document_id, -1 from old_rows o where o.cancellation_id is null
      ) s group by s.id having sum(s.direction) <> 0
    ) i join erp.invoice_line_item l on l.document_id = i.id));
  return null;
end
$$;
comment on function ledger.keep_invoice_figures() is
  'Triggers before an invoice is deleted and after some were changed: one that is cancelled charges nothing any more.';

create or replace function ledger.keep_cancellations() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from new_rows n join erp.document d on d.referenced_document_id = n.referenced_document_id
    join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'storno'
    where n.document_type_id = t.id group by n.referenced_document_id having count(distinct d.id) > 1
  ) then
    perform mutation.refuse('INVALID', 'The invoice has been cancelled already.');
  end if;
  update erp.invoice i set cancellation_id = n.id
  from new_rows n join erp.document_type t on t.id = n.document_type_id and t.technical_name = 'storno'
  where i.document_id = n.referenced_document_id;
  return null;
end
$$;
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, whoever inserted them: a storno cancels the invoice that it refers to, which can happen once. User error INVALID.';
--! EndIncluded functions/ledger/keep_invoice_figures.sql
--! Included functions/erp/uncovered.sql
create or replace function erp.uncovered_lines(order_id uuid) returns ledger.change[]
language sql stable
return array(
  select row (l.id, l.product_id, l.quantity - l.shipped_quantity - c.quantity)::ledger.change
  from erp.sales_order_line_item l
  cross join lateral (
    select coalesce(sum(a.quantity - a.fulfilled_quantity), 0) as quantity
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ) c
  where l.order_id = uncovered_lines.order_id and l.type = 'product' and l.quantity > l.shipped_quantity + c.quantity
  order by l."position", l.id
);
comment on function erp.uncovered_lines(uuid) is
  'Units of lines of an order that are neither shipped nor to be shipped by an open fulfillment order: by line (owner) and product (item). What a cancelled fulfillment order had open is among them.';

create or replace function erp.is_called_off(order_line_item_id uuid, location_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
  where a.destination_order_line_item_id = is_called_off.order_line_item_id and a.quantity > a.fulfilled_quantity
    and f.state = 'Cancelled' and f.source_warehouse_location_id = is_called_off.location_id);
comment on function erp.is_called_off(uuid, uuid) is
  'Whether a fulfillment order was cancelled by which a location was to ship units of a line of an order. They are shipped from there only if somebody says so.';

create or replace function erp.location_of_warehouse(warehouse_id uuid, field text[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted uuid;
begin
  perform from erp.warehouse w where w.id = location_of_warehouse.warehouse_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', field);
  end if;
  select l.id into wanted from erp.location l
  where l.warehouse_id = location_of_warehouse.warehouse_id and l.active for key share;
  if not found then
    perform mutation.refuse('INVALID', 'The warehouse has no active location to ship from.', field);
  end if;
  return wanted;
end
$$;
comment on function erp.location_of_warehouse(uuid, text[]) is
  'The active location of a warehouse, from which orders are shipped; it is kept from deletion until the end of the transaction. User errors NOT_FOUND, INVALID.';

create or replace function erp.other_location(order_id uuid, lines ledger.change[]) returns uuid
language sql stable
begin atomic
  select l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where l.active and w.is_stock_available_for_sale
    and not exists (select from unnest(lines) u where erp.is_called_off(u.owner_id, l.id))
    and not exists (
      select from (select u.item_id as product_id, sum(u.quantity) as quantity from unnest(lines) u where u.item_id is not null group by 1) n
      left join ledger.warehouse_stock s on s.product_id = n.product_id and s.warehouse_id = w.id
      where coalesce(s.quantity - s.reserved_quantity, 0) < n.quantity)
  order by not exists (
      select from erp.fulfillment_order f where f.destination_order_id = other_location.order_id
        and f.source_warehouse_location_id = l.id and f.state in ('Open', 'InProgress')),
    w.code, l.id
  limit 1;
end;
comment on function erp.other_location(uuid, ledger.change[]) is
  'A location from which units of lines can be shipped that were called off elsewhere: its warehouse sells its stock, and has all of them beside what it is to ship already. One that ships something of the order anyway comes first, then the order is that of the codes of the warehouses. Null when there is none.';

create or replace function erp.plan_uncovered(order_id uuid, warehouse_id uuid) returns erp.assignment[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered constant ledger.change[] := erp.uncovered_lines(order_id);
  home uuid;
  called_off ledger.change[];
  elsewhere uuid;
begin
  if cardinality(uncovered) = 0 then
    return '{}';
  elsif warehouse_id is not null then
    home := erp.location_of_warehouse(warehouse_id, '{warehouse_id}');
    return array(select row (home, u.owner_id, u.item_id, u.quantity)::erp.assignment from unnest(uncovered) u);
  end if;
  select l.id into home from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where w.is_default and l.active for key share of l;
  called_off := array(select u from unnest(uncovered) u where erp.is_called_off((u).owner_id, home));
  if cardinality(called_off) > 0 then
    elsewhere := erp.other_location(order_id, called_off);
    perform from erp.location l where l.id = elsewhere for key share;
    if not found then
      perform mutation.refuse('INSUFFICIENT_STOCK',
        'What was called off at the default warehouse is not shipped from there, and no other warehouse has all of it.', '{order_id}',
        jsonb_build_object('requested', (select sum(c.quantity) from unnest(called_off) c)));
    end if;
  end if;
  if home is null and cardinality(called_off) < cardinality(uncovered) then
    perform mutation.refuse('INVALID', 'The default warehouse has no active location to ship from.', '{order_id}');
  end if;
  return array(
    select row (case when u = any (called_off) then elsewhere else home end, u.owner_id, u.item_id, u.quantity)::erp.assignment
    from unnest(uncovered) u);
end
$$;
comment on function erp.plan_uncovered(uuid, uuid) is
  'Which locations are to ship what no open fulfillment order has of an order: that of the warehouse that is named, or else of the default warehouse; and what was called off there, erp.other_location. They are kept from deletion until the end of the transaction. User errors NOT_FOUND, INVALID, INSUFFICIENT_STOCK.';

create or replace function erp.assign(order_id uuid, assignments erp.assignment[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  source_id uuid;
  made uuid;
  all_made uuid[] := '{}';
begin
  for source_id in
    select a.location_id from unnest(assignments) with ordinality a group by a.location_id order by min(a.ordinality)
  loop
    insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id, shipping_method_id,
      shipping_method_name, shipping_address)
    select erp.next_number('fulfillment_order'), o.id, source_id, m.id, m.name ->> 'en-GB', o.shipping_address
    from erp.sales_order o left join erp.shipping_method m on m.id = o.shipping_method_id where o.id = assign.order_id
    returning id into strict made;
    insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
    select made, a.order_line_item_id, a.product_id, a.quantity from unnest(assignments) with ordinality a
    where a.location_id = source_id order by a.ordinality;
    all_made := all_made || made;
  end loop;
  return all_made;
end
$$;
comment on function erp.assign(uuid, erp.assignment[]) is
  'Makes a fulfillment order for each location that is to ship units of an order. Answers their ids. Whoever calls holds the locks of the order, and those of ledger.lock: the number range comes last.';
--! EndIncluded functions/erp/uncovered.sql
--! Included functions/erp/complete_shipment.sql
create or replace function erp.require_documents(documents text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(case when d.nth > 1 then 'NOT_UNIQUE' else 'INVALID' end,
    case when d.nth > 1 then 'This type is in the list already.' else format('There is no type of documents named %s.', d.name) end,
    array['documents', (d.position - 1)::text]) order by d.position)
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

create or replace function erp.lock_order_to_ship(order_id uuid) returns erp.sales_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
begin
  select * into present from erp.sales_order o where o.id = order_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.', '{order_id}');
  end if;
  if present.state <> 'in_progress' then
    perform erp.next_state('order', 'process', present.state);
  end if;
  perform ledger.lock_orders('{}', array(select f.id from erp.fulfillment_order f where f.destination_order_id = present.id));
  return present;
end
$$;
comment on function erp.lock_order_to_ship(uuid) is
  'Takes the locks of an order and its fulfillment orders, and answers the order, which can be worked on. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';

create or replace function erp.refuse_nothing_to_ship(present erp.sales_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold') and erp.has_open_lines(f.id)
  ) then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'What is left to ship is shipped by somebody else.', '{order_id}');
  end if;
  perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{order_id}',
    jsonb_build_object('state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)));
end
$$;
comment on function erp.refuse_nothing_to_ship(erp.sales_order) is
  'Says why nothing of an order can be shipped. User errors EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION.';

create or replace function erp.open_picks(order_id uuid) returns ledger.pick[]
language sql stable
return array(
  select row ('{order_id}', l.id, l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity, null, null, null)::ledger.pick
  from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
  left join erp.location w on w.id = f.source_warehouse_location_id
  where f.destination_order_id = open_picks.order_id and f.type = 'WarehouseLocationToOrder' and f.state in ('Open', 'InProgress')
    and l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null
  order by l.id);
comment on function erp.open_picks(uuid) is
  'What the open fulfillment orders of an order are to ship from the warehouses of the merchant, as picks of ledger.ship.';

create or replace function erp.lock_to_ship(picks ledger.pick[], assignments erp.assignment[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_shipment(
    array(
      select p.product_id from unnest(picks) p where p.product_id is not null
      union
      select s.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id where s.product_id is not null
      union
      select a.product_id from unnest(assignments) a where a.product_id is not null
    ),
    array(
      select p.warehouse_id from unnest(picks) p
      union
      select l.warehouse_id from unnest(assignments) a join erp.location l on l.id = a.location_id
    )
  );
end
$$;
comment on function erp.lock_to_ship(ledger.pick[], erp.assignment[]) is
  'Takes the locks of ledger.lock_shipment for what fulfillment orders have open and what is to be assigned.';

create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[], note text,
  warehouse_id uuid default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  present erp.sales_order;
  picks ledger.pick[];
  assignments erp.assignment[];
begin
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
  present := erp.lock_order_to_ship(order_id);
  if exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = present.id and f.type = 'WarehouseLocationToOrder' and f.state = 'OnHold'
  ) then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l
  where l.id in (select f.source_warehouse_location_id from erp.fulfillment_order f where f.destination_order_id = present.id)
  order by l.id for key share;
  picks := erp.open_picks(present.id);
  assignments := erp.plan_uncovered(present.id, warehouse_id);
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.refuse_nothing_to_ship(present);
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  if cardinality(assignments) > 0 then
    perform erp.assign(present.id, assignments);
    picks := erp.open_picks(present.id);
  end if;
  return erp.ship(present.id, picks, tracking_codes, note);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships all that is open of an order: from the warehouses that it is assigned to, and what no open fulfillment order has from those of erp.plan_uncovered, for which a warehouse may be named. What somebody else ships is left to them. Documents are only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES.';
--! EndIncluded functions/erp/complete_shipment.sql
--! Included functions/erp/shipment.sql
create or replace function erp.require_tracking_codes(codes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if cardinality(codes) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s tracking codes; %s are allowed at once.', cardinality(codes), most),
      '{tracking_codes}', jsonb_build_object('lines', cardinality(codes), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error('OUT_OF_RANGE', 'A tracking code has 1 to 255 characters.', array['tracking_codes', (c.ordinality - 1)::text])
    order by c.ordinality)
  into errors
  from unnest(codes) with ordinality c (code) where c.code is null or length(c.code) > 255 or btrim(c.code) = '';
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_tracking_codes(text[]) is 'Refuses tracking codes that are none. User errors TOO_MANY_LINES, OUT_OF_RANGE.';

create or replace function erp.has_open_lines(fulfillment_order_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item l
  where l.fulfillment_order_id = has_open_lines.fulfillment_order_id and l.quantity > l.fulfilled_quantity
    and l.destination_order_line_item_id is not null);
comment on function erp.has_open_lines(uuid) is
  'Whether a fulfillment order has something left to ship. Lines of which the order line was deleted are not wanted any more.';

create or replace function erp.settle_order(order_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_all_shipped boolean;
begin
  select * into strict present from erp.sales_order o where o.id = order_id;
  wanted := present;
  is_all_shipped := not exists (
      select from erp.sales_order_line_item l where l.order_id = present.id and l.type = 'product' and l.shipped_quantity < l.quantity)
    and not exists (
      select from erp.fulfillment_order f
      where f.destination_order_id = present.id and f.state in ('Open', 'InProgress', 'OnHold') and erp.has_open_lines(f.id));
  -- An order without a delivery has one as soon as something of it is shipped
  wanted.delivery_state := erp.next_state('order_delivery', case when is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  if wanted.state <> 'in_progress' then
    wanted.state := erp.next_state('order', 'process', wanted.state);
  end if;
  if is_all_shipped then
    wanted.state := erp.next_state('order', 'complete', wanted.state);
  end if;
  update erp.sales_order o set state = wanted.state, delivery_state = wanted.delivery_state where o.id = present.id;
end
$$;
comment on function erp.settle_order(uuid) is
  'Brings the states of an order up to date after something of it was shipped: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';

create or replace function erp.unsettle_order(order_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_some_shipped boolean;
begin
  select * into strict present from erp.sales_order o where o.id = order_id;
  wanted := present;
  is_some_shipped := exists (
      select from erp.sales_order_line_item l where l.order_id = present.id and l.type = 'product' and l.shipped_quantity > 0)
    or exists (
      select from erp.fulfillment_order f join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.destination_order_id = present.id and l.fulfilled_quantity > 0);
  -- What was called off stays so: parcels that come back do not bring the order back
  if present.delivery_state <> 'cancelled' then
    wanted.delivery_state := erp.next_state('order_delivery', case when is_some_shipped then 'unship_partially' else 'unship' end, present.delivery_state);
  end if;
  if present.state = 'cancelled' then
    if wanted.delivery_state = 'open' then
      wanted.delivery_state := erp.next_state('order_delivery', 'cancel', wanted.delivery_state);
    end if;
  elsif is_some_shipped and present.state = 'completed' then
    wanted.state := erp.next_state('order', 'process', erp.next_state('order', 'reopen', present.state));
  elsif not is_some_shipped and present.state <> 'open' then
    wanted.state := erp.next_state('order', case present.state when 'completed' then 'reopen' else 'stop' end, present.state);
  end if;
  update erp.sales_order o set state = wanted.state, delivery_state = wanted.delivery_state where o.id = present.id;
end
$$;
comment on function erp.unsettle_order(uuid) is
  'Brings the states of an order up to date after a fulfillment of it was cancelled: open when nothing is shipped any more, else in progress. A cancelled order stays cancelled. User error INVALID_STATE_TRANSITION.';

create or replace function erp.ship(order_id uuid, picks ledger.pick[], tracking_codes text[], note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked record;
  made uuid;
  fulfillment_orders uuid[];
begin
  select * into booked from ledger.ship(order_id, picks, note);
  fulfillment_orders := array(
    select distinct l.fulfillment_order_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id order by 1);
  -- Last of all locks, for it keeps everybody waiting who ships something
  insert into erp.fulfillment (number) values (erp.next_number('fulfillment')) returning id into made;
  insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id) select f.id, made from unnest(fulfillment_orders) f (id);
  with shipped as (
    insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, product_id, quantity)
    select made, l.fulfillment_order_id, l.id, l.product_id, p.quantity
    from (select p.line_id, min(p.ordinality) as position, sum(p.quantity) as quantity from unnest(picks) with ordinality p group by p.line_id) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id order by p.position
    returning id, fulfillment_order_line_item_id
  )
  insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id)
  select s.id, m.id
  from unnest(booked.stock_movements, booked.lines) m (id, line_id) join shipped s on s.fulfillment_order_line_item_id = m.line_id;

  update erp.fulfillment_order f
  set state = erp.next_state('fulfillment_order', case when w.is_open then 'start' else 'close' end, f.state)
  from (select n.id, erp.has_open_lines(n.id) as is_open from unnest(fulfillment_orders) n (id)) w
  where f.id = w.id and (f.state = 'Open' or not w.is_open);
  if cardinality(tracking_codes) > 0 then
    update erp.sales_order o set entered_tracking_codes = o.entered_tracking_codes || ship.tracking_codes where o.id = order_id;
  end if;
  perform erp.settle_order(order_id);
  return row (order_id, array[made], fulfillment_orders, booked.stock_movements, '{}')::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], text[], text) is
  'Ships units of fulfillment orders of one order: books them out, records the fulfillment, closes what is fulfilled. Whoever calls holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
--! EndIncluded functions/erp/shipment.sql
--! Included functions/erp/fulfillment.sql
create or replace function erp.require_shipping_lines(lines erp.shipping_line[], places erp.shipping_place[], id_field text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  errors jsonb;
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed. Leave the list out to fulfill all that is open.', '{lines}');
  elsif greatest(cardinality(lines), cardinality(places)) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('There are %s lines with %s places; %s are allowed at once.', cardinality(lines), cardinality(places), most),
      '{lines}', jsonb_build_object('lines', greatest(cardinality(lines), cardinality(places)), 'maximum', most));
  end if;
  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where l.quantity < 1
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line is about the same.', array[id_field]
    from (select l.*, row_number() over (partition by l.id order by l.ordinality) as nth from unnest(lines) with ordinality l) l where l.nth > 1
    union all
    select p.line, 'INVALID', 'Name a warehouse or a bin, and not both.', array['places', (p.nth - 1)::text, 'place']
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', array['places', (p.nth - 1)::text, 'quantity']
    from unnest(places) p where p.quantity < 1
    union all
    select l.ordinality, 'INVALID', format('The places have %s units together, the line has %s.', p.quantity, l.quantity), '{places}'
    from unnest(lines) with ordinality l join (select p.line, sum(p.quantity) as quantity from unnest(places) p group by p.line) p on p.line = l.ordinality
    where p.quantity <> l.quantity
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text) is
  'Refuses lines and places that are wrong by themselves. The text is the name of the input field of a line''s id. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, INVALID.';

create or replace function erp.require_shippable(present erp.fulfillment_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  order_state text;
begin
  if present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold.', '{fulfillment_order_id}');
  end if;
  perform erp.next_state('fulfillment_order', 'close', present.state);
  select o.state into order_state from erp.sales_order o where o.id = present.destination_order_id;
  if not found then
    perform mutation.refuse('INVALID', 'Its order has been deleted: there is nobody to ship to.', '{fulfillment_order_id}');
  elsif order_state <> 'in_progress' then
    perform erp.next_state('order', 'process', order_state);
  end if;
end
$$;
comment on function erp.require_shippable(erp.fulfillment_order) is
  'Refuses fulfillment orders of which nothing can be shipped in their state or that of their order. User errors ON_HOLD, INVALID_STATE_TRANSITION, INVALID.';

create or replace function erp.picks_of(present erp.fulfillment_order, lines erp.shipping_line[], places erp.shipping_place[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  picks ledger.pick[];
  errors jsonb;
begin
  if lines is null then
    picks := array(
      select row ('{fulfillment_order_id}', l.id, l.product_id, null, l.quantity - l.fulfilled_quantity, null, null, null)::ledger.pick
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = present.id and l.quantity > l.fulfilled_quantity and l.destination_order_line_item_id is not null order by l.id
    );
    if cardinality(picks) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing is left to ship.', '{fulfillment_order_id}',
        jsonb_build_object('state', present.state, 'allowedActions', erp.allowed_actions('fulfillment_order', present.state)));
    end if;
    return picks;
  end if;
  select jsonb_agg(case
    when a.id is null then mutation.user_error('NOT_FOUND', 'The fulfillment order has no such line.',
      array['lines', (l.ordinality - 1)::text, 'fulfillment_order_line_item_id'])
    else mutation.user_error('OVER_FULFILLMENT', format('%s units are open, not %s.', a.quantity - a.fulfilled_quantity, l.quantity),
      array['lines', (l.ordinality - 1)::text, 'quantity'],
      jsonb_build_object('open', a.quantity - a.fulfilled_quantity, 'requested', l.quantity))
    end order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  left join erp.fulfillment_order_line_item a on a.id = l.id and a.fulfillment_order_id = present.id
  where a.id is null or l.quantity > a.quantity - a.fulfilled_quantity;
  perform mutation.refuse(errors);
  return array(
    select row (array['lines', (l.ordinality - 1)::text] || case when p.line is null then '{quantity}'::text[]
      else array['places', (p.nth - 1)::text, 'quantity'] end, l.id, a.product_id, null, coalesce(p.quantity, l.quantity),
      case when p.warehouse_id is not null then 'warehouse' when p.bin_location_id is not null then 'bin_location' end,
      coalesce(p.warehouse_id, p.bin_location_id)::text, p.batch_id)::ledger.pick
    from unnest(lines) with ordinality l join erp.fulfillment_order_line_item a on a.id = l.id
    left join unnest(places) p on p.line = l.ordinality order by l.ordinality, p.nth
  );
end
$$;
comment on function erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]) is
  'Lines of a fulfillment order, or all that is open of it when lines is null, as picks of ledger.ship that have no warehouse yet. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION.';

create or replace function erp.require_places(lines erp.shipping_line[], places erp.shipping_place[], source_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array['lines', (e.line - 1)::text, 'places', (e.nth - 1)::text] || e.field) order by e.line, e.nth)
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p where p.bin_location_id is not null and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p left join erp.bin_location b on b.id = p.bin_location_id left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could lie there.', '{place}'
    from unnest(places) p join erp.fulfillment_order_line_item l on l.id = lines[p.line].id where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(places) p join erp.batch b on b.id = p.batch_id join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that units of lines cannot be taken from by a warehouse. User errors NOT_FOUND, INVALID, BATCH_MISMATCH.';

create or replace function erp.create_fulfillment(fulfillment_order_id uuid, lines erp.shipping_line[], places erp.shipping_place[],
  tracking_codes text[], note text, documents text[] default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  present erp.fulfillment_order;
  source_id uuid;
  picks ledger.pick[];
begin
  perform erp.require_shipping_lines(lines, places, 'fulfillment_order_line_item_id');
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
  present := erp.lock_fulfillment_order(fulfillment_order_id, '{fulfillment_order_id}');
  perform erp.require_shippable(present);
  picks := erp.picks_of(present, lines, places);

  select l.warehouse_id into source_id from erp.location l where l.id = present.source_warehouse_location_id for key share;
  if source_id is null and exists (select from unnest(picks) p where p.product_id is not null) then
    perform mutation.refuse('INVALID', 'The fulfillment order has no warehouse to ship from.', '{fulfillment_order_id}');
  end if;
  picks := array(
    select row (p.field, p.line_id, p.product_id, source_id, p.quantity, p.place_type, p.place, p.batch_id)::ledger.pick
    from unnest(picks) with ordinality p order by p.ordinality);
  perform ledger.lock_shipment(
    array(
      select p.product_id from unnest(picks) p where p.product_id is not null
      union
      select s.product_id from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id where s.product_id is not null
    ),
    array[source_id],
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null)
  );
  perform erp.require_places(lines, places, source_id);
  return erp.ship(present.destination_order_id, picks, tracking_codes, note);
end
$$;
comment on function erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]) is
  'Ships some of what a fulfillment order has open, or all when lines is null, from the places that are named or, where none is, from those that are next on the pick route. Documents are only checked here. User errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_REQUIRED, INSUFFICIENT_STOCK.';
--! EndIncluded functions/erp/fulfillment.sql
--! Included functions/erp/cancel_fulfillment.sql
create or replace function erp.cancel_fulfillment(fulfillment_id uuid, note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  present erp.fulfillment;
  wanted text;
  orders uuid[];
  fulfillment_orders uuid[];
  stock_movements uuid[];
begin
  fulfillment_orders := array(
    select p.fulfillment_order_id from erp.fulfillment_order_fulfillment p where p.fulfillment_id = cancel_fulfillment.fulfillment_id order by 1);
  orders := array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (fulfillment_orders) and f.destination_order_id is not null order by 1);
  perform ledger.lock_orders(orders, fulfillment_orders);
  select * into present from erp.fulfillment f where f.id = fulfillment_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such fulfillment.', '{id}');
  elsif exists (select from erp.fulfillment_order f where f.id = any (fulfillment_orders) and f.type = 'ExternalToOrder') then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'Somebody else has shipped it.', '{id}');
  end if;
  wanted := erp.next_state('fulfillment', 'cancel', present.state);
  perform from erp.location l
  where l.id in (select f.source_warehouse_location_id from erp.fulfillment_order f where f.id = any (fulfillment_orders)) order by l.id for key share;

  stock_movements := ledger.take_back(present.id, note);
  update erp.fulfillment f set state = wanted where f.id = present.id;
  -- Nobody is to work on an order that was called off
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'reopen', f.state)
  from erp.sales_order o where f.id = any (fulfillment_orders) and f.state = 'Closed' and o.id = f.destination_order_id and o.state <> 'cancelled';
  perform erp.unsettle_order(o.id) from unnest(orders) o (id);
  return row (orders[1], array[present.id], fulfillment_orders, stock_movements, erp.cancel_invoices_of(present.id))::erp.shipment;
end
$$;
comment on function erp.cancel_fulfillment(uuid, text) is
  'Cancels a fulfillment: books its units back, opens its quantities again, and cancels the invoices over it (erp.cancel_invoices_of). User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID, INVALID_STATE_TRANSITION, and those of ledger.take_back.';
--! EndIncluded functions/erp/cancel_fulfillment.sql
--! Included functions/erp/create_fulfillment_order.sql
create or replace function erp.require_assignable_lines(order_id uuid, lines erp.shipping_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered constant ledger.change[] := erp.uncovered_lines(order_id);
  errors jsonb;
begin
  select jsonb_agg(case
    when s.id is null then mutation.user_error('NOT_FOUND', 'The order has no such line.',
      array['lines', (l.ordinality - 1)::text, 'order_line_item_id'])
    when s.type is distinct from 'product' then mutation.user_error('INVALID', 'Nothing of this line is shipped: it is no product.',
      array['lines', (l.ordinality - 1)::text, 'order_line_item_id'])
    else mutation.user_error('OVER_FULFILLMENT', format('%s units are open that no fulfillment order has, not %s.', coalesce(u.quantity, 0), l.quantity),
      array['lines', (l.ordinality - 1)::text, 'quantity'], jsonb_build_object('open', coalesce(u.quantity, 0), 'requested', l.quantity))
    end order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  left join erp.sales_order_line_item s on s.id = l.id and s.order_id = require_assignable_lines.order_id
  left join unnest(uncovered) u on u.owner_id = l.id
  where s.id is null or s.type is distinct from 'product' or l.quantity > coalesce(u.quantity, 0);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_assignable_lines(uuid, erp.shipping_line[]) is
  'Refuses lines of an order of which fewer units are open that no fulfillment order has. User errors NOT_FOUND, INVALID, OVER_FULFILLMENT.';

create or replace function erp.create_fulfillment_order(order_id uuid, warehouse_id uuid, lines erp.shipping_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  present erp.sales_order;
  assignments erp.assignment[];
begin
  perform erp.require_shipping_lines(lines, '{}', 'order_line_item_id');
  present := erp.lock_order_to_ship(order_id);
  if lines is null then
    assignments := erp.plan_uncovered(present.id, warehouse_id);
    if cardinality(assignments) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION', 'Nothing of the order is open that no fulfillment order has.', '{order_id}',
        jsonb_build_object('state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)));
    end if;
  else
    perform erp.require_assignable_lines(present.id, lines);
    assignments := array(
      select row (w.location_id, s.id, s.product_id, l.quantity)::erp.assignment
      from (select erp.location_of_warehouse(warehouse_id, '{warehouse_id}') as location_id) w
      cross join unnest(lines) with ordinality l join erp.sales_order_line_item s on s.id = l.id order by l.ordinality);
  end if;
  perform erp.lock_to_ship('{}', assignments);
  return (erp.assign(present.id, assignments))[1];
end
$$;
comment on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) is
  'Has a warehouse ship units of lines of an order that no fulfillment order has, or all of them when lines is null. Answers the fulfillment order. User errors NOT_FOUND, INVALID, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, REQUIRED, OUT_OF_RANGE, NOT_UNIQUE, TOO_MANY_LINES.';
--! EndIncluded functions/erp/create_fulfillment_order.sql

do $$
begin
  if not exists (select from pg_constraint where conname = 'merchant_iban_is_one') then
    alter table erp.merchant add constraint merchant_iban_is_one check (erp.is_iban(iban));
  end if;
end
$$;

-- Invoices that there are: the oldest of an order that was not cancelled charges all of it
insert into erp.invoice (document_id, cancellation_id)
select d.id, (
  select s.id from erp.document s join erp.document_type k on k.id = s.document_type_id
  where s.referenced_document_id = d.id and k.technical_name = 'storno' order by s.id limit 1)
from erp.document d join erp.document_type t on t.id = d.document_type_id
where t.technical_name = 'invoice' and d.document_number is not null and not exists (select from erp.invoice i where i.document_id = d.id)
order by d.id;
create temporary table standing_invoice on commit drop as
select distinct on (d.order_id) d.id, d.order_id, d.created_at
from erp.document d join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
where not exists (
  select from erp.sales_order_line_item l where l.order_id = d.order_id and l.invoiced_quantity > 0)
order by d.order_id, d.id;
insert into erp.invoice_line_item (document_id, order_line_item_id, quantity)
select s.id, p.order_line_item_id, p.quantity from standing_invoice s cross join lateral unnest(erp.billable_parts(s.order_id, false)) with ordinality p
order by s.id, p.ordinality;
alter table erp.sales_order_line_item disable trigger touch_updated_at;
update erp.sales_order_line_item l set invoiced_quantity = i.quantity
from (
  select i.order_line_item_id, sum(i.quantity) as quantity from erp.invoice_line_item i
  join erp.invoice v on v.document_id = i.document_id and v.cancellation_id is null group by 1
) i where i.order_line_item_id = l.id and l.invoiced_quantity <> i.quantity;
alter table erp.sales_order_line_item enable trigger touch_updated_at;
insert into erp.document_fulfillment (document_id, fulfillment_id)
select distinct s.id, f.id from standing_invoice s join erp.fulfillment_order o on o.destination_order_id = s.order_id
join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled' and f.created_at <= s.created_at
order by s.id, f.id on conflict do nothing;
drop table standing_invoice;

do $$
declare
  item record;
begin
  for item in
    select t.* from (values
      ('erp.invoice_line_item', 'ledger.keep_invoice_line_figures', '{insert,update,delete}'::text[]),
      ('erp.invoice', 'ledger.keep_invoice_figures', '{update}'),
      ('erp.document', 'ledger.keep_cancellations', '{insert}')
    ) t (relation, routine, events)
  loop
    execute (
      select string_agg(format('create or replace trigger keep_figures_after_%s after %1$s on %s referencing %s for each statement execute function %s()',
        e.event, item.relation, e.tables, item.routine), '; ')
      from (values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'), ('delete', 'old table as old_rows'))
        e (event, tables) where e.event = any (item.events));
  end loop;
end
$$;
create or replace trigger keep_figures_before_delete before delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();


select api_meta.give(routine, 'service_ledger') from unnest(array['ledger.keep_invoice_line_figures()', 'ledger.keep_invoice_figures()',
  'ledger.keep_cancellations()']::regprocedure[]) routine;
select api_meta.allow('service_ledger', 'erp.sales_order_line_item', 'update (invoiced_quantity)');
select api_meta.allow('service_ledger', 'erp.invoice', 'select', 'update (cancellation_id)');
select api_meta.allow('service_ledger', relation, 'select')
from unnest(array['erp.invoice_line_item', 'erp.document', 'erp.document_type']::regclass[]) relation;
grant execute on function ledger.change_invoiced_quantities(ledger.change[]) to service_ledger;
select api_meta.allow('service_writer', relation, 'select', 'insert')
from unnest(array['erp.document_fulfillment', 'erp.invoice', 'erp.invoice_line_item']::regclass[]) relation;
select api_meta.allow('service_writer', 'erp.merchant', 'select');
select api_meta.allow('service_writer', 'ledger.warehouse_stock', 'select');
grant execute on function erp.is_in_eu(text), erp.seller(text), erp.tax_exemption(text, text, text), erp.vat_id_for(jsonb, text),
  erp.missing_in_document(jsonb), erp.order_pieces(uuid, text), erp.document_amounts(uuid, text, erp.document_part[]),
  erp.reversed_amounts(jsonb), erp.delivered_lines(uuid, uuid), erp.delivery_date(uuid[], text, date),
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]),
  erp.billable_parts(uuid, boolean), erp.create_invoice(uuid, boolean, text[]), erp.create_delivery_note(uuid, uuid),
  erp.create_reversal(uuid, text, uuid), erp.is_cancelled_invoice(uuid), erp.cancel_invoices_of(uuid),
  erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]), erp.create_document(uuid, text, uuid),
  erp.create_documents(uuid, text[], uuid), erp.uncovered_lines(uuid), erp.is_called_off(uuid, uuid),
  erp.location_of_warehouse(uuid, text[]), erp.other_location(uuid, ledger.change[]), erp.plan_uncovered(uuid, uuid),
  erp.assign(uuid, erp.assignment[]), erp.require_documents(text[]), erp.lock_order_to_ship(uuid),
  erp.refuse_nothing_to_ship(erp.sales_order), erp.open_picks(uuid), erp.lock_to_ship(ledger.pick[], erp.assignment[]),
  erp.complete_shipment(uuid, text[], text[], text, uuid), erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text),
  erp.require_shippable(erp.fulfillment_order), erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]),
  erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]),
  erp.require_assignable_lines(uuid, erp.shipping_line[]), erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;

--! split: 55-payloads.sql
-- The mutations whose payloads have warnings, or whose inputs take no null in some field. Last, for what they call is made before.
--! Included functions/api/stock_place.sql
drop type if exists api_unstable.stock_place_input cascade;
create type api_unstable.stock_place_input as (warehouse_id uuid, bin_location_id uuid);
comment on type api_unstable.stock_place_input is 'A place that holds stock: either a warehouse, for what lies in it outside of bins, or a bin.';
comment on column api_unstable.stock_place_input.warehouse_id is E'@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stock_place_input.bin_location_id is E'@gid BinLocation\nId of the bin.';

drop type if exists api_unstable.stock_payload cascade;
create type api_unstable.stock_payload as (
  stock_movements uuid[], stocks uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.stock_payload is 'What a mutation of stock answers.';
comment on column api_unstable.stock_payload.stock_movements is
  E'@entity StockMovement\n@perLine lines\nThe movements that were booked, in the order of the lines. Empty when there was nothing to book.';
comment on column api_unstable.stock_payload.stocks is E'@entity Stock\n@perLine lines 2\nThe stock in the places of the lines, as it is now.';
comment on column api_unstable.stock_payload.user_errors is 'Why nothing was booked; empty when all was.';
comment on column api_unstable.stock_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';
--! EndIncluded functions/api/stock_place.sql
--! Included functions/api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid, expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'What the stock of a product in a place is to be.';
comment on column api_unstable.stock_set_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_set_line_input.quantity is E'@notNull\nUnits that are there; not negative.';
comment on column api_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\nId of the batch that was counted. The line then sets the stock of this batch only. Needed for products that are kept in batches.';
comment on column api_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: QUANTITY_CHANGED.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a moment without decimals is the beginning of its second. What came and went later stays on top of it: the stock becomes the quantity and all later movements, save what other counts have corrected. Counts may come late, in any order, and more than once: one that is older than another of the same stock is kept, changes nothing, and is told by the warning COUNT_SUPERSEDED. Of two counts of the same moment, the one that comes later stands. Without it the quantity holds for now.';
create type api_unstable.stock_set_input as (lines api_unstable.stock_set_line_input[], comment text);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS
@warnings COUNT_SUPERSEDED STOCK_PROMISED
Sets stock to what is there, as after a count: books each difference between what the books say and the line, against the special place stock_correction, by the process api. All lines are booked, or none.$$;
--! EndIncluded functions/api/stock_set.sql
--! Included functions/api/stock_adjust.sql
drop type if exists api_unstable.stock_adjust_input cascade;
drop type if exists api_unstable.stock_adjust_line_input cascade;
create type api_unstable.stock_adjust_line_input as (
  product_id uuid, place api_unstable.stock_place_input, delta integer, batch_id uuid, expected_quantity integer
);
comment on type api_unstable.stock_adjust_line_input is 'How the stock of a product in a place changes.';
comment on column api_unstable.stock_adjust_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_adjust_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_adjust_line_input.delta is E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: QUANTITY_CHANGED.';
create type api_unstable.stock_adjust_input as (lines api_unstable.stock_adjust_line_input[], comment text);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is E'@notNull\nWhat changes; 1 to 250 lines. A product and place may occur in several.';
comment on column api_unstable.stock_adjust_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS
@warnings STOCK_PROMISED
Adds units to stock or takes them away, against the special place stock_correction, by the processes api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of all lines together.$$;
--! EndIncluded functions/api/stock_adjust.sql
--! Included functions/api/stock_transfer.sql
drop type if exists api_unstable.stock_transfer_input cascade;
drop type if exists api_unstable.stock_transfer_line_input cascade;
create type api_unstable.stock_transfer_line_input as (
  product_id uuid, source api_unstable.stock_place_input, destination api_unstable.stock_place_input, quantity integer, batch_id uuid,
  expected_quantity integer
);
comment on type api_unstable.stock_transfer_line_input is 'Units that move from one place to another.';
comment on column api_unstable.stock_transfer_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_transfer_line_input.source is E'@notNull\nWhere it is taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is E'@notNull\nWhere it goes.';
comment on column api_unstable.stock_transfer_line_input.quantity is E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: QUANTITY_CHANGED.';
create type api_unstable.stock_transfer_input as (lines api_unstable.stock_transfer_line_input[], comment text);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is E'@notNull\nWhat moves; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id, (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK
@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS
Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or none; whether there is enough is asked of all lines together.$$;
--! EndIncluded functions/api/stock_transfer.sql
--! Included functions/api/supplier_order.sql
drop type if exists api_unstable.supplier_order_payload cascade;
create type api_unstable.supplier_order_payload as (
  supplier_order uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.supplier_order_payload is 'What a mutation of a supplier order answers.';
comment on column api_unstable.supplier_order_payload.supplier_order is E'@entity SupplierOrder\nThe supplier order as it is now; null when it was refused.';
comment on column api_unstable.supplier_order_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.supplier_order_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.supplier_order_line_input cascade;
create type api_unstable.supplier_order_line_input as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric, expected_delivery_date timestamptz
);
comment on type api_unstable.supplier_order_line_input is 'A line of a supplier order.';
comment on column api_unstable.supplier_order_line_input.id is E'@gid SupplierOrderLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.supplier_order_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.supplier_order_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_unstable.supplier_order_line_input.unit_price is 'Price of one unit, with tax if the order''s tax status is gross. When left out, the supplier''s price in the currency of the order.';
comment on column api_unstable.supplier_order_line_input.tax_rate is 'Tax rate in percent. When left out, that of the product.';
comment on column api_unstable.supplier_order_line_input.expected_delivery_date is 'When the units are expected.';

drop type if exists api_unstable.supplier_order_create_input cascade;
create type api_unstable.supplier_order_create_input as (
  supplier_id uuid, warehouse_id uuid, currency_id uuid, tax_status text, supplier_order_number text, order_date_time timestamptz,
  due_date timestamptz, delivery_date timestamptz, comment text, line_items api_unstable.supplier_order_line_input[]
);
comment on type api_unstable.supplier_order_create_input is 'A new supplier order.';
comment on column api_unstable.supplier_order_create_input.supplier_id is E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.supplier_order_create_input.warehouse_id is E'@gid Warehouse\nId of the warehouse that the goods are to come to. When left out, the one where goods are received by default.';
comment on column api_unstable.supplier_order_create_input.currency_id is E'@gid Currency\nId of the currency of all amounts. When left out, the one that the supplier is paid in.';
comment on column api_unstable.supplier_order_create_input.tax_status is 'Whether prices are net, gross or tax-free. Net when left out.';
comment on column api_unstable.supplier_order_create_input.supplier_order_number is 'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_create_input.order_date_time is 'When the order was placed. Now, when left out.';
comment on column api_unstable.supplier_order_create_input.due_date is 'When the invoice is due.';
comment on column api_unstable.supplier_order_create_input.delivery_date is 'When the goods are expected.';
comment on column api_unstable.supplier_order_create_input.comment is 'Free note.';
comment on column api_unstable.supplier_order_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.supplier_order_create(input api_unstable.supplier_order_create_input, changes jsonb) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_supplier_order(changes - 'line_items', array(
    select row (l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date)::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_create(api_unstable.supplier_order_create_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND OUT_OF_RANGE INVALID TOO_MANY_LINES SUPPLIER_INACTIVE
Makes an open supplier order, with the next number of its range. Prices, tax rates and product numbers come from the terms of the supplier unless they are given.$$;

drop type if exists api_unstable.supplier_order_update_input cascade;
create type api_unstable.supplier_order_update_input as (
  id uuid, supplier_id uuid, warehouse_id uuid, currency_id uuid, tax_status text, supplier_order_number text, order_date_time timestamptz,
  due_date timestamptz, delivery_date timestamptz, comment text
);
comment on type api_unstable.supplier_order_update_input is 'Changes of a supplier order. What is left out stays as it is.';
comment on column api_unstable.supplier_order_update_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_update_input.supplier_id is E'@gid Supplier\nId of the supplier; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.warehouse_id is E'@gid Warehouse\nId of the warehouse that the goods are to come to; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.currency_id is E'@gid Currency\nId of the currency of all amounts, which are not converted; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.tax_status is 'Whether prices are net, gross or tax-free; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.supplier_order_number is 'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_update_input.order_date_time is 'When the order was placed; only while the order is open.';
comment on column api_unstable.supplier_order_update_input.due_date is 'When the invoice is due.';
comment on column api_unstable.supplier_order_update_input.delivery_date is 'When the goods are expected.';
comment on column api_unstable.supplier_order_update_input.comment is 'Free note.';

create function api_unstable.supplier_order_update(input api_unstable.supplier_order_update_input, changes jsonb) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_supplier_order(input.id, changes), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_update(api_unstable.supplier_order_update_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID SUPPLIER_INACTIVE SUPPLIER_MISMATCH
Changes a supplier order. Once it has been sent, only its dates, the number that the supplier gave it and the comment can be changed.$$;

drop type if exists api_unstable.supplier_order_line_items_set_input cascade;
create type api_unstable.supplier_order_line_items_set_input as (id uuid, line_items api_unstable.supplier_order_line_input[]);
comment on type api_unstable.supplier_order_line_items_set_input is 'The lines of a supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.line_items is E'@notNull\nAll lines that the order is to have, up to 250. Lines that are not among them go.';

create function api_unstable.supplier_order_line_items_set(input api_unstable.supplier_order_line_items_set_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_supplier_order(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.unit_price, l.tax_rate, l.expected_delivery_date)::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES
Sets the lines of an open supplier order and computes its totals anew. They are listed in the order given, but for lines that are there already and change places among themselves; position is always that of the input.$$;

drop type if exists api_unstable.supplier_order_send_input cascade;
create type api_unstable.supplier_order_send_input as (id uuid);
comment on type api_unstable.supplier_order_send_input is 'A supplier order to send.';
comment on column api_unstable.supplier_order_send_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_send(input api_unstable.supplier_order_send_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'send'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_send(api_unstable.supplier_order_send_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED SUPPLIER_INACTIVE
Notes that an open supplier order was sent to the supplier. It must have lines.$$;

drop type if exists api_unstable.supplier_order_confirm_input cascade;
create type api_unstable.supplier_order_confirm_input as (id uuid, supplier_order_number text, delivery_date timestamptz);
comment on type api_unstable.supplier_order_confirm_input is 'A supplier order to confirm.';
comment on column api_unstable.supplier_order_confirm_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_confirm_input.supplier_order_number is 'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_confirm_input.delivery_date is 'When the supplier says that the goods come.';

create function api_unstable.supplier_order_confirm(input api_unstable.supplier_order_confirm_input, changes jsonb) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'confirm', changes),
    null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_confirm(api_unstable.supplier_order_confirm_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED SUPPLIER_INACTIVE
Notes that the supplier has confirmed an order that is open or was sent. One that was not sent must have lines, and an active supplier.$$;

drop type if exists api_unstable.supplier_order_complete_input cascade;
create type api_unstable.supplier_order_complete_input as (id uuid);
comment on type api_unstable.supplier_order_complete_input is 'A supplier order to complete.';
comment on column api_unstable.supplier_order_complete_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_complete(input api_unstable.supplier_order_complete_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'complete'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_complete(api_unstable.supplier_order_complete_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Closes a supplier order that was confirmed; what is still open is no longer expected.$$;

drop type if exists api_unstable.supplier_order_cancel_input cascade;
create type api_unstable.supplier_order_cancel_input as (id uuid);
comment on type api_unstable.supplier_order_cancel_input is 'A supplier order to cancel.';
comment on column api_unstable.supplier_order_cancel_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_cancel(input api_unstable.supplier_order_cancel_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'cancel'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_cancel(api_unstable.supplier_order_cancel_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Cancels a supplier order of which nothing has been delivered.$$;

drop type if exists api_unstable.supplier_order_delete_input cascade;
create type api_unstable.supplier_order_delete_input as (id uuid);
comment on type api_unstable.supplier_order_delete_input is 'A supplier order to delete.';
comment on column api_unstable.supplier_order_delete_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

drop type if exists api_unstable.supplier_order_delete_payload cascade;
create type api_unstable.supplier_order_delete_payload as (
  deleted_supplier_order_id uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.supplier_order_delete_payload is 'What deleting a supplier order answers.';
comment on column api_unstable.supplier_order_delete_payload.deleted_supplier_order_id is E'@gid SupplierOrder\nId of the supplier order that is gone; null when it was refused.';
comment on column api_unstable.supplier_order_delete_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.supplier_order_delete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

create function api_unstable.supplier_order_delete(input api_unstable.supplier_order_delete_input) returns api_unstable.supplier_order_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_supplier_order(input.id), null, null)::api_unstable.supplier_order_delete_payload
$$;
comment on function api_unstable.supplier_order_delete(api_unstable.supplier_order_delete_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE REFERENCE_IN_USE
Deletes a supplier order that is open or cancelled and that no goods receipt belongs to.$$;
--! EndIncluded functions/api/supplier_order.sql
--! Included functions/api/goods_receipt.sql
drop type if exists api_unstable.goods_receipt_payload cascade;
create type api_unstable.goods_receipt_payload as (
  goods_receipt uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_payload is 'What a mutation of a goods receipt answers.';
comment on column api_unstable.goods_receipt_payload.goods_receipt is E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.goods_receipt_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.goods_receipt_booking_payload cascade;
create type api_unstable.goods_receipt_booking_payload as (
  goods_receipt uuid, stock_movements uuid[], stocks uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_booking_payload is 'What booking a goods receipt answers.';
comment on column api_unstable.goods_receipt_booking_payload.goods_receipt is E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_booking_payload.stock_movements is E'@entity StockMovement\n@atMost 500\n@perLine put_away\nThe movements that were booked.';
comment on column api_unstable.goods_receipt_booking_payload.stocks is E'@entity Stock\n@atMost 500\n@perLine put_away\nThe stock that has changed, as it is now.';
comment on column api_unstable.goods_receipt_booking_payload.user_errors is 'Why nothing was booked; empty when all was.';
comment on column api_unstable.goods_receipt_booking_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.goods_receipt_line_input cascade;
create type api_unstable.goods_receipt_line_input as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text, supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer, destination_bin_location_id uuid
);
comment on type api_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_unstable.goods_receipt_line_input.id is E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.goods_receipt_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_input.quantity is E'@notNull\nUnits that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_unstable.goods_receipt_line_input.batch_id is E'@gid Batch\nId of the batch that comes in.';
comment on column api_unstable.goods_receipt_line_input.batch_number is 'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_line_item_id is E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is E'@gid SupplierOrder\nId of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is E'@gid ReturnOrder\nId of the return order that the goods come from; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is 'Price of one unit, in the currency of the receipt and by its tax status. When left out, that of the supplier order, converted where that is in another currency or states tax otherwise.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is 'Tax rate in percent. When left out, that of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is 'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is E'@gid BinLocation\nId of the bin that the units are to be put into.';

drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric, tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is E'@enum goods_receipt_type\nWhere the goods come from. When left out: Supplier if supplier orders are named, Customer if return orders or a customer are, else Free.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is E'@gid Warehouse\nId of the warehouse that receives the goods. When left out, the one where goods are received by default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is E'@gid Supplier\nId of the supplier. When left out, that of the supplier orders that are named here or by the lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.customer_id is E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is E'@gid Currency\nId of the currency of all amounts. When left out, that of the first supplier order that is named here or by a line, else that of the supplier.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is 'Exchange rate: units of the currency per unit of the default currency. When left out, the imported rate of the day, else that of the shop.';
comment on column api_unstable.goods_receipt_create_input.tax_status is 'Whether prices are net, gross or tax-free. When left out, as on the first supplier order; net without one.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft. False when left out.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is E'@gid SupplierOrder\nIds of the supplier orders that are delivered; those of the lines need not be named.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(input api_unstable.goods_receipt_create_input, changes jsonb) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id, l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES SUPPLIER_MISMATCH
@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED
Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. Nothing is booked yet. Its lines say what it is for: what is left out of type, supplier, currency, tax status and prices follows from the supplier orders that they name.$$;

drop type if exists api_unstable.goods_receipt_update_input cascade;
create type api_unstable.goods_receipt_update_input as (
  id uuid, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric, tax_status text, comment text,
  is_draft boolean
);
comment on type api_unstable.goods_receipt_update_input is 'Changes of a goods receipt. What is left out stays as it is.';
comment on column api_unstable.goods_receipt_update_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_update_input.warehouse_id is E'@gid Warehouse\nId of the warehouse that receives the goods.';
comment on column api_unstable.goods_receipt_update_input.supplier_id is E'@gid Supplier\nId of the supplier.';
comment on column api_unstable.goods_receipt_update_input.customer_id is E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_update_input.currency_id is E'@gid Currency\nId of the currency of all amounts, which are not converted; the exchange rate is taken anew.';
comment on column api_unstable.goods_receipt_update_input.currency_factor is 'Exchange rate, set by hand: units of the currency per unit of the default currency. Null takes the rate of this moment. It can be changed until a stock valuation report counts with it.';
comment on column api_unstable.goods_receipt_update_input.tax_status is 'Whether prices are net, gross or tax-free.';
comment on column api_unstable.goods_receipt_update_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_update_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft; until it is approved.';

create function api_unstable.goods_receipt_update(input api_unstable.goods_receipt_update_input, changes jsonb) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_goods_receipt(input.id, changes), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_update(api_unstable.goods_receipt_update_input, jsonb) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID OUT_OF_RANGE CURRENCY_FACTOR_LOCKED SUPPLIER_MISMATCH
Changes a goods receipt. Once it is approved, only the comment and the exchange rate can be changed.$$;

drop type if exists api_unstable.goods_receipt_line_items_set_input cascade;
create type api_unstable.goods_receipt_line_items_set_input as (id uuid, line_items api_unstable.goods_receipt_line_input[]);
comment on type api_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.line_items is E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create function api_unstable.goods_receipt_line_items_set(input api_unstable.goods_receipt_line_items_set_input) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id, l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES SUPPLIER_MISMATCH
@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED
Sets the lines of a goods receipt that is not approved yet, and computes its totals anew. They are listed in the order given, but for lines that are there already and change places among themselves. A receipt without a supplier takes that of the supplier orders that its lines name.$$;

drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input) returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks,
    null, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK
@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED
Approves a goods receipt: the goods are there. Books the lines to the place of the receipt: from the return orders for receipts of type Customer, else from the special place unknown; lines with a negative quantity from where the goods lie.$$;

drop type if exists api_unstable.goods_receipt_start_input cascade;
create type api_unstable.goods_receipt_start_input as (id uuid);
comment on type api_unstable.goods_receipt_start_input is 'A goods receipt to start.';
comment on column api_unstable.goods_receipt_start_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_start(input api_unstable.goods_receipt_start_input) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.start_goods_receipt(input.id), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_start(api_unstable.goods_receipt_start_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Notes that the goods of an approved receipt are being put away.$$;

drop type if exists api_unstable.put_away_input cascade;
create type api_unstable.put_away_input as (goods_receipt_line_item_id uuid, place api_unstable.stock_place_input, quantity integer);
comment on type api_unstable.put_away_input is 'Where units of a line are put.';
comment on column api_unstable.put_away_input.goods_receipt_line_item_id is E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.put_away_input.place is E'@notNull\nThe bin, or the warehouse for goods that lie outside of bins.';
comment on column api_unstable.put_away_input.quantity is E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';

drop type if exists api_unstable.goods_receipt_complete_input cascade;
create type api_unstable.goods_receipt_complete_input as (id uuid, put_away api_unstable.put_away_input[]);
comment on type api_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_unstable.goods_receipt_complete_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_complete_input.put_away is 'Where the goods were put. A line that is not named goes to its own bin, else to the usual bin of the product, else to the warehouse.';

create function api_unstable.goods_receipt_complete(input api_unstable.goods_receipt_complete_input) returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (p.ordinality, p.goods_receipt_line_item_id, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity)::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  )) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE INSUFFICIENT_STOCK
@warnings SURPLUS ORDER_CANCELLED PRODUCT_HAS_VARIANTS STOCK_PROMISED
Completes an approved goods receipt: books the goods to where they were put away, and what is thrown away to stock_correction. Lines of supplier orders become received, and their orders partially_delivered or delivered, or less than that after a correction. All that came is booked: what fits on no line of the order that a line names, by now, becomes a line without an order.$$;

drop type if exists api_unstable.goods_receipt_delete_input cascade;
create type api_unstable.goods_receipt_delete_input as (id uuid);
comment on type api_unstable.goods_receipt_delete_input is 'A goods receipt to delete.';
comment on column api_unstable.goods_receipt_delete_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

drop type if exists api_unstable.goods_receipt_delete_payload cascade;
create type api_unstable.goods_receipt_delete_payload as (
  deleted_goods_receipt_id uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_delete_payload is 'What deleting a goods receipt answers.';
comment on column api_unstable.goods_receipt_delete_payload.deleted_goods_receipt_id is E'@gid GoodsReceipt\nId of the goods receipt that is gone; null when it was refused.';
comment on column api_unstable.goods_receipt_delete_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.goods_receipt_delete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

create function api_unstable.goods_receipt_delete(input api_unstable.goods_receipt_delete_input) returns api_unstable.goods_receipt_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_goods_receipt(input.id), null, null)::api_unstable.goods_receipt_delete_payload
$$;
comment on function api_unstable.goods_receipt_delete(api_unstable.goods_receipt_delete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE INSUFFICIENT_STOCK
Deletes a goods receipt that no stock has left yet; what was approved goes back to where it came from.$$;
--! EndIncluded functions/api/goods_receipt.sql
--! Included functions/api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_unstable.order_shipment_complete_payload."order" is E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\nThe movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is E'@entity Document\n@perLine documents\nThe documents that were made, in the order in which they were asked for.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is 'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse that ships what no open fulfillment order has. Left out, it is the default warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice over all that was shipped of the order and that no other invoice charges.';
comment on column api_unstable.order_shipment_complete_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id);
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED
@warnings DOCUMENT_INCOMPLETE
Ships everything that is still open of an order: its open fulfillment orders, each from the warehouse of its location, and what no open fulfillment order has from the warehouse that is named, or else from the default warehouse. What was called off there goes from another warehouse that has all of it. Units are picked from the bins by their position, then by code, and at last from what lies in no bin; of products that are kept in batches, the oldest batch first. Books them out by the process api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing.$$;
--! EndIncluded functions/api/order_shipment_complete.sql
--! Included functions/api/fulfillment_order.sql
drop type if exists api_unstable.fulfillment_order_payload cascade;
create type api_unstable.fulfillment_order_payload as (
  fulfillment_order uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_order_payload is 'What changing the state of a fulfillment order answers.';
comment on column api_unstable.fulfillment_order_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_order_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_order_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_order_hold_input cascade;
create type api_unstable.fulfillment_order_hold_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_order_hold_input is 'A fulfillment order to put on hold.';
comment on column api_unstable.fulfillment_order_hold_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_order_hold_input.comment is 'Why it has to wait, in at most 1,000 characters. Kept until the hold is released.';

create function api_unstable.fulfillment_order_hold(input api_unstable.fulfillment_order_hold_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'hold', input.comment),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_hold(api_unstable.fulfillment_order_hold_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION OUT_OF_RANGE
Puts a fulfillment order on hold that is open or in progress: nothing of it can be shipped until the hold is released.$$;

drop type if exists api_unstable.fulfillment_order_release_hold_input cascade;
create type api_unstable.fulfillment_order_release_hold_input as (id uuid);
comment on type api_unstable.fulfillment_order_release_hold_input is 'A fulfillment order to go on with.';
comment on column api_unstable.fulfillment_order_release_hold_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_release_hold(input api_unstable.fulfillment_order_release_hold_input)
returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'release_hold'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_release_hold(api_unstable.fulfillment_order_release_hold_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Releases a fulfillment order from its hold. It is open or in progress again, as it was before.$$;

drop type if exists api_unstable.fulfillment_order_start_input cascade;
create type api_unstable.fulfillment_order_start_input as (id uuid);
comment on type api_unstable.fulfillment_order_start_input is 'A fulfillment order to start with.';
comment on column api_unstable.fulfillment_order_start_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_start(input api_unstable.fulfillment_order_start_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'start'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_start(api_unstable.fulfillment_order_start_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Tells that work on an open fulfillment order has begun.$$;

drop type if exists api_unstable.fulfillment_order_cancel_input cascade;
create type api_unstable.fulfillment_order_cancel_input as (id uuid);
comment on type api_unstable.fulfillment_order_cancel_input is 'A fulfillment order to cancel.';
comment on column api_unstable.fulfillment_order_cancel_input.id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';

create function api_unstable.fulfillment_order_cancel(input api_unstable.fulfillment_order_cancel_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.change_fulfillment_order(input.id, 'cancel'),
    null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_cancel(api_unstable.fulfillment_order_cancel_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION
Cancels a fulfillment order: what is open of it is no longer to be shipped from its location. It belongs to no fulfillment order then: fulfillmentOrderCreate has another warehouse ship it, and so does orderShipmentComplete. What was shipped stays shipped.$$;

drop type if exists api_unstable.fulfillment_order_create_input cascade;
drop type if exists api_unstable.fulfillment_order_create_line_input cascade;
create type api_unstable.fulfillment_order_create_line_input as (order_line_item_id uuid, quantity integer);
comment on type api_unstable.fulfillment_order_create_line_input is 'Units of a line of an order that a warehouse is to ship.';
comment on column api_unstable.fulfillment_order_create_line_input.order_line_item_id is E'@notNull\n@gid OrderLineItem\nId of the line of the order, which is one of a product.';
comment on column api_unstable.fulfillment_order_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are neither shipped nor to be shipped by an open fulfillment order.';
create type api_unstable.fulfillment_order_create_input as (
  order_id uuid, warehouse_id uuid, lines api_unstable.fulfillment_order_create_line_input[]
);
comment on type api_unstable.fulfillment_order_create_input is 'What of an order a warehouse is to ship.';
comment on column api_unstable.fulfillment_order_create_input.order_id is E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.fulfillment_order_create_input.warehouse_id is E'@notNull\n@gid Warehouse\nId of the warehouse; it has an active location.';
comment on column api_unstable.fulfillment_order_create_input.lines is
  '1 to 250 lines, each of another line of the order. Left out, all is assigned that no open fulfillment order is to ship.';

create function api_unstable.fulfillment_order_create(input api_unstable.fulfillment_order_create_input) returns api_unstable.fulfillment_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_fulfillment_order(input.order_id, input.warehouse_id,
    case when input.lines is not null then array(
      select row (l.order_line_item_id, l.quantity)::erp.shipping_line from unnest(input.lines) with ordinality l order by l.ordinality
    ) end), null, null)::api_unstable.fulfillment_order_payload
$$;
comment on function api_unstable.fulfillment_order_create(api_unstable.fulfillment_order_create_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND INVALID INVALID_STATE_TRANSITION OVER_FULFILLMENT REQUIRED NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES
Has a warehouse ship units of an order that no fulfillment order has, for example because one was cancelled. They are promised to the order in that warehouse, whether or not it holds them yet; fulfillmentCreate or orderShipmentComplete ships them from there.$$;
--! EndIncluded functions/api/fulfillment_order.sql
--! Included functions/api/fulfillment.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'What shipping from a fulfillment order answers.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\nThe movements that took the units to the order: first those from places that were named, then those that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is E'@entity Document\nThe documents that were made, in the order in which they were asked for.';
comment on column api_unstable.fulfillment_create_payload.user_errors is 'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is E'@notNull\nWhere they lie: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Where the units are taken from, the whole quantity. Left out, they are picked: the bins by their position, then by code, and at last what lies in no bin; of products that are kept in batches, the oldest batch first.';
create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'What of a fulfillment order is shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice over all that was shipped of the order and that no other invoice charges.';
comment on column api_unstable.fulfillment_create_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input) returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line from unnest(input.lines) with ordinality l order by l.ordinality
    ) end,
    array(
      select row (l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id)::erp.shipping_place
      from unnest(input.lines) with ordinality l cross join unnest(l.places) with ordinality p order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_REQUIRED
@warnings DOCUMENT_INCOMPLETE
Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when nothing is open any more; the states of the order follow.$$;

drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'What cancelling a fulfillment answers.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\nThe cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input) returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is $$
@requiresScopes orders:write
@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK BATCH_REQUIRED OUT_OF_RANGE
@warnings DOCUMENT_INCOMPLETE
Cancels a fulfillment: books its units back to where they came from, by the process cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new invoice.$$;
--! EndIncluded functions/api/fulfillment.sql
--! Included functions/api/warehouse.sql
drop type if exists api_unstable.warehouse_payload cascade;
create type api_unstable.warehouse_payload as (warehouse uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_payload is 'What creating or changing a warehouse answers.';
comment on column api_unstable.warehouse_payload.warehouse is E'@entity Warehouse\nThe warehouse as it is now; null when it was refused.';
comment on column api_unstable.warehouse_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.warehouse_create_input cascade;
create type api_unstable.warehouse_create_input as (
  code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_create_input is 'A new warehouse.';
comment on column api_unstable.warehouse_create_input.code is E'@notNull\nShort name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_create_input.name is E'@notNull\nName; 1 to 255 characters.';
comment on column api_unstable.warehouse_create_input.is_default is 'Whether it takes the place of the warehouse that is the default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_stock_available_for_sale is
  E'@neverNull\nWhether its stock may be sold. True when left out.';
comment on column api_unstable.warehouse_create_input.address is 'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create function api_unstable.warehouse_create(input api_unstable.warehouse_create_input) returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_warehouse(input.code, input.name, input.is_default, input.is_default_receiving, input.is_stock_available_for_sale,
    input.address), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_create(api_unstable.warehouse_create_input) is $$
@requiresScopes warehouses:write
@userErrors REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Makes a warehouse, and the location that orders are fulfilled from there. The first warehouse is the default for everything.$$;

drop type if exists api_unstable.warehouse_update_input cascade;
create type api_unstable.warehouse_update_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_update_input is 'Changes of a warehouse. What is left out stays as it is.';
comment on column api_unstable.warehouse_update_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.warehouse_update_input.code is 'Short name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_update_input.name is 'Name; 1 to 255 characters.';
comment on column api_unstable.warehouse_update_input.is_default is
  'True makes it take the place of the warehouse that is the default now. To make one no longer the default, make another one it.';
comment on column api_unstable.warehouse_update_input.is_default_receiving is 'The same for the warehouse where goods are received by default.';
comment on column api_unstable.warehouse_update_input.is_stock_available_for_sale is 'Whether its stock may be sold.';
comment on column api_unstable.warehouse_update_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress. It replaces the old one as a whole; null removes it.';

create function api_unstable.warehouse_update(input api_unstable.warehouse_update_input, changes jsonb) returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_warehouse(input.id, changes), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_update(api_unstable.warehouse_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a warehouse.$$;

drop type if exists api_unstable.warehouse_delete_input cascade;
create type api_unstable.warehouse_delete_input as (id uuid);
comment on type api_unstable.warehouse_delete_input is 'A warehouse to delete.';
comment on column api_unstable.warehouse_delete_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
drop type if exists api_unstable.warehouse_delete_payload cascade;
create type api_unstable.warehouse_delete_payload as (deleted_warehouse_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_delete_payload is 'What deleting a warehouse answers.';
comment on column api_unstable.warehouse_delete_payload.deleted_warehouse_id is E'@gid Warehouse\nId of the warehouse that is gone; null when it was refused.';
comment on column api_unstable.warehouse_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';

create function api_unstable.warehouse_delete(input api_unstable.warehouse_delete_input) returns api_unstable.warehouse_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_warehouse(input.id), null)::api_unstable.warehouse_delete_payload
$$;
comment on function api_unstable.warehouse_delete(api_unstable.warehouse_delete_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY REFERENCE_IN_USE INVALID
Deletes an empty warehouse with its bins, its location and the settings of products there. Movements of stock that passed through it are kept; they no longer name it. The default warehouse cannot be deleted, nor one that goods are being received in or that has orders to fulfill.$$;
--! EndIncluded functions/api/warehouse.sql
--! Included functions/api/webhook_subscription.sql
-- The secret is in the payload once: the tag @secret keeps it out of what is remembered under an idempotency key.
drop type if exists api_unstable.webhook_subscription_secret_payload cascade;
create type api_unstable.webhook_subscription_secret_payload as (webhook_subscription uuid, secret text, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_secret_payload is 'What subscribing and a new secret answer.';
comment on column api_unstable.webhook_subscription_secret_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is E'@secret\nWhat deliveries are signed with, by Standard Webhooks: whsec_ and the key in Base64. Shown this once: null when the mutation is repeated with its idempotency key.';
comment on column api_unstable.webhook_subscription_secret_payload.user_errors is 'Why nothing was changed; empty when it was.';
drop type if exists api_unstable.webhook_subscription_payload cascade;
create type api_unstable.webhook_subscription_payload as (webhook_subscription uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_payload is 'What changing a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.webhook_subscription_create_input cascade;
create type api_unstable.webhook_subscription_create_input as (topic text, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_unstable.webhook_subscription_create_input.topic is E'@notNull\nWhat to be told of, for example order.created. Subscribing needs the scope that reads it.';
comment on column api_unstable.webhook_subscription_create_input.url is E'@notNull\nAddress that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.api_version is E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_create_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told.';
comment on column api_unstable.webhook_subscription_create_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.enabled is
  E'@neverNull\nWhether events are sent from now on. True when left out.';

create function api_unstable.webhook_subscription_create(input api_unstable.webhook_subscription_create_input)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made.id, events.new_secret(made.id), null)::api_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields, input.payload_query,
    coalesce(input.enabled, true)) made (id)
$$;
comment on function api_unstable.webhook_subscription_create(api_unstable.webhook_subscription_create_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN
Has events of a topic sent to an address. Needs the scope that reads what the topic is about, now and as long as events are sent.$$;

drop type if exists api_unstable.webhook_subscription_update_input cascade;
create type api_unstable.webhook_subscription_update_input as (id uuid, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_update_input is 'Changes of a webhook subscription. What is left out stays as it is. Its topic stays.';
comment on column api_unstable.webhook_subscription_update_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_subscription_update_input.url is 'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_update_input.api_version is 'Version of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_update_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told. Null for every change.';
comment on column api_unstable.webhook_subscription_update_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most. Null for none.';
comment on column api_unstable.webhook_subscription_update_input.enabled is 'False stops it: what waits is kept until it is enabled again, and what happens in between is not sent.';

create function api_unstable.webhook_subscription_update(input api_unstable.webhook_subscription_update_input, changes jsonb)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.update_webhook_subscription(input.id, changes), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_update(api_unstable.webhook_subscription_update_input, jsonb) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN
Changes a webhook subscription. From then on the scopes of the credential that changed it decide what is sent.$$;

drop type if exists api_unstable.webhook_subscription_delete_payload cascade;
create type api_unstable.webhook_subscription_delete_payload as (deleted_webhook_subscription_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_delete_payload is 'What deleting a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_delete_payload.deleted_webhook_subscription_id is E'@gid WebhookSubscription\nId of the subscription that is gone; null when it was refused.';
comment on column api_unstable.webhook_subscription_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';
drop type if exists api_unstable.webhook_subscription_delete_input cascade;
create type api_unstable.webhook_subscription_delete_input as (id uuid);
comment on type api_unstable.webhook_subscription_delete_input is 'A webhook subscription to delete.';
comment on column api_unstable.webhook_subscription_delete_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_delete(input api_unstable.webhook_subscription_delete_input) returns api_unstable.webhook_subscription_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.delete_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_delete_payload
$$;
comment on function api_unstable.webhook_subscription_delete(api_unstable.webhook_subscription_delete_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND
Deletes a webhook subscription with all that waits to be delivered, and the record of what was.$$;

drop type if exists api_unstable.webhook_subscription_rotate_secret_input cascade;
create type api_unstable.webhook_subscription_rotate_secret_input as (id uuid);
comment on type api_unstable.webhook_subscription_rotate_secret_input is 'A webhook subscription that gets a new secret.';
comment on column api_unstable.webhook_subscription_rotate_secret_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_rotate_secret(input api_unstable.webhook_subscription_rotate_secret_input) returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, events.rotate_webhook_secret(input.id), null)::api_unstable.webhook_subscription_secret_payload
$$;
comment on function api_unstable.webhook_subscription_rotate_secret(api_unstable.webhook_subscription_rotate_secret_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND SCOPE_MISSING
Gives a webhook subscription a new secret. For 24 hours deliveries are signed with the old one too, so that receivers can change over.$$;

drop type if exists api_unstable.webhook_subscription_enable_input cascade;
create type api_unstable.webhook_subscription_enable_input as (id uuid);
comment on type api_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_unstable.webhook_subscription_enable_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_enable(input api_unstable.webhook_subscription_enable_input) returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.enable_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_enable(api_unstable.webhook_subscription_enable_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN
Lets a webhook subscription go on that was disabled, and has what waits delivered at once, also where it was only failing. From then on the scopes of the credential that enabled it decide what is sent. What happened while it was disabled can be had by webhookDeliveriesReplay.$$;

drop type if exists api_unstable.webhook_subscription_test_payload cascade;
create type api_unstable.webhook_subscription_test_payload as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_test_payload is 'What a test of a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_test_payload.webhook_delivery_id is E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_subscription_test_payload.user_errors is 'Why nothing is sent; empty when it is.';
drop type if exists api_unstable.webhook_subscription_test_input cascade;
create type api_unstable.webhook_subscription_test_input as (id uuid);
comment on type api_unstable.webhook_subscription_test_input is 'A webhook subscription to test.';
comment on column api_unstable.webhook_subscription_test_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_test(input api_unstable.webhook_subscription_test_input) returns api_unstable.webhook_subscription_test_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.test_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_test_payload
$$;
comment on function api_unstable.webhook_subscription_test(api_unstable.webhook_subscription_test_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING
Sends an event of the type webhook_subscription.test, signed like any other. It is in no log and has no sequence.$$;
--! EndIncluded functions/api/webhook_subscription.sql
--! Included functions/api/webhook_delivery.sql
drop type if exists api_unstable.webhook_delivery_retry_payload cascade;
create type api_unstable.webhook_delivery_retry_payload as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_delivery_retry_payload is 'What trying a delivery again answers.';
comment on column api_unstable.webhook_delivery_retry_payload.webhook_delivery_id is E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_delivery_retry_payload.user_errors is 'Why it is not tried again; empty when it is.';
drop type if exists api_unstable.webhook_delivery_retry_input cascade;
create type api_unstable.webhook_delivery_retry_input as (id uuid);
comment on type api_unstable.webhook_delivery_retry_input is 'A delivery to try again.';
comment on column api_unstable.webhook_delivery_retry_input.id is E'@notNull\n@gid WebhookDelivery\nId of the delivery.';

create function api_unstable.webhook_delivery_retry(input api_unstable.webhook_delivery_retry_input) returns api_unstable.webhook_delivery_retry_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.retry_delivery(input.id), null)::api_unstable.webhook_delivery_retry_payload
$$;
comment on function api_unstable.webhook_delivery_retry(api_unstable.webhook_delivery_retry_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING
Delivers an event again, whatever became of it before, or at once when it was to be tried later. Receivers know it by its webhook-id.$$;

drop type if exists api_unstable.webhook_deliveries_replay_payload cascade;
create type api_unstable.webhook_deliveries_replay_payload as (webhook_subscription uuid, replayed_count integer, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_deliveries_replay_payload is 'What replaying answers.';
comment on column api_unstable.webhook_deliveries_replay_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.replayed_count is 'How many events are sent; those that waited anyway are not counted. Null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.user_errors is 'Why nothing is sent; empty when it is.';
drop type if exists api_unstable.webhook_deliveries_replay_input cascade;
create type api_unstable.webhook_deliveries_replay_input as (id uuid, from_sequence numeric, to_sequence numeric, from_time timestamptz, to_time timestamptz, only_undelivered boolean);
comment on type api_unstable.webhook_deliveries_replay_input is 'A part of the log to be sent to a subscriber, 10,000 events at most.';
comment on column api_unstable.webhook_deliveries_replay_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_deliveries_replay_input.from_sequence is 'Sequence of the first event. This or fromTime must be given.';
comment on column api_unstable.webhook_deliveries_replay_input.to_sequence is 'Sequence of the last event; without it, up to the newest.';
comment on column api_unstable.webhook_deliveries_replay_input.from_time is 'When the first event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.to_time is 'When the last event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.only_undelivered is
  E'@neverNull\nLeaves out what the receiver has taken already. False when left out.';

create function api_unstable.webhook_deliveries_replay(input api_unstable.webhook_deliveries_replay_input)
returns api_unstable.webhook_deliveries_replay_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, events.replay_deliveries(input.id, input.from_sequence, input.to_sequence, input.from_time, input.to_time,
    input.only_undelivered), null)::api_unstable.webhook_deliveries_replay_payload
$$;
comment on function api_unstable.webhook_deliveries_replay(api_unstable.webhook_deliveries_replay_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING
Sends the events of a part of the log to a subscriber, again or for the first time: those of its topic, and with the fields that concern it. For receivers that were down, lost something, or were disabled. The log goes back 30 days.$$;
--! EndIncluded functions/api/webhook_delivery.sql

--! Included views/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance as (select product_id, place, sum(quantity) as quantity from ledger.flow where place is not null group by product_id, place),
building as (
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity, coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id group by h.product_id
),
reserved as (
  select l.product_id, sum(l.quantity - l.shipped_quantity) as quantity
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where o.state in ('open', 'in_progress') and l.product_id is not null group by l.product_id
),
promised as (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
),
ordered as (
  select l.product_id, coalesce(sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location') and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place as (select stock_id, batch_id, sum(quantity) as quantity from batch_flow where stock_id is not null group by stock_id, batch_id),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l where l.destination_order_line_item_id is not null group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code from erp.shipping_label l cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place), coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text, coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text, coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text, x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity', coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id), coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id group by s.id having sum(b.quantity) > s.quantity
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity', coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id), coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity', coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id), coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text, coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text, coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text, greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text, coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text, 'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text, coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more', 'not also by ' || o.id
    from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net), concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text, coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (select jsonb_agg(c.code order by c.code) as codes from jsonb_array_elements_text(o.tracking_codes) c (code)) s on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x on x.order_id = o.id
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded views/proof.sql

--! split: 60-releases.sql
-- From here on each migration derives in its own transaction what follows from it, and leaves frozen versions
-- as they were released: a trigger of the list of migrations finishes it.
--! Included functions/api_meta/own.sql
create or replace view api_meta.own_schema as
select n.oid, n.nspname as name, n.nspname ~ '^api_(unstable|\d)' as is_api,
  n.nspname ~ '^api_\d' as is_frozen
from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
where o.rolname = 'service_owner' and n.nspname !~ '^graphile_';
comment on view api_meta.own_schema is
  'The schemas of the service: those that service_owner owns, but for those of packages, called '
  'graphile_…. is_api: it holds a version of the API; is_frozen: a released one.';

create or replace view api_meta.own_role as
select r.oid, r.rolname as name, r.rolname <> 'service_owner' as is_serving
from pg_catalog.pg_roles r
where r.rolname ~ '^service_';
comment on view api_meta.own_role is
  'The roles of the service, by their names: all are called service_…. '
  'is_serving: it serves, or owns functions that do; that is every one but service_owner.';
--! EndIncluded functions/api_meta/own.sql
--! Included functions/api_meta/view_tags.sql
create or replace function api_meta.view_tag(view regclass, tag text) returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select m[1] from regexp_matches(obj_description(view, 'pg_class'), '(?n)^@' || tag || '[ \t]+(.*)$', 'g') as m
$$;
comment on function api_meta.view_tag(regclass, text) is 'The values of one smart tag of a view, a row for each time it is given.';

create or replace function api_meta.listed(view regclass, tag text, col name) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from api_meta.view_tag(view, tag) v where col::text = any (string_to_array(replace(v, ' ', ''), ',')))
$$;
comment on function api_meta.listed(regclass, text, name) is 'Whether a smart tag of a view, a list with commas, names the column.';

create or replace view api_meta.api_view as
select c.oid as view, s.name as schema, c.relname as name
from pg_catalog.pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where s.is_api and c.relkind = 'v';
comment on view api_meta.api_view is 'The views of every API schema.';

create or replace view api_meta.view_column_source as
select v.view, d.refobjid as table_id, d.refobjsubid as attnum, a.attname, a.attnotnull, count(*) over (partition by v.view, d.refobjid) as weight
from api_meta.api_view v
join pg_catalog.pg_rewrite r on r.ev_class = v.view
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> v.view and d.refobjsubid > 0
join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads. The table with the greatest weight is what the view is about.';
--! EndIncluded functions/api_meta/view_tags.sql
--! Included functions/api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema as name from api_meta.api_view
    union select distinct c.relnamespace::regnamespace::text from api_meta.view_column_source s join pg_class c on c.oid = s.table_id
    union select 'erp'
  loop
    if not has_schema_privilege('service_api', item.name, 'usage') then
      execute format('grant usage on schema %I to service_api', item.name);
    end if;
  end loop;
  for item in select view from api_meta.api_view where not has_table_privilege('service_api', view, 'select') loop
    execute format('grant select on %s to service_api', item.view::regclass);
  end loop;
  -- column by column: what no view reads stays out of reach
  for item in
    select a.attrelid::regclass as relation, a.attname,
      exists (select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
    join api_meta.own_schema o on o.oid = c.relnamespace
    where a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select') then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and has_column_privilege('service_api', item.relation::oid, item.attname, 'select') then
      execute format('revoke select (%I) on %s from service_api', item.attname, item.relation);
    end if;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes only what differs.';
--! EndIncluded functions/api_meta/grant_reads.sql

create table if not exists api_meta.frozen_version (
  name name primary key,
  postgres integer not null,
  recorded_at timestamptz not null default now()
);
comment on table api_meta.frozen_version is
  'The frozen versions of the API of which it was recorded what they consist of.';
comment on column api_meta.frozen_version.name is 'The schema that holds the version.';
comment on column api_meta.frozen_version.postgres is
  'The major version of Postgres whose spelling the hashes of queries and bodies have.';
alter table api_meta.frozen_version enable row level security;

create table if not exists api_meta.frozen_part (
  version name not null references api_meta.frozen_version on delete cascade,
  kind text not null,
  name text not null,
  parent text,
  definition text not null,
  tree text,
  primary key (version, kind, name)
);
comment on table api_meta.frozen_part is
  'What each frozen version consisted of when it was recorded, as api_meta.current_parts tells it.';
comment on column api_meta.frozen_part.parent is
  'The view, type or function that it belongs to; null for these themselves.';
comment on column api_meta.frozen_part.tree is
  'For queries and bodies: a hash of how Postgres keeps them, which renaming a table does not change.';
alter table api_meta.frozen_part enable row level security;

--! Included functions/api_meta/version_part.sql
create or replace function api_meta.part_note(note text) returns text
language sql immutable
return coalesce(E'\n' || note, '');
comment on function api_meta.part_note(text) is
  'A comment, as the definition of a part of a version ends with it.';

create or replace function api_meta.postgres_version() returns integer
language sql stable
return pg_catalog.current_setting('server_version_num')::pg_catalog.int4 / 10000;
comment on function api_meta.postgres_version() is 'The major version of Postgres.';

create or replace function api_meta.current_parts(version name)
returns table (kind text, name text, parent text, definition text, tree text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with relation as (
    select c.oid, c.relname::text as name, c.relkind, c.reltype, c.reloptions from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(version)) and c.relkind in ('v', 'c')
  )
  select 'view', r.name, null,
    case when 'security_invoker=true' = any (r.reloptions) then 'security_invoker' else '' end
      || api_meta.part_note(obj_description(r.oid, 'pg_class')), null
  from relation r where r.relkind = 'v'
  union all
  -- The tree names tables and columns by their numbers, the text by their names
  select 'query', r.name, r.name, md5(pg_get_viewdef(r.oid)), md5(w.ev_action::text)
  from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename = '_RETURN'
  union all
  select case r.relkind when 'v' then 'column' else 'attribute' end, r.name || '.' || a.attname, r.name,
    row_number() over (partition by r.oid order by a.attnum) || '. ' || format_type(a.atttypid, a.atttypmod)
      || api_meta.part_note(col_description(r.oid, a.attnum)), null
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  union all
  select 'type', t.typname, null, case t.typtype when 'e' then
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      else '' end
      || api_meta.part_note(obj_description(t.oid, 'pg_type')), null
  from pg_type t left join relation r on r.reltype = t.oid
  where t.typnamespace = to_regnamespace(quote_ident(version)) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(obj_description(p.oid, 'pg_proc')), null
  from pg_proc p join pg_language l on l.oid = p.prolang
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

create or replace function api_meta.record_version(version name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if to_regnamespace(quote_ident(version)) is null then
    raise exception 'There is no schema %.', version using errcode = 'invalid_schema_name';
  end if;
  delete from api_meta.frozen_version f where f.name = version;
  insert into api_meta.frozen_version (name, postgres) values (version, api_meta.postgres_version());
  insert into api_meta.frozen_part (version, kind, name, parent, definition, tree)
  select version, c.kind, c.name, c.parent, c.definition, c.tree from api_meta.current_parts(version) c;
end
$$;
comment on function api_meta.record_version(name) is
  'Notes what a frozen version consists of from now on. A migration that adds to a frozen version on purpose, '
  'or mends it, ends with this call; any other change of it is refused, see api_meta.version_faults.';

create or replace function api_meta.forget_version(version name) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  delete from api_meta.frozen_version f where f.name = version
$$;
comment on function api_meta.forget_version(name) is
  'Ends the record of a frozen version, for the migration that drops the schema of one that is served no more.';

create or replace function api_meta.part_fault(kind text, name text, recorded text, found text)
returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case
    when recorded is null then format('%s %s is new', kind, name)
    when found is null then format('%s %s is missing', kind, name)
    when kind in ('query', 'body') then format('%s of %s is another', kind, name)
    when split_part(recorded, E'\n', 1) = split_part(found, E'\n', 1) then
      format('%s %s has another comment', kind, name)
    else format('%s %s was: %s; is: %s', kind, name,
      split_part(recorded, E'\n', 1), split_part(found, E'\n', 1))
  end
$$;
comment on function api_meta.part_fault(text, text, text, text) is
  'In words how a part of a version differs from what was recorded; null for a definition: it is not there.';

create or replace function api_meta.version_faults() returns table (version name, fault text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with found as (
    select v.name as version, c.*
    from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  ), difference as (
    select coalesce(p.version, f.version) as version, coalesce(p.kind, f.kind) as kind,
      coalesce(p.name, f.name) as name, coalesce(p.parent, f.parent) as parent,
      p.definition as recorded, f.definition as found
    from api_meta.frozen_part p
    full join found f on f.version = p.version and f.kind = p.kind and f.name = p.name
    where p.definition is distinct from f.definition
      -- Of a query or a body one form is enough: renaming a table changes its text, a restored dump its tree
      and (p.tree is null or f.tree is null or p.tree <> f.tree)
      -- Other major versions of Postgres write the same in other words
      and not (p.kind in ('query', 'body') and f.kind is not null and exists (
        select from api_meta.frozen_version v
        where v.name = p.version and v.postgres <> api_meta.postgres_version()
      ))
  )
  select v.name, format('schema %s is missing', v.name) from api_meta.frozen_version v
  where to_regnamespace(quote_ident(v.name)) is null
  union all
  select s.name,
    'is not recorded: api_meta.freeze makes versions, api_meta.record_version notes what they consist of'
  from api_meta.own_schema s
  where s.is_frozen and not exists (select from api_meta.frozen_version v where v.name = s.name)
  union all
  select d.version, api_meta.part_fault(d.kind, d.name, d.recorded, d.found) from difference d
  where to_regnamespace(quote_ident(d.version)) is not null
    -- What is missing, or new, as a whole is named once
    and not exists (
      select from difference o
      where o.version = d.version and o.parent is null and o.name = d.parent
        and (o.recorded is null or o.found is null)
    )
  order by 1, 2
$$;
comment on function api_meta.version_faults() is
  'How the frozen versions differ from what was recorded of them, a line for each part. Columns, types, '
  'attributes and functions must be as they were, in their order and with their comments. A renamed table or '
  'column behind a view is no difference; a view that reads something else is.';
revoke all on function api_meta.version_faults() from public;
grant execute on function api_meta.version_faults() to service_login;

create or replace function api_meta.require_frozen_versions() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text[];
begin
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
  -- The text after a renaming, or the tree after a restored dump
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
--! EndIncluded functions/api_meta/version_part.sql
--! Included functions/api_meta/finish_migration.sql
create or replace function api_meta.finish_migration() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cause text;
  code text;
  place text;
begin
  begin
    perform api_meta.derive();
    perform events.derive_announcements();
  exception when others then
    get stacked diagnostics cause = message_text, code = returned_sqlstate, place = pg_exception_context;
    raise exception using errcode = code,
      message = 'What follows from the migration could not be derived: ' || cause,
      -- The innermost statement names the object, the function below it what was being derived
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

create or replace function api_meta.finish_committed_migration() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform api_meta.finish_migration();
  return null;
end
$$;
comment on function api_meta.finish_committed_migration() is
  'Trigger: finishes a migration when graphile-migrate notes, in the same transaction, that it has been run.';
--! EndIncluded functions/api_meta/finish_migration.sql
--! Included functions/api_meta/freeze.sql
create or replace function api_meta.clone_types(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select t.oid, t.typname, t.typtype, t.typrelid, obj_description(t.oid, 'pg_type') as note
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = source::text::regnamespace and (t.typtype = 'e' or (t.typtype = 'c' and c.relkind = 'c'))
      and to_regtype(to_prefix || quote_ident(t.typname)) is null
    order by t.oid
  loop
    if item.typtype = 'e' then
      execute format('create type %I.%I as enum (%s)', target, item.typname,
        (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_enum where enumtypid = item.oid));
    else
      execute format('create type %I.%I as (%s)', target, item.typname,
        (select string_agg(format('%I %s', attname, replace(format_type(atttypid, atttypmod), from_prefix, to_prefix)), ', ' order by attnum)
         from pg_attribute where attrelid = item.typrelid and attnum > 0 and not attisdropped));
      perform api_meta.clone_column_comments(source, target, item.typname);
    end if;
    execute format('comment on type %I.%I is %L', target, item.typname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_types(name, name) is 'Clones the enums and composite types of an API schema that another one lacks.';

create or replace function api_meta.clone_functions(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  signature text;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select p.oid, pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as note, p.proname, p.oid::regprocedure::text as signature
    from pg_proc p
    where p.pronamespace = source::text::regnamespace
      and not exists (select from pg_proc o where o.pronamespace = target::text::regnamespace and o.proname = p.proname)
    order by p.oid
  loop
    execute replace(item.definition, from_prefix, to_prefix);
    execute format('comment on function %s is %L', replace(item.signature, from_prefix, to_prefix), item.note);
  end loop;
end
$$;
comment on function api_meta.clone_functions(name, name) is
  'Clones the functions of an API schema, its mutations, that another one lacks. The types that they use must be there. Grants follow by api_meta.derive().';

create or replace function api_meta.clone_column_comments(source name, target name, relation name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select a.attname, col_description(a.attrelid, a.attnum) as note from pg_attribute a
    where a.attrelid = format('%I.%I', source, relation)::regclass and a.attnum > 0 and not a.attisdropped
      and col_description(a.attrelid, a.attnum) is not null
  loop
    execute format('comment on column %I.%I.%I is %L', target, relation, item.attname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_column_comments(name, name, name) is
  'Copies the comments of the columns of a view or a composite type to that of the same name in another API schema.';

create or replace function api_meta.freeze(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  if to_regnamespace(quote_ident(target)) is not null then
    raise exception 'There is a schema % already.', target using errcode = 'duplicate_schema',
      hint = format('If a migration that was being written has left it: drop schema %I cascade; select api_meta.forget_version(%L);', target, target);
  end if;
  -- What the head is to be is not complete before
  perform api_meta.derive();
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, 'Frozen clone of ' || source || '.');
  perform api_meta.clone_types(source, target);
  for item in
    select c.oid, c.relname, obj_description(c.oid, 'pg_class') as note from pg_class c
    where c.relnamespace = source::text::regnamespace and c.relkind = 'v' order by c.oid
  loop
    execute format('create view %I.%I with (security_invoker = true) as %s', target, item.relname,
      replace(pg_get_viewdef(item.oid), quote_ident(source) || '.', quote_ident(target) || '.'));
    execute format('comment on view %I.%I is %L', target, item.relname, item.note);
    perform api_meta.clone_column_comments(source, target, item.relname);
  end loop;
  perform api_meta.clone_functions(source, target);
  perform api_meta.record_version(target);
end
$$;
comment on function api_meta.freeze(name, name) is
  'Clones an API schema under a new name: types, views, functions, and their comments, after deriving what follows from it; grants follow by api_meta.derive(). Records what the clone consists of, so that no later migration changes it by accident. It reads the same tables; views are bound to tables by identity, so renaming a table or a column does not touch it.';
--! EndIncluded functions/api_meta/freeze.sql

create or replace trigger finish after insert on graphile_migrate.migrations
  for each row execute function api_meta.finish_committed_migration();

select api_meta.derive();
select api_meta.record_version('api_2026_06_unstable');

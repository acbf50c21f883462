--! Previous: sha1:43eb3f5283ab89f69b922b4187596166d0d53e08
--! Hash: sha1:7978b623c4e1ca598f95f3df6b9ccc999b18e6ef
--! Message: places that move, lists of codes

--! split: 0100-variants.sql
-- Entries from before the rule about them: it would refuse other changes of their products, too.
-- Numbers become texts, and what names no product goes
update erp.product p
set storefront_variants = (
  select coalesce(jsonb_agg(e.entry || k.ids order by e.nth), '[]')
  from jsonb_array_elements(p.storefront_variants) with ordinality e (entry, nth)
  cross join lateral (
    select coalesce(jsonb_object_agg(i.key, case jsonb_typeof(i.value)
      when 'number' then to_jsonb(i.value #>> '{}') when 'string' then i.value else 'null' end), '{}')
    from jsonb_each(case jsonb_typeof(e.entry) when 'object' then e.entry end) i
    where i.key in ('productId', 'variantId')
  ) k (ids)
  where jsonb_typeof(k.ids -> 'productId') = 'string'
)
where not erp.are_storefront_variants(p.storefront_variants);

--! split: 0200-locks.sql
-- A bin that has just gone to another warehouse is not found by its old one, though it is there:
-- then nothing was locked
--! Included ledger/lock_line.sql
create or replace function ledger.lock_line(
  l ledger.line, out warehouse_id uuid, out is_for_sale boolean, out is_batch_managed boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Rows are locked in the order of the clauses
  if l.source_bin_location_id is null then
    select w.id, w.is_stock_available_for_sale, p.is_batch_managed
    into warehouse_id, is_for_sale, is_batch_managed
    from erp.warehouse w cross join erp.product p
    where w.id = l.source_warehouse_id and p.id = l.product_id
    for key share of w for no key update of p;
  else
    select w.id, w.is_stock_available_for_sale, p.is_batch_managed
    into warehouse_id, is_for_sale, is_batch_managed
    from erp.bin_location b join erp.warehouse w on w.id = b.warehouse_id cross join erp.product p
    where b.id = l.source_bin_location_id and p.id = l.product_id
    for key share of w, b for no key update of p;
  end if;
end
$$;
comment on function ledger.lock_line(ledger.line) is
  'Takes the locks of ledger.lock for a line with one place, by one plain statement, which takes less. '
  'Answers the warehouse of the place, whether its stock is for sale, and whether the product is kept in '
  'batches, as they stay while the locks are held. Nulls when something that it names is not there, or its '
  'bin has just gone to another warehouse; then not all is locked.';
grant execute on function ledger.lock_line(ledger.line) to service_ledger;
--! EndIncluded ledger/lock_line.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  if cardinality(lines) > 250 then
    perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  end if;
  if ledger.is_malformed(lines, operation) then
    perform ledger.check_form(lines, ledger.named_places(lines, operation), operation);
  end if;
  if cardinality(lines) = 1 and operation <> 'transfer' and lines[1].batch_id is null
    and lines[1].expected_quantity is null and (ledger.lock_line(lines[1])).warehouse_id is not null then
    return;
  end if;

  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  if not ledger.lock_lines(lines) or exists (select from unnest(lines) l where l.batch_id is not null) then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if exists (select from unnest(lines) l where l.expected_quantity is not null) then
    perform ledger.check_expectations(lines);
  end if;
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'What the mutations of stock (set, adjust, transfer) have in common: checks their lines, and takes '
  'the locks of the booking, so that what is read afterwards is what the booking finds. User errors '
  'REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, '
  'QUANTITY_CHANGED.';
grant execute on function ledger.prepare(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/prepare.sql

--! split: 0300-tracking-codes.sql
-- Where there is a delivery, codes that are removed as a whole leave an empty list
--! Included ledger/keep_tracking_codes.sql
create or replace function ledger.keep_tracking_codes() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  present text[];
  of_labels text[];
begin
  -- A new order has no labels yet. Clients are promised an empty list where there is a delivery
  if tg_op = 'INSERT' and new.tracking_codes is null and new.entered_tracking_codes = '{}' then
    if new.delivery_state is not null then
      new.tracking_codes := '[]';
    end if;
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
  if new.tracking_codes is null and new.delivery_state is null
    and cardinality(new.entered_tracking_codes || of_labels) = 0 then
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

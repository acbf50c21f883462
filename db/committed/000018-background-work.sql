--! Previous: sha1:c798a91bf67c0cbd0bd516d208c213df53f00d06
--! Hash: sha1:464788d48a27c69bd22be1f8648e7547cd17b0bb
--! Message: background-work

--! split: 0400-workflow.sql
-- What all workflows share: states and numbers.
--! Included functions/erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  select t.to_state into result from erp.state_transition t
  where t.machine = next_state.machine and t.action = next_state.action and t.from_state = state;
  if not found then
    perform mutation.refuse('INVALID_STATE_TRANSITION', format('In state %s this cannot be done: %s.', state, action), null, jsonb_build_object(
      'state', state, 'allowedActions', (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
        where t.machine = next_state.machine and t.from_state = next_state.state)));
  end if;
  return result;
end
$$;
comment on function erp.next_state(text, text, text) is
  'The state that an action leads to, by erp.state_transition. User error INVALID_STATE_TRANSITION, with the state and the actions that it allows.';
--! EndIncluded functions/erp/next_state.sql
--! Included functions/erp/next_number.sql
create or replace function erp.next_number(number_range text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  update erp.number_range r set last_number = r.last_number + 1 where r.technical_name = number_range
  returning replace(r.pattern, '{n}', r.last_number::text) into result;
  if not found then
    raise exception 'There is no number range %.', number_range using errcode = 'no_data_found';
  end if;
  return result;
end
$$;
comment on function erp.next_number(text) is
  'The next number of a range, without gaps: who takes one keeps the others waiting until it is committed or given back.';
--! EndIncluded functions/erp/next_number.sql
select api_meta.allow('service_writer', 'erp.state_transition', 'select');
select api_meta.allow('service_writer', 'erp.number_range', 'select', 'update (last_number)');
grant execute on function erp.next_state(text, text, text), erp.next_number(text) to service_writer;

--! split: 0440-background-work.sql
-- What background work does in the database. The queue itself is graphile-worker's, see db/worker.sql.
--! Included functions/erp/exchange_rates.sql
create or replace function erp.import_exchange_rates(reference_date date, rates jsonb, source text) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  base constant text := (select c.iso_code from erp.currency c where c.is_default_currency);
  per_euro jsonb;
  known integer;
begin
  if reference_date is null or coalesce(btrim(source), '') = '' or coalesce(jsonb_typeof(rates), '') <> 'object'
    or jsonb_path_exists(rates, 'strict $.* ? (@.type() != "number" || @ <= 0)') then
    raise exception 'Exchange rates need a day, a source, and an object from currency to a number above 0.';
  elsif base is null then
    raise exception 'The system has no default currency, which exchange rates refer to.';
  end if;
  per_euro := rates || '{"EUR": 1}';
  if not per_euro ? base then
    raise exception 'The exchange rates of % have none for %, the default currency of the system.', reference_date, base;
  end if;
  with rate as (
    select c.id, trim_scale(r.value::numeric / (per_euro ->> base)::numeric) as factor
    from jsonb_each_text(per_euro) r join erp.currency c on c.iso_code = r.key
    where not c.is_default_currency
  ), stored as (
    -- In one order, so that two imports of the same day do not wait for each other in a circle
    insert into erp.exchange_rate as present (currency_id, reference_date, factor, source)
    select rate.id, import_exchange_rates.reference_date, rate.factor, import_exchange_rates.source from rate order by rate.id
    on conflict on constraint exchange_rate_pkey do update set factor = excluded.factor, imported_at = excluded.imported_at
    where present.factor <> excluded.factor
  )
  select count(*) into known from rate;
  return known;
end
$$;
comment on function erp.import_exchange_rates(date, jsonb, text) is
  'Stores the exchange rates of a day, given as units per euro, as units per unit of the default currency, for each currency that the system knows. A day that is imported again is corrected. Answers for how many currencies there is a rate.';

create or replace function erp.exchange_rate_on(currency_id uuid, moment timestamptz)
returns table (factor numeric, source text, reference_date date)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select r.factor, r.source, r.reference_date
  from erp.exchange_rate r, timezone('UTC', moment) as t (moment)
  where r.currency_id = exchange_rate_on.currency_id and r.reference_date between t.moment::date - 7 and t.moment::date
  order by r.reference_date desc, r.imported_at desc, r.source
  limit 1
$$;
comment on function erp.exchange_rate_on(uuid, timestamptz) is
  'The imported exchange rate of a currency at a moment: the newest that was published on that day, in UTC, or up to 7 days before, for none is published on weekends and holidays. No row when there is none, as for the default currency.';
--! EndIncluded functions/erp/exchange_rates.sql
--! Included functions/erp/in_default_currency.sql
create or replace function erp.in_default_currency(amount numeric, currency_factor numeric) returns numeric
language sql immutable strict parallel safe
-- A quotient has no last digit, and a rate has four to six that count. Six decimals of a price are so many that on a
-- line of 10,000 units the rounding is still below a cent.
return round(amount / currency_factor, 6);
comment on function erp.in_default_currency(numeric, numeric) is
  'An amount in the default currency: divided by the units of its currency per unit of the default currency, to six decimals.';
--! EndIncluded functions/erp/in_default_currency.sql
--! Included functions/erp/fill_default_currency_prices.sql
create or replace function erp.fill_default_currency_prices(after uuid, batch integer, out filled integer, out last uuid)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with old_line as (
    select l.id, erp.in_default_currency(l.unit_price, r.currency_factor) as price
    from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
    where l.unit_price is not null and l.unit_price_in_default_currency is null and r.currency_factor is not null
      and l.id > coalesce(after, '00000000-0000-0000-0000-000000000000')
    order by l.id
    limit batch
    -- Who changes a line or the factor of its receipt right now is left alone; another run comes by
    for update of l skip locked
    for share of r skip locked
  ), filled_line as (
    update erp.goods_receipt_line_item l set unit_price_in_default_currency = o.price
    from old_line o where o.id = l.id returning l.id
  )
  select count(*)::integer, (array_agg(id order by id desc))[1] from filled_line
$$;
comment on function erp.fill_default_currency_prices(uuid, integer) is
  'Fills in the price in the default currency on old lines of goods receipts, at most as many as the batch, in the order of their ids, those after the given one. Lines of receipts without a currency factor stay as they are. Answers how many it filled, and the last of them, after which to go on.';
--! EndIncluded functions/erp/fill_default_currency_prices.sql

grant usage on schema erp to service_worker, service_keeper;
select api_meta.allow('service_keeper', 'erp.currency', 'select (id, iso_code, is_default_currency)');
select api_meta.allow('service_keeper', 'erp.exchange_rate', 'select', 'insert', 'update (factor, imported_at)');
select api_meta.allow('service_keeper', 'erp.goods_receipt_line_item', 'select (id, goods_receipt_id, unit_price, unit_price_in_default_currency)',
  'update (unit_price_in_default_currency)');
-- Postgres asks for the right to change something before it lets a role lock a row
select api_meta.allow('service_keeper', 'erp.goods_receipt', 'select (id, currency_factor)', 'update (updated_at)');
select api_meta.give(routine, 'service_keeper') from unnest(array[
  'erp.import_exchange_rates(date, jsonb, text)', 'erp.fill_default_currency_prices(uuid, integer)']::regprocedure[]) routine;
grant execute on function erp.import_exchange_rates(date, jsonb, text), erp.fill_default_currency_prices(uuid, integer) to service_worker;

-- Receipts take the rate of their day
select api_meta.allow('service_writer', 'erp.exchange_rate', 'select');
grant execute on function erp.exchange_rate_on(uuid, timestamptz) to service_writer;
grant execute on function erp.in_default_currency(numeric, numeric) to service_writer, service_keeper;

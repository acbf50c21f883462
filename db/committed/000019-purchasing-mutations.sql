--! Previous: sha1:464788d48a27c69bd22be1f8648e7547cd17b0bb
--! Hash: sha1:e521f4af4332a8d27dfdd52dee7c2e0199ea2ae7
--! Message: purchasing-mutations

--! split: 1-current.sql
-- Enter migration here

--! split: 0450-purchasing.sql
-- Supplier orders, goods receipts, and what suppliers sell products for.
drop type if exists erp.price cascade;
drop type if exists erp.supplier_order_line cascade;
drop type if exists erp.goods_receipt_line cascade;
drop type if exists erp.placement cascade;
create type erp.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type erp.price is 'An amount in one currency, with and without tax.';
create type erp.supplier_order_line as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric, expected_delivery_date timestamptz
);
comment on type erp.supplier_order_line is 'A line of a supplier order as it is to be; with the id of one that is there, or without.';
create type erp.goods_receipt_line as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text, supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer, destination_bin_location_id uuid
);
comment on type erp.goods_receipt_line is 'A line of a goods receipt as it is to be; with the id of one that is there, or without.';
create type erp.placement as (line bigint, goods_receipt_line_item_id uuid, warehouse_id uuid, bin_location_id uuid, quantity integer);
comment on type erp.placement is 'How many units of a line of a goods receipt are put where; line is the place in the input, for user errors.';

--! Included functions/erp/currency_factor_at.sql
create or replace function erp.currency_factor_at(currency_id uuid, moment timestamptz, out factor numeric, out origin_type text, out origin_source text,
  out reference_date timestamptz) returns record
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(r.factor, c.factor), case when r.factor is null then 'ShopCurrencyFactor' else 'ExchangeRateImport' end, r.source,
    r.reference_date::timestamp at time zone 'UTC'
  from erp.currency c
  left join lateral erp.exchange_rate_on(c.id, moment) r on not c.is_default_currency
  where c.id = currency_factor_at.currency_id;
end;
comment on function erp.currency_factor_at(uuid, timestamptz) is
  'Units of a currency per unit of the default currency at a moment, and where the figure is from: an imported exchange rate, else the factor of the shop''s own table of currencies.';
--! EndIncluded functions/erp/currency_factor_at.sql
--! Included functions/erp/amounts.sql
create or replace function erp.amounts(tax_status text, totals numeric[], tax_rates numeric[], discount numeric,
  out amount_net numeric, out amount_total numeric, out position_price numeric)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select
    case when tax_status = 'gross' then round(sum(l.total / (1 + coalesce(l.tax_rate, 0) / 100)), 2) else sum(l.total) end - coalesce(discount, 0),
    case when tax_status = 'net' then round(sum(l.total * (1 + coalesce(l.tax_rate, 0) / 100)), 2) else sum(l.total) end - coalesce(discount, 0),
    sum(l.total)
  from unnest(totals, tax_rates) l (total, tax_rate);
end;
comment on function erp.amounts(text, numeric[], numeric[], numeric) is
  'Totals of a document out of its lines: what they cost by its tax status, and their tax rates in percent. A discount on the whole is taken off both totals. Null when no line has a price.';
--! EndIncluded functions/erp/amounts.sql
--! Included functions/erp/purchase_prices.sql
-- Purchase prices of a product and those of its default supplier. The rules are those of Product.purchasePrices.

create or replace function erp.copy_supplier_prices(product_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with supplier_price as (
    -- paid in the default currency: all of them, as they are
    select c.product_id, p.currency_id, p.net, p.gross, p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    left join erp.currency u on u.id = s.currency_id
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id
    where c.supplier_is_default and c.product_id = any (product_ids) and coalesce(u.is_default_currency, true)
    union all
    -- paid in another one: the price in that currency, in the default currency by the rate of this moment
    select c.product_id, d.id, round(p.net / r.factor, 2), round(p.gross / r.factor, 2), p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    join erp.currency u on u.id = s.currency_id and not u.is_default_currency
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id and p.currency_id = u.id
    join erp.currency d on d.is_default_currency
    cross join lateral erp.currency_factor_at(u.id, now()) r
    where c.supplier_is_default and c.product_id = any (product_ids)
  ),
  gone as (
    -- Without a default supplier the prices are the product's own
    delete from erp.product_purchase_price p
    where p.product_id in (
        select c.product_id from erp.product_supplier_configuration c where c.supplier_is_default and c.product_id = any (product_ids))
      and not exists (select from supplier_price s where s.product_id = p.product_id and s.currency_id = p.currency_id)
  )
  insert into erp.product_purchase_price as p (product_id, currency_id, net, gross, linked)
  select s.product_id, s.currency_id, s.net, s.gross, s.linked from supplier_price s
  on conflict (product_id, currency_id) do update set net = excluded.net, gross = excluded.gross, linked = excluded.linked
    where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked);
end
$$;
comment on function erp.copy_supplier_prices(uuid[]) is
  'Makes the purchase prices of products those of their default suppliers: the same when the supplier is paid in the default currency, else converted by the present rate.';

create or replace function erp.copy_product_prices(product_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with target as (
    select c.id, c.product_id from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    left join erp.currency u on u.id = s.currency_id
    where c.supplier_is_default and c.product_id = any (product_ids) and coalesce(u.is_default_currency, true)
  ),
  gone as (
    delete from erp.product_supplier_price s using target t
    where s.product_supplier_configuration_id = t.id
      and not exists (select from erp.product_purchase_price p where p.product_id = t.product_id and p.currency_id = s.currency_id)
  )
  insert into erp.product_supplier_price as s (product_supplier_configuration_id, currency_id, net, gross, linked)
  select t.id, p.currency_id, p.net, p.gross, p.linked from target t join erp.product_purchase_price p on p.product_id = t.product_id
  on conflict (product_supplier_configuration_id, currency_id) do update set net = excluded.net, gross = excluded.gross, linked = excluded.linked
    where (s.net, s.gross, s.linked) is distinct from (excluded.net, excluded.gross, excluded.linked);
end
$$;
comment on function erp.copy_product_prices(uuid[]) is
  'Makes the prices of default suppliers that are paid in the default currency those of the products. Other suppliers keep theirs.';

create or replace function erp.keep_purchase_prices() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  products uuid[];
begin
  -- Each side writes only what differs, so this comes to rest: nothing changed, nothing to copy back
  if tg_table_name = 'product_supplier_price' then
    if tg_op = 'INSERT' then
      products := array(select distinct c.product_id from changed p join erp.product_supplier_configuration c
        on c.id = p.product_supplier_configuration_id where c.supplier_is_default);
    elsif tg_op = 'DELETE' then
      products := array(select distinct c.product_id from gone p join erp.product_supplier_configuration c
        on c.id = p.product_supplier_configuration_id where c.supplier_is_default);
    else
      products := array(select distinct c.product_id from (select g.product_supplier_configuration_id from gone g
        union select n.product_supplier_configuration_id from changed n) p
        join erp.product_supplier_configuration c on c.id = p.product_supplier_configuration_id where c.supplier_is_default);
    end if;
    perform erp.copy_supplier_prices(products) where products <> '{}';
  elsif tg_table_name = 'product_purchase_price' then
    if tg_op = 'INSERT' then
      products := array(select distinct p.product_id from changed p);
    elsif tg_op = 'DELETE' then
      products := array(select distinct p.product_id from gone p);
    else
      products := array(select p.product_id from gone p union select n.product_id from changed n);
    end if;
    perform erp.copy_product_prices(products) where products <> '{}';
  elsif tg_op = 'INSERT' then
    products := array(select distinct c.product_id from changed c where c.supplier_is_default);
    -- A new default supplier without prices takes nothing away; its prices follow
    perform erp.copy_supplier_prices(array(select c.product_id from erp.product_supplier_configuration c
      where c.supplier_is_default and c.product_id = any (products)
        and exists (select from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id)));
  else
    products := array(select distinct n.product_id from changed n join gone g on g.id = n.id
      where n.supplier_is_default and not g.supplier_is_default);
    perform erp.copy_supplier_prices(products) where products <> '{}';
  end if;
  return null;
end
$$;
comment on function erp.keep_purchase_prices() is
  'Trigger: keeps the purchase prices of products and of their default suppliers in step, in both directions.';
--! EndIncluded functions/erp/purchase_prices.sql
--! Included functions/erp/product_supplier_configuration.sql
create or replace function erp.set_supplier_prices(configuration_id uuid, prices erp.price[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array['purchase_prices', (e.line - 1)::text, e.field]) order by e.line) into errors
  from (
    select p.ordinality, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from unnest(prices) with ordinality p where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', case when p.net < 0 then 'net' else 'gross' end
    from unnest(prices) with ordinality p where p.net < 0 or p.gross < 0
    union all
    select p.ordinality, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from (select i.*, row_number() over (partition by i.currency_id order by i.ordinality) as nth from unnest(prices) with ordinality i) p
    where p.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
  -- One statement, so that the product never follows half of the change
  with gone as (
    delete from erp.product_supplier_price s where s.product_supplier_configuration_id = configuration_id
      and not exists (select from unnest(prices) p where p.currency_id = s.currency_id)
  )
  insert into erp.product_supplier_price as s (product_supplier_configuration_id, currency_id, net, gross, linked)
  select configuration_id, p.currency_id, p.net, p.gross, coalesce(p.linked, true) from unnest(prices) p
  on conflict (product_supplier_configuration_id, currency_id) do update set net = excluded.net, gross = excluded.gross, linked = excluded.linked;
end
$$;
comment on function erp.set_supplier_prices(uuid, erp.price[]) is 'Makes these the prices of a product at a supplier, one per currency.';

create or replace function erp.make_default_supplier(configuration_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update erp.product_supplier_configuration c set supplier_is_default = false
  where c.supplier_is_default and c.id <> configuration_id
    and c.product_id = (select o.product_id from erp.product_supplier_configuration o where o.id = configuration_id);
  update erp.product_supplier_configuration c set supplier_is_default = true where c.id = configuration_id and not c.supplier_is_default;
end
$$;
comment on function erp.make_default_supplier(uuid) is 'Makes a supplier the default of its product, in place of the one that was.';

create or replace function erp.create_product_supplier_configuration(given jsonb, prices erp.price[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.product_supplier_configuration := jsonb_populate_record(null::erp.product_supplier_configuration, given);
begin
  perform ledger.lock(array[made.product_id]);
  if not exists (select from erp.product p where p.id = made.product_id) then
    perform mutation.refuse('NOT_FOUND', 'There is no such product.', '{product_id}');
  end if;
  if not exists (select from erp.supplier s where s.id = made.supplier_id) then
    perform mutation.refuse('NOT_FOUND', 'There is no such supplier.', '{supplier_id}');
  end if;
  insert into erp.product_supplier_configuration (product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps, delivery_time_days)
  values (made.product_id, made.supplier_id, made.supplier_product_number, coalesce(made.min_purchase, 1), coalesce(made.purchase_steps, 1),
    made.delivery_time_days)
  returning id into made.id;
  perform erp.set_supplier_prices(made.id, coalesce(prices, '{}'));
  if made.supplier_is_default then
    perform erp.make_default_supplier(made.id);
  end if;
  return made.id;
end
$$;
comment on function erp.create_product_supplier_configuration(jsonb, erp.price[]) is
  'Notes that a supplier sells a product, on the terms that the object names and at these prices. Answers its id.';

create or replace function erp.lock_product_supplier_configuration(configuration_id uuid) returns erp.product_supplier_configuration
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.product_supplier_configuration;
begin
  select * into present from erp.product_supplier_configuration c where c.id = configuration_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such assignment.', '{id}');
  end if;
  -- Of the suppliers of a product, one is changed at a time: one of them is the default
  perform ledger.lock(array[present.product_id]);
  select * into present from erp.product_supplier_configuration c where c.id = configuration_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such assignment.', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_product_supplier_configuration(uuid) is
  'How a supplier sells a product, kept from others together with the product until the end of the transaction. User error NOT_FOUND.';

create or replace function erp.update_product_supplier_configuration(configuration_id uuid, changes jsonb, prices erp.price[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.product_supplier_configuration := erp.lock_product_supplier_configuration(configuration_id);
  wanted constant erp.product_supplier_configuration := jsonb_populate_record(present, changes - '{id,purchase_prices}'::text[]);
begin
  update erp.product_supplier_configuration c
  set supplier_product_number = wanted.supplier_product_number, min_purchase = wanted.min_purchase, purchase_steps = wanted.purchase_steps,
    delivery_time_days = wanted.delivery_time_days
  where c.id = configuration_id;
  if changes ? 'purchase_prices' then
    perform erp.set_supplier_prices(configuration_id, coalesce(prices, '{}'));
  end if;
  return configuration_id;
end
$$;
comment on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[]) is
  'Changes the terms that the object names; prices only when it names purchase_prices. Answers the id.';

create or replace function erp.set_default_supplier(configuration_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.lock_product_supplier_configuration(configuration_id);
  perform erp.make_default_supplier(configuration_id);
  return configuration_id;
end
$$;
comment on function erp.set_default_supplier(uuid) is 'Makes a supplier the default of its product. Answers the id of the assignment.';

create or replace function erp.delete_product_supplier_configuration(configuration_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.lock_product_supplier_configuration(configuration_id);
  delete from erp.product_supplier_configuration c where c.id = configuration_id;
  return configuration_id;
end
$$;
comment on function erp.delete_product_supplier_configuration(uuid) is
  'Forgets that a supplier sells a product. The product keeps its purchase prices. Answers the id.';
--! EndIncluded functions/erp/product_supplier_configuration.sql
--! Included functions/ledger/keep_purchase_figures.sql
create or replace function ledger.keep_purchase_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  products uuid[];
begin
  if tg_table_name = 'supplier_order' then
    products := array(select distinct l.product_id from changed n join gone g on g.id = n.id
      join erp.supplier_order_line_item l on l.supplier_order_id = n.id
      where l.product_id is not null and (n.state, n.order_date_time) is distinct from (g.state, g.order_date_time));
  elsif tg_op = 'INSERT' then
    products := array(select distinct l.product_id from changed l where l.product_id is not null);
  elsif tg_op = 'DELETE' then
    products := array(select distinct l.product_id from gone l where l.product_id is not null);
  else
    products := array(select l.product_id from gone l where l.product_id is not null
      union select l.product_id from changed l where l.product_id is not null);
  end if;
  if products = '{}' then
    return null;
  end if;
  perform ledger.lock(products);
  update erp.product p
  set open_supplier_order_quantity = f.quantity, last_supplier_order_at = f.last_at
  from unnest(products) x (id) cross join lateral (
    select coalesce(sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0) as quantity,
      max(o.order_date_time) as last_at
    from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id where l.product_id = x.id
  ) f
  where p.id = x.id and (p.open_supplier_order_quantity, p.last_supplier_order_at) is distinct from (f.quantity::integer, f.last_at);
  return null;
end
$$;
comment on function ledger.keep_purchase_figures() is
  'Trigger after supplier orders or their lines changed: brings the open quantity and the time of the last supplier order of their products up to date.';
--! EndIncluded functions/ledger/keep_purchase_figures.sql
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
  delete from erp.supplier_order_line_item i
  where i.supplier_order_id = target.id and not exists (select from unnest(lines) l where l.id = i.id);

  insert into erp.supplier_order_line_item as i (id, supplier_order_id, product_id, "position", label, product_number, supplier_product_number,
    quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate, expected_delivery_date)
  select coalesce(l.id, uuidv7()), target.id, p.id, l.ordinality, coalesce(p.name, parent.name, p.product_number), p.product_number,
    c.supplier_product_number, l.quantity, c.min_purchase, c.purchase_steps, price.unit, round(price.unit * l.quantity, 2),
    coalesce(l.tax_rate, p.tax_rate), l.expected_delivery_date
  from unnest(lines) with ordinality l
  join erp.product p on p.id = l.product_id left join erp.product parent on parent.id = p.parent_id
  left join erp.product_supplier_configuration c on c.product_id = p.id and c.supplier_id = target.supplier_id
  left join erp.product_supplier_price s on s.product_supplier_configuration_id = c.id and s.currency_id = target.currency_id
  cross join lateral (select coalesce(l.unit_price, case target.tax_status when 'gross' then s.gross else s.net end) as unit) price
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
  'Makes these the lines of a supplier order: those with an id are changed, those without are new, others go. What a line leaves open, price and tax rate, comes from the supplier''s terms and the product. Totals are computed anew; a discount on the whole order stays.';

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

create or replace function erp.move_supplier_order(supplier_order_id uuid, action text, changes jsonb default '{}') returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
  wanted constant erp.supplier_order := jsonb_populate_record(present, changes - 'id');
begin
  update erp.supplier_order o
  set state = erp.next_state('supplier_order', action, present.state), supplier_order_number = wanted.supplier_order_number,
    delivery_date = wanted.delivery_date
  where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.move_supplier_order(uuid, text, jsonb) is
  'Does an action of the machine supplier_order, and notes what the supplier said with it: its own number, the date of delivery. Answers the id.';

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
declare
  errors jsonb;
begin
  -- Batches that are named by a number are made when they are new
  insert into erp.batch (product_id, number)
  select distinct l.product_id, l.batch_number from unnest(lines) l
  where l.batch_number is not null and l.batch_id is null and exists (select from erp.product p where p.id = l.product_id)
  on conflict (product_id, number) do nothing;
  return array(
    select row (l.id, l.product_id, l.quantity, coalesce(l.batch_id, b.id), l.batch_number, coalesce(l.supplier_order_line_item_id, s.id),
      case when target.type = 'Supplier' then coalesce(o.supplier_order_id, l.supplier_order_id) else l.supplier_order_id end, l.return_order_id, l.unit_price, l.tax_rate, l.planned_disposal_quantity,
      l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(lines) with ordinality l
    left join erp.batch b on b.product_id = l.product_id and b.number = l.batch_number
    left join lateral (
      -- An order alone means its line of this product, first one that is still open
      select i.id from erp.supplier_order_line_item i
      where target.type = 'Supplier' and l.supplier_order_line_item_id is null and i.supplier_order_id = l.supplier_order_id and i.product_id = l.product_id
      order by i.open_quantity = 0, i."position", i.id limit 1
    ) s on true
    left join erp.supplier_order_line_item o on o.id = l.supplier_order_line_item_id
    order by l.ordinality
  );
end
$$;
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name in other words: batches by number, made when they are new, and lines of supplier orders by the order.';

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
    select l.ordinality, 'INVALID', 'Only receipts of type Supplier name supplier orders.',
      case when l.supplier_order_id is null then 'supplier_order_line_item_id' else 'supplier_order_id' end
    from unnest(lines) with ordinality l
    where target.type <> 'Supplier' and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such line of a supplier order with this product.', 'supplier_order_line_item_id'
    from unnest(lines) with ordinality l where l.supplier_order_line_item_id is not null and not exists (
      select from erp.supplier_order_line_item i where i.id = l.supplier_order_line_item_id and i.product_id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The supplier order has no line with this product.', 'supplier_order_id'
    from unnest(lines) with ordinality l where target.type = 'Supplier' and l.supplier_order_id is not null and l.supplier_order_line_item_id is null
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
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Refuses lines that do not fit their goods receipt. User errors TOO_MANY_LINES, OUT_OF_RANGE, NOT_FOUND, NOT_UNIQUE, BATCH_MISMATCH, INVALID.';

create or replace function erp.set_goods_receipt_lines(target erp.goods_receipt, given erp.goods_receipt_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines constant erp.goods_receipt_line[] := erp.resolve_goods_receipt_lines(target, given);
  discount constant numeric := target.position_price - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_goods_receipt_lines(target, lines);
  delete from erp.goods_receipt_line_item i
  where i.goods_receipt_id = target.id and not exists (select from unnest(lines) l where l.id = i.id);

  insert into erp.goods_receipt_line_item as i (id, goods_receipt_id, product_id, batch_id, return_order_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price, tax_rate)
  select coalesce(l.id, uuidv7()), target.id, l.product_id, l.batch_id, l.return_order_id, l.supplier_order_id, l.supplier_order_line_item_id,
    l.destination_bin_location_id, l.quantity, coalesce(l.planned_disposal_quantity, 0),
    coalesce(l.unit_price, case when o.currency_id = target.currency_id then s.unit_price end), coalesce(l.tax_rate, s.tax_rate, p.tax_rate)
  from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
  left join erp.supplier_order_line_item s on s.id = l.supplier_order_line_item_id left join erp.supplier_order o on o.id = s.supplier_order_id
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
end
$$;
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Makes these the lines of a goods receipt: those with an id are changed, those without are new, others go. Prices and tax rates that are left out come from the supplier order and the product.';
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
  unknown uuid;
begin
  made.warehouse_id := coalesce(made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving));
  -- What a supplier order says of supplier and currency holds for its receipt, unless something else is given
  made.supplier_id := coalesce(made.supplier_id, (select o.supplier_id from erp.supplier_order o where o.id = supplier_order_ids[1]));
  made.currency_id := coalesce(made.currency_id,
    (select o.currency_id from erp.supplier_order o where o.id = supplier_order_ids[1]),
    (select s.currency_id from erp.supplier s where s.id = made.supplier_id),
    (select c.id from erp.currency c where c.is_default_currency));
  made.tax_status := coalesce(made.tax_status, (select o.tax_status from erp.supplier_order o where o.id = supplier_order_ids[1]), 'net');
  perform erp.check_goods_receipt(made);
  if made.type <> 'Supplier' and supplier_order_ids <> '{}' then
    perform mutation.refuse('INVALID', 'Only receipts of type Supplier deliver supplier orders.', '{supplier_order_ids}');
  end if;
  select i into unknown from unnest(supplier_order_ids) i where not exists (select from erp.supplier_order o where o.id = i) limit 1;
  if found then
    perform mutation.refuse('NOT_FOUND', 'There is no such supplier order.', '{supplier_order_ids}');
  end if;
  made := erp.with_currency_factor(made, (given ->> 'currency_factor')::numeric);
  insert into erp.goods_receipt (number, type, state, warehouse_id, supplier_id, customer_id, currency_id, currency_factor,
    currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date, currency_factor_captured_at, tax_status, comment)
  values (erp.next_number('goods_receipt'), made.type, case when (given ->> 'is_draft')::boolean then 'draft' else 'created' end,
    made.warehouse_id, made.supplier_id, made.customer_id, made.currency_id, made.currency_factor, made.currency_factor_origin_type,
    made.currency_factor_origin_source, made.currency_factor_reference_date, made.currency_factor_captured_at, made.tax_status, made.comment)
  returning * into made;
  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) select distinct made.id, i from unnest(supplier_order_ids) i;
  perform erp.set_goods_receipt_lines(made, coalesce(lines, '{}'));
  return made.id;
end
$$;
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Makes a goods receipt out of the columns that the object names (is_draft: as a draft), its lines, and the supplier orders that it delivers. Answers its id.';

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

create or replace function erp.set_lines_of_goods_receipt(goods_receipt_id uuid, lines erp.goods_receipt_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state not in ('draft', 'created') then
    perform mutation.refuse('NOT_EDITABLE', format('The receipt is %s: its lines cannot be changed any more.', present.state), '{id}');
  end if;
  perform erp.set_goods_receipt_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is 'Makes these the lines of a goods receipt that is not approved yet. Answers its id.';
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

create or replace function erp.complete_goods_receipt(goods_receipt_id uuid, placements erp.placement[]) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  process constant text := erp.goods_receipt_process(present.type);
  errors jsonb;
  booking ledger.booking;
begin
  -- After the receipt and before the stock, always in this order
  perform from erp.supplier_order o where o.id in (
    select l.supplier_order_id from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id
  ) order by o.id for no key update;

  select jsonb_agg(mutation.user_error(e.code, e.message, array['put_away', (e.line - 1)::text] || e.field) order by e.line) into errors
  from (
    select p.line, 'NOT_FOUND', 'The receipt has no such line.', '{goods_receipt_line_item_id}'::text[]
    from unnest(placements) p where not exists (
      select from erp.goods_receipt_line_item l where l.id = p.goods_receipt_line_item_id and l.goods_receipt_id = present.id and l.quantity > 0)
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}' from unnest(placements) p where p.quantity < 1
    union all
    select p.line, 'INVALID', 'Name the warehouse of the receipt or one of its bins.', '{place}'
    from unnest(placements) p
    where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1 or p.warehouse_id <> present.warehouse_id
      or p.bin_location_id is not null and not exists (
        select from erp.bin_location b where b.id = p.bin_location_id and b.warehouse_id = present.warehouse_id)
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  select jsonb_agg(mutation.user_error('INVALID', format('%s units are put away, but the line has %s.', s.placed, s.wanted),
    array['put_away', (s.line - 1)::text, 'quantity'], jsonb_build_object('placed', s.placed, 'expected', s.wanted)) order by s.line) into errors
  from (
    select min(p.line) as line, sum(p.quantity) as placed, l.quantity - l.planned_disposal_quantity as wanted
    from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id group by l.id
  ) s where s.placed <> s.wanted;
  perform mutation.refuse(errors);

  select jsonb_agg(mutation.user_error('OVER_RECEIPT', format('%s units of product %s are still open, %s come in.', i.open_quantity, i.product_number, l.quantity),
    '{id}', jsonb_build_object('productNumber', i.product_number, 'open', i.open_quantity, 'received', l.quantity))) into errors
  from (
    select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity from erp.goods_receipt_line_item l
    where l.goods_receipt_id = present.id and l.supplier_order_line_item_id is not null group by 1
  ) l join erp.supplier_order_line_item i on i.id = l.id where l.quantity > i.open_quantity;
  perform mutation.refuse(errors);

  booking := ledger.post(array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', present.id::text, d.type, d.place, process)::ledger.draft
    from (
      select l.id, l.product_id, l.batch_id, p.quantity, t.type, t.place, p.line as position
      from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
      cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id) t
      union all
      select l.id, l.product_id, l.batch_id, l.quantity - l.planned_disposal_quantity, t.type, t.place, 0
      from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) t
      where l.goods_receipt_id = present.id and l.quantity > l.planned_disposal_quantity
        and not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = l.id)
      union all
      select l.id, l.product_id, l.batch_id, l.planned_disposal_quantity, 'special_stock_location', 'stock_correction', 1000
      from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id and l.planned_disposal_quantity > 0
      union all
      select l.id, l.product_id, l.batch_id, - l.quantity,
        case when present.type = 'Customer' and l.return_order_id is not null then 'return_order' else 'special_stock_location' end,
        case when present.type = 'Customer' and l.return_order_id is not null then l.return_order_id::text else 'unknown' end, 0
      from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id and l.quantity < 0
    ) d where d.product_id is not null order by d.id, d.position
  ), null);

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = date_trunc('second', now()) where r.id = present.id;
  update erp.goods_receipt_line_item l set planned_disposal_quantity = 0 where l.goods_receipt_id = present.id and l.planned_disposal_quantity > 0;
  perform erp.deliver_supplier_orders(present.id);
  return booking;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt: books its lines from the place of the receipt to where they are put away, and what is to be thrown away to stock_correction; notes what arrived of supplier orders. A line without placements goes to its own bin, the usual bin, or the warehouse.';

create or replace function erp.deliver_supplier_orders(goods_receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  delivered record;
  new_state text;
begin
  update erp.supplier_order_line_item i
  set received_quantity = greatest(r.quantity, 0), actual_delivery_date = case when r.quantity >= i.quantity then date_trunc('second', now()) end
  from (
    select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
    from erp.goods_receipt_line_item l join erp.goods_receipt g on g.id = l.goods_receipt_id and g.state = 'completed'
    where l.supplier_order_line_item_id in (
      select o.supplier_order_line_item_id from erp.goods_receipt_line_item o where o.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    group by 1
  ) r where i.id = r.id;

  for delivered in
    select o.id, o.state, (select bool_and(i.open_quantity = 0) from erp.supplier_order_line_item i where i.supplier_order_id = o.id) as is_complete
    from erp.supplier_order o where o.id in (
      select l.supplier_order_id from erp.goods_receipt_line_item l where l.goods_receipt_id = deliver_supplier_orders.goods_receipt_id)
    order by o.id
  loop
    new_state := delivered.state;
    -- Goods that come have been confirmed, whether or not somebody noted it
    if new_state in ('open', 'sent') then
      new_state := erp.next_state('supplier_order', 'confirm', new_state);
    end if;
    if delivered.is_complete and new_state not in ('delivered', 'completed') then
      new_state := erp.next_state('supplier_order', 'deliver', new_state);
    elsif not delivered.is_complete and new_state not in ('partially_delivered', 'delivered', 'completed') then
      new_state := erp.next_state('supplier_order', 'deliver_partially', new_state);
    end if;
    update erp.supplier_order o
    set state = new_state,
      actual_delivery_date = case when delivered.is_complete then date_trunc('second', now()) else o.actual_delivery_date end
    where o.id = delivered.id;
  end loop;
end
$$;
comment on function erp.deliver_supplier_orders(uuid) is
  'After a goods receipt was completed: the received quantities of the supplier orders'' lines, and the orders'' states partially_delivered or delivered.';

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

do $$
declare
  item record;
begin
  for item in
    select * from (values
      ('erp.product_supplier_price', 'erp.keep_purchase_prices()'), ('erp.product_purchase_price', 'erp.keep_purchase_prices()'),
      ('erp.product_supplier_configuration', 'erp.keep_purchase_prices()'),
      ('erp.supplier_order_line_item', 'ledger.keep_purchase_figures()'), ('erp.supplier_order', 'ledger.keep_purchase_figures()')
    ) v (relation, routine)
  loop
    execute format('create or replace trigger keep_figures_on_update after update on %s
      referencing old table as gone new table as changed for each statement execute function %s', item.relation, item.routine);
    continue when item.relation = 'erp.supplier_order';
    execute format('create or replace trigger keep_figures_on_insert after insert on %s
      referencing new table as changed for each statement execute function %s', item.relation, item.routine);
    continue when item.relation = 'erp.product_supplier_configuration';
    execute format('create or replace trigger keep_figures_on_delete after delete on %s
      referencing old table as gone for each statement execute function %s', item.relation, item.routine);
  end loop;
end
$$;
create or replace trigger keep_figures before insert or update of unit_price, goods_receipt_id on erp.goods_receipt_line_item
  for each row execute function erp.keep_default_currency_price();
create or replace trigger keep_figures after update of currency_factor on erp.goods_receipt
  for each row when (old.currency_factor is distinct from new.currency_factor) execute function erp.keep_currency_factor();

select api_meta.allow('service_writer', 'erp.supplier_order', 'select', 'insert', 'delete', 'update (supplier_order_number, state, supplier_id,
  warehouse_id, supplier_snapshot, warehouse_snapshot, currency_id, amount_net, amount_total, position_price, tax_status, order_date_time, due_date,
  delivery_date, actual_delivery_date, comment)');
select api_meta.allow('service_writer', 'erp.supplier_order_line_item', 'select', 'insert', 'delete', 'update (product_id, position, label,
  product_number, supplier_product_number, quantity, received_quantity, min_purchase, purchase_steps, unit_price, total_price, tax_rate,
  expected_delivery_date, actual_delivery_date)');
select api_meta.allow('service_writer', 'erp.goods_receipt', 'select', 'insert', 'delete', 'update (state, goods_receipt_date_time, warehouse_id,
  supplier_id, customer_id, currency_id, currency_factor, currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
  currency_factor_captured_at, tax_status, amount_net, amount_total, position_price, comment)');
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item', 'select', 'insert', 'delete', 'update (product_id, batch_id, return_order_id,
  supplier_order_id, supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
  unit_price_in_default_currency, tax_rate)');
select api_meta.allow('service_writer', 'erp.goods_receipt_supplier_order', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.batch', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.product_supplier_configuration', 'select', 'insert', 'delete',
  'update (supplier_product_number, min_purchase, purchase_steps, supplier_is_default, delivery_time_days)');
select api_meta.allow('service_writer', 'erp.product_supplier_price', 'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', 'erp.product_purchase_price', 'select', 'insert', 'delete', 'update (net, gross, linked)');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.supplier', 'erp.customer', 'erp.currency', 'erp.exchange_rate', 'erp.return_order', 'erp.stock_valuation_report_goods_receipt',
  'ledger.stock_movement', 'ledger.stock_movement_batch']::regclass[]) relation;
select api_meta.allow('service_ledger', 'erp.supplier_order', 'select');
select api_meta.allow('service_ledger', 'erp.supplier_order_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.product', 'update (open_supplier_order_quantity, last_supplier_order_at)');

select api_meta.give('ledger.keep_purchase_figures()', 'service_ledger');
select api_meta.give('erp.keep_purchase_prices()', 'service_writer');
grant select on ledger.flow to service_writer;
grant execute on function ledger.place_of(uuid, uuid), ledger.post(ledger.draft[], text) to service_writer;
do $$
declare
  routine regprocedure;
begin
  -- What of the schema erp runs within mutations, may run there
  for routine in
    select p.oid from pg_proc p where p.pronamespace = 'erp'::regnamespace and not p.prosecdef and p.prorettype <> 'trigger'::regtype
  loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;
comment on constraint product_supplier_configuration_is_unique on erp.product_supplier_configuration is
  E'@userError NOT_UNIQUE supplier_id\nThe supplier is assigned to the product already.';
comment on constraint product_supplier_configuration_min_purchase_is_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE min_purchase\nThe least quantity must be at least 1.';
comment on constraint product_supplier_configuration_purchase_steps_are_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE purchase_steps\nThe step must be at least 1.';
comment on constraint product_supplier_configuration_delivery_time_is_not_negative on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE delivery_time_days\nThe delivery time must not be negative.';
comment on constraint supplier_order_tax_status_is_known on erp.supplier_order is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint goods_receipt_tax_status_is_known on erp.goods_receipt is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint goods_receipt_currency_factor_is_positive on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor\nThe exchange rate must be greater than 0.';
comment on constraint goods_receipt_customer_only_on_customer_returns on erp.goods_receipt is
  E'@userError INVALID customer_id\nOnly receipts of type Customer have a customer.';
comment on constraint goods_receipt_supplier_only_on_supplier_receipts on erp.goods_receipt is
  E'@userError INVALID supplier_id\nReceipts of type Customer have no supplier.';
do $$
declare
  item record;
begin
  -- Checked before, line by line, or written by the functions alone
  for item in
    select c.conrelid::regclass as relation, c.conname from pg_constraint c
    where c.contype in ('c', 'u') and obj_description(c.oid, 'pg_constraint') is null and c.conrelid = any (array['erp.supplier_order',
      'erp.supplier_order_line_item', 'erp.goods_receipt', 'erp.goods_receipt_line_item', 'erp.product_supplier_price',
      'erp.product_purchase_price', 'erp.number_range']::regclass[])
  loop
    execute format('comment on constraint %I on %s is %L', item.conname, item.relation, '@internal The functions that write here see to it.');
  end loop;
end
$$;

--! split: 0460-purchasing-mutations.sql
-- The mutations of purchasing, in the head and in the version of June.
--! Included functions/api/supplier_order.sql
drop type if exists api_unstable.supplier_order_payload cascade;
create type api_unstable.supplier_order_payload as (supplier_order uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.supplier_order_payload is 'What a mutation of a supplier order answers.';
comment on column api_unstable.supplier_order_payload.supplier_order is E'@entity SupplierOrder\nThe supplier order as it is now; null when it was refused.';
comment on column api_unstable.supplier_order_payload.user_errors is 'Why nothing was changed; empty when it was.';

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
  )), null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_create(api_unstable.supplier_order_create_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND OUT_OF_RANGE INVALID TOO_MANY_LINES
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
  select row (erp.update_supplier_order(input.id, changes), null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_update(api_unstable.supplier_order_update_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID
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
  )), null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES
Sets the lines of an open supplier order and computes its totals anew.$$;

drop type if exists api_unstable.supplier_order_send_input cascade;
create type api_unstable.supplier_order_send_input as (id uuid);
comment on type api_unstable.supplier_order_send_input is 'A supplier order to send.';
comment on column api_unstable.supplier_order_send_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_send(input api_unstable.supplier_order_send_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'send'), null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_send(api_unstable.supplier_order_send_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Notes that an open supplier order was sent to the supplier.$$;

drop type if exists api_unstable.supplier_order_confirm_input cascade;
create type api_unstable.supplier_order_confirm_input as (id uuid, supplier_order_number text, delivery_date timestamptz);
comment on type api_unstable.supplier_order_confirm_input is 'A supplier order to confirm.';
comment on column api_unstable.supplier_order_confirm_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_confirm_input.supplier_order_number is 'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_confirm_input.delivery_date is 'When the supplier says that the goods come.';

create function api_unstable.supplier_order_confirm(input api_unstable.supplier_order_confirm_input, changes jsonb) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'confirm', changes), null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_confirm(api_unstable.supplier_order_confirm_input, jsonb) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Notes that the supplier has confirmed an order that is open or was sent.$$;

drop type if exists api_unstable.supplier_order_complete_input cascade;
create type api_unstable.supplier_order_complete_input as (id uuid);
comment on type api_unstable.supplier_order_complete_input is 'A supplier order to complete.';
comment on column api_unstable.supplier_order_complete_input.id is E'@notNull\n@gid SupplierOrder\nId of the supplier order.';

create function api_unstable.supplier_order_complete(input api_unstable.supplier_order_complete_input) returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_supplier_order(input.id, 'complete'), null)::api_unstable.supplier_order_payload
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
  select row (erp.move_supplier_order(input.id, 'cancel'), null)::api_unstable.supplier_order_payload
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
create type api_unstable.supplier_order_delete_payload as (deleted_supplier_order_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.supplier_order_delete_payload is 'What deleting a supplier order answers.';
comment on column api_unstable.supplier_order_delete_payload.deleted_supplier_order_id is E'@gid SupplierOrder\nId of the supplier order that is gone; null when it was refused.';
comment on column api_unstable.supplier_order_delete_payload.user_errors is 'Why nothing was changed; empty when it was.';

create function api_unstable.supplier_order_delete(input api_unstable.supplier_order_delete_input) returns api_unstable.supplier_order_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_supplier_order(input.id), null)::api_unstable.supplier_order_delete_payload
$$;
comment on function api_unstable.supplier_order_delete(api_unstable.supplier_order_delete_input) is $$
@requiresScopes supplier_orders:write
@userErrors NOT_FOUND NOT_EDITABLE REFERENCE_IN_USE
Deletes a supplier order that is open or cancelled and that no goods receipt belongs to.$$;
--! EndIncluded functions/api/supplier_order.sql
--! Included functions/api/product_supplier_configuration.sql
drop type if exists api_unstable.purchase_price_input cascade;
create type api_unstable.purchase_price_input as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.purchase_price_input is 'A purchase price in one currency.';
comment on column api_unstable.purchase_price_input.currency_id is E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.purchase_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.purchase_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.purchase_price_input.linked is 'Whether one of the amounts follows from the other by the tax rate. True when left out.';

drop type if exists api_unstable.product_supplier_configuration_payload cascade;
create type api_unstable.product_supplier_configuration_payload as (product_supplier_configuration uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.product_supplier_configuration_payload is 'What a mutation of how a supplier sells a product answers.';
comment on column api_unstable.product_supplier_configuration_payload.product_supplier_configuration is E'@entity ProductSupplierConfiguration\nThe assignment as it is now; null when it was refused.';
comment on column api_unstable.product_supplier_configuration_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.product_supplier_configuration_create_input cascade;
create type api_unstable.product_supplier_configuration_create_input as (
  product_id uuid, supplier_id uuid, supplier_product_number text, min_purchase integer, purchase_steps integer, delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[], supplier_is_default boolean
);
comment on type api_unstable.product_supplier_configuration_create_input is 'A supplier of a product.';
comment on column api_unstable.product_supplier_configuration_create_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_id is E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_product_number is 'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_create_input.min_purchase is 'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_steps is 'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.delivery_time_days is 'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_prices is 'What the product costs there, one price per currency. They take the place of all present ones. Those of the default supplier become the purchase prices of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_is_default is 'Whether it takes the place of the present default supplier. False when left out.';

create function api_unstable.product_supplier_configuration_create(input api_unstable.product_supplier_configuration_create_input, changes jsonb) returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_product_supplier_configuration(changes - 'purchase_prices', array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price from unnest(input.purchase_prices) with ordinality p order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function api_unstable.product_supplier_configuration_create(api_unstable.product_supplier_configuration_create_input, jsonb) is $$
@requiresScopes product_supplier_configurations:write
@userErrors NOT_FOUND NOT_UNIQUE OUT_OF_RANGE
Assigns a supplier to a product.$$;

drop type if exists api_unstable.product_supplier_configuration_update_input cascade;
create type api_unstable.product_supplier_configuration_update_input as (
  id uuid, supplier_product_number text, min_purchase integer, purchase_steps integer, delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[]
);
comment on type api_unstable.product_supplier_configuration_update_input is 'Changes of the terms of a supplier. What is left out stays as it is.';
comment on column api_unstable.product_supplier_configuration_update_input.id is E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';
comment on column api_unstable.product_supplier_configuration_update_input.supplier_product_number is 'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_update_input.min_purchase is 'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_steps is 'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.delivery_time_days is 'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_prices is 'What the product costs there, one price per currency. They take the place of all present ones. Those of the default supplier become the purchase prices of the product.';

create function api_unstable.product_supplier_configuration_update(input api_unstable.product_supplier_configuration_update_input, changes jsonb) returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_product_supplier_configuration(input.id, changes, array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price from unnest(input.purchase_prices) with ordinality p order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function api_unstable.product_supplier_configuration_update(api_unstable.product_supplier_configuration_update_input, jsonb) is $$
@requiresScopes product_supplier_configurations:write
@userErrors NOT_FOUND REQUIRED OUT_OF_RANGE NOT_UNIQUE
Changes the terms on which a supplier sells a product.$$;

drop type if exists api_unstable.product_supplier_configuration_set_default_input cascade;
create type api_unstable.product_supplier_configuration_set_default_input as (id uuid);
comment on type api_unstable.product_supplier_configuration_set_default_input is 'A default supplier.';
comment on column api_unstable.product_supplier_configuration_set_default_input.id is E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment of the supplier to the product.';

create function api_unstable.product_supplier_configuration_set_default(input api_unstable.product_supplier_configuration_set_default_input) returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_default_supplier(input.id), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function api_unstable.product_supplier_configuration_set_default(api_unstable.product_supplier_configuration_set_default_input) is $$
@requiresScopes product_supplier_configurations:write
@userErrors NOT_FOUND
Makes a supplier the default of its product, in place of the one that was; the purchase prices of the product become its prices.$$;

drop type if exists api_unstable.product_supplier_configuration_delete_input cascade;
create type api_unstable.product_supplier_configuration_delete_input as (id uuid);
comment on type api_unstable.product_supplier_configuration_delete_input is 'An assignment to delete.';
comment on column api_unstable.product_supplier_configuration_delete_input.id is E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';

drop type if exists api_unstable.product_supplier_configuration_delete_payload cascade;
create type api_unstable.product_supplier_configuration_delete_payload as (
  deleted_product_supplier_configuration_id uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.product_supplier_configuration_delete_payload is 'What deleting an assignment answers.';
comment on column api_unstable.product_supplier_configuration_delete_payload.deleted_product_supplier_configuration_id is E'@gid ProductSupplierConfiguration\nId of the assignment that is gone; null when it was refused.';
comment on column api_unstable.product_supplier_configuration_delete_payload.user_errors is 'Why nothing was changed; empty when it was.';

create function api_unstable.product_supplier_configuration_delete(input api_unstable.product_supplier_configuration_delete_input) returns api_unstable.product_supplier_configuration_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_product_supplier_configuration(input.id), null)::api_unstable.product_supplier_configuration_delete_payload
$$;
comment on function api_unstable.product_supplier_configuration_delete(api_unstable.product_supplier_configuration_delete_input) is $$
@requiresScopes product_supplier_configurations:write
@userErrors NOT_FOUND
Takes a supplier off a product. The product keeps its purchase prices.$$;
--! EndIncluded functions/api/product_supplier_configuration.sql
--! Included functions/api/goods_receipt.sql
drop type if exists api_unstable.goods_receipt_payload cascade;
create type api_unstable.goods_receipt_payload as (goods_receipt uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.goods_receipt_payload is 'What a mutation of a goods receipt answers.';
comment on column api_unstable.goods_receipt_payload.goods_receipt is E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.goods_receipt_booking_payload cascade;
create type api_unstable.goods_receipt_booking_payload as (
  goods_receipt uuid, stock_movements uuid[], stocks uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.goods_receipt_booking_payload is 'What booking a goods receipt answers.';
comment on column api_unstable.goods_receipt_booking_payload.goods_receipt is E'@entity GoodsReceipt\nThe goods receipt as it is now; null when it was refused.';
comment on column api_unstable.goods_receipt_booking_payload.stock_movements is E'@entity StockMovement\nThe movements that were booked.';
comment on column api_unstable.goods_receipt_booking_payload.stocks is E'@entity Stock\nThe stock that has changed, as it is now.';
comment on column api_unstable.goods_receipt_booking_payload.user_errors is 'Why nothing was booked; empty when all was.';

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
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is E'@gid SupplierOrder\nId of the supplier order whose line with this product is delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is E'@gid ReturnOrder\nId of the return order that the goods come from; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is 'Price of one unit, in the currency of the receipt. When left out, that of the supplier order.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is 'Tax rate in percent. When left out, that of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is 'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is E'@gid BinLocation\nId of the bin that the units are to be put into.';

drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric, tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is E'@notNull\n@enum goods_receipt_type\nWhere the goods come from.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is E'@gid Warehouse\nId of the warehouse that receives the goods. When left out, the one where goods are received by default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is E'@gid Supplier\nId of the supplier. When left out, that of the first supplier order.';
comment on column api_unstable.goods_receipt_create_input.customer_id is E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is E'@gid Currency\nId of the currency of all amounts. When left out, that of the supplier order or of the supplier.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is 'Exchange rate: units of the currency per unit of the default currency. When left out, the imported rate of the day, else that of the shop.';
comment on column api_unstable.goods_receipt_create_input.tax_status is 'Whether prices are net, gross or tax-free.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is 'Whether the receipt is only a draft.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is E'@gid SupplierOrder\nIds of the supplier orders that are delivered; those of the lines need not be named.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(input api_unstable.goods_receipt_create_input, changes jsonb) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id, l.supplier_order_id, l.return_order_id,
      l.unit_price, l.tax_rate, l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES
Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. Nothing is booked yet.$$;

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
comment on column api_unstable.goods_receipt_update_input.is_draft is 'Whether the receipt is only a draft; until it is approved.';

create function api_unstable.goods_receipt_update(input api_unstable.goods_receipt_update_input, changes jsonb) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_goods_receipt(input.id, changes), null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_update(api_unstable.goods_receipt_update_input, jsonb) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE REQUIRED INVALID OUT_OF_RANGE CURRENCY_FACTOR_LOCKED
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
  )), null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES
Sets the lines of a goods receipt that is not approved yet, and computes its totals anew.$$;

drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input) returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK
Approves a goods receipt: the goods are there. Books the lines to the place of the receipt: from the return orders for receipts of type Customer, else from the special place unknown; lines with a negative quantity from where the goods lie.$$;

drop type if exists api_unstable.goods_receipt_start_input cascade;
create type api_unstable.goods_receipt_start_input as (id uuid);
comment on type api_unstable.goods_receipt_start_input is 'A goods receipt to start.';
comment on column api_unstable.goods_receipt_start_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_start(input api_unstable.goods_receipt_start_input) returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.start_goods_receipt(input.id), null)::api_unstable.goods_receipt_payload
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
  select row (input.id, b.stock_movements, b.stocks, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (p.ordinality, p.goods_receipt_line_item_id, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity)::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  )) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE OVER_RECEIPT INSUFFICIENT_STOCK
Completes an approved goods receipt: books the goods to where they were put away, and what is thrown away to stock_correction. Lines of supplier orders become received, and their orders partially_delivered or delivered.$$;

drop type if exists api_unstable.goods_receipt_delete_input cascade;
create type api_unstable.goods_receipt_delete_input as (id uuid);
comment on type api_unstable.goods_receipt_delete_input is 'A goods receipt to delete.';
comment on column api_unstable.goods_receipt_delete_input.id is E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

drop type if exists api_unstable.goods_receipt_delete_payload cascade;
create type api_unstable.goods_receipt_delete_payload as (deleted_goods_receipt_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.goods_receipt_delete_payload is 'What deleting a goods receipt answers.';
comment on column api_unstable.goods_receipt_delete_payload.deleted_goods_receipt_id is E'@gid GoodsReceipt\nId of the goods receipt that is gone; null when it was refused.';
comment on column api_unstable.goods_receipt_delete_payload.user_errors is 'Why nothing was changed; empty when it was.';

create function api_unstable.goods_receipt_delete(input api_unstable.goods_receipt_delete_input) returns api_unstable.goods_receipt_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_goods_receipt(input.id), null)::api_unstable.goods_receipt_delete_payload
$$;
comment on function api_unstable.goods_receipt_delete(api_unstable.goods_receipt_delete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND NOT_EDITABLE INSUFFICIENT_STOCK
Deletes a goods receipt that no stock has left yet; what was approved goes back to where it came from.$$;
--! EndIncluded functions/api/goods_receipt.sql

select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

--! Previous: sha1:e1636d2d1a5d750c3d771ddd0c31d717a24ad181
--! Hash: sha1:fe1fa718b16b4ac9e47c18a97dda4ca0f363067c
--! Message: amounts, addresses, storefront variants, tracking codes

--! split: 0100-amounts.sql
-- Floating point keeps 15 digits; larger amounts came to totals that no client can be told
alter table erp.product_price drop constraint if exists product_price_is_an_amount;
alter table erp.product_price add constraint product_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_price_is_an_amount on erp.product_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.product_purchase_price drop constraint if exists product_purchase_price_is_an_amount;
alter table erp.product_purchase_price add constraint product_purchase_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_purchase_price_is_an_amount on erp.product_purchase_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.product_supplier_price drop constraint if exists product_supplier_price_is_an_amount;
alter table erp.product_supplier_price add constraint product_supplier_price_is_an_amount
  check (net < 1e15 and gross < 1e15) not valid;
comment on constraint product_supplier_price_is_an_amount on erp.product_supplier_price is
  E'@userError OUT_OF_RANGE net,gross\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.supplier drop constraint if exists supplier_minimum_order_value_is_an_amount;
alter table erp.supplier add constraint supplier_minimum_order_value_is_an_amount
  check (minimum_order_value < 1e15) not valid;
comment on constraint supplier_minimum_order_value_is_an_amount on erp.supplier is
  E'@userError OUT_OF_RANGE minimum_order_value\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.supplier_order_line_item drop constraint if exists supplier_order_line_item_unit_price_is_an_amount;
alter table erp.supplier_order_line_item add constraint supplier_order_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not valid;
comment on constraint supplier_order_line_item_unit_price_is_an_amount on erp.supplier_order_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.goods_receipt_line_item drop constraint if exists goods_receipt_line_item_unit_price_is_an_amount;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not valid;
comment on constraint goods_receipt_line_item_unit_price_is_an_amount on erp.goods_receipt_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.sales_order_line_item drop constraint if exists order_line_item_unit_price_is_an_amount;
alter table erp.sales_order_line_item add constraint order_line_item_unit_price_is_an_amount
  check (abs(unit_price) < 1e15) not enforced;
comment on constraint order_line_item_unit_price_is_an_amount on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.sales_order_line_item drop constraint if exists order_line_item_total_price_is_an_amount;
alter table erp.sales_order_line_item add constraint order_line_item_total_price_is_an_amount
  check (abs(total_price) < 1e15) not enforced;
comment on constraint order_line_item_total_price_is_an_amount on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE total_price\nAn amount must be less than 1,000,000,000,000,000.';
alter table erp.goods_receipt drop constraint if exists goods_receipt_currency_factor_is_a_rate;
alter table erp.goods_receipt add constraint goods_receipt_currency_factor_is_a_rate
  check (currency_factor between 1e-12 and 1e12) not valid;
comment on constraint goods_receipt_currency_factor_is_a_rate on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor\n'
  'An exchange rate must be from 0.000000000001 to 1,000,000,000,000.';
--! Included erp/set_prices.sql
create or replace function erp.faults_of_prices(rows mutation.upsert_row[], list text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with price as (
    select u.line, p.n, r.*, row_number() over (partition by u.line, r.currency_id order by p.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> list, 'null')) with ordinality p (value, n)
    cross join lateral jsonb_populate_record(null::erp.price, p.value) r
  )
  select array_agg(
    row (f.line, f.code, f.message, array[list, (f.n - 1)::text, f.field], null)::mutation.row_fault
  )
  from (
    select p.line, p.n, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from price p where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from price p where p.net < 0 or p.gross < 0
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.',
      case when p.net >= 1e15 then 'net' else 'gross' end
    from price p where p.net >= 1e15 or p.gross >= 1e15
    union all
    select p.line, p.n, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from price p where p.nth > 1
    union all
    select u.line, 251, 'TOO_MANY_LINES', 'There are more than 250 prices.', 'currency_id'
    from unnest(rows) u
    where jsonb_array_length(nullif(u.given -> list, 'null')) > 250
  ) f (line, n, code, message, field);
end;
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'What is wrong with the prices that rows of an upsert give in a list.';
grant execute on function erp.faults_of_prices(mutation.upsert_row[], text) to service_writer;

create or replace function erp.set_prices(relation regclass, rows mutation.upsert_row[], list text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  -- One statement, so that a supplier never copies half of the change
  execute format($q$
    with given as (
      select u.id, u.given -> $2 as prices from unnest($1) u where u.errors is null and u.given ? $2
    ),
    wanted as (
      select g.id, r.currency_id, r.net, r.gross, coalesce(r.linked, true) as linked
      from given g
      cross join jsonb_array_elements(nullif(g.prices, 'null')) p (v)
      cross join lateral jsonb_populate_record(null::erp.price, p.v) r
    ),
    gone as (
      delete from %1$s p using given g where p.product_id = g.id and not exists (
        select from wanted w where w.id = p.product_id and w.currency_id = p.currency_id)
      returning p.product_id
    ),
    made as (
      insert into %1$s as p (product_id, currency_id, net, gross, linked)
      select w.id, w.currency_id, w.net, w.gross, w.linked from wanted w order by w.id, w.currency_id
      on conflict (product_id, currency_id) do update
      set net = excluded.net, gross = excluded.gross, linked = excluded.linked
      where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked)
      returning p.product_id
    )
    select array(select product_id from gone union select product_id from made)
    $q$, relation) into changed using rows, list;
  return changed;
end
$$;
comment on function erp.set_prices(regclass, mutation.upsert_row[], text) is
  'Makes the lists that rows of an upsert give the prices of their products, in a table of prices. '
  'Answers the '
  'products of which one has changed.';
grant execute on function erp.set_prices(regclass, mutation.upsert_row[], text) to service_writer;
--! EndIncluded erp/set_prices.sql
--! Included erp/set_supplier_prices.sql
create or replace function erp.set_supplier_prices(configuration_id uuid, prices erp.price[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('purchase_prices', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select p.ordinality, 'NOT_FOUND', 'There is no such currency.', 'currency_id'
    from unnest(prices) with ordinality p
    where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from unnest(prices) with ordinality p where p.net < 0 or p.gross < 0
    union all
    select p.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.',
      case when p.net >= 1e15 then 'net' else 'gross' end
    from unnest(prices) with ordinality p where p.net >= 1e15 or p.gross >= 1e15
    union all
    select p.ordinality, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from (
      select i.*, row_number() over (partition by i.currency_id order by i.ordinality) as nth
      from unnest(prices) with ordinality i
    ) p
    where p.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
  -- One statement, so that the product never copies half of the change
  with gone as (
    delete from erp.product_supplier_price s where s.product_supplier_configuration_id = configuration_id
      and not exists (select from unnest(prices) p where p.currency_id = s.currency_id)
  )
  insert into erp.product_supplier_price as s (
    product_supplier_configuration_id, currency_id, net, gross, linked
  )
  select configuration_id, p.currency_id, p.net, p.gross, coalesce(p.linked, true) from unnest(prices) p
  on conflict (product_supplier_configuration_id, currency_id) do update
  set net = excluded.net, gross = excluded.gross, linked = excluded.linked;
end
$$;
comment on function erp.set_supplier_prices(uuid, erp.price[]) is
  'Makes these the prices of a product at a supplier, one per currency.';
grant execute on function erp.set_supplier_prices(uuid, erp.price[]) to service_writer;
--! EndIncluded erp/set_supplier_prices.sql
--! Included erp/check_supplier_order_lines.sql
create or replace function erp.check_supplier_order_lines(
  target erp.supplier_order, lines erp.supplier_order_line[]
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
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity'
    from unnest(lines) with ordinality l
    where l.quantity < 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price >= 1e15
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The supplier order has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (
        select from erp.supplier_order_line_item i where i.id = l.id and i.supplier_order_id = target.id
      )
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Refuses lines that do not fit their supplier order. User errors TOO_MANY_LINES, OUT_OF_RANGE, '
  'NOT_FOUND, NOT_UNIQUE.';
grant execute on function erp.check_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[])
  to service_writer;
--! EndIncluded erp/check_supplier_order_lines.sql
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
    select l.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price >= 1e15
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
    select l.ordinality, 'OUT_OF_RANGE', 'The text has more than 255 characters.', 'batch_number'
    from unnest(lines) with ordinality l where length(l.batch_number) > 255
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

--! split: 0200-addresses.sql
-- Of what is no key of an address, clients would never hear
--! Included erp/address_keys.sql
create or replace function erp.address_keys() returns text[]
language sql immutable parallel safe
return array['company', 'department', 'firstName', 'lastName', 'street', 'additionalAddressLine1',
  'additionalAddressLine2', 'zipcode', 'city', 'countryName', 'countryIso', 'countryStateName',
  'countryStateShortCode', 'phoneNumber'];
comment on function erp.address_keys() is 'The keys of an address that clients are promised.';
grant execute on function erp.address_keys() to service_writer;
--! EndIncluded erp/address_keys.sql
--! Included erp/postal_address.sql
create or replace function erp.postal_address(address jsonb) returns jsonb
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_object_agg(k.name,
    case when jsonb_typeof(address -> k.name) in ('string', 'number', 'boolean') then address ->> k.name end)
  from unnest(erp.address_keys()) k (name);
end;
comment on function erp.postal_address(jsonb) is
  'An address with the keys that clients are promised, all of them, each a text or null. What else a shop '
  'has sent stays with its order.';
grant execute on function erp.postal_address(jsonb) to service_writer;
--! EndIncluded erp/postal_address.sql
--! Included erp/address_fault.sql
create or replace function erp.address_fault(address jsonb) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when a.key <> all (erp.address_keys())
      then format('An address has no key "%s", only %s.', left(a.key, 100),
        array_to_string(erp.address_keys(), ', '))
    else format('In an address, %s must be a text or null.', a.key) end
  from jsonb_each(case when jsonb_typeof(address) = 'object' then address end) a
  where a.key <> all (erp.address_keys()) or jsonb_typeof(a.value) not in ('string', 'null')
  limit 1;
end;
comment on function erp.address_fault(jsonb) is
  'What is wrong with an address that is entered for a warehouse or a supplier; null when nothing is. That '
  'it is an object is a rule of the tables.';
grant execute on function erp.address_fault(jsonb) to service_writer;

create or replace function erp.require_address(address jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  fault constant text := erp.address_fault(address);
begin
  if fault is not null then
    perform mutation.refuse('INVALID', fault, '{address}');
  end if;
end
$$;
comment on function erp.require_address(jsonb) is
  'Refuses an address with keys or values that clients don''t know. User error INVALID.';
grant execute on function erp.require_address(jsonb) to service_writer;

create or replace function erp.faults_of_addresses(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, 'INVALID', f.fault, array['address'], null)::mutation.row_fault)
  from (select u.line, erp.address_fault(u.given -> 'address') as fault from unnest(rows) u) f
  where f.fault is not null;
end;
comment on function erp.faults_of_addresses(mutation.upsert_row[]) is
  'What is wrong with the addresses that rows of an upsert give.';
grant execute on function erp.faults_of_addresses(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/address_fault.sql
--! Included erp/create_warehouse.sql
create or replace function erp.create_warehouse(code text, name text, is_default boolean,
  is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made constant uuid := uuidv7();
  is_first boolean;
begin
  perform erp.require_address(address);
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  is_first := not exists (select from erp.warehouse);
  perform erp.hand_over_defaults(made, is_default, is_default_receiving);
  insert into erp.warehouse (
    id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address
  )
  values (made, code, name, is_first or coalesce(is_default, false), is_first
    or coalesce(is_default_receiving, false),
    coalesce(is_stock_available_for_sale, true), address);
  insert into erp.location (name, warehouse_id) values (name, made);
  return made;
end
$$;
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb) is
  'Makes a warehouse with the location that orders are fulfilled from. The first one is the default for '
  'everything. Answers its id.';
grant execute on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb)
  to service_writer;
--! EndIncluded erp/create_warehouse.sql
--! Included erp/update_warehouse.sql
create or replace function erp.update_warehouse(warehouse_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.warehouse;
  wanted erp.warehouse;
begin
  perform erp.require_address(changes -> 'address');
  lock table erp.warehouse in share row exclusive mode;
  select * into present from erp.warehouse w where w.id = warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,created_at,updated_at}'::text[]);
  perform erp.hand_over_defaults(wanted.id, wanted.is_default, wanted.is_default_receiving);
  update erp.warehouse w
  set code = wanted.code, name = wanted.name, is_default = wanted.is_default,
    is_default_receiving = wanted.is_default_receiving,
    is_stock_available_for_sale = wanted.is_stock_available_for_sale, address = wanted.address
  where w.id = present.id;
  -- A location with its own name keeps it
  update erp.location l
  set name = wanted.name
  where l.warehouse_id = present.id and l.name = present.name and l.name <> wanted.name;
  return present.id;
end
$$;
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse that the object names, and its location''s name along with its '
  'own. Answers its id.';
grant execute on function erp.update_warehouse(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_warehouse.sql
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
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_addresses(rows)
    || erp.faults_of_defaults(rows, 'is_default') || erp.faults_of_defaults(rows, 'is_default_receiving'));
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
--! Included erp/upsert_suppliers.sql
create or replace function erp.upsert_suppliers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.number = r.number}';
  rows mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.supplier', 'suppliers', given, '{number}', matches);
  rows := mutation.with_faults(rows, 'suppliers', mutation.row_faults('erp.supplier', rows, matches)
    || erp.faults_of_addresses(rows));
  perform mutation.require_rows(rows, partial);
  return mutation.write_rows('erp.supplier', rows);
end
$$;
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Makes and changes suppliers: the objects of the list, fields named as columns. Answers what became of '
  'each.';
grant execute on function erp.upsert_suppliers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_suppliers.sql

--! split: 0300-tracking-codes.sql
-- An order that gets its delivery later gets its list then
drop trigger if exists keep_figures_of_delivery on erp.sales_order;
create trigger keep_figures_of_delivery before update of delivery_state on erp.sales_order
  for each row when (new.delivery_state is not null and new.tracking_codes is null)
  execute function ledger.keep_tracking_codes();

--! split: 0400-storefront-variants.sql
-- Entries have both keys that clients are promised, and no others
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may come in the same call
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (select o.id from erp.product o where o.product_number = u.given ->> 'parent_product_number')
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'The rows of an upsert of products with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.with_storefront_variants(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Clients are promised both keys. What is no list of objects is refused
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('storefront_variants', (
      select coalesce(jsonb_agg('{"variantId": null}' || e.entry order by e.n), '[]')
      from jsonb_array_elements(u.given -> 'storefront_variants') with ordinality e (entry, n)
    )))
    from unnest(rows) u
    where jsonb_typeof(u.given -> 'storefront_variants') = 'array'
      and not u.given @? '$.storefront_variants[*] ? (@.type() != "object")'
  ));
end;
comment on function erp.with_storefront_variants(mutation.upsert_row[]) is
  'The rows of an upsert of products with a variantId, null when it is left out, in each entry of '
  'storefront_variants.';
grant execute on function erp.with_storefront_variants(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- What stands for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product of this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product that stands for its variants is no variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'NOT_EDITABLE', 'This can change only while there is no stock.',
      'is_batch_managed', jsonb_build_object('quantity', p.present -> 'physical_stock')
    from product p
    where p.is_batch_managed is distinct from (p.present ->> 'is_batch_managed')::boolean
      and (p.present ->> 'physical_stock')::int > 0
    union all
    select p.line, 'INVALID', 'Each entry has a productId, perhaps a variantId, and nothing else.',
      'storefront_variants', null
    from product p
    where erp.are_storefront_variants(p.given -> 'storefront_variants') and p.given @? ('strict '
      || '$.storefront_variants[*].keyvalue() ? (@.key != "productId" && @.key != "variantId" '
      || '|| @.value == "")')::jsonpath
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of products beyond the rules of the table: variants of variants, '
  'batches that begin while there is stock, and other keys of storefront_variants than clients are promised.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.is_new and p.errors is not null
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent is a new product that is refused.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_parents(
    mutation.match_rows('erp.product', 'products', given, '{product_number}', matches))));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices, images and tags: the objects of the list, fields named as '
  'columns. Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql

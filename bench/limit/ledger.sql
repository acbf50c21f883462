-- A ledger as one would write it by hand, with what can't be left out if bookings are to be as durable: an
-- idempotency key, the product's lock, stock, the warehouse's stock, a movement, and three rows in an outbox. It
-- knows no batches, variants, counts, configurations or rights. Filled from the database that it stands in.
create schema bare_ledger;
create table bare_ledger.product (
  id uuid primary key, physical_stock integer not null check (physical_stock >= 0), reserved_stock integer not null
);
create table bare_ledger.place (id uuid primary key, warehouse_id uuid not null);
create table bare_ledger.stock (
  product_id uuid references bare_ledger.product, place uuid references bare_ledger.place,
  quantity integer not null check (quantity >= 0), primary key (product_id, place)
);
create table bare_ledger.warehouse_stock (
  product_id uuid references bare_ledger.product, warehouse_id uuid, quantity integer not null check (quantity >= 0),
  primary key (product_id, warehouse_id)
);
create table bare_ledger.sales_order (id uuid primary key, state text not null);
create table bare_ledger.order_line (
  id uuid primary key, order_id uuid not null references bare_ledger.sales_order, product_id uuid not null,
  quantity integer not null, shipped integer not null check (shipped <= quantity)
);
create index on bare_ledger.order_line (order_id);
create table bare_ledger.movement (
  id uuid primary key default uuidv7(), created_at timestamptz not null default now(),
  product_id uuid not null references bare_ledger.product, place uuid not null references bare_ledger.place,
  order_id uuid references bare_ledger.sales_order, quantity integer not null check (quantity <> 0)
);
create index on bare_ledger.movement (product_id, id);
create index on bare_ledger.movement (order_id) where order_id is not null;
create table bare_ledger.outbox (
  position bigint generated always as identity primary key, topic text not null, entity_id uuid not null,
  data jsonb not null, occurred_at timestamptz not null default clock_timestamp()
);
create table bare_ledger.idempotency_key (
  credential_id uuid, key text, answer json, created_at timestamptz not null default now(),
  primary key (credential_id, key)
);

insert into bare_ledger.product select id, physical_stock, reserved_stock from erp.product;
insert into bare_ledger.place select id, warehouse_id from erp.bin_location union all select id, id from erp.warehouse;
insert into bare_ledger.stock
select product_id, coalesce(bin_location_id, warehouse_id), quantity from ledger.stock
where bin_location_id is not null or warehouse_id is not null;
insert into bare_ledger.warehouse_stock select product_id, warehouse_id, quantity from ledger.warehouse_stock;
insert into bare_ledger.sales_order select id, state from erp.sales_order;
insert into bare_ledger.order_line
select id, order_id, product_id, quantity, shipped_quantity from erp.sales_order_line_item where type = 'product' and product_id is not null;

-- The answer to an earlier call with the key, or null
create function bare_ledger.take_key(wanted text) returns json language plpgsql
-- The plan is made while there are no keys, and kept while there come many
set enable_seqscan = off as $$
declare
  caller constant uuid := current_setting('service.credential_id');
begin
  insert into bare_ledger.idempotency_key (credential_id, key) values (caller, wanted) on conflict do nothing;
  if found then
    return null;
  end if;
  return (select k.answer from bare_ledger.idempotency_key k where k.credential_id = caller and k.key = wanted);
end
$$;
create function bare_ledger.keep_answer(wanted text, answered json) returns json language plpgsql
set enable_seqscan = off as $$
begin
  update bare_ledger.idempotency_key k set answer = answered
  where k.credential_id = current_setting('service.credential_id')::uuid and k.key = wanted;
  return answered;
end
$$;

create function bare_ledger.adjust_one(wanted text, product uuid, at_place uuid, delta integer) returns json
language plpgsql as $$
declare
  answer json := bare_ledger.take_key(wanted);
  left_there integer;
  physical integer;
  movement_id uuid;
begin
  if answer is not null then
    return answer;
  end if;
  perform from bare_ledger.product p where p.id = product for no key update;
  update bare_ledger.stock s set quantity = s.quantity + delta
  where s.product_id = product and s.place = at_place returning s.quantity into strict left_there;
  update bare_ledger.warehouse_stock w set quantity = w.quantity + delta
  where w.product_id = product
    and w.warehouse_id = (select p.warehouse_id from bare_ledger.place p where p.id = at_place);
  update bare_ledger.product p set physical_stock = p.physical_stock + delta
  where p.id = product returning p.physical_stock into physical;
  insert into bare_ledger.movement (product_id, place, quantity) values (product, at_place, delta)
  returning id into movement_id;
  insert into bare_ledger.outbox (topic, entity_id, data) values
    ('movement', product, jsonb_build_object('id', movement_id, 'productId', product, 'place', at_place,
      'quantity', delta)),
    ('stock', product, jsonb_build_object('productId', product, 'place', at_place, 'quantity', left_there)),
    ('product', product, jsonb_build_object('id', product, 'physicalStock', physical));
  return bare_ledger.keep_answer(wanted, json_build_object('movements', json_build_array(movement_id)));
end
$$;

create function bare_ledger.adjust_many(wanted text, lines jsonb) returns json language plpgsql as $$
declare
  answer json := bare_ledger.take_key(wanted);
  moved uuid[];
begin
  if answer is not null then
    return answer;
  end if;
  perform from bare_ledger.product p
  where p.id in (select l.product from jsonb_to_recordset(lines) l (product uuid)) order by p.id for no key update;
  with line as materialized (
    select l.product, l.place, l.delta, p.warehouse_id
    from jsonb_to_recordset(lines) l (product uuid, place uuid, delta integer)
    join bare_ledger.place p on p.id = l.place
  ),
  movement as (
    insert into bare_ledger.movement (product_id, place, quantity)
    select product, place, delta from line returning *
  ),
  stock as (
    update bare_ledger.stock s set quantity = s.quantity + l.change
    from (select product, place, sum(delta)::integer as change from line group by product, place) l
    where s.product_id = l.product and s.place = l.place returning s.*
  ),
  held as (
    update bare_ledger.warehouse_stock w set quantity = w.quantity + l.change
    from (select product, warehouse_id, sum(delta)::integer as change from line group by 1, 2) l
    where w.product_id = l.product and w.warehouse_id = l.warehouse_id
  ),
  product as (
    update bare_ledger.product p set physical_stock = p.physical_stock + l.change
    from (select product, sum(delta)::integer as change from line group by 1) l
    where p.id = l.product returning p.*
  ),
  told as (
    insert into bare_ledger.outbox (topic, entity_id, data)
    select 'movement', m.product_id, jsonb_build_object('id', m.id, 'productId', m.product_id, 'place', m.place,
      'quantity', m.quantity) from movement m
    union all select 'stock', s.product_id, jsonb_build_object('productId', s.product_id, 'place', s.place,
      'quantity', s.quantity) from stock s
    union all select 'product', p.id, jsonb_build_object('id', p.id, 'physicalStock', p.physical_stock)
    from product p
  )
  select array(select m.id from movement m) into moved;
  return bare_ledger.keep_answer(wanted, json_build_object('movements', moved));
end
$$;

-- Ships what is open of an order, each product from the place that has most of it
create function bare_ledger.ship(wanted text, shipped_order uuid) returns json language plpgsql as $$
declare
  answer json := bare_ledger.take_key(wanted);
  moved uuid[];
begin
  if answer is not null then
    return answer;
  end if;
  perform from bare_ledger.sales_order o where o.id = shipped_order for no key update;
  perform from bare_ledger.product p
  where p.id in (select l.product_id from bare_ledger.order_line l where l.order_id = shipped_order)
  order by p.id for no key update;
  with line as materialized (
    select l.product_id, sum(l.quantity - l.shipped)::integer as open, s.place, p.warehouse_id
    from bare_ledger.order_line l
    cross join lateral (
      select s.place from bare_ledger.stock s where s.product_id = l.product_id order by s.quantity desc limit 1
    ) s join bare_ledger.place p on p.id = s.place
    where l.order_id = shipped_order and l.shipped < l.quantity group by l.product_id, s.place, p.warehouse_id
  ),
  movement as (
    insert into bare_ledger.movement (product_id, place, order_id, quantity)
    select product_id, place, shipped_order, - open from line returning *
  ),
  stock as (
    update bare_ledger.stock s set quantity = s.quantity - l.open
    from line l where s.product_id = l.product_id and s.place = l.place returning s.*
  ),
  held as (
    update bare_ledger.warehouse_stock w set quantity = w.quantity - l.open
    from line l where w.product_id = l.product_id and w.warehouse_id = l.warehouse_id
  ),
  product as (
    update bare_ledger.product p
    set physical_stock = p.physical_stock - l.open, reserved_stock = p.reserved_stock - l.open
    from line l where p.id = l.product_id returning p.*
  ),
  shipped as (
    update bare_ledger.order_line l set shipped = l.quantity where l.order_id = shipped_order
  ),
  completed as (
    update bare_ledger.sales_order o set state = 'completed' where o.id = shipped_order returning o.*
  ),
  told as (
    insert into bare_ledger.outbox (topic, entity_id, data)
    select 'movement', m.product_id, jsonb_build_object('id', m.id, 'productId', m.product_id, 'place', m.place,
      'orderId', m.order_id, 'quantity', m.quantity) from movement m
    union all select 'stock', s.product_id, jsonb_build_object('productId', s.product_id, 'place', s.place,
      'quantity', s.quantity) from stock s
    union all select 'product', p.id, jsonb_build_object('id', p.id, 'physicalStock', p.physical_stock,
      'reservedStock', p.reserved_stock) from product p
    union all select 'order', o.id, jsonb_build_object('id', o.id, 'state', o.state) from completed o
  )
  select array(select m.id from movement m) into moved;
  return bare_ledger.keep_answer(wanted, json_build_object('movements', moved));
end
$$;

grant usage on schema bare_ledger to service_api;
grant select, insert, update on all tables in schema bare_ledger to service_api;
analyze;

--! Previous: sha1:48edd1c8541b08cf44d1450cd0afb09cbe931f93
--! Hash: sha1:cfd5c9f4155d78d827116d861a98a553c5f2070a
--! Message: stock

--! split: 1-current.sql
-- Enter migration here

--! split: 0180-stock.sql
-- The ledger of stock and the figures that follow from it. Movements are only ever inserted; what a product's or a
-- place's deletion does to them is done by the foreign keys, as the owner of the table.

create table ledger.process_type (
  technical_name text primary key constraint process_type_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
comment on table ledger.process_type is 'Reasons for movements. An open list: plugins insert their own.';
insert into ledger.process_type (technical_name) values
  ('supplier_order'), ('free_goods_receipt'), ('return_order'), ('shipping'), ('shipped_automatically'),
  ('cancelled_fulfillment'), ('relocation'), ('incoming'), ('outgoing'), ('stocktaking'), ('csv_import_incoming'),
  ('csv_import_outgoing'), ('api'), ('api_incoming'), ('api_outgoing'), ('api_relocation'), ('api_shipping');

create table ledger.special_stock_location (
  technical_name text primary key constraint special_stock_location_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
comment on table ledger.special_stock_location is 'Places that are no places: where stock comes from or goes to when it enters or leaves the books.';
insert into ledger.special_stock_location (technical_name) values ('stock_correction'), ('import'), ('initialization'), ('unknown');


create table ledger.stock_movement (
  id uuid primary key default uuidv7(),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  product_id uuid not null references erp.product on delete cascade,
  quantity integer not null constraint stock_movement_quantity_is_positive check (quantity > 0),
  source_location_type_technical_name text collate "C" not null,
  source_warehouse_id uuid references erp.warehouse on delete set null,
  source_bin_location_id uuid references erp.bin_location on delete set null,
  source_order_id uuid references erp.sales_order on delete set null,
  source_return_order_id uuid references erp.return_order on delete set null,
  source_goods_receipt_id uuid references erp.goods_receipt on delete set null,
  source_stock_container_id uuid references erp.stock_container on delete set null,
  source_special_stock_location_technical_name text collate "C" references ledger.special_stock_location on delete restrict,
  destination_location_type_technical_name text collate "C" not null,
  destination_warehouse_id uuid references erp.warehouse on delete set null,
  destination_bin_location_id uuid references erp.bin_location on delete set null,
  destination_order_id uuid references erp.sales_order on delete set null,
  destination_return_order_id uuid references erp.return_order on delete set null,
  destination_goods_receipt_id uuid references erp.goods_receipt on delete set null,
  destination_stock_container_id uuid references erp.stock_container on delete set null,
  destination_special_stock_location_technical_name text collate "C" references ledger.special_stock_location on delete restrict,
  process_type_technical_name text collate "C" references ledger.process_type on delete restrict,
  comment text,
  constraint stock_movement_source_id_is_of_its_type check (
    (source_warehouse_id is null or source_location_type_technical_name = 'warehouse')
    and (source_bin_location_id is null or source_location_type_technical_name = 'bin_location')
    and (source_order_id is null or source_location_type_technical_name = 'order')
    and (source_return_order_id is null or source_location_type_technical_name = 'return_order')
    and (source_goods_receipt_id is null or source_location_type_technical_name = 'goods_receipt')
    and (source_stock_container_id is null or source_location_type_technical_name = 'stock_container')
    and ((source_special_stock_location_technical_name is not null) = (source_location_type_technical_name = 'special_stock_location'))
  ),
  constraint stock_movement_destination_id_is_of_its_type check (
    (destination_warehouse_id is null or destination_location_type_technical_name = 'warehouse')
    and (destination_bin_location_id is null or destination_location_type_technical_name = 'bin_location')
    and (destination_order_id is null or destination_location_type_technical_name = 'order')
    and (destination_return_order_id is null or destination_location_type_technical_name = 'return_order')
    and (destination_goods_receipt_id is null or destination_location_type_technical_name = 'goods_receipt')
    and (destination_stock_container_id is null or destination_location_type_technical_name = 'stock_container')
    and ((destination_special_stock_location_technical_name is not null) = (destination_location_type_technical_name = 'special_stock_location'))
  ),
  constraint stock_movement_source_type_is_known check (source_location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container', 'special_stock_location')),
  constraint stock_movement_destination_type_is_known check (destination_location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container', 'special_stock_location')),
  constraint stock_movement_goes_somewhere_else check ((
    source_warehouse_id = destination_warehouse_id or source_bin_location_id = destination_bin_location_id
    or source_order_id = destination_order_id or source_return_order_id = destination_return_order_id
    or source_goods_receipt_id = destination_goods_receipt_id or source_stock_container_id = destination_stock_container_id
    or source_special_stock_location_technical_name = destination_special_stock_location_technical_name
  ) is not true)
);
create index on ledger.stock_movement (product_id, id);
create index on ledger.stock_movement (created_at, id);
do $$
declare side text; place text;
begin
  foreach side in array array['source', 'destination'] loop
    foreach place in array array['warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container'] loop
      execute format('create index on ledger.stock_movement (%1$I, id) where %1$I is not null', side || '_' || place || '_id');
    end loop;
    execute format('create index on ledger.stock_movement (%I)', side || '_special_stock_location_technical_name');
  end loop;
end
$$;
create index on ledger.stock_movement (process_type_technical_name, id);
comment on table ledger.stock_movement is 'The ledger: each row moves a quantity of a product from one place to another. Rows are never changed.';
comment on column ledger.stock_movement.created_at is 'When the movement was booked.';
comment on column ledger.stock_movement.product_id is 'Product that moved.';
comment on column ledger.stock_movement.quantity is 'Units that moved; always positive, the direction follows from source and destination.';
comment on column ledger.stock_movement.process_type_technical_name is
  'Process that booked the movement, for example shipping or stocktaking. An open list; null for movements booked without a process and for all that are older than March 2025.';
do $$
declare side text; place record;
begin
  foreach side in array array['source', 'destination'] loop
    execute format('comment on column ledger.stock_movement.%I is %L', side || '_location_type_technical_name',
      'Kind of place that is the ' || side || ': warehouse, bin_location, order, return_order, goods_receipt, stock_container or special_stock_location.');
    for place in select * from (values ('warehouse_id', 'Warehouse'), ('bin_location_id', 'Bin location'), ('order_id', 'Order'),
      ('return_order_id', 'Return order'), ('goods_receipt_id', 'Goods receipt'), ('stock_container_id', 'Stock container')) as p (name, label) loop
      execute format('comment on column ledger.stock_movement.%I is %L', side || '_' || place.name,
        place.label || ' that is the ' || side || ', when the ' || side || ' is one; null once it has been deleted.');
    end loop;
    execute format('comment on column ledger.stock_movement.%I is %L', side || '_special_stock_location_technical_name',
      'Special place that is the ' || side || ', when it is one: for example stock_correction, import, initialization or unknown.');
  end loop;
end
$$;

--! Included functions/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id, new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id, new.source_special_stock_location_technical_name) <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger', table = 'stock_movement';
  end if;
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places. A constraint can''t ask for it, for the id becomes null when the place is deleted.';
--! EndIncluded functions/require_movement_places.sql
create trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row execute function ledger.require_movement_places();

create table ledger.stock_movement_batch (
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  batch_id uuid not null references erp.batch on delete no action,
  quantity integer not null constraint stock_movement_batch_quantity_is_positive check (quantity > 0),
  primary key (stock_movement_id, batch_id)
);
create index on ledger.stock_movement_batch (batch_id, stock_movement_id);
comment on table ledger.stock_movement_batch is 'How many units of which batches a movement moved.';

create table ledger.stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  quantity integer not null default 0,
  location_type_technical_name text collate "C" not null constraint stock_location_type_is_known check (location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container', 'special_stock_location')),
  warehouse_id uuid references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  order_id uuid references erp.sales_order on delete cascade,
  return_order_id uuid references erp.return_order on delete cascade,
  goods_receipt_id uuid references erp.goods_receipt on delete cascade,
  stock_container_id uuid references erp.stock_container on delete cascade,
  special_stock_location_technical_name text collate "C" references ledger.special_stock_location on delete restrict,
  place text collate "C" not null generated always as (
    coalesce(warehouse_id::text, bin_location_id::text, order_id::text, return_order_id::text, goods_receipt_id::text,
      stock_container_id::text, special_stock_location_technical_name)
  ) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint stock_quantity_is_not_negative check (quantity >= 0 or location_type_technical_name = 'special_stock_location'),
  constraint stock_has_one_place check (
    num_nonnulls(warehouse_id, bin_location_id, order_id, return_order_id, goods_receipt_id, stock_container_id,
      special_stock_location_technical_name) = 1
    and case location_type_technical_name
      when 'warehouse' then warehouse_id is not null
      when 'bin_location' then bin_location_id is not null
      when 'order' then order_id is not null
      when 'return_order' then return_order_id is not null
      when 'goods_receipt' then goods_receipt_id is not null
      when 'stock_container' then stock_container_id is not null
      else special_stock_location_technical_name is not null
    end
  ),
  constraint stock_is_unique_per_product_and_place unique (product_id, place)
);
create index on ledger.stock (product_id, id);
create index on ledger.stock (warehouse_id, id) where warehouse_id is not null;
create index on ledger.stock (bin_location_id, id) where bin_location_id is not null;
create index on ledger.stock (order_id, id) where order_id is not null;
create index on ledger.stock (return_order_id, id) where return_order_id is not null;
create index on ledger.stock (goods_receipt_id, id) where goods_receipt_id is not null;
create index on ledger.stock (stock_container_id, id) where stock_container_id is not null;
create index on ledger.stock (special_stock_location_technical_name);
comment on table ledger.stock is 'How much of a product lies in a place: the sum of its movements in, less those out.';
comment on column ledger.stock.product_id is 'Product that lies there.';
comment on column ledger.stock.quantity is 'Units in the place. Negative in special places only.';
comment on column ledger.stock.location_type_technical_name is
  'Kind of place: warehouse, bin_location, order, return_order, goods_receipt, stock_container or special_stock_location.';
comment on column ledger.stock.warehouse_id is 'Warehouse that the stock is in, outside of any bin.';
comment on column ledger.stock.bin_location_id is 'Bin that the stock is in.';
comment on column ledger.stock.order_id is 'Order that the stock was shipped for.';
comment on column ledger.stock.return_order_id is 'Return order that the stock is in.';
comment on column ledger.stock.goods_receipt_id is 'Goods receipt that the stock is in until it is put away.';
comment on column ledger.stock.stock_container_id is 'Stock container that the stock is in.';
comment on column ledger.stock.special_stock_location_technical_name is 'Special place that the stock is booked against, for example stock_correction.';

create table ledger.warehouse_stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  quantity integer not null default 0 constraint warehouse_stock_quantity_is_not_negative check (quantity >= 0),
  reserved_quantity integer not null default 0
    constraint warehouse_stock_reserved_quantity_is_not_negative check (reserved_quantity >= 0),
  available_quantity integer not null generated always as (quantity - reserved_quantity) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint warehouse_stock_is_unique unique (product_id, warehouse_id)
);
create index on ledger.warehouse_stock (product_id, id);
create index on ledger.warehouse_stock (warehouse_id, id);
comment on table ledger.warehouse_stock is 'How much of a product a warehouse holds, its bins included.';
comment on column ledger.warehouse_stock.product_id is 'Product that is held.';
comment on column ledger.warehouse_stock.warehouse_id is 'Warehouse that holds it.';
comment on column ledger.warehouse_stock.quantity is 'Units in the warehouse and all its bins.';
comment on column ledger.warehouse_stock.reserved_quantity is 'Units that open fulfillment orders of the warehouse still have to ship.';
comment on column ledger.warehouse_stock.available_quantity is 'Quantity less reserved quantity. Negative when more was promised than there is.';

--! Included views/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
create or replace view ledger.proof with (security_invoker = true) as
with
flow as (
  select product_id, coalesce(destination_warehouse_id::text, destination_bin_location_id::text, destination_order_id::text,
    destination_return_order_id::text, destination_goods_receipt_id::text, destination_stock_container_id::text,
    destination_special_stock_location_technical_name) as place, quantity
  from ledger.stock_movement
  union all
  select product_id, coalesce(source_warehouse_id::text, source_bin_location_id::text, source_order_id::text,
    source_return_order_id::text, source_goods_receipt_id::text, source_stock_container_id::text,
    source_special_stock_location_technical_name), - quantity
  from ledger.stock_movement
),
balance as (select product_id, place, sum(quantity) as quantity from flow where place is not null group by product_id, place),
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
batch_held as (
  select mb.batch_id, sum(case when d.place is not null then mb.quantity else 0 end - case when s.place is not null then mb.quantity else 0 end) as quantity
  from ledger.stock_movement_batch mb join ledger.stock_movement m on m.id = mb.stock_movement_id
  left join building d on d.place = coalesce(m.destination_warehouse_id, m.destination_bin_location_id)::text
  left join building s on s.place = coalesce(m.source_warehouse_id, m.source_bin_location_id)::text
  group by mb.batch_id
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
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded views/proof.sql

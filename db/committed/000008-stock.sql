--! Previous: sha1:cde354ae5cb526bfc429664c569b4b6d1fdc25da
--! Hash: sha1:269ee23a4eb4e670a8c4df690bcd26ad3bc779c6
--! Message: stock

-- The ledger of stock and the figures that follow from it. Movements are only ever inserted; what a product's or a
-- place's deletion does to them is done by the foreign keys, as the owner of the table.

create table ledger.process_type (
  technical_name text primary key
    constraint process_type_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
alter table ledger.process_type enable row level security;
comment on table ledger.process_type is 'Reasons for movements. An open list: plugins insert their own.';

insert into ledger.process_type (technical_name) values
  ('supplier_order'), ('free_goods_receipt'), ('return_order'), ('shipping'), ('shipped_automatically'),
  ('cancelled_fulfillment'), ('relocation'), ('incoming'), ('outgoing'), ('stocktaking'), ('csv_import_incoming'),
  ('csv_import_outgoing'), ('api'), ('api_incoming'), ('api_outgoing'), ('api_relocation'), ('api_shipping');

create table ledger.special_stock_location (
  technical_name text primary key
    constraint special_stock_location_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
alter table ledger.special_stock_location enable row level security;
comment on table ledger.special_stock_location is
  'Places that are no places: where stock comes from or goes to when it enters or leaves the books.';

insert into ledger.special_stock_location (technical_name) values ('stock_correction'), ('import'), ('initialization'), ('unknown');

create table ledger.stock_movement (
  -- The trigger draws the id, after it has taken the transaction, and gives the present moment
  id uuid primary key,
  created_at timestamptz(0) not null,
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
  transaction_id bigint,
  microseconds integer not null default 0
    constraint stock_movement_microseconds_are_of_a_second check (microseconds between 0 and 999999),
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
  ) is not true),
  constraint stock_movement_comment_is_not_too_long check (length(comment) <= 1000)
);
create index stock_movement_created_at_id_idx on ledger.stock_movement (created_at, id);
create index stock_movement_destination_bin_location_id_id_idx
  on ledger.stock_movement (destination_bin_location_id, id) where destination_bin_location_id is not null;
create index stock_movement_destination_goods_receipt_id_id_idx
  on ledger.stock_movement (destination_goods_receipt_id, id) where destination_goods_receipt_id is not null;
create index stock_movement_destination_order_id_id_idx
  on ledger.stock_movement (destination_order_id, id) where destination_order_id is not null;
create index stock_movement_destination_return_order_id_id_idx
  on ledger.stock_movement (destination_return_order_id, id) where destination_return_order_id is not null;
create index stock_movement_destination_special_stock_location_technical_idx
  on ledger.stock_movement (destination_special_stock_location_technical_name);
create index stock_movement_destination_stock_container_id_id_idx
  on ledger.stock_movement (destination_stock_container_id, id)
  where destination_stock_container_id is not null;
create index stock_movement_destination_warehouse_id_id_idx
  on ledger.stock_movement (destination_warehouse_id, id) where destination_warehouse_id is not null;
create index stock_movement_process_type_technical_name_id_idx
  on ledger.stock_movement (process_type_technical_name, id);
create index stock_movement_product_id_created_at_idx on ledger.stock_movement (product_id, created_at);
create index stock_movement_product_id_id_idx on ledger.stock_movement (product_id, id);
create index stock_movement_source_bin_location_id_id_idx
  on ledger.stock_movement (source_bin_location_id, id) where source_bin_location_id is not null;
create index stock_movement_source_goods_receipt_id_id_idx
  on ledger.stock_movement (source_goods_receipt_id, id) where source_goods_receipt_id is not null;
create index stock_movement_source_order_id_id_idx
  on ledger.stock_movement (source_order_id, id) where source_order_id is not null;
create index stock_movement_source_return_order_id_id_idx
  on ledger.stock_movement (source_return_order_id, id) where source_return_order_id is not null;
create index stock_movement_source_special_stock_location_technical_name_idx
  on ledger.stock_movement (source_special_stock_location_technical_name);
create index stock_movement_source_stock_container_id_id_idx
  on ledger.stock_movement (source_stock_container_id, id) where source_stock_container_id is not null;
create index stock_movement_source_warehouse_id_id_idx
  on ledger.stock_movement (source_warehouse_id, id) where source_warehouse_id is not null;
create index stock_movement_transaction_id_idx
  on ledger.stock_movement (transaction_id, id) where transaction_id is not null;
alter table ledger.stock_movement enable row level security;
comment on table ledger.stock_movement is
  'The ledger: each row moves a quantity of a product from one place to another. Rows are never changed.';
comment on column ledger.stock_movement.created_at is 'When the movement was booked.';
comment on column ledger.stock_movement.product_id is 'Product that moved.';
comment on column ledger.stock_movement.quantity is
  'Units that moved; always positive, the direction follows from source and destination.';
comment on column ledger.stock_movement.source_location_type_technical_name is
  'Kind of place that is the source: warehouse, bin_location, order, return_order, goods_receipt, '
  'stock_container or special_stock_location.';
comment on column ledger.stock_movement.source_warehouse_id is
  'Warehouse that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_bin_location_id is
  'Bin location that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_order_id is
  'Order that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_return_order_id is
  'Return order that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_goods_receipt_id is
  'Goods receipt that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_stock_container_id is
  'Stock container that is the source, when the source is one; null once it has been deleted.';
comment on column ledger.stock_movement.source_special_stock_location_technical_name is
  'Special place that is the source, when it is one: for example stock_correction, import, '
  'initialization or unknown.';
comment on column ledger.stock_movement.destination_location_type_technical_name is
  'Kind of place that is the destination: warehouse, bin_location, order, return_order, goods_receipt, '
  'stock_container or special_stock_location.';
comment on column ledger.stock_movement.destination_warehouse_id is
  'Warehouse that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_bin_location_id is
  'Bin location that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_order_id is
  'Order that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_return_order_id is
  'Return order that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_goods_receipt_id is
  'Goods receipt that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_stock_container_id is
  'Stock container that is the destination, when the destination is one; null once it has been deleted.';
comment on column ledger.stock_movement.destination_special_stock_location_technical_name is
  'Special place that is the destination, when it is one: for example stock_correction, import, '
  'initialization or unknown.';
comment on column ledger.stock_movement.process_type_technical_name is
  'Process that booked the movement, for example shipping or stocktaking. An open list; null for '
  'movements booked without a process and for all that are older than March 2025.';
comment on column ledger.stock_movement.comment is 'Note of whoever booked it.';
comment on column ledger.stock_movement.transaction_id is
  'The transaction that booked it, which tells readers who saw what; null where that is long over.';
comment on column ledger.stock_movement.microseconds is
  'What the exact moment of the booking has beyond created_at. 0 where only the second is known.';
comment on constraint stock_movement_comment_is_not_too_long on ledger.stock_movement is
  E'@userError OUT_OF_RANGE comment\nThe comment has more than 1,000 characters.';
select api_meta.allow('service_ledger', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_recorder', 'ledger.stock_movement', 'select');
select api_meta.allow('service_writer', 'ledger.stock_movement', 'select');

create table ledger.stock_movement_batch (
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  batch_id uuid not null references erp.batch on delete no action deferrable initially deferred,
  quantity integer not null constraint stock_movement_batch_quantity_is_positive check (quantity > 0),
  primary key (stock_movement_id, batch_id)
);
create index stock_movement_batch_batch_id_stock_movement_id_idx
  on ledger.stock_movement_batch (batch_id, stock_movement_id);
alter table ledger.stock_movement_batch enable row level security;
comment on table ledger.stock_movement_batch is 'How many units of which batches a movement moved.';
select api_meta.allow('service_ledger', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_writer', 'ledger.stock_movement_batch', 'select');

create table ledger.stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  quantity integer not null default 0,
  location_type_technical_name text collate "C" not null
    constraint stock_location_type_is_known check (location_type_technical_name in
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
create index stock_bin_location_id_id_idx
  on ledger.stock (bin_location_id, id) where bin_location_id is not null;
create index stock_goods_receipt_id_id_idx
  on ledger.stock (goods_receipt_id, id) where goods_receipt_id is not null;
create index stock_in_warehouses_idx
  on ledger.stock (product_id) where location_type_technical_name in ('warehouse', 'bin_location');
create index stock_order_id_id_idx on ledger.stock (order_id, id) where order_id is not null;
create index stock_product_id_id_idx on ledger.stock (product_id, id);
create index stock_return_order_id_id_idx
  on ledger.stock (return_order_id, id) where return_order_id is not null;
create index stock_special_stock_location_technical_name_idx
  on ledger.stock (special_stock_location_technical_name);
create index stock_stock_container_id_id_idx
  on ledger.stock (stock_container_id, id) where stock_container_id is not null;
create index stock_warehouse_id_id_idx on ledger.stock (warehouse_id, id) where warehouse_id is not null;
alter table ledger.stock enable row level security;
comment on table ledger.stock is
  'How much of a product lies in a place: the sum of its movements in, less those out.';
comment on column ledger.stock.product_id is 'Product that lies there.';
comment on column ledger.stock.quantity is 'Units in the place. Negative in special places only.';
comment on column ledger.stock.location_type_technical_name is
  'Kind of place: warehouse, bin_location, order, return_order, goods_receipt, stock_container or '
  'special_stock_location.';
comment on column ledger.stock.warehouse_id is 'Warehouse that the stock is in, outside of any bin.';
comment on column ledger.stock.bin_location_id is 'Bin that the stock is in.';
comment on column ledger.stock.order_id is 'Order that the stock was shipped for.';
comment on column ledger.stock.return_order_id is 'Return order that the stock is in.';
comment on column ledger.stock.goods_receipt_id is 'Goods receipt that the stock is in until it is put away.';
comment on column ledger.stock.stock_container_id is 'Stock container that the stock is in.';
comment on column ledger.stock.special_stock_location_technical_name is
  'Special place that the stock is booked against, for example stock_correction.';
create trigger touch_updated_at before update on ledger.stock
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'ledger.stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_writer', 'ledger.stock', 'select');

create table ledger.warehouse_stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  quantity integer not null default 0
    constraint warehouse_stock_quantity_is_not_negative check (quantity >= 0),
  reserved_quantity integer not null default 0
    constraint warehouse_stock_reserved_quantity_is_not_negative check (reserved_quantity >= 0),
  available_quantity integer not null generated always as (quantity - reserved_quantity) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint warehouse_stock_is_unique unique (product_id, warehouse_id)
);
create index warehouse_stock_product_id_id_idx on ledger.warehouse_stock (product_id, id);
create index warehouse_stock_warehouse_id_id_idx on ledger.warehouse_stock (warehouse_id, id);
alter table ledger.warehouse_stock enable row level security;
comment on table ledger.warehouse_stock is 'How much of a product a warehouse holds, its bins included.';
comment on column ledger.warehouse_stock.product_id is 'Product that is held.';
comment on column ledger.warehouse_stock.warehouse_id is 'Warehouse that holds it.';
comment on column ledger.warehouse_stock.quantity is 'Units in the warehouse and all its bins.';
comment on column ledger.warehouse_stock.reserved_quantity is
  'Units that open fulfillment orders of the warehouse still have to ship.';
comment on column ledger.warehouse_stock.available_quantity is
  'Quantity less reserved quantity. Negative when more was promised than there is.';
create trigger touch_updated_at before update on ledger.warehouse_stock
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'ledger.warehouse_stock',
  'select', 'insert', 'update (quantity, reserved_quantity)');
select api_meta.allow('service_writer', 'ledger.warehouse_stock', 'select');

create table ledger.batch_stock (
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid not null references erp.batch on delete cascade,
  quantity integer not null default 0 constraint batch_stock_quantity_is_not_negative check (quantity >= 0),
  primary key (stock_id, batch_id)
);
create index batch_stock_batch_id_idx on ledger.batch_stock (batch_id);
alter table ledger.batch_stock enable row level security;
comment on table ledger.batch_stock is
  'How much of the stock in a place belongs to a batch. What belongs to none is the rest. Special '
  'places have none.';
select api_meta.allow('service_ledger', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');

create table erp.fulfillment_stock_movement (
  fulfillment_line_item_id uuid not null references erp.fulfillment_line_item on delete cascade,
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  primary key (fulfillment_line_item_id, stock_movement_id)
);
create index fulfillment_stock_movement_stock_movement_id_idx
  on erp.fulfillment_stock_movement (stock_movement_id);
alter table erp.fulfillment_stock_movement enable row level security;
comment on table erp.fulfillment_stock_movement is
  'Which movements took the units of a line of a fulfillment to the order. Cancelling the fulfillment '
  'books them back the same way.';
select api_meta.allow('service_ledger', 'erp.fulfillment_stock_movement', 'select');
select api_meta.allow('service_writer', 'erp.fulfillment_stock_movement', 'select', 'insert');

create table ledger.movement_sequence (
  sequence bigint primary key,
  movement_id uuid not null constraint movement_sequence_is_one_per_movement unique
);
alter table ledger.movement_sequence enable row level security;
comment on table ledger.movement_sequence is
  'The numbers of movements, given after the commit, without gaps. That of a movement which went with '
  'its product stays, so that nothing can go unseen.';
comment on column ledger.movement_sequence.sequence is
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a '
  'moment, until it is given.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may be gone.';
select api_meta.allow('service_recorder', 'ledger.movement_sequence', 'select', 'insert');

create table ledger.stock_count (
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
create index stock_count_batch_id_idx on ledger.stock_count (batch_id) where batch_id is not null;
create index stock_count_stock_movement_id_idx
  on ledger.stock_count (stock_movement_id) where stock_movement_id is not null;
alter table ledger.stock_count enable row level security;
comment on table ledger.stock_count is
  'Counts of stock. Of those of one stock, or of one batch of it, the latest moment stands, and of '
  'equal moments what was recorded last: the stock is its quantity and what moved after it '
  '(ledger.moved_since). A count of the stock as a whole stands for its batches, too. Rows are never '
  'changed. They begin with the migration that made the table: older counts left nothing but their '
  'corrections.';
comment on column ledger.stock_count.id is 'The order in which counts of a stock were recorded.';
comment on column ledger.stock_count.stock_id is
  'The product and the place that were counted. With the place its counts go.';
comment on column ledger.stock_count.batch_id is
  'The batch that was counted; null when all that lies there was.';
comment on column ledger.stock_count.quantity is
  'Units that were there. May be negative in rows that keep the books right after movements with an '
  'earlier moment were inserted.';
comment on column ledger.stock_count.counted_at is 'When they were there, to the microsecond.';
comment on column ledger.stock_count.recorded_at is 'When the count was recorded.';
comment on column ledger.stock_count.difference is
  'Units that the count brought into the books, negative when it took some out. Null when it was '
  'superseded: a later one was known already, of the same stock and batch or of all that lies there.';
comment on column ledger.stock_count.stock_movement_id is
  'The movement that did; null where the books were right.';
select api_meta.allow('service_ledger', 'ledger.stock_count', 'select', 'insert');

--! Previous: sha1:c59026c8859d17aa245b14b8b0b170b98c3eaca7
--! Hash: sha1:209235d438f5c58009b3836deffc8ed145755f82
--! Message: stock

-- The ledger of stock and the figures that follow from it. Movements are only ever inserted; what a product's
-- or a place's deletion does to them is done by triggers that are made of the foreign keys, as the owner of
-- the table. What is declared as not enforced is upheld by triggers (api_meta.derive_rules,
-- api_meta.derive_references).

create table ledger.process_type (
  technical_name text primary key
    constraint process_type_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
alter table ledger.process_type enable row level security;
comment on table ledger.process_type is 'Reasons for movements. An open list: plugins insert their own.';

insert into ledger.process_type (technical_name) values
  ('supplier_order'), ('free_goods_receipt'), ('return_order'), ('shipping'), ('shipped_automatically'),
  ('cancelled_fulfillment'), ('relocation'), ('incoming'), ('outgoing'), ('stocktaking'),
  ('csv_import_incoming'),
  ('csv_import_outgoing'), ('api'), ('api_incoming'), ('api_outgoing'), ('api_relocation'), ('api_shipping');

create table ledger.special_stock_location (
  technical_name text primary key
    constraint special_stock_location_is_a_machine_name check (technical_name ~ '^[a-z][a-z0-9_]*$')
);
alter table ledger.special_stock_location enable row level security;
comment on table ledger.special_stock_location is
  'Places that are no places: where stock comes from or goes to when it enters or leaves the books.';

insert into ledger.special_stock_location (technical_name) values ('stock_correction'), ('import'),
  ('initialization'), ('unknown');

create table ledger.stock_movement (
  -- The trigger draws the id, after it has taken the transaction, and gives the present moment
  id uuid primary key,
  created_at timestamptz(0) not null,
  product_id uuid not null references erp.product on delete cascade not enforced,
  quantity integer not null constraint stock_movement_quantity_is_positive check (quantity > 0) not enforced,
  source_location_type_technical_name text collate "C" not null,
  source_warehouse_id uuid references erp.warehouse on delete set null not enforced,
  source_bin_location_id uuid references erp.bin_location on delete set null not enforced,
  source_order_id uuid references erp.sales_order on delete set null not enforced,
  source_return_order_id uuid references erp.return_order on delete set null not enforced,
  source_goods_receipt_id uuid references erp.goods_receipt on delete set null not enforced,
  source_stock_container_id uuid references erp.stock_container on delete set null not enforced,
  source_special_stock_location_technical_name text collate "C"
    references ledger.special_stock_location on delete restrict not enforced,
  destination_location_type_technical_name text collate "C" not null,
  destination_warehouse_id uuid references erp.warehouse on delete set null not enforced,
  destination_bin_location_id uuid references erp.bin_location on delete set null not enforced,
  destination_order_id uuid references erp.sales_order on delete set null not enforced,
  destination_return_order_id uuid references erp.return_order on delete set null not enforced,
  destination_goods_receipt_id uuid references erp.goods_receipt on delete set null not enforced,
  destination_stock_container_id uuid references erp.stock_container on delete set null not enforced,
  destination_special_stock_location_technical_name text collate "C"
    references ledger.special_stock_location on delete restrict not enforced,
  process_type_technical_name text collate "C" references ledger.process_type on delete restrict,
  comment text,
  transaction_id bigint,
  microseconds integer not null default 0
    constraint stock_movement_microseconds_are_of_a_second
    check (microseconds between 0 and 999999) not enforced,
  constraint stock_movement_source_id_is_of_its_type check (
    (source_warehouse_id is null or source_location_type_technical_name = 'warehouse')
    and (source_bin_location_id is null or source_location_type_technical_name = 'bin_location')
    and (source_order_id is null or source_location_type_technical_name = 'order')
    and (source_return_order_id is null or source_location_type_technical_name = 'return_order')
    and (source_goods_receipt_id is null or source_location_type_technical_name = 'goods_receipt')
    and (source_stock_container_id is null or source_location_type_technical_name = 'stock_container')
    and ((source_special_stock_location_technical_name is not null) = (source_location_type_technical_name = 'special_stock_location'))
  ) not enforced,
  constraint stock_movement_destination_id_is_of_its_type check (
    (destination_warehouse_id is null or destination_location_type_technical_name = 'warehouse')
    and (destination_bin_location_id is null or destination_location_type_technical_name = 'bin_location')
    and (destination_order_id is null or destination_location_type_technical_name = 'order')
    and (destination_return_order_id is null or destination_location_type_technical_name = 'return_order')
    and (destination_goods_receipt_id is null or destination_location_type_technical_name = 'goods_receipt')
    and (destination_stock_container_id is null or destination_location_type_technical_name = 'stock_container')
    and ((destination_special_stock_location_technical_name is not null) = (destination_location_type_technical_name = 'special_stock_location'))
  ) not enforced,
  constraint stock_movement_source_type_is_known check (source_location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container',
    'special_stock_location')) not enforced,
  constraint stock_movement_destination_type_is_known check (destination_location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container',
    'special_stock_location')) not enforced,
  constraint stock_movement_goes_somewhere_else check ((
    source_warehouse_id = destination_warehouse_id or source_bin_location_id = destination_bin_location_id
    or source_order_id = destination_order_id or source_return_order_id = destination_return_order_id
    or source_goods_receipt_id = destination_goods_receipt_id or source_stock_container_id = destination_stock_container_id
    or source_special_stock_location_technical_name = destination_special_stock_location_technical_name
  ) is not true) not enforced,
  constraint stock_movement_comment_is_not_too_long check (length(comment) <= 1000) not enforced
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
comment on column ledger.stock_movement.comment is 'Note about the booking.';
comment on column ledger.stock_movement.transaction_id is
  'The transaction that booked it, which tells readers who saw what; null where that is long over.';
comment on column ledger.stock_movement.microseconds is
  'What the exact moment of the booking has beyond created_at. 0 where only the second is known.';
comment on constraint stock_movement_comment_is_not_too_long on ledger.stock_movement is
  E'@userError OUT_OF_RANGE comment\nThe comment has more than 1,000 characters.';
comment on constraint stock_movement_process_type_technical_name_fkey on ledger.stock_movement is
  '@unindexed No list is filtered by it, and kinds of processes are hardly ever deleted; an index would take '
  'a sixth of the room of all of a movement''s.';
comment on index ledger.stock_movement_product_id_created_at_idx is
  'For ledger.moved_since, and for a time of a product.';
comment on index ledger.stock_movement_transaction_id_idx is 'For those who follow the list.';
select api_meta.allow('service_booker', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock_movement', 'select');
select api_meta.allow('service_recorder', 'ledger.stock_movement', 'select');
select api_meta.allow('service_writer', 'ledger.stock_movement', 'select');

create table ledger.stock_movement_batch (
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  batch_id uuid not null references erp.batch on delete no action deferrable initially deferred,
  quantity integer not null
    constraint stock_movement_batch_quantity_is_positive check (quantity > 0) not enforced,
  primary key (stock_movement_id, batch_id)
);
create index stock_movement_batch_batch_id_stock_movement_id_idx
  on ledger.stock_movement_batch (batch_id, stock_movement_id);
alter table ledger.stock_movement_batch enable row level security;
comment on table ledger.stock_movement_batch is 'How many units of which batches a movement moved.';
select api_meta.allow('service_booker', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock_movement_batch', 'select');
select api_meta.allow('service_writer', 'ledger.stock_movement_batch', 'select');

create table ledger.stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  quantity integer not null default 0,
  location_type_technical_name text collate "C" not null
    constraint stock_location_type_is_known check (location_type_technical_name in
    ('warehouse', 'bin_location', 'order', 'return_order', 'goods_receipt', 'stock_container',
    'special_stock_location')) not enforced,
  warehouse_id uuid references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  order_id uuid references erp.sales_order on delete cascade,
  return_order_id uuid references erp.return_order on delete cascade,
  goods_receipt_id uuid references erp.goods_receipt on delete cascade,
  stock_container_id uuid references erp.stock_container on delete cascade,
  special_stock_location_technical_name text collate "C"
    references ledger.special_stock_location on delete restrict,
  place text collate "C" not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint stock_quantity_is_not_negative
    check (quantity >= 0 or location_type_technical_name = 'special_stock_location') not enforced,
  constraint stock_has_one_place check (
    num_nonnulls(warehouse_id, bin_location_id, order_id, return_order_id, goods_receipt_id,
    stock_container_id,
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
  ) not enforced,
  constraint stock_is_unique_per_product_and_place unique (product_id, place),
  constraint stock_place_follows
    check (place = coalesce(warehouse_id::text, bin_location_id::text, order_id::text,
    return_order_id::text, goods_receipt_id::text, stock_container_id::text,
    special_stock_location_technical_name)) not enforced
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
comment on constraint stock_place_follows on ledger.stock is E'@internal\n@keeps place';
comment on index ledger.stock_in_warehouses_idx is
  'For picking: a product may have stock in thousands of orders, and in a dozen bins.';
create trigger touch_updated_at before update on ledger.stock
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'ledger.stock', 'select', 'insert', 'update (quantity, updated_at)');
select api_meta.allow('service_ledger', 'ledger.stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_writer', 'ledger.stock', 'select');

create table ledger.warehouse_stock (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  quantity integer not null default 0
    constraint warehouse_stock_quantity_is_not_negative check (quantity >= 0) not enforced,
  reserved_quantity integer not null default 0
    constraint warehouse_stock_reserved_quantity_is_not_negative check (reserved_quantity >= 0) not enforced,
  available_quantity integer not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint warehouse_stock_is_unique unique (product_id, warehouse_id),
  constraint warehouse_stock_available_quantity_follows
    check (available_quantity = quantity - reserved_quantity) not enforced
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
comment on constraint warehouse_stock_available_quantity_follows
  on ledger.warehouse_stock is E'@internal\n@keeps available_quantity';
create trigger touch_updated_at before update on ledger.warehouse_stock
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'ledger.warehouse_stock',
  'select', 'insert', 'update (quantity, reserved_quantity, updated_at)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock',
  'select', 'insert', 'update (quantity, reserved_quantity, updated_at)');
select api_meta.allow('service_writer', 'ledger.warehouse_stock', 'select');

create table ledger.batch_stock (
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid not null references erp.batch on delete cascade,
  quantity integer not null default 0
    constraint batch_stock_quantity_is_not_negative check (quantity >= 0) not enforced,
  primary key (stock_id, batch_id)
);
create index batch_stock_batch_id_idx on ledger.batch_stock (batch_id);
alter table ledger.batch_stock enable row level security;
comment on table ledger.batch_stock is
  'How much of the stock in a place belongs to a batch. What belongs to none is the rest. Special '
  'places have none.';
select api_meta.allow('service_booker', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');
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
select api_meta.allow('service_booker', 'erp.fulfillment_stock_movement', 'insert');
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
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a moment '
  'after the commit.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may be gone.';
select api_meta.allow('service_recorder', 'ledger.movement_sequence', 'select', 'insert');

create table ledger.stock_count (
  id bigint not null generated always as identity,
  stock_id uuid not null references ledger.stock on delete cascade not enforced,
  batch_id uuid references erp.batch on delete cascade,
  quantity integer not null,
  counted_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  difference integer default 0,
  stock_movement_id uuid references ledger.stock_movement on delete cascade not enforced,
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
select api_meta.allow('service_booker', 'ledger.stock_count', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.stock_count', 'select', 'insert');

-- Booking of stock. Figures follow from the ledger and from documents by triggers, whoever inserts.

create type ledger.line as (
  product_id uuid, source_warehouse_id uuid, source_bin_location_id uuid, destination_warehouse_id uuid,
  destination_bin_location_id uuid, quantity integer, batch_id uuid, expected_quantity integer, counted_at
  timestamptz
);
comment on type ledger.line is
  'A line of a mutation of stock. Where there is one place only, it is the source; quantity is then a '
  'target or, for adjustments, a change.';

create type ledger.named_place as (line bigint, name text, warehouse_id uuid, bin_location_id uuid);
comment on type ledger.named_place is 'A place of a line, with the name that the input gives it.';

create type ledger.draft as (
  field text[], product_id uuid, quantity integer, batch_id uuid, source_type text, source text,
  destination_type text, destination text, process text
);
comment on type ledger.draft is
  'A movement to be booked. source and destination are keys of places as in ledger.stock.place; field '
  'is where the input says the quantity, for user errors.';

create type ledger.booking as (stock_movements uuid[], stocks uuid[]);
comment on type ledger.booking is 'Ids of the movements that were booked and of the stock that they changed.';

create type ledger.change as (owner_id uuid, item_id uuid, quantity bigint);
comment on type ledger.change is
  'By how much a quantity of an item changes for its owner: of a product for an order, a fulfillment '
  'order or a warehouse, of a line for a fulfillment.';

create type ledger.pick as (
  field text[], line_id uuid, product_id uuid, warehouse_id uuid, quantity integer, place_type text, place
  text, batch_id uuid
);
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. place is a key as in '
  'ledger.stock.place, null when the units are to be picked; field is where the input says the '
  'quantity, for user errors.';

create type ledger.stock_reading as (
  line bigint, stock_id uuid, place_type text, place text, product_id uuid, batch_id uuid,
  quantity integer, counted_at timestamptz, moved bigint, present integer,
  newer_counted_at timestamptz, newer_quantity integer
);
comment on type ledger.stock_reading is
  'A line of stockSet: what was counted, what has moved since, what the books say at present, and a '
  'newer count if there is one; then moved is null.';

create type ledger.leg as (
  position bigint, product_id uuid, place_type text, place text, change integer, batch_id uuid,
    booked_at timestamptz, is_count boolean
);
comment on type ledger.leg is
  'One end of a movement: by how much it changes what lies in a place, which is a key as in '
  'ledger.stock.place; negative where it leaves. is_count tells corrections after counts.';

create type ledger.place_change as (
  position bigint, product_id uuid, place_type text, place text, warehouse_id uuid, stock_id uuid,
    is_new boolean, change bigint
);
comment on type ledger.place_change is
  'By how much movements change what lies in a place, which is a key as in ledger.stock.place: the stock '
  'there, which may have to be made, and the warehouse that it is in, if any.';

--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.book(array(
    select ledger.adjustment_of(mutation.path('lines', l.ordinality, 'delta'), l.product_id, l.quantity,
      l.batch_id, p.type, p.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text) is
  'Adds to stock or takes from it, against stock_correction.';
select api_meta.plan_by_index('ledger.adjust_stock(ledger.line[], text)');
select api_meta.give('ledger.adjust_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.adjust_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/adjust_stock.sql
--! Included ledger/adjustment_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.adjustment_of(
  field text[], product_id uuid, delta integer, batch_id uuid, place_type text, place text
)
returns ledger.draft
language sql immutable
return row (field, product_id, abs(delta), batch_id,
  case when delta > 0 then 'special_stock_location' else place_type end,
  case when delta > 0 then 'stock_correction' else place end,
  case when delta > 0 then place_type else 'special_stock_location' end,
  case when delta > 0 then place else 'stock_correction' end,
  case when delta > 0 then 'api_incoming' else 'api_outgoing' end)::ledger.draft;
comment on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text) is
  'The draft of what stockAdjust books: units that come or go, against stock_correction.';
grant execute on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text)
  to service_ledger, service_writer;
--! EndIncluded ledger/adjustment_of.sql
--! Included ledger/apply_fulfillment_changes.sql
create or replace function ledger.apply_fulfillment_changes(
  changes ledger.change[], shipped ledger.change[], touched uuid[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(
      select l.order_id
      from unnest(shipped) s
      join erp.sales_order_line_item l on l.id = s.item_id
    ),
    array(select c.owner_id from unnest(changes) c union select t.id from unnest(touched) t (id))
  );
  -- A fulfillment order that is being deleted is gone already, with its promises
  changes := ledger.promises_of(changes);
  -- All products at once, because lines of the orders may name others
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c
      union select l.product_id
      from unnest(shipped) s
      join erp.sales_order_line_item l on l.id = s.item_id
      where l.product_id is not null),
    array(select c.owner_id from unnest(changes) c)
  );
  perform ledger.change_promised_stock(changes);
  update erp.sales_order_line_item l
  set shipped_quantity = l.shipped_quantity + s.quantity
  from unnest(shipped) s
  where l.id = s.item_id;
  update erp.fulfillment_order f set is_partially_fulfilled = p.is_partial
  from unnest(touched) t (id) cross join lateral (
    select coalesce(
      sum(l.fulfilled_quantity) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity), false
    ) as is_partial
    from erp.fulfillment_order_line_item l where l.fulfillment_order_id = t.id
  ) p
  where f.id = t.id and f.is_partially_fulfilled <> p.is_partial;
end
$$;
comment on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[]) is
  'Brings figures up to date after lines of fulfillment orders changed: units still to be fulfilled, by '
  'fulfillment order and product; units that were fulfilled, by line of the order; and whether the '
  'fulfillment orders that were touched are partially fulfilled. Takes the locks first.';
grant execute on function ledger.apply_fulfillment_changes(ledger.change[], ledger.change[], uuid[])
  to service_ledger;
--! EndIncluded ledger/apply_fulfillment_changes.sql
--! Included ledger/figure_change.sql
drop type if exists ledger.figure_change cascade;
create type ledger.figure_change as (
  product_id uuid, warehouse_id uuid, promised integer, reserved integer, awaited integer
);
comment on type ledger.figure_change is
  'By how much figures of a product change along with a booking: what fulfillment orders promise of it, '
  'which is that of a warehouse, what orders reserve, and what supplier orders await, without a warehouse.';
--! EndIncluded ledger/figure_change.sql
--! Included ledger/book.sql
create or replace function ledger.book(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booking
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := clock_timestamp();
  legs ledger.leg[];
  booked record;
  seen record;
  movement_ids uuid[];
begin
  if cardinality(drafts) = 0 then
    perform ledger.write_figures('{}', others, false, false, false) where others <> '{}';
    return row ('{}', '{}')::ledger.booking;
  end if;
  if cardinality(drafts) = 1 and ledger.is_correction(drafts[1]) then
    select * into booked from ledger.book_correction(drafts[1], note);
    if booked.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if booked.movement_id is not null then
      return row (array[booked.movement_id], array[booked.stock_id])::ledger.booking;
    end if;
  end if;
  legs := ledger.legs_of(drafts, moment);
  select * into seen from ledger.examine(legs);
  if seen.needs_care then
    perform ledger.check_variants(drafts);
    perform ledger.require_batches(drafts);
    perform ledger.require_stock(drafts);
  end if;

  movement_ids := ledger.write_movements(drafts, moment, note);
  if ledger.write_figures(
    seen.changes, others, seen.opens, seen.opens_warehouses, seen.is_configured
  ) then
    perform ledger.warn_of_promises(drafts);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  -- Without need of care there are no batches
  if seen.needs_care then
    perform ledger.write_batches(drafts, movement_ids);
    perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  end if;
  return row (movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booking;
end
$$;
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements, of which the locks have been taken: checks that no real place is left with less than '
  'nothing of a product or a batch, and writes each row once, also where other figures change along with '
  'them. Answers the movements in the order of the drafts, and the stock that they changed. User errors '
  'INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.book(ledger.draft[], text, ledger.figure_change[])');
grant execute on function ledger.book(ledger.draft[], text, ledger.figure_change[]) to service_ledger;
--! EndIncluded ledger/book.sql
--! Included ledger/book_correction.sql
create or replace function ledger.book_correction(
  d ledger.draft, note text, out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  comes constant boolean := d.source_type = 'special_stock_location';
  real_place constant text := case when comes then d.destination else d.source end;
  special constant text := case when comes then d.source else d.destination end;
  change constant integer := case when comes then d.quantity else - d.quantity end;
  counted_from constant timestamptz :=
    case when not ledger.is_count(d.process, d.source, d.destination) then moment end;
  cause constant jsonb := events.cause();
  seen record;
  m ledger.stock_movement;
  stock ledger.stock;
  product record;
begin
  select p.stock, p.special_id, p.is_for_sale, (p.held).id as held_id, p.configuration_id,
    p.place_configuration_id
  into seen
  from ledger.plain_place(d.product_id, real_place, special, comes, counted_from) p
  where (p.stock).quantity + change >= 0;
  if not found then
    return;
  end if;
  m := ledger.movement_of(d, moment, note);
  insert into ledger.stock_movement values (m.*);
  stock := seen.stock;
  stock_id := stock.id;
  update ledger.stock s
  set quantity = s.quantity + case when s.id = stock_id then change else - change end, updated_at = today
  where s.id = any (array[stock_id, seen.special_id]);
  stock.quantity := stock.quantity + change;
  stock.updated_at := today;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p
  set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale =
      p.stock_not_available_for_sale + case when seen.is_for_sale then 0 else change end
  where p.id = d.product_id returning with (old as o, new as n) o, n into product;
  if seen.configuration_id is not null then
    update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.configuration_id;
  end if;
  if seen.place_configuration_id is not null then
    update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
    where c.id = seen.place_configuration_id;
  end if;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, cause from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(seen.stock, stock)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  movement_id := m.id;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(ledger.draft, text) is
  'Books one movement between a warehouse or bin and a special place by plain statements, which takes much '
  'less than what books any number, and leaves the same. Answers the movement, the stock, and whether '
  'available stock is below 0 now; nulls when there is something to be seen to, and then nothing is booked. '
  'Only for ledger.book.';
select api_meta.plan_by_index('ledger.book_correction(ledger.draft, text)');
select api_meta.give('ledger.book_correction(ledger.draft, text)', 'service_booker');
grant execute on function ledger.book_correction(ledger.draft, text) to service_ledger;
--! EndIncluded ledger/book_correction.sql
--! Included ledger/single.sql
drop type if exists ledger.single cascade;
create type ledger.single as (nth integer, draft ledger.draft, note text, cause jsonb);
comment on type ledger.single is
  'A booking of one movement, of several that are made together: its draft, its note, and the cause of its '
  'events.';
--! EndIncluded ledger/single.sql
--! Included ledger/book_singles.sql
create or replace function ledger.book_singles(singles ledger.single[])
returns table (nth integer, movement_id uuid, stock_id uuid)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(array(select s.draft from unnest(singles) s
    where (s.draft).quantity is not null));
  return query select * from ledger.write_singles(singles);
end
$$;
comment on function ledger.book_singles(ledger.single[]) is
  'Takes the locks, and books together what is plain of bookings of one correction each, as if one were '
  'booked after the other. Answers those that it booked.';
select api_meta.give('ledger.book_singles(ledger.single[])', 'service_ledger');
grant execute on function ledger.book_singles(ledger.single[]) to service_writer;
--! EndIncluded ledger/book_singles.sql
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
--! Included ledger/quantity_at.sql
create or replace function ledger.quantity_at(product_id uuid, place text, batch_id uuid default null)
returns integer
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(case when quantity_at.batch_id is null
    then (
      select s.quantity
      from ledger.stock s
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place
    )
    else (select b.quantity from ledger.stock s
      join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = quantity_at.batch_id
      where s.product_id = quantity_at.product_id and s.place = quantity_at.place)
  end, 0);
end;
comment on function ledger.quantity_at(uuid, text, uuid) is
  'Units of a product, or of one batch of it, in a place (see ledger.stock.place).';
grant execute on function ledger.quantity_at(uuid, text, uuid) to service_ledger;
--! EndIncluded ledger/quantity_at.sql
--! Included ledger/is_count.sql
create or replace function ledger.is_count(process text, source_special text, destination_special text)
returns boolean
language sql immutable parallel safe
return coalesce(process in ('api', 'stocktaking')
  and (source_special = 'stock_correction' or destination_special = 'stock_correction'), false);
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between special places of these names if any, corrects the books '
  'after a count. Then nothing moved.';
grant execute on function ledger.is_count(text, text, text)
  to service_ledger, service_writer, service_booker;
--! EndIncluded ledger/is_count.sql
--! Included ledger/flow.sql
-- Each movement as two rows: the arrival in one place, and the departure from the other.
create or replace view ledger.flow with (security_invoker = true) as
select m.id as movement_id, m.product_id, m.created_at, m.process_type_technical_name,
  m.destination_location_type_technical_name as location_type_technical_name,
  m.destination_warehouse_id as warehouse_id, m.destination_bin_location_id as bin_location_id,
    m.destination_order_id as order_id,
  m.destination_return_order_id as return_order_id, m.destination_goods_receipt_id as goods_receipt_id,
  m.destination_stock_container_id as stock_container_id,
  m.destination_special_stock_location_technical_name as special_stock_location_technical_name,
  coalesce(m.destination_warehouse_id::text, m.destination_bin_location_id::text,
    m.destination_order_id::text,
    m.destination_return_order_id::text, m.destination_goods_receipt_id::text,
      m.destination_stock_container_id::text,
    m.destination_special_stock_location_technical_name) as place,
  m.quantity, 1 as direction,
  m.created_at + m.microseconds * interval '1 microsecond' as booked_at,
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name) as is_count
from ledger.stock_movement m
union all
select m.id, m.product_id, m.created_at, m.process_type_technical_name, m.source_location_type_technical_name,
  m.source_warehouse_id, m.source_bin_location_id,
  m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id, m.source_stock_container_id,
  m.source_special_stock_location_technical_name,
  coalesce(m.source_warehouse_id::text, m.source_bin_location_id::text, m.source_order_id::text,
    m.source_return_order_id::text,
    m.source_goods_receipt_id::text, m.source_stock_container_id::text,
      m.source_special_stock_location_technical_name),
  - m.quantity, -1,
  m.created_at + m.microseconds * interval '1 microsecond',
  ledger.is_count(m.process_type_technical_name, m.source_special_stock_location_technical_name,
    m.destination_special_stock_location_technical_name)
from ledger.stock_movement m;
comment on view ledger.flow is
  'Each movement twice: as what came to its destination, and, negative, as what left its source. place '
  'is the key of ledger.stock, null once the place was deleted; direction is 1 or -1; booked_at is the '
  'exact moment, of which created_at is the second; is_count tells corrections after counts from goods '
  'that moved. No joins here: with one, Postgres could not look up single movements in it by index.';
grant select on ledger.flow to service_ledger, service_writer;
--! EndIncluded ledger/flow.sql
--! Included ledger/moved_since.sql
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
      -- The index is on seconds
      and f.created_at >= date_trunc('second', moved_since.moment) and f.booked_at > moved_since.moment
  ) + (
    select coalesce(sum(c.difference), 0) from ledger.stock s join ledger.stock_count c on c.stock_id = s.id
    where s.product_id = moved_since.product_id and s.place = moved_since.place
      and c.counted_at > moved_since.moment and c.batch_id is not null
      and moved_since.batch_id is null
  );
end;
comment on function ledger.moved_since(uuid, text, uuid, timestamptz) is
  'Units of a product, or of one batch of it, that came to a place after a moment, to the microsecond, '
  'less those that left it. What counts have corrected did not move; but for the place as a whole, what '
  'later counts of single batches have changed counts too.';
grant execute on function ledger.moved_since(uuid, text, uuid, timestamptz) to service_ledger;
--! EndIncluded ledger/moved_since.sql
--! Included ledger/counted_quantity.sql
create or replace function ledger.counted_quantity(stock_id uuid, batch_id uuid, moment timestamptz)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.quantity_at(s.product_id, s.place, counted_quantity.batch_id)
    - ledger.moved_since(s.product_id, s.place, counted_quantity.batch_id, counted_quantity.moment)
  from ledger.stock s where s.id = counted_quantity.stock_id;
end;
comment on function ledger.counted_quantity(uuid, uuid, timestamptz) is
  'What a count at a moment must have said, of stock or of one batch of it, for the books to be as they are.';
grant execute on function ledger.counted_quantity(uuid, uuid, timestamptz) to service_ledger;
--! EndIncluded ledger/counted_quantity.sql
--! Included ledger/carry_counts.sql
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
  'Counts stock, or one batch of it, once more at the moment of its latest count, so that the books are '
  'right as they are: for movements that are inserted with an earlier moment, which the count cannot '
  'have known.';
grant execute on function ledger.carry_counts(uuid[], uuid) to service_ledger;
--! EndIncluded ledger/carry_counts.sql
--! Included ledger/change_fulfilled_quantities.sql
create or replace function ledger.change_fulfilled_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders_of(changes);
  update erp.fulfillment_order_line_item l set fulfilled_quantity = l.fulfilled_quantity + c.quantity
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id
    having sum(c.quantity) <> 0
  ) c
  where l.id = c.item_id and exists (select from erp.fulfillment_order f where f.id = l.fulfillment_order_id);
end
$$;
comment on function ledger.change_fulfilled_quantities(ledger.change[]) is
  'Adds to the fulfilled quantities of the items, which are lines of fulfillment orders.';
grant execute on function ledger.change_fulfilled_quantities(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_fulfilled_quantities.sql
--! Included ledger/change_invoiced_quantities.sql
create or replace function ledger.change_invoiced_quantities(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  perform ledger.lock_orders(
    array(select l.order_id from unnest(changes) c join erp.sales_order_line_item l on l.id = c.item_id)
  );
  update erp.sales_order_line_item l set invoiced_quantity = l.invoiced_quantity + c.quantity
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c
    group by c.item_id
    having sum(c.quantity) <> 0
  ) c
  where l.id = c.item_id;
end
$$;
comment on function ledger.change_invoiced_quantities(ledger.change[]) is
  'Adds to the invoiced quantities of the items, which are lines of orders.';
grant execute on function ledger.change_invoiced_quantities(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_invoiced_quantities.sql
--! Included ledger/change_promised_stock.sql
create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (c.owner_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.owner_id, c.item_id having sum(c.quantity) <> 0
  );
  if changes = '{}' then
    return;
  end if;
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c), array(select c.owner_id from unnest(changes) c)
  );
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity,
    updated_at = date_trunc('second', now())
  from unnest(changes) c
  -- During the deletion of a warehouse or a product its figures may exist a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';
grant execute on function ledger.change_promised_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_promised_stock.sql
--! Included ledger/change_reserved_stock.sql
create or replace function ledger.change_reserved_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (null, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.item_id having sum(c.quantity) <> 0
  );
  if changes = '{}' then
    return;
  end if;
  perform ledger.lock(array(select c.item_id from unnest(changes) c));
  update erp.product p set reserved_stock = p.reserved_stock + c.quantity,
    updated_at = date_trunc('second', now())
  from unnest(changes) c where p.id = c.item_id;
end
$$;
comment on function ledger.change_reserved_stock(ledger.change[]) is
  'Adds to the reserved stock of the items, which are products.';
grant execute on function ledger.change_reserved_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_reserved_stock.sql
--! Included ledger/check_expectations.sql
create or replace function ledger.check_expectations(lines ledger.line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('QUANTITY_CHANGED',
    format('The place holds %s units, not %s.', q.quantity, l.expected_quantity),
    mutation.path('lines', l.ordinality, 'expected_quantity'),
    jsonb_build_object('expected', l.expected_quantity, 'actual', q.quantity)) order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  cross join lateral ledger.quantity_at(
    l.product_id, coalesce(l.source_warehouse_id, l.source_bin_location_id)::text, l.batch_id
  ) q (quantity)
  where l.expected_quantity <> q.quantity;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_expectations(ledger.line[]) is
  'Refuses lines of a mutation of stock that expect another quantity than there is. User error '
  'QUANTITY_CHANGED.';
grant execute on function ledger.check_expectations(ledger.line[]) to service_ledger;
--! EndIncluded ledger/check_expectations.sql
--! Included ledger/check_form.sql
create or replace function ledger.check_form(lines ledger.line[], places ledger.named_place[], operation text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be negative.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where operation = 'set' and l.quantity < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The change must not be 0.', '{delta}'
    from unnest(lines) with ordinality l where operation = 'adjust' and l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'
    from unnest(lines) with ordinality l where operation = 'transfer' and l.quantity < 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'This moment is still to come.', '{counted_at}'
    from unnest(lines) with ordinality l where l.counted_at > clock_timestamp()
    union all
    select p.line, 'INVALID', 'Name a warehouse or a bin, and not both.', array[p.name]
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
    union all
    select l.ordinality, 'INVALID', 'Source and destination are the same place.', '{destination}'
    from unnest(lines) with ordinality l
    where l.source_warehouse_id = l.destination_warehouse_id
      or l.source_bin_location_id = l.destination_bin_location_id
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line sets the same stock.', '{}'
    from (
      select l.*, row_number() over (
        partition by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id
        order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l where operation = 'set' and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_form(ledger.line[], ledger.named_place[], text) is
  'Refuses lines of a mutation of stock that are wrong by themselves. User errors OUT_OF_RANGE, INVALID, '
  'NOT_UNIQUE.';
grant execute on function ledger.check_form(ledger.line[], ledger.named_place[], text) to service_ledger;
--! EndIncluded ledger/check_form.sql
--! Included ledger/check_references.sql
create or replace function ledger.check_references(lines ledger.line[], places ledger.named_place[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', '{product_id}'::text[]
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such warehouse.', array[p.name, 'warehouse_id']
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such bin.', array[p.name, 'bin_location_id']
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(lines) with ordinality l
    where l.batch_id is not null and not exists (select from erp.batch b where b.id = l.batch_id)
    union all
    select l.ordinality, 'BATCH_MISMATCH', format('Batch %s is of another product.', b.number), '{batch_id}'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where b.product_id <> l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_references(ledger.line[], ledger.named_place[]) is
  'Refuses lines of a mutation of stock that name what is not there, or a batch of another product. '
  'User errors NOT_FOUND, BATCH_MISMATCH.';
grant execute on function ledger.check_references(ledger.line[], ledger.named_place[]) to service_ledger;
--! EndIncluded ledger/check_references.sql
--! Included ledger/check_variants.sql
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
  'Looks for drafts that bring products into a place which only stand for their variants. What counts '
  'and corrections would add is refused: user error PRODUCT_HAS_VARIANTS. What has arrived, comes back '
  'or is moved is booked, with a warning of that name: it lies there, and old stock must be movable.';
grant execute on function ledger.check_variants(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/check_variants.sql
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
--! Included ledger/fill_configured_stock.sql
create or replace function ledger.fill_configured_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Bookings in progress either see this row or wait, and change the figure afterwards
  perform ledger.lock(array[new.product_id]);
  if tg_table_name = 'product_warehouse_configuration' then
    new.stock := coalesce((select s.quantity from ledger.warehouse_stock s
      where s.product_id = new.product_id and s.warehouse_id = new.warehouse_id), 0);
  else
    new.stock := coalesce((select s.quantity from ledger.stock s
      where s.product_id = new.product_id
        and s.place = coalesce(new.warehouse_id, new.bin_location_id)::text),
        0);
  end if;
  return new;
end
$$;
comment on function ledger.fill_configured_stock() is
  'Trigger: gives a new configuration of a product the stock that there is at its place.';
select api_meta.plan_by_index('ledger.fill_configured_stock()');
select api_meta.give('ledger.fill_configured_stock()', 'service_ledger');
--! EndIncluded ledger/fill_configured_stock.sql
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
--! Included ledger/is_correction.sql
-- In a form that becomes part of the expression that calls it
create or replace function ledger.is_correction(d ledger.draft) returns boolean
language sql immutable
return (d).batch_id is null and ((d).source_type = 'special_stock_location'
    and (d).destination_type in ('warehouse', 'bin_location')
  or (d).destination_type = 'special_stock_location' and (d).source_type in ('warehouse', 'bin_location'));
comment on function ledger.is_correction(ledger.draft) is
  'Whether a movement goes from a special place to a warehouse or bin, or back, and names no batch.';
grant execute on function ledger.is_correction(ledger.draft) to service_ledger;
--! EndIncluded ledger/is_correction.sql
--! Included ledger/is_malformed.sql
-- In a form that becomes part of the expression that calls it
create or replace function ledger.is_malformed(l ledger.line, operation text) returns boolean
language sql stable
return case operation when 'set' then (l).quantity < 0 when 'adjust' then (l).quantity = 0
    else (l).quantity < 1
      or num_nonnulls((l).destination_warehouse_id, (l).destination_bin_location_id) <> 1 end
  or num_nonnulls((l).source_warehouse_id, (l).source_bin_location_id) <> 1
  or (l).source_warehouse_id = (l).destination_warehouse_id
  or (l).source_bin_location_id = (l).destination_bin_location_id
  -- A little earlier than now, but one that is volatile could not become part of anything
  or (l).counted_at > statement_timestamp();
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds something in a line, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line, text) to service_ledger;

create or replace function ledger.is_malformed(lines ledger.line[], operation text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(lines) = 1 then
    return coalesce(ledger.is_malformed(lines[1], operation), false);
  end if;
  return exists (select from unnest(lines) l where ledger.is_malformed(l, operation))
    or operation = 'set' and exists (
      select from unnest(lines) l
      group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id having count(*) > 1);
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds something, for it is seldom so.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(
    select distinct m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id
  ));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  perform ledger.carry_counts(w.stock_ids, w.batch_id)
  from ledger.write_batch_figures(array(
    select row (row_number() over (order by f.movement_id, f.direction), f.product_id,
      f.location_type_technical_name, f.place, m.quantity * f.direction, m.batch_id, f.booked_at,
      f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id
  )) w;
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anybody but ledger.book: brings the stock of '
  'batches up to date, in each place and altogether.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/keep_cancellations.sql
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
  'Trigger after documents were inserted, by any writer: a storno cancels the invoice that it refers to, '
  'which can happen once. User error INVALID.';
select api_meta.give('ledger.keep_cancellations()', 'service_ledger');
--! EndIncluded ledger/keep_cancellations.sql
--! Included ledger/keep_count.sql
create or replace function ledger.keep_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
set enable_seqscan = off as $$
declare
  place record;
begin
  -- ledger.set_stock has inserted its counts already, and a second run has nothing to add
  if not ledger.is_count(new.process_type_technical_name,
      new.source_special_stock_location_technical_name, new.destination_special_stock_location_technical_name)
    or exists (select from ledger.stock_count c where c.stock_movement_id = new.id) then
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
  'Trigger at the end of a transaction, when batches are known: a correction by a count that is inserted by '
  'hand, or by other programs, is a count of its moment; or of that of the latest one, if that is later, '
  'because the stock has changed since.';
select api_meta.give('ledger.keep_count()', 'service_ledger');
--! EndIncluded ledger/keep_count.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  perform ledger.lock(array(select distinct product_id from booked));
  select * into seen from ledger.examine(array(
    select row (row_number() over (order by min(f.movement_id::text), min(f.direction)), f.product_id,
      f.location_type_technical_name, f.place, sum(f.quantity), null, f.booked_at, f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.id
    group by f.product_id, f.location_type_technical_name, f.place, f.booked_at, f.is_count
  ));
  if seen.changes is not null then
    perform ledger.write_figures(
      seen.changes, '{}', seen.opens, seen.opens_warehouses, seen.is_configured);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anybody but ledger.book: takes the locks that a booking '
  'takes, and brings the figures up to date in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/keep_fulfillment_figures.sql
create or replace function ledger.keep_fulfillment_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
    if old.state = 'Fulfilled' then
      perform ledger.change_fulfilled_quantities(array(
        select row (old.id, l.fulfillment_order_line_item_id, - l.quantity)::ledger.change
        from erp.fulfillment_line_item l where l.fulfillment_id = old.id));
    end if;
    return old;
  end if;
  perform ledger.change_fulfilled_quantities(array(
    select row (f.id, l.fulfillment_order_line_item_id, f.direction * l.quantity)::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.id, 1 as direction from new_rows n where n.state = 'Fulfilled'
        union all select o.id, -1 from old_rows o where o.state = 'Fulfilled'
      ) s group by s.id having sum(s.direction) <> 0
    ) f join erp.fulfillment_line_item l on l.fulfillment_id = f.id));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_figures() is
  'Triggers before a fulfillment is deleted and after some were changed: one that is cancelled fulfills '
  'nothing any more.';
select api_meta.plan_by_index('ledger.keep_fulfillment_figures()');
select api_meta.give('ledger.keep_fulfillment_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_figures.sql
--! Included ledger/keep_fulfillment_line_figures.sql
create or replace function ledger.keep_fulfillment_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By fulfillment and line of a fulfillment order
  changes ledger.change[];
begin
  if tg_op = 'INSERT' then
    changes := array(
      select row (l.fulfillment_id, l.fulfillment_order_line_item_id, l.quantity)::ledger.change
      from new_rows l
    );
  elsif tg_op = 'DELETE' then
    changes := array(
      select row (l.fulfillment_id, l.fulfillment_order_line_item_id, - l.quantity)::ledger.change
      from old_rows l
    );
  else
    changes := array(
      select row (l.fulfillment_id, l.line_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_id, n.fulfillment_order_line_item_id as line_id, n.quantity from new_rows n
        union all select o.fulfillment_id, o.fulfillment_order_line_item_id, - o.quantity from old_rows o
      ) l group by l.fulfillment_id, l.line_id having sum(l.quantity) <> 0);
  end if;
  if cardinality(changes) = 0 then
    return null;
  end if;
  perform ledger.lock_orders_of(changes);
  perform
  from erp.fulfillment f
  where f.id in (select c.owner_id from unnest(changes) c)
  order by f.id for no key update;
  -- A fulfillment that is being deleted is gone already, with its quantities
  perform ledger.change_fulfilled_quantities(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c join erp.fulfillment f on f.id = c.owner_id where f.state = 'Fulfilled'));
  return null;
end
$$;
comment on function ledger.keep_fulfillment_line_figures() is
  'Trigger after lines of fulfillments changed, by any writer: brings the fulfilled quantities of the lines '
  'of fulfillment orders up to date.';
select api_meta.plan_by_index('ledger.keep_fulfillment_line_figures()');
select api_meta.give('ledger.keep_fulfillment_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_line_figures.sql
--! Included ledger/keep_fulfillment_order_figures.sql
create or replace function ledger.keep_fulfillment_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
  moved ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its warehouse is no longer known
    perform ledger.change_promised_stock(ledger.promises_of(array(
      select row (old.id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = old.id and l.product_id is not null
      group by l.product_id)));
    return old;
  end if;
  -- By location: fulfillment orders that begin or cease to have open units there
  moved := array(
    select row (t.location_id, t.id, sum(t.direction))::ledger.change
    from (
      select n.id, n.source_warehouse_location_id as location_id, 1 as direction
      from new_rows n
      where n.state in ('Open', 'InProgress', 'OnHold')
      union all
      select o.id, o.source_warehouse_location_id, -1
      from old_rows o
      where o.state in ('Open', 'InProgress', 'OnHold')
    ) t where t.location_id is not null group by t.location_id, t.id having sum(t.direction) <> 0);
  if cardinality(moved) = 0 then
    return null;
  end if;
  perform
  from erp.location l
  where l.id in (select m.owner_id from unnest(moved) m)
  order by l.id for key share;
  changes := array(
    select row (
      w.warehouse_id, l.product_id, sum(m.quantity * (l.quantity - l.fulfilled_quantity))
    )::ledger.change
    from unnest(moved) m
    join erp.location w on w.id = m.owner_id
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = m.item_id
    where w.warehouse_id is not null and l.product_id is not null and l.quantity <> l.fulfilled_quantity
    group by w.warehouse_id, l.product_id);
  perform ledger.change_promised_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after some were changed: one that begins or ends '
  'being open, or moves to another location, changes the reserved quantities of the warehouses.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_figures()');
select api_meta.give('ledger.keep_fulfillment_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_figures.sql
--! Included ledger/keep_fulfillment_order_line_figures.sql
create or replace function ledger.keep_fulfillment_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By fulfillment order and product: open units
  changes ledger.change[];
  -- By line of the order: fulfilled units
  shipped ledger.change[];
  -- Fulfillment orders that may have begun or ceased to be partially fulfilled
  touched uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.quantity - l.fulfilled_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      sum(l.fulfilled_quantity))::ledger.change
      from new_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from new_rows l);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      - sum(l.fulfilled_quantity))::ledger.change
      from old_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from old_rows l);
  else
    changes := array(
      select row (l.fulfillment_order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_order_id, n.product_id, n.quantity - n.fulfilled_quantity as quantity
        from new_rows n
        union all select o.fulfillment_order_id, o.product_id, o.fulfilled_quantity - o.quantity
        from old_rows o
      ) l where l.product_id is not null group by l.fulfillment_order_id,
        l.product_id having sum(l.quantity) <> 0);
    shipped := array(
      select row (null, l.line_id, sum(l.quantity))::ledger.change
      from (
        select n.destination_order_line_item_id as line_id, n.fulfilled_quantity as quantity from new_rows n
        union all select o.destination_order_line_item_id, - o.fulfilled_quantity from old_rows o
      ) l where l.line_id is not null group by l.line_id having sum(l.quantity) <> 0);
    touched := array(
      select distinct l.fulfillment_order_id
      from (
        select n.fulfillment_order_id, n.quantity, n.fulfilled_quantity, 1 as direction from new_rows n
        union all select o.fulfillment_order_id, o.quantity, o.fulfilled_quantity, -1 from old_rows o
      ) l group by l.fulfillment_order_id, l.quantity, l.fulfilled_quantity having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) + cardinality(shipped) + cardinality(touched) = 0 then
    return null;
  end if;
  perform ledger.apply_fulfillment_changes(changes, shipped, touched);
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, by any writer: brings the reserved quantities of '
  'warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially '
  'fulfilled, up to date.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_line_figures()');
select api_meta.give('ledger.keep_fulfillment_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_line_figures.sql
--! Included ledger/keep_invoice_figures.sql
create or replace function ledger.keep_invoice_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
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
  'Triggers before an invoice is deleted and after some were changed: one that is cancelled charges '
  'nothing any more.';
select api_meta.give('ledger.keep_invoice_figures()', 'service_ledger');
--! EndIncluded ledger/keep_invoice_figures.sql
--! Included ledger/keep_invoice_line_figures.sql
create or replace function ledger.keep_invoice_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By invoice and line of the order
  changes ledger.change[] := '{}';
begin
  if tg_op in ('INSERT', 'UPDATE') then
    changes := array(
      select row (l.document_id, l.order_line_item_id, l.quantity)::ledger.change from new_rows l
    );
  end if;
  if tg_op in ('DELETE', 'UPDATE') then
    changes := changes
      || array(select row (l.document_id, l.order_line_item_id, - l.quantity)::ledger.change from old_rows l);
  end if;
  -- An invoice that is being deleted is gone already, with its quantities
  perform ledger.change_invoiced_quantities(array(
    select c
    from unnest(changes) c
    join erp.invoice i on i.document_id = (c).owner_id
    where i.cancellation_id is null));
  return null;
end
$$;
comment on function ledger.keep_invoice_line_figures() is
  'Trigger after lines of invoices changed, by any writer: brings the invoiced quantities of the lines of '
  'orders up to date.';
select api_meta.give('ledger.keep_invoice_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_invoice_line_figures.sql
--! Included ledger/keep_label_figures.sql
create or replace function ledger.keep_label_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  if tg_op = 'INSERT' then
    changed := array(
      select distinct l.order_id
      from new_rows l
      where l.order_id is not null and l.state = 'created' and l.type = 'outgoing'
    );
  elsif tg_op = 'DELETE' then
    changed := array(
      select distinct l.order_id
      from old_rows l
      where l.order_id is not null and l.state = 'created' and l.type = 'outgoing'
    );
  else
    changed := array(
      select distinct l.order_id
      from (
        select n.order_id, n.tracking_codes, 1 as direction
        from new_rows n
        where n.state = 'created' and n.type = 'outgoing'
        union all select o.order_id, o.tracking_codes, -1
        from old_rows o
        where o.state = 'created' and o.type = 'outgoing'
      ) l where l.order_id is not null group by l.order_id, l.tracking_codes having sum(l.direction) <> 0);
  end if;
  if cardinality(changed) > 0 then
    perform ledger.lock_orders(changed);
    -- The trigger on orders makes the list
    update erp.sales_order o set entered_tracking_codes = o.entered_tracking_codes where o.id = any (changed);
  end if;
  return null;
end
$$;
comment on function ledger.keep_label_figures() is
  'Trigger after shipping labels changed: the tracking codes of their orders follow. What counts are '
  'outgoing labels that were neither cancelled nor failed.';
select api_meta.plan_by_index('ledger.keep_label_figures()');
select api_meta.give('ledger.keep_label_figures()', 'service_ledger');
--! EndIncluded ledger/keep_label_figures.sql
--! Included ledger/keep_location_figures.sql
create or replace function ledger.keep_location_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  changes := array(
    select row (w.id, l.product_id, w.direction * sum(l.quantity - l.fulfilled_quantity))::ledger.change
    from (
      select old.warehouse_id as id, -1 as direction
      union all select new.warehouse_id, 1 where tg_op = 'UPDATE'
    ) w
    join erp.fulfillment_order f on f.source_warehouse_location_id = old.id
      and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    where w.id is not null and l.product_id is not null group by w.id, w.direction, l.product_id);
  perform ledger.change_promised_stock(changes);
  return coalesce(new, old);
end
$$;
comment on function ledger.keep_location_figures() is
  'Triggers before a location is deleted and after it was given to another warehouse: what its '
  'fulfillment orders promise goes along.';
select api_meta.plan_by_index('ledger.keep_location_figures()');
select api_meta.give('ledger.keep_location_figures()', 'service_ledger');
--! EndIncluded ledger/keep_location_figures.sql
--! Included ledger/keep_order_amounts.sql
create or replace function ledger.keep_order_amounts() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  amounts record;
begin
  select * into amounts from ledger.order_amounts(new.id, new.tax_status);
  if found then
    new.amount_total := amounts.amount_total;
    new.amount_net := amounts.amount_net;
  end if;
  return new;
end
$$;
comment on function ledger.keep_order_amounts() is
  'Trigger before the tax status of an order changes: its amounts follow.';
select api_meta.give('ledger.keep_order_amounts()', 'service_ledger');
--! EndIncluded ledger/keep_order_amounts.sql
--! Included ledger/keep_order_figures.sql
create or replace function ledger.keep_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
    if old.state in ('open', 'in_progress') then
      perform ledger.change_reserved_stock(array(
        select row (old.id, l.product_id, sum(l.shipped_quantity - l.quantity))::ledger.change
        from erp.sales_order_line_item l
        where l.order_id = old.id and l.product_id is not null
        group by l.product_id));
    end if;
    return old;
  end if;
  changes := array(
    select row (null, l.product_id, sum(t.direction * (l.quantity - l.shipped_quantity)))::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.id, 1 as direction from new_rows n where n.state in ('open', 'in_progress')
        union all select o.id, -1 from old_rows o where o.state in ('open', 'in_progress')
      ) s group by s.id having sum(s.direction) <> 0
    ) t join erp.sales_order_line_item l
      on l.order_id = t.id where l.product_id is not null and l.quantity <> l.shipped_quantity
    group by l.product_id);
  perform ledger.change_reserved_stock(changes);
  return null;
end
$$;
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders were changed: an order that begins or ends '
  'being open changes the reserved stock of its products.';
select api_meta.plan_by_index('ledger.keep_order_figures()');
select api_meta.give('ledger.keep_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_figures.sql
--! Included ledger/keep_order_line_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By order and product: units that are not shipped yet
  changes ledger.change[];
  -- Orders with changed lines that have a price
  priced uuid[];
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.quantity - l.shipped_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from new_rows l where l.total_price is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.shipped_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from old_rows l where l.total_price is not null);
  else
    changes := array(
      select row (l.order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.order_id, n.product_id, n.quantity - n.shipped_quantity as quantity from new_rows n
        union all select o.order_id, o.product_id, o.shipped_quantity - o.quantity from old_rows o
      ) l where l.product_id is not null group by l.order_id, l.product_id having sum(l.quantity) <> 0);
    priced := array(
      select distinct l.order_id
      from (
        select n.order_id, n.total_price, n.tax_rate, 1 as direction from new_rows n
        union all select o.order_id, o.total_price, o.tax_rate, -1 from old_rows o
      ) l where l.total_price is not null group by l.order_id, l.total_price,
        l.tax_rate having sum(l.direction) <> 0);
  end if;
  if cardinality(changes) = 0 and cardinality(priced) = 0 then
    return null;
  end if;

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, with
  -- its reservations.
  perform ledger.lock_orders(
    array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id))
  );
  -- Asked for each: as a join it may be planned by the index of states, through all open orders
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c
    where (select o.state from erp.sales_order o where o.id = c.owner_id) in ('open', 'in_progress')));
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: brings the reserved stock of products and the '
  'amounts of the orders up to date.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
--! Included ledger/keep_purchase_figures.sql
create or replace function ledger.keep_purchase_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  products uuid[];
begin
  if tg_table_name = 'supplier_order' then
    products := array(select distinct l.product_id from changed n join gone g on g.id = n.id
      join erp.supplier_order_line_item l on l.supplier_order_id = n.id
      where l.product_id is not null
        and (n.order_date_time is distinct from g.order_date_time
          or erp.awaits_goods(n.state) <> erp.awaits_goods(g.state) and l.open_quantity > 0));
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
  set open_supplier_order_quantity = f.quantity, last_supplier_order_at = f.last_at,
    updated_at = date_trunc('second', now())
  from unnest(products) x (id) cross join lateral (
    select coalesce(
      sum(l.open_quantity) filter (where erp.awaits_goods(o.state)), 0
    ) as quantity,
      max(o.order_date_time) as last_at
    from erp.supplier_order_line_item l
    join erp.supplier_order o on o.id = l.supplier_order_id
    where l.product_id = x.id
  ) f
  where p.id = x.id
    and (
      p.open_supplier_order_quantity, p.last_supplier_order_at
    ) is distinct from (f.quantity::integer, f.last_at);
  return null;
end
$$;
comment on function ledger.keep_purchase_figures() is
  'Trigger after supplier orders or their lines changed: brings the open quantity and the time of the '
  'last supplier order of their products up to date.';
select api_meta.give('ledger.keep_purchase_figures()', 'service_ledger');
--! EndIncluded ledger/keep_purchase_figures.sql
--! Included ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old value; later ones wait for this change.
    perform from erp.warehouse w where w.id = old.id for update;
    return new;
  end if;
  perform ledger.lock(array(select s.product_id from ledger.warehouse_stock s where s.warehouse_id = new.id));
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale
    + case when new.is_stock_available_for_sale then - s.quantity else s.quantity end
  from ledger.warehouse_stock s where s.warehouse_id = new.id and s.product_id = p.id and s.quantity <> 0;
  return null;
end
$$;
comment on function ledger.keep_saleable_stock() is
  'Triggers before and after a warehouse starts or stops selling its stock: moves it into or out of the '
  'products'' stock not available for sale.';
select api_meta.plan_by_index('ledger.keep_saleable_stock()');
select api_meta.give('ledger.keep_saleable_stock()', 'service_ledger');
--! EndIncluded ledger/keep_saleable_stock.sql
--! Included ledger/keep_tracking_codes.sql
create or replace function ledger.keep_tracking_codes() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  present text[];
  of_labels text[];
begin
  -- A new order has no labels yet
  if tg_op = 'INSERT' and new.tracking_codes is null and new.entered_tracking_codes = '{}' then
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
  if new.tracking_codes is null and cardinality(new.entered_tracking_codes || of_labels) = 0 then
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
--! Included ledger/legs_of.sql
create or replace function ledger.legs_of(drafts ledger.draft[], moment timestamptz) returns ledger.leg[]
language sql stable
return array(
  select row (d.ordinality * 2 + l.side, d.product_id, l.type, l.place, l.change, d.batch_id, moment,
    ledger.is_count(d.process, d.source, d.destination))::ledger.leg
  from unnest(drafts) with ordinality d
  cross join lateral (values (0, d.source_type, d.source, - d.quantity),
    (1, d.destination_type, d.destination, d.quantity)) l (side, type, place, change)
);
comment on function ledger.legs_of(ledger.draft[], timestamptz) is 'Both legs of each movement to be booked.';
grant execute on function ledger.legs_of(ledger.draft[], timestamptz) to service_ledger;
--! EndIncluded ledger/legs_of.sql
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}'
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  are_found boolean := true;
  found_rows bigint;
begin
  if warehouse_ids <> '{}' then
    perform from erp.warehouse w where w.id = any (warehouse_ids) order by w.id for key share;
    get diagnostics found_rows = row_count;
    are_found := found_rows = cardinality(warehouse_ids);
  end if;
  if bin_location_ids <> '{}' then
    perform from erp.bin_location b where b.id = any (bin_location_ids) order by b.id for key share;
    get diagnostics found_rows = row_count;
    are_found := are_found and found_rows = cardinality(bin_location_ids);
  end if;
  perform from erp.product p where p.id = any (product_ids) order by p.id for no key update;
  get diagnostics found_rows = row_count;
  return are_found and found_rows = cardinality(product_ids);
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in this order, so that bookings never wait for each other in a '
  'circle: warehouses and bins against being deleted and against a change of what they count for, then '
  'the products. The holder of a product''s lock is alone with all of its stock and figures. Answers whether '
  'there are as many as ids, each of which is to be given once then.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included ledger/lock_line.sql
create or replace function ledger.lock_line(l ledger.line) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if l.source_bin_location_id is null then
    perform from erp.warehouse w where w.id = l.source_warehouse_id for key share;
  else
    perform from erp.warehouse w join erp.bin_location b on b.warehouse_id = w.id
    where b.id = l.source_bin_location_id for key share of w, b;
  end if;
  if not found then
    return false;
  end if;
  perform from erp.product p where p.id = l.product_id for no key update;
  return found;
end
$$;
comment on function ledger.lock_line(ledger.line) is
  'Takes the locks of ledger.lock for a line with one place, by plain statements, which takes less. Answers '
  'whether all that it names is there.';
grant execute on function ledger.lock_line(ledger.line) to service_ledger;
--! EndIncluded ledger/lock_line.sql
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
--! Included ledger/lock_orders_of.sql
create or replace function ledger.lock_orders_of(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_orders(
    array(select s.order_id from unnest(changes) c join erp.fulfillment_order_line_item l on l.id = c.item_id
      join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id),
    array(
      select l.fulfillment_order_id
      from unnest(changes) c
      join erp.fulfillment_order_line_item l on l.id = c.item_id
    )
  );
end
$$;
comment on function ledger.lock_orders_of(ledger.change[]) is
  'Takes the locks of the orders and fulfillment orders of the items, which are lines of fulfillment orders.';
grant execute on function ledger.lock_orders_of(ledger.change[]) to service_ledger;
--! EndIncluded ledger/lock_orders_of.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  bins uuid[];
begin
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
end
$$;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of movements that are to be booked: those of ledger.lock, for their products and places.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/lock_places.sql
--! Included ledger/lock_promises.sql
create or replace function ledger.lock_promises(order_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(
    array(
      select l.product_id from erp.sales_order_line_item l
      where l.order_id = lock_promises.order_id and l.quantity > l.shipped_quantity
        and l.product_id is not null
      union
      select l.product_id from erp.fulfillment_order f
      join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.destination_order_id = lock_promises.order_id and l.quantity > l.fulfilled_quantity
        and l.product_id is not null
    ),
    array(
      select l.warehouse_id from erp.fulfillment_order f
      join erp.location l on l.id = f.source_warehouse_location_id
      where f.destination_order_id = lock_promises.order_id and l.warehouse_id is not null
    )
  );
end
$$;
comment on function ledger.lock_promises(uuid) is
  'Takes the locks of ledger.lock for all that an order has reserved, and that is promised for it, after the '
  'locks of the order, its fulfillment orders and their locations.';
select api_meta.plan_by_index('ledger.lock_promises(uuid)');
select api_meta.give('ledger.lock_promises(uuid)', 'service_ledger');
grant execute on function ledger.lock_promises(uuid) to service_writer;
--! EndIncluded ledger/lock_promises.sql
--! Included ledger/lock_shipment.sql
create or replace function ledger.lock_shipment(
  product_ids uuid[], warehouse_ids uuid[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(product_ids, warehouse_ids, array(
    select b.id
    from ledger.stock s join erp.bin_location b on b.id = s.bin_location_id
    where s.product_id = any (product_ids) and s.location_type_technical_name in ('warehouse', 'bin_location')
      and s.quantity > 0 and b.warehouse_id = any (warehouse_ids)
    union select n.id from unnest(bin_location_ids) n (id)
  ));
end
$$;
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks that shipping products from warehouses needs, those of the bins that hold them included, '
  'after the locks of the orders. From here on no other transaction changes the stock of these products.';
select api_meta.plan_by_index('ledger.lock_shipment(uuid[], uuid[], uuid[])');
select api_meta.give('ledger.lock_shipment(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock_shipment.sql
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
--! Included ledger/lock_way_back.sql
create or replace function ledger.lock_way_back(fulfillment_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(
    array(
      select unnest(array[l.product_id, a.product_id, s.product_id])
      from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.id = l.fulfillment_order_line_item_id
      left join erp.sales_order_line_item s on s.id = a.destination_order_line_item_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
      -- What else is open of its orders and fulfillment orders is reserved and promised again
      union
      select s.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      join erp.sales_order_line_item s on s.order_id = f.destination_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and s.quantity > s.shipped_quantity
      union
      select a.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.fulfillment_order_id = l.fulfillment_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and a.quantity > a.fulfilled_quantity
    ),
    array(
      select unnest(array[w.warehouse_id, m.source_warehouse_id, b.warehouse_id])
      from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      left join erp.location w on w.id = f.source_warehouse_location_id
      left join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      left join ledger.stock_movement m on m.id = k.stock_movement_id
      left join erp.bin_location b on b.id = m.source_bin_location_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
    ),
    array(
      select m.source_bin_location_id
      from erp.fulfillment_line_item l
      join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and m.source_bin_location_id is not null
    )
  );
end
$$;
comment on function ledger.lock_way_back(uuid) is
  'Takes the locks of ledger.lock for what a fulfillment took away, and for where it came from.';
grant execute on function ledger.lock_way_back(uuid) to service_ledger;
--! EndIncluded ledger/lock_way_back.sql
--! Included ledger/microseconds.sql
create or replace function ledger.microseconds(moment timestamptz) returns integer
language sql stable parallel safe
return extract(microseconds from moment)::integer % 1000000;
comment on function ledger.microseconds(timestamptz) is
  'What a moment has beyond its second: see ledger.stock_movement.microseconds.';
grant execute on function ledger.microseconds(timestamptz) to service_ledger, service_booker;
--! EndIncluded ledger/microseconds.sql
--! Included ledger/movement_of.sql
create or replace function ledger.movement_of(
  d ledger.draft, moment timestamptz, note text, id uuid default null
)
returns ledger.stock_movement
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  m ledger.stock_movement;
begin
  -- First the number of the transaction, then the id (ledger.next_movement_id)
  m.transaction_id := pg_current_xact_id()::text::bigint;
  m.id := coalesce(id, ledger.next_movement_id());
  m.created_at := date_trunc('second', moment);
  m.microseconds := ledger.microseconds(moment);
  m.product_id := d.product_id;
  m.quantity := d.quantity;
  m.process_type_technical_name := d.process;
  m.comment := note;
  m.source_location_type_technical_name := d.source_type;
  m.destination_location_type_technical_name := d.destination_type;
  case d.source_type
    when 'warehouse' then m.source_warehouse_id := d.source::uuid;
    when 'bin_location' then m.source_bin_location_id := d.source::uuid;
    when 'order' then m.source_order_id := d.source::uuid;
    when 'return_order' then m.source_return_order_id := d.source::uuid;
    when 'goods_receipt' then m.source_goods_receipt_id := d.source::uuid;
    when 'stock_container' then m.source_stock_container_id := d.source::uuid;
    else m.source_special_stock_location_technical_name := d.source;
  end case;
  case d.destination_type
    when 'warehouse' then m.destination_warehouse_id := d.destination::uuid;
    when 'bin_location' then m.destination_bin_location_id := d.destination::uuid;
    when 'order' then m.destination_order_id := d.destination::uuid;
    when 'return_order' then m.destination_return_order_id := d.destination::uuid;
    when 'goods_receipt' then m.destination_goods_receipt_id := d.destination::uuid;
    when 'stock_container' then m.destination_stock_container_id := d.destination::uuid;
    else m.destination_special_stock_location_technical_name := d.destination;
  end case;
  return m;
end
$$;
comment on function ledger.movement_of(ledger.draft, timestamptz, text, uuid) is
  'A draft as a row of the ledger, with its id, which is a new one unless it is given.';
grant execute on function ledger.movement_of(ledger.draft, timestamptz, text, uuid) to service_booker;
--! EndIncluded ledger/movement_of.sql
--! Included ledger/named_places.sql
create or replace function ledger.named_places(lines ledger.line[], operation text)
returns ledger.named_place[]
language sql immutable
return array(
  select row (l.ordinality, p.name, p.warehouse_id, p.bin_location_id)::ledger.named_place
  from unnest(lines) with ordinality l cross join lateral (values
    (case operation when 'transfer' then 'source' else 'place' end,
      l.source_warehouse_id, l.source_bin_location_id),
    (case operation when 'transfer' then 'destination' end,
      l.destination_warehouse_id, l.destination_bin_location_id)
  ) p (name, warehouse_id, bin_location_id) where p.name is not null
);
comment on function ledger.named_places(ledger.line[], text) is
  'The places that lines of a mutation of stock name, by the names that the input gives them.';
grant execute on function ledger.named_places(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/named_places.sql
--! Included ledger/next_movement_id.sql
create or replace function ledger.next_movement_id() returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid := uuidv7();
  newest uuid;
begin
  -- Ids of one connection grow by themselves, so the first one of a transaction is enough to look at.
  if coalesce(current_setting('service.movement_ids', true), '') <> 'grow' then
    -- Nothing stands there, unless the clock went back, or the machine is another one.
    select m.id into newest from ledger.stock_movement m
    where m.id >= made order by m.id desc limit 1;
    if found then
      -- Ids begin with their moment, in 48 bits. The next millisecond of this one, for others may look for an
      -- id now, too
      made := uuidv7(to_timestamp((('x' || translate(left(newest::text, 13), '-', ''))::bit(48)::bigint
        + 1) / 1000.0)
        - clock_timestamp());
    else
      perform set_config('service.movement_ids', 'grow', true);
    end if;
  end if;
  return made;
end
$$;
comment on function ledger.next_movement_id() is
  'A new id for a movement: larger than that of every movement that was committed before the '
  'transaction. The number of the transaction is drawn before it, never after it: readers rely on it '
  '(docs/decisions.md, "Following").';
grant execute on function ledger.next_movement_id() to service_booker;
--! EndIncluded ledger/next_movement_id.sql
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
--! Included ledger/number_movements.sql
create or replace function ledger.number_movements(movement_ids uuid[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_number bigint;
  given bigint;
begin
  -- Only one transaction at a time numbers movements.
  perform from events.log_head h for no key update;
  last_number := coalesce(
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0
  );
  if movement_ids is null then
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by m.id), m.id from ledger.stock_movement m
    where not exists (select from ledger.movement_sequence s where s.movement_id = m.id) order by m.id;
  else
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by n.ordinality), n.id
    from unnest(movement_ids) with ordinality n (id)
    where not exists (select from ledger.movement_sequence s where s.movement_id = n.id)
    order by n.ordinality;
  end if;
  get diagnostics given = row_count;
  return given;
end
$$;
comment on function ledger.number_movements(uuid[]) is
  'Gives committed movements their numbers, those that have none yet: the given ones, in that order, '
  'or, without any given, all, in the order of their ids, which is for what was written while triggers '
  'were switched off. The sequencer of events calls it for what has been committed. Answers how many it '
  'numbered.';
select api_meta.give('ledger.number_movements(uuid[])', 'service_recorder');
--! EndIncluded ledger/number_movements.sql
--! Included ledger/open_stock.sql
create or replace function ledger.open_stock(movement_ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id, order_id,
    return_order_id,
    goods_receipt_id, stock_container_id, special_stock_location_technical_name)
  select f.product_id, f.location_type_technical_name, f.warehouse_id, f.bin_location_id, f.order_id,
    f.return_order_id,
    f.goods_receipt_id, f.stock_container_id, f.special_stock_location_technical_name
  from ledger.flow f where f.movement_id = any (movement_ids)
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by min(f.movement_id::text), min(f.direction)
  on conflict (product_id, place) do nothing;
end;
comment on function ledger.open_stock(uuid[]) is
  'Makes the rows of stock, at 0, that movements change and that are not there yet.';
grant execute on function ledger.open_stock(uuid[]) to service_ledger;
--! EndIncluded ledger/open_stock.sql
--! Included ledger/order_amounts.sql
-- Without settings, so that both become a part of the statement that asks
create or replace function ledger.amounts_of(prices numeric[], tax_rates numeric[], tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select s.total, case when amounts_of.tax_status = 'tax-free' then s.total
    else s.rated_net + round((s.total - s.rated) * coalesce(s.rated_net / nullif(s.rated, 0), 1), 2) end
  from (
    select sum(l.price) as total,
      coalesce(sum(l.price) filter (where l.tax_rate is not null), 0) as rated,
      coalesce(sum(round(l.price * 100 / (100 + l.tax_rate), 2)), 0) as rated_net
    from unnest(prices, tax_rates) l (price, tax_rate) having count(l.price) > 0
  ) s;
end;
comment on function ledger.amounts_of(numeric[], numeric[], text) is
  'Totals with and without tax of lines with these prices and tax rates; no row when no line has a price. '
  'Lines without a tax rate, such as promotions, are taxed as the others on average.';
grant execute on function ledger.amounts_of(numeric[], numeric[], text) to service_ledger, service_writer;

create or replace function ledger.order_amounts(order_id uuid, tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select a.amount_total, a.amount_net
  from (
    select array_agg(l.total_price) as prices, array_agg(l.tax_rate) as tax_rates
    from erp.sales_order_line_item l where l.order_id = order_amounts.order_id
  ) s
  cross join lateral ledger.amounts_of(s.prices, s.tax_rates, order_amounts.tax_status) a;
end;
comment on function ledger.order_amounts(uuid, text) is
  'Totals of an order with and without tax, from its lines; no row when no line has a price.';
grant execute on function ledger.order_amounts(uuid, text) to service_ledger;
--! EndIncluded ledger/order_amounts.sql
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- The wanted units and the stored units form two rulers, side by side. Where stretches of both overlap,
  -- these units go to that line.
  return array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        sum(p.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p where p.place is null and p.product_id is not null
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    lying as (
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type,
        s.quantity, b."position", b.code, a.is_batch_managed
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id
        and s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
      left join erp.bin_location b on b.id = s.bin_location_id
      where coalesce(s.warehouse_id, b.warehouse_id) = w.warehouse_id
    ),
    pile as (
      select l.*, b.batch_id, b.quantity as units from lying l join ledger.batch_stock b on b.stock_id = l.id
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0)
      from lying l where not l.is_batch_managed
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity_left
      from pile p
      left join named n on n.product_id = p.product_id and n.place = p.place
        and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity_left) over (
        partition by f.product_id, f.warehouse_id
        order by case when f.is_batch_managed then f.batch_id end, f.place_type = 'warehouse',
          f."position" nulls last, f.code, f.batch_id nulls first
        rows unbounded preceding) as upto
      from free f where f.quantity_left > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity_left),
      o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity_left < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.pick_units(ledger.pick[]) is
  'Where the units lie that are to be picked: of the picks that name no place, in the order of '
  'ledger.ship. Fewer when there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/pick_units.sql
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
--! Included ledger/place_of.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.place_of(warehouse_id uuid, bin_location_id uuid)
returns table (type text, place text)
language sql immutable
begin atomic
  select case when place_of.warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce(place_of.warehouse_id, place_of.bin_location_id)::text;
end;
comment on function ledger.place_of(uuid, uuid) is
  'Kind and key (see ledger.stock.place) of the place that is a warehouse or a bin.';
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer;
--! EndIncluded ledger/place_of.sql
--! Included ledger/plain_place.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean,
  held ledger.warehouse_stock, configuration_id uuid, place_configuration_id uuid
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h, c.id, l.id
  from ledger.stock s
  join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  left join erp.product_warehouse_configuration c
    on c.product_id = s.product_id and c.warehouse_id = h.warehouse_id
  left join erp.product_stock_location_configuration l on l.product_id = s.product_id
    and coalesce(l.warehouse_id, l.bin_location_id) = coalesce(s.warehouse_id, s.bin_location_id)
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
    and case when plain_place.comes
      then not exists (select from erp.product v where v.parent_id = plain_place.product_id)
      else not exists (select from ledger.batch_stock b where b.stock_id = s.id) end
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_place.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'What a correction of stock changes: the stock of a product in a warehouse or bin, and in a special '
  'place, and the figures that follow. No row when rows are missing or there is something to be seen to: '
  'batches, variants that units come to, or counts from a moment on, if one is given. The product is '
  'locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz) to service_booker;
--! EndIncluded ledger/plain_place.sql
--! Included ledger/plain_singles.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_singles(singles ledger.single[], moment timestamptz)
returns table (
  nth integer, draft ledger.draft, note text, cause jsonb, change integer, stock ledger.stock,
  special_id uuid, product erp.product, held_id uuid, configuration_id uuid, place_configuration_id uuid,
  not_for_sale integer, stock_change bigint, product_change bigint, not_for_sale_change bigint
)
language sql stable
begin atomic
  select j.nth, j.draft, j.note, j.cause, j.change, j.stock, j.special_id, j.product, (j.held).id,
    j.configuration_id, j.place_configuration_id, j.not_for_sale, j.stock_change, j.product_change,
    j.not_for_sale_change
  from (
    select r.*,
      bool_and(coalesce(
        r.change <> 0 and (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- A warning is due, unless units come
        and (r.change > 0 or (r.held).available_quantity + r.held_change >= 0
          and (r.product).available_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.draft).product_id order by r.nth) as is_plain
    from (
      select c.nth, c.draft, c.note, c.cause, x.change, p.*,
        case when p.is_for_sale then 0 else x.change end as not_for_sale,
        sum(x.change) over (partition by (c.draft).product_id, x.place order by c.nth) as stock_change,
        sum(x.change) over (partition by (c.draft).product_id order by c.nth) as product_change,
        sum(x.change) over (partition by (p.held).id order by c.nth) as held_change,
        sum(case when p.is_for_sale then 0 else x.change end)
          over (partition by (c.draft).product_id order by c.nth) as not_for_sale_change
      from unnest(singles) c
      cross join lateral (select (c.draft).source_type = 'special_stock_location') d (comes)
      cross join lateral (
        select case when d.comes then (c.draft).destination else (c.draft).source end,
          case when d.comes then (c.draft).source else (c.draft).destination end,
          case when d.comes then (c.draft).quantity else - (c.draft).quantity end
      ) x (place, special_place, change)
      left join lateral ledger.plain_place((c.draft).product_id, x.place, x.special_place, d.comes,
        case when not ledger.is_count((c.draft).process, (c.draft).source, (c.draft).destination)
          then moment end) p on true
    ) r
  ) j
  where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Of bookings of one correction each, those that ledger.plain_place finds plain, that leave enough, and '
  'that no earlier one of the same product stands in the way of; with what they change, by themselves and '
  'together with the earlier ones. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz) to service_booker;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/post.sql
create or replace function ledger.post(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(drafts);
  return ledger.book(drafts, note, others);
end
$$;
comment on function ledger.post(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements: takes the locks, then does what ledger.book does. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text, ledger.figure_change[])');
select api_meta.give('ledger.post(ledger.draft[], text, ledger.figure_change[])', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text, ledger.figure_change[]) to service_writer;
--! EndIncluded ledger/post.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named record;
  are_found boolean;
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
    and lines[1].expected_quantity is null then
    if not ledger.lock_line(lines[1]) then
      perform ledger.check_references(lines, ledger.named_places(lines, operation));
    end if;
    return;
  end if;

  select array_agg(distinct l.product_id) as products, bool_or(l.batch_id is not null) as batches,
    bool_or(l.expected_quantity is not null) as expectations,
    array_agg(distinct p.warehouse_id) filter (where p.warehouse_id is not null) as warehouses,
    coalesce(array_agg(distinct p.bin_id) filter (where p.bin_id is not null), '{}') as bins
  into named
  from unnest(lines) l
  cross join lateral (values (l.source_warehouse_id, l.source_bin_location_id),
    (l.destination_warehouse_id, l.destination_bin_location_id)) p (warehouse_id, bin_id);
  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  are_found := ledger.lock(named.products, array(
    select n.id from unnest(named.warehouses) n (id)
    union select b.warehouse_id from erp.bin_location b where b.id = any (named.bins)
  ), named.bins);
  if not are_found or named.batches then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if named.expectations then
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
--! Included ledger/product_after.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.product_after(product erp.product, change bigint, not_for_sale bigint)
returns erp.product
language sql stable
return jsonb_populate_record(product, jsonb_build_object(
  'physical_stock', (product).physical_stock + change,
  'stock_not_available_for_sale', (product).stock_not_available_for_sale + not_for_sale,
  'available_stock', (product).available_stock + change - not_for_sale));
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'A product as it is when its stock has changed, and the part of it that is not for sale.';
grant execute on function ledger.product_after(erp.product, bigint, bigint) to service_booker;
--! EndIncluded ledger/product_after.sql
--! Included ledger/promises_kept.sql
create or replace function ledger.promises_kept(picks ledger.pick[], assigned uuid[])
returns ledger.figure_change[]
language sql stable
begin atomic
  with line as materialized (
    select l.*, p.quantity as units from unnest(picks) p
    join erp.fulfillment_order_line_item l on l.id = p.line_id
  )
  select array(
    select row (l.product_id, w.warehouse_id, - l.units, 0, 0)::ledger.figure_change
    from line l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    join erp.location w on w.id = f.source_warehouse_location_id
    where l.product_id is not null and w.warehouse_id is not null
      and f.state in ('Open', 'InProgress', 'OnHold') and f.id <> all (assigned)
    union all
    -- More than is ordered will be refused when it is written down
    select row (s.product_id, null, 0,
      - least(sum(l.units), s.quantity - s.shipped_quantity), 0)::ledger.figure_change
    from line l join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
    join erp.sales_order o on o.id = s.order_id
    where s.product_id is not null and o.state in ('open', 'in_progress') group by s.id
  );
end;
comment on function ledger.promises_kept(ledger.pick[], uuid[]) is
  'What is promised and reserved no longer when picks are shipped: fulfillment orders of them, save those '
  'that were assigned for the purpose and so have promised nothing, and orders.';
grant execute on function ledger.promises_kept(ledger.pick[], uuid[]) to service_ledger;
--! EndIncluded ledger/promises_kept.sql
--! Included ledger/promises_of.sql
create or replace function ledger.promises_of(changes ledger.change[]) returns ledger.change[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.location l
  where l.id in (
    select f.source_warehouse_location_id
    from unnest(changes) c
    join erp.fulfillment_order f on f.id = c.owner_id
  )
  order by l.id for key share;
  return array(
    select row (w.warehouse_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c
    join erp.fulfillment_order f on f.id = c.owner_id
    join erp.location w on w.id = f.source_warehouse_location_id
    where f.state in ('Open', 'InProgress', 'OnHold') and w.warehouse_id is not null
    group by w.warehouse_id, c.item_id having sum(c.quantity) <> 0);
end
$$;
comment on function ledger.promises_of(ledger.change[]) is
  'Turns changes of fulfillment orders into those of their warehouses. What is closed or cancelled '
  'promises nothing.';
grant execute on function ledger.promises_of(ledger.change[]) to service_ledger;
--! EndIncluded ledger/promises_of.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the books are right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
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
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
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
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
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
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Every stored figure that differs from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all bookings of these products, because they are locked
  moment constant timestamptz := clock_timestamp();
begin
  if exists (
    select from unnest(lines) l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    where not exists (select from ledger.stock s where s.product_id = l.product_id and s.place = p.place)
  ) then
    insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id)
    select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
    order by min(l.ordinality)
    on conflict (product_id, place) do nothing;
  end if;

  return array(
    select row (l.ordinality, s.id, p.type, p.place, l.product_id, l.batch_id, l.quantity,
      case when l.counted_at is null then greatest(moment, newer.counted_at) else l.counted_at end,
      case when l.counted_at is null then 0
        when newer.counted_at is null
          then ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end,
      case when l.batch_id is null then s.quantity else coalesce((
        select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = l.batch_id
      ), 0) end,
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
  'What lines of stockSet say, beside what the books do. The products are locked. Stock that is counted '
  'for the first time has a row from now on, be it of 0 units.';
grant execute on function ledger.read_counts(ledger.line[]) to service_ledger;
--! EndIncluded ledger/read_counts.sql
--! Included ledger/require_batches.sql
create or replace function ledger.require_batches(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('BATCH_REQUIRED',
    format('Product %s is kept in batches: name one.', p.product_number),
    trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
  into errors
  from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
  where p.is_batch_managed and d.batch_id is null;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_batches(ledger.draft[]) is
  'Refuses movements of products that are kept in batches but name none. User error BATCH_REQUIRED.';
grant execute on function ledger.require_batches(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_batches.sql
--! Included ledger/require_empty_place.sql
create or replace function ledger.require_empty_place() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  held bigint;
begin
  if tg_table_name = 'warehouse' then
    select sum(s.quantity) into held from ledger.warehouse_stock s where s.warehouse_id = old.id;
  else
    select sum(s.quantity) into held from ledger.stock s where s.bin_location_id = old.id;
  end if;
  if held > 0 then
    perform mutation.refuse('WAREHOUSE_NOT_EMPTY', format('%s %s still holds stock: %s units.',
      case tg_table_name when 'warehouse' then 'Warehouse' else 'Bin' end, old.code, held), null,
        jsonb_build_object('quantity', held));
  end if;
  return coalesce(new, old);
end
$$;
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse or a bin that holds stock, and to move such a bin to another '
  'warehouse.';
--! EndIncluded ledger/require_empty_place.sql
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Inserted history keeps its own time
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t)
    into new.created_at, new.microseconds
    from clock_timestamp() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id,
    new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id,
        new.source_special_stock_location_technical_name)
        <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger',
        table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: leave the id out, and ask for it by returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  -- First the number, then the id, and never the other way round
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := ledger.next_movement_id();
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: a new movement names both its places, has the present moment unless it brings one, and gets '
  'its transaction and its id (ledger.next_movement_id). A constraint can''t ask for the places, for the '
  'id becomes null when the place is deleted.';
--! EndIncluded ledger/require_movement_places.sql
--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Usually there are enough
  if (select sum(w.quantity) from unnest(picks) w where w.place is null and w.product_id is not null)
    is not distinct from (select sum(f.quantity) from unnest(found_units) f) then
    return;
  end if;
  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format(
      'Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested
    ),
    picks[t.line].field,
    jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number
    )) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce(
          (select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0
        ) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. User error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included ledger/require_stock.sql
create or replace function ledger.require_stock(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- The stock of each place, and its change by all lines together, so that their order does not matter.
  with flow as (
    select d.product_id, d.source as place, d.batch_id, - d.quantity as change, d.ordinality as line
    from unnest(drafts) with ordinality d where d.source_type <> 'special_stock_location'
    union all
    select d.product_id, d.destination, d.batch_id, d.quantity, d.ordinality
    from unnest(drafts) with ordinality d where d.destination_type <> 'special_stock_location'
  ),
  place as (
    select f.*, coalesce(s.quantity, 0) as quantity,
      coalesce(s.quantity, 0)
        - coalesce(
          (select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0
        ) as loose_quantity
    from (
      select flow.product_id, flow.place, sum(flow.change) as change,
        min(flow.line) filter (where flow.change < 0) as line,
        coalesce(sum(flow.change) filter (where flow.batch_id is null), 0) as loose_change,
        min(flow.line) filter (where flow.change < 0 and flow.batch_id is null) as loose_line
      from flow group by flow.product_id, flow.place having bool_or(flow.change < 0)
    ) f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  ),
  batch as (
    select f.product_id, f.place, sum(f.change) as change, coalesce(max(b.quantity), 0) as quantity,
      min(f.line) filter (where f.change < 0) as line
    from flow f left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
    left join ledger.batch_stock b on b.stock_id = s.id and b.batch_id = f.batch_id
    where f.batch_id is not null
    group by f.product_id, f.place, f.batch_id having coalesce(max(b.quantity), 0) + sum(f.change) < 0
  ),
  lacking (line, error) as (
    select p.line,
      mutation.user_error('INSUFFICIENT_STOCK',
        format('The place holds %s units of the product, %s are needed.', p.quantity, - p.change),
      drafts[p.line].field, jsonb_build_object('available', p.quantity, 'requested', - p.change))
    from place p where p.quantity + p.change < 0
    union all
    select b.line,
      mutation.user_error('INSUFFICIENT_STOCK',
        format('The place holds %s units of the batch, %s are needed.', b.quantity, - b.change),
      drafts[b.line].field, jsonb_build_object('available', b.quantity, 'requested', - b.change))
    from batch b
    join place p on p.product_id = b.product_id and p.place = b.place
    where p.quantity + p.change >= 0
    union all
    select p.loose_line,
      mutation.user_error('BATCH_REQUIRED', 'What lies there belongs to batches: name one.',
      trim_array(drafts[p.loose_line].field, 1) || '{batch_id}')
    from place p
    where p.quantity + p.change >= 0 and p.loose_change < 0 and p.loose_quantity + p.loose_change < 0
  )
  select jsonb_agg(lacking.error order by lacking.line) into errors from lacking;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_stock(ledger.draft[]) is
  'Refuses movements that would leave a real place with less than nothing of a product or of a batch. '
  'The locks have been taken. User errors INSUFFICIENT_STOCK, BATCH_REQUIRED.';
grant execute on function ledger.require_stock(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_stock.sql
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  booking ledger.booking;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    mutation.path('lines', r.line, 'quantity'),
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  booking := ledger.book(array(
    select case when d.difference > 0
      then row (d.field, r.product_id, d.difference, r.batch_id,
        'special_stock_location', 'stock_correction', r.place_type, r.place, 'api')::ledger.draft
      else row (d.field, r.product_id, - d.difference, r.batch_id,
        r.place_type, r.place, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    end
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  ), note);
  perform ledger.note_counts(readings, booking.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since. This count was kept, and changes nothing.',
    mutation.path('lines', r.line, 'counted_at'),
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- The result includes stock that was right already
  booking.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booking;
end
$$;
comment on function ledger.set_stock(ledger.line[], text) is
  'Sets stock to what was counted: books the difference against stock_correction. With counted_at, what '
  'was booked after that moment stays on top of the count; a count that is older than one that is known '
  'changes nothing, and is told by the warning COUNT_SUPERSEDED.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text)');
select api_meta.give('ledger.set_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/set_stock.sql
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], note text, out stock_movements uuid[],
  out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_units ledger.pick[];
begin
  found_units := ledger.pick_units(picks);
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.book(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      'api_shipping'
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note, ledger.promises_kept(picks, assigned))).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text) is
  'Books units out to an order, and ends what was promised of them; fulfillment orders that were assigned '
  'for the purpose have promised nothing. What names no place is picked: the bins of the warehouse by '
  'their position, then by code, and at last what lies in no bin; of products that are kept in batches the '
  'oldest batch first. Answers the movements, and for each the line that it is for. ledger.lock_shipment '
  'comes first. User error INSUFFICIENT_STOCK, and those of ledger.book.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], uuid[], text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], uuid[], text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], uuid[], text) to service_writer;
--! EndIncluded ledger/ship.sql
--! Included ledger/take_back.sql
create or replace function ledger.take_back(fulfillment_id uuid, note text) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.lock_way_back(fulfillment_id);
  if exists (
    select from erp.fulfillment_line_item l
    where l.fulfillment_id = take_back.fulfillment_id and l.product_id is not null
      and l.quantity <> coalesce((
      select sum(m.quantity)
      from erp.fulfillment_stock_movement k
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where k.fulfillment_line_item_id = l.id), 0)
  ) then
    perform mutation.refuse(
      'INVALID', 'The books do not say where its units came from, so they cannot go back there.', '{id}'
    );
  end if;
  drafts := array(
    select row ('{id}', m.product_id, u.quantity, u.batch_id, 'order', m.destination_order_id::text,
      case when m.source_bin_location_id is null then 'warehouse' else 'bin_location' end,
      coalesce(m.source_bin_location_id, m.source_warehouse_id, w.warehouse_id)::text,
        'cancelled_fulfillment')::ledger.draft
    from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    left join erp.location w on w.id = f.source_warehouse_location_id
    join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
    join ledger.stock_movement m on m.id = k.stock_movement_id
    cross join lateral (
      select b.batch_id, b.quantity from ledger.stock_movement_batch b where b.stock_movement_id = m.id
      union all
      select null, m.quantity - coalesce(sum(b.quantity), 0)
      from ledger.stock_movement_batch b
      where b.stock_movement_id = m.id
    ) u
    where l.fulfillment_id = take_back.fulfillment_id and u.quantity > 0
    order by l.id, m.id, u.batch_id
  );
  if exists (select from unnest(drafts) d where d.source is null) then
    perform mutation.refuse(
      'INVALID', 'Its order has been deleted, so nothing can come back from there.', '{id}'
    );
  elsif exists (select from unnest(drafts) d where d.destination is null) then
    perform mutation.refuse('INVALID', 'The warehouse that its units came from has been deleted.', '{id}');
  end if;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function ledger.take_back(uuid, text) is
  'Books the units of a fulfillment back from the order to where each came from. What came from a bin '
  'that is gone comes to the part of the warehouse that has no bin. Answers the movements. User error '
  'INVALID, and those of ledger.post.';
select api_meta.plan_by_index('ledger.take_back(uuid, text)');
select api_meta.give('ledger.take_back(uuid, text)', 'service_ledger');
grant execute on function ledger.take_back(uuid, text) to service_writer;
--! EndIncluded ledger/take_back.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(lines ledger.line[], note text) returns ledger.booking
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.book(array(
    select row (mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity, l.batch_id,
      s.type, s.place, d.type, d.place,
      'api_relocation')::ledger.draft
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id) d
    order by l.ordinality
  ), note);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text) is
  'Moves stock from one warehouse or bin to another.';
select api_meta.plan_by_index('ledger.transfer_stock(ledger.line[], text)');
select api_meta.give('ledger.transfer_stock(ledger.line[], text)', 'service_ledger');
grant execute on function ledger.transfer_stock(ledger.line[], text) to service_writer;
--! EndIncluded ledger/transfer_stock.sql
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Shipped units were promised; the promises end with them
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- The figures are those after the booking. Usually none is below 0, and nothing is to be done.
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
    from change c
    join ledger.warehouse_stock s on s.product_id = c.product_id and s.warehouse_id = c.warehouse_id
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
    -- One warning for each product: a shortage of the whole product makes those of its warehouses redundant
    select short.*,
      bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns of movements, which have been booked, that took away what orders are waiting for: the '
  'available stock of the product, or of a warehouse, is below 0 and lower than before. Warning '
  'STOCK_PROMISED, one for the product, or one for each warehouse that is short while the product is '
  'not.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql
--! Included ledger/write_batch_figures.sql
create or replace function ledger.write_batch_figures(legs ledger.leg[])
returns table (batch_id uuid, stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  today constant timestamptz := date_trunc('second', now());
begin
  return query
  with flow as materialized (
    select s.id as stock_id, l.batch_id, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.place_type in ('warehouse', 'bin_location')), 0) as held,
      min(l.booked_at) filter (where not l.is_count) as moved_at
    from unnest(legs) l
    join ledger.stock s on s.product_id = l.product_id and s.place = l.place
    where l.batch_id is not null and l.place_type <> 'special_stock_location'
    group by s.id, l.batch_id
  ),
  opened as (
    insert into ledger.batch_stock (stock_id, batch_id, quantity)
    select f.stock_id, f.batch_id, f.change from flow f
    where not exists (
      select from ledger.batch_stock b where b.stock_id = f.stock_id and b.batch_id = f.batch_id)
    order by f.position
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id and f.change <> 0
  ),
  in_batch as (
    update erp.batch b set physical_stock = b.physical_stock + h.change, updated_at = today
    from (
      select flow.batch_id, sum(flow.held)::bigint as change, min(flow.position) as position
      from flow group by flow.batch_id having sum(flow.held) <> 0
    ) h
    where b.id = h.batch_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_batch b cross join lateral events.batch_update_events(b.o, b.n) e order by b.position
  )
  select f.batch_id, array_agg(f.stock_id) from flow f
  where exists (
    select from ledger.stock_count c
    where c.stock_id = f.stock_id and c.counted_at >= f.moved_at
      and c.batch_id = f.batch_id and c.difference is not null)
  group by f.batch_id;
end
$$;
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Brings the stock of batches up to date with movements, in each place and altogether, and tells of it. '
  'Answers the batches that were counted, as is known, after the moment of a leg, and in which stock.';
select api_meta.plan_by_index('ledger.write_batch_figures(ledger.leg[])');
select api_meta.give('ledger.write_batch_figures(ledger.leg[])', 'service_booker');
grant execute on function ledger.write_batch_figures(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/write_batch_figures.sql
--! Included ledger/write_batches.sql
create or replace function ledger.write_batches(drafts ledger.draft[], movement_ids uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select movement_ids[d.ordinality], d.batch_id, d.quantity
  from unnest(drafts) with ordinality d
  where d.batch_id is not null order by d.ordinality;
end
$$;
comment on function ledger.write_batches(ledger.draft[], uuid[]) is
  'Notes which batches movements moved. Only for ledger.book.';
select api_meta.plan_by_index('ledger.write_batches(ledger.draft[], uuid[])');
select api_meta.give('ledger.write_batches(ledger.draft[], uuid[])', 'service_booker');
grant execute on function ledger.write_batches(ledger.draft[], uuid[]) to service_ledger;
--! EndIncluded ledger/write_batches.sql
--! Included ledger/write_configured_figures.sql
create or replace function ledger.write_configured_figures(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
begin
  with in_place as (
    update erp.product_stock_location_configuration s set stock = s.stock + c.change, updated_at = today
    from unnest(changes) c
    where s.product_id = c.product_id and coalesce(s.warehouse_id, s.bin_location_id)::text = c.place
      and c.change <> 0
  )
  update erp.product_warehouse_configuration s set stock = s.stock + h.change, updated_at = today
  from (
    select c.product_id, c.warehouse_id, sum(c.change)::bigint as change
    from unnest(changes) c where c.warehouse_id is not null
    group by c.product_id, c.warehouse_id having sum(c.change) <> 0
  ) h
  where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id;
end
$$;
comment on function ledger.write_configured_figures(ledger.place_change[]) is
  'Brings the stock up to date that configurations of products have. Only for ledger.write_figures.';
grant execute on function ledger.write_configured_figures(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/write_configured_figures.sql
--! Included erp/delivery.sql
drop type if exists erp.delivery cascade;
create type erp.delivery as (
  supplier_order_line_item_id uuid, supplier_order_id uuid, product_id uuid, received integer,
  arrives boolean, new_state text, is_complete boolean, awaited integer
);
comment on type erp.delivery is
  'What becomes of a line of a supplier order when a goods receipt is completed: its received quantity, '
  'whether units of it arrive, the new state of its order and whether all of that has arrived, and by how '
  'much less, or more, of its product is awaited.';
--! EndIncluded erp/delivery.sql
--! Included ledger/write_deliveries.sql
create or replace function ledger.write_deliveries(deliveries erp.delivery[], moment timestamptz)
returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update erp.supplier_order_line_item i
  set received_quantity = d.received,
    actual_delivery_date = case when d.received >= i.quantity
      then coalesce(i.actual_delivery_date, moment) end
  from unnest(deliveries) d where d.arrives and i.id = d.supplier_order_line_item_id;
end;
comment on function ledger.write_deliveries(erp.delivery[], timestamptz) is
  'Writes down what has been received of lines of supplier orders. Only for erp.complete_goods_receipt, '
  'which has booked what is awaited less.';
select api_meta.plan_by_index('ledger.write_deliveries(erp.delivery[], timestamptz)');
select api_meta.give('ledger.write_deliveries(erp.delivery[], timestamptz)', 'service_booker');
grant execute on function ledger.write_deliveries(erp.delivery[], timestamptz) to service_writer;
--! EndIncluded ledger/write_deliveries.sql
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
--! Included ledger/write_singles.sql
create or replace function ledger.write_singles(singles ledger.single[])
returns table (nth integer, movement_id uuid, stock_id uuid)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  moment constant timestamptz := clock_timestamp();
  today constant timestamptz := date_trunc('second', now());
  -- First the number of the transaction, then ids (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  ids constant uuid[] := array(
    select ledger.next_movement_id() as id from generate_subscripts(singles, 1) order by id);
begin
  return query
  with plain as materialized (
    select s.*, ids[row_number() over (order by s.nth)] as id from ledger.plain_singles(singles, moment) s
  ),
  booked as (
    insert into ledger.stock_movement
    select (m.movement).* from (
      select ledger.movement_of(p.draft, moment, p.note, p.id) as movement
      from plain p order by p.nth offset 0
    ) m
    returning stock_movement as n
  ),
  in_places as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from (
      select x.id, sum(x.change)::integer as change
      from plain p cross join lateral (
        values ((p.stock).id, p.change), (p.special_id, - p.change)) x (id, change)
      group by x.id
    ) c where s.id = c.id
  ),
  in_warehouses as (
    update ledger.warehouse_stock s set quantity = s.quantity + c.change, updated_at = today
    from (select p.held_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where s.id = c.id
  ),
  in_products as (
    update erp.product p set physical_stock = p.physical_stock + c.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + c.not_for_sale
    from (
      select (p.product).id, sum(p.change)::integer as change, sum(p.not_for_sale)::integer as not_for_sale
      from plain p group by (p.product).id
    ) c where p.id = c.id
  ),
  configured as (
    update erp.product_warehouse_configuration t set stock = t.stock + c.change, updated_at = today
    from (select p.configuration_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where t.id = c.id
  ),
  configured_places as (
    update erp.product_stock_location_configuration t set stock = t.stock + c.change, updated_at = today
    from (select p.place_configuration_id as id, sum(p.change)::integer as change from plain p group by 1) c
    where t.id = c.id
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, p.cause
    from plain p join booked b on (b.n).id = p.id
    cross join lateral ledger.events_of_single(b.n, p.stock, p.product, p.change, p.not_for_sale,
      p.stock_change, p.product_change, p.not_for_sale_change, today) e
    order by p.nth, e.position
  )
  select p.nth, p.id, (p.stock).id from plain p;
end
$$;
comment on function ledger.write_singles(ledger.single[]) is
  'Books bookings of one correction each together: what ledger.book_correction does, with events and '
  'figures in them as if one had been booked after the other. Answers those that were booked; of the others '
  'nothing is. The locks have been taken.';
select api_meta.plan_by_index('ledger.write_singles(ledger.single[])');
select api_meta.give('ledger.write_singles(ledger.single[])', 'service_booker');
grant execute on function ledger.write_singles(ledger.single[]) to service_ledger;
--! EndIncluded ledger/write_singles.sql
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

create trigger require_empty_place before delete on erp.bin_location
  for each row execute function ledger.require_empty_place();
create trigger require_empty_place_before_move before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.require_empty_place();
create trigger keep_figures_after_insert after insert on erp.document
  referencing new table as new_rows for each statement execute function ledger.keep_cancellations();
create trigger keep_figures_after_update after update on erp.fulfillment
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_figures();
create trigger keep_figures_before_delete before delete on erp.fulfillment
  for each row execute function ledger.keep_fulfillment_figures();
create trigger keep_figures_after_delete after delete on erp.fulfillment_line_item
  referencing old table as old_rows
  for each statement execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_insert after insert on erp.fulfillment_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_fulfillment_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_figures();
create trigger keep_figures_before_delete before delete on erp.fulfillment_order
  for each row execute function ledger.keep_fulfillment_order_figures();
create trigger keep_figures_after_delete after delete on erp.fulfillment_order_line_item
  referencing old table as old_rows
  for each statement execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_insert after insert on erp.fulfillment_order_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_update after update on erp.fulfillment_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_fulfillment_order_line_figures();
create trigger keep_figures_after_update after update on erp.invoice
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_invoice_figures();
create trigger keep_figures_before_delete before delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();
create trigger keep_figures_after_delete after delete on erp.invoice_line_item
  referencing old table as old_rows for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_insert after insert on erp.invoice_line_item
  referencing new table as new_rows for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_update after update on erp.invoice_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_invoice_line_figures();
create trigger keep_figures_after_move after update of warehouse_id on erp.location
  for each row when (old.warehouse_id is distinct from new.warehouse_id)
  execute function ledger.keep_location_figures();
create trigger keep_figures_before_delete before delete on erp.location
  for each row execute function ledger.keep_location_figures();
create trigger keep_figures before insert on erp.product_stock_location_configuration
  for each row execute function ledger.fill_configured_stock();
create trigger keep_figures before insert on erp.product_warehouse_configuration
  for each row execute function ledger.fill_configured_stock();
create trigger keep_figures_after_update after update on erp.sales_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_order_figures();
create trigger keep_figures_before_delete before delete on erp.sales_order
  for each row execute function ledger.keep_order_figures();
create trigger keep_figures_of_tax before update of tax_status on erp.sales_order
  for each row when (old.tax_status <> new.tax_status) execute function ledger.keep_order_amounts();
create trigger keep_figures_of_tracking before insert or update of tracking_codes,
  entered_tracking_codes on erp.sales_order
  for each row
  execute function ledger.keep_tracking_codes();
create trigger keep_figures_after_delete after delete on erp.sales_order_line_item
  referencing old table as old_rows for each statement execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_insert after insert on erp.sales_order_line_item
  referencing new table as new_rows for each statement execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_update after update on erp.sales_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_order_line_figures();
create trigger keep_figures_after_delete after delete on erp.shipping_label
  referencing old table as old_rows for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_after_insert after insert on erp.shipping_label
  referencing new table as new_rows for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_after_update after update on erp.shipping_label
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_label_figures();
create trigger keep_figures_on_update after update on erp.supplier_order
  referencing old table as gone new table as changed
  for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_delete after delete on erp.supplier_order_line_item
  referencing old table as gone for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_insert after insert on erp.supplier_order_line_item
  referencing new table as changed for each statement execute function ledger.keep_purchase_figures();
create trigger keep_figures_on_update after update on erp.supplier_order_line_item
  referencing old table as gone new table as changed for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_purchase_figures();
create trigger keep_figures after update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale)
  execute function ledger.keep_saleable_stock();
create trigger keep_figures_first before update of is_stock_available_for_sale on erp.warehouse
  for each row when (old.is_stock_available_for_sale <> new.is_stock_available_for_sale)
  execute function ledger.keep_saleable_stock();
create trigger require_empty_place before delete on erp.warehouse
  for each row execute function ledger.require_empty_place();
create trigger keep_figures after insert on ledger.stock_movement referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text) execute function ledger.keep_figures();
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (current_user <> 'service_booker'::text and new.process_type_technical_name in ('api', 'stocktaking'))
  execute function ledger.keep_count();
create trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row when (current_user <> 'service_booker'::text)
  execute function ledger.require_movement_places();
create trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_batch_figures();

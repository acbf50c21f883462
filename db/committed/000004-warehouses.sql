--! Previous: sha1:1a065fc9f1f015bb4de5479c315cda2fdf332658
--! Hash: sha1:14918ac78071a54c8f09bb26132ca007c4b1029e
--! Message: warehouses

create table erp.warehouse (
  id uuid primary key default uuidv7(),
  code text collate "C" not null constraint warehouse_code_is_unique unique
    constraint warehouse_code_is_not_blank check (not erp.is_blank(code)),
  name text collate "C" not null constraint warehouse_name_is_not_blank check (not erp.is_blank(name)),
  is_default boolean not null default false,
  is_default_receiving boolean not null default false,
  is_stock_available_for_sale boolean not null default true,
  address jsonb constraint warehouse_address_is_an_object check (jsonb_typeof(address) = 'object'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint warehouse_code_is_not_too_long check (length(code) <= 100),
  constraint warehouse_name_is_not_too_long check (length(name) <= 255)
);
create unique index warehouse_is_default_once on erp.warehouse (is_default) where is_default;
create unique index warehouse_is_default_receiving_once
  on erp.warehouse (is_default_receiving) where is_default_receiving;
alter table erp.warehouse enable row level security;
comment on table erp.warehouse is
  'Buildings that hold stock. One is the default, one the default for receiving.';
comment on column erp.warehouse.code is 'Short name used in lists and on labels; unique.';
comment on column erp.warehouse.name is 'Name of the warehouse.';
comment on column erp.warehouse.is_default is
  'Whether orders are fulfilled from here unless something else says otherwise. Exactly one warehouse '
  'is the default.';
comment on column erp.warehouse.is_default_receiving is
  'Whether goods are received here unless something else says otherwise. Exactly one warehouse is.';
comment on column erp.warehouse.is_stock_available_for_sale is
  'Whether the stock here may be sold. When false, it counts as stock not available for sale.';
comment on column erp.warehouse.address is
  'Postal address, with the keys of FulfillmentOrder.shippingAddress.';
comment on constraint warehouse_address_is_an_object on erp.warehouse is
  E'@userError INVALID address\nThe address must be a JSON object.';
comment on constraint warehouse_code_is_not_blank on erp.warehouse is
  E'@userError INVALID code\nThe code is blank.';
comment on constraint warehouse_code_is_not_too_long on erp.warehouse is
  E'@userError OUT_OF_RANGE code\nThe code has more than 100 characters.';
comment on constraint warehouse_code_is_unique on erp.warehouse is
  E'@userError NOT_UNIQUE code\nAnother warehouse has this code.';
comment on constraint warehouse_name_is_not_blank on erp.warehouse is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint warehouse_name_is_not_too_long on erp.warehouse is
  E'@userError OUT_OF_RANGE name\nThe name has more than 255 characters.';
create trigger touch_updated_at before update on erp.warehouse
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.warehouse', 'select', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.warehouse',
  'select', 'insert',
  'update (code, name, is_default, is_default_receiving, is_stock_available_for_sale, address)', 'delete');

create table erp.location (
  id uuid primary key default uuidv7(),
  name text collate "C" not null,
  active boolean not null default true,
  warehouse_id uuid
    constraint location_has_one_per_warehouse unique references erp.warehouse on delete cascade,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.location enable row level security;
comment on table erp.location is
  'Places that orders are fulfilled from: one of the warehouses, or a place that only the storefront '
  'platform knows.';
comment on column erp.location.name is 'Name of the location.';
comment on column erp.location.active is 'Whether orders may be assigned to it.';
comment on column erp.location.warehouse_id is
  'Warehouse behind the location; null when the system does not manage it.';
comment on column erp.location.storefront_id is
  'Id of the location in the external storefront platform; null when it is not mapped.';
create trigger touch_updated_at before update on erp.location
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.location', 'select', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.location', 'select', 'insert', 'update (name)');

create table erp.bin_location (
  id uuid primary key default uuidv7(),
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  code text collate "C" not null constraint bin_location_code_is_not_blank check (not erp.is_blank(code)),
  position integer,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint bin_location_code_is_unique_per_warehouse unique (warehouse_id, code),
  constraint bin_location_and_warehouse_belong_together unique (warehouse_id, id),
  constraint bin_location_code_is_not_too_long check (length(code) <= 100)
);
create index bin_location_code_id_idx on erp.bin_location (code, id);
alter table erp.bin_location enable row level security;
comment on table erp.bin_location is 'Smallest places in a warehouse that have an address of their own.';
comment on column erp.bin_location.warehouse_id is 'Warehouse that the bin is in.';
comment on column erp.bin_location.code is 'Label of the bin, unique in its warehouse.';
comment on column erp.bin_location."position" is 'Place on the pick route; lower is visited first.';
comment on constraint bin_location_code_is_not_blank on erp.bin_location is
  E'@userError INVALID code\nThe code is blank.';
comment on constraint bin_location_code_is_not_too_long on erp.bin_location is
  E'@userError OUT_OF_RANGE code\nThe code has more than 100 characters.';
comment on constraint bin_location_code_is_unique_per_warehouse on erp.bin_location is
  E'@userError NOT_UNIQUE code\nAnother bin of the warehouse has this code.';
create trigger touch_updated_at before update on erp.bin_location
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.bin_location', 'select', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.bin_location',
  'select', 'insert', 'update (code, "position")', 'delete');

create table erp.bin_location_tag (
  bin_location_id uuid not null references erp.bin_location on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (bin_location_id, tag_id)
);
create index bin_location_tag_tag_id_bin_location_id_idx on erp.bin_location_tag (tag_id, bin_location_id);
alter table erp.bin_location_tag enable row level security;
comment on table erp.bin_location_tag is 'Tags of bin locations.';

create table erp.stock_container (
  id uuid primary key default uuidv7(),
  number text collate "C" not null unique,
  warehouse_id uuid references erp.warehouse on delete set null,
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index stock_container_warehouse_id_idx on erp.stock_container (warehouse_id);
alter table erp.stock_container enable row level security;
comment on table erp.stock_container is
  'Boxes and trolleys that stock lies in while it is picked or moved. Clients know them by id only.';

create table erp.product_warehouse_configuration (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  default_bin_location_id uuid,
  reorder_point integer not null default 0
    constraint product_warehouse_configuration_reorder_point_is_not_negative check (reorder_point >= 0),
  target_maximum_quantity integer
    constraint product_warehouse_configuration_target_is_not_negative check (target_maximum_quantity >= 0),
  stock integer not null default 0,
  stock_below_reorder_point integer not null generated always as (reorder_point - stock) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_warehouse_configuration_is_unique unique (product_id, warehouse_id),
  constraint product_warehouse_configuration_bin_is_in_the_warehouse
    foreign key (warehouse_id, default_bin_location_id) references erp.bin_location (warehouse_id, id)
    on delete set null (default_bin_location_id)
);
create index product_warehouse_configurati_warehouse_id_default_bin_loca_idx
  on erp.product_warehouse_configuration (warehouse_id, default_bin_location_id);
create index product_warehouse_configuration_default_bin_location_id_id_idx
  on erp.product_warehouse_configuration (default_bin_location_id, id);
create index product_warehouse_configuration_product_id_id_idx
  on erp.product_warehouse_configuration (product_id, id);
create index product_warehouse_configuration_warehouse_id_id_idx
  on erp.product_warehouse_configuration (warehouse_id, id);
alter table erp.product_warehouse_configuration enable row level security;
comment on table erp.product_warehouse_configuration is
  'How a product is kept in a warehouse: its usual bin, and when to refill. The stock column is kept by '
  'the ledger.';
comment on column erp.product_warehouse_configuration.product_id is 'Product that the settings are for.';
comment on column erp.product_warehouse_configuration.warehouse_id is 'Warehouse that the settings hold in.';
comment on column erp.product_warehouse_configuration.default_bin_location_id is
  'Bin that the product is put in unless something else says otherwise.';
comment on column erp.product_warehouse_configuration.reorder_point is
  'Stock in the warehouse at which it is to be refilled.';
comment on column erp.product_warehouse_configuration.target_maximum_quantity is
  'Stock to fill up to; null when there is no such target.';
comment on column erp.product_warehouse_configuration.stock_below_reorder_point is
  'Reorder point less the stock in the warehouse; zero or negative when there is enough.';
comment on constraint
  product_warehouse_configuration_bin_is_in_the_warehouse on erp.product_warehouse_configuration is
  E'@userError INVALID default_bin_location_id\nThe warehouse has no such bin.';
comment on constraint
  product_warehouse_configuration_reorder_point_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint
  product_warehouse_configuration_target_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe target must not be negative.';
create trigger touch_updated_at before update on erp.product_warehouse_configuration
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.product_warehouse_configuration', 'select', 'update (stock)');
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration',
  'select', 'insert', 'update (default_bin_location_id, reorder_point, target_maximum_quantity)');

create table erp.product_stock_location_configuration (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  reorder_point integer not null default 0
    constraint product_stock_location_configuration_reorder_point_not_negative check (reorder_point >= 0),
  target_maximum_quantity integer
    constraint product_stock_location_configuration_target_is_not_negative check (target_maximum_quantity >= 0),
  stock integer not null default 0,
  stock_below_reorder_point integer not null generated always as (reorder_point - stock) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_stock_location_configuration_has_one_place check (num_nonnulls(warehouse_id, bin_location_id) = 1),
  constraint product_stock_location_configuration_is_unique
    unique nulls not distinct (product_id, warehouse_id, bin_location_id)
);
create index product_stock_location_configuration_bin_location_id_idx
  on erp.product_stock_location_configuration (bin_location_id);
create index product_stock_location_configuration_product_id_id_idx
  on erp.product_stock_location_configuration (product_id, id);
create index product_stock_location_configuration_warehouse_id_idx
  on erp.product_stock_location_configuration (warehouse_id);
alter table erp.product_stock_location_configuration enable row level security;
comment on table erp.product_stock_location_configuration is
  'When to refill a product at one place: a bin, or the part of a warehouse that has no bin. The stock '
  'column is kept by the ledger.';
comment on column erp.product_stock_location_configuration.reorder_point is
  'Stock at the place at which it is to be refilled.';
comment on column erp.product_stock_location_configuration.target_maximum_quantity is
  'Stock to fill up to; null when there is no such target.';
comment on column erp.product_stock_location_configuration.stock_below_reorder_point is
  'Reorder point less the stock at the place; zero or negative when there is enough.';
create trigger touch_updated_at before update on erp.product_stock_location_configuration
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.product_stock_location_configuration',
  'select', 'update (stock)');

--! Previous: sha1:487b5cdd335ba51899d85ad466c46fffe2ded16a
--! Hash: sha1:629abbfbb040a0a071dedb99715b5c2ebf1a263b
--! Message: warehouse

--! split: 1-current.sql
-- Enter migration here

--! split: 0140-warehouse.sql
create table erp.warehouse (
  id uuid primary key default uuidv7(),
  code text collate "C" not null constraint warehouse_code_is_unique unique
    constraint warehouse_code_is_not_blank check (btrim(code) <> ''),
  name text collate "C" not null constraint warehouse_name_is_not_blank check (btrim(name) <> ''),
  is_default boolean not null default false,
  is_default_receiving boolean not null default false,
  is_stock_available_for_sale boolean not null default true,
  address jsonb constraint warehouse_address_is_an_object check (jsonb_typeof(address) = 'object'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create unique index warehouse_is_default_once on erp.warehouse (is_default) where is_default;
create unique index warehouse_is_default_receiving_once on erp.warehouse (is_default_receiving) where is_default_receiving;
comment on table erp.warehouse is 'Buildings that hold stock. One is the default, one the default for receiving.';
comment on column erp.warehouse.code is 'Short name used in lists and on labels; unique.';
comment on column erp.warehouse.name is 'Name of the warehouse.';
comment on column erp.warehouse.is_default is 'Whether orders are fulfilled from here unless something else says otherwise. Exactly one warehouse is the default.';
comment on column erp.warehouse.is_default_receiving is 'Whether goods are received here unless something else says otherwise. Exactly one warehouse is.';
comment on column erp.warehouse.is_stock_available_for_sale is 'Whether the stock here may be sold. When false, it counts as stock not available for sale.';
comment on column erp.warehouse.address is 'Postal address, with the keys of FulfillmentOrder.shippingAddress.';

--! Included functions/require_default_warehouse.sql
create or replace function erp.require_default_warehouse() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  if exists (select from erp.warehouse) and not (
    exists (select from erp.warehouse where is_default) and exists (select from erp.warehouse where is_default_receiving)
  ) then
    raise exception 'One warehouse must be the default, and one the default for receiving.'
      using errcode = 'integrity_constraint_violation', constraint = 'warehouse_has_its_defaults';
  end if;
  return null;
end
$$;
comment on function erp.require_default_warehouse() is
  'Constraint trigger: as soon as there are warehouses, one is the default and one the default for receiving. That no two are is a unique index.';
--! EndIncluded functions/require_default_warehouse.sql
create constraint trigger warehouse_has_its_defaults
  after insert or update or delete on erp.warehouse deferrable initially deferred
  for each row execute function erp.require_default_warehouse();

create table erp.location (
  id uuid primary key default uuidv7(),
  name text collate "C" not null,
  active boolean not null default true,
  warehouse_id uuid constraint location_has_one_per_warehouse unique references erp.warehouse on delete cascade,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
comment on table erp.location is 'Places that orders are fulfilled from: one of the warehouses, or a place that only the storefront platform knows.';
comment on column erp.location.name is 'Name of the location.';
comment on column erp.location.active is 'Whether orders may be assigned to it.';
comment on column erp.location.warehouse_id is 'Warehouse behind the location; null when the system does not manage it.';
comment on column erp.location.storefront_id is 'Id of the location in the external storefront platform; null when it is not mapped.';

create table erp.bin_location (
  id uuid primary key default uuidv7(),
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  code text collate "C" not null constraint bin_location_code_is_not_blank check (btrim(code) <> ''),
  position integer,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint bin_location_code_is_unique_per_warehouse unique (warehouse_id, code),
  constraint bin_location_and_warehouse_belong_together unique (warehouse_id, id)
);
create index on erp.bin_location (code, id);
comment on table erp.bin_location is 'Smallest places in a warehouse that have an address of their own.';
comment on column erp.bin_location.warehouse_id is 'Warehouse that the bin is in.';
comment on column erp.bin_location.code is 'Label of the bin, unique in its warehouse.';
comment on column erp.bin_location.position is 'Place on the pick route; lower is visited first.';

create table erp.bin_location_tag (
  bin_location_id uuid not null references erp.bin_location on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (bin_location_id, tag_id)
);
create index on erp.bin_location_tag (tag_id, bin_location_id);
comment on table erp.bin_location_tag is 'Tags of bin locations.';

create table erp.stock_container (
  id uuid primary key default uuidv7(),
  number text collate "C" not null unique,
  warehouse_id uuid references erp.warehouse on delete set null,
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index on erp.stock_container (warehouse_id);
comment on table erp.stock_container is 'Boxes and trolleys that stock lies in while it is picked or moved. Clients know them by id only.';

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
create index on erp.product_warehouse_configuration (product_id, id);
create index on erp.product_warehouse_configuration (warehouse_id, id);
create index on erp.product_warehouse_configuration (default_bin_location_id, id);
create index on erp.product_warehouse_configuration (warehouse_id, default_bin_location_id);
comment on table erp.product_warehouse_configuration is 'How a product is kept in a warehouse: its usual bin, and when to refill. The stock column is kept by the ledger.';
comment on column erp.product_warehouse_configuration.product_id is 'Product that the settings are for.';
comment on column erp.product_warehouse_configuration.warehouse_id is 'Warehouse that the settings hold in.';
comment on column erp.product_warehouse_configuration.default_bin_location_id is 'Bin that the product is put in unless something else says otherwise.';
comment on column erp.product_warehouse_configuration.reorder_point is 'Stock in the warehouse at which it is to be refilled.';
comment on column erp.product_warehouse_configuration.target_maximum_quantity is 'Stock to fill up to; null when there is no such target.';
comment on column erp.product_warehouse_configuration.stock_below_reorder_point is 'Reorder point less the stock in the warehouse; zero or negative when there is enough.';

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
create index on erp.product_stock_location_configuration (product_id, id);
create index on erp.product_stock_location_configuration (warehouse_id);
create index on erp.product_stock_location_configuration (bin_location_id);
comment on table erp.product_stock_location_configuration is
  'When to refill a product at one place: a bin, or the part of a warehouse that has no bin. The stock column is kept by the ledger.';
comment on column erp.product_stock_location_configuration.reorder_point is 'Stock at the place at which it is to be refilled.';
comment on column erp.product_stock_location_configuration.target_maximum_quantity is 'Stock to fill up to; null when there is no such target.';
comment on column erp.product_stock_location_configuration.stock_below_reorder_point is 'Reorder point less the stock at the place; zero or negative when there is enough.';

--! Previous: sha1:1b291e99195a26c756c387071fa239398494a866
--! Hash: sha1:487b5cdd335ba51899d85ad466c46fffe2ded16a
--! Message: product

--! split: 1-current.sql
-- Enter migration here

--! split: 0130-product.sql
create table erp.product (
  id uuid primary key default uuidv7(),
  product_number text collate "C" not null constraint product_number_is_unique unique
    constraint product_number_is_not_blank check (btrim(product_number) <> ''),
  parent_id uuid references erp.product on delete cascade constraint product_is_not_its_own_parent check (parent_id <> id),
  canonical_product_id uuid references erp.product on delete set null,
  name text,
  description text,
  gtin text collate "C",
  manufacturer_number text collate "C",
  tax_rate numeric not null default 19 constraint product_tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  is_batch_managed boolean not null default false,
  storefront_variants jsonb not null default '[]'
    constraint product_storefront_variants_is_a_list check (jsonb_typeof(storefront_variants) = 'array'),
  reorder_point integer constraint product_reorder_point_is_not_negative check (reorder_point >= 0),
  target_maximum_quantity integer constraint product_target_maximum_is_not_negative check (target_maximum_quantity >= 0),
  physical_stock integer not null default 0 constraint product_physical_stock_is_not_negative check (physical_stock >= 0),
  stock_not_available_for_sale integer not null default 0,
  reserved_stock integer not null default 0 constraint product_reserved_stock_is_not_negative check (reserved_stock >= 0),
  available_stock integer not null generated always as (physical_stock - stock_not_available_for_sale - reserved_stock) stored,
  open_supplier_order_quantity integer not null default 0
    constraint product_open_supplier_order_quantity_is_not_negative check (open_supplier_order_quantity >= 0),
  last_supplier_order_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_stock_not_for_sale_is_part_of_physical_stock
    check (stock_not_available_for_sale between 0 and physical_stock)
);
create index on erp.product (parent_id, id);
create index on erp.product (canonical_product_id, id);
create index on erp.product (gtin, id);
create index on erp.product (manufacturer_number, id);
create index on erp.product (available_stock, id);
comment on table erp.product is 'Products and their variants. A variant is a row whose parent is the product. Stock figures are kept by the ledger.';
comment on column erp.product.product_number is 'Stock keeping unit (SKU), unique across the catalog.';
comment on column erp.product.parent_id is 'Product that this one is a variant of; null for products that are no variant.';
comment on column erp.product.name is 'Name of the product.';
comment on column erp.product.description is 'Text that describes the product to buyers.';
comment on column erp.product.gtin is 'Global Trade Item Number (EAN, UPC).';
comment on column erp.product.manufacturer_number is 'Number that the manufacturer gave the product.';
comment on column erp.product.is_batch_managed is 'Whether every movement of the product must name batches.';
comment on column erp.product.storefront_variants is
  'Counterparts in the external storefront platform: objects with productId and variantId (null when the product is not a variant there). Empty when the product is not synced.';
comment on column erp.product.reorder_point is 'Stock, over all warehouses, at which the product is to be ordered again.';
comment on column erp.product.target_maximum_quantity is 'Stock to fill up to when the product is ordered again; null when there is no such target.';
comment on column erp.product.physical_stock is 'Units that lie in all warehouses together, their bins included.';
comment on column erp.product.stock_not_available_for_sale is 'Units in warehouses whose stock is not sold; part of the physical stock.';
comment on column erp.product.reserved_stock is 'Units of open and in-progress orders that are not shipped yet.';
comment on column erp.product.available_stock is 'Units that can be sold: physical stock less the stock not for sale and less the reserved stock. Negative when more was sold than there is.';
comment on column erp.product.open_supplier_order_quantity is 'Units on open supplier orders that have not arrived yet.';
comment on column erp.product.last_supplier_order_at is 'Time of the newest supplier order, in any state, that contains the product.';

create table erp.product_price (
  product_id uuid not null references erp.product on delete cascade,
  currency_id uuid not null references erp.currency on delete cascade,
  net numeric not null constraint product_price_net_is_not_negative check (net >= 0),
  gross numeric not null constraint product_price_gross_is_not_negative check (gross >= 0),
  linked boolean not null default true,
  primary key (product_id, currency_id)
);
create index on erp.product_price (currency_id);
comment on table erp.product_price is 'Sales prices, one per currency. Tiered and group prices are not kept here.';

create table erp.product_purchase_price (like erp.product_price including constraints including defaults);
alter table erp.product_purchase_price
  add primary key (product_id, currency_id),
  add foreign key (product_id) references erp.product on delete cascade,
  add foreign key (currency_id) references erp.currency on delete cascade;
create index on erp.product_purchase_price (currency_id);
comment on table erp.product_purchase_price is 'Purchase prices, one per currency, kept in step with the default supplier.';

create table erp.product_tag (
  product_id uuid not null references erp.product on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (product_id, tag_id)
);
create index on erp.product_tag (tag_id, product_id);
comment on table erp.product_tag is 'Tags of products.';

create table erp.batch (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  number text collate "C" not null constraint batch_number_is_not_blank check (btrim(number) <> ''),
  comment text collate "C",
  physical_stock integer not null default 0 constraint batch_physical_stock_is_not_negative check (physical_stock >= 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint batch_number_is_unique_per_product unique (product_id, number),
  constraint batch_and_product_belong_together unique (product_id, id)
);
create index on erp.batch (number, id);
comment on table erp.batch is 'Lots of a product that were made or bought together.';
comment on column erp.batch.product_id is 'Product that the batch is of.';
comment on column erp.batch.number is 'Number of the batch, unique for its product.';
comment on column erp.batch.comment is 'Free note.';
comment on column erp.batch.physical_stock is 'Units of the batch in all warehouses together.';

create table erp.batch_tag (
  batch_id uuid not null references erp.batch on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (batch_id, tag_id)
);
create index on erp.batch_tag (tag_id, batch_id);
comment on table erp.batch_tag is 'Tags of batches.';

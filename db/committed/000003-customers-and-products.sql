--! Previous: sha1:661d855186bfa47f4e7fa5d28b485dfc674bef85
--! Hash: sha1:1a065fc9f1f015bb4de5479c315cda2fdf332658
--! Message: customers-and-products

create table erp.customer (
  id uuid primary key default uuidv7(),
  customer_number text collate "C" not null constraint customer_number_is_unique unique,
  account_type text not null default 'Private'
    constraint customer_account_type_is_known check (account_type in ('Private', 'Business')),
  email text collate "C" not null,
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  title text collate "C",
  company text collate "C",
  vat_ids jsonb constraint customer_vat_ids_are_strings check (erp.is_string_array(vat_ids)),
  active boolean not null default true,
  guest boolean not null default false,
  storefront_id text,
  group_id uuid not null references erp.customer_group on delete restrict,
  requested_group_id uuid references erp.customer_group on delete set null,
  sales_channel_id uuid not null references erp.sales_channel on delete restrict,
  bound_sales_channel_id uuid references erp.sales_channel on delete set null,
  default_payment_method_id uuid references erp.payment_method on delete set null,
  last_payment_method_id uuid references erp.payment_method on delete set null,
  salutation_id uuid references erp.salutation on delete set null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint customer_email_is_unique_per_channel
    unique nulls not distinct (email, sales_channel_id, bound_sales_channel_id)
);
create index customer_bound_sales_channel_id_id_idx on erp.customer (bound_sales_channel_id, id);
create index customer_company_id_idx on erp.customer (company, id);
create index customer_created_at_id_idx on erp.customer (created_at, id);
create index customer_default_payment_method_id_id_idx on erp.customer (default_payment_method_id, id);
create index customer_group_id_id_idx on erp.customer (group_id, id);
create index customer_last_name_id_idx on erp.customer (last_name, id);
create index customer_last_payment_method_id_id_idx on erp.customer (last_payment_method_id, id);
create index customer_requested_group_id_id_idx on erp.customer (requested_group_id, id);
create index customer_sales_channel_id_id_idx on erp.customer (sales_channel_id, id);
create index customer_salutation_id_id_idx on erp.customer (salutation_id, id);
create index customer_updated_at_id_idx on erp.customer (updated_at, id);
alter table erp.customer enable row level security;
comment on table erp.customer is 'People and companies that buy.';
comment on column erp.customer.customer_number is 'Number that the shop knows the customer by; unique.';
comment on column erp.customer.account_type is 'Whether a person or a company buys.';
comment on column erp.customer.email is
  'E-mail address; unique within the sales channel and the channel that the account is bound to.';
comment on column erp.customer.first_name is 'Given name.';
comment on column erp.customer.last_name is 'Family name.';
comment on column erp.customer.title is 'Academic or honorary title.';
comment on column erp.customer.company is 'Name of the company, for business customers.';
comment on column erp.customer.vat_ids is 'VAT identification numbers, as a JSON array of strings.';
comment on column erp.customer.active is 'Whether the account may log in and buy.';
comment on column erp.customer.guest is 'Whether the customer bought without opening an account.';
comment on column erp.customer.storefront_id is
  'Id of the customer in the external storefront platform; null when not imported from it.';
comment on column erp.customer.group_id is 'Customer group whose terms apply.';
comment on column erp.customer.sales_channel_id is 'Sales channel where the account was made.';
create trigger touch_updated_at before update on erp.customer
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.customer', 'select');

create table erp.customer_tag (
  customer_id uuid not null references erp.customer on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (customer_id, tag_id)
);
create index customer_tag_tag_id_customer_id_idx on erp.customer_tag (tag_id, customer_id);
alter table erp.customer_tag enable row level security;
comment on table erp.customer_tag is 'Tags of customers.';

create table erp.product (
  id uuid primary key default uuidv7(),
  product_number text collate "C" not null constraint product_number_is_unique unique
    constraint product_number_is_not_blank check (btrim(product_number) <> ''),
  parent_id uuid references erp.product on delete cascade
    constraint product_is_not_its_own_parent check (parent_id <> id),
  canonical_product_id uuid references erp.product on delete set null,
  name text,
  description text,
  gtin text collate "C",
  manufacturer_number text collate "C",
  tax_rate numeric not null default 19
    constraint product_tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  is_batch_managed boolean not null default false,
  storefront_variants jsonb not null default '[]'
    constraint product_storefront_variants_is_a_list check (jsonb_typeof(storefront_variants) = 'array'),
  reorder_point integer constraint product_reorder_point_is_not_negative check (reorder_point >= 0),
  target_maximum_quantity integer
    constraint product_target_maximum_is_not_negative check (target_maximum_quantity >= 0),
  physical_stock integer not null default 0
    constraint product_physical_stock_is_not_negative check (physical_stock >= 0),
  stock_not_available_for_sale integer not null default 0,
  reserved_stock integer not null default 0
    constraint product_reserved_stock_is_not_negative check (reserved_stock >= 0),
  available_stock integer not null generated always as (physical_stock - stock_not_available_for_sale - reserved_stock) stored,
  open_supplier_order_quantity integer not null default 0
    constraint product_open_supplier_order_quantity_is_not_negative check (open_supplier_order_quantity >= 0),
  last_supplier_order_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_stock_not_for_sale_is_part_of_physical_stock
    check (stock_not_available_for_sale between 0 and physical_stock)
);
create index product_available_stock_id_idx on erp.product (available_stock, id);
create index product_canonical_product_id_id_idx on erp.product (canonical_product_id, id);
create index product_gtin_id_idx on erp.product (gtin, id);
create index product_manufacturer_number_id_idx on erp.product (manufacturer_number, id);
create index product_parent_id_id_idx on erp.product (parent_id, id);
alter table erp.product enable row level security;
comment on table erp.product is
  'Products and their variants. A variant is a row whose parent is the product. Stock figures are kept '
  'by the ledger.';
comment on column erp.product.product_number is 'Stock keeping unit (SKU), unique across the catalog.';
comment on column erp.product.parent_id is
  'Product that this one is a variant of; null for products that are no variant.';
comment on column erp.product.name is 'Name of the product.';
comment on column erp.product.description is 'Text that describes the product to buyers.';
comment on column erp.product.gtin is 'Global Trade Item Number (EAN, UPC).';
comment on column erp.product.manufacturer_number is 'Number that the manufacturer gave the product.';
comment on column erp.product.is_batch_managed is 'Whether every movement of the product must name batches.';
comment on column erp.product.storefront_variants is
  'Counterparts in the external storefront platform: objects with productId and variantId (null when '
  'the product is not a variant there). Empty when the product is not synced.';
comment on column erp.product.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again.';
comment on column erp.product.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; null when there is no such target.';
comment on column erp.product.physical_stock is
  'Units that lie in all warehouses together, their bins included.';
comment on column erp.product.stock_not_available_for_sale is
  'Units in warehouses whose stock is not sold; part of the physical stock.';
comment on column erp.product.reserved_stock is
  'Units of open and in-progress orders that are not shipped yet.';
comment on column erp.product.available_stock is
  'Units that can be sold: physical stock less the stock not for sale and less the reserved stock. '
  'Negative when more was sold than there is.';
comment on column erp.product.open_supplier_order_quantity is
  'Units on open supplier orders that have not arrived yet.';
comment on column erp.product.last_supplier_order_at is
  'Time of the newest supplier order, in any state, that contains the product.';
create trigger touch_updated_at before update on erp.product
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.product',
  'select',
  'update (
    physical_stock, stock_not_available_for_sale, reserved_stock, open_supplier_order_quantity,
    last_supplier_order_at)');
select api_meta.allow('service_writer', 'erp.product', 'select');

create table erp.product_price (
  product_id uuid not null references erp.product on delete cascade,
  currency_id uuid not null references erp.currency on delete cascade,
  net numeric not null constraint product_price_net_is_not_negative check (net >= 0),
  gross numeric not null constraint product_price_gross_is_not_negative check (gross >= 0),
  linked boolean not null default true,
  primary key (product_id, currency_id)
);
create index product_price_currency_id_idx on erp.product_price (currency_id);
alter table erp.product_price enable row level security;
comment on table erp.product_price is
  'Sales prices, one per currency. Tiered and group prices are not kept here.';

create table erp.product_purchase_price (
  product_id uuid not null references erp.product on delete cascade,
  currency_id uuid not null references erp.currency on delete cascade,
  net numeric not null constraint product_price_net_is_not_negative check (net >= 0),
  gross numeric not null constraint product_price_gross_is_not_negative check (gross >= 0),
  linked boolean not null default true,
  primary key (product_id, currency_id)
);
create index product_purchase_price_currency_id_idx on erp.product_purchase_price (currency_id);
alter table erp.product_purchase_price enable row level security;
comment on table erp.product_purchase_price is
  'Purchase prices, one per currency, kept in step with the default supplier.';
comment on constraint product_price_gross_is_not_negative on erp.product_purchase_price is
  '@internal The functions that write here see to it.';
comment on constraint product_price_net_is_not_negative on erp.product_purchase_price is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_purchase_price',
  'select', 'insert', 'update (net, gross, linked)', 'delete');

create table erp.product_tag (
  product_id uuid not null references erp.product on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (product_id, tag_id)
);
create index product_tag_tag_id_product_id_idx on erp.product_tag (tag_id, product_id);
alter table erp.product_tag enable row level security;
comment on table erp.product_tag is 'Tags of products.';

create table erp.batch (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  number text collate "C" not null constraint batch_number_is_not_blank check (btrim(number) <> ''),
  comment text collate "C",
  physical_stock integer not null default 0
    constraint batch_physical_stock_is_not_negative check (physical_stock >= 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint batch_number_is_unique_per_product unique (product_id, number),
  constraint batch_and_product_belong_together unique (product_id, id)
);
create index batch_number_id_idx on erp.batch (number, id);
alter table erp.batch enable row level security;
comment on table erp.batch is 'Lots of a product that were made or bought together.';
comment on column erp.batch.product_id is 'Product that the batch is of.';
comment on column erp.batch.number is 'Number of the batch, unique for its product.';
comment on column erp.batch.comment is 'Free note.';
comment on column erp.batch.physical_stock is 'Units of the batch in all warehouses together.';
create trigger touch_updated_at before update on erp.batch
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.batch', 'select', 'update (physical_stock)');
select api_meta.allow('service_writer', 'erp.batch', 'select', 'insert');

create table erp.batch_tag (
  batch_id uuid not null references erp.batch on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (batch_id, tag_id)
);
create index batch_tag_tag_id_batch_id_idx on erp.batch_tag (tag_id, batch_id);
alter table erp.batch_tag enable row level security;
comment on table erp.batch_tag is 'Tags of batches.';

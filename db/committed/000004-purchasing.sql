--! Previous: sha1:78b3ee106f3765820d2b7371ec2452e1ba468284
--! Hash: sha1:0eada6f239086692766fbd9b79c5aacbe40ed605
--! Message: purchasing

-- Suppliers, what is ordered there, and the receipt of goods.

create table erp.supplier (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint supplier_number_is_unique unique,
  name text collate "C" not null constraint supplier_name_is_not_blank check (btrim(name) <> ''),
  customer_number text collate "C",
  currency_id uuid references erp.currency on delete set null,
  language_code text references erp.language on delete set null on update cascade,
  email text collate "C",
  phone text,
  address jsonb constraint supplier_address_is_an_object check (jsonb_typeof(address) = 'object'),
  default_delivery_time_days integer
    constraint supplier_delivery_time_is_not_negative check (default_delivery_time_days >= 0),
  minimum_order_value numeric
    constraint supplier_minimum_order_value_is_not_negative check (minimum_order_value >= 0),
  vat_id text collate "C",
  active boolean not null default true,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index supplier_currency_id_id_idx on erp.supplier (currency_id, id);
create index supplier_language_code_idx on erp.supplier (language_code);
create index supplier_name_id_idx on erp.supplier (name, id);
alter table erp.supplier enable row level security;
comment on table erp.supplier is 'Companies that the shop buys from.';
comment on column erp.supplier.number is 'Number of the supplier; unique.';
comment on column erp.supplier.name is 'Name of the supplier.';
comment on column erp.supplier.customer_number is 'Number that the supplier knows the shop by.';
comment on column erp.supplier.currency_id is
  'Currency that the supplier is paid in; null for the default currency.';
comment on column erp.supplier.language_code is
  'Locale that the supplier is written to in, for example de-DE.';
comment on column erp.supplier.email is 'E-mail address that orders are sent to.';
comment on column erp.supplier.phone is 'Telephone number.';
comment on column erp.supplier.address is
  'Postal address, with the keys of FulfillmentOrder.shippingAddress.';
comment on column erp.supplier.default_delivery_time_days is
  'Days from order to delivery, unless a product says otherwise.';
comment on column erp.supplier.minimum_order_value is
  'Least value of an order, in the currency of the supplier.';
comment on column erp.supplier.vat_id is 'VAT identification number.';
comment on column erp.supplier.active is 'Whether the shop still orders there.';
comment on constraint supplier_address_is_an_object on erp.supplier is
  E'@userError INVALID address\nThe address must be a JSON object.';
comment on constraint supplier_delivery_time_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE default_delivery_time_days\nThe delivery time must not be negative.';
comment on constraint supplier_minimum_order_value_is_not_negative on erp.supplier is
  E'@userError OUT_OF_RANGE minimum_order_value\nThe value must not be negative.';
comment on constraint supplier_name_is_not_blank on erp.supplier is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint supplier_number_is_unique on erp.supplier is
  E'@userError NOT_UNIQUE number\nAnother supplier has this number.';
create trigger touch_updated_at before update on erp.supplier
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.supplier',
  'select', 'insert', 'update (
    number, name, customer_number, currency_id, language_code, email, phone, address,
    default_delivery_time_days, minimum_order_value, vat_id, active)');

create table erp.product_supplier_configuration (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  supplier_id uuid not null references erp.supplier on delete cascade,
  supplier_product_number text collate "C",
  min_purchase integer not null default 1
    constraint product_supplier_configuration_min_purchase_is_positive check (min_purchase > 0),
  purchase_steps integer not null default 1
    constraint product_supplier_configuration_purchase_steps_are_positive check (purchase_steps > 0),
  supplier_is_default boolean not null default false,
  delivery_time_days integer
    constraint product_supplier_configuration_delivery_time_is_not_negative check (delivery_time_days >= 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_supplier_configuration_is_unique unique (product_id, supplier_id)
);
create unique index product_supplier_configuration_has_one_default
  on erp.product_supplier_configuration (product_id) where supplier_is_default;
create index product_supplier_configuration_product_id_id_idx
  on erp.product_supplier_configuration (product_id, id);
create index product_supplier_configuration_supplier_id_id_idx
  on erp.product_supplier_configuration (supplier_id, id);
alter table erp.product_supplier_configuration enable row level security;
comment on table erp.product_supplier_configuration is
  'Which supplier sells which product, and on what terms.';
comment on column erp.product_supplier_configuration.product_id is 'Product that is bought.';
comment on column erp.product_supplier_configuration.supplier_id is 'Supplier that sells it.';
comment on column erp.product_supplier_configuration.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column erp.product_supplier_configuration.min_purchase is 'Least quantity that can be ordered.';
comment on column erp.product_supplier_configuration.purchase_steps is
  'Quantities are ordered in multiples of this.';
comment on column erp.product_supplier_configuration.supplier_is_default is
  'Whether the product is bought here unless something else says otherwise. At most one supplier of a '
  'product is its default.';
comment on column erp.product_supplier_configuration.delivery_time_days is
  'Days from order to delivery of this product.';
comment on constraint
  product_supplier_configuration_delivery_time_is_not_negative on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE delivery_time_days\nThe delivery time must not be negative.';
comment on constraint product_supplier_configuration_is_unique on erp.product_supplier_configuration is
  E'@userError NOT_UNIQUE supplier_id\nThe supplier is assigned to the product already.';
comment on constraint
  product_supplier_configuration_min_purchase_is_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE min_purchase\nThe least quantity must be at least 1.';
comment on constraint
  product_supplier_configuration_purchase_steps_are_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE purchase_steps\nThe step must be at least 1.';
create trigger touch_updated_at before update on erp.product_supplier_configuration
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.product_supplier_configuration',
  'select', 'insert', 'update (
    supplier_product_number, min_purchase, purchase_steps, supplier_is_default, delivery_time_days)',
  'delete');

create table erp.product_supplier_price (
  product_supplier_configuration_id uuid not null
    references erp.product_supplier_configuration on delete cascade,
  currency_id uuid not null references erp.currency on delete cascade,
  net numeric not null constraint product_supplier_price_net_is_not_negative check (net >= 0),
  gross numeric not null constraint product_supplier_price_gross_is_not_negative check (gross >= 0),
  linked boolean not null default true,
  primary key (product_supplier_configuration_id, currency_id)
);
create index product_supplier_price_currency_id_idx on erp.product_supplier_price (currency_id);
alter table erp.product_supplier_price enable row level security;
comment on table erp.product_supplier_price is 'What a product costs at a supplier, one price per currency.';
comment on constraint product_supplier_price_gross_is_not_negative on erp.product_supplier_price is
  '@internal The functions that write here see to it.';
comment on constraint product_supplier_price_net_is_not_negative on erp.product_supplier_price is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_supplier_price',
  'select', 'insert', 'update (net, gross, linked)', 'delete');

create table erp.supplier_order (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint supplier_order_number_is_unique unique,
  supplier_order_number text collate "C",
  state text not null default 'open' constraint supplier_order_state_is_known
    check (state in ('open', 'sent', 'confirmed', 'partially_delivered', 'delivered', 'completed',
    'cancelled')),
  payment_state text not null default 'open',
  supplier_id uuid references erp.supplier on delete set null,
  warehouse_id uuid references erp.warehouse on delete set null,
  supplier_snapshot jsonb not null default '{}'
    constraint supplier_order_supplier_snapshot_is_an_object
    check (jsonb_typeof(supplier_snapshot) = 'object'),
  warehouse_snapshot jsonb not null default '{}'
    constraint supplier_order_warehouse_snapshot_is_an_object
    check (jsonb_typeof(warehouse_snapshot) = 'object'),
  currency_id uuid not null references erp.currency on delete restrict,
  amount_net numeric,
  amount_total numeric,
  position_price numeric,
  tax_status text
    constraint supplier_order_tax_status_is_known check (tax_status in ('gross', 'net', 'tax-free')),
  order_date_time timestamptz(0) not null default date_trunc('second', now()),
  due_date timestamptz(0),
  delivery_date timestamptz(0),
  actual_delivery_date timestamptz(0),
  comment text collate "C",
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index supplier_order_currency_id_id_idx on erp.supplier_order (currency_id, id);
create index supplier_order_order_date_time_id_idx on erp.supplier_order (order_date_time, id);
create index supplier_order_state_id_idx on erp.supplier_order (state, id);
create index supplier_order_supplier_id_id_idx on erp.supplier_order (supplier_id, id);
create index supplier_order_warehouse_id_id_idx on erp.supplier_order (warehouse_id, id);
alter table erp.supplier_order enable row level security;
comment on table erp.supplier_order is 'Orders that the shop places with suppliers.';
comment on column erp.supplier_order.number is 'Number of the order; unique.';
comment on column erp.supplier_order.supplier_order_number is 'Number that the supplier gave the order.';
comment on column erp.supplier_order.state is
  'open, sent, confirmed, partially_delivered, delivered, completed or cancelled.';
comment on column erp.supplier_order.payment_state is 'State of the payment, for example open or paid.';
comment on column erp.supplier_order.supplier_id is 'Supplier; null when it has been deleted.';
comment on column erp.supplier_order.warehouse_id is
  'Warehouse that the goods are to come to; null when it has been deleted.';
comment on column erp.supplier_order.supplier_snapshot is
  'The supplier as it was when the order was made: a JSON object.';
comment on column erp.supplier_order.warehouse_snapshot is
  'The warehouse as it was when the order was made: a JSON object.';
comment on column erp.supplier_order.currency_id is 'Currency of all amounts of the order.';
comment on column erp.supplier_order.amount_net is 'Total without tax.';
comment on column erp.supplier_order.amount_total is 'Total with tax.';
comment on column erp.supplier_order.position_price is
  'Sum of the lines before discounts and charges on the whole order.';
comment on column erp.supplier_order.tax_status is 'gross, net or tax-free.';
comment on column erp.supplier_order.order_date_time is 'When the order was placed.';
comment on column erp.supplier_order.due_date is 'When the invoice is due.';
comment on column erp.supplier_order.delivery_date is 'When the goods are expected.';
comment on column erp.supplier_order.actual_delivery_date is 'When the last of the goods came.';
comment on column erp.supplier_order.comment is 'Free note.';
comment on constraint supplier_order_number_is_unique on erp.supplier_order is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_state_is_known on erp.supplier_order is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_supplier_snapshot_is_an_object on erp.supplier_order is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_tax_status_is_known on erp.supplier_order is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint supplier_order_warehouse_snapshot_is_an_object on erp.supplier_order is
  '@internal The functions that write here see to it.';
create trigger touch_updated_at before update on erp.supplier_order
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.supplier_order', 'select');
select api_meta.allow('service_writer', 'erp.supplier_order',
  'select', 'insert', 'update (
    supplier_order_number, state, supplier_id, warehouse_id, supplier_snapshot, warehouse_snapshot,
    currency_id, amount_net, amount_total, position_price, tax_status, order_date_time, due_date,
    delivery_date, actual_delivery_date, comment)',
  'delete');

create table erp.supplier_order_line_item (
  id uuid primary key default uuidv7(),
  supplier_order_id uuid not null references erp.supplier_order on delete cascade,
  product_id uuid references erp.product on delete set null,
  position integer not null default 1,
  label text collate "C" not null,
  product_number text collate "C" not null,
  supplier_product_number text collate "C",
  quantity integer not null constraint supplier_order_line_item_quantity_is_positive check (quantity > 0),
  received_quantity integer not null default 0
    constraint supplier_order_line_item_received_quantity_is_not_negative check (received_quantity >= 0),
  open_quantity integer not null generated always as (greatest(quantity - received_quantity, 0)) stored,
  min_purchase integer constraint supplier_order_line_item_min_purchase_is_positive check (min_purchase > 0),
  purchase_steps integer
    constraint supplier_order_line_item_purchase_steps_are_positive check (purchase_steps > 0),
  unit_price numeric,
  total_price numeric,
  tax_rate numeric
    constraint supplier_order_line_item_tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  expected_delivery_date timestamptz(0),
  actual_delivery_date timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index supplier_order_line_item_product_id_id_idx on erp.supplier_order_line_item (product_id, id);
create index supplier_order_line_item_supplier_order_id_id_idx
  on erp.supplier_order_line_item (supplier_order_id, id);
alter table erp.supplier_order_line_item enable row level security;
comment on table erp.supplier_order_line_item is 'Lines of supplier orders.';
comment on column erp.supplier_order_line_item.supplier_order_id is
  'Supplier order that the line belongs to.';
comment on column erp.supplier_order_line_item.product_id is
  'Product that was ordered; null when it has been deleted.';
comment on column erp.supplier_order_line_item."position" is 'Place of the line within its order.';
comment on column erp.supplier_order_line_item.label is
  'Name of the product, as it was when the order was made.';
comment on column erp.supplier_order_line_item.product_number is
  'Stock keeping unit, as it was when the order was made.';
comment on column erp.supplier_order_line_item.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column erp.supplier_order_line_item.quantity is 'Units ordered.';
comment on column erp.supplier_order_line_item.received_quantity is
  'Units that have arrived, by completed goods receipts.';
comment on column erp.supplier_order_line_item.open_quantity is
  'Units that have not arrived yet; never negative.';
comment on column erp.supplier_order_line_item.min_purchase is 'Least quantity at the time of the order.';
comment on column erp.supplier_order_line_item.purchase_steps is
  'Step of quantities at the time of the order.';
comment on column erp.supplier_order_line_item.unit_price is
  'Price of one unit, in the currency of the order.';
comment on column erp.supplier_order_line_item.total_price is
  'Price of the line, in the currency of the order.';
comment on column erp.supplier_order_line_item.tax_rate is 'Tax rate in percent.';
comment on column erp.supplier_order_line_item.expected_delivery_date is
  'When the units of this line are expected.';
comment on column erp.supplier_order_line_item.actual_delivery_date is
  'When the last units of this line came.';
comment on constraint supplier_order_line_item_min_purchase_is_positive on erp.supplier_order_line_item is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_line_item_purchase_steps_are_positive on erp.supplier_order_line_item is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_line_item_quantity_is_positive on erp.supplier_order_line_item is
  '@internal The functions that write here see to it.';
comment on constraint
  supplier_order_line_item_received_quantity_is_not_negative on erp.supplier_order_line_item is
  '@internal The functions that write here see to it.';
comment on constraint supplier_order_line_item_tax_rate_is_a_percentage on erp.supplier_order_line_item is
  '@internal The functions that write here see to it.';
create trigger touch_updated_at before update on erp.supplier_order_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.supplier_order_line_item',
  'select', 'update (received_quantity, actual_delivery_date)');
select api_meta.allow('service_ledger', 'erp.supplier_order_line_item', 'select');
select api_meta.allow('service_writer', 'erp.supplier_order_line_item',
  'select', 'insert', 'update (
    product_id, "position", label, product_number, supplier_product_number, quantity, received_quantity,
    min_purchase, purchase_steps, unit_price, total_price, tax_rate, expected_delivery_date,
    actual_delivery_date)',
  'delete');

create table erp.supplier_order_tag (
  supplier_order_id uuid not null references erp.supplier_order on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (supplier_order_id, tag_id)
);
create index supplier_order_tag_tag_id_supplier_order_id_idx
  on erp.supplier_order_tag (tag_id, supplier_order_id);
alter table erp.supplier_order_tag enable row level security;
comment on table erp.supplier_order_tag is 'Tags of supplier orders.';

create table erp.goods_receipt (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint goods_receipt_number_is_unique unique,
  type text not null default 'Free'
    constraint goods_receipt_type_is_known check (type in ('Free', 'Customer', 'Supplier')),
  state text not null default 'draft'
    constraint goods_receipt_state_is_known
    check (state in ('draft', 'created', 'approved', 'in_progress', 'completed')),
  goods_receipt_date_time timestamptz(0) not null default date_trunc('second', now()),
  warehouse_id uuid references erp.warehouse on delete set null,
  supplier_id uuid references erp.supplier on delete set null,
  customer_id uuid references erp.customer on delete set null,
  user_id uuid references erp.admin_user on delete set null,
  currency_id uuid references erp.currency on delete restrict,
  currency_factor numeric constraint goods_receipt_currency_factor_is_positive check (currency_factor > 0),
  currency_factor_origin_type text constraint goods_receipt_currency_factor_origin_is_known
    check (currency_factor_origin_type in ('ExchangeRateImport', 'Manual', 'ShopCurrencyFactor')),
  currency_factor_origin_source text,
  currency_factor_reference_date timestamptz(0),
  currency_factor_captured_at timestamptz(0),
  tax_status text
    constraint goods_receipt_tax_status_is_known check (tax_status in ('gross', 'net', 'tax-free')),
  amount_net numeric,
  amount_total numeric,
  position_price numeric,
  comment text collate "C",
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint goods_receipt_rate_source_only_when_imported check (
    currency_factor_origin_type is not distinct from 'ExchangeRateImport'
    or (currency_factor_origin_source is null and currency_factor_reference_date is null)
  ),
  constraint goods_receipt_customer_only_on_customer_returns check (customer_id is null or type = 'Customer'),
  constraint goods_receipt_supplier_only_on_supplier_receipts
    check (supplier_id is null or type <> 'Customer')
);
create index goods_receipt_currency_id_id_idx on erp.goods_receipt (currency_id, id);
create index goods_receipt_customer_id_id_idx on erp.goods_receipt (customer_id, id);
create index goods_receipt_state_id_idx on erp.goods_receipt (state, id);
create index goods_receipt_supplier_id_id_idx on erp.goods_receipt (supplier_id, id);
create index goods_receipt_user_id_idx on erp.goods_receipt (user_id);
create index goods_receipt_warehouse_id_id_idx on erp.goods_receipt (warehouse_id, id);
alter table erp.goods_receipt enable row level security;
comment on table erp.goods_receipt is 'Goods that come into a warehouse, or corrections of what came.';
comment on column erp.goods_receipt.number is 'Number of the goods receipt; unique.';
comment on column erp.goods_receipt.type is
  'Where the goods come from: a supplier, a customer who sends back, or neither.';
comment on column erp.goods_receipt.state is 'draft, created, approved, in_progress or completed.';
comment on column erp.goods_receipt.goods_receipt_date_time is
  'When the goods moved: the time of completion, and of creation until then.';
comment on column erp.goods_receipt.warehouse_id is 'Warehouse that receives the goods.';
comment on column erp.goods_receipt.supplier_id is 'Supplier who sends the goods.';
comment on column erp.goods_receipt.customer_id is
  'Customer who sends the goods back; set on customer returns only.';
comment on column erp.goods_receipt.user_id is 'Person of the back office who made the receipt.';
comment on column erp.goods_receipt.currency_id is 'Currency of all amounts of the receipt.';
comment on column erp.goods_receipt.currency_factor is
  'Exchange rate: units of the receipt''s currency per unit of the default currency. Taken when the '
  'receipt is made; can change until the receipt is part of a stock valuation report.';
comment on column erp.goods_receipt.currency_factor_origin_type is
  'Where the exchange rate came from; null on receipts older than this record.';
comment on column erp.goods_receipt.currency_factor_origin_source is
  'Who published the exchange rate, when it was imported; null otherwise.';
comment on column erp.goods_receipt.currency_factor_reference_date is
  'Day for which the exchange rate was published, when it was imported; null otherwise.';
comment on column erp.goods_receipt.currency_factor_captured_at is
  'When the exchange rate was taken, or last set by hand; null on receipts older than this record.';
comment on column erp.goods_receipt.tax_status is 'gross, net or tax-free.';
comment on column erp.goods_receipt.amount_net is 'Total without tax, in the currency of the receipt.';
comment on column erp.goods_receipt.amount_total is 'Total with tax, in the currency of the receipt.';
comment on column erp.goods_receipt.position_price is
  'Sum of the lines before discounts and charges on the whole receipt.';
comment on column erp.goods_receipt.comment is 'Free note.';
comment on constraint goods_receipt_currency_factor_is_positive on erp.goods_receipt is
  E'@userError OUT_OF_RANGE currency_factor\nThe exchange rate must be greater than 0.';
comment on constraint goods_receipt_currency_factor_origin_is_known on erp.goods_receipt is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_customer_only_on_customer_returns on erp.goods_receipt is
  E'@userError INVALID customer_id\nOnly receipts of type Customer have a customer.';
comment on constraint goods_receipt_number_is_unique on erp.goods_receipt is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_rate_source_only_when_imported on erp.goods_receipt is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_state_is_known on erp.goods_receipt is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_supplier_only_on_supplier_receipts on erp.goods_receipt is
  E'@userError INVALID supplier_id\nReceipts of type Customer have no supplier.';
comment on constraint goods_receipt_tax_status_is_known on erp.goods_receipt is
  E'@userError INVALID tax_status\nThe tax status is net, gross or tax-free.';
comment on constraint goods_receipt_type_is_known on erp.goods_receipt is
  '@internal The functions that write here see to it.';
create trigger touch_updated_at before update on erp.goods_receipt
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_keeper', 'erp.goods_receipt',
  'select (id, currency_factor)', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.goods_receipt',
  'select', 'insert', 'update (
    state, goods_receipt_date_time, warehouse_id, supplier_id, customer_id, currency_id,
    currency_factor, currency_factor_origin_type, currency_factor_origin_source,
    currency_factor_reference_date, currency_factor_captured_at, tax_status, amount_net, amount_total,
    position_price, comment)',
  'delete');

create table erp.goods_receipt_line_item (
  id uuid primary key default uuidv7(),
  goods_receipt_id uuid not null references erp.goods_receipt on delete cascade,
  product_id uuid references erp.product on delete set null,
  batch_id uuid,
  return_order_id uuid references erp.return_order on delete set null,
  supplier_order_id uuid references erp.supplier_order on delete set null,
  supplier_order_line_item_id uuid references erp.supplier_order_line_item on delete set null,
  destination_bin_location_id uuid references erp.bin_location on delete set null,
  quantity integer not null constraint goods_receipt_line_item_quantity_is_not_zero check (quantity <> 0),
  planned_disposal_quantity integer not null default 0,
  unit_price numeric,
  unit_price_in_default_currency numeric,
  total_price numeric generated always as (unit_price * quantity) stored,
  total_price_in_default_currency numeric generated always
  as (unit_price_in_default_currency * quantity) stored,
  tax_rate numeric
    constraint goods_receipt_line_item_tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint goods_receipt_line_item_disposes_no_more_than_received
    check (planned_disposal_quantity between 0 and greatest(quantity, 0)),
  constraint goods_receipt_line_item_has_one_price_source
    check (unit_price is not null or unit_price_in_default_currency is null),
  constraint goods_receipt_line_item_batch_is_of_the_product
    foreign key (product_id, batch_id) references erp.batch (product_id, id) on delete set null (batch_id)
);
create index goods_receipt_line_item_batch_id_id_idx on erp.goods_receipt_line_item (batch_id, id);
create index goods_receipt_line_item_destination_bin_location_id_id_idx
  on erp.goods_receipt_line_item (destination_bin_location_id, id);
create index goods_receipt_line_item_goods_receipt_id_id_idx
  on erp.goods_receipt_line_item (goods_receipt_id, id);
create index goods_receipt_line_item_id_idx
  on erp.goods_receipt_line_item (id)
  where (unit_price is not null) and (unit_price_in_default_currency is null);
create index goods_receipt_line_item_product_id_batch_id_idx
  on erp.goods_receipt_line_item (product_id, batch_id);
create index goods_receipt_line_item_return_order_id_id_idx
  on erp.goods_receipt_line_item (return_order_id, id);
create index goods_receipt_line_item_supplier_order_id_id_idx
  on erp.goods_receipt_line_item (supplier_order_id, id);
create index goods_receipt_line_item_supplier_order_line_item_id_id_idx
  on erp.goods_receipt_line_item (supplier_order_line_item_id, id);
alter table erp.goods_receipt_line_item enable row level security;
comment on table erp.goods_receipt_line_item is 'Lines of goods receipts.';
comment on column erp.goods_receipt_line_item.goods_receipt_id is 'Goods receipt that the line belongs to.';
comment on column erp.goods_receipt_line_item.product_id is
  'Product that comes in; null when it has been deleted.';
comment on column erp.goods_receipt_line_item.batch_id is
  'Batch that comes in, for products that are tracked by batch.';
comment on column erp.goods_receipt_line_item.return_order_id is
  'Return order that the line was opened from.';
comment on column erp.goods_receipt_line_item.supplier_order_id is
  'Supplier order that the line was opened from.';
comment on column erp.goods_receipt_line_item.quantity is
  'Units; negative when they go out, as in a correction.';
comment on column erp.goods_receipt_line_item.planned_disposal_quantity is
  'Units of the line that are to be thrown away instead of stocked. Set while the receipt is worked on; '
  '0 again once the receipt is stocked and the disposal booked.';
comment on column erp.goods_receipt_line_item.unit_price is
  'Price of one unit, in the currency of the receipt.';
comment on column erp.goods_receipt_line_item.unit_price_in_default_currency is
  'Price of one unit in the default currency, by the currency factor of the receipt. Stock value and '
  'last purchase price follow from it. Null while the line has no price, and on old lines until a '
  'background job fills it.';
comment on column erp.goods_receipt_line_item.total_price is
  'Unit price times quantity, in the currency of the receipt.';
comment on column erp.goods_receipt_line_item.total_price_in_default_currency is
  'Unit price in the default currency times quantity. Null when the unit price in the default currency is.';
comment on constraint goods_receipt_line_item_disposes_no_more_than_received on erp.goods_receipt_line_item is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_line_item_has_one_price_source on erp.goods_receipt_line_item is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_line_item_quantity_is_not_zero on erp.goods_receipt_line_item is
  '@internal The functions that write here see to it.';
comment on constraint goods_receipt_line_item_tax_rate_is_a_percentage on erp.goods_receipt_line_item is
  '@internal The functions that write here see to it.';
comment on index erp.goods_receipt_line_item_id_idx is 'For erp.fill_default_currency_prices.';
create trigger touch_updated_at before update on erp.goods_receipt_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_keeper', 'erp.goods_receipt_line_item',
  'select (id, goods_receipt_id, unit_price, unit_price_in_default_currency)',
  'update (unit_price_in_default_currency)');
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item',
  'select', 'insert', 'update (
    product_id, batch_id, return_order_id, supplier_order_id, supplier_order_line_item_id,
    destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
    unit_price_in_default_currency, tax_rate)',
  'delete');

create table erp.goods_receipt_supplier_order (
  goods_receipt_id uuid not null references erp.goods_receipt on delete cascade,
  supplier_order_id uuid not null references erp.supplier_order on delete cascade,
  primary key (goods_receipt_id, supplier_order_id)
);
create index goods_receipt_supplier_order_supplier_order_id_goods_receip_idx
  on erp.goods_receipt_supplier_order (supplier_order_id, goods_receipt_id);
alter table erp.goods_receipt_supplier_order enable row level security;
comment on table erp.goods_receipt_supplier_order is 'Supplier orders that a goods receipt delivers.';
select api_meta.allow('service_writer', 'erp.goods_receipt_supplier_order', 'select', 'insert', 'delete');

create table erp.goods_receipt_tag (
  goods_receipt_id uuid not null references erp.goods_receipt on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (goods_receipt_id, tag_id)
);
create index goods_receipt_tag_tag_id_goods_receipt_id_idx
  on erp.goods_receipt_tag (tag_id, goods_receipt_id);
alter table erp.goods_receipt_tag enable row level security;
comment on table erp.goods_receipt_tag is 'Tags of goods receipts.';

create table erp.stock_valuation_report (
  id uuid primary key default uuidv7(),
  reference_date date not null,
  created_at timestamptz(0) not null default date_trunc('second', now())
);
alter table erp.stock_valuation_report enable row level security;
comment on table erp.stock_valuation_report is
  'Valuations of the stock. The exchange rates of the receipts in them are final.';

create table erp.stock_valuation_report_goods_receipt (
  stock_valuation_report_id uuid not null references erp.stock_valuation_report on delete cascade,
  goods_receipt_id uuid not null references erp.goods_receipt on delete restrict,
  primary key (stock_valuation_report_id, goods_receipt_id)
);
create index stock_valuation_report_goods_receipt_goods_receipt_id_idx
  on erp.stock_valuation_report_goods_receipt (goods_receipt_id);
alter table erp.stock_valuation_report_goods_receipt enable row level security;
comment on table erp.stock_valuation_report_goods_receipt is
  'Goods receipts that a stock valuation report counts.';
select api_meta.allow('service_writer', 'erp.stock_valuation_report_goods_receipt', 'select');

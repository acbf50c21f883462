--! Previous: sha1:ac3a3336a16d0e76c6130979a85e2a10d3460618
--! Hash: sha1:78b3ee106f3765820d2b7371ec2452e1ba468284
--! Message: orders

-- Orders of customers, and what is shipped for them. Rules that are not enforced are upheld by triggers.

create table erp.sales_order (
  id uuid primary key default uuidv7(),
  order_number text collate "C" constraint order_number_is_unique unique,
  order_date_time timestamptz(0) not null default date_trunc('second', now()),
  state text not null default 'open'
    constraint order_state_is_known
    check (state in ('open', 'in_progress', 'completed', 'cancelled')) not enforced,
  delivery_state text,
  payment_state text,
  amount_net numeric,
  amount_total numeric,
  tax_status text not null default 'gross'
    constraint order_tax_status_is_known check (tax_status in ('gross', 'net', 'tax-free')) not enforced,
  currency_id uuid not null references erp.currency on delete restrict,
  sales_channel_id uuid references erp.sales_channel on delete set null,
  customer_id uuid references erp.customer on delete set null,
  shipping_method_id uuid references erp.shipping_method on delete set null,
  payment_method_id uuid references erp.payment_method on delete set null,
  shipping_address jsonb
    constraint order_shipping_address_is_an_object
    check (jsonb_typeof(shipping_address) = 'object') not enforced,
  billing_address jsonb
    constraint order_billing_address_is_an_object
    check (jsonb_typeof(billing_address) = 'object') not enforced,
  tracking_codes jsonb
    constraint order_tracking_codes_are_strings check (erp.is_string_array(tracking_codes)) not enforced,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  entered_tracking_codes text[] not null default '{}'
);
create index sales_order_amount_net_id_idx on erp.sales_order (amount_net, id);
create index sales_order_amount_total_id_idx on erp.sales_order (amount_total, id);
create index sales_order_created_at_id_idx on erp.sales_order (created_at, id);
create index sales_order_currency_id_id_idx on erp.sales_order (currency_id, id);
create index sales_order_customer_id_id_idx on erp.sales_order (customer_id, id);
create index sales_order_delivery_state_order_date_time_id_idx
  on erp.sales_order (delivery_state, order_date_time, id);
create index sales_order_order_date_time_id_idx on erp.sales_order (order_date_time, id);
create index sales_order_payment_method_id_idx on erp.sales_order (payment_method_id);
create index sales_order_payment_state_order_date_time_id_idx
  on erp.sales_order (payment_state, order_date_time, id);
create index sales_order_sales_channel_id_id_idx on erp.sales_order (sales_channel_id, id);
create index sales_order_shipping_method_id_idx on erp.sales_order (shipping_method_id);
create index sales_order_state_order_date_time_id_idx on erp.sales_order (state, order_date_time, id);
create unique index order_storefront_id_is_unique on erp.sales_order (storefront_id, sales_channel_id);
create index sales_order_updated_at_id_idx on erp.sales_order (updated_at, id);
alter table erp.sales_order enable row level security;
comment on table erp.sales_order is 'Orders of customers (GraphQL type Order).';
comment on column erp.sales_order.order_number is
  'Number that the customer knows the order by, given at checkout.';
comment on column erp.sales_order.order_date_time is 'When the customer ordered.';
comment on column erp.sales_order.state is
  'State of the order, for example open, in_progress, completed or cancelled.';
comment on column erp.sales_order.delivery_state is
  'State of the primary delivery, for example open, shipped or returned.';
comment on column erp.sales_order.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column erp.sales_order.amount_net is 'Total without tax, in the currency of the order.';
comment on column erp.sales_order.amount_total is
  'Total with tax, in the currency of the order; computed anew when a line changes.';
comment on column erp.sales_order.currency_id is 'Currency of all amounts of the order.';
comment on column erp.sales_order.sales_channel_id is
  'Sales channel that the order came through; null when it is not known, or was deleted since.';
comment on column erp.sales_order.customer_id is
  'Customer who ordered; null when it is not known, or was deleted since.';
comment on column erp.sales_order.tracking_codes is
  'Tracking codes of the primary delivery, as a JSON array of strings: those of shipping labels that '
  'are not cancelled, and those entered by hand. Empty when there are none yet, null when the order has '
  'no delivery.';
comment on column erp.sales_order.storefront_id is
  'Id of the order in the external storefront platform; null when not imported from it.';
comment on column erp.sales_order.created_at is 'When the row was made; usually the time of the order.';
comment on column erp.sales_order.entered_tracking_codes is
  'Tracking codes that were entered by hand. They stay in the list of all codes when a label with the '
  'same code is cancelled.';
comment on constraint order_billing_address_is_an_object on erp.sales_order is
  E'@userError INVALID billing_address\nThe address must be a JSON object.';
comment on constraint order_number_is_unique on erp.sales_order is
  E'@userError NOT_UNIQUE order_number\nAnother order has this number.';
comment on constraint order_shipping_address_is_an_object on erp.sales_order is
  E'@userError INVALID shipping_address\nThe address must be a JSON object.';
comment on constraint order_state_is_known on erp.sales_order is
  E'@userError INVALID state\nThere is no such state of orders.';
comment on constraint order_tax_status_is_known on erp.sales_order is
  E'@userError INVALID tax_status\nThis is gross, net or tax-free.';
comment on constraint order_tracking_codes_are_strings on erp.sales_order is
  '@internal settle_order() writes texts';
comment on index erp.order_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother order of the sales channel has this id.';
create trigger touch_updated_at before update on erp.sales_order
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.sales_order',
  'select', 'update (state, delivery_state, tracking_codes, entered_tracking_codes)');
select api_meta.allow('service_ledger', 'erp.sales_order',
  'select', 'update (amount_net, amount_total, tracking_codes, entered_tracking_codes)');
select api_meta.allow('service_writer', 'erp.sales_order',
  'select', 'insert', 'update (
    order_number, order_date_time, state, delivery_state, payment_state, tax_status, currency_id,
    sales_channel_id, customer_id, shipping_method_id, payment_method_id, shipping_address,
    billing_address, storefront_id, entered_tracking_codes)');

create table erp.sales_order_line_item (
  id uuid primary key default uuidv7(),
  order_id uuid not null references erp.sales_order on delete cascade,
  parent_id uuid references erp.sales_order_line_item on delete cascade
    constraint order_line_item_is_not_its_own_parent check (parent_id <> id) not enforced,
  product_id uuid references erp.product on delete set null,
  type text collate "C" default 'product',
  identifier text collate "C" not null,
  label text collate "C" not null,
  description text collate "C",
  position integer not null default 1,
  quantity integer not null constraint order_line_item_quantity_is_positive check (quantity > 0) not enforced,
  shipped_quantity integer not null default 0,
  unit_price numeric,
  total_price numeric,
  tax_rate numeric
    constraint order_line_item_tax_rate_is_a_percentage check (tax_rate between 0 and 100) not enforced,
  payload jsonb,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  invoiced_quantity integer not null default 0,
  constraint order_line_item_ships_no_more_than_ordered
    check (shipped_quantity between 0 and quantity) not enforced,
  constraint order_line_item_product_only_on_product_lines
    check (product_id is null or type is not distinct from 'product') not enforced,
  constraint order_line_item_promotion_identifier_matches_payload
    check (type <> 'promotion' or payload is null or payload ->> 'identifier' = identifier) not enforced,
  constraint order_line_item_invoices_no_more_than_ordered
    check (invoiced_quantity between 0 and greatest(quantity, 0)) not enforced
);
create index sales_order_line_item_identifier_id_idx on erp.sales_order_line_item (identifier, id);
create index sales_order_line_item_order_id_id_idx on erp.sales_order_line_item (order_id, id);
create index sales_order_line_item_parent_id_id_idx on erp.sales_order_line_item (parent_id, id);
create index sales_order_line_item_product_id_id_idx on erp.sales_order_line_item (product_id, id);
alter table erp.sales_order_line_item enable row level security;
comment on table erp.sales_order_line_item is
  'Lines of orders: products, custom items, promotions, credits (GraphQL type OrderLineItem).';
comment on column erp.sales_order_line_item.order_id is 'Order that the line belongs to.';
comment on column erp.sales_order_line_item.product_id is
  'Product that was ordered; set on lines of type product only.';
comment on column erp.sales_order_line_item.type is
  'What the line stands for: product, custom, promotion, credit or another word.';
comment on column erp.sales_order_line_item.identifier is
  'Identifier taken over from the cart; on promotion lines the same as in their payload.';
comment on column erp.sales_order_line_item.label is
  'Text shown for the line, as it was when the order was placed.';
comment on column erp.sales_order_line_item.description is 'Second line of text.';
comment on column erp.sales_order_line_item."position" is 'Place of the line within its order.';
comment on column erp.sales_order_line_item.quantity is 'Units ordered; always positive.';
comment on column erp.sales_order_line_item.shipped_quantity is
  'Units that have been shipped; equals the quantity once all are.';
comment on column erp.sales_order_line_item.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column erp.sales_order_line_item.total_price is
  'Price of the line with tax, in the currency of the order: unit price times quantity, less discounts '
  'of the line.';
comment on column erp.sales_order_line_item.storefront_id is
  'Id of the line in the external storefront platform; null when it has no line there.';
comment on column erp.sales_order_line_item.invoiced_quantity is
  'Units that an invoice charges which was not cancelled.';
comment on constraint order_line_item_invoices_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError INVALID\nMore would be invoiced than was ordered.';
comment on constraint order_line_item_is_not_its_own_parent on erp.sales_order_line_item is
  '@internal No function writes the parent.';
comment on constraint order_line_item_product_only_on_product_lines on erp.sales_order_line_item is
  E'@userError INVALID type\nOnly lines of type product name a product.';
comment on constraint order_line_item_promotion_identifier_matches_payload on erp.sales_order_line_item is
  E'@userError INVALID identifier\nThe identifier of a promotion is that of its payload.';
comment on constraint order_line_item_quantity_is_positive on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE quantity\nThe quantity must be at least 1.';
comment on constraint order_line_item_ships_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be shipped than was ordered.';
comment on constraint order_line_item_tax_rate_is_a_percentage on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
create trigger touch_updated_at before update on erp.sales_order_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.sales_order_line_item', 'select', 'update (shipped_quantity)');
select api_meta.allow('service_ledger', 'erp.sales_order_line_item',
  'select', 'update (shipped_quantity, invoiced_quantity)');
select api_meta.allow('service_writer', 'erp.sales_order_line_item',
  'select', 'insert', 'update (
    product_id, type, identifier, label, description, "position", quantity, unit_price, total_price,
    tax_rate, storefront_id)',
  'delete');

create table erp.order_tag (
  order_id uuid not null references erp.sales_order on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (order_id, tag_id)
);
create index order_tag_tag_id_order_id_idx on erp.order_tag (tag_id, order_id);
alter table erp.order_tag enable row level security;
comment on table erp.order_tag is 'Tags of orders.';
select api_meta.allow('service_writer', 'erp.order_tag', 'select', 'insert', 'delete');

create table erp.return_order (
  id uuid primary key default uuidv7(),
  number text collate "C" not null unique,
  state text not null default 'open',
  order_id uuid references erp.sales_order on delete set null,
  customer_id uuid references erp.customer on delete set null,
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index return_order_customer_id_idx on erp.return_order (customer_id);
create index return_order_order_id_idx on erp.return_order (order_id);
alter table erp.return_order enable row level security;
comment on table erp.return_order is 'What customers send back. Clients know them by id only.';
select api_meta.allow('service_writer', 'erp.return_order', 'select');

create table erp.fulfillment_order (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint fulfillment_order_number_is_unique unique,
  type text not null default 'WarehouseLocationToOrder'
    constraint fulfillment_order_type_is_known
    check (type in ('WarehouseLocationToOrder', 'ExternalToOrder')) not enforced,
  state text not null default 'Open'
    constraint fulfillment_order_state_is_known
    check (state in ('Open', 'InProgress', 'OnHold', 'Closed', 'Cancelled')) not enforced,
  state_before_hold text
    constraint fulfillment_order_returns_from_hold_to_work
    check (state_before_hold in ('Open', 'InProgress')) not enforced,
  is_partially_fulfilled boolean not null default false,
  destination_order_id uuid references erp.sales_order on delete set null,
  source_warehouse_location_id uuid references erp.location on delete set null,
  external_location_name text,
  shipping_method_id uuid references erp.shipping_method on delete set null,
  shipping_method_name text,
  shipping_address jsonb
    constraint fulfillment_order_shipping_address_is_an_object
    check (jsonb_typeof(shipping_address) = 'object') not enforced,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  hold_comment text,
  constraint fulfillment_order_remembers_its_state_on_hold
    check ((state = 'OnHold') = (state_before_hold is not null)) not enforced,
  constraint fulfillment_order_external_has_no_warehouse_location
    check (type <> 'ExternalToOrder' or source_warehouse_location_id is null) not enforced,
  constraint fulfillment_order_external_name_only_on_external
    check (type = 'ExternalToOrder' or external_location_name is null) not enforced,
  constraint fulfillment_order_hold_comment_is_not_too_long check (length(hold_comment) <= 1000) not enforced
);
create index fulfillment_order_created_at_id_idx on erp.fulfillment_order (created_at, id);
create index fulfillment_order_destination_order_id_id_idx
  on erp.fulfillment_order (destination_order_id, id);
create index fulfillment_order_shipping_method_id_id_idx on erp.fulfillment_order (shipping_method_id, id);
create index fulfillment_order_source_warehouse_location_id_id_idx
  on erp.fulfillment_order (source_warehouse_location_id, id);
create index fulfillment_order_state_id_idx on erp.fulfillment_order (state, id);
create index fulfillment_order_updated_at_id_idx on erp.fulfillment_order (updated_at, id);
alter table erp.fulfillment_order enable row level security;
comment on table erp.fulfillment_order is
  'Lines of one order, in given quantities, that one location is to ship.';
comment on column erp.fulfillment_order.number is 'Number of the fulfillment order.';
comment on column erp.fulfillment_order.type is
  'Who ships: one of the merchant''s locations, or somebody outside the system.';
comment on column erp.fulfillment_order.state is 'How far the work is.';
comment on column erp.fulfillment_order.is_partially_fulfilled is
  'Whether something has been fulfilled while some quantity is still open.';
comment on column erp.fulfillment_order.destination_order_id is 'Order whose customer gets the goods.';
comment on column erp.fulfillment_order.source_warehouse_location_id is
  'Location that ships; null when fulfilled externally, or when the location has been deleted.';
comment on column erp.fulfillment_order.external_location_name is
  'Name of the external location; null when one of the merchant''s locations ships.';
comment on column erp.fulfillment_order.shipping_method_id is 'Way of shipping.';
comment on column erp.fulfillment_order.shipping_method_name is
  'Name of the way of shipping, as it was when the fulfillment order was made.';
comment on column erp.fulfillment_order.shipping_address is
  'Address as it was when the fulfillment order was made; null when the order had none. An object with '
  'the keys company, department, firstName, lastName, street, additionalAddressLine1, '
  'additionalAddressLine2, zipcode, city, countryName, countryIso, countryStateName, '
  'countryStateShortCode and phoneNumber, each a string or null.';
comment on column erp.fulfillment_order.storefront_id is
  'Id in the external storefront platform; null when the order was not imported from it.';
comment on column erp.fulfillment_order.hold_comment is
  'Why it is on hold, in the words of the person who put it there; null when it is not, or without a reason.';
comment on constraint fulfillment_order_external_has_no_warehouse_location on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_external_name_only_on_external on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_hold_comment_is_not_too_long on erp.fulfillment_order is
  E'@userError OUT_OF_RANGE hold_comment\nThe comment has more than 1,000 characters.';
comment on constraint fulfillment_order_number_is_unique on erp.fulfillment_order is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_order_remembers_its_state_on_hold on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\nOnly a fulfillment order on hold has a state to return to.';
comment on constraint fulfillment_order_returns_from_hold_to_work on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\n'
  'A fulfillment order returns from hold to being open or in progress.';
comment on constraint fulfillment_order_shipping_address_is_an_object on erp.fulfillment_order is
  '@internal it is the address of the order';
comment on constraint fulfillment_order_state_is_known on erp.fulfillment_order is
  E'@userError INVALID state\nThere is no such state of fulfillment orders.';
comment on constraint fulfillment_order_type_is_known on erp.fulfillment_order is
  '@internal assign() makes none of another type';
create trigger touch_updated_at before update on erp.fulfillment_order
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.fulfillment_order',
  'select', 'update (state, is_partially_fulfilled)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order', 'select', 'update (is_partially_fulfilled)');
select api_meta.allow('service_writer', 'erp.fulfillment_order',
  'select', 'insert', 'update (state, state_before_hold, is_partially_fulfilled, hold_comment)');

create table erp.fulfillment_order_line_item (
  id uuid primary key default uuidv7(),
  fulfillment_order_id uuid not null references erp.fulfillment_order on delete cascade,
  destination_order_line_item_id uuid references erp.sales_order_line_item on delete set null,
  product_id uuid references erp.product on delete set null,
  quantity integer not null
    constraint fulfillment_order_line_item_quantity_is_positive check (quantity > 0) not enforced,
  fulfilled_quantity integer not null default 0,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint fulfillment_order_line_item_is_unique unique (fulfillment_order_id,
  destination_order_line_item_id),
  constraint fulfillment_order_line_item_fulfills_no_more_than_assigned
    check (fulfilled_quantity between 0 and quantity) not enforced,
  constraint fulfillment_order_line_item_belongs_to_one unique (fulfillment_order_id, id)
);
create index fulfillment_order_line_item_destination_order_line_item_id__idx
  on erp.fulfillment_order_line_item (destination_order_line_item_id, id);
create index fulfillment_order_line_item_product_id_id_idx
  on erp.fulfillment_order_line_item (product_id, id);
alter table erp.fulfillment_order_line_item enable row level security;
comment on table erp.fulfillment_order_line_item is 'What a fulfillment order is to ship.';
comment on column erp.fulfillment_order_line_item.quantity is
  'Units of the order line that are assigned here; what has been fulfilled is not subtracted.';
comment on column erp.fulfillment_order_line_item.storefront_id is
  'Id in the external storefront platform; null when the order was not imported from it.';
comment on constraint
  fulfillment_order_line_item_fulfills_no_more_than_assigned on erp.fulfillment_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be fulfilled than is assigned.';
comment on constraint fulfillment_order_line_item_is_unique on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
comment on constraint fulfillment_order_line_item_quantity_is_positive on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
create trigger touch_updated_at before update on erp.fulfillment_order_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.fulfillment_order_line_item',
  'select', 'insert', 'update (fulfilled_quantity)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order_line_item',
  'select', 'update (fulfilled_quantity)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_line_item', 'select', 'insert');

create table erp.fulfillment (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint fulfillment_number_is_unique unique,
  state text not null default 'Fulfilled'
    constraint fulfillment_state_is_known check (state in ('Fulfilled', 'Cancelled')) not enforced,
  storefront_id text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index fulfillment_created_at_id_idx on erp.fulfillment (created_at, id);
create index fulfillment_state_id_idx on erp.fulfillment (state, id);
alter table erp.fulfillment enable row level security;
comment on table erp.fulfillment is 'Shipping work that was done.';
comment on column erp.fulfillment.number is 'Number of the fulfillment.';
comment on column erp.fulfillment.state is 'Whether the work stands or was cancelled afterwards.';
comment on column erp.fulfillment.storefront_id is
  'Id in the external storefront platform; null when it was not reported there.';
comment on column erp.fulfillment.created_at is 'When the shipping work was recorded.';
comment on constraint fulfillment_number_is_unique on erp.fulfillment is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_state_is_known on erp.fulfillment is
  E'@userError INVALID state\nThere is no such state of fulfillments.';
create trigger touch_updated_at before update on erp.fulfillment
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.fulfillment', 'select', 'insert');
select api_meta.allow('service_ledger', 'erp.fulfillment', 'select', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.fulfillment', 'select', 'insert', 'update (state)');

create table erp.fulfillment_order_fulfillment (
  fulfillment_order_id uuid not null references erp.fulfillment_order on delete cascade,
  fulfillment_id uuid not null references erp.fulfillment on delete cascade,
  primary key (fulfillment_order_id, fulfillment_id)
);
create index fulfillment_order_fulfillment_fulfillment_id_fulfillment_or_idx
  on erp.fulfillment_order_fulfillment (fulfillment_id, fulfillment_order_id);
alter table erp.fulfillment_order_fulfillment enable row level security;
comment on table erp.fulfillment_order_fulfillment is
  'Which fulfillments shipped something of which fulfillment orders. Every fulfillment line needs its '
  'pair here.';
select api_meta.allow('service_booker', 'erp.fulfillment_order_fulfillment', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment_order_fulfillment', 'select', 'insert');

create table erp.fulfillment_line_item (
  id uuid primary key default uuidv7(),
  fulfillment_id uuid not null references erp.fulfillment on delete cascade,
  fulfillment_order_id uuid not null,
  fulfillment_order_line_item_id uuid not null,
  product_id uuid references erp.product on delete set null,
  quantity integer not null
    constraint fulfillment_line_item_quantity_is_positive check (quantity > 0) not enforced,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint fulfillment_line_item_is_unique unique (fulfillment_id, fulfillment_order_line_item_id),
  constraint fulfillment_line_item_is_of_its_fulfillment_order
    foreign key (fulfillment_order_id, fulfillment_order_line_item_id)
    references erp.fulfillment_order_line_item (fulfillment_order_id, id) on delete cascade,
  constraint fulfillment_line_item_pair_is_known
    foreign key (fulfillment_order_id, fulfillment_id)
    references erp.fulfillment_order_fulfillment on delete cascade
);
create index fulfillment_line_item_fulfillment_id_id_idx on erp.fulfillment_line_item (fulfillment_id, id);
create index fulfillment_line_item_fulfillment_order_id_fulfillment_id_idx
  on erp.fulfillment_line_item (fulfillment_order_id, fulfillment_id);
create index fulfillment_line_item_fulfillment_order_id_fulfillment_orde_idx
  on erp.fulfillment_line_item (fulfillment_order_id, fulfillment_order_line_item_id);
create index fulfillment_line_item_fulfillment_order_line_item_id_id_idx
  on erp.fulfillment_line_item (fulfillment_order_line_item_id, id);
create index fulfillment_line_item_product_id_id_idx on erp.fulfillment_line_item (product_id, id);
alter table erp.fulfillment_line_item enable row level security;
comment on table erp.fulfillment_line_item is 'What a fulfillment shipped, by line of a fulfillment order.';
comment on column erp.fulfillment_line_item.quantity is
  'Units of the fulfillment order''s line that were fulfilled.';
comment on constraint fulfillment_line_item_is_unique on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on constraint fulfillment_line_item_quantity_is_positive on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on index erp.fulfillment_line_item_fulfillment_order_line_item_id_id_idx is
  'For the figures of a line of a fulfillment order.';
create trigger touch_updated_at before update on erp.fulfillment_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.fulfillment_line_item', 'select', 'insert');
select api_meta.allow('service_ledger', 'erp.fulfillment_line_item', 'select');
select api_meta.allow('service_writer', 'erp.fulfillment_line_item', 'select', 'insert');

create table erp.shipping_label (
  id uuid primary key default uuidv7(),
  state text not null default 'created'
    constraint shipping_label_state_is_known check (state in ('created', 'cancelled', 'failed')),
  type text not null default 'outgoing'
    constraint shipping_label_type_is_known check (type in ('outgoing', 'return')),
  carrier_technical_name text collate "C" not null,
  carrier_name text,
  tracking_codes jsonb not null default '[]'
    constraint shipping_label_tracking_codes_are_strings check (erp.is_string_array(tracking_codes)),
  tracking_url text,
  document_url text,
  weight_in_grams integer constraint shipping_label_weight_is_positive check (weight_in_grams > 0),
  fulfillment_order_id uuid references erp.fulfillment_order on delete set null,
  order_id uuid references erp.sales_order on delete set null,
  cancelled_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint shipping_label_cancelled_at_when_cancelled
    check ((state = 'cancelled') = (cancelled_at is not null))
);
create index shipping_label_fulfillment_order_id_id_idx on erp.shipping_label (fulfillment_order_id, id);
create index shipping_label_order_id_id_idx on erp.shipping_label (order_id, id);
alter table erp.shipping_label enable row level security;
comment on table erp.shipping_label is 'Labels bought from carriers.';
comment on column erp.shipping_label.state is 'created, cancelled or failed.';
comment on column erp.shipping_label.type is
  'outgoing for parcels to customers, return for parcels from them.';
comment on column erp.shipping_label.carrier_technical_name is
  'Stable machine name of the carrier, for example dhl.';
comment on column erp.shipping_label.carrier_name is 'Name of the carrier for people.';
comment on column erp.shipping_label.tracking_codes is
  'Codes to follow the parcels by, as a JSON array of strings.';
comment on column erp.shipping_label.tracking_url is 'Page of the carrier that shows where the parcel is.';
comment on column erp.shipping_label.document_url is 'Address of the label as a file to print.';
comment on column erp.shipping_label.weight_in_grams is 'Weight that was declared to the carrier, in grams.';
comment on column erp.shipping_label.fulfillment_order_id is
  'Fulfillment order that the label was bought for.';
comment on column erp.shipping_label.order_id is 'Order that the label was bought for.';
comment on column erp.shipping_label.cancelled_at is 'When the label was cancelled.';
create trigger touch_updated_at before update on erp.shipping_label
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.shipping_label', 'select');

create table erp.quote (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint quote_number_is_unique unique,
  state text not null default 'draft'
    constraint quote_state_is_known
    check (state in ('draft', 'open', 'sent', 'accepted', 'declined', 'expired')),
  customer_id uuid references erp.customer on delete set null,
  sales_channel_id uuid references erp.sales_channel on delete set null,
  currency_id uuid not null references erp.currency on delete restrict,
  order_id uuid references erp.sales_order on delete set null,
  amount_net numeric,
  amount_total numeric,
  tax_status text constraint quote_tax_status_is_known check (tax_status in ('gross', 'net', 'tax-free')),
  valid_until timestamptz(0),
  comment text collate "C",
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index quote_currency_id_id_idx on erp.quote (currency_id, id);
create index quote_customer_id_id_idx on erp.quote (customer_id, id);
create index quote_order_id_id_idx on erp.quote (order_id, id);
create index quote_sales_channel_id_id_idx on erp.quote (sales_channel_id, id);
alter table erp.quote enable row level security;
comment on table erp.quote is 'Offers made to customers before they order.';
comment on column erp.quote.number is 'Number of the quote.';
comment on column erp.quote.state is 'draft, open, sent, accepted, declined or expired.';
comment on column erp.quote.customer_id is 'Customer that the quote is for.';
comment on column erp.quote.sales_channel_id is 'Sales channel that the quote was made in.';
comment on column erp.quote.currency_id is 'Currency of all amounts of the quote.';
comment on column erp.quote.order_id is 'Order that came of the quote.';
comment on column erp.quote.amount_net is 'Total without tax, in the currency of the quote.';
comment on column erp.quote.amount_total is 'Total with tax, in the currency of the quote.';
comment on column erp.quote.tax_status is 'gross, net or tax-free.';
comment on column erp.quote.valid_until is 'Until when the customer can accept.';
comment on column erp.quote.comment is 'Free note.';
create trigger touch_updated_at before update on erp.quote
  for each row execute function erp.touch_updated_at();

create table erp.quote_line_item (
  id uuid primary key default uuidv7(),
  quote_id uuid not null references erp.quote on delete cascade,
  product_id uuid references erp.product on delete set null,
  type text collate "C" default 'product',
  identifier text collate "C" not null,
  label text collate "C" not null,
  description text collate "C",
  position integer not null default 1,
  quantity integer not null constraint quote_line_item_quantity_is_positive check (quantity > 0),
  unit_price numeric,
  total_price numeric,
  tax_rate numeric constraint quote_line_item_tax_rate_is_a_percentage check (tax_rate between 0 and 100),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index quote_line_item_product_id_id_idx on erp.quote_line_item (product_id, id);
create index quote_line_item_quote_id_id_idx on erp.quote_line_item (quote_id, id);
alter table erp.quote_line_item enable row level security;
comment on table erp.quote_line_item is 'Lines of quotes.';
comment on column erp.quote_line_item.quote_id is 'Quote that the line belongs to.';
comment on column erp.quote_line_item.product_id is
  'Product that is offered; set on lines of type product only.';
comment on column erp.quote_line_item.type is
  'What the line stands for: product, custom, promotion, credit or another word.';
comment on column erp.quote_line_item.identifier is 'Identifier of the line within its quote.';
comment on column erp.quote_line_item.label is 'Text shown for the line.';
comment on column erp.quote_line_item.description is 'Second line of text.';
comment on column erp.quote_line_item."position" is 'Place of the line within its quote.';
comment on column erp.quote_line_item.quantity is 'Units offered; always positive.';
comment on column erp.quote_line_item.unit_price is
  'Price of one unit with tax, in the currency of the quote.';
comment on column erp.quote_line_item.total_price is
  'Price of the line with tax, in the currency of the quote.';
create trigger touch_updated_at before update on erp.quote_line_item
  for each row execute function erp.touch_updated_at();

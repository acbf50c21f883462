--! Previous: sha1:438d96088b71ebd31429565088585a9537f7692c
--! Hash: sha1:ac3a3336a16d0e76c6130979a85e2a10d3460618
--! Message: master-data

-- What everything else refers to: languages, countries, currencies, states; customers, products and
-- warehouses. Rules that are declared as not enforced are upheld by triggers, which are made of them
-- (api_meta.derive_rules).

--! Included erp/is_localized_text.sql
create or replace function erp.is_localized_text(texts jsonb) returns boolean
language sql immutable strict parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object' and coalesce(texts ->> 'en-GB', '') <> ''
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "string")');
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object from locale to text that has at least the default locale, en-GB.';
grant execute on function erp.is_localized_text(jsonb) to service_writer;
--! EndIncluded erp/is_localized_text.sql

create domain erp.localized_text as jsonb
  constraint localized_text_has_the_default_locale check (erp.is_localized_text(value));
comment on type erp.localized_text is
  'A text in several languages: an object from locale to text. The default, en-GB, is always there.';

create table erp.language (
  code text primary key constraint language_code_is_a_locale check (code ~ '^[a-z]{2,3}(-[A-Z]{2})?$'),
  name text not null
);
alter table erp.language enable row level security;
comment on table erp.language is 'Locales that names are kept in. Accept-Language is matched against these.';
select api_meta.allow('service_writer', 'erp.language', 'select');

insert into erp.language (code, name) values ('en-GB', 'English'), ('de-DE', 'Deutsch'),
  ('fr-FR', 'Français');

create table erp.currency (
  id uuid primary key default uuidv7(),
  iso_code text collate "C" not null unique
    constraint currency_iso_code_has_three_letters check (iso_code ~ '^[A-Z]{3}$'),
  symbol text collate "C" not null,
  name erp.localized_text not null,
  short_name erp.localized_text not null,
  factor numeric not null constraint currency_factor_is_positive check (factor > 0),
  position integer not null default 0
    constraint currency_position_is_before_or_after check (position in (0, 1)),
  is_default_currency boolean not null default false,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint currency_default_has_factor_one check (not is_default_currency or factor = 1)
);
create unique index currency_is_default_once on erp.currency (is_default_currency) where is_default_currency;
alter table erp.currency enable row level security;
comment on table erp.currency is
  'Currencies of the shop. One of them is the default, in which stock is valued.';
comment on column erp.currency.iso_code is 'Three-letter code of ISO 4217.';
comment on column erp.currency.symbol is 'Sign that is printed beside amounts.';
comment on column erp.currency.name is 'Full name, in the language of the request.';
comment on column erp.currency.short_name is 'Short name, in the language of the request.';
comment on column erp.currency.factor is
  'Units of this currency per unit of the default currency; 1 for the default.';
comment on column erp.currency."position" is 'Where the symbol stands: 1 after the amount, 0 before it.';
comment on column erp.currency.is_default_currency is
  'Whether this is the default currency of the system. Exactly one is.';

--! Included erp/touch_updated_at.sql
create or replace function erp.touch_updated_at() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.updated_at := pg_catalog.date_trunc('second', pg_catalog.now());
  return new;
end
$$;
comment on function erp.touch_updated_at() is
  'Trigger: sets updated_at to the time of the transaction, in whole seconds.';
--! EndIncluded erp/touch_updated_at.sql

create trigger touch_updated_at before update on erp.currency
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_keeper', 'erp.currency', 'select (id, iso_code, is_default_currency)');
select api_meta.allow('service_writer', 'erp.currency', 'select');

create table erp.exchange_rate (
  currency_id uuid not null references erp.currency on delete cascade,
  reference_date date not null,
  factor numeric not null constraint exchange_rate_factor_is_positive check (factor > 0),
  source text not null,
  imported_at timestamptz(0) not null default date_trunc('second', now()),
  primary key (currency_id, reference_date, source)
);
alter table erp.exchange_rate enable row level security;
comment on table erp.exchange_rate is
  'Imported exchange rates: units of the currency per unit of the default currency, by the day of their '
  'publication.';
select api_meta.allow('service_keeper', 'erp.exchange_rate',
  'select', 'insert', 'update (factor, imported_at)');
select api_meta.allow('service_writer', 'erp.exchange_rate', 'select');

create table erp.country (
  id uuid primary key default uuidv7(),
  iso_code text collate "C" not null unique
    constraint country_iso_code_has_two_letters check (iso_code ~ '^[A-Z]{2}$'),
  name erp.localized_text not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.country enable row level security;
comment on table erp.country is 'Countries that sales channels deliver to.';
comment on column erp.country.name is 'Name of the country, in the language of the request.';
create trigger touch_updated_at before update on erp.country
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.country', 'select');

create table erp.salutation (
  id uuid primary key default uuidv7(),
  salutation_key text collate "C" not null unique,
  display_name erp.localized_text,
  letter_name erp.localized_text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.salutation enable row level security;
comment on table erp.salutation is 'Forms of address.';
comment on column erp.salutation.salutation_key is 'Stable machine name, for example mrs or not_specified.';
comment on column erp.salutation.display_name is
  'Form shown in lists and forms, in the language of the request.';
comment on column erp.salutation.letter_name is 'Form that opens a letter, in the language of the request.';
create trigger touch_updated_at before update on erp.salutation
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.salutation', 'select');

create table erp.customer_group (
  id uuid primary key default uuidv7(),
  name erp.localized_text not null,
  display_gross boolean not null default true,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.customer_group enable row level security;
comment on table erp.customer_group is 'Groups of customers with common terms.';
comment on column erp.customer_group.name is 'Name of the group, in the language of the request.';
create trigger touch_updated_at before update on erp.customer_group
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.customer_group', 'select');

create table erp.payment_method (
  id uuid primary key default uuidv7(),
  technical_name text collate "C" not null unique,
  name erp.localized_text,
  description erp.localized_text,
  active boolean not null default true,
  position integer,
  after_order_enabled boolean not null default false,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.payment_method enable row level security;
comment on table erp.payment_method is 'Ways to pay.';
comment on column erp.payment_method.technical_name is 'Stable machine name, for example invoice.';
comment on column erp.payment_method.name is 'Name shown at checkout, in the language of the request.';
comment on column erp.payment_method.description is
  'Explanation shown at checkout, in the language of the request.';
comment on column erp.payment_method.active is 'Whether customers are offered it.';
comment on column erp.payment_method."position" is 'Place in the list at checkout; lower comes first.';
comment on column erp.payment_method.after_order_enabled is
  'Whether a customer may still change to it once the order is placed.';
create trigger touch_updated_at before update on erp.payment_method
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.payment_method', 'select');

create table erp.shipping_method (
  id uuid primary key default uuidv7(),
  technical_name text collate "C" not null unique,
  name erp.localized_text not null,
  active boolean not null default true,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.shipping_method enable row level security;
comment on table erp.shipping_method is 'Ways to ship. Clients know them by id and name only.';
create trigger touch_updated_at before update on erp.shipping_method
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.shipping_method', 'select');

create table erp.tag (
  id uuid primary key default uuidv7(),
  name text collate "C" not null
    constraint tag_name_is_unique unique constraint tag_name_is_not_blank check (btrim(name) <> ''),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.tag enable row level security;
comment on table erp.tag is 'Labels that people put on products, orders, customers and the like.';
comment on column erp.tag.name is 'The label itself, unique across all tags.';
comment on constraint tag_name_is_not_blank on erp.tag is
  E'@userError INVALID name\nThe name of the tag is blank.';
comment on constraint tag_name_is_unique on erp.tag is
  E'@userError NOT_UNIQUE name\nAnother tag has this name.';
create trigger touch_updated_at before update on erp.tag for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.tag', 'select', 'insert');

create table erp.sales_channel (
  id uuid primary key default uuidv7(),
  name erp.localized_text not null,
  country_id uuid not null references erp.country on delete restrict,
  currency_id uuid not null references erp.currency on delete restrict,
  customer_group_id uuid not null references erp.customer_group on delete restrict,
  payment_method_id uuid not null references erp.payment_method on delete restrict,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index sales_channel_country_id_id_idx on erp.sales_channel (country_id, id);
create index sales_channel_currency_id_id_idx on erp.sales_channel (currency_id, id);
create index sales_channel_customer_group_id_id_idx on erp.sales_channel (customer_group_id, id);
create index sales_channel_payment_method_id_id_idx on erp.sales_channel (payment_method_id, id);
alter table erp.sales_channel enable row level security;
comment on table erp.sales_channel is 'Places where the shop sells: a web shop, a market place, a till.';
comment on column erp.sales_channel.name is 'Name of the sales channel, in the language of the request.';
create trigger touch_updated_at before update on erp.sales_channel
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.sales_channel', 'select');

create table erp.sales_channel_country (
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  country_id uuid not null references erp.country on delete cascade,
  primary key (sales_channel_id, country_id)
);
create index sales_channel_country_country_id_sales_channel_id_idx
  on erp.sales_channel_country (country_id, sales_channel_id);
alter table erp.sales_channel_country enable row level security;
comment on table erp.sales_channel_country is 'Countries that a sales channel delivers to.';

create table erp.sales_channel_currency (
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  currency_id uuid not null references erp.currency on delete cascade,
  primary key (sales_channel_id, currency_id)
);
create index sales_channel_currency_currency_id_sales_channel_id_idx
  on erp.sales_channel_currency (currency_id, sales_channel_id);
alter table erp.sales_channel_currency enable row level security;
comment on table erp.sales_channel_currency is 'Currencies that a sales channel takes.';

create table erp.sales_channel_payment_method (
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  payment_method_id uuid not null references erp.payment_method on delete cascade,
  primary key (sales_channel_id, payment_method_id)
);
create index sales_channel_payment_method_payment_method_id_sales_channe_idx
  on erp.sales_channel_payment_method (payment_method_id, sales_channel_id);
alter table erp.sales_channel_payment_method enable row level security;
comment on table erp.sales_channel_payment_method is 'Payment methods that a sales channel offers.';

create table erp.sales_channel_registration_group (
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  customer_group_id uuid not null references erp.customer_group on delete cascade,
  primary key (sales_channel_id, customer_group_id)
);
create index sales_channel_registration_gr_customer_group_id_sales_chann_idx
  on erp.sales_channel_registration_group (customer_group_id, sales_channel_id);
alter table erp.sales_channel_registration_group enable row level security;
comment on table erp.sales_channel_registration_group is
  'Customer groups that visitors of a sales channel may register for.';

create table erp.admin_user (
  id uuid primary key default uuidv7(),
  username text collate "C" not null unique,
  first_name text not null,
  last_name text not null,
  created_at timestamptz(0) not null default date_trunc('second', now())
);
alter table erp.admin_user enable row level security;
comment on table erp.admin_user is 'People who work in the back office. Clients know them by id only.';

create table erp.state_transition (
  machine text not null constraint state_transition_machine_is_known
    check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment',
    'supplier_order',
      'quote', 'shipping_label')),
  action text not null,
  from_state text not null,
  to_state text not null,
  primary key (machine, action, from_state)
);
alter table erp.state_transition enable row level security;
comment on table erp.state_transition is
  'What may follow on what: the action that leads an entity from one state to the next.';
select api_meta.allow('service_booker', 'erp.state_transition', 'select');
select api_meta.allow('service_writer', 'erp.state_transition', 'select');

insert into erp.state_transition (machine, action, from_state, to_state) values
  ('goods_receipt', 'create', 'draft', 'created'), ('goods_receipt', 'withdraw', 'created', 'draft'),
  ('goods_receipt', 'approve', 'created', 'approved'), ('goods_receipt', 'start', 'approved', 'in_progress'),
  ('goods_receipt', 'complete', 'approved', 'completed'),
  ('goods_receipt', 'complete', 'in_progress', 'completed'),
  ('order', 'process', 'open', 'in_progress'), ('order', 'complete', 'in_progress', 'completed'),
  ('order', 'cancel', 'open', 'cancelled'), ('order', 'cancel', 'in_progress', 'cancelled'),
  ('order', 'reopen', 'completed', 'open'), ('order', 'reopen', 'cancelled', 'open'),
  ('order_delivery', 'ship_partially', 'open', 'shipped_partially'),
  ('order_delivery', 'ship', 'open', 'shipped'),
  ('order_delivery', 'ship', 'shipped_partially', 'shipped'),
  ('order_delivery', 'cancel', 'open', 'cancelled'),
  ('order_delivery', 'return_partially', 'shipped', 'returned_partially'),
  ('order_delivery', 'return', 'shipped', 'returned'),
  ('order_delivery', 'return', 'returned_partially', 'returned'),
  ('fulfillment_order', 'start', 'Open', 'InProgress'), ('fulfillment_order', 'stop', 'InProgress', 'Open'),
  ('fulfillment_order', 'hold', 'Open', 'OnHold'), ('fulfillment_order', 'hold', 'InProgress', 'OnHold'),
  ('fulfillment_order', 'close', 'Open', 'Closed'), ('fulfillment_order', 'close', 'InProgress', 'Closed'),
  ('fulfillment_order', 'cancel', 'Open', 'Cancelled'),
  ('fulfillment_order', 'cancel', 'InProgress', 'Cancelled'),
  ('fulfillment_order', 'cancel', 'OnHold', 'Cancelled'), ('fulfillment_order', 'reopen', 'Closed', 'Open'),
  ('supplier_order', 'send', 'open', 'sent'), ('supplier_order', 'confirm', 'sent', 'confirmed'),
  ('supplier_order', 'confirm', 'open', 'confirmed'),
  ('supplier_order', 'deliver_partially', 'confirmed', 'partially_delivered'),
  ('supplier_order', 'deliver', 'confirmed', 'delivered'),
  ('supplier_order', 'deliver', 'partially_delivered', 'delivered'),
  ('supplier_order', 'complete', 'confirmed', 'completed'),
  ('supplier_order', 'complete', 'partially_delivered', 'completed'),
  ('supplier_order', 'complete', 'delivered', 'completed'), ('supplier_order', 'cancel', 'open', 'cancelled'),
  ('supplier_order', 'cancel', 'sent', 'cancelled'), ('supplier_order', 'cancel', 'confirmed', 'cancelled'),
  ('quote', 'open', 'draft', 'open'), ('quote', 'send', 'open', 'sent'),
  ('quote', 'accept', 'sent', 'accepted'),
  ('quote', 'decline', 'sent', 'declined'), ('quote', 'expire', 'sent', 'expired'),
  ('shipping_label', 'cancel', 'created', 'cancelled'), ('shipping_label', 'fail', 'created', 'failed'),
  ('order', 'stop', 'in_progress', 'open'),
  ('order_delivery', 'ship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship', 'shipped', 'open'), ('order_delivery', 'unship', 'shipped_partially', 'open'),
  ('fulfillment_order', 'release_hold', 'OnHold', 'Open'),
  ('fulfillment', 'cancel', 'Fulfilled', 'Cancelled'),
  ('supplier_order', 'deliver_partially', 'delivered', 'partially_delivered'),
  ('supplier_order', 'take_back', 'delivered', 'confirmed'),
  ('supplier_order', 'take_back', 'partially_delivered', 'confirmed');

--! Included erp/is_string_array.sql
create or replace function erp.is_string_array(value jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(value) = 'array'
  and not pg_catalog.jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string")');
comment on function erp.is_string_array(jsonb) is
  'Whether a JSON value is an array that holds nothing but strings.';
grant execute on function erp.is_string_array(jsonb) to service_ledger, service_writer, service_booker;
--! EndIncluded erp/is_string_array.sql

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
create index customer_email_id_idx on erp.customer (email, id);
create index customer_group_id_id_idx on erp.customer (group_id, id);
create index customer_last_name_id_idx on erp.customer (last_name, id);
create index customer_last_payment_method_id_id_idx on erp.customer (last_payment_method_id, id);
create index customer_requested_group_id_id_idx on erp.customer (requested_group_id, id);
create index customer_sales_channel_id_id_idx on erp.customer (sales_channel_id, id);
create index customer_salutation_id_id_idx on erp.customer (salutation_id, id);
create unique index customer_storefront_id_is_unique on erp.customer (storefront_id, sales_channel_id);
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
comment on constraint customer_account_type_is_known on erp.customer is
  E'@userError INVALID account_type\nThere is no such type of accounts.';
comment on constraint customer_email_is_unique_per_channel on erp.customer is
  E'@userError NOT_UNIQUE email\nAnother customer of the sales channel has this address.';
comment on constraint customer_number_is_unique on erp.customer is
  E'@userError NOT_UNIQUE customer_number\nAnother customer has this number.';
comment on constraint customer_vat_ids_are_strings on erp.customer is
  E'@userError INVALID vat_ids\nThis must be a list of texts.';
comment on index erp.customer_storefront_id_is_unique is
  E'@userError NOT_UNIQUE storefront_id\nAnother customer of the sales channel has this id.';
create trigger touch_updated_at before update on erp.customer
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.customer',
  'select', 'insert', 'update (
    customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active, guest,
    storefront_id, group_id, requested_group_id, sales_channel_id, bound_sales_channel_id,
    default_payment_method_id, salutation_id)');

create table erp.customer_tag (
  customer_id uuid not null references erp.customer on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (customer_id, tag_id)
);
create index customer_tag_tag_id_customer_id_idx on erp.customer_tag (tag_id, customer_id);
alter table erp.customer_tag enable row level security;
comment on table erp.customer_tag is 'Tags of customers.';
select api_meta.allow('service_writer', 'erp.customer_tag', 'select', 'insert', 'delete');

--! Included erp/are_translations.sql
create or replace function erp.are_translations(texts jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object'
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "object")')
  and not pg_catalog.jsonb_path_exists(texts, '$.*.* ? (@.type() != "string")');
comment on function erp.are_translations(jsonb) is
  'Whether a JSON value is an object from locale to an object of texts, such as {"de": {"name": "Zelt"}}.';
grant execute on function erp.are_translations(jsonb) to service_writer;
--! EndIncluded erp/are_translations.sql

create table erp.product (
  id uuid primary key default uuidv7(),
  product_number text collate "C" not null constraint product_number_is_unique unique
    constraint product_number_is_not_blank check (btrim(product_number) <> '') not enforced,
  parent_id uuid references erp.product on delete cascade
    constraint product_is_not_its_own_parent check (parent_id <> id) not enforced,
  canonical_product_id uuid references erp.product on delete set null,
  name text,
  description text,
  translations jsonb not null default '{}',
  gtin text collate "C",
  manufacturer_number text collate "C",
  tax_rate numeric not null default 19
    constraint product_tax_rate_is_a_percentage check (tax_rate between 0 and 100) not enforced,
  is_batch_managed boolean not null default false,
  storefront_variants jsonb not null default '[]'
    constraint product_storefront_variants_is_a_list
    check (jsonb_typeof(storefront_variants) = 'array') not enforced,
  reorder_point integer
    constraint product_reorder_point_is_not_negative check (reorder_point >= 0) not enforced,
  target_maximum_quantity integer
    constraint product_target_maximum_is_not_negative check (target_maximum_quantity >= 0) not enforced,
  physical_stock integer not null default 0
    constraint product_physical_stock_is_not_negative check (physical_stock >= 0) not enforced,
  stock_not_available_for_sale integer not null default 0,
  reserved_stock integer not null default 0
    constraint product_reserved_stock_is_not_negative check (reserved_stock >= 0) not enforced,
  available_stock integer not null,
  open_supplier_order_quantity integer not null default 0
    constraint product_open_supplier_order_quantity_is_not_negative
    check (open_supplier_order_quantity >= 0) not enforced,
  last_supplier_order_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_translations_are_texts check (erp.are_translations(translations)) not enforced,
  constraint product_stock_not_for_sale_is_part_of_physical_stock
    check (stock_not_available_for_sale between 0 and physical_stock) not enforced,
  constraint product_available_stock_follows
    check (available_stock = physical_stock - stock_not_available_for_sale - reserved_stock) not enforced
);
create index product_available_stock_id_idx on erp.product (available_stock, id);
create index product_canonical_product_id_id_idx on erp.product (canonical_product_id, id);
create index product_gtin_id_idx on erp.product (gtin, id);
create index product_manufacturer_number_id_idx on erp.product (manufacturer_number, id);
create index product_name_id_idx on erp.product (name, id);
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
comment on column erp.product.translations is
  'Name and description in other languages: an object from locale to an object of texts.';
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
comment on constraint product_available_stock_follows on erp.product is E'@internal\n@keeps available_stock';
comment on constraint product_is_not_its_own_parent on erp.product is
  E'@userError INVALID parent_id\nA product is no variant of itself.';
comment on constraint product_number_is_not_blank on erp.product is
  E'@userError INVALID product_number\nThe number is blank.';
comment on constraint product_number_is_unique on erp.product is
  E'@userError NOT_UNIQUE product_number\nAnother product has this number.';
comment on constraint product_open_supplier_order_quantity_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_physical_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_reorder_point_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_reserved_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_stock_not_for_sale_is_part_of_physical_stock on erp.product is
  '@internal new products have no stock';
comment on constraint product_storefront_variants_is_a_list on erp.product is
  E'@userError INVALID storefront_variants\nThis must be a list.';
comment on constraint product_target_maximum_is_not_negative on erp.product is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe quantity must not be negative.';
comment on constraint product_tax_rate_is_a_percentage on erp.product is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
comment on constraint product_translations_are_texts on erp.product is
  '@internal The functions that write here see to it.';
comment on index erp.product_name_id_idx is 'For lists of products by name.';
create trigger touch_updated_at before update on erp.product
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.product',
  'select', 'update (
    physical_stock, stock_not_available_for_sale, reserved_stock, open_supplier_order_quantity,
    updated_at)');
select api_meta.allow('service_ledger', 'erp.product',
  'select', 'update (
    physical_stock, stock_not_available_for_sale, reserved_stock, open_supplier_order_quantity,
    last_supplier_order_at, updated_at)');
select api_meta.allow('service_writer', 'erp.product',
  'select', 'insert', 'update (
    product_number, parent_id, canonical_product_id, name, description, translations, gtin,
    manufacturer_number, tax_rate, is_batch_managed, storefront_variants, reorder_point,
    target_maximum_quantity)');

--! Included erp/is_web_address.sql
create or replace function erp.is_web_address(url text) returns boolean
language sql immutable strict parallel safe
return url ~* '^https?://([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?([/?#][]!#-;=?-[^-~]*)?$';
comment on function erp.is_web_address(text) is
  'Whether a text is an absolute address of http or https, spelled as it is sent: without user, spaces or '
  'characters beyond ASCII.';
grant execute on function erp.is_web_address(text) to service_writer;
--! EndIncluded erp/is_web_address.sql

create table erp.product_image (
  product_id uuid not null references erp.product on delete cascade,
  position integer not null constraint product_image_position_is_counted_from_1 check (position > 0),
  url text collate "C" not null constraint product_image_url_is_a_web_address check (erp.is_web_address(url)),
  alt_text text,
  translations jsonb not null default '{}'
    constraint product_image_translations_are_texts check (erp.are_translations(translations)),
  primary key (product_id, position),
  -- Looked at when a statement ends, because images change their places
  constraint product_image_is_unique unique (url, product_id) deferrable
);
alter table erp.product_image enable row level security;
comment on table erp.product_image is 'Addresses of images of products, in their order.';
comment on column erp.product_image.product_id is 'Product that the image shows.';
comment on column erp.product_image.position is
  'Place of the image among those of the product, counted from 1.';
comment on column erp.product_image.url is
  'Address of the image, which begins with https:// or http://. It is kept, and not fetched.';
comment on column erp.product_image.alt_text is 'What the image shows, for those who can''t see it.';
comment on column erp.product_image.translations is
  'The alternative text in other languages: an object from locale to an object of texts.';
comment on constraint product_image_is_unique on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_pkey on erp.product_image is
  '@internal set_images() replaces what is at a position';
comment on constraint product_image_position_is_counted_from_1 on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_translations_are_texts on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_url_is_a_web_address on erp.product_image is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_image',
  'select', 'insert', 'update (url, alt_text, translations)', 'delete');

create table erp.product_words (
  product_id uuid primary key references erp.product on delete cascade,
  words text not null
);
alter table erp.product_words enable row level security;
comment on table erp.product_words is
  'By what products are found, in lower case: beside the products, because a booking changes these, and each '
  'change writes to every index.';
select api_meta.allow('service_searcher', 'erp.product_words', 'select', 'insert', 'update (words)');

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
comment on constraint product_price_gross_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
comment on constraint product_price_net_is_not_negative on erp.product_price is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_price',
  'select', 'insert', 'update (net, gross, linked)', 'delete');

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
select api_meta.allow('service_writer', 'erp.product_tag', 'select', 'insert', 'delete');

create table erp.batch (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  number text collate "C" not null
    constraint batch_number_is_not_blank check (btrim(number) <> '') not enforced,
  comment text collate "C",
  physical_stock integer not null default 0
    constraint batch_physical_stock_is_not_negative check (physical_stock >= 0) not enforced,
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
comment on constraint batch_number_is_not_blank on erp.batch is
  '@internal check_goods_receipt_lines() refuses it';
comment on constraint batch_number_is_unique_per_product on erp.batch is
  '@internal resolve_goods_receipt_lines() takes the batch that is there';
comment on constraint batch_physical_stock_is_not_negative on erp.batch is
  '@internal new products have no stock';
create trigger touch_updated_at before update on erp.batch
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.batch', 'select', 'update (physical_stock, updated_at)');
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

--! Included erp/is_blank.sql
create or replace function erp.is_blank(words text) returns boolean
language sql immutable strict parallel safe
return words !~ U&'[^\0009-\000D\0020\0085\00A0\1680\2000-\200D\2028\2029\202F\205F\2060\3000\FEFF]';
comment on function erp.is_blank(text) is
  'Whether a text has nothing but white space, or nothing at all: that of Unicode, and characters '
  'without a width.';
grant execute on function erp.is_blank(text) to service_writer;
--! EndIncluded erp/is_blank.sql

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
select api_meta.allow('service_booker', 'erp.warehouse', 'select');
select api_meta.allow('service_ledger', 'erp.warehouse', 'select', 'update (updated_at)');
select api_meta.allow('service_writer', 'erp.warehouse',
  'select', 'insert',
  'update (code, name, is_default, is_default_receiving, is_stock_available_for_sale, address)',
  'delete');

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
comment on constraint location_has_one_per_warehouse on erp.location is
  '@internal each new warehouse gets its own';
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
select api_meta.allow('service_booker', 'erp.bin_location', 'select');
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
    constraint product_warehouse_configuration_reorder_point_is_not_negative
    check (reorder_point >= 0) not enforced,
  target_maximum_quantity integer
    constraint product_warehouse_configuration_target_is_not_negative
    check (target_maximum_quantity >= 0) not enforced,
  stock integer not null default 0,
  stock_below_reorder_point integer not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_warehouse_configuration_is_unique unique (product_id, warehouse_id),
  constraint product_warehouse_configuration_bin_is_in_the_warehouse
    foreign key (warehouse_id, default_bin_location_id) references erp.bin_location (warehouse_id, id)
    on delete set null (default_bin_location_id),
  constraint product_warehouse_configuration_stock_below_reorder_point_follo
    check (stock_below_reorder_point = reorder_point - stock) not enforced
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
comment on constraint product_warehouse_configuration_is_unique on erp.product_warehouse_configuration is
  '@internal set_product_warehouse_configuration() changes the one that is there';
comment on constraint
  product_warehouse_configuration_reorder_point_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_warehouse_configuration_stock_below_reorder_point_follo
  on erp.product_warehouse_configuration is E'@internal\n@keeps stock_below_reorder_point';
comment on constraint
  product_warehouse_configuration_target_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe target must not be negative.';
create trigger touch_updated_at before update on erp.product_warehouse_configuration
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.product_warehouse_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_ledger', 'erp.product_warehouse_configuration', 'select', 'update (stock)');
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration',
  'select', 'insert', 'update (default_bin_location_id, reorder_point, target_maximum_quantity)');

create table erp.product_stock_location_configuration (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  reorder_point integer not null default 0
    constraint product_stock_location_configuration_reorder_point_not_negative
    check (reorder_point >= 0) not enforced,
  target_maximum_quantity integer
    constraint product_stock_location_configuration_target_is_not_negative
    check (target_maximum_quantity >= 0) not enforced,
  stock integer not null default 0,
  stock_below_reorder_point integer not null,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint product_stock_location_configuration_has_one_place
    check (num_nonnulls(warehouse_id, bin_location_id) = 1) not enforced,
  constraint product_stock_location_configuration_is_unique
    unique nulls not distinct (product_id, warehouse_id, bin_location_id),
  constraint product_stock_location_configuration_stock_below_reorder_point_
    check (stock_below_reorder_point = reorder_point - stock) not enforced
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
comment on constraint product_stock_location_configuration_stock_below_reorder_point_
  on erp.product_stock_location_configuration is E'@internal\n@keeps stock_below_reorder_point';
create trigger touch_updated_at before update on erp.product_stock_location_configuration
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_booker', 'erp.product_stock_location_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_ledger', 'erp.product_stock_location_configuration',
  'select', 'update (stock)');

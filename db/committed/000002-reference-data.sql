--! Previous: sha1:e5617d88ba3752d64d0806b37c14ac32f6fe9bdb
--! Hash: sha1:661d855186bfa47f4e7fa5d28b485dfc674bef85
--! Message: reference-data

-- What everything else refers to: languages, countries, currencies, states and numbers.

--! Included erp/is_localized_text.sql
create or replace function erp.is_localized_text(texts jsonb) returns boolean
language sql immutable strict parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object' and coalesce(texts ->> 'en-GB', '') <> ''
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "string")');
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object from locale to text that has at least the default locale, en-GB.';
grant execute on function erp.is_localized_text(jsonb) to service_writer;
--! EndIncluded erp/is_localized_text.sql
create domain erp.localized_text as jsonb constraint localized_text_has_the_default_locale check (erp.is_localized_text(value));
comment on type erp.localized_text is
  'A text in several languages: an object from locale to text. The default, en-GB, is always there.';

create table erp.language (
  code text primary key constraint language_code_is_a_locale check (code ~ '^[a-z]{2,3}(-[A-Z]{2})?$'),
  name text not null
);
alter table erp.language enable row level security;
comment on table erp.language is 'Locales that names are kept in. Accept-Language is matched against these.';
select api_meta.allow('service_writer', 'erp.language', 'select');

insert into erp.language (code, name) values ('en-GB', 'English'), ('de-DE', 'Deutsch'), ('fr-FR', 'Français');

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
create trigger touch_updated_at before update on erp.tag for each row execute function erp.touch_updated_at();

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
    check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment', 'supplier_order',
      'quote', 'shipping_label')),
  action text not null,
  from_state text not null,
  to_state text not null,
  primary key (machine, action, from_state)
);
alter table erp.state_transition enable row level security;
comment on table erp.state_transition is
  'What may follow on what: the action that leads an entity from one state to the next.';
select api_meta.allow('service_writer', 'erp.state_transition', 'select');

insert into erp.state_transition (machine, action, from_state, to_state) values
  ('goods_receipt', 'create', 'draft', 'created'), ('goods_receipt', 'withdraw', 'created', 'draft'),
  ('goods_receipt', 'approve', 'created', 'approved'), ('goods_receipt', 'start', 'approved', 'in_progress'),
  ('goods_receipt', 'complete', 'approved', 'completed'), ('goods_receipt', 'complete', 'in_progress', 'completed'),
  ('order', 'process', 'open', 'in_progress'), ('order', 'complete', 'in_progress', 'completed'),
  ('order', 'cancel', 'open', 'cancelled'), ('order', 'cancel', 'in_progress', 'cancelled'),
  ('order', 'reopen', 'completed', 'open'), ('order', 'reopen', 'cancelled', 'open'),
  ('order_delivery', 'ship_partially', 'open', 'shipped_partially'), ('order_delivery', 'ship', 'open', 'shipped'),
  ('order_delivery', 'ship', 'shipped_partially', 'shipped'), ('order_delivery', 'cancel', 'open', 'cancelled'),
  ('order_delivery', 'return_partially', 'shipped', 'returned_partially'), ('order_delivery', 'return', 'shipped', 'returned'),
  ('order_delivery', 'return', 'returned_partially', 'returned'),
  ('fulfillment_order', 'start', 'Open', 'InProgress'), ('fulfillment_order', 'stop', 'InProgress', 'Open'),
  ('fulfillment_order', 'hold', 'Open', 'OnHold'), ('fulfillment_order', 'hold', 'InProgress', 'OnHold'),
  ('fulfillment_order', 'close', 'Open', 'Closed'), ('fulfillment_order', 'close', 'InProgress', 'Closed'),
  ('fulfillment_order', 'cancel', 'Open', 'Cancelled'), ('fulfillment_order', 'cancel', 'InProgress', 'Cancelled'),
  ('fulfillment_order', 'cancel', 'OnHold', 'Cancelled'), ('fulfillment_order', 'reopen', 'Closed', 'Open'),
  ('supplier_order', 'send', 'open', 'sent'), ('supplier_order', 'confirm', 'sent', 'confirmed'),
  ('supplier_order', 'confirm', 'open', 'confirmed'), ('supplier_order', 'deliver_partially', 'confirmed', 'partially_delivered'),
  ('supplier_order', 'deliver', 'confirmed', 'delivered'), ('supplier_order', 'deliver', 'partially_delivered', 'delivered'),
  ('supplier_order', 'complete', 'confirmed', 'completed'), ('supplier_order', 'complete', 'partially_delivered', 'completed'),
  ('supplier_order', 'complete', 'delivered', 'completed'), ('supplier_order', 'cancel', 'open', 'cancelled'),
  ('supplier_order', 'cancel', 'sent', 'cancelled'), ('supplier_order', 'cancel', 'confirmed', 'cancelled'),
  ('quote', 'open', 'draft', 'open'), ('quote', 'send', 'open', 'sent'), ('quote', 'accept', 'sent', 'accepted'),
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

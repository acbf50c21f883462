--! Previous: sha1:1dde4dbf3b6cb4e0b6daac36bd8958713e924edd
--! Hash: sha1:1b291e99195a26c756c387071fa239398494a866
--! Message: customer

--! split: 1-current.sql
-- Enter migration here

--! split: 0120-customer.sql
create table erp.customer (
  id uuid primary key default uuidv7(),
  customer_number text collate "C" not null constraint customer_number_is_unique unique,
  account_type text not null default 'Private' constraint customer_account_type_is_known check (account_type in ('Private', 'Business')),
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
create index on erp.customer (group_id, id);
create index on erp.customer (requested_group_id, id);
create index on erp.customer (sales_channel_id, id);
create index on erp.customer (bound_sales_channel_id, id);
create index on erp.customer (default_payment_method_id, id);
create index on erp.customer (last_payment_method_id, id);
create index on erp.customer (salutation_id, id);
create index on erp.customer (last_name, id);
create index on erp.customer (company, id);
create index on erp.customer (created_at, id);
create index on erp.customer (updated_at, id);
comment on table erp.customer is 'People and companies that buy.';
comment on column erp.customer.customer_number is 'Number that the shop knows the customer by; unique.';
comment on column erp.customer.account_type is 'Whether a person or a company buys.';
comment on column erp.customer.email is 'E-mail address; unique within the sales channel and the channel that the account is bound to.';
comment on column erp.customer.first_name is 'Given name.';
comment on column erp.customer.last_name is 'Family name.';
comment on column erp.customer.title is 'Academic or honorary title.';
comment on column erp.customer.company is 'Name of the company, for business customers.';
comment on column erp.customer.vat_ids is 'VAT identification numbers, as a JSON array of strings.';
comment on column erp.customer.active is 'Whether the account may log in and buy.';
comment on column erp.customer.guest is 'Whether the customer bought without opening an account.';
comment on column erp.customer.storefront_id is 'Id of the customer in the external storefront platform; null when not imported from it.';
comment on column erp.customer.group_id is 'Customer group whose terms apply.';
comment on column erp.customer.sales_channel_id is 'Sales channel where the account was made.';

create table erp.customer_tag (
  customer_id uuid not null references erp.customer on delete cascade,
  tag_id uuid not null references erp.tag on delete cascade,
  primary key (customer_id, tag_id)
);
create index on erp.customer_tag (tag_id, customer_id);
comment on table erp.customer_tag is 'Tags of customers.';

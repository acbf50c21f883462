-- A little shop for the plugin tests: "SQL in, SDL and answers out". It holds every smart tag of the vocabulary
-- once, so that a plugin can be tested without the product's own tables. Run it in an empty database.

-- Roles belong to the cluster, where several test files may be at this point at once.
do $$ begin
  create role plugin_sample_caller nologin;
exception when duplicate_object or unique_violation then null;
end $$;

create schema sample;
create schema sample_api;
grant usage on schema sample, sample_api to plugin_sample_caller;

create function sample.has_scope(variadic wanted text[]) returns boolean
language sql stable
return wanted && string_to_array(current_setting('service.scopes', true), ' ');

-- ---------------------------------------------------------------------------------------------------- tables
create table sample.currency (
  id uuid primary key,
  iso_code text not null,
  factor numeric not null
);
create table sample.country (
  id uuid primary key,
  name text
);
create table sample.tag (
  id uuid primary key,
  name text collate "C" not null unique
);
create table sample.product (
  id uuid primary key,
  parent_id uuid references sample.product,
  product_number text collate "C" not null,
  name text,
  weight numeric,
  rating float8,
  position smallint,
  stock integer not null default 0,
  active boolean not null default true,
  attributes jsonb not null default '{}',
  return_order_id uuid,
  created_at timestamptz(0) not null default '2026-03-04 05:06:07+00',
  updated_at timestamptz(0),
  secret text,
  margin numeric,
  words text[]
);
create table sample.price (
  product_id uuid not null references sample.product,
  currency_id uuid not null references sample.currency,
  kind text not null,
  net numeric not null,
  gross numeric not null,
  linked boolean not null
);
create table sample.product_tag (
  product_id uuid not null references sample.product,
  tag_id uuid not null references sample.tag,
  primary key (product_id, tag_id)
);
create table sample.batch (
  id uuid primary key,
  product_id uuid not null references sample.product,
  number text,
  state text not null default 'Open'
);
create index on sample.batch (product_id, id);
create table sample.location (
  id uuid primary key,
  batch_id uuid not null unique references sample.batch,
  code text not null
);

-- ------------------------------------------------------------------------------------- row-level security
do $$
declare entry record;
begin
  for entry in
    select * from (values ('currency', 'currencies'), ('country', 'countries'), ('tag', 'tags'), ('product', 'products'),
      ('price', 'products'), ('product_tag', 'products'), ('batch', 'batches'), ('location', 'locations')) as pair (name, resource)
  loop
    execute format('alter table sample.%I enable row level security', entry.name);
    execute format('create policy %I on sample.%I for select to plugin_sample_caller using ((select sample.has_scope(%L)))',
      entry.name || '_read', entry.name, entry.resource || ':read');
    execute format('grant select on sample.%I to plugin_sample_caller', entry.name);
  end loop;
end $$;

-- ------------------------------------------------------------------------------------------- the api schema
create type sample_api.price as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type sample_api.price is E'@name Price\nA price in one currency.';
comment on column sample_api.price.currency_id is E'@gid Currency\n@notNull\nCurrency of the price.';
comment on column sample_api.price.net is E'@notNull\nAmount without tax.';
comment on column sample_api.price.gross is E'@notNull\nAmount with tax.';
comment on column sample_api.price.linked is E'@notNull\nWhether net and gross follow each other.';

create type sample_api.batch_state as enum ('Open', 'OnHold', 'Closed');
comment on type sample_api.batch_state is
  E'@value Open May be sold.\n@value OnHold Must not be touched.\n@value Closed Has been used up.\nState of a batch.';

create view sample_api.currencies with (security_invoker) as
  select id, iso_code, factor from sample.currency;
comment on view sample_api.currencies is
  E'@primaryKey id\n@requiresScopes currencies:read\n@filters iso_code,factor\nA currency.';

create view sample_api.countries with (security_invoker) as
  select id, name from sample.country;
comment on view sample_api.countries is
  E'@primaryKey id\n@rootField countrys\n@requiresScopes countries:read\nA country.';

create view sample_api.tags with (security_invoker) as
  select id, name from sample.tag;
comment on view sample_api.tags is
  E'@primaryKey id\n@requiresScopes tags:read\n@filters *\n@ref products to:Product plural noFilter\n@refVia products via:(id)->product_tags(tag_id);(product_id)->products(id)\n@describe products Everything that bears the label.\nA label.';

create view sample_api.products with (security_invoker) as
  select p.id, p.parent_id, p.product_number, p.name, p.weight, p.rating, p.position, p.stock, p.active, p.attributes,
    p.return_order_id, p.created_at, p.updated_at, p.secret, p.margin, p.words,
    array(
      select row(r.currency_id, r.net, r.gross, r.linked)::sample_api.price
      from sample.price r where r.product_id = p.id and r.kind = 'sale' order by r.currency_id
    ) as price,
    (
      select array_agg(row(r.currency_id, r.net, r.gross, r.linked)::sample_api.price order by r.currency_id)
      from sample.price r where r.product_id = p.id and r.kind = 'purchase'
    ) as purchase_prices
  from sample.product p;
comment on view sample_api.products is
  E'@primaryKey id\n@requiresScopes products:read\n@filters *\n@gid return_order_id ReturnOrder\n@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children\n@ref tags to:Tag plural\n@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)\nA thing that is sold.';

create view sample_api.product_tags with (security_invoker) as
  select product_id, tag_id from sample.product_tag;
comment on view sample_api.product_tags is
  E'@primaryKey product_id,tag_id\n@behavior -*\n@foreignKey (product_id) references products (id)|@behavior -*\n@foreignKey (tag_id) references tags (id)|@behavior -*';

create view sample_api.batches with (security_invoker) as
  select id, product_id, number, state from sample.batch;
comment on view sample_api.batches is
  E'@primaryKey id\n@requiresScopes batches:read\n@filters product_id,number,state\n@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName batches\nA lot of a product.';

create view sample_api.locations with (security_invoker) as
  select id, batch_id, code from sample.location;
comment on view sample_api.locations is
  E'@unique batch_id|@behavior -*\n@primaryKey id\n@requiresScopes locations:read allOf: audits:read\n@filters code\n@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName location|@forwardDescription The batch that lies here.|@backwardDescription The place where the batch lies.\nA place where a batch lies.';

do $$
declare entry record;
begin
  for entry in
    select * from (values
      ('currencies', 'id', '@notNull'), ('currencies', 'iso_code', E'@notNull\nCode by ISO 4217.'),
      ('currencies', 'factor', E'@notNull\nUnits per unit of the default currency.'),
      ('countries', 'id', '@notNull'), ('countries', 'name', 'Name in the caller''s language.'),
      ('tags', 'id', '@notNull'), ('tags', 'name', E'@notNull\nText of the label.'),
      ('products', 'id', '@notNull'), ('products', 'parent_id', E'@indexed\nProduct that this one is a variant of.'),
      ('products', 'product_number', E'@notNull\n@orders\nStock keeping unit.'), ('products', 'name', E'@orders\nName.'),
      ('products', 'weight', 'Weight in grams.'), ('products', 'rating', 'Rating by buyers, 0 to 5.'),
      ('products', 'position', 'Place in lists.'), ('products', 'stock', E'@notNull\nUnits at hand.'),
      ('products', 'active', E'@notNull\n@orders product_number\nWhether it is sold.'), ('products', 'attributes', E'@notNull\nAnything else.'),
      ('products', 'return_order_id', 'Return that it came from.'),
      ('products', 'created_at', E'@notNull\nTime of creation.'), ('products', 'updated_at', E'@orders\nTime of the last change.'),
      ('products', 'secret', '@behavior -*'),
      ('products', 'words', 'Words to find it by.'),
      ('products', 'margin', E'@requiresScopes margins:read\n@orders\nWhat is earned with one.'), ('products', 'price', E'@notNull\nSales prices.'),
      ('products', 'purchase_prices', 'Purchase prices.'),
      ('batches', 'id', '@notNull'), ('batches', 'product_id', E'@notNull\n@indexed\nProduct of the batch.'),
      ('batches', 'number', 'Number of the batch.'),
      ('batches', 'state', E'@notNull\n@orders\n@enum batch_state\nState of the batch.'),
      ('locations', 'id', '@notNull'), ('locations', 'batch_id', E'@notNull\n@indexed\nBatch that lies here.'),
      ('locations', 'code', E'@notNull\nLabel of the place.')
    ) as tagged (view_name, column_name, tags)
  loop
    execute format('comment on column sample_api.%I.%I is %L', entry.view_name, entry.column_name, entry.tags);
  end loop;
end $$;
grant select on all tables in schema sample_api to plugin_sample_caller;

-- ------------------------------------------------------------------------------------------------------ rows
-- Ids are spelled out, so that tests can name them: the last group is the row's number, the one before it the table's.
create function sample.id(kind integer, number integer) returns uuid
language sql immutable
return ('01980000-0000-7000-' || lpad((8000 + kind)::text, 4, '0') || '-' || lpad(number::text, 12, '0'))::uuid;

insert into sample.currency select sample.id(1, n), iso_code, factor
  from (values (1, 'EUR', 1), (2, 'USD', 1.0825)) as v (n, iso_code, factor);
insert into sample.country select sample.id(2, n), name
  from (values (1, 'Austria'), (2, null)) as v (n, name);
insert into sample.tag select sample.id(3, n), 'tag-' || n from generate_series(1, 12) n;

insert into sample.product (id, parent_id, product_number, name, weight, rating, position, stock, active, attributes, return_order_id, updated_at, margin, words)
select sample.id(4, n), case when n between 4 and 6 then sample.id(4, 1) end, 'P-' || lpad(n::text, 3, '0'),
  case n when 7 then '100% pure' when 8 then 'under_score' when 9 then 'back\slash' when 10 then null
    when 11 then 'CASE' when 12 then 'case' else 'Product ' || n end,
  case when n % 3 <> 0 then n * 1.5 end, case when n % 4 <> 0 then n / 8.0 end,
  case when n % 5 <> 0 then n end, n * 10, n % 2 = 0,
  case n when 1 then '{"colours": ["red", null], "size": {"width": 1.5}}'::jsonb when 2 then '[]' when 3 then '"text"' else '{}' end,
  case when n = 2 then sample.id(9, 1) end, case when n % 2 = 0 then timestamptz '2026-05-01 00:00:00+00' + n * interval '1 hour' end, n,
  case n when 1 then array['a', '', '"quoted", \{}'] when 2 then '{}' end
from generate_series(1, 30) n;
insert into sample.price (product_id, currency_id, kind, net, gross, linked)
values
  (sample.id(4, 1), sample.id(1, 1), 'sale', 10, 11.9, true),
  (sample.id(4, 1), sample.id(1, 2), 'sale', 12.5, 14.875, false),
  (sample.id(4, 2), sample.id(1, 1), 'sale', 123456789.12, 99999999999999.99, true),
  (sample.id(4, 1), sample.id(1, 1), 'purchase', 5, 5.95, true);
insert into sample.product_tag select sample.id(4, p), sample.id(3, t)
  from generate_series(1, 6) p, generate_series(1, 12) t where t <= 2 * p;
insert into sample.batch (id, product_id, number, state)
  select sample.id(5, n), sample.id(4, (n + 3) / 4), 'B-' || n, (array['Open', 'OnHold', 'Closed'])[1 + n % 3]
  from generate_series(1, 20) n;
insert into sample.location select sample.id(6, n), sample.id(5, 6 - n), 'L-' || n from generate_series(1, 5) n;

--! Previous: sha1:26abd2799baa1e7f74bb0977ed182527684f523c
--! Hash: sha1:48edd1c8541b08cf44d1450cd0afb09cbe931f93
--! Message: document

--! split: 1-current.sql
-- Enter migration here

--! split: 0170-document.sql
create table erp.number_range (
  technical_name text primary key,
  pattern text not null constraint number_range_pattern_has_a_counter check (pattern like '%{n}%'),
  last_number bigint not null default 0 constraint number_range_last_number_is_not_negative check (last_number >= 0)
);
comment on table erp.number_range is 'Where numbers of documents and orders come from: the pattern, with {n} for the counter, and the last one given.';

create table erp.document_type (
  id uuid primary key default uuidv7(),
  technical_name text collate "C" not null unique,
  name erp.localized_text not null,
  number_range text references erp.number_range on delete set null on update cascade,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index on erp.document_type (number_range);
comment on table erp.document_type is 'Kinds of documents: invoice, delivery note, credit note, storno.';
comment on column erp.document_type.technical_name is 'Stable machine name, for example invoice or credit_note.';
comment on column erp.document_type.name is 'Name for people, in the language of the request.';

create table erp.document (
  id uuid primary key default uuidv7(),
  document_type_id uuid not null references erp.document_type on delete restrict,
  order_id uuid not null references erp.sales_order on delete cascade,
  referenced_document_id uuid references erp.document on delete set null,
  document_number text collate "C",
  deep_link_code text collate "C" not null unique constraint document_deep_link_code_is_long check (length(deep_link_code) >= 32),
  config jsonb not null default '{}' constraint document_config_is_an_object check (jsonb_typeof(config) = 'object'),
  static boolean not null default false,
  sent boolean not null default false,
  content bytea,
  content_type text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint document_number_is_unique_per_type unique (document_type_id, document_number),
  constraint document_static_has_no_config check (not static or config = '{}'),
  constraint document_content_has_a_type check ((content is null) = (content_type is null))
);
create index on erp.document (document_type_id, id);
create index on erp.document (order_id, id);
create index on erp.document (referenced_document_id, id);
create index on erp.document (document_number, id);
comment on table erp.document is 'Documents of orders, rendered from their config or uploaded as files.';
comment on column erp.document.document_number is 'Number of the document, given when it is rendered, by the number range of its type.';
comment on column erp.document.deep_link_code is 'Random code that opens the document without a login.';
comment on column erp.document.config is 'What the document is rendered from, as it was when it was made: a JSON object. Empty for uploaded files.';
comment on column erp.document.static is 'Whether the document was uploaded as a finished file instead of rendered.';
comment on column erp.document.sent is 'Whether the document was marked as sent to the customer.';

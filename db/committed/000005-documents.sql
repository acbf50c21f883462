--! Previous: sha1:0eada6f239086692766fbd9b79c5aacbe40ed605
--! Hash: sha1:fe2720a9716feb89e7759c4913e76046f4cd836e
--! Message: documents

-- Documents of orders, the numbers that they get, and who sells.

create table erp.number_range (
  technical_name text primary key,
  pattern text not null constraint number_range_pattern_has_a_counter check (pattern like '%{n}%'),
  last_number bigint not null default 0
    constraint number_range_last_number_is_not_negative check (last_number >= 0),
  sequence regclass
);
alter table erp.number_range enable row level security;
comment on table erp.number_range is
  'Where numbers of documents and orders come from: the pattern, with {n} for the counter, and the last '
  'one given.';
comment on column erp.number_range.last_number is
  'The last number given; not used when a sequence counts.';
comment on column erp.number_range.sequence is
  'The sequence that counts in the place of last_number: nobody waits for others then, and what is undone '
  'leaves a gap. Null for ranges without gaps.';
comment on constraint number_range_last_number_is_not_negative on erp.number_range is
  E'@userError OUT_OF_RANGE\nThe number range has come to an end.';
comment on constraint number_range_pattern_has_a_counter on erp.number_range is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.number_range', 'select', 'update (last_number)');

-- Ranges whose numbers may skip come from a sequence, so that shipments do not wait for each other
create sequence erp.fulfillment_number;
create sequence erp.fulfillment_order_number;
grant usage on sequence erp.fulfillment_number, erp.fulfillment_order_number to service_writer;
select setval('erp.fulfillment_number', 10000), setval('erp.fulfillment_order_number', 10000);

insert into erp.number_range (technical_name, pattern, last_number, sequence)
select name, prefix || '{n}', 10000, sequence from (values
  ('order', 'SO-', null), ('customer', 'C-', null),
  ('fulfillment_order', 'FO-', 'erp.fulfillment_order_number'::regclass),
  ('fulfillment', 'F-', 'erp.fulfillment_number'), ('return_order', 'R-', null),
  ('supplier_order', 'PO-', null),
  ('goods_receipt', 'GR-', null), ('quote', 'Q-', null), ('supplier', 'S-', null),
  ('document_invoice', 'INV-', null), ('document_delivery_note', 'DN-', null),
  ('document_credit_note', 'CN-', null), ('document_storno', 'ST-', null), ('document_upload', 'UP-', null)
) as v (name, prefix, sequence);

create table erp.document_type (
  id uuid primary key default uuidv7(),
  technical_name text collate "C" not null unique,
  name erp.localized_text not null,
  number_range text references erp.number_range on delete set null on update cascade,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index document_type_number_range_idx on erp.document_type (number_range);
alter table erp.document_type enable row level security;
comment on table erp.document_type is 'Kinds of documents: invoice, delivery note, credit note, storno.';
comment on column erp.document_type.technical_name is
  'Stable machine name, for example invoice or credit_note.';
comment on column erp.document_type.name is 'Name for people, in the language of the request.';
create trigger touch_updated_at before update on erp.document_type
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_ledger', 'erp.document_type', 'select');
select api_meta.allow('service_writer', 'erp.document_type', 'select');

insert into erp.document_type (technical_name, name, number_range)
select technical_name, jsonb_build_object('en-GB', en, 'de-DE', de, 'fr-FR', fr),
  'document_' || technical_name
from (values ('invoice', 'Invoice', 'Rechnung', 'Facture'),
  ('delivery_note', 'Delivery note', 'Lieferschein', 'Bon de livraison'),
  ('credit_note', 'Credit note', 'Gutschrift', 'Avoir'),
  ('storno', 'Cancellation invoice', 'Stornorechnung', 'Facture d''annulation'),
  ('upload', 'Uploaded file', 'Hochgeladene Datei', 'Fichier')) as v (technical_name, en, de, fr);

create table erp.document (
  id uuid primary key default uuidv7(),
  document_type_id uuid not null references erp.document_type on delete restrict,
  order_id uuid not null references erp.sales_order on delete cascade,
  referenced_document_id uuid references erp.document on delete set null,
  document_number text collate "C",
  deep_link_code text collate "C" not null unique
    constraint document_deep_link_code_is_long check (length(deep_link_code) >= 32),
  config jsonb not null default '{}'
    constraint document_config_is_an_object check (jsonb_typeof(config) = 'object'),
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
create index document_document_number_id_idx on erp.document (document_number, id);
create index document_document_type_id_id_idx on erp.document (document_type_id, id);
create index document_order_id_id_idx on erp.document (order_id, id);
create index document_referenced_document_id_id_idx on erp.document (referenced_document_id, id);
alter table erp.document enable row level security;
comment on table erp.document is 'Documents of orders, rendered from their config or uploaded as files.';
comment on column erp.document.document_number is
  'Number of the document, given when it is rendered, by the number range of its type.';
comment on column erp.document.deep_link_code is 'Random code that opens the document without a login.';
comment on column erp.document.config is
  'What the document is rendered from, as it was when it was made: a JSON object. Empty for uploaded files.';
comment on column erp.document.static is
  'Whether the document was uploaded as a finished file instead of rendered.';
comment on column erp.document.sent is 'Whether the document was marked as sent to the customer.';
comment on constraint document_config_is_an_object on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_content_has_a_type on erp.document is '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_is_long on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_key on erp.document is '@internal insert_document() sees to it';
comment on constraint document_number_is_unique_per_type on erp.document is
  '@internal next_number() gives each number once';
comment on constraint document_static_has_no_config on erp.document is
  '@internal insert_document() sees to it';
create trigger touch_updated_at before update on erp.document
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_document', 'erp.document',
  'select (id, document_number, deep_link_code, config, static, content, content_type)');
select api_meta.allow('service_ledger', 'erp.document', 'select');
select api_meta.allow('service_writer', 'erp.document', 'select', 'insert');

--! Included erp/is_iban.sql
create or replace function erp.is_iban(iban text) returns boolean
language sql immutable strict
return iban ~ '^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$' and (
  select string_agg(
    case when c.letter ~ '\d' then c.letter else (ascii(c.letter) - 55)::text end, '' order by c.n
  )::numeric
    % 97 = 1
  from regexp_split_to_table(substr(iban, 5) || left(iban, 4), '') with ordinality c (letter, n));
comment on function erp.is_iban(text) is
  'Whether a text is an IBAN, without spaces, whose check digits are right.';
--! EndIncluded erp/is_iban.sql

-- Who sells
create table erp.merchant (
  is_only_row boolean primary key default true constraint merchant_is_one check (is_only_row),
  legal_name text collate "C" constraint merchant_legal_name_is_not_blank check (btrim(legal_name) <> ''),
  address jsonb constraint merchant_address_is_an_object check (jsonb_typeof(address) = 'object'),
  email text collate "C",
  phone text collate "C",
  website text collate "C",
  vat_id text collate "C"
    constraint merchant_vat_id_begins_with_a_country check (vat_id ~ '^[A-Z]{2}[A-Z0-9+*]{2,12}$'),
  tax_number text collate "C",
  is_small_business boolean not null default false,
  managers text collate "C",
  register text collate "C",
  account_holder text collate "C",
  iban text collate "C",
  bic text collate "C"
    constraint merchant_bic_has_its_form check (bic ~ '^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$'),
  bank_name text collate "C",
  footer erp.localized_text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint merchant_iban_is_one check (erp.is_iban(iban))
);
alter table erp.merchant enable row level security;
comment on table erp.merchant is
  'What documents say of the merchant. One row, or none as long as nobody has filled it in: then '
  'documents lack what the law asks for, and a warning says so.';
comment on column erp.merchant.is_only_row is 'True, so that there is no second row.';
comment on column erp.merchant.legal_name is 'Full name of the company or person, as the law knows it.';
comment on column erp.merchant.address is
  'Address of the seat, an object with the keys of erp.fulfillment_order.shipping_address. countryIso '
  'decides what is a delivery abroad.';
comment on column erp.merchant.vat_id is
  'VAT identification number, without spaces, for example DE999999999.';
comment on column erp.merchant.tax_number is
  'Number at the tax office, for merchants without a VAT number or beside it.';
comment on column erp.merchant.is_small_business is
  'Whether no VAT is charged because the business is small. Said on invoices of orders without tax.';
comment on column erp.merchant.managers is 'Who may act for the company, where that has to be said.';
comment on column erp.merchant.register is 'Court and number of the company in the commercial register.';
comment on column erp.merchant.account_holder is 'Name of the account, where it differs from the legal name.';
comment on column erp.merchant.iban is 'Number of the bank account, without spaces.';
comment on column erp.merchant.bic is 'Code of the bank.';
comment on column erp.merchant.footer is 'Text at the end of each document, in the languages of documents.';
create trigger touch_updated_at before update on erp.merchant
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.merchant', 'select');

create table erp.document_fulfillment (
  document_id uuid not null references erp.document on delete cascade,
  fulfillment_id uuid not null references erp.fulfillment on delete cascade,
  primary key (document_id, fulfillment_id)
);
create index document_fulfillment_fulfillment_id_idx
  on erp.document_fulfillment (fulfillment_id, document_id);
alter table erp.document_fulfillment enable row level security;
comment on table erp.document_fulfillment is
  'The shipments that a delivery note lists, or that an invoice charges. Cancelling one of them cancels '
  'the invoice.';
select api_meta.allow('service_writer', 'erp.document_fulfillment', 'select', 'insert');

create table erp.invoice (
  document_id uuid primary key references erp.document on delete cascade,
  cancellation_id uuid
    constraint invoice_is_cancelled_by_one_document unique references erp.document on delete set null
);
alter table erp.invoice enable row level security;
comment on table erp.invoice is 'Documents that charge something: invoices, drafts not included.';
comment on column erp.invoice.cancellation_id is
  'The storno that cancelled the invoice; null while it stands.';
comment on constraint invoice_is_cancelled_by_one_document on erp.invoice is
  '@internal the invoice is locked while it is cancelled';
select api_meta.allow('service_ledger', 'erp.invoice', 'select', 'update (cancellation_id)');
select api_meta.allow('service_writer', 'erp.invoice', 'select', 'insert');

create table erp.invoice_line_item (
  id uuid primary key default uuidv7(),
  document_id uuid not null references erp.invoice on delete cascade,
  order_line_item_id uuid not null references erp.sales_order_line_item on delete cascade,
  first_unit integer not null default 0
    constraint invoice_line_item_first_unit_is_not_negative check (first_unit >= 0),
  quantity integer not null constraint invoice_line_item_quantity_is_positive check (quantity > 0),
  constraint invoice_line_item_is_unique unique (document_id, order_line_item_id, first_unit)
);
create index invoice_line_item_order_line_item_id_idx
  on erp.invoice_line_item (order_line_item_id, document_id);
alter table erp.invoice_line_item enable row level security;
comment on table erp.invoice_line_item is 'Units of lines of orders that an invoice charges.';
comment on column erp.invoice_line_item.first_unit is
  'How many units of the line come before these. Units are counted, so that prices that do not divide '
  'by them add up over several invoices.';
comment on constraint invoice_line_item_first_unit_is_not_negative on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_is_unique on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_quantity_is_positive on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
select api_meta.allow('service_ledger', 'erp.invoice_line_item', 'select');
select api_meta.allow('service_writer', 'erp.invoice_line_item', 'select', 'insert');

-- Quotes that are written, sent and accepted; documents of quotes and supplier orders
drop view if exists api_unstable.quotes, api_unstable.quote_line_items cascade;
drop trigger if exists keep_amounts_after_insert on erp.quote_line_item;
drop trigger if exists keep_amounts_after_update on erp.quote_line_item;
drop trigger if exists keep_amounts_after_delete on erp.quote_line_item;
drop trigger if exists keep_sent on erp.quote_line_item;
drop trigger if exists keep_sent_undeleted on erp.quote_line_item;
drop trigger if exists keep_sent on erp.quote;
drop trigger if exists keep_amounts on erp.quote;
drop function if exists erp.match_order_lines(mutation.upsert_row[]);
-- Removing columns would take the functions of all documents with them, so what is there is kept
alter table erp.quote add column if not exists shipping_address jsonb;
alter table erp.quote add column if not exists billing_address jsonb;
alter table erp.quote add column if not exists revision integer not null default 1;
alter table erp.quote add column if not exists sent_at timestamptz(0);
alter table erp.quote add column if not exists decline_reason text collate "C";
comment on column erp.quote.state is
  'draft, open, sent, accepted, declined or expired. An open quote is complete and waits to be sent: other '
  'programs set it, for example after somebody approved it.';
comment on column erp.quote.valid_until is
  'Until when the customer can accept; null until it is sent, unless somebody has set it.';
comment on column erp.quote.comment is 'Free note, which no document shows.';
comment on column erp.quote.shipping_address is
  'Address that the goods are to go to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column erp.quote.billing_address is
  'Address that the quote and its invoice go to: an object with the same keys.';
comment on column erp.quote.revision is
  'How often the quote was written: 1, and one more each time that it is changed after it was sent.';
comment on column erp.quote.sent_at is 'When the quote was last sent.';
comment on column erp.quote.decline_reason is 'Why the customer declined; null in other states.';
alter table erp.quote_line_item add column if not exists tax_category text collate "C";
alter table erp.quote_line_item add column if not exists exemption_code text collate "C";
alter table erp.quote_line_item add column if not exists discount_reason text collate "C";
alter table erp.quote_line_item add column if not exists unit_code text collate "C";
comment on column erp.quote_line_item.tax_rate is 'Tax rate in percent.';
comment on column erp.quote_line_item.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. Null follows from the tax rate and the tax status of the quote.';
comment on column erp.quote_line_item.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX. Null takes the code of the category.';
comment on column erp.quote_line_item.discount_reason is
  'Reason why the total is less than the unit price times the quantity.';
comment on column erp.quote_line_item.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20. Null takes the product''s, or else C62: one.';
alter table erp.merchant add column if not exists quote_days integer;
alter table erp.merchant add column if not exists quote_terms jsonb;
alter table erp.merchant add column if not exists supplier_order_terms jsonb;
comment on column erp.merchant.quote_days is
  'Days after a quote is sent during which the customer can accept it, if it has no other date; null if each '
  'quote needs a date.';
comment on column erp.merchant.quote_terms is 'Terms on the documents of quotes, by language.';
comment on column erp.merchant.supplier_order_terms is
  'Terms on the documents of supplier orders, by language.';

-- The rules of orders' lines hold for quotes' lines, because they become such
do $$
declare
  rule record;
begin
  for rule in
    select * from (values
      ('erp.quote', 'quote_number_is_not_blank', 'not erp.is_blank(number)',
        E'INVALID number\nThe number is blank. Leave it out if there is none.'),
      ('erp.quote', 'quote_comment_length', 'length(comment) <= 10000',
        E'OUT_OF_RANGE comment\nThe text has more than 10,000 characters.'),
      ('erp.quote', 'quote_decline_reason_length', 'length(decline_reason) <= 10000',
        E'OUT_OF_RANGE decline_reason\nThe text has more than 10,000 characters.'),
      ('erp.quote', 'quote_shipping_address_is_an_object', $c$jsonb_typeof(shipping_address) = 'object'$c$,
        E'INVALID shipping_address\nThe address must be a JSON object.'),
      ('erp.quote', 'quote_billing_address_is_an_object', $c$jsonb_typeof(billing_address) = 'object'$c$,
        E'INVALID billing_address\nThe address must be a JSON object.'),
      ('erp.quote', 'quote_shipping_address_length', 'length(shipping_address::text) <= 10000',
        E'OUT_OF_RANGE shipping_address\nThis has more than 10,000 characters as JSON.'),
      ('erp.quote', 'quote_billing_address_length', 'length(billing_address::text) <= 10000',
        E'OUT_OF_RANGE billing_address\nThis has more than 10,000 characters as JSON.'),
      ('erp.quote_line_item', 'quote_line_item_identifier_is_not_blank', 'not erp.is_blank(identifier)',
        E'INVALID identifier\nThe identifier is blank. Leave it out if there is none.'),
      ('erp.quote_line_item', 'quote_line_item_identifier_length', 'length(identifier) <= 1000',
        E'OUT_OF_RANGE identifier\nThe text has more than 1,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_label_length', 'length(label) <= 1000',
        E'OUT_OF_RANGE label\nThe text has more than 1,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_description_length', 'length(description) <= 10000',
        E'OUT_OF_RANGE description\nThe text has more than 10,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_type_length', 'length(type) <= 255',
        E'OUT_OF_RANGE type\nThe text has more than 255 characters.'),
      ('erp.quote_line_item', 'quote_line_item_discount_reason_length', 'length(discount_reason) <= 255',
        E'OUT_OF_RANGE discount_reason\nThe text has more than 255 characters.'),
      ('erp.quote_line_item', 'quote_line_item_product_only_on_product_lines',
        $c$product_id is null or type is not distinct from 'product'$c$,
        E'INVALID type\nOnly lines of type product name a product.'),
      ('erp.quote_line_item', 'quote_line_item_unit_price_is_an_amount', 'abs(unit_price) < 1000000000000000',
        E'OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.'),
      ('erp.quote_line_item', 'quote_line_item_total_price_is_an_amount',
        'abs(total_price) < 1000000000000000',
        E'OUT_OF_RANGE total_price\nAn amount must be less than 1,000,000,000,000,000.'),
      ('erp.quote_line_item', 'quote_line_item_tax_category_is_known',
        $c$tax_category ~ '^(S|Z|E|AE|K|G)$'$c$,
        E'INVALID tax_category\nThe tax category must be S, Z, E, AE, K or G.'),
      ('erp.quote_line_item', 'quote_line_item_tax_category_matches_rate',
        $c$tax_category !~ '^(S|Z|E|AE|K|G)$' or (tax_category = 'S') = (tax_rate > 0)$c$,
        E'INVALID tax_category\nOnly the tax category S has a tax rate above 0, and it needs one.'),
      ('erp.quote_line_item', 'quote_line_item_exemption_code_has_its_form',
        $c$exemption_code is null or exemption_code ~ '^VATEX-[A-Z]{2}-[A-Z0-9-]{1,40}$'
          and tax_category is not null and tax_category ~ '^(E|AE|K|G)$'$c$,
        E'INVALID exemption_code\nThe code must be of the list VATEX, such as VATEX-EU-AE, with a tax '
        'category of E, AE, K or G.'),
      ('erp.quote_line_item', 'quote_line_item_unit_code_has_its_form', $c$unit_code ~ '^[A-Z0-9]{2,3}$'$c$,
        E'INVALID unit_code\nThe unit must be a code of UN/ECE Recommendation 20, such as C62 or KGM.')
    ) r (relation, name, condition, error)
  loop
    execute format('alter table %s drop constraint if exists %I', rule.relation, rule.name);
    execute format('alter table %s add constraint %I check (%s) not valid', rule.relation, rule.name,
      rule.condition);
    execute format('comment on constraint %I on %s is %L', rule.name, rule.relation,
      '@userError ' || rule.error);
  end loop;
end
$$;
comment on constraint quote_number_is_unique on erp.quote is
  E'@userError NOT_UNIQUE number\nAnother quote has this number.';
comment on constraint quote_tax_status_is_known on erp.quote is
  E'@userError INVALID tax_status\nThis is gross, net or tax-free.';
comment on constraint quote_state_is_known on erp.quote is
  '@internal erp.state_transition has only these states.';
comment on constraint quote_line_item_quantity_is_positive on erp.quote_line_item is
  E'@userError OUT_OF_RANGE quantity\nThe quantity must be at least 1.';
comment on constraint quote_line_item_tax_rate_is_a_percentage on erp.quote_line_item is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
alter table erp.merchant drop constraint if exists merchant_quote_days_are_plausible;
alter table erp.merchant add constraint merchant_quote_days_are_plausible
  check (quote_days >= 0 and quote_days <= 365) not valid;
alter table erp.merchant drop constraint if exists merchant_quote_terms_are_localized;
alter table erp.merchant add constraint merchant_quote_terms_are_localized
  check (erp.is_localized_text(quote_terms)) not valid;
alter table erp.merchant drop constraint if exists merchant_supplier_order_terms_are_localized;
alter table erp.merchant add constraint merchant_supplier_order_terms_are_localized
  check (erp.is_localized_text(supplier_order_terms)) not valid;
drop index if exists erp.quote_waits_idx;
-- waive index-blocks-writes: only SQL has made quotes so far
create index quote_waits_idx on erp.quote (valid_until) where state = 'sent';
comment on index erp.quote_waits_idx is 'For erp.expire_quotes.';

update erp.state_transition t set mutation = 'quote_' || t.action
where t.machine = 'quote' and t.action in ('send', 'accept', 'decline');
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('quote', 'send', 'draft', 'sent', 'quote_send'),
  ('quote', 'accept', 'expired', 'accepted', 'quote_accept'),
  ('quote', 'revise', 'sent', 'draft', 'quote_revise'),
  ('quote', 'revise', 'declined', 'draft', 'quote_revise'),
  ('quote', 'revise', 'expired', 'draft', 'quote_revise')
on conflict do nothing;

-- Documents are about one of three things
alter table erp.document alter column order_id drop not null;
alter table erp.document add column if not exists quote_id uuid;
alter table erp.document add column if not exists supplier_order_id uuid;
comment on table erp.document is
  'Documents of orders, quotes and supplier orders, rendered from their config or uploaded as files.';
comment on column erp.document.order_id is 'Order that the document is about.';
comment on column erp.document.quote_id is 'Quote that the document is about.';
comment on column erp.document.supplier_order_id is 'Supplier order that the document is about.';
alter table erp.document drop constraint if exists document_quote_id_fkey;
alter table erp.document add constraint document_quote_id_fkey
  foreign key (quote_id) references erp.quote on delete cascade not valid;
alter table erp.document drop constraint if exists document_supplier_order_id_fkey;
alter table erp.document add constraint document_supplier_order_id_fkey
  foreign key (supplier_order_id) references erp.supplier_order on delete cascade not valid;
alter table erp.document drop constraint if exists document_is_about_one_thing;
alter table erp.document add constraint document_is_about_one_thing
  check (num_nonnulls(order_id, quote_id, supplier_order_id) = 1) not valid;
comment on constraint document_quote_id_fkey on erp.document is '@internal set by functions';
comment on constraint document_supplier_order_id_fkey on erp.document is '@internal set by functions';
comment on constraint document_is_about_one_thing on erp.document is
  '@internal erp.create_document_of sees to it';
drop index if exists erp.document_quote_id_id_idx, erp.document_supplier_order_id_id_idx;
-- waive index-blocks-writes: no row is in it yet, so that building it reads the table once
create index document_quote_id_id_idx on erp.document (quote_id, id) where quote_id is not null;
-- waive index-blocks-writes: no row is in it yet, so that building it reads the table once
create index document_supplier_order_id_id_idx on erp.document (supplier_order_id, id)
  where supplier_order_id is not null;
insert into erp.document_type (technical_name, name, number_range) values
  ('quote', '{"en-GB": "Quote", "de-DE": "Angebot", "fr-FR": "Devis"}', null),
  ('supplier_order', '{"en-GB": "Purchase order", "de-DE": "Bestellung", "fr-FR": "Bon de commande"}', null)
on conflict do nothing;

select api_meta.allow('service_writer', 'erp.quote', 'select', 'insert',
  'update (number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net, amount_total, '
  'tax_status, valid_until, comment, shipping_address, billing_address, revision, sent_at, decline_reason)');
select api_meta.allow('service_writer', 'erp.quote_line_item', 'select', 'insert', 'delete',
  'update (product_id, type, identifier, label, description, position, quantity, unit_price, total_price, '
  'tax_rate, tax_category, exemption_code, discount_reason, unit_code)');

--!include api_meta/view_origins.sql
--!include api_meta/record_promises.sql
--!include erp/priced_line.sql
--!include erp/order_pieces.sql
--!include erp/charged_pieces.sql
--!include erp/document_lines.sql
--!include erp/match_order_lines.sql
--!include erp/faults_of_named_lines.sql
--!include erp/faults_of_their_lines.sql
--!include erp/keep_quote_amounts.sql
--!include erp/keep_sent_quotes.sql
create trigger keep_amounts_after_insert after insert on erp.quote_line_item
  referencing new table as new_rows for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts_after_update after update on erp.quote_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts_after_delete after delete on erp.quote_line_item
  referencing old table as old_rows for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts before update of tax_status on erp.quote
  for each row when (old.tax_status is distinct from new.tax_status)
  execute function erp.keep_amounts_of_quote();
create trigger keep_sent_undeleted before delete on erp.quote_line_item
  for each row execute function erp.keep_sent_quotes();
-- Deleting a product leaves the line without it
create trigger keep_sent before update on erp.quote_line_item
  for each row when (
    (old.quote_id, old.type, old.identifier, old.label, old.quantity, old.unit_price, old.total_price,
      old.tax_rate, old.tax_category, old.exemption_code)
    is distinct from (new.quote_id, new.type, new.identifier, new.label, new.quantity, new.unit_price,
      new.total_price, new.tax_rate, new.tax_category, new.exemption_code))
  execute function erp.keep_sent_quotes();
create trigger keep_sent before update of amount_net, amount_total, currency_id, tax_status on erp.quote
  for each row when (old.state = new.state
    and (old.amount_net, old.amount_total, old.currency_id, old.tax_status)
      is distinct from (new.amount_net, new.amount_total, new.currency_id, new.tax_status))
  execute function erp.keep_sent_quotes();
--!include erp/next_free_number.sql
--!include erp/upsert_quotes.sql
--!include erp/lock_quote.sql
--!include erp/send_quote.sql
--!include erp/move_quote.sql
--!include erp/accept_quote.sql
--!include erp/expire_quotes.sql
--!include erp/document_locale.sql
--!include erp/document_head.sql
--!include erp/quote_config.sql
--!include erp/supplier_order_config.sql
--!include erp/new_link_code.sql
--!include erp/insert_document.sql
--!include erp/insert_revised_document.sql
--!include erp/create_document_of.sql
--!include erp/keep_documents.sql
--!include erp/delete_supplier_order.sql
--!include erp/about_customer.sql
--!include erp/personal_values.sql
--!include api/quotes.sql
--!include api/quote_line_items.sql
--!include api/documents.sql
--!include api/document_create.sql
--!include api/quote_payload.sql
--!include api/quote_send.sql
--!include api/quote_accept.sql
--!include api/quote_decline.sql
--!include api/quote_revise.sql
-- waive event-breaking document.created.data.orderId: only documents of orders cause the event
--!include events/topics.sql

-- Money is a Float, as in the types around it
do $$
declare
  words text;
begin
  select string_agg(w, ' ' order by w collate "C") into words from (
    select regexp_split_to_table(
      substring(obj_description('api_unstable'::regnamespace, 'pg_namespace')
        from '(?n)^@floats +(.*)$'), ' +')
    union values ('products'), ('quote_line_upsert_input')
  ) f (w);
  execute format('comment on schema api_unstable is %L', regexp_replace(
    obj_description('api_unstable'::regnamespace, 'pg_namespace'), '(?n)^@floats.*$', '@floats ' || words));
end
$$;

-- The frozen version promises that a document has an order, so it shows no others
create or replace view api_2026_06_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  document_type_id, order_id, referenced_document_id
from erp.document
where order_id is not null;
select api_meta.record_version('api_2026_06_unstable');

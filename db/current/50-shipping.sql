-- Shipping and documents: what is called off at one location is shipped from another, delivery notes list what is in
-- their parcel, each unit is charged by one invoice, and invoices have what the law asks for.

-- Who sells
create table if not exists erp.merchant (
  is_only_row boolean primary key default true constraint merchant_is_one check (is_only_row),
  legal_name text collate "C" constraint merchant_legal_name_is_not_blank check (btrim(legal_name) <> ''),
  address jsonb constraint merchant_address_is_an_object check (jsonb_typeof(address) = 'object'),
  email text collate "C",
  phone text collate "C",
  website text collate "C",
  vat_id text collate "C" constraint merchant_vat_id_begins_with_a_country check (vat_id ~ '^[A-Z]{2}[A-Z0-9+*]{2,12}$'),
  tax_number text collate "C",
  is_small_business boolean not null default false,
  managers text collate "C",
  register text collate "C",
  account_holder text collate "C",
  iban text collate "C",
  bic text collate "C" constraint merchant_bic_has_its_form check (bic ~ '^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$'),
  bank_name text collate "C",
  footer erp.localized_text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.merchant enable row level security;
comment on table erp.merchant is
  'What documents say of the merchant. One row, or none as long as nobody has filled it in: then documents lack what the law asks for, and a warning says so.';
comment on column erp.merchant.is_only_row is 'True, so that there is no second row.';
comment on column erp.merchant.legal_name is 'Full name of the company or person, as the law knows it.';
comment on column erp.merchant.address is 'Address of the seat, an object with the keys of erp.fulfillment_order.shipping_address. countryIso decides what is a delivery abroad.';
comment on column erp.merchant.vat_id is 'VAT identification number, without spaces, for example DE999999999.';
comment on column erp.merchant.tax_number is 'Number at the tax office, for merchants without a VAT number or beside it.';
comment on column erp.merchant.is_small_business is 'Whether no VAT is charged because the business is small. Said on invoices of orders without tax.';
comment on column erp.merchant.managers is 'Who may act for the company, where that has to be said.';
comment on column erp.merchant.register is 'Court and number of the company in the commercial register.';
comment on column erp.merchant.account_holder is 'Name of the account, where it differs from the legal name.';
comment on column erp.merchant.iban is 'Number of the bank account, without spaces.';
comment on column erp.merchant.bic is 'Code of the bank.';
comment on column erp.merchant.footer is 'Text at the end of each document, in the languages of documents.';
create or replace trigger touch_updated_at before update on erp.merchant for each row execute function erp.touch_updated_at();

-- What documents are about
create table if not exists erp.document_fulfillment (
  document_id uuid not null references erp.document on delete cascade,
  fulfillment_id uuid not null references erp.fulfillment on delete cascade,
  primary key (document_id, fulfillment_id)
);
create index if not exists document_fulfillment_fulfillment_id_idx on erp.document_fulfillment (fulfillment_id, document_id);
alter table erp.document_fulfillment enable row level security;
comment on table erp.document_fulfillment is
  'The shipments that a delivery note lists, or that an invoice charges. Cancelling one of them cancels the invoice.';

create table if not exists erp.invoice (
  document_id uuid primary key references erp.document on delete cascade,
  cancellation_id uuid constraint invoice_is_cancelled_by_one_document unique references erp.document on delete set null
);
alter table erp.invoice enable row level security;
comment on table erp.invoice is 'Documents that charge something: invoices, drafts not included.';
comment on column erp.invoice.cancellation_id is 'The storno that cancelled the invoice; null while it stands.';

create table if not exists erp.invoice_line_item (
  id uuid primary key default uuidv7(),
  document_id uuid not null references erp.invoice on delete cascade,
  order_line_item_id uuid not null references erp.sales_order_line_item on delete cascade,
  first_unit integer not null default 0 constraint invoice_line_item_first_unit_is_not_negative check (first_unit >= 0),
  quantity integer not null constraint invoice_line_item_quantity_is_positive check (quantity > 0),
  constraint invoice_line_item_is_unique unique (document_id, order_line_item_id, first_unit)
);
create index if not exists invoice_line_item_order_line_item_id_idx on erp.invoice_line_item (order_line_item_id, document_id);
alter table erp.invoice_line_item enable row level security;
comment on table erp.invoice_line_item is 'Units of lines of orders that an invoice charges.';
comment on column erp.invoice_line_item.first_unit is
  'How many units of the line come before these. Units are counted, so that prices that do not divide by them add up over several invoices.';

alter table erp.sales_order_line_item add column if not exists invoiced_quantity integer not null default 0;
comment on column erp.sales_order_line_item.invoiced_quantity is 'Units that an invoice charges which was not cancelled.';

do $$
begin
  if to_regtype('erp.document_part') is null then
    create type erp.document_part as (order_line_item_id uuid, first_unit integer, quantity integer);
    create type erp.assignment as (location_id uuid, order_line_item_id uuid, product_id uuid, quantity bigint);
    alter type erp.shipment add attribute documents uuid[];
  end if;
  if not exists (select from pg_constraint where conname = 'order_line_item_invoices_no_more_than_ordered') then
    alter table erp.sales_order_line_item
      add constraint order_line_item_invoices_no_more_than_ordered check (invoiced_quantity between 0 and quantity);
  end if;
end
$$;
comment on type erp.document_part is 'Units of a line of an order that a document is about: so many, after so many others.';
comment on type erp.assignment is 'Units of a line of an order that a location is to ship.';
comment on constraint order_line_item_invoices_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError INVALID\nMore would be invoiced than was ordered.';

-- Their signatures have changed
drop function if exists erp.complete_shipment(uuid, text[], text[], text);
drop function if exists erp.create_documents(uuid, text[]);
drop function if exists erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text);
drop function if exists erp.document_config(uuid, text, text, date, text, text, jsonb);
drop function if exists erp.document_amounts(uuid, text, boolean);

--!include functions/erp/merchant.sql
--!include functions/erp/document_amounts.sql
--!include functions/erp/document_config.sql
--!include functions/erp/invoice.sql
--!include functions/erp/create_document.sql
--!include functions/ledger/keep_invoice_figures.sql
--!include functions/erp/uncovered.sql
--!include functions/erp/complete_shipment.sql
--!include functions/erp/shipment.sql
--!include functions/erp/fulfillment.sql
--!include functions/erp/cancel_fulfillment.sql
--!include functions/erp/create_fulfillment_order.sql

do $$
begin
  if not exists (select from pg_constraint where conname = 'merchant_iban_is_one') then
    alter table erp.merchant add constraint merchant_iban_is_one check (erp.is_iban(iban));
  end if;
end
$$;

-- Invoices that there are: the oldest of an order that was not cancelled charges all of it
insert into erp.invoice (document_id, cancellation_id)
select d.id, (
  select s.id from erp.document s join erp.document_type k on k.id = s.document_type_id
  where s.referenced_document_id = d.id and k.technical_name = 'storno' order by s.id limit 1)
from erp.document d join erp.document_type t on t.id = d.document_type_id
where t.technical_name = 'invoice' and d.document_number is not null and not exists (select from erp.invoice i where i.document_id = d.id)
order by d.id;
create temporary table standing_invoice on commit drop as
select distinct on (d.order_id) d.id, d.order_id, d.created_at
from erp.document d join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
where not exists (
  select from erp.sales_order_line_item l where l.order_id = d.order_id and l.invoiced_quantity > 0)
order by d.order_id, d.id;
insert into erp.invoice_line_item (document_id, order_line_item_id, quantity)
select s.id, p.order_line_item_id, p.quantity from standing_invoice s cross join lateral unnest(erp.billable_parts(s.order_id, false)) with ordinality p
order by s.id, p.ordinality;
alter table erp.sales_order_line_item disable trigger touch_updated_at;
update erp.sales_order_line_item l set invoiced_quantity = i.quantity
from (
  select i.order_line_item_id, sum(i.quantity) as quantity from erp.invoice_line_item i
  join erp.invoice v on v.document_id = i.document_id and v.cancellation_id is null group by 1
) i where i.order_line_item_id = l.id and l.invoiced_quantity <> i.quantity;
alter table erp.sales_order_line_item enable trigger touch_updated_at;
insert into erp.document_fulfillment (document_id, fulfillment_id)
select distinct s.id, f.id from standing_invoice s join erp.fulfillment_order o on o.destination_order_id = s.order_id
join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled' and f.created_at <= s.created_at
order by s.id, f.id on conflict do nothing;
drop table standing_invoice;

do $$
declare
  item record;
begin
  for item in
    select t.* from (values
      ('erp.invoice_line_item', 'ledger.keep_invoice_line_figures', '{insert,update,delete}'::text[]),
      ('erp.invoice', 'ledger.keep_invoice_figures', '{update}'),
      ('erp.document', 'ledger.keep_cancellations', '{insert}')
    ) t (relation, routine, events)
  loop
    execute (
      select string_agg(format('create or replace trigger keep_figures_after_%s after %1$s on %s referencing %s for each statement execute function %s()',
        e.event, item.relation, e.tables, item.routine), '; ')
      from (values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'), ('delete', 'old table as old_rows'))
        e (event, tables) where e.event = any (item.events));
  end loop;
end
$$;
create or replace trigger keep_figures_before_delete before delete on erp.invoice
  for each row execute function ledger.keep_invoice_figures();


select api_meta.give(routine, 'service_ledger') from unnest(array['ledger.keep_invoice_line_figures()', 'ledger.keep_invoice_figures()',
  'ledger.keep_cancellations()']::regprocedure[]) routine;
select api_meta.allow('service_ledger', 'erp.sales_order_line_item', 'update (invoiced_quantity)');
select api_meta.allow('service_ledger', 'erp.invoice', 'select', 'update (cancellation_id)');
select api_meta.allow('service_ledger', relation, 'select')
from unnest(array['erp.invoice_line_item', 'erp.document', 'erp.document_type']::regclass[]) relation;
grant execute on function ledger.change_invoiced_quantities(ledger.change[]) to service_ledger;
select api_meta.allow('service_writer', relation, 'select', 'insert')
from unnest(array['erp.document_fulfillment', 'erp.invoice', 'erp.invoice_line_item']::regclass[]) relation;
select api_meta.allow('service_writer', 'erp.merchant', 'select');
select api_meta.allow('service_writer', 'ledger.warehouse_stock', 'select');
grant execute on function erp.is_in_eu(text), erp.seller(text), erp.tax_exemption(text, text, text), erp.vat_id_for(jsonb, text),
  erp.missing_in_document(jsonb), erp.order_pieces(uuid, text), erp.document_amounts(uuid, text, erp.document_part[]),
  erp.reversed_amounts(jsonb), erp.delivered_lines(uuid, uuid), erp.delivery_date(uuid[], text, date),
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]),
  erp.billable_parts(uuid, boolean), erp.create_invoice(uuid, boolean, text[]), erp.create_delivery_note(uuid, uuid),
  erp.create_reversal(uuid, text, uuid), erp.is_cancelled_invoice(uuid), erp.cancel_invoices_of(uuid),
  erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]), erp.create_document(uuid, text, uuid),
  erp.create_documents(uuid, text[], uuid), erp.uncovered_lines(uuid), erp.is_called_off(uuid, uuid),
  erp.location_of_warehouse(uuid, text[]), erp.other_location(uuid, ledger.change[]), erp.plan_uncovered(uuid, uuid),
  erp.assign(uuid, erp.assignment[]), erp.require_documents(text[]), erp.lock_order_to_ship(uuid),
  erp.refuse_nothing_to_ship(erp.sales_order), erp.open_picks(uuid), erp.lock_to_ship(ledger.pick[], erp.assignment[]),
  erp.complete_shipment(uuid, text[], text[], text, uuid), erp.require_shipping_lines(erp.shipping_line[], erp.shipping_place[], text),
  erp.require_shippable(erp.fulfillment_order), erp.picks_of(erp.fulfillment_order, erp.shipping_line[], erp.shipping_place[]),
  erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]),
  erp.require_assignable_lines(uuid, erp.shipping_line[]), erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
